function tg_value = tg_delayed(tg_k, tg_at, tg_initial, ~)
tg_value = tg_initial;
if tg_at >= 0, tg_value = tg_past('read', tg_k, tg_at); end
end

function tg_value = tg_past(tg_what, tg_a, tg_b, tg_c)
% Pieces of the past: where they begin, how long they are, and five values of each signal.
persistent tg_from tg_length tg_values tg_count
tg_value = [];
switch tg_what
  case 'begin'
    tg_count = 0; tg_from = zeros(1, 64); tg_length = zeros(1, 64); tg_values = cell(1, 64);
  case 'keep'
    tg_count = tg_count + 1;
    if tg_count > numel(tg_from)
      tg_from(2 * tg_count) = 0; tg_length(2 * tg_count) = 0; tg_values{2 * tg_count} = [];
    end
    tg_from(tg_count) = tg_a; tg_length(tg_count) = tg_b; tg_values{tg_count} = tg_c;
  case 'read'
    tg_piece = max(1, find(tg_from(1:tg_count) <= tg_b, 1, 'last'));
    tg_value = tg_quartic(tg_values{tg_piece}(tg_a, :), (tg_b - tg_from(tg_piece)) / tg_length(tg_piece));
end
end

function tg_value = tg_quartic(tg_row, tg_at)
% The polynomial through values at 0, 1/4, 1/2, 3/4 and 1.
tg_d = tg_at - [0, 1, 2, 3, 4] / 4;
tg_node = find(tg_d == 0, 1);
if ~isempty(tg_node)
  tg_value = tg_row(:, tg_node);
else
  tg_weight = [1, -4, 6, -4, 1] ./ tg_d;
  tg_value = tg_row * tg_weight' / sum(tg_weight);
end
end

function tg_remember(tg_now, tg_step, tg_states, tg_ends, tg_held, tg_w, tg_p)
% Keep a step, whose states stand at its quarters, in as many pieces as its signals need.
tg_pieces = [0; 1];
while ~isempty(tg_pieces)
  tg_low = tg_pieces(1, 1); tg_size = tg_pieces(2, 1) - tg_low; tg_pieces(:, 1) = [];
  tg_row = [];
  for tg_share = [0:0.25:1, 0.125]
    tg_s = tg_low + tg_share * tg_size;
    tg_at = min(max(tg_now + tg_s * tg_step, tg_ends(1)), tg_ends(2));
    tg_x = tg_quartic(tg_states, tg_s);
    tg_w = tg_solved(tg_at, tg_x, tg_held, tg_w, tg_p);
    $before = tg_blocks(tg_at, tg_x, tg_held, tg_w, tg_p);
    tg_row(:, end + 1) = tg_before;
  end
  tg_missed = abs(tg_quartic(tg_row(:, 1:5), 0.125) - tg_row(:, 6));
  if tg_size > 1e-3 && any(tg_missed > $exact * max(abs(tg_row), [], 2))
    tg_pieces = [[tg_low, tg_low + tg_size / 2; tg_low + tg_size / 2, tg_low + tg_size], tg_pieces];
  else
    tg_past('keep', tg_now + tg_low * tg_step, tg_size * tg_step, tg_row(:, 1:5));
  end
end
end
