"""Sheets of exercises: a page for the student with the figure to complete, and one with the solution.

A sheet carries what grading needs, its model and what was hidden, packed so that nobody reads the solution by the way. Nothing in a
sheet or in answers is ever run.
"""

import json
import os
import zlib
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from re import compile as regular
from typing import Any, final

from tellegen.core.files import failure_reason, read_bytes, write_bytes
from tellegen.core.language import LANGUAGES, Language, Phrases, unknown_language
from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import Figure
from tellegen.drawing.stages import sentence_latex
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.notations.yaml.writing import quoted
from tellegen.reporting.html import to_html
from tellegen.reporting.pages import (
    Listing,
    PageBlock,
    PageFormulas,
    PagePicture,
    PageSection,
    Paragraph,
    Report,
)
from tellegen.scenes.scene import with_captions
from tellegen.scenes.writers.tikz import TIKZ_PACKAGES, latex_words
from tellegen.teaching import rules
from tellegen.teaching.tasks import Hidden, Task
from tellegen.teaching.variants import TASKS, Asked, task_of, variants_of
from tellegen.workflow.files import refuse_overwriting

RECORD = regular(rb"tellegen-exercise:([A-Za-z0-9+/=]+)")
"""Where a sheet carries its exercise, in any format."""
MOST_BYTES = 16 * 1024 * 1024
"""Larger files are no sheets."""
MOST_VARIANTS = 99


@final
@dataclass(frozen=True)
class ExerciseSheet:
    """One numbered exercise: a model, what is hidden of it, and the task that follows."""

    model: Model
    hide: Hidden
    variant: int = 1
    seed: int = 0
    limit: str = ""
    language: Language = "en"
    task: Task = field(compare=False, repr=False, kw_only=True)

    @property
    def digest(self) -> str:
        """A few letters that tell this sheet from all others."""
        return sha256(self._packed()).hexdigest()[:8]

    def record(self) -> str:
        """What grading needs, as letters."""
        data = self._packed()
        return b64encode(sha256(data).digest()[:8] + zlib.compress(data, 9)).decode()

    def _packed(self) -> bytes:
        names = ("hide", "variant", "seed", "limit", "language")
        return json.dumps({name: getattr(self, name) for name in names} | {"model": to_yaml(self.model)}).encode()

    def blank(self) -> str:
        """The answers to be filled in, as YAML."""
        return self._answers(dict.fromkeys(self.task.items, ""))

    def solution(self) -> str:
        """Right answers, as YAML."""
        return self._answers(self.task.solution())

    def _answers(self, answers: Mapping[str, str]) -> str:
        lines = [f"sheet: {quoted(self.digest)}", f"{self.task.word}:"]
        heads = ("  -" if self.task.word == "equations" else f"  {name}:" for name in answers)
        lines += [
            f"{head} {quoted(text)}" if text else head for head, text in zip(heads, answers.values(), strict=True)
        ]
        return "\n".join(lines) + "\n"

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write the sheet, and beside it the solution: .html, .tex (LaTeX) or .ipynb (a notebook).

        Raises: LessonError (L105) for another suffix, or when the system refuses.
        """
        target = Path(path)
        write = _writer(target)
        files = [target, solution_path(target)]
        for file, solved in zip(files, (False, True), strict=True):
            try:
                write_bytes(file, write(self, file, solved).encode())
            except (OSError, ValueError) as error:
                told = f"'{file}' cannot be written: {failure_reason(error)}"
                raise rules.SHEET_NOT_WRITTEN.error(told, fix="choose another folder or name") from error
        return files

    def _repr_html_(self) -> str:
        return self.task.figure.svg(symbols=True)

    def __str__(self) -> str:
        count = len(self.task.items)
        return f"exercise {self.variant} of {self.model.name}: {count} {self.task.word} ({self.digest})"


def solution_path(path: Path) -> Path:
    """The file of the solution beside a sheet."""
    return path.with_name(f"{path.stem}_solution{path.suffix}")


def sheet_paths(path: Path, count: int) -> list[Path]:
    """The files of numbered sheets: the one that was named, or `sheet_1.html`, `sheet_2.html`, ..."""
    return [path] if count == 1 else [path.with_name(f"{path.stem}_{n}{path.suffix}") for n in range(1, count + 1)]


def exercise(
    model: AnyModel,
    hide: Hidden,
    output: str | os.PathLike[str] | None = None,
    *,
    variants: int = 1,
    seed: int = 0,
    limit: str = "",
    language: Language = "en",
    force: bool = False,
) -> tuple[ExerciseSheet, ...]:
    """Exercises from a model: `strokes`, `equations`, `signs`, `values` or the equations of a `reduction` are left out.

    The first is the model itself; further `variants` have other values and, where its elements can change places, another topology.
    They are made from the `seed`, sound, and no two are alike. A reduction has a `limit`, or takes the first storage that can
    go. With an `output` (.html, .tex or .ipynb) each is written with its solution beside it.

    Raises: LessonError for what cannot be hidden (L101, L102), too few variants (L103), or a file that cannot be written (L105);
    DescriptionError (D302) where a file is there already and `force` is off.

    >>> print(exercise("rlc", "strokes")[0])
    exercise 1 of RLC circuit: 4 strokes (...)
    """
    _check(hide, variants, language)
    count = variants
    target = None if output is None else Path(output)
    if target is not None:
        _writer(target)
        for path in sheet_paths(target, count):
            for file in (path, solution_path(path)):
                refuse_overwriting(file, force=force)
    found = variants_of(as_model(model), Asked(hide, count, seed, limit, Phrases(language)))
    made = tuple(
        ExerciseSheet(one, hide, variant=n, seed=seed, limit=getattr(task, "limit", ""), language=language, task=task)
        for n, (one, task) in enumerate(found, 1)
    )
    if target is not None:
        for sheet, path in zip(made, sheet_paths(target, count), strict=True):
            sheet.save(path)
    return made


def _check(hide: str, count: int, language: str) -> None:
    if hide not in TASKS:
        fix = did_you_mean(hide, TASKS) or f"choose one of {listing(TASKS)}"
        raise rules.NOTHING_TO_HIDE.error(f"'{hide}' is nothing that an exercise hides", fix=fix)
    if language not in LANGUAGES:
        raise rules.NOTHING_TO_HIDE.error(f"there are no sentences in '{language}'", fix=unknown_language(language))
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_VARIANTS:
        raise rules.NOTHING_TO_HIDE.error(f"{count!r} variants cannot be made", fix=f"ask for 1 to {MOST_VARIANTS}")


def read_sheet(path: str | os.PathLike[str]) -> ExerciseSheet:
    """The exercise that a sheet carries.

    Raises: LessonError (L104) for a file that carries none, or not a whole one.
    """
    try:
        content = read_bytes(Path(path), MOST_BYTES)
    except (OSError, ValueError) as error:
        raise rules.NOT_A_SHEET.error(
            f"'{path}' cannot be read: {failure_reason(error)}", fix="give the file of a sheet"
        ) from error
    found = RECORD.search(content[:MOST_BYTES])
    if found is None:
        raise rules.NOT_A_SHEET.error(f"'{path}' carries no exercise", fix="give a file that 'tellegen exercise' wrote")
    try:
        return _unpacked(found[1])
    except (NotBase64, zlib.error, ValueError, KeyError, TypeError) as error:
        raise rules.NOT_A_SHEET.error(f"the exercise in '{path}' is damaged", fix="write the sheet again") from error


def _unpacked(letters: bytes) -> ExerciseSheet:
    data = b64decode(letters, validate=True)
    # Bounded: a few letters may stand for gigabytes.
    content = zlib.decompressobj().decompress(data[8:], MOST_BYTES)
    if sha256(content).digest()[:8] != data[:8]:
        raise ValueError("the digest is another one")
    record: dict[str, Any] = json.loads(content)
    hide, language, limit = (str(record[name]) for name in ("hide", "language", "limit"))
    if hide not in TASKS or language not in LANGUAGES:
        raise ValueError("no such exercise")
    model = read_model(str(record["model"]), file="sheet")
    task = task_of(model, hide, Phrases(language), limit)
    return ExerciseSheet(model, hide, int(record["variant"]), int(record["seed"]), limit, language, task=task)


# -- what stands on a sheet --------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class _Text:
    """What a sheet says, in order, whatever it is written as."""

    title: str
    figure: Figure
    file_title: str
    file: str
    question: str = ""
    given: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    solution: tuple[str, ...] = ()


def _text_of(sheet: ExerciseSheet, path: Path, solved: bool) -> _Text:
    say, task = Phrases(sheet.language), sheet.task
    figure = task.solved if solved else task.figure
    figure = replace(figure, scene=with_captions(figure.scene, say))
    title = say("exercise.title", number=sheet.variant, name=sheet.model.name)
    if solved:
        title = say("exercise.solution_title", number=sheet.variant, name=sheet.model.name)
        right = say("exercise.right")
        return _Text(title, figure=figure, file_title=right, file=sheet.solution(), solution=task.reasons())
    command = say("exercise.how", command=f"tellegen grade {path.name} answers.yaml")
    return _Text(
        title,
        question=say(f"exercise.{sheet.hide}"),
        figure=figure,
        given=task.given,
        formulas=task.shown,
        file_title=command,
        file=sheet.blank(),
    )


def _writer(path: Path) -> Callable[[ExerciseSheet, Path, bool], str]:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        fix = did_you_mean(suffix, FORMATS) or f"end the name in {', '.join(FORMATS)}"
        raise rules.SHEET_NOT_WRITTEN.error(f"sheets are not written as '{suffix or path.name}'", fix=fix)
    return FORMATS[suffix]


def _html(sheet: ExerciseSheet, path: Path, solved: bool) -> str:
    text = _text_of(sheet, path, solved)
    blocks: list[PageBlock] = [Paragraph(text.question)] if text.question else []
    blocks.append(PagePicture("figure", text.figure.svg(), text.figure.scene.title))
    blocks += [Paragraph(_plain(line)) for line in text.given]
    blocks += [PageFormulas(text.formulas)] if text.formulas else []
    blocks += [Paragraph(_plain(line)) for line in text.solution]
    blocks += [Paragraph(_plain(text.file_title)), Listing(text.file, "yaml")]
    section = PageSection(Phrases(sheet.language)("exercise.heading"), tuple(blocks))
    page = to_html(Report(text.title, "", (section,), language=sheet.language))
    return page.replace("</body>", f"<!-- tellegen-exercise:{sheet.record()} -->\n</body>", 1)


def _plain(text: str) -> str:
    return text.replace("`", "")


def _latex(sheet: ExerciseSheet, path: Path, solved: bool) -> str:
    text = _text_of(sheet, path, solved)
    lines = [
        rf"% tellegen-exercise:{sheet.record()}",
        r"\documentclass[11pt,a4paper]{article}",
        r"\usepackage[T1]{fontenc}\usepackage[margin=22mm]{geometry}\usepackage{lmodern}\usepackage{adjustbox}",
        TIKZ_PACKAGES,
        r"\setlength{\parindent}{0pt}\setlength{\parskip}{6pt}",
        r"\begin{document}",
        rf"\section*{{{latex_words(text.title)}}}",
        latex_words(text.question),
        r"\begin{center}\begin{adjustbox}{max width=\textwidth}",
        text.figure.tikz(),
        r"\end{adjustbox}\end{center}",
        *(f"{_sentence(line)}\\\\[2pt]" for line in text.given),
        *(rf"\[ {formula} \]" for formula in text.formulas),
        *(f"{_sentence(line)}\\par" for line in text.solution),
        rf"\medskip {_sentence(text.file_title)}",
        r"\begin{verbatim}",
        text.file.rstrip(),
        r"\end{verbatim}",
        r"\end{document}",
        "",
    ]
    return "\n".join(lines)


def _sentence(text: str) -> str:
    """A sentence as LaTeX; what stands between backquotes and is no name is set as it is typed."""
    parts = text.split("`")
    for k, part in enumerate(parts):
        plain = k % 2 == 0 or not part.replace(":", "").replace("_", "").isalnum()
        typed = latex_words(part) if k % 2 == 0 else rf"\texttt{{{latex_words(part)}}}"
        parts[k] = typed if plain else sentence_latex(f"`{part}`")
    return "".join(parts)


def _notebook(sheet: ExerciseSheet, path: Path, solved: bool) -> str:
    text = _text_of(sheet, path, solved)
    picture = b64encode(text.figure.svg().encode()).decode()
    formulas = [f"$$ {formula} $$" for formula in text.formulas]
    listed = [f"- {line}" for line in (*text.given, *text.solution)]
    told = [
        f"# {text.title}",
        text.question,
        "![](attachment:figure.svg)",
        "\n".join(listed),
        *formulas,
        _plain(text.file_title),
    ]
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "markdown",
            "id": "exercise",
            "metadata": {},
            "source": "\n\n".join(part for part in told if part),
            "attachments": {"figure.svg": {"image/svg+xml": picture}},
        }
    ]
    if solved:
        cells[0]["source"] += f"\n\n```yaml\n{text.file}```"
    else:
        graded = f'import tellegen as tg\n\nprint(tg.grade("{path.name}", "answers.yaml"))'
        cells += [_code("answers", f"%%writefile answers.yaml\n{text.file}"), _code("grade", graded)]
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "tellegen": f"tellegen-exercise:{sheet.record()}",
    }
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _code(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "code", "id": name, "metadata": {}, "execution_count": None, "outputs": [], "source": source}


FORMATS: Mapping[str, Callable[[ExerciseSheet, Path, bool], str]] = {
    ".html": _html,
    ".tex": _latex,
    ".ipynb": _notebook,
}
"""What a sheet is written as, by the suffix of its file."""
