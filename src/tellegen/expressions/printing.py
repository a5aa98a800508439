r"""Formulas in one line, as papers write them and as Python, and in LaTeX; and what all printers share: fractions, decimals, the
order of terms.

In LaTeX, equations and figures write names as papers set them: `omega_m` is \omega_{m}, `V_R_a` the voltage at R_a, V_{R_{a}};
words of several letters are upright, those of a path stand behind: `drive.motor.L_a` is L_{\text{a,drive,motor}}.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import ClassVar, NamedTuple, final

from tellegen.core.domains import DOMAINS
from tellegen.core.names import RESERVED, identifier
from tellegen.expressions import nodes
from tellegen.expressions.canonical import is_symbolic_power
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.integrals import inside
from tellegen.expressions.nodes import Expression, Rational, magnitude
from tellegen.expressions.symbols import GREEK, symbol_latex, varies

MOST_DIGITS = 17
LARGEST_EXPONENT = 400
_LOOKED_AT = 80
_DIGITS = re.compile(r"([0-9]+)")

# How tightly a printed text holds together.
OR, AND, NOT, COMPARISON, SUM, PRODUCT, POWER, ATOM = range(8)

Factors = tuple[tuple[Expression, Rational], ...]


class PrintedPiece(NamedTuple):
    """A printed part: its text, how tightly it holds, and how many leaves it has (the shorter terms are read first).

    Where parameters are known, `varies` tells a variable.
    """

    text: str
    holds: int
    size: int
    varies: bool = False


class PrintedTerm(NamedTuple):
    """A printed term of a sum without its sign."""

    piece: PrintedPiece
    negative: bool


def factors_of(term: Expression) -> Factors:
    """Bases and exponents of a term that is no number; its coefficient is left out."""
    if isinstance(term, nodes.Mul):
        return term.factors
    if isinstance(term, nodes.Pow) and isinstance(term.exponent, nodes.Number):
        return ((term.base, term.exponent.rational),)
    return ((term, 1),)


def natural(text: str) -> tuple[object, ...]:
    """The key by which names are read in order: R_2 before R_10."""
    head = _DIGITS.split(text[:_LOOKED_AT])  # enough to order what people read, and quick where nobody can
    return *[(1, int(part), "") if part.isdigit() else (0, 0, part) for part in head], (2, 0, text)


def _in_reading_order(pieces: Iterable[PrintedPiece]) -> list[PrintedPiece]:
    """Factors in the order of papers: pi, then names, then functions, then sums."""
    return sorted(pieces, key=_reading_key)


def _reading_key(piece: PrintedPiece) -> tuple[object, ...]:
    # Told from the text, so that every language says so the same way.
    is_function = piece.holds == ATOM and "(" in piece.text
    return piece.holds == SUM, piece.size > 0, is_function, natural(piece.text)


def _terms_in_reading_order(terms: Iterable[PrintedTerm]) -> list[PrintedTerm]:
    """Terms in the order of papers: positive before negative, short before long, then by name."""
    return sorted(terms, key=lambda term: (term.negative, term.piece.size, natural(term.piece.text)))


def decimal_text(q: Rational) -> str | None:
    """A positive number as a decimal of at most 17 digits, or None where it has no such decimal."""
    shift = _decimals(q.denominator)
    # What the parser would refuse must not be written: files are read back.
    if shift is None or shift > LARGEST_EXPONENT:
        return None
    digits = str(q.numerator * 10**shift // q.denominator)
    bare = digits.rstrip("0") or "0"
    # A double has no more digits; beyond them the fraction is shorter and exact.
    if len(bare) > MOST_DIGITS:
        return None
    shift -= len(digits) - len(bare)
    return _placed(bare, shift)


def _placed(digits: str, shift: int) -> str | None:
    """Digits divided by 10^shift, in the shorter of the two usual ways; None where `parse` would find it out of range."""
    exponent = len(digits) - 1 - shift
    if abs(exponent) > LARGEST_EXPONENT:
        return None
    # In this range people read decimals, beyond it powers of ten.
    if -4 <= exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    if 0 <= exponent < 7:
        padded = digits.ljust(exponent + 1, "0")
        before, after = padded[: exponent + 1], padded[exponent + 1 :]
        return f"{before}.{after}" if after else before
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{mantissa}e{exponent}"


def _decimals(denominator: int) -> int | None:
    """The number of decimals that a fraction of this denominator needs, or None when it never ends."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _written_number(q: Rational) -> tuple[str, str]:
    """A positive number as papers write it, 1/2, 0.15, 1e9: numerator and denominator, empty when there is none."""
    # Halves, quarters and eighths stand in formulas of books as fractions; 0.15 was a decimal before it came here.
    if q.denominator in (2, 4, 8):
        return str(q.numerator), str(q.denominator)
    text = decimal_text(q)
    if text is not None and (q.denominator > 1 or q.numerator >= 10**7):
        return text, ""
    return str(q.numerator), str(q.denominator) if q.denominator > 1 else ""


Pieces = dict[Expression, PrintedPiece]


class AbstractPrinter(ABC):
    """Prints expressions, children first, so that depth does not matter. A language overrides what it writes otherwise."""

    words: ClassVar[Mapping[str, str]]
    """How `and`, `or`, `not`, `true` and `false` are written, and comparisons that are not written as here."""

    power_sign = "^"

    @abstractmethod
    def name(self, name: str) -> str:
        """A name or path."""

    def number(self, q: Rational) -> tuple[str, str]:
        """A positive number as numerator and denominator; the latter is empty when there is none."""
        return str(q.numerator), str(q.denominator) if q.denominator > 1 else ""

    def constant(self, node: nodes.Constant) -> str:
        """A mathematical constant."""
        return node.name

    def fence(self, text: str) -> str:
        """A text in parentheses."""
        return f"({text})"

    def enclosed(self, piece: PrintedPiece, least: int) -> str:
        """The text, in parentheses where it holds less tightly than asked."""
        return piece.text if piece.holds >= least else self.fence(piece.text)

    def root(self, base: PrintedPiece) -> str:
        """A square root."""
        return f"sqrt({base.text})"

    def power(self, base: PrintedPiece, exponent: PrintedPiece) -> PrintedPiece:
        """A power other than a square root; exponents other than names and whole numbers stand in parentheses."""
        text = f"{self.enclosed(base, ATOM)}{self.power_sign}{self.enclosed(exponent, ATOM)}"
        return PrintedPiece(text, POWER, base.size + exponent.size)

    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
        """A function with its arguments."""
        return listed(name, args)

    def integral(self, inner: str, letter: str, upper: str) -> str:
        """The integral of a text over a letter, from zero; in languages that compute it is not asked for."""
        raise ValueError(f"no formula is known for the integral of {inner}")

    def over(self, up: PrintedPiece, down: PrintedPiece) -> str:
        """A quotient."""
        return f"{self.enclosed(up, PRODUCT)}/{self.enclosed(down, POWER)}"

    def print(self, expression: Expression) -> str:
        """The text of an expression."""
        pieces: Pieces = {}
        for node in nodes.postorder(expression):
            pieces[node] = self.piece(node, pieces)
        return pieces[expression].text

    def piece(self, node: Expression, pieces: Pieces) -> PrintedPiece:
        """One node, whose arguments are already printed."""
        if isinstance(node, nodes.Symbol):
            return PrintedPiece(self.name(node.name), ATOM, 1, varies(node.name))
        if isinstance(node, nodes.Number):
            return self.signed(node.rational < 0, self.quotient(magnitude(node.rational), (), pieces))
        if isinstance(node, nodes.Add):
            return self.sum(node, pieces)
        if isinstance(node, nodes.Mul):
            return self.signed(node.coefficient < 0, self.quotient(magnitude(node.coefficient), node.factors, pieces))
        if isinstance(node, nodes.Pow):
            return self.lone_power(node, pieces)
        if isinstance(node, nodes.Call):
            return self.call(node.name, [pieces[arg] for arg in node.arguments])
        if isinstance(node, nodes.Constant):
            return PrintedPiece(self.constant(node), ATOM, 0)
        if isinstance(node, nodes.DefiniteIntegral):
            # A letter of its own: the model may have an x, too.
            written = {pieces[arg].text for arg in node.arguments}
            others = (f"{node.letter}_{k}" for k in count(1))
            letter = next(n for n in chain([node.letter], others) if self.name(n) not in {*written, *node.free_symbols})
            inner = self.print(inside(node, nodes.intern_symbol(letter)))
            return PrintedPiece(self.integral(inner, self.name(letter), pieces[node.arguments[0]].text), ATOM, 1)
        return self.condition(node, pieces)

    def signed(self, negative: bool, piece: PrintedPiece) -> PrintedPiece:
        """A piece with its sign."""
        return PrintedPiece(f"-{piece.text}", SUM, piece.size) if negative else piece

    def sum(self, node: nodes.Add, pieces: Pieces) -> PrintedPiece:
        """A sum; its number comes last, or first where all the rest is negative."""
        terms = [PrintedTerm(self.quotient(magnitude(c), self.parts(t, pieces), pieces), c < 0) for t, c in node.terms]
        ordered = _terms_in_reading_order(terms)
        if node.constant:
            last = PrintedTerm(self.quotient(magnitude(node.constant), (), pieces), node.constant < 0)
            positives = sum(not term.negative for term in ordered)
            # The number comes last among its sign: x + y + 1 - z reads as it is meant.
            ordered.insert(len(ordered) if last.negative else positives, last)
        first, *rest = ordered
        text = f"-{first.piece.text}" if first.negative else first.piece.text
        text += "".join(f" {'-' if term.negative else '+'} {term.piece.text}" for term in rest)
        return PrintedPiece(text, SUM, sum(term.piece.size for term in ordered))

    def parts(self, term: Expression, pieces: Pieces) -> Factors:
        """The factors of a term of a sum; a language that gives products a name of their own takes `pieces` for that."""
        return factors_of(term)

    def quotient(self, coefficient: Rational, factors: Factors, pieces: Pieces) -> PrintedPiece:
        """A positive number times powers, as numerator over denominator."""
        up_number, down_number = self.number(coefficient)
        up = self.product([self.factor(b, q, pieces) for b, q in factors if q > 0], up_number)
        down = self.product([self.factor(b, -q, pieces) for b, q in factors if q < 0], down_number)
        assert up is not None, "the numerator has at least its number"
        if down is None:
            return up
        return PrintedPiece(self.over(up, down), PRODUCT, up.size + down.size)

    def product(self, factors: Iterable[PrintedPiece], number: str) -> PrintedPiece | None:
        """Factors joined by stars after a number, or None where there is neither."""
        ordered = _in_reading_order(factors)
        # One is written only where nothing else is.
        if number and not (ordered and number in ("1", "1.0")):
            ordered.insert(0, PrintedPiece(number, ATOM, 1))
        if not ordered:
            return None
        if len(ordered) == 1:
            return ordered[0]
        return PrintedPiece("*".join(self.enclosed(f, PRODUCT) for f in ordered), PRODUCT, sum(f.size for f in ordered))

    def factor(self, base: Expression, q: Rational, pieces: Pieces) -> PrintedPiece:
        """A power with a positive rational exponent."""
        if q == 1:
            return pieces[base]
        # Of all fractional powers only the square root has a sign of its own.
        if q.denominator == 2 and q.numerator == 1:
            return PrintedPiece(self.root(pieces[base]), ATOM, pieces[base].size + 1)
        if q.denominator == 1 and is_symbolic_power(base):
            exponent = self.quotient(q, ((base.exponent, 1),), pieces)
            return self.power(pieces[base.base], exponent)
        return self.power(pieces[base], self.rational_exponent(q))

    def rational_exponent(self, q: Rational) -> PrintedPiece:
        """A positive exponent that is a number."""
        return self.quotient(q, (), {})

    def lone_power(self, node: nodes.Pow, pieces: Pieces) -> PrintedPiece:
        """A power that is not part of a product."""
        if isinstance(node.exponent, nodes.Number):
            return self.quotient(1, factors_of(node), pieces)
        return self.power(pieces[node.base], pieces[node.exponent])

    def condition(self, node: Expression, pieces: Pieces) -> PrintedPiece:
        """A comparison, or comparisons joined."""
        args = [pieces[arg] for arg in node.args]
        size = sum(arg.size for arg in args)
        if isinstance(node, nodes.Relation):
            sign = self.words.get(node.operator, node.operator)
            return PrintedPiece(f"{args[0].text} {sign} {args[1].text}", COMPARISON, size)
        assert isinstance(node, nodes.Logic), "what is left are joined conditions"
        word = self.words[node.operator]
        if node.operator == "not":
            return PrintedPiece(f"{word}{self.fence(args[0].text)}", NOT, size)
        if not args:
            return PrintedPiece(word, ATOM, 1)
        # One tighter than itself: `(a or b) and c` keeps its parentheses, `a and b and c` needs none.
        level = AND if node.operator == "and" else OR
        return PrintedPiece(f" {word} ".join(self.enclosed(arg, level + 1) for arg in args), level, size)


def listed(function: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
    """A function with its arguments in parentheses."""
    return PrintedPiece(f"{function}({', '.join(arg.text for arg in args)})", ATOM, 1 + sum(arg.size for arg in args))


@final
class _Text(AbstractPrinter):
    words = {"and": "and", "or": "or", "not": "not ", "true": "true", "false": "false"}  # noqa: RUF012

    def number(self, q: Rational) -> tuple[str, str]:
        return _written_number(q)

    def name(self, name: str) -> str:
        return name

    def integral(self, inner: str, letter: str, upper: str) -> str:
        return f"integral({inner}, {letter}, 0, {upper})"


@final
class _Python(AbstractPrinter):
    words = {"and": "and", "or": "or", "not": "not ", "true": "True", "false": "False"}  # noqa: RUF012
    power_sign = "**"

    def name(self, name: str) -> str:
        return checked_identifier(identifier(name))

    def integral(self, inner: str, letter: str, upper: str) -> str:
        return f"integral(lambda {letter}: {inner}, 0, {upper})"

    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
        if name != "if":
            return listed(name, args)
        condition, yes, no = args
        # In parentheses whatever stands around: a conditional holds less tightly than anything else in Python.
        text = f"({self.enclosed(yes, NOT)} if {self.enclosed(condition, COMPARISON)} else {no.text})"
        return PrintedPiece(text, ATOM, 1 + sum(arg.size for arg in args))


def checked_identifier(name: str) -> str:
    """The name, if a program can hold it; whatever a file says, no other text may reach a compiler."""
    # Names come from files of anybody, and what is printed here is compiled and run.
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"not an identifier: {name!r}")
    return name


_TEXT = _Text()
_PYTHON = _Python()


def to_text(expression: Expression) -> str:
    """The formula as papers write it, with ^ for powers; `parse` reads it back to the same expression."""
    return _TEXT.print(expression)


def to_python(expression: Expression) -> str:
    """The formula in Python; `PYTHON_NAMESPACE` holds the functions that it calls."""
    return _PYTHON.print(expression)


to_yaml = to_text

nodes.ENGINE.text = to_text

# LaTeX

_WORDS = re.compile(r"(?P<own>[A-Za-z]\w*)(?:\[(?P<index>[\d,]+)\])?")
_RATES = frozenset(
    variable.symbol
    for domain in DOMAINS.values()
    for variable in (domain.across, domain.through)
    if re.fullmatch("d[A-Z][a-z]*", variable.symbol)
)
r"""Power variables that are named as rates: `dPhi` is \dot{\Phi}."""


def latex_name(name: str) -> str:
    r"""A name or path in LaTeX: `omega_m` is \omega_{m}, `drive.motor.L_a[3]` is L_{\text{a,3,drive,motor}}.

    A name for which its author gave a symbol is written by that, where symbols are in force.
    """
    return symbol_latex(name) or usual_latex(name)


@lru_cache(maxsize=10_000)
def usual_latex(name: str) -> str:
    """A name in LaTeX without a symbol of its own."""
    *owners, last = name.split(".")
    found = _WORDS.fullmatch(last)
    if found is None:
        return _upright(name)
    # A subscript of a subscript: V_R_a is the voltage at R_a.
    head, *words = [word for word in found["own"].split("_") if word]
    # x2 is meant as x_2.
    letters = head.rstrip("0123456789") or head
    owned = [part for owner in owners for part in owner.replace("[", "_").rstrip("]").split("_") if part]
    index = [found["index"]] if found["index"] else []
    digits = [head[len(letters) :]] if len(letters) < len(head) else []
    # What tells x_ from x must be seen; behind a word that programs reserve it is no part of the name.
    told = (
        [r"\mathrm{\_}"] if found["own"].endswith("_") and [head, *words][-1] not in RESERVED | FUNCTIONS.keys() else []
    )
    subscripts = [*digits, *_nested(words), *told, *index, *map(_subscript, owned)]
    return f"{_letter(letters)}_{{{_joined(subscripts)}}}" if subscripts else _letter(letters)


def _letter(letters: str) -> str:
    if letters in GREEK:
        return rf"\{letters}"
    if letters in _RATES:
        return rf"\dot{{{_letter(letters[1:])}}}"
    return letters if len(letters) == 1 else _upright(letters)


def _upright(word: str) -> str:
    escaped = word.replace("_", r"\_")
    return rf"\mathrm{{{escaped}}}"


def _subscript(word: str) -> str:
    """Greek letters, single letters, letters with a number and numbers as they are, other words upright."""
    if word in GREEK:
        return rf"\{word}"
    # A word in italics reads as a product of its letters.
    return word if word[1:].isdigit() or len(word) == 1 or word[:1].isdigit() else rf"\text{{{word}}}"


def _joined(subscripts: list[str]) -> str:
    """Subscripts with commas; with a word among plain ones, all are one upright text."""
    plain = [text.removeprefix(r"\text{").removesuffix("}") for text in subscripts]
    if plain != subscripts and all(text.isalnum() for text in plain):
        return rf"\text{{{','.join(plain)}}}"
    return ",".join(subscripts)


def _nested(words: list[str]) -> list[str]:
    """Subscripts that name an element with a subscript of its own stand one under the other."""
    first, *rest = [_subscript(word) for word in words] or [""]
    # Only a letter can carry a subscript of its own; words stand behind one another.
    is_letter = bool(first) and not first.startswith(r"\text") and not first.isdigit()
    if rest and is_letter and (_is_index(rest[0]) or first[0].isupper() or first[0] == "\\"):
        return [f"{first}_{{{rest[0]}}}", *rest[1:]]
    return [first, *rest] if first else []


def _is_index(text: str) -> bool:
    return text.isdigit() or len(text.lstrip("\\")) == 1


@final
class _Latex(AbstractPrinter):
    words = {  # noqa: RUF012
        "and": r"\wedge",
        "or": r"\vee",
        "not": r"\neg ",
        "true": r"\top",
        "false": r"\bot",
        "<=": r"\le",
        ">=": r"\ge",
        "==": "=",
        "!=": r"\ne",
    }

    def __init__(self, names: Callable[[str], str]) -> None:
        self.names = names

    def name(self, name: str) -> str:
        return self.names(name)

    def number(self, q: Rational) -> tuple[str, str]:
        up, down = _written_number(q)
        mantissa, _, exponent = up.partition("e")
        if not exponent:
            return up, down
        scale = f"10^{{{exponent}}}"
        return (scale if mantissa == "1" else rf"{mantissa} \cdot {scale}"), down

    def constant(self, node: nodes.Constant) -> str:
        return rf"\{node.name}"

    def fence(self, text: str) -> str:
        return rf"\left({text}\right)"

    def root(self, base: PrintedPiece) -> str:
        return rf"\sqrt{{{base.text}}}"

    def power(self, base: PrintedPiece, exponent: PrintedPiece) -> PrintedPiece:
        return PrintedPiece(f"{self.enclosed(base, ATOM)}^{{{exponent.text}}}", POWER, base.size + 1, base.varies)

    def factor(self, base: Expression, q: Rational, pieces: Pieces) -> PrintedPiece:
        # The power of a sine stands at the sine: sin^2 of the angle.
        if isinstance(base, nodes.Call) and base.name in _OF_ANGLES and q.denominator == 1:
            power = f"^{{{q}}}" if q > 1 else ""
            return self.applied(rf"\{base.name}", pieces[base.arguments[0]], power)
        return super().factor(base, q, pieces)

    def quotient(self, coefficient: Rational, factors: Factors, pieces: Pieces) -> PrintedPiece:
        return super().quotient(coefficient, _with_tangents(factors), pieces)

    def applied(self, function: str, argument: PrintedPiece, power: str = "") -> PrintedPiece:
        """A function with one argument; a name needs no parentheses."""
        is_name = argument.holds == ATOM and argument.size == 1 and "(" not in argument.text
        text = f" {argument.text}" if is_name else self.fence(argument.text)
        return PrintedPiece(f"{function}{power}{text}", POWER if power else ATOM, 1 + argument.size, argument.varies)

    def integral(self, inner: str, letter: str, upper: str) -> str:
        return rf"\int_0^{{{upper}}} {self.fence(inner)} \, \mathrm{{d}}{letter}"

    def rational_exponent(self, q: Rational) -> PrintedPiece:
        # A fraction in an exponent would be set too small to be read.
        return PrintedPiece(str(q), ATOM, 0)

    def over(self, up: PrintedPiece, down: PrintedPiece) -> str:
        return rf"\frac{{{up.text}}}{{{down.text}}}"

    def product(self, factors: Iterable[PrintedPiece], number: str) -> PrintedPiece | None:
        ordered = sorted(factors, key=_latex_reading_key)
        if not ordered:
            return PrintedPiece(number, PRODUCT if "cdot" in number else ATOM, 1) if number else None
        number = "" if number == "1" else number
        if len(ordered) == 1 and not number:
            return ordered[0]
        texts = [self.enclosed(piece, PRODUCT) for piece in ordered]
        if number:
            # A number before a digit would read as one number.
            texts.insert(0, rf"{number} \cdot" if texts[0][0].isdigit() else number)
        return PrintedPiece(" ".join(texts), PRODUCT, sum(piece.size for piece in ordered) + bool(number))

    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
        listing = ", ".join(arg.text for arg in args)
        if name == "if":
            condition, yes, no = (arg.text for arg in args)
            cases = rf"\begin{{cases}} {yes} & \text{{if }} {condition} \\ {no} & \text{{otherwise}} \end{{cases}}"
            text = self.fence(cases)
        elif name in _FENCES:
            left, right = _FENCES[name]
            text = rf"\left{left} {listing} \right{right}"
        elif len(args) == 1:
            return self.applied(FUNCTIONS[name].latex, args[0])
        else:
            text = FUNCTIONS[name].latex + self.fence(listing)
        return PrintedPiece(text, ATOM, 1 + sum(arg.size for arg in args))


_OF_ANGLES = frozenset({"sin", "cos", "tan", "cot", "sinh", "cosh", "tanh"})
_FUNCTION = re.compile(r"\\(?:arc)?(?:sinh?|cosh?|tanh?|cot|exp|ln|sqrt|operatorname|left)(?![a-z])")
_MARKS = re.compile(r"[\\{}]|\\(?:mathrm|text|dot)\b")


def _latex_reading_key(piece: PrintedPiece) -> tuple[object, ...]:
    """Factors in the order of papers: parameters, then variables, then sums, then functions."""
    text = piece.text
    kind = 2 if piece.holds == SUM or text.startswith(r"\left(") else 3 if _FUNCTION.match(text) else int(piece.varies)
    # Greek letters by their names: the backslash before them says nothing.
    return kind if piece.size else -1, natural(_MARKS.sub("", text))


def _with_tangents(factors: Factors) -> Factors:
    """Quotients of sines and cosines of one angle as tangents and cotangents."""
    found = dict(factors)
    for base, q in factors:
        if isinstance(base, nodes.Call) and base.name == "sin" and q.denominator == 1:
            angle = base.arguments[0]
            below = nodes.intern_call("cos", (angle,))
            other = found.get(below, 0)
            if q * other < 0 and other.denominator == 1:
                shared = min(magnitude(q), magnitude(other))
                sign = 1 if q > 0 else -1
                found[base], found[below] = q - sign * shared, other + sign * shared
                # A cotangent is printed, and nothing else: the language of formulas has none.
                tangent = nodes.intern_call("tan" if q > 0 else "cot", (angle,))
                found[tangent] = found.get(tangent, 0) + shared
    return tuple((base, q) for base, q in found.items() if q)


_FENCES = {"abs": ("|", "|"), "floor": (r"\lfloor", r"\rfloor"), "ceil": (r"\lceil", r"\rceil")}


def to_latex(expression: Expression, names: Callable[[str], str] = latex_name) -> str:
    """The formula in LaTeX, for math mode; `names` says how its variables are written."""
    return _Latex(names).print(expression)
