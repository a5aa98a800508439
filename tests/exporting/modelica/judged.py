"""Modelica text as rumoca reads, compiles and integrates it, beside our own runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import rumoca

import tellegen as tg
from tellegen.exporting.modelica.network import LETTER
from tellegen.exporting.modelica.words import modelica_name
from tellegen.graph import lower
from tellegen.graph.power_graph import SourceLaw

ROWS = 200
SHARE = 0.9871
"""Of the experiment: rows at even shares of the whole would meet jumps, and either side may be shown."""

LEAST = 1e-3

Array = npt.NDArray[np.float64]


def written(model: Any, folder: Path, **options: Any) -> Path:
    """The file, in a folder of its own: rumoca reads its neighbours."""
    (path,) = tg.export_model(model, "modelica", folder / "package", overwrite=True, **options)
    return path


def simulated(path: Path, until: float, rtol: float = 1e-10) -> tuple[Array, Mapping[str, Array]]:
    """What rumoca makes of it: times at even shares, and the variables by their names in the file."""
    model = rumoca.Session().load(str(path), model=f"{modelica_name(path.stem)}.System")
    step = until / ROWS
    config = rumoca.SimConfig(rtol=rtol, atol=1e-2 * rtol, dt=step, max_wall_seconds=300)
    result = model.simulate(t=until, config=config)
    t = np.asarray(result.time)
    even = np.abs(t / step - np.round(t / step)) < 1e-6
    kept = even & np.concatenate([[True], np.diff(t) > 1e-9 * until])
    return t[kept], {name: np.asarray(result[name])[kept] for name in result.names}


def compared(model: Any, folder: Path, until: float, rtol: float = 1e-10, **options: Any) -> dict[str, float]:
    """How far each variable is off our own run, of the largest value among those of its unit."""
    t, found = simulated(written(model, folder, **options), SHARE * until, rtol)
    assert len(t) == ROWS + 1
    run = tg.simulate(model, rtol=1e-10, times=t, progress=False)
    known = shown_variables(model)
    values: dict[str, tuple[Array, Array]] = {}
    for name, ours in found.items():
        mine, sign = known.get(name, (name.strip("'"), 1.0))
        if mine in run:
            values[mine] = (sign * ours, run.values(mine))
    largest: dict[str, float] = {}
    for name, (_, own) in values.items():
        largest[run.unit(name)] = max(largest.get(run.unit(name), LEAST), float(np.max(np.abs(own))))
    return {name: float(np.max(np.abs(a - b))) / largest[run.unit(name)] for name, (a, b) in values.items()}


def shown_variables(model: Any) -> dict[str, tuple[str, float]]:
    """Variables of components, by their names there: ours, and the sign that it has."""
    opened = tg.load(model) if isinstance(model, str) else tg.read(model) if isinstance(model, Path) else model
    found: dict[str, tuple[str, float]] = {}
    for port in lower(opened).ports:
        for side, letter in LETTER.items():
            turned = isinstance(port.law, SourceLaw) and port.law.side != side
            found[f"{modelica_name(port.element)}.{letter}"] = (port.variable(side), -1.0 if turned else 1.0)
    return found
