"""The section of a report about smaller models: those that its reader asked for, else those that the experiment suggests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tellegen.description import Model
from tellegen.experiments.simulating import simulate
from tellegen.reduction import Limit, Reduction, reduce_model
from tellegen.reporting.formulas import page_lines
from tellegen.reporting.pages import Block, Folded, Formulas, Listing, Picture, Table, Words
from tellegen.reporting.plots import plot_svg
from tellegen.reporting.subject import Subject
from tellegen.results import Run
from tellegen.studies.activities import activity
from tellegen.studies.suggesting import suggest_limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SUGGESTED = 40
QUICK_S = 0.5
"""Up to so many elements, and runs of so many seconds, limits are tried out."""
RTOL = 1e-9
"""Runs that are compared are far more accurate than what they should tell apart."""
ROWS = 1000
LOWEST = 1e-5
"""The plot of differences ends so far below the largest one: what is smaller is the solver's."""
MOST_COMPARED = 6
"""Variables in the plot of differences: positions where there are any, else states."""

Smaller = dict[str, Reduction]


def reductions(subject: Subject) -> Iterator[Block]:
    """The models that the limits of the report lead to, one after another; without limits, what could be left out."""
    assert subject.model is not None
    if subject.limits:
        yield from _chain(subject, subject.model)
    elif subject.model.experiment.until is not None:
        yield from _suggested(subject)


def _suggested(subject: Subject) -> Iterator[Block]:
    """Which elements do little in the experiment, and where it is cheap to try, what limits on them would cost."""
    assert subject.model is not None
    if not subject.has_run or subject.run.status != "finished":
        ended = "was cancelled" if subject.has_run and subject.run.status == "cancelled" else "fails"
        yield Words(f"No limits were tried, since the experiment {ended}.")
        return
    if subject.run.trajectory.solve_s > QUICK_S or len(subject.model.elements) > MOST_SUGGESTED:
        yield Words(
            "The energy that passed through each element. Those at the end may be left out; limits were not tried."
        )
        yield Listing(str(activity(subject.run)))
        return
    yield Listing(str(suggest_limits(subject.model)))


def _chain(subject: Subject, model: Model) -> Iterator[Block]:
    taken: tuple[Limit, ...] = ()
    smaller: Smaller = {}
    for group in subject.limits:
        taken = (*taken, *group)
        title = ", ".join(f"{limit.name} = {limit.value}" for limit in group)
        smaller[title] = reduction = reduce_model(model, [f"{limit.name}={limit.value}" for limit in taken])
        yield Words(f"{title}{' as well' if len(smaller) > 1 else ''}: {_what_remains(reduction)}")
        yield Folded("Its equations", (Formulas(page_lines(reduction.equations.to_latex())),))
    if subject.has_run and subject.run.status == "finished":
        yield from _compared(model, smaller)


def _what_remains(reduction: Reduction) -> str:
    before, after = len(reduction.full_states), len(reduction.equations.states)
    states = f" ({', '.join(reduction.equations.states)})" if after else ""
    told = f" Still told by formulas: {', '.join(reduction.recovered)}." if reduction.recovered else ""
    return f"{after} of {before} states remain{states}.{told}"


# -- What the smaller models lose ------------------------------------------------------------------------------------------------


def _compared(model: Model, smaller: Smaller) -> Iterator[Block]:
    full = simulate(model, samples=ROWS, rtol=RTOL, progress=False)
    runs = {title: simulate(found.model, times=full.t, rtol=RTOL, progress=False) for title, found in smaller.items()}
    names = [n for n in (full.displacement_names or full.state_names) if all(n in run for run in runs.values())]
    shown = names[:MOST_COMPARED]
    if not shown:
        return
    rows = tuple((title, *_largest(full, run, shown)) for title, run in runs.items())
    yield Words("The largest difference to the full model, over the experiment:")
    yield Table(("limits", *(f"{name} [{full.unit(name)}]" for name in shown)), rows)
    yield Picture("reductions", plot_svg(_difference_plot(full, runs, shown)), "Differences to the full model")


def _largest(full: Run, run: Run, names: list[str]) -> tuple[str, ...]:
    return tuple(f"{found.largest:.2e}" for found in full.compare(run, *names).differences.values())


def _difference_plot(full: Run, runs: dict[str, Run], names: list[str]) -> "Figure":
    """One axis a variable, one line a model; a logarithmic scale, since models are orders of magnitude apart."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(7.5, 0.8 + 2 * len(names)), layout="constrained")
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axis, name in zip(axes, names, strict=True):
        for title, run in runs.items():
            apart = np.abs(full.values(name) - run.values(name))
            axis.semilogy(full.t, np.where(apart > 0, apart, np.nan), label=title)
        _, top = axis.get_ylim()
        axis.set_ylim(top * LOWEST, top)
        axis.set_ylabel(f"{name} [{full.unit(name)}]")
        axis.grid(visible=True, alpha=0.3)
    axes[0].legend(fontsize="small")
    axes[-1].set_xlabel("t [s]")
    return figure
