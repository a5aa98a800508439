"""Networks analysed from first principles: Kirchhoff's laws and element laws as one table of equations (Hachtel, Brayton and
Gustavson 1971), solved without rounding at a rational Laplace variable.

Nothing here reads the package's table of kinds, its graph or its interconnection, so that a mistake there cannot hide here.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

from support import exact
from support.networks import Network, Part

Law = Literal["i = p s v", "s v = p i", "v = p s i", "s i = p v", "v = p i", "i = p v", "v = u", "i = u"]
Pair = Literal["v1 = p v2", "v2 = p v1", "i2 = p v1", "v1 = p i2"]

LAWS: Mapping[str, Law] = {
    "capacitor": "i = p s v",
    "mass": "i = p s v",
    "inertia": "i = p s v",
    "accumulator": "i = p s v",
    "stiff chamber": "s v = p i",
    "inductor": "v = p s i",
    "compliance": "v = p s i",
    "torsion compliance": "v = p s i",
    "fluid inertia": "v = p s i",
    "spring": "s i = p v",
    "torsion spring": "s i = p v",
    "resistor": "v = p i",
    "mobility": "v = p i",
    "rotational mobility": "v = p i",
    "hydraulic resistor": "v = p i",
    "conductance": "i = p v",
    "damper": "i = p v",
    "friction": "i = p v",
    "leak": "i = p v",
    "voltage source": "v = u",
    "velocity source": "v = u",
    "speed source": "v = u",
    "pressure source": "v = u",
    "current source": "i = u",
    "force source": "i = u",
    "torque source": "i = u",
    "flow source": "i = u",
}
PAIRS: Mapping[str, Pair] = {
    "transformer": "v1 = p v2",
    "lever": "v1 = p v2",
    "gear": "v1 = p v2",
    "pressure intensifier": "v1 = p v2",
    "dc machine": "v1 = p v2",
    "voice coil": "v1 = p v2",
    "rack": "v2 = p v1",
    "screw": "v2 = p v1",
    "pump": "i2 = p v1",
    "hydraulic motor": "i2 = p v1",
    "piston": "i2 = p v1",
    "gyrator": "v1 = p i2",
}
REFERENCES = ("gnd", "frame", "tank")
DOMAINS_OF_PAIRS: Mapping[str, tuple[str, str]] = {
    "transformer": ("e", "e"),
    "gyrator": ("e", "e"),
    "lever": ("m", "m"),
    "gear": ("r", "r"),
    "pressure intensifier": ("h", "h"),
    "dc machine": ("e", "r"),
    "voice coil": ("e", "m"),
    "rack": ("r", "m"),
    "screw": ("r", "m"),
    "pump": ("r", "h"),
    "hydraulic motor": ("h", "r"),
    "piston": ("h", "m"),
}
TRANSLATIONAL = {"mass", "spring", "compliance", "damper", "mobility", "velocity source", "force source"}

Storages = ("i = p s v", "s v = p i", "v = p s i", "s i = p v")
ACROSS_STORED = ("i = p s v", "s v = p i")


def is_storage(part: Part) -> bool:
    return LAWS.get(part.kind) in Storages


def is_resistive(part: Part) -> bool:
    return LAWS.get(part.kind) in ("v = p i", "i = p v")


def is_coupling(part: Part) -> bool:
    return part.kind in PAIRS


Value = Callable[[Part], Fraction]
Row = dict[int, Fraction]


def _given(part: Part) -> Fraction:
    return part.value


def in_general_position(part: Part) -> Fraction:
    """A random number for each parameter, the same wherever its name occurs; numbers written out stay as they are."""
    return (
        Fraction(random.Random(f"a point: {part.parameter}").randrange(1, exact.PRIME))
        if part.parameter
        else part.value
    )


@dataclass(frozen=True)
class Branch:
    """Two nodes (None for a reference) and the column of the through variable that enters at the first."""

    plus: int | None
    minus: int | None
    through: int


class Table:
    """The unknowns of a network: potentials of nodes, and through variables of ports and of both sides of couplings."""

    def __init__(self, network: Network) -> None:
        self.ports = [p for p in network.parts if not is_coupling(p)]
        self.couplings = [p for p in network.parts if is_coupling(p)]
        self.sources = [p for p in self.ports if p.is_source]
        self.column = self._potentials(network)
        self.count = len(set(self.column.values()) - {None})
        self.branch: dict[str, Branch] = {}
        self.sides: dict[str, tuple[Branch, Branch]] = {}
        for part in self.ports:
            self.branch[part.name] = self._branch(_ends(part)[0])
        for part in self.couplings:
            first, second = _ends(part)
            self.sides[part.name] = (self._branch(first), self._branch(second))

    def _branch(self, ends: tuple[str, str]) -> Branch:
        self.count += 1
        return Branch(self.column[ends[0]], self.column[ends[1]], self.count - 1)

    def _potentials(self, network: Network) -> dict[str, int | None]:
        """A column for each node; one node of each part that hangs together by branches has the potential zero."""
        pairs = [ends for part in network.parts for ends in _ends(part)]
        group = {node: node for ends in pairs for node in ends}
        for a, b in pairs:
            old, new = group[a], group[b]
            group = {node: new if g == old else g for node, g in group.items()}
        zero: dict[str, str] = {}
        for node in sorted(group, key=lambda n: (n.split(":")[-1] not in REFERENCES, n)):
            zero.setdefault(group[node], node)
        numbered = iter(range(len(group)))
        return {node: None if zero[group[node]] == node else next(numbered) for node in sorted(group)}

    # -- equations -------------------------------------------------------------------------------------------------------------

    def kirchhoff(self) -> list[Row]:
        """What flows into a node flows out of it."""
        rows: dict[int, Row] = {c: {} for c in self.column.values() if c is not None}
        for branch in self.branch.values():
            _flow(rows, branch, 1)
        for first, second in self.sides.values():
            _flow(rows, first, 1)
            _flow(rows, second, -1)
        return list(rows.values())

    def coupled(self, value: Value) -> list[Row]:
        """Two equations a coupling; through_1 enters side 1, through_2 leaves side 2, and no power is lost between."""
        rows = []
        for part in self.couplings:
            one, two = self.sides[part.name]
            p, pair = value(part), PAIRS[part.kind]
            v1, v2, i1, i2 = _across(one), _across(two), {one.through: Fraction(1)}, {two.through: Fraction(1)}
            if pair == "v1 = p v2":
                rows += [_sum(v1, v2, -p), _sum(i2, i1, -p)]
            elif pair == "v2 = p v1":
                rows += [_sum(v2, v1, -p), _sum(i1, i2, -p)]
            elif pair == "i2 = p v1":
                rows += [_sum(i2, v1, -p), _sum(i1, v2, -p)]
            else:
                rows += [_sum(v1, i2, -p), _sum(v2, i1, -p)]
        return rows

    def laws(self, s: Fraction, value: Value) -> list[Row]:
        """The law of each port; the input of source j stands on the right side, column count + j."""
        rows = []
        for part in self.ports:
            branch = self.branch[part.name]
            v, i = _across(branch), {branch.through: Fraction(1)}
            p, law = value(part), LAWS[part.kind]
            if part.is_source:
                chosen = v if law == "v = u" else i
                rows.append(_sum(chosen, {self.count + self.sources.index(part): Fraction(1)}, Fraction(1)))
            elif law == "i = p s v":
                rows.append(_sum(i, v, -p * s))
            elif law == "v = p s i":
                rows.append(_sum(v, i, -p * s))
            elif law == "s v = p i":
                rows.append(_sum(_scaled(v, s), i, -p))
            elif law == "s i = p v":
                rows.append(_sum(_scaled(i, s), v, -p))
            elif law == "v = p i":
                rows.append(_sum(v, i, -p))
            else:
                rows.append(_sum(i, v, -p))
        return rows

    def rows(self, s: Fraction, value: Value = _given) -> list[Row]:
        return [*self.kirchhoff(), *self.coupled(value), *self.laws(s, value)]


def _ends(part: Part) -> list[tuple[str, str]]:
    if part.kind in PAIRS:
        a, b, c, d = part.nodes
        first, second = DOMAINS_OF_PAIRS[part.kind]
        return [(_node(a, first), _node(b, first)), (_node(c, second), _node(d, second))]
    domain = "m" if part.kind in TRANSLATIONAL else "other"
    return [(_node(part.nodes[0], domain), _node(part.nodes[1], domain))]


def _node(name: str, domain: str) -> str:
    """Translation and rotation both say `frame`, and mean two things."""
    return f"{'m' if domain == 'm' else 'r'}:{name}" if name == "frame" else name


def _flow(rows: Mapping[int, Row], branch: Branch, sign: int) -> None:
    for node, direction in ((branch.plus, sign), (branch.minus, -sign)):
        if node is not None:
            rows[node][branch.through] = rows[node].get(branch.through, Fraction(0)) + direction


def _across(branch: Branch) -> Row:
    row: Row = {}
    for node, sign in ((branch.plus, 1), (branch.minus, -1)):
        if node is not None:
            row[node] = row.get(node, Fraction(0)) + sign
    return row


def _scaled(row: Row, factor: Fraction) -> Row:
    return {c: e * factor for c, e in row.items()}


def _sum(a: Row, b: Row, factor: Fraction) -> Row:
    total = dict(a)
    for c, e in b.items():
        total[c] = total.get(c, Fraction(0)) + factor * e
    return {c: e for c, e in total.items() if e}


# -- questions -----------------------------------------------------------------------------------------------------------------


def transfer_matrix(network: Network, s: Fraction) -> exact.Rows | None:
    """Inputs to conjugate outputs, both in the order of the sources, outputs signed so that y*u is supplied; None at a pole."""
    table = Table(network)
    inputs = len(table.sources)
    found = exact.solve(table.rows(s), table.count, inputs)
    if found is None:
        return None
    outputs = []
    for part in table.sources:
        branch = table.branch[part.name]
        conjugate = {branch.through: Fraction(1)} if LAWS[part.kind] == "v = u" else _across(branch)
        outputs.append([-sum((e * found[c][j] for c, e in conjugate.items()), Fraction(0)) for j in range(inputs)])
    return outputs


def order_of_complexity(network: Network, value: Value = in_general_position) -> int:
    """The degree of the determinant in s: how many initial conditions can be chosen; -1 when nothing is determined."""
    table = Table(network)
    most = sum(map(is_storage, network.parts))
    values = []
    for s in range(most + 1):
        rows = table.rows(Fraction(s), value)
        values.append(
            exact.determinant([{c: exact.residue(e) for c, e in row.items() if c < table.count} for row in rows])
        )
    return exact.degree(values)


class PowerSpace:
    """All across and through variables of the ports that Kirchhoff's laws and the couplings allow, as vectors modulo a prime."""

    def __init__(self, network: Network, value: Value = in_general_position) -> None:
        table = Table(network)
        rows = [*table.kirchhoff(), *table.coupled(value)]
        basis = exact.null_space([{c: exact.residue(e) for c, e in row.items()} for row in rows], table.count)
        self.ports = table.ports
        self.across = {p.name: [_value(_across(table.branch[p.name]), vector) for vector in basis] for p in table.ports}
        self.through = {p.name: [vector[table.branch[p.name].through] for vector in basis] for p in table.ports}
        self.dimension = len(basis)

    @property
    def leaves_something_open(self) -> bool:
        """Whether something can circulate in the couplings that no port notices."""
        return exact.rank([*self.across.values(), *self.through.values()]) < self.dimension

    def row(self, part: Part) -> list[int]:
        """The variable that the part would like to decide: what it imposes, or what it stores energy by."""
        return self.across[part.name] if LAWS[part.kind] in (*ACROSS_STORED, "v = u") else self.through[part.name]

    def can_be_imposed(self, parts: Iterable[Part]) -> bool:
        """Whether the parts can choose their variables freely, all together."""
        rows = [self.row(part) for part in parts]
        return exact.rank(rows) == len(rows)

    def is_always_zero(self, part: Part) -> bool:
        return not any(self.row(part))

    def most_integral(self) -> int:
        """The largest number of storages that can decide their outputs together with the sources, by trying all sets."""
        sources = [p for p in self.ports if p.is_source]
        storages = [p for p in self.ports if is_storage(p)]
        for size in range(len(storages), -1, -1):
            if any(self.can_be_imposed([*sources, *chosen]) for chosen in combinations(storages, size)):
                return size
        raise AssertionError("the sources alone contradict each other")


def _value(row: Row, vector: list[int]) -> int:
    return sum(int(e) * vector[c] for c, e in row.items()) % exact.PRIME
