"""`sensitivities` against formulas and differences of runs."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError
from tellegen.description import read_model

RC = (
    "system: RC\nparameters: {R: 2 ohm, C: 0.5 F, V_0: 3 V, R_b: 2*R}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
    "  R: {resistor: [a, b], R: R_b}\n  C: {capacitor: [b, gnd], voltage: V_C}\n"
)
TAU = 2.0
"""R_b*C, in s."""


def test_of_a_parameter_behind_another() -> None:
    """v = V (1 - exp(-t/(2 R C))): the resistance of the element follows from R."""
    slopes = tg.sensitivities(read_model(RC), ["R", "C"], 4.0, inputs={"V": 1.0}, rtol=1e-9)
    t = slopes["t"].values
    by_tau = -t / TAU**2 * np.exp(-t / TAU)
    assert slopes["V_C"].dims == ("t", "parameter")
    assert slopes["V_C"].sel(parameter="R").values == pytest.approx(by_tau, abs=1e-7)
    assert slopes["V_C"].sel(parameter="C").values == pytest.approx(4.0 * by_tau, abs=1e-7)


def test_of_a_parameter_in_an_input() -> None:
    slopes = tg.sensitivities(read_model(RC), ["V_0"], 4.0, inputs={"V": "2*V_0"}, rtol=1e-9)
    t = slopes["t"].values
    assert slopes["V_C"].values[:, 0] == pytest.approx(2 * (1 - np.exp(-t / TAU)), abs=1e-7)


def test_of_a_parameter_in_an_initial_value() -> None:
    slopes = tg.sensitivities(read_model(RC), ["V_0"], 4.0, inputs={"V": 0.0}, initial={"V_C": "2*V_0"}, rtol=1e-9)
    t = slopes["t"].values
    assert slopes["V_C"].values[:, 0] == pytest.approx(2 * np.exp(-t / TAU), abs=1e-7)


def test_of_a_nonlinear_model_against_differences() -> None:
    slopes = tg.sensitivities("pmsm", ["J"], rtol=1e-9)["omega"].values[:, 0]
    value = tg.lower(tg.load("pmsm")).parameters["J"]
    assert value is not None
    base = value.evaluate({})
    up, down = (
        tg.simulate("pmsm", parameters={"J": base * (1 + s)}, rtol=1e-11, samples=1000).values("omega")
        for s in (1e-4, -1e-4)
    )
    wanted = (up - down) / (2e-4 * base)
    assert slopes == pytest.approx(wanted, abs=1e-4 * float(np.abs(wanted).max()))


def test_a_name_that_is_no_parameter() -> None:
    with pytest.raises(SimulationError, match="'R_x' is not a parameter of 'RC'"):
        tg.sensitivities(read_model(RC), ["R_x"], 1.0, inputs={"V": 1.0})


def test_a_parameter_that_follows_from_others() -> None:
    with pytest.raises(SimulationError, match="'R_b' follows from 'R'"):
        tg.sensitivities(read_model(RC), ["R_b"], 1.0, inputs={"V": 1.0})
    slopes = tg.sensitivities(read_model(RC), ["R_b"], 4.0, inputs={"V": 1.0}, values={"R_b": 4.0}, rtol=1e-9)
    t = slopes["t"].values
    assert slopes["V_C"].values[:, 0] == pytest.approx(-0.5 * t / TAU**2 * np.exp(-t / TAU), abs=1e-7)


def test_modes_are_refused() -> None:
    with pytest.raises(SimulationError, match="not integrated across changes of mode"):
        tg.sensitivities("clutch_drive", ["J_m"])
