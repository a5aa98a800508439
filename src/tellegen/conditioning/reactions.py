"""What elements carry in models whose dependent storages are gone: signals, by what is left of the model.

Where storages are merged into a field, the inertia of the dependent ones no longer acts at their nodes: what the field takes at one
of its ports is no element's own, and what an ideal sensor between two nodes reads is a static share. So forces of constraints, of
joints and of the merged storages are found from the model with its constraints opened, as formulas of states, displacements and
inputs that both have in common, and each name of the model as it was stands for what it stood for there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.conditioning.balance import Balance, Forces
from tellegen.conditioning.constrained import Constrained, output_of
from tellegen.conditioning.merging import Merged
from tellegen.conditioning.opening import Opened, force_signal
from tellegen.conditioning.residual import MOST_DRIVEN
from tellegen.conditioning.signals import formula_signal, unit_of
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.description.model import Model
from tellegen.description.signals.values import SignalDefinition
from tellegen.equations.matrices import dot
from tellegen.equations.port_readings import port_readings
from tellegen.equations.storage import held_energy
from tellegen.expressions import HALF, ONE, ZERO, Expression, number, symbol, total
from tellegen.graph import Port, StorageLaw, lower
from tellegen.graph.power_graph import heat_taken

STATIC = "_static"
"""Behind the name of a force: its share without the inertia of the storages that are merged."""


@final
@dataclass(frozen=True)
class _Reading:
    """A power variable of an element by a formula."""

    element: str
    domain: str
    side: Side
    formula: Expression


def with_forces(model: Model, found: Constrained, opened: Opened, merged: Merged) -> Model:
    """A model without its dependent storages, with forces of constraints and joints and what the storages took as signals.

    Where the forces have no formula, because storages are fields of their own, only what the storages hold is told.
    """
    hidden = _hidden(model, found)
    signals = {name: formula_signal(name, e, unit) for name, (e, unit) in hidden.items()} | _energies(merged)
    balance = Balance(found, opened)
    renamed: dict[str, dict[str, str]] = {}
    if balance.apart:
        forces = balance.forces()
        signals |= _forces(balance, forces, opened)
        for name, reading in _readings(balance, forces, merged).items():
            signals[name] = formula_signal(name, reading.formula, unit_of(reading.domain, reading.side))
            renamed.setdefault(reading.element, {})[reading.side] = f"{name}{STATIC}"
        signals |= _powers(merged)
    elements = tuple(
        replace(e, variables={**e.variables, **renamed[e.name]}) if e.name in renamed else e for e in model.elements
    )
    return replace(model, elements=elements, signals={**model.signals, **signals})


def _hidden(model: Model, found: Constrained) -> dict[str, tuple[Expression, str]]:
    """Outputs of dependent storages that no sensor reads, for want of one in their domain: formula and unit."""
    known = {name for port in lower(model).ports for name in (port.across, port.through)}
    ports = {output_of(port): port for port in found.causal.graph.ports if isinstance(port.law, StorageLaw)}
    return {
        n: (found.written(e), unit_of(ports[n].domain, ports[n].law.side))
        for n, e in found.system.dependent.items()
        if n not in known
    }


def _forces(balance: Balance, forces: Forces, opened: Opened) -> dict[str, SignalDefinition]:
    """The forces of the constraints, with names for what grows long in them."""
    formulas, where = _formulas(balance, forces)
    openings = {opening.name: opening for opening in opened.openings}
    signals = {n: formula_signal(n, e) for n, e in {**where, **formulas}.items() if n not in openings}
    signals |= {n: force_signal(openings[n], e) for n, e in formulas.items() if n in openings}
    return signals | {opening.name: force_signal(opening, symbol(opening.sensor)) for opening in opened.held}


def _formulas(balance: Balance, forces: Forces) -> tuple[dict[str, Expression], Mapping[str, Expression]]:
    """The forces by formulas; many of them by a loop of signals, linear in the forces, which the compiled code solves."""
    if not balance.system.algebraic.unknowns and (len(forces.unknowns) <= MOST_DRIVEN or balance.thin):
        solution = balance.solution(forces)
        return dict(solution.formulas), solution.where
    unknowns = [symbol(name) for name in forces.unknowns]
    written: dict[str, Expression] = {}
    for i, (row, right) in enumerate(zip(forces.matrix, forces.right, strict=True)):
        scale = ONE if row[i] is ZERO else row[i]
        written[forces.unknowns[i]] = unknowns[i] + (right - dot(row, unknowns)) / scale
    return written, {}


# -- elements ------------------------------------------------------------------------------------------------------------------


def _readings(balance: Balance, forces: Forces, merged: Merged) -> dict[str, _Reading]:
    """What elements carry, by name: the merged storages, and others where forces of constraints have a share in it."""
    own = {opening.name for opening in balance.opened.openings}
    stored = {merged.found.causal.graph.ports[k].element for k in merged.storages}
    places: dict[str, tuple[Port, Side]] = {}
    for k, port in enumerate(balance.graph.ports):
        if port.element not in own:
            side = other_side(port.law.side) if port.element in stored else balance.causal.follows(k)
            places[port.variable(side)] = (port, side)
    formulas = port_readings(balance.causal, places)
    names, held = {*forces.unknowns}, {opening.sensor for opening in balance.opened.held}
    found: dict[str, _Reading] = {}
    for name, (port, side) in places.items():
        formula = formulas.get(name, symbol(name))
        if port.element in stored or names & formula.free_symbols or name in held:
            massless = isinstance(port.law, StorageLaw) and port.law.inertia is ZERO
            found[name] = _Reading(port.element, port.domain, side, ZERO if massless else formula)
    return found


def _powers(merged: Merged) -> dict[str, SignalDefinition]:
    """What each merged storage takes."""
    graph = merged.found.causal.graph
    found: dict[str, SignalDefinition] = {}
    for k in merged.storages:
        port = graph.ports[k]
        heat = DOMAINS[port.domain].heat_books  # a heat flow is a power by itself
        other = number(heat_taken(port, graph.nodes)) if heat else symbol(port.across)
        name = f"power.{port.element}"
        found[name] = formula_signal(name, other * symbol(port.through), "W")
    return found


def _energies(merged: Merged) -> dict[str, SignalDefinition]:
    """What each merged storage holds, where a formula tells it."""
    ports = [merged.found.causal.graph.ports[k] for k in merged.storages]
    x = [symbol(output_of(port)) for port in ports]
    if not merged.linear:
        held = {f"energy.{port.element}": held_energy(port, at) for port, at in zip(ports, x, strict=True)}
        return {name: formula_signal(name, e, "J") for name, e in held.items() if e is not None}
    found: dict[str, SignalDefinition] = {}
    for i, port in enumerate(ports):
        content = total(e * x[b] for (a, b), e in merged.energy.items() if a == i)
        name = f"energy.{port.element}"
        found[name] = formula_signal(name, content if DOMAINS[port.domain].heat_books else HALF * x[i] * content, "J")
    return found
