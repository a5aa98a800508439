"""What stands in the blocks of vector lanes: letters with numbers, and their matrices in the legend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from tellegen.drawing.pog_plan import BoxPlan
from tellegen.drawing.pog_texts import (
    DERIVATIVE,
    INTEGRATOR,
    MOST_ENTRIES,
    Texts,
    bold,
    entries_latex,
    listed_names,
    matrix_latex,
    size,
    too_long,
)
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.graph import ResistiveLaw, StorageLaw
from tellegen.schemes.lane_walk import NoLanesError
from tellegen.schemes.pog_scheme import Block, Matrix, PogScheme
from tellegen.schemes.written import Piece, WrittenField

LONGEST_MATRIX = 250

Cells = dict[int, Piece]
"""Pieces by lane; the lanes of a field have a piece each."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What one elaboration block holds: a piece for each lane that has one, and the fields among them."""

    cells: Cells
    fields: tuple[WrittenField, ...] = ()


def row_of(item: WrittenField | tuple[Piece | None, ...]) -> Row:
    """An item of a written block as a row."""
    if isinstance(item, WrittenField):
        return Row(dict(zip(item.lanes, item.pieces, strict=True)), (item,))
    return Row({j: piece for j, piece in enumerate(item) if piece is not None})


def all_storages(row: Row) -> bool:
    """Whether every piece stores energy."""
    return all(isinstance(piece.item.port.law, StorageLaw) for piece in row.cells.values())


@final
class LaneTexts:
    """The texts of one vector ladder. Vectors come first in the legend, then matrices, then what moves in them."""

    def __init__(self, scheme: PogScheme, texts: Texts) -> None:
        self.scheme = scheme
        self.texts = texts
        self._matrices: dict[str, Matrix] = {}
        self._letters: dict[str, int] = {}

    def vector(self, letter: str, entries: Sequence[str] = ()) -> str:
        """A letter with the next number, and its entries in the legend."""
        self._letters[letter] = number = self._letters.get(letter, 0) + 1
        text = rf"{letter}_{{{number}}}"
        if entries:
            self.texts.legend[text] = entries_latex(entries)
        return text

    def explain(self) -> None:
        """The matrices in the legend, unless only their letters are asked for."""
        if self.texts.options.matrices == "named":
            return
        for letter, matrix in self._matrices.items():
            entries = [entry for row in matrix for entry in row if entry is not ZERO]
            wide = max(len(matrix), len(matrix[0])) > MOST_ENTRIES
            if wide or any(map(too_long, entries)) or sum(map(size, entries)) > LONGEST_MATRIX:
                self.texts.left_out[letter] = None
            else:
                self.texts.legend[letter] = _diagonal(matrix, self.texts.entry) or matrix_latex(
                    matrix, self.texts.entry
                )
        self.texts.explain_moving(entry for matrix in self._matrices.values() for row in matrix for entry in row)

    # -- elaboration blocks ----------------------------------------------------------------------------------------------------

    def element(self, row: Row, width: int) -> tuple[tuple[BoxPlan, ...], str]:
        """The boxes of a row, and its energy variable.

        They are an integrator and the inverse of an energy matrix, the reverse of it where all of them differentiate, a matrix of
        static gains, or one of transfer functions.

        Raises: NoLanesError for laws that no matrix says.
        """
        blocks = {j: self.scheme.blocks[piece.item.name] for j, piece in row.cells.items()}
        if width == 1:
            return self.texts.boxes(blocks[0]), self.texts.names.energy(blocks[0])
        kinds = {block.kind for block in blocks.values()}
        if len(kinds) == 1 and kinds <= {"storage", "derivative"}:
            matrix = self._filled(row, width, {j: self._energy(block) for j, block in blocks.items()})
            letter = self._matrix("L", matrix)
            if kinds == {"derivative"}:
                return (BoxPlan("gain", letter), BoxPlan("derivative", DERIVATIVE)), self.vector(bold("q"))
            return (BoxPlan("integrator", INTEGRATOR), BoxPlan("gain", _power(letter, "-1"))), self.vector(bold("q"))
        if not kinds & {"storage", "derivative"}:
            for piece in row.cells.values():
                law = piece.item.port.law
                if row.fields and isinstance(law, ResistiveLaw) and law.side != piece.item.decides:
                    raise NoLanesError  # the matrix of a field, asked the other way
            return (BoxPlan("gain", self._matrix("R", self._filled(row, width, _gains(blocks)))),), ""
        if row.fields:
            raise NoLanesError
        letter = self._matrix("G", self._filled(row, width, _transfers(blocks)), "(s)")
        return (BoxPlan("gain", letter),), ""

    def _energy(self, block: Block) -> Expression:
        if block.field:
            return ZERO  # the matrix of the field says it
        if block.gain is None or block.gain is ZERO:
            raise NoLanesError
        return block.gain if block.kind == "derivative" else ONE / block.gain

    def _filled(self, row: Row, width: int, diagonal: dict[int, Expression]) -> Matrix:
        """The matrix of a row: diagonal, but for fields."""
        entries: list[list[Expression]] = [[ZERO] * width for _ in range(width)]
        for j, entry in diagonal.items():
            entries[j][j] = entry
        for field in row.fields:
            for i, line in zip(field.lanes, field.matrix, strict=True):
                for j, entry in zip(field.lanes, line, strict=True):
                    entries[i][j] = entry
        return tuple(map(tuple, entries))

    def _matrix(self, letter: str, matrix: Matrix, argument: str = "") -> str:
        """A letter for a matrix, with what it depends on."""
        text = self.vector(bold(letter))
        read = self.texts.read_by_all(entry for row in matrix for entry in row)
        moving = tuple(name for name in read if name != "s" or not argument)
        text += argument or (f"({listed_names(moving)})" if moving else "")
        self._matrices[text] = matrix
        return text

    # -- connections -----------------------------------------------------------------------------------------------------------

    def connection(self, K: Matrix, *, forward: bool) -> tuple[str, str]:
        """The texts of x_2 = K x_1 and of its conjugate; backwards they are inverses."""
        if len(K) == len(K[0]) == 1:
            text = self.texts.expression(K[0][0] if forward else ONE / K[0][0])
            return text, text
        letter = self._matrix("K", K)
        if forward:
            return letter, _power(letter, r"\mathrm{T}")
        return _power(letter, "-1"), _power(letter, r"-\mathrm{T}")


def _gains(blocks: dict[int, Block]) -> dict[int, Expression]:
    return {j: _linear(block) for j, block in blocks.items()}


def _linear(block: Block) -> Expression:
    if block.gain is None:
        raise NoLanesError
    return block.gain


def _transfers(blocks: dict[int, Block]) -> dict[int, Expression]:
    s = symbol("s")
    power = {"storage": ONE / s, "derivative": s}
    return {j: _linear(block) * power.get(block.kind, ONE) for j, block in blocks.items()}


def _diagonal(matrix: Matrix, text: Callable[[Expression], str]) -> str:
    """A diagonal matrix by its entries; empty where it is none."""
    off = any(entry is not ZERO for i, row in enumerate(matrix) for j, entry in enumerate(row) if i != j)
    if off or len(matrix) != len(matrix[0]):
        return ""
    listed = ",\\,".join(text(row[i]) for i, row in enumerate(matrix))
    return rf"\mathrm{{diag}}\left({listed}\right)"


def _power(letter: str, exponent: str) -> str:
    """A letter with an exponent before its arguments."""
    head, bracket, arguments = letter.partition("(")
    return f"{head}^{{{exponent}}}{bracket}{arguments}"
