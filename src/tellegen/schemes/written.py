"""A POG ladder on its way to a file: sections, blocks, connections and branches, lane by lane, with signs counted."""

from dataclasses import dataclass, field
from typing import Literal, final

from tellegen.core.domains import Side, other_side
from tellegen.expressions import Expression
from tellegen.schemes.bond_graph_scheme import OnePort
from tellegen.schemes.pog_scheme import Matrix

Way = Literal["series", "parallel"]


def gives(way: Way) -> Side:
    """The variable that the elements of a lane share."""
    return "through" if way == "series" else "across"


def takes(way: Way) -> Side:
    """The variable that comes into a lane."""
    return other_side(gives(way))


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """An element of a lane; with sign -1 it counts against the ladder."""

    item: OnePort
    sign: int = 1


@final
@dataclass(frozen=True, slots=True)
class WrittenField:
    """Elements of some lanes (counted from 0) with a matrix, which is of stiffnesses if `stiff`, or with `laws` in its place."""

    name: str
    lanes: tuple[int, ...]
    pieces: tuple[Piece, ...]
    matrix: Matrix
    energy: bool
    laws: tuple[str, ...] = ()
    stiff: bool = False


Row = tuple[Piece | None, ...]
"""One element of a block: a piece for each lane that has one."""


@final
@dataclass(slots=True)
class WrittenBlock:
    """A series or parallel block, or a mixed one; `ways` has a word for each lane."""

    ways: tuple[Way, ...]
    items: list[Row | WrittenField] = field(default_factory=list)


@final
@dataclass(frozen=True, slots=True)
class WrittenSection:
    """The sources of the lanes at an end; None for a lane without one."""

    lanes: Row


@final
@dataclass(frozen=True, slots=True)
class WrittenConnection:
    """x_2 = K x_1 between the lanes before it and those behind it, whose domains are given."""

    name: str
    K: Matrix
    takes: tuple[Side, ...]
    gives: tuple[Side, ...]
    domains: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class WrittenBranch:
    """A side ladder; it leaves in parallel or in series."""

    way: Way
    ladder: "WrittenLadder"


Part = WrittenBlock | WrittenSection | WrittenConnection | WrittenBranch


@final
@dataclass(slots=True)
class WrittenLadder:
    """The parts from left to right; `domains` are those of the lanes at its start."""

    domains: tuple[str, ...]
    parts: list[Part] = field(default_factory=list)

    def add_row(self, way: Way, row: Row) -> None:
        """Add an element to the last block, or to a new one where that is of another kind."""
        last = self.parts[-1] if self.parts else None
        ways = (way,) * len(row)
        if isinstance(last, WrittenBlock) and last.ways == ways:
            last.items.append(row)
        else:
            self.parts.append(WrittenBlock(ways, [row]))


def scalar_connection(
    name: str, kind: Literal["T", "G"], modulus: Expression, sides: tuple[Side, Side] | None, domain: str
) -> WrittenConnection:
    """A connection of one lane in the variables asked for, else in the ones that its neighbours suggest.

    T: across_1 = m*across_2, through_2 = m*through_1. G: across_1 = m*through_2, across_2 = m*through_1.
    """
    fitting = sides is not None and (sides[0] == sides[1]) == (kind == "T")
    one, two = (
        sides if sides is not None and fitting else (("through", "through") if kind == "T" else ("through", "across"))
    )
    K = modulus if one == "through" else 1 / modulus
    return WrittenConnection(name, ((K,),), (one,), (two,), (domain,))
