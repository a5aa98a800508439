r"""Formulas and names in LaTeX, as papers set them: one way for equations and figures.

`omega_m` is \omega_{m}, `V_R_a` the voltage at R_a, V_{R_{a}}; words of several letters are upright, those of a path stand behind:
`drive.motor.L_a` is L_{\text{a,drive,motor}}.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from tellegen.core.domains import DOMAINS
from tellegen.expressions.canonical import is_symbolic_power
from tellegen.expressions.functions import FUNCTIONS
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
    magnitude,
    postorder,
)
from tellegen.expressions.printing import (
    AND,
    ATOM,
    COMPARISON,
    NOT,
    OR,
    POWER,
    PRODUCT,
    SUM,
    Factors,
    PrintedPiece,
    PrintedTerm,
    factors_of,
    in_reading_order,
    terms_in_reading_order,
    written_number,
)

GREEK = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
        *("xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
        *("varepsilon", "vartheta", "varphi", "varrho"),
    )
)
_WORDS = re.compile(r"(?P<own>[A-Za-z]\w*)(?:\[(?P<index>[\d,]+)\])?")
_RATES = frozenset(
    variable.symbol
    for domain in DOMAINS.values()
    for variable in (domain.across, domain.through)
    if re.fullmatch("d[A-Z][a-z]*", variable.symbol)
)
r"""Power variables that are named as rates: `dPhi` is \dot{\Phi}."""


@lru_cache(maxsize=10_000)
def latex_name(name: str) -> str:
    r"""A name or path in LaTeX: `omega_m` is \omega_{m}, `drive.motor.L_a[3]` is L_{\text{a,3,drive,motor}}."""
    *owners, last = name.split(".")
    found = _WORDS.fullmatch(last)
    if found is None:
        return _upright(name)
    head, *words = [word for word in found["own"].split("_") if word]
    letters = head.rstrip("0123456789") or head
    owned = [part for owner in owners for part in owner.replace("[", "_").rstrip("]").split("_") if part]
    index = [found["index"]] if found["index"] else []
    subscripts = [*_digits(head[len(letters) :]), *_nested(words), *index, *map(_subscript, owned)]
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


def _digits(text: str) -> list[str]:
    return [text] if text else []


def _subscript(word: str) -> str:
    """Greek letters, single letters, letters with a number and numbers as they are, other words upright."""
    if word in GREEK:
        return rf"\{word}"
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
    is_letter = bool(first) and not first.startswith(r"\text") and not first.isdigit()
    if rest and is_letter and (_is_index(rest[0]) or first[0].isupper() or first[0] == "\\"):
        return [f"{first}_{{{rest[0]}}}", *rest[1:]]
    return [first, *rest] if first else []


def _is_index(text: str) -> bool:
    return text.isdigit() or len(text.lstrip("\\")) == 1


_RELATIONS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne"}
_LOGIC = {"and": r"\wedge", "or": r"\vee", "not": r"\neg", "true": r"\top", "false": r"\bot"}

LatexPieces = dict[Expression, PrintedPiece]


def to_latex(expression: Expression, names: Callable[[str], str] = latex_name) -> str:
    """The formula in LaTeX, for math mode; `names` says how its variables are written."""
    pieces: LatexPieces = {}
    for node in postorder(expression):
        pieces[node] = PrintedPiece(names(node.name), ATOM, 1) if isinstance(node, Symbol) else _piece(node, pieces)
    return pieces[expression].text


def _piece(node: Expression, pieces: LatexPieces) -> PrintedPiece:
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
        return PrintedPiece(rf"\{node.name}", ATOM, 0)
    return _condition(node, [pieces[arg] for arg in node.args])


def _enclosed(piece: PrintedPiece, least: int) -> str:
    return piece.text if piece.holds >= least else rf"\left({piece.text}\right)"


def _signed(negative: bool, piece: PrintedPiece) -> PrintedPiece:
    return PrintedPiece(f"-{piece.text}", SUM, piece.size) if negative else piece


def _sum(node: Add, pieces: LatexPieces) -> PrintedPiece:
    terms = [PrintedTerm(_quotient(magnitude(c), factors_of(term), pieces), c < 0) for term, c in node.terms]
    ordered = terms_in_reading_order(terms)
    if node.constant:
        last = PrintedTerm(_quotient(magnitude(node.constant), (), pieces), node.constant < 0)
        positives = sum(not term.negative for term in ordered)
        ordered.insert(len(ordered) if last.negative else positives, last)
    first, *rest = ordered
    text = f"-{first.piece.text}" if first.negative else first.piece.text
    text += "".join(f" {'-' if term.negative else '+'} {term.piece.text}" for term in rest)
    return PrintedPiece(text, SUM, sum(term.piece.size for term in ordered))


def _number(q: Rational) -> tuple[str, str]:
    up, down = written_number(q)
    mantissa, _, exponent = up.partition("e")
    if not exponent:
        return up, down
    scale = f"10^{{{exponent}}}"
    return (scale if mantissa == "1" else rf"{mantissa} \cdot {scale}"), down


def _quotient(coefficient: Rational, factors: Factors, pieces: LatexPieces) -> PrintedPiece:
    up_number, down_number = _number(coefficient)
    up = _product([_factor(b, q, pieces) for b, q in factors if q > 0], up_number)
    down = _product([_factor(b, -q, pieces) for b, q in factors if q < 0], down_number)
    assert up is not None, "the numerator has at least its number"
    if down is None:
        return up
    return PrintedPiece(rf"\frac{{{up.text}}}{{{down.text}}}", PRODUCT, up.size + down.size)


def _product(factors: Iterable[PrintedPiece], number: str) -> PrintedPiece | None:
    ordered = in_reading_order(factors)
    if not ordered and not number:
        return None
    if not ordered:
        return PrintedPiece(number, PRODUCT if "cdot" in number else ATOM, 1)
    if number == "1":
        number = ""
    if len(ordered) == 1 and not number:
        return ordered[0]
    texts = [_enclosed(piece, PRODUCT) for piece in ordered]
    if number:
        # A number before a digit would read as one number.
        texts.insert(0, rf"{number} \cdot" if texts[0][0].isdigit() else number)
    return PrintedPiece(" ".join(texts), PRODUCT, sum(piece.size for piece in ordered) + bool(number))


def _factor(base: Expression, q: Rational, pieces: LatexPieces) -> PrintedPiece:
    if q == 1:
        return pieces[base]
    if q.denominator == 2 and q.numerator == 1:
        return PrintedPiece(rf"\sqrt{{{pieces[base].text}}}", ATOM, pieces[base].size + 1)
    if q.denominator == 1 and is_symbolic_power(base):
        return _power(pieces[base.base], _quotient(q, ((base.exponent, 1),), pieces).text)
    exponent = str(q) if q.denominator == 1 else f"{q.numerator}/{q.denominator}"
    return _power(pieces[base], exponent)


def _power(base: PrintedPiece, exponent: str) -> PrintedPiece:
    return PrintedPiece(f"{_enclosed(base, ATOM)}^{{{exponent}}}", POWER, base.size + 1)


def _call(node: Call, args: list[PrintedPiece]) -> PrintedPiece:
    size = 1 + sum(arg.size for arg in args)
    listing = ", ".join(arg.text for arg in args)
    if node.name == "if":
        condition, yes, no = (arg.text for arg in args)
        text = rf"\begin{{cases}} {yes} & \text{{if }} {condition} \\ {no} & \text{{otherwise}} \end{{cases}}"
        return PrintedPiece(rf"\left({text}\right)", ATOM, size)
    if node.name in _FENCES:
        left, right = _FENCES[node.name]
        return PrintedPiece(rf"\left{left} {listing} \right{right}", ATOM, size)
    return PrintedPiece(rf"{FUNCTIONS[node.name].latex}\left({listing}\right)", ATOM, size)


_FENCES = {"abs": ("|", "|"), "floor": (r"\lfloor", r"\rfloor"), "ceil": (r"\lceil", r"\rceil")}


def _condition(node: Expression, args: list[PrintedPiece]) -> PrintedPiece:
    size = sum(arg.size for arg in args)
    if isinstance(node, Relation):
        return PrintedPiece(f"{args[0].text} {_RELATIONS[node.operator]} {args[1].text}", COMPARISON, size)
    assert isinstance(node, Logic), "what is left are joined conditions"
    word = _LOGIC[node.operator]
    if node.operator == "not":
        return PrintedPiece(rf"{word} \left({args[0].text}\right)", NOT, size)
    if not args:
        return PrintedPiece(word, ATOM, 1)
    level = AND if node.operator == "and" else OR
    return PrintedPiece(f" {word} ".join(_enclosed(arg, level + 1) for arg in args), level, size)
