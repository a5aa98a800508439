"""The linear model that touches a nonlinear one at an operating point: as numbers, or with symbols where they say what it is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tellegen.core import dense
from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product, solved, zeros
from tellegen.equations.system import (
    NOTHING_MEASURED,
    Algebraic,
    EquationSystem,
    MatrixName,
    OperatingPoint,
    number_of,
    parameter_values,
    with_short_names_inlined,
)
from tellegen.expressions import ONE, ZERO, Call, Condition, Expression, number, postorder, rebuild, symbol
from tellegen.expressions.elimination import NamedEntries, resolved_definitions

Point = Mapping[str, float]

_STEPS, _TOLERANCE = 100, 1e-12


def linearise_equations(system: EquationSystem, at: Point, origin: str = "") -> EquationSystem:
    """The tangent model at values of states, displacements and inputs (zero where not given), in deviations, as numbers.

    With R = -(A + N) x - f + B u: `L dx' = (R_x - L_x x') dx + R_u du + B_1 du'`. Algebraic unknowns are solved for by Newton's
    method and eliminated. Displacements become states after the others, with their own rates and ones on the diagonal of L.
    `origin` says in words what the point is.

    Raises: EquationError when a parameter has no value, or the operating point does not exist.
    """
    point = _Point(system, at)
    written = point.system
    states = (*system.states, *system.displacements)
    forces, rates, outputs = right_sides(written)
    # Where L moves with the state, L x' has a slope of its own beside L dx': it counts against the forces.
    A = plus(negative(point.jacobian(rates, states)), point.inertial_term(forces, states))
    B = plus(point.jacobian(rates, system.inputs), negative(point.inertial_term(forces, system.inputs)))
    C, D = point.jacobian(outputs, states), point.jacobian(outputs, system.inputs)
    numbers: dict[MatrixName, Matrix] = {name: point.numbers(written.matrices[name]) for name in ("L", "B_1", "D_1")}
    found = _with_jacobians(replace(system, matrices={**system.matrices, **numbers}), A, B, C, D)
    return replace(
        found,
        where={},
        stored_energy=None,
        # A quadratic form of deviations is no power of the model: what a fan takes at its speed is not in it.
        dissipated_power=ZERO,
        potential_energy=ZERO,
        dependent={},
        measured=NOTHING_MEASURED,
        point=None if system.linear else point.said(origin),
    )


def linearise_loop(closed: EquationSystem, at: Point, origin: str = "") -> EquationSystem | None:
    """The linear part of a closed loop at a point, with symbols; None where numbers are needed to say what it is."""
    if not _is_constant(closed):
        return None
    states = (*closed.states, *closed.displacements)
    # Variables get numbers and parameters stay symbols: so poles can be told as formulas of gains.
    tangent = _Tangent(closed, {name: number(at.get(name, 0.0)) for name in (*states, *closed.inputs)})
    _, rates, outputs = right_sides(closed)
    found = [tangent.of(part, names) for part in (rates, outputs) for names in (states, closed.inputs)]
    if any(part is None for part in found):
        return None
    A, B, C, D = (part if part is not None else () for part in found)
    linear = _with_jacobians(closed, negative(A), B, C, D)
    there = {name: float(at.get(name, 0.0)) for name in (*states, *closed.inputs)}
    # The tangent of a loop without curves is the same everywhere: no point is worth a word.
    point = OperatingPoint(there, origin) if tangent.depends_on_point else None
    named = replace(linear, where={**closed.where, **tangent.arithmetic.where}, point=point)
    return with_short_names_inlined(named, tangent.arithmetic.where)


def has_constant_tangent(closed: EquationSystem) -> bool:
    """Whether the linear part of a system is the same at every point."""
    variables = {*closed.states, *closed.displacements, *closed.inputs, *closed.algebraic.unknowns}
    parts = [*right_sides(closed)[1], *right_sides(closed)[2], *closed.algebraic.residuals]
    names = sorted(variables)
    return _is_constant(closed) and not any(
        variables & f.derivative(name).free_symbols for f in parts for name in names if name in f.free_symbols
    )


def right_sides(system: EquationSystem) -> tuple[Vector, Vector, Vector]:
    """-(A + N) x - f + B u, the same with the rates of displacements below, and C x + D u + f_y."""
    m, v = system.matrices, system.vectors
    x, u = [symbol(n) for n in system.states], [symbol(n) for n in system.inputs]
    rows = zip(m["A"], m["N"], m["B"], v["f"], strict=True)
    forces = tuple(dot(b, u) - dot(a, x) - dot(n, x) - f for a, n, b, f in rows)
    outputs = tuple(dot(c, x) + dot(d, u) + f for c, d, f in zip(m["C"], m["D"], v["f_y"], strict=True))
    return forces, (*forces, *system.displacements.values()), outputs


def _with_jacobians(system: EquationSystem, A: Matrix, B: Matrix, C: Matrix, D: Matrix) -> EquationSystem:
    """The linear system whose states are those of the system and its displacements, with these derivatives."""
    m, n, moved = system.matrices, len(system.states), len(system.displacements)
    count, inputs = n + moved, len(system.inputs)
    # Displacements have their rates by themselves, L x' = ... with ones.
    ones = tuple(tuple(ONE if j == n + k else ZERO for j in range(count)) for k in range(moved))
    matrices: dict[MatrixName, Matrix] = {
        "L": (*((*row, *(ZERO,) * moved) for row in m["L"]), *ones),
        "A": A,
        "B": B,
        "C": C,
        "D": D,
        "N": zeros(count, count),
        "B_1": (*m["B_1"], *zeros(moved, inputs)),
        "D_1": m["D_1"],
    }
    return replace(
        system,
        states=(*system.states, *system.displacements),
        matrices=matrices,
        vectors={"f": (ZERO,) * count, "f_y": (ZERO,) * len(system.outputs)},
        displacements={},
        algebraic=Algebraic(),
        initial={},
    )


class _Point:
    """An operating point with its algebraic unknowns solved, and derivatives taken there."""

    def __init__(self, system: EquationSystem, at: Point) -> None:
        self.system = _written_out(system)
        self.values = dict(system.values())
        variables = (*system.states, *system.displacements, *system.inputs)
        self.given = {name: float(at.get(name, 0.0)) for name in variables}
        self.values |= self.given
        self._solve_unknowns(at)

    def said(self, origin: str) -> OperatingPoint:
        """The point as a value, to be printed."""
        return OperatingPoint(self.given, origin)

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
        residuals = self.system.algebraic.residuals
        # Implicit functions: r(z, w) = 0 gives dw/dz = -(dr/dw)^-1 dr/dz.
        follow = _solve(self._derivatives(residuals, unknowns), self._derivatives(residuals, names))
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
        # L is constant for most models, and then nothing has to be solved.
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

    def _derivatives(self, functions: Vector, names: Sequence[str]) -> list[list[float]]:
        return [[self.number(function.derivative(name)) for name in names] for function in functions]

    def _solve_unknowns(self, at: Point) -> None:
        """Newton's method with halved steps, from what is known of the point, else from zero."""
        unknowns, residuals = self.system.algebraic.unknowns, self.system.algebraic.residuals
        # From rest, where nothing is known: the solution that a motion from zero would have followed.
        self.values |= {name: float(at.get(name, 0.0)) for name in unknowns}
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
        # Halved until the residual does not grow: a full step of Newton's method overshoots at laws like that of a diode.
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
    """The solution for the few unknowns of an operating point."""
    try:
        return dense.solve(matrix, right)
    except ArithmeticError as reason:
        what = "the equations are singular at the operating point"
        raise rules.NO_OPERATING_POINT.error(what, fix="choose another operating point") from reason


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
        self.depends_on_point = False

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
        follow = solved(square, right, len(names), self.arithmetic)
        if follow is None:
            raise rules.NO_OPERATING_POINT.error(
                f"the algebraic loop of {listing(unknowns)} has no unique solution",
                where=self.closed.name,
                fix="put a state into the loop",
            )
        return plus(direct, negative(product(through, follow, len(names))))

    def _derivatives(self, functions: Vector, names: tuple[str, ...]) -> Matrix | None:
        slopes = [[f.derivative(name) for name in names] for f in functions]
        self.depends_on_point |= any(self.point.keys() & e.free_symbols for row in slopes for e in row)
        rows = tuple(tuple(self._at_point(e) for e in row) for row in slopes)
        free = set(self.closed.algebraic.unknowns)
        for row in rows:
            for e in row:
                # A tangent that depends on what only a solver finds, or on a branch that only numbers choose, has no symbols.
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
        # A limit that is not reached at the point is no part of the tangent; whether it is, the values of parameters tell.
        if call.name not in ("if", "min", "max") or any(e.free_symbols - self.values.keys() for e in tested):
            return call
        if call.name == "if":
            return call.arguments[1] if tested[0].evaluate(self.values) else call.arguments[2]
        choose = min if call.name == "min" else max
        return choose(tested, key=lambda e: float(e.evaluate(self.values)))
