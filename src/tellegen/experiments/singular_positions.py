"""Runs of mechanisms that met a singular position of a loop: their message names the loop instead of a step size."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from tellegen.core.names import listing
from tellegen.description.model import Closure
from tellegen.experiments import rules
from tellegen.results.run import Run

MARGIN = ".margin"
"""The signal of a loop that tells how far it is from a singular position: the sine between the directions that it solves for."""

STUCK = 1e-6
"""No motion comes that close to a singular position, but one that ends in it."""

NEAR = 0.05
"""A run that failed with a margin below this failed because of the loop."""


def judged(run: Run, closures: Iterable[Closure]) -> Run:
    """The run, which failed where the margin of a loop changed its sign or vanished on the way; rows are kept."""
    met = min(_met(run, closures), default=None)
    if met is None:
        return run
    t, name, solves = met
    finding = rules.SINGULAR_POSITION.finding(
        f"at t = {t:.6g} s the loop '{name}' is in a singular position: it no longer decides {listing(solves)}",
        where=name,
        fix="stay away from this position, let another coordinate be independent, or make a joint of the loop elastic",
        members=(name, *solves),
    )
    return replace(run, trajectory=replace(run.trajectory, status="failed", finding=finding))


def _met(run: Run, closures: Iterable[Closure]) -> Iterator[tuple[float, str, tuple[str, ...]]]:
    for closure in closures:
        if closure.name + MARGIN not in run.described_signals or not run.t.size:
            continue
        margin = run.values(closure.name + MARGIN)
        turned = np.flatnonzero((np.sign(margin) != np.sign(margin[0])) | (np.abs(margin) < STUCK))
        if turned.size:
            yield float(run.t[turned[0]]), closure.name, closure.solves
        elif run.status == "failed" and abs(margin[-1]) < NEAR:
            yield float(run.t[-1]), closure.name, closure.solves
