"""What limits would cost, estimated without reducing: the full model with one element at a time halfway to its limit.

Where a model tends to its limit with order one, halving the distance halves the loss: the difference of two runs is half of it.
One compiled model serves all elements, each with a factor of its own, so that many are tried in the time that one reduction takes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tellegen.core.errors import TellegenError
from tellegen.core.units import DIMENSIONLESS
from tellegen.description.model import Model, Parameter
from tellegen.experiments.simulating import run_problem
from tellegen.expressions import ONE, symbol
from tellegen.results.run import Run
from tellegen.simulation.problem import Problem
from tellegen.studies.approaching import new_name
from tellegen.studies.comparing import Setting
from tellegen.studies.losses import loss_of

HALF = 0.5
ROUGH = 1e-7
"""Estimates need no accurate runs; differences below this share of a variable count as nothing."""


def estimated_losses(model: Model, elements: Sequence[str], setting: Setting) -> dict[str, tuple[float, float]]:
    """For each element the loss expected where its value tends to zero, and to infinity; infinite where no run tells.

    A loss is the rms difference of the worst state or output, as a share of its own rms value. The variable of the element itself
    does not count: it is what the limit takes away.
    """
    scaled, factors = _with_factors(model, elements)
    ready = setting.ready(scaled)
    rough = Problem(
        ready.numeric, ready.until, y0=dict(ready.start), inputs=dict(ready.inputs), rtol=max(setting.rtol, ROUGH)
    )
    full = run_problem(ready, rough)
    names = tuple(dict.fromkeys((*full.state_names, *full.output_names)))
    own = {p.element: p.state for p in full.graph.ports}

    def loss(element: str, factor: float) -> float:
        try:
            other = run_problem(ready, replace(rough, parameters={factors[element]: factor}, times=full.t, books=False))
        except TellegenError:
            return float("inf")
        told = [name for name in names if name != own.get(element)] or list(names)
        return _difference(full, other, told) / (1 - HALF)

    return {name: (loss(name, HALF), loss(name, 1 / HALF)) for name in elements}


def _with_factors(model: Model, elements: Sequence[str]) -> tuple[Model, Mapping[str, str]]:
    """The model with a factor, one so far, before the value of each element; and the names of the factors."""
    factors: dict[str, str] = {}
    parameters = dict(model.parameters)
    for name in elements:
        factors[name] = new_name(replace(model, parameters=parameters))
        parameters[factors[name]] = Parameter(factors[name], ONE, DIMENSIONLESS)
    changed = tuple(
        replace(e, value=e.value * symbol(factors[e.name])) if e.name in factors and e.value is not None else e
        for e in model.elements
    )
    return replace(model, elements=changed, parameters=parameters, source=""), factors


def _difference(full: Run, other: Run, names: Sequence[str]) -> float:
    if len(other.t) != len(full.t):
        return float("inf")  # the run ended early
    one, two = full.table(names), other.table(names)
    losses = [loss_of(one[:, k], two[:, k], full.t, "", False).relative_rms for k in range(len(names))]
    return max((loss for loss in losses if loss > ROUGH), default=0.0)
