"""A described system: elements between nodes with their variables, parameters, ports, parts, the experiment and the sketch of its
drawing. The first value of the pipeline.

x runs to the right and y upwards; one unit is the length of an element between its wires.
"""

import copyreg
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import Finding, Place
from tellegen.core.memory import Known
from tellegen.core.names import named_after
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.elements import ElementKind
from tellegen.expressions import ZERO, Expression
from tellegen.model.bond_graph import BondEnds
from tellegen.model.laws import Law, LawTable, MatrixField, Multiport
from tellegen.model.signals import Signal, SignalDefinition, SignalPorts

if TYPE_CHECKING:
    from tellegen.model.mechanism import Geometry, Mechanism


@final
@dataclass(frozen=True, slots=True)
class SketchedBranch:
    """An element between points: one pair for each of its ports, in the order of its nodes.

    `shifts` move each pair sideways, to the left of the way from the first point to the second as drawn (`drawn` says whether this
    is the order of the nodes). `label` is 1 where the label stands on the left of this way, -1 where it stands on the right.
    """

    points: tuple[str, ...]
    shifts: tuple[float, ...]
    label: int = 1
    drawn: bool = True


@final
@dataclass(frozen=True, slots=True)
class Sketch:
    """The places of points, the nodes that they belong to, the wires between them, and the elements by name."""

    points: Mapping[str, complex]
    nodes: Mapping[str, str]
    wires: tuple[tuple[str, str], ...]
    branches: Mapping[str, SketchedBranch]


NOTHING: Mapping[str, str] = MappingProxyType({})


def _read_only(entries: dict[str, str]) -> MappingProxyType[str, str]:
    return MappingProxyType(entries)


# Models go to other processes, and pickle knows no read-only mappings by itself.
copyreg.pickle(MappingProxyType, lambda known: (_read_only, (dict(known),)))
"""Shared by the many elements that leave something out."""


MECHANISM = "mechanism"
"""The note of an element that belongs to a mechanism: its bodies are one system, whether or not power passes between them."""


PART_OF = "part of"
"""The note of an element that is a port or a source of a field made from other elements: its books are those of the field."""


RESIDUAL_SINK = "residual sink"
"""The note of an ideal element that a bond graph has as rSe or rSf: it stands for what keeps a constraint."""


MOST_SHOWN = 40
"""So many elements of a model are listed when it is printed."""


def nothing() -> Mapping[str, str]:
    """The shared empty mapping."""
    return NOTHING


@final
@dataclass(frozen=True, slots=True)
class Switching:
    """What the line of an element with modes says: settings by key, times at which a switch closes and opens, its first mode.

    `texts` keeps formulas as the user wrote them.
    """

    settings: Mapping[str, Expression]
    schedule: tuple[Expression, ...] = ()
    start: str = ""
    texts: Mapping[str, str] = field(default_factory=nothing, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Element:
    """One element between nodes. `value` is the expression of its parameter; None for sources and elements with a law."""

    name: str
    kind: ElementKind
    nodes: tuple[str, ...]
    value: Expression | None = None
    law: Law | None = None
    variables: Mapping[str, str] = field(default_factory=nothing)
    initial: Expression | None = None
    prefer: Side | None = None
    forced: bool = False
    place: Place | None = None
    notes: Mapping[str, str] = field(default_factory=nothing)
    multiport: Multiport | None = None
    signal: Expression | None = None
    signal_text: str = field(default="", compare=False)
    switching: Switching | None = None
    initial_content: bool = False

    # `initial` is the output of a storage at the start, or with `initial_content` what it holds.
    # `variables` maps "across" / "through" (a coupling: "across_1", ...; a storage: "energy" too) to names that the user chose.
    # `prefer` is the power variable that the element should decide; `forced` makes that a demand.
    # `signal` is what drives a source: a formula of signals, variables, parameters and time.
    # `notes` keeps what other tools wrote about the element, such as the geometry of a netlist.


@final
@dataclass(frozen=True, slots=True)
class ParameterSlope:
    """The derivative of a parameter by a displacement."""

    of: str
    by: str


@final
@dataclass(frozen=True, slots=True)
class ParameterCurve:
    """Points that are read at an expression of displacements."""

    table: LawTable
    at: Expression


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """A named constant. `expression` is its value in SI units, None where it has none and stays a symbol.

    `dimension` is None when the value was a bare number, which fits any unit. `curve` tells where a value comes from that was
    not given as a formula.
    """

    name: str
    expression: Expression | None
    dimension: Dimension | None = None
    unit: str = ""
    place: Place | None = None
    curve: "ParameterSlope | ParameterCurve | None" = None


Start = Literal["initial", "steady"]
"""Where a run begins: at the initial values, or in the steady state near them."""


@final
@dataclass(frozen=True, slots=True)
class Experiment:
    """How long to run, from where, with which inputs; all optional."""

    until: Expression | None = None
    inputs: Mapping[str, Signal] = field(default_factory=dict)
    initial: Mapping[str, Expression] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    rtol: float | None = None
    atol: float | None = None
    start: Start = "initial"
    units: Mapping[str, str] = field(default_factory=dict)  # what variables are shown in; values stay in SI


@final
@dataclass(frozen=True, slots=True)
class SystemPort:
    """Where a system can be joined to others: two nodes of one domain, power positive into the system where across and through are.

    The second node is the reference of the domain where the port was given by one. `source` is the source whose place the other
    system takes; it stays as long as nothing is joined. `at` is the element whose two nodes the port has, where a file says so.
    """

    name: str
    domain: str
    nodes: tuple[str, str]
    source: str = ""
    place: Place | None = field(default=None, compare=False)
    at: str = ""


@final
@dataclass(frozen=True, slots=True)
class Part:
    """A system used as an element of another. Its elements are among those of the whole, with the name of the part before theirs.

    `model` is what the part is by itself, with parts of its own; `use` is how the user called it. `ports` tells which nodes of the
    whole its ports are joined to, `bindings` which parameters follow the whole, `signals` what its signal inputs are given.
    """

    name: str
    use: str
    model: "Model" = field(repr=False)
    ports: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    bindings: Mapping[str, Parameter] = field(default_factory=dict)
    signals: Mapping[str, Expression] = field(default_factory=dict)
    place: Place | None = field(default=None, compare=False)
    texts: Mapping[str, str] = field(default_factory=nothing, compare=False)
    names: Mapping[str, str] = field(default_factory=nothing)

    # `texts` keeps bindings and signals as the user wrote them; `names` are those that the line chose for what is inside.


@final
@dataclass(frozen=True, slots=True)
class Closure:
    """A loop of positions: `equations` of displacements that stay zero, and the displacements that follow from them.

    Rates keep to such equations by themselves. A run begins where they are solved, and takes out what its errors add.
    """

    name: str
    equations: tuple[Expression, ...]
    solves: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Model:
    """A described system. `findings` are the notices and warnings met while reading it; errors are raised instead.

    `displacements` are states of their own that parameters, laws and moduli may read: name and rate. `signals` are causal and carry
    no power: references, sensors and controllers, by name, in the order of description.
    """

    name: str
    elements: tuple[Element, ...]
    parameters: Mapping[str, Parameter]
    experiment: Experiment = Experiment()
    findings: tuple[Finding, ...] = ()
    source: str = ""
    about: str = ""
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    fields: tuple[MatrixField, ...] = ()
    signals: Mapping[str, SignalDefinition] = field(default_factory=dict)
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    ports: Mapping[str, SystemPort] = field(default_factory=dict)
    signal_ports: SignalPorts = field(default_factory=SignalPorts)
    parts: tuple[Part, ...] = field(default=(), compare=False)
    counts: frozenset[str] = field(default=frozenset(), compare=False)
    closures: tuple[Closure, ...] = ()
    mechanism: "Mechanism | None" = field(default=None, compare=False, repr=False)
    sketch: Sketch | None = field(default=None, compare=False, repr=False)
    layout: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict, compare=False, repr=False)
    turned: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    geometry: "Geometry | None" = field(default=None, compare=False, repr=False)
    bond_numbers: Mapping[int, BondEnds] = field(default_factory=dict, compare=False, repr=False)
    symbols: Mapping[str, str] = field(default_factory=nothing, compare=False)
    counted_symbols: Mapping[str, str] = field(default_factory=nothing, compare=False)
    known: Known = field(default_factory=Known, init=False, compare=False, repr=False)

    # `geometry` tells where the bodies of a network are, for figures alone; `mechanism` is there where equations come from bodies.
    # `layout` tells by kind of figure where a person put the items that it shows; `turned` which symbols of a schematic stand
    # across their line: by 90 degrees with the first end up, by 270 with it down.
    # `symbols` say how names are written where the usual way is not meant; `counted_symbols` are for what a vector scheme
    # counts, K_1 and omega_2.
    # `sketch` is how the description itself draws the elements.
    # `mechanism` is what figures show of bodies and joints; their elements are all in `elements`.
    # `vectors` are the vector items of a bond graph that no matrix couples: their names and the elements they consist of.
    # `bond_numbers` are those that the author of a bond graph gave.
    # `parts` tells where elements with dotted names come from; the elements themselves are all in `elements`.
    # `counts` are the parameters that decided how many elements there are: another value makes another model.

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs: one a source, in order of description."""
        return tuple(e.variables.get(e.kind.side, e.name) for e in self.elements if e.kind.role == "source")

    def __str__(self) -> str:
        """The name and the elements, a line each."""
        lines = [f"  {e.name}: {e.kind.name} [{', '.join(e.nodes)}]" for e in self.elements[:MOST_SHOWN]]
        return "\n".join([self.name, *lines, *self._more()])

    def _repr_markdown_(self) -> str:
        """What a notebook shows: the name, what it is, and its elements."""
        rows = [
            f"| {e.name} | {e.kind.name} | {', '.join(e.nodes)} | {'' if e.value is None else f'`{e.value}`'} |"
            for e in self.elements[:MOST_SHOWN]
        ]
        table = "\n".join(["| element | kind | nodes | value |", "|---|---|---|---|", *rows])
        return "\n\n".join(part for part in (f"**{self.name}**", self.about, table, *self._more()) if part)

    def _more(self) -> list[str]:
        # A model may have 200 000 elements, and a notebook shows whatever a cell ends with.
        left = len(self.elements) - MOST_SHOWN
        return [f"  and {left} more"] if left > 0 else []


def laid_out_as(model: Model, before: Model) -> Model:
    """The model that was made of another one, without the places of elements that are gone: nothing could be put there."""
    gone = {element.name for element in before.elements} - {element.name for element in model.elements}
    if gone.isdisjoint(name for placed in (*model.layout.values(), model.turned) for name in placed):
        return model  # the same value, which keeps what has been derived from it
    places = {kind: {n: at for n, at in placed.items() if n not in gone} for kind, placed in model.layout.items()}
    turned = {name: angle for name, angle in model.turned.items() if name not in gone}
    return replace(model, layout={kind: placed for kind, placed in places.items() if placed}, turned=turned)


def all_parts(model: Model, prefix: str = "") -> Iterator[tuple[str, Part]]:
    """The parts of a model and those inside them, by dotted name, each before what is inside."""
    for part in model.parts:
        yield prefix + part.name, part
        yield from all_parts(part.model, f"{prefix}{part.name}.")


# The variables of elements: by the names that users chose, `<symbol>_<element>` for the others

SIDES: tuple[Side, Side] = ("across", "through")


def input_name(source: Element) -> str:
    """The name of the input that a source follows."""
    return source.variables.get(source.kind.side, source.name)


def variable_name(element: Element, side: Side) -> str:
    """The name of a power variable of a one-port: the one chosen, else `<symbol>_<element>`; an input is named by its source."""
    if element.kind.role == "source" and side == element.kind.side:
        return input_name(element)
    return element.variables.get(side) or named_after(element.kind.domain.power(side).symbol, element.name)


def state_variables(elements: Iterable[Element]) -> dict[str, Dimension]:
    """What storages remember: their outputs and their contents."""
    return {name: _dimension(unit) for name, unit in state_units(elements).items()}


def state_units(elements: Iterable[Element]) -> dict[str, str]:
    """The same with the units that results write."""
    found: dict[str, str] = {}
    listed = list(elements)
    for element in listed:
        if element.kind.role == "storage":
            domain, side = element.kind.domain, element.kind.side
            found[variable_name(element, side)] = domain.power(side).unit
            stored = element.variables.get("energy") or named_after(domain.energy(side).symbol, element.name)
            # A name that somebody chose for an output comes before one that only follows from a content.
            found.setdefault(stored, domain.energy(side).unit)
    return found | _given_way(listed, of_storages=True)


def sensed_variables(elements: Iterable[Element]) -> set[str]:
    """What ideal sensors read: the variable that an element with the law zero is told."""
    ideal = (e for e in elements if e.kind.role == "resistive" and e.value is ZERO)
    return {variable_name(element, other_side(element.kind.side)) for element in ideal}


def known_variables(elements: Iterable[Element]) -> dict[str, Dimension]:
    """All variables of the elements, with their dimensions."""
    listed = list(elements)
    found = state_variables(listed)
    for element in listed:
        found |= _coupling_variables(element) if element.kind.role == "coupling" else _port_variables(element)
        found.setdefault(f"power.{element.name}", _dimension("W"))
        if element.kind.role in ("storage", "potential"):
            found.setdefault(f"energy.{element.name}", _dimension("J"))
    return found | {name: _dimension(unit) for name, unit in _given_way(listed).items()}


def _given_way(elements: list[Element], *, of_storages: bool = False) -> dict[str, str]:
    """Variables without a chosen name whose default another element has chosen: a trailing underscore tells them apart."""
    ports = [element for element in elements if element.kind.role != "coupling"]
    chosen = {name for element in ports for name in element.variables.values()}
    chosen |= {input_name(element) for element in ports if element.kind.role == "source"}
    found: dict[str, str] = {}
    for element in ports:
        for side in SIDES:
            imposed = element.kind.role == "source" and side == element.kind.side
            counts = not of_storages or (element.kind.role == "storage" and side == element.kind.side)
            if counts and side not in element.variables and not imposed and variable_name(element, side) in chosen:
                name = variable_name(element, side)
                found[f"{name}_"] = element.kind.domain.power(side).unit
    return found


def ambient_temperatures(elements: Iterable[Element]) -> set[str]:
    """The temperatures that count from the ambient: those of the domain `heat`."""
    ports = [e for e in elements if e.kind.role != "coupling" and e.kind.domain.heat_books]
    return {variable_name(element, "across") for element in ports}


def _port_variables(element: Element) -> dict[str, Dimension]:
    side = element.kind.side
    power = element.kind.domain.power
    return {variable_name(element, s): _dimension(power(s).unit) for s in (side, other_side(side))}


def _coupling_variables(element: Element) -> dict[str, Dimension]:
    found: dict[str, Dimension] = {}
    for port, name in enumerate(element.kind.domains):
        for side in SIDES:
            for known in side_names(element, port, side):
                found.setdefault(known, _dimension(DOMAINS[name].power(side).unit))
    return found


def side_names(coupling: Element, port: int, side: Side) -> tuple[str, ...]:
    """The names of a power variable at a port of a coupling: the one chosen, else `<symbol>_<element>`, with its number or without.

    The plain name means the first port that has a variable of this symbol.
    """
    chosen = coupling.variables.get(f"{side}_{port + 1}")
    own = named_after(DOMAINS[coupling.kind.domains[port]].power(side).symbol, coupling.name)
    # A formula reads no name with two underscores in a row, which stand for the dot of a path in C.
    return (chosen,) if chosen else (own, f"{own.removesuffix('_')}_{port + 1}")


def _dimension(unit: str) -> Dimension:
    return parse_unit(unit).dimension if unit else DIMENSIONLESS
