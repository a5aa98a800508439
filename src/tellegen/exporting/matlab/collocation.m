
function tg_states = tg_quarters(tg_x, tg_z, tg_c)
% The states at the quarters of a step: the polynomial through its start and its three stages.
tg_nodes = [0, tg_c]; tg_known = [tg_x, tg_x + tg_z(:, 1), tg_x + tg_z(:, 2), tg_x + tg_z(:, 3)];
tg_states = zeros(numel(tg_x), 5);
for tg_i = 1:5
  for tg_j = 1:4
    tg_others = tg_nodes([1:tg_j - 1, tg_j + 1:4]);
    tg_weight = prod(((tg_i - 1) / 4 - tg_others) ./ (tg_nodes(tg_j) - tg_others));
    tg_states(:, tg_i) = tg_states(:, tg_i) + tg_weight * tg_known(:, tg_j);
  end
end
end
