"""How fast a model tends to its limit: the models on the way there, and the order of convergence, measured."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import final

import numpy as np

from tellegen.core.errors import Finding
from tellegen.core.names import identifier
from tellegen.core.tables import finite, text_table
from tellegen.core.units import DIMENSIONLESS
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.expressions import ONE, Expression, symbol, to_text
from tellegen.model.laws import MatrixField
from tellegen.model.model import Element, Model, Parameter
from tellegen.notations.loading import AnyModel, as_model
from tellegen.reduction import Limit, Limits, reduce_model
from tellegen.reduction.limits import LimitPlaces, entry_name, find_places
from tellegen.studies import rules
from tellegen.studies.losses import NO_VALUES, RTOL, StudyExperiment, TrajectoryLoss, losses_between, run_reduced


def model_near_limit(model: Model, limits: tuple[Limit, ...]) -> tuple[Model, str]:
    """The model with a parameter that is 1 for the model itself and 0 in the limit; and the name of the parameter.

    Where a parameter of a limit occurs elsewhere, it keeps its value there, as in the limit itself.

    Raises: ReductionError when a limit names nothing, or the law of an element has nothing to scale.
    """
    name = free_factor_name(model)
    scaled = _Scaling(model, find_places(model, limits), name).model_with_scale()
    parameter = Parameter(name, ONE, DIMENSIONLESS)
    return replace(scaled, parameters={**model.parameters, name: parameter}, source=""), name


class _Scaling:
    def __init__(self, model: Model, places: LimitPlaces, name: str) -> None:
        self.model, self.places = model, places
        self.scale = symbol(name)

    def model_with_scale(self) -> Model:
        """The model with every place scaled."""
        fields = [self._field(f) if f.name in self.places.acting else f for f in self.model.fields]
        diagonal = {m: f.matrix[k][k] for f in fields for k, m in enumerate(f.members)}
        elements = []
        for element in self.model.elements:
            if element.name in diagonal:
                own = element.value if element.value is None else diagonal[element.name]
                elements.append(replace(element, value=own))
            else:
                elements.append(self._element(element) if element.name in self.places.acting else element)
        return replace(self.model, elements=tuple(elements), fields=tuple(fields))

    def _element(self, element: Element) -> Element:
        if element.law is not None:
            expression = self._scaled(element.name, element.name, element.law.expression)
            return replace(
                element, law=replace(element.law, expression=expression, text=to_text(expression), table=None)
            )
        if element.multiport is not None:
            K = tuple(tuple(self._scaled(element.name, element.name, e) for e in row) for row in element.multiport.K)
            return replace(element, multiport=replace(element.multiport, K=K))
        assert element.value is not None, "a limit acts on elements with a value, a law or a matrix"
        return replace(element, value=self._scaled(element.name, element.name, element.value))

    def _field(self, field: MatrixField) -> MatrixField:
        if field.energy is not None:
            raise rules.NOT_ON_THE_WAY.error(
                f"'{field.name}' is given by its energy", where=field.name, fix="give it by a matrix"
            )
        matrix = tuple(
            tuple(self._scaled(field.name, entry_name(field.name, i, j), e) for j, e in enumerate(row))
            for i, row in enumerate(field.matrix)
        )
        return replace(field, matrix=matrix, stiffness=None)

    def _scaled(self, owner: str, place: str, expression: Expression) -> Expression:
        marked = self.places.value(place, expression)
        own = dict.fromkeys(self.places.marks.get(place, ONE).free_symbols, expression)
        acting = self.places.on(owner)
        changed = {name: self._on_the_way(limit, own.get(name, symbol(name))) for name, limit in acting.items()}
        return marked.substitute(changed)  # once: what is scaled occurs in its own scaled value

    def _on_the_way(self, limit: Limit, value: Expression) -> Expression:
        if limit.order == -1:
            return value / self.scale
        if limit.order == 1:
            return value * self.scale
        assert limit.to is not None, "what is not infinite has a value"
        return limit.to + (value - limit.to) * self.scale


def free_factor_name(model: Model) -> str:
    """A name for a factor that nothing else in the model has."""
    taken = {*model.parameters, *(e.name for e in model.elements), *model.displacements, *model.signals}
    taken |= {name for e in model.elements for name in e.variables.values()}
    name = "epsilon"
    while name in taken:
        name += "_1"
    return name


MOST_FACTORS = 24
"""Halvings of a parameter, where no factors are given, until the order has settled."""

SETTLED = 0.02
"""An order that changes less than this over the last halvings has settled, once the loss is small."""

SMALL_LOSS = 0.05
"""Relative loss below which an order means something."""

FLOOR = 100.0
"""Losses below this many times the tolerance are errors of solvers, not of the limit."""

FITTED = 3
"""So many factors, the ones nearest to the limit, give the order."""


@final
@dataclass(frozen=True)
class ReductionStudy:
    """Losses on the way to a limit: `losses[k]` is that of the full model with its parameters `factors[k]` times as far from it.

    `orders` are the slopes of the relative loss (root of the mean square) by variable over the last factors, `order` that of the
    worst variable that remains; NaN where the loss is too small to be measured.
    """

    limits: Mapping[str, str]
    factors: tuple[float, ...]
    losses: tuple[TrajectoryLoss, ...]
    floor: float

    @property
    def orders(self) -> dict[str, float]:
        """The order of convergence of each variable."""
        return {name: self._order([loss.variables[name].relative_rms for loss in self.losses]) for name in self._names}

    @property
    def order(self) -> float:
        """The order of the worst variable that remains."""
        return self._order([loss.relative_rms for loss in self.losses])

    @property
    def settled(self) -> bool:
        """Whether the last local orders agree, and the loss is small enough for them to mean something."""
        return _settled([loss.relative_rms for loss in self.losses], self.factors, self.floor)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Warnings of the first comparison: the model as it is."""
        return self.losses[0].findings

    @property
    def _names(self) -> list[str]:
        return list(self.losses[0].variables)

    def _order(self, losses: Sequence[float]) -> float:
        return fitted_order(self.factors, losses, self.floor)

    def to_json(self) -> dict[str, object]:
        """Factors, relative losses and orders by variable."""
        return {
            "limits": dict(self.limits),
            "factors": list(self.factors),
            "relative_rms": {
                identifier(name): [finite(loss.variables[name].relative_rms) for loss in self.losses]
                for name in self._names
            },
            "largest": {
                identifier(name): [loss.variables[name].largest for loss in self.losses] for name in self._names
            },
            "orders": {identifier(name): finite(order) for name, order in self.orders.items()},
            "order": finite(self.order),
            "settled": self.settled,
            "findings": [finding.to_json() for finding in self.findings],
        }

    def __str__(self) -> str:
        names, orders = self._names, self.orders
        rows = [("factor", *names)]
        rows += [
            (f"{factor:.3g}", *(f"{loss.variables[name].relative_rms:.3e}" for name in names))
            for factor, loss in zip(self.factors, self.losses, strict=True)
        ]
        rows.append(("order", *(_shown(orders[name]) for name in names)))
        limits = ", ".join(f"{name}={value}" for name, value in self.limits.items())
        parts = [f"convergence to {limits}: order {_shown(self.order)}{'' if self.settled else ' (not settled)'}"]
        parts.append("relative loss (rms) with the parameters scaled towards the limit")
        return "\n".join([*parts, text_table(rows), *(f"\n{finding}" for finding in self.findings)])


def reduction_study(
    model: AnyModel,
    limits: Limits,
    *,
    factors: Iterable[float] | None = None,
    keep: Iterable[str] = (),
    until: Quantity | None = None,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    rtol: float = RTOL,
) -> ReductionStudy:
    """The order in which a model converges to its reduction, measured on its experiment.

    The full model runs with what tends to the limit scaled by each factor: 1/2 stands for half a mass that tends to zero and for
    twice a stiffness that tends to infinity. Without `factors`, halves follow each other until the order has settled.
    A regular limit that the experiment does not excite is of order one.

    Raises: ReductionError when the limit does not exist or cannot be approached, or for factors that are not in falling order.
    """
    full = as_model(model)
    reduction = reduce_model(full, limits, keep=keep)
    scaled, scale = model_near_limit(full, reduction.limits)
    setting = StudyExperiment(until, inputs, initial or NO_VALUES, parameters or NO_VALUES, rtol)
    beside = run_reduced(reduction, setting)
    losses: list[TrajectoryLoss] = []
    used: list[float] = []
    given = None if factors is None else _checked(tuple(factors))
    for factor in given or (0.5**k for k in range(MOST_FACTORS)):
        run = setting.scaled(scale, factor).run(scaled, beside.run.t)
        losses.append(losses_between(reduction, beside, run))
        used.append(factor)
        course = [loss.relative_rms for loss in losses]
        if given is None and (course[-1] < FLOOR * rtol or _settled(course, used, FLOOR * rtol)):
            break
    return ReductionStudy({x.name: x.value for x in reduction.limits}, tuple(used), tuple(losses), FLOOR * rtol)


def fitted_order(factors: Sequence[float], losses: Sequence[float], floor: float) -> float:
    """The slope of log(loss) over log(factor) for the last factors whose loss is above the floor; NaN for fewer than two."""
    pairs = [(f, e) for f, e in zip(factors, losses, strict=True) if math.isfinite(e) and e > floor][-FITTED:]
    if len(pairs) < 2:
        return math.nan
    x, y = np.log(np.array(pairs)).T
    return float(np.polyfit(x, y, 1)[0])


def _settled(losses: Sequence[float], factors: Sequence[float], floor: float) -> bool:
    if len(losses) <= FITTED or not floor < losses[-1] < SMALL_LOSS:
        return False
    last = range(len(losses) - FITTED - 1, len(losses) - 1)
    local = [fitted_order(factors[k : k + 2], losses[k : k + 2], floor) for k in last]
    return max(local) - min(local) < SETTLED


def _checked(factors: tuple[float, ...]) -> tuple[float, ...]:
    falling = all(a > b for a, b in pairwise(factors))
    if len(factors) < 2 or not falling or not all(math.isfinite(f) and f > 0 for f in factors):
        raise rules.BAD_FACTORS.error(
            f"the factors are {', '.join(f'{f:g}' for f in factors) or 'none'}", fix="give some such as 1, 0.5, 0.25"
        )
    return factors


def _shown(order: float) -> str:
    return f"{order:.2f}" if math.isfinite(order) else "-"
