"""Loops of positions in a run: displacements that follow from others begin where their loop fits, and are kept there.

Rates keep to the equations g = 0 of a loop by themselves, but the errors of a solver add up. So the rates of the displacements q
that the loop decides get the term -G^-1 g / T, G = dg/dq: what is added is forgotten within the time T.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tellegen.core.names import listing
from tellegen.description.mechanisms.assembly import assembled
from tellegen.description.model import Closure
from tellegen.experiments import rules
from tellegen.expressions import Expression, number, total
from tellegen.graph import PowerGraph

TIME = 0.1
"""Within this time, in seconds, what errors added to a loop is forgotten."""


def with_drift_control(graph: PowerGraph, closures: Sequence[Closure]) -> PowerGraph:
    """The graph whose displacements are drawn back to where their loops fit."""
    if not closures:
        return graph
    rates = dict(graph.displacements)
    for closure in closures:
        for name, step in zip(closure.solves, newton_step(closure), strict=True):
            rates[name] = rates[name] - step / number_of(TIME)
    return replace(graph, displacements=rates)


def number_of(value: float) -> Expression:
    """A number as a formula, by its decimal digits."""
    return number(round(value * 1000)) / 1000


def jacobian(closure: Closure) -> list[list[Expression]]:
    """The derivatives of the equations of a loop by the displacements that follow from it."""
    return [[equation.derivative(name) for name in closure.solves] for equation in closure.equations]


def newton_step(closure: Closure) -> list[Expression]:
    """G^-1 g by Cramer's rule: loops have one, two or three equations."""
    G = jacobian(closure)
    whole = determinant(G)
    steps = []
    for k in range(len(closure.solves)):
        changed = [[*row[:k], g, *row[k + 1 :]] for row, g in zip(G, closure.equations, strict=True)]
        steps.append(determinant(changed) / whole)
    return steps


def determinant(rows: list[list[Expression]]) -> Expression:
    """The determinant of a small matrix, by its first row."""
    if len(rows) == 1:
        return rows[0][0]
    terms = []
    for k, entry in enumerate(rows[0]):
        rest = [[*row[:k], *row[k + 1 :]] for row in rows[1:]]
        terms.append(entry * determinant(rest) * (1 if k % 2 == 0 else -1))
    return total(terms)


def assembled_positions(
    closures: Sequence[Closure], positions: Mapping[str, float], parameters: Mapping[str, float]
) -> dict[str, float]:
    """Positions in which all loops fit, those that follow from others changed as little as possible.

    Raises: SimulationError (S340) naming the loop that fits nowhere near.
    """
    found = dict(positions)
    if not closures:
        return found
    equations = [e for closure in closures for e in closure.equations]
    unknown = [name for closure in closures for name in closure.solves]
    solved = assembled(equations, unknown, {**parameters, **found}, found)
    if solved is None:
        raise _apart(closures, {**parameters, **found})
    return {**found, **{name: _nearby(value, found.get(name, 0.0)) for name, value in solved.items()}}


def _nearby(value: float, guess: float) -> float:
    """The value itself where it is as good as the guess: a start that fits stays as it was given."""
    return guess if abs(value - guess) <= 1e-15 * (1 + abs(guess)) else value


def _apart(closures: Iterable[Closure], values: Mapping[str, float]) -> Exception:
    def gap(closure: Closure) -> float:
        try:
            return max(abs(e.evaluate(values)) for e in closure.equations)
        except (ArithmeticError, ValueError):
            return math.inf

    worst = max(closures, key=gap)
    return rules.APART.error(
        f"the loop '{worst.name}' fits in no position near the start: a gap of {gap(worst):.3g} is left",
        where=worst.name,
        fix=f"give other initial values to what it does not decide, or to {listing(worst.solves)}, or check the lengths",
        members=worst.solves,
    )
