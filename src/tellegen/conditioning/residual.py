"""Residual sinks: the forces of the constraints, solved for explicitly, so that every storage has integral causality; and what
elements carry where dependent storages are gone.

A sink between two storages injects the force that keeps the difference of their velocities at zero, and lets errors of it decay at
the rate alpha. Small systems and chains are solved with symbols, long entries by name; in others each sink reads what the storages
take, and the compiled code solves for all forces at once. A speed without inertia, such as that of a slide in a guide that turns,
is the state of an integral whose rate is solved for along with the forces.

Where storages are merged into a field, the inertia of the dependent ones no longer acts at their nodes: what the field takes at one
of its ports is no element's own, and what an ideal sensor between two nodes reads is a static share. So forces of constraints, of
joints and of the merged storages are found from the model with its constraints opened, as formulas of states, displacements and
inputs that both have in common, and each name of the model as it was stands for what it stood for there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tellegen.conditioning import rules
from tellegen.conditioning.constraint_forces import ForceBalance, ForceFormulas, ForceSystem
from tellegen.conditioning.constraints import ConstrainedModel, output_of
from tellegen.conditioning.fields import MergedStorages
from tellegen.conditioning.initial_states import InitialStates, initial_states_of_dependents
from tellegen.conditioning.opened_constraints import (
    ConstraintOpening,
    OpenedModel,
    driven_source,
    force_signal,
    force_source,
    formula_signal,
    fresh_name,
    integral_signal,
    residual_sink,
    unit_of,
)
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.units import parse_unit
from tellegen.equations.matrices import dot
from tellegen.equations.outputs import port_readings
from tellegen.equations.storages import energy_of_port
from tellegen.expressions import HALF, ONE, ZERO, Expression, Symbol, number, symbol, total
from tellegen.graph import Port, StorageLaw, lower
from tellegen.graph.power_graph import heat_taken
from tellegen.model.model import Element, Model, Parameter
from tellegen.model.signals import SignalDefinition

MOST_EXPLICIT = 12
"""Up to so many forces are solved for with symbols."""

MOST_DRIVEN = 4
"""Up to so many forces drive a model by their formulas; more are found faster by the compiled code."""


def constraint_forces(found: ConstrainedModel, opened: OpenedModel) -> tuple[ForceSystem, ForceFormulas] | None:
    """The forces solved for with symbols; None where there are too many, or where laws stand in the way.

    Raises: ConditioningError (C103) where an input stands in a constraint.
    """
    balance = ForceBalance(found, opened)
    # Longer formulas take longer to compile than the solver takes to find the forces.
    if not balance.solvable or not (len(balance.names) <= MOST_EXPLICIT or balance.thin):
        return None
    forces = balance.forces()
    return forces, balance.solution(forces)


def residual_model(found: ConstrainedModel, opened: OpenedModel, rate: float) -> tuple[Model, InitialStates]:
    """The model with a source of its force at every opening, driven so that the constraint holds; `rate` is alpha.

    All storages get states of their own, speeds without inertia too, and `Starts` tells where these begin.

    Raises: ConditioningError (C103) where an input stands in a constraint, (C111) for a speed that no force of a constraint moves.
    """
    balance = ForceBalance(found, opened)
    _refuse_unmoved(balance)
    # A held storage takes what only the compiled code knows, so that its forces have no formula.
    explicit = balance.solvable and not balance.held and (len(balance.names) <= MOST_DRIVEN or balance.thin)
    drift = fresh_name("drift", balance.taken)
    made = _explicit_model(balance, symbol(drift)) if explicit else _implicit_model(balance, symbol(drift))
    # A parameter of the model: it can be changed from run to run without compiling anew (Baumgarte 1972).
    decay = Parameter(drift, number(rate), parse_unit("s^-1").dimension, "s^-1")
    model, starts = _with_speeds(replace(made, parameters={**made.parameters, drift: decay}), balance)
    return model, _with_states(initial_states_of_dependents(found, balance), starts)


def _with_states(others: InitialStates, speeds: InitialStates) -> InitialStates:
    """The starts of dependent storages and of speeds without inertia, each of which begins in the state that it has become."""
    states = {e.name: state for state, e in speeds.formulas.items() if isinstance(e, Symbol)}
    # A speed without inertia may also be a dependent storage: its start is then said once, under its new name.
    became = {speed: symbol(state) for speed, state in states.items() if speed in others.formulas}
    formulas = {states.get(n, n): e.substitute(became) for n, e in others.formulas.items()}
    independent = {state: e for state, e in speeds.formulas.items() if state not in formulas}
    return InitialStates({**independent, **formulas}, (*others.replaced, *speeds.replaced), others.forces)


def model_with_force_sensors(opened: OpenedModel) -> Model:
    """The model with a sensor of its force in every constraint."""
    model = opened.filled(residual_sink)
    signals = {opening.name: force_signal(opening, symbol(opening.sensor)) for opening in opened.openings}
    return replace(model, signals={**model.signals, **signals})


def model_with_storage_forces(found: ConstrainedModel) -> Model:
    """The model as it is, with what each dependent storage takes by the name of the force of its constraint."""
    forces = {c.force: formula_signal(c.force, found.taken(c.storage)) for c in found.constraints}
    return replace(found.model, signals={**found.model.signals, **forces})


def sink_picture(opened: OpenedModel) -> Model:
    """The model with residual sinks, as it is drawn: rSe between inertias, rSf between capacities.

    A sink decides its force as a source does, from nothing but the force itself, so that every storage has integral causality.
    """

    def drawn(opening: ConstraintOpening) -> tuple[Element, ...]:
        # Drawn with a name of its own, because the force is the name of its variable.
        name, force = f"r_{opening.constraint.storage}", opening.name
        return tuple(
            replace(e, name=name, variables={opening.side: force}, signal=symbol(force)) for e in force_source(opening)
        )

    return opened.freed(drawn)


def _explicit_model(balance: ForceBalance, drift: Expression) -> Model:
    """Sources driven by the formulas of their forces."""
    solution = balance.solution(balance.forces(), drift)

    def driven(opening: ConstraintOpening) -> tuple[Element, ...]:
        (element,) = force_source(opening)
        return (replace(element, signal=solution.formulas[opening.name]),)

    model = balance.opened.freed(driven)
    named = {**solution.where, **{name: solution.formulas[name] for name in balance.rates}}
    return replace(model, signals={**model.signals, **{n: formula_signal(n, e) for n, e in named.items()}})


def _implicit_model(balance: ForceBalance, drift: Expression) -> Model:
    """Each sink reads what the storages take: its force is such that the rate of its constraint vanishes."""
    system = balance.system
    taken = {output_of(p): p for p in balance.graph.ports if isinstance(p.law, StorageLaw)}
    unknown = dict(zip(balance.massless, balance.rates, strict=True))
    ports = [taken[name] for name in system.states]
    rates = [symbol(unknown[i]) if i in unknown else _rate_of(balance, ports, i) for i in range(len(ports))]

    def driven(opening: ConstraintOpening) -> tuple[Element, ...]:
        (element,) = force_source(opening)
        row = balance.constraint(system.inputs.index(opening.name))
        # c' + alpha c, which the force has to make zero.
        closing = dot(row, rates) + balance.rate_of_row(row) + drift * dot(row, balance.x)
        inertia = balance.L[system.states.index(opening.constraint.output)]
        # A fixed point in the force: the inertia scales the residual to the size of a force, so that one tolerance fits
        # all.
        return (replace(element, signal=symbol(opening.name) + inertia * closing),)

    model = balance.opened.freed(driven)
    signals: dict[str, SignalDefinition] = {}
    for i, name in unknown.items():  # what acts on a speed without inertia vanishes
        force = taken[system.states[i]].variable("through")
        # The rate is whatever makes the force zero: a signal that reads itself is an algebraic unknown.
        signals[name] = formula_signal(name, symbol(name) + symbol(force))
    return replace(model, signals={**model.signals, **signals})


def _with_speeds(model: Model, balance: ForceBalance) -> tuple[Model, InitialStates]:
    """Sources that impose the speeds without inertia, each the integral of a rate, in the place of these storages."""
    taken = set(balance.taken) | {*model.signals}
    ports = {output_of(p): p for p in balance.graph.ports if isinstance(p.law, StorageLaw)}
    changed: dict[str, Element] = {}
    signals: dict[str, SignalDefinition] = {}
    starts: dict[str, Expression] = {}
    elements = {e.name: e for e in model.elements}
    for i, rate in zip(balance.massless, balance.rates, strict=True):
        speed = balance.system.states[i]
        port = ports[speed]
        state = fresh_name(f"{speed}_state", taken)
        signals[state] = integral_signal(state, symbol(rate), port.domain, port.law.side)
        changed[port.element] = driven_source(elements[port.element], port, symbol(state))
        # A source stores nothing, and neither did the storage without inertia: its energy in the books is zero.
        signals[f"energy.{port.element}"] = formula_signal(f"energy.{port.element}", ZERO, "J")
        starts[state] = symbol(speed)
    made = tuple(changed.get(e.name, e) for e in model.elements)
    replaced = tuple(balance.system.states[i] for i in balance.massless)
    return replace(model, elements=made, signals={**model.signals, **signals}), InitialStates(starts, replaced)


def _refuse_unmoved(balance: ForceBalance) -> None:
    """A speed without inertia that no force of a constraint acts on is decided by nothing."""
    B = balance.system.matrices["B"]
    for i in balance.massless:
        if all(B[i][k] is ZERO for k in balance.at):
            name = balance.system.states[i]
            raise rules.NO_INERTIA.error(
                f"the storage of '{name}' has no inertia, and no constraint ties it to one, so that nothing decides its rate",
                where=name,
                fix="give it an inertia, or choose the form derivative, field, lagrange or hamilton",
            )


def _rate_of(balance: ForceBalance, ports: Sequence[Port], i: int) -> Expression:
    """The rate of a state by what its port takes, or what those of its field take: x' = L^-1 (taken - L' x)."""
    row = balance.inverse[i] if balance.apart else {}
    # A storage by itself; in a field the energies are coupled, and so are the rates.
    if len(row) < 2:
        return _rate(ports[i])
    took = {m: symbol(ports[m].variable(other_side(ports[m].law.side))) for m in row}
    return total(e * (took[m] - balance.rate_of_row(balance.inertias[m])) for m, e in row.items())


def _rate(port: Port) -> Expression:
    """The rate of the output of a storage by what its port takes."""
    law = port.law
    assert isinstance(law, StorageLaw), "only storages have rates"
    return symbol(port.variable(other_side(law.side))) / law.inertia_at(symbol(output_of(port)))


STATIC = "_static"
"""Behind the name of a force: its share without the inertia of the storages that are merged."""


_Reading = tuple[Port, Side, Expression]
"""A power variable of a port by a formula."""


def with_force_signals(model: Model, found: ConstrainedModel, opened: OpenedModel, merged: MergedStorages) -> Model:
    """A model without its dependent storages, with forces of constraints and joints and what the storages took as signals.

    Where the forces have no formula, because storages are fields of their own, only what the storages hold is told.
    """
    hidden = _hidden(model, found)
    signals = {name: formula_signal(name, e, unit) for name, (e, unit) in hidden.items()} | _energies(merged)
    balance = ForceBalance(found, opened)
    renamed: dict[str, dict[str, str]] = {}
    if balance.apart:
        forces = balance.forces()
        signals |= _forces(balance, forces, opened)
        for name, (port, side, formula) in _readings(balance, forces, merged).items():
            signals[name] = formula_signal(name, formula, unit_of(port.domain, side))
            renamed.setdefault(port.element, {})[side] = f"{name}{STATIC}"
        signals |= _powers(merged)
    elements = tuple(
        replace(e, variables={**e.variables, **renamed[e.name]}) if e.name in renamed else e for e in model.elements
    )
    return replace(model, elements=elements, signals={**model.signals, **signals})


def _hidden(model: Model, found: ConstrainedModel) -> dict[str, tuple[Expression, str]]:
    """Outputs of dependent storages that no sensor reads, for want of one in their domain: formula and unit."""
    known = {name for port in lower(model).ports for name in (port.across, port.through)}
    ports = {output_of(port): port for port in found.causal.graph.ports if isinstance(port.law, StorageLaw)}
    return {
        n: (found.written(e), unit_of(ports[n].domain, ports[n].law.side))
        for n, e in found.system.dependent.items()
        if n not in known
    }


def _forces(balance: ForceBalance, forces: ForceSystem, opened: OpenedModel) -> dict[str, SignalDefinition]:
    """The forces of the constraints, with names for what grows long in them."""
    formulas, where = _formulas(balance, forces)
    openings = {opening.name: opening for opening in opened.openings}
    signals = {n: formula_signal(n, e) for n, e in {**where, **formulas}.items() if n not in openings}
    signals |= {n: force_signal(openings[n], e) for n, e in formulas.items() if n in openings}
    return signals | {opening.name: force_signal(opening, symbol(opening.sensor)) for opening in opened.held}


def _formulas(balance: ForceBalance, forces: ForceSystem) -> tuple[dict[str, Expression], Mapping[str, Expression]]:
    """The forces by formulas; many of them by a loop of signals, linear in the forces, which the compiled code solves."""
    # Few forces by formulas, many by a linear system that the compiled code solves at each step.
    if not balance.system.algebraic.unknowns and (len(forces.unknowns) <= MOST_DRIVEN or balance.thin):
        solution = balance.solution(forces)
        return dict(solution.formulas), solution.where
    unknowns = [symbol(name) for name in forces.unknowns]
    written: dict[str, Expression] = {}
    for i, (row, right) in enumerate(zip(forces.matrix, forces.right, strict=True)):
        # Divided by the diagonal, each residual has the unit of its own unknown.
        scale = ONE if row[i] is ZERO else row[i]
        written[forces.unknowns[i]] = unknowns[i] + (right - dot(row, unknowns)) / scale
    return written, {}


# -- elements ------------------------------------------------------------------------------------------------------------------


def _readings(balance: ForceBalance, forces: ForceSystem, merged: MergedStorages) -> dict[str, _Reading]:
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
            found[name] = port, side, ZERO if massless else formula
    return found


def _powers(merged: MergedStorages) -> dict[str, SignalDefinition]:
    """What each merged storage takes."""
    graph = merged.found.causal.graph
    found: dict[str, SignalDefinition] = {}
    for k in merged.storages:
        port = graph.ports[k]
        # Otherwise the product of temperature and heat flow would be counted as a power.
        heat = DOMAINS[port.domain].heat_books  # a heat flow is a power by itself
        other = number(heat_taken(port, graph.nodes)) if heat else symbol(port.across)
        name = f"power.{port.element}"
        found[name] = formula_signal(name, other * symbol(port.through), "W")
    return found


def _energies(merged: MergedStorages) -> dict[str, SignalDefinition]:
    """What each merged storage holds, where a formula tells it."""
    ports = [merged.found.causal.graph.ports[k] for k in merged.storages]
    x = [symbol(output_of(port)) for port in ports]
    if not merged.linear:
        held = {f"energy.{port.element}": energy_of_port(port, at) for port, at in zip(ports, x, strict=True)}
        return {name: formula_signal(name, e, "J") for name, e in held.items() if e is not None}
    found: dict[str, SignalDefinition] = {}
    for i, port in enumerate(ports):
        content = total(e * x[b] for (a, b), e in merged.energy.items() if a == i)
        name = f"energy.{port.element}"
        found[name] = formula_signal(name, content if DOMAINS[port.domain].heat_books else HALF * x[i] * content, "J")
    return found
