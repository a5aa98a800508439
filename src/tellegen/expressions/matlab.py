"""Formulas in MATLAB, which Octave reads too."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import final
from zlib import crc32

from tellegen.core.names import identifier
from tellegen.expressions import nodes, printing
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.nodes import Expression, postorder

_KEYWORDS = (
    "break case catch classdef continue else elseif end for function global if otherwise parfor persistent return spmd switch "
    "try while"
)
KEYWORDS = frozenset(_KEYWORDS.split())
"""Words that cannot be names in MATLAB; they get a trailing underscore."""

OWN = "tg_"
"""What the programs write themselves begins so; a name that does too gets a trailing underscore."""

CALLED = frozenset(["pi", "true", "false", *(name for name in FUNCTIONS if name != "if")])
"""Words that formulas call; a variable of that name would hide them."""

LONGEST = 63
"""MATLAB cuts names that are longer, so that two could become one."""


@final
class _Matlab(printing.AbstractPrinter):
    words = {"and": "&&", "or": "||", "not": "~", "true": "true", "false": "false", "!=": "~="}  # noqa: RUF012

    def name(self, name: str) -> str:
        return matlab_name(name)

    def parts(self, term: Expression, pieces: dict[Expression, printing.PrintedPiece]) -> printing.Factors:
        """A product that a variable holds is not multiplied again."""
        return ((term, 1),) if pieces[term].holds == printing.ATOM else printing.factors_of(term)

    def call(self, name: str, args: Sequence[printing.PrintedPiece]) -> printing.PrintedPiece:
        # Nested, as these functions take two arguments.
        if name in ("min", "max") and len(args) > 2:
            inner = self.call(name, args[1:])
            return printing.listed(name, [args[0], inner])
        return printing.listed(name, args)


def matlab_name(name: str) -> str:
    """A name as MATLAB takes it."""
    found = printing.checked_identifier(identifier(name))
    if found in KEYWORDS or found in CALLED or found.startswith(OWN):
        found = f"{found}_"
    # A checksum of the whole name keeps long paths apart that begin alike.
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 9]}_{crc32(found.encode()):08x}"


_MATLAB = _Matlab()


@final
class MatlabLines:
    """The lines of a program that compute formulas, in order.

    MATLAB has no conditional expression, so an `if` becomes a statement and a variable. Only the branch that holds is computed:
    the root of a negative number in the other one would be complex, or an error in a block of Simulink.

    What several of the formulas `announced` have in common is computed once, before its first use: an interpreter takes its time
    for every operation. `given` are parts of formulas that variables hold already, with the texts of these.
    """

    def __init__(self, announced: Iterable[Expression] = (), given: Mapping[Expression, str] | None = None) -> None:
        self.lines: list[str] = []
        self._count = 0
        self._indent = ""
        self._given = {part: printing.PrintedPiece(text, printing.ATOM, 1) for part, text in (given or {}).items()}
        self._common = _common(announced, self._given)
        self._known: dict[Expression, printing.PrintedPiece] = {}

    def assign(self, name: str, expression: Expression) -> None:
        """Add what gives a variable the value of a formula."""
        text = self.text(expression)
        self.lines.append(f"{self._indent}{name} = {text};")

    def text(self, expression: Expression) -> str:
        """The formula in one line, behind the lines that it needs."""
        pieces: dict[Expression, printing.PrintedPiece] = {}
        # First, for what stands before them must hold their variables.
        for choice in _outer_choices(expression):
            pieces[choice] = printing.PrintedPiece(self._chosen(choice), printing.ATOM, 1)
        for node in postorder(expression):
            if node in self._given:
                pieces[node] = self._given[node]
            elif node in self._known:
                pieces[node] = self._known[node]
            elif node not in pieces:
                pieces[node] = self._kept(node, _MATLAB.piece(node, pieces))
        return pieces[expression].text

    def _kept(self, node: Expression, piece: printing.PrintedPiece) -> printing.PrintedPiece:
        """A piece, or the variable that has its value. Inside a branch nothing is kept: the other one would not have it."""
        # Only outside of branches does a line run always.
        if node not in self._common or self._indent:
            return piece
        name = f"{OWN}s{len(self._known) + 1}"
        self.lines.append(f"{name} = {piece.text};")
        self._known[node] = printing.PrintedPiece(name, printing.ATOM, 1)
        return self._known[node]

    def _chosen(self, choice: nodes.Call) -> str:
        self._count += 1
        name = f"{OWN}if{self._count}"
        condition, yes, no = choice.arguments
        outer, test = self._indent, self.text(condition)
        self.lines.append(f"{outer}if {test}")
        # The lines of a branch stand between the words around it.
        for word, branch in (("else", yes), ("end", no)):
            self._indent = f"{outer}  "
            self.assign(name, branch)
            self.lines.append(f"{outer}{word}")
        self._indent = outer
        return name


def constant_parts(expressions: Iterable[Expression], constants: Container[str]) -> list[Expression]:
    """The largest parts of formulas that read `constants` alone, each once; none of a branch of an `if`.

    A number like pi is one of them: MATLAB calls a function for it.
    """
    found: dict[Expression, None] = {}
    seen: set[Expression] = set()
    waiting = list(expressions)[::-1]
    while waiting:
        node = waiting.pop()
        if node in seen or isinstance(node, nodes.Symbol | nodes.Number | nodes.Condition) or _is_choice(node):
            continue
        seen.add(node)
        if all(name in constants for name in node.free_symbols):
            found[node] = None
        else:
            waiting += reversed(node.args)
    return list(found)


def pointwise(text: str) -> str:
    """A formula of rows, number by number."""
    return text.translate(_POINTWISE)


_POINTWISE = str.maketrans({sign: f".{sign}" for sign in "*/^"})
PLAIN = (nodes.Symbol, nodes.Number, nodes.Constant, nodes.Condition)
"""What is no operation."""


def _is_choice(node: Expression) -> bool:
    return isinstance(node, nodes.Call) and node.name == "if"


def _common(expressions: Iterable[Expression], given: Container[Expression]) -> frozenset[Expression]:
    """What formulas read more than once, but for what only branches of an `if` read: that may not be computed always."""
    uses: Counter[Expression] = Counter()
    for root in expressions:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            uses[node] += 1
            if uses[node] == 1 and not _is_choice(node) and node not in given:
                waiting += node.args
    return frozenset(n for n, count in uses.items() if count > 1 and not isinstance(n, PLAIN) and not _is_choice(n))


def _outer_choices(expression: Expression) -> list[nodes.Call]:
    """Every `if` in a formula that stands in no other one."""
    found: dict[Expression, None] = {}
    waiting, seen = [expression], {expression}
    while waiting:
        node = waiting.pop()
        if _is_choice(node):
            found[node] = None
            continue
        for part in node.args:
            if part not in seen:
                seen.add(part)
                waiting.append(part)
    return [node for node in found if isinstance(node, nodes.Call)]


def to_matlab(expression: Expression) -> str:
    """A formula without `if` in MATLAB."""
    return _MATLAB.print(expression)


def has_choice(expression: Expression) -> bool:
    """Whether there is an `if` in a formula."""
    return bool(_outer_choices(expression))
