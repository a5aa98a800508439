"""Resistive fields by laws: each port gives one of its power variables as a formula of the other ones of all ports.

r: {resistor field: [a, gnd, b, gnd], law: [V_1 = R*i_1 + k*i_1*i_2^2, V_2 = R*i_2 + k*i_1^2*i_2]}
"""

from collections.abc import Sequence
from typing import NamedTuple

from tellegen.core.domains import Side, other_side
from tellegen.core.names import did_you_mean
from tellegen.core.units import Dimension, parse_unit
from tellegen.description import law_rules
from tellegen.description.context import Context, Pending
from tellegen.description.dimensions import is_plain_factor, without_marks
from tellegen.description.document import Node, Scalar
from tellegen.description.quantities import parse_marked
from tellegen.description.relations import Law
from tellegen.elements import ElementKind
from tellegen.expressions import symbol, to_text


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
    context: Context, key: Scalar, kinds: Sequence[ElementKind], node: Node
) -> tuple[tuple[str, ...], tuple[Law, ...]]:
    """The letters of the arguments and the law of each port.

    Raises: DescriptionError where a port has no law or two, or a law reads what another law gives.
    """
    lefts = _lefts(context, key, kinds, node)
    given = [lefts[k].side for k in range(len(kinds))]
    letters = argument_letters(kinds, given)
    laws = [_law(context, key, kinds, given, letters, lefts[k]) for k in range(len(kinds))]
    return letters, tuple(laws)


def _lefts(context: Context, key: Scalar, kinds: Sequence[ElementKind], node: Node) -> dict[int, _Left]:
    names = power_letters(kinds)
    found: dict[int, _Left] = {}
    for text in context.texts(node, f"the laws of {key.text}"):
        left, equals, right = text.text.partition("=")
        place = names.get(left.strip()) if equals else None
        if place is None:
            firsts = [f"{kind.domain.power(kind.side).letters[0]}_{k}" for k, kind in enumerate(kinds, 1)]
            fix = did_you_mean(left.strip(), names) or f"write a law for each of {', '.join(firsts)}"
            what = f"'{text.text}' is no law of a port of {key.text}"
            raise context.error(law_rules.BAD_LAW, text, what, fix=fix, where=key.text)
        port, side = place
        if port in found:
            what = f"port {port + 1} of '{key.text}' has two laws"
            raise context.error(law_rules.BAD_LAW, text, what, fix="keep one of them", where=key.text)
        found[port] = _Left(port, side, text, right, len(left) + 1)
    missing = [k for k in range(len(kinds)) if k not in found]
    if missing:
        wanted = f"{kinds[missing[0]].domain.power(kinds[missing[0]].side).letters[0]}_{missing[0] + 1}"
        what = f"the field '{key.text}' has no law for its port {missing[0] + 1}"
        raise context.error(law_rules.BAD_LAW, node, what, fix=f"add '{wanted} = ...'", where=key.text)
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
    context: Context,
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
            raise context.error(law_rules.BAD_LAW, left.text, what, fix=f"use '{letters[port]}'", where=key.text)
    told = {name: place for name, place in names.items() if place[1] != given[place[0]]}
    units = {name: _unit(kinds[port], side) for name, (port, side) in told.items()}
    wanted = _unit(kinds[left.port], left.side)
    subject, text = f"the law of {key.text}", left.text
    context.pending.append(Pending(marked, wanted, subject, lambda: context.text_place(text), units, is_plain_factor))
    expression = written.substitute({name: symbol(letters[port]) for name, (port, _) in told.items()})
    own = f"{kinds[left.port].domain.power(left.side).letters[0]}_{left.port + 1}"
    return Law("resistive", letters[left.port], expression, left.side, f"{own} = {to_text(expression)}")


def _unit(kind: ElementKind, side: Side) -> Dimension:
    return parse_unit(kind.domain.power(side).unit).dimension
