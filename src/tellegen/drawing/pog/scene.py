"""The figure of a POG: the plan that suits a scheme and its checks, then places, shapes, areas of domains and the legend."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, floor
from string import ascii_lowercase

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import DOMAINS
from tellegen.core.names import listing
from tellegen.drawing import rules
from tellegen.drawing.memory import check_places
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.pog import placement
from tellegen.drawing.pog.ladder_drawing import LadderDrawing, PogPen
from tellegen.drawing.pog.ladders import FEW_CUTS, LinkedLadders, ScalarPlanner, linked_ladders
from tellegen.drawing.pog.lanes import LanePlanner, has_lanes
from tellegen.drawing.pog.placement import LadderSpacing, PlacedLadder, place_ladder, rows_of, stack
from tellegen.drawing.pog.plan import BranchPlan, FigurePlan, LadderPlan, elements_along_ladders
from tellegen.drawing.pog.texts import PogTexts
from tellegen.drawing.pog.vector_blocks import VectorPlanner, merged_ladders
from tellegen.graph import SourceLaw
from tellegen.scenes.geometry import Box, Point
from tellegen.scenes.ink import ink_box
from tellegen.scenes.scene import (
    CAPTION,
    MARGIN,
    Band,
    Label,
    Origin,
    Scene,
    Shape,
    caption_label,
    caption_of,
    framed_scene,
    label_box,
)
from tellegen.scenes.typesetting import set_math, set_words
from tellegen.schemes.algebra.checks import check_signs, wrong_gains
from tellegen.schemes.algebra.figure_graphs import collapsed_graph, star_graph
from tellegen.schemes.bond_graph_scheme import connected_parts
from tellegen.schemes.lanes import NoLanesError
from tellegen.schemes.pog_construction import pog
from tellegen.schemes.pog_scheme import PogScheme

SPACE = 30
"""Between the equations of a row."""
ROW = 14
LEFT_OUT = "Expressions that are too long for a figure are in the equations of the model."


def legend_room(box: Box, options: Options) -> float:
    """How wide the words and equations under a figure may be: a small figure does not force them into a narrow column."""
    return max(box.width, min(options.room, 700))


def legend_shapes(legend: Sequence[str], notes: Sequence[str], box: Box, options: Options) -> list[Shape]:
    """Equations in rows under the figure, then the notes."""
    found: list[Shape] = []
    y = box.bottom + 12
    room = legend_room(box, options)
    # An equation that is wider than the figure may be would be cut off at the edge of the page; the notes say that it is missing.
    shown = [text for text in legend if set_math(text, placement.FRACTION).box.width <= max(room, options.room)]
    # In rows rather than one under the other: most of the equations are short.
    for row in _rows(shown, room):
        height = max(set_math(text, placement.FRACTION).box.height for text in row)
        x = box.left
        for text in row:
            origin = Origin(part="legend")
            found.append(Label(text, (x, y + height / 2), size=placement.FRACTION, align="left", origin=origin))
            x += set_math(text, placement.FRACTION).box.width + SPACE
        y += height + ROW
    told = notes if len(shown) == len(legend) or LEFT_OUT in notes else (*notes, LEFT_OUT)
    return [*found, *note_shapes(told, (box.left, y), room)]


def note_shapes(notes: Iterable[str], at: Point, room: float) -> Iterator[Shape]:
    """Notes in words, from a point downwards, in lines that are not wider than the room."""
    (x, y), size, origin = at, placement.NOTE, Origin(part="note")
    for line in (line for note in notes for line in _lines(note, room)):
        y += placement.TEXT
        yield Label(line, (x, y), size, "left", "baseline", math=False, slanted=True, tone="quiet", origin=origin)


def _rows(texts: Iterable[str], room: float) -> Iterator[list[str]]:
    row: list[str] = []
    used = 0.0
    for text in texts:
        width = set_math(text, placement.FRACTION).box.width
        if row and used + width > room:
            yield row
            row, used = [], 0.0
        row.append(text)
        used += width + SPACE
    if row:
        yield row


def _lines(note: str, room: float) -> Iterator[str]:
    """A note broken into lines between words."""
    line = ""
    for word in note.split():
        longer = f"{line} {word}".strip()
        # Slanted words reach a little beyond the width that they have upright.
        if line and set_words(longer, placement.NOTE).box.width * 1.05 > room:
            yield line
            line = word
        else:
            line = longer
    if line:
        yield line


MANY_CUTS = 12
"""More cuts than this nobody follows."""


def plan_pog(scheme: PogScheme, options: Options) -> FigurePlan:
    """The plan of a scheme, whose signs and path gains are checked.

    Raises: FigureError (F150, F151, F152).
    """
    plan = _planned(scheme, options)
    check_gains(scheme)
    return plan


def _planned(scheme: PogScheme, options: Options) -> FigurePlan:
    _check(scheme)
    texts = PogTexts(scheme, options)
    if scheme.parts:
        note = "Vector blocks that are told each other's states."
        return _figure(scheme, _split(scheme, texts, options), texts, (note,))
    # What a reader can follow best comes first: lanes of vectors, a star, a ladder cut at a few sections; one vector block, which
    # hides how the model is made, only where none of them shows it.
    reason = "" if scheme.vector is None else _why_vectorial(scheme)
    # A vector block without a reason is one that was asked for.
    if options.lanes and (reason or (scheme.vector is None and has_lanes(scheme))):
        plan = lanes_plan(scheme, options)
        if plan is not None:
            return plan
    star = star_plan(scheme, options) if options.lanes and scheme.vector is None else None
    if star is not None:
        return star
    if scheme.vector is not None and reason and options.meshes != "vector":
        linked = linked_ladders(scheme, FEW_CUTS if options.meshes == "auto" else MANY_CUTS, options.earlier.lines)
        if linked is not None:
            return _linked(linked, options)
    if scheme.vector is not None:
        ladder = VectorPlanner(scheme, scheme.vector, texts, options).ladder()
        if not ladder.columns:
            return _figure(scheme, (), texts, ("Nothing moves: the model has neither states nor inputs.",))
        return _figure(scheme, (ladder,), texts, (reason,) if reason else ())
    planner = ScalarPlanner(scheme, texts)
    ladders = tuple(map(planner.ladder, scheme.ladders))
    return _figure(scheme, ladders, texts, ())


def plan_model_pog(causal: CausalGraph, options: Options) -> tuple[FigurePlan, PogScheme]:
    """The plan of the POG of a model, and its scheme: storages that depend on others share one block of a ladder where they can.

    Raises: FigureError (F150, F151), or F152 where the path gains of the scheme are not those of the model.
    """
    # Dependent storages are first drawn as derivative blocks: from these it is seen which storages move together.
    together = bool(causal.derivative) and not options.vectorial and not options.derivative
    earlier = options.earlier.lines
    scheme = pog(causal, derivative=options.derivative or together, vectorial=options.vectorial, earlier=earlier)
    check_gains(scheme)
    plan = _merged(scheme, options) if together else None
    if plan is not None:
        return plan, scheme
    # Where they cannot be brought together the model is drawn with integral causality, as one vector block.
    shown = pog(causal, earlier=earlier) if together and scheme.vector is None else scheme
    return _planned(shown, options) if shown is scheme else plan_pog(shown, options), shown


def star_plan(scheme: PogScheme, options: Options) -> FigurePlan | None:
    """The plan of a model whose like branches at one node are lanes; None where it has none."""
    graph = None if scheme.causal.derivative else star_graph(scheme.causal.graph)
    if graph is None:
        return None
    starred = pog(assign_causality(graph))
    check_gains(starred)
    return None if starred.causal.derivative else lanes_plan(starred, options)


def _split(scheme: PogScheme, texts: PogTexts, options: Options) -> tuple[LadderPlan, ...]:
    """A ladder for each part of a vector block that was split; letters tell them apart."""
    few = len(scheme.parts) <= len(ascii_lowercase)  # then numbers, which cannot run out
    indices = ascii_lowercase if few else map(str, range(1, len(scheme.parts) + 1))
    return tuple(
        VectorPlanner(scheme, block, texts, options, part=index).ladder()
        for index, block in zip(indices, scheme.parts, strict=False)
    )


def _linked(linked: LinkedLadders, options: Options) -> FigurePlan:
    texts = PogTexts(linked.scheme, options)
    planner = ScalarPlanner(linked.scheme, texts, linked.links)
    ladders = tuple(map(planner.ladder, linked.scheme.ladders))
    pairs = sorted({letter.rstrip("'") for letter in linked.links.values()})
    # Every letter has a partner with a dash, and a reader has to be told once what the two are.
    names = ", ".join(f"{letter} and {letter}'" for letter in pairs)
    note = f"Its junctions close a mesh, which is cut here: {names} are the same section."
    return _figure(linked.scheme, ladders, texts, (note,))


def _merged(scheme: PogScheme, options: Options) -> FigurePlan | None:
    """The plan with one block for the storages that move together; None where the rest of the model is no ladder."""
    note = f"No scalar POG: {_dependent(scheme)} on other storages. One block stands for them together."
    if scheme.vector is None:  # a ladder whose dependent storages are derivative blocks; no vector block was needed
        merged = merged_ladders(scheme, options)
        return None if merged is None else _figure(scheme, *merged, (note,))
    collapsed = collapsed_graph(scheme) if options.lanes else None
    plan = None if collapsed is None else lanes_plan(pog(assign_causality(collapsed)), options)
    return None if plan is None else replace(plan, notes=(note, *plan.notes), about=f"{plan.about} {note}")


def lanes_plan(scheme: PogScheme, options: Options) -> FigurePlan | None:
    """The plan of a vector ladder; None where the model has none."""
    if scheme.causal.derivative and scheme.vector is not None:
        return None  # lanes would be derivative blocks, which nobody asked for
    if any(
        name not in scheme.blocks for name, item in scheme.elements.items() if not isinstance(item.port.law, SourceLaw)
    ):
        return None  # an element went, in a reduction: its place in the lanes would be empty
    texts = PogTexts(scheme, options)
    try:
        planner = LanePlanner(scheme, texts)
        ladder = planner.ladder()
        # What is counted is counted otherwise in another figure, of a reduced model perhaps: symbols hold where all of them do.
        named = scheme.causal.graph.counted_symbols
        if named and named.keys() <= planner.boxes.counted.keys():
            texts = PogTexts(scheme, options)
            ladder = LanePlanner(scheme, texts, named).ladder()
    except NoLanesError:
        return None
    return _figure(scheme, (ladder,), texts, (), planner.boxes.counted)


def _why_vectorial(scheme: PogScheme) -> str:
    """Why a model is drawn as one vector block."""
    if scheme.causal.derivative:
        what = f"{_dependent(scheme)} on other storages, and a POG has integral causality"
        return f"No scalar POG: {what}. This is its vector form."
    if scheme.bond_graph is None:
        return "No scalar POG: its junctions admit no strokes. This is its vector form."
    if not all(part.is_tree() for part in connected_parts(scheme.bond_graph)):
        return "No scalar POG: its junctions close a mesh. This is its vector form."
    return ""


def _dependent(scheme: PogScheme) -> str:
    names = [scheme.causal.graph.ports[k].element for k in scheme.causal.derivative]
    return f"{listing(names)} {'depends' if len(names) == 1 else 'depend'}"


def _figure(
    scheme: PogScheme,
    ladders: tuple[LadderPlan, ...],
    texts: PogTexts,
    notes: tuple[str, ...],
    counted: Container[str] = (),
) -> FigurePlan:
    strange = [name for name in scheme.causal.graph.counted_symbols if name not in counted]
    if strange and texts.options.lanes:
        notes += (
            f"No vector or matrix is counted as {listing(strange)} here: symbols of what is counted are not used.",
        )
    modes = scheme.causal.graph.mode
    if modes:
        notes += (f"Modes: {', '.join(f'{element} {mode}' for element, mode in modes.items())}.",)
    if texts.left_out:
        notes += (LEFT_OUT,)
    legend = tuple(f"{name} = {text}" for name, text in {**texts.names.explained(), **texts.legend}.items())
    # For readers who cannot see the figure: what it is, how large, and what it could not show.
    states, inputs = len(scheme.states), len(scheme.inputs)
    about = f"Power-Oriented Graph with {states} states and {inputs} inputs. {' '.join(notes)}".strip()
    return FigurePlan(f"POG: {scheme.name}", about, ladders, legend, notes)


def check_gains(scheme: PogScheme) -> None:
    """Refuse a scheme whose path gains are not those of the model behind it.

    Raises: FigureError (F152).
    """
    wrong = wrong_gains(scheme)
    if wrong:
        raise rules.WRONG_GAINS.error(
            f"the paths of '{scheme.name}' bring something else to {listing(wrong)} than the model does",
            where=wrong[0],
            fix="make the scheme with `pog`",
            members=list(wrong),
        )


def _check(scheme: PogScheme) -> None:
    """Refuse a scheme that would make power out of nothing. Transfer blocks hide what a check needs."""
    if any(block.kind == "transfer" for block in scheme.blocks.values()):
        return
    # Better no figure than one of another system: with a wrong sign a passive model may have growing loops.
    check = check_signs(scheme)
    if not check.consistent:
        raise rules.WRONG_SIGNS.error(
            f"the signs of '{scheme.name}' do not conserve power: {check.problems[0]}",
            where=scheme.name,
            fix="correct the summation named, or make the scheme with `pog`",
            members=list(check.problems),
        )


def _domain_bands(ladder: PlacedLadder, x: float, top: float, bottom: float, *, side: bool) -> list[Band]:
    """The domains along a ladder; a transducer belongs to both of its sides, so that they meet in its middle."""
    sections, borders = ladder.plan.sections(), ladder.borders
    left = (-placement.LEAD if not side else -placement.BRANCH_SHIFT / 2) if sections[0] is not None else 0.0
    right = borders[-1] + (placement.LEAD if sections[-1] is not None else 0)
    # Columns without a domain of their own belong to the one before them, so that there are no gaps between bands.
    starts: list[tuple[float, str]] = []
    domain = ""
    for k, column in enumerate(ladder.plan.columns):
        for section in (column.left, column.right):
            if section is not None and section.domain != domain:
                starts.append((ladder.middle(k) if domain else left, section.domain))
                domain = section.domain
        if column.left is None and column.right is None:
            domain = column.wire_domain
            starts[-1:] = [(starts[-1][0] if starts else left, domain)]
    return [
        Band(Box(x + start, top, x + end, bottom), domain, Origin(part="band", domain=domain))
        for (start, domain), (end, _) in pairwise([*starts, (right, "")])
        if domain
    ]


def _draw_bands(pen: PogPen, ladder: PlacedLadder, at: Point, *, side: bool = False) -> None:
    """The bands of a ladder and of its side ladders."""
    if not ladder.plan.columns:
        return
    x, y = at
    options = pen.options
    top = y - placement.BAND_ABOVE - (placement.NUMBER_SPACE if options.section_numbers else 0)
    bottom = y + ladder.height + placement.BAND_BELOW + (placement.ARROW_SPACE if options.power_directions else 0)
    for band in _domain_bands(ladder, x, top, bottom, side=side):
        if band.domain in DOMAINS:
            pen.add(band)
        if options.shows_captions:
            _caption(pen, ladder, band, x)
    # A side ladder begins in the middle of its elbow, where the band of its parent ends.
    for branch in ladder.branches:
        _draw_bands(pen, branch.ladder, (x + branch.x, y + branch.y), side=True)


def _caption(pen: PogPen, ladder: PlacedLadder, band: Band, x: float) -> None:
    """The name of a domain where it fits between the wires that lead to side ladders; a short one where a long one does not."""
    free = _free(ladder, band.box.left - x, band.box.right - x)
    y = band.box.bottom + placement.CAPTION_BELOW - placement.BAND_BELOW
    for text in (caption_of(band.domain), band.domain):
        # Slanted words lean beyond their width, and want some air to the wires beside them.
        width = placement.words_width(text, CAPTION) * 1.06 + 6
        room = next((piece for piece in free if piece[1] - piece[0] >= width), None)
        if room is not None:
            pen.add(caption_label(text, (x + (room[0] + room[1]) / 2, y), band.domain))
            return


def _free(ladder: PlacedLadder, left: float, right: float) -> list[tuple[float, float]]:
    """The pieces of a stretch without wires that lead down, the widest first."""
    below = {branch.column for branch in ladder.branches if not branch.above}
    found, begin = [], left
    for k, column in enumerate(ladder.plan.columns):
        if k in below and isinstance(column.content, BranchPlan):
            start, end = ladder.borders[k], ladder.borders[k + 1]
            if end > left and start < right:
                found.append((begin, start))
                begin = end
    return sorted([*found, (begin, right)], key=lambda piece: piece[0] - piece[1])


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
    return plan_scene(plan_pog(scheme, options), options)


def model_pog_scene(causal: CausalGraph, options: Options = DEFAULTS) -> Scene:
    """The figure of the POG of a model; storages that depend on others are one block within the ladder where that can be drawn.

    Raises: FigureError (F160) for a place of something that is not there, and as `pog_scene` does.
    """
    graph = causal.graph
    names = [*(port.element for port in graph.ports), *(coupling.element for coupling in graph.couplings)]
    check_places(options.places, names, "this POG")
    return plan_scene(plan_model_pog(causal, options)[0], options)


def plan_scene(plan: FigurePlan, options: Options = DEFAULTS) -> Scene:
    """The scene of a plan."""
    space = LadderSpacing.of(options)
    ladders = [place_ladder(ladder, space) for ladder in rows_of(plan.ladders, options.room, space.earlier)]
    levels = stack(ladders)
    pen = PogPen(options)
    for ladder, y in zip(ladders, levels, strict=True):
        if options.shows_bands:
            _draw_bands(pen, ladder, (0, y))
        LadderDrawing(pen, ladder, space, (0, y)).draw()
    shapes = _without_crowded_captions(pen.finished())
    extents = [ladder.extent.moved(0, y) for ladder, y in zip(ladders, levels, strict=True)]
    box = ink_box(shapes, Box(0, 0, 1, 1), *extents)
    shapes += legend_shapes(plan.legend, plan.notes, box, options)
    scene = _framed(plan.title, plan.about, shapes, box, options)
    return options.earlier.settle(replace(scene, notation="pog", lines=elements_along_ladders(plan)), options.places)


def _without_crowded_captions(shapes: list[Shape]) -> list[Shape]:
    """The shapes without names of domains that would lie on other labels: the colour of the band says the same."""
    labels = [(shape, label_box(shape)) for shape in shapes if isinstance(shape, Label)]
    others = [box for label, box in labels if label.origin.part != "caption"]
    captions = [(label, box) for label, box in labels if label.origin.part == "caption"]
    crowded = {id(label) for label, box in captions if any(box.overlaps(other) for other in others)}
    return [shape for shape in shapes if id(shape) not in crowded]


def _framed(title: str, about: str, shapes: list[Shape], box: Box, options: Options) -> Scene:
    """Shapes moved to where margins are free on all sides; `box` is the room that ladders ask for."""
    # In whole units, so that sections stay on the grid; strokes have a hair of width, which must not count as one.
    ink, hair = ink_box(shapes, box), 0.02
    full = Box(floor(ink.left + hair), floor(ink.top + hair), ceil(ink.right - hair), ceil(ink.bottom - hair))
    top = placement.BAND_MARGIN if options.shows_bands else placement.PLAIN_MARGIN
    bottom = placement.BAND_MARGIN if options.shows_bands else placement.PLAIN_BOTTOM
    bottom = placement.CAPTION_MARGIN if options.shows_captions else bottom
    frame = Box(full.left - MARGIN, full.top - top, full.right + MARGIN, full.bottom + bottom)
    return framed_scene(title, about, frame, shapes)
