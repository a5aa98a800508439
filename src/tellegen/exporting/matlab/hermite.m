
function tg_states = tg_quarters(tg_step, tg_x, tg_next, tg_f, tg_after, tg_bent)
% The states at the quarters of a step, by its ends, the slopes there, and how it bends between.
tg_s = (0:4) / 4;
tg_states = tg_x * ((1 + 2*tg_s) .* (1 - tg_s).^2) + tg_next * (tg_s.^2 .* (3 - 2*tg_s)) ...
  + tg_step * (tg_f * (tg_s .* (1 - tg_s).^2) - tg_after * (tg_s.^2 .* (1 - tg_s)) + tg_bent * (tg_s.^2 .* (1 - tg_s).^2));
end

function tg_bent = tg_bend(tg_k)
% The fourth order of Dormand and Prince inside a step (Hairer, Norsett and Wanner, Solving ODEs I, II.6).
tg_bent = tg_k * [-12715105075/11282082432; 0; 87487479700/32700410799; -10690763975/1880347072; ...
  701980252875/199316789632; -1453857185/822651844; 69997945/29380423];
end
