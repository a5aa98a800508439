"""Entries of symbolic elimination: an expression, and its residues so that zero is recognised without simplifying.

An expanded entry of a resistive mesh has as many terms as the mesh has trees. So an entry that grows longer than a line gets a
name, and elimination goes on with the name; the names are listed under "where".
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, final

from tellegen.expressions.canonical import symbol
from tellegen.expressions.nodes import PRIME, Expression, Number

LONGEST = 24
"""Entries with more leaves than this get a name."""


class Entry(NamedTuple):
    """A matrix entry: expression, residues at two random points, and roughly how many leaves it has."""

    expression: Expression
    first: int
    second: int
    size: int


def leaves(expression: Expression) -> int:
    """How many symbols and functions an expression has when written out, counted up to a little over LONGEST."""
    count, stack = 0, [expression]
    while stack and count <= 2 * LONGEST:
        node = stack.pop()
        if node.args:
            stack.extend(node.args)
        elif not isinstance(node, Number):
            count += 1
    return count


def entry(expression: Expression) -> Entry:
    """An entry for an expression over parameters."""
    residues = expression.residues()
    if residues is None:
        raise ZeroDivisionError("an expression has a pole at a random point")
    size = 0 if isinstance(expression, Number) else leaves(expression)
    return Entry(expression, *residues, size)


@final
class NamedEntries:
    """The arithmetic of entries. `where` collects the names given, in order of definition."""

    def __init__(self, taken: Iterable[str], prefix: str = "c") -> None:
        self.where: dict[str, Expression] = {}
        self._taken = set(taken)
        self._prefix = prefix
        self._count = 0
        self._named: dict[Expression, Expression] = {}

    def entry(self, expression: Expression) -> Entry:
        """An entry for an expression that may hold names given here: its residues are those of what the names stand for."""
        written = expression
        while any(name in self.where for name in written.free_symbols):
            written = written.substitute(self.where)
        return entry(written)._replace(expression=expression)

    def is_zero(self, a: Entry) -> bool:
        """Whether the entry vanishes at both random points."""
        return a.first == 0 and a.second == 0

    def cost(self, a: Entry) -> int:
        """Signs first, then short expressions, so that denominators stay short."""
        return a.size

    def quotient(self, a: Entry, b: Entry) -> Entry:
        """The quotient of entries."""
        first = a.first * pow(b.first, -1, PRIME) % PRIME
        second = a.second * pow(b.second, -1, PRIME) % PRIME
        return self._kept(a.expression / b.expression, first, second, a.size + b.size)

    def minus_product(self, a: Entry | None, b: Entry, c: Entry) -> Entry:
        """The difference of an entry and a product."""
        product = b.expression * c.expression
        if a is None:
            first, second = -b.first * c.first % PRIME, -b.second * c.second % PRIME
            return self._kept(-product, first, second, b.size + c.size)
        first = (a.first - b.first * c.first) % PRIME
        second = (a.second - b.second * c.second) % PRIME
        return self._kept(a.expression - product, first, second, a.size + b.size + c.size)

    def _kept(self, expression: Expression, first: int, second: int, size: int) -> Entry:
        if size > LONGEST and not (first == 0 and second == 0):
            size = leaves(expression)  # the estimate does not know what collected
            if size > LONGEST:
                return Entry(self._name(expression), first, second, 1)
        return Entry(expression, first, second, 0 if isinstance(expression, Number) else size)

    def _name(self, expression: Expression) -> Expression:
        if expression not in self._named:
            self._count += 1
            while f"{self._prefix}_{self._count}" in self._taken:
                self._count += 1
            name = f"{self._prefix}_{self._count}"
            self.where[name] = expression
            self._named[expression] = symbol(name)
        return self._named[expression]


def used_names(expressions: Iterable[Expression], where: Mapping[str, Expression]) -> dict[str, int]:
    """How often each name of `where` occurs in the expressions and in the definitions they need."""
    uses: dict[str, int] = {}
    stack = list(expressions)
    while stack:
        for name in stack.pop().free_symbols:
            if name in where:
                if name not in uses:
                    stack.append(where[name])
                uses[name] = uses.get(name, 0) + 1
    return uses
