"""Where a person put the items of figures: the part `layout` of a file, by kind of figure and name.

Only what figures use is read, `bond: {L_a: [340, 120]}`; other keys are left to the programs that wrote them.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path

from tellegen.core.errors import TellegenError
from tellegen.notations import rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.yaml import rules as yaml_rules
from tellegen.notations.yaml.document import (
    Document,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
    read_document,
    write_text,
)
from tellegen.notations.yaml.writing import add_entry, find, quote_if_needed, set_scalar

ItemPositions = Mapping[str, tuple[float, float]]
"""The centres of items by name, in units of the figure: x to the right, y downwards."""

PLACED_FIGURES = ("bond", "pog", "network")
"""The kinds of figures whose items stay where they are put."""


def read_layout(context: ReadingContext, node: Node) -> dict[str, ItemPositions]:
    """The places in a file, by kind of figure.

    Raises: DescriptionError (D102) where a place is no pair of numbers.
    """
    section = context.mapping(node, "'layout'")
    return {
        key.text: {
            name.text: _place(context, name.text, place)
            for name, place in context.mapping(value, f"the layout of '{key.text}'").items()
        }
        for key, value in section.items()
        if key.text in PLACED_FIGURES
    }


def _place(context: ReadingContext, name: str, node: Node) -> tuple[float, float]:
    texts = [item.text for item in node.items if isinstance(item, Scalar)] if isinstance(node, SequenceNode) else []
    try:
        x, y = (float(text) for text in texts)
    except ValueError:
        x = y = float("nan")
    if isfinite(x) and isfinite(y):
        return x, y
    what = f"the place of '{name}' is not two numbers"
    raise context.error(rules.WRONG_SHAPE, node, what, fix=f"write '{name}: [x, y]', in units of the figure")


def write_positions(path: Path, notation: str, places: ItemPositions) -> None:
    """Put places into the layout of a file; everything else in it stays as it is, comments too.

    Raises: DescriptionError where the file cannot be read, changed (D073) or written (D074).
    """
    document = with_positions(read_document(path), notation, places)
    mark = "\ufeff" if document.has_byte_order_mark else ""
    write_text(path, mark + document.text)


def with_positions(document: Document, notation: str, places: ItemPositions) -> Document:
    """The document with these places in its layout, beside those that it has of other items."""
    root = document.root
    if not isinstance(root, MappingNode) or not places:
        return document
    layout = root.get("layout")
    if layout is None:
        return _with_section(document, notation, places)
    if not isinstance(layout, MappingNode) or layout.get(notation) is None:
        return add_entry(document, ("layout",), notation, {name: _pair(place) for name, place in places.items()})
    for name, place in places.items():
        document = _with_place(document, notation, name, _pair(place))
    return document


def _with_place(document: Document, notation: str, name: str, pair: list[str]) -> Document:
    section = find(document, ("layout", notation))
    if not isinstance(section, MappingNode) or section.get(name) is None:
        return add_entry(document, ("layout", notation), name, pair)
    for k, text in enumerate(pair):
        document = set_scalar(document, ("layout", notation, name, k), text)
    return document


def _with_section(document: Document, notation: str, places: ItemPositions) -> Document:
    """A new section at the end, with a line for each item; on one line where the whole file is in braces."""
    text = document.text
    lines = ["layout:", f"  {notation}:"]
    lines += [f"    {quote_if_needed(name, flow=False)}: [{', '.join(_pair(place))}]" for name, place in places.items()]
    # The line ends of the file: mixed ones show up as changes of every other line in many programs.
    newline = "\r\n" if "\r\n" in text else "\n"
    longer = text + ("" if text.endswith(("\n", "\r")) else newline) + newline.join([*lines, ""])
    try:
        # The end of the text need not be the end of the mapping: the file may stand in braces, or close with `...`.
        made = read_document(longer, document.file)
    except TellegenError as error:
        if text.lstrip().startswith("{"):
            tree = {notation: {name: _pair(place) for name, place in places.items()}}
            return add_entry(document, (), "layout", tree)
        what = f"no layout can be put at the end of the file: {error.what}"
        raise yaml_rules.EDIT_DOES_NOT_FIT.error(what, fix="add a line 'layout:' where it shall stand") from error
    return replace(made, has_byte_order_mark=document.has_byte_order_mark)


def _pair(place: tuple[float, float]) -> list[str]:
    # Tenths of a unit are finer than a hand can place something.
    return [f"{round(part, 1):g}" for part in place]
