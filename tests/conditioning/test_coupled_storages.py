"""Dependent storages that are ports of a field, such as windings on one core: their rates read each other."""

from functools import cache

import numpy as np
import pytest

import tellegen as tg
from conditioning.models import model_of
from tellegen.conditioning import FORMS
from tellegen.results.run import Run

# Windings on one core, whose currents and that of a third one sum to zero.
COILS = """
system: coupled coils
parameters: {R: 1 ohm, R_2: 3 ohm, R_3: 2 ohm}
network:
  V:   {voltage source: [a, gnd]}
  R:   {resistor: [a, b]}
  L_1: {inductor: [b, c], L: 1 mH}
  L_2: {inductor field: [c, d, c, e], matrix: [[2 mH, 1 mH], [1 mH, 4 mH]]}
  R_2: {resistor: [d, gnd]}
  R_3: {resistor: [e, gnd]}
experiment: {until: 5 ms, inputs: {V: 10 V}}
"""

# A law that the forces are found along with, so that they have no formula.
COILS_AND_LAWS = COILS.replace(
    "  R_2: {resistor: [d, gnd]}\n",
    "  R_2: {resistor: [d, n]}\n"
    "  R_4: {resistor: [n, gnd], law: v = 2 V*tanh(i/(1 A))}\n"
    "  R_5: {resistor: [n, gnd], law: i = 2 A*tanh(v/(1 V))}\n",
)

CAPACITORS = """
system: coupled capacitors in a loop
parameters: {R: 1 kohm, R_2: 3 kohm}
network:
  V:    {voltage source: [a, gnd]}
  R:    {resistor: [a, b]}
  C_12: {capacitor field: [b, gnd, b, c], matrix: [[2 uF, -0.5 uF], [-0.5 uF, 3 uF]]}
  C_3:  {capacitor: [c, gnd], C: 4 uF}
  R_2:  {resistor: [c, gnd]}
experiment: {until: 20 ms, inputs: {V: 10 V}}
"""

# A further capacitor at the source, which every form but two leaves where it is.
BESIDE_A_SOURCE = COILS.replace("network:\n", "network:\n  C_0: {capacitor: [a, gnd], C: 1 uF}\n").replace(
    "V: 10 V", "V: 10 V*sin(t/(1 ms))"
)

MODELS = {
    "coils": COILS,
    "coils and laws": COILS_AND_LAWS,
    "capacitors": CAPACITORS,
    "beside a source": BESIDE_A_SOURCE,
}
WITHOUT_LAGRANGE = ("coils and laws", "capacitors")
CASES = [(n, f) for n in MODELS for f in FORMS[1:] if f != "lagrange" or n not in WITHOUT_LAGRANGE]


@cache
def run_of(name: str, form: str) -> Run:
    model = model_of(MODELS[name])
    return tg.simulate(tg.condition(model, form), rtol=1e-9, samples=20)


def apart(one: Run, two: Run, name: str) -> float:
    return float(np.max(np.abs(one.values(name) - two.values(name))) / np.max(np.abs(two.values(name))))


@pytest.mark.parametrize(("name", "form"), CASES)
def test_coupled_storages_move_alike_in_every_form(name: str, form: str) -> None:
    run, plain = run_of(name, form), tg.simulate(model_of(MODELS[name]), rtol=1e-9, samples=20)
    close = 1e-3 if form == "parasitic" else 1e-7
    assert apart(run, plain, "power.R") < close
    assert apart(run, plain, "power.R_2") < close
    assert abs(run.energy.residual) < 1e-7


@pytest.mark.parametrize(("name", "form"), CASES)
def test_the_force_of_the_constraint_of_coupled_storages_is_read_in_every_form(name: str, form: str) -> None:
    force = "lambda_C_12_2" if name == "capacitors" else "lambda_L_2_2"
    run, exact = run_of(name, form).values(force), run_of(name, "derivative").values(force)
    assert run == pytest.approx(exact, abs=(1e-3 if form == "parasitic" else 1e-6) * np.max(np.abs(exact)))


def test_all_forms_of_coupled_storages_are_compared() -> None:
    table = tg.compare_conditioning(model_of(COILS))
    assert list(table.records) == list(FORMS)
    assert all(record.relative < (1e-3 if form == "parasitic" else 1e-8) for form, record in table.records.items())
