"""C for large models: one function for each template, run over the index tables of the context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

from tellegen.compiler.c_source import SUPPORT, c_text
from tellegen.compiler.context import Integers
from tellegen.compiler.index_tables import OPERATION, OPERATIONS, PLACES, Constants, IndexTables, looped_forms
from tellegen.compiler.numeric_model import SparsityPattern, pattern_of_rows
from tellegen.compiler.program import Program, is_linear_program, rates_divide, residual_supports
from tellegen.compiler.routines import sample_groups
from tellegen.compiler.steps import Step, split_steps
from tellegen.expressions import C_PRELUDE, ZERO, Expression, derivative, symbol, total
from tellegen.expressions.c import CWriter

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


@final
@dataclass(frozen=True)
class Looped:
    """Source and tables of a large model; `constants.at(parameters)` gives the coefficients."""

    source: str
    structure: Integers
    constants: Constants
    scratch: int
    explicit: bool
    linear: bool
    pattern: SparsityPattern
    powers_read_rates: bool


def looped(program: Program, base: list[str], places: list[int], *, dense: bool = False) -> Looped:
    """Lay a program out as arrays; `dense` allows residuals that depend on everything."""
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
        "memory": len(program.memory),
        "constants": len(layout.coefficients.formulas),
        "parameters": len(base),
        "slopes_values": len(rows),
    }
    for name, size in sizes.items():
        layout.header[PLACES[name]] = size
    how: RateForm = "solved" if forms.rates is not None else "divided" if rates_divide(program) else "none"
    return Looped(
        source=looped_source(layout.templates, places, how),
        structure=layout.structure(),
        constants=constants,
        scratch=layout.numbering.count + len(layout.coefficients.formulas),
        explicit=how != "none",
        linear=is_linear_program(program),
        pattern=pattern_of_rows(residual_supports(program, (program.y, program.rates), dense=dense), len(program.y)),
        powers_read_rates=not read.isdisjoint(program.rates),
    )


def _set_books(layout: IndexTables, program: Program, steps: Sequence[Step]) -> set[int]:
    """The tables of the books; gives the variables that powers read."""
    books, new = program.books, layout.numbering.all
    powers = [*books.supplied, *books.modulation, *(k for ports in books.resistive for k in ports)]
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
    layout.set("resistive", [*starts, *members], len(books.resistive))
    return read


def _set_samples(layout: IndexTables, program: Program) -> None:
    table: list[int] = []
    for g, members in enumerate(sample_groups(program.samples)):
        for i in members:
            table += [g, i, *layout.numbering.all((program.samples[i][1],))]
    layout.set("samples", table, len(table) // 3)
