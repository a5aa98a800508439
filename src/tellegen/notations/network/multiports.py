"""Elements with several ports and a matrix: fields that store or lose energy, and connections that pass it on.

coils: {inductor field: [a, n, b, n], current: [I_1, I_2], matrix: [[L_1, M], [M, L_2]]}
phases: {inductor field: ["a[k]", n], each: {k: 1..m}, current: "I[k]", matrix: "if(row == column, L, M)"}
magnet: {field: [a, gnd, x, frame], kinds: [inductor, compliance], energy: phi_1^2*(x_0 + x_2)/(2*L_0)}
motor: {multiport: [a, n, b, n, shaft, frame], domains: [electrical, electrical, rotational],
        relation: through_3 = K_1*through_1 + K_2*through_2}
"""

import re
from typing import NoReturn, TypeGuard, final

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.errors import Rule
from tellegen.core.names import did_you_mean
from tellegen.elements import KINDS, ElementKind, multiport_kind
from tellegen.expressions import Expression, is_zero, symbol
from tellegen.model.dimensions import Measure
from tellegen.model.laws import Multiport
from tellegen.model.model import Element
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import NamePattern, NotWholeError, ReadingContext, name_at
from tellegen.notations.network import keys, rules
from tellegen.notations.network.fields import ENERGY, LAWS, MATRIX, FieldLaw, FieldReader, initial_value
from tellegen.notations.network.repetition import OUTSIDE, copies_of, read_ranges
from tellegen.notations.quantities import parse_marked
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

_PORT = re.compile(r"(across|through)_(\d+)")


@final
class MultiportRelations:
    """Reads `through_3 = K_1*through_1 + ...`: the ports on the left give power, those on the right take it."""

    def __init__(self, context: ReadingContext, key: Scalar, domains: tuple[str, ...], texts: list[Scalar]) -> None:
        self.context, self.key, self.domains, self.texts = context, key, domains, texts
        self.left: dict[str, Expression] = {}

    def read(self) -> Multiport:
        """The matrix of the relations.

        Raises: DescriptionError for a relation that is not linear, or that names a port twice or never.
        """
        for text in self.texts:
            name, equals, right = text.text.partition("=")
            if not equals or not _PORT.fullmatch(name.strip()) or name.strip() in self.left:
                self._refuse(text, "has no variable of its own on the left side")
            self.left[name.strip()] = self._right(text, right, len(name) + 1)
        given = sorted({n for e in self.left.values() for n in e.free_symbols if _PORT.fullmatch(n)}, key=self._port)
        # Each port is told or answers, never both: then the transpose carries the conjugates, and no power is lost.
        ports = [self._port(name) for name in (*given, *self.left)]
        if sorted(ports) != list(range(len(self.domains))):
            self._refuse(self.texts[0], "must name each port once, on one side")
        K = tuple(tuple(e.derivative(name) for name in given) for e in self.left.values())
        # Derivatives would give entries of any formula: only what they leave over tells that one is not linear.
        for row, expression, text in zip(K, self.left.values(), self.texts, strict=True):
            rest = expression
            for name, entry in zip(given, row, strict=True):
                rest = rest - entry * symbol(name)
            if not is_zero(rest):
                self._refuse(text, "is not linear in the variables of its ports")
        one, two = (tuple(map(self._port, given)), tuple(map(self._port, self.left)))
        return Multiport(one, two, tuple(map(_side, given)), tuple(map(_side, self.left)), K)

    def _right(self, text: Scalar, right: str, at: int) -> Expression:
        marked = parse_marked(right, self.context.text_place(text, at))
        ports = {n for n in marked.free_symbols if _PORT.fullmatch(n) and 0 <= self._port(n) < len(self.domains)}
        variables: dict[str, Measure] = {n: keys.port_dimension(self.domains, n) for n in ports}
        wanted = keys.port_dimension(self.domains, text.text.partition("=")[0].strip())
        return self.context.check_later(marked, wanted, f"the relation of {self.key.text}", text, variables)

    @staticmethod
    def _port(name: str) -> int:
        return int(name.rpartition("_")[2]) - 1

    def _refuse(self, text: Scalar, what: str) -> NoReturn:
        fix = "write a relation such as 'through_3 = K_1*through_1 + K_2*through_2', each port on one side"
        raise self.context.error(notations_rules.BAD_RELATION, text, f"the relation of {self.key.text} {what}", fix=fix)


def _side(name: str) -> Side:
    return "across" if name.startswith("across") else "through"


def is_multiport(node: Node) -> TypeGuard[MappingNode]:
    """Whether a line of a network describes a field or a connection of several ports."""
    if not isinstance(node, MappingNode) or not node.keys:
        return False
    word = node.keys[0].text
    # By its first key, as kinds are: `inductor field` begins with a kind that keeps or loses energy.
    return word in (keys.MULTIPORT, keys.MIXED_FIELD) or (
        word.endswith(keys.FIELD) and word.removesuffix(keys.FIELD) in KINDS
    )


def read_multiport(context: ReadingContext, key: Scalar, node: MappingNode) -> None:
    """Add the element of such a line to the model."""
    context.name(key, "an element")
    context.require_new(key)
    line = _MultiportLine(context, key, node)
    if line.word.text == keys.MULTIPORT:
        line.add_connection()
    else:
        line.add_field()


@final
class _MultiportLine:
    """One line; `each` is its range, if it has one port for each value of an index."""

    def __init__(self, context: ReadingContext, key: Scalar, node: MappingNode) -> None:
        self.context, self.key, self.node = context, key, node
        self.word = node.keys[0]
        self.each = None if self.word.text == keys.MULTIPORT else _Each.read(context, key, node)
        self.nodes = self._nodes(node.values[0])
        self.count = len(self.nodes) // 2

    def _nodes(self, node: Node) -> list[str]:
        texts = self.context.texts(node, f"the nodes of {self.key.text}")
        if self.each is None:
            names = [str(self.context.read_node(text, ())) for text in texts]
        else:
            names = self.each.nodes(self.key, texts, node)
        if len(names) < 4 or len(names) % 2:
            what = f"'{self.key.text}' has {len(names)} nodes, not two for each of its ports"
            fix = "give two nodes a port, two ports or more"
            self._refuse(notations_rules.WRONG_NODES, node, what, fix, self.key.text)
        return names

    def _refuse(self, rule: Rule, node: Node, what: str, fix: str, where: str = "") -> NoReturn:
        raise self.context.error(rule, node, what, fix=fix, where=where)

    def _counted(self, key: str, what: str, words: str) -> list[Scalar]:
        """The words that a key has for the ports, one for each."""
        given = self.node.get(key)
        texts = [] if given is None else self.context.texts(given, f"the {words} of {self.key.text}")
        if len(texts) != self.count:
            what = f"the {what} '{self.key.text}' has {self.count} ports and {len(texts)} {words}"
            fix = f"write '{key}: [...]' with {self.count} words"
            self._refuse(notations_rules.WRONG_SHAPE, given or self.key, what, fix)
        return texts

    # Fields

    def add_field(self) -> None:
        """Storages or resistive elements coupled by a law of all."""
        context, kinds = self.context, self._field_kinds()
        reader, words = FieldReader(context, self.key, kinds), _variable_words(kinds)
        names: dict[str, list[str]] = {}
        initial: list[Scalar] = []
        law: FieldLaw | None = None
        for other, value in zip(self.node.keys[1:], self.node.values[1:], strict=True):
            if other.text in _LAWS and (law is None or other.text == MATRIX):
                law = _LAWS[other.text](reader, value)
            elif other.text == "initial":
                initial = self._list(value, "initial values")
            elif other.text in words:
                names[words[other.text]] = self._names(value, other.text)
            elif other.text == keys.EACH:
                continue
            elif other.text != keys.KINDS_OF_PORTS or self.word.text != keys.MIXED_FIELD:
                known = [*_LAWS, "initial", keys.EACH, *words]
                raise context.unknown_key(other, known, f"the {self.word.text} {self.key.text}")
        if law is None:
            what = f"the field '{self.key.text}' has no matrix"
            fix = f"add 'matrix: [[...], ...]' with {len(kinds)} rows"
            self._refuse(notations_rules.MISSING_KEY, self.key, what, fix)
        chosen = [{side: texts[k] for side, texts in names.items()} for k in range(len(kinds))]
        starts = [self._start(k, kind, chosen[k], initial, law) for k, kind in enumerate(kinds)]
        ends, held = list(zip(self.nodes[::2], self.nodes[1::2], strict=True)), [held for _, held in starts]
        reader.add(law, ends, chosen, [start for start, _ in starts], contents=held)

    def _start(
        self, k: int, kind: ElementKind, chosen: dict[str, str], initial: list[Scalar], law: FieldLaw
    ) -> tuple[Expression | None, bool]:
        """The initial value of a member, whose names nothing else has, and whether it is what the member holds."""
        member = f"{self.key.text}[{k + 1}]"
        for name in chosen.values():
            if self.context.variables.setdefault(name, member) != member:
                what = f"two ports or elements name a variable '{name}', one of them in '{self.key.text}'"
                fix = "name every port's variable differently"
                self._refuse(notations_rules.VARIABLE_TWICE, self.key, what, fix, self.key.text)
        if not initial:
            return None, False
        return initial_value(self.context, kind, initial[k], law, f"an entry of {self.key.text}")

    def _field_kinds(self) -> list[ElementKind]:
        """The kind of each port: all the same, or as `kinds` says."""
        if self.word.text != keys.MIXED_FIELD:
            return [self._field_kind(self.word, self.word.text.removesuffix(keys.FIELD))] * self.count
        kinds = [self._field_kind(text, text.text) for text in self._counted(keys.KINDS_OF_PORTS, "field", "kinds")]
        # A matrix that stores and loses at once has no energy function and no dissipation.
        if len({kind.role for kind in kinds}) > 1:
            at, what = self.node.get(keys.KINDS_OF_PORTS), f"the field '{self.key.text}' stores energy and loses it"
            self._refuse(notations_rules.WRONG_SHAPE, at or self.key, what, "describe two fields")
        return kinds

    def _field_kind(self, at: Scalar, word: str) -> ElementKind:
        kind = KINDS.get(word)
        if kind is None or kind.role not in ("storage", "resistive"):
            what = f"'{at.text}' is not a kind of element: a field stores or loses energy"
            fix = did_you_mean(word, [k.name for k in KINDS.values() if k.role == "storage"])
            fix = fix if kind is None and fix else "write 'inductor field', 'compliance field', ..."
            self._refuse(notations_rules.UNKNOWN_KIND, at, what, fix)
        return kind

    def _names(self, node: Node, word: str) -> list[str]:
        """The names of one variable at all ports: a list, or a name with the index of `each`."""
        if self.each is not None and isinstance(node, Scalar):
            return self.each.names(self.context.read_name(node, (self.each.index,), "a variable"), node)
        texts = self._list(node, f"names of the {word}")
        return [str(self.context.read_name(text, (), "a variable")) for text in texts]

    def _list(self, node: Node, what: str) -> list[Scalar]:
        texts = self.context.texts(node, f"the {what} of {self.key.text}")
        if len(texts) != self.count:
            what = f"'{self.key.text}' has {len(texts)} {what}, not {self.count}"
            self._refuse(notations_rules.WRONG_SHAPE, node, what, f"give {self.count}")
        return texts

    # Connections

    def add_connection(self) -> None:
        """A connection of several ports by its relations."""
        context, key = self.context, self.key
        for other in self.node.keys[1:]:
            if other.text not in ("domains", "relation"):
                raise context.unknown_key(other, ("domains", "relation"), f"the multiport {key.text}")
        texts = self._counted("domains", "multiport", "domains")
        for text in texts:
            if text.text not in DOMAINS:
                fix = did_you_mean(text.text, DOMAINS) or f"the domains are {', '.join(DOMAINS)}"
                self._refuse(notations_rules.UNKNOWN_KEY, text, f"'{text.text}' is not a domain", fix)
        domains = tuple(text.text for text in texts)
        fix = "add 'relation: through_3 = K_1*through_1 + K_2*through_2'"
        described = context.needed(self.node, "relation", f"the multiport '{key.text}' has no relation", fix, at=key)
        relations = list(described) if isinstance(described, SequenceNode) else [described]
        scalars = [context.scalar(text, "a relation") for text in relations]
        relation = MultiportRelations(context, key, domains, scalars).read()
        kind, place = multiport_kind(domains), context.place(key)
        context.elements[key.text] = Element(key.text, kind, tuple(self.nodes), multiport=relation, place=place)


_LAWS = {MATRIX: FieldReader.matrix, ENERGY: FieldReader.energy, LAWS: FieldReader.laws}
"""The ways to say the law of a field."""


def _variable_words(kinds: list[ElementKind]) -> dict[str, Side]:
    """The keys that name variables: words of the domain, where all ports have one."""
    words: dict[str, Side] = {side: side for side in keys.SIDES}
    # In a field of several domains `current` would name a variable at some of its ports only.
    if len({kind.domain.name for kind in kinds}) == 1:
        words |= {word: side for side in keys.SIDES for word in keys.variable_words(kinds[0].domain, side)}
    return words


@final
class _Each:
    """`each: {k: 1..m}`: a field with one port for each value of an index; its two nodes and its names carry the index."""

    def __init__(self, context: ReadingContext, index: str, values: list[int]) -> None:
        self.context, self.index, self.values = context, index, values

    @classmethod
    def read(cls, context: ReadingContext, key: Scalar, node: MappingNode) -> "_Each | None":
        """The range of a line, if it has one."""
        if node.get(keys.EACH) is None:
            return None
        ranges, indices = read_ranges(context, key, node, (), word=keys.EACH)
        if len(ranges) != 1:
            what = f"'{keys.EACH}' of the field '{key.text}' has {len(ranges)} indices, not one"
            raise context.error(rules.BAD_RANGE, node, what, fix=f"write '{keys.EACH}: {{{indices[0]}: 1..5}}'")
        values = [copy.values[0] for copy in copies_of(context, key, ranges, OUTSIDE)]
        return cls(context, indices[0], values)

    def nodes(self, key: Scalar, texts: list[Scalar], node: Node) -> list[str]:
        """The two nodes of every port."""
        if len(texts) != 2:
            what = f"'{key.text}' has {len(texts)} nodes, not the two of one port"
            fix = f"with '{keys.EACH}' give the two nodes of a port, such as 'a[{self.index}]' and 'b[{self.index}]'"
            raise self.context.error(notations_rules.WRONG_NODES, node, what, fix=fix, where=key.text)
        found = [self.names(self.context.read_node(text, (self.index,)), text) for text in texts]
        return [name for pair in zip(*found, strict=True) for name in pair]

    def names(self, name: str | NamePattern, node: Scalar) -> list[str]:
        """A name for each value of the index."""
        try:
            return [name_at(name, (value,)) for value in self.values]
        except NotWholeError as problem:
            at = f"{self.index} from {self.values[0]} on"
            raise self.context.not_whole_error(node, problem, at) from None
