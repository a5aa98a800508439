function tg_s = tg_change(tg_s, tg_now, tg_fired, tg_step, tg_p, tg_m)
% Impacts first, then the mode that follows.
tg_p.tg_mode = tg_s.mode; tg_mode = tg_s.mode;
[~, ~, ~, ~, ~, tg_outputs, tg_kept, tg_speeds] = tg_blocks(tg_now, tg_s.x, tg_s.held, tg_s.w, tg_p);
tg_s.x(1:tg_m.storages) = tg_outputs;
tg_rows = tg_m.guards{tg_mode};
for tg_i = tg_fired(:)'
  if tg_rows(tg_i, 3)
    tg_e = tg_rows(tg_i, 1);
    tg_contact = tg_with(tg_mode, tg_e, tg_rows(tg_i, 2), tg_m);
    tg_plastic = tg_handed(tg_contact, tg_s.x, tg_s, tg_now, tg_p, tg_m);
    tg_s.fastest(tg_e) = max(tg_s.fastest(tg_e), tg_speeds(tg_i));
    if tg_kept(tg_i) * tg_speeds(tg_i) <= max($rtol * tg_s.fastest(tg_e), $atol)
      tg_s.x = tg_plastic; tg_mode = tg_contact;
    else
      tg_s.x = tg_s.x + (1 + tg_kept(tg_i)) * (tg_plastic - tg_s.x);
    end
    tg_fired = [];
  end
end
tg_s = tg_next(tg_s, tg_mode, tg_now, tg_probe(tg_s, tg_now, tg_step), tg_fired, tg_p, tg_m);
end

function tg_other = tg_with(tg_mode, tg_element, tg_word, tg_m)
% The mode with one element changed.
tg_words = tg_m.words(tg_mode, :);
tg_words(tg_element) = tg_word;
tg_other = find(all(tg_m.words == repmat(tg_words, size(tg_m.words, 1), 1), 2), 1);
end

function tg_s = tg_next(tg_s, tg_mode, tg_now, tg_ahead, tg_fired, tg_p, tg_m)
% The nearest mode that agrees with itself where it begins.
tg_outputs = tg_s.x(1:tg_m.storages);
if tg_mode == tg_s.mode
  tg_p.tg_mode = tg_mode;
  [~, ~, ~, ~, ~, tg_outputs] = tg_blocks(tg_now, tg_s.x, tg_s.held, tg_s.w, tg_p);
end
tg_s.x(1:tg_m.storages) = tg_outputs;
tg_s.scale = max(tg_s.scale, abs(tg_outputs));
tg_rows = tg_m.guards{tg_mode};
tg_asked = tg_mode;
for tg_i = tg_fired(:)', tg_asked = tg_with(tg_asked, tg_rows(tg_i, 1), tg_rows(tg_i, 2), tg_m); end
tg_queue = tg_mode; tg_order = 1; tg_distance = 0; tg_seen = false(1, size(tg_m.words, 1)); tg_seen(tg_mode) = true;
if tg_asked ~= tg_mode
  tg_queue = [tg_asked, tg_queue]; tg_order = [0, 1]; tg_distance = [0, 0]; tg_seen(tg_asked) = true;
end
tg_impulsive = []; tg_brief = []; tg_count = 2;
while true
  if isempty(tg_queue)
    % What no other mode led to comes last.
    tg_rest = find(~tg_seen & tg_m.possible);
    if isempty(tg_rest), break; end
    tg_here = tg_rest(1);
    tg_seen(tg_here) = true;
  else
    [~, tg_k] = min(tg_distance + 1e-6 * tg_order);
    tg_here = tg_queue(tg_k);
    tg_queue(tg_k) = []; tg_order(tg_k) = []; tg_distance(tg_k) = [];
  end
  tg_others = [];
  if tg_m.possible(tg_here)
    tg_met = []; if tg_here == tg_mode, tg_met = tg_fired; end
    [tg_trial, tg_s] = tg_tried(tg_here, tg_s, tg_now, tg_ahead, tg_met, tg_p, tg_m);
    if isempty(tg_trial.violated) && tg_trial.smooth
      tg_s = tg_entered(tg_s, tg_trial); return;
    elseif isempty(tg_trial.violated)
      if isempty(tg_impulsive), tg_impulsive = tg_trial; end
    elseif tg_trial.smooth && ~tg_trial.broken && tg_here ~= tg_mode && isempty(tg_brief)
      tg_brief = tg_trial;
    end
    tg_own = tg_m.guards{tg_here};
    tg_all = tg_here;
    for tg_i = tg_trial.violated(:)', tg_all = tg_with(tg_all, tg_own(tg_i, 1), tg_own(tg_i, 2), tg_m); end
    if numel(tg_trial.violated) > 1, tg_others = tg_all; end
    for tg_i = tg_trial.violated(:)', tg_others(end + 1) = tg_with(tg_here, tg_own(tg_i, 1), tg_own(tg_i, 2), tg_m); end
  end
  if ~tg_m.possible(tg_here) || ~tg_trial.smooth
    tg_others = [tg_others, find(sum(tg_m.words ~= repmat(tg_m.words(tg_here, :), size(tg_m.words, 1), 1), 2)' == 1)];
  end
  for tg_o = tg_others
    if ~tg_seen(tg_o)
      tg_seen(tg_o) = true; tg_count = tg_count + 1;
      tg_queue(end + 1) = tg_o; tg_order(end + 1) = tg_count;
      tg_distance(end + 1) = sum(tg_m.words(tg_o, :) ~= tg_m.words(tg_mode, :));
    end
  end
end
if ~isempty(tg_impulsive), tg_s = tg_entered(tg_s, tg_impulsive); return; end
if ~isempty(tg_fired)
  [tg_trial, tg_s] = tg_tried(tg_mode, tg_s, tg_now, tg_ahead, [], tg_p, tg_m);
  if isempty(tg_trial.violated), tg_s = tg_entered(tg_s, tg_trial); return; end
end
if isempty(tg_brief), error('at t = %g no mode agrees with itself', tg_now); end
tg_s = tg_entered(tg_s, tg_brief);
end

function tg_s = tg_entered(tg_s, tg_trial)
if tg_s.mode ~= tg_trial.mode, tg_s.h = tg_s.h / 10; end
tg_s.x = tg_trial.x; tg_s.w = tg_trial.w; tg_s.mode = tg_trial.mode;
end

function [tg_trial, tg_s] = tg_tried(tg_mode, tg_s, tg_now, tg_ahead, tg_fired, tg_p, tg_m)
% A mode with its start, and the guards that are positive there or a moment later.
tg_p.tg_mode = tg_mode;
tg_trial.mode = tg_mode;
tg_w = tg_m.guesses{tg_mode};
[tg_trial.x, tg_mismatch] = tg_handed(tg_mode, tg_s.x, tg_s, tg_now, tg_p, tg_m);
tg_trial.w = tg_solved(tg_now, tg_trial.x, tg_s.held, tg_w, tg_p);
[tg_dx, ~, ~, ~, tg_low] = tg_blocks(tg_now, tg_trial.x, tg_s.held, tg_trial.w, tg_p);
tg_later = tg_trial.x + tg_ahead * tg_dx;
tg_w = tg_solved(tg_now + tg_ahead, tg_later, tg_s.held, tg_trial.w, tg_p);
[~, ~, ~, ~, tg_high] = tg_blocks(tg_now + tg_ahead, tg_later, tg_s.held, tg_w, tg_p);
tg_s = tg_grown(tg_s, tg_mode, max(abs(tg_low), abs(tg_high)), tg_m);
tg_t = tg_s; tg_t.mode = tg_mode;
tg_noise = $noise * tg_sizes(tg_t, tg_m);
tg_positive = tg_high > tg_noise;
for tg_i = tg_fired(:)', tg_positive(tg_i) = tg_positive(tg_i) || tg_high(tg_i) > tg_low(tg_i); end
tg_trial.violated = find(tg_positive);
tg_trial.broken = any(tg_low > tg_noise);
tg_trial.smooth = all(abs(tg_mismatch) <= 10 * ($rtol * tg_s.scale + $atol));
end

function [tg_x, tg_mismatch] = tg_handed(tg_mode, tg_x, tg_s, tg_now, tg_p, tg_m)
% Storages that follow in a mode: T' L T dz = -T' L (what they are told - what they have), so that contents are conserved.
tg_n = tg_m.storages;
tg_mismatch = zeros(tg_n, 1);
tg_following = tg_m.following{tg_mode};
if isempty(tg_following), return; end
tg_p.tg_mode = tg_mode;
tg_own = setdiff(1:tg_n, tg_following);
tg_base = tg_told(tg_now, tg_x, tg_s, tg_following, tg_p, tg_m);
tg_rows = zeros(tg_n, numel(tg_own));
tg_step = 1e-3 * max(abs(tg_x(1:tg_n))); if tg_step == 0, tg_step = 1; end
for tg_i = 1:numel(tg_own)
  tg_moved = tg_x; tg_moved(tg_own(tg_i)) = tg_moved(tg_own(tg_i)) + tg_step;
  tg_rows(tg_own(tg_i), tg_i) = 1;
  tg_rows(tg_following, tg_i) = (tg_told(tg_now, tg_moved, tg_s, tg_following, tg_p, tg_m) - tg_base) / tg_step;
end
tg_mismatch(tg_following) = tg_base - tg_x(tg_following);
tg_l = tg_inertia(tg_x, tg_p);
tg_x(tg_following) = tg_base;
if ~isempty(tg_own)
  tg_change = -(tg_rows' * tg_l * tg_rows) \ (tg_rows' * tg_l * tg_mismatch);
  tg_x(1:tg_n) = tg_x(1:tg_n) + tg_rows * tg_change;
end
end

function tg_values = tg_told(tg_now, tg_x, tg_s, tg_following, tg_p, tg_m)
tg_w = tg_solved(tg_now, tg_x, tg_s.held, tg_m.guesses{tg_p.tg_mode}, tg_p);
[~, ~, ~, ~, ~, tg_outputs] = tg_blocks(tg_now, tg_x, tg_s.held, tg_w, tg_p);
tg_values = tg_outputs(tg_following);
end
