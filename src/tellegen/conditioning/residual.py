"""Residual sinks: the forces of the constraints, solved for explicitly, so that every storage has integral causality.

A sink between two storages injects the force that keeps the difference of their velocities at zero, and lets errors of it decay at
the rate alpha. Small systems and chains are solved with symbols, long entries by name; in others each sink reads what the storages
take, and the compiled code solves for all forces at once. A speed without inertia, such as that of a slide in a guide that turns,
is the state of an integral whose rate is solved for along with the forces.
"""

from collections.abc import Sequence
from dataclasses import replace

from tellegen.conditioning import rules
from tellegen.conditioning.balance import Balance, Forces, Solution
from tellegen.conditioning.constrained import Constrained, output_of
from tellegen.conditioning.opening import Opened, Opening, force_signal, fresh, sink, source
from tellegen.conditioning.signals import driven_source, formula_signal, integral_signal
from tellegen.conditioning.starting import Starts, dependent_starts
from tellegen.core.domains import other_side
from tellegen.core.units import parse_unit
from tellegen.description.model import Element, Model, Parameter
from tellegen.description.signals.values import SignalDefinition
from tellegen.equations.matrices import dot
from tellegen.expressions import ZERO, Expression, Symbol, number, symbol, total
from tellegen.graph import Port, StorageLaw

MOST_EXPLICIT = 12
"""Up to so many forces are solved for with symbols."""

MOST_DRIVEN = 4
"""Up to so many forces drive a model by their formulas; more are found faster by the compiled code."""


def constraint_forces(found: Constrained, opened: Opened) -> tuple[Forces, Solution] | None:
    """The forces solved for with symbols; None where there are too many, or where laws stand in the way.

    Raises: ConditioningError (C103) where an input stands in a constraint.
    """
    balance = Balance(found, opened)
    if not balance.solvable or not (len(balance.names) <= MOST_EXPLICIT or balance.thin):
        return None
    forces = balance.forces()
    return forces, balance.solution(forces)


def residual_model(found: Constrained, opened: Opened, rate: float) -> tuple[Model, Starts]:
    """The model with a source of its force at every opening, driven so that the constraint holds; `rate` is alpha.

    All storages get states of their own, speeds without inertia too, and `Starts` tells where these begin.

    Raises: ConditioningError (C103) where an input stands in a constraint, (C111) for a speed that no force of a constraint moves.
    """
    balance = Balance(found, opened)
    _refuse_unmoved(balance)
    explicit = balance.solvable and not balance.held and (len(balance.names) <= MOST_DRIVEN or balance.thin)
    drift = fresh("drift", balance.taken)
    made = _explicit_model(balance, symbol(drift)) if explicit else _implicit_model(balance, symbol(drift))
    decay = Parameter(drift, number(rate), parse_unit("s^-1").dimension, "s^-1")
    model, starts = _with_speeds(replace(made, parameters={**made.parameters, drift: decay}), balance)
    return model, _with_states(dependent_starts(found, balance), starts)


def _with_states(others: Starts, speeds: Starts) -> Starts:
    """The starts of dependent storages and of speeds without inertia, each of which begins in the state that it has become."""
    states = {e.name: state for state, e in speeds.formulas.items() if isinstance(e, Symbol)}
    became = {speed: symbol(state) for speed, state in states.items() if speed in others.formulas}
    formulas = {states.get(n, n): e.substitute(became) for n, e in others.formulas.items()}
    independent = {state: e for state, e in speeds.formulas.items() if state not in formulas}
    return Starts({**independent, **formulas}, (*others.replaced, *speeds.replaced), others.forces)


def sensed_model(opened: Opened) -> Model:
    """The model with a sensor of its force in every constraint."""
    model = opened.filled(sink)
    signals = {opening.name: force_signal(opening, symbol(opening.sensor)) for opening in opened.openings}
    return replace(model, signals={**model.signals, **signals})


def taken_model(found: Constrained) -> Model:
    """The model as it is, with what each dependent storage takes by the name of the force of its constraint."""
    forces = {c.force: formula_signal(c.force, found.taken(c.storage)) for c in found.constraints}
    return replace(found.model, signals={**found.model.signals, **forces})


def sink_picture(opened: Opened) -> Model:
    """The model with residual sinks, as it is drawn: rSe between inertias, rSf between capacities.

    A sink decides its force as a source does, from nothing but the force itself, so that every storage has integral causality.
    """

    def drawn(opening: Opening) -> tuple[Element, ...]:
        name, force = f"r_{opening.constraint.storage}", opening.name
        return tuple(
            replace(e, name=name, variables={opening.side: force}, signal=symbol(force)) for e in source(opening)
        )

    return opened.freed(drawn)


def _explicit_model(balance: Balance, drift: Expression) -> Model:
    """Sources driven by the formulas of their forces."""
    solution = balance.solution(balance.forces(), drift)

    def driven(opening: Opening) -> tuple[Element, ...]:
        (element,) = source(opening)
        return (replace(element, signal=solution.formulas[opening.name]),)

    model = balance.opened.freed(driven)
    named = {**solution.where, **{name: solution.formulas[name] for name in balance.rates}}
    return replace(model, signals={**model.signals, **{n: formula_signal(n, e) for n, e in named.items()}})


def _implicit_model(balance: Balance, drift: Expression) -> Model:
    """Each sink reads what the storages take: its force is such that the rate of its constraint vanishes."""
    system = balance.system
    taken = {output_of(p): p for p in balance.graph.ports if isinstance(p.law, StorageLaw)}
    unknown = dict(zip(balance.massless, balance.rates, strict=True))
    ports = [taken[name] for name in system.states]
    rates = [symbol(unknown[i]) if i in unknown else _rate_of(balance, ports, i) for i in range(len(ports))]

    def driven(opening: Opening) -> tuple[Element, ...]:
        (element,) = source(opening)
        row = balance.constraint(system.inputs.index(opening.name))
        closing = dot(row, rates) + balance.moved(row) + drift * dot(row, balance.x)
        inertia = balance.L[system.states.index(opening.constraint.output)]
        return (replace(element, signal=symbol(opening.name) + inertia * closing),)

    model = balance.opened.freed(driven)
    signals: dict[str, SignalDefinition] = {}
    for i, name in unknown.items():  # what acts on a speed without inertia vanishes
        force = taken[system.states[i]].variable("through")
        signals[name] = formula_signal(name, symbol(name) + symbol(force))
    return replace(model, signals={**model.signals, **signals})


def _with_speeds(model: Model, balance: Balance) -> tuple[Model, Starts]:
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
        state = fresh(f"{speed}_state", taken)
        signals[state] = integral_signal(state, symbol(rate), port.domain, port.law.side)
        changed[port.element] = driven_source(elements[port.element], port, symbol(state))
        signals[f"energy.{port.element}"] = formula_signal(f"energy.{port.element}", ZERO, "J")
        starts[state] = symbol(speed)
    made = tuple(changed.get(e.name, e) for e in model.elements)
    replaced = tuple(balance.system.states[i] for i in balance.massless)
    return replace(model, elements=made, signals={**model.signals, **signals}), Starts(starts, replaced)


def _refuse_unmoved(balance: Balance) -> None:
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


def _rate_of(balance: Balance, ports: Sequence[Port], i: int) -> Expression:
    """The rate of a state by what its port takes, or what those of its field take: x' = L^-1 (taken - L' x)."""
    row = balance.inverse[i] if balance.apart else {}
    if len(row) < 2:
        return _rate(ports[i])
    took = {m: symbol(ports[m].variable(other_side(ports[m].law.side))) for m in row}
    return total(e * (took[m] - balance.moved(balance.inertias[m])) for m, e in row.items())


def _rate(port: Port) -> Expression:
    """The rate of the output of a storage by what its port takes."""
    law = port.law
    assert isinstance(law, StorageLaw), "only storages have rates"
    return symbol(port.variable(other_side(law.side))) / law.inertia_at(symbol(output_of(port)))
