"""Values that are varied from run to run: sequences, ranges and distributions, with units or as shares of the model's value."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean
from tellegen.experiments.quantities import Quantity
from tellegen.studies.runs import rules

Array = NDArray[np.float64]
Reading = Callable[[Quantity, str], float]
"""The number that a quantity stands for; the text says what it is asked for."""

MOST_RUNS: Final = 100_000_000
"""Of a study."""
SMALLEST: Final = 2.0**-54
"""Draws are kept so far away from 0 and 1, where a distribution may have no value."""


@final
@dataclass(frozen=True)
class Range:
    """Evenly spaced values, or values in even ratios."""

    first: Quantity
    last: Quantity
    count: int
    log: bool = False

    def values(self, name: str, read: Reading) -> Array:
        """The values in order.

        Raises: SimulationError (S407) for a range without values.
        """
        first, last = (read(value, f"the range of {name}") for value in (self.first, self.last))
        if isinstance(self.count, bool) or self.count != int(self.count) or self.count < 1:
            raise _bad(name, f"has {self.count} values", "give a positive whole number")
        if self.count > MOST_RUNS:
            raise rules.TOO_MANY_RUNS.error(
                f"'{name}' has {self.count:.3g} values", where=name, fix=f"take fewer: {MOST_RUNS:.0e} runs at most"
            )
        if self.count > 1 and first == last:
            raise _bad(
                name, f"goes from {first:g} to {last:g}", "let it end elsewhere than it begins, or give one value"
            )
        if self.log and (first <= 0.0 or last <= 0.0):
            raise _bad(name, f"goes from {first:g} to {last:g} in even ratios", "give two positive ends")
        spaced = np.geomspace if self.log else np.linspace
        return np.asarray(spaced(first, last, int(self.count)), dtype=float)


@final
@dataclass(frozen=True)
class Distribution:
    """A distribution by its word and its numbers."""

    word: str
    arguments: tuple[Quantity, ...]

    def quantiles(self, name: str, shares: Array, read: Reading) -> Array:
        """The values below which these shares of all draws lie.

        Raises: SimulationError (S407) for numbers that make no distribution.
        """
        given = [self._number(k, name, read) for k in range(len(self.arguments))]
        found = getattr(self, f"_{self.word}")(name, shares, *given)
        return np.asarray(found, dtype=float)

    def _number(self, k: int, name: str, read: Reading) -> float:
        value = self.arguments[k]
        # A share as a deviation is one of the mean, not of what the model has.
        own = k == 1 and self.word in ("normal", "lognormal")
        share = share_of(value) if own and isinstance(value, str) else None
        return read(value, f"{self.word} of {name}") if share is None else share

    def _uniform(self, name: str, u: Array, low: float, high: float) -> Array:
        if not low < high:
            raise _bad(
                name,
                f"is uniform between {low:g} and {high:g}",
                "give the smaller end first, and a larger one behind it",
            )
        return low + (high - low) * u

    def _normal(self, name: str, u: Array, mean: float, deviation: float) -> Array:
        from scipy.special import ndtri  # noqa: PLC0415  SciPy is loaded by who draws

        if isinstance(self.arguments[1], str) and "%" in self.arguments[1]:
            deviation = deviation * abs(mean)
        if not deviation > 0.0:
            raise _bad(name, f"has a deviation of {deviation:g}", "give a positive one")
        return np.asarray(mean + deviation * ndtri(u))

    def _lognormal(self, name: str, u: Array, median: float, deviation: float) -> Array:
        from scipy.special import ndtri  # noqa: PLC0415

        if not deviation > 0.0:
            raise _bad(
                name, f"has a logarithm with a deviation of {deviation:g}", "give a positive one, such as 0.1 or '10 %'"
            )
        if not median > 0.0:
            raise _bad(name, f"has a logarithm and the median {median:g}", "give a positive median, or use normal")
        return np.asarray(median * np.exp(deviation * ndtri(u)))

    def _triangular(self, name: str, u: Array, low: float, peak: float, high: float) -> Array:
        if not (low <= peak <= high and low < high):
            raise _bad(name, f"is triangular over {low:g}, {peak:g}, {high:g}", "give the three in order")
        share = (peak - low) / (high - low)
        rising, falling = (
            low + np.sqrt(u * (high - low) * (peak - low)),
            high - np.sqrt((1 - u) * (high - low) * (high - peak)),
        )
        return np.where(u < share, rising, falling)

    def __str__(self) -> str:
        return f"{self.word}({', '.join(map(str, self.arguments))})"


def between(first: Quantity, last: Quantity, count: int, log: bool = False) -> Range:
    """`count` values from the first to the last: evenly spaced, or with `log` in even ratios.

    >>> import tellegen as tg
    >>> tg.between(1, 100, 3, log=True)
    Range(first=1, last=100, count=3, log=True)
    """
    return Range(first, last, count, log)


def uniform(low: Quantity, high: Quantity) -> Distribution:
    """Draws that lie anywhere between two values. `'80 %'` is a share of the value that the model has."""
    return Distribution("uniform", (low, high))


def normal(mean: Quantity, deviation: Quantity) -> Distribution:
    """Draws from a normal distribution; a deviation of `'5 %'` is a share of the mean."""
    return Distribution("normal", (mean, deviation))


def lognormal(median: Quantity, deviation: Quantity) -> Distribution:
    """Draws whose logarithm is normal, with this deviation of the natural logarithm: `0.1` and `'10 %'` mean the same."""
    return Distribution("lognormal", (median, deviation))


def triangular(low: Quantity, peak: Quantity, high: Quantity) -> Distribution:
    """Draws between two values, most of them near the peak."""
    return Distribution("triangular", (low, peak, high))


DISTRIBUTIONS: Final = {made.__name__: made for made in (uniform, normal, lognormal, triangular)}

Variation = Range | Distribution | Sequence[Quantity] | Any
"""What a name is varied over; also any frozen distribution of scipy.stats."""


def is_distribution(variation: Variation) -> bool:
    """Whether values are drawn; distributions of SciPy are told by what they can do, without loading SciPy."""
    return isinstance(variation, Distribution) or hasattr(variation, "ppf")


def sequence_values(name: str, variation: Variation, read: Reading) -> Array:
    """The values of what is no distribution.

    Raises: SimulationError (S407) where there are none, (S303) for one that is no number.
    """
    if isinstance(variation, Range):
        return variation.values(name, read)
    given = (
        [variation]
        if isinstance(variation, str | float | int) or not isinstance(variation, Iterable)
        else list(variation)
    )
    if not given:
        raise _bad(name, "has no values", "give at least one")
    return np.array([read(value, f"a value of {name}") for value in given])


def drawn_values(name: str, variation: Variation, shares: Array, read: Reading) -> Array:
    """The values of a distribution at shares between 0 and 1.

    Raises: SimulationError (S407) where these are no finite numbers.
    """
    frozen: Any = variation
    inside = np.clip(shares, SMALLEST, 1.0 - 2.0**-53)
    if isinstance(variation, Distribution):
        found = variation.quantiles(name, inside, read)
    else:
        found = np.array(frozen.ppf(inside), dtype=np.float64)
    if not np.isfinite(found).all():
        raise _bad(name, "has draws that are no finite numbers", "check the numbers of its distribution")
    return found


_RANGE = re.compile(r"(?P<first>[^:]+):(?P<last>[^:]+):(?P<count>[^:]+?)(?P<log>:log)?$")
_CALL = re.compile(r"(?P<word>[A-Za-z_]+)\((?P<inside>.*)\)$")


def read_variation(name: str, text: str) -> Variation:
    """What a text of the command line says: `1e4:1e6:50:log`, `normal(0.5 ohm, 5 %)`, or values with commas between them.

    Raises: SimulationError (S407) for what is neither.
    """
    text = text.strip()
    if found := _CALL.match(text):
        word = found["word"]
        if word not in DISTRIBUTIONS:
            fix = did_you_mean(word, DISTRIBUTIONS) or f"the distributions are {', '.join(DISTRIBUTIONS)}"
            raise _bad(name, f"follows '{word}', which is no distribution", fix)
        arguments = [part.strip() for part in found["inside"].split(",")]
        try:
            made: Distribution = DISTRIBUTIONS[word](*arguments)
        except TypeError:
            raise _bad(
                name, f"follows '{text}'", f"give {'three numbers' if word == 'triangular' else 'two numbers'}"
            ) from None
        return made
    if found := _RANGE.match(text):
        try:
            count = int(found["count"])
        except ValueError:
            raise _bad(name, f"has '{found['count']}' values", "give a whole number, as in 1e4:1e6:50") from None
        return Range(found["first"].strip(), found["last"].strip(), count, bool(found["log"]))
    if ":" in text:
        raise _bad(name, f"goes over '{text}'", "write first:last:count, or first:last:count:log")
    return [part.strip() for part in text.split(",") if part.strip()]


def _share(text: str) -> float:
    """`5 %` as a number."""
    try:
        return float(text.replace("%", "")) / 100.0
    except ValueError:
        return math.nan


def share_of(text: str) -> float | None:
    """The number that a text such as `80 %` is a share by; None for other texts."""
    found = _share(text) if text.strip().endswith("%") else math.nan
    return None if math.isnan(found) else found


def _bad(name: str, what: str, fix: str) -> TellegenError:
    return rules.BAD_VARIATION.error(f"'{name}' {what}", where=name, fix=fix)
