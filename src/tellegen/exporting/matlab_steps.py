"""How a run file advances, the same for every model: stiff and explicit steps, samples, unknowns, tables, and the past of
delayed signals.

What does not depend on the model is MATLAB in the folder `matlab`, one file for each thing that a program may need. Words with
`$` in it are filled in. Lines that begin with `@` are places where programs with delays have more lines (`plain_hooks`,
`hooks_in_modes`).

An interpreter pays for every evaluation, and a method of high order needs the fewest of them for the accuracy asked for: order 8,
as our own solver takes. What remembers a past reads it between steps, and keeps to the shorter steps of order 5.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template

from tellegen.exporting.diagram import TransportDelay
from tellegen.simulation.solvers.coefficients import DORMAND_PRINCE_8

# The steps are written out instead of left to ode45 and ode15s, for four reasons. Octave has ode15s only where it
# was built with SUNDIALS. Both tools should take the same steps, so that a difference is a mistake. Evaluations have
# to stay inside an interval between two jumps, where the solvers of MATLAB ask at its very ends. And delayed signals
# read what lies between steps that are still being made.
RTOL = 1e-9
ATOL = 1e-12
ESTIMATED = 0.1 * RTOL ** (-1 / 3)
"""The estimate of Radau steps has order 3, the step order 5: it may be larger than the tolerance by so much (Hairer and Wanner)."""

EXACT = 1e-10
"""A piece of the past is split while its polynomial misses the signal by more than this share of it."""
EIGHTH_RTOL = 1e-10
"""Where a fast motion hangs on a slow one, as on a stiff spring, the error of the slow one is magnified."""
STAGES = len(DORMAND_PRINCE_8.c)
TOLERANCES = {"rtol": RTOL, "atol": ATOL, "estimated": ESTIMATED, "exact": EXACT}


@cache
def _source(name: str) -> str:
    return (Path(__file__).parent / "matlab" / f"{name}.m").read_text(encoding="ascii")


def program_part(part: str, hooks: Mapping[str, str] | None = None, **values: object) -> str:
    """A file of the folder `matlab` with its values, and with lines of the program's own where a line is `@` and a word.

    Nothing stands where there is no line of the program's own.
    """
    kept = []
    for line in _source(part).splitlines():
        mark = line.strip()
        if not mark.startswith("@"):
            kept.append(line)
        elif hooks and mark[1:] in hooks:
            kept += [line.replace(mark, text) for text in hooks[mark[1:]].splitlines()]
    # Values come last: what a user wrote into a title is never taken for a mark.
    return Template("\n".join([*kept, ""])).substitute(TOLERANCES, **values)


def _column(row: Mapping[int, float], length: int) -> str:
    return f"[{'; '.join(repr(row.get(k, 0.0)) for k in range(length))}]"


def _columns(rows: Iterable[Mapping[int, float]]) -> str:
    return ", ...\n  ".join(_column(row, k) for k, row in enumerate(rows, 1))


def _steps(name: str, hooks: Mapping[str, str], **values: object) -> str:
    # Steps end at every row as well as at every stop: no interpolation is needed, and rows are as exact as steps.
    parts = ("time_loop", "steps_in_one_mode", name)
    return "\n".join(program_part(part, hooks, **values) for part in parts)


def radau_steps(hooks: Mapping[str, str]) -> str:
    """Steps of order 5 that are stiffly accurate: what decays much faster than a step is at rest at its end."""
    return _steps("radau_steps", hooks)


def tableau_5() -> str:
    """The method of order 5 as fractions, which are rounded once in whichever tool reads them."""
    return program_part("dormand_prince_5").rstrip()


# Order 5 and order 8 differ in their tableau and in how they judge the error, and in nothing else.
def explicit_steps_5(hooks: Mapping[str, str]) -> str:
    """Explicit steps of order 5."""
    error = f"tg_error = norm(tg_s * (tg_k * tg_e) ./ ({ATOL} + {RTOL} * max(abs(tg_x), abs(tg_next))), inf);"
    return _steps(
        "explicit_steps", hooks, tableau=tableau_5(), error=error, inner=5, stages=6, slopes=7, order=5, first=1e-5
    )


def explicit_steps_8(hooks: Mapping[str, str]) -> str:
    """Explicit steps of order 8, with the coefficients of our own solver."""
    tableau = program_part(
        "dormand_prince_8",
        nodes=", ".join(map(repr, DORMAND_PRINCE_8.c[1:])),
        rows=f"{{{_columns(DORMAND_PRINCE_8.a[1:])}}}",
        weights=_column(DORMAND_PRINCE_8.b, STAGES),
        error=_column(DORMAND_PRINCE_8.error, STAGES + 1),
        second_error=_column(DORMAND_PRINCE_8.second_error, STAGES + 1),
    )
    error = f"""tg_weight = {ATOL} + {EIGHTH_RTOL} * max(abs(tg_x), abs(tg_next));
  tg_off = max(abs(tg_s * (tg_k * tg_e)) ./ [tg_weight, tg_weight], [], 1);
  tg_error = tg_off(1)^2 / max(sqrt(tg_off(1)^2 + 0.01 * tg_off(2)^2), realmin);"""
    sizes = {"inner": STAGES - 1, "stages": STAGES, "slopes": STAGES + 1}
    return _steps("explicit_steps", hooks, tableau=tableau.rstrip(), error=error, order=8, first=1e-4, **sizes)


BEGIN = "tg_past('begin');"
KEPT = "tg_remember(tg_now, tg_s, {states}, [tg_low, tg_high], tg_held, tg_w, tg_p);"


# A step that reaches beyond the shortest delay would read a past that is not yet there.
def shortest(delays: Sequence[TransportDelay]) -> str:
    """No step may reach beyond what the past already tells."""
    return repr(min(delay.by for delay in delays))


def plain_hooks(delays: Sequence[TransportDelay], *, stiff: bool) -> dict[str, str]:
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


def hooks_in_modes(delays: Sequence[TransportDelay]) -> dict[str, str]:
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


def past_functions(result: int) -> str:
    """What was, by the number of a delay. Signals behind delays are result `result` of the blocks."""
    # Octave and MATLAB compute every result that is asked for: tildes leave out the others.
    return program_part("past", before="[" + "~, " * (result - 1) + "tg_before]")
