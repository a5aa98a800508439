"""A result laid over a figure: power as arrows, stored energy as bars, losses as dotted arrows, at one time or at many."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, final, get_args

import numpy as np

from tellegen.causality import assign_causality
from tellegen.drawing.bond_scene import bond_scene
from tellegen.drawing.earlier import earlier_lines
from tellegen.drawing.geometry import Box, union
from tellegen.drawing.moving import moved, tidy
from tellegen.drawing.naming import quantity_latex
from tellegen.drawing.options import Options
from tellegen.drawing.overlaps import inks
from tellegen.drawing.overlay_flows import Array, Flows, bond_flows, pog_flows
from tellegen.drawing.overlay_marks import LENGTH, NOTHING, Mark, mark_shapes
from tellegen.drawing.overlay_places import bond_marks, pog_marks, without_directions
from tellegen.drawing.placing import label_box
from tellegen.drawing.pog_layout import plan_scene
from tellegen.drawing.pog_meshes import FEW, linked_ladders
from tellegen.drawing.pog_planning import MANY, plan_of_model
from tellegen.drawing.scene import Label, Origin, Scene, Shape
from tellegen.graph import PowerGraph
from tellegen.results import Run
from tellegen.schemes import bond_graph

Overlaid = Literal["pog", "bond"]
OVERLAID: tuple[Overlaid, ...] = get_args(Overlaid)
"""The notations that a result can be laid over."""
LEGEND, LEGEND_WIDTH = 26.0, 230.0
"""The row under a figure that tells the time and the scale."""
NOTE, VALUE = 13.0, 11.0
"""Sizes of texts."""
MARGIN = 26.0


@final
@dataclass(frozen=True, eq=False)
class Overlay:
    """A figure with places for what a run measured. The widest arrow and the full bars are the largest values of the whole run."""

    still: Scene
    marks: tuple[Mark, ...]
    run: Run
    measure: Callable[[Run], Flows]
    most_power: float
    spans: tuple[tuple[float, float], ...]
    """For each mark of stored energy, its least and its largest value; zero to `most_power` for the others."""

    def frames(self, times: Array, *, values: bool = False) -> list[tuple[Shape, ...]]:
        """What the marks show at some times; with `values`, the powers of sections in numbers.

        Raises: SimulationError (S205) for times outside the run.
        """
        flows = self.measure(self.run.resampled(times))
        rows = [_rows(mark, flows) for mark in self.marks]
        return [(*self._shapes([row[k] for row in rows], values), *self._time(t)) for k, t in enumerate(times)]

    def at(self, time: float) -> Scene:
        """The figure at one time.

        Raises: SimulationError (S205) for a time outside the run.
        """
        (shapes,) = self.frames(np.array([time]), values=True)
        about = f"{self.still.about} Powers and energies at t = {time:g} s."
        return tidy(replace(self.still, about=about.strip(), shapes=(*self.still.shapes, *shapes)))

    def _shapes(self, values: list[float], with_numbers: bool) -> list[Shape]:
        found: list[Shape] = []
        for mark, (least, most), value in zip(self.marks, self.spans, values, strict=True):
            found += mark_shapes(mark, value - least, most - least)
            if with_numbers and mark.kind == "power" and mark.numbered:
                found.append(self._number(mark, value))
        return found

    def _number(self, mark: Mark, value: float) -> Label:
        """The power of a section, under its arrow."""
        (x, y), origin = mark.centre, Origin(part="flow value", port=mark.keys[0], domain=mark.domain)
        text = quantity_latex(_shown(value, self.most_power), "W")
        return Label(text, (x, y + 15), VALUE, tone=mark.tone, origin=origin)

    def _time(self, time: float) -> list[Shape]:
        at = (self.still.box.left + MARGIN, self.still.box.bottom - LEGEND / 2 + 4)
        origin = Origin(part="time")
        return [Label(rf"t = {quantity_latex(float(f'{time:.4g}'), 's')}", at, NOTE, "left", "baseline", origin=origin)]


def overlay_of(run: Run, notation: Overlaid, options: Options, graph: PowerGraph | None = None) -> Overlay:
    """The figure of a run in a notation, with places for its powers and energies.

    `graph` is the model that is drawn: that of the run, or the same one without its experiment.
    """
    drawn = run.graph if graph is None else graph
    scene, measure = _pog(drawn, options) if notation == "pog" else _bond(drawn, options)
    return overlaid(scene, run, measure, pog_marks if notation == "pog" else bond_marks)


def overlaid(
    scene: Scene, run: Run, measure: Callable[[Run], Flows], places: Callable[[Scene, Flows], tuple[Mark, ...]]
) -> Overlay:
    """A scene with what a run measured at the places that are found for it."""
    flows = measure(run)
    marks = places(scene, flows)
    rows = [_rows(mark, flows) for mark in marks]
    powers = [row for mark, row in zip(marks, rows, strict=True) if mark.kind != "stored"]
    most = max((float(np.nanmax(np.abs(row), initial=0.0)) for row in powers), default=0.0)
    spans = tuple(_span(row) if mark.kind == "stored" else (0.0, most) for mark, row in zip(marks, rows, strict=True))
    return Overlay(*_framed(scene, marks, most), run, measure, most, spans)


def _pog(graph: PowerGraph, options: Options) -> tuple[Scene, Callable[[Run], Flows]]:
    """The ladder of a run, where it has one. A section of vector lanes shows the power of all lanes together."""
    wanted = replace(options, power_directions=True)
    plan, scheme = plan_of_model(assign_causality(graph), wanted)
    sections = [section for ladder in plan.ladders for section in ladder.all_sections()]
    meshed = scheme.vectorial and options.meshes != "vector" and not any(section.lanes for section in sections)
    most = FEW if options.meshes == "auto" else MANY
    linked = linked_ladders(scheme, most, earlier_lines(options)) if meshed else None
    shown = scheme if linked is None else linked.scheme
    carried = {section.name: section.carries for section in sections if section.carries}
    scene = plan_scene(plan, wanted)
    return replace(scene, shapes=without_directions(scene.shapes)), lambda at: pog_flows(shown, at, carried)


def _bond(graph: PowerGraph, options: Options) -> tuple[Scene, Callable[[Run], Flows]]:
    scheme = bond_graph(assign_causality(graph), vectors=True)
    return bond_scene(scheme, options), lambda at: bond_flows(scheme, at)


def _rows(mark: Mark, flows: Flows) -> Array:
    table = {"power": flows.powers, "stored": flows.stored, "lost": flows.lost}[mark.kind]
    found: Array = np.sum([table[key] for key in mark.keys], axis=0)
    return found


def _span(row: Array) -> tuple[float, float]:
    """From empty to full: energies may be counted from a level in the middle."""
    least = float(np.nanmin(row, initial=0.0))
    return min(0.0, least), float(np.nanmax(row, initial=least))


def _framed(scene: Scene, marks: tuple[Mark, ...], most: float) -> tuple[Scene, tuple[Mark, ...]]:
    """Room for the marks, and a row under the figure: the time at its left, the scale of the arrows at its right."""
    shapes = [shape for mark in marks for shape in mark_shapes(mark, 1.0, 1.0)]
    extents = [ink if isinstance(ink, Box) else ink.box for shape in shapes for ink in inks(shape)]
    full = union([scene.box, *(box.grown(2) for box in extents)])
    dx, dy = -full.left, -full.top
    box = Box(0, 0, max(full.width, LEGEND_WIDTH), full.height + LEGEND)
    placed = tuple(moved(shape, dx, dy) for shape in scene.shapes)
    return replace(scene, box=box, shapes=(*placed, *_scale(box, most))), tuple(mark.moved(dx, dy) for mark in marks)


def _scale(box: Box, most: float) -> list[Shape]:
    """The widest arrow and what it stands for."""
    if not most:
        return []
    y = box.bottom - LEGEND / 2
    origin = Origin(part="scale")
    text = quantity_latex(_shown(most, most), "W")
    label = Label(text, (box.right - MARGIN, y + 4), NOTE, "right", "baseline", origin=origin)
    widest = Mark("power", ("scale",), (label_box(label).left - 8 - LENGTH / 2, y))
    return [*mark_shapes(widest, 1.0, 1.0), label]


def _shown(value: float, most: float) -> float:
    """A value with three digits, and zero for what is nothing beside the largest one."""
    return float(f"{value:.3g}") if abs(value) > NOTHING * most else 0.0
