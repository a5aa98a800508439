"""The course of variables that a reduction removed, from the run of the reduced model."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tellegen.expressions.entries import used_names
from tellegen.reduction import Reduction
from tellegen.results.run import Run

Array = NDArray[np.float64]


def recovered_courses(reduction: Reduction, run: Run, names: Iterable[str]) -> dict[str, Array]:
    """Variables of `reduction.recovered` along a run of the reduced model.

    Rates of inputs are differences over the rows. A variable whose formula holds something that the run has not is left out.
    """
    wanted = {name: reduction.recovered[name] for name in names if name in reduction.recovered}
    where = {**reduction.equations.where, **reduction.where}
    needed = used_names(wanted.values(), where)
    defined = {name: e for name, e in where.items() if name in needed}
    free = {n for e in (*wanted.values(), *defined.values()) for n in e.free_symbols} - defined.keys()
    moving = {name: run.values(name) for name in free if name not in run.parameters and name in run}
    for rate, name in reduction.input_rates.items():
        if rate in free:
            moving[rate] = np.gradient(run.values(name), run.t)
    found: dict[str, list[float]] = {name: [] for name in wanted}
    for row in range(len(run.t)):
        values = {**run.parameters, **{name: float(course[row]) for name, course in moving.items()}}
        for name, e in defined.items():
            if e.free_symbols <= values.keys():
                values[name] = e.evaluate(values)
        for name, e in wanted.items():
            found[name].append(e.evaluate(values) if e.free_symbols <= values.keys() else np.nan)
    return {name: course for name, rows in found.items() if np.isfinite(course := np.array(rows)).all()}
