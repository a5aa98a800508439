"""Vector bonds: fields and vector items become one item each, and bonds that run side by side between them one bond.

What is folded is what the model says belongs together: the ports of a field, and the components of a vector item. The junctions
that such a set hangs on, one each, are then the components of a vector junction, and a two-port with a matrix meets it in one bond.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, final

from tellegen.graph import ResistiveLaw, StorageLaw
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, Junction, OnePort
from tellegen.schemes.element_texts import element_kind
from tellegen.schemes.names import UniqueNames, plain_name

Direction = Literal["in", "out"]
End = tuple[str, str]
"""An item of the folded scheme; for a two-port with the side, "in" or "out"."""


@final
@dataclass
class _Folds:
    """Which scalar items are components of which vector items: name of the scalar item -> name of the whole, component."""

    part_of: dict[str, tuple[str, int]] = field(default_factory=dict)
    one_ports: dict[str, list[str]] = field(default_factory=dict)
    junctions: dict[str, list[str]] = field(default_factory=dict)

    def add(self, table: dict[str, list[str]], name: str, members: Sequence[str]) -> None:
        table[name] = list(members)
        self.part_of.update({member: (name, k) for k, member in enumerate(members, 1)})

    def drop(self, junction: str) -> None:
        """Leave the components of a junction apart."""
        for member in self.junctions.pop(junction):
            del self.part_of[member]


def folded(scheme: BondGraphScheme) -> BondGraphScheme:
    """The scheme with vector items and vector bonds; the same one where there is nothing to fold."""
    folds = _folds(scheme)
    ends = _Ends(scheme, folds)
    bonds = tuple(replace(bond, number=k) for k, bond in enumerate(_fold_bonds(scheme.bonds, ends), 1))
    return replace(
        scheme,
        junctions=dict(_junctions(scheme, folds)),
        one_ports=dict(_one_ports(scheme, folds)),
        bonds=bonds,
    )


# -- which items belong together -----------------------------------------------------------------------------------------------


def _folds(scheme: BondGraphScheme) -> _Folds:
    folds = _Folds()
    taken = UniqueNames((*scheme.junctions, *scheme.one_ports, *scheme.two_ports))
    for name, members in _vector_one_ports(scheme):
        folds.add(folds.one_ports, taken.take(plain_name(name)), members)
    for members in list(folds.one_ports.values()):
        spots = _junctions_of(scheme, members)
        if spots is not None and not any(spot in folds.part_of for spot in spots) and _are_alike(scheme, spots):
            folds.add(folds.junctions, taken.take(_common_name(spots)), spots)
    for name in _lonely(scheme, folds):
        folds.drop(name)
    return folds


def _lonely(scheme: BondGraphScheme, folds: _Folds) -> list[str]:
    """Vector junctions with one vector bond, that of a field: its ports are read better at junctions of their own."""
    count = dict.fromkeys(folds.junctions, 0)
    for bond in _fold_bonds(scheme.bonds, _Ends(scheme, folds)):
        for name in (bond.tail, bond.head):
            if bond.size > 1 and name in count:
                count[name] += 1
    return [name for name, found in count.items() if found < 2]


def _vector_one_ports(scheme: BondGraphScheme) -> Iterator[tuple[str, list[str]]]:
    """Fields and vector items with their components, as the model has them."""
    graph = scheme.causal.graph
    item_of = {item.port.element: name for name, item in scheme.one_ports.items()}
    groups = {f.element: [graph.ports[k].element for k in f.ports] for f in graph.fields}
    alike = {n: m for n, m in graph.vectors.items() if len({_form(scheme.one_ports[item_of[e]]) for e in m}) == 1}
    for name, members in {**groups, **alike}.items():
        if len(members) > 1:
            yield name, [item_of[member] for member in members]


def _form(item: OnePort) -> tuple[str, str, bool]:
    """How a one-port is written: components of a vector item that are written differently stay apart."""
    law = item.port.law
    linear = not (isinstance(law, StorageLaw) and law.inertia is None) and not (
        isinstance(law, ResistiveLaw) and law.coefficient is None
    )
    return item.letters, element_kind(item.port).name, linear


def _junctions_of(scheme: BondGraphScheme, members: Sequence[str]) -> list[str] | None:
    """The junctions that one-ports hang on, where all half arrows have one direction."""
    bonds = [scheme.bonds_of(name)[0] for name in members]
    if len({bond.head == name for bond, name in zip(bonds, members, strict=True)}) > 1:
        return None
    return [bond.other(name) for bond, name in zip(bonds, members, strict=True)]


def _are_alike(scheme: BondGraphScheme, spots: Sequence[str]) -> bool:
    """Whether items are different junctions of one kind and one domain."""
    found = [scheme.junctions[name] for name in spots if name in scheme.junctions]
    return len(set(spots)) == len(spots) == len(found) and len({(j.kind, j.domain) for j in found}) == 1


def _common_name(names: Sequence[str]) -> str:
    """What the names have in common at their beginning, `I` for `I_1` and `I_2`; all of the first where that is nothing."""
    first, last = min(names), max(names)
    shared = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return plain_name(first[:shared].rstrip("_")) if first[:shared].rstrip("_") else names[0]


# -- items ---------------------------------------------------------------------------------------------------------------------


def _junctions(scheme: BondGraphScheme, folds: _Folds) -> Iterator[tuple[str, Junction]]:
    for name, junction in scheme.junctions.items():
        whole, part = folds.part_of.get(name, (name, 0))
        if part == 1:
            parts = tuple(scheme.junctions[member] for member in folds.junctions[whole])
            shown = _listed(part.variable for part in parts)
            yield whole, replace(junction, name=whole, variable=shown, parts=parts)
        elif part == 0:
            yield name, junction


def _one_ports(scheme: BondGraphScheme, folds: _Folds) -> Iterator[tuple[str, OnePort]]:
    for name, item in scheme.one_ports.items():
        whole, part = folds.part_of.get(name, (name, 0))
        if part == 1:
            parts = tuple(scheme.one_ports[member] for member in folds.one_ports[whole])
            letters = item.letters if len({part.kind for part in parts}) == 1 else "IC"
            if item.field and letters in ("De", "Df", "rSe", "rSf"):
                letters = "R"  # a row of zeros in the matrix of a field makes no sensor of it
            yield whole, replace(item, name=whole, letters=letters, parts=parts)
        elif part == 0:
            yield name, item


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


# -- bonds ---------------------------------------------------------------------------------------------------------------------


class _Ends:
    """Where the ends of scalar bonds lie in the folded scheme."""

    def __init__(self, scheme: BondGraphScheme, folds: _Folds) -> None:
        self.scheme = scheme
        self.folds = folds
        self.sizes: dict[End, int] = {(name, ""): len(members) for name, members in folds.one_ports.items()}
        self.sizes |= {(name, ""): len(members) for name, members in folds.junctions.items()}
        for name, two_port in scheme.two_ports.items():
            if two_port.matrix:
                self.sizes[name, "out"], self.sizes[name, "in"] = len(two_port.matrix), len(two_port.matrix[0])

    def of(self, name: str, port: int, side: Direction) -> tuple[End, int]:
        """The end and the component; 0 where the end is a scalar."""
        if name in self.scheme.two_ports:
            return (name, side), port if self.sizes.get((name, side), 1) > 1 else 0
        whole, part = self.folds.part_of.get(name, (name, 0))
        return (whole, ""), part


def _fold_bonds(bonds: Sequence[Bond], ends: _Ends) -> Iterator[Bond]:
    """Each bond with its ends in the folded scheme; those that run side by side as one, where the first of them stood."""
    placed = [(b, ends.of(b.tail, b.tail_port, "out"), ends.of(b.head, b.head_port, "in")) for b in bonds]
    bundles: dict[tuple[End, End, str], dict[int, Bond]] = {}
    for bond, (tail, k), (head, j) in placed:
        if k and k == j:
            bundles.setdefault((tail, head, bond.stroke), {})[k] = bond
    for bond, (tail, k), (head, j) in placed:
        bundle = bundles.get((tail, head, bond.stroke), {}) if k and k == j else {}
        scalar = replace(bond, tail=tail[0], head=head[0], tail_port=k, head_port=j)
        if not len(bundle) == ends.sizes.get(tail) == ends.sizes.get(head):
            yield scalar
        elif bundle[1] is bond:
            parts = tuple(bundle[i] for i in sorted(bundle))
            across, through = _listed(b.across for b in parts), _listed(b.through for b in parts)
            yield replace(scalar, tail_port=0, head_port=0, across=across, through=through, parts=parts)
