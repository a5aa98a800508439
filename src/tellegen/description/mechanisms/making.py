"""Makes the elements that a mechanism consists of: storages, connections, sources, and ideal sensors of what joints pass on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, final

from tellegen.core.domains import Side
from tellegen.core.errors import Place
from tellegen.description.model import MECHANISM, NOTHING, Element
from tellegen.description.relations import Law, Multiport
from tellegen.elements import KINDS, ElementKind
from tellegen.expressions import ZERO, Expression, to_text

FRAME = "frame"
STORAGE = {"translational": "mass", "rotational": "inertia"}
WEIGHTLESS = {"translational": "weightless point", "rotational": "weightless shaft"}
SENSOR = {"translational": "mobility", "rotational": "rotational mobility"}
OF_A_BODY: Mapping[str, str] = {MECHANISM: "body"}
OPEN = {"translational": "damper", "rotational": "friction"}
SOURCE = {"translational": "force source", "rotational": "torque source"}


class End(NamedTuple):
    """A node with its domain: a port of a connection, against the frame."""

    node: str
    domain: str


def point(node: str) -> End:
    """A node that moves along."""
    return End(node, "translational")


def shaft(node: str) -> End:
    """A node that turns."""
    return End(node, "rotational")


@final
class Maker:
    """Collects elements by name, in the order in which they are made."""

    def __init__(self) -> None:
        self.elements: dict[str, Element] = {}
        self.place: Place | None = None

    def add(
        self,
        name: str,
        kind: str,
        nodes: tuple[str, str],
        value: Expression | None = None,
        variables: Mapping[str, str] = NOTHING,
        prefer: Side | None = None,
        initial: Expression | None = None,
    ) -> None:
        """An element with two nodes."""
        own = KINDS[kind]
        notes = OF_A_BODY if own.role == "storage" and own.grounded else NOTHING
        self.elements[name] = Element(
            name, own, nodes, value, None, variables, initial, prefer, place=self.place, notes=notes
        )

    def storage(self, name: str, at: End, value: Expression, speed: str, *, state: bool) -> None:
        """An inertia whose speed is a state, or follows; one of zero makes a state that only what it moves has inertia for."""
        prefer: Side = "across" if state else "through"
        ends = (at.node, FRAME)
        if value is ZERO:
            self.add(name, WEIGHTLESS[at.domain], ends, None, {"across": speed}, prefer)
        else:
            self.add(name, STORAGE[at.domain], ends, value, {"across": speed}, prefer)

    def sensor(self, name: str, domain: str, nodes: tuple[str, str], force: str) -> None:
        """Holds two nodes together and tells the force (or moment) that the first one exerts on the second."""
        self.add(name, SENSOR[domain], nodes, ZERO, {"through": force})

    def source(self, name: str, at: End, force: Expression) -> None:
        """A force on a node that follows from a formula."""
        self.elements[name] = Element(
            name,
            KINDS[SOURCE[at.domain]],
            (FRAME, at.node),
            place=self.place,
            signal=force,
            signal_text=to_text(force),
        )

    def connection(
        self, name: str, given: Sequence[End], gives: Sequence[End], K: Sequence[Sequence[Expression]]
    ) -> None:
        """Velocities by others: those of `gives` are K times those of `given`. Ends at the frame, and zeros, are left out."""
        used = [j for j, end in enumerate(given) if end.node != FRAME and any(row[j] is not ZERO for row in K)]
        ends = [*(given[j] for j in used), *gives]
        kind = ElementKind(
            "multiport",
            "coupling",
            tuple(end.domain for end in ends),
            "passes power between several ports",
            "",
            coupling="transformer",
        )
        across: Side = "across"
        relation = Multiport(
            tuple(range(len(used))),
            tuple(range(len(used), len(ends))),
            (across,) * len(used),
            (across,) * len(gives),
            tuple(tuple(row[j] for j in used) for row in K),
        )
        nodes = tuple(node for end in ends for node in (end.node, FRAME))
        self.elements[name] = Element(name, kind, nodes, None, multiport=relation, place=self.place)

    def give_law(self, name: str, law: Law) -> None:
        """Give an element a law instead of a value."""
        self.elements[name] = replace(self.elements[name], value=None, law=law)

    def prune(self, others: Iterable[Element]) -> None:
        """Take out sensors that lead to nodes where nothing else is: no force passes there."""
        while True:
            used = Counter(node for e in (*others, *self.elements.values()) for node in e.nodes)
            idle = [e.name for e in self.elements.values() if e.value is ZERO and any(used[n] == 1 for n in e.nodes)]
            if not idle:
                break
            for name in idle:
                del self.elements[name]
        for element in list(self.elements.values()):
            if element.kind.role == "storage" and used[element.nodes[0]] == 1:  # nothing pushes it: no force at all
                self.place = element.place
                self.add(f"{element.name}_free", OPEN[element.kind.domains[0]], (element.nodes[0], FRAME), ZERO)
