"""How long does it take to read a YAML file of 20 000 elements with units, here and elsewhere?

An RC ladder, one line an element. Ours builds the whole model: places, values in SI, dimensions checked. The others do a part of
that: PyYAML and ruamel.yaml build dictionaries and lists, pint turns the values into SI. Ratio: CPU time over ours. Check: the
number of elements and the sum of their values. ruamel.yaml and pint are left out where they are not installed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, final

from benchmarks.harness import AbstractCase, Facts, Row, measure, row, times
from tellegen.model.model import Model
from tellegen.notations.parameters import parameter_values
from tellegen.notations.reading import read_model

Peer = Literal["PyYAML CSafeLoader", "PyYAML SafeLoader", "ruamel.yaml", "pint"]
PEERS: dict[Peer, str] = {
    "PyYAML CSafeLoader": "yaml",
    "PyYAML SafeLoader": "yaml",
    "ruamel.yaml": "ruamel.yaml",
    "pint": "pint",
}
UNITS = (("ohm", 1.0), ("kohm", 1e3), ("Mohm", 1e6)), (("uF", 1e-6), ("mF", 1e-3), ("nF", 1e-9))


def values(elements: int) -> list[tuple[str, float]]:
    """The value of each element as it is written, and in SI units."""
    found = []
    for k in range(elements):
        unit, factor = UNITS[k % 2][k % 3]
        found.append((f"{1 + k % 97} {unit}", (1 + k % 97) * factor))
    return found


def ladder(elements: int) -> str:
    """The file."""
    lines = ["system: RC ladder", "network:", "  V: {voltage source: [n0, gnd]}"]
    for k, (text, _) in enumerate(values(elements)):
        n = k // 2
        lines.append(
            f"  C_{n}: {{capacitor: [n{n + 1}, gnd], C: {text}}}"
            if k % 2
            else f"  R_{n}: {{resistor: [n{n}, n{n + 1}], R: {text}}}"
        )
    return "\n".join(lines) + "\n"


def verdict(count: int, expected: int, found: float | None, elements: int) -> Facts:
    """Whether the number of elements and, where there is one, the sum of values are right."""
    wanted = math.fsum(value for _, value in values(elements))
    ok = count == expected and (found is None or math.isclose(found, wanted, rel_tol=1e-12))
    text = f"{count} elements" if found is None else f"{count} elements, sum {found:.6g}"
    return {"ok": ok, "check": text}


@final
@dataclass(frozen=True)
class Reading(AbstractCase):
    """Our reader, from text to model."""

    elements: int

    def prepare(self) -> str:
        return ladder(self.elements)

    def work(self, given: str) -> Model:
        return read_model(given)

    def check(self, given: str, found: Model) -> Facts:
        total = math.fsum(parameter_values(found).values())
        return verdict(len(found.elements), self.elements + 1, total, self.elements)


@final
@dataclass(frozen=True)
class PeerReading(AbstractCase):
    """A part of the same with another package."""

    peer: Peer
    elements: int

    def prepare(self) -> Any:
        package = import_module(PEERS[self.peer])
        if self.peer == "pint":
            return package.UnitRegistry(), [text for text, _ in values(self.elements)]
        return package, ladder(self.elements)

    def work(self, given: Any) -> Any:
        package, text = given
        if self.peer == "pint":
            return [package(one).to_base_units().magnitude for one in text]
        if self.peer == "ruamel.yaml":
            return package.YAML().load(text)
        return package.load(text, Loader=getattr(package, self.peer.split()[1]))

    def check(self, given: Any, found: Any) -> Facts:
        if self.peer == "pint":
            return verdict(len(found), self.elements, math.fsum(found), self.elements)
        return verdict(len(found["network"]), self.elements + 1, None, self.elements)


def run(full: bool) -> Iterator[Row]:
    """20 000 elements; peers once, three times with `full`."""
    size = 20_000
    ours = measure(Reading(size))
    yield row("Tellegen, whole model", size, ours)
    for peer, package in PEERS.items():
        if find_spec(package.split(".", maxsplit=1)[0]) is None:
            yield Row(peer, check=f"not installed: pip install {package}")
            continue
        found = measure(PeerReading(peer, size), repeats=3 if full else 1)
        yield row(peer, size, found, ratio=times(found, ours))
