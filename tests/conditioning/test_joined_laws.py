"""Dependent storages whose laws are not linear: joined where each follows one other, refused with the reason where not."""

import pytest

import tellegen as tg
from conditioning.models import JOINED_ENTROPIES, model_of
from tellegen.notations.reading import read_model

PAIR = """
system: a varactor beside capacitors
parameters: {a: 1 uF, b: 2 uF, c: 0.1 uF/V^2, R: 1 kohm, R_2: 2 kohm}
network:
  V:   {voltage source: [s, gnd]}
  R:   {resistor: [s, x]}
  C_1: {capacitor: [x, gnd], law: q = a*v + c*v^3}
  C_2: {capacitor: [gnd, x], law: q = b*v + c*v^3/3}
  C_3: {capacitor: [x, gnd], C: b}
  R_2: {resistor: [x, y]}
  C_4: {capacitor: [y, gnd], C: a}
  C_5: {capacitor: [y, gnd], C: a}
experiment: {until: 5 ms, rtol: 1e-9, inputs: {V: 10 V}, initial: {V_C_1: 1 V}}
"""

COILS = """
system: saturating coils in series
parameters: {L: 1 H, d: 0.1 H/A^2, n: 2}
network:
  V:   {voltage source: [a, gnd]}
  L_1: {inductor: [a, b], law: phi = L*i + d*i^3}
  L_2: {inductor: [c, b], law: phi = 2*L*i + d*i^3}
  T:   {connection: [c, gnd, e, gnd], domains: [electrical, electrical], relation: through_2 = n*through_1}
  L_3: {inductor: [e, f], L: 0.2 H}
  R:   {resistor: [f, gnd], R: 1 ohm}
experiment: {until: 1 s, rtol: 1e-9, inputs: {V: 5 V}}
"""


@pytest.mark.parametrize("text", [PAIR, COILS, JOINED_ENTROPIES], ids=["capacitors", "coils", "entropies"])
def test_storages_that_follow_one_other_are_one_with_the_sum_of_their_contents(text: str) -> None:
    model = model_of(text)
    made = tg.condition(model, "field")
    plain, run, again = (
        tg.simulate(m, rtol=1e-9, samples=8) for m in (model, made, read_model(tg.to_yaml(made.model)))
    )
    assert run.state_names == plain.state_names
    for name in (*plain.names, *(port.through for port in plain.graph.ports)):
        size = max(abs(plain.values(name)))
        assert run.values(name) == pytest.approx(plain.values(name), abs=1e-6 * size), name
        assert again.values(name) == pytest.approx(plain.values(name), abs=1e-6 * size), name
    assert abs(run.energy.residual) < 1e-7
    assert "keep together" in made.to_text()
    assert r"\begin{" in made.to_latex()


def test_the_sum_of_the_contents_is_printed() -> None:
    text = tg.condition(model_of(COILS), "field").to_text()
    assert "p_I_L_1 = 3*I_L_1*L + 2*I_L_1^3*d + I_L_1*L_3*n^2" in text
    assert "p_I_L_1' = V - I_L_1*R*n^2" in text


def test_forms_that_need_a_matrix_say_which_law_is_not_linear() -> None:
    with pytest.raises(tg.ConditioningError, match="C104: 'C_1' has a law that is not linear") as raised:
        tg.condition(model_of(PAIR), "hamilton")
    assert "or field where each storage follows one other" in str(raised.value)


def test_a_storage_that_follows_several_others_has_no_law_in_common_with_them() -> None:
    loop = PAIR.replace("R_2: {resistor: [x, y]}", "C_6: {capacitor: [x, y], C: b}\n  R_2: {resistor: [y, gnd]}")
    with pytest.raises(
        tg.ConditioningError, match="C104: 'C_6' is among storages that are not linear, and follows several"
    ):
        tg.condition(model_of(loop), "field")


@pytest.mark.parametrize("form", ["field", "lagrange", "hamilton"])
@pytest.mark.parametrize("modulus", ["1 + c*omega", "2 + c*turn"])
def test_a_ratio_that_reads_no_position_makes_no_mass_matrix(form: str, modulus: str) -> None:
    """Entries of a matrix are parameters: read in a run, a speed in them was an internal error."""
    text = (
        "system: x\nparameters: {J_1: 1 kg*m^2, J_2: 1 kg*m^2, c: 1}\nsignals: {turn: 'sine(1, 8 Hz)'}\n"
        "bond graph:\n  - Se:tau -> 1:a (omega, rotational)\n"
        f"  - a -> I:J_1\n  - a -> MTF:n -> 1:b (w, rotational)\n  - b -> I:J_2\nelements: {{n: {{K: {modulus}}}}}\n"
    )
    with pytest.raises(tg.ConditioningError, match=r"C104.*by what reads '(omega|turn)'"):
        tg.condition(model_of(text), form)
