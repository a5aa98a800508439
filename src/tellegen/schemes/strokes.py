"""The finished bond graph: causal strokes spread from elements, unique names, variables and numbers on every bond.

At a junction exactly one bond brings the shared variable. TF passes a variable on, GY turns it into its conjugate. Where spreading
stops short of all bonds, a loop of junctions can be solved in more than one direction: one is tried, and taken back if it leads to
a contradiction.
"""

from collections.abc import Iterable, Sequence

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.expressions import ONE, ZERO, Expression, split_coefficient, symbol
from tellegen.expressions.elimination import Elimination, ResidueField
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import PortLaw
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_draft import Draft, DraftBond, DraftItem, Key
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, Junction, OnePort, OnePortKind, TwoPort
from tellegen.schemes.names import UniqueNames, plain_name

Strokes = dict[int, Key]
"""For each bond, by its identity, the item at the end that receives the effort."""


class StrokeSearch:
    """Spreads strokes over the bonds of a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.strokes: Strokes = {}
        self.trail: list[DraftBond] = []
        self.open: dict[Key, int] = {}
        self.brought: dict[Key, int] = {}
        for item in draft.items.values():
            if item.role == "junction":
                self.open[item.key] = len(item.bonds)
                self.brought[item.key] = 0

    def run(self, decided: Sequence[tuple[DraftBond, Key]], bonds: Sequence[DraftBond]) -> bool:
        """Start from the strokes at elements and settle all bonds; False where that cannot be."""
        if not all(self._settle(bond, end) for bond, end in decided):
            return False
        choices: list[tuple[int, int, DraftBond]] = []  # length of the trail, position in `bonds`, the bond tried
        position = 0
        while True:
            while position < len(bonds) and id(bonds[position]) in self.strokes:
                position += 1
            if position == len(bonds):
                return True
            bond = bonds[position]
            choices.append((len(self.trail), position, bond))
            if self._settle(bond, bond.head):
                continue
            while choices:
                length, position, bond = choices.pop()
                self._undo(length)
                if self._settle(bond, bond.tail):
                    break
            else:
                return False

    def run_through(self, decided: Sequence[tuple[DraftBond, Key]], bonds: Sequence[DraftBond]) -> Strokes:
        """Strokes on all bonds as far as they agree: where causality contradicts itself, the figure shows it."""
        for bond, end in (*decided, *((bond, bond.head) for bond in bonds)):
            if id(bond) not in self.strokes:
                self._settle(bond, end)
        return self.strokes

    def _undo(self, length: int) -> None:
        while len(self.trail) > length:
            bond = self.trail.pop()
            for key in (bond.tail, bond.head):
                if key in self.open:
                    self.open[key] += 1
                    self.brought[key] -= self._brings(bond, self.draft.items[key])
            del self.strokes[id(bond)]

    def _brings(self, bond: DraftBond, junction: DraftItem) -> bool:
        """Whether a bond decides the shared variable of a junction."""
        receives_effort = self.strokes[id(bond)] == junction.key
        return receives_effort == (DOMAINS[junction.domain].effort == junction.shares)

    def _settle(self, bond: DraftBond, end: Key) -> bool:
        """Put a stroke and all that follow from it; False at a contradiction."""
        stack = [(bond, end)]
        while stack:
            bond, end = stack.pop()
            known = self.strokes.get(id(bond))
            if known is not None:
                if known != end:
                    return False
                continue
            self.strokes[id(bond)] = end
            self.trail.append(bond)
            for key in (bond.tail, bond.head):
                if key in self.open:
                    self.open[key] -= 1
                    self.brought[key] += self._brings(bond, self.draft.items[key])
            for key in (bond.tail, bond.head):
                follows = self._follows(self.draft.items[key], bond)
                if follows is None:
                    return False
                stack.extend(follows)
        return True

    def _follows(self, item: DraftItem, bond: DraftBond) -> list[tuple[DraftBond, Key]] | None:
        """The strokes that follow at an item; None where they contradict each other."""
        if item.role == "junction":
            return self._at_junction(item)
        if item.role == "one-port":
            return []
        if item.matrix:
            return strokes_at_matrix(item, self.strokes)
        other = next(b for b in item.bonds.values() if b is not bond)
        here = self.strokes[id(bond)] == item.key
        # TF: the effort that comes in goes out at the other side; GY: it comes in at both or goes out at both.
        inwards = not here if item.kind == "TF" else here
        return [(other, item.key if inwards else other.other(item.key))]

    def _at_junction(self, item: DraftItem) -> list[tuple[DraftBond, Key]] | None:
        brought, left = self.brought[item.key], self.open[item.key]
        if brought > 1 or (left == 0 and brought == 0):
            return None
        if left == 0 or (brought == 0 and left > 1):
            return []
        effort_shared = DOMAINS[item.domain].effort == item.shares
        follow = []
        for bond in item.bonds.values():
            if id(bond) not in self.strokes:
                inwards = effort_shared == (brought == 0)
                follow.append((bond, item.key if inwards else bond.other(item.key)))
        return follow


def strokes_at_matrix(item: DraftItem, strokes: Strokes) -> list[tuple[DraftBond, Key]] | None:
    """The strokes that follow at a two-port with a matrix; None where they contradict each other.

    It maps the flows of the bonds in to those out (GY: to efforts), and takes the conjugates back. As many bonds in as out may run
    the other way, provided the part of the matrix between them can be inverted.
    """
    sides: dict[bool, list[DraftBond]] = {True: [], False: []}  # bonds in, bonds out
    for bond in item.bonds.values():
        sides[bond.head == item.key].append(bond)
    against = {into: [b for b in bonds if _runs_against(b, into, item, strokes)] for into, bonds in sides.items()}
    free = {into: [b for b in bonds if id(b) not in strokes] for into, bonds in sides.items()}
    follow: list[tuple[DraftBond, Key]] = []
    for into in (True, False):
        if free[into]:
            continue
        missing = len(against[into]) - len(against[not into])
        if missing < 0 or missing > len(free[not into]):
            return None
        if missing in (0, len(free[not into])):
            follow += [(b, _end(b, not into, item, against=missing > 0)) for b in free[not into]]
    if any(free.values()):
        return follow
    rows = [{b.head_port: _residue(item, b.head_port, c.tail_port) for b in against[True]} for c in against[False]]
    entries = [{j: e for j, e in row.items() if e} for row in rows]
    left = Elimination(entries, ResidueField()).eliminate_all(b.head_port for b in against[True])
    return None if left else []


def _end(bond: DraftBond, into: bool, item: DraftItem, *, against: bool) -> Key:
    """The end that receives the effort: of bonds in the far one, of bonds out the near one for TF and the far one for GY."""
    near = (not into and item.kind == "TF") != against
    return item.key if near else bond.other(item.key)


def _runs_against(bond: DraftBond, into: bool, item: DraftItem, strokes: Strokes) -> bool:
    return strokes.get(id(bond)) == _end(bond, into, item, against=True)


def _residue(item: DraftItem, column: int, row: int) -> int:
    residues = item.matrix[row - 1][column - 1].residues()
    assert residues is not None, "a modulus has no pole at a random point"
    return residues[0]


def finish_bond_graph(draft: Draft, causal: CausalGraph) -> BondGraphScheme:
    """The scheme of a draft.

    Raises: GraphError where no strokes are consistent.
    """
    return _Finisher(draft, causal).scheme()


class _Finisher:
    """Names items and variables, and finds the strokes."""

    def __init__(self, draft: Draft, causal: CausalGraph) -> None:
        self.draft = draft
        self.causal = causal
        self.graph = causal.graph
        variables = (name for p in self.graph.ports for name in (p.across, p.through, p.state))
        signals = (signal.name for signal in self.graph.signals)
        self.moving = frozenset((*variables, *self.graph.moving, *self.graph.displacements, *signals))
        self.names = UniqueNames()
        self.signals = UniqueNames(self.graph.parameters)
        self.name_of: dict[Key, str] = {}
        self.variable_of: dict[Key, str] = {}

    def scheme(self) -> BondGraphScheme:
        items = self.draft.items.values()
        self._name_items()
        self._name_shared()
        bonds = self._ordered_bonds()
        strokes = self._strokes(bonds)
        finished = [self._bond(k, bond, strokes) for k, bond in enumerate(bonds, 1)]
        return BondGraphScheme(
            self.graph.name,
            {self.name_of[i.key]: self._junction(i) for i in items if i.role == "junction"},
            {self.name_of[i.key]: self._one_port(i) for i in items if i.role == "one-port"},
            {self.name_of[i.key]: self._two_port(i) for i in items if i.role == "two-port"},
            tuple(finished),
            self.causal,
        )

    # -- names -----------------------------------------------------------------------------------------------------------------

    def _port(self, key: Key) -> Port:
        return self.graph.ports[key[1]]

    def _name_items(self) -> None:
        items = list(self.draft.items.values())
        for item in items:
            if item.role == "one-port":
                self.name_of[item.key] = self.names.take(plain_name(self._port(item.key).element))
        for item in items:
            if item.role == "two-port":
                self.name_of[item.key] = self.names.take(plain_name("_".join(item.origins)))

    def _name_shared(self) -> None:
        """Name the shared variable of each junction after the element that decides it, and paths after their variable."""
        for k, port in enumerate(self.graph.ports):
            own = (port.across, port.through)
            for name in own:
                self.signals.reserve(name)
            assert ("port", k) in self.draft.items, "no rule removes an element"
        for item in self.draft.items.values():
            if item.role != "junction":
                continue
            self.variable_of[item.key] = self._shared_name(item)
            wanted = self.graph.nodes[item.key[1]].name if item.key[0] == "node" else self.variable_of[item.key]
            self.name_of[item.key] = self.names.take(plain_name(wanted))

    def _shared_name(self, item: DraftItem) -> str:
        ports = [key[1] for bond in item.bonds.values() if (key := bond.other(item.key))[0] == "port"]
        if ports:
            best = min(ports, key=lambda k: (self._importance(k, item.shares), k))
            return self.graph.ports[best].variable(item.shares)
        symbol = DOMAINS[item.domain].power(item.shares).symbol
        if item.key[0] == "node":
            return self.signals.take(f"{symbol}_{plain_name(self.graph.nodes[item.key[1]].name)}")
        if item.key[0] == "path of port":
            return self.signals.take(f"{symbol}_{plain_name(self._port(item.key).element)}")
        beside = [self._item_name(other) for other in self.draft.neighbours(item)]
        return self.signals.take(f"{symbol}_{'_'.join(name for name in beside if name) or 'joint'}")

    def _item_name(self, item: DraftItem) -> str:
        """The name of a node or a two-port; empty for what has none yet."""
        if item.role == "junction":
            return plain_name(self.graph.nodes[item.key[1]].name) if item.key[0] == "node" else ""
        return self.name_of[item.key]

    def _importance(self, port: int, side: Side) -> int:
        """Who gives its name to a shared variable: a state that decides it, an input, a storage, any other."""
        law, decides = self.graph.ports[port].law, self.causal.decides[port] == side
        if isinstance(law, StorageLaw):
            return 0 if decides else 2
        return 1 if isinstance(law, SourceLaw) and decides else 3

    # -- bonds -----------------------------------------------------------------------------------------------------------------

    def _ordered_bonds(self) -> list[DraftBond]:
        """The bonds of one-ports in the order of description, then those of two-ports, then the others."""
        found: dict[int, DraftBond] = {}
        for role in ("one-port", "two-port", "junction"):
            for item in self.draft.items.values():
                if item.role == role:
                    into_first = sorted(item.bonds.values(), key=lambda bond, key=item.key: bond.head != key)  # type: ignore[misc]
                    found.update((id(bond), bond) for bond in into_first if id(bond) not in found)
        return list(found.values())

    def _strokes(self, bonds: list[DraftBond]) -> Strokes:
        search = StrokeSearch(self.draft)
        if not search.run(list(self._decided()), bonds):
            if self.causal.rigid:
                return StrokeSearch(self.draft).run_through(list(self._decided()), bonds)
            names = [c.element for c in self.graph.couplings]
            raise rules.NO_STROKES.error(
                f"no choice of strokes suits all junctions around {', '.join(names)}",
                where=names[0] if names else "",
                fix="look at the equations: they exist all the same",
                members=names,
            )
        return search.strokes

    def _decided(self) -> Iterable[tuple[DraftBond, Key]]:
        for item in self.draft.items.values():
            if item.role == "one-port":
                (bond,) = item.bonds.values()
                gives_effort = self.causal.decides[item.key[1]] == DOMAINS[item.domain].effort
                yield bond, bond.other(item.key) if gives_effort else item.key

    def _bond(self, number: int, bond: DraftBond, strokes: Strokes) -> Bond:
        tail, head = self.draft.items[bond.tail], self.draft.items[bond.head]
        domain = next(item.domain for item in (tail, head) if item.domain)
        across, through = (self._variable(tail, head, domain, side) for side in ("across", "through"))
        stroke = "tail" if strokes[id(bond)] == bond.tail else "head"
        names = self.name_of[bond.tail], self.name_of[bond.head]
        return Bond(number, *names, domain, across, through, stroke, bond.tail_port, bond.head_port)  # type: ignore[arg-type]

    def _variable(self, tail: DraftItem, head: DraftItem, domain: str, side: Side) -> str:
        for item in (tail, head):
            if item.role == "junction" and item.shares == side:
                return self.variable_of[item.key]
        for item in (tail, head):
            if item.role == "one-port":
                return self._port(item.key).variable(side)
        for item in (tail, head):
            if item.role == "two-port":
                place = 1 if item is head else 2
                symbol = DOMAINS[domain].power(side).symbol
                given = self._given_name(item, domain, f"{side}_{place}")
                return self.signals.take(given or f"{symbol}_{self.name_of[item.key]}_{place}")
        return self.signals.take(f"{DOMAINS[domain].power(side).symbol}_{self.name_of[tail.key]}")

    def _given_name(self, item: DraftItem, domain: str, variable: str) -> str:
        """What the user calls a variable of a two-port between two domains; empty where it was turned, or joined with others."""
        made_of = [c for c in self.graph.couplings if c.element in item.origins]
        if len(item.origins) != 1 or len(made_of) != 1 or item.modulus is None or len(set(item.domains)) == 1:
            return ""
        (coupling,) = made_of
        stays = domain == (coupling.side_1 if variable.endswith("1") else coupling.side_2)[0].domain
        negative = split_coefficient(item.modulus)[0] < 0
        return coupling.names.get(variable, "") if stays and not negative else ""

    # -- items -----------------------------------------------------------------------------------------------------------------

    def _junction(self, item: DraftItem) -> Junction:
        kind = "0" if DOMAINS[item.domain].effort == item.shares else "1"
        return Junction(self.name_of[item.key], kind, item.domain, item.shares, self.variable_of[item.key])  # type: ignore[arg-type]

    def _one_port(self, item: DraftItem) -> OnePort:
        port = self._port(item.key)
        k = item.key[1]
        field = next((field.element for field in self.graph.fields if k in field.ports), "")
        kind, decides = one_port_kind(port), self.causal.decides[k]
        letters = one_port_letters(port, kind, moving=self._moves(_coefficient(port.law)))
        letters = "Sw" if k in self.graph.switching else letters
        return OnePort(self.name_of[item.key], kind, port, decides, item.turned, field, letters)

    def _two_port(self, item: DraftItem) -> TwoPort:
        entries = [e for row in item.matrix for e in row] if item.modulus is None else [item.modulus]
        letters = f"M{item.kind}" if any(self._moves(e) for e in entries) else item.kind
        modulus = ONE if item.modulus is None else item.modulus
        return TwoPort(self.name_of[item.key], item.kind, modulus, item.domains, item.origins, letters, item.matrix)

    def _moves(self, expression: Expression | None) -> bool:
        """Whether a modulus or a value changes along a run."""
        return expression is not None and not self.moving.isdisjoint(expression.free_symbols)


def _coefficient(law: PortLaw) -> Expression | None:
    return law.coefficient if isinstance(law, ResistiveLaw) else None


def one_port_letters(port: Port, kind: OnePortKind, *, moving: bool) -> str:
    """The letters before the name of a one-port, with those for what moves, for sensors and for residual sinks.

    A sensor of effort and the sink rSe both have no flow: the sensor is the one whose variable has its name. A source that reads
    nothing but what it decides is a sink whose stroke is that of a source.
    """
    law, domain = port.law, DOMAINS[port.domain]
    if isinstance(law, SourceLaw):
        if law.signal == symbol(port.variable(law.side)):
            return f"r{kind}"
        return f"M{kind}" if law.signal is not None else kind
    if isinstance(law, ResistiveLaw) and law.coefficient is ZERO:
        open_side = other_side(law.side)
        word = "e" if open_side == domain.effort else "f"
        return f"D{word}" if port.variable(open_side) == port.element else f"rS{word}"
    return f"M{kind}" if moving else kind


def one_port_kind(port: Port) -> OnePortKind:
    """The letters of a one-port in the reading of bond graphs."""
    domain = DOMAINS[port.domain]
    if isinstance(port.law, SourceLaw):
        return "Se" if port.law.side == domain.effort else "Sf"
    if isinstance(port.law, StorageLaw):
        return "C" if other_side(port.law.side) == domain.flow else "I"
    return "R"
