"""A program written out: steps become statements, parameters become variables, copies disappear."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.compiler.program import Program
from tellegen.compiler.statements import Let, Read, Statement
from tellegen.compiler.steps import Group, Reading, Rows, Step, variable
from tellegen.expressions import Expression, Mul, Number, Symbol, substitute_all, total


@final
@dataclass
class Flat:
    """The statements of a program. `parameters` gives the variable of each parameter; `value` what a variable stands for."""

    program: Program
    names: list[str]
    parameters: dict[str, int]
    core: list[Statement] = field(default_factory=list)
    observing: list[Statement] = field(default_factory=list)
    copies: dict[str, Expression] = field(default_factory=dict)

    def fresh(self, name: str) -> int:
        """A new variable."""
        self.names.append(name)
        return len(self.names) - 1

    def value(self, k: int) -> Expression:
        """The expression of a variable: itself, or what it is a copy of."""
        return self.copies.get(f"%{k}", variable(k))


def flatten(program: Program) -> Flat:
    """Write a program out."""
    names = list(program.names)
    parameters: dict[str, int] = {}
    for name in (*program.parameters, *program.formulas):
        if name not in parameters:
            parameters[name] = len(names)
            names.append(name)
    flat = Flat(program, names, parameters)
    writer = _Writer(flat)
    writer.formulas(program.formulas)
    flat.core = list(writer.statements(program.core))
    flat.core[:0] = writer.definitions
    flat.observing = list(writer.statements(program.observing))
    return flat


@final
class _Writer:
    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.definitions: list[Statement] = []
        self._parameter = {name: variable(k) for name, k in flat.parameters.items()}

    def formulas(self, formulas: Mapping[str, Expression]) -> None:
        """Parameters given by others, each after those it uses."""
        waiting = dict(formulas)
        while waiting:
            ready = [name for name, e in waiting.items() if waiting.keys().isdisjoint(e.free_symbols)]
            assert ready, "no parameter is defined by itself"
            for name in ready:
                value = waiting.pop(name).substitute(self._parameter)
                self.definitions.append(Let(self.flat.parameters[name], value))

    def statements(self, steps: Iterable[Step]) -> Iterator[Statement]:
        """Every member of every step, copies left out."""
        for step in steps:
            if isinstance(step, Reading):
                arguments = tuple(self.flat.value(k) for k in step.arguments)
                yield Read(step.kind, step.number, step.target, arguments)
                continue
            for target, value in _rows(step) if isinstance(step, Rows) else _members(step):
                yield from self._let(target, value)

    def _let(self, target: int, value: Expression) -> Iterator[Statement]:
        known = self._parameter, self.flat.copies
        named = {name: found[name] for found in known for name in value.free_symbols if name in found}
        (written,) = substitute_all((value,), named)
        if _is_copy(written):
            self.flat.copies[f"%{target}"] = written
        else:
            yield Let(target, written)


def _rows(rows: Rows) -> Iterator[tuple[int, Expression]]:
    for r, target in enumerate(rows.targets):
        yield target, total(gain * variable(k) for k, gain in rows.entries(r))


def _members(group: Group) -> Iterator[tuple[int, Expression]]:
    for r, target in enumerate(group.targets):
        own: dict[str, Expression] = {f"@{k}": variable(column[r]) for k, column in enumerate(group.arguments)}
        own |= {f"#{k}": column[r] for k, column in enumerate(group.coefficients)}
        yield target, group.template.substitute(own)


def _is_copy(value: Expression) -> bool:
    """Whether a value is a number or a variable, with a sign or without."""
    if isinstance(value, Mul) and value.coefficient == -1 and len(value.factors) == 1:
        base, q = value.factors[0]
        return q == 1 and isinstance(base, Symbol)
    return isinstance(value, Symbol | Number)
