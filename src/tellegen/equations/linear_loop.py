"""The linear part of a closed loop at a point, with symbols where numbers are not needed to say what it is."""

from collections.abc import Mapping
from dataclasses import replace

from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product, zeros
from tellegen.equations.system import Algebraic, EquationSystem, parameter_values
from tellegen.equations.tidying import tidied
from tellegen.expressions import ONE, ZERO, Call, Condition, Expression, number, postorder, rebuild, symbol
from tellegen.expressions.elimination import solve
from tellegen.expressions.entries import NamedEntries


def linearise_loop(closed: EquationSystem, at: Mapping[str, float]) -> EquationSystem | None:
    """The linear part of a closed loop at a point, with symbols; None where numbers are needed to say what it is."""
    variables = (*closed.states, *closed.displacements, *closed.inputs)
    if not _is_constant(closed):
        return None
    point = {name: number(at.get(name, 0.0)) for name in variables}
    tangent = _Tangent(closed, point)
    z = (*closed.states, *closed.displacements)
    m = closed.matrices
    n, count = len(closed.states), len(z)
    x, u = [symbol(s) for s in closed.states], [symbol(s) for s in closed.inputs]
    forces = tuple(
        dot(b, u) - dot(a, x) - f for a, b, f in zip(plus(m["A"], m["N"]), m["B"], closed.vectors["f"], strict=True)
    )
    rates = (*forces, *closed.displacements.values())
    outputs = tuple(dot(c, x) + dot(d, u) + f for c, d, f in zip(m["C"], m["D"], closed.vectors["f_y"], strict=True))
    found = [tangent.of(part, names) for part in (rates, outputs) for names in (z, closed.inputs)]
    if any(part is None for part in found):
        return None
    A, B, C, D = (part if part is not None else () for part in found)
    ones = tuple(tuple(ONE if j == k else ZERO for j in range(count)) for k in range(n, count))
    L = (*((*row, *(ZERO,) * (count - n)) for row in m["L"]), *ones)
    B_1 = (*m["B_1"], *zeros(count - n, len(u)))
    found_loop = replace(
        closed,
        states=z,
        matrices={
            "L": L,
            "A": negative(A),
            "B": B,
            "C": C,
            "D": D,
            "N": zeros(count, count),
            "B_1": B_1,
            "D_1": m["D_1"],
        },
        vectors={"f": (ZERO,) * count, "f_y": (ZERO,) * len(closed.outputs)},
        displacements={},
        algebraic=Algebraic(),
        initial={},
        where={**closed.where, **tangent.arithmetic.where},
    )
    return tidied(found_loop, tangent.arithmetic.where)


def _is_constant(closed: EquationSystem) -> bool:
    """Whether the power matrices hold neither variables nor names for something that does."""
    variables = {*closed.states, *closed.displacements, *closed.inputs, *closed.algebraic.unknowns}
    entries = (e for matrix in closed.matrices.values() for row in matrix for e in row)
    return not any(variables & e.free_symbols for e in (*entries, *closed.where.values()))


class _Tangent:
    """Derivatives at a point, the unknowns of algebraic loops eliminated."""

    def __init__(self, closed: EquationSystem, point: Mapping[str, Expression]) -> None:
        self.closed = closed
        self.point = point
        self.values = parameter_values(closed.parameters)
        self.arithmetic = NamedEntries(closed.parameters, [*closed.where, *point], prefix="k")

    def of(self, functions: Vector, names: tuple[str, ...]) -> Matrix | None:
        """The derivatives of functions by names; None where one depends on what only numbers decide."""
        direct = self._derivatives(functions, names)
        unknowns = self.closed.algebraic.unknowns
        if not unknowns or direct is None:
            return direct
        through = self._derivatives(functions, unknowns)
        residuals = self.closed.algebraic.residuals
        square, right = self._derivatives(residuals, unknowns), self._derivatives(residuals, names)
        if through is None or square is None or right is None:
            return None
        follow = self._solved(square, right, len(names))
        return plus(direct, negative(product(through, follow, len(names))))

    def _solved(self, square: Matrix, right: Matrix, width: int) -> Matrix:
        n, entry = len(square), self.arithmetic.entry
        rows = [{j: entry(e) for j, e in enumerate(row) if e is not ZERO} for row in square]
        known = [{n + j: entry(e) for j, e in enumerate(row) if e is not ZERO} for row in right]
        found, left = solve(rows, known, range(n), self.arithmetic)
        if left:
            raise rules.NO_OPERATING_POINT.error(
                f"the algebraic loop of {listing(self.closed.algebraic.unknowns)} has no unique solution",
                where=self.closed.name,
                fix="put a state into the loop",
            )
        return tuple(
            tuple(found[k][n + j].expression if n + j in found[k] else ZERO for j in range(width)) for k in range(n)
        )

    def _derivatives(self, functions: Vector, names: tuple[str, ...]) -> Matrix | None:
        rows = tuple(tuple(self._at_point(f.derivative(name)) for name in names) for f in functions)
        free = set(self.closed.algebraic.unknowns)
        for row in rows:
            for e in row:
                if free & e.free_symbols or any(isinstance(node, Condition) for node in postorder(e)):
                    return None
        return rows

    def _at_point(self, expression: Expression) -> Expression:
        """The expression at the point, conditions decided by the values of parameters where they are known."""
        made: dict[Expression, Expression] = {}
        for node in postorder(expression.substitute(self.point)):
            new = rebuild(node, tuple(made[arg] for arg in node.args)) if node.args else node
            made[node] = self._decided(new) if isinstance(new, Call) else new
        return made[expression.substitute(self.point)]

    def _decided(self, call: Call) -> Expression:
        """The branch that the values of parameters choose, where they are known."""
        tested = call.arguments[:1] if call.name == "if" else call.arguments
        if call.name not in ("if", "min", "max") or any(e.free_symbols - self.values.keys() for e in tested):
            return call
        if call.name == "if":
            return call.arguments[1] if tested[0].evaluate(self.values) else call.arguments[2]
        choose = min if call.name == "min" else max
        return choose(tested, key=lambda e: float(e.evaluate(self.values)))
