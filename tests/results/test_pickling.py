"""A run goes to another process whole: every variable, its books, its text, and rows at other times."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import tellegen as tg
from tellegen.notations.reading import read_model
from tellegen.results.run import Run

DELAYED = """
system: A delayed controller
parameters: {T: 0.3 s}
network:
  F: {force source: [frame, m], signal: "2 N - 3 N*s/m*late"}
  m: {mass: [m], m: 1 kg, velocity: v}
  b: {damper: [m, frame], b: 0.5 N*s/m}
signals:
  late: {delay: v, by: T}
experiment: {until: 3 s}
"""


@pytest.mark.parametrize("name", ["bouncing_ball", "sampled_position_control", "rlc", "delayed"])
def test_a_run_that_was_pickled_tells_the_same(name: str) -> None:
    run = tg.simulate(read_model(DELAYED) if name == "delayed" else tg.load(name), samples=40)
    again: Run = pickle.loads(pickle.dumps(run))
    assert str(again) == str(run)
    assert again.names == run.names
    for variable in run.names:
        assert np.array_equal(again.values(variable), run.values(variable), equal_nan=True), variable
    assert again.again is not None
    assert np.allclose(again.again(run.t[::4]).y, run.trajectory.y[::4], rtol=1e-4, atol=1e-6, equal_nan=True)


def test_another_process_reads_it() -> None:
    run = tg.simulate(tg.load("rlc"), samples=10)
    code = "import pickle, sys; run = pickle.load(sys.stdin.buffer); print(repr(run.values('V_C').tolist()))"
    told = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(run), capture_output=True, check=True)
    assert told.stdout.decode().strip() == repr(run.values("V_C").tolist())


def test_a_run_with_a_python_function_says_why_it_cannot_go() -> None:
    run = tg.simulate(tg.load("rlc"), inputs={"V": lambda t: t})
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        pickle.dumps(run)
