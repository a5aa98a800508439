"""Input-output inversion of a linear system: inputs and their own outputs change places.

All of them: L x' = -(A + B D^-1 C) x + B D^-1 y, u = -D^-1 C x + D^-1 y. Some of them: the same for the rows and columns of D
chosen, whose block has to be regular. Power does not see it: y^T u is what is supplied before and after.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tellegen.core.names import did_you_mean
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product
from tellegen.equations.solving import solved
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import ONE, ZERO, symbol
from tellegen.expressions.entries import substituted


def invert_ports(system: EquationSystem, inputs: Iterable[str] | None = None) -> EquationSystem:
    """The system with some inputs (all of them unless named) exchanged for their own outputs.

    Raises: EquationError (E104) for a system that is not linear, E130 for a name that is no input, for rates of inputs, and where
    an output does not answer its input at once.
    """
    check_ports(system)
    wanted = list(system.inputs) if inputs is None else list(inputs)
    for name in wanted:
        if name not in system.inputs:
            fix = did_you_mean(name, system.inputs) or f"the inputs are {', '.join(system.inputs) or '(none)'}"
            raise rules.NO_PORT_INVERSION.error(f"'{name}' is no input", where=name, fix=fix)
    chosen = [k for k, name in enumerate(system.inputs) if name in wanted]
    others = [k for k in range(len(system.inputs)) if k not in chosen]
    return _exchanged(system, chosen, others)


def check_ports(system: EquationSystem) -> None:
    """Raises: EquationError (E104, E130) for a system that is not linear or contains rates of inputs."""
    if not system.linear:
        fix = "linearise it at an operating point first"
        raise rules.NOT_LINEAR.error(f"'{system.name}' is not linear", where=system.name, fix=fix)
    if not (system.is_zero("B_1") and system.is_zero("D_1")):
        what = f"'{system.name}' contains rates of its inputs"
        why = "inverted, its outputs would be states of their own"
        fix = "put a resistive element between the source and the storage that follows it"
        raise rules.NO_PORT_INVERSION.error(what, where=system.name, why=why, fix=fix)


def _exchanged(system: EquationSystem, chosen: Sequence[int], others: Sequence[int]) -> EquationSystem:
    n, m = len(system.states), len(system.inputs)
    A, B, C, D = (system.matrices[name] for name in ("A", "B", "C", "D"))
    # u of the ports chosen, over x, then over the new inputs: y where a port was chosen, u elsewhere.
    right = tuple((*(-e for e in C[i]), *_answer(D, i, chosen, m)) for i in chosen)
    # Written out, so that a singular block is seen as one.
    block = tuple(tuple(substituted(D[i][j], system.where) for j in chosen) for i in chosen)
    found = solved(block, right, n + m, system.parameters, (*system.where, *system.states, *system.inputs))
    if found is None:
        ports = ", ".join(f"'{system.outputs[i]}' of '{system.inputs[i]}'" for i in chosen)
        what = f"the outputs do not determine the inputs: D is singular for {ports}"
        fix = "exchange other inputs, or invert the path on the scheme with derivative causality"
        raise rules.NO_PORT_INVERSION.error(what, where=system.inputs[chosen[0]], fix=fix)
    X, U = tuple(row[:n] for row in found), tuple(row[n:] for row in found)
    B_chosen, D_chosen = _columns(B, chosen), _columns(D, chosen)
    matrices: dict[MatrixName, Matrix] = {
        **system.matrices,
        "A": plus(A, negative(product(B_chosen, X, n))),
        "B": plus(_kept(B, others, m), product(B_chosen, U, m)),
        "C": plus(C, product(D_chosen, X, n)),
        "D": plus(_kept(D, others, m), product(D_chosen, U, m)),
    }
    for k, i in enumerate(chosen):
        matrices["C"] = _with_row(matrices["C"], i, X[k])
        matrices["D"] = _with_row(matrices["D"], i, U[k])
    inputs, outputs = list(system.inputs), list(system.outputs)
    for i in chosen:
        inputs[i], outputs[i] = outputs[i], inputs[i]
    z = [*map(symbol, system.states), *map(symbol, inputs)]
    told = {system.inputs[i]: dot(row, z) for i, row in zip(chosen, found, strict=True)}
    energy = system.stored_energy
    return replace(
        system,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        matrices=matrices,
        stored_energy=None if energy is None else energy.substitute(told),
        dissipated_power=system.dissipated_power.substitute(told),
        dependent={name: e.substitute(told) for name, e in system.dependent.items()},
        origin=None,
    )


def _answer(D: Matrix, i: int, chosen: Sequence[int], m: int) -> Vector:
    return tuple((ONE if i == j else ZERO) if j in chosen else -D[i][j] for j in range(m))


def _columns(matrix: Matrix, chosen: Sequence[int]) -> Matrix:
    return tuple(tuple(row[k] for k in chosen) for row in matrix)


def _kept(matrix: Matrix, others: Sequence[int], m: int) -> Matrix:
    """The matrix with zero in the columns that are exchanged."""
    return tuple(tuple(row[k] if k in others else ZERO for k in range(m)) for row in matrix)


def _with_row(matrix: Matrix, place: int, row: Vector) -> Matrix:
    return tuple(row if k == place else other for k, other in enumerate(matrix))
