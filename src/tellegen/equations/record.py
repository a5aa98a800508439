"""Equations as JSON: names, numbers and formulas in Python syntax."""

from collections.abc import Iterable, Mapping
from typing import final

from tellegen.core.names import identifier
from tellegen.equations.display import (
    Equations,
    Sign,
    SparseForm,
    SparseRows,
    TransferForm,
    signed_power_matrix,
    vanishes,
)
from tellegen.equations.matrices import Matrix, Vector
from tellegen.expressions import Expression, Number, symbol, to_python
from tellegen.expressions.entries import used_names


def equations_to_record(equations: Equations, sign: Sign = "-", *, numeric: bool = False) -> dict[str, object]:
    """The record that `derive --json` prints.

    Names are identifiers: `drive.motor.L_a` is `drive__motor__L_a` everywhere in the record. Formulas are texts in
    Python syntax over the names listed, over those of `where` and over sin, cos, ... With sign "+" the equations are
    L x' = A x + B u: A is negated, and everything else (N and f too, on the left) is as with sign "-".
    With `numeric`, entries that are numbers are written as numbers instead of texts.
    `where`, `N`, `f`, `B_1`, `D_1`, `f_y`, `algebraic` and `dependent` are present only where not zero or empty.
    """
    variables = (*equations.states, *equations.inputs, *equations.outputs, *equations.algebraic.unknowns)
    variables = (*variables, *equations.displacements)
    writer = _Writer([*equations.parameters, *variables, *equations.dependent, *equations.where], numeric)
    record: dict[str, object] = {
        "sign": sign,
        "states": writer.names(equations.states),
        "inputs": writer.names(equations.inputs),
        "outputs": writer.names(equations.outputs),
        "parameters": writer.values(equations.parameters, equations.values()),
    }
    if equations.displacements:
        record["displacements"] = writer.definitions(equations.displacements)
    m = equations.matrices
    shown = [e for matrix in m.values() for row in matrix for e in row] + [
        e for v in equations.vectors.values() for e in v
    ]
    needed = used_names([*shown, *equations.algebraic.residuals, *equations.dependent.values()], equations.where)
    if needed:
        record["where"] = writer.definitions({name: e for name, e in equations.where.items() if name in needed})
    record |= {"L": writer.matrix(m["L"]), "A": writer.matrix(signed_power_matrix(equations, sign))}
    record |= {name: writer.matrix(m[name]) for name in ("B", "C", "D")}
    return record | _further_terms(equations, writer)


def transfer_to_record(form: TransferForm, values: Mapping[str, float]) -> dict[str, object]:
    """The transfer matrix: `G` has one row an output and one column an input, in Python syntax over `variable`."""
    writer = _Writer([form.variable, *form.parameters, *form.inputs, *form.outputs, *form.where], False)
    record: dict[str, object] = {
        "variable": writer.name(form.variable),
        "inputs": writer.names(form.inputs),
        "outputs": writer.names(form.outputs),
        "parameters": writer.values(form.parameters, values),
    }
    if form.where:
        record["where"] = writer.definitions(form.where)
    return record | {"G": writer.matrix(form.entries)}


def descriptor_to_record(form: SparseForm, values: Mapping[str, float], *, numeric: bool = False) -> dict[str, object]:
    """The descriptor form `E w' = F w + G u + h`, `y = H w + D u`.

    Each matrix is a list of its nonzero entries `[row, column, entry]`, counted from 0 in the order of `w`, `inputs` and
    `outputs`; `h` lists `[row, entry]` and is present only for nonlinear models. An entry is a text in Python syntax;
    with `numeric` those that are numbers are written as numbers.
    """
    writer = _Writer([*form.parameters, *form.unknowns, *form.inputs, *form.outputs], numeric)
    record: dict[str, object] = {
        "w": writer.names(form.unknowns),
        "inputs": writer.names(form.inputs),
        "outputs": writer.names(form.outputs),
        "parameters": writer.values(form.parameters, values),
    }
    record |= {name: writer.sparse(getattr(form, name)) for name in ("E", "F", "G", "H", "D")}
    if form.h:
        record["h"] = [[k, writer.entry(form.h[k])] for k in sorted(form.h)]
    return record


def _further_terms(equations: Equations, writer: "_Writer") -> dict[str, object]:
    """What most models do not have."""
    m, v = equations.matrices, equations.vectors
    found: dict[str, object] = {}
    for name in ("N", "f", "B_1", "D_1", "f_y"):
        if name in v:
            if not vanishes((v[name],)):
                found[name] = writer.vector(v[name])
        elif not vanishes(m[name]):
            found[name] = writer.matrix(m[name])
    if equations.algebraic.unknowns:
        residuals = [writer.formula(e) for e in equations.algebraic.residuals]
        found["algebraic"] = {"w": writer.names(equations.algebraic.unknowns), "residual": residuals}
    if equations.dependent:
        found["dependent"] = writer.definitions(equations.dependent)
    return found


@final
class _Writer:
    """Writes names as identifiers, each name as its own: where `x[1]` and `x_1` meet, the later one gets a trailing underscore."""

    def __init__(self, names: Iterable[str], numeric: bool) -> None:
        self.numeric = numeric
        self._written: dict[str, str] = {}
        taken: set[str] = set()
        for name in dict.fromkeys(names):
            written = identifier(name)
            while written in taken:
                written += "_"
            taken.add(written)
            self._written[name] = written
        self._changed: dict[str, Expression] = {
            name: symbol(written) for name, written in self._written.items() if written != identifier(name)
        }

    def name(self, name: str) -> str:
        return self._written[name]

    def names(self, names: Iterable[str]) -> list[str]:
        return [self._written[name] for name in names]

    def values(self, parameters: Iterable[str], values: Mapping[str, float]) -> dict[str, float | None]:
        return {self._written[name]: values.get(name) for name in parameters}

    def definitions(self, names: Mapping[str, Expression]) -> dict[str, str]:
        return {self._written[name]: self.formula(e) for name, e in names.items()}

    def formula(self, expression: Expression) -> str:
        if self._changed and not self._changed.keys().isdisjoint(expression.free_symbols):
            expression = expression.substitute(self._changed)
        return to_python(expression)

    def entry(self, entry: Expression) -> str | float:
        return float(entry.rational) if self.numeric and isinstance(entry, Number) else self.formula(entry)

    def vector(self, entries: Vector) -> list[str | float]:
        return [self.entry(e) for e in entries]

    def matrix(self, rows: Matrix) -> list[list[str | float]]:
        return [self.vector(row) for row in rows]

    def sparse(self, matrix: SparseRows) -> list[list[int | str | float]]:
        return [[i, j, self.entry(matrix[i, j])] for i, j in sorted(matrix)]
