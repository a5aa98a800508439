"""The POG and the bond graph of one model call its variables alike."""

import re

import pytest

import tellegen as tg
from support.examples import causal_example
from tellegen.causality import assign_causality
from tellegen.drawing import draw
from tellegen.drawing.pog.texts import PogNames
from tellegen.expressions import parse
from tellegen.graph import lower
from tellegen.graph.signal_lowering import named_between
from tellegen.notations.reading import read_model
from tellegen.scenes.scene import Label, Scene
from tellegen.schemes import pog


def labels(scene: Scene, *parts: str) -> set[str]:
    return {s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part in parts}


@pytest.mark.parametrize("name", ["dc_motor_pump", "quarter_car", "hydraulic_cylinder"])
def test_variables_are_those_of_the_bond_graph(name: str) -> None:
    bonds = labels(draw(name, "bond").scene, "effort", "flow")
    sections = labels(draw(name, "pog").scene, "variable")
    between = set(named_between(lower(tg.load(name))).values())  # of power sections, which no bond has
    own = {text for text in sections if not text.split("_")[-1].isdigit()} - between
    assert own
    assert own <= bonds


def test_what_runs_between_two_elements_is_numbered() -> None:
    sections = labels(draw("dc_motor_pump", "pog").scene, "variable")
    assert {"V_r", r"\tau_1", "Q_u"} <= sections
    assert "V_1" in labels(draw("dc_motor", "pog").scene, "variable")
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
    names = PogNames(pog(causal_example("dc_motor_pump")))
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


SECTION = """\
system: filter
network:
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, b], L: 1 mH}
  R: {resistor: [b, c], R: 2 ohm}
  C: {capacitor: [c, gnd], C: 1 uF}
signals:
  V_r: {formula: V - V_L, between: [L, R]}
"""


def test_a_network_names_a_section_between_two_elements_in_every_notation() -> None:
    """The voltage behind a coil is that of no element; figures, equations and other notations have its name all the same."""
    model = read_model(SECTION)
    for notation in ("network", "pog", "bond"):
        again = read_model(tg.translate(model, notation))
        assert "V_r" in tg.derive(again).signals.named
        assert "V_r" in {section.across for section in tg.pog(again).sections.values()}
    with pytest.raises(tg.TellegenError, match="'X' of 'between' in the signal V_r is no element"):
        read_model(SECTION.replace("[L, R]", "[L, X]"))
    with pytest.raises(tg.TellegenError, match="'between' of the signal V_r names 1 elements, not 2"):
        read_model(SECTION.replace("[L, R]", "[L]"))


SHARED = {
    "omega_m", "tau_m", "R_1", "K_c", "F_c", "R_2", "omega_t", "tau_t",
}  # fmt: skip
MOTORS = {"V_s", "I_s", "L_s", "R_s", "E_m", "K_tau", "tau_e", "J_m", "B_m"}
NUTS = {"J_2", "B_2", "H_1", "v_1", "v_2", "H_2", "J_a", "B_a", "dotX_a"}


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("corking_shaft", NUTS | {"omega_t", "tau_t"}),
        ("corking_transmission", SHARED | NUTS),
        ("corking_machine_extended", SHARED | MOTORS | NUTS),
        ("corking_machine", SHARED | MOTORS | {"J_t", "A_t", "T_a", "dotX_a"}),
    ],
)
def test_vector_blocks_of_the_corking_machine_have_the_letters_of_the_paper(name: str, letters: set[str]) -> None:
    """Its figures 9 and 12; a storage has its inverse in the block, a connection its transpose on the other line."""
    drawn = labels(draw(name, "pog", meshes="vector").scene, "variable", "K text", "gain text")
    plain = {re.sub(r"\\(?:boldsymbol|mathbf)|\^\{.*|[\\{}]", "", text) for text in drawn}
    assert letters <= plain


def test_the_motor_with_pump_has_the_letters_of_the_lecture() -> None:
    run = tg.simulate("dc_motor_pump", samples=50)
    letters = ("V_r", "E_m", "C_m", "C_p", "Q_p", "Q_u")
    assert set(letters) <= set(run.names)
    drawn = tg.pog("dc_motor_pump").sections.values()
    assert set(letters) <= {name for section in drawn for name in (section.across, section.through)}
    I_a, omega_m, P_0 = (run.values(name) for name in ("I_a", "omega_m", "P_0"))
    expected = (0.5 * I_a + 0.15 * omega_m, 0.15 * omega_m, 0.15 * I_a, 1e-6 * P_0, 1e-6 * omega_m, 2e-11 * P_0 + 2e-5)
    for name, values in zip(letters, expected, strict=True):
        assert run.values(name) == pytest.approx(values, rel=1e-9), name


def test_names_put_together_from_those_of_many_items_are_numbered_and_explained() -> None:
    scene = draw("planetary_gear", "bond").scene
    assert r"\tau_1" in labels(scene, "effort")
    assert r"\tau_1 = \tau_\text{gear,1,2}" in labels(scene, "legend")
    assert not {text for text in labels(scene, "effort", "flow") if text.count(",") > 2}
    # A vector scheme has none of them, and explains none.
    assert not {text for text in labels(draw("corking_shaft", "pog").scene, "legend") if text.startswith("F_")}
