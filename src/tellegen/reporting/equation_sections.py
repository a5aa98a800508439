"""The sections of a report about equations: how they follow, and what they say of poles, passivity and frequencies."""

from collections.abc import Iterator

from tellegen.analysis.summary import Analysis
from tellegen.core.errors import TellegenError
from tellegen.equations.steps import derivation_steps
from tellegen.experiments.analysing import analyse
from tellegen.reporting.formulas import page_lines
from tellegen.reporting.pages import Block, Folded, Formulas, Listing, Picture, Words
from tellegen.reporting.plots import plot_svg
from tellegen.reporting.subject import Subject

MOST_STATES = 40
"""Up to so many states there are matrices, and the derivation is told step by step. Beyond, equations follow line by line."""
MOST_ANALYSED = 200
"""Poles and channels of a model with more states take minutes, which a page does not."""
MOST_CHANNELS = 16
"""A Bode diagram of more channels shows nothing to anybody."""


def equations(subject: Subject) -> Iterator[Block]:
    """The POG form, and its derivation."""
    system = subject.equations
    if len(system.states) > MOST_STATES:
        yield Folded(f"The equations of {len(system.states)} states, line by line", (Listing(system.to_text()),))
        yield Words(f"'tellegen derive {subject.word} --steps' tells how they follow, step by step.")
        return
    yield Formulas(page_lines(system.to_latex()))
    if system.origin is not None:
        yield Folded("How they follow, step by step", (Listing(derivation_steps(system).to_text()),))


def properties(subject: Subject) -> Iterator[Block]:
    """Poles, passivity and the Bode diagram of the linear model: in steady state, or at the start where there is none."""
    if len(subject.equations.states) > MOST_ANALYSED:
        yield Words(
            f"The model has {len(subject.equations.states)} states; 'tellegen analyse {subject.word}' takes its time."
        )
        return
    where = "in steady state"
    try:
        analysis = subject.analysis
    except TellegenError:
        analysis, where = _at_the_start(subject), "at the start of the experiment"
        yield Words("There is no steady state under these inputs: the model is linearised where the experiment begins.")
    channels = len(analysis.model.inputs) * len(analysis.model.outputs)
    told = Listing(str(analysis))
    yield told if channels <= MOST_CHANNELS else Folded("Poles, and every channel from an input to an output", (told,))
    if analysis.model.states and 0 < channels <= MOST_CHANNELS:
        yield Picture("bode", plot_svg(analysis.plot()), f"Bode diagram of the linear model {where}")


def _at_the_start(subject: Subject) -> Analysis:
    assert subject.model is not None
    run = subject.run
    names = (*run.state_names, *run.displacement_names)
    return analyse(subject.model, at={name: float(run.values(name)[0]) for name in names})
