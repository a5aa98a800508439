"""What follows the kind of an element on its line: values, variables, laws, signals, modes."""

from tellegen.core.domains import Side, other_side
from tellegen.core.names import NAME, did_you_mean, listing
from tellegen.core.units import Dimension
from tellegen.description import law_rules, rules
from tellegen.description.connections import refuse_relation, relation_of
from tellegen.description.context import Context, refuse_scale
from tellegen.description.dimensions import names_in, without_marks
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.emitting import read_driver
from tellegen.description.indexing import read_name, read_node
from tellegen.description.keys import (
    CONNECTION,
    port_dimension,
    variable_words,
)
from tellegen.description.law_tables import read_law_table
from tellegen.description.laws import LawReading, Letters, read_law
from tellegen.description.lines import Indices, Line, reserved, settle
from tellegen.description.quantities import Reading, parse_marked, read_quantity
from tellegen.description.switching import SwitchingLine
from tellegen.expressions import ONE, RESERVED_WORDS, ZERO


def read_keys(context: Context, line: Line, node: Mapping, indices: Indices, first: int = 1) -> None:
    """Read the keys of a line from the one at `first` on, and put what they say into it."""
    _LineReader(context, line, indices).read(node, first)


class _LineReader:
    """Reads the keys of one line after its kind."""

    def __init__(self, context: Context, line: Line, indices: Indices) -> None:
        self.context = context
        self.line = line
        self.form = line.form
        self.kind = line.form.kind
        self.name = line.key.text
        self.indices = indices
        self.law: tuple[Scalar, str] | None = None
        self.table: Mapping | None = None
        self.decided_by: Scalar | None = None

    def read(self, node: Mapping, first: int) -> None:
        keys, values = node.keys, node.values
        for position in range(first, len(keys)):
            key = keys[position]
            meaning = self.form.keys.get(key.text)
            if meaning is None:
                raise self.context.unknown_key(key, self.form.known, f"the {self.kind.name} {self.name}")
            getattr(self, "read_" + meaning[0].replace(" ", "_"))(key, values[position], meaning[1])
        if self.kind.name == CONNECTION:
            self.read_modulus(node)
        if self.law is not None:
            self.finish_law(*self.law)
        if self.table is not None:
            self.line.law = read_law_table(
                self.context, self.name, self.kind, self.table, Letters(self.kind, self.line.variables or {})
            )

    def read_value(self, key: Scalar, node: Node, _: str) -> None:
        self.decide(key)
        line, context = self.line, self.context
        line.value_node = scalar = context.formula(node, f"the value of {self.name}")
        if self.kind.name == CONNECTION or (self.indices and "[" in scalar.text):
            return
        line.value = self.settled(scalar, self.form.dimension, "value")

    def settled(self, node: Scalar, wanted: Dimension, what: str) -> Reading:
        """The reading of a text, its dimension checked now or later."""
        reading = read_quantity(node.text, lambda: self.context.text_place(node))
        if reading.marked is None and (reading.dimension is None or reading.dimension == wanted):
            return reading
        word = self.kind.quantity.word if what == "value" and self.kind.quantity else what
        return settle(self.context, reading, wanted, f"the {word} of {self.name}", node, self.indices)

    def read_variable(self, key: Scalar, node: Node, side: str) -> None:
        scalar = self.context.scalar(node, f"the {key.text} of {self.name}")
        if scalar.text in RESERVED_WORDS:
            raise reserved(self.context, scalar, "a variable")
        taken = self.line.variables or {}
        if side in taken:
            what = f"the {key.text} of {self.name} is named twice"
            raise self.context.error(rules.VALUE_TWICE, key, what, fix="leave one of the names out", where=self.name)
        name = read_name(self.context, scalar, self.indices, "a variable")
        self.line.variables = {**taken, side: name}

    def read_ambiguous(self, key: Scalar, node: Node, word: str) -> None:
        sides = [f"{side}_{port}" for side in ("across", "through") for port in (1, 2)]
        fits = sides[:2] if word in variable_words(self.kind.domain, "across") else sides[2:]
        what = f"both sides of the {self.kind.name} {self.name} have a {word}"
        raise self.context.error(
            rules.AMBIGUOUS_VARIABLE, key, what, fix=f"write {listing(fits)} instead", where=self.name
        )

    def read_initial(self, key: Scalar, node: Node, _: str) -> None:
        scalar = self.context.formula(node, f"the initial value of {self.name}")
        if self.kind.domain.heat_books:
            refuse_scale(self.context, scalar, f"the initial value of {self.name}")
        self.line.initial_node = scalar
        if not (self.indices and "[" in scalar.text):
            self.line.initial = self.settled(scalar, self.form.initial, "initial value")

    def read_law(self, key: Scalar, node: Node, form: str) -> None:
        self.decide(key)
        if form == "law" and isinstance(node, Mapping):
            self.table = node
        else:
            self.law = (self.context.formula(node, f"the {form} of {self.name}"), form)

    def finish_law(self, node: Scalar, form: str) -> None:
        """Laws are read last, because they may use the names of variables that follow."""
        found: LawReading = read_law(
            self.context, self.name, self.kind, node, form, self.line.variables or {}, self.indices
        )
        self.line.law = found.law
        if found.value is None:
            self.context.pending.append(found.pending)
            return
        if (
            found.value.expression is ZERO
        ):  # an ideal sensor, an open line: nothing to be changed without another causality
            self.line.value = Reading(ZERO, ZERO)
            return
        word = self.kind.quantity.word if self.kind.quantity else "value"
        self.line.value_node = node
        self.line.value = settle(
            self.context, found.value, self.form.dimension, f"the {word} in the law of {self.name}", node, self.indices
        )

    def read_signal(self, key: Scalar, node: Node, _: str) -> None:
        """What drives a source; names and units are checked when all signals and variables are known."""
        self.line.signal_node = text = self.context.formula(node, f"the signal of {self.name}")
        if not self.indices:
            self.line.signal = read_driver(self.context, self.line, self.name, {})
            self.line.signal_text = text.text.strip()

    def read_heat(self, key: Scalar, node: Node, _: str) -> None:
        """The node that takes the heat; which domain that is, is known when all elements are."""
        scalar = self.context.scalar(node, f"the heat of {self.name}")
        plain = NAME.fullmatch(scalar.text)
        self.line.heat = scalar.text if plain else read_node(self.context, scalar, self.indices)

    def read_setting(self, key: Scalar, node: Node, setting: str) -> None:
        self.modes.read_setting(key, node, setting)

    def read_schedule(self, key: Scalar, node: Node, _: str) -> None:
        self.modes.read_schedule(key, node)

    def read_start(self, key: Scalar, node: Node, _: str) -> None:
        self.modes.read_start(node)

    @property
    def modes(self) -> SwitchingLine:
        """What the line says about the modes of its element."""
        assert self.line.switching is not None, "only kinds with modes have such keys"
        return self.line.switching

    def read_causality(self, key: Scalar, node: Node, _: str) -> None:
        scalar = self.context.scalar(node, f"the causality of {self.name}")
        words = scalar.text.split()
        self.line.forced = len(words) > 1 and words[0] in ("force", "forced")
        word = " ".join(words[1:] if self.line.forced else words)
        choices = self.causalities()
        if word not in choices:
            fix = did_you_mean(word, choices) or (
                f"choose one of {listing(choices, 12)}" if choices else "leave it out"
            )
            what = f"'{scalar.text}' is not a causality of the {self.kind.name} {self.name}"
            raise self.context.error(rules.BAD_CAUSALITY, scalar, what, fix=fix, where=self.name)
        self.line.prefer = choices[word]

    def causalities(self) -> dict[str, Side]:
        kind = self.kind
        if kind.role not in ("storage", "resistive"):
            return {}
        sides: dict[str, Side] = {"across": "across", "through": "through"}
        sides |= {"effort": kind.domain.effort, "flow": kind.domain.flow}
        sides |= dict.fromkeys(variable_words(kind.domain, "across"), "across")
        sides |= dict.fromkeys(variable_words(kind.domain, "through"), "through")
        if kind.role == "storage":
            sides |= {"integral": kind.side, "derivative": other_side(kind.side)}
        return sides

    def read_notes(self, key: Scalar, node: Node, _: str) -> None:
        notes = self.context.mapping(node, f"the notes of {self.name}")
        texts = [self.context.scalar(value, f"a note of {self.name}").text for value in notes.values]
        self.line.notes = dict(zip([k.text for k in notes.keys], texts, strict=True))

    def read_domains(self, key: Scalar, node: Node, _: str) -> None:
        """Read before, because the kind follows from it."""

    def read_relation(self, key: Scalar, node: Node, _: str) -> None:
        """Read before, because the kind follows from it."""

    def read_modulus(self, node: Mapping) -> None:
        """The modulus of a connection: the factor of its relation, where `K` stands for the value if one is given."""
        left, right, modulus = relation_of(self.context, self.line.key, node)
        text = self.context.scalar(node.values[node.position("relation") or 0], "relation")
        given = self.line.value_node
        if given is not None:
            if names_in(modulus) != ["K"]:
                refuse_relation(self.context, self.line.key, text, "must use 'K' for the value that is given beside it")
            modulus = modulus.substitute({"K": parse_marked(given.text, self.context.text_place(given))})
        at = given or text
        self.line.value_node = at
        domains = self.kind.domains
        wanted = port_dimension(domains, f"{left[0]}_{left[1]}").over(port_dimension(domains, f"{right[0]}_{right[1]}"))
        reading = Reading(without_marks(modulus), modulus)
        settled = settle(self.context, reading, wanted, f"the modulus of {self.name}", at, self.indices)
        # `through_2 = through_1` has no modulus that one could change: it stays as it is written.
        self.line.value = reading if given is None and reading.expression is ONE else settled

    def read_no_value(self, key: Scalar, node: Node, _: str) -> None:
        if self.kind.role == "source":
            fix = f"give its course in 'experiment', as 'inputs: {{{self.name}: ...}}', or by 'signal: ...' on its line"
            what = f"the {self.kind.name} {self.name} has no '{key.text}': it follows an input"
        elif self.kind.role == "switching" and key.text == "value":
            fix = f"its keys are {listing(self.form.known, 12)}"
            what = f"the {self.kind.name} {self.name} has no 'value'"
        else:
            fix = "leave it out"
            what = f"the {self.kind.name} {self.name} has no initial value: it stores nothing"
        raise self.context.error(rules.NO_VALUE_HERE, key, what, fix=fix, where=self.name)

    def read_no_law(self, key: Scalar, node: Node, _: str) -> None:
        reasons = {
            "source": "it follows an input",
            "coupling": "its modulus says all: it passes on power",
            "resistive": "it keeps no energy",
            "switching": "it has one law in each of its modes",
        }
        what = f"the {self.kind.name} {self.name} has no '{key.text}': {reasons[self.kind.role]}"
        fix = f"write a law such as '{self.kind.law}'" if self.kind.role == "resistive" else "leave it out"
        raise self.context.error(law_rules.NO_LAW_HERE, key, what, fix=fix, where=self.name)

    def decide(self, key: Scalar) -> None:
        """One key decides the law of the element."""
        if self.decided_by is not None:
            what = f"'{key.text}' and '{self.decided_by.text}' both decide the {self.kind.name} {self.name}"
            raise self.context.error(rules.VALUE_TWICE, key, what, fix="keep one of them", where=self.name)
        self.decided_by = key
