"""Vector items and vector bonds: scalar items of a bond graph that run side by side, as one.

What a file writes folds what the model says belongs together: the ports of a field, and the components of a vector item. The
junctions that such a set hangs on, one each, are then the components of a vector junction, and a two-port with a matrix meets it in
one bond. A figure goes on: all bonds of a vector junction are vector bonds, since a scalar one would have a flow of its own there.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, final

from tellegen.expressions import ONE, ZERO, Expression, Symbol
from tellegen.graph import ResistiveLaw, StorageLaw
from tellegen.model.bond_graph import BondItem, PowerBond
from tellegen.schemes import bond_graph_scheme
from tellegen.schemes.element_texts import element_kind
from tellegen.schemes.names import UniqueNames, common_stem, plain_name

LaneChoice = Literal["given", "joined", "alike"]
"""What becomes a vector: what the model has as one; all that hangs on a vector junction as well; whatever is alike."""
Direction = Literal["in", "out"]
FoldedEnd = tuple[str, str]
"""An item of the folded scheme; for a two-port with the side, "in" or "out"."""


@final
class _Folds:
    """Which scalar items are components of which vector items: name of the scalar item -> name of the whole, component."""

    def __init__(self, scheme: bond_graph_scheme.BondGraphScheme) -> None:
        self.scheme = scheme
        self.part_of: dict[str, tuple[str, int]] = {}
        self.one_ports: dict[str, list[str]] = {}
        self.junctions: dict[str, list[str]] = {}
        taken = UniqueNames((*scheme.junctions, *scheme.one_ports, *scheme.two_ports))
        for name, members in _vector_one_ports(scheme):
            self._add(self.one_ports, taken.take(plain_name(name)), members)
        for members in list(self.one_ports.values()):
            spots = _junctions_of(scheme, members)
            if spots is not None and not any(spot in self.part_of for spot in spots) and _are_alike(scheme, spots):
                self._add(self.junctions, taken.take(_common_name(spots)), spots)
        # Asked after everything is folded: only then it is known how many vector bonds meet at a junction.
        for name in self._lonely():
            for member in self.junctions.pop(name):
                del self.part_of[member]

    def _add(self, table: dict[str, list[str]], name: str, members: Sequence[str]) -> None:
        table[name] = list(members)
        self.part_of.update({member: (name, k) for k, member in enumerate(members, 1)})

    def _lonely(self) -> list[str]:
        """Vector junctions with one vector bond, that of a field: its ports are read better at junctions of their own."""
        count = dict.fromkeys(self.junctions, 0)
        for bond in self.bonds():
            for name in (bond.tail, bond.head):
                if bond.size > 1 and name in count:
                    count[name] += 1
        return [name for name, found in count.items() if found < 2]

    def bonds(self) -> Iterator[PowerBond]:
        """Each bond with its ends in the folded scheme; those that run side by side as one, where the first of them stood."""
        placed = [
            (b, self._end(b.tail, b.tail_port, "out"), self._end(b.head, b.head_port, "in")) for b in self.scheme.bonds
        ]
        # The stroke is part of the key: components with different causality cannot run in one vector bond.
        bundles: dict[tuple[FoldedEnd, FoldedEnd, str], dict[int, PowerBond]] = {}
        for bond, (tail, k), (head, j) in placed:
            if k and k == j:
                bundles.setdefault((tail, head, bond.stroke), {})[k] = bond
        for bond, (tail, k), (head, j) in placed:
            bundle = bundles.get((tail, head, bond.stroke), {}) if k and k == j else {}
            scalar = replace(bond, tail=tail[0], head=head[0], tail_port=k, head_port=j)
            # A bundle is drawn as one bond only where it is complete on both sides; half a vector bond has no meaning.
            if not len(bundle) == self._size(tail) == self._size(head):
                yield scalar
            # The whole bond stands where its first component stood, so that the order of description is kept.
            elif bundle[1] is bond:
                parts = tuple(bundle[i] for i in sorted(bundle))
                across, through = (
                    f"[{', '.join(names)}]" for names in zip(*((b.across, b.through) for b in parts), strict=True)
                )
                yield replace(scalar, tail_port=0, head_port=0, across=across, through=through, size=len(parts))

    def _end(self, name: str, port: int, side: Direction) -> tuple[FoldedEnd, int]:
        """An end in the folded scheme and the component; 0 where the end is a scalar."""
        if name in self.scheme.two_ports:
            return (name, side), port if self._size((name, side)) > 1 else 0
        whole, part = self.part_of.get(name, (name, 0))
        return (whole, ""), part

    def _size(self, end: FoldedEnd) -> int:
        name, side = end
        if not side:
            return len(self.one_ports.get(name) or self.junctions.get(name) or [name])
        matrix = self.scheme.two_ports[name].matrix or ((ZERO,),)
        return len(matrix) if side == "out" else len(matrix[0])


def fold_vectors(
    scheme: bond_graph_scheme.BondGraphScheme, lanes: LaneChoice = "given"
) -> bond_graph_scheme.BondGraphScheme:
    """The scheme with vector items and vector bonds; the same one where there is nothing to fold.

    What a file can say are the vectors that are `given`. For figures one-ports at a vector junction are `joined` into vectors, and
    a junction where one lane has what another has not is drawn lane by lane; or whatever is `alike` becomes one vector item.
    """
    folds = _Folds(scheme)
    if lanes != "given":
        return _LaneFolds(scheme, folds, alike=lanes == "alike").scheme_of_vectors()
    one_ports = dict(_one_ports(scheme, folds.part_of, folds.one_ports))
    others = [*_junctions(scheme, folds.part_of, folds.junctions), *scheme.graph.of_role("two-port")]
    graph = bond_graph_scheme.numbered_graph(others, one_ports, folds.bonds(), scheme.causal.graph.bond_numbers)
    return replace(scheme, graph=graph, one_ports=one_ports)


def _vector_one_ports(scheme: bond_graph_scheme.BondGraphScheme) -> Iterator[tuple[str, list[str]]]:
    """Fields and vector items with their components, as the model has them."""
    graph = scheme.causal.graph
    item_of = {item.port.element: name for name, item in scheme.one_ports.items()}
    groups = {f.element: [graph.ports[k].element for k in f.ports] for f in graph.fields}
    # Components that were given different laws or kinds cannot share one symbol and one set of keys.
    alike = {n: m for n, m in graph.vectors.items() if len({_form(scheme.one_ports[item_of[e]]) for e in m}) == 1}
    # Fields come first: a vector item that is also part of a field is drawn as the field.
    for name, members in {**groups, **alike}.items():
        if len(members) > 1:
            yield name, [item_of[member] for member in members]


def _form(item: bond_graph_scheme.OnePort) -> tuple[str, str, bool]:
    """How a one-port is written: components of a vector item that are written differently stay apart."""
    law = item.port.law
    linear = not (isinstance(law, StorageLaw) and law.inertia is None) and not (
        isinstance(law, ResistiveLaw) and law.coefficient is None
    )
    return item.letters, element_kind(item.port).name, linear


def _junctions_of(scheme: bond_graph_scheme.BondGraphScheme, members: Sequence[str]) -> list[str] | None:
    """The junctions that one-ports hang on, where all half arrows have one direction."""
    bonds = [scheme.bonds_of(name)[0] for name in members]
    # A vector bond has one half arrow; components that point both ways stay scalar.
    if len({bond.head == name for bond, name in zip(bonds, members, strict=True)}) > 1:
        return None
    return [bond.other(name) for bond, name in zip(bonds, members, strict=True)]


def _are_alike(scheme: bond_graph_scheme.BondGraphScheme, spots: Sequence[str]) -> bool:
    """Whether items are different junctions of one kind and one domain."""
    found = [scheme.junctions[name] for name in spots if name in scheme.junctions]
    return len(set(spots)) == len(spots) == len(found) and len({(j.letters, j.domain) for j in found}) == 1


def _common_name(names: Sequence[str]) -> str:
    """What the names have in common, `I` for `I_1` and `I_2`; all of the first where that is nothing."""
    return plain_name(common_stem(names) or names[0])


Parts = Mapping[str, tuple[str, int]]
"""For a scalar item the vector item that it is a component of, and which."""
Wholes = Mapping[str, Sequence[str]]
"""The components of vector items."""


def _junctions(scheme: bond_graph_scheme.BondGraphScheme, part_of: Parts, junctions: Wholes) -> Iterator[BondItem]:
    for name, junction in scheme.junctions.items():
        whole, part = part_of.get(name, (name, 0))
        if part == 1:
            variables = tuple(scheme.junctions[member].variable for member in junctions[whole])
            yield replace(junction, name=whole, variables=variables, size=len(variables))
        elif part == 0:
            yield junction


def _one_ports(
    scheme: bond_graph_scheme.BondGraphScheme, part_of: Parts, one_ports: Wholes
) -> Iterator[tuple[str, bond_graph_scheme.OnePort]]:
    for name, item in scheme.one_ports.items():
        whole, part = part_of.get(name, (name, 0))
        if part == 1:
            parts = tuple(scheme.one_ports[member] for member in one_ports[whole])
            letters = item.letters if len({part.kind for part in parts}) == 1 else "IC"
            # A zero on the diagonal of a field would read as a sensor, which the other entries contradict.
            if item.field and letters in ("De", "Df", "rSe", "rSf"):
                letters = "R"  # a row of zeros in the matrix of a field makes no sensor of it
            yield whole, replace(item, name=whole, letters=letters, parts=parts)
        elif part == 0:
            yield name, item


# -- lanes -------------------------------------------------------------------------------------------------------------------------

Group = list[str]
Relation = tuple[bool, bool, int]
"""Of a bond, seen from an item: whether it leads in, whether the stroke is here, and the class at its other end."""


@final
class _LaneFolds:
    """Groups of scalar items that are drawn as one vector item each.

    Items are told apart by what they are and by what they hang on, again and again until nothing is told apart any more. What is
    left together is a group where each of its bonds runs to another component of another group, in one order; else its items
    stay scalar, and all is told apart anew.
    """

    def __init__(self, scheme: bond_graph_scheme.BondGraphScheme, given: _Folds, *, alike: bool) -> None:
        self.scheme, self.given, self.alike = scheme, given, alike
        self.names = [*scheme.junctions, *scheme.two_ports, *scheme.one_ports]
        self.field_of = {member: whole for whole, members in given.one_ports.items() for member in members}
        self.apart: set[str] = set()
        self.groups: list[Group] = []
        self.class_of: dict[str, int] = {}
        while True:
            self._tell_apart()
            self.groups = self._ordered()
            self.place = {name: (n, k) for n, group in enumerate(self.groups) for k, name in enumerate(group)}
            if not (unfit := {name for group in self.groups if not self._fits(group) for name in group}):
                break
            self.apart |= unfit

    # -- what is alike ---------------------------------------------------------------------------------------------------------

    def _first_marks(self) -> dict[str, Hashable]:
        """What an item is, without its neighbours; its own name where it is to stay alone."""
        scheme, marks = self.scheme, dict[str, Hashable]()
        seeds = {member: whole for whole, members in self.given.junctions.items() for member in members}
        for name, junction in scheme.junctions.items():
            marks[name] = (junction.letters, junction.domain) if self.alike else seeds.get(name, name)
        for name, two_port in scheme.two_ports.items():
            shape = len(two_port.matrix), len(two_port.matrix[0]) if two_port.matrix else 0
            letters = scheme.kind_of(name)
            marks[name] = (letters, two_port.domains, shape) if self.alike else name
        # Of two like elements on one lane the first goes with the first of the others.
        ranks: Counter[Hashable] = Counter()
        for name, item in scheme.one_ports.items():
            (bond,) = scheme.bonds_of(name)
            where = bond.other(name)
            form = (*_form(item), item.domain, bond.head == name, bond.stroke, name in self.field_of)
            ranks[where, form] += 1
            if self.alike or where in seeds:
                marks[name] = (marks.get(where), form, ranks[where, form])
            else:
                marks[name] = ("alone", name)
        return marks | {name: ("alone", name) for name in self.apart}

    def _tell_apart(self) -> None:
        self.class_of = _numbered(self._first_marks())
        while True:
            sizes = Counter(self.class_of.values())
            # What is alone already tells its neighbours apart, and needs no look itself.
            shared = {name for name, found in self.class_of.items() if sizes[found] > 1}
            marks: dict[str, Hashable] = {
                name: (found, tuple(sorted(self._relations(name))) if name in shared else ())
                for name, found in self.class_of.items()
            }
            finer = _numbered(marks)
            self.class_of, before = finer, len(sizes)
            if max(finer.values(), default=0) + 1 == before:
                return

    def _relations(self, name: str) -> Iterator[Relation]:
        for bond in self.scheme.bonds_of(name):
            yield self._relation(name, bond)

    def _relation(self, name: str, bond: PowerBond) -> Relation:
        into = bond.head == name
        return into, (bond.stroke == "head") == into, self.class_of[bond.other(name)]

    # -- in one order ----------------------------------------------------------------------------------------------------------

    def _ordered(self) -> list[Group]:
        """The classes of several items; neighbours in the order of each other, the first ones as the model has them."""
        classes: dict[int, Group] = {}
        for name in self.names:
            classes.setdefault(self.class_of[name], []).append(name)
        found: dict[int, Group] = {}
        starts = [members for members in self.given.junctions.values() if len({self.class_of[m] for m in members}) == 1]
        for members in (*starts, *classes.values()):
            first = self.class_of[members[0]]
            if first in found or len(classes[first]) == 1:
                continue
            found[first] = members if len(members) == len(classes[first]) else classes[first]
            queue = [first]
            for number in queue:
                others = (bond.other(name) for name in found[number] for bond in self._by_port(name))
                ahead: dict[int, dict[str, None]] = {}
                for other in others:
                    ahead.setdefault(self.class_of[other], {})[other] = None
                for other_class, names in ahead.items():
                    if other_class not in found and len(names) == len(classes[other_class]) > 1:
                        found[other_class] = list(names)
                        queue.append(other_class)
        return list(found.values())

    def _by_port(self, name: str) -> list[PowerBond]:
        return sorted(self.scheme.bonds_of(name), key=lambda bond: (bond.head != name, _port(bond, name)))

    # -- what fits -------------------------------------------------------------------------------------------------------------

    def _fits(self, group: Group) -> bool:
        fields = {self.field_of[name] for name in group if name in self.field_of}
        if fields and sum(len(self.given.one_ports[field]) for field in fields) != len(group):
            return False  # a field is one item, whatever its lanes are
        for name in group:
            if len({*self._relations(name)}) < len(self.scheme.bonds_of(name)) and name not in self.scheme.two_ports:
                return False  # two bonds of one lane would run in one vector bond
        return all(self._runs_on(group, k, bond) for k, name in enumerate(group) for bond in self.scheme.bonds_of(name))

    def _runs_on(self, group: Group, k: int, bond: PowerBond) -> bool:
        """Whether a bond of a component runs to the like component of another group, or to a port of a two-port."""
        name, other = group[k], bond.other(group[k])
        if other in self.scheme.two_ports:
            return name not in self.scheme.two_ports or other in self.place
        if other not in self.place:
            return False
        if name in self.scheme.two_ports:
            return True
        number, place = self.place[other]
        return self.groups[number] is not group and len(self.groups[number]) == len(group) and place == k

    # -- the scheme of vectors -------------------------------------------------------------------------------------------------

    def scheme_of_vectors(self) -> bond_graph_scheme.BondGraphScheme:
        """The scheme with the groups as vector items."""
        scheme = self.scheme
        # The names that the given vectors have are theirs: two groups of one name would be one item.
        given_names = (*self.given.one_ports, *self.given.junctions)
        taken = UniqueNames((*scheme.junctions, *scheme.one_ports, *scheme.two_ports, *given_names))
        wholes: dict[str, Group] = {}
        single = [m for m in self.given.one_ports.values() if not any(name in self.place for name in m)]
        for group in (*self.groups, *single):
            given = next((whole for whole, m in self.given.one_ports.items() if m == group), "")
            given = given or next((whole for whole, m in self.given.junctions.items() if m == group), "")
            wholes[given or taken.take(self._name(group))] = group
        self.part_of = {name: (whole, k) for whole, group in wholes.items() for k, name in enumerate(group, 1)}
        self.sizes = {whole: len(group) for whole, group in wholes.items()}
        self.sides: dict[tuple[str, str, int], tuple[FoldedEnd, int]] = {}
        two_ports = dict(self._two_ports(wholes))
        letters = {two_port.name: scheme.kind_of(name) for name, two_port in self._first_two_ports(two_ports).items()}
        one_ports = dict(_one_ports(scheme, self.part_of, wholes))
        others = [
            *_junctions(scheme, self.part_of, wholes),
            *(BondItem(name, letters[name]) for name in two_ports),
        ]
        numbers = scheme.causal.graph.bond_numbers
        graph = bond_graph_scheme.numbered_graph(others, one_ports, self._bonds(), numbers)
        return replace(scheme, graph=graph, one_ports=one_ports, two_ports=two_ports)

    def _first_two_ports(
        self, two_ports: Mapping[str, bond_graph_scheme.TwoPort]
    ) -> dict[str, bond_graph_scheme.TwoPort]:
        """For each two-port that is drawn, the first of those that it is made of."""
        found: dict[str, bond_graph_scheme.TwoPort] = {}
        for name in self.scheme.two_ports:
            whole, part = self.part_of.get(name, (name, 0))
            if part <= 1:
                found[name] = two_ports[whole]
        return found

    def _two_ports(self, wholes: Wholes) -> Iterator[tuple[str, bond_graph_scheme.TwoPort]]:
        """Two-ports, those alike as one with a matrix of blocks; ports in the order of the lanes that they meet."""
        for name, two_port in self.scheme.two_ports.items():
            whole, part = self.part_of.get(name, (name, 0))
            if part > 1:
                continue
            members = wholes[whole] if part else [name]
            sides = [self._side(whole, members, into=into) for into in (True, False)]
            if len(members) == 1 and not two_port.matrix:
                yield name, two_port
                continue
            made = [self.scheme.two_ports[member] for member in members]
            matrix = tuple(
                tuple(_entry(made[j], out, into) if i == j else ZERO for j, into in sides[0]) for i, out in sides[1]
            )
            origins = tuple(dict.fromkeys(origin for one in made for origin in one.origins))
            yield whole, replace(two_port, name=whole, modulus=ONE, origins=origins, matrix=matrix)

    def _side(self, whole: str, members: Sequence[str], *, into: bool) -> list[tuple[int, int]]:
        """The ports on a side as numbers of members and their ports, in the order of the lanes that they meet."""
        bonds = [
            (b, n) for n, name in enumerate(members) for b in self.scheme.bonds_of(name) if (b.head == name) == into
        ]

        def lane(found: tuple[PowerBond, int]) -> tuple[int, int, int]:
            bond, n = found
            number, k = self.place.get(bond.other(members[n]), (-1, 0))
            port = _port(bond, members[n])
            return (n, port, 0) if number < 0 else (0, min(self._port_in(members, number, into), port), k)

        ordered = sorted(bonds, key=lane)
        side = "in" if into else "out"
        ports = [(n, _port(bond, members[n])) for bond, n in ordered]
        for k, (n, port) in enumerate(ports, 1):
            self.sides[members[n], side, port] = ((whole, side), k if len(ports) > 1 else 0)
        self.sizes[f"{whole} {side}"] = len(ports)
        return ports

    def _port_in(self, members: Sequence[str], number: int, into: bool) -> int:
        """The first port at which a group is met."""
        return min(
            _port(bond, name)
            for name in members
            for bond in self.scheme.bonds_of(name)
            if (bond.head == name) == into and self.place.get(bond.other(name), (-1, 0))[0] == number
        )

    def _end(self, name: str, bond: PowerBond, side: Direction) -> tuple[FoldedEnd, int]:
        if name in self.scheme.two_ports:
            return self.sides[name, side, _port(bond, name)]
        whole, part = self.part_of.get(name, (name, 0))
        return (whole, ""), part

    def _bonds(self) -> Iterator[PowerBond]:
        """Each bond between its folded ends; the components of a vector bond as one, where the first of them stood."""
        placed = [(b, self._end(b.tail, b, "out"), self._end(b.head, b, "in")) for b in self.scheme.bonds]
        bundles: dict[Hashable, list[tuple[tuple[int, int], PowerBond]]] = {}
        for bond, (tail, k), (head, j) in placed:
            bundles.setdefault((tail, head, bond.stroke), []).append(((k, j), bond))
        for bond, (tail, k), (head, j) in placed:
            bundle = bundles[tail, head, bond.stroke]
            # A vector bond takes all lanes of a junction or an element; of a two-port it may take a part of a side.
            whole = all(self.sizes.get(name, 1) == len(bundle) for name, side in (tail, head) if not side)
            if len(bundle) == 1 or not whole:
                yield replace(bond, tail=tail[0], head=head[0], tail_port=k, head_port=j)
            elif bundle[0][1] is bond:
                parts = [b for _, b in sorted(bundle, key=lambda found: found[0])]
                across, through = (
                    f"[{', '.join(names)}]" for names in zip(*((b.across, b.through) for b in parts), strict=True)
                )
                yield replace(
                    bond,
                    tail=tail[0],
                    head=head[0],
                    tail_port=0,
                    head_port=0,
                    across=across,
                    through=through,
                    size=len(parts),
                )

    def _name(self, group: Group) -> str:
        """The symbol that all of a group have as their value, or what their names have in common."""
        scheme = self.scheme
        if group[0] in scheme.junctions:
            return _common_name(group)
        if group[0] in scheme.two_ports:
            return _common_name([_last_word("_".join(scheme.two_ports[name].origins)) for name in group])
        laws = [scheme.one_ports[name].port.law for name in group]
        values = {
            law.inertia if isinstance(law, StorageLaw) else law.coefficient
            for law in laws
            if isinstance(law, StorageLaw | ResistiveLaw)
        }
        value = values.pop() if len(values) == 1 else None
        if isinstance(value, Symbol):
            return plain_name(value.name)
        return _common_name([_last_word(scheme.one_ports[name].port.element) for name in group])


def _numbered(marks: Mapping[str, Hashable]) -> dict[str, int]:
    numbers: dict[Hashable, int] = {}
    return {name: numbers.setdefault(mark, len(numbers)) for name, mark in marks.items()}


def _port(bond: PowerBond, name: str) -> int:
    """The port of a two-port with a matrix that a bond ends at; 1 of one without."""
    return (bond.head_port if bond.head == name else bond.tail_port) or 1


def _entry(two_port: bond_graph_scheme.TwoPort, row: int, column: int) -> Expression:
    return two_port.matrix[row - 1][column - 1] if two_port.matrix else two_port.modulus


def _last_word(path: str) -> str:
    """The name of an element without the part that it belongs to, and without its number in a vector."""
    return plain_name(path.rpartition(".")[2].partition("[")[0])
