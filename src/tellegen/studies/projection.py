"""Smaller linear models in numbers, by pyMOR: L, A, B, C, D go there, and a POG comes back.

Matrices come in coordinates in which L = 1, so that states are measured by their energy and ports by their strength. A congruent
projection x = V z keeps W, the symmetric part of [[A, -B], [C, D]], positive semidefinite, because [[V, 0], [0, 1]] multiplies it
from both sides. Moments of the transfer matrix are matched by the iterative rational Krylov algorithm for port-Hamiltonian systems
(S. Gugercin, R. V. Polyuga, C. Beattie and A. van der Schaft, Automatica 48, 2012).

Positive-real balancing (U. B. Desai and D. Pal, IEEE Trans. Automatic Control 29, 1984) chooses the energy too: among all functions
that a passive model can be said to store it balances the least and the largest one. What is truncated is passive with the
balanced energy, which is a POG again. It needs a resistance at each port: a small one, which stays in D.

Several bases are tried for each method (see `bases`), and the one that comes nearest in the largest gain over all frequencies is
taken. All of them keep L symmetric and positive and W positive semidefinite.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, did_you_mean, identifier, listing
from tellegen.core.packages import load_package
from tellegen.equations.derivation import derive_equations
from tellegen.equations.matrices import Matrix
from tellegen.equations.printing.explanation import Sign
from tellegen.equations.printing.record import equations_to_record
from tellegen.equations.signal_equations import NO_SIGNALS
from tellegen.equations.start import model_start
from tellegen.equations.system import Algebraic, EquationSystem, MatrixName, number_of
from tellegen.expressions import ZERO, Expression, number, symbol
from tellegen.graph import Port, SourceLaw, lower
from tellegen.model.model import Experiment, Model, Parameter
from tellegen.notations.loading import AnyModel, as_model
from tellegen.reduction.scheme_operations import MatrixForm, PowerVariable, model_of_matrices
from tellegen.studies import rules

Array = NDArray[np.float64]

POINTS = 200
"""Frequencies, evenly spaced in their logarithm, beside those of the poles."""


@final
@dataclass(frozen=True, eq=False)
class Gains:
    """Transfer matrices over frequencies, in coordinates in which L = 1."""

    values: NDArray[np.complex128]

    @property
    def largest(self) -> float:
        """The largest gain from any input to any output."""
        return float(np.linalg.norm(self.values, 2, axis=(1, 2)).max(initial=0.0)) if self.values.size else 0.0

    def apart(self, other: "Gains") -> float:
        """The largest difference, as a share of the largest gain."""
        if not self.values.size or not self.largest:
            return 0.0
        return float(np.linalg.norm(self.values - other.values, 2, axis=(1, 2)).max()) / self.largest


def band_of(A: Array) -> Array:
    """Frequencies that show what a model does: a decade beyond its slowest and fastest poles, and at each of them."""
    poles = np.abs(np.linalg.eigvals(A))
    # Poles at rest would stretch the band to zero.
    poles = poles[poles > 1e-12 * poles.max(initial=0.0)]
    if not len(poles):
        return np.ones(1)
    return np.unique(np.concatenate([np.geomspace(poles.min() / 10, poles.max() * 10, POINTS), poles]))


def gains_of(A: Array, B: Array, C: Array, D: Array, frequencies: Array) -> Gains:
    """C (i w + A)^-1 B + D at each frequency."""
    if not len(A):
        return Gains(np.repeat(D[None].astype(complex), len(frequencies), axis=0))
    # One Schur form for all frequencies: each of them then costs a triangular solution.
    T, Q = scipy.linalg.schur(A.astype(complex), output="complex")
    inwards, outwards = Q.conj().T @ B, C @ Q
    one = np.eye(len(A))
    found = [outwards @ scipy.linalg.solve_triangular(1j * w * one + T, inwards) + D for w in frequencies]
    return Gains(np.asarray(found))


Matrices = dict[str, Array]

RESISTANCES = (1e-2, 1e-4, 1e-6)
"""Resistances at the ports, as shares of the largest gain, with which positive-real balancing is tried."""

STARTS = (1.0, 0.1, 10.0)
"""The search for interpolation points starts from rates that the equations show, times each of these."""

PASSIVE = 1e-9
"""How far below zero rounding may bring the smallest eigenvalue of W, as a share of its largest entry."""


@final
@dataclass(frozen=True, eq=False)
class SmallModel:
    """A model with few states: x = V z, z = W^T x, and A, B, C, D with L = 1."""

    V: Array
    W: Array
    A: Array
    B: Array
    C: Array
    D: Array

    @property
    def passive(self) -> bool:
        """Whether the symmetric part of [[A, -B], [C, D]] is positive semidefinite up to rounding."""
        W = np.block([[self.A, -self.B], [self.C, self.D]])
        return bool(np.linalg.eigvalsh((W + W.T) / 2).min(initial=0.0) >= -PASSIVE * np.abs(W).max(initial=0.0))


def congruent(m: Matrices, V: Array) -> SmallModel:
    """The congruent projection on the columns of V, made orthonormal."""
    # Orthonormal columns keep L = 1, so that Q^T A Q has a positive symmetric part where A has.
    Q = np.linalg.qr(V)[0]
    return SmallModel(Q, Q, Q.T @ m["A"] @ Q, Q.T @ m["B"], m["C"] @ Q, m["D"])


def by_moments(m: Matrices, states: int) -> Iterator[SmallModel]:
    """Projections that match moments, from several starts of the search."""
    A, B, Ct = m["A"], m["B"], m["C"].T
    full = _pymor("models.iosys").PHLTIModel.from_matrices(
        (A.T - A) / 2, (A + A.T) / 2, (B + Ct) / 2, (Ct - B) / 2, (m["D"] + m["D"].T) / 2, (m["D"] - m["D"].T) / 2
    )
    inputs = max(B.shape[1], 1)
    directions = np.eye(inputs)[np.arange(states) % inputs]
    # The search finds local optima: several starts, of which the best one is taken.
    for factor in STARTS:
        reductor = _pymor("reductors.ph.ph_irka").PHIRKAReductor(full)
        try:
            _strictly(
                reductor.reduce, {"sigma": factor * _points(A, states), "b": directions, "c": directions}, tol=1e-6
            )
        except _failures():
            continue  # points met each other, or a pole
        yield congruent(m, _columns(reductor.V, len(A)))


def balanced(m: Matrices, states: int, gain: float) -> Iterator[SmallModel]:
    """Truncations of balanced models; `gain` is the largest one of the transfer matrix."""
    A, B, C, D = -m["A"], m["B"], m["C"], m["D"]
    for resistance in RESISTANCES:
        # Positive-real balancing needs D + D^T regular: a small resistance at each port, in proportion to the gain.
        through = D + resistance * gain * np.eye(len(D))
        try:
            reductor = _reduced("PRBTReductor", (A, B, C, through), states)
            sigma = np.asarray(reductor._hankel_svd()[1][:states])
        except _failures():
            continue  # a mode without loss, or a Riccati equation without a solution in floating point
        V, W = _columns(reductor.V, len(A)), _columns(reductor.W, len(A))
        # Balanced coordinates have the energy z^T S z; in these it is that of L = 1.
        root = np.sqrt(sigma)  # z in units in which the balanced energy is z^T z / 2
        V, W = V / root, W * root
        yield SmallModel(V, W, -W.T @ A @ V, W.T @ B, C @ V, through)
    try:
        yield congruent(m, _columns(_reduced("BTReductor", (A, B, C, D), states).V, len(A)))
    except _failures():
        return


def _reduced(kind: str, matrices: tuple[Array, Array, Array, Array], states: int) -> Any:
    full = _pymor("models.iosys").LTIModel.from_matrices(*matrices)
    reductor = getattr(_pymor("reductors.bt"), kind)(full)
    _strictly(reductor.reduce, states, projection="sr")
    return reductor


def _pymor(module: str) -> Any:
    found = load_package(f"pymor.{module}", purpose="a projection", extra="pymor")
    # pyMOR warns of each step of its search, which is no news to a user.
    load_package("pymor.core.logger", purpose="a projection", extra="pymor").set_log_levels({"pymor": "FATAL"})
    return found


def _failures() -> tuple[type[Exception], ...]:
    """What pyMOR raises where a basis does not exist in floating point."""
    inexact: type[Exception] = _pymor("core.exceptions").AccuracyError
    return (np.linalg.LinAlgError, RuntimeWarning, ValueError, AssertionError, inexact)


def _strictly(step: Callable[..., object], *given: object, **options: object) -> None:
    """A step of pyMOR, in which a matrix that is singular ends it: SciPy warns, and goes on with infinities or other numbers."""
    with warnings.catch_warnings(action="error", category=RuntimeWarning):
        step(*given, **options)


def _points(A: Array, states: int) -> Array:
    """Where the search for interpolation points begins: spread over the rates that rows of the equations show."""
    rates = np.abs(A).sum(axis=1)
    rates = rates[rates > 0]
    if not len(rates):
        return np.ones(states)
    return np.asarray(np.geomspace(rates.min() / len(A), rates.max(), states))


def _columns(V: Any, rows: int) -> Array:
    found = np.asarray(V.to_numpy(), dtype=float)
    return found if found.shape[0] == rows else found.T


ROUNDING = 1e-13
"""Entries of W smaller than this, as a share of the largest, are rounding."""


def projected_model(full: Model, system: EquationSystem, small: EquationSystem, about: str) -> Model:
    """The network of the equations of a projection; `system` are those of the full model."""
    assert system.origin is not None, "equations of a model know it"
    graph = system.origin.graph
    sources = [graph.ports[k] for k in system.origin.sources]
    inputs = tuple(_input(port, name) for port, name in zip(sources, system.outputs, strict=True))
    # New coordinates belong to no domain; where all ports are of one, they are said to be of that.
    # A state that is a mixture of masses and capacitors is a variable of no domain.
    domains = {c.domain for c in inputs}
    home = domains.pop() if len(domains) == 1 else "electrical"
    states = tuple(PowerVariable(name, home, "across", initial=small.initial.get(name)) for name in small.states)
    experiment, parameters = _experiment(full, small.inputs)
    text = f"{full.about} {about}".strip()
    matrices: dict[str, Matrix] = {str(name): rows for name, rows in small.matrices.items()}
    form = MatrixForm(full.name, states, inputs, matrices, parameters, about=text, experiment=experiment)
    return model_of_matrices(form)


def _input(port: Port, output: str) -> PowerVariable:
    law = port.law
    assert isinstance(law, SourceLaw), "inputs belong to sources"
    return PowerVariable(law.input, port.domain, law.side, port.element, output)


def _experiment(full: Model, inputs: Sequence[str]) -> tuple[Experiment, dict[str, Parameter]]:
    """What of the experiment still has a meaning: its length, and inputs that read neither signals nor variables."""
    told = full.experiment
    known = set(full.parameters)
    kept = {
        name: signal
        for name, signal in told.inputs.items()
        # Inputs that read signals or variables would read what the small model does not have.
        if name in inputs and signal.expression is not None and signal.expression.free_symbols <= {*known, TIME}
    }
    read: list[Expression] = [s.expression for s in kept.values() if s.expression is not None]
    read += [e for s in kept.values() for e in s.arguments]
    read += [] if told.until is None else [told.until]
    parameters: dict[str, Parameter] = {}
    while read:
        for name in read.pop().free_symbols & known - parameters.keys():
            parameters[name] = full.parameters[name]
            value = parameters[name].expression
            read += [] if value is None else [value]
    return Experiment(told.until, kept, rtol=told.rtol, atol=told.atol), parameters


def without_rounding(small: SmallModel) -> SmallModel:
    """The small model with W exactly symmetric and positive semidefinite, as it is but for rounding."""
    n = len(small.A)
    whole = np.block([[small.A, -small.B], [small.C, small.D]])
    W, J = (whole + whole.T) / 2, (whole - whole.T) / 2
    # Rounding leaves losses of 1e-17 everywhere, each of which would be a resistor of the network.
    W[np.abs(W) <= ROUNDING * np.abs(whole).max(initial=0.0)] = 0.0
    found = W + J
    return replace(small, A=found[:n, :n], B=-found[:n, n:], C=found[n:, :n], D=found[n:, n:])


Method = Literal["balanced", "moments"]
METHODS = ("balanced", "moments")

DIRECT = 2.0
"""A model with a resistance added at its ports is taken where it loses less by this factor."""


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """A small model in numbers, with states z_1, z_2, ..., and the basis V of x = V z, rows by the states of `full`.

    `model` is a network with these `equations`: it can be drawn, simulated, saved and reduced again.

    `error` is the largest difference of the transfer matrices over all frequencies, as a share of the largest gain, with every
    port in units in which all act with the same strength.
    """

    full: EquationSystem
    equations: EquationSystem
    model: Model
    V: Array
    method: Method
    error: float

    def to_json(self, sign: Sign = "-") -> dict[str, object]:
        """The record of the equations, with `V`, `method`, `error` and `origin`."""
        record = equations_to_record(self.equations, sign)
        record |= {"V": self.V.tolist(), "method": self.method, "error": self.error}
        record["origin"] = {"model": self.full.name, "states": [identifier(n) for n in self.full.states]}
        return record

    def __str__(self) -> str:
        kept, all_states = len(self.equations.states), len(self.full.states)
        return f"{kept} of {all_states} states ({self.method}): gains differ by at most {self.error:.2g} of the largest"


def project(model: AnyModel, states: int, *, method: Method | None = None) -> Projection:
    """A linear model with fewer states that keeps L symmetric and positive and W positive semidefinite; made with pyMOR.

    `method` is "balanced" (positive-real balanced truncation) or "moments" (moments of the transfer matrix are matched at points
    that are found); without it, the one that loses less is taken.

    Raises: ReductionError (T306) when the model is not linear or has no fewer states; ExportError (X001) where pyMOR is missing.
    """
    if method is not None and method not in METHODS:
        fix = did_you_mean(method, METHODS) or f"choose one of {listing(METHODS)}"
        raise rules.NOT_PROJECTABLE.error(f"'{method}' is not a method of projection", fix=fix)
    described = as_model(model)
    system = derive_equations(assign_causality(lower(described)))
    _refuse(system, states)
    m = {name: _numbers(system, name) for name in ("L", "A", "B", "C", "D")}
    to_energy = _inverse_root(m["L"])
    # Ports in units in which all act with the same strength: volts and pascals cannot be compared otherwise.
    strength = np.linalg.norm(to_energy.T @ m["B"], axis=0)
    ports = np.where(strength > 0, strength, 1.0)
    # In coordinates with L = 1: energies of all states count alike.
    found, used, error = _best(_normal(m, to_energy, ports), states, method, system.name)
    small = _small(system, without_rounding(_of_ports(found, ports)), model_start(described), to_energy.T @ m["L"])
    made = Projection(system, small, described, to_energy @ found.V, used, error)
    about = f"Projected: {made}."
    return replace(made, model=projected_model(described, system, small, about))


def _best(m: Matrices, states: int, method: Method | None, name: str) -> tuple[SmallModel, Method, float]:
    """The basis that loses least, with its method and its loss."""
    band = band_of(m["A"])
    full = gains_of(m["A"], m["B"], m["C"], m["D"], band)
    tried: dict[Method, Sequence[SmallModel]] = {}
    if method != "balanced":
        tried["moments"] = tuple(by_moments(m, states))
    if method != "moments":
        tried["balanced"] = tuple(balanced(m, states, full.largest))
    found = [
        (small, used, full.apart(gains_of(small.A, small.B, small.C, small.D, band)))
        for used, several in tried.items()
        for small in several
        if small.passive
    ]
    # Outputs that answer their inputs at once where they did not before have to be worth it.
    # A D that was not there before adds a loss at the ports, which has to pay for itself.
    best = min(found, key=lambda one: one[2] * (1 if np.array_equal(one[0].D, m["D"]) else DIRECT), default=None)
    if best is None:
        other = "moments" if method == "balanced" else "balanced"
        fix = f"use another method ({other})" if method else "reduce it by limits"
        raise _not_projectable(f"no projection of '{name}' was found", fix)
    return best


def _inverse_root(L: Array) -> Array:
    """S with S^T L S = 1."""
    # Cholesky of a matrix with entries from farads to kilograms would lose the small ones.
    scale = 1 / np.sqrt(np.diag(L))  # first each state by itself, so that units do not decide what is small
    root = np.linalg.cholesky(scale[:, None] * (L + L.T) / 2 * scale).T
    return np.asarray(scale[:, None] * np.linalg.inv(root))


def _normal(m: Matrices, S: Array, ports: Array) -> Matrices:
    """The matrices with L = 1, and ports in units in which all act with the same strength: pascals and volts then count alike."""
    return {
        "A": S.T @ m["A"] @ S,
        "B": S.T @ m["B"] / ports,
        "C": m["C"] @ S / ports[:, None],
        "D": m["D"] / ports / ports[:, None],
    }


def _of_ports(small: SmallModel, ports: Array) -> SmallModel:
    """The small model with ports in SI again."""
    return replace(small, B=small.B * ports, C=small.C * ports[:, None], D=small.D * ports * ports[:, None])


def _refuse(system: EquationSystem, states: int) -> None:
    # With rates of inputs, or a moving N, the transfer matrix is not C (s L + A)^-1 B + D.
    rates = [name for name in ("N", "B_1", "D_1") if not system.is_zero(name)]
    if not system.linear or system.algebraic.unknowns or rates:
        what = f"rates in {listing(rates)}" if rates and system.linear else "laws that are not linear"
        raise _not_projectable(f"'{system.name}' has {what}", "linearise it first, or reduce it by limits")
    if not system.inputs:
        raise _not_projectable(
            f"'{system.name}' has no input whose answers could be kept", "give it a source, or reduce it by limits"
        )
    if not 0 < states < len(system.states):
        raise _not_projectable(
            f"{states} states are asked for, and '{system.name}' has {len(system.states)}",
            f"ask for 1 to {len(system.states) - 1}" if len(system.states) > 1 else "leave it as it is",
        )


def _not_projectable(what: str, fix: str) -> TellegenError:
    return rules.NOT_PROJECTABLE.error(what, fix=fix)


def _numbers(system: EquationSystem, name: MatrixName | str) -> Array:
    values = system.values()
    for word, e in system.where.items():
        values[word] = number_of(e, values, system.name)
    rows = system.matrices[name]  # type: ignore[index]
    widths = {"L": len(system.states), "A": len(system.states), "C": len(system.states)}
    found = [[number_of(e, values, system.name) if e is not ZERO else 0.0 for e in row] for row in rows]
    return np.array(found).reshape(len(rows), widths.get(name, len(system.inputs)))


# -- the small model -------------------------------------------------------------------------------------------------------------


def _small(system: EquationSystem, small: SmallModel, start: Mapping[str, float], to_energy: Array) -> EquationSystem:
    n, inputs, outputs = small.A.shape[0], len(system.inputs), len(system.outputs)
    states = tuple(f"z_{k + 1}" for k in range(n))
    written: dict[MatrixName, Matrix] = {"N": _zeros(n, n), "B_1": _zeros(n, inputs), "D_1": _zeros(outputs, inputs)}
    written |= {"L": _rows(np.eye(n)), "A": _rows(small.A), "B": _rows(small.B), "C": _rows(small.C)}
    written |= {"D": _rows(small.D)}
    z, u = [symbol(name) for name in states], [symbol(name) for name in system.inputs]
    W = np.block([[small.A, -small.B], [small.C, small.D]])
    return replace(
        system,
        states=states,
        parameters={},
        matrices=written,
        vectors={"f": (ZERO,) * n, "f_y": (ZERO,) * outputs},
        stored_energy=_quadratic(np.eye(n) / 2, z),
        dissipated_power=_quadratic((W + W.T) / 2, [*z, *u]),
        algebraic=Algebraic(),
        where={},
        dependent={},
        initial=_start([start.get(name, 0.0) for name in system.states], states, small.W.T @ to_energy),
        displacements={},
        signals=NO_SIGNALS,  # they read variables that the small model has not
        origin=None,
    )


def _start(full: Sequence[float], states: tuple[str, ...], to_small: Array) -> dict[str, Expression]:
    """The start of the full model, as far as the small one can have it."""
    x = np.array(full)
    return {name: number(float(start)) for name, start in zip(states, to_small @ x, strict=True)} if x.any() else {}


def _quadratic(M: Array, names: Sequence[Expression]) -> Expression:
    found: Expression = ZERO
    for i, a in enumerate(names):
        for j, b in enumerate(names[: i + 1]):
            factor = float(M[i, j] + (M[j, i] if i != j else 0.0))
            if factor:
                found += number(factor) * a * b
    return found


def _rows(M: Array) -> Matrix:
    return tuple(tuple(number(float(e)) for e in row) for row in M)


def _zeros(rows: int, columns: int) -> Matrix:
    return ((ZERO,) * columns,) * rows
