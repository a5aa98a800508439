"""A model as an ordered list of steps, what its numbers stand for, and what its residuals depend on, and whether linearly.

In factored form a sum may hold terms that cancel, such as the through variables that enter and leave part of a network. Rows are
therefore kept as combinations with exact residues: what cancels is not there, and the pattern stays as sparse as the physics.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import final

from tellegen.compiler.numeric_model import EventFunction, Observable
from tellegen.compiler.steps import LawGroup, LinearRows, Lookup, Step, derived_template
from tellegen.expressions import MINUS_ONE, ONE, PRIME, Expression
from tellegen.graph.signals import Break, Delayed, External, Sampled, Table


@final
@dataclass(frozen=True)
class BookVariables:
    """The variables whose sums are the energy books.

    `supplied` counts out of sources, `resistive` into elements (several ports of one element together), `modulation` is the work
    that moves the parameters of storages, `stored` are energies.
    """

    supplied: list[int]
    resistive: list[list[int]]
    modulation: list[int]
    stored: list[int]


@final
@dataclass
class ProgramSignals:
    """The variables of signals, by name in `numbers`. `rates` gives the variable of the rate of each signal state."""

    numbers: dict[str, int] = field(default_factory=dict)
    states: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    rates: dict[int, int] = field(default_factory=dict)
    samples: list[tuple[Sampled, int]] = field(default_factory=list)
    delays: list[tuple[Delayed, int]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    externals: list[External] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    crossings: dict[Expression, None] = field(default_factory=dict)
    courses: dict[Expression, None] = field(default_factory=dict)
    driven: dict[int, Expression] = field(default_factory=dict)
    """What sources that a signal drives decide, and the formula."""
    of_time: dict[str, Expression] = field(default_factory=dict)
    """Signals that follow from time and parameters alone, written out."""
    returning: list[str] = field(default_factory=list)
    """The delays whose input follows, at once or through others, from what they gave before."""
    unfelt: list[Expression] = field(default_factory=list)
    """Formulas of time that drive a source which no rate reads: a resistor across a source, beside a circuit of its own."""


@final
@dataclass(frozen=True)
class Program:
    """Steps compute every variable from the leaves: time, y = [states, displacements, signal states, unknowns], yp, inputs, memory.

    `core` are the steps that F needs, `observing` those that only observables, books, events and samples need; both in order.
    `residuals[i]` is F for y[i]; `rates[i]` the variable of yp[i]. `formulas` are parameters given by others, in order.
    Values of parameters are no part of it, for no step depends on them.
    """

    name: str
    names: list[str]
    time: int
    states: list[int]
    displacements: list[int]
    unknowns: list[int]
    rates: list[int]
    inputs: list[int]
    core: list[Step]
    observing: list[Step]
    residuals: list[int]
    observables: list[tuple[Observable, int]]
    books: BookVariables
    events: list[tuple[EventFunction, int]]
    contents: list[tuple[int, int, int]]
    signals: ProgramSignals
    parameters: tuple[str, ...]
    formulas: Mapping[str, Expression]

    @property
    def y(self) -> list[int]:
        """The variables of y."""
        return [*self.states, *self.displacements, *self.signals.states, *self.unknowns]


FEWEST_ENTRIES, FEWEST_WITH_UNKNOWNS, ENTRIES_EACH = 1_000_000, 30_000, 12
"""A pattern is dense when variables depend on more entries than the first, and than the last for each of them; where there are
unknowns anyway, a few more cost little."""

_NOTHING: frozenset[int] = frozenset()


class DensePatternError(Exception):
    """The residuals of a large program depend on too much."""


def residual_supports(program: Program, leaves: Iterable[Sequence[int]], *, dense: bool = False) -> list[list[int]]:
    """For each residual the places in the lists of leaves that it depends on, in order.

    Raises: DensePatternError when there are more of them than a sparse solver, or the memory, can do with, but where `dense`.
    """
    # Cutting sums into unknowns is dear where there are none yet, for the model stops being explicit by it.
    fewest = FEWEST_WITH_UNKNOWNS if program.unknowns else FEWEST_ENTRIES
    found = _Supports(leaves, inf if dense else max(fewest, ENTRIES_EACH * len(program.names)))
    for step in program.core:
        if isinstance(step, LinearRows):
            found.rows(step)
            continue
        for r, target in enumerate(step.targets):
            # A formula is bent: what it reads cannot cancel any more, so the combinations end here.
            found.set(target, step.reads(r))
    return [sorted(found.of(k)) for k in program.residuals]


class _Supports:
    def __init__(self, leaves: Iterable[Sequence[int]], most: float) -> None:
        self.left = most
        self.shared: dict[frozenset[int], frozenset[int]] = {}
        self.atoms = {k: frozenset((i,)) for numbers in leaves for i, k in enumerate(numbers)}
        self.combinations: dict[int, dict[int, int]] = {}
        self.residues: dict[Expression, int] = {ONE: 1, MINUS_ONE: -1}

    def of(self, k: int) -> frozenset[int]:
        """What a variable depends on."""
        combination = self.combinations.get(k)
        if combination is None:
            return self.atoms.get(k, _NOTHING)
        return _NOTHING.union(*[self.atoms.get(atom, _NOTHING) for atom in combination])

    def set(self, target: int, arguments: Sequence[int]) -> None:
        """A variable given by a formula."""
        found = self.of(arguments[0]) if len(arguments) == 1 else _NOTHING.union(*map(self.of, arguments))
        # Equal sets are one object: many variables of a large model depend on the same ones.
        self.atoms[target] = self.shared.setdefault(found, found)
        self._count(len(found))

    def _count(self, entries: int) -> None:
        self.left -= entries
        if self.left < 0:
            raise DensePatternError

    def rows(self, rows: LinearRows) -> None:
        """Variables given by sums."""
        for r, target in enumerate(rows.targets):
            total: dict[int, int] = {}
            for source, gain in rows.entries(r):
                factor = self._residue(gain)
                inner = self.combinations.get(source)
                if inner is None:
                    total[source] = total.get(source, 0) + factor
                    continue
                for atom, value in inner.items():
                    total[atom] = (total.get(atom, 0) + factor * value) % PRIME
            # Exactly zero means cancelled: floats would leave rounding there, and with it an entry in the pattern.
            self.combinations[target] = {atom: value for atom, value in total.items() if value % PRIME}
            self._count(len(total))

    def _residue(self, gain: Expression) -> int:
        found = self.residues.get(gain)
        if found is None:
            values = gain.residues()
            # One that has no residue counts as one: at worst an entry too many.
            found = self.residues[gain] = 1 if values is None else values[0]
        return found


def is_linear_program(program: Program) -> bool:
    """Whether F is affine in y and yp, with factors that only parameters change."""
    varying = (program.time, *program.inputs, *program.signals.memory)
    return _is_affine_in((*program.y, *program.rates), varying, program)


def rates_divide(program: Program) -> bool:
    """Whether each residual is affine in its own rate and free of all others, so that a division gives the rate."""
    if program.unknowns or not _is_affine_in(program.rates, (), program):
        return False
    # The mass matrix is diagonal then.
    return all(row == [i] for i, row in enumerate(residual_supports(program, (program.rates,))))


def _is_affine_in(leaves: Iterable[int], others: Iterable[int], program: Program) -> bool:
    """Whether every formula is affine in what depends on the leaves, with factors that depend neither on them nor on others."""
    moving, varying = set(leaves), set(others)
    for step in program.core:
        slopes = _slopes_read(step)
        for r, target in enumerate(step.targets):
            read = step.reads(r)
            # Affine in slot s: the slope by it may read neither what moves nor what varies with time.
            for s, slots in enumerate(slopes):
                if read[s] in moving and any(read[a] in moving or read[a] in varying for a in slots):
                    return False
            if not moving.isdisjoint(read):
                moving.add(target)
            # What is looked up may change at any time, whatever it reads.
            if isinstance(step, Lookup) or not varying.isdisjoint(read):
                varying.add(target)
    return True


def _slopes_read(step: Step) -> list[set[int]]:
    """For each slot of a step the slots that the slope by it reads; a lookup is bent in all of its own, and a sum in none."""
    match step:
        case LinearRows():
            return []
        case Lookup():
            return [{s} for s in range(len(step.arguments))]
        case LawGroup():
            count = len(step.arguments)
            return [set(derived_template(step.template, count, (s,)).arguments) - {count} for s in range(count)]
