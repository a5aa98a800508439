"""The mobile manipulator of Nacusse, Crespo, Junco, Rayankula and Pathak: the corrected equations of the paper in all forms.

Corrections: row 2 of (8) is that of wheels 120 degrees apart; (15) and (16) contain A_r = A/r; joint torques react on both sides;
in (13) the torques of the wheels count once. The wheels make the constraints non-holonomic, so that (17) needs a gyroscopic block.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import tellegen as tg
from tellegen.conditioning import lagrange_form
from tellegen.conditioning.constraints import constrained_model
from tellegen.conditioning.equations_of_motion import hamilton_of
from tellegen.conditioning.opened_constraints import open_constraints
from tellegen.conditioning.residual import constraint_forces
from tellegen.expressions import Expression
from tellegen.results.run import Run

Array = NDArray[np.float64]

m_b, I_b, m_1, m_2, l_1, l_2 = 10.0, 0.2, 0.5, 0.5, 0.5, 0.25
I_1, I_2, I_w, r, l_b, L = 0.0015, 0.0012, 0.1, 0.05, 0.15, 0.2
COORDINATES = ("x_0", "y_0", "phi_0", "phi_1", "phi_2")
SPEEDS = ("vx_0", "vy_0", "omega_0", "omega_1", "omega_2")
INPUTS = ("tau_W1", "tau_W2", "tau_W3", "tau_1", "tau_2")
W_2 = np.array([[0, 0], [0, 0], [-1, 0], [1, -1], [0, 1]], dtype=float)


def A_r(phi: float) -> Array:
    """The wheels by the base: the corrected (8)."""
    a, b = phi - np.pi / 3, phi + np.pi / 3
    rows = [[np.cos(a), np.sin(a), -L], [-np.cos(phi), -np.sin(phi), -L], [np.cos(b), np.sin(b), -L]]
    return np.array(rows) / r


def A_r_rate(phi: float, omega: float) -> Array:
    a, b = phi - np.pi / 3, phi + np.pi / 3
    rows = [[-np.sin(a), np.cos(a), 0], [np.sin(phi), -np.cos(phi), 0], [-np.sin(b), np.cos(b), 0]]
    return omega * np.array(rows) / r


def J_1(q: Array) -> Array:
    """The centres of gravity by the coordinates: (9)."""
    s, c = np.sin(q[2:]), np.cos(q[2:])
    return np.array(
        [
            [1, 0, -l_b * s[0], -l_1 * s[1], 0],
            [0, 1, l_b * c[0], l_1 * c[1], 0],
            [1, 0, -l_b * s[0], -2 * l_1 * s[1], -l_2 * s[2]],
            [0, 1, l_b * c[0], 2 * l_1 * c[1], l_2 * c[2]],
        ]
    )


def J_1_rate(q: Array, v: Array) -> Array:
    s, c = np.sin(q[2:]) * v[2:], np.cos(q[2:]) * v[2:]
    return np.array(
        [
            [0, 0, -l_b * c[0], -l_1 * c[1], 0],
            [0, 0, -l_b * s[0], -l_1 * s[1], 0],
            [0, 0, -l_b * c[0], -2 * l_1 * c[1], -l_2 * c[2]],
            [0, 0, -l_b * s[0], -2 * l_1 * s[1], -l_2 * s[2]],
        ]
    )


M_1 = np.diag([m_b, m_b, I_b, I_1, I_2])
M_a = np.diag([I_w, I_w, I_w, m_1, m_1, m_2, m_2])


def J_a(q: Array) -> Array:
    return np.vstack([np.hstack([A_r(q[2]), np.zeros((3, 2))]), J_1(q)])


def J_a_rate(q: Array, v: Array) -> Array:
    return np.vstack([np.hstack([A_r_rate(q[2], v[2]), np.zeros((3, 2))]), J_1_rate(q, v)])


def M_of(q: Array) -> Array:
    """(12) and (15)."""
    return M_1 + J_a(q).T @ M_a @ J_a(q)


def C_of(q: Array, v: Array) -> Array:
    """(12) and (16)."""
    return J_a(q).T @ M_a @ J_a_rate(q, v)


def W_of(q: Array) -> Array:
    return np.hstack([np.vstack([A_r(q[2]).T, np.zeros((2, 3))]), W_2])


def point(seed: int) -> tuple[Array, Array, Array, dict[str, float]]:
    random = np.random.default_rng(seed)
    q, v, tau = random.uniform(-2, 2, 5), random.uniform(-2, 2, 5), random.uniform(-1, 1, 5)
    values = dict(zip((*COORDINATES, *SPEEDS, *INPUTS), (*q, *v, *tau), strict=True))
    follow = dict(zip(("Omega_1", "Omega_2", "Omega_3", "vx_1", "vy_1", "vx_2", "vy_2"), J_a(q) @ v, strict=True))
    return q, v, tau, {**values, **follow, **lagrange().values()}


@cache
def lagrange() -> tg.LagrangeSystem:
    return lagrange_form(tg.load("mobile_manipulator"))


def evaluated(rows: tuple[tuple[Expression, ...], ...], values: Mapping[str, float]) -> Array:
    return np.array([[e.evaluate(values) for e in row] for row in rows])


def test_five_of_twelve_storages_are_independent() -> None:
    found = tg.check("mobile_manipulator")
    assert found.ok
    assert found.states == SPEEDS
    assert found.inputs == INPUTS
    assert len(found.dependent) == 7


def test_coordinates_and_inputs_have_the_order_of_the_paper() -> None:
    record = lagrange().to_json()
    assert record["q"] == list(COORDINATES)
    assert record["qd"] == list(SPEEDS)
    assert record["tau"] == list(INPUTS)
    assert "nu" not in record


@pytest.mark.parametrize("seed", range(5))
def test_matrices_are_those_of_the_corrected_paper(seed: int) -> None:
    q, v, _, values = point(seed)
    form = lagrange()
    values |= {name: e.evaluate(values) for name, e in form.where.items()}
    assert evaluated(form.matrices["M"], values) == pytest.approx(M_of(q), rel=1e-12, abs=1e-12)
    assert evaluated(form.matrices["C"], values) == pytest.approx(C_of(q, v), rel=1e-12, abs=1e-11)
    assert evaluated(form.matrices["W"], values) == pytest.approx(W_of(q), rel=1e-12, abs=1e-12)
    assert not np.any(evaluated(form.matrices["R"], values))
    assert all(e.evaluate(values) == 0 for e in form.G)


@pytest.mark.parametrize("seed", range(5))
def test_the_rate_of_M_is_C_and_its_transpose(seed: int) -> None:
    q, v, _, values = point(seed)
    step = 1e-6
    rate = (M_of(q + step * v) - M_of(q - step * v)) / (2 * step)
    C = evaluated(lagrange().matrices["C"], values)
    assert pytest.approx(rate, rel=1e-6, abs=1e-5) == C + C.T


@pytest.mark.parametrize("seed", range(5))
def test_forces_of_the_constraints_are_those_of_the_corrected_paper(seed: int) -> None:
    """(13), with W_2 for the joints alone; the forces on the wheels count towards the wheels here, away from them there."""
    q, v, tau, values = point(seed)
    chain = np.eye(4) - np.eye(4, k=2)  # C of (10): link 1 carries link 2
    B = np.hstack([np.vstack([A_r(q[2]).T, np.zeros((2, 3))]), -J_1(q).T @ chain])
    S = np.block([[-np.eye(3), np.zeros((3, 4))], [np.zeros((4, 3)), chain]])
    inverse = np.linalg.inv(M_1)
    left = M_a @ J_a(q) @ inverse @ B - S
    right = -M_a @ (J_a(q) @ inverse @ W_2 @ tau[3:] + J_a_rate(q, v) @ v) + np.concatenate([tau[:3], np.zeros(4)])
    wanted = np.linalg.solve(left, right)
    found = constrained_model(tg.load("mobile_manipulator"))
    known = constraint_forces(found, open_constraints(found))
    assert known is not None
    forces, solution = known
    for name, formula in solution.where.items():
        values[name] = formula.evaluate(values)
    ours = np.array([solution.formulas[name].evaluate(values) for name in forces.names])
    signs = np.array([-1, -1, -1, 1, 1, 1, 1])
    assert signs * ours == pytest.approx(wanted, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_gyroscopic_block_is_that_of_the_wheels(seed: int) -> None:
    """S[x_0, phi_0] = -3 I_w vy/(2 r^2), S[y_0, phi_0] = 3 I_w vx/(2 r^2), and the transpose with the other sign."""
    _, v, _, values = point(seed)
    form = hamilton_of(constrained_model(tg.load("mobile_manipulator")))
    S = evaluated(form.S, values)
    wanted = np.zeros((5, 5))
    wanted[0, 2], wanted[1, 2] = -1.5 * I_w * v[1] / r**2, 1.5 * I_w * v[0] / r**2
    assert pytest.approx(wanted - wanted.T, rel=1e-10, abs=1e-10) == S
    assert not form.holonomic


# -- runs ----------------------------------------------------------------------------------------------------------------------

EXACT = ("derivative", "residual", "field", "lagrange", "hamilton")


@cache
def run_of(form: str, stiffness: float | None = None, canonical: bool = False) -> Run:
    conditioned = tg.condition("mobile_manipulator", form, stiffness=stiffness, canonical=canonical)
    return tg.simulate(conditioned, rtol=1e-8 if form == "parasitic" else 1e-10, samples=50)


def apart(one: Run, two: Run, names: tuple[str, ...] = COORDINATES) -> float:
    return max(float(np.max(np.abs(one.values(name) - two.values(name)))) for name in names)


@pytest.mark.parametrize("form", EXACT[1:])
def test_all_forms_move_alike(form: str) -> None:
    assert apart(run_of(form), run_of("derivative")) < 1e-8


@pytest.mark.parametrize("form", EXACT)
def test_all_forms_give_the_forces_of_the_constraints(form: str) -> None:
    forces = tg.condition("mobile_manipulator", form).forces
    assert len(forces) == 7
    assert apart(run_of(form), run_of("derivative"), forces) < 1e-8


@pytest.mark.parametrize("form", EXACT)
def test_the_books_close(form: str) -> None:
    assert abs(run_of(form).energy.residual) < 1e-9


def test_forms_differ_in_their_states() -> None:
    states = {form: run_of(form).state_names for form in (*EXACT, "parasitic")}
    assert {form: len(names) for form, names in states.items()} == {
        "derivative": 5,
        "residual": 12,
        "parasitic": 19,
        "field": 5,
        "lagrange": 5,
        "hamilton": 5,
    }
    assert states["lagrange"] == SPEEDS
    assert states["hamilton"] == ("p_IC_m_bx", "p_IC_m_by", "p_IC_I_b", "p_IC_I_1", "p_IC_I_2")
    assert run_of("derivative").solver == "ida"


def test_parasitic_elements_converge_with_order_one() -> None:
    stiffnesses = np.array([3e4, 3e5, 3e6])
    errors = np.array([apart(run_of("parasitic", k), run_of("derivative")) for k in stiffnesses.tolist()])
    order = -np.polyfit(np.log(stiffnesses), np.log(errors), 1)[0]
    assert order == pytest.approx(1.0, abs=0.15)


@pytest.mark.slow
def test_canonical_equations_are_those_of_another_machine_once_the_base_turns() -> None:
    """(17) leaves the gyroscopic block out."""
    canonical, right = run_of("hamilton", canonical=True), run_of("hamilton")
    assert apart(right, run_of("derivative")) < 1e-8
    assert apart(canonical, right) > 0.1
    assert float(np.max(np.abs(right.values("omega_0")))) > 0.1


# -- tracking ------------------------------------------------------------------------------------------------------------------

K_P, K_D = 400, 40


def end_error(run: Run, reference: Array) -> Array:
    q = {name: run.values(name) for name in COORDINATES}
    x, y = end_effector(*(q[name] for name in COORDINATES))
    return np.asarray(np.hypot(x - reference[0], y - reference[1]))


def end_effector(x: Array, y: Array, phi_0: Array, phi_1: Array, phi_2: Array) -> Array:
    along = x + l_b * np.cos(phi_0) + 2 * l_1 * np.cos(phi_1) + 2 * l_2 * np.cos(phi_2)
    across = y + l_b * np.sin(phi_0) + 2 * l_1 * np.sin(phi_1) + 2 * l_2 * np.sin(phi_2)
    return np.array([along, across])


def gauss_points(edges: Array) -> tuple[Array, Array]:
    """Instants from the first edge to the last, and weights of the integral over them: 20 Gauss points in each interval."""
    points, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    times, parts = edges[:-1, None] + half * (1 + points), half * weights
    ends = edges[[0]], edges[[-1]]
    return np.concatenate([ends[0], times.ravel(), ends[1]]), np.concatenate([[0.0], parts.ravel(), [0.0]])


@pytest.mark.parametrize("form", ["lagrange", pytest.param("derivative", marks=pytest.mark.slow)])
def test_scenario_1_follows_the_circle_with_the_error_of_the_critically_damped_loop(form: str) -> None:
    angle = "2*pi*t/(10 s)"
    tracked = tg.feedback_linearise(
        "mobile_manipulator", {"x_0": 4.35, "y_0": 0, "phi_0": 0, "phi_1": angle, "phi_2": angle}, K_p=K_P, K_d=K_D
    )
    times, weights = gauss_points(np.array([0, 0.1, 0.2, 0.4, 0.7, 1, 1.5, 2, 10]))
    start = {"x_0": 4.35, "phi_1": 0.0, "phi_2": 0.0}
    run = tg.simulate(tg.condition(tracked, form), 10, initial=start, rtol=1e-10, times=times)
    turned = 2 * np.pi * times / 10
    wanted = end_effector(np.full_like(times, 4.35), np.zeros_like(times), np.zeros_like(times), turned, turned)
    assert weights @ end_error(run, wanted) == pytest.approx(0.00235618731, rel=1e-8)


@pytest.mark.slow
def test_scenario_2_drives_to_the_place_and_then_turns_the_arm() -> None:
    tracked = tg.feedback_linearise(
        "mobile_manipulator",
        {
            "x_0": "quintic(0, 4.35 m, from=0 s, to=5 s)",
            "y_0": 0,
            "phi_0": 0,
            "phi_1": "quintic(0, 2*pi, from=5 s, to=15 s)",
            "phi_2": "quintic(0, 2*pi, from=5 s, to=15 s)",
        },
        K_p=K_P,
        K_d=K_D,
    )
    start = {"phi_1": 0.0, "phi_2": 0.0}
    run = tg.simulate(tg.condition(tracked, "lagrange"), 15, initial=start, rtol=1e-9, samples=300)
    final = run.final()
    assert final["x_0"] == pytest.approx(4.35, abs=1e-6)
    assert final["phi_1"] == pytest.approx(2 * np.pi, abs=1e-6)
    wanted = end_effector(*(run.values(f"{name}_d") for name in COORDINATES))
    assert float(np.max(end_error(run, wanted))) < 1e-6
