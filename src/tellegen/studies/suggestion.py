"""Which elements matter, by the energy that passes through each, and the limits that this proposes with what they would cost.

The activity of an element is the integral of |power| over a run, and its index the share of all activities (L. S. Louca,
J. L. Stein, G. M. Hulbert and J. Sprague, "Proper model generation: an energy-based methodology", ICBGM 1997; L. S. Louca,
J. L. Stein and G. M. Hulbert, "Energy-based model reduction methodology for automated modeling", ASME J. Dyn. Sys. Meas. Control
132, 2010). Elements of little activity can often be removed. The measure depends on the experiment, and a ranking is a proposal,
not a proof.

Where a model tends to its limit with order one, halving the distance halves the loss: the difference of two runs is half of it.
One compiled model serves all elements, each with a factor of its own, so that many are tried in the time that one reduction takes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import TellegenError
from tellegen.core.names import identifier
from tellegen.core.tables import TitledTable, finite, text_table
from tellegen.core.units import DIMENSIONLESS
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.simulating import run_problem
from tellegen.expressions import ONE, Symbol, symbol
from tellegen.model.model import Element, Model, Parameter
from tellegen.notations.loading import AnyModel, as_model
from tellegen.reduction import reduce_model
from tellegen.results.element_variables import sources_of
from tellegen.results.run import Run
from tellegen.simulation.problem import Problem
from tellegen.studies.losses import (
    NO_VALUES,
    StudyExperiment,
    TrajectoryLoss,
    free_factor_name,
    loss_of,
    losses_between,
    run_reduced,
)

Array = NDArray[np.float64]

CLOSE_ACTIVITY = 1e-3
"""Rows are made denser until the sum of all activities changes by less than this share."""

FEWEST = 500
"""Fewer rows than this could agree by chance with twice as many."""

FINEST = 32
"""Rows are made at most so many times denser."""


@final
@dataclass(frozen=True)
class Activity:
    """The activities of elements in J, largest first; sources are not counted, for nobody would take them away."""

    energies: Mapping[str, float]

    @property
    def total(self) -> float:
        """The sum of all activities."""
        return sum(self.energies.values())

    @property
    def shares(self) -> dict[str, float]:
        """The share of each element in the total, largest first; zero where nothing happens at all."""
        total = self.total
        return {name: energy / total if total else 0.0 for name, energy in self.energies.items()}

    def least(self, share: float) -> list[str]:
        """The elements, least active first, that together have at most this share."""
        found: list[str] = []
        used = 0.0
        for name, part in reversed(self.shares.items()):
            used += part
            if used > share:
                break
            found.append(name)
        return found

    def to_json(self) -> dict[str, object]:
        """Energy and share by element."""
        shares = self.shares
        return {
            "total": self.total,
            "activity": {
                identifier(name): {"energy": energy, "share": shares[name]} for name, energy in self.energies.items()
            },
        }

    def table(self) -> TitledTable:
        """The elements, most active first."""
        rows: list[tuple[str, ...]] = [("element", "activity (J)", "share", "together")]
        together = np.cumsum(list(self.shares.values()))
        for (name, share), sum_so_far in zip(self.shares.items(), together, strict=True):
            rows.append((name, f"{self.energies[name]:.4g}", f"{100 * share:.3g} %", f"{100 * sum_so_far:.5g} %"))
        return TitledTable("activity: the energy that passed through each element", rows, headed=True)

    def __str__(self) -> str:
        return text_table(self.table().rows)


def activity(run: Run) -> Activity:
    """The energy that passed through each storing and dissipating element of a run, ranked.

    Rows are made denser, by simulating again, until the result no longer depends on them; a run from a file is taken as it is.
    """
    names = [name for name in run.catalogue.elements("power") if name not in sources_of(run.graph)]
    found = _energies(run, names)
    # A ranking by integrals of |power| needs rows where power changes sign, which the rows of a run need not show.
    density = 2
    while run.again is not None and len(run.t) > 1 and density <= FINEST:
        times = np.linspace(run.t[0], run.t[-1], density * max(len(run.t), FEWEST) + 1)
        denser = _energies(run.refined(np.union1d(times, run.t)), names)
        # The sum over all elements: a single idle element would never settle in proportion.
        settled = abs(denser.sum() - found.sum()) <= CLOSE_ACTIVITY * denser.sum()
        found, density = denser, 2 * density
        if settled:
            break
    energies = dict(zip(names, found.tolist(), strict=True))
    return Activity(dict(sorted(energies.items(), key=lambda entry: -entry[1])))


def _energies(run: Run, names: list[str]) -> Array:
    if not names:
        return np.zeros(0)
    # Undefined rows (a power at a jump) count as nothing.
    powers = run.channels.sums([run.catalogue.of("power", name) for name in names])
    return np.asarray(np.trapezoid(np.abs(np.nan_to_num(powers)), run.t, axis=0))


HALF = 0.5
ROUGH = 1e-7
"""Estimates need no accurate runs; differences below this share of a variable count as nothing."""


def estimated_losses(model: Model, elements: Sequence[str], setting: StudyExperiment) -> dict[str, tuple[float, float]]:
    """For each element the loss expected where its value tends to zero, and to infinity; infinite where no run tells.

    A loss is the rms difference of the worst state or output, as a share of its own rms value. The variable of the element itself
    does not count: it is what the limit takes away.
    """
    scaled, factors = _with_factors(model, elements)
    ready = setting.ready(scaled)
    # One compiled model with a factor for each element: dozens of trials in the time of one compilation.
    rough = Problem(
        ready.numeric, ready.until, y0=dict(ready.start), inputs=dict(ready.inputs), rtol=max(setting.rtol, ROUGH)
    )
    full = run_problem(ready, rough)
    names = tuple(dict.fromkeys((*full.state_names, *full.output_names)))
    own = {p.element: p.state for p in full.graph.ports}

    def loss(element: str, factor: float) -> float:
        try:
            other = run_problem(ready, replace(rough, parameters={factors[element]: factor}, times=full.t, books=False))
        # An estimate that cannot be run proposes nothing; the limit itself may still exist.
        except TellegenError:
            return float("inf")
        told = [name for name in names if name != own.get(element)] or list(names)
        # With order one, what is left to the limit is as much as what halving has changed.
        return _difference(full, other, told) / (1 - HALF)

    return {name: (loss(name, HALF), loss(name, 1 / HALF)) for name in elements}


def _with_factors(model: Model, elements: Sequence[str]) -> tuple[Model, Mapping[str, str]]:
    """The model with a factor, one so far, before the value of each element; and the names of the factors."""
    factors: dict[str, str] = {}
    parameters = dict(model.parameters)
    for name in elements:
        # With the parameters so far, so that each factor gets a name of its own.
        factors[name] = free_factor_name(replace(model, parameters=parameters))
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


SHARE = 0.01
"""The elements proposed have together at most this share of the activity."""

MOST = 30
"""At most so many of them are looked at, the least active first."""

TRIED = 3
"""So many limits, the cheapest ones by estimate, are taken and compared; the others keep their estimate."""

ACCURATE = 1e-7
"""The tolerance of the runs: a proposal is not a study, which takes a hundredth of it."""

CLOSE_LIMITS = 3.0
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

    def tables(self) -> list[TitledTable]:
        """Activities and proposals, which may be none."""
        if not self.proposals:
            return [self.activity.table(), TitledTable("no element is idle enough to be proposed")]
        rows = [("limit", "expected", "loss (rms)", "in"), *map(_row, self.proposals)]
        return [self.activity.table(), TitledTable("proposals, each by itself", rows, headed=True)]

    def __str__(self) -> str:
        parts = (f"{table.title}\n{text_table(table.rows)}" if table.rows else table.title for table in self.tables())
        return "\n\n".join(parts)


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
    inputs: Mapping[str, InputSignal] | None = None,
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
    setting = StudyExperiment(until, inputs, initial or NO_VALUES, parameters or NO_VALUES, rtol)
    found = activity(setting.run(full))
    elements = {e.name: e for e in full.elements}
    names = {name: _limit_name(full, elements[name]) for name in found.least(share)[:most] if name in elements}
    # Estimates for all, true losses for the cheapest few: a reduction costs as much as a hundred estimates.
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
        # A stiffness loses its state at infinity, an inertia at zero.
        first, second = reversed(both) if element.kind.inverse else both
        return [first] if first.expected <= CLOSE_LIMITS * second.expected else [first, second]
    best = min(vanishing, growing)
    return [p for p in both if p.expected <= CLOSE_LIMITS * best]


def _best_of_each(proposals: Sequence[Suggestion]) -> list[Suggestion]:
    """The cheapest limit of each element, those that were taken first."""
    best: dict[str, Suggestion] = {}
    for proposal in sorted(proposals, key=_cost):
        best.setdefault(proposal.element, proposal)
    return list(best.values())


@final
class _Trial:
    """Takes limits on one experiment; the full model runs once for all that ask for the same times."""

    def __init__(self, model: Model, setting: StudyExperiment) -> None:
        self.model, self.setting = model, setting
        self.runs: dict[bytes, Run] = {}

    def tried(self, proposal: Suggestion) -> Suggestion:
        """The proposal with the loss that its limit brings, or the reason why it has none."""
        try:
            reduction = reduce_model(self.model, [proposal.limit])
            beside = run_reduced(reduction, self.setting)
            loss = losses_between(reduction, beside, self._full(beside.run.t))
        except TellegenError as reason:
            return replace(proposal, expected=float("inf"), reason=f"{reason.code}: {reason.what}")
        return replace(proposal, loss=loss)

    def _full(self, times: Array) -> Run:
        # Reductions of one experiment mostly ask for the same rows: the full model then runs once.
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
        # A parameter of several elements would take them all to the limit.
        if len(users) == 1:
            return value.name
    return "" if element.name in model.parameters else element.name


def _cost(proposal: Suggestion) -> tuple[bool, float]:
    if proposal.loss is not None:
        return False, proposal.loss.relative_rms
    return True, proposal.expected
