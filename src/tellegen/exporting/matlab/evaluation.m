function tg_tiny = tg_margin(tg_from, tg_to)
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
  tg_change = tg_jacobian \ tg_r;
  tg_w = tg_w - tg_change;
  if norm(tg_change ./ (1e-9 + abs(tg_w)), inf) < 1e-12, return; end
end
end

function tg_yes = tg_on_grid(tg_now, tg_period, tg_offset)
tg_count = round((tg_now - tg_offset) / tg_period);
tg_yes = tg_count >= 0 && abs(tg_now - tg_offset - tg_count * tg_period) <= 1e-9 * tg_period;
end
