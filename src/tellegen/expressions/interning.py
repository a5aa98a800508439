"""Equal expressions are one object: the table of all nodes, and the makers that look there first."""

import weakref
from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

from tellegen.expressions.nodes import (
    Add,
    Call,
    Connective,
    Constant,
    Expression,
    Logic,
    Mul,
    Number,
    Operator,
    Pow,
    Rational,
    Relation,
    Symbol,
)


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
    ref = _Ref(node, _forget)
    ref.key = key
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


def whole(q: Rational) -> Rational:
    """The same number, as `int` where it is whole."""
    return q.numerator if type(q) is not int and q.denominator == 1 else q


def magnitude(q: Rational) -> Rational:
    """The absolute value."""
    return q if q >= 0 else -q


def intern_number(q: Rational) -> Number:
    """The node of a number."""
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
