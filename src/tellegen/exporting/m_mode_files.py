"""A model with modes as a program: one function of blocks for each mode, and the tables that tell how modes follow each other."""

from collections.abc import Iterator, Mapping

from tellegen.exporting.diagrams import Diagram, Formula
from tellegen.exporting.m_files import (
    blocks_function,
    comment_text,
    has_tables,
    main_function,
    number_text,
    row_text,
    samples_functions,
)
from tellegen.exporting.m_mode_choice import CHOICE
from tellegen.exporting.m_mode_runtime import STEPS
from tellegen.exporting.m_past import GIVEN_PAST, HERMITE, hooks_in_modes, past_functions, with_hooks
from tellegen.exporting.m_runtime import HELPERS, TABLES
from tellegen.exporting.mode_diagrams import HybridDiagram, ModeDiagram
from tellegen.expressions.matlab import MatlabLines, matlab_name

PLACE = 9
"""Which result of the blocks what goes into delays is: behind those of models without modes and what tells of the mode."""


def hybrid_run_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that integrates a model with modes and gives the recorded signals over time."""
    delays = hybrid.first.delays
    past = [past_functions(PLACE), HERMITE] if delays else []
    return _joined(
        main_function(hybrid.first, name, f"{name}_parameters()"),
        _start(hybrid),
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
        with_hooks(STEPS, hooks),
        CHOICE,
        HELPERS,
        TABLES if any(map(has_tables, diagrams)) else "",
    ]


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _next_mode(hybrid: HybridDiagram, name: str) -> str:
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
