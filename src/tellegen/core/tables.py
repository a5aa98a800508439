"""Tables as text, and numbers that JSON can hold."""

import math
from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from typing import NamedTuple

from tellegen.core.hidden_characters import visible

Rows = Sequence[tuple[str, ...]]


class TitledTable(NamedTuple):
    """Rows under a title, the first of them their head where `headed`: told in a terminal, in a notebook and on a page."""

    title: str
    rows: Rows = ()
    headed: bool = False

    def lines(self) -> list[str]:
        """Title and rows as lines of text."""
        return [*([self.title] if self.title else ()), *table_lines(self.rows)]


def tables_text(name: str, tables: Sequence[TitledTable]) -> str:
    """Tables below each other under a name, with an empty line between them."""
    lines = [name, *(line for table in tables for line in ("", *table.lines()))]
    return "\n".join(line.rstrip() for line in lines)


def tables_html(name: str, tables: Sequence[TitledTable], after: Sequence[str] = ()) -> str:
    """The same for a notebook, with texts below as they are."""
    parts = [f"<b>{_escaped(name)}</b>", *(f"{_escaped(table.title)}{_html_rows(table)}" for table in tables)]
    return "<div>" + "\n".join([*parts, *(f"<pre>{_escaped(text)}</pre>" for text in after)]) + "</div>"


def _html_rows(table: TitledTable) -> str:
    cells = [
        "".join(
            f"<td style='text-align:left'>{'<b>' if head else ''}{_escaped(cell)}{'</b>' if head else ''}</td>"
            for cell in row
        )
        for row, head in ((row, table.headed and k == 0) for k, row in enumerate(table.rows))
    ]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>" if cells else "<br>"


def _escaped(text: str) -> str:
    return escape(visible(text))


def table_lines(rows: Rows) -> list[str]:
    """Rows of cells as lines of text, columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    return ["  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned text, two spaces in: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return "\n".join(
        "  "
        + "  ".join(
            f"{cell:<{w}}" if k == 0 else f"{cell:>{w}}" for k, (cell, w) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    )


def finite(value: float) -> float | None:
    """The value, or None where it is no finite number."""
    return value if math.isfinite(value) else None
