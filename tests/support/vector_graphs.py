"""Random bond graphs with vector bonds, matrix moduli and fields, and what they mean by their definitions alone.

Every component is written out here, by itself: an effort and a flow for each scalar bond, an equation for each component of each
junction, one-port and two-port. Nothing of the package is read.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, pairwise

from hypothesis import assume
from hypothesis import strategies as st

from support import exact

Row = dict[int, Fraction]
Matrix = tuple[tuple[Fraction, ...], ...]
ONE = Fraction(1)
DOMAINS = ("electrical", "translational", "rotational", "hydraulic")


@dataclass(frozen=True)
class Vector:
    """A vector item: junction, one-port (with a matrix unless it is a source) or two-port with its matrix."""

    name: str
    kind: str
    size: int
    domain: str = ""
    matrix: Matrix = ()
    causality: str = ""

    @property
    def is_junction(self) -> bool:
        return self.kind in ("0", "1")

    @property
    def is_two_port(self) -> bool:
        return self.kind in ("TF", "GY")

    @property
    def is_source(self) -> bool:
        return self.kind in ("Se", "Sf")


@dataclass(frozen=True)
class VectorGraph:
    """Items, and half arrows between them or between components: (tail, component), (head, component), 0 for all."""

    items: dict[str, Vector]
    bonds: tuple[tuple[tuple[str, int], tuple[str, int]], ...]
    scalar: tuple[tuple[tuple[str, int], tuple[str, int]], ...] = field(init=False)

    def __post_init__(self) -> None:
        found = []
        for (tail, k), (head, j) in self.bonds:
            if k or j:
                found.append(((tail, k or 1), (head, j or 1)))
                continue
            size = max(self.size(tail, "out"), 1)
            found += [((tail, i), (head, i)) for i in range(1, size + 1)]
        object.__setattr__(self, "scalar", tuple(found))

    def size(self, name: str, side: str) -> int:
        item = self.items[name]
        if item.is_two_port:
            return len(item.matrix) if side == "out" else len(item.matrix[0])
        return item.size

    def of(self, *kinds: str) -> list[Vector]:
        return [i for i in self.items.values() if i.kind in kinds]

    @property
    def sources(self) -> list[tuple[str, int]]:
        """The components of sources in the order in which the lines mention the items first."""
        order = dict.fromkeys(name for bond in self.bonds for name, _ in bond)
        return [(n, k) for n in order if self.items[n].is_source for k in range(1, self.items[n].size + 1)]

    @property
    def text(self) -> str:
        """The model file: kind and size where an item stands first."""
        lines, seen = [], set()
        for bond in self.bonds:
            shown = []
            for name, part in bond:
                item = self.items[name]
                size = f"[{item.size}]" if item.size > 1 and not item.is_two_port else ""
                note = f" ({item.domain})" if item.is_junction and name not in seen else ""
                text = name if name in seen else f"{item.kind}{size}:{name}"
                shown.append(text + (f"[{part}]" if part else "") + note)
                seen.add(name)
            lines.append("  - " + " -> ".join(shown))
        elements = "".join(f"  {i.name}: {_details(i)}\n" for i in self.items.values() if i.matrix)
        return "system: test\nbond graph:\n" + "\n".join(lines) + "\n" + ("elements:\n" + elements if elements else "")

    def __repr__(self) -> str:
        return self.text


def _details(item: Vector) -> str:
    rows = [[str(e) for e in row] for row in item.matrix]
    if item.is_two_port:
        return f"{{K: {rows[0][0]}}}" if len(rows) == len(rows[0]) == 1 else f"{{K: [{', '.join(map(_row, rows))}]}}"
    value = f"value: {rows[0][0]}" if len(rows) == 1 else f"matrix: [{', '.join(map(_row, rows))}]"
    return f"{{{value}{f', causality: {item.causality}' if item.causality else ''}}}"


def _row(entries: list[str]) -> str:
    return "[" + ", ".join(entries) + "]"


class VectorDefinition:
    """The equations of the components. Column 2k is the effort of scalar bond k, column 2k+1 its flow; then the inputs."""

    def __init__(self, graph: VectorGraph) -> None:
        self.graph = graph
        self.count = 2 * len(graph.scalar)
        self.into: dict[tuple[str, int], list[int]] = {}
        self.out: dict[tuple[str, int], list[int]] = {}
        for k, (tail, head) in enumerate(graph.scalar):
            self.out.setdefault(tail, []).append(k)
            self.into.setdefault(head, []).append(k)

    def interconnection(self) -> Iterator[Row]:
        for name, item in self.graph.items.items():
            if item.is_junction:
                for part in range(1, item.size + 1):
                    yield from self._junction(item, part)
            elif item.is_two_port:
                yield from self._two_port(name, item)

    def _junction(self, item: Vector, part: int) -> Iterator[Row]:
        into, out = self.into.get((item.name, part), []), self.out.get((item.name, part), [])
        shared, summed = (0, 1) if item.kind == "0" else (1, 0)
        for a, b in pairwise([*into, *out]):
            yield {2 * a + shared: ONE, 2 * b + shared: -ONE}
        yield {**{2 * k + summed: ONE for k in into}, **{2 * k + summed: -ONE for k in out}}

    def _two_port(self, name: str, item: Vector) -> Iterator[Row]:
        K = item.matrix
        a = [self.into[name, j + 1][0] for j in range(len(K[0]))]
        b = [self.out[name, i + 1][0] for i in range(len(K))]
        given, back = (1, 0) if item.kind == "TF" else (0, 1)  # f_b or e_b by f_a, and e_a by e_b or f_b
        for i, k in enumerate(b):
            yield {2 * k + given: ONE, **{2 * a[j] + 1: -e for j, e in enumerate(K[i]) if e}}
        for j, k in enumerate(a):
            yield {2 * k: ONE, **{2 * b[i] + back: -K[i][j] for i in range(len(K)) if K[i][j]}}

    def port(self, name: str, part: int) -> tuple[int, int]:
        """The scalar bond of a component of a one-port, and the sign of the flow into it."""
        into = self.into.get((name, part))
        return (into[0], 1) if into else (self.out[name, part][0], -1)

    def laws(self, s: Fraction) -> Iterator[Row]:
        for name, item in self.graph.items.items():
            if item.is_junction or item.is_two_port:
                continue
            ports = [self.port(name, k) for k in range(1, item.size + 1)]
            if item.is_source:
                for part, (k, _) in enumerate(ports, 1):
                    column = self.count + self.graph.sources.index((name, part))
                    yield {2 * k + (item.kind == "Sf"): ONE, column: ONE}
                continue
            for (k, sign), row in zip(ports, item.matrix, strict=True):
                if item.kind == "C":  # f = s M e
                    yield _law({2 * k + 1: ONE * sign}, {2 * j: -s * e for (j, _), e in zip(ports, row, strict=True)})
                else:  # e = s M f or e = M f
                    factor = s if item.kind == "I" else ONE
                    yield _law({2 * k: ONE}, {2 * j + 1: -factor * e * t for (j, t), e in zip(ports, row, strict=True)})

    def transfer_matrix(self, s: Fraction) -> exact.Rows | None:
        """The conjugate of each source, signed so that it is the power supplied by one unit of the input; None at a pole."""
        rows = [*self.interconnection(), *self.laws(s)]
        solution = exact.solve(rows, self.count, len(self.graph.sources))
        if solution is None:
            return None
        found = []
        for name, part in self.graph.sources:
            k, sign = self.port(name, part)
            column = 2 * k + (self.graph.items[name].kind == "Se")
            found.append([-sign * value for value in solution[column]])
        return found

    def most_integral(self) -> int:
        """The largest number of storage ports that can decide their variable beside the sources, by trying all sets."""
        basis = exact.null_space(
            [{c: exact.residue(e) for c, e in row.items()} for row in self.interconnection()], self.count
        )
        ports = [(i, k) for i in self.graph.items.values() if i.kind in ("C", "I") for k in range(1, i.size + 1)]
        sources = [self._decided(basis, self.graph.items[n], k) for n, k in self.graph.sources]
        rows = [self._decided(basis, item, k) for item, k in ports]
        for size in range(len(rows), -1, -1):
            for chosen in combinations(rows, size):
                if exact.rank([*sources, *chosen]) == len(sources) + size:
                    return size
        raise AssertionError("the sources alone contradict each other")

    def _decided(self, basis: list[list[int]], item: Vector, part: int) -> list[int]:
        k, _ = self.port(item.name, part)
        column = 2 * k + (item.kind in ("I", "Sf"))
        return [vector[column] for vector in basis]


def _law(left: Row, right: Row) -> Row:
    row = dict(left)
    for column, entry in right.items():
        row[column] = row.get(column, Fraction(0)) + entry
    return {column: entry for column, entry in row.items() if entry}


def _definite(chance: random.Random, size: int) -> Matrix:
    """A symmetric positive definite matrix of small whole numbers."""
    half = [[chance.randint(-2, 2) for _ in range(size)] for _ in range(size)]
    return tuple(
        tuple(Fraction(sum(a * b for a, b in zip(half[i], half[j], strict=True)) + 3 * (i == j)) for j in range(size))
        for i in range(size)
    )


def _passive(chance: random.Random, size: int) -> Matrix:
    """A matrix that loses power or only passes it on: a definite part, a skew part, or both."""
    matrix = [list(row) for row in _definite(chance, size)]
    if size > 1 and chance.random() < 0.3:
        matrix = [[Fraction(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i):
            turn = chance.choice((-2, -1, 1, 2))  # a row of zeros would be a short
            matrix[i][j] += turn
            matrix[j][i] -= turn
    return tuple(map(tuple, matrix))


def _matrix(chance: random.Random, kind: str, size: int) -> Matrix:
    if kind in ("Se", "Sf"):
        return ()
    return _passive(chance, size) if kind == "R" else _definite(chance, size)


@st.composite
def vector_graphs(draw: st.DrawFn, most: int = 8, *, wishes: bool = False) -> VectorGraph:
    """Two or three islands, each a chain of vector junctions, joined by two-ports with full matrices; at least one source.

    With `wishes`, some elements ask for a causality.
    """
    chance = draw(st.randoms(use_true_random=False))
    items: dict[str, Vector] = {}
    bonds: list[tuple[tuple[str, int], tuple[str, int]]] = []

    def add(kind: str, size: int, domain: str = "", matrix: Matrix = ()) -> str:
        name = f"{'j' if kind in '01' else kind.lower()}_{len(items)}"
        items[name] = Vector(name, kind, size, domain, matrix)
        return name

    def join(a: tuple[str, int], b: tuple[str, int]) -> None:
        bonds.append((a, b) if chance.random() < 0.5 else (b, a))

    def one_port(junction: str) -> None:
        whole = items[junction]
        kind = chance.choice(("C", "C", "I", "I", "R", "Se", "Sf"))
        part = chance.randint(1, whole.size) if whole.size > 1 and chance.random() < 0.3 else 0
        size = 1 if part else whole.size
        name = add(kind, size, matrix=_matrix(chance, kind, size))
        join((name, 0), (junction, part))

    islands: list[list[str]] = []
    for _ in range(draw(st.integers(1, 3))):
        domain, size = chance.choice(DOMAINS), draw(st.integers(1, 3))
        kinds = chance.choice((["0"], ["1"], ["0", "1"], ["1", "0"]))
        junctions = [add(kind, size, domain) for kind in kinds]
        for a, b in pairwise(junctions):
            join((a, 0), (b, 0))
        islands.append(junctions)
    for one, two in pairwise(islands):
        a, b = chance.choice(one), chance.choice(two)
        rows, columns = items[b].size, items[a].size
        K = tuple(
            tuple(Fraction(chance.randint(-9, 9), chance.choice((1, 7))) for _ in range(columns)) for _ in range(rows)
        )
        assume(all(any(row) for row in K) and all(any(row[j] for row in K) for j in range(columns)))
        name = add(chance.choice(("TF", "GY")), 0, matrix=K)
        bonds.extend([((a, 0), (name, 0)), ((name, 0), (b, 0))])
    for junction in [j for island in islands for j in island]:
        for _ in range(chance.choice((1, 2, 2))):
            one_port(junction)
    ports = [i for i in items.values() if not i.is_junction and not i.is_two_port]
    assume(sum(i.size for i in ports) <= most)
    if not any(i.is_source for i in ports):
        chosen = chance.choice(ports)
        items[chosen.name] = Vector(chosen.name, chance.choice(("Se", "Sf")), chosen.size)
    for item in [i for i in items.values() if wishes and i.kind in ("C", "I", "R") and chance.random() < 0.5]:
        words = ("across", "through", "force across", "force through", "integral", "derivative")
        items[item.name] = replace(item, causality=chance.choice(words[:4] if item.kind == "R" else words))
    graph = VectorGraph(items, tuple(chance.sample(bonds, len(bonds))))
    whole = VectorDefinition(graph)
    degree = [
        len(whole.into.get((j.name, k), [])) + len(whole.out.get((j.name, k), []))
        for j in graph.of("0", "1")
        for k in range(1, j.size + 1)
    ]
    assume(min(degree) >= 2)
    return graph
