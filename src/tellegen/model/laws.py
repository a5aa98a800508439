"""How variables depend on each other, as described: laws of elements, their tables, and the matrices of connections and fields."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, final

from tellegen.core.domains import Side
from tellegen.core.errors import Place
from tellegen.expressions import Expression

LawForm = Literal["resistive", "content", "output", "energy", "coenergy", "potential"]
"""How a law was written.

- resistive: one power variable of the other, `F = b*v*abs(v)`
- content: the energy variable of a storage of its output, `q = C*v`
- output: the output of a storage of its energy variable, `F = K*x + k3*x^3`
- energy: the stored energy, of the energy variable or of the output
- coenergy: the co-energy, of the output
- potential: the energy of a weight, of displacements
"""


@final
@dataclass(frozen=True, slots=True)
class Law:
    """A law that the user wrote: `expression` gives the left side in terms of `variable` and of parameters.

    For `resistive`, `gives` is the power variable on the left side. `variable` is the letter that stands for the argument. A law
    given by points has its `table`, and its expression is the curve through them.
    """

    form: LawForm
    variable: str
    expression: Expression
    gives: Side
    text: str
    table: "LawTable | None" = None


@final
@dataclass(frozen=True, slots=True)
class LawTable:
    """The points of a law in SI units, joined by straight lines or by a `smooth` curve."""

    points: tuple[tuple[Fraction, Fraction], ...]
    smooth: bool = False


@final
@dataclass(frozen=True, slots=True)
class Multiport:
    """The relation of a connection of several ports: z_2 = K z_1, and for the conjugates w_1 = K^T w_2.

    `given` and `gives` number the ports (from 0) of z_1 and z_2; the sides say which power variables these are. Power enters at the
    given ports and leaves at the others.
    """

    given: tuple[int, ...]
    gives: tuple[int, ...]
    given_sides: tuple[Side, ...]
    gives_sides: tuple[Side, ...]
    K: tuple[tuple[Expression, ...], ...]

    @classmethod
    def of_sides(cls, given: Iterable[Side], gives: Iterable[Side], K: Sequence[Sequence[Expression]]) -> "Multiport":
        """The relation whose given ports come first, in the order of these sides."""
        ins, outs = tuple(given), tuple(gives)
        count = len(ins) + len(outs)
        return cls(tuple(range(len(ins))), tuple(range(len(ins), count)), ins, outs, tuple(map(tuple, K)))


@final
@dataclass(frozen=True, slots=True)
class MatrixField:
    """Elements whose laws are coupled by a matrix; their own values are its diagonal.

    A field with an `energy` has laws that give the outputs of its members by all their energy variables, for which `letters` stand
    in the energy and in the laws; its matrix is the identity. So it is for resistive members with laws, whose `letters` stand for
    what all of them are told. `stiffness` is the inverse of the matrix, where the user gave that.
    """

    name: str
    members: tuple[str, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    place: Place | None = None
    energy: Expression | None = None
    letters: tuple[str, ...] = ()
    stiffness: tuple[tuple[Expression, ...], ...] | None = None
