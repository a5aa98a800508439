"""The plans of vector blocks: a whole model as one block, or storages that move together as one block within a ladder.

N, f(x) and D u have columns of their own where they are not zero. What is integrated is q = L x, and L' = N + N^T: so L x' + N x
is q' - N^T x, and the block of N is drawn transposed and gives back what the others take.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.drawing.options import Options
from tellegen.drawing.pog import plan
from tellegen.drawing.pog.ladders import ScalarPlanner
from tellegen.drawing.pog.placement import text_size, width_of
from tellegen.drawing.pog.texts import (
    INTEGRATOR,
    WIDEST,
    PogTexts,
    bold,
    column_latex,
    entries_latex,
    indexed_letter,
    inverse_letter,
    is_null,
    is_too_long,
    transposed_letter,
)
from tellegen.elements.kinds import Role, kinds_of
from tellegen.equations.matrices import transposed
from tellegen.expressions import ONE, ZERO, Expression, Symbol, is_zero
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Weight
from tellegen.schemes.algebra.vector_blocks import StorageGroup, storage_groups
from tellegen.schemes.gains import signal_gains
from tellegen.schemes.pog_scheme import Column, Ladder, Matrix, PogScheme, VectorBlock

MOST_SHOWN = 4
"""Matrices of more rows are named only, unless they are asked for."""


INPUT, DRIVEN, BEHIND, BEHIND_N = "1", "3", "4", "5"
"""The sections of a vector block: u and y, before the integrators, behind them, and behind N where there is one."""


@final
class VectorPlanner:
    """Turns the vector block of a scheme into a ladder of a few columns."""

    def __init__(
        self, scheme: PogScheme, block: VectorBlock, texts: PogTexts, options: Options, *, part: str = ""
    ) -> None:
        self.scheme, self.block, self.texts, self.options = scheme, block, texts, options
        self.part = part
        self.n, self.m = len(block.states), len(block.inputs)
        self.x = name_latex(block.states[0]) if self.n == 1 else self._indexed(bold("x"))
        self.u = name_latex(block.inputs[0]) if self.m == 1 else self._indexed(bold("u"))
        self.C, self.D, self.rates = _outputs(scheme)
        if part:
            self.C, self.D = _of_part(scheme, block, self.C, self.D)
        self._function = "f" if self.n == 1 else bold("f")
        """The letter of what laws that are not linear take together."""

    def ladder(self) -> plan.LadderPlan:
        """The ladder; a model without states is its matrix D alone."""
        self._explain()
        columns = list(self._input_columns()) if self.m else []
        if self.n:
            columns += self._state_columns(columns[-1].right if columns else None)
            columns[-1] = replace(columns[-1], integral=self._integral())
        return plan.LadderPlan(tuple(columns), columns[0].left if columns else None)

    # -- letters ---------------------------------------------------------------------------------------------------------------

    def _letter(self, letter: str, matrix: Matrix | None = None) -> str:
        """The letter of a matrix with what it depends on; a single entry is not bold."""
        return self.texts.called(self._plain(letter, matrix), getattr(self.block, letter) if matrix is None else matrix)

    def _plain(self, letter: str, matrix: Matrix | None = None) -> str:
        rows = getattr(self.block, letter) if matrix is None else matrix
        single = len(rows) == 1 and len(rows[0]) == 1
        name, _, index = letter.partition("_")
        text = name if single else bold(name)
        return self._indexed(text, index)

    def _indexed(self, text: str, index: str = "") -> str:
        """A letter with its index, and with that of the part where the block was split."""
        return indexed_letter(text, index, self.part)

    def _weight(self, size: int) -> Weight:
        return "bold" if size > 1 else "thin"

    # -- columns ---------------------------------------------------------------------------------------------------------------

    def _section(self, name: str, upper: str, lower: str, *, right: bool, size: int) -> plan.SectionPlan:
        return plan.SectionPlan(name, upper, lower, right, "right", self._domain(), size=size)

    def _domain(self) -> str:
        domains = {port.domain for port in self.scheme.causal.graph.ports}
        return domains.pop() if len(domains) == 1 else ""

    def _input_columns(self) -> Iterator[plan.ColumnPlan]:
        """D from u to y, then B and its transpose."""
        y = self._indexed("y" if self.m == 1 else bold("y"))
        left = replace(
            self._section(INPUT, self.u, y, right=True, size=self.m), given=tuple((u, 1) for u in self.block.inputs)
        )
        # Without states D is all there is, even where it is zero. Rates among the outputs make it a function of s.
        if not self.n or not is_null(self.D) or self.rates:
            letter = self._letter("D", self.D)
            text = f"{letter}(s)" if self.rates else letter
            graph = self.scheme.causal.graph
            everything = [port.element for port in graph.ports if not isinstance(port.law, SourceLaw)]
            everything += [coupling.element for coupling in graph.couplings]
            D = self._element("D", text, "down", () if self.n else everything, self.m)
            behind = None
            if self.n:
                lower = rf"{self._plain('C', self.C)}\,{self.x}"
                behind = self._section("2", self.u, lower, right=True, size=self.m)
            yield plan.ColumnPlan(left, behind, D)
            left = behind or left
        if self.n:
            B = self._letter("B")
            driven = not is_null(self.block.B_1)
            forward = f"{B} + s {self._letter('B_1')}" if driven else B
            back = self._output_letter(B, driven)
            # With the rates of inputs too what comes out of it has no short name but e.
            acting = "e" if self.n == 1 else bold("e")
            acting = acting if driven else rf"{self._plain('B')}\,{self.u}"
            after = self._section(DRIVEN, acting, self.x, right=True, size=self.n)
            named = zip(self.scheme.sources(), self.scheme.inputs, strict=True)
            sources = " ".join(item.port.element for item, name in named if name in self.block.inputs)
            yield plan.ColumnPlan(
                left, after, plan.ConnectionPlan(sources, plan.BoxPlan("B", forward), plan.BoxPlan("C", back))
            )

    def _output_letter(self, B: str, driven: bool) -> str:
        # In a model that conserves power C is the transpose of B; only where it is not does it get a letter of its own.
        if self.rates or driven:
            return f"{self._plain('C', self.C)}(s)"
        # Equal up to what has to be worked out: the entries come by different ways through the scheme.
        B_T = tuple(zip(*self.block.B, strict=True))
        pairs = [pair for row, line in zip(B_T, self.C, strict=False) for pair in zip(row, line, strict=True)]
        if len(B_T) == len(self.C) and all(a is b or is_zero(a - b) for a, b in pairs):
            return transposed_letter(B, self.n * self.m)
        return self._letter("C", self.C)

    def _state_columns(self, left: plan.SectionPlan | None) -> list[plan.ColumnPlan]:
        """The integrators, then what takes power back."""
        ports = [p for p in self.scheme.causal.graph.ports if isinstance(p.law, StorageLaw)]
        storages = [p.element for p in ports if not self.part or p.state in self.block.states]
        # Several blocks hang behind each other on the same states, each with a section in between that carries what is left.
        q = bold("q") if self.n > 1 else "q"
        boxes = (
            plan.BoxPlan("integrator", INTEGRATOR),
            plan.BoxPlan("gain", inverse_letter(self._letter("L"), self.n)),
        )
        others = self._others()
        names = storages if others else (*storages, *self._passing())
        states, weight = tuple((name, 1) for name in self.block.states), self._weight(self.n)
        element = plan.ElementPlan(" ".join(names), boxes, "down", self._domain(), q, weight, states=states)
        sections = [
            self._section(str(int(BEHIND) + k), self._taken([*others][k:]), self.x, right=False, size=self.n)
            for k in range(len(others))
        ]
        if not others:
            return [plan.ColumnPlan(left, None, element)]
        columns = [plan.ColumnPlan(left, sections[0], element, frozenset({("upper", "right")}))]
        for k, (part, (text, names)) in enumerate(others.items()):
            behind = sections[k + 1] if k + 1 < len(sections) else None
            minus: frozenset[tuple[plan.Line, plan.End]] = frozenset({("upper", "vertical")} if part == "N" else ())
            columns.append(plan.ColumnPlan(sections[k], behind, self._element(part, text, "up", names, self.n), minus))
        return columns

    def _integral(self) -> plan.IntegralPlan | None:
        """The displacements as integrals of the states, with T before them where they are not those of x one by one."""
        displacements = self.scheme.causal.graph.displacements
        if not self.options.displacements or self.part or not displacements:
            return None
        legend = self.texts.legend
        label = bold("z") if len(displacements) > 1 else name_latex(*displacements)
        if len(displacements) > 1:
            legend[label] = column_latex(tuple(displacements))
        boxes: tuple[plan.BoxPlan, ...] = (plan.BoxPlan("displacement integrator", INTEGRATOR),)
        if tuple(map(str, displacements.values())) != self.block.states:
            letter = bold("T") if self.n > 1 or len(displacements) > 1 else "T"
            boxes = (plan.BoxPlan("T", letter), *boxes)
            rates = [self.texts.names.formula(rate) for rate in displacements.values()]
            legend[rf"{letter}\,{self.x}"] = rates[0] if len(rates) == 1 else entries_latex(rates)
        return plan.IntegralPlan(boxes, label, self._weight(len(displacements)))

    def _others(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The blocks behind the integrators, each with its text and the elements it stands for: N^T x, f(x), A x."""
        found: dict[str, tuple[str, tuple[str, ...]]] = {}
        if not is_null(self.block.N):
            found["N"] = transposed_letter(self._letter("N"), self.n), ()
        if any(
            block.gain is None and not block.field and block.kind == "static" for block in self.scheme.blocks.values()
        ):
            found["f"] = rf"{self._function}(\cdot)", ()
        # Where nothing enters A is shown even when it is zero: the loop has to be closed by something.
        if not is_null(self.block.A) or not (found or self.m):
            found["A"] = self._letter("A"), ()
        if found:
            part = [*found][-1]
            found[part] = found[part][0], self._passing()
        return found

    def _passing(self) -> tuple[str, ...]:
        """What stores nothing: resistive elements and couplings."""
        if self.part and self.block is not self.scheme.parts[0]:  # what several parts share stands in the first one
            return ()
        graph = self.scheme.causal.graph
        static = (p.element for p in graph.ports if isinstance(p.law, ResistiveLaw))
        return (*static, *(c.element for c in graph.couplings))

    def _taken(self, parts: Sequence[str]) -> str:
        """What the blocks behind a section take together; N gives."""
        taken = [
            f"{self._function}({self.x})" if p == "f" else rf"{self._plain(p)}\,{self.x}" for p in parts if p != "N"
        ]
        given = rf" - {transposed_letter(self._plain('N'), self.n)}\,{self.x}" if "N" in parts else ""
        return " + ".join(taken) + given

    def _element(self, part: str, text: str, way: plan.Way, names: Iterable[str], size: int) -> plan.ElementPlan:
        return plan.ElementPlan(
            " ".join(names), (plan.BoxPlan(part, text),), way, self._domain(), weight=self._weight(size)
        )

    # -- legend ----------------------------------------------------------------------------------------------------------------

    def _explain(self) -> None:
        legend = self.texts.legend
        if self.n > 1:
            legend[self.x] = column_latex(self.block.states)
        if self.m > 1:
            legend[self.u] = column_latex(self.block.inputs)
        if self.options.matrices == "named" or (self.options.matrices == "auto" and self.n > MOST_SHOWN):
            return
        always = {"B", *self._others()}
        names = ["L", *(n for n in ("A", "B", "N", "B_1") if n in always or not is_null(getattr(self.block, n)))]
        for name in names:
            rows: Matrix = getattr(self.block, name)
            if rows and rows[0]:
                self.texts.explain_matrix(self._letter(name), rows)
        for name, matrix in (("C", self.C), ("D", self.D)):
            if not is_null(matrix) and (name == "D" or self._output_letter("B", False).endswith("C")):
                self.texts.explain_matrix(self._letter(name, matrix), matrix)
        self.texts.explain_varying(entry for name in names for row in getattr(self.block, name) for entry in row)


def _of_part(scheme: PogScheme, block: VectorBlock, C: Matrix, D: Matrix) -> tuple[Matrix, Matrix]:
    """C and D of a part: what it answers its inputs, and what it sends to the parts whose states it is told."""
    whole = scheme.vector
    assert whole is not None, "parts are those of a vector block"
    # A part is told the states of others as inputs. What passes between two parts is shown once, at the part that comes later.
    own = [whole.states.index(name) for name in block.states]
    earlier = scheme.parts[: next(k for k, part in enumerate(scheme.parts) if part is block)]
    shown = {name for part in earlier for name in part.inputs}
    at = {name: k for k, name in enumerate(whole.inputs)}
    rows = [C[at[n]] if n in at else whole.A[whole.states.index(n)] for n in block.inputs]
    places = [at.get(n) if n not in shown else None for n in block.inputs]
    direct = tuple(tuple(ZERO if i is None or j is None else D[i][j] for j in places) for i in places)
    return tuple(tuple(row[k] for k in own) for row in rows), direct


def _outputs(scheme: PogScheme) -> tuple[Matrix, Matrix, bool]:
    """C and D of the outputs, and whether these read anything else: rates of dependent storages, laws that are not linear."""
    signals = [output.signal for output in scheme.outputs]
    gains = signal_gains(scheme, signals)
    states = [scheme.blocks[name].output for name in scheme.states]

    def rows(starts: Iterable[str]) -> Matrix:
        names = tuple(starts)
        found = [(o.sign, [gains[o.signal].get(name, ZERO) for name in names]) for o in scheme.outputs]
        return tuple(tuple(entry if sign > 0 else -entry for entry in row) for sign, row in found)

    known = {*states, *scheme.inputs}
    more = any(entry is not ZERO for row in gains.values() for name, entry in row.items() if name not in known)
    return rows(states), rows(scheme.inputs), more


TOGETHER = r"\mathrm{e}"
"""The index of a letter of what moves together, where another block shows that letter."""
MOST_EXPLAINED = 12
"""Nobody reads the matrices of more groups under a figure; the equations have them."""


def merged_ladders(scheme: PogScheme, options: Options) -> tuple[tuple[plan.LadderPlan, ...], PogTexts] | None:
    """The ladders of a scheme whose dependent storages are derivative blocks, with one block for what moves together.

    Their texts come with them. None where storages cannot be brought together within a ladder.
    """
    # Derivative blocks are what one finds first; a reader understands storages that move together better as one storage.
    found = [storage_groups(scheme, ladder) for ladder in scheme.ladders]
    groups = [group for several in found for group in several or ()]
    if not groups or None in found:
        return None
    texts = PogTexts(_outside(scheme, found), options)
    index = {id(group): str(k) if len(groups) > 1 else "" for k, group in enumerate(groups, 1)}
    planner, plans = ScalarPlanner(scheme, texts), []
    for ladder, several in zip(scheme.ladders, found, strict=True):
        columns: list[plan.ColumnPlan] = []
        done = 0
        for group in several or ():
            columns += planner.ladder(Ladder(ladder.columns[done : group.first])).columns
            made = _GroupPlanner(planner, ladder.columns[group.first : group.last + 1], group, index[id(group)])
            if not made.fits:
                return None
            columns += made.columns()
            # The ladder between two groups is planned as if it were a ladder of its own; its sections fit by their names.
            done = group.last + 1
        columns += planner.ladder(Ladder(ladder.columns[done:])).columns
        plans.append(plan.LadderPlan(tuple(columns), planner.section(ladder.entry)))
    return _numbered(plans), texts


def _numbered(ladders: Sequence[plan.LadderPlan]) -> tuple[plan.LadderPlan, ...]:
    """The ladders with their sections numbered from left to right: some sections of the scheme are not shown."""
    numbers: dict[str, str] = {}
    for ladder in ladders:
        for section in (ladder.entry, *(column.right for column in ladder.all_columns())):
            if section is not None:
                numbers.setdefault(section.name, str(len(numbers) + 1))

    def said(section: plan.SectionPlan) -> plan.SectionPlan:
        return replace(section, name=numbers.setdefault(section.name, str(len(numbers) + 1)))

    return tuple(ladder.with_sections(said) for ladder in ladders)


def _outside(scheme: PogScheme, found: Sequence[tuple[StorageGroup, ...] | None]) -> PogScheme:
    """The scheme without the sections inside groups: their variables are not shown, and use up no numbers."""
    hidden: set[str] = set()
    for ladder, groups in zip(scheme.ladders, found, strict=True):
        for group in groups or ():
            inner = Ladder(ladder.columns[group.first : group.last + 1])
            hidden |= {
                name for c in inner.all_columns() for name in (c.left, c.right, c.branch.entry if c.branch else "")
            }
            hidden -= {ladder.columns[group.first].left, ladder.columns[group.last].right}
    return replace(scheme, sections={name: s for name, s in scheme.sections.items() if name not in hidden})


@final
class _GroupPlanner:
    """The columns of one group. The states run along one line, what acts on them along the other."""

    def __init__(self, planner: ScalarPlanner, columns: tuple[Column, ...], group: StorageGroup, index: str) -> None:
        self.texts, self.group, self.index = planner.texts, group, index
        self.left, self.right = planner.section(columns[0].left), planner.section(columns[-1].right)
        self.n = len(group.states)
        self.weight: Weight = "bold" if self.n > 1 else "thin"
        items = [item for item in planner.scheme.elements.values() if item.port.state in group.states]
        domains = {item.domain for item in items}
        self.domain = domains.pop() if len(domains) == 1 else ""
        self.takes = not is_null(group.A)
        """Whether anything takes power from the states."""
        # What acts on the states comes in at whichever end there is; it leaves on the same line.
        comes_above = not (self.right and self.right.upper_goes_right)
        comes_above = comes_above if self.left is None else self.left.upper_goes_right
        self.acting: plan.Line = "upper" if comes_above else "lower"
        self.z = name_latex(group.states[0]) if self.n == 1 else indexed_letter(bold("x"), self.index)
        # What stands for a single state has the letters of its domain, J and b; for several, of several domains perhaps, the
        # neutral ones of the equations.
        single = self.n == 1
        own = DOMAINS[items[0].domain]
        self._symbol = own.power(other_side(items[0].decides)).symbol if single else ""
        self._energy = own.energy(items[0].decides).symbol if single else bold("q")
        self._letters = _letters_of(own.name, items[0].decides) if single else {}
        gains = (block.gain for block in planner.scheme.blocks.values() if block.gain is not None)
        self._known = {*planner.scheme.causal.graph.parameters, *(name for gain in gains for name in gain.free_symbols)}
        self._count = 0

    @property
    def fits(self) -> bool:
        """Whether both ends have the states on the same line."""
        return self.left is None or self.right is None or not self.right.goes_right(self.acting)

    def columns(self) -> Iterator[plan.ColumnPlan]:
        """A connection where the group is not told directly, the storages, what takes power back, and a connection."""
        # Connections stand only where the group is told another variable than its state: a ratio of one would say nothing.
        self._explain()
        group, entry = self.group, self.left
        if self.left is not None and group.left is not None and not _is_one(group.left):
            entry = self._section(self.left.carries, rightwards=True)
            content = self._connection("l", group.left)
            yield plan.ColumnPlan(self.left, entry, content, wire_domain=self.left.domain)
        blocks = list(self._after())
        told: set[tuple[plan.Line, plan.End]] = {(self.acting, "right")} if blocks or self.right is not None else set()
        if self.left is not None and self.left.direction == "left":
            told.add((self.acting, "left"))
        beyond = () if self.right is None else self.right.carries
        # Before A goes what goes on and what A takes. Before N it is not known: with ratios that move, N^T z is a share of the
        # power that the storages take.
        ends = [self._section((*beyond, *group.others) if block.element else (), rightwards=False) for block in blocks]
        inner = bool(group.right is not None and not _is_one(group.right))
        last = self._section(beyond, rightwards=False) if inner else self.right
        sections = [*ends, last]
        yield plan.ColumnPlan(entry, sections[0], self._storages(), frozenset(told), self.domain)
        for k, block in enumerate(blocks):
            turned = k == len(blocks) - 1 and self.right is not None and self.right.direction == "left"
            minus: set[tuple[plan.Line, plan.End]] = {(self.acting, "right")} if turned else set()
            if block.boxes[0].part == "N":
                minus.add((self.acting, "vertical"))
            yield plan.ColumnPlan(sections[k], sections[k + 1], block, frozenset(minus), self.domain)
        if inner and group.right is not None and self.right is not None:
            yield plan.ColumnPlan(last, self.right, self._connection("r", group.right), wire_domain=self.domain)
        # Last: what moving names stand for is only said where no block has said it.
        self.texts.explain_varying(e for matrix in (group.L, group.N, group.A) for row in matrix for e in row)

    # -- lines and sections ----------------------------------------------------------------------------------------------------

    def _section(self, carries: tuple[str, ...], *, rightwards: bool) -> plan.SectionPlan:
        """A section inside the group; `rightwards` tells how what acts on the states runs."""
        self._count += 1
        index = f"{self.index},{self._count}" if self.index else str(self._count)
        acting = self.texts.names.fresh(self._symbol) if self._symbol else rf"{bold('e')}_{{{index}}}"
        upper = self.acting == "upper"
        labels = (acting, self.z) if upper else (self.z, acting)
        name = f"{self.group.states[0]} {self._count}"
        goes = rightwards == upper
        return plan.SectionPlan(name, *labels, goes, "right", self.domain, carries=carries, size=self.n)

    # -- blocks ----------------------------------------------------------------------------------------------------------------

    def _storages(self) -> plan.ElementPlan:
        names = self.group.storages if self.takes else (*self.group.storages, *self.group.others)
        inverse = inverse_letter(self._letter("L", self.group.L), self.n)
        gain = plan.BoxPlan("gain", inverse, matrix=self.group.L, inverted=True)
        boxes = plan.BoxPlan("integrator", INTEGRATOR), gain
        way: plan.Way = "down" if self.acting == "upper" else "up"
        states = tuple((name, 1) for name in self.group.states)
        energy = indexed_letter(self._energy if self.n > 1 else name_latex(self._energy), self.index)
        return plan.ElementPlan(" ".join(names), boxes, way, self.domain, energy, self.weight, states=states)

    def _after(self) -> Iterator[plan.ElementPlan]:
        """What the states meet on their way: N^T z where ratios move, and A z."""
        way: plan.Way = "up" if self.acting == "upper" else "down"
        if not is_null(self.group.N):
            text = transposed_letter(self._letter("N", self.group.N), self.n)
            box = plan.BoxPlan("N", text, matrix=transposed(self.group.N, self.n))
            yield plan.ElementPlan("", (box,), way, self.domain, "", self.weight)
        if self.takes:
            box = plan.BoxPlan("A", self._letter("A", self.group.A), matrix=self.group.A)
            yield plan.ElementPlan(" ".join(self.group.others), (box,), way, self.domain, "", self.weight)

    def _connection(self, side: str, row: tuple[Expression, ...]) -> plan.ConnectionPlan:
        """K on the line of the states, its transpose on the other."""
        text = ""
        if self.n == 1 and not is_too_long(row[0]):
            ratio = self.texts.number(row[0]) or self.texts.expression(row[0])
            text = ratio if width_of(ratio, text_size(ratio)) <= WIDEST else ""
        if not text:
            text = self._letter(f"K_{side}", (row,))
            self.texts.explain_matrix(text, (row,))
            self.texts.explain_varying(row)
        back = transposed_letter(text, self.n)
        boxes = {
            plan.other_line(self.acting): plan.BoxPlan("K", text, matrix=(row,)),
            self.acting: plan.BoxPlan("transposed", back, matrix=transposed((row,), self.n)),
        }
        return plan.ConnectionPlan(f"{self.group.states[0]} {side}", boxes["upper"], boxes["lower"])

    # -- letters ---------------------------------------------------------------------------------------------------------------

    def _letter(self, letter: str, matrix: Matrix) -> str:
        # What one element alone makes keeps its name.
        if self.n == 1 and isinstance(matrix[0][0], Symbol):
            return self.texts.expression(matrix[0][0])
        return self.texts.called(self._plain(letter), matrix)

    def _plain(self, letter: str) -> str:
        name, _, index = self._letters.get(letter, letter).partition("_")
        # A scalar is not bold, and would be taken for a parameter of the model with that name.
        taken = self.n == 1 and (f"{name}_{index}" if index else name) in self._known
        index = index or (TOGETHER if taken else "")
        return indexed_letter(name if self.n == 1 else bold(name), index, self.index)

    def _explain(self) -> None:
        group = self.group
        if self.index and int(self.index) > MOST_EXPLAINED:
            self.texts.left_out[self.z] = None
            return
        if self.n > 1:
            self.texts.legend[self.z] = column_latex(group.states)
        for name, matrix in (("L", group.L), ("N", group.N), ("A", group.A)):
            if not is_null(matrix) and not (self.n == 1 and isinstance(matrix[0][0], Symbol)):
                self.texts.explain_matrix(self._letter(name, matrix), matrix)
        letter = self._letter("N", group.N)
        # L' = N + N^T: of a single state N is half of the rate, however long its formula is.
        if self.n == 1 and letter in self.texts.left_out:
            del self.texts.left_out[letter]
            self.texts.legend[letter] = rf"\frac{{1}}{{2}}\,\dot{{{self._plain('L')}}}"


def _letters_of(domain: str, side: Side) -> dict[str, str]:
    """The letters of L, A and N for one state: those of the kinds that store and lose in its domain, and N_1."""
    # Kinds whose parameter multiplies the state: a stiffness or a resistance in the place of a mass or a damping would be the
    # reciprocal of what stands there.
    found = {"N": "N_1"}
    wanted: tuple[tuple[str, Role, Side], ...] = ("L", "storage", side), ("A", "resistive", other_side(side))
    for letter, role, given in wanted:
        kinds = (k for k in kinds_of(domain, role) if k.side == given and k.quantity is not None and not k.inverse)
        found[letter] = next((k.quantity.key for k in kinds if k.quantity is not None), letter)
    return found


def _is_one(row: tuple[Expression, ...]) -> bool:
    return len(row) == 1 and row[0] is ONE
