"""Every part of the library against the equations of the books, with the values that its file gives."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import tellegen as tg
from support.library_use import use, values
from support.transfers import POINTS, numeric, same_transfer, transfer_at
from tellegen.core.shipped import LIBRARY, part_names
from tellegen.model.model import Model
from tellegen.notations.parameters import parameter_values
from tellegen.notations.reading import read_model

Rows = list[list[complex]] | np.ndarray


def answers(model: Model, wanted: Callable[..., Rows]) -> None:
    """The transfer matrix from all inputs to their conjugates, at points of the complex plane; `wanted` takes s and the values."""
    system = numeric(model)
    for s in POINTS:
        expected = np.array(wanted(s, values(model)), dtype=complex)
        assert transfer_at(system, s) == pytest.approx(expected, rel=1e-9, abs=1e-15)


# What every part has


@pytest.mark.parametrize("name", part_names())
def test_a_part_says_what_it_is_and_where_its_equations_come_from(name: str) -> None:
    text = (LIBRARY / f"{name}.yaml").read_text(encoding="utf-8")
    found = read_model(LIBRARY / f"{name}.yaml")
    assert found.about.endswith(".")
    assert found.ports
    assert text.splitlines()[2].startswith("# "), "the third line tells the equations and their source"
    assert not found.findings
    assert not [p.name for p in found.parameters.values() if p.expression is None], "every parameter has a default"
    assert not found.experiment.inputs


# Rotation and translation


def test_dc_motor() -> None:
    model = use("dc_motor", "electrical: a, shaft: w", "V: {voltage source: [a]}, tau: {torque source: [w]}")

    def book(s: complex, p: values) -> Rows:
        electrical, mechanical = p.L * s + p.R, p.J * s + p.b
        both = electrical * mechanical + p.K**2
        return [[mechanical / both, -p.K / both], [p.K / both, electrical / both]]

    answers(model, book)


def test_a_dc_motor_may_float() -> None:
    """A bridge drives the motor from both ends: only the difference counts."""
    bridge = "V_1: {voltage source: [a]}, V_2: {voltage source: [b]}"
    one = numeric(use("dc_motor", "electrical: [a, b]", bridge))
    for s in POINTS:
        Y = transfer_at(one, s)
        assert Y[:, 0] == pytest.approx(-Y[:, 1])


def test_gear() -> None:
    model = use("gear", "input: a, output: b", "t_1: {torque source: [a]}, t_2: {torque source: [b]}")

    def book(s: complex, p: values) -> Rows:
        load = (p.J_1 + p.J_2 / p.n**2) * s + p.b_1 + p.b_2 / p.n**2
        return [[1 / load, 1 / (p.n * load)], [1 / (p.n * load), 1 / (p.n**2 * load)]]

    answers(model, book)


def test_belt() -> None:
    model = use("belt", "input: a, output: b", "t_1: {torque source: [a]}, t_2: {torque source: [b]}")

    def book(s: complex, p: values) -> Rows:
        z = p.K / s + p.d
        impedance = [[p.J_1 * s + p.r_1**2 * z, -p.r_1 * p.r_2 * z], [-p.r_1 * p.r_2 * z, p.J_2 * s + p.r_2**2 * z]]
        return np.linalg.inv(np.array(impedance))

    answers(model, book)


@pytest.mark.parametrize(
    ("part", "other", "radius"),
    [("ball_screw", "nut", lambda p: p.lead / (2 * math.pi)), ("rack", "rack", lambda p: p.r)],
    ids=["ball_screw", "rack"],
)
def test_from_rotation_to_translation(part: str, other: str, radius: Callable[[values], float]) -> None:
    model = use(part, f"shaft: a, {other}: x", "tau: {torque source: [a]}, F: {force source: [x]}")

    def book(s: complex, p: values) -> Rows:
        h = radius(p)
        load = (p.J + p.m * h**2) * s + p.b + p.d * h**2
        return [[1 / load, h / load], [h / load, h**2 / load]]

    answers(model, book)


def test_lever() -> None:
    model = use("lever", "end_1: x, end_2: y", "F_1: {force source: [x]}, F_2: {force source: [y]}")

    def book(s: complex, p: values) -> Rows:
        arms = np.array([p.l_1, -p.l_2])
        return np.outer(arms, arms) / (p.J * s + p.b)

    answers(model, book)


def test_planetary_gear() -> None:
    torques = ", ".join(f"t_{name}: {{torque source: [{name}]}}" for name in ("sun", "ring", "carrier"))
    model = use("planetary_gear", "sun: sun, ring: ring, carrier: carrier", torques)

    def book(s: complex, p: values) -> Rows:
        # the speeds of sun, ring and carrier by those of carrier and ring
        T = np.array([[1 + p.k, -p.k], [0, 1], [1, 0]])
        M = T.T @ np.diag([p.J_s, p.J_r, p.J_c]) @ T
        friction = np.diag([p.b_c, 0])
        return T @ np.linalg.solve(s * M + friction, T.T)

    answers(model, book)


def test_crank() -> None:
    model = use("crank", "crank: a", "tau: {torque source: [a]}", ", e: 10 mm")
    p = values(model)
    system = tg.derive(model)
    L, theta, step = system.matrices["L"][0][0], 0.7, 1e-6
    assert system.states == ("p.omega",)

    def x(angle: float) -> float:
        return p.R * math.cos(angle) + math.sqrt(p.L**2 - (p.R * math.sin(angle) - p.e) ** 2)

    H = (x(theta + step) - x(theta - step)) / (2 * step)
    known = {**parameter_values(model), "p.theta": theta}
    known |= {"p.H": model.parameters["p.H"].expression.evaluate(known)}  # type: ignore[union-attr]
    for name, expression in system.where.items():
        known[name] = expression.evaluate(known)
    assert L.evaluate(known) == pytest.approx(p.J + p.m * H**2, rel=1e-7)


def test_spring_with_stops_gives_back_what_it_takes() -> None:
    model = use(
        "spring_with_stops", "ends: x", "m: {mass: [x], m: 2 kg, velocity: v, initial: 1 m/s}", ", d: 1e-9 N*s/m"
    )
    p, run = values(model), tg.simulate(model, until=0.2, rtol=1e-9)
    x, v = run.values("p.x"), run.values("v")
    assert max(x) > p.gap
    assert min(x) < -p.gap
    beyond = np.maximum(0, np.abs(x) - p.gap)
    energy = v**2 + p.K * x**2 / 2 + p.K_s * beyond**2 / 2
    assert energy == pytest.approx(np.ones_like(x), rel=1e-6)  # ten times what the friction and the tolerance take


# Hydraulics


def test_pump() -> None:
    model = use(
        "pump",
        "shaft: a, hydraulic: [o, i]",
        "tau: {torque source: [a]}, P: {pressure source: [o, i]}, P_i: {pressure source: [i]}",
    )

    def book(s: complex, p: values) -> Rows:
        K, load = p.D / (2 * math.pi), p.J * s + p.b
        assert math.isclose(p.K, K)
        return [[1 / load, -K / load, 0], [-K / load, K**2 / load + p.G, 0], [0, 0, 0]]

    answers(model, book)


def test_hydraulic_motor() -> None:
    model = use("hydraulic_motor", "hydraulic: i, shaft: a", "P: {pressure source: [i]}, tau: {torque source: [a]}")

    def book(s: complex, p: values) -> Rows:
        K, load = p.D / (2 * math.pi), p.J * s + p.b
        return [[p.G + K**2 / load, K / load], [K / load, 1 / load]]

    answers(model, book)


def test_cylinder() -> None:
    sources = "Q_1: {flow source: [a]}, Q_2: {flow source: [b]}, F: {force source: [x]}"
    model = use("cylinder", "head: a, rod_end: b, rod: x", sources)

    def book(s: complex, p: values) -> Rows:
        L = np.diag([p.V_1 / p.beta, p.V_2 / p.beta, p.m])
        A = np.array([[p.G, -p.G, p.A_1], [-p.G, p.G, -p.A_2], [-p.A_1, p.A_2, p.b]])
        return np.linalg.inv(s * L + A)

    answers(model, book)


def test_accumulator() -> None:
    answers(
        use("accumulator", "inlet: i", "Q: {flow source: [i]}"),
        lambda s, p: [[p.R + 1 / (p.C * s + p.G)]],
    )


@pytest.mark.parametrize("n", [1, 4])
def test_pipe(n: int) -> None:
    model = use("pipe", "in: i, out: o", "P: {pressure source: [i]}, Q: {flow source: [o]}", f", n: {n}")

    def book(s: complex, p: values) -> Rows:
        series, shunt = (p.R + p.L * s) / n, p.C * s / n
        chain = np.linalg.matrix_power(np.array([[1, series], [0, 1]]) @ np.array([[1, 0], [shunt, 1]]), n)
        (a, b), (c, d) = chain  # of pressure and flow at the inlet by those at the outlet
        # the flow source pushes into the outlet: Q_out = -Q
        return [[c / a, d * -1 + c * b / a], [1 / a, b / a]]

    answers(model, book)


# Electricity


def test_transformer() -> None:
    model = use("transformer", "primary: a, secondary: c", "V: {voltage source: [a]}, R: {resistor: [c], R: 2 ohm}")

    def book(s: complex, p: values) -> Rows:
        secondary = p.n**2 * (p.L_2 * s + p.R_2 + 2)
        inner = 1 / (1 / (p.L_m * s) + 1 / p.R_m + 1 / secondary)
        return [[1 / (p.R_1 + p.L_1 * s + inner)]]

    answers(model, book)


def test_battery() -> None:
    model = use("battery", "terminals: a", "I: {current source: [a]}")
    system = numeric(model)
    p = values(model)
    for s in POINTS:
        found = transfer_at(system, s)
        names = list(system.inputs)
        impedance = p.R_0 + p.R_1 / (1 + p.R_1 * p.C_1 * s)
        assert found[names.index("I"), names.index("I")] == pytest.approx(impedance)
        assert found[names.index("I"), names.index("p.E")] == pytest.approx(1)
    assert model.elements[0].signal is not None


def test_pmsm_equals_the_example_where_its_star_is_grounded() -> None:
    sources = ", ".join(f"V_{k}: {{voltage source: [a_{k}]}}" for k in (1, 2, 3))
    ports = "phase_1: a_1, phase_2: a_2, phase_3: a_3, star: gnd, shaft: w"
    model = use("pmsm", ports, sources + ", tau: {torque source: [w]}")
    same_transfer(model, tg.load("pmsm"), at={"theta": 0.3})


def test_the_torque_constants_of_a_pmsm_have_a_constant_norm() -> None:
    model = use(
        "pmsm", "phase_1: a, phase_2: b, phase_3: c", "V: {voltage source: [a, b]}, W: {voltage source: [c, b]}"
    )
    p = values(model)
    for theta in (0.0, 0.4, 2.0):
        known = {**parameter_values(model), "p.theta": theta}
        K = [model.parameters[f"p.K_{k}"].expression.evaluate(known) for k in (1, 2, 3)]  # type: ignore[union-attr]
        assert sum(k * k for k in K) == pytest.approx(1.5 * (p.p * p.phi) ** 2)
        assert sum(K) == pytest.approx(0, abs=1e-12)


def test_an_open_star_lets_no_current_out() -> None:
    network = ", ".join(f"V_{k}: {{voltage source: [a_{k}]}}" for k in (1, 2, 3))
    model = use("pmsm", "phase_1: a_1, phase_2: a_2, phase_3: a_3", network)
    system = tg.linearise(model, at={"p.theta": 0.3})
    for s in POINTS:
        assert transfer_at(system, s).sum(axis=0) == pytest.approx(0, abs=1e-12)


def test_op_amp_as_an_inverting_amplifier() -> None:
    network = "V: {voltage source: [a]}, R_1: {resistor: [a, m], R: 1 kohm}, R_2: {resistor: [m, o], R: 10 kohm}"
    model = use("op_amp", "plus: gnd, minus: m, out: o", network)
    loop = tg.derive(model, closed=True, numeric=True)
    p = values(model)
    assert loop.inputs == ("V",)
    s, R_1, R_2 = 2j * math.pi * 1e3, 1e3, 1e4
    gain = p.A_0 / (1 + p.T * s)
    # nodes m and o: currents sum to zero, and the amplifier drives o through R_out
    Y = np.array([[1 / R_1 + 1 / R_2 + 1 / p.R_in, -1 / R_2], [-1 / R_2 + gain / p.R_out, 1 / R_2 + 1 / p.R_out]])
    v_m, v_o = np.linalg.solve(Y, np.array([1 / R_1, 0]))
    assert v_o == pytest.approx(-10, rel=0.02)
    found = transfer_at(loop, s)
    assert found[loop.outputs.index("I_V"), 0] == pytest.approx((1 - v_m) / R_1, rel=1e-6)
