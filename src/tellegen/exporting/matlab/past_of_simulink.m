function tg_value = tg_delayed(tg_k, ~, ~, tg_p)
% Simulink tells what delayed signals are now.
tg_value = tg_p.tg_late(tg_k);
end
