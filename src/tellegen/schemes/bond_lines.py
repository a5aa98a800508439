"""A bond graph in the notation of files: the lines of `bond graph:` and what stands under `elements:`."""

from collections.abc import Mapping

from tellegen.core.domains import DOMAINS
from tellegen.description.writing import quoted
from tellegen.elements import ElementKind, kinds_of
from tellegen.expressions import symbol, to_text
from tellegen.graph import SourceLaw, StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, OnePort
from tellegen.schemes.element_texts import default_name, element_details
from tellegen.schemes.file_text import file_text

Details = Mapping[str, Mapping[str, str]]


def to_lines(scheme: BondGraphScheme) -> list[str]:
    """The lines of `bond graph:`, one-ports in the order of description. `to_details` says the rest.

    Raises: GraphError for fields, which the notation does not have.
    """
    _refuse_fields(scheme)
    return _Lines(scheme).write()


def to_details(scheme: BondGraphScheme) -> Details:
    """What stands under `elements:`, by element: values and names that differ from the element's own, laws, causality.

    Raises: GraphError for fields, and for laws that cannot be written.
    """
    _refuse_fields(scheme)
    ties = any(item.causality == "derivative" for item in scheme.one_ports.values())
    found: dict[str, Mapping[str, str]] = {}
    for name, item in scheme.one_ports.items():
        named = (item.port.law.side,) if _note(item) else ()
        default = _default_kind(item)
        details = element_details(item.port, name, item.decides, default=default, ties=ties, named=named)
        if details:
            found[name] = details
    for name, two_port in scheme.two_ports.items():
        if two_port.modulus is not symbol(name):
            found[name] = {"K": to_text(two_port.modulus)}
    return found


def bond_graph_text(scheme: BondGraphScheme, parameters: Mapping[str, str] | None = None) -> str:
    """The scheme as the text of a model file; `parameters` gives texts with units, which are plain SI numbers otherwise."""
    lines = "".join(f"  - {quoted(line)}\n" for line in to_lines(scheme))
    return file_text(scheme.causal.graph, "bond graph:\n" + lines, to_details(scheme), parameters)


def _refuse_fields(scheme: BondGraphScheme) -> None:
    for field in scheme.causal.graph.fields:
        what = f"'{field.element}' is a field of {len(field.ports)} ports, and a file has no bonds for it"
        raise rules.NO_SCALAR_BOND.error(what, where=field.element, fix="write it in a network")


def _default_kind(item: OnePort) -> ElementKind | None:
    """The kind that a reader takes for the letters of a one-port."""
    domain = DOMAINS[item.domain]
    if isinstance(item.port.law, SourceLaw):
        return None
    if isinstance(item.port.law, StorageLaw):
        side = domain.effort if item.kind == "C" else domain.flow
        return min((k for k in kinds_of(domain.name, "storage") if k.side == side), key=lambda k: k.inverse)
    return next(k for k in kinds_of(domain.name, "resistive") if k.side == domain.effort)


def _note(item: OnePort) -> str:
    """The name of the variable that a one-port gives, where it is not the default one."""
    side = item.port.law.side
    name = item.port.variable(side)
    return "" if name == default_name(item.port, item.name, side) or "[" in name or name in DOMAINS else name


class _Lines:
    """Writes each bond once, and the kind of each item where it stands first."""

    def __init__(self, scheme: BondGraphScheme) -> None:
        self.scheme = scheme
        self.said: set[str] = set()
        self.written: set[int] = set()

    def write(self) -> list[str]:
        lines = []
        for bond in self.scheme.bonds:
            if bond.number not in self.written:
                chain = self._chain(bond)
                self.written.update(b.number for b in chain)
                lines.append(" -> ".join(map(self._item, [chain[0].tail, *(b.head for b in chain)])))
        return lines

    def _chain(self, bond: Bond) -> list[Bond]:
        """A bond with the one behind its two-port, where that is not written yet."""
        if bond.head in self.scheme.two_ports:
            behind = next(b for b in self.scheme.bonds_of(bond.head) if b is not bond)
            if behind.number not in self.written:
                return [bond, behind]
        return [bond]

    def _item(self, name: str) -> str:
        if name in self.said:
            return name
        self.said.add(name)
        scheme = self.scheme
        if name in scheme.junctions:
            return f"{scheme.junctions[name].kind}:{name} ({scheme.junctions[name].domain})"
        text = f"{scheme.kind_of(name)}:{name}"
        note = _note(scheme.one_ports[name]) if name in scheme.one_ports else ""
        return f"{text} ({note})" if note else text
