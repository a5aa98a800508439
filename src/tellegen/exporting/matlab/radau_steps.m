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
  tg_weight = $atol + $rtol * abs(tg_x); tg_weights = tg_weight(:, [1, 1, 1]);
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
      tg_change = reshape(tg_u \ (tg_l \ (tg_q * reshape(tg_s * (tg_k * tg_a') - tg_z, [], 1))), tg_n, 3);
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
      tg_estimate = (tg_mu / tg_s * eye(tg_n) - tg_jacobian) \ (tg_f + tg_z * tg_e / tg_s);
      tg_error = norm(tg_estimate ./ ($estimated * ($atol + $rtol * max(abs(tg_x), abs(tg_x + tg_z(:, 3))))), inf);
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
