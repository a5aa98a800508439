"""How do seconds and memory grow with the number of elements, from file to causality and to the descriptor form?

RC ladders as a netlist, as YAML with a line an element and as YAML with one repeated block; a chain of motor drives, whose
couplings need elimination (up to 500 couplings, loops among them are named too, with symbols: that size stands apart); `derive`
with numbers, which gives the descriptor form. Check: the number of states; for the descriptor form the admittance of the ladder at
complex frequencies, one so low that its end counts, against its continued fraction. The exponent p of seconds = a*size^p is fitted
to CPU seconds of all sizes; fixed costs of the small ones make it look a little better.
"""

# ruff: noqa: PLC0415  what checks the result is loaded after the clock has stopped

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from benchmarks.harness import (
    AbstractCase,
    Facts,
    Outcome,
    Phases,
    Row,
    Stopped,
    Target,
    exponent,
    measure,
    row,
    written_file,
)
from tellegen.causality import CausalGraph, assign_causality
from tellegen.equations.forms.descriptor import DescriptorSystem
from tellegen.graph import lower
from tellegen.notations.loading import read
from tellegen.workflow.deriving import derive

Written = Literal["netlist", "yaml", "repeat"]
TOLERANCE = 1e-9
"""Rounding gives some 1e-13: the ladder is passive and well scaled."""
SECONDS, MEMORY, GROWTH = Target(15.0), Target(1000.0, "MB"), Target(1.2, "")
LARGEST = 200_000


# Ladders: a voltage source, then sections of a resistor and a capacitor with values that differ from section to section


def resistance(k: int) -> float:
    """The resistance of section k, from 1."""
    return 1 + k % 7


def capacitance(k: int) -> float:
    """The capacitance of section k, from 1."""
    return 0.5 + k % 5


def ladder(written: Written, sections: int) -> str:
    """The file of a ladder."""
    if written == "repeat":
        return (
            f'system: RC ladder\nparameters: {{N: {sections}}}\nnetwork:\n  V: {{voltage source: ["n[0]", gnd]}}\n'
            '  ladder:\n    repeat: {k: 1..N}\n    network:\n      "R[k]": {resistor: ["n[k-1]", "n[k]"], R: 1 ohm/k}\n'
            '      "C[k]": {capacitor: ["n[k]", gnd], C: 1 F/k^2}\n'
        )
    if written == "netlist":
        lines = ["eV, n0, 0, En, V"]
        for k in range(1, sections + 1):
            lines.append(f"eR, n{k - 1}, n{k}, Kn, R_{k}={resistance(k):g}")
            lines.append(f"eC, n{k}, 0, Kn, C_{k}={capacitance(k):g}")
    else:
        lines = ["system: RC ladder", "network:", "  V: {voltage source: [n0, gnd]}"]
        for k in range(1, sections + 1):
            lines.append(f"  R_{k}: {{resistor: [n{k - 1}, n{k}], R: {resistance(k):g} ohm}}")
            lines.append(f"  C_{k}: {{capacitor: [n{k}, gnd], C: {capacitance(k):g} F}}")
    return "\n".join(lines) + "\n"


def ladder_admittance(sections: int, s: complex) -> complex:
    """The continued fraction of a ladder, from its end."""
    admittance = 0j
    for k in range(sections, 0, -1):
        admittance = 1 / (resistance(k) + 1 / (s * capacitance(k) + admittance))
    return admittance


def drives(count: int) -> str:
    """Motors on a common train of elastic shafts: each with its supply, a load behind a gear (dependent) and friction."""
    lines = ["system: Chain of drives", "network:"]
    for k in range(1, count + 1):
        lines += [
            f"  V_{k}: {{voltage source: [a{k}, gnd]}}",
            f"  R_{k}: {{resistor: [a{k}, b{k}], R: 0.5 ohm}}",
            f"  L_{k}: {{inductor: [b{k}, c{k}], L: 2 mH}}",
            f"  M_{k}: {{dc machine: [c{k}, gnd, s{k}, frame], K: 0.15 N*m/A}}",
            f"  J_{k}: {{inertia: [s{k}], J: 1e-3 kg*m^2}}",
            f"  G_{k}: {{gear: [s{k}, frame, l{k}, frame], n: {2 + k % 5}}}",
            f"  Q_{k}: {{inertia: [l{k}], J: 2e-3 kg*m^2}}",
            f"  d_{k}: {{friction: [l{k}, frame], b: 1e-3 N*m*s}}",
        ]
        if k > 1:
            lines.append(f"  K_{k}: {{torsion spring: [s{k - 1}, s{k}], K: 200 N*m/rad}}")
    return "\n".join(lines) + "\n"


def causality_of(path: Path) -> tuple[CausalGraph, Phases]:
    """From a file to its causality, with the time of each arrow."""
    phases = Phases()
    model = read(path)
    phases.end("read")
    graph = lower(model)
    phases.end("lower")
    causal = assign_causality(graph)
    phases.end("causality")
    return causal, phases


@final
@dataclass(frozen=True)
class LadderToCausality(AbstractCase):
    """A ladder from file to causality."""

    written: Written
    sections: int

    def prepare(self) -> Path:
        return written_file(ladder(self.written, self.sections), ".txt" if self.written == "netlist" else ".yaml")

    def work(self, given: Path) -> tuple[CausalGraph, Phases]:
        return causality_of(given)

    def check(self, given: Path, found: tuple[CausalGraph, Phases]) -> Facts:
        causal, phases = found
        states, dependent = len(causal.integral), len(causal.dependent)
        ok = (states, dependent, len(causal.graph.ports)) == (self.sections, 0, 2 * self.sections + 1)
        return {"ok": ok, "check": f"{states} states", "phases": phases.seconds}


@final
@dataclass(frozen=True)
class DrivesToCausality(AbstractCase):
    """A chain of drives from file to causality."""

    count: int

    def prepare(self) -> Path:
        return written_file(drives(self.count), ".yaml")

    def work(self, given: Path) -> tuple[CausalGraph, Phases]:
        return causality_of(given)

    def check(self, given: Path, found: tuple[CausalGraph, Phases]) -> Facts:
        causal, phases = found
        states, dependent = len(causal.integral), len(causal.dependent)
        ok = (states, dependent) == (3 * self.count - 1, self.count)
        return {"ok": ok, "check": f"{states} states, {dependent} dependent", "phases": phases.seconds}


@final
@dataclass(frozen=True)
class LadderToDescriptor(AbstractCase):
    """A ladder from file to its descriptor form with numbers, as `tellegen derive --numeric` does."""

    sections: int

    def prepare(self) -> Path:
        return written_file(ladder("yaml", self.sections), ".yaml")

    def work(self, given: Path) -> DescriptorSystem:
        return derive(given, form="dae", numeric=True)

    def check(self, given: Path, found: DescriptorSystem) -> Facts:
        from oracles.nodal import POINTS, descriptor_response

        error = 0.0
        for s in (*POINTS, 1j / self.sections**2):
            wanted = ladder_admittance(self.sections, s)
            error = max(error, abs(complex(descriptor_response(found, s)[0, 0]) / wanted - 1))
        storages = len({column for _, column in found.E})
        ok = error < TOLERANCE and storages == self.sections
        return {"ok": ok, "check": f"{storages} storages, error {error:.0e}", "error": error}


def run(full: bool) -> Iterator[Row]:
    """Ladders of 2 000 and 20 000 elements, drives of 900 to 10 800; with `full` more."""
    sizes = (2_000, 20_000, 200_000) if full else (2_000, 20_000)
    names: dict[Written, str] = {"netlist": "netlist", "yaml": "YAML", "repeat": "YAML repeat"}
    for written, name in names.items():
        yield from _series(f"ladder, {name}", sizes, lambda n, w=written: LadderToCausality(w, n // 2))  # type: ignore[misc]
    yield from _series("ladder, derive --numeric", sizes, lambda n: LadderToDescriptor(n // 2))
    yield row("drives, YAML, few enough to name loops", 900, measure(DrivesToCausality(100)), memory=True)
    many = (5_400, 10_800, 27_000) if full else (5_400, 10_800)
    yield from _series("drives, YAML", many, lambda n: DrivesToCausality(n // 9))


def _series(name: str, sizes: tuple[int, ...], case: Callable[[int], AbstractCase]) -> Iterator[Row]:
    outcomes: list[tuple[int, Outcome | Stopped]] = []
    for size in sizes:
        outcome = measure(case(size))
        outcomes.append((size, outcome))
        yield row(name, size, outcome, target=SECONDS if size == LARGEST else None, memory=True)
    ended = [(size, o) for size, o in outcomes if isinstance(o, Outcome) and o.facts["ok"]]
    if len(ended) > 1:
        p = exponent([size for size, _ in ended], [o.cpu for _, o in ended])
        yield Row(f"{name}: exponent", ratio=f"{p:.2f}", target=GROWTH.judge(p), details={"exponent": p})
    size, largest = outcomes[-1]
    if size == LARGEST and isinstance(largest, Outcome) and largest.facts["ok"]:
        yield Row(f"{name}: memory", size, peak_mb=largest.peak_mb, target=MEMORY.judge(largest.peak_mb))
