"""Sparse Gaussian elimination over any field: residues for yes-or-no questions, named expressions for readable results.

Rows are dictionaries from column to entry. The caller says in which order columns are eliminated, or leaves the order to least
fill. Eliminated columns can then be expressed by the remaining ones.

An expanded entry of a resistive mesh has as many terms as the mesh has trees. So an entry that grows longer than a line gets a
name, and elimination goes on with the name; the names are listed under "where".
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar, final

from tellegen.core.names import identifier
from tellegen.expressions.canonical import symbol
from tellegen.expressions.evaluation import is_rounding, residues_of_name
from tellegen.expressions.nodes import PRIME, Expression, Number
from tellegen.expressions.rules import DivisionByZeroError

T = TypeVar("T")

UNWELCOME = 1000
"""From this cost on an entry is taken as a pivot where nothing else is left: it is zero with the given values."""


class NumberField(Protocol[T]):
    """The arithmetic that elimination needs. `cost` ranks pivots: 0 for a plain sign, more for what makes results longer."""

    def is_zero(self, a: T) -> bool:
        """Whether an entry vanishes."""
        ...

    def cost(self, a: T) -> int:
        """How unwelcome the entry is as a pivot."""
        ...

    def quotient(self, a: T, b: T) -> T:
        """Return a / b."""
        ...

    def minus_product(self, a: T | None, b: T, c: T) -> T:
        """Return a - b*c, where None stands for zero."""
        ...


@final
class ResidueField:
    """Arithmetic modulo a prime: an entry is zero only by an accident of probability 1e-18."""

    def is_zero(self, a: int) -> bool:
        """Whether the residue is zero."""
        return a == 0

    def cost(self, a: int) -> int:
        """A sign is the cheapest pivot."""
        # Residues have no length, so all that a pivot can spare is the inverse modulo the prime.
        return 0 if a in (1, PRIME - 1) else 1

    def quotient(self, a: int, b: int) -> int:
        """The quotient of residues."""
        if b == 1:
            return a
        # Incidence matrices are full of signs, which need no inverse.
        if b == PRIME - 1:
            return -a % PRIME
        return a * pow(b, -1, PRIME) % PRIME

    def minus_product(self, a: int | None, b: int, c: int) -> int:
        """The difference of a residue and a product."""
        return ((a or 0) - b * c) % PRIME


class Elimination(Generic[T]):
    """A set of equations `sum of entries * columns = 0` in the course of being solved."""

    def __init__(self, rows: Iterable[Mapping[int, T]], field: NumberField[T]) -> None:
        self.rows: list[dict[int, T]] = [dict(row) for row in rows]
        self.field = field
        self.pivots: dict[int, int] = {}
        self._active = [True] * len(self.rows)
        self._users: dict[int, set[int]] = {}
        for r, row in enumerate(self.rows):
            for column in row:
                self._users.setdefault(column, set()).add(r)

    def eliminate(self, column: int) -> bool:
        """Solve one equation for `column`; False when it depends on the columns eliminated before."""
        candidates = self._users.get(column)
        if not candidates:
            return False
        rows, cost = self.rows, self.field.cost
        # Markowitz's count by rows: the cheapest entry, then the row that fills others least; by number last, so that runs agree.
        pivot = min(candidates, key=lambda r: (cost(rows[r][column]), len(rows[r]), r))
        self._clear(column, pivot)
        self.pivots[column] = pivot
        return True

    def eliminate_diagonal(self, columns: Sequence[int]) -> None:
        """Solve equation k for the k-th of `columns`, in an order of least fill.

        For a definite matrix: no pivot vanishes then, whatever the symbols in it stand for, while an entry beside the diagonal may.
        """
        equations = {column: k for k, column in enumerate(columns)}
        # Beside the diagonal a short entry such as J*w_1*w_2 would be chosen, which vanishes at rest (decision 014).
        for column in sorted(columns, key=lambda c: len(self._users.get(c, ()))):
            self._clear(column, equations[column])
            self.pivots[column] = equations[column]

    def eliminate_all(self, columns: Iterable[int]) -> list[int]:
        """Eliminate columns in an order of least fill; returns those that depend on the others."""
        users = self._users
        queue = [(len(users.get(c, ())), c) for c in columns]
        heapq.heapify(queue)
        dependent = []
        while queue:
            count, column = heapq.heappop(queue)
            now = len(users.get(column, ()))
            # Counts only grow worse between two looks, so a stale one is put back rather than kept up to date at every step.
            if now > count:  # fill has made it more expensive since it was queued
                heapq.heappush(queue, (now, column))
            elif not self.eliminate(column):
                dependent.append(column)
        return dependent

    def propagate(self, columns: Iterable[int], allowed: Callable[[T], bool]) -> list[int]:
        """Eliminate columns by equations that have one of them only, as long as there are such; returns the others.

        Only entries that are `allowed` become pivots. The columns follow one another as effects follow causes, so nothing is
        divided by what vanishes for a moment: in a mechanism, by a lever that is at a right angle.
        """
        unknown = dict.fromkeys(columns)
        counts = {r: sum(c in unknown for c in row) for r, row in enumerate(self.rows) if self._active[r]}
        # Like following causes to effects: an equation with one unknown left decides it.
        ready = [r for r, count in counts.items() if count == 1]
        while ready:
            r = ready.pop()
            column = next((c for c in self.rows[r] if c in unknown), None)
            # The one unknown may have been solved by another equation since the row was queued.
            if not self._active[r] or column is None or not allowed(self.rows[r][column]):
                continue
            users = [other for other in self._users[column] if other != r]
            self._clear(column, r)
            self.pivots[column] = r
            del unknown[column]
            for other in users:
                counts[other] -= 1
                if counts[other] == 1:
                    ready.append(other)
        return list(unknown)

    def tear(self, columns: Iterable[int], candidates: Iterable[int], allowed: Callable[[T], bool]) -> list[int]:
        """Eliminate columns along the paths that lead to them; where a ring stops that, a candidate is taken as known for now.

        What is left at the end are equations between such candidates alone, and they are eliminated last. Returns them in the order
        in which that was done.
        """
        # Tearing (Kron): what cannot be followed is taken as known, and the ring that closes gives the equation for it.
        unknown = self.propagate(columns, allowed)
        torn: list[int] = []
        for column in candidates:
            if not unknown:
                break
            if column in unknown:
                torn.append(column)
                unknown.remove(column)
                unknown = self.propagate(unknown, allowed)
        self.eliminate_all(unknown)
        # Torn columns come last: their equations hold what is left of the rings, and are solved together.
        before = len(self.pivots)
        self.eliminate_all(self.propagate(torn, lambda entry: self.field.cost(entry) < UNWELCOME))
        return list(self.pivots)[before:]

    def _clear(self, column: int, pivot: int) -> None:
        """Remove the pivot row from the active ones, and the column from the others."""
        row = self.rows[pivot]
        users = self._users
        for c in row:
            users[c].discard(pivot)
        self._active[pivot] = False
        value = row[column]
        rest = [(c, entry) for c, entry in row.items() if c != column]
        for r in users.pop(column):
            self._subtract(r, self.rows[r].pop(column), value, rest)

    def _subtract(self, r: int, entry: T, value: T, rest: list[tuple[int, T]]) -> None:
        field, row, users = self.field, self.rows[r], self._users
        factor = field.quotient(entry, value)
        for c, other in rest:
            before = row.get(c)
            after = field.minus_product(before, factor, other)
            # Entries that cancel are dropped at once. Kept, they would be taken for fill, and later for pivots.
            if field.is_zero(after):
                if before is not None:
                    del row[c]
                    users[c].discard(r)
            else:
                row[c] = after
                if before is None:
                    users[c].add(r)

    def express(self, columns: Iterable[int]) -> dict[int, dict[int, T]]:
        """Eliminated columns in terms of the columns never eliminated: column = sum of entries * free columns."""
        order = {column: k for k, column in enumerate(self.pivots)}
        wanted = self._reached(columns, order)
        found: dict[int, dict[int, T]] = {}
        # Backwards: what was eliminated last reads free columns alone, and those before it read it.
        for column in sorted(wanted, key=order.__getitem__, reverse=True):
            found[column] = self._express_one(column, found)
        return found

    def _reached(self, columns: Iterable[int], order: Mapping[int, int]) -> set[int]:
        reached: set[int] = set()
        stack = [c for c in columns if c in order]
        while stack:
            column = stack.pop()
            if column not in reached:
                reached.add(column)
                stack.extend(c for c in self.rows[self.pivots[column]] if c in order and c not in reached)
        return reached

    def _express_one(self, column: int, found: Mapping[int, Mapping[int, T]]) -> dict[int, T]:
        field = self.field
        row = self.rows[self.pivots[column]]
        value = row[column]
        total: dict[int, T] = {}
        for c, entry in row.items():
            if c == column:
                continue
            factor = field.quotient(entry, value)
            if c in found:
                for free, coefficient in found[c].items():
                    total[free] = field.minus_product(total.get(free), factor, coefficient)
            else:
                total[c] = field.minus_product(total.get(c), factor, _one(field, value))
        return {c: entry for c, entry in total.items() if not field.is_zero(entry)}


def _one(field: NumberField[T], nonzero: T) -> T:
    return field.quotient(nonzero, nonzero)


def solve(
    matrix: Sequence[Mapping[int, T]], right: Sequence[Mapping[int, T]], unknowns: Sequence[int], field: NumberField[T]
) -> tuple[dict[int, dict[int, T]], list[int]]:
    """Solve `matrix * unknowns = right` row by row: each unknown by the columns of `right`, and the unknowns left undetermined."""
    elimination = Elimination(_equations(matrix, right, field), field)
    undetermined = elimination.eliminate_all(unknowns)
    return elimination.express(unknowns), undetermined


def solve_definite(
    matrix: Sequence[Mapping[int, T]], right: Sequence[Mapping[int, T]], unknowns: Sequence[int], field: NumberField[T]
) -> dict[int, dict[int, T]]:
    """The same for a definite matrix, by pivots on its diagonal."""
    elimination = Elimination(_equations(matrix, right, field), field)
    elimination.eliminate_diagonal(unknowns)
    return elimination.express(unknowns)


def _equations(
    matrix: Sequence[Mapping[int, T]], right: Sequence[Mapping[int, T]], field: NumberField[T]
) -> Iterator[dict[int, T]]:
    for left, known in zip(matrix, right, strict=True):
        row = dict(left)
        for column, entry in known.items():
            # A hidden zero on the right would make an unknown depend on what it does not.
            if not field.is_zero(entry):  # terms that cancel may not be seen to
                row[column] = field.minus_product(None, _one(field, entry), entry)
        yield row


ROUNDING = 1e-9
"""An entry smaller than this beside what it was added up from is no pivot: what it is divided into would lose as many digits."""
LONGEST = 24
"""Entries with more leaves than this get a name."""


ResiduePair = tuple[int, int, int]
"""Values modulo the prime: at two random points, and with the given parameters."""


class Entry(NamedTuple):
    """A matrix entry: expression, residues, and roughly how many leaves it has."""

    expression: Expression
    residues: ResiduePair
    size: int
    measure: tuple[float, float] = (1.0, 1.0)
    """Its value where entries are measured, and how large what it was added up from is."""


def leaf_count(expression: Expression) -> int:
    """How many symbols and functions an expression has when written out, counted up to a little over LONGEST."""
    count, stack = 0, [expression]
    # Beyond that it is long, however long: counting a huge shared formula leaf by leaf would take for ever.
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
    kept, but taken as a pivot last, so that nothing is divided by it. So is one of numbers that is rounding of zero: with `at`,
    numbers for all names, entries are measured there, with what they were added up from.
    """

    def __init__(
        self,
        parameters: Mapping[str, Expression | None],
        taken: Iterable[str] = (),
        prefix: str = "c",
        most: int | None = None,
        at: Mapping[str, float] | None = None,
    ) -> None:
        self.where: dict[str, Expression] = {}
        self.at = at
        self._most = most
        self._given = {name: value for name, value in parameters.items() if value is not None}
        self._values: dict[str, Expression] = {}
        # As identifiers: x[1] and x_1 are two names here and one in a program.
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

    def _residues(self, expression: Expression) -> ResiduePair:
        written = with_definitions(expression, self.where)
        # Over the definitions, not over the names: c_3 at a random point of its own would hide that it is zero.
        generic = written.residues()
        if generic is None:
            raise DivisionByZeroError("an expression has a pole at a random point")
        # Where the given values put a pole, they say nothing about a zero.
        try:
            valued = self._with_values(written)
        except ZeroDivisionError:  # seen already when numbers take the place of names
            return (*generic, generic[0])
        given = valued.residues()
        return (*generic, 0 if is_rounding(valued) else generic[0] if given is None else given[0])

    def _with_values(self, expression: Expression) -> Expression:
        """The expression with the given values, which at the first random point has the residue of these, however long they are."""
        names = [name for name in expression.free_symbols if name in self._given]
        self._resolve(names)
        try:
            return expression.substitute({name: self._values[name] for name in names})
        except OverflowError:  # exact, they would fill the memory
            return expression.substitute({name: _moved(name, self._values[name]) for name in names})

    def _resolve(self, names: Iterable[str]) -> None:
        """Keep the values of names and of those that they follow from, each worked out once."""
        stack = list(names)
        while stack:
            name = stack[-1]
            if name in self._values:
                stack.pop()
                continue
            later = [n for n in self._given[name].free_symbols if n in self._given and n not in self._values]
            stack.extend(later)
            if not later:
                self._values[name] = self._with_values(self._given[name])

    def is_zero(self, a: Entry) -> bool:
        """Whether the entry vanishes at both random points."""
        return a.residues[0] == 0 and a.residues[1] == 0

    def cost(self, a: Entry) -> int:
        """Signs first, then short expressions, so that denominators stay short; what is zero with the given values last."""
        # With zero friction given, an entry b is no zero of the model, but dividing by it would give no number.
        value, parts = a.measure
        return a.size if a.residues[2] and abs(value) > ROUNDING * parts else a.size + UNWELCOME

    def quotient(self, a: Entry, b: Entry) -> Entry:
        """The quotient of entries."""
        p, q = a.residues, b.residues
        residues = (
            p[0] * pow(q[0], -1, PRIME) % PRIME,
            p[1] * pow(q[1], -1, PRIME) % PRIME,
            # A divisor that is zero with the given values: the third residue means nothing from here on, and must not raise.
            p[2] * pow(q[2] or 1, -1, PRIME) % PRIME,
        )
        found = self._kept(a.expression / b.expression, residues, a.size + b.size)
        if self.at is None:
            return found
        by = b.measure[0] or 1.0
        return found._replace(measure=(a.measure[0] / by, a.measure[1] / abs(by)))

    def minus_product(self, a: Entry | None, b: Entry, c: Entry) -> Entry:
        """The difference of an entry and a product."""
        found = self._minus_product(a, b, c)
        if self.at is None:
            return found
        (v, parts), (x, x_parts), (y, y_parts) = (0.0, 0.0) if a is None else a.measure, b.measure, c.measure
        return found._replace(measure=(v - x * y, max(parts, x_parts * abs(y), abs(x) * y_parts)))

    def _minus_product(self, a: Entry | None, b: Entry, c: Entry) -> Entry:
        p, q = b.residues, c.residues
        product = b.expression * c.expression
        if a is None:
            residues = (-p[0] * q[0] % PRIME, -p[1] * q[1] % PRIME, -p[2] * q[2] % PRIME)
            return self._kept(-product, residues, b.size + c.size)
        r = a.residues
        residues = ((r[0] - p[0] * q[0]) % PRIME, (r[1] - p[1] * q[1]) % PRIME, (r[2] - p[2] * q[2]) % PRIME)
        return self._kept(a.expression - product, residues, a.size + b.size + c.size)

    def _kept(self, expression: Expression, residues: ResiduePair, size: int) -> Entry:
        if size > LONGEST and not (residues[0] == 0 and residues[1] == 0):
            # Sizes are added up as upper bounds, because counting each result would cost more than making it.
            size = leaf_count(expression)  # the estimate does not know what collected
            if size > LONGEST:
                return Entry(self._name(expression), residues, 1)
        return Entry(expression, residues, 0 if isinstance(expression, Number) else size)

    def named(self, expression: Expression) -> Expression:
        """The expression itself, or a name for it where it is longer than a line."""
        return self._name(expression) if leaf_count(expression) > LONGEST else expression

    def part(self, expression: Expression) -> Expression:
        """A name for an expression, however short: the denominator that many entries share."""
        return self._name(expression)

    def fresh(self, wanted: str) -> str:
        """The name, with underscores behind it until nothing else has it."""
        while identifier(wanted) in self._taken:
            wanted += "_"
        self._taken.add(identifier(wanted))
        return wanted

    def _name(self, expression: Expression) -> Expression:
        if expression not in self._named:
            # Who asks for few names would rather have no result than a list of hundreds.
            if self._most is not None and len(self.where) >= self._most:
                raise TooManyNamesError
            self._count += 1
            while f"{self._prefix}_{self._count}" in self._taken:
                self._count += 1
            name = f"{self._prefix}_{self._count}"
            self.where[name] = expression
            self._named[expression] = symbol(name)
        return self._named[expression]


def _moved(name: str, value: Expression) -> Expression:
    """The name, moved by a whole number to where it has the residue of a value at the first random point."""
    known = value.residues()
    return symbol(name) if known is None else symbol(name) + (known[0] - residues_of_name(name)[0])


def _size(expression: Expression) -> int:
    return 0 if isinstance(expression, Number) else leaf_count(expression)


def with_definitions(expression: Expression, mapping: Mapping[str, Expression]) -> Expression:
    """The expression with names replaced that may stand for each other, until none is left."""
    # Definitions read one another, so replacing goes on until none is left; they form no ring, each reads earlier ones.
    while any(name in mapping for name in expression.free_symbols):
        expression = expression.substitute(mapping)
    return expression


def resolved_definitions(where: Mapping[str, Expression]) -> dict[str, Expression]:
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
