"""The sections of a report about the experiment: its course, its energy, its motion."""

from collections.abc import Iterator

from tellegen.drawing import Animation, animate, draw
from tellegen.reporting.model_sections import MOST_DRAWN
from tellegen.reporting.pages import Block, Folded, Listing, Picture, Still, Table, Words
from tellegen.reporting.plots import plot_svg
from tellegen.reporting.subject import Subject
from tellegen.results.printing import run_findings, run_to_text

LARGEST_MOTION = 1_000_000
"""An animation of more bytes would make the page too heavy to send."""
FRAMES, MIN_ROWS = 30, 2
"""The pictures of the motion on a page, and the rows that a run needs to show any."""
MOST_CURVES, FEW_CURVES, MOST_BARS = 30, 8, 60
"""A plot of more curves shows a few of them, and more bars are left to their table."""
STILLS = 4
"""The moments of the motion on paper."""


def experiment(subject: Subject) -> Iterator[Block]:
    """The run: its plots and its end."""
    assert subject.model is not None
    if subject.model.experiment.until is None:
        yield Words("The model has no experiment: add one, such as 'experiment: {until: 1 s}', to see it move.")
        return
    run = subject.run
    for finding in run_findings(run):
        yield Words(str(finding), strong=True, error=finding.severity == "error")
    yield Listing(run_to_text(run, findings=False))
    names = run.shown or (*run.state_names, *run.displacement_names) or run.output_names
    chosen = _spread(names)
    told = f": {len(chosen)} of {len(names)} variables" if len(chosen) < len(names) else ""
    yield Picture("run", plot_svg(run.plot(*chosen)), f"The experiment over time{told}")


def _spread(names: tuple[str, ...]) -> tuple[str, ...]:
    """Few of many names, from the first to the last: a plot with a hundred curves shows none of them."""
    if len(names) <= MOST_CURVES:
        return names
    return tuple(names[round(k * (len(names) - 1) / (FEW_CURVES - 1))] for k in range(FEW_CURVES))


def energy(subject: Subject) -> Iterator[Block]:
    """The energy books of the run."""
    if not subject.has_run:
        return
    books = subject.run.energy
    yield Table(("energy", "J"), tuple((name, f"{value:.6g}") for name, value in books.to_json().items()))
    if books.books.handled > 0:
        diagram = draw(subject.run, "sankey").svg(symbols=True)
        yield Picture("sankey", diagram, "Who gave energy and who took it")
    rows = tuple((name, f"{value:.6g}") for name, value in books.by_element().items())
    table = Table(("element", "energy [J]"), rows)
    if len(rows) > MOST_BARS:
        yield Folded("By element", (table,))
        return
    bars = Picture("energy", plot_svg(books.plot()), "What each element took and each source gave")
    yield Folded("By element", (table, bars))


def motion(subject: Subject) -> Iterator[Block]:
    """The run in motion: the bodies of a mechanism, or powers on a bond graph."""
    assert subject.model is not None
    small = len(subject.model.elements) <= MOST_DRAWN
    if not subject.has_run or not small or len(subject.run.t) < MIN_ROWS:
        return
    has_bodies = subject.model.mechanism is not None or subject.model.geometry is not None
    view, caption = ("mechanism", "The mechanism in motion") if has_bodies else ("bond", "Power and energy over time")
    moving = animate(subject.model, view, run=subject.run, frames=FRAMES)
    drawn = moving.svg()
    if len(drawn) > LARGEST_MOTION:
        yield Words(
            f"Too large for this page; 'tellegen draw {subject.word} --as {view} --animate -o motion.html' shows it."
        )
        return
    yield Picture("motion", drawn, caption, _stills(moving))


def _stills(moving: Animation) -> tuple[Still, ...]:
    """Moments of the motion, evenly spaced from the first to the last: paper does not move."""
    last = len(moving.times) - 1
    chosen = sorted({round(k * last / (STILLS - 1)) for k in range(STILLS)})
    return tuple(Still(moving.figure(k).svg(symbols=True), f"t = {moving.times[k]:.3g} s") for k in chosen)
