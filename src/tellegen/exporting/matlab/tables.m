function tg_value = tg_linear(tg_points, tg_levels, tg_at)
tg_k = tg_interval(tg_points, tg_at);
tg_share = min(max((tg_at - tg_points(tg_k)) / (tg_points(tg_k + 1) - tg_points(tg_k)), 0), 1);
tg_value = tg_levels(tg_k) + tg_share * (tg_levels(tg_k + 1) - tg_levels(tg_k));
end

function tg_value = tg_previous(tg_points, tg_levels, tg_at)
tg_value = tg_levels(max(1, sum(tg_points <= tg_at)));
end

function tg_value = tg_cubic(tg_points, tg_levels, tg_slopes, tg_at)
tg_k = tg_interval(tg_points, tg_at);
tg_h = tg_points(tg_k + 1) - tg_points(tg_k);
tg_s = min(max((tg_at - tg_points(tg_k)) / tg_h, 0), 1);
tg_value = (1 + 2 * tg_s) * (1 - tg_s) ^ 2 * tg_levels(tg_k) + tg_s * (1 - tg_s) ^ 2 * tg_h * tg_slopes(tg_k) ...
  + tg_s ^ 2 * (3 - 2 * tg_s) * tg_levels(tg_k + 1) - tg_s ^ 2 * (1 - tg_s) * tg_h * tg_slopes(tg_k + 1);
end

function tg_k = tg_interval(tg_points, tg_at)
tg_k = min(max(sum(tg_points <= tg_at), 1), numel(tg_points) - 1);
end
