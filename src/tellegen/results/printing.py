"""A run in a few lines: on a terminal and in a notebook."""

from html import escape
from typing import TYPE_CHECKING

from tellegen.core.errors import Finding
from tellegen.core.names import listing
from tellegen.results import rules

if TYPE_CHECKING:
    from tellegen.results.run import Run

MOST_SHOWN = 24
"""Final values beyond so many are counted, not shown."""


def run_to_text(run: "Run", *, findings: bool = True) -> str:
    """Solver and why, times, final values and the energy books; `findings` tells what was wrong below them."""
    lines = [run.name, "", *table_lines(_facts(run))]
    if len(run.t):
        lines += ["", f"at t = {run.t[-1]:g} s", *table_lines(_finals(run))]
    lines += ["", "energy [J]", *table_lines(_books(run))]
    for finding in run_findings(run) if findings else ():
        lines += ["", str(finding)]
    return "\n".join(line.rstrip() for line in lines)


def run_to_html(run: "Run") -> str:
    """The same for a notebook."""
    parts = [f"<b>{escape(run.name)}</b>", _html_table(_facts(run))]
    if len(run.t):
        parts.append(f"at t = {run.t[-1]:g} s{_html_table(_finals(run))}")
    parts.append(f"energy [J]{_html_table(_books(run))}")
    parts += [f"<pre>{escape(str(finding))}</pre>" for finding in run_findings(run)]
    return "<div>" + "\n".join(parts) + "</div>"


def run_findings(run: "Run") -> list[Finding]:
    """Why it ended early, what its energy books tell, and that nothing moved; books that are open are told once."""
    of_books = run.energy.finding()
    early = run.finding if of_books is None or run.status != "finished" else None
    return [finding for finding in (early, of_books, _nothing_moves(run)) if finding is not None]


def _nothing_moves(run: "Run") -> Finding | None:
    """A notice where all states and inputs were zero: most likely an input was forgotten."""
    inputs = run.input_names
    if not inputs or run.trajectory.y.any() or any(run.values(name).any() for name in inputs):
        return None
    return rules.NOTHING_MOVES.finding(
        f"nothing moves: the run starts at rest, and {listing(inputs, 4)} {'are' if len(inputs) > 1 else 'is'} zero throughout",
        where=run.name,
        fix=f"give an input, as {inputs[0]}: step(1) under 'inputs' of the experiment or --set {inputs[0]}=1, or an initial value",
    )


def _facts(run: "Run") -> list[tuple[str, ...]]:
    made = run.trajectory
    ended = "" if run.status == "finished" else f", {run.status}"
    return [
        ("solver", f"{made.solver} ({made.reason})" if made.reason else made.solver),
        ("set-up", f"{made.setup_s:.3g} s"),
        ("solving", f"{made.solve_s:.3g} s, {made.steps} steps, {made.rhs_calls} evaluations{ended}"),
        *([("events", str(len(run.events)))] if run.events else []),
    ]


def _finals(run: "Run") -> list[tuple[str, ...]]:
    final = run.final()
    rows: list[tuple[str, ...]] = [
        (name, f"{run.display.shown_value(name, value):.6g}", run.display.unit(name, run.unit(name)))
        for name, value in list(final.items())[:MOST_SHOWN]
    ]
    return rows if len(final) <= MOST_SHOWN else [*rows, (f"and {len(final) - MOST_SHOWN} more", "", "")]


def _books(run: "Run") -> list[tuple[str, ...]]:
    books = run.energy
    shown = [("supplied", books.supplied), ("stored", books.stored), ("dissipated", books.dissipated)]
    rare = [("generated", books.generated), ("modulation", books.modulation), ("impulsive", books.impulsive)]
    rare.append(("transferred", books.transferred))
    rows = [(name, f"{value:.6g}") for name, value in [*shown, *((n, v) for n, v in rare if v)]]
    missing, explained = abs(books.books.difference), books.books.explained
    within = f", within the {explained:.1e} J that the tolerance leaves open" if 0.0 < missing <= explained else ""
    return [*rows, ("residual", f"{books.residual:.1e} of the energy handled{within}")]


def table_lines(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of cells as lines of text, columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    return ["  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]


def _html_table(rows: list[tuple[str, ...]]) -> str:
    lines = ("".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) for row in rows)
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
