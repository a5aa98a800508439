"""Where a description draws its elements: points on a plane, wires between them, and elements along lines between points.

x runs to the right and y upwards; one unit is the length of an element between its wires.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class SketchedBranch:
    """An element between points: one pair for each of its ports, in the order of its nodes.

    `shifts` move each pair sideways, to the left of the way from the first point to the second as drawn (`drawn` says whether this
    is the order of the nodes). `label` is 1 where the label stands on the left of this way, -1 where it stands on the right.
    """

    points: tuple[str, ...]
    shifts: tuple[float, ...]
    label: int = 1
    drawn: bool = True


@final
@dataclass(frozen=True, slots=True)
class Sketch:
    """The places of points, the nodes that they belong to, the wires between them, and the elements by name."""

    points: Mapping[str, complex]
    nodes: Mapping[str, str]
    wires: tuple[tuple[str, str], ...]
    branches: Mapping[str, SketchedBranch]
