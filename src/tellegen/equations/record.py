"""Equations as JSON: names, numbers and formulas in Python syntax."""

from collections.abc import Iterable, Mapping

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
from tellegen.expressions import Expression, Number, to_python


def equations_to_record(equations: Equations, sign: Sign = "-", *, numeric: bool = False) -> dict[str, object]:
    """The record that `derive --json` prints.

    Names are identifiers: `drive.motor.L_a` is `drive__motor__L_a` everywhere in the record. Formulas are texts in
    Python syntax over the names listed, over those of `where` and over sin, cos, ... With sign "+" the equations are
    L x' = A x + B u: A is negated, and everything else (N and f too, on the left) is as with sign "-".
    With `numeric`, entries that are numbers are written as numbers instead of texts.
    `where`, `N`, `f`, `B_1`, `D_1`, `f_y`, `algebraic` and `dependent` are present only where not zero or empty.
    """
    values = equations.values()
    record: dict[str, object] = {
        "sign": sign,
        "states": _names(equations.states),
        "inputs": _names(equations.inputs),
        "outputs": _names(equations.outputs),
        "parameters": _values(equations.parameters, values),
    }
    if equations.where:
        record["where"] = _definitions(equations.where)
    m = equations.matrices
    record |= {"L": _matrix(m["L"], numeric), "A": _matrix(signed_power_matrix(equations, sign), numeric)}
    record |= {name: _matrix(m[name], numeric) for name in ("B", "C", "D")}
    return record | _further_terms(equations, numeric)


def transfer_to_record(form: TransferForm, values: Mapping[str, float]) -> dict[str, object]:
    """The transfer matrix: `G` has one row an output and one column an input, in Python syntax over `variable`."""
    record: dict[str, object] = {
        "variable": identifier(form.variable),
        "inputs": _names(form.inputs),
        "outputs": _names(form.outputs),
        "parameters": _values(form.parameters, values),
    }
    if form.where:
        record["where"] = _definitions(form.where)
    return record | {"G": _matrix(form.entries, False)}


def descriptor_to_record(form: SparseForm, values: Mapping[str, float], *, numeric: bool = False) -> dict[str, object]:
    """The descriptor form `E w' = F w + G u + h`, `y = H w + D u`.

    Each matrix is a list of its nonzero entries `[row, column, entry]`, counted from 0 in the order of `w`, `inputs`,
    `outputs`; `h` lists `[row, entry]` and is present only for nonlinear models. An entry is a text in Python syntax;
    with `numeric` those that are numbers are written as numbers.
    """
    record: dict[str, object] = {
        "w": _names(form.unknowns),
        "inputs": _names(form.inputs),
        "outputs": _names(form.outputs),
        "parameters": _values(form.parameters, values),
        "E": _sparse(form.E, numeric),
        "F": _sparse(form.F, numeric),
        "G": _sparse(form.G, numeric),
        "H": _sparse(form.H, numeric),
        "D": _sparse(form.D, numeric),
    }
    if form.h:
        record["h"] = [[k, _entry(form.h[k], numeric)] for k in sorted(form.h)]
    return record


def _further_terms(equations: Equations, numeric: bool) -> dict[str, object]:
    """What most models do not have."""
    m, v = equations.matrices, equations.vectors
    found: dict[str, object] = {}
    for name in ("N", "f", "B_1", "D_1", "f_y"):
        if name in v:
            if not vanishes((v[name],)):
                found[name] = _vector(v[name], numeric)
        elif not vanishes(m[name]):
            found[name] = _matrix(m[name], numeric)
    if equations.algebraic.unknowns:
        algebraic = equations.algebraic
        found["algebraic"] = {"w": _names(algebraic.unknowns), "residual": _vector(algebraic.residuals, False)}
    if equations.dependent:
        found["dependent"] = _definitions(equations.dependent)
    return found


def _names(names: Iterable[str]) -> list[str]:
    return [identifier(name) for name in names]


def _values(parameters: Iterable[str], values: Mapping[str, float]) -> dict[str, float | None]:
    return {identifier(name): values.get(name) for name in parameters}


def _definitions(names: Mapping[str, Expression]) -> dict[str, str]:
    return {identifier(name): to_python(e) for name, e in names.items()}


def _entry(entry: Expression, numeric: bool) -> str | float:
    return float(entry.rational) if numeric and isinstance(entry, Number) else to_python(entry)


def _vector(entries: Vector, numeric: bool) -> list[str | float]:
    return [_entry(e, numeric) for e in entries]


def _matrix(rows: Matrix, numeric: bool) -> list[list[str | float]]:
    return [_vector(row, numeric) for row in rows]


def _sparse(matrix: SparseRows, numeric: bool) -> list[list[int | str | float]]:
    return [[i, j, _entry(matrix[i, j], numeric)] for i, j in sorted(matrix)]
