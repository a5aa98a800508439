"""Import by the ending of a file, and what is said where nothing can be read."""

from pathlib import Path

import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError
from tellegen.importing.imports import READERS
from tellegen.notations.loading import FOREIGN


def code_of(path: Path, **options: object) -> tuple[str, str]:
    with pytest.raises(DescriptionError) as caught:
        tg.import_model(path, **options)  # type: ignore[arg-type]
    return caught.value.code, caught.value.finding.fix


def test_every_ending_has_a_reader_and_every_reader_an_ending() -> None:
    assert set(FOREIGN.values()) == set(READERS)


def test_an_ending_of_no_tool_is_told_those_that_are_read(tmp_path: Path) -> None:
    code, fix = code_of(tmp_path / "circuit.asc")
    assert code == "D309"
    assert ".txt (POG_Modeler netlist)" in fix


@pytest.mark.parametrize("ending", ["mo", "slx", "moe"])
def test_a_closed_format_is_told_the_way_by_an_fmu(tmp_path: Path, ending: str) -> None:
    code, fix = code_of(tmp_path / f"drive.{ending}")
    assert (code, "functional mock-up unit" in fix) == ("D309", True)


def test_an_option_of_another_reader_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rc.txt"
    path.write_text("eV, 1, 0, En, V_a\neR, 1, 0, Kn, R_a=3", encoding="utf-8")
    assert code_of(path, diodes="ideal") == ("D311", "leave it out")


@pytest.mark.parametrize("ending", sorted(FOREIGN.keys() - {".txt"}))
def test_a_command_that_wants_a_model_names_the_command_that_imports(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"other{ending}"
    path.write_text("title\n", encoding="utf-8")
    with pytest.raises(DescriptionError) as caught:
        tg.read(path)
    assert caught.value.code == "D310"
    assert caught.value.finding.fix == f"import it: tellegen import {path} -o {path.with_suffix('.yaml')}"


DECK = "RC low pass\nV1 in 0 DC 5\nR1 in out 1k\nC1 out 0 1u\n"


@pytest.mark.parametrize("name", ["rc.txt", "rc.yaml", "rc.yml", "rc"])
@pytest.mark.parametrize("end", [".tran 10u 5m\n.end\n", ""])
def test_a_spice_deck_is_known_under_any_name(tmp_path: Path, name: str, end: str) -> None:
    path = tmp_path / name
    path.write_text(DECK + end, encoding="utf-8")
    target = path.with_name("rc_model.yaml") if name == "rc.yaml" else path.with_suffix(".yaml")
    with pytest.raises(DescriptionError, match="SPICE deck") as caught:
        tg.read(path)
    assert caught.value.code == "D310"
    assert caught.value.finding.fix == f"import it: tellegen import {path} -o {target}"
    # The command that is named does it.
    tg.import_model(path, target)
    assert {element.name for element in tg.read(target).elements} >= {"V1", "R1", "C1"}


@pytest.mark.parametrize(
    "text",
    [
        "eV, 1, 0, En, V_a\neR, 1, 0, Kn, R_a=oops\n",
        "Notes\nThis is some text here\nwith four words each\n",
        "system: X\nnetwork: {R: {resistor: [a b c d]}}\n.tran: 3\n",
    ],
)
def test_what_is_no_deck_is_told_as_before(tmp_path: Path, text: str) -> None:
    for name in ("other.txt", "other.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DescriptionError) as caught:
            tg.read(path)
        assert caught.value.code != "D310"
