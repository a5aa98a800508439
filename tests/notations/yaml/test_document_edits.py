"""Edits of a model file: what they change, and that they change nothing else."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellegen.core.errors import DescriptionError
from tellegen.core.hidden_characters import HIDDEN
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, SequenceNode, read_document
from tellegen.notations.yaml.writing import (
    NodePath,
    Tree,
    add_entry,
    find,
    quote_if_needed,
    set_scalar,
)

MODEL = """\
# a motor
system: DC motor   # with a name
parameters: {L_a: 2 mH, R_a: "0.5 ohm"}   # from the data sheet
network:

  # the supply
  V_a: {voltage source: [a, gnd]}
  L_a: {inductor: [a, b]}   # the winding
  # the end
notes: |
  two
  lines

layout:
"""


def edited(document: Document, old: str, new: str) -> str:
    """The text of the document with one part replaced: what an edit should give."""
    assert document.text.count(old) == 1, old
    return document.text.replace(old, new)


def test_a_value_is_set_and_its_comment_stays() -> None:
    document = read_document(MODEL)
    assert set_scalar(document, ("system",), "Pump").text == edited(document, "DC motor ", "Pump ")
    assert set_scalar(document, ("parameters", "L_a"), "3 mH").text == edited(document, "2 mH", "3 mH")
    assert set_scalar(document, ("network", "L_a", "inductor", 1), "c").text == edited(document, "[a, b]", "[a, c]")


def test_a_value_that_was_in_quotes_stays_in_quotes() -> None:
    document = read_document(MODEL)
    assert set_scalar(document, ("parameters", "R_a"), "1 ohm").text == edited(document, '"0.5 ohm"', '"1 ohm"')


def test_a_value_that_needs_quotes_gets_them() -> None:
    document = read_document(MODEL)
    assert 'L_a: "f(x, y)", R_a' in set_scalar(document, ("parameters", "L_a"), "f(x, y)").text
    assert 'system: "a: b"   # with' in set_scalar(document, ("system",), "a: b").text
    assert 'system: ""   # with' in set_scalar(document, ("system",), "").text


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("a:\nb: 1\n", ("a",), "a: v\nb: 1\n"),
        ("a:   # c\nb: 1\n", ("a",), "a: v   # c\nb: 1\n"),
        ("x: {a, b: 1}\n", ("x", "a"), "x: {a: v, b: 1}\n"),
        ("x: {a: , b: 1}\n", ("x", "a"), "x: {a: v, b: 1}\n"),
        ('x: {"a":}\n', ("x", "a"), 'x: {"a": v}\n'),
        ("x:\n-\n- 2\n", ("x", 0), "x:\n- v\n- 2\n"),
        ("a: |\n  two\n  lines\n\n# c\nb: 1\n", ("a",), "a: v\n\n# c\nb: 1\n"),
        ("a: one\n  two # c\n", ("a",), "a: v # c\n"),
    ],
)
def test_empty_and_long_values_are_set_too(text: str, path: NodePath, expected: str) -> None:
    assert set_scalar(read_document(text), path, "v").text == expected


def test_an_entry_is_added_behind_the_last_one() -> None:
    document = read_document(MODEL)
    added = add_entry(document, ("network",), "R_a", {"resistor": ["b", "c"], "R": "0.5 ohm"})
    assert added.text == edited(document, "# the winding\n", "# the winding\n  R_a: {resistor: [b, c], R: 0.5 ohm}\n")
    added = add_entry(document, ("parameters",), "K", "1 N*m/A")
    assert added.text == edited(document, '"0.5 ohm"}', '"0.5 ohm", K: 1 N*m/A}')
    added = add_entry(document, ("layout",), "V_a", ["1", "2"])
    assert added.text == document.text + "  V_a: [1, 2]\n"
    assert add_entry(document, (), "experiment", {}).text == document.text + "experiment: {}\n"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("a: 1", (), "a: 1\nk: v"),
        ("a: 1\r\n# c\r\n", (), "a: 1\r\nk: v\r\n# c\r\n"),
        ("{}", (), "{k: v}"),
        ("{# c\n}\n", (), "{k: v # c\n}\n"),
        ("x:\n  {}\n", ("x",), "x:\n  {k: v}\n"),
        ("x:\n- a: 1\n  b: 2\n- c\n", ("x", 0), "x:\n- a: 1\n  b: 2\n  k: v\n- c\n"),
        ("x: {a: 1,}\n", ("x",), "x: {a: 1, k: v}\n"),
        ("x: {a: 1 # c, d\n }\n", ("x",), "x: {a: 1, k: v # c, d\n }\n"),
        ('{\n  "a": 1,\n  "b": [2]\n}\n', (), '{\n  "a": 1,\n  "b": [2],\n  "k": "v"\n}\n'),
        ("x: {\n  a: 1, # c\n  b: 2, # d\n  }\n", ("x",), "x: {\n  a: 1, # c\n  b: 2, # d\n  k: v,\n  }\n"),
        ("x: {\n  a: 1,\n  b: 2 # d\n  }\n", ("x",), "x: {\n  a: 1,\n  b: 2, # d\n  k: v\n  }\n"),
        ("x: {\n  a: 1}\n", ("x",), "x: {\n  a: 1, k: v}\n"),
        ("a: |\n  t\n", (), "a: |\n  t\nk: v\n"),
        ("a: |+\n  t\n\n", (), "a: |+\n  t\n\nk: v\n"),
        ("x: {a: }\n", ("x", "a"), "x: {a: {k: v}}\n"),
        ("x:\n-\n", ("x", 0), "x:\n- {k: v}\n"),
        ("x: {a}\n", ("x", "a"), "x: {a: {k: v}}\n"),
    ],
)
def test_an_entry_is_added_in_the_style_of_the_mapping(text: str, path: NodePath, expected: str) -> None:
    assert add_entry(read_document(text), path, "k", "v").text == expected


def test_the_byte_order_mark_survives_an_edit() -> None:
    document = set_scalar(read_document("\ufeffa: 1\n", "f.yaml"), ("a",), "2")
    assert document.content == "\ufeffa: 2\n"
    assert document.file == "f.yaml"


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda d: set_scalar(d, ("networc",), "x"), "there is no 'networc'"),
        (lambda d: set_scalar(d, ("network", 0), "x"), "there is no 'network / 0'"),
        (
            lambda d: set_scalar(d, ("network", "V_a", "voltage source", 5), "x"),
            "there is no 'network / V_a / voltage source / 5'",
        ),
        (lambda d: set_scalar(d, ("network",), "x"), "'network' is not a single value"),
        (lambda d: set_scalar(d, (), "x"), "the file itself is not a single value"),
        (lambda d: add_entry(d, ("system",), "k", "v"), "'system' is not a mapping"),
        (lambda d: add_entry(d, ("network",), "V_a", "v"), "the key 'V_a' is already there"),
        (
            lambda d: add_entry(d, ("network",), "<<", "v"),
            "the edit at 'network' gives no valid file: the merge key '<<' stands here",
        ),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(edit: Callable[[Document], Document], what: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        edit(read_document(MODEL))
    assert (caught.value.code, caught.value.what) == ("D073", what)
    assert caught.value.finding.place is not None


def test_a_wrong_path_is_answered_with_the_nearest_key() -> None:
    with pytest.raises(DescriptionError) as caught:
        find(read_document(MODEL), ("networc",))
    assert caught.value.finding.fix == "did you mean 'network'?"


def test_an_edit_that_would_change_something_else_is_refused() -> None:
    document = read_document("x: [a: 1]\n")
    with pytest.raises(DescriptionError, match="D073"):
        add_entry(document, ("x", 0), "k", "v")


@pytest.mark.parametrize(
    "text",
    [
        "4.7 mH",
        "pi*d^2/4",
        "-5 V",
        "Se:V_a -> 1:i",
        "on",
        "~",
        "N*m/A",
        "Größe",
        "a'b",
        "x#y",
        "1:2",
        "=",
        "<",
        "a - b",
    ],
)
def test_texts_that_read_back_as_they_are_stay_without_quotes(text: str) -> None:
    assert quote_if_needed(text, flow=False) == text


@settings(deadline=None)
@given(
    # Characters that editors do not show are refused however they are written.
    st.text(max_size=30).filter(lambda text: not HIDDEN.search(text))
    | st.text(alphabet=list("ab :#-,[]{}?&*!|>'\"%@`\n\t\\.=~<\xa0é"), max_size=12),
    st.booleans(),
)
def test_any_text_reads_back_as_itself(text: str, flow: bool) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        return  # half a character cannot stand in a file
    source = quote_if_needed(text, flow)
    document = read_document(
        f"a: {{k: {source}, l: [{source}]}}\n" if flow else f"a:\n  k: {source}\n  l:\n  - {source}\n"
    )
    assert plain(document.root) == {"a": {"k": text, "l": [text]}}


def plain(node: Node) -> Tree:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node]
    return {key.text: plain(value) for key, value in node.items()}


# Random documents in both styles, with comments and blank lines, and random edits of them.

WORDS = st.text(alphabet="abcxyz_", min_size=1, max_size=4)
VALUES = st.sampled_from(["1 ohm", "2*(a + b)", '"q, r"', "'it''s'", "-3", "on", ""])
COMMENTS = st.sampled_from(["", "", "   # note", " # a, b: {c}"])
FLOWS = st.recursive(
    VALUES.filter(bool),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.dictionaries(WORDS, inner, max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> list[str]:
    lines: list[str] = []
    pad = "  " * depth
    for key in draw(st.lists(WORDS, min_size=1, max_size=4, unique=True)):
        lines += draw(st.sampled_from([[], [], [""], [f"{pad}# above {key}"]]))
        kind = draw(st.sampled_from(["flow", "scalar", "block", "list"] if depth < 2 else ["flow", "scalar"]))
        if kind in ("flow", "scalar"):
            value = draw(FLOWS if kind == "flow" else VALUES)
            lines.append(f"{pad}{key}: {value}".rstrip() + draw(COMMENTS))
        elif kind == "block":
            lines += [f"{pad}{key}:" + draw(COMMENTS), *draw(blocks(depth + 1))]
        else:
            items = draw(st.lists(FLOWS, min_size=1, max_size=3))
            lines += [f"{pad}{key}:", *(f"{pad}- {item}{draw(COMMENTS)}" for item in items)]
    return lines


@st.composite
def documents(draw: st.DrawFn) -> Document:
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return read_document(newline.join(draw(blocks())) + draw(st.sampled_from([newline, ""])))


def paths(node: Node, path: NodePath = ()) -> list[tuple[NodePath, Node]]:
    found = [(path, node)]
    if isinstance(node, MappingNode):
        found += [pair for key, value in node.items() for pair in paths(value, (*path, key.text))]
    elif isinstance(node, SequenceNode):
        found += [pair for i, item in enumerate(node) for pair in paths(item, (*path, i))]
    return found


def texts(document: Document) -> dict[NodePath, str]:
    return {path: node.text for path, node in paths(document.root) if isinstance(node, Scalar)}


def comments(text: str) -> list[str]:
    return [line.split("#", 1)[1] for line in text.splitlines() if "#" in line]


@settings(max_examples=60, deadline=None)
@given(documents(), st.data(), st.text(alphabet=list("ab :#,{}'\""), max_size=6))
def test_setting_a_value_changes_one_text_and_no_comment(document: Document, data: st.DataObject, text: str) -> None:
    scalars = [path for path, node in paths(document.root) if isinstance(node, Scalar)]
    if not scalars:
        return
    path = data.draw(st.sampled_from(scalars))
    node = find(document, path)
    after = set_scalar(document, path, text)
    start, end = document.start(node), document.end(node)
    assert plain(find(after, path)) == text
    assert after.text.startswith(document.text[:start])
    assert after.text.endswith(document.text[end:])
    assert [p for p, _ in paths(after.root)] == [p for p, _ in paths(document.root)]


@settings(max_examples=60, deadline=None)
@given(documents(), st.data(), st.sampled_from(["v", "a, b", ["1"], {"m": "n: o"}]))
def test_an_added_entry_leaves_everything_else_as_it_was(document: Document, data: st.DataObject, value: Tree) -> None:
    path = data.draw(st.sampled_from([path for path, node in paths(document.root) if isinstance(node, MappingNode)]))
    added = add_entry(document, path, "new", value)
    assert plain(find(added, (*path, "new"))) == value
    assert comments(added.text)[: len(comments(document.text))] == comments(document.text)
    others = {at: text for at, text in texts(added).items() if at[: len(path) + 1] != (*path, "new")}
    assert others == texts(document)


def is_made_or_clearly_refused(document: Document, edit: Callable[[Document], Document]) -> bool:
    try:
        edit(document)
    except DescriptionError as error:
        return error.code == "D073"
    return True


STRANGE = st.text(alphabet=list("ab1:-?,[]{}#|>'\" \n\r"), min_size=3, max_size=25)


@settings(deadline=None)
@given(STRANGE, st.data())
def test_an_edit_of_any_readable_file_is_made_or_clearly_refused(text: str, data: st.DataObject) -> None:
    try:
        document = read_document(text)
    except DescriptionError:
        return
    path = data.draw(st.sampled_from([path for path, _ in paths(document.root)]))
    assert is_made_or_clearly_refused(document, lambda d: set_scalar(d, path, "v, w"))
    assert is_made_or_clearly_refused(document, lambda d: add_entry(d, path, "new", "v"))
