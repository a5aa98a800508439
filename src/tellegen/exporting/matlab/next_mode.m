function [tg_mode, tg_x] = ${name}_modes(tg_now, tg_x, tg_mode, tg_held, tg_late)
% The mode of '$title' that follows when a guard rises, and the states handed over to it.
% tg_held are what sampled signals hold, tg_late what delayed signals are now.
persistent tg_memory
if nargin < 4, tg_held = []; end
if nargin < 5, tg_late = []; end
tg_p = ${name}_parameters();
tg_p.tg_late = tg_late;
tg_m = tg_modes();
if isempty(tg_memory) || tg_now <= tg_memory.now
  tg_memory.scale = zeros(tg_m.storages, 1);
  tg_memory.largest = zeros(size(tg_m.words, 2), max(tg_m.words(:)), max(tg_m.words(:)));
  tg_memory.fastest = zeros(size(tg_m.words, 2), 1);
end
tg_s = struct('x', tg_x(:), 'held', tg_held, 'w', tg_m.guesses{tg_mode}, 'mode', tg_mode, 'h', 0);
tg_s.until = $until;
tg_s.scale = tg_memory.scale; tg_s.largest = tg_memory.largest; tg_s.fastest = tg_memory.fastest;
tg_p.tg_mode = tg_mode;
tg_s.w = tg_solved(tg_now, tg_s.x, tg_s.held, tg_s.w, tg_p);
tg_g = tg_guard_values(tg_now, tg_s, tg_p);
[~, tg_fired] = max(tg_g);
tg_s = tg_change(tg_s, tg_now, tg_fired, 1e-3 * tg_s.until, tg_p, tg_m);
tg_memory = struct('now', tg_now, 'scale', tg_s.scale, 'largest', tg_s.largest, 'fastest', tg_s.fastest);
tg_mode = tg_s.mode;
tg_x = tg_s.x;
end
