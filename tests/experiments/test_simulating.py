"""`simulate` as a user calls it: what is taken from the experiment, what may be given instead, and what is refused."""

import math
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError, GraphError, SimulationError, TellegenError
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

RC = (
    "system: RC\nparameters: {R: 2 ohm, C: 0.5 F, tau: R*C}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
    "  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd], voltage: V_C}\n"
)


@pytest.fixture
def rc() -> Model:
    return read_model(RC)


def final(model: Model | str, name: str, *arguments: Any, **more: Any) -> float:
    return float(tg.simulate(model, *arguments, rtol=1e-9, samples=10, **more).values(name)[-1])


# Inputs


@pytest.mark.parametrize(
    "course",
    [
        10,
        10.0,
        "10 V",
        "10000 mV",
        "step(10 V)",
        "5*R",
        tg.step(10),
        tg.step("10 V", start="0 s"),
        tg.table([0, 1, 2], [10, 10, 10]),
        tg.table(list(range(200)), [10.0] * 200),
        tg.trapezoid(10, -1, 1, 5),
        lambda t: 10.0,
    ],
    ids=lambda given: getattr(given, "shape", type(given).__name__),
)
def test_all_ways_to_give_a_constant_are_one(rc: Model, course: Any) -> None:
    assert final(rc, "V_C", 1, inputs={"V": course}) == pytest.approx(10 * (1 - math.exp(-1)), rel=1e-7)


@pytest.mark.parametrize(
    ("course", "value"),
    [
        (tg.step(10, 0.5), 10.0),
        (tg.ramp(3, 0.2, 0.7), 1.5),
        (tg.sine(2, 0.25, offset=1), 3.0),
        (tg.pulse(4, 0.5, 1), 4.0),
        (tg.pulse(4, 0.1, 0.2, 0.8), 4.0),
        (tg.chirp(2, 0.25, 0.25, 10), 2.0),
        (tg.trapezoid(6, 0.5, 1, 1), 3.0),
        (tg.quintic(0, 8, 0, 2), 4.0),
        (tg.table([0, 2], [0, 5]), 2.5),
        ("3 V*t/(1 s)", 3.0),
    ],
    ids=lambda given: getattr(given, "shape", type(given).__name__),
)
def test_shapes_have_the_value_they_say_at_one_second(rc: Model, course: Any, value: float) -> None:
    assert final(rc, "V", 1.0, inputs={"V": course}) == pytest.approx(value, rel=1e-9)


def test_a_python_function_drives_a_model_like_the_formula(rc: Model) -> None:
    by_function = final(rc, "V_C", 1, inputs={"V": lambda t: 3 * math.sin(5 * t)})
    by_formula = final(rc, "V_C", 1, inputs={"V": "3 V*sin(5*t/(1 s))"})
    assert by_function == pytest.approx(by_formula, rel=1e-6)


class Pint:
    """What a quantity of pint looks like from outside."""

    def __init__(self, magnitude: float, unit: str) -> None:
        self.magnitude, self.unit = magnitude, unit

    def to(self, unit: str) -> "Pint":
        factor = {("mV", "V"): 1e-3, ("V", "V"): 1.0, ("min", "s"): 60.0}[self.unit, unit]
        return Pint(self.magnitude * factor, unit)


def test_quantities_of_pint_are_converted(rc: Model) -> None:
    assert final(rc, "V", 1, inputs={"V": Pint(2500, "mV")}) == pytest.approx(2.5)
    assert tg.simulate(rc, Pint(1, "min"), inputs={"V": 1}, samples=2).t[-1] == 60.0


def test_a_quantity_of_pint_of_another_unit_is_refused(rc: Model) -> None:
    with pytest.raises(SimulationError) as error:
        tg.simulate(rc, 1, inputs={"V": Pint(1, "kg")})
    assert error.value.code == "S303"


@pytest.mark.parametrize(
    ("course", "code", "words"),
    [
        ("step(10 A)", "S304", "the input V is in"),
        ("10 kg", "S303", "the input V is in kg"),
        ("sine(1 V, 50 rad/s)", "S304", "angular velocity"),
        ("3*Q", "S304", "the input V uses 'Q'"),
        (math.nan, "S303", "the input V is nan"),
        (None, "S303", "the input V is None"),
        (lambda t: "ten", "S304", "gives no number at t = 0"),
    ],
)
def test_courses_that_make_no_sense_are_refused(rc: Model, course: Any, code: str, words: str) -> None:
    with pytest.raises(TellegenError) as error:
        tg.simulate(rc, 1, inputs={"V": course})
    assert error.value.code == code
    assert words in error.value.what


def test_an_unreadable_text_is_refused(rc: Model) -> None:
    with pytest.raises(DescriptionError):
        tg.simulate(rc, 1, inputs={"V": "step(10 V"})


def test_an_unknown_input_is_refused_with_the_nearest(rc: Model) -> None:
    with pytest.raises(GraphError) as error:
        tg.simulate(rc, 1, inputs={"V_1": 1.0})
    assert "'V_1' is not an input" in error.value.what


def test_a_table_needs_as_many_values_as_times() -> None:
    with pytest.raises(SimulationError) as error:
        tg.table([0, 1], [1])
    assert error.value.code == "S304"


# Time, parameters, initial values


def test_the_experiment_says_what_is_not_given() -> None:
    run = tg.simulate("dc_motor_pump")
    assert (run.t[0], run.t[-1], len(run.t)) == (0.0, 0.5, 1001)
    assert run.values("V_a")[-1] == 24.0


def test_a_duration_has_a_unit(rc: Model) -> None:
    assert tg.simulate(rc, "20 ms", inputs={"V": 1}, samples=2).t.tolist() == [0.0, 0.01, 0.02]


def test_a_duration_is_needed(rc: Model) -> None:
    with pytest.raises(SimulationError) as error:
        tg.simulate(rc)
    assert error.value.code == "S301"
    assert error.value.what == "nothing says how long to run 'RC'"


def test_parameters_change_what_follows_from_them(rc: Model) -> None:
    run = tg.simulate(rc, 1, inputs={"V": "tau*1 V/(1 s)"}, parameters={"R": "4 ohm"}, samples=2)
    assert run.parameters["tau"] == 2.0
    assert run.values("V")[-1] == pytest.approx(2.0)


def test_a_changed_parameter_compiles_nothing_again(rc: Model) -> None:
    tg.simulate(rc, 1, inputs={"V": 1.0}, samples=2)
    run = tg.simulate(rc, 1, inputs={"V": 3.0}, parameters={"R": 3.0}, initial={"V_C": 0.5}, samples=2)
    assert run.trajectory.model.cached


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"r": 1.0}, "S302", "'r' is not a parameter of 'RC'"),
        ({"R": "1 F"}, "S303", "the parameter R is in"),
        ({"R": math.inf}, "S303", "the parameter R is inf"),
        ({"R": "many"}, "S303", "the parameter R uses 'many', which is no parameter"),
        ({"R": "log(0)*1 ohm"}, "E110", "the value of R cannot be computed: "),
        ({"R": "1 ohm*F/(C - C)"}, "D009", "division by zero"),
        ({"R": "1e308*1e308 ohm"}, "D124", "'1e308*1e308 ohm' holds a number beyond the range of a computer"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(rc: Model, given: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(TellegenError) as error:
        tg.simulate(rc, 1, inputs={"V": 1}, parameters=given)
    assert error.value.code.startswith(code)
    assert words in error.value.what


@pytest.mark.parametrize("given", ["inputs: {V: log(0)*1 V}", "inputs: {V: 1 V}, initial: {V_C: log(0)*1 V}"])
def test_values_of_an_experiment_that_are_no_numbers_are_refused(given: str) -> None:
    text = "system: RC\nparameters: {R: 2 ohm, C: 0.5 F}\nnetwork:\n  V: {voltage source: a}\n  R: {resistor: [a, b]}\n"
    with pytest.raises(DescriptionError, match="is not a real number") as error:
        read_model(f"{text}  C: {{capacitor: b}}\nexperiment: {{until: 1 s, {given}}}\n")
    assert error.value.code == "D124"
    assert error.value.finding.place is not None
    assert error.value.finding.place.line == 7


def test_a_parameter_that_follows_the_motion_cannot_be_set() -> None:
    with pytest.raises(SimulationError) as error:
        tg.simulate("crank_rod", parameters={"H": 1.0})
    assert error.value.code == "S302"
    assert error.value.finding.fix == "set what it is made of: 'L', 'R', 'd'"


def test_initial_values_may_be_given_as_contents(rc: Model) -> None:
    by_output = final(rc, "V_C", 1, inputs={"V": 0}, initial={"V_C": "3 V"})
    by_content = final(rc, "V_C", 1, inputs={"V": 0}, initial={"q_C": "1.5 C"})
    assert by_output == pytest.approx(3 * math.exp(-1), rel=1e-7)
    assert by_content == pytest.approx(by_output, rel=1e-12)


def test_the_content_of_a_nonlinear_storage_is_solved_for() -> None:
    model = read_model(
        "system: cubic\nparameters: {a: 1, b: 1}\nnetwork:\n  I: {current source: [gnd, a]}\n"
        "  C: {capacitor: [a, gnd], law: q = a*v + b*v^3, voltage: V_C}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
    )
    run = tg.simulate(model, 1, inputs={"I": 0}, initial={"q_C": 10.0}, samples=2)
    assert run.values("V_C")[0] == pytest.approx(2.0, rel=1e-12)


def test_an_unknown_initial_value_is_refused_with_the_nearest(rc: Model) -> None:
    with pytest.raises(SimulationError) as error:
        tg.simulate(rc, 1, inputs={"V": 1}, initial={"V_c": 1})
    assert error.value.code == "S302"
    assert error.value.finding.fix == "did you mean 'V_C'?"


def test_a_storage_that_follows_others_has_no_initial_value_of_its_own() -> None:
    # the piston moves with the crank: at theta = pi/2 its velocity is -R omega
    run = tg.simulate("crank_rod", 0.01, initial={"omega": 2.0, "v_p": -0.1}, samples=2)
    assert run.values("v_p")[0] == pytest.approx(-0.1)
    with pytest.raises(SimulationError) as error:
        tg.simulate("crank_rod", 0.01, initial={"omega": 2.0, "v_p": 0.3})
    assert error.value.code == "S305"
    assert error.value.what == "the initial value of v_p is 0.3, but 'J_m' makes it -0.1"


def test_a_run_may_start_in_steady_state() -> None:
    run = tg.simulate("dc_motor_pump", start="steady", inputs={"V_a": 24.0}, samples=4, rtol=1e-10)
    for name in run.state_names:
        values = run.values(name)
        assert values == pytest.approx(values[0], rel=1e-6)


@pytest.mark.parametrize("valve", ["R: {resistor: [a, gnd]}", "R: {resistor: [a, b]}\n  D: {diode: [b, gnd]}"])
def test_signals_that_are_delayed_were_always_what_they_are_in_steady_state(valve: str) -> None:
    """v = 2 - 0.5 v - 0.1 v, and a diode that conducts changes nothing; one of the delays delays the other."""
    model = read_model(
        "system: Delayed\nparameters: {C: 1 F, R: 1 ohm}\nnetwork:\n  I: {current source: [gnd, a], signal: u}\n"
        f"  C: {{capacitor: [a, gnd], voltage: v}}\n  {valve}\n"
        "signals:\n  d: {delay: v, by: 0.5 s}\n  e: {delay: d, by: 0.3 s}\n  u: 2 A - 0.5*d*1 A/V - 0.1*e*1 A/V\n"
    )
    run = tg.simulate(model, 3, start="steady", progress=False)
    for name in ("v", "d", "e"):
        assert run.values(name) == pytest.approx(np.full(len(run.t), 1.25), rel=1e-9)
    assert tg.simulate(model, 3, progress=False).values("v")[0] == 0.0


def test_controllers_that_sample_hold_what_they_hold_in_steady_state() -> None:
    """A sum of sampled errors is no state of the model: it stands at what holds 2 V against the divider."""
    model = read_model(
        "system: Sampled\nparameters: {C: 1 F, R: 1 ohm}\nnetwork:\n  V: {voltage source: [s, gnd], signal: w}\n"
        "  R: {resistor: [s, a]}\n  C: {capacitor: [a, gnd], voltage: v}\n  L: {resistor: [a, gnd], R: R}\n"
        "signals:\n  e: 2 V - v\n  p: {sample: e, every: 0.1 s}\n  w: {pid: p, K_p: 1, K_i: 1 Hz}\n"
    )
    run = tg.simulate(model, 3, start="steady", progress=False)
    assert run.values("v") == pytest.approx(np.full(len(run.t), 2.0), rel=1e-6)
    assert run.values("w") == pytest.approx(np.full(len(run.t), 4.0), rel=1e-6)


@pytest.mark.parametrize(("option", "word"), [("start", "stedy"), ("on_failure", "rise")])
def test_a_wrong_word_is_refused_with_the_nearest(rc: Model, option: str, word: str) -> None:
    with pytest.raises(SimulationError) as error:
        tg.simulate(rc, 1, inputs={"V": 1}, **{option: word})  # type: ignore[arg-type]
    assert error.value.code == "S306"
    assert error.value.finding.fix.startswith("did you mean")


def test_rows_stand_at_the_times_asked_for(rc: Model) -> None:
    times = [0.1, 0.25, 0.8]
    assert tg.simulate(rc, 1, inputs={"V": 1}, times=times).t.tolist() == times
    with pytest.raises(SimulationError):
        tg.simulate(rc, 1, inputs={"V": 1}, samples=0)


# Runs that end early

GROWING = (
    "system: runaway\nparameters: {c: 1}\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a], m: 1 kg, velocity: v}\n"
    "  d: {damper: [a, frame], law: F = -c*v^2}\n"
)


def test_a_run_that_fails_carries_what_was_finished() -> None:
    model = read_model(GROWING)  # v' = v^2 from v = 1 is 1/(1 - t): infinite at t = 1
    with pytest.raises(SimulationError) as error:
        tg.simulate(model, 2, inputs={"F": 0}, initial={"v": 1.0}, samples=200)
    run = error.value.run
    assert run.status == "failed"
    assert 0.9 < run.t[-1] < 1.01
    before = run.t < 0.9
    assert run.values("v")[before] == pytest.approx(1 / (1 - run.t[before]), rel=1e-4)
    assert "'v'" in error.value.what
    assert "t = " in error.value.what


def test_a_failure_may_be_returned_instead() -> None:
    run = tg.simulate(read_model(GROWING), 2, inputs={"F": 0}, initial={"v": 1.0}, samples=50, on_failure="return")
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code in str(run)


@pytest.mark.parametrize("solver", ["auto", "cvode"])
def test_a_python_function_of_a_state_is_no_input_of_a_linear_model(solver: str) -> None:
    """v' = (1 - v) - v: a source that a function of v drives makes the model one that is not known to be linear."""
    net = tg.Network("Fed back")
    net.voltage_source("V", "a", "gnd", signal="u")
    net.resistor("R", "a", "b", R="1 ohm")
    net.capacitor("C", "b", "gnd", C="1 F", voltage="v")
    net.signal("u", python=["v"], function=lambda v: 1.0 - v)
    run = tg.simulate(net, 3, rtol=1e-8, samples=50, solver=solver, progress=False)
    assert run.values("v") == pytest.approx(0.5 * (1.0 - np.exp(-2.0 * run.t)), abs=1e-6)


def test_what_a_python_function_raised_is_told() -> None:
    net = tg.Network("Fed back")
    net.voltage_source("V", "a", "gnd", signal="u")
    net.resistor("R", "a", "b", R="1 ohm")
    net.capacitor("C", "b", "gnd", C="1 F", voltage="v")
    net.signal("u", python=["t"], function=lambda t: {"early": 1.0}["early" if t < 1 else "late"])
    with pytest.raises(SimulationError) as raised:
        tg.simulate(net, 3, progress=False)
    assert raised.value.code == "S109"
    assert "the signal 'u' has no value there (its function raised KeyError: 'late')" in str(raised.value)
    assert raised.value.run is not None
    assert raised.value.run.t[-1] == pytest.approx(1.0, abs=0.01)


LONG = """
import os, signal, threading
import tellegen

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it

def interrupt(t, once=[]):
    if t > 0 and not once:  # the solver is at work
        once.append(threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)))
        once[0].start()

run = tellegen.simulate("crank_rod", 1e7, samples=1000000, rtol=1e-12, solver="runge-kutta", progress=interrupt)
assert run.status == "cancelled", run.status
assert 0 < run.t[-1] < 1e7
print("kept", len(run.t) > 1)
"""


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip() == "kept True", done.stderr


def test_progress_is_told_to_who_asks() -> None:
    told: list[float] = []
    tg.simulate("crank_rod", 200, rtol=1e-11, samples=10, progress=told.append, solver="cvode")
    assert told == sorted(told)
    assert all(0 <= t <= 200 for t in told)


def test_simulations_may_run_in_several_threads(rc: Model) -> None:
    found: dict[float, float] = {}

    def work(height: float) -> None:
        found[height] = final(rc, "V_C", 1, inputs={"V": height})

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {h: pytest.approx(h * (1 - math.exp(-1)), rel=1e-7) for h in found}
    assert len(found) == 4


def test_a_network_built_in_python_is_simulated() -> None:
    net = tg.Network("RL")
    net.voltage_source("V", "a", "gnd")
    net.resistor("R", "a", "b", R="10 ohm")
    net.inductor("L", "b", "gnd", L="2 H", current="I_L")
    run = tg.simulate(net, 1, inputs={"V": 5}, rtol=1e-10, samples=4)
    assert run.values("I_L") == pytest.approx(0.5 * (1 - np.exp(-5 * run.t)), abs=1e-9)


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"times": ["a"]}, "S303", "the times of the rows are not numbers"),
        ({"samples": "x"}, "S303", "samples is x"),
        ({"samples": 2.5}, "S303", "samples is 2.5"),
        ({"mode": {"S": "opened"}}, "G108", "'S' has no mode 'opened'"),
        ({"mode": {"L": "open"}}, "G108", "'L' has no modes"),
        ({"parameters": {"R": "nan"}}, "D124", "at <the parameter R>:1:1"),
    ],
)
def test_what_makes_no_sense_is_named(given: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(TellegenError) as raised:
        tg.simulate("buck_converter", 1e-5, progress=False, **given)
    assert raised.value.code == code
    assert words in str(raised.value)


@pytest.mark.parametrize("solver", ["auto", "runge-kutta", "cvode", "ida"])
def test_a_model_without_states_is_evaluated_by_any_solver(solver: str) -> None:
    model = read_model(
        "system: R\nparameters: {R: 2 ohm}\nnetwork:\n  V: {voltage source: [s, gnd]}\n  R: {resistor: [s, gnd]}\n"
        "experiment: {until: 1 s, inputs: {V: 3 V}}\n"
    )
    run = tg.simulate(model, solver=solver, progress=False)
    assert run.trajectory.solver == "runge-kutta"
    assert run.energy.dissipated == pytest.approx(4.5, rel=1e-9)


def test_a_variable_that_gave_way_to_a_chosen_name_is_measured_by_its_own() -> None:
    """The source V_C has the name that the voltage of C would have, so that one is V_C_."""
    model = read_model(
        "system: Names\nparameters: {R: 1 ohm, C: 1 F}\nnetwork:\n  V_C: {voltage source: [a, gnd]}\n  R: {resistor: [a, b]}\n"
        "  C: {capacitor: [b, gnd]}\nsignals: {y: 2*V_C_}\n"
        "experiment: {until: 1 s, inputs: {V_C: 0 V}, initial: {V_C_: 3 V}, outputs: [V_C_]}\n"
    )
    run = tg.simulate(model, progress=False)
    assert run.final()["y"] == pytest.approx(6.0 * math.exp(-1.0), rel=1e-6)


def test_a_network_built_in_python_reads_tables_where_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.csv").write_text("t,v\n0,0\n1,2\n2,1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    network = tg.Network("RC")
    network.voltage_source("V", "a", "gnd", signal="v_c")
    network.resistor("R", "a", "gnd", R="1 ohm")
    network.signal("v_c", table={"file": "run.csv", "time": "t", "column": "v"})
    assert tg.simulate(network.model(), until=1.5, progress=False).final()["v_c"] == pytest.approx(1.5)
    network.signal("w", table={"file": "../run.csv", "time": "t", "column": "v"})
    with pytest.raises(DescriptionError, match="outside the folder") as raised:
        network.model()
    assert raised.value.code == "D518"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rtol": "fine"}, "the relative tolerance uses 'fine', which has no value"),
        ({"rtol": "3 mV"}, "the relative tolerance is in V, not in a number"),
        ({"atol": {"v_C": "much"}}, "the absolute tolerance of v_C uses 'much', which has no value"),
    ],
)
def test_tolerances_that_are_no_numbers_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(SimulationError, match=words) as raised:
        tg.simulate("rlc", **given)
    assert raised.value.code == "S303"


def test_tolerances_may_be_texts_with_units() -> None:
    assert tg.simulate("rlc", rtol="1e-4", atol="1 uA", progress=False).status == "finished"
