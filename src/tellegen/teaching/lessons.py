"""Lessons: a derivation or a reduction step by step, each step with the figure in which what it speaks of is marked."""

from collections.abc import Iterator, Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.files import failure_reason, write_bytes
from tellegen.core.language import Language, Phrases
from tellegen.core.names import did_you_mean
from tellegen.drawing import Figure, draw
from tellegen.drawing.stages import NEW, stages
from tellegen.equations.printing.explanation import (
    AlgebraicLoop,
    ExplainedEntry,
    Item,
    NamedFormula,
    Sentence,
    ShownMatrix,
)
from tellegen.equations.printing.latex import item_lines, items_to_latex, prose
from tellegen.equations.steps import Explanation
from tellegen.expressions.symbols import written_with
from tellegen.graph import SourceLaw, StorageLaw, lower
from tellegen.model.model import Model
from tellegen.reduction import Reduction
from tellegen.reporting.formulas import page_lines
from tellegen.reporting.html import to_html
from tellegen.reporting.pages import Beside, PageBlock, PageFormulas, PagePicture, PageSection, Prose, Report
from tellegen.reporting.reports import element_links
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Band, Label, Section, Shape, with_captions
from tellegen.scenes.writers.tikz import TIKZ_PACKAGES, latex_words
from tellegen.teaching import rules

MOST_FIGURES = 40
"""Steps after so many figures stand without one: nobody leafs through hundreds of pictures of a large model."""
MOST_OWNERS = 6
"""A name that more elements share says nothing about any of them."""
NOTATIONS = ("pog", "mechanism", "network", "bond")
"""The figures that steps are shown in; the first one that shows most elements of the model is taken."""


@final
@dataclass(frozen=True)
class LessonStep:
    """Sentences and formulas, and the figure of what they speak of; `elements` are marked in it."""

    items: tuple[Item, ...]
    figure: Figure | None = None
    elements: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class LessonPart:
    """Steps under a heading."""

    title: str
    steps: tuple[LessonStep, ...]


@final
@dataclass(frozen=True)
class Lesson:
    """A derivation with its figures. `save` writes it as a page (.html) or as a document of LaTeX (.tex)."""

    explanation: Explanation
    parts: tuple[LessonPart, ...]
    links: Mapping[str, tuple[str, ...]]

    @property
    def title(self) -> str:
        """What it is called, in its language."""
        return Phrases(self.explanation.language)("steps.title", name=self.explanation.name)

    def html(self) -> str:
        """A page that needs nothing but a browser."""
        with self._letters():
            sections = tuple(
                PageSection(part.title, tuple(_block(step, f"{n}-{k}") for k, step in enumerate(part.steps)))
                for n, part in enumerate(self._parts(), 1)
            )
        return to_html(Report(self.title, "", sections, self.links, self.explanation.language))

    def latex(self) -> str:
        """A document that pdflatex reads."""
        with self._letters():
            parts = [
                "\n".join([rf"\section*{{{latex_words(part.title)}}}", *map(_latex, part.steps)])
                for part in self._parts()
            ]
        lines = [
            r"\documentclass[11pt,a4paper]{article}",
            r"\usepackage[T1]{fontenc}\usepackage[margin=22mm]{geometry}\usepackage{lmodern}\usepackage{adjustbox}",
            r"\usepackage{amsmath}\setcounter{MaxMatrixCols}{99}\allowdisplaybreaks",
            TIKZ_PACKAGES,
            r"\setlength{\parindent}{0pt}\setlength{\parskip}{6pt}",
            rf"\title{{{latex_words(self.title)}}}\author{{}}\date{{}}",
            r"\begin{document}",
            r"\maketitle",
            *parts,
            r"\end{document}",
            "",
        ]
        return "\n".join(lines)

    def save(self, path: str | Path) -> Path:
        """Write the lesson in the format of its suffix.

        Raises: LessonError (L105) for a suffix that is none of a lesson, or when the system refuses.
        """
        target = Path(path)
        text = self.html() if check_lesson_file(target) == ".html" else self.latex()
        try:
            write_bytes(target, text.encode())
        except (OSError, ValueError) as error:
            what = f"'{target}' cannot be written: {failure_reason(error)}"
            raise rules.SHEET_NOT_WRITTEN.error(what, fix="choose another folder or name") from error
        return target

    def _letters(self) -> AbstractContextManager[None]:
        found = self.explanation
        return written_with(found.symbols, {*found.parameters, *found.where})

    def _parts(self) -> Iterator[LessonPart]:
        """The parts, and names that formulas use at the end."""
        yield from self.parts
        if self.explanation.where:
            items = tuple(NamedFormula(name, e) for name, e in self.explanation.where.items())
            yield LessonPart(Phrases(self.explanation.language)("steps.where"), (LessonStep(items),))


def check_lesson_file(path: Path) -> str:
    """The suffix of a lesson.

    Raises: LessonError (L105) for any other one.
    """
    suffix = path.suffix.lower()
    if suffix not in rules.LESSON_FILES:
        fix = did_you_mean(suffix, rules.LESSON_FILES) or f"end the name in {' or '.join(rules.LESSON_FILES)}"
        raise rules.SHEET_NOT_WRITTEN.error(f"steps are not written as '{suffix or path.name}'", fix=fix)
    return suffix


def lesson(what: Model | Reduction, explanation: Explanation) -> Lesson:
    """Steps with their figures, drawn on the scheme of the model where it can be drawn, else as a schematic or a bond graph."""
    if isinstance(what, Reduction):
        return _reduction_lesson(what, explanation)
    return Lesson(explanation, tuple(_Board(what, explanation.language).parts(explanation)), element_links(what))


def _reduction_lesson(reduction: Reduction, explanation: Explanation) -> Lesson:
    """The steps on the scheme of the full model, then the pictures of the scheme as elements are taken out."""
    parts = tuple(_Board(reduction.original, explanation.language).parts(explanation))
    try:
        pictures = stages(reduction, "steps", language=explanation.language)
    except TellegenError:
        pictures = ()  # type: ignore[assignment]  # a limit of equations that no scheme shows
    shown = tuple(LessonStep((Sentence(stage.reason),), Figure(stage.scene, pictures.options)) for stage in pictures)
    last = (LessonPart(Phrases(explanation.language)("reduce.pictures"), shown),) if shown else ()
    return Lesson(explanation, (*parts, *last), element_links(reduction.original))


# -- figures with what a step speaks of ------------------------------------------------------------------------------------------


@final
class _Board:
    """The figure of a model, in which elements and variables are marked for each step."""

    def __init__(self, model: Model, language: Language) -> None:
        self.links = element_links(model)
        self.owners: dict[str, str] = {}
        for port in lower(model).ports:
            if isinstance(port.law, StorageLaw):
                self.owners[port.state] = port.element
            elif isinstance(port.law, SourceLaw):
                self.owners[port.law.input] = port.element
        self.figure = _drawn(model, {port.element for port in lower(model).ports})
        if self.figure is not None:
            scene = with_captions(self.figure.scene, Phrases(language))
            self.figure = replace(self.figure, scene=scene)
        self.left = MOST_FIGURES

    def parts(self, explanation: Explanation) -> Iterator[LessonPart]:
        for section in explanation.sections:
            if section.items:
                yield LessonPart(section.title, tuple(map(self._step, _groups(section.items))))

    def _step(self, items: tuple[Item, ...]) -> LessonStep:
        names = {name for item in items for name in _names(item)}
        elements = {e for item in items for name in _names(item) for e in self._elements(name, item)}
        if self.figure is None or not self.left or not elements:
            return LessonStep(items)
        texts = {name_latex(name) for name in names}
        places = {place for element in elements for place in _places(element)}
        shapes = tuple(_marked(shape, places, texts) for shape in self.figure.scene.shapes)
        if not any(shape.tone == NEW for shape in shapes if not isinstance(shape, Band | Section)):
            return LessonStep(items)
        self.left -= 1
        scene = replace(self.figure.scene, shapes=shapes)
        return LessonStep(items, Figure(scene, self.figure.options), tuple(sorted(elements)))

    def _elements(self, name: str, item: Item) -> tuple[str, ...]:
        """The elements that a name speaks of: a state of its storage, but in a formula only of itself."""
        if name in self.owners:
            return () if isinstance(item, NamedFormula) and self.links.get(name) != (name,) else (self.owners[name],)
        found = self.links.get(name, ())
        return found if len(found) <= MOST_OWNERS else ()


def _drawn(model: Model, elements: Set[str]) -> Figure | None:
    """The first figure of the model that shows most of its elements, else the one that shows more than others."""
    best: tuple[int, Figure | None] = (0, None)
    for notation in NOTATIONS:
        try:
            figure = draw(model, notation)
        except TellegenError:
            continue  # not every model has every figure
        # One vector block that stands for all elements shows none of them.
        alone = {shape.origin.element for shape in figure.scene.shapes if " " not in shape.origin.element}
        shown = sum(bool(_places(element) & alone) for element in elements)
        best = (shown, figure) if shown > best[0] else best
        if 2 * shown > len(elements):
            break
    return best[1]


def _places(element: str) -> set[str]:
    """What may show an element: itself, or the part that it belongs to."""
    words = element.split(".")
    return {".".join(words[:k]) for k in range(1, len(words) + 1)}


def _marked(shape: Shape, places: Set[str], texts: Set[str]) -> Shape:
    """A shape that is spoken of in a strong colour, other elements pale: on paper without colours both are told apart."""
    if isinstance(shape, Band | Section):
        return shape
    # Two names may have the same letters, as c2 and c_2 have: an element is no variable of another that is spoken of.
    spoken = isinstance(shape, Label) and shape.text in texts and shape.text != name_latex(shape.origin.element)
    if shape.origin.element in places or spoken:
        return replace(shape, tone=NEW)
    return replace(shape, tone="quiet") if shape.origin.element else shape


def _groups(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    """What is told in one step: a sentence with its list and its formulas, or an entry with its paths."""
    starts = [0, *(k for k, pair in enumerate(pairwise(items), 1) if _begins(*pair)), len(items)]
    yield from (items[start:end] for start, end in pairwise(starts))


def _begins(before: Item, item: Item) -> bool:
    if isinstance(item, Sentence):
        # A line of a list after a formula speaks of something else.
        return not item.listed or not isinstance(before, Sentence)
    return isinstance(item, ExplainedEntry | AlgebraicLoop)


def _names(item: Item) -> Iterator[str]:
    """The names of the model that an item speaks of."""
    match item:
        case Sentence(text):
            yield from text.split("`")[1::2]
        case NamedFormula(name, value):
            yield from (name, *sorted(value.free_symbols))
        case ExplainedEntry(paths=paths) | AlgebraicLoop(rounds=paths):
            for path in paths:
                # The members of a larger loop stand in parentheses.
                yield from (name for stop in path.stops for name in stop.strip("()").split(", "))
        case ShownMatrix():
            return


# -- what a step is written as ---------------------------------------------------------------------------------------------------


def _block(step: LessonStep, name: str) -> PageBlock:
    blocks: list[PageBlock] = []
    for item in step.items:
        if isinstance(item, Sentence):
            blocks.append(Prose(prose(item.text), item.listed))
            continue
        # The path stands behind its gain, as in a column.
        rows = " \\\\\n".join(line.replace("&&", r"\qquad") for line in item_lines(item)[1])
        blocks.append(PageFormulas(page_lines(rf"\begin{{align*}} {rows} \end{{align*}}")))
    if step.figure is None:
        return Beside(tuple(blocks))
    picture = PagePicture(name, step.figure.svg(), ", ".join(step.elements))
    return Beside(tuple(blocks), picture)


def _latex(step: LessonStep) -> str:
    words = items_to_latex(step.items)
    if step.figure is None:
        return f"{words}\n"
    # The figure stays on the page of its words.
    drawn = rf"\begin{{adjustbox}}{{max width=\textwidth}}{step.figure.tikz()}\end{{adjustbox}}"
    lines = [
        r"\begin{minipage}{\textwidth}\setlength{\parskip}{6pt}",
        words,
        rf"\begin{{center}}{drawn}\end{{center}}",
        r"\end{minipage}",
    ]
    return "\n".join(lines) + "\n"
