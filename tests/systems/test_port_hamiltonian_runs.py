"""Runs seen by the port-Hamiltonian form: what H gains is what was supplied less what was lost, along the way."""

import numpy as np
import pytest
from scipy.integrate import simpson

import tellegen as tg
from tellegen.equations.forms.hamiltonian import HamiltonianSystem
from tellegen.expressions import ZERO, Expression
from tellegen.expressions.elimination import with_definitions
from tellegen.notations.reading import read_model
from tellegen.results import Run

HELD = """
system: Capacitor at a source
network:
  V: {voltage source: [a]}
  C: {capacitor: [a], C: 2 F}
  R: {resistor: [a, b], R: 3 ohm}
  L: {inductor: [b], L: 1 H}
experiment: {until: 3 s, rtol: 1e-10, inputs: {V: 2 V + 1 V*sin(3 rad/s*t)}}
"""
TURNED = """
system: Crank at a given speed
parameters: {r: 0.1 m, m: 2 kg, b: 3 N*s/m}
network:
  w: {angular velocity source: [a, frame]}
  crank: {connection: [a, frame, p, frame], domains: [rotational, translational], relation: across_2 = -r*sin(theta)*across_1}
  m: {mass: [p]}
  b: {damper: [p, frame], b: b}
displacements: {theta: w}
experiment: {until: 2 s, rtol: 1e-10, inputs: {w: 3 rad/s + 1 rad/s*sin(2 rad/s*t)}}
"""
MODELS = {
    "a source that holds a capacitor": HELD,
    "a source that turns a crank": TURNED,
    "energy variables": "dc_motor_pump",
    "contents that move": "crank_rod",
    "heat": "motor_heating",
}


class Along:
    """The values of expressions at the rows of a run."""

    def __init__(self, form: HamiltonianSystem, run: Run) -> None:
        self.form = form
        # Outputs of storages are in the run, and follow from contents under "where".
        self.where = {name: e for name, e in form.where.items() if name not in run.names}
        held = (*form.states, *form.inputs, *form.outputs, *form.displacements)
        self.values: dict[str, np.ndarray] = {}
        for name in (*held, *(n for e in form.energy_variables.values() for n in e.free_symbols)):
            if name in run.names:
                self.values[name] = np.asarray(run[name].values, float)
        for name in form.multipliers:  # the constraint 0 = u - v
            row = form.states.index(name)
            (v,) = [form.states[j] for j, e in enumerate(form.matrices["J"][row]) if e is not ZERO]
            (u,) = [form.inputs[j] for j, e in enumerate(form.matrices["g"][row]) if e is not ZERO]
            self.values[v] = self.values[u]
        self.rows = len(run.t)
        self.constants = form.values()
        for name, e in form.energy_variables.items():
            self.values[name] = self.of(e)

    def of(self, expression: Expression) -> np.ndarray:
        written = with_definitions(expression, self.where)
        names = sorted(written.free_symbols - self.constants.keys())
        return np.array(
            [
                written.evaluate({**self.constants, **{n: float(self.values[n][k]) for n in names}})
                for k in range(self.rows)
            ]
        )

    def matrix(self, name: str) -> np.ndarray:
        rows = self.form.matrices[name]  # type: ignore[index]
        return np.array([[self.of(e) for e in row] for row in rows])


@pytest.mark.parametrize("case", MODELS)
def test_what_is_stored_along_a_run_was_supplied_and_not_lost(case: str) -> None:
    text = MODELS[case]
    model = read_model(text) if "\n" in text else tg.load(text)
    form = tg.derive(model, form="ph")
    until = {"heat": 0.02, "energy variables": 0.1, "contents that move": 0.3}.get(case)
    run = tg.simulate(model, until=until, samples=400, rtol=1e-10)
    along = Along(form, run)
    e = np.array([along.of(g) for g in form.grad_H])
    u = np.array([along.values[name] for name in form.inputs])
    R, P, S, g = (along.matrix(name) for name in "RPSg")
    lost = np.einsum("ik,ijk,jk->k", e, R, e) + 2 * np.einsum("ik,ijk,jk->k", e, P, u)
    lost = lost + np.einsum("ik,ijk,jk->k", u, S, u)
    y = np.einsum("ijk,ik->jk", g + P, e) + np.einsum("ijk,jk->ik", S + along.matrix("N"), u)
    assert form.H is not None
    assert form.H_heat is not None
    H = along.of(form.H + form.H_heat)
    gained = simpson(np.einsum("ik,ik->k", y, u) - lost, x=np.asarray(run.t))
    assert H[-1] - H[0] == pytest.approx(gained, rel=1e-5, abs=1e-9)
    assert abs(H[-1] - H[0]) > 1e-6
