"""The figure of a POG: plan, places, shapes, bands and legend."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import ceil, floor

from tellegen.causality import CausalGraph
from tellegen.drawing.earlier import check_places, settled
from tellegen.drawing.geometry import Box, union
from tellegen.drawing.moving import moved, tidy
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.overlaps import inks
from tellegen.drawing.placing import label_box
from tellegen.drawing.pog_bands import draw_bands
from tellegen.drawing.pog_drawing import LadderDrawing
from tellegen.drawing.pog_legend import legend_shapes
from tellegen.drawing.pog_measures import BAND_MARGIN, CAPTION_MARGIN, MARGIN, PLAIN_BOTTOM, PLAIN_MARGIN
from tellegen.drawing.pog_pen import Pen
from tellegen.drawing.pog_placing import Space, place_ladder, stack
from tellegen.drawing.pog_plan import FigurePlan, lines_of
from tellegen.drawing.pog_planning import plan_of, plan_of_model
from tellegen.drawing.pog_rows import rows_of
from tellegen.drawing.scene import Band, Label, Scene, Shape
from tellegen.schemes.pog_scheme import PogScheme


def pog_scene(scheme: PogScheme, options: Options = DEFAULTS) -> Scene:
    """The figure of a POG as a scene.

    Ladders are drawn column by column; a scheme without ladders is drawn with vector lanes where it has them, else as one vector
    block, and the words under the figure say why. Before anything is drawn the signs and path gains of the scheme are checked.

    What a run measured can be laid over the shapes: a section has its name as `origin.port` (its part is "section"), a block its
    element, its part ("integrator", "gain", "K", "transposed", ...) and its domain. A vector block names all its elements, with
    spaces between.

    Raises: FigureError (F150) where columns and summations do not fit each other, F151 where signs do not conserve power, F152
    where path gains are not those of the model.
    """
    return plan_scene(plan_of(scheme, options), options)


def model_pog_scene(causal: CausalGraph, options: Options = DEFAULTS) -> Scene:
    """The figure of the POG of a model; storages that depend on others are one block within the ladder where that can be drawn.

    Raises: FigureError (F160) for a place of something that is not there, and as `pog_scene` does.
    """
    graph = causal.graph
    names = [*(port.element for port in graph.ports), *(coupling.element for coupling in graph.couplings)]
    check_places(options, names, "this POG")
    return plan_scene(plan_of_model(causal, options)[0], options)


def plan_scene(plan: FigurePlan, options: Options = DEFAULTS) -> Scene:
    """The scene of a plan."""
    space = Space.of(options)
    ladders = [place_ladder(ladder, space) for ladder in rows_of(plan.ladders, options.room, space.earlier)]
    levels = stack(ladders)
    pen = Pen(options)
    for ladder, y in zip(ladders, levels, strict=True):
        if options.shows_bands:
            draw_bands(pen, ladder, (0, y))
        LadderDrawing(pen, ladder, space, (0, y)).draw()
    shapes = without_crowded_captions(pen.finished())
    box = union(
        [
            Box(0, 0, 1, 1),
            *(ladder.extent.moved(0, y) for ladder, y in zip(ladders, levels, strict=True)),
            *ink_boxes(shapes),
        ]
    )
    shapes += legend_shapes(plan, box, options)
    scene = framed(plan.title, plan.about, shapes, box, options)
    return settled(replace(scene, notation="pog", lines=lines_of(plan)), options)


def without_crowded_captions(shapes: list[Shape]) -> list[Shape]:
    """The shapes without names of domains that would lie on other labels: the colour of the band says the same."""
    labels = [(shape, label_box(shape)) for shape in shapes if isinstance(shape, Label)]
    others = [box for label, box in labels if label.origin.part != "caption"]
    crowded = {
        id(label)
        for label, box in labels
        if label.origin.part == "caption" and any(box.overlaps(other) for other in others)
    }
    return [shape for shape in shapes if id(shape) not in crowded]


def framed(title: str, about: str, shapes: list[Shape], box: Box, options: Options) -> Scene:
    """Shapes moved to where margins are free on all sides; `box` is the room that ladders ask for."""
    full = _whole(union([box, *ink_boxes(shapes)]))
    top = BAND_MARGIN if options.shows_bands else PLAIN_MARGIN
    bottom = CAPTION_MARGIN if options.shows_captions else BAND_MARGIN if options.shows_bands else PLAIN_BOTTOM
    dx, dy = MARGIN - full.left, top - full.top
    frame = Box(0, 0, full.right + dx + MARGIN, full.bottom + dy + bottom)
    return tidy(Scene(title, about, frame, tuple(moved(shape, dx, dy) for shape in shapes)))


def ink_boxes(shapes: Iterable[Shape]) -> Iterator[Box]:
    """The extents of what is drawn."""
    for shape in shapes:
        if isinstance(shape, Band):
            yield shape.box
        for ink in inks(shape):
            yield ink if isinstance(ink, Box) else ink.box


def _whole(box: Box) -> Box:
    """The box in whole units, so that sections stay on the grid; strokes have a hair of width."""
    hair = 0.02
    return Box(floor(box.left + hair), floor(box.top + hair), ceil(box.right - hair), ceil(box.bottom - hair))
