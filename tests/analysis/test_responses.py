"""Frequency and time responses against the exact transfer matrix, python-control and the final value theorem."""

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given

import tellegen as tg
from analysis.support import analysed, linear
from support import nodal
from support.evaluated import legal
from support.networks import Network
from support.strategies import networks
from tellegen.analysis.linear_model import energy_coordinates, linear_model
from tellegen.analysis.poles import frequency_response
from tellegen.analysis.responses import dc_gain, step_response, transfer_values
from tellegen.core.errors import EquationError

IMPROPER = "system: stiff\nnetwork:\n  V: {voltage source: [a, gnd]}\n  C: {capacitor: [a, gnd], C: 1 F}\n"
EXAMPLES = ["cauer_low_pass", "dc_motor", "dc_motor_pump", "loudspeaker", "quarter_car", "two_mass_drive"]


@given(networks())
def test_the_transfer_matrix_of_the_linear_model_is_that_of_nodal_analysis(network: Network) -> None:
    s = Fraction(7, 3)
    exact = nodal.transfer_matrix(network, s)
    model = linear_model(legal(replace(network, valued=True)).system)
    assume(exact is not None and model.inputs)
    assert exact is not None
    found = transfer_values(energy_coordinates(model), np.array([complex(s)]))[0]
    expected = np.array([[float(e) for e in row] for row in exact])
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", EXAMPLES)
def test_bode_agrees_with_python_control(name: str) -> None:
    found = analysed(name)
    bode = found.bode(points=20)
    expected = found.to_control()(1j * bode.frequency, squeeze=False)
    assert bode.response == pytest.approx(np.moveaxis(expected, 2, 0), rel=1e-8)


def test_bode_reaches_beyond_all_poles_and_zeros() -> None:
    found = analysed("dc_motor_pump")
    bode, corners = found.bode(), [p.natural_frequency for p in (*found.poles, *found.zeros("P_0", "Q_0"))]
    assert bode.frequency[0] < min(corners) / 10
    assert bode.frequency[-1] > max(corners) * 10


def test_phase_is_continuous() -> None:
    phase = analysed("two_mass_drive").bode().phase
    assert np.abs(np.diff(phase, axis=0)).max() < 170


@pytest.mark.parametrize("name", ["dc_motor_pump", "rlc", "planetary_gear"])
def test_sparse_and_dense_frequency_responses_agree(name: str) -> None:
    found = analysed(name)
    bode = found.bode(points=9)
    sparse = frequency_response(tg.derive(name, form="dae", numeric=True), bode.frequency)
    assert sparse == pytest.approx(bode.response, rel=1e-9)


def test_gain_at_rest_is_that_of_the_algebra() -> None:
    R_a, K_m, b_m, K_p, alpha_p = 0.5, 0.15, 2e-3, 1e-6, 2e-11
    det = R_a * (b_m * alpha_p + K_p**2) + K_m**2 * alpha_p
    expected = np.array(
        [[(b_m * alpha_p + K_p**2) / det, K_m * K_p / det], [K_m * K_p / det, (R_a * b_m + K_m**2) / det]]
    )
    # Q_0 enters the accumulator: more flow, more pressure, more braking of the motor, which then takes less current
    found = analysed("dc_motor_pump")
    assert np.abs(found.dc_gain) == pytest.approx(expected, rel=1e-12)


def test_at_a_pole_without_losses_the_gain_at_rest_is_still_found() -> None:
    ideal = "system: ideal\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 2 ohm}\n"
    found = linear(ideal + "  L: {inductor: [a, b], L: 4 H}\n  C: {capacitor: [b, gnd], C: 1 F}\n")
    assert dc_gain(found).tolist() == [[0.5]]


def test_at_a_pole_the_gain_is_infinite() -> None:
    decay = "system: decay\nnetwork:\n  I: {current source: [gnd, a]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
    space = energy_coordinates(linear(decay + "  C: {capacitor: [a, gnd], C: 1 F}\n"))
    assert np.isinf(transfer_values(space, np.array([-1.0 + 0j]))).all()


def test_gain_of_a_driven_integrator_is_infinite_and_others_are_not() -> None:
    model = linear(
        "system: both\nnetwork:\n  I: {current source: [gnd, a]}\n  C: {capacitor: [a, gnd], C: 2 F}\n"
        "  V: {voltage source: [b, gnd]}\n  R: {resistor: [b, c], R: 4 ohm}\n  L: {inductor: [c, gnd], L: 1 H}\n"
    )
    gain = dc_gain(model)
    assert gain[0, 0] == np.inf
    assert gain[1, 1] == pytest.approx(0.25)
    assert gain[0, 1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["dc_motor_pump", "rlc", "planetary_gear", "cauer_low_pass"])
def test_the_step_response_ends_at_the_gain_at_rest(name: str) -> None:
    found = analysed(name)
    slowest = max(p.time_constant for p in found.poles)
    values = found.step_response(40 * slowest).values
    assert values[-1] == pytest.approx(found.dc_gain, rel=1e-9, abs=1e-9 * np.abs(values).max())


def test_the_impulse_response_is_the_derivative_of_the_step_response() -> None:
    found = analysed("rlc")
    step, impulse = found.step_response(2e-3, points=20001), found.impulse_response(2e-3, points=20001)
    slope = np.gradient(step.values[:, 0, 0], step.t)
    assert slope[1:-1] == pytest.approx(impulse.values[1:-1, 0, 0], abs=1e-6 * np.abs(slope).max())


def test_a_source_that_meets_a_storage_has_no_step_response() -> None:
    with pytest.raises(EquationError) as error:
        step_response(linear(IMPROPER))
    assert error.value.code == "E203"
    assert error.value.what == "the output I_V holds the derivative of an input"


def test_python_control_keeps_the_names() -> None:
    system = analysed("dc_motor_pump").to_control()
    assert system.state_labels == ["I_a", "omega_m", "P_0"]
    assert system.input_labels == ["V_a", "Q_0"]


def test_without_python_control_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(tg.ExportError) as error:
        analysed("rlc").to_control()
    assert error.value.code == "X001"
    assert error.value.finding.fix == "pip install 'tellegen[control]'"


def test_scipy_and_pymor_have_the_same_transfer_functions() -> None:
    found = analysed("dc_motor_pump")
    scipy_model, pymor_model = found.to_scipy(), found.to_pymor()
    assert type(pymor_model).__name__ == "PHLTIModel"  # C = B^T and D = 0
    at = 40j
    wanted = found.to_control()(at, squeeze=False)
    A, B, C, D = scipy_model.A, scipy_model.B, scipy_model.C, scipy_model.D
    assert C @ np.linalg.solve(at * np.eye(len(A)) - A, B) + D == pytest.approx(wanted)
    assert pymor_model.transfer_function.eval_tf(at) == pytest.approx(wanted)


def test_pymor_gets_an_ordinary_model_where_inputs_pass_through() -> None:
    found = analysed("spring_damper")
    assert type(found.to_pymor()).__name__ == "LTIModel"
    assert found.to_pymor().transfer_function.eval_tf(3j) == pytest.approx(found.to_control()(3j, squeeze=False))
