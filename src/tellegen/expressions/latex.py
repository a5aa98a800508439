"""Formulas in LaTeX, as papers set them."""

from collections.abc import Callable, Iterable

from tellegen.expressions.canonical import is_symbolic_power
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.interning import magnitude
from tellegen.expressions.latex_names import latex_name
from tellegen.expressions.layout import (
    AND,
    ATOM,
    COMPARISON,
    NOT,
    OR,
    POWER,
    PRODUCT,
    SUM,
    Factors,
    Piece,
    Term,
    factors_of,
    in_reading_order,
    terms_in_reading_order,
    written_number,
)
from tellegen.expressions.nodes import (
    Add,
    Call,
    Constant,
    Expression,
    Logic,
    Mul,
    Number,
    Pow,
    Rational,
    Relation,
    Symbol,
    postorder,
)

_RELATIONS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne"}
_LOGIC = {"and": r"\wedge", "or": r"\vee", "not": r"\neg", "true": r"\top", "false": r"\bot"}

Pieces = dict[Expression, Piece]


def to_latex(expression: Expression, names: Callable[[str], str] = latex_name) -> str:
    """The formula in LaTeX, for math mode; `names` says how its variables are written."""
    pieces: Pieces = {}
    for node in postorder(expression):
        pieces[node] = Piece(names(node.name), ATOM, 1) if isinstance(node, Symbol) else _piece(node, pieces)
    return pieces[expression].text


def _piece(node: Expression, pieces: Pieces) -> Piece:
    if isinstance(node, Number):
        return _signed(node.rational < 0, _quotient(magnitude(node.rational), (), pieces))
    if isinstance(node, Add):
        return _sum(node, pieces)
    if isinstance(node, Mul):
        return _signed(node.coefficient < 0, _quotient(magnitude(node.coefficient), node.factors, pieces))
    if isinstance(node, Pow):
        if isinstance(node.exponent, Number):
            return _quotient(1, factors_of(node), pieces)
        return _power(pieces[node.base], pieces[node.exponent].text)
    if isinstance(node, Call):
        return _call(node, [pieces[arg] for arg in node.arguments])
    if isinstance(node, Constant):
        return Piece(rf"\{node.name}", ATOM, 0)
    return _condition(node, [pieces[arg] for arg in node.args])


def _enclosed(piece: Piece, least: int) -> str:
    return piece.text if piece.holds >= least else rf"\left({piece.text}\right)"


def _signed(negative: bool, piece: Piece) -> Piece:
    return Piece(f"-{piece.text}", SUM, piece.size) if negative else piece


def _sum(node: Add, pieces: Pieces) -> Piece:
    terms = [Term(_quotient(magnitude(c), factors_of(term), pieces), c < 0) for term, c in node.terms]
    ordered = terms_in_reading_order(terms)
    if node.constant:
        last = Term(_quotient(magnitude(node.constant), (), pieces), node.constant < 0)
        positives = sum(not term.negative for term in ordered)
        ordered.insert(len(ordered) if last.negative else positives, last)
    first, *rest = ordered
    text = f"-{first.piece.text}" if first.negative else first.piece.text
    text += "".join(f" {'-' if term.negative else '+'} {term.piece.text}" for term in rest)
    return Piece(text, SUM, sum(term.piece.size for term in ordered))


def _number(q: Rational) -> tuple[str, str]:
    up, down = written_number(q)
    mantissa, _, exponent = up.partition("e")
    if not exponent:
        return up, down
    scale = f"10^{{{exponent}}}"
    return (scale if mantissa == "1" else rf"{mantissa} \cdot {scale}"), down


def _quotient(coefficient: Rational, factors: Factors, pieces: Pieces) -> Piece:
    up_number, down_number = _number(coefficient)
    up = _product([_factor(b, q, pieces) for b, q in factors if q > 0], up_number)
    down = _product([_factor(b, -q, pieces) for b, q in factors if q < 0], down_number)
    assert up is not None, "the numerator has at least its number"
    if down is None:
        return up
    return Piece(rf"\frac{{{up.text}}}{{{down.text}}}", PRODUCT, up.size + down.size)


def _product(factors: Iterable[Piece], number: str) -> Piece | None:
    ordered = in_reading_order(factors)
    if not ordered and not number:
        return None
    if not ordered:
        return Piece(number, PRODUCT if "cdot" in number else ATOM, 1)
    if number == "1":
        number = ""
    if len(ordered) == 1 and not number:
        return ordered[0]
    texts = [_enclosed(piece, PRODUCT) for piece in ordered]
    if number:
        # A number before a digit would read as one number.
        texts.insert(0, rf"{number} \cdot" if texts[0][0].isdigit() else number)
    return Piece(" ".join(texts), PRODUCT, sum(piece.size for piece in ordered) + bool(number))


def _factor(base: Expression, q: Rational, pieces: Pieces) -> Piece:
    if q == 1:
        return pieces[base]
    if q.denominator == 2 and q.numerator == 1:
        return Piece(rf"\sqrt{{{pieces[base].text}}}", ATOM, pieces[base].size + 1)
    if q.denominator == 1 and is_symbolic_power(base):
        return _power(pieces[base.base], _quotient(q, ((base.exponent, 1),), pieces).text)
    exponent = str(q) if q.denominator == 1 else f"{q.numerator}/{q.denominator}"
    return _power(pieces[base], exponent)


def _power(base: Piece, exponent: str) -> Piece:
    return Piece(f"{_enclosed(base, ATOM)}^{{{exponent}}}", POWER, base.size + 1)


def _call(node: Call, args: list[Piece]) -> Piece:
    size = 1 + sum(arg.size for arg in args)
    listing = ", ".join(arg.text for arg in args)
    if node.name == "if":
        condition, yes, no = (arg.text for arg in args)
        text = rf"\begin{{cases}} {yes} & \text{{if }} {condition} \\ {no} & \text{{otherwise}} \end{{cases}}"
        return Piece(rf"\left({text}\right)", ATOM, size)
    if node.name in _FENCES:
        left, right = _FENCES[node.name]
        return Piece(rf"\left{left} {listing} \right{right}", ATOM, size)
    return Piece(rf"{FUNCTIONS[node.name].latex}\left({listing}\right)", ATOM, size)


_FENCES = {"abs": ("|", "|"), "floor": (r"\lfloor", r"\rfloor"), "ceil": (r"\lceil", r"\rceil")}


def _condition(node: Expression, args: list[Piece]) -> Piece:
    size = sum(arg.size for arg in args)
    if isinstance(node, Relation):
        return Piece(f"{args[0].text} {_RELATIONS[node.operator]} {args[1].text}", COMPARISON, size)
    assert isinstance(node, Logic), "what is left are joined conditions"
    word = _LOGIC[node.operator]
    if node.operator == "not":
        return Piece(rf"{word} \left({args[0].text}\right)", NOT, size)
    if not args:
        return Piece(word, ATOM, 1)
    level = AND if node.operator == "and" else OR
    return Piece(f" {word} ".join(_enclosed(arg, level + 1) for arg in args), level, size)
