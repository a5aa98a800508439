"""`grade`: what the answers to a sheet are worth, and where the first mistake is."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.language import Language, Phrases
from tellegen.core.names import identifier, listing
from tellegen.model.model import Model
from tellegen.notations.loading import read
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode, read_document
from tellegen.teaching import rules
from tellegen.teaching.sheets import ExerciseSheet, read_sheet
from tellegen.teaching.tasks import Answers, Mark

WORDS = ("strokes", "equations", "signs", "parameters")
MODEL_KEYS = ("system", "network", "bond graph", "pog", "mechanism")
"""A file with one of these keys is a model."""
SHEET = "sheet"
"""The key under which answers say to which sheet they belong."""


@final
@dataclass(frozen=True, slots=True)
class Grade:
    """A mark for each answer, in the order in which a teacher looks at them.

    >>> from tellegen.teaching.tasks import Mark
    >>> print(Grade("RLC circuit", "strokes", 1, (Mark("1", True), Mark("2", False, "No."))))
    RLC circuit, variant 1: 1 of 2 strokes right
      1  right
      2  wrong: No.
    """

    name: str
    word: str
    variant: int
    marks: tuple[Mark, ...]
    language: Language = "en"

    @property
    def right(self) -> int:
        """How many answers are right."""
        return sum(mark.right for mark in self.marks)

    @property
    def complete(self) -> bool:
        """Whether all are."""
        return self.right == len(self.marks)

    @property
    def first_mistake(self) -> Mark | None:
        """The first answer that is wrong."""
        return next((mark for mark in self.marks if not mark.right), None)

    def to_json(self) -> dict[str, object]:
        """The record that `grade --json` prints."""
        first = self.first_mistake
        return {
            "model": self.name,
            "variant": self.variant,
            "hidden": self.word,
            "right": self.right,
            "of": len(self.marks),
            "first_mistake": None
            if first is None
            else {"item": identifier(first.item), "reason": _plain(first.reason)},
            "marks": [
                {"item": identifier(mark.item), "right": mark.right, "reason": _plain(mark.reason)}
                for mark in self.marks
            ],
        }

    def __str__(self) -> str:
        say, right = Phrases(self.language), self.right
        what, count = say(f"grade.{self.word}"), len(self.marks)
        told = (say("grade.right") if m.right else say("grade.wrong", reason=_plain(m.reason)) for m in self.marks)
        lines = [say("grade.head", name=self.name, variant=self.variant, right=right, count=count, what=what)]
        return "\n".join([*lines, *(f"  {m.item}  {text}" for m, text in zip(self.marks, told, strict=True))])


def _plain(text: str) -> str:
    return text.replace("`", "")


def grade(sheet: str | os.PathLike[str] | ExerciseSheet, answers: str | os.PathLike[str]) -> Grade:
    """Grade a file of answers: YAML under the words of the sheet, or a model file.

    Equations and values are compared as numbers, so that another way to write the same is right; strokes by the rules of junctions
    and two-ports, so that another assignment that is as good is right. Nothing in the files is run.

    Raises: LessonError for a file that is no sheet (L104), no answers (L110), those of another sheet (L111), or answers to what was
    not asked (L112) or that cannot be read (L113); DescriptionError for a model file or YAML that is wrong.
    """
    asked = sheet if isinstance(sheet, ExerciseSheet) else read_sheet(sheet)
    given = _given(asked, Path(answers))
    return Grade(asked.model.name, asked.task.word, asked.variant, asked.task.marks(given), asked.language)


def _given(sheet: ExerciseSheet, path: Path) -> Answers:
    root = read_document(path, str(path)).root
    if any(key in root for key in MODEL_KEYS):
        return _of_model(sheet, path)
    belongs = root.get(SHEET)
    if isinstance(belongs, Scalar) and belongs.text != sheet.digest:
        told = f"these are answers to sheet '{belongs.text[:40]}', and this is '{sheet.digest}'"
        raise rules.OTHER_SHEET.error(told, fix="grade them with their own sheet")
    word = sheet.task.word
    node = root.get(word)
    if node is None:
        others = [key for key in WORDS if key in root]
        told = f"there are no {word} in '{path}'" + (f", only {listing(others)}" if others else "")
        raise rules.NO_ANSWERS.error(told, fix=f"write them under '{word}:', as the sheet shows")
    found = _texts(node)
    if not any(text.strip() for text in found.values()):
        raise rules.NO_ANSWERS.error(f"all {word} in '{path}' are empty", fix="fill them in")
    return found


def _texts(node: Node) -> dict[str, str]:
    """Answers by name, or by number where they are a list."""
    if isinstance(node, SequenceNode):
        return {str(k): _text(item, str(k)) for k, item in enumerate(node.items, 1)}
    if isinstance(node, MappingNode):
        return {key.text: _text(value, key.text) for key, value in node.items()}
    return {"1": _text(node, "1")} if _text(node, "1") else {}


def _text(node: Node, name: str) -> str:
    if not isinstance(node, Scalar):
        raise rules.UNREADABLE_ANSWER.error(
            f"the answer '{name}' is a list, not a text", where=name, fix="write one answer a line"
        )
    return node.text


def _of_model(sheet: ExerciseSheet, path: Path) -> Answers:
    """The answers that a model file gives."""
    model = read(path)
    known = {element.name for element in sheet.model.elements}
    strange = [element.name for element in model.elements if element.name not in known]
    # A reduction has fewer elements; one that the sheet does not have is of another model.
    if strange or (sheet.hide != "reduction" and len(model.elements) != len(known)) or not _joined_alike(model, sheet):
        told = f"'{path}' is a model of other elements, or joins them otherwise"
        raise rules.OTHER_SHEET.error(told, where=strange[0] if strange else "", fix="change only what was asked")
    try:
        return sheet.task.answers(model)
    except TellegenError as error:
        raise rules.NO_ANSWERS.error(
            f"'{path}' gives no {sheet.task.word}: {error.what}", fix=error.finding.fix
        ) from error


def _joined_alike(model: Model, sheet: ExerciseSheet) -> bool:
    """Whether the same elements meet at the same nodes, whatever these are called."""

    def meeting(one: Model) -> set[frozenset[str]]:
        at: dict[str, set[str]] = {}
        for element in one.elements:
            for node in element.nodes:
                at.setdefault(node, set()).add(element.name)
        return {frozenset(names) for names in at.values()}

    return sheet.hide in ("reduction", "equations", "values") or meeting(model) == meeting(sheet.model)
