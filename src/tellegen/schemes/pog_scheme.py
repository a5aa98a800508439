"""A Power-Oriented Graph as a value: a signal-flow graph of blocks and summations, cut by power sections.

A chained or tree-like model is a ladder of columns, each with one elaboration block or one connection block between two power
sections; a junction with further neighbours has branch columns from which side ladders start. A meshed model, and one with
dependent storages, is shown as one vector block, L x' + N x = -A x + B u; its blocks and summations are there all the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, final

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.expressions import ZERO, Expression
from tellegen.graph.power_graph import PortLaw, SourceLaw
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort

BlockKind = Literal["storage", "derivative", "static", "connection", "transfer"]
ColumnKind = Literal["series", "parallel", "connection", "branch"]
Direction = Literal["right", "left"]
Matrix = tuple[tuple[Expression, ...], ...]


@final
@dataclass(frozen=True, slots=True)
class SchemeBlock:
    """output = gain * input, with an integrator before the gain in a storage and a derivative behind it in a dependent one.

    `energy` names the energy variable between integrator and gain. The gain is None where the law is not linear, or belongs to a
    storage field; the law says it then. `sign` is the one written in the gain: signs inside K count. A row of a resistive field
    adds `terms`, inputs of the other ports with their gains; `field` names it. Units are SI. A transfer block stands for a loop:
    its gain is a function of `variable`, the derivative operator.
    """

    name: str
    kind: BlockKind
    input: str
    output: str
    gain: Expression | None
    element: str
    energy: str = ""
    law: PortLaw | None = None
    sign: int = 1
    terms: tuple[tuple[str, Expression], ...] = ()
    field: str = ""
    input_unit: str = ""
    output_unit: str = ""
    energy_unit: str = ""
    variable: str = ""

    @property
    def integrator(self) -> bool:
        """Whether it integrates what it is told."""
        return self.kind == "storage"


@final
@dataclass(frozen=True, slots=True)
class Summation:
    """output = sum of sign * input. One input alone is a wire or a change of sign; none at all is zero."""

    output: str
    inputs: tuple[tuple[str, int], ...]


@final
@dataclass(frozen=True, slots=True)
class PowerSection:
    """A power section between two items (an empty name is the outside): the product of its variables is the power through it.

    Power counts as positive in `direction`. The signal of `rightward` goes to the right, that of the other variable to the left.
    `upper` is the variable on the upper line: a connection block may change it.
    """

    name: str
    left: str
    right: str
    domain: str
    across: str
    through: str
    direction: Direction
    rightward: Side
    upper: Side = "across"

    def variable(self, side: Side) -> str:
        """The name of a power variable."""
        return self.across if side == "across" else self.through

    def unit(self, side: Side) -> str:
        """The SI unit of a power variable."""
        return DOMAINS[self.domain].power(side).unit

    @property
    def into_right(self) -> str:
        """The signal that enters the right part."""
        return self.variable(self.rightward)

    @property
    def into_left(self) -> str:
        """The signal that enters the left part."""
        return self.variable(other_side(self.rightward))


@final
@dataclass(frozen=True, slots=True)
class Column:
    """One element (or connection, or branch) of a ladder, with its sections, blocks and the outputs of its summations.

    Series columns share the through variable, parallel ones the across variable. `shared` names the signal.
    """

    kind: ColumnKind
    name: str
    left: str
    right: str
    blocks: tuple[str, ...] = ()
    summations: tuple[str, ...] = ()
    shared: str = ""
    junction: str = ""
    branch: "Ladder | None" = None


@final
@dataclass(frozen=True, slots=True)
class Ladder:
    """Columns from left to right. `entry` is the section at the left end, empty where nothing stands there."""

    columns: tuple[Column, ...]
    entry: str = ""

    def all_columns(self) -> Iterator[Column]:
        """The columns of this ladder and of its side ladders."""
        for column in self.columns:
            yield column
            if column.branch is not None:
                yield from column.branch.all_columns()

    def changed(self, change: Callable[[Column], Column]) -> "Ladder":
        """The ladder with its columns and those of its side ladders changed."""
        made = [
            change(c) if c.branch is None else replace(change(c), branch=c.branch.changed(change)) for c in self.columns
        ]
        return replace(self, columns=tuple(made))


@final
@dataclass(frozen=True, slots=True)
class Output:
    """The conjugate of an input: sign * signal times the input is the power supplied."""

    signal: str
    sign: int


@final
@dataclass(frozen=True, slots=True)
class VectorBlock:
    """L x' + N x = -A x + B u + B_1 u' as one vector block; A = A_s + A_w.

    N is zero unless dependent storages follow a ratio that moves, B_1 unless a source meets a dependent storage.
    """

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    L: Matrix
    A: Matrix
    B: Matrix
    B_1: Matrix
    N: Matrix


@final
@dataclass(frozen=True)
class PogScheme:
    """A POG. `states` names the integrator blocks in the order of the state vector, `inputs` the input signals.

    `elements` are the storages, resistive elements and sources by name, `shared` the signals that several of them share, `turned`
    those that count the other way than in the model. A model whose junctions admit no strokes has no bond graph behind its scheme.
    """

    name: str
    ladders: tuple[Ladder, ...]
    sections: Mapping[str, PowerSection]
    blocks: Mapping[str, SchemeBlock]
    summations: Mapping[str, Summation]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[Output, ...]
    bond_graph: BondGraphScheme | None = field(compare=False, repr=False)
    causal: CausalGraph = field(compare=False, repr=False)
    elements: Mapping[str, OnePort] = field(repr=False)
    shared: frozenset[str] = field(default=frozenset(), repr=False)
    turned: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    vector: VectorBlock | None = None
    parts: tuple[VectorBlock, ...] = ()

    # `parts` are what `vector` was split into: blocks that are told each other's states.

    @property
    def vectorial(self) -> bool:
        """Whether the model is shown as one vector block."""
        return self.vector is not None

    def sources(self) -> Iterator[OnePort]:
        """The sources, in the order of the inputs."""
        return (item for item in self.elements.values() if isinstance(item.port.law, SourceLaw))

    @property
    def chained(self) -> bool:
        """Whether the scheme is one ladder without side ladders."""
        return len(self.ladders) == 1 and all(column.branch is None for column in self.ladders[0].columns)

    def signals(self) -> list[str]:
        """Every variable of the scheme, once."""
        # A dictionary keeps the order of first appearance, which messages and figures rely on; a set would shuffle it
        # from run to run.
        found: dict[str, None] = dict.fromkeys(self.inputs)
        for block in self.blocks.values():
            found |= {block.input: None, block.output: None} | dict.fromkeys(name for name, _ in block.terms)
        for summation in self.summations.values():
            found |= dict.fromkeys([name for name, _ in summation.inputs]) | {summation.output: None}
        return list(found)

    def __str__(self) -> str:
        """The ladder in words: sections and columns from left to right, then the sums."""
        if self.vector is not None:
            # N is printed only where it is not zero, as in the equations: most models have constant ratios.
            moving = " + N x" if any(entry is not ZERO for row in self.vector.N for entry in row) else ""
            states, inputs = ", ".join(self.vector.states), ", ".join(self.inputs)
            return f"vectorial: L x'{moving} = -A x + B u, x = [{states}], u = [{inputs}]"
        lines = [line for ladder in self.ladders for line in self._ladder_lines(ladder, "")]
        return "\n".join([*lines, *map(_sum_text, self.summations.values())])

    def _ladder_lines(self, ladder: Ladder, indent: str) -> Iterator[str]:
        if ladder.entry:
            yield indent + self._section_text(ladder.entry)
        for column in ladder.columns:
            yield f"{indent}{column.kind} {column.name or column.junction}"
            if column.branch is not None:
                yield from self._ladder_lines(column.branch, indent + "  ")
            if column.right:
                yield indent + self._section_text(column.right)

    def _section_text(self, name: str) -> str:
        section = self.sections[name]
        return f"| {section.across}, {section.through} | {'->' if section.direction == 'right' else '<-'}"


def _sum_text(summation: Summation) -> str:
    terms = " ".join(f"{'+' if sign > 0 else '-'} {name}" for name, sign in summation.inputs)
    return f"{summation.output} = {terms.removeprefix('+ ') or '0'}"


def ladder_with(scheme: PogScheme, wanted: Callable[[Column], bool]) -> tuple[Ladder, list[int]] | None:
    """The only ladder that has such columns, with their places; None where several have, or none."""
    marked = (
        (ladder, [k for k, column in enumerate(ladder.columns) if wanted(column)]) for ladder in _all(scheme.ladders)
    )
    found = [(ladder, places) for ladder, places in marked if places]
    # Rewriting several ladders at once would have to join them; the callers refuse that with a message of their own.
    return found[0] if len(found) == 1 else None


def _all(ladders: Iterable[Ladder]) -> Iterable[Ladder]:
    for ladder in ladders:
        yield ladder
        yield from _all(column.branch for column in ladder.columns if column.branch is not None)


def with_ladder(scheme: PogScheme, old: Ladder, columns: Sequence[Column]) -> PogScheme:
    """The scheme with the columns of one ladder replaced."""

    def changed(ladder: Ladder) -> Ladder:
        # By identity: two side ladders of equal elements are equal as values, and only one of them is meant.
        if ladder is old:
            return replace(ladder, columns=tuple(columns))
        return replace(ladder, columns=tuple(_with_branch(column) for column in ladder.columns))

    def _with_branch(column: Column) -> Column:
        return column if column.branch is None else replace(column, branch=changed(column.branch))

    return replace(scheme, ladders=tuple(map(changed, scheme.ladders)))


@final
@dataclass(frozen=True, slots=True)
class Rewriting:
    """A scheme after one step, and the step in words."""

    scheme: PogScheme
    account: str

    def __str__(self) -> str:
        return self.account
