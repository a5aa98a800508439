"""Whole systems over time, against exact solutions, published ones and each other."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

import tellegen as tg
from support.amount import small_now
from tellegen.analysis.linear_model import energy_coordinates, linear_model
from tellegen.notations.reading import read_model
from tellegen.results import Run

Array = NDArray[np.float64]
RTOL = 1e-9


def exact_states(name: str, courses: dict[str, tuple[float, float, float]], t: Array) -> Array:
    """The states of a linear example from rest; each input is constant + amplitude*sin(rate*t), from the derived equations.

    One exponential of the model with the generators of its inputs: a one for the constant, a rotation for the sine.
    """
    system = tg.derive(name)
    space = energy_coordinates(linear_model(system))
    n, m = space.B.shape
    rates = [courses[u][2] for u in system.inputs]
    whole = np.zeros((n + 3 * m, n + 3 * m))
    whole[:n, :n] = space.A
    begin = np.zeros(n + 3 * m)
    for j, u in enumerate(system.inputs):
        constant, amplitude, _ = courses[u]
        at = n + 3 * j
        whole[:n, at], whole[:n, at + 1] = constant * space.B[:, j], amplitude * space.B[:, j]
        whole[at + 1, at + 2], whole[at + 2, at + 1] = rates[j], -rates[j]
        begin[at] = begin[at + 2] = 1.0
    step = expm(whole * (t[1] - t[0]))
    found = [begin]
    for _ in t[1:]:
        found.append(step @ found[-1])
    return np.array(found)[:, :n] @ space.back.T


CONSTANT = {
    "dc_motor": {"V": 12.0, "tau": -0.1},
    "dc_motor_pump": {"V_a": 24.0, "Q_0": -2e-5},
    "rlc": {"V": 10.0},
    "two_mass_drive": {"tau_m": 1.0, "tau_l": -0.2},
    "spring_damper": {"v": 0.1},
    "planetary_gear": {"tau_s": 1.0, "tau_c": 0.5},
    "hydraulic_cylinder": {"P_s": 5e6, "F_l": -2000.0},
}
WAVES = {
    "loudspeaker": {"V": (0.0, 2.83, 2 * math.pi * 100)},
    "transformer_tank": {"V": (0.0, 1.0, 2 * math.pi * 15900)},
    "rotational_first": {"tau": (0.0, 10.0, 2 * math.pi * 5)},
}
COURSES = {name: {u: (v, 0.0, 0.0) for u, v in inputs.items()} for name, inputs in CONSTANT.items()} | WAVES


@pytest.mark.parametrize("solver", ["auto", "cvode"])
@pytest.mark.parametrize("name", COURSES)
def test_linear_examples_follow_the_exponential_of_their_equations(name: str, solver: str) -> None:
    run = tg.simulate(name, samples=50, rtol=RTOL, atol=1e-12, solver=solver)
    expected = exact_states(name, COURSES[name], run.t)
    for k, state in enumerate(run.state_names):
        size = np.abs(expected[:, k]).max()
        error = np.abs(run.values(state) - expected[:, k]).max()
        assert error <= 20 * RTOL * size, f"{state} is off by {error / size:.1e} of its size"


# Published results


def test_the_filter_of_the_modelica_standard_library() -> None:
    """CauerLowPassAnalog: C1.v and C3.v at 60 s of the published reference results, which are good to 2e-5."""
    run = tg.simulate("cauer_low_pass", rtol=RTOL, samples=60)
    assert run.values("V_C1")[-1] == pytest.approx(0.499708, abs=2e-5)
    assert run.values("V_C3")[-1] == pytest.approx(0.501100, abs=2e-5)


def test_the_drive_train_of_the_modelica_standard_library() -> None:
    """Rotational.Examples.First: inertia3.w at 1 s of the published reference results.

    The exponential of the equations, which the test above compares with, gives -0.138145. The published file does not say why it
    differs in the fourth digit; the bound here is wide enough for both.
    """
    run = tg.simulate("rotational_first", rtol=RTOL, samples=10)
    assert run.values("omega_3")[-1] == pytest.approx(-0.138332, abs=3e-4)


def test_the_crank_with_a_rigid_rod() -> None:
    """Values at 1 s from an independent program, to twelve digits."""
    run = tg.simulate("crank_rod", 1.0, rtol=1e-10, atol=1e-12, samples=2)
    assert run.values("theta")[-1] == pytest.approx(53.4272962109, rel=1e-8)
    assert run.values("omega")[-1] == pytest.approx(80.4768484635, rel=1e-8)


def test_the_crank_with_a_stiff_rod_follows_the_rigid_one() -> None:
    """The difference is of the order of 1/K in the angle; started on the slow motion nothing rings."""
    rigid = tg.simulate("crank_rod", 1.0, rtol=1e-9, samples=20)
    far = [
        rigid.compare(
            tg.simulate("crank_rod_elastic", 1.0, rtol=1e-9, samples=20, parameters={"K": K}), "theta"
        ).relative
        for K in (1e7, 1e8)
    ]
    assert far[0] < 1e-3
    assert far[1] == pytest.approx(far[0] / 10, rel=0.2)


# The energy of every example


@pytest.mark.parametrize("name", small_now(example.name for example in tg.examples()))
def test_the_energy_books_of_every_example_close(name: str) -> None:
    model = tg.load(name)
    until = None if model.experiment.until is not None else 0.1
    run = tg.simulate(model, until, rtol=1e-8, samples=100)
    assert run.status == "finished"
    assert abs(run.energy.residual) < 1e-5, str(run.energy.finding())


# One system, several descriptions

PARAMETERS = (
    "parameters: {L_a: 2 mH, R_a: 0.5 ohm, K_m: 0.15 N*m/A, J_m: 1e-3 kg*m^2, b_m: 2e-3 N*m*s, K_p: 1e-6 m^3/rad, "
    "C_0: 2e-12 m^3/Pa, alpha_p: 2e-11 m^3/(Pa*s)}\n"
)
EXPERIMENT = "experiment: {until: 0.5 s, inputs: {V_a: step(24 V), Q_0: -2e-5 m^3/s}}\n"
NOTATIONS = {
    "bond graph": (
        "bond graph:\n  - Se:V_a -> 1:i (I_a)\n  - i -> I:L_a\n  - i -> R:R_a\n  - i -> GY:K_m -> 1:w (omega_m)\n  - w -> I:J_m\n"
        "  - w -> R:b_m\n  - w -> TF:K_p -> 0:p (P_0)\n  - p -> C:C_0\n  - p -> R:alpha_p\n  - Sf:Q_0 -> p\n"
    ),
    "pog": (
        "pog:\n  - section: [V_a, I_a]\n  - series: [I:L_a, R:R_a]\n  - connect: K_m\n  - section: [omega_m, tau_m]\n"
        "  - parallel: [J:J_m, b:b_m]\n  - connect: K_p\n  - parallel: [C:C_0, G:alpha_p]\n  - section: [P_0, Q_0]\n"
    ),
}


@pytest.fixture(scope="module")
def network() -> Run:
    return tg.simulate("dc_motor_pump", rtol=RTOL, samples=50)


@pytest.mark.parametrize("notation", NOTATIONS)
def test_all_notations_give_the_same_trajectories(notation: str, network: Run) -> None:
    model = read_model("system: pump\n" + PARAMETERS + NOTATIONS[notation] + EXPERIMENT)
    run = tg.simulate(model, rtol=RTOL, samples=50)
    for name in ("I_a", "omega_m", "P_0", "V_a", "power.R_a", "energy.C_0"):
        size = np.abs(network.values(name)).max()
        assert run.values(name) == pytest.approx(network.values(name), abs=100 * RTOL * size)


def test_renaming_and_reordering_move_no_trajectory(network: Run) -> None:
    source = tg.to_yaml(tg.load("dc_motor_pump"))
    head, _, rest = source.partition("network:\n")
    lines, _, experiment = rest.partition("\n\n")
    turned = "\n".join(reversed(lines.rstrip("\n").split("\n")))
    renamed = f"{head}network:\n{turned}\n\n{experiment}"
    for old, new in (("I_a", "zeta"), ("omega_m", "a_1"), ("R_a", "Q"), ("shaft", "n_9")):
        renamed = renamed.replace(old, new)
    run = tg.simulate(read_model(renamed), rtol=RTOL, samples=50)
    for old, new in (("I_a", "zeta"), ("omega_m", "a_1"), ("P_0", "P_0"), ("power.R_a", "power.Q")):
        size = np.abs(network.values(old)).max()
        assert run.values(new) == pytest.approx(network.values(old), abs=100 * RTOL * size)
