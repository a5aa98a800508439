"""Functional mock-up units read: our own in both versions and kinds beside the models that they were made of."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.importing.imports import read_unit_file
from tellegen.notations.mockup_units import read_unit

pytestmark = pytest.mark.usefixtures("quick_units")

QUICK = [("crank_rod", "3"), ("bouncing_ball", "2")]
MORE = [
    "sampled_position_control",
    "buck_converter",
    "dc_motor_speed_control",
    "piston_cylinder",
    "motor_heating",
    "stick_slip",
    "five_bar",
]

Array = npt.NDArray[np.float64]

ROWS, SHARE = 200, 0.9871


def imported(folder: Path, name: str, version: str = "2", **options: str) -> Path:
    """A unit of an example with its courses inside, as a model file."""
    (unit,) = tg.export_model(name, "fmu", folder, fmi=version, sources="experiment", overwrite=True)
    path = folder / f"{name}.yaml"
    tg.import_model(unit, path, force=True, **options)
    return path


def largest_error(name: str, path: Path, rtol: float = 1e-10) -> float:
    """The largest difference of the outputs, of the largest value of each."""
    model = tg.read(path)
    assert model.experiment.until is not None
    # Rows at even shares of the whole would meet samples.
    end = SHARE * model.experiment.until.evaluate({})
    run = tg.simulate(model, until=end, samples=ROWS, rtol=rtol, progress=False)
    own = tg.simulate(name, times=run.t, rtol=1e-10, progress=False)
    shown = {n: n.replace("_omega", ".omega") if n not in own else n for n in model.signal_ports.outputs}
    assert shown
    assert all(known in own for known in shown.values())
    # At an exchange, a sample or an event either side may be shown.
    apart = np.ones(len(run.t), dtype=bool)
    for event in (*run.events, *own.events):
        apart &= np.abs(run.t - event.t) > 1e-9 * run.t[-1]
    return max(
        float(np.max(np.abs(run.values(n) - own.values(known))[apart])) / max(1e-3, float(np.ptp(own.values(known))))
        for n, known in shown.items()
    )


@pytest.mark.parametrize(("name", "version"), QUICK)
def test_a_unit_for_model_exchange_runs_as_its_model(name: str, version: str, tmp_path: Path) -> None:
    assert largest_error(name, imported(tmp_path, name, version)) < 1e-7


PRESSED = """
system: A mass that a force presses onto a stop
parameters: {m: 0.2 kg, b: 3 N*s/m, l: 2 mm}
displacements: {x: v}
network:
  F:    {force source: [frame, p]}
  m:    {mass: [p], velocity: v}
  b:    {damper: [p, frame]}
  stop: {hard stop: [p, frame], gap: l - x, restitution: 0.4}
experiment: {until: 0.2 s, inputs: {F: 4 N}, outputs: [v]}
"""


def test_bounces_that_pile_up_end_at_rest_in_a_unit(tmp_path: Path) -> None:
    (tmp_path / "pressed.yaml").write_text(PRESSED, encoding="utf-8")
    # Slow bounces move the mass by less than a digit of where it is.
    (unit,) = tg.export_model(tmp_path / "pressed.yaml", "fmu", tmp_path / "made", sources="experiment")
    tg.import_model(unit, tmp_path / "read.yaml")
    own, run = (tg.simulate(tmp_path / f"{name}.yaml", rtol=1e-9, samples=50) for name in ("pressed", "read"))
    assert own.final()["v"] == 0
    assert run.final()["unit_v"] == 0
    assert np.max(np.abs(own.values("x") - run.values("unit_x"))) < 1e-7 * 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("name", MORE)
def test_more_units_for_model_exchange_run_as_their_models(name: str, version: str, tmp_path: Path) -> None:
    assert largest_error(name, imported(tmp_path, name, version)) < 1e-5


@pytest.mark.parametrize("version", [pytest.param("2", marks=pytest.mark.slow), "3"])
def test_a_unit_that_steps_by_itself_shows_what_it_computed(version: str, tmp_path: Path) -> None:
    model = tg.read(imported(tmp_path, "crank_rod", version, every="10 ms"))
    # Rows between two exchanges: what is held is what was there at the last one.
    times = np.arange(1, 20) * 0.1 + 0.003
    run = tg.simulate(model, times=times, progress=False)
    own = tg.simulate("crank_rod", times=times - 0.003, rtol=1e-10, progress=False)
    assert np.max(np.abs(run.values("v_F") - own.values("v_F"))) < 1e-8 * np.max(np.abs(own.values("v_F")))


CHARGED = """
system: A capacitor charged to a share of the supply
parameters: {R: 2 ohm, C: 0.1 F, U: 3 V, share: 0.5}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  C: {capacitor: [b, gnd], voltage: v, initial: share*U}
experiment: {until: 1 s, inputs: {V: U}, outputs: [v]}
"""


def test_a_unit_decides_where_its_states_start_unless_the_experiment_does(tmp_path: Path) -> None:
    source = tmp_path / "charged.yaml"
    source.write_text(CHARGED, encoding="utf-8")
    (unit,) = tg.export_model(source, "fmu", tmp_path, name="charged", sources="experiment")
    # The description says of its state that it is calculated, by parameters.
    assert read_unit(unit).states[0].start is None
    path = tmp_path / "read.yaml"
    tg.import_model(unit, path)
    for given in ({}, {"share": 0.9}, {"U": 5.0}, {}):
        run = tg.simulate(path, parameters=given, samples=20, rtol=1e-10, progress=False)
        own = tg.simulate(source, parameters=given, samples=20, rtol=1e-10, progress=False)
        assert run.values("v")[0] == given.get("share", 0.5) * given.get("U", 3.0)
        assert np.max(np.abs(run.values("v") - own.values("v"))) < 1e-8
    begun = tg.simulate(path, initial={"unit_v": 1.0}, samples=20, progress=False)
    assert begun.values("v")[0] == 1.0


def test_a_model_with_a_unit_is_not_exported_and_nothing_of_it_is_run(crank: Path, tmp_path: Path) -> None:
    path = tmp_path / "crank.yaml"
    tg.import_model(crank, path)
    for tool in ("fmu", "c", "modelica", "simulink", "python"):
        with pytest.raises(tg.ExportError, match="X402: the signal 'unit' is a functional mock-up unit"):
            tg.export_model(path, tool, tmp_path / "out")


LOOP = """
system: Motor under a controller elsewhere
parameters: {R: 1 ohm}
parts:
  motor: {use: dc_motor.yaml, signals: {V: 20*e, tau: 0}, R: R}
signals:
  e: 30 - motor.omega
  V_L: motor.omega/100
network:
  V_s: {voltage source: [a, gnd], signal: V_L}
  R_s: {resistor: [a, b], R: R}
  C_s: {capacitor: [b, gnd], C: 1 mF, voltage: v}
experiment: {until: 50 ms}
"""


def test_a_unit_is_a_part_with_signals_and_parameters_of_the_whole(tmp_path: Path) -> None:
    (unit,) = tg.export_model("dc_motor", "fmu", tmp_path)
    tg.import_model(unit, tmp_path / "dc_motor.yaml")
    path = tmp_path / "loop.yaml"
    path.write_text(LOOP, encoding="utf-8")
    for R in (1.0, 2.0):
        run = tg.simulate(path, parameters={"R": R}, samples=50, rtol=1e-10, progress=False)
        # The same with the motor as it is described.
        motor = tg.load("dc_motor")
        whole = motor_under_control(motor, R, run.t)
        assert np.max(np.abs(run.values("motor.omega") - whole[0])) < 1e-6 * np.max(np.abs(whole[0]))
        assert np.max(np.abs(run.values("v") - whole[1])) < 1e-6 * np.max(np.abs(whole[1]))


def motor_under_control(motor: tg.Model, R: float, times: Array) -> tuple[Array, Array]:
    values = {name: p.expression.evaluate({}) for name, p in motor.parameters.items() if p.expression is not None}
    net = tg.Network("the same")
    for name, value in {**values, "R": R}.items():
        net.parameter(name, value)
    net.voltage_source("V", "a", "gnd", signal="20*(30 - omega)")
    net.inductor("L", "a", "c", current="I")
    net.resistor("R", "c", "e")
    net.dc_machine("motor", "e", "gnd", "shaft", "frame", K="K")
    net.inertia("J", "shaft", angular_velocity="omega")
    net.friction("b", "shaft", "frame")
    net.voltage_source("V_s", "x", "gnd", signal="omega/100")
    net.resistor("R_s", "x", "y", R=R)
    net.capacitor("C_s", "y", "gnd", C=1e-3, voltage="v")
    run = tg.simulate(net.model(), times=times, until=0.05, rtol=1e-10, progress=False)
    return run.values("omega"), run.values("v")


@pytest.mark.slow
def test_rows_behind_events_are_those_of_their_time(tmp_path: Path) -> None:
    path = imported(tmp_path, "bouncing_ball")
    model = tg.read(path)
    run = tg.simulate(model, until=2.0, samples=100, rtol=1e-10, progress=False)
    # Looked at again after the run, and once more from its beginning.
    again = tg.simulate(model, until=2.0, samples=100, rtol=1e-10, progress=False)
    assert np.array_equal(run.values("h"), again.values("h"))
    assert np.min(run.values("h")) > -1e-6


@pytest.mark.slow
def test_reading_checking_and_deriving_load_no_library(crank: Path, tmp_path: Path) -> None:
    path = tmp_path / "crank.yaml"
    tg.import_model(crank, path)
    program = f"""
import ctypes, sys
class Watched(ctypes.CDLL):
    def __init__(self, name, *more, **others):
        assert "tellegen-unit" not in str(name), "loaded"
        super().__init__(name, *more, **others)
ctypes.CDLL = Watched
import tellegen as tg
model = tg.read({str(path)!r})
tg.check(model); tg.derive(model)
print(tg.to_yaml(model))
try:
    tg.simulate(model, until=0.01)
except tg.TellegenError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert "inputs: {" in done.stdout
    assert "parameters: {" in done.stdout
    assert "loaded" in done.stdout


# What cannot be used


@pytest.fixture(scope="module")
def crank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A unit, made once."""
    (path,) = tg.export_model("crank_rod", "fmu", tmp_path_factory.mktemp("crank"))
    return path


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{fmu: other.fmu}", "cannot use the unit 'other.fmu'"),
        ("{fmu: ../crank_rod.fmu}", "outside the folder of the model"),
        ("{fmu: crank_rod.fmu, inputs: {taux: 1}}", "it has no input 'taux'"),
        ("{fmu: crank_rod.fmu, parameters: {mass: 1}}", "it has no parameter 'mass'"),
        ("{fmu: crank_rod.fmu, every: 0 s}", "is 0 s"),
    ],
)
def test_a_slip_in_a_line_is_told_with_its_place(line: str, said: str, crank: Path) -> None:
    path = crank.with_name("m.yaml")
    path.write_text(f"system: m\nsignals:\n  u: {line}\nexperiment: {{until: 1 s}}\n", encoding="utf-8")
    with pytest.raises(TellegenError) as refused:
        tg.read(path)
    assert said in str(refused.value)
    assert refused.value.finding.place is not None


def test_an_output_that_a_unit_has_not_is_told_with_the_nearest(crank: Path) -> None:
    path = crank.with_name("n.yaml")
    text = "system: m\nsignals:\n  u: {fmu: crank_rod.fmu}\n  w: {output: omeg, of: u}\n  x: {output: omega, of: w}\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TellegenError, match="did you mean 'omega'") as refused:
        tg.read(path)
    assert "brings no unit" in str(refused.value)


def test_a_unit_for_another_machine_is_refused_when_it_runs(crank: Path, tmp_path: Path) -> None:
    target, path = tmp_path / "bare.fmu", tmp_path / "bare.yaml"
    with zipfile.ZipFile(crank) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            if not info.filename.startswith("binaries/"):
                new.writestr(info, old.read(info))
    tg.import_model(target, path)
    model = tg.read(path)
    with pytest.raises(TellegenError, match="no library for this machine"):
        tg.simulate(model, until=0.1, progress=False)


@pytest.mark.slow
def test_a_unit_for_co_simulation_alone_is_asked_at_intervals(tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(
        "system: late\nsignals: {u: 'sine(1, 1 Hz)', y: {delay: u, by: 0.1 s}}\nexperiment: {until: 1 s, outputs: [y]}\n",
        encoding="utf-8",
    )
    (unit,) = tg.export_model(path, "fmu", tmp_path)
    found = read_unit_file(unit, "late_unit")
    assert [f.code for f in found.findings] == ["D325"]
    assert "every: 0.001 s" in found.text
