function tg_values = tg_march(tg_p, tg_t, tg_stops)
% Row after row, and within a row from stop to stop.
@begin
[tg_s, tg_p, tg_m] = tg_begun(tg_p, tg_t(end));
tg_s.w = tg_solved(0, tg_s.x, tg_s.held, tg_s.w, tg_p);
tg_closed(tg_s.w, 0);
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
  tg_closed(tg_s.w, tg_t(tg_k));
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
