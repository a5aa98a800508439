"""C for large models: one function for each template, run over the index tables of the context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

from tellegen.compiler.c_source import SUPPORT
from tellegen.compiler.context import Integers
from tellegen.compiler.index_tables import (
    EXTERNAL_LOOKUP,
    LAWS,
    OPERATION,
    PAST_LOOKUP,
    PLACES,
    SIGNED,
    SLOPE,
    TABLE,
    WEIGHTED,
    Constants,
    IndexTables,
    looped_forms,
)
from tellegen.compiler.numeric_model import SparsityPattern, pattern_of_rows
from tellegen.compiler.program import Program, is_linear_program, rates_divide, residual_supports
from tellegen.compiler.routines import sample_groups
from tellegen.compiler.steps import Step, needed_steps
from tellegen.expressions import C_PRELUDE, ZERO, Expression, derivative, symbol, total
from tellegen.expressions.c import CWriter

_RUNTIME = r"""
#define S(place) (c->structure[place]) /* an entry of the header */

/* Rows: targets, starts, sources. The source of a negative sign is its complement. */
static void tg_signed(int n, const int *ix, double *v) {
  const int *starts = ix + n, *sources = starts + n + 1;
  for (int r = 0, e = 0; r < n; r++) {
    double sum = 0.0;
    for (; e < starts[r + 1]; e++) { const int s = sources[e]; sum += s >= 0 ? v[s] : -v[~s]; }
    v[ix[r]] = sum;
  }
}
static void tg_weighted(int n, const int *ix, const double *k, const double *dk, const double *v, double *out) {
  const int *starts = ix + n, *sources = starts + n + 1, *gains = sources + starts[n];
  for (int r = 0, e = 0; r < n; r++) {
    double sum = 0.0;
    for (; e < starts[r + 1]; e++) {
      sum += k[gains[e]] * out[sources[e]];
      if (dk) sum += dk[gains[e]] * v[sources[e]];
    }
    out[ix[r]] = sum;
  }
}
"""

_DRIVER = r"""
static void tg_load(tg_context *c, double t, const double *y, const double *yp) {
  const int n = S(AT_y), m = S(AT_inputs), k = S(AT_memory);
  double *v = c->values;
  v[0] = t;
  for (int i = 0; i < n; i++) v[1 + i] = y[i];
  for (int i = 0; i < n; i++) v[1 + n + i] = yp ? yp[i] : 0.0;
  for (int i = 0; i < m; i++) v[1 + 2 * n + i] = c->inputs[i];
  for (int i = 0; i < k; i++) v[1 + 2 * n + m + i] = c->memory[i];
}
/* The same for those of y and yp alone that powers read. */
static void tg_load_for_powers(tg_context *c, double t, const double *y, const double *yp) {
  const int n = S(AT_y), count = S(N_power_leaves), *leaves = c->structure + S(AT_power_leaves);
  if (2 * count > n) { tg_load(c, t, y, yp); return; }
  const int rest = S(AT_inputs), held = S(AT_memory);
  double *v = c->values;
  v[0] = t;
  for (int i = 0; i < count; i++) v[1 + leaves[i]] = leaves[i] < n ? y[leaves[i]] : yp[leaves[i] - n];
  for (int i = 0; i < rest; i++) v[1 + 2 * n + i] = c->inputs[i];
  for (int i = 0; i < held; i++) v[1 + 2 * n + rest + i] = c->memory[i];
}

/* Tangents of the leaves, and of the constants behind those of the variables; null where parameters stay. */
static const double *tg_load_tangents(tg_context *c, const double *dy, const double *dyp, const double *dp) {
  const int n = S(AT_y), rest = S(AT_inputs) + S(AT_memory);
  double *d = c->tangents, *dk = d + S(AT_variables);
  d[0] = 0.0;
  for (int i = 0; i < n; i++) { d[1 + i] = dy ? dy[i] : 0.0; d[1 + n + i] = dyp ? dyp[i] : 0.0; }
  for (int i = 0; i < rest; i++) d[1 + 2 * n + i] = 0.0;
  if (!dp) return 0;
  const int count = S(AT_slopes_values), constants = S(AT_constants), *rows = c->structure + S(AT_slopes), *columns = rows + count;
  for (int i = 0; i < constants; i++) dk[i] = 0.0;
  for (int e = 0; e < count; e++) dk[rows[e]] += c->constants[constants + e] * dp[columns[e]];
  return dk;
}

static int tg_gather(tg_context *c, const double *v, int place, int count, double *out, int first) {
  const int *ix = c->structure + place;
  for (int i = 0; i < count; i++) out[i] = v[ix[i]];
  return tg_checked(c, out, count, first);
}

#define RUN(name) tg_run(c, c->structure + S(AT_##name), S(N_##name))
#define FOLLOW(name) tg_follow(c, c->structure + S(AT_##name), S(N_##name), dk)
#define GATHER(v, name, out, first) tg_gather(c, v, S(AT_##name), S(N_##name), out, first)

int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_load(c, t, y, yp);
  RUN(core); RUN(residual_steps);
  return GATHER(c->values, residuals, out, 0);
}
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *dy, const double *dyp, const double *dp,
               double *out) {
  tg_load(c, t, y, yp);
  const double *dk = tg_load_tangents(c, dy, dyp, dp);
  RUN(core);
  FOLLOW(core); FOLLOW(residual_steps);
  return GATHER(c->tangents, residuals, out, 0);
}
static void tg_all(tg_context *c, double t, const double *y, const double *yp) {
  tg_load(c, t, y, yp);
  RUN(core); RUN(observing);
}
int tg_observe(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_all(c, t, y, yp);
  return GATHER(c->values, observables, out, S(AT_y));
}
int tg_events(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_all(c, t, y, yp);
  const int *ix = c->structure + S(AT_events);
  for (int i = 0; i < S(N_events); i++) out[i] = c->values[ix[i]];
  return 0;
}
/* Sums without the rounding of many small terms (Neumaier 1974). */
static double tg_total(const double *v, const int *ix, int n) {
  double sum = 0.0, lost = 0.0;
  for (int i = 0; i < n; i++) {
    const double x = v[ix[i]], next = sum + x;
    lost += fabs(sum) >= fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  return sum + lost;
}
static int tg_sum_powers(tg_context *c, double *out) {
  const int *s = c->structure, *starts = s + S(AT_resistive), count = S(N_resistive), *ports = starts + count + 1;
  double lost = 0.0, made = 0.0;
  for (int i = 0; i < count; i++) {
    double power = 0.0;
    for (int e = starts[i]; e < starts[i + 1]; e++) power += c->values[ports[e]];
    if (power > 0.0) lost += power; else made -= power;
  }
  out[0] = tg_total(c->values, s + S(AT_supplied), S(N_supplied));
  out[1] = lost;
  out[2] = made;
  out[3] = tg_total(c->values, s + S(AT_modulation), S(N_modulation));
  return tg_checked(c, out, 4, S(AT_y));
}
int tg_powers(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_load_for_powers(c, t, y, yp);
  RUN(power_steps);
  return tg_sum_powers(c, out);
}
int tg_balance(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_all(c, t, y, yp);
  out[4] = tg_total(c->values, c->structure + S(AT_stored), S(N_stored));
  return tg_sum_powers(c, out) || tg_checked(c, out + 4, 1, S(AT_y));
}
/* Samples: for each signal its group, its place in memory and the variable of its next value. */
int tg_sample(tg_context *c, double t, const double *y, const double *yp, int group, double *memory) {
  tg_all(c, t, y, yp);
  const int *ix = c->structure + S(AT_samples);
  for (int i = 0; i < S(N_samples); i++)
    if (ix[3 * i] == group) memory[ix[3 * i + 1]] = c->values[ix[3 * i + 2]];
  return 0;
}
"""

_SOLVED = r"""
int tg_rhs(tg_context *c, double t, const double *y, double *out) {
  tg_load(c, t, y, 0);
  RUN(core); RUN(rate_steps);
  return GATHER(c->values, rates, out, 0);
}
int tg_rhs_tangent(tg_context *c, double t, const double *y, const double *dy, const double *dp, double *out) {
  tg_load(c, t, y, 0);
  const double *dk = tg_load_tangents(c, dy, 0, dp);
  RUN(core);
  FOLLOW(core); FOLLOW(rate_steps);
  return GATHER(c->tangents, rates, out, 0);
}
"""


_DIVIDED = r"""
/* F = m yp - g with a diagonal m: F at rest gives -g, the tangent along ones gives m. */
static void tg_mass(tg_context *c) {
  const int n = S(AT_y);
  const double *dk = tg_load_tangents(c, 0, 0, 0);
  for (int i = 0; i < n; i++) c->tangents[1 + n + i] = 1.0;
  FOLLOW(core); FOLLOW(residual_steps);
}
int tg_rhs(tg_context *c, double t, const double *y, double *out) {
  const int n = S(AT_y), *ix = c->structure + S(AT_residuals);
  tg_load(c, t, y, 0);
  RUN(core); RUN(residual_steps);
  tg_mass(c);
  for (int i = 0; i < n; i++) out[i] = -c->values[ix[i]] / c->tangents[ix[i]];
  return tg_checked(c, out, n, 0);
}
int tg_rhs_tangent(tg_context *c, double t, const double *y, const double *dy, const double *dp, double *out) {
  const int n = S(AT_y), *ix = c->structure + S(AT_residuals);
  if (tg_rhs(c, t, y, out)) return 1;
  tg_load(c, t, y, out);
  RUN(core);
  tg_mass(c);
  for (int i = 0; i < n; i++) out[i] = -1.0 / c->tangents[ix[i]];
  const double *dk = tg_load_tangents(c, dy, 0, dp);
  FOLLOW(core); FOLLOW(residual_steps);
  for (int i = 0; i < n; i++) out[i] *= c->tangents[ix[i]];
  return tg_checked(c, out, n, 0);
}
"""

RateForm = Literal["solved", "divided", "none"]
"""How yp follows: each residual is solved for its rate, or divided by a diagonal mass matrix, or not at all."""

_RATES: Mapping[RateForm, str] = {"solved": _SOLVED, "divided": _DIVIDED, "none": ""}


def looped_source(templates: Mapping[Expression, tuple[int, int, int]], places: Sequence[int], rates: RateForm) -> str:
    """The translation unit: it depends on the templates, and on nothing that counts elements."""
    laws = [_law(template, *shape) for template, shape in templates.items()]
    parts = [C_PRELUDE, SUPPORT, _places(), _RUNTIME, *laws, _run(templates, places), _DRIVER]
    return "\n".join([*parts, _RATES[rates]])


def _places() -> str:
    """Where the header of the structure says what: AT_name where a table begins, N_name how long it is."""
    words = {name: f"N_{name.removesuffix('_count')}" if name.endswith("_count") else f"AT_{name}" for name in PLACES}
    return "".join(f"#define {words[name]} {k}\n" for name, k in PLACES.items())


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


def _run(templates: Mapping[Expression, tuple[int, int, int]], places: Sequence[int]) -> str:
    values = "".join(f"      case {LAWS + n}: law_{n}(n, ix, k, v); break;\n" for n, _, _ in templates.values())
    tangents = "".join(
        f"      case {LAWS + n}: law_{n}_d(n, ix, k, dk, v, d); break;\n" for n, _, _ in templates.values()
    )
    tables = ", ".join(map(str, places)) or "0"
    return f"""
static void tg_run(tg_context *c, const int *op, int count) {{
  static const int tables[] = {{{tables}}};
  double *v = c->values;
  const double *k = c->constants;
  for (int j = 0; j < count; j++, op += {OPERATION}) {{
    const int n = op[1], *ix = c->structure + op[2];
    switch (op[0]) {{
      case {SIGNED}: tg_signed(n, ix, v); break;
      case {WEIGHTED}: tg_weighted(n, ix, k, 0, v, v); break;
      case {TABLE}: v[ix[0]] = tg_table(c->tables + tables[op[3]], v[ix[1]]); break;
      case {SLOPE}: v[ix[0]] = tg_slope(c->tables + tables[op[3]], v[ix[1]]); break;
      case {PAST_LOOKUP}: v[ix[0]] = c->past ? c->past(c->history, op[3], v[ix[1]]) : v[ix[2]]; break;
{_external_case()}{values}    }}
  }}
}}
static void tg_follow(tg_context *c, const int *op, int count, const double *dk) {{
  static const int tables[] = {{{tables}}};
  const double *v = c->values, *k = c->constants;
  double *d = c->tangents;
  for (int j = 0; j < count; j++, op += {OPERATION}) {{
    const int n = op[1], *ix = c->structure + op[2];
    switch (op[0]) {{
      case {SIGNED}: tg_signed(n, ix, d); break;
      case {WEIGHTED}: tg_weighted(n, ix, k, dk, v, d); break;
      case {TABLE}: d[ix[0]] = tg_slope(c->tables + tables[op[3]], v[ix[1]]) * d[ix[1]]; break;
      case {SLOPE}: case {PAST_LOOKUP}: case {EXTERNAL_LOOKUP}: d[ix[0]] = 0.0; break;
{tangents}    }}
  }}
}}
"""


def _external_case() -> str:
    return (
        f"      case {EXTERNAL_LOOKUP}: {{\n        double given[64];\n"
        "        for (int i = 0; i < 64 && i < op[1]; i++) given[i] = v[ix[1 + i]];\n"
        "        v[ix[0]] = c->external(op[3], given);\n        break;\n      }\n"
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
    enough, read = needed_steps(steps, powers)
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
