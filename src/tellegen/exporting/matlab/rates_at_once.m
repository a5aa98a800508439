function [tg_dx, tg_w] = tg_together(tg_times, tg_states, tg_held, tg_w, tg_p)
% The rates of several states, which are the columns of a matrix.
tg_dx = tg_blocks(tg_times, tg_states, tg_held, tg_w, tg_p);
end
