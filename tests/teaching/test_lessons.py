import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

import tellegen as tg
from support.networks import Network
from support.strategies import networks
from tellegen.cli.main import run
from tellegen.core.language import LANGUAGES, Language, Phrases
from tellegen.drawing.stages import NEW
from tellegen.equations.printing.explanation import ExplainedEntry
from tellegen.equations.steps import Explanation
from tellegen.reduction.steps import reduction_steps
from tellegen.scenes.scene import Band, Section
from tellegen.teaching.lessons import Lesson, LessonStep, lesson


def told(model: tg.Model) -> Lesson:
    explanation = tg.derive(model, steps=True)
    assert isinstance(explanation, Explanation)
    return lesson(model, explanation)


def steps_of(found: Lesson) -> list[LessonStep]:
    return [step for part in found.parts for step in part.steps]


def marked(step: LessonStep) -> set[str]:
    assert step.figure is not None
    shapes = (s for s in step.figure.scene.shapes if not isinstance(s, Band | Section))
    return {shape.origin.element for shape in shapes if shape.tone == NEW and shape.origin.element}


@settings(max_examples=3)
@given(network=networks())
def test_a_lesson_tells_every_item_once_and_marks_what_a_path_passes(network: Network) -> None:
    model = network.model()
    try:
        found = told(model)
    except tg.TellegenError:
        assume(False)
        raise
    items = [item for section in found.explanation.sections for item in section.items]
    assert [item for step in steps_of(found) for item in step.items] == items
    drawn = {e.name for e in model.elements}
    for step in steps_of(found):
        entry = step.items[0]
        if isinstance(entry, ExplainedEntry) and step.figure is not None:
            passed = {stop for path in entry.paths for stop in path.stops} & drawn
            assert passed <= set(step.elements)
            assert marked(step) <= set(step.elements)


def test_the_figure_of_an_entry_shows_its_path() -> None:
    found = told(tg.load("dc_motor_pump"))
    entries = {s.items[0].place: s for s in steps_of(found) if isinstance(s.items[0], ExplainedEntry)}
    assert marked(entries["A[1,2]"]) == {"J_m", "motor", "L_a"}
    assert marked(entries["A[3,3]"]) == {"C_0", "alpha_p"}


@pytest.mark.slow
def test_a_model_drawn_as_one_vector_block_is_shown_by_its_elements() -> None:
    found = told(tg.load("piston_cylinder"))
    first = next(step for step in steps_of(found) if step.figure is not None)
    assert {"cylinder", "piston", "beam"} <= marked(first)


def test_a_page_has_the_language_of_its_steps(tmp_path: Path) -> None:
    assert run(["derive", "rlc", "--steps", "--language", "de", "-o", str(tmp_path / "s.html")]) == 0
    page = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    assert "Schritt für Schritt" in page
    assert "Zeigen Sie auf ein Element" in page
    words = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert not re.search(r"\b(the|of|Dark)\b", words)


WORDS = re.compile(r"\b(the|of|is|are|and|with|no|nothing|so|this|These)\b")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("command", ["derive two_mass_drive --form lagrange", "reduce dc_motor_pump --limit J_m=0"])
def test_other_derivations_are_told_in_every_language(
    command: str, language: Language, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*command.split(), "--steps", "--language", language]
    assert run(words) == 0
    title, _, text = capsys.readouterr().out.partition("\n")
    assert title.endswith(Phrases(language)("steps.title", name=""))
    assert bool(WORDS.search(text)) == (language == "en")
    # Without steps there is nothing to be told in a language.
    assert run([word for word in words if word != "--steps"]) == (0 if language == "en" else 2)


def test_a_reduction_is_shown_on_the_scheme(tmp_path: Path) -> None:
    reduction = tg.reduce("dc_motor_pump", {"J_m": 0})
    found = lesson(reduction, reduction_steps(reduction, language="it"))
    assert [step.items[0].text for step in found.parts[-1].steps] == [  # type: ignore[union-attr]
        "Modello esteso.", "Anello invertito.", "Modello ridotto.",
    ]  # fmt: skip
    page = tmp_path / "steps.html"
    assert run(["reduce", "dc_motor_pump", "--limit", "J_m=0", "--steps", "-o", str(page)]) == 0
    assert page.read_text(encoding="utf-8").count('class="zooms"') > 3


@pytest.mark.parametrize(("arguments", "code"), [
    (["-o", "s.pdf", "--steps"], 1), (["-o", "s.html"], 2), (["-o", "there.html", "--steps"], 1),
])  # fmt: skip
def test_a_lesson_that_cannot_be_written_is_refused(
    arguments: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.html").write_text("kept", encoding="utf-8")
    assert run(["derive", "rlc", *arguments]) == code
    assert (tmp_path / "there.html").read_text(encoding="utf-8") == "kept"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dc_motor_pump", "quarter_car", "crank_rod", "pmsm"])
def test_latex_sets_a_lesson(name: str, tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    told(tg.load(name)).save(tmp_path / "steps.tex")
    command = [system_tool("pdflatex"), "-halt-on-error", "steps.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
