function [tg_dx, tg_w] = tg_together(tg_times, tg_states, tg_held, tg_w, tg_p)
% The rates of several states, which are the columns of a matrix.
tg_dx = zeros(size(tg_states));
for tg_i = 1:numel(tg_times)
  [tg_dx(:, tg_i), tg_w] = tg_slope(tg_times(tg_i), tg_states(:, tg_i), tg_held, tg_w, tg_p);
end
end
