"""Code for large models: C with one function for each template, run over index tables and coefficients.

Numbers of variables are changed so that the leaves stand first: time, y, yp, inputs, memory. Copies (rows with one term of gain
one) disappear. All index tables lie in one array of integers, all coefficients in one array of numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np

from tellegen.causality import CausalGraph
from tellegen.compiler.builder import build_program
from tellegen.compiler.c_source import SUPPORT, c_text
from tellegen.compiler.code import Code, base_parameters, external_signals
from tellegen.compiler.context import Array, Integers, ModelData, packed_tables
from tellegen.compiler.numeric_model import pattern_of_rows
from tellegen.compiler.program import DensePatternError, Program, is_linear_program, rates_divide, residual_supports
from tellegen.compiler.routines import sample_groups
from tellegen.compiler.steps import LawGroup, LinearRows, Lookup, Step, compact_template, split_steps
from tellegen.expressions import C_PRELUDE, MINUS_ONE, ONE, ZERO, Expression, Number, Symbol, derivative, symbol, total
from tellegen.expressions.c import CWriter


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
        # Residuals come last by nature: nothing reads them.
        ends = isinstance(step, LawGroup) and all(k in last for k in step.targets)
        (residuals if ends else before).append(step)
    rates = _solved(program, before, residuals)
    return LoopedForms(before, residuals, rates[0] if rates else None, rates[1] if rates else [])


def _solved(program: Program, before: list[Step], residuals: list[Step]) -> tuple[list[Step], list[int]] | None:
    moving = set(program.rates)
    # Where a step before the residuals reads a rate, solving each residual for its own rate would leave others in it.
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
    # One template serves the whole group, so the rate has to stand in the same slot for all of its members.
    if len(slots) != 1 or not moving.isdisjoint(others):
        return None
    name = f"@{slots[0]}"
    slope = derivative(step.template, name)
    # Only what is affine in the rate is solved for it by one division.
    if slope is ZERO or name in slope.free_symbols:
        return None
    # r(w) = r(0) + slope w, so r = 0 gives w = -r(0) / slope.
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
        # Leaves first, in the order of the arguments: C copies y, yp and inputs there in one piece each.
        leaves = (program.time, *program.y, *program.rates, *program.inputs, *program.signals.memory)
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
        # The kind of an operation beyond the fixed ones is the number of its template.
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
                # One term of gain one: both names share a number, and no code runs for the row.
                numbering.copy(target, rows.sources[first])
                continue
            sources += [new[k] for k in rows.sources[first:last]]
            gains += rows.gains[first:last]
            targets.append(numbering.add(target))
            starts.append(len(sources))
        if not targets:
            return []
        # A Kirchhoff sum needs no multiplications: the sign is in the index itself, by its complement.
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
        # Sorted once, for a sweep asks for the constants of each run: numbers, bare parameters, and what must be
        # evaluated.
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
        # Many runs follow each other with the same parameters, and a large model has hundreds of thousands of
        # constants.
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
            # Slopes are by the parameters that are given: what others define is written out first.
            while any(name in self.defined for name in written.free_symbols):
                written = written.substitute(self.defined)
            for name in sorted(written.free_symbols):
                found.append((k, self.place[name], written.derivative(name)))
        return found


RateForm = Literal["solved", "divided", "none"]
"""How yp follows: each residual is solved for its rate, or divided by a diagonal mass matrix, or not at all."""

_SHARED = c_text("looped.h")
_RATES: Mapping[RateForm, str] = {
    "solved": "#define TG_SOLVED_RATES\n",
    "divided": "#define TG_DIVIDED_RATES\n",
    "none": "",
}


def looped_source(templates: Mapping[Expression, tuple[int, int, int]], places: Sequence[int], rates: RateForm) -> str:
    """The translation unit: it depends on the templates, and on nothing that counts elements."""
    laws = [_law(template, *shape) for template, shape in templates.items()]
    return "\n".join([C_PRELUDE, SUPPORT, _defined(places), *laws, _choice(len(laws)), _RATES[rates], _SHARED])


def _defined(places: Sequence[int]) -> str:
    """Kinds of operation, where the header of the structure says what (AT_name where a table begins, N_name how long it is), and
    where each table of the model begins."""
    words = {name: f"N_{name.removesuffix('_count')}" if name.endswith("_count") else f"AT_{name}" for name in PLACES}
    numbers = {"TG_OPERATION": OPERATION, **{f"TG_{name}": k for name, k in OPERATIONS.items()}} | {
        words[name]: k for name, k in PLACES.items()
    }
    tables = ", ".join(map(str, places)) or "0"
    defined = "".join(f"#define {name} {k}\n" for name, k in numbers.items())
    return f"{defined}static const int tg_tables[] = {{{tables}}};\n"


def _law(template: Expression, number: int, arguments: int, coefficients: int) -> str:
    """Two loops: the values of a template, and its tangents."""
    names = {f"@{k}": f"v[a{k}[i]]" for k in range(arguments)}
    names |= {f"#{k}": f"k[c{k}[i]]" for k in range(coefficients)}
    tables = [*(f"a{k}" for k in range(arguments)), *(f"c{k}" for k in range(coefficients))]
    declared = "".join(f", *{name} = ix + {j} * n" for j, name in enumerate(tables, 1))
    head = f"const int *o = ix{declared};"
    unused = "".join(f"(void){name}; " for name in tables)
    value = _loop([template], names)
    along = {f"d@{k}": f"d[a{k}[i]]" for k in range(arguments)}
    slope = total(derivative(template, f"@{k}") * symbol(f"d@{k}") for k in range(arguments))
    moved = total(derivative(template, f"#{k}") * symbol(f"d#{k}") for k in range(coefficients))
    with_constants = along | {f"d#{k}": f"dk[c{k}[i]]" for k in range(coefficients)}
    # Without dp the loop is shorter, and nearly every tangent is asked for without: Jacobians never need it.
    plain, full = _loop([slope], names | along), _loop([slope + moved], names | with_constants)
    if moved is ZERO:
        full = plain
    return (
        f"static void law_{number}(int n, const int *ix, const double *k, double *v) {{\n"
        f"  {head} (void)k; {unused}\n  for (int i = 0; i < n; i++) {{\n{value}    v[o[i]] = r0;\n  }}\n}}\n"
        f"static void law_{number}_d(int n, const int *ix, const double *k, const double *dk, const double *v, double *d) {{\n"
        f"  {head} (void)k; (void)v; {unused}\n"
        f"  if (dk) for (int i = 0; i < n; i++) {{\n{full}    d[o[i]] = r0;\n  }}\n"
        f"  else for (int i = 0; i < n; i++) {{\n{plain}    d[o[i]] = r0;\n  }}\n}}\n"
    )


def _loop(expressions: list[Expression], names: Mapping[str, str]) -> str:
    writer = CWriter(names)
    writer.count(expressions)
    lines = []
    for j, expression in enumerate(expressions):
        text = writer.write(expression)
        lines += writer.lines
        writer.lines = []
        lines.append(f"const double r{j} = {text};")
    return "".join(f"    {line}\n" for line in lines)


def _choice(laws: int) -> str:
    """The laws by their numbers."""
    values = "".join(f"    case {n}: law_{n}(n, ix, k, v); break;\n" for n in range(laws))
    tangents = "".join(f"    case {n}: law_{n}_d(n, ix, k, dk, v, d); break;\n" for n in range(laws))
    return (
        "static void tg_law(int law, int n, const int *ix, const double *k, double *v) {\n"
        f"  (void)n; (void)ix; (void)k; (void)v;\n  switch (law) {{\n{values}  }}\n}}\n"
        "static void tg_law_d(int law, int n, const int *ix, const double *k, const double *dk, const double *v, double *d) {\n"
        f"  (void)n; (void)ix; (void)k; (void)dk; (void)v; (void)d;\n  switch (law) {{\n{tangents}  }}\n}}\n"
    )


def looped_code(causal: CausalGraph) -> Code:
    """Loops over tables; a model whose equations would be long keeps its sums as unknowns.

    Where that does not help, as in a long chain whose forces are solved for all at once, everything depends on everything.
    """
    plain = build_program(causal)
    try:
        return _looped(plain)
    except DensePatternError:
        pass
    try:
        # Sums as unknowns make every equation short: the pattern is sparse again, at the price of the explicit form.
        return _looped(build_program(causal, cut=True))
    except DensePatternError:
        return _looped(plain, dense=True)


def _looped(program: Program, *, dense: bool = False) -> Code:
    """Lay a program out as arrays; `dense` allows residuals that depend on everything."""
    base = base_parameters(program)
    tables, places = packed_tables(program.signals.tables)
    forms = looped_forms(program)
    layout = IndexTables(program)
    layout.set_steps("core", forms.before)
    layout.set_steps("residual_steps", forms.residuals)
    layout.set("residuals", layout.numbering.all(program.residuals))
    layout.set_steps("rate_steps", forms.rates or [])
    layout.set("rates", layout.numbering.all(forms.rate_variables))
    layout.set_steps("observing", program.observing)
    layout.set("observables", layout.numbering.all(k for _, k in program.observables))
    layout.set("events", layout.numbering.all(k for _, k in program.events))
    read = _set_books(layout, program, [*forms.before, *program.observing])
    _set_samples(layout, program)
    constants = Constants(layout.coefficients.formulas, base, program.formulas)
    rows, columns = constants.slopes_pattern()
    layout.header[PLACES["slopes"]] = layout.table([*rows, *columns])
    sizes = {
        "variables": layout.numbering.count,
        "y": len(program.y),
        "inputs": len(program.inputs),
        "memory": len(program.signals.memory),
        "constants": len(layout.coefficients.formulas),
        "parameters": len(base),
        "slopes_values": len(rows),
    }
    for name, size in sizes.items():
        layout.header[PLACES[name]] = size
    # The cheapest way to yp that is exact: solved in closed form, divided by the diagonal mass, or left to the solver.
    how: RateForm = "solved" if forms.rates is not None else "divided" if rates_divide(program) else "none"
    return Code(
        program,
        source=looped_source(layout.templates, places, how),
        routines=[],
        base=base,
        places=places,
        y=program.y,
        explicit=how != "none",
        linear=is_linear_program(program),
        pattern=pattern_of_rows(residual_supports(program, (program.y, program.rates), dense=dense), len(program.y)),
        data=ModelData(
            scratch=layout.numbering.count + len(layout.coefficients.formulas),
            structure=layout.structure(),
            coefficients=constants.at,
            tables=tables,
            external=external_signals(program.signals.externals),
            powers_read_rates=not read.isdisjoint(program.rates),
        ),
    )


def _set_books(layout: IndexTables, program: Program, steps: Sequence[Step]) -> set[int]:
    """The tables of the books; gives the variables that powers read."""
    books, new = program.books, layout.numbering.all
    powers = [*books.supplied, *books.modulation, *(k for ports in books.resistive for k in ports)]
    # Books ask for powers at every step: what sources and losses do not need is left out, in a lossless ladder nearly
    # all.
    enough, _, read = split_steps(steps, powers)
    layout.set_steps("power_steps", enough)
    layout.set("power_leaves", [i for i, k in enumerate((*program.y, *program.rates)) if k in read])
    layout.set("supplied", new(books.supplied))
    layout.set("modulation", new(books.modulation))
    layout.set("stored", new(books.stored))
    starts = [0]
    for ports in books.resistive:
        starts.append(starts[-1] + len(ports))
    members = new(k for ports in books.resistive for k in ports)
    # Several ports of one element count together: one of them alone may give what another takes.
    layout.set("resistive", [*starts, *members], len(books.resistive))
    return read


def _set_samples(layout: IndexTables, program: Program) -> None:
    table: list[int] = []
    for g, members in enumerate(sample_groups(program.signals.samples)):
        for i in members:
            table += [g, i, *layout.numbering.all((program.signals.samples[i][1],))]
    layout.set("samples", table, len(table) // 3)
