"""Random bond graphs and ladders, and what they mean by their definitions alone.

A bond graph is solved here for the effort and the flow of every bond: junctions, two-ports and one-ports each give their equations,
and nothing is said of nodes, across or through. A ladder is multiplied out as a chain of two-ports. Neither reads the package.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise

from hypothesis import assume
from hypothesis import strategies as st

from support import exact

Row = dict[int, Fraction]
ONE = Fraction(1)
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)
DOMAINS = ("electrical", "translational", "rotational", "hydraulic")
MECHANICS = ("translational", "rotational")

UNITS: Mapping[str, Mapping[str, str]] = {
    "electrical": {"f = p s e": "F", "e = p s f": "H", "e = p f": "ohm", "f = p e": "S"},
    "translational": {
        "f = p s e": "m/N",
        "s e = p f": "N/m",
        "e = p s f": "kg",
        "e = p f": "N*s/m",
        "f = p e": "m/(N*s)",
    },
    "rotational": {
        "f = p s e": "rad/(N*m)",
        "s e = p f": "N*m/rad",
        "e = p s f": "kg*m^2",
        "e = p f": "N*m*s",
        "f = p e": "rad/(N*m*s)",
    },
    "hydraulic": {
        "f = p s e": "m^3/Pa",
        "s e = p f": "Pa/m^3",
        "e = p s f": "Pa*s^2/m^3",
        "e = p f": "Pa*s/m^3",
        "f = p e": "m^3/(Pa*s)",
    },
}
"""The unit in which the parameter of each law is given, effort and flow being those of the domain."""

BARE = {"C": "f = p s e", "I": "e = p s f", "R": "e = p f"}
"""The law that a number without unit stands for."""


@dataclass(frozen=True)
class Item:
    """A junction, a one-port or a two-port with its modulus; a law with unit is written with the unit."""

    name: str
    kind: str
    domain: str = ""
    value: Fraction = ONE
    law: str = ""
    with_unit: bool = False

    @property
    def is_storage(self) -> bool:
        return self.kind in ("C", "I")

    @property
    def is_source(self) -> bool:
        return self.kind in ("Se", "Sf")

    @property
    def is_junction(self) -> bool:
        return self.kind in ("0", "1")

    @property
    def is_two_port(self) -> bool:
        return self.kind in ("TF", "GY")


@dataclass(frozen=True)
class Graph:
    """Items and half arrows; `said` are the items behind which the word of a domain stands."""

    items: dict[str, Item]
    bonds: tuple[tuple[str, str], ...]
    said: frozenset[str] = field(default_factory=frozenset)

    @property
    def values(self) -> dict[str, Fraction]:
        return {i.name: i.value for i in self.items.values() if not i.is_junction and not i.is_source}

    def of(self, *kinds: str) -> list[Item]:
        return [i for i in self.items.values() if i.kind in kinds]

    @property
    def sources(self) -> list[Item]:
        """In the order in which the lines mention them first."""
        return [self.items[n] for n in self._mentioned() if self.items[n].is_source]

    def _mentioned(self) -> list[str]:
        return list(dict.fromkeys(name for bond in self.bonds for name in bond))

    @property
    def text(self) -> str:
        """The model file; every item carries its kind where it stands first."""
        lines, seen = [], set()
        for bond in self.bonds:
            shown = []
            for name in bond:
                item = self.items[name]
                note = f" ({item.domain})" if name in self.said and name not in seen else ""
                shown.append(f"{item.kind}:{name}{note}" if name not in seen else name)
                seen.add(name)
            lines.append("  - " + " -> ".join(shown))
        units = {n: UNITS[i.domain][i.law] if i.with_unit else "" for n, i in self.items.items() if i.law}
        given = [f"  {n}: {i.value} {units.get(n, '')}" for n, i in self.items.items() if n in self.values]
        parameters = "\n".join(["parameters:", *given, ""]) if given else ""
        return "\n".join(["system: test", parameters + "bond graph:", *lines, ""])

    def __repr__(self) -> str:
        return self.text


# -- the meaning of a bond graph -----------------------------------------------------------------------------------------------


class Definition:
    """The equations of a bond graph. Column 2k is the effort of bond k, column 2k+1 its flow; then the inputs."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.count = 2 * len(graph.bonds)
        self.at: dict[str, list[tuple[int, bool]]] = {
            name: [] for name in graph.items
        }  # bond, and whether it points here
        for k, (tail, head) in enumerate(graph.bonds):
            self.at[tail].append((k, False))
            self.at[head].append((k, True))

    def interconnection(self, modulus: Mapping[str, Fraction]) -> Iterator[Row]:
        for name, item in self.graph.items.items():
            bonds = self.at[name]
            if item.is_junction:
                shared, summed = (0, 1) if item.kind == "0" else (1, 0)
                for (a, _), (b, _) in pairwise(bonds):
                    yield {2 * a + shared: ONE, 2 * b + shared: -ONE}
                yield {2 * k + summed: ONE if into else -ONE for k, into in bonds}
            elif item.is_two_port:
                a = next(k for k, into in bonds if into)
                b = next(k for k, into in bonds if not into)
                m = modulus[name]
                if item.kind == "TF":
                    yield {2 * a: ONE, 2 * b: -m}
                    yield {2 * b + 1: ONE, 2 * a + 1: -m}
                else:
                    yield {2 * a: ONE, 2 * b + 1: -m}
                    yield {2 * b: ONE, 2 * a + 1: -m}

    def laws(self, s: Fraction) -> Iterator[Row]:
        sources = [item.name for item in self.graph.sources]
        for name, item in self.graph.items.items():
            if item.is_junction or item.is_two_port:
                continue
            ((k, into),) = self.at[name]
            effort, flow, p = 2 * k, 2 * k + 1, item.value
            sign = 1 if into else -1  # the flow into the element
            if item.is_source:
                yield {(effort if item.kind == "Se" else flow): ONE, self.count + sources.index(name): ONE}
            elif item.law == "f = p s e":
                yield {flow: ONE * sign, effort: -p * s}
            elif item.law == "s e = p f":
                yield {effort: s, flow: -p * sign}
            elif item.law == "e = p s f":
                yield {effort: ONE, flow: -p * s * sign}
            elif item.law == "e = p f":
                yield {effort: ONE, flow: -p * sign}
            else:
                assert item.law == "f = p e", item
                yield {flow: ONE * sign, effort: -p}

    def solve(self, s: Fraction) -> exact.Rows | None:
        """The effort and flow of every bond for each input; None at a pole."""
        rows = [*self.interconnection(self.graph.values), *self.laws(s)]
        return exact.solve(rows, self.count, len(self.graph.sources))

    def outputs(self, solution: exact.Rows) -> exact.Rows:
        """The conjugate of each source, signed so that it is the power supplied by one unit of the input."""
        found = []
        for item in self.graph.sources:
            ((k, into),) = self.at[item.name]
            column = 2 * k + (1 if item.kind == "Se" else 0)
            found.append([-value if into else value for value in solution[column]])
        return found

    def stored(self, solution: exact.Rows, name: str) -> list[Fraction]:
        """The variable that a storage decides, as its bond counts it."""
        ((k, _),) = self.at[name]
        return list(solution[2 * k + (0 if self.graph.items[name].kind == "C" else 1)])


class Freedom:
    """All efforts and flows that junctions and two-ports allow, moduli in general position, as vectors modulo a prime."""

    def __init__(self, graph: Graph) -> None:
        whole = Definition(graph)
        moduli = {i.name: Fraction(random.Random(i.name).randrange(1, exact.PRIME)) for i in graph.of("TF", "GY")}
        rows = [{c: exact.residue(e) for c, e in row.items()} for row in whole.interconnection(moduli)]
        basis = exact.null_space(rows, whole.count)
        self.one_ports = graph.of("Se", "Sf", "C", "I", "R")
        self.dimension = len(basis)
        self.variables: dict[str, tuple[list[int], list[int]]] = {}
        for item in self.one_ports:
            ((k, _),) = whole.at[item.name]
            self.variables[item.name] = ([v[2 * k] for v in basis], [v[2 * k + 1] for v in basis])

    def wanted(self, item: Item) -> list[int]:
        """What the one-port would decide: the effort of Se and C, the flow of Sf and I."""
        return self.variables[item.name][0 if item.kind in ("Se", "C") else 1]

    def can_decide(self, items: tuple[Item, ...]) -> bool:
        rows = [self.wanted(item) for item in items]
        return exact.rank(rows) == len(rows)

    @property
    def leaves_something_open(self) -> bool:
        """Whether power can circulate in the junction structure that no one-port notices."""
        return exact.rank([row for pair in self.variables.values() for row in pair]) < self.dimension

    def most_integral(self) -> int:
        """By trying all sets of storages."""
        sources = tuple(item for item in self.one_ports if item.is_source)
        storages = [item for item in self.one_ports if item.is_storage]
        for size in range(len(storages), -1, -1):
            if any(self.can_decide((*sources, *chosen)) for chosen in combinations(storages, size)):
                return size
        raise AssertionError("the sources alone contradict each other")


# -- random bond graphs --------------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn, *, islands: int = 3, loops: bool = True, most: int = 9) -> Graph:
    """Islands of one domain, each a tree of junctions and perhaps one more bond, joined by two-ports; at least one source."""
    chance = draw(st.randoms(use_true_random=False))
    items: dict[str, Item] = {}
    bonds: list[tuple[str, str]] = []
    primes = chance.sample(PRIMES, len(PRIMES))
    moduli = [Fraction(p, q) for p, q in zip(primes[::2], primes[1::2], strict=True)]

    def add(kind: str, domain: str = "", **more: object) -> str:
        name = f"{'j' if kind in '01' else kind.lower()}_{len(items)}"
        items[name] = Item(name, kind, domain, **more)  # type: ignore[arg-type]
        return name

    def join(a: str, b: str) -> None:
        bonds.append((a, b) if chance.random() < 0.5 else (b, a))

    def one_port(domain: str) -> str:
        kind = chance.choice(("C", "C", "I", "I", "R", "R", "Se", "Sf"))
        if kind in ("Se", "Sf"):
            return add(kind, domain)
        law, with_unit = BARE[kind], chance.random() < 0.5
        if with_unit and kind != "I" and chance.random() < 0.5:
            law = {"C": "s e = p f", "R": "f = p e"}[kind]
            with_unit = law in UNITS[domain]
            law = law if with_unit else BARE[kind]
        return add(kind, domain, value=Fraction(chance.randint(1, 30)), law=law, with_unit=with_unit)

    def two_port(a: str, b: str) -> None:
        name = add(chance.choice(("TF", "GY")), value=moduli.pop())
        bonds.extend([(a, name), (name, b)])

    places: list[list[str]] = []
    for _ in range(draw(st.integers(1, islands))):
        domain = chance.choice(DOMAINS)
        junctions = [add(chance.choice("01"), domain) for _ in range(draw(st.integers(1, 4)))]
        for k in range(1, len(junctions)):
            join(junctions[chance.randrange(k)], junctions[k])
        if loops and len(junctions) > 1 and chance.random() < 0.5:
            a, b = chance.sample(junctions, 2)
            if items[a].kind != items[b].kind:
                join(a, b)
            else:
                two_port(a, b)
        places.append(junctions)
    for one, two in pairwise(places):
        for _ in range(2 if loops and chance.random() < 0.3 else 1):
            two_port(chance.choice(one), chance.choice(two))
    for junction in [j for place in places for j in place]:
        has = sum(junction in bond for bond in bonds)
        for _ in range(max(2 - has, chance.choice((0, 1, 1, 2)))):
            join(junction, one_port(items[junction].domain))
    said = {place[0] for place in places}
    if chance.random() < 0.3:  # a one-port that hangs on a two-port without a junction between
        domain = chance.choice(DOMAINS)
        end = one_port(domain)
        name = add(chance.choice(("TF", "GY")), value=moduli.pop())
        junction = chance.choice(places[-1])
        bonds.extend([(end, name), (name, junction)] if chance.random() < 0.5 else [(junction, name), (name, end)])
        said.add(end)
    ports = [n for n, i in items.items() if not i.is_junction and not i.is_two_port]
    assume(2 <= len(ports) <= most)
    if not any(items[n].is_source for n in ports):
        chosen = items[chance.choice(ports)]
        items[chosen.name] = Item(chosen.name, chance.choice(("Se", "Sf")), chosen.domain)
    chance.shuffle(bonds)
    return Graph(items, tuple(bonds), frozenset(said))


# -- ladders -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A series or parallel block of letters and names, or a connection with its name."""

    word: str
    entries: tuple[tuple[str, str], ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Ladder:
    """Blocks, the domain of each stage, and which ends have a section."""

    blocks: tuple[Block, ...]
    domains: tuple[str, ...]
    values: dict[str, Fraction]
    begins: bool
    ends: bool

    @property
    def text(self) -> str:
        lines, stage = [f"domain: {self.domains[0]}"], 0
        if self.begins:
            lines.append("section: [e_1, f_1]")
        for block in self.blocks:
            if block.word == "connect":
                stage += 1
                lines += [f"connect: {block.name}", f"domain: {self.domains[stage]}"]
            else:
                shown = ", ".join(f"{letter}:{name}" for letter, name in block.entries)
                lines.append(f"{block.word}: [{shown}]")
        if self.ends:
            lines.append("section: [e_2, f_2]")
        given = [f"  {name}: {value}" for name, value in self.values.items()]
        return "\n".join(["system: test", "parameters:", *given, "pog:", *(f"  - {line}" for line in lines), ""])

    def __repr__(self) -> str:
        return self.text


def impedance(letter: str, domain: str, p: Fraction, s: Fraction) -> Fraction:
    """Across over through of an element whose parameter has no unit."""
    mechanical = domain in MECHANICS
    if letter in ("M", "m", "J") or (letter == "C" and not mechanical) or (letter == "I" and mechanical):
        return 1 / (p * s)
    if letter == "K":
        return s / p if mechanical else p / s
    if letter in ("L", "E", "C", "I"):
        return p * s
    if letter == "R":
        return 1 / p if mechanical else p
    return p if letter in ("d", "D") else 1 / p


Two = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]


def _times(a: Two, b: Two) -> Two:
    rows = [[sum((a[i][k] * b[k][j] for k in (0, 1)), Fraction(0)) for j in (0, 1)] for i in (0, 1)]
    return (rows[0][0], rows[0][1]), (rows[1][0], rows[1][1])


def chain(ladder: Ladder, s: Fraction) -> Two:
    """The matrix that takes across and through at the right end to those at the left end, power counting to the right."""
    zero, whole = Fraction(0), ((ONE, Fraction(0)), (Fraction(0), ONE))
    stage = 0
    for position, block in enumerate(ladder.blocks):
        if block.word == "connect":
            stage += 1
            k = ladder.values[block.name]
            gives = "through" if ladder.blocks[position - 1].word == "series" else "across"
            takes = "across" if ladder.blocks[position + 1].word == "series" else "through"
            # x_2 = K x_1 for the variables above, and the conjugates so that no power is lost
            step: Two = {
                ("through", "through"): ((k, zero), (zero, 1 / k)),
                ("across", "across"): ((1 / k, zero), (zero, k)),
                ("across", "through"): ((zero, 1 / k), (k, zero)),
                ("through", "across"): ((zero, k), (1 / k, zero)),
            }[gives, takes]
        else:
            each = [impedance(letter, ladder.domains[stage], ladder.values[name], s) for letter, name in block.entries]
            if block.word == "series":
                step = ((ONE, sum(each, zero)), (zero, ONE))
            else:
                step = ((ONE, zero), (sum((1 / z for z in each), zero), ONE))
        whole = _times(whole, step)
    return whole


def ladder_transfer_matrix(ladder: Ladder, s: Fraction) -> exact.Rows | None:
    """Sections to their conjugates; an end without section holds the variable that its block takes at zero. None at a pole."""
    (a, b), (c, d) = chain(ladder, s)
    first, last = ladder.blocks[0].word, ladder.blocks[-1].word
    inputs = ladder.begins + ladder.ends
    left = (a, b) if first == "series" else (c, d)
    right = (ONE, Fraction(0)) if last == "series" else (Fraction(0), -ONE)  # the flow of a section at the end comes in
    sides = [{0: left[0], 1: left[1]}, {0: right[0], 1: right[1]}]
    if ladder.begins:
        sides[0][2] = ONE
    if ladder.ends:
        sides[1][1 + inputs] = ONE
    found = exact.solve([{k: e for k, e in side.items() if e} for side in sides], 2, inputs)
    if found is None:
        return None
    v, i = found
    outputs = []
    if ladder.begins:
        conjugate = (c, d) if first == "series" else (a, b)
        outputs.append([conjugate[0] * x + conjugate[1] * y for x, y in zip(v, i, strict=True)])
    if ladder.ends:
        outputs.append([-y for y in i] if last == "series" else list(v))
    return outputs


LETTERS = {
    "electrical": "CLIRGbd",
    "translational": "MmEKICRGbd",
    "rotational": "JEKICRbBD",
    "hydraulic": "CLKIRGd",
}


@st.composite
def ladders(draw: st.DrawFn) -> Ladder:
    """Up to five blocks, with connections between some of them."""
    chance = draw(st.randoms(use_true_random=False))
    blocks: list[Block] = []
    domains = [chance.choice(DOMAINS)]
    values: dict[str, Fraction] = {}
    for position in range(draw(st.integers(1, 5))):
        if position and chance.random() < 0.4:
            name = f"K_{position}"
            values[name] = Fraction(chance.choice(PRIMES), chance.choice(PRIMES))
            blocks.append(Block("connect", name=name))
            domains.append(chance.choice(DOMAINS))
        word = chance.choice(("series", "parallel"))
        entries = []
        for _ in range(chance.choice((1, 1, 2, 3))):
            name = f"p_{len(values)}"
            values[name] = Fraction(chance.randint(1, 30))
            entries.append((chance.choice(LETTERS[domains[-1]]), name))
        blocks.append(Block(word, tuple(entries)))
    begins = chance.random() < 0.8
    return Ladder(tuple(blocks), tuple(domains), values, begins, not begins or chance.random() < 0.6)
