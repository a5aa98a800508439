"""The last touch on equations: short names inlined, nested fractions cleared, the rest left as named."""

from collections.abc import Mapping
from dataclasses import replace

from tellegen.equations.system import EquationSystem
from tellegen.expressions import Expression
from tellegen.expressions.entries import LONGEST, leaves, used_names
from tellegen.expressions.rational import shortened


def tidied(system: EquationSystem) -> EquationSystem:
    """The system with names inlined that are short or used once, and with the fractions of short entries brought together."""
    system = _inlined(system)
    known: dict[Expression, Expression] = {}
    longest = 8 if system.where else 2 * LONGEST  # a mesh keeps its names, and its entries as elimination left them

    def shorter(expression: Expression) -> Expression:
        if expression not in known:
            known[expression] = shortened(expression) if leaves(expression) <= longest else expression
        return known[expression]

    power, energy = system.dissipated_power, system.stored_energy  # sums of squares read best as they are
    return replace(system.with_entries(shorter), dissipated_power=power, stored_energy=energy)


def _inlined(system: EquationSystem) -> EquationSystem:
    where = dict(system.where)
    entries = system.entries()
    while where:
        uses = used_names(entries, where)
        short = {
            name: e
            for name, e in where.items()
            if name not in uses or (uses[name] == 1 and leaves(e) <= LONGEST) or leaves(e) <= 3
        }
        if not short:
            break
        where = {name: _substitute(e, short) for name, e in where.items() if name not in short}
        entries = [_substitute(e, short) for e in entries]
        system = system.with_entries(lambda e, short=short: _substitute(e, short))  # type: ignore[misc]
        if any(leaves(e) > 2 * LONGEST for e in entries):
            break
    return replace(system, where=where)


def _substitute(expression: Expression, mapping: Mapping[str, Expression]) -> Expression:
    """Replace names that may stand for each other, until none is left."""
    while any(name in mapping for name in expression.free_symbols):
        expression = expression.substitute(mapping)
    return expression
