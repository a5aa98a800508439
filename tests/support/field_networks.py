"""Random networks of one-ports, couplings and fields, as text, with their transfer matrix by the whole tableau of equations.

The tableau is the independent judge: every potential and every through variable stays an unknown, and nothing is eliminated,
sorted or simplified. It knows no causality, so it solves whatever has a solution.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
from hypothesis import strategies as st

Values = Mapping[str, float]

REFERENCE = {"e": "gnd", "m": "frame"}
NODES = {"e": ("gnd", "a", "b", "c"), "m": ("frame", "x", "y")}
STORAGES = {"e": ("capacitor", "inductor"), "m": ("mass", "compliance")}
RESISTIVE = {"e": ("resistor", "conductance"), "m": ("damper", "mobility")}
SOURCES = {"e": ("voltage source", "current source"), "m": ("velocity source", "force source")}
DOMAIN = {kind: d for table in (STORAGES, RESISTIVE, SOURCES) for d, kinds in table.items() for kind in kinds}
GIVES_ACROSS = {"capacitor", "mass", "resistor", "mobility", "voltage source", "velocity source"}
"""What the law gives: the output of a storage, the left side of a resistive law, what a source imposes."""


@dataclass(frozen=True)
class Block:
    """Elements with one law, a matrix of names of parameters: one-ports are fields of one port."""

    name: str
    kinds: tuple[str, ...]
    ends: tuple[tuple[str, str], ...]
    matrix: tuple[tuple[str, ...], ...] = ()

    @property
    def is_source(self) -> bool:
        return self.kinds[0].endswith(" source")

    @property
    def stores(self) -> bool:
        return self.kinds[0] in (*STORAGES["e"], *STORAGES["m"])

    @property
    def line(self) -> str:
        if len(self.kinds) == 1:
            value = "" if self.is_source else f", {_VALUE[self.kinds[0]]}: {self.matrix[0][0]}"
            return f"  {self.name}: {{{self.kinds[0]}: [{', '.join(self.ends[0])}]{value}}}"
        nodes = ", ".join(n for pair in self.ends for n in pair)
        rows = ", ".join(f"[{', '.join(row)}]" for row in self.matrix)
        if len(set(self.kinds)) == 1:
            return f"  {self.name}: {{{self.kinds[0]} field: [{nodes}], matrix: [{rows}]}}"
        return f"  {self.name}: {{field: [{nodes}], kinds: [{', '.join(self.kinds)}], matrix: [{rows}]}}"


_VALUE = {
    "capacitor": "C",
    "inductor": "L",
    "mass": "m",
    "compliance": "E",
    "resistor": "R",
    "conductance": "G",
    "damper": "b",
    "mobility": "d",
}


@dataclass(frozen=True)
class Gyrator:
    """Ties the electrical part to the mechanical one: force = K current, voltage = K velocity."""

    name: str
    ends: tuple[tuple[str, str], tuple[str, str]]

    @property
    def line(self) -> str:
        nodes = ", ".join(n for pair in self.ends for n in pair)
        return f"  {self.name}: {{voice coil: [{nodes}], K: K}}"


@dataclass(frozen=True)
class FieldNetwork:
    """Blocks in the order of description, with the values of their parameters."""

    blocks: tuple[Block, ...]
    couplings: tuple[Gyrator, ...] = ()
    values: Values = field(default_factory=dict)

    @property
    def text(self) -> str:
        parameters = ", ".join(f"{name}: {value!r}" for name, value in self.values.items())
        lines = [block.line for block in self.blocks] + [coupling.line for coupling in self.couplings]
        return f"system: Fields\nparameters: {{{parameters}}}\nnetwork:\n" + "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return self.text

    def tableau(self, values: Values | None = None) -> tuple[np.ndarray, ...]:
        """E, F, G, H with s E w = F w + G u and y = H w: w are potentials, then what flows through each port, in order."""
        known = {**self.values, **(values or {})}
        pairs = [pair for b in self.blocks for pair in b.ends] + [pair for c in self.couplings for pair in c.ends]
        nodes = sorted({n for pair in pairs for n in pair})
        place = {n: i for i, n in enumerate(n for n in nodes if n not in REFERENCE.values())}
        ports = [(b, j) for b in self.blocks for j in range(len(b.kinds))]
        branches = [b.ends[j] for b, j in ports] + [pair for c in self.couplings for pair in c.ends]
        sources = [k for k, (b, _) in enumerate(ports) if b.is_source]
        n, size = len(place), len(place) + len(branches)
        E, F, G = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, len(sources)))
        H = np.zeros((len(sources), size))
        across, through = np.zeros((len(branches), size)), np.zeros((len(branches), size))
        for k, (plus, minus) in enumerate(branches):
            through[k, n + k] = 1.0
            for node, sign in ((plus, 1.0), (minus, -1.0)):
                if node in place:
                    across[k, place[node]] += sign
                    # The two sides of a coupling are counted into it, like every other port.
                    F[place[node], n + k] += sign
        row = n
        for first, b in ((k, b) for k, (b, j) in enumerate(ports) if j == 0):
            members = range(first, first + len(b.kinds))
            kinds = dict(zip(members, b.kinds, strict=True))
            gives = {k: across[k] if kind in GIVES_ACROSS else through[k] for k, kind in kinds.items()}
            told = {k: through[k] if kind in GIVES_ACROSS else across[k] for k, kind in kinds.items()}
            if b.is_source:
                j = sources.index(first)
                F[row], G[row, j], H[j] = -gives[first], 1.0, -told[first]
                row += 1
                continue
            M = [[known[e] for e in line] for line in b.matrix]
            for i, k in enumerate(members):
                if b.stores:  # told_i = s * sum of M_ij output_j
                    E[row], F[row] = sum(M[i][j] * gives[m] for j, m in enumerate(members)), told[k]
                else:
                    F[row] = sum(M[i][j] * told[m] for j, m in enumerate(members)) - gives[k]
                row += 1
        for c in range(len(self.couplings)):
            one, two = len(ports) + 2 * c, len(ports) + 2 * c + 1
            K = known["K"]
            # Power enters at the first side and leaves at the second, where it is counted in with the other sign.
            F[row], F[row + 1] = across[one] - K * across[two], through[two] + K * through[one]
            row += 2
        return E, F, G, H

    def transfer(self, s: complex, values: Values | None = None) -> np.ndarray:
        """Inputs to conjugate outputs, in the order of the sources."""
        E, F, G, H = self.tableau(values)
        found: np.ndarray = H @ np.linalg.solve(s * E - F, G.astype(complex))
        return found

    def is_regular(self, values: Values | None = None) -> bool:
        """Whether the equations determine everything, judged far from rounding."""
        E, F, _, _ = self.tableau(values)
        pencil = (0.83 + 0.41j) * E - F
        size = np.abs(pencil).max(axis=1, keepdims=True)
        return bool(size.all()) and np.linalg.cond(pencil / size) < 1e6


@st.composite
def field_networks(draw: st.DrawFn, *, resistive_only: bool = False) -> FieldNetwork:
    """Connected networks with at least one field and one source."""
    return random_field_network(Random(draw(st.integers(0, 2**32))), resistive_only=resistive_only)


def random_field_network(chance: Random, *, resistive_only: bool = False) -> FieldNetwork:
    """Of each field the parameters are `<name>_ij`; storage matrices are positive definite, resistive ones need no symmetry."""
    mechanical = chance.random() < 0.5
    nodes = {"e": NODES["e"][: chance.randint(3, 4)], "m": NODES["m"][: chance.randint(2, 3)] if mechanical else ()}
    blocks: list[Block] = []
    values: dict[str, float] = {"K": round(chance.uniform(0.3, 2), 3)}

    def add(kinds: Sequence[str], ends: Sequence[tuple[str, str]]) -> None:
        name, n = f"e{len(blocks)}", len(kinds)
        if kinds[0].endswith(" source"):
            blocks.append(Block(name, tuple(kinds), tuple(ends)))
            return
        symmetric = kinds[0] in (*STORAGES["e"], *STORAGES["m"])
        root = [[chance.uniform(-1, 1) + 1.5 * (i == j) for j in range(n)] for i in range(n)]
        rows = []
        for i in range(n):
            row = []
            for j in range(n):
                key = f"{name}_{min(i, j)}{max(i, j)}" if symmetric else f"{name}_{i}{j}"
                square = sum(root[i][k] * root[j][k] for k in range(n)) + 0.1 * (i == j)
                skew = 0.0 if symmetric or i == j else chance.uniform(-0.4, 0.4)
                values.setdefault(key, round(square + skew, 4))
                row.append(key)
            rows.append(tuple(row))
        blocks.append(Block(name, tuple(kinds), tuple(ends), tuple(rows)))

    def pair(domain: str, kind: str = "") -> tuple[str, str]:
        one, two = chance.sample(nodes[domain], 2)
        # A mass stores momentum against the frame alone.
        return (one if one != "frame" else two, "frame") if kind == "mass" else (one, two)

    domains = ["e", "m"] if mechanical else ["e"]
    for d in domains:  # a tree, and a little more
        for k in range(1, len(nodes[d])):
            table = chance.choice((STORAGES, RESISTIVE, RESISTIVE))
            end = nodes[d][k], "frame" if (kind := chance.choice(table[d])) == "mass" else chance.choice(nodes[d][:k])
            add([kind], [end])
        for _ in range(chance.randint(1, 2)):
            kind = chance.choice(chance.choice((STORAGES, RESISTIVE))[d])
            add([kind], [pair(d, kind)])
    for _ in range(chance.randint(1, 2)):
        table = RESISTIVE if resistive_only else chance.choice((STORAGES, STORAGES, RESISTIVE))
        kinds = []
        where = [chance.choice(domains) for _ in range(chance.randint(2, 3))]
        same = chance.random() < 0.6
        kind = chance.choice(table[where[0]])
        for d in where:
            kinds.append(kind if same else chance.choice(table[d]))
        add(kinds, [pair(DOMAIN[kind], kind) for kind in kinds])
    for _ in range(chance.randint(1, 2)):
        d = chance.choice(domains)
        add([chance.choice(SOURCES[d])], [pair(d)])
    # A node that one terminal touches is refused by a rule of its own.
    uses = Counter(n for b in blocks for ends in b.ends for n in ends)
    for d in domains:
        for node in nodes[d][1:]:
            if uses[node] == 1:
                add([RESISTIVE[d][0]], [(node, nodes[d][0])])
    couplings = (Gyrator("coil", (pair("e"), pair("m"))),) if mechanical else ()
    chance.shuffle(blocks)
    return FieldNetwork(tuple(blocks), couplings, values)
