"""Errors of steps add up while a run swings: a second run finds out, and the tolerance asked for still holds at the end.

The error of a variable is counted in tolerances beside its largest value: at a zero crossing a relative error means nothing.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from simulation.hand_written import decay, explicit_model, lc_ladder, oscillator, pendulum, van_der_pol
from tellegen.compiler.numeric_model import EventFunction, NumericModel
from tellegen.experiments.simulating import simulate
from tellegen.notations.reading import read_model
from tellegen.simulation.global_error import Attempt, run_within_tolerance
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.choice import SolverChoice
from tellegen.simulation.solvers.stretch import RunRows, SolverSettings, StatePoint, StretchEnd
from tellegen.simulation.trajectory import Effort

Array = NDArray[np.float64]
MOST = 20.0
ROWS = 202


def problem(model: NumericModel, until: float, y0: dict[str, float], rtol: float, solver: str) -> Problem:
    return Problem(model, until, y0=y0, rtol=rtol, atol=1e-2 * rtol, solver=solver, times=ROWS)


def error_in_tolerances(found: Array, wanted: Array, rtol: float) -> float:
    return float(np.max(np.abs(found - wanted) / (rtol * (1e-2 + np.max(np.abs(wanted), axis=0)))))


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("solver", ["auto", "runge-kutta", "cvode", "ida"])
@pytest.mark.parametrize("periods", [10, 300])
def test_an_oscillator_keeps_its_phase(periods: int, solver: str, rtol: float) -> None:
    run = integrate(problem(oscillator(), 2 * np.pi * periods, {"v": 1.0}, rtol, solver))
    wanted = np.column_stack([np.cos(run.t), np.sin(run.t)])
    assert error_in_tolerances(run.y, wanted, rtol) <= MOST


def lightly_damped() -> NumericModel:
    return explicit_model(
        "d[0] = -y[1] - 0.02 * y[0]; d[1] = y[0];", "e[0] = -v[1] - 0.02 * v[0]; e[1] = v[0];", ["v", "x"]
    )


@pytest.mark.parametrize("solver", ["auto", "cvode"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(
    ("model", "until", "y0"),
    [
        (pendulum, 600.0, {"omega": 1.5}),
        (lightly_damped, 600.0, {"x": 1.0}),
        (lambda: van_der_pol(1.0), 100.0, {"x": 2.0}),
        (lambda: van_der_pol(1e-2), 10.0, {"x": 2.0}),
        (lambda: lc_ladder(100), 200.0, {}),
    ],
    ids=["pendulum", "lightly damped", "van der pol", "relaxation", "ladder"],
)
def test_long_oscillations(model: "object", until: float, y0: dict[str, float], rtol: float, solver: str) -> None:
    assert callable(model)
    made = model()
    wanted = integrate(problem(made, until, y0, 1e-13, "runge-kutta")).y
    assert error_in_tolerances(integrate(problem(made, until, y0, rtol, solver)).y, wanted, rtol) <= MOST


def test_a_run_that_is_looked_at_early_goes_on_where_it_stands() -> None:
    """A damped swing pauses after an eighth, is found good and goes on: rows, books and counts are those of one run."""
    run = integrate(problem(lightly_damped(), 600.0, {"x": 1.0}, 1e-6, "runge-kutta"))
    assert run.reason == "asked for"
    assert len(run.t) == ROWS
    whole = integrate(problem(lightly_damped(), 20.0, {"x": 1.0}, 1e-6, "runge-kutta"))
    assert run.steps > 10 * whole.steps


def test_a_tolerance_that_will_not_do_is_given_up_after_an_eighth_of_the_run() -> None:
    """The pendulum at 1e-6 asks for a finer run: what was spent on the tolerance asked for is a share of it."""
    spent: list[tuple[float, float]] = []
    compared: list[bool] = []

    def watched(
        settings: SolverSettings, into: RunRows, *, until: float | None = None, after: Attempt | None = None
    ) -> Attempt:
        until = 80.0 if until is None else until
        early = settings.pause_at < until
        reached = settings.pause_at if early else until
        spent.append((settings.rtol, reached))
        if settings.rtol > 1e-6:
            compared.append(after is not None)
        into.done = int(np.searchsorted(into.t, reached, "right"))
        into.y[: into.done, 0] = np.cos(into.t[: into.done]) + 50.0 * settings.rtol * into.t[: into.done] / 80.0
        into.yp[: into.done] = 1.0
        status = jobs.PAUSED if early else jobs.FINISHED
        at = StatePoint(reached, into.y[into.done - 1], into.y[into.done - 1])
        effort = Effort(steps=int(reached * settings.rtol**-0.2))
        return Attempt(
            [StretchEnd(status, at, effort, np.zeros(4), turns=50)], SolverChoice("runge-kutta", "asked for")
        )

    rows = RunRows.at(np.linspace(0.0, 80.0, 81), 1)
    made = run_within_tolerance(oscillator(), watched, SolverSettings(1e-6, np.array([1e-9])), rows, "runge-kutta")
    assert "tolerance tightened" in made.choice.reason
    at_asked = [reached for rtol, reached in spent if rtol == 1e-6]
    assert at_asked == [10.0]
    assert compared[0] is False, "the run to compare with begins once"
    assert all(compared[1:]), "and goes on where it stood"
    assert np.max(np.abs(rows.y[:, 0] - np.cos(rows.t))) <= MOST * 1e-6


@pytest.mark.parametrize(("faster", "compared_until"), [(1.0, 40.0), (3.0, 80.0)])
def test_a_run_to_compare_with_ends_halfway_where_the_motion_goes_on_alike(
    faster: float, compared_until: float
) -> None:
    """Errors that grow steadily and stay small are known by then, unless variables change faster later."""
    compared: list[float] = []

    def attempt(
        settings: SolverSettings, into: RunRows, *, until: float | None = None, after: Attempt | None = None
    ) -> Attempt:
        reached = min(settings.pause_at, 80.0 if until is None else until)
        if settings.rtol > 1e-6:
            compared.append(reached)
        into.done = int(np.searchsorted(into.t, reached, "right"))
        into.y[: into.done, 0] = np.cos(into.t[: into.done]) + 50.0 * settings.rtol * into.t[: into.done] / 80.0
        into.yp[: into.done, 0] = np.where(into.t[: into.done] < 60.0, 1.0, faster)
        at = StatePoint(reached, into.y[into.done - 1], into.y[into.done - 1])
        status = jobs.PAUSED if settings.pause_at < 80.0 else jobs.FINISHED
        effort = Effort(steps=int(reached * settings.rtol**-0.2))
        return Attempt(
            [StretchEnd(status, at, effort, np.zeros(4), turns=50)], SolverChoice("runge-kutta", "asked for")
        )

    rows = RunRows.at(np.linspace(0.0, 80.0, 81), 1)
    run_within_tolerance(oscillator(), attempt, SolverSettings(1e-6, np.array([1e-9])), rows, "runge-kutta")
    assert compared[-1] == compared_until
    assert np.max(np.abs(rows.y[:, 0] - np.cos(rows.t))) <= MOST * 1e-6


def orbit() -> NumericModel:
    """A body round a centre: close passages magnify errors each time."""
    pull = "double r = y[0] * y[0] + y[1] * y[1], q = 1 / (r * sqrt(r));"
    return explicit_model(
        pull + "d[0] = y[2]; d[1] = y[3]; d[2] = -q * y[0]; d[3] = -q * y[1];",
        pull + "double s = 3 * (y[0] * v[0] + y[1] * v[1]) * q / r;"
        "e[0] = v[2]; e[1] = v[3]; e[2] = -q * v[0] + s * y[0]; e[3] = -q * v[1] + s * y[1];",
        ["x", "y", "u", "w"],
    )


def long_orbit(rtol: float, solver: str) -> Problem:
    """Twenty turns of eccentricity 0.9."""
    return problem(orbit(), 40.0 * np.pi, {"x": 0.1, "w": float(np.sqrt(19.0))}, rtol, solver)


def places_of_orbit(t: Array) -> Array:
    """By Kepler's equation."""
    angle = t.copy()
    for k in range(300):
        angle = (
            t + 0.9 * np.sin(angle)
            if k < 200
            else angle - (angle - 0.9 * np.sin(angle) - t) / (1 - 0.9 * np.cos(angle))
        )
    return np.column_stack([np.cos(angle) - 0.9, np.sqrt(0.19) * np.sin(angle)])


@pytest.mark.parametrize(
    ("rtol", "solver"),
    [
        (1e-4, "auto"),
        (1e-8, "auto"),
        (1e-10, "auto"),
        (1e-13, "auto"),
        (1e-6, "cvode"),
        (1e-7, "cvode"),
        (1e-9, "cvode"),
        (1e-8, "ida"),
        (1e-9, "ida"),
    ],
)
def test_an_orbit_keeps_its_tolerance_or_says_that_it_does_not(rtol: float, solver: str) -> None:
    run = integrate(long_orbit(rtol, solver))
    off = error_in_tolerances(run.y[:, :2], places_of_orbit(run.t), rtol)
    assert off <= MOST or (run.finding is not None and run.finding.code == "S127")
    assert (run.finding is None) == (rtol >= {"auto": 1e-10, "cvode": 1e-7, "ida": 1e-8}[solver])


def test_a_missed_tolerance_says_how_far_off_the_run_is_and_what_would_help() -> None:
    asked_cvode, automatic = integrate(long_orbit(1e-9, "cvode")).finding, integrate(long_orbit(1e-13, "auto")).finding
    assert asked_cvode is not None
    assert asked_cvode.severity == "warning"
    assert asked_cvode.what.startswith("the relative tolerance 1e-09 is not kept: errors add up to about ")
    assert "let 'auto' choose the solver" in (asked_cvode.fix or "")
    assert automatic is not None
    assert "auto" not in (automatic.fix or "")


@pytest.mark.parametrize("stopped_at", [0, 1])
def test_whoever_stops_a_run_to_compare_with_stops_the_whole(stopped_at: int) -> None:
    """The first comparison comes while the run is paused; the second one when a finer run has been finished."""
    compared: list[float] = []

    def attempt(
        settings: SolverSettings, into: RunRows, *, until: float | None = None, after: Attempt | None = None
    ) -> Attempt:
        reached = min(settings.pause_at, 80.0 if until is None else until)
        status = jobs.PAUSED if settings.pause_at < 80.0 else jobs.FINISHED
        if settings.rtol > 1e-6:
            status = jobs.CANCELLED if len(compared) == stopped_at else jobs.FINISHED
            compared.append(reached)
        into.done = int(np.searchsorted(into.t, reached, "right"))
        into.y[: into.done, 0] = np.cos(into.t[: into.done]) + 50.0 * settings.rtol * into.t[: into.done] / 80.0
        into.yp[: into.done] = 1.0
        at = StatePoint(reached, into.y[into.done - 1], into.y[into.done - 1])
        effort = Effort(steps=int(reached * settings.rtol**-0.2))
        return Attempt(
            [StretchEnd(status, at, effort, np.zeros(4), turns=50)], SolverChoice("runge-kutta", "asked for")
        )

    rows = RunRows.at(np.linspace(0.0, 80.0, 81), 1)
    made = run_within_tolerance(oscillator(), attempt, SolverSettings(1e-6, np.array([1e-9])), rows, "runge-kutta")
    assert made.ends[-1].status == (jobs.CANCELLED, jobs.FINISHED)[stopped_at]
    assert rows.done == (11, 81)[stopped_at]
    assert len(compared) == stopped_at + 1


def test_the_reason_tells_of_a_finer_tolerance() -> None:
    run = integrate(problem(oscillator(), 200 * np.pi, {"v": 1.0}, 1e-6, "cvode"))
    assert run.reason.startswith("asked for; tolerance tightened ")
    assert run.reason.endswith(" times, because errors add up over 100 oscillations")


def test_what_decays_is_run_once() -> None:
    run = integrate(problem(decay(), 20.0, {"x": 1.0}, 1e-6, "cvode"))
    assert run.reason == "asked for"


def test_a_forced_motion_that_forgets_its_errors_keeps_its_tolerance() -> None:
    forced = explicit_model("d[0] = 5 * (sin(t) - y[0]);", "e[0] = -5 * v[0];", ["x"])
    run = integrate(problem(forced, 100.0, {}, 1e-6, "cvode"))
    assert run.reason == "asked for"


def test_books_are_those_of_the_run_that_is_kept() -> None:
    run = integrate(problem(pendulum(), 600.0, {"omega": 1.5}, 1e-6, "cvode"))
    assert run.books is not None
    assert run.books.stored_end == pytest.approx(run.books.stored_start, rel=1e-8)


def test_a_swing_that_restarts_at_events_keeps_its_phase() -> None:
    watched = explicit_model(
        "d[0] = -y[1]; d[1] = y[0];",
        "e[0] = -v[1]; e[1] = v[0];",
        ["v", "F"],
        more="int tg_events(tg_context *c, double t, const double *y, const double *yp, double *g)"
        "{ g[0] = y[0]; return 0; }",
        events=[EventFunction("zero", "mass", 0, "restart")],
    )
    run = integrate(problem(watched, 300.0, {"v": 1.0}, 1e-6, "cvode"))
    assert len(run.events) == 95
    assert error_in_tolerances(run.y, np.column_stack([np.cos(run.t), np.sin(run.t)]), 1e-6) <= MOST


def test_a_finer_run_that_fails_gives_way_to_the_first_one() -> None:
    """The second tolerance cannot be met: what was found before is found again."""
    asked = SolverSettings(1e-6, np.array([1e-9]))
    rows = RunRows.at(np.array([0.0, 1.0]), 1)

    def attempt(
        settings: SolverSettings, into: RunRows, *, until: float | None = None, after: Attempt | None = None
    ) -> Attempt:
        finer = settings.rtol < asked.rtol
        into.done = 1 if finer else 2
        into.y[:] = 1.0 + settings.rtol * 1e3
        end = StatePoint(1.0, into.y[-1], into.y[-1])
        effort = Effort(steps=int(settings.rtol**-0.2))
        status = jobs.TINY_STEP if finer else jobs.FINISHED
        return Attempt([StretchEnd(status, end, effort, np.zeros(4), turns=50)], SolverChoice("cvode", "asked for"))

    made = run_within_tolerance(oscillator(), attempt, asked, rows, "cvode")
    assert made.ends[-1].status == jobs.FINISHED
    assert made.choice.reason == "asked for"
    assert rows.done == 2


def test_where_a_coarser_run_fails_a_finer_one_tells() -> None:
    asked = SolverSettings(1e-6, np.array([1e-9]))
    rows = RunRows.at(np.array([0.0, 1.0]), 1)

    def attempt(
        settings: SolverSettings, into: RunRows, *, until: float | None = None, after: Attempt | None = None
    ) -> Attempt:
        into.done = 2 if settings.rtol <= asked.rtol else 0
        into.y[:] = 1.0 + 50.0 * settings.rtol
        end = StretchEnd(jobs.FINISHED, StatePoint(1.0, into.y[-1], into.y[-1]), Effort(10), np.zeros(4), turns=50)
        return Attempt([end], SolverChoice("cvode", "asked for"))

    made = run_within_tolerance(oscillator(), attempt, asked, rows, "cvode")
    assert "tolerance tightened" in made.choice.reason
    assert rows.done == 2
    assert rows.y[-1, 0] - 1.0 <= MOST * asked.rtol


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_an_orbit_keeps_the_tolerance_from_its_first_rounds_on(rtol: float) -> None:
    """Of eccentricity 0.9: at each approach errors grow tenfold and more. Three rounds take 6 pi s."""
    e = 0.9
    model = read_model(
        "system: Orbit\nparameters: {m: 1 kg}\ndisplacements: {x: u, y: w}\nnetwork:\n"
        "  F_x: {force source: [frame, a], signal: f_x}\n  m: {mass: [a], velocity: u}\n"
        "  F_y: {force source: [frame, b], signal: f_y}\n  m_y: {mass: [b], m: m, velocity: w}\n"
        "signals:\n  f_x: -x/(x^2 + y^2)^1.5*1 N*m^2\n  f_y: -y/(x^2 + y^2)^1.5*1 N*m^2\n"
        f"experiment: {{until: {6 * np.pi} s, initial: {{x: {1 - e} m, w: {((1 + e) / (1 - e)) ** 0.5} m/s}}}}\n"
    )
    run = simulate(model, rtol=rtol, samples=300, progress=False)
    # Kepler's equation M = E - e sin(E), by Newton's method
    t = run.t
    E = t + e * np.sin(t)
    for _ in range(60):
        E = E - (E - e * np.sin(E) - t) / (1 - e * np.cos(E))
    x, y = np.cos(E) - e, (1 - e * e) ** 0.5 * np.sin(E)
    assert np.max(np.abs(run.values("x") - x)) <= 20 * rtol * np.max(np.abs(x))
    assert np.max(np.abs(run.values("y") - y)) <= 20 * rtol * np.max(np.abs(y))


def test_a_longest_step_does_not_hide_errors_of_a_finer_run() -> None:
    """A coarser run, held back by the longest step, would be better than its tolerance and show no errors."""
    model = read_model(
        "system: swept resonance\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 5 ohm}\n"
        "  L: {inductor: [b, c], L: 10 mH, current: i}\n  C: {capacitor: [c, gnd], C: 10 uF, voltage: v}\n"
        'experiment: {until: 0.1 s, inputs: {V: "chirp(1 V, 100 Hz, 2000 Hz, 0.1 s)"}}\n'
    )
    rtol = 1e-10
    exact = simulate(model, rtol=1e-13, solver="runge-kutta", samples=200).values("v")
    found = simulate(model, rtol=rtol, solver="cvode", samples=200).values("v")
    assert np.max(np.abs(found - exact)) <= 20 * rtol * np.max(np.abs(exact))


def test_a_stiff_swing_keeps_a_fine_tolerance_from_its_first_turns_on() -> None:
    """Each jump of a relaxation oscillation shifts the rest in time, by errors that a coarse tolerance would hide."""
    model = read_model(
        "system: relaxation\nnetwork:\n  L: {inductor: [a, gnd], L: 1 H, current: i}\n"
        "  C: {capacitor: [a, gnd], C: 1e-6 F, voltage: v, initial: 2 V}\n"
        '  N: {conductance: [a, gnd], law: "i = 1 A/V^3*v^3/3 - 1 S*v"}\nexperiment: {until: 2 s}\n'
    )
    rtol = 1e-12
    exact, found = (simulate(model, rtol=r, solver=s, samples=200) for r, s in ((1e-13, "ida"), (rtol, "auto")))
    assert found.solver == "cvode"
    for name in ("v", "i"):
        size = np.max(np.abs(exact.values(name)))
        assert np.max(np.abs(found.values(name) - exact.values(name))) <= 20 * rtol * size
