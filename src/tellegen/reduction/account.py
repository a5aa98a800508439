"""What a reduction loses: the poles that go, and starts and steps that would excite them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import TIME, listing
from tellegen.equations.forms.linearisation import linearise_equations
from tellegen.equations.system import EquationSystem, MatrixName, number_of, parameter_values
from tellegen.expressions import ZERO, Expression, Number
from tellegen.model.model import Model
from tellegen.reduction import rules

ROUNDING = 1e-13
"""Poles that are smaller than this share of the fastest one are at rest but for rounding."""

MOST_STATES = 400
"""Poles of larger models are left to those who ask for them."""


@final
@dataclass(frozen=True)
class PoleAccount:
    """The poles of the full model that have no counterpart in the reduced one, and those that have; empty without numbers.

    Poles are those of the linear model that touches the system at the start of its experiment.
    """

    removed_poles: tuple[complex, ...] = ()
    kept_poles: tuple[complex, ...] = ()
    reduced_poles: tuple[complex, ...] = ()

    @property
    def separation(self) -> float | None:
        """How much faster the slowest removed pole is than the fastest kept one; None where there is nothing to compare."""
        kept = max((abs(p) for p in self.kept_poles), default=0.0)
        removed = min((abs(p) for p in self.removed_poles), default=0.0)
        return removed / kept if kept and removed else None


def pole_account(full: EquationSystem, reduced: EquationSystem, model: Model, small: Model) -> PoleAccount:
    """Compare the poles of two models at the start of the experiment; an empty account where values are missing."""
    # Eigenvalues of dense matrices cost the cube of their size, and nobody asked for them here.
    if len(full.states) > MOST_STATES:
        return PoleAccount()
    try:
        before, after = poles_of(full, values_at_start(model, full)), poles_of(reduced, values_at_start(small, reduced))
    # Values may be missing, or a mechanism stand in a dead centre: the reduction is right all the same, so nothing is
    # said.
    except (TellegenError, ArithmeticError, ValueError):
        return PoleAccount()
    kept, removed = paired_poles(before, after)
    return PoleAccount(tuple(removed), tuple(kept), tuple(after))


def values_of_parameters(model: Model) -> dict[str, float]:
    """The values of the parameters that have one."""
    return parameter_values({name: p.expression for name, p in model.parameters.items()})


def values_at_start(model: Model, system: EquationSystem) -> dict[str, float]:
    """Numbers for states, displacements and constant inputs at the start, where the model gives them."""
    values = values_of_parameters(model)
    found: dict[str, float] = {}
    # The experiment comes after the description, as everywhere: it is the later word.
    given: dict[str, Expression] = {**system.initial, **model.experiment.initial}
    for name, signal in model.experiment.inputs.items():
        if signal.shape == "constant":
            given[name] = signal.arguments[0]
    for name, expression in given.items():
        if expression.free_symbols <= values.keys():
            found[name] = expression.evaluate(values)
    return found


def inputs_at_start(model: Model) -> dict[str, float]:
    """Numbers for the inputs at the start, where they are formulas of time and parameters: a step has been made."""
    values = {**values_of_parameters(model), TIME: 0.0}
    given = {name: signal.expression for name, signal in model.experiment.inputs.items()}
    return {n: e.evaluate(values) for n, e in given.items() if e is not None and e.free_symbols <= values.keys()}


def poles_of(system: EquationSystem, at: Mapping[str, float]) -> list[complex]:
    """The poles of the linear model at a point, slowest first.

    Raises: EquationError when a parameter has no value, or the point does not exist.
    """
    import numpy as np  # noqa: PLC0415

    if not system.states:
        return []
    names: tuple[MatrixName, ...] = ("L", "A")
    # Constant matrices need no point; a nonlinear model is linearised where its experiment starts.
    if system.linear:
        values = system.values()
        for name, e in system.where.items():
            values[name] = number_of(e, values, system.name)
        L, A = (
            np.array([[number_of(e, values, system.name) for e in row] for row in system.matrices[m]]) for m in names
        )
    else:
        linear = linearise_equations(system, at)
        L, A = (np.array([[_number(e) for e in row] for row in linear.matrices[m]]) for m in names)
    # Poles of L x' = -A x + ..., so those of -L^-1 A.
    exact = [complex(v) for v in np.linalg.eigvals(np.linalg.solve(L, -A))]
    # What is zero up to rounding would be counted as the slowest pole of all, and pair with a real one.
    fastest = max(map(abs, exact))
    poles = [0j if abs(v) <= ROUNDING * fastest else v for v in exact]
    found = sorted(poles, key=lambda v: (abs(v), v.imag))
    # A displacement adds an integrator that is no storage: as many poles at rest as there are displacements do not count.
    cut = len(L) - len(system.states)
    left = found[cut:]
    if cut and left and left[0].imag and left[0] == found[cut - 1].conjugate():
        left[0] = 0j  # a double pole at rest, which rounding has made a pair: one of the two is a displacement
    return left


def _number(e: Expression) -> float:
    assert isinstance(e, Number), "a linearised system holds numbers"
    return float(e.rational)


def paired_poles(before: Sequence[complex], after: Sequence[complex]) -> tuple[list[complex], list[complex]]:
    """The poles of `before` that have a counterpart in `after`, and the others: as many as are missing, conjugates together.

    Removed are those farthest, in proportion, from every pole that is left.
    """
    # As many poles go as states go; which ones is a choice of the smallest total distance.
    count = len(before) - len(after)
    best: dict[int, tuple[float, tuple[complex, ...]]] = {0: (0.0, ())}
    # Conjugate poles go together: half a pair belongs to no real model.
    for unit in _conjugates(before):
        distance = sum(_distance(p, after) for p in unit)
        # A knapsack over the number of removed poles; backwards, so that no pair is taken twice.
        for size, (far, chosen) in sorted(best.items(), reverse=True):
            wider = (far + distance, (*chosen, *unit))
            if size + len(unit) <= count and wider[0] > best.get(size + len(unit), (-1.0, ()))[0]:
                best[size + len(unit)] = wider
    if count in best:
        removed = list(best[count][1])
    else:  # conjugate pairs only, and one of them loses a member
        removed = sorted(before, key=lambda p: _distance(p, after), reverse=True)[: max(count, 0)]
    kept = list(before)
    for pole in removed:
        kept.remove(pole)
    return kept, sorted(removed, key=lambda v: (abs(v), v.imag))


def _conjugates(poles: Sequence[complex]) -> list[tuple[complex, ...]]:
    """Real poles alone, conjugate ones in pairs."""
    return [(p,) if p.imag == 0 else (p, p.conjugate()) for p in poles if p.imag >= 0]


def _distance(pole: complex, others: Sequence[complex]) -> float:
    return (
        min((abs(pole - q) / (abs(pole) + abs(q)) for q in others if pole != q), default=1.0)
        if pole not in others
        else 0.0
    )


def excitation_warnings(
    model: Model,
    system: EquationSystem,
    static: Mapping[str, Expression],
    values: Mapping[str, float],
    starts: Mapping[str, Expression],
) -> list[Finding]:
    """Warnings where the experiment starts away from the constraint, or lets an input jump whose rate is needed.

    `static` says what stands for the states that are gone, `values` are the numbers of the reduced model at the start, and
    `starts` what the elements of the full model start with, by state.
    """
    found = []
    full = values_of_parameters(model)
    given_starts = {**starts, **model.experiment.initial}
    at_rest = {**values, **dict.fromkeys(system.inputs, 0.0)}
    for name, expression in static.items():
        # A start that nobody gave is zero: it contradicts the starts of other states, but not what an input asks for.
        # A start at zero that nobody gave is not meant to contradict what an input asks for.
        start, at = (given_starts[name], values) if name in given_starts else (ZERO, at_rest)
        if not start.free_symbols <= full.keys() or not expression.free_symbols <= at.keys():
            continue
        try:
            wanted, given = expression.evaluate(at), start.evaluate(full)
        except (ArithmeticError, ValueError):
            continue  # where the model starts, a mechanism may stand in a dead centre: nothing can be compared there
        # Relative, since states have any units; 1e-9 lets rounding of given values pass.
        if abs(wanted - given) > 1e-9 * (abs(wanted) + abs(given)):
            found.append(
                rules.EXCITED.finding(
                    f"'{name}' starts at {given:.6g}, but the constraint of the limit says {wanted:.6g}",
                    where=name,
                    fix=f"start the full model at {wanted:.6g} to compare the two",
                    members=[name],
                )
            )
    return [*found, *_steps(model, system)]


def _steps(model: Model, system: EquationSystem) -> list[Finding]:
    m = system.matrices
    # Where a rate of an input counts, a step is an impulse in the reduced model, and none in the full one.
    needed = [name for j, name in enumerate(system.inputs) if any(row[j] is not ZERO for row in (*m["B_1"], *m["D_1"]))]
    jumping = [name for name in needed if (s := model.experiment.inputs.get(name)) and s.shape in ("step", "pulse")]
    if not jumping:
        return []
    return [
        rules.EXCITED.finding(
            f"the rate of {listing(jumping)} is needed, but the input jumps",
            where=jumping[0],
            fix="let the input rise smoothly, or keep a storage behind it",
            members=jumping,
        )
    ]
