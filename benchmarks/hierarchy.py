"""How long does a hierarchy of parts take, from its files to its equations with symbols?

Three levels: blocks of rows of cells, a thousand parts in all. In one the cells are RC sections in a chain; in the other each
cell is an axis of four library parts (motor, gear, belt, screw) on a common supply, with dependent storages in each. Check: the
number of states, and the admittance at the supply against continued fractions and impedances written by hand.
"""

# ruff: noqa: PLC0415  what checks the result is loaded after the clock has stopped

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import final

from benchmarks.harness import AbstractCase, Facts, Phases, Row, Target, measure, row
from tellegen.equations.system import EquationSystem
from tellegen.notations.loading import read
from tellegen.workflow.deriving import derive

SECONDS = Target(5.0)
TOLERANCE = 1e-6
"""Drives have time constants from milliseconds to minutes; a wrong entry gives an error of 1e-2 or more."""

_LEVEL = """\
system: {name}
ports: {ports}
parts:
  all:
    repeat: {{k: 1..{count}}}
    parts:
      "part[k]": {{use: {use}.yaml, ports: {joined}}}
"""
_CHAIN = '{in: "n[k-1]", out: "n[k]"}'


def _level(name: str, use: str, count: int) -> str:
    """Parts in a chain."""
    return _LEVEL.format(name=name, ports=f'{{in: "n[0]", out: "n[{count}]"}}', count=count, use=use, joined=_CHAIN)


def chain(blocks: int) -> dict[str, str]:
    """RC sections: blocks of 9 rows of 10 cells."""
    cell = "system: Cell\nports: {in: a, out: b}\nparameters: {R: 1 ohm, C: 1 F}\nnetwork:\n"
    cell += "  R: {resistor: [a, b]}\n  C: {capacitor: [b]}\n"
    top = _level("Chain", "block", blocks).replace('ports: {in: "n[0]"', 'ports: {start: "n[0]"', 1)
    return {
        "cell": cell,
        "row": _level("Row", "cell", 10),
        "block": _level("Block", "row", 9),
        "top": top + 'network:\n  V: {voltage source: ["n[0]"]}\n',
    }


def axes(blocks: int) -> dict[str, str]:
    """Drives on one supply: blocks of 8 axes of 4 library parts."""
    axis = """\
system: Axis
ports: {dc: a}
parts:
  motor: {use: dc_motor, ports: {electrical: a, shaft: w}}
  gear:  {use: gear, ports: {input: w, output: s}}
  belt:  {use: belt, ports: {input: s, output: r}}
  screw: {use: ball_screw, ports: {shaft: r, nut: x}}
"""
    ports = {"ports": "{dc: a}", "joined": "{dc: a}"}
    return {
        "axis": axis,
        "block": _LEVEL.format(name="Block", count=8, use="axis", **ports),
        "top": _LEVEL.format(name="Plant", count=blocks, use="block", **ports)
        + "network:\n  V: {voltage source: [a]}\n",
    }


@dataclass(frozen=True)
class AbstractHierarchy(AbstractCase):
    """A hierarchy from its files to its equations."""

    blocks: int

    @abstractmethod
    def files(self) -> Mapping[str, str]:
        """The text of each file."""

    @abstractmethod
    def states(self) -> int:
        """How many states there must be."""

    @abstractmethod
    def admittance(self, s: complex) -> complex:
        """The current of the supply for each volt."""

    def prepare(self) -> Path:
        """Write the files into a folder of their own."""
        folder = Path(mkdtemp())
        for name, text in self.files().items():
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        return folder / "top.yaml"

    def work(self, given: Path) -> tuple[EquationSystem, Phases]:
        """Read and derive."""
        phases = Phases()
        model = read(given)
        phases.end("read")
        found = derive(model)
        phases.end("derive")
        assert isinstance(found, EquationSystem), "symbols give the POG form"
        return found, phases

    def check(self, given: Path, found: tuple[EquationSystem, Phases]) -> Facts:
        """States, and the admittance at complex frequencies."""
        from oracles.nodal import POINTS, state_space_response

        system, phases = found
        error = 0.0
        for s in POINTS:
            response = complex(state_space_response(system, system.values(), s)[0, 0])
            error = max(error, abs(response / self.admittance(s) - 1))
        ok = error < TOLERANCE and len(system.states) == self.states()
        text = f"{len(system.states)} states, error {error:.0e}"
        return {"ok": ok, "check": text, "error": error, "phases": phases.seconds}


@final
@dataclass(frozen=True)
class Chain(AbstractHierarchy):
    """RC sections in a chain."""

    def files(self) -> Mapping[str, str]:
        return chain(self.blocks)

    def states(self) -> int:
        return 90 * self.blocks

    def admittance(self, s: complex) -> complex:
        found = 0j
        for _ in range(self.states()):
            found = 1 / (1 + 1 / (s + found))
        return found


@final
@dataclass(frozen=True)
class Axes(AbstractHierarchy):
    """Drives on a common supply, with the values of the library."""

    def files(self) -> Mapping[str, str]:
        return axes(self.blocks)

    def states(self) -> int:
        return 32 * self.blocks  # current, two speeds and the force of the belt, in each of 8 axes

    def admittance(self, s: complex) -> complex:
        from math import pi

        from tellegen.core.shipped import LIBRARY
        from tellegen.notations.parameters import parameter_values
        from tellegen.notations.reading import read_model

        motor, gear, belt, screw = (
            parameter_values(read_model(LIBRARY / f"{name}.yaml"))
            for name in ("dc_motor", "gear", "belt", "ball_screw")
        )
        h = screw["lead"] / (2 * pi)
        driven = (belt["J_2"] + screw["J"] + screw["m"] * h**2) * s + screw["b"] + screw["d"] * h**2
        between = belt["K"] / s + belt["d"]
        load = belt["J_1"] * s + 1 / (1 / (belt["r_1"] ** 2 * between) + belt["r_2"] ** 2 / belt["r_1"] ** 2 / driven)
        shaft = (motor["J"] + gear["J_1"]) * s + motor["b"] + gear["b_1"]
        shaft += (gear["J_2"] * s + gear["b_2"] + load) / gear["n"] ** 2
        return 8 * self.blocks / (motor["L"] * s + motor["R"] + motor["K"] ** 2 / shaft)


def run(full: bool) -> Iterator[Row]:
    """A thousand parts, and with `full` a third of them as well, to see how it grows."""
    for blocks in (3, 10) if full else (10,):
        parts = blocks * 100
        yield row("RC cells", parts, measure(Chain(blocks)), target=SECONDS if blocks == 10 else None, memory=True)
    for blocks in (8, 25) if full else (25,):
        parts = blocks * 41
        yield row("axes", parts, measure(Axes(blocks)), target=SECONDS if blocks == 25 else None, memory=True)
