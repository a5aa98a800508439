"""Laws given by points: `R: {resistor: [a, b], law: {table: [[0, 0], [1, 2], [2, 3]], interpolation: cubic}}`."""

from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from tellegen.core.domains import Side, other_side
from tellegen.core.errors import DescriptionError, Rule
from tellegen.core.names import did_you_mean, listing
from tellegen.description import law_table_rules as rules
from tellegen.description.context import Context
from tellegen.description.dimensions import NUMBER, Measure, Open
from tellegen.description.document import Mapping
from tellegen.description.laws import Letters
from tellegen.description.relations import Law, LawForm, LawTable
from tellegen.description.signals.tables import TableReading, read_table
from tellegen.elements import ElementKind
from tellegen.expressions import symbol, to_text
from tellegen.expressions.piecewise import interpolated

INTERPOLATIONS = ("linear", "cubic")
LAW_TABLE_KEYS = {
    "table": "the points, each `[argument, value]`, or `{file: run.csv, time: i, column: v}`",
    "gives": "the letter of what the table gives; the left side of the kind's own law where nothing is said",
    "interpolation": "linear, or cubic: smooth, rising and falling only where the points do",
}
MOST_POINTS = 200


def read_law_table(context: Context, name: str, kind: ElementKind, node: Mapping, letters: Letters) -> Law:
    """The law of an element from its points."""
    return _TableReader(context, name, kind, node, letters).read()


class _TableReader:
    """Reads one law by points."""

    def __init__(self, context: Context, name: str, kind: ElementKind, node: Mapping, letters: Letters) -> None:
        self.context = context
        self.name = name
        self.kind = kind
        self.node = node
        self.letters = letters

    def read(self) -> Law:
        self.context.check_keys(self.node, LAW_TABLE_KEYS, f"the law of {self.name}")
        group = self._group()
        argument = self._argument(group)
        given = self.node.get("table")
        if given is None:
            self._refuse(rules.NO_POINTS, "has no 'table'", "write 'law: {table: [[0, 0], [1, 2]]}'")
        reading = read_table(self.context, f"the law of {self.name}", given)
        self._check_units(reading, argument, group)
        table = LawTable(self._points(reading), self._interpolation() == "cubic")
        resistive = self.kind.role == "resistive"
        if not resistive:
            self._check_rising(table)
        letter, left = self.letters.groups[argument][0], self.letters.groups[group][0]
        expression = interpolated(table.points, symbol(letter), smooth=table.smooth)
        form: LawForm = "resistive" if resistive else "content" if group == "energy" else "output"
        gives: Side = other_side(self.kind.side) if resistive and group != self.kind.side else self.kind.side
        return Law(form, letter, expression, gives, f"{left} = {to_text(expression)}", table)

    def _group(self) -> str:
        """What the table gives."""
        node = self.node.get("gives")
        own = self.kind.law.partition(" = ")[0]
        word = own if node is None else self.context.scalar(node, f"what the table of {self.name} gives").text
        side = self.kind.side
        allowed = (side, other_side(side)) if self.kind.role == "resistive" else ("energy", side)
        group = self.letters.group_of.get(word)
        if group not in allowed:
            choices = [self.letters.groups[g][0] for g in allowed]
            fix = did_you_mean(word, choices) or f"write one of {listing(choices)}"
            self._refuse(rules.NO_POINTS, f"cannot give '{word}'", fix)
        return group

    def _argument(self, group: str) -> str:
        side = self.kind.side
        if self.kind.role == "resistive":
            return other_side(side) if group == side else side
        return side if group == "energy" else "energy"

    def _interpolation(self) -> str:
        node = self.node.get("interpolation")
        word = "linear" if node is None else self.context.scalar(node, f"the interpolation of {self.name}").text
        if word not in INTERPOLATIONS:
            fix = did_you_mean(word, INTERPOLATIONS) or f"write {' or '.join(INTERPOLATIONS)}"
            self._refuse(rules.NO_POINTS, f"has no interpolation '{word}'", fix)
        return word

    def _points(self, reading: TableReading) -> tuple[tuple[Fraction, Fraction], ...]:
        found = zip(reading.points.points, reading.points.values, strict=True)
        points = tuple((Fraction(repr(x)), Fraction(repr(y))) for x, y in found)
        if len(points) > MOST_POINTS:
            what = f"has {len(points)} points, more than {MOST_POINTS}"
            self._refuse(rules.TOO_MANY_POINTS, what, "keep those where the curve bends, with 'interpolation: cubic'")
        return points

    def _check_rising(self, table: LawTable) -> None:
        for row, (a, b) in enumerate(pairwise(table.points), start=2):
            if b[1] <= a[1]:
                what = f"does not rise: point {row} is {float(b[1]):g}, after {float(a[1]):g}"
                self._refuse(rules.NOT_RISING, what, "check the points, or turn the element round")

    def _check_units(self, reading: TableReading, argument: str, group: str) -> None:
        for found, wanted in ((reading.of_points, argument), (reading.of_values, group)):
            self._check_unit(found, wanted)

    def _check_unit(self, found: Measure, group: str) -> None:
        wanted = self.letters.dimension(group)
        if found is NUMBER or isinstance(found, Open) or found == wanted:
            return
        subject = f"the {self.letters.words[group]} in the table of {self.name}"
        raise DescriptionError(self.context.wrong_dimension(subject, found, wanted, self.context.place(self.node)))

    def _refuse(self, rule: Rule, what: str, fix: str) -> NoReturn:
        raise self.context.error(rule, self.node, f"the law of {self.name} {what}", fix=fix, where=self.name)


def table_text(law: Law, kind: ElementKind) -> str:
    """A law by points as it stands in a file."""
    assert law.table is not None, "only laws by points are written so"
    points = ", ".join(f"[{float(x)!r}, {float(y)!r}]" for x, y in law.table.points)
    left = law.text.partition(" = ")[0]
    gives = "" if left == kind.law.partition(" = ")[0] else f", gives: {left}"
    smooth = ", interpolation: cubic" if law.table.smooth else ""
    return f"{{table: [{points}]{gives}{smooth}}}"
