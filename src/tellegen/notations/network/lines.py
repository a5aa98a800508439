"""Elements from their lines, `L_a: {inductor: [a, b], L: 2 mH, current: I_a}`, and from details beside a bond graph or a ladder."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NoReturn, final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.errors import Place, Rule, TellegenError
from tellegen.core.names import NAME, did_you_mean, listing
from tellegen.core.units import Dimension
from tellegen.elements import KINDS, ElementKind, connection, coupling_of_relation, kinds_of
from tellegen.elements.kinds import kind_advice
from tellegen.expressions import ONE, ZERO
from tellegen.model.dimensions import NUMBER, Measure, user_names, without_marks
from tellegen.model.laws import Law
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import NamePattern, ReadingContext
from tellegen.notations.network import elements, rules
from tellegen.notations.network.keys import (
    CONNECTION,
    SIDES,
    LineForm,
    form_of,
    initial_dimension,
    make_form,
    port_dimension,
    variable_words,
    with_article,
)
from tellegen.notations.network.laws import JOULE, LawReader
from tellegen.notations.quantities import QuantityReading, parse_marked, read_plain, read_quantity
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

_PORT_LETTERS: dict[str, tuple[Side, int]] = {
    word: (side, port)
    for side, letter in zip(SIDES, "EF", strict=True)
    for port in (1, 2)
    for word in (f"{side}_{port}", f"{letter}{port}")
}


@final
class _Relation:
    """The `domains` of a connection and its `relation`: the variables on both sides, and the modulus between them."""

    def __init__(self, context: ReadingContext, key: Scalar, node: MappingNode) -> None:
        self.context, self.key = context, key
        self.domains = self._read_domains(node)
        fix = "add a relation such as 'relation: through_2 = K*through_1'"
        given = context.needed(node, "relation", f"the connection {key.text} has no relation", fix, where=key.text)
        self.text = context.scalar(given, f"the relation of {key.text}")
        left, sign, right = self.text.text.partition("=")
        if not sign or left.strip() not in _PORT_LETTERS:
            self.refuse("must give one of across_1, through_1, across_2, through_2")
        self.left = _PORT_LETTERS[left.strip()]
        marked = parse_marked(right, context.text_place(self.text, len(left) + 1))
        used = [name for name in user_names(marked) if name in _PORT_LETTERS]
        if len(used) != 1 or _PORT_LETTERS[used[0]][1] == self.left[1]:
            self.refuse("must relate one variable of side 1 to one of side 2")
        self.modulus = marked.derivative(used[0])
        if used[0] in self.modulus.free_symbols or marked.substitute({used[0]: 0}) is not marked * 0:
            self.refuse(f"must be proportional to {used[0]}")
        self.right = _PORT_LETTERS[used[0]]

    def _read_domains(self, node: MappingNode) -> tuple[str, str]:
        context, key = self.context, self.key
        what, fix = f"the connection {key.text} has no domains", "add 'domains: [electrical, rotational]'"
        given = context.needed(node, "domains", what, fix, where=key.text)
        names = context.texts(given, f"the domains of {key.text}")
        for name in names:
            if name.text not in DOMAINS:
                fix = did_you_mean(name.text, DOMAINS) or f"the domains are {listing(DOMAINS)}"
                what = f"'{name.text}' is not a domain"
                raise context.error(notations_rules.BAD_RELATION, name, what, fix=fix, where=key.text)
        if len(names) != 2:
            what, fix = f"the connection {key.text} has {len(names)} domains, not 2", "name the domain of each side"
            raise context.error(notations_rules.BAD_RELATION, given, what, fix=fix, where=key.text)
        return names[0].text, names[1].text

    @property
    def form(self) -> LineForm:
        """The form of the line: its kind follows from what is related."""
        coupling, reciprocal = coupling_of_relation(self.left, self.right)
        return make_form(connection(self.domains, coupling, reciprocal=reciprocal))

    @property
    def dimension(self) -> Dimension:
        """The dimension of the modulus."""
        left, right = (port_dimension(self.domains, f"{side}_{port}") for side, port in (self.left, self.right))
        return left.over(right)

    def refuse(self, what: str) -> NoReturn:
        """Raises: DescriptionError about the text of the relation."""
        what, fix = f"the relation of {self.key.text} {what}", "write a relation such as 'through_2 = K*through_1'"
        raise self.context.error(notations_rules.BAD_RELATION, self.text, what, fix=fix, where=self.key.text)


_REASON = "what it keeps follows from its own variable, not from a difference of two"


def _read_nodes(
    context: ReadingContext, key: Scalar, node: Node, kind: ElementKind, indices: elements.Indices
) -> tuple[str | NamePattern, ...]:
    """The nodes of an element of this kind, one for each terminal.

    Raises: DescriptionError for a name that is none, a wrong number of nodes, or a storage that is not against its reference.
    """
    items = node.items if isinstance(node, SequenceNode) else context.texts(node, f"the nodes of {key.text}")
    names: list[str | NamePattern] = []
    for item in items:
        # Nearly all nodes are plain names.
        if type(item) is Scalar and NAME.fullmatch(item.text):
            names.append(item.text)
        else:
            names.append(context.read_node(context.scalar(item, f"a node of {key.text}"), indices))
    if len(names) != kind.terminals:
        names = _with_references(context, key, node, kind, names)
    if kind.grounded and names[1] != kind.domain.reference:
        what = f"the {kind.name} {key.text} has '{_name_in_words(names[1])}' as its second node"
        why = f"{with_article(kind.name)} stores {kind.domain.energy(kind.side).word} against '{kind.domain.reference}': {_REASON}"
        moving = [name for name in names if name != kind.domain.reference]
        fix = f"write '{kind.name}: [{_name_in_words(moving[0])}]'"
        raise context.error(notations_rules.AGAINST_FRAME, node, what, why=why, fix=fix, where=key.text)
    return tuple(names)


def _with_references(
    context: ReadingContext, key: Scalar, node: Node, kind: ElementKind, names: list[str | NamePattern]
) -> list[str | NamePattern]:
    """One node a port means that the other is the reference; a through source then pushes into the node."""
    if len(names) != len(kind.domains):
        ports = len(kind.domains)
        what = f"the {kind.name} {key.text} has {len(names)} node{'' if len(names) == 1 else 's'}, not {kind.terminals}"
        fix = f"give {kind.terminals} nodes, or {ports} to put the other{'' if ports == 1 else 's'} at the reference"
        raise context.error(notations_rules.WRONG_NODES, node, what, fix=fix, where=key.text)
    if kind.role == "source" and kind.side == "through":
        # A source of current at one node is meant to feed it.
        return [kind.domain.reference, names[0]]
    return [end for name, domain in zip(names, kind.domains, strict=True) for end in (name, DOMAINS[domain].reference)]


def _name_in_words(name: str | NamePattern) -> str:
    return name if isinstance(name, str) else name.text


class _LineReader:
    """Reads the keys of one line after its kind; a connection has its `relation`."""

    def __init__(
        self,
        context: ReadingContext,
        line: elements.ElementLine,
        indices: elements.Indices,
        relation: _Relation | None = None,
    ) -> None:
        self.context, self.line, self.indices, self.relation = context, line, indices, relation
        self.form, self.kind, self.name = line.form, line.form.kind, line.key.text
        self.law: tuple[Scalar, str] | None = None
        self.table: MappingNode | None = None
        self.decided_by: Scalar | None = None

    def read(self, node: MappingNode, first: int, known: str = "") -> None:
        """Read the keys from the one at `first` on, but the one that is `known`, and put what they say into the line."""
        keys, values = node.keys, node.values
        for position in range(first, len(keys)):
            key = keys[position]
            if key.text == known:
                continue
            found = self.form.keys.get(key.text)
            if found is None:
                raise self.context.unknown_key(key, self.form.known, f"the {self.kind.name} {self.name}")
            # The table of keys says what each means, and for each meaning there is a method, of the modes where it is theirs.
            owner = self.line.switching if found.meaning in ("setting", "schedule", "start") else self
            getattr(owner, "read_" + found.meaning.replace(" ", "_"))(key, values[position], found.detail)
        if self.relation is not None:
            self.read_modulus(self.relation)
        if self.law is not None:
            self.finish_law(*self.law)
        if self.table is not None:
            reader = LawReader(self.context, self.name, self.kind, self.table, self.line.variables or {})
            self.line.law = reader.read_table(self.table)

    def refuse(self, rule: Rule, node: Node, what: str, fix: str) -> NoReturn:
        raise self.context.error(rule, node, what, fix=fix, where=self.name)

    def read_value(self, key: Scalar, node: Node, _: str) -> None:
        self.decide(key)
        line, context = self.line, self.context
        line.value_node = scalar = context.formula(node, f"the value of {self.name}")
        # Names with indices are known copy by copy; the value of a connection stands for the K in its relation.
        if self.kind.name == CONNECTION or (self.indices and "[" in scalar.text):
            return
        line.value = self.settled(scalar, self.form.dimension, "value")

    def settled(self, node: Scalar, wanted: Dimension, what: str) -> QuantityReading:
        """The reading of a text, its dimension checked now or later."""
        reading = read_quantity(node.text, lambda: self.context.text_place(node))
        word = self.kind.quantity.word if what == "value" and self.kind.quantity else what
        return self.context.settled(reading, wanted, f"the {word} of {self.name}", node, self.indices)

    def read_variable(self, key: Scalar, node: Node, side: str) -> None:
        scalar = self.context.scalar(node, f"the {key.text} of {self.name}")
        self.context.refuse_reserved(scalar, "a variable")
        taken = self.line.variables or {}
        if side in taken:
            what = f"the {key.text} of {self.name} is named twice"
            self.refuse(notations_rules.VALUE_TWICE, key, what, "leave one of the names out")
        name = self.context.read_name(scalar, self.indices, "a variable")
        self.line.variables = {**taken, side: name}

    def read_ambiguous(self, key: Scalar, node: Node, word: str) -> None:
        sides = [f"{side}_{port}" for side in ("across", "through") for port in (1, 2)]
        fits = sides[:2] if word in variable_words(self.kind.domain, "across") else sides[2:]
        what = f"both sides of the {self.kind.name} {self.name} have a {word}"
        self.refuse(notations_rules.AMBIGUOUS_VARIABLE, key, what, f"write {listing(fits)} instead")

    def read_initial(self, key: Scalar, node: Node, _: str) -> None:
        scalar = self.context.formula(node, f"the initial value of {self.name}")
        if self.kind.domain.heat_books:
            self.context.check_from_ambient(scalar, f"the initial value of {self.name}")
        self.line.initial_node = scalar
        # Its unit tells whether the output is meant or what is held: 1 V, or 1 uC.
        counters = dict.fromkeys(self.indices, 1)
        found = self.context.dimension_of_text(scalar, counters)
        self.line.initial_content = found == initial_dimension(self.form, content=True)
        if not (self.indices and "[" in scalar.text):
            wanted = initial_dimension(self.form, content=self.line.initial_content)
            self.line.initial = self.settled(scalar, wanted, "initial value")

    def read_law(self, key: Scalar, node: Node, form: str) -> None:
        self.decide(key)
        if form == "law" and isinstance(node, MappingNode):
            self.table = node
        else:
            self.law = (self.context.formula(node, f"the {form} of {self.name}"), form)

    def read_height(self, key: Scalar, node: Node, _: str) -> None:
        """How high a mass is; its weight is made when all masses and the gravity are known."""
        self.line.height_node = self.context.formula(node, f"the height of {self.name}")

    def read_potential(self, key: Scalar, node: Node, _: str) -> None:
        """The energy of a weight; what it reads is known when all displacements are."""
        text = self.context.formula(node, f"the energy of {self.name}")
        marked = parse_marked(text.text, self.context.text_place(text))
        counters: dict[str, Measure] = dict.fromkeys(self.indices, NUMBER)
        energy = self.context.check_later(marked, JOULE, f"the energy of {self.name}", text, counters)
        self.line.law = Law("potential", "", energy, self.kind.side, text.text.strip())

    def finish_law(self, node: Scalar, form: str) -> None:
        """Laws are read last, because they may use the names of variables that follow."""
        reader = LawReader(self.context, self.name, self.kind, node, self.line.variables or {}, self.indices)
        found = reader.read(node, form)
        self.line.law = found.law
        if found.value is None:
            self.context.pending.append(found.pending)
            return
        # An ideal sensor, an open line: no parameter is made of the zero, because no run may change it without another causality.
        if found.value.expression is ZERO:
            self.line.value = QuantityReading(ZERO, ZERO)
            return
        word = self.kind.quantity.word if self.kind.quantity else "value"
        self.line.value_node = node
        self.line.value = self.context.settled(
            found.value, self.form.dimension, f"the {word} in the law of {self.name}", node, self.indices
        )

    def read_signal(self, key: Scalar, node: Node, _: str) -> None:
        """What drives a source; names and units are checked when all signals and variables are known."""
        self.line.signal_node = text = self.context.formula(node, f"the signal of {self.name}")
        if not self.indices:
            self.line.signal = elements.read_source_signal(self.context, self.line, self.name, {})
            self.line.signal_text = text.text.strip()

    def read_heat(self, key: Scalar, node: Node, _: str) -> None:
        """The node that takes the heat; which domain that is, is known when all elements are."""
        scalar = self.context.scalar(node, f"the heat of {self.name}")
        plain = NAME.fullmatch(scalar.text)
        self.line.heat = scalar.text if plain else self.context.read_node(scalar, self.indices)

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
            self.refuse(notations_rules.BAD_CAUSALITY, scalar, what, fix)
        self.line.prefer = choices[word]

    def causalities(self) -> dict[str, Side]:
        kind = self.kind
        if kind.role not in ("storage", "resistive"):
            return {}
        sides: dict[str, Side] = {side: side for side in SIDES}
        sides |= {"effort": kind.domain.effort, "flow": kind.domain.flow}
        sides |= {word: side for side in SIDES for word in variable_words(kind.domain, side)}
        if kind.role == "storage":
            sides |= {"integral": kind.side, "derivative": other_side(kind.side)}
        return sides

    def read_notes(self, key: Scalar, node: Node, _: str) -> None:
        notes = self.context.mapping(node, f"the notes of {self.name}")
        texts = [self.context.scalar(value, f"a note of {self.name}").text for value in notes.values]
        self.line.notes = dict(zip([k.text for k in notes.keys], texts, strict=True))

    def read_domains(self, key: Scalar, node: Node, _: str) -> None:
        """Read before, because the kind follows from it."""

    read_relation = read_domains

    def read_modulus(self, relation: _Relation) -> None:
        """The modulus of a connection: the factor of its relation, where `K` stands for the value if one is given."""
        modulus, given = relation.modulus, self.line.value_node
        if given is not None:
            if user_names(modulus) != ["K"]:
                relation.refuse("must use 'K' for the value that is given beside it")
            modulus = modulus.substitute({"K": parse_marked(given.text, self.context.text_place(given))})
        self.line.value_node = at = given or relation.text
        reading = QuantityReading(without_marks(modulus), modulus)
        settled = self.context.settled(reading, relation.dimension, f"the modulus of {self.name}", at, self.indices)
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
        self.refuse(notations_rules.NO_VALUE_HERE, key, what, fix)

    def read_no_law(self, key: Scalar, node: Node, _: str) -> None:
        reasons = {
            "source": "it follows an input",
            "potential": "its energy says all",
            "coupling": "its modulus says all: it passes on power",
            "resistive": "it keeps no energy",
            "switching": "it has one law in each of its modes",
        }
        what = f"the {self.kind.name} {self.name} has no '{key.text}': {reasons[self.kind.role]}"
        fix = f"write a law such as '{self.kind.law}'" if self.kind.role == "resistive" else "leave it out"
        self.refuse(rules.NO_LAW_HERE, key, what, fix)

    def decide(self, key: Scalar) -> None:
        """One key decides the law of the element."""
        if self.decided_by is not None:
            what = f"'{key.text}' and '{self.decided_by.text}' both decide the {self.kind.name} {self.name}"
            self.refuse(notations_rules.VALUE_TWICE, key, what, "keep one of them")
        self.decided_by = key


def read_line(context: ReadingContext, key: Scalar, node: Node, indices: elements.Indices) -> elements.ElementLine:
    """The line of one element."""
    if not isinstance(node, MappingNode) or not node.keys:
        fix = f"write '{key.text}: {{kind: [nodes], key: value}}'"
        what = f"the element '{key.text}' is not a mapping"
        raise context.error(notations_rules.WRONG_SHAPE, node, what, fix=fix, where=key.text)
    name = key.text if NAME.fullmatch(key.text) else context.read_name(key, indices, "an element")
    context.refuse_reserved(key, "an element")
    relation = _Relation(context, key, node) if node.keys[0].text == CONNECTION else None
    form = form_of(node.keys[0].text) if relation is None else relation.form
    if form is None:
        raise _unknown_kind(context, key, node)
    # Made here: the document would cut the text of the line out for each of 200 000 lines.
    place = Place(context.file, key.line, key.column, key.text)
    line = elements.ElementLine(key, place, form, name, _read_nodes(context, key, node.values[0], form.kind, indices))
    line.begin_modes(context, indices)
    if len(node.keys) == 2 and (quick := _quick_value(form, node)) is not None:
        line.value, line.value_node = quick
    elif len(node.keys) > 1:
        first = len(context.pending)
        _LineReader(context, line, indices, relation).read(node, first=1)
        # A modulus or a resistance may follow a signal or a state. A storage may not: its energy would change without
        # power.
        if form.kind.role in ("coupling", "resistive", "potential"):
            elements.allow_variables(context, first)
    return line


def _quick_value(form: LineForm, node: MappingNode) -> tuple[QuantityReading, Scalar] | None:
    """The value of a line that has only a value, a plain one of the right unit: most lines of a large network."""
    text = node.values[1]
    if type(text) is not Scalar or (key := form.keys.get(node.keys[1].text)) is None or key.meaning != "value":
        return None
    reading = read_plain(text.text)
    if reading is None or (reading.dimension is not None and reading.dimension != form.dimension):
        return None
    return reading, text


def _unknown_kind(context: ReadingContext, key: Scalar, node: MappingNode) -> TellegenError:
    word = node.keys[0]
    named = [other.text for other in node.keys[1:] if other.text in KINDS]
    fix = f"write '{named[0]}' first: the kind is the first key" if named else kind_advice(word.text, (CONNECTION,))
    what = f"'{word.text}' is not a kind of element"
    return context.error(notations_rules.UNKNOWN_KIND, word, what, fix=fix, where=key.text)


KIND = "kind"
"""The key that says the kind of an element with modes."""


def read_elements(
    context: ReadingContext, node: Node | None, known: Iterable[str], subject: str
) -> dict[str, MappingNode]:
    """What is said about each element. `subject` names the whole in messages.

    Raises: DescriptionError for an element that is not there.
    """
    if node is None:
        return {}
    names = dict.fromkeys(known)
    found = {}
    for key, value in context.mapping(node, "'elements'").items():
        if key.text not in names:
            raise context.unknown_key(key, list(names)[:2000], f"'elements': {subject} has no such element")
        found[key.text] = context.mapping(value, f"the element '{key.text}'")
    return found


def switching_kind(
    context: ReadingContext, name: str, domain: Domain, given: MappingNode | None, place: Place | None
) -> ElementKind:
    """The kind that `kind` under `elements` names; the first one of the domain where nothing is said.

    Raises: DescriptionError for a word that is no such kind.
    """
    kinds = list(kinds_of(domain.name, "switching"))
    word = None if given is None else given.get(KIND)
    if word is None and kinds:
        return kinds[0]
    names = {name: kind for kind in kinds for name in (kind.name, *kind.aliases)}
    text = "" if word is None else context.scalar(word, f"the kind of {name}").text
    if text not in names:
        fix = did_you_mean(text, names) or f"write one of {listing(names, 12)}" if names else "use another element"
        what = f"'{text or name}' is no kind of element with modes in the {domain.name} domain"
        raise notations_rules.UNKNOWN_KIND.error(what, where=name, fix=fix, place=place)
    return names[text]


def add_details(context: ReadingContext, line: elements.ElementLine, node: MappingNode | None) -> None:
    """Read what is said about one element; its kind and the relation of a connection are known already."""
    form = line.form
    line.begin_modes(context, ())
    if node is None:
        return
    if form.kind.name == CONNECTION:
        # Under another name it has no keys `domains` and `relation`, which follow from its bonds.
        line.form = make_form(replace(form.kind, name="two-port"))
    _LineReader(context, line, ()).read(node, first=0, known=KIND if form.kind.role == "switching" else "")
    line.form = form
