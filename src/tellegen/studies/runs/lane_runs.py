"""Runs of a study in lanes: whether a model can, the method that suits it, and tables for it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.routines import DEAR
from tellegen.compiler.statements import operation_count
from tellegen.compiler.straight import NotStraightError, StraightCode, straight_code
from tellegen.experiments.setup import Setup
from tellegen.simulation.batches import BatchResult, RunTables
from tellegen.simulation.global_error import PROMISED
from tellegen.simulation.lanes import PAIRS, CardBatch, Keeping, LaneBatch, LaneControl, LaneTables
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.stretch import SolverSettings, prepare
from tellegen.studies.runs import rules

if TYPE_CHECKING:
    from tellegen.studies.runs.model_runs import ModelRuns, Plan

MOST_VARIABLES: Final = 64
MOST_ON_CARD: Final = 24
MOST_OF_ORDER_5: Final = 12
"""On a card: seven stages of more variables than these do not fit into the registers of a thread."""
SINGLE_RTOL: Final = 1e-5

CORES, CARD = "cores", "gpu"
"""What makes the runs."""

WORTH: Final = 1e9
"""Operations of all runs, about a second of CPU time one after the other: below it a program takes longer to compile than it saves.
They are counted and not timed, so that the same study is made in the same way each time."""
TRIED: Final = ("dormand-prince", "tsitouras")
"""The methods that a pilot tries."""
PILOT_STEPS: Final = 200_000
MANY_STEPS: Final = 50
"""A run that takes so many times the steps of the pilot's median would keep its neighbours waiting."""
LEAST_STEPS: Final = 20
CARD_STEPS: Final = 20
"""On a card a long run keeps nobody waiting but its neighbours in a warp."""
HALVES: Final = 0.5
"""Of what is promised: so far may a run of the pilot be off."""
FINER: Final = (1.0, 0.2, 0.04)
TIMED: Final = 64
ENOUGH_S: Final = 0.02

PARAMETER, INPUT = "parameter", "input"


def lane_refusal(numeric: NumericModel, solver: str) -> str:
    """Why these runs are not made in lanes, as far as that is seen before any is written; empty where they are."""
    if solver not in ("auto", "runge-kutta"):
        return f"'{solver}' makes one run at a time"
    if not numeric.explicit:
        return "the rates do not follow from the states by formulas"
    if any(event.kind != "bend" for event in numeric.events):
        return "events are watched for"
    if numeric.sample_groups:
        return "signals are sampled"
    if numeric.size > MOST_VARIABLES:
        return f"there are more than {MOST_VARIABLES} variables"
    return ""


def varied_places(
    names: Sequence[str], numeric: NumericModel, base: tuple[Array, Array], tables: RunTables
) -> tuple[str, ...]:
    """The parameters and inputs that differ between runs: those named, and what follows from them in these tables."""
    told = (
        (PARAMETER, numeric.parameters, base[0], tables.parameters),
        (INPUT, numeric.inputs, base[1], tables.inputs),
    )
    return tuple(
        f"{word} {name}"
        for word, known, values, column in told
        for k, name in enumerate(known)
        if name in names or (column[:, k] != values[k]).any()
    )


def card_refusal(numeric: NumericModel, rtol: float, *, single: bool) -> str:
    """Why no graphics card can make these runs, beside what keeps them out of lanes; empty where one can."""
    if numeric.size > MOST_ON_CARD:
        return f"there are {numeric.size} variables, and registers hold {MOST_ON_CARD}"
    if single and rtol < SINGLE_RTOL:
        return f"single precision does not hold a relative tolerance of {rtol:g}: ask for {SINGLE_RTOL:g} or more"
    return ""


def card_pair(size: int, step: float | None) -> str:
    """The method on a card, for so many variables."""
    if step is not None:
        return "classic"
    return "tsitouras" if size <= MOST_OF_ORDER_5 else "bogacki-shampine"


@final
@dataclass(frozen=True)
class LaneRuns:
    """The runs of one model in lanes. `places` are what differs between them, all else has the values of `base`."""

    ready: Setup
    base: tuple[Array, Array]
    places: tuple[str, ...]
    keeping: Keeping
    pair: str
    device: str = CORES
    single: bool = False

    @cached_property
    def _columns(self) -> list[tuple[str, int]]:
        numeric = self.ready.numeric
        known: Mapping[str, Sequence[str]] = {PARAMETER: numeric.parameters, INPUT: numeric.inputs}
        letters = {PARAMETER: "p", INPUT: "u"}
        split = [place.split(" ", 1) for place in self.places]
        return [(letters[word], known[word].index(name)) for word, name in split]

    @cached_property
    def code(self) -> StraightCode:
        """The straight lines of the model.

        Raises: NotStraightError saying why it has none.
        """
        numeric = self.ready.numeric
        counts = (("p", len(numeric.parameters)), ("u", len(numeric.inputs)))
        values = {
            (letter, k): float(given[k])
            for (letter, count), given in zip(counts, self.base, strict=True)
            for k in range(count)
        }
        return straight_code(self.ready.causal, values, self._columns, self.keeping.channels)

    @cached_property
    def batch(self) -> LaneBatch | CardBatch:
        """The program that makes them."""
        if self.device == CARD:
            return CardBatch(self.code, self.pair, self.keeping, self.single)
        return LaneBatch(self.code, self.pair, self.keeping)

    def taken(self, tables: RunTables) -> NDArray[np.bool_]:
        """Which runs differ from the base in nothing but what the program takes."""
        found = np.ones(len(tables.untils), dtype=bool)
        for letter, base, given in zip("pu", self.base, (tables.parameters, tables.inputs), strict=True):
            others = [k for k in range(given.shape[1]) if (letter, k) not in self._columns]
            found &= (given[:, others] == base[: given.shape[1]][others]).all(axis=1)
        return np.asarray(found & np.isfinite(tables.starts).all(axis=1))

    def run(
        self,
        tables: RunTables,
        settings: SolverSettings,
        most_steps: int,
        threads: int = 1,
        between: Callable[[int], bool] | None = None,
    ) -> BatchResult:
        """Make these runs."""
        sources = {"p": tables.parameters, "u": tables.inputs}
        values = [sources[letter][:, k] for letter, k in self._columns]
        shared = prepare(self.ready.numeric).breaks(0.0, self.ready.until)
        given = LaneTables(
            values=np.stack(values, axis=1) if values else np.zeros((len(tables.untils), 1)),
            starts=tables.starts,
            untils=tables.untils,
            row_times=tables.row_times,
            stops=shared if tables.stops is None else tables.stops,
        )
        control = LaneControl(settings.rtol, settings.atol, settings.max_step, most_steps)
        return self.batch.run(given, control, threads, between)


# -- The choice of a pilot -------------------------------------------------------------------------------------------------------


def plan_in_lanes(runs: "ModelRuns", plan: "Plan", values: Array, pilot: Sequence[int]) -> "Plan":
    """The plan with the method that makes most runs a second in lanes, where there is one that keeps the tolerance.

    Both methods and the solver for single runs are timed with the same runs.
    """
    if plan.how != "batch" or len(values) * _operations(runs, plan, values[list(pilot)]) < WORTH:
        return plan
    why = lane_refusal(runs.ready.numeric, runs.settings.solver)
    if why:
        return replace(plan, reason=f"{plan.reason}; no lanes, for {why}")
    try:
        return _LanePilot(runs, plan, values, values[list(pilot)]).chosen()
    except NotStraightError as reason:
        return replace(plan, reason=f"{plan.reason}; no lanes, for {reason}")


def plan_on_card(runs: "ModelRuns", plan: "Plan", values: Array, pilot: Sequence[int], *, single: bool) -> "Plan":
    """The plan on a graphics card.

    Raises: SimulationError (S430) saying why no card can make these runs.
    """
    numeric = runs.ready.numeric
    why = "" if plan.how == "batch" else plan.reason
    why = why or lane_refusal(numeric, runs.settings.solver) or card_refusal(numeric, runs.rtol, single=single)
    if not why:
        looks = _LanePilot(runs, plan, values, values[list(pilot)])
        places = varied_places(runs.names, numeric, runs.problem.given, runs.tables(looks.pilot)[0])
        asked = replace(
            plan,
            pair=card_pair(numeric.size, runs.step),
            varied=places,
            most_steps=PILOT_STEPS * CARD_STEPS,
            step=runs.step or 0.0,
            device=CARD,
            single=single,
        )
        try:
            found = looks.within_tolerance(asked)
        except NotStraightError as reason:
            why = str(reason)
        else:
            if found is not None:
                return replace(found, reason=f"{plan.reason}; on a graphics card")
            why = "errors or steps of its methods are too many"
            if runs.step is not None:
                why = f"steps of {runs.step:g} s miss the tolerance"
    raise rules.NOT_ON_CARD.error(
        f"no graphics card can make these runs: {why}", where=runs.model.name, fix="make them on the cores: on='local'"
    )


def _operations(runs: "ModelRuns", plan: "Plan", pilot: Array) -> float:
    """Of a run: those of rates, at the stages of a method of high order for each step."""
    data = runs.ready.numeric.data
    if data is None or data.rates is None:
        return 0.0
    each = operation_count(data.rates.statements, data.rates.results, function=DEAR)
    steps = runs.make(pilot, plan).steps
    return float(np.median(steps)) * len(PAIRS["dormand-prince"].a) * each


@final
class _LanePilot:
    """Tries methods for lanes with some runs."""

    def __init__(self, runs: "ModelRuns", plan: "Plan", values: Array, pilot: Array) -> None:
        self.runs, self.plan, self.pilot = runs, plan, pilot
        self.timed = values[np.linspace(0, len(values) - 1, min(len(values), TIMED)).astype(int)]
        self.exact = runs.make(pilot, plan, finer=0.1)

    def chosen(self) -> "Plan":
        """The plan as it was, or with the quickest method that keeps the tolerance."""
        single = _seconds(lambda: self.runs.make(self.pilot, self.plan), len(self.pilot))
        found = [plan for pair in TRIED if (plan := self._tried(pair)) is not None]
        best = min(found, key=_work, default=None)
        if best is None or best.seconds >= single:
            why = "their errors or steps are too many" if best is None else "they are slower"
            return replace(self.plan, reason=f"{self.plan.reason}; no lanes, for {why}")
        return best

    def _tried(self, pair: str) -> "Plan | None":
        """The plan with a method, and what a run takes by it; None where it does not keep the tolerance."""
        tables, made, others = self.runs.tables(self.pilot)
        if others or not len(made):
            return None
        places = varied_places(self.runs.names, self.runs.ready.numeric, self.runs.problem.given, tables)
        plan = replace(self.plan, pair=pair, varied=places, most_steps=PILOT_STEPS)
        program = self.runs.lane_runs(plan).batch
        if isinstance(program, LaneBatch) and program.built.library is None:
            raise NotStraightError(program.built.why.partition(":")[0])
        return self.within_tolerance(plan)

    def within_tolerance(self, plan: "Plan") -> "Plan | None":
        """The plan with the share of the tolerance at which its method keeps it; None where it does not."""
        tables, made, _ = self.runs.tables(self.pilot)
        for finer in (1.0,) if plan.step else FINER:
            plan = replace(plan, pair_share=self.plan.share * finer)
            found = self.runs.in_lanes(tables, plan)
            good = found.status == jobs.FINISHED
            # where some runs are made twice, lanes gain little
            if np.count_nonzero(good) < 0.75 * len(good):
                return None
            if self._keeps(found.part(good), made[good]):
                steps = int(np.median(found.counts[good, 0]))
                return replace(plan, most_steps=MANY_STEPS * max(steps, LEAST_STEPS), seconds=self._seconds(plan))
        return None

    def _keeps(self, found: BatchResult, numbers: NDArray[np.int64]) -> bool:
        """Whether all that is kept is near to what the solver for single runs gives with a tenth of the tolerance."""
        for place, k in enumerate(self.runs.order):
            kept, exact = self.runs.numbers[k], self.exact.out[numbers, k]
            # when an extreme comes is known to the square root of the tolerance
            if kept.word.startswith("time_of"):
                continue
            off = np.abs(kept.finished(found.out[:, place], np.array([self.runs.ready.until])) - exact)
            if (off > HALVES * PROMISED * self.runs.tolerance_of(exact)).any():
                return False
        return True

    def _seconds(self, plan: "Plan") -> float:
        tables, made, _ = self.runs.tables(self.timed)
        return _seconds(lambda: self.runs.in_lanes(tables, plan), len(made))


def _work(plan: "Plan") -> int:
    """What decides between methods: stages of all steps."""
    return plan.most_steps * len(PAIRS[plan.pair].a)


def _seconds(make: Callable[[], object], runs: int) -> float:
    """What a run takes on one core, from enough of them for a clock."""
    made, began = 0, time.process_time()
    while not made or time.process_time() - began < ENOUGH_S:
        make()
        made += max(runs, 1)
    return (time.process_time() - began) / made
