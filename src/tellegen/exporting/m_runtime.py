"""The parts of run files that are the same for every model: stiff steps, samples, unknowns, tables.

Lines that begin with `@` are places where programs with delays have more (`m_past`).
"""

RTOL = 1e-9
ATOL = 1e-12
ESTIMATED = 0.1 * RTOL ** (-1 / 3)
"""The estimate of Radau steps has order 3, the step order 5: it may be larger than the tolerance by so much (Hairer and Wanner)."""

MARCH = """function tg_values = tg_march(tg_p, tg_t, tg_stops)
[tg_x, tg_held, tg_w] = tg_start();
@begin
tg_w = tg_solved(0, tg_x, tg_held, tg_w, tg_p);
tg_held = tg_take(0, tg_x, tg_held, tg_w, tg_p);
[~, tg_y] = tg_blocks(0, tg_x, tg_held, tg_w, tg_p);
tg_values = zeros(numel(tg_t), numel(tg_y));
tg_values(1, :) = tg_y;
tg_h = 0;
for tg_k = 2:numel(tg_t)
  % A stop that is a row but for rounding is that row: nothing is sampled twice.
  tg_near = 1e-12 * tg_t(end);
  tg_inner = tg_stops(tg_stops > tg_t(tg_k - 1) + tg_near & tg_stops < tg_t(tg_k) - tg_near);
  tg_ends = [tg_inner(:)', tg_t(tg_k)];
  tg_from = tg_t(tg_k - 1);
  for tg_to = tg_ends
    if tg_to > tg_from
      [tg_x, tg_w, tg_h] = tg_advance(tg_from, tg_to, tg_x, tg_held, tg_w, tg_p, tg_h);
    end
    tg_held = tg_take(tg_to, tg_x, tg_held, tg_w, tg_p);
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

STIFF = (
    MARCH
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

function [tg_dx, tg_w] = tg_slope(tg_now, tg_x, tg_held, tg_w, tg_p)
tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p);
tg_dx = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
end
"""
)

TOGETHER = """function [tg_dx, tg_w] = tg_together(tg_times, tg_states, tg_held, tg_w, tg_p)
% The rates of several states, which are the columns of a matrix.
tg_dx = tg_blocks(tg_times, tg_states, tg_held, tg_w, tg_p);
end
"""

ONE_BY_ONE = """function [tg_dx, tg_w] = tg_together(tg_times, tg_states, tg_held, tg_w, tg_p)
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
