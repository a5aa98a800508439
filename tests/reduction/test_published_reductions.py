"""The reductions of the papers, entry by entry, and the same limits in the equations."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from math import inf

import numpy as np
import numpy.typing as npt
import pytest

import tellegen as tg
from oracles.limits_in_equations import reduce_equations
from oracles.limits_in_matrices import limit_arrays, reduce_arrays
from support.networks import agree
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import Expression, is_zero, parse
from tellegen.expressions.elimination import with_definitions

Array = npt.NDArray[np.float64]

NUTS = {"K_se": inf, "K_sr": inf}
BELTS = {"K_ce": inf, "K_cr": inf}
INERTIAS = {"J_2e": 0, "J_2r": 0, "m_a": 0, "J_a": 0}

COT = "(cos(alpha)/sin(alpha))"
CSC = "(1/sin(alpha))"
J_T = [
    [f"J_2e + m_a*r_a^2*{COT}^2", f"-m_a*r_a^2*{COT}^2"],
    [f"-m_a*r_a^2*{COT}^2", f"J_2r + J_a + m_a*r_a^2*{COT}^2"],
]
"""(9) of the corking machine."""
A_11 = f"b_2e - (b_m + d_sr)*r_a^2 + (b_m + d_se + d_sr)*r_a^2*{CSC}^2"
A_12 = f"-1/2*r_a^2*(b_m + 2*d_se + d_sr + (b_m + d_sr)*cos(2*alpha))*{CSC}^2"
A_22 = f"b_2r + b_j - (b_m + d_sr)*r_a^2 + (b_m + d_se + d_sr)*r_a^2*{CSC}^2"
A_T = [[A_11, A_12], [A_12, A_22]]
"""(10)."""
T_A = [[f"-r_a*{COT}", f"r_a*{COT}"], ["0", "1"]]


def rows(system: EquationSystem, name: MatrixName) -> list[list[Expression]]:
    return [[with_definitions(e, system.where) for e in row] for row in system.matrices[name]]


def rational(e: Expression) -> Expression:
    """A formula with the sine and cosine of alpha by half-angle formulas: then sin^2 + cos^2 is one for the zero test too."""
    text = str(e)
    if "(alpha)" not in text:
        return e
    t = parse("t")
    angle = {"sin": 2 * t / (1 + t * t), "cos": (1 - t * t) / (1 + t * t)}
    text = text.replace("cos(2*alpha)", "(2*cos(alpha)^2 - 1)")
    return parse(text.replace("sin(alpha)", f"({angle['sin']})").replace("cos(alpha)", f"({angle['cos']})"))


def equal(found: list[list[Expression]], expected: list[list[str]]) -> bool:
    """Whether matrices are the same."""
    pairs = [(a, parse(b)) for row, line in zip(found, expected, strict=True) for a, b in zip(row, line, strict=True)]
    wrong = [(a, b) for a, b in pairs if not is_zero(rational(a) - rational(b))]
    assert not wrong
    return True


def same(one: EquationSystem, two: EquationSystem) -> bool:
    """Whether two systems are the same up to the order of their inputs."""
    x = [two.states.index(name) for name in one.states]
    u = [two.inputs.index(name) for name in one.inputs]
    order: dict[MatrixName, tuple[list[int], list[int]]]
    order = {"L": (x, x), "A": (x, x), "N": (x, x), "B": (x, u), "B_1": (x, u), "C": (u, x), "D": (u, u), "D_1": (u, u)}
    for name, (down, along) in order.items():
        other = rows(two, name)
        for row, i in zip(rows(one, name), down, strict=True):
            for e, j in zip(row, along, strict=True):
                assert is_zero(rational(e) - rational(other[i][j])), (name, e, other[i][j])
    return True


def test_motor_without_inertia_is_the_reduced_model_of_the_lecture() -> None:
    found = tg.reduce("dc_motor_pump", {"J_m": 0})
    m = found.equations.matrices
    assert found.equations.states == ("I_a", "P_0")
    assert agree(m["L"], [["L_a", "0"], ["0", "C_0"]])
    assert agree(m["A"], [["R_a + K_m^2/b_m", "-K_m*K_p/b_m"], ["-K_m*K_p/b_m", "alpha_p + K_p^2/b_m"]])
    assert agree(m["B"], [["1", "0"], ["0", "1"]])
    assert agree(m["C"], [["1", "0"], ["0", "1"]])
    assert agree(m["D"], [["0", "0"], ["0", "0"]])
    assert agree(found.transformation, [["1", "0"], ["K_m/b_m", "-K_p/b_m"], ["0", "1"]])
    assert agree([[found.recovered["omega_m"]]], [["(K_m*I_a - K_p*P_0)/b_m"]])


def test_motor_without_inertia_and_friction_ties_current_and_pressure() -> None:
    found = tg.reduce("dc_motor_pump", {"J_m": 0, "b_m": 0})
    assert found.equations.states == ("I_a",)
    assert agree(found.transformation, [["1"], ["0"], ["K_m/K_p"]])
    assert agree(found.equations.matrices["L"], [["L_a + C_0*K_m^2/K_p^2"]])
    assert agree(found.equations.matrices["A"], [["R_a + alpha_p*K_m^2/K_p^2"]])


def test_friction_of_value_zero_asks_for_its_own_limit() -> None:
    text = tg.to_yaml(tg.load("dc_motor_pump")).replace("b_m: 0.002", "b_m: 0")
    assert "b_m: 0 " in text
    model = _read(text)
    with pytest.raises(tg.ReductionError, match=r"C_0.*b_m|b_m.*C_0") as caught:
        tg.reduce(model, {"J_m": 0})
    assert caught.value.code == "T107"


def _read(text: str) -> tg.Model:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.yaml"
        path.write_text(text, encoding="utf-8")
        return tg.read(path)


def test_rigid_nuts_give_the_matrices_of_the_paper() -> None:
    found = tg.reduce("corking_shaft", NUTS)
    assert found.equations.states == ("omega_te", "omega_tr")
    assert equal(rows(found.equations, "L"), J_T)
    assert equal(rows(found.equations, "A"), A_T)
    assert equal(rows(found.equations, "B"), [["1", "0", T_A[0][0], T_A[1][0]], ["0", "1", T_A[0][1], T_A[1][1]]])
    zero = ["0", "0"]
    T = [list(row) for row in found.transformation]
    assert equal(T, [["1", "0"], ["0", "1"], zero, zero, *T_A])


def test_forces_in_the_nuts_are_recovered_from_the_shaft() -> None:
    """H_2 T_s^T F = J_a X'' + B_a X' - H_2 D_s (H_1 w - H_2^T X') - F_ag, at random numbers."""
    found = tg.reduce("corking_shaft", NUTS)
    values = {**found.equations.values(), "omega_te": 3.0, "omega_tr": -2.0}
    values |= {"tau_te": 0.7, "tau_tr": -0.4, "F_x": 5.0, "F_theta": 0.3}
    for name, e in found.where.items():
        values[name] = e.evaluate(values)
    v = values
    s, c, r = np.sin(v["alpha"]), np.cos(v["alpha"]), v["r_a"]
    H_1 = np.array([[r * c, 0], [r * s, 0], [0, r], [0, 0]])
    H_2t = np.array([[-s, r * c], [c, r * s], [0, r], [1, 0]])
    T_s = np.array([[1, 0, 0, 0], [0, 0, 1, 0]])
    D_s = np.diag([0, v["d_se"], 0, v["d_sr"]])
    T_a = np.linalg.solve(T_s @ H_2t, T_s @ H_1)
    m = found.equations.matrices
    L, A, B = (np.array([[e.evaluate(values) for e in row] for row in m[n]]) for n in ("L", "A", "B"))
    w = np.array([v["omega_te"], v["omega_tr"]])
    u = np.array([v[n] for n in found.equations.inputs])
    rate = np.linalg.solve(L, -A @ w + B @ u)
    X, X_rate = T_a @ w, T_a @ rate
    right = np.diag([v["m_a"], v["J_a"]]) @ X_rate + np.diag([v["b_m"], v["b_j"]]) @ X
    right = right - H_2t.T @ D_s @ (H_1 @ w - H_2t @ X) - u[2:]
    forces = np.linalg.solve(H_2t.T @ T_s.T, right)
    got = [found.recovered[name].evaluate(values) for name in ("F_se", "F_sr")]
    assert got == pytest.approx(list(forces), rel=1e-9)


def test_transmission_with_rigid_nuts_is_equation_11() -> None:
    found = tg.reduce("corking_transmission", NUTS)
    assert found.equations.states == ("F_e", "F_r", "omega_te", "omega_tr")
    zero = ["0", "0", "0", "0"]
    belts = [["1/K_ce", "0", "0", "0"], ["0", "1/K_cr", "0", "0"]]
    assert equal(rows(found.equations, "L"), [*belts, ["0", "0", *J_T[0]], ["0", "0", *J_T[1]]])
    upper = [["0", "0", "R_2e", "0"], ["0", "0", "0", "R_2r"]]
    assert equal(rows(found.equations, "A"), [*upper, ["-R_2e", "0", *A_T[0]], ["0", "-R_2r", *A_T[1]]])
    B = [["R_1e", "0", "0", "0"], ["0", "R_1r", "0", "0"]]
    B += [["0", "0", T_A[0][k], T_A[1][k]] for k in (0, 1)]
    assert equal(rows(found.equations, "B"), B)
    assert equal(rows(found.equations, "D"), [zero] * 4)


def test_rigid_belts_leave_the_static_model_with_rates_of_the_inputs() -> None:
    found = tg.reduce("corking_transmission", {**NUTS, **BELTS})
    assert found.equations.states == ()
    ratio = ["R_1e/R_2e", "R_1r/R_2r"]
    A_p = [[f"({A_T[i][j]})*({ratio[i]})*({ratio[j]})" for j in (0, 1)] for i in (0, 1)]
    T_p = [[f"({T_A[i][j]})*({ratio[j]})" for j in (0, 1)] for i in (0, 1)]
    upper = [[*A_p[i], f"-({T_p[0][i]})", f"-({T_p[1][i]})"] for i in (0, 1)]
    assert equal(rows(found.equations, "D"), [*upper, [*T_p[0], "0", "0"], [*T_p[1], "0", "0"]])
    J_p = [[f"({J_T[i][j]})*({ratio[i]})*({ratio[j]})" for j in (0, 1)] for i in (0, 1)]
    zero = ["0"] * 4
    assert equal(rows(found.equations, "D_1"), [[*J_p[0], "0", "0"], [*J_p[1], "0", "0"], zero, zero])


def test_rigid_belts_without_inertia_are_equation_13() -> None:
    rigid = tg.reduce("corking_transmission", {**NUTS, **BELTS})
    found = tg.reduce(rigid, INERTIAS)
    assert found.equations.is_zero("D_1")
    for row, line in zip(rows(found.equations, "D"), rows(rigid.equations, "D"), strict=True):
        assert all(is_zero(rational(a) - rational(b)) for a, b in zip(row, line, strict=True))
    assert same(found.equations, tg.reduce("corking_transmission", {**NUTS, **BELTS, **INERTIAS}).equations)


def test_built_in_machine_is_the_extended_one_with_rigid_nuts() -> None:
    found = tg.reduce("corking_machine_extended", NUTS)
    assert same(found.equations, tg.derive("corking_machine"))


def test_rigid_rod_is_the_crank_of_lagrange() -> None:
    found = tg.reduce("crank_rod_elastic", {"K": inf})
    assert found.equations.states == ("omega",)
    assert same(found.equations, tg.derive("crank_rod"))
    where = found.equations.where
    H = where["H"]
    x = parse("R*cos(theta) + sqrt(L^2 - (R*sin(theta) - d)^2)")
    assert is_zero(H - x.derivative("theta"))
    slope = H.derivative("theta")

    def is_equal(found: Expression, expected: Expression) -> bool:
        return is_zero(with_definitions(found, where) - expected)

    J_m, m_p, b_m, b_p, omega = map(parse, ("J_m", "m_p", "b_m", "b_p", "omega"))
    assert is_equal(found.J[0][0], J_m + H**2 * m_p)
    assert is_equal(found.N_1[0][0], m_p * H * slope * omega)
    assert is_equal(found.b[0][0], b_m + H**2 * b_p)
    assert is_equal(found.equations.matrices["B"][0][1], -H)
    assert is_equal(found.transformation[2][0], H)
    # Lagrange: d(dT/domega)/dt - dT/dtheta = J omega' + m_p H H' omega^2
    kinetic = (J_m + m_p * H**2) * omega**2 / 2
    both = kinetic.derivative("omega").derivative("theta") * omega - kinetic.derivative("theta")
    assert is_equal(found.equations.matrices["N"][0][0] * omega, both)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("dc_motor_pump", {"J_m": 0}),
        ("dc_motor_pump", {"J_m": inf}),
        ("dc_motor_pump", {"L_a": 0, "C_0": 0}),
        ("corking_shaft", NUTS),
        ("corking_shaft", {"K_se": inf}),
        ("corking_transmission", {**NUTS, **BELTS}),
        ("corking_transmission", {**NUTS, **BELTS, **INERTIAS}),
        ("crank_rod_elastic", {"K": inf}),
        ("crank_rod_elastic", {"J_m": 0}),
        ("pmsm", {"M_0": "L_e"}),
        ("pmsm", {"J": inf}),
        ("corking_machine_extended", NUTS),
    ],
)
def test_model_and_equations_agree(name: str, limits: dict[str, float]) -> None:
    model = tg.load(name)
    found = tg.reduce(model, limits)
    assert same(found.equations, reduce_equations(tg.derive(model), limits).equations)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("dc_motor_pump", {"J_m": 0.0}),
        ("corking_shaft", {"K_se": inf, "K_sr": inf}),
        ("corking_transmission", {**NUTS, **BELTS}),
    ],
)
def test_arrays_have_the_transfer_matrix_of_the_reduced_model(name: str, limits: dict[str, float]) -> None:
    arrays = limit_arrays(tg.derive(name), limits)
    got = reduce_arrays(arrays["L"], arrays["A"], arrays["B"], arrays["C"], arrays["D"])
    system = tg.reduce(name, limits).equations
    values = system.values()
    for known, e in system.where.items():
        values[known] = e.evaluate(values)
    n, m = len(system.states), len(system.inputs)
    shapes: dict[MatrixName, tuple[int, int]] = {
        "L": (n, n),
        "A": (n, n),
        "B": (n, m),
        "C": (m, n),
        "D": (m, m),
        "B_1": (n, m),
        "D_1": (m, m),
    }
    want: dict[str, Array] = {
        k: np.array([[e.evaluate(values) for e in row] for row in system.matrices[k]]).reshape(shape)
        for k, shape in shapes.items()
    }
    s = 40.0

    def transfer(matrices: Mapping[str, Array]) -> Array:
        L, A, B, B_1, C, D, D_1 = (matrices[k] for k in ("L", "A", "B", "B_1", "C", "D", "D_1"))
        found: Array = C @ np.linalg.solve(s * L + A, B + s * B_1) + D + s * D_1
        return found

    G, H = transfer(vars(got)), transfer(want)
    assert np.allclose(G, H, rtol=1e-8, atol=1e-12 * np.abs(H).max())


def test_first_order_in_what_is_removed() -> None:
    """The full model tends to the reduced one with an error of the order of the parameter."""
    full = tg.derive("dc_motor_pump")
    small = tg.reduce("dc_motor_pump", {"J_m": 0}).equations

    def gain(system: EquationSystem, J: Fraction) -> complex:
        values = {**system.values(), "J_m": float(J)}
        L, A, B, C = (
            np.array([[e.evaluate(values) for e in row] for row in system.matrices[k]]) for k in ("L", "A", "B", "C")
        )
        return complex((C @ np.linalg.solve(20j * L + A, B))[0, 0])

    errors = [abs(gain(full, Fraction(1, 10**k)) - gain(small, Fraction(0))) for k in (6, 7, 8)]
    orders = [np.log10(a / b) for a, b in pairwise(errors)]
    assert orders == pytest.approx([1.0, 1.0], abs=0.02)
