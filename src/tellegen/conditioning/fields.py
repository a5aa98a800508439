"""Storages as one field in the graph: with speeds as states (a matrix), or with momenta (an energy)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.conditioning.constrained import output_of
from tellegen.conditioning.definite import Named, solved_definite
from tellegen.conditioning.law_letters import apart_from_letters
from tellegen.conditioning.merging import Merged
from tellegen.conditioning.opening import fresh
from tellegen.conditioning.signals import formula_signal
from tellegen.conditioning.starting import Starts
from tellegen.core.domains import Side, other_side
from tellegen.core.names import TIME, named_after
from tellegen.core.units import Dimension
from tellegen.description.fields import energy_letters, entry_dimension
from tellegen.description.model import PART_OF, Element, Model, Parameter
from tellegen.description.relations import Law, MatrixField, Multiport
from tellegen.elements import ElementKind, connection, kinds_of
from tellegen.equations.matrices import Matrix, dot
from tellegen.expressions import HALF, ONE, ZERO, Expression, Mul, Symbol, symbol, to_text
from tellegen.expressions.entries import leaves

_FLAT = str.maketrans({".": "_", "[": "_", "]": "", ",": "_"})

SHORT = 2
"""Entries of the matrix of a field with more leaves than this get a name."""


@final
@dataclass(frozen=True)
class FieldModel:
    """The model with a field, and where its states start."""

    model: Model
    starts: Starts


def speed_field(merged: Merged, efforts: Sequence[Expression]) -> FieldModel:
    """The model with a field whose matrix is M and whose states are speeds; `efforts` act on its members beside the network."""
    members = _member_elements(merged)
    M, names = named_matrix(merged)
    changed = {e.name: replace(port_of_field(merged, i), value=M[i][i], law=None) for i, e in enumerate(members)}
    field = MatrixField(_field_name(merged), tuple(e.name for e in changed.values()), M)
    dimensions = _entry_dimensions(merged, M, names)
    model = _with_parameters(_with_field(merged, changed, field), names, dimensions)
    return FieldModel(with_efforts(model, merged, efforts), Starts())


def momentum_field(merged: Merged, efforts: Sequence[Expression]) -> FieldModel:
    """The model with a field whose energy is p^T M^-1 p/2 and whose states are momenta p."""
    members = _member_elements(merged)
    M, names = named_matrix(merged)
    kinds = [_plain(e).kind for e in members]
    inverse, more = apart_from_letters(*named_inverse(merged, M, names), kinds, merged.found.causal.graph.parameters)
    letters = energy_letters(kinds)
    if len(members) == 1:
        letters = (kinds[0].domain.energy(kinds[0].side).letters[0],)
    p = [symbol(letter) for letter in letters]
    changed: dict[str, Element] = {}
    states: list[str] = []
    for i, element in enumerate(members):
        output = dot(inverse[i], p)
        law = Law("output", letters[i], output, element.kind.side, f"{merged.speeds[i]} = {to_text(output)}")
        port = port_of_field(merged, i)
        state = _momentum_name(merged, port)
        states.append(state)
        variables = {**port.variables, "energy": state}
        changed[element.name] = replace(port, value=None, law=law, initial=None, variables=variables)
    energy = HALF * dot(p, [dot(row, p) for row in inverse])
    names_of_ports = tuple(port.name for port in changed.values())
    field = MatrixField(_field_name(merged), names_of_ports, _identity(len(members)), energy=energy, letters=letters)
    dimensions = _entry_dimensions(merged, M, names)
    model = _with_parameters(_with_field(merged, changed, field), {**names, **more}, dimensions)
    z = [symbol(name) for name in merged.speeds]
    starts = Starts({state: dot(row, z) for state, row in zip(states, merged.M, strict=True)}, merged.speeds)
    return FieldModel(with_efforts(model, merged, efforts), starts)


def with_gyrators(model: Model, merged: Merged, S: Matrix) -> Model:
    """The model with a gyrator between each two members that S couples: power passes, none is made."""
    members = _member_elements(merged)
    elements = list(model.elements)
    signals = dict(model.signals)
    for i, one in enumerate(members):
        for j in range(i):
            if S[i][j] is not ZERO:  # the modulus reads speeds, so it is a signal
                gyrator = _gyrator(one, members[j])
                modulus = f"{gyrator.name}_modulus"
                signals[modulus] = formula_signal(modulus, -S[i][j])
                elements.append(gyrator)
    return replace(model, elements=tuple(elements), signals=signals)


def with_efforts(model: Model, merged: Merged, efforts: Sequence[Expression]) -> Model:
    """The model with sources that bring further rates of momenta to the members."""
    elements = list(model.elements)
    for i, effort in enumerate(efforts):
        if effort is not ZERO:
            elements = _driven(elements, _member_elements(merged)[i], port_of_field(merged, i), effort)
    return replace(model, elements=tuple(elements))


def _driven(elements: list[Element], member: Element, port: Element, effort: Expression) -> list[Element]:
    """A source beside a mass, or in series with a spring; what it does is the work that moves the matrix of the field."""
    name = f"C_{member.name.replace('.', '_')}"
    kind = _source(member, other_side(member.kind.side))
    if member.kind.side == "across":
        nodes = (member.nodes[1], member.nodes[0])
        return [*elements, Element(name, kind, nodes, signal=effort, notes=port.notes)]
    inner = fresh(f"{member.nodes[0]}_{name}", {n for e in elements for n in e.nodes})
    moved = [replace(e, nodes=(inner, e.nodes[1])) if e.name == port.name else e for e in elements]
    return [*moved, Element(name, kind, (inner, member.nodes[0]), signal=effort, notes=port.notes)]


def _source(member: Element, side: Side) -> ElementKind:
    return next(k for k in kinds_of(member.kind.domains[0], "source") if k.side == side)


def _gyrator(one: Element, two: Element) -> Element:
    """With the modulus -S, the momentum of `one` changes by S times the speed of `two`, that of `two` by -S times that of `one`."""
    domains = (one.kind.domains[0], two.kind.domains[0])
    sides = tuple(e.kind.side for e in (one, two))
    name = f"S_{one.name}_{two.name}".replace(".", "_")
    relation = Multiport((0,), (1,), (sides[0],), (other_side(sides[1]),), ((symbol(f"{name}_modulus"),),))
    return Element(name, connection(domains, "gyrator"), (*one.nodes, *two.nodes), multiport=relation)


def _with_field(merged: Merged, changed: Mapping[str, Element], field: MatrixField) -> Model:
    """The model with changed members that a matrix couples, and without fields that are now part of this."""
    ports = merged.found.causal.graph.ports
    gone = {ports[k].element for k in merged.storages}
    model = with_members(merged, changed)
    others = tuple(f for f in model.fields if gone.isdisjoint(f.members))
    joined = (field,) if len(field.members) > 1 else ()  # one member with its own law needs no matrix
    return replace(model, fields=(*others, *joined))


def with_members(merged: Merged, changed: Mapping[str, Element]) -> Model:
    """The model with changed members, and sensors for the storages that follow them."""
    model, ports = merged.found.model, merged.found.causal.graph.ports
    following = {ports[k].element: output_of(ports[k]) for k in merged.dependent}
    elements = []
    for element in model.elements:
        if element.name in following:
            elements += _sensor(element, following[element.name], _field_name(merged))
        else:
            elements.append(changed.get(element.name, element))
    return replace(model, elements=tuple(elements), findings=(), source="", parts=())


def _sensor(element: Element, output: str, field: str) -> list[Element]:
    """What is left of a storage that moved into a field: a sensor of the variable that it had as its output."""
    side = element.kind.side
    kinds = [k for k in kinds_of(element.kind.domains[0], "resistive") if k.side == other_side(side)]
    notes = {**element.notes, PART_OF: field}
    return [
        Element(output, kind, element.nodes, value=ZERO, variables={side: output}, notes=notes) for kind in kinds[:1]
    ]


def _member_elements(merged: Merged) -> list[Element]:
    ports = merged.found.causal.graph.ports
    return [merged.found.elements[ports[k].element] for k in merged.members]


def port_of_field(merged: Merged, i: int) -> Element:
    """The port of the field at the place of a member, with a name of its own: what it takes and holds is the field's.

    What it decides keeps the name that the member had for it.
    """
    element, field = _member_elements(merged)[i], _field_name(merged)
    taken = {e.name for e in merged.found.model.elements} | {*merged.found.model.parameters}
    name = fresh(f"{field}_{element.name.translate(_FLAT)}", taken)
    variables: dict[str, str] = {element.kind.side: merged.speeds[i]}
    return replace(_plain(element), name=name, variables=variables, notes={**element.notes, PART_OF: field})


def _plain(element: Element) -> Element:
    """The element with a kind whose parameter multiplies: a compliance for a spring, a mass for a point without any."""
    if not (element.kind.inverse or element.kind.weightless):
        return element
    kinds = [k for k in kinds_of(element.kind.domains[0], "storage") if k.side == element.kind.side]
    kind = next(k for k in kinds if not (k.inverse or k.energy or k.weightless))
    return replace(element, kind=kind)


def named_matrix(merged: Merged) -> tuple[Matrix, dict[str, Expression]]:
    """M with names for the entries that move or are long, and what the names stand for: each is computed once."""
    model = merged.found.model
    ports = merged.found.causal.graph.ports
    taken = {*model.parameters, *model.displacements, *model.signals, *(e.name for e in model.elements)}
    taken |= {n for p in ports for n in (p.across, p.through, p.state)}
    names: dict[str, Expression] = {}
    n = len(merged.members)
    rows: list[list[Expression]] = [[ZERO] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            entry = merged.M[i][j]
            if not _is_short(entry):
                name = fresh(f"M_{j + 1}_{i + 1}", taken)
                names[name], entry = entry, symbol(name)
            rows[i][j] = rows[j][i] = entry
    return tuple(map(tuple, rows)), names


def _is_short(entry: Expression) -> bool:
    """Whether an entry needs no name; a factor that is a number may stand for a length, so that its unit would be lost."""
    return leaves(entry) <= SHORT and not (isinstance(entry, Mul) and entry.coefficient not in (1, -1))


def _entry_dimensions(merged: Merged, M: Matrix, names: Mapping[str, Expression]) -> dict[str, Dimension]:
    """The dimensions of the entries of M that have names."""
    kinds = [_plain(e).kind for e in _member_elements(merged)]
    pairs = (
        (entry, one, two) for one, row in zip(kinds, M, strict=True) for two, entry in zip(kinds, row, strict=True)
    )
    return {e.name: entry_dimension(a, b) for e, a, b in pairs if isinstance(e, Symbol) and e.name in names}


def named_inverse(merged: Merged, M: Matrix, names: Mapping[str, Expression]) -> tuple[Matrix, dict[str, Expression]]:
    """M^-1 over names for its long entries, which are parameters that move with the displacements."""
    graph = merged.found.causal.graph
    taken = {n for p in graph.ports for n in (p.across, p.through, p.state)}
    taken |= {*graph.moving, *graph.displacements, *(signal.name for signal in graph.signals), *names, TIME}
    named = Named("w", {*taken, *graph.parameters})
    n = len(M)
    found = solved_definite(M, _identity(n), named)
    assert found is not None, "the energy matrix of independent storages is regular"
    return found, named.where


def _identity(n: int) -> Matrix:
    return tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))


def _with_parameters(model: Model, names: Mapping[str, Expression], dimensions: Mapping[str, Dimension]) -> Model:
    made = {n: Parameter(n, e, dimensions.get(n)) for n, e in names.items()}
    return replace(model, parameters={**model.parameters, **made})


def _field_name(merged: Merged) -> str:
    return fresh("IC", {e.name for e in merged.found.model.elements} | set(merged.found.model.parameters))


def _momentum_name(merged: Merged, port: Element) -> str:
    model = merged.found.model
    letter = port.kind.domain.energy(port.kind.side).symbol
    return fresh(named_after(letter, port.name), {*model.parameters, *model.displacements, *model.signals})
