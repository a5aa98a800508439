"""A block diagram as MATLAB programs that need no Simulink: parameters in one file, the experiment in the other.

The program evaluates the blocks in order and integrates the integrators: by `ode15s` where the model is stiff, by a Dormand-Prince
method of its own otherwise, so that Octave and MATLAB take the same steps. It stops where inputs jump and where sampled signals
take their values.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from tellegen.compiler.tables import monotone_slopes
from tellegen.core.names import TIME
from tellegen.exporting.diagrams import Diagram, Formula, Hold, Integrator
from tellegen.expressions import Expression
from tellegen.expressions.matlab import matlab_name, to_matlab
from tellegen.graph.signals import Table

RTOL = 1e-9
ATOL = 1e-12


def program_name(title: str) -> str:
    """The name of a system as the name of a program."""
    words = "".join(c if c.isalnum() and c.isascii() else " " for c in title).split()
    name = "_".join(words).lower() or "model"
    return name if name[0].isalpha() else f"model_{name}"


def parameters_file(diagram: Diagram, name: str) -> str:
    """A function that gives the parameters as a struct."""
    lines = [
        f"function p = {name}_parameters()",
        f"% Parameters of '{_comment(diagram.name)}' in SI units.",
        "p = struct();",
    ]
    lines += [f"p.{matlab_name(key)} = {_number(value)};" for key, value in diagram.parameters.items()]
    return "\n".join([*lines, "end", ""])


def run_file(diagram: Diagram, name: str) -> str:
    """A function that integrates the diagram and gives the recorded signals over time."""
    recorded = [matlab_name(signal) for signal in diagram.recorded]
    shown = ", ".join(f"'{signal}'" for signal in recorded)
    parts = [
        _main(diagram, name, shown),
        _initial(diagram),
        _blocks(diagram),
        _samples(diagram.holds),
        _solver(diagram),
        HELPERS,
    ]
    return "\n".join(part for part in parts if part)


def _main(diagram: Diagram, name: str, shown: str) -> str:
    stops = ", ".join(map(_number, diagram.stops))
    return f"""function [tg_t, tg_values, tg_names] = {name}_run(tg_until, tg_rows)
% Integrate '{_comment(diagram.name)}' without Simulink.
%   [t, values, names] = {name}_run()              the experiment of the model
%   [t, values, names] = {name}_run(until, rows)   another duration, another number of rows
% values(k, j) is the signal names{{j}} at the time t(k).
if nargin < 1, tg_until = {_number(diagram.until)}; end
if nargin < 2, tg_rows = 201; end
tg_p = {name}_parameters();
tg_names = {{{shown}}};
tg_t = linspace(0, tg_until, tg_rows)';
tg_stops = [{stops}];
tg_stops = [tg_stops(tg_stops < tg_until), tg_sample_times(tg_until)];
tg_values = tg_march(tg_p, tg_t, unique(tg_stops));
end
"""


def _initial(diagram: Diagram) -> str:
    states = "; ".join(_number(item.initial) for item in diagram.integrators)
    holds = "; ".join(_number(hold.initial) for hold in diagram.holds)
    guesses = "; ".join(_number(guess) for guess in diagram.unknowns.guesses)
    return f"""function [tg_x, tg_held, tg_w] = tg_start()
tg_x = [{states}];
tg_held = [{holds}];
tg_w = [{guesses}];
end
"""


def _blocks(diagram: Diagram) -> str:
    """The function that evaluates every block: rates of integrators, recorded signals, residuals and what holds would take."""
    body = list(_unpacked(diagram))
    body += [line for item in diagram.formulas for line in _evaluated(item)]
    body += _coupled(diagram)
    rates = "; ".join(_rate(item) for item in diagram.integrators)
    recorded = ", ".join(matlab_name(signal) for signal in diagram.recorded)
    residuals = "; ".join(to_matlab(e) for e in diagram.unknowns.residuals)
    taken = "; ".join(to_matlab(hold.expression) for hold in diagram.holds)
    body += [f"tg_dx = [{rates}];", f"tg_y = [{recorded}];", f"tg_residual = [{residuals}];", f"tg_taken = [{taken}];"]
    head = f"function [tg_dx, tg_y, tg_residual, tg_taken] = tg_blocks({matlab_name(TIME)}, tg_x, tg_held, tg_w, tg_p)"
    return "\n".join([head, *body, "end", ""])


def _unpacked(diagram: Diagram) -> Iterator[str]:
    read = _names_read(diagram)
    yield from (f"{_m(name)} = tg_p.{_m(name)};" for name in diagram.parameters if name in read)
    yield from (f"{_m(item.name)} = tg_x({k});" for k, item in enumerate(diagram.integrators, 1))
    yield from (f"{_m(hold.name)} = tg_held({k});" for k, hold in enumerate(diagram.holds, 1))
    yield from (f"{_m(name)} = tg_w({k});" for k, name in enumerate(diagram.unknowns.names, 1))


def _names_read(diagram: Diagram) -> set[str]:
    expressions: list[Expression] = [hold.expression for hold in diagram.holds]
    expressions += [*diagram.unknowns.residuals]
    expressions += [item.argument if isinstance(item, Table) else item.expression for item in diagram.formulas]
    if diagram.inertia is not None:
        expressions += [entry for row in diagram.inertia.matrix for entry in row]
    return set().union(*(e.free_symbols for e in expressions)) if expressions else set()


def _evaluated(item: Formula | Table) -> Iterator[str]:
    if isinstance(item, Formula):
        yield f"{_m(item.name)} = {to_matlab(item.expression)};"
        return
    points, values = (f"[{', '.join(map(_number, row))}]" for row in (item.points, item.values))
    if item.interpolation == "cubic":
        bends = ", ".join(map(_number, monotone_slopes(np.array(item.points), np.array(item.values))))
        yield f"{_m(item.name)} = tg_cubic({points}, {values}, [{bends}], {to_matlab(item.argument)});"
    else:
        yield f"{_m(item.name)} = tg_{item.interpolation}({points}, {values}, {to_matlab(item.argument)});"


def _coupled(diagram: Diagram) -> list[str]:
    """The rates of states that only the whole matrix of inertias gives."""
    inertia = diagram.inertia
    if inertia is None or not inertia.rates:
        return []
    rows = "; ".join(", ".join(to_matlab(entry) for entry in row) for row in inertia.matrix)
    right = "; ".join(_m(name) for name in inertia.right)
    lines = [f"tg_rates = [{rows}] \\ [{right}];"]
    return lines + [f"{_m(name)} = tg_rates({k});" for k, name in enumerate(inertia.rates, 1)]


def _rate(item: Integrator) -> str:
    return _m(item.rate)


def _samples(holds: Iterable[Hold]) -> str:
    """When sampled signals take their values, and which of them do at a time."""
    grids = {(hold.period, hold.offset) for hold in holds}
    times = " ".join(f"tg_times = [tg_times, {_number(o)}:{_number(p)}:tg_until];" for p, o in sorted(grids))
    chosen = "; ".join(f"tg_on_grid(tg_now, {_number(hold.period)}, {_number(hold.offset)})" for hold in holds)
    return f"""function tg_times = tg_sample_times(tg_until)
tg_times = []; {times}
end

function tg_chosen = tg_sampled(tg_now)
tg_chosen = logical([{chosen}]);
end
"""


def _solver(diagram: Diagram) -> str:
    return STIFF if diagram.stiff and not diagram.holds else EXPLICIT


def _m(name: str) -> str:
    return matlab_name(name)


def _number(value: float) -> str:
    return repr(float(value)) if value == value else "NaN"  # noqa: PLR0124  not a number is not itself


def _comment(text: str) -> str:
    """A text that cannot end its comment."""
    return "".join(c if c.isprintable() else " " for c in text)


MARCH = """function tg_values = tg_march(tg_p, tg_t, tg_stops)
[tg_x, tg_held, tg_w] = tg_start();
tg_w = tg_solved(0, tg_x, tg_held, tg_w, tg_p);
tg_held = tg_take(0, tg_x, tg_held, tg_w, tg_p);
[~, tg_y] = tg_blocks(0, tg_x, tg_held, tg_w, tg_p);
tg_values = zeros(numel(tg_t), numel(tg_y));
tg_values(1, :) = tg_y;
tg_h = 0;
for tg_k = 2:numel(tg_t)
  tg_inner = tg_stops(tg_stops > tg_t(tg_k - 1) & tg_stops < tg_t(tg_k));
  tg_ends = [tg_inner(:)', tg_t(tg_k)];
  tg_from = tg_t(tg_k - 1);
  for tg_to = tg_ends
    if tg_to > tg_from
      [tg_x, tg_w, tg_h] = tg_advance(tg_from, tg_to, tg_x, tg_held, tg_w, tg_p, tg_h);
    end
    if any(tg_stops == tg_to), tg_h = 0; end
    if tg_to < tg_t(end), tg_held = tg_take(tg_to, tg_x, tg_held, tg_w, tg_p); end
    tg_from = tg_to;
  end
  tg_w = tg_solved(tg_t(tg_k), tg_x, tg_held, tg_w, tg_p);
  [~, tg_y] = tg_blocks(tg_t(tg_k), tg_x, tg_held, tg_w, tg_p);
  tg_values(tg_k, :) = tg_y;
end
end

function tg_held = tg_take(tg_now, tg_x, tg_held, tg_w, tg_p)
tg_chosen = tg_sampled(tg_now);
if any(tg_chosen)
  [~, ~, ~, tg_taken] = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
  tg_held(tg_chosen) = tg_taken(tg_chosen);
end
end
"""

EXPLICIT = (
    MARCH
    + f"""
function [tg_x, tg_w, tg_h] = tg_advance(tg_from, tg_to, tg_x, tg_held, tg_w, tg_p, tg_h)
% Dormand and Prince (1980), order 5 with an error estimate of order 4.
tg_c = [1/5, 3/10, 4/5, 8/9, 1, 1];
tg_a = {{[1/5], [3/40; 9/40], [44/45; -56/15; 32/9], ...
  [19372/6561; -25360/2187; 64448/6561; -212/729], ...
  [9017/3168; -355/33; 46732/5247; 49/176; -5103/18656], ...
  [35/384; 0; 500/1113; 125/192; -2187/6784; 11/84]}};
tg_e = [71/57600; 0; -71/16695; 71/1920; -17253/339200; 22/525; -1/40];
tg_now = tg_from;
if isempty(tg_x), return; end
% The right side of a jump is meant: the first evaluation lies just inside the interval.
tg_inside = tg_from + 1e-12 * (tg_to - tg_from);
[tg_k1, tg_w] = tg_slope(tg_inside, tg_x, tg_held, tg_w, tg_p);
if tg_h <= 0
  tg_h = 1e-5 * (tg_to - tg_from);
end
while tg_now < tg_to
  tg_last = tg_now + 1.0001 * tg_h >= tg_to;
  tg_s = tg_h;
  if tg_last, tg_s = tg_to - tg_now; end
  tg_k = zeros(numel(tg_x), 7);
  tg_k(:, 1) = tg_k1;
  for tg_i = 1:6
    tg_at = tg_now + tg_c(tg_i) * tg_s;
    if tg_last && tg_c(tg_i) == 1, tg_at = tg_to - 1e-12 * (tg_to - tg_from); end
    tg_next = tg_x + tg_s * (tg_k(:, 1:tg_i) * tg_a{{tg_i}});
    [tg_k(:, tg_i + 1), tg_w] = tg_slope(tg_at, tg_next, tg_held, tg_w, tg_p);
  end
  tg_error = norm(tg_s * (tg_k * tg_e) ./ ({ATOL} + {RTOL} * max(abs(tg_x), abs(tg_next))), inf);
  if tg_error <= 1
    tg_now = tg_now + tg_s;
    tg_x = tg_next;
    tg_k1 = tg_k(:, 7);
    if tg_last, tg_now = tg_to; end
  elseif ~isfinite(tg_error)
    tg_error = 1e5;
  end
  if ~(tg_last && tg_error <= 1) || tg_error > 0.1
    tg_h = tg_s * min(5, max(0.2, 0.9 * (tg_error + 1e-12) ^ (-1/5)));
  end
  if tg_h < 1e-13 * (tg_to - tg_from), error('the step became too small at t = %g', tg_now); end
end
end

function [tg_dx, tg_w] = tg_slope(tg_now, tg_x, tg_held, tg_w, tg_p)
tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p);
tg_dx = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
end
"""
)

STIFF = (
    MARCH
    + f"""
function [tg_x, tg_w, tg_h] = tg_advance(tg_from, tg_to, tg_x, tg_held, tg_w, tg_p, tg_h)
if isempty(tg_x), return; end
tg_options = odeset('RelTol', {RTOL}, 'AbsTol', {ATOL});
tg_guess = tg_w;
[~, tg_path] = ode15s(@(tg_now, tg_z) tg_slope(tg_now, tg_z, tg_held, tg_guess, tg_p), [tg_from, tg_to], tg_x, tg_options);
tg_x = tg_path(end, :)';
tg_w = tg_solved(tg_to, tg_x, tg_held, tg_w, tg_p);
end

function tg_dx = tg_slope(tg_now, tg_x, tg_held, tg_w, tg_p)
tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p);
tg_dx = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
end
"""
)

HELPERS = """function tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p)
% Newton's method for the algebraic unknowns, from the last solution.
if isempty(tg_w), return; end
for tg_pass = 1:50
  [~, ~, tg_r] = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
  tg_jacobian = zeros(numel(tg_w));
  for tg_i = 1:numel(tg_w)
    tg_step = zeros(size(tg_w)); tg_step(tg_i) = 1e-7 * max(1, abs(tg_w(tg_i)));
    [~, ~, tg_moved] = tg_blocks(tg_now, tg_x, tg_held, tg_w + tg_step, tg_p);
    tg_jacobian(:, tg_i) = (tg_moved - tg_r) / tg_step(tg_i);
  end
  tg_change = tg_jacobian \\ tg_r;
  tg_w = tg_w - tg_change;
  if norm(tg_change ./ (1e-9 + abs(tg_w)), inf) < 1e-12, return; end
end
end

function tg_yes = tg_on_grid(tg_now, tg_period, tg_offset)
tg_count = round((tg_now - tg_offset) / tg_period);
tg_yes = tg_count >= 0 && abs(tg_now - tg_offset - tg_count * tg_period) <= 1e-9 * tg_period;
end

function tg_value = tg_choice(tg_condition, tg_yes, tg_no)
if tg_condition, tg_value = tg_yes; else, tg_value = tg_no; end
end

function tg_value = tg_linear(tg_points, tg_levels, tg_at)
tg_k = tg_interval(tg_points, tg_at);
tg_share = min(max((tg_at - tg_points(tg_k)) / (tg_points(tg_k + 1) - tg_points(tg_k)), 0), 1);
tg_value = tg_levels(tg_k) + tg_share * (tg_levels(tg_k + 1) - tg_levels(tg_k));
end

function tg_value = tg_previous(tg_points, tg_levels, tg_at)
tg_value = tg_levels(max(1, sum(tg_points <= tg_at)));
end

function tg_value = tg_cubic(tg_points, tg_levels, tg_slopes, tg_at)
tg_k = tg_interval(tg_points, tg_at);
tg_h = tg_points(tg_k + 1) - tg_points(tg_k);
tg_s = min(max((tg_at - tg_points(tg_k)) / tg_h, 0), 1);
tg_value = (1 + 2 * tg_s) * (1 - tg_s) ^ 2 * tg_levels(tg_k) + tg_s * (1 - tg_s) ^ 2 * tg_h * tg_slopes(tg_k) ...
  + tg_s ^ 2 * (3 - 2 * tg_s) * tg_levels(tg_k + 1) - tg_s ^ 2 * (1 - tg_s) * tg_h * tg_slopes(tg_k + 1);
end

function tg_k = tg_interval(tg_points, tg_at)
tg_k = min(max(sum(tg_points <= tg_at), 1), numel(tg_points) - 1);
end
"""


def files(diagram: Diagram, name: str) -> Mapping[str, str]:
    """The programs by file name."""
    return {f"{name}_parameters.m": parameters_file(diagram, name), f"{name}_run.m": run_file(diagram, name)}
