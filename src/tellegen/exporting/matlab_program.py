"""A block diagram as MATLAB programs that need no Simulink: parameters in one file, the experiment in the other.

An interpreter spends its time on operations, not on numbers: a row of states costs as much as one. A step of Radau's method then
asks for its three stages at once, and for the slopes by all states at once.

The program evaluates the blocks in order and integrates the integrators: by Radau's method where the model is stiff, by one of
Dormand and Prince otherwise, all written out, so that Octave and MATLAB take the same steps. It stops where inputs jump and where
sampled signals take their values, and remembers its steps where signals are delayed.

What does not depend on the model is MATLAB in the folder `matlab`, one file for each thing that a program may need. Words with
`$` in it are filled in. Lines that begin with `@` are places where programs with delays have more lines (`_plain_hooks`,
`_hooks_in_modes`).

Of a model with modes there are blocks for each mode, stepped until a guard rises. Of all modes that agree with themselves the
nearest is taken next, one without a jump before one with. What follows others is handed over by conservation of contents. An
impact gives every storage 1 + e times the jump of a plastic one.

An interpreter pays for every evaluation, and a method of high order needs the fewest of them for the accuracy asked for: order 8,
as our own solver takes. What remembers a past reads it between steps, and keeps to the shorter steps of order 5.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import final

import numpy as np

from tellegen.compiler.context import monotone_slopes
from tellegen.core.names import TIME
from tellegen.exporting.diagram import Diagram, Formula, Hold, Inertia, TransportDelay, formula_of
from tellegen.exporting.mode_diagrams import HybridDiagram, ModeDiagram
from tellegen.expressions import Add, Expression, Mul, call, number, power, product, total
from tellegen.expressions.matlab import MatlabLines, constant_parts, has_choice, matlab_name, pointwise
from tellegen.graph.signals import Table
from tellegen.simulation.solvers.coefficients import DORMAND_PRINCE_8

# The steps are written out instead of left to ode45 and ode15s (decision 026). Delays read between steps and modes hand over, which
# needs them anyway. Octave's ode15s gives up at these tolerances. Both tools take the same steps: a difference is a mistake.
RTOL = 1e-9
ATOL = 1e-12
ESTIMATED = 0.1 * RTOL ** (-1 / 3)
"""The estimate of Radau steps has order 3, the step order 5: it may be larger than the tolerance by so much (Hairer and Wanner)."""

EXACT = 1e-10
"""A piece of the past is split while its polynomial misses the signal by more than this share of it."""
EIGHTH_RTOL = 1e-10
"""Where a fast motion hangs on a slow one, as on a stiff spring, the error of the slow one is magnified."""
STAGES = len(DORMAND_PRINCE_8.c)
TOLERANCES = {"rtol": RTOL, "atol": ATOL, "estimated": ESTIMATED, "exact": EXACT}


@cache
def _source(name: str) -> str:
    return (Path(__file__).parent / "matlab" / f"{name}.m").read_text(encoding="ascii")


def program_part(part: str, hooks: Mapping[str, str] | None = None, **values: object) -> str:
    """A file of the folder `matlab` with its values, and with lines of the program's own where a line is `@` and a word.

    Nothing stands where there is no line of the program's own.
    """
    kept = []
    for line in _source(part).splitlines():
        mark = line.strip()
        if not mark.startswith("@"):
            kept.append(line)
        elif hooks and mark[1:] in hooks:
            kept += [line.replace(mark, text) for text in hooks[mark[1:]].splitlines()]
    # Values come last: what a user wrote into a title is never taken for a mark.
    return Template("\n".join([*kept, ""])).substitute(TOLERANCES, **values)


def _column(row: Mapping[int, float], length: int) -> str:
    return f"[{'; '.join(repr(row.get(k, 0.0)) for k in range(length))}]"


def _columns(rows: Iterable[Mapping[int, float]]) -> str:
    return ", ...\n  ".join(_column(row, k) for k, row in enumerate(rows, 1))


def _advance(name: str, hooks: Mapping[str, str], **values: object) -> str:
    # Steps end at every row as well as at every stop: no interpolation is needed, and rows are as exact as steps.
    parts = ("time_loop", "steps_in_one_mode", name)
    return "\n".join(program_part(part, hooks, **values) for part in parts)


def _tableau_5() -> str:
    """The method of order 5 as fractions, which are rounded once in whichever tool reads them."""
    return program_part("dormand_prince_5").rstrip()


# Order 5 and order 8 differ in their tableau and in how they judge the error, and in nothing else.
def _explicit_steps_5(hooks: Mapping[str, str]) -> str:
    """Explicit steps of order 5."""
    error = f"tg_error = norm(tg_s * (tg_k * tg_e) ./ ({ATOL} + {RTOL} * max(abs(tg_x), abs(tg_next))), inf);"
    return _advance(
        "explicit_steps", hooks, tableau=_tableau_5(), error=error, inner=5, stages=6, slopes=7, order=5, first=1e-5
    )


def _explicit_steps_8(hooks: Mapping[str, str]) -> str:
    """Explicit steps of order 8, with the coefficients of our own solver."""
    tableau = program_part(
        "dormand_prince_8",
        nodes=", ".join(map(repr, DORMAND_PRINCE_8.c[1:])),
        rows=f"{{{_columns(DORMAND_PRINCE_8.a[1:])}}}",
        weights=_column(DORMAND_PRINCE_8.b, STAGES),
        error=_column(DORMAND_PRINCE_8.error, STAGES + 1),
        second_error=_column(DORMAND_PRINCE_8.second_error, STAGES + 1),
    )
    error = f"""tg_weight = {ATOL} + {EIGHTH_RTOL} * max(abs(tg_x), abs(tg_next));
  tg_off = max(abs(tg_s * (tg_k * tg_e)) ./ [tg_weight, tg_weight], [], 1);
  tg_error = tg_off(1)^2 / max(sqrt(tg_off(1)^2 + 0.01 * tg_off(2)^2), realmin);"""
    sizes = {"inner": STAGES - 1, "stages": STAGES, "slopes": STAGES + 1}
    return _advance("explicit_steps", hooks, tableau=tableau.rstrip(), error=error, order=8, first=1e-4, **sizes)


BEGIN = "tg_past('begin');"
KEPT = "tg_remember(tg_now, tg_s, {states}, [tg_low, tg_high], tg_held, tg_w, tg_p);"


# A step that reaches beyond the _shortest delay would read a past that is not yet there.
def _shortest(delays: Sequence[TransportDelay]) -> str:
    """No step may reach beyond what the past already tells."""
    return repr(min(delay.by for delay in delays))


def _plain_hooks(delays: Sequence[TransportDelay], *, stiff: bool) -> dict[str, str]:
    """How the steps of a model without modes remember."""
    if not delays:
        return {}
    states = (
        "tg_quarters(tg_x, tg_z, tg_c)"
        if stiff
        else "tg_quarters(tg_s, tg_x, tg_next, tg_k1, tg_k(:, 7), tg_bend(tg_k))"
    )
    return {
        "begin": BEGIN,
        "still": f"if isempty(tg_x), tg_stand(tg_from, tg_to, {_shortest(delays)}, tg_held, tg_w, tg_p); end",
        "limit": f"tg_h = min(tg_h, {_shortest(delays)});",
        "remember": KEPT.format(states=states),
    }


def _hooks_in_modes(delays: Sequence[TransportDelay]) -> dict[str, str]:
    """How the steps of a model with modes remember."""
    if not delays:
        return {}
    keep = "tg_remember(tg_now, tg_step, tg_quarters(tg_step, {ends}), [tg_low, tg_high], tg_s.held, tg_s.w, tg_p);"
    return {
        "begin": BEGIN,
        "limit": f"tg_s.h = min(tg_s.h, {_shortest(delays)});",
        "remember": keep.format(ends="tg_s.x, tg_x, tg_k1, tg_k7, 0 * tg_k1"),
        "before event": "tg_x = tg_s.x;",
        "remember event": "tg_k7 = tg_slope(min(tg_now + tg_step, tg_high), tg_s.x, tg_s.held, tg_s.w, tg_p);\n"
        + keep.format(ends="tg_x, tg_s.x, tg_k1, tg_k7, 0 * tg_k1"),
    }


def _past_functions(result: int) -> str:
    """What was, by the number of a delay. Signals behind delays are result `result` of the blocks."""
    # Octave and MATLAB compute every result that is asked for: tildes leave out the others.
    return program_part("past", before="[" + "~, " * (result - 1) + "tg_before]")


INERTIA = "tg_p.tg_inertia"
"""Where a matrix of inertias lies that stays as it is."""


@final
@dataclass(frozen=True, slots=True)
class _Precomputed:
    """Parts of formulas with the texts that read them, whether the matrix of inertias stays, whether states come in columns."""

    parts: Mapping[Expression, str] = field(default_factory=dict)
    inertia: bool = False
    columns: bool = False


NOTHING_PRECOMPUTED = _Precomputed()


def _precomputed(diagram: Diagram) -> _Precomputed:
    """What can be computed before a run of a diagram."""
    stays = _stays(diagram.inertia, diagram.parameters)
    parts = constant_parts(diagram.expressions(inertia=not stays), diagram.parameters)
    texts = {part: f"tg_c({k})" for k, part in enumerate(parts, 1)}
    return _Precomputed(texts, stays and diagram.inertia is not None, stays and _takes_columns(diagram))


def _names_still_read(diagram: Diagram, once: _Precomputed) -> set[str]:
    """The names that blocks still read."""
    read: set[str] = set()
    for expression in diagram.expressions(inertia=not once.inertia):
        waiting, seen = [expression], {expression}
        while waiting:
            node = waiting.pop()
            # What lies below a constant part is read by it, not by the blocks.
            if node in once.parts:
                continue
            if not node.args:
                read |= node.free_symbols
            waiting += [part for part in node.args if part not in seen]
            seen.update(node.args)
    return read


def _time_varying_signals(diagram: Diagram) -> set[str]:
    """The signals that follow from the time or a state: rows, where states come in columns."""
    found = {TIME, *(item.name for item in diagram.integrators)}
    for item in diagram.formulas:
        if formula_of(item).free_symbols & found:
            found.add(item.name)
    return found | {*(diagram.inertia.rates if diagram.inertia is not None else ())}


def _constants_function(diagram: Diagram, once: _Precomputed) -> str:
    """The function that adds to the parameters what follows from them alone."""
    made = MatlabLines()
    lines = ["function tg_p = tg_constants(tg_p)"]
    read = {name for part in once.parts for name in part.free_symbols}
    if once.inertia and diagram.inertia is not None:
        read |= {name for row in diagram.inertia.matrix for entry in row for name in entry.free_symbols}
    lines += [f"{matlab_name(name)} = tg_p.{matlab_name(name)};" for name in diagram.parameters if name in read]
    lines.append(f"tg_p.tg_c = [{'; '.join([made.text(part) for part in once.parts])}];")
    if once.inertia and diagram.inertia is not None:
        lines.append(f"{INERTIA} = {_matrix_text(diagram.inertia, made)};")
    return "\n".join([*lines, "end", ""])


def _matrix_text(inertia: Inertia, made: MatlabLines) -> str:
    """The matrix of inertias in MATLAB."""
    rows = "; ".join([", ".join([made.text(entry) for entry in row]) for row in inertia.matrix])
    return f"[{rows}]"


def _stays(inertia: Inertia | None, parameters: Mapping[str, float]) -> bool:
    """Whether the matrix of inertias is the same at all times, and needs no `if`."""
    entries = [] if inertia is None else [entry for row in inertia.matrix for entry in row]
    return all(entry.free_symbols <= parameters.keys() and not has_choice(entry) for entry in entries)


def _takes_columns(diagram: Diagram) -> bool:
    """Whether formulas hold for rows of numbers: nothing is chosen, looked up, solved for or remembered."""
    tables = any(isinstance(item, Table) for item in (*diagram.formulas, *diagram.readings))
    plain = not (tables or diagram.unknowns.names or diagram.delays)
    # `if` decides once for a row, and tables and solutions take one number at a time.
    return plain and not any(map(has_choice, diagram.expressions()))


LONGEST_NAME = 40
"""MATLAB takes names of programs up to 63 characters; endings such as `_parameters` come behind."""
DELAYED_RESULT = 5
"""Which result of the blocks what goes into delays is: behind rates, recorded signals, residuals and samples."""


def program_name(title: str) -> str:
    """The name of a system as the name of a program."""
    words = "".join(c if c.isalnum() and c.isascii() else " " for c in title).split()
    name = "_".join(words).lower()[:LONGEST_NAME].rstrip("_") or "model"
    return name if name[0].isalpha() else f"model_{name}"


def parameters_file(diagram: Diagram, name: str) -> str:
    """A function that gives the parameters as a struct."""
    lines = [
        f"function p = {name}_parameters()",
        f"% Parameters of '{comment_text(diagram.name)}' in SI units.",
        "p = struct();",
    ]
    lines += [f"p.{matlab_name(key)} = {number_text(value)};" for key, value in diagram.parameters.items()]
    return "\n".join([*lines, "end", ""])


def run_file(diagram: Diagram, name: str) -> str:
    """A function that integrates the diagram and gives the recorded signals over time."""
    # What depends on parameters alone is computed before the run: an interpreter would do it again in each step.
    once = _precomputed(diagram)
    parts = [
        _main_function(diagram, name, f"tg_constants({name}_parameters())"),
        _constants_function(diagram, once),
        _initial(diagram),
        _blocks_function(diagram, [item.name for item in diagram.integrators], once=once),
        _samples_functions(diagram.holds),
        _steps(diagram),
        # Three stages or all slopes in one call: in an interpreter a row of numbers costs as much as one.
        program_part("rates_at_once" if once.columns else "rates_one_by_one") if diagram.stiff else "",
        program_part("evaluation"),
        *(_past(diagram) if diagram.delays else ()),
        # interp1 knows nothing outside of the points; these keep the value at the end, as our own runs do.
        program_part("tables") if _has_tables(diagram) else "",
    ]
    return "\n".join(part for part in parts if part)


def _steps(diagram: Diagram) -> str:
    """How the program advances; a method of order 5 has the past between its steps that delays need."""
    # Delays read between steps, and only order 5 has its polynomial there written out.
    if not (diagram.stiff or diagram.delays):
        return _explicit_steps_8({})
    hooks = _plain_hooks(diagram.delays, stiff=diagram.stiff)
    # Radau is stiffly accurate: what decays much faster than a step is at rest at its end.
    return _advance("radau_steps", hooks) if diagram.stiff else _explicit_steps_5(hooks)


def _past(diagram: Diagram) -> tuple[str, ...]:
    # Hermite is of order 4 where the bend inside the step is known; in modes its ends and the slopes there must do.
    # The collocation polynomial is the solution of Radau's method between its stages: nothing is added to it.
    between = "collocation" if diagram.stiff else "hermite"
    return (
        _past_functions(DELAYED_RESULT),
        program_part("past_without_states"),
        program_part(between),
    )


def _main_function(diagram: Diagram, name: str, parameters: str) -> str:
    """The function that a user calls; `parameters` gives what blocks read."""
    stops = ", ".join(map(number_text, diagram.stops))
    shown = ", ".join(f"'{_m(signal)}'" for signal in diagram.recorded)
    # A sampled signal jumps at its samples, and delays bring these jumps back later.
    late = "".join(f", tg_samples + {number_text(by)}" for by in _comes_back(diagram)) if diagram.holds else ""
    return program_part(
        "experiment",
        name=name,
        title=comment_text(diagram.name),
        until=number_text(diagram.until),
        parameters=parameters,
        shown=shown,
        stops=stops,
        late=late,
    )


def _comes_back(diagram: Diagram) -> list[float]:
    """When jumps come back through one delay or two; then they are smooth enough."""
    # Where a jump passes through a state it comes back integrated once more, and soon no step notices it.
    once = {delay.by for delay in diagram.delays}
    return sorted(once | {one + two for one in once for two in once})


def _initial(diagram: Diagram) -> str:
    states = "; ".join(number_text(item.initial) for item in diagram.integrators)
    holds = "; ".join(number_text(hold.initial) for hold in diagram.holds)
    guesses = "; ".join(number_text(guess) for guess in diagram.unknowns.guesses)
    return f"""function [tg_x, tg_held, tg_w] = tg_start()
tg_x = [{states}];
tg_held = [{holds}];
tg_w = [{guesses}];
end
"""


def _blocks_function(
    diagram: Diagram,
    states: Sequence[str],
    name: str = "tg_blocks",
    further: Mapping[str, str] | None = None,
    once: _Precomputed = NOTHING_PRECOMPUTED,
) -> str:
    """The function that evaluates every block: rates of states, recorded signals, residuals and what holds would take.

    `further` are columns of signals that it gives too, by the name of the result; `once` is what is computed before.
    """
    made = MatlabLines(diagram.expressions(), once.parts)
    for item in diagram.formulas:
        _evaluate(item, made)
    if once.columns:
        made.lines[:] = map(pointwise, made.lines)
    # Last, though it stands first: only now is known which parameters are still read.
    made.lines[:0] = _unpacked(diagram, states, once)
    _couple(diagram, made, once)
    # A state that stands still in this mode has a rate of zero.
    rates = {item.name: _row(item.rate, diagram, once) for item in diagram.integrators}
    made.lines += [f"tg_dx = [{'; '.join(rates.get(state, '0') for state in states)}];", "if nargout < 2, return; end"]
    for item in diagram.readings:
        _evaluate(item, made)
    results = {
        "tg_y": ", ".join(_m(signal) for signal in diagram.recorded),
        # Beside each residual what its terms amount to: it is judged by that.
        "tg_residual": "; ".join([f"{made.text(e)}, {made.text(_terms(e))}" for e in diagram.unknowns.residuals]),
        "tg_taken": "; ".join([made.text(hold.expression) for hold in diagram.holds]),
        **(further or {}),
    }
    if diagram.delays:
        results["tg_before"] = "; ".join(_m(delay.source) for delay in diagram.delays)
    head = f"function [tg_dx, {', '.join(results)}] = {name}({_m(TIME)}, tg_x, tg_held, tg_w, tg_p)"
    return "\n".join([head, *made.lines, *(f"{key} = [{text}];" for key, text in results.items()), "end", ""])


def _terms(e: Expression) -> Expression:
    """How large an expression would be if nothing in its sums cancelled."""
    if isinstance(e, Add):
        return total((call("abs", number(e.constant)), *(call("abs", number(q)) * _terms(term) for term, q in e.terms)))
    if isinstance(e, Mul):
        factors = (_terms(base) if q == 1 else call("abs", power(base, number(q))) for base, q in e.factors)
        return product((call("abs", number(e.coefficient)), *factors))
    return call("abs", e)


def _unpacked(diagram: Diagram, states: Sequence[str], once: _Precomputed) -> Iterator[str]:
    read, own = _names_still_read(diagram, once), {item.name for item in diagram.integrators}
    columns = ", :" if once.columns else ""
    if once.parts:
        yield "tg_c = tg_p.tg_c;"
    if once.columns:
        yield "tg_o = zeros(1, size(tg_x, 2));"
    yield from (f"{_m(name)} = tg_p.{_m(name)};" for name in diagram.parameters if name in read)
    yield from (f"{_m(name)} = tg_x({k}{columns});" for k, name in enumerate(states, 1) if name in own)
    yield from (f"{_m(hold.name)} = tg_held({k});" for k, hold in enumerate(diagram.holds, 1))
    yield from (f"{_m(name)} = tg_w({k});" for k, name in enumerate(diagram.unknowns.names, 1))
    for k, delay in enumerate(diagram.delays, 1):
        then = f"{_m(TIME)} - {number_text(delay.by)}"
        yield f"{_m(delay.name)} = tg_delayed({k}, {then}, {number_text(delay.initial)}, tg_p);"


def _evaluate(item: Formula | Table, made: MatlabLines) -> None:
    if isinstance(item, Formula):
        made.assign(_m(item.name), item.expression)
    else:
        made.lines.append(
            f"{_m(item.name)} = tg_{item.interpolation}({table_arguments(item)}, {made.text(item.argument)});"
        )


def table_arguments(item: Table) -> str:
    """The numbers of a table as arguments: points, values, and slopes where it is curved."""
    rows = [item.points, item.values]
    if item.interpolation == "cubic":
        # The same slopes as in our own runs, so that both read the same curve.
        rows.append(tuple(monotone_slopes(np.array(item.points), np.array(item.values))))
    return ", ".join(row_text(row) for row in rows)


def _couple(diagram: Diagram, made: MatlabLines, once: _Precomputed) -> None:
    """The rates of states that only the whole matrix of inertias gives."""
    inertia = diagram.inertia
    if inertia is None or not inertia.rates:
        return
    columns = ", :" if once.columns else ""
    matrix = INERTIA if once.inertia else _matrix_text(inertia, made)
    right = "; ".join(_row(name, diagram, once) for name in inertia.right)
    made.lines.append(f"tg_rates = {matrix} \\ [{right}];")
    made.lines += [f"{_m(name)} = tg_rates({k}{columns});" for k, name in enumerate(inertia.rates, 1)]


def _row(name: str, diagram: Diagram, once: _Precomputed) -> str:
    """A signal as a row where states come in columns; one that stays is a number."""
    return f"{_m(name)} + tg_o" if once.columns and name not in _time_varying_signals(diagram) else _m(name)


def inertia_text(inertia: Inertia, made: MatlabLines) -> str:
    """The solution for the rates as a formula of MATLAB."""
    return f"{_matrix_text(inertia, made)} \\ [{'; '.join(_m(name) for name in inertia.right)}]"


def _samples_functions(holds: Iterable[Hold]) -> str:
    """When sampled signals take their values, and which of them do at a time."""
    # Signals on one grid share its times.
    grids = {(hold.period, hold.offset) for hold in holds}
    times = " ".join(f"tg_times = [tg_times, {number_text(o)}:{number_text(p)}:tg_until];" for p, o in sorted(grids))
    chosen = "; ".join(f"tg_on_grid(tg_now, {number_text(hold.period)}, {number_text(hold.offset)})" for hold in holds)
    return f"""function tg_times = tg_sample_times(tg_until)
tg_times = []; {times}
end

function tg_chosen = tg_sampled(tg_now)
tg_chosen = logical([{chosen}]);
end
"""


def _has_tables(diagram: Diagram) -> bool:
    """Whether a diagram reads tables."""
    return any(isinstance(item, Table) for item in (*diagram.formulas, *diagram.readings))


def _m(name: str) -> str:
    return matlab_name(name)


def number_text(value: float) -> str:
    """A number, to the last digit."""
    # repr gives the _shortest text that reads back as the same number.
    return repr(float(value)) if math.isfinite(value) else {"inf": "Inf", "-inf": "-Inf"}.get(repr(float(value)), "NaN")


def row_text(values: Iterable[float]) -> str:
    """Numbers as a row."""
    return f"[{', '.join(map(number_text, values))}]"


def comment_text(text: str) -> str:
    """A text that cannot end its comment."""
    return "".join(c if c.isprintable() else " " for c in text)


NOISE = 1e-11
"""A guard that is positive by less than this share of its largest value yet is zero."""

# Four results as without modes, then guards, outputs, restitutions and speeds.
DELAYED_RESULT_IN_MODES = 9
"""Which result of the blocks what goes into delays is: behind those of models without modes and what tells of the mode."""


def hybrid_run_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that integrates a model with modes and gives the recorded signals over time."""
    delays = hybrid.first.delays
    hooks = _hooks_in_modes(delays)
    past = [_past_functions(DELAYED_RESULT_IN_MODES), program_part("hermite")] if delays else []
    return _joined(
        _main_function(hybrid.first, name, f"{name}_parameters()"),
        _start(hybrid),
        program_part("time_loop", hooks),
        # A guard counts relative to its largest value so far, for each mode of its element: forces and speeds have other sizes.
        program_part("start_in_modes"),
        *_mode_functions(hybrid, hooks),
        *past,
    )


def modes_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that tells which mode follows when a guard rises. The Simulink model asks it."""
    title, until = comment_text(hybrid.name), number_text(hybrid.first.until)
    return _joined(
        # A time that does not go on belongs to a new run: what is remembered of the last one is cleared then.
        program_part("next_mode", name=name, title=title, until=until),
        *_mode_functions(hybrid, {}),
        # Simulink keeps the past itself, in its transport delays.
        program_part("past_of_simulink") if hybrid.first.delays else "",
    )


def _mode_functions(hybrid: HybridDiagram, hooks: Mapping[str, str]) -> list[str]:
    """What both files need: the modes, their blocks, and the search for the mode that follows."""
    diagrams = [mode.diagram for mode in hybrid.modes if mode.diagram is not None]
    return [
        _modes(hybrid),
        _dispatch(hybrid),
        *_all_blocks(hybrid),
        _inertia(hybrid),
        _samples_functions(hybrid.first.holds),
        # An event ends a step in its middle: the step is taken anew, shorter, until the guard stands at zero at its end.
        program_part("steps_in_modes", hooks, tableau=_tableau_5(), noise=NOISE),
        # As in our own runs: modes are tried in the order of how many elements change, and a mode is good when none of its
        # guards is positive a moment later. A mode that is only passed through may break them for that moment.
        program_part("mode_choice", noise=NOISE),
        program_part("evaluation"),
        program_part("tables") if any(map(_has_tables, diagrams)) else "",
    ]


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _start(hybrid: HybridDiagram) -> str:
    holds = "; ".join(number_text(hold.initial) for hold in hybrid.first.holds)
    return f"""function [tg_x, tg_held, tg_mode] = tg_start()
tg_x = {row_text(hybrid.initial)}';
tg_held = [{holds}];
tg_mode = {hybrid.start + 1};
end
"""


def _modes(hybrid: HybridDiagram) -> str:
    """Words of modes by number, which modes there are, guards (element, mode to go to, impact), and which storages follow."""
    # Modes are compared as rows of numbers; a comment in the file tells their words.
    words = _numbers(hybrid)
    table = "; ".join(", ".join(str(words[k][w]) for k, w in enumerate(mode.words)) for mode in hybrid.modes)
    possible = ", ".join(str(int(mode.diagram is not None)) for mode in hybrid.modes)
    guards = ", ".join(f"[{_guard_rows(mode, words)}]" for mode in hybrid.modes)
    following = ", ".join(
        f"[{', '.join(str(hybrid.storages.index(n) + 1) for n in mode.following)}]" for mode in hybrid.modes
    )
    guesses = ", ".join(_guesses(mode.diagram) for mode in hybrid.modes)
    said = "; ".join(f"{k}: {', '.join(mode.words)}" for k, mode in enumerate(hybrid.modes, 1))
    return f"""function tg_m = tg_modes()
% The modes of {", ".join(hybrid.elements)} are {said}.
tg_m.words = [{table}];
tg_m.possible = logical([{possible}]);
tg_m.guards = {{{guards}}};
tg_m.following = {{{following}}};
tg_m.guesses = {{{guesses}}};
tg_m.storages = {len(hybrid.storages)};
end
"""


def _numbers(hybrid: HybridDiagram) -> list[dict[str, int]]:
    """The number of each word of each element, from 1 in the order of appearance."""
    found: list[dict[str, int]] = [{} for _ in hybrid.elements]
    for mode in hybrid.modes:
        for known, word in zip(found, mode.words, strict=True):
            known.setdefault(word, len(known) + 1)
    return found


def _guard_rows(mode: ModeDiagram, words: list[dict[str, int]]) -> str:
    rows = [(g.element + 1, words[g.element][g.to], int(bool(g.restitution))) for g in mode.guards]
    return "; ".join(", ".join(map(str, row)) for row in rows)


def _guesses(diagram: Diagram | None) -> str:
    guesses = () if diagram is None else diagram.unknowns.guesses
    return f"[{'; '.join(map(number_text, guesses))}]"


def _dispatch(hybrid: HybridDiagram) -> str:
    cases = "\n".join(
        f"  case {k}, [varargout{{1:tg_n}}] = tg_blocks_{k}(tg_now, tg_x, tg_held, tg_w, tg_p);"
        for k, mode in enumerate(hybrid.modes, 1)
        if mode.diagram is not None
    )
    return f"""function varargout = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p)
% The blocks of the mode that tg_p tells.
tg_n = max(nargout, 1);
switch tg_p.tg_mode
{cases}
end
end
"""


def _all_blocks(hybrid: HybridDiagram) -> Iterator[str]:
    for k, mode in enumerate(hybrid.modes, 1):
        if mode.diagram is not None:
            further = {
                "tg_guards": "; ".join(matlab_name(g.signal) for g in mode.guards),
                "tg_outputs": "; ".join(map(matlab_name, hybrid.storages)),
                "tg_kept": "; ".join(matlab_name(g.restitution) if g.restitution else "NaN" for g in mode.guards),
                "tg_speeds": "; ".join(matlab_name(g.speed) if g.speed else "NaN" for g in mode.guards),
            }
            yield _blocks_function(mode.diagram, hybrid.states, f"tg_blocks_{k}", further)


def _inertia(hybrid: HybridDiagram) -> str:
    """The contents of all storages by their outputs."""
    made = MatlabLines()
    entries = [e for row in hybrid.inertia for e in row]
    # Inertias may read formulas of positions; only these are evaluated, not all blocks.
    moving = _needed(hybrid.first, frozenset().union(*(e.free_symbols for e in entries)))
    read = frozenset().union(*(e.free_symbols for e in (*entries, *(item.expression for item in moving))))
    made.lines += [f"{matlab_name(n)} = tg_p.{matlab_name(n)};" for n in hybrid.first.parameters if n in read]
    made.lines += [f"{matlab_name(n)} = tg_x({k});" for k, n in enumerate(hybrid.states, 1) if n in read]
    for item in moving:
        made.assign(matlab_name(item.name), item.expression)
    rows = "; ".join([", ".join([made.text(e) for e in row]) for row in hybrid.inertia])
    return "\n".join(["function tg_l = tg_inertia(tg_x, tg_p)", *made.lines, f"tg_l = [{rows}];", "end", ""])


def _needed(diagram: Diagram, names: frozenset[str]) -> list[Formula]:
    """The formulas behind some names, in the order of evaluation."""
    found: list[Formula] = []
    wanted = set(names)
    for item in reversed(diagram.formulas):
        if isinstance(item, Formula) and item.name in wanted:
            found.insert(0, item)
            wanted |= item.expression.free_symbols
    return found
