"""The streams of energy in a run: who gave and who took, from its energy books."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, final

from tellegen.graph import Port, SourceLaw, StorageLaw
from tellegen.results import Run

Manner = Literal["supplied", "stored", "dissipated", "moved", "impacts", "others", "missing"]
"""How energy came or went: `moved` is the work of what moves parameters, `missing` what the books do not close by."""

SMALL = 2e-3
"""Streams under this part of all energy are shown as one."""
MISSING = 1e-3
"""A gap of the books under this part is the tolerance of the solver."""
ROUNDING = 1e-12
"""What is under this part of the largest stream is no energy, but what rounding left of none."""


@final
@dataclass(frozen=True, slots=True)
class Stream:
    """Energy in J, positive, that an element gave to the system or took from it. Some streams are of no one element."""

    name: str
    energy: float
    gives: bool
    manner: Manner
    domain: str = ""


def streams_of(run: Run) -> tuple[Stream, ...]:
    """The streams of a run, givers first, the largest first. What goes in comes out, but for what is `missing`.

    Storages count by what they gained or lost. Heat that dissipators bring into thermal ports stays inside the system.
    """
    found = sorted(_streams(run), key=lambda stream: (not stream.gives, -stream.energy))
    total = max(_sum(found, gives=True), _sum(found, gives=False))
    return tuple(s for gives in (True, False) for s in _few([s for s in found if s.gives == gives], SMALL * total))


def _streams(run: Run) -> Iterator[Stream]:
    streams = list(_all(run))
    least = ROUNDING * max(stream.energy for stream in streams)
    streams = [stream for stream in streams if stream.energy > least]
    yield from streams
    gap = _sum(streams, gives=False) - _sum(streams, gives=True)
    handled = max(_sum(streams, gives=True), _sum(streams, gives=False))
    if abs(gap) > MISSING * handled:
        yield _stream("", gap, "missing")


def _all(run: Run) -> Iterator[Stream]:
    taken = run.energy.by_element()
    for port in run.graph.ports:
        if port.transferred or port.element not in taken:
            continue
        if isinstance(port.law, StorageLaw):
            yield _stream(port.element, -_gained(run, port), "stored", port.domain)
        elif isinstance(port.law, SourceLaw):
            yield _stream(port.element, taken[port.element], "supplied", port.domain)
        else:
            yield _stream(port.element, -taken[port.element], "dissipated", port.domain)
    yield _stream("", run.energy.modulation, "moved")
    yield _stream("", -run.energy.impulsive, "impacts")


def _gained(run: Run, port: Port) -> float:
    rows = run.values(f"energy.{port.element}")
    return float(rows[-1] - rows[0])


def _stream(name: str, given: float, manner: Manner, domain: str = "") -> Stream:
    return Stream(name, abs(given), given > 0, manner, domain)


def _few(streams: list[Stream], least: float) -> list[Stream]:
    """Streams with the small ones as one, where there are several of them."""
    large = [stream for stream in streams if stream.energy >= least]
    small = [stream for stream in streams if stream.energy < least]
    if len(small) < 2:
        return streams
    domains = {stream.domain for stream in small}
    domain = domains.pop() if len(domains) == 1 else ""
    return [*large, Stream("", sum(s.energy for s in small), small[0].gives, "others", domain)]


def _sum(streams: Iterable[Stream], *, gives: bool) -> float:
    return sum(stream.energy for stream in streams if stream.gives == gives)
