"""Lines of equations as plain text: rows, names with formulas, lists and parameters."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from tellegen.equations.display import (
    Term,
    signal_lines,
)
from tellegen.equations.readable_forms import (
    Equations,
    HamiltonianForm,
    Signals,
    SparseForm,
    SparseRows,
)
from tellegen.expressions import MINUS_ONE, ONE, ZERO, Add, Expression, to_text

WIDTH = 100
"""How wide a printout is where nobody says."""

NO_UNITS: Mapping[str, str] = {}


def parameters_to_text(
    parameters: Mapping[str, Expression | None], values: Mapping[str, float], units: Mapping[str, str] = NO_UNITS
) -> str:
    """A table of the parameters: name, value in SI units, unit, formula; a dash for a value that is left open."""
    if not parameters:
        return ""
    rows = []
    for name, expression in parameters.items():
        value = f"{values[name]:.12g}" if name in values else "-"
        formula = f"= {to_text(expression)}" if expression is not None and expression.free_symbols else ""
        rows.append((name, value, units.get(name, ""), formula))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(["parameters", *(f"  {line}" for line in lines)])


def joining_sign(before: str, negative: bool) -> str:
    """The sign between what was written and the next term."""
    if not before:
        return "-" if negative else ""
    return " - " if negative else " + "


def prime_of(term: Term) -> str:
    """The prime of a derivative, where the term has one."""
    return "'" if term.dotted else ""


def rates_block(displacements: Mapping[str, Expression], width: int) -> str:
    """What the displacements change with."""
    return named_block("displacements", {f"{name}'": e for name, e in displacements.items()}, width)


def signals_block(signals: Signals, width: int) -> str:
    """The formulas of signals and of their states."""
    lines = []
    for name, is_rate, word, inside in signal_lines(signals):
        texts = ", ".join(map(to_text, inside))
        left = f"{name}'" if is_rate else name
        lines.append(wrapped(f"{left} = {f'{word}({texts})' if word else texts}", width))
    return "\n".join(["signals", *lines]) if lines else ""


def lists_of_names(equations: Equations | HamiltonianForm, units: Mapping[str, str]) -> str:
    """States, inputs and outputs with their units."""
    titles = {"states (x)": equations.states, "inputs (u)": equations.inputs, "outputs (y)": equations.outputs}
    lines = []
    for title, names in titles.items():
        if names:
            shown = ", ".join(f"{name} [{units[name]}]" if units.get(name) else name for name in names)
            lines.append(wrapped(f"{title.ljust(11)}  {shown}", WIDTH, ""))
    return "\n".join(lines)


def named_block(title: str, names: Mapping[str, Expression], width: int) -> str:
    """Names with their formulas under a title; nothing without names."""
    if not names:
        return ""
    return "\n".join([title, *(wrapped(f"{name} = {to_text(e)}", width) for name, e in names.items())])


def indented(text: str) -> str:
    """The text two columns further in."""
    return textwrap.indent(text, "  ")


def wrapped(text: str, width: int, indent: str = "  ", hanging: int = 6) -> str:
    """Lines no wider than asked where spaces allow it; what follows the first is set in."""
    return textwrap.fill(
        text,
        max(width, 40),
        initial_indent=indent,
        subsequent_indent=indent + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def row_text(terms: Iterable[Term], k: int) -> str:
    """Row k of a sum of matrices times vectors."""
    text = ""
    for term in terms:
        if term.alone:
            text = append_term(text, term.rows[k][0], "", term.negative)
            continue
        for entry, factor in zip(term.rows[k], term.factors, strict=True):
            text = append_term(text, entry, f"{factor}{prime_of(term)}", term.negative)
    return text or "0"


def sum_text(terms: Iterable[tuple[Expression, str]], rest: Expression = ZERO) -> str:
    """A sum of entries times names."""
    text = ""
    for entry, factor in terms:
        text = append_term(text, entry, factor, False)
    return append_term(text, rest, "", False) or "0"


def append_term(text: str, entry: Expression, factor: str, negative: bool) -> str:
    """The sum with one more term, its sign in front."""
    if entry is ZERO:
        return text
    written = to_text(entry)
    if isinstance(entry, Add) and (factor or negative):
        written = f"({written})"
    elif written.startswith("-"):
        written, negative = written[1:], not negative
    if factor and entry in (ONE, MINUS_ONE):
        written = factor
    elif factor and written.startswith("1/"):
        written = f"{factor}{written[1:]}"
    elif factor:
        written = f"{written}*{factor}"
    return text + joining_sign(text, negative) + written


def products(row: Iterable[tuple[int, Expression]], names: Sequence[str]) -> list[tuple[Expression, str]]:
    """The entries of a row with the names that they multiply."""
    return [(e, names[j]) for j, e in row]


def entries_by_row(matrix: SparseRows) -> dict[int, list[tuple[int, Expression]]]:
    """The entries of a sparse matrix, row by row."""
    rows: dict[int, list[tuple[int, Expression]]] = {}
    for (i, j), e in sorted(matrix.items(), key=lambda item: item[0]):
        rows.setdefault(i, []).append((j, e))
    return rows


def row_count(form: SparseForm) -> int:
    """How many equations a sparse form has."""
    filled = [i for m in (form.E, form.F, form.G) for i, _ in m]
    return max([*filled, *form.h], default=-1) + 1
