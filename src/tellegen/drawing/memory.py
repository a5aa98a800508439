"""What a figure remembers: its kind, where everything stands in it, and in which order. Every file of a figure carries this."""

import json
from dataclasses import dataclass, field
from typing import Any, final

from tellegen.notations.layout import PLACED_FIGURES, ItemPositions

LadderNames = tuple[tuple[str, ...], ...]

VERSION = 1
KEY = "tellegen"
"""Under this word files keep what they remember."""
TEX_MARK, TEX_LINE = f"%{KEY} ", 1000
MOST_ITEMS, LONGEST_NAME, FARTHEST = 100_000, 400, 1e7
"""What a file may remember at most: anything else was not written by us."""


@final
@dataclass(frozen=True, slots=True)
class FigureMemory:
    """The notation of a figure, the centres of its items by name, and the names along its lines, the main line first."""

    notation: str
    places: ItemPositions
    lines: LadderNames = field(default=())

    def text(self) -> str:
        """One line of ASCII; equal figures give equal lines."""
        record = {
            KEY: VERSION,
            "notation": self.notation,
            "places": {name: [_short(x), _short(y)] for name, (x, y) in self.places.items()},
            "lines": self.lines,
        }
        return json.dumps(record, separators=(",", ":"))


def tex_comment(text: str) -> str:
    """A text as comments of TeX, in lines that are not too long for it."""
    pieces = (text[k : k + TEX_LINE] for k in range(0, len(text), TEX_LINE))
    return "".join(f"{TEX_MARK}{piece}\n" for piece in pieces)


def memory_from_text(text: str) -> FigureMemory:
    """What a line remembers.

    Raises: ValueError where it is no such line.
    """
    try:
        record = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    if not isinstance(record, dict) or record.get(KEY) != VERSION:
        raise ValueError("it is of another version")
    notation, places, lines = record.get("notation"), record.get("places"), record.get("lines")
    if notation not in PLACED_FIGURES or not isinstance(places, dict) or not isinstance(lines, list):
        raise ValueError("its parts are missing")
    if len(places) > MOST_ITEMS or sum(map(_length, lines)) > MOST_ITEMS:
        raise ValueError("it has too many items")
    return FigureMemory(
        str(notation),
        {_name(name): _place(place) for name, place in places.items()},
        tuple(tuple(map(_name, line)) for line in lines),
    )


def _length(line: object) -> int:
    if not isinstance(line, list):
        raise ValueError("a line of it is no list")
    return len(line)


def _name(name: object) -> str:
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise ValueError("it has something else than a name")
    return name


def _place(place: Any) -> tuple[float, float]:
    if not isinstance(place, list) or len(place) != 2:
        raise ValueError("a place of it is no pair")
    for part in place:
        if isinstance(part, bool) or not isinstance(part, int | float) or not abs(part) <= FARTHEST:
            raise ValueError("a place of it is no pair of numbers")
    return float(place[0]), float(place[1])


def _short(value: float) -> float:
    return int(value) if value == int(value) else value
