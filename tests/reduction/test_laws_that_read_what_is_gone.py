"""Laws, moduli and rates that read a variable which a limit removes: they read what stands for it, or what carries it."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.no_compiler import no_compiler
from support.started import Train, trains
from tellegen.core.errors import ReductionError
from tellegen.expressions import is_zero, number, parse
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

CONTACT = """
system: block on a contact
parameters: {M: 1 kg, m: 2 kg, K: 1e7 N/m, b: 1 N*s/m, mu: 0.2, v_s: 1e-2 m/s, p: 1 kg}
network:
  F:  {force source: [frame, a]}
  M:  {mass: [a]}
  K:  {spring: [a, c], force: N}
  b:  {damper: [c, frame]}
  m:  {mass: [c]}
  Fx: {force source: [frame, x]}
  p:  {mass: [x], velocity: v_x}
  fr: {damper: [x, frame], law: F = mu*abs(N)*tanh(v/v_s)}
experiment: {until: 0.5 s, inputs: {F: "sine(0.5 N, 4 Hz)", Fx: 5 N}}
"""


def test_a_friction_reads_what_stands_for_its_normal_force() -> None:
    found = tg.reduce(read_model(CONTACT), {"K": inf, "m": 0})
    assert is_zero(found.equations.vectors["f"][1] - parse("mu*abs(b*v_M)*tanh(v_x/v_s)"))


def test_a_friction_behind_a_rigid_contact_has_the_force_of_the_constraint() -> None:
    """Only rates tell the force, so the contact stays as an element of value zero that carries it."""
    full = read_model(CONTACT)
    found = tg.reduce(full, {"K": inf})
    assert found.equations.states == ("v_M", "v_x")
    small = read_model(to_yaml(found.model))
    speed = float(tg.simulate(small)["v_x"][-1])
    assert speed == pytest.approx(float(tg.simulate(full)["v_x"][-1]), rel=1e-3)
    assert is_zero(found.recovered["N"] - parse("(m*F + M*b*v_M)/(M + m)"))


def test_a_modulus_reads_what_stands_for_a_speed() -> None:
    text = """
system: machine whose field follows a current
parameters: {R: 1 ohm, L: 1 mH, K: 0.1 H, J: 1 kg*m^2, b: 1 N*m*s, L_f: 1 mH, R_f: 2 ohm}
network:
  V_f: {voltage source: [f, gnd]}
  L_f: {inductor: [f, g], current: i_f}
  R_f: {resistor: [g, gnd]}
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, c], current: i}
  R: {resistor: [c, d]}
  machine: {dc machine: [d, gnd, shaft, frame], K: K*i_f}
  J: {inertia: [shaft], angular velocity: omega}
  b: {friction: [shaft, frame]}
"""
    found = tg.reduce(read_model(text), {"L_f": 0})
    A = found.equations.matrices["A"]
    assert is_zero(A[0][1] - parse("K*V_f/R_f"))
    assert tg.derive(read_model(to_yaml(found.model))).states == ("i", "omega")


def test_a_law_whose_letter_is_the_name_of_the_other_variable() -> None:
    text = CONTACT.replace("M:  {mass: [a]}", "M:  {mass: [a], velocity: v}")
    with pytest.raises(
        ReductionError, match=r"the law of 'fr' reads 'N', now b\*v, but 'v' is its own letter"
    ) as error:
        tg.reduce(read_model(text), {"K": inf, "m": 0})
    assert error.value.code == "T140"
    assert "give the variable 'v' another name" in str(error.value)


def test_a_law_that_reads_an_indeterminate_force() -> None:
    """A spring beside a rigid gear to the frame carries what nobody can say."""
    text = """
system: two rigid paths
parameters: {K: 10 N*m, r: 2, mu: 0.1, w_s: 1 rad/s}
network:
  tau: {torque source: [frame, a]}
  J: {inertia: [a], J: 1 kg*m^2}
  g: {gear: [a, frame, c, frame], gear ratio: r}
  h: {gear: [a, frame, d, frame], gear ratio: r}
  K: {torsion spring: [c, d], torque: N}
  fr: {friction: [a, frame], law: tau = mu*abs(N)*tanh(omega/w_s)}
"""
    with pytest.raises(ReductionError, match="a law reads 'N', which nothing determines after the limit") as error:
        tg.reduce(read_model(text), {"K": inf})
    assert error.value.code == "T109"


@pytest.fixture(scope="module")
def slide() -> tg.Reduction:
    """A massless tiller under a friction that reads the normal forces which it decides."""
    return tg.reduce("rapson_slide", {"tiller.my": 0})


def test_a_friction_that_decides_its_own_normal_forces_leaves_unknowns(slide: tg.Reduction) -> None:
    system = slide.equations
    assert set(system.algebraic.unknowns) == {"N_1", "N_2", "slide.v_friction"}
    known = {*system.states, *system.inputs, *system.parameters, *system.where, *system.displacements}
    known |= {*system.algebraic.unknowns}
    entries = [*system.entries(), *system.displacements.values()]
    assert {name for e in entries for name in e.free_symbols} <= known


def test_it_moves_as_one_with_a_light_tiller(slide: tg.Reduction) -> None:
    """Damper forces cross zero on the way, where unknowns are small differences of large numbers."""
    light = (replace(e, value=number(1e-4)) if e.name == "tiller.my" else e for e in slide.original.elements)
    full = replace(slide.original, elements=tuple(light), source="")
    written = read_model(to_yaml(slide.model))
    assert str(written.displacements["y_c"]) == "tiller.vy"  # which stays, as the speed of an open element
    small, other = (tg.simulate(m, until=0.3, parameters={"mu_k": 0.1}) for m in (written, full))
    for name in ("x_P", "y_c", "theta_c"):
        assert float(small[name][-1]) == pytest.approx(float(other[name][-1]), abs=1e-6)


@pytest.mark.parametrize(("name", "value"), [("R_a", 0.0), ("b_m", 0.0), ("b_m", inf)])
def test_a_loss_that_goes_heats_nothing(name: str, value: float) -> None:
    found = tg.reduce("motor_heating", {name: value})
    small = read_model(to_yaml(found.model))
    (heat,) = (e.signal for e in small.elements if e.name == f"{name}_heat")
    assert str(heat) == "0"
    assert tg.derive(small).states == found.equations.states


def test_a_rate_that_would_be_too_long_for_a_file_is_carried() -> None:
    """The turning speed of a cylinder without inertia follows from all forces on it."""
    found = tg.reduce("piston_cylinder", {"cylinder.J": 0})
    small = read_model(to_yaml(found.model))
    assert str(small.displacements["theta_c"]) == "cylinder.omega"
    assert "cylinder.omega" in found.recovered


@settings(max_examples=settings().max_examples // 8)
@given(trains(), st.sampled_from(("k1", "J00", "J10")), st.sampled_from((0.0, 0.5)))
def test_what_is_gone_is_told_in_names_of_the_model_and_has_its_value(train: Train, limit: str, drag: float) -> None:
    """The torque of each spring is what the storages and the friction behind it take; formulas read what a run has."""
    train = replace(train.without_choice(), drag=drag)
    with no_compiler():
        found = tg.reduce(train.model(), {limit: inf if limit == "k1" else 0})
        run = tg.simulate(found, until=0.1, samples=20, progress=False)
    removed = found.recovered.keys()
    names = {name for e in (*found.recovered.values(), *found.where.values()) for name in e.free_symbols}
    names -= {*found.where, *found.equations.where, *found.input_rates}
    assert all(name in run or name in run.parameters for name in names), names
    assert all(name in run for name in removed)
    last = train.groups[-1]
    taken = run.values("tau_F1") + sum(m.ratio * run.values(m.taken) for m in last.members if m.taken in run)
    assert run.values("tau_K1") == pytest.approx(taken, rel=1e-6, abs=1e-7)
