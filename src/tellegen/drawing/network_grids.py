"""Parts of a schematic that are no line: bridges of legs between two lines, and meshes on a grid."""

from tellegen.description.model import Element
from tellegen.drawing.network_bridges import bridge_of
from tellegen.drawing.network_layout import Layout
from tellegen.drawing.network_leg_sketch import bridge_sketch
from tellegen.drawing.network_mesh import mesh_sketches
from tellegen.drawing.network_plan import Plan
from tellegen.drawing.network_sketch import sketch_shapes
from tellegen.drawing.network_texts import NetworkTexts
from tellegen.drawing.overlaps import ink_box
from tellegen.drawing.scene import Shape


def is_meshed(plan: Plan, layout: Layout) -> bool:
    """Whether wires or pipes form meshes beyond neighbours on the line; a line below all others takes most of these."""
    return _has_one_ports_alone(plan) and any(
        abs(layout.place[arc.link.first] - layout.place[arc.link.second]) > 1 for arc in layout.arcs
    )


def _has_one_ports_alone(plan: Plan) -> bool:
    """Whether a part has one-ports of wires or pipes alone, no names of ports and no return lines."""
    others = (station.element is not None or station.is_shaft or station.port for station in plan.stations)
    return not plan.returns and not any(others)


def _one_ports(plan: Plan) -> tuple[tuple[Element, ...], tuple[Element, ...]]:
    """Those that hang from nodes, by these, and those between nodes, in the order of description."""
    hanging = (item.element for station in plan.stations for item in station.hanging)
    linking = (link.element for link in plan.links)
    return tuple(e for e in hanging if e is not None), tuple(e for e in linking if e is not None)


def bridge_shapes(plan: Plan, texts: NetworkTexts, room: float) -> list[Shape]:
    """A part that is a bridge of legs between two lines; nothing where it is none, or where that would be too wide."""
    hanging, linking = _one_ports(plan)
    elements = linking + hanging
    bridge = bridge_of(elements) if _has_one_ports_alone(plan) else None
    shapes = sketch_shapes(elements, bridge_sketch(bridge), texts) if bridge is not None else []
    return shapes if shapes and ink_box(shapes).width <= room else []


def mesh_shapes(plan: Plan, texts: NetworkTexts, room: float) -> list[Shape]:
    """A meshed part with its nodes on a grid, turned where it would be too wide; nothing where there is no room for that."""
    hanging, linking = _one_ports(plan)
    elements = hanging + linking
    narrowest: list[Shape] = []
    for sketch in mesh_sketches(plan):
        shapes = sketch_shapes(elements, sketch, texts)
        if shapes and ink_box(shapes).width <= room:
            return shapes
        if not narrowest or (shapes and ink_box(shapes).width < ink_box(narrowest).width):
            narrowest = shapes
    return narrowest
