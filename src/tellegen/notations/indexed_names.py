"""Names with indices: `n[3]` as a text, and `n[i-1]` inside a `repeat` as a pattern that gives a text for each copy."""

import re
from collections.abc import Callable
from typing import NamedTuple, final

from tellegen.core.errors import TellegenError
from tellegen.core.names import NAME, is_dotted, is_name, listing, nearest
from tellegen.expressions import Expression, Number, parse
from tellegen.notations import rules
from tellegen.notations.context import ReadingContext, split_at_commas
from tellegen.notations.network import rules as network_rules
from tellegen.notations.yaml.document import Scalar

CopyIndices = tuple[int, ...]
"""The values of the indices, outer ones first, that tell one copy of a repeated structure from the others."""

# Without zeros in front, so that `n[03]` is computed and becomes the one name `n[3]`.
_LITERAL = re.compile(rf"{NAME.pattern}\[(?:0|[1-9][0-9]*)(?:,(?:0|[1-9][0-9]*))*\]")
_INDEXED = re.compile(r"([^\[\]]*)\[(.*)\]\s*", re.DOTALL)


class NotWholeError(Exception):
    """An index came out as something that does not count."""

    def __init__(self, text: str, value: object) -> None:
        super().__init__(text)
        self.text = text
        self.value = value


@final
class NamePattern:
    """A name whose indices depend on the copy."""

    __slots__ = ("base", "parts", "text")

    def __init__(self, base: str, parts: list[Callable[[CopyIndices], int]], text: str) -> None:
        self.base = base
        self.parts = parts
        self.text = text

    def at(self, copy: CopyIndices) -> str:
        """The name in one copy."""
        if len(self.parts) == 1:
            return f"{self.base}[{self.parts[0](copy)}]"
        return f"{self.base}[{','.join([str(part(copy)) for part in self.parts])}]"


def name_at(name: str | NamePattern, copy: CopyIndices) -> str:
    """A name in one copy, whether or not it has indices."""
    return name if isinstance(name, str) else name.at(copy)


def read_name(context: ReadingContext, node: Scalar, indices: tuple[str, ...], subject: str) -> str | NamePattern:
    """A name, a name with whole numbers as indices, or inside a `repeat` a pattern."""
    text = node.text
    # A name inside a part, `left.omega`, is taken as it is: whether it is there is asked later.
    if is_dotted(text):
        return text
    if "[" not in text:
        if not is_name(text):
            raise context.bad_name(node, subject)
        return text
    return _read_indexed(context, node, indices, subject)


def read_node(context: ReadingContext, node: Scalar, indices: tuple[str, ...]) -> str | NamePattern:
    """A node: as a name, or a whole number as netlists have them."""
    text = node.text
    if is_dotted(text):
        return text
    if "[" in text:
        return _read_indexed(context, node, indices, "a node")
    if is_name(text) or (text.isascii() and text.isdigit()):
        return text
    fix = "nodes are names such as 'a', whole numbers, or 'n[3]'"
    raise context.error(rules.BAD_NODE, node, f"'{text}' cannot name a node", fix=fix)


@final
class StructureCopy(NamedTuple):
    """One copy of a repeated structure: the indices around it, outer ones first, and their values."""

    indices: tuple[str, ...] = ()
    values: CopyIndices = ()

    def __str__(self) -> str:
        return ", ".join(f"{index} = {value}" for index, value in self.counters.items())

    @property
    def counters(self) -> dict[str, int]:
        """The values by index."""
        return dict(zip(self.indices, self.values, strict=True))

    def name(self, context: ReadingContext, node: Scalar, subject: str) -> str:
        """The name that a text gives in this copy."""
        return self._at(context, node, read_name(context, node, self.indices, subject))

    def node(self, context: ReadingContext, node: Scalar) -> str:
        """The node that a text names in this copy."""
        return self._at(context, node, read_node(context, node, self.indices))

    def _at(self, context: ReadingContext, node: Scalar, name: str | NamePattern) -> str:
        try:
            return name_at(name, self.values)
        except NotWholeError as problem:
            raise not_whole_error(context, node, problem, str(self)) from None


def _read_indexed(context: ReadingContext, node: Scalar, indices: tuple[str, ...], subject: str) -> str | NamePattern:
    if _LITERAL.fullmatch(node.text):
        return node.text
    match = _INDEXED.fullmatch(node.text)
    if match is None or not is_name(match.group(1).strip()):
        raise context.bad_name(node, subject)
    base, inner = match.group(1).strip(), match.group(2)
    expressions = [integer_expression(context, node, text, indices) for _, text in split_at_commas(inner)]
    parts = [_index_function(e, indices, node.text) for e in expressions]
    pattern = NamePattern(base, parts, node.text)
    if any(e.free_symbols for e in expressions):
        return pattern
    try:
        return pattern.at(())
    except NotWholeError as problem:
        raise not_whole_error(context, node, problem, "") from None


def integer_expression(context: ReadingContext, node: Scalar, text: str, indices: tuple[str, ...]) -> Expression:
    """An expression of indices and of parameters that are whole numbers, these replaced by their values."""
    parsed = parse(text, place=context.text_place(node, max(node.text.find(text), 0)))
    # These parameters decide how many elements there are: another value makes another model.
    context.counted |= parsed.free_symbols & context.counts.keys()
    for name in sorted(parsed.free_symbols):
        if name not in indices and name not in context.counts:
            raise _unknown_index(context, node, name, indices)
    return parsed.substitute(
        {name: n for name, n in context.counts.items() if name in parsed.free_symbols and name not in indices}
    )


def _unknown_index(context: ReadingContext, node: Scalar, name: str, indices: tuple[str, ...]) -> TellegenError:
    if name in context.parameters:
        what = f"'{name}' is not a whole number, so it cannot count"
        return context.error(network_rules.BAD_RANGE, node, what, fix=f"give '{name}' as a whole number without a unit")
    known = [*indices, *context.counts]
    close = nearest(name, known)
    fix = f"did you mean '{close}'?" if close else f"known here: {listing(known)}" if known else "use whole numbers"
    return context.error(rules.UNKNOWN_NAME, node, f"'{node.text}' uses '{name}', which is not an index here", fix=fix)


def _index_function(expression: Expression, indices: tuple[str, ...], text: str) -> Callable[[CopyIndices], int]:
    """The expression as a function of the copy. Sums of multiples of indices, which are nearly all, need no expression at work."""
    # Every copy needs its names, and a model may have 200 000: whole numbers and a closure, where that is enough.
    slopes = [expression.derivative(name) for name in indices]
    affine = all(isinstance(s, Number) for s in slopes)
    start = expression.substitute(dict.fromkeys(indices, 0)) if affine else None
    if isinstance(start, Number) and type(start.rational) is int:
        weights = [(p, s.rational) for p, s in enumerate(slopes) if isinstance(s, Number) and s.rational]
        if all(type(w) is int for _, w in weights):
            return _affine(weights, start.rational, text)  # type: ignore[arg-type]  # each weight was looked at

    def general(copy: CopyIndices) -> int:
        value = expression.substitute(dict(zip(indices, copy, strict=False)))
        if not (isinstance(value, Number) and type(value.rational) is int and value.rational >= 0):
            raise NotWholeError(text, value)
        return value.rational

    return general


def _affine(weights: list[tuple[int, int]], start: int, text: str) -> Callable[[CopyIndices], int]:
    def several(copy: CopyIndices) -> int:
        value = start + sum([w * copy[p] for p, w in weights])
        if value < 0:
            raise NotWholeError(text, value)
        return value

    if len(weights) != 1:
        return several
    ((position, weight),) = weights

    def single(copy: CopyIndices) -> int:
        value = weight * copy[position] + start
        if value < 0:
            raise NotWholeError(text, value)
        return value

    return single


def not_whole_error(context: ReadingContext, node: Scalar, problem: NotWholeError, copy: str) -> TellegenError:
    """The error for an index that does not count."""
    at = f" for {copy}" if copy else ""
    what = f"an index of '{problem.text}' is {problem.value}{at}"
    return context.error(network_rules.NOT_WHOLE, node, what, fix="indices are whole numbers from 0")
