"""Figures of POGs side by side, with captions: steps of a reduction or of operations on a scheme, or its orientations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from string import ascii_lowercase
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.language import ENGLISH, Phrases
from tellegen.drawing import rules
from tellegen.drawing.formulas import figure_latex
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.pog.placement import NOTE, SMALL
from tellegen.drawing.pog.plan import BoxPlan, BranchPlan, ConnectionPlan, ElementPlan, LadderPlan
from tellegen.drawing.pog.scene import legend_room, note_shapes, plan_model_pog, plan_pog, plan_scene
from tellegen.drawing.pog.texts import bold, formula_size, is_null, is_too_long, matrix_latex
from tellegen.expressions import ONE
from tellegen.graph import lower
from tellegen.graph.power_graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.reduction import Reduction, scheme_pictures
from tellegen.scenes.geometry import Box
from tellegen.scenes.ink import ink_box
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import MARGIN, Label, Origin, Scene, Shape, moved, tidy
from tellegen.scenes.typesetting import set_math, set_words
from tellegen.schemes import Orientation, Rewriting
from tellegen.schemes.algebra.reduction_pictures import ReductionPictures
from tellegen.schemes.pog_scheme import Column, Matrix, PogScheme, ladder_with

ARROW = r"\Rightarrow"
INFINITY = r"\infty"
ARROW_SIZE = 30.0
ARROW_ROOM = 70.0
CAPTION_ROOM = 34.0


@final
@dataclass(frozen=True, slots=True)
class StepPanel:
    """One scene of several, with a caption in words and in mathematics."""

    scene: Scene
    words: str = ""
    math: str = ""
    starts_row: bool = False
    """Whether it stands at the left, without an arrow from the one before."""


def reduction_scene(pictures: ReductionPictures, options: Options = DEFAULTS) -> Scene:
    """The three pictures of a reduction: the loop, the inverted loop, what is left."""
    return _side_by_side(pictures.original.name, _reduction_panels(pictures, options), options)


def _reduction_panels(
    pictures: ReductionPictures, options: Options, *, starts_row: bool = False, say: Phrases = ENGLISH
) -> list[StepPanel]:
    """The pictures of a reduction with their captions.

    Only the columns of the loop are drawn where they stand next to each other in one ladder; where a link is cut, all of them.
    """
    # An element that is no longer in the scheme, such as a connection, has no columns of its own: then all is drawn.
    stages = (pictures.original, pictures.inverted, pictures.simplified)
    ends = _ends(pictures) if pictures.element in pictures.original.elements else None
    scenes = [_panel_scene(scheme, options, ends) for scheme in stages]
    there, gone = _limit(pictures)
    words = (say("reduction.extended"), say("reduction.inverted"), say("reduction.reduced"))
    captions = zip(words, (there, there, gone), strict=True)
    panels = [StepPanel(scene, *caption) for scene, caption in zip(scenes, captions, strict=True)]
    panels[0] = replace(panels[0], starts_row=starts_row)
    if not pictures.loop:  # nothing had to be inverted
        del panels[1]
    return panels


# -- parts of schemes ----------------------------------------------------------------------------------------------------------


def _panel_scene(scheme: PogScheme, options: Options, ends: tuple[str, str] | None = None) -> Scene:
    plan = plan_pog(scheme, options)
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

    def of_loop(column: Column) -> bool:
        ends = [{scheme.blocks[b].input, scheme.blocks[b].output} for b in column.blocks]
        return pictures.element in column.blocks or any(pair <= loop for pair in ends)

    found = ladder_with(scheme, of_loop)
    # A piece can only be cut out of one main ladder; a side ladder alone would hang in the air.
    if found is None or found[0] not in scheme.ladders:
        return None
    columns = found[0].columns
    # From the first column of the loop to the last: what stands between them belongs to the loop or hangs in it.
    first, last = found[1][0], found[1][-1]
    # A junction is shown whole.
    while first and columns[first - 1].junction == columns[first].junction != "":
        first -= 1
    while last + 1 < len(columns) and columns[last + 1].junction == columns[last].junction != "":
        last += 1
    return columns[first].left, columns[last].right


def _limit(pictures: ReductionPictures) -> tuple[str, str]:
    """The energy coefficient before and in the limit, in the words of its parameter; for a connection, its modulus."""
    if pictures.element not in pictures.original.elements:
        coupling = next(c for c in pictures.original.causal.graph.couplings if c.element == pictures.element)
        alone = len(coupling.K) == 1 == len(coupling.K[0])
        text = figure_latex(coupling.K[0][0]) if alone else name_latex(pictures.element)
        return text, rf"{text} \rightarrow 0"
    # What goes to zero depends on what is inverted: an inertia, a compliance, a resistance or a conductance.
    law = pictures.original.elements[pictures.element].port.law
    after = pictures.simplified.elements[pictures.element].port.law
    name = name_latex(pictures.element)
    if isinstance(law, ResistiveLaw):
        text = name if law.coefficient is None else figure_latex(law.coefficient)
        # The inverted loop asks the element the other way: what it gives back then has to vanish, or to grow without bound.
        vanishes = law.side == pictures.inverted.elements[pictures.element].decides
        before, end = ("> 0", "0") if vanishes else (rf"< {INFINITY}", INFINITY)
        return f"{text} {before}", rf"{text} \rightarrow {end}"
    inertia = law.inertia if isinstance(law, StorageLaw) else None
    if isinstance(after, SourceLaw):
        text = name if inertia is None else figure_latex(inertia)
        return text, rf"{text} \rightarrow {INFINITY}"
    if inertia is None:
        return f"{name} > 0", rf"{name} \rightarrow 0"
    # A capacity that is written as 1/k goes to zero when k grows: the limit is said of the parameter that people set.
    inverse = figure_latex(ONE / inertia)
    if len(inertia.args) and r"\frac" not in inverse:
        return rf"{inverse} < \infty", rf"{inverse} \rightarrow \infty"
    text = figure_latex(inertia)
    return f"{text} > 0", f"{text} = 0"


# -- side by side --------------------------------------------------------------------------------------------------------------


def _side_by_side(
    title: str,
    panels: Sequence[StepPanel],
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
        box, letter = panel.scene.box, ascii_lowercase[k % 26]
        caption, wide = _caption(panel, letter)
        width = max(box.width, wide + 20)
        # A panel that is wider than a row by itself still has one, and the figure is drawn smaller.
        if x and (panel.starts_row or x + room + width > max(options.room, width)):
            x, y, row = 0.0, y + row + MARGIN, 0.0
        if room:
            middle = x + room / 2, y + box.height / 2
            shapes.append(Label(ARROW, middle, size=ARROW_SIZE, origin=Origin(part="step", port=str(k))))
            x += room
        shapes += _placed(panel, letter, x + (width - box.width) / 2, y)
        shapes += (moved(label, x + (width - wide) / 2, y + box.height + 18) for label in caption)
        x += width
        row = max(row, box.height + CAPTION_ROOM)
    if beside:
        shapes += _beside(beside, x, y, row, options)
    box = ink_box(shapes, Box(0, 0, 1, y + row))
    if notes:
        under = Box(MARGIN, box.top, max(box.right, MARGIN + 1), box.bottom)
        shapes += note_shapes(notes, (under.left, under.bottom), legend_room(under, options))
        box = ink_box(shapes, box)
    frame = Box(0, min(0, floor(box.top)), ceil(box.right - 0.02) + MARGIN, ceil(box.bottom) + 4)
    return tidy(Scene(title, f"steps of {title}", frame, tuple(shapes)))


def _beside(text: str, x: float, y: float, row: float, options: Options) -> list[Shape]:
    """An equation behind the last panel, or under it where there is no room."""
    ink = set_math(text, SMALL).box
    fits = x + ink.width + MARGIN <= options.room
    at = (x + MARGIN, y + row / 2) if fits else (MARGIN, y + row + 12 + ink.height / 2)
    return [Label(text, at, size=SMALL, align="left", origin=Origin(part="congruence"))]


def _placed(panel: StepPanel, letter: str, dx: float, dy: float) -> Iterator[Shape]:
    """The shapes of a panel, told apart from those of the others by a letter at their port."""
    for shape in panel.scene.shapes:
        # The same element is drawn in every panel, and ids and checks count each shape once.
        yield replace(moved(shape, dx, dy), origin=replace(shape.origin, port=f"{letter}.{shape.origin.port}"))


def _caption(panel: StepPanel, letter: str) -> tuple[list[Shape], float]:
    """The caption of a panel from the origin on, and its width."""
    words, origin = f"({letter}) {panel.words}".strip(), Origin(part="caption", port=f"{letter}.")
    found: list[Shape] = [Label(words, (0, 0), NOTE, "left", "baseline", math=False, tone="quiet", origin=origin)]
    width = set_words(words, NOTE).box.width
    if panel.math:
        found.append(Label(panel.math, (width + 10, 0), SMALL, "left", "baseline", origin=origin))
        width += 10 + set_math(panel.math, SMALL).box.width
    return found, width


STEPS = "steps"
"""The notation that shows how a model was reduced."""
Step = PogScheme | Rewriting
Steps = list[Step | Orientation] | tuple[Step | Orientation, ...]
"""What is drawn side by side."""
MOST_ROWS, LONGEST = 8, 120
"""A larger congruence is in the equations of the reduction only."""


def steps_scene(what: object, options: Options = DEFAULTS) -> Scene:
    """The steps of a reduction, of a list of schemes and operations on them, or all orientations of a scheme.

    Raises: FigureError (F190) for what has no steps.
    """
    if isinstance(what, Reduction):
        return _reduction_scene(what, options)
    found = what if isinstance(what, list | tuple) else ()
    orientations = [item for item in found if isinstance(item, Orientation)]
    steps = [item for item in found if isinstance(item, Step)]
    if found and len(orientations) == len(found):
        return _orientations(orientations, options)
    if found and len(steps) == len(found):
        return _steps(steps, options)
    # The kind of the first thing that is no step says most about what was meant.
    strange = [item for item in found if not isinstance(item, Step)]
    told = f"what is of the kind '{type(strange[0]).__name__}' is no step" if strange else "a model alone has no steps"
    fix = "give a limit: --limit J_m=0, or draw(reduce(model, {'J_m': 0}), 'steps'); or a list: draw([scheme, step])"
    raise rules.NO_STEPS.error("there are no steps in an empty list" if what in ([], ()) else told, fix=fix)


def _steps(steps: Sequence[Step], options: Options) -> Scene:
    """Schemes, each with the account of the step that made it."""
    panels = [
        StepPanel(_panel_scene(step.scheme, options), step.account)
        if isinstance(step, Rewriting)
        else StepPanel(_panel_scene(step, options), "" if k else "as it is")
        for k, step in enumerate(steps)
    ]
    first = steps[0].scheme if isinstance(steps[0], Rewriting) else steps[0]
    return _side_by_side(first.name, panels, options)


def _orientations(found: Sequence[Orientation], options: Options) -> Scene:
    """The orientations that may be drawn, each with the path that was inverted; of the others it is told why not."""
    panels = [StepPanel(_panel_scene(o.scheme, options), o.path) for o in found if o.scheme is not None]
    notes = [f"Not drawn: {o.path}, because {o.why_not}." for o in found if o.scheme is None]
    name = next((o.scheme.name for o in found if o.scheme is not None), "orientations")
    return _side_by_side(name, panels, options, arrows=False, notes=notes)


def _reduction_scene(reduction: Reduction, options: Options) -> Scene:
    """The pictures of every element that goes, a row for each, and the congruence."""
    panels, notes = reduction_panels(reduction, options)
    return _side_by_side(reduction.original.name, panels, options, beside=_congruence(reduction), notes=notes)


def reduction_panels(
    reduction: Reduction, options: Options = DEFAULTS, say: Phrases = ENGLISH
) -> tuple[list[StepPanel], list[str]]:
    """The pictures of every element that goes, one after the other, and notes on them.

    Raises: FigureError (F190) where the limits take no element out of the scheme.
    """
    pictures = scheme_pictures(reduction)
    if not pictures.stages:
        what = pictures.why_not or "the limits take no element out of the scheme"
        raise rules.NO_STEPS.error(what, where=reduction.original.name, fix="look at its equations: reduce --steps")
    panels: list[StepPanel] = []
    if _shows_loops(pictures.stages):
        for stage in pictures.stages:
            panels += _reduction_panels(stage, options, starts_row=bool(panels), say=say)
        if _follows(pictures.stages[-1].simplified):
            panels[-1] = replace(panels[-1], scene=_model_scene(assign_causality(lower(reduction.model)), options))
    else:
        there, gone = (r",\ ".join(texts) for texts in zip(*map(_limit, pictures.stages), strict=True))
        full = _model_scene(reduction.causal, options, [limit.name for limit in reduction.limits])
        panels = [
            StepPanel(full, say("reduction.extended"), there),
            StepPanel(_model_scene(assign_causality(lower(reduction.model)), options), say("reduction.reduced"), gone),
        ]
    return panels, [f"{note}." for note in (*pictures.notes, pictures.why_not) if note]


def _shows_loops(stages: Sequence[ReductionPictures]) -> bool:
    """Whether the loops of a reduction can be seen: a vector block hides them, and so does one that stands for several storages."""
    schemes = [scheme for stage in stages for scheme in (stage.original, stage.inverted, stage.simplified)]
    return not any(scheme.vectorial for scheme in schemes) and not any(
        _follows(stage.simplified) for stage in stages[:-1]
    )


def _follows(scheme: PogScheme) -> bool:
    """Whether storages of a scheme follow others."""
    return any(block.kind == "derivative" for block in scheme.blocks.values())


MOST_MARKED = 6
"""Entries of matrices that are written out under a figure because a limit changes them."""


def _model_scene(causal: CausalGraph, options: Options, marked: Sequence[str] = ()) -> Scene:
    """The figure of a model, with the entries of its matrices in which marked parameters stand where nothing shows them."""
    plan, scheme = plan_model_pog(causal, options)
    boxes = (box.text for ladder in plan.ladders for column in ladder.all_columns() for box in _boxes(column.content))
    seen = " ".join((*boxes, *plan.legend))
    hidden = {name for name in marked if name_latex(name) not in seen}
    if scheme.vector is None or not hidden:
        return plan_scene(plan, options)
    entries = [
        (rf"{bold(letter)}_{{{i + 1},{j + 1}}}", entry)
        for letter in ("L", "A", "B")
        for i, row in enumerate(getattr(scheme.vector, letter))
        for j, entry in enumerate(row)
        if hidden & entry.free_symbols
    ]
    shown = tuple(f"{name} = {figure_latex(entry)}" for name, entry in entries[:MOST_MARKED] if not is_too_long(entry))
    return plan_scene(replace(plan, legend=(*plan.legend, *shown)), options)


def _boxes(content: ElementPlan | ConnectionPlan | BranchPlan | None) -> tuple[BoxPlan, ...]:
    match content:
        case ElementPlan(boxes=boxes):
            return boxes
        case ConnectionPlan(upper=upper, lower=lower):
            return upper, lower
    return ()


def _congruence(reduction: Reduction) -> str:
    """x = T z + T_u u, with the names of all three; empty where it is too large for a figure.

    What only rates determine, such as the force of a constraint, has a row of zeros in T that says nothing: it is left out.
    """
    full = reduction.full.states
    kept = [k for k, name in enumerate(full) if not reduction.follows_from_rates(name)]
    T, T_u = (tuple(M[k] for k in kept) for M in (reduction.transformation, reduction.input_transformation))
    terms = [(T, reduction.equations.states), (T_u, reduction.equations.inputs)]
    shown = [(matrix, names) for matrix, names in terms if not is_null(matrix)]
    entries = [entry for matrix, _ in shown for row in matrix for entry in row]
    if not shown or len(T) > MOST_ROWS or max(len(names) for _, names in shown) > MOST_ROWS:
        return ""
    if sum(map(formula_size, entries)) > LONGEST:
        return ""

    def bracketed(matrix: Matrix) -> str:
        # matrix_latex gives a single entry as it is, which in a product needs brackets.
        alone = len(matrix) == len(matrix[0]) == 1
        return rf"\left({matrix_latex(matrix)}\right)" if alone else matrix_latex(matrix)

    told = " + ".join(rf"{bracketed(matrix)}\,{_column(names)}" for matrix, names in shown)
    return f"{_column([full[k] for k in kept])} = {told}"


def _column(names: Sequence[str]) -> str:
    if len(names) == 1:
        return name_latex(names[0])
    body = r" \\ ".join(map(name_latex, names))
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"
