"""Measured variables: any variable of a model as a row of the transfer matrix, against closed forms and Tellegen's theorem."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from typer.testing import CliRunner

import tellegen as tg
from support.evaluated import legal
from support.networks import Network
from support.strategies import laplace_points, networks
from support.transfers import transfer_at
from tellegen.cli.main import app
from tellegen.core.errors import DescriptionError, EquationError
from tellegen.equations.derivation import measured_equations
from tellegen.equations.outputs import detected_names, measurable_names
from tellegen.equations.system import with_measured_outputs
from tellegen.expressions import is_zero, parse
from tellegen.graph import SourceLaw, lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

OSCILLATOR = """\
system: Oscillator
parameters: {m: 2 kg, K: 50 N/m, b: 3 N*s/m}
displacements: {x: v}
signals: {a: F_m/m, slow: {low pass: v, time constant: 1 s}}
network:
  F: {force source: [frame, p]}
  m: {mass: [p], velocity: v}
  K: {spring: [p]}
  b: {damper: [p]}
"""


def transfers(model: Model | str, *names: str) -> dict[str, str]:
    """The transfer functions from the first input, as texts."""
    form = tg.derive(read_model(model) if isinstance(model, str) else model, form="tf", outputs=names)
    assert form.outputs == names
    return {name: str(row[0]) for name, row in zip(form.outputs, form.entries, strict=True)}


def assert_is(found: str, expected: str) -> None:
    assert is_zero(parse(found) - parse(expected)), f"{found} is not {expected}"


def test_states_forces_positions_and_formulas_are_outputs() -> None:
    found = transfers(OSCILLATOR, "v", "F_K", "F_b", "F_m", "x", "a", "F")
    below = "(m*s^2 + b*s + K)"
    expected = ("s", "K", "b*s", "m*s^2", "1", "s^2")
    for (name, entry), above in zip(found.items(), expected, strict=False):
        assert_is(entry, f"{above}/{below}")
        assert name in ("v", "F_K", "F_b", "F_m", "x", "a")
    assert found["F"] == "1"


def test_a_force_between_rigid_masses_is_shared_by_their_inertias() -> None:
    """The second mass follows the first through a lever of ratio n: it takes n^2 m_2 of all inertia."""
    found = transfers(
        """\
system: Two masses on a lever
parameters: {m_1: 2 kg, m_2: 3 kg, n: 4}
network:
  F: {force source: [frame, a]}
  m_1: {mass: [a], velocity: v_1}
  n: {lever: [a, frame, b, frame]}
  m_2: {mass: [b], velocity: v_2}
""",
        "F_m_1",
        "v_1",
        "v_2",
        "F_m_2",
    )
    one, two = parse(found["v_1"]), parse(found["v_2"])
    n = two / one
    m_1, m_2, s = parse("m_1"), parse("m_2"), parse("s")
    assert is_zero(one * s * (m_1 + n * n * m_2) - 1)
    assert is_zero(parse(found["F_m_1"]) - m_1 * s * one)
    assert is_zero(parse(found["F_m_2"]) - m_2 * s * two)


def test_what_a_source_imposes_on_a_storage_reads_the_rate_of_the_input() -> None:
    text = """\
system: Capacitor on a source
parameters: {C: 1 mF, R: 10 ohm}
network:
  V: {voltage source: [a, gnd]}
  C: {capacitor: [a, gnd]}
  R: {resistor: [a, gnd]}
"""
    found = transfers(text, "I_C", "I_R")
    assert_is(found["I_C"], "C*s")
    assert_is(found["I_R"], "1/R")
    record = tg.derive(read_model(text), outputs=["I_C"]).to_json()
    assert record["measured"] == {"names": ["I_C"], "C": [[]], "D": [["0"]], "D_1": [["C"]]}


DRIVE = """\
system: Drive
parameters: {C: 4e-13 m^3/Pa, R: 2e11 Pa*s/m^3, n: 1000 m^-2, m: 20 kg, K: 5e5 N/m, b: 400 N*s/m}
bond graph:
  - Sf:Q -> 0:p (P)
  - p -> C:C
  - p -> R:R
  - p -> TF:n -> 1:v (v)
  - v -> I:m
  - v -> C:K
  - v -> R:b
  - v -> Df:speed
  - p -> De:pressure
"""


def test_detectors_are_rows_of_the_transfer_matrix() -> None:
    model = read_model(DRIVE)
    assert detected_names(model) == ("speed", "pressure")
    form = tg.derive(model, form="tf")
    assert form.outputs == ("P", "speed", "pressure")
    by_state = tg.derive(model, form="tf", outputs=["P", "v", "P"])
    assert [str(row) for row in form.entries[:2]] == [str(row) for row in by_state.entries]
    system = tg.derive(model)
    assert system.outputs == ("P",)
    assert system.measured.names == ("speed", "pressure")
    assert not system.signals.names
    assert "measured\n  speed = v\n  pressure = P\n" in system.to_text()
    assert "speed} &= v" in system.to_latex()


def test_a_sensor_between_nodes_is_a_detector() -> None:
    text = OSCILLATOR.replace("signals: {", "signals: {gap: {across: [p, frame]}, ")
    model = read_model(text)
    assert detected_names(model) == ("gap",)
    assert tg.derive(model, form="tf").outputs == ("v", "gap")


def test_what_detectors_read_is_analysed_and_takes_no_part_in_the_test_of_dissipation() -> None:
    without = read_model("\n".join(line for line in DRIVE.splitlines() if "De:" not in line and "Df:" not in line))
    plain, found = tg.analyse(without), tg.analyse(read_model(DRIVE))
    assert found.model.outputs == ("P", "speed", "pressure")
    assert found.passivity == plain.passivity
    assert found.zeros() == plain.zeros()
    assert found.dc_gain[2] == pytest.approx(found.dc_gain[0])
    assert tg.analyse(read_model(DRIVE), outputs=["F_K"]).dc_gain[1, 0] == pytest.approx(2e11 * 1e-3)


def test_an_output_of_a_nonlinear_model_is_linearised_with_it() -> None:
    text = OSCILLATOR.replace("  b: {damper: [p]}", "  b: {damper: [p], law: F = b*v^3}").replace("b: 3 N*s/m", "b: 3")
    found = tg.analyse(read_model(text), at={"v": 2.0}, outputs=["F_b"])
    v = found.model.states.index("v")
    assert found.model.C[found.model.outputs.index("F_b"), v] == pytest.approx(3 * 3 * 2.0**2)


@given(networks(), laplace_points)
def test_powers_of_all_elements_add_up_to_zero(network: Network, s: Fraction) -> None:
    """Tellegen's theorem, with every across and through variable of the network measured; sources supply what others take."""
    model = network.model()
    ports = lower(model).ports
    names = [port.variable(side) for port in ports for side in ("across", "through")]
    assume({*names} <= {*measurable_names(model)})  # a variable whose name is taken is called otherwise
    legal(network)  # passes over networks that contradict themselves
    system = measured_equations(model, names)
    assume(system.is_zero("B_1") and all(str(e) == "0" for row in system.measured.D_1 for e in row))
    rows = dict(zip(system.measured.names, range(len(names)), strict=True))
    values = {name: float(value) for name, value in network.values.items()}
    G = transfer_at(with_measured_outputs(system, names), complex(s), values)
    signs = [-1 if isinstance(port.law, SourceLaw) else 1 for port in ports]
    powers = np.array([sign * G[rows[names[2 * k]]] * G[rows[names[2 * k + 1]]] for k, sign in enumerate(signs)])
    assert abs(powers.sum(axis=0)) == pytest.approx(0, abs=1e-7 * (1e-6 + np.abs(powers).max()))


def test_signals_read_the_current_of_a_source_as_the_run_shows_it() -> None:
    text = """\
system: Supply
parameters: {R: 2 ohm, L: 1 H}
signals: {c: 3*I_V}
network:
  V: {voltage source: [a]}
  R: {resistor: [a]}
  L: {inductor: [a]}
experiment: {until: 1 s, inputs: {V: 1 V}}
"""
    system = tg.derive(read_model(text), outputs=["I_V", "c"])
    last = tg.simulate(read_model(text)).final()
    values = {**system.values(), **last}
    assert system.signals.values["c"].evaluate(values) == pytest.approx(last["c"])
    measured = [row[0].evaluate(values) * last["I_L"] for row in system.measured.C]
    measured = [m + row[0].evaluate(values) * last["V"] for m, row in zip(measured, system.measured.D, strict=True)]
    assert measured == pytest.approx([last["I_V"], last["c"]])


# -- wrong names -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("F_k", "E132", "did you mean 'F_K'?"),
        ("zzzzz", "E132", "some that are: "),
        ("slow", "E133", "the signal 'slow' has a memory"),
        ("power.b", "E133", "'power.b' is not linear in states and inputs"),
    ],
)
def test_a_wrong_output_is_told_why(name: str, code: str, said: str) -> None:
    with pytest.raises(EquationError) as caught:
        transfers(OSCILLATOR, name)
    assert caught.value.code == code
    assert said in str(caught.value)


@pytest.mark.parametrize("form", ["ph", "dae", "lagrange"])
def test_other_forms_have_no_measured_outputs(form: str) -> None:
    with pytest.raises(DescriptionError, match=f"the form '{form}' has no outputs of its own choice"):
        tg.derive(read_model(OSCILLATOR), form=form, outputs=["v"])


def test_the_command_takes_names_separated_by_commas() -> None:
    found = CliRunner().invoke(app, ["derive", "dc_motor", "--form", "tf", "--outputs", "omega, V_R", "--json"])
    assert json.loads(found.stdout)["outputs"] == ["omega", "V_R"]
    closed = CliRunner().invoke(app, ["derive", "dc_motor", "--closed", "--outputs", "tau_b", "--json"])
    assert json.loads(closed.stdout)["C"] == [["0", "b"]]
    refused = CliRunner().invoke(app, ["derive", "dc_motor", "--steps", "--outputs", "omega"])
    assert refused.exit_code == 2
