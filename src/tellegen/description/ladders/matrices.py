"""The matrices of a vector ladder: fields in elaboration blocks, and the K of connections."""

from collections.abc import Sequence

from tellegen.core.domains import Domain, Side, other_side
from tellegen.core.errors import Place
from tellegen.core.names import did_you_mean
from tellegen.core.units import Dimension, parse_unit
from tellegen.description import law_rules
from tellegen.description import rules as description_rules
from tellegen.description.context import Context, Pending
from tellegen.description.document import Scalar
from tellegen.description.document import Sequence as SequenceNode
from tellegen.description.fields import FieldLaw, field_laws
from tellegen.description.keys import variable_words
from tellegen.description.ladders import rules
from tellegen.description.ladders.blocks import NONE, Block, FieldItem, Way
from tellegen.description.ladders.letters import at_home, field_kind
from tellegen.description.model import Element
from tellegen.description.multiports import MULTIPORT
from tellegen.description.quantities import read_quantity
from tellegen.description.relations import MatrixField, Multiport
from tellegen.description.stiffness import by_stiffness, compliances, direct_kind, stiffness_dimension
from tellegen.elements import COUPLING_OF, ElementKind, connection
from tellegen.expressions import ONE, ZERO, Expression, is_zero

OUTPUTS = "outputs"
"""Names the variable that each member of a field gives, of whichever kind it is."""

Matrix = tuple[tuple[Expression, ...], ...]
Lanes = tuple[Sequence[Domain], Sequence[Side], Sequence[str]]
"""Domains, the related power variables and the nodes of the lanes on one side of a connection."""


def read_entry(context: Context, text: Scalar, wanted: Dimension, subject: str) -> Expression:
    """An entry of a matrix; its unit is checked, at the end of reading where it depends on parameters."""
    reading = read_quantity(text.text, lambda: context.text_place(text))

    def where() -> Place:
        return context.text_place(text)

    if reading.marked is not None:
        context.pending.append(Pending(reading.marked, wanted, subject, where, {}))
    elif reading.dimension is not None and reading.dimension != wanted:
        context.add_errors([context.wrong_dimension(subject, reading.dimension, wanted, context.place(text))])
    return reading.expression


def _unit(unit: str) -> Dimension:
    return parse_unit(unit).dimension


# -- fields --------------------------------------------------------------------------------------------------------------------


def emit_field(
    context: Context,
    item: FieldItem,
    domains: Sequence[Domain],
    ways: Sequence[Way],
    ends: Sequence[tuple[str, str]],
    variables: Sequence[dict[str, str]],
) -> None:
    """Add the elements of a field: one a lane, coupled by the matrix."""
    kinds = [_kind(context, item, domain, way) for domain, way in zip(domains, ways, strict=True)]
    if item.name.text in {field.name for field in context.fields} or item.name.text in context.elements:
        what = f"'{item.name.text}' is described twice"
        raise context.error(description_rules.DESCRIBED_TWICE, item.name, what, fix="rename one of them")
    law = _law(context, item, kinds)
    names = [dict(found) for found in variables]
    _chosen(context, item, kinds, names)
    starts, preferred = _initial(context, item, kinds), _preferred(context, item, kinds)
    members = []
    for lane, kind in enumerate(kinds):
        member = f"{item.name.text}[{lane + 1}]"
        for name in names[lane].values():
            _take_name(context, item, member, name)
        context.elements[member] = Element(
            member,
            direct_kind(kind),
            ends[lane],
            law.value(lane),
            law.laws[lane] if law.laws else None,
            names[lane],
            starts[lane],
            preferred[lane],
            place=context.place(item.name),
        )
        members.append(member)
    place = context.place(item.name)
    context.fields.append(
        MatrixField(item.name.text, tuple(members), law.matrix, place, law.energy, law.letters, law.stiffness)
    )


def _law(context: Context, item: FieldItem, kinds: list[ElementKind]) -> FieldLaw:
    if item.laws:
        first = item.laws[0]
        return field_laws(context, item.name, kinds, SequenceNode(item.laws, first.line, first.column, first.length))
    stiff = by_stiffness(context, item.name, kinds)
    dimension = stiffness_dimension if stiff else _coefficient
    matrix = tuple(
        tuple(
            read_entry(context, text, dimension(kinds[i], kinds[j]), f"an entry of {item.name.text}")
            for j, text in enumerate(row)
        )
        for i, row in enumerate(item.matrix)
    )
    if kinds[0].role == "storage":
        _check_symmetry(context, item, matrix)
    if stiff:
        return FieldLaw(compliances(context, item.name, kinds, matrix), stiffness=matrix)
    return FieldLaw(matrix)


def _kind(context: Context, item: FieldItem, domain: Domain, way: Way) -> ElementKind:
    kind = field_kind(item.word, domain, way)
    if kind is None:
        what = f"'{item.word}' stands for no field of {domain.name} elements"
        fix = f"'{item.word}' belongs to {at_home(item.word)}; write 'energy' or 'power' for lanes of several domains"
        raise context.error(rules.BAD_LETTER, item.name, what, fix=fix, where=item.name.text)
    return kind


def _coefficient(row: ElementKind, column: ElementKind) -> Dimension:
    """The dimension of an entry: stored variable over output, or what a law gives over what it is told."""
    if row.role == "storage":
        given = row.domain.energy(row.side).unit
        return _unit(given).over(_unit(column.domain.power(column.side).unit))
    return _unit(row.domain.power(row.side).unit).over(_unit(column.domain.power(other_side(column.side)).unit))


def _check_symmetry(context: Context, item: FieldItem, matrix: Matrix) -> None:
    for i, row in enumerate(matrix):
        for j in range(i):
            if not is_zero(row[j] - matrix[j][i]):
                pair = f"({i + 1},{j + 1}) and ({j + 1},{i + 1})"
                what = f"the field '{item.name.text}' is not conservative: its entries {pair} differ"
                raise context.error(
                    law_rules.NOT_CONSERVATIVE,
                    item.name,
                    what,
                    fix="give a symmetric matrix",
                    where=item.name.text,
                )


def _chosen(context: Context, item: FieldItem, kinds: list[ElementKind], names: list[dict[str, str]]) -> None:
    """The names that the item itself gives to power variables; they come before those of sections."""
    sides: tuple[Side, Side] = ("across", "through")
    words = {word: side for side in sides for kind in kinds for word in (*variable_words(kind.domain, side), side)}
    for word, texts in item.variables:
        if word not in words and word != OUTPUTS:
            known = ["matrix", "lanes", "initial", "causality", OUTPUTS, *words]
            key = Scalar(word, item.name.line, item.name.column, len(word), False)
            raise context.unknown_key(key, known, f"the field {item.name.text}")
        _check_count(context, item, texts, len(kinds), f"names of the {word}")
        for lane, text in enumerate(texts):
            side = kinds[lane].side if word == OUTPUTS else words[word]
            if text.text != NONE:
                names[lane][side] = context.name(text, "a variable")


def _initial(context: Context, item: FieldItem, kinds: list[ElementKind]) -> list[Expression | None]:
    if not item.initial:
        return [None] * len(kinds)
    _check_count(context, item, item.initial, len(kinds), "initial values")
    return [
        read_entry(context, text, _unit(kind.domain.power(kind.side).unit), f"an initial value of {item.name.text}")
        for text, kind in zip(item.initial, kinds, strict=True)
    ]


def _preferred(context: Context, item: FieldItem, kinds: list[ElementKind]) -> list[Side | None]:
    """What the members should decide, where causality has a choice: integral or derivative, or a power variable."""
    if not item.causality:
        return [None] * len(kinds)
    _check_count(context, item, item.causality, len(kinds), "words for causality")
    found: list[Side | None] = []
    for text, kind in zip(item.causality, kinds, strict=True):
        sides: dict[str, Side] = {"across": "across", "through": "through"}
        if kind.role == "storage":
            sides |= {"integral": kind.side, "derivative": other_side(kind.side)}
        if text.text not in sides:
            fix = did_you_mean(text.text, sides) or f"the words are {', '.join(sides)}"
            raise context.error(rules.BAD_BLOCK, text, f"'{text.text}' is no causality of '{item.name.text}'", fix=fix)
        found.append(sides[text.text])
    return found


def _check_count(context: Context, item: FieldItem, texts: Sequence[Scalar], count: int, what: str) -> None:
    if len(texts) != count:
        message = f"'{item.name.text}' has {len(texts)} {what}, not {count}"
        raise context.error(rules.WRONG_WIDTH, item.name, message, fix="give one for each lane", where=item.name.text)


def _take_name(context: Context, item: FieldItem, member: str, name: str) -> None:
    owner = context.variables.setdefault(name, member)
    if owner is not member:
        what = f"{owner} and {member} both name a variable '{name}'"
        raise context.error(
            description_rules.VARIABLE_TWICE, item.name, what, fix="choose another name", where=item.name.text
        )


# -- connections ---------------------------------------------------------------------------------------------------------------


def read_connection(context: Context, block: Block, left: Lanes, right: Lanes) -> Matrix:
    """The matrix K of a connection."""
    assert block.name is not None, "a connection has a name"
    subject = f"an entry of {block.name.text}"
    return tuple(
        tuple(
            read_entry(context, text, modulus_dimension((a, x), (b, y)), subject)
            for text, a, x in zip(row, left[0], left[1], strict=True)
        )
        for row, b, y in zip(block.matrix, right[0], right[1], strict=True)
    )


def modulus_dimension(one: tuple[Domain, Side], two: tuple[Domain, Side]) -> Dimension:
    """The dimension of K in x_2 = K x_1."""
    return _unit(two[0].power(two[1]).unit).over(_unit(one[0].power(one[1]).unit))


def emit_connection(context: Context, block: Block, left: Lanes, right: Lanes, K: Matrix) -> None:
    """Add the element of a connection by a matrix. Lanes that its zeros leave out are not among its ports."""
    assert block.name is not None, "a connection has a name"
    if block.name.text in context.elements:
        what = f"'{block.name.text}' is described twice"
        raise context.error(description_rules.DESCRIBED_TWICE, block.name, what, fix="rename one of them")
    rows = [i for i, row in enumerate(K) if not is_zero_row(row)]
    columns = [j for j in range(len(left[0])) if not is_zero_row([row[j] for row in K])]
    if not rows:
        what = f"the matrix of '{block.name.text}' is zero"
        raise context.error(rules.LOOSE_CONNECTION, block.name, what, fix="remove the connection and what is behind it")
    ports = [(left, j) for j in columns] + [(right, i) for i in rows]
    domains = tuple(side[0][k].name for side, k in ports)
    nodes = tuple(node for side, k in ports for node in (side[2][k], side[0][k].reference))
    kind = ElementKind(MULTIPORT, "coupling", domains, "passes power between several ports", "", coupling="transformer")
    relation = Multiport(
        tuple(range(len(columns))),
        tuple(range(len(columns), len(ports))),
        tuple(left[1][j] for j in columns),
        tuple(right[1][i] for i in rows),
        tuple(tuple(K[i][j] for j in columns) for i in rows),
    )
    context.elements[block.name.text] = Element(
        block.name.text, kind, nodes, None, multiport=relation, place=context.place(block.name)
    )


def is_zero_row(row: Sequence[Expression]) -> bool:
    """Whether all entries vanish."""
    return all(entry is ZERO or is_zero(entry) for entry in row)


def emit_link(context: Context, block: Block, name: str, domain: Domain, nodes: tuple[str, ...]) -> None:
    """Add the connection of modulus one that joins a side ladder in series."""
    coupling, reciprocal = COUPLING_OF["through", "through"]
    kind = connection((domain.name, domain.name), coupling, reciprocal=reciprocal)
    context.elements[name] = Element(name, kind, nodes, ONE, place=context.place(block.node))
