import json
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
from tellegen.core.language import LANGUAGES, Language
from tellegen.notations.reading import read_model
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Label
from tellegen.teaching.sheets import read_sheet
from tellegen.teaching.tasks import Hidden
from tellegen.teaching.variants import TASKS

MOTOR = "dc_motor_pump"


def sheet_of(model: tg.Model | str, hide: Hidden, **options: object) -> tg.ExerciseSheet:
    try:
        (sheet,) = tg.exercise(model, hide, **options)  # type: ignore[arg-type]
    except tg.TellegenError:
        assume(False)
        raise
    return sheet


def graded(sheet: tg.ExerciseSheet | Path, answers: str, folder: Path) -> tg.Grade:
    file = folder / "answers.yaml"
    file.write_text(answers, encoding="utf-8")
    return tg.grade(sheet, file)


def code_of(sheet: tg.ExerciseSheet | Path, answers: str, folder: Path) -> str:
    with pytest.raises(tg.TellegenError) as caught:
        graded(sheet, answers, folder)
    return caught.value.code


# The true solution, and each single mistake


@settings(max_examples=10)
@given(network=networks())
def test_right_strokes_of_a_random_network_get_full_marks_and_each_wrong_one_is_found(network: Network) -> None:
    sheet = sheet_of(network.model(), "strokes")
    right = sheet.task.solution()
    assert all(mark.right for mark in sheet.task.marks(right))
    bonds = {str(bond.number): bond for bond in sheet.task.scheme.bonds}  # type: ignore[attr-defined]
    for item, end in right.items():
        marks = sheet.task.marks({**right, item: bonds[item].other(end)})
        wrong = [mark for mark in marks if not mark.right]
        assert [mark.item for mark in wrong] == [item]
        assert wrong[0].reason


@settings(max_examples=5)
@given(network=networks())
def test_right_equations_of_a_random_network_get_full_marks_and_each_changed_term_is_found(network: Network) -> None:
    sheet = sheet_of(network.model(), "equations")
    right = dict(sheet.task.solution())
    states = sheet.task.system.states  # type: ignore[attr-defined]
    assert all(mark.right for mark in sheet.task.marks(right))
    for item, text in right.items():
        left, _, other = text.partition(" = ")
        assume(other != "0")
        marks = sheet.task.marks({**right, item: f"{left} = -({other})"})
        # The equation begins with the rate of the state that it is about where no other one stands in it.
        about = re.findall(r"([A-Za-z][\w.]*)'", text)
        if len(about) == 1:
            assert [mark.item for mark in marks if not mark.right] == about
        assert not all(mark.right for mark in marks)
    assert {mark.item for mark in sheet.task.marks(right)} == set(states)


@pytest.mark.parametrize("item", ["V_L_a", "V_r", "tau_J_m", "Q_C_0", "Q_u"])
def test_each_wrong_sign_is_found_at_its_sum(item: str) -> None:
    task = tg.exercise(MOTOR, "signs")[0].task
    right = dict(task.solution())
    first, sign, second = right[item].split()
    swapped = {**right, item: f"{first} {'-' if sign == '+' else '+'} {second}"}
    assert [(m.item, second in m.reason) for m in task.marks(swapped) if not m.right] == [(item, True)]


@pytest.mark.parametrize("name", ["rlc", MOTOR, "quarter_car"])
def test_sums_speak_of_variables_by_the_names_in_the_figure(name: str) -> None:
    task = tg.exercise(name, "signs")[0].task
    figure = {shape.text for shape in task.figure.scene.shapes if isinstance(shape, Label)}
    known = {v for port in task.scheme.causal.graph.ports for v in (port.across, port.through)}  # type: ignore[attr-defined]
    told = {*task.items, *(word for text in task.solution().values() for word in text.replace("-", "+").split(" + "))}
    # What no element has is found in the figure only.
    invented = {name.strip() for name in told} - known
    assert {name_latex(one) for one in invented} <= figure


def test_each_wrong_value_is_found_and_a_wrong_prefix_is_told() -> None:
    task = tg.exercise(MOTOR, "values")[0].task
    right = dict(task.solution())
    for name in task.items:
        marks = task.marks({**right, name: f"3*({right[name]})"})
        assert [mark.item for mark in marks if not mark.right] == [name]
    marks = task.marks({**right, "L_a": "2 H"})
    assert [mark.item for mark in marks if not mark.right] == ["L_a"]
    assert "a power of a thousand" in next(mark.reason for mark in marks if not mark.right)


# What is right although it is written otherwise


def test_equations_are_compared_by_value_and_in_any_order(tmp_path: Path) -> None:
    sheet = tg.exercise(MOTOR, "equations")[0]
    text = (
        "equations:\n  - P_0' = (K_p*omega_m + Q_0 - alpha_p*P_0)/C_0\n  - V_a = R_a*I_a + L_a*I_a' + K_m*omega_m\n"
        "  - 2*J_m*omega_m' + 2*b_m*omega_m = 2*(K_m*I_a - K_p*P_0)\n"
    )
    assert graded(sheet, text, tmp_path).complete


def test_the_first_mistake_says_which_share_is_wrong(tmp_path: Path) -> None:
    sheet = tg.exercise(MOTOR, "equations")[0]
    text = (
        "equations:\n  - L_a*I_a' = V_a - R_a*I_a + K_m*omega_m\n  - J_m*omega_m' = K_m*I_a - b_m*omega_m\n"
        "  - C_0*P_0' = K_p*omega_m + Q_0 - alpha_p*P_0 + I_a\n"
    )
    told = [mark.reason.replace("`", "") for mark in graded(sheet, text, tmp_path).marks]
    assert told == [
        "in the equation for I_a the share of omega_m has the wrong sign.",
        "in the equation for omega_m the share of P_0 is missing.",
        "in the equation for P_0 there is a share of I_a that does not belong there.",
    ]


def test_an_identity_and_a_repeated_equation_are_no_answers(tmp_path: Path) -> None:
    sheet = tg.exercise("rlc", "equations")[0]
    first = sheet.task.solution()["1"]
    marks = graded(sheet, f'equations: ["{first}", "{first}"]\n', tmp_path).marks
    assert [mark.right for mark in marks].count(False) == 1
    assert not any(mark.right for mark in graded(sheet, "equations: [\"I' = I'\", \"V_C' = V_C'\"]\n", tmp_path).marks)


TWO_RESISTORS = """system: x
bond graph:
  - Se:V -> 1:a(electrical)
  - a -> R:R_1
  - a -> R:R_2
  - a -> R:R_3
"""


def test_another_choice_among_resistors_is_as_good(tmp_path: Path) -> None:
    sheet = tg.exercise(read_model(TWO_RESISTORS), "strokes")[0]
    right = sheet.task.solution()
    bonds = {str(bond.number): bond for bond in sheet.task.scheme.bonds}  # type: ignore[attr-defined]
    leader = next(item for item in right if item != "1" and right[item] != "I_V")
    for other in {"2", "3", "4"} - {leader}:
        answers = {item: bonds[item].other(end) if item in (leader, other) else end for item, end in right.items()}
        assert all(mark.right for mark in sheet.task.marks(answers))


def test_the_rule_that_a_stroke_breaks_is_named(tmp_path: Path) -> None:
    sheet = tg.exercise(MOTOR, "strokes")[0]
    wrong = {**sheet.task.solution(), "7": "out"}
    first = tg.Grade("", "strokes", 1, sheet.task.marks(wrong)).first_mistake
    assert first is not None
    assert first.item == "7"
    assert first.reason.startswith("At `0:out` 2 bonds bring an effort; exactly one has to.")


@pytest.mark.parametrize("hide", [hide for hide in TASKS if hide != "reduction"])
def test_a_model_file_is_an_answer(hide: Hidden, tmp_path: Path) -> None:
    assert graded(tg.exercise(MOTOR, hide)[0], tg.to_yaml(tg.load(MOTOR)), tmp_path).complete


def test_a_reduced_model_file_is_an_answer_to_a_reduction(tmp_path: Path) -> None:
    sheet = tg.exercise(MOTOR, "reduction", limit="J_m=0")[0]
    assert graded(sheet, tg.to_yaml(tg.reduce(MOTOR, {"J_m": 0}).model), tmp_path).complete


def test_a_model_with_other_values_is_a_wrong_answer(tmp_path: Path) -> None:
    text = tg.to_yaml(tg.load(MOTOR)).replace("R_a: 0.5 ohm", "R_a: 0.7 ohm")
    found = graded(tg.exercise(MOTOR, "values")[0], text, tmp_path)
    assert [mark.item for mark in found.marks if not mark.right] == ["R_a"]


# Variants


@pytest.mark.parametrize(("name", "hide"), [
    ("rlc", "equations"), ("quarter_car", "reduction"), ("two_mass_drive", "values"),
    pytest.param("loudspeaker", "strokes", marks=pytest.mark.slow),
    pytest.param("dc_motor", "signs", marks=pytest.mark.slow),
])  # fmt: skip
def test_variants_are_sound_differ_and_come_again_from_their_seed(name: str, hide: Hidden) -> None:
    made = tg.exercise(name, hide, variants=4, seed=3)
    texts = [tg.to_yaml(sheet.model) for sheet in made]
    assert len(set(texts)) == 4
    assert len({sheet.digest for sheet in made}) == 4
    assert all(tg.check(sheet.model).ok and tg.check(sheet.model).states for sheet in made)
    assert all(all(mark.right for mark in sheet.task.marks(sheet.task.solution())) for sheet in made)
    again = tg.exercise(name, hide, variants=4, seed=3)
    assert [sheet.digest for sheet in again] == [sheet.digest for sheet in made]
    other = tg.exercise(name, hide, variants=2, seed=4)
    assert tg.to_yaml(other[1].model) != texts[1]


def test_elements_of_variants_change_places() -> None:
    made = tg.exercise("rlc", "strokes", variants=4)
    joined = {str(sheet.task.scheme) for sheet in made}  # type: ignore[attr-defined]
    assert len(joined) > 2


def test_values_of_variants_have_few_digits() -> None:
    for sheet in tg.exercise("rlc", "values", variants=4)[1:]:
        for parameter in sheet.model.parameters.values():
            assert len(f"{float(str(parameter.expression)):.6e}".split("e")[0].rstrip("0").replace(".", "")) <= 2  # fmt: skip


# Files


EVERY_SHEET = [(hide, suffix) for hide in TASKS for suffix in (".html", ".tex", ".ipynb")]
FEW_SHEETS = [("strokes", ".html"), ("signs", ".html"), ("equations", ".tex"), ("reduction", ".ipynb")]


@pytest.mark.parametrize(
    ("hide", "suffix"),
    [pytest.param(*pair, marks=[] if pair in FEW_SHEETS else pytest.mark.slow) for pair in EVERY_SHEET],
)
def test_a_sheet_is_graded_from_its_file_and_keeps_the_solution_to_itself(
    hide: Hidden, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"sheet{suffix}"
    (sheet,) = tg.exercise(MOTOR, hide, path, language="fr")
    assert read_sheet(path).digest == sheet.digest
    assert graded(path, sheet.solution(), tmp_path).complete
    text, solved = path.read_text(encoding="utf-8"), (tmp_path / f"sheet_solution{suffix}").read_text(encoding="utf-8")
    last = sheet.solution().splitlines()[-1].strip()
    shown = json.dumps(last)[1:-1] if suffix == ".ipynb" else last
    assert last not in text
    assert "Point at an element" not in text + solved  # the page speaks the language of the sheet
    assert shown in solved.replace("&quot;", '"').replace("&#x27;", "'")
    assert 'data-sign="-1"' not in text or hide != "signs"


@pytest.mark.parametrize(
    ("language", "head", "wrong"),
    [
        ("de", "Series RLC circuit, Variante 1: 3 von 4 Strichen richtig", "falsch: Am Knoten 1:I geben 0 Bonds"),
        ("fr", "Series RLC circuit, variante 1, traits : réponses justes 3 sur 4", "faux : À la jonction 1:I"),
        ("it", "Series RLC circuit, variante 1, tratti: risposte giuste 3 su 4", "sbagliato: Nella giunzione 1:I"),
    ],
)
def test_a_correction_speaks_the_language_of_its_sheet(
    language: Language, head: str, wrong: str, tmp_path: Path
) -> None:
    told = str(
        graded(tg.exercise("rlc", "strokes", language=language)[0], "strokes: {1: I, 2: I, 3: I, 4: I}", tmp_path)
    )
    assert told.splitlines()[0] == head
    assert wrong in told
    assert "right" not in told


def test_the_figures_of_a_lesson_name_domains_in_its_language(tmp_path: Path) -> None:
    tg.exercise(MOTOR, "strokes", tmp_path / "sheet.tex", language="it")
    for file in ("sheet.tex", "sheet_solution.tex"):
        page = (tmp_path / file).read_text(encoding="utf-8")
        assert "meccanico, rotazione" in page
        assert "mechanical, rotational" not in page
    first = tg.stages(MOTOR, "bond", language="fr")[0]
    assert "électrique" in {shape.text for shape in first.scene.shapes if isinstance(shape, Label)}


def test_a_notebook_is_one(tmp_path: Path) -> None:
    tg.exercise("rlc", "strokes", tmp_path / "sheet.ipynb")
    book = json.loads((tmp_path / "sheet.ipynb").read_text(encoding="utf-8"))
    assert (book["nbformat"], [cell["cell_type"] for cell in book["cells"]]) == (4, ["markdown", "code", "code"])
    compile(book["cells"][2]["source"], "cell", "exec")


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("hide", list(TASKS))
def test_latex_sets_sheets_and_solutions(
    language: Language, hide: Hidden, tmp_path: Path, system_tool: Callable[[str], str]
) -> None:
    tg.exercise(MOTOR, hide, tmp_path / "sheet.tex", language=language)
    for name in ("sheet", "sheet_solution"):
        command = [system_tool("pdflatex"), "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]


# Wrong input


@pytest.mark.parametrize(("hide", "options"), [
    ("stroke", {}), ("strokes", {"variants": 0}), ("strokes", {"variants": 100}), ("strokes", {"language": "es"}),
])  # fmt: skip
def test_what_cannot_be_hidden_is_refused(hide: str, options: dict[str, object]) -> None:
    with pytest.raises(tg.LessonError) as caught:
        tg.exercise("rlc", hide, **options)  # type: ignore[arg-type]
    assert caught.value.code == "L101"


@pytest.mark.parametrize(
    ("name", "hide"), [("crank_rod", "signs"), ("crank_rod", "values"), ("crank_rod", "reduction")]
)
def test_a_model_without_what_is_to_be_hidden_is_refused(name: str, hide: Hidden) -> None:
    with pytest.raises(tg.LessonError) as caught:
        tg.exercise(name, hide)
    assert caught.value.code == "L102"


def test_a_model_that_has_too_few_variants_says_so() -> None:
    model = read_model("system: x\nnetwork:\n  V: {voltage source: [a]}\n  C: {capacitor: [a]}\n")
    with pytest.raises(tg.LessonError) as caught:
        tg.exercise(model, "strokes", variants=3)
    assert caught.value.code in ("L102", "L103")


@pytest.mark.parametrize(
    "content", ["", "<html></html>", "tellegen-exercise:AAAA", "tellegen-exercise:eNoDAAAAAAE=", "\x00" * 40]
)
def test_a_file_that_is_no_sheet_is_told(content: str, tmp_path: Path) -> None:
    path = tmp_path / "sheet.html"
    path.write_text(content, encoding="utf-8")
    assert code_of(path, "strokes: {1: a}\n", tmp_path) == "L104"
    assert code_of(tmp_path / "nothing.html", "strokes: {1: a}\n", tmp_path) == "L104"


def test_a_changed_sheet_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "sheet.html"
    tg.exercise("rlc", "strokes", path)
    text = path.read_text(encoding="utf-8")
    at = text.index("tellegen-exercise:") + 60
    path.write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :], encoding="utf-8")
    assert code_of(path, "strokes: {1: a}\n", tmp_path) == "L104"


@pytest.mark.parametrize("suffix", [".pdf", "", ".htm"])
def test_a_sheet_of_another_format_is_refused(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(tg.LessonError) as caught:
        tg.exercise("rlc", "strokes", tmp_path / f"sheet{suffix}")
    assert caught.value.code == "L105"


@pytest.mark.parametrize(("hide", "answers", "code"), [
    ("strokes", "strokes:\n", "L110"),
    ("strokes", "strokes: {1: '', 2: ' '}\n", "L110"),
    ("strokes", "equations: [I' = 0]\n", "L110"),
    ("strokes", "sheet: 00000000\nstrokes: {1: V}\n", "L111"),
    ("strokes", "strokes: {99: V}\n", "L112"),
    ("strokes", "strokes: {1: motor}\n", "L112"),
    ("strokes", "strokes: {1: [V]}\n", "L113"),
    ("equations", "equations: [J' = 0]\n", "L112"),
    ("equations", "equations: [I' = ]\n", "L113"),
    ("equations", "equations: [\"I' = (V\"]\n", "L113"),
    ("equations", "equations: [\"I' = V = 0\"]\n", "L113"),
    ("equations", "equations: [\"I' = __import__('os').system('touch pwned')\"]\n", "L113"),
    ("equations", "equations: [\"I' = open('/etc/passwd').read()\"]\n", "L113"),
    ("equations", "equations: [\"I' = 9**9**9**9**9\"]\n", "L113"),
    ("values", "parameters: {R: 5 kg}\n", "L113"),
    ("values", "parameters: {R: !!python/object/apply:os.system [ls]}\n", "D"),
    ("values", "parameters: {Z: 5}\n", "L112"),
    ("strokes", "system: x\nnetwork: {V: {voltage source: [a]}, Q: {resistor: [a]}}\n", "L111"),
])  # fmt: skip
def test_wrong_answers_are_told_with_a_code(hide: Hidden, answers: str, code: str, tmp_path: Path) -> None:
    assert code_of(tg.exercise("rlc", hide)[0], answers, tmp_path).startswith(code)
    assert not (tmp_path / "pwned").exists()


def test_a_missing_answer_is_a_wrong_one(tmp_path: Path) -> None:
    found = graded(tg.exercise("rlc", "strokes")[0], "strokes: {1: I}\n", tmp_path)
    assert [mark.reason for mark in found.marks][1:] == ["there is no answer."] * 3


def test_the_commands_write_and_grade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, answers = tmp_path / "sheet.html", tmp_path / "answers.yaml"
    assert run(["exercise", "rlc", "--hide", "strokes", "-o", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    answers.write_text(
        f"sheet: '{told['sheets'][0]['digest']}'\nstrokes: {{1: I, 2: I, 3: I, 4: I}}\n", encoding="utf-8"
    )
    assert run(["grade", str(path), str(answers), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["right"], record["of"]) == (3, 4)
    assert record["first_mistake"]["item"] == "3"
