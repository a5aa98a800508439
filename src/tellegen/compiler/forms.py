"""The implicit form F(t, y, yp) and, where it can be had, the explicit form f(t, y), as statements.

Algebraic unknowns are solved inside by Newton's method; a coupled mass matrix inside by elimination. Both are possible for small
systems only; the others keep their unknowns in y and have no explicit form.
"""

from dataclasses import dataclass
from typing import final

from tellegen.compiler.flattening import Flat
from tellegen.compiler.statements import (
    Let,
    Newton,
    Solve,
    Statement,
    Tangents,
    needed,
    reached_from,
    reads,
    targets_of,
    variables_in,
)
from tellegen.compiler.steps import variable
from tellegen.core.union_find import UnionFind
from tellegen.expressions import ONE, ZERO, Expression, substitute_all

LARGEST_SOLVED = 30
"""More unknowns, or more states in one block of the mass matrix, are left to a solver of differential-algebraic equations."""


@final
@dataclass(frozen=True)
class Implicit:
    """F and what it needs. `hidden` unknowns are solved inside and so are no part of y."""

    statements: list[Statement]
    residuals: list[Expression]
    y: list[int]
    rates: list[int]
    hidden: list[int]


@final
@dataclass(frozen=True)
class Explicit:
    """f and what it needs."""

    statements: list[Statement]
    rates: list[Expression]


def implicit_form(flat: Flat) -> Implicit:
    """F as the program has it, its unknowns hidden."""
    program = flat.program
    residuals = [flat.value(k) for k in program.residuals]
    plain = Implicit(flat.core, residuals, program.y, program.rates, [])
    return plain if not program.unknowns else _hidden(flat, plain) or plain


def _hidden(flat: Flat, plain: Implicit) -> Implicit | None:
    """The same with its unknowns solved inside; None where rates have a say in them or they are too many."""
    unknowns = flat.program.unknowns
    first = len(plain.y) - len(unknowns)
    residuals = tuple(plain.residuals[first:])
    if len(unknowns) > LARGEST_SOLVED or reached_from(flat.core, plain.rates) & variables_in(residuals):
        return None
    asked = needed(flat.core, residuals)
    moving = reached_from(asked, unknowns)
    body = tuple(s for s in asked if not moving.isdisjoint(targets_of(s)))
    inside = set(body)
    before = [s for s in asked if s not in inside]
    newton = _newton(flat, unknowns, body, residuals)
    done = {*body, *before}
    after = [s for s in flat.core if s not in done]
    return Implicit(
        [*before, newton, *body, *after], plain.residuals[:first], plain.y[:first], plain.rates[:first], list(unknowns)
    )


def _newton(flat: Flat, unknowns: list[int], body: tuple[Statement, ...], residuals: tuple[Expression, ...]) -> Newton:
    slopes: list[Statement] = []
    columns: list[list[Expression]] = []
    own = set(body)
    for w in unknowns:
        tangents = Tangents({w: ONE}, flat.fresh)
        tangents.follow(body)
        columns.append([tangents.tangent(e) for e in residuals])
        slopes += [s for s in tangents.statements if s not in own]
    jacobian = tuple(tuple(column[i] for column in columns) for i in range(len(residuals)))
    entries = [e for row in jacobian for e in row]
    moving = reached_from((*body, *slopes), unknowns)
    linear = moving.isdisjoint(variables_in(entries))
    return Newton(tuple(unknowns), body, tuple(slopes), residuals, jacobian, linear, scratch=0)


def explicit_form(flat: Flat, form: Implicit) -> Explicit | None:
    """F = M yp - g solved for yp; None where yp does not enter that way or the matrix is too large or unknowns are left."""
    if flat.program.unknowns and not form.hidden:
        return None
    moving = reached_from(form.statements, form.rates)
    if any(isinstance(s, Newton) and not moving.isdisjoint(targets_of(s)) for s in form.statements):
        return None
    mass, slopes = _mass(flat, form, moving)
    if mass is None:
        return None
    at_rest = {f"%{k}": ZERO for k in form.rates}
    statements: list[Statement] = []
    for statement in form.statements:
        if moving.isdisjoint(targets_of(statement)):
            statements.append(statement)
            continue
        if not isinstance(statement, Let):
            return None
        k = flat.fresh(f"{flat.names[statement.target]} at rest")
        statements.append(Let(k, statement.value.substitute(at_rest)))
        at_rest[f"%{statement.target}"] = variable(k)  # type: ignore[assignment]
    right = [-e for e in substitute_all(tuple(form.residuals), at_rest)]
    return _solved(flat, [*statements, *slopes], mass, right)


Rows = list[dict[int, Expression]]


def _mass(flat: Flat, form: Implicit, moving: set[int]) -> tuple[Rows | None, list[Statement]]:
    """The matrix M by rows, and the statements that its entries need; None where an entry depends on rates."""
    rows: Rows = [{} for _ in form.residuals]
    slopes: list[Statement] = []
    dynamic = [s for s in form.statements if not moving.isdisjoint(targets_of(s))]
    own = set(dynamic)
    for j, rate in enumerate(form.rates):
        tangents = Tangents({rate: ONE}, flat.fresh)
        tangents.follow(dynamic)
        slopes += [s for s in tangents.statements if s not in own]
        for i, residual in enumerate(form.residuals):
            entry = tangents.tangent(residual)
            if entry is not ZERO:
                rows[i][j] = entry
    entries = [e for row in rows for e in row.values()]
    read = variables_in(entries)
    slopes = needed(slopes, entries)
    for statement in slopes:
        read |= reads(statement)
    return (rows if moving.isdisjoint(read) else None), slopes


def _solved(flat: Flat, statements: list[Statement], mass: Rows, right: list[Expression]) -> Explicit | None:
    size = len(mass)
    groups = UnionFind(size)
    for i, row in enumerate(mass):
        for j in row:
            groups.join(i, j)
    blocks: dict[int, list[int]] = {}
    for i in range(size):
        blocks.setdefault(groups.find(i), []).append(i)
    rates: list[Expression] = [ZERO] * size
    for block in blocks.values():
        if len(block) > LARGEST_SOLVED or any(not mass[i] for i in block):
            return None
        if len(block) == 1:
            (i,) = block
            rates[i] = right[i] / mass[i][i]
            continue
        targets = tuple(flat.fresh(f"{flat.names[flat.program.y[i]]}'") for i in block)
        matrix = tuple(tuple(mass[i].get(j, ZERO) for j in block) for i in block)
        statements.append(Solve(targets, matrix, tuple(right[i] for i in block)))
        for i, k in zip(block, targets, strict=True):
            rates[i] = variable(k)
    return Explicit(statements, rates)
