"""Signals checked against the whole model: names, units, loops and numbers."""

from collections.abc import Mapping
from dataclasses import replace

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.description.context import Context
from tellegen.description.dimensions import (
    NUMBER,
    UNKNOWN,
    DimensionError,
    Measure,
    Open,
    in_words,
    measure_of,
    names_in,
    without_marks,
)
from tellegen.description.shapes import SECOND
from tellegen.description.signals import rules
from tellegen.description.signals.blocks import FORMULA, Key, expand
from tellegen.description.signals.formulas import Scope, unlike
from tellegen.description.signals.lines import Line, Marked
from tellegen.description.signals.ordering import ordered, undetermined
from tellegen.description.signals.values import SignalDefinition
from tellegen.description.values import finite_value
from tellegen.expressions import Expression, Number


class SignalsChecker:
    """Checks the lines of `signals:` once the network is known, and what drives the sources."""

    def __init__(self, context: Context, lines: Mapping[str, Line]) -> None:
        self.context = context
        self.lines = lines

    def settle(self) -> None:
        """Check names, units and loops of all signals, and what drives the sources."""
        context = self.context
        if not context.signals and not context.driven:
            return
        self.scope = Scope(context)
        self._check_names()
        self._done: dict[str, bool] = {}
        for name in self.lines:
            self._measure(name)
        for driven in context.driven:
            subject = f"the signal of {driven.source}"
            self.scope.checked(driven.marked, driven.wanted, subject, driven.node)
        if not context.errors:
            self._check_loops()
            self._check_constants()

    def _check_names(self) -> None:
        """A name stands for one thing, and `t` for the time."""
        context = self.context
        for name, line in self.lines.items():
            taken = (
                "a parameter"
                if name in context.parameters
                else "a displacement"
                if name in context.displacements
                else "a variable of an element"
                if name in self.scope.variables
                else ""
            )
            if taken:
                what = f"the signal '{name}' has the name of {taken}"
                fix = (
                    f"rename the signal; to drive a source by it, write 'signal: {name}_ref' on the line of the source"
                )
                context.collect(context.error(rules.SIGNAL_NAME_TAKEN, line.key, what, fix=fix))

    def _measure(self, name: str) -> None:
        """The unit of a signal, after those of the signals it reads; in a loop one stays unknown."""
        line = self.lines[name]
        if name in self._done:
            return
        self._done[name] = False
        for other in sorted(self._reads(line) & self.lines.keys()):
            self._measure(other)
        self._done[name] = True
        measures = {key: self._measures(line, key, found) for key, found in line.formulas.items()} | line.measures
        if line.block.word == "across":
            measures["across"] = (self._across(line),)
        try:
            measure = line.block.measure(measures)
            self._check_table(line, measures)
        except DimensionError as problem:
            at = line.nodes.get(line.block.word) or line.key
            self.context.collect(unlike(self.context, problem, f"the signal {name}", at))
            measure = UNKNOWN
        if isinstance(measure, Open) or measure == DIMENSIONLESS:
            self.context.signal_measures[name] = _kept_open(line, measure)
        else:
            self.context.signal_measures[name] = measure
            self.context.signals[name] = replace(self.context.signals[name], dimension=measure)

    def _reads(self, line: Line) -> set[str]:
        flat = [e for f in line.formulas.values() for e in (f if isinstance(f, tuple) else (f,))]
        return {name for e in flat for name in names_in(e)}

    def _measures(self, line: Line, key: str, found: Marked) -> tuple[Measure, ...]:
        parts = found if isinstance(found, tuple) else (found,)
        subject, node = line.subject(key), line.nodes[key]
        reads = next(k.reads for k in line.block.keys if k.name == key)
        if reads not in ("constant", "time"):
            return tuple(self.scope.measured(part, subject, node) for part in parts)
        return tuple(self._constant(line, key, part, reads == "time") for part in parts)

    def _constant(self, line: Line, key: str, marked: Expression, is_time: bool) -> Measure:
        """The unit of a setting that parameters alone decide."""
        subject, node, context = line.subject(key), line.nodes[key], self.context
        for name in names_in(marked):
            if name in context.parameters or name in context.broken:
                continue
            if self.scope.changing(name):
                what = f"{subject} depends on '{name}', which changes over time"
                context.collect(context.error(rules.NOT_CONSTANT, node, what, fix="use numbers and parameters"))
            else:
                context.collect(self.scope.unknown(name, subject, node))
            return UNKNOWN
        try:
            measure = measure_of(marked, self.scope.measure)
        except DimensionError as problem:
            context.collect(unlike(context, problem, subject, node))
            return UNKNOWN
        if is_time and not isinstance(measure, Open) and measure != SECOND:
            what = f"{subject} is in {in_words(measure)}, not in s"
            context.collect(context.error(rules.SIGNAL_UNITS, node, what, fix="give a time, such as 1 ms"))
        return measure

    def _check_table(self, line: Line, measures: Mapping[str, tuple[Measure, ...]]) -> None:
        """A table is read at what its points are made of: at times by default."""
        if line.block.word != "table":
            return
        (points,) = measures["points"]
        (at,) = measures.get("at", (SECOND,))
        if not isinstance(points, Open) and not isinstance(at, Open) and points != at:
            what = f"the points of the table {line.name} are in {in_words(points)}, and it is read at {in_words(at)}"
            fix = "say by 'at' where it is read"
            self.context.collect(self.context.error(rules.SIGNAL_UNITS, line.key, what, fix=fix))

    def _across(self, line: Line) -> Measure:
        """The unit of what a sensor between two nodes measures."""
        ends = line.others["across"]
        assert isinstance(ends, tuple), "a sensor stands between nodes"
        found: dict[object, Dimension] = {}
        for element in self.context.elements.values():
            for k, end in enumerate(element.nodes):
                if end in ends:
                    found.setdefault(end, _across_unit(element.kind.domains[k // 2]))
        missing = [str(end) for end in ends if end not in found]
        if missing:
            nodes = dict.fromkeys(n for e in self.context.elements.values() for n in e.nodes)
            fix = did_you_mean(missing[0], list(nodes)[:2000]) or f"the nodes are {listing(list(nodes)[:12])}"
            what = f"the sensor {line.name} is at '{missing[0]}', which is no node"
            self.context.collect(self.context.error(rules.NOT_MEASURABLE, line.nodes["across"], what, fix=fix))
            return UNKNOWN
        units = set(found.values())
        if len(units) > 1:
            what = f"the sensor {line.name} stands between two domains"
            self.context.collect(
                self.context.error(rules.NOT_MEASURABLE, line.nodes["across"], what, fix="name two nodes of one domain")
            )
            return UNKNOWN
        return units.pop()

    def _check_loops(self) -> None:
        """A loop of formulas must determine its unknown."""
        parts: dict[str, SignalDefinition] = {}
        for name, definition in self.context.signals.items():
            try:
                parts |= {part.name: part for part in expand(definition, lambda wanted: wanted)}
            except TellegenError as error:
                self.context.broken.add(name)
                self.context.collect(error)
        order = ordered(parts.values())
        for loop in order.loops:
            why = undetermined(loop, parts, order.torn)
            if why is None:
                continue
            unknown = next(name for name in order.torn if name in loop)
            shown = " -> ".join([*loop, loop[0]])
            many = f"the signals {shown} define each other, and {why}"
            what = many if len(loop) > 1 else f"the signal {loop[0]} defines itself, and {why}"
            finding = rules.CONTRADICTORY_LOOP.finding(
                what,
                where=unknown,
                fix="change one of the formulas, or put a state, a sample or a delay into the loop",
                place=parts[unknown].place,
                members=loop,
            )
            self.context.add_errors([finding])

    def _check_constants(self) -> None:
        """Parameters and storages do not depend on signals."""
        context = self.context
        for name, parameter in context.parameters.items():
            if parameter.expression is not None and (used := parameter.expression.free_symbols & self.lines.keys()):
                what = f"the parameter {name} depends on the signal '{min(used)}'"
                fix = f"describe {name} under 'signals'"
                context.add_errors([rules.NOT_CONSTANT.finding(what, where=name, fix=fix, place=parameter.place)])
        for element in context.elements.values():
            if element.kind.role != "storage":
                continue
            for word, expression in (("value", element.value), ("initial value", element.initial)):
                if expression is not None and (used := expression.free_symbols & self.lines.keys()):
                    what = f"the {word} of the {element.kind.name} {element.name} depends on the signal '{min(used)}'"
                    fix = "keep the storage constant and put a modulated coupling before it"
                    context.add_errors(
                        [rules.NOT_CONSTANT.finding(what, where=element.name, fix=fix, place=element.place)]
                    )

    # With the numbers

    def check_numbers(self, values: Mapping[str, float]) -> None:
        """Periods, delays and filters are positive, and limits in order, as far as their values are known."""
        for line in self.lines.values():
            for key in line.block.keys:
                found = line.formulas.get(key.name)
                if isinstance(found, Expression) and key.reads == "time":
                    self._check_time(line, key, found, values)
                elif isinstance(found, tuple) and key.reads == "limits":
                    self._check_limits(line, key, found, values)

    def _check_time(self, line: Line, key: Key, marked: Expression, values: Mapping[str, float]) -> None:
        value = _value(marked, values)
        if value is None or value > 0 or (value == 0 and key.from_zero):
            return
        what = f"'{key.name}' of the {line.block.word} {line.name} is {value:g} s"
        fix = "give zero or a positive time" if key.from_zero else "give a positive time, such as 1 ms"
        self.context.collect(self.context.error(rules.NOT_POSITIVE, line.nodes[key.name], what, fix=fix))

    def _check_limits(self, line: Line, key: Key, marked: tuple[Expression, ...], values: Mapping[str, float]) -> None:
        low, high = (_value(part, values) for part in marked)
        if low is None or high is None or low < high:
            return
        what = f"the limits of the {line.block.word} {line.name} are {low:g} and {high:g}"
        fix = "write the lower one first" if low > high else "give two different limits"
        self.context.collect(self.context.error(rules.LIMITS_REVERSED, line.nodes[key.name], what, fix=fix))


def _value(marked: Expression, values: Mapping[str, float]) -> float | None:
    expression = without_marks(marked)
    if any(name not in values for name in expression.free_symbols):
        return None
    try:
        return finite_value(expression, values)
    except ArithmeticError:
        return None


def _kept_open(line: Line, measure: Measure) -> Measure:
    """A formula that is a bare number fits any unit; what functions and controllers make of numbers may carry any."""
    plain = line.block.word == FORMULA and isinstance(line.formulas[FORMULA], Number)
    return NUMBER if plain and measure is NUMBER else UNKNOWN


def _across_unit(domain: str) -> Dimension:
    return parse_unit(DOMAINS[domain].across.unit).dimension
