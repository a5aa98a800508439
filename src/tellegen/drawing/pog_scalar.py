"""The plan of a scalar POG: its ladders, column by column, with the signs of its summations."""

from collections.abc import Iterator, Mapping, Set
from typing import final

from tellegen.drawing import rules
from tellegen.drawing.naming import name_latex
from tellegen.drawing.pog_bare_columns import without_bare_columns
from tellegen.drawing.pog_plan import (
    LINES,
    BoxPlan,
    BranchPlan,
    ColumnPlan,
    ConnectionPlan,
    ElementPlan,
    End,
    LadderPlan,
    Line,
    SectionPlan,
    Way,
)
from tellegen.drawing.pog_texts import Texts
from tellegen.drawing.scene import Tone
from tellegen.schemes.pog_scheme import Block, Column, Ladder, PogScheme, Section

SENSORS = ("De", "Df")
Names = dict[Line, dict[End, str]]
"""The variables at the ends of the nodes of a column."""


@final
class ScalarPlanner:
    """Turns ladders of a scheme into plans."""

    def __init__(self, scheme: PogScheme, texts: Texts, links: Mapping[str, str] | None = None) -> None:
        self.scheme = scheme
        self.texts = texts
        self.links = links or {}

    def ladder(self, ladder: Ladder) -> LadderPlan:
        """The plan of a ladder and of its side ladders."""
        plan = LadderPlan(tuple(map(self._column, ladder.columns)), self.section(ladder.entry))
        shown = without_bare_columns(plan, self._is_sensor)
        self._tell_sensors({*_elements(plan)} - {*_elements(shown)})
        return shown

    def _is_sensor(self, element: str) -> bool:
        item = self.scheme.elements.get(element)
        return item is not None and item.letters in SENSORS

    def _tell_sensors(self, elements: Set[str]) -> None:
        """What the sensors that have no column read, under the figure."""
        for block in self.scheme.blocks.values():
            if block.element in elements:
                self.texts.legend.setdefault(name_latex(block.element), self.texts.names.variable(block.input))

    def section(self, name: str) -> SectionPlan | None:
        """The plan of a section; None where nothing stands there."""
        section = self.scheme.sections.get(name)
        if section is None:
            return None
        upper, lower = (self.texts.names.variable(_variable(section, line)) for line in LINES)
        goes_right = section.rightward == section.upper
        link = self.links.get(name, "")
        return SectionPlan(
            name, upper, lower, goes_right, section.direction, section.domain, link=link, carries=(name,)
        )

    # -- columns ---------------------------------------------------------------------------------------------------------------

    def _column(self, column: Column) -> ColumnPlan:
        left, right = self.section(column.left), self.section(column.right)
        content: ElementPlan | ConnectionPlan | BranchPlan | None
        names = self._names(column)
        if column.kind == "connection":
            content = self._connection(column)
        elif column.branch is not None:
            content = self._branch(column, column.branch, names)
        else:
            content = self._element(column, names)
        plan = ColumnPlan(left, right, content, wire_domain=self._domain(column))
        return ColumnPlan(left, right, content, self._minus(plan, names), plan.wire_domain)

    def _names(self, column: Column) -> Names:
        """The variables on both sides of a column, line by line."""
        names: Names = {"upper": {}, "lower": {}}
        sides: tuple[tuple[End, str], ...] = (("left", column.left), ("right", column.right))
        for end, name in sides:
            if name in self.scheme.sections:
                for line in LINES:
                    names[line][end] = _variable(self.scheme.sections[name], line)
        return names

    def _domain(self, column: Column) -> str:
        section = self.scheme.sections.get(column.left) or self.scheme.sections.get(column.right)
        return "" if section is None else section.domain

    def _shared_line(self, column: Column, names: Names) -> Line:
        """The line of the variable that a junction shares; the lower one where no section tells."""
        return next((line for line in LINES if column.shared in names[line].values()), "lower")

    def _connection(self, column: Column) -> ConnectionPlan:
        left = self.scheme.sections[column.left]
        blocks = [self.scheme.blocks[name] for name in column.blocks]
        upper = next(b for b in blocks if _variable(left, "upper") in (b.input, b.output))
        lower = next(b for b in blocks if b is not upper)
        box = self.texts.gain_box(blocks[0])
        boxes = {blocks[0].name: BoxPlan("K", box.text, box.side, box.value)}
        boxes[blocks[1].name] = self.texts.transposed(self.texts.gain_box(blocks[1]))
        return ConnectionPlan(blocks[0].element, boxes[upper.name], boxes[lower.name])

    def _element(self, column: Column, names: Names) -> ElementPlan | None:
        shared = self._shared_line(column, names)
        away: Way = "down" if shared == "upper" else "up"
        back: Way = "up" if shared == "upper" else "down"
        if not column.blocks:
            held = self.scheme.summations.get(column.shared)
            if held is None or held.inputs or column.shared not in column.summations:
                return None
            # What the junction shares is held at zero, whatever comes in.
            running: Line = "lower" if shared == "upper" else "upper"
            names[running]["vertical"] = next((name for name in column.summations if name != column.shared), "")
            return ElementPlan(column.name, (BoxPlan("gain", "0"),), back, self._domain(column))
        block = self.scheme.blocks[column.blocks[0]]
        to_shared = block.output == column.shared
        start, end = (block.input, block.output)
        names[shared]["vertical"] = end if to_shared else start
        names["lower" if shared == "upper" else "upper"]["vertical"] = start if to_shared else end
        tone: Tone = "warning" if block.kind == "derivative" else "ink"
        energy = self.texts.names.energy(block) if block.kind in ("storage", "derivative") else ""
        domain = self._domain(column) or self._element_domain(block)
        return ElementPlan(
            block.element, self.texts.boxes(block), back if to_shared else away, domain, energy, tone=tone
        )

    def _element_domain(self, block: Block) -> str:
        item = self.scheme.elements.get(block.element)
        return "" if item is None else item.domain

    def _branch(self, column: Column, ladder: Ladder, names: Names) -> BranchPlan:
        """The two wires of a side ladder: its entry section has them, on whichever of its lines."""
        section = self.scheme.sections[ladder.entry]
        shared = self._shared_line(column, names)
        comes_in: dict[Line, bool] = {}
        for line in LINES:
            name = column.shared if line == shared else _other(section, column.shared)
            names[line]["vertical"] = name
            comes_in[line] = name == section.into_left
        crossed = names["upper"]["vertical"] != _variable(section, "upper")
        return BranchPlan(self.ladder(ladder), comes_in, crossed)

    # -- signs -----------------------------------------------------------------------------------------------------------------

    def _minus(self, plan: ColumnPlan, names: Names) -> frozenset[tuple[Line, End]]:
        """The negated inputs at the nodes of a column, by the summations of the scheme."""
        found: set[tuple[Line, End]] = set()
        if isinstance(plan.content, ConnectionPlan):
            return frozenset()
        for line in LINES:
            comes, goes = plan.ends(line)
            if len(goes) != 1:
                continue
            output = names[line].get(goes[0], "")
            summation = self.scheme.summations.get(output)
            if summation is None:
                continue
            signs = dict(summation.inputs)
            for end in comes:
                name = names[line].get(end, "")
                if name == output:
                    continue  # the line passes by
                self._check(name, output, signs)
                if signs.get(name, 1) < 0:
                    found.add((line, end))
        return frozenset(found)

    def _check(self, name: str, output: str, signs: Mapping[str, int]) -> None:
        if name and signs and name not in signs:
            raise rules.NO_LADDER_PICTURE.error(
                f"'{name}' comes to the summation of '{output}', which does not count it",
                where=output,
                fix="make the scheme with `pog`, or by the operations of the algebra",
            )


def _elements(ladder: LadderPlan) -> Iterator[str]:
    return (column.content.element for column in ladder.columns if isinstance(column.content, ElementPlan))


def _variable(section: Section, line: Line) -> str:
    upper = section.variable(section.upper)
    return upper if line == "upper" else section.across if upper == section.through else section.through


def _other(section: Section, name: str) -> str:
    return section.across if section.through == name else section.through
