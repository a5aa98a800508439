"""Equations with numbers in place of parameters."""

from dataclasses import replace

from tellegen.core.names import TIME
from tellegen.equations.system import EquationSystem
from tellegen.equations.values import number_of
from tellegen.expressions import Expression, number


def with_values(system: EquationSystem) -> EquationSystem:
    """The system with every parameter replaced by its value, and every name of `where` that is then a number.

    Raises: EquationError naming a parameter without a value.
    """
    values = system.values()
    numbers: dict[str, Expression] = {name: number(value) for name, value in values.items()}
    variables = {*system.states, *system.inputs, *system.displacements, *system.algebraic.unknowns}
    variables |= {*system.signals.names, TIME}

    def value(expression: Expression) -> Expression:
        if variables.isdisjoint(expression.free_symbols):
            return number(number_of(expression, values, system.name))
        return expression.substitute(numbers)

    where: dict[str, Expression] = {}
    for name, expression in system.where.items():
        if variables.isdisjoint(expression.free_symbols):
            values[name] = number_of(expression, values, system.name)
            numbers[name] = number(values[name])
        else:
            where[name] = expression.substitute(numbers)
            variables.add(name)
    rates = {name: value(e) for name, e in system.displacements.items()}
    return replace(system.with_entries(value), where=where, displacements=rates)
