"""The reduced model as a network: what is rigid joins its nodes, what carries nothing is taken out.

Elements that are left idle go too: what lies between nodes that became one, and what hangs on a node that joins nothing else.
A source or coupling in such a place stays, beside an element of value zero that says so; and so do storages that keep what they
have, where nothing else would be left.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import REFERENCES, Side, other_side
from tellegen.core.union_find import UnionFind
from tellegen.elements import ElementKind, kinds_of
from tellegen.expressions import ZERO
from tellegen.model.laws import MatrixField
from tellegen.model.model import Element, Model
from tellegen.reduction import rules

Node = tuple[str, str]
"""A node as the network means it: its name, and its domain where the name is a reference that two domains share."""


@final
@dataclass(frozen=True)
class Rewired:
    """The model without what vanishes, and the elements that were left idle, with the variable of each that is zero."""

    model: Model
    idle: Mapping[str, Side | None]


def rewired(model: Model, vanishing: Mapping[str, Side], carriers: Iterable[str] = ()) -> Rewired:
    """Join the nodes of what is rigid, take out what carries nothing, and then what is idle.

    `vanishing` gives for the elements at their limit the power variable that is zero. Those of `carriers` stay as elements of value
    zero, because others read their other variable.
    """
    return _Rewiring(model, vanishing, frozenset(carriers)).result()


class _Rewiring:
    def __init__(self, model: Model, vanishing: Mapping[str, Side], carriers: frozenset[str]) -> None:
        self.model = model
        self.vanishing = {name: side for name, side in vanishing.items() if name not in carriers}
        carrying = {name: side for name, side in vanishing.items() if name in carriers}
        self.elements: dict[str, Element] = {
            e.name: _carrier(e, carrying[e.name]) if e.name in carrying else e for e in model.elements
        }
        self.idle: dict[str, Side | None] = {}
        self.taken: list[tuple[Element, Side]] = []
        self.fields = list(model.fields)
        self.ports = dict(model.ports)

    def result(self) -> Rewired:
        """The network, its dangling ends cut off."""
        removed = {name: self.elements.pop(name) for name in self.vanishing}
        self._join([removed[n] for n, side in self.vanishing.items() if side == "across"])
        self._part_from_itself()
        self._cut_dangling()
        if not self.elements:
            self._leave_at_rest()
        self._hold_together([removed[n] for n, side in self.vanishing.items() if side == "through"])
        model = replace(
            self.model,
            elements=tuple(self.elements.values()),
            fields=tuple(self.fields),
            ports=self.ports,
            vectors={
                name: members for name, members in self.model.vectors.items() if self.elements.keys() >= {*members}
            },
        )
        return Rewired(model, self.idle)

    # -- nodes that become one -------------------------------------------------------------------------------------------------

    def _join(self, rigid: Iterable[Element]) -> None:
        nodes = list(dict.fromkeys(node for e in [*self.elements.values(), *rigid] for node in _nodes(e)))
        number = {node: k for k, node in enumerate(nodes)}
        groups = UnionFind(len(nodes))
        for e in rigid:
            groups.join(number[_nodes(e)[0]], number[_nodes(e)[1]])
        name: dict[int, str] = {}
        for node, k in number.items():
            root = groups.find(k)
            if root not in name or (node[0] in REFERENCES and name[root] not in REFERENCES):
                name[root] = node[0]
        for key, e in self.elements.items():
            self.elements[key] = replace(e, nodes=tuple(name[groups.find(number[n])] for n in _nodes(e)))
        for key, port in self.ports.items():
            ends = [_node(node, port.domain) for node in port.nodes]
            plus, minus = (name[groups.find(number[n])] if n in number else n[0] for n in ends)
            self.ports[key] = replace(port, nodes=(plus, minus))

    def _part_from_itself(self) -> None:
        """Take out what lies between two nodes that became one; a source or coupling gets a node of its own beside it."""
        for key, e in list(self.elements.items()):
            pairs = [(k, a) for k, (a, b) in enumerate(_pairs(e)) if a == b]
            if not pairs:
                continue
            if self._may_go(e, "across"):
                self._take_out(e, "across")
                continue
            nodes = list(e.nodes)
            for k, (name, _) in pairs:
                own = self._fresh(f"{name}_{e.name}")
                nodes[2 * k] = own
                self._add_zero(e.name, "short", e.kind.domains[k], "across", (own, name))
            self.elements[key] = replace(e, nodes=tuple(nodes))

    # -- ends that carry nothing -----------------------------------------------------------------------------------------------

    def _cut_dangling(self) -> None:
        while True:
            uses = Counter(node for e in self.elements.values() for node in _nodes(e))
            lonely = {node for node, n in uses.items() if n == 1 and node[0] not in REFERENCES}
            loose = next((e for e in self.elements.values() if lonely.intersection(_nodes(e))), None)
            if loose is None:
                return
            if self._may_go(loose, "through"):
                self._take_out(loose, "through")
                continue
            for k, (a, b) in enumerate(_pairs(loose)):
                if a in lonely or b in lonely:
                    self._add_zero(loose.name, "open", loose.kind.domains[k], "through", (a[0], b[0]))

    def _leave_at_rest(self) -> None:
        """Nothing acts on anything: the storages that keep what they have stay, each open or shorted by itself."""
        for element, zero in self.taken:
            if element.kind.role == "storage" and self.idle[element.name] is None:
                del self.idle[element.name]
                plus, minus = element.nodes
                if zero == "across" and plus == minus:
                    plus = self._fresh(f"{minus}_{element.name}")
                self.elements[element.name] = replace(element, nodes=(plus, minus))
                word = "open" if zero == "through" else "short"
                self._add_zero(element.name, word, element.kind.domains[0], zero, (plus, minus))

    def _hold_together(self, opened: Iterable[Element]) -> None:
        """Where the model falls apart, an open element stays as one of value zero, so that it is one model still."""
        for e in opened:
            nodes = list(dict.fromkeys(node for x in self.elements.values() for node in _nodes(x)))
            number = {node: k for k, node in enumerate(nodes)}
            groups = UnionFind(len(nodes))
            for x in self.elements.values():
                ends = _nodes(x)
                for node in ends[1:]:
                    groups.join(number[ends[0]], number[node])
            a, b = _nodes(e)
            if a in number and b in number and groups.find(number[a]) != groups.find(number[b]):
                self._add_zero(e.name, "", e.kind.domains[0], "through", (a[0], b[0]))

    # -- elements --------------------------------------------------------------------------------------------------------------

    def _may_go(self, element: Element, zero: Side) -> bool:
        """Whether an element is idle once its variable `zero` is; a member of a field is only where its output is zero."""
        alone = not any(element.name in f.members for f in self.fields)
        return element.kind.role in ("storage", "resistive") and (alone or element.kind.side == zero)

    def _take_out(self, element: Element, zero: Side) -> None:
        """Remove an idle element; `zero` is the variable that the network keeps at zero."""
        owner = next((f for f in self.fields if element.name in f.members), None)
        if owner is not None:
            self._shrink(owner, element.name)
        del self.elements[element.name]
        self.taken.append((element, zero))
        output = element.kind.side if element.kind.role == "storage" else None
        self.idle[element.name] = zero if output == zero else None

    def _shrink(self, owner: MatrixField, member: str) -> None:
        """A field without one member: its output is zero, so its row and column go."""
        kept = [k for k, name in enumerate(owner.members) if name != member]
        self.fields.remove(owner)
        if len(kept) > 1:
            matrix = tuple(tuple(owner.matrix[i][j] for j in kept) for i in kept)
            members = tuple(owner.members[k] for k in kept)
            self.fields.append(replace(owner, members=members, matrix=matrix, stiffness=None))

    def _add_zero(self, beside: str, word: str, domain: str, side: Side, nodes: tuple[str, str]) -> None:
        kind = _resistive(beside, domain, side)
        name = f"{beside}_{word}" if word else beside
        while name in self.elements:
            name += "_"
        self.elements[name] = Element(name, kind, nodes, ZERO)

    def _fresh(self, name: str) -> str:
        used = {node for e in self.elements.values() for node in e.nodes}
        while name in used or name in REFERENCES:
            name += "_"
        return name


def _resistive(name: str, domain: str, side: Side) -> ElementKind:
    """The kind of element that, at the value zero, holds a variable at zero.

    Raises: ReductionError (T105) where the domain has none: entropy flows through couplings only.
    """
    found = next((k for k in kinds_of(domain, "resistive") if k.side == side), None)
    if found is None:
        what = f"the limit leaves '{name}' alone in the {domain} domain, where no element holds a variable at zero"
        raise rules.NO_LIMIT.error(what, where=name, fix=f"keep another element at the nodes of '{name}'")
    return found


def _carrier(element: Element, zero: Side) -> Element:
    """An element of value zero in the place of one at its limit; the variable that it carries keeps its name."""
    other: str = other_side(zero)
    variables = {side: name for side, name in element.variables.items() if side == other}
    kind = _resistive(element.name, element.kind.domains[0], zero)
    return Element(element.name, kind, element.nodes, ZERO, variables=variables, place=element.place)


def _nodes(element: Element) -> list[Node]:
    domains = element.kind.domains
    return [_node(name, domains[k // 2]) for k, name in enumerate(element.nodes)]


def _node(name: str, domain: str) -> Node:
    return (name, domain) if name in REFERENCES else (name, "")


def _pairs(element: Element) -> list[tuple[Node, Node]]:
    nodes = _nodes(element)
    return list(zip(nodes[::2], nodes[1::2], strict=True))
