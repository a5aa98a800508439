"""Repeated structure: a block of lines written once and copied for each value of its indices.

A template is read once; each copy then only puts its numbers in. 200 000 elements take about three seconds.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, TypeGuard, final

from tellegen.core.errors import TellegenError
from tellegen.core.units import is_unit
from tellegen.expressions import Expression, Mul, Number, Pow, Symbol, number, to_text
from tellegen.model.laws import Law
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import CopyIndices, NamePattern, NotWholeError, ReadingContext, name_at
from tellegen.notations.network import rules
from tellegen.notations.network.elements import (
    ElementLine,
    Indices,
    add_element,
    read_source_signal,
)
from tellegen.notations.network.keys import initial_dimension
from tellegen.notations.network.lines import read_line
from tellegen.notations.quantities import read_quantity
from tellegen.notations.yaml.document import MappingNode, Node, Scalar

MOST_ELEMENTS = 5_000_000
_RANGE = re.compile(r"(.+?)\.\.(.+)", re.DOTALL)


@final
class StructureCopy(NamedTuple):
    """One copy of a repeated structure: the indices around it, outer ones first, and their values."""

    indices: tuple[str, ...] = ()
    values: CopyIndices = ()

    def __str__(self) -> str:
        return ", ".join(f"{index} = {value}" for index, value in self.counters.items())

    @property
    def counters(self) -> dict[str, int]:
        """The values by index."""
        return dict(zip(self.indices, self.values, strict=True))

    def name(self, context: ReadingContext, node: Scalar, subject: str) -> str:
        """The name that a text gives in this copy."""
        return self._at(context, node, context.read_name(node, self.indices, subject))

    def node(self, context: ReadingContext, node: Scalar) -> str:
        """The node that a text names in this copy."""
        return self._at(context, node, context.read_node(node, self.indices))

    def _at(self, context: ReadingContext, node: Scalar, name: str | NamePattern) -> str:
        try:
            return name_at(name, self.values)
        except NotWholeError as problem:
            raise context.not_whole_error(node, problem, str(self)) from None


OUTSIDE = StructureCopy()
"""What stands in no repeated block."""


@final
@dataclass(slots=True)
class IndexRange:
    """`first..last` of one index, as expressions of the indices outside it."""

    index: str
    first: Expression
    last: Expression
    node: Scalar


@final
@dataclass(slots=True)
class RepeatedBlock:
    """A `repeat` with its lines, and blocks inside it."""

    key: Scalar
    indices: Indices  # those outside it as well
    ranges: list[IndexRange]
    lines: "list[ElementLine | RepeatedBlock]"


def is_block(node: Node) -> TypeGuard[MappingNode]:
    """Whether an entry is a repeated block and no single line."""
    return isinstance(node, MappingNode) and "repeat" in node


def read_block(context: ReadingContext, key: Scalar, node: MappingNode, outer: Indices) -> RepeatedBlock:
    """The block with its templates."""
    ranges, indices, inner = read_repeat(context, key, node, "network", outer)
    lines: list[ElementLine | RepeatedBlock] = []
    for name, value in context.mapping(inner, f"the network of {key.text}").items():
        with context.collecting():
            if is_block(value):
                lines.append(read_block(context, name, value, indices))
            else:
                lines.append(read_line(context, name, value, indices))
    return RepeatedBlock(key, indices, ranges, lines)


def read_repeat(
    context: ReadingContext, key: Scalar, node: MappingNode, section: str, outer: Indices, word: str = "block"
) -> tuple[list[IndexRange], Indices, Node]:
    """The ranges of a block of a section, the indices that its lines may use, and these lines."""
    context.check_keys(node, ("repeat", section), f"the repeated {word} {key.text}")
    ranges, indices = read_ranges(context, key, node, outer)
    inner = node.get(section)
    if inner is None:
        what = f"the repeated block {key.text} has no {section}"
        raise context.error(notations_rules.MISSING_KEY, node, what, fix=f"add '{section}: {{...}}'")
    return ranges, indices, inner


def read_ranges(
    context: ReadingContext, key: Scalar, node: MappingNode, outer: Indices, word: str = "repeat"
) -> tuple[list[IndexRange], Indices]:
    """The ranges of a `repeat`, and all indices that its lines may use."""
    repeat = context.mapping(node.values[node.position(word) or 0], f"the {word} of {key.text}")
    if not repeat.keys:
        what = f"the {word} of {key.text} has no index"
        raise context.error(rules.BAD_RANGE, node, what, fix=f"write '{word}: {{i: 1..10}}'")
    indices = outer
    ranges = []
    for index, text in repeat.items():
        _check_index(context, index, indices)
        ranges.append(_read_range(context, index, context.scalar(text, f"the range of {index.text}"), indices))
        indices = (*indices, index.text)
    return ranges, indices


def _check_index(context: ReadingContext, index: Scalar, outer: Indices) -> None:
    name = context.name(index, "an index")
    context.refuse_reserved(index, "an index")
    there = {"a parameter": name in context.parameters, "an outer index": name in outer, "a unit": is_unit(name)}
    for taken, is_taken in there.items():
        if is_taken:
            what = f"the index '{name}' has the name of {taken}"
            raise context.error(rules.SHADOWING_INDEX, index, what, fix="choose another name, such as 'i' or 'k'")


def _read_range(context: ReadingContext, index: Scalar, node: Scalar, outer: Indices) -> IndexRange:
    match = _RANGE.fullmatch(node.text)
    if match is None:
        what = f"the range of '{index.text}' is '{node.text}', not 'first..last'"
        raise context.error(rules.BAD_RANGE, node, what, fix=f"write '{index.text}: 1..10'")
    first, last = (context.integer_expression(node, text, outer) for text in match.groups())
    return IndexRange(index.text, first, last, node)


# Copies


def add_elements_of_block(
    context: ReadingContext,
    block: RepeatedBlock,
    outer: StructureCopy = OUTSIDE,
) -> None:
    """Add the elements of all copies."""
    templates = [
        (line, _Template(context, line, block.indices)) if isinstance(line, ElementLine) else (line, None)
        for line in block.lines
    ]
    broken: set[int] = set()  # one error a line is enough; its other copies would repeat it
    lines = sum(isinstance(line, ElementLine) for line in block.lines)
    for copy in copies_of(context, block.key, block.ranges, outer, lines):
        for position, (line, template) in enumerate(templates):
            if isinstance(line, RepeatedBlock):
                add_elements_of_block(context, line, copy)
            elif template is not None and position not in broken:
                try:
                    template.emit(copy)
                except TellegenError as error:
                    broken.add(position)
                    context.collect(error)


def copies_of(
    context: ReadingContext, key: Scalar, ranges: list[IndexRange], outer: StructureCopy, lines: int = 1
) -> Iterator[StructureCopy]:
    """Each copy of a block of so many lines, whose name is the key."""
    if not ranges:
        yield outer
        return
    head, rest = ranges[0], ranges[1:]
    first, last = (_whole(context, head, e, outer) for e in (head.first, head.last))
    # `1..0` is an empty block: a chain of n masses has n - 1 springs, for n = 1 too.
    if last < first - 1:
        what = f"the range of '{head.index}' runs backwards, from {first} to {last}"
        raise context.error(rules.BACKWARD_RANGE, head.node, what, fix=f"write '{last}..{first}'")
    # Each copy has an element at least, but in an empty block, so that ranges alone tell of too many before any is made.
    total = len(context.elements) + (last - first + 1) * _least_count(rest) * max(lines, 1)
    if total > MOST_ELEMENTS:
        what = f"the repeated block {key.text} leads to {total} elements or more"
        fix = f"keep the number of elements below {MOST_ELEMENTS}"
        raise rules.TOO_MANY.error(what, fix=fix, place=context.place(head.node))
    indices = (*outer.indices, head.index)
    for value in range(first, last + 1):
        yield from copies_of(context, key, rest, StructureCopy(indices, (*outer.values, value)), lines)


def _least_count(ranges: list[IndexRange]) -> int:
    """How many copies inner ranges make of each outer one, as far as their bounds are known before counting."""
    count = 1
    for inner in ranges:
        if isinstance(inner.first, Number) and isinstance(inner.last, Number):
            count *= max(1, int(inner.last.value - inner.first.value) + 1)
    return count


def _whole(context: ReadingContext, head: IndexRange, expression: Expression, outer: StructureCopy) -> int:
    value = expression.substitute(outer.counters)
    if not (isinstance(value, Number) and type(value.rational) is int):
        what = f"a bound of '{head.index}' is {value}, which is not a whole number"
        raise context.error(rules.BAD_RANGE, head.node, what, fix="ranges run over whole numbers")
    return value.rational


@final
class _Template:
    """A line made ready for copying."""

    def __init__(self, context: ReadingContext, line: ElementLine, indices: Indices) -> None:
        self.context, self.line, self.indices = context, line, indices
        # None where there is no value, or where it must be read again for each copy.
        self.value = None if line.value is None else _value_of_copy(line.value.expression, indices)
        self.initial = None if line.initial is None else _value_of_copy(line.initial.expression, indices)

    def emit(self, made: StructureCopy) -> None:
        line, copy = self.line, made.values
        try:
            name = name_at(line.name, copy)
            nodes = tuple([node if isinstance(node, str) else node.at(copy) for node in line.nodes])
            variables = (
                {side: name_at(chosen, copy) for side, chosen in line.variables.items()} if line.variables else {}
            )
            heat = None if line.heat is None else name_at(line.heat, copy)
        except NotWholeError as problem:
            raise self.context.not_whole_error(line.key, problem, str(made)) from None
        try:
            value = self.value(copy) if self.value else self._again(line, copy)
            initial = self.initial(copy) if self.initial else self._again(line, copy, initial=True)
            law = line.law and self._law(line.law, copy)
        except ZeroDivisionError:
            what = f"a value of {name} divides by zero"
            fix = "start the index elsewhere"
            raise self.context.error(notations_rules.DIVISION_BY_ZERO, line.key, what, fix=fix) from None
        modes = None if line.switching is None else line.switching.modes_of(name, line.key, copy)
        signal = None if line.signal_node is None else read_source_signal(self.context, line, name, made.counters)
        add_element(
            self.context,
            line,
            name,
            nodes,
            value=value,
            law=law,
            initial=initial,
            variables=variables,
            switching=modes,
            heat=heat,
            signal=signal,
            counters=made.counters,
        )

    def _again(self, line: ElementLine, copy: CopyIndices, *, initial: bool = False) -> Expression | None:
        """A value that uses names with indices, such as `R[i-1]`, is read again for each copy."""
        node = line.initial_node if initial else line.value_node
        if node is None or (not initial and (line.value is not None or line.law is not None)):
            return None
        quantity = line.form.kind.quantity
        word = "initial value" if initial else quantity.word if quantity else "value"
        wanted = initial_dimension(line.form, line.initial_content) if initial else line.form.dimension
        counters = dict(zip(self.indices, copy, strict=True))
        reading = read_quantity(node.text, lambda: self.context.text_place(node), counters)
        subject = f"the {word} of {name_at(line.name, copy)}"
        return self.context.settled(reading, wanted, subject, node).expression

    def _law(self, law: Law, copy: CopyIndices) -> Law:
        # The text of a law that depends on no index holds for every copy.
        if not any(index in law.expression.free_symbols for index in self.indices):
            return law
        expression = law.expression.substitute(dict(zip(self.indices, copy, strict=True)))
        left = law.text.partition("=")[0].strip() + " = " if "=" in law.text else ""
        return replace(law, expression=expression, text=left + to_text(expression))


def _value_of_copy(expression: Expression, indices: Indices) -> Callable[[CopyIndices], Expression]:
    """The expression as a function of the copy; products of powers of indices, the usual case, need no substitution."""
    used = [index for index in indices if index in expression.free_symbols]
    if not used:
        return lambda copy: expression
    powers = _monomial(expression, indices)
    if powers is None:
        return lambda copy: expression.substitute(dict(zip(indices, copy, strict=False)))
    factor, pairs = powers
    multiplied = [(position, power) for position, power in pairs if power > 0]
    divided = [(position, -power) for position, power in pairs if power < 0]

    def monomial(copy: CopyIndices) -> Expression:
        above, below = factor.numerator, factor.denominator
        for position, power in multiplied:
            above *= copy[position] ** power
        for position, power in divided:
            below *= copy[position] ** power
        return number(above if below == 1 else Fraction(above, below))

    return monomial


def _monomial(expression: Expression, indices: Indices) -> tuple[Fraction, list[tuple[int, int]]] | None:
    factors: list[tuple[Expression, object]]
    factor = Fraction(1)
    if isinstance(expression, Mul):
        factor, factors = Fraction(expression.coefficient), list(expression.factors)
    elif isinstance(expression, Pow) and isinstance(expression.exponent, Number):
        factors = [(expression.base, expression.exponent.rational)]
    else:
        factors = [(expression, 1)]
    pairs: list[tuple[int, int]] = []
    for base, power in factors:
        # Beyond such powers the values of copies would be numbers of thousands of digits.
        if not (isinstance(base, Symbol) and base.name in indices and type(power) is int and abs(power) <= 64):
            return None
        pairs.append((indices.index(base.name), power))
    return factor, pairs
