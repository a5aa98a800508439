"""Sign checks of a POG: section by section in ladders, by the skew symmetry of the connection part in meshes.

At a section of a ladder the path from what enters the right part to what leaves it has an even number of minus signs when power
counts as positive to the right; the path through the left part then has an odd one. Each column adds to what is known about the
rest of the ladder, so both passes together take linear time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, final

from tellegen.expressions import ZERO, Expression, is_zero
from tellegen.schemes.gains import signal_gains
from tellegen.schemes.pog_scheme import Column, Direction, Ladder, PogScheme, Section

Parity = Literal["even", "odd", "mixed", ""]
"""Of the minus signs along the paths through a part; empty where no path leads back out of it."""


@final
@dataclass(frozen=True, slots=True)
class SectionParity:
    """The parity of the paths through both parts that a section cuts a ladder into, and the direction of positive power."""

    section: str
    right: Parity
    left: Parity
    direction: Direction

    @property
    def consistent(self) -> bool:
        """Whether one part is even and the other odd, as far as there are paths."""
        return "mixed" not in (self.right, self.left) and (not self.right or not self.left or self.right != self.left)


@final
@dataclass(frozen=True, slots=True)
class SignCheck:
    """Whether the signs of a scheme conserve power, by which test, and where not."""

    test: Literal["section by section", "skew"]
    problems: tuple[str, ...]

    @property
    def consistent(self) -> bool:
        """Whether nothing was found."""
        return not self.problems


def check_signs(scheme: PogScheme) -> SignCheck:
    """Check that signs conserve power: section by section in ladders, else that the connection part is skew, term by term.

    A resistive field joins ladders, so that it asks for the second test too.
    """
    if not scheme.vectorial and not any(block.terms for block in scheme.blocks.values()):
        parities = section_parity(scheme)
        wrong = [
            p for p in parities.values() if not p.consistent or p.direction != scheme.sections[p.section].direction
        ]
        return SignCheck("section by section", tuple(_section_problem(scheme, p) for p in wrong))
    return SignCheck("skew", tuple(_not_skew(scheme)))


def _section_problem(scheme: PogScheme, parity: SectionParity) -> str:
    section = scheme.sections[parity.section]
    return f"section {section.across}, {section.through}: right part {parity.right or 'open'}, left part {parity.left or 'open'}"


def section_parity(scheme: PogScheme) -> dict[str, SectionParity]:
    """For each section of the ladders, the parity of the paths through its right and left part; empty for meshed schemes."""
    passes = _Passes(scheme)
    for ladder in scheme.ladders:
        passes.rightmost_first(ladder)
        passes.leftmost_first(ladder)
    return {name: passes.parity(section) for name, section in scheme.sections.items()} if scheme.ladders else {}


class _Passes:
    """The two passes over the columns of ladders: what the parts to the right do, then what those to the left do."""

    def __init__(self, scheme: PogScheme) -> None:
        self.scheme = scheme
        self.right: dict[str, Parity] = {}
        self.left: dict[str, Parity] = {}

    def parity(self, section: Section) -> SectionParity:
        """What both passes found at a section."""
        right, left = self.right.get(section.name, ""), self.left.get(section.name, "")
        if not right and not left:  # no path leads back: whatever the scheme says is right
            return SectionParity(section.name, right, left, section.direction)
        rightwards = right == "even" if right else left == "odd"
        return SectionParity(section.name, right, left, "right" if rightwards else "left")

    def rightmost_first(self, ladder: Ladder) -> None:
        """What the parts to the right of each section do."""
        for column in reversed(ladder.columns):
            if column.branch is not None:
                self.rightmost_first(column.branch)
            if column.left:
                section = self.scheme.sections[column.left]
                edges = self._edges(column, beyond=(column.right,), branch=True)
                self.right[column.left] = _through(edges, section.into_right, section.into_left)

    def leftmost_first(self, ladder: Ladder) -> None:
        """What the parts to the left of each section do; the right parts are known."""
        for column in ladder.columns:
            if column.right:
                section = self.scheme.sections[column.right]
                edges = self._edges(column, beyond=(column.left,), branch=True)
                self.left[column.right] = _through(edges, section.into_left, section.into_right)
            if column.branch is not None and column.branch.entry:
                section = self.scheme.sections[column.branch.entry]
                edges = self._edges(column, beyond=(column.left, column.right), branch=False)
                self.left[section.name] = _through(edges, section.into_left, section.into_right)
                self.leftmost_first(column.branch)

    def _edges(self, column: Column, *, beyond: Iterable[str], branch: bool) -> list[tuple[str, str, Parity]]:
        """The signal paths inside a column, and those through the parts beyond some of its sections."""
        scheme = self.scheme
        edges: list[tuple[str, str, Parity]] = []
        for name in column.blocks:
            block = scheme.blocks[name]
            edges.append((block.input, block.output, _parity(block.sign)))
        for output in column.summations:
            edges += [(name, output, _parity(sign)) for name, sign in scheme.summations[output].inputs]
        for name in beyond:
            section = scheme.sections.get(name)
            if section is None:
                continue
            if name == column.right:
                edges.append((section.into_right, section.into_left, self.right.get(name, "")))
            else:
                edges.append((section.into_left, section.into_right, self.left.get(name, "")))
        if branch and column.branch is not None and column.branch.entry:
            section = scheme.sections[column.branch.entry]
            edges.append((section.into_right, section.into_left, self.right.get(section.name, "")))
        return [edge for edge in edges if edge[2]]


def _parity(sign: int) -> Parity:
    return "even" if sign > 0 else "odd"


def _together(one: Parity, two: Parity) -> Parity:
    if "mixed" in (one, two):
        return "mixed"
    return "even" if one == two else "odd"


def _through(edges: list[tuple[str, str, Parity]], start: str, end: str) -> Parity:
    """The common parity of the simple paths from one signal to another over a handful of edges."""
    found: set[Parity] = set()
    stack: list[tuple[str, Parity, frozenset[str]]] = [(start, "even", frozenset((start,)))]
    while stack:
        here, parity, seen = stack.pop()
        for tail, head, sign in edges:
            if tail != here:
                continue
            reached = _together(parity, sign)
            if head == end:
                found.add(reached)
            elif head not in seen:
                stack.append((head, reached, seen | {head}))
    if not found:
        return ""
    return found.pop() if len(found) == 1 else "mixed"


def _not_skew(scheme: PogScheme) -> Iterable[str]:
    """The pairs of elements between which the connection part is not skew: power would appear or vanish between them."""
    decided, told, sign = _ports(scheme)
    gains = signal_gains(scheme, list(told.values()), cut_static=True)
    names = list(decided)
    for i, one in enumerate(names):
        for two in names[i:]:
            there = _signed(gains[told[one]], decided[two], sign[one])
            back = _signed(gains[told[two]], decided[one], sign[two])
            if not is_zero(there + back):
                yield f"{one} and {two}"


def _signed(gains: Mapping[str, Expression], start: str, sign: int) -> Expression:
    gain = gains.get(start, ZERO)
    return gain if sign > 0 else -gain


def _ports(scheme: PogScheme) -> tuple[dict[str, str], dict[str, str], dict[str, int]]:
    """By element and source: the signal it decides, the one it is told, and the sign that makes their product the power taken."""
    decided: dict[str, str] = {}
    told: dict[str, str] = {}
    sign: dict[str, int] = {}
    for block in scheme.blocks.values():
        if block.kind != "connection":
            decided[block.name], told[block.name], sign[block.name] = block.output, block.input, block.sign
    for source, name, output in zip(scheme.sources(), scheme.inputs, scheme.outputs, strict=True):
        decided[source.name], told[source.name], sign[source.name] = name, output.signal, -output.sign
    return decided, told, sign
