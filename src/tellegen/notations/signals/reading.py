"""Signals from their lines, checked against the whole model: names, units, loops and numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import Rule, TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.expressions import ONE, RESERVED_WORDS, ZERO, Expression, Number, Symbol, number
from tellegen.expressions.rules import CONDITION
from tellegen.model import dimensions
from tellegen.model.mockup_units import MockupUnit
from tellegen.model.signals import SignalDefinition, SignalSetting, order_signals, why_undetermined
from tellegen.notations.context import ReadingContext
from tellegen.notations.grammar import STATE, Content, Key, Words
from tellegen.notations.mockup_units import check_use, unit_beside
from tellegen.notations.parameters import finite_value, value_finding
from tellegen.notations.quantities import parse_marked, read_plain
from tellegen.notations.signals import blocks, latches, rules
from tellegen.notations.signals.formulas import SECOND, FormulaScope, parse_formula, unlike_units_error
from tellegen.notations.signals.tables import read_map, read_table
from tellegen.notations.signals.units import GIVEN_NAMES, names_given
from tellegen.notations.yaml.document import MappingNode, Node, Scalar

MarkedFormulas = Expression | tuple[Expression, ...]


@final
@dataclass
class SignalLine:
    """One signal as it is written: formulas with marks for units, what must wait for the whole file, and where it stands."""

    key: Scalar
    block: blocks.SignalBlock
    formulas: dict[str, MarkedFormulas] = field(default_factory=dict)
    nodes: dict[str, Scalar] = field(default_factory=dict)
    others: dict[str, SignalSetting] = field(default_factory=dict)
    measures: dict[str, tuple[dimensions.Measure, ...]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    between: tuple[Scalar, Scalar] | None = None

    @property
    def name(self) -> str:
        """The name of the signal."""
        return self.key.text

    def subject(self, key: str) -> str:
        """How messages name what stands in a key."""
        if key == blocks.FORMULA:
            return f"the signal {self.name}"
        return f"'{key}' of the signal {self.name}" if key != self.block.word else f"the {key} {self.name}"


class SignalsReader:
    """Reads `signals:` before the network is known; names, units and numbers, and what drives sources, are checked after."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.lines: dict[str, SignalLine] = {}

    def read(self, node: Node) -> None:
        """Parse every line."""
        mapping = self.context.mapping(node, "'signals'")
        # All names before the first line: a formula may read signals that stand further down.
        self.context.signal_names = frozenset(key.text for key in mapping.keys)
        for key, value in mapping.items():
            if not self.context.is_rest(key, value):
                with self.context.collecting(key.text):
                    line = self._line(key, value)
                    self.lines[line.name] = line
                    self.context.signals[line.name] = self._definition(line)

    def _line(self, key: Scalar, node: Node) -> SignalLine:
        context = self.context
        context.read_name(key, (), "a signal")
        if key.text in RESERVED_WORDS:
            what = f"'{key.text}' cannot name a signal: it has a meaning of its own in formulas"
            raise context.error(rules.SIGNAL_NAME_TAKEN, key, what, fix="choose another name")
        if key.text == TIME:
            raise context.error(rules.TIME_TAKEN, key, "a signal is named 't', like the time", fix="rename the signal")
        if not isinstance(node, MappingNode):
            line = SignalLine(key, blocks.BLOCKS[blocks.FORMULA])
            self._read_formula(line, blocks.BLOCKS[blocks.FORMULA].keys[0], node)
            return line
        word = node.keys[0].text if node.keys else ""
        block = blocks.BLOCKS.get(word)
        if block is None:
            named = [other.text for other in node.keys[1:] if other.text in blocks.BLOCKS]
            fix = f"write '{named[0]}' first" if named else did_you_mean(word, blocks.BLOCKS)
            fix = fix or f"write a formula, or one of the blocks {listing(blocks.BLOCKS, 20)}"
            at = node.keys[0] if node.keys else key
            raise context.error(rules.UNKNOWN_BLOCK, at, f"'{word}' is not a signal block", fix=fix, where=key.text)
        return self._block(SignalLine(key, block), node)

    def _block(self, line: SignalLine, node: MappingNode) -> SignalLine:
        keys = {key.name: key for key in line.block.record.keys}
        for other, value in node.items():
            key = keys.get(other.text)
            if key is None:
                raise self.context.unknown_key(other, keys, f"the {line.block.word} {line.name}")
            line.texts[key.name] = self.context.document.source(value)
            getattr(self, f"_read_{key.word}")(line, key, value)  # the table of blocks says what a key holds
        self._check_keys(line, node)
        return line

    def _read_formula(self, line: SignalLine, key: Key, node: Node) -> None:
        text = self.context.formula(node, line.subject(key.name))
        line.nodes[key.name] = text
        line.texts[key.name] = text.text.strip()
        line.formulas[key.name] = parse_formula(self.context, text, line.subject(key.name))

    def _read_formulas(self, line: SignalLine, key: Key, node: Node) -> None:
        texts = self.context.texts(node, f"the {key.name} of {line.name}")
        line.nodes[key.name] = texts[0] if texts else Scalar("", node.line, node.column, node.length, False)
        line.formulas[key.name] = tuple(parse_formula(self.context, t, line.subject(key.name)) for t in texts)
        line.texts[key.name] = "[" + ", ".join(text.text for text in texts) + "]"

    def _read_neighbours(self, line: SignalLine, key: Key, node: Node) -> None:
        names = self.context.texts(node, f"'{key.name}' of {line.name}")
        del line.texts[key.name]
        if len(names) != 2:
            what = f"'{key.name}' of the signal {line.name} names {len(names)} elements, not 2"
            raise self.context.error(rules.BAD_SETTING, node, what, fix="write between: [L_a, R_a]", where=line.name)
        line.between = (names[0], names[1])

    def _read_condition(self, line: SignalLine, key: Key, node: Node) -> None:
        text = self.context.formula(node, line.subject(key.name))
        line.nodes[key.name], line.texts[key.name] = text, text.text.strip()
        line.formulas[key.name] = self._condition(text, line.subject(key.name))

    def _condition(self, text: Scalar, subject: str) -> Expression:
        """A condition as a number, or a number as it is."""
        try:
            return parse_formula(self.context, text, subject)
        except TellegenError as problem:
            if problem.finding.code != CONDITION.code:
                raise
        # Where a number stands a condition is read as one: 1 where it holds.
        before = "if("
        asked = Scalar(f"{before}{text.text}, 1, 0)", text.line, text.column - len(before), text.length, text.quoted)
        return parse_formula(self.context, asked, subject)

    def _read_states(self, line: SignalLine, key: Key, node: Node) -> None:
        context, found = self.context, list[tuple[str, tuple[str, ...]]]()
        told: dict[str, list[Expression]] = {word: [] for word in latches.STATE_KEYS}
        written: dict[str, list[str]] = {word: [] for word in latches.STATE_KEYS}
        mapping = context.mapping(node, f"the states of {line.name}")
        names = [name.text for name in mapping.keys]
        for name, value in mapping.items():
            subject = f"the state {name.text} of {line.name}"
            record = context.record(value, STATE, subject)
            others = record.get("from")
            texts = context.texts(others, f"'from' of {subject}") if others is not None else ()
            for other in texts:
                if other.text not in names:
                    what = f"'{other.text}' of {subject} is no state"
                    fix = did_you_mean(other.text, names) or f"the states are {listing(names)}"
                    raise context.error(rules.BAD_SETTING, other, what, fix=fix, where=line.name)
            found.append((name.text, tuple(other.text for other in texts)))
            for word in latches.STATE_KEYS:
                given = record.get(word)
                default: Expression = number(len(found) - 1) if word == "value" else ZERO
                if given is None:
                    told[word].append(default)
                    written[word].append("")
                    continue
                text = context.formula(given, f"'{word}' of {subject}")
                written[word].append(" ".join(text.text.split()))
                read = self._condition if word == "when" else self._formula_of
                told[word].append(read(text, f"'{word}' of {subject}"))
        if len(found) < 2:
            what = f"the machine {line.name} has {len(found)} state{'' if len(found) == 1 else 's'}"
            fix = "give two states or more: {idle: {}, run: {when: x > 0}}"
            raise context.error(rules.BAD_SETTING, node, what, fix=fix, where=line.name)
        if not any(condition is not ZERO for condition in told["when"]):
            what = f"no state of the machine {line.name} is ever entered"
            raise context.error(rules.MISSING_SETTING, node, what, fix="say when: {when: x > 0}", where=line.name)
        valued = ["value" in _keys(value) for value in mapping.values]
        if any(valued) and not all(valued):
            what = (
                f"the state {names[valued.index(False)]} of the machine {line.name} has no value, and others have one"
            )
            raise context.error(rules.MISSING_SETTING, node, what, fix="give each state a value", where=line.name)
        line.others[latches.NAMES] = latches.states_text(found)
        place = Scalar("", node.line, node.column, node.length, False)
        for word, formulas in told.items():
            line.formulas[word], line.nodes[word] = tuple(formulas), place
            line.texts[word] = latches.LINE.join(written[word])
        line.nodes[key.name] = place
        line.texts.pop(key.name, None)

    def _formula_of(self, text: Scalar, subject: str) -> Expression:
        return parse_formula(self.context, text, subject)

    def _read_limits(self, line: SignalLine, key: Key, node: Node) -> None:
        self._read_formulas(line, key, node)
        found = line.formulas[key.name]
        if not isinstance(found, tuple) or len(found) != 2:
            what = f"the {line.block.word} {line.name} has {len(found)} limits, not 2"  # type: ignore[arg-type]
            fix = "write limits: [lowest, highest]"
            raise self.context.error(rules.BAD_SETTING, node, what, fix=fix, where=line.name)

    def _read_constant(self, line: SignalLine, key: Key, node: Node) -> None:
        text = self.context.formula(node, f"the {key.name} of {line.name}")
        line.nodes[key.name] = text
        line.texts[key.name] = text.text.strip()
        plain = read_plain(text.text)
        if plain is None:
            line.formulas[key.name] = parse_marked(text.text, self.context.text_place(text))
        else:
            line.formulas[key.name] = plain.expression * (
                dimensions.unit_mark(plain.dimension) if plain.dimension is not None else ONE
            )

    _read_time = _read_constant

    def _read_word(self, line: SignalLine, key: Key, node: Node) -> None:
        text = self.context.scalar(node, f"the {key.name} of {line.name}")
        assert isinstance(key.holds, Words), "a word is one of those that the table has"
        if text.text not in (words := key.holds.words):
            fix = did_you_mean(text.text, words) or f"write one of {listing(words)}"
            what = f"'{text.text}' is no {key.name} of the {line.block.word} {line.name}"
            raise self.context.error(rules.BAD_SETTING, text, what, fix=fix, where=line.name)
        line.others[key.name] = text.text

    def _read_table(self, line: SignalLine, key: Key, node: Node) -> None:
        found = read_table(self.context, line.name, node)
        line.others[key.name] = found.points
        line.measures[key.name] = (found.of_values,)
        line.measures["points"] = (found.of_points,)
        # A table is written back by its points, which may have come from a file.
        line.texts.pop(key.name, None)

    def _read_grid(self, line: SignalLine, key: Key, node: Node) -> None:
        found = read_map(self.context, line.name, node)
        line.others[key.name] = found.grid
        line.measures[key.name] = (found.of_values,)
        line.measures["places"] = (found.of_rows, found.of_columns)
        line.texts.pop(key.name, None)

    def _read_unit(self, line: SignalLine, key: Key, node: Node) -> None:
        text = self.context.scalar(node, f"the file of {line.name}")
        line.others[key.name] = unit_beside(self.context, line.name, text)
        line.nodes[key.name] = text

    def _read_given(self, line: SignalLine, key: Key, node: Node) -> None:
        mapping = self.context.mapping(node, f"the {key.name} of {line.name}")
        found: list[Expression] = []
        for name, value in mapping.items():
            text = self.context.formula(value, f"'{name.text}' of the unit {line.name}")
            found.append(parse_formula(self.context, text, f"'{name.text}' of the unit {line.name}"))
            line.nodes.setdefault(key.name, text)
        line.formulas[key.name] = tuple(found)
        line.nodes.setdefault(key.name, Scalar("", node.line, node.column, node.length, False))
        line.others[GIVEN_NAMES[key.name]] = "\n".join(name.text for name in mapping.keys)

    def _read_named(self, line: SignalLine, key: Key, node: Node) -> None:
        text = self.context.scalar(node, f"the {key.name} of {line.name}")
        line.others[key.name], line.nodes[key.name] = text.text, text

    def _read_nodes(self, line: SignalLine, key: Key, node: Node) -> None:
        texts = self.context.texts(node, f"the nodes of {line.name}")
        if not 1 <= len(texts) <= 2:
            what = f"the sensor {line.name} has {len(texts)} nodes, not 2"
            raise self.context.error(rules.BAD_SETTING, node, what, fix="write across: [a, b]", where=line.name)
        line.others[key.name] = tuple(str(self.context.read_node(text, ())) for text in texts)
        line.nodes[key.name] = texts[0]

    def _read_arguments(self, line: SignalLine, key: Key, node: Node) -> None:
        function = self.context.functions.get(line.name)
        if function is None:
            what = f"the signal {line.name} is a Python function, which no file can hold"
            fix = "write a formula, or build the model in Python: Network.signal(name, python=[...], function=...)"
            raise self.context.error(rules.NO_FUNCTION_HERE, node, what, fix=fix, where=line.name)
        line.others[blocks.FUNCTION] = function
        self._read_formulas(line, key, node)

    def _check_keys(self, line: SignalLine, node: MappingNode) -> None:
        """What a block needs, and what needs something else beside it."""
        given = {key.text for key in node.keys}

        def refuse(what: str, fix: str, rule: Rule = rules.MISSING_SETTING) -> TellegenError:
            return self.context.error(rule, node, f"the {line.block.word} {line.name} {what}", fix=fix, where=line.name)

        for key in line.block.keys:
            if key.required and key.name not in given:
                raise refuse(f"has no '{key.name}'", f"add '{key.name}: ...': {key.summary}")
        if line.block.word == "fmu" and isinstance(unit := line.others.get("fmu"), MockupUnit):
            names = {key: names_given(line.others, key) for key in GIVEN_NAMES}
            wrong = check_use(unit, "co-simulation" if "every" in given else "model exchange", names)
            if wrong is not None:
                what = f"the signal {line.name} cannot use the unit '{unit.name}': {wrong[0]}"
                raise self.context.error(rules.UNIT_NOT_READ, node, what, fix=wrong[1], where=line.name)
        if line.block.word == "pid":
            if not given & {"K_p", "K_i", "K_d"}:
                raise refuse("has no gain", "add K_p, K_i or K_d")
            # The derivative of an error that jumps is infinite; every real controller filters it.
            if "K_d" in given and "filter" not in given:
                raise refuse("has a K_d and no filter", "add 'filter: 1 ms'", rules.PURE_DERIVATIVE)
            for key_name, needed in (("filter", "K_d"), ("anti-windup", "limits"), ("anti-windup", "K_i")):
                if key_name in given and needed not in given:
                    raise refuse(f"has '{key_name}' and no '{needed}'", f"add '{needed}', or leave '{key_name}' out")
            if line.others.get("anti-windup") == "back-calculation" and not given & {"tracking", "K_p"}:
                raise refuse("has back-calculation and no 'tracking'", "add 'tracking: 0.1 s'")
        places = line.formulas.get("at")
        if line.block.word == "map" and isinstance(places, tuple) and len(places) != 2:
            raise refuse(f"is read at {len(places)} places, not 2", "write at: [row, column]", rules.BAD_SETTING)
        feedback = line.formulas.get("state feedback")
        gains = line.formulas.get("gains")
        if isinstance(feedback, tuple) and isinstance(gains, tuple) and len(feedback) != len(gains):
            what = f"has {len(feedback)} states and {len(gains)} gains"
            raise refuse(what, "give one gain for each", rules.BAD_SETTING)

    def _definition(self, line: SignalLine, dimension: Dimension | None = None) -> SignalDefinition:
        settings: dict[str, SignalSetting] = {
            key: tuple(map(dimensions.without_marks, found))
            if isinstance(found, tuple)
            else dimensions.without_marks(found)
            for key, found in line.formulas.items()
        }
        settings |= line.others
        ordered_keys = [key.name for key in line.block.keys if key.name in settings]
        return SignalDefinition(
            line.name,
            line.block.word,
            {key: settings[key] for key in ordered_keys},
            dimension,
            self.context.place(line.key),
            line.texts,
            between=line.between and (line.between[0].text, line.between[1].text),
        )

    # With the whole model

    def settle(self) -> None:
        """Check names, units and loops of all signals, and what drives the sources."""
        context = self.context
        if not context.signals and not context.driven:
            return
        self.scope = FormulaScope(context)
        self._check_names()
        self._check_outputs()
        self._done: dict[str, bool] = {}
        for name, line in self.lines.items():
            self._measure(name)
            self._settle_section(line)
        for driven in context.driven:
            subject = f"the signal of {driven.source}"
            self.scope.checked(driven.marked, driven.wanted, subject, driven.node)
        # Loops and constants of a file with wrong names would be told for those names again.
        if not context.errors:
            self._check_loops()
            self._check_constants()

    def _check_names(self) -> None:
        """A name stands for one thing, and `t` for the time."""
        context = self.context
        there: dict[str, Mapping[str, object]] = {
            "a parameter": context.parameters,
            "a displacement": context.displacements,
            "a variable of an element": self.scope.variables,
        }
        for name, line in self.lines.items():
            if taken := next((word for word, known in there.items() if name in known), ""):
                what = f"the signal '{name}' has the name of {taken}"
                fix = (
                    f"rename the signal; to drive a source by it, write 'signal: {name}_ref' on the line of the source"
                )
                context.collect(context.error(rules.SIGNAL_NAME_TAKEN, line.key, what, fix=fix))

    def _check_outputs(self) -> None:
        """What is asked of a unit is there."""
        for name, line in self.lines.items():
            if line.block.word != "output":
                continue
            unit_name = line.formulas["of"]
            brought = self.lines.get(unit_name.name) if isinstance(unit_name, Symbol) else None
            unit = None if brought is None else brought.others.get("fmu")
            what, fix = f"the signal {name} is an output of what brings no unit", "name a signal with 'fmu'"
            if isinstance(unit, MockupUnit):
                exchanged = "every" not in brought.formulas if brought is not None else False
                known = [v.name for v in (*unit.outputs, *(unit.states if exchanged else ()))]
                if line.others["output"] in known:
                    continue
                wanted = str(line.others["output"])
                what = f"the unit '{unit.name}' has no output '{wanted}'"
                fix = did_you_mean(wanted, known) or f"it has {listing(known)}"
            error = self.context.error(rules.UNIT_NOT_READ, line.nodes["output"], what, fix=fix, where=name)
            self.context.collect(error)

    def _measure(self, name: str) -> None:
        """The unit of a signal, after those of the signals it reads; in a loop one stays unknown."""
        line = self.lines[name]
        if name in self._done:
            return
        # Entered before its inputs: a loop comes back here and finds a signal whose unit is not known.
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
        except dimensions.DimensionError as problem:
            at = line.nodes.get(line.block.word) or line.key
            self.context.collect(unlike_units_error(self.context, problem, f"the signal {name}", at))
            measure = dimensions.UNKNOWN
        if isinstance(measure, dimensions.NoDimension) or measure == DIMENSIONLESS:
            self.context.signal_measures[name] = _kept_open(line, measure)
            if measure == DIMENSIONLESS:
                self.context.signals[name] = replace(self.context.signals[name], unit="1")
        else:
            self.context.signal_measures[name] = measure
            self.context.signals[name] = replace(self.context.signals[name], dimension=measure)

    def _settle_section(self, line: SignalLine) -> None:
        """What a section passes on is told in the unit of its domain."""
        context = self.context
        for text in line.between or ():
            element = context.elements.get(text.text)
            if element is None:
                what = f"'{text.text}' of 'between' in the signal {line.name} is no element"
                fix = did_you_mean(text.text, context.elements) or "name the elements on both sides of the section"
                context.collect(context.error(rules.BAD_SETTING, text, what, fix=fix, where=line.name))
                return
            for domain in map(DOMAINS.__getitem__, element.kind.domains):
                for variable in (domain.across, domain.through):
                    if parse_unit(variable.unit).dimension == context.signals[line.name].dimension:
                        context.signals[line.name] = replace(context.signals[line.name], unit=variable.unit)

    def _reads(self, line: SignalLine) -> set[str]:
        flat = [e for f in line.formulas.values() for e in (f if isinstance(f, tuple) else (f,))]
        return {name for e in flat for name in dimensions.user_names(e)}

    def _measures(self, line: SignalLine, key: str, found: MarkedFormulas) -> tuple[dimensions.Measure, ...]:
        parts = found if isinstance(found, tuple) else (found,)
        subject, node = line.subject(key), line.nodes[key]
        holds: Content = next(k.holds for k in line.block.keys if k.name == key)
        if holds not in (blocks.CONSTANT, blocks.PERIOD):
            return tuple(self.scope.measured(part, subject, node) for part in parts)
        return tuple(self._constant(line, key, part, holds == blocks.PERIOD) for part in parts)

    def _constant(self, line: SignalLine, key: str, marked: Expression, is_time: bool) -> dimensions.Measure:
        """The unit of a setting that parameters alone decide."""
        subject, node, context = line.subject(key), line.nodes[key], self.context
        for name in dimensions.user_names(marked):
            if name in context.parameters or name in context.broken:
                continue
            if self.scope.changing(name):
                what = f"{subject} depends on '{name}', which changes over time"
                context.collect(context.error(rules.NOT_CONSTANT, node, what, fix="use numbers and parameters"))
            else:
                context.collect(self.scope.unknown(name, subject, node))
            return dimensions.UNKNOWN
        try:
            measure = dimensions.measure_of(marked, self.scope.measure)
        except dimensions.DimensionError as problem:
            context.collect(unlike_units_error(context, problem, subject, node))
            return dimensions.UNKNOWN
        if is_time and not isinstance(measure, dimensions.NoDimension) and measure != SECOND:
            what = f"{subject} is in {dimensions.dimension_in_words(measure)}, not in s"
            context.collect(context.error(rules.SIGNAL_UNITS, node, what, fix="give a time, such as 1 ms"))
        return measure

    def _check_table(self, line: SignalLine, measures: Mapping[str, tuple[dimensions.Measure, ...]]) -> None:
        """A table is read at what its points are made of: at times by default."""
        if line.block.word == "map":
            for word, wanted, found in zip(("rows", "columns"), measures["places"], measures["at"], strict=True):
                self._check_place(line, f"the {word} of the map", wanted, found)
        if line.block.word != "table":
            return
        self._check_place(line, "the points of the table", *measures["points"], *measures.get("at", (SECOND,)))

    def _check_place(self, line: SignalLine, what: str, points: dimensions.Measure, at: dimensions.Measure) -> None:
        if isinstance(points, dimensions.NoDimension) or isinstance(at, dimensions.NoDimension) or points == at:
            return
        given, read = dimensions.dimension_in_words(points), dimensions.dimension_in_words(at)
        what = f"{what} {line.name} are in {given}, and it is read at {read}"
        self.context.collect(self.context.error(rules.SIGNAL_UNITS, line.key, what, fix="say by 'at' where it is read"))

    def _across(self, line: SignalLine) -> dimensions.Measure:
        """The unit of what a sensor between two nodes measures."""
        told = line.others["across"]
        assert isinstance(told, tuple), "a sensor stands between nodes"
        ends = tuple(self.context.same_nodes.get(str(end), str(end)) for end in told)
        given = self.context.signals[line.name]
        self.context.signals[line.name] = replace(given, settings={**given.settings, "across": ends})
        found: dict[object, Dimension] = {}
        for element in self.context.elements.values():
            for k, end in enumerate(element.nodes):
                if end in ends:
                    unit = DOMAINS[element.kind.domains[k // 2]].across.unit
                    found.setdefault(end, parse_unit(unit).dimension)
        missing = [str(end) for end in ends if end not in found]
        if missing:
            nodes = dict.fromkeys(n for e in self.context.elements.values() for n in e.nodes)
            fix = did_you_mean(missing[0], list(nodes)[:2000]) or f"the nodes are {listing(list(nodes)[:12])}"
            what = f"the sensor {line.name} is at '{missing[0]}', which is no node"
            self.context.collect(self.context.error(rules.NOT_MEASURABLE, line.nodes["across"], what, fix=fix))
            return dimensions.UNKNOWN
        units = set(found.values())
        # A difference of a voltage and a speed means nothing.
        if len(units) > 1:
            what = f"the sensor {line.name} stands between two domains"
            self.context.collect(
                self.context.error(rules.NOT_MEASURABLE, line.nodes["across"], what, fix="name two nodes of one domain")
            )
            return dimensions.UNKNOWN
        return units.pop()

    def _check_loops(self) -> None:
        """A loop of formulas must determine its unknown."""
        parts: dict[str, SignalDefinition] = {}
        for name, definition in self.context.signals.items():
            with self.context.collecting(name):
                parts |= {part.name: part for part in blocks.expand_signal(definition, lambda wanted: wanted)}
        order = order_signals(parts.values())
        for loop in order.loops:
            why = why_undetermined(loop, parts, order.torn)
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
        """Formulas have a value, periods, delays and filters are positive, limits in order, as far as values are known."""
        for line in self.lines.values():
            for word, formulas in line.formulas.items():
                for marked in formulas if isinstance(formulas, tuple) else (formulas,):
                    self._check_value(line, word, marked, values)
            for key in line.block.keys:
                found = line.formulas.get(key.name)
                if isinstance(found, Expression) and key.holds == blocks.PERIOD:
                    self._check_time(line, key, found, values)
                elif isinstance(found, tuple) and key.holds == blocks.LIMITS:
                    self._check_limits(line, key, found, values)

    def _check_value(self, line: SignalLine, word: str, marked: Expression, values: Mapping[str, float]) -> None:
        formula = dimensions.without_marks(marked)
        if not formula.free_symbols <= values.keys():
            return
        try:
            finite_value(formula, values)
        except ArithmeticError as problem:
            place = self.context.text_place(line.nodes.get(word, line.key))
            self.context.add_errors([value_finding(line.subject(word), problem, place)])

    def _check_time(self, line: SignalLine, key: Key, marked: Expression, values: Mapping[str, float]) -> None:
        value = _value(marked, values)
        # A delay of zero would be no delay, a period of zero has no end of samples; an offset may be zero.
        if value is None or value > 0 or (value == 0 and key.default == blocks.ZERO_TIME):
            return
        what = f"'{key.name}' of the {line.block.word} {line.name} is {value:g} s"
        fix = (
            "give zero or a positive time" if key.default == blocks.ZERO_TIME else "give a positive time, such as 1 ms"
        )
        self.context.collect(self.context.error(rules.NOT_POSITIVE, line.nodes[key.name], what, fix=fix))

    def _check_limits(
        self, line: SignalLine, key: Key, marked: tuple[Expression, ...], values: Mapping[str, float]
    ) -> None:
        low, high = (_value(part, values) for part in marked)
        if low is None or high is None or low < high:
            return
        what = f"the limits of the {line.block.word} {line.name} are {low:g} and {high:g}"
        fix = "write the lower one first" if low > high else "give two different limits"
        self.context.collect(self.context.error(rules.LIMITS_REVERSED, line.nodes[key.name], what, fix=fix))


def _keys(node: Node) -> tuple[str, ...]:
    return tuple(key.text for key in node.keys) if isinstance(node, MappingNode) else ()


def _value(marked: Expression, values: Mapping[str, float]) -> float | None:
    expression = dimensions.without_marks(marked)
    if any(name not in values for name in expression.free_symbols):
        return None
    try:
        return finite_value(expression, values)
    except ArithmeticError:
        return None


def _kept_open(line: SignalLine, measure: dimensions.Measure) -> dimensions.Measure:
    """A formula that is a bare number fits any unit; what functions and controllers make of numbers may carry any."""
    plain = line.block.word == blocks.FORMULA and isinstance(line.formulas[blocks.FORMULA], Number)
    return dimensions.NUMBER if plain and measure is dimensions.NUMBER else dimensions.UNKNOWN
