"""Why a run ended early: from the status of a solver to a finding that names the time, the element and what to do.

A relay on a plant of second order switches ever faster, though never in no time. Where the number of events doubles again and again
in equal times, and would pass all bounds before the end of the run, the run ends there. A count that grows otherwise is no matter:
a pulse width modulator, early or late, or a comparator behind a chirp may switch as often as it likes.

Steps of CVODE and IDA are known to their tolerance only: where thousands of events come and go within it, such a run ends, too.
"""

from collections import Counter, defaultdict, deque
from itertools import pairwise
from math import log2
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import Finding
from tellegen.core.names import listing
from tellegen.simulation import rules
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.stretch import SolverSettings, StatePoint, StretchEnd
from tellegen.simulation.trajectory import RunEvent

STEPS = (0.0, *(10.0**k for k in range(-15, -2)))
"""How far ahead of the last good point to look, beside the time that has passed: the point that failed was not kept."""

SHARES = ((1e-3, 0.3), (1e-5, 1e2), (1e-7, 1e2), (1e-9, 1e2))
LITTLE = 0.1
"""What runs away grows so many times as fast at least as the fastest variable, which changes by a share of itself, and its cause by
little beside it. A pole that is closer than a share of that variable is seen with a smaller one."""


def variables_without_value(model: NumericModel, context: ModelContext, last: StatePoint) -> tuple[str, str]:
    """What has no value near a point, in words, and the element or signal itself; both empty where nothing can be said."""
    if not model.observables or not np.isfinite(last.yp).all():
        return "", ""
    failed = context.struct.failed
    try:
        # The last good point is fine by definition: what has no value lies a little ahead, along the motion.
        for step in STEPS:
            ahead = step * max(1.0, abs(last.t))
            observed = model.observe_unchecked(last.t + ahead, last.y + ahead * last.yp, last.yp, context)
            if not np.isfinite(observed).all():
                return _first(model, np.isfinite(observed))
    finally:
        context.struct.failed = failed
    return "", ""


def running_away(model: NumericModel, context: ModelContext, last: StatePoint) -> str:
    """The resistive element of which one power variable grows without bound while the other does not: its law has a pole ahead.

    Empty where there is none: where both grow, it is the motion that runs away.
    """
    moving = (last.y != 0.0) & (last.yp != 0.0) & np.isfinite(last.yp)
    if not model.observables or not moving.any():
        return ""
    # The time in which the fastest variable would change by all of itself.
    pace = float(np.min(np.abs(last.y[moving] / last.yp[moving])))
    return next(
        (found for share, least in SHARES if (found := _with_a_pole(model, context, last, pace, share, least))), ""
    )


def _with_a_pole(
    model: NumericModel, context: ModelContext, last: StatePoint, pace: float, share: float, least: float
) -> str:
    failed, steps = context.struct.failed, (0.0, share * pace)
    here, ahead = (model.observe_unchecked(last.t + by, last.y + by * last.yp, last.yp, context) for by in steps)
    context.struct.failed = failed
    with np.errstate(all="ignore"):
        # Relative growth for the share of time that passes: so variables of any unit are compared.
        growth = np.log(np.abs(ahead / here)) / share
    best, fastest = "", least
    for element, (across, through) in _power_variables(model).items():
        # With several ports nobody can say which variable of one belongs to which of the other.
        if not len(across) == len(through) == 1:
            continue
        other, one = sorted((growth[across[0]], growth[through[0]]))
        if one > fastest and other < LITTLE * one:
            best, fastest = element, float(one)
    return best


def _power_variables(model: NumericModel) -> dict[str, tuple[list[int], list[int]]]:
    """The places of the across and the through variables of elements that are neither storages nor sources."""
    places: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for k, observable in enumerate(model.observables):
        places[observable.element][observable.kind].append(k)
    return {
        element: (of["across"], of["through"])
        for element, of in places.items()
        if element and not {"energy", "output"} & of.keys()
    }


def _first(model: NumericModel, finite: NDArray[np.bool_]) -> tuple[str, str]:
    """Laws before signals before storages: what a law without a value decides makes the others not finite, not the reverse."""
    laws = _broken_laws(model, finite)
    if laws:
        return f"the law of {listing(laws)} has no value there", laws[0]
    for word, kind in (
        ("the signal '{}' has no value there", "signal"),
        ("the energy of '{}' has no value there", "energy"),
    ):
        for observable, good in zip(model.observables, finite, strict=True):
            if observable.kind == kind and not good:
                name = observable.element or observable.name
                return word.format(name), name
    return "", ""


def _broken_laws(model: NumericModel, finite: NDArray[np.bool_]) -> list[str]:
    """Resistive elements that are told a finite value and give one that is not.

    Storages and sources are left out: what others tell them may be without a value while their own variable has one.
    """
    known = _power_variables(model).items()
    return [e for e, sides in known if any(finite[a] != finite[b] for a, b in zip(*sides, strict=False))]


MANY_CHANGES: Final = 4096
"""Changes of mode take longer than events that stay in one: those are counted in native/job.h, further."""
MOST_EVENTS: Final = 1e9
LONGER: Final = 1.1
SHORTER: Final = 0.5
DOUBLINGS: Final = 6
LATELY: Final = 100


@final
class ChatterDetector:
    """Counts changes of mode, and knows when their number doubled."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.count = 0
        self.at: deque[float] = deque(maxlen=DOUBLINGS)
        self.lately: deque[str] = deque(maxlen=LATELY)

    def note(self, happening: RunEvent) -> Finding | None:
        """Count a change; gives a finding where changes follow each other ever faster."""
        self.count += 1
        self.lately.append(happening.element)
        # Only powers of two are looked at: the instants at which the number has doubled.
        if self.count & (self.count - 1):
            return None
        self.at.append(happening.t)
        if self.count < MANY_CHANGES or not self._endless():
            return None
        return chatter_ever_faster(happening.t, self.count, list(self.lately), "changed its mode")

    def _endless(self) -> bool:
        spans = [after - before for before, after in pairwise(self.at)]
        # Doublings in equal times or quicker ones, all the way: a modulator that switches evenly takes twice as long
        # for each.
        steady = all(SHORTER * before <= after <= LONGER * before for before, after in pairwise(spans))
        # At this pace, will there be more events before the end than any machine can take?
        return steady and self.until - self.at[-1] > spans[-1] * log2(MOST_EVENTS / self.count)


def chatter_within_tolerance(t: float, count: int, lately: list[str], where: str) -> Finding:
    """The finding for so many events by a time, between which no variable moves by its tolerance any more."""
    element = Counter(lately).most_common(1)[0][0]
    return rules.CHATTERING.finding(
        f"by t = {t:.6g} s there were {count} events, and between the last ones nothing moves by more than its tolerance: "
        f"'{element}' jumped to and fro again and again",
        where=where,
        fix=f"ask for a finer tolerance, or let 'auto' choose the solver, if the condition of '{element}' has a narrow hysteresis; "
        "else give it one, sample it, or replace the jump by a steep slope with limits",
        members=sorted(set(lately)),
    )


def chatter_ever_faster(t: float, count: int, lately: list[str], what: str, where: str = "") -> Finding:
    """The finding for so many events by a time; `lately` names the elements behind the last ones."""
    element = Counter(lately).most_common(1)[0][0]
    return rules.CHATTERING.finding(
        f"by t = {t:.6g} s there were {count} events, and they follow each other ever faster: '{element}' {what} again and again",
        where=where or element,
        fix=f"give the condition of '{element}' a hysteresis, sample it, or replace the jump by a steep slope with limits",
        members=sorted(set(lately)),
    )


CHATTER_EVENTS = 5
CHATTER_SHARE = 1e-6
"""Steps that became too small after so many jumps, within this share of the time, became so because of them."""


def finding_of(
    end: StretchEnd, model: NumericModel, context: ModelContext, settings: SolverSettings, solver: str
) -> Finding | None:
    """Why a stretch did not reach its end; None when it did."""
    t = end.standing.t
    at = f"at t = {t:.6g} s"
    if end.status in (jobs.FINISHED, jobs.EVENT):
        return None
    if end.status == jobs.CANCELLED:
        return rules.CANCELLED.finding(f"the run was cancelled {at}", where=model.name)
    if end.status == jobs.NOT_FINITE:
        if (found := open_loop(model, end.failed, t)) is not None:
            return found
        what, members = without_value(model, context, end.standing, end.failed)
        return rules.NOT_FINITE.finding(
            f"{at} {what}",
            where=model.name,
            fix="look at the law behind it near this point: start elsewhere, keep the motion inside its domain, or smooth it",
            members=members,
        )
    if end.status == jobs.CHATTERING:
        # The last ones: what chatters now may have rested for most of the run.
        lately = [model.events[k].element for _, k in end.events[-LATELY:]]
        if end.detail:
            return chatter_within_tolerance(t, len(end.events), lately, model.name)
        return chatter_ever_faster(t, len(end.events), lately, "jumped to and fro", model.name)
    if end.status == jobs.STIFF:
        return rules.STIFF.finding(
            f"{at} the steps of '{solver}' have shrunk to {end.last_step:.3g} s for stability alone",
            where=model.name,
            fix="choose the solver 'cvode', or leave the choice to 'auto'",
        )
    if end.status == jobs.MANY_STEPS:
        return rules.MANY_STEPS.finding(
            f"{end.effort.steps} steps led only to t = {t:.6g} s, the last one {end.last_step:.3g} s long",
            where=model.name,
            fix=_fix_for_many(solver, settings),
        )
    if end.status == jobs.UNSUITED:
        return rules.UNSUITED.finding(
            f"{at} '{solver}' cannot go on: what decays fast is advanced under constants, ramps and single sines only, "
            "and not where other motions grow",
            where=model.name,
            fix="choose the solver 'cvode', or leave the choice to 'auto'",
        )
    if end.status == jobs.NO_MEMORY:
        return rules.NO_MEMORY.finding(
            f"no memory for {model.size} variables", where=model.name, fix="ask for fewer rows"
        )
    return _stuck(end, model, context, settings, solver)


def _stuck(
    end: StretchEnd, model: NumericModel, context: ModelContext, settings: SolverSettings, solver: str
) -> Finding:
    standing = end.standing
    name = fastest_variable(model, standing, settings)
    at = f"at t = {standing.t:.6g} s"
    if end.status == jobs.TINY_STEP:
        # A jump that comes back at once explains a step that is too small better than any law does.
        if (finding := _chattering(end, model)) is not None:
            return finding
        words, element = variables_without_value(model, context, standing)
        if not words and (element := running_away(model, context, standing)):
            words = f"the law of '{element}' has a pole"
        ahead = f"; just ahead {words}" if words else ""
        return rules.TINY_STEP.finding(
            f"{at} the steps became smaller than time can resolve; {_changing(model, standing, name)}{ahead}",
            where=model.name,
            fix=f"keep the motion inside the domain of the law of '{element}', or smooth it"
            if words
            else f"see whether '{name}' grows without bound; else declare the jump as an event, or loosen the tolerance",
            members=(name, element) if element else (name,),
        )
    if end.status == jobs.SINGULAR:
        return rules.SINGULAR.finding(
            f"{at} the equations do not decide '{undecided_variable(model, end.detail)}'",
            where=model.name,
            fix="look for a loop of ideal elements, or give one of them a small storage or loss",
            members=(undecided_variable(model, end.detail),),
        )
    if end.status == jobs.NO_CONVERGENCE:
        return rules.NO_CONVERGENCE.finding(
            f"{at} the equations of a step were not solved; {_changing(model, standing, name)}",
            where=model.name,
            fix=f"see whether a law near '{name}' is discontinuous, or give a smaller max_step",
            members=(name,),
        )
    return rules.LIBRARY.finding(
        f"{at} '{solver}' ended with the flag {end.detail}", where=model.name, fix="try another solver or tolerance"
    )


def _chattering(end: StretchEnd, model: NumericModel) -> Finding | None:
    """The finding for a formula that jumps to and fro in no time."""
    now = end.standing.t
    recent = [(t, model.events[k].element) for t, k in end.events if now - t <= CHATTER_SHARE * abs(now)]
    if len(recent) < CHATTER_EVENTS:
        return None
    name, count = Counter(element for _, element in recent).most_common(1)[0]
    return rules.CHATTERING.finding(
        f"at t = {now:.6g} s '{name}' jumped to and fro {count} times in {now - recent[0][0]:.2g} s",
        where=model.name,
        fix=f"give the condition of '{name}' a hysteresis, sample it, or replace the jump by a steep slope with limits",
        members=sorted({element for _, element in recent}),
    )


def without_value(
    model: NumericModel, context: ModelContext, last: StatePoint, failed: int | None
) -> tuple[str, tuple[str, ...]]:
    """What is not finite near a point, and the element behind it where that can be found; and the names of both."""
    words, element = variables_without_value(model, context, last)
    name = failed_variable(model, failed)
    if not words:
        element = next((o.element for o in model.observables if o.name == name.strip("'") and o.element), "")
        name += f" of '{element}'" if element else ""
    what = f"{name} is not a finite number" + (f": {words}{_said(model, words)}" if words else "")
    known = () if failed is None else model.variables[failed : failed + 1]
    return what, tuple(dict.fromkeys((*known, *((element,) if element else ()))))


def open_loop(model: NumericModel, failed: int | None, t: float) -> Finding | None:
    """The finding for unknowns that are solved inside and were not found; None where it is something else that failed."""
    # They stand behind y and what is observed.
    if failed is None or not model.size + len(model.observables) <= failed < len(model.variables):
        return None
    name = model.variables[failed]
    element = next((o.element for o in model.observables if o.name == name and o.element), "")
    of = f" of '{element}'" if element else ""
    return rules.OPEN_LOOP.finding(
        f"at t = {t:.6g} s no value of '{name}'{of} was found at which the equations of its loop are met",
        where=model.name,
        fix=f"see whether a law near '{element or name}' jumps, ends or turns back there, and give it a slope everywhere",
        members=tuple(dict.fromkeys((name, *((element,) if element else ())))),
    )


def _said(model: NumericModel, words: str) -> str:
    """What a Python function raised, where a signal has no value."""
    said = getattr(model.data.external, "said", "") if model.data is not None else ""
    return f" (its function raised {said})" if said and words.startswith("the signal") else ""


def failed_variable(model: NumericModel, failed: int | None) -> str:
    """The program variable that was not finite, as it is called in messages."""
    if failed is None or failed >= len(model.variables):
        return "a variable"
    return f"'{model.variables[failed]}'"


def undecided_variable(model: NumericModel, detail: int) -> str:
    """The variable that a singular column belongs to."""
    return model.names[detail - 1] if 0 < detail <= model.size else "a variable"


def fastest_variable(model: NumericModel, standing: StatePoint, settings: SolverSettings) -> str:
    """The variable that changes fastest beside its tolerance."""
    n = model.size
    scale = settings.atol[:n] + settings.rtol * np.abs(standing.y[:n])
    rates = np.abs(standing.yp[:n]) / scale
    return model.names[int(np.argmax(np.nan_to_num(rates, nan=np.inf)))] if n else "nothing"


def _changing(model: NumericModel, standing: StatePoint, name: str) -> str:
    if not model.size:
        return "the model has no state, and only its inputs and modes change"
    k = model.names.index(name)
    return f"'{name}' changes fastest (value {standing.y[k]:.3g}, rate {standing.yp[k]:.3g} per second)"


def _fix_for_many(solver: str, settings: SolverSettings) -> str:
    more = f"choose the solver '{solver}' yourself to wait for it" if settings.most_expected else "raise max_steps"
    advice = f"shorten the run, look for a value that makes the model so fast, loosen the tolerance or {more}"
    return f"{advice}; a stiff model wants the solver 'cvode'" if solver == "runge-kutta" else advice
