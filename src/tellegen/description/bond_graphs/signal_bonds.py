"""Signal bonds: `De:v => MSe:V` says what drives a source, as `V: {signal: v}` under `elements` does."""

from tellegen.core.errors import TellegenError
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.graph import SOURCES, BondGraph, Item, SignalBond
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Scalar

SIGNAL = "signal"


def with_signals(context: Context, graph: BondGraph, details: dict[str, Mapping]) -> dict[str, Mapping]:
    """The details of elements with the signals that bonds bring to sources.

    Raises: DescriptionError for signals that end elsewhere, for a source with two signals, and for MSe and MSf without one.
    """
    found = dict(details)
    for bond in graph.signals:
        item, known = graph.items[bond.target], found.get(bond.target)
        if item.kind not in ("MSe", "MSf"):
            raise _no_source(item, bond)
        if known is not None and SIGNAL in known:
            what = f"'{item.kind}:{item.name}' follows two signals"
            raise rules.BAD_SIGNAL_BOND.error(what, where=item.name, fix="keep one of them", place=bond.place)
        found[item.name] = _with_signal(known, bond)
    for item in graph.items.values():
        if item.kind in ("MSe", "MSf") and SIGNAL not in found.get(item.name, ()):
            what = f"nothing says which signal '{item.kind}:{item.name}' follows"
            fix = f"write '... => {item.name}' on a line of its own, or '{item.kind[1:]}:{item.name}' for an input"
            raise rules.BAD_SIGNAL_BOND.error(what, where=item.name, fix=fix, place=item.place)
    return found


def _with_signal(known: Mapping | None, bond: SignalBond) -> Mapping:
    at = bond.place
    key = Scalar(SIGNAL, at.line, at.column, len(at.text), False)
    text = Scalar(bond.expression, at.line, at.column, len(at.text), False)
    keys, values = (known.keys, known.values) if known is not None else ((), ())
    return Mapping((*keys, key), (*values, text), at.line, at.column, len(at.text))


def _no_source(item: Item, bond: SignalBond) -> TellegenError:
    what = f"the signal ends at '{item.kind}:{item.name}', which follows none"
    fix = "lead it to MSe or MSf; a modulus reads signals in its formula"
    if item.kind in SOURCES:
        fix = f"write 'M{item.kind}:{item.name}'"
    return rules.BAD_SIGNAL_BOND.error(what, where=item.name, fix=fix, place=bond.place)
