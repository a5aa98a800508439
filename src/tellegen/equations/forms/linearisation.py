"""The linear model that touches a nonlinear one at an operating point."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, zeros
from tellegen.equations.system import NOTHING_MEASURED, Algebraic, EquationSystem, number_of
from tellegen.expressions import ONE, ZERO, Expression, number, symbol
from tellegen.expressions.elimination import resolved_definitions

Point = Mapping[str, float]

_STEPS, _TOLERANCE = 100, 1e-12


def linearise_equations(system: EquationSystem, at: Point) -> EquationSystem:
    """The tangent model at values of states, displacements and inputs (zero where not given), in deviations, as numbers.

    With R = -(A + N) x - f + B u: `L dx' = (R_x - L_x x') dx + R_u du + B_1 du'`. Algebraic unknowns are solved for by Newton's
    method and eliminated. Displacements become states after the others, with their own rates and ones on the diagonal of L.

    Raises: EquationError when a parameter has no value, or the operating point does not exist.
    """
    point = _Point(system, at)
    m = point.system.matrices
    states = (*system.states, *system.displacements)
    x = [symbol(n) for n in system.states]
    u = tuple(symbol(n) for n in system.inputs)
    forces = tuple(
        dot(b, u) - dot(a, x) - dot(n, x) - f
        for a, n, b, f in zip(m["A"], m["N"], m["B"], point.system.vectors["f"], strict=True)
    )
    rates = (*forces, *point.system.displacements.values())
    outputs = tuple(
        dot(c, x) + dot(d, u) + f for c, d, f in zip(m["C"], m["D"], point.system.vectors["f_y"], strict=True)
    )
    A = plus(negative(point.jacobian(rates, states)), point.inertial_term(forces, states))
    B = plus(point.jacobian(rates, system.inputs), negative(point.inertial_term(forces, system.inputs)))
    C, D = point.jacobian(outputs, states), point.jacobian(outputs, system.inputs)
    moved = len(system.displacements)
    still = zeros(moved, len(u))
    return replace(
        system,
        states=states,
        matrices={
            "L": _with_ones(point.numbers(m["L"]), moved),
            "A": A,
            "B": B,
            "C": C,
            "D": D,
            "N": zeros(len(states), len(states)),
            "B_1": (*point.numbers(m["B_1"]), *still),
            "D_1": point.numbers(m["D_1"]),
        },
        vectors={"f": (ZERO,) * len(states), "f_y": (ZERO,) * len(system.outputs)},
        algebraic=Algebraic(),
        where={},
        stored_energy=None,
        dissipated_power=_quadratic(states, u, A, B, C, D) if len(system.outputs) == len(u) else ZERO,
        dependent={},
        initial={},
        displacements={},
        measured=NOTHING_MEASURED,
    )


def _with_ones(L: Matrix, count: int) -> Matrix:
    """L with ones for the displacements below it."""
    n = len(L)
    rows = tuple((*row, *(ZERO,) * count) for row in L)
    return (*rows, *(tuple(ONE if j == n + k else ZERO for j in range(n + count)) for k in range(count)))


def _quadratic(states: Sequence[str], u: Vector, A: Matrix, B: Matrix, C: Matrix, D: Matrix) -> Expression:
    """What the deviations dissipate: x^T (A x - B u) + u^T (C x + D u)."""
    x = [symbol(n) for n in states]
    return dot(x, (dot(a, x) - dot(b, u) for a, b in zip(A, B, strict=True))) + dot(
        u, (dot(c, x) + dot(d, u) for c, d in zip(C, D, strict=True))
    )


class _Point:
    """An operating point with its algebraic unknowns solved, and derivatives taken there."""

    def __init__(self, system: EquationSystem, at: Point) -> None:
        self.system = _written_out(system)
        self.values = dict(system.values())
        variables = (*system.states, *system.displacements, *system.inputs)
        self.values |= {name: float(at.get(name, 0.0)) for name in variables}
        self._solve_unknowns()

    def number(self, expression: Expression) -> float:
        """The value of an expression at the point."""
        return number_of(expression, self.values, self.system.name)

    def numbers(self, matrix: Matrix) -> Matrix:
        """A matrix evaluated at the point."""
        return tuple(tuple(number(self.number(e)) for e in row) for row in matrix)

    def jacobian(self, functions: Vector, names: Sequence[str]) -> Matrix:
        """The derivatives of functions by names, the unknowns following them."""
        direct = self._derivatives(functions, names)
        unknowns = self.system.algebraic.unknowns
        if not unknowns:
            return tuple(tuple(number(e) for e in row) for row in direct)
        through = self._derivatives(functions, unknowns)
        follow = _solve(self._derivatives(self.system.algebraic.residuals, unknowns), self._residual_jacobian(names))
        return tuple(
            tuple(number(d - sum(t * follow[k][j] for k, t in enumerate(row_w))) for j, d in enumerate(row))
            for row, row_w in zip(direct, through, strict=True)
        )

    def inertial_term(self, rates: Vector, names: Sequence[str]) -> Matrix:
        """The derivative of L by names, times the rates of the states: zero at an equilibrium and for constant L.

        The rows of displacements, below, are zero.
        """
        L = self.system.matrices["L"]
        moved = zeros(len(self.system.displacements), len(names))
        if not any(set(names) & e.free_symbols for row in L for e in row):
            return (*zeros(len(L), len(names)), *moved)
        inertia = [[self.number(e) for e in row] for row in L]
        speed = [row[0] for row in _solve(inertia, [[self.number(e)] for e in rates])]
        terms = tuple(
            tuple(
                number(sum(self.number(e.derivative(name)) * v for e, v in zip(row, speed, strict=True)))
                for name in names
            )
            for row in L
        )
        return (*terms, *moved)

    def _residual_jacobian(self, names: Sequence[str]) -> list[list[float]]:
        return self._derivatives(self.system.algebraic.residuals, names)

    def _derivatives(self, functions: Vector, names: Sequence[str]) -> list[list[float]]:
        return [[self.number(function.derivative(name)) for name in names] for function in functions]

    def _solve_unknowns(self) -> None:
        """Newton's method with halved steps, from zero."""
        unknowns, residuals = self.system.algebraic.unknowns, self.system.algebraic.residuals
        self.values |= dict.fromkeys(unknowns, 0.0)
        for _ in range(_STEPS if unknowns else 0):
            now = [self.number(r) for r in residuals]
            step = [row[0] for row in _solve(self._derivatives(residuals, unknowns), [[r] for r in now])]
            self._advance(unknowns, step, max(map(abs, now)))
            if max(map(abs, step)) <= _TOLERANCE * (1 + max(abs(self.values[w]) for w in unknowns)):
                return
        if unknowns:
            raise rules.NO_OPERATING_POINT.error(
                f"the algebraic equations for {', '.join(unknowns)} were not solved in {_STEPS} steps",
                where=self.system.name,
                fix="give an operating point nearer to rest",
            )

    def _advance(self, unknowns: Sequence[str], step: Sequence[float], residual: float) -> None:
        start = {w: self.values[w] for w in unknowns}
        share = 1.0
        while share > 1e-6:
            self.values |= {w: start[w] - share * s for w, s in zip(unknowns, step, strict=True)}
            if max(abs(self.number(r)) for r in self.system.algebraic.residuals) <= residual:
                return
            share /= 2


def _written_out(system: EquationSystem) -> EquationSystem:
    """The system with the names of `where` replaced, so that derivatives see through them."""
    written = resolved_definitions(system.where)
    return replace(system.everywhere(lambda e: e.substitute(written)), where={}) if written else system


def _solve(matrix: list[list[float]], right: list[list[float]]) -> list[list[float]]:
    """Gaussian elimination with partial pivoting, for the few unknowns of an operating point."""
    n = len(matrix)
    rows = [[*a, *b] for a, b in zip(matrix, right, strict=True)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if rows[best][k] == 0.0:
            raise rules.NO_OPERATING_POINT.error(
                "the equations are singular at the operating point", fix="choose another operating point"
            )
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(n):
            if i != k and rows[i][k] != 0.0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [[value / rows[k][k] for value in rows[k][n:]] for k in range(n)]
