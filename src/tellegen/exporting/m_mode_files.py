"""A model with modes as a program: one function of blocks for each mode, and the tables that tell how modes follow each other."""

from collections.abc import Iterator

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
from tellegen.exporting.m_runtime import HELPERS, TABLES
from tellegen.exporting.mode_diagrams import HybridDiagram, ModeDiagram
from tellegen.expressions.matlab import MatlabLines, matlab_name


def hybrid_run_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that integrates a model with modes and gives the recorded signals over time."""
    diagrams = [mode.diagram for mode in hybrid.modes if mode.diagram is not None]
    parts = [
        main_function(hybrid.first, name),
        _start(hybrid),
        _modes(hybrid),
        _dispatch(hybrid),
        *_all_blocks(hybrid),
        _inertia(hybrid),
        samples_functions(hybrid.first.holds),
        STEPS,
        CHOICE,
        HELPERS,
        TABLES if any(map(has_tables, diagrams)) else "",
    ]
    return "\n".join(part for part in parts if part)


def no_build_file(hybrid: HybridDiagram, name: str) -> str:
    """A build program that says why there is none."""
    return f"""function {name}_build()
% '{comment_text(hybrid.name)}' has elements with modes. Each mode has its own causality, and so its own block diagram; which
% storages are integrators changes with the mode. A Simulink model has one diagram, so none is built here.
error('this model changes its block diagram with its modes: use {name}_run, which needs no Simulink');
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
