"""A reduction drawn: the loop to be inverted, the inverted loop, the simplified scheme.

When the energy coefficient of a storage tends to zero (an inertia to zero, a stiffness to infinity), its integrator block grows
without bound. The loop through it is inverted, so that another element decides its variable; the storage is a derivative block
then, which vanishes.
"""

from dataclasses import dataclass
from typing import final

from tellegen.core.domains import Side, other_side
from tellegen.core.errors import GraphError, TellegenError
from tellegen.core.names import did_you_mean
from tellegen.graph import StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.column_removal import without_block
from tellegen.schemes.inversion import block_refusal, invert_path, refusal
from tellegen.schemes.pog_scheme import Block, PogScheme
from tellegen.schemes.port_exchange import (
    best_loop,
    cleared,
    gives_way,
    on_ports,
    with_constant,
    with_integrators,
    with_rates_followed,
    without_element,
)
from tellegen.schemes.signal_paths import lightest_path, read_path


@final
@dataclass(frozen=True)
class ReductionPictures:
    """The three schemes of a graphical reduction. `loop` names the variables of the loop, the first one again at its end."""

    element: str
    loop: tuple[str, ...]
    original: PogScheme
    inverted: PogScheme
    simplified: PogScheme
    accounts: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(f"{letter}) {line}" for letter, line in zip("abc", self.accounts, strict=True))


def reduction_pictures(scheme: PogScheme, element: str, *, zero: Side | None = None) -> ReductionPictures:
    """The scheme without an element of which a power variable tends to zero, by the inversion of a loop.

    That is what a storage is told when its energy coefficient tends to zero; `zero` says it for resistive elements. The loop is
    the one with the fewest other storages, which come into derivative causality. A mesh, and a ladder in which no such loop may be
    inverted, is written port by port.

    Raises: GraphError (G212) for what is no element of the scheme or has no loop, G210 where no loop may be inverted.
    """
    name = _name(scheme, element)
    side = zero or _vanishing_side(scheme, name)
    if not scheme.ladders:
        return _on_ports(on_ports(scheme), name, side)
    try:
        return _on_ladder(scheme, name, side)
    except GraphError as reason:
        try:
            return _on_ports(on_ports(scheme), name, side)
        except GraphError:
            raise reason from None


def frozen_pictures(scheme: PogScheme, element: str) -> ReductionPictures:
    """The scheme with a storage that keeps its output, because its energy coefficient grows without bound, as a source.

    Raises: GraphError (G212, G210) as `reduction_pictures`, where the storage follows others and no loop may be inverted.
    """
    scheme = on_ports(scheme)
    name = _name(scheme, element)
    block = scheme.blocks[name]
    side = scheme.elements[name].decides if block.kind == "storage" else other_side(scheme.elements[name].decides)
    signals, inverted, accounts = _exchanged(scheme, name, side)
    accounts[0] = "no loop: it is an integrator, whose gain tends to zero" if not signals else accounts[0]
    output = inverted.blocks[name].output
    accounts.append(f"'{element}' is a source: {output} keeps the value that it starts with")
    simplified = with_rates_followed(with_constant(inverted, name))
    return ReductionPictures(name, signals, scheme, inverted, simplified, tuple(accounts))


def cut_pictures(scheme: PogScheme, coupling: str, simplified: PogScheme) -> ReductionPictures:
    """The scheme with a connection whose modulus tends to zero, which passes no power any more; `simplified` is without it.

    Its blocks tend to zero too, unless they stand the other way round: then other elements take over what it decided.
    """

    def own(one: PogScheme) -> list[Block]:
        return [b for b in one.blocks.values() if b.kind == "connection" and b.element == coupling]

    left = {(b.input, b.output) for b in own(simplified)}
    gone = [b for b in own(scheme) if (b.input, b.output) not in left]
    decided = {item.port.element: item.decides for item in simplified.elements.values()}
    changed = [n for n, item in scheme.elements.items() if decided.get(item.port.element, item.decides) != item.decides]
    paths = " and ".join(f"from {b.input} to {b.output}" for b in gone) or f"of '{coupling}'"
    tend = "grow without bound, and its causes change" if changed else "tend to zero"
    takes = f"{', '.join(changed)} decide{'s' if len(changed) == 1 else ''} the other variable"
    zero = "" if changed else ", ".join(f"{b.output} = 0" for b in gone)
    cut = f"'{coupling}' passes {'less' if left else 'no'} power" + (f": {zero}" if zero else "")
    accounts = (f"no loop: the gains {paths} {tend}", takes if changed else "nothing to invert", cut)
    return ReductionPictures(coupling, (), scheme, scheme, simplified, accounts)


def _on_ladder(scheme: PogScheme, name: str, side: Side) -> ReductionPictures:
    block = scheme.blocks[name]
    if scheme.elements[name].decides == side:
        signals: tuple[str, ...] = ()
        inverted, accounts = scheme, [_nothing_to_invert(block), "nothing to invert"]
    else:
        found = lightest_path(scheme, block.output, block.input, lambda b: block_refusal(b, derivative=True) is None)
        if found is None:
            raise _no_loop(scheme, name)
        signals = (*found.signals, block.output)
        step = invert_path(scheme, signals, derivative=True)
        inverted, accounts = step.scheme, [f"the loop {' -> '.join(signals)}", step.account]
    simplified, free = _integral(without_block(inverted, name))
    accounts.append(_vanished(inverted, name, side, free))
    return ReductionPictures(name, signals, scheme, inverted, with_rates_followed(simplified), tuple(accounts))


def _on_ports(scheme: PogScheme, name: str, side: Side) -> ReductionPictures:
    signals, inverted, accounts = _exchanged(scheme, name, side)
    simplified, free = with_integrators(without_element(inverted, name))
    accounts.append(_vanished(inverted, name, side, free))
    simplified = with_rates_followed(cleared(simplified))
    return ReductionPictures(name, signals, scheme, inverted, simplified, tuple(accounts))


def _exchanged(scheme: PogScheme, name: str, side: Side) -> tuple[tuple[str, ...], PogScheme, list[str]]:
    """The loop, and the scheme, port by port, in which an element decides a side; with an account of both."""
    block = scheme.blocks[name]
    if scheme.elements[name].decides == side:
        return (), scheme, [_nothing_to_invert(block), "nothing to invert"]
    loop = best_loop(scheme, name, gives_way)
    if loop is not None:
        step = invert_path(scheme, loop.signals, derivative=True)
        return loop.signals, step.scheme, [f"the loop {loop}", step.account]
    if any(n for n in scheme.summations[block.input].inputs):
        raise _no_loop(scheme, name)
    # Its constraint holds already: whatever it decides acts on nothing, and stays indeterminate.
    return (
        (),
        scheme,
        [f"no loop: nothing acts on '{name}', so that {block.input} is zero already", "nothing to invert"],
    )


def _nothing_to_invert(block: Block) -> str:
    if block.kind == "derivative":
        return "no loop: it is in derivative causality already"
    return f"no loop: the gain from {block.input} to {block.output} tends to zero"


def _no_loop(scheme: PogScheme, name: str) -> TellegenError:
    block = scheme.blocks[name]
    what = f"no path that may be inverted leads from '{block.output}' back to '{block.input}'"
    fix = f"keep '{name}', or add an element that decides '{block.output}' without it"
    return rules.NO_PICTURES.error(what, where=name, fix=fix)


def _vanished(inverted: PogScheme, name: str, side: Side, free: list[str]) -> str:
    again = f"; {', '.join(free)} in integral causality again" if free else ""
    if inverted.elements[name].decides != side:
        return f"'{name}' is left out: {inverted.blocks[name].output} acts on nothing{again}"
    return f"'{name}' vanishes: {inverted.blocks[name].output} = 0{again}"


def _name(scheme: PogScheme, element: str) -> str:
    """The name that an element of the model has in the scheme."""
    names = {item.port.element: name for name, item in scheme.elements.items() if name in scheme.blocks}
    found = names.get(element, element)
    if found not in scheme.elements or found not in scheme.blocks:
        known = list(names)
        fix = did_you_mean(element, known) or f"its elements are {', '.join(known[:20]) or '(none)'}"
        raise rules.NO_PICTURES.error(f"'{element}' is no element of the scheme", where=element, fix=fix)
    return found


def _vanishing_side(scheme: PogScheme, name: str) -> Side:
    law = scheme.elements[name].port.law
    if not isinstance(law, StorageLaw):
        storages = [n for n, block in scheme.blocks.items() if block.kind in ("storage", "derivative")]
        fix = did_you_mean(name, storages) or f"the storages are {', '.join(storages[:20]) or '(none)'}"
        raise rules.NO_PICTURES.error(f"'{name}' is no storage of the scheme", where=name, fix=fix)
    if scheme.elements[name].field:
        what = f"'{name}' is part of the field '{scheme.elements[name].field}'"
        why = "its coefficient alone does not vanish: the rest of the matrix ties it to other storages"
        raise rules.NO_PICTURES.error(what, where=name, why=why, fix="reduce the model, whose field is split first")
    return other_side(law.side)


def _integral(scheme: PogScheme) -> tuple[PogScheme, list[str]]:
    """The scheme with storages that need not follow others any more as integrators, and their names."""
    free: list[str] = []
    for name in [name for name, block in scheme.blocks.items() if block.kind == "derivative"]:
        block = scheme.blocks[name]
        if block.kind != "derivative":  # an earlier loop has inverted it too
            continue
        path = lightest_path(scheme, block.output, block.input, lambda other: other.kind != "storage")
        if path is None:
            continue
        loop = read_path(scheme, (*path.signals, block.output))
        if refusal(scheme, loop) is None:
            scheme = invert_path(scheme, loop.signals).scheme
            free += [other.name for other in loop.blocks if other.kind == "derivative"]
    return scheme, free
