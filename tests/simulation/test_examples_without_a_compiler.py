"""Whole models without a C compiler, their formulas in Python under the solvers in C, beside the same models compiled."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from simulation.test_bends import RIGID_CONTACT
from support.no_compiler import no_compiler
from tellegen.core.shipped import example_names
from tellegen.experiments.sensitivities import sensitivities
from tellegen.experiments.simulating import simulate
from tellegen.notations.reading import read_model
from tellegen.results.run import Run
from tellegen.simulation.trajectory import RunEvent, Trajectory

RTOL = 1e-6
ALLOWED = 20.0

SHORTENED = {"buck_converter": 1e-3, "corking_machine": 1.0, "corking_machine_extended": 1.0}
"""Examples that would take minutes, and how long they run here, in s."""

RECTIFIER = """
system: rectifier
network:
  V: {voltage source: [in, gnd], signal: "sine(10, 50)"}
  D: {diode: [in, out]}
  C: {capacitor: [out, gnd], C: 1 mF}
  R: {resistor: [out, gnd], R: 100}
experiment: {until: 25 ms}
"""
DELAYED_CONTROL = """
system: cart held by a controller that samples and is late
network:
  F: {force source: [cart], signal: late}
  m: {mass: [cart], velocity: v, m: 1}
  b: {damper: [cart], b: 0.2}
signals:
  reading: {sample: "1 - v", every: 0.1 s}
  late: {delay: 2 * reading, by: 0.25 s}
experiment: {until: 3 s}
"""
ALGEBRAIC = """
system: two laws in a loop
network:
  V: {voltage source: [a, gnd], signal: "sine(2, 1)"}
  R1: {resistor: [a, b], law: "u = 1 V*(i/(1 A) + (i/(1 A))^3)"}
  R2: {resistor: [b, c], law: "u = 1 V*(i/(2 A) + (i/(1 A))^5)"}
  C: {capacitor: [c, gnd], C: 0.1}
experiment: {until: 2 s}
"""
TEXTS = {
    "rectifier": RECTIFIER,
    "delayed control": DELAYED_CONTROL,
    "algebraic": ALGEBRAIC,
    "rigid contact": RIGID_CONTACT,
}


def made(name: str, until: float | None) -> Run:
    return simulate(read_model(TEXTS[name]) if name in TEXTS else name, until, rtol=RTOL)


def told(found: Trajectory) -> list[RunEvent]:
    # A law that begins on its bend may lie on either side of it, by rounding.
    return [event for event in found.events if event.t > 1e-12 * found.t[-1]]


def same(name: str, until: float | None = None) -> None:
    """A run in Python is the compiled one: rows, events with their times, books."""
    compiled = made(name, until).trajectory
    with no_compiler():
        run = made(name, until)
    found = run.trajectory
    assert found.reason.endswith("in Python, without a C compiler")
    assert found.status == compiled.status == "finished"
    changes, wanted = told(found), told(compiled)
    assert [(e.element, e.what) for e in changes] == [(e.element, e.what) for e in wanted]
    assert [e.t for e in changes] == pytest.approx([e.t for e in wanted], rel=ALLOWED * RTOL)
    times = np.array([e.t for e in changes])
    apart = np.abs(found.t[:, None] - times).min(axis=1, initial=np.inf) > 1e-9 * found.t[-1]
    at = np.flatnonzero(apart & np.isin(found.t, compiled.t))  # rows of events differ by rounding
    rows, others = found.y[at], compiled.y[np.searchsorted(compiled.t, found.t[at])]
    assert len(at) >= 0.9 * len(np.unique(compiled.t)) - 2 * len(times)
    if rows.size:
        size = RTOL * np.nanmax(np.abs(compiled.y), axis=0, initial=1e-30)
        assert np.nanmax(np.abs(rows - others) / size) <= ALLOWED
    assert found.books is not None
    assert compiled.books is not None
    assert abs(found.books.residual) <= max(1e-6, 2.0 * abs(compiled.books.residual))


@pytest.mark.parametrize(
    ("name", "until"),
    [
        ("rectifier", None),
        ("stick_slip", 2.5),
        ("bouncing_ball", 1.5),
        ("buck_converter", 5e-5),
        ("clutch_drive", None),
        ("delayed control", None),
        ("algebraic", None),
        ("rigid contact", 0.2),
        ("dc_motor_speed_control", 0.2),
        ("sampled_position_control", 0.1),
        ("rlc", None),
        ("crank_rod_mechanism", 0.2),
    ],
)
def test_models_of_all_kinds_run_the_same(name: str, until: float | None) -> None:
    same(name, until)


@pytest.mark.slow
@pytest.mark.parametrize("name", example_names())
def test_every_example_runs_the_same(name: str) -> None:
    same(name, SHORTENED.get(name))


def test_a_run_says_once_that_it_is_slow_and_what_to_install() -> None:
    with no_compiler():
        run = simulate("stick_slip", 1.0)
    said = [finding for finding in run.notices if finding.code in ("N101", "N102")]
    assert len(said) == 1, "though every mode is a model of its own"
    assert "slowly" in said[0].what


def test_sensitivities_and_equilibria_need_no_compiler() -> None:
    compiled = sensitivities("rlc", ["R"], outputs=["V_C"], until=2e-3)
    with no_compiler():
        found = sensitivities("rlc", ["R"], outputs=["V_C"], until=2e-3)
        rest = simulate("dc_motor", 0.1, start="steady")
    assert found["V_C"].to_numpy() == pytest.approx(compiled["V_C"].to_numpy(), rel=1e-4, abs=1e-9)
    assert all(np.ptp(rest.trajectory.y, axis=0) <= 1e-6 * np.abs(rest.trajectory.y).max(axis=0))


def test_large_models_run_too() -> None:
    nodes = list(pairwise(range(151)))
    lines = [f"  R{k}: {{resistor: [n{a}, n{b}], R: 1}}" for k, (a, b) in enumerate(nodes)]
    lines += [f"  C{k}: {{capacitor: [n{b}, gnd], C: 1}}" for k, (_, b) in enumerate(nodes)]
    text = "\n".join(["system: ladder", "network:", "  V: {voltage source: [n0, gnd], signal: 1}", *lines])
    model = read_model(text)
    compiled = simulate(model, 20.0, times=[10.0, 20.0]).trajectory
    with no_compiler():
        found = simulate(model, 20.0, times=[10.0, 20.0]).trajectory
    assert np.max(np.abs(found.y - compiled.y)) <= ALLOWED * RTOL


def test_a_checkout_without_any_compiler_names_the_command_that_helps(tmp_path: Path) -> None:
    # The package ziglang is a compiler too: hidden, wherever it is installed.
    program = "import sys; sys.modules['ziglang'] = None; from tellegen.cli.main import main; main()"
    command = [sys.executable, "-c", program, "simulate", "bouncing_ball", "--until", "0.6"]
    bare = {"PATH": "/nowhere", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "TELLEGEN_SOLVERS": "compile"}
    bare |= {k: v for k, v in os.environ.items() if k in ("PYTHONPATH", "SYSTEMROOT")}
    run = subprocess.run(command, env=bare, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "brings no compiled solvers, and no C compiler was found" in run.stderr
    assert "try: pip install ziglang" in run.stderr
