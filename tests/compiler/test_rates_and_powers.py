"""Rates and powers in one call: the same as in two, and the same books from either."""

from dataclasses import replace

import numpy as np
import pytest

from tellegen.causality import assign_causality
from tellegen.compiler import NumericModel, compile_model
from tellegen.compiler.context import address_of
from tellegen.compiler.numeric_model import PROTOTYPES
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem

CRANK = """
system: Crank
parameters:
  {R: 0.05, L: 0.2, J: 1e-3, m: 0.3, b: 1e-2, B: 0.5, H: -R*sin(theta) - R^2*cos(theta)*sin(theta)/sqrt(L^2 - R^2*sin(theta)^2)}
displacements: {theta: omega}
network:
  tau: {torque source: [frame, crank]}
  J: {inertia: [crank], angular velocity: omega, J: J}
  b: {friction: [crank, frame], b: b}
  rod: {connection: [crank, frame, piston, frame], domains: [rotational, translational], relation: across_2 = H*across_1}
  m: {mass: [piston], m: m}
  B: {damper: [piston, frame], b: B}
"""


def crank() -> NumericModel:
    return compile_model(assign_causality(lower(read_model(CRANK))))


def test_one_call_gives_the_rates_and_the_powers() -> None:
    model = crank()
    assert "rhs_powers" in model.addresses
    context, y, both = model.new_context(inputs={"tau": 2.0}), np.array([3.0, 0.7]), np.zeros(model.size + 4)
    function = PROTOTYPES["rhs_powers"](model.addresses["rhs_powers"])
    assert function(context.address, 0.0, address_of(y), address_of(both)) == 0
    rates = model.rhs(0.0, y, context)
    assert both[: model.size] == pytest.approx(rates, rel=1e-14)
    assert both[model.size :] == pytest.approx(model.powers(0.0, y, rates, context), rel=1e-14)


def test_books_are_the_same_from_one_call_or_two() -> None:
    model = crank()
    apart = replace(model, addresses={name: at for name, at in model.addresses.items() if name != "rhs_powers"})
    runs = [integrate(Problem(m, 1.0, inputs={"tau": 2.0}, rtol=1e-8, solver="runge-kutta")) for m in (model, apart)]
    first, second = (run.books for run in runs)
    assert first is not None
    assert second is not None
    assert first.supplied == pytest.approx(second.supplied, rel=1e-12)
    assert first.dissipated == pytest.approx(second.dissipated, rel=1e-12)
    assert abs(first.residual) < 1e-7
    assert np.array_equal(runs[0].y, runs[1].y)


APART = """
system: Apart
parameters: {I_s: 1 A, V_t: 1 V}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, gnd], law: I = I_s*sinh(V/V_t)}
  C: {capacitor: [b, gnd], C: 1}
  S: {resistor: [b, gnd], R: 1}
"""


def test_powers_that_share_nothing_with_the_rates_stay_apart() -> None:
    model = compile_model(assign_causality(lower(read_model(APART))))
    assert "rhs" in model.addresses
    assert "rhs_powers" not in model.addresses
