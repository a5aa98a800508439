"""Initial values: of states, contents and outputs, of dependent storages, and of displacements in closed loops.

Rates keep to the equations g = 0 of a loop by themselves, but the errors of a solver add up. So the rates of the displacements q
that the loop decides get the term -G^-1 g / T, G = dg/dq: what is added is forgotten within the time T.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.causality import CausalGraph
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.equations.start import SAME, InitialName, initial_names, moved_parameters, state_value
from tellegen.experiments import rules
from tellegen.experiments.quantities import Quantity, computed, refuse_scale, value_of
from tellegen.expressions import ZERO, Expression, number, total
from tellegen.graph import PowerGraph
from tellegen.model.kinematics import solve_positions
from tellegen.model.model import Closure, Model

TIME = 0.1
"""Within this time, in seconds, what errors added to a loop is forgotten."""


def with_drift_control(graph: PowerGraph, closures: Sequence[Closure]) -> PowerGraph:
    """The graph whose displacements are drawn back to where their loops fit."""
    if not closures:
        return graph
    rates = dict(graph.displacements)
    for closure in closures:
        for name, step in zip(closure.solves, _newton_step(closure), strict=True):
            # What errors have added dies away within the time T instead of adding up.
            rates[name] = rates[name] - step / number(TIME)
    return replace(graph, displacements=rates)


def _newton_step(closure: Closure) -> list[Expression]:
    """G^-1 g by Cramer's rule: loops have one, two or three equations."""
    G = [[equation.derivative(name) for name in closure.solves] for equation in closure.equations]
    # Cramer's rule divides by the determinant alone, which vanishes in singular positions only: no pivot could vanish
    # elsewhere.
    whole = _determinant(G)
    steps = []
    for k in range(len(closure.solves)):
        changed = [[*row[:k], g, *row[k + 1 :]] for row, g in zip(G, closure.equations, strict=True)]
        steps.append(_determinant(changed) / whole)
    return steps


def _determinant(rows: list[list[Expression]]) -> Expression:
    """The determinant of a small matrix, by its first row."""
    if len(rows) == 1:
        return rows[0][0]
    terms = []
    for k, entry in enumerate(rows[0]):
        rest = [[*row[:k], *row[k + 1 :]] for row in rows[1:]]
        terms.append(entry * _determinant(rest) * (1 if k % 2 == 0 else -1))
    return total(terms)


def _assembled_positions(
    closures: Sequence[Closure], positions: Mapping[str, float], parameters: Mapping[str, float]
) -> dict[str, float]:
    """Positions in which all loops fit, those that follow from others changed as little as possible.

    Raises: SimulationError (S340) naming the loop that fits nowhere near.
    """
    found = dict(positions)
    if not closures:
        return found
    equations = [e for closure in closures for e in closure.equations]
    unknown = [name for closure in closures for name in closure.solves]
    # All loops at once: a body may belong to several.
    solved = solve_positions(equations, unknown, {**parameters, **found}, found)
    if solved is None:
        raise _apart(closures, {**parameters, **found})
    return {**found, **{name: _nearby(value, found.get(name, 0.0)) for name, value in solved.items()}}


def _nearby(value: float, guess: float) -> float:
    """The value itself where it is as good as the guess: a start that fits stays as it was given."""
    return guess if abs(value - guess) <= 1e-15 * (1 + abs(guess)) else value


def _apart(closures: Iterable[Closure], values: Mapping[str, float]) -> Exception:
    def gap(closure: Closure) -> float:
        try:
            return max(abs(e.evaluate(values)) for e in closure.equations)
        except (ArithmeticError, ValueError):
            return math.inf

    worst = max(closures, key=gap)
    return rules.APART.error(
        f"the loop '{worst.name}' fits in no position near the start: a gap of {gap(worst):.3g} is left",
        where=worst.name,
        fix=f"give other initial values to what it does not decide, or to {listing(worst.solves)}, or check the lengths",
        members=worst.solves,
    )


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
        if place.port is not None and DOMAINS[place.port.domain].heat_books:
            refuse_scale(value, subject)
        amount = (
            computed(value, read, subject)
            if isinstance(value, Expression)
            else value_of(value, place.dimension, subject, parameters)
        )
        if place.port is None:
            found[name] = amount
        else:
            found[place.port.state] = _state_value(place, amount, moved_parameters(graph, read), subject)
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
        # What is not given starts at zero, and loops move it from there as little as they can.
        positions = {**dict.fromkeys(displacements, 0.0), **{n: v for n, v in found.items() if n in displacements}}
        positions = _assembled_positions(model.closures, positions, read)
        found |= {name: value for name, value in positions.items() if value or name in found}
        read |= positions
    for name, value in given.items():
        if name not in displacements:
            yield name, value


def _state_value(place: InitialName, amount: float, values: Mapping[str, float], subject: str) -> float:
    assert place.port is not None, "only storages have laws"
    found, law = state_value(place, amount, values), place.port.storage
    if found is None and law.output is None and law.content is None:
        what = f"{subject} is given as the content of a storage of which only the slope is known"
        raise rules.BAD_SETTING.error(what, fix=f"give '{place.port.variable(law.side)}' instead")
    if found is None:
        raise rules.BAD_SETTING.error(
            f"{subject} is not reached by the law of the storage", fix="give the state itself"
        )
    return found


Array = NDArray[np.float64]

MOST_STEPS: Final = 20
PROBE: Final = 1e-6


def independent_start(
    start: Mapping[str, float], causal: CausalGraph, numeric: NumericModel, inputs: Mapping[str, float]
) -> dict[str, float]:
    """The initial values of states alone, from those of states and of storages that follow them.

    A value given to a follower decides the states behind it about which nothing is said; where everything is said, the values must
    agree.

    Raises: SimulationError (S305) naming the storage and the value that it has, or (S177) naming the states that stay open.
    """
    followers = {causal.graph.ports[d.port].state: [causal.graph.ports[k] for k in d.on] for d in causal.dependent}
    own = {name: value for name, value in start.items() if name in numeric.names}
    observed = {o.name for o in numeric.observables}
    wanted = {n: value for n, value in start.items() if n in followers and n not in own and n in observed}
    if not wanted:
        return own
    said = own.keys() | {port.state for port in causal.graph.ports if port.initial is not None}
    behind = dict.fromkeys(port.state for name in wanted for port in followers[name])
    # Only states about which nothing is said may be chosen: what the user gave is not changed.
    free = [name for name in behind if name in numeric.names and name not in said]
    relation = _Relation(numeric, inputs, own, tuple(wanted), free)
    target = np.array(list(wanted.values()))
    found = relation.solved(target)
    told = relation.told(found)
    apart = np.abs(told - target)
    # Where shares of states cancel, what is left of them is rounding, however small it is: they say what counts. They
    # are looked for only where values differ at all.
    if np.any(apart > SAME * np.maximum(np.abs(told), np.abs(target))):
        apart = np.where(apart > SAME * relation.shares(found), apart, 0.0)
    for name, value, decided, off in zip(wanted, target, told, apart, strict=True):
        if off > SAME * max(abs(value), abs(decided)):
            raise _follows(name, float(value), float(decided), causal)
    if np.any(found) and (open_ := relation.left_open(found)):
        raise _open(list(wanted), open_, causal)
    return {**own, **dict(zip(free, map(float, found), strict=True))} if np.any(found) else own


MOST_TOLD: Final = 12
"""Speeds in a message."""


def chosen_start(
    said: Collection[str],
    start: Mapping[str, float],
    causal: CausalGraph,
    numeric: NumericModel,
    inputs: Mapping[str, float],
) -> tuple[Finding, ...]:
    """A warning that says which speeds of a mechanism were taken as independent, and at which all start that nobody gave."""
    ports = causal.graph.ports
    chosen = [ports[k].state for k in causal.integral if ports[k].state in start and ports[k].state not in said]
    if not chosen:
        return ()
    followers = [port for d in causal.dependent if (port := ports[d.port]).storage.inertia is not ZERO]
    told = _Relation(numeric, inputs, start, tuple(p.variable(p.law.side) for p in followers), []).told(np.zeros(0))
    with_them = {p.state: float(v) for p, v in zip(followers, told, strict=True) if p.state not in said}
    listed = [f"{name} = {value + 0.0:.4g}" for name, value in with_them.items()]
    rest = [f"and {len(listed) - MOST_TOLD} more"] if len(listed) > MOST_TOLD else []
    which = ", ".join(f"{name} = {start[name]:.4g}" for name in chosen)
    given = [ports[d.port].state for d in causal.dependent if ports[d.port].state in said]
    what = f"{listing(given)} {'follows' if len(given) == 1 else 'follow'} others, so that {which} {{}} taken as independent"
    finding = rules.CHOSEN_START.finding(
        what.format("is" if len(chosen) == 1 else "are")
        + (f"; with it start {', '.join([*listed[:MOST_TOLD], *rest])}" if listed else ""),
        where=causal.graph.name,
        fix=f"give an initial value to {listing(chosen)}, if this is not the motion that was meant",
        members=(*chosen, *given),
    )
    return (finding,)


@final
class _Relation:
    """What states tell the followers; `free` are the states that may be chosen."""

    def __init__(
        self,
        numeric: NumericModel,
        inputs: Mapping[str, float],
        own: Mapping[str, float],
        followers: tuple[str, ...],
        free: list[str],
    ) -> None:
        self.numeric, self.inputs, self.context = numeric, inputs, numeric.new_context(None, inputs)
        place = {name: k for k, name in enumerate(numeric.names)}
        observed = {o.name: k for k, o in enumerate(numeric.observables)}
        self.base = numeric.start()
        for name, value in own.items():
            self.base[place[name]] = value
        self.free, self.names = [place[name] for name in free], free
        self.observed = [observed[name] for name in followers]

    def shares(self, values: Array) -> Array:
        """The largest share that one state or input has in each follower."""
        whole, largest = self.told(values), np.zeros(len(self.observed))
        given = self.base.copy()
        for k in np.flatnonzero(given).tolist():
            self.base[k] = 0.0
            largest = np.maximum(largest, np.abs(self.told(values) - whole))
            self.base[k] = given[k]
        for k in range(len(values)):
            largest = np.maximum(largest, np.abs(self.told(np.where(np.arange(len(values)) == k, 0.0, values)) - whole))
        held = self.context
        for name in self.inputs:
            self.context = self.numeric.new_context(None, {**self.inputs, name: 0.0})
            largest = np.maximum(largest, np.abs(self.told(values) - whole))
        self.context = held
        return largest

    def told(self, values: Array) -> Array:
        """The outputs of the followers for values of the free states."""
        y = self.base.copy()
        y[self.free] = values
        return self.numeric.observe(0.0, y, np.zeros(len(y)), self.context)[self.observed]

    def slopes(self, values: Array) -> Array:
        """How the outputs change with the free states."""
        found = np.zeros((len(self.observed), len(values)))
        for k in range(len(values)):
            step = PROBE * max(1.0, abs(values[k])) * np.eye(len(values))[k]
            found[:, k] = (self.told(values + step) - self.told(values - step)) / (2.0 * step[k])
        return found

    def solved(self, target: Array) -> Array:
        """The free states nearest to zero for which the followers have their values, as far as there are any."""
        values = np.zeros(len(self.free))
        for _ in range(MOST_STEPS if len(values) else 0):
            missing = target - self.told(values)
            if np.all(np.abs(missing) <= 1e-3 * SAME * np.abs(target)):
                break
            # Least squares: with more states than followers the smallest change is taken, with fewer the best fit,
            # which is judged below.
            values = values + np.linalg.lstsq(self.slopes(values), missing, rcond=None)[0]
        return values

    def left_open(self, values: Array) -> list[str]:
        """The free states that could be changed without any follower noticing, together with others."""
        slopes = self.slopes(values)
        # Directions without a singular value change no follower: along them the start is open.
        _, sizes, rows = np.linalg.svd(slopes)
        rank = int(np.sum(sizes > 1e-6 * max(sizes, default=0.0)))
        loose = np.any(np.abs(rows[rank:]) > 1e-6, axis=0)
        # A state that no follower feels at all is not open because of them; it starts at zero as any other.
        used = np.abs(slopes).max(axis=0, initial=0.0) > 0.0
        return [name for name, is_open in zip(self.names, (loose & used).tolist(), strict=True) if is_open]


def _follows(name: str, value: float, decided: float, causal: CausalGraph) -> TellegenError:
    ports = causal.graph.ports
    on = next([ports[k].element for k in d.on] for d in causal.dependent if ports[d.port].state == name)
    verb = "makes" if len(on) == 1 else "make"
    return rules.FOLLOWS.error(
        f"the initial value of {name} is {value:g}, but {listing(on)} {verb} it {decided:g}",
        where=causal.graph.name,
        fix="leave it out, or give the values that decide it",
        members=on,
    )


def _open(followers: list[str], states: list[str], causal: CausalGraph) -> TellegenError:
    verb = "leaves" if len(followers) == 1 else "leave"
    return rules.OPEN_START.error(
        f"the initial value of {listing(followers)} {verb} open how {listing(states)} share in it",
        where=causal.graph.name,
        fix=f"give an initial value to {listing(states[:-1])}, too",
        members=states,
    )
