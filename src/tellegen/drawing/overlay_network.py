"""A result laid over a schematic or a mechanism: marks beside the names of elements and bodies.

A bar is the energy of a storage, or of all that a body holds; a dotted arrow is what a resistive element takes; a plain arrow
beside a source points up where it gives power, down where it takes some. A mechanism is drawn where it is at that time.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tellegen.description import Model
from tellegen.drawing.animation_motion import coordinates_at
from tellegen.drawing.bond_pen import Pen
from tellegen.drawing.geometry import Box
from tellegen.drawing.mechanism_pose import Pose
from tellegen.drawing.mechanism_scene import mechanism_scene
from tellegen.drawing.network_scene import network_scene
from tellegen.drawing.options import Options
from tellegen.drawing.overlay_flows import Array, Flows
from tellegen.drawing.overlay_marks import Mark
from tellegen.drawing.overlay_places import arrows_beside, bars_beside, first_free, losses_beside
from tellegen.drawing.overlay_scene import Overlay, overlaid
from tellegen.drawing.scene import Curve, Label, Origin, Scene
from tellegen.graph import PowerGraph, ResistiveLaw, StorageLaw
from tellegen.results import Run
from tellegen.results.ports import supplying

NAMED = ("name", "body name", "joint name")
MECHANICAL = "translational"
"""The colour of bodies."""
PANEL, ROW, NAME = 60.0, 40.0, 15.0
"""Where the names of a panel begin, the height of its rows, and the size of its texts."""


def network_overlay(model: Model, run: Run, options: Options, time: float, *, bodies: bool = False) -> Overlay:
    """The schematic of a model, or its mechanism at a time of a run, with places for powers and energies.

    `bodies` asks for those of a network that has a schematic too.
    """
    if model.mechanism is None and not bodies:
        scene = network_scene(model, options)
    else:
        (row,) = coordinates_at(Pose(model), run.resampled(np.array([time])))
        scene = mechanism_scene(model, options, row)
    names = [s.origin.element for s in scene.shapes if isinstance(s, Label) and s.origin.part in NAMED]

    def measure(at: Run) -> Flows:
        return _flows(names, at)

    return overlaid(scene, run, measure, _marks)


def panel_overlay(model: Model, run: Run, options: Options) -> Overlay | None:
    """The names of what a mechanism shows in a column, with places for powers and energies.

    Beside bodies that move, marks would jump about. None where a run measured nothing of them.
    """
    named = [s for s in mechanism_scene(model, options).shapes if isinstance(s, Label) and s.origin.part in NAMED]
    flows = _flows([label.origin.element for label in named], run)
    kept = {name for table in (flows.powers, flows.stored, flows.lost) for name in table}
    texts = {label.origin.element: label.text for label in named if label.origin.element in kept}
    if not texts:
        return None
    labels = tuple(
        Label(text, (PANEL, ROW * (k + 1)), NAME, "left", origin=Origin(name, "name"))
        for k, (name, text) in enumerate(texts.items())
    )
    scene = Scene("", "", Box(0, 0, 2 * PANEL, ROW * (len(labels) + 1)), labels)
    return overlaid(scene, run, lambda at: _flows(texts, at), _marks)


def _flows(names: Iterable[str], run: Run) -> Flows:
    """What elements and bodies hold, take and give, by the names that they have in the figure."""
    graph = run.graph
    powers: dict[str, Array] = {}
    stored: dict[str, Array] = {}
    lost: dict[str, Array] = {}
    sources = supplying(graph)
    for name in names:
        members = _members(name, graph)
        holding = [e for e, law in members.items() if isinstance(law, StorageLaw) and run.catalogue.of("energy", e)]
        taking = [e for e, law in members.items() if isinstance(law, ResistiveLaw) and run.catalogue.of("power", e)]
        if name in sources and run.catalogue.of("power", name):
            powers[name] = run.power_values(name)
        elif holding:
            stored[name] = sum((run.values(f"energy.{e}") for e in holding), start=np.zeros(len(run.t)))
        elif taking:
            lost[name] = sum((run.power_values(e) for e in taking), start=np.zeros(len(run.t)))
    return Flows(powers, stored, lost)


def _members(name: str, graph: PowerGraph) -> dict[str, object]:
    """The laws of the ports that an element or a body has, by the names that a run gives them."""
    return {
        p.element: p.law for p in graph.ports if p.element == name or p.element.startswith((f"{name}.", f"{name}["))
    }


def _marks(scene: Scene, flows: Flows) -> tuple[Mark, ...]:
    """Marks beside the names, each where nothing else is."""
    pen = Pen()
    domains: dict[str, str] = {}
    for shape in scene.shapes:
        pen.put(shape)
        if isinstance(shape, Curve) and shape.origin.domain:
            domains.setdefault(shape.origin.element, shape.origin.domain)
    found: list[Mark] = []
    for shape in scene.shapes:
        if not isinstance(shape, Label) or shape.origin.part not in NAMED:
            continue
        name = shape.origin.element
        label = replace(shape, origin=replace(shape.origin, domain=domains.get(name, MECHANICAL)))
        if name in flows.powers:
            found += first_free(arrows_beside(label), pen)
        elif name in flows.stored:
            found += first_free(bars_beside(label), pen)
        elif name in flows.lost:
            found += first_free(losses_beside(label), pen)
    return tuple(found)
