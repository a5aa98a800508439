"""The crank and connecting rod: POG form, Lagrange's equation, and published values at one second."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tellegen as tg
from tellegen.equations.system import EquationSystem
from tellegen.expressions import Expression, is_zero, parse, symbol


def written_out(system: EquationSystem, expression: Expression) -> Expression:
    while any(name in system.where for name in expression.free_symbols):
        expression = expression.substitute(system.where)
    return expression


def test_the_elastic_rod_has_the_matrices_of_the_paper() -> None:
    system = tg.derive("crank_rod_elastic")
    assert system.states == ("omega", "F_k", "v_p")
    assert system.inputs == ("tau", "F")
    expected = {
        "L": "J_m 0 0; 0 1/K 0; 0 0 m_p",
        "A": "b_m H 0; -H 0 1; 0 -1 b_p",
        "B": "1 0; 0 0; 0 -1",
    }
    for name, rows in expected.items():
        matrix = tuple(tuple(parse(entry) for entry in row.split()) for row in rows.split(";"))
        assert system.matrices[name] == matrix, name  # type: ignore[index]
    assert system.displacements == {"theta": symbol("omega")}


def test_the_rigid_rod_is_lagranges_equation() -> None:
    """d(J omega)/dt - N_1 omega = -b omega + tau - H F, with N_1 = J'/2: J omega' + N omega = ... where N = J' - N_1."""
    system = tg.derive("crank_rod")
    position = parse("R*cos(theta) + sqrt(L^2 - (R*sin(theta) - d)^2)")
    H = position.derivative("theta")
    J = parse("J_m") + parse("m_p") * H * H
    expected = {
        ("L", 0, 0): J,
        ("N", 0, 0): J.derivative("theta") * symbol("omega") / 2,
        ("A", 0, 0): parse("b_m") + parse("b_p") * H * H,
        ("B", 0, 0): parse("1"),
        ("B", 0, 1): -H,
        ("C", 1, 0): -H,
    }
    point = {"R": 0.05, "L": 0.15, "d": 0.01, "J_m": 0.01, "m_p": 0.5, "b_m": 0.02, "b_p": 2.0, "omega": 3.0}
    for (name, i, j), entry in expected.items():
        found = written_out(system, system.matrices[name][i][j])  # type: ignore[index]
        if not is_zero(found - entry):  # roots are compared by value: the zero test does not see through their products
            for theta in (0.1, 1.0, 2.5, 4.0):
                values = point | {"theta": theta}
                assert found.evaluate(values) == pytest.approx(entry.evaluate(values), rel=1e-12), name


def test_the_rigid_rod_reaches_the_published_angle_after_one_second() -> None:
    system = tg.derive("crank_rod")
    values = {name: float(v) for name, v in system.values().items()} | {"tau": 2.0, "F": 0.0}
    J, N, b = (written_out(system, system.matrices[name][0][0]) for name in ("L", "N", "A"))

    def rate(_: float, state: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[float]:
        here = values | {"theta": float(state[0]), "omega": float(state[1])}
        omega = here["omega"]
        return [omega, (2.0 - (N.evaluate(here) + b.evaluate(here)) * omega) / J.evaluate(here)]

    run = solve_ivp(rate, (0.0, 1.0), [math.pi / 2, 0.0], method="DOP853", rtol=1e-9, atol=1e-9)
    assert run.y[0, -1] == pytest.approx(53.4272962109, abs=2e-6)
    assert run.y[1, -1] == pytest.approx(80.4768484635, abs=2e-5)


def test_the_descriptor_form_keeps_the_angle_among_its_unknowns() -> None:
    form = tg.derive("crank_rod", form="dae").numeric()
    row = form.unknowns.index("theta")
    assert form.E[row, row] is parse("1")
    assert form.h[row] is symbol("omega")
    moving = [e for e in form.F.values() if "theta" in e.free_symbols]
    assert [e.evaluate({"theta": math.pi / 2}) for e in moving] == pytest.approx([0.05, 0.05])  # -H = R sin(theta)
