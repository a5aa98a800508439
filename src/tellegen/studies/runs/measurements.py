"""Measured data: records of a machine over time, from files or tables, with what drives the model and what it is compared with."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, final, get_args

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import UnitError, convert, parse_unit
from tellegen.experiments.input_signals import InputSignal, smooth_table, table
from tellegen.experiments.quantities import Quantity
from tellegen.model.signals import Signal
from tellegen.studies.runs import rules
from tellegen.studies.runs.table import given_table

Array = NDArray[np.float64]
Hold = Literal["linear", "previous", "smooth"]

TIME: Final = "t"


@final
@dataclass(frozen=True)
class MeasuredRecord:
    """One experiment on the machine: its data, and how it began and was driven where that is no column."""

    source: Any
    initial: Mapping[str, Quantity] = field(default_factory=dict)
    inputs: Mapping[str, InputSignal] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    """Initial values that are free in this record alone."""
    hold: Hold = "linear"

    @property
    def name(self) -> str:
        """The name of the file, where there is one."""
        return Path(self.source).name if isinstance(self.source, str | Path) else ""


def record(
    source: Any,
    *,
    initial: Mapping[str, Quantity] | None = None,
    inputs: Mapping[str, InputSignal] | None = None,
    free: Sequence[str] = (),
    hold: Hold = "linear",
) -> MeasuredRecord:
    """Measured data for `fit`: a CSV or Parquet file, a data frame, or a mapping of names to columns.

    The first column is the time `t` in s; heads may name units, as `I_a [mA]`. An empty cell is no measurement. Columns named as
    inputs drive the model, in straight lines, with `hold="previous"` in steps, or with `hold="smooth"` in a curve without bends, at
    which a solver need not stop; others are compared with it. `initial` and
    `inputs` are those of this record, and initial values named in `free` are fitted for it alone.
    """
    return MeasuredRecord(source, dict(initial or {}), dict(inputs or {}), tuple(free), hold)


def records_of(data: Any) -> list[MeasuredRecord]:
    """One record, or a list of such, as somebody gave them."""
    given = list(data) if isinstance(data, list | tuple) else [data]
    return [one if isinstance(one, MeasuredRecord) else record(one) for one in given]


class RecordNumbers(NamedTuple):
    """The numbers of a record in SI units: times, and columns that are compared or that drive. An empty cell is no number."""

    t: Array
    compared: dict[str, Array]
    driving: dict[str, Signal]


def read_record(
    given: MeasuredRecord, inputs: Sequence[str], known: Sequence[str], units: Mapping[str, str]
) -> RecordNumbers:
    """The numbers of a record. `known` are the names that can be compared, with their SI `units`.

    Raises: SimulationError for a head that is nothing in the model (S420), or for what is no record (S425).
    """
    if given.hold not in get_args(Hold):
        raise _bad(given, f"inputs are held '{given.hold}'", "choose linear, previous or smooth")
    source = given.source
    if isinstance(source, Mapping) and not hasattr(source, "columns") and not hasattr(source, "data_vars"):
        names, cells = tuple(map(str, source)), [np.ravel(column).tolist() for column in source.values()]
        heads = [""] * len(names)
        if not names or len({len(column) for column in cells}) != 1:
            raise _bad(given, "the columns have different lengths", "give a value of each for every time")
    else:
        names, cells, heads = given_table(source)
    if names[0] != TIME:
        raise _bad(given, f"the first column is '{names[0]}'", "let the first column be the time, with the head 't'")
    columns = {
        name: _numbers(given, name, column, unit, "s" if name == TIME else units.get(name, ""))
        for name, column, unit in zip(names, cells, heads, strict=True)
    }
    t = columns.pop(TIME)
    _check_times(given, t)
    for name in columns:
        if name not in inputs and name not in known:
            fix = did_you_mean(name, [*known, *inputs]) or f"some that are: {listing([*inputs, *known], 12)}"
            raise rules.NO_SUCH_HEAD.error(f"the column '{name}' is nothing in the model", where=given.name, fix=fix)
    driving = {name: _driven(given, name, t, columns[name]) for name in columns if name in inputs}
    compared = {name: values for name, values in columns.items() if name not in inputs}
    if not compared:
        raise _bad(given, "no column is compared with the model", "measure something that the model tells")
    for name, values in compared.items():
        if not np.isfinite(values).any():
            raise _bad(given, f"the column '{name}' is empty", "leave it out")
    return RecordNumbers(t, compared, driving)


def _check_times(given: MeasuredRecord, t: Array) -> None:
    if not np.isfinite(t).all():
        raise _bad(given, "a time is missing", "give each row its time")
    if len(t) < 2:
        raise _bad(given, "there are fewer than two times", "measure a course")
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        k = int(back[0])
        raise _bad(given, f"row {k + 2} is at {t[k + 1]:g} s, the row before at {t[k]:g} s", "sort the rows by time")
    if t[0] < 0.0:
        raise _bad(given, f"the first time is {t[0]:g} s", "count time from the start of the run, at zero")


def _driven(given: MeasuredRecord, name: str, t: Array, values: Array) -> Signal:
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
        raise _bad(given, f"the input '{name}' is empty in row {row}", "give what drives the model at every time")
    if given.hold == "linear":
        return table(t.tolist(), values.tolist())
    if given.hold == "smooth":
        return smooth_table(t.tolist(), values.tolist())
    steps = np.repeat(values, 2)[:-1]
    return table(np.repeat(t, 2)[1:].tolist(), steps.tolist())


def smoothness(driven: Signal) -> float:
    """How far a smooth curve through every second point misses the others, as a share of the swing."""
    from scipy.interpolate import PchipInterpolator  # noqa: PLC0415  SciPy is loaded by who fits

    numbers = np.array([one.evaluate({}) for one in driven.arguments])
    t, values = numbers[::2], numbers[1::2]
    if len(t) < 5:
        return 1.0
    inside = slice(1, len(t) - 1 - (len(t) % 2 == 0), 2)
    missed = PchipInterpolator(t[::2], values[::2])(t[inside]) - values[inside]
    return float(np.max(np.abs(missed)) / (np.ptp(values) or 1.0))


def _numbers(given: MeasuredRecord, name: str, cells: Sequence[Any], unit: str, wanted: str) -> Array:
    found = np.empty(len(cells))
    for k, cell in enumerate(cells):
        try:
            found[k] = math.nan if cell is None or cell == "" else float(cell)
        except (TypeError, ValueError):
            raise _bad(
                given, f"row {k + 1} of '{name}' is '{cell}'", "give a number, or leave the cell empty"
            ) from None
        written = isinstance(cell, str) and cell != ""
        if math.isinf(found[k]) or (written and math.isnan(found[k])):
            raise _bad(given, f"row {k + 1} of '{name}' is '{cell}'", "leave cells without a measurement empty")
    if not unit:
        return found
    try:
        asked = parse_unit(unit)
    except (UnitError, TellegenError) as reason:
        what = reason.what if isinstance(reason, TellegenError) else reason
        raise _bad(given, f"the unit of '{name}' cannot be read: {what}", "write it as in I_a [mA]") from None
    if wanted and wanted != "1" and asked.dimension != parse_unit(wanted).dimension:
        raise _bad(given, f"'{name}' is in {unit}, and the model has it in {wanted}", f"give it in a unit of {wanted}")
    base = convert(1.0, unit, wanted) if wanted and wanted != "1" else float(asked.factor)
    shift = convert(0.0, unit, wanted) if wanted and wanted != "1" else float(asked.offset)
    return np.asarray(shift + (base - shift if wanted and wanted != "1" else base) * found)


def _bad(given: MeasuredRecord, what: str, fix: str) -> TellegenError:
    return rules.BAD_RECORD.error(what, where=given.name, fix=fix)
