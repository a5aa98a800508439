"""Equations of students, compared with those of a model by value: another way to write the same is right.

Points are random, with all values of order one: at the values of a machine a share of 1e-11 would be lost in rounding.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from random import Random
from typing import final

import numpy as np

from tellegen.core.errors import TellegenError
from tellegen.core.language import Phrases
from tellegen.core.names import did_you_mean, listing
from tellegen.equations.matrices import dot
from tellegen.equations.system import EquationSystem, parameter_values
from tellegen.expressions import ZERO, Expression, parse, symbol, to_text
from tellegen.expressions.elimination import with_definitions
from tellegen.teaching import rules
from tellegen.teaching.tasks import Answers, Mark, missing

POINTS = 3
"""So many random points: two different formulas of this size agree at all of them by no accident."""
SAME = 1e-7
"""What rounding may leave of a residual, beside the size of its terms."""
ALIKE = 1e-5
"""Shares are differences of numbers, and less exact than what is left of an equation."""
RATE = re.compile(r"([A-Za-z][A-Za-z0-9_.\[\],]*)\s*'")
RATE_WORD = "rate_of_"
Point = dict[str, float]
Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def equation_texts(system: EquationSystem) -> Iterator[str]:
    """The state equations of a system, one text each: `L_a*I_a' = V_a - R_a*I_a - K_m*omega_m`."""
    m, f = system.matrices, system.vectors["f"]
    x, u = ([symbol(name) for name in names] for names in (system.states, system.inputs))
    rates, given = ([symbol(f"{e}'") for e in names] for names in (x, u))
    for i in range(len(x)):
        left = dot(m["L"][i], rates)
        right = dot(m["B"][i], u) + dot(m["B_1"][i], given) - dot(m["A"][i], x) - dot(m["N"][i], x) - f[i]
        yield " = ".join(to_text(with_definitions(side, system.where)) for side in (left, right))


@final
class KnownDynamics:
    """The equations of a model at random points: values for all its names, its rates among them.

    Raises: LessonError (L102) where equations need more than their variables to be evaluated.
    """

    def __init__(self, system: EquationSystem, seed: str = "") -> None:
        self.system = system
        # Of order one, so that no share is lost beside another; near the given values where a law is not defined elsewhere.
        try:
            self.points = self._sampled(Random(f"points {seed}"), near=False)
        except TellegenError:
            self.points = self._sampled(Random(f"points {seed}"), near=True)

    @property
    def names(self) -> tuple[str, ...]:
        """All that an equation may read, rates too."""
        return tuple(self.points[0])

    def _sampled(self, chance: Random, *, near: bool) -> list[Point]:
        values = self._parameters(chance, near=near)
        return [self._point(values, chance) for _ in range(POINTS)]

    def _parameters(self, chance: Random, *, near: bool) -> Point:
        known = parameter_values(self.system.parameters) if near else {}
        free = {name: e for name, e in self.system.parameters.items() if e is None or not e.free_symbols}
        return {name: known.get(name, 1.0) * chance.uniform(0.7, 1.4) for name in free}

    def _point(self, values: Point, chance: Random) -> Point:
        s = self.system
        variables = (*s.states, *s.inputs, *(f"{u}'" for u in s.inputs), *s.displacements)
        at = values | {name: chance.uniform(0.5, 1.5) * chance.choice((-1, 1)) for name in variables}
        return self.at(at)

    def at(self, given: Mapping[str, float]) -> Point:
        """A point with the values of derived parameters, and with the rates that follow."""
        s, at = self.system, dict(given)
        try:
            self._derive(at)
            m = {name: _numbers(s.matrices[name], at) for name in ("L", "N", "A", "B", "B_1")}
            f = np.array([e.evaluate(at) for e in s.vectors["f"]])
            x, u, du = (np.array([at[n] for n in names]) for names in (s.states, s.inputs, [f"{u}'" for u in s.inputs]))
            right = -m["A"] @ x - m["N"] @ x - f
            right += m["B"] @ u + m["B_1"] @ du if s.inputs else 0.0
            rates = np.linalg.solve(m["L"], right)
            at |= {f"{name}'": float(rate) for name, rate in zip(s.states, rates, strict=True)}
            at |= {f"{name}'": rate.evaluate(at) for name, rate in s.displacements.items()}
        except (KeyError, ArithmeticError, ValueError, np.linalg.LinAlgError) as problem:
            what = f"the equations of '{s.name}' cannot be evaluated by their variables alone: {problem}"
            raise rules.NOT_ASKABLE.error(
                what, fix="take a model without signals, modes and loops of nonlinear laws"
            ) from None
        return at

    def _derive(self, at: Point) -> None:
        """The values of parameters that others give, and of the names in formulas."""
        waiting = {n: e for n, e in self.system.parameters.items() if e is not None and e.free_symbols}
        while waiting:
            ready = [name for name, e in waiting.items() if e.free_symbols <= at.keys()]
            if not ready:
                raise KeyError(next(iter(waiting)))
            at |= {name: waiting.pop(name).evaluate(at) for name in ready}
        for name, meaning in self.system.where.items():
            at[name] = meaning.evaluate(at)


def _numbers(matrix: Sequence[Sequence[Expression]], at: Mapping[str, float]) -> Table:
    columns = len(matrix[0]) if matrix else 0
    return np.array([[e.evaluate(at) for e in row] for row in matrix], dtype=float).reshape(len(matrix), columns)


@final
@dataclass(frozen=True, slots=True)
class StudentEquation:
    """An equation as left side minus right side; `rates` are the states whose rates it names, that of the left side first."""

    text: str
    residual: Expression
    rates: tuple[str, ...]

    def at(self, point: Mapping[str, float]) -> float:
        """What is left of it at a point; not a number where it is not defined."""
        try:
            return self.residual.evaluate(_aliased(point))
        except (ArithmeticError, ValueError, KeyError):
            return nan

    def holds(self, points: Sequence[Point]) -> bool:
        """Whether it holds at points, as exactly as numbers can."""
        return all(abs(self.at(point)) <= SAME * self._size(point) for point in points)

    def _size(self, point: Mapping[str, float]) -> float:
        """How large its terms are at a point."""
        values, total = _aliased(point), 0.0
        try:
            for name in self.residual.free_symbols:
                total += abs(self.residual.derivative(name).evaluate(values) * values[name])
        except (ArithmeticError, ValueError, KeyError):
            return 0.0
        return total if isfinite(total) else 0.0

    def slopes(self, states: Sequence[str], point: Mapping[str, float]) -> list[float]:
        """How it depends on the rates of states."""
        values = _aliased(point)
        return [self.residual.derivative(RATE_WORD + state).evaluate(values) for state in states]

    def implied_rate(self, state: str, point: Mapping[str, float]) -> float:
        """The rate of a state that follows from it where all others are as they should be."""
        at_zero, at_one = (self.at({**point, f"{state}'": value}) for value in (0.0, 1.0))
        slope = at_one - at_zero
        return -at_zero / slope if slope else nan


def _aliased(point: Mapping[str, float]) -> Point:
    return {RATE_WORD + name[:-1] if name.endswith("'") else name: value for name, value in point.items()}


def read_formula(text: str, known: Sequence[str], where: str) -> Expression:
    """A formula over known names; rates have a prime.

    Raises: LessonError for a formula that cannot be read (L113), or a name that the sheet does not have (L112).
    """
    plain = RATE.sub(lambda found: RATE_WORD + found[1], text)
    try:
        formula = parse(plain)
    except TellegenError as wrong:
        raise rules.UNREADABLE_ANSWER.error(
            f"the answer to {where} cannot be read: {wrong.what}", where=where, fix=wrong.finding.fix
        ) from None
    names = {RATE_WORD + name[:-1] if name.endswith("'") else name: name for name in known}
    for name in sorted(formula.free_symbols - names.keys()):
        shown = f"{name.removeprefix(RATE_WORD)}'" if name.startswith(RATE_WORD) else name
        fix = did_you_mean(shown, known) or f"known are {listing(known, 20)}"
        raise rules.UNKNOWN_ITEM.error(
            f"'{shown}' in the answer to {where} is no variable of this sheet", where=where, fix=fix
        )
    return formula


def read_equation(text: str, known: Sequence[str], states: Sequence[str], where: str) -> StudentEquation:
    """An equation with one `=`.

    Raises: LessonError as `read_formula`, and for a text that is no equation (L113).
    """
    left, equals, right = text.partition("=")
    if not equals or "=" in right or not left.strip() or not right.strip():
        fix = "write an equation with one '=', and a prime for a rate: L*I' = V - R*I"
        raise rules.UNREADABLE_ANSWER.error(
            f"the answer to {where} is no equation: '{text[:80]}'", where=where, fix=fix
        )
    sides = [read_formula(side, known, where) for side in (left, right)]
    rates = [
        name.removeprefix(RATE_WORD) for e in sides for name in sorted(e.free_symbols) if name.startswith(RATE_WORD)
    ]
    return StudentEquation(text, sides[0] - sides[1], tuple(dict.fromkeys(name for name in rates if name in states)))


def equation_marks(known: KnownDynamics, answers: Answers, say: Phrases) -> tuple[Mark, ...]:
    """A mark for each state: whether an equation gives its rate rightly."""
    states = known.system.states
    given = {
        item: read_equation(text, known.names, states, f"equation {item}")
        for item, text in answers.items()
        if text.strip()
    }
    chosen = _assigned(given, states)
    marks: list[Mark] = []
    told: list[list[float]] = []
    for state in states:
        if state not in chosen:
            marks.append(Mark(state, False, say("grade.no_rate", state=state)))
            continue
        reason = _wrong(given[chosen[state]], state, known, say)
        if not reason:
            # An equation that only says again what others say gives no rate of its own.
            told.append(given[chosen[state]].slopes(states, known.points[0]))
            if np.linalg.matrix_rank(_scaled(told)) < len(told):
                reason = say("grade.repeats", state=state)
        marks.append(Mark(state, not reason, reason))
    extra = [item for item in given if item not in chosen.values()]
    marks += [Mark(item, False, say("grade.false")) for item in extra if not given[item].holds(known.points)]
    return tuple(marks)


def _scaled(rows: list[list[float]]) -> Table:
    found = np.array(rows)
    scaled: Table = found / np.abs(found).max(axis=1, keepdims=True)
    return scaled


def _assigned(given: Mapping[str, StudentEquation], states: Sequence[str]) -> dict[str, str]:
    """For each state the equation that is about its rate: the one that begins with it where there is one."""
    found: dict[str, str] = {}
    for first in (True, False):
        for state in states:
            free = [
                i for i, e in given.items() if i not in found.values() and state in (e.rates[:1] if first else e.rates)
            ]
            if state not in found and free:
                found[state] = free[0]
    return found


def _wrong(equation: StudentEquation, state: str, known: KnownDynamics, say: Phrases) -> str:
    """What is wrong with an equation, empty where nothing is."""
    point = known.points[0]
    if equation.holds(known.points):
        return "" if isfinite(equation.implied_rate(state, point)) else say("grade.no_rate", state=state)
    s = known.system
    for name in (*s.states, *s.inputs):
        other = known.at({**_without_rates(point, s), name: point[name] + 1.0})
        true = other[f"{state}'"] - point[f"{state}'"]
        said = equation.implied_rate(state, other) - equation.implied_rate(state, point)
        size = max(abs(true), abs(said))
        if isfinite(said) and abs(true - said) > ALIKE * size:
            return say(f"grade.{_kind_of(said, true, size)}", state=state, name=name)
    return say("grade.constant", state=state)


def _without_rates(point: Point, system: EquationSystem) -> Point:
    """A point without what follows from it."""
    given = {*system.states, *system.inputs, *system.displacements, *(f"{u}'" for u in system.inputs)}
    given |= {name for name, e in system.parameters.items() if e is None or not e.free_symbols}
    return {name: value for name, value in point.items() if name in given}


def _kind_of(said: float, true: float, size: float) -> str:
    """How a share differs from what it should be."""
    if abs(said) <= ALIKE * size:
        return "lacks"
    if abs(true) <= ALIKE * size:
        return "extra"
    return "sign" if abs(true + said) <= ALIKE * size else "size"


def sum_marks(sums: Mapping[str, Mapping[str, int]], answers: Answers, say: Phrases) -> tuple[Mark, ...]:
    """A mark for each summation: whether each variable enters with its sign."""
    marks = []
    left_out = missing(tuple(sums), answers, say)
    for output, inputs in sums.items():
        if output in left_out:
            marks.append(left_out[output])
            continue
        formula = read_formula(answers[output], tuple(inputs), f"the sum {output}")
        reason = ""
        for name, sign in inputs.items():
            slope = formula.derivative(name)
            value = slope.evaluate({}) if not slope.free_symbols else nan
            if value != sign:
                key = "sum_lacks" if slope is ZERO else "sum_sign" if value == -sign else "sum_size"
                reason = say(f"grade.{key}", sum=output, name=name)
                break
        marks.append(Mark(output, not reason, reason))
    return tuple(marks)
