"""How fast is the right-hand side of a chain of links, and how long does one of 50 links take to derive and to run?

A chain of equal links on pins under gravity, described by bodies and joints. The peer of the right-hand side is hand-written C:
recursions along the chain and Cholesky factors, compiled with the same flags and called in the same loop. Check: both give the same
accelerations; energy is conserved; the mass matrix is symmetric and positive.
"""

# ruff: noqa: PLC0415  NumPy and what checks the result are loaded where they are needed

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from benchmarks.harness import AbstractCase, Facts, Row, Target, measure, row
from tellegen.compiler.toolchain import FLAGS
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

SOURCE = Path(__file__).with_name("linkages.c")
CALLS, FEW_CALLS = 200_000, 2_000
LINKS = 6
RATIO = Target(2.0, "x hand-written C")
DERIVED = Target(10.0)


def chain_text(links: int) -> str:
    """The file of a chain."""
    lines = ["system: Chain of links", "parameters: {m: 1 kg, J: 0.02 kg*m^2, l: 0.5 m, h: 0.25 m}"]
    lines += ["mechanism:", "  gravity: 9.81 m/s^2", "  bodies:"]
    for k in range(1, links + 1):
        lines.append(f"    b{k}: {{mass: m, inertia: J, centre: [h, 0 m], points: {{tip: [l, 0 m]}}}}")
    lines.append("  joints:")
    for k in range(1, links + 1):
        held = "ground" if k == 1 else f"b{k - 1}.tip"
        lines.append(f"    j{k}: {{revolute: [{held}, b{k}]}}")
    return "\n".join([*lines, "experiment: {until: 1 s, rtol: 1e-6}"]) + "\n"


def chain(links: int) -> Model:
    """The model of a chain."""
    return read_model(chain_text(links))


class _Chain(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int), *((name, ctypes.c_double) for name in ("m", "J", "l", "h", "g"))]


def _built() -> Any:
    target = Path(tempfile.mkdtemp(prefix="tellegen-bench-")) / "linkages.so"
    subprocess.run(["cc", *FLAGS, str(SOURCE), "-o", str(target), "-lm"], check=True)
    library = ctypes.CDLL(str(target))
    library.called.restype = ctypes.c_double
    return library


@final
@dataclass(frozen=True)
class RightHandSides(AbstractCase):
    """Both right-hand sides, one after the other, several times: what counts is their ratio."""

    links: int

    def prepare(self) -> Any:
        from tellegen.experiments.setup import set_up

        return _built(), set_up(chain(self.links))

    def work(self, given: Any) -> Any:
        import numpy as np

        library, ready = given
        model, n = ready.numeric, self.links
        context = model.new_context(None, ready.inputs)
        ours = (ctypes.c_void_p(model.addresses["rhs"]), ctypes.addressof(context.struct))
        own = _Chain(n, 1.0, 0.02, 0.5, 0.25, 9.81)
        theirs = (library.chain_rhs, ctypes.addressof(own))
        best, found = [np.inf, np.inf], [np.zeros(2 * n), np.zeros(2 * n)]
        for _ in range(7):
            for which, (function, data) in enumerate((ours, theirs)):
                y = np.linspace(0.1, 1.0, 2 * n)
                began = time.perf_counter()
                library.called(function, ctypes.c_void_p(data), _at(y), _at(found[which]), 2 * n, ctypes.c_long(CALLS))
                best[which] = min(best[which], (time.perf_counter() - began) / CALLS)
        return best, found

    def check(self, given: Any, found: Any) -> Facts:
        import numpy as np

        (ours, theirs), (one, two) = found
        error = float(np.abs(one - two).max() / np.abs(two).max())
        return {"ok": error < 1e-9, "check": f"error {error:.0e}", "ours_ns": 1e9 * ours, "theirs_ns": 1e9 * theirs}


def _at(array: Any) -> Any:
    return ctypes.c_void_p(array.ctypes.data)


@final
@dataclass(frozen=True)
class DeriveChain(AbstractCase):
    """From the model to its equations."""

    links: int

    def prepare(self) -> Model:
        return chain(self.links)

    def work(self, given: Model) -> Any:
        from tellegen.workflow.deriving import derive

        return derive(given)

    def check(self, given: Model, found: Any) -> Facts:
        import numpy as np

        values = {name: float(value) for name, value in found.values().items()}
        values |= {name: 0.1 * k for k, name in enumerate((*found.states, *found.displacements))}
        for name, expression in found.where.items():
            values[name] = expression.evaluate(values)
        M = np.array([[entry.evaluate(values) for entry in line] for line in found.matrices["L"]])
        smallest = float(np.linalg.eigvalsh(M).min())
        ok = len(found.states) == self.links and smallest > 0 and np.allclose(M, M.T)
        return {"ok": bool(ok), "check": f"{len(found.states)} states, smallest eigenvalue of M {smallest:.1e}"}


@final
@dataclass(frozen=True)
class RunChain(AbstractCase):
    """From the model to one second of motion."""

    links: int

    def prepare(self) -> Model:
        return chain(self.links)

    def work(self, given: Model) -> Any:
        from tellegen.experiments.simulating import simulate

        return simulate(given)

    def check(self, given: Model, found: Any) -> Facts:
        residual = abs(found.trajectory.books.residual)
        return {"ok": residual < 1e-4, "check": f"{found.solver}, energy residual {residual:.0e}"}


@final
@dataclass(frozen=True)
class ResidualSide(AbstractCase):
    """The right-hand side with the forces of all joints solved for: its cost should grow with the links, not with their square.

    The check is a run of a tenth of a second.
    """

    links: int

    def prepare(self) -> Any:
        from tellegen.experiments.setup import set_up
        from tellegen.studies.conditioning import condition

        form = condition(chain(self.links), "residual")
        return _built(), form, set_up(form.model)

    def work(self, given: Any) -> Any:
        import numpy as np

        library, _, ready = given
        model = ready.numeric
        context = model.new_context(None, ready.inputs)
        rhs, data = ctypes.c_void_p(model.addresses["rhs"]), ctypes.c_void_p(ctypes.addressof(context.struct))
        best, out = np.inf, np.zeros(model.size)
        for _ in range(7):
            y = np.linspace(0.1, 1.0, model.size)
            began = time.perf_counter()
            library.called(rhs, data, _at(y), _at(out), model.size, ctypes.c_long(FEW_CALLS))
            best = min(best, (time.perf_counter() - began) / FEW_CALLS)
        return best

    def check(self, given: Any, found: Any) -> Facts:
        from tellegen.experiments.simulating import simulate

        run = simulate(given[1], until=0.1, solver="runge-kutta")
        residual = abs(run.energy.residual)
        words = f"{len(given[1].forces)} forces, {1e6 * found:.1f} us each, energy residual {residual:.0e}"
        return {"ok": residual < 1e-4, "check": words, "ours_ns": 1e9 * found}


def run(full: bool) -> Iterator[Row]:
    """The rows of the table."""
    outcome = measure(RightHandSides(LINKS))
    made = row("right-hand side, ours and hand-written", LINKS, outcome)
    if made.details:
        ratio = made.details["ours_ns"] / made.details["theirs_ns"]
        made = replace(made, ratio=f"{ratio:.2f} x", target=RATIO.judge(ratio))
    yield made
    for links in (10, 50) if full else (50,):
        yield row("derive", links, measure(DeriveChain(links), repeats=1), target=DERIVED)
        yield row("simulate 1 s", links, measure(RunChain(links), repeats=1))
    for links in (10, 20, 50, 100) if full else (10, 20):
        yield row("right-hand side, residual form", links, measure(ResidualSide(links), repeats=1))
