"""The axes of plots: from values to places, in units that engineers read, with few ticks at round numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from tellegen.scenes.lettering import unit_latex

Array = NDArray[np.float64]
Kind = Literal["linear", "log", "decibel", "phase"]
"""What ticks stand at: round numbers, decades, steps of decibels, or parts of a turn."""

MOST_TICKS = 6
_ROUND = (1.0, 2.0, 5.0)
_DECIBEL = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 100.0, 200.0)
_PHASE = (45.0, 90.0, 180.0, 360.0, 720.0)
MARGIN = 0.04
"""So much of the span of its values lies free above and below a curve."""
FLAT = 1e-9
"""A span below this part of the values is their rounding: the curve is a constant."""
LARGEST, SMALLEST = 8e307, 1e-290
"""What is larger has no span that a computer can tell, and what is smaller no digits."""
LONG = 4.5
"""Ticks of more digits are counted from a round number, which the title of the axis tells."""
_PREFIXES = {-12: "p", -9: "n", -6: r"\mu ", -3: "m", 3: "k", 6: "M", 9: "G"}
_ANY_PREFIX = {
    "A",
    "V",
    "W",
    "N",
    "Pa",
    "J",
    "F",
    "H",
    "C",
    "Hz",
    "T",
    "Wb",
    "S",
    "ohm",
    "N*m",
    "N/m",
    "Pa*s",
    "VA",
    "var",
}
_SMALL_PREFIX = {"s", "m", "m/s", "rad", "mol", "m/s^2"}
"""Only what is small has a prefix: nobody measures in kiloseconds."""


@final
@dataclass(frozen=True, slots=True)
class Tick:
    """A mark at a value; a small one has no label."""

    value: float
    label: str = ""


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """The values from `low` to `high` along a side. Numbers at ticks are `(value - start)/factor`, in the `unit` (LaTeX)."""

    low: float
    high: float
    kind: Kind = "linear"
    factor: float = 1.0
    unit: str = ""
    start: float = 0.0

    def share(self, values: Array) -> Array:
        """How far values lie along the axis: 0 at its low end, 1 at its high one."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.kind == "log":
                low, high = log10(self.low), log10(self.high)
                return np.asarray((np.log10(values) - low) / (high - low))
            # Halves, since the span of the largest numbers is none.
            return np.asarray((values / 2 - self.low / 2) / (self.high / 2 - self.low / 2))

    def ticks(self, most: int = MOST_TICKS) -> tuple[Tick, ...]:
        """At most so many labelled ticks, and small ones between decades."""
        return tuple(_decades(self, most)) if self.kind == "log" else tuple(self._even(most))

    def _even(self, most: int) -> Iterator[Tick]:
        low, high = (self.low - self.start) / self.factor, (self.high - self.start) / self.factor
        step = _step(high - low, most, self.kind)
        first, last = ceil(low / step - 1e-6), floor(high / step + 1e-6)
        digits = max(0, -floor(log10(step) + 1e-9))
        for k in range(first, last + 1):
            text = f"{k * step:.{digits}f}"
            yield Tick(k * step * self.factor + self.start, text.replace("-", "{-}") if float(text) else "0")

    @property
    def title(self) -> str:
        """The unit as it stands in the title, and from which number ticks count; empty where there is none to tell."""
        if not self.start:
            return self.unit
        digits = max(0, ceil(log10(abs(self.start / self.factor))) + 1) if self.start else 0
        number = f"{self.start / self.factor:.{min(digits, 15)}g}".replace("-", "{-}").replace("e+", "e")
        if "e" in number:
            mantissa, _, exponent = number.partition("e")
            number = rf"{mantissa}\cdot 10^{{{int(exponent.replace('{-}', '-'))}}}"
        return rf"{self.unit}\ \mathrm{{from}}\ {number}".lstrip("\\ ")


def _step(span: float, most: int, kind: Kind) -> float:
    """The smallest round step that makes at most so many ticks."""
    if kind in ("decibel", "phase"):
        for step in _DECIBEL if kind == "decibel" else _PHASE:
            if span / step <= most - 1 + 1e-9:
                return step
    rough = span / max(most - 1, 1)
    power = 10.0 ** floor(log10(rough))
    return next((power * digit for digit in _ROUND if power * digit >= rough * (1 - 1e-9)), 10 * power)


def _decades(axis: Axis, most: int) -> Iterator[Tick]:
    first, last = ceil(log10(axis.low) - 1e-9), floor(log10(axis.high) + 1e-9)
    count = last - first + 1
    if count < 2:  # within a decade, its round numbers
        for power in range(first - 1, last + 1):
            for digit in range(1, 10):
                value = digit * 10.0**power
                if axis.low * (1 - 1e-9) <= value <= axis.high * (1 + 1e-9):
                    yield Tick(
                        value, f"{value:.6g}" if digit in _ROUND and 1e-3 <= value < 1e4 else _power(digit, power)
                    )
        return
    every = ceil(count / most)
    for power in range(first - 1, last + 1):
        if first <= power:
            yield Tick(10.0**power, rf"10^{{{power}}}" if power % every == 0 else "")
        # Between many decades small marks would be a grey band.
        for digit in range(2, 10) if every == 1 else ():
            if axis.low <= digit * 10.0**power <= axis.high:
                yield Tick(digit * 10.0**power)


def _power(digit: int, power: int) -> str:
    return (rf"{digit}\cdot 10^{{{power}}}" if digit > 1 else rf"10^{{{power}}}") if digit in _ROUND else ""


# -- from values to an axis -------------------------------------------------------------------------------------------------------


def fitted_axis(
    values: Sequence[Array], unit: str, kind: Kind = "linear", *, tight: bool = False, given: bool = False
) -> Axis:
    """The axis that shows all values. A `tight` one has no margin; a `given` unit was chosen by a person and has no prefix."""
    low, high = _extent(values, positive=kind == "log")
    if kind == "log":
        return _log_axis(low, high, unit, tight)
    largest = max(abs(low), abs(high))
    least = low
    flat = high - low <= FLAT * largest
    if flat:
        # A constant is shown from zero, so that its size is seen.
        low, high = (min(low, 0.0), max(high, 0.0)) if largest else (-1.0, 1.0)
    if kind == "phase":
        step = _step(max(high - low, _PHASE[0]), MOST_TICKS - 1, kind)
        low, high = floor(low / step + 1e-6) * step, ceil(high / step - 1e-6) * step
        return Axis(low, high if high > low else low + step, kind, unit=unit_text(unit))
    if kind == "decibel" or not tight or flat:
        margin = MARGIN * (high - low)
        low, high = max(low - margin, -1.1 * LARGEST), min(high + margin, 1.1 * LARGEST)
    span = high - low
    counted = log10(largest / span) + 1 > LONG if largest and span else False
    size = span if counted else largest
    factor, shown = (1.0, unit_text(unit)) if kind == "decibel" else engineering(unit, size, given=given)
    start = 0.0
    if counted:
        grain = 10.0 ** ceil(log10(span))
        start = round(floor(least / grain) * grain, max(0, -floor(log10(grain))))
    return Axis(low, high, kind, factor, shown, start)


def _extent(values: Sequence[Array], *, positive: bool) -> tuple[float, float]:
    parts = [part[np.isfinite(part) & (part > 0 if positive else True)] for part in values]
    parts = [part for part in parts if len(part)]
    if not parts:
        return (1.0, 10.0) if positive else (0.0, 0.0)
    low, high = min(float(part.min()) for part in parts), max(float(part.max()) for part in parts)
    if positive:
        return low, high
    return (max(low, -LARGEST), min(high, LARGEST)) if max(abs(low), abs(high)) > SMALLEST else (0.0, 0.0)


def _log_axis(low: float, high: float, unit: str, tight: bool) -> Axis:
    if high / low < 1.01:
        low, high = low / 3, high * 3
    elif not tight:
        room = (high / low) ** MARGIN
        low, high = low / room, high * room
    return Axis(low, high, "log", unit=unit_text(unit))


def engineering(unit: str, largest: float, *, given: bool = False) -> tuple[float, str]:
    """The factor and the LaTeX of the unit in which numbers as large as the largest are read at ease: kPa, ms, or 10^-6 m^3/s."""
    if not largest or not isfinite(largest) or 0.1 <= largest < 1000:
        return 1.0, unit_text(unit)
    power = 3 * floor(log10(largest) / 3 + 1e-9)
    takes = not given and (unit in _ANY_PREFIX or (unit in _SMALL_PREFIX and power < 0))
    if takes and power in _PREFIXES:
        return 10.0**power, unit_latex(unit, _PREFIXES[power])
    if 0.01 <= largest < 10_000:  # four digits are read as easily as a power
        return 1.0, unit_text(unit)
    return 10.0**power, rf"10^{{{power}}}\,{unit_text(unit)}".removesuffix(r"\,")


def unit_text(unit: str) -> str:
    """The LaTeX of a unit; nothing for a number."""
    return "" if unit in ("", "1") else unit_latex(unit)
