"""A block diagram as a value: integrators, gains, sums and functions joined by named signals, in the order of their evaluation.

It is what a Power-Oriented Graph says when its sections are forgotten. Simulink draws it; the m-file integrates it. A ladder
keeps its blocks. What a ladder cannot say (dependent storages, fields, algebraic loops, unknowns) is told by the vector block
L x' = -A x - N x - f + B u + B_1 u' instead.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Literal, final

from tellegen.expressions import Expression
from tellegen.graph.signals import Table

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
class Inertia:
    """The rates of states that are coupled: `matrix` times them is what arrives at the integrators."""

    rates: tuple[str, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    right: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Unknowns:
    """Signals that make residuals vanish, with a first guess."""

    names: tuple[str, ...]
    residuals: tuple[Expression, ...]
    guesses: tuple[float, ...]


NO_UNKNOWNS = Unknowns((), (), ())


@final
@dataclass(frozen=True, slots=True)
class Diagram:
    """All blocks. `formulas` stand in the order of evaluation; `recorded` names what a run shows.

    `stops` are times at which an input jumps or bends, up to `until`.
    """

    name: str
    parameters: Mapping[str, float]
    formulas: tuple[Formula | Table, ...]
    integrators: tuple[Integrator, ...]
    recorded: tuple[str, ...]
    until: float
    inertia: Inertia | None = None
    unknowns: Unknowns = NO_UNKNOWNS
    holds: tuple[Hold, ...] = ()
    stops: tuple[float, ...] = ()
    stiff: bool = False
    vectorial: bool = False
    columns: tuple[str, ...] = field(default=())


def in_order(formulas: Iterable[Formula | Table]) -> tuple[Formula | Table, ...] | None:
    """Formulas and tables sorted so that each reads only what stands before it; None where they go in a circle."""
    by_name = {item.name: item for item in formulas}
    reads = {name: sorted(_reads(item) & by_name.keys()) for name, item in by_name.items()}
    try:
        return tuple(by_name[name] for name in TopologicalSorter(reads).static_order())
    except CycleError:
        return None


def _reads(item: Formula | Table) -> frozenset[str]:
    return item.argument.free_symbols if isinstance(item, Table) else item.expression.free_symbols
