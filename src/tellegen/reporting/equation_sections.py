"""The sections of a report about equations: how they follow, and what they say of poles, passivity and frequencies."""

from collections.abc import Iterator

from tellegen.analysis.summary import Analysis
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.equations.steps import derivation_steps
from tellegen.equations.system import parameter_values
from tellegen.experiments.analysing import analyse
from tellegen.reporting.formulas import page_lines
from tellegen.reporting.pages import Block, Folded, Formulas, Listing, Picture, Words
from tellegen.reporting.plots import plot_svg
from tellegen.reporting.subject import Subject

MOST_STATES = 40
"""Up to so many states there are matrices, and the derivation is told step by step. Beyond, equations follow line by line."""
MOST_LINES = 60
"""Formulas beyond these lines are folded away: they say what names in the ones before stand for."""
EQUALS = " = "
MOST_ANALYSED = 200
"""Poles and channels of a model with more states take minutes, which a page does not."""
MOST_CHANNELS = 16
"""A Bode diagram of more channels shows nothing to anybody."""


def equations(subject: Subject) -> Iterator[Block]:
    """The POG form, and its derivation."""
    system = subject.equations
    yield from _mode(subject)
    if len(system.states) > MOST_STATES:
        yield Folded(f"The equations of {len(system.states)} states, line by line", (Listing(system.to_text()),))
        yield Words(f"'tellegen derive {subject.word} --steps' tells how they follow, step by step.")
        return
    lines = page_lines(system.to_latex())
    shown = _first_lines(lines)
    yield Formulas(lines[:shown])
    if shown < len(lines):
        rest = lines[shown:]
        yield Folded(f"{sum(EQUALS in line for line in rest)} more formulas, of names above", (Formulas(rest),))
    if system.origin is not None:
        yield Folded("How they follow, step by step", (Listing(derivation_steps(system).to_text()),))


def _mode(subject: Subject) -> Iterator[Block]:
    """In which of its modes the equations of a model are told."""
    modes = subject.equations.modes
    if not modes:
        return
    name, known = next(iter(modes.items()))
    other = next((word for word in known.words if word != known.now), known.now)
    now = ", ".join(f"{element} {found.now}" for element, found in modes.items())
    yield Words(
        f"In the mode of the start: {now}. 'tellegen derive {subject.word} --mode {name}={other}' tells those of another mode."
    )


def _first_lines(lines: tuple[str, ...]) -> int:
    """How many lines of formulas are shown at once; a sum that goes on in further lines stays whole."""
    if len(lines) <= MOST_LINES:
        return len(lines)
    return next((k for k in range(MOST_LINES, len(lines)) if EQUALS in lines[k]), len(lines))


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
        missing = _without_value(subject)
        if missing:
            yield Words(
                f"Poles and responses need numbers: {listing(missing)} {'has' if len(missing) == 1 else 'have'} no value."
            )
            return
        if subject.model is None or subject.model.experiment.until is None:
            raise
        analysis, where = _at_the_start(subject), "at the start of the experiment"
        yield Words("There is no steady state under these inputs: the model is linearised where the experiment begins.")
    channels = len(analysis.model.inputs) * len(analysis.model.outputs)
    told = Listing(str(analysis))
    yield told if channels <= MOST_CHANNELS else Folded("Poles, and every channel from an input to an output", (told,))
    if analysis.model.states and 0 < channels <= MOST_CHANNELS:
        yield Picture("bode", plot_svg(analysis.plot()), f"Bode diagram of the linear model {where}")


def _without_value(subject: Subject) -> list[str]:
    """The parameters that have no number."""
    parameters = {} if subject.model is None else subject.model.parameters
    values = parameter_values({name: item.expression for name, item in parameters.items()})
    return [name for name in parameters if name not in values]


def _at_the_start(subject: Subject) -> Analysis:
    assert subject.model is not None
    run = subject.run
    names = (*run.state_names, *run.displacement_names)
    return analyse(subject.model, at={name: float(run.values(name)[0]) for name in names})
