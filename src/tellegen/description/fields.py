"""Laws of fields: elements of several ports that store or lose energy, coupled by a matrix or by an energy of several variables.

A matrix gives energy variables by outputs (storages), or the variables that laws give by the others (resistive elements). An energy
is a formula of the energy variables, whose letters carry the number of the port: `phi_1^2*(x_0 + x_2)/(2*L_0)`. Springs are given
by their stiffnesses, and resistive elements may have a law for each port.
"""

from collections.abc import Mapping as TypingMapping
from collections.abc import Sequence as TypingSequence
from dataclasses import dataclass
from typing import final

from tellegen.core.domains import Domain, Side, other_side
from tellegen.core.names import did_you_mean
from tellegen.core.units import Dimension, parse_unit
from tellegen.description import law_rules, rules
from tellegen.description.context import Context, Pending
from tellegen.description.dimensions import is_plain_factor, without_marks
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.quantities import NO_INDICES, parse_marked, read_quantity
from tellegen.description.relations import Law
from tellegen.description.resistive_laws import read_resistive_laws
from tellegen.description.stiffness import by_stiffness, compliances, stiffness_dimension
from tellegen.elements import ElementKind
from tellegen.expressions import ONE, ZERO, Expression, is_zero, number, symbol, to_text, total
from tellegen.expressions.polynomial import powers_of, sum_of_powers

MATRIX = "matrix"
ENERGY = "energy"
LAWS = "law"
ROW, COLUMN = "row", "column"
JOULE = parse_unit("J").dimension
Rows = tuple[tuple[Expression, ...], ...]


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


def read_matrix(context: Context, key: Scalar, node: Node | None, rows: int, columns: int) -> list[list[Scalar]]:
    """The texts of a matrix of a given shape.

    Raises: DescriptionError saying which shape was found.
    """
    found = [list(row) if isinstance(row, Sequence) else [] for row in node] if isinstance(node, Sequence) else []
    wide = {len(row) for row in found}
    if len(found) != rows or wide != {columns}:
        shape = f"{len(found)} by {wide.pop()}" if len(wide) == 1 else "no table of rows of one length"
        what = f"the matrix of '{key.text}' is {shape}, not {rows} by {columns}"
        fix = (
            f"write {rows} row{'s' * (rows > 1)} of {columns}, as in '[[{', '.join(['...'] * min(columns, 3))}], ...]'"
        )
        raise context.error(rules.WRONG_SHAPE, node or key, what, fix=fix, where=key.text)
    return [[context.scalar(entry, f"an entry of {key.text}") for entry in row] for row in found]


def read_entry(
    context: Context, text: Scalar, unit: Dimension, key: Scalar, counters: TypingMapping[str, int] = NO_INDICES
) -> Expression:
    """An entry of a matrix; its dimension is checked now, or when all parameters are known."""
    reading = read_quantity(text.text, lambda: context.text_place(text), counters)
    subject = f"an entry of {key.text}"
    if reading.marked is not None:
        context.pending.append(Pending(reading.marked, unit, subject, lambda: context.text_place(text), {}))
    elif reading.dimension is not None and reading.dimension != unit:
        context.add_errors([context.wrong_dimension(subject, reading.dimension, unit, context.place(text))])
    return reading.expression


def field_matrix(context: Context, key: Scalar, kinds: TypingSequence[ElementKind], node: Node | None) -> FieldLaw:
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
        return FieldLaw(compliances(context, key, kinds, matrix), stiffness=matrix)
    return FieldLaw(matrix)


def _refuse_unsymmetric(context: Context, key: Scalar, what: str, fix: str) -> None:
    what = f"the field '{key.text}' is not conservative: {what}"
    raise context.error(law_rules.NOT_CONSERVATIVE, key, what, fix=fix, where=key.text)


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


def field_energy(context: Context, key: Scalar, kinds: TypingSequence[ElementKind], node: Node) -> FieldLaw:
    """The law of a field given by its energy, a formula of the energy variables of its ports."""
    text = context.formula(node, f"the energy of {key.text}")
    energy = _formula(context, key, kinds, text, text.text, 0, JOULE)
    return energy_law(kinds, energy)


def field_laws(context: Context, key: Scalar, kinds: TypingSequence[ElementKind], node: Node) -> FieldLaw:
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
            raise context.error(law_rules.BAD_LAW, text, what, fix=fix, where=key.text)
        unit = _power(kinds[k].domain, kinds[k].side)
        outputs[k] = _formula(context, key, kinds, text, right, len(left) + 1, unit)
    if len(outputs) != len(kinds):
        missing = next(name for k, name in enumerate(_first_outputs(kinds)) if k not in outputs)
        what = f"the field '{key.text}' has no law for its port {missing.rpartition('_')[2]}"
        raise context.error(law_rules.BAD_LAW, node, what, fix=f"add '{missing} = ...'", where=key.text)
    return _integrated(context, key, kinds, [outputs[k] for k in range(len(kinds))])


def _outputs(kind: ElementKind) -> tuple[str, ...]:
    return kind.domain.power(kind.side).letters


def _numbered(kind: ElementKind, k: int) -> tuple[str, ...]:
    return tuple(f"{letter}_{k + 1}" for letter in kind.domain.energy(kind.side).letters)


def _first_outputs(kinds: TypingSequence[ElementKind]) -> list[str]:
    return [f"{_outputs(kind)[0]}_{k}" for k, kind in enumerate(kinds, 1)]


def _formula(
    context: Context, key: Scalar, kinds: TypingSequence[ElementKind], node: Scalar, text: str, at: int, unit: Dimension
) -> Expression:
    """A formula of the energy variables, each under its first letter."""
    marked = parse_marked(text, context.text_place(node, at))
    letters = {name: (k, kind) for k, kind in enumerate(kinds) for name in _numbered(kind, k)}
    units = {name: _dimension(kind.domain.energy(kind.side).unit) for name, (_, kind) in letters.items()}
    subject = f"the law of {key.text}"
    context.pending.append(Pending(marked, unit, subject, lambda: context.text_place(node), units, is_plain_factor))
    first = energy_letters(kinds)
    return without_marks(marked).substitute({name: symbol(first[k]) for name, (k, _) in letters.items()})


def _integrated(
    context: Context, key: Scalar, kinds: TypingSequence[ElementKind], outputs: TypingSequence[Expression]
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
            raise context.error(
                law_rules.BAD_LAW, key, what, fix="write 'energy: ...' instead of the laws", where=key.text
            )
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


def law_key(node: Mapping) -> Scalar | None:
    """The key that says the law of a field: a matrix, an energy, or a list of laws."""
    for key, value in node.items():
        rows = isinstance(value, Sequence) and any(isinstance(row, Sequence) for row in value)
        if rows or key.text in (MATRIX, ENERGY) or (key.text == LAWS and isinstance(value, Sequence)):
            return key
    return None
