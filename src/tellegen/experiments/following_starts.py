"""Starts of storages that follow others: their initial values decide those of the states behind them, where these are open."""

from collections.abc import Mapping
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.causality import CausalGraph
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.experiments import rules

Array = NDArray[np.float64]

SAME: Final = 1e-9
"""Initial values that differ by less than this share are the same."""
MOST_STEPS: Final = 20
PROBE: Final = 1e-6


def own_start(
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
    free = [name for name in behind if name in numeric.names and name not in said]
    relation = _Relation(numeric, inputs, own, tuple(wanted), free)
    target = np.array(list(wanted.values()))
    found = relation.solved(target)
    told = relation.told(found)
    for name, value, decided in zip(wanted, target, told, strict=True):
        if abs(decided - value) > SAME * max(abs(value), abs(decided)):
            raise _follows(name, float(value), float(decided), causal)
    if np.any(found) and (open_ := relation.left_open(found)):
        raise _open(list(wanted), open_, causal)
    return {**own, **dict(zip(free, map(float, found), strict=True))} if np.any(found) else own


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
        self.numeric, self.context = numeric, numeric.new_context(None, inputs)
        place = {name: k for k, name in enumerate(numeric.names)}
        observed = {o.name: k for k, o in enumerate(numeric.observables)}
        self.base = numeric.start()
        for name, value in own.items():
            self.base[place[name]] = value
        self.free, self.names = [place[name] for name in free], free
        self.observed = [observed[name] for name in followers]

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
            values = values + np.linalg.lstsq(self.slopes(values), missing, rcond=None)[0]
        return values

    def left_open(self, values: Array) -> list[str]:
        """The free states that could be changed without any follower noticing, together with others."""
        slopes = self.slopes(values)
        _, sizes, rows = np.linalg.svd(slopes)
        rank = int(np.sum(sizes > 1e-6 * max(sizes, default=0.0)))
        loose = np.any(np.abs(rows[rank:]) > 1e-6, axis=0)
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
