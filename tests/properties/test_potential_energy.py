"""Weights are potential energy: of random mechanisms and of networks with heights."""

import random
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from properties.test_mechanism_laws import CHAINS
from support.mechanisms import Array, Chain, closed_chains, open_chains
from tellegen.conditioning import lagrange_form
from tellegen.conditioning.constraints import constrained_model
from tellegen.conditioning.equations_of_motion import LagrangeSystem, hamilton_of
from tellegen.equations.forms.hamiltonian import port_hamiltonian
from tellegen.equations.matrices import Matrix
from tellegen.expressions import Expression
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.schemes.translation import Notation

seeds = st.integers(0, 2**16)
chains = st.one_of(open_chains(3), closed_chains())
NAMES = ["double pendulum", "tree with a point mass", "four-bar linkage"]


def point(model: Model, seed: int) -> dict[str, float]:
    """Parameters of the model, and any values of everything else that moves, away from where all angles agree."""
    chance = random.Random(seed)
    system = tg.derive(model)
    moving = (*system.states, *system.displacements, *system.inputs)
    return {**{n: float(v) for n, v in system.values().items()}, **{n: chance.uniform(-1.5, 1.5) for n in moving}}


def rows_at(rows: Matrix, values: Mapping[str, float], where: Mapping[str, Expression]) -> Array:
    known = dict(values)
    for name, e in where.items():
        known[name] = e.evaluate(known)
    return np.array([[e.evaluate(known) for e in row] for row in rows], dtype=float)


def accelerations(form: LagrangeSystem, values: Mapping[str, float]) -> Array:
    """M^-1 (K^T tau + J^T F - C nu - R nu - G), each term as it is told."""

    def at(rows: Matrix) -> Array:
        return rows_at(rows, values, form.where)

    nu = np.array([values[name] for name in form.nu])
    right = -at((form.G,))[0] - (at(form.matrices["C"]) + at(form.matrices["R"])) @ nu
    for inputs in (form.torques, form.forces):
        if inputs:
            right = right + at(form.speeds_at(inputs)).T @ np.array([values[name] for name in inputs])
    found: Array = np.linalg.solve(at(form.matrices["M"]), right)
    return found


@settings(max_examples=15, deadline=None)
@given(chains, seeds)
def test_G_is_the_slope_of_the_potential_along_every_coordinate(chain: Chain, seed: int) -> None:
    model = read_model(chain.text())
    form, V = lagrange_form(model), tg.derive(model).potential_energy
    values = point(model, seed)
    known = dict(values)
    for name, e in form.where.items():
        known[name] = e.evaluate(known)
    speeds = {q: [e.derivative(nu).evaluate(known) for nu in form.nu] for q, e in form.kinematics.items()}
    h, slope = 1e-5, np.zeros(len(form.nu))
    for q, row in speeds.items():
        above, below = (V.evaluate({**values, q: values[q] + step}) for step in (h, -h))
        slope += (above - below) / (2 * h) * np.array(row)
    G = rows_at((form.G,), values, form.where)[0]
    # Differences of step h have an error of h^2 and of rounding over h, beside the levers of a loop near its singular places.
    assert np.allclose(G, slope, rtol=1e-6, atol=1e-6 * (1 + np.max(np.abs(list(speeds.values())))))


@settings(max_examples=15, deadline=None)
@given(chains, seeds)
def test_H_of_the_port_hamiltonian_form_stays_where_nothing_rubs(chain: Chain, seed: int) -> None:
    """J is skew, nothing is left in f, and H contains V."""
    model = read_model(chain.text())
    form, system = port_hamiltonian(tg.derive(model)), tg.derive(model)
    assert all(str(e) == "0" for e in form.f)
    values = point(model, seed)
    values |= {name: e.evaluate(values) for name, e in form.energy_variables.items()}
    J = rows_at(form.matrices["J"], values, form.where)
    assert np.allclose(J, -J.T, atol=1e-9 * np.max(np.abs(J)))
    assert form.H is not None
    assert system.stored_energy is not None
    at = [e.evaluate(values) for e in (form.H, system.stored_energy, system.potential_energy)]
    assert at[0] == pytest.approx(at[1] + at[2], rel=1e-12, abs=1e-12)
    assert {q for q in system.displacements if q in system.potential_energy.free_symbols} <= {*form.states}


@settings(max_examples=15, deadline=None)
@given(open_chains(3), seeds)
def test_momenta_move_as_the_lagrange_form_says(chain: Chain, seed: int) -> None:
    """p' = M nu' + (C + C^T) nu, with nu' from the form of Lagrange and p' from that of Hamilton."""
    model = read_model(chain.text())
    lagrange, hamilton = lagrange_form(model), hamilton_of(constrained_model(model))
    assert all(str(e) == "0" for e in hamilton.f)
    values = point(model, seed)
    nu = np.array([values[name] for name in lagrange.nu])
    M, C = (rows_at(lagrange.matrices[n], values, lagrange.where) for n in ("M", "C"))
    p = dict(zip(hamilton.p, (M @ nu).tolist(), strict=True))
    known = {**values, **p}
    gradient = rows_at((hamilton.grad_H,), known, hamilton.where)[0]
    driven = (rows_at(hamilton.J, known, hamilton.where) - rows_at(hamilton.R, known, hamilton.where)) @ gradient
    wanted = M @ accelerations(lagrange, values) + (C + C.T) @ nu
    assert np.allclose(driven[len(hamilton.q) :], wanted, rtol=1e-8, atol=1e-8)


PUSHED = """network:
  tau: {torque source: [frame, b0]}
  F_x: {force source: [frame, b1.tip.x]}
  F_y: {force source: [frame, b1.tip.y]}
  rub: {friction: [b0, b1], b: 0.3 N*m*s}
"""


@pytest.mark.parametrize("chain", CHAINS[:2], ids=NAMES[:2])
def test_the_terms_of_the_lagrange_form_give_the_compiled_accelerations(chain: Chain) -> None:
    text = chain.text().replace("experiment:", PUSHED + "experiment:")
    model = read_model(text)
    form = lagrange_form(model)
    assert (form.torques, form.forces) == (("tau",), ("F_x", "F_y"))
    run = tg.simulate(model, until=1e-3)
    compiled = run.trajectory.model
    for seed in range(5):
        values = point(model, seed)
        y = np.array([values[name] for name in (*compiled.states, *compiled.displacements)])
        context = compiled.new_context(inputs={name: values[name] for name in compiled.inputs})
        rates = dict(zip(compiled.states, compiled.rhs(0.0, y, context), strict=False))
        found = np.array([rates[name] for name in form.nu])
        assert found == pytest.approx(accelerations(form, values), rel=1e-9, abs=1e-9)


@settings(max_examples=8, deadline=None)
@given(open_chains(3), seeds)
def test_linear_models_have_the_slopes_of_the_weights(chain: Chain, seed: int) -> None:
    """A of the linearisation at any point, by differences of the accelerations of the Lagrange form."""
    model = read_model(chain.text())
    form, values = lagrange_form(model), point(model, seed)
    linear = tg.linearise(model, at={n: values[n] for n in (*form.nu, *form.q)})
    slopes = -rows_at(linear.matrices["A"], values, linear.where)
    L = rows_at(linear.matrices["L"], values, linear.where)
    found = np.linalg.solve(L, slopes)
    h = 1e-6
    for j, name in enumerate(linear.states):
        ahead, behind = (accelerations(form, {**values, name: values[name] + step}) for step in (h, -h))
        rows = [linear.states.index(nu) for nu in form.nu]
        # Rounding over h, beside curvatures of about the size of the slopes.
        assert np.allclose(
            found[rows, j], (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-5 * (1 + np.max(np.abs(ahead)))
        )


def test_every_form_of_conditioning_keeps_the_energy_and_gives_one_motion() -> None:
    model = read_model(CHAINS[0].text())
    reference = tg.simulate(model, rtol=1e-9)
    for form in ("residual", "field", "lagrange", "hamilton"):
        run = tg.simulate(tg.condition(model, form), rtol=1e-9)
        books = run.energy
        # The same factor that the books of all runs are judged by.
        assert books.supplied == pytest.approx(0.0, abs=1e-9)
        assert abs(books.residual) < 1e-6
        assert books.potential == pytest.approx(reference.energy.potential, rel=1e-6), form
        for name in reference.displacement_names:
            assert run.values(name)[-1] == pytest.approx(reference.values(name)[-1], abs=1e-6), (form, name)


def hanging(seed: int) -> str:
    """Masses of any heights on springs, levers and slopes, without friction."""
    chance = random.Random(seed)
    lines = ["system: hanging", "gravity: 9.81 m/s^2"]
    slopes, network = [], []
    for k in range(chance.randint(2, 4)):
        m, K = chance.uniform(0.5, 3.0), chance.uniform(50.0, 200.0)
        height = f"z_{k}"
        if chance.random() < 0.5:
            slopes.append(f"s_{k}: v_{k}")
            height = chance.choice([f"s_{k}*sin(0.4 rad)", f"0.3 m*sin(s_{k}/(1 m))", f"s_{k}^2/(2 m)"])
        network.append(f"  m_{k}: {{mass: [n_{k}], m: {m} kg, velocity: v_{k}, height: {height}}}")
        before = f"n_{k - 1}" if k else "frame"
        if k and chance.random() < 0.3:
            network.append(f"  lever_{k}: {{lever: [{before}, frame, e_{k}, frame], n: {chance.uniform(0.5, 2.0)}}}")
            before = f"e_{k}"
        network.append(f"  K_{k}: {{spring: [{before}, n_{k}], K: {K} N/m}}")
    lines += [f"displacements: {{{', '.join(slopes)}}}"] if slopes else []
    return "\n".join([*lines, "network:", *network, "experiment: {until: 1 s, rtol: 1e-9}"]) + "\n"


@pytest.mark.parametrize("seed", range(4))
def test_masses_of_networks_keep_their_energy(seed: int) -> None:
    run = tg.simulate(read_model(hanging(seed)))
    energy = np.asarray(run.stored_energy) + np.asarray(run.potential_energy)
    # A hundred times the tolerance asked, over some periods of the springs.
    assert np.max(np.abs(energy - energy[0])) < 1e-7 * np.max(np.abs(np.asarray(run.stored_energy)))
    assert run.energy.supplied == 0.0
    assert abs(run.energy.residual) < 1e-7


@pytest.mark.parametrize("notation", ["network", "bond", "pog"])
@pytest.mark.parametrize("seed", [0, 3])
def test_weights_are_the_same_in_every_notation(notation: Notation, seed: int) -> None:
    model = read_model(hanging(seed))
    again = read_model(tg.translate(model, notation))
    one, two = tg.derive(model), tg.derive(again)
    assert set(one.states) == set(two.states)
    values = point(model, seed) | point(again, seed)
    assert one.potential_energy.evaluate(values) == pytest.approx(two.potential_energy.evaluate(values), rel=1e-12)
    for name in one.states:
        i, k = one.states.index(name), two.states.index(name)
        f, g = one.vectors["f"][i].evaluate(values), two.vectors["f"][k].evaluate(values)
        assert f == pytest.approx(g, rel=1e-12, abs=1e-12)
