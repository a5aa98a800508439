function [tg_t, tg_values, tg_names] = ${name}_run(tg_until, tg_rows)
% Integrate '$title' without Simulink.
%   [t, values, names] = ${name}_run()              the experiment of the model
%   [t, values, names] = ${name}_run(until, rows)   another duration, another number of rows
% values(k, j) is the signal names{j} at the time t(k).
% Steps end where inputs jump; this is known up to t = $until, beyond it the control of the error finds it.
if nargin < 1, tg_until = $until; end
if nargin < 2, tg_rows = 201; end
tg_p = $parameters;
tg_names = {$shown};
tg_t = linspace(0, tg_until, tg_rows)';
tg_stops = [$stops];
tg_samples = tg_sample_times(tg_until);
tg_stops = unique([tg_stops(tg_stops < tg_until), tg_samples$late]);
% Two times that are one but for rounding are one stop: nothing is sampled twice.
tg_stops([false, diff(tg_stops) < 1e-12 * tg_until]) = [];
tg_values = tg_march(tg_p, tg_t, tg_stops);
end
