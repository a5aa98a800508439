"""Entries and items are removed and added where they stand; everything else in a file stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.notations.yaml.document import read_document
from tellegen.notations.yaml.writing import NodePath, add_item, remove, tree_of

CASES: list[tuple[str, NodePath, str]] = [
    ("a: 1  # one\n# stays\nb: 2\n", ("a",), "# stays\nb: 2\n"),
    ("a: 1\nb: 2", ("b",), "a: 1"),
    ("a:\n  b: 1\n  c: {d: 2}\ne: 3\n", ("a", "b"), "a:\n  c: {d: 2}\ne: 3\n"),
    ("a:\n  b: 1\ne: 3\n", ("a", "b"), "a:\ne: 3\n"),
    ("a: {b: 1, c: 2, d: 3}\n", ("a", "b"), "a: {c: 2, d: 3}\n"),
    ("a: {b: 1, c: 2, d: 3}\n", ("a", "c"), "a: {b: 1, d: 3}\n"),
    ("a: {b: 1}\n", ("a", "b"), "a: {}\n"),
    ("a: [x, y]\n", ("a", 1), "a: [x]\n"),
    ("a:\n  - x  # first\n  - y\n", ("a", 0), "a:\n  - y\n"),
    ("a: |\n  many\n  lines\nb: 2\n", ("a",), "b: 2\n"),
    ("a: 1\r\nb: 2\r\nc: 3\r\n", ("b",), "a: 1\r\nc: 3\r\n"),
    ("a:\n  b:\n    c: 1\n    d: 2\n  e: 3\n", ("a", "b"), "a:\n  e: 3\n"),
]


@pytest.mark.parametrize(("text", "path", "wanted"), CASES)
def test_what_is_removed_leaves_the_rest_as_it_is(text: str, path: NodePath, wanted: str) -> None:
    assert remove(read_document(text), path).text == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a:\nb: 1\n", "a:\n  - x -> y\nb: 1\n"),
        ("a:\n  - u\nb: 1\n", "a:\n  - u\n  - x -> y\nb: 1\n"),
        ("a: [u]  # c\n", "a: [u, x -> y]  # c\n"),
        ("a: []\n", "a: [x -> y]\n"),
        ("a:\n  - u  # c", "a:\n  - u  # c\n  - x -> y"),
    ],
)
def test_an_item_is_added_behind_the_last(text: str, wanted: str) -> None:
    assert add_item(read_document(text), ("a",), "x -> y").text == wanted


def test_what_is_not_there_cannot_be_removed_and_no_item_is_added_to_a_mapping() -> None:
    document = read_document("a: {b: 1}\n")
    for path in (("x",), ("a", "x"), ("a", "b", "c")):
        with pytest.raises(tg.DescriptionError, match="D073"):
            remove(document, path)
    with pytest.raises(tg.DescriptionError, match="D073"):
        add_item(document, ("a",), "x")


WORDS = st.sampled_from(["1", "two words", "a: b", "# no", "", "'", "[x", "-"])


@given(st.lists(WORDS, min_size=1, max_size=5), st.data())
def test_removing_what_was_added_gives_the_text_back(items: list[str], data: st.DataObject) -> None:
    text = "head: 1\nlist:\n"
    document = read_document(text)
    for item in items:
        document = add_item(document, ("list",), item)
    assert tree_of(document.root)["list"] == items
    while items:
        k = data.draw(st.integers(0, len(items) - 1))
        document = remove(document, ("list", k))
        del items[k]
        assert tree_of(document.root)["list"] == (items or "")
    assert document.text == text
