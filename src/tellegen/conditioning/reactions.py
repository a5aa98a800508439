"""Forces of constraints and joints in models whose dependent storages are gone: signals, by what is left of the model.

Where storages are merged into a field, the inertia of the dependent ones no longer acts at their nodes, and what an ideal sensor
between two nodes reads is a static share. So the forces are found from the model with its constraints opened, as formulas of
states, displacements and inputs that both have in common, and the name of the sensor stands for the whole force.
"""

from collections.abc import Mapping
from dataclasses import replace

from tellegen.conditioning.balance import Balance, Forces
from tellegen.conditioning.constrained import Constrained
from tellegen.conditioning.opening import Opened, force_signal
from tellegen.conditioning.residual import MOST_DRIVEN
from tellegen.conditioning.signals import formula_signal, unit_of
from tellegen.core.domains import Side
from tellegen.description.model import Model, SignalDefinition
from tellegen.equations.matrices import dot
from tellegen.equations.port_readings import port_readings
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.graph import ResistiveLaw, lower

STATIC = "_static"
"""Behind the name of a force: its share without the inertia of the storages that are merged."""


def with_forces(model: Model, found: Constrained, opened: Opened) -> Model:
    """A model without its dependent storages, with the forces of their constraints and of its joints as signals.

    Where the forces have no formula, because storages are fields of their own, the model stays as it is.
    """
    balance = Balance(found, opened)
    if not balance.apart:
        return model
    forces = balance.forces()
    formulas, where = _formulas(balance, forces)
    openings = {opening.name: opening for opening in opened.openings}
    sensed = _sensed(balance, forces)
    known = {port.variable(port.law.side) for port in lower(model).ports}
    hidden = {n: found.written(e) for n, e in found.system.dependent.items() if n not in known}
    signals: dict[str, SignalDefinition] = {}
    for name, formula in {**where, **formulas}.items():
        written = formula.substitute(hidden)
        signals[name] = force_signal(openings[name], written) if name in openings else formula_signal(name, written)
    for name, (_, _, unit, formula) in sensed.items():
        signals[name] = formula_signal(name, formula.substitute(hidden), unit)
    signals |= {opening.name: force_signal(opening, symbol(opening.sensor)) for opening in opened.held}
    renamed: dict[str, dict[str, str]] = {e: {side: f"{name}{STATIC}"} for name, (e, side, _, _) in sensed.items()}
    elements = tuple(
        replace(e, variables={**e.variables, **renamed[e.name]}) if e.name in renamed else e for e in model.elements
    )
    return replace(model, elements=elements, signals={**model.signals, **signals})


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


def _sensed(balance: Balance, forces: Forces) -> dict[str, tuple[str, Side, str, Expression]]:
    """What ideal sensors of the model read where forces of constraints have a share in it: element, side, unit and formula."""
    own = {opening.name for opening in balance.opened.openings}
    places: dict[str, tuple[str, Side, str]] = {}
    for k, port in enumerate(balance.graph.ports):
        if isinstance(port.law, ResistiveLaw) and port.law.ideal and port.element not in own:
            side = balance.causal.follows(k)
            places[port.variable(side)] = (port.element, side, unit_of(port.domain, side))
    readings = port_readings(balance.causal, places)
    names, held = {*forces.unknowns}, {opening.sensor for opening in balance.opened.held}
    return {n: (*places[n], e) for n, e in readings.items() if names & e.free_symbols or n in held}
