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
from collections.abc import Mapping as TypingMapping
from collections.abc import Sequence as TypingSequence
from dataclasses import dataclass
from typing import NamedTuple, final

from tellegen.core.domains import Domain, Side, other_side
from tellegen.core.errors import Finding
from tellegen.core.names import did_you_mean
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import ElementKind, kinds_of
from tellegen.expressions import ONE, ZERO, Expression, is_zero, number, symbol, to_text, total
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries, leaf_count, solve, with_definitions
from tellegen.expressions.polynomials import powers_of, sum_of_powers
from tellegen.expressions.simplification import shortened
from tellegen.model.dimensions import is_plain_factor, without_marks
from tellegen.model.laws import Law, MatrixField
from tellegen.model.model import Element
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import PendingCheck, ReadingContext
from tellegen.notations.network import rules
from tellegen.notations.quantities import NO_INDICES, parse_marked, read_quantity
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

Rows = tuple[tuple[Expression, ...], ...]
_SHORT = 48
_BY_MINORS = 3


def direct_kind(kind: ElementKind) -> ElementKind:
    """The kind of the same storage whose parameter multiplies: a compliance for a spring."""
    if not kind.inverse:
        return kind
    return next(k for k in kinds_of(kind.domain.name, "storage") if k.side == kind.side and not k.inverse)


def stiff_kind(kind: ElementKind) -> ElementKind:
    """The kind of the same storage whose parameter divides, where there is one: a spring for a compliance."""
    return next((k for k in kinds_of(kind.domain.name, "storage") if k.side == kind.side and k.inverse), kind)


def stiffness_dimension(row: ElementKind, column: ElementKind) -> Dimension:
    """What an entry is measured in: output over energy variable."""
    output = parse_unit(row.domain.power(row.side).unit).dimension
    return output.over(parse_unit(column.domain.energy(column.side).unit).dimension)


def by_stiffness(context: ReadingContext, key: Scalar, kinds: Sequence[ElementKind]) -> bool:
    """Whether the matrix of a field holds stiffnesses.

    Raises: DescriptionError (D470) for a field of both.
    """
    inverse = {kind.inverse for kind in kinds}
    if len(inverse) > 1:
        names = [kind.name for kind in kinds if kind.inverse]
        what = f"the matrix of '{key.text}' holds stiffnesses for {' and '.join(dict.fromkeys(names))} and the inverse for others"
        others = dict.fromkeys(direct_kind(kind).name for kind in kinds if kind.inverse)
        fix = f"write {' and '.join(others)} in their place, or springs everywhere"
        raise context.error(rules.NO_STIFFNESS, key, what, fix=fix, where=key.text)
    return inverse == {True}


def compliance_matrix(context: ReadingContext, key: Scalar, kinds: Sequence[ElementKind], matrix: Rows) -> Rows:
    """The inverse of a matrix of stiffnesses.

    Raises: DescriptionError (D470) where it is singular, naming the motion that no force resists.
    """
    n = len(matrix)
    field = NamedEntries({})
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in matrix]
    found, left = solve(rows, [{n + i: field.entry(ONE)} for i in range(n)], list(range(n)), field)
    if left:
        raise _singular(context, key, kinds, _free_motion(matrix))

    def entry(i: int, j: int) -> Expression:
        if n <= _BY_MINORS:  # the form of textbooks, and the one whose fractions cancel
            written = (-1) ** (i + j) * determinant(_minor(matrix, i, j)) / determinant(matrix)
        else:
            share = found.get(i, {}).get(n + j)
            written = ZERO if share is None else with_definitions(share.expression, field.where)
        return shortened(written) if leaf_count(written) <= _SHORT else written

    upper = {(i, j): entry(i, j) for i in range(n) for j in range(i, n)}  # symmetric to the letter
    return tuple(tuple(upper[min(i, j), max(i, j)] for j in range(n)) for i in range(n))


def determinant(matrix: Rows) -> Expression:
    """The determinant of a small matrix, by the minors of its first row."""
    if not matrix:
        return ONE
    return total((-1) ** j * e * determinant(_minor(matrix, 0, j)) for j, e in enumerate(matrix[0]) if e is not ZERO)


def _minor(matrix: Rows, row: int, column: int) -> Rows:
    return tuple(tuple(e for j, e in enumerate(line) if j != column) for i, line in enumerate(matrix) if i != row)


def _free_motion(matrix: Rows) -> list[Expression]:
    """A direction in which a singular matrix gives nothing."""
    n = len(matrix)
    field = NamedEntries({})
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in matrix]
    elimination: Elimination[Entry] = Elimination(rows, field)
    free = elimination.eliminate_all(range(n))
    found = elimination.express(range(n))
    one = free[-1]
    motion = [found.get(k, {}).get(one) for k in range(n)]
    return [
        ONE if k == one else ZERO if e is None else with_definitions(e.expression, field.where)
        for k, e in enumerate(motion)
    ]


def _singular(
    context: ReadingContext, key: Scalar, kinds: Sequence[ElementKind], motion: Sequence[Expression]
) -> Exception:
    moved = [(k, e) for k, e in enumerate(motion) if e is not ZERO]
    letters = {k: kinds[k].domain.energy(kinds[k].side).letters[0] for k, _ in moved}
    shown = ", ".join(f"{letters[k]}_{k + 1} = {to_text(e)}" for k, e in moved)
    kind = kinds[moved[0][0]]
    what = f"the matrix of '{key.text}' is singular: it gives no {kind.domain.power(kind.side).word} when {shown}"
    fix = f"describe what resists by fewer ports: a {kind.name} between two nodes feels only their difference"
    return context.error(rules.NO_STIFFNESS, key, what, fix=fix, where=key.text)


class _Left(NamedTuple):
    """What stands on the left of a law: a port and its variable; `right` begins at a column of the text."""

    port: int
    side: Side
    text: Scalar
    right: str
    column: int


def argument_letters(kinds: Sequence[ElementKind], given: Sequence[Side]) -> tuple[str, ...]:
    """The letters of what the laws are told, by port: `i_1` where the law of port 1 gives its voltage."""
    sides = [other_side(side) for side in given]
    return tuple(
        f"{kind.domain.power(side).letters[0]}_{k}" for k, (kind, side) in enumerate(zip(kinds, sides, strict=True), 1)
    )


def read_resistive_laws(
    context: ReadingContext, key: Scalar, kinds: Sequence[ElementKind], node: Node
) -> tuple[tuple[str, ...], tuple[Law, ...]]:
    """The letters of the arguments and the law of each port.

    Raises: DescriptionError where a port has no law or two, or a law reads what another law gives.
    """
    lefts = _lefts(context, key, kinds, node)
    given = [lefts[k].side for k in range(len(kinds))]
    letters = argument_letters(kinds, given)
    laws = [_law(context, key, kinds, given, letters, lefts[k]) for k in range(len(kinds))]
    return letters, tuple(laws)


def _lefts(context: ReadingContext, key: Scalar, kinds: Sequence[ElementKind], node: Node) -> dict[int, _Left]:
    names = power_letters(kinds)
    found: dict[int, _Left] = {}
    for text in context.texts(node, f"the laws of {key.text}"):
        left, equals, right = text.text.partition("=")
        place = names.get(left.strip()) if equals else None
        if place is None:
            firsts = [f"{kind.domain.power(kind.side).letters[0]}_{k}" for k, kind in enumerate(kinds, 1)]
            fix = did_you_mean(left.strip(), names) or f"write a law for each of {', '.join(firsts)}"
            what = f"'{text.text}' is no law of a port of {key.text}"
            raise context.error(rules.BAD_LAW, text, what, fix=fix, where=key.text)
        port, side = place
        if port in found:
            what = f"port {port + 1} of '{key.text}' has two laws"
            raise context.error(rules.BAD_LAW, text, what, fix="keep one of them", where=key.text)
        found[port] = _Left(port, side, text, right, len(left) + 1)
    missing = [k for k in range(len(kinds)) if k not in found]
    if missing:
        wanted = f"{kinds[missing[0]].domain.power(kinds[missing[0]].side).letters[0]}_{missing[0] + 1}"
        what = f"the field '{key.text}' has no law for its port {missing[0] + 1}"
        raise context.error(rules.BAD_LAW, node, what, fix=f"add '{wanted} = ...'", where=key.text)
    return found


def power_letters(kinds: Sequence[ElementKind]) -> dict[str, tuple[int, Side]]:
    """Every letter of a power variable with the number of its port."""
    sides: tuple[Side, Side] = ("across", "through")
    return {
        f"{letter}_{k + 1}": (k, side)
        for k, kind in enumerate(kinds)
        for side in sides
        for letter in kind.domain.power(side).letters
    }


def _law(
    context: ReadingContext,
    key: Scalar,
    kinds: Sequence[ElementKind],
    given: Sequence[Side],
    letters: Sequence[str],
    left: _Left,
) -> Law:
    names = power_letters(kinds)
    marked = parse_marked(left.right, context.text_place(left.text, left.column))
    written = without_marks(marked)
    for name in sorted(written.free_symbols & names.keys()):
        port, side = names[name]
        if side == given[port] and name not in context.parameters:
            what = f"the law '{left.text.text}' reads '{name}', which another law of '{key.text}' gives"
            if port == left.port:
                what = f"the law '{left.text.text}' reads what it gives"
            raise context.error(rules.BAD_LAW, left.text, what, fix=f"use '{letters[port]}'", where=key.text)
    told = {name: place for name, place in names.items() if place[1] != given[place[0]]}
    units = {name: _unit(kinds[port], side) for name, (port, side) in told.items()}
    wanted = _unit(kinds[left.port], left.side)
    subject, text = f"the law of {key.text}", left.text
    context.pending.append(
        PendingCheck(marked, wanted, subject, lambda: context.text_place(text), units, is_plain_factor)
    )
    expression = written.substitute({name: symbol(letters[port]) for name, (port, _) in told.items()})
    own = f"{kinds[left.port].domain.power(left.side).letters[0]}_{left.port + 1}"
    return Law("resistive", letters[left.port], expression, left.side, f"{own} = {to_text(expression)}")


def _unit(kind: ElementKind, side: Side) -> Dimension:
    return parse_unit(kind.domain.power(side).unit).dimension


MATRIX = "matrix"
ENERGY = "energy"
LAWS = "law"
ROW, COLUMN = "row", "column"
JOULE = parse_unit("J").dimension


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


# -- matrices ------------------------------------------------------------------------------------------------------------------


def read_matrix(context: ReadingContext, key: Scalar, node: Node | None, rows: int, columns: int) -> list[list[Scalar]]:
    """The texts of a matrix of a given shape.

    Raises: DescriptionError saying which shape was found.
    """
    found = (
        [list(row) if isinstance(row, SequenceNode) else [] for row in node] if isinstance(node, SequenceNode) else []
    )
    wide = {len(row) for row in found}
    if len(found) != rows or wide != {columns}:
        shape = f"{len(found)} by {wide.pop()}" if len(wide) == 1 else "no table of rows of one length"
        what = f"the matrix of '{key.text}' is {shape}, not {rows} by {columns}"
        fix = (
            f"write {rows} row{'s' * (rows > 1)} of {columns}, as in '[[{', '.join(['...'] * min(columns, 3))}], ...]'"
        )
        raise context.error(notations_rules.WRONG_SHAPE, node or key, what, fix=fix, where=key.text)
    return [[context.scalar(entry, f"an entry of {key.text}") for entry in row] for row in found]


def read_entry(
    context: ReadingContext, text: Scalar, unit: Dimension, key: Scalar, counters: TypingMapping[str, int] = NO_INDICES
) -> Expression:
    """An entry of a matrix; its dimension is checked now, or when all parameters are known."""
    reading = read_quantity(text.text, lambda: context.text_place(text), counters)
    subject = f"an entry of {key.text}"
    if reading.marked is not None:
        context.pending.append(PendingCheck(reading.marked, unit, subject, lambda: context.text_place(text), {}))
    elif reading.dimension is not None and reading.dimension != unit:
        context.add_errors([context.wrong_dimension(subject, reading.dimension, unit, context.place(text))])
    return reading.expression


def field_matrix(
    context: ReadingContext, key: Scalar, kinds: TypingSequence[ElementKind], node: Node | None
) -> FieldLaw:
    """The law of a field given by a matrix, or by one formula of `row` and `column`, which count its ports from 1.

    Raises: DescriptionError when it is not square, or not symmetric although its members store energy.
    """
    count = len(kinds)
    stiff = by_stiffness(context, key, kinds)
    dimension = stiffness_dimension if stiff else entry_dimension
    texts = [[node] * count] * count if isinstance(node, Scalar) else read_matrix(context, key, node, count, count)
    matrix = tuple(
        tuple(
            read_entry(context, text, dimension(kinds[i], kinds[j]), key, {ROW: i + 1, COLUMN: j + 1})
            for j, text in enumerate(row)
        )
        for i, row in enumerate(texts)
    )
    if kinds[0].role == "storage":
        for i, row in enumerate(matrix):
            for j in range(i):
                if not is_zero(row[j] - matrix[j][i]):
                    at = f"its entries ({i + 1},{j + 1}) and ({j + 1},{i + 1}) differ"
                    _refuse_unsymmetric(context, key, at, "give a symmetric matrix")
    if stiff:
        return FieldLaw(compliance_matrix(context, key, kinds, matrix), stiffness=matrix)
    return FieldLaw(matrix)


def _refuse_unsymmetric(context: ReadingContext, key: Scalar, what: str, fix: str) -> None:
    what = f"the field '{key.text}' is not conservative: {what}"
    raise context.error(rules.NOT_CONSERVATIVE, key, what, fix=fix, where=key.text)


def entry_dimension(row: ElementKind, column: ElementKind) -> Dimension:
    """What an entry is measured in: energy variable over output, or the variable that a law gives over the other one."""
    if row.role == "storage":
        return _dimension(row.domain.energy(row.side).unit).over(_power(column.domain, column.side))
    return _power(row.domain, row.side).over(_power(column.domain, other_side(column.side)))


def _power(domain: Domain, side: Side) -> Dimension:
    return _dimension(domain.power(side).unit)


def _dimension(unit: str) -> Dimension:
    return parse_unit(unit).dimension


# -- energies ------------------------------------------------------------------------------------------------------------------


def energy_letters(kinds: TypingSequence[ElementKind]) -> tuple[str, ...]:
    """The letters that stand for the energy variables of the ports: `phi_1`, `x_2`."""
    return tuple(f"{kind.domain.energy(kind.side).letters[0]}_{k}" for k, kind in enumerate(kinds, 1))


def field_energy(context: ReadingContext, key: Scalar, kinds: TypingSequence[ElementKind], node: Node) -> FieldLaw:
    """The law of a field given by its energy, a formula of the energy variables of its ports."""
    text = context.formula(node, f"the energy of {key.text}")
    energy = _formula(context, key, kinds, text, text.text, 0, JOULE)
    return energy_law(kinds, energy)


def field_laws(context: ReadingContext, key: Scalar, kinds: TypingSequence[ElementKind], node: Node) -> FieldLaw:
    """The law of a field given by its outputs, one a port: `[i_1 = ..., F_2 = ...]`.

    Raises: DescriptionError when those of storages are not the derivatives of one energy.
    """
    if kinds[0].role == "resistive":
        return FieldLaw(_identity(len(kinds)), None, *read_resistive_laws(context, key, kinds, node))
    texts = context.texts(node, f"the laws of {key.text}")
    outputs: dict[int, Expression] = {}
    names = {f"{letter}_{k + 1}": k for k, kind in enumerate(kinds) for letter in _outputs(kind)}
    for text in texts:
        left, equals, right = text.text.partition("=")
        k = names.get(left.strip(), -1) if equals else -1
        if k < 0 or k in outputs:
            fix = did_you_mean(left.strip(), names) or f"write a law for each of {', '.join(_first_outputs(kinds))}"
            what = f"'{text.text}' is no law of a port of {key.text}" if k < 0 else f"'{left.strip()}' has two laws"
            raise context.error(rules.BAD_LAW, text, what, fix=fix, where=key.text)
        unit = _power(kinds[k].domain, kinds[k].side)
        outputs[k] = _formula(context, key, kinds, text, right, len(left) + 1, unit)
    if len(outputs) != len(kinds):
        missing = next(name for k, name in enumerate(_first_outputs(kinds)) if k not in outputs)
        what = f"the field '{key.text}' has no law for its port {missing.rpartition('_')[2]}"
        raise context.error(rules.BAD_LAW, node, what, fix=f"add '{missing} = ...'", where=key.text)
    return _integrated(context, key, kinds, [outputs[k] for k in range(len(kinds))])


def _outputs(kind: ElementKind) -> tuple[str, ...]:
    return kind.domain.power(kind.side).letters


def _numbered(kind: ElementKind, k: int) -> tuple[str, ...]:
    return tuple(f"{letter}_{k + 1}" for letter in kind.domain.energy(kind.side).letters)


def _first_outputs(kinds: TypingSequence[ElementKind]) -> list[str]:
    return [f"{_outputs(kind)[0]}_{k}" for k, kind in enumerate(kinds, 1)]


def _formula(
    context: ReadingContext,
    key: Scalar,
    kinds: TypingSequence[ElementKind],
    node: Scalar,
    text: str,
    at: int,
    unit: Dimension,
) -> Expression:
    """A formula of the energy variables, each under its first letter."""
    marked = parse_marked(text, context.text_place(node, at))
    letters = {name: (k, kind) for k, kind in enumerate(kinds) for name in _numbered(kind, k)}
    units = {name: _dimension(kind.domain.energy(kind.side).unit) for name, (_, kind) in letters.items()}
    subject = f"the law of {key.text}"
    context.pending.append(
        PendingCheck(marked, unit, subject, lambda: context.text_place(node), units, is_plain_factor)
    )
    first = energy_letters(kinds)
    return without_marks(marked).substitute({name: symbol(first[k]) for name, (k, _) in letters.items()})


def _integrated(
    context: ReadingContext, key: Scalar, kinds: TypingSequence[ElementKind], outputs: TypingSequence[Expression]
) -> FieldLaw:
    """The energy whose derivatives the outputs are: integrated along one variable after the other."""
    letters = energy_letters(kinds)
    for i, output in enumerate(outputs):
        for j in range(i):
            if not is_zero(output.derivative(letters[j]) - outputs[j].derivative(letters[i])):
                names = _first_outputs(kinds)
                at = f"{names[i]} depends on {letters[j]} otherwise than {names[j]} on {letters[i]}"
                _refuse_unsymmetric(context, key, at, "give the energy, or laws whose mixed derivatives agree")
    shares = []
    for k, output in enumerate(outputs):
        powers = powers_of(output.substitute(dict.fromkeys(letters[k + 1 :], ZERO)), letters[k])
        if powers is None or any(n <= -1 for n in powers):
            what = f"the energy of the field '{key.text}' does not follow from its laws in closed form"
            raise context.error(rules.BAD_LAW, key, what, fix="write 'energy: ...' instead of the laws", where=key.text)
        shares.append(sum_of_powers({n + 1: c / number(n + 1) for n, c in powers.items()}, letters[k]))
    return energy_law(kinds, total(shares))


def energy_law(kinds: TypingSequence[ElementKind], energy: Expression) -> FieldLaw:
    """The law of a field whose energy is a formula of `energy_letters`."""
    letters = energy_letters(kinds)
    names = _first_outputs(kinds)
    laws = []
    for kind, letter, name in zip(kinds, letters, names, strict=True):
        output = energy.derivative(letter)
        laws.append(Law("output", letter, output, kind.side, f"{name} = {to_text(output)}"))
    return FieldLaw(_identity(len(kinds)), energy, letters, tuple(laws))


def _identity(count: int) -> Rows:
    return tuple(tuple(ONE if i == j else ZERO for j in range(count)) for i in range(count))


def law_key(node: MappingNode) -> Scalar | None:
    """The key that says the law of a field: a matrix, an energy, or a list of laws."""
    for key, value in node.items():
        rows = isinstance(value, SequenceNode) and any(isinstance(row, SequenceNode) for row in value)
        if rows or key.text in (MATRIX, ENERGY) or (key.text == LAWS and isinstance(value, SequenceNode)):
            return key
    return None


_ROUNDING = 1e-9
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
            errors += _negative(field, members, values)
        elif members[0].kind.role == "resistive":
            warnings += _active_laws(field, members, values) if field.letters else _active(field, members, values)
    return errors, warnings


def _negative(field: MatrixField, members: Sequence[Element], values: Mapping[str, float]) -> Iterable[Finding]:
    found = _symmetric_numbers(field.matrix, values)
    direction = None if found is None else negative_direction(found)
    if found is not None and direction is not None:
        shown = _direction_in_words([m.kind.domain.power(m.kind.side).letters[0] for m in members], direction)
        what = f"the field '{field.name}' stores {_quadratic_form(found, direction) / 2:.4g} J at {shown}"
        fix = "check the entries beside the diagonal: the matrix is to be positive definite"
        yield rules.NEGATIVE_FIELD.finding(what, where=field.name, fix=fix, place=field.place)


def _active(field: MatrixField, members: Sequence[Element], values: Mapping[str, float]) -> Iterable[Finding]:
    found = _symmetric_numbers(field.matrix, values)
    direction = None if found is None else negative_direction(found)
    if found is not None and direction is not None:
        letters = [m.kind.domain.power(other_side(m.kind.side)).letters[0] for m in members]
        yield _gives_power(field, _direction_in_words(letters, direction), -_quadratic_form(found, direction))


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


# -- numbers -------------------------------------------------------------------------------------------------------------------


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


def negative_direction(S: Numbers) -> list[float] | None:
    """A direction x with x^T S x < 0 for a symmetric matrix that has one beyond rounding; None for others."""
    n = len(S)
    scale = [abs(S[i][i]) ** 0.5 for i in range(n)]
    size = max(scale, default=0.0)
    scale = [x if x > 1e-12 * size else size or 1.0 for x in scale]
    rest = [[S[i][j] / scale[i] / scale[j] for j in range(n)] for i in range(n)]
    # rest = T^T S T, column k of T being the direction in which its k-th entry is measured
    T = [[float(i == j) / scale[i] for j in range(n)] for i in range(n)]
    open_ = list(range(n))
    while open_:
        k = max(open_, key=lambda i: rest[i][i])
        bad = next((i for i in open_ if rest[i][i] < -_ROUNDING), None)
        if bad is not None:
            return _unit_direction([row[bad] for row in T])
        if rest[k][k] <= _ROUNDING:
            return _saddle(rest, T, open_)
        open_.remove(k)
        for j in open_:
            ratio = rest[k][j] / rest[k][k]
            for i in open_:
                rest[i][j] -= rest[i][k] * ratio
            for row in T:
                row[j] -= row[k] * ratio
    return None


def _saddle(rest: Numbers, T: Numbers, open_: Sequence[int]) -> list[float] | None:
    """With nothing left on the diagonal, an entry beside it is negative in one of its two diagonals."""
    for a in open_:
        for b in open_:
            if a < b and abs(rest[a][b]) > _ROUNDING**0.5:
                sign = -1.0 if rest[a][b] > 0 else 1.0
                return _unit_direction([row[a] + sign * row[b] for row in T])
    return None


def _unit_direction(x: Sequence[float]) -> list[float]:
    largest = max(map(abs, x))
    return [v / largest for v in x]


def _quadratic_form(S: Numbers, x: Sequence[float]) -> float:
    return sum(S[i][j] * x[i] * x[j] for i in range(len(x)) for j in range(len(x)))


def _direction_in_words(letters: Sequence[str], direction: Sequence[float]) -> str:
    pairs = zip(letters, direction, strict=True)
    return ", ".join(f"{letter}_{k} = {x:.3g}" for k, (letter, x) in enumerate(pairs, 1) if abs(x) > 1e-6)
