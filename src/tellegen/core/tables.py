"""Tables as text, and numbers that JSON can hold."""

import math
from collections.abc import Sequence
from itertools import zip_longest


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
