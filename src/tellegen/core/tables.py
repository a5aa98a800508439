"""Tables as text, and numbers that JSON can hold."""

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

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
