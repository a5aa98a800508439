"""The blocks of a vector scheme, one for each block, summation and wire of its figure: what `draw --as pog` shows is what is built.

A figure whose blocks all have a matrix (lanes, storages that move together) is taken as it is; any other model as the vector block
L x' + N x = -A x + B u of its figure, with the entries of its equations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.drawing.options import DEFAULTS
from tellegen.drawing.pog import plan as plans
from tellegen.drawing.pog.scene import plan_model_pog
from tellegen.equations.matrices import Matrix, dot, negative, plus, transposed
from tellegen.equations.system import EquationSystem
from tellegen.exporting.diagram import MatrixBlock
from tellegen.exporting.diagram_start import DiagramStart
from tellegen.expressions import ZERO, symbol
from tellegen.expressions.elimination import with_definitions

Array = NDArray[np.float64]

WHOLE = replace(DEFAULTS, vectorial=True, lanes=False, meshes="vector")
"""The options of a figure that shows a model as one vector block."""


def matrix_blocks(start: DiagramStart, rates: Mapping[str, str]) -> tuple[MatrixBlock, ...]:
    """The blocks of the figure of a model, in the order of its sections.

    `rates` are the names of the rates of states, where they are asked for.
    """
    found, _ = plan_model_pog(start.setup.causal, DEFAULTS)
    # Rates of states are known of the whole vector block alone.
    if rates or not all(map(_is_plain, found.ladders)):
        found, _ = plan_model_pog(start.setup.causal, WHOLE)
    return tuple(_Blocks(start, found.ladders, rates).made)


def _is_plain(ladder: plans.LadderPlan) -> bool:
    """Whether matrices say all of a ladder, and both of its ends know what comes in."""
    sections = ladder.sections()
    ends = [(sections[0], True), (sections[-1], False)]
    closed = all(s is None or len(s.given) == s.size for s, right in ends)
    return closed and not any(s is not None and s.link for s in sections) and all(map(_has_matrices, ladder.columns))


def _has_matrices(column: plans.ColumnPlan) -> bool:
    match column.content:
        case plans.ElementPlan(boxes=boxes, states=states):
            first = boxes[0].part == "integrator"
            stores = first or boxes[-1].integral is not None
            return all(box.matrix is not None for box in boxes[first:]) and stores == bool(states)
        case plans.ConnectionPlan(upper=upper, lower=lower):
            return upper.matrix is not None and lower.matrix is not None
        case content:
            return content is None


@final
class _Blocks:
    """Walks along ladders. Every wire has one block that makes it; where lines only meet, wires are one."""

    def __init__(self, start: DiagramStart, ladders: Sequence[plans.LadderPlan], rates: Mapping[str, str]) -> None:
        self.start, self.rates = start, rates
        self.system = start.system
        self.pieces = _WholePieces(start.system)
        self.made: list[MatrixBlock] = []
        self.same: dict[str, str] = {}
        self.place = self.first = 0
        for number, ladder in enumerate(ladders):
            self._ladder(ladder, number)
        # Outputs that answer rates which nobody knows are not shown: a part of them would be wrong.
        shown = not (self.system.states and self._answers_jumps())
        self.made = [
            replace(block, reads=tuple(map(self._maker, block.reads)))
            for block in self.made
            if shown or block.kind != "shown"
        ]

    def _maker(self, wire: str) -> str:
        while wire in self.same:
            wire = self.same[wire]
        return wire

    def _put(self, name: str, reads: Sequence[str], size: int, line: plans.Line | None = None, **what: object) -> str:
        """Add a block; what comes out of it has its name."""
        made = MatrixBlock(self.start.fresh(name), tuple(reads), size, self.place, line or "between", **what)  # type: ignore[arg-type]
        self.made.append(made)
        return made.name

    def _sum_name(self) -> str:
        return f"sum_{1 + sum(block.kind == 'sum' for block in self.made)}"

    # -- along a ladder --------------------------------------------------------------------------------------------------------

    def _ladder(self, ladder: plans.LadderPlan, number: int) -> None:
        sections, first = ladder.sections(), self.first
        self.first += 3 * len(sections)

        def wire(k: int, line: plans.Line) -> str:
            return f"@{number}.{k}.{line}"

        # What comes in at the ends is given by sources; what goes out there is what they answer.
        for k, rightwards in ((0, True), (len(sections) - 1, False)):
            section = sections[k]
            for line in plans.LINES if section is not None else ():
                assert section is not None, "asked before"
                self.place = first + 3 * k
                if section.goes_right(line) == rightwards:
                    given = self._put("u", (), section.size, line, kind="collect", names=section.given)
                    self.same[wire(k, line)] = given
                else:
                    self._put("y", (wire(k, line),), section.size, line, kind="shown")
        for k, column in enumerate(ladder.columns):
            self.place = first + 3 * k + 1
            if isinstance(column.content, plans.ConnectionPlan):
                self._connection(column, k, wire)
                continue
            vertical = self._element(column.content, wire(k, "upper") + "in") if column.content is not None else ""
            for line in plans.LINES:
                self._node(
                    column, line, {"left": wire(k, line), "right": wire(k + 1, line)}, vertical, wire(k, "upper")
                )

    def _node(
        self, column: plans.ColumnPlan, line: plans.Line, wires: Mapping[plans.End, str], vertical: str, name: str
    ) -> None:
        """What stands where wires meet, as in the figure."""
        comes, goes = column.ends(line)
        section = column.left or column.right
        size = section.size if section is not None else 1
        kind = column.node_kind(line)
        if kind in ("none", "end"):
            return
        sources = [vertical if end == "vertical" else wires[end] for end in comes]
        if kind == "sum":
            signs = "".join("-" if (line, end) in column.minus else "+" for end in comes)
            made = self._put(self._sum_name(), sources, size, line, kind="sum", signs=signs)
        elif kind == "zero":
            made = self._put("none", (), size, line, kind="zero")
        else:
            (made,) = sources
        for end in goes:
            self.same[f"{name}in" if end == "vertical" else wires[end]] = made

    # -- blocks ----------------------------------------------------------------------------------------------------------------

    def _connection(self, column: plans.ColumnPlan, k: int, wire: Callable[[int, plans.Line], str]) -> None:
        content, left, right = column.content, column.left, column.right
        assert isinstance(content, plans.ConnectionPlan), "asked before"
        assert left is not None, "a connection stands between two sections"
        assert right is not None, "a connection stands between two sections"
        for line in plans.LINES:
            rightwards = left.goes_right(line)
            source, target = (wire(k, line), wire(k + 1, line)) if rightwards else (wire(k + 1, line), wire(k, line))
            size = (right if rightwards else left).size
            box = content.box(line)
            name = _first(content.element) + ("_T" if box.part == "transposed" else "")
            self.same[target] = self._box(box, name, source, size, line)

    def _box(self, box: plans.BoxPlan, name: str, source: str, size: int, line: plans.Line | None = None) -> str:
        if box.matrix is not None:
            return self._gain(name, source, size, self._written(box.matrix), line, inverted=box.inverted)
        made = self._gain(box.part, source, size, self.pieces.matrix(box.part), line)
        # The rates of inputs, where storages meet them; then what is left of the outputs.
        for letter in {"B": ("B_1",), "C": ("D_1",)}.get(box.part, ()):
            if letter == "D_1" and self._answers_jumps():
                continue
            if not self.system.is_zero(letter):  # type: ignore[arg-type]
                slopes = {j: self.start.slopes[u] for j, u in enumerate(self.system.inputs) if u in self.start.slopes}
                names = tuple((name, 1) for name in slopes.values())
                rate = self._put("u_rate", (), len(slopes), line, kind="collect", names=names)
                matrix = tuple(tuple(row[j] for j in slopes) for row in self.system.matrices[letter])  # type: ignore[index]
                more = self._gain(letter, rate, size, matrix, line)
                made = self._put(self._sum_name(), (made, more), size, line, kind="sum", signs="++")
        if box.part == "C" and not self.system.is_zero("f_y"):
            more = self._put("f_y", (), size, line, kind="function", rows=self.system.vectors["f_y"])
            made = self._put(self._sum_name(), (made, more), size, line, kind="sum", signs="++")
        return made

    def _answers_jumps(self) -> bool:
        """Whether outputs read rates of inputs that no state does: nobody has asked whether these inputs have one."""
        met = {j for row in self.system.matrices["D_1"] for j, e in enumerate(row) if e is not ZERO}
        return any(self.system.inputs[j] not in self.start.slopes for j in met)

    def _gain(
        self,
        name: str,
        source: str,
        size: int,
        matrix: Matrix,
        line: plans.Line | None = None,
        *,
        inverted: bool = False,
    ) -> str:
        return self._put(name, (source,), size, line, kind="gain", matrix=matrix, inverted=inverted)

    def _element(self, content: plans.ElementPlan | plans.BranchPlan, source: str) -> str:
        """The boxes of an elaboration block, in the order of the signal; gives what comes out."""
        assert isinstance(content, plans.ElementPlan), "ladders of matrices have no branches"
        (box, *_), size = content.boxes, len(content.states)
        if box.integral is not None and box.matrix is not None:
            # A matrix of transfer functions, in parts that Simulink has: what is stored, and what is passed on at once.
            stored = plans.BoxPlan("gain", "", matrix=box.integral)
            kept = self._storage(replace(content, boxes=(plans.BoxPlan("integrator", ""), stored)), source)
            passed = self._gain(_first(content.element), source, size, self._written(box.matrix))
            return self._put(self._sum_name(), (kept, passed), size, kind="sum", signs="++")
        if content.states:
            return self._storage(content, source)
        name, size = _first(content.element) if content.element else box.part, self._size(content, box)
        if box.matrix is None:
            if box.part == "f":
                names = tuple((name, 1) for name in self.system.states)
                return self._put("f", (source,), size, kind="function", rows=self.system.vectors["f"], names=names)
            return self._gain(box.part, source, size, self.pieces.matrix(box.part))
        return self._gain(name, source, size, self._written(box.matrix))

    def _size(self, content: plans.ElementPlan, box: plans.BoxPlan) -> int:
        return len(box.matrix) if box.matrix is not None else len(self.system.states)

    def _storage(self, content: plans.ElementPlan, source: str) -> str:
        """An integrator of contents, and what gives the outputs; where these move with themselves, the outputs are integrated."""
        gain = content.boxes[1]
        whole = gain.matrix is None
        size, name = len(content.states), "" if whole else _first(content.element)
        L, inverted = (self.system.matrices["L"], True) if gain.matrix is None else (gain.matrix, gain.inverted)
        z = np.array([sign * self.start.initial(state) if state else 0.0 for state, sign in content.states])
        if whole and self.pieces.moves_with_states:
            rate = self._gain("L", source, size, L, inverted=True)
            out = self._put("x", (rate,), size, kind="integrator", initial=tuple(z.tolist()))
        else:
            numbers = self._numbers(L)
            q = numbers @ z if inverted else _contents(numbers, z)
            content_wire = self._put(
                f"{name}_content" if name else "q", (source,), size, kind="integrator", initial=tuple(q.tolist())
            )
            out = self._gain(f"{name}_output" if name else "L", content_wire, size, L, inverted=inverted)
            rate = source
        self._put(f"{name}_states" if name else "states", (out,), size, kind="apart", names=content.states)
        if self.rates:
            self._state_rates(rate, size)
        return out

    def _state_rates(self, rate: str, size: int) -> None:
        """The rates of the states, for what reads them: x' = L^-1 (q' - L' x) with L' = N + N^T."""
        if not self.pieces.moves_with_states:
            N = self.system.matrices["N"]
            moved = plus(N, transposed(N, size))
            x = [symbol(name) for name in self.system.states]
            if any(e is not ZERO for row in moved for e in row):
                less = self._put("L_rate", (), size, kind="function", rows=tuple(dot(row, x) for row in moved))
                rate = self._put(self._sum_name(), (rate, less), size, kind="sum", signs="+-")
            rate = self._gain("L_inverse", rate, size, self.system.matrices["L"], inverted=True)
        names = tuple((self.rates[name], 1) for name in self.system.states)
        self._put("rates", (rate,), size, kind="apart", names=names)

    def _written(self, matrix: Matrix) -> Matrix:
        """A matrix without names of the equations, which only their own entries are sure to find."""
        return tuple(tuple(with_definitions(e, self.system.where) for e in row) for row in matrix)

    def _numbers(self, matrix: Matrix) -> Array:
        known = dict(self.start.setup.parameters)
        matrix = self._written(matrix)
        names = frozenset().union(*(e.free_symbols for row in matrix for e in row)) - known.keys()
        known |= {name: float(self.start.run.values(name)[0]) for name in names}
        return np.array([[e.evaluate(known) for e in row] for row in matrix])


def _contents(gains: Array, outputs: Array) -> Array:
    """The contents that give outputs through a matrix of gains."""
    return np.asarray(np.linalg.lstsq(gains, outputs, rcond=None)[0])


def _first(element: str) -> str:
    """A name for a block of several elements: the first of them, and how many there are."""
    names = element.split()
    return names[0] if len(names) == 1 else f"{names[0]}_to_{names[-1]}" if names else "K"


@final
class _WholePieces:
    """The entries of one vector block, from the equations: what its figure shows as B, C, D, N, f and A."""

    def __init__(self, system: EquationSystem) -> None:
        self.system = system
        moving = {name for row in system.matrices["L"] for e in row for name in e.free_symbols}
        self.moves_with_states = bool(moving & {*system.states, *system.algebraic.unknowns})

    def matrix(self, part: str) -> Matrix:
        """The matrix of a box."""
        m, n = self.system.matrices, len(self.system.states)
        if part == "N":
            # Where contents are integrated what moves L gives N^T x; where outputs are, L x' = ... - N x.
            return negative(m["N"]) if self.moves_with_states else transposed(m["N"], n)
        return m[part]  # type: ignore[index]
