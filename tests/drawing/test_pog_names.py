"""The POG and the bond graph of one model call its variables alike."""

import pytest

import tellegen as tg
from tellegen.causality import assign_causality
from tellegen.drawing import draw
from tellegen.drawing.pog.texts import PogNames
from tellegen.expressions import parse
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.scenes.scene import Label, Scene
from tellegen.schemes import pog


def labels(scene: Scene, *parts: str) -> set[str]:
    return {s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part in parts}


@pytest.mark.parametrize("name", ["dc_motor_pump", "quarter_car", "hydraulic_cylinder"])
def test_variables_are_those_of_the_bond_graph(name: str) -> None:
    bonds = labels(draw(name, "bond").scene, "effort", "flow")
    sections = labels(draw(name, "pog").scene, "variable")
    own = {text for text in sections if not text.split("_")[-1].isdigit()}
    assert own
    assert own <= bonds


def test_what_runs_between_two_elements_is_numbered() -> None:
    sections = labels(draw("dc_motor_pump", "pog").scene, "variable")
    assert {"V_1", r"\tau_1", "Q_1"} <= sections
    assert not any("," in text for text in sections)


def test_energy_variables_take_the_subscript_of_their_element() -> None:
    assert labels(draw("dc_motor_pump", "pog").scene, "energy") == {r"\phi_a", "p_m", "V_0"}


def test_numbers_that_the_model_uses_are_left_out() -> None:
    net = tg.Network("Numbers")
    net.add("voltage source", "V_1", "a", "gnd")
    net.add("inductor", "L", "a", "b", value="1 H")
    net.add("resistor", "R", "b", "c", value="1 ohm")
    net.add("capacitor", "C", "c", "gnd", value="1 F")
    scheme = pog(assign_causality(lower(net.model())))
    names = PogNames(scheme)
    shown = {name: names.variable(name) for s in scheme.sections.values() for name in (s.across, s.through)}
    assert {"V_1", "V_2"} <= set(shown.values())
    assert len(set(shown.values())) == len(shown)


def test_formulas_use_the_same_names() -> None:
    names = PogNames(pog(assign_causality(lower(tg.load("dc_motor_pump")))))
    assert names.formula(parse("V_R_a^2 + omega_m")) in (r"V_{R_a}^{2} + \omega_m", r"\omega_m + V_{R_a}^{2}")
    assert names.formula(parse("sin(s) * alpha_p")).count(r"\sin") == 1


def test_sides_of_a_machine_are_called_as_the_user_calls_them() -> None:
    text = """
system: Motor
network:
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, b], L: 1 mH, current: I}
  M: {dc machine: [b, gnd, s, frame], K: 0.1 N*m/A, voltage: E_m, torque: C_m}
  J: {inertia: [s], J: 1e-3 kg*m^2}
"""
    model = read_model(text)
    assert {"E_m", "C_m"} <= labels(draw(model, "bond").scene, "effort")
    assert {"E_m", "C_m"} <= labels(draw(model, "pog").scene, "variable")
    turned = read_model(text.replace("[b, gnd, s, frame]", "[b, gnd, frame, s]"))
    assert "C_m" not in labels(draw(turned, "bond").scene, "effort")  # it would have the other sign
