"""Changes of texts as editors send them, and files whose line ends, marks and rights are kept."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.server.document import OpenDocument, TextUpdate
from tellegen.server.text import BadChangeError, apply_change, change_between, read_file

TEXTS = st.text(alphabet=st.sampled_from("ab \n#{}:äΩ\U0001f600"), max_size=30)


@given(TEXTS, TEXTS)
def test_the_change_between_two_texts_leads_from_one_to_the_other(old: str, new: str) -> None:
    assert apply_change(old, change_between(old, new)) == new


def test_positions_are_counted_as_browsers_count() -> None:
    # A character beyond the first plane is two units long in a browser.
    assert apply_change("\U0001f600b", [2, [1, "c", "d"]]) == "\U0001f600c\nd"


@pytest.mark.parametrize(
    "change", [[5], [1], [[1]], [-1, 4], [True, 2], [1, [1, 7], 1], [["x"]], [None], [[1, "a"], 1], [[]], "ab"]
)
def test_a_change_that_does_not_fit_is_refused(change: list[int]) -> None:
    with pytest.raises(BadChangeError):
        apply_change("\U0001f600b", change)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_marks_of_a_file_are_kept(tmp_path: Path, newline: bytes, mark: bytes) -> None:
    path = tmp_path / "model.yaml"
    path.write_bytes(mark + newline.join([b"system: A", b"about: old", b""]))
    document = OpenDocument.opened("model.yaml", path)
    assert document.text == "system: A\nabout: old\n"
    document.edit("about", "system: A\nabout: new\n")
    assert path.read_bytes() == mark + newline.join([b"system: A", b"about: new", b""])


def test_a_file_that_cannot_be_written_back_is_refused_before_the_first_edit(tmp_path: Path) -> None:
    path = tmp_path / "mixed.yaml"
    data = b"system: A\r\nabout: b\nversion: 2\n"
    path.write_bytes(data)
    document = OpenDocument.opened("mixed.yaml", path)
    assert "several ways" in document.refusal
    with pytest.raises(tg.DescriptionError, match="D722"):
        document.edit("x", "system: B\n")
    assert path.read_bytes() == data
    assert document.text == "system: A\nabout: b\nversion: 2\n"
    (tmp_path / "latin.yaml").write_bytes(b"system: \xe4\n")
    with pytest.raises(tg.DescriptionError, match="UTF-8"):
        read_file(tmp_path / "latin.yaml")


def _typed(document: OpenDocument, new: str) -> list[TextUpdate]:
    return [TextUpdate(change_between(document.text, new), "a")]


def test_a_change_is_on_the_disk_before_anybody_hears_of_it(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text("system: A\n")
    document = OpenDocument.opened("model.yaml", path)
    heard: list[str] = []
    document.listeners.append(lambda *_told: heard.append(path.read_text()))
    assert document.push(0, _typed(document, "system: AB\n"))
    document.edit("rename", "system: C\n")
    document.undo()
    assert heard == ["system: AB\n", "system: C\n", "system: AB\n"]


def test_a_change_for_an_older_version_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text("system: A\n")
    document = OpenDocument.opened("model.yaml", path)
    late = _typed(document, "system: AX\n")
    assert document.push(0, _typed(document, "system: AB\n"))
    assert not document.push(0, late)
    assert document.text == "system: AB\n"
    missed = document.since(0)
    assert missed is not None
    assert apply_change("system: A\n", missed[0].changes) == "system: AB\n"


def test_letters_are_one_step_and_gestures_are_steps_of_their_own(tmp_path: Path) -> None:
    document = OpenDocument.new("model.yaml", tmp_path / "model.yaml", "")
    for text in ("s", "sy", "sys"):
        document.push(document.version, _typed(document, text))
    document.edit("first", "sys 1")
    document.edit("second", "sys 2")
    assert [step.label for step in document.undoable] == ["typing", "first", "second"]
    assert [document.undo() for _ in range(4)] == ["second", "first", "typing", ""]
    assert document.text == ""
    assert document.redo() == "typing"
    assert document.text == "sys"
    document.edit("another", "sys 3")
    assert document.redo() == ""


def test_what_another_program_writes_is_a_step_that_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text("system: A\n")
    document = OpenDocument.opened("model.yaml", path)
    assert not document.look()
    path.write_text("system: By hand\n")
    # Who types at that moment is told first, and nothing of the other program is lost.
    assert not document.push(0, [TextUpdate([9, [0, "!"], 1], "a")])
    assert document.text == "system: By hand\n"
    document.undo()
    assert path.read_text() == "system: A\n"
    path.unlink()
    document.edit("rename", "system: Again\n")
    assert path.read_text() == "system: Again\n"


def test_an_example_becomes_a_file_with_its_first_change(tmp_path: Path) -> None:
    document = OpenDocument.new("rlc.yaml", tmp_path / "rlc.yaml", "system: RLC\n")
    document.look()
    assert not (tmp_path / "rlc.yaml").exists()
    document.edit("rename", "system: Mine\n")
    assert (tmp_path / "rlc.yaml").read_text() == "system: Mine\n"
