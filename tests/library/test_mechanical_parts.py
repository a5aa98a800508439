"""Friction, splines, backlash and cams of the library against their textbook equations."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tellegen as tg
from support.library_use import use, values
from support.transfers import POINTS, numeric, transfer_at
from tellegen.model.model import Model
from tellegen.notations.parameters import parameter_values
from tellegen.notations.reading import read_model

MOVED = "V: {velocity source: [x]}"
"""A velocity source against the frame; the force that it supplies is that of the friction."""


# Friction of two slides, and of two shafts: the same laws


@dataclass(frozen=True)
class Motion:
    """The words of translation or rotation."""

    ending: str
    moved: str
    free: str
    effort: str
    speed: str

    def part(self, name: str) -> str:
        return f"{name}_friction{self.ending}"

    def parameters(self, model: Model) -> SimpleNamespace:
        """The parameters of the part by what they mean in either motion."""
        p = parameter_values(model)
        of = {"c": self.effort, "s": self.effort, "stribeck": self.speed, "width": self.speed}
        words = {"c": "c", "s": "s", "stribeck": "s", "width": "0"}
        named = {key: p.get(f"p.{of[key]}_{words[key]}") for key in words}
        return SimpleNamespace(**{key.removeprefix("p."): value for key, value in p.items()} | named)


MOTIONS = [
    Motion("", MOVED, "m: {mass: [x], m: 2, velocity: v}, F: {force source: [x]}", "F", "v"),
    Motion(
        "_rotational",
        "V: {speed source: [x]}",
        "m: {inertia: [x], J: 2, angular velocity: v}, F: {torque source: [x]}",
        "tau",
        "omega",
    ),
]
in_both = pytest.mark.parametrize("motion", MOTIONS, ids=["slide", "shaft"])


@in_both
@pytest.mark.parametrize("speed", [-0.3, 0.004, 0.02, 1.0])
def test_stribeck_friction_gives_the_curve_of_the_book(motion: Motion, speed: float) -> None:
    model = use(motion.part("stribeck"), "ends: x", motion.moved)
    p, run = motion.parameters(model), tg.simulate(model, until=0.1, inputs={"V": speed})
    dry = (p.c + (p.s - p.c) * math.exp(-((speed / p.stribeck) ** 2))) * math.tanh(speed / p.width)
    assert run.final()[f"{motion.effort}_V"] == pytest.approx(dry + p.b * speed, rel=1e-9)


@in_both
def test_coulomb_friction_sticks_until_it_breaks_away(motion: Motion) -> None:
    """A force that grows: nothing moves up to F_s; then m v' = F - F_c - b v."""
    model = use(motion.part("coulomb"), "ends: x", motion.free)
    p = motion.parameters(model)
    run = tg.simulate(model, until=2.0, rtol=1e-9, inputs={"F": tg.ramp(p.s)})
    assert np.all(run.values("v")[run.t < 0.999] == 0)
    grid = np.linspace(1.001, 2.0, 50)

    def rate(t: float, v: np.ndarray) -> np.ndarray:
        return np.asarray((p.s * t - p.c - p.b * v) / 2)

    book = solve_ivp(rate, (1.0, 2.0), [0.0], t_eval=grid, rtol=1e-10, atol=1e-12)
    assert run.resampled(grid).values("v") == pytest.approx(book.y[0], rel=1e-6)


FILMS = {"": lambda p: p.mu * p.A / p.h, "_rotational": lambda p: 2 * math.pi * p.mu * p.l * p.r**3 / p.c}
"""Newton's law between plates, and Petroff's of a journal bearing."""


@in_both
def test_viscous_friction_heats_its_film(motion: Motion) -> None:
    model = use(motion.part("viscous"), "ends: x", motion.moved)
    p, run = values(model), tg.simulate(model, until=200.0, inputs={"V": 2.0}, rtol=1e-9)
    b = FILMS[motion.ending](p)
    assert run.final()[f"{motion.effort}_V"] == pytest.approx(2 * b)
    assert run.final()["p.T_C"] == pytest.approx(4 * b / p.G * (1 - math.exp(-200 * p.G / p.C)), rel=1e-7)


@in_both
@pytest.mark.parametrize("share", [0.5, 10])
def test_lugre_friction_settles_on_its_stribeck_curve(motion: Motion, share: float) -> None:
    model = use(motion.part("lugre"), "ends: x", motion.moved)
    p = motion.parameters(model)
    speed = share * p.stribeck
    run = tg.simulate(model, until=0.5, inputs={"V": speed}, rtol=1e-9)
    g = p.c + (p.s - p.c) * math.exp(-(share**2))
    assert run.final()[f"{motion.effort}_V"] == pytest.approx(g + p.b * speed, rel=1e-5)


@in_both
def test_lugre_friction_moves_as_its_equations_say(motion: Motion) -> None:
    """Presliding and breakaway under a force that grows, against the equations of the paper."""
    model = use(motion.part("lugre"), "ends: x", motion.free)
    p = motion.parameters(model)
    run = tg.simulate(model, until=2.0, inputs={"F": tg.ramp(p.c)}, rtol=1e-9)

    def rates(t: float, y: np.ndarray) -> list[float]:
        v, z = y
        slip = abs(v) / (p.c + (p.s - p.c) * math.exp(-((v / p.stribeck) ** 2)))
        bent = v - slip * p.sigma_0 * z
        return [(p.c * t - p.sigma_0 * z - p.sigma_1 * bent - p.b * v) / 2, bent]

    grid = np.linspace(0, 2, 40)
    book = solve_ivp(rates, (0, 2), [0.0, 0.0], method="LSODA", t_eval=grid, rtol=1e-10, atol=1e-13)
    found = run.resampled(grid)
    assert found.values("v") == pytest.approx(book.y[0], rel=1e-4, abs=1e-8)
    assert found.values(f"p.{motion.effort}_z") == pytest.approx(p.sigma_0 * book.y[1], rel=1e-4, abs=1e-5)


# Transmissions


def test_ball_spline() -> None:
    """Beside a screw that turns the same shaft: torsion through the balls, friction along the shaft."""
    model = read_model(
        "system: Test\nparts:\n"
        "  p:     {use: ball_spline, ports: {nut: n, shaft: s, slide: x}}\n"
        "  screw: {use: ball_screw, ports: {shaft: s, nut: x}}\n"
        "network:\n  tau: {torque source: [n]}\n  F: {force source: [x]}\n"
    )
    p, known, system = values(model), parameter_values(model), numeric(model)
    h = known["screw.h"]
    for s in POINTS:
        ball = p.K / s + p.d
        shaft = (known["screw.J"] + known["screw.m"] * h**2) * s + known["screw.b"] + (known["screw.d"] + p.b) * h**2
        impedance = np.array([[p.J_n * s + p.b_n + ball, -ball], [-ball, ball + shaft]])
        seen = np.diag([1, h])  # the source F pushes the nut of the screw, h for a radian
        wanted = seen @ np.linalg.inv(impedance) @ seen
        assert transfer_at(system, s) == pytest.approx(wanted, rel=1e-6)  # stiff: the inverse loses digits


def geared(network: str, more: str = "") -> Model:
    return use("gear_with_backlash", "input: a, output: b", network, more)


def test_the_teeth_of_a_gear_touch_after_half_the_play() -> None:
    """The output held: the input turns freely by g/2, then rests where K takes the torque."""
    model = geared("push: {torque source: [a]}, W: {angular velocity source: [b]}", ", d: 50 N*m*s, b_1: 1e-3 N*m*s")
    p, run = values(model), tg.simulate(model, until=5.0, inputs={"push": 0.5, "W": 0.0})
    assert run.final()["p.x"] == pytest.approx(p.g / 2 + 0.5 / p.K, rel=1e-5)
    start = tg.simulate(model, until=5e-4, inputs={"push": 0.5, "W": 0.0}, rtol=1e-9)
    free = start.values("p.x") < p.g / 2
    turned = 0.5 * start.t**2 / (2 * p.J_1)  # 0.5 N*m on the free wheel
    assert start.values("p.x")[free] == pytest.approx(turned[free], rel=2e-2, abs=1e-9)  # the bearing
    assert np.all(start.values("p.tau")[free] == 0)


def test_a_gear_loses_the_share_of_its_torque_that_its_teeth_rub_away() -> None:
    """At a steady speed: the input gives tau (1 + mu) and its bearing, the output n tau less its bearing."""
    model = geared("W: {angular velocity source: [a]}, load: {torque source: [b]}", ", d: 50 N*m*s")
    p, run = values(model), tg.simulate(model, until=1.0, inputs={"W": 100.0, "load": -20.0})
    tau = (20 + p.b_2 * 100 / p.n) / p.n
    assert run.values("p.tau")[-1] == pytest.approx(tau, rel=1e-6)
    assert run.final()["tau_W"] == pytest.approx(tau * (1 + p.mu) + p.b_1 * 100, rel=1e-6)


@pytest.mark.parametrize("load", [1.0, 4.0])
def test_a_belt_creeps_under_its_load(load: float) -> None:
    model = use("belt_with_slip", "input: a, output: b", "W: {angular velocity source: [a]}, T: {torque source: [b]}")
    p, run = values(model), tg.simulate(model, until=0.5, inputs={"W": 100.0, "T": -load}, rtol=1e-9)
    found, F = run.final(), load / p.r_2
    wrap = math.pi - 2 * math.asin((p.r_2 - p.r_1) / p.a)
    most = [2 * p.F_0 * (math.exp(p.mu * phi) - 1) / (math.exp(p.mu * phi) + 1) for phi in (wrap, 2 * math.pi - wrap)]
    slips = [p.v_0 * math.atanh(F / limit) for limit in most]
    assert found["p.omega_2"] == pytest.approx((100 * p.r_1 - sum(slips)) / p.r_2, rel=1e-7)
    assert found["tau_W"] == pytest.approx(F * p.r_1, rel=1e-7)
    assert abs(run.energy.residual) < 1e-7


def test_a_belt_that_slips_pulls_with_what_euler_and_eytelwein_allow() -> None:
    """The driven shaft held: the small pulley turns in its belt."""
    network = "W: {angular velocity source: [a]}, H: {angular velocity source: [b]}"
    model = use("belt_with_slip", "input: a, output: b", network)
    p, found = values(model), tg.simulate(model, until=0.2, inputs={"W": 100.0, "H": 0.0}, rtol=1e-9).final()
    wrap = math.pi - 2 * math.asin((p.r_2 - p.r_1) / p.a)
    tight = 2 * p.F_0 / (1 + math.exp(-p.mu * wrap))  # and slack: in the ratio of Euler, 2 F_0 together
    assert found["tau_W"] == pytest.approx(p.r_1 * (tight - tight * math.exp(-p.mu * wrap)), rel=1e-6)


@pytest.mark.parametrize("torque", [12.0, 9.0, 6.0, -2.0, -5.0])
def test_a_lead_screw_lifts_holds_and_lowers_as_shigley_says(torque: float) -> None:
    weight = 5000.0
    model = use("lead_screw", "shaft: a, nut: x", "T: {torque source: [a]}, F: {force source: [x]}")
    forces = {"T": torque, "F": -weight}
    p, run = values(model), tg.simulate(model, until=0.2, inputs=forces, initial={"p.F": weight}, rtol=1e-9)
    found, pitch, flanks = run.final(), math.atan(p.h / p.r), math.atan(p.mu / math.cos(p.alpha))
    lift, lower = weight * p.r * math.tan(pitch + flanks), weight * p.r * math.tan(pitch - flanks)
    assert lower < 0, "it holds by itself"
    if lower < torque < lift:
        assert found["p.omega"] == 0
        return
    # What is left of the torque turns the screw, its nut and its bearings; the nut pulls with the load that it moves.
    angle = pitch + flanks if torque > lift else pitch - flanks
    equivalent = p.r * math.tan(angle)
    mass, rub = p.J + p.m * p.h * equivalent, p.b + p.d * p.h * equivalent
    rest = torque - weight * equivalent
    wanted = rest / rub * (1 - math.exp(-rub / mass * 0.2))
    assert found["p.omega"] == pytest.approx(wanted, rel=1e-4)
    assert abs(run.energy.residual) < 1e-7


def test_a_steep_screw_is_turned_by_its_nut() -> None:
    steep = use("lead_screw", "shaft: a, nut: x", "F: {force source: [x]}", ", lead: 40 mm, b: 0.1 N*m*s")
    p, found = values(steep), tg.simulate(steep, until=0.5, inputs={"F": -5000.0}, rtol=1e-8).final()
    gain = p.r * math.tan(math.atan(p.h / p.r) - math.atan(p.mu / math.cos(p.alpha)))
    assert found["p.omega"] == pytest.approx(-5000 * gain / (p.b + p.d * p.h * gain), rel=1e-4)


# Cams

LIFTS = {
    "": lambda theta: 0.005 * (1 - math.cos(theta)),
    ", lift: 3 mm*sin(p.theta)^2": lambda theta: 0.003 * math.sin(theta) ** 2,
}


@pytest.mark.parametrize("line", LIFTS, ids=["own", "bound"])
def test_a_cam_moves_its_follower_by_the_slope_of_its_lift(line: str) -> None:
    model = use("cam", "shaft: a", "tau: {torque source: [a]}", line)
    p, system, theta, step = values(model), tg.derive(model), 0.7, 1e-6
    H = (LIFTS[line](theta + step) - LIFTS[line](theta - step)) / (2 * step)
    known = {**parameter_values(model), "p.theta": theta}
    for name, expression in system.where.items():
        known[name] = expression.evaluate(known)
    assert system.matrices["L"][0][0].evaluate(known) == pytest.approx(p.J + p.m * H**2, rel=1e-7)


def test_a_cam_given_by_points_is_where_its_table_says() -> None:
    table = "[[0 deg, 0 mm], [90 deg, 4 mm], [180 deg, 8 mm], [270 deg, 4 mm], [360 deg, 0 mm]]"
    curve = f", lift: {{table: {table}, at: p.theta, interpolation: cubic, period: 360 deg}}"
    model = use("cam", "shaft: a, follower: y", "W: {angular velocity source: [a]}", curve)
    run = tg.simulate(model, until=1.0, inputs={"W": 4 * math.pi}, rtol=1e-9)
    # the spring of the follower is as far out as the cam is high, in the second turn as in the first
    for turns, lift in ((0.25, 4e-3), (0.5, 8e-3), (1.0, 0.0), (1.75, 4e-3)):
        assert run.resampled(np.array([turns / 2])).values("p.x_K")[0] == pytest.approx(lift, abs=1e-8)
