function [tg_x, tg_w, tg_h] = tg_advance(tg_from, tg_to, tg_x, tg_held, tg_w, tg_p, tg_h)
$tableau
tg_now = tg_from;
@still
if isempty(tg_x), return; end
% Both sides of a jump are meant: evaluations at the ends lie just inside the interval.
tg_low = tg_from + tg_margin(tg_from, tg_to); tg_high = tg_to - tg_margin(tg_from, tg_to);
[tg_k1, tg_w] = tg_slope(tg_low, tg_x, tg_held, tg_w, tg_p);
if tg_h <= 0
  tg_h = $first * (tg_to - tg_from);
end
while tg_now < tg_to
  @limit
  tg_last = tg_now + 1.0001 * tg_h >= tg_to;
  tg_s = tg_h;
  if tg_last, tg_s = tg_to - tg_now; end
  tg_k = zeros(numel(tg_x), $slopes);
  tg_k(:, 1) = tg_k1;
  for tg_i = 1:$inner
    tg_at = min(tg_now + tg_c(tg_i) * tg_s, tg_high);
    tg_next = tg_x + tg_s * (tg_k(:, 1:tg_i) * tg_a{tg_i});
    [tg_k(:, tg_i + 1), tg_w] = tg_slope(tg_at, tg_next, tg_held, tg_w, tg_p);
  end
  tg_next = tg_x + tg_s * (tg_k(:, 1:$stages) * tg_b);
  [tg_k(:, $slopes), tg_w] = tg_slope(min(tg_now + tg_s, tg_high), tg_next, tg_held, tg_w, tg_p);
  $error
  if tg_error <= 1
    @remember
    tg_now = tg_now + tg_s;
    tg_x = tg_next;
    tg_k1 = tg_k(:, $slopes);
    if tg_last, tg_now = tg_to; end
  elseif ~isfinite(tg_error)
    tg_error = 1e$order;
  end
  if ~(tg_last && tg_error <= 1) || tg_error > 0.1
    tg_h = tg_s * min(5, max(0.2, 0.9 * (tg_error + 1e-12) ^ (-1/$order)));
  end
  if tg_h < 1e-13 * (tg_to - tg_from), error('the step became too small at t = %g', tg_now); end
end
end
