"""Which terms the port-Hamiltonian form has in every printout."""

from typing import NamedTuple

from tellegen.equations.display import column, vanishes
from tellegen.equations.matrices import Matrix
from tellegen.equations.readable_forms import HamiltonianForm
from tellegen.expressions import ZERO, Expression, symbol

HEAT_NOTE = "J*K; temperature times heat flow is no power, so H_heat falls as heat spreads but is no energy"


class Share(NamedTuple):
    """A matrix inside a group, with its sign."""

    negative: bool
    matrix: str
    rows: Matrix


class Group(NamedTuple):
    """A sum of matrices times one vector, `(J - R) grad_H`; without a vector, a column of its own."""

    negative: bool
    shares: tuple[Share, ...]
    vector: str
    dotted: bool
    factors: tuple[Expression, ...]


def energy_label(form: HamiltonianForm) -> str:
    """H, or H(x) where H is a name of the model."""
    return "H(x)" if "H" in {*form.parameters, *form.states, *form.inputs, *form.where} else "H"


def energy_functions(form: HamiltonianForm) -> list[tuple[str, str, Expression | None]]:
    """H with its name, and what capacities of heat add with a word about it; a model of heat alone has no H."""
    shown: list[tuple[str, str, Expression | None]] = []
    if form.H is not ZERO or form.H_heat is ZERO:
        shown.append((energy_label(form), "", form.H))
    if form.H_heat is not ZERO:
        shown.append(("H_heat", HEAT_NOTE, form.H_heat))
    return shown


def hamiltonian_state(form: HamiltonianForm) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """Both sides of `E x' + E_1 x + f = (J - R) grad_H + (g - P) u`; f stands right. The left one is empty for x' alone."""
    m = form.matrices
    x, u = _symbols(form.states), _symbols(form.inputs)
    left: list[Group] = []
    if "E" in m:
        left = [_group([("", "E", m["E"])], "x", x, dotted=True), _group([("", "E_1", m["E_1"])], "x", x)]
    right = [
        _group([("", "J", m["J"]), ("-", "R", m["R"])], "grad_H", form.grad_H, kept={"J"}),
        _group([("", "g", m["g"]), ("-", "P", m["P"])], "u", u, kept={"g"} if u else set()),
        _group([("", "f", column(form.f))], "", (), negative=True),
    ]
    return _filled(left), _filled(right)


def hamiltonian_output(form: HamiltonianForm) -> tuple[Group, ...]:
    """The right side of `y = (g + P)^T grad_H + (S + N) u + f_y`."""
    m = form.matrices
    n = len(form.inputs)
    g, p = _turned(m["g"], n), _turned(m["P"], n)
    kept = {"g^T"} if form.states else {"S"}
    return _filled(
        [
            _group([("", "g^T", g), ("", "P^T", p)], "grad_H", form.grad_H, kept=kept),
            _group([("", "S", m["S"]), ("", "N", m["N"])], "u", _symbols(form.inputs), kept=kept),
            _group([("", "f_y", column(form.f_y))], "", ()),
        ]
    )


def _group(
    shares: list[tuple[str, str, Matrix]],
    vector: str,
    factors: tuple[Expression, ...],
    *,
    dotted: bool = False,
    negative: bool = False,
    kept: set[str] | frozenset[str] = frozenset(),
) -> Group:
    shown = [(sign, name, rows) for sign, name, rows in shares if name in kept or not vanishes(rows)]
    return Group(negative, tuple(Share(sign == "-", name, rows) for sign, name, rows in shown), vector, dotted, factors)


def _filled(groups: list[Group]) -> tuple[Group, ...]:
    return tuple(group for group in groups if group.shares)


def _symbols(names: tuple[str, ...]) -> tuple[Expression, ...]:
    return tuple(map(symbol, names))


def _turned(matrix: Matrix, columns: int) -> Matrix:
    return tuple(tuple(row[j] for row in matrix) for j in range(columns))
