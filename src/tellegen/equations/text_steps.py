"""A derivation step by step as plain text."""

from collections.abc import Iterable

from tellegen.equations.display import (
    Term,
)
from tellegen.equations.explanation import ExplainedEntry, Item, Loop, Path, Relation, Sentence, ShownMatrix
from tellegen.equations.readable_forms import (
    Explanation,
)
from tellegen.equations.text_blocks import MOST_STATES, named_matrix
from tellegen.equations.text_rows import WIDTH, named_block, wrapped
from tellegen.expressions import ZERO, to_text


def steps_to_text(steps: Explanation, *, width: int = WIDTH, unicode: bool = True) -> str:
    """The derivation as numbered sections; an entry with one path takes one line, others one line a path."""
    parts = [f"{steps.name}, step by step"]
    for n, section in enumerate(steps.sections, 1):
        lines = [line for item in section.items for line in _item_lines(item, width, unicode)]
        parts.append("\n".join([f"{n}. {section.title}", "", *lines]).replace("\n\n\n", "\n\n").rstrip())
    parts.append(named_block("where", steps.where, width))
    return "\n\n".join(part for part in parts if part) + "\n"


def _item_lines(item: Item, width: int, unicode: bool) -> list[str]:
    if isinstance(item, Sentence):
        return [wrapped(item.plain, width, "    " if item.listed else "  ", hanging=2 * item.listed)]
    if isinstance(item, Relation):
        return [wrapped(f"{item.name} = {to_text(item.value)}", width, "      ")]
    if isinstance(item, ExplainedEntry):
        return list(_entry_lines(item, width))
    if isinstance(item, Loop):
        return list(_loop_lines(item, width))
    return ["", *_shown_matrix(item, width, unicode), ""]


def _shown_matrix(shown: ShownMatrix, width: int, unicode: bool) -> list[str]:
    name, rows = shown.name, shown.rows
    term = Term(False, name, "", False, rows, ())
    block = named_matrix(term, unicode)
    if block.width + 4 <= width and len(rows) <= MOST_STATES:
        return [f"    {line.rstrip()}" for line in block.lines]
    if shown.explained:
        return [f"    {name} has the entries above; it is wider than this page."]
    filled = [(i, j, e) for i, row in enumerate(rows, 1) for j, e in enumerate(row, 1) if e is not ZERO]
    return [wrapped(f"{name}[{i},{j}] = {to_text(e)}", width, "    ") for i, j, e in filled]


def _entry_lines(entry: ExplainedEntry, width: int) -> Iterable[str]:
    value = to_text(entry.value)
    if len(entry.paths) == 1 and to_text(entry.paths[0].gain) == value:
        yield wrapped(f"{entry.place} = {value}: {_route(entry.paths[0])}", width, "    ")
        return
    yield wrapped(f"{entry.place} = {value}", width, "    ")
    for path in entry.paths:
        yield wrapped(f"{to_text(path.gain)}: {_route(path)}", width, "      ")


def _route(path: Path) -> str:
    return " -> ".join(path.stops)


def _loop_lines(loop: Loop, width: int) -> Iterable[str]:
    for path in loop.rounds:
        yield wrapped(f"loop {_route(path)}: {to_text(path.gain)}", width, "    ")
    yield wrapped(f"{loop.name} = {to_text(loop.determinant)}", width, "    ")
