"""The kinds of expression: immutable, and built once, so that equal expressions are the same object; and the table that makes
them so.

A node is made by the constructors of `canonical` and `functions`, never by its class: the constructors look the node up
in the table below before they make it. The table holds its nodes weakly, so an expression lives while somebody uses it.
"""

import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Final, Literal, Self, TypeVar, final

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
        # Messages and debuggers ask for this; a formula of a mesh would be megabytes.
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


@final
class DefiniteIntegral(Expression):
    """An integral from zero to the first argument. `pattern` is what stands in it, over BOUND and, for the other arguments, PLACES.

    So nothing in it has a name of its own: it can be substituted and differentiated like any function of its arguments.
    """

    __slots__ = ("arguments", "letter", "pattern")
    pattern: Expression
    letter: str
    arguments: tuple[Expression, ...]

    @property
    def args(self) -> tuple[Expression, ...]:
        """The upper end, and what stands for the places."""
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


class _Ref(weakref.ref[Expression]):
    __slots__ = ("key",)
    key: Hashable


_TABLE: dict[Hashable, _Ref] = {}


def _forget(ref: Any, table: dict[Hashable, _Ref] = _TABLE) -> None:
    # The table comes as an argument because the names of a module are gone when the interpreter ends.
    key: Hashable = ref.key
    if table.get(key) is ref:
        del table[key]


_Node = TypeVar("_Node", bound=Expression)


def _find(key: Hashable) -> Expression | None:
    ref = _TABLE.get(key)
    return None if ref is None else ref()


def _keep(key: Hashable, node: _Node, digest: int) -> _Node:
    node._digest = digest
    node._residues = None
    node._symbols = None
    # Weakly, so that formulas of a finished study go; the reference removes its own entry.
    ref = _Ref(node, _forget)
    ref.key = key
    # One step, which no thread can interrupt.
    other = _TABLE.setdefault(key, ref)
    if other is ref:
        return node
    first = other()  # another thread was faster, or a dead node was not yet cleared away
    if first is not None:
        return first  # type: ignore[return-value]
    _TABLE[key] = ref
    return node


def _mark(q: Rational) -> int:
    # Python hashes -1 and -2 alike, which would make x^-1 and x^-2 compare equal in the order of terms.
    n = q.numerator
    mark = 2 * n if n >= 0 else -2 * n - 1
    return mark if type(q) is int else hash((mark, q.denominator))


def as_integer(q: Rational) -> Rational:
    """The same number, as `int` where it is whole."""
    return q.numerator if type(q) is not int and q.denominator == 1 else q


def magnitude(q: Rational) -> Rational:
    """The absolute value."""
    return q if q >= 0 else -q


def intern_number(q: Rational) -> Number:
    """The node of a number."""
    # A Fraction hashes by a power modulo a prime; its two numbers are hashed at once.
    key: Hashable = q if type(q) is int else (q.numerator, q.denominator)
    found = _find(key)
    if found is not None:
        return found  # type: ignore[return-value]
    node = Number()
    node.rational = q
    return _keep(key, node, hash((1, _mark(q))))


def intern_constant(name: str, value: float) -> Constant:
    """The node of a constant."""
    found = _find(("constant", name))
    if found is not None:
        return found  # type: ignore[return-value]
    node = Constant()
    node.name = name
    node.value = value
    return _keep(("constant", name), node, hash((2, int.from_bytes(name.encode(), "little"))))


def intern_symbol(name: str) -> Symbol:
    """The node of a name."""
    ref = _TABLE.get(name)
    if ref is not None:
        found = ref()
        if found is not None:
            return found  # type: ignore[return-value]
    node = Symbol()
    node.name = name
    # Not the hash of the text, which Python salts: the order of terms must be the same in every run.
    node = _keep(name, node, hash(int.from_bytes(name.encode(), "little")))
    node._symbols = frozenset((name,))
    return node


def _ordered(pairs: dict[Expression, Rational]) -> tuple[tuple[Expression, Rational], ...]:
    return tuple(sorted(pairs.items(), key=_digest_of_pair))


def _digest_of_pair(pair: tuple[Expression, Rational]) -> int:
    return pair[0]._digest


def _digest_of_pairs(kind: int, q: Rational, pairs: Iterable[tuple[Expression, Rational]]) -> int:
    return hash((kind, _mark(q), *[x for e, c in pairs for x in (e._digest, _mark(c))]))


def intern_add(constant: Rational, terms: dict[Expression, Rational]) -> Add:
    """The node of a sum whose terms are already collected."""
    # As a set: the order in which terms were collected does not make another sum.
    key = ("+", constant, frozenset(terms.items()))
    found = _find(key)
    if found is not None:
        return found  # type: ignore[return-value]
    node = Add()
    node.constant = constant
    node.terms = _ordered(terms)
    return _keep(key, node, _digest_of_pairs(3, constant, node.terms))


def intern_mul(coefficient: Rational, factors: dict[Expression, Rational]) -> Mul:
    """The node of a product whose powers are already collected."""
    key = ("*", coefficient, frozenset(factors.items()))
    found = _find(key)
    if found is not None:
        return found  # type: ignore[return-value]
    node = Mul()
    node.coefficient = coefficient
    node.factors = _ordered(factors)
    return _keep(key, node, _digest_of_pairs(4, coefficient, node.factors))


def intern_pow(base: Expression, exponent: Expression) -> Pow:
    """The node of a power that no rule simplifies."""
    key = ("^", base, exponent)
    found = _find(key)
    if found is not None:
        return found  # type: ignore[return-value]
    node = Pow()
    node.base = base
    node.exponent = exponent
    return _keep(key, node, hash((5, base._digest, exponent._digest)))


def _digest_of_word(kind: int, word: str, arguments: Iterable[Expression]) -> int:
    return hash((kind, int.from_bytes(word.encode(), "little"), *[a._digest for a in arguments]))


def intern_call(name: str, arguments: tuple[Expression, ...]) -> Call:
    """The node of a function with its arguments."""
    found = _find((name, arguments))
    if found is not None:
        return found  # type: ignore[return-value]
    node = Call()
    node.name = name
    node.arguments = arguments
    return _keep((name, arguments), node, _digest_of_word(6, name, arguments))


def intern_integral(pattern: Expression, letter: str, arguments: tuple[Expression, ...]) -> DefiniteIntegral:
    """The node of an integral."""
    key = ("integral", pattern, letter, arguments)
    found = _find(key)
    if found is not None:
        return found  # type: ignore[return-value]
    node = DefiniteIntegral()
    node.pattern = pattern
    node.letter = letter
    node.arguments = arguments
    return _keep(key, node, _digest_of_word(9, letter, (pattern, *arguments)))


def intern_relation(operator: Operator, left: Expression, right: Expression) -> Relation:
    """The node of a comparison."""
    found = _find((operator, left, right))
    if found is not None:
        return found  # type: ignore[return-value]
    node = Relation()
    node.operator = operator
    node.left = left
    node.right = right
    return _keep((operator, left, right), node, _digest_of_word(7, operator, (left, right)))


def intern_logic(operator: Connective, arguments: tuple[Expression, ...]) -> Logic:
    """The node of joined conditions."""
    found = _find((operator, arguments))
    if found is not None:
        return found  # type: ignore[return-value]
    node = Logic()
    node.operator = operator
    node.arguments = arguments
    return _keep((operator, arguments), node, _digest_of_word(8, operator, arguments))
