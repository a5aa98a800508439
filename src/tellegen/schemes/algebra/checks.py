"""Checks of a POG against its model: signs that conserve power, and path gains that agree with the interconnection.

At a section of a ladder the path from what enters the right part to what leaves it has an even number of minus signs when power
counts as positive to the right; the path through the left part then has an odd one. Each column adds to what is known about the
rest of the ladder, so both passes together take linear time.

A and B are the gains of the paths from states and inputs to these places. Both sides are evaluated modulo a prime, with random
values for states, inputs and parameters: once along the blocks and summations of the scheme, once by Kirchhoff's laws, couplings
and resistive laws of the model. A wrong gain would pass with a probability of about 1e-18, and the work is near-linear.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, final

from tellegen.core.domains import other_side
from tellegen.expressions import ZERO, Expression, is_zero
from tellegen.expressions.elimination import Elimination, ResidueField
from tellegen.expressions.evaluation import residues_of_name
from tellegen.expressions.nodes import PRIME
from tellegen.graph import Field, Port, ResistiveLaw, SourceLaw
from tellegen.graph.interconnection import Interconnection, column
from tellegen.schemes.gains import signal_gains
from tellegen.schemes.pog_scheme import Column, Direction, Ladder, PogScheme, PowerSection, SchemeBlock

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
    # Section by section is linear in the number of columns, and names the section; the other test needs the gains of all pairs.
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
        # Two passes as in dynamic programming on a tree: each section is asked once for the part behind it.
        passes.rightmost_first(ladder)
        passes.leftmost_first(ladder)
    return {name: passes.parity(section) for name, section in scheme.sections.items()} if scheme.ladders else {}


class _Passes:
    """The two passes over the columns of ladders: what the parts to the right do, then what those to the left do."""

    def __init__(self, scheme: PogScheme) -> None:
        self.scheme = scheme
        self.right: dict[str, Parity] = {}
        self.left: dict[str, Parity] = {}

    def parity(self, section: PowerSection) -> SectionParity:
        """What both passes found at a section."""
        right, left = self.right.get(section.name, ""), self.left.get(section.name, "")
        # A section at an open end has no closed path through it, and its direction is a matter of taste.
        if not right and not left:  # no path leads back: whatever the scheme says is right
            return SectionParity(section.name, right, left, section.direction)
        # An even right part takes the power that comes in from the left as positive (docs/theory/power_oriented_graphs.md).
        rightwards = right == "even" if right else left == "odd"
        return SectionParity(section.name, right, left, "right" if rightwards else "left")

    def rightmost_first(self, ladder: Ladder) -> None:
        """What the parts to the right of each section do."""
        for place in reversed(ladder.columns):
            if place.branch is not None:
                self.rightmost_first(place.branch)
            if place.left:
                section = self.scheme.sections[place.left]
                # The part behind a column counts as one edge with a known parity: the paths inside it need not be listed again.
                edges = self._edges(place, beyond=(place.right,), branch=True)
                self.right[place.left] = _through(edges, section.into_right, section.into_left)

    def leftmost_first(self, ladder: Ladder) -> None:
        """What the parts to the left of each section do; the right parts are known."""
        for place in ladder.columns:
            if place.right:
                section = self.scheme.sections[place.right]
                edges = self._edges(place, beyond=(place.left,), branch=True)
                self.left[place.right] = _through(edges, section.into_left, section.into_right)
            if place.branch is not None and place.branch.entry:
                section = self.scheme.sections[place.branch.entry]
                edges = self._edges(place, beyond=(place.left, place.right), branch=False)
                self.left[section.name] = _through(edges, section.into_left, section.into_right)
                self.leftmost_first(place.branch)

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
    # Mixed stays mixed: two paths of different parity on the way spoil every path that uses them.
    if "mixed" in (one, two):
        return "mixed"
    return "even" if one == two else "odd"


def _through(edges: list[tuple[str, str, Parity]], start: str, end: str) -> Parity:
    """The common parity of the simple paths from one signal to another over a handful of edges."""
    found: set[Parity] = set()
    # All simple paths are listed: a column has a handful of signals, so their number is small.
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
    # Static elements are cut out as ports: what is left of the scheme has to conserve power by itself.
    gains = signal_gains(scheme, list(told.values()), cut_static=True)
    names = list(decided)
    for i, one in enumerate(names):
        # The diagonal too: a gain from an element to itself would be a hidden resistance.
        for two in names[i:]:
            there = sign[one] * gains[told[one]].get(decided[two], ZERO)
            back = sign[two] * gains[told[two]].get(decided[one], ZERO)
            if not is_zero(there + back):
                yield f"{one} and {two}"


def _ports(scheme: PogScheme) -> tuple[dict[str, str], dict[str, str], dict[str, int]]:
    """By element and source: the signal it decides, the one it is told, and the sign that makes their product the power taken."""
    decided: dict[str, str] = {}
    told: dict[str, str] = {}
    sign: dict[str, int] = {}
    for block in scheme.blocks.values():
        if block.kind != "connection":
            # A block that was turned counts its power with the sign written in it.
            decided[block.name], told[block.name], sign[block.name] = block.output, block.input, block.sign
    for source, name, output in zip(scheme.sources(), scheme.inputs, scheme.outputs, strict=True):
        decided[source.name], told[source.name], sign[source.name] = name, output.signal, -output.sign
    return decided, told, sign


ResidueRow = dict[int, int]
CONSTANT = -1
"""The column of what is known."""


def wrong_gains(scheme: PogScheme) -> tuple[str, ...]:
    """The elements at which the scheme does not bring together what the model does; none for a scheme that `pog` made.

    Sources count as elements: each has an input and an output in the scheme, which have to be those of the equations. Where a
    modulus or a law has no value at the random point, or the scheme is not of the whole model, nothing is said.
    """
    # Reductions and transfer functions differ from the model on purpose.
    if not _is_whole(scheme):
        return ()
    sources = [item.name for item in scheme.sources()]
    if len(sources) != len(scheme.inputs) or len(sources) != len(scheme.outputs):
        return tuple(sources[min(len(scheme.inputs), len(scheme.outputs)) :]) or (scheme.name,)
    try:
        drawn, meant = _by_scheme(scheme), _by_model(scheme)
    except _NoValueError:
        return ()
    # Equality of residues at a random point: a wrong gain is found with certainty for all practical purposes. What the model tells
    # and the scheme does not is wrong as well: a port that was lost on the way.
    return tuple(name for name in {**meant, **drawn} if drawn.get(name) != meant.get(name))


def _is_whole(scheme: PogScheme) -> bool:
    """Whether a scheme shows every element of its model: a reduction leaves some out, a transfer function hides some."""
    items = scheme.elements.values()
    return (
        # By identity: a scheme that was rewritten has the very ports of its causal graph.
        {id(item.port) for item in items} == {id(port) for port in scheme.causal.graph.ports}
        and all(item.name in scheme.blocks or isinstance(item.port.law, SourceLaw) for item in items)
        and not any(block.kind == "transfer" for block in scheme.blocks.values())
    )


class _NoValueError(Exception):
    """An expression with a pole at the random point."""


def _residue(expression: Expression) -> int:
    found = expression.residues()
    if found is None:
        raise _NoValueError
    return found[0]


def _known(name: str) -> int:
    """The random value of what an element decides."""
    return residues_of_name(f"decided by {name}")[0]


def _is_followed(block: SchemeBlock) -> bool:
    """Whether a path goes on through a block at once."""
    return block.kind in ("connection", "static") and block.gain is not None


def _by_scheme(scheme: PogScheme) -> dict[str, int]:
    """What arrives at each element that ends a path, along the blocks and summations; products with what is decided are powers."""
    at = {name: k for k, name in enumerate(scheme.signals())}
    rows: list[ResidueRow] = []
    ends: dict[str, tuple[str, int]] = {}

    def is_decided(variable: str, by: str, told: str, sign: int) -> None:
        # The model does not know which variables the scheme counts the other way, so both are compared in its counting.
        way = -1 if variable in scheme.turned else 1
        rows.append({at[variable]: 1, CONSTANT: -way * _known(by) % PRIME})
        ends[by] = told, way * sign

    for summation in scheme.summations.values():
        # PRIME - 1 is the residue of -1.
        rows.append({at[summation.output]: PRIME - 1} | {at[n]: sign % PRIME for n, sign in summation.inputs})
    for block in scheme.blocks.values():
        if _is_followed(block):
            assert block.gain is not None, "a path goes on through gains only"
            row = {at[block.output]: PRIME - 1}
            for name, gain in ((block.input, block.gain), *block.terms):
                row[at[name]] = (row.get(at[name], 0) + _residue(gain)) % PRIME
            rows.append(row)
        else:
            is_decided(block.output, block.name, block.input, block.sign)
    for source, name, output in zip(scheme.sources(), scheme.inputs, scheme.outputs, strict=True):
        is_decided(name, source.name, output.signal, -output.sign)
    values = _solved(rows, at.values())
    return {name: values.get(at[signal], 0) * sign % PRIME for name, (signal, sign) in ends.items() if signal in at}


def _by_model(scheme: PogScheme) -> dict[str, int]:
    """What each element is told by the interconnection, with the laws of linear resistive elements."""
    graph = scheme.causal.graph
    ports = {id(port): k for k, port in enumerate(graph.ports)}
    interconnection = Interconnection(graph)
    rows: list[ResidueRow] = list(interconnection.rows(_residue))
    laws = {k: row for field in graph.fields for k, row in _field_laws(field, graph.ports)}
    told: dict[str, int] = {}
    for item in scheme.elements.values():
        k, block = ports[id(item.port)], scheme.blocks.get(item.name)
        if block is not None and _is_followed(block):
            # Linear losses are followed on both sides, so that gains through them are checked as well.
            rows.append(laws.get(k) or _law(k, item.port))
        elif block is not None or isinstance(item.port.law, SourceLaw):
            rows.append({column(k, item.decides): 1, CONSTANT: -_known(item.name) % PRIME})
            told[item.name] = column(k, other_side(item.decides))
    values = _solved(rows, range(interconnection.internal.stop))
    return {name: values.get(c, 0) for name, c in told.items()}


def _law(k: int, port: Port) -> ResidueRow:
    """The law of a linear resistive element as an equation."""
    law = port.resistive
    assert law.coefficient is not None, "only linear elements are followed"
    return {column(k, law.side): PRIME - 1, column(k, other_side(law.side)): _residue(law.coefficient)}


def _field_laws(field: Field, ports: tuple[Port, ...]) -> Iterable[tuple[int, ResidueRow]]:
    if not isinstance(ports[field.ports[0]].law, ResistiveLaw):
        return
    for k, entries in zip(field.ports, field.matrix, strict=True):
        row: ResidueRow = {column(k, ports[k].law.side): PRIME - 1}
        for j, entry in zip(field.ports, entries, strict=True):
            row[column(j, other_side(ports[j].law.side))] = _residue(entry)
        yield k, row


def _solved(rows: Iterable[Mapping[int, int]], columns: Iterable[int]) -> dict[int, int]:
    """The values of columns; those that nothing decides are left out."""
    elimination = Elimination(({c: e for c, e in row.items() if e} for row in rows), ResidueField())
    elimination.eliminate_all(columns)
    found = elimination.express(elimination.pivots)
    return {c: entries.get(CONSTANT, 0) for c, entries in found.items() if entries.keys() <= {CONSTANT}}
