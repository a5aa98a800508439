"""The kinds of expression: immutable, and built once, so that equal expressions are the same object.

A node is made by the constructors of `canonical` and `functions`, never by its class: the constructors look the node up
in the table below before they make it. The table holds its nodes weakly, so an expression lives while somebody uses it.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Final, Literal, Self, final

Rational = int | Fraction
"""An exact number; whole values are `int`, so that most arithmetic stays fast."""

Scalar = int | float | Fraction
"""What Python operators accept beside an expression."""

PRIME: Final = 2**61 - 1
"""The prime of the zero test."""

MOST_SHOWN: Final = 2_000
"""Expressions of more parts than this are counted, not printed, where they appear in a message."""

Operator = Literal["<", "<=", ">", ">=", "==", "!="]

Connective = Literal["and", "or", "not", "true", "false"]


class Engine:
    """The operations that methods of `Expression` call; each is set once, by the module that implements it."""

    number: Callable[[Scalar], "Expression"]
    total: Callable[["Iterable[Expression]"], "Expression"]
    product: Callable[["Iterable[Expression]"], "Expression"]
    power: Callable[["Expression", "Expression"], "Expression"]
    absolute: Callable[["Expression"], "Expression"]
    rebuild: Callable[["Expression"], tuple[Callable[..., "Expression"], tuple[object, ...]]]
    derivative: Callable[["Expression", str], "Expression"]
    substitute: Callable[["Expression", "Mapping[str, Expression | Scalar]"], "Expression"]
    evaluate: Callable[["Expression", Mapping[str, float]], float]
    residues: Callable[["Expression"], tuple[int, int] | None]
    text: Callable[["Expression"], str]
    sympy: Callable[["Expression"], Any]


ENGINE: Final = Engine()


class Expression:
    """A formula. Abstract: the kinds below are final.

    Two equal expressions are the same object, so `==` and `is` agree and `hash` costs nothing. Equal means of the same
    canonical form; whether a difference vanishes is asked of `is_zero`.
    """

    __slots__ = ("__weakref__", "_digest", "_residues", "_symbols")

    _digest: int
    _residues: tuple[int, int] | tuple[()] | None
    _symbols: frozenset[str] | None

    @property
    def args(self) -> tuple["Expression", ...]:
        """The expressions directly inside this one."""
        return ()

    @property
    def free_symbols(self) -> frozenset[str]:
        """The names that occur in the expression."""
        # Kept in the node asked, not in each node below it: a chain of n names would keep n^2 of them.
        if self._symbols is None:
            self._symbols = frozenset(_names_in(self))
        return self._symbols

    def derivative(self, name: str) -> "Expression":
        """The partial derivative by a name; `sign`, `floor`, `ceil` count as flat, `min`, `max`, `if` go by pieces."""
        return ENGINE.derivative(self, name)

    def substitute(self, mapping: "Mapping[str, Expression | Scalar]") -> "Expression":
        """The expression with all names of the mapping replaced at once."""
        return ENGINE.substitute(self, mapping)

    def evaluate(self, values: Mapping[str, float]) -> float:
        """The value in floating point; only the branch of an `if` that counts is evaluated.

        Raises: KeyError for a name without value; ZeroDivisionError, ValueError, OverflowError as Python does.
        """
        return ENGINE.evaluate(self, values)

    def residues(self) -> tuple[int, int] | None:
        """The value modulo `PRIME` at two fixed points, or None where it divides by zero there."""
        return ENGINE.residues(self)

    def __add__(self, other: "Expression | Scalar") -> "Expression":
        return ENGINE.total((self, other if isinstance(other, Expression) else ENGINE.number(other)))

    def __radd__(self, other: Scalar) -> "Expression":
        return ENGINE.total((ENGINE.number(other), self))

    def __neg__(self) -> "Expression":
        return ENGINE.product((ENGINE.number(-1), self))

    def __pos__(self) -> "Expression":
        return self

    def __sub__(self, other: "Expression | Scalar") -> "Expression":
        return ENGINE.total((self, -other if isinstance(other, Expression) else ENGINE.number(-other)))

    def __rsub__(self, other: Scalar) -> "Expression":
        return ENGINE.total((ENGINE.number(other), -self))

    def __mul__(self, other: "Expression | Scalar") -> "Expression":
        return ENGINE.product((self, other if isinstance(other, Expression) else ENGINE.number(other)))

    def __rmul__(self, other: Scalar) -> "Expression":
        return ENGINE.product((ENGINE.number(other), self))

    def __truediv__(self, other: "Expression | Scalar") -> "Expression":
        divisor = other if isinstance(other, Expression) else ENGINE.number(other)
        return ENGINE.product((self, ENGINE.power(divisor, ENGINE.number(-1))))

    def __rtruediv__(self, other: Scalar) -> "Expression":
        return ENGINE.product((ENGINE.number(other), ENGINE.power(self, ENGINE.number(-1))))

    def __pow__(self, other: "Expression | Scalar") -> "Expression":
        return ENGINE.power(self, other if isinstance(other, Expression) else ENGINE.number(other))

    def __rpow__(self, other: Scalar) -> "Expression":
        return ENGINE.power(ENGINE.number(other), self)

    def __abs__(self) -> "Expression":
        return ENGINE.absolute(self)

    def _sympy_(self) -> Any:
        """The expression as SymPy sees it, wherever SymPy meets it: `matrix.subs(equations.where)`."""
        return ENGINE.sympy(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., "Expression"], tuple[object, ...]]:
        return ENGINE.rebuild(self)

    def __str__(self) -> str:
        return ENGINE.text(self)

    def __repr__(self) -> str:
        parts = len(postorder(self))
        return ENGINE.text(self) if parts <= MOST_SHOWN else f"<expression of {parts} parts>"


def _names_in(root: Expression) -> set[str]:
    names: set[str] = set()
    seen: set[Expression] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node._symbols is not None:
            names |= node._symbols
        else:
            stack.extend(node.args)
    return names


@final
class Number(Expression):
    """An exact rational number."""

    __slots__ = ("rational",)
    rational: Rational

    @property
    def value(self) -> Fraction:
        """The number as a fraction."""
        return Fraction(self.rational)


@final
class Constant(Expression):
    """A mathematical constant that is not rational: pi."""

    __slots__ = ("name", "value")
    name: str
    value: float


@final
class Symbol(Expression):
    """A name, or a path such as `motor.R[3]`."""

    __slots__ = ("name",)
    name: str


@final
class Add(Expression):
    """`constant` plus the sum of coefficient times term; no term is a sum or a number or has its own coefficient."""

    __slots__ = ("constant", "terms")
    constant: Rational
    terms: tuple[tuple[Expression, Rational], ...]

    @property
    def args(self) -> tuple[Expression, ...]:
        """The terms, without their coefficients."""
        return tuple([term for term, _ in self.terms])


@final
class Mul(Expression):
    """`coefficient` times the product of base ^ exponent, the exponents rational and the bases all different."""

    __slots__ = ("coefficient", "factors")
    coefficient: Rational
    factors: tuple[tuple[Expression, Rational], ...]

    @property
    def args(self) -> tuple[Expression, ...]:
        """The bases, without their exponents."""
        return tuple([base for base, _ in self.factors])


@final
class Pow(Expression):
    """`base ^ exponent`; square roots have the exponent 1/2."""

    __slots__ = ("base", "exponent")
    base: Expression
    exponent: Expression

    @property
    def args(self) -> tuple[Expression, ...]:
        """Base and exponent."""
        return (self.base, self.exponent)


@final
class Call(Expression):
    """A function of the table `FUNCTIONS` with its arguments."""

    __slots__ = ("arguments", "name")
    name: str
    arguments: tuple[Expression, ...]

    @property
    def args(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.arguments


class Condition(Expression):
    """What an `if` asks; it is no number, so arithmetic refuses it. Abstract."""

    __slots__ = ()


@final
class Relation(Condition):
    """A comparison of two expressions."""

    __slots__ = ("left", "operator", "right")
    operator: Operator
    left: Expression
    right: Expression

    @property
    def args(self) -> tuple[Expression, ...]:
        """Both sides."""
        return (self.left, self.right)


@final
class Logic(Condition):
    """Conditions joined by `and`, `or`, `not`; `true` and `false` have no arguments."""

    __slots__ = ("arguments", "operator")
    operator: Connective
    arguments: tuple[Expression, ...]

    @property
    def args(self) -> tuple[Expression, ...]:
        """The conditions joined."""
        return self.arguments


def postorder(*roots: Expression) -> list[Expression]:
    """Every expression inside the roots once, each after those inside it; no recursion, so depth does not matter."""
    order: list[Expression] = []
    seen: set[Expression] = set()
    stack: list[tuple[Expression, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, opened = stack.pop()
        if opened:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend([(arg, False) for arg in reversed(node.args) if arg not in seen])
    return order
