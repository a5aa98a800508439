"""Laws as the user writes them: `F = K*x + k_3*x^3`, `q = C*v`, energies, and laws given by points.

The letters of a law are those of the domain table, the names that the element gives to its variables, and `across` / `through`. A
linear law that matches the kind's own is turned into a value, so that both ways of writing give the same model.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import NamedTuple, NoReturn, final

from tellegen.core.domains import Side, Variable, other_side
from tellegen.core.errors import DescriptionError, Rule
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import ElementKind
from tellegen.expressions import ZERO, Expression, is_zero, symbol, to_text
from tellegen.expressions.polynomials import interpolated
from tellegen.model.dimensions import NUMBER, UNKNOWN, Measure, NoDimension, is_plain_factor, without_marks
from tellegen.model.laws import Law, LawForm, LawTable
from tellegen.notations.context import PendingCheck, ReadingContext
from tellegen.notations.grammar import LAW_TABLE
from tellegen.notations.indexed_names import NamePattern
from tellegen.notations.network import rules
from tellegen.notations.network.keys import with_article
from tellegen.notations.quantities import QuantityReading, parse_marked
from tellegen.notations.signals.tables import TableReading, read_interpolation, read_table
from tellegen.notations.yaml.document import MappingNode, Scalar

JOULE: Dimension = parse_unit("J").dimension


class LawReading(NamedTuple):
    """A law with what must be checked when all parameters are known; `value` instead where it is the kind's own linear law."""

    law: Law | None
    value: QuantityReading | None
    pending: PendingCheck


@final
class LawLetters:
    """Which letters stand for which variable of one element: its two power variables and what it stores."""

    def __init__(self, kind: ElementKind, variables: Mapping[str, str | NamePattern]) -> None:
        self.kind = kind
        domain, side = kind.domain, kind.side
        names: dict[str, Variable] = {side: domain.power(side), other_side(side): domain.power(other_side(side))}
        self.groups: dict[str, tuple[str, ...]] = {}
        for word, variable in names.items():
            chosen = variables.get(word)
            extra = (chosen,) if isinstance(chosen, str) else ()
            self.groups[word] = (*variable.letters, word, *extra)
        stored = variables.get("energy")
        self.groups["energy"] = (*domain.energy(side).letters, *((stored,) if isinstance(stored, str) else ()))
        self.words = {word: variable.word for word, variable in names.items()} | {"energy": domain.energy(side).word}
        self.units = {word: variable.unit for word, variable in names.items()} | {"energy": domain.energy(side).unit}
        self.group_of = {letter: group for group, letters in self.groups.items() for letter in letters}

    def dimension(self, group: str) -> Dimension:
        """The dimension of a variable."""
        return parse_unit(self.units[group]).dimension


@final
class LawReader:
    """Reads the law of an element from the text of its `law`, `energy` or `coenergy`."""

    def __init__(
        self,
        context: ReadingContext,
        name: str,
        kind: ElementKind,
        node: Scalar,
        variables: Mapping[str, str | NamePattern],
        indices: tuple[str, ...],
    ) -> None:
        self.context = context
        self.name = name
        self.kind = kind
        self.node = node
        self.letters = LawLetters(kind, variables)
        self.indices = indices

    def read(self, key: str) -> LawReading:
        """The law that stands in a key."""
        return self._read_law() if key == "law" else self._read_energy("energy" if key == "energy" else "coenergy")

    def _read_law(self) -> LawReading:
        left, sign, right = self.node.text.partition("=")
        if not sign or right.lstrip().startswith("="):
            self._refuse(rules.BAD_LAW, "has no '='", f"write a law such as '{self.kind.law}'")
        group = self.letters.group_of.get(left.strip())
        if group is None:
            self._refuse_left(left.strip())
        argument = self._argument_of(group)
        nothing = self.kind.side if self.kind.role == "resistive" else "energy"
        if group == nothing and right.strip() == "0":  # an ideal sensor, or a storage that keeps nothing
            return LawReading(None, QuantityReading(ZERO, ZERO), self._pending(ZERO, self.letters.dimension(group)))
        marked, letter = self._right_side(right, len(left) + 1, (argument,))
        form: LawForm = "resistive" if self.kind.role == "resistive" else "content" if group == "energy" else "output"
        gives = self.kind.side if form != "resistive" or group == self.kind.side else other_side(self.kind.side)
        pending = self._pending(marked, self.letters.dimension(group))
        slope = _linear_slope(marked, letter)
        # A linear law is the value of the element written otherwise: both ways must give one model.
        if slope is not None and not self.kind.energy:
            own = self._is_own_law(form, group)
            return LawReading(None, _value(slope if own else 1 / slope), pending)
        return LawReading(Law(form, letter, without_marks(marked), gives, self.node.text.strip()), None, pending)

    def _read_energy(self, form: LawForm) -> LawReading:
        # Conditions compare by `==` and `<=`: these are no equations.
        if "=" in self.node.text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", ""):
            self._refuse(rules.BAD_LAW, f"of the {form} has a '='", "write the expression alone, such as 'q^2/(2*C)'")
        output: str = self.kind.side
        groups = ("energy", output) if form == "energy" else (output,)
        marked, letter = self._right_side(self.node.text, 0, groups)
        pending = self._pending(marked, JOULE)
        of_output = self.letters.group_of[letter] == output
        slope = _linear_slope(marked.derivative(letter), letter)
        if slope is not None and not self.kind.energy:
            # H(q) = q^2/(2 C) gives v = q/C; both H(v) = C v^2/2 and the co-energy give q = C v.
            own = self._is_own_law("content" if of_output else "output", "energy" if of_output else output)
            return LawReading(None, _value(slope if own else 1 / slope), pending)
        law = Law(form, letter, without_marks(marked), self.kind.side, self.node.text.strip())
        return LawReading(law, None, pending)

    def _argument_of(self, group: str) -> str:
        """The variable that the right side may use."""
        if self.kind.role == "resistive":
            if group == "energy":
                self._refuse_letter(
                    self.letters.groups["energy"][0], "energy", (self.kind.side, other_side(self.kind.side))
                )
            return other_side(self.kind.side) if group == self.kind.side else self.kind.side
        if group == other_side(self.kind.side):
            self._refuse_letter(self.node.text.partition("=")[0].strip(), group, ("energy", self.kind.side))
        return self.kind.side if group == "energy" else "energy"

    def _right_side(self, text: str, at: int, groups: tuple[str, ...]) -> tuple[Expression, str]:
        """The expression with marks, and the one letter that stands for its variable."""
        # Units stay as marks: `F = 3 N/m*x` and `F = 3*x` must both be found to give newtons.
        marked = parse_marked(text, self.context.text_place(self.node, at))
        used: dict[str, list[str]] = {}
        for name in sorted(marked.free_symbols):
            group = self.letters.group_of.get(name)
            if group is not None:
                used.setdefault(group, []).append(name)
        for group, names in used.items():
            if group not in groups:
                self._refuse_letter(names[0], group, groups)
            self._note_clash(names)
        if len(used) > 1:
            several = listing([names[0] for names in used.values()])
            self._refuse(rules.WRONG_LETTER, "mixes two variables", f"use one of {several}")
        if not used:
            letter = self.letters.groups[groups[0]][0]
            what = f"does not depend on the {self.letters.words[groups[0]]}"
            self._refuse(rules.CONSTANT_LAW, what, f"use '{letter}' in it, or describe a source")
        ((_, names),) = used.items()
        letter = names[0]
        unified = marked.substitute({name: symbol(letter) for name in names[1:]}) if len(names) > 1 else marked
        return unified, letter

    def _note_clash(self, names: list[str]) -> None:
        for name in names:
            if name in self.indices:
                what = f"uses '{name}', which is also an index"
                self._refuse(rules.LETTER_AND_INDEX, what, "rename the index, for example to 'k'")
            # The letter of a variable comes first, so a parameter of this name could never be read in a law.
            if name in self.context.parameters:
                word = self.letters.words[self.letters.group_of[name]]
                what = f"in the law of {self.name}, '{name}' is the {word}, not the parameter"
                fix = "rename the parameter, or write the variable with another letter"
                self.context.notes.append(
                    rules.LETTER_AND_PARAMETER.finding(what, fix=fix, place=self.context.place(self.node))
                )

    def _pending(self, marked: Expression, wanted: Dimension) -> PendingCheck:
        letters: dict[str, Measure] = {letter: self.letters.dimension(g) for letter, g in self.letters.group_of.items()}
        if letters.keys() >= marked.free_symbols:
            # A law of plain numbers is one in SI units: a factor may hide any unit, and a factor of one is not even seen.
            letters = dict.fromkeys(letters, UNKNOWN)
        names = letters | dict.fromkeys(self.indices, UNKNOWN)  # a factor of a law may carry any unit
        where = partial(self.context.text_place, self.node)
        return PendingCheck(marked, wanted, f"the law of {self.name}", where, names, is_plain_factor)

    def _is_own_law(self, form: LawForm, group: str) -> bool:
        """Whether the slope is the parameter itself and not its reciprocal."""
        if form == "resistive":
            return group == self.kind.side
        return (form == "output") == self.kind.inverse

    def _refuse_left(self, left: str) -> NoReturn:
        resistive = self.kind.role == "resistive"
        groups = (self.kind.side, other_side(self.kind.side)) if resistive else ("energy", self.kind.side)
        choices = [self.letters.groups[g][0] for g in groups]
        fix = f"the left side is {' or '.join(repr(c) for c in choices)}, as in '{self.kind.law}'"
        what = f"has '{left}' on its left side, which is no variable of {with_article(self.kind.name)}"
        self._refuse(rules.BAD_LAW, what, fix)

    def _refuse_letter(self, letter: str, group: str, allowed: tuple[str, ...]) -> NoReturn:
        meaning = f"'{letter}' is its {self.letters.words[group]}"
        words = " and ".join(f"the {self.letters.words[g]} '{self.letters.groups[g][0]}'" for g in allowed)
        what = f"uses a variable that a law of {with_article(self.kind.name)} cannot have here: {meaning}"
        also = f"; a parameter of the name '{letter}' needs another name" if letter in self.context.parameters else ""
        self._refuse(rules.WRONG_LETTER, what, f"write it with {words}{also}")

    def _refuse(self, rule: Rule, what: str, fix: str) -> NoReturn:
        raise self.context.error(rule, self.node, f"the law of {self.name} {what}", fix=fix)


def _value(slope: Expression) -> QuantityReading:
    return QuantityReading(without_marks(slope), slope)


def _linear_slope(expression: Expression, letter: str) -> Expression | None:
    """The factor of a law that is the letter times a factor, else None."""
    slope = expression.derivative(letter)
    if letter in slope.free_symbols or is_zero(slope):
        return None
    return slope if is_zero(expression.substitute({letter: 0})) else None


MOST_LAW_POINTS = 200


@final
class LawTableReader:
    """Reads the law of an element from its points."""

    def __init__(
        self,
        context: ReadingContext,
        name: str,
        kind: ElementKind,
        node: MappingNode,
        variables: Mapping[str, str | NamePattern],
    ) -> None:
        self.context = context
        self.name = name
        self.kind = kind
        self.node = node
        self.letters = LawLetters(kind, variables)

    def read(self) -> Law:
        """The law through the points."""
        self.context.check_keys(self.node, LAW_TABLE.names, f"the law of {self.name}")
        group = self._group()
        argument = self._argument(group)
        given = self.node.get("table")
        if given is None:
            self._refuse(rules.NO_POINTS, "has no 'table'", "write 'law: {table: [[0, 0], [1, 2]]}'")
        reading = read_table(self.context, f"the law of {self.name}", given)
        self._check_unit(reading.of_points, argument)
        self._check_unit(reading.of_values, group)
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
        word, fix = read_interpolation(self.context, self.name, self.node)
        if fix:
            self._refuse(rules.NO_POINTS, f"has no interpolation '{word}'", fix)
        return word

    def _points(self, reading: TableReading) -> tuple[tuple[Fraction, Fraction], ...]:
        points = reading.exact_points()
        if len(points) > MOST_LAW_POINTS:
            what = f"has {len(points)} points, more than {MOST_LAW_POINTS}"
            self._refuse(rules.TOO_MANY_POINTS, what, "keep those where the curve bends, with 'interpolation: cubic'")
        return points

    def _check_rising(self, table: LawTable) -> None:
        for row, (a, b) in enumerate(pairwise(table.points), start=2):
            # With a law that falls, one output would belong to two contents of the storage.
            if b[1] <= a[1]:
                what = f"does not rise: point {row} is {float(b[1]):g}, after {float(a[1]):g}"
                self._refuse(rules.NOT_RISING, what, "check the points, or turn the element round")

    def _check_unit(self, found: Measure, group: str) -> None:
        wanted = self.letters.dimension(group)
        if found is NUMBER or isinstance(found, NoDimension) or found == wanted:
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
