"""A bond graph in the course of being made: items and bonds that rules may still move, join and remove."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, final

from tellegen.core.domains import Side
from tellegen.expressions import Expression
from tellegen.schemes.bond_graph_scheme import TwoPortKind

Key = tuple[str, int]
"""Where an item comes from: ("node", 3), ("port", 0), ("path of port", 0), ("coupling", 1), ("side", 1)."""

Touched = list[Key]
"""The items that a rewriting has changed, which may make room for others; empty where it did not fit."""

Matrix = tuple[tuple[Expression, ...], ...]

Role = Literal["junction", "one-port", "two-port"]


@final
@dataclass(eq=False, slots=True)
class DraftBond:
    """A bond that can still be moved. The ports count the bonds on a side of a two-port with a matrix, from 1."""

    tail: Key
    head: Key
    tail_port: int = 0
    head_port: int = 0

    def other(self, key: Key) -> Key:
        """The item at the other end."""
        return self.head if self.tail == key else self.tail


@final
@dataclass(eq=False, slots=True)
class DraftItem:
    """An item with its bonds, in order. `grounded` marks a junction whose shared variable is zero.

    A two-port has a modulus, or a matrix with a column for each bond in and a row for each bond out.
    """

    key: Key
    role: Role
    domain: str
    shares: Side = "across"
    grounded: bool = False
    kind: TwoPortKind = "TF"
    modulus: Expression | None = None
    matrix: Matrix = ()
    domains: tuple[str, str] = ("", "")
    origins: tuple[str, ...] = ()
    turned: bool = False
    bonds: dict[int, DraftBond] = field(default_factory=dict)

    @property
    def through_going(self) -> bool:
        """Whether it has one bond in and one out."""
        if len(self.bonds) != 2:
            return False
        one, two = self.bonds.values()
        return (one.head == self.key) != (two.head == self.key)


class Draft:
    """Items by key and their bonds."""

    def __init__(self) -> None:
        self.items: dict[Key, DraftItem] = {}
        self._count = 0

    def fresh(self, word: str) -> Key:
        """A key that was not used before."""
        self._count += 1
        return (word, self._count)

    def add(self, item: DraftItem) -> None:
        """Add an item."""
        self.items[item.key] = item

    def bond(self, tail: Key, head: Key, tail_port: int = 0, head_port: int = 0) -> None:
        """Join two items."""
        made = DraftBond(tail, head, tail_port, head_port)
        self.items[tail].bonds[id(made)] = made
        self.items[head].bonds[id(made)] = made

    def cut(self, bond: DraftBond) -> None:
        """Remove a bond."""
        self.items[bond.tail].bonds.pop(id(bond), None)
        self.items[bond.head].bonds.pop(id(bond), None)

    def remove(self, key: Key) -> None:
        """Remove an item with its bonds."""
        for bond in list(self.items[key].bonds.values()):
            self.cut(bond)
        del self.items[key]

    def move(self, bond: DraftBond, old: Key, new: Key) -> None:
        """Let one end of a bond hang on another item."""
        self.items[old].bonds.pop(id(bond))
        if bond.tail == old:
            bond.tail = new
        else:
            bond.head = new
        self.items[new].bonds[id(bond)] = bond

    def turn(self, bond: DraftBond) -> None:
        """Reverse the half arrow."""
        bond.tail, bond.head = bond.head, bond.tail

    def neighbours(self, item: DraftItem) -> Iterator[DraftItem]:
        """The items at the other ends of its bonds."""
        return (self.items[bond.other(item.key)] for bond in item.bonds.values())

    def replaced_by_bond(self, item: DraftItem) -> None:
        """Remove an item with one bond in and one out, and join its neighbours."""
        one, two = item.bonds.values()
        into, out = (one, two) if one.head == item.key else (two, one)
        ends = (into.tail, out.head, into.tail_port, out.head_port)
        # The bond of a one-port keeps its identity, so that bonds stay in the order of description.
        self.remove(item.key)
        self.bond(*ends)
