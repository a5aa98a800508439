"""Signals from their lines: `e: omega_ref - omega_m`, `V: {pid: e, K_p: 0.2, K_i: 8, limits: [-24 V, 24 V]}`."""

from collections.abc import Callable, Mapping

from tellegen.core.errors import Rule, TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.units import Dimension
from tellegen.description.context import Context
from tellegen.description.dimensions import mark, without_marks
from tellegen.description.document import Mapping as MappingNode
from tellegen.description.document import Node, Scalar
from tellegen.description.indexing import read_name, read_node
from tellegen.description.quantities import parse_marked, read_plain
from tellegen.description.signals import rules
from tellegen.description.signals.blocks import BLOCKS, FORMULA, Key
from tellegen.description.signals.formulas import parse_formula
from tellegen.description.signals.lines import Line
from tellegen.description.signals.tables import read_table
from tellegen.description.signals.values import SignalDefinition, SignalSetting
from tellegen.expressions import ONE, RESERVED_WORDS


class SignalsReader:
    """Reads `signals:` before the network is known; names, units and numbers are checked after."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.lines: dict[str, Line] = {}

    def read(self, node: Node) -> None:
        """Parse every line."""
        mapping = self.context.mapping(node, "'signals'")
        self.context.signal_names = frozenset(key.text for key in mapping.keys)
        for key, value in mapping.items():
            if self.context.is_rest(key, value):
                continue
            try:
                line = self._line(key, value)
            except TellegenError as error:
                self.context.broken.add(key.text)
                self.context.collect(error)
                continue
            self.lines[line.name] = line
            self.context.signals[line.name] = self._definition(line)

    def _line(self, key: Scalar, node: Node) -> Line:
        context = self.context
        read_name(context, key, (), "a signal")
        if key.text in RESERVED_WORDS:
            what = f"'{key.text}' cannot name a signal: it has a meaning of its own in formulas"
            raise context.error(rules.SIGNAL_NAME_TAKEN, key, what, fix="choose another name")
        if key.text == TIME:
            raise context.error(rules.TIME_TAKEN, key, "a signal is named 't', like the time", fix="rename the signal")
        if not isinstance(node, MappingNode):
            line = Line(key, BLOCKS[FORMULA])
            self._read_formula(line, BLOCKS[FORMULA].keys[0], node)
            return line
        word = node.keys[0].text if node.keys else ""
        block = BLOCKS.get(word)
        if block is None:
            named = [other.text for other in node.keys[1:] if other.text in BLOCKS]
            fix = f"write '{named[0]}' first" if named else did_you_mean(word, BLOCKS)
            fix = fix or f"write a formula, or one of the blocks {listing(BLOCKS, 20)}"
            at = node.keys[0] if node.keys else key
            raise context.error(rules.UNKNOWN_BLOCK, at, f"'{word}' is not a signal block", fix=fix, where=key.text)
        return self._block(Line(key, block), node)

    def _block(self, line: Line, node: MappingNode) -> Line:
        keys = {key.name: key for key in line.block.keys}
        for other, value in node.items():
            key = keys.get(other.text)
            if key is None or key.name == "function":
                known = [name for name in keys if name != "function"]
                raise self.context.unknown_key(other, known, f"the {line.block.word} {line.name}")
            line.texts[key.name] = self.context.document.source(value)
            self._readers[key.reads](self, line, key, value)
        self._check_keys(line, node)
        return line

    def _read_formula(self, line: Line, key: Key, node: Node) -> None:
        text = self.context.formula(node, line.subject(key.name))
        line.nodes[key.name] = text
        line.texts[key.name] = text.text.strip()
        line.formulas[key.name] = parse_formula(self.context, text, line.subject(key.name))

    def _read_formulas(self, line: Line, key: Key, node: Node) -> None:
        texts = self.context.texts(node, f"the {key.name} of {line.name}")
        line.nodes[key.name] = texts[0] if texts else Scalar("", node.line, node.column, node.length, False)
        line.formulas[key.name] = tuple(parse_formula(self.context, t, line.subject(key.name)) for t in texts)
        line.texts[key.name] = "[" + ", ".join(text.text for text in texts) + "]"

    def _read_limits(self, line: Line, key: Key, node: Node) -> None:
        self._read_formulas(line, key, node)
        found = line.formulas[key.name]
        if not isinstance(found, tuple) or len(found) != 2:
            what = f"the {line.block.word} {line.name} has {len(found)} limits, not 2"  # type: ignore[arg-type]
            raise self.context.error(
                rules.BAD_SETTING, node, what, fix="write limits: [lowest, highest]", where=line.name
            )

    def _read_constant(self, line: Line, key: Key, node: Node) -> None:
        text = self.context.formula(node, f"the {key.name} of {line.name}")
        line.nodes[key.name] = text
        line.texts[key.name] = text.text.strip()
        plain = read_plain(text.text)
        if plain is None:
            line.formulas[key.name] = parse_marked(text.text, self.context.text_place(text))
        else:
            line.formulas[key.name] = plain.expression * (mark(plain.dimension) if plain.dimension is not None else ONE)

    def _read_word(self, line: Line, key: Key, node: Node) -> None:
        text = self.context.scalar(node, f"the {key.name} of {line.name}")
        if text.text not in key.words:
            fix = did_you_mean(text.text, key.words) or f"write one of {listing(key.words)}"
            what = f"'{text.text}' is no {key.name} of the {line.block.word} {line.name}"
            raise self.context.error(rules.BAD_SETTING, text, what, fix=fix, where=line.name)
        line.others[key.name] = text.text

    def _read_table(self, line: Line, key: Key, node: Node) -> None:
        found = read_table(self.context, line.name, node)
        line.others[key.name] = found.points
        line.measures[key.name] = (found.of_values,)
        line.measures["points"] = (found.of_points,)
        line.texts.pop(key.name, None)

    def _read_nodes(self, line: Line, key: Key, node: Node) -> None:
        texts = self.context.texts(node, f"the nodes of {line.name}")
        if not 1 <= len(texts) <= 2:
            what = f"the sensor {line.name} has {len(texts)} nodes, not 2"
            raise self.context.error(rules.BAD_SETTING, node, what, fix="write across: [a, b]", where=line.name)
        line.others[key.name] = tuple(str(read_node(self.context, text, ())) for text in texts)
        line.nodes[key.name] = texts[0]

    def _read_arguments(self, line: Line, key: Key, node: Node) -> None:
        function = self.context.functions.get(line.name)
        if function is None:
            what = f"the signal {line.name} is a Python function, which no file can hold"
            fix = "write a formula, or build the model in Python: Network.signal(name, python=[...], function=...)"
            raise self.context.error(rules.NO_FUNCTION_HERE, node, what, fix=fix, where=line.name)
        line.others["function"] = function
        self._read_formulas(line, key, node)

    _readers: Mapping[str, Callable[["SignalsReader", Line, Key, Node], None]] = {
        "formula": _read_formula,
        "formulas": _read_formulas,
        "limits": _read_limits,
        "constant": _read_constant,
        "time": _read_constant,
        "word": _read_word,
        "table": _read_table,
        "nodes": _read_nodes,
        "arguments": _read_arguments,
    }

    def _check_keys(self, line: Line, node: MappingNode) -> None:
        """What a block needs, and what needs something else beside it."""
        given = {key.text for key in node.keys}

        def refuse(what: str, fix: str, rule: Rule = rules.MISSING_SETTING) -> TellegenError:
            return self.context.error(rule, node, f"the {line.block.word} {line.name} {what}", fix=fix, where=line.name)

        for key in line.block.keys:
            if key.required and key.name not in given:
                raise refuse(f"has no '{key.name}'", f"add '{key.name}: ...': {key.summary}")
        if line.block.word == "pid":
            if not given & {"K_p", "K_i", "K_d"}:
                raise refuse("has no gain", "add K_p, K_i or K_d")
            if "K_d" in given and "filter" not in given:
                raise refuse("has a K_d and no filter", "add 'filter: 1 ms'", rules.PURE_DERIVATIVE)
            for key_name, needed in (("filter", "K_d"), ("anti-windup", "limits"), ("anti-windup", "K_i")):
                if key_name in given and needed not in given:
                    raise refuse(f"has '{key_name}' and no '{needed}'", f"add '{needed}', or leave '{key_name}' out")
            if line.others.get("anti-windup") == "back-calculation" and not given & {"tracking", "K_p"}:
                raise refuse("has back-calculation and no 'tracking'", "add 'tracking: 0.1 s'")
        feedback = line.formulas.get("state feedback")
        gains = line.formulas.get("gains")
        if isinstance(feedback, tuple) and isinstance(gains, tuple) and len(feedback) != len(gains):
            raise refuse(
                f"has {len(feedback)} states and {len(gains)} gains", "give one gain for each", rules.BAD_SETTING
            )

    def _definition(self, line: Line, dimension: Dimension | None = None) -> SignalDefinition:
        settings: dict[str, SignalSetting] = {
            key: tuple(map(without_marks, found)) if isinstance(found, tuple) else without_marks(found)
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
        )
