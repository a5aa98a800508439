"""The plan of a ladder in which storages that move together are one block: sum, 1/s, L^-1, then N and A, between connections.

What is integrated is q = L z. Since L' = N + N^T, L z' + N z is q' - N^T z: the block of N is drawn transposed, and gives back what
the others take.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import final

from tellegen.core.domains import DOMAINS, other_side
from tellegen.drawing.naming import name_latex
from tellegen.drawing.options import Options
from tellegen.drawing.pog_measures import text_size, width_of
from tellegen.drawing.pog_plan import (
    BoxPlan,
    BranchPlan,
    ColumnPlan,
    ConnectionPlan,
    ElementPlan,
    LadderPlan,
    Line,
    SectionPlan,
    Way,
    other_line,
)
from tellegen.drawing.pog_scalar import ScalarPlanner
from tellegen.drawing.pog_texts import (
    INTEGRATOR,
    WIDEST,
    Texts,
    bold,
    column_latex,
    listed_names,
    too_long,
    transposed_letter,
)
from tellegen.drawing.scene import Weight
from tellegen.expressions import ONE, Expression, is_zero
from tellegen.schemes.pog_scheme import Column, Ladder, Matrix, PogScheme
from tellegen.schemes.storage_groups import StorageGroup, storage_groups

TOGETHER = r"\mathrm{e}"
"""The index of a letter of what moves together, where another block shows that letter."""
MOST_EXPLAINED = 12
"""Nobody reads the matrices of more groups under a figure; the equations have them."""


def merged_ladders(scheme: PogScheme, options: Options) -> tuple[tuple[LadderPlan, ...], Texts] | None:
    """The ladders of a scheme whose dependent storages are derivative blocks, with one block for what moves together.

    Their texts come with them. None where storages cannot be brought together within a ladder.
    """
    found = [storage_groups(scheme, ladder) for ladder in scheme.ladders]
    groups = [group for several in found for group in several or ()]
    if not groups or None in found:
        return None
    texts = Texts(_outside(scheme, found), options)
    index = {id(group): str(k) if len(groups) > 1 else "" for k, group in enumerate(groups, 1)}
    planner, plans = ScalarPlanner(scheme, texts), []
    for ladder, several in zip(scheme.ladders, found, strict=True):
        columns: list[ColumnPlan] = []
        done = 0
        for group in several or ():
            columns += planner.ladder(Ladder(ladder.columns[done : group.first])).columns
            made = _GroupPlanner(planner, ladder.columns[group.first : group.last + 1], group, index[id(group)])
            if not made.fits:
                return None
            columns += made.columns()
            done = group.last + 1
        columns += planner.ladder(Ladder(ladder.columns[done:])).columns
        plans.append(LadderPlan(tuple(columns), planner.section(ladder.entry)))
    return _numbered(plans), texts


def _numbered(ladders: Sequence[LadderPlan]) -> tuple[LadderPlan, ...]:
    """The ladders with their sections numbered from left to right: some sections of the scheme are not shown."""
    numbers: dict[str, str] = {}
    for ladder in ladders:
        for section in (ladder.entry, *(column.right for column in ladder.all_columns())):
            if section is not None:
                numbers.setdefault(section.name, str(len(numbers) + 1))

    def said(section: SectionPlan | None) -> SectionPlan | None:
        return (
            None if section is None else replace(section, name=numbers.setdefault(section.name, str(len(numbers) + 1)))
        )

    def of_ladder(ladder: LadderPlan) -> LadderPlan:
        return LadderPlan(tuple(map(of_column, ladder.columns)), said(ladder.entry))

    def of_column(column: ColumnPlan) -> ColumnPlan:
        content = column.content
        if isinstance(content, BranchPlan):
            content = replace(content, ladder=of_ladder(content.ladder))
        return replace(column, left=said(column.left), right=said(column.right), content=content)

    return tuple(map(of_ladder, ladders))


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
        self.domain = self._domain(planner.scheme)
        self.acting = self._acting_line()
        self.z = name_latex(group.states[0]) if self.n == 1 else self._indexed(bold("x"))
        self._symbol = self._acting_symbol(planner.scheme)
        self._count = 0

    @property
    def fits(self) -> bool:
        """Whether both ends have the states on the same line."""
        return self.left is None or self.right is None or not self.right.goes_right(self.acting)

    def columns(self) -> Iterator[ColumnPlan]:
        """A connection where the group is not told directly, the storages, what takes power back, and a connection."""
        self._explain()
        group, entry = self.group, self.left
        if self.left is not None and group.left is not None and not _is_one(group.left):
            entry = self._section(self.left.carries, rightwards=True)
            content = self._connection("l", group.left)
            yield ColumnPlan(self.left, entry, content, wire_domain=self.left.domain)
        blocks = list(self._after())
        told = {(self.acting, "right")} if blocks or self.right is not None else set()
        if self.left is not None and self.left.direction == "left":
            told.add((self.acting, "left"))
        beyond = () if self.right is None else self.right.carries
        ends = [self._section(carried, rightwards=False) for carried in self._carried(blocks, beyond)]
        inner = bool(group.right is not None and not _is_one(group.right))
        last = self._section(beyond, rightwards=False) if inner else self.right
        sections = [*ends, last]
        yield ColumnPlan(entry, sections[0], self._storages(), frozenset(told), self.domain)  # type: ignore[arg-type]
        for k, block in enumerate(blocks):
            turned = k == len(blocks) - 1 and self.right is not None and self.right.direction == "left"
            minus = {(self.acting, "right")} if turned else set()
            if block.boxes[0].part == "N":
                minus.add((self.acting, "vertical"))
            yield ColumnPlan(sections[k], sections[k + 1], block, frozenset(minus), self.domain)  # type: ignore[arg-type]
        if inner and group.right is not None and self.right is not None:
            yield ColumnPlan(last, self.right, self._connection("r", group.right), wire_domain=self.domain)
        self._explain_moving()

    # -- lines and sections ----------------------------------------------------------------------------------------------------

    def _acting_line(self) -> Line:
        if self.left is not None:
            return "upper" if self.left.upper_goes_right else "lower"
        return "lower" if self.right is not None and self.right.upper_goes_right else "upper"

    def _carried(self, blocks: Sequence[ElementPlan], beyond: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """What goes through the sections before the blocks: before A, what goes on and what A takes.

        Before N it is not known: with ratios that move, N^T z is a share of the power that the storages take.
        """
        for block in blocks:
            yield (*beyond, *self.group.others) if block.element else ()

    def _section(self, carries: tuple[str, ...], *, rightwards: bool) -> SectionPlan:
        """A section inside the group; `rightwards` tells how what acts on the states runs."""
        self._count += 1
        acting = self.texts.names.fresh(self._symbol) if self._symbol else rf"{bold('e')}_{{{self._e()}}}"
        upper = self.acting == "upper"
        labels = (acting, self.z) if upper else (self.z, acting)
        name = f"{self.group.states[0]} {self._count}"
        goes = rightwards == upper
        return SectionPlan(name, *labels, goes, "right", self.domain, self.weight, carries=carries, size=self.n)

    def _e(self) -> str:
        return f"{self.index},{self._count}" if self.index else str(self._count)

    def _domain(self, scheme: PogScheme) -> str:
        domains = {item.domain for item in scheme.elements.values() if item.port.state in self.group.states}
        return domains.pop() if len(domains) == 1 else ""

    def _acting_symbol(self, scheme: PogScheme) -> str:
        """The letter of what acts on a single state: that of its domain."""
        items = [item for item in scheme.elements.values() if item.port.state in self.group.states]
        return DOMAINS[items[0].domain].power(other_side(items[0].decides)).symbol if self.n == 1 else ""

    # -- blocks ----------------------------------------------------------------------------------------------------------------

    def _storages(self) -> ElementPlan:
        names = self.group.storages if self._takes() else (*self.group.storages, *self.group.others)
        boxes = (BoxPlan("integrator", INTEGRATOR), BoxPlan("gain", self._inverse()))
        way: Way = "down" if self.acting == "upper" else "up"
        return ElementPlan(
            " ".join(names), boxes, way, self.domain, self._indexed(bold("q") if self.n > 1 else "q"), self.weight
        )

    def _takes(self) -> bool:
        return not all(is_zero(e) for row in self.group.A for e in row)

    def _after(self) -> Iterator[ElementPlan]:
        """What the states meet on their way: N^T z where ratios move, and A z."""
        way: Way = "up" if self.acting == "upper" else "down"
        if not all(is_zero(e) for row in self.group.N for e in row):
            text = transposed_letter(self._letter("N", self.group.N), self.n)
            yield ElementPlan("", (BoxPlan("N", text),), way, self.domain, "", self.weight)
        if self._takes():
            box = BoxPlan("A", self._letter("A", self.group.A))
            yield ElementPlan(" ".join(self.group.others), (box,), way, self.domain, "", self.weight)

    def _connection(self, side: str, row: tuple[Expression, ...]) -> ConnectionPlan:
        """K on the line of the states, its transpose on the other."""
        text = self._ratio(row[0]) if self.n == 1 else ""
        if not text:
            text = self._letter(f"K_{side}", (row,))
            self.texts.explain_matrix(text, (row,))
            self.texts.explain_moving(row)
        back = transposed_letter(text, self.n)
        boxes = {other_line(self.acting): BoxPlan("K", text), self.acting: BoxPlan("transposed", back)}
        return ConnectionPlan(f"{self.group.states[0]} {side}", boxes["upper"], boxes["lower"])

    def _ratio(self, entry: Expression) -> str:
        text = "" if too_long(entry) else self.texts.number(entry) or self.texts.expression(entry)
        return text if text and width_of(text, text_size(text)) <= WIDEST else ""

    # -- letters ---------------------------------------------------------------------------------------------------------------

    def _indexed(self, text: str, index: str = "") -> str:
        indices = ",".join(word for word in (index, self.index) if word)
        return f"{text}_{{{indices}}}" if indices else text

    def _letter(self, letter: str, matrix: Matrix) -> str:
        name, _, index = letter.partition("_")
        gains = (block.gain for block in self.texts.scheme.blocks.values() if block.gain is not None)
        taken = self.n == 1 and any(letter in gain.free_symbols for gain in gains)
        text = self._indexed(name if self.n == 1 else bold(name), index or (TOGETHER if taken else ""))
        read = self.texts.read_by_all(entry for row in matrix for entry in row)
        return f"{text}({listed_names(read)})" if read else text

    def _inverse(self) -> str:
        text = self._letter("L", self.group.L)
        if self.n == 1:
            return rf"\frac{{1}}{{{text}}}"
        letter, bracket, rest = text.partition("(")
        return f"{letter}^{{-1}}{bracket}{rest}"

    def _explain(self) -> None:
        group = self.group
        if self.index and int(self.index) > MOST_EXPLAINED:
            self.texts.left_out[self.z] = None
            return
        if self.n > 1:
            self.texts.legend[self.z] = column_latex(group.states)
        for name, matrix in (("L", group.L), ("N", group.N), ("A", group.A)):
            if not all(is_zero(e) for row in matrix for e in row):
                self.texts.explain_matrix(self._letter(name, matrix), matrix)

    def _explain_moving(self) -> None:
        """What moving names stand for, where no block has said it."""
        group = self.group
        self.texts.explain_moving(e for matrix in (group.L, group.N, group.A) for row in matrix for e in row)


def _is_one(row: tuple[Expression, ...]) -> bool:
    return len(row) == 1 and row[0] is ONE
