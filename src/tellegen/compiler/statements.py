"""Straight-line statements over numbered variables, for models small enough to be written out.

Variables appear in expressions as `%k`; parameters are variables too. Each variable is set once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.compiler.steps import LookupKind, variable
from tellegen.expressions import (
    ONE,
    ZERO,
    Add,
    Call,
    Expression,
    Mul,
    Rational,
    Symbol,
    call,
    derivative,
    number,
    postorder,
    product,
    rebuild,
    relation,
    total,
)


@final
@dataclass(frozen=True, slots=True)
class Let:
    """A variable set to the value of an expression."""

    target: int
    value: Expression


@final
@dataclass(frozen=True, slots=True)
class Read:
    """A variable read from a table, the past, or a function of the host."""

    kind: LookupKind
    number: int
    target: int
    arguments: tuple[Expression, ...]


@final
@dataclass(frozen=True, slots=True)
class Solve:
    """Variables that solve `matrix * targets = right`."""

    targets: tuple[int, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    right: tuple[Expression, ...]


@final
@dataclass(frozen=True, slots=True)
class Newton:
    """Unknowns at which the residuals vanish. `body` computes what residuals read; `slopes` what the jacobian reads beyond that;
    `measures` what `terms` read, which say how large each residual would be if nothing in it cancelled.

    Those of `body` that are needed later follow a Newton once more, at its solution. The unknowns wait for the next call at
    `scratch` among the values of the context; `places` are theirs among the unknowns of the program; `limit` is the variable beyond
    which exponentials are straight while a start is looked for.
    """

    unknowns: tuple[int, ...]
    body: tuple["Statement", ...]
    slopes: tuple["Statement", ...]
    residuals: tuple[Expression, ...]
    jacobian: tuple[tuple[Expression, ...], ...]
    measures: tuple["Statement", ...]
    terms: tuple[Expression, ...]
    linear: bool
    scratch: int
    places: tuple[int, ...]
    limit: int

    @property
    def inner(self) -> tuple["Statement", ...]:
        """Everything that is computed inside."""
        return (*self.body, *self.slopes, *self.measures)


Statement = Let | Read | Solve | Newton


def limited(statement: Newton, limit: Expression) -> Newton:
    """The same with exponentials that go on as straight lines beyond an argument, so that they have values everywhere.

    One exponential serves value and slope: exp(m) (1 + a - m) and exp(m), m being the argument a or the limit.
    """

    def changed(expressions: Sequence[Expression], *, is_value: bool) -> tuple[Expression, ...]:
        made: dict[Expression, Expression] = {}
        for node in postorder(*expressions):
            whole = rebuild(node, tuple([made[arg] for arg in node.args]))
            if isinstance(node, Call) and node.name == "exp":
                (a,) = whole.args
                m = call("if", relation("<", a, limit), a, limit)
                whole = call("exp", m) * (ONE + a - m) if is_value else call("exp", m)
            made[node] = whole
        return tuple([made[e] for e in expressions])

    def inside(inner: Sequence[Statement], *, is_value: bool) -> tuple[Statement, ...]:
        return tuple(Let(s.target, *changed((s.value,), is_value=is_value)) if isinstance(s, Let) else s for s in inner)

    rows = [changed(row, is_value=False) for row in statement.jacobian]
    return replace(
        statement,
        body=inside(statement.body, is_value=True),
        slopes=inside(statement.slopes, is_value=False),
        residuals=changed(statement.residuals, is_value=True),
        jacobian=tuple(rows),
    )


QUICK = ("if", "abs", "min", "max", "sign")
"""Functions that a processor evaluates at once."""

Fresh = Callable[[str], int]
"""Makes a new variable."""


def all_statements(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Statements and those inside of them, which come first."""
    for statement in statements:
        if isinstance(statement, Newton):
            # Inner ones first: what they set may be read by the statement that holds them.
            yield from all_statements(statement.inner)
        yield statement


def targets_of(statement: Statement) -> tuple[int, ...]:
    """The variables that a statement sets for those after it."""
    match statement:
        case Let() | Read():
            return (statement.target,)
        case Solve():
            return statement.targets
        case Newton():
            return statement.unknowns


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """Every expression that a statement reads, those of inner statements apart."""
    match statement:
        case Let():
            return (statement.value,)
        case Read():
            return statement.arguments
        case Solve():
            return (*(e for row in statement.matrix for e in row), *statement.right)
        case Newton():
            return (*statement.residuals, *(e for row in statement.jacobian for e in row), *statement.terms)


def variables_read(statement: Statement) -> set[int]:
    """The variables that a statement takes from those before it."""
    found = variables_in(expressions_of(statement))
    if isinstance(statement, Newton):
        for one in statement.inner:
            found |= variables_read(one)
        # What is set inside is not taken from before, and neither are the unknowns themselves.
        found -= {k for one in statement.inner for k in targets_of(one)} | set(statement.unknowns)
    return found


def variables_in(expressions: Iterable[Expression]) -> set[int]:
    """The numbers of the variables in expressions."""
    return {int(name[1:]) for e in expressions for name in e.free_symbols}


def needed_statements(statements: Sequence[Statement], results: Iterable[Expression]) -> list[Statement]:
    """The statements that the results need, in order."""
    wanted = variables_in(results)
    kept: list[Statement] = []
    # Backwards: what a statement reads is wanted of those before it.
    for statement in reversed(statements):
        if not wanted.isdisjoint(targets_of(statement)):
            kept.append(statement)
            wanted |= variables_read(statement)
    return kept[::-1]


def operation_count(statements: Iterable[Statement], results: Iterable[Expression], *, function: int = 1) -> int:
    """How many operations statements and results take, shared ones counted once, and functions such as sines as so many."""
    inner = [e for statement in statements for e in expressions_of(statement)]
    nodes = postorder(*inner, *results)
    return sum(function if isinstance(node, Call) and node.name not in QUICK else 1 for node in nodes if node.args)


def reached_from(statements: Iterable[Statement], leaves: Iterable[int]) -> set[int]:
    """The variables that depend on some leaves, these included."""
    found = set(leaves)
    for statement in statements:
        if not found.isdisjoint(variables_read(statement)):
            found.update(targets_of(statement))
    return found


@final
@dataclass(frozen=True)
class Routine:
    """A function of model.h: its statements, and its results in order.

    `leaves` says where each variable that no statement sets comes from: `("y", 3)` is y[3]. A failure in result k is that of the
    model's variable `first + k`; of an unknown solved inside, that of `unknown`.
    """

    name: str
    statements: Sequence[Statement]
    results: Sequence[Expression]
    leaves: Mapping[int, tuple[str, int]]
    first: int = 0
    unknown: int = 0
    checked: bool = True

    def words_read(self) -> set[str]:
        """Which of the arguments are read: y, yp, dy, ..."""
        read = variables_in(self.results).union(*map(variables_read, self.statements))
        return {self.leaves[k][0] for k in read if k in self.leaves}

    def values_kept(self) -> int:
        """Up to where in the values of the context the systems inside keep their solutions."""
        return _values_kept(self.statements)


def _values_kept(statements: Iterable[Statement]) -> int:
    systems = [s for s in statements if isinstance(s, Newton)]
    inner = (_values_kept(s.inner) for s in systems)
    return max((*(s.scratch + len(s.unknowns) for s in systems), *inner), default=0)


class Terms:
    """How large values would be if nothing cancelled on the way to them: their rounding errors are shares of that.

    Every number counts as known to a share of itself, and shares add up along the slopes (running error analysis, Wilkinson).
    """

    def __init__(self, fresh: Fresh) -> None:
        self.statements: list[Statement] = []
        self._of: dict[int, Expression] = {}
        self._fresh = fresh

    def size(self, expression: Expression) -> Expression:
        """The size of an expression of variables that were followed."""
        names = sorted(expression.free_symbols, key=lambda name: int(name[1:]))
        parts = [call("abs", derivative(expression, name)) * self._size_of(int(name[1:])) for name in names]
        own: Sequence[tuple[Expression, Rational]] = ((expression, 1),)
        if isinstance(expression, Add):
            own = expression.terms
        # What is linear is counted by its slopes already.
        parts += [call("abs", number(q)) * _uncancelled(e) for e, q in own if not isinstance(e, Symbol)]
        return total((*parts, call("abs", number(expression.constant if isinstance(expression, Add) else 0))))

    def follow(self, statements: Iterable[Statement]) -> None:
        """Append what computes the sizes of the targets of statements; solutions of systems inside count as known."""
        for statement in statements:
            if isinstance(statement, Let):
                self._keep(statement.target, self.size(statement.value))
            elif isinstance(statement, Read) and statement.kind == "table":
                slope = self._fresh("slope")
                self.statements.append(Read("slope", statement.number, slope, statement.arguments))
                moved = call("abs", variable(slope)) * self.size(statement.arguments[0])
                self._keep(statement.target, call("abs", variable(statement.target)) + moved)

    def _size_of(self, k: int) -> Expression:
        return self._of.get(k) or call("abs", variable(k))

    def _keep(self, target: int, size: Expression) -> None:
        k = self._fresh("size")
        self.statements.append(Let(k, size))
        self._of[target] = variable(k)


def _uncancelled(expression: Expression) -> Expression:
    """How large a product would be if nothing cancelled in its factors: I_s (exp(v) + 1) for I_s (exp(v) - 1)."""
    if isinstance(expression, Mul):
        factors = (
            _uncancelled(e) ** number(q) if q > 0 else call("abs", e ** number(q)) for e, q in expression.factors
        )
        return product((call("abs", number(expression.coefficient)), *factors))
    if isinstance(expression, Add):
        terms = (call("abs", number(q)) * _uncancelled(e) for e, q in expression.terms)
        return total((*terms, call("abs", number(expression.constant))))
    return call("abs", expression)


class Tangents:
    """Forward-mode derivatives: for each statement those that compute its tangent, in terms of tangents of leaves."""

    def __init__(self, seeds: dict[int, Expression], fresh: Fresh) -> None:
        self.of: dict[int, Expression] = dict(seeds)
        self.statements: list[Statement] = []
        self._fresh = fresh

    def tangent(self, expression: Expression) -> Expression:
        """The tangent of an expression of variables whose tangents are known."""
        # In a fixed order, so that the same model gives the same C text, and with it the same key in the cache.
        names = sorted(expression.free_symbols, key=lambda name: int(name[1:]))
        return total(derivative(expression, name) * self.of[k] for name in names if (k := int(name[1:])) in self.of)

    def follow(self, statements: Sequence[Statement]) -> None:
        """Append the statements with their tangents."""
        done: set[Statement] = set()
        for statement in statements:
            if statement in done:
                continue
            self.statements.append(statement)
            match statement:
                case Let():
                    self._keep(statement.target, self.tangent(statement.value))
                case Read():
                    self._read(statement)
                case Solve():
                    self._solve(statement)
                case Newton():
                    done.update(statement.body)
                    self._newton(statement)

    def _keep(self, target: int, tangent: Expression) -> None:
        if tangent is ZERO:
            return
        # A name or a number needs no variable of its own.
        if not tangent.args:
            self.of[target] = tangent
            return
        k = self._fresh("tangent")
        self.statements.append(Let(k, tangent))
        self.of[target] = variable(k)

    def _read(self, statement: Read) -> None:
        # Slopes of tables are at hand. The past and functions of the host are held constant: nobody knows theirs.
        if statement.kind == "table":
            tangent = self.tangent(statement.arguments[0])
            if tangent is not ZERO:
                slope = self._fresh("slope")
                self.statements.append(Read("slope", statement.number, slope, statement.arguments))
                self._keep(statement.target, variable(slope) * tangent)

    def _solve(self, statement: Solve) -> None:
        right = []
        for row, value in zip(statement.matrix, statement.right, strict=True):
            # A x = b gives A dx = db - dA x: the same matrix, with another right-hand side.
            moved = [self.tangent(e) * variable(k) for e, k in zip(row, statement.targets, strict=True)]
            right.append(self.tangent(value) - total(moved))
        if any(e is not ZERO for e in right):
            targets = tuple(self._fresh("tangent") for _ in statement.targets)
            self.statements.append(Solve(targets, statement.matrix, tuple(right)))
            self.of.update(zip(statement.targets, map(variable, targets), strict=True))

    def _newton(self, statement: Newton) -> None:
        """By the implicit function theorem: jacobian * dw = -(tangent of the residuals with w held)."""
        # First along the body with the unknowns held, for the right-hand side.
        held = Tangents(self.of, self._fresh)
        held.statements = self.statements
        held.follow(statement.body)
        right = tuple(-held.tangent(e) for e in statement.residuals)
        if all(e is ZERO for e in right):
            self.of = held.of
            return
        self.statements.extend(statement.slopes)
        targets = tuple(self._fresh("tangent") for _ in statement.unknowns)
        self.statements.append(Solve(targets, statement.jacobian, right))
        self.of.update(zip(statement.unknowns, map(variable, targets), strict=True))
        # Then once more with the tangents of the unknowns known, for what is read later of the body.
        values, self.statements = self.statements, []
        self.follow(statement.body)
        # The values of the body stand there already, behind the Newton.
        own = set(statement.body)
        values.extend(s for s in self.statements if s not in own)
        self.statements = values
