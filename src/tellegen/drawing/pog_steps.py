"""Figures of POGs side by side, with arrows and captions: the pictures of a reduction, and schemes after operations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from string import ascii_lowercase
from typing import final

from tellegen.drawing.geometry import Box, union
from tellegen.drawing.moving import moved, tidy
from tellegen.drawing.naming import figure_latex, name_latex
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.pog_layout import ink_boxes, plan_scene
from tellegen.drawing.pog_legend import note_shapes
from tellegen.drawing.pog_measures import MARGIN, NOTE, SMALL
from tellegen.drawing.pog_plan import LadderPlan
from tellegen.drawing.pog_planning import plan_of
from tellegen.drawing.scene import Label, Origin, Scene, Shape
from tellegen.drawing.typesetting import set_math, set_words
from tellegen.expressions import ONE
from tellegen.graph.laws import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.schemes.pog_scheme import Ladder, PogScheme
from tellegen.schemes.reduction_pictures import ReductionPictures

ARROW = r"\Rightarrow"
INFINITY = r"\infty"
ARROW_SIZE = 30.0
ARROW_ROOM = 70.0
CAPTION_ROOM = 34.0


@final
@dataclass(frozen=True, slots=True)
class Panel:
    """One scene of several, with a caption in words and in mathematics."""

    scene: Scene
    words: str = ""
    math: str = ""
    starts_row: bool = False
    """Whether it stands at the left, without an arrow from the one before."""


def scheme_panel(scheme: PogScheme, words: str, options: Options = DEFAULTS) -> Panel:
    """A whole scheme, with words under it."""
    return Panel(_scene(scheme, options), words)


def reduction_scene(pictures: ReductionPictures, options: Options = DEFAULTS) -> Scene:
    """The three pictures of a reduction: the loop, the inverted loop, what is left."""
    return side_by_side(pictures.original.name, reduction_panels(pictures, options), options)


def reduction_panels(
    pictures: ReductionPictures, options: Options = DEFAULTS, *, starts_row: bool = False
) -> list[Panel]:
    """The pictures of a reduction with their captions.

    Only the columns of the loop are drawn where they stand next to each other in one ladder; where a link is cut, all of them.
    """
    stages = (pictures.original, pictures.inverted, pictures.simplified)
    ends = _ends(pictures) if pictures.element in pictures.original.elements else None
    scenes = [_scene(scheme, options, ends) for scheme in stages]
    there, gone = _limit(pictures)
    captions = (("extended model,", there), ("loop inverted,", there), ("reduced,", gone))
    panels = [Panel(scene, *caption) for scene, caption in zip(scenes, captions, strict=True)]
    panels[0] = replace(panels[0], starts_row=starts_row)
    if not pictures.loop:  # nothing had to be inverted
        del panels[1]
    return panels


# -- parts of schemes ----------------------------------------------------------------------------------------------------------


def _scene(scheme: PogScheme, options: Options, ends: tuple[str, str] | None = None) -> Scene:
    plan = plan_of(scheme, options)
    if ends is not None:
        part = next((p for ladder in plan.ladders if (p := _between(ladder, *ends)) is not None), None)
        plan = plan if part is None else replace(plan, ladders=(part,), legend=(), notes=())
    return plan_scene(plan, options)


def _between(ladder: LadderPlan, left: str, right: str) -> LadderPlan | None:
    """The columns between two sections."""
    names = ["" if section is None else section.name for section in ladder.sections()]
    if left not in names or right not in names[names.index(left) + 1 :]:
        return None
    first = names.index(left)
    last = names.index(right, first + 1)
    columns = ladder.columns[first:last]
    return LadderPlan(columns, columns[0].left)


def _ends(pictures: ReductionPictures) -> tuple[str, str] | None:
    """The sections round the columns of the loop; None where these stand in several ladders."""
    loop, scheme = set(pictures.loop), pictures.original
    found: list[tuple[Ladder, list[int]]] = []
    for ladder in _ladders(scheme.ladders):
        places = [
            k
            for k, column in enumerate(ladder.columns)
            if any({scheme.blocks[b].input, scheme.blocks[b].output} <= loop for b in column.blocks)
            or pictures.element in column.blocks
        ]
        if places:
            found.append((ladder, places))
    if len(found) != 1 or found[0][0] not in scheme.ladders:
        return None
    columns = found[0][0].columns
    first, last = found[0][1][0], found[0][1][-1]
    # A junction is shown whole.
    while first and columns[first - 1].junction == columns[first].junction != "":
        first -= 1
    while last + 1 < len(columns) and columns[last + 1].junction == columns[last].junction != "":
        last += 1
    return columns[first].left, columns[last].right


def _ladders(ladders: Iterable[Ladder]) -> Iterable[Ladder]:
    for ladder in ladders:
        yield ladder
        yield from _ladders(column.branch for column in ladder.columns if column.branch is not None)


def _limit(pictures: ReductionPictures) -> tuple[str, str]:
    """The energy coefficient before and in the limit, in the words of its parameter; for a connection, its modulus."""
    if pictures.element not in pictures.original.elements:
        coupling = next(c for c in pictures.original.causal.graph.couplings if c.element == pictures.element)
        alone = len(coupling.K) == 1 == len(coupling.K[0])
        text = figure_latex(coupling.K[0][0]) if alone else name_latex(pictures.element)
        return text, rf"{text} \rightarrow 0"
    law = pictures.original.elements[pictures.element].port.law
    after = pictures.simplified.elements[pictures.element].port.law
    name = name_latex(pictures.element)
    if isinstance(law, ResistiveLaw):
        text = name if law.coefficient is None else figure_latex(law.coefficient)
        vanishes = law.side == pictures.inverted.elements[pictures.element].decides
        return text, rf"{text} \rightarrow {'0' if vanishes else INFINITY}"
    inertia = law.inertia if isinstance(law, StorageLaw) else None
    if isinstance(after, SourceLaw):
        text = name if inertia is None else figure_latex(inertia)
        return text, rf"{text} \rightarrow {INFINITY}"
    if inertia is None:
        return f"{name} > 0", rf"{name} \rightarrow 0"
    inverse = figure_latex(ONE / inertia)
    if len(inertia.args) and r"\frac" not in inverse:
        return rf"{inverse} < \infty", rf"{inverse} \rightarrow \infty"
    text = figure_latex(inertia)
    return f"{text} > 0", f"{text} = 0"


# -- side by side --------------------------------------------------------------------------------------------------------------


def side_by_side(
    title: str,
    panels: Sequence[Panel],
    options: Options = DEFAULTS,
    *,
    arrows: bool = True,
    beside: str = "",
    notes: Sequence[str] = (),
) -> Scene:
    """Scenes next to each other with an arrow between them, in rows that are not wider than a figure may be.

    `beside` is an equation at the end, and `notes` are words under all.
    """
    shapes: list[Shape] = []
    x, y, row = 0.0, 0.0, 0.0
    for k, panel in enumerate(panels):
        room = ARROW_ROOM if arrows and k and not panel.starts_row else 0
        width = max(panel.scene.box.width, _caption_width(k, panel))
        if x and (panel.starts_row or x + room + width > max(options.room, width)):
            x, y, row = 0.0, y + row + MARGIN, 0.0
        if room:
            middle = y + panel.scene.box.height / 2
            shapes.append(
                Label(ARROW, (x + room / 2, middle), size=ARROW_SIZE, origin=Origin(part="step", port=str(k)))
            )
            x += room
        shapes += _placed(panel, k, x + (width - panel.scene.box.width) / 2, y)
        shapes += _caption(k, panel, x + width / 2, y + panel.scene.box.height + 8)
        x += width
        row = max(row, panel.scene.box.height + CAPTION_ROOM)
    if beside:
        shapes += _beside(beside, x, y, row, options)
    box = union([Box(0, 0, 1, y + row), *ink_boxes(shapes)])
    if notes:
        shapes += note_shapes(notes, Box(MARGIN, box.top, max(box.right, MARGIN + 1), box.bottom), options)
        box = union([box, *ink_boxes(shapes)])
    frame = Box(0, min(0, floor(box.top)), ceil(box.right - 0.02) + MARGIN, ceil(box.bottom) + 4)
    return tidy(Scene(title, f"steps of {title}", frame, tuple(shapes)))


def _beside(text: str, x: float, y: float, row: float, options: Options) -> list[Shape]:
    ink = set_math(text, SMALL).box
    origin = Origin(part="congruence")
    if x + ink.width + MARGIN <= options.room:
        return [Label(text, (x + MARGIN, y + row / 2), size=SMALL, align="left", origin=origin)]
    return [Label(text, (MARGIN, y + row + 12 + ink.height / 2), size=SMALL, align="left", origin=origin)]


def _placed(panel: Panel, k: int, dx: float, dy: float) -> list[Shape]:
    """The shapes of a panel, told apart from those of the others by a letter at their port."""
    letter = ascii_lowercase[k % 26]
    found: list[Shape] = []
    for shape in panel.scene.shapes:
        origin = replace(shape.origin, port=f"{letter}.{shape.origin.port}")
        found.append(replace(moved(shape, dx, dy), origin=origin))
    return found


def _caption_words(k: int, panel: Panel) -> str:
    return f"({ascii_lowercase[k % 26]}) {panel.words}".strip()


def _caption_width(k: int, panel: Panel) -> float:
    words = set_words(_caption_words(k, panel), NOTE).box.width
    return words + (10 + set_math(panel.math, SMALL).box.width if panel.math else 0) + 20


def _caption(k: int, panel: Panel, x: float, y: float) -> list[Shape]:
    words = _caption_words(k, panel)
    start = x - (_caption_width(k, panel) - 20) / 2
    origin = Origin(part="caption", port=f"{ascii_lowercase[k % 26]}.")
    found: list[Shape] = [
        Label(words, (start, y + 10), NOTE, "left", "baseline", math=False, tone="quiet", origin=origin)
    ]
    if panel.math:
        at = start + set_words(words, NOTE).box.width + 10, y + 10
        found.append(Label(panel.math, at, SMALL, "left", "baseline", origin=origin))
    return found
