"""The sections of a report: findings, figures, parameters, equations, properties, smaller models, the experiment, its energy
and motion.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, cast, final

import numpy as np

from tellegen.analysis.summary import Analysis
from tellegen.causality import assign_causality
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import listing
from tellegen.core.shipped import example_file
from tellegen.core.tables import TitledTable
from tellegen.core.units import describe, parse_unit
from tellegen.drawing import Animation, animate, draw
from tellegen.equations.checking import check
from tellegen.equations.derivation import derive_equations
from tellegen.equations.steps import derivation_steps
from tellegen.equations.system import EquationSystem, parameter_values
from tellegen.experiments.analysing import analyse
from tellegen.experiments.simulating import simulate
from tellegen.expressions import Expression
from tellegen.expressions.symbols import NO_SYMBOLS, written_with
from tellegen.graph import lower
from tellegen.model.model import Model, Parameter
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.writing import to_yaml
from tellegen.plots import Line, Panel, Plot, panels_plot
from tellegen.reduction import Limit, Limits, Reduction, read_limits, reduce_model
from tellegen.reporting.formulas import page_lines, readable_unit
from tellegen.reporting.pages import (
    Folded,
    Listing,
    LiveRun,
    PageBlock,
    PageFormulas,
    PagePicture,
    PageSection,
    PageTable,
    Paragraph,
    Report,
    Still,
)
from tellegen.reporting.writing import check_report_target, write_report
from tellegen.results import Run
from tellegen.results.run import run_findings, run_tables
from tellegen.scenes.lettering import name_latex
from tellegen.studies.suggestion import activity, suggest_limits

if TYPE_CHECKING:
    from tellegen.studies.runs.study import Study


@final
@dataclass(frozen=True)
class Subject:
    """What a report is about: the model where there is one, what was found wrong with it, its text, and the word that opens it.

    `limits` are taken one group after another, each on top of those before. With `sliders` the model runs in the page; they are
    NAME or NAME=LOW:HIGH, and without any every value that can be moved has one.
    """

    name: str
    findings: tuple[Finding, ...]
    text: str
    word: str
    model: Model | None = None
    summary: tuple[tuple[str, str], ...] = ()
    limits: tuple[tuple[Limit, ...], ...] = ()
    sliders: tuple[str, ...] | None = None

    @property
    def is_sound(self) -> bool:
        """Whether there is a model without errors, from which all else follows."""
        return self.model is not None and not any(finding.severity == "error" for finding in self.findings)

    @cached_property
    def equations(self) -> EquationSystem:
        """The equations."""
        assert self.model is not None
        return derive_equations(assign_causality(lower(self.model)))

    @cached_property
    def run(self) -> Run:
        """The experiment of the model."""
        assert self.model is not None
        return simulate(self.model, on_failure="return", progress=False)

    @cached_property
    def has_run(self) -> bool:
        """Whether the experiment runs, if only for a while."""
        if self.model is None or self.model.experiment.until is None:
            return False
        try:
            return len(self.run.t) > 0
        except TellegenError:
            return False

    @cached_property
    def analysis(self) -> Analysis:
        """The linear model in steady state."""
        assert self.model is not None
        return analyse(self.model)


MOST_DRAWN = 150
"""Models with more elements are not drawn in a report: a page has an end."""
MOST_ROWS = 60
"""A longer table of parameters is folded away."""
LONGEST_TEXT = 200_000
"""The letters of a model's text on a page; what is longer is cut."""


def findings_section(subject: Subject) -> Iterator[PageBlock]:
    """Errors and warnings."""
    for finding in subject.findings:
        if finding.severity != "notice":
            yield Paragraph(str(_by_name(finding)), strong=True, error=finding.severity == "error")


def notices_section(subject: Subject) -> Iterator[PageBlock]:
    """What is worth knowing: one line for each kind, however many elements it holds for."""
    notices = [_by_name(finding) for finding in subject.findings if finding.severity == "notice"]
    for code, why in dict.fromkeys((notice.code, notice.why) for notice in notices):
        alike = [notice for notice in notices if (notice.code, notice.why) == (code, why)]
        if len(alike) == 1:
            yield Paragraph(str(alike[0]))
            continue
        rows = tuple((notice.what, str(notice.place or notice.where)) for notice in alike)
        yield Folded(f"{len(alike)} notices {code}: {why}", (PageTable(("what", "where"), rows),))


def _by_name(finding: Finding) -> Finding:
    """The finding with the name of its file: where the file lies on one machine says nothing on another."""
    if finding.place is None:
        return finding
    return replace(finding, place=finding.place._replace(file=Path(finding.place.file).name))


def figures_section(subject: Subject) -> Iterator[PageBlock]:
    """The model as a network, a bond graph and a POG."""
    assert subject.model is not None
    if len(subject.model.elements) > MOST_DRAWN:
        yield Paragraph(
            f"The model has {len(subject.model.elements)} elements: too many for a picture on this page; "
            f"'tellegen draw {subject.word} --as bond -o bond.svg' draws it."
        )
        return
    views = {"network": "physical schematic", "bond": "bond graph", "pog": "Power-Oriented Graph"}
    for view, words in views.items():
        try:
            figure = draw(subject.model, view)
        except TellegenError as error:
            yield Paragraph(f"No {words}: {error.what}.")
        else:
            yield PagePicture(view, figure.svg(symbols=True), f"{subject.name}: {words}")


def parameters_section(subject: Subject) -> Iterator[PageBlock]:
    """Parameters with their values in the units of the file, and what the file says beside them."""
    assert subject.model is not None
    values = parameter_values({name: item.expression for name, item in subject.model.parameters.items()})
    comments = _comments(subject)
    rows = [
        (name, *_measured(item, values.get(name)), _formula(item.expression), comments.get(name, ""))
        for name, item in subject.model.parameters.items()
    ]
    head = ("parameter", "value", "unit", "formula", "")
    # A column that is empty for all parameters is left out.
    shown = [k for k in range(len(head)) if k < 3 or any(row[k] for row in rows)]
    table = PageTable(tuple(head[k] for k in shown), tuple(tuple(row[k] for k in shown) for row in rows))
    if len(rows) > MOST_ROWS:
        yield Folded(f"{len(rows)} parameters", (table,))
    elif rows:
        yield table


def _measured(item: Parameter, value: float | None) -> tuple[str, str]:
    """The value in the unit of the file, else in SI, and the unit."""
    if item.unit and item.expression is not None and not item.expression.free_symbols:
        unit = parse_unit(item.unit)
        return ("" if value is None else f"{(value - unit.offset) / unit.factor:.6g}"), readable_unit(item.unit)
    si = "" if item.dimension is None else describe(item.dimension).split(" ", 1)[0]
    return ("" if value is None else f"{value:.6g}"), readable_unit(si)


def _comments(subject: Subject) -> dict[str, str]:
    """What stands behind parameters that have a line of the file to themselves."""
    assert subject.model is not None
    lines = subject.text.splitlines()
    places = {name: item.place.line for name, item in subject.model.parameters.items() if item.place is not None}
    # Names with dots come from files of parts, whose lines are not those of this text.
    alone = {line: name for name, line in places.items() if "." not in name}
    shared = {line for line in alone if sum(other == line for other in places.values()) > 1}
    behind = {name: lines[line - 1].partition(" #")[2] for line, name in alone.items() if line <= len(lines)}
    return {name: text.strip() for name, text in behind.items() if text and places[name] not in shared}


def _formula(expression: Expression | None) -> str:
    return str(expression) if expression is not None and expression.free_symbols else ""


def listing_section(subject: Subject) -> Iterator[PageBlock]:
    """What causality says of it in short, and its text."""
    if subject.summary:
        yield PageTable((), subject.summary)
    if len(subject.text) > LONGEST_TEXT:
        yield Paragraph(f"The first {LONGEST_TEXT} of {len(subject.text)} letters:")
    if subject.text:
        yield Listing(subject.text[:LONGEST_TEXT], "yaml")


def commands_section(subject: Subject) -> Iterator[PageBlock]:
    """The commands that make the page, and its parts one by one, for someone who stands beside the file."""
    word = quote(subject.word)
    # The commands are meant to be pasted: words with spaces or signs are quoted for a shell.
    limits = [",".join(f"{limit.name}={limit.value}" for limit in group) for group in subject.limits]
    commands = [" ".join([f"report {word} -o report.html", *(f"--limit {quote(group)}" for group in limits)])]
    if not subject.is_sound:
        commands.insert(0, f"check {word}")
    else:
        assert subject.model is not None
        commands.append(f"derive {word} --steps")
        commands += [] if subject.model.experiment.until is None else [f"simulate {word} --plot"]
        commands.append(f"analyse {word}")
    yield Listing("\n".join(f"$ tellegen {command}" for command in commands), "console")


MOST_STATES = 40
"""Up to so many states there are matrices, and the derivation is told step by step. Beyond, equations follow line by line."""
MOST_LINES = 60
"""Formulas beyond these lines are folded away: they say what names in the ones before stand for."""
EQUALS = " = "
MOST_ANALYSED = 200
"""Poles and channels of a model with more states take minutes, which a page does not."""
MOST_CHANNELS = 16
"""A Bode diagram of more channels shows nothing to anybody."""


def equations_section(subject: Subject) -> Iterator[PageBlock]:
    """The POG form, and its derivation."""
    system = subject.equations
    yield from _mode(subject)
    if len(system.states) > MOST_STATES:
        yield Folded(f"The equations of {len(system.states)} states, line by line", (Listing(system.to_text()),))
        yield Paragraph(f"'tellegen derive {subject.word} --steps' tells how they follow, step by step.")
        return
    lines = page_lines(system.to_latex())
    shown = _first_lines(lines)
    yield PageFormulas(lines[:shown])
    if shown < len(lines):
        rest = lines[shown:]
        yield Folded(f"{sum(EQUALS in line for line in rest)} more formulas, of names above", (PageFormulas(rest),))
    if system.origin is not None:
        yield Folded("How they follow, step by step", (Listing(derivation_steps(system).to_text()),))


def _mode(subject: Subject) -> Iterator[PageBlock]:
    """In which of its modes the equations of a model are told."""
    modes = subject.equations.modes
    if not modes:
        return
    # One example is enough to show how another mode is asked for.
    name, known = next(iter(modes.items()))
    other = next((word for word in known.words if word != known.now), known.now)
    now = ", ".join(f"{element} {found.now}" for element, found in modes.items())
    yield Paragraph(
        f"In the mode of the start: {now}. 'tellegen derive {subject.word} --mode {name}={other}' tells those of another mode."
    )


def _first_lines(lines: tuple[str, ...]) -> int:
    """How many lines of formulas are shown at once; a sum that goes on in further lines stays whole."""
    if len(lines) <= MOST_LINES:
        return len(lines)
    return next((k for k in range(MOST_LINES, len(lines)) if EQUALS in lines[k]), len(lines))


def properties_section(subject: Subject) -> Iterator[PageBlock]:
    """Poles, passivity and the Bode diagram of the linear model: in steady state, or at the start where there is none."""
    if len(subject.equations.states) > MOST_ANALYSED:
        yield Paragraph(
            f"The model has {len(subject.equations.states)} states; 'tellegen analyse {subject.word}' takes its time."
        )
        return
    where = "in steady state"
    try:
        analysis = subject.analysis
    except TellegenError:
        missing = _without_value(subject)
        if missing:
            yield Paragraph(
                f"Poles and responses need numbers: {listing(missing)} {'has' if len(missing) == 1 else 'have'} no value."
            )
            return
        # Without an experiment there is no start to linearise at: the error says what is wrong.
        if subject.model is None or subject.model.experiment.until is None:
            raise
        # What falls has no steady state, and yet poles where it begins.
        analysis, where = _at_the_start(subject), "at the start of the experiment"
        yield Paragraph(
            "There is no steady state under these inputs: the model is linearised where the experiment begins."
        )
    channels = len(analysis.model.inputs) * len(analysis.model.outputs)
    told = _tables(analysis.tables())
    if channels <= MOST_CHANNELS:
        yield from told
    else:
        yield Folded("Poles, and every channel from an input to an output", tuple(told))
    if analysis.model.states and 0 < channels <= MOST_CHANNELS:
        yield _curves("bode", analysis.plot(), f"Bode diagram of the linear model {where}")


def _tables(tables: Iterable[TitledTable]) -> Iterator[PageBlock]:
    """Tables as blocks of a page; a title without rows is a sentence."""
    for title, rows, headed in tables:
        if not rows:
            yield Paragraph(title)
            continue
        head, *body = rows if headed else ((), *rows)
        yield PageTable(head, tuple(body), title)


def _curves(name: str, plot: Plot, caption: str) -> PagePicture:
    """A plot whose curves can be read off, unless its places say more than numbers: poles, zeros, a start."""
    plain = all(
        not panel.equal and not panel.start and not any(line.mark for line in panel.lines) for panel in plot.panels
    )
    return PagePicture(name, plot.svg(symbols=True), caption, panels=plot.panels if plain else ())


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


def reductions_section(subject: Subject) -> Iterator[PageBlock]:
    """The models that the limits of the report lead to, one after another; without limits, what could be left out."""
    assert subject.model is not None
    if subject.limits:
        yield from _chain(subject, subject.model)
    elif subject.model.experiment.until is not None:
        yield from _suggested(subject)


def _suggested(subject: Subject) -> Iterator[PageBlock]:
    """Which elements do little in the experiment, and where it is cheap to try, what limits on them would cost."""
    assert subject.model is not None
    if not subject.has_run or subject.run.status != "finished":
        ended = "was cancelled" if subject.has_run and subject.run.status == "cancelled" else "fails"
        yield Paragraph(f"No limits were tried, since the experiment {ended}.")
        return
    # Each limit that is tried costs a run of its own.
    if subject.run.trajectory.solve_s > QUICK_S or len(subject.model.elements) > MOST_SUGGESTED:
        yield Paragraph(
            "The energy that passed through each element. Those at the end may be left out; limits were not tried."
        )
        yield from _tables([activity(subject.run).table()])
        return
    yield from _tables(suggest_limits(subject.model).tables())


def _chain(subject: Subject, model: Model) -> Iterator[PageBlock]:
    taken: tuple[Limit, ...] = ()
    smaller: Smaller = {}
    for group in subject.limits:
        # All limits so far, taken at once on the full model: names of it stay valid in each step of the chain.
        taken = (*taken, *group)
        title = ", ".join(f"{limit.name} = {limit.value}" for limit in group)
        smaller[title] = reduction = reduce_model(model, [f"{limit.name}={limit.value}" for limit in taken])
        yield Paragraph(f"{title}{' as well' if len(smaller) > 1 else ''}: {_what_remains(reduction)}")
        yield Folded("Its equations", (PageFormulas(page_lines(reduction.equations.to_latex())),))
    if subject.has_run and subject.run.status == "finished":
        yield from _compared(model, smaller)


def _what_remains(reduction: Reduction) -> str:
    before, after = len(reduction.full_states), len(reduction.equations.states)
    states = f" ({', '.join(reduction.equations.states)})" if after else ""
    told = f" Still told by formulas: {', '.join(reduction.recovered)}." if reduction.recovered else ""
    return f"{after} of {before} states remain{states}.{told}"


# -- What the smaller models lose ------------------------------------------------------------------------------------------------


def _compared(model: Model, smaller: Smaller) -> Iterator[PageBlock]:
    full = simulate(model, samples=ROWS, rtol=RTOL, progress=False)
    # At the same times, so that rows can be subtracted.
    runs = {title: simulate(found.model, times=full.t, rtol=RTOL, progress=False) for title, found in smaller.items()}
    names = [n for n in (full.displacement_names or full.state_names) if all(n in run for run in runs.values())]
    shown = names[:MOST_COMPARED]
    if not shown:
        return
    apart = {title: full.compare(run, *shown).differences.values() for title, run in runs.items()}
    rows = tuple((title, *(f"{found.largest:.2e}" for found in differences)) for title, differences in apart.items())
    yield Paragraph("The largest difference to the full model, over the experiment:")
    yield PageTable(("limits", *(f"{name} [{full.unit(name)}]" for name in shown)), rows)
    yield _curves("reductions", _difference_plot(full, runs, shown), "Differences to the full model")


def _difference_plot(full: Run, runs: dict[str, Run], names: list[str]) -> Plot:
    """One panel a variable, one curve a model; a logarithmic scale, since models are orders of magnitude apart."""
    stacks: list[list[Panel]] = []
    for name in names:
        apart = {title: np.abs(full.values(name) - run.values(name)) for title, run in runs.items()}
        # Zeros of a difference would draw the scale down to nothing.
        least = LOWEST * max((float(np.nanmax(values, initial=0.0)) for values in apart.values()), default=0.0)
        lines = (
            Line(title, full.t, np.where(values > least, values, np.nan), words=title)
            for title, values in apart.items()
        )
        title = rf"\text{{difference of }}{name_latex(name)}"
        stacks.append([Panel(tuple(lines), full.unit(name), title, kind="log")])
    return panels_plot("Differences to the full model", stacks)


LARGEST_MOTION = 1_000_000
"""An animation of more bytes would make the page too heavy to send."""
FRAMES, MIN_ROWS = 30, 2
"""The pictures of the motion on a page, and the rows that a run needs to show any."""
MOST_CURVES, FEW_CURVES, MOST_BARS = 30, 8, 60
"""A plot of more curves shows a few of them, and more bars are left to their table."""
STILLS = 4
"""The moments of the motion on paper."""


def experiment_section(subject: Subject) -> Iterator[PageBlock]:
    """The run: its plots and its end."""
    assert subject.model is not None
    if subject.model.experiment.until is None:
        yield Paragraph("The model has no experiment: add one, such as 'experiment: {until: 1 s}', to see it move.")
        return
    run = subject.run
    for finding in run_findings(run):
        yield Paragraph(str(finding), strong=True, error=finding.severity == "error")
    names = run.shown or (*run.state_names, *run.displacement_names) or run.output_names
    # Variables that the experiment wants shown come first, then what moves, then what is driven.
    chosen = _spread(names)
    told = f": {len(chosen)} of {len(names)} variables" if len(chosen) < len(names) else ""
    if subject.sliders is not None:
        yield _live(subject.model, subject.sliders)
    yield _curves("run", run.plot(*chosen), f"The experiment over time{told}")
    *results, _ = run_tables(run)  # the energy has a section of its own
    yield Folded("Final values, and how they were found", tuple(_tables(results)))


def _live(model: Model, sliders: Sequence[str]) -> LiveRun:
    # It brings the exports with it, and most reports stand still.
    from tellegen.reporting.live import live_run  # noqa: PLC0415

    return live_run(model, sliders, "run")


def _spread(names: tuple[str, ...]) -> tuple[str, ...]:
    """Few of many names, from the first to the last: a plot with a hundred curves shows none of them."""
    if len(names) <= MOST_CURVES:
        return names
    return tuple(names[round(k * (len(names) - 1) / (FEW_CURVES - 1))] for k in range(FEW_CURVES))


def energy_section(subject: Subject) -> Iterator[PageBlock]:
    """The energy books of the run."""
    if not subject.has_run:
        return
    books = subject.run.energy
    yield PageTable(("energy", "J"), tuple((name, f"{value:.6g}") for name, value in books.to_json().items()))
    # A diagram of flows without any flow shows an empty page.
    if books.books.handled > 0:
        diagram = draw(subject.run, "sankey").svg(symbols=True)
        yield PagePicture("sankey", diagram, "Who gave energy and who took it")
    rows = tuple((name, f"{value:.6g}") for name, value in books.by_element().items())
    table = PageTable(("element", "energy [J]"), rows)
    if len(rows) > MOST_BARS:
        yield Folded("By element", (table,))
        return
    bars = PagePicture("energy", books.plot().svg(symbols=True), "What each element took and each source gave")
    yield Folded("By element", (table, bars))


def motion_section(subject: Subject) -> Iterator[PageBlock]:
    """The run in motion: the bodies of a mechanism, or powers on a bond graph."""
    assert subject.model is not None
    small = len(subject.model.elements) <= MOST_DRAWN
    if not subject.has_run or not small or len(subject.run.t) < MIN_ROWS:
        return
    # Bodies that move say more than arrows that swell.
    has_bodies = subject.model.mechanism is not None or subject.model.geometry is not None
    view, caption = ("mechanism", "The mechanism in motion") if has_bodies else ("bond", "Power and energy over time")
    moving = animate(subject.model, view, run=subject.run, frames=FRAMES)
    drawn = moving.svg()
    if len(drawn) > LARGEST_MOTION:
        yield Paragraph(
            f"Too large for this page; 'tellegen draw {subject.word} --as {view} --animate -o motion.html' shows it."
        )
        return
    yield PagePicture("motion", drawn, caption, _stills(moving))


def _stills(moving: Animation) -> tuple[Still, ...]:
    """Moments of the motion, evenly spaced from the first to the last: paper does not move."""
    last = len(moving.times) - 1
    chosen = sorted({round(k * last / (STILLS - 1)) for k in range(STILLS)})
    return tuple(Still(moving.figure(k).svg(symbols=True), f"t = {moving.times[k]:.3g} s") for k in chosen)


ProgressListener = Callable[[str], None]
Maker = Callable[[Subject], Iterable[PageBlock]]

MAKERS: dict[str, Maker] = {
    "Figures": figures_section,
    "Experiment": experiment_section,
    "Motion": motion_section,
    "Equations": equations_section,
    "Parameters": parameters_section,
    "Properties": properties_section,
    "Energy": energy_section,
    "Reductions": reductions_section,
}
"""The sections of a model, in order: what it is, what it does, and why."""
ALWAYS = ("Figures", "Parameters")
"""What a model with errors has too: its bond graph shows where causality contradicts itself."""


def build_report(subject: Subject, progress: ProgressListener = lambda _: None) -> Report:
    """All sections of a report; `progress` hears the title of each before it is made."""
    sections = list(_sections(subject, progress))
    about = subject.model.about if subject.model is not None else ""
    return Report(
        subject.name, about, tuple(sections), element_links(subject.model) if subject.model is not None else {}
    )


def element_links(model: Model) -> dict[str, tuple[str, ...]]:
    """The elements that each name of a model belongs to: elements themselves, their variables, and parameters in their laws."""
    found: dict[str, dict[str, None]] = {}

    def add(element: str, names: Iterable[str]) -> None:
        for name in names:
            found.setdefault(name, {})[element] = None

    for element in model.elements:
        add(element.name, (element.name, *element.variables.values()))
        add(element.name, sorted(element.value.free_symbols) if element.value is not None else ())
    try:
        graph = lower(model)
    except TellegenError:
        graph = None  # a model with mistakes has elements all the same
    for port in graph.ports if graph is not None else ():
        add(port.element, (name for name in (port.across, port.through, port.state) if name))
    return {name: tuple(elements) for name, elements in found.items()}


def _sections(subject: Subject, progress: ProgressListener) -> Iterator[PageSection]:
    yield from _section("Findings", findings_section, subject, progress)
    for title, maker in MAKERS.items():
        if subject.is_sound or (subject.model is not None and title in ALWAYS):
            yield from _section(title, maker, subject, progress)
    yield from _section("Notices", notices_section, subject, progress)
    yield from _section("The model", listing_section, subject, progress)
    yield from _section("How to make this page again", commands_section, subject, progress)


def _section(title: str, maker: Maker, subject: Subject, progress: ProgressListener) -> Iterator[PageSection]:
    progress(title)
    blocks: list[PageBlock] = []
    try:
        # A section that fails half way keeps what it has shown so far, and says why it ends.
        blocks.extend(maker(subject))
    except TellegenError as error:
        blocks.append(Paragraph(str(error), strong=True, error=True))
    if blocks:
        yield PageSection(title, tuple(blocks))


def report(
    model: "AnyModel | Study",
    output: str | os.PathLike[str],
    *,
    limits: Sequence[Limits] = (),
    live: bool = False,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """One page that shows a model whole: figures, equations with their derivation, properties, its experiment, energy books.

    A study, or the folder of one, gets a page of its own: how it was made, results, their spread, what hangs together, what failed.

    `output` ends in .html (everything in one file), .md (pictures beside it) or .pdf. A model with mistakes gets a report that
    shows them. Each of `limits` (as `reduce` takes them) leads on from the models before it; the page shows these smaller models
    and what they lose. With `live` the experiment has sliders and runs in the reader's browser (see `page`). `progress` hears the
    title of each section before it is made. Ctrl-C while the experiment runs ends the experiment; the page shows what is finished.
    A file that is there already is replaced only if `force` is on.

    Raises: DescriptionError when there is no such model, ExportError when the file cannot be written (X301, X302, X303) or is
    there already (X304), ReductionError for a limit that cannot be read.
    """
    target = Path(output)
    check_report_target(target, force=force)
    if (page := _study_page(model)) is not None:
        write_report(page, target)
        return page
    # Limits are read before any section is made: a typing error should not cost a run.
    asked = replace(
        _subject(cast("AnyModel", model)), limits=tuple(map(read_limits, limits)), sliders=() if live else None
    )
    with written_with(asked.model.symbols if asked.model is not None else NO_SYMBOLS):
        made = build_report(asked, progress)
    write_report(made, target)
    return made


def _study_page(model: "AnyModel | Study") -> Report | None:
    """The page of a study, or of the folder of one; None for a model."""
    if isinstance(model, Model) or (isinstance(model, str | Path) and not Path(model).is_dir()):
        return None
    from tellegen.reporting.study_reports import study_report  # noqa: PLC0415
    from tellegen.studies.runs.study import Study  # noqa: PLC0415
    from tellegen.studies.runs.sweep import read_study  # noqa: PLC0415

    study = read_study(Path(model)) if isinstance(model, str | Path) else model
    if not isinstance(study, Study):
        return None
    with written_with(study.runs.model.symbols):
        return study_report(study)


PAGE_SECTIONS = ("Experiment", "Figures", "Equations")
"""What a page that lives without a server shows: what can be moved, and what it is about."""


def live_page(asked: Subject, live: LiveRun, progress: ProgressListener = lambda _: None) -> Report:
    """The sections of a page in which a model runs."""
    assert asked.model is not None
    sections = []
    with written_with(asked.model.symbols):
        for title in PAGE_SECTIONS:
            progress(title)
            blocks = tuple(MAKERS[title](asked))
            sections.append(PageSection(title, (live, *blocks) if title == "Experiment" else blocks))
        sections += _section("The model", listing_section, asked, progress)
    return Report(asked.name, asked.model.about, tuple(sections), element_links(asked.model))


def page(
    model: AnyModel,
    output: str | os.PathLike[str],
    *,
    sliders: Sequence[str] = (),
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """One HTML file in which the model runs: sliders, curves, figures and equations, without a server or a network.

    `sliders` are names of parameters and of inputs that are constant in the experiment, each alone or with its ends in the unit of
    the file ("R_a=0.1:2"); without any, everything that can be moved has one. States are kept within the tolerance that the page
    tells. A file that is there already is replaced only if `force` is on.

    Raises: DescriptionError when there is no such model, ExportError when the file cannot be written (X301, X302) or is there
    already (X304), for what a page cannot run (X402, X408, X409, X411), for a slider that cannot be (X305).
    """
    target = Path(output)
    check_report_target(target, force=force, suffixes=(".html",))
    asked = sound_subject(model)
    assert asked.model is not None
    made = live_page(asked, _live(asked.model, sliders), progress)
    write_report(made, target)
    return made


def sound_subject(model: AnyModel) -> Subject:
    """What a page that runs is about. One whose experiment does not run has nothing to show.

    Raises: TellegenError with what is wrong with the model, or why its experiment cannot be run.
    """
    asked = _subject(model)
    if asked.model is None or not asked.is_sound:
        raise TellegenError(finding for finding in asked.findings if finding.severity == "error")
    assert asked.run is not None
    return asked


def _subject(model: AnyModel) -> Subject:
    # Where a file lies on one machine says nothing on another.
    word = Path(str(model)).name if isinstance(model, str | os.PathLike) else "MODEL"
    try:
        read_one = as_model(model)
    except TellegenError as error:
        if not os.path.isfile(str(model)):
            raise  # a mistyped name is no model with mistakes
        return Subject(word, error.findings, _source_text(model), word)
    found = check(read_one)
    summary = tuple((title, text) for title, text in found.rows().items() if text)
    return Subject(read_one.name, found.findings, _source_text(model, read_one), word, read_one, summary)


def _source_text(model: AnyModel, read_one: Model | None = None) -> str:
    """The file of a model as it is, else the model written as one."""
    named = str(model) if isinstance(model, str | os.PathLike) else ""
    for file in (Path(named), example_file(named)):
        if os.path.isfile(file):
            return file.read_text(encoding="utf-8", errors="replace")
    return to_yaml(read_one) if read_one is not None else ""
