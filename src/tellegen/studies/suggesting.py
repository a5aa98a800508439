"""Limits that the activities of a run propose, each tried."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.description.model import Element, Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.experiments.courses import Course
from tellegen.experiments.quantities import Quantity
from tellegen.expressions import Symbol
from tellegen.reduction import reduce_model
from tellegen.studies.activities import Activity, activity
from tellegen.studies.comparing import NO_VALUES, RTOL, Setting, compared, reduced_course
from tellegen.studies.losses import TrajectoryLoss
from tellegen.studies.tables import finite, text_table

SHARE = 0.01
"""The elements proposed have together at most this share of the activity."""


@final
@dataclass(frozen=True)
class Suggestion:
    """One limit that activity proposes, with the loss it brings, or the reason why it cannot be taken or told."""

    element: str
    share: float
    limit: str
    loss: TrajectoryLoss | None = None
    reason: str = ""

    def to_json(self) -> dict[str, object]:
        """Element, limit and what it costs."""
        found: dict[str, object] = {"element": self.element, "share": self.share, "limit": self.limit}
        if self.loss is not None:
            found |= {"relative_rms": finite(self.loss.relative_rms), "worst": self.loss.worst}
        return found | ({"reason": self.reason} if self.reason else {})


@final
@dataclass(frozen=True)
class Suggestions:
    """The activities of a run, and the limits of its least active elements, cheapest first."""

    activity: Activity
    proposals: tuple[Suggestion, ...]

    def to_json(self) -> dict[str, object]:
        """Activities and proposals."""
        return {**self.activity.to_json(), "proposals": [proposal.to_json() for proposal in self.proposals]}

    def __str__(self) -> str:
        parts = ["activity: the energy that passed through each element", str(self.activity), ""]
        if not self.proposals:
            return "\n".join([*parts, "no element is idle enough to be proposed"])
        rows = [("limit", "loss (rms)", "in")]
        rows += [
            (p.limit, f"{p.loss.relative_rms:.2e}", p.loss.worst) if p.loss else (p.limit or p.element, "-", p.reason)
            for p in self.proposals
        ]
        return "\n".join([*parts, "proposals, each by itself", text_table(rows)])


def suggest_limits(
    model: AnyModel,
    *,
    share: float = SHARE,
    until: Quantity | None = None,
    inputs: Mapping[str, Course] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    rtol: float = RTOL,
) -> Suggestions:
    """Limits for the elements that together have at most `share` of the activity, each tried on the experiment.

    Storages lose their state (a mass tends to zero, a stiffness to infinity) or keep their output; resistances become a short or an
    open connection. Of the two limits the one that costs less is proposed.

    Raises: TellegenError when the full model does not run.
    """
    full = as_model(model)
    setting = Setting(until, inputs, initial or NO_VALUES, parameters or NO_VALUES, rtol)
    found = activity(setting.run(full))
    elements = {e.name: e for e in full.elements}
    shares = found.shares
    proposals = [_best(full, elements[name], shares[name], setting) for name in found.least(share) if name in elements]
    return Suggestions(found, tuple(sorted(proposals, key=_cost)))


def _best(model: Model, element: Element, share: float, setting: Setting) -> Suggestion:
    inside = {member for field in model.fields for member in field.members}
    name = "" if element.law is not None or element.value is None else _limit_name(model, element)
    if not name or element.name in inside:
        return Suggestion(element.name, share, "", reason="its law has no single value that could tend to a limit")
    # A storage first loses its state: no mass, no compliance. A resistance may do either.
    first = "inf" if element.kind.inverse else "0"
    limits = [f"{name}={first}", f"{name}={'0' if first == 'inf' else 'inf'}"]
    return min((_tried(model, element.name, share, limit, setting) for limit in limits), key=_cost)


def _tried(model: Model, element: str, share: float, limit: str, setting: Setting) -> Suggestion:
    try:
        reduction = reduce_model(model, [limit])
        beside = reduced_course(reduction, setting)
        loss = compared(reduction, beside, setting.run(model, beside.run.t))
    except TellegenError as reason:
        return Suggestion(element, share, limit, reason=f"{reason.code}: {reason.what}")
    return Suggestion(element, share, limit, loss)


def _limit_name(model: Model, element: Element) -> str:
    """The parameter that is the value of the element and of no other, else the element itself; empty where neither will do."""
    value = element.value
    if isinstance(value, Symbol):
        users = [e for e in model.elements if e.value is not None and value.name in e.value.free_symbols]
        if len(users) == 1:
            return value.name
    return "" if element.name in model.parameters else element.name


def _cost(suggestion: Suggestion) -> float:
    return float("inf") if suggestion.loss is None else suggestion.loss.relative_rms
