"""A model with modes as a MATLAB program: blocks for each mode, steps until a guard rises, and how the next mode is found.

Of all modes that agree with themselves the nearest is taken, one without a jump before one with. What follows others is handed
over by conservation of contents. An impact gives every storage 1 + e times the jump of a plastic one.
"""

from collections.abc import Iterator, Mapping

from tellegen.exporting.diagram import Diagram, Formula
from tellegen.exporting.matlab_program import (
    blocks_function,
    comment_text,
    has_tables,
    main_function,
    number_text,
    row_text,
    samples_functions,
)
from tellegen.exporting.matlab_steps import (
    ATOL,
    DORMAND_PRINCE_5,
    GIVEN_PAST,
    HELPERS,
    HERMITE,
    RTOL,
    TABLEAU_5,
    TABLES,
    TIME_LOOP,
    hooks_in_modes,
    past_functions,
    with_hooks,
)
from tellegen.exporting.mode_diagrams import HybridDiagram, ModeDiagram
from tellegen.expressions.matlab import MatlabLines, matlab_name

NOISE = 1e-11
"""A guard that is positive by less than this share of its largest value yet is zero."""

# A guard counts relative to its largest value so far, for each mode of its element: forces and speeds have other sizes.
STEPS_THROUGH_MODES = """
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
"""

# An event ends a step in its middle: the step is taken anew, shorter, until the guard stands at zero at its end.
MODE_STEPS = f"""
function [tg_s, tg_p] = tg_go(tg_s, tg_from, tg_to, tg_p, tg_m)
% Advance through as many modes as come. The right side of a jump is meant: the interval is a little shorter at both ends.
tg_now = tg_from; tg_tiny = tg_margin(tg_from, tg_to);
tg_p.tg_mode = tg_s.mode;
tg_g = tg_guard_values(tg_from + tg_tiny, tg_s, tg_p);
if any(tg_g > {NOISE} * tg_sizes(tg_s, tg_m))
  tg_s = tg_next(tg_s, tg_s.mode, tg_from + tg_tiny, tg_probe(tg_s, tg_from, tg_s.h), [], tg_p, tg_m);
end
while tg_now < tg_to
  [tg_s, tg_now, tg_fired, tg_step] = tg_stretch(tg_s, tg_now, tg_to, tg_tiny, tg_p, tg_m);
  if ~isempty(tg_fired)
    tg_s = tg_change(tg_s, tg_now, tg_fired, tg_step, tg_p, tg_m);
  end
end
tg_p.tg_mode = tg_s.mode;
end

function tg_ahead = tg_probe(tg_s, tg_now, tg_step)
tg_ahead = max(1e-6 * tg_step, 2^14 * eps(max(abs(tg_now), 1e-6 * tg_s.until)));
end

function tg_g = tg_guard_values(tg_now, tg_s, tg_p)
tg_w = tg_solved(tg_now, tg_s.x, tg_s.held, tg_s.w, tg_p);
[~, ~, ~, ~, tg_g] = tg_blocks(tg_now, tg_s.x, tg_s.held, tg_w, tg_p);
end

function tg_size = tg_sizes(tg_s, tg_m)
% The largest value that each guard of the mode had.
tg_rows = tg_m.guards{{tg_s.mode}};
tg_size = zeros(size(tg_rows, 1), 1);
for tg_i = 1:size(tg_rows, 1)
  tg_size(tg_i) = tg_s.largest(tg_rows(tg_i, 1), tg_m.words(tg_s.mode, tg_rows(tg_i, 1)), tg_rows(tg_i, 2));
end
end

function tg_s = tg_grown(tg_s, tg_mode, tg_g, tg_m)
tg_rows = tg_m.guards{{tg_mode}};
for tg_i = 1:size(tg_rows, 1)
  tg_e = tg_rows(tg_i, 1); tg_a = tg_m.words(tg_mode, tg_e); tg_b = tg_rows(tg_i, 2);
  tg_s.largest(tg_e, tg_a, tg_b) = max(tg_s.largest(tg_e, tg_a, tg_b), abs(tg_g(tg_i)));
end
end

function [tg_s, tg_now, tg_fired, tg_step] = tg_stretch(tg_s, tg_now, tg_to, tg_tiny, tg_p, tg_m)
% Steps in one mode until the end or until a guard rises; tg_fired tells which.
tg_p.tg_mode = tg_s.mode;
tg_fired = []; tg_low = tg_now + tg_tiny; tg_high = tg_to - tg_tiny;
if tg_s.h <= 0, tg_s.h = 1e-3 * (tg_to - tg_now); end
[tg_k1, tg_s.w] = tg_slope(min(tg_low, tg_high), tg_s.x, tg_s.held, tg_s.w, tg_p);
tg_before = tg_guard_values(min(tg_low, tg_high), tg_s, tg_p);
while tg_now < tg_to
  tg_s.h = min(tg_s.h, tg_s.until / 200);
  @limit
  tg_last = tg_now + 1.0001 * tg_s.h >= tg_to;
  tg_step = tg_s.h;
  if tg_last, tg_step = tg_to - tg_now; end
  [tg_x, tg_w, tg_k7, tg_error] = tg_dormand_prince(tg_now, tg_step, tg_s, tg_k1, [tg_low, tg_high], tg_p);
  if ~isfinite(tg_error), tg_error = 1e5; end
  if tg_error <= 1
    tg_t = tg_s; tg_t.x = tg_x; tg_t.w = tg_w;
    tg_after = tg_guard_values(min(tg_now + tg_step, tg_high), tg_t, tg_p);
    tg_s = tg_grown(tg_s, tg_s.mode, tg_after, tg_m);
    tg_noise = {NOISE} * tg_sizes(tg_s, tg_m);
    tg_rising = find(tg_before <= tg_noise & tg_after > tg_noise);
    if ~isempty(tg_rising)
      @before event
      [tg_s, tg_step, tg_fired] = tg_located(tg_now, tg_step, tg_s, tg_k1, [tg_low, tg_high], tg_rising, tg_before, tg_after, tg_p);
      @remember event
      tg_now = min(tg_now + tg_step, tg_to);
      return;
    end
    @remember
    tg_s.x = tg_x; tg_s.w = tg_w; tg_k1 = tg_k7; tg_before = tg_after;
    tg_now = tg_now + tg_step;
    if tg_last, tg_now = tg_to; end
  end
  if ~(tg_last && tg_error <= 1) || tg_error > 0.1
    tg_s.h = tg_step * min(5, max(0.2, 0.9 * (tg_error + 1e-12) ^ (-1/5)));
  end
  if tg_s.h < 1e-14 * tg_s.until, error('the step became too small at t = %g', tg_now); end
end
end

function [tg_s, tg_high, tg_fired] = tg_located(tg_now, tg_step, tg_s, tg_k1, tg_ends, tg_rising, tg_before, tg_after, tg_p)
% The step after which the first guard stands at zero: secants that keep the zero between them, halves where these are slow.
tg_low = 0; tg_high = tg_step;
tg_a = max(tg_before(tg_rising)); tg_b = max(tg_after(tg_rising));
for tg_pass = 1:200
  if tg_high - tg_low <= 4 * eps(tg_now + tg_step), break; end
  tg_try = tg_high - tg_b * (tg_high - tg_low) / (tg_b - tg_a);
  if mod(tg_pass, 3) == 0 || ~(tg_try > tg_low && tg_try < tg_high), tg_try = (tg_low + tg_high) / 2; end
  [tg_t, tg_g] = tg_partial(tg_now, tg_try, tg_s, tg_k1, tg_ends, tg_p);
  tg_c = max(tg_g(tg_rising));
  if tg_c > 0
    tg_high = tg_try; tg_b = tg_c;
  else
    tg_low = tg_try; tg_a = tg_c;
  end
end
[tg_s, tg_g] = tg_partial(tg_now, tg_high, tg_s, tg_k1, tg_ends, tg_p);
tg_fired = tg_rising(tg_g(tg_rising) > 0);
if isempty(tg_fired), tg_fired = tg_rising; end
end

function [tg_s, tg_g] = tg_partial(tg_now, tg_step, tg_s, tg_k1, tg_ends, tg_p)
[tg_s.x, tg_s.w] = tg_dormand_prince(tg_now, tg_step, tg_s, tg_k1, tg_ends, tg_p);
tg_g = tg_guard_values(min(tg_now + tg_step, tg_ends(2)), tg_s, tg_p);
end

function [tg_next, tg_w, tg_k7, tg_error] = tg_dormand_prince(tg_now, tg_step, tg_s, tg_k1, tg_ends, tg_p)
% {DORMAND_PRINCE_5}
{TABLEAU_5}
tg_c(end + 1) = 1; tg_a{{end + 1}} = tg_b;
tg_k = zeros(numel(tg_s.x), 7);
tg_k(:, 1) = tg_k1;
tg_w = tg_s.w;
for tg_i = 1:6
  tg_at = min(max(tg_now + tg_c(tg_i) * tg_step, tg_ends(1)), tg_ends(2));
  tg_next = tg_s.x + tg_step * (tg_k(:, 1:tg_i) * tg_a{{tg_i}});
  [tg_k(:, tg_i + 1), tg_w] = tg_slope(tg_at, tg_next, tg_s.held, tg_w, tg_p);
end
tg_k7 = tg_k(:, 7);
tg_error = norm(tg_step * (tg_k * tg_e) ./ ({ATOL} + {RTOL} * max(abs(tg_s.x), abs(tg_next))), inf);
end
"""


# As in our own runs: modes are tried in the order of how many elements change, and a mode is good when none of its
# guards is positive a moment later. A mode that is only passed through may break them for that moment.
MODE_CHOICE = f"""function tg_s = tg_change(tg_s, tg_now, tg_fired, tg_step, tg_p, tg_m)
% Impacts first, then the mode that follows.
tg_p.tg_mode = tg_s.mode; tg_mode = tg_s.mode;
[~, ~, ~, ~, ~, tg_outputs, tg_kept, tg_speeds] = tg_blocks(tg_now, tg_s.x, tg_s.held, tg_s.w, tg_p);
tg_s.x(1:tg_m.storages) = tg_outputs;
tg_rows = tg_m.guards{{tg_mode}};
for tg_i = tg_fired(:)'
  if tg_rows(tg_i, 3)
    tg_e = tg_rows(tg_i, 1);
    tg_contact = tg_with(tg_mode, tg_e, tg_rows(tg_i, 2), tg_m);
    tg_plastic = tg_handed(tg_contact, tg_s.x, tg_s, tg_now, tg_p, tg_m);
    tg_s.fastest(tg_e) = max(tg_s.fastest(tg_e), tg_speeds(tg_i));
    if tg_kept(tg_i) * tg_speeds(tg_i) <= max({RTOL} * tg_s.fastest(tg_e), {ATOL})
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
tg_rows = tg_m.guards{{tg_mode}};
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
    tg_own = tg_m.guards{{tg_here}};
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
tg_w = tg_m.guesses{{tg_mode}};
[tg_trial.x, tg_mismatch] = tg_handed(tg_mode, tg_s.x, tg_s, tg_now, tg_p, tg_m);
tg_trial.w = tg_solved(tg_now, tg_trial.x, tg_s.held, tg_w, tg_p);
[tg_dx, ~, ~, ~, tg_low] = tg_blocks(tg_now, tg_trial.x, tg_s.held, tg_trial.w, tg_p);
tg_later = tg_trial.x + tg_ahead * tg_dx;
tg_w = tg_solved(tg_now + tg_ahead, tg_later, tg_s.held, tg_trial.w, tg_p);
[~, ~, ~, ~, tg_high] = tg_blocks(tg_now + tg_ahead, tg_later, tg_s.held, tg_w, tg_p);
tg_s = tg_grown(tg_s, tg_mode, max(abs(tg_low), abs(tg_high)), tg_m);
tg_t = tg_s; tg_t.mode = tg_mode;
tg_noise = {NOISE} * tg_sizes(tg_t, tg_m);
tg_positive = tg_high > tg_noise;
for tg_i = tg_fired(:)', tg_positive(tg_i) = tg_positive(tg_i) || tg_high(tg_i) > tg_low(tg_i); end
tg_trial.violated = find(tg_positive);
tg_trial.broken = any(tg_low > tg_noise);
tg_trial.smooth = all(abs(tg_mismatch) <= 10 * ({RTOL} * tg_s.scale + {ATOL}));
end

function [tg_x, tg_mismatch] = tg_handed(tg_mode, tg_x, tg_s, tg_now, tg_p, tg_m)
% Storages that follow in a mode: T' L T dz = -T' L (what they are told - what they have), so that contents are conserved.
tg_n = tg_m.storages;
tg_mismatch = zeros(tg_n, 1);
tg_following = tg_m.following{{tg_mode}};
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
  tg_change = -(tg_rows' * tg_l * tg_rows) \\ (tg_rows' * tg_l * tg_mismatch);
  tg_x(1:tg_n) = tg_x(1:tg_n) + tg_rows * tg_change;
end
end

function tg_values = tg_told(tg_now, tg_x, tg_s, tg_following, tg_p, tg_m)
tg_w = tg_solved(tg_now, tg_x, tg_s.held, tg_m.guesses{{tg_p.tg_mode}}, tg_p);
[~, ~, ~, ~, ~, tg_outputs] = tg_blocks(tg_now, tg_x, tg_s.held, tg_w, tg_p);
tg_values = tg_outputs(tg_following);
end
"""


# Four results as without modes, then guards, outputs, restitutions and speeds.
PLACE = 9
"""Which result of the blocks what goes into delays is: behind those of models without modes and what tells of the mode."""


def hybrid_run_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that integrates a model with modes and gives the recorded signals over time."""
    delays = hybrid.first.delays
    past = [past_functions(PLACE), HERMITE] if delays else []
    return _joined(
        main_function(hybrid.first, name, f"{name}_parameters()"),
        _start(hybrid),
        with_hooks(TIME_LOOP + STEPS_THROUGH_MODES, hooks_in_modes(delays)),
        *_mode_functions(hybrid, hooks_in_modes(delays)),
        *past,
    )


def modes_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that tells which mode follows when a guard rises. The Simulink model asks it."""
    return _joined(_next_mode(hybrid, name), *_mode_functions(hybrid, {}), GIVEN_PAST if hybrid.first.delays else "")


def _mode_functions(hybrid: HybridDiagram, hooks: Mapping[str, str]) -> list[str]:
    """What both files need: the modes, their blocks, and the search for the mode that follows."""
    diagrams = [mode.diagram for mode in hybrid.modes if mode.diagram is not None]
    return [
        _modes(hybrid),
        _dispatch(hybrid),
        *_all_blocks(hybrid),
        _inertia(hybrid),
        samples_functions(hybrid.first.holds),
        with_hooks(MODE_STEPS, hooks),
        MODE_CHOICE,
        HELPERS,
        TABLES if any(map(has_tables, diagrams)) else "",
    ]


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _next_mode(hybrid: HybridDiagram, name: str) -> str:
    # A time that does not go on belongs to a new run: what is remembered of the last one is cleared then.
    return f"""function [tg_mode, tg_x] = {name}_modes(tg_now, tg_x, tg_mode, tg_held, tg_late)
% The mode of '{comment_text(hybrid.name)}' that follows when a guard rises, and the states handed over to it.
% tg_held are what sampled signals hold, tg_late what delayed signals are now.
persistent tg_memory
if nargin < 4, tg_held = []; end
if nargin < 5, tg_late = []; end
tg_p = {name}_parameters();
tg_p.tg_late = tg_late;
tg_m = tg_modes();
if isempty(tg_memory) || tg_now <= tg_memory.now
  tg_memory.scale = zeros(tg_m.storages, 1);
  tg_memory.largest = zeros(size(tg_m.words, 2), max(tg_m.words(:)), max(tg_m.words(:)));
  tg_memory.fastest = zeros(size(tg_m.words, 2), 1);
end
tg_s = struct('x', tg_x(:), 'held', tg_held, 'w', tg_m.guesses{{tg_mode}}, 'mode', tg_mode, 'h', 0);
tg_s.until = {number_text(hybrid.first.until)};
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
"""


def _start(hybrid: HybridDiagram) -> str:
    holds = "; ".join(number_text(hold.initial) for hold in hybrid.first.holds)
    return f"""function [tg_x, tg_held, tg_mode] = tg_start()
tg_x = {row_text(hybrid.initial)}';
tg_held = [{holds}];
tg_mode = {hybrid.start + 1};
end
"""


def _modes(hybrid: HybridDiagram) -> str:
    """Words of modes by number, which modes there are, guards (element, mode to go to, impact), and which storages follow."""
    # Modes are compared as rows of numbers; a comment in the file tells their words.
    words = _numbers(hybrid)
    table = "; ".join(", ".join(str(words[k][w]) for k, w in enumerate(mode.words)) for mode in hybrid.modes)
    possible = ", ".join(str(int(mode.diagram is not None)) for mode in hybrid.modes)
    guards = ", ".join(f"[{_guard_rows(mode, words)}]" for mode in hybrid.modes)
    following = ", ".join(
        f"[{', '.join(str(hybrid.storages.index(n) + 1) for n in mode.following)}]" for mode in hybrid.modes
    )
    guesses = ", ".join(_guesses(mode.diagram) for mode in hybrid.modes)
    said = "; ".join(f"{k}: {', '.join(mode.words)}" for k, mode in enumerate(hybrid.modes, 1))
    return f"""function tg_m = tg_modes()
% The modes of {", ".join(hybrid.elements)} are {said}.
tg_m.words = [{table}];
tg_m.possible = logical([{possible}]);
tg_m.guards = {{{guards}}};
tg_m.following = {{{following}}};
tg_m.guesses = {{{guesses}}};
tg_m.storages = {len(hybrid.storages)};
end
"""


def _numbers(hybrid: HybridDiagram) -> list[dict[str, int]]:
    """The number of each word of each element, from 1 in the order of appearance."""
    found: list[dict[str, int]] = [{} for _ in hybrid.elements]
    for mode in hybrid.modes:
        for known, word in zip(found, mode.words, strict=True):
            known.setdefault(word, len(known) + 1)
    return found


def _guard_rows(mode: ModeDiagram, words: list[dict[str, int]]) -> str:
    rows = [(g.element + 1, words[g.element][g.to], int(bool(g.restitution))) for g in mode.guards]
    return "; ".join(", ".join(map(str, row)) for row in rows)


def _guesses(diagram: Diagram | None) -> str:
    guesses = () if diagram is None else diagram.unknowns.guesses
    return f"[{'; '.join(map(number_text, guesses))}]"


def _dispatch(hybrid: HybridDiagram) -> str:
    cases = "\n".join(
        f"  case {k}, [varargout{{1:tg_n}}] = tg_blocks_{k}(tg_now, tg_x, tg_held, tg_w, tg_p);"
        for k, mode in enumerate(hybrid.modes, 1)
        if mode.diagram is not None
    )
    return f"""function varargout = tg_blocks(tg_now, tg_x, tg_held, tg_w, tg_p)
% The blocks of the mode that tg_p tells.
tg_n = max(nargout, 1);
switch tg_p.tg_mode
{cases}
end
end
"""


def _all_blocks(hybrid: HybridDiagram) -> Iterator[str]:
    for k, mode in enumerate(hybrid.modes, 1):
        if mode.diagram is not None:
            further = {
                "tg_guards": "; ".join(matlab_name(g.signal) for g in mode.guards),
                "tg_outputs": "; ".join(map(matlab_name, hybrid.storages)),
                "tg_kept": "; ".join(matlab_name(g.restitution) if g.restitution else "NaN" for g in mode.guards),
                "tg_speeds": "; ".join(matlab_name(g.speed) if g.speed else "NaN" for g in mode.guards),
            }
            yield blocks_function(mode.diagram, hybrid.states, f"tg_blocks_{k}", further)


def _inertia(hybrid: HybridDiagram) -> str:
    """The contents of all storages by their outputs."""
    made = MatlabLines()
    entries = [e for row in hybrid.inertia for e in row]
    # Inertias may read formulas of positions; only these are evaluated, not all blocks.
    moving = _needed(hybrid.first, frozenset().union(*(e.free_symbols for e in entries)))
    read = frozenset().union(*(e.free_symbols for e in (*entries, *(item.expression for item in moving))))
    made.lines += [f"{matlab_name(n)} = tg_p.{matlab_name(n)};" for n in hybrid.first.parameters if n in read]
    made.lines += [f"{matlab_name(n)} = tg_x({k});" for k, n in enumerate(hybrid.states, 1) if n in read]
    for item in moving:
        made.assign(matlab_name(item.name), item.expression)
    rows = "; ".join([", ".join([made.text(e) for e in row]) for row in hybrid.inertia])
    return "\n".join(["function tg_l = tg_inertia(tg_x, tg_p)", *made.lines, f"tg_l = [{rows}];", "end", ""])


def _needed(diagram: Diagram, names: frozenset[str]) -> list[Formula]:
    """The formulas behind some names, in the order of evaluation."""
    found: list[Formula] = []
    wanted = set(names)
    for item in reversed(diagram.formulas):
        if isinstance(item, Formula) and item.name in wanted:
            found.insert(0, item)
            wanted |= item.expression.free_symbols
    return found
