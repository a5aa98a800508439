"""How long does a run take, here and elsewhere, at the same error?

P1, a crank and piston (nonlinear, not stiff); P2, a stiff chain of 20 masses with friction; P3, a lossless ladder of N coils and N
capacitors, over two travel times. Every program is given the loosest tolerance of 1e-5, 3e-6, 1e-6, ... at which its error stays
below 1e-6: the largest difference to the reference at 101 times, each state relative to its own largest value. CPU seconds are
those of the run alone, the best of at least five, of more where a run is short; set-up (reading, compiling, tracing) stands beside
it, with an empty cache. Ratio: CPU time over that of the quickest hand-written C, which keeps no energy books: compare it with
Tellegen without them. A peer that is not installed is said to be absent (`pip install tellegen[peers]`).
"""

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from benchmarks.harness import AbstractCase, Facts, Outcome, Row, Stopped, measure
from benchmarks.solvers import problems
from benchmarks.solvers.own import Tellegen, WithoutBooks
from benchmarks.solvers.peers import PEERS, AbstractPeer
from benchmarks.solvers.problems import Problem, error_of, reference

GOAL = 1e-6
RUNS = 5
LEAST_SECONDS = 0.3
"""Short runs are repeated for so long: caches and clocks need some of them to settle."""
LONGEST = 60.0
ALL: dict[str, AbstractPeer] = {peer.name: peer for peer in (WithoutBooks(), Tellegen(), *PEERS)}


def problem_of(name: str, size: int) -> Problem:
    """A problem by name."""
    return {"P1": lambda _: problems.crank(), "P2": problems.chain, "P3": problems.ladder}[name](size)


@final
@dataclass(frozen=True)
class RunOf(AbstractCase):
    """One program on one problem."""

    program: str
    problem: str
    size: int

    def work(self, given: object) -> dict[str, Any]:
        os.environ["TELLEGEN_CACHE"] = tempfile.mkdtemp(prefix="tellegen-bench-")
        problem, peer = problem_of(self.problem, self.size), ALL[self.program]
        begun = time.perf_counter()
        solve = peer.set_up(problem)
        setup = time.perf_counter() - begun
        exact = reference(problem)
        for half_digits in range(10, 26):
            tolerance = float(f"{10 ** (-half_digits / 2):.0e}")
            found = solve(tolerance)
            error = error_of(peer.in_order(found), exact)
            if error < GOAL:
                break
        seconds: list[float] = []
        while len(seconds) < RUNS or sum(seconds) < LEAST_SECONDS:
            cpu = time.process_time()
            solve(tolerance)
            seconds.append(time.process_time() - cpu)
        return {"setup_s": setup, "solve_s": min(seconds), "error": error, "tolerance": tolerance}

    def check(self, given: object, found: dict[str, Any]) -> Facts:
        text = (
            f"error {found['error']:.0e} at tolerance {found['tolerance']:.0e}, set-up {1e3 * found['setup_s']:.0f} ms"
        )
        return {"ok": found["error"] < GOAL, "check": text, **found}


def run(full: bool) -> Iterator[Row]:
    """P1, P2, P3 with 100 sections; with `full`, P3 with 1000 sections too."""
    for name, size in (("P1", 1), ("P2", 20), ("P3", 100), *([("P3", 1000)] if full else [])):
        problem = problem_of(name, size)
        outcomes = {
            label: measure(RunOf(label, name, size), repeats=1, limit=LONGEST)
            for label, peer in ALL.items()
            if peer.installed() and peer.takes(problem)
        }
        yield from _rows(problem, outcomes)
        for label, peer in ALL.items():
            if not peer.installed():
                yield Row(f"{problem.name}: {label}", problem.size, check=f"absent: '{peer.package}' is not installed")


def _rows(problem: Problem, outcomes: dict[str, Any]) -> Iterator[Row]:
    by_hand = [
        o.facts["solve_s"] for label, o in outcomes.items() if label.startswith("hand-written C") and _is_right(o)
    ]
    for label, outcome in outcomes.items():
        title = f"{problem.name}: {label}"
        if not isinstance(outcome, Outcome):
            yield Row(title, problem.size, check=f"stopped after {outcome.limit:g} s")
            continue
        facts = outcome.facts
        if not facts["ok"]:
            yield Row(
                title, problem.size, check=facts["check"], ok=not label.startswith("Tellegen") and "error" in facts
            )
            continue
        share = f"{facts['solve_s'] / min(by_hand):.2g}" if by_hand else ""
        yield Row(title, problem.size, cpu=facts["solve_s"], ratio=share, check=facts["check"], details=facts)


def _is_right(outcome: Outcome | Stopped) -> bool:
    return isinstance(outcome, Outcome) and bool(outcome.facts["ok"])
