"""The mechanisms among the built-in systems against published numbers, closed forms and equations derived in other ways.

Sources: Zanasi's crank and connecting rod, equation (3); Bera, Samantaray and Karmakar's Rapson slide, equations (10) to (13);
Andrews' squeezing mechanism in the test set for initial value problem solvers of Bari.
"""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import tellegen as tg
from support.mechanisms import GROUND, Multibody, Pin
from tellegen.notations.reading import read_model

Array = NDArray[np.float64]
MECHANISMS = (
    "crank_rod_mechanism",
    "planar_robot",
    "five_bar",
    "trolley_folder",
    "rolling_disk",
    "piston_cylinder",
    "rapson_slide",
    "andrews_squeezer",
)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_energy_books_of_a_mechanism_close_and_its_loops_fit(name: str) -> None:
    run = tg.simulate(name)
    assert run.status == "finished"
    assert run.trajectory.books is not None
    assert abs(run.trajectory.books.residual) < 1e-6
    for gap in (signal for signal in run.described_signals if signal.endswith(".gap")):
        assert np.abs(run.values(gap)).max() < 1e-6, gap


# Crank and connecting rod


def test_without_mass_in_the_rod_the_mechanism_is_the_crank_of_the_paper() -> None:
    run = tg.simulate("crank_rod_mechanism", until=1, rtol=1e-11, parameters={"m_r": 1e-12, "J_r": 1e-15})
    assert run.values("theta")[-1] == pytest.approx(53.4272962109, abs=1e-8)
    assert run.values("omega")[-1] == pytest.approx(80.4768484635, abs=1e-7)


def lagrange_rate(values: dict[str, float]) -> Any:
    """omega' of the crank with a heavy rod as a function of theta and omega, by Lagrange's equation in SymPy."""
    import sympy as sp

    theta, omega, tau = sp.symbols("theta omega tau")
    R, L, d, J_m, m_r, J_r, a_r, m_p, b_m, b_p = sp.symbols("R L d J_m m_r J_r a_r m_p b_m b_p")
    phi = sp.asin((d - R * sp.sin(theta)) / L)
    x = R * sp.cos(theta) + L * sp.cos(phi)
    centre = sp.Matrix([R * sp.cos(theta) + a_r * sp.cos(phi), R * sp.sin(theta) + a_r * sp.sin(phi)])
    slope = x.diff(theta)
    inertia = J_m + m_p * slope**2 + J_r * phi.diff(theta) ** 2 + m_r * (centre.diff(theta).T * centre.diff(theta))[0]
    rate = (tau - (b_m + b_p * slope**2) * omega - inertia.diff(theta) * omega**2 / 2) / inertia
    return sp.lambdify((theta, omega), rate.subs({**values, "tau": 2.0}), "numpy")


def test_with_a_heavy_rod_the_mechanism_follows_lagranges_equation() -> None:
    run = tg.simulate("crank_rod_mechanism", until=1, rtol=1e-10)
    values = {name: float(value) for name, value in run.parameters.items()}
    rate = lagrange_rate(values)
    found = solve_ivp(lambda t, y: [y[1], rate(y[0], y[1])], (0, 1), [math.pi / 2, 0], "DOP853", rtol=1e-11, atol=1e-12)
    assert run.values("theta")[-1] == pytest.approx(found.y[0, -1], abs=1e-7)
    assert run.values("omega")[-1] == pytest.approx(found.y[1, -1], abs=1e-6)


def test_the_pins_of_the_rod_carry_what_accelerates_the_piston() -> None:
    run = tg.simulate("crank_rod_mechanism", until=0.3, rtol=1e-10, samples=3000)
    v, t = -run.values("v_F"), run.t
    wanted = 0.5 * np.gradient(v, t) + 2.0 * v
    # Central differences of rows 0.1 ms apart
    assert np.abs(run.values("wrist_pin.F_x")[5:-5] - wanted[5:-5]).max() < 1e-4 * np.abs(wanted).max()


# Rapson slide


def rigid_slide(until: float, times: Array) -> tuple[Array, Array, Array]:
    """theta, its rate and l by equations (10) to (12)."""
    M, J, l_cg, F = 1.0, 1.0, 1.5, 1.0

    def rates(t: float, y: Array) -> list[float]:
        theta, omega, distance, v = y
        inertia = M * distance**2 + J + M * l_cg**2 + J
        turn = (F * distance * math.sin(theta) - 2 * M * omega * distance * v) / inertia
        return [omega, turn, v, omega**2 * distance - F / M * math.cos(theta)]

    start = [math.atan2(3, 4), 0.0, 5.0, 0.0]
    found = solve_ivp(rates, (0, until), start, "DOP853", times, rtol=1e-12, atol=1e-12)
    return found.y[0], found.y[1], found.y[2]


def test_the_slide_moves_as_the_rigid_equations_say_and_its_contacts_carry_their_forces() -> None:
    run = tg.simulate("rapson_slide", until=1, rtol=1e-9)
    assert run.values("theta_c")[-1] == pytest.approx(0.698368541665, abs=2e-6)
    assert run.values("theta_P")[-1] == pytest.approx(0.698368541665, abs=3e-5)
    assert run.values("omega_c")[-1] == pytest.approx(0.117270932839, abs=1e-5)
    assert run.values("N_1")[-1] == pytest.approx(-0.440951104652, abs=5e-3)
    assert run.values("N_2")[-1] == pytest.approx(0.303593172449, abs=5e-3)


def test_the_slide_converges_to_the_rigid_one_with_the_order_one_in_the_stiffness() -> None:
    times = np.linspace(0.0, 1.5, 16)
    theta, _, _ = rigid_slide(1.5, times)
    errors = []
    for stiffness in (2e4, 8e4, 3.2e5):
        given = {"k_b": stiffness, "k_p": stiffness}
        run = tg.simulate("rapson_slide", until=1.5, parameters=given, times=times, rtol=1e-10)
        errors.append(float(np.abs(run.values("theta_c") - theta).max()))
    orders = [math.log(a / b, 4) for a, b in pairwise(errors)]
    assert orders == pytest.approx([1.0, 1.0], abs=0.2)


def test_friction_of_the_slide_changes_its_sign_with_the_sliding_speed() -> None:
    run = tg.simulate("rapson_slide", parameters={"mu_k": 0.2}, rtol=1e-7)
    force, normal = run.values("e_f"), np.abs(run.values("N_1")) + np.abs(run.values("N_2"))
    speed = np.gradient(run.values("l"), run.t)
    sliding = np.abs(speed) > 0.01
    assert {-1.0, 1.0} <= set(np.sign(speed[sliding]))
    assert np.allclose(force[sliding], 0.2 * normal[sliding] * np.sign(speed[sliding]), rtol=1e-3, atol=1e-6)
    assert run.trajectory.books is not None
    assert run.trajectory.books.dissipated > 0


# The general prismatic member


RIGID_JOINTS = """\
  joints:
    support: {revolute: [ground, cylinder.E_c]}
    rod_end: {revolute: [piston.E_P, beam.pin]}
    pivot: {revolute: [ground.right, beam]}
    bore: {prismatic: [cylinder.E_c, piston.contacts], distance: l, speed: v_l}

"""


def rigid_cylinder() -> str:
    """The file of the cylinder with rigid joints instead of pads and contacts."""
    text = (Path(tg.__file__).parent / "systems" / "piston_cylinder.yaml").read_text(encoding="utf-8")
    before, _, rest = text.partition("  joints:\n")
    network = rest[rest.index("network:") : rest.index("  initial:")].replace("bore.slip", "bore")
    return before + RIGID_JOINTS + network + "  initial: {theta_c: atan(0.7), phi: 0, l: 0.7}\n"


def test_the_elastic_cylinder_is_near_the_rigid_one() -> None:
    """What differs is of the order of the inverse stiffness: about 1e3 N over 1e7 N/m, on levers below a metre."""
    times = np.linspace(0.0, 0.3, 601)
    elastic = tg.simulate("piston_cylinder", until=0.3, times=times, parameters={"mu_k": 0}, rtol=1e-8)
    rigid = tg.simulate(read_model(rigid_cylinder()), until=0.3, times=times, rtol=1e-8)
    for name in ("theta_c", "phi", "l"):
        assert np.abs(elastic.values(name) - rigid.values(name)).max() < 1e-3, name
    theta, late = rigid.values("theta_c"), times > 0.1
    normal = np.cos(theta) * rigid.values("bore.F_y") - np.sin(theta) * rigid.values("bore.F_x")
    first, second = elastic.values("N_1"), elastic.values("N_2")
    # Oil and contacts ring, at two slightly different frequencies: their means over many periods agree.
    assert (first + second)[late].mean() == pytest.approx(normal[late].mean(), rel=0.05)
    assert 0.05 * (second - first)[late].mean() == pytest.approx(rigid.values("bore.M")[late].mean(), rel=0.05)


def test_the_ends_of_the_cylinder_carry_its_weight_and_its_momentum() -> None:
    """The forces at E_c and E_P over time are what cylinder and piston gain in momentum, and their weight; inner forces cancel."""
    times = np.linspace(0.0, 0.3, 6001)
    run = tg.simulate("piston_cylinder", until=0.3, times=times, rtol=1e-8)
    masses = {"cylinder": 8.0, "piston": 5.0}
    for axis, pull in (("x", 0.0), ("y", 9.81)):
        force = run.values(f"support.F_{axis}") - run.values(
            f"rod_end.F_{axis}"
        )  # of the springs; dampers stand beside them
        pushed = np.trapezoid(force, times) + 2e3 * (force[-1] - force[0]) / 1e7
        speeds = {name: run.values(f"{name}.v{axis}") for name in masses}
        gained = sum(m * (speeds[name][-1] - speeds[name][0] + 0.3 * pull) for name, m in masses.items())
        assert pushed == pytest.approx(gained, rel=1e-3, abs=5e-4), axis


@pytest.mark.slow
def test_friction_of_the_rigid_cylinder_acts_on_its_contact_forces() -> None:
    text = rigid_cylinder().replace("speed: v_l}", "speed: v_l, friction coefficient: mu_k, length: d}")
    run = tg.simulate(read_model(text), until=0.3, rtol=1e-8)
    theta, lever = run.values("theta_c"), run.values("bore.M") / 0.1
    normal = np.cos(theta) * run.values("bore.F_y") - np.sin(theta) * run.values("bore.F_x")
    size = np.abs(normal / 2 - lever) + np.abs(normal / 2 + lever)
    speed = np.gradient(run.values("l"), run.t)
    sliding = np.abs(speed) > 0.02
    wanted = 0.05 * size * np.sign(speed)
    assert sliding.sum() > 100
    assert np.allclose(run.values("bore.F_f")[sliding], wanted[sliding], rtol=1e-3, atol=2e-3)
    assert run.trajectory.books is not None
    assert abs(run.trajectory.books.residual) < 1e-6
    assert run.trajectory.books.dissipated > 0.1


# Robots and linkages


def accelerations(run: tg.Run, row: int, names: list[str]) -> Array:
    return np.array([run.trajectory.yp[row, run.state_names.index(name)] for name in names])


def test_the_robot_has_the_accelerations_of_a_plain_multibody_solver() -> None:
    run = tg.simulate("planar_robot", until=1, samples=4)
    m, J, lengths, b, g = [6.0, 4.0, 1.5], [0.15, 0.06, 0.006], [0.5, 0.4, 0.2], 0.4, 9.81
    pins = [Pin(GROUND, 0, (0, 0), (-0.25, 0))]
    pins += [Pin(k, k + 1, (lengths[k] / 2, 0), (-lengths[k + 1] / 2, 0)) for k in range(2)]
    system = Multibody(m, J, pins)
    for row in range(5):
        phi = [float(run.values(f"phi_{k}")[row]) for k in (1, 2, 3)]
        omega = [float(run.values(f"omega_{k}")[row]) for k in (1, 2, 3)]
        torque = [20 - b * omega[0], 5 - b * (omega[1] - omega[0]), 0.5 - b * (omega[2] - omega[1]), 0.0]
        loads = np.array([x for k in range(3) for x in (0.0, -m[k] * g, torque[k] - torque[k + 1])])
        wanted, forces = system.solve(phi, omega, loads)
        assert accelerations(run, row, ["omega_1", "omega_2", "omega_3"]) == pytest.approx(wanted[2::3], rel=1e-8)
        assert run.values("elbow.F_y")[row] == pytest.approx(forces[1, 1], rel=1e-8, abs=1e-9)


def test_the_five_bar_linkage_has_the_accelerations_of_a_plain_multibody_solver() -> None:
    run = tg.simulate("five_bar", samples=4)
    a, b, c, g, friction = 0.2, 0.35, 0.25, 9.81, 0.01
    m, J = [0.8, 0.8, 0.6, 0.6], [3e-3, 3e-3, 6e-3, 6e-3]
    pins = [
        Pin(GROUND, 0, (0, 0), (-a / 2, 0)),
        Pin(GROUND, 1, (c, 0), (-a / 2, 0)),
        Pin(0, 2, (a / 2, 0), (-b / 2, 0)),
        Pin(1, 3, (a / 2, 0), (-b / 2, 0)),
        Pin(2, 3, (b / 2, 0), (b / 2, 0)),
    ]
    bodies = ("crank_l", "crank_r", "coupler_l", "coupler_r")
    system = Multibody(m, J, pins)
    for row in range(5):
        phi = [float(run.values(f"{name}.phi")[row]) for name in bodies]
        omega = [float(run.values(f"{name}.omega")[row]) for name in bodies]
        torques = (3.0 - friction * omega[0], 0.5 - friction * omega[1], 0.0, 0.0)
        loads = np.array([x for k in range(4) for x in (0.0, -m[k] * g, torques[k])])
        wanted, forces = system.solve(phi, omega, loads)
        assert accelerations(run, row, ["crank_l.omega", "crank_r.omega"]) == pytest.approx(wanted[[2, 5]], rel=1e-6)
        for name, force in zip(("O_l", "O_r", "A_l", "A_r", "tool"), forces, strict=True):
            assert run.values(f"{name}.F_x")[row] == pytest.approx(force[0], rel=1e-6, abs=1e-6)
            assert run.values(f"{name}.F_y")[row] == pytest.approx(force[1], rel=1e-6, abs=1e-6)


# Rolling


def test_the_rolling_disk_draws_a_circle() -> None:
    run = tg.simulate("rolling_disk", rtol=1e-10)
    v, omega, r = 1.5, 0.8, 0.3
    assert np.allclose(run.values("x"), v / omega * np.sin(omega * run.t), atol=1e-8)
    assert np.allclose(run.values("y"), v / omega * (1 - np.cos(omega * run.t)), atol=1e-8)
    assert np.allclose(run.values("psi"), v / r * run.t, atol=1e-8)
    assert np.allclose(run.values("rim.N"), 2 * v * omega, atol=1e-8)  # what keeps it on the circle


def test_the_rolling_disk_accelerates_with_the_inertia_of_both_motions() -> None:
    run = tg.simulate("rolling_disk", until=2, inputs={"T_y": 0.3}, initial={"omega": 0, "disk.v_along": 0}, rtol=1e-10)
    assert run.values("disk.v_along")[-1] == pytest.approx(0.3 / 0.3 / (2 + 0.09 / 0.3**2) * 2, rel=1e-9)


KNIFE = """\
system: Sleigh
mechanism:
  bodies:
    sleigh: {mass: 2 kg, inertia: 0.5 kg*m^2, centre: [0.4 m, 0 m], position: [x, y], angle: phi, angular velocity: omega}
  joints:
    edge: {skate: [sleigh]}
experiment: {until: 6 s, rtol: 1e-10, initial: {sleigh.v_along: -1 m/s, omega: 0.5 rad/s}}
"""


def test_chaplygins_sleigh_turns_until_its_centre_is_ahead() -> None:
    """v' = a omega^2 and (J + m a^2) omega' = -m a v omega for the knife edge at the origin: energy and a path in (v, omega)."""
    run = tg.simulate(read_model(KNIFE))
    v, omega = run.values("sleigh.v_along"), run.values("omega")

    def rates(t: float, y: Array) -> list[float]:
        return [0.4 * y[1] ** 2, -2 * 0.4 * y[0] * y[1] / (0.5 + 2 * 0.4**2)]

    found = solve_ivp(rates, (0, 6), [-1.0, 0.5], "DOP853", run.t, rtol=1e-11, atol=1e-12)
    assert np.allclose(v, found.y[0], atol=1e-8)
    assert np.allclose(omega, found.y[1], atol=1e-8)
    assert v[0] < 0 < v[-1]
