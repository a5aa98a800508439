"""A 20-sim model without levels: its components, who is joined to whom, and which signal follows which."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, final

from tellegen.core.errors import Place
from tellegen.core.union_find import UnionFind
from tellegen.importing.twenty_sim import rules
from tellegen.importing.twenty_sim.parsing import PortWire, SidopsPort, Submodel

Path = tuple[str, ...]


@final
class PortEnd(NamedTuple):
    """A port of a component or of a model inside, and which of its two ends where it has two."""

    path: Path
    port: str
    end: str = ""


@final
class PowerWire(NamedTuple):
    """A bond from one end to another."""

    tail: PortEnd
    head: PortEnd


@final
@dataclass(slots=True)
class FlatModel:
    """The components by path, bonds between ports of efforts and flows, nodes of iconic diagrams, and drivers of signals."""

    components: dict[Path, Submodel] = field(default_factory=dict)
    composites: dict[Path, Submodel] = field(default_factory=dict)
    bonds: list[PowerWire] = field(default_factory=list)
    nodes: dict[PortEnd, int] = field(default_factory=dict)
    drivers: dict[PortEnd, list[PortEnd]] = field(default_factory=dict)

    def port(self, end: PortEnd) -> SidopsPort:
        """The declaration of a port."""
        return (self.components.get(end.path) or self.composites[end.path]).ports[end.port]

    def sources(self, end: PortEnd) -> Iterator[PortEnd]:
        """The ports of components that a signal comes from."""
        waiting, seen = list(self.drivers.get(end, ())), {end}
        while waiting:
            one = waiting.pop(0)
            if one in seen:
                continue
            seen.add(one)
            if one.path in self.components:
                yield one
            else:
                waiting += self.drivers.get(one, ())


def flatten(model: Submodel, file: str) -> FlatModel:
    """The model without levels.

    Raises: DescriptionError (D323) for a connection that leads to nothing.
    """
    flat = FlatModel()
    wires = list(_walk(flat, model, (), file))
    joined: list[PowerWire] = []
    for tail, head, signal in wires:
        if signal:
            flat.drivers.setdefault(head, []).append(tail)
        elif flat.port(tail).shape and flat.port(head).shape:
            joined.append(PowerWire(tail, head))
        else:
            flat.bonds.append(PowerWire(tail, head))
    _number_nodes(flat, joined)
    return flat


def _walk(flat: FlatModel, model: Submodel, path: Path, file: str) -> Iterator[tuple[PortEnd, PortEnd, bool]]:
    flat.composites[path] = model
    for name, inner in model.inside.items():
        if inner.implementation == "bg":
            yield from _walk(flat, inner, (*path, name), file)
        else:
            flat.components[*path, name] = inner
    for wire in model.wires:
        tail, head = (_end(flat, model, path, end, wire, file) for end in (wire.tail, wire.head))
        yield tail, head, wire.signal


def _end(flat: FlatModel, model: Submodel, path: Path, end: tuple[str, str], wire: PortWire, file: str) -> PortEnd:
    name, port = end
    owner = model if not name else model.inside.get(name)
    at = path if not name else (*path, name)
    if owner is not None:
        if port in owner.ports:
            return PortEnd(at, port)
        base, _, side = port.rpartition("_")
        if base in owner.ports and side in ("high", "low"):
            return PortEnd(at, base, side)
        # A junction calls its ports as its bonds want them.
        if owner.knot and len(owner.ports) and not wire.signal:
            return PortEnd(at, next(iter(owner.ports)))
    what = _nowhere(end)
    raise rules.WRONG_FILE.error(what, fix="save the model again with 20-sim 4 or 5", place=Place(file, wire.line, 1))


def _nowhere(end: tuple[str, str]) -> str:
    shown = "\\".join(word for word in end if word)
    return f"a connection leads to '{shown}', which there is not"


def _number_nodes(flat: FlatModel, joined: list[PowerWire]) -> None:
    """Give ports with one or two ends the numbers of their nodes."""
    ends: dict[PortEnd, int] = {}
    for path, component in flat.components.items():
        for port in component.ports.values():
            sides = ("high", "low") if port.shape == "delta" else ("",) if port.shape == "psi" else ()
            for side in sides:
                ends.setdefault(PortEnd(path, port.name, side), len(ends))
    for wire in (*joined, *flat.bonds):
        for end in wire:
            if flat.port(end).shape:
                ends.setdefault(end, len(ends))
    groups = UnionFind(len(ends))
    for wire in joined:
        groups.join(ends[wire.tail], ends[wire.head])
    flat.nodes = {end: groups.find(number) for end, number in ends.items()}
