"""One step in C against our own runs: on this machine in both kinds of numbers, and in single precision on a Cortex-M4 in qemu."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

import tellegen as tg
from conftest import SLOW
from exporting.firmware.boards import Step, shares_off, written
from support.amount import small_now
from support.evaluated import CONFLICTS
from support.examples import causal_example
from support.networks import Network
from support.strategies import networks
from tellegen.core.errors import CausalityError, CompilerError, EquationError, ExportError, SimulationError
from tellegen.core.shipped import example_names
from tellegen.expressions import number
from tellegen.expressions.functions import FUNCTIONS

Tool = Callable[[str], str]

EXAMPLES = [name for name in example_names() if not causal_example(name).graph.switching]
QUICK = ["cauer_low_pass", "crank_rod", "dc_motor_speed_control", "motor_heating", "rapson_slide", "solenoid"]
"""One of each method, with a loop, a limit and a dependent storage among them."""

STEPS, EVERY = 5000, 25
STEP = {"crank_rod_elastic": 2.5e-5, "piston_cylinder": 1e-5, "motor_heating": 4e-4}
"""Seconds, where the default is too long for the bound: a spring or a volume that is fast, a winding that is stiff."""
STEP |= {"corking_machine": 1e-5, "corking_machine_extended": 1e-5}

BOUND = {"double": 1e-6, "float": 1e-4}
ROUGH = {"transformer_tank": 1e-3, "corking_machine_extended": 5e-4}
"""In single precision: a drive of half a megahertz after a millisecond has a phase that is known to 24 bits of its turns; and
rates that are small differences of large torques."""


def seconds(step: Step) -> float:
    found = re.search(r"one step of (\S+) s", step.header)
    assert found is not None
    return float(found[1])


def off_by(name: Any, folder: Path, real: str, steps: int = STEPS, **options: Any) -> tuple[Step, dict[str, float]]:
    if name in STEP:
        options["step"] = STEP[name]
    step = written(name, folder, real=real, sources="experiment", **options)
    h = seconds(step)
    run = tg.simulate(
        name, until=h * steps * (1 + 1e-9), rtol=1e-10, times=np.arange(0, steps + 1, EVERY) * h, progress=False
    )
    return step, shares_off(run, step.on_host(steps + 1, EVERY))


def judged(name: str, folder: Path, real: str, steps: int = STEPS) -> None:
    step, off = off_by(name, folder, real, steps)
    assert off, "an example shows something"
    bound = ROUGH.get(name, 0.0) if real == "float" else 0.0
    # An encoder that rounds one count to the other side moves what follows from its difference.
    kept = {n: value for n, value in off.items() if name != "sampled_position_control" or n == "x" or real == "double"}
    worst = max(kept, key=kept.__getitem__)
    assert kept[worst] < max(bound, BOUND[real]), f"{name} by {step.method}: '{worst}' is {kept[worst]:.1e} off"
    assert ("double" in step.source) == (real == "double")


@pytest.mark.parametrize("name", small_now(QUICK, also=["cauer_low_pass"]))
def test_a_step_agrees_with_a_run(name: str, tmp_path: Path) -> None:
    judged(name, tmp_path, "float" if QUICK.index(name) % 2 else "double", steps=2000)


@pytest.mark.slow
@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_agrees_with_a_run(name: str, real: str, tmp_path: Path) -> None:
    judged(name, tmp_path, real)


DUFFING = """
system: A mass on a spring that hardens
parameters: {m: 1 kg, k: 4 N/m, h: 2 N/m^3, d: 0.05 N*s/m}
displacements: {x: v}
network:
  F: {force source: [frame, body]}
  m: {mass: [body], velocity: v}
  d: {damper: [body, frame]}
  s: {force source: [frame, body], signal: -k*x - h*x^3}
experiment: {until: 4 s, initial: {x: 1 m}, inputs: {F: "sine(0.5 N, 0.4 Hz)"}, outputs: [x]}
"""


@pytest.mark.parametrize(("method", "order"), [("rk4", 4.0), ("rosenbrock", 2.0), ("midpoint", 2.0)])
def test_halved_steps_show_the_order_of_a_method(method: str, order: float, tmp_path: Path) -> None:
    path = tmp_path / "duffing.yaml"
    path.write_text(DUFFING, encoding="utf-8")
    steps, found = (200, 400, 800), []
    run = tg.simulate(path, rtol=1e-12, times=np.linspace(0.0, 4.0, 21), progress=False)
    for n in steps:
        step = written(path, tmp_path / str(n), sources="experiment", method=method, step=4.0 / n)
        assert step.method == method
        found.append(np.max(np.abs(step.on_host(n + 1, n // 20)["x"] - run.values("x"))))
    assert abs(np.polyfit(np.log(steps), -np.log(found), 1)[0] - order) < 0.2, found


OPEN = "in.{field} = 1.0;"


@settings(max_examples=30 if SLOW else 3)
@given(networks())
def test_exact_steps_of_random_networks_are_exact_while_inputs_are_held(network: Network) -> None:
    model = Network(network.parts, valued=True).model()
    model = replace(model, experiment=replace(model.experiment, until=number(2)))
    with TemporaryDirectory() as folder:
        try:
            step = written(model, Path(folder), name="random", step=0.02)
            run = tg.simulate(
                model, until=2.0, times=np.arange(0, 101, 5) * 0.02, inputs=dict.fromkeys(model.inputs, 1.0), rtol=1e-11,
                progress=False,
            )  # fmt: skip
        except (CausalityError, CompilerError, EquationError, ExportError, SimulationError) as error:
            assume(error.code not in {*CONFLICTS, "N107", "N109", "X409", "X410", "S105", "S106"})
            raise
        assume(step.method == "exact")
        body = " ".join(OPEN.format(field=f) for f in step.fields("input") if f != "nothing")
        off = shares_off(run, step.on_host(101, 5, body))
    assert max(off.values(), default=0.0) < 1e-8, off


# The controller alone, and beside what it controls


def test_the_controller_alone_is_firmware_and_its_plant_is_in_the_loop(tmp_path: Path, system_tool: Tool) -> None:
    name, h, steps = "sampled_position_control", 1e-3, 1001
    controller = written(name, tmp_path, name="controller", controller=True, real="float")
    plant = written(name, tmp_path, name="plant", inputs=["F_c"], step=h, real="float")
    assert (seconds(controller), controller.fields("input"), controller.fields("output")) == (h, ["x"], ["F_c"])
    assert (plant.method, plant.fields("input")) == ("exact", ["F_c"])
    assert set(plant.fields("output")) == {"x", "v_c", "v_d"}
    # On the board both run in turn, as they would on two: the position is measured, the force is given.
    loop = """
    static plant_state world;
    static plant_output seen;
    static plant_input given;
    if (k == 0) plant_start(&world);
    plant_state before = world;
    if (plant_step(&before, &given, &seen)) return 4;
    in.x = seen.x;
    controller_state now = state;
    if (controller_step(&now, &in, &out)) return 5;
    given.F_c = out.F_c;
    if (plant_step(&world, &given, &seen)) return 6;
    """
    shown = controller.on_board(system_tool, steps, 10, loop, beside=[plant])
    assert controller.symbols(system_tool) | plant.symbols(system_tool) <= MATHEMATICS
    run = tg.simulate(name, until=1.0, rtol=1e-10, times=np.arange(0, steps, 10) * h, progress=False)
    # Rounding turns a count of the encoder now and then; its derivative moves by 120/(T_s + filter) N/m.
    count = 10e-6 * (2000 + 120 / 6e-3)
    assert np.max(np.abs(shown["F_c"] - run.values("F_c"))) < 2 * count
    assert np.ptp(shown["F_c"]) > 100 * count


MATHEMATICS = {f"{f.c}f" for f in FUNCTIONS.values()} | {"powf", "fmodf"}


@pytest.mark.parametrize("name", ["crank_rod", "sampled_position_control"])
def test_a_board_shows_what_this_machine_shows(name: str, tmp_path: Path, system_tool: Tool) -> None:
    step = written(name, tmp_path, sources="experiment", real="float")
    board, host = step.on_board(system_tool, 1001, 50), step.on_host(1001, 50)
    assert step.symbols(system_tool) <= MATHEMATICS
    kept = [n for n in host if n != "F_c"]  # which a count of the encoder moves
    for n in kept:
        assert np.max(np.abs(board[n] - host[n])) <= 1e-5 * np.max(np.abs(host[n])), n


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_compiles_for_a_board_in_single_precision(name: str, tmp_path: Path, system_tool: Tool) -> None:
    step = written(name, tmp_path, sources="experiment", real="float", step=STEP.get(name))
    step.on_board(system_tool, 20)
    # The compiler may call these two for copies of structs; nothing else of a library, and nothing in double.
    assert step.symbols(system_tool) <= MATHEMATICS | {"memcpy", "memset"}
