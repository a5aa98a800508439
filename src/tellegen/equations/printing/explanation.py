"""What an explanation is made of: sentences, named formulas, matrices, entries with their paths, and algebraic loops."""

from dataclasses import dataclass
from typing import final

from tellegen.equations.matrices import Matrix
from tellegen.expressions import ONE, Expression, symbol, total


@final
@dataclass(frozen=True)
class CausalPath:
    """A path by the names of the elements it passes. Its gain is `forward` times `cofactor`, over the determinant named `delta`.

    `eliminated` names the members of larger algebraic loops: then the gain is what elimination found for all paths through them.
    """

    forward: Expression
    stops: tuple[str, ...]
    cofactor: Expression = ONE
    delta: str = ""
    eliminated: tuple[str, ...] = ()

    @property
    def gain(self) -> Expression:
        """The share of the path in an entry, over parameters and the name of the determinant."""
        whole = self.forward * self.cofactor
        return whole / symbol(self.delta) if self.delta else whole


@final
@dataclass(frozen=True)
class AlgebraicLoop:
    """Resistive elements that decide each other: the gains of the elementary loops, and the determinant 1 - their sum.

    Of at most three elements no two loops are without a common element, so that no products of loops arise. `rounds` is empty for a
    larger loop, which is solved by elimination.
    """

    name: str
    members: tuple[str, ...]
    rounds: tuple[CausalPath, ...] = ()

    @property
    def determinant(self) -> Expression:
        """Delta."""
        return ONE - total(path.forward for path in self.rounds)


@final
@dataclass(frozen=True)
class Sentence:
    """Prose, with names between backquotes and letters of mathematics between dollars; a `listed` one is a line of a list."""

    text: str
    listed: bool = False

    @property
    def plain(self) -> str:
        """The text without its marks."""
        return self.text.replace("`", "").replace("$", "")


@final
@dataclass(frozen=True)
class NamedFormula:
    """A name and what it is equal to."""

    name: str
    value: Expression


@final
@dataclass(frozen=True)
class ShownMatrix:
    """A matrix with its letter. `explained` tells that its entries stand above, so that they need not be listed once more."""

    name: str
    rows: Matrix
    explained: bool = False


@final
@dataclass(frozen=True)
class ExplainedEntry:
    """An entry of a matrix, counted from 1, as the sum of the gains of paths; `column` 0 stands for a vector."""

    matrix: str
    row: int
    column: int
    value: Expression
    paths: tuple[CausalPath, ...]

    @property
    def place(self) -> str:
        """The entry as it is written: A[1,2], f[1]."""
        return f"{self.matrix}[{self.row},{self.column}]" if self.column else f"{self.matrix}[{self.row}]"


Item = Sentence | NamedFormula | ShownMatrix | AlgebraicLoop | ExplainedEntry


@final
@dataclass(frozen=True)
class ExplanationSection:
    """One step of a derivation."""

    title: str
    items: tuple[Item, ...]
