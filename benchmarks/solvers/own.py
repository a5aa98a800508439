"""Tellegen among its peers: from the file of a problem to its states at the sample times."""

# ruff: noqa: PLC0415  NumPy is loaded where it is needed

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from benchmarks.harness import written_file
from benchmarks.solvers.peers import AbstractPeer
from benchmarks.solvers.problems import SAMPLES, Problem
from tellegen.experiments.setup import set_up
from tellegen.notations.loading import read
from tellegen.simulation.hybrid.integration import integrate_graph
from tellegen.simulation.problem import Problem as Run

if TYPE_CHECKING:
    from benchmarks.solvers.problems import Array


class AbstractTellegen(AbstractPeer):
    """The model is read, compiled and solved with the solver that Tellegen chooses itself."""

    package = "tellegen"
    books: bool
    order: list[int]

    def set_up(self, problem: Problem) -> Callable[[float], "Array"]:
        import numpy as np

        ready = set_up(read(written_file(problem.text, ".yaml")))
        times = np.linspace(0.0, problem.until, SAMPLES)
        self.order = [ready.numeric.names.index(name) for name in problem.states]

        def solve(tolerance: float) -> "Array":
            asked = Run(
                ready.numeric,
                ready.until,
                y0=dict(ready.start),
                times=times,
                rtol=tolerance,
                inputs=dict(ready.inputs),
                books=self.books,
            )
            return integrate_graph(ready.graph, asked).y

        return solve

    def in_order(self, found: "Array") -> "Array":
        return found[:, self.order]


@final
class Tellegen(AbstractTellegen):
    """As `simulate` does it by default: with energy books, which no peer keeps."""

    name = "Tellegen with energy books"
    books = True


@final
class WithoutBooks(AbstractTellegen):
    """What the peers do: the states alone."""

    name = "Tellegen"
    books = False
