function [tg_s, tg_p, tg_m] = tg_begun(tg_p, tg_until)
tg_m = tg_modes();
[tg_x, tg_held, tg_mode] = tg_start();
tg_s = struct('x', tg_x, 'held', tg_held, 'w', tg_m.guesses{tg_mode}, 'mode', tg_mode, 'h', 0);
tg_s.until = tg_until;
tg_s.scale = zeros(tg_m.storages, 1);
tg_s.largest = zeros(size(tg_m.words, 2), max(tg_m.words(:)), max(tg_m.words(:)));
tg_s.fastest = zeros(size(tg_m.words, 2), 1);
tg_p.tg_mode = tg_mode;
end
