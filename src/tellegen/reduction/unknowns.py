"""Variables without inertia whose constraint is not linear: inputs while the rest is reduced, then algebraic unknowns.

The output that goes with such an input is its constraint, 0 = C_w x + D_w u + f_w. Where the variable stands in it linearly and
in no law, it is solved for, and nothing is left of it.
"""

from collections.abc import Sequence
from dataclasses import replace

from tellegen.equations.matrices import Matrix, Vector, dot
from tellegen.equations.system import Algebraic, EquationSystem, MatrixName
from tellegen.expressions import ZERO, Expression, is_zero, symbol
from tellegen.reduction import rules

COLUMNS: tuple[MatrixName, ...] = ("B", "D", "B_1", "D_1")


def with_unknowns(system: EquationSystem, names: Sequence[str]) -> EquationSystem:
    """The system in which some inputs are whatever makes their own outputs vanish.

    Raises: ReductionError (T110) where a constraint does not hold the variable, or rates of it are needed.
    """
    waiting = list(names)
    while solvable := [name for name in waiting if _linear(system, name)]:
        system = _solved(system, solvable[0])
        waiting.remove(solvable[0])
    for name in waiting:
        system = _unknown(system, name)
    return system


def _linear(system: EquationSystem, name: str) -> bool:
    """Whether a variable stands in its own constraint with a constant coefficient, and in no law."""
    k = system.inputs.index(name)
    read = [*system.vectors["f"], *system.vectors["f_y"], *system.algebraic.residuals]
    coefficient = system.matrices["D"][k][k]
    constant = coefficient.free_symbols.isdisjoint({*system.states, *system.inputs, *system.algebraic.unknowns})
    return not is_zero(coefficient) and constant and all(name not in e.free_symbols for e in read)


def _solved(system: EquationSystem, name: str) -> EquationSystem:
    """The system with a variable replaced from its own constraint, which is linear in it."""
    _refuse_rates(system, name)
    k = system.inputs.index(name)
    m, v = system.matrices, system.vectors
    D = m["D"][k][k]
    row: Vector = tuple(-e / D for e in (*m["C"][k], *m["D"][k], v["f_y"][k]))  # the variable by x, u and the rest
    n = len(system.states)
    C_w, D_w, f_w = row[:n], row[n:-1], row[-1]
    B, D_out = [line[k] for line in m["B"]], [line[k] for line in m["D"]]
    matrices: dict[MatrixName, Matrix] = {
        **m,
        "A": tuple(tuple(e - b * c for e, c in zip(line, C_w, strict=True)) for line, b in zip(m["A"], B, strict=True)),
        "B": tuple(tuple(e + b * d for e, d in zip(line, D_w, strict=True)) for line, b in zip(m["B"], B, strict=True)),
        "C": tuple(
            tuple(e + d * c for e, c in zip(line, C_w, strict=True)) for line, d in zip(m["C"], D_out, strict=True)
        ),
        "D": tuple(
            tuple(e + o * d for e, d in zip(line, D_w, strict=True)) for line, o in zip(m["D"], D_out, strict=True)
        ),
    }
    f = tuple(e - b * f_w for e, b in zip(v["f"], B, strict=True))
    f_y = tuple(e + d * f_w for e, d in zip(v["f_y"], D_out, strict=True))
    others = [symbol(u) if u != name else ZERO for u in system.inputs]
    value = dot(C_w, map(symbol, system.states)) + dot(D_w, others) + f_w
    return _without(replace(system, matrices=matrices, vectors={"f": f, "f_y": f_y}), name, {name: value})


def _unknown(system: EquationSystem, name: str) -> EquationSystem:
    """The system with a variable as an algebraic unknown, and its constraint as a residual."""
    _refuse_rates(system, name)
    k = system.inputs.index(name)
    m, v = system.matrices, system.vectors
    w = symbol(name)
    residual = dot(m["C"][k], map(symbol, system.states)) + dot(m["D"][k], map(symbol, system.inputs)) + v["f_y"][k]
    if name not in residual.free_symbols:
        raise rules.NONLINEAR_CONSTRAINT.error(
            f"the constraint of '{name}' ties other variables to each other by a law that is not linear",
            where=name,
            fix="take the limit of the model, not of its equations",
        )
    f = tuple(e - line[k] * w for e, line in zip(v["f"], m["B"], strict=True))
    f_y = tuple(e + line[k] * w for e, line in zip(v["f_y"], m["D"], strict=True))
    algebraic = Algebraic((*system.algebraic.unknowns, name), (*system.algebraic.residuals, residual))
    return _without(replace(system, vectors={"f": f, "f_y": f_y}, algebraic=algebraic), name, {})


def _refuse_rates(system: EquationSystem, name: str) -> None:
    k = system.inputs.index(name)
    m = system.matrices
    if any(not is_zero(line[k]) for line in (*m["B_1"], *m["D_1"])):
        raise rules.NONLINEAR_CONSTRAINT.error(
            f"the rate of '{name}' is needed, whose constraint is not linear",
            where=name,
            fix="take the limit of the model, not of its equations",
        )


def _without(system: EquationSystem, name: str, value: dict[str, Expression]) -> EquationSystem:
    """The system without an input and its output; `value` replaces it where energies and rates read it."""
    k = system.inputs.index(name)

    def fewer(matrix: Matrix) -> Matrix:
        return tuple((*row[:k], *row[k + 1 :]) for row in matrix)

    matrices = {n: fewer(M) if n in COLUMNS else M for n, M in system.matrices.items()}
    for n in ("C", "D", "D_1"):
        rows = matrices[n]
        matrices[n] = (*rows[:k], *rows[k + 1 :])
    f_y = system.vectors["f_y"]
    energy = system.stored_energy
    return replace(
        system,
        inputs=(*system.inputs[:k], *system.inputs[k + 1 :]),
        outputs=(*system.outputs[:k], *system.outputs[k + 1 :]),
        matrices=matrices,
        vectors={**system.vectors, "f_y": (*f_y[:k], *f_y[k + 1 :])},
        stored_energy=None if energy is None else energy.substitute(value),
        dissipated_power=system.dissipated_power.substitute(value),
        displacements={d: e.substitute(value) for d, e in system.displacements.items()},
    )
