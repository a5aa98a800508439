"""A large program as arrays: index tables and coefficients for code that loops over groups of equal laws.

Numbers of variables are changed so that the leaves stand first: time, y, yp, inputs, memory. Copies (rows with one term of gain
one) disappear. All index tables lie in one array of integers, all coefficients in one array of numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from tellegen.compiler.context import Array, Integers
from tellegen.compiler.program import Program
from tellegen.compiler.steps import LawGroup, LinearRows, Lookup, Step
from tellegen.compiler.time_derivatives import compact_template
from tellegen.expressions import MINUS_ONE, ONE, ZERO, Expression, Number, Symbol, derivative


@final
@dataclass(frozen=True)
class LoopedForms:
    """The core in two: what comes before the residuals, and these; `rates` compute yp where the model is explicit.

    `rate_variables` are the numbers of the variables that hold yp, in the order of y.
    """

    before: list[Step]
    residuals: list[Step]
    rates: list[Step] | None
    rate_variables: list[int]


def looped_forms(program: Program) -> LoopedForms:
    """Divide the core, and solve each residual for its own rate where that is possible for all."""
    last = set(program.residuals)
    before: list[Step] = []
    residuals: list[Step] = []
    for step in program.core:
        ends = isinstance(step, LawGroup) and all(k in last for k in step.targets)
        (residuals if ends else before).append(step)
    rates = _solved(program, before, residuals)
    return LoopedForms(before, residuals, rates[0] if rates else None, rates[1] if rates else [])


def _solved(program: Program, before: list[Step], residuals: list[Step]) -> tuple[list[Step], list[int]] | None:
    moving = set(program.rates)
    if program.unknowns or any(
        not moving.isdisjoint(step.reads(r)) for step in before for r in range(len(step.targets))
    ):
        return None
    own = dict(zip(program.residuals, program.rates, strict=True))
    place = dict(zip(program.residuals, range(len(program.residuals)), strict=True))
    found: list[Step] = []
    numbers = [-1] * len(program.residuals)
    for step in residuals:
        assert isinstance(step, LawGroup), "residuals are formulas"
        solved = _solved_group(step, own, moving, program)
        if solved is None:
            return None
        found.append(solved)
        for target, k in zip(solved.targets, step.targets, strict=True):
            numbers[place[k]] = target
    return (found, numbers) if all(k >= 0 for k in numbers) else None


def _solved_group(step: LawGroup, own: dict[int, int], moving: set[int], program: Program) -> LawGroup | None:
    """The group solved for the rate of each residual; the rate stands in the same slot for all members."""
    wanted = [own[k] for k in step.targets]
    slots = [s for s, column in enumerate(step.arguments) if column == wanted]
    others = [k for s, column in enumerate(step.arguments) if s not in slots for k in column]
    if len(slots) != 1 or not moving.isdisjoint(others):
        return None
    name = f"@{slots[0]}"
    slope = derivative(step.template, name)
    if slope is ZERO or name in slope.free_symbols:
        return None
    solved: Expression = -step.template.substitute({name: ZERO}) / slope
    kept = compact_template(solved)
    targets = []
    for k in step.targets:
        program.names.append(f"rate of {program.names[own[k]]}")
        targets.append(len(program.names) - 1)
    arguments = [step.arguments[s] for s in kept.arguments]
    return LawGroup(kept.template, targets, arguments, [step.coefficients[s] for s in kept.coefficients])


OPERATIONS = {name: k for k, name in enumerate(("SIGNED", "WEIGHTED", "TABLE", "SLOPE", "PAST", "EXTERNAL", "LAWS"))}
"""Kinds of operation: rows of signs, rows of gains, readings; LAWS + k is the template k."""

OPERATION = 4
"""Integers of an operation: its kind, how many members, where its table begins, and one of its own."""

HEADER = 40
"""Integers before the tables; `PLACES` says which is which."""

PLACES = {
    name: k
    for k, name in enumerate(
        (
            *("variables", "y", "inputs", "memory", "constants", "parameters"),
            *("core", "core_count", "residuals", "residuals_count", "residual_steps", "residual_steps_count"),
            *("rates", "rates_count", "rate_steps", "rate_steps_count", "observing", "observing_count"),
            *("observables", "observables_count", "events", "events_count", "samples", "samples_count"),
            *("supplied", "supplied_count", "resistive", "resistive_count", "modulation", "modulation_count"),
            *("stored", "stored_count", "slopes", "slopes_values", "power_steps", "power_steps_count"),
            *("power_leaves", "power_leaves_count"),
        )
    )
}


@final
class Numbering:
    """New numbers for the variables of a program, leaves first."""

    def __init__(self, program: Program) -> None:
        leaves = (program.time, *program.y, *program.rates, *program.inputs, *program.memory)
        self.new: list[int] = [-1] * len(program.names)
        self.count = 0
        for k in leaves:
            self.add(k)

    def add(self, k: int) -> int:
        """The number of a variable that is computed."""
        if self.new[k] < 0:
            self.new[k] = self.count
            self.count += 1
        return self.new[k]

    def copy(self, k: int, of: int) -> None:
        """A variable that is another one."""
        self.new[k] = self.new[of]

    def all(self, numbers: Iterable[int]) -> list[int]:
        """The numbers of variables that are known."""
        new = self.new
        return [new[k] for k in numbers]


@final
@dataclass
class Coefficients:
    """Distinct formulas of parameters, in the order of the constants; one and minus one are the first."""

    formulas: list[Expression] = field(default_factory=lambda: [ONE, MINUS_ONE])
    place: dict[Expression, int] = field(default_factory=lambda: {ONE: 0, MINUS_ONE: 1})

    def add(self, formulas: Iterable[Expression]) -> list[int]:
        """The places of formulas among the constants."""
        place, kept = self.place, self.formulas
        found = []
        for formula in formulas:
            k = place.get(formula)
            if k is None:
                k = place[formula] = len(kept)
                kept.append(formula)
            found.append(k)
        return found


@final
class IndexTables:
    """Index tables of one program, and the templates that its code needs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.numbering = Numbering(program)
        self.coefficients = Coefficients()
        self.templates: dict[Expression, tuple[int, int, int]] = {}
        self.header = [0] * HEADER
        self.blocks: list[Sequence[int] | Integers] = []
        self.size = HEADER

    def table(self, values: Sequence[int] | Integers) -> int:
        """Append integers; returns where they begin."""
        place = self.size
        self.blocks.append(values)
        self.size += len(values)
        return place

    def set(self, name: str, values: Sequence[int] | Integers, count: int | None = None) -> None:
        """A table whose place and length stand in the header."""
        self.header[PLACES[name]] = self.table(values)
        self.header[PLACES[f"{name}_count"]] = len(values) if count is None else count

    def set_steps(self, name: str, steps: Iterable[Step]) -> None:
        """Operations whose place and number stand in the header."""
        operations: list[int] = []
        for step in steps:
            operations += self._operation(step)
        self.set(name, operations, len(operations) // OPERATION)

    def structure(self) -> Integers:
        """Everything in one array."""
        arrays = [np.asarray(block, dtype=np.int32) for block in (self.header, *self.blocks)]
        return np.concatenate(arrays)

    # -- steps -----------------------------------------------------------------------------------------------------------------

    def _operation(self, step: Step) -> list[int]:
        if isinstance(step, LinearRows):
            return self._rows(step)
        if isinstance(step, Lookup):
            table = [self.numbering.add(step.target), *self.numbering.all(step.arguments)]
            return [OPERATIONS[step.kind.upper()], len(step.arguments), self.table(table), step.number]
        arguments = [self.numbering.all(column) for column in step.arguments]
        coefficients = [self.coefficients.add(column) for column in step.coefficients]
        targets = [self.numbering.add(k) for k in step.targets]
        kind = self.template(step)
        flat = [i for column in (targets, *arguments, *coefficients) for i in column]
        return [OPERATIONS["LAWS"] + kind, len(targets), self.table(flat), 0]

    def template(self, group: LawGroup) -> int:
        """The number of a template."""
        known = self.templates.get(group.template)
        if known is None:
            known = len(self.templates), len(group.arguments), len(group.coefficients)
            self.templates[group.template] = known
        return known[0]

    def _rows(self, rows: LinearRows) -> list[int]:
        """Rows with their copies left out: signed ones where all gains are signs, else weighted ones."""
        new, numbering = self.numbering.new, self.numbering
        targets: list[int] = []
        starts = [0]
        sources: list[int] = []
        gains: list[Expression] = []
        for r, target in enumerate(rows.targets):
            first, last = rows.starts[r], rows.starts[r + 1]
            if last == first + 1 and rows.gains[first] is ONE:
                numbering.copy(target, rows.sources[first])
                continue
            sources += [new[k] for k in rows.sources[first:last]]
            gains += rows.gains[first:last]
            targets.append(numbering.add(target))
            starts.append(len(sources))
        if not targets:
            return []
        if all(gain is ONE or gain is MINUS_ONE for gain in gains):
            signed = [k if gain is ONE else ~k for k, gain in zip(sources, gains, strict=True)]
            return [OPERATIONS["SIGNED"], len(targets), self.table([*targets, *starts, *signed]), 0]
        places = self.coefficients.add(gains)
        return [OPERATIONS["WEIGHTED"], len(targets), self.table([*targets, *starts, *sources, *places]), 0]


@final
class Constants:
    """The constants of a looped model at given parameters, and their derivatives by them."""

    def __init__(self, formulas: Sequence[Expression], base: Sequence[str], defined: Mapping[str, Expression]) -> None:
        self.base = base
        self.defined = defined
        self.fixed = np.zeros(len(formulas))
        self.place = {name: k for k, name in enumerate(base)}
        self.plain: list[tuple[int, int]] = []
        self.others: list[tuple[int, Expression]] = []
        for k, formula in enumerate(formulas):
            if isinstance(formula, Number):
                self.fixed[k] = float(formula.rational)
            elif isinstance(formula, Symbol) and formula.name in self.place:
                self.plain.append((k, self.place[formula.name]))
            elif formula.free_symbols:
                self.others.append((k, formula))
            else:
                self.fixed[k] = formula.evaluate({})
        self._slopes = self._derivatives()
        self._last: tuple[bytes, Array] | None = None

    def slopes_pattern(self) -> tuple[list[int], list[int]]:
        """Constants and parameters of the entries of d(constants)/d(parameters), entry by entry."""
        rows = [k for k, _ in self.plain] + [k for k, _, _ in self._slopes]
        columns = [p for _, p in self.plain] + [p for _, p, _ in self._slopes]
        return rows, columns

    def at(self, parameters: Array) -> Array:
        """Constants, then the entries of their derivatives; those of the last parameters are kept for the next run."""
        key = parameters.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._at(parameters)
        return self._last[1]

    def _at(self, parameters: Array) -> Array:
        found = self.fixed.copy()
        if self.plain:
            at, of = np.array(self.plain).T
            found[at] = parameters[of]
        entries = np.ones(len(self.plain) + len(self._slopes))
        if self.others:
            values = self._values(parameters)
            for k, formula in self.others:
                found[k] = formula.evaluate(values)
            for e, (_, _, slope) in enumerate(self._slopes, len(self.plain)):
                entries[e] = slope.evaluate(values)
        return np.concatenate([found, entries])

    def _values(self, parameters: Array) -> dict[str, float]:
        values = dict(zip(self.base, parameters.tolist(), strict=True))
        for name, formula in self.defined.items():
            values[name] = formula.evaluate(values)
        return values

    def _derivatives(self) -> list[tuple[int, int, Expression]]:
        found = []
        for k, formula in self.others:
            written = formula
            while any(name in self.defined for name in written.free_symbols):
                written = written.substitute(self.defined)
            for name in sorted(written.free_symbols):
                found.append((k, self.place[name], written.derivative(name)))
        return found
