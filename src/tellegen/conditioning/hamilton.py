"""The port-Hamiltonian form of a model with dependent storages: x = (q, p), x' = (J - R) grad H + g u - f.

p = M z are the contents of the independent storages together with those that follow them, q the displacements, q' = Q z. Then

    J = [[0, Q], [-Q^T, S - A_w]],   R = [[0, 0], [0, A_s]],   g = [[0], [B]]

where S is the gyroscopic block of constraints that are not holonomic: without it the equations are those of another machine as soon
as the coordinates that the constraints read move.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.conditioning.constraints import ConstrainedModel
from tellegen.conditioning.fields import MergedStorages, merged_inertias, named_inverse, named_matrix
from tellegen.conditioning.opened_constraints import fresh_name
from tellegen.core.names import identifier
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus
from tellegen.expressions import HALF, ZERO, Expression, is_zero, symbol, to_python


@final
@dataclass(frozen=True)
class HamiltonForm:
    """States q and p, the energy H with its gradient, and the matrices J, R and g; `speeds` gives z by the states.

    `where` are names for entries of M and of its inverse, in order. `S` is the gyroscopic block, part of J. Where a storage follows
    a source, g_1 u' stands beside g u, and H leaves out what the sources give to such storages by themselves.
    """

    q: tuple[str, ...]
    p: tuple[str, ...]
    inputs: tuple[str, ...]
    energy: str
    H: Expression
    grad_H: Vector
    speeds: Mapping[str, Expression]
    J: Matrix
    R: Matrix
    g: Matrix
    S: Matrix
    f: Vector
    g_1: Matrix = ()
    where: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def holonomic(self) -> bool:
        """Whether the gyroscopic block vanishes."""
        return all(e is ZERO for row in self.S for e in row)

    def to_json(self) -> dict[str, object]:
        """The record of the form, with the keys of `derive --form ph --json`."""
        record: dict[str, object] = {
            "x": [identifier(name) for name in (*self.q, *self.p)],
            "H": to_python(self.H),
            "grad_H": [to_python(e) for e in self.grad_H],
            **{
                name: [[to_python(e) for e in row] for row in rows]
                for name, rows in (("J", self.J), ("R", self.R), ("g", self.g), ("gyroscopic", self.S))
            },
            "u": [identifier(name) for name in self.inputs],
            "speeds": {identifier(n): to_python(e) for n, e in self.speeds.items()},
            "where": {identifier(n): to_python(e) for n, e in self.where.items()},
        }
        if self.g_1:
            record["g_1"] = [[to_python(e) for e in row] for row in self.g_1]
        return record | ({"f": [to_python(e) for e in self.f]} if any(e is not ZERO for e in self.f) else {})


def hamilton_of(found: ConstrainedModel) -> HamiltonForm:
    """The form of a model whose storages are linear.

    Raises: ConditioningError (C104) for a storage with another law.
    """
    merged = merged_inertias(found.whole)
    M, names = named_matrix(merged)
    inverse, more = named_inverse(merged, M, names)
    system = found.system
    q = tuple(system.displacements)
    taken = {*found.model.parameters, *system.states, *q}
    p = tuple(fresh_name(f"p_{speed}", taken) for speed in merged.speeds)
    momenta = [symbol(name) for name in p]
    speeds = {z: dot(row, momenta) for z, row in zip(merged.speeds, inverse, strict=True)}
    slopes = merged.coordinate_slopes()
    S = merged.gyroscopic()
    A = tuple(tuple(found.written(e) for e in row) for row in system.matrices["A"])
    return HamiltonForm(
        q=q,
        p=p,
        inputs=system.inputs,
        energy=fresh_name("H", taken),
        H=HALF * dot(momenta, list(speeds.values())),
        grad_H=(*(-slopes[name] for name in q), *(symbol(name) for name in merged.speeds)),
        speeds=speeds,
        J=_interconnection(merged, plus(S, negative(_half(A, -1)))),
        R=_padded(_half(A, 1), len(q)),
        g=_below(len(q), _written(found, system.matrices["B"])),
        g_1=() if system.is_zero("B_1") else _below(len(q), _written(found, system.matrices["B_1"])),
        S=S,
        f=tuple(found.written(e) for e in system.vectors["f"]),
        where={**names, **more},
    )


def _interconnection(merged: MergedStorages, inner: Matrix) -> Matrix:
    """J from Q and from the block that couples momenta."""
    Q = merged.kinematics()
    count = len(Q)
    top = ((*(ZERO,) * count, *row) for row in Q)
    below = ((*(-Q[k][i] for k in range(count)), *row) for i, row in enumerate(inner))
    return (*top, *below)


def _padded(matrix: Matrix, count: int) -> Matrix:
    """The matrix with `count` rows and columns of zeros before it."""
    width = count + len(matrix)
    return (*((ZERO,) * width for _ in range(count)), *((*(ZERO,) * count, *row) for row in matrix))


def _below(count: int, matrix: Matrix) -> Matrix:
    """The matrix with `count` rows of zeros above it."""
    return (*((ZERO,) * len(row) for row in matrix[:1] for _ in range(count)), *matrix)


def _half(matrix: Matrix, sign: int) -> Matrix:
    n = range(len(matrix))
    return tuple(tuple(ZERO if is_zero(e := HALF * (matrix[i][j] + sign * matrix[j][i])) else e for j in n) for i in n)


def _written(found: ConstrainedModel, matrix: Matrix) -> Matrix:
    return tuple(tuple(found.written(e) for e in row) for row in matrix)
