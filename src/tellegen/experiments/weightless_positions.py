"""Runs that failed where a motion meets no inertia: bodies without mass are fine until those that they move stand in line."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.description.mechanisms.rules import WEIGHTLESS
from tellegen.description.model import Model
from tellegen.equations.assembly import derive_equations
from tellegen.expressions.entries import substituted
from tellegen.graph import lower
from tellegen.results.run import Run

NEARLY_NONE = 1e-5
"""A motion has no inertia where it has less than this share of what its speeds have one by one."""

MOST = 30
"""With more coordinates the mass matrix takes too long for a message."""

PART = 0.05
"""Speeds that are a smaller part of a motion are not named."""


def weighed(run: Run, model: Model) -> Run:
    """The run, whose message names the motion without inertia where a mechanism failed for want of it; rows are kept.

    `model` is the one that was described, before its storages were conditioned.
    """
    if run.status != "failed" or not run.t.size or not 0 < len(model.displacements) <= MOST:
        return run
    try:
        motion = _without_inertia(run, model)
    except (TellegenError, ArithmeticError, KeyError, np.linalg.LinAlgError):
        return run  # the message of the solver says what there is to say
    if not motion:
        return run
    speeds = ", ".join(f"{name} = {part:.2g}" for name, part in motion.items())
    finding = WEIGHTLESS.finding(
        f"at t = {run.t[-1]:.6g} s nothing has inertia for a motion with {speeds}: those that move have no mass there",
        where=next(iter(motion)),
        fix="give a body that it moves a mass or an inertia, or stay away from this position",
        members=tuple(motion),
    )
    return replace(run, trajectory=replace(run.trajectory, finding=finding))


def _without_inertia(run: Run, model: Model) -> dict[str, float]:
    """The motion with the least inertia at the last row, by its speeds; empty where it has some."""
    causal = assign_causality(lower(model))
    system = derive_equations(causal)
    moving = {**causal.graph.moving, **system.where}
    values = {**run.parameters, **{name: float(run.values(name)[-1]) for name in system.displacements}}
    rows = [[substituted(entry, moving).evaluate(values) for entry in row] for row in system.matrices["L"]]
    return _lightest(np.array(rows, dtype=float), system.states)


def _lightest(mass: NDArray[np.float64], names: tuple[str, ...]) -> dict[str, float]:
    own = np.sqrt(np.diag(mass))
    if not own.size or not own.all():
        return {}
    shares, motions = np.linalg.eigh(mass / np.outer(own, own))
    if shares[0] > NEARLY_NONE:
        return {}
    motion = motions[:, 0] / own
    motion = motion / motion[np.argmax(np.abs(motion))]
    return {name: float(part) for name, part in zip(names, motion, strict=True) if abs(part) > PART}
