"""From the status of a solver in C to a finding that names the time, the variable and what to do."""

from collections import Counter

import numpy as np

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import Finding
from tellegen.simulation import hybrid_rules, jobs, rules
from tellegen.simulation.chatter import LATELY, ever_faster, within_tolerance
from tellegen.simulation.culprits import culprits, running_away
from tellegen.simulation.stretch import Settings, Standing, StretchEnd

CHATTER_EVENTS = 5
CHATTER_SHARE = 1e-6
"""Steps that became too small after so many jumps, within this share of the time, became so because of them."""


def finding_of(
    end: StretchEnd, model: NumericModel, context: Context, settings: Settings, solver: str
) -> Finding | None:
    """Why a stretch did not reach its end; None when it did."""
    t = end.standing.t
    at = f"at t = {t:.6g} s"
    if end.status in (jobs.FINISHED, jobs.EVENT):
        return None
    if end.status == jobs.CANCELLED:
        return rules.CANCELLED.finding(f"the run was cancelled {at}", where=model.name)
    if end.status == jobs.NOT_FINITE:
        what, members = without_value(model, context, end.standing, end.failed)
        return rules.NOT_FINITE.finding(
            f"{at} {what}",
            where=model.name,
            fix="look at the law behind it near this point: start elsewhere, keep the motion inside its domain, or smooth it",
            members=members,
        )
    if end.status == jobs.CHATTERING:
        lately = [model.events[k].element for _, k in end.events[-LATELY:]]
        if end.detail:
            return within_tolerance(t, len(end.events), lately, model.name)
        return ever_faster(t, len(end.events), lately, "jumped to and fro", model.name)
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
            fix=_fix_for_many(solver),
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


def _stuck(end: StretchEnd, model: NumericModel, context: Context, settings: Settings, solver: str) -> Finding:
    standing = end.standing
    name = fastest(model, standing, settings)
    at = f"at t = {standing.t:.6g} s"
    if end.status == jobs.TINY_STEP:
        if (finding := _chattering(end, model)) is not None:
            return finding
        words, element = culprits(model, context, standing)
        if not words and (element := running_away(model, context, standing)):
            words = f"the law of '{element}' has a pole"
        ahead = f"; just ahead {words}" if words else ""
        return rules.TINY_STEP.finding(
            f"{at} the steps became smaller than time can resolve; '{name}' changes fastest "
            f"({_change(model, standing, name)}){ahead}",
            where=model.name,
            fix=f"keep the motion inside the domain of the law of '{element}', or smooth it"
            if words
            else f"see whether '{name}' grows without bound; else declare the jump as an event, or loosen the tolerance",
            members=(name, element) if element else (name,),
        )
    if end.status == jobs.SINGULAR:
        return rules.SINGULAR.finding(
            f"{at} the equations do not decide '{decided(model, end.detail)}'",
            where=model.name,
            fix="look for a loop of ideal elements, or give one of them a small storage or loss",
            members=(decided(model, end.detail),),
        )
    if end.status == jobs.NO_CONVERGENCE:
        return rules.NO_CONVERGENCE.finding(
            f"{at} the equations of a step were not solved; '{name}' changes fastest ({_change(model, standing, name)})",
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
    return hybrid_rules.CHATTERING.finding(
        f"at t = {now:.6g} s '{name}' jumped to and fro {count} times in {now - recent[0][0]:.2g} s",
        where=model.name,
        fix=f"give the condition of '{name}' a hysteresis, sample it, or replace the jump by a steep slope with limits",
        members=sorted({element for _, element in recent}),
    )


def without_value(
    model: NumericModel, context: Context, last: Standing, failed: int | None
) -> tuple[str, tuple[str, ...]]:
    """What is not finite near a point, and the element behind it where that can be found; and the names of both."""
    words, element = culprits(model, context, last)
    name = variable_name(model, failed)
    if not words:
        element = next((o.element for o in model.observables if o.name == name.strip("'") and o.element), "")
        name += f" of '{element}'" if element else ""
    what = f"{name} is not a finite number" + (f": {words}{_said(model, words)}" if words else "")
    return what, tuple(dict.fromkeys((*_members(model, failed), *((element,) if element else ()))))


def _said(model: NumericModel, words: str) -> str:
    """What a Python function raised, where a signal has no value."""
    said = getattr(model.data.external, "said", "") if model.data is not None else ""
    return f" (its function raised {said})" if said and words.startswith("the signal") else ""


def variable_name(model: NumericModel, failed: int | None) -> str:
    """The program variable that was not finite, as it is called in messages."""
    if failed is None or failed >= len(model.variables):
        return "a variable"
    return f"'{model.variables[failed]}'"


def decided(model: NumericModel, detail: int) -> str:
    """The variable that a singular column belongs to."""
    return model.names[detail - 1] if 0 < detail <= model.size else "a variable"


def fastest(model: NumericModel, standing: Standing, settings: Settings) -> str:
    """The variable that changes fastest beside its tolerance."""
    n = model.size
    scale = settings.atol[:n] + settings.rtol * np.abs(standing.y[:n])
    rates = np.abs(standing.yp[:n]) / scale
    return model.names[int(np.argmax(np.nan_to_num(rates, nan=np.inf)))] if n else "nothing"


def _change(model: NumericModel, standing: Standing, name: str) -> str:
    k = model.names.index(name)
    return f"value {standing.y[k]:.3g}, rate {standing.yp[k]:.3g} per second"


def _members(model: NumericModel, failed: int | None) -> tuple[str, ...]:
    return () if failed is None or failed >= len(model.variables) else (model.variables[failed],)


def _fix_for_many(solver: str) -> str:
    advice = "shorten the run, loosen the tolerance or raise max_steps"
    return f"{advice}; a stiff model wants the solver 'cvode'" if solver == "runge-kutta" else advice
