"""Small inertias for speeds that have none of their own, where constraints are made elastic.

The speed of a slide in a guide that turns moves masses only through constraints. Once these are springs, nothing but springs and
dampers acts on it, so it gets an inertia: a share of what it moves, the square of the slowest frequency of the experiment over that
of the slowest parasitic resonance. The share falls like the errors of the springs do, with order one in the stiffness.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import pi

from tellegen.conditioning import rules
from tellegen.conditioning.constrained import Constrained, output_of, start_values
from tellegen.conditioning.opening import fresh
from tellegen.core.errors import TellegenError
from tellegen.core.units import parse_unit
from tellegen.description.model import Element, Model, Parameter
from tellegen.elements import kinds_of
from tellegen.expressions import ZERO, Expression, number, symbol
from tellegen.graph import Port, StorageLaw


def with_small_inertias(model: Model, found: Constrained, resonances: Mapping[str, float]) -> Model:
    """The model with an inertia in the place of each storage without one that is free; `resonances` are squares of frequencies.

    Raises: ConditioningError (C107) where numbers are missing.
    """
    ports = found.causal.graph.ports
    places: list[tuple[int | None, Port]] = [
        (i, ports[k]) for i, k in enumerate(found.causal.integral) if _weightless(ports[k])
    ]
    places += [(None, ports[k]) for k in found.ports if _weightless(ports[k])]
    if not places:
        return model
    elements = {e.name: e for e in model.elements}
    parameters = dict(model.parameters)
    slow, fast = _slowest(found, places[0][1]), min(resonances.values())
    for i, port in places:
        element = elements[port.element]
        moved = _inertia_around(found, port) if i is None else _moved_inertia(found, i, port)
        value = moved * slow * slow / fast
        elements[port.element] = _heavier(element, value, parameters)
    return replace(model, elements=tuple(elements.values()), parameters=parameters)


def _weightless(port: Port) -> bool:
    return isinstance(port.law, StorageLaw) and port.law.inertia is ZERO


def _heavier(element: Element, value: float, parameters: dict[str, Parameter]) -> Element:
    kind = next(
        k for k in kinds_of(element.kind.domains[0], "storage") if k.side == element.kind.side and not k.weightless
    )
    assert kind.quantity is not None, "an inertia has a parameter"
    name = fresh(f"{kind.quantity.key}_{element.name.replace('.', '_')}", {*parameters})
    unit = kind.quantity.unit
    parameters[name] = Parameter(name, number(value), parse_unit(unit).dimension, unit)
    return replace(element, kind=kind, value=symbol(name))


def _slowest(found: Constrained, port: Port) -> float:
    """The frequency of a motion that takes the whole experiment."""
    until = found.model.experiment.until
    values = start_values(found.model, {}, found.causal)
    if until is None or not until.free_symbols <= values.keys():
        raise _no_inertia(port, "give a duration of the experiment")
    return 2 * pi / until.evaluate(values)


def _moved_inertia(found: Constrained, i: int, port: Port) -> float:
    """What a speed moves at the start: its entry in the mass matrix."""
    entry: Expression = found.written(found.system.matrices["L"][i][i])
    values = start_values(found.model, {}, found.causal)
    moving = {n: e for n, e in found.causal.graph.moving.items() if n not in values}
    for name, formula in moving.items():
        values[name] = formula.evaluate(values)
    if not entry.free_symbols <= values.keys():
        raise _no_inertia(port, "give values for the parameters")
    return entry.evaluate(values)


def _inertia_around(found: Constrained, port: Port) -> float:
    """The largest inertia of the domain, for a speed that follows others as long as constraints are rigid."""
    values = start_values(found.model, {}, found.causal)
    laws = (p.law for p in found.causal.graph.ports if p.domain == port.domain and p.law.side == port.law.side)
    known = [e for law in laws if isinstance(law, StorageLaw) and (e := law.inertia) is not None]
    sizes = [e.evaluate(values) for e in known if e.free_symbols <= values.keys()]
    if not any(sizes):
        raise _no_inertia(port, "give values for the parameters")
    return max(sizes)


def _no_inertia(port: Port, fix: str) -> TellegenError:
    return rules.BAD_STIFFNESS.error(
        f"no small inertia for '{output_of(port)}' follows from the model", where=port.element, fix=fix
    )
