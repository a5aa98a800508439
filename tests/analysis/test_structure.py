"""Ranks, passivity and steady states."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given

import tellegen as tg
from analysis.support import analysed, linear
from support.evaluated import legal
from support.networks import Network
from support.strategies import networks
from tellegen.analysis.linear_model import linear_model
from tellegen.analysis.poles import controllability, observability, passivity
from tellegen.analysis.summary import split_power
from tellegen.core.errors import EquationError
from tellegen.experiments.linearising import steady_state
from tellegen.notations.reading import read_model

TWINS = (
    "system: twins\nparameters: {{R: 2 ohm, C: 3 F}}\nnetwork:\n  V: {{voltage source: [a, gnd]}}\n"
    "  R_1: {{resistor: [a, b], R: R}}\n"
    "  C_1: {{capacitor: [b, gnd], C: C}}\n  R_2: {{resistor: [a, c], R: {R_2}}}\n  C_2: {{capacitor: [c, gnd], C: C}}\n"
)


def test_equal_branches_are_not_controllable_together() -> None:
    found = controllability(linear(TWINS.format(R_2="R")))
    assert (found.rank, found.states, found.complete) == (1, 2, False)
    assert [p.value for p in found.missed] == [pytest.approx(-1 / 6)]


def test_different_branches_are_controllable_and_observable() -> None:
    model = linear(TWINS.format(R_2="1.001*R"))
    assert controllability(model).complete
    assert observability(model).complete


def test_reach_does_not_depend_on_how_far_apart_the_time_constants_are() -> None:
    model = linear(
        "system: slow and fast\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, b], R: 1 mohm}\n"
        "  C_1: {capacitor: [b, gnd], C: 1 uF}\n  R_2: {resistor: [b, c], R: 1 Mohm}\n  C_2: {capacitor: [c, gnd], C: 1 mF}\n"
    )
    assert controllability(model).complete


@given(networks())
def test_passive_networks_are_found_passive(network: Network) -> None:
    model = linear_model(legal(replace(network, valued=True)).system)
    assume(not model.B_1.any() and not model.D_1.any())
    assert passivity(model).passive


def test_a_negative_resistor_is_found() -> None:
    model = linear(
        "system: active\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
        "  C: {capacitor: [b, gnd], C: 1 F}\n  R_n: {resistor: [b, gnd], R: -2 ohm}\n"
    )
    found = passivity(model)
    assert found.passive is False
    assert found.smallest < 0


def test_a_tangent_is_not_called_active_because_its_states_are_energy_variables() -> None:
    # Iron that saturates has its flux as a state, so that L is no energy there; coil and iron only store and lose.
    assert tg.analyse("solenoid").passivity.passive is None


@pytest.mark.parametrize(("law", "passive"), [("i = g*u + h*u^3", True), ("i = h*u^3 - g*u", False)])
def test_a_falling_characteristic_is_found_by_what_the_port_gives(law: str, passive: bool) -> None:
    model = read_model(
        "system: tunnel\nparameters: {g: 0.1 S, h: 1 A/V^3, C: 1 F}\nnetwork:\n  I: {current source: [gnd, a]}\n"
        f"  C: {{capacitor: [a, gnd]}}\n  D: {{resistor: [a, gnd], law: {law}}}\n"
    )
    assert tg.analyse(model, at={"V_C": 0.0}).passivity.passive is passive


# Steady states


def test_the_steady_state_of_a_linear_model_solves_its_balance() -> None:
    found = steady_state(tg.derive("dc_motor_pump"), {"V_a": 24.0, "Q_0": -2e-5})
    assert 0.5 * found["I_a"] + 0.15 * found["omega_m"] == pytest.approx(24.0, rel=1e-12)
    assert 1e-6 * found["omega_m"] - 2e-5 == pytest.approx(2e-11 * found["P_0"], rel=1e-9)


def test_the_steady_state_of_a_quadratic_damper() -> None:
    model = read_model(
        "system: drag\nparameters: {c: 3}\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a], m: 2 kg, velocity: v}\n"
        "  drag: {damper: [a, frame], law: F = c*v*abs(v)}\n"
    )
    found = steady_state(tg.derive(model), {"F": 12.0}, {"v": 0.1})
    assert found["v"] == pytest.approx(2.0, rel=1e-9)


def test_what_keeps_moving_is_named() -> None:
    model = read_model(
        "system: free\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a], m: 2 kg, velocity: v}\n"
        "  m_2: {mass: [b], m: 2 kg, velocity: v_2}\n  d: {damper: [b, frame], b: 1 N*s/m}\n  F_2: {force source: [frame, b]}\n"
    )
    with pytest.raises(EquationError) as error:
        steady_state(tg.derive(model), {"F": 1.0})
    assert error.value.code == "E201"
    assert error.value.what == "'v' keeps moving"


def test_a_charge_that_nobody_drains_stays_where_it_was() -> None:
    model = read_model(
        "system: kept\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
        "  C_1: {capacitor: [b, c], C: 1 F, voltage: V_1}\n  C_2: {capacitor: [c, gnd], C: 1 F, voltage: V_2}\n"
    )
    found = steady_state(tg.derive(model), {"V": 10.0}, {"V_1": 1.0, "V_2": 3.0})
    assert found["V_1"] + found["V_2"] == pytest.approx(10.0)


# Linearised models


def test_displacements_are_states_of_the_linearised_model() -> None:
    model = linear_model(tg.derive("crank_rod"), {"theta": 0.7, "omega": 3.0, "tau": 2.0})
    assert model.states == ("omega", "theta")
    R, L, d, J_m, m_p, b_m, b_p = 0.05, 0.15, 0.01, 0.01, 0.5, 0.02, 2.0

    def H(theta: float) -> float:
        s = R * math.sin(theta) - d
        return -R * math.sin(theta) - R * math.cos(theta) * s / math.sqrt(L**2 - s**2)

    def acceleration(omega: float, theta: float) -> float:
        h = 1e-6
        slope = (H(theta + h) - H(theta - h)) / (2 * h)
        torque = 2.0 - (b_m + H(theta) ** 2 * b_p) * omega - m_p * H(theta) * slope * omega**2
        return torque / (J_m + m_p * H(theta) ** 2)

    h = 1e-4
    by_omega = (acceleration(3 + h, 0.7) - acceleration(3 - h, 0.7)) / (2 * h)
    by_theta = (acceleration(3, 0.7 + h) - acceleration(3, 0.7 - h)) / (2 * h)
    found = -model.A / model.L.diagonal()[:, None]
    assert found[0] == pytest.approx([by_omega, by_theta], rel=1e-6)
    assert found[1] == pytest.approx([1.0, 0.0])


# Power


def test_power_given_is_power_taken() -> None:
    split = split_power({"V": -10.0, "R": 7.0, "b": 3.0, "L": 1e-14})
    assert split.given == {"V": 10.0}
    assert list(split.taken.items()) == [("R", 7.0), ("b", 3.0)]
    assert split.share("R") == pytest.approx(0.7)
    assert split.share("V") == pytest.approx(-1.0)
    assert split.total == 10.0


# Printouts


def test_the_text_lists_poles_channels_and_structure() -> None:
    text = str(analysed("dc_motor_pump"))
    for words in ("-35.261 ± 4.806j", "stiffness ratio  5.43", "controllable  3 of 3 states", "passive       yes"):
        assert words in text


def test_the_record_holds_names_numbers_and_units() -> None:
    record: Any = analysed("spring_damper").to_json(points=5)
    assert record["units"] == {"F": "N", "v": "m/s", "F_t": "N"}
    assert record["poles"] == [{"re": 0.0, "im": 0.0, "natural_frequency": 0.0, "damping": 1.0, "time_constant": None}]
    (channel,) = record["channels"]
    assert channel["dc_gain"] is None, "an infinite gain is null in JSON"
    assert channel["unit"] == "N/(m/s)"


def test_the_bode_diagram_labels_what_it_shows() -> None:
    above, below, *_ = analysed("dc_motor_pump").plot().panels
    assert above.names == below.names == ("I_a/V_a", "P_0/V_a")
    assert (above.unit, below.unit, below.x_unit, below.x_kind) == ("dB", "deg", "rad/s", "log")


def test_the_map_of_poles_shows_conjugates_and_the_slow_ones_apart() -> None:
    found = analysed("dc_motor_pump")
    (panel,) = found.plot_poles().panels
    shown = panel.lines[0].x + 1j * panel.lines[0].y
    both = {p.value for p in found.poles} | {p.value.conjugate() for p in found.poles}
    assert sorted(shown, key=abs) == pytest.approx(sorted(both, key=abs))
    assert panel.equal
