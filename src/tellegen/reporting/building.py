"""What a report says about a model, section by section. A section that cannot be made says why, and the others follow."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING, final

from tellegen.analysis.poles import Pole
from tellegen.analysis.summary import Analysis
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.units import describe
from tellegen.description import Model
from tellegen.description.model import Parameter
from tellegen.drawing import animate, draw
from tellegen.equations.assembly import derive_equations
from tellegen.equations.steps import derivation_steps
from tellegen.equations.system import EquationSystem, parameter_values
from tellegen.experiments.analysing import analyse
from tellegen.experiments.simulating import simulate
from tellegen.expressions import Expression
from tellegen.graph import lower
from tellegen.reporting.formulas import formula_lines
from tellegen.reporting.pages import Block, Folded, Formulas, Listing, Picture, Report, Section, Table, Words
from tellegen.results import Run
from tellegen.studies.activities import activity
from tellegen.studies.suggesting import suggest_limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[str], None]

MOST_DRAWN = 150
"""Models with more elements are not drawn in a report: a page has an end."""
MOST_STEPS = 12
"""Up to so many states the derivation is told step by step."""
MOST_CHANNELS = 16
"""A Bode diagram of more channels shows nothing to anybody."""
LARGEST_MOTION = 1_000_000
"""An animation of more bytes would make the page too heavy to send."""
FRAMES, MIN_ROWS = 30, 2
"""The pictures of the motion on a page, and the rows that a run needs to show any."""
MOST_SUGGESTED = 40
QUICK_S = 0.5
"""Up to so many elements, and runs of so many seconds, limits are tried out."""


@final
@dataclass(frozen=True)
class Subject:
    """What a report is about: the model where there is one, what was found wrong with it, its text, and the word that opens it."""

    name: str
    findings: tuple[Finding, ...]
    text: str
    word: str
    model: Model | None = None
    summary: tuple[tuple[str, str], ...] = ()
    further: tuple[Section, ...] = field(default=(), repr=False)

    @cached_property
    def causal(self) -> CausalGraph:
        """The model with its causality."""
        assert self.model is not None
        return assign_causality(lower(self.model))

    @cached_property
    def equations(self) -> EquationSystem:
        """The equations."""
        return derive_equations(self.causal)

    @cached_property
    def run(self) -> Run:
        """The experiment of the model."""
        assert self.model is not None
        return simulate(self.model, on_failure="return", progress=False)

    @cached_property
    def analysis(self) -> Analysis:
        """The linear model in steady state."""
        assert self.model is not None
        return analyse(self.model)


Maker = Callable[[Subject], Iterable[Block]]


def build_report(subject: Subject, progress: Progress = lambda _: None) -> Report:
    """All sections of a report; `progress` hears the title of each before it is made."""
    sections = list(_sections(subject, progress))
    about = subject.model.about if subject.model is not None else ""
    return Report(subject.name, about, tuple(sections))


def _sections(subject: Subject, progress: Progress) -> Iterator[Section]:
    yield from _section("Findings", findings, subject, progress)
    if subject.model is not None and not any(f.severity == "error" for f in subject.findings):
        for title, maker in MAKERS.items():
            yield from _section(title, maker, subject, progress)
        yield from subject.further
    yield from _section("The model", listing, subject, progress)
    yield from _section("How to make this page again", how, subject, progress)


def _section(title: str, maker: Maker, subject: Subject, progress: Progress) -> Iterator[Section]:
    progress(title)
    try:
        blocks = tuple(maker(subject))
    except TellegenError as error:
        blocks = (Words(str(error), strong=True),)
    if blocks:
        yield Section(title, blocks)


# -- Before the equations --------------------------------------------------------------------------------------------------------


def findings(subject: Subject) -> Iterator[Block]:
    """Errors, warnings and notices, and what causality says."""
    for finding in subject.findings:
        yield Words(str(finding), strong=finding.severity != "notice")
    if not subject.findings:
        yield Words("No errors, no warnings.")
    if subject.summary:
        yield Table(("", ""), subject.summary)


def schematics(subject: Subject) -> Iterator[Block]:
    """The model as a network, a bond graph and a POG."""
    assert subject.model is not None
    if len(subject.model.elements) > MOST_DRAWN:
        yield Words(f"The model has {len(subject.model.elements)} elements: too many for one picture.")
        return
    views = {"network": "physical schematic", "bond": "bond graph", "pog": "Power-Oriented Graph"}
    for view, words in views.items():
        try:
            figure = draw(subject.model, view)
        except TellegenError as error:
            yield Words(f"No {words}: {error.what}.")
        else:
            yield Picture(view, figure.svg(symbols=True), f"{subject.name}: {words}", wide=True)


def parameters(subject: Subject) -> Iterator[Block]:
    """Parameters with their values and units."""
    assert subject.model is not None
    values = parameter_values({name: item.expression for name, item in subject.model.parameters.items()})
    rows = [
        (name, f"{values[name]:.6g}" if name in values else "", _unit(item), _formula(item.expression))
        for name, item in subject.model.parameters.items()
    ]
    if rows:
        yield Table(("parameter", "value", "unit", "formula"), tuple(rows))


def _unit(parameter: Parameter) -> str:
    return "" if parameter.dimension is None else describe(parameter.dimension)


def _formula(expression: Expression | None) -> str:
    return str(expression) if expression is not None and expression.free_symbols else ""


# -- Equations and their properties ----------------------------------------------------------------------------------------------


def equations(subject: Subject) -> Iterator[Block]:
    """The POG form, and its derivation."""
    system = subject.equations
    yield Formulas(formula_lines(system.to_latex()))
    if system.origin is not None and len(system.states) <= MOST_STEPS:
        yield Folded("How they follow, step by step", (Listing(derivation_steps(system).to_text()),))


def properties(subject: Subject) -> Iterator[Block]:
    """Poles, passivity and the Bode diagram of the linear model: in steady state, or at the start where there is none."""
    where = "in steady state"
    try:
        analysis = subject.analysis
    except TellegenError:
        analysis, where = _at_the_start(subject), "at the start of the experiment"
        yield Words("There is no steady state under these inputs: the model is linearised where the experiment begins.")
    rows = tuple(map(_pole, analysis.poles))
    if rows:
        yield Table(("pole [1/s]", "natural frequency [rad/s]", "damping", "time constant [s]"), rows)
    yield Listing(str(analysis))
    channels = len(analysis.model.inputs) * len(analysis.model.outputs)
    if analysis.model.states and 0 < channels <= MOST_CHANNELS:
        yield Picture("bode", _svg(analysis.plot()), f"Bode diagram of the linear model {where}")


def _at_the_start(subject: Subject) -> Analysis:
    assert subject.model is not None
    run = subject.run
    names = (*run.state_names, *run.displacement_names)
    return analyse(subject.model, at={name: float(run.values(name)[0]) for name in names})


def _pole(pole: Pole) -> tuple[str, ...]:
    value = f"{pole.value.real:.5g}" + (f" ± {abs(pole.value.imag):.5g}j" if pole.value.imag else "")
    return value, f"{pole.natural_frequency:.5g}", f"{pole.damping:.4g}", f"{pole.time_constant:.4g}"


def reductions(subject: Subject) -> Iterator[Block]:
    """Which elements do little in the experiment, and where it is cheap to try, what limits on them would cost."""
    assert subject.model is not None
    if subject.model.experiment.until is None:
        return
    if subject.run.trajectory.solve_s > QUICK_S or len(subject.model.elements) > MOST_SUGGESTED:
        yield Words(
            "The energy that passed through each element. Those at the end may be left out; limits were not tried."
        )
        yield Listing(str(activity(subject.run)))
        return
    yield Listing(str(suggest_limits(subject.model)))


# -- The experiment --------------------------------------------------------------------------------------------------------------


def experiment(subject: Subject) -> Iterator[Block]:
    """The run: its plots and its end."""
    assert subject.model is not None
    if subject.model.experiment.until is None:
        yield Words("The model has no experiment: add one to see it move.")
        return
    run = subject.run
    if run.finding is not None:
        yield Words(str(run.finding), strong=True)
    yield Listing(str(run))
    yield Picture("run", _svg(run.plot()), "The experiment over time")


def energy(subject: Subject) -> Iterator[Block]:
    """The energy books of the run."""
    assert subject.model is not None
    if subject.model.experiment.until is None:
        return
    books = subject.run.energy
    yield Table(("energy", "J"), tuple((name, f"{value:.6g}") for name, value in books.to_json().items()))
    yield Picture("energy", _svg(books.plot()), "Energy over time")
    if books.books.handled > 0:
        diagram = draw(subject.run, "sankey").svg(symbols=True)
        yield Picture("sankey", diagram, "Who gave energy and who took it", wide=True)
    rows = tuple((name, f"{value:.6g}") for name, value in books.by_element().items())
    yield Folded("By element", (Table(("element", "energy [J]"), rows),))


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


# -- The end ---------------------------------------------------------------------------------------------------------------------


def listing(subject: Subject) -> Iterator[Block]:
    """The text of the model."""
    if subject.text:
        yield Listing(subject.text, "yaml")


def how(subject: Subject) -> Iterator[Block]:
    """The commands that make the page, and its parts one by one."""
    word = subject.word
    commands = (f"report {word} -o report.html", f"derive {word} --steps", f"simulate {word} --plot", f"analyse {word}")
    yield Listing("\n".join(f"$ tellegen {command}" for command in commands), "console")


MAKERS: dict[str, Maker] = {
    "Figures": schematics,
    "Parameters": parameters,
    "Equations": equations,
    "Properties": properties,
    "Reductions": reductions,
    "Experiment": experiment,
    "Energy": energy,
    "Motion": motion,
}
"""The sections of a model without errors, in order."""


def _svg(figure: "Figure") -> str:
    """A plot as SVG, without the date of its making. Nobody else sees the figure, so it is closed."""
    from matplotlib import pyplot  # noqa: PLC0415

    text = StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
    written = text.getvalue()
    return written[written.index("<svg") :]
