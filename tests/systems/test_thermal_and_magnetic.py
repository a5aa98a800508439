"""Heat in both readings, dissipators that feed it, and magnetic circuits, against closed forms.

Two masses: the example HeatTransfer.TwoMasses of the Modelica Standard Library, which is an exponential. Entropy: Gibbs's relation.
A coil of N turns on a permeance P is an inductor of N^2 P.
"""

import numpy as np
import pytest

import tellegen as tg
from tellegen.equations.forms.hamiltonian import port_hamiltonian
from tellegen.expressions import ZERO, is_zero
from tellegen.notations.reading import read_model
from tellegen.results import Run
from tellegen.schemes import bond_graph, pog

RTOL = 1e-9

ENTROPY = """\
system: Two masses by entropy
network:
  C_1: {entropy capacity: [a], C: 15 J/K, temperature: T_1, initial: 373.15 K}
  C_2: {entropy capacity: [b], C: 15 J/K, temperature: T_2, initial: 273.15 K}
  G:   {entropy conductor: [a, b], G: 10 W/K}
experiment: {until: 1 s}
"""
WINDING = """\
system: Winding
network:
  V:   {voltage source: [a, gnd]}
  L:   {inductor: [a, b], L: 10 mH}
  R:   {resistor: [b, gnd], R: 2 ohm, heat: w}
  C_w: {heat capacity: [w], C: 5 J/K, temperature: T_w}
  G_w: {thermal conductor: [w, ambient], G: 0.5 W/K}
experiment: {until: 20 s, inputs: {V: 6 V}}
"""
ENTROPY_WINDING = """\
system: Winding by entropy
network:
  V:   {voltage source: [a, gnd]}
  L:   {inductor: [a, b], L: 10 mH}
  R:   {resistor: [b, gnd], R: 2 ohm, heat: w}
  C_w: {entropy capacity: [w], C: 5 J/K, temperature: T_w, initial: 300 K}
  G_w: {entropy conductor: [w, room], G: 0.5 W/K}
  T_r: {absolute temperature source: [room]}
experiment: {until: 20 s, inputs: {V: 6 V, T_r: 300 K}}
"""
COIL = """\
system: Coil
network:
  V:    {voltage source: [a, gnd]}
  R:    {resistor: [a, b], R: 2 ohm, current: I}
  coil: {coil: [b, gnd, core, mgnd], N: 100}
  core: {permeance: [core, mgnd], P: 2 uH}
experiment: {until: 20 ms, inputs: {V: 6 V}}
"""


def run_of(text: str, **options: object) -> Run:
    return tg.simulate(read_model(text), rtol=RTOL, **options)  # type: ignore[arg-type]


def two_masses(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gap = 50 * np.exp(-t * 2 * 10 / 15)
    return 323.15 + gap, 323.15 - gap


def test_two_masses_approach_each_other_exponentially() -> None:
    run = tg.simulate("two_masses_heat", rtol=RTOL)
    hot, cold = two_masses(run.t)
    # the error may add up over the run: 20 tolerances of the largest value
    assert np.abs(run.values("T_1") - hot).max() <= 20 * RTOL * 373
    assert np.abs(run.values("T_2") - cold).max() <= 20 * RTOL * 373
    assert run.values("T_1")[-1] == pytest.approx(336.3297, abs=1e-3)


def test_heat_books_count_heat_and_not_products() -> None:
    run = tg.simulate("two_masses_heat", rtol=RTOL)
    assert run.values("energy.C_1")[0] == pytest.approx(15 * 373.15)
    assert run.energy.stored == pytest.approx(0, abs=1e-6)
    assert run.energy.dissipated == 0
    assert run.values("power.C_2")[0] == pytest.approx(10 * 100)
    assert run.values("power.G")[0] == 0


def test_both_readings_give_the_same_temperatures() -> None:
    run = run_of(ENTROPY)
    hot, cold = two_masses(run.t)
    assert np.abs(run.values("T_1") - hot).max() <= 20 * RTOL * 373
    assert np.abs(run.values("T_2") - cold).max() <= 20 * RTOL * 373


def test_a_conductor_conserves_energy_and_produces_entropy() -> None:
    system = tg.derive(read_model(ENTROPY))
    A = system.matrices["A"]
    assert all(is_zero(A[i][j] + A[j][i]) for i in range(2) for j in range(2))
    run = run_of(ENTROPY)
    one, two = run.values("T_1"), run.values("T_2")
    produced = 15 * np.log(one * two / (373.15 * 273.15))
    assert np.all(np.diff(produced) > 0)
    assert run.energy.stored == pytest.approx(0, abs=1e-6)
    flow = run.values("dS_C_1") + run.values("dS_C_2")
    assert flow == pytest.approx(10 * (one - two) ** 2 / (one * two), rel=1e-6)


def test_a_radiator_cools_by_the_fourth_power() -> None:
    run = run_of(
        "system: Radiator\nnetwork:\n  C: {entropy capacity: [a], C: 100 J/K, temperature: T, initial: 1000 K}\n"
        "  sky: {absolute temperature source: [s]}\n  k: {radiator: [a, s], k: 5e-9 W/K^4}\n"
        "experiment: {until: 10 s, inputs: {sky: 0.1 K}}\n"
    )
    exact = (1000.0**-3 + 3 * 5e-9 / 100 * run.t) ** (-1 / 3)
    assert np.abs(run.values("T") - exact).max() <= 20 * RTOL * 1000


def test_the_heat_of_a_dissipator_is_transferred_and_not_lost() -> None:
    run = run_of(WINDING)
    current = 3 * (1 - np.exp(-run.t * 200))
    assert run.values("power.R") == pytest.approx(2 * current**2, abs=1e-6)
    # 2 ohm (3 A)^2 less what rises with the current: integrals of 1, exp and exp^2
    taken = 18 * (20 - 2 / 200 + 1 / 400)
    books = run.energy
    assert books.transferred == pytest.approx(taken, rel=1e-6)
    assert books.by_element()["R_heat"] == pytest.approx(taken, rel=1e-6)
    assert books.supplied == pytest.approx(books.stored + books.dissipated, rel=1e-6)
    assert books.dissipated == pytest.approx(books.by_element()["G_w"], rel=1e-6)
    assert abs(books.residual) < 1e-6
    assert "transferred" in str(run)


def test_a_dissipator_heats_both_readings_alike() -> None:
    heat, entropy = run_of(WINDING), run_of(ENTROPY_WINDING)
    assert entropy.values("T_w") - 300 == pytest.approx(heat.values("T_w"), abs=300 * 20 * RTOL)
    assert entropy.energy.transferred == pytest.approx(heat.energy.transferred, rel=1e-6)
    assert abs(entropy.energy.residual) < 1e-6


def test_heat_from_the_ambient_is_supplied() -> None:
    run = run_of(
        "system: Cold drink\nnetwork:\n  C: {heat capacity: [a], C: 100 J/K, initial: -15 K}\n"
        "  G: {thermal conductor: [a, ambient], G: 2 W/K}\nexperiment: {until: 50 s}\n"
    )
    assert run.energy.supplied == pytest.approx(1500 * (1 - np.exp(-1)), rel=1e-6)
    assert run.energy.dissipated == 0


def test_half_of_the_power_is_supplied_anew_and_not_transferred() -> None:
    text = WINDING.replace(", heat: w", "")
    run = run_of(text.replace("experiment:", "  Q: {heat flow source: [w], signal: 0.5*power.R}\nexperiment:"))
    assert run.energy.transferred == 0
    assert run.energy.by_element()["Q"] == pytest.approx(run.energy.by_element()["R"] / 2, rel=1e-6)
    assert abs(run.energy.residual) < 1e-6


def test_the_long_form_of_a_heat_port_is_transferred_too() -> None:
    text = WINDING.replace(", heat: w", "")
    run = run_of(text.replace("experiment:", "  Q: {heat flow source: [w], signal: power.R}\nexperiment:"))
    assert run.energy.transferred == pytest.approx(run_of(WINDING).energy.transferred, rel=1e-6)


def test_the_warm_motor_draws_less_current() -> None:
    run = tg.simulate("motor_heating")
    assert run.values("T_w")[-1] > run.values("T_h")[-1] > 10
    assert abs(run.energy.residual) < 1e-5
    assert run.energy.transferred == pytest.approx(run.energy.stored + run.energy.dissipated, rel=1e-3)


def test_a_coil_on_a_permeance_is_an_inductor() -> None:
    run = run_of(COIL)
    assert run.values("I") == pytest.approx(3 * (1 - np.exp(-run.t * 2 / (100**2 * 2e-6))), abs=20 * RTOL * 3)
    assert run.energy.stored == pytest.approx(100**2 * 2e-6 * run.values("I")[-1] ** 2 / 2, rel=1e-6)


def test_a_reluctance_is_the_reciprocal_of_a_permeance() -> None:
    other = run_of(COIL.replace("permeance: [core, mgnd], P: 2 uH", "reluctance: [core, mgnd], R: 5e5 H^-1"))
    assert other.values("I") == pytest.approx(run_of(COIL).values("I"), abs=20 * RTOL * 3)


def test_the_solenoid_ends_where_its_resistance_says_and_saturates() -> None:
    run = tg.simulate("solenoid", until=1.0, rtol=RTOL)
    flux = run.values("Phi_iron")[-1]
    assert run.values("I_w")[-1] == pytest.approx(6, rel=1e-6)
    assert 8.5e5 * flux + 1e17 * flux**5 == pytest.approx(200 * 6, rel=1e-6)
    assert abs(run.energy.residual) < 1e-6


def test_thermal_and_magnetic_storages_and_conductors_have_their_letters() -> None:
    heat = bond_graph(tg.assign_causality(tg.lower(read_model(WINDING))))
    assert (heat.kind_of("C_w"), heat.kind_of("G_w"), heat.kind_of("R_heat")) == ("C", "R", "MSf")
    coil = bond_graph(tg.assign_causality(tg.lower(read_model(COIL))))
    assert coil.kind_of("core") == "C"
    (two_port,) = coil.two_ports.values()
    assert two_port.kind == "GY"
    assert pog(tg.assign_causality(tg.lower(read_model(COIL)))).sections


def test_a_bond_graph_of_heat_equals_its_network() -> None:
    text = (
        "system: wall\nparameters: {C_1: 15 J/K, C_2: 15 J/K, R: 0.1 K/W}\n"
        "bond graph:\n  - Sf:Q -> 0:a (heat) -> C:C_1\n  - a -> 1:f -> R:R\n  - f -> 0:b -> C:C_2\n"
    )
    network = (
        "system: wall\nnetwork:\n  Q: {heat flow source: [a]}\n  C_1: {heat capacity: [a], C: 15 J/K}\n"
        "  R: {thermal resistor: [a, b], R: 0.1 K/W}\n  C_2: {heat capacity: [b], C: 15 J/K}\n"
    )
    one, two = tg.derive(read_model(text)), tg.derive(read_model(network))
    assert one.matrices == two.matrices


def test_heat_flows_have_a_function_that_is_no_energy_and_entropies_have_one() -> None:
    by_heat = port_hamiltonian(tg.derive("two_masses_heat"))
    assert (by_heat.states, by_heat.H) == (("H_C_1", "H_C_2"), ZERO)
    by_entropy = port_hamiltonian(tg.derive(read_model(ENTROPY)))
    assert by_entropy.states == ("T_1", "T_2")
    assert by_entropy.H_heat is ZERO
