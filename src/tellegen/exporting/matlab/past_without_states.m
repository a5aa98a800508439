
function tg_stand(tg_from, tg_to, tg_most, tg_held, tg_w, tg_p)
% Remember an interval of a model without states.
tg_count = ceil((tg_to - tg_from) / tg_most);
tg_ends = [tg_from + tg_margin(tg_from, tg_to), tg_to - tg_margin(tg_from, tg_to)];
for tg_i = 1:tg_count
  tg_step = (tg_to - tg_from) / tg_count;
  tg_remember(tg_from + (tg_i - 1) * tg_step, tg_step, zeros(0, 5), tg_ends, tg_held, tg_w, tg_p);
end
end
