"""The errors that bad input can raise, and the findings that `check` collects.

    TellegenError
    ├── DescriptionError   D  what the user wrote, M a mechanism
    ├── GraphError         G  how it is connected
    ├── CausalityError     K  who decides what
    ├── EquationError      E  which equations follow
    ├── ReductionError     T  limits and other coordinates
    ├── ConditioningError  C  dependent storages in other forms
    ├── CompilerError      N  from equations to machine code
    ├── SimulationError    S  time advancing
    ├── FigureError        F  what is drawn
    ├── ExportError        X  files for other tools
    └── LessonError        L  exercises and answers

Each finding belongs to a `Rule` with a code that is never reused. A rule is declared once, beside the code that applies it;
`tellegen explain` and its page on the site are made from the declaration. The same record feeds terminal, JSON and screens.
"""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, final

from tellegen.core.hidden_characters import visible

Severity = Literal["error", "warning", "notice"]


class Place(NamedTuple):
    """Where something stands in a file: line and column count from 1, `text` is the offending text."""

    file: str
    line: int
    column: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `check` found: what, where, why it is physics (or grammar) and not taste, and what to do next."""

    code: str
    severity: Severity
    what: str
    where: str = ""
    why: str = ""
    fix: str = ""
    place: Place | None = None
    members: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The finding as an engineer reads it on a terminal; nothing in the names that it repeats is obeyed there."""
        head = f"{self.severity} {self.code}: {self.what}"
        lines = [head]
        if self.place is not None:
            text = f"   {self.place.text.strip()}" if self.place.text.strip() else ""
            lines.append(f"  at {self.place}{text}")
        if self.where:
            lines.append(f"  in {self.where}")
        if self.why:
            lines.append(f"  because {self.why}")
        if self.fix:
            lines.append(f"  try: {self.fix}")
        return visible("\n".join(lines))

    def to_json(self) -> dict[str, object]:
        """The finding as names and texts, empty parts left out."""
        record: dict[str, object] = {"code": self.code, "severity": self.severity, "what": self.what}
        record |= {key: value for key in ("where", "why", "fix") if (value := getattr(self, key))}
        if self.place is not None:
            record["place"] = self.place._asdict()
        if self.members:
            record["members"] = list(self.members)
        return record


class TellegenError(Exception):
    """Bad input, with every finding that led to it. `code` and `what` are those of the first finding."""

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        self.findings = (findings,) if isinstance(findings, Finding) else tuple(findings)
        # An error without a reason could not be told to anybody.
        assert self.findings, "an error needs at least one finding"
        super().__init__("\n".join(map(str, self.findings)))

    @property
    def finding(self) -> Finding:
        """The first finding."""
        return self.findings[0]

    @property
    def code(self) -> str:
        """The code of the first finding."""
        return self.finding.code

    @property
    def what(self) -> str:
        """What the first finding says is wrong."""
        return self.finding.what


class DescriptionError(TellegenError):
    """What the user wrote cannot be read (codes D), or is no mechanism (codes M)."""


class MechanismError(TellegenError):
    """Bodies and joints cannot be put together as described (codes M)."""


class GraphError(TellegenError):
    """The parts cannot be connected as described (codes G)."""


class CausalityError(TellegenError):
    """Nobody, or two at once, would decide a power variable (codes K)."""


class EquationError(TellegenError):
    """The equations cannot be written in the form asked for (codes E)."""


class ReductionError(TellegenError):
    """A limit or a change of coordinates does not exist (codes T)."""


class ConditioningError(TellegenError):
    """Dependent storages cannot be brought into the form asked for (codes C)."""


class CompilerError(TellegenError):
    """The equations cannot be turned into machine code (codes N)."""


class SimulationError(TellegenError):
    """Time cannot advance (codes S). `run` holds what was finished before it ended, where something was."""

    run: Any = None


class FigureError(TellegenError):
    """A figure cannot be drawn as asked (codes F)."""


class ExportError(TellegenError):
    """A file for another tool cannot be written (codes X)."""


class LessonError(TellegenError):
    """No exercise can be made, or answers cannot be graded (codes L)."""


_LAYERS: Mapping[str, tuple[type[TellegenError], str]] = {
    "D": (DescriptionError, "Description: what the user wrote"),
    "M": (MechanismError, "Mechanisms: bodies and joints"),
    "G": (GraphError, "Graph: how it is connected"),
    "K": (CausalityError, "Causality: who decides what"),
    "E": (EquationError, "Equations: which equations follow"),
    "T": (ReductionError, "Reduction: limits and other coordinates"),
    "C": (ConditioningError, "Conditioning: forms for dependent storages"),
    "N": (CompilerError, "Compiler: from equations to machine code"),
    "S": (SimulationError, "Simulation: time advancing"),
    "F": (FigureError, "Figures: what is drawn"),
    "X": (ExportError, "Exporting: files for other tools"),
    "L": (LessonError, "Lessons: exercises and answers"),
}

ERROR_OF_LAYER: Mapping[str, type[TellegenError]] = {letter: kind for letter, (kind, _) in _LAYERS.items()}

LAYERS: Mapping[str, str] = {letter: words for letter, (_, words) in _LAYERS.items()}
"""What the first letter of a code stands for."""

SEVERITIES: Mapping[Severity, str] = {
    "error": "the model cannot be used until it is changed",
    "warning": "the model can be used, but probably not as meant",
    "notice": "the model is fine; this is worth knowing",
}

LONGEST_LINE = 160
"""Longer lines of an example are cut where it is shown: they are there to be too long."""


def sentence(text: str) -> str:
    """The words of a text on one line, with a capital and a full stop."""
    line = " ".join(text.split())
    # Not `capitalize`, which would make `POG` into `Pog`.
    line = line[:1].upper() + line[1:]
    return line if line.endswith((".", "!", "?", ":")) else line + "."


def cut_lines(text: str) -> str:
    """A file as it is shown: the middle of an overlong line left out."""
    return "\n".join(line if len(line) <= LONGEST_LINE else _cut(line) for line in text.splitlines())


def _cut(line: str) -> str:
    # A quarter from each end leaves room for the words in between.
    half = LONGEST_LINE // 4
    return f"{line[:half]} ... {len(line) - 2 * half} more characters ... {line[-half:]}"


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that a model must keep, with the text of its documentation page.

    `example` is a model file that breaks the rule and `instead` one that keeps it: the tests run both, so a page cannot lie.
    A rule that no model file can break by itself (a missing file, say) leaves them empty.
    """

    code: str
    title: str
    meaning: str
    why: str
    example: str = ""
    instead: str = ""
    severity: Severity = "error"

    @property
    def layer(self) -> str:
        """The word for the layer that the rule belongs to."""
        return LAYERS[self.code[0]].partition(":")[0].lower()

    def to_text(self, width: int = 100) -> str:
        """All there is to say about the rule, as `tellegen explain` prints it; files are not broken into lines."""
        about = f"{self.severity} ({SEVERITIES[self.severity]}); layer: {self.layer}"
        parts = [f"{self.code}: {self.title}\n{about}", textwrap.fill(sentence(self.meaning), width)]
        parts.append("Why\n" + textwrap.fill(sentence(self.why), width, initial_indent="  ", subsequent_indent="  "))
        for word, file in (("Wrong", self.example), ("Right", self.instead)):
            if file:
                parts.append(f"{word}\n" + textwrap.indent(cut_lines(file), "  "))
        return "\n\n".join(parts)

    def to_json(self) -> dict[str, object]:
        """The rule as names and texts, empty parts left out."""
        record = {key: getattr(self, key) for key in ("code", "severity", "layer", "title", "meaning", "why")}
        return record | {key: text for key in ("example", "instead") if (text := getattr(self, key))}

    def finding(
        self,
        what: str,
        *,
        where: str = "",
        why: str | None = None,
        fix: str = "",
        place: Place | None = None,
        members: Iterable[str] = (),
    ) -> Finding:
        """A finding under this rule; `why` defaults to the rule's own reason."""
        return Finding(
            code=self.code,
            severity=self.severity,
            what=what,
            where=where,
            why=self.why if why is None else why,
            fix=fix,
            place=place,
            members=tuple(members),
        )

    def error(
        self,
        what: str,
        *,
        where: str = "",
        why: str | None = None,
        fix: str = "",
        place: Place | None = None,
        members: Iterable[str] = (),
    ) -> TellegenError:
        """The exception that carries one finding under this rule."""
        finding = self.finding(what, where=where, why=why, fix=fix, place=place, members=members)
        # The letter of the code decides the class, so that a rule cannot be raised as an error of another layer.
        return ERROR_OF_LAYER[self.code[0]](finding)


class Rulebook:
    """Rules of one layer, in the order of their codes; `tellegen explain` finds it by the letter that it is made with.

    `right` is the file that keeps a rule whose example has no `instead` of its own: most examples are one good file with a slip.
    """

    def __init__(self, layer: str, right: str = "") -> None:
        self.layer, self.right = layer, right
        self.rules: dict[str, Rule] = {}

    def rule(
        self,
        code: str,
        title: str,
        *,
        meaning: str,
        why: str,
        example: str = "",
        instead: str = "",
        severity: Severity = "error",
    ) -> Rule:
        """Declare a rule; its code starts with the layer's letter and is used once."""
        assert code.startswith(self.layer), f"{code} does not belong to layer {self.layer}"
        # Pages, messages and people refer to a code for ever.
        assert code not in self.rules, f"code {code} is used twice"
        right = instead or (self.right if example else "")
        made = Rule(code, title, meaning=meaning, why=why, example=example, instead=right, severity=severity)
        self.rules[code] = made
        return made
