"""Poles and zeros against formulas, against python-control and against the pencil they come from."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

import tellegen as tg
from analysis.support import analysed, linear
from support.evaluated import legal
from support.networks import Network
from support.strategies import networks
from tellegen.analysis.linear_model import LinearModel, energy_coordinates, linear_model
from tellegen.analysis.poles import poles, poles_near, stiffness_ratio, zeros
from tellegen.core.errors import EquationError
from tellegen.notations.reading import read_model

LADDER = """
system: RC ladder
parameters: {R: 1 ohm, C: 1 F}
network:
  V: {voltage source: [n_0, gnd]}
"""


def ladder(sections: int) -> str:
    lines = [
        f"  R_{k}: {{resistor: [n_{k - 1}, n_{k}], R: R}}\n  C_{k}: {{capacitor: [n_{k}, gnd], C: C}}"
        for k in range(1, sections + 1)
    ]
    return LADDER + "\n".join(lines)


def numeric(network: Network) -> LinearModel:
    """The linear model of a random network, with its numbers."""
    system = legal(replace(network, valued=True)).system
    assume(len(system.states) <= 8)
    return linear_model(system)


# Poles


def test_poles_of_a_series_circuit_are_those_of_the_textbook() -> None:
    R, L, C = 20.0, 10e-3, 10e-6
    (pole,) = analysed("rlc").poles
    assert pole.is_pair
    assert pole.natural_frequency == pytest.approx(1 / math.sqrt(L * C), rel=1e-13)
    assert pole.damping == pytest.approx(R / 2 * math.sqrt(C / L), rel=1e-13)
    assert pole.time_constant == pytest.approx(2 * L / R, rel=1e-13)


def test_a_spring_alone_is_an_integrator() -> None:
    (pole,) = analysed("spring_damper").poles
    assert pole.value == 0
    assert not math.copysign(1, pole.value.real) < 0, "a pole at zero prints as 0, not as -0"
    assert pole.time_constant == math.inf


def test_a_lossless_model_has_poles_on_the_imaginary_axis() -> None:
    model = linear(
        "system: ring\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a], m: 3 kg}\n  K: {spring: [a, b], K: 7 MN/m}\n"
        "  m_2: {mass: [b], m: 2 g}\n"
    )
    # in energy coordinates the matrix of a lossless model is skew, so rounding leaves no damping
    assert [abs(p.damping) for p in poles(model) if p.value] == [pytest.approx(0, abs=1e-15)]


def test_the_stiffness_ratio_leaves_integrators_out() -> None:
    model = linear(
        "system: two\nnetwork:\n  I: {current source: [gnd, a]}\n  C: {capacitor: [a, gnd], C: 1 F}\n"
        "  V: {voltage source: [b, gnd]}\n  R_1: {resistor: [b, c], R: 1 ohm}\n  C_1: {capacitor: [c, gnd], C: 1 F}\n"
        "  R_2: {resistor: [b, d], R: 1 kohm}\n  C_2: {capacitor: [d, gnd], C: 1 F}\n"
    )
    assert stiffness_ratio(poles(model)) == pytest.approx(1000)


@given(networks())
def test_poles_of_passive_networks_do_not_grow(network: Network) -> None:
    found = poles(numeric(network))
    fastest = max((p.natural_frequency for p in found), default=0.0)
    # Integrators that hang together give Jordan blocks, whose eigenvalues are found to the square root of the rounding.
    assert all(p.value.real <= 1e-6 * fastest for p in found)


def test_poles_near_a_point_are_those_of_the_dense_model() -> None:
    text = ladder(60)
    dense = poles(linear(text))
    sparse = poles_near(tg.derive(read_model(text), form="dae", numeric=True), count=6)
    assert [p.value for p in sparse] == [pytest.approx(p.value, rel=1e-8) for p in dense[:6]]


def test_poles_near_another_point() -> None:
    system = tg.derive(read_model(ladder(60)), form="dae", numeric=True)
    (found,) = poles_near(system, near=-2.0, count=1)
    dense = [p.value for p in poles(linear(ladder(60)))]
    assert found.value == pytest.approx(min(dense, key=lambda v: abs(v + 2.0)), rel=1e-8)


def test_poles_cannot_be_sought_at_a_pole() -> None:
    system = tg.derive("spring_damper", form="dae", numeric=True)
    with pytest.raises(EquationError) as error:
        poles_near(system)
    assert error.value.code == "E205"
    assert error.value.finding.fix == "ask near another point, such as 1"


def test_poles_near_a_point_need_a_linear_model() -> None:
    with pytest.raises(EquationError) as error:
        poles_near(tg.derive("crank_rod", form="dae", numeric=True))
    assert error.value.code == "E104"


# Zeros


def test_zeros_of_a_channel_are_the_roots_of_its_numerator() -> None:
    J_m, b_m, C_0, alpha_p, K_p = 1e-3, 2e-3, 2e-12, 2e-11, 1e-6
    # I_a/V_a = (J_m s + b_m)(C_0 s + alpha_p) + K_p^2 over the characteristic polynomial
    expected = np.roots([J_m * C_0, J_m * alpha_p + b_m * C_0, b_m * alpha_p + K_p**2])
    (found,) = analysed("dc_motor_pump").zeros("I_a", "V_a")
    assert found.value == pytest.approx(max(expected, key=lambda v: v.imag), rel=1e-10)


def test_a_channel_through_three_integrators_has_no_zeros() -> None:
    assert analysed("dc_motor_pump").zeros("P_0", "V_a") == ()


def test_an_unknown_channel_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(EquationError) as error:
        analysed("dc_motor_pump").zeros("I_b", "V_a")
    assert error.value.code == "E204"
    assert error.value.what == "'I_b' is not an output of 'DC motor driving a hydraulic pump'"
    assert error.value.finding.fix == "did you mean 'I_a'?"


@given(networks())
def test_the_system_pencil_loses_rank_at_each_zero(network: Network) -> None:
    model = numeric(network)
    space = energy_coordinates(model)
    assume(not space.D_1.any() and model.inputs and model.states)
    n, speed = len(space.A), np.linalg.norm(space.A, 2) or 1.0
    for zero in zeros(model):
        top = np.hstack([(space.A - zero.value * np.eye(n)) / speed, space.B / speed])
        pencil = np.vstack([top, np.hstack([space.C, space.D])])
        sizes = np.linalg.svd(pencil, compute_uv=False)
        # a zero of multiplicity k is found to the k-th root of the rounding; two are common
        assert sizes[-1] <= 1e-6 * sizes[0]


def test_a_zero_in_the_origin_is_exactly_there() -> None:
    """The current into a capacitor through a resistor stops in the long run; rounding used to move that zero a little."""
    text = """
system: RC
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: 1 kohm}
  C: {capacitor: [b, gnd], C: 1 uF}
"""
    (zero,) = zeros(linear(text), "I_V", "V")
    assert zero.value == 0
