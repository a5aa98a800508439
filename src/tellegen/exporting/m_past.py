"""How a run file remembers what delayed signals were: polynomials over the pieces of its steps."""

from collections.abc import Mapping, Sequence

from tellegen.exporting.diagrams import Delay

EXACT = 1e-10
"""A piece of the past is split while its polynomial misses the signal by more than this share of it."""
BEGIN = "tg_past('begin');"
KEPT = "tg_remember(tg_now, tg_s, {states}, [tg_low, tg_high], tg_held, tg_w, tg_p);"


def with_hooks(steps: str, hooks: Mapping[str, str]) -> str:
    """The steps of a program, with lines of its own at places that are marked by `@` and a word; nothing where there is no line."""
    kept = []
    for line in steps.splitlines():
        mark = line.strip()
        if not mark.startswith("@"):
            kept.append(line)
        elif mark[1:] in hooks:
            kept += [line.replace(mark, text) for text in hooks[mark[1:]].splitlines()]
    return "\n".join([*kept, ""])


def shortest(delays: Sequence[Delay]) -> str:
    """No step may reach beyond what the past already tells."""
    return repr(min(delay.by for delay in delays))


def plain_hooks(delays: Sequence[Delay], *, stiff: bool) -> dict[str, str]:
    """How the steps of a model without modes remember."""
    if not delays:
        return {}
    states = (
        "tg_quarters(tg_x, tg_z, tg_c)"
        if stiff
        else "tg_quarters(tg_s, tg_x, tg_next, tg_k1, tg_k(:, 7), tg_bend(tg_k))"
    )
    return {
        "begin": BEGIN,
        "still": f"if isempty(tg_x), tg_stand(tg_from, tg_to, {shortest(delays)}, tg_held, tg_w, tg_p); end",
        "limit": f"tg_h = min(tg_h, {shortest(delays)});",
        "remember": KEPT.format(states=states),
    }


def hooks_in_modes(delays: Sequence[Delay]) -> dict[str, str]:
    """How the steps of a model with modes remember."""
    if not delays:
        return {}
    keep = "tg_remember(tg_now, tg_step, tg_quarters(tg_step, {ends}), [tg_low, tg_high], tg_s.held, tg_s.w, tg_p);"
    return {
        "begin": BEGIN,
        "limit": f"tg_s.h = min(tg_s.h, {shortest(delays)});",
        "remember": keep.format(ends="tg_s.x, tg_x, tg_k1, tg_k7, 0 * tg_k1"),
        "before event": "tg_x = tg_s.x;",
        "remember event": "tg_k7 = tg_slope(min(tg_now + tg_step, tg_high), tg_s.x, tg_s.held, tg_s.w, tg_p);\n"
        + keep.format(ends="tg_x, tg_s.x, tg_k1, tg_k7, 0 * tg_k1"),
    }


def past_functions(place: int) -> str:
    """What was, by the number of a delay. Signals behind delays are result `place` of the blocks."""
    before = "[" + "~, " * (place - 1) + "tg_before]"
    return f"""function tg_value = tg_delayed(tg_k, tg_at, tg_initial, ~)
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
      tg_from(2 * tg_count) = 0; tg_length(2 * tg_count) = 0; tg_values{{2 * tg_count}} = [];
    end
    tg_from(tg_count) = tg_a; tg_length(tg_count) = tg_b; tg_values{{tg_count}} = tg_c;
  case 'read'
    tg_piece = max(1, find(tg_from(1:tg_count) <= tg_b, 1, 'last'));
    tg_value = tg_quartic(tg_values{{tg_piece}}(tg_a, :), (tg_b - tg_from(tg_piece)) / tg_length(tg_piece));
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
    {before} = tg_blocks(tg_at, tg_x, tg_held, tg_w, tg_p);
    tg_row(:, end + 1) = tg_before;
  end
  tg_missed = abs(tg_quartic(tg_row(:, 1:5), 0.125) - tg_row(:, 6));
  if tg_size > 1e-3 && any(tg_missed > {EXACT} * max(abs(tg_row), [], 2))
    tg_pieces = [[tg_low, tg_low + tg_size / 2; tg_low + tg_size / 2, tg_low + tg_size], tg_pieces];
  else
    tg_past('keep', tg_now + tg_low * tg_step, tg_size * tg_step, tg_row(:, 1:5));
  end
end
end
"""


STAND = """
function tg_stand(tg_from, tg_to, tg_most, tg_held, tg_w, tg_p)
% Remember an interval of a model without states.
tg_count = ceil((tg_to - tg_from) / tg_most);
tg_ends = [tg_from + tg_margin(tg_from, tg_to), tg_to - tg_margin(tg_from, tg_to)];
for tg_i = 1:tg_count
  tg_step = (tg_to - tg_from) / tg_count;
  tg_remember(tg_from + (tg_i - 1) * tg_step, tg_step, zeros(0, 5), tg_ends, tg_held, tg_w, tg_p);
end
end
"""

GIVEN_PAST = """function tg_value = tg_delayed(tg_k, ~, ~, tg_p)
% Simulink tells what delayed signals are now.
tg_value = tg_p.tg_late(tg_k);
end
"""

HERMITE = """
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
"""

COLLOCATION = """
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
"""
