"""Frequency responses, computed without Tellegen's graph, causality or equations: what its results are compared with.

Nodal analysis with one current more for each voltage source. A response is the matrix of the conjugates of the sources (current
supplied by a voltage source, voltage over which a current source pushes) for unit inputs, so output times input is power.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from tellegen.equations.forms.descriptor import DescriptorSystem
from tellegen.equations.matrices import Sparse
from tellegen.equations.system import EquationSystem, MatrixName

Complex = NDArray[np.complex128]
POINTS = (0.3 + 0.2j, 1.1j, 2.0 + 0j)
"""Where responses are compared: off the poles, which lie in the left half plane."""


class Branch(NamedTuple):
    """An element of an electrical network; `kind` is one of R, L, C, V, I. A current source pushes from `plus` to `minus`."""

    name: str
    kind: str
    plus: int
    minus: int


def nodal_response(branches: Sequence[Branch], values: Mapping[str, float], s: complex) -> Complex:
    """The response of a network whose node 0 is the ground."""
    admittance: dict[str, Callable[[float], complex]] = {
        "R": lambda value: 1 / value,
        "L": lambda value: 1 / (s * value),
        "C": lambda value: s * value,
    }
    sources = [b for b in branches if b.kind in "VI"]
    currents = [b.name for b in branches if b.kind == "V"]
    nodes = max(max(b.plus, b.minus) for b in branches) + 1
    size = nodes + len(currents)
    places: list[tuple[int, int, complex]] = []
    right = np.zeros((size, len(sources)), dtype=complex)
    for b in branches:
        if b.kind in admittance:
            y = admittance[b.kind](values[b.name])
            places += [(b.plus, b.plus, y), (b.minus, b.minus, y), (b.plus, b.minus, -y), (b.minus, b.plus, -y)]
        elif b.kind == "V":
            c = nodes + currents.index(b.name)
            places += [(b.plus, c, -1), (b.minus, c, 1), (c, b.plus, 1), (c, b.minus, -1)]
            right[c, sources.index(b)] = 1
        else:
            right[b.plus, sources.index(b)] -= 1
            right[b.minus, sources.index(b)] += 1
    kept = slice(1, None)  # without the balance and the potential of the ground
    matrix = _sparse(places, (size, size))[kept, kept]
    found = np.zeros((size, len(sources)), dtype=complex)
    found[kept] = _factors(matrix).solve(right[kept])
    rows = [found[nodes + currents.index(b.name)] if b.kind == "V" else found[b.minus] - found[b.plus] for b in sources]
    return np.array(rows)


def state_space_response(system: EquationSystem, values: Mapping[str, float], s: complex) -> Complex:
    """C (L s + A)^-1 (B + B_1 s) + D + D_1 s, at values of the parameters, through the names of `where`."""
    known = dict(values)
    for name, expression in system.where.items():
        known[name] = expression.evaluate(known)

    def matrix(name: MatrixName, shape: tuple[int, int]) -> NDArray[np.float64]:
        return np.array([[e.evaluate(known) for e in row] for row in system.matrices[name]], dtype=float).reshape(shape)

    n, m = len(system.states), len(system.inputs)
    states = np.linalg.solve(
        s * matrix("L", (n, n)) + matrix("A", (n, n)), matrix("B", (n, m)) + s * matrix("B_1", (n, m))
    )
    return np.asarray(matrix("C", (m, n)) @ states + matrix("D", (m, m)) + s * matrix("D_1", (m, m)))


def descriptor_response(system: DescriptorSystem, s: complex) -> Complex:
    """H (E s - F)^-1 G + D of a descriptor form with numbers for entries."""
    n, m, p = len(system.unknowns), len(system.inputs), len(system.outputs)
    pencil = s * _matrix(system.E, (n, n)) - _matrix(system.F, (n, n))
    found = _factors(pencil).solve(_matrix(system.G, (n, m)).toarray())
    return np.asarray(_matrix(system.H, (p, n)) @ found + _matrix(system.D, (p, m)).toarray())


def largest_error(found: Complex, wanted: Complex) -> float:
    """The largest difference, relative to the largest entry that was wanted."""
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def _factors(matrix: Any) -> Any:
    """The LU factors; the equations of networks have a symmetric pattern, which this order makes use of."""
    return splu(csc_array(matrix), permc_spec="MMD_AT_PLUS_A")


def _matrix(entries: Sparse, shape: tuple[int, int]) -> Any:
    return _sparse([(i, j, e.evaluate({})) for (i, j), e in entries.items()], shape)


def _sparse(places: Sequence[tuple[int, int, complex]], shape: tuple[int, int]) -> Any:
    rows, columns, entries = zip(*places, strict=True) if places else ((), (), ())
    return csc_array((np.array(entries, dtype=complex), (rows, columns)), shape=shape)
