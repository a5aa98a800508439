"""Elements from lines: names that are free, parameters of their own, values that are settled."""

from collections.abc import Mapping as TypingMapping
from typing import NoReturn

from tellegen.description import rules
from tellegen.description.context import MOST_NOTICES, Context, Driven, Heated
from tellegen.description.dimensions import si_unit, without_marks
from tellegen.description.lines import Line
from tellegen.description.model import NOTHING, Element, Parameter, Switching
from tellegen.description.relations import Law
from tellegen.description.signals.formulas import parse_formula
from tellegen.description.switching import switching_of
from tellegen.expressions import Expression, symbol


def read_driver(context: Context, line: Line, name: str, counters: TypingMapping[str, int]) -> Expression:
    """What drives the source of a line, or of one copy of it; it is checked when all signals and variables are known."""
    assert line.signal_node is not None, "only lines with a signal are asked for it"
    marked = parse_formula(context, line.signal_node, f"the signal of {name}", counters)
    context.driven.append(Driven(name, marked, line.form.initial, line.signal_node))
    return without_marks(marked)


def emit(
    context: Context,
    line: Line,
    name: str,
    nodes: tuple[str, ...],
    variables: TypingMapping[str, str] | None,
    value: Expression | None,
    law: Law | None,
    initial: Expression | None,
    switching: Switching | None = None,
    heat: str | None = None,
    signal: Expression | None = None,
) -> None:
    """Add an element to the network, and the parameter that its value becomes."""
    kind = line.form.kind
    if name in context.elements:
        _refuse_twice(context, line, name)
    if nodes[0] == nodes[1] or (len(nodes) == 4 and nodes[2] == nodes[3]):
        what = f"both ends of the {kind.name} {name} are at '{nodes[0] if nodes[0] == nodes[1] else nodes[2]}'"
        raise context.error(rules.SHORTED, line.key, what, fix="connect it between two nodes, or remove it", where=name)
    if value is not None:
        if line.value is not None and line.value.marked is None and name not in context.parameters:
            context.parameters[name] = Parameter(name, value, line.value.dimension, line.value.unit, line.place)
            value = symbol(name)
    elif law is None and kind.role not in ("source", "switching") and not kind.weightless:
        value = symbol(name)
        if name not in context.parameters:
            _stay_symbol(context, line, name)
    for side, chosen in variables.items() if variables else ():
        owner = context.variables.setdefault(chosen, name)
        if owner is not name:
            what = f"{owner} and {name} both name a variable '{chosen}'"
            raise context.error(
                rules.VARIABLE_TWICE, line.key, what, fix=f"choose another name for the {side} variable", where=name
            )
    context.elements[name] = Element(
        name,
        kind,
        nodes,
        value,
        law,
        variables or NOTHING,
        initial,
        line.prefer,
        line.forced,
        line.place,
        line.notes or NOTHING,
        signal=line.signal if signal is None else signal,
        signal_text=line.signal_text,
        switching=switching,
    )
    if heat is not None:
        context.heated.append(Heated(name, heat, line.key))


def emit_line(context: Context, line: Line) -> None:
    """Add the element of a line outside any `repeat`, where names and values are what they are."""
    value = None if line.value is None else line.value.expression
    initial = None if line.initial is None else line.initial.expression
    name = line.name
    assert isinstance(name, str), "outside a 'repeat' a name is a text"
    modes = None if line.switching is None else switching_of(context, line.switching, name, line.key)
    emit(context, line, name, line.nodes, line.variables, value, line.law, initial, modes, line.heat)  # type: ignore[arg-type]


def _refuse_twice(context: Context, line: Line, name: str) -> NoReturn:
    first = context.elements[name].place
    inside = isinstance(line.name, str) and first == line.place
    fix = "inside a 'repeat' a name needs every index, such as 'R[i]'" if inside else "rename one of them"
    at = "" if inside or first is None else f", first in line {first.line}"
    raise context.error(rules.DESCRIBED_TWICE, line.key, f"'{name}' is described twice{at}", fix=fix, where=name)


def _stay_symbol(context: Context, line: Line, name: str) -> None:
    form = line.form
    unit = form.kind.quantity.unit if form.kind.quantity else ""
    context.parameters[name] = Parameter(name, None, form.dimension, unit or si_unit(form.dimension), line.place)
    context.without_value += 1
    if context.without_value <= MOST_NOTICES:
        key = form.kind.quantity.key if form.kind.quantity else "value"
        fix = f"add '{name}' to the parameters, or '{key}: ...' to its line"
        context.notes.append(
            rules.NO_VALUE.finding(f"{name} has no value: it stays a symbol", where=name, fix=fix, place=line.place)
        )
