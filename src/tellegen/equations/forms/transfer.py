"""The transfer matrix of a linear model: `y(s) = G(s) u(s)` from rest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, log
from typing import final

from tellegen.core.names import unused
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, plus, product, scaled, solved
from tellegen.equations.printing.latex import transfer_to_latex
from tellegen.equations.printing.record import transfer_to_record
from tellegen.equations.printing.text import transfer_to_text
from tellegen.equations.system import EquationSystem, OperatingPoint, PrintedForm, number_of, with_values
from tellegen.expressions import ZERO, Call, Expression, number, postorder, symbol
from tellegen.expressions.elimination import NamedEntries, leaf_count
from tellegen.expressions.sympy_view import rational_functions

MOST_STATES, MOST_SYMBOLS, MOST_LEAVES = 6, 16, 60
"""Up to here numerators and denominators are written as polynomials; larger models get named entries instead."""


@final
@dataclass(frozen=True)
class TransferMatrix(PrintedForm):
    """G(s) with one row an output and one column an input, over parameters, `s` and the names in `where`."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    entries: Matrix
    where: Mapping[str, Expression] = field(default_factory=dict)
    variable: str = "s"
    point: OperatingPoint | None = None
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    printers = transfer_to_text, transfer_to_latex, transfer_to_record


def transfer_matrix(system: EquationSystem, *, numeric: bool = False) -> TransferMatrix:
    """C (L s + A)^-1 (B + B_1 s) + D + D_1 s, with `numeric` over numbers in place of parameters.

    Raises: EquationError for a nonlinear model, which has a transfer matrix only about an operating point, and for a parameter
    without the value that `numeric` needs.
    """
    settled = with_values(system) if numeric else system
    if not system.linear:
        system = settled  # a law may be curved but for its values
    if not system.linear:
        raise rules.NOT_LINEAR.error(
            f"'{system.name}' is not linear", where=system.name, fix="linearise it at an operating point first"
        )
    name = unused("s", {*system.parameters, *system.where})
    s = symbol(name)
    small = _is_small(settled)
    # A large one is solved over symbols even where numbers are asked for: what cancels there is zero, and no rounding of
    # it becomes a pivot.
    m = (settled if small else system).matrices
    pencil = plus(scaled(m["L"], s), m["A"])
    right = plus(m["B"], scaled(m["B_1"], s))
    direct = plus(m["D"], scaled(m["D_1"], s))
    where: Mapping[str, Expression] = {}
    if not system.inputs or not system.outputs:
        entries: Matrix = tuple(() for _ in system.outputs)
    elif small:
        entries = rational_functions(pencil, right, m["C"], direct, name)
    else:
        taken = [*system.where, *system.states, *system.inputs, name]
        arithmetic = NamedEntries(system.parameters, taken, prefix="g", at=_place_of(pencil, m["L"], m["A"], name))
        arithmetic.where.update(system.where)
        found = solved(pencil, right, len(system.inputs), arithmetic)
        assert found is not None, "the pencil of a model is regular"
        # Named entries are sums of fractions in s: correct, quick, and not one quotient of polynomials.
        entries, where = plus(direct, product(m["C"], found, len(system.inputs))), arithmetic.where
        if numeric:
            entries, where = _valued(entries, where, system.values(), system.name)
    return TransferMatrix(
        name=system.name,
        inputs=system.inputs,
        outputs=system.outputs,
        parameters=system.parameters,
        entries=entries,
        where=where,
        variable=name,
        point=system.point,
    )


def _place_of(pencil: Matrix, inertia: Matrix, rest: Matrix, name: str) -> dict[str, float] | None:
    """Where entries of numbers are measured: at a speed in the middle of the model's. Symbols need no measure."""
    if any(not e.free_symbols <= {name} for row in pencil for e in row):
        return None
    sizes = [[abs(e.evaluate({})) for row in matrix for e in row if e is not ZERO] for matrix in (inertia, rest)]
    middle = [exp(sum(log(v) for v in some if v > 0.0) / max(sum(v > 0.0 for v in some), 1)) for some in sizes]
    return {name: middle[1] / middle[0]}


def _valued(
    entries: Matrix, where: Mapping[str, Expression], values: Mapping[str, float], model: str
) -> tuple[Matrix, Mapping[str, Expression]]:
    """Entries and the names in them with numbers for parameters; a name for what is then a number is put in too."""
    numbers = {name: number(value) for name, value in values.items()}
    kept = {}
    for name, e in where.items():
        valued = e.substitute(numbers)
        if valued.free_symbols:
            kept[name] = valued
        else:
            numbers[name] = number(number_of(valued, {}, model))
    return tuple(tuple(e.substitute(numbers) for e in row) for row in entries), kept


def _is_small(system: EquationSystem) -> bool:
    matrices = [system.matrices[name] for name in ("L", "A", "B", "C", "D", "B_1", "D_1")]
    entries = [e for matrix in matrices for row in matrix for e in row if e is not ZERO]
    symbols: set[str] = set().union(*(e.free_symbols for e in entries)) if entries else set()
    size = sum(map(leaf_count, entries))
    if any(isinstance(node, Call) for node in postorder(*entries)):  # to polynomials, each sine is one more unknown
        return False
    # Beyond this the polynomials of one entry fill a page, and SymPy's time for cancelling them grows without bound.
    return (
        not system.where and len(system.states) <= MOST_STATES and len(symbols) <= MOST_SYMBOLS and size <= MOST_LEAVES
    )
