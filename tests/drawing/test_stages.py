import json
import re
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import tellegen as tg
from support.bond_graphs import Graph, graphs
from support.networks import Network
from support.strategies import networks
from tellegen.core.language import ENGLISH, LANGUAGES, TABLES, Language, Phrases, table
from tellegen.notations.reading import read_model
from tellegen.scenes.scene import Band, Bond, Scene
from tellegen.schemes.strokes import stroke_sequence


def strokes_of(scene: Scene) -> dict[str, str]:
    return {shape.origin.port: shape.stroke for shape in scene.shapes if isinstance(shape, Bond)}


@given(network=networks())
def test_the_strokes_of_a_random_network_are_put_one_by_one_and_end_in_its_causality(network: Network) -> None:
    model = network.model()
    try:
        scheme = tg.bond_graph(model)
    except tg.TellegenError:
        return
    sequence = stroke_sequence(scheme)
    assert [stroke.bond for stroke in sequence] == list(dict.fromkeys(stroke.bond for stroke in sequence))
    assert {s.bond: s.end for s in sequence} == {
        b.number: b.head if b.stroke == "head" else b.tail for b in scheme.bonds
    }
    for say in map(Phrases, LANGUAGES):
        assert all("{" not in stroke.reason(say) for stroke in sequence)


@given(graph=graphs())
def test_what_follows_at_a_junction_follows_from_strokes_that_stand_already(graph: Graph) -> None:
    try:
        scheme = tg.bond_graph(read_model(graph.text))
    except tg.TellegenError:
        return
    put: set[int] = set()
    for stroke in stroke_sequence(scheme):
        if stroke.rank in ("junction", "two-port") and stroke.because not in ("last", "matrix"):
            assert int(stroke.parts["by"]) in put
        if stroke.because == "last":
            assert {b.number for b in scheme.bonds_of(stroke.at)} - {stroke.bond} <= put
        put.add(stroke.bond)


def test_the_last_picture_is_the_bond_graph_and_each_has_one_stroke_more() -> None:
    stages = tg.stages("dc_motor_pump", "bond")
    whole = tg.draw(tg.bond_graph("dc_motor_pump"))
    counts = [sum(1 for stroke in strokes_of(stage.scene).values() if stroke) for stage in stages]
    assert counts == list(range(len(stages)))
    assert strokes_of(stages[-1].scene) == strokes_of(whole.scene)


def test_a_storage_that_has_to_follow_is_told_where_its_stroke_falls() -> None:
    told = [stage.reason for stage in tg.stages("planetary_gear", "bond")]
    assert [text for text in told if "derivative" in text] == [told[-1]]
    assert told[-1].endswith("So `I:J_s` is left with derivative causality.")


def test_a_contradiction_is_drawn_up_to_its_end_and_told() -> None:
    model = read_model(
        "system: x\nnetwork:\n  V: {voltage source: [a, gnd]}\n  W: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd]}\n"
    )
    told = tg.stages(model, "bond")[-1].reason
    assert "cannot impose its voltage" in told


def test_a_scheme_grows_by_the_columns_of_its_ladder() -> None:
    stages = tg.stages("dc_motor_pump", "pog")
    seen = [{s.origin.element for s in stage.scene.shapes if s.origin.part in ("gain", "K")} for stage in stages]
    assert all(before <= after for before, after in pairwise(seen))
    assert seen[0] == set()
    assert seen[-1] == {"L_a", "R_a", "motor", "J_m", "b_m", "pump", "C_0", "alpha_p"}
    assert "series block" in stages[1].reason
    assert "parallel block" in stages[-2].reason


def test_what_lies_behind_a_branch_comes_with_the_column_there() -> None:
    stages = tg.stages("quarter_car", "pog")
    at = next(k for k, stage in enumerate(stages) if "branches" in stage.reason)
    behind = [{s.origin.port for s in stage.scene.shapes if s.origin.part == "variable"} for stage in stages]
    assert behind[at - 1] == behind[at] < behind[-1]
    assert "4" not in behind[-3]


@pytest.mark.parametrize("name", ["quarter_car", "crank_rod", pytest.param("piston_cylinder", marks=pytest.mark.slow)])
def test_what_is_no_single_ladder_is_complete_in_the_end(name: str) -> None:
    last = tg.stages(name, "pog")[-1].scene
    whole = tg.draw(name, "pog").scene
    assert {s.origin for s in whole.shapes if not isinstance(s, Band)} <= {s.origin for s in last.shapes}


def test_the_steps_of_a_reduction_are_a_picture_each() -> None:
    told = [stage.reason for stage in tg.stages(tg.reduce("dc_motor_pump", {"J_m": 0}), "steps", language="it")]
    assert told == ["Modello esteso.", "Anello invertito.", "Modello ridotto."]
    assert tg.stages(tg.reduce("dc_motor_pump", {"J_m": 0}), "steps", language="de")[0].reason == "Erweitertes Modell."


@pytest.mark.parametrize(("what", "notation", "options"), [
    ("rlc", "network", {}), ("rlc", "steps", {}), ("rlc", "bnod", {}), ("rlc", "bond", {"language": "es"}),
])  # fmt: skip
def test_what_has_no_stages_is_refused(what: str, notation: str, options: dict[str, Any]) -> None:
    with pytest.raises(tg.FigureError) as caught:
        tg.stages(what, notation, **options)
    assert caught.value.findings[0].code == "F191"


def test_the_files_of_stages(tmp_path: Path) -> None:
    stages = tg.stages("rlc", "bond")
    assert [file.name for file in stages.save(tmp_path / "s.svg")] == [f"s-{k}.svg" for k in range(5)]
    (pages,) = stages.save(tmp_path / "s.pdf")
    assert len(re.findall(rb"/Type /Page\b", pages.read_bytes())) == 5
    film = stages.animation()
    assert len(film.frames) == 5
    assert film.svg().count("<animate ") == 5


def test_the_page_that_plays_stages_says_each_one_with_its_reason_in_its_language() -> None:
    stages = tg.stages("rlc", "bond", language="it")
    page = stages.animation().html()
    told = json.loads(re.findall(r"const told = (\[.*\]), pause", page)[0])
    assert told == [f"{k}: {stage.reason.replace('`', '')}" for k, stage in enumerate(stages)]
    assert '<html lang="it">' in page
    assert ">Avvia</button>" in page
    assert 'aria-label="passo"' in page
    assert not re.search(r"\b(Play|Pause|time)\b", page)


@pytest.mark.slow
def test_latex_shows_each_stage_as_an_overlay(tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    pdflatex, pdfinfo = system_tool("pdflatex"), system_tool("pdfinfo")
    for stages in (tg.stages("dc_motor_pump", "bond", language="fr"), tg.stages("dc_motor_pump", "pog", language="de")):
        stages.save(tmp_path / "stages.tex")
        subprocess.run([pdflatex, "-halt-on-error", "stages.tex"], cwd=tmp_path, check=True, capture_output=True)
        told = subprocess.run([pdfinfo, "stages.pdf"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        assert f"Pages:           {len(stages)}" in told


# The table of words

PARTS = re.compile(r"\{(\w+)\}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_with_the_same_parts(language: Language) -> None:
    english, other = table("en"), table(language)
    assert english.keys() == other.keys()
    for key, text in other.items():
        assert sorted(set(PARTS.findall(text))) == sorted(set(PARTS.findall(english[key]))), key
        assert text.count("`") % 2 == 0, key
        assert ("`{element}`" in text) == ("{element}" in text) or key == "exercise.sum", key
        assert text.count("$") == english[key].count("$"), key


def test_every_table_is_a_language() -> None:
    assert sorted(path.stem for path in TABLES.glob("*.toml")) == sorted(LANGUAGES)


def test_names_are_listed_in_the_language_of_the_reader() -> None:
    assert ENGLISH.names(["a"]) == "`a`"
    assert Phrases("de").names(["a", "b", "c"]) == "`a`, `b` und `c`"
