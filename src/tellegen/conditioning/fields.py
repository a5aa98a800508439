"""Dependent storages merged with those they follow: x = T z and M = T^T L T, as one field in the graph with speeds or momenta
as states.

The independent storages then form one field with M as its matrix, and the dependent ones are gone from the graph. With momenta
p = M z the equations p' = K z + (what the rest of the model gives) hold with K = T'^T L T, the C-part of an IC-field.
K = S + (the slope of the kinetic energy by the coordinates), where S is skew and vanishes for holonomic constraints.

Where a storage d follows another one by a constant, v_d = t_d v, the two take t_d (q_d(t_d v))' and q(v)': one storage with the
content q(v) + t_d q_d(t_d v) takes the same. So it is for capacitors beside each other, saturating coils in series and joined
bodies. No matrix tells that, and no formula gives v by the content, so that the state stays v.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from tellegen.conditioning import rules
from tellegen.conditioning.constraint_forces import EntryNames, solved_definite
from tellegen.conditioning.constraints import ConstrainedModel, output_of
from tellegen.conditioning.initial_states import InitialStates
from tellegen.conditioning.opened_constraints import formula_signal, fresh_name
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, listing, named_after
from tellegen.core.units import Dimension
from tellegen.elements import ElementKind, connection, kinds_of
from tellegen.equations.matrices import Matrix, Vector, congruent, dot
from tellegen.equations.storages import ParameterRates
from tellegen.expressions import HALF, ONE, ZERO, Expression, Mul, Symbol, is_zero, symbol, to_text, total
from tellegen.expressions.elimination import leaf_count, with_definitions
from tellegen.graph import Port, StorageLaw
from tellegen.model.laws import Law, MatrixField, Multiport
from tellegen.model.model import PART_OF, Element, Model, Parameter
from tellegen.notations.network.fields import energy_letters, entry_dimension


@final
@dataclass(frozen=True)
class MergedStorages:
    """Ports of the independent storages that others follow (`members`), of those others, and what joins them."""

    found: ConstrainedModel
    members: tuple[int, ...]
    dependent: tuple[int, ...]

    @property
    def _ports(self) -> tuple[Port, ...]:
        return self.found.causal.graph.ports

    @property
    def storages(self) -> tuple[int, ...]:
        """The ports of all storages that are merged, in the order of the rows of T."""
        return (*self.members, *self.dependent)

    def port(self, k: int) -> Port:
        """A port of the graph."""
        return self._ports[k]

    @cached_property
    def linear(self) -> bool:
        """Whether a matrix tells what the storages hold."""
        laws = (self._ports[k].law for k in self.storages)
        return all(isinstance(law, StorageLaw) and law.inertia is not None for law in laws)

    @cached_property
    def speeds(self) -> tuple[str, ...]:
        """The outputs of the members: generalised speeds."""
        return tuple(output_of(self._ports[k]) for k in self.members)

    @cached_property
    def T(self) -> Matrix:
        """The outputs of members and dependent storages by those of the members."""
        n = len(self.members)
        # Members first, then those that follow: the rows of T are in the order of `storages`.
        identity = tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
        rows = (self.found.written(self.found.system.dependent[output_of(self._ports[k])]) for k in self.dependent)
        return (*identity, *(tuple(row.derivative(name) for name in self.speeds) for row in rows))

    @cached_property
    def energy(self) -> dict[tuple[int, int], Expression]:
        """The energy matrix of members and dependent storages, by place in T."""
        order = {k: i for i, k in enumerate(self.storages)}
        entries = {(i, i): self._inertia(k) for k, i in order.items()}
        for field in self.found.causal.graph.fields:
            for a, row in zip(field.ports, field.matrix, strict=True):
                for b, entry in zip(field.ports, row, strict=True):
                    # Mutual entries between merged storages; the rest of a field is merged along with them.
                    if a in order and b in order and entry is not ZERO:
                        entries[order[a], order[b]] = entry
        return entries

    @cached_property
    def M(self) -> Matrix:
        """The matrix of the field, T^T L T."""
        n = len(self.members)
        return congruent(self.T, self.energy, self.T, n, n)

    @cached_property
    def motion(self) -> ParameterRates:
        """How expressions change along the motion."""
        return ParameterRates(self.found.causal.graph.position_dependent, self.found.system.displacements)

    @cached_property
    def K(self) -> Matrix:
        """T'^T L T, what the C-part of the field gives to the rates of the momenta."""
        n = len(self.members)
        rates = tuple(tuple(self._written(self.motion.rate_of(e)) for e in row) for row in self.T)
        return congruent(rates, self.energy, self.T, n, n)

    def c_part(self) -> Vector:
        """The efforts K z of the C-part."""
        z = [symbol(name) for name in self.speeds]
        return tuple(ZERO if is_zero(e) else e for e in (dot(row, z) for row in self.K))

    def coordinate_slopes(self) -> dict[str, Expression]:
        """The slope of the co-energy z^T M z/2 by each coordinate, the speeds being held."""
        z = [symbol(name) for name in self.speeds]
        # The co-energy: equal to the energy for linear storages, and a function of speeds, which the slopes hold fixed.
        energy = HALF * dot(z, [dot(row, z) for row in self.M])
        return {q: self._slope(energy, q) for q in self._coordinates}

    def kinematics(self) -> Matrix:
        """Q: the rates of the displacements by the speeds."""
        return tuple(tuple(self._gain(q, speed) for speed in self.speeds) for q in self._coordinates)

    def energy_slopes(self) -> Vector:
        """What canonical equations have in the place of K z: Q^T times the slopes by the coordinates."""
        slopes = self.coordinate_slopes()
        found = (total(self._gain(q, name) * slope for q, slope in slopes.items()) for name in self.speeds)
        return tuple(ZERO if is_zero(e) else e for e in found)

    def gyroscopic(self) -> Matrix:
        """S: skew, linear in the speeds, zero where the constraints are holonomic.

        S_ij = sum of p_d (dT_di/dq_k Q_kj - dT_dj/dq_k Q_ki) over dependent storages d and coordinates k, with q' = Q z and the
        momenta p_d = (L T z)_d.
        """
        n = len(self.members)
        z = [symbol(name) for name in self.speeds]
        x = [dot(row, z) for row in self.T]
        # p_d = (L T z)_d, so that S is linear in the speeds.
        momenta = [total(e * x[b] for (a, b), e in self.energy.items() if a == d) for d in range(len(self.T))]
        along = [[self._along(row, z_j) for z_j in self.speeds] for row in self.T]  # [d][j][i] = dT_di/dq_k Q_kj
        found: list[list[Expression]] = [[ZERO] * n for _ in range(n)]
        for i in range(n):
            for j in range(i):
                shares = (p * (along[d][j][i] - along[d][i][j]) for d, p in enumerate(momenta))
                entry = total(shares)
                if not is_zero(entry):
                    found[i][j], found[j][i] = entry, -entry
        return tuple(map(tuple, found))

    # -- derivatives -----------------------------------------------------------------------------------------------------------

    @cached_property
    def _coordinates(self) -> tuple[str, ...]:
        return tuple(self.found.system.displacements)

    def _gain(self, coordinate: str, speed: str) -> Expression:
        return self.found.written(self.found.system.displacements[coordinate]).derivative(speed)

    def _slope(self, expression: Expression, coordinate: str) -> Expression:
        # Moving parameters are written out, or they would look constant to the derivative.
        return with_definitions(expression, self._moving(expression)).derivative(coordinate)

    def _along(self, row: Vector, speed: str) -> list[Expression]:
        """The slopes of the entries of a row along the motion that one speed makes."""
        gains = {q: gain for q in self._coordinates if (gain := self._gain(q, speed)) is not ZERO}
        return [total(gain * self._slope(e, q) for q, gain in gains.items()) for e in row]

    def _moving(self, expression: Expression) -> dict[str, Expression]:
        moving = self.found.causal.graph.position_dependent
        return dict(moving) if moving.keys() & expression.free_symbols else {}

    def _written(self, expression: Expression) -> Expression:
        return with_definitions(expression, self.motion.slopes)

    def _inertia(self, k: int) -> Expression:
        port = self._ports[k]
        law = port.law
        assert isinstance(law, StorageLaw), f"'{port.element}' stores nothing"
        if law.inertia is None:
            raise rules.NOT_LINEAR.error(
                f"'{port.element}' has a law that is not linear, so it cannot be merged with the storages around it",
                where=port.element,
                fix="choose the form derivative, residual or parasitic, or field where each storage follows one other",
                place=port.place,
            )
        return law.inertia


def merge_dependent(found: ConstrainedModel) -> MergedStorages:
    """The dependent storages that follow storages only, with all that they follow.

    Raises: ConditioningError (C102, C103) where there are none, C104 where they follow by what is no position.
    """
    dependent = found.ports
    ports = found.causal.graph.ports
    reached = {
        j for d in found.causal.dependent if d.port in dependent for j in d.on if isinstance(ports[j].law, StorageLaw)
    }
    # A field cannot be taken apart: whoever merges one of its members merges all.
    together = _with_fields(found, {*reached, *dependent})
    members = tuple(k for k in found.causal.integral if k in together)
    merged = MergedStorages(found, members, tuple(k for k in found.causal.derivative if k in together))
    # The entries of a mass matrix are parameters, and these may move with positions, not with speeds or signals.
    still = {*found.model.parameters, *found.causal.graph.position_dependent, *found.system.displacements}
    for k, row in zip(merged.storages, merged.T, strict=True):
        if read := {name for e in row for name in e.free_symbols} - still:
            raise _not_linear(merged.port(k), f"and follows others by what reads {listing(sorted(read))}")
    return merged


def merged_inertias(found: ConstrainedModel) -> MergedStorages:
    """All independent storages as members, whether others follow them or not."""
    return MergedStorages(found, tuple(found.causal.integral), found.ports)


def _with_fields(found: ConstrainedModel, ports: Iterable[int]) -> set[int]:
    """The ports with all members of the fields that they belong to."""
    together = set(ports)
    for field in found.causal.graph.fields:
        if together & set(field.ports):
            together |= set(field.ports)
    return together


def without_law_letters(
    matrix: Matrix, names: Mapping[str, Expression], kinds: Sequence[ElementKind], parameters: Iterable[str]
) -> tuple[Matrix, dict[str, Expression]]:
    """The matrix of a law without names that its letters have, and `names` with those that stand there instead.

    `kinds` are those of the ports; letters of fields carry the number of the port.
    """
    letters = {letter for kind in kinds for letter in _letters(kind)}
    # A name such as p_1 in the matrix would be read as the momentum of port 1.
    letters |= {f"{letter}_{k}" for letter in letters for k in range(1, len(kinds) + 1)}
    used = {name for row in matrix for e in row for name in e.free_symbols}
    taken = {*names, *used, *letters, *parameters}
    others = {name: fresh_name(f"{name}_value", taken) for name in sorted(used & letters)}
    renamed = {name: symbol(other) for name, other in others.items()}
    apart = tuple(tuple(e.substitute(renamed) for e in row) for row in matrix)
    return apart, {**names, **{other: symbol(name) for name, other in others.items()}}


def _letters(kind: ElementKind) -> Iterator[str]:
    """What laws call the variables of an element."""
    sides: tuple[Side, Side] = ("across", "through")
    for side in sides:
        yield side
        yield from kind.domain.power(side).letters
    yield from kind.domain.energy(kind.side).letters


_FLAT = str.maketrans({".": "_", "[": "_", "]": "", ",": "_"})

SHORT = 2
"""Entries of the matrix of a field with more leaves than this get a name."""


@final
@dataclass(frozen=True)
class FieldModel:
    """The model with a field, and where its states start."""

    model: Model
    starts: InitialStates


def speed_field(merged: MergedStorages, efforts: Sequence[Expression]) -> FieldModel:
    """The model with a field whose matrix is M and whose states are speeds; `efforts` act on its members beside the network."""
    members = _member_elements(merged)
    M, names = named_matrix(merged)
    changed = {e.name: replace(port_of_field(merged, i), value=M[i][i], law=None) for i, e in enumerate(members)}
    field = MatrixField(_field_name(merged), tuple(e.name for e in changed.values()), M)
    dimensions = _entry_dimensions(merged, M, names)
    model = _with_parameters(_with_field(merged, changed, field), names, dimensions)
    return FieldModel(with_efforts(model, merged, efforts), InitialStates())


def momentum_field(merged: MergedStorages, efforts: Sequence[Expression]) -> FieldModel:
    """The model with a field whose energy is p^T M^-1 p/2 and whose states are momenta p."""
    members = _member_elements(merged)
    M, names = named_matrix(merged)
    kinds = [_plain(e).kind for e in members]
    inverse, more = without_law_letters(*named_inverse(merged, M, names), kinds, merged.found.causal.graph.parameters)
    letters = energy_letters(kinds)
    # A law of one port has the letter without a number.
    if len(members) == 1:
        letters = (kinds[0].domain.energy(kinds[0].side).letters[0],)
    p = [symbol(letter) for letter in letters]
    changed: dict[str, Element] = {}
    states: list[str] = []
    for i, element in enumerate(members):
        output = dot(inverse[i], p)
        # Each port has its own law, which a file can say; the energy of the field is what the laws come from.
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
    # p = M z at the start, with the speeds that the user gave.
    starts = InitialStates({state: dot(row, z) for state, row in zip(states, merged.M, strict=True)}, merged.speeds)
    return FieldModel(with_efforts(model, merged, efforts), starts)


def with_gyrators(model: Model, merged: MergedStorages, S: Matrix) -> Model:
    """The model with a gyrator between each two members that S couples: power passes, none is made."""
    members = _member_elements(merged)
    elements = list(model.elements)
    signals = dict(model.signals)
    for i, one in enumerate(members):
        for j in range(i):
            # Each pair has its own gyrator: what one member gets by it the other gives.
            if S[i][j] is not ZERO:  # the modulus reads speeds, so it is a signal
                gyrator = _gyrator(one, members[j])
                modulus = f"{gyrator.name}_modulus"
                signals[modulus] = formula_signal(modulus, -S[i][j])
                elements.append(gyrator)
    return replace(model, elements=tuple(elements), signals=signals)


def with_efforts(model: Model, merged: MergedStorages, efforts: Sequence[Expression]) -> Model:
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
    # A force acts beside a mass; the velocity that a spring gets stands in series with it.
    if member.kind.side == "across":
        nodes = (member.nodes[1], member.nodes[0])
        return [*elements, Element(name, kind, nodes, signal=effort, notes=port.notes)]
    inner = fresh_name(f"{member.nodes[0]}_{name}", {n for e in elements for n in e.nodes})
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


def _with_field(merged: MergedStorages, changed: Mapping[str, Element], field: MatrixField) -> Model:
    """The model with changed members that a matrix couples, and without fields that are now part of this."""
    ports = merged.found.causal.graph.ports
    gone = {ports[k].element for k in merged.storages}
    model = with_members(merged, changed)
    others = tuple(f for f in model.fields if gone.isdisjoint(f.members))
    # A field of one member would be an element with a matrix of one entry.
    joined = (field,) if len(field.members) > 1 else ()  # one member with its own law needs no matrix
    return replace(model, fields=(*others, *joined))


def with_members(merged: MergedStorages, changed: Mapping[str, Element]) -> Model:
    """The model with changed members, and sensors for the storages that follow them."""
    model, ports = merged.found.model, merged.found.causal.graph.ports
    following = {ports[k].element: output_of(ports[k]) for k in merged.dependent}
    elements = []
    for element in model.elements:
        # The storage has moved into the field; its speed is still read by others, so a sensor stays in its place.
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
        # At most one: domains without such an element have no sensor, and the output becomes a signal.
        Element(output, kind, element.nodes, value=ZERO, variables={side: output}, notes=notes)
        for kind in kinds[:1]
    ]


def _member_elements(merged: MergedStorages) -> list[Element]:
    ports = merged.found.causal.graph.ports
    return [merged.found.elements[ports[k].element] for k in merged.members]


def port_of_field(merged: MergedStorages, i: int) -> Element:
    """The port of the field at the place of a member, with a name of its own: what it takes and holds is the field's.

    What it decides keeps the name that the member had for it.
    """
    element, field = _member_elements(merged)[i], _field_name(merged)
    taken = {e.name for e in merged.found.model.elements} | {*merged.found.model.parameters}
    # What the port takes and holds is that of the field, so it must not have the name of the old storage.
    name = fresh_name(f"{field}_{element.name.translate(_FLAT)}", taken)
    variables: dict[str, str] = {element.kind.side: merged.speeds[i]}
    return replace(_plain(element), name=name, variables=variables, notes={**element.notes, PART_OF: field})


def _plain(element: Element) -> Element:
    """The element with a kind whose parameter multiplies: a compliance for a spring, a mass for a point without any."""
    if not (element.kind.inverse or element.kind.weightless):
        return element
    kinds = [k for k in kinds_of(element.kind.domains[0], "storage") if k.side == element.kind.side]
    kind = next(k for k in kinds if not (k.inverse or k.energy or k.weightless))
    return replace(element, kind=kind)


def named_matrix(merged: MergedStorages) -> tuple[Matrix, dict[str, Expression]]:
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
                name = fresh_name(f"M_{j + 1}_{i + 1}", taken)
                names[name], entry = entry, symbol(name)
            # A symmetric matrix with one name for both entries is seen to be symmetric by everything after it.
            rows[i][j] = rows[j][i] = entry
    return tuple(map(tuple, rows)), names


def _is_short(entry: Expression) -> bool:
    """Whether an entry needs no name; a factor that is a number may stand for a length, so that its unit would be lost."""
    return leaf_count(entry) <= SHORT and not (isinstance(entry, Mul) and entry.coefficient not in (1, -1))


def _entry_dimensions(merged: MergedStorages, M: Matrix, names: Mapping[str, Expression]) -> dict[str, Dimension]:
    """The dimensions of the entries of M that have names."""
    kinds = [_plain(e).kind for e in _member_elements(merged)]
    pairs = (
        (entry, one, two) for one, row in zip(kinds, M, strict=True) for two, entry in zip(kinds, row, strict=True)
    )
    return {e.name: entry_dimension(a, b) for e, a, b in pairs if isinstance(e, Symbol) and e.name in names}


def named_inverse(
    merged: MergedStorages, M: Matrix, names: Mapping[str, Expression]
) -> tuple[Matrix, dict[str, Expression]]:
    """M^-1 over names for its long entries, which are parameters that move with the displacements."""
    graph = merged.found.causal.graph
    taken = {n for p in graph.ports for n in (p.across, p.through, p.state)}
    taken |= {*graph.position_dependent, *graph.displacements, *(signal.name for signal in graph.signals), *names, TIME}
    named = EntryNames("w", {*taken, *graph.parameters})
    n = len(M)
    found = solved_definite(M, _identity(n), named)
    assert found is not None, "the energy matrix of independent storages is regular"
    return found, named.where


def _identity(n: int) -> Matrix:
    return tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))


def _with_parameters(model: Model, names: Mapping[str, Expression], dimensions: Mapping[str, Dimension]) -> Model:
    made = {n: Parameter(n, e, dimensions.get(n)) for n, e in names.items()}
    return replace(model, parameters={**model.parameters, **made})


def _field_name(merged: MergedStorages) -> str:
    return fresh_name("IC", {e.name for e in merged.found.model.elements} | set(merged.found.model.parameters))


def _momentum_name(merged: MergedStorages, port: Element) -> str:
    model = merged.found.model
    letter = port.kind.domain.energy(port.kind.side).symbol
    return fresh_name(named_after(letter, port.name), {*model.parameters, *model.displacements, *model.signals})


def joined_field(merged: MergedStorages) -> FieldModel:
    """The model with one storage for each that others follow, with the sum of their contents.

    Raises: ConditioningError (C104) where a storage follows several others, or by what moves, or its law has no content.
    """
    _refuse(merged)
    changed = {merged.port(k).element: _joined(merged, i) for i, k in enumerate(merged.members)}
    return FieldModel(with_members(merged, changed), InitialStates())


def contents(merged: MergedStorages) -> Mapping[str, Expression]:
    """What each joined storage keeps, by its output; those whose kind says their energy are left out."""
    kept = {i for i in range(len(merged.speeds)) if all(_is_kept(merged, d) for d, _ in _group(merged, i))}
    return {z: total(_shares(merged, i, symbol(z))) for i, z in enumerate(merged.speeds) if i not in kept}


def _joined(merged: MergedStorages, i: int) -> Element:
    """The storage in the place of a member and of those that follow it."""
    port, speed = port_of_field(merged, i), merged.speeds[i]
    # Entropy capacities in proportion: their values add, and no law is needed.
    if all(_is_kept(merged, d) for d, _ in _group(merged, i)):
        values = [merged.found.elements[merged.port(merged.storages[d]).element].value for d, _ in _group(merged, i)]
        return replace(port, value=total(value for value in values if value is not None))
    content = total(_shares(merged, i, symbol(speed)))
    letter = port.kind.domain.energy(port.kind.side).letters[0]
    law = Law("content", speed, content, port.kind.side, f"{letter} = {to_text(content)}")
    return replace(port, value=None, law=law)


def _group(merged: MergedStorages, i: int) -> Iterator[tuple[int, Expression]]:
    """The places of a member and of those that follow it, each with its factor."""
    return ((d, row[i]) for d, row in enumerate(merged.T) if row[i] is not ZERO)


def _shares(merged: MergedStorages, i: int, z: Expression) -> Iterator[Expression]:
    for d, factor in _group(merged, i):
        port = merged.port(merged.storages[d])
        assert isinstance(port.law, StorageLaw), "only storages follow others"
        content = port.law.content_at(factor * z)
        if content is None or port.law.output is not None:
            raise _not_linear(port, "whose law gives no content by what it decides")
        yield factor * content


def _is_kept(merged: MergedStorages, d: int) -> bool:
    """Whether a storage is of a kind that says its energy, in proportion to its value: an entropy capacity."""
    element = merged.found.elements[merged.port(merged.storages[d]).element]
    return bool(element.kind.energy) and element.value is not None


def _refuse(merged: MergedStorages) -> None:
    moving = {
        *merged.found.system.displacements,
        *merged.found.causal.graph.position_dependent,
        *merged.found.system.states,
    }
    coupled = {k for field in merged.found.causal.graph.fields for k in field.ports}
    for d, (k, row) in enumerate(zip(merged.storages, merged.T, strict=True)):
        factors = [e for e in row if e is not ZERO]
        # One storage in the place of several needs one variable that all of them follow.
        if len(factors) != 1:
            raise _not_linear(merged.port(k), "and follows several others")
        if moving & factors[0].free_symbols:
            raise _not_linear(merged.port(k), "and follows others by what moves")
        # A proportional capacity that follows by a ratio would be of another kind.
        if k in coupled or (_is_kept(merged, d) and factors[0] is not ONE):
            raise _not_linear(merged.port(k), "and shares a field with others")


def _not_linear(port: Port, why: str) -> TellegenError:
    return rules.NOT_LINEAR.error(
        f"'{port.element}' is among storages that are not linear, {why}, so that they have no law in common",
        where=port.element,
        fix="choose the form derivative, residual or parasitic",
        place=port.place,
    )
