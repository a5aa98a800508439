"""Loops of two elements in a scheme without ladders: what one decides reaches the other, and comes back.

In a mesh most loops run round it and cut a section once, so that inverting them would leave two variables of a section with one
direction. Port by port the scheme has a loop for each two elements between which power passes, over one connection and
its transpose: these may be inverted, and change the causes of the two.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tellegen.expressions import ZERO, symbol, total
from tellegen.graph import ResistiveLaw, SourceLaw
from tellegen.schemes.gains import signal_gains
from tellegen.schemes.inversion import invert_path, refusal
from tellegen.schemes.pog_scheme import Block, PogScheme, Summation
from tellegen.schemes.port_scheme import port_scheme
from tellegen.schemes.signal_paths import SignalPath, read_path
from tellegen.schemes.vector import vector_block

Rank = Callable[[Block], int | None]
"""How willing an element is to change its causes, the least first; None where it is not."""


def on_ports(scheme: PogScheme) -> PogScheme:
    """The scheme written port by port, as one vector block."""
    found = port_scheme(scheme.causal)
    return replace(found, vector=vector_block(found))


def partners(scheme: PogScheme, name: str) -> Iterator[tuple[Block, SignalPath]]:
    """The elements that an element exchanges power with, each with the loop through both; sources have no block."""
    own = scheme.blocks[name]
    deciders = {block.output: block for block in scheme.blocks.values()}
    for signal in _inputs(scheme, own.input):
        back, other = _behind(deciders, signal)
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
        back, other = _behind(deciders, signal)
        rank = None if other is None else static_only(other)
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


def _behind(deciders: dict[str, Block], signal: str) -> tuple[tuple[str, ...], Block | None]:
    """The element that decides what comes in by a signal, and the signal itself where a connection stands between."""
    block = deciders.get(signal)
    if block is None or block.kind != "connection":
        return (), block
    return (signal,), deciders.get(block.input)


def _way(scheme: PogScheme, deciders: dict[str, Block], start: str, end: str) -> tuple[str, ...] | None:
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
        for k, (other, loop) in enumerate(partners(scheme, name))
        if (place := rank(other)) is not None and refusal(scheme, loop, derivative=True) is None
    ]
    return min(found, key=lambda item: item[:2])[2] if found else None


def gives_way(block: Block) -> int | None:
    """For what another has to decide: a storage that follows takes over, then linear losses, other storages, curved losses."""
    if block.kind == "derivative":
        return 0
    if block.kind == "storage":
        return 2
    return 1 if block.gain is not None else 3


def static_only(block: Block) -> int | None:
    """For a storage that may become an integrator again: losses only, linear ones first."""
    return {"static": 1 if block.gain is not None else 3}.get(block.kind)


def with_integrators(scheme: PogScheme) -> tuple[PogScheme, list[str]]:
    """The scheme, port by port, with storages that need not follow others any more as integrators, and their names."""
    free: list[str] = []
    waiting = [name for name, block in scheme.blocks.items() if block.kind == "derivative"]
    while waiting:
        name = waiting.pop(0)
        loop = best_loop(scheme, name, static_only)
        if loop is None:
            continue
        scheme = on_ports(invert_path(scheme, loop.signals).scheme)
        free.append(name)
        # A way that was closed may be open now.
        waiting = [n for n, block in scheme.blocks.items() if block.kind == "derivative"]
    return scheme, free


def without_element(scheme: PogScheme, name: str) -> PogScheme:
    """The scheme, port by port, in which an element decides zero: its block is gone, and what it is told stays to be looked at."""
    item = scheme.elements[name]
    law = ResistiveLaw(item.decides, coefficient=ZERO)
    return _with_law(scheme, name, law)


def with_constant(scheme: PogScheme, name: str) -> PogScheme:
    """The scheme, port by port, in which an element keeps what it decides: a source."""
    item = scheme.elements[name]
    return _with_law(scheme, name, SourceLaw(item.decides, item.port.variable(item.decides)))


def _with_law(scheme: PogScheme, name: str, law: ResistiveLaw | SourceLaw) -> PogScheme:
    item, causal = scheme.elements[name], scheme.causal
    port = replace(item.port, law=law, state="", initial=None)
    place = next(k for k, other in enumerate(causal.graph.ports) if other is item.port)
    ports = tuple(port if k == place else other for k, other in enumerate(causal.graph.ports))
    dependent = tuple(d for d in causal.dependent if d.port != place)
    graph = replace(causal.graph, ports=ports)
    return on_ports(replace(scheme, causal=replace(causal, graph=graph, dependent=dependent, paths=())))


def cleared(scheme: PogScheme) -> PogScheme:
    """The scheme without blocks that decide zero, and without what comes from them."""
    silent = {b.output for b in scheme.blocks.values() if b.kind == "static" and b.gain is ZERO and not b.terms}
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
    linear = {end: row for end, row in gains.items() if row.keys() <= known}
    formulas = {end: total(gain * symbol(name) for name, gain in row.items()) for end, row in linear.items()}
    rates = {name: rate.substitute(formulas) for name, rate in graph.displacements.items()}
    causal = replace(scheme.causal, graph=replace(graph, displacements=rates))
    result = replace(scheme, causal=causal)
    return result if scheme.vector is None else replace(result, vector=vector_block(result))
