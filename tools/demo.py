"""What `make demo` shows: a corking machine from its file to the report, through all its reduced models.

python tools/demo.py [MODEL] [REPORT.html]
"""

import sys
import time
from math import inf

import numpy as np

import tellegen as tg

MODEL = "corking_machine_extended"
REPORT = "report.html"
RTOL = 1e-9

NUTS = {"K_se": inf, "K_sr": inf}
BELTS = {"K_ce": inf, "K_cr": inf}
INERTIAS = {"J_2e": 0, "J_2r": 0, "m_a": 0, "J_a": 0}
MODELS = {
    "elastic nuts": {},
    "stiff nuts (the model of the paper)": NUTS,
    "stiff belts too": NUTS | BELTS,
    "static transmission": NUTS | BELTS | INERTIAS,
}

NEXT = """
Where to go next
  .venv/bin/tellegen examples                            the systems that come with Tellegen
  .venv/bin/tellegen derive dc_motor_pump --steps        equations, derived as a teacher would
  .venv/bin/tellegen reduce dc_motor_pump --limit J_m=0  a model without an inertia
  .venv/bin/tellegen draw crank_rod --as pog -o crank.svg
  .venv/bin/tellegen simulate buck_converter             a run through the modes of a switch and a diode
  .venv/bin/tellegen condition mobile_manipulator        one mechanism in six forms
  .venv/bin/tellegen report crank_rod_mechanism -o crank.html
                                                         a page like the one above, of any model, also of yours
  README.md                                              a two-minute tour
  .venv/bin/tellegen studio                              all of it in your browser, live: start here
"""


def main() -> int:
    """Derive, reduce, simulate, compare, report."""
    model = sys.argv[1] if len(sys.argv) > 1 else MODEL
    report = sys.argv[2] if len(sys.argv) > 2 else REPORT
    began = time.perf_counter()
    machine = tg.read(model) if model.endswith(".yaml") else tg.load(model)
    print(
        f"{machine.name}, {len(machine.elements)} elements\n{machine.about}\nOne cycle under PID speed control, by four models:\n"
    )
    runs = {name: _run(name, machine, limits) for name, limits in MODELS.items()}
    _errors(runs)
    _tracking(next(iter(runs.values())))
    print(f"\nwriting {report}:", end="", flush=True)
    tg.report(model, report, limits=[NUTS, BELTS, INERTIAS], force=True, progress=_tell)
    print(f"\nwritten to {report}: open it in a browser ({time.perf_counter() - began:.0f} s in all)")
    print(NEXT)
    return 0


def _tell(section: str) -> None:
    """The section of the report that is being made."""
    print(f" {section.lower()} ...", end="", flush=True)


def _run(name: str, machine: tg.Model, limits: dict[str, float]) -> tg.Run:
    """Derive one model, tell its states, and run it through the cycle."""
    reduced = tg.reduce(machine, limits) if limits else machine
    states = tg.derive(reduced).states
    run = tg.simulate(reduced, samples=1800, rtol=RTOL)
    words = ", ".join(f"{key} -> {'infinity' if value else 0}" for key, value in limits.items()) or "the file as it is"
    print(f"{name}: {words}")
    print(f"  {len(states)} states of the power equations: {', '.join(states)}")
    print(f"  {run.t[-1]:g} s of the machine's time, {run.trajectory.steps} steps, {run.trajectory.solve_s:.2f} s")
    print(f"  energy books: {run.energy.supplied:.2f} J supplied, residual {run.energy.residual:.0e}\n")
    return run


def _errors(runs: dict[str, tg.Run]) -> None:
    first, *others = runs
    print(f"largest difference to the model with {first}, over the cycle")
    for name in others:
        x, theta = (np.abs(runs[first].values(v) - runs[name].values(v)).max() for v in ("x", "theta"))
        print(f"  {name:38} x {x:.1e} m   theta {theta:.1e} rad")


def _tracking(run: tg.Run) -> None:
    x = 1000 * np.abs(run.values("x") - run.values("x_ref")).max()
    theta = np.degrees(np.abs(run.values("theta") - run.values("theta_ref")).max())
    print(f"largest distance from the references of the controllers: x {x:.2f} mm, theta {theta:.1f} degrees")


if __name__ == "__main__":
    sys.exit(main())
