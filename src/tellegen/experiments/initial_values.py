"""Initial values that users give by the name of a state, of its content or of its output, as values of states."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tellegen.core.names import did_you_mean, listing, named_after
from tellegen.core.units import Dimension, parse_unit
from tellegen.description import Model
from tellegen.experiments import rules
from tellegen.experiments.positions import assembled_positions
from tellegen.experiments.quantities import Quantity, computed, value_of
from tellegen.expressions import Expression
from tellegen.graph import Port, PowerGraph, StorageLaw
from tellegen.graph.laws import ARGUMENT

STEPS, CLOSE = 60, 1e-14


class Remembered(NamedTuple):
    """A name that can be given an initial value: the port behind it, and whether it names the content of the storage."""

    port: Port | None
    is_content: bool
    dimension: Dimension | None


def initial_names(graph: PowerGraph, model: Model) -> dict[str, Remembered]:
    """What can be given an initial value: states, contents and outputs of storages, displacements, integrals among signals."""
    chosen = {e.name: e.variables["energy"] for e in model.elements if "energy" in e.variables}
    found: dict[str, Remembered] = {}
    for k in graph.storages():
        port, domain = graph.ports[k], graph.domain_of(k)
        side = port.law.side
        content = domain.energy(side)
        for name in (port.state, port.variable(side)):
            is_content = name == port.state and _keeps_content(port)
            found.setdefault(
                name, Remembered(port, is_content, _dimension(content.unit if is_content else domain.power(side).unit))
            )
        stored = chosen.get(port.element, named_after(content.symbol, port.element))
        found.setdefault(stored, Remembered(port, True, _dimension(content.unit)))
    found |= {name: Remembered(None, False, None) for name in graph.displacements}
    return found | {s.name: Remembered(None, False, None) for s in graph.signals if hasattr(s, "rate")}


def initial_states(
    graph: PowerGraph, model: Model, given: Mapping[str, Quantity | Expression], parameters: Mapping[str, float]
) -> dict[str, float]:
    """Values of states by name, from values of states, contents or outputs.

    Raises: SimulationError for a name that remembers nothing (S302), or a value that cannot be used (S303).
    """
    names = initial_names(graph, model) if given or model.closures else {}
    found: dict[str, float] = {}
    read = dict(parameters)
    for name, value in _positions_first(given, graph.displacements, read, model, found):
        subject = f"the initial value of {name}"
        if name not in names:
            fix = did_you_mean(name, names) or f"initial values can be given to {listing(names, 12)}"
            raise rules.NO_SUCH_SETTING.error(f"'{name}' has no initial value", fix=fix)
        place = names[name]
        amount = (
            computed(value, read, subject)
            if isinstance(value, Expression)
            else value_of(value, place.dimension, subject, parameters)
        )
        if place.port is None:
            found[name] = amount
        else:
            found[place.port.state] = _state_value(place, amount, _moved(graph, read), subject)
    return found


def _positions_first(
    given: Mapping[str, Quantity | Expression],
    displacements: Mapping[str, Expression],
    read: dict[str, float],
    model: Model,
    found: dict[str, float],
) -> Iterator[tuple[str, Quantity | Expression]]:
    """What is given, displacements first: where they follow from each other they are put right, and what comes then reads them."""
    for name, value in given.items():
        if name in displacements:
            yield name, value
    if displacements:
        positions = {**dict.fromkeys(displacements, 0.0), **{n: v for n, v in found.items() if n in displacements}}
        positions = assembled_positions(model.closures, positions, read)
        found |= {name: value for name, value in positions.items() if value or name in found}
        read |= positions
    for name, value in given.items():
        if name not in displacements:
            yield name, value


def _moved(graph: PowerGraph, read: Mapping[str, float]) -> Mapping[str, float]:
    """What is read, with the parameters that move with displacements."""
    if not graph.moving:
        return read
    values = dict(read)
    for name, formula in graph.moving.items():
        if formula.free_symbols <= values.keys():
            values[name] = formula.evaluate(values)
    return values


def _state_value(place: Remembered, amount: float, parameters: Mapping[str, float], subject: str) -> float:
    assert place.port is not None, "only storages have laws"
    law = place.port.law
    assert isinstance(law, StorageLaw), "only storages have contents"
    if place.is_content == law.keeps_energy_variable:
        return amount
    if law.inertia is not None:
        return amount / law.inertia.evaluate(parameters)
    formula = law.output if law.keeps_energy_variable else law.content
    if formula is None:
        what = f"{subject} is given as the content of a storage of which only the slope is known"
        raise rules.BAD_SETTING.error(what, fix=f"give '{place.port.variable(law.side)}' instead")
    return _solved(formula, amount, parameters, subject)


def _solved(formula: Expression, wanted: float, parameters: Mapping[str, float], subject: str) -> float:
    """The argument at which a law has a value, by Newton's method from zero."""
    slope, x = formula.derivative(ARGUMENT), 0.0
    try:
        for _ in range(STEPS):
            values = {**parameters, ARGUMENT: x}
            step = (formula.evaluate(values) - wanted) / slope.evaluate(values)
            x -= step
            if abs(step) <= CLOSE * (1 + abs(x)):
                return x
    except (ArithmeticError, ValueError):
        pass
    raise rules.BAD_SETTING.error(f"{subject} is not reached by the law of the storage", fix="give the state itself")


def _keeps_content(port: Port) -> bool:
    return isinstance(port.law, StorageLaw) and port.law.keeps_energy_variable


def _dimension(unit: str) -> Dimension:
    return parse_unit(unit).dimension
