"""Which element is behind a value that is not finite: what can be observed there says where it begins."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.names import listing
from tellegen.simulation.stretch import Standing

Array = NDArray[np.float64]

STEPS = (0.0, *(10.0**k for k in range(-15, -2)))
"""How far ahead of the last good point to look, beside the time that has passed: the point that failed was not kept."""

SHARES = ((1e-3, 0.3), (1e-5, 1e2), (1e-7, 1e2), (1e-9, 1e2))
LITTLE = 0.1
"""What runs away grows so many times as fast at least as the fastest variable, which changes by a share of itself, and its cause by
little beside it. A pole that is closer than a share of that variable is seen with a smaller one."""


def culprits(model: NumericModel, context: Context, last: Standing) -> tuple[str, str]:
    """What has no value near a point, in words, and the element or signal itself; both empty where nothing can be said."""
    if not model.observables or not np.isfinite(last.yp).all():
        return "", ""
    failed = context.struct.failed
    try:
        for step in STEPS:
            ahead = step * max(1.0, abs(last.t))
            observed = model.observe_unchecked(last.t + ahead, last.y + ahead * last.yp, last.yp, context)
            if not np.isfinite(observed).all():
                return _first(model, np.isfinite(observed))
    finally:
        context.struct.failed = failed
    return "", ""


def running_away(model: NumericModel, context: Context, last: Standing) -> str:
    """The resistive element of which one power variable grows without bound while the other does not: its law has a pole ahead.

    Empty where there is none: where both grow, it is the motion that runs away.
    """
    moving = (last.y != 0.0) & (last.yp != 0.0) & np.isfinite(last.yp)
    if not model.observables or not moving.any():
        return ""
    pace = float(np.min(np.abs(last.y[moving] / last.yp[moving])))
    return next(
        (found for share, least in SHARES if (found := _with_a_pole(model, context, last, pace, share, least))), ""
    )


def _with_a_pole(model: NumericModel, context: Context, last: Standing, pace: float, share: float, least: float) -> str:
    failed, steps = context.struct.failed, (0.0, share * pace)
    here, ahead = (model.observe_unchecked(last.t + by, last.y + by * last.yp, last.yp, context) for by in steps)
    context.struct.failed = failed
    with np.errstate(all="ignore"):
        growth = np.log(np.abs(ahead / here)) / share
    best, fastest = "", least
    for element, (across, through) in _resistive(model).items():
        one, other = sorted((growth[across], growth[through]), reverse=True)
        if one > fastest and other < LITTLE * one:
            best, fastest = element, float(one)
    return best


def _resistive(model: NumericModel) -> dict[str, tuple[int, int]]:
    """The places of the power variables of elements with one port that are neither storages nor sources."""
    places: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for k, observable in enumerate(model.observables):
        places[observable.element][observable.kind].append(k)
    return {
        element: (of["across"][0], of["through"][0])
        for element, of in places.items()
        if element and not {"energy", "output"} & of.keys() and len(of["across"]) == len(of["through"]) == 1
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
    sides: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for observable, good in zip(model.observables, finite, strict=True):
        sides[observable.element][observable.kind].append(bool(good))
    return [
        element
        for element, of in sides.items()
        if element and not {"energy", "output"} & of.keys() and any(map(bool.__ne__, of["across"], of["through"]))
    ]
