"""Dependent storages merged with those they follow: x = T z, the matrix M = T^T L T, and what the motion of T adds.

The independent storages then form one field with M as its matrix, and the dependent ones are gone from the graph. With momenta
p = M z the equations p' = K z + (what the rest of the model gives) hold with K = T'^T L T, the C-part of an IC-field.
K = S + (the slope of the kinetic energy by the coordinates), where S is skew and vanishes for holonomic constraints.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import final

from tellegen.conditioning import rules
from tellegen.conditioning.constrained import Constrained, output_of
from tellegen.equations.congruence import Motion
from tellegen.equations.matrices import Matrix, Vector, congruent, dot
from tellegen.expressions import HALF, ONE, ZERO, Expression, is_zero, symbol, total
from tellegen.expressions.entries import substituted
from tellegen.graph import Port, StorageLaw


@final
@dataclass(frozen=True)
class Merged:
    """Ports of the independent storages that others follow (`members`), of those others, and what joins them."""

    found: Constrained
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
                    if a in order and b in order and entry is not ZERO:
                        entries[order[a], order[b]] = entry
        return entries

    @cached_property
    def M(self) -> Matrix:
        """The matrix of the field, T^T L T."""
        n = len(self.members)
        return congruent(self.T, self.energy, self.T, n, n)

    @cached_property
    def motion(self) -> Motion:
        """How expressions change along the motion."""
        return Motion(self.found.causal.graph.moving, self.found.system.displacements)

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
        """How a speed moves a coordinate."""
        return self.found.written(self.found.system.displacements[coordinate]).derivative(speed)

    def _slope(self, expression: Expression, coordinate: str) -> Expression:
        return substituted(expression, self._moving(expression)).derivative(coordinate)

    def _along(self, row: Vector, speed: str) -> list[Expression]:
        """The slopes of the entries of a row along the motion that one speed makes."""
        gains = {q: gain for q in self._coordinates if (gain := self._gain(q, speed)) is not ZERO}
        return [total(gain * self._slope(e, q) for q, gain in gains.items()) for e in row]

    def _moving(self, expression: Expression) -> dict[str, Expression]:
        moving = self.found.causal.graph.moving
        return dict(moving) if moving.keys() & expression.free_symbols else {}

    def _written(self, expression: Expression) -> Expression:
        return substituted(expression, self.motion.slopes)

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


def merge_dependent(found: Constrained) -> Merged:
    """The dependent storages that follow storages only, with all that they follow.

    Raises: ConditioningError (C102, C103) where there are none.
    """
    dependent = found.ports
    ports = found.causal.graph.ports
    reached = {j for d in found.causal.dependent if d.port in dependent for j in d.on if _stores(ports[j])}
    together = _with_fields(found, {*reached, *dependent})
    members = tuple(k for k in found.causal.integral if k in together)
    return Merged(found, members, tuple(k for k in found.causal.derivative if k in together))


def merged_inertias(found: Constrained) -> Merged:
    """All independent storages as members, whether others follow them or not."""
    return Merged(found, tuple(found.causal.integral), found.ports)


def _stores(port: Port) -> bool:
    return isinstance(port.law, StorageLaw)


def _with_fields(found: Constrained, ports: Iterable[int]) -> set[int]:
    """The ports with all members of the fields that they belong to."""
    together = set(ports)
    for field in found.causal.graph.fields:
        if together & set(field.ports):
            together |= set(field.ports)
    return together
