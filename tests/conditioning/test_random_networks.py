"""On any network with dependent storages: opened constraints free every storage, and their forces give the motion back."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from support.networks import Network
from support.strategies import networks
from tellegen.causality import assign_causality
from tellegen.conditioning.constraints import ConstrainedModel, constrained_model
from tellegen.conditioning.opened_constraints import OpenedModel, force_source, open_constraints
from tellegen.conditioning.residual import constraint_forces
from tellegen.core.errors import ConditioningError, TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.graph import lower


def with_constraints(network: Network) -> tuple[ConstrainedModel, OpenedModel]:
    """The network with its constraints opened; networks without any, or with sources behind storages, are left out."""
    try:
        found = constrained_model(replace(network, valued=True).model())
        system = found.system
    except TellegenError:
        assume(False)
    assume(system.states and found.ports and not found.behind_sources and not system.algebraic.unknowns)
    return found, open_constraints(found)


def rates(system: EquationSystem, values: Mapping[str, float]) -> dict[str, float]:
    """The rates of the states at a point."""
    known = {**values}
    for name, formula in system.where.items():
        known[name] = formula.evaluate(known)
    L, A, B = (
        np.array([[e.evaluate(known) for e in row] for row in system.matrices[name]]).reshape(len(system.states), -1)
        for name in ("L", "A", "B")
    )
    x = np.array([known[name] for name in system.states])
    u = np.array([known[name] for name in system.inputs])
    found = np.linalg.solve(L, B @ u - A @ x)
    return dict(zip(system.states, found.tolist(), strict=True))


@pytest.mark.slow
@settings(max_examples=50, deadline=None, phases=[Phase.generate])
@given(networks(), st.integers(0, 1000))
def test_forces_of_residual_sinks_give_the_constrained_motion(network: Network, seed: int) -> None:
    found, opened = with_constraints(network)
    freed = derive_equations(assign_causality(lower(opened.freed(force_source))))
    assert not freed.dependent
    try:
        known = constraint_forces(found, opened)
    except ConditioningError:
        assume(False)  # a resistance stands in a constraint
    assert known is not None
    forces, solution = known
    random = np.random.default_rng(seed)
    system = found.system
    values = {name: float(Fraction(value)) for name, value in network.values.items()}
    values |= {name: float(random.uniform(-1, 1)) for name in (*system.states, *system.inputs)}
    wanted = rates(system, values)
    for name, formula in system.dependent.items():
        values[name] = found.written(formula).evaluate(values)
    assert [e.evaluate(values) for e in forces.constraints] == pytest.approx([0] * len(forces.names), abs=1e-9)
    for name, formula in (*solution.where.items(), *solution.formulas.items()):
        values[name] = formula.evaluate(values)
    moved = rates(freed, values)
    scale = max(map(abs, wanted.values()))
    assert [moved[name] for name in wanted] == pytest.approx(list(wanted.values()), rel=1e-6, abs=1e-7 * (1 + scale))
