"""What an exercise asks: a figure with something left out, what the answers to it look like, and what each is worth."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, final

from tellegen.core.language import Phrases
from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import Figure
from tellegen.model.model import Model
from tellegen.teaching import rules

Hidden = Literal["strokes", "equations", "signs", "values", "reduction"]
"""What an exercise leaves out."""
Answers = Mapping[str, str]
"""Answers by what they answer: a bond, a summation, a parameter; equations are counted from 1."""


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """Whether one answer is right, and why not."""

    item: str
    right: bool
    reason: str = ""


class Task(Protocol):
    """One exercise about one model."""

    @property
    def word(self) -> str:
        """The key under which answers stand."""

    @property
    def items(self) -> tuple[str, ...]:
        """What is asked for."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Formulas in LaTeX that the student is given."""

    @property
    def given(self) -> tuple[str, ...]:
        """What the student is told in words."""

    @property
    def figure(self) -> Figure:
        """The figure to complete."""

    @property
    def solved(self) -> Figure:
        """The complete figure."""

    def solution(self) -> Answers:
        """Right answers."""

    def answers(self, model: Model) -> Answers:
        """The answers that a student gives by a model."""

    def reasons(self) -> tuple[str, ...]:
        """The solution in sentences."""

    def marks(self, answers: Answers) -> tuple[Mark, ...]:
        """What each answer is worth, in the order in which a teacher looks at them."""


def refuse_unknown(answers: Answers, known: tuple[str, ...], what: str) -> None:
    """Refuse answers to what was not asked.

    Raises: LessonError (L112).
    """
    for name in answers:
        if name not in known:
            fix = did_you_mean(name, known) or f"asked for are {listing(known, 20)}"
            raise rules.UNKNOWN_ITEM.error(f"'{name}' is no {what} of this sheet", where=name, fix=fix)


def missing(items: tuple[str, ...], answers: Answers, say: Phrases) -> dict[str, Mark]:
    """A mark for each item without an answer."""
    return {item: Mark(item, False, say("grade.missing")) for item in items if not answers.get(item, "").strip()}
