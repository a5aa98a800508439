"""A reduction drawn: the loop to be inverted, the inverted loop, the simplified scheme, on ladders and port by port.

In a mesh most loops run round it and cut a section once, so that inverting them would leave two variables of a section with one
direction. Port by port the scheme has a loop for each two elements between which power passes, over one connection and
its transpose: these may be inverted, and change the causes of the two.

When the energy coefficient of a storage tends to zero (an inertia to zero, a stiffness to infinity), its integrator block grows
without bound. The loop through it is inverted, so that another element decides its variable; the storage is a derivative block
then, which vanishes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import final

from tellegen.causality import CausalGraph
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import GraphError, TellegenError
from tellegen.core.names import did_you_mean
from tellegen.expressions import ZERO, symbol, total
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.algebra.equivalent_schemes import block_refusal, invert_path, refusal
from tellegen.schemes.algebra.signal_paths import SignalPath, lightest_path, read_path
from tellegen.schemes.gains import signal_gains, vector_block
from tellegen.schemes.pog_construction import port_scheme
from tellegen.schemes.pog_scheme import (
    Column,
    PogScheme,
    PowerSection,
    SchemeBlock,
    Summation,
    ladder_with,
    with_ladder,
)


def without_block(scheme: PogScheme, element: str) -> PogScheme:
    """The scheme without a derivative block whose output is zero."""
    own = scheme.blocks[element].output
    blocks = {name: block for name, block in scheme.blocks.items() if name != element}
    # What a junction shares stays as a variable that is zero; others would look for it.
    if own in scheme.shared:
        zero = replace(scheme, blocks=blocks, summations={**scheme.summations, own: Summation(own, ())})
        return _behind(_held(zero, element, own), element)
    result = _zero(replace(scheme, blocks=blocks), own)
    result = replace(result, summations={n: s for n, s in result.summations.items() if n != own})
    return _behind(_contracted(result, element), element)


def _held(scheme: PogScheme, element: str, own: str) -> PogScheme:
    """The scheme with a sum of nothing in the column of an element that holds what its junction shares at zero."""
    found = ladder_with(scheme, lambda column: column.name == element)
    assert found is not None, "each element has one column"
    ladder, (place,) = found
    columns = list(ladder.columns)
    columns[place] = replace(columns[place], name="", blocks=(), summations=(own, *columns[place].summations))
    return with_ladder(scheme, ladder, columns)


def _zero(scheme: PogScheme, name: str) -> PogScheme:
    """The scheme with a variable taken out of all sums."""
    sums = {
        output: Summation(output, tuple((n, s) for n, s in summation.inputs if n != name))
        for output, summation in scheme.summations.items()
    }
    return replace(scheme, summations=sums)


def _contracted(scheme: PogScheme, element: str) -> PogScheme:
    """The scheme without the column of an element that is left with nothing but a wire."""
    found = ladder_with(scheme, lambda column: column.name == element)
    assert found is not None, "each element has one column"
    ladder, (place,) = found
    column, columns = ladder.columns[place], list(ladder.columns)
    behind = columns[place + 1] if place + 1 < len(columns) else None
    before = columns[place - 1] if place else None
    # A column is taken out towards a neighbour of its own junction, so that sections between junctions keep their names.
    if behind is not None and behind.junction == column.junction:
        gone, kept = column.right, column.left
        columns[place + 1] = replace(behind, left=kept)
    elif before is not None and before.junction == column.junction:
        gone, kept = column.left, column.right
        columns[place - 1] = replace(before, right=kept)
    # Without neighbours the junction itself carries the wire from section to section.
    else:  # a junction of its own stays, as a wire
        columns[place] = replace(column, name="", blocks=())
        return with_ladder(scheme, ladder, columns)
    del columns[place]
    result = with_ladder(scheme, ladder, columns)
    sections = {name: s for name, s in result.sections.items() if name != gone}
    result = replace(result, sections=sections)
    side = other_side("through" if column.kind == "series" else "across")
    return _joined(result, column, scheme.sections[gone].variable(side), scheme.sections.get(kept))


def _joined(scheme: PogScheme, column: Column, gone: str, kept: PowerSection | None) -> PogScheme:
    """The scheme with the running variable on one side of a removed column replaced by that on the other side."""
    side = other_side("through" if column.kind == "series" else "across")
    summation = next(scheme.summations[name] for name in column.summations)
    others = {name: s for name, s in scheme.summations.items() if name != summation.output}
    # At an open end there is no section to go on to: the running variable ends there, and is zero.
    if kept is None:
        return _zero(replace(scheme, summations=others), gone)
    name = kept.variable(side)
    # One input is left, since the other was the variable that vanished: the summation is a wire or a change of sign.
    ((_, sign),) = summation.inputs

    def said(summation: Summation) -> Summation:
        inputs = tuple((name, s * sign) if n == gone else (n, s) for n, s in summation.inputs)
        if summation.output != gone:
            return Summation(summation.output, inputs)
        return Summation(name, tuple((n, s * sign) for n, s in inputs))

    sums = [said(summation) for summation in others.values()]
    return _renamed_sums(replace(scheme, summations={s.output: s for s in sums}), gone, name)


def _renamed_sums(scheme: PogScheme, gone: str, name: str) -> PogScheme:
    found = ladder_with(scheme, lambda column: gone in column.summations)
    if found is None:
        return scheme
    ladder, places = found
    columns = list(ladder.columns)
    for k in places:
        sums = tuple(name if n == gone else n for n in columns[k].summations)
        columns[k] = replace(columns[k], summations=sums)
    return with_ladder(scheme, ladder, columns)


def _behind(scheme: PogScheme, element: str) -> PogScheme:
    """The scheme with a model behind it in which the element decides zero; a bond graph of it would be another one."""
    item = scheme.elements[element]
    port, causal = _with_port_law(scheme, element, ResistiveLaw(item.decides, coefficient=ZERO))
    return replace(
        scheme, elements={**scheme.elements, element: replace(item, port=port)}, causal=causal, bond_graph=None
    )


def _with_port_law(scheme: PogScheme, name: str, law: ResistiveLaw | SourceLaw) -> tuple[Port, CausalGraph]:
    """The port of an element with another law, which keeps no state, and the causal graph with that port."""
    old, causal = scheme.elements[name].port, scheme.causal
    port = replace(old, law=law, state="", initial=None)
    # By identity: two resistors may be equal as values.
    place = next(k for k, other in enumerate(causal.graph.ports) if other is old)
    ports = tuple(port if k == place else other for k, other in enumerate(causal.graph.ports))
    dependent = tuple(d for d in causal.dependent if d.port != place)
    return port, replace(causal, graph=replace(causal.graph, ports=ports), dependent=dependent, paths=())


Rank = Callable[[SchemeBlock], int | None]
"""How willing an element is to change its causes, the least first; None where it is not."""


def port_by_port(scheme: PogScheme) -> PogScheme:
    """The scheme written port by port, as one vector block."""
    found = port_scheme(scheme.causal)
    return replace(found, vector=vector_block(found))


def exchange_loops(scheme: PogScheme, name: str) -> Iterator[tuple[SchemeBlock, SignalPath]]:
    """The elements that an element exchanges power with, each with the loop through both; sources have no block."""
    own = scheme.blocks[name]
    deciders = {block.output: block for block in scheme.blocks.values()}
    for signal in _inputs(scheme, own.input):
        back, other = _element_behind(deciders, signal)
        if other is None:
            continue
        there = _way(scheme, deciders, own.output, other.input)
        if there is not None:
            loop = (own.output, *there, other.input, other.output, *back, own.input, own.output)
            yield other, read_path(scheme, loop)


def port_path(scheme: PogScheme, name: str) -> SignalPath | None:
    """The path from an input to its own output over one loss that may be asked the other way, linear ones first."""
    output = scheme.outputs[scheme.inputs.index(name)].signal
    deciders = {block.output: block for block in scheme.blocks.values()}
    found: list[tuple[int, int, SignalPath]] = []
    for k, signal in enumerate(_inputs(scheme, output)):
        back, other = _element_behind(deciders, signal)
        rank = None if other is None else static_rank(other)
        there = None if other is None else _way(scheme, deciders, name, other.input)
        if other is None or rank is None or there is None:
            continue
        path = read_path(scheme, (name, *there, other.input, other.output, *back, output))
        if refusal(scheme, path) is None:
            found.append((rank, k, path))
    return min(found, key=lambda item: item[:2])[2] if found else None


def _inputs(scheme: PogScheme, signal: str) -> list[str]:
    summation = scheme.summations.get(signal)
    return [signal] if summation is None else [name for name, _ in summation.inputs]


def _element_behind(deciders: dict[str, SchemeBlock], signal: str) -> tuple[tuple[str, ...], SchemeBlock | None]:
    """The element that decides what comes in by a signal, and the signal itself where a connection stands between."""
    block = deciders.get(signal)
    if block is None or block.kind != "connection":
        return (), block
    return (signal,), deciders.get(block.input)


def _way(scheme: PogScheme, deciders: dict[str, SchemeBlock], start: str, end: str) -> tuple[str, ...] | None:
    """What lies between the output of one element and the sum that another is told: nothing, or the signal of a connection."""
    for signal in _inputs(scheme, end):
        if signal == start:
            return ()
        block = deciders.get(signal)
        if block is not None and block.kind == "connection" and block.input == start:
            return (signal,)
    return None


def best_loop(scheme: PogScheme, name: str, rank: Rank) -> SignalPath | None:
    """The loop through an element and the most willing partner, the first of these in the order of the model."""
    found = [
        (place, k, loop)
        for k, (other, loop) in enumerate(exchange_loops(scheme, name))
        if (place := rank(other)) is not None and refusal(scheme, loop, derivative=True) is None
    ]
    return min(found, key=lambda item: item[:2])[2] if found else None


def exchange_rank(block: SchemeBlock) -> int | None:
    """For what another has to decide: a storage that follows takes over, then linear losses, other storages, curved losses."""
    if block.kind == "derivative":
        return 0
    if block.kind == "storage":
        return 2
    return 1 if block.gain is not None else 3


def static_rank(block: SchemeBlock) -> int | None:
    """For a storage that may become an integrator again: losses only, linear ones first."""
    return {"static": 1 if block.gain is not None else 3}.get(block.kind)


def with_integrators(scheme: PogScheme) -> tuple[PogScheme, list[str]]:
    """The scheme, port by port, with storages that need not follow others any more as integrators, and their names."""
    free: list[str] = []
    waiting = [name for name, block in scheme.blocks.items() if block.kind == "derivative"]
    while waiting:
        name = waiting.pop(0)
        loop = best_loop(scheme, name, static_rank)
        if loop is None:
            continue
        # Written anew port by port, so that the next loop is again one connection and its transpose.
        scheme = port_by_port(invert_path(scheme, loop.signals).scheme)
        free.append(name)
        # A way that was closed may be open now.
        # One at a time: each inversion changes which loops are open for the rest.
        waiting = [n for n, block in scheme.blocks.items() if block.kind == "derivative"]
    return scheme, free


def without_element(scheme: PogScheme, name: str) -> PogScheme:
    """The scheme, port by port, in which an element decides zero: its block is gone, and what it is told stays to be looked at."""
    item = scheme.elements[name]
    # An element that decides zero is a resistor of value zero: the model behind the scheme stays a model.
    law = ResistiveLaw(item.decides, coefficient=ZERO)
    return port_by_port(replace(scheme, causal=_with_port_law(scheme, name, law)[1]))


def with_constant(scheme: PogScheme, name: str) -> PogScheme:
    """The scheme, port by port, in which an element keeps what it decides: a source."""
    item = scheme.elements[name]
    law = SourceLaw(item.decides, item.port.variable(item.decides))
    return port_by_port(replace(scheme, causal=_with_port_law(scheme, name, law)[1]))


def without_zero_blocks(scheme: PogScheme) -> PogScheme:
    """The scheme without blocks that decide zero, and without what comes from them."""
    silent = {b.output for b in scheme.blocks.values() if b.kind == "static" and b.gain is ZERO and not b.terms}
    # A connection of nothing gives nothing; storages and laws may still answer to zero.
    silent |= {b.output for b in scheme.blocks.values() if b.kind == "connection" and b.input in silent}
    sums = {
        name: Summation(name, tuple((n, s) for n, s in summation.inputs if n not in silent))
        for name, summation in scheme.summations.items()
    }
    blocks = {name: block for name, block in scheme.blocks.items() if block.output not in silent}
    shown = {signal: Summation(signal, ()) for signal in silent if signal in {o.signal for o in scheme.outputs}}
    return replace(scheme, blocks=blocks, summations={**sums, **shown})


def with_rates_followed(scheme: PogScheme) -> PogScheme:
    """The scheme with displacements whose rates read what is no state any more: these are written by states and inputs."""
    graph = scheme.causal.graph
    variables = {name for port in graph.ports for name in (port.across, port.through)}
    known = {*scheme.inputs, *(scheme.elements[name].port.state for name in scheme.states)}
    read = frozenset().union(*(rate.free_symbols for rate in graph.displacements.values()))
    asked = sorted((read & variables) - known)
    if not asked:
        return scheme
    gains = signal_gains(port_scheme(scheme.causal), asked)
    # What a nonlinear law decides has no formula by gains, and stays as it is.
    linear = {end: row for end, row in gains.items() if row.keys() <= known}
    formulas = {end: total(gain * symbol(name) for name, gain in row.items()) for end, row in linear.items()}
    rates = {name: rate.substitute(formulas) for name, rate in graph.displacements.items()}
    causal = replace(scheme.causal, graph=replace(graph, displacements=rates))
    result = replace(scheme, causal=causal)
    return result if scheme.vector is None else replace(result, vector=vector_block(result))


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
    # An inertia to zero is told no force, a stiffness to infinity no velocity: the input of the integrator vanishes.
    side = zero or _vanishing_side(scheme, name)
    if not scheme.ladders:
        return _on_ports(port_by_port(scheme), name, side)
    try:
        return _on_ladder(scheme, name, side)
    # Port by port there may be a loop where the ladder has none; if not, the first reason is the one about the figure
    # that the user sees.
    except GraphError as reason:
        try:
            return _on_ports(port_by_port(scheme), name, side)
        except GraphError:
            raise reason from None


def frozen_pictures(scheme: PogScheme, element: str) -> ReductionPictures:
    """The scheme with a storage that keeps its output, because its energy coefficient grows without bound, as a source.

    Raises: GraphError (G212, G210) as `reduction_pictures`, where the storage follows others and no loop may be inverted.
    """
    scheme = port_by_port(scheme)
    name = _name(scheme, element)
    block = scheme.blocks[name]
    # A frozen storage keeps its output, so it has to decide it: one that follows others is inverted first.
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

    def own(one: PogScheme) -> list[SchemeBlock]:
        return [b for b in one.blocks.values() if b.kind == "connection" and b.element == coupling]

    left = {(b.input, b.output) for b in own(simplified)}
    gone = [b for b in own(scheme) if (b.input, b.output) not in left]
    # Without the connection causes may change: then its blocks stood the other way round, and grow instead of vanishing.
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
        # The loop with the fewest other storages: each of them would come into derivative causality.
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
    simplified = with_rates_followed(without_zero_blocks(simplified))
    return ReductionPictures(name, signals, scheme, inverted, simplified, tuple(accounts))


def _exchanged(scheme: PogScheme, name: str, side: Side) -> tuple[tuple[str, ...], PogScheme, list[str]]:
    """The loop, and the scheme, port by port, in which an element decides a side; with an account of both."""
    block = scheme.blocks[name]
    if scheme.elements[name].decides == side:
        return (), scheme, [_nothing_to_invert(block), "nothing to invert"]
    loop = best_loop(scheme, name, exchange_rank)
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


def _nothing_to_invert(block: SchemeBlock) -> str:
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
    # Splitting a field is a matter of the model: the scheme shows what is left afterwards.
    if scheme.elements[name].field:
        what = f"'{name}' is part of the field '{scheme.elements[name].field}'"
        why = "its coefficient alone does not vanish: the rest of the matrix ties it to other storages"
        raise rules.NO_PICTURES.error(what, where=name, why=why, fix="reduce the model, whose field is split first")
    return other_side(law.side)


def _integral(scheme: PogScheme) -> tuple[PogScheme, list[str]]:
    """The scheme with storages that need not follow others any more as integrators, and their names."""
    free: list[str] = []
    # Storages that had to follow what is gone now may be free: integral causality is what equations and runs want.
    for name in [name for name, block in scheme.blocks.items() if block.kind == "derivative"]:
        block = scheme.blocks[name]
        # The blocks are looked up anew: the list was made before the first inversion.
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
