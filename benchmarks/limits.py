"""How long do 50 limits of a model of 200 states take, on the graph, in the equations and with numbers?

A chain of 100 masses, springs and dampers pulled at one end; every other spring becomes rigid, or every other mass vanishes. Check:
as many states are left as the limits leave, and the response to the force at a complex frequency is that of the full chain with
numbers in place of the limits (1e16 N/m, 1e-13 kg), folded from its end.
"""

# ruff: noqa: PLC0415  what checks the result is loaded after the clock has stopped

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Literal, final

from benchmarks.harness import AbstractCase, Facts, Row, Target, measure, row
from oracles.limits_in_equations import reduce_equations
from oracles.limits_in_matrices import limit_arrays, reduce_arrays
from tellegen.model.model import Model
from tellegen.notations.network.builder import Network
from tellegen.reduction import reduce_model
from tellegen.workflow.deriving import derive

MASS, STIFFNESS, DAMPING = 1.0, 1000.0, 0.1
POINT = 3.0 + 7.0j
TOLERANCE = 1e-6
"""Numbers that stand for infinity and zero leave some 1e-8."""

Way = Literal["graph", "equations", "numbers"]


def chain(count: int) -> Model:
    """Masses n1, n2, ... against dampers, springs between them and to the frame behind the last."""
    network = Network("chain")
    network.force_source("F", "frame", "n1")
    for k in range(1, count + 1):
        network.mass(f"m{k}", f"n{k}", m=MASS)
        network.damper(f"b{k}", f"n{k}", "frame", b=DAMPING)
        network.spring(f"k{k}", f"n{k}", f"n{k + 1}" if k < count else "frame", K=STIFFNESS)
    return network.model()


@final
@dataclass(frozen=True)
class ChainLimits(AbstractCase):
    """Limits of the springs or masses of a chain."""

    count: int
    way: Way
    letter: Literal["k", "m"]

    @property
    def limits(self) -> dict[str, float]:
        """Every other spring rigid, or every other mass without inertia."""
        return {f"{self.letter}{k}": inf if self.letter == "k" else 0.0 for k in range(2, self.count + 1, 2)}

    def prepare(self) -> Model:
        return chain(self.count)

    def work(self, given: Model) -> object:
        if self.way == "graph":
            return reduce_model(given, self.limits).equations
        if self.way == "equations":
            return reduce_equations(derive(given), self.limits).equations
        arrays = limit_arrays(derive(given), self.limits)
        return reduce_arrays(*(arrays[name] for name in ("L", "A", "B", "C", "D")))

    def check(self, given: Model, found: object) -> Facts:
        del given
        states, response = _response(found)
        expected = _full_response(self.count, self.letter)
        error = abs(response - expected) / abs(expected)
        left = 2 * self.count - self.count if self.letter == "k" else 2 * self.count - self.count // 2
        return {
            "ok": states == left and error < TOLERANCE,
            "check": f"{states} states, error {error:.0e}",
            "error": error,
        }


def _response(found: object) -> tuple[int, complex]:
    """How many states there are, and the velocity at the force at one frequency."""
    import numpy as np

    from oracles.limits_in_matrices import ReducedArrays
    from tellegen.equations.system import EquationSystem

    if isinstance(found, EquationSystem):
        values = found.values()
        for name, e in found.where.items():
            values[name] = e.evaluate(values)
        m = found.matrices
        L, A, B, C = (np.array([[e.evaluate(values) for e in line] for line in m[n]]) for n in ("L", "A", "B", "C"))
    else:
        assert isinstance(found, ReducedArrays), "a reduction gives equations or arrays"
        L, A, B, C = found.L, found.A, found.B, found.C
    return len(L), complex((C @ np.linalg.solve(POINT * L + A, B))[0, 0])


def _full_response(count: int, letter: str) -> complex:
    """The same of the full model with numbers for the limits, by nodal analysis of the chain from its end."""
    tiny = 1e-13
    force_per_speed = 0j
    for k in range(count, 0, -1):
        stiffness = STIFFNESS / tiny if letter == "k" and k % 2 == 0 else STIFFNESS
        mass = tiny if letter == "m" and k % 2 == 0 else MASS
        spring = stiffness / POINT  # force per speed difference
        behind = spring if k == count else spring * force_per_speed / (spring + force_per_speed)
        force_per_speed = mass * POINT + DAMPING + behind
    return 1 / force_per_speed


def run(full: bool) -> Iterator[Row]:
    """Chains of 40 and 200 states."""
    del full
    for count in (20, 100):
        cases: tuple[tuple[Way, Literal["k", "m"], float], ...] = (
            ("graph", "k", 10.0),
            ("graph", "m", 10.0),
            ("equations", "k", 10.0),
            ("equations", "m", 10.0),
            ("numbers", "k", 1.0),
            ("numbers", "m", 1.0),
        )
        for way, letter, seconds in cases:
            what = "rigid springs" if letter == "k" else "masses removed"
            target = Target(seconds) if count == 100 and way != "numbers" else None
            name = f"{count // 2} {what} of {2 * count} states, by {way}"
            yield row(name, 2 * count, measure(ChainLimits(count, way, letter)), target=target)
