"""Elements from their lines: `L_a: {inductor: [a, b], L: 2 mH, current: I_a}`."""

from collections.abc import Mapping as TypingMapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import DescriptionError, Place, TellegenError
from tellegen.core.names import NAME, did_you_mean, listing
from tellegen.core.units import Dimension
from tellegen.description import rules
from tellegen.description.context import MOST_NOTICES, Context, Driven, Heated, Pending, refuse_scale
from tellegen.description.dimensions import NUMBER, Measure, Open, names_in, si_unit, without_marks
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.indexing import Pattern, read_name, read_node
from tellegen.description.keys import (
    CONNECTION,
    VALUE,
    Form,
    form_of,
    make_form,
    port_dimension,
    variable_words,
    with_article,
)
from tellegen.description.law_tables import read_law_table
from tellegen.description.laws import LawReading, Letters, read_law
from tellegen.description.model import NOTHING, Element, Law, Parameter, Switching
from tellegen.description.moving import let_read_states
from tellegen.description.quantities import Reading, parse_marked, read_plain, read_quantity
from tellegen.description.signals.formulas import parse_formula
from tellegen.description.switching import SwitchingLine, switching_of
from tellegen.elements import KINDS, CouplingType, ElementKind, connection, kind_names
from tellegen.expressions import ONE, RESERVED_WORDS, ZERO, Expression, symbol

Indices = tuple[str, ...]
Names = TypingMapping[str, str | Pattern]


@final
@dataclass(slots=True)
class Line:
    """One line of a network as it is written; inside a `repeat` names are patterns and values depend on the indices."""

    key: Scalar
    place: Place
    form: Form
    name: str | Pattern
    nodes: tuple[str | Pattern, ...]
    value: Reading | None = None
    law: Law | None = None
    initial: Reading | None = None
    variables: Names | None = None
    prefer: Side | None = None
    forced: bool = False
    notes: dict[str, str] | None = None
    value_node: Scalar | None = None
    initial_node: Scalar | None = None
    switching: SwitchingLine | None = None
    signal: Expression | None = None
    signal_text: str = ""
    signal_node: Scalar | None = None
    heat: str | Pattern | None = None


def read_line(context: Context, key: Scalar, node: Node, indices: Indices) -> Line:
    """The line of one element."""
    if not isinstance(node, Mapping) or not node.keys:
        fix = f"write '{key.text}: {{kind: [nodes], key: value}}'"
        raise context.error(
            rules.WRONG_SHAPE, node, f"the element '{key.text}' is not a mapping", fix=fix, where=key.text
        )
    name = key.text if NAME.fullmatch(key.text) else read_name(context, key, indices, "an element")
    if key.text in RESERVED_WORDS:
        raise reserved(context, key, "an element")
    form = _connection_form(context, key, node) if node.keys[0].text == CONNECTION else form_of(node.keys[0].text)
    if form is None:
        raise _unknown_kind(context, key, node)
    place = Place(context.file, key.line, key.column, key.text)
    line = Line(key, place, form, name, _nodes(context, key, node.values[0], form.kind, indices))
    if form.kind.role == "switching":
        line.switching = SwitchingLine(context, key.text, form.kind, indices)
    if len(node.keys) == 2 and (quick := _quick_value(form, node)) is not None:
        line.value, line.value_node = quick
    elif len(node.keys) > 1:
        first = len(context.pending)
        _LineReader(context, line, indices).read(node)
        if form.kind.role in ("coupling", "resistive"):
            let_read_states(context, first)
    return line


def read_details(context: Context, line: Line, node: Mapping) -> None:
    """Read keys of an element whose kind is known already: values, laws, initial values."""
    _LineReader(context, line, ()).read(node, first=0)


def _quick_value(form: Form, node: Mapping) -> tuple[Reading, Scalar] | None:
    """The value of a line that has only a value, a plain one of the right unit: most lines of a large network."""
    text = node.values[1]
    if type(text) is not Scalar or form.keys.get(node.keys[1].text) != VALUE:
        return None
    reading = read_plain(text.text)
    if reading is None or (reading.dimension is not None and reading.dimension != form.dimension):
        return None
    return reading, text


def reserved(context: Context, node: Scalar, subject: str) -> TellegenError:
    """The error for a name that means something else in formulas."""
    what = f"'{node.text}' cannot name {subject}: it has a meaning of its own in formulas"
    return context.error(rules.BAD_NAME, node, what, why="a formula could not use it", fix="choose another name")


def _unknown_kind(context: Context, key: Scalar, node: Mapping) -> TellegenError:
    word = node.keys[0]
    named = [other.text for other in node.keys[1:] if other.text in KINDS]
    if named:
        fix = f"write '{named[0]}' first: the kind is the first key"
    else:
        fix = (
            did_you_mean(word.text, [*KINDS, CONNECTION]) or f"the kinds are {listing([*kind_names(), CONNECTION], 60)}"
        )
    return context.error(rules.UNKNOWN_KIND, word, f"'{word.text}' is not a kind of element", fix=fix, where=key.text)


# Nodes


_REASON = "what it keeps follows from its own variable, not from a difference of two"


def _nodes(context: Context, key: Scalar, node: Node, kind: ElementKind, indices: Indices) -> tuple[str | Pattern, ...]:
    items = node.items if isinstance(node, Sequence) else context.texts(node, f"the nodes of {key.text}")
    names: list[str | Pattern] = []
    for item in items:
        if type(item) is Scalar and NAME.fullmatch(item.text):
            names.append(item.text)
        else:
            names.append(read_node(context, context.scalar(item, f"a node of {key.text}"), indices))
    if len(names) != kind.terminals:
        names = _with_references(context, key, node, kind, names)
    if kind.grounded and names[1] != kind.domain.reference:
        what = f"the {kind.name} {key.text} has '{_shown(names[1])}' as its second node"
        why = f"{with_article(kind.name)} stores {kind.domain.energy(kind.side).word} against '{kind.domain.reference}': {_REASON}"
        moving = [name for name in names if name != kind.domain.reference]
        fix = f"write '{kind.name}: [{_shown(moving[0])}]'"
        raise context.error(rules.AGAINST_FRAME, node, what, why=why, fix=fix, where=key.text)
    return tuple(names)


def _with_references(
    context: Context, key: Scalar, node: Node, kind: ElementKind, names: list[str | Pattern]
) -> list[str | Pattern]:
    """One node a port means that the other is the reference; a through source then pushes into the node."""
    if len(names) != len(kind.domains):
        ports = len(kind.domains)
        what = f"the {kind.name} {key.text} has {len(names)} node{'' if len(names) == 1 else 's'}, not {kind.terminals}"
        fix = f"give {kind.terminals} nodes, or {ports} to put the other{'' if ports == 1 else 's'} at the reference"
        raise context.error(rules.WRONG_NODES, node, what, fix=fix, where=key.text)
    if kind.role == "source" and kind.side == "through":
        return [kind.domain.reference, names[0]]
    return [end for name, domain in zip(names, kind.domains, strict=True) for end in (name, DOMAINS[domain].reference)]


def _shown(name: str | Pattern) -> str:
    return name if isinstance(name, str) else name.text


# Connections


@lru_cache(maxsize=256)
def _form_of_connection(domains: tuple[str, str], coupling: CouplingType, reciprocal: bool) -> Form:
    return make_form(connection(domains, coupling, reciprocal=reciprocal))


_PORT_LETTERS = {
    **{f"{side}_{port}": (side, port) for side in ("across", "through") for port in (1, 2)},
    **{f"{letter}{port}": (side, port) for letter, side in (("E", "across"), ("F", "through")) for port in (1, 2)},
}


def _connection_form(context: Context, key: Scalar, node: Mapping) -> Form:
    """The form of a connection, whose kind follows from its `domains` and its `relation`."""
    domains = _domains(context, key, node)
    left, right, _ = _relation(context, key, node)
    like = left[0] == right[0]
    coupling: CouplingType = "transformer" if like else "gyrator"
    # across_1 = K across_2 is through_2 = K through_1, and through_2 = K across_1 is through_1 = K across_2
    reciprocal = left in (("across", 2), ("through", 1)) if like else left[0] == "across"
    return _form_of_connection(domains, coupling, reciprocal)


def _domains(context: Context, key: Scalar, node: Mapping) -> tuple[str, str]:
    given = node.get("domains")
    if given is None:
        fix = "add 'domains: [electrical, rotational]'"
        raise context.error(
            rules.MISSING_KEY, node, f"the connection {key.text} has no domains", fix=fix, where=key.text
        )
    names = context.texts(given, f"the domains of {key.text}")
    for name in names:
        if name.text not in DOMAINS:
            fix = did_you_mean(name.text, DOMAINS) or f"the domains are {listing(DOMAINS)}"
            raise context.error(rules.BAD_RELATION, name, f"'{name.text}' is not a domain", fix=fix, where=key.text)
    if len(names) != 2:
        what = f"the connection {key.text} has {len(names)} domains, not 2"
        raise context.error(rules.BAD_RELATION, given, what, fix="name the domain of each side", where=key.text)
    return names[0].text, names[1].text


def _relation(context: Context, key: Scalar, node: Mapping) -> tuple[tuple[str, int], tuple[str, int], Expression]:
    """The variables on both sides of a relation, and the modulus between them."""
    given = node.get("relation")
    if given is None:
        fix = "add a relation such as 'relation: through_2 = K*through_1'"
        raise context.error(
            rules.MISSING_KEY, node, f"the connection {key.text} has no relation", fix=fix, where=key.text
        )
    text = context.scalar(given, f"the relation of {key.text}")
    left, sign, right = text.text.partition("=")
    if not sign or left.strip() not in _PORT_LETTERS:
        _refuse_relation(context, key, text, "must give one of across_1, through_1, across_2, through_2")
    marked = parse_marked(right, context.text_place(text, len(left) + 1))
    used = [name for name in names_in(marked) if name in _PORT_LETTERS]
    if len(used) != 1 or _PORT_LETTERS[used[0]][1] == _PORT_LETTERS[left.strip()][1]:
        _refuse_relation(context, key, text, "must relate one variable of side 1 to one of side 2")
    modulus = marked.derivative(used[0])
    if used[0] in modulus.free_symbols or marked.substitute({used[0]: 0}) is not marked * 0:
        _refuse_relation(context, key, text, f"must be proportional to {used[0]}")
    return _PORT_LETTERS[left.strip()], _PORT_LETTERS[used[0]], modulus


def _refuse_relation(context: Context, key: Scalar, text: Scalar, what: str) -> NoReturn:
    fix = "write a relation such as 'through_2 = K*through_1'"
    raise context.error(rules.BAD_RELATION, text, f"the relation of {key.text} {what}", fix=fix, where=key.text)


# What follows the kind


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

    def read(self, node: Mapping, first: int = 1) -> None:
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
        left, right, modulus = _relation(self.context, self.line.key, node)
        text = self.context.scalar(node.values[node.position("relation") or 0], "relation")
        given = self.line.value_node
        if given is not None:
            if names_in(modulus) != ["K"]:
                _refuse_relation(
                    self.context, self.line.key, text, "must use 'K' for the value that is given beside it"
                )
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
        raise self.context.error(rules.NO_LAW_HERE, key, what, fix=fix, where=self.name)

    def decide(self, key: Scalar) -> None:
        """One key decides the law of the element."""
        if self.decided_by is not None:
            what = f"'{key.text}' and '{self.decided_by.text}' both decide the {self.kind.name} {self.name}"
            raise self.context.error(rules.VALUE_TWICE, key, what, fix="keep one of them", where=self.name)
        self.decided_by = key


def read_driver(context: Context, line: Line, name: str, counters: TypingMapping[str, int]) -> Expression:
    """What drives the source of a line, or of one copy of it; it is checked when all signals and variables are known."""
    assert line.signal_node is not None, "only lines with a signal are asked for it"
    marked = parse_formula(context, line.signal_node, f"the signal of {name}", counters)
    context.driven.append(Driven(name, marked, line.form.initial, line.signal_node))
    return without_marks(marked)


def settle(
    context: Context, reading: Reading, wanted: Dimension, subject: str, node: Scalar, indices: Indices
) -> Reading:
    """A reading whose dimension is checked: at once if only numbers and indices stand in it, else when parameters are known."""
    if reading.marked is None:
        if reading.dimension is not None and reading.dimension != wanted:
            raise DescriptionError(context.wrong_dimension(subject, reading.dimension, wanted, context.place(node)))
        return reading
    counters: dict[str, Measure] = dict.fromkeys(indices, NUMBER)
    pending = Pending(reading.marked, wanted, subject, lambda: context.text_place(node), counters)
    if any(name not in counters for name in names_in(reading.marked)):
        context.pending.append(pending)
        return reading
    measure = context.check(pending)
    if isinstance(measure, Open):
        return Reading(reading.expression)
    return Reading(reading.expression, None, measure, si_unit(measure))


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
