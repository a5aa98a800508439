"""Where a model starts: numbers for all of its storages and displacements, from what is said about any of them.

A model that is made of another one starts there as well (`starting_at`): what were states may follow others now, and what followed
may be a state. A storage that follows others decides, by its initial value, the states behind it about which nothing is said.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import Final, NamedTuple

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, named_after
from tellegen.core.units import Dimension, parse_unit
from tellegen.equations.derivation import derive_equations
from tellegen.equations.storages import StoredEnergy
from tellegen.equations.system import parameter_values
from tellegen.expressions import Expression, number, symbol
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import Port, PowerGraph, SourceLaw, StorageLaw, lower, with_experiment
from tellegen.graph.power_graph import ARGUMENT
from tellegen.model.kinematics import solve_positions
from tellegen.model.model import Model

Values = Mapping[str, float]
NOTHING: Values = {}

SAME: Final = 1e-9
"""Initial values that differ by less than this share are the same."""

STEPS, CLOSE = 60, 1e-14


class InitialName(NamedTuple):
    """A name that can be given an initial value: the port behind it, and whether it names the content of the storage."""

    port: Port | None
    is_content: bool
    dimension: Dimension | None


def initial_names(graph: PowerGraph, model: Model) -> dict[str, InitialName]:
    """What can be given an initial value: states, contents and outputs of storages, displacements, integrals among signals."""
    # A user may have named the content himself.
    chosen = {e.name: e.variables["energy"] for e in model.elements if "energy" in e.variables}
    found: dict[str, InitialName] = {}
    for k in graph.storages():
        port, domain = graph.ports[k], graph.domain_of(k)
        side = port.law.side
        content = domain.energy(side)
        for name in (port.state, port.variable(side)):
            is_content = name == port.state and port.storage.keeps_energy_variable
            found.setdefault(
                name, InitialName(port, is_content, _dimension(content.unit if is_content else domain.power(side).unit))
            )
        stored = chosen.get(port.element, named_after(content.symbol, port.element))
        # A name that is a state already keeps its meaning.
        found.setdefault(stored, InitialName(port, True, _dimension(content.unit)))
    found |= {name: InitialName(None, False, None) for name in graph.displacements}
    return found | {s.name: InitialName(None, False, None) for s in graph.signals if hasattr(s, "rate")}


def solved_at_start(graph: PowerGraph, model: Model) -> dict[str, Expression]:
    """What elements say about their start in other words than their states: 1 V where a charge is kept, or 1 uC where a voltage is.

    A law has to be solved for these.
    """
    ports = [p for k in graph.storages() if (p := graph.ports[k]).initial is not None and p.initial_state is None]
    chosen = {e.name: e.variables["energy"] for e in model.elements if "energy" in e.variables} if ports else {}

    def name(port: Port) -> str:
        if not port.initial_content:
            return port.variable(port.law.side)
        return chosen.get(port.element) or named_after(DOMAINS[port.domain].energy(port.law.side).symbol, port.element)

    return {name(port): port.initial for port in ports if port.initial is not None}


def _dimension(unit: str) -> Dimension:
    return parse_unit(unit).dimension


def state_value(place: InitialName, amount: float, values: Values) -> float | None:
    """The state of a storage whose content or output is given; None where its law does not reach that, or has no formula."""
    assert place.port is not None, "only storages have laws"
    law = place.port.storage
    # Content for content, output for output: nothing to convert.
    if place.is_content == law.keeps_energy_variable:
        return amount
    if law.inertia is not None:
        return amount / law.inertia.evaluate(values)
    formula = law.output if law.keeps_energy_variable else law.content
    return None if formula is None else _solved(formula, amount, values)


def _solved(formula: Expression, wanted: float, values: Values) -> float | None:
    """The argument at which a law has a value, by Newton's method from zero."""
    # From zero, where every law of a storage is regular.
    if not formula.free_symbols <= {*values, ARGUMENT}:
        return None  # what other ports hold decides it too
    slope, x = formula.derivative(ARGUMENT), 0.0
    try:
        for _ in range(STEPS):
            known = {**values, ARGUMENT: x}
            step = (formula.evaluate(known) - wanted) / slope.evaluate(known)
            x -= step
            if abs(step) <= CLOSE * (1 + abs(x)):
                return x
    except (ArithmeticError, ValueError):
        pass
    return None


def moved_parameters(graph: PowerGraph, values: Values) -> dict[str, float]:
    """The values with the parameters that move with displacements, as far as these are known."""
    found = dict(values)
    for name, formula in graph.position_dependent.items():
        if formula.free_symbols <= found.keys():
            found[name] = formula.evaluate(found)
    return found


def values_of_parameters(model: Model) -> dict[str, float]:
    """The values of the parameters that have one."""
    return parameter_values({name: p.expression for name, p in model.parameters.items()})


def model_start(model: Model, given: Values = NOTHING, parameters: Values = NOTHING) -> dict[str, float]:
    """Numbers at the start for parameters, inputs, displacements and the states of all storages, also of those that follow.

    `given`, by the names of states and displacements, and `parameters` come before what the model says. What nobody gives is zero
    or follows, and loops fit; what lacks a number is left out where it follows, and zero where it does not.
    """
    causal = assign_causality(lower(model))
    graph, values = causal.graph, {**values_of_parameters(model), **parameters}
    known = {TIME: 0.0, **values}
    inputs = [port.law.input for port in graph.ports if isinstance(port.law, SourceLaw)]
    found = dict.fromkeys((*(graph.ports[k].state for k in causal.integral), *graph.displacements, *inputs), 0.0)
    courses = {
        n: s.expression or s.arguments[0] for n, s in model.experiment.inputs.items() if s.arguments or s.expression
    }
    written = {n: e for n, e in (*courses.items(), *model.experiment.initial.items()) if n in found}
    for name, expression in written.items():
        # A formula that reads what is not known yet is left at zero: this is where an estimate starts, no run.
        if name in found and name not in given and (value := _number(expression, known)) is not None:
            found[name] = value
    found |= {name: value for name, value in given.items() if name in found}
    found |= _fitting(model, values, found)
    said = {**_said(model, graph, moved_parameters(graph, {**known, **found})), **given}
    found |= {name: value for name, value in said.items() if name in found}
    return {**values, **_with_followers(causal, {**known, **found}, said)} if causal.derivative else {**values, **found}


def _number(formula: Expression, values: Values) -> float | None:
    """A number, or None where one is missing or the formula has none at this place."""
    if not formula.free_symbols <= values.keys():
        return None
    try:
        return formula.evaluate(values)
    except (ArithmeticError, ValueError):
        return None


def _fitting(model: Model, values: Values, found: Values) -> Values:
    """The displacements that loops decide, so that the loops fit."""
    equations = [e for closure in model.closures for e in closure.equations]
    unknown = [name for closure in model.closures for name in closure.solves]
    known = {**values, **found}
    if not equations or not all(e.free_symbols <= known.keys() for e in equations):
        return {}
    return solve_positions(equations, unknown, known, found) or {}


def _said(model: Model, graph: PowerGraph, values: Values) -> dict[str, float]:
    """What the model says about storages, by their states; the experiment has the later word."""
    said: dict[str, float] = {}
    for k in graph.storages():
        port = graph.ports[k]
        amount = None if port.initial is None else _number(port.initial, values)
        if amount is not None:
            begun = state_value(InitialName(port, port.initial_content, None), amount, values)
            said |= {} if begun is None else {port.state: begun}
    names = initial_names(graph, model) if model.experiment.initial else {}
    for name, formula in model.experiment.initial.items():
        place = names.get(name)
        amount = _number(formula, values)
        if place is not None and place.port is not None and amount is not None:
            value = state_value(place, amount, values)
            if value is not None:
                said[place.port.state] = value
    return said


def _with_followers(causal: CausalGraph, start: Values, said: Values) -> dict[str, float]:
    """The start with the storages that follow, and with the states that these decide by what is said about them."""
    ports = causal.graph.ports
    behind = [(ports[d.port], [ports[k].state for k in d.on]) for d in causal.dependent]
    try:
        system = derive_equations(causal)
    except TellegenError:
        return dict(start)
    where = {**causal.graph.position_dependent, **system.where}
    found = dict(start)
    # With modes, a storage that follows now may be a state later, and decides nothing.
    wanted = [] if causal.graph.switching else [(port, on) for port, on in behind if port.state in said]
    free = dict.fromkeys(name for _, on in wanted for name in on if name in start and name not in said)
    if free:
        rows = [with_definitions(system.dependent[port.variable(port.law.side)], where) for port, _ in wanted]
        found |= _decided(rows, [_output(port, said[port.state], start) for port, _ in wanted], list(free), found)
    known = dict(found)
    for name, formula in where.items():
        if name not in known and (value := _number(formula, known)) is not None:
            known[name] = value
    for port, _ in behind:
        output = _number(system.dependent[port.variable(port.law.side)], known)
        if output is not None and isfinite(output):
            found[port.state] = _state(port, output, known)
    return {name: value for name, value in found.items() if name != TIME}


def _output(port: Port, state: float, values: Values) -> float:
    law = port.storage
    return state if law.output is None else law.output.evaluate({**values, ARGUMENT: state})


def _state(port: Port, output: float, values: Values) -> float:
    law = port.storage
    return output if law.output is None else _solved(law.output, output, values) or 0.0


def _decided(
    rows: Sequence[Expression], targets: Sequence[float], free: Sequence[str], start: Values
) -> dict[str, float]:
    """The free states nearest to zero for which formulas have their values, as far as there are any: Newton's method."""
    found = dict.fromkeys(free, 0.0)
    slopes = [[row.derivative(name) for name in free] for row in rows]
    for _ in range(STEPS if free else 0):
        known = {**start, **found}
        told = [_number(row, known) for row in rows]
        if any(value is None for value in told):
            return {}
        missing = [target - (value or 0.0) for target, value in zip(targets, told, strict=True)]
        if all(abs(m) <= 1e-4 * SAME * abs(target) for m, target in zip(missing, targets, strict=True)):
            break
        J = [[_number(e, known) or 0.0 for e in row] for row in slopes]
        for name, step in zip(free, least_solution(J, missing), strict=True):
            found[name] += step
    return found


def least_solution(rows: Iterable[Sequence[float]], right: Iterable[float]) -> list[float]:
    """The smallest solution of linear equations, fewer than the unknowns or not; rows that follow from others are passed over."""
    # Gram and Schmidt's method: each row adds the one direction that no row before it has.
    directions: list[list[float]] = []
    found: list[float] = []
    for row, b in zip(rows, right, strict=True):
        found = found or [0.0] * len(row)
        new = list(row)
        for _ in range(2):  # twice, or rounding leaves what it should take away
            for q in directions:
                share = _product(new, q)
                new = [x - share * y for x, y in zip(new, q, strict=True)]
        size = sqrt(_product(new, new))
        if size <= SAME * sqrt(_product(row, row)):
            continue
        new = [x / size for x in new]
        directions.append(new)
        step = (b - _product(row, found)) / _product(row, new)
        found = [x + step * y for x, y in zip(found, new, strict=True)]
    return found


def _product(one: Sequence[float], two: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(one, two, strict=True))


def starting_at(model: Model, start: Values) -> Model:
    """The model whose states and displacements start at these values, by name, where it would start elsewhere by itself."""
    causal = assign_causality(lower(model))
    own = model_start(model)
    decided = {name for closure in model.closures for name in closure.solves}
    names = [causal.graph.ports[k].state for k in causal.integral]
    names += [name for name in causal.graph.displacements if name not in decided]
    wanted = {n: start.get(n, own[n]) for n in names}
    moved = {n for n in names if not is_same(wanted[n], own[n])}
    if not moved:
        return model
    # Where a state starts elsewhere, what is said about those that follow it would contradict it.
    gone = [*followers(causal), *(p for p in causal.graph.ports if p.state in moved)]
    begun = without_initial_values(model, gone)
    left = model_start(begun)
    new = {n: number(value) for n, value in wanted.items() if not is_same(value, left[n])}
    return with_experiment(begun, replace(begun.experiment, initial={**begun.experiment.initial, **new}))


def followers(causal: CausalGraph) -> list[Port]:
    """The storages that follow others in every mode."""
    return [] if causal.graph.switching else [causal.graph.ports[k] for k in causal.derivative]


def without_initial_values(model: Model, storages: Iterable[Port]) -> Model:
    """The model in which these storages do not start by themselves, whatever the name that says it."""
    ports = list(storages)
    elements, states = {p.element for p in ports}, {p.state for p in ports}
    said = model.experiment.initial
    names = initial_names(lower(model), model) if said and ports else {}
    gone = {n for n in said if n in names and (port := names[n].port) is not None and port.state in states}
    # Unchanged models are returned as they are: others compare by identity whether anything happened.
    if not gone and not any(e.name in elements and e.initial is not None for e in model.elements):
        return model
    return replace(
        model,
        elements=tuple(replace(e, initial=None) if e.name in elements else e for e in model.elements),
        experiment=replace(model.experiment, initial={n: e for n, e in said.items() if n not in gone}),
    )


def handed_over(model: Model, start: Values) -> Values:
    """The start with the states that a model has once its constraints hold, where it joins storages that start apart.

    Contents are handed over as they are between modes: the impulses of the constraints do no work on any motion that is left,
    T^T L T z = T^T L x. Where a law is not linear, or a parameter has no value, the states keep what they have.
    """
    causal = assign_causality(lower(model))
    ports, following = causal.graph.ports, followers(causal)
    known = {TIME: 0.0, **start, **values_of_parameters(model)}
    names = [ports[k].state for k in causal.integral]
    valued = all(p.expression is not None for p in model.parameters.values())
    if not following or not valued or not {*names, *(p.state for p in following)} <= start.keys():
        return start
    system = derive_equations(causal)
    where = {**causal.graph.position_dependent, **system.where}
    rows = [with_definitions(system.dependent[port.variable(port.law.side)], where) for port in following]
    told = [_number(row, known) for row in rows]
    missing = [0.0 if t is None else start[p.state] - t for p, t in zip(following, told, strict=True)]
    off = [p for p, t, m in zip(following, told, missing, strict=True) if t is None or not is_same(t, t + m)]
    behind = {k for d in causal.dependent for k in (d.port, *d.on)}
    laws = [law for k in behind if isinstance(law := ports[k].law, StorageLaw)]
    if not off or None in told or any(law.inertia is None for law in laws):
        return start
    places = {name: i for i, name in enumerate(names)}
    T = [[float(i == j) for j in places.values()] for i in places.values()]
    T += [[_number(row.derivative(name), known) or 0.0 for name in names] for row in rows]
    order = [*causal.integral, *causal.derivative]
    energy = StoredEnergy(causal.graph, {k: symbol(ports[k].state) for k in order}).matrix()
    L = {
        place: with_definitions(entry, causal.graph.position_dependent).evaluate(known)
        for place, entry in energy.items()
    }
    apart = [*(0.0 for _ in names), *missing]
    left = [[0.0] * len(names) for _ in names]
    right = [0.0] * len(names)
    for (i, j), entry in L.items():
        for a in range(len(names)):
            right[a] += T[i][a] * entry * apart[j]
            for b in range(len(names)):
                left[a][b] += T[i][a] * entry * T[j][b]
    steps = least_solution(left, right)
    return {**start, **{name: start[name] + step for name, step in zip(names, steps, strict=True)}}


def energy_at(model: Model, start: Values, without: Container[str] = ()) -> float | None:
    """What the storages hold at a start, but for those of some elements; None where that is not known."""
    graph = lower(model)
    counted = {k: symbol(p.state) for k in graph.storages() if (p := graph.ports[k]).element not in without}
    found = StoredEnergy(graph, counted).total()
    known = moved_parameters(graph, {TIME: 0.0, **start, **values_of_parameters(model)})
    return None if found is None else _number(found, known)


def is_same(one: float, two: float) -> bool:
    """Whether two initial values are one but for rounding."""
    return abs(one - two) <= SAME * max(abs(one), abs(two))
