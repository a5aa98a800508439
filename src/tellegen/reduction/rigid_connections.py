"""Rigid connections: made by a limit, where the nodes of what is rigid become one, and undone, where it is made elastic again.

What carries nothing is taken out. Elements that are left idle go too: what lies between nodes that became one, and what hangs on a
node that joins nothing else. A source or coupling in such a place stays, beside an element of value zero that says so; and so do
storages that keep what they have, where nothing else would be left.

The reverse of a limit: what is joined rigidly, or follows others because a loop of storages leaves it no choice, gets a fictitious
storage between, and has a state of its own again (Zanasi, Grossi and Giuliani: corking machine, section 5.2, step 2). The
fictitious parameter at its limit gives the equations of the rigid model back.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite, pi, sqrt
from typing import final

from tellegen.causality import assign_causality
from tellegen.core.domains import DOMAINS, REFERENCES, Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, joined, listing, unused
from tellegen.core.union_find import UnionFind
from tellegen.core.units import parse_unit
from tellegen.elements import ElementKind, kinds_of
from tellegen.equations.derivation import derive_equations
from tellegen.equations.start import model_start, starting_at, values_of_parameters
from tellegen.expressions import ONE, ZERO, number, symbol
from tellegen.graph import lower
from tellegen.model.laws import MatrixField
from tellegen.model.model import Element, Model, Parameter
from tellegen.reduction import rules
from tellegen.reduction.account import MOST_STATES, poles_of, rates_at

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
        # A carrier stays in the network at value zero: a law elsewhere reads the variable that it carries.
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
        removed = {name: self.elements.pop(name) for name in self.vanishing}
        # The order matters: joining nodes makes elements idle, and idle elements leave dangling ends.
        self._join([removed[n] for n, side in self.vanishing.items() if side == "across"])
        self._part_from_itself()
        self._cut_dangling()
        # A model of nothing cannot be run or saved: what keeps its state stays, each by itself.
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
            # A group with a reference is the reference, whatever its other nodes are called.
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
            # An element between a node and itself has no across variable; only what decides nothing by that may go.
            if self._may_go(e, "across"):
                self._take_out(e, "across")
                continue
            nodes = list(e.nodes)
            for k, (name, _) in pairs:
                own = self._fresh(joined(name, e.name))
                # A source or coupling must stay, so its node is parted again, and an element of value zero says that
                # nothing drops there.
                nodes[2 * k] = own
                self._add_zero(e.name, "short", e.kind.domains[k], "across", (own, name))
            self.elements[key] = replace(e, nodes=tuple(nodes))

    # -- ends that carry nothing -----------------------------------------------------------------------------------------------

    def _cut_dangling(self) -> None:
        while True:
            # Counted anew in each round: taking out one element makes the next one loose, down a whole chain.
            uses = Counter(node for e in self.elements.values() for node in _nodes(e))
            # A reference is never an open end: what ends there is closed through it.
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
                    plus = self._fresh(joined(minus, element.name))
                self.elements[element.name] = replace(element, nodes=(plus, minus))
                word = "open" if zero == "through" else "short"
                self._add_zero(element.name, word, element.kind.domains[0], zero, (plus, minus))

    def _hold_together(self, opened: Iterable[Element]) -> None:
        """Where the model falls apart, an open element stays as one of value zero, so that it is one model still."""
        # An open element carries nothing, but a model has to hang together; value zero says both.
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
        """Whether an element is idle once its variable `zero` is; of the members of fields only storages are, by a zero output."""
        owner = next((f for f in self.fields if element.name in f.members), None)
        if owner is None:
            return element.kind.role in ("storage", "resistive")
        # By the mutual terms a storage with zero input still gives something, and acts on the others. A resistive member
        # whose output is zero is told what makes it so; told nothing, it shows what the others give it. Laws and
        # energies read all that the members have, and are no smaller with one less.
        return element.kind.role == "storage" and not owner.letters and element.kind.side == zero

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
            # The stiffness of a smaller field is not a part of the stiffness of the whole, so only the matrix is kept.
            matrix = tuple(tuple(owner.matrix[i][j] for j in kept) for i in kept)
            members = tuple(owner.members[k] for k in kept)
            self.fields.append(replace(owner, members=members, matrix=matrix, stiffness=None))

    def _add_zero(self, beside: str, word: str, domain: str, side: Side, nodes: tuple[str, str]) -> None:
        kind = _resistive(beside, domain, side)
        name = unused(joined(beside, word) if word else joined(beside), self.elements)
        self.elements[name] = Element(name, kind, nodes, ZERO)

    def _fresh(self, name: str) -> str:
        return unused(name, {*REFERENCES, *(node for e in self.elements.values() for node in e.nodes)})


def _resistive(name: str, domain: str, side: Side) -> ElementKind:
    """The kind of element that, at the value zero, holds a variable at zero.

    Raises: ReductionError (T105) where the domain has none: entropy flows through couplings only.
    """
    # Value zero of a resistor shorts (R = 0) or opens (G = 0), which is the variable that its law gives.
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
    # Translation and rotation share the reference `frame`, and yet their frames are two nodes of the network.
    return (name, domain) if name in REFERENCES else (name, "")


def _pairs(element: Element) -> list[tuple[Node, Node]]:
    nodes = _nodes(element)
    return list(zip(nodes[::2], nodes[1::2], strict=True))


@final
@dataclass(frozen=True)
class RigidConnection:
    """Elements that are parted from the node they share with others, or an element that gets a storage beside it."""

    name: str
    elements: tuple[Element, ...]
    node: str
    domain: str
    series: bool
    storage: Element | None


def rigid_connection(model: Model, connection: str, apart: tuple[str, ...]) -> RigidConnection:
    """Where a model is cut: at a storage, or at a node between the elements of `apart` and the others.

    Raises: ReductionError (T111) when there is nothing to cut.
    """
    element = next((e for e in model.elements if e.name == connection), None)
    if element is not None and not apart:
        if element.kind.role != "storage":
            raise rules.NOT_RIGID.error(
                f"'{connection}' is no storage",
                where=connection,
                fix="name a storage, or a node and what is to be parted",
            )
        node = next((n for n in element.nodes if n not in REFERENCES), element.nodes[0])
        return RigidConnection(
            connection, (element,), node, element.kind.domains[0], element.kind.side == "across", element
        )
    return _node_cut(model, connection, apart)


def _node_cut(model: Model, node: str, apart: tuple[str, ...]) -> RigidConnection:
    joined = {e.name: e for e in model.elements if node in e.nodes}
    if not joined or node in REFERENCES:
        nodes = dict.fromkeys(n for e in model.elements for n in e.nodes if n not in REFERENCES)
        known = [*(e.name for e in model.elements if e.kind.role == "storage"), *nodes]
        fix = did_you_mean(node, known) or f"some that are: {listing(known)}"
        raise rules.NOT_RIGID.error(f"'{node}' is neither a storage nor a node", where=model.name, fix=fix)
    unknown = [name for name in apart if name not in joined]
    if unknown or not apart or len(set(apart)) == len(joined):
        what = f"'{unknown[0]}' is not at the node '{node}'" if unknown else f"the node '{node}' is not parted by this"
        raise rules.NOT_RIGID.error(what, where=node, fix=f"choose some, not all, of {listing(joined)}")
    elements = tuple(joined[name] for name in dict.fromkeys(apart))
    first = elements[0]
    domain = first.kind.domains[min(first.nodes.index(node) // 2, len(first.kind.domains) - 1)]
    storages = [e for e in joined.values() if e.kind.role == "storage" and e.kind.side == "across"]
    parted = [e for e in storages if e in elements]
    return RigidConnection(node, elements, node, domain, True, next(iter([*parted, *storages]), None))


FASTER = 30.0
"""A fictitious resonance is at least so many times faster than the fastest pole of the rigid model."""

DAMPING = 0.7
"""The damping ratio that the fictitious dissipator gives to the fictitious resonance."""


@final
@dataclass(frozen=True)
class Stiffened:
    """The elastic model, and the name of its fictitious parameter with the limit that makes it rigid again (`K_J_s=inf`)."""

    model: Model
    parameter: str
    limit: str
    value: float


def stiffen_model(
    model: Model, connection: str, *, apart: Iterable[str] = (), value: float | None = None, damped: bool = True
) -> Stiffened:
    """The model with a fictitious storage at a storage that follows others, or between the elements of `apart` and their node.

    Without `value`, in SI, the fictitious resonance is made much faster than the poles of the model and the experiment; `damped`
    adds a dissipator so that it settles.

    Raises: ReductionError for no such connection (T111), a value that does not follow (T112), a domain with one storage (T113).
    """
    cut = rigid_connection(model, connection, tuple(apart))
    return _Stiffening(model, cut, damped).stiffened(value)


class _Stiffening:
    def __init__(self, model: Model, cut: RigidConnection, damped: bool) -> None:
        self.model, self.cut, self.damped = model, cut, damped
        self.side: Side = "through" if cut.series else "across"
        self.storage = self._kind("storage", self.side)
        taken = {*model.parameters, *(e.name for e in model.elements)}
        assert self.storage.quantity is not None, "a storage has a parameter"
        self.name = unused(f"{self.storage.quantity.key}_{cut.name.replace('.', '_')}", taken, "_1")
        self.dissipator = unused(f"d_{cut.name.replace('.', '_')}", {*taken, self.name}, "_1")

    def _kind(self, role: str, side: Side | None) -> ElementKind:
        known = kinds_of(self.cut.domain, "storage" if role == "storage" else "resistive")
        found = [k for k in known if k.quantity is not None and not k.energy and (side is None or k.side == side)]
        if not found:
            raise rules.NO_COUNTERPART.error(
                f"the {self.cut.domain} domain has no {'compliance' if self.cut.series else 'inertia'} to put at '{self.cut.name}'",
                where=self.cut.name,
                fix="leave the connection rigid",
            )
        return found[0]

    def stiffened(self, value: float | None) -> Stiffened:
        inertia = self._inertia()
        number_value = self._suggested(inertia) if value is None else self._checked(value)
        model = self._wired(number_value, inertia)
        limit = "inf" if self.storage.inverse else "0"
        return Stiffened(self._started(model), self.name, f"{self.name}={limit}", number_value)

    # -- numbers ---------------------------------------------------------------------------------------------------------------

    def _inertia(self) -> float | None:
        """The energy parameter of the storage at the connection: a mass, or a compliance."""
        storage, values = self.cut.storage, values_of_parameters(self.model)
        if storage is None or storage.value is None or not storage.value.free_symbols <= values.keys():
            return None
        found = storage.value.evaluate(values)
        return (1 / found if storage.kind.inverse else found) if found > 0 else None

    def _suggested(self, inertia: float | None) -> float:
        """The resonance of the new storage with the old one lies far above what the model and the experiment show."""
        speed = self._fastest()
        stiffness = 0.0 if inertia is None or speed is None else inertia * (FASTER * speed) ** 2
        # A model that rests whatever happens, or numbers beyond floating point, ask for no resonance.
        if not (stiffness > 0 and isfinite(1 / stiffness)):
            raise rules.NO_SUGGESTION.error(
                f"no value for '{self.name}' follows from the model",
                where=self.cut.name,
                fix=f"give the {self.storage.quantity.word if self.storage.quantity else 'value'} (value=...)",
            )
        return stiffness if self.storage.inverse else 1 / stiffness

    def _fastest(self) -> float | None:
        """The fastest pole of the rigid model, or what the duration of the experiment can show, in rad/s."""
        rates = []
        values = values_of_parameters(self.model)
        until = self.model.experiment.until
        if until is not None and until.free_symbols <= values.keys():
            rates.append(20 * pi / until.evaluate(values))
        try:
            system = derive_equations(assign_causality(lower(self.model)))
            if len(system.states) <= MOST_STATES:
                rates += [abs(p) for p in poles_of(system, model_start(self.model))]
        except (TellegenError, ArithmeticError, ValueError):
            pass  # a model that has no poles at its start still has a duration
        return max(rates, default=None)

    def _checked(self, value: float) -> float:
        if not 0 < value < float("inf"):
            raise rules.NO_SUGGESTION.error(
                f"the value of '{self.name}' would be {value:g}", where=self.cut.name, fix="give a positive number"
            )
        return value

    def _resistance(self, value: float, inertia: float, kind: ElementKind) -> float:
        """Damps the resonance: beside a compliance, or in series with an inertia."""
        other = 1 / value if self.storage.inverse else value
        wave = sqrt(inertia / other)  # of the across variable over the through variable, or its reciprocal
        ratio = (
            2 * DAMPING * wave
        )  # through over across for a damper beside a spring; across over through in series with a mass
        gives: Side = "through" if self.cut.series else "across"
        return ratio if kind.side == gives else 1 / ratio

    # -- wiring ----------------------------------------------------------------------------------------------------------------

    def _wired(self, value: float, inertia: float | None) -> Model:
        elements, ends = self._parted() if self.cut.series else (self.model.elements, self._beside())
        dissipator = self._kind("resistive", None) if self.damped and inertia is not None else None
        unit = self.storage.quantity.unit if self.storage.quantity else ""
        parameters = {**self.model.parameters, self.name: _parameter(self.name, value, unit)}
        new = [Element(self.name, self.storage, ends, value=symbol(self.name))]
        if dissipator is not None and inertia is not None:
            unit = dissipator.quantity.unit if dissipator.quantity else ""
            resistance = self._resistance(value, inertia, dissipator)
            parameters[self.dissipator] = _parameter(self.dissipator, resistance, unit)
            across = ends
            if not self.cut.series:  # the dissipator in series: open together with its mass or capacitance
                inner = unused(f"{ends[0]}_fictitious", {n for e in self.model.elements for n in e.nodes}, "_1")
                new, across = [replace(new[0], nodes=(inner, ends[1]))], (ends[0], inner)
            new.append(Element(self.dissipator, dissipator, across, value=symbol(self.dissipator)))
        about = f"{self.model.about} With the fictitious '{self.name}'.".strip()
        return replace(
            self.model, elements=(*elements, *new), parameters=parameters, about=about, findings=(), source=""
        )

    def _parted(self) -> tuple[tuple[Element, ...], tuple[str, str]]:
        """The elements with the parted ones at a new node, and the two nodes."""
        nodes = {n for e in self.model.elements for n in e.nodes}
        other = unused(f"{self.cut.node}_{self.cut.name.replace('.', '_')}", nodes, "_1")
        parted = {e.name for e in self.cut.elements}
        moved = tuple(
            replace(e, nodes=tuple(other if n == self.cut.node else n for n in e.nodes)) if e.name in parted else e
            for e in self.model.elements
        )
        return moved, (self.cut.node, other)

    def _beside(self) -> tuple[str, str]:
        """Where a mass or capacitance goes: across the element, or from one of its nodes to the reference where it must."""
        (element,) = self.cut.elements
        if not self.storage.grounded:
            return element.nodes[0], element.nodes[1]
        reference = DOMAINS[self.cut.domain].reference
        free = [n for n in element.nodes if n != reference]
        for node in free:
            trial = Element(self.name, self.storage, (node, reference), value=ONE)
            causal = assign_causality(lower(replace(self.model, elements=(*self.model.elements, trial))))
            following = {causal.graph.ports[k].element for k in causal.derivative}
            if not {self.name, element.name} & following:
                return node, reference
        return (free or list(element.nodes))[0], reference

    def _started(self, model: Model) -> Model:
        """The elastic model where the rigid one starts; the new storage begins with what the rigid connection carries there."""
        start = model_start(self.model)
        begun = starting_at(model, start)
        rigid, elastic = (assign_causality(lower(m)) for m in (self.model, begun))
        own = next(p.state for p in elastic.graph.ports if p.element == self.name)
        try:
            wanted = rates_at(derive_equations(rigid), start)
            free, one = (rates_at(derive_equations(elastic), {**model_start(begun), own: s}) for s in (0.0, 1.0))
        except (TellegenError, ArithmeticError, ValueError, KeyError):
            return begun  # it rings a little then, until its dissipator has settled it
        names = wanted.keys() & free.keys() - {own}
        # Rates are linear in what it carries: where they are those of the rigid model, nothing rings.
        moved = sum((one[n] - free[n]) ** 2 for n in names)
        carried = sum((wanted[n] - free[n]) * (one[n] - free[n]) for n in names) / moved if moved else 0.0
        return starting_at(begun, {own: carried}) if carried else begun


def _parameter(name: str, value: float, unit: str) -> Parameter:
    return Parameter(name, number(value), parse_unit(unit).dimension if unit else None, unit)
