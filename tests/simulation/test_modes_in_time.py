"""Runs through several modes against closed forms: impacts, stick-slip, rectifiers, converters, clutches, charge that is shared.

Errors are judged against the tolerance asked for: a factor of 100 for what an event turns into a difference of times.
"""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from tellegen.experiments.setup import set_up
from tellegen.experiments.simulating import simulate
from tellegen.notations.loading import load
from tellegen.notations.reading import read_model
from tellegen.results.run import Run
from tellegen.simulation.hybrid import integration
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import StretchEnd
from tellegen.simulation.trajectory import Trajectory

RTOL = 1e-9
NEAR = 100 * RTOL
CLOSED = 1e-7
"""Books close to the error of the integration, not to rounding: energies are integrated on interpolants."""


def run(model: str, **more: object) -> Run:
    described = read_model(model) if "\n" in model else model
    return simulate(described, rtol=RTOL, **more)  # type: ignore[arg-type]


def events(trajectory: Trajectory, what: str) -> list[float]:
    return [event.t for event in trajectory.events if event.what == what]


def books_close(run: Run, within: float = CLOSED) -> None:
    books = run.trajectory.books
    assert books is not None
    assert abs(books.residual) < within


def final(run: Run, name: str) -> float:
    return float(run[name].values[-1])


# -- impacts -----------------------------------------------------------------------------------------------------------------------


def test_a_ball_bounces_at_the_times_and_heights_of_the_closed_form() -> None:
    found = run("bouncing_ball")
    e, g, h = 0.8, 9.81, 1.0
    first = math.sqrt(2 * h / g)
    times = events(found.trajectory, "impact")
    for n, t in enumerate(times[:30]):
        assert t == pytest.approx(first + 2 * first * e * (1 - e**n) / (1 - e), rel=NEAR)
    middle = 0.5 * (times[0] + times[1])
    peak = run("bouncing_ball", times=[middle])
    assert final(peak, "h") == pytest.approx(e**2 * h, rel=NEAR)


def test_bounces_that_pile_up_end_in_rest() -> None:
    found = run("bouncing_ball")
    ends = events(found.trajectory, "open to contact")
    e, first = 0.8, math.sqrt(2 / 9.81)
    assert len(ends) == 1
    assert ends[0] == pytest.approx(first * (1 + e) / (1 - e), rel=1e-6)
    assert abs(final(found, "h")) < 1e-12
    assert final(found, "v") == 0.0
    books = found.trajectory.books
    assert books is not None
    assert books.impulsive == pytest.approx(0.1 * 9.81 * 1.0, rel=1e-9)
    books_close(found)


BODIES = """
system: two bodies
displacements: {x_1: v_1, x_2: v_2}
network:
  m_1: {mass: [a], m: 2 kg, velocity: v_1, initial: 3 m/s}
  m_2: {mass: [b], m: 1 kg, velocity: v_2}
  hit: {hard stop: [a, b], gap: x_2 - x_1, restitution: 0.5}
experiment: {until: 1 s, initial: {x_2: 1 m}}
"""


def test_an_impact_between_bodies_keeps_momentum_and_loses_what_restitution_says() -> None:
    found = run(BODIES)
    m_1, m_2, e, v = 2.0, 1.0, 0.5, 3.0
    assert events(found.trajectory, "impact") == [pytest.approx(1 / 3, rel=NEAR)]
    assert final(found, "v_1") == pytest.approx((m_1 - e * m_2) * v / (m_1 + m_2), rel=NEAR)
    assert final(found, "v_2") == pytest.approx((1 + e) * m_1 * v / (m_1 + m_2), rel=NEAR)
    books = found.trajectory.books
    assert books is not None
    assert books.impulsive == pytest.approx(0.5 * m_1 * m_2 / (m_1 + m_2) * (1 - e**2) * v**2, rel=NEAR)
    books_close(found)


def test_an_impact_acts_through_a_gear_on_all_that_turns_with_it() -> None:
    text = """
system: geared stop
displacements: {theta: omega}
network:
  J_1:  {inertia: [a], J: 1 kg*m^2, initial: 4 rad/s}
  gear: {gear: [a, frame, b, frame], n: 2}
  J_2:  {inertia: [b], J: 3 kg*m^2, angular velocity: omega}
  stop: {rotational stop: [b, frame], gap: 1 rad - theta, restitution: 0.5}
experiment: {until: 1 s, initial: {omega: 2 rad/s}}
"""
    found = run(text)
    inertia = 3.0 + 1.0 * 2**2
    assert events(found.trajectory, "impact") == [pytest.approx(0.5, rel=NEAR)]
    assert final(found, "omega") == pytest.approx(-1.0, rel=NEAR)
    assert final(found, "omega_J_1") == pytest.approx(-2.0, rel=NEAR)
    books = found.trajectory.books
    assert books is not None
    assert books.impulsive == pytest.approx(0.5 * inertia * (2.0**2 - 1.0**2), rel=NEAR)


ELASTIC = """
system: elastic stop
displacements: {{x: v}}
network:
  m:    {{mass: [a], m: 2 kg, velocity: v, initial: 1 m/s}}
  stop: {{hard stop: [a, frame], gap: 0.5 m - x, K: 800 N/m{damping}}}
experiment: {{until: 2 s}}
"""


def test_an_elastic_stop_without_damping_gives_all_speed_back() -> None:
    found = run(ELASTIC.format(damping=""))
    omega = math.sqrt(800 / 2)
    assert events(found.trajectory, "open to contact") == [pytest.approx(0.5, rel=NEAR)]
    assert events(found.trajectory, "contact to open") == [pytest.approx(0.5 + math.pi / omega, rel=NEAR)]
    assert final(found, "v") == pytest.approx(-1.0, rel=NEAR)
    books_close(found)
    assert found.energy.dissipated == pytest.approx(0.0, abs=CLOSED)


def test_an_elastic_stop_keeps_what_presses_it_in() -> None:
    """Its speed is used up after a quarter of a swing: then all energy is there, and none is lost or made."""
    found = run(ELASTIC.format(damping=""), until=0.5 + math.pi / math.sqrt(800 / 2) / 2)
    assert found.energy.dissipated == pytest.approx(0.0, abs=CLOSED)
    assert found.energy.generated == pytest.approx(0.0, abs=CLOSED)
    assert found.energy.stored == pytest.approx(0.0, abs=CLOSED)
    assert final(found, "energy.stop") == pytest.approx(1.0, rel=1e-7)


def test_who_moves_an_elastic_stop_does_the_work_of_modulation() -> None:
    """A stop that swings hits a body at rest: what the body then has, the swing has brought."""
    moved = ELASTIC.replace("0.5 m - x", "0.01 m - x + 0.02 m*sin(20 rad/s*t)").replace("initial: 1", "initial: 0")
    found = run(moved.format(damping=", b: 1 N*s/m"))
    books_close(found)
    assert final(found, "v") != 0.0
    assert found.energy.modulation > 0.5 * 2 * final(found, "v") ** 2
    assert found.energy.generated == pytest.approx(0.0, abs=CLOSED)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 20))])
def test_no_stop_makes_energy(seed: int) -> None:
    """A body falls on stops at random, heavy or light, hard or soft, damped or not, again and again."""
    draw = np.random.default_rng(seed)
    m, stiffness, damping = 10.0 ** draw.uniform([-1, 2, -1], [1, 4, 1.5])
    more = f", b: {damping} N*s/m" if draw.random() < 0.8 else ""
    found = run(
        f"system: fall\ndisplacements: {{x: v}}\nnetwork:\n  m: {{mass: [a], m: {m} kg, velocity: v}}\n"
        f"  F: {{force source: [frame, a], signal: {9.81 * m} N}}\n"
        f"  stop: {{hard stop: [a, frame], gap: 0.2 m - x, K: {stiffness} N/m{more}}}\nexperiment: {{until: 1.5 s}}\n"
    )
    books = found.energy
    handled = books.books.handled
    assert books.generated == pytest.approx(0.0, abs=CLOSED * handled)
    assert -CLOSED * handled <= books.modulation <= CLOSED * handled
    assert books.dissipated + books.impulsive >= -CLOSED * handled
    assert books.impulsive >= -CLOSED * handled
    kept = np.where(found.values("F_stop") != 0.0, 0.5 * stiffness * np.maximum(found.values("x") - 0.2, 0.0) ** 2, 0.0)
    assert found.values("energy.stop") == pytest.approx(kept, rel=1e-6, abs=CLOSED * handled)
    books_close(found)


def test_an_elastic_stop_with_damping_never_pulls() -> None:
    found = run(ELASTIC.format(damping=", b: 20 N*s/m"), samples=4000)
    assert float(found["F_stop"].values.min()) >= -1e-6
    zeta, omega = 20 / (2 * math.sqrt(800 * 2)), math.sqrt(800 / 2)
    # The force is -m x'' of x = exp(-zeta omega t) sin(omega_d t)/omega_d: it vanishes before the spring is slack.
    damped = math.sqrt(1 - zeta**2)
    duration = math.atan2(2 * zeta * damped, 2 * zeta**2 - 1) / (omega * damped)
    assert events(found.trajectory, "contact to open")[0] - 0.5 == pytest.approx(duration, rel=1e-6)
    books_close(found)


# -- friction ----------------------------------------------------------------------------------------------------------------------


def test_a_stick_slip_oscillator_has_the_period_and_amplitude_of_its_pieces() -> None:
    found = run("stick_slip")
    m, K, F_c, F_s, v = 1.0, 100.0, 5.0, 8.0, 0.1
    omega = math.sqrt(K / m)
    # Slipping: swing about F_c/K from x - F_c/K = (F_s - F_c)/K at speed v until the speed is v again.
    offset = (F_s - F_c) / K
    phase = math.atan2(v / omega, offset)
    slipping = (math.pi + 2 * phase) / omega
    force_after = F_c - (F_s - F_c)
    sticking = (F_s - force_after) / (K * v)
    breaks, stops = events(found.trajectory, "stick to forward"), events(found.trajectory, "forward to stick")
    assert breaks[0] == pytest.approx(F_s / (K * v), rel=NEAR)
    for leave, stop in zip(breaks, stops, strict=False):
        assert stop - leave == pytest.approx(slipping, rel=NEAR)
    for one, two in pairwise(breaks):
        assert two - one == pytest.approx(slipping + sticking, rel=NEAR)
    deepest = breaks[1] + (math.pi + phase) / omega
    swing = run("stick_slip", times=[deepest])
    assert final(swing, "F_K") == pytest.approx(F_c - K * math.hypot(offset, v / omega), rel=NEAR)
    books_close(found)


def test_a_sliding_block_stops_and_stays() -> None:
    text = """
system: block
network:
  F: {force source: [m]}
  m: {mass: [m], m: 2 kg, velocity: v, initial: 3 m/s}
  f: {dry friction: [m], F_c: 4 N, F_s: 5 N}
experiment: {until: 4 s, inputs: {F: "step(4.5 N, 2 s)"}}
"""
    found = run(text)
    assert events(found.trajectory, "forward to stick") == [pytest.approx(1.5, rel=NEAR)]
    assert events(found.trajectory, "stick to forward") == [0.0]  # 4.5 N is below the breakaway force
    assert final(found, "v") == 0.0
    assert final(found, "F_f") == pytest.approx(4.5)
    books = found.trajectory.books
    assert books is not None
    assert books.dissipated == pytest.approx(0.5 * 2 * 3**2, rel=NEAR)
    books_close(found)


def test_two_frictions_side_by_side_hold_together() -> None:
    text = """
system: two pads
network:
  F: {force source: [m]}
  m: {mass: [m], m: 1 kg, velocity: v}
  p: {dry friction: [m], F_c: 2 N}
  q: {dry friction: [m], F_c: 3 N}
experiment: {until: 6 s, inputs: {F: "ramp(1 N/s)"}}
"""
    found = run(text)
    # The first one slips from 2 N on in name only; nothing moves before both are overcome.
    moving = found["v"].values > 0
    assert found.trajectory.t[moving][0] == pytest.approx(5.0, abs=6.0 / 1000 + 1e-9)
    assert final(found, "v") == pytest.approx(0.5 * 1.0**2, rel=1e-6)


def test_a_clutch_engages_with_the_momentum_and_the_loss_of_the_closed_form() -> None:
    text = """
system: engaging
network:
  J_1: {inertia: [a], J: 0.2 kg*m^2, speed: w_1, initial: 100 rad/s}
  J_2: {inertia: [b], J: 0.3 kg*m^2, speed: w_2, initial: 10 rad/s}
  c:   {clutch: [a, b], tau_c: 12 N*m}
experiment: {until: 3 s}
"""
    found = run(text)
    J_1, J_2, tau, d = 0.2, 0.3, 12.0, 90.0
    joined = d / (tau * (1 / J_1 + 1 / J_2))
    assert events(found.trajectory, "forward to engaged") == [pytest.approx(joined, rel=NEAR)]
    speed = (J_1 * 100 + J_2 * 10) / (J_1 + J_2)
    assert final(found, "w_1") == pytest.approx(speed, rel=NEAR)
    assert final(found, "w_2") == pytest.approx(speed, rel=NEAR)
    books = found.trajectory.books
    assert books is not None
    assert books.dissipated == pytest.approx(0.5 * J_1 * J_2 / (J_1 + J_2) * d**2, rel=NEAR)
    assert books.impulsive == 0.0
    books_close(found)


def test_a_freewheel_drives_and_overruns() -> None:
    text = """
system: freewheel
network:
  T: {torque source: [a]}
  J_1: {inertia: [a], J: 1 kg*m^2, speed: w_1}
  f: {freewheel: [a, b]}
  J_2: {inertia: [b], J: 1 kg*m^2, speed: w_2}
experiment: {until: 2 s, inputs: {T: "step(2 N*m) - step(4 N*m, 1 s)"}}
"""
    found = run(text)
    assert final(found, "w_2") == pytest.approx(1.0, rel=NEAR)  # both together in the first second, then it overruns
    assert final(found, "w_1") == pytest.approx(1.0 - 2.0, rel=NEAR)
    books_close(found)


# -- circuits ----------------------------------------------------------------------------------------------------------------------

SHARED = """
system: shared charge
network:
  C_1: {capacitor: [a], C: 3 F, initial: 10 V}
  S:   {switch: [a, b], closed: [1 s]}
  C_2: {capacitor: [b], C: 1 F}
experiment: {until: 2 s}
"""


def test_capacitors_that_are_joined_keep_their_charge_and_lose_energy() -> None:
    found = run(SHARED)
    assert final(found, "V_C_1") == pytest.approx(7.5, rel=1e-14)
    assert final(found, "V_C_2") == pytest.approx(7.5, rel=1e-14)
    books = found.trajectory.books
    assert books is not None
    assert books.impulsive == pytest.approx(0.5 * 3 * 1 / (3 + 1) * 10**2, rel=1e-13)
    assert found.trajectory.losses == {"S": books.impulsive}
    books_close(found, 1e-14)


def test_equal_capacitors_lose_exactly_half() -> None:
    found = run(SHARED.replace("3 F", "1 F"))
    books = found.trajectory.books
    assert books is not None
    assert books.impulsive == pytest.approx(0.5 * books.stored_start, rel=1e-13)


def test_a_source_that_charges_a_capacitor_at_once_loses_as_much_as_it_stores() -> None:
    text = """
system: charging
network:
  V: {voltage source: [a]}
  S: {switch: [a, b], closed: [1 s]}
  C: {capacitor: [b], C: 2 F}
experiment: {until: 2 s, inputs: {V: 5 V}}
"""
    books = run(text).trajectory.books
    assert books is not None
    assert (books.supplied, books.impulsive, books.stored_end) == pytest.approx((50.0, 25.0, 25.0), rel=1e-12)


def test_an_interrupted_inductor_loses_its_energy_in_the_switch() -> None:
    text = """
system: interrupted
network:
  V: {voltage source: [a]}
  S: {switch: [a, b], closed: [0 s, 1 s]}
  L: {inductor: [b, c], L: 2 H}
  R: {resistor: [c], R: 1 ohm}
experiment: {until: 2 s, inputs: {V: 1 V}}
"""
    found = run(text)
    current = 1 - math.exp(-0.5)
    books = found.trajectory.books
    assert books is not None
    assert books.impulsive == pytest.approx(0.5 * 2 * current**2, rel=NEAR)
    assert final(found, "I_L") == 0.0
    books_close(found)


def test_a_nonlinear_capacitor_shares_charge_by_its_law() -> None:
    text = SHARED.replace("{capacitor: [b], C: 1 F}", "{capacitor: [b], law: q = (1 F)*v + (0.1 F/V^2)*v^3}")
    found = run(text)
    v = final(found, "V_C_1")
    assert 3 * v + v + 0.1 * v**3 == pytest.approx(30.0, rel=1e-12)
    assert final(found, "V_C_2") == pytest.approx(v, rel=1e-12)
    books_close(found, 1e-12)


def test_a_rectifier_follows_the_source_and_decays_in_between() -> None:
    text = """
system: rectifier
network:
  V: {voltage source: [a]}
  D: {diode: [a, b]}
  C: {capacitor: [b], C: 1 mF, voltage: v}
  R: {resistor: [b], R: 20 ohm}
experiment: {until: 40 ms, inputs: {V: "sine(10 V, 50 Hz)"}}
"""
    found = run(text)
    omega, tau = 2 * math.pi * 50, 20 * 1e-3
    off = (math.pi - math.atan(omega * tau)) / omega  # C v' + v/R = 0 on the sine
    on = events(found.trajectory, "conducting to blocking")
    assert on[0] == pytest.approx(off, rel=NEAR)
    assert on[1] == pytest.approx(off + 0.02, rel=NEAR)
    level = 10 * math.sin(omega * off)
    at = off + 0.008
    later = run(text, times=[at])
    assert final(later, "v") == pytest.approx(level * math.exp(-(at - off) / tau), rel=NEAR)
    again = next(t for t in events(found.trajectory, "blocking to conducting") if t > 0.01)
    assert 10 * math.sin(omega * again) == pytest.approx(level * math.exp(-(again - off) / tau), rel=NEAR)
    books_close(found, 1e-6)


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_a_rectifier_misses_no_peak_of_many(solver: str) -> None:
    """While the diode blocks nothing feels the source, and it conducts for a hundredth of a period."""
    R, C, amplitude, f, periods = 2e3, 1e-3, 10.0, 50.0, 200
    model = read_model(
        f"system: Rectifier\nparameters: {{R: {R} ohm, C: {C} F}}\nnetwork:\n  V: {{voltage source: [s, gnd]}}\n"
        "  D: {diode: [s, b]}\n  C: {capacitor: [b, gnd], voltage: v}\n  R: {resistor: [b, gnd]}\n"
        f"experiment: {{until: {(periods + 0.125) / f} s, inputs: {{V: 'sine({amplitude} V, {f} Hz)'}}}}\n"
    )
    found = simulate(model, solver=solver, progress=False)
    w = 2.0 * math.pi * f
    off = (math.pi - math.atan(w * R * C)) / w  # where the current of both together is zero
    since = (periods + 0.125) / f - (periods - 1) / f - off
    assert len(events(found.trajectory, "conducting to blocking")) == periods
    assert final(found, "v") == pytest.approx(amplitude * math.sin(w * off) * math.exp(-since / (R * C)), rel=20e-6)


def test_a_bridge_of_four_diodes_rectifies_both_halves() -> None:
    text = """
system: bridge
network:
  V:   {voltage source: [p, n]}
  D_1: {diode: [p, plus]}
  D_2: {diode: [n, plus]}
  D_3: {diode: [gnd, p]}
  D_4: {diode: [gnd, n]}
  R:   {resistor: [plus], R: 5 ohm}
experiment: {until: 40 ms, inputs: {V: "sine(10 V, 50 Hz)"}}
"""
    found = run(text)
    t = found.trajectory.t
    expected = np.abs(10 * np.sin(2 * math.pi * 50 * t))
    assert np.allclose(found["V_R"].values, expected, atol=1e-6)
    books = found.trajectory.books
    assert books is not None
    assert books.supplied == pytest.approx(0.04 * 10**2 / 2 / 5, rel=1e-6)


@pytest.mark.parametrize("solver", ["cvode", "ida", "runge-kutta"])
def test_an_event_a_rounding_before_the_end_leaves_no_step_to_make(solver: str) -> None:
    """The sine ends where the diode changes, so less than a rounding of time is left up to the last row."""
    text = """
system: rectifier
network:
  V:   {voltage source: [a]}
  D:   {diode: [a, b]}
  R:   {resistor: [b], R: 5 ohm}
  L:   {inductor: [a, c], L: 1 mH, current: i}
  R_L: {resistor: [c], R: 1 ohm}
experiment: {until: 50 ms, inputs: {V: "sine(10 V, 50 Hz)"}}
"""
    found = run(text, solver=solver, samples=100)
    assert found.trajectory.events[-1].t == pytest.approx(0.05, rel=1e-14)
    assert found.t[-1] == 0.05
    z = complex(1, 2 * math.pi * 50 * 1e-3)
    assert final(found, "i") == pytest.approx((-10 / z).imag, rel=NEAR)  # what began with the run is gone


def test_a_diode_with_a_forward_voltage_takes_its_share() -> None:
    text = """
system: forward
network:
  V: {voltage source: [a]}
  D: {diode: [a, b], V_f: 0.7 V, R_on: 0.1 ohm}
  R: {resistor: [b], R: 9.9 ohm}
experiment: {until: 1 s, inputs: {V: 10.7 V}}
"""
    found = run(text)
    assert final(found, "I_R") == pytest.approx(1.0)
    books = found.trajectory.books
    assert books is not None
    assert books.dissipated == pytest.approx(10.7, rel=1e-9)


# -- the converter -----------------------------------------------------------------------------------------------------------------


def converter_cycle(R: float, periods: int, start: tuple[float, float]) -> tuple[float, float]:
    """Current and voltage of the built-in converter after some periods, piece by piece with matrix exponentials."""
    from scipy.linalg import expm
    from scipy.optimize import brentq

    L, C, V, T, d = 1e-4, 1e-4, 12.0, 1e-5, 0.4

    def after(time: float, at: tuple[float, float], source: float) -> tuple[float, float]:
        A = np.array([[0, -1 / L, source / L], [1 / C, -1 / (R * C), 0], [0, 0, 0]])
        i, v, _ = expm(A * time) @ np.array([*at, 1.0])
        return float(i), float(v)

    i, v = start
    for _ in range(periods):
        i, v = after(d * T, (i, v), V)
        rest = (1 - d) * T
        if after(rest, (i, v), 0.0)[0] < 0:
            zero = brentq(lambda time, at=(i, v): after(time, at, 0.0)[0], 0.0, rest, xtol=1e-20)
            v = after(zero, (i, v), 0.0)[1] * math.exp(-(rest - zero) / (R * C))
            i = 0.0
        else:
            i, v = after(rest, (i, v), 0.0)
    return i, v


@pytest.mark.parametrize(("R", "start"), [(100.0, (0.0, 6.9)), (5.0, (0.6, 4.8))])
def test_a_converter_follows_its_exact_pieces(R: float, start: tuple[float, float]) -> None:
    periods = 20
    found = run("buck_converter", parameters={"R": R}, until=periods * 1e-5, initial={"I_L": start[0], "V_C": start[1]})
    i, v = converter_cycle(R, periods, start)
    assert final(found, "I_L") == pytest.approx(i, rel=NEAR, abs=NEAR)
    assert final(found, "V_C") == pytest.approx(v, rel=NEAR)
    books_close(found)


def test_light_load_makes_the_conduction_discontinuous_with_the_known_ratio() -> None:
    K, d = 2 * 1e-4 / (100 * 1e-5), 0.4
    ratio = 2 / (1 + math.sqrt(1 + 4 * K / d**2))
    found = run("buck_converter", until=2e-3, initial={"V_C": 12 * ratio})
    books = found.trajectory.books
    assert books is not None
    # The closed form neglects the ripple of the voltage, here about 0.1 %.
    assert final(found, "V_C") == pytest.approx(12 * ratio, rel=2e-3)
    assert len(events(found.trajectory, "conducting to blocking")) == 200
    books_close(found)


def test_heavy_load_keeps_the_current_flowing_with_the_duty_as_ratio() -> None:
    found = run("buck_converter", parameters={"R": 5.0}, until=2e-3, initial={"I_L": 0.96 - 0.144, "V_C": 4.8})
    assert final(found, "V_C") == pytest.approx(0.4 * 12, rel=2e-3)
    assert final(found, "I_L") > 0
    # The diode turns off only where the switch turns on.
    starts = set(events(found.trajectory, "open to closed"))
    assert set(events(found.trajectory, "conducting to blocking")) <= starts
    books_close(found)


def test_changes_of_mode_are_no_part_of_the_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that a start and a change of mode move by one: what comes before the first step of the first run does not grow
    with the run, nor with others that are made to compare with it."""
    clock, starts, start, change = [0.0], [0], integration._HybridRun._start, integration._HybridRun._change

    def started(run: integration._HybridRun) -> float:
        clock[0] += 1.0
        starts[0] += 1
        return start(run)

    def counted(run: integration._HybridRun, end: StretchEnd) -> None:
        clock[0] += 1.0
        change(run, end)

    monkeypatch.setattr(integration._HybridRun, "_start", started)
    monkeypatch.setattr(integration._HybridRun, "_change", counted)
    monkeypatch.setattr(integration, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    ready = set_up(load("bouncing_ball"), until=2)
    problem = Problem(ready.numeric, ready.until, y0=dict(ready.start), inputs=dict(ready.inputs))
    made = integration.integrate_graph(ready.graph, problem)
    assert starts[0] > 1
    assert clock[0] > starts[0]
    assert (made.setup_s, made.solve_s) == (1.0, clock[0] - 1.0)


def test_a_spring_behind_a_slider_keeps_the_force_at_which_it_slips() -> None:
    # The slider holds the force of the spring while it slips, so the storage follows a law that stays: Jenkins 1962.
    model = """\
system: a spring and a slider in series
network:
  v: {velocity source: [frame, m], signal: "0.1 m/s*cos(t/(1 s))"}
  K: {spring: [m, n], K: 200 N/m}
  slip: {dry friction: [n, frame], F_c: 8 N}
"""
    found = run(model, until=5 * math.pi / 6)
    # It slips from x = 40 mm to 100 mm; on the way back to 50 mm the force falls by K times 50 mm.
    assert abs(final(found, "F_K")) == pytest.approx(2.0, rel=NEAR)
    assert found.trajectory.books is not None
    assert found.trajectory.books.dissipated == pytest.approx(8.0 * 0.06, rel=1e-6)
    books_close(found)
