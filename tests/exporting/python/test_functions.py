"""Functions for NumPy, JAX and CasADi against the compiled model, and what is refused with which words."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tellegen as tg
from exporting.python import agreement
from tellegen import ExportError
from tellegen.core.shipped import example_names
from tellegen.graph import lower
from tellegen.graph.signals import Sampled

QUICK = [
    "corking_shaft",
    "crank_rod",
    "crank_rod_mechanism",
    "dc_motor_speed_control",
    "motor_heating",
    "pmsm",
    "solenoid",
]

RECTIFIER = """
system: A rectifier with a loop
parameters: {R: 10 ohm, C: 1 mF, I_s: 1e-9 A, V_t: 25 mV}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: R}
  D: {conductance: [b, c], law: "i = I_s*(exp(v/V_t) - 1)"}
  C: {capacitor: [c, gnd], C: C, voltage: v_C}
  load: {resistor: [c, gnd], R: 100 ohm}
experiment: {until: 40 ms, inputs: {V: "sine(0.9 V, 50 Hz)"}}
"""

TABLES = """
system: Tables of three kinds
parameters: {R: 10 ohm, L: 10 mH}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], law: {table: [[-2 A, -15 V], [0 A, 0 V], [1 A, 12 V], [3 A, 20 V]], interpolation: cubic}}
  S: {resistor: [b, c], law: {table: [[-3 A, -9 V], [0 A, 0 V], [2 A, 1 V]]}}
  L: {inductor: [c, gnd], L: L, current: I}
experiment: {until: 40 ms, inputs: {V: "table(0 s, 0 V, 10 ms, 10 V, 20 ms, 4 V)"}}
"""

STEEP = """
system: A tank behind a check valve
parameters: {Q_n: 2 L/min, P_n: 1 bar, C: 1e-9 m^3/Pa}
network:
  P: {pressure source: [a]}
  valve: {leak: [a, b], law: "Q = if(P > 0, Q_n*sqrt(P/P_n), 0)"}
  C: {accumulator: [b]}
experiment: {until: 1 s, inputs: {P: "1 bar*sin(10 rad/s*t)"}}
"""


def written(text: str, folder: Path) -> str:
    path = folder / "model.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def judged_by_jax(*names: str) -> str:
    """What is wrong, in words; nothing where all agree."""
    done = subprocess.run(
        [sys.executable, agreement.__file__, *names], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(names)
    return done.stdout.replace("[]\n", "")


@pytest.mark.parametrize("of", ["numpy", "casadi"])
@pytest.mark.parametrize("name", QUICK)
def test_rates_outputs_and_slopes_are_those_of_the_compiled_model(name: str, of: str) -> None:
    found = agreement.differences(name, of)
    assert max(found.values()) <= (agreement.DIGITS if of == "numpy" else agreement.SOLVED), found


def test_jax_gives_the_same(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    assert judged_by_jax("crank_rod", written(RECTIFIER, tmp_path), written(TABLES, tmp_path / "more")) == ""


@pytest.mark.parametrize("of", ["numpy", "casadi"])
@pytest.mark.parametrize("text", [RECTIFIER, TABLES, STEEP], ids=["search", "tables", "softened"])
def test_searches_and_tables_are_written_too(text: str, of: str, tmp_path: Path) -> None:
    found = agreement.differences(written(text, tmp_path), of)
    # A search ends where rounding does.
    assert max(found.values()) <= 1e-9, found


@pytest.mark.slow
@pytest.mark.parametrize("name", example_names())
def test_every_example_that_is_not_refused_is_the_same_in_all_libraries(name: str) -> None:
    model = tg.load(name)
    if lower(model).switching or any(isinstance(law, Sampled) for law in lower(model).signals):
        with pytest.raises(ExportError, match=r"X40[12]"):
            tg.functions(name)
        return
    for of in ("numpy", "casadi"):
        found = agreement.differences(name, of)
        assert max(found.values()) <= agreement.SOLVED, (of, found)
    assert judged_by_jax(name) == ""


def test_scipy_integrates_the_functions_to_our_run() -> None:
    made = tg.functions("crank_rod")
    found = solve_ivp(
        made.rates, (0.0, 0.5), made.start, args=(made.inputs, made.parameters), method="DOP853", rtol=1e-10, atol=1e-12
    )
    run = tg.simulate("crank_rod", until=0.5, rtol=1e-10, samples=10, progress=False)
    assert found.y[:, -1] == pytest.approx([run.values(name)[-1] for name in made.names.states], rel=1e-7)


def test_the_file_needs_nothing_of_this_package(tmp_path: Path) -> None:
    (path,) = tg.export_model("crank_rod", "python", tmp_path)
    assert path.name == "crank_rod_model.py"
    made = tg.functions("crank_rod")
    call = (
        "import sys; sys.modules['tellegen'] = None\n"
        "from crank_rod_model import *\n"
        "print(rates(0.1, START, INPUT_VALUES, PARAMETER_VALUES, numpy_functions()))"
    )
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True, cwd=tmp_path)
    numbers = done.stdout.replace("np.float64(", "").replace(")", "").strip("[]\n").split(", ")
    assert [float(x) for x in numbers] == made.rates(0.1, made.start, made.inputs, made.parameters).tolist()


def test_a_nonlinear_model_of_python_control_runs_to_our_run() -> None:
    control = pytest.importorskip("control")
    system = tg.functions("dc_motor_pump").to_control()
    assert system.state_labels == ["I_a", "omega_m", "P_0"]
    t = np.linspace(0.0, 0.05, 11)
    inputs = np.tile(tg.functions("dc_motor_pump").inputs[:, None], (1, len(t)))
    found = control.input_output_response(
        system, t, inputs, [0.0, 0.0, 0.0], solve_ivp_kwargs={"rtol": 1e-9, "atol": 1e-12}
    )
    run = tg.simulate("dc_motor_pump", until=0.05, rtol=1e-10, times=t, progress=False)
    assert found.states[0] == pytest.approx(run.values("I_a"), abs=1e-6 * np.max(run.values("I_a")))


def test_a_library_that_there_is_not_is_refused() -> None:
    with pytest.raises(ExportError, match="X407: 'of' is 'numppy'") as refused:
        tg.functions("rlc", of="numppy")  # type: ignore[arg-type]
    assert refused.value.finding.fix == "did you mean 'numpy'?"


def test_a_sampled_controller_is_refused_by_its_name() -> None:
    with pytest.raises(ExportError, match=r"X402: the signal '.*' is sampled"):
        tg.functions("sampled_position_control")


def test_without_casadi_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(ExportError, match="X001") as refused:
        tg.functions("rlc", of="casadi")
    assert refused.value.finding.fix == "pip install 'tellegen[casadi]'"
