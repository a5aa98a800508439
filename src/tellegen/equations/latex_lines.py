r"""Lines of LaTeX that fit: long sums go on in a further line, and parts of long entries get names.

TeX knows no length beyond 5.7 m, and a page none beyond its margins.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import count

from tellegen.expressions import Add, Expression, number, to_latex, total
from tellegen.expressions.naming import NamedParts

LONGEST_LINE = 400
"""Characters of LaTeX: about two thirds of them are commands, so this is about the width of a page."""
LONGEST_MATRICES = 4_000
"""Equations whose matrices take more characters than this have names for parts of their entries."""
LONGEST_PART = 60
"""Characters of a part without a name, written as text."""


def equation_lines(left: str, right: Expression) -> list[str]:
    """`left &= right`, a long sum over several lines: the next ones begin with `&\\qquad`."""
    whole = to_latex(right)
    if len(whole) <= LONGEST_LINE or not isinstance(right, Add):
        return [f"{left} &= {whole}"]
    first, *rest = _pieces(right)
    return [f"{left} &= {first}", *(rf"&\qquad {piece if piece.startswith('-') else f'+ {piece}'}" for piece in rest)]


def _pieces(sum_: Add) -> list[str]:
    """The sum as texts of about one line each, whose sum it is."""
    terms = [number(c) * term for term, c in sum_.terms]
    terms += [number(sum_.constant)] if sum_.constant else []
    groups: list[list[Expression]] = [[]]
    length = 0
    for term in terms:
        size = len(to_latex(term))
        if groups[-1] and length + size > LONGEST_LINE:
            groups.append([])
            length = 0
        groups[-1].append(term)
        length += size
    return [to_latex(total(group)) for group in groups]


class ShortEntries:
    """Names for long entries of matrices and for parts of other formulas; `definitions` says what they stand for."""

    def __init__(self, taken: Iterable[str]) -> None:
        used = frozenset(taken)
        names = (name for n in count(1) if (name := f"k_{n}") not in used)
        self._parts = NamedParts(LONGEST_PART, lambda: next(names))

    @property
    def definitions(self) -> Mapping[str, Expression]:
        """The names given, each after those that it reads."""
        return self._parts.definitions

    def entry(self, expression: Expression) -> Expression:
        """An entry: itself, or a name."""
        return self._parts.part(expression)

    def formula(self, expression: Expression) -> Expression:
        """A formula over names for its parts."""
        return self._parts.short(expression)


def names_in(expressions: Iterable[Expression]) -> set[str]:
    """Every name in the expressions."""
    return set().union(*(e.free_symbols for e in expressions))


Change = Callable[[Expression], Expression]
