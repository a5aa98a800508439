"""Vector bond graphs as scenes."""

from tellegen.drawing import rules
from tellegen.drawing.bond_bands import bands_of
from tellegen.drawing.bond_lanes import ElementText, plan_lanes
from tellegen.drawing.bond_layout import PLAIN, lay_out
from tellegen.drawing.bond_plan import Plan
from tellegen.drawing.bond_rows import skeleton_of
from tellegen.drawing.bond_scene import MARGIN
from tellegen.drawing.bond_texts import BondTexts
from tellegen.drawing.geometry import Box, union
from tellegen.drawing.moving import moved, tidy
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.placing import label_box
from tellegen.drawing.pog_legend import legend_shapes
from tellegen.drawing.pog_plan import FigurePlan
from tellegen.drawing.pog_planning import lanes_plan, star_plan
from tellegen.drawing.scene import Label, Scene, Shape
from tellegen.schemes import PogScheme, bond_graph
from tellegen.schemes.lane_walk import NoLanesError


def vector_bond_scene(scheme: PogScheme, options: Options = DEFAULTS) -> Scene:
    """The figure of a bond graph whose bonds are vectors: like branches of the model as one chain, with matrices below.

    Raises: FigureError (F153) where the branches of the model do not run side by side.
    """
    figure, plan = vector_plans(scheme, options)
    layout = lay_out(plan, skeleton_of(plan), options, PLAIN[0])
    layout.pen.settle()
    bands, box = bands_of(plan, layout, layout.extent(), options)
    legend = legend_shapes(figure, box, options)
    shapes: list[Shape] = [*bands, *layout.pen.shapes, *legend]
    texts = [label_box(shape) for shape in legend if isinstance(shape, Label)]
    whole = union([layout.extent(), box, *texts]).grown(MARGIN)
    placed = tuple(moved(shape, -whole.left, -whole.top) for shape in shapes)
    title = f"Vector bond graph: {scheme.name}" if scheme.name else "Vector bond graph"
    return tidy(Scene(title, _about(plan), Box(0, 0, whole.width, whole.height), placed))


def vector_plans(scheme: PogScheme, options: Options) -> tuple[FigurePlan, Plan]:
    """The POG of vectors, whose legend the figure has, and what there is to place of its bond graph.

    Raises: FigureError (F153) where the branches of the model do not run side by side.
    """
    figure = lanes_plan(scheme, options) or star_plan(scheme, options)
    try:
        if figure is None:
            raise NoLanesError
        return figure, plan_lanes(figure.ladders[0], _elements(scheme, options))
    except NoLanesError:
        raise rules.NO_LANES.error(
            f"'{scheme.name}' has no branches that run side by side from its sources", fix="draw it without `vectorial`"
        ) from None


def _elements(scheme: PogScheme, options: Options) -> dict[str, ElementText]:
    graph = bond_graph(scheme.causal)
    texts = BondTexts(graph, options)
    return {
        item.port.element: ElementText(texts.item(name), *texts.variables(graph.bonds_of(name)[0]))
        for name, item in graph.one_ports.items()
    }


def _about(plan: Plan) -> str:
    """The bonds in words, for those who cannot see the figure."""
    return ", ".join(
        f"{plan.nodes[link.tail].text.letters} to {plan.nodes[link.head].text.letters} ({link.size})"
        for link in plan.links
    )
