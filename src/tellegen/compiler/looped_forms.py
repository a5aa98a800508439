"""Residuals and rates of large models, group by group."""

from dataclasses import dataclass
from typing import final

from tellegen.compiler.program import Program
from tellegen.compiler.rates import compact
from tellegen.compiler.steps import Group, Reading, Rows, Step
from tellegen.expressions import ZERO, Expression, derivative


@final
@dataclass(frozen=True)
class LoopedForms:
    """The core in two: what comes before the residuals, and these; `rates` compute yp where the model is explicit.

    `rate_variables` are the numbers of the variables that hold yp, in the order of y.
    """

    before: list[Step]
    residuals: list[Step]
    rates: list[Step] | None
    rate_variables: list[int]


def looped_forms(program: Program) -> LoopedForms:
    """Divide the core, and solve each residual for its own rate where that is possible for all."""
    last = set(program.residuals)
    before: list[Step] = []
    residuals: list[Step] = []
    for step in program.core:
        ends = isinstance(step, Group) and all(k in last for k in step.targets)
        (residuals if ends else before).append(step)
    rates = _solved(program, before, residuals)
    return LoopedForms(before, residuals, rates[0] if rates else None, rates[1] if rates else [])


def _solved(program: Program, before: list[Step], residuals: list[Step]) -> tuple[list[Step], list[int]] | None:
    moving = set(program.rates)
    if program.unknowns or any(not moving.isdisjoint(_sources(step)) for step in before):
        return None
    own = dict(zip(program.residuals, program.rates, strict=True))
    place = dict(zip(program.residuals, range(len(program.residuals)), strict=True))
    found: list[Step] = []
    numbers = [-1] * len(program.residuals)
    for step in residuals:
        assert isinstance(step, Group), "residuals are formulas"
        solved = _solved_group(step, own, moving, program)
        if solved is None:
            return None
        found.append(solved)
        for target, k in zip(solved.targets, step.targets, strict=True):
            numbers[place[k]] = target
    return (found, numbers) if all(k >= 0 for k in numbers) else None


def _solved_group(step: Group, own: dict[int, int], moving: set[int], program: Program) -> Group | None:
    """The group solved for the rate of each residual; the rate stands in the same slot for all members."""
    wanted = [own[k] for k in step.targets]
    slots = [s for s, column in enumerate(step.arguments) if column == wanted]
    others = [k for s, column in enumerate(step.arguments) if s not in slots for k in column]
    if len(slots) != 1 or not moving.isdisjoint(others):
        return None
    name = f"@{slots[0]}"
    slope = derivative(step.template, name)
    if slope is ZERO or name in slope.free_symbols:
        return None
    solved: Expression = -step.template.substitute({name: ZERO}) / slope
    kept = compact(solved)
    targets = []
    for k in step.targets:
        program.names.append(f"rate of {program.names[own[k]]}")
        targets.append(len(program.names) - 1)
    arguments = [step.arguments[s] for s in kept.arguments]
    return Group(kept.template, targets, arguments, [step.coefficients[s] for s in kept.coefficients])


def _sources(step: Step) -> list[int]:
    if isinstance(step, Rows):
        return step.sources
    if isinstance(step, Reading):
        return step.arguments
    return [k for column in step.arguments for k in column]
