"""Entries of symbolic elimination: an expression, and its residues so that zero is recognised without simplifying.

An expanded entry of a resistive mesh has as many terms as the mesh has trees. So an entry that grows longer than a line gets a
name, and elimination goes on with the name; the names are listed under "where".
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, final

from tellegen.core.names import identifier
from tellegen.expressions.canonical import symbol
from tellegen.expressions.elimination import UNWELCOME
from tellegen.expressions.nodes import PRIME, Expression, Number

LONGEST = 24
"""Entries with more leaves than this get a name."""


Residues = tuple[int, int, int]
"""Values modulo the prime: at two random points, and with the given parameters."""


class Entry(NamedTuple):
    """A matrix entry: expression, residues, and roughly how many leaves it has."""

    expression: Expression
    residues: Residues
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


class TooManyNamesError(Exception):
    """More entries would need a name than was allowed."""


@final
class NamedEntries:
    """The arithmetic of entries. `where` collects the names given, in order of definition; with `most`, no more than so many.

    An entry is zero when it vanishes at both random points. One that only vanishes with the given parameters (zero friction) is
    kept, but taken as a pivot last, so that nothing is divided by it.
    """

    def __init__(
        self,
        parameters: Mapping[str, Expression | None],
        taken: Iterable[str] = (),
        prefix: str = "c",
        most: int | None = None,
    ) -> None:
        self.where: dict[str, Expression] = {}
        self._most = most
        self._given = {name: value for name, value in parameters.items() if value is not None}
        self._taken = {identifier(name) for name in (*parameters, *taken)}
        self._prefix = prefix
        self._count = 0
        self._named: dict[Expression, Expression] = {}
        self._entries: dict[Expression, Entry] = {}

    def entry(self, expression: Expression) -> Entry:
        """An entry for an expression of parameters, which may hold names given here: they count as what they stand for."""
        found = self._entries.get(expression)
        if found is None:
            found = self._entries[expression] = Entry(expression, self._residues(expression), _size(expression))
        return found

    def _residues(self, expression: Expression) -> Residues:
        written = substituted(expression, self.where)
        generic = written.residues()
        if generic is None:
            raise ZeroDivisionError("an expression has a pole at a random point")
        given = substituted(written, self._given).residues()
        return (*generic, generic[0] if given is None else given[0])

    def is_zero(self, a: Entry) -> bool:
        """Whether the entry vanishes at both random points."""
        return a.residues[0] == 0 and a.residues[1] == 0

    def cost(self, a: Entry) -> int:
        """Signs first, then short expressions, so that denominators stay short; what is zero with the given values last."""
        return a.size if a.residues[2] else a.size + UNWELCOME

    def quotient(self, a: Entry, b: Entry) -> Entry:
        """The quotient of entries."""
        p, q = a.residues, b.residues
        residues = (
            p[0] * pow(q[0], -1, PRIME) % PRIME,
            p[1] * pow(q[1], -1, PRIME) % PRIME,
            p[2] * pow(q[2] or 1, -1, PRIME) % PRIME,
        )
        return self._kept(a.expression / b.expression, residues, a.size + b.size)

    def minus_product(self, a: Entry | None, b: Entry, c: Entry) -> Entry:
        """The difference of an entry and a product."""
        p, q = b.residues, c.residues
        product = b.expression * c.expression
        if a is None:
            residues = (-p[0] * q[0] % PRIME, -p[1] * q[1] % PRIME, -p[2] * q[2] % PRIME)
            return self._kept(-product, residues, b.size + c.size)
        r = a.residues
        residues = ((r[0] - p[0] * q[0]) % PRIME, (r[1] - p[1] * q[1]) % PRIME, (r[2] - p[2] * q[2]) % PRIME)
        return self._kept(a.expression - product, residues, a.size + b.size + c.size)

    def _kept(self, expression: Expression, residues: Residues, size: int) -> Entry:
        if size > LONGEST and not (residues[0] == 0 and residues[1] == 0):
            size = leaves(expression)  # the estimate does not know what collected
            if size > LONGEST:
                return Entry(self._name(expression), residues, 1)
        return Entry(expression, residues, 0 if isinstance(expression, Number) else size)

    def named(self, expression: Expression) -> Expression:
        """The expression itself, or a name for it where it is longer than a line."""
        return self._name(expression) if leaves(expression) > LONGEST else expression

    def fresh(self, wanted: str) -> str:
        """The name, with underscores behind it until nothing else has it."""
        while identifier(wanted) in self._taken:
            wanted += "_"
        self._taken.add(identifier(wanted))
        return wanted

    def _name(self, expression: Expression) -> Expression:
        if expression not in self._named:
            if self._most is not None and len(self.where) >= self._most:
                raise TooManyNamesError
            self._count += 1
            while f"{self._prefix}_{self._count}" in self._taken:
                self._count += 1
            name = f"{self._prefix}_{self._count}"
            self.where[name] = expression
            self._named[expression] = symbol(name)
        return self._named[expression]


def _size(expression: Expression) -> int:
    return 0 if isinstance(expression, Number) else leaves(expression)


def substituted(expression: Expression, mapping: Mapping[str, Expression]) -> Expression:
    """The expression with names replaced that may stand for each other, until none is left."""
    while any(name in mapping for name in expression.free_symbols):
        expression = expression.substitute(mapping)
    return expression


def settled(where: Mapping[str, Expression]) -> dict[str, Expression]:
    """Definitions that each read earlier ones only, by what none of them defines: every name is replaced once."""
    found: dict[str, Expression] = {}
    for name, expression in where.items():
        found[name] = expression.substitute({n: found[n] for n in expression.free_symbols if n in found})
    return found


def used_names(expressions: Iterable[Expression], where: Mapping[str, Expression]) -> dict[str, int]:
    """How often each name of `where` occurs in the expressions and in the definitions they need."""
    uses: dict[str, int] = {}
    stack = list(expressions) if where else []
    while stack:
        for name in stack.pop().free_symbols:
            if name in where:
                if name not in uses:
                    stack.append(where[name])
                uses[name] = uses.get(name, 0) + 1
    return uses
