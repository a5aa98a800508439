"""What a reduction loses: the poles that go, and starts and steps that would excite them."""

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import listing
from tellegen.equations.forms.linearisation import linearise_equations
from tellegen.equations.start import energy_at, model_start
from tellegen.equations.system import EquationSystem, MatrixName, number_of
from tellegen.expressions import ZERO, Expression, Number, symbol
from tellegen.graph import lower
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
        before, after = poles_of(full, model_start(model)), poles_of(reduced, model_start(small))
    # Values may be missing, or a mechanism stand in a dead centre: the reduction is right all the same, so nothing is
    # said.
    except (TellegenError, ArithmeticError, ValueError):
        return PoleAccount()
    kept, removed = paired_poles(before, after)
    return PoleAccount(tuple(removed), tuple(kept), tuple(after))


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


def rates_at(system: EquationSystem, at: Mapping[str, float]) -> dict[str, float]:
    """The rates of the states at a point, inputs held.

    Raises: EquationError when a number is missing, LinAlgError where the energy matrix is singular.
    """
    import numpy as np  # noqa: PLC0415

    values = {**at, **system.values()}
    for name, e in system.where.items():
        values[name] = number_of(e, values, system.name)
    m = {
        name: np.array([[number_of(e, values, system.name) for e in row] for row in system.matrices[name]])
        for name in ("L", "A", "N", "B")
    }
    f = np.array([number_of(e, values, system.name) for e in system.vectors["f"]])
    x, u = (np.array([values[name] for name in names]) for names in (system.states, system.inputs))
    pull = -(m["A"] + m["N"]) @ x - f + (m["B"] @ u if len(u) else 0.0)
    return dict(zip(system.states, map(float, np.linalg.solve(m["L"], pull)), strict=True))


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


@final
@dataclass(frozen=True)
class StartAtLimit:
    """The start of the full model beside that of the reduced one.

    `told` says what stands for the states that are gone, over names of `where`; elements of `apart` keep what they have outside the
    reduced model.
    """

    model: Model
    small: Model
    system: EquationSystem
    told: Mapping[str, Expression]
    where: Mapping[str, Expression]
    apart: Collection[str]

    def warnings(self) -> list[Finding]:
        """Warnings where states jump in the limit, with the energy that is lost, or where an input jumps whose rate is needed."""
        found = [
            rules.EXCITED.finding(
                f"'{name}' starts at {given:.6g}, but the constraint of the limit says {wanted:.6g}",
                where=name,
                fix=f"start the full model at {wanted:.6g} to compare the two",
                members=[name],
            )
            for name, (given, wanted) in self.jumps.items()
        ]
        if found and (lost := self._lost()):
            found[0] = replace(found[0], what=f"{found[0].what}; {lost}")
        return [*found, *_steps(self.model, self.system)]

    @cached_property
    def before(self) -> Mapping[str, float]:
        """The start of the full model."""
        return model_start(self.model)

    @cached_property
    def after(self) -> Mapping[str, float]:
        """The start of the reduced model."""
        return model_start(self.small)

    @cached_property
    def jumps(self) -> dict[str, tuple[float, float]]:
        """The states that the limit lets jump, from where they start to where it wants them."""
        at_start, at_rest = (
            self._known(self.after),
            self._known({**self.after, **dict.fromkeys(self.system.inputs, 0.0)}),
        )
        said = {
            p.state for p in lower(self.model).ports if p.initial is not None
        } | self.model.experiment.initial.keys()
        found = {}
        for name, expression in {**self.told, **{name: symbol(name) for name in self.system.states}}.items():
            given = self.before.get(name)
            # A start at zero that nobody gave is not meant to contradict what an input asks for.
            at = at_start if given or name in said else at_rest
            if given is None or not expression.free_symbols <= at.keys():
                continue
            try:
                wanted = expression.evaluate(at)
            except (ArithmeticError, ValueError):
                continue  # where the model starts, a mechanism may stand in a dead centre: nothing can be compared there
            # Relative, since states have any units; 1e-9 lets rounding of given values pass.
            if abs(wanted - given) > 1e-9 * (abs(wanted) + abs(given)):
                found[name] = (given, wanted)
        return found

    def _known(self, values: Mapping[str, float]) -> dict[str, float]:
        found = dict(values)
        for name, e in self.where.items():
            if name not in found and e.free_symbols <= found.keys():
                with contextlib.suppress(ArithmeticError, ValueError):
                    found[name] = e.evaluate(found)
        return found

    def _lost(self) -> str:
        """What becomes of the energy in the jump."""
        before, after = energy_at(self.model, self.before, self.apart), energy_at(self.small, self.after)
        if before is None or after is None:
            return ""
        lost = before - after
        # A rigid spring holds whatever force without energy, so that a force alone may jump; equal sums differ by rounding.
        if abs(lost) <= 1e-9 * max(abs(before), abs(after)):
            return "no energy is lost"
        what, of = ("are lost", before) if lost >= 0 else ("are added", after)
        return f"{abs(lost):.6g} J of {of:.6g} J {what}"


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
