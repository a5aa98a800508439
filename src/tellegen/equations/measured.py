"""What detectors read: power variables, displacements and formulas of them, as rows beside the outputs `y` of the POG form.

The outputs of the POG form are conjugate to its inputs, so that `y^T u` is a power. A measured variable is anything else that
somebody wants to see: it takes no power, and no test of dissipation asks for it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from tellegen.core.names import did_you_mean, listing
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, zeros
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.expressions.entries import substituted

if TYPE_CHECKING:
    from tellegen.equations.system import EquationSystem, MatrixName, VectorName


@final
@dataclass(frozen=True)
class Measured:
    """`C x + D u + D_1 u' + rest` for each name; `rest` is what is not linear in states and inputs."""

    names: tuple[str, ...] = ()
    C: Matrix = ()
    D: Matrix = ()
    D_1: Matrix = ()
    rest: Vector = ()

    def changed(self, change: Callable[[Expression], Expression]) -> "Measured":
        """The same with every expression changed."""
        if not self.names:
            return self
        C, D, D_1 = (tuple(tuple(map(change, row)) for row in m) for m in (self.C, self.D, self.D_1))
        return Measured(self.names, C, D, D_1, tuple(map(change, self.rest)))

    def entries(self) -> list[Expression]:
        """Every expression."""
        return [e for m in (self.C, self.D, self.D_1) for row in m for e in row] + list(self.rest)


NOTHING_MEASURED = Measured()


@final
@dataclass(frozen=True)
class LinearPart:
    """An expression as `row x + row_u u + rest`."""

    row: Vector
    row_u: Vector
    rest: Expression


def linear_part(
    expression: Expression,
    states: Sequence[str],
    inputs: Sequence[str],
    variables: Iterable[str],
    where: Mapping[str, Expression],
) -> LinearPart:
    """The coefficients of states and inputs; where one of them varies with `variables`, all of the expression is rest."""
    varying = set(variables)
    moving: dict[str, Expression] = {}
    for name, meaning in where.items():
        if meaning.free_symbols & (varying | moving.keys()):
            moving[name] = meaning
    written = substituted(expression, moving)
    row, row_u = (tuple(written.derivative(name) for name in names) for names in (states, inputs))
    if any(e.free_symbols & varying for e in (*row, *row_u)):
        return LinearPart((ZERO,) * len(row), (ZERO,) * len(row_u), expression)
    at_rest: dict[str, Expression] = dict.fromkeys((*states, *inputs), ZERO)
    return LinearPart(row, row_u, written.substitute(at_rest))


def with_measured_outputs(system: "EquationSystem", outputs: Sequence[str] | None = None) -> "EquationSystem":
    """The system whose outputs are those named, or by default its own and then all that is measured.

    A displacement that an output reads becomes a state where the model is linear otherwise.

    Raises: EquationError (E132) for a name that is neither an output, a state nor measured.
    """
    measured = system.measured
    if outputs is None and not measured.names:
        return system
    system = _with_displacements(system)
    measured = system.measured
    rows = {name: _measured_row(measured, k) for k, name in enumerate(measured.names)}
    rows |= {name: _state_row(system, k) for k, name in enumerate(system.states)}
    rows |= {name: _own_row(system, k) for k, name in enumerate(system.outputs)}  # the same row, where it is a state
    new = [name for name in measured.names if name not in system.outputs]
    wanted = [*system.outputs, *new] if outputs is None else list(dict.fromkeys(outputs))
    for name in wanted:
        if name not in rows:
            raise no_such_output(name, rows, system.name)
    chosen = [rows[name] for name in wanted]
    matrices: dict[MatrixName, Matrix] = {
        **system.matrices,
        "C": tuple(row.C for row in chosen),
        "D": tuple(row.D for row in chosen),
        "D_1": tuple(row.D_1 for row in chosen),
    }
    vectors: dict[VectorName, Vector] = {**system.vectors, "f_y": tuple(row.rest for row in chosen)}
    return replace(
        system,
        outputs=tuple(wanted),
        matrices=matrices,
        vectors=vectors,
        measured=NOTHING_MEASURED,
        dissipated_power=ZERO,
    )


def no_such_output(name: str, known: Iterable[str], model: str) -> Exception:
    """The error about an output that nothing in the model is."""
    names = list(known)
    fix = did_you_mean(name, names[:2000]) or f"some that are: {listing(names, 20)}"
    return rules.NO_SUCH_OUTPUT.error(f"'{name}' is nothing that can be measured in '{model}'", where=model, fix=fix)


@final
@dataclass(frozen=True)
class _Row:
    C: Vector
    D: Vector
    D_1: Vector
    rest: Expression = ZERO


def _measured_row(measured: Measured, k: int) -> _Row:
    return _Row(measured.C[k], measured.D[k], measured.D_1[k], measured.rest[k])


def _state_row(system: "EquationSystem", k: int) -> _Row:
    nothing = (ZERO,) * len(system.inputs)
    return _Row(tuple(ONE if j == k else ZERO for j in range(len(system.states))), nothing, nothing)


def _own_row(system: "EquationSystem", k: int) -> _Row:
    m = system.matrices
    return _Row(m["C"][k], m["D"][k], m["D_1"][k], system.vectors["f_y"][k])


def _with_displacements(system: "EquationSystem") -> "EquationSystem":
    """The system with the displacements that measured rows read as states, if it is linear and so are they."""
    measured = system.measured
    names = [n for n in system.displacements if any(n in e.free_symbols for e in measured.rest)]
    if not names or not replace(system, measured=NOTHING_MEASURED).linear:
        return system
    variables = (*system.states, *system.inputs, *system.displacements)
    states = (*system.states, *names)
    rates = [linear_part(system.displacements[n], states, system.inputs, variables, system.where) for n in names]
    rows = [linear_part(e, names, (), variables, system.where) for e in measured.rest]
    if any(part.rest is not ZERO for part in (*rates, *rows)):
        return system
    n, m, more = len(system.states), len(system.inputs), len(names)
    own: dict[MatrixName, Matrix] = {k: _widened(system.matrices[k], more) for k in ("L", "A", "N", "C")}
    ones = tuple(tuple(ONE if j == n + k else ZERO for j in range(n + more)) for k in range(more))
    below: dict[MatrixName, Matrix] = {
        **system.matrices,
        "L": own["L"] + ones,
        "A": own["A"] + tuple(tuple(-e for e in part.row) for part in rates),
        "N": own["N"] + zeros(more, n + more),
        "B": system.matrices["B"] + tuple(part.row_u for part in rates),
        "B_1": system.matrices["B_1"] + zeros(more, m),
        "C": own["C"],
    }
    C = tuple((*row, *part.row) for row, part in zip(measured.C, rows, strict=True))
    return replace(
        system,
        states=states,
        matrices=below,
        vectors={**system.vectors, "f": (*system.vectors["f"], *(ZERO,) * more)},
        displacements={name: rate for name, rate in system.displacements.items() if name not in names},
        measured=replace(measured, C=C, rest=(ZERO,) * len(rows)),
    )


def _widened(matrix: Matrix, more: int) -> Matrix:
    return tuple((*row, *(ZERO,) * more) for row in matrix)
