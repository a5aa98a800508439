"""Blocks of lines beside each other: matrices in tall brackets, vectors and words."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tellegen.equations.display import (
    Sides,
    Term,
)
from tellegen.equations.text_rows import indented, prime_of, row_text, wrapped
from tellegen.expressions import to_text

MOST_STATES = 12
"""Beyond this width, or so many states, equations are written row by row instead of with matrices."""

_BRACKETS = {True: ("⎡⎢⎣", "⎤⎥⎦"), False: ("[[[", "]]]")}


class Block(NamedTuple):
    """Lines of equal width, joined to others by their middle line."""

    lines: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return len(self.lines[0]) if self.lines else 0


def equation_text(sides: Sides, names: Sequence[str], head: str, width: int, unicode: bool) -> str:
    """The equation with matrices; with each matrix by itself where that is too wide; row by row where even that is."""
    widest = max((len(term.factors) for term in (*sides.left, *sides.right)), default=0)
    if max(len(names), widest) <= MOST_STATES:
        whole = beside(_blocks_of(sides, names, head, unicode))
        if whole.width + 2 <= width:
            return indented(text_of_block(whole))
        single = [named_matrix(term, unicode) for term in (*sides.left, *sides.right)]
        if all(block.width + 2 <= width for block in single):
            return indented("\n\n".join(text_of_block(beside(group)) for group in fitting_groups(single, width - 2)))
    return "\n".join(row_equations(sides, names, head, width))


def _blocks_of(sides: Sides, names: Sequence[str], head: str, unicode: bool) -> list[Block]:
    left = [vector_block(names, unicode)] if head else _terms(sides.left, unicode)
    return [*left, word_block(" = "), *_terms(sides.right, unicode)]


def _terms(terms: Iterable[Term], unicode: bool) -> list[Block]:
    blocks: list[Block] = []
    for term in terms:
        sign = ("-" if term.negative else "") if not blocks else (" - " if term.negative else " + ")
        if sign:
            blocks.append(word_block(sign))
        blocks.append(_matrix(term, unicode))
        if not term.alone:
            blocks += [word_block(" "), vector_block([f"{name}{prime_of(term)}" for name in term.factors], unicode)]
    return blocks


def _matrix(term: Term, unicode: bool) -> Block:
    return bracketed([[to_text(e) for e in row] for row in term.rows], unicode)


def vector_block(names: Iterable[str], unicode: bool) -> Block:
    """Names in a tall bracket."""
    return bracketed([[name] for name in names], unicode)


def named_matrix(term: Term, unicode: bool) -> Block:
    """A matrix behind its letter: `A = [...]`."""
    return beside([word_block(f"{term.matrix} = "), _matrix(term, unicode)])


def bracketed(cells: Sequence[Sequence[str]], unicode: bool) -> Block:
    """Cells in tall brackets, columns under each other."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.center(w) for cell, w in zip(row, widths, strict=True)) for row in cells]
    if len(lines) < 2:
        return Block(tuple(f"[{line}]" for line in lines) or ("[]",))
    opening, closing = _BRACKETS[unicode]
    last = len(lines) - 1
    edge = [0 if k == 0 else 2 if k == last else 1 for k in range(len(lines))]
    return Block(tuple(f"{opening[e]} {line} {closing[e]}" for e, line in zip(edge, lines, strict=True)))


def word_block(text: str) -> Block:
    """A text of one line."""
    return Block((text,))


def beside(blocks: Sequence[Block]) -> Block:
    """Blocks beside each other, their middles in one line."""
    height = max(len(block.lines) for block in blocks)
    middle = (height - 1) // 2
    columns = []
    for block in blocks:
        above = middle - (len(block.lines) - 1) // 2
        below = height - above - len(block.lines)
        blank = " " * block.width
        columns.append([*[blank] * above, *block.lines, *[blank] * below])
    return Block(tuple("".join(parts) for parts in zip(*columns, strict=True)))


def fitting_groups(blocks: Iterable[Block], width: int) -> list[list[Block]]:
    """As many blocks side by side as fit."""
    gap = word_block("    ")
    lines: list[list[Block]] = []
    for block in blocks:
        if lines and sum(b.width for b in lines[-1]) + gap.width + block.width <= width:
            lines[-1] += [gap, block]
        else:
            lines.append([block])
    return lines


def text_of_block(block: Block) -> str:
    """The lines of a block as one text."""
    return "\n".join(line.rstrip() for line in block.lines)


def row_equations(sides: Sides, names: Sequence[str], head: str, width: int) -> Iterable[str]:
    """One equation for each row, where matrices would be too wide."""
    for k, name in enumerate(names):
        left = name if head else row_text(sides.left, k)
        yield wrapped(f"{left} = {row_text(sides.right, k)}", width)
