"""The steps of run files that are not stiff and remember nothing: the method of order 8 that our own solver takes too.

An interpreter pays for every evaluation, and a method of high order needs the fewest of them for the accuracy asked for.
"""

from collections.abc import Iterable, Mapping

from tellegen.exporting.m_runtime import ATOL, MARCH
from tellegen.simulation.tableaus import DORMAND_PRINCE_8

RTOL = 1e-10
"""Where a fast motion hangs on a slow one, as on a stiff spring, the error of the slow one is magnified."""
STAGES = len(DORMAND_PRINCE_8.c)


def _column(row: Mapping[int, float], length: int) -> str:
    return f"[{'; '.join(repr(row.get(k, 0.0)) for k in range(length))}]"


def _columns(rows: Iterable[Mapping[int, float]]) -> str:
    return ", ...\n  ".join(_column(row, k) for k, row in enumerate(rows, 1))


EIGHTH = (
    MARCH
    + f"""
function [tg_x, tg_w, tg_h] = tg_advance(tg_from, tg_to, tg_x, tg_held, tg_w, tg_p, tg_h)
% Dormand and Prince, order 8 with error estimates of order 5 and 3 (Hairer, Norsett and Wanner, Solving ODEs I, II.5).
tg_c = [{", ".join(map(repr, DORMAND_PRINCE_8.c[1:]))}];
tg_a = {{{_columns(DORMAND_PRINCE_8.a[1:])}}};
tg_b = {_column(DORMAND_PRINCE_8.b, STAGES)};
tg_e = [{_column(DORMAND_PRINCE_8.error, STAGES + 1)}, ...
  {_column(DORMAND_PRINCE_8.second_error, STAGES + 1)}];
tg_now = tg_from;
if isempty(tg_x), return; end
% Both sides of a jump are meant: evaluations at the ends lie just inside the interval.
tg_low = tg_from + tg_margin(tg_from, tg_to); tg_high = tg_to - tg_margin(tg_from, tg_to);
[tg_k1, tg_w] = tg_slope(tg_low, tg_x, tg_held, tg_w, tg_p);
if tg_h <= 0
  tg_h = 1e-4 * (tg_to - tg_from);
end
while tg_now < tg_to
  tg_last = tg_now + 1.0001 * tg_h >= tg_to;
  tg_s = tg_h;
  if tg_last, tg_s = tg_to - tg_now; end
  tg_k = zeros(numel(tg_x), {STAGES + 1});
  tg_k(:, 1) = tg_k1;
  for tg_i = 1:{STAGES - 1}
    tg_at = min(tg_now + tg_c(tg_i) * tg_s, tg_high);
    tg_next = tg_x + tg_s * (tg_k(:, 1:tg_i) * tg_a{{tg_i}});
    [tg_k(:, tg_i + 1), tg_w] = tg_slope(tg_at, tg_next, tg_held, tg_w, tg_p);
  end
  tg_next = tg_x + tg_s * (tg_k(:, 1:{STAGES}) * tg_b);
  [tg_k(:, {STAGES + 1}), tg_w] = tg_slope(min(tg_now + tg_s, tg_high), tg_next, tg_held, tg_w, tg_p);
  tg_weight = {ATOL} + {RTOL} * max(abs(tg_x), abs(tg_next));
  tg_off = max(abs(tg_s * (tg_k * tg_e)) ./ [tg_weight, tg_weight], [], 1);
  tg_error = tg_off(1)^2 / max(sqrt(tg_off(1)^2 + 0.01 * tg_off(2)^2), realmin);
  if tg_error <= 1
    tg_now = tg_now + tg_s;
    tg_x = tg_next;
    tg_k1 = tg_k(:, {STAGES + 1});
    if tg_last, tg_now = tg_to; end
  elseif ~isfinite(tg_error)
    tg_error = 1e8;
  end
  if ~(tg_last && tg_error <= 1) || tg_error > 0.1
    tg_h = tg_s * min(5, max(0.2, 0.9 * (tg_error + 1e-12) ^ (-1/8)));
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
