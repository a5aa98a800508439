"""Dependent storages couple the rates: the Jacobian of the rates then has more entries than the equations."""

import numpy as np
import pytest

from tellegen.causality import assign_causality
from tellegen.compiler import compile_model
from tellegen.compiler.numeric_model import NumericModel
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem

COUPLED = """
system: two capacitors and a third that depends on them
network:
  I: {current source: [gnd, a]}
  C_1: {capacitor: [a, gnd], C: 1 F}
  C_2: {capacitor: [b, gnd], C: 2 F}
  C_3: {capacitor: [a, b], C: 3 F}
  L_1: {inductor: [a, gnd], L: 1 H}
  L_2: {inductor: [b, gnd], L: 2 H}
  R: {resistor: [b, gnd], R: 5 ohm}
"""


@pytest.fixture
def coupled(tmp_path_factory: pytest.TempPathFactory) -> NumericModel:
    path = tmp_path_factory.mktemp("models") / "coupled.yaml"
    path.write_text(COUPLED, encoding="utf-8")
    return compile_model(assign_causality(lower(read_model(path))))


def test_the_pattern_holds_the_jacobian_of_the_rates(coupled: NumericModel) -> None:
    pattern, colours = coupled.pattern, coupled.colours
    y = coupled.start()
    for k in range(coupled.size):
        column = coupled.rhs_tangent(0.0, y, np.eye(coupled.size)[k])
        rows = set(pattern.indices[pattern.indptr[k] : pattern.indptr[k + 1]].tolist())
        assert set(np.flatnonzero(column).tolist()) <= rows
    for colour in range(int(colours.max()) + 1):
        together = [
            row
            for k in np.flatnonzero(colours == colour)
            for row in pattern.indices[pattern.indptr[k] : pattern.indptr[k + 1]].tolist()
        ]
        assert len(together) == len(set(together)), "columns of one colour share no row"


def test_all_solvers_agree_on_coupled_rates(coupled: NumericModel) -> None:
    inputs = dict.fromkeys(coupled.inputs, 1.5)
    y0 = np.arange(1.0, coupled.size + 1)
    runs = {
        solver: integrate(Problem(coupled, 5.0, y0=y0, inputs=inputs, rtol=1e-9, atol=1e-9, solver=solver, times=11))
        for solver in ("exponential", "runge-kutta", "cvode", "ida")
    }
    for solver, run in runs.items():
        assert run.y == pytest.approx(runs["exponential"].y, abs=1e-6), solver
        assert run.books is not None
        assert abs(run.books.residual) < 1e-6, solver
