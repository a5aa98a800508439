"""Whether the loops of a model have other solutions at the start than the one with which a run begins.

Laws that rise everywhere have one solution (Desoer and Katzenelson 1965). So loops are searched only where a law falls somewhere:
one unknown between changes of sign of its residual, several by Newton's method from other points.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, final

import numpy as np

from tellegen.causality import CausalGraph
from tellegen.compiler.builder import build_program
from tellegen.compiler.code import base_parameters
from tellegen.compiler.context import Array, ModelContext, address_of, packed_tables
from tellegen.compiler.interpreter import Interpreter
from tellegen.compiler.newton_search import ROUNDING
from tellegen.compiler.numeric_model import PROTOTYPES, NumericModel
from tellegen.compiler.routines import Routines, flatten, implicit_form
from tellegen.compiler.statements import Newton, Routine, needed_statements
from tellegen.core.domains import other_side
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import listing
from tellegen.experiments import rules
from tellegen.expressions import Expression
from tellegen.expressions.python_code import row_function
from tellegen.graph import ResistiveLaw
from tellegen.graph.power_graph import ARGUMENT, Port
from tellegen.results.run import Run
from tellegen.simulation.problem import Problem


@final
class _LoopResidual:
    """The residuals of the unknowns of one loop, the rest of the model standing still; they wait in a context from `scratch` on."""

    def __init__(
        self, routine: Routine, loop: Newton, names: Sequence[str], tables: Array, places: Sequence[int]
    ) -> None:
        self.names, self.count, self.scratch = tuple(names), len(names), loop.scratch
        # The interpreter lives as long as its addresses are called.
        self._owner = Interpreter([routine], tables, places)
        self._function = PROTOTYPES["tangent"](self._owner.addresses["tangent"])

    def at(self, unknowns: Array, t: float, y: Array, yp: Array, context: ModelContext) -> Array:
        """The residuals; zero where rounding decides them, and not a number where a law has no value."""
        found = np.full(2 * self.count, np.nan)
        arrays = [np.ascontiguousarray(a, dtype=float) for a in (y, yp, unknowns)]
        failed = context.struct.failed
        self._function(context.address, t, *map(address_of, arrays), None, None, address_of(found))
        context.struct.failed = failed
        residuals, terms = found[: self.count], found[self.count :]
        return np.where(np.abs(residuals) <= ROUNDING * terms, 0.0, residuals)


def _bent_loops(model: NumericModel, most: int) -> list[_LoopResidual]:
    """The loops of a compiled model that are not linear, of so many unknowns at most."""
    causal = None if model.made_by is None else model.made_by[1][0]
    # What a solver has among its own variables it solves for itself, of large models.
    if not isinstance(causal, CausalGraph) or model.unknowns:
        return []
    program = build_program(causal)
    if not program.unknowns:
        return []
    flat, base = flatten(program), base_parameters(program)
    form = implicit_form(flat)
    leaves = Routines(flat, form, None, base).leaves
    tables, places = packed_tables(program.signals.tables)
    found = []
    for k, statement in enumerate(form.statements):
        if isinstance(statement, Newton) and not statement.linear and len(statement.unknowns) <= most:
            results = (*statement.residuals, *statement.terms)
            needed = needed_statements([*form.statements[:k], *statement.body, *statement.measures], results)
            # As directions of a tangent, which a function of model.h is given beside y and yp.
            own = {unknown: ("dy", i) for i, unknown in enumerate(statement.unknowns)}
            routine = Routine("tangent_y", needed, results, leaves | own, checked=False)
            names = [program.names[unknown] for unknown in statement.unknowns]
            found.append(_LoopResidual(routine, statement, names, tables, places))
    return found


MOST_UNKNOWNS: Final = 8
MOST_TOLD: Final = 4
APART: Final = 1e-6
"""Solutions that differ by a smaller share are one, known to the rounding of flat laws."""
LEAST: Final = 1e-12
DRAWN: Final = 60
_DECADES: Final = np.logspace(-12.0, 9.0, 21 * 30 + 1)
GRID: Final = np.concatenate([-_DECADES[::-1], [0.0], _DECADES])
_NARROW: Final = 200
_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0


def with_several_solutions(run: Run, problem: Problem) -> Run:
    """The run, with a warning where a loop has several solutions at its first row."""
    if not len(run.t):
        return run
    model = run.trajectory.model
    hidden = len(model.variables) - model.size - len(model.observables)
    falling = [port for port in run.graph.ports if _falls(port, run)] if hidden and not model.unknowns else []
    found = tuple(_findings(run, problem, falling)) if falling else ()
    return replace(run, notices=(*found, *run.notices)) if found else run


# -- laws ----------------------------------------------------------------------------------------------------------------------


def _falls(port: Port, run: Run) -> bool:
    """Whether a resistive law gives less somewhere where it is told more."""
    law = port.law
    if not isinstance(law, ResistiveLaw) or law.potential is not None:
        return False
    formula = law.expression if law.coefficient is None else law.coefficient
    if formula is None:
        return False
    known = {name: v for name in formula.free_symbols - {ARGUMENT} if (v := _value(run, name)) is not None}
    if formula.free_symbols - {ARGUMENT} - known.keys():
        return False
    if law.coefficient is None:
        return _falls_somewhere(formula, tuple(sorted(known.items())))
    try:
        return formula.evaluate(known) < 0.0
    except (ArithmeticError, ValueError):
        return False


def _value(run: Run, name: str) -> float | None:
    if name in run.parameters:
        return run.parameters[name]
    try:
        return float(run.values(name)[0])
    except TellegenError:
        return None


@lru_cache(maxsize=256)
def _falls_somewhere(formula: Expression, known: tuple[tuple[str, float], ...]) -> bool:
    law = row_function(formula, [ARGUMENT, *(name for name, _ in known)])
    others = [value for _, value in known]
    values = np.array([law([x, *others]) for x in GRID.tolist()])
    values = values[np.isfinite(values)]
    # A law that is flat falls by rounding.
    return bool(np.any(np.diff(values) < -1e-12 * np.maximum(np.abs(values[1:]), np.abs(values[:-1]))))


# -- solutions -----------------------------------------------------------------------------------------------------------------


class _Start:
    """The first row of a run, at which loops are evaluated."""

    def __init__(self, run: Run, problem: Problem) -> None:
        made = run.trajectory
        self.model: NumericModel = made.model
        self.t, self.y, self.yp = float(made.t[0]), made.y[0].copy(), made.yp[0].copy()
        names = problem.model.parameters, problem.model.inputs
        # Where the run began in another mode than the problem, its model may lack a name.
        given = [
            dict(zip(words, values.tolist(), strict=True)) for words, values in zip(names, problem.given, strict=True)
        ]
        own = (self.model.parameters, self.model.inputs)
        self.context: ModelContext = self.model.new_context(
            *({name: known[name] for name in words if name in known} for words, known in zip(own, given, strict=True))
        )
        if made.memory is not None:
            self.context.memory[: len(self.model.memory)] = np.asarray(made.memory)[0]
        if made.past is not None:
            made.past.tie(self.context)

    def residual(self, loop: _LoopResidual, unknowns: Array) -> Array:
        return loop.at(unknowns, self.t, self.y, self.yp, self.context)

    def near(self, loop: _LoopResidual, unknowns: Array) -> tuple[Array, Array] | None:
        """The solution that is found from a point, and what is observed at it; None where none is."""
        kept = self.context.values[loop.scratch : loop.scratch + loop.count]
        kept[:] = unknowns
        try:
            seen = self.model.observe(self.t, self.y, self.yp, self.context)
        except FloatingPointError:
            return None
        return kept.copy(), seen


def _points(start: _Start, loop: _LoopResidual, taken: Array) -> list[Array]:
    """Where other solutions are, of one unknown, or where they are looked for from."""
    if loop.count == 1:
        around = np.concatenate([GRID, taken[0] + GRID[np.abs(GRID) < 10.0 * (abs(taken[0]) or 1.0)]])
        roots = zeros_between_signs(lambda x: float(start.residual(loop, np.array([x]))[0]), np.unique(around))
        return [np.array([x]) for x in roots]
    size = float(np.max(np.abs(taken))) or 1.0
    draw = np.random.default_rng(0)
    spread = draw.choice([-1.0, 1.0], (DRAWN, loop.count)) * 10.0 ** draw.uniform(-3.0, 3.0, (DRAWN, loop.count))
    # Along each unknown, too: where one law has branches, the others follow it.
    along = [
        taken + sign * size * 10.0**k * row for row in np.eye(loop.count) for k in range(-2, 3) for sign in (-1, 1)
    ]
    return [*along, *spread, *(size * spread)]


def _solutions(start: _Start, loop: _LoopResidual, taken: Array) -> list[Array]:
    """What is observed at each solution, that of the run first."""
    found = [start.near(loop, point) for point in (taken, *_points(start, loop, taken))]
    made = [one for one in found if one is not None]
    if found[0] is None or len(made) < 2:
        return []
    # Beside the largest: a zero is found to the rounding of what cancels in it.
    least = LEAST + APART * np.max([np.abs(unknowns) for unknowns, _ in made], axis=0)
    apart: list[tuple[Array, Array]] = []
    for one in made:
        if all(np.any(np.abs(one[0] - other) > least) for other, _ in apart):
            apart.append(one)
    return [seen for _, seen in apart]


def zeros_between_signs(f: Callable[[float], float], grid: Array) -> list[float]:
    """Where a function passes zero between points of a grid, or comes down to it and turns back between three of them."""
    # A zero lies between its neighbours: what is zero itself, if only by rounding, has no sign.
    points = [(x, v) for x in grid.tolist() if math.isfinite(v := f(x)) and v != 0.0]
    dips = [
        (x, f(x))
        for (a, u), (_, v), (b, w) in zip(points, points[1:], points[2:], strict=False)
        if u * v > 0.0 and v * w > 0.0 and abs(v) <= min(abs(u), abs(w))
        for x in (_lowest(f, a, b, math.copysign(1.0, v)),)
    ]
    points = sorted({*points, *((x, v) for x, v in dips if v != 0.0)})
    return [x for (a, u), (b, v) in pairwise(points) if u * v < 0.0 for x in _between(f, a, u, b, v)]


def _lowest(f: Callable[[float], float], a: float, b: float, sign: float) -> float:
    """Where the function is least between two points, by the golden section, or the first place behind zero."""
    for _ in range(80):
        left, right = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
        u, v = sign * f(left), sign * f(right)
        if u < 0.0 or v < 0.0:
            return left if u < 0.0 else right
        a, b = (a, right) if u < v else (left, b)
    return 0.5 * (a + b)


def _between(f: Callable[[float], float], a: float, u: float, b: float, v: float) -> Iterator[float]:
    """The zero between two signs; none where the function jumps there, or has a pole."""
    most = max(abs(u), abs(v))
    for _ in range(_NARROW):
        middle = 0.5 * (a + b)
        if not a < middle < b:
            break
        value = f(middle)
        if value * u > 0.0:
            a, u = middle, value
        else:
            b, v = middle, value
    if min(abs(u), abs(v)) <= 1e-6 * most:
        yield a if abs(u) < abs(v) else b


# -- findings ------------------------------------------------------------------------------------------------------------------


def _findings(run: Run, problem: Problem, falling: list[Port]) -> Iterator[Finding]:
    start = _Start(run, problem)
    place = {o.name: k for k, o in enumerate(start.model.observables)}
    for loop in _bent_loops(start.model, MOST_UNKNOWNS):
        if not place.keys() >= set(loop.names):
            continue
        found = _solutions(start, loop, run.table(loop.names)[0])
        finding = _finding(run, falling, place, found, loop.count) if len(found) > 1 else None
        if finding is not None:
            yield finding


def _finding(
    run: Run, falling: list[Port], place: Mapping[str, int], found: list[Array], unknowns: int
) -> Finding | None:
    observed, others, told = found[0], found[1:], dict[str, tuple[Port, str]]()
    for port in falling:
        assert isinstance(port.law, ResistiveLaw), "only resistive laws fall"
        name = port.variable(other_side(port.law.side))
        if name in place and any(abs(seen[place[name]] - observed[place[name]]) > LEAST for seen in others):
            told[port.element] = (port, name)
    # Where no falling law moves, it is rounding of the flat ones that differs.
    if not told:
        return None
    port, name = next(iter(told.values()))
    k = place[name]
    values = [f"{name} = {seen[k]:.6g}" for seen in sorted(others, key=lambda seen: float(seen[k]))]
    more = f" and {len(values) - MOST_TOLD} more" if len(values) > MOST_TOLD else ""
    many = len(told) > 1
    # Between signs all are found, from other points those that are met.
    count = len(found) if unknowns == 1 else f"at least {len(found)}"
    return rules.SEVERAL_STARTS.finding(
        f"at t = {run.t[0]:.6g} s the law{'s' if many else ''} of {listing(told)} {'allow' if many else 'allows'} "
        f"{count} solutions: {name} = {observed[k]:.6g} is taken, also possible: {', '.join(values[:MOST_TOLD])}{more}",
        where=port.element,
        fix=f"give '{port.element}' a small storage, beside it where its law gives the through variable, in line with it where "
        "the across one: its initial value then decides",
        place=port.place,
        members=tuple(told),
    )
