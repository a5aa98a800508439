"""How long do a rectifier and a stiff oscillator take, beside a circuit simulator and hand-written C, at the same error?

The bridge: three phases of 100 V at 50 Hz, six ideal diodes, 10 ohm with 10 mH, 0.1 s, beside ngspice with diodes of 20 mV. The
error is that of the current against the quadrature of the highest less the lowest phase, relative to its largest value. The ring
modulator of the IVP test set with its parasitic capacity of 2 pF, 0.1 ms, beside CVODE in C: steps and CPU seconds of the loosest
tolerance of 1e-2, 1e-3, ... at which errors of all variables stay below 1e-4. Ratio: CPU over ngspice, steps over C.
"""

# ruff: noqa: PLC0415  NumPy is loaded where it is needed

import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from benchmarks.harness import AbstractCase, Facts, Outcome, Row, measure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RUNS = 5
BRIDGE_GOAL = 2e-3
"""Diodes of 20 mV on 173 V are no more alike to ideal ones."""
RING_GOAL = 1e-4
BRIDGE_END, RING_END = 0.1, 1e-4
RING_SAMPLES = 51

BRIDGE = """system: Bridge of six diodes
parameters: {V: 100 V, f: 50 Hz}
network:
  V_a: {voltage source: [a, gnd], signal: V*sin(2*pi*f*t)}
  V_b: {voltage source: [b, gnd], signal: V*sin(2*pi*f*t - 2*pi/3)}
  V_c: {voltage source: [c, gnd], signal: V*sin(2*pi*f*t + 2*pi/3)}
  D_1: {diode: [a, p]}
  D_2: {diode: [b, p]}
  D_3: {diode: [c, p]}
  D_4: {diode: [m, a]}
  D_5: {diode: [m, b]}
  D_6: {diode: [m, c]}
  R: {resistor: [p, q], R: 10 ohm}
  L: {inductor: [q, m], L: 10 mH}
experiment: {until: 0.1 s}
"""
BRIDGE_CIRCUIT = """three phases
Va a 0 sin(0 100 50 0 0 0)
Vb b 0 sin(0 100 50 0 0 -120)
Vc c 0 sin(0 100 50 0 0 120)
D1 a p ideal
D2 b p ideal
D3 c p ideal
D4 m a ideal
D5 m b ideal
D6 m c ideal
R p q 10
L q m 10m ic=0
.model ideal d(is=1e-12 n=0.02)
.options reltol=RELTOL
.tran STEP 0.1 0 STEP uic
.control
set numdgt=12
run
linearize i(L)
wrdata FILE i(L)
quit 0
.endc
.end
"""

RING = {
    "C": 16e-9, "C_s": 2e-12, "C_p": 1e-8, "L_h": 4.45, "L_s1": 2e-3, "L_s2": 5e-4, "L_s3": 5e-4, "gamma": 40.67286402e-9,
    "delta": 17.7493332, "R": 25e3, "R_p": 50.0, "R_g1": 36.3, "R_g2": 17.3, "R_g3": 17.3, "R_i": 50.0, "R_c": 600.0,
}  # fmt: skip
RING_RATES = (
    "(y_8 - y_10/2 + y_11/2 + y_14 - y_1/R)/C",
    "(y_9 - y_12/2 + y_13/2 + y_15 - y_2/R)/C",
    "(y_10 - q_1 + q_4)/C_s",
    "(-y_11 + q_2 - q_3)/C_s",
    "(y_12 + q_1 - q_3)/C_s",
    "(-y_13 - q_2 + q_4)/C_s",
    "(-y_7/R_p + q_1 + q_2 - q_3 - q_4)/C_p",
    "-y_1/L_h",
    "-y_2/L_h",
    "(y_1/2 - y_3 - R_g2*y_10)/L_s2",
    "(-y_1/2 + y_4 - R_g3*y_11)/L_s3",
    "(y_2/2 - y_5 - R_g2*y_12)/L_s2",
    "(-y_2/2 + y_6 - R_g3*y_13)/L_s3",
    "(-y_1 + 0.5*sin(2000*pi*t) - (R_i + R_g1)*y_14)/L_s1",
    "(-y_2 - (R_c + R_g1)*y_15)/L_s1",
)
RING_DIODES = ("y_3 - y_5 - y_7 - u", "-y_4 + y_6 - y_7 - u", "y_4 + y_5 + y_7 + u", "-y_3 - y_6 + y_7 + u")


def ring_model() -> str:
    """The ring modulator as signals, all without units: the equations of the test set, word for word."""
    known = "\n".join(f"  {name}: {value!r}" for name, value in RING.items())
    rates = "\n".join(f"  y_{k}: {{integral: '({rate})*1 s^-1'}}" for k, rate in enumerate(RING_RATES, 1))
    diodes = "\n".join(f"  q_{k}: gamma*(exp(delta*({u})) - 1)" for k, u in enumerate(RING_DIODES, 1))
    timed = rates.replace("*t)", "*t/(1 s))")
    return f"""system: Ring modulator
parameters:
{known}
signals:
  u: 2*sin(20000*pi*t/(1 s))
{timed}
{diodes}
network:
  V: {{voltage source: [a, gnd], signal: y_2*1 V}}
  R_0: {{resistor: [a, gnd], R: 1 ohm}}
experiment: {{until: {RING_END!r} s}}
"""


def bridge_current(times: "Array") -> "Array":
    """L i' = (highest phase - lowest phase) - R i from rest: the current never stops after the start."""
    import numpy as np
    from scipy.integrate import solve_ivp

    def rate(t: float, i: "Array") -> "Array":
        phases = 100.0 * np.sin(2 * np.pi * (50.0 * t + np.array([0.0, -1 / 3, 1 / 3])))
        return np.asarray((phases.max() - phases.min() - 10.0 * i) / 0.01)

    # No step reaches across a corner of the highest or the lowest phase: they come 600 times a second, from 1/600 s on.
    found, start = np.zeros(len(times)), np.zeros(1)
    ends = np.append(np.arange(0.0, BRIDGE_END, 1 / 600), BRIDGE_END)
    for low, high in pairwise(ends.tolist()):
        inside = (times >= low) & (times <= high)
        part = solve_ivp(rate, (low, high), start, "DOP853", dense_output=True, rtol=1e-12, atol=1e-12)
        assert part.sol is not None
        found[inside] = part.sol(times[inside])[0]
        start = part.y[:, -1]
    return found


@final
@dataclass(frozen=True)
class Bridge(AbstractCase):
    """The rectifier, by one program."""

    program: str

    def work(self, given: object) -> dict[str, Any]:
        return _bridge_by_ngspice() if self.program == "ngspice" else _bridge_by_tellegen()

    def check(self, given: object, found: dict[str, Any]) -> Facts:
        return _judged(found, BRIDGE_GOAL, f"error {found['error']:.0e}")


def _bridge_by_tellegen() -> dict[str, Any]:
    import numpy as np

    import tellegen as tg
    from tellegen.notations.reading import read_model

    model, times = read_model(BRIDGE), np.linspace(0.0, BRIDGE_END, 1001)
    begun = time.process_time()
    tg.simulate(model, times=times, rtol=1e-4)
    setup = time.process_time() - begun

    def solve() -> "Array":
        return tg.simulate(model, times=times, rtol=1e-4).values("I_L")

    seconds = min(_timed(solve) for _ in range(RUNS))
    exact = bridge_current(times)
    return {"solve_s": seconds, "setup_s": setup, "error": float(np.max(np.abs(solve() - exact)) / np.max(exact))}


def _bridge_by_ngspice() -> dict[str, Any]:
    """The coarsest of some accuracies that meets the goal; user and system seconds of the whole program."""
    import numpy as np

    found: dict[str, Any] = {}
    for step, reltol in (("100u", "1e-3"), ("50u", "1e-3"), ("20u", "1e-4"), ("10u", "1e-4"), ("5u", "1e-5")):
        with tempfile.TemporaryDirectory(prefix="tellegen-bench-") as folder:
            out = Path(folder) / "current"
            text = BRIDGE_CIRCUIT.replace("RELTOL", reltol).replace("STEP", step).replace("FILE", str(out))
            circuit = Path(folder) / "bridge.cir"
            circuit.write_text(text, encoding="utf-8")
            seconds = min(_timed_program(["ngspice", "-b", str(circuit)]) for _ in range(RUNS))
            rows = np.loadtxt(out)
        exact = bridge_current(rows[:, 0])
        error = float(np.max(np.abs(rows[:, 1] - exact)) / np.max(exact))
        found = {"solve_s": seconds, "setup_s": 0.0, "error": error}
        if error < BRIDGE_GOAL:
            break
    return found


@final
@dataclass(frozen=True)
class Ring(AbstractCase):
    """The ring modulator, by one program."""

    program: str

    def work(self, given: object) -> dict[str, Any]:
        import numpy as np

        solve = _ring_in_c() if self.program == "hand-written C" else _ring_by_tellegen()
        exact, _ = _ring_in_c()(1e-10)
        size = np.max(np.abs(exact), axis=0)
        for digits in range(2, 10):
            found, steps = solve(10.0**-digits)
            error = float(np.max(np.abs(found - exact) / np.where(size > 0, size, 1.0)))
            if error < RING_GOAL:
                break
        seconds = _timed(lambda: solve(10.0**-digits))
        return {"solve_s": seconds, "error": error, "steps": steps, "tolerance": 10.0**-digits}

    def check(self, given: object, found: dict[str, Any]) -> Facts:
        text = f"error {found['error']:.0e} at tolerance {found['tolerance']:.0e}, {found['steps']} steps"
        return _judged(found, RING_GOAL, text)


def _ring_by_tellegen() -> "Callable[[float], tuple[Array, int]]":
    import numpy as np

    import tellegen as tg
    from tellegen.notations.reading import read_model

    model, times = read_model(ring_model()), np.linspace(0.0, RING_END, RING_SAMPLES)
    names = [f"y_{k}" for k in range(1, 16)]

    def solve(tolerance: float) -> "tuple[Array, int]":
        run = tg.simulate(model, times=times, rtol=tolerance, atol=1e-3 * tolerance, on_failure="return")
        if run.status != "finished":
            return np.full((len(times), 15), np.inf), 0
        return run.table(names), run.trajectory.steps

    return solve


def _ring_in_c() -> "Callable[[float], tuple[Array, int]]":
    import ctypes

    import numpy as np

    from benchmarks.solvers.hand_written import library

    constants, made = np.array(list(RING.values())), library()
    made.steps_taken.restype = ctypes.c_long

    def solve(tolerance: float) -> "tuple[Array, int]":
        out, weights = np.empty((RING_SAMPLES, 15)), np.full(15, 1e-3 * tolerance)
        at = [a.ctypes.data_as(ctypes.c_void_p) for a in (constants, weights, out)]
        made.ring_by_cvode(at[0], ctypes.c_double(RING_END), RING_SAMPLES, ctypes.c_double(tolerance), at[1], at[2])
        return out, int(made.steps_taken())

    return solve


def _judged(found: dict[str, Any], goal: float, text: str) -> Facts:
    return {"ok": found["error"] < goal, "check": text, **found}


def _timed(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _timed_program(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(full: bool) -> Iterator[Row]:
    """Both circuits by Tellegen and its peer."""
    if shutil.which("ngspice") is None:
        yield Row("bridge: ngspice", check="absent: 'ngspice' is not installed")
    programs = [name for name in ("ngspice", "Tellegen") if name == "Tellegen" or shutil.which(name)]
    yield from _rows("bridge", {name: measure(Bridge(name), repeats=1) for name in programs}, "solve_s")
    programs = ["hand-written C", "Tellegen"]
    yield from _rows("ring modulator", {name: measure(Ring(name), repeats=1) for name in programs}, "steps")


def _rows(title: str, outcomes: dict[str, Any], by: str) -> Iterator[Row]:
    peer = next(iter(outcomes.values()))
    for name, outcome in outcomes.items():
        if not isinstance(outcome, Outcome):
            yield Row(f"{title}: {name}", check=f"stopped after {outcome.limit:g} s")
            continue
        facts = outcome.facts
        share = (
            facts[by] / peer.facts[by] if isinstance(peer, Outcome) and peer.facts.get(by) and facts.get(by) else None
        )
        ratio = "" if share is None or not facts["ok"] else f"{share:.2g}"
        yield Row(
            f"{title}: {name}",
            cpu=facts.get("solve_s"),
            ratio=ratio,
            check=facts["check"],
            ok=facts["ok"],
            details=facts,
        )
