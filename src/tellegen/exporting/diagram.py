"""A block diagram as a value: integrators, gains, sums, functions, samples and delays joined by named signals, in order of
evaluation.

It is what a Power-Oriented Graph says when its sections are forgotten. Simulink draws it; the m-file integrates it. A ladder
keeps its blocks. What a ladder cannot say (dependent storages, fields, algebraic loops, unknowns) is told by the vector block
L x' = -A x - N x - f + B u + B_1 u' instead.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Literal, final

from tellegen.core.names import TIME, unused
from tellegen.expressions import Expression, symbol
from tellegen.expressions.nodes import Add, Symbol
from tellegen.graph.signals import Table


def fresh(name: str, taken: set[str]) -> str:
    """A name that none of those taken has, with underscores behind it where it must; it is taken then."""
    name = unused(name, taken)
    taken.add(name)
    return name


FormulaKind = Literal["gain", "sum", "function", "source"]


@final
@dataclass(frozen=True, slots=True)
class Formula:
    """A signal that follows from others at the same time.

    A gain has one input and a `factor`, a sum signed `terms`; functions and sources (which read the time alone) only their
    expression, which says the same for all of them. `column` is the place in the ladder, empty for what is not part of one.
    """

    name: str
    kind: FormulaKind
    expression: Expression
    terms: tuple[tuple[str, int], ...] = ()
    factor: Expression | None = None
    column: str = ""


def formula(name: str, expression: Expression, parameters: Container[str]) -> Formula:
    """A formula as the plainest block that says it: a gain of one signal, a sum of signals, a source, else a function."""
    # Sorted, so that one model gives the same file each time: sets of texts come in another order in each process.
    signals = [read for read in sorted(expression.free_symbols) if read not in parameters]
    if len(signals) == 1:
        # A gain is what is proportional to one signal, by a factor of parameters alone.
        factor = expression.derivative(signals[0])
        if factor * symbol(signals[0]) == expression and signals[0] not in factor.free_symbols:
            return Formula(name, "gain", expression, ((signals[0], 1),), factor)
    # A clock feeds it: on the page it stands where inputs come from.
    if set(signals) <= {TIME}:
        return Formula(name, "source", expression)
    # Simulink's sum takes signs alone; whatever has another factor or a constant is a function.
    if isinstance(expression, Add) and not expression.constant:
        terms = [
            (term.name, int(sign)) for term, sign in expression.terms if isinstance(term, Symbol) and abs(sign) == 1
        ]
        # Every term is a plain signal, and none is there twice.
        if len(terms) == len(expression.terms) == len(signals):
            return Formula(name, "sum", expression, tuple(terms))
    return Formula(name, "function", expression)


@final
@dataclass(frozen=True, slots=True)
class Integrator:
    """A signal that is the integral of another one, from its initial value on."""

    name: str
    rate: str
    initial: float
    column: str = ""


@final
@dataclass(frozen=True, slots=True)
class Hold:
    """A signal that takes the value of a formula every period and keeps it in between."""

    name: str
    expression: Expression
    period: float
    offset: float
    initial: float


@final
@dataclass(frozen=True, slots=True)
class TransportDelay:
    """A signal that repeats another one, `source`, a constant time later; `initial` until that time has passed."""

    name: str
    source: str
    by: float
    initial: float


@final
@dataclass(frozen=True, slots=True)
class Inertia:
    """The rates of states that are coupled: `matrix` times them is what arrives at the integrators."""

    rates: tuple[str, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    right: tuple[str, ...]
    column: str = ""


@final
@dataclass(frozen=True, slots=True)
class DiagramUnknowns:
    """Signals that make residuals vanish, with a first guess."""

    names: tuple[str, ...]
    residuals: tuple[Expression, ...]
    guesses: tuple[float, ...]


MatrixKind = Literal["gain", "integrator", "sum", "function", "zero", "collect", "apart", "shown"]
BlockLine = Literal["upper", "lower", "between"]


@final
@dataclass(frozen=True, slots=True)
class MatrixBlock:
    """A block of a vector scheme as its figure has it; wires are vectors, and each is called as the block that makes it.

    A gain has a `matrix`, or its inverse; a sum `signs`, an integrator `initial` values. A function has `rows`, in which `names`
    stand for the entries of its wire. What collects signals, or takes a wire apart into signals, has their `names` with signs.
    `place` and `line` tell where it stands.
    """

    name: str
    reads: tuple[str, ...]
    size: int
    place: int
    line: BlockLine
    kind: MatrixKind
    matrix: tuple[tuple[Expression, ...], ...] = ()
    inverted: bool = False
    signs: str = ""
    initial: tuple[float, ...] = ()
    rows: tuple[Expression, ...] = ()
    names: tuple[tuple[str, int], ...] = ()


NO_UNKNOWNS = DiagramUnknowns((), (), ())


@final
@dataclass(frozen=True, slots=True)
class DiagramColumn:
    """A column of a ladder or of a vector block: its place from the left, its row, and the power sections on both sides.

    A section is told by its across and its through variable.
    """

    name: str
    place: int
    row: int
    sections: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, slots=True)
class Diagram:
    """All blocks. `formulas` stand in the order of evaluation; `recorded` names what a run shows.

    `readings` follow from the rates of states and feed nothing back: forces of constraints, and what signals make of them.
    `stops` are times at which an input jumps or bends, up to `until`.
    """

    name: str
    parameters: Mapping[str, float]
    formulas: tuple[Formula | Table, ...]
    integrators: tuple[Integrator, ...]
    recorded: tuple[str, ...]
    until: float
    readings: tuple[Formula | Table, ...] = ()
    inertia: Inertia | None = None
    unknowns: DiagramUnknowns = NO_UNKNOWNS
    holds: tuple[Hold, ...] = ()
    delays: tuple[TransportDelay, ...] = ()
    stops: tuple[float, ...] = ()
    stiff: bool = False
    vectorial: bool = False
    columns: tuple[DiagramColumn, ...] = ()
    scheme: tuple[MatrixBlock, ...] = ()

    # `scheme` says once more what formulas, integrators and inertias of the vector rows say: as blocks of a figure.

    def expressions(self, *, inertia: bool = True) -> list[Expression]:
        """All formulas, or those outside the matrix of inertias."""
        expressions = [hold.expression for hold in self.holds]
        expressions += self.unknowns.residuals
        expressions += [formula_of(item) for item in (*self.formulas, *self.readings)]
        if self.inertia is not None and inertia:
            expressions += [entry for row in self.inertia.matrix for entry in row]
        return expressions

    def names_read(self) -> set[str]:
        """The names in all formulas."""
        return set().union(*(e.free_symbols for e in self.expressions()))

    def names_given(self) -> set[str]:
        """The names of all signals."""
        # States and signals share their names with blocks, so that lines in Simulink are called as in the model.
        made = {item.name for item in (*self.formulas, *self.readings, *self.integrators, *self.holds, *self.delays)}
        return made | {*self.unknowns.names, *(self.inertia.rates if self.inertia is not None else ())}


def formula_of(item: Formula | Table) -> Expression:
    """What a formula or a table reads its value from."""
    return item.argument if isinstance(item, Table) else item.expression


def in_evaluation_order(formulas: Iterable[Formula | Table]) -> tuple[Formula | Table, ...] | None:
    """Formulas and tables sorted so that each reads only what stands before it; None where they go in a circle."""
    by_name = {item.name: item for item in formulas}
    # Names that no formula makes are states, inputs or parameters, which are known before any formula is.
    reads = {name: sorted(formula_of(item).free_symbols & by_name.keys()) for name, item in by_name.items()}
    try:
        return tuple(by_name[name] for name in TopologicalSorter(reads).static_order())
    except CycleError:
        return None
