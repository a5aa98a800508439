"""What a study keeps of each run: last values, rows, extremes, means and integrals of any variable that a run knows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.names import did_you_mean
from tellegen.experiments.quantities import SECOND, value_of
from tellegen.results.channels import Channels, trajectory_at
from tellegen.results.run import Run
from tellegen.results.units import integral_unit
from tellegen.simulation import batches
from tellegen.studies.runs import rules

Array = NDArray[np.float64]

WORDS: Final = {
    "max": batches.MAX,
    "min": batches.MIN,
    "time_of_max": batches.TIME_OF_MAX,
    "time_of_min": batches.TIME_OF_MIN,
    "mean": batches.INTEGRAL,
    "integral": batches.INTEGRAL,
    "rms": batches.SQUARES,
    "at": batches.AT,
}
LAST: Final = "last"
ROWS: Final = "rows"

_CALL = re.compile(r"(?P<word>[A-Za-z_]+)\((?P<inside>.*)\)$")

ZOOMS: Final = 6
"""How often an extreme between rows is looked at closer."""


@final
@dataclass(frozen=True)
class Kept:
    """One number of a run, or its rows: what is done with which variable. `text` is how it was asked for."""

    text: str
    word: str
    name: str
    unit: str
    at: float = 0.0

    @property
    def is_rows(self) -> bool:
        """Whether it is kept row by row."""
        return self.word == ROWS

    @property
    def kind(self) -> int:
        """What the batch is asked for."""
        return WORDS.get(self.word, batches.LAST)

    def finished(self, values: Array, durations: Array) -> Array:
        """What batches gave, as it is told: means follow from integrals."""
        if self.word == "mean":
            return np.asarray(values / durations)
        return np.asarray(np.sqrt(values / durations)) if self.word == "rms" else values


def names_in(given: str | Sequence[str]) -> tuple[str, ...]:
    """One text, or several.

    Raises: SimulationError (S408) for what is no text.
    """
    texts = (given,) if isinstance(given, str) else tuple(given)
    for text in texts:
        if not isinstance(text, str):
            raise rules.NOT_KEPT.error(f"{text!r} is no name", fix="give texts, such as 'max(I_a)'")
    return texts


def read_kept(texts: Sequence[str], run: Run, *, with_rows: bool, until: float) -> tuple[Kept, ...]:
    """What the texts ask for; `run` is one of the model, before its first row perhaps.

    Raises: SimulationError (S408) for what no run tells, with the nearest name; (S303) for a time that is none.
    """
    return tuple(_read(text.strip(), run, with_rows=with_rows, until=until) for text in dict.fromkeys(texts))


def default_kept(run: Run) -> tuple[str, ...]:
    """The outputs of the experiment, else the states."""
    states = tuple(dict.fromkeys((*run.state_names, *run.displacement_names)))
    return run.shown or states or run.output_names


def _read(text: str, run: Run, *, with_rows: bool, until: float) -> Kept:
    found = _CALL.match(text)
    if found is None or text in run:
        return _of_name(text, text, ROWS if with_rows else LAST, run)
    word, inside = found["word"], found["inside"].strip()
    if word not in WORDS:
        fix = did_you_mean(word, WORDS) or f"there are {', '.join(WORDS)}"
        raise rules.NOT_KEPT.error(f"nothing is known as '{word}' of a variable", where=text, fix=fix)
    if word != "at":
        return _of_name(text, inside, word, run)
    name, comma, time = (part.strip() for part in inside.rpartition(","))
    if not comma:
        raise rules.NOT_KEPT.error(f"'{text}' names no time", where=text, fix=f"write at({inside}, 0.1 s)")
    at = value_of(time, SECOND, f"the time of {text}", run.parameters)
    if not 0.0 <= at <= until:
        what = f"'{text}' asks for {at:g} s, and runs go from 0 to {until:g} s"
        raise rules.NOT_KEPT.error(what, where=text, fix="give a time inside the run")
    return _of_name(text, name, "at", run, at)


def _of_name(text: str, name: str, word: str, run: Run, at: float = 0.0) -> Kept:
    kind, _, element = name.partition(".")
    if name not in run and kind == "energy" and f"power.{element}" in run and word in (LAST, ROWS):
        # what an element takes in all, beside rows too: only storages have a content that runs tell at any time
        return Kept(text, "integral", f"power.{element}", "J")
    if name not in run:
        raise rules.NOT_KEPT.error(f"no run has '{name}'", where=text, fix=run.channels.unknown(name).finding.fix)
    unit = run.unit(name)
    if word.startswith("time_of"):
        unit = "s"
    elif word == "integral":
        unit = integral_unit(unit)
    return Kept(text, word, name, unit, at)


def channel_of(name: str, channels: Channels) -> int | None:
    """Where a variable stands among time, variables and observables of the model; None where it follows from several."""
    model = channels.trajectory.model
    if name == "t":
        return 0
    if name in model.index:
        return 1 + model.index[name]
    found = channels.observables_of(name)
    return 1 + model.size + found[0] if len(found) == 1 else None


# -- Of whole runs ---------------------------------------------------------------------------------------------------------------


def values_of_run(kept: Kept, run: Run) -> float:
    """One number of a run that is whole."""
    if kept.word == LAST:
        return float(run.channels.last([kept.name])[0])
    if kept.word == "at":
        return float(_at(run, kept.name, np.array([kept.at]))[0])
    if kept.kind in (batches.MAX, batches.TIME_OF_MAX, batches.MIN, batches.TIME_OF_MIN):
        sign = -1.0 if kept.kind in (batches.MIN, batches.TIME_OF_MIN) else 1.0
        time, value = _highest(run, kept.name, sign)
        return time if kept.word.startswith("time_of") else sign * value
    whole = _integral(run, kept.name, squared=kept.word == "rms")
    return float(kept.finished(np.array([whole]), np.array([run.t[-1] - run.t[0]]))[0])


def _at(run: Run, name: str, times: Array) -> Array:
    part = Channels(_with_rows_at(run, times))
    part.observer.contexts = run.channels.observer.contexts
    return part.table([name])[:, 0]


def _with_rows_at(run: Run, times: Array) -> Run:
    return replace(run, trajectory=trajectory_at(run.trajectory, times))


def _highest(run: Run, name: str, sign: float) -> tuple[float, float]:
    """Where a variable is highest, and how high: rows first, then closer and closer around the highest of them."""
    t, values = run.t, sign * run.values(name)
    if not np.isfinite(values).any():
        return np.nan, np.nan
    top = int(np.nanargmax(values))
    best, low, high = (float(t[top]), float(values[top])), float(t[max(top - 1, 0)]), float(t[min(top + 1, len(t) - 1)])
    for _ in range(ZOOMS):
        if not high > low:
            break
        times = np.linspace(low, high, 9)
        found = sign * _at(run, name, times)
        if not np.isfinite(found).any():
            break
        k = int(np.nanargmax(found))
        if found[k] > best[1]:
            best = float(times[k]), float(found[k])
        low, high = float(times[max(k - 1, 0)]), float(times[min(k + 1, 8)])
    return best


_POINTS = np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)])
_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


def _integral(run: Run, name: str, *, squared: bool) -> float:
    """Over the whole run, by Gauss's rule between the rows."""
    t = run.t
    gaps = np.diff(t)
    rows = np.flatnonzero(gaps > 0.0)
    times = (t[rows, None] + gaps[rows, None] * _POINTS).ravel()
    values = _at(run, name, times).reshape(len(rows), 3)
    return float(gaps[rows] @ ((values**2 if squared else values) @ _WEIGHTS))
