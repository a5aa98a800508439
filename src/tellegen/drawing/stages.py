"""`stages`: a figure as it comes about on a blackboard, one picture after the other, each with its reason.

The strokes of a bond graph in the order of their assignment, the columns of a POG under the schematic, the steps of a reduction.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from math import ceil
from pathlib import Path
from typing import Any, final

from tellegen.causality import CausalGraph, assign_causality, assign_with_conflicts
from tellegen.core.errors import FigureError
from tellegen.core.language import LANGUAGES, Language, Phrases, unknown_language
from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import rules
from tellegen.drawing.figures import Figure, draw
from tellegen.drawing.options import DEFAULTS, Options, read_options
from tellegen.drawing.overlay.animation import Animation
from tellegen.drawing.pog.scene import legend_room, note_shapes
from tellegen.drawing.pog.steps import CAPTION_ROOM, STEPS, StepPanel, reduction_panels
from tellegen.graph import lower
from tellegen.notations.loading import AnyModel, as_model
from tellegen.reduction import Reduction
from tellegen.scenes.geometry import Box
from tellegen.scenes.ink import ink_box
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.pictures import check_suffix, write_drawing
from tellegen.scenes.scene import (
    MARGIN,
    Band,
    Bond,
    Label,
    Origin,
    Ring,
    Scene,
    Section,
    Shape,
    Tone,
    moved,
    tidy,
    with_captions,
)
from tellegen.scenes.strokes import stroke_end
from tellegen.scenes.writers.raster import to_pdf_pages
from tellegen.scenes.writers.tikz import to_beamer
from tellegen.schemes import BondGraphScheme, PogScheme, bond_graph, pog
from tellegen.schemes.pog_scheme import Column
from tellegen.schemes.residual_sinks import with_free_sinks
from tellegen.schemes.strokes import CausalStroke, stroke_sequence

NEW: Tone = "power"
"""The tone of what a stage adds."""
ROUND_STROKE = 12.0
"""The radius of the ring round a new stroke: colours alone are lost in print."""
REASON_DROP, REASON_LINE = 10.0, 17.0
SECONDS = 2.5
"""How long an animation shows a stage: a sentence is read meanwhile."""


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """One picture, and in words what it adds and why."""

    scene: Scene
    reason: str


@final
@dataclass(frozen=True, slots=True)
class Stages:
    """Pictures one after the other, all of one size. `save` writes them in any format.

    >>> from tellegen.drawing import stages
    >>> stages("rlc", "bond")[1].reason
    'The source `Se:V` imposes its effort.'
    """

    title: str
    stages: tuple[Stage, ...]
    options: Options = DEFAULTS
    language: Language = "en"

    def __len__(self) -> int:
        return len(self.stages)

    def __getitem__(self, number: int) -> Stage:
        return self.stages[number]

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    def figure(self, number: int) -> Figure:
        """One stage as a figure, with its reason under it."""
        return Figure(self._scenes()[number], self.options)

    def figures(self) -> tuple[Figure, ...]:
        """All stages as figures."""
        return tuple(Figure(scene, self.options) for scene in self._scenes())

    def animation(self) -> Animation:
        """The stages as an animation: what they have in common stays."""
        still, frames = _overlays(self._scenes())
        captions = tuple(f"{number}: {stage.reason.replace('`', '')}" for number, stage in enumerate(self))
        times, seconds = tuple(map(float, range(len(self)))), SECONDS * len(self)
        return Animation(still, frames, times, seconds, self.options, captions=captions, language=self.language)

    def tikz(self, *, standalone: bool = False) -> str:
        """The stages as the overlays of a beamer frame, or of a whole document that pdflatex reads."""
        # What is told stands under the picture as text, in the letters of the slide.
        still, frames = _overlays(self._alike())
        told = [sentence_latex(stage.reason) for stage in self]
        return to_beamer(still, frames, told, theme=self.options.theme, standalone=standalone)

    def pdf(self) -> bytes:
        """The stages as the pages of a PDF."""
        scenes = self._scenes()
        return to_pdf_pages(scenes, theme=self.options.theme, scale=self.options.zoom(scenes[0].box.width))

    def save(self, path: str | Path) -> list[Path]:
        """Write the stages: .tex is a document of beamer overlays, .pdf has a page for each stage, of the other formats each has a
        file, with a number before the suffix.

        Raises: FigureError for an unknown suffix (F104), or when the system refuses (F105).
        """
        target = Path(path)
        check_suffix(target)
        whole = WHOLE.get(target.suffix.lower())
        if whole is not None:
            return [write_drawing(target, whole(self))]
        return [figure.save(name) for figure, name in zip(self.figures(), file_names(target, len(self)), strict=True)]

    def _scenes(self) -> list[Scene]:
        """The pictures with their reasons under them, in one box for all."""
        box = self._box()
        room = legend_room(box, self.options)
        reasons = [_reason_shapes(stage.reason, (MARGIN, box.bottom + REASON_DROP), room) for stage in self]
        lines = max(map(len, reasons))
        right = max(box.right, *(ceil(ink_box(labels, box).right) + MARGIN for labels in reasons))
        box = Box(0, 0, right, box.bottom + REASON_DROP + lines * REASON_LINE + 6)
        return [
            tidy(
                replace(
                    stage.scene,
                    title=self.title,
                    about=stage.reason.replace("`", ""),
                    box=box,
                    shapes=(*stage.scene.shapes, *under),
                )
            )
            for stage, under in zip(self, reasons, strict=True)
        ]

    def _alike(self) -> list[Scene]:
        """The pictures in one box, without their reasons."""
        box = self._box()
        return [tidy(replace(stage.scene, title=self.title, box=box)) for stage in self]

    def _box(self) -> Box:
        """The box round all pictures."""
        boxes = [stage.scene.box for stage in self]
        return Box(0, 0, max(box.right for box in boxes), max(box.bottom for box in boxes))

    def __str__(self) -> str:
        return "\n".join(f"{number:>3}  {stage.reason.replace('`', '')}" for number, stage in enumerate(self.stages))


def _overlays(scenes: Sequence[Scene]) -> tuple[Scene, tuple[tuple[Shape, ...], ...]]:
    """What all pictures show, and what each shows beside it."""
    common = set(scenes[0].shapes).intersection(*(scene.shapes for scene in scenes))
    still = replace(scenes[-1], shapes=tuple(shape for shape in scenes[-1].shapes if shape in common))
    return still, tuple(tuple(shape for shape in scene.shapes if shape not in common) for scene in scenes)


def sentence_latex(text: str) -> str:
    """A sentence as LaTeX: names between backquotes become letters with their subscripts."""
    parts = text.split("`")
    for k in range(1, len(parts), 2):
        letters, colon, name = parts[k].rpartition(":")
        parts[k] = rf"$\mathrm{{{letters}}}{{:}}{name_latex(name)}$" if colon else f"${name_latex(name)}$"
    return "".join(parts)


WHOLE: Mapping[str, Callable[[Stages], bytes]] = {
    ".tex": lambda stages: stages.tikz(standalone=True).encode(),
    ".pdf": lambda stages: stages.pdf(),
}
"""The formats in which all stages are one file."""


def file_names(path: Path, count: int) -> list[Path]:
    """The files in which stages are written: one, or `strokes-00.svg`, `strokes-01.svg`, ..."""
    if path.suffix.lower() in WHOLE:
        return [path]
    digits = len(str(count - 1))
    return [path.with_name(f"{path.stem}-{number:0{digits}}{path.suffix}") for number in range(count)]


def _reason_shapes(reason: str, at: tuple[float, float], room: float) -> list[Shape]:
    found = note_shapes([reason.replace("`", "")], at, room - 2 * MARGIN)
    return [
        replace(label, tone="ink", slanted=False, origin=Origin(part="reason"))
        for label in found
        if isinstance(label, Label)
    ]


def stages(what: AnyModel, notation: str = "bond", *, language: Language = "en", **options: object) -> Stages:
    """A figure as it comes about, one picture after the other with its reason.

    `bond` shows the causality of a bond graph stroke by stroke: sources, what must be, storages, resistive elements, and after each
    what follows at junctions; the last picture is the bond graph as it is drawn. `pog` builds a Power-Oriented Graph column by
    column under the schematic. `steps` shows what `reduce` gave back: the model, the inverted loop, what is left. Reasons are told
    in a `language`: en, it, de or fr. The options are those of `draw`.

    Raises: FigureError for what has no stages (F191), and what `draw` raises.
    """
    if language not in LANGUAGES:
        raise rules.NO_STAGES.error(f"there are no sentences in '{language}'", fix=unknown_language(language))
    if notation not in STAGED:
        fix = did_you_mean(notation, STAGED) or f"choose one of {listing(STAGED)}"
        raise rules.NO_STAGES.error(f"there are no stages of a figure '{notation}'", fix=fix)
    made, say = STAGED[notation](what, read_options(options), Phrases(language)), Phrases(language)
    return replace(made, stages=tuple(replace(stage, scene=with_captions(stage.scene, say)) for stage in made))


# -- causality, stroke by stroke ---------------------------------------------------------------------------------------------------


def _strokes(what: AnyModel, options: Options, say: Phrases) -> Stages:
    scheme = scalar_bond_graph(assign_with_conflicts(lower(with_free_sinks(as_model(what)))))
    # Reasons name junctions and bonds, so these have their names and numbers.
    figure = draw(scheme, **_keywords(replace(options, names=True, bond_numbers=True)))
    sequence = stroke_sequence(scheme)
    told = [say("strokes.none"), *(stroke.reason(say) for stroke in sequence)]
    if conflicts := [finding.what for finding in scheme.causal.contradictions]:
        told[-1] = ". ".join((told[-1].removesuffix("."), *conflicts)) + "."
    scenes = (with_strokes(figure.scene, sequence[:count]) for count in range(len(sequence) + 1))
    return Stages(figure.scene.title, tuple(map(Stage, scenes, told)), options, say.language)


def scalar_bond_graph(causal: CausalGraph) -> BondGraphScheme:
    """The bond graph whose strokes are told: scalar where vector bonds would hide that each of their bonds has one of its own."""
    scheme = bond_graph(causal, vectors=True)
    return bond_graph(causal) if any(bond.size > 1 for bond in scheme.bonds) else scheme


def _keywords(options: Options) -> dict[str, Any]:
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name != "earlier"}


def with_strokes(scene: Scene, put: Sequence[CausalStroke]) -> Scene:
    """The figure of a bond graph with the strokes put so far, the last one marked."""
    known = {f"bond {stroke.bond}" for stroke in put}
    newest = f"bond {put[-1].bond}" if put else ""
    shapes: list[Shape] = []
    for shape in scene.shapes:
        bond = shape.origin.port
        if isinstance(shape, Bond):
            drawn = replace(shape, tone=NEW) if bond == newest else shape
            shapes.append(drawn if bond in known else replace(shape, stroke="", warned=False))
            if bond == newest and drawn.stroke:
                shapes.append(Ring(stroke_end(drawn)[0], ROUND_STROKE, True, NEW, Origin(part="new stroke")))
        # A dashed ring marks a storage that follows, or a conflict: nobody knows of it before its stroke.
        elif not (isinstance(shape, Ring) and shape.dashed) or bond in known:
            shapes.append(shape)
    return replace(scene, shapes=tuple(shapes))


# -- a POG from its schematic ------------------------------------------------------------------------------------------------------


def _building(what: AnyModel, options: Options, say: Phrases) -> Stages:
    model = as_model(what)
    drawn = draw(model, "pog", **_keywords(options)).scene
    scheme = pog(assign_causality(lower(model)))
    try:
        beside: Scene | None = draw(model, "network", **_keywords(options)).scene
    except FigureError:
        beside = None  # a model whose elements no schematic can show
    columns = [column for ladder in scheme.ladders for column in ladder.all_columns()]
    entries = [ladder.entry for ladder in scheme.ladders if ladder.entry]
    made = [Stage(_built(drawn, beside, columns, 0, entries), _beginning(scheme, entries, say))]
    for count, column in enumerate(columns, 1):
        made.append(Stage(_built(drawn, beside, columns, count, entries), _reason_of(column, scheme, say)))
    # What belongs to no column, such as equations under the figure, comes last.
    made.append(Stage(_stacked(beside, drawn), say("building.whole" if scheme.vectorial else "building.rest")))
    return Stages(drawn.title, tuple(made), options, say.language)


def _beginning(scheme: PogScheme, entries: Sequence[str], say: Phrases) -> str:
    sections = [scheme.sections[name] for name in entries]
    names = say.names(name for section in sections for name in (section.across, section.through))
    return say("building.start", names=names) if names else say("building.begin")


def _reason_of(column: Column, scheme: PogScheme, say: Phrases) -> str:
    if column.kind == "branch":
        inside = [inner.name for inner in column.branch.columns] if column.branch is not None else []
        return say("building.branch", names=say.names(name for name in inside if name), shared=f"`{column.shared}`")
    told = say(f"building.{column.kind}", element=column.name, shared=f"`{column.shared}`")
    kinds = [scheme.blocks[name].kind for name in column.blocks]
    kind = next((kind for kind in ("storage", "derivative", "static") if kind in kinds), None)
    return f"{told} {say(f'building.{kind}')}" if kind else told


def _built(drawn: Scene, beside: Scene | None, columns: Sequence[Column], count: int, entries: Sequence[str]) -> Scene:
    """The first columns of the scheme under the schematic, both with the newest element marked."""
    done, newest = columns[:count], columns[count - 1] if count else None
    elements = {column.name for column in done}
    # What lies behind a branch comes with the column there: before, its wires would lead nowhere.
    sections = {*entries, *(c.left for c in done), *(c.right for c in done if c.kind != "branch")}
    new = _new_elements(newest)

    def shown(shape: Shape) -> bool:
        origin = shape.origin
        if isinstance(shape, Band) or origin.part == "caption":
            return True
        return origin.element in elements if origin.element else origin.port in sections

    shapes = tuple(_marked(shape, new) for shape in drawn.shapes if shown(shape))
    above = None if beside is None else replace(beside, shapes=tuple(_marked(shape, new) for shape in beside.shapes))
    return _stacked(above, replace(drawn, shapes=shapes))


def _new_elements(column: Column | None) -> set[str]:
    """The element of a column, or those that a branch is about."""
    if column is None:
        return set()
    return {column.name} if column.branch is None else {inner.name for inner in column.branch.columns}


def _marked(shape: Shape, new: Set[str]) -> Shape:
    if isinstance(shape, Band | Section) or shape.origin.element not in new:
        return shape
    return replace(shape, tone=NEW)


def _stacked(above: Scene | None, below: Scene) -> Scene:
    """Two figures, one over the other, each in the middle."""
    if above is None:
        return below
    width = max(above.box.width, below.box.width)
    box = Box(0, 0, width, above.box.height + below.box.height)
    shapes = [moved(s, (width - above.box.width) / 2, 0) for s in above.shapes]
    shapes += [moved(s, (width - below.box.width) / 2, above.box.height) for s in below.shapes]
    return replace(below, box=box, shapes=tuple(shapes), notation="", lines=())


# -- a reduction -------------------------------------------------------------------------------------------------------------------


def _reduction(what: AnyModel, options: Options, say: Phrases) -> Stages:
    if not isinstance(what, Reduction):
        told = "a model alone has no steps"
        fix = "give a limit: --limit J_m=0, or stages(reduce(model, {'J_m': 0}), 'steps')"
        raise rules.NO_STAGES.error(told, fix=fix)
    panels, notes = reduction_panels(what, options, say)
    words = [panel.words.removesuffix(",") for panel in panels]
    # Only the first letter: German nouns keep theirs.
    made = [
        Stage(_captioned(panel), f"{told[:1].upper()}{told[1:]}.") for panel, told in zip(panels, words, strict=True)
    ]
    if notes:
        made[-1] = replace(made[-1], reason=" ".join((made[-1].reason, *notes)))
    return Stages(what.original.name, tuple(made), options, say.language)


def _captioned(panel: StepPanel) -> Scene:
    """A picture of a reduction with its limit, in the middle under it."""
    box = panel.scene.box
    label = Label(panel.math, (box.centre[0], box.bottom + CAPTION_ROOM / 2), origin=Origin(part="limit"))
    return replace(panel.scene, box=replace(box, bottom=box.bottom + CAPTION_ROOM), shapes=(*panel.scene.shapes, label))


STAGED: Mapping[str, Callable[[AnyModel, Options, Phrases], Stages]] = {
    "bond": _strokes,
    "pog": _building,
    STEPS: _reduction,
}
"""The figures that come about in stages."""
