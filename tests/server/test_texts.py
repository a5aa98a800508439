"""Changes of texts as editors send them, and files whose line ends, marks and rights are kept."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.server.document import MOST_SNAPSHOTS, OpenDocument, TextUpdate
from tellegen.server.folder import MOST_FILES, Folder
from tellegen.server.hub import Hub
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


def test_a_file_that_nobody_may_write_is_looked_at_only_until_somebody_may(tmp_path: Path) -> None:
    path = tmp_path / "kept.yaml"
    path.write_text("system: A\n")
    path.chmod(0o444)
    document = OpenDocument.opened("kept.yaml", path)
    assert document.refusal == "it is read-only"
    for act in (lambda: document.edit("x", "system: B\n"), lambda: document.push(0, _typed(document, "system: B\n"))):
        with pytest.raises(tg.DescriptionError, match="D722"):
            act()
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("system: A\n", 0o444)
    path.chmod(0o640)
    document.edit("x", "system: B\n")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("system: B\n", 0o640)


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


def test_a_snapshot_is_kept_differs_is_taken_back_as_one_step_and_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_bytes(b"system: A\r\nabout: old\r\n")
    document = OpenDocument.opened("model.yaml", path)
    document.keep("before (1)")
    assert [(name, changes) for name, _, changes in document.kept()] == [("before (1)", ())]
    assert list(Folder(tmp_path).names()) == ["model.yaml"], "no model of the folder"
    document.edit("about", "system: A\nabout: new\n")
    assert document.kept()[0][2] == ("@@ -1,3 +1,3 @@", " system: A", "-about: old", "+about: new", " ")
    document.restore("before (1)")
    assert path.read_bytes() == b"system: A\r\nabout: old\r\n"
    assert document.undo() == "back to 'before (1)'"
    assert document.text == "system: A\nabout: new\n"
    document.forget("before (1)")
    assert document.kept() == []


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/b", "a\\b", ".x", "x ", "x.", "\0", "\ud800", "a\nb", "x" * 61, "CON:"]
)
def test_a_snapshot_has_no_name_that_leads_anywhere(tmp_path: Path, name: str) -> None:
    document = OpenDocument.new("model.yaml", tmp_path / "model.yaml", "system: A\n")
    for act in (document.keep, document.restore, document.forget):
        with pytest.raises(tg.DescriptionError, match="D729"):
            act(name)
    assert list(tmp_path.iterdir()) == []


def test_snapshots_follow_no_link_and_come_to_an_end(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for place in (folder, outside / "model.yaml"):
        place.mkdir(parents=True)
    (outside / "model.yaml" / "secret.yaml").write_text("system: Secret\n")
    document = OpenDocument.new("model.yaml", folder / "model.yaml", "system: A\n")
    document.write()
    (folder / ".tellegen").symlink_to(outside)
    assert document.kept() == []
    for act in (document.keep, document.restore, document.forget):
        with pytest.raises(tg.DescriptionError, match="D729"):
            act("secret")
    (folder / ".tellegen").unlink()
    for k in range(MOST_SNAPSHOTS):
        document.keep(f"s{k}")
    with pytest.raises(tg.DescriptionError, match="has 50 snapshots already"):
        document.keep("one more")
    document.keep("s0")  # in the place of an old one
    with pytest.raises(tg.DescriptionError, match="did you mean 's7'"):
        document.restore("s7a")


def test_a_full_folder_gets_no_more_models_and_an_example_is_looked_at_only(tmp_path: Path) -> None:
    hub = Hub(tmp_path)
    assert hub.new("model", "network").name == "model.yaml"
    assert hub.take("Über (2).yaml", "system: B\n").path.read_text() == "system: B\n"
    for k in range(MOST_FILES - 2):
        (tmp_path / f"m{k}.yaml").touch()
    with pytest.raises(tg.DescriptionError, match="D728"):
        hub.new("other", "network")
    with pytest.raises(tg.DescriptionError, match="D728"):
        hub.take("x.yaml", "system: X\n")
    assert len(list(tmp_path.iterdir())) == MOST_FILES
    example = hub.open("example:rlc")
    assert "500 models" in example.refusal
    with pytest.raises(tg.DescriptionError, match="D722"):
        example.edit("x", "system: B\n")
    # What is there already is edited as ever.
    hub.open("m0.yaml").edit("x", "system: B\n")


@pytest.mark.parametrize("name", ["", "..", "../x.yaml", "a/../../x.yaml", ".x.yaml", "\0", "\ud800", "C:x"])
def test_a_name_that_is_dropped_in_leads_nowhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(tg.DescriptionError, match="D72"):
        Hub(tmp_path / "folder").take(name, "system: A\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]
