function tg_tiny = tg_margin(tg_from, tg_to)
% How far from its ends an interval is looked at: beyond rounding, and not further than its quarter.
tg_tiny = min(max(1e-12 * (tg_to - tg_from), 16 * eps(tg_to)), (tg_to - tg_from) / 4);
end

function [tg_dx, tg_w] = tg_slope(tg_now, tg_x, tg_held, tg_w, tg_p)
tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p);
tg_dx = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
end

function tg_w = tg_solved(tg_now, tg_x, tg_held, tg_w, tg_p)
% The algebraic unknowns: Newton's method from the last solution; where it fails, along the path on which the residual
% of the start is taken back bit by bit. Where nothing closes they are no numbers, and a step is tried again, shorter.
if isempty(tg_w), return; end
tg_w(~isfinite(tg_w)) = 0;
for tg_start = {tg_w, zeros(size(tg_w))}
  tg_v = tg_start{1}; tg_good = 1; tg_share = 1;
  tg_r = tg_misfit(tg_v, tg_now, tg_x, tg_held, tg_p);
  while tg_good > 0 && tg_share > 1e-12 && all(isfinite(tg_r(:, 1)))
    tg_left = max(tg_good - tg_share, 0);
    [tg_next, tg_ok] = tg_newton(tg_v, tg_left * tg_r(:, 1), tg_now, tg_x, tg_held, tg_p);
    if tg_ok
      tg_v = tg_next; tg_good = tg_left; tg_share = min(3 * tg_share, tg_good);
    else
      tg_share = tg_share / 8;
    end
  end
  if tg_good <= 0, tg_w = tg_v; return; end
end
tg_w = nan(size(tg_w));
end

function tg_r = tg_misfit(tg_w, tg_now, tg_x, tg_held, tg_p)
% What is left of each equation, and the size of its terms.
[~, ~, tg_r] = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p);
end

function [tg_w, tg_ok] = tg_newton(tg_w, tg_left, tg_now, tg_x, tg_held, tg_p)
% Newton's method; solved is what leaves no more than a share of the terms, and not what moves little.
tg_ok = false;
tg_r = tg_misfit(tg_w, tg_now, tg_x, tg_held, tg_p);
for tg_pass = 1:25
  tg_jacobian = zeros(numel(tg_w));
  for tg_i = 1:numel(tg_w)
    tg_step = zeros(size(tg_w)); tg_step(tg_i) = 1e-7 * max(1e-3, abs(tg_w(tg_i)));
    tg_moved = tg_misfit(tg_w + tg_step, tg_now, tg_x, tg_held, tg_p);
    tg_jacobian(:, tg_i) = (tg_moved(:, 1) - tg_r(:, 1)) / tg_step(tg_i);
  end
  if ~all(isfinite(tg_jacobian(:))) || rcond(tg_jacobian) == 0, return; end
  tg_change = tg_jacobian \ (tg_r(:, 1) - tg_left);
  tg_w = tg_w - tg_change;
  tg_r = tg_misfit(tg_w, tg_now, tg_x, tg_held, tg_p);
  if ~all(isfinite(tg_r(:))), return; end
  tg_ok = all(abs(tg_r(:, 1) - tg_left) <= 1e-9 * tg_r(:, 2));
  if tg_ok && norm(tg_change ./ (1e-9 + abs(tg_w)), inf) < 1e-10, return; end
end
end

function tg_closed(tg_w, tg_now)
% What does not close is no result.
if any(isnan(tg_w)), error('no values of the algebraic unknowns close their equations at t = %g', tg_now); end
end

function tg_yes = tg_on_grid(tg_now, tg_period, tg_offset)
tg_count = round((tg_now - tg_offset) / tg_period);
tg_yes = tg_count >= 0 && abs(tg_now - tg_offset - tg_count * tg_period) <= 1e-9 * tg_period;
end
