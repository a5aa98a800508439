"""Reading a model file as positioned texts: what is kept, what is refused, and in which words."""

import os
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tellegen.core import files
from tellegen.core.errors import DescriptionError, Finding, Place, Rule
from tellegen.notations.yaml import document, rules
from tellegen.notations.yaml.document import (
    Document,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
    read_document,
    write_text,
)

MODEL = """\
# a motor
system: DC motor   # with a name
parameters: {L_a: 2 mH, R_a: "0.5 ohm"}
network:
  V_a: {voltage source: [a, gnd]}

  L_a: {inductor: [a, b]}   # the winding
bond graph:
  - Se:V_a -> 1:i
  - i -> I:L_a
"""


def texts(node: Node) -> object:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, SequenceNode):
        return [texts(item) for item in node]
    return {key.text: texts(value) for key, value in node.items()}


def at(document: Document, *path: str | int) -> Node:
    node: Node | None = document.root
    for step in path:
        assert not isinstance(node, Scalar)
        assert node is not None
        node = node.get(str(step)) if isinstance(node, MappingNode) else node.items[int(step)]
    assert node is not None
    return node


def refused(source: Path | str) -> Finding:
    with pytest.raises(DescriptionError) as caught:
        read_document(source, "model.yaml") if isinstance(source, str) else read_document(source)
    return caught.value.finding


def test_a_model_is_read_as_texts_in_the_order_of_the_file() -> None:
    assert texts(read_document(MODEL).root) == {
        "system": "DC motor",
        "parameters": {"L_a": "2 mH", "R_a": "0.5 ohm"},
        "network": {"V_a": {"voltage source": ["a", "gnd"]}, "L_a": {"inductor": ["a", "b"]}},
        "bond graph": ["Se:V_a -> 1:i", "i -> I:L_a"],
    }
    assert list(read_document(MODEL).root) == ["system", "parameters", "network", "bond graph"]


def test_every_node_knows_its_place_and_its_source() -> None:
    document = read_document(MODEL, "motor.yaml")
    assert document.place(at(document, "system")) == Place("motor.yaml", 2, 9, "DC motor")
    assert document.place(at(document, "parameters", "R_a")) == Place("motor.yaml", 3, 30, '"0.5 ohm"')
    assert document.place(at(document, "network", "L_a")) == Place("motor.yaml", 7, 8, "{inductor: [a, b]}")
    assert document.place(at(document, "bond graph", 1)) == Place("motor.yaml", 10, 5, "i -> I:L_a")
    assert document.source(at(document, "network")).endswith("L_a: {inductor: [a, b]}")
    assert document.place(at(document, "network")).text == "V_a: {voltage source: [a, gnd]}..."


def test_a_place_can_point_inside_a_text() -> None:
    document = read_document(MODEL, "motor.yaml")
    assert document.place(at(document, "parameters", "L_a"), 2, "mH") == Place("motor.yaml", 3, 21, "mH")
    assert document.place(at(document, "parameters", "R_a"), 4, "ohm") == Place("motor.yaml", 3, 35, "ohm")
    escaped = read_document('a: "\\t ohn"', "f")
    assert escaped.place(at(escaped, "a"), 2, "ohn") == Place("f", 1, 4, "ohn")


def test_places_hold_with_characters_beyond_ascii_and_windows_line_ends() -> None:
    document = read_document("\ufeffname: Größe 𝛼\r\nα: {β: 3 Ω}\r\n", "f")
    assert texts(document.root) == {"name": "Größe 𝛼", "α": {"β": "3 Ω"}}
    assert document.place(at(document, "α", "β")) == Place("f", 2, 8, "3 Ω")
    assert document.content == "\ufeff" + document.text


@pytest.mark.parametrize(
    "text", ["on", "no", "1:2", "010", "~", "null", "1e3", "0x1F", "2001-01-01", "=", "1_000", ".inf"]
)
def test_what_other_readers_turn_into_something_else_stays_text(text: str) -> None:
    node = at(read_document(f"a: {text}\n"), "a")
    assert isinstance(node, Scalar)
    assert node.text == text
    assert not node.quoted


def test_quotes_are_seen_and_removed() -> None:
    document = read_document("""a: 'it''s'\nb: "x\\ty"\nc: |\n  two\n  lines\nd:\n""")
    assert texts(document.root) == {"a": "it's", "b": "x\ty", "c": "two\nlines\n", "d": ""}
    assert [value.quoted for value in document.root.values if isinstance(value, Scalar)] == [True, True, True, False]


def test_json_is_read_too() -> None:
    assert texts(read_document('{"a": [1, true, {"b": null}],\n "c": "x"}').root) == {
        "a": ["1", "true", {"b": "null"}],
        "c": "x",
    }


def test_keys_are_found_in_small_and_large_mappings() -> None:
    for size in (3, 30):
        root = read_document("".join(f"k{i}: {i}\n" for i in range(size))).root
        assert "k2" in root
        assert "k99" not in root
        assert root.get("k99") is None
        assert root.key("k99") is None
        key = root.key("k2")
        assert key is not None
        assert key.line == 3
        assert len(root) == size


def test_nodes_show_themselves_briefly() -> None:
    document = read_document(MODEL)
    assert repr(document.root) == "Mapping(of 4, line 2)"
    assert repr(at(document, "bond graph")) == "Sequence(of 2, line 9)"
    assert repr(at(document, "system")) == "Scalar('DC motor', line 2)"


REFUSALS = [
    ("a: 1\nb: 2\na: 3\n", "D061", "the key 'a' stands twice, first at line 1, column 1", (3, 1)),
    ("x: {b: 1, 'b': 2}", "D061", "the key 'b' stands twice, first at line 1, column 5", (1, 11)),
    ("a: &x 1", "D062", "the anchor '&x' stands here", (1, 4)),
    ("a: &x {b: 1}", "D062", "the anchor '&x' stands here", (1, 4)),
    ("b: *x", "D062", "the alias '*x' stands here", (1, 4)),
    ("a: !!python/object:os.system x", "D063", "the tag '!!python/object:os.system' stands before a value", (1, 4)),
    ("a: !mine [1]", "D063", "the tag '!mine' stands before a value", (1, 4)),
    ("a: 1\n---\nb: 2\n", "D064", "a second document starts here", (2, 1)),
    ("a: {<<: {b: 1}}", "D065", "the merge key '<<' stands here", (1, 5)),
    ("- a\n", "D066", "the file is a list, not a mapping", (1, 1)),
    ("abc\n", "D066", "the file is a single value, not a mapping", (1, 1)),
    ("{[a]: 1}", "D067", "a list stands where a key is expected", (1, 2)),
    ("? {a: 1}\n: 2", "D067", "a mapping stands where a key is expected", (1, 3)),
    ('{"": 1}', "D067", "a key is missing before ':'", (1, 2)),
    ("a: " + "[" * 30, "D068", "lists and mappings are nested more than 20 deep", (1, 23)),
    ("a: b\x00c", "D070", "the character U+0000 cannot stand in a model file", (1, 5)),
    ("a: 1\r\nb: \u2028", "D070", "the character U+2028 cannot stand in a model file", (2, 4)),
    ("a: \ud800", "D070", "the character U+D800 cannot stand in a model file", (1, 4)),
    ("", "D071", "the file is empty", (1, 1)),
    ("# nothing\n", "D071", "the file is empty", (1, 1)),
    ("---\n", "D071", "the file is empty", (1, 1)),
    ("a:\n\tb: 1\n", "D060", "a tab stands where a value or a key starts", (2, 1)),
    ("a: {b: [1, 2}", "D060", "a ',' or ']' is missing (the '[' is at line 1, column 8)", (1, 13)),
    ("a: {b: 1\nc: 2\n", "D060", "a ',' or '}' is missing (the '{' is at line 1, column 4)", (2, 2)),
    ("a: {b: 1", "D060", "a ',' or '}' is missing (the '{' is at line 1, column 4)", (1, 9)),
    ("a: 'x", "D060", "a quotation mark is never closed (the quote is at line 1, column 4)", (1, 6)),
    ('a: "\\q"', "D060", "an unknown '\\' escape", (1, 5)),
    ('a: "\\x1"', "D060", "a '\\' escape lacks its digits", (1, 7)),
    ("a: b: c", "D060", "a second ':' stands here", (1, 5)),
    ("a: 1\n  b: 2\n", "D060", "an entry stands below a line that already has a value", (2, 4)),
    (
        "a:\n  b: 1\n c: 2\n",
        "D060",
        "the indentation does not fit the lines above (the mapping is at line 1, column 1)",
        (3, 2),
    ),
    ("a: 1\nb\nc: 2", "D060", "a ':' is missing after a key (the key is at line 2, column 1)", (3, 1)),
    ("k" * 2000 + ": 1", "D060", "a key is longer than 1024 characters", (1, 2001)),
    (": 1", "D060", "a key is missing before ':'", (1, 1)),
    ("a: @x", "D060", "a value cannot start with '@'", (1, 4)),
    ("a: [1,,2]", "D060", "a value is missing", (1, 7)),
    ("a: - 1", "D060", "a list item '-' stands here", (1, 4)),
    ("a:\n  - 1\n  b: 2\n", "D060", "a list item does not start with '-' (the list is at line 2, column 3)", (3, 3)),
    ("{a: 1} x", "D060", "text follows the end of the model", (1, 8)),
    ("a: [1]]", "D060", "the ']' closes nothing", (1, 7)),
    ("a: 'b' c", "D060", "something follows the end of a value", (1, 8)),
    ('a: "x\n---\ny"', "D060", "a line '---' or '...' stands inside a value (it is at line 1, column 4)", (2, 1)),
    ("a: *", "D060", "'*' or '&' starts a value", (1, 5)),
    ("%x\n", "D060", "a line starts with '%'", (1, 3)),
    ("a: |x\n b\n", "D060", "the text cannot be read as YAML", (1, 5)),
]
ONLY_LIBYAML_REFUSES = [
    ("x: {a:}", "D060", "a ':' stands without a space behind it", (1, 6)),
]


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="the places are libyaml's")
@pytest.mark.parametrize(("text", "code", "what", "place"), REFUSALS + ONLY_LIBYAML_REFUSES)
def test_what_models_do_not_use_is_refused_with_place_and_reason(
    text: str, code: str, what: str, place: tuple[int, int]
) -> None:
    finding = refused(text)
    assert (finding.code, finding.what) == (code, what)
    assert finding.place is not None
    assert finding.place[:3] == ("model.yaml", *place)
    assert finding.why
    assert finding.fix


def test_all_duplicates_of_a_mapping_are_reported_with_both_places() -> None:
    with pytest.raises(DescriptionError) as caught:
        read_document("a: 1\na: 2\nb: 1\nb: 2\n", "f")
    assert [(finding.place, finding.members) for finding in caught.value.findings] == [
        (Place("f", 2, 1, "a"), ("f:1:1",)),
        (Place("f", 4, 1, "b"), ("f:3:1",)),
    ]


def test_an_error_reads_as_what_where_why_and_what_to_do() -> None:
    with pytest.raises(DescriptionError) as caught:
        read_document("network:\n  R_1: {resistor: [a, b}\n", "model.yaml")
    assert str(caught.value) == (
        "error D060: a ',' or ']' is missing (the '[' is at line 2, column 19)\n"
        "  at model.yaml:2:24   R_1: {resistor: [a, b}\n"
        "  because the rest of the file cannot be understood without it\n"
        "  try: separate items by commas and close the bracket"
    )


@pytest.mark.parametrize("rule", [rule for rule in rules.RULES.rules.values() if rule.example], ids=lambda r: r.code)
def test_the_example_of_a_rule_breaks_it_and_the_repaired_file_reads(rule: Rule) -> None:
    assert refused(rule.example).code == rule.code
    read_document(rule.instead)


def test_without_libyaml_the_same_files_are_read_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with_libyaml = read_document(MODEL)
    monkeypatch.setattr(document, "_LOADER", yaml.SafeLoader)
    without = read_document(MODEL)
    assert texts(without.root) == texts(with_libyaml.root)
    assert without.place(at(without, "network", "L_a")) == with_libyaml.place(at(with_libyaml, "network", "L_a"))
    for text, code, _, _ in REFUSALS:
        assert refused(text).code == code


def test_the_number_of_nodes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_NODES", 10)
    assert refused("a: [" + "x, " * 20 + "]").code == "D069"
    assert refused("a: [" + "[], " * 20 + "]").code == "D069"


def test_twenty_levels_are_allowed() -> None:
    assert len(read_document("a: " + "[" * 19 + "]" * 19).root) == 1


def test_a_file_is_read_with_its_name_in_places(tmp_path: Path) -> None:
    path = tmp_path / "motor.yaml"
    path.write_bytes(MODEL.replace("\n", "\r\n").encode())
    document = read_document(path)
    assert document.file == str(path)
    assert "\r\n" in document.text
    assert at(document, "system").line == 2


def test_a_missing_file_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "motor.yaml").touch()
    finding = refused(tmp_path / "moter.yaml")
    assert finding.code == "D072"
    assert finding.what == f"'{tmp_path / 'moter.yaml'}' cannot be read: there is no such file or folder"
    assert finding.fix == "did you mean 'motor.yaml'?"
    assert refused(tmp_path / "nowhere" / "x.yaml").fix == "check the name and the folder"


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    assert refused(tmp_path).what == f"'{tmp_path}' cannot be read: it is a folder"


def test_a_name_with_a_nul_is_no_file_name() -> None:
    assert refused(Path("a\0b")).what.endswith("cannot be read: the name is not a file name")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices have no file names there")
def test_pipes_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe").what.endswith("cannot be read: it is not an ordinary file")
    assert refused(Path("/dev/zero")).code == "D072"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everything may be read by this user")
def test_a_file_without_permission_says_so(tmp_path: Path) -> None:
    path = tmp_path / "secret.yaml"
    path.touch(mode=0o000)
    assert refused(path).what.endswith("cannot be read: permission denied")


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 2**20)
    path = tmp_path / "large.yaml"
    path.write_text("a: " + "x" * 2**20)
    assert refused(path).what == f"'{path}' is larger than 1 MiB"


def test_a_file_that_is_not_utf_8_is_refused_at_the_first_wrong_byte(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"a: 1\nb: Gr\xf6\xdfe\n")
    finding = refused(path)
    assert (finding.code, finding.what) == ("D070", "the byte 0xF6 is not UTF-8 text")
    assert finding.place == Place(str(path), 2, 6)


def test_writing_replaces_a_file_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text("old")
    path.chmod(0o640)
    write_text(path, "a: ä\r\n")
    assert path.read_bytes() == "a: ä\r\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["model.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_writing_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text("old")
    (tmp_path / "link.yaml").symlink_to(tmp_path / "real.yaml")
    write_text(tmp_path / "link.yaml", "new")
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "real.yaml").read_text() == "new"


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.yaml"
    path.write_text("old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DescriptionError, match=r"D074.*cannot be written: No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.yaml"]


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="it is a folder"):
        write_text(tmp_path, "x")
    with pytest.raises(DescriptionError, match="there is no such file or folder"):
        write_text(tmp_path / "nowhere" / "x.yaml", "x")


def test_a_text_that_cannot_be_encoded_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="D074"):
        write_text(tmp_path / "x.yaml", "\ud800")
    assert os.listdir(tmp_path) == []


def is_read_or_clearly_refused(text: str) -> bool:
    try:
        document = read_document(text)
    except DescriptionError as error:
        return all(finding.code in rules.RULES.rules and finding.place for finding in error.findings)
    return all(document.source(key) in document.text for key in document.root.keys)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from(list("ab01:-?,[]{}#&*!|>'\"%@` \n\t\r\\~<é\ufeff\x00")), max_size=40))
def test_any_text_is_read_or_clearly_refused(text: str) -> None:
    assert is_read_or_clearly_refused(text)
