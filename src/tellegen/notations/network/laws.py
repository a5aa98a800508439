"""Laws as the user writes them: `F = K*x + k_3*x^3`, `q = C*v`, energies, and laws given by points.

The letters of a law are those of the domain table, the names that the element gives to its variables, and `across` / `through`. A
linear law that matches the kind's own is turned into a value, so that both ways of writing give the same model.
"""

import re
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import NamedTuple, NoReturn, final

from tellegen.core.domains import Side, Variable, other_side
from tellegen.core.errors import DescriptionError, Rule
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension, is_unit, parse_unit
from tellegen.elements import KINDS, ElementKind
from tellegen.expressions import ZERO, Expression, is_zero, symbol, to_text, tokens
from tellegen.expressions.polynomials import interpolated
from tellegen.model.dimensions import (
    NUMBER,
    UNKNOWN,
    Measure,
    NoDimension,
    is_plain_factor,
    with_factors_seen,
    without_marks,
)
from tellegen.model.laws import Law, LawForm, LawTable
from tellegen.notations.context import NamePattern, PendingCheck, ReadingContext
from tellegen.notations.grammar import LAW_TABLE
from tellegen.notations.network import rules
from tellegen.notations.network.keys import with_article
from tellegen.notations.quantities import QuantityReading, parse_marked
from tellegen.notations.signals.tables import read_interpolation, read_table
from tellegen.notations.yaml.document import MappingNode, Scalar

JOULE: Dimension = parse_unit("J").dimension
MOST_LAW_POINTS = 200
_QUANTITY = re.compile(rf"(?<![\w.])(?P<number>{tokens.NUMBER})\s*(?P<unit>[A-Za-z]+)")
_TIMES = re.compile(r"\s*\*\s*([A-Za-z]+)")


class LawReading(NamedTuple):
    """A law with what must be checked when all parameters are known; `value` instead where it is the kind's own linear law."""

    law: Law | None
    value: QuantityReading | None
    pending: PendingCheck


@final
class LawReader:
    """Reads the law of an element, from the text of its `law`, `energy` or `coenergy`, or from its points.

    `letters` stand for the two power variables and for what the element stores; `given` are the two that laws relate.
    """

    def __init__(
        self,
        context: ReadingContext,
        name: str,
        kind: ElementKind,
        node: Scalar | MappingNode,
        names: Mapping[str, str | NamePattern],
        indices: tuple[str, ...] = (),
    ) -> None:
        self.context, self.name, self.kind, self.node, self.indices = context, name, kind, node, indices
        domain, side, other = kind.domain, kind.side, other_side(kind.side)
        self.variables: dict[str, Variable] = {
            side: domain.power(side),
            other: domain.power(other),
            "energy": domain.energy(side),
        }
        chosen = {g: (own,) for g in self.variables if isinstance(own := names.get(g), str)}
        usual = {g: (*v.letters, *(() if g == "energy" else (g,))) for g, v in self.variables.items()}
        self.letters: dict[str, tuple[str, ...]] = {g: (*usual[g], *chosen.get(g, ())) for g in usual}
        # A letter means what it means in every law, whatever else the author calls by it: a current named v is no voltage.
        self.group_of = {letter: g for letters in (chosen, usual) for g in letters for letter in letters[g]}
        self.resistive = kind.role == "resistive"
        self.given: tuple[str, str] = (side, other) if self.resistive else ("energy", side)

    # Formulas

    def read(self, node: Scalar, key: str) -> LawReading:
        """The law that stands in a key."""
        return (
            self._read_law(node)
            if key == "law"
            else self._read_energy(node, "energy" if key == "energy" else "coenergy")
        )

    def _read_law(self, node: Scalar) -> LawReading:
        left, sign, right = node.text.partition("=")
        if not sign or right.lstrip().startswith("="):
            self._refuse(rules.BAD_LAW, "has no '='", f"write a law such as '{self.kind.law}'")
        group = self.group_of.get(left.strip())
        if group is None:
            choices = [self.letters[g][0] for g in self.given]
            fix = f"the left side is {' or '.join(repr(c) for c in choices)}, as in '{self.kind.law}'{self._kinds_with(left)}"
            what = f"has '{left.strip()}' on its left side, which is no variable of {with_article(self.kind.name)}"
            self._refuse(rules.BAD_LAW, what, fix)
        if group not in self.given:
            self._refuse_letter(self.letters["energy"][0] if self.resistive else left.strip(), group, self.given)
        nothing = self.kind.side if self.resistive else "energy"
        if group == nothing and right.strip() == "0":  # an ideal sensor, or a storage that keeps nothing
            return LawReading(None, QuantityReading(ZERO, ZERO), self._pending(node, ZERO, self._dimension(group)))
        marked, letter = self._right_side(node, right, len(left) + 1, (self._argument(group),))
        form = self._form(group)
        law = Law(form, letter, without_marks(marked), self._gives(group), node.text.strip())
        # A linear law is the value of the element written otherwise: both ways must give one model.
        return self._reading(
            law, marked, self._is_own_law(form, group), self._pending(node, marked, self._dimension(group))
        )

    def _kinds_with(self, left: str) -> str:
        """The kinds of the same role whose own law has a letter on its left: who wrote `F` for a friction meant a damper."""
        kinds = [
            k.name
            for k in KINDS.values()
            if k.role == self.kind.role and k.law.partition("=")[0].strip() == left.strip()
        ]
        return f"; {listing(kinds, 3)} {'has' if len(kinds) == 1 else 'have'} '{left.strip()}' there" if kinds else ""

    def _read_energy(self, node: Scalar, form: LawForm) -> LawReading:
        # Conditions compare by `==` and `<=`: these are no equations.
        if "=" in node.text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", ""):
            self._refuse(rules.BAD_LAW, f"of the {form} has a '='", "write the expression alone, such as 'q^2/(2*C)'")
        output: str = self.kind.side
        marked, letter = self._right_side(node, node.text, 0, ("energy", output) if form == "energy" else (output,))
        law = Law(form, letter, without_marks(marked), self.kind.side, node.text.strip())
        # H(q) = q^2/(2 C) gives v = q/C; both H(v) = C v^2/2 and the co-energy give q = C v.
        of_output = self.group_of[letter] == output
        own = self._is_own_law("content" if of_output else "output", "energy" if of_output else output)
        return self._reading(law, marked.derivative(letter), own, self._pending(node, marked, JOULE))

    def _reading(self, law: Law, marked: Expression, own: bool, pending: PendingCheck) -> LawReading:
        """The law, or its slope as a value where it is linear; `own` tells whether that is the parameter or its reciprocal."""
        slope = _linear_slope(marked, law.variable)
        if slope is None or self.kind.energy:
            return LawReading(law, None, pending)
        value = slope if own else 1 / slope
        return LawReading(None, QuantityReading(without_marks(value), value), pending)

    def _right_side(self, node: Scalar, text: str, at: int, groups: tuple[str, ...]) -> tuple[Expression, str]:
        """The expression with marks, and the one letter that stands for its variable."""
        # Units stay as marks: `F = 3 N/m*x` and `F = 3*x` must both be found to give newtons.
        marked = parse_marked(text, self.context.text_place(node, at))
        used: dict[str, list[str]] = {}
        for name in sorted(marked.free_symbols):
            group = self.group_of.get(name)
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
            what = f"does not depend on the {self.variables[groups[0]].word}"
            self._refuse(rules.CONSTANT_LAW, what, f"use '{self.letters[groups[0]][0]}' in it, or describe a source")
        ((_, names),) = used.items()
        self._refuse_doubtful(text, names)
        letter = names[0]
        unified = marked.substitute({name: symbol(letter) for name in names[1:]}) if len(names) > 1 else marked
        return unified, letter

    def _refuse_doubtful(self, text: str, letters: list[str]) -> None:
        """Refuse a unit times the letter of the variable: `2 F*V` beside other places where V is the voltage."""
        for found in _QUANTITY.finditer(text):
            begin, unit = found.span("unit")
            if not is_unit(text[begin:unit]):
                continue
            whole = text[begin : tokens.unit_end(text, unit, is_unit)]
            for joined in _TIMES.finditer(whole):
                if joined[1] in letters:
                    quantity = f"{found['number']} {whole[: joined.start()]}"
                    read = f"'{joined[1]}' of '{found['number']} {whole}'"
                    what = f"reads the {read} as a unit, and '{joined[1]}' is its variable too"
                    fix = (
                        f"for the variable write ({quantity})*{joined[1]}, or another letter of it for what is no unit"
                    )
                    self._refuse(rules.LETTER_OR_UNIT, what, fix)

    def _note_clash(self, names: list[str]) -> None:
        for name in names:
            if name in self.indices:
                what = f"uses '{name}', which is also an index"
                self._refuse(rules.LETTER_AND_INDEX, what, "rename the index, for example to 'k'")
            # The letter of a variable comes first, so a parameter of this name could never be read in a law.
            if name in self.context.parameters:
                word = self.variables[self.group_of[name]].word
                what = f"in the law of {self.name}, '{name}' is the {word}, not the parameter"
                fix = "rename the parameter, or write the variable with another letter"
                place = self.context.place(self.node)
                self.context.notes.append(rules.LETTER_AND_PARAMETER.finding(what, fix=fix, place=place))

    def _pending(self, node: Scalar, marked: Expression, wanted: Dimension) -> PendingCheck:
        letters: dict[str, Measure] = {letter: self._dimension(group) for letter, group in self.group_of.items()}
        if letters.keys() >= marked.free_symbols:
            # A law of plain numbers is one in SI units: a factor may hide any unit, and a factor of one is not even seen.
            letters = dict.fromkeys(letters, UNKNOWN)
        names = letters | dict.fromkeys(self.indices, UNKNOWN)  # a factor of a law may carry any unit
        where = partial(self.context.text_place, node)
        return PendingCheck(
            with_factors_seen(marked, letters), wanted, f"the law of {self.name}", where, names, is_plain_factor
        )

    def _is_own_law(self, form: LawForm, group: str) -> bool:
        """Whether the slope is the parameter itself and not its reciprocal."""
        return group == self.kind.side if form == "resistive" else (form == "output") == self.kind.inverse

    # What a law gives

    def _dimension(self, group: str) -> Dimension:
        return parse_unit(self.variables[group].unit).dimension

    def _argument(self, group: str) -> str:
        """The variable that a law reads which gives this one: of the two that it may give, the other one."""
        return self.given[1] if group == self.given[0] else self.given[0]

    def _form(self, group: str) -> LawForm:
        return "resistive" if self.resistive else "content" if group == "energy" else "output"

    def _gives(self, group: str) -> Side:
        return other_side(self.kind.side) if self.resistive and group != self.kind.side else self.kind.side

    # Points

    def read_table(self, node: MappingNode) -> Law:
        """The law through the points."""
        context, subject = self.context, f"the law of {self.name}"
        context.check_keys(node, LAW_TABLE.names, subject)
        group = self._group(node)
        argument = self._argument(group)
        given = node.get("table")
        if given is None:
            self._refuse(rules.NO_POINTS, "has no 'table'", "write 'law: {table: [[0, 0], [1, 2]]}'")
        reading = read_table(context, subject, given)
        self._check_unit(reading.of_points, argument)
        self._check_unit(reading.of_values, group)
        points = reading.exact_points()
        if len(points) > MOST_LAW_POINTS:
            what = f"has {len(points)} points, more than {MOST_LAW_POINTS}"
            self._refuse(rules.TOO_MANY_POINTS, what, "keep those where the curve bends, with 'interpolation: cubic'")
        word, fix = read_interpolation(context, self.name, node)
        if fix:
            self._refuse(rules.NO_POINTS, f"has no interpolation '{word}'", fix)
        for row, (a, b) in enumerate(pairwise(points), start=2) if not self.resistive else ():
            # With a law that falls, one output would belong to two contents of the storage.
            if b[1] <= a[1]:
                what = f"does not rise: point {row} is {float(b[1]):g}, after {float(a[1]):g}"
                self._refuse(rules.NOT_RISING, what, "check the points, or turn the element round")
        table = LawTable(points, word == "cubic")
        letter, left = self.letters[argument][0], self.letters[group][0]
        expression = interpolated(points, symbol(letter), smooth=table.smooth)
        return Law(self._form(group), letter, expression, self._gives(group), f"{left} = {to_text(expression)}", table)

    def _group(self, node: MappingNode) -> str:
        """What the table gives."""
        said = node.get("gives")
        own = self.kind.law.partition(" = ")[0]
        word = own if said is None else self.context.scalar(said, f"what the table of {self.name} gives").text
        group = self.group_of.get(word)
        if group not in self.given:
            choices = [self.letters[g][0] for g in self.given]
            fix = did_you_mean(word, choices) or f"write one of {listing(choices)}"
            self._refuse(rules.NO_POINTS, f"cannot give '{word}'", fix)
        return group

    def _check_unit(self, found: Measure, group: str) -> None:
        wanted = self._dimension(group)
        if found is NUMBER or isinstance(found, NoDimension) or found == wanted:
            return
        subject = f"the {self.variables[group].word} in the table of {self.name}"
        raise DescriptionError(self.context.wrong_dimension(subject, found, wanted, self.context.place(self.node)))

    # Errors

    def _refuse_letter(self, letter: str, group: str, allowed: tuple[str, ...]) -> NoReturn:
        meaning = f"'{letter}' is its {self.variables[group].word}"
        words = " and ".join(f"the {self.variables[g].word} '{self.letters[g][0]}'" for g in allowed)
        what = f"uses a variable that a law of {with_article(self.kind.name)} cannot have here: {meaning}"
        also = f"; a parameter of the name '{letter}' needs another name" if letter in self.context.parameters else ""
        self._refuse(rules.WRONG_LETTER, what, f"write it with {words}{also}")

    def _refuse(self, rule: Rule, what: str, fix: str) -> NoReturn:
        where = self.name if isinstance(self.node, MappingNode) else ""
        raise self.context.error(rule, self.node, f"the law of {self.name} {what}", fix=fix, where=where)


def _linear_slope(expression: Expression, letter: str) -> Expression | None:
    """The factor of a law that is the letter times a factor, else None."""
    slope = expression.derivative(letter)
    if letter in slope.free_symbols or is_zero(slope):
        return None
    return slope if is_zero(expression.substitute({letter: 0})) else None


def table_text(law: Law, kind: ElementKind) -> str:
    """A law by points as it stands in a file."""
    assert law.table is not None, "only laws by points are written so"
    points = ", ".join(f"[{float(x)!r}, {float(y)!r}]" for x, y in law.table.points)
    left = law.text.partition(" = ")[0]
    gives = "" if left == kind.law.partition(" = ")[0] else f", gives: {left}"
    smooth = ", interpolation: cubic" if law.table.smooth else ""
    return f"{{table: [{points}]{gives}{smooth}}}"
