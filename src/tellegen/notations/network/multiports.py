"""Elements with several ports and a matrix: fields that store or lose energy, and connections that pass it on.

coils: {inductor field: [a, n, b, n], current: [I_1, I_2], matrix: [[L_1, M], [M, L_2]]}
phases: {inductor field: ["a[k]", n], each: {k: 1..m}, current: "I[k]", matrix: "if(row == column, L, M)"}
magnet: {field: [a, gnd, x, frame], kinds: [inductor, compliance], energy: phi_1^2*(x_0 + x_2)/(2*L_0)}
motor: {multiport: [a, n, b, n, shaft, frame], domains: [electrical, electrical, rotational],
        relation: through_3 = K_1*through_1 + K_2*through_2}
"""

import re
from typing import NoReturn, final

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.names import did_you_mean
from tellegen.core.units import parse_unit
from tellegen.elements import KINDS, ElementKind, multiport_kind
from tellegen.expressions import Expression, is_zero, symbol
from tellegen.model.dimensions import Measure
from tellegen.model.laws import Multiport
from tellegen.model.model import Element
from tellegen.notations import indexed_names
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.network import keys, rules
from tellegen.notations.network.fields import ENERGY, LAWS, MATRIX, FieldLaw, FieldReader
from tellegen.notations.network.repetition import copies_of, read_ranges
from tellegen.notations.quantities import parse_marked
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

_PORT = re.compile(r"(across|through)_(\d+)")


@final
class MultiportRelations:
    """Reads `through_3 = K_1*through_1 + ...`: the ports on the left give power, those on the right take it."""

    def __init__(self, context: ReadingContext, key: Scalar, domains: tuple[str, ...], texts: list[Scalar]) -> None:
        self.context = context
        self.key = key
        self.domains = domains
        self.texts = texts
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
        return Multiport(
            given=tuple(self._port(n) for n in given),
            gives=tuple(self._port(n) for n in self.left),
            given_sides=tuple(self._side(n) for n in given),
            gives_sides=tuple(self._side(n) for n in self.left),
            K=K,
        )

    def _right(self, text: Scalar, right: str, at: int) -> Expression:
        marked = parse_marked(right, self.context.text_place(text, at))
        variables: dict[str, Measure] = {
            n: keys.port_dimension(self.domains, n) for n in marked.free_symbols if self._is_port(n)
        }
        wanted = keys.port_dimension(self.domains, text.text.partition("=")[0].strip())
        return self.context.check_later(marked, wanted, f"the relation of {self.key.text}", text, variables)

    def _is_port(self, name: str) -> bool:
        found = _PORT.fullmatch(name)
        return found is not None and 1 <= int(found[2]) <= len(self.domains)

    @staticmethod
    def _port(name: str) -> int:
        return int(name.rpartition("_")[2]) - 1

    @staticmethod
    def _side(name: str) -> Side:
        return "across" if name.startswith("across") else "through"

    def _refuse(self, text: Scalar, what: str) -> NoReturn:
        fix = "write a relation such as 'through_3 = K_1*through_1 + K_2*through_2', each port on one side"
        raise self.context.error(notations_rules.BAD_RELATION, text, f"the relation of {self.key.text} {what}", fix=fix)


def is_multiport(node: Node) -> bool:
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
    if node.keys[0].text == keys.MULTIPORT:
        _read_connection(context, key, node)
    else:
        _read_field(context, key, node)


def _read_nodes(context: ReadingContext, key: Scalar, node: Node, each: "_Each | None" = None) -> list[str]:
    texts = context.texts(node, f"the nodes of {key.text}")
    names = (
        [str(indexed_names.read_node(context, text, ())) for text in texts]
        if each is None
        else each.nodes(key, texts, node)
    )
    if len(names) < 4 or len(names) % 2:
        what = f"'{key.text}' has {len(names)} nodes, not two for each of its ports"
        raise context.error(
            notations_rules.WRONG_NODES, node, what, fix="give two nodes a port, two ports or more", where=key.text
        )
    return names


# Fields


def _read_field(context: ReadingContext, key: Scalar, node: MappingNode) -> None:
    each = _Each.read(context, key, node)
    nodes = _read_nodes(context, key, node.values[0], each)
    kinds = _field_kinds(context, key, node, len(nodes) // 2)
    reader, words = FieldReader(context, key, kinds), _variable_words(kinds)
    names: dict[str, list[str]] = {}
    initial: list[Scalar] = []
    law: FieldLaw | None = None
    for other, value in zip(node.keys[1:], node.values[1:], strict=True):
        if other.text in _LAWS and (law is None or other.text == MATRIX):
            law = _LAWS[other.text](reader, value)
        elif other.text == "initial":
            initial = _list(context, key, value, len(kinds), "initial values")
        elif other.text in words:
            names[words[other.text]] = _names(context, key, value, len(kinds), other.text, each)
        elif other.text == keys.EACH:
            continue
        elif other.text != keys.KINDS_OF_PORTS or node.keys[0].text != keys.MIXED_FIELD:
            known = [*_LAWS, "initial", keys.EACH, *words]
            raise context.unknown_key(other, known, f"the {node.keys[0].text} {key.text}")
    if law is None:
        fix = f"add 'matrix: [[...], ...]' with {len(kinds)} rows"
        raise context.error(notations_rules.MISSING_KEY, key, f"the field '{key.text}' has no matrix", fix=fix)
    _add_field(reader, nodes, law, names, initial)


_LAWS = {MATRIX: FieldReader.matrix, ENERGY: FieldReader.energy, LAWS: FieldReader.laws}
"""The ways to say the law of a field."""


def _field_kinds(context: ReadingContext, key: Scalar, node: MappingNode, count: int) -> list[ElementKind]:
    """The kind of each port: all the same, or as `kinds` says."""
    word = node.keys[0]
    if word.text != keys.MIXED_FIELD:
        return [_field_kind(context, word, word.text.removesuffix(keys.FIELD))] * count
    given = node.get(keys.KINDS_OF_PORTS)
    texts = [] if given is None else context.texts(given, f"the kinds of {key.text}")
    if len(texts) != count:
        what = f"the field '{key.text}' has {count} ports and {len(texts)} kinds"
        raise context.error(
            notations_rules.WRONG_SHAPE, given or key, what, fix=f"write 'kinds: [...]' with {count} words"
        )
    kinds = [_field_kind(context, text, text.text) for text in texts]
    # A matrix that stores and loses at once has no energy function and no dissipation.
    if len({kind.role for kind in kinds}) > 1:
        what = f"the field '{key.text}' stores energy and loses it"
        raise context.error(notations_rules.WRONG_SHAPE, given or key, what, fix="describe two fields")
    return kinds


def _field_kind(context: ReadingContext, at: Scalar, word: str) -> ElementKind:
    kind = KINDS.get(word)
    if kind is None or kind.role not in ("storage", "resistive"):
        what = f"'{at.text}' is not a kind of element: a field stores or loses energy"
        fix = did_you_mean(word, [k.name for k in KINDS.values() if k.role == "storage"])
        fix = fix if kind is None and fix else "write 'inductor field', 'compliance field', ..."
        raise context.error(notations_rules.UNKNOWN_KIND, at, what, fix=fix)
    return kind


def _variable_words(kinds: list[ElementKind]) -> dict[str, Side]:
    """The keys that name variables: words of the domain, where all ports have one."""
    words: dict[str, Side] = {side: side for side in keys.SIDES}
    # In a field of several domains `current` would name a variable at some of its ports only.
    if len({kind.domain.name for kind in kinds}) == 1:
        words |= {word: side for side in keys.SIDES for word in keys.variable_words(kinds[0].domain, side)}
    return words


def _add_field(
    reader: FieldReader, nodes: list[str], law: FieldLaw, names: dict[str, list[str]], initial: list[Scalar]
) -> None:
    context, key, kinds = reader.context, reader.key, reader.kinds
    chosen = [{side: texts[k] for side, texts in names.items()} for k in range(len(kinds))]
    starts: list[Expression | None] = [None] * len(kinds)
    for k, kind in enumerate(kinds):
        member = f"{key.text}[{k + 1}]"
        for name in chosen[k].values():
            if context.variables.setdefault(name, member) != member:
                what = f"two ports or elements name a variable '{name}', one of them in '{key.text}'"
                fix = "name every port's variable differently"
                raise context.error(notations_rules.VARIABLE_TWICE, key, what, fix=fix, where=key.text)
        if initial:
            power = parse_unit(kind.domain.power(kind.side).unit).dimension
            starts[k] = context.checked_quantity(initial[k], power, f"an entry of {key.text}").expression
    reader.add(law, list(zip(nodes[::2], nodes[1::2], strict=True)), chosen, starts)


def _names(context: ReadingContext, key: Scalar, node: Node, count: int, word: str, each: "_Each | None") -> list[str]:
    """The names of one variable at all ports: a list, or a name with the index of `each`."""
    if each is not None and isinstance(node, Scalar):
        return each.names(indexed_names.read_name(context, node, (each.index,), "a variable"), node)
    texts = _list(context, key, node, count, f"names of the {word}")
    return [str(indexed_names.read_name(context, text, (), "a variable")) for text in texts]


@final
class _Each:
    """`each: {k: 1..m}`: a field with one port for each value of an index; its two nodes and its names carry the index."""

    def __init__(self, context: ReadingContext, index: str, values: list[int]) -> None:
        self.context = context
        self.index = index
        self.values = values

    @classmethod
    def read(cls, context: ReadingContext, key: Scalar, node: MappingNode) -> "_Each | None":
        """The range of a line, if it has one."""
        if node.get(keys.EACH) is None:
            return None
        ranges, indices = read_ranges(context, key, node, (), word=keys.EACH)
        if len(ranges) != 1:
            what = f"'{keys.EACH}' of the field '{key.text}' has {len(ranges)} indices, not one"
            raise context.error(rules.BAD_RANGE, node, what, fix=f"write '{keys.EACH}: {{{indices[0]}: 1..5}}'")
        values = [copy.values[0] for copy in copies_of(context, key, ranges, indexed_names.StructureCopy())]
        return cls(context, indices[0], values)

    def nodes(self, key: Scalar, texts: list[Scalar], node: Node) -> list[str]:
        """The two nodes of every port."""
        if len(texts) != 2:
            what = f"'{key.text}' has {len(texts)} nodes, not the two of one port"
            fix = f"with '{keys.EACH}' give the two nodes of a port, such as 'a[{self.index}]' and 'b[{self.index}]'"
            raise self.context.error(notations_rules.WRONG_NODES, node, what, fix=fix, where=key.text)
        found = [self.names(indexed_names.read_node(self.context, text, (self.index,)), text) for text in texts]
        return [name for pair in zip(*found, strict=True) for name in pair]

    def names(self, name: str | indexed_names.NamePattern, node: Scalar) -> list[str]:
        """A name for each value of the index."""
        try:
            return [indexed_names.name_at(name, (value,)) for value in self.values]
        except indexed_names.NotWholeError as problem:
            raise indexed_names.not_whole_error(
                self.context, node, problem, f"{self.index} from {self.values[0]} on"
            ) from None


def _list(context: ReadingContext, key: Scalar, node: Node, count: int, what: str) -> list[Scalar]:
    texts = context.texts(node, f"the {what} of {key.text}")
    if len(texts) != count:
        raise context.error(
            notations_rules.WRONG_SHAPE, node, f"'{key.text}' has {len(texts)} {what}, not {count}", fix=f"give {count}"
        )
    return texts


# Connections


def _read_connection(context: ReadingContext, key: Scalar, node: MappingNode) -> None:
    nodes = _read_nodes(context, key, node.values[0])
    count = len(nodes) // 2
    for other in node.keys[1:]:
        if other.text not in ("domains", "relation"):
            raise context.unknown_key(other, ("domains", "relation"), f"the multiport {key.text}")
    domains = _read_domains(context, key, node, count)
    described = node.get("relation")
    if described is None:
        fix = "add 'relation: through_3 = K_1*through_1 + K_2*through_2'"
        raise context.error(notations_rules.MISSING_KEY, key, f"the multiport '{key.text}' has no relation", fix=fix)
    relations = list(described) if isinstance(described, SequenceNode) else [described]
    relation = MultiportRelations(
        context, key, domains, [context.scalar(text, "a relation") for text in relations]
    ).read()
    context.elements[key.text] = Element(
        key.text, multiport_kind(domains), tuple(nodes), multiport=relation, place=context.place(key)
    )


def _read_domains(context: ReadingContext, key: Scalar, node: MappingNode, count: int) -> tuple[str, ...]:
    described = node.get("domains")
    texts = [] if described is None else context.texts(described, f"the domains of {key.text}")
    if len(texts) != count:
        what = f"the multiport '{key.text}' has {count} ports and {len(texts)} domains"
        raise context.error(
            notations_rules.WRONG_SHAPE, described or key, what, fix=f"write 'domains: [...]' with {count} words"
        )
    for text in texts:
        if text.text not in DOMAINS:
            fix = did_you_mean(text.text, DOMAINS) or f"the domains are {', '.join(DOMAINS)}"
            raise context.error(notations_rules.UNKNOWN_KEY, text, f"'{text.text}' is not a domain", fix=fix)
    return tuple(text.text for text in texts)
