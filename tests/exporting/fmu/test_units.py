"""Every built-in example as a unit of FMI 2 and 3, judged by FMPy, the FMU Manipulation Toolbox and the FMI Library."""

from pathlib import Path

import fmpy
import numpy as np
import pytest
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

import tellegen as tg
from exporting.fmu.units import ROWS, Unit, exported, worst
from tellegen.core.shipped import example_names
from tellegen.graph import lower

pytestmark = pytest.mark.usefixtures("quick_units")

EXAMPLES = example_names()

QUICK = ["bouncing_ball", "crank_rod", "motor_heating", "sampled_position_control", "stick_slip"]


SHARE = 0.9871
"""Of the experiment: rows at even shares of the whole would meet jumps of courses and changes of mode, where a run shows what
is before them and a unit, which has made its step, what is behind."""


def judged(name: str, version: str, folder: Path) -> tuple[Unit, tg.Run]:
    unit = exported(name, folder, version, sources="experiment")
    assert unit.problems() == []
    end = SHARE * float(unit.description.defaultExperiment.stopTime)
    run = tg.simulate(name, until=end, rtol=1e-10, samples=ROWS, progress=False)
    shown = [n for n in unit.names("local", "output") if n in run]
    result = unit.run(float(run.t[-1]), output=shown)
    off, where = worst(run, result, shown)
    bound = 1e-6 if lower(tg.load(name)).switching else 1e-8
    assert off < bound, f"{name} in FMI {version}: '{where}' is {off:.1e} off"
    return unit, run


@pytest.mark.parametrize("name", QUICK)
def test_a_unit_is_valid_and_agrees_in_co_simulation(name: str, tmp_path: Path) -> None:
    judged(name, "3" if QUICK.index(name) % 2 else "2", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_valid_and_agrees_in_both_kinds(name: str, version: str, tmp_path: Path) -> None:
    unit, run = judged(name, version, tmp_path)
    # Without an interval an importer takes the one of the description, which is short enough for its own CVODE.
    result = fmpy.simulate_fmu(
        unit.folder,
        fmi_type="ModelExchange",
        stop_time=float(run.t[-1]),
        output=unit.states,
        relative_tolerance=1e-9,
        record_events=False,
        validate=False,
    )
    again = tg.simulate(name, rtol=1e-10, times=np.minimum(result["time"], run.t[-1]), progress=False)
    # A row at a sampling instant is the one before it there, and a quantiser magnifies errors.
    bound = 1e-2 if name == "sampled_position_control" else 1e-4
    off, where = worst(again, result, unit.states)
    assert off < bound, f"{name} in FMI {version}: '{where}' is {off:.1e} off in model exchange"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bouncing_ball", "buck_converter", "clutch_drive", "stick_slip"])
def test_states_after_changes_of_mode_agree_in_model_exchange(name: str, tmp_path: Path) -> None:
    unit = exported(name, tmp_path, sources="experiment")
    end = SHARE * float(unit.description.defaultExperiment.stopTime)
    result = unit.run(end, kind="ModelExchange", output=unit.states, relative_tolerance=1e-9, record_events=True)
    # Of two rows at one time the second is that after the event; one of a course or a sample is none of a mode.
    rows = np.flatnonzero(np.diff(result["time"]) == 0) + 1
    run = tg.simulate(name, until=end, rtol=1e-10, samples=10, progress=False)
    changes = np.array([event.t for event in run.events])
    nearest = changes[np.argmin(np.abs(changes[:, None] - result["time"][rows]), axis=0)]
    # Bounces that pile up come where the error of the importer puts them: those before are compared.
    met = np.abs(nearest - result["time"][rows]) < 1e-6 * end
    times, first = np.unique(nearest[met] + 1e-9 * end, return_index=True)
    assert len(times) >= min(len(changes), 19)
    again = tg.simulate(name, until=end, rtol=1e-10, times=times, progress=False)
    off, where = worst(again, result[rows[met][first]], unit.states, run)
    assert off < 1e-4, f"{name}: '{where}' is {off:.1e} off"


@pytest.mark.parametrize("name", ["crank_rod", pytest.param("five_bar", marks=pytest.mark.slow)])
def test_model_exchange_follows_the_tolerance_of_the_importer(name: str, tmp_path: Path) -> None:
    unit = exported(name, tmp_path, sources="experiment")
    run = tg.simulate(name, rtol=1e-10, samples=ROWS, progress=False)
    off = []
    for rtol in (1e-9, 1e-10):
        result = unit.run(float(run.t[-1]), kind="ModelExchange", output=unit.states, relative_tolerance=rtol)
        off.append(worst(run, result, unit.states)[0])
        if rtol == 1e-9:
            assert worst(run, result, unit.states, of_others=1.0)[0] < 3e-6
    # What is left is the error of FMPy's CVODE, which a closer tolerance takes away: of the speed of the slower crank 3.2e-6, then
    # 4.7e-7.
    assert off[0] < 4e-6
    assert off[1] < 0.4 * off[0]


def test_the_fmi_library_steps_a_unit_as_fmpy_does(tmp_path: Path) -> None:
    unit = exported("crank_rod", tmp_path)
    execution = CosimExecution.from_step_size(step_size=1_000_000)  # ns
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(unit.path), instance_name="crank"))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    execution.simulate_until(200_000_000)
    references = [v.valueReference for v in unit.description.modelVariables if v.name in unit.states]
    names = [v.name for v in unit.description.modelVariables if v.name in unit.states]
    found = observer.last_real_values(slave, references)
    run = tg.simulate("crank_rod", until=0.2, rtol=1e-10, samples=10, progress=False)
    for name, value in zip(names, found, strict=True):
        assert value == pytest.approx(run.values(name)[-1], rel=1e-7)


JOINED = """
system: Two capacitors joined by a switch
parameters: {C_1: 1 mF, C_2: 3 mF, R: 10 ohm, at: 20 ms}
network:
  C_1:  {capacitor: [a, gnd], voltage: v_1, initial: 10 V}
  join: {switch: [a, b], control: "if(t > at, 1, -1)"}
  C_2:  {capacitor: [b, gnd], voltage: v_2}
  R:    {resistor: [b, gnd]}
experiment: {until: 50 ms}
"""


def test_contents_are_handed_over_with_the_parameters_of_the_importer(tmp_path: Path) -> None:
    path = tmp_path / "joined.yaml"
    path.write_text(JOINED, encoding="utf-8")
    unit = exported(path, tmp_path)
    assert unit.problems() == []
    given = {"C_2": 1e-3, "at": 0.0301}
    run = tg.simulate(path, parameters=given, rtol=1e-10, samples=ROWS, progress=False)
    for kind, bound in (("CoSimulation", 1e-8), ("ModelExchange", 1e-6)):
        result = unit.run(0.05, kind=kind, start_values=given, output=["v_1", "v_2"], relative_tolerance=1e-9)
        assert worst(run, result, ["v_1", "v_2"])[0] < bound, kind
    # Charge is shared, half of it each: the second row at the time of the change is that after it.
    rows = unit.run(0.05, kind="ModelExchange", start_values=given, output=["v_1", "v_2"], record_events=True)
    (change,) = np.flatnonzero((np.diff(rows["time"]) == 0) & (np.diff(rows["v_2"]) > 1)) + 1
    assert rows["time"][change] == pytest.approx(given["at"], rel=1e-6)
    assert [*rows[change]][1:] == pytest.approx([5.0, 5.0], rel=1e-4)
    after = float(run.values("v_1")[run.t > given["at"]][0])
    assert after == pytest.approx(5.0, rel=0.02)


def test_too_many_modes_are_refused(tmp_path: Path) -> None:
    source = ["  I: {current source: [gnd, a]}", "  R: {resistor: [a, gnd], R: 1 ohm}"]
    lines = [f'  S_{k}: {{switch: [a, gnd], control: "t - {k} s"}}' for k in range(1, 8)]
    text = "\n".join(["system: Switches", "network:", *source, *lines])
    path = tmp_path / "switches.yaml"
    path.write_text(text + "\nexperiment: {until: 1 s, inputs: {I: 1 A}}\n", encoding="utf-8")
    with pytest.raises(tg.ExportError, match=r"X401: .* have 128 modes together, and at most 64 are exported"):
        tg.export_model(path, "fmu", tmp_path)
