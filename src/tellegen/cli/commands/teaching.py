"""The commands `exercise` and `grade`: sheets for students, and what their answers are worth."""

from dataclasses import dataclass
from pathlib import Path

from tellegen.cli import output
from tellegen.cli.options import OfModel, as_json, command, force
from tellegen.core.language import LANGUAGES
from tellegen.core.options import option, required
from tellegen.teaching.grading import grade as graded
from tellegen.teaching.sheets import exercise as exercises
from tellegen.teaching.sheets import sheet_paths, solution_path


@dataclass(frozen=True, kw_only=True)
class ExerciseOptions(OfModel):
    """What `exercise` is asked for."""

    hide: str = required(
        "What is left out: strokes, equations, signs, values or reduction.", flag="--hide", metavar="WHAT"
    )
    target: Path = required(
        "The sheet: .html, .tex (LaTeX) or .ipynb (a notebook); its solution is written beside it.",
        flag="--output",
        short="-o",
        metavar="SHEET",
    )
    variants: int = option(
        1, "So many numbered sheets: the model, then others with other values and topologies.", least=1
    )
    seed: int = option(0, "What variants are made from; the same gives the same.")
    limit: str = option("", "The limit of a reduction; without it, the first storage that can go.", metavar="J_m=0")
    language: str = option("en", "The language of the sheet and of its correction.", choices=LANGUAGES)
    as_json: bool = as_json()
    force: bool = force()


@command(
    "tellegen exercise dc_motor_pump --hide strokes -o sheet.html",
    "tellegen exercise rlc --hide equations --variants 3 --seed 7 --language it -o sheet.tex",
)
def exercise(options: ExerciseOptions) -> None:
    """Write an exercise sheet with something left out of a model, and its solution."""
    made = exercises(
        options.model,
        options.hide,  # type: ignore[arg-type]
        options.target,
        variants=options.variants,
        seed=options.seed,
        limit=options.limit,
        language=options.language,  # type: ignore[arg-type]
        force=options.force,
    )
    paths = sheet_paths(options.target, len(made))
    record = [
        {"sheet": str(path), "solution": str(solution_path(path)), "variant": sheet.variant, "digest": sheet.digest,
         "hidden": sheet.task.word, "items": list(sheet.task.items)}
        for sheet, path in zip(made, paths, strict=True)
    ]  # fmt: skip
    lines = (f"{path}: {sheet}; solution: {solution_path(path)}" for sheet, path in zip(made, paths, strict=True))
    output.show(options, lambda: {"sheets": record}, lambda: "\n".join(lines))


@dataclass(frozen=True, kw_only=True)
class GradeOptions:
    """What `grade` is asked for."""

    sheet: Path = required("A sheet that `exercise` wrote.", metavar="SHEET")
    answers: Path = required("The answers: YAML under the words of the sheet, or a model file.", metavar="ANSWERS")
    as_json: bool = as_json()


@command("tellegen grade sheet.html answers.yaml")
def grade(options: GradeOptions) -> None:
    """Grade the answers to a sheet: what is right, and where the first mistake is."""
    found = graded(options.sheet, options.answers)
    output.show(options, found.to_json, lambda: str(found))
