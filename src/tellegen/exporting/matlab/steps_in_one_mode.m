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
