"""How a run file advances, the same for every model: stiff and explicit steps, samples, unknowns, tables, and the past of
delayed signals.

An interpreter pays for every evaluation, and a method of high order needs the fewest of them for the accuracy asked for: order 8,
as our own solver takes. What remembers a past reads it between steps, and keeps to the shorter steps of order 5.

Lines that begin with `@` are places where programs with delays have more lines (`plain_hooks`, `hooks_in_modes`).
"""

from collections.abc import Iterable, Mapping, Sequence

from tellegen.exporting.diagram import TransportDelay
from tellegen.simulation.solvers.coefficients import DORMAND_PRINCE_8

# The steps are written out instead of left to ode45 and ode15s, for four reasons. Octave has ode15s only where it
# was built with SUNDIALS. Both tools should take the same steps, so that a difference is a mistake. Evaluations have
# to stay inside an interval between two jumps, where the solvers of MATLAB ask at its very ends. And delayed signals
# read what lies between steps that are still being made.
RTOL = 1e-9
ATOL = 1e-12
ESTIMATED = 0.1 * RTOL ** (-1 / 3)
"""The estimate of Radau steps has order 3, the step order 5: it may be larger than the tolerance by so much (Hairer and Wanner)."""

# Steps end at every row as well as at every stop: no interpolation is needed, and rows are as exact as steps.
TIME_LOOP = """function tg_values = tg_march(tg_p, tg_t, tg_stops)
% Row after row, and within a row from stop to stop.
@begin
[tg_s, tg_p, tg_m] = tg_begun(tg_p, tg_t(end));
tg_s.w = tg_solved(0, tg_s.x, tg_s.held, tg_s.w, tg_p);
tg_s.held = tg_take(0, tg_s, tg_p);
[~, tg_y] = tg_blocks(0, tg_s.x, tg_s.held, tg_s.w, tg_p);
tg_values = zeros(numel(tg_t), numel(tg_y));
tg_values(1, :) = tg_y;
tg_near = 1e-12 * tg_t(end);
for tg_k = 2:numel(tg_t)
  % A stop that is a row but for rounding is that row: nothing is sampled twice.
  tg_inner = tg_stops(tg_stops > tg_t(tg_k - 1) + tg_near & tg_stops < tg_t(tg_k) - tg_near);
  tg_from = tg_t(tg_k - 1);
  for tg_to = [tg_inner(:)', tg_t(tg_k)]
    [tg_s, tg_p] = tg_go(tg_s, tg_from, tg_to, tg_p, tg_m);
    tg_s.held = tg_take(tg_to, tg_s, tg_p);
    tg_from = tg_to;
  end
  tg_s.w = tg_solved(tg_t(tg_k), tg_s.x, tg_s.held, tg_s.w, tg_p);
  [~, tg_y] = tg_blocks(tg_t(tg_k), tg_s.x, tg_s.held, tg_s.w, tg_p);
  tg_values(tg_k, :) = tg_y;
end
end

function tg_held = tg_take(tg_now, tg_s, tg_p)
tg_held = tg_s.held;
tg_chosen = tg_sampled(tg_now);
if any(tg_chosen)
  [~, ~, ~, tg_taken] = tg_blocks(tg_now, tg_s.x, tg_s.held, tg_s.w, tg_p);
  tg_held(tg_chosen) = tg_taken(tg_chosen);
end
end
"""

STEPS_IN_ONE_MODE = """
function [tg_s, tg_p, tg_m] = tg_begun(tg_p, ~)
[tg_x, tg_held, tg_w] = tg_start();
tg_s = struct('x', tg_x, 'held', tg_held, 'w', tg_w, 'h', 0);
tg_m = [];
end

function [tg_s, tg_p] = tg_go(tg_s, tg_from, tg_to, tg_p, ~)
if tg_to > tg_from
  [tg_s.x, tg_s.w, tg_s.h] = tg_advance(tg_from, tg_to, tg_s.x, tg_s.held, tg_s.w, tg_p, tg_s.h);
end
end
"""

# Of order 5 and stiffly accurate: what decays much faster than a step is at rest at its end.
RADAU_STEPS = (
    TIME_LOOP
    + STEPS_IN_ONE_MODE
    + f"""
function [tg_x, tg_w, tg_h] = tg_advance(tg_from, tg_to, tg_x, tg_held, tg_w, tg_p, tg_h)
% Radau IIA with three stages, order 5; error estimate of Hairer and Wanner (Solving ODEs II, IV.8).
tg_r = sqrt(6);
tg_a = [(88 - 7*tg_r)/360, (296 - 169*tg_r)/1800, (-2 + 3*tg_r)/225; ...
  (296 + 169*tg_r)/1800, (88 + 7*tg_r)/360, (-2 - 3*tg_r)/225; (16 - tg_r)/36, (16 + tg_r)/36, 1/9];
tg_c = [(4 - tg_r)/10, (4 + tg_r)/10, 1];
tg_e = [-13 - 7*tg_r; -13 + 7*tg_r; -1] / 3;
tg_mu = 3 + 3^(2/3) - 3^(1/3);
tg_n = numel(tg_x);
@still
if tg_n == 0, return; end
tg_now = tg_from;
% Both sides of a jump are meant: evaluations at the ends lie just inside the interval.
tg_low = tg_from + tg_margin(tg_from, tg_to); tg_high = tg_to - tg_margin(tg_from, tg_to);
if tg_h <= 0, tg_h = 1e-5 * (tg_to - tg_from); end
tg_renew = true; tg_old = [];
while tg_now < tg_to
  tg_at = min(max(tg_now, tg_low), tg_high);
  [tg_f, tg_w] = tg_slope(tg_at, tg_x, tg_held, tg_w, tg_p);
  tg_fresh = tg_renew;
  if tg_renew, tg_jacobian = tg_slopes(tg_at, tg_x, tg_f, tg_held, tg_w, tg_p); end
  tg_weight = {ATOL} + {RTOL} * abs(tg_x); tg_weights = tg_weight(:, [1, 1, 1]);
  tg_done = false;
  while ~tg_done
    @limit
    tg_s = min(tg_h, tg_to - tg_now);
    tg_last = tg_now + 1.0001 * tg_s >= tg_to;
    if tg_last, tg_s = tg_to - tg_now; end
    [tg_l, tg_u, tg_q] = lu(eye(3 * tg_n) - tg_s * kron(tg_a, tg_jacobian));
    tg_z = zeros(tg_n, 3);
    if ~isempty(tg_old)
      % The polynomial of the last step, continued.
      tg_ahead = 1 + tg_c * tg_s / tg_old;
      tg_z = tg_bent * [tg_ahead; tg_ahead.^2; tg_ahead.^3] - sum(tg_bent, 2) * [1, 1, 1];
    end
    tg_converged = false; tg_before = Inf;
    for tg_pass = 1:12
      tg_at = min(max(tg_now + tg_c * tg_s, tg_low), tg_high);
      [tg_k, tg_w] = tg_together(tg_at, tg_x(:, [1, 1, 1]) + tg_z, tg_held, tg_w, tg_p);
      tg_change = reshape(tg_u \\ (tg_l \\ (tg_q * reshape(tg_s * (tg_k * tg_a') - tg_z, [], 1))), tg_n, 3);
      tg_z = tg_z + tg_change;
      tg_size = max(max(abs(tg_change) ./ tg_weights));
      if ~isfinite(tg_size) || tg_size > 2 * tg_before, break; end
      % What is still missing, by how fast the changes shrink.
      tg_converged = tg_size < 1e-2 || tg_pass > 1 && tg_size^2 < 1e-2 * (tg_before - tg_size);
      if tg_converged, break; end
      tg_before = tg_size;
    end
    if ~tg_converged && ~tg_fresh
      tg_at = min(max(tg_now, tg_low), tg_high);
      tg_jacobian = tg_slopes(tg_at, tg_x, tg_f, tg_held, tg_w, tg_p); tg_fresh = true;
      continue;
    end
    tg_error = 1e3;
    if tg_converged
      tg_estimate = (tg_mu / tg_s * eye(tg_n) - tg_jacobian) \\ (tg_f + tg_z * tg_e / tg_s);
      tg_error = norm(tg_estimate ./ ({ESTIMATED} * ({ATOL} + {RTOL} * max(abs(tg_x), abs(tg_x + tg_z(:, 3))))), inf);
    else
      tg_old = [];
    end
    tg_done = tg_error <= 1;
    if ~(tg_last && tg_done) || tg_error > 0.1
      tg_h = tg_s * min(5, max(0.2, 0.9 * (tg_error + 1e-12) ^ (-1/4)));
    end
    if tg_h < 1e-14 * (tg_to - tg_from), error('the step became too small at t = %g', tg_now); end
  end
  @remember
  tg_old = tg_s; tg_bent = tg_z / [tg_c; tg_c.^2; tg_c.^3];
  tg_renew = tg_pass > 5;
  tg_x = tg_x + tg_z(:, 3);
  tg_now = tg_now + tg_s;
  if tg_last, tg_now = tg_to; end
end
end

function tg_jacobian = tg_slopes(tg_now, tg_x, tg_f, tg_held, tg_w, tg_p)
% The slopes by every state, each moved a little.
tg_one = ones(1, numel(tg_x));
tg_next = tg_x + 1e-7 * max(abs(tg_x), 1e-3);
tg_states = tg_x(:, tg_one) + diag(tg_next - tg_x);
tg_moved = tg_together(tg_now * tg_one, tg_states, tg_held, tg_w, tg_p);
tg_jacobian = (tg_moved - tg_f(:, tg_one)) ./ repmat((tg_next - tg_x)', numel(tg_x), 1);
end
"""
)

# Three stages or all slopes in one call: in an interpreter a row of numbers costs as much as one.
RATES_AT_ONCE = """function [tg_dx, tg_w] = tg_together(tg_times, tg_states, tg_held, tg_w, tg_p)
% The rates of several states, which are the columns of a matrix.
tg_dx = tg_blocks(tg_times, tg_states, tg_held, tg_w, tg_p);
end
"""

RATES_ONE_BY_ONE = """function [tg_dx, tg_w] = tg_together(tg_times, tg_states, tg_held, tg_w, tg_p)
% The rates of several states, which are the columns of a matrix.
tg_dx = zeros(size(tg_states));
for tg_i = 1:numel(tg_times)
  [tg_dx(:, tg_i), tg_w] = tg_slope(tg_times(tg_i), tg_states(:, tg_i), tg_held, tg_w, tg_p);
end
end
"""

HELPERS = """function tg_tiny = tg_margin(tg_from, tg_to)
% How far from its ends an interval is looked at: beyond rounding, and not further than its quarter.
tg_tiny = min(max(1e-12 * (tg_to - tg_from), 16 * eps(tg_to)), (tg_to - tg_from) / 4);
end

function [tg_dx, tg_w] = tg_slope(tg_now, tg_x, tg_held, tg_w, tg_p)
tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p);
tg_dx = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
end

function tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p)
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
"""

# interp1 knows nothing outside of the points; these keep the value at the end, as our own runs do.
TABLES = """function tg_value = tg_linear(tg_points, tg_levels, tg_at)
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


EIGHTH_RTOL = 1e-10
"""Where a fast motion hangs on a slow one, as on a stiff spring, the error of the slow one is magnified."""
STAGES = len(DORMAND_PRINCE_8.c)


def _column(row: Mapping[int, float], length: int) -> str:
    return f"[{'; '.join(repr(row.get(k, 0.0)) for k in range(length))}]"


def _columns(rows: Iterable[Mapping[int, float]]) -> str:
    return ", ...\n  ".join(_column(row, k) for k, row in enumerate(rows, 1))


# Order 5 and order 8 differ in their tableau and in how they judge the error, and in nothing else.
def _program(source: str, coefficients: str, error: str, *, stages: int, order: int, first: float) -> str:
    """Steps with a tableau `tg_c`, `tg_a`, `tg_b`, `tg_e`; the slope at the end of a step is the first of the next."""
    return (
        TIME_LOOP
        + STEPS_IN_ONE_MODE
        + f"""
function [tg_x, tg_w, tg_h] = tg_advance(tg_from, tg_to, tg_x, tg_held, tg_w, tg_p, tg_h)
% {source}
{coefficients}
tg_now = tg_from;
@still
if isempty(tg_x), return; end
% Both sides of a jump are meant: evaluations at the ends lie just inside the interval.
tg_low = tg_from + tg_margin(tg_from, tg_to); tg_high = tg_to - tg_margin(tg_from, tg_to);
[tg_k1, tg_w] = tg_slope(tg_low, tg_x, tg_held, tg_w, tg_p);
if tg_h <= 0
  tg_h = {first!r} * (tg_to - tg_from);
end
while tg_now < tg_to
  @limit
  tg_last = tg_now + 1.0001 * tg_h >= tg_to;
  tg_s = tg_h;
  if tg_last, tg_s = tg_to - tg_now; end
  tg_k = zeros(numel(tg_x), {stages + 1});
  tg_k(:, 1) = tg_k1;
  for tg_i = 1:{stages - 1}
    tg_at = min(tg_now + tg_c(tg_i) * tg_s, tg_high);
    tg_next = tg_x + tg_s * (tg_k(:, 1:tg_i) * tg_a{{tg_i}});
    [tg_k(:, tg_i + 1), tg_w] = tg_slope(tg_at, tg_next, tg_held, tg_w, tg_p);
  end
  tg_next = tg_x + tg_s * (tg_k(:, 1:{stages}) * tg_b);
  [tg_k(:, {stages + 1}), tg_w] = tg_slope(min(tg_now + tg_s, tg_high), tg_next, tg_held, tg_w, tg_p);
  {error}
  if tg_error <= 1
    @remember
    tg_now = tg_now + tg_s;
    tg_x = tg_next;
    tg_k1 = tg_k(:, {stages + 1});
    if tg_last, tg_now = tg_to; end
  elseif ~isfinite(tg_error)
    tg_error = 1e{order};
  end
  if ~(tg_last && tg_error <= 1) || tg_error > 0.1
    tg_h = tg_s * min(5, max(0.2, 0.9 * (tg_error + 1e-12) ^ (-1/{order})));
  end
  if tg_h < 1e-13 * (tg_to - tg_from), error('the step became too small at t = %g', tg_now); end
end
end
"""
    )


DORMAND_PRINCE_5 = "Dormand and Prince (1980), order 5 with an error estimate of order 4."
# As fractions, which are rounded once in whichever tool reads them.
TABLEAU_5 = """tg_c = [1/5, 3/10, 4/5, 8/9, 1];
tg_a = {[1/5], [3/40; 9/40], [44/45; -56/15; 32/9], ...
  [19372/6561; -25360/2187; 64448/6561; -212/729], ...
  [9017/3168; -355/33; 46732/5247; 49/176; -5103/18656]};
tg_b = [35/384; 0; 500/1113; 125/192; -2187/6784; 11/84];
tg_e = [71/57600; 0; -71/16695; 71/1920; -17253/339200; 22/525; -1/40];"""

EXPLICIT_STEPS_5 = _program(
    DORMAND_PRINCE_5,
    TABLEAU_5,
    f"tg_error = norm(tg_s * (tg_k * tg_e) ./ ({ATOL} + {RTOL} * max(abs(tg_x), abs(tg_next))), inf);",
    stages=6,
    order=5,
    first=1e-5,
)

EXPLICIT_STEPS_8 = _program(
    "Dormand and Prince, order 8 with error estimates of order 5 and 3 (Hairer, Norsett and Wanner, Solving ODEs I, II.5).",
    f"""tg_c = [{", ".join(map(repr, DORMAND_PRINCE_8.c[1:]))}];
tg_a = {{{_columns(DORMAND_PRINCE_8.a[1:])}}};
tg_b = {_column(DORMAND_PRINCE_8.b, STAGES)};
tg_e = [{_column(DORMAND_PRINCE_8.error, STAGES + 1)}, ...
  {_column(DORMAND_PRINCE_8.second_error, STAGES + 1)}];""",
    f"""tg_weight = {ATOL} + {EIGHTH_RTOL} * max(abs(tg_x), abs(tg_next));
  tg_off = max(abs(tg_s * (tg_k * tg_e)) ./ [tg_weight, tg_weight], [], 1);
  tg_error = tg_off(1)^2 / max(sqrt(tg_off(1)^2 + 0.01 * tg_off(2)^2), realmin);""",
    stages=STAGES,
    order=8,
    first=1e-4,
)


EXACT = 1e-10
"""A piece of the past is split while its polynomial misses the signal by more than this share of it."""
BEGIN = "tg_past('begin');"
KEPT = "tg_remember(tg_now, tg_s, {states}, [tg_low, tg_high], tg_held, tg_w, tg_p);"


def with_hooks(steps: str, hooks: Mapping[str, str]) -> str:
    """The steps of a program, with lines of its own at places that are marked by `@` and a word; nothing where there is no line."""
    kept = []
    for line in steps.splitlines():
        mark = line.strip()
        if not mark.startswith("@"):
            kept.append(line)
        elif mark[1:] in hooks:
            kept += [line.replace(mark, text) for text in hooks[mark[1:]].splitlines()]
    return "\n".join([*kept, ""])


# A step that reaches beyond the shortest delay would read a past that is not yet there.
def shortest(delays: Sequence[TransportDelay]) -> str:
    """No step may reach beyond what the past already tells."""
    return repr(min(delay.by for delay in delays))


def plain_hooks(delays: Sequence[TransportDelay], *, stiff: bool) -> dict[str, str]:
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
        "still": f"if isempty(tg_x), tg_stand(tg_from, tg_to, {shortest(delays)}, tg_held, tg_w, tg_p); end",
        "limit": f"tg_h = min(tg_h, {shortest(delays)});",
        "remember": KEPT.format(states=states),
    }


def hooks_in_modes(delays: Sequence[TransportDelay]) -> dict[str, str]:
    """How the steps of a model with modes remember."""
    if not delays:
        return {}
    keep = "tg_remember(tg_now, tg_step, tg_quarters(tg_step, {ends}), [tg_low, tg_high], tg_s.held, tg_s.w, tg_p);"
    return {
        "begin": BEGIN,
        "limit": f"tg_s.h = min(tg_s.h, {shortest(delays)});",
        "remember": keep.format(ends="tg_s.x, tg_x, tg_k1, tg_k7, 0 * tg_k1"),
        "before event": "tg_x = tg_s.x;",
        "remember event": "tg_k7 = tg_slope(min(tg_now + tg_step, tg_high), tg_s.x, tg_s.held, tg_s.w, tg_p);\n"
        + keep.format(ends="tg_x, tg_s.x, tg_k1, tg_k7, 0 * tg_k1"),
    }


def past_functions(place: int) -> str:
    """What was, by the number of a delay. Signals behind delays are result `place` of the blocks."""
    # Octave and MATLAB compute every result that is asked for: tildes leave out the others.
    before = "[" + "~, " * (place - 1) + "tg_before]"
    return f"""function tg_value = tg_delayed(tg_k, tg_at, tg_initial, ~)
tg_value = tg_initial;
if tg_at >= 0, tg_value = tg_past('read', tg_k, tg_at); end
end

function tg_value = tg_past(tg_what, tg_a, tg_b, tg_c)
% Pieces of the past: where they begin, how long they are, and five values of each signal.
persistent tg_from tg_length tg_values tg_count
tg_value = [];
switch tg_what
  case 'begin'
    tg_count = 0; tg_from = zeros(1, 64); tg_length = zeros(1, 64); tg_values = cell(1, 64);
  case 'keep'
    tg_count = tg_count + 1;
    if tg_count > numel(tg_from)
      tg_from(2 * tg_count) = 0; tg_length(2 * tg_count) = 0; tg_values{{2 * tg_count}} = [];
    end
    tg_from(tg_count) = tg_a; tg_length(tg_count) = tg_b; tg_values{{tg_count}} = tg_c;
  case 'read'
    tg_piece = max(1, find(tg_from(1:tg_count) <= tg_b, 1, 'last'));
    tg_value = tg_quartic(tg_values{{tg_piece}}(tg_a, :), (tg_b - tg_from(tg_piece)) / tg_length(tg_piece));
end
end

function tg_value = tg_quartic(tg_row, tg_at)
% The polynomial through values at 0, 1/4, 1/2, 3/4 and 1.
tg_d = tg_at - [0, 1, 2, 3, 4] / 4;
tg_node = find(tg_d == 0, 1);
if ~isempty(tg_node)
  tg_value = tg_row(:, tg_node);
else
  tg_weight = [1, -4, 6, -4, 1] ./ tg_d;
  tg_value = tg_row * tg_weight' / sum(tg_weight);
end
end

function tg_remember(tg_now, tg_step, tg_states, tg_ends, tg_held, tg_w, tg_p)
% Keep a step, whose states stand at its quarters, in as many pieces as its signals need.
tg_pieces = [0; 1];
while ~isempty(tg_pieces)
  tg_low = tg_pieces(1, 1); tg_size = tg_pieces(2, 1) - tg_low; tg_pieces(:, 1) = [];
  tg_row = [];
  for tg_share = [0:0.25:1, 0.125]
    tg_s = tg_low + tg_share * tg_size;
    tg_at = min(max(tg_now + tg_s * tg_step, tg_ends(1)), tg_ends(2));
    tg_x = tg_quartic(tg_states, tg_s);
    tg_w = tg_solved(tg_at, tg_x, tg_held, tg_w, tg_p);
    {before} = tg_blocks(tg_at, tg_x, tg_held, tg_w, tg_p);
    tg_row(:, end + 1) = tg_before;
  end
  tg_missed = abs(tg_quartic(tg_row(:, 1:5), 0.125) - tg_row(:, 6));
  if tg_size > 1e-3 && any(tg_missed > {EXACT} * max(abs(tg_row), [], 2))
    tg_pieces = [[tg_low, tg_low + tg_size / 2; tg_low + tg_size / 2, tg_low + tg_size], tg_pieces];
  else
    tg_past('keep', tg_now + tg_low * tg_step, tg_size * tg_step, tg_row(:, 1:5));
  end
end
end
"""


PAST_WITHOUT_STATES = """
function tg_stand(tg_from, tg_to, tg_most, tg_held, tg_w, tg_p)
% Remember an interval of a model without states.
tg_count = ceil((tg_to - tg_from) / tg_most);
tg_ends = [tg_from + tg_margin(tg_from, tg_to), tg_to - tg_margin(tg_from, tg_to)];
for tg_i = 1:tg_count
  tg_step = (tg_to - tg_from) / tg_count;
  tg_remember(tg_from + (tg_i - 1) * tg_step, tg_step, zeros(0, 5), tg_ends, tg_held, tg_w, tg_p);
end
end
"""

# Simulink keeps the past itself, in its transport delays.
GIVEN_PAST = """function tg_value = tg_delayed(tg_k, ~, ~, tg_p)
% Simulink tells what delayed signals are now.
tg_value = tg_p.tg_late(tg_k);
end
"""

# Of order 4 where the bend inside the step is known; in modes its ends and the slopes there must do.
HERMITE = """
function tg_states = tg_quarters(tg_step, tg_x, tg_next, tg_f, tg_after, tg_bent)
% The states at the quarters of a step, by its ends, the slopes there, and how it bends between.
tg_s = (0:4) / 4;
tg_states = tg_x * ((1 + 2*tg_s) .* (1 - tg_s).^2) + tg_next * (tg_s.^2 .* (3 - 2*tg_s)) ...
  + tg_step * (tg_f * (tg_s .* (1 - tg_s).^2) - tg_after * (tg_s.^2 .* (1 - tg_s)) + tg_bent * (tg_s.^2 .* (1 - tg_s).^2));
end

function tg_bent = tg_bend(tg_k)
% The fourth order of Dormand and Prince inside a step (Hairer, Norsett and Wanner, Solving ODEs I, II.6).
tg_bent = tg_k * [-12715105075/11282082432; 0; 87487479700/32700410799; -10690763975/1880347072; ...
  701980252875/199316789632; -1453857185/822651844; 69997945/29380423];
end
"""

# The collocation polynomial is the solution of Radau's method between its stages: nothing is added to it.
COLLOCATION = """
function tg_states = tg_quarters(tg_x, tg_z, tg_c)
% The states at the quarters of a step: the polynomial through its start and its three stages.
tg_nodes = [0, tg_c]; tg_known = [tg_x, tg_x + tg_z(:, 1), tg_x + tg_z(:, 2), tg_x + tg_z(:, 3)];
tg_states = zeros(numel(tg_x), 5);
for tg_i = 1:5
  for tg_j = 1:4
    tg_others = tg_nodes([1:tg_j - 1, tg_j + 1:4]);
    tg_weight = prod(((tg_i - 1) / 4 - tg_others) ./ (tg_nodes(tg_j) - tg_others));
    tg_states(:, tg_i) = tg_states(:, tg_i) + tg_weight * tg_known(:, tg_j);
  end
end
end
"""
