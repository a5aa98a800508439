"""The sections of a report about the experiment: its course, its energy, its motion."""

from collections.abc import Iterator

from tellegen.drawing import animate, draw
from tellegen.reporting.model_sections import MOST_DRAWN
from tellegen.reporting.pages import Block, Folded, Listing, Picture, Table, Words
from tellegen.reporting.plots import plot_svg
from tellegen.reporting.subject import Subject

LARGEST_MOTION = 1_000_000
"""An animation of more bytes would make the page too heavy to send."""
FRAMES, MIN_ROWS = 30, 2
"""The pictures of the motion on a page, and the rows that a run needs to show any."""


def experiment(subject: Subject) -> Iterator[Block]:
    """The run: its plots and its end."""
    assert subject.model is not None
    if subject.model.experiment.until is None:
        yield Words("The model has no experiment: add one, such as 'experiment: {until: 1 s}', to see it move.")
        return
    run = subject.run
    if run.finding is not None:
        yield Words(str(run.finding), strong=True)
    yield Listing(str(run))
    yield Picture("run", plot_svg(run.plot()), "The experiment over time")


def energy(subject: Subject) -> Iterator[Block]:
    """The energy books of the run."""
    assert subject.model is not None
    if subject.model.experiment.until is None:
        return
    books = subject.run.energy
    yield Table(("energy", "J"), tuple((name, f"{value:.6g}") for name, value in books.to_json().items()))
    if books.books.handled > 0:
        diagram = draw(subject.run, "sankey").svg(symbols=True)
        yield Picture("sankey", diagram, "Who gave energy and who took it", wide=True)
    rows = tuple((name, f"{value:.6g}") for name, value in books.by_element().items())
    bars = Picture("energy", plot_svg(books.plot()), "What each element took and each source gave")
    yield Folded("By element", (Table(("element", "energy [J]"), rows), bars))


def motion(subject: Subject) -> Iterator[Block]:
    """The run in motion: the bodies of a mechanism, or powers on a bond graph."""
    assert subject.model is not None
    small = len(subject.model.elements) <= MOST_DRAWN
    if subject.model.experiment.until is None or not small or len(subject.run.t) < MIN_ROWS:
        return
    if subject.model.mechanism is None:
        moving, caption = animate(subject.model, "bond", run=subject.run, frames=FRAMES), "Power and energy over time"
    else:
        moving, caption = animate(subject.model, "mechanism", run=subject.run, frames=FRAMES), "The mechanism in motion"
    drawn = moving.svg()
    if len(drawn) > LARGEST_MOTION:
        view = "bond" if subject.model.mechanism is None else "mechanism"
        yield Words(
            f"Too large for this page; 'tellegen draw {subject.word} --as {view} --animate -o motion.html' shows it."
        )
        return
    yield Picture("motion", drawn, caption, wide=True)
