"""A model as an ordered list of steps over numbered variables, and what its numbers stand for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from tellegen.compiler.numeric_model import EventFunction, Observable
from tellegen.compiler.steps import Step
from tellegen.core.errors import Finding
from tellegen.expressions import Expression
from tellegen.graph.signals import Break, Delayed, External, Sampled, Table


@final
@dataclass(frozen=True)
class Books:
    """The variables whose sums are the energy books.

    `supplied` counts out of sources, `resistive` into elements (several ports of one element together), `modulation` is the work
    that moves the parameters of storages, `stored` are energies.
    """

    supplied: list[int]
    resistive: list[list[int]]
    modulation: list[int]
    stored: list[int]


@final
@dataclass(frozen=True)
class Program:
    """Steps compute every variable from the leaves: time, y = [states, displacements, signal states, unknowns], yp, inputs, memory.

    `core` are the steps that F needs, `observing` those that only observables, books, events and samples need; both in order.
    `residuals[i]` is F for y[i]; `rates[i]` the variable of yp[i]. `formulas` are parameters given by others.
    """

    name: str
    names: list[str]
    time: int
    states: list[int]
    displacements: list[int]
    signal_states: list[int]
    unknowns: list[int]
    rates: list[int]
    inputs: list[int]
    memory: list[int]
    core: list[Step]
    observing: list[Step]
    residuals: list[int]
    observables: list[tuple[Observable, int]]
    books: Books
    events: list[tuple[EventFunction, int]]
    samples: list[tuple[Sampled, int]]
    delays: list[tuple[Delayed, int]]
    tables: list[Table]
    externals: list[External]
    breaks: list[Break]
    parameters: Mapping[str, Expression | None]
    formulas: Mapping[str, Expression]
    initial: Mapping[str, Expression]
    findings: tuple[Finding, ...]
    elements: int

    @property
    def y(self) -> list[int]:
        """The variables of y."""
        return [*self.states, *self.displacements, *self.signal_states, *self.unknowns]
