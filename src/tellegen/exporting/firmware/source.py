"""The two files of a step in C: what is handed over, how long a step is, and how the model goes on."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, gcd, lcm
from pathlib import Path
from typing import Final, Literal, final, get_args

import numpy as np
from scipy.linalg import expm

from tellegen.compiler.c_source import c_functions, c_text
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.context import Array
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.routines import sample_groups
from tellegen.compiler.statements import Newton, Routine, all_statements, needed_statements
from tellegen.compiler.steps import variable
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, identifier
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.simulating import simulate
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged, ExchangedVariable, Sources, exchanged
from tellegen.exporting.fmu.source import array_text, comment_text
from tellegen.expressions import C_PRELUDE
from tellegen.expressions.functions import FUNCTIONS
from tellegen.model.model import Model

Method = Literal["exact", "rk4", "rosenbrock", "midpoint"]

STEPS = 5000
"""Of the experiment, where nothing says how long a step is."""
FINEST = 0.05
"""Of that, to meet breaks of courses."""
LOOKS = 30
"""At so many times of the experiment it is seen how fast the model is."""
STABLE = 2.5
"""Times the inverse of the fastest rate: the method of order 4 is stable up to 2.78 for a decay, and to 2.83 for an oscillation."""
WHOLE = 1e-9


@final
@dataclass(frozen=True)
class Stepping:
    """The step in seconds, the method and why, each sampled group's period and first instant in steps, and for
    `exact` its matrices: one, or three where courses of time move."""

    step: float
    method: Method
    reason: str
    periods: tuple[int, ...]
    offsets: tuple[int, ...]
    held: Array


def stepping(made: Exchanged, step: Quantity | None, method: str | None, *, is_part: bool) -> Stepping:
    """How the model advances; `is_part` says that its experiment does not tell how fast it is.

    Raises: ExportError for a method that there is not (X407), a period that is no multiple of the step (X412), or a method
        that does not fit the model or the step (X413).
    """
    if method is not None and method not in get_args(Method):
        fix = did_you_mean(method, get_args(Method)) or f"give {', '.join(get_args(Method))}"
        raise rules.UNKNOWN_OPTION.error(f"there is no method '{method}' for fixed steps", fix=fix)
    grids = _grids(made)
    h = _chosen_step(made, grids, is_part=is_part) if step is None else value_of(step, SECOND, "step")
    if not h > 0.0:
        raise rules.STEP.error(f"a step of {h:g} s goes nowhere", fix="give a positive one, as 'step=1e-4'")
    counts = [_counts(made, names, period, offset, h) for names, period, offset in grids]
    numeric = compile_model(made.causal)
    # The slopes of a linear model are the same everywhere.
    slopes = _slopes(numeric, made, is_part=is_part or numeric.linear)
    fastest = max((float(np.max(np.abs(np.linalg.eigvals(j)), initial=0.0)) for j in slopes), default=0.0)
    word, reason = _chosen_method(made, numeric, method, h, fastest)
    moves = any("t" in routine.words_read() for routine in made.code.routines if routine.name == "rhs")
    held = _held(slopes[0] if slopes else np.zeros((0, 0)), h, moves=moves) if word == "exact" else np.zeros((0, 0, 0))
    return Stepping(h, word, reason, tuple(p for p, _ in counts), tuple(o for _, o in counts), held)


def _grids(made: Exchanged) -> list[tuple[list[str], float, float]]:
    """The names, period and offset of each group of samples."""
    samples, values = made.code.program.signals.samples, made.setup.parameters
    found = []
    for members in sample_groups(samples):
        law = samples[members[0]][0]
        names = [samples[k][0].name for k in members]
        found.append((names, law.period.evaluate(values), law.offset.evaluate(values)))
    return found


def _chosen_step(made: Exchanged, grids: Sequence[tuple[list[str], float, float]], *, is_part: bool) -> float:
    """One of which periods are multiples, and times at which courses break where that asks for no much finer one."""
    values, most = made.setup.parameters, np.inf if is_part and grids else made.setup.until / STEPS
    sampled = [t for _, *both in grids for t in both if t]
    broken = [e.evaluate(values) for known in made.breaks for e in (known.at, known.period) if e is not None]
    for times in ([*sampled, *(t for t in broken if 0.0 < t < made.setup.until)], sampled):
        base = _common_share(times)
        # Breaks at odd times would make steps as short as their last digit.
        if base is not None and (base >= FINEST * most or times is sampled):
            return base / max(ceil(base / most - WHOLE), 1)
    return most


def _common_share(times: Sequence[float]) -> float | None:
    """The longest time of which all are multiples."""
    parts = [Fraction(t).limit_denominator(10**9) for t in times]
    return float(Fraction(gcd(*(t.numerator for t in parts)), lcm(*(t.denominator for t in parts)))) if parts else None


def _counts(made: Exchanged, names: Sequence[str], period: float, offset: float, h: float) -> tuple[int, int]:
    """Period and offset in steps. Raises: ExportError (X412)."""
    # What changes as soon as its condition does is looked at in each step.
    if not period:
        return 1, 0
    counts = [round(t / h) for t in (period, offset)]
    for word, t, n in zip(("every", "first after"), (period, offset), counts, strict=True):
        if abs(n * h - t) > WHOLE * max(t, h) or (word == "every" and n < 1):
            raise rules.STEP.error(
                f"'{names[0]}' is sampled {word} {t:g} s, which is no multiple of a step of {h:g} s",
                where=names[0],
                fix="give a step that divides the period",
            )
    return counts[0], counts[1]


def _slopes(numeric: NumericModel, made: Exchanged, *, is_part: bool) -> list[Array]:
    """The slopes of the rates by the states at the start; where a run of the experiment says more, along it."""
    if not numeric.size:
        return []
    points = [(0.0, np.array(made.start))]
    inputs = {v.name: v.start or 0.0 for v in made.by_role.get("input", ())}
    if not is_part:
        try:
            run = simulate(made.setup.model, samples=LOOKS, progress=False, on_failure="return")
            points += [(float(t), np.array([run.values(n)[k] for n in numeric.names])) for k, t in enumerate(run.t)]
        except TellegenError:
            pass  # the start alone tells then
    found = []
    for t, y in points:
        context = numeric.new_context(inputs=inputs)
        try:
            columns = [numeric.rhs_tangent(t, y, dy, context=context) for dy in np.eye(numeric.size)]
        except FloatingPointError:
            continue
        if np.all(np.isfinite(columns)):
            found.append(np.array(columns).T)
    return found


def _chosen_method(
    made: Exchanged, numeric: NumericModel, asked: str | None, h: float, fastest: float
) -> tuple[Method, str]:
    longest = STABLE / fastest if fastest > 0.0 else np.inf
    match asked:
        case "exact" if not numeric.linear:
            raise rules.STEP_METHOD.error(
                f"'{made.name}' is not linear, and only a linear model has exact steps",
                where=made.name,
                fix="choose rk4, or rosenbrock where the model is stiff",
            )
        case "rk4" if h > longest:
            raise rules.STEP_METHOD.error(
                f"a step of {h:g} s is too long for rk4: with rates of {fastest:.3g}/s errors grow beyond {longest:.2g} s",
                where=made.name,
                fix=f"give a step below {longest:.2g} s, or the method rosenbrock",
            )
        case "exact" | "rk4" | "rosenbrock" | "midpoint":
            return asked, "it was asked for"
        case _:
            pass
    if numeric.linear:
        return "exact", "the model is linear"
    if h <= longest:
        return "rk4", f"the fastest rate is {fastest:.3g}/s"
    return "rosenbrock", f"rk4 would not be stable with rates of {fastest:.3g}/s"


def _held(slopes: Array, h: float, *, moves: bool) -> Array:
    """What a step adds for each rate that is held, row by row; where courses move, for those at both ends and in the middle.

    phi_k(z) = the sum of z^i/(i + k)!, all by one exponential, of h A with ones behind it (Sidje 1998).
    """
    n = len(slopes)
    if not n:
        return np.zeros((1, 0, 0))
    both = np.zeros((4 * n, 4 * n))
    both[:n, :n] = h * slopes
    both[: 3 * n, n:] += np.eye(3 * n)
    one, two, three = (h * expm(both)[:n, k * n : (k + 1) * n] for k in (1, 2, 3))
    return np.array([one - 3 * two + 4 * three, 4 * two - 8 * three, 4 * three - two] if moves else [one])


Real = Literal["float", "double"]

_TOKEN: Final = re.compile(
    r"(?P<text>/\*.*?\*/|\"[^\"]*\"|#include[^\n]*)|(?P<word>[A-Za-z_]\w*)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)",
    re.DOTALL,
)
_CALLED: Final = {f.c for f in FUNCTIONS.values() if f.c and f.c != "tellegen_sign"} | {"pow", "fmod"}
_SINGLE: Final = {"double": "float", "HUGE_VAL": "HUGE_VALF", **{name: f"{name}f" for name in _CALLED}}

LIMITS: Final[dict[str, dict[str, str]]] = {
    "double": {
        "TG_EPSILON": "2.220446049250313e-16",
        "TG_SMALL": "1e-9",
        "TG_SETTLED": "1e-13",
        "TG_UNMOVED": "1e-11",
        "TG_CLOSED": "1e-16",
        "TG_LEAST": "1e-300",
        "TG_LEAST_SHARE": "1e-14",
        "TG_MOST_LIMIT": "640",
    },
    "float": {
        "TG_EPSILON": "1.1920929e-07",
        "TG_SMALL": "1e-3",
        "TG_SETTLED": "1e-6",
        "TG_UNMOVED": "1e-5",
        "TG_CLOSED": "1e-10",
        "TG_LEAST": "1e-37",
        "TG_LEAST_SHARE": "1e-6",
        "TG_MOST_LIMIT": "80",
    },
}
"""What numbers of each kind can tell apart."""

EXACT_AT: Final = {1: "{0.5}", 3: "{inside, 0.5, 1.0 - inside}"}
"""Where in the step an exact one asks for rates."""


def c_files(
    model: Model,
    name: str,
    *,
    step: Quantity | None = None,
    method: str | None = None,
    real: Real = "double",
    sources: Sources = "open",
    variables: Sequence[str] = (),
    inputs: Sequence[str] = (),
    controller: bool = False,
) -> dict[str, str]:
    """The step of a model, or of its controller alone.

    Raises: ExportError for what a step cannot hold (X401, X402, X408 to X410, X412, X413), or for a word that is not known (X407).
    """
    for option, given, known in (("real", real, get_args(Real)), ("sources", sources, get_args(Sources))):
        if given not in known:
            fix = did_you_mean(given, known) or f"give {' or '.join(known)}"
            raise rules.UNKNOWN_OPTION.error(f"'{option}' is '{given}'", fix=fix)
    made = exchanged(
        model,
        sources,
        variables,
        with_nominal=False,
        with_modes=False,
        from_outside=inputs,
        controller=controller,
    )
    return _Step(made, stepping(made, step, method, is_part=controller or bool(inputs)), name, real).files()


class _Step:
    """The files of one model."""

    def __init__(self, made: Exchanged, how: Stepping, name: str, real: Real) -> None:
        self.made, self.how, self.name, self.real = made, how, name, real
        routines = {routine.name: routine for routine in made.code.routines}
        self.shown = [v for v in made.variables if v.is_output]
        self.observe = self._observed(routines["observe"])
        self.routines = [routines["rhs"], self.observe, *(r for n, r in routines.items() if n.startswith("sample_"))]
        if how.method in ("midpoint", "rosenbrock"):
            self.routines.append(routines["rates_along"])
        self.inputs = made.by_role.get("input", ())

    def _observed(self, observe: Routine) -> Routine:
        """The outputs alone; states among them are no observables."""
        leaves = {i: k for k, (word, i) in observe.leaves.items() if word == "y"}
        places = {"state": leaves, "observable": dict(enumerate(range(len(observe.results))))}
        results = [
            variable(places["state"][v.place]) if v.role == "state" else observe.results[v.place] for v in self.shown
        ]
        return replace(observe, statements=needed_statements(observe.statements, results), results=results)

    def files(self) -> dict[str, str]:
        """Both, by name."""
        words = {f"tg_{word}": f"{self.name}_{word}" for word in ("state", "input", "output", "start", "step")}
        words |= {"M_PI": "TG_PI", "TG_LONG": "", "TG_RARE": ""}  # which would slow down what every step calls
        texts = {f"{self.name}.h": self._header(), f"{self.name}.c": self._source()}
        return {place: _real_text(text, self.real, words) for place, text in texts.items()}

    def _header(self) -> str:
        """What a caller includes."""
        made, how = self.made, self.how
        code, guard = made.code, f"{self.name.upper()}_H"
        states = "; ".join(f"y[{k}] {n}" for k, n in enumerate(made.states)) or "no states"
        memory = "; ".join(f"memory[{k}] {law.name}" for k, (law, _) in enumerate(code.program.signals.samples))
        groups = len(how.periods)
        return f"""\
/* {comment_text(made.name)}: one step of {how.step!r} s, written by Tellegen. All values are in SI units.
 *
 * {self.name}_start sets a state to where the model begins. {self.name}_step takes the inputs of this moment, takes the samples
 * that are due, shows the outputs of this moment, and lets the state go on by one step, while the inputs are held. It returns 0;
 * or 1 where a value is not finite or a loop was not solved: then the state is as it was, and the outputs too.
 *
 * Method: {how.method}, because {how.reason}. Nothing is allocated, and nothing but the three structs changes.
 */
#ifndef {guard}
#define {guard}

typedef struct tg_state {{
  double y[{max(len(made.states), 1)}]; /* {comment_text(states)} */
  double rest[{max(len(made.states), 1)}]; /* what rounding left over of each */
  double memory[{max(len(code.program.signals.samples), 1)}]; /* {comment_text(memory or "nothing is sampled")} */
  double values[{code.data.scratch}]; /* solutions of loops, where the next search begins */
  unsigned long wait[{max(groups, 1)}]; /* steps until samples are due */
  unsigned long steps; /* so many were made: the time is this often the step */
}} tg_state;

typedef struct tg_input {{
{self._fields(self.inputs)}
}} tg_input;

typedef struct tg_output {{
{self._fields(self.shown)}
}} tg_output;

void tg_start(tg_state *state);
int tg_step(tg_state *state, const tg_input *input, tg_output *output);

#endif
"""

    def _fields(self, variables: Sequence[ExchangedVariable]) -> str:
        names = _field_names(variables)
        lines = [
            f"  double {n}; /* {comment_text(f'{v.name} [{v.unit}]' if v.unit else v.name)} */"
            for n, v in zip(names, variables, strict=True)
        ]
        return "\n".join(lines or ["  char nothing;"])

    def _source(self) -> str:
        """What a caller compiles beside his own files."""
        has_loops = any(isinstance(s, Newton) for r in self.routines for s in all_statements(r.statements))
        support = c_text("support.h") + (c_text("loops.h") if has_loops else "")
        groups = sample_groups(self.made.code.program.signals.samples)
        functions = c_functions(self.routines, self.made.code.places, len(groups))
        for name in ("tg_rhs", "tg_observe", "tg_sample", "tg_rates_along"):
            functions = functions.replace(f"int {name}(tg_context *c", f"static int {name}(tg_context *c")
        parts = [
            f'#include "{self.name}.h"\n',
            C_PRELUDE,
            "\n".join(f"#define {word} {value}" for word, value in self._sizes().items()),
            _own("context.h"),
            "\n".join(self._tables(groups)),
            support,
            functions,
            "\n".join(self._handed_over()),
            _own(f"{self.how.method}.c"),
            _own("step.c"),
        ]
        return "\n".join(parts)

    def _sizes(self) -> dict[str, object]:
        made, program = self.made, self.made.code.program
        samples = [r for r in self.routines if r.name.startswith("sample_")]
        courses = len(self.how.held)
        return {
            "TG_STEP": repr(self.how.step),
            **LIMITS[self.real],
            "TG_Y": len(made.states),
            "TG_U": len(self.inputs),
            "TG_MEMORY": len(program.signals.samples),
            "TG_SCRATCH": made.code.data.scratch,
            "TG_GROUPS": len(self.how.periods),
            "TG_OUTPUTS": len(self.shown),
            **({"TG_COURSES": courses, "TG_AT": EXACT_AT[courses]} if self.how.method == "exact" else {}),
            "TG_SAMPLES_READ_RATES": int(any("yp" in r.words_read() for r in samples)),
            "TG_OUTPUTS_READ_RATES": int("yp" in self.observe.words_read()),
        }

    def _tables(self, groups: Sequence[Sequence[int]]) -> Iterator[str]:
        made, how = self.made, self.how
        values, samples = made.setup.parameters, made.code.program.signals.samples
        yield f"/* {comment_text(', '.join(made.code.base)) or 'There are no parameters.'} */"
        yield array_text("double", "parameters", [values[name] for name in made.code.base])
        yield array_text("double", "tables", made.code.data.tables.tolist())
        yield array_text("double", "first_y", list(made.start))
        yield array_text("double", "first_memory", [law.initial.evaluate(values) for law, _ in samples])
        yield array_text("unsigned long", "first_wait", how.offsets)
        yield array_text("unsigned long", "periods", how.periods)
        yield array_text("int", "group_of", [g for k in range(len(samples)) for g, m in enumerate(groups) if k in m])
        if how.method == "exact":
            yield array_text("double", "held", how.held.ravel().tolist())

    def _handed_over(self) -> Iterator[str]:
        """From the structs that a caller sees to the arrays of the model, and back."""
        inputs, outputs = _field_names(self.inputs), _field_names(self.shown)
        yield "static void tg_take(const tg_input *input, double *u) {"
        yield from (f"  u[{v.place}] = input->{n};" for n, v in zip(inputs, self.inputs, strict=True))
        yield from () if inputs else ("  (void)input, (void)u;",)
        yield "}\n"
        yield "static void tg_give(const double *out, tg_output *output) {"
        yield from (f"  output->{n} = out[{k}];" for k, n in enumerate(outputs))
        yield from () if outputs else ("  (void)out, (void)output;",)
        yield "}\n"


def _own(name: str) -> str:
    return (Path(__file__).parent / "native" / name).read_text(encoding="ascii")


def _field_names(variables: Iterable[ExchangedVariable]) -> list[str]:
    """The names of the fields of a struct.

    Raises: ExportError (X406) where two would be one.
    """
    found: dict[str, str] = {}
    for v in variables:
        name = identifier(v.name)
        if name in found:
            what = f"'{found[name]}' and '{v.name}' would both be '{name}' in C"
            raise rules.ONE_NAME.error(what, where=v.name, fix=f"give '{v.name}' another name")
        found[name] = v.name
    return list(found)


def _real_text(text: str, real: Real, words: Mapping[str, str]) -> str:
    """The text with other words for some of its words, and, for `float`, with numbers and functions of single precision.

    Raises: ExportError (X407) for a number that is too large for it.
    """

    def changed(token: re.Match[str]) -> str:
        word, found = token["word"], token[0]
        if word:
            # The functions of math.h have another name for each kind, and a call of the wrong one is slow and silent.
            return words[word] if word in words else _SINGLE.get(word, word) if real == "float" else word
        if token["number"] and real == "float" and any(mark in found for mark in ".eE"):
            return _single(found)
        return found

    return _TOKEN.sub(changed, text)


def _single(text: str) -> str:
    if abs(float(text)) > float(np.finfo(np.float32).max):
        raise rules.UNKNOWN_OPTION.error(f"{text} is too large for a float", fix="give real='double' (--real double)")
    return f"{text}f"
