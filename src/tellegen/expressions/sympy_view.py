"""SymPy as a view: the only module that imports it, when asked and not before.

Only symbols, rational numbers and functions of our table cross over; no text is ever given to SymPy to read.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from tellegen.expressions import nodes
from tellegen.expressions.canonical import FALSE, PI, TRUE, logic, number, power, product, relation, total
from tellegen.expressions.functions import call
from tellegen.expressions.integrals import BOUND, inside
from tellegen.expressions.nodes import Expression, Operator, Rational, postorder

_NAMES = {"abs": "Abs", "min": "Min", "max": "Max", "ceil": "ceiling"}
_OURS = {
    **{
        name: name
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log")
    },
    "sign": "sign",
    "floor": "floor",
    **{theirs: ours for ours, theirs in _NAMES.items()},
}
_RELATIONS: dict[Operator, str] = {"<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge", "==": "Eq", "!=": "Ne"}
_OPERATORS: dict[str, Operator] = {
    "StrictLessThan": "<",
    "LessThan": "<=",
    "StrictGreaterThan": ">",
    "GreaterThan": ">=",
    "Equality": "==",
    "Unequality": "!=",
}


def _sympy() -> Any:
    import sympy  # noqa: PLC0415  heavy, and only needed by who asks for the view

    return sympy


def to_sympy(expression: Expression) -> Any:
    """The expression as a SymPy object; names become plain symbols."""
    sympy = _sympy()
    made: dict[Expression, Any] = {}
    for node in postorder(expression):
        made[node] = _theirs(sympy, node, made)
    return made[expression]


def matrix_to_sympy(rows: Iterable[Sequence[Expression]]) -> Any:
    """A matrix of expressions as an immutable SymPy matrix."""
    return _sympy().ImmutableDenseMatrix([[to_sympy(entry) for entry in row] for row in rows])


def matrix_view(words: str, rows: Callable[[Any], Iterable[Sequence[Expression]]]) -> Any:
    """A property: a matrix of some value as SymPy's, converted when somebody asks for it; `words` say which matrix it is."""
    return property(lambda value: matrix_to_sympy(rows(value)), doc=f"{words} as a SymPy matrix.")


def _theirs(sympy: Any, node: Expression, made: dict[Expression, Any]) -> Any:
    if isinstance(node, nodes.Symbol):
        return sympy.Symbol(node.name)
    if isinstance(node, nodes.Number):
        return _their_number(sympy, node.rational)
    if isinstance(node, nodes.Constant):
        return sympy.pi
    if isinstance(node, nodes.Add):
        terms = [_their_number(sympy, c) * made[term] for term, c in node.terms]
        return sympy.Add(_their_number(sympy, node.constant), *terms)
    if isinstance(node, nodes.Mul):
        powers = [made[base] ** _their_number(sympy, q) for base, q in node.factors]
        return sympy.Mul(_their_number(sympy, node.coefficient), *powers)
    if isinstance(node, nodes.Pow):
        return sympy.Pow(made[node.base], made[node.exponent])
    return _their_function(sympy, node, [made[arg] for arg in node.args])


def _their_number(sympy: Any, q: Rational) -> Any:
    return sympy.Rational(q.numerator, q.denominator)


def _their_function(sympy: Any, node: Expression, args: list[Any]) -> Any:
    if isinstance(node, nodes.Relation):
        return getattr(sympy, _RELATIONS[node.operator])(*args)
    if isinstance(node, nodes.Logic):
        made = {"and": sympy.And, "or": sympy.Or, "not": sympy.Not}
        return made[node.operator](*args) if args else sympy.true if node is TRUE else sympy.false
    if isinstance(node, nodes.DefiniteIntegral):
        bound = sympy.Dummy(node.letter)
        within = to_sympy(inside(node, nodes.intern_symbol(BOUND))).subs(sympy.Symbol(BOUND), bound)
        return sympy.Integral(within, (bound, 0, args[0]))
    assert isinstance(node, nodes.Call), "what is left are functions"
    if node.name == "if":
        condition, yes, no = args
        return sympy.Piecewise((yes, condition), (no, True))
    # SymPy has no such function.
    if node.name == "hypot":
        return sympy.sqrt(args[0] ** 2 + args[1] ** 2)
    return getattr(sympy, _NAMES.get(node.name, node.name))(*args)


def from_sympy(obj: Any) -> Expression:
    """The expression of a SymPy object.

    Raises: ValueError for what has no counterpart here.
    """
    if obj.is_Symbol:
        return nodes.intern_symbol(obj.name)
    if obj.is_Rational:
        return number(Fraction(int(obj.p), int(obj.q)))
    # By its shortest decimal, as everywhere.
    if obj.is_Float:
        return number(float(obj))
    if obj.is_Number or obj.is_NumberSymbol or obj.is_Boolean:
        return _our_constant(obj)
    if obj.func.__name__ == "Piecewise":
        return _our_cases(obj)
    return _our_function(obj, [from_sympy(arg) for arg in obj.args])


def _our_constant(obj: Any) -> Expression:
    sympy = _sympy()
    known = {sympy.pi: PI, sympy.true: TRUE, sympy.false: FALSE}
    if obj in known:
        return known[obj]
    if obj == sympy.E:
        return call("exp", 1)
    if obj.is_Boolean:
        return _our_function(obj, [from_sympy(arg) for arg in obj.args])
    raise ValueError(f"no expression stands for {obj}")


def _our_function(obj: Any, args: list[Expression]) -> Expression:
    name = obj.func.__name__
    if name == "Add":
        return total(args)
    if name == "Mul":
        return product(args)
    if name == "Pow":
        return power(*args)
    if name in _OPERATORS:
        return relation(_OPERATORS[name], *args)
    if name in ("And", "Or", "Not"):
        return logic("and" if name == "And" else "or" if name == "Or" else "not", *args)
    if name in _OURS:
        return call(_OURS[name], *args)
    raise ValueError(f"no expression stands for the SymPy object {name}")


def _our_cases(obj: Any) -> Expression:
    *cases, (last, condition) = obj.args
    # Our `if` has a value in every case.
    if condition != _sympy().true:
        raise ValueError("a Piecewise without a last case that always holds has no value everywhere")
    result = from_sympy(last)
    for value, case in reversed(cases):
        result = call("if", from_sympy(case), from_sympy(value), result)
    return result


def rational_functions(
    pencil: Sequence[Sequence[Expression]],
    right: Sequence[Sequence[Expression]],
    left: Sequence[Sequence[Expression]],
    direct: Sequence[Sequence[Expression]],
    name: str,
) -> tuple[tuple[Expression, ...], ...]:
    """`left pencil^-1 right + direct`, each entry one fraction of two polynomials in `name`, without common factors."""
    sympy = _sympy()
    matrices = [sympy.polys.matrices.DomainMatrix.from_Matrix(_dense(sympy, m)) for m in (pencil, right, left, direct)]
    total_of = matrices[3]
    if pencil:
        p, r, c, d = sympy.polys.matrices.DomainMatrix.unify(*(m.to_field() for m in matrices), fmt="sparse")
        total_of = c * _solved(sympy, p, r) + d
    s = sympy.Symbol(name)
    return tuple(tuple(_fraction_of(sympy, e, s) for e in row) for row in total_of.to_Matrix().tolist())


def _solved(sympy: Any, pencil: Any, right: Any) -> Any:
    """pencil^-1 right over a field of fractions, by polynomials alone: common factors are looked for once, at the end."""
    # Fractions that are eliminated step by step have their common factors cancelled each time: 40 s for six sections.
    field, ring = pencil.domain, pencil.domain.get_ring()
    rows = [
        _without_denominators(field, ring, [*a, *b]) for a, b in zip(pencil.to_list(), right.to_list(), strict=True)
    ]
    n, matrix = pencil.shape[1], sympy.polys.matrices.DomainMatrix
    left = matrix([row[:n] for row in rows], pencil.shape, ring).to_sparse()
    above, below = left.solve_den(matrix([row[n:] for row in rows], right.shape, ring).to_sparse(), method="charpoly")
    share = field.one / field.convert_from(below, ring)
    found = [[field.convert_from(e, ring) * share for e in row] for row in above.to_list()]
    return matrix(found, right.shape, field).to_sparse()


def _without_denominators(field: Any, ring: Any, row: Sequence[Any]) -> list[Any]:
    common = ring.one
    for entry in row:
        common = ring.lcm(common, field.denom(entry))
    return [ring.exquo(field.numer(entry) * common, field.denom(entry)) for entry in row]


def _dense(sympy: Any, rows: Sequence[Sequence[Expression]]) -> Any:
    return sympy.Matrix(len(rows), len(rows[0]) if rows else 0, [to_sympy(e) for row in rows for e in row])


def _fraction_of(sympy: Any, entry: Any, s: Any) -> Expression:
    above, below = sympy.fraction(sympy.cancel(entry))
    return _polynomial_of(sympy, above, s) / _polynomial_of(sympy, below, s)


def _polynomial_of(sympy: Any, polynomial: Any, s: Any) -> Expression:
    coefficients = reversed(sympy.Poly(polynomial, s).all_coeffs())
    return total(
        from_sympy(sympy.factor_terms(c)) * nodes.intern_symbol(s.name) ** k for k, c in enumerate(coefficients)
    )


nodes.ENGINE.sympy = to_sympy
