"""Laws of fields: elements of several ports, coupled by a matrix, by stiffnesses, by laws or by an energy, and what their
numbers say.

braces: {spring field: [a, frame, b, frame], matrix: [[k_1 + k_2, -k_2], [-k_2, k_2]]}

r: {resistor field: [a, gnd, b, gnd], law: [V_1 = R*i_1 + k*i_1*i_2^2, V_2 = R*i_2 + k*i_1^2*i_2]}

A matrix gives energy variables by outputs (storages), or the variables that laws give by the others (resistive elements). An energy
is a formula of the energy variables, whose letters carry the number of the port: `phi_1^2*(x_0 + x_2)/(2*L_0)`. Springs are given
by their stiffnesses, and resistive elements may have a law for each port.

Matrices are judged by elimination, which also gives the direction to name. Laws are judged at sampled points: a warning where one
of them gives power; no warning is no proof.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn, final

from tellegen.core.domains import Domain, Side, other_side
from tellegen.core.errors import Finding, Place, Rule
from tellegen.core.names import did_you_mean
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import ElementKind, kinds_of
from tellegen.expressions import ONE, ZERO, Expression, is_zero, number, symbol, to_text, total
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries, leaf_count, solve, with_definitions
from tellegen.expressions.polynomials import powers_of, sum_of_powers
from tellegen.expressions.simplification import shortened
from tellegen.model.dimensions import Measure, is_plain_factor, with_factors_seen, without_marks
from tellegen.model.laws import Law, MatrixField
from tellegen.model.model import Element
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.network import rules
from tellegen.notations.network.keys import SIDES
from tellegen.notations.network.laws import JOULE
from tellegen.notations.quantities import parse_marked
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

Rows = tuple[tuple[Expression, ...], ...]
MATRIX = "matrix"
ENERGY = "energy"
LAWS = "law"
ROW, COLUMN = "row", "column"
_SHORT = 48
"""Entries of an inverse with more leaves than this are left as they are: to shorten them takes longer than anybody would read."""
_BY_MINORS = 3
"""Up to this size an inverse is written by minors."""


def direct_kind(kind: ElementKind) -> ElementKind:
    """The kind of the same storage whose parameter multiplies: a compliance for a spring."""
    if not kind.inverse:
        return kind
    return next(k for k in kinds_of(kind.domain.name, "storage") if k.side == kind.side and not k.inverse)


def stiff_kind(kind: ElementKind) -> ElementKind:
    """The kind of the same storage whose parameter divides, where there is one: a spring for a compliance."""
    return next((k for k in kinds_of(kind.domain.name, "storage") if k.side == kind.side and k.inverse), kind)


# Dimensions and letters


def _power(domain: Domain, side: Side) -> Dimension:
    return parse_unit(domain.power(side).unit).dimension


def _stored(kind: ElementKind) -> Dimension:
    return parse_unit(kind.domain.energy(kind.side).unit).dimension


def entry_dimension(row: ElementKind, column: ElementKind) -> Dimension:
    """What an entry is measured in: energy variable over output, or the variable that a law gives over the other one."""
    if row.role == "storage":
        return _stored(row).over(_power(column.domain, column.side))
    return _power(row.domain, row.side).over(_power(column.domain, other_side(column.side)))


def stiffness_dimension(row: ElementKind, column: ElementKind) -> Dimension:
    """What an entry is measured in: output over energy variable."""
    return _power(row.domain, row.side).over(_stored(column))


def energy_letters(kinds: Sequence[ElementKind]) -> tuple[str, ...]:
    """The letters that stand for the energy variables of the ports: `phi_1`, `x_2`."""
    return tuple(f"{kind.domain.energy(kind.side).letters[0]}_{k}" for k, kind in enumerate(kinds, 1))


def argument_letters(kinds: Sequence[ElementKind], given: Sequence[Side]) -> tuple[str, ...]:
    """The letters of what the laws are told, by port: `i_1` where the law of port 1 gives its voltage."""
    pairs = enumerate(zip(kinds, given, strict=True), 1)
    return tuple(f"{kind.domain.power(other_side(side)).letters[0]}_{k}" for k, (kind, side) in pairs)


def power_letters(kinds: Sequence[ElementKind]) -> dict[str, tuple[int, Side]]:
    """Every letter of a power variable with the number of its port."""
    return {
        f"{letter}_{k + 1}": (k, side)
        for k, kind in enumerate(kinds)
        for side in SIDES
        for letter in kind.domain.power(side).letters
    }


def _outputs(kinds: Sequence[ElementKind]) -> list[str]:
    """The letters of what the ports give, the first of each."""
    return [f"{kind.domain.power(kind.side).letters[0]}_{k}" for k, kind in enumerate(kinds, 1)]


# Laws


@final
@dataclass(frozen=True, slots=True)
class FieldLaw:
    """The matrix of a field; with an energy it is the identity, and the laws give the outputs by the energy variables.

    So it is for a resistive field with laws, whose `letters` stand for what its ports are told. `stiffness` is the matrix as the
    user gave it, where it was the inverse.
    """

    matrix: Rows
    energy: Expression | None = None
    letters: tuple[str, ...] = ()
    laws: tuple[Law, ...] = ()
    stiffness: Rows | None = None

    def value(self, k: int) -> Expression | None:
        """The value of a member: its entry of the diagonal, where a matrix says it."""
        return None if self.laws else self.matrix[k][k]

    def field(self, name: str, members: Iterable[str], place: Place | None) -> MatrixField:
        """The field that couples these members."""
        return MatrixField(
            name=name,
            members=tuple(members),
            matrix=self.matrix,
            place=place,
            energy=self.energy,
            letters=self.letters,
            stiffness=self.stiffness,
        )


def energy_law(kinds: Sequence[ElementKind], energy: Expression) -> FieldLaw:
    """The law of a field whose energy is a formula of `energy_letters`."""
    letters, laws = energy_letters(kinds), []
    for kind, letter, name in zip(kinds, letters, _outputs(kinds), strict=True):
        output = energy.derivative(letter)
        laws.append(Law("output", letter, output, kind.side, f"{name} = {to_text(output)}"))
    return FieldLaw(_identity(len(kinds)), energy, letters, tuple(laws))


def _identity(count: int) -> Rows:
    return tuple(tuple(ONE if i == j else ZERO for j in range(count)) for i in range(count))


def energy_text(energy: Expression) -> str:
    """An energy as the only law of a list says it."""
    return f"E = {to_text(energy)}"


def is_energy(laws: Sequence[Scalar]) -> bool:
    """Whether a list of laws is an energy, whose derivatives the laws are."""
    return len(laws) == 1 and laws[0].text.partition("=")[0].strip() == "E"


def law_key(node: MappingNode) -> Scalar | None:
    """The key that says the law of a field: a matrix, an energy, or a list of laws."""
    for key, value in node.items():
        rows = isinstance(value, SequenceNode) and any(isinstance(row, SequenceNode) for row in value)
        if rows or key.text in (MATRIX, ENERGY) or (key.text == LAWS and isinstance(value, SequenceNode)):
            return key
    return None


def read_matrix(context: ReadingContext, key: Scalar, node: Node | None, rows: int, columns: int) -> list[list[Scalar]]:
    """The texts of a matrix of a given shape.

    Raises: DescriptionError saying which shape was found.
    """
    lines = node if isinstance(node, SequenceNode) else ()
    found = [list(row) if isinstance(row, SequenceNode) else [] for row in lines]
    wide = {len(row) for row in found}
    if len(found) != rows or wide != {columns}:
        shape = f"{len(found)} by {wide.pop()}" if len(wide) == 1 else "no table of rows of one length"
        what = f"the matrix of '{key.text}' is {shape}, not {rows} by {columns}"
        row = ", ".join(["..."] * min(columns, 3))
        fix = f"write {rows} row{'s' * (rows > 1)} of {columns}, as in '[[{row}], ...]'"
        raise context.error(notations_rules.WRONG_SHAPE, node or key, what, fix=fix, where=key.text)
    return [[context.scalar(entry, f"an entry of {key.text}") for entry in row] for row in found]


class _PortLaw(NamedTuple):
    """A law of one port: the variable on its left, and the right side, which begins at a column of the text."""

    port: int
    side: Side
    text: Scalar
    right: str
    column: int


def initial_value(
    context: ReadingContext, kind: ElementKind, text: Scalar, law: FieldLaw, subject: str
) -> tuple[Expression, bool]:
    """The initial value of a member of a field, and whether it is what the member holds."""
    # What is held decides the outputs of an energy, so that one of them alone decides nothing; a unit tells which is meant.
    held = law.energy is not None and context.dimension_of_text(text) == _stored(kind)
    wanted = _stored(kind) if held else _power(kind.domain, kind.side)
    return context.checked_quantity(text, wanted, subject).expression, held


@final
class FieldReader:
    """Reads the law of one field; `key` is its name, `kinds` are those of its ports."""

    def __init__(self, context: ReadingContext, key: Scalar, kinds: Sequence[ElementKind]) -> None:
        self.context, self.key, self.kinds = context, key, kinds

    def add(
        self,
        law: FieldLaw,
        ends: Sequence[tuple[str, str]],
        variables: Sequence[Mapping[str, str]],
        initial: Sequence[Expression | None],
        prefer: Sequence[Side | None] | None = None,
        contents: Sequence[bool] | None = None,
    ) -> None:
        """Add the members of the field to the model, and the field itself."""
        place, members = self.context.place(self.key), []
        for k, kind in enumerate(self.kinds):
            members.append(f"{self.key.text}[{k + 1}]")
            self.context.elements[members[k]] = Element(
                name=members[k],
                kind=direct_kind(kind),
                nodes=ends[k],
                value=law.value(k),
                law=law.laws[k] if law.laws else None,
                variables=variables[k],
                initial=initial[k],
                initial_content=contents is not None and contents[k],
                prefer=None if prefer is None else prefer[k],
                place=place,
            )
        self.context.fields.append(law.field(self.key.text, members, place))

    def _refuse(self, rule: Rule, node: Node, what: str, fix: str) -> NoReturn:
        raise self.context.error(rule, node, what, fix=fix, where=self.key.text)

    def _refuse_unsymmetric(self, what: str, fix: str) -> NoReturn:
        self._refuse(rules.NOT_CONSERVATIVE, self.key, f"the field '{self.key.text}' is not conservative: {what}", fix)

    # Matrices

    def matrix(self, node: Node | None) -> FieldLaw:
        """The law by a matrix, or by one formula of `row` and `column`, which count the ports from 1."""
        count = len(self.kinds)
        self._is_stiff()  # what is mixed is told before what has the wrong shape
        if isinstance(node, Scalar):
            return self.matrix_of([[node] * count] * count)
        return self.matrix_of(read_matrix(self.context, self.key, node, count, count))

    def matrix_of(self, texts: Sequence[Sequence[Scalar]]) -> FieldLaw:
        """The law by the texts of a square matrix.

        Raises: DescriptionError when it is not symmetric although its members store energy.
        """
        stiff, kinds = self._is_stiff(), self.kinds
        dimension = stiffness_dimension if stiff else entry_dimension
        subject = f"an entry of {self.key.text}"

        def entry(text: Scalar, i: int, j: int) -> Expression:
            counters = {ROW: i + 1, COLUMN: j + 1}
            return self.context.checked_quantity(text, dimension(kinds[i], kinds[j]), subject, counters).expression

        matrix = tuple(tuple(entry(text, i, j) for j, text in enumerate(row)) for i, row in enumerate(texts))
        # Energy is a function of what is stored, so its second derivatives do not depend on their order (Maxwell).
        for i, row in enumerate(matrix) if kinds[0].role == "storage" else ():
            for j in range(i):
                if row[j] is not matrix[j][i] and not is_zero(row[j] - matrix[j][i]):
                    at = f"its entries ({i + 1},{j + 1}) and ({j + 1},{i + 1}) differ"
                    self._refuse_unsymmetric(at, "give a symmetric matrix")
        return FieldLaw(self._compliances(matrix), stiffness=matrix) if stiff else FieldLaw(matrix)

    def _is_stiff(self) -> bool:
        """Whether the matrix holds stiffnesses.

        Raises: DescriptionError (D470) for a field of both.
        """
        springs = [kind for kind in self.kinds if kind.inverse]
        if springs and len(springs) < len(self.kinds):
            names = " and ".join(dict.fromkeys(kind.name for kind in springs))
            what = f"the matrix of '{self.key.text}' holds stiffnesses for {names} and the inverse for others"
            others = " and ".join(dict.fromkeys(direct_kind(kind).name for kind in springs))
            self._refuse(rules.NO_STIFFNESS, self.key, what, f"write {others} in their place, or springs everywhere")
        return bool(springs)

    def _compliances(self, matrix: Rows) -> Rows:
        """The inverse of a matrix of stiffnesses.

        Raises: DescriptionError (D470) where it is singular, naming the motion that no force resists.
        """
        n = len(matrix)
        field = NamedEntries({})
        rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in matrix]
        found, left = solve(rows, [{n + i: field.entry(ONE)} for i in range(n)], list(range(n)), field)
        if left:
            self._refuse_singular(_free_motion(matrix))

        def entry(i: int, j: int) -> Expression:
            if n <= _BY_MINORS:  # the form of textbooks, and the one whose fractions cancel
                written = (-1) ** (i + j) * determinant(_minor(matrix, i, j)) / determinant(matrix)
            else:
                share = found.get(i, {}).get(n + j)
                written = ZERO if share is None else with_definitions(share.expression, field.where)
            return shortened(written) if leaf_count(written) <= _SHORT else written

        upper = {(i, j): entry(i, j) for i in range(n) for j in range(i, n)}  # symmetric to the letter
        return tuple(tuple(upper[min(i, j), max(i, j)] for j in range(n)) for i in range(n))

    def _refuse_singular(self, motion: Sequence[Expression]) -> NoReturn:
        moved = [(k, e) for k, e in enumerate(motion) if e is not ZERO]
        letters = energy_letters(self.kinds)
        shown = ", ".join(f"{letters[k]} = {to_text(e)}" for k, e in moved)
        kind = self.kinds[moved[0][0]]
        word = kind.domain.power(kind.side).word
        what = f"the matrix of '{self.key.text}' is singular: it gives no {word} when {shown}"
        fix = f"describe what resists by fewer ports: a {kind.name} between two nodes feels only their difference"
        self._refuse(rules.NO_STIFFNESS, self.key, what, fix)

    # Energies and laws

    def energy(self, node: Node) -> FieldLaw:
        """The law by the energy, a formula of the energy variables of the ports."""
        text = self.context.formula(node, f"the energy of {self.key.text}")
        return energy_law(self.kinds, self._formula(text, text.text, 0, JOULE))

    def laws(self, node: Node) -> FieldLaw:
        """The law by the outputs, one a port: `[i_1 = ..., F_2 = ...]`, or by their energy alone: `[E = ...]`.

        Raises: DescriptionError where a port has no law or two, a resistive law reads what another one gives, or those of storages
        are not the derivatives of one energy.
        """
        # Losses are bound to no order of derivatives: each law stands for itself.
        if self.kinds[0].role == "resistive":
            return self._resistive_laws(node)
        texts = self.context.texts(node, f"the laws of {self.key.text}")
        if is_energy(texts):
            left, _, right = texts[0].text.partition("=")
            return energy_law(self.kinds, self._formula(texts[0], right, len(left) + 1, JOULE))
        found = self._port_laws(node)
        outputs = []
        for k, kind in enumerate(self.kinds):
            law = found[k]
            outputs.append(self._formula(law.text, law.right, law.column, _power(kind.domain, kind.side)))
        return self._integrated(outputs)

    def _port_laws(self, node: Node) -> dict[int, _PortLaw]:
        """The law of every port. Those of storages give their outputs, resistive ones give either power variable."""
        names, resistive = power_letters(self.kinds), self.kinds[0].role == "resistive"
        if not resistive:
            names = {name: (k, side) for name, (k, side) in names.items() if side == self.kinds[k].side}
        found: dict[int, _PortLaw] = {}
        outputs = _outputs(self.kinds)
        for text in self.context.texts(node, f"the laws of {self.key.text}"):
            left, equals, right = text.text.partition("=")
            place = names.get(left.strip()) if equals else None
            if place is None or place[0] in found:
                what = f"'{text.text}' is no law of a port of {self.key.text}" if place is None else ""
                fix = did_you_mean(left.strip(), names) or f"write a law for each of {', '.join(outputs)}"
                if place is not None and resistive:
                    what, fix = f"port {place[0] + 1} of '{self.key.text}' has two laws", "keep one of them"
                self._refuse(rules.BAD_LAW, text, what or f"'{left.strip()}' has two laws", fix)
            found[place[0]] = _PortLaw(*place, text, right, len(left) + 1)
        missing = next((k for k in range(len(self.kinds)) if k not in found), None)
        if missing is not None:
            what = f"the field '{self.key.text}' has no law for its port {missing + 1}"
            self._refuse(rules.BAD_LAW, node, what, f"add '{outputs[missing]} = ...'")
        return found

    def _resistive_laws(self, node: Node) -> FieldLaw:
        found = self._port_laws(node)
        given = [found[k].side for k in range(len(self.kinds))]
        letters = argument_letters(self.kinds, given)
        laws = tuple(self._resistive_law(found[k], given, letters) for k in range(len(self.kinds)))
        return FieldLaw(_identity(len(self.kinds)), None, letters, laws)

    def _resistive_law(self, law: _PortLaw, given: Sequence[Side], letters: Sequence[str]) -> Law:
        context, names = self.context, power_letters(self.kinds)
        marked = parse_marked(law.right, context.text_place(law.text, law.column))
        for name in sorted(marked.free_symbols & names.keys()):
            port, side = names[name]
            if side == given[port] and name not in context.parameters:
                what = f"the law '{law.text.text}' reads '{name}', which another law of '{self.key.text}' gives"
                if port == law.port:
                    what = f"the law '{law.text.text}' reads what it gives"
                self._refuse(rules.BAD_LAW, law.text, what, f"use '{letters[port]}'")
        told = {name: place for name, place in names.items() if place[1] != given[place[0]]}
        units: dict[str, Measure] = {n: _power(self.kinds[port].domain, side) for n, (port, side) in told.items()}
        kind = self.kinds[law.port]
        wanted = _power(kind.domain, law.side)
        subject = f"the law of {self.key.text}"
        context.check_later(with_factors_seen(marked, told), wanted, subject, law.text, units, pure=is_plain_factor)
        expression = without_marks(marked).substitute({name: symbol(letters[port]) for name, (port, _) in told.items()})
        own = f"{kind.domain.power(law.side).letters[0]}_{law.port + 1}"
        return Law("resistive", letters[law.port], expression, law.side, f"{own} = {to_text(expression)}")

    def _formula(self, node: Scalar, text: str, at: int, unit: Dimension) -> Expression:
        """A formula of the energy variables, each under its first letter."""
        marked = parse_marked(text, self.context.text_place(node, at))
        ports = {
            f"{letter}_{k + 1}": k
            for k, kind in enumerate(self.kinds)
            for letter in kind.domain.energy(kind.side).letters
        }
        units: dict[str, Measure] = {name: _stored(self.kinds[k]) for name, k in ports.items()}
        subject, first = f"the law of {self.key.text}", energy_letters(self.kinds)
        self.context.check_later(with_factors_seen(marked, ports), unit, subject, node, units, pure=is_plain_factor)
        return without_marks(marked).substitute({name: symbol(first[k]) for name, k in ports.items()})

    def _integrated(self, outputs: Sequence[Expression]) -> FieldLaw:
        """The energy whose derivatives the outputs are: integrated along one variable after the other."""
        letters = energy_letters(self.kinds)
        for i, output in enumerate(outputs):
            for j in range(i):
                if not is_zero(output.derivative(letters[j]) - outputs[j].derivative(letters[i])):
                    names = _outputs(self.kinds)
                    at = f"{names[i]} depends on {letters[j]} otherwise than {names[j]} on {letters[i]}"
                    self._refuse_unsymmetric(at, "give the energy, or laws whose mixed derivatives agree")
        shares = []
        for k, output in enumerate(outputs):
            # The way from zero: first along x_1 with all others at zero, then along x_2 with x_1 where it is, and so on.
            powers = powers_of(output.substitute(dict.fromkeys(letters[k + 1 :], ZERO)), letters[k])
            if powers is None or any(n <= -1 for n in powers):
                what = f"the energy of the field '{self.key.text}' does not follow from its laws in closed form"
                self._refuse(rules.BAD_LAW, self.key, what, "write their energy instead of the laws: 'law: [E = ...]'")
            shares.append(sum_of_powers({n + 1: c / number(n + 1) for n, c in powers.items()}, letters[k]))
        return energy_law(self.kinds, total(shares))


def determinant(matrix: Rows) -> Expression:
    """The determinant of a small matrix, by the minors of its first row."""
    if not matrix:
        return ONE
    return total((-1) ** j * e * determinant(_minor(matrix, 0, j)) for j, e in enumerate(matrix[0]) if e is not ZERO)


def _minor(matrix: Rows, row: int, column: int) -> Rows:
    return tuple(tuple(e for j, e in enumerate(line) if j != column) for i, line in enumerate(matrix) if i != row)


def _free_motion(matrix: Rows) -> list[Expression]:
    """A direction in which a singular matrix gives nothing."""
    n = range(len(matrix))
    field = NamedEntries({})
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in matrix]
    elimination: Elimination[Entry] = Elimination(rows, field)
    one = elimination.eliminate_all(n)[-1]
    found = elimination.express(n)
    motion = [found.get(k, {}).get(one) for k in n]
    written = [ZERO if e is None else with_definitions(e.expression, field.where) for e in motion]
    return [ONE if k == one else written[k] for k in n]


# What numbers say

# What rounding may leave of a zero, in a matrix with ones on its diagonal.
_ROUNDING = 1e-9
# A law may bend anywhere: each direction is tried from a thousandth to a thousand.
_SIZES = tuple(10.0**k for k in range(-3, 4))
_SAMPLES = 40
"""Random directions for the arguments of laws, each tried at all sizes."""

Numbers = list[list[float]]


def check_fields(
    fields: Iterable[MatrixField], elements: Mapping[str, Element], values: Mapping[str, float]
) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings about fields whose numbers are known."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for field in fields:
        members = [elements[name] for name in field.members]
        if members[0].kind.role == "storage" and field.energy is None:
            errors += _indefinite(field, members, values)
        elif members[0].kind.role == "resistive":
            warnings += _active_laws(field, members, values) if field.letters else _indefinite(field, members, values)
    return errors, warnings


def _indefinite(field: MatrixField, members: Sequence[Element], values: Mapping[str, float]) -> Iterable[Finding]:
    """A direction in which a matrix stores less than nothing, or gives power."""
    found = _symmetric_numbers(field.matrix, values)
    direction = None if found is None else _negative_direction(found)
    if found is None or direction is None:
        return
    stores, size = members[0].kind.role == "storage", _quadratic_form(found, direction)
    kinds = [member.kind for member in members]
    powers = [kind.domain.power(kind.side if stores else other_side(kind.side)) for kind in kinds]
    shown = _direction_in_words([power.letters[0] for power in powers], direction)
    if stores:
        what = f"the field '{field.name}' stores {size / 2:.4g} J at {shown}"
        fix = "check the entries beside the diagonal: the matrix is to be positive definite"
        yield rules.NEGATIVE_FIELD.finding(what, where=field.name, fix=fix, place=field.place)
    else:
        yield _gives_power(field, shown, -size)


def _gives_power(field: MatrixField, shown: str, power: float) -> Finding:
    what = f"the field '{field.name}' is active: it gives {power:.4g} W at {shown}"
    fix = "change signs if it is meant to dissipate"
    return rules.ACTIVE_FIELD.finding(what, where=field.name, fix=fix, place=field.place)


def _active_laws(field: MatrixField, members: Sequence[Element], values: Mapping[str, float]) -> Iterable[Finding]:
    """The worst of the sampled points, if it gives power."""
    laws = [member.law for member in members if member.law is not None]
    known = {name for law in laws for name in law.expression.free_symbols} - set(field.letters)
    if not known <= values.keys():
        return
    generator = random.Random(field.name)  # the same points for the same file
    # The share of the power that passes, so that large arguments do not outweigh small ones.
    worst: tuple[float, dict[str, float]] | None = None
    for _ in range(_SAMPLES):
        direction = [generator.uniform(-1, 1) for _ in laws]
        for size in _SIZES:
            at = {letter: size * x for letter, x in zip(field.letters, direction, strict=True)}
            shares = _powers([law.expression for law in laws], list(at.values()), {**values, **at})
            scale = sum(map(abs, shares))
            share = sum(shares) / scale if scale else 0.0
            if share < -_ROUNDING and (worst is None or share < worst[0]):
                worst = share, at
    if worst is not None:
        at = worst[1]
        power = -sum(_powers([law.expression for law in laws], list(at.values()), {**values, **at}))
        letters = argument_letters([m.kind for m in members], [law.gives for law in laws])
        shown = ", ".join(f"{letter} = {at[letter]:.3g}" for letter in letters)
        yield _gives_power(field, shown, power)


def _powers(laws: Sequence[Expression], told: Sequence[float], values: Mapping[str, float]) -> list[float]:
    """What each port takes; nothing where a law has no value."""
    try:
        found = [law.evaluate(values) * x for law, x in zip(laws, told, strict=True)]
    except (ArithmeticError, ValueError):
        return []
    return found if all(isinstance(x, float | int) for x in found) else []


def _symmetric_numbers(matrix: Sequence[Sequence[Expression]], values: Mapping[str, float]) -> Numbers | None:
    """The symmetric part of a matrix; None where a value is missing."""
    if any(not e.free_symbols <= values.keys() for row in matrix for e in row):
        return None
    try:
        found = [[float(e.evaluate(values)) for e in row] for row in matrix]
    except (ArithmeticError, ValueError, TypeError):
        return None
    n = range(len(found))
    return [[(found[i][j] + found[j][i]) / 2 for j in n] for i in n]


_Pivot = tuple[int, dict[int, float]]
"""An entry that was eliminated, and by how much of it each of those left was moved."""


def _negative_direction(S: Numbers) -> list[float] | None:
    """A direction x with x^T S x < 0 for a symmetric matrix that has one beyond rounding; None for others."""
    n = len(S)
    # Ones on the diagonal make entries in henry and in metres per newton comparable.
    scale = [abs(S[i][i]) ** 0.5 for i in range(n)]
    size = max(scale, default=0.0)
    scale = [x if x > 1e-12 * size else size or 1.0 for x in scale]
    rest = [[S[i][j] / scale[i] / scale[j] for j in range(n)] for i in range(n)]
    open_, pivots = list(range(n)), list[_Pivot]()
    while open_:
        # The largest pivot first: what is left over then tells the sign and no rounding.
        at = max(range(len(open_)), key=lambda i: rest[i][i])
        bad = next((i for i, row in enumerate(rest) if row[i] < -_ROUNDING), None)
        if bad is not None:
            return _direction({open_[bad]: 1.0}, pivots, scale)
        if rest[at][at] <= _ROUNDING:
            flat = _saddle(rest)
            return None if flat is None else _direction({open_[i]: x for i, x in flat.items()}, pivots, scale)
        k, row = open_.pop(at), rest.pop(at)
        largest = row.pop(at)
        for other in rest:
            ratio = other.pop(at) / largest
            if ratio:
                other[:] = [x - ratio * y for x, y in zip(other, row, strict=True)]
        pivots.append((k, {j: x / largest for j, x in zip(open_, row, strict=True) if x}))
    return None


def _saddle(rest: Numbers) -> dict[int, float] | None:
    """With nothing left on the diagonal, an entry beside it is negative in one of its two diagonals."""
    for a, row in enumerate(rest):
        for b in range(a + 1, len(row)):
            # Beside a zero on the diagonal any entry makes the form negative: 2 x y is, at x = -y.
            if abs(row[b]) > _ROUNDING**0.5:
                return {a: 1.0, b: -1.0 if row[b] > 0 else 1.0}
    return None


def _direction(left: Mapping[int, float], pivots: Sequence[_Pivot], scale: Sequence[float]) -> list[float]:
    """The direction with these entries in which all that was eliminated is at rest."""
    found = dict(left)
    for k, ratios in reversed(pivots):
        found[k] = -sum(x * ratios[j] for j, x in found.items() if j in ratios)
    return _unit_direction([found.get(i, 0.0) / scale[i] for i in range(len(scale))])


def _unit_direction(x: Sequence[float]) -> list[float]:
    largest = max(map(abs, x))
    return [v / largest for v in x]


def _quadratic_form(S: Numbers, x: Sequence[float]) -> float:
    return sum(S[i][j] * x[i] * x[j] for i in range(len(x)) for j in range(len(x)))


def _direction_in_words(letters: Sequence[str], direction: Sequence[float]) -> str:
    pairs = zip(letters, direction, strict=True)
    return ", ".join(f"{letter}_{k} = {x:.3g}" for k, (letter, x) in enumerate(pairs, 1) if abs(x) > 1e-6)
