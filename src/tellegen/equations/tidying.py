"""The last touch on equations: short names inlined, nested fractions cleared, the rest left as named."""

from collections.abc import Collection
from dataclasses import replace

from tellegen.equations.system import EquationSystem
from tellegen.expressions import Expression
from tellegen.expressions.angles import joined_angles
from tellegen.expressions.entries import LONGEST, leaves, substituted, used_names
from tellegen.expressions.rational import shortened


def tidied(system: EquationSystem, temporary: Collection[str]) -> EquationSystem:
    """The system with temporary names inlined that are short or used once, and short fractions brought together."""
    joined_where = {name: joined_angles(e) if name in temporary else e for name, e in system.where.items()}
    system = _inlined(replace(system, where=joined_where), temporary)
    known: dict[Expression, Expression] = {}
    meshed = any(name in temporary for name in system.where)
    longest = 8 if meshed else 2 * LONGEST  # a mesh keeps its names, and its entries as elimination left them

    def shorter(expression: Expression) -> Expression:
        if expression not in known:
            joined = joined_angles(expression)
            known[expression] = joined_angles(shortened(joined)) if leaves(joined) <= longest else joined
        return known[expression]

    # Sums of squares read best as they are.
    power = joined_angles(system.dissipated_power)
    energy = None if system.stored_energy is None else joined_angles(system.stored_energy)
    return replace(system.with_entries(shorter), dissipated_power=power, stored_energy=energy, signals=system.signals)


def _inlined(system: EquationSystem, temporary: Collection[str]) -> EquationSystem:
    where = dict(system.where)
    entries = system.entries()
    while where:
        uses = used_names(entries, where)
        short = {
            name: e
            for name, e in where.items()
            if name not in uses
            or (name in temporary and ((uses[name] == 1 and leaves(e) <= LONGEST) or leaves(e) <= 3))
        }
        if not short:
            break
        where = {name: substituted(e, short) for name, e in where.items() if name not in short}
        entries = [substituted(e, short) for e in entries]
        system = system.with_entries(lambda e, short=short: substituted(e, short))  # type: ignore[misc]
        if any(leaves(e) > 2 * LONGEST for e in entries):
            break
    return replace(system, where=where)
