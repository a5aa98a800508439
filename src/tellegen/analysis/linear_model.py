"""The linear model that all of analysis works on: matrices of numbers, with names and units; also as an object of python-
control.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tellegen.analysis import rules
from tellegen.core.names import did_you_mean, identifier, listing
from tellegen.core.packages import load_package
from tellegen.equations.forms.linearisation import linearise_equations
from tellegen.equations.forms.transfer import TransferMatrix, transfer_matrix
from tellegen.equations.matrices import Matrix, zeros
from tellegen.equations.system import EquationSystem, MatrixName, OperatingPoint, with_measured_outputs, with_values
from tellegen.expressions import ZERO, number

Array = npt.NDArray[np.float64]
ComplexArray = npt.NDArray[np.complex128]


@final
@dataclass(frozen=True, eq=False)
class LinearModel:
    """`L x' = -A x + B u + B_1 u'`, `y = C x + D u + D_1 u'` in SI units; in deviations from `point` where that is not empty.

    `displacements` counts the states at the end that are displacements of a linearised model, `measured` the outputs at the end
    that are conjugate to no input, `further` the inputs at the end that are no sources. `origin` says in words what the point is.
    """

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    L: Array
    A: Array
    B: Array
    C: Array
    D: Array
    B_1: Array
    D_1: Array
    point: Mapping[str, float] = field(default_factory=dict)
    displacements: int = 0
    measured: int = 0
    further: int = 0
    origin: str = ""

    def conjugate(self) -> "LinearModel":
        """The model with the sources alone as inputs, and the outputs that are conjugate to them."""
        if not self.measured and not self.further:
            return self
        y, u = slice(0, len(self.outputs) - self.measured), slice(0, len(self.inputs) - self.further)
        return replace(
            self,
            inputs=self.inputs[u],
            outputs=self.outputs[y],
            B=self.B[:, u],
            C=self.C[y],
            D=self.D[y, u],
            B_1=self.B_1[:, u],
            D_1=self.D_1[y, u],
            measured=0,
            further=0,
        )

    def channel(self, output: str, input_: str) -> tuple[int, int]:
        """The row and the column of a channel.

        Raises: EquationError (E204) with the nearest name.
        """
        return _place(output, self.outputs, "output", self.name), _place(input_, self.inputs, "input", self.name)


@final
@dataclass(frozen=True, eq=False)
class StateSpace:
    """`z' = A z + B u`, `y = C z + D u + D_1 u'` in coordinates in which the energy is `|z|^2 / 2`.

    Rates of change are then measured in the square root of power for all domains, so that numbers of volts and of pascals can
    be compared. `back` gives the states: x = back z + shift u.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    D_1: Array
    back: Array
    shift: Array


def linear_model(
    system: EquationSystem, point: OperatingPoint | Mapping[str, float] | None = None, *, further: int = 0
) -> LinearModel:
    """The numbers of a linear model, or of the tangent of a nonlinear one at a point (zero where not given).

    What the system measures is among the outputs, after its own. `further` inputs at the end are no sources, and have no conjugate
    outputs.

    Raises: EquationError when a parameter has no value, or the point does not exist.
    """
    conjugate = min(len(system.outputs), len(system.inputs) - further)
    system = with_measured_outputs(system)
    there = point if isinstance(point, OperatingPoint) else OperatingPoint(point or {})
    measured = len(system.outputs) - conjugate
    # A linear model needs no point; of a nonlinear one only deviations from a point are linear.
    if system.linear:
        numeric, moved, kept = with_values(system), 0, {}
    else:
        kept = {n: float(there.values.get(n, 0.0)) for n in (*system.states, *system.displacements, *system.inputs)}
        # Unknowns are not shown: they follow, and are only looked for from here.
        numeric, moved = linearise_equations(system, {**there.values, **kept}), len(system.displacements)
    m, n, k = numeric.matrices, len(numeric.states), len(numeric.inputs)
    outputs = len(numeric.outputs)
    return LinearModel(
        name=system.name,
        states=numeric.states,
        inputs=numeric.inputs,
        outputs=numeric.outputs,
        L=_array(m["L"], n, n),
        # N x is what moduli that move take and give; for poles it counts like A.
        A=_array(m["A"], n, n) + _array(m["N"], n, n),
        B=_array(m["B"], n, k),
        C=_array(m["C"], outputs, n),
        D=_array(m["D"], outputs, k),
        B_1=_array(m["B_1"], n, k),
        D_1=_array(m["D_1"], outputs, k),
        point=kept,
        displacements=moved,
        measured=measured,
        further=further,
        origin=there.origin if kept else "",
    )


def energy_coordinates(model: LinearModel) -> StateSpace:
    """The model with z = G^T x, L = G G^T, and with the derivatives of inputs taken out of the states.

    Raises: EquationError (E202) when L is singular.
    """
    # With L = G G^T the energy is |z|^2 / 2, so that volts and pascals are measured alike and ranks mean something.
    root = _root(model)
    A = -np.linalg.solve(root, np.linalg.solve(root, model.A.T).T)
    B, B_1 = np.linalg.solve(root, model.B), np.linalg.solve(root, model.B_1)
    back: Array = np.asarray(np.linalg.inv(root).T, dtype=float)
    C = model.C @ back
    return StateSpace(A=A, B=B + A @ B_1, C=C, D=model.D + C @ B_1, D_1=model.D_1, back=back, shift=back @ B_1)


def _root(model: LinearModel) -> Array:
    scale = np.sqrt(np.abs(np.diag(model.L)))
    if not np.all(scale > 0):
        without = [name for name, s in zip(model.states, scale, strict=True) if not s > 0]
        raise rules.SINGULAR_STORAGE.error(
            f"{listing(without)} {'has' if len(without) == 1 else 'have'} no inertia at the operating point",
            where=model.name,
            fix="choose another operating point",
            members=without,
        )
    try:
        # Scaled to a diagonal of ones first: entries of L may be many powers of ten apart between domains.
        root: Array = scale[:, None] * np.linalg.cholesky(model.L / np.outer(scale, scale))
    except np.linalg.LinAlgError:
        raise rules.SINGULAR_STORAGE.error(
            "the energy matrix L is not positive definite at the operating point",
            where=model.name,
            fix="choose another operating point, or check the coupled storages",
        ) from None
    return root


def _array(matrix: Matrix, rows: int, columns: int) -> Array:
    return np.array([[e.evaluate({}) for e in row] for row in matrix], dtype=float).reshape(rows, columns)


def transfer_functions(model: LinearModel) -> TransferMatrix:
    """The transfer functions of a model, with numbers."""
    n = len(model.states)
    matrices: dict[MatrixName, Matrix] = {"N": zeros(n, n)}
    for name in _MATRICES:
        matrices[name] = tuple(tuple(number(float(v)) for v in row) for row in getattr(model, name))
    system = EquationSystem(
        name=model.name,
        states=model.states,
        inputs=model.inputs,
        outputs=model.outputs,
        parameters={},
        matrices=matrices,
        vectors={"f": (ZERO,) * n, "f_y": (ZERO,) * len(model.outputs)},
        stored_energy=None,
        dissipated_power=ZERO,
        point=OperatingPoint(model.point, model.origin) if model.point else None,
    )
    return transfer_matrix(system)


_MATRICES: tuple[MatrixName, ...] = ("L", "A", "B", "C", "D", "B_1", "D_1")


def _place(name: str, names: tuple[str, ...], word: str, model: str) -> int:
    if name not in names:
        fix = did_you_mean(name, names) or f"the {word}s are {listing(names, 40)}"
        raise rules.NO_SUCH_CHANNEL.error(f"'{name}' is not an {word} of '{model}'", fix=fix)
    return names.index(name)


def _state_space(model: LinearModel, *, explicit: bool = True) -> tuple[Array, Array]:
    """A and B of `x' = A x + B u`; of `L x' = ...` where not `explicit`.

    Raises: EquationError when inputs are differentiated (E203) or L is singular (E202).
    """
    if model.B_1.any() or model.D_1.any():
        raise rules.IMPROPER.error(
            f"'{model.name}' holds derivatives of its inputs",
            where=model.name,
            fix="put a small resistive element between the source and the storage",
        )
    energy_coordinates(model)
    if not explicit:
        return -model.A, model.B
    A, B = (np.asarray(np.linalg.solve(model.L, m), dtype=float) for m in (-model.A, model.B))
    return A, B


def to_scipy(model: LinearModel) -> Any:
    """The model as a `scipy.signal.StateSpace`, which has no names: they are those of the model, in order.

    Raises: EquationError when inputs are differentiated (E203) or L is singular (E202).
    """
    signal = load_package("scipy.signal", purpose="a model of SciPy")
    A, B = _state_space(model)
    return signal.StateSpace(A, B, model.C, model.D)


def to_pymor(model: LinearModel) -> Any:
    """The model for pyMOR: a port-Hamiltonian `PHLTIModel` where it is one as it stands (C = B^T, D = 0), else an `LTIModel`.

    Raises: EquationError when inputs are differentiated (E203) or L is singular (E202); ExportError (X001) without pyMOR.
    """
    models = load_package("pymor.models.iosys", extra="pymor", purpose="a model of pyMOR")
    A, B = _state_space(model, explicit=False)
    name = identifier(model.name.replace(" ", "_"))
    if not model.D.any() and np.array_equal(model.C, B.T) and np.array_equal(model.L, model.L.T):
        J, R = 0.5 * (A - A.T), -0.5 * (A + A.T)
        return models.PHLTIModel.from_matrices(J=J, R=R, G=B, E=model.L, name=name)
    return models.LTIModel.from_matrices(A, B, model.C, D=model.D, E=model.L, name=name)


def to_control(model: LinearModel) -> Any:
    """The model as a `control.StateSpace` in the states of the model, with names.

    Raises: EquationError when inputs are differentiated (E203) or L is singular (E202); ExportError (X001) without python-control.
    """
    control = load_package("control", extra="control", purpose="a model of python-control")
    A, B = _state_space(model)
    return control.StateSpace(
        A,
        B,
        model.C,
        model.D,
        name=identifier(model.name.replace(" ", "_")),
        states=list(map(identifier, model.states)),
        inputs=list(map(identifier, model.inputs)),
        outputs=list(map(identifier, model.outputs)),
    )
