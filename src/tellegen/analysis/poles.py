"""Poles and zeros: natural frequencies, damping and time constants, and frequencies at which a model passes nothing; for models
of any size on the sparse descriptor form. What structure allows: states that inputs reach and outputs show, and passivity.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import numpy.typing as npt
import scipy  # its parts, a fifth of the start of a report, are loaded where they are first used

from tellegen.analysis import rules
from tellegen.analysis.linear_model import Array, ComplexArray, LinearModel, StateSpace, energy_coordinates
from tellegen.equations.forms.descriptor import DescriptorSystem
from tellegen.equations.rules import NOT_LINEAR
from tellegen.expressions import Expression

INTEGRATOR_SHARE = 1e-9
"""A pole nearer to zero than this share of the fastest one counts as an integrator."""


@final
@dataclass(frozen=True, slots=True)
class Pole:
    """A pole, or a pair of conjugate ones (`value` is the one above the real axis)."""

    value: complex

    @property
    def is_pair(self) -> bool:
        """Whether it stands for two conjugate poles."""
        return self.value.imag != 0.0

    @property
    def natural_frequency(self) -> float:
        """Its distance from the origin, in rad/s."""
        return abs(self.value)

    @property
    def damping(self) -> float:
        """The damping ratio: 1 without oscillation, 0 without decay, negative where it grows; 1 for an integrator."""
        return 1.0 if self.value == 0 else -self.value.real / abs(self.value)

    @property
    def time_constant(self) -> float:
        """In which time it decays to 1/e, in s; infinite where it does not decay."""
        return -1.0 / self.value.real if self.value.real < 0 else math.inf


def poles(model: LinearModel) -> tuple[Pole, ...]:
    """The poles, slowest first; of a conjugate pair the one above the real axis.

    Raises: EquationError (E202) when the energy matrix is singular.
    """
    return conjugate_pairs(np.linalg.eigvals(energy_coordinates(model).A)) if model.states else ()


def loop_poles(model: LinearModel) -> tuple[Pole, ...]:
    """The poles of a closed loop, whose L need not be symmetric: controllers store no energy.

    Raises: EquationError (E202) when L is singular.
    """
    if not model.states:
        return ()
    try:
        return conjugate_pairs(np.linalg.eigvals(-np.linalg.solve(model.L, model.A)))
    except np.linalg.LinAlgError:
        raise rules.SINGULAR_STORAGE.error(
            "L of the closed loop is singular", where=model.name, fix="give the states without energy a small storage"
        ) from None


def stiffness_ratio(found: tuple[Pole, ...]) -> float:
    """How much faster the fastest decay is than the slowest, integrators left out; 1 where there is nothing to compare."""
    fastest = max((pole.natural_frequency for pole in found), default=0.0)
    # An integrator does not decay at all: counted in, every model with a position would be infinitely stiff.
    rates = [-p.value.real for p in found if p.value.real < -INTEGRATOR_SHARE * fastest]
    return max(rates) / min(rates) if rates else 1.0


def conjugate_pairs(values: npt.ArrayLike) -> tuple[Pole, ...]:
    """Eigenvalues as poles: tiny ones are zero, tiny imaginary parts are none, conjugates are one."""
    found = np.asarray(values, dtype=complex)
    size = np.abs(found).max(initial=0.0)
    found = np.where(np.abs(found) < INTEGRATOR_SHARE * size * 1e-3, 0.0, found)
    # + 0.0: no negative zeros, which print as -0.
    kept = [complex(v.real + 0.0, v.imag) for v in found if v.imag >= 0.0]
    return tuple(Pole(v) for v in sorted(kept, key=lambda v: (abs(v), v.imag)))


# Well above rounding, and far below what a physical coupling amounts to in energy coordinates.
RANK = 1e-10
"""Singular values below this share of the largest count as zero."""

ROUNDING = 8 * float(np.finfo(float).eps)
"""A zero below this share of the speed of the model, for each state, lies in the origin."""


def zeros(model: LinearModel, output: str | None = None, input_: str | None = None) -> tuple[Pole, ...]:
    """The zeros of a channel, or where no channel is named the transmission zeros of the whole model; nearest to 0 first.

    They are the finite generalised eigenvalues of [[-A - s L, B + s B_1], [C, D + s D_1]]. Zeros at infinity are taken off by
    orthogonal transformations first (Emami-Naeini and Van Dooren, Automatica 18, 1982), because a plain solver finds them as
    large numbers that mean nothing. Zeros have the attributes of poles.

    Raises: EquationError when there is no such channel (E204), or the energy matrix is singular (E202).
    """
    if not model.inputs or not model.outputs:
        return ()
    one = output is not None or input_ is not None
    # Detectors would make the whole model non-square: its transmission zeros are those of its power ports.
    space = energy_coordinates(model if one else model.conjugate())
    if output is not None or input_ is not None:
        row, column = model.channel(output or model.outputs[0], input_ or model.inputs[0])
        space = channel(space, row, column)
    return conjugate_pairs(_zeros_with_derivatives(space) if space.D_1.any() else _zeros(space))


def channel(space: StateSpace, row: int, column: int) -> StateSpace:
    """The model from one input to one output."""
    rows, columns = slice(row, row + 1), slice(column, column + 1)
    return replace(
        space,
        B=space.B[:, columns],
        C=space.C[rows],
        D=space.D[rows, columns],
        D_1=space.D_1[rows, columns],
        shift=space.shift[:, columns],
    )


def _zeros(space: StateSpace) -> Array:
    speed = np.linalg.norm(space.A, 2) or 1.0 if space.A.size else 1.0
    B, C, D = space.B / speed, space.C, space.D
    # Inputs and outputs may be measured in any units: columns and rows of size one make ranks comparable.
    B, D = _columns_scaled(B, D)
    C, D = (part.T for part in _columns_scaled(C.T, D.T))
    A = space.A / speed
    A, B, C, D = _without_infinite(A, B, C, D)
    # Once for rows, once for columns: then D is square and regular, and what remains are the finite zeros.
    A, C, B, D = (part.T for part in _without_infinite(A.T, C.T, B.T, D.T))
    if not A.size or D.shape[0] != D.shape[1]:
        return np.zeros(0)
    inside = A - B @ np.linalg.solve(D, C) if D.size else A
    found = np.linalg.eigvals(inside)
    # A zero at rest is a statement about physics, such as a capacitor in series: it must not come out as 1e-17.
    found[np.abs(found) <= ROUNDING * len(A) * max(1.0, float(np.linalg.norm(inside, 2)))] = 0.0
    return np.asarray(found * speed)


def _columns_scaled(B: Array, D: Array) -> tuple[Array, Array]:
    size = np.sqrt((B**2).sum(axis=0) + (D**2).sum(axis=0))
    size[size == 0] = 1.0
    return B / size, D / size


def _without_infinite(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """A system with the same finite zeros whose D has full row rank."""
    while True:
        U, sizes, _ = np.linalg.svd(D)
        rank = _rank(sizes)
        C, D = U.T @ C, U.T @ D
        free, C, D = C[rank:], C[:rank], D[:rank]
        if not free.size:
            return A, B, C, D
        _, sizes, V = np.linalg.svd(free)
        fixed = _rank(sizes)
        # Nothing is held at zero any more: free outputs that see no state vanish by themselves.
        if fixed == 0:
            return A, B, C, D
        # States that these outputs hold at zero: what would move them must vanish too, and becomes an output.
        turn = np.vstack([V[fixed:], V[:fixed]]).T
        n = A.shape[0] - fixed
        A, B, C = turn.T @ A @ turn, turn.T @ B, C @ turn
        C, D = np.vstack([C[:, :n], A[n:, :n]]), np.vstack([D, B[n:]])
        A, B = A[:n, :n], B[:n]


def _rank(sizes: Array) -> int:
    return int((sizes > RANK).sum())


def _zeros_with_derivatives(space: StateSpace) -> Array:
    """Where D_1 is not zero the pencil is used as it is, and what lies far beyond all its entries is left out."""
    n, m = space.A.shape[0], space.D.shape[1]
    fixed = np.block([[space.A, space.B], [space.C, space.D]])
    moving = np.block([[np.eye(n), np.zeros((n, m))], [np.zeros((m, n)), -space.D_1]])
    # As pairs (alpha, beta): a quotient of two roundings would be a zero anywhere.
    above, below = scipy.linalg.eig(fixed, moving, right=False, homogeneous_eigvals=True)
    finite = np.abs(below) > RANK * np.abs(above)
    return np.asarray(above[finite] / below[finite])


FEW = 40
"""Up to so many unknowns all eigenvalues are computed and the nearest taken."""


def poles_near(system: DescriptorSystem, *, near: complex = 0.0, count: int = 12) -> tuple[Pole, ...]:
    """The poles nearest to a point, nearest first; of a conjugate pair the one above the real axis.

    `system` is the descriptor form with numbers: `derive(model, form="dae", numeric=True)`.

    Raises: EquationError when the model is not linear (E104), when the point is a pole or the search fails (E205).
    """
    _refuse_nonlinear(system)
    size = len(system.unknowns)
    E, F = _matrix(system.E, size, size), _matrix(system.F, size, size)
    try:
        factors = scipy.sparse.linalg.splu(scipy.sparse.csc_array(F - near * E if near else F))
    except RuntimeError:
        fix = f"ask near another point, such as {complex(near).real + 1.0:g}"
        raise rules.NO_CONVERGENCE.error(f"{near:g} is a pole of '{system.name}'", where=system.name, fix=fix) from None
    kind = complex if complex(near).imag else float
    # In (F - s E)^-1 E an eigenvalue of the pencil nearest to s is the largest, and algebraic equations are zeros.
    # ARPACK wants fewer eigenvalues than the size by two at least, and gains nothing on small matrices.
    if size <= FEW:
        inverse = np.linalg.eigvals(factors.solve(E.toarray().astype(kind)))
    else:
        shifted = scipy.sparse.linalg.LinearOperator((size, size), lambda v: factors.solve(E @ v), dtype=kind)
        inverse = _largest(shifted, count, system.name)
    # Algebraic equations give eigenvalues at infinity, which are zeros of the inverse.
    dynamic = inverse[np.abs(inverse) > 1e-10 * np.abs(inverse).max(initial=0.0)]
    # Back from the shifted inverse to poles.
    found = sorted((complex(near + 1.0 / v) for v in dynamic), key=lambda v: abs(v - near))
    return tuple(Pole(v) for v in found if v.imag >= 0.0 or complex(near).imag)[:count]


def frequency_response(system: DescriptorSystem, frequencies: Array) -> ComplexArray:
    """G(j w) at frequencies in rad/s: an array over frequency, output and input.

    Raises: EquationError (E104) when the model is not linear.
    """
    _refuse_nonlinear(system)
    size, inputs, outputs = len(system.unknowns), len(system.inputs), len(system.outputs)
    E, F, G = (_matrix(m, size, k) for m, k in ((system.E, size), (system.F, size), (system.G, inputs)))
    H, D = _matrix(system.H, outputs, size), _matrix(system.D, outputs, inputs)
    right = G.toarray().astype(complex)
    factors = (scipy.sparse.linalg.splu(scipy.sparse.csc_array(1j * w * E - F)) for w in frequencies)
    found = [H @ each.solve(right) + D.toarray() for each in factors]
    return np.array(found, dtype=complex).reshape(len(frequencies), outputs, inputs)


def _largest(operator: "scipy.sparse.linalg.LinearOperator", count: int, name: str) -> ComplexArray:
    size = operator.shape[0]
    try:
        # Twice as many as asked for: of each pair of conjugate poles only one is shown.
        return np.asarray(
            scipy.sparse.linalg.eigs(operator, k=min(2 * count, size - 2), which="LM", return_eigenvectors=False)
        )
    except scipy.sparse.linalg.ArpackError as reason:
        what = f"the {count} poles of '{name}' were not found"
        raise rules.NO_CONVERGENCE.error(what, where=name, why=str(reason), fix="ask for fewer poles") from reason


def _matrix(entries: Mapping[tuple[int, int], Expression], rows: int, columns: int) -> "scipy.sparse.csc_array":
    values = [e.evaluate({}) for e in entries.values()]
    places = [k for k, _ in entries], [k for _, k in entries]
    return scipy.sparse.csc_array(scipy.sparse.coo_array((values, places), shape=(rows, columns), dtype=float))


def is_linear(system: DescriptorSystem) -> bool:
    """Whether a descriptor form with numbers has constant coefficients alone."""
    # Coefficients that depend on the state too, as where the heat of a loss goes on at a temperature.
    entries = (e for m in (system.E, system.F, system.G, system.H, system.D) for e in m.values())
    return not system.h and not any(e.free_symbols for e in entries)


def _refuse_nonlinear(system: DescriptorSystem) -> None:
    if not is_linear(system):
        fix = "linearise it at an operating point first"
        raise NOT_LINEAR.error(f"'{system.name}' is not linear", where=system.name, fix=fix)


MARGIN = 100.0
"""A direction counts as reached when it is so many times larger than its rounding errors."""

PASSIVE_ROUNDING = 1e-11
"""How negative an eigenvalue of a passive model may come out, in the scale of its rates."""

FREQUENCIES = 400
"""At so many frequencies, from far below the slowest rate to far above the fastest, the power through the ports is looked at."""

STILL = 1e-14
"""Directions that change at less than this share of the fastest rate drive nothing."""


@final
@dataclass(frozen=True, slots=True)
class Reach:
    """How many of the states are reached (or seen), and the poles that are not."""

    rank: int
    states: int
    missed: tuple[Pole, ...]

    @property
    def complete(self) -> bool:
        """Whether all states are."""
        return self.rank == self.states


@final
@dataclass(frozen=True, slots=True)
class Passivity:
    """Whether a model can only store and lose: W, the symmetric part of [[A, -B], [C, D]], has no negative eigenvalue.

    `passive` is None where W does not decide: models with displacements, or with derivatives of inputs, and tangents of nonlinear
    models, whose L need not be their energy, where no frequency shows that the ports give power. `smallest` is the smallest
    eigenvalue of W in energy coordinates, relative to the rates of the model.
    """

    passive: bool | None
    smallest: float


def controllability(model: LinearModel) -> Reach:
    """How much of the state the inputs reach together."""
    space = energy_coordinates(model)
    return _reach(space.A, space.B)


def observability(model: LinearModel) -> Reach:
    """How much of the state the outputs show together."""
    space = energy_coordinates(model)
    return _reach(space.A.T, space.C.T)


def passivity(model: LinearModel) -> Passivity:
    """The dissipation test that holds for every passive linear model in the POG form; detectors take no part in it."""
    model = model.conjugate()
    space = energy_coordinates(model)
    speed = float(np.linalg.norm(space.A, 2)) if space.A.size else 1.0
    # A congruent change of units keeps the signs of eigenvalues: each input is measured by what it drives.
    unit = np.linalg.norm(np.vstack([space.B, space.C.T]), axis=0) if len(space.A) else np.zeros(len(space.D))
    # An input that drives no state, only an output, is measured by D; one that does nothing by one.
    unit = np.where(unit > 0, unit, np.sqrt(np.abs(space.D).max(axis=0, initial=0.0)))
    unit = np.where(unit > 0, unit, 1.0)
    B, C = -space.B / unit, (space.C.T / unit).T
    W = np.block([[-space.A / (speed or 1.0), B], [C, space.D / np.outer(unit, unit) * (speed or 1.0)]])
    smallest = float(np.linalg.eigvalsh((W + W.T) / 2)[0]) if len(W) else 0.0
    # W is the dissipation of energy stored in the states; displacements and rates of inputs are not among them.
    if model.displacements or model.B_1.any() or model.D_1.any():
        return Passivity(None, smallest)
    if smallest >= -PASSIVE_ROUNDING * len(W):
        return Passivity(True, smallest)
    # A tangent may store energy that its L does not count: only power that comes out somewhere proves anything.
    return Passivity(None if model.point and not _gives_power(space) else False, smallest)


def _gives_power(space: StateSpace) -> bool:
    """Whether the model grows by itself, or its ports give more than they take at some frequency."""
    poles = np.linalg.eigvals(space.A)
    speeds = np.abs(poles)
    fastest = float(speeds.max(initial=1.0))
    if poles.real.max(initial=0.0) > PASSIVE_ROUNDING * fastest:
        return True
    if not len(space.D):
        return False
    slowest = float(speeds[speeds > STILL * fastest].min(initial=fastest))
    # Positive realness is asked frequency by frequency: G + G^H must have no negative eigenvalue.
    for omega in np.geomspace(1e-3 * slowest, 1e3 * fastest, FREQUENCIES):
        response = space.D + space.C @ np.linalg.solve(1j * omega * np.eye(len(space.A)) - space.A, space.B)
        if np.linalg.eigvalsh(response + response.conj().T)[0] < -PASSIVE_ROUNDING * np.linalg.norm(response, 2):
            return True
    return False


def _reach(A: Array, B: Array) -> Reach:
    """The space that B and all A^k B span, built direction by direction (a staircase; powers of A would lose digits)."""
    n = len(A)
    speed = float(np.linalg.norm(A, 2)) if n else 1.0
    basis = np.zeros((n, 0))
    # Columns of one length: how strong an input is does not matter for what it reaches.
    new = _unit_columns(B, 0.0)
    noise = max(n, 1) * float(np.finfo(float).eps)
    while new.size:
        for _ in range(2):  # once is not enough when the new directions almost lie in the old ones
            new = new - basis @ (basis.T @ new)
        U, found, _ = np.linalg.svd(new, full_matrices=False)
        kept = found > MARGIN * noise
        directions = U[:, kept]
        # A direction that hangs on by little carries the rounding of the whole, magnified.
        noise = min(noise / found[kept].min(initial=1.0), 1.0)
        basis = np.hstack([basis, directions])
        new = _unit_columns(A @ directions, STILL * speed)
    rank = basis.shape[1]
    # The complement is invariant under the transposed map: its eigenvalues are the poles that are not reached.
    rest = np.linalg.svd(basis)[0][:, rank:] if rank else np.eye(n)
    missed = conjugate_pairs(np.linalg.eigvals(rest.T @ A @ rest)) if rank < n else ()
    return Reach(rank, n, missed)


def _unit_columns(columns: Array, least: float) -> Array:
    """The columns with length one; those shorter than `least` are zero."""
    sizes = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(sizes > least, sizes, np.inf))
