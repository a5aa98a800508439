"""Symbols with their labels and wires at one station of a schematic."""

from dataclasses import dataclass, field, replace
from typing import final

from tellegen.description.model import Element
from tellegen.drawing.geometry import Point
from tellegen.drawing.symbols_parts import Symbol
from tellegen.drawing.symbols_twoports import MID


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """A symbol with its label and its wires, about the left end of the body of its station.

    `wires` belong to the node, `drop` to the reference; `wall` is where a wall stands and the direction that leads to it.
    """

    element: Element | None
    symbol: Symbol | None = None
    centre: Point = (0.0, 0.0)
    towards: Point = (1.0, 0.0)
    text: str = ""
    text_at: Point = (0.0, 0.0)
    wires: tuple[tuple[Point, ...], ...] = ()
    drop: tuple[Point, ...] = ()
    rail: float | None = None
    wall: tuple[Point, Point] | None = None
    line: str = ""

    # `line` is the return line to which `wires` lead instead of the node.


@final
@dataclass(slots=True)
class Body:
    """What a station carries between its left and its right end, and the height that it takes above the line of nodes."""

    width: float = 0.0
    top: float = MID
    row: float = MID
    pieces: list[Piece] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    closed: list[tuple[float, float]] = field(default_factory=list)


def moved_piece(piece: Piece, dx: float, dy: float = 0.0) -> Piece:
    """The same piece further to the right, or below."""

    def to(point: Point) -> Point:
        return point[0] + dx, point[1] + dy

    return replace(
        piece,
        centre=to(piece.centre),
        text_at=to(piece.text_at),
        wires=tuple(tuple(map(to, wire)) for wire in piece.wires),
        drop=tuple(map(to, piece.drop)),
        rail=None if piece.rail is None else piece.rail + dx,
        wall=None if piece.wall is None else (to(piece.wall[0]), piece.wall[1]),
    )
