"""Formulas in C99, all numbers double."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import final

from tellegen.core.names import identifier
from tellegen.expressions import printing
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.nodes import Condition, Constant, Expression, Mul, Number, Pow, Rational, Symbol, postorder

C_PRELUDE = """\
#include <math.h>
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
static inline double tellegen_sign(double x) { return (double)((x > 0.0) - (x < 0.0)); }
"""
"""What the text of `to_c` needs before it."""

_MOST_FACTORS = 4
_MOST_RECIPROCALS = 6
"""Factors of a quotient that are one reciprocal: beyond these a division is no more than they are."""


@final
class _C(printing.AbstractPrinter):
    words = {"and": "&&", "or": "||", "not": "!", "true": "1", "false": "0"}  # noqa: RUF012

    def __init__(self, names: Mapping[str, str], *, straight: bool = False) -> None:
        self.names = names
        self.straight = straight
        self.reciprocals: dict[Expression, tuple[str, Fraction]] = {}
        """Of bases that are divided by again and again: the name of base^-q, and q."""

    def number(self, q: Rational) -> tuple[str, str]:
        text = printing.decimal_text(q)
        if text is not None:
            return _double(text, q), ""
        if q.denominator == 1:
            return _double(repr(float(q)), q), ""
        up, down = _shortest(q.numerator), _shortest(q.denominator)
        # A division takes as long as ten products, and a rounded number in its place is as good as any parameter.
        return (up, down) if up and down and not self.straight else (_double(repr(float(q)), q), "")

    def name(self, name: str) -> str:
        return self.names[name] if name in self.names else printing.checked_identifier(identifier(name))

    def over(self, up: printing.PrintedPiece, down: printing.PrintedPiece) -> str:
        return f"tg_over({up.text}, {down.text})" if self.straight else super().over(up, down)

    def root(self, base: printing.PrintedPiece) -> str:
        return f"tg_root({base.text})" if self.straight else super().root(base)

    def constant(self, node: Constant) -> str:
        return repr(node.value) if self.straight else "M_PI"

    def power(self, base: printing.PrintedPiece, exponent: printing.PrintedPiece) -> printing.PrintedPiece:
        # Small powers of a name are products, which are far quicker than `pow`; of anything longer the text would be
        # evaluated again for each factor.
        count = (_WHOLE if self.straight else _SMALL).get(exponent.text, 0)
        if count and base.size == 1 and base.holds == printing.ATOM:
            return printing.PrintedPiece(_multiplied(base.text, count), printing.PRODUCT, base.size + 1)
        function = "tg_pow" if self.straight else "pow"
        return printing.PrintedPiece(
            f"{function}({base.text}, {exponent.text})", printing.ATOM, base.size + exponent.size
        )

    def quotient(
        self, coefficient: Rational, factors: printing.Factors, pieces: dict[Expression, printing.PrintedPiece]
    ) -> printing.PrintedPiece:
        """As for all printers, but a reciprocal that has a name is multiplied by: a division takes as long as ten products."""
        counts = {base: self._reciprocals_in(base, q) for base, q in factors} if self.reciprocals else {}
        # A quotient without a base that is divided by elsewhere gains nothing from a name.
        if not any(counts.values()):
            return super().quotient(coefficient, factors, pieces)
        rest = super().quotient(coefficient, tuple(f for f in factors if not counts[f[0]]), pieces)
        named = [self.reciprocals[base][0] for base, _ in factors for _ in range(counts[base])]
        # One times something would be written as a product that the compiler may not drop.
        known = [] if rest.text == "1.0" else [self.enclosed(rest, printing.PRODUCT)]
        return printing.PrintedPiece("*".join([*known, *named]), printing.PRODUCT, rest.size + len(named))

    def _reciprocals_in(self, base: Expression, q: Rational) -> int:
        """How often the reciprocal of a base is a factor of its power; 0 where it is divided by."""
        if q >= 0 or base not in self.reciprocals:
            return 0
        count = -q / self.reciprocals[base][1]
        return int(count) if count <= _MOST_RECIPROCALS else 0

    def factor(
        self, base: Expression, q: Rational, pieces: dict[Expression, printing.PrintedPiece]
    ) -> printing.PrintedPiece:
        """As for all printers, but x^(3/2) is x*sqrt(x), which costs a tenth of `pow`."""
        if q.denominator == 2 and 1 < q.numerator <= 2 * _MOST_FACTORS:
            whole = self.factor(base, q.numerator // 2, pieces)
            return printing.PrintedPiece(
                f"{self.enclosed(whole, printing.PRODUCT)}*{self.root(pieces[base])}", printing.PRODUCT, whole.size + 1
            )
        return super().factor(base, q, pieces)

    def call(self, name: str, args: Sequence[printing.PrintedPiece]) -> printing.PrintedPiece:
        if name == "if":
            condition, yes, no = args
            text = f"({self.enclosed(condition, printing.COMPARISON)} ? {yes.text} : {no.text})"
            return printing.PrintedPiece(text, printing.ATOM, 1 + sum(arg.size for arg in args))
        function = FUNCTIONS[name]
        word = f"tg_{name}" if self.straight and name not in _EVERYWHERE else function.c
        # In C `fmin` and `fmax` have two arguments; longer ones are nested.
        if function.most is not None:
            return printing.listed(word, args)
        result = args[0]
        for arg in args[1:]:
            result = printing.listed(word, (result, arg))
        return result


_SMALL = {f"{n}.0": n for n in range(2, _MOST_FACTORS + 1)}
_WHOLE = {f"{n}.0": n for n in range(2, 33)}
"""Where `pow` of the library may not be called, whole powers are products: they have bases of either sign."""
_EVERYWHERE = ("abs",)
"""Functions that are one instruction everywhere."""


def _multiplied(base: str, count: int) -> str:
    """A whole power of a name as a product; a large one as a product of equal parts, which compilers work out once."""
    if count <= _MOST_FACTORS:
        return "*".join([base] * count)
    half = f"({_multiplied(base, count // 2)})"
    return f"{half}*{half}" + (f"*{base}" if count % 2 else "")


def _double(text: str, q: Rational) -> str:
    """A literal of type double. Raises OverflowError when no double can hold it."""
    # Raises beyond the range of double: inf in the text of a program would be found out far from its cause.
    float(q)
    return text if any(mark in text for mark in ".en") else f"{text}.0"


def _shortest(n: int) -> str | None:
    """A whole number as an exact double, or None where it would be rounded."""
    # Up to here every whole number is a double, so that a fraction of two of them is rounded once alone.
    return f"{n}.0" if n < 2**53 else None


def to_c(expression: Expression, names: Mapping[str, str] | None = None) -> str:
    """The formula in C99; `names` gives the C text of names that are not plain identifiers there, such as `x[3]`.

    Raises: OverflowError when a number is beyond the range of double.
    """
    return _C(names or {}).print(expression)


@final
class CWriter:
    """Writes many expressions of one function; what they share is computed once, in a `const double` before its first use.

    Every expression is counted before the first is written, so that the writer knows what is shared. `lines` grows by the
    declarations that the text of an expression needs before it. A `straight` one calls the functions of straight.h in place of the
    library's.
    """

    def __init__(self, names: Mapping[str, str], prefix: str = "s", *, straight: bool = False) -> None:
        self.lines: list[str] = []
        self._printer = _C(names, straight=straight)
        self._prefix = prefix
        self._uses: Counter[Expression] = Counter()
        self._raised: set[Expression] = set()
        self._divisors: dict[Expression, list[Rational]] = {}
        self._pieces: dict[Expression, printing.PrintedPiece] = {}
        self._count = 0

    def count(self, expressions: Iterable[Expression]) -> None:
        """Announce expressions that will be written."""
        for root in expressions:
            new = root not in self._uses
            self._uses[root] += 1
            # What is inside a known expression has been counted with it.
            stack = [root] if new else []
            while stack:
                node = stack.pop()
                self._count_powers(node)
                for arg in node.args:
                    if arg not in self._uses:
                        stack.append(arg)
                    self._uses[arg] += 1

    def _count_powers(self, node: Expression) -> None:
        for base, q in _powers(node):
            if q != 1:
                self._raised.add(base)
            # Names and numbers are divided by as they are; only what is computed is worth a reciprocal of its own.
            if q < 0 and q.denominator <= 2 and base.args:
                self._divisors.setdefault(base, []).append(-q)

    def write(self, expression: Expression) -> str:
        """The text of an expression; what it shares with others is declared in `lines` first."""
        for node in postorder(expression):
            if node not in self._pieces:
                piece = self._printer.piece(node, self._pieces)
                self._pieces[node] = self._declared(piece) if self._is_shared(node) else piece
                if len(self._divisors.get(node, ())) > 1:
                    self._declare_reciprocal(node)
        return self._pieces[expression].text

    def _is_shared(self, node: Expression) -> bool:
        if isinstance(node, Symbol | Number | Constant | Condition):
            return False
        # A base that is raised would be written once for every factor of the power.
        return self._uses[node] > 1 or node in self._raised

    def _declare_reciprocal(self, base: Expression) -> None:
        # With a root among the powers the reciprocal of the root is named, and its square is that of the base.
        unit = Fraction(1, max(q.denominator for q in self._divisors[base]))
        down = self._printer.factor(base, unit, self._pieces)
        one = printing.PrintedPiece("1.0", printing.ATOM, 1)
        text = self._printer.over(one, down)
        self._printer.reciprocals[base] = self._declared(printing.PrintedPiece(text, printing.PRODUCT, 1)).text, unit

    def _declared(self, piece: printing.PrintedPiece) -> printing.PrintedPiece:
        name = f"{self._prefix}{self._count}"
        self._count += 1
        self.lines.append(f"const double {name} = {piece.text};")
        return printing.PrintedPiece(name, printing.ATOM, 1)


def _powers(node: Expression) -> tuple[tuple[Expression, Rational], ...]:
    return printing.factors_of(node) if isinstance(node, Mul | Pow) else ()
