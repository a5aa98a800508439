"""A model with modes as a MATLAB program: blocks for each mode, steps until a guard rises, and how the next mode is found.

Of all modes that agree with themselves the nearest is taken, one without a jump before one with. What follows others is handed
over by conservation of contents. An impact gives every storage 1 + e times the jump of a plastic one.
"""

from collections.abc import Iterator, Mapping

from tellegen.exporting import matlab_program
from tellegen.exporting.diagram import Diagram, Formula
from tellegen.exporting.mode_diagrams import HybridDiagram, ModeDiagram
from tellegen.expressions.matlab import MatlabLines, matlab_name

NOISE = 1e-11
"""A guard that is positive by less than this share of its largest value yet is zero."""

# Four results as without modes, then guards, outputs, restitutions and speeds.
DELAYED_RESULT = 9
"""Which result of the blocks what goes into delays is: behind those of models without modes and what tells of the mode."""


def hybrid_run_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that integrates a model with modes and gives the recorded signals over time."""
    delays = hybrid.first.delays
    hooks = matlab_program.hooks_in_modes(delays)
    past = [matlab_program.past_functions(DELAYED_RESULT), matlab_program.program_part("hermite")] if delays else []
    return _joined(
        matlab_program.main_function(hybrid.first, name, f"{name}_parameters()"),
        _start(hybrid),
        matlab_program.program_part("time_loop", hooks),
        # A guard counts relative to its largest value so far, for each mode of its element: forces and speeds have other sizes.
        matlab_program.program_part("start_in_modes"),
        *_mode_functions(hybrid, hooks),
        *past,
    )


def modes_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that tells which mode follows when a guard rises. The Simulink model asks it."""
    title, until = matlab_program.comment_text(hybrid.name), matlab_program.number_text(hybrid.first.until)
    return _joined(
        # A time that does not go on belongs to a new run: what is remembered of the last one is cleared then.
        matlab_program.program_part("next_mode", name=name, title=title, until=until),
        *_mode_functions(hybrid, {}),
        # Simulink keeps the past itself, in its transport delays.
        matlab_program.program_part("past_of_simulink") if hybrid.first.delays else "",
    )


def _mode_functions(hybrid: HybridDiagram, hooks: Mapping[str, str]) -> list[str]:
    """What both files need: the modes, their blocks, and the search for the mode that follows."""
    diagrams = [mode.diagram for mode in hybrid.modes if mode.diagram is not None]
    return [
        _modes(hybrid),
        _dispatch(hybrid),
        *_all_blocks(hybrid),
        _inertia(hybrid),
        matlab_program.samples_functions(hybrid.first.holds),
        # An event ends a step in its middle: the step is taken anew, shorter, until the guard stands at zero at its end.
        matlab_program.program_part("steps_in_modes", hooks, tableau=matlab_program.tableau_5(), noise=NOISE),
        # As in our own runs: modes are tried in the order of how many elements change, and a mode is good when none of its
        # guards is positive a moment later. A mode that is only passed through may break them for that moment.
        matlab_program.program_part("mode_choice", noise=NOISE),
        matlab_program.program_part("evaluation"),
        matlab_program.program_part("tables") if any(map(matlab_program.has_tables, diagrams)) else "",
    ]


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _start(hybrid: HybridDiagram) -> str:
    holds = "; ".join(matlab_program.number_text(hold.initial) for hold in hybrid.first.holds)
    return f"""function [tg_x, tg_held, tg_mode] = tg_start()
tg_x = {matlab_program.row_text(hybrid.initial)}';
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
    return f"[{'; '.join(map(matlab_program.number_text, guesses))}]"


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
            yield matlab_program.blocks_function(mode.diagram, hybrid.states, f"tg_blocks_{k}", further)


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
