"""Limits that the activities of a run propose: the losses of all are estimated, and the cheapest are tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.description.model import Element, Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.experiments.courses import Course
from tellegen.experiments.quantities import Quantity
from tellegen.expressions import Symbol
from tellegen.reduction import reduce_model
from tellegen.results.run import Run
from tellegen.studies.activities import Activity, Array, activity
from tellegen.studies.comparing import NO_VALUES, Setting, compared, reduced_course
from tellegen.studies.losses import TrajectoryLoss
from tellegen.studies.screening import estimated_losses
from tellegen.studies.tables import finite, text_table

SHARE = 0.01
"""The elements proposed have together at most this share of the activity."""

MOST = 30
"""At most so many of them are looked at, the least active first."""

TRIED = 3
"""So many limits, the cheapest ones by estimate, are taken and compared; the others keep their estimate."""

ACCURATE = 1e-7
"""The tolerance of the runs: a proposal is not a study, which takes a hundredth of it."""

CLOSE = 3.0
"""Both limits of an element are proposed where their expected losses differ by less than this factor."""


@final
@dataclass(frozen=True)
class Suggestion:
    """One limit that activity proposes, with the loss it brings, or the reason why it cannot be taken or told.

    `expected` estimates the loss from the full model halfway to the limit; `loss` is there where the limit was taken.
    """

    element: str
    share: float
    limit: str
    expected: float = float("inf")
    loss: TrajectoryLoss | None = None
    reason: str = ""

    def to_json(self) -> dict[str, object]:
        """Element, limit and what it costs."""
        found: dict[str, object] = {"element": self.element, "share": self.share, "limit": self.limit}
        found["expected"] = finite(self.expected)
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
        rows = [("limit", "expected", "loss (rms)", "in"), *map(_row, self.proposals)]
        return "\n".join([*parts, "proposals, each by itself", text_table(rows)])


def _row(proposal: Suggestion) -> tuple[str, str, str, str]:
    expected = f"{proposal.expected:.1e}" if proposal.expected < float("inf") else "-"
    if proposal.loss is None:
        return proposal.limit or proposal.element, expected, "-", proposal.reason or "not tried"
    return proposal.limit, expected, f"{proposal.loss.relative_rms:.2e}", proposal.loss.worst


def suggest_limits(
    model: AnyModel,
    *,
    share: float = SHARE,
    most: int = MOST,
    tried: int = TRIED,
    until: Quantity | None = None,
    inputs: Mapping[str, Course] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    rtol: float = ACCURATE,
) -> Suggestions:
    """Limits for the elements that together have at most `share` of the activity, at most `most` of them.

    Storages lose their state (a mass tends to zero, a stiffness to infinity) or keep their output; resistances become a short or an
    open connection. The loss of each is estimated from the full model halfway to the limit. The `tried` limits that seem
    cheapest are taken and compared on the experiment; of an element whose other limit is as cheap, both.

    Raises: TellegenError when the full model does not run.
    """
    full = as_model(model)
    setting = Setting(until, inputs, initial or NO_VALUES, parameters or NO_VALUES, rtol)
    found = activity(setting.run(full))
    elements = {e.name: e for e in full.elements}
    names = {name: _limit_name(full, elements[name]) for name in found.least(share)[:most] if name in elements}
    expected = estimated_losses(full, [name for name, limit in names.items() if limit], setting)
    proposals = [p for name, limit in names.items() for p in _both(elements[name], limit, found.shares[name], expected)]
    proposals.sort(key=lambda p: p.expected)
    trial = _Trial(full, setting)
    proposals = [trial.tried(p) if k < tried and p.limit else p for k, p in enumerate(proposals)]
    return Suggestions(found, tuple(_best_of_each(proposals)))


def _both(element: Element, limit: str, share: float, expected: Mapping[str, tuple[float, float]]) -> list[Suggestion]:
    """The two limits of an element; the other one only where it may be as cheap."""
    if not limit:
        reason = "its law has no single value that could tend to a limit"
        return [Suggestion(element.name, share, "", reason=reason)]
    vanishing, growing = expected[element.name]
    both = [
        Suggestion(element.name, share, f"{limit}=0", vanishing),
        Suggestion(element.name, share, f"{limit}=inf", growing),
    ]
    if element.kind.role == "storage":  # it loses its state, rather than its freedom, unless that costs far more
        first, second = reversed(both) if element.kind.inverse else both
        return [first] if first.expected <= CLOSE * second.expected else [first, second]
    best = min(vanishing, growing)
    return [p for p in both if p.expected <= CLOSE * best]


def _best_of_each(proposals: Sequence[Suggestion]) -> list[Suggestion]:
    """The cheapest limit of each element, those that were taken first."""
    best: dict[str, Suggestion] = {}
    for proposal in sorted(proposals, key=_cost):
        best.setdefault(proposal.element, proposal)
    return list(best.values())


@final
class _Trial:
    """Takes limits on one experiment; the full model runs once for all that ask for the same times."""

    def __init__(self, model: Model, setting: Setting) -> None:
        self.model, self.setting = model, setting
        self.runs: dict[bytes, Run] = {}

    def tried(self, proposal: Suggestion) -> Suggestion:
        """The proposal with the loss that its limit brings, or the reason why it has none."""
        try:
            reduction = reduce_model(self.model, [proposal.limit])
            beside = reduced_course(reduction, self.setting)
            loss = compared(reduction, beside, self._full(beside.run.t))
        except TellegenError as reason:
            return replace(proposal, expected=float("inf"), reason=f"{reason.code}: {reason.what}")
        return replace(proposal, loss=loss)

    def _full(self, times: Array) -> Run:
        key = times.tobytes()
        if key not in self.runs:
            self.runs[key] = self.setting.run(self.model, times)
        return self.runs[key]


def _limit_name(model: Model, element: Element) -> str:
    """The parameter that is the value of the element and of no other, else the element itself; empty where neither will do."""
    inside = {member for field in model.fields for member in field.members}
    value = element.value
    if element.law is not None or value is None or element.name in inside:
        return ""
    if isinstance(value, Symbol):
        users = [e for e in model.elements if e.value is not None and value.name in e.value.free_symbols]
        if len(users) == 1:
            return value.name
    return "" if element.name in model.parameters else element.name


def _cost(proposal: Suggestion) -> tuple[bool, float]:
    if proposal.loss is not None:
        return False, proposal.loss.relative_rms
    return True, proposal.expected
