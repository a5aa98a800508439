"""What an importer may do beside running: parameters, starts, inputs, slopes, states that are saved and restored."""

import ctypes
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Slave

import tellegen as tg
from exporting.fmu.units import Unit, exported
from tellegen import ExportError

pytestmark = pytest.mark.usefixtures("quick_units")

LEVER = """
system: A charged capacitor on a course that breaks
parameters: {R: 2 ohm, C: 0.1 F, U: 3 V, late: 0.25 s, half: U/2}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  C: {capacitor: [b, gnd], voltage: V_C, initial: half}
experiment: {until: 1 s, inputs: {V: "step(U, late)"}}
"""


@contextmanager
def instance(unit: Unit, kind: Any = FMU2Slave) -> Iterator[Any]:
    described = unit.description
    identifier = (described.modelExchange if kind is FMU2Model else described.coSimulation).modelIdentifier
    made = kind(guid=described.guid, unzipDirectory=unit.folder, modelIdentifier=identifier, instanceName="one")
    made.instantiate()
    try:
        yield made
    finally:
        made.freeInstance()


def references(unit: Unit) -> dict[str, int]:
    return {v.name: v.valueReference for v in unit.description.modelVariables}


def begun(made: Any, until: float = 1.0) -> None:
    made.setupExperiment(startTime=0.0, stopTime=until)
    made.enterInitializationMode()
    made.exitInitializationMode()


def test_starts_and_break_times_follow_parameters(tmp_path: Path) -> None:
    path = tmp_path / "lever.yaml"
    path.write_text(LEVER, encoding="utf-8")
    unit = exported(path, tmp_path, sources="experiment")
    assert unit.problems() == []
    given = {"U": 5.0, "late": 0.6, "R": 1.0}
    result = unit.run(
        1.0, start_values=given, output=["V_C", "parameter.V" if "parameter.V" in references(unit) else "V_C"]
    )
    run = tg.simulate(path, parameters=given, rtol=1e-10, samples=200, progress=False)
    assert result["V_C"][0] == 2.5
    assert np.max(np.abs(result["V_C"] - run.values("V_C"))) < 5e-8
    variability = {v.name: v.variability for v in unit.description.modelVariables}
    assert (variability["U"], variability["late"], variability["R"]) == ("fixed", "fixed", "tunable")


def test_a_tunable_parameter_may_change_between_steps_and_a_fixed_one_may_not(tmp_path: Path) -> None:
    path = tmp_path / "lever.yaml"
    path.write_text(LEVER, encoding="utf-8")
    unit = exported(path, tmp_path)
    at = references(unit)
    with instance(unit) as made:
        begun(made)
        made.setReal([at["V"], at["R"]], [4.0, 1.0])
        made.doStep(0.0, 0.5)
        exact = 4.0 - 2.5 * np.exp(-0.5 / 0.1)
        assert made.getReal([at["V_C"]])[0] == pytest.approx(exact, rel=1e-8)
        made.setReal([at["R"]], [4.0])
        made.doStep(0.5, 0.5)
        assert made.getReal([at["V_C"]])[0] == pytest.approx(4.0 - (4.0 - exact) * np.exp(-0.5 / 0.4), rel=1e-8)
        with pytest.raises(Exception, match="fmi2SetReal"):
            made.setReal([at["U"]], [1.0])


def test_an_open_input_starts_at_what_its_course_gives_just_after_the_start(tmp_path: Path) -> None:
    unit = exported("dc_motor_pump", tmp_path)
    starts = {v.name: v.start for v in unit.description.modelVariables if v.causality == "input"}
    run = tg.simulate("dc_motor_pump", until=0.01, rtol=1e-10, samples=10, progress=False)
    assert {name: float(value) for name, value in starts.items()} == pytest.approx(
        {name: run.values(name)[-1] for name in starts}
    )
    assert set(unit.names("output")) >= {"I_a", "P_0"}  # conjugates of the sources


PRESS = """
system: A press whose flywheel and ram follow the crank behind a clutch
parameters: {r: 0.1 m, J_f: 0.3 kg*m^2, J: 0.1 kg*m^2, m: 2 kg, b: 0.3 N*m*s, k: 900 N/m, cap: 400 N*m}
displacements: {theta: omega}
network:
  drive:  {torque source: [frame, wheel]}
  J_f:    {inertia: [wheel], speed: omega_f}
  clutch: {clutch: [wheel, crank], start: engaged, tau_c: cap}
  J:      {inertia: [crank], speed: omega}
  b:      {friction: [crank, frame]}
  slider: {connection: [crank, frame, ram, frame], domains: [rotational, translational], relation: across_2 = r*cos(theta)*across_1}
  m:      {mass: [ram], velocity: v}
  k:      {spring: [ram, frame], force: F}
experiment: {until: 1 s, inputs: {drive: 2 N*m}, outputs: [v]}
"""


@pytest.mark.parametrize(
    "name",
    [
        "crank_rod",
        "dc_motor_pump",
        "press.yaml",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("buck_converter", "clutch_drive")),
    ],
)
def test_directional_derivatives_agree_with_differences(name: str, tmp_path: Path) -> None:
    (tmp_path / "press.yaml").write_text(PRESS, encoding="utf-8")
    unit = exported(tmp_path / name if name.endswith(".yaml") else name, tmp_path)
    at, described = references(unit), unit.description
    unknowns = [v.variable.name for v in (*described.derivatives, *described.outputs)]
    tunable = [v.name for v in described.modelVariables if v.causality == "parameter" and v.variability == "tunable"]
    knowns = [*unit.states, *unit.names("input"), *tunable]
    random = np.random.default_rng(3)
    with instance(unit, FMU2Model) as made:
        begun(made)
        states = [at[n] for n in unit.states]
        made.enterContinuousTimeMode()
        made.setReal(states, (0.3 + random.random(len(states))).tolist())
        # What follows others is what the mode tells it, and moves with them.
        made.setReal(states, made.getReal(states))
        for known in knowns:
            slopes = np.array(made.getDirectionalDerivative([at[n] for n in unknowns], [at[known]], [1.0]))
            (value,) = made.getReal([at[known]])
            h = 1e-3 * (abs(value) or 1.0)
            ends = []
            for moved in (value + h, value - h):
                made.setReal([at[known]], [moved])
                ends.append(np.array(made.getReal([at[n] for n in unknowns])))
            made.setReal([at[known]], [value])
            differences = (ends[0] - ends[1]) / (2 * h)
            assert np.max(np.abs(slopes - differences)) <= 1e-5 * max(np.max(np.abs(differences)), 1e-6), known


JOINED = """
system: A charged capacitor joined by a switch to a coil and a capacitor
parameters: {C_1: 1 mF, C_2: 3 mF, R: 10 ohm, L: 20 mH, N: 2}
network:
  C_1:  {capacitor: [a, gnd], voltage: v_1, initial: 10 V}
  turn: {transformer: [a, gnd, b, gnd], n: N}
  join: {switch: [b, c], control: "if(t > 1 ms, 1, -1)"}
  C_2:  {capacitor: [c, gnd], voltage: v_2}
  L:    {inductor: [c, gnd], current: i}
  R:    {resistor: [c, gnd]}
experiment: {until: 5 ms}
"""


def test_slopes_of_what_follows_others_in_a_mode_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "joined.yaml"
    path.write_text(JOINED, encoding="utf-8")
    unit = exported(path, tmp_path)
    at = references(unit)
    with instance(unit, FMU2Model) as made:
        begun(made)
        made.setTime(2e-3)
        made.enterEventMode()
        made.newDiscreteStates()
        made.enterContinuousTimeMode()
        v_1, v_2, i = made.getReal([at["v_1"], at["v_2"], at["i"]])
        C_1, C_2, R, N = 1e-3, 3e-3, 10.0, 2.0
        assert v_1 == pytest.approx(N * v_2, rel=1e-12)
        # Seen from the side of the coil the capacitors are one, and so are their rates.
        C = C_2 + N**2 * C_1
        rate = -(v_2 / R + i) / C
        leader, ratio, v = (
            ("v_1", N, v_1 / N)
            if abs(made.getDirectionalDerivative([at["v_2"]], [at["v_1"]], [1.0])[0])
            else ("v_2", 1.0, v_2)
        )
        expected = {
            leader: -1 / (R * C) / ratio,
            "i": -1 / C,
            "R": v / (R**2 * C),
            "C_2": -rate / C,
            "C_1": -rate * N**2 / C,
        }
        for known, slope in expected.items():
            found = made.getDirectionalDerivative([at["der(v_1)"], at["der(v_2)"]], [at[known]], [1.0])
            assert found == pytest.approx([N * slope, slope], rel=1e-12), known
        # A turn more changes what one voltage is beside the other, too.
        (turned,) = made.getDirectionalDerivative([at["v_2" if ratio == N else "v_1"]], [at["N"]], [1.0])
        assert turned == pytest.approx(-v_1 / N**2 if ratio == N else v_2, rel=1e-12)


def test_a_state_that_was_saved_and_serialised_is_gone_back_to(tmp_path: Path) -> None:
    unit = exported("sampled_position_control", tmp_path, sources="experiment")
    at = [references(unit)[n] for n in unit.states]
    with instance(unit) as made:
        begun(made)
        made.doStep(0.0, 0.123)
        saved = made.getFMUState()
        data = made.serializeFMUState(saved)
        made.doStep(0.123, 0.4)
        first = made.getReal(at)
        made.setFMUState(saved)
        made.doStep(0.123, 0.4)
        assert made.getReal(at) == first
        made.freeFMUState(saved)
        restored = made.deserializeFMUState(data)
        made.setFMUState(restored)
        made.doStep(0.123, 0.4)
        assert made.getReal(at) == first
        made.freeFMUState(restored)


def test_a_state_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    unit = exported("bouncing_ball", tmp_path, sources="experiment")
    at = [references(unit)[n] for n in unit.states]
    with instance(unit) as stepped, instance(unit, FMU2Model) as asked:
        begun(stepped)
        begun(asked)
        stepped.doStep(0.0, 0.3)
        for one, other in ((stepped, asked), (asked, stepped)):
            saved, before = one.getFMUState(), other.getReal(at)
            with pytest.raises(Exception, match="fmi2SetFMUstate"):
                other.setFMUState(saved)
            with pytest.raises(Exception, match="fmi2DeSerializeFMUstate"):
                other.deserializeFMUState(one.serializeFMUState(saved))
            assert other.getReal(at) == before
            one.setFMUState(saved)
            one.freeFMUState(saved)


def with_its_sum(data: bytes, first: int) -> bytes:
    """Bytes of a state, changed, under the sum over them (FNV-1a) that stands before them."""
    total = 14695981039346656037
    for byte in data[first:]:
        total = (total ^ byte) * 1099511628211 % 2**64
    return data[: first - 8] + total.to_bytes(8, "little") + data[first:]


@pytest.mark.parametrize("kind", [FMU2Slave, pytest.param(FMU3Slave, marks=pytest.mark.slow)])
def test_bytes_that_are_no_state_of_the_unit_are_refused(kind: Any, tmp_path: Path) -> None:
    unit = exported("bouncing_ball", tmp_path, "2" if kind is FMU2Slave else "3", sources="experiment")
    at = [references(unit)[n] for n in unit.states]
    with instance(unit, kind) as made:
        values = made.getReal if kind is FMU2Slave else made.getFloat64
        if kind is FMU2Slave:
            begun(made)
        else:
            made.enterInitializationMode()
            made.exitInitializationMode()
        made.doStep(0.0, 0.5)
        saved = made.getFMUState()
        data = made.serializeFMUState(saved)
        first = len(unit.description.guid or unit.description.instantiationToken) + 1 + 8
        assert with_its_sum(data, first) == data
        random = np.random.default_rng(5)
        wrong = [b"", data[:-1], data + b"\0", data[:first], bytes(len(data))]
        for place in random.integers(0, len(data), 40):
            wrong.append(data[:place] + bytes([data[place] ^ int(random.integers(1, 256))]) + data[place + 1 :])
        # The phase stands first among the values, the mode fifth: numbers that there are not, under a sum that fits.
        for word in (0, 4):
            for number in (-1, 99, 2**31 - 1, -(2**31)):
                place = first + 4 * word
                forged = data[:place] + number.to_bytes(4, "little", signed=True) + data[place + 4 :]
                wrong.append(with_its_sum(forged, first))
        for given in wrong:
            with pytest.raises(Exception, match=r"fmi2DeSerializeFMUstate|fmi3DeserializeFMUState"):
                made.deserializeFMUState(given)
        # The instance is what it was, and goes on.
        before = values(at)
        made.setFMUState(made.deserializeFMUState(data))
        assert values(at) == before
        made.doStep(0.5, 0.5)


def test_another_token_makes_no_instance(tmp_path: Path) -> None:
    unit = exported("rlc", tmp_path, "3")
    made = FMU3Slave(
        guid="{another}",
        unzipDirectory=unit.folder,
        modelIdentifier=unit.description.coSimulation.modelIdentifier,
        instanceName="one",
    )
    with pytest.raises(Exception, match="instantiate"):
        made.instantiate()


def test_what_is_not_a_number_discards_the_step_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lever.yaml"
    path.write_text(LEVER, encoding="utf-8")
    unit = exported(path, tmp_path)
    at = references(unit)
    with instance(unit) as made:
        said: list[str] = []
        begun(made)
        made.setReal([at["R"]], [0.0])
        with pytest.raises(Exception, match="fmi2DoStep"):
            made.doStep(0.0, 0.5)
        assert said == []


def test_only_functions_of_the_standard_are_exported(tmp_path: Path) -> None:
    unit = exported("rlc", tmp_path)
    (library,) = Path(unit.folder).glob("binaries/*/rlc.*")
    loaded = ctypes.CDLL(str(library))
    assert hasattr(loaded, "fmi2DoStep")
    for name in ("tg_rhs", "tg_runge_kutta", "tg_solve"):
        assert not hasattr(loaded, name)


def test_one_model_gives_one_file(tmp_path: Path) -> None:
    first, second = (exported("rlc", tmp_path / folder, again=True).path.read_bytes() for folder in "ab")
    assert first == second


LADDER = 100


def ladder(sections: int) -> str:
    lines = ["system: Ladder", "parameters: {R: 1 ohm, C: 1 uF}", "network:", "  V: {voltage source: [n0, gnd]}"]
    for k in range(1, sections + 1):
        lines.append(f"  R{k}: {{resistor: [n{k - 1}, n{k}], R: R}}")
        lines.append(f"  C{k}: {{capacitor: [n{k}, gnd], C: C, voltage: v{k}}}")
    return "\n".join([*lines, "experiment: {until: 1 s, inputs: {V: step(10 V)}}", ""])


def test_a_stiff_ladder_is_stepped_by_the_implicit_method(tmp_path: Path) -> None:
    path = tmp_path / "ladder.yaml"
    path.write_text(ladder(LADDER), encoding="utf-8")
    unit = exported(path, tmp_path)
    result = unit.run(0.02, rows=50, output=["v1", "v50", "v100"])
    run = tg.simulate(path, until=0.02, rtol=1e-11, samples=50, progress=False)
    for name in ("v1", "v50", "v100"):
        assert np.max(np.abs(result[name] - run.values(name))) < 1e-7


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"fmi": "4"}, "X407: 'fmi' is '4'"),
        ({"sources": "closed"}, "X407: 'sources' is 'closed'"),
        ({"variables": ["V_LL"]}, "X407: 'V_LL' is no variable of 'Series RLC circuit'"),
        ({"platforms": ["linux"]}, "X407: there is no platform 'linux'"),
        ({"stepsize": 1}, "X407: the export to 'fmu' has no option 'stepsize'"),
    ],
)
def test_options_that_are_not_known_are_refused(options: dict[str, Any], what: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=what):
        tg.export_model("rlc", "fmu", tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


FOLLOWS = """
system: A capacitor that follows its source
network:
  V: {voltage source: [a, gnd]}
  C: {capacitor: [a, gnd], C: 1 mF}
  R: {resistor: [a, b], R: 1 ohm}
  L: {inductor: [b, gnd], L: 1 mH}
experiment: {until: 1 s, inputs: {V: "sine(1 V, 1 Hz)"}}
"""


def test_an_input_whose_rate_matters_is_refused_and_its_course_is_not(tmp_path: Path) -> None:
    path = tmp_path / "follows.yaml"
    path.write_text(FOLLOWS, encoding="utf-8")
    with pytest.raises(ExportError, match="X410: 'C' follows the input 'V' and takes its rate") as refused:
        tg.export_model(path, "fmu", tmp_path)
    assert "experiment" in refused.value.finding.fix
    unit = exported(path, tmp_path, sources="experiment")
    result = unit.run(1.0, output=["I_V"])
    run = tg.simulate(path, rtol=1e-10, samples=200, progress=False)
    assert np.max(np.abs(result["I_V"] - run.values("I_V"))) < 1e-7


LATE = """
system: A speed loop with a late measurement
parameters: {J: 0.1 kg*m^2, b: 0.2 N*m*s, K: 1.2 N*m*s, late: 0.11 s, w: 10 rad/s}
network:
  drive: {torque source: [frame, shaft], signal: tau}
  J: {inertia: [shaft], speed: omega}
  b: {friction: [shaft, frame], b: b}
signals:
  seen: {delay: omega, by: late}
  tau: K*(w - seen)
experiment: {until: 2 s}
"""


def test_a_delayed_signal_leaves_co_simulation_alone_and_its_delay_is_a_parameter(tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(LATE, encoding="utf-8")
    unit = exported(path, tmp_path)
    assert unit.problems() == []
    assert unit.description.modelExchange is None
    assert not unit.description.coSimulation.canGetAndSetFMUstate
    for given in ({}, {"late": 0.05}):
        run = tg.simulate(path, parameters=given, rtol=1e-10, samples=200, progress=False)
        result = unit.run(2.0, start_values=given, output=["omega", "seen", "tau"])
        for name in ("omega", "seen", "tau"):
            assert np.max(np.abs(result[name] - run.values(name))) < 2e-8 * np.max(np.abs(run.values(name)))


def test_functions_of_the_present_have_no_delays(tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(LATE, encoding="utf-8")
    with pytest.raises(ExportError, match="X408: the signal 'seen' repeats another one later"):
        tg.functions(path)


def test_a_longer_course_is_more_data_and_no_more_code(tmp_path: Path) -> None:
    lines = []
    for points in (100, 200):
        path = tmp_path / f"course_{points}.yaml"
        course = [[k / points, (k * k) % 7 / 2] for k in range(points + 1)]
        text = LEVER.replace("[a, gnd]}", "[a, gnd], signal: m*(1 V)}").partition("experiment:")[0]
        path.write_text(f"{text}signals: {{m: {{table: {course}}}}}\nexperiment: {{until: 1 s}}\n", encoding="utf-8")
        unit = exported(path, tmp_path)
        with zipfile.ZipFile(unit.path) as archive:
            lines.append(len(archive.read(f"sources/{path.stem}.c").splitlines()))
    assert lines[0] == lines[1]
    result, run = unit.run(1.0, output=["V_C"]), tg.simulate(path, rtol=1e-10, samples=200, progress=False)
    assert np.max(np.abs(result["V_C"] - run.values("V_C"))) < 2e-8
