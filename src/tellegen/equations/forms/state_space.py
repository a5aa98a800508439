"""The state-space form `x' = A x + B u`, `y = C x + D u`: the POG form solved for the rates of its states.

A is -L^-1 (A + N) of the POG form, so its sign is that of control engineers. What is not linear in the states stays beside it:

    x' = A x + B u + B_1 u' + f,   y = C x + D u + D_1 u' + f_y
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, final

from tellegen.core.union_find import UnionFind
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product, solved, zeros
from tellegen.equations.printing.latex import state_space_to_latex
from tellegen.equations.printing.record import state_space_to_record
from tellegen.equations.printing.text import state_space_to_text
from tellegen.equations.signal_equations import NO_SIGNALS, SignalEquations
from tellegen.equations.system import (
    Algebraic,
    EquationSystem,
    MatrixName,
    OperatingPoint,
    PrintedForm,
    VectorName,
    with_measured_outputs,
    with_short_names_inlined,
)
from tellegen.expressions import ONE, ZERO, Add, Call, Expression, number, postorder
from tellegen.expressions.elimination import NamedEntries, leaf_count, used_names
from tellegen.expressions.simplification import multiplied_out
from tellegen.expressions.waves import joined_sines

if TYPE_CHECKING:
    from tellegen.causality import CausalGraph

MOST_COFACTORS = 4
"""So many storages that share energy are solved for by cofactors; more are eliminated one after the other, with names."""

SHORT = 3
"""Entries with more leaves than this get a name where products of them are many."""


@final
@dataclass(frozen=True)
class StateSpaceForm(PrintedForm):
    """`x' = A x + B u + B_1 u' + f`, `y = C x + D u + D_1 u' + f_y`, over parameters, displacements and the names of `where`."""

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    matrices: Mapping[MatrixName, Matrix]
    vectors: Mapping[VectorName, Vector]
    algebraic: Algebraic = field(default_factory=Algebraic)
    where: Mapping[str, Expression] = field(default_factory=dict)
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    signals: SignalEquations = NO_SIGNALS
    point: OperatingPoint | None = None
    origin: "CausalGraph | None" = field(default=None, compare=False, repr=False)
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    printers = state_space_to_text, state_space_to_latex, state_space_to_record

    def with_entries(self, change: Callable[[Expression], Expression]) -> "StateSpaceForm":
        """The form with the entries of its matrices and vectors changed."""
        return replace(
            self,
            matrices={name: tuple(tuple(map(change, row)) for row in m) for name, m in self.matrices.items()},
            vectors={name: tuple(map(change, v)) for name, v in self.vectors.items()},
        )


def state_space(system: EquationSystem) -> StateSpaceForm:
    """The state-space form of a model, with what detectors read among its outputs.

    Raises: EquationError where something measured has no row.
    """
    given = with_measured_outputs(system)
    n, m, v = len(given.states), given.matrices, given.vectors
    widths = n, len(given.inputs), len(given.inputs), 1
    right = tuple(
        (*a, *b, *b_1, -f)
        for a, b, b_1, f in zip(negative(plus(m["A"], m["N"])), m["B"], m["B_1"], v["f"], strict=True)
    )
    arithmetic = NamedEntries(given.parameters, _names(given), prefix="h")
    arithmetic.where.update(given.where)
    rates = _solved(m["L"], right, sum(widths), arithmetic)
    A, B, B_1, f = _columns(rates, widths)
    unit = tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
    matrices: dict[MatrixName, Matrix] = {**m, "L": unit, "N": zeros(n, n), "A": A, "B": B, "B_1": B_1}
    vectors: dict[VectorName, Vector] = {**v, "f": tuple(e for row in f for e in row)}
    made = replace(given, matrices=matrices, vectors=vectors, where=arithmetic.where, dependent={}, stored_energy=None)
    made = replace(made, dissipated_power=ZERO, potential_energy=ZERO)
    short = with_short_names_inlined(made, arithmetic.where.keys() - given.where.keys())
    needed = used_names(short.entries(), short.where)
    return StateSpaceForm(
        name=given.name,
        states=given.states,
        inputs=given.inputs,
        outputs=given.outputs,
        parameters=given.parameters,
        matrices={name: short.matrices[name] for name in ("A", "B", "B_1", "C", "D", "D_1")},
        vectors=short.vectors,
        algebraic=given.algebraic,
        where={name: e for name, e in short.where.items() if name in needed},
        displacements=given.displacements,
        signals=given.signals,
        point=given.point,
        origin=given.origin,
        symbols=given.symbols,
    )


def _names(system: EquationSystem) -> set[str]:
    own = {*system.states, *system.inputs, *system.outputs, *system.displacements, *system.algebraic.unknowns}
    return own | {*system.where, *system.signals.names}


def _solved(L: Matrix, right: Matrix, columns: int, arithmetic: NamedEntries) -> Matrix:
    """L^-1 right. Storages that share energy are solved for together, by cofactors where they are few, as one does by hand."""
    found: list[Vector] = [()] * len(L)
    for block in _blocks(L):
        inside, rows = tuple(tuple(L[i][j] for j in block) for i in block), tuple(right[i] for i in block)
        if len(block) > 1 and _turns(inside):
            inside, rows = (tuple(tuple(_named(e, arithmetic) for e in row) for row in m) for m in (inside, rows))
        if len(block) <= MOST_COFACTORS:
            determinant, cofactors = _cofactors(inside)
            below = ONE / (
                arithmetic.part(determinant) if isinstance(determinant, Add) and len(block) > 1 else determinant
            )
            solution = tuple(tuple(_tidied(e) * below for e in row) for row in product(cofactors, rows, columns))
        else:
            eliminated = solved(inside, rows, columns, arithmetic)
            assert eliminated is not None, "an energy matrix of independent storages is regular"
            solution = eliminated
        for i, row in zip(block, solution, strict=True):
            found[i] = row
    return tuple(found)


def _turns(matrix: Matrix) -> bool:
    """Whether sines and other functions stand in a matrix: their products would fill pages, so entries get names."""
    return any(isinstance(node, Call) for node in postorder(*(e for row in matrix for e in row)))


def _named(entry: Expression, arithmetic: NamedEntries) -> Expression:
    return arithmetic.part(entry) if leaf_count(entry) > SHORT else entry


def _blocks(L: Matrix) -> list[list[int]]:
    """The rows of L that hang together by entries beside the diagonal."""
    joined = UnionFind(len(L))
    for i, row in enumerate(L):
        for j, e in enumerate(row[:i]):
            if e is not ZERO:
                joined.join(i, j)
    blocks: dict[int, list[int]] = {}
    for i in range(len(L)):
        blocks.setdefault(joined.find(i), []).append(i)
    return list(blocks.values())


def _cofactors(matrix: Matrix) -> tuple[Expression, Matrix]:
    """The determinant of a small symmetric matrix, and its cofactors."""
    if len(matrix) == 1:
        return matrix[0][0], ((ONE,),)
    n = range(len(matrix))
    cofactors = tuple(
        tuple(_tidied(number((-1) ** (i + j)) * _cofactors(_without(matrix, i, j))[0]) for j in n) for i in n
    )
    return _tidied(dot(matrix[0], cofactors[0])), cofactors


def _without(matrix: Matrix, i: int, j: int) -> Matrix:
    return tuple((*row[:j], *row[j + 1 :]) for k, row in enumerate(matrix) if k != i)


def _tidied(expression: Expression) -> Expression:
    return joined_sines(multiplied_out(expression))


def _columns(rows: Matrix, widths: tuple[int, ...]) -> list[Matrix]:
    """The rows cut into matrices of these widths."""
    ends = [sum(widths[: k + 1]) for k in range(len(widths))]
    return [tuple(row[end - width : end] for row in rows) for width, end in zip(widths, ends, strict=True)]
