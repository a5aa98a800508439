"""Transformers and gyrators with a matrix: f_b = K f_a for TF and e_b = K f_a for GY.

K has a row for each bond out and a column for each bond in; the conjugates run back by its transpose.
"""

from collections.abc import Sequence as TypingSequence

from tellegen.core.domains import Domain, Side
from tellegen.core.units import Dimension, parse_unit
from tellegen.description import rules as common_rules
from tellegen.description.bond_graphs.graph import Item, plain_kind
from tellegen.description.bond_graphs.network import End
from tellegen.description.bond_graphs.vectors import is_matrix
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.fields import Rows, read_entry, read_matrix
from tellegen.description.model import Element
from tellegen.description.multiports import MULTIPORT
from tellegen.description.relations import Multiport
from tellegen.elements import ElementKind
from tellegen.expressions import ZERO, Expression, symbol

PortVariable = tuple[Domain, Side]


def matrix_two_port(
    context: Context,
    item: Item,
    given: TypingSequence[Domain],
    gives: TypingSequence[Domain],
    ends: TypingSequence[End],
    details: Mapping | None,
) -> Element:
    """The connection of several ports that a two-port stands for; `ends` are those of its bonds in, then of its bonds out.

    Raises: DescriptionError when its matrix is missing or has another shape.
    """
    like = plain_kind(item.kind) == "TF"
    ports_in = [(domain, domain.flow) for domain in given]
    ports_out = [(domain, domain.flow if like else domain.effort) for domain in gives]
    relation = Multiport(
        tuple(range(len(given))),
        tuple(range(len(given), len(ends))),
        tuple(side for _, side in ports_in),
        tuple(side for _, side in ports_out),
        _modulus(context, item, ports_in, ports_out, details),
    )
    domains = tuple(domain.name for domain in (*given, *gives))
    summary = "passes power between several ports"
    kind = ElementKind(MULTIPORT, "coupling", domains, summary, "", coupling="transformer")
    nodes = tuple(node for end in ends for node in (end.plus, end.minus))
    return Element(item.name, kind, nodes, None, multiport=relation, place=item.place)


def _modulus(
    context: Context,
    item: Item,
    given: TypingSequence[PortVariable],
    gives: TypingSequence[PortVariable],
    details: Mapping | None,
) -> Rows:
    """The matrix that is given; one modulus for all components where both sides have one size."""
    for key in details.keys if details is not None else ():
        if key.text not in ("K", "value"):
            raise context.unknown_key(key, ("K",), f"the two-port {item.name}")
    value: Node | None = None if details is None or not details.keys else details.values[0]
    at = item.place
    key = Scalar(item.name, at.line if at else 1, at.column if at else 1, len(item.name), False)
    if value is not None and is_matrix(value):
        texts = read_matrix(context, key, value, len(gives), len(given))
        return tuple(
            tuple(read_entry(context, text, _unit(two, one), key) for one, text in zip(given, row, strict=True))
            for two, row in zip(gives, texts, strict=True)
        )
    if len(given) != len(gives):
        what = f"'{item.kind}:{item.name}' has {len(given)} bonds in and {len(gives)} out, and no matrix"
        shape = f"with {len(gives)} rows and {len(given)} columns"
        fix = f"write '{item.name}: {{K: [[...], ...]}}' under 'elements', {shape}"
        raise common_rules.MISSING_KEY.error(what, where=item.name, fix=fix, place=at)
    modulus = _common_modulus(context, item, value, _unit(gives[0], given[0]), key)
    count = range(len(gives))
    return tuple(tuple(modulus if i == j else ZERO for j in count) for i in count)


def _common_modulus(context: Context, item: Item, value: Node | None, unit: Dimension, key: Scalar) -> Expression:
    if value is not None:
        return read_entry(context, context.formula(value, f"the modulus of {item.name}"), unit, key)
    if item.name not in context.parameters:
        what = f"the modulus of '{item.name}' is not given"
        fix = f"add '{item.name}' to the parameters, or 'K' under 'elements'"
        raise common_rules.MISSING_KEY.error(what, where=item.name, fix=fix, place=item.place)
    return symbol(item.name)


def _unit(row: PortVariable, column: PortVariable) -> Dimension:
    units = [parse_unit(domain.power(side).unit).dimension for domain, side in (row, column)]
    return units[0].over(units[1])
