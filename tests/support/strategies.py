"""Random legal networks: connected, no dangling node, one domain or several joined by couplings."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st

from support.networks import Network, Part
from support.nodal import DOMAINS_OF_PAIRS, REFERENCES

STORAGES = {
    "e": ("capacitor", "inductor"),
    "m": ("mass", "spring", "compliance"),
    "r": ("inertia", "torsion spring", "torsion compliance"),
    "h": ("accumulator", "stiff chamber", "fluid inertia"),
}
RESISTIVE = {
    "e": ("resistor", "conductance"),
    "m": ("damper", "mobility"),
    "r": ("friction", "rotational mobility"),
    "h": ("hydraulic resistor", "leak"),
}
SOURCES = {
    "e": ("voltage source", "current source"),
    "m": ("velocity source", "force source"),
    "r": ("speed source", "torque source"),
    "h": ("pressure source", "flow source"),
}
REFERENCE = {"e": "gnd", "m": "frame", "r": "frame", "h": "tank"}
NAMES = (
    *(
        "R",
        "L",
        "C",
        "I",
        "E",
        "S",
        "N",
        "V",
        "c_1",
        "c_2",
        "I_C",
        "V_C",
        "x",
        "pi_",
        "z9",
        "A_1",
        "q",
        "beta",
        "Q",
        "V_R",
    ),
    *(f"{letter}{k}" for letter in "abcdefghk" for k in (1, 2, 10)),
)
MOST_PORTS = 12
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
"""Moduli are made of these, so that the gain of a loop of couplings is one only where a modulus is shared."""

numbers = st.builds(Fraction, st.integers(1, 30), st.integers(1, 7))
"""Positive values of parameters."""

laplace_points = st.builds(Fraction, st.integers(1, 200), st.integers(1, 30))


@dataclass(frozen=True)
class _Place:
    """A part of the network in one domain."""

    domain: str
    nodes: tuple[str, ...]


@st.composite
def networks(
    draw: st.DrawFn,
    *,
    couplings: bool = True,
    resistive: bool = True,
    storages: bool = True,
    one_source: bool = True,
    many_sources: bool = False,
    grounded: bool = False,
) -> Network:
    """A network with at least two ports, and at least one source when asked for."""
    roles = [table for table, wanted in ((STORAGES, storages), (RESISTIVE, resistive)) for _ in range(3) if wanted]
    roles += [SOURCES] * (6 if many_sources else 1)
    places = _places(draw, couplings, grounded)
    parts: list[Part] = []

    def one_port(domain: str, a: str, b: str) -> None:
        kind = draw(st.sampled_from(draw(st.sampled_from(roles))[domain]))
        nodes = (a, b) if draw(st.booleans()) else (b, a)
        parts.append(Part("", kind, nodes))

    for place in places:
        for k in range(1, len(place.nodes)):
            one_port(place.domain, place.nodes[draw(st.integers(0, k - 1))], place.nodes[k])
        for _ in range(draw(st.integers(0, 3))):
            one_port(place.domain, *_pair(draw, place))
    _join(draw, places, parts)
    _tie_loose_ends(places, parts, one_port)
    ports = [k for k, part in enumerate(parts) if part.kind not in DOMAINS_OF_PAIRS]
    assume(2 <= len(ports) <= MOST_PORTS)
    if one_source and not any(parts[k].is_source for k in ports):
        k = draw(st.sampled_from(ports))
        parts[k] = replace(parts[k], kind=draw(st.sampled_from(SOURCES[_domain(parts[k].kind)])))
    return _named(draw, parts)


def _places(draw: st.DrawFn, couplings: bool, grounded: bool) -> list[_Place]:
    count = draw(st.integers(2, 3)) if couplings else 1
    places = []
    domains = [draw(st.sampled_from("emrh"))]
    while len(domains) < count:
        domains.append(draw(st.sampled_from([d for pair in _pairs_with(domains[-1]) for d in pair if d in "emrh"])))
    for k, domain in enumerate(domains):
        floats = [f"n{k}{j}" for j in range(draw(st.integers(1, 3)))]
        first = REFERENCE[domain] if grounded or draw(st.integers(0, 4)) else f"n{k}x"
        places.append(_Place(domain, (first, *floats)))
    return places


def _pairs_with(domain: str) -> list[tuple[str, str]]:
    return [(a, b) for a, b in DOMAINS_OF_PAIRS.values() if domain in (a, b)]


def _pair(draw: st.DrawFn, place: _Place) -> tuple[str, str]:
    a = draw(st.integers(0, len(place.nodes) - 1))
    b = draw(st.integers(0, len(place.nodes) - 2))
    return place.nodes[a], place.nodes[b + (b >= a)]


def _join(draw: st.DrawFn, places: Sequence[_Place], parts: list[Part]) -> None:
    """Couplings between neighbours, and now and then one more."""
    joints = [(k, k + 1) for k in range(len(places) - 1)]
    if joints and draw(st.integers(0, 3)) == 0:
        joints.append(draw(st.sampled_from(joints)))
    for a, b in joints:
        ends = (places[a].domain, places[b].domain)
        fitting = [kind for kind, pair in DOMAINS_OF_PAIRS.items() if pair in (ends, ends[::-1])]
        assume(fitting)
        kind = draw(st.sampled_from(fitting))
        one, two = _pair(draw, places[a]), _pair(draw, places[b])
        if DOMAINS_OF_PAIRS[kind] != ends:
            one, two = two, one
        parts.append(Part("", kind, (*one, *two)))


def _tie_loose_ends(places: Sequence[_Place], parts: list[Part], one_port: object) -> None:
    assert callable(one_port)
    for place in places:
        for node in place.nodes:
            uses = Counter(n for part in parts for n in part.nodes)
            if uses[node] == 1 and node not in REFERENCES:
                one_port(place.domain, node, next(n for n in place.nodes if n != node))


def _domain(kind: str) -> str:
    return next(d for table in (STORAGES, RESISTIVE, SOURCES) for d, kinds in table.items() if kind in kinds)


def _named(draw: st.DrawFn, parts: list[Part]) -> Network:
    """Names and an order of description at random; a few parts share a parameter or write their number."""
    chance = random.Random(draw(st.integers(0, 2**16)))
    names = chance.sample(NAMES, len(parts))
    moduli = [Fraction(p, q) for p, q in zip(chance.sample(PRIMES[:5], 5), chance.sample(PRIMES[5:], 5), strict=True)]
    values: dict[str, Fraction] = {}
    named = []
    for name, part in zip(names, parts, strict=True):
        parameter = name
        if part.is_source:
            named.append(replace(part, name=name, parameter=name))
            continue
        if part.kind in DOMAINS_OF_PAIRS:
            values[name] = moduli.pop()
        elif values and chance.random() < 0.1:
            parameter = chance.choice(list(values))
        elif chance.random() < 0.1:
            named.append(replace(part, name=name, value=draw(numbers)))
            continue
        if parameter not in values:
            values[parameter] = draw(numbers)
        named.append(replace(part, name=name, parameter=parameter, value=values[parameter]))
    chance.shuffle(named)
    return Network(tuple(named), draw(st.booleans()))
