"""`tellegen draw` as a user meets it."""

from pathlib import Path

import pytest

from command_line import tellegen
from tellegen.core.shipped import SYSTEMS
from tellegen.drawing.memory import Memory


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png", "tex", "json"])
def test_draw_writes_the_format_of_the_suffix(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"rlc.{suffix}"
    found = tellegen("draw", "rlc", "--as", "bond", "-o", str(target))
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith(f"{target}: Bond graph: Series RLC circuit")
    assert target.stat().st_size > 500


@pytest.mark.parametrize("notation", ["bond", "pog", "equations"])
def test_draw_knows_the_notations(tmp_path: Path, notation: str) -> None:
    target = tmp_path / "figure.svg"
    options = ["--theme", "dark", "--labels", "values", "--numbers", "--names", "--no-bands", "--scale", "2"]
    found = tellegen("draw", "dc_motor", "--as", notation, "-o", str(target), *options)
    assert found.returncode == 0, found.stderr
    assert "#16181D" in target.read_text(encoding="utf-8")


def test_draw_writes_the_styles_of_the_bondgraphs_package(tmp_path: Path) -> None:
    target = tmp_path / "rlc.tex"
    found = tellegen("draw", "rlc", "--as", "bond", "--macros", "bondgraphs", "-o", str(target))
    assert found.returncode == 0, found.stderr
    assert r"{bondgraphs}" in target.read_text(encoding="utf-8")


def test_draw_replaces_a_file_only_when_forced(tmp_path: Path) -> None:
    target = tmp_path / "rlc.svg"
    target.write_text("mine", encoding="utf-8")
    refused = tellegen("draw", "rlc", "--as", "bond", "-o", str(target))
    assert refused.returncode == 1
    assert "is there already" in refused.stderr
    assert target.read_text(encoding="utf-8") == "mine"
    assert tellegen("draw", "rlc", "--as", "bond", "-o", str(target), "--force").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "fix"),
    [
        (["rlc", "--as", "bnod", "-o", "x.svg"], "F103", "did you mean 'bond'?"),
        (["rlc", "--as", "bond", "-o", "x.spg"], "F104", "did you mean '.svg'?"),
        (["rlc", "--as", "bond", "-o", "x.svg", "--theme", "monno"], "F102", "did you mean 'mono'?"),
        (["rcl", "--as", "bond", "-o", "x.svg"], "D300", "rlc"),
        (["rlc", "--as", "bond", "-o", "x.svg", "--at", "99 s"], "S205", "choose times from 0 s"),
        (["rlc", "--as", "bond", "-o", "x.tex", "--macros", "bondgraf"], "F102", "did you mean 'bondgraphs'?"),
        (["rlc", "--meshes", "linkd", "-o", "x.svg"], "F102", "did you mean 'linked'?"),
        (["rlc", "--as", "steps", "-o", "x.svg"], "F190", "give a limit: --limit"),
        (["rlc", "--as", "steps", "--limit", "Cc=0", "-o", "x.svg"], "T101", "did you mean 'C'?"),
        (["rlc", "--animate", "-o", "x.sgv"], "F202", "did you mean '.svg'?"),
        (["rlc", "--animate", "--at", "1", "-o", "x.svg"], "F200", "leave --at out"),
    ],
)
def test_draw_refuses_with_the_nearest_word(words: list[str], code: str, fix: str) -> None:
    found = tellegen("draw", *words)
    assert found.returncode == 1
    assert code in found.stderr
    assert fix in found.stderr
    assert not Path("x.svg").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--as", "pog", "--at", "2 ms", "-o", "x.svg"], "POG: Series RLC circuit"),
        (["--as", "sankey", "-o", "x.svg"], "Energy: Series RLC circuit"),
        (["--as", "bond", "--animate", "--frames", "3", "-o", "x.gif"], "3 frames in 6 s"),
    ],
)
def test_draw_shows_the_experiment(words: list[str], told: str, tmp_path: Path) -> None:
    target = tmp_path / words[-1]
    found = tellegen("draw", "rlc", *words[:-1], str(target))
    assert found.returncode == 0, found.stderr
    assert told in found.stdout
    assert target.stat().st_size > 500


@pytest.mark.parametrize(("notation", "told"), [("steps", "congruence"), ("pog", "POG: DC motor")])
def test_draw_shows_a_limit_and_the_way_to_it(notation: str, told: str, tmp_path: Path) -> None:
    target = tmp_path / "reduced.json"
    found = tellegen("draw", "dc_motor_pump", "--as", notation, "--limit", "J_m=0", "-o", str(target))
    assert found.returncode == 0, found.stderr
    text = target.read_text(encoding="utf-8")
    assert told in text
    assert ('"J_m"' in text) == (notation == "steps")


def test_draw_leaves_lanes_and_letters_to_the_user(tmp_path: Path) -> None:
    texts = []
    for k, words in enumerate((["--no-lanes"], ["--matrices", "named", "--vectors", "double"])):
        target = tmp_path / f"{k}.json"
        assert tellegen("draw", "pmsm", "-o", str(target), *words).returncode == 0
        texts.append(target.read_text(encoding="utf-8"))
    assert [r"\\mathbf{L}_{1}" in text for text in texts] == [False, True]
    assert r"\\begin{bmatrix} L_e" in texts[0]
    assert r"\\begin{bmatrix} L_e" not in texts[1]


@pytest.mark.parametrize("notation", ["bond", "pog", "network"])
def test_draw_keeps_the_places_of_the_figure_that_it_replaces(tmp_path: Path, notation: str) -> None:
    target, other = tmp_path / "motor.svg", tmp_path / "other.pdf"
    text = (SYSTEMS / "dc_motor_pump.yaml").read_text(encoding="utf-8")
    model = tmp_path / "motor.yaml"
    model.write_text(text, encoding="utf-8")
    words = ["draw", str(model), "--as", notation]
    first = tellegen(*words, "-o", str(target))
    assert "kept" not in first.stdout
    before = Memory.read(target).places
    model.write_text(text.replace("  b_m:     {friction: [shaft, frame]}\n", ""), encoding="utf-8")
    again = tellegen(*words, "-o", str(target), "--force")
    assert again.stdout.splitlines()[-1] == f"kept the places of {target}; --fresh lays it out anew"
    after = Memory.read(target).places
    assert after.keys() == before.keys() - {"b_m"}
    assert all(abs(x - before[k][0]) < 1 and abs(y - before[k][1]) < 1 for k, (x, y) in after.items())
    fresh = tellegen(*words, "-o", str(target), "--force", "--fresh")
    assert "kept" not in fresh.stdout
    like = tellegen(*words, "-o", str(other), "--like", str(target))
    assert like.stdout.splitlines()[-1] == f"kept the places of {target}"
    assert Memory.read(other) == Memory.read(target)


def test_draw_says_why_a_figure_is_not_like_another(tmp_path: Path) -> None:
    target, strange = tmp_path / "rlc.svg", tmp_path / "mine.svg"
    strange.write_text("<svg/>", encoding="utf-8")
    told = tellegen("draw", "rlc", "-o", str(target), "--like", str(strange))
    assert told.stdout.splitlines()[-1] == (
        f"laid out anew, not like {strange}: the file says nothing of places, or is damaged"
    )
    quiet = tellegen("draw", "rlc", "-o", str(strange), "--force")
    assert quiet.returncode == 0
    assert "anew" not in quiet.stdout
    gone = tellegen("draw", "rlc", "-o", str(target), "--force", "--like", str(tmp_path / "gone.svg"))
    assert gone.returncode == 1
    assert "F162: nothing can be kept: there is no file" in gone.stderr
    both = tellegen("draw", "rlc", "-o", str(target), "--force", "--like", str(strange), "--fresh")
    assert "F162: a figure like another one is not laid out anew" in both.stderr
    assert "leave --like or --fresh out" in both.stderr
