"""Whoever stops a run need not wait for a compiler, and what was finished is kept."""

import itertools
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulation.hand_written import decay
from tellegen.causality import CausalGraph
from tellegen.compiler import toolchain
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.context import BuiltSlopes, DeferredSlopes
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.cancellation import Cancellable
from tellegen.core.errors import SimulationError
from tellegen.experiments.setup import set_up
from tellegen.notations.loading import as_model
from tellegen.simulation.hybrid.integration import integrate_modes
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import Watch
from tellegen.simulation.trajectory import Trajectory

FOR_EVER = (sys.executable, "-c", "import time; time.sleep(600)")


def compiler_that_hangs() -> None:
    toolchain._run(FOR_EVER)


def derivation_without_end() -> None:
    for _ in itertools.count():
        pass


def run_stopped_in(work: Callable[[], None], *, from_model: int) -> Trajectory:
    """A ball whose modes are made, until that takes for ever; the run is stopped as soon as it has begun to."""
    ready, made, busy = set_up(as_model("bouncing_ball"), until=5), [0], threading.Event()

    def compiled(causal: CausalGraph) -> NumericModel:
        made[0] += 1
        if made[0] > from_model:
            busy.set()
            work()
        return compile_model(causal)

    problem = Problem(ready.numeric, 5.0, y0=dict(ready.start), inputs=dict(ready.inputs))
    return integrate_modes(ready.graph, problem, Watch(cancel=busy), compiled=compiled)


def test_a_mode_that_is_being_compiled() -> None:
    made = run_stopped_in(compiler_that_hangs, from_model=1)
    assert made.status == "cancelled"
    assert made.finding is not None
    assert made.finding.code == "S125"
    assert 0.0 < made.t[-1] < 5.0


def test_the_first_mode_that_is_being_compiled() -> None:
    with pytest.raises(SimulationError) as error:
        run_stopped_in(compiler_that_hangs, from_model=0)
    assert error.value.code == "S125"


def test_a_mode_that_is_being_derived() -> None:
    made = run_stopped_in(derivation_without_end, from_model=1)
    assert made.status == "cancelled"
    assert 0.0 < made.t[-1] < 5.0


@pytest.mark.parametrize("work", [compiler_that_hangs, derivation_without_end])
@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_slopes_that_are_being_made(work: Callable[[], None], solver: str) -> None:
    """Of long models they are compiled when a solver first asks for them."""
    ready, busy = set_up(as_model("five_bar"), until=1), threading.Event()

    def build() -> BuiltSlopes:
        busy.set()
        work()
        raise AssertionError("it has no end")

    assert ready.numeric.data is not None
    model = replace(ready.numeric, data=replace(ready.numeric.data, slopes=DeferredSlopes(build)))
    problem = Problem(model, 1.0, y0=dict(ready.start), inputs=dict(ready.inputs), solver=solver)
    made = integrate(problem, Watch(cancel=busy))
    assert made.status == "cancelled"
    assert made.t[-1] == 0.0


def test_the_first_mode_that_is_being_derived() -> None:
    with pytest.raises(SimulationError) as error:
        run_stopped_in(derivation_without_end, from_model=0)
    assert error.value.code == "S125"


def test_work_that_is_over_is_not_stopped() -> None:
    work = Cancellable()
    work.stop(KeyboardInterrupt)
    with work.here():
        pass
    work.stop(KeyboardInterrupt)


COMPILING = """
import os, signal, threading, time
from tellegen.compiler.toolchain import build

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
def interrupt():
    while not os.path.exists(os.environ["PID_FILE"]):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    build("int nothing;")
except KeyboardInterrupt:
    pid = int(open(os.environ["PID_FILE"]).read())
    for _ in range(500):  # who was killed is not gone at once
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            print("interrupted, and the compiler is gone")
            break
        time.sleep(0.01)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_the_compiler_and_what_it_has_started(tmp_path: Path) -> None:
    cc, pid = tmp_path / "cc", tmp_path / "pid"
    program = tmp_path / "child.py"
    program.write_text(
        f"import os, time\nopen('{pid}.new', 'w').write(str(os.getpid()))\nos.rename('{pid}.new', '{pid}')\ntime.sleep(600)\n"
    )
    asked = '[ "$1" = "--version" ] && echo slow && exit 0'
    cc.write_text(f'#!/bin/sh\n{asked}\n"{sys.executable}" "{program}"\n')
    cc.chmod(0o755)
    given = {"CC": str(cc), "TELLEGEN_CACHE": str(tmp_path / "cache"), "PID_FILE": str(pid), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILING], capture_output=True, text=True, check=False, timeout=120, env=given
    )
    assert done.stdout.strip() == "interrupted, and the compiler is gone", done.stderr


@pytest.mark.parametrize(
    ("solver", "until"),
    [
        ("runge-kutta", 10.0),
        ("cvode", 1e4),
        ("ida", 1e4),
        ("midpoint", 10.0),
        ("exponential", 10.0),
        ("exponential", 1e4),
    ],
)
def test_a_step_with_millions_of_rows_is_left_in_the_middle(solver: str, until: float) -> None:
    """What has come to rest takes few steps: nearly all rows lie inside the last ones."""
    rows, stop = 4_000_000, threading.Event()
    stop.set()
    problem = Problem(decay(linear=True), until, y0={"x": 1.0}, times=rows, solver=solver, books=False)
    problem = replace(problem, step=0.1) if solver == "midpoint" else problem
    made = integrate(problem, Watch(cancel=stop))
    assert made.status == "cancelled"
    assert 0 < len(made.t) < rows
    assert (made.t[1:] > made.t[:-1]).all()
    assert np.max(np.abs(made.y[:, 0] - np.exp(-2.0 * made.t))) < 1e-2
