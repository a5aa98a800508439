"""What makes a run file quick: what parameters alone decide is computed once, and the blocks take several states together.

An interpreter spends its time on operations, not on numbers: a row of states costs as much as one. A step of Radau's method then
asks for its three stages at once, and for the slopes by all states at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.core.names import TIME
from tellegen.exporting.diagrams import Diagram, Inertia, formula_of
from tellegen.expressions import Expression
from tellegen.expressions.matlab import MatlabLines, constant_parts, has_choice, matlab_name
from tellegen.graph.signals import Table

INERTIA = "tg_p.tg_inertia"
"""Where a matrix of inertias lies that stays as it is."""


@final
@dataclass(frozen=True, slots=True)
class Once:
    """Parts of formulas with the texts that read them, whether the matrix of inertias stays, whether states come in columns."""

    parts: Mapping[Expression, str] = field(default_factory=dict)
    inertia: bool = False
    columns: bool = False


NOTHING_ONCE = Once()


def computed_once(diagram: Diagram) -> Once:
    """What can be computed before a run of a diagram."""
    stays = _stays(diagram.inertia, diagram.parameters)
    parts = constant_parts(_formulas(diagram, without_inertia=stays), diagram.parameters)
    texts = {part: f"tg_c({k})" for k, part in enumerate(parts, 1)}
    return Once(texts, stays and diagram.inertia is not None, stays and _takes_columns(diagram))


def names_left(diagram: Diagram, once: Once) -> set[str]:
    """The names that blocks still read."""
    read: set[str] = set()
    for expression in _formulas(diagram, without_inertia=once.inertia):
        waiting, seen = [expression], {expression}
        while waiting:
            node = waiting.pop()
            if node in once.parts:
                continue
            if not node.args:
                read |= node.free_symbols
            waiting += [part for part in node.args if part not in seen]
            seen.update(node.args)
    return read


def moving(diagram: Diagram) -> set[str]:
    """The signals that follow from the time or a state: rows, where states come in columns."""
    found = {TIME, *(item.name for item in diagram.integrators)}
    for item in diagram.formulas:
        if formula_of(item).free_symbols & found:
            found.add(item.name)
    return found | {*(diagram.inertia.rates if diagram.inertia is not None else ())}


def constants_function(diagram: Diagram, once: Once) -> str:
    """The function that adds to the parameters what follows from them alone."""
    made = MatlabLines()
    lines = ["function tg_p = tg_constants(tg_p)"]
    read = {name for part in once.parts for name in part.free_symbols}
    if once.inertia and diagram.inertia is not None:
        read |= {name for row in diagram.inertia.matrix for entry in row for name in entry.free_symbols}
    lines += [f"{matlab_name(name)} = tg_p.{matlab_name(name)};" for name in diagram.parameters if name in read]
    lines.append(f"tg_p.tg_c = [{'; '.join([made.text(part) for part in once.parts])}];")
    if once.inertia and diagram.inertia is not None:
        lines.append(f"{INERTIA} = {matrix_text(diagram.inertia, made)};")
    return "\n".join([*lines, "end", ""])


def matrix_text(inertia: Inertia, made: MatlabLines) -> str:
    """The matrix of inertias in MATLAB."""
    rows = "; ".join([", ".join([made.text(entry) for entry in row]) for row in inertia.matrix])
    return f"[{rows}]"


def _formulas(diagram: Diagram, *, without_inertia: bool) -> Iterator[Expression]:
    yield from (hold.expression for hold in diagram.holds)
    yield from diagram.unknowns.residuals
    yield from (formula_of(item) for item in (*diagram.formulas, *diagram.readings))
    if diagram.inertia is not None and not without_inertia:
        yield from (entry for row in diagram.inertia.matrix for entry in row)


def _stays(inertia: Inertia | None, parameters: Mapping[str, float]) -> bool:
    """Whether the matrix of inertias is the same at all times, and needs no `if`."""
    entries = [] if inertia is None else [entry for row in inertia.matrix for entry in row]
    return all(entry.free_symbols <= parameters.keys() and not has_choice(entry) for entry in entries)


def _takes_columns(diagram: Diagram) -> bool:
    """Whether formulas hold for rows of numbers: nothing is chosen, looked up, solved for or remembered."""
    tables = any(isinstance(item, Table) for item in (*diagram.formulas, *diagram.readings))
    plain = not (tables or diagram.unknowns.names or diagram.delays)
    return plain and not any(map(has_choice, diagram.expressions()))
