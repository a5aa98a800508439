"""The equations of 20-sim as scalar formulas: statements, choices, vectors and matrices.

What a submodel declares with a size is written out, `x [2]` as `x_1` and `x_2`, `A [2,2]` as `A_1_1` to `A_2_2`, and so are the
formulas that read it. A choice between statements, `if c then y = a; else y = b; end`, becomes `y = if(c, a, b)`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple, final

MOST_ENTRIES = 400
"""Of a matrix: what reads it is written out."""
MOST_LEVELS = 60
MOST_STATEMENTS = 20_000
LONGEST = 20_000
"""Characters of a formula that is written out."""


class NoLawError(ValueError):
    """Equations that are no law; the text of the exception says why."""


@final
class Shape(NamedTuple):
    """Rows and columns; a number has one of each."""

    rows: int
    columns: int

    def entries(self, name: str) -> list[str]:
        """The names of its entries, row by row; those of a column have one number."""
        if self == ONE_BY_ONE:
            return [name]
        both = product(range(1, self.rows + 1), range(1, self.columns + 1))
        return [f"{name}_{i}" if self.columns == 1 else f"{name}_{i}_{k}" for i, k in both]


ONE_BY_ONE = Shape(1, 1)


def read_shape(text: str) -> Shape | None:
    """What stands in brackets behind a name; None where it is not numbers.

    >>> read_shape("3"), read_shape("1, 2"), read_shape("n")
    (Shape(rows=3, columns=1), Shape(rows=1, columns=2), None)
    """
    sizes = [word.strip() for word in text.split(",")]
    if len(sizes) > 2 or not all(re.fullmatch(r"[1-9]\d{0,3}", size) for size in sizes):
        return None
    found = Shape(int(sizes[0]), int(sizes[1]) if len(sizes) > 1 else 1)
    return found if found.rows * found.columns <= MOST_ENTRIES else None


@final
class ScalarEquation(NamedTuple):
    """One equation: what it gives, and its formula."""

    left: str
    right: str


@final
class _Array(NamedTuple):
    shape: Shape
    entries: list[str]
    condition: bool = False


KEPT = "kept"
"""The function of the value that a variable had."""

_TOKEN = re.compile(
    r"\s*(?:(?P<string>'[^']*'|\"[^\"]*\")|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<sign><>|<=|>=|==|!=|\.\*|\./|\.\^|\S))"
)
_OPENS = frozenset({"if", "for", "while", "repeat", "switch"})
_COMPARED = ("<", ">", "<=", ">=", "==", "!=", "<>")
_REFUSED = frozenset({"for", "while", "repeat", "switch", "stopsimulation"})
Tokens = list[tuple[str, str]]


def statements(text: str) -> list[tuple[str, Tokens]]:
    """The statements of a section: the text of each, and its words. What stands in quotes before one is said about it."""
    found: list[tuple[str, Tokens]] = []
    words: Tokens = []
    at = begun = depth = brackets = 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        assert match is not None, "anything but spaces is a sign"
        assert match.lastgroup is not None, "one of the groups has matched"
        kind, word = match.lastgroup, match[match.lastgroup]
        at = match.end()
        if not words:
            begun = match.start()
        if kind == "sign" and word == ";" and depth <= 0 and brackets <= 0:
            found += [(text[begun : match.start()].strip(), words)] if words else []
            if len(found) > MOST_STATEMENTS:
                raise NoLawError(f"it has more than {MOST_STATEMENTS} equations")
            words, depth, brackets = [], 0, 0
            continue
        if kind == "string" and word[0] == '"' and not words:
            continue
        depth += (word in _OPENS) - (word == "end") if kind == "name" else 0
        brackets += (word in "([") - (word in ")]") if kind == "sign" else 0
        words.append((kind, word))
        # A choice between statements may end without a semicolon.
        if word == "end" and depth == 0 and words[0][1] in _OPENS:
            found.append((text[begun:at].strip(), words))
            words = []
    return [*found, (text[begun:].strip(), words)] if words else found


@final
@dataclass(slots=True)
class Arrays:
    """The shapes of names with a size, and the values that decide places in them."""

    shapes: dict[str, Shape] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)


def scalar_equations(words: Tokens, arrays: Arrays) -> tuple[list[ScalarEquation], dict[str, str]]:
    """What one statement says, entry by entry, and what it gives in one branch of a choice alone, else keeping what `KEPT` says;
    empty where several choices decide.

    Raises: NoLawError.
    """
    statement = _Statement(words, arrays)
    return statement.read(), statement.partial


def scalar_values(text: str, shape: Shape, arrays: Arrays) -> list[str]:
    """The entries of a value that a declaration gives.

    Raises: NoLawError where there are more or fewer.
    """
    ((_, words),) = statements(text) or [("", [])]
    return _Statement(words, arrays).value(shape)


def assigned(words: Tokens) -> list[str]:
    """The names that stand on the left of an equation, as far as they are seen: without their entries."""
    found: list[str] = []
    left = words[: words.index(("sign", "="))] if ("sign", "=") in words and words[0][1] not in _OPENS else []
    found += [name for kind, name in left if kind == "name" and name not in _FUNCTIONS]
    for place, (kind, name) in enumerate(words):
        at = place + 1
        if kind == "name" and words[at : at + 1] == [("sign", "[")]:
            at = next((k for k in range(at, len(words)) if words[k] == ("sign", "]")), len(words)) + 1
        if kind == "name" and words[at : at + 1] == [("sign", "=")]:
            found.append(name)
    return list(dict.fromkeys(found))


@final
class _Statement:
    """A statement being read, from left to right."""

    def __init__(self, words: Tokens, arrays: Arrays) -> None:
        self.words, self.arrays = words, arrays
        self.at = self.levels = 0
        self.partial: dict[str, str] = {}
        self.depth = 0

    def read(self) -> list[ScalarEquation]:
        if self._is("if"):
            found = self._choice()
            if self.at < len(self.words):
                raise self._senseless()
            return [ScalarEquation(name, text) for name, text in found.items()]
        found_here = self._equation()
        if self.at < len(self.words):
            raise self._senseless()
        return found_here

    def value(self, shape: Shape) -> list[str]:
        found = self._formula()
        if self.at < len(self.words):
            raise self._senseless()
        return _spread(found, shape.rows * shape.columns)

    # Words

    def _peek(self) -> str:
        return self.words[self.at][1] if self.at < len(self.words) and self.words[self.at][0] != "string" else ""

    def _is(self, *words: str) -> bool:
        return self._peek() in words

    def _take(self, word: str) -> None:
        if not self._is(word):
            raise self._senseless()
        self.at += 1

    def _senseless(self) -> NoLawError:
        shown = " ".join(word for _, word in self.words[max(0, self.at - 4) : self.at + 3])
        return NoLawError(f"'{shown[:60]}' is no plain formula")

    # Statements

    def _choice(self) -> dict[str, str]:
        """What a choice between statements gives to each name."""
        self.depth += 1
        if self.depth > MOST_LEVELS:
            raise NoLawError(f"choices stand more than {MOST_LEVELS} levels inside each other")
        self.at += 1
        condition = _condition(self._scalar())
        self._take("then")
        first = self._branch()
        if self._is("elseif", "elsif"):
            second = self._choice()
        elif self._is("else"):
            self.at += 1
            second = self._branch()
            self._take("end")
        else:
            second = {}
            self._take("end")
        self.depth -= 1
        # What one branch alone gives is put in where that branch needs it; outside it keeps what was in the other.
        for name in first.keys() ^ second.keys():
            if name in self.partial or self.depth:
                self.partial[name] = ""
            else:
                kept = f"{KEPT}({name})"
                self.partial[name] = f"if({condition}, {first.get(name, kept)}, {second.get(name, kept)})"
        return {name: f"if({condition}, {text}, {second[name]})" for name, text in first.items() if name in second}

    def _branch(self) -> dict[str, str]:
        """The equations of a branch; what it needs for itself is put in, for outside nobody may read it."""
        found: dict[str, str] = {}
        while not self._is("else", "elseif", "elsif", "end"):
            if self._is(";"):
                self.at += 1
                continue
            here = self._choice() if self._is("if") else dict(self._equation())
            for name, text in here.items():
                if name in found:
                    raise NoLawError(f"'{name}' is given twice")
                found[name] = _with(found, text)
            if self.at >= len(self.words):
                raise self._senseless()
        return found

    def _equation(self) -> list[ScalarEquation]:
        if self._is(*_REFUSED):
            raise NoLawError(f"it has a statement '{self._peek()}'")
        if self._is("ddt", "next"):
            return self._rate()
        left = self._left()
        self._take("=")
        right = self._formula()
        if right.shape == ONE_BY_ONE and len(left) > 1:
            right = _Array(Shape(len(left), 1), right.entries * len(left), right.condition)
        if len(left) != len(right.entries):
            raise NoLawError(f"'{left[0]}' has {len(left)} entries, and its formula {len(right.entries)}")
        return [
            ScalarEquation(name, _number(entry, right.condition))
            for name, entry in zip(left, right.entries, strict=True)
        ]

    def _rate(self) -> list[ScalarEquation]:
        """`ddt(x, x0) = ...` says what an integral is of, `next(x, x0) = ...` what it is at the next sample."""
        word = "int" if self._peek() == "ddt" else "previous"
        self.at += 1
        self._take("(")
        names = self._left()
        starts = ["0"] * len(names)
        if self._is(","):
            self.at += 1
            starts = _spread(self._formula(), len(names))
        self._take(")")
        self._take("=")
        formulas = _spread(self._formula(), len(names))
        return [
            ScalarEquation(name, f"{word}({text}, {start})")
            for name, text, start in zip(names, formulas, starts, strict=True)
        ]

    def _left(self) -> list[str]:
        """The names that an equation gives a value to."""
        if self._is("["):
            self.at += 1
            found = self._left()
            while self._is(";", ","):
                self.at += 1
                found += self._left()
            self._take("]")
            return found
        if self._is("collect"):
            self.at += 1
            self._take("(")
            found = self._left()
            self._take(")")
            return found
        if self.at >= len(self.words) or self.words[self.at][0] != "name":
            raise self._senseless()
        name = self.words[self.at][1]
        self.at += 1
        return self._indexed(name).entries

    # Formulas

    def _scalar(self) -> _Array:
        found = self._formula()
        if found.shape != ONE_BY_ONE:
            raise NoLawError("a condition is a vector")
        return found

    def _formula(self) -> _Array:
        self.levels += 1
        if self.levels > MOST_LEVELS:
            raise NoLawError(f"a formula has more than {MOST_LEVELS} levels")
        found = self._either()
        self.levels -= 1
        return found

    def _inline(self) -> _Array:
        """`if c then a else b end` inside a formula."""
        self.at += 1
        condition = _condition(self._scalar())
        self._take("then")
        first = self._formula()
        if self._is("elseif", "elsif"):
            second = self._inline()
        else:
            self._take("else")
            second = self._formula()
            self._take("end")
        return _elementwise(lambda a, b: f"if({condition}, {a}, {b})", _numbers(first), _numbers(second))

    def _either(self) -> _Array:
        return self._joined(self._both, ("or", "xor"))

    def _both(self) -> _Array:
        return self._joined(self._relation, ("and",))

    def _joined(self, inner: Callable[[], _Array], words: tuple[str, ...]) -> _Array:
        found = inner()
        while self._is(*words):
            word = self._peek()
            self.at += 1
            left, right = _condition(found), _condition(inner())
            text = (
                f"({left} {word} {right})" if word != "xor" else f"(({left} or {right}) and not ({left} and {right}))"
            )
            found = _Array(ONE_BY_ONE, [text], True)
        return found

    def _relation(self) -> _Array:
        found = self._sum()
        if self._is(*_COMPARED):
            sign = self._peek().replace("<>", "!=")
            self.at += 1
            other = self._sum()
            if found.shape != ONE_BY_ONE or other.shape != ONE_BY_ONE:
                raise NoLawError("vectors are compared")
            left, right = (_numbers(side).entries[0] for side in (found, other))
            return _Array(ONE_BY_ONE, [f"({left} {sign} {right})"], True)
        return found

    def _sum(self) -> _Array:
        found = self._product()
        while self._is("+", "-"):
            sign = self._peek()
            self.at += 1
            join = _added if sign == "+" else _subtracted
            found = _elementwise(join, _numbers(found), _numbers(self._product()))
        return found

    def _product(self) -> _Array:
        found = self._unary()
        while self._is("*", "/", ".*", "./", "mod", "div"):
            sign = self._peek()
            self.at += 1
            found = _multiplied(sign, _numbers(found), _numbers(self._unary()))
        return found

    def _unary(self) -> _Array:
        self.levels += 1
        if self.levels > MOST_LEVELS:
            raise NoLawError(f"a formula has more than {MOST_LEVELS} levels")
        if self._is("-", "+"):
            sign = self._peek()
            self.at += 1
            inner = _numbers(self._unary())
            found = inner if sign == "+" else _Array(inner.shape, [f"(-{_term(entry)})" for entry in inner.entries])
        elif self._is("not", "!", "~"):
            self.at += 1
            found = _Array(ONE_BY_ONE, [f"(not {_condition(self._unary())})"], True)
        else:
            found = self._power()
        self.levels -= 1
        return found

    def _power(self) -> _Array:
        base = self._atom()
        if self._is("^", ".^"):
            whole = self._peek() == "^" and base.shape != ONE_BY_ONE
            self.at += 1
            exponent = self._unary()
            if whole or exponent.shape != ONE_BY_ONE:
                raise NoLawError("a power of a matrix")
            return _elementwise(lambda a, b: f"({a})^({b})", base, exponent)
        return base

    def _atom(self) -> _Array:
        if self.at >= len(self.words):
            raise self._senseless()
        if self._is("if"):
            return self._inline()
        kind, word = self.words[self.at]
        self.at += 1
        if kind == "number":
            if self._is("{"):
                # A unit behind a number.
                while not self._is("}"):
                    self.at += 1
                    if self.at >= len(self.words):
                        raise self._senseless()
                self.at += 1
            return _Array(ONE_BY_ONE, [word])
        if word == "(":
            inner = self._formula()
            self._take(")")
            return _Array(inner.shape, [f"({entry})" for entry in inner.entries], inner.condition)
        if word == "[":
            return self._matrix()
        if kind != "name" or word in ("then", "else", "end"):
            self.at -= 1
            raise self._senseless()
        if self._is("("):
            return self._call(word)
        if word in ("true", "false"):
            return _Array(ONE_BY_ONE, ["1" if word == "true" else "0"])
        return self._indexed(word)

    def _matrix(self) -> _Array:
        rows: list[list[_Array]] = [[_numbers(self._formula())]]
        while self._is(",", ";"):
            if self._is(";"):
                rows.append([])
            self.at += 1
            rows[-1].append(_numbers(self._formula()))
        self._take("]")
        flat = [entry for row in rows for part in row for entry in part.entries]
        if all(part.shape.columns == 1 for row in rows for part in row) and all(len(row) == 1 for row in rows):
            return _Array(Shape(len(flat), 1), flat)
        if any(part.shape != ONE_BY_ONE for row in rows for part in row) or len({len(row) for row in rows}) > 1:
            raise NoLawError("a matrix is made of blocks")
        shape = Shape(len(rows), len(rows[0]))
        # A row alone is a vector, too.
        return _Array(shape, flat)

    def _indexed(self, name: str) -> _Array:
        base, dot, letter = name.partition(".")
        shape = self.arrays.shapes.get(base, ONE_BY_ONE)
        entries = [f"{entry}{dot}{letter}" for entry in shape.entries(base)]
        if not self._is("["):
            return _Array(shape, entries)
        self.at += 1
        places = [self._place(shape.rows if shape.columns == 1 else shape[0])]
        if self._is(","):
            self.at += 1
            places.append(self._place(shape.columns))
        self._take("]")
        if len(places) == 1:
            # The number of an entry counts along rows.
            places = (
                [places[0], range(1, 2)] if shape.columns == 1 else [range(1, 2), places[0]] if shape.rows == 1 else []
            )
        if not places:
            raise NoLawError(f"an entry of the matrix '{name}' has one number")
        rows, columns = places
        if rows[-1] > shape.rows or columns[-1] > shape.columns:
            raise NoLawError(f"'{name}' has no entry [{rows[-1]},{columns[-1]}]")
        chosen = [entries[(i - 1) * shape.columns + k - 1] for i in rows for k in columns]
        return _Array(Shape(len(rows), len(columns)), chosen)

    def _place(self, last: int) -> range:
        """A number in brackets, or a range of them."""
        first = self._whole_number() if not self._is(":") else 1
        if not self._is(":"):
            return range(first, first + 1)
        self.at += 1
        end = self._whole_number() if not self._is(",", "]") else last
        if end < first:
            raise NoLawError("a range of entries is empty")
        return range(first, end + 1)

    def _whole_number(self) -> int:
        found = self._sum()
        text = self.arrays.numbers.get(found.entries[0], found.entries[0]) if found.shape == ONE_BY_ONE else ""
        if not re.fullmatch(r"[1-9]\d{0,3}(\.0*)?", text):
            raise NoLawError(f"the place '{found.entries[0][:30]}' of an entry is no number")
        return int(float(text))

    def _call(self, name: str) -> _Array:
        self._take("(")
        if name in ("sum", "mul") and self._is("collect", "direct"):
            # What a knot does with all that leads to it, entry by entry.
            found = self._formula()
            self._take(")")
            return _Array(found.shape, [f"{name}({entry})" for entry in found.entries])
        arguments = [] if self._is(")") else [_numbers(self._formula())]
        while self._is(","):
            self.at += 1
            arguments.append(_numbers(self._formula()))
        self._take(")")
        if name in _FUNCTIONS and arguments:
            return _FUNCTIONS[name](*arguments)
        size = next((a.shape for a in arguments if a.shape != ONE_BY_ONE), ONE_BY_ONE)
        spread = [_spread(a, size.rows * size.columns) for a in arguments]
        if not arguments:
            return _Array(ONE_BY_ONE, [f"{name}()"])
        return _Array(size, [f"{name}({', '.join(entries)})" for entries in zip(*spread, strict=True)])


# Entries


def _with(known: Mapping[str, str], text: str) -> str:
    """A formula with what was given before it in its branch."""
    return re.sub(r"[A-Za-z_][\w.]*", lambda m: f"({known[m[0]]})" if m[0] in known else m[0], text) if known else text


def _number(entry: str, condition: bool) -> str:
    return f"if({entry}, 1, 0)" if condition else entry


def _numbers(found: _Array) -> _Array:
    return _Array(found.shape, [_number(entry, True) for entry in found.entries]) if found.condition else found


def _condition(found: _Array) -> str:
    if found.shape != ONE_BY_ONE:
        raise NoLawError("a condition is a vector")
    return found.entries[0] if found.condition else f"({found.entries[0]} != 0)"


def _term(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+|\([^()]*\)", text) else f"({text})"


def _added(a: str, b: str) -> str:
    return f"{a} + {_term(b)}"


def _subtracted(a: str, b: str) -> str:
    return f"{a} - {_term(b)}"


def _spread(found: _Array, count: int) -> list[str]:
    entries = _numbers(found).entries
    if len(entries) == count:
        return entries
    if len(entries) == 1:
        return entries * count
    raise NoLawError(f"{count} entries are given {len(entries)}")


def _elementwise(join: Callable[[str, str], str], one: _Array, other: _Array) -> _Array:
    if one.shape != other.shape and ONE_BY_ONE not in (one.shape, other.shape):
        raise NoLawError(f"{one.shape.rows} by {one.shape.columns} meets {other.shape.rows} by {other.shape.columns}")
    shape = other.shape if one.shape == ONE_BY_ONE else one.shape
    count = shape.rows * shape.columns
    return _Array(shape, [_short(join(a, b)) for a, b in zip(_spread(one, count), _spread(other, count), strict=True)])


def _short(text: str) -> str:
    """Checked at each step: a chain of products would fill the memory before it ends."""
    if len(text) > LONGEST:
        raise NoLawError("its formula is too long")
    return text


def _multiplied(sign: str, one: _Array, other: _Array) -> _Array:
    if sign in ("mod", "div"):
        whole = "{a} - floor(({a})/({b}))*({b})" if sign == "mod" else "floor(({a})/({b}))"
        return _elementwise(lambda a, b: f"({whole.format(a=a, b=b)})", one, other)
    plain = sign[-1]
    if sign == "*" and ONE_BY_ONE not in (one.shape, other.shape):
        if one.shape.columns != other.shape.rows:
            raise NoLawError(f"a matrix of {one.shape.columns} columns multiplies {other.shape.rows} rows")
        shape = Shape(one.shape.rows, other.shape.columns)
        if shape.rows * shape.columns > MOST_ENTRIES:
            raise NoLawError(f"a product has more than {MOST_ENTRIES} entries")
        return _Array(shape, [_short(entry) for entry in _rows_by_columns(one, other)])
    if sign == "/" and other.shape != ONE_BY_ONE:
        raise NoLawError("it divides by a matrix")
    return _elementwise(lambda a, b: f"{_term(a)}{plain}{_term(b)}", one, other)


def _rows_by_columns(one: _Array, other: _Array) -> Iterator[str]:
    inner, across = one.shape.columns, other.shape.columns
    for i, k in product(range(one.shape.rows), range(across)):
        pairs = ((one.entries[i * inner + m], other.entries[m * across + k]) for m in range(inner))
        yield "(" + " + ".join(f"{_term(a)}*{_term(b)}" for a, b in pairs) + ")"


def _transposed(found: _Array) -> _Array:
    rows, columns = found.shape
    return _Array(Shape(columns, rows), [found.entries[i * columns + k] for k in range(columns) for i in range(rows)])


def _summed(found: _Array) -> _Array:
    return _Array(ONE_BY_ONE, ["(" + " + ".join(map(_term, found.entries)) + ")"])


def _inner(one: _Array, other: _Array) -> _Array:
    if len(one.entries) != len(other.entries):
        raise NoLawError("an inner product of vectors of two lengths")
    return _summed(
        _Array(one.shape, [f"{_term(a)}*{_term(b)}" for a, b in zip(one.entries, other.entries, strict=True)])
    )


def _norm(found: _Array) -> _Array:
    return _Array(ONE_BY_ONE, [f"sqrt({_inner(found, found).entries[0]})"])


def _crossed(one: _Array, other: _Array) -> _Array:
    if len(one.entries) != 3 or len(other.entries) != 3:
        raise NoLawError("a cross product of vectors that have not three entries")
    (a, b, c), (d, e, f) = (map(_term, found.entries) for found in (one, other))
    return _Array(Shape(3, 1), [f"({b}*{f} - {c}*{e})", f"({c}*{d} - {a}*{f})", f"({a}*{e} - {b}*{d})"])


_FUNCTIONS: dict[str, Callable[..., _Array]] = {
    "transpose": _transposed,
    "sum": _summed,
    "inner": _inner,
    "norm": _norm,
    "cross": _crossed,
}
"""Of whole vectors and matrices; all others are of their entries."""
