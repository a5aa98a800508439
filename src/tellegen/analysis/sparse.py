"""Analysis of models of any size, on the descriptor form: nothing is eliminated, one sparse factorisation for each point."""

from collections.abc import Mapping

import numpy as np
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs, splu

from tellegen.analysis import rules
from tellegen.analysis.linear_model import Array, ComplexArray
from tellegen.analysis.poles import Pole
from tellegen.equations.descriptor import DescriptorSystem
from tellegen.equations.rules import NOT_LINEAR
from tellegen.expressions import Expression

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
        factors = splu(csc_array(F - near * E if near else F))
    except RuntimeError:
        fix = f"ask near another point, such as {complex(near).real + 1.0:g}"
        raise rules.NO_CONVERGENCE.error(f"{near:g} is a pole of '{system.name}'", where=system.name, fix=fix) from None
    kind = complex if complex(near).imag else float
    # In (F - s E)^-1 E an eigenvalue of the pencil nearest to s is the largest, and algebraic equations are zeros.
    if size <= FEW:
        inverse = np.linalg.eigvals(factors.solve(E.toarray().astype(kind)))
    else:
        inverse = _largest(LinearOperator((size, size), lambda v: factors.solve(E @ v), dtype=kind), count, system.name)
    dynamic = inverse[np.abs(inverse) > 1e-10 * np.abs(inverse).max(initial=0.0)]
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
    found = [H @ splu(csc_array(1j * w * E - F)).solve(right) + D.toarray() for w in frequencies]
    return np.array(found, dtype=complex).reshape(len(frequencies), outputs, inputs)


def _largest(operator: LinearOperator, count: int, name: str) -> ComplexArray:
    size = operator.shape[0]
    try:
        return np.asarray(eigs(operator, k=min(2 * count, size - 2), which="LM", return_eigenvectors=False))
    except ArpackError as reason:
        what = f"the {count} poles of '{name}' were not found"
        raise rules.NO_CONVERGENCE.error(what, where=name, why=str(reason), fix="ask for fewer poles") from reason


def _matrix(entries: Mapping[tuple[int, int], Expression], rows: int, columns: int) -> csc_array:
    values = [e.evaluate({}) for e in entries.values()]
    places = [k for k, _ in entries], [k for _, k in entries]
    return csc_array(coo_array((values, places), shape=(rows, columns), dtype=float))


def _refuse_nonlinear(system: DescriptorSystem) -> None:
    if system.h:
        fix = "linearise it at an operating point first"
        raise NOT_LINEAR.error(f"'{system.name}' is not linear", where=system.name, fix=fix)
