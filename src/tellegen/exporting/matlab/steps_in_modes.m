
function [tg_s, tg_p] = tg_go(tg_s, tg_from, tg_to, tg_p, tg_m)
% Advance through as many modes as come. The right side of a jump is meant: the interval is a little shorter at both ends.
tg_now = tg_from; tg_tiny = tg_margin(tg_from, tg_to);
tg_p.tg_mode = tg_s.mode;
tg_g = tg_guard_values(tg_from + tg_tiny, tg_s, tg_p);
if any(tg_g > $noise * tg_sizes(tg_s, tg_m))
  tg_s = tg_next(tg_s, tg_s.mode, tg_from + tg_tiny, tg_probe(tg_s, tg_from, tg_s.h), [], tg_p, tg_m);
end
while tg_now < tg_to
  [tg_s, tg_now, tg_fired, tg_step] = tg_stretch(tg_s, tg_now, tg_to, tg_tiny, tg_p, tg_m);
  if ~isempty(tg_fired)
    tg_s = tg_change(tg_s, tg_now, tg_fired, tg_step, tg_p, tg_m);
  end
end
tg_p.tg_mode = tg_s.mode;
end

function tg_ahead = tg_probe(tg_s, tg_now, tg_step)
tg_ahead = max(1e-6 * tg_step, 2^14 * eps(max(abs(tg_now), 1e-6 * tg_s.until)));
end

function tg_g = tg_guard_values(tg_now, tg_s, tg_p)
tg_w = tg_solved(tg_now, tg_s.x, tg_s.held, tg_s.w, tg_p);
[~, ~, ~, ~, tg_g] = tg_blocks(tg_now, tg_s.x, tg_s.held, tg_w, tg_p);
end

function tg_size = tg_sizes(tg_s, tg_m)
% The largest value that each guard of the mode had.
tg_rows = tg_m.guards{tg_s.mode};
tg_size = zeros(size(tg_rows, 1), 1);
for tg_i = 1:size(tg_rows, 1)
  tg_size(tg_i) = tg_s.largest(tg_rows(tg_i, 1), tg_m.words(tg_s.mode, tg_rows(tg_i, 1)), tg_rows(tg_i, 2));
end
end

function tg_s = tg_grown(tg_s, tg_mode, tg_g, tg_m)
tg_rows = tg_m.guards{tg_mode};
for tg_i = 1:size(tg_rows, 1)
  tg_e = tg_rows(tg_i, 1); tg_a = tg_m.words(tg_mode, tg_e); tg_b = tg_rows(tg_i, 2);
  tg_s.largest(tg_e, tg_a, tg_b) = max(tg_s.largest(tg_e, tg_a, tg_b), abs(tg_g(tg_i)));
end
end

function [tg_s, tg_now, tg_fired, tg_step] = tg_stretch(tg_s, tg_now, tg_to, tg_tiny, tg_p, tg_m)
% Steps in one mode until the end or until a guard rises; tg_fired tells which.
tg_p.tg_mode = tg_s.mode;
tg_fired = []; tg_low = tg_now + tg_tiny; tg_high = tg_to - tg_tiny;
if tg_s.h <= 0, tg_s.h = 1e-3 * (tg_to - tg_now); end
[tg_k1, tg_s.w] = tg_slope(min(tg_low, tg_high), tg_s.x, tg_s.held, tg_s.w, tg_p);
tg_before = tg_guard_values(min(tg_low, tg_high), tg_s, tg_p);
while tg_now < tg_to
  tg_s.h = min(tg_s.h, tg_s.until / 200);
  @limit
  tg_last = tg_now + 1.0001 * tg_s.h >= tg_to;
  tg_step = tg_s.h;
  if tg_last, tg_step = tg_to - tg_now; end
  [tg_x, tg_w, tg_k7, tg_error] = tg_dormand_prince(tg_now, tg_step, tg_s, tg_k1, [tg_low, tg_high], tg_p);
  if ~isfinite(tg_error), tg_error = 1e5; end
  if tg_error <= 1
    tg_t = tg_s; tg_t.x = tg_x; tg_t.w = tg_w;
    tg_after = tg_guard_values(min(tg_now + tg_step, tg_high), tg_t, tg_p);
    tg_s = tg_grown(tg_s, tg_s.mode, tg_after, tg_m);
    tg_noise = $noise * tg_sizes(tg_s, tg_m);
    tg_rising = find(tg_before <= tg_noise & tg_after > tg_noise);
    if ~isempty(tg_rising)
      @before event
      [tg_s, tg_step, tg_fired] = tg_located(tg_now, tg_step, tg_s, tg_k1, [tg_low, tg_high], tg_rising, tg_before, tg_after, tg_p);
      @remember event
      tg_now = min(tg_now + tg_step, tg_to);
      return;
    end
    @remember
    tg_s.x = tg_x; tg_s.w = tg_w; tg_k1 = tg_k7; tg_before = tg_after;
    tg_now = tg_now + tg_step;
    if tg_last, tg_now = tg_to; end
  end
  if ~(tg_last && tg_error <= 1) || tg_error > 0.1
    tg_s.h = tg_step * min(5, max(0.2, 0.9 * (tg_error + 1e-12) ^ (-1/5)));
  end
  if tg_s.h < 1e-14 * tg_s.until, error('the step became too small at t = %g', tg_now); end
end
end

function [tg_s, tg_high, tg_fired] = tg_located(tg_now, tg_step, tg_s, tg_k1, tg_ends, tg_rising, tg_before, tg_after, tg_p)
% The step after which the first guard stands at zero: secants that keep the zero between them, halves where these are slow.
tg_low = 0; tg_high = tg_step;
tg_a = max(tg_before(tg_rising)); tg_b = max(tg_after(tg_rising));
for tg_pass = 1:200
  if tg_high - tg_low <= 4 * eps(tg_now + tg_step), break; end
  tg_try = tg_high - tg_b * (tg_high - tg_low) / (tg_b - tg_a);
  if mod(tg_pass, 3) == 0 || ~(tg_try > tg_low && tg_try < tg_high), tg_try = (tg_low + tg_high) / 2; end
  [tg_t, tg_g] = tg_partial(tg_now, tg_try, tg_s, tg_k1, tg_ends, tg_p);
  tg_c = max(tg_g(tg_rising));
  if tg_c > 0
    tg_high = tg_try; tg_b = tg_c;
  else
    tg_low = tg_try; tg_a = tg_c;
  end
end
[tg_s, tg_g] = tg_partial(tg_now, tg_high, tg_s, tg_k1, tg_ends, tg_p);
tg_fired = tg_rising(tg_g(tg_rising) > 0);
if isempty(tg_fired), tg_fired = tg_rising; end
end

function [tg_s, tg_g] = tg_partial(tg_now, tg_step, tg_s, tg_k1, tg_ends, tg_p)
[tg_s.x, tg_s.w] = tg_dormand_prince(tg_now, tg_step, tg_s, tg_k1, tg_ends, tg_p);
tg_g = tg_guard_values(min(tg_now + tg_step, tg_ends(2)), tg_s, tg_p);
end

function [tg_next, tg_w, tg_k7, tg_error] = tg_dormand_prince(tg_now, tg_step, tg_s, tg_k1, tg_ends, tg_p)
$tableau
tg_c(end + 1) = 1; tg_a{end + 1} = tg_b;
tg_k = zeros(numel(tg_s.x), 7);
tg_k(:, 1) = tg_k1;
tg_w = tg_s.w;
for tg_i = 1:6
  tg_at = min(max(tg_now + tg_c(tg_i) * tg_step, tg_ends(1)), tg_ends(2));
  tg_next = tg_s.x + tg_step * (tg_k(:, 1:tg_i) * tg_a{tg_i});
  [tg_k(:, tg_i + 1), tg_w] = tg_slope(tg_at, tg_next, tg_s.held, tg_w, tg_p);
end
tg_k7 = tg_k(:, 7);
tg_error = norm(tg_step * (tg_k * tg_e) ./ ($atol + $rtol * max(abs(tg_s.x), abs(tg_next))), inf);
end
