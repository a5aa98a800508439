"""How long does it take to write the state space of a network of R, L, C and sources with symbols?

From a model to its equations: lower, assign_causality, derive_equations. Two kinds of random networks. In "independent" ones
capacitors lie in a tree and inductors outside of it, so that every storage has a state; "any" ones also have dependent storages.
Of several networks the slowest is shown. Check: the largest relative error of the transfer matrix at three complex frequencies,
with random values for the parameters, against nodal analysis in NumPy. Ratio: CPU time of SymPy's elimination over ours, on the
same network; SymPy is given the states and solves for their rates (`DomainMatrix`: sparse, over a field of rational
functions; `LUsolve`: plain expressions). It runs once, and at no size beyond the first that it does not end within 20 s.
"""

# ruff: noqa: PLC0415  SymPy is loaded only in the processes that time it.

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from benchmarks.harness import AbstractCase, Facts, Outcome, Phases, Row, Stopped, Target, measure, row, times
from oracles.nodal import POINTS, Branch, largest_error, nodal_response, state_space_response
from tellegen.causality import assign_causality
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.network.builder import Network

Family = Literal["independent", "any"]
Method = Literal["DomainMatrix", "LUsolve"]
TOLERANCE = 1e-9
"""Rounding gives some 1e-14, more where a random network is badly conditioned; a wrong sign or entry gives 1e-2 or more."""
PEER_LIMIT = 20.0
TARGETS = {50: Target(1.0), 100: Target(5.0)}


def random_network(family: Family, elements: int, seed: int) -> list[Branch]:
    """A connected network: a random tree with half of the elements, random chords, one source of each kind."""

    draw = random.Random(f"{family} {elements} {seed}")
    nodes = elements // 2
    in_tree, outside = ("RC", "RL") if family == "independent" else ("RLC", "RLC")
    branches = [Branch("V_1", "V", 1, 0)]
    for node in range(2, nodes):
        kind = draw.choice(in_tree)
        branches.append(Branch(f"{kind}_{len(branches)}", kind, node, draw.randrange(max(0, node - 6), node)))
    while len(branches) < elements - 1:
        ends = Counter(node for b in branches for node in (b.plus, b.minus))
        loose = [node for node in range(1, nodes - 1) if ends[node] == 1]
        plus = loose[0] if loose else draw.randrange(nodes)
        minus = draw.randrange(max(0, plus - 6), min(nodes, plus + 6))
        if plus != minus:
            kind = draw.choice(outside)
            branches.append(Branch(f"{kind}_{len(branches)}", kind, plus, minus))
    branches.append(Branch("I_1", "I", 0, nodes - 1))
    return branches


def random_values(branches: list[Branch]) -> dict[str, float]:
    """Values between 0.5 and 2."""
    draw = random.Random(len(branches))
    return {b.name: draw.uniform(0.5, 2) for b in branches if b.kind in "RLC"}


def as_model(branches: list[Branch]) -> Model:
    """The network as a model with symbols for values."""
    kinds = {"R": "resistor", "L": "inductor", "C": "capacitor", "V": "voltage source", "I": "current source"}
    net = Network("random network")
    for b in branches:
        net.add(kinds[b.kind], b.name, *(f"n{k}" if k else "gnd" for k in (b.plus, b.minus)))
    return net.model()


def compared(error: float, **facts: object) -> Facts:
    """The facts of a comparison."""
    return {"ok": error < TOLERANCE, "check": f"error {error:.0e}", "error": error, **facts}


@final
@dataclass(frozen=True)
class Derivation(AbstractCase):
    """Tellegen's equations of a random network."""

    family: Family
    elements: int
    seed: int

    def prepare(self) -> Model:
        return as_model(random_network(self.family, self.elements, self.seed))

    def work(self, given: Model) -> tuple[EquationSystem, Phases]:
        phases = Phases()
        graph = lower(given)
        phases.end("lower")
        causal = assign_causality(graph)
        phases.end("causality")
        system = derive_equations(causal)
        phases.end("derive")
        return system, phases

    def check(self, given: Model, found: tuple[EquationSystem, Phases]) -> Facts:

        system, phases = found
        branches = random_network(self.family, self.elements, self.seed)
        values = random_values(branches)
        error = max(
            largest_error(state_space_response(system, values, s), nodal_response(branches, values, s)) for s in POINTS
        )
        storages = sum(b.kind in "LC" for b in branches)
        return compared(
            error,
            states=len(system.states),
            dependent=storages - len(system.states),
            names=len(system.where),
            phases=phases.seconds,
        )


@final
@dataclass(frozen=True)
class SymPyElimination(AbstractCase):
    """SymPy solves the node equations for the rates of the states and for the outputs; storages stand for sources."""

    method: Method
    elements: int
    seed: int

    def prepare(self) -> Any:
        """The matrix of the node equations, and its right side by states and inputs."""
        import sympy

        branches = random_network("independent", self.elements, self.seed)
        nodes = max(max(b.plus, b.minus) for b in branches) + 1
        currents = [b for b in branches if b.kind in "VC"]
        known = [b for b in branches if b.kind in "CLVI"]
        size = nodes - 1 + len(currents)
        matrix, right = sympy.zeros(size, size), sympy.zeros(size, len(known))
        for b in branches:
            ends = [(k - 1, sign) for k, sign in ((b.plus, 1), (b.minus, -1)) if k]
            if b.kind == "R":
                for i, a in ends:
                    for j, c in ends:
                        matrix[i, j] += a * c / sympy.Symbol(b.name)
            elif b.kind in "VC":
                c = nodes - 1 + currents.index(b)
                for i, a in ends:
                    matrix[i, c] += a  # the current enters the branch at plus
                    matrix[c, i] += a
                right[c, known.index(b)] = 1
            else:
                for i, a in ends:
                    right[i, known.index(b)] -= a
        return matrix, right

    def work(self, given: Any) -> Any:
        import sympy

        matrix, right = given
        if self.method == "LUsolve":
            return matrix.LUsolve(right)
        from sympy.polys.matrices import DomainMatrix

        a, b = DomainMatrix.from_Matrix(matrix).to_field().unify(DomainMatrix.from_Matrix(right))
        return sympy.Matrix(a.to_sparse().hstack(b.to_sparse()).rref()[0].to_Matrix()[:, matrix.cols :])

    def check(self, given: Any, found: Any) -> Facts:
        import sympy

        branches = random_network("independent", self.elements, self.seed)
        values = random_values(branches)
        nodes = max(max(b.plus, b.minus) for b in branches) + 1
        numeric = sympy.lambdify([sympy.Symbol(name) for name in values], found, "numpy", cse=True)
        solution = np.vstack([np.zeros(found.cols), np.array(numeric(*values.values()), dtype=float)])
        known = [b for b in branches if b.kind in "CLVI"]
        currents = [b.name for b in branches if b.kind in "VC"]

        def told(b: Branch) -> Any:
            return solution[nodes + currents.index(b.name)] if b.kind in "VC" else solution[b.plus] - solution[b.minus]

        n = len(known) - 2
        order = [b for b in known if b.kind in "CL"] + [b for b in known if b.kind in "VI"]
        columns = [known.index(b) for b in order]
        rows = np.array([told(b)[columns] for b in order])
        L = np.diag([values[b.name] for b in order[:n]])
        error = 0.0
        for s in POINTS:
            states = np.linalg.solve(s * L - rows[:n, :n], rows[:n, n:])
            response = -(rows[n:, :n] @ states + rows[n:, n:])
            error = max(error, largest_error(response, nodal_response(branches, values, s)))
        return compared(error)


def run(full: bool) -> Iterator[Row]:
    """Sizes 20, 50, 100; with `full` more networks of each, and 200."""
    families: tuple[Family, ...] = ("independent", "any")
    peers: list[Method] = ["DomainMatrix", "LUsolve"]
    for size in (20, 50, 100, 200) if full else (20, 50, 100):
        seeds = range(5 if full else 2)
        same: Outcome | Stopped | None = None
        for family in families:
            found = [measure(Derivation(family, size, seed)) for seed in seeds]
            same = same or found[0]
            yield row(f"Tellegen, {family}", size, _slowest(found), target=TARGETS.get(size))
        for method in list(peers):
            peer = measure(SymPyElimination(method, size, 0), repeats=1, limit=PEER_LIMIT)
            if isinstance(peer, Stopped):
                peers.remove(method)
            yield row(f"SymPy {method}, first independent", size, peer, ratio=times(peer, same) if same else "")


def _slowest(found: list[Outcome | Stopped]) -> Outcome | Stopped:
    for outcome in found:
        if isinstance(outcome, Stopped) or not outcome.facts["ok"]:
            return outcome
    return max((o for o in found if isinstance(o, Outcome)), key=lambda o: o.cpu)
