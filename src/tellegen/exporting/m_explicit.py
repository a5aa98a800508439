"""The steps of run files that are not stiff: Runge-Kutta methods of Dormand and Prince.

An interpreter pays for every evaluation, and a method of high order needs the fewest of them for the accuracy asked for: order 8,
as our own solver takes. What remembers a past reads it between steps, and keeps to the shorter steps of order 5.

Lines that begin with `@` are places where programs with delays have more (`m_past`).
"""

from collections.abc import Iterable, Mapping

from tellegen.exporting.m_runtime import ATOL, MARCH, RTOL
from tellegen.simulation.tableaus import DORMAND_PRINCE_8

EIGHTH_RTOL = 1e-10
"""Where a fast motion hangs on a slow one, as on a stiff spring, the error of the slow one is magnified."""
STAGES = len(DORMAND_PRINCE_8.c)


def _column(row: Mapping[int, float], length: int) -> str:
    return f"[{'; '.join(repr(row.get(k, 0.0)) for k in range(length))}]"


def _columns(rows: Iterable[Mapping[int, float]]) -> str:
    return ", ...\n  ".join(_column(row, k) for k, row in enumerate(rows, 1))


def _program(source: str, coefficients: str, error: str, *, stages: int, order: int, first: float) -> str:
    """Steps with a tableau `tg_c`, `tg_a`, `tg_b`, `tg_e`; the slope at the end of a step is the first of the next."""
    return (
        MARCH
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

function [tg_dx, tg_w] = tg_slope(tg_now, tg_x, tg_held, tg_w, tg_p)
tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p);
tg_dx = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
end
"""
    )


FIFTH = _program(
    "Dormand and Prince (1980), order 5 with an error estimate of order 4.",
    """tg_c = [1/5, 3/10, 4/5, 8/9, 1];
tg_a = {[1/5], [3/40; 9/40], [44/45; -56/15; 32/9], ...
  [19372/6561; -25360/2187; 64448/6561; -212/729], ...
  [9017/3168; -355/33; 46732/5247; 49/176; -5103/18656]};
tg_b = [35/384; 0; 500/1113; 125/192; -2187/6784; 11/84];
tg_e = [71/57600; 0; -71/16695; 71/1920; -17253/339200; 22/525; -1/40];""",
    f"tg_error = norm(tg_s * (tg_k * tg_e) ./ ({ATOL} + {RTOL} * max(abs(tg_x), abs(tg_next))), inf);",
    stages=6,
    order=5,
    first=1e-5,
)

EIGHTH = _program(
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
