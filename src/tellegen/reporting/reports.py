"""A report of any model in one call, section by section; a section that cannot be made says why, and the others follow."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tellegen.core.errors import TellegenError
from tellegen.equations.checking import Check, check
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.parts.library import SYSTEMS
from tellegen.notations.writing import to_yaml
from tellegen.reduction import Limits, read_limits
from tellegen.reporting.pages import PageBlock, PageSection, Paragraph, Report
from tellegen.reporting.sections import (
    Subject,
    commands_section,
    energy_section,
    equations_section,
    experiment_section,
    figures_section,
    findings_section,
    listing_section,
    motion_section,
    parameters_section,
    properties_section,
    reductions_section,
)
from tellegen.reporting.writing import check_report_target, write_report

ProgressListener = Callable[[str], None]
Maker = Callable[[Subject], Iterable[PageBlock]]

MAKERS: dict[str, Maker] = {
    "Figures": figures_section,
    "Parameters": parameters_section,
    "Equations": equations_section,
    "Properties": properties_section,
    "Reductions": reductions_section,
    "Experiment": experiment_section,
    "Energy": energy_section,
    "Motion": motion_section,
}
"""The sections of a model, in order."""
ALWAYS = ("Figures", "Parameters")
"""What a model with errors has too: its bond graph shows where causality contradicts itself."""


def build_report(subject: Subject, progress: ProgressListener = lambda _: None) -> Report:
    """All sections of a report; `progress` hears the title of each before it is made."""
    sections = list(_sections(subject, progress))
    about = subject.model.about if subject.model is not None else ""
    return Report(subject.name, about, tuple(sections))


def _sections(subject: Subject, progress: ProgressListener) -> Iterator[PageSection]:
    yield from _section("Findings", findings_section, subject, progress)
    for title, maker in MAKERS.items():
        if subject.is_sound or (subject.model is not None and title in ALWAYS):
            yield from _section(title, maker, subject, progress)
    yield from _section("The model", listing_section, subject, progress)
    yield from _section("How to make this page again", commands_section, subject, progress)


def _section(title: str, maker: Maker, subject: Subject, progress: ProgressListener) -> Iterator[PageSection]:
    progress(title)
    blocks: list[PageBlock] = []
    try:
        blocks.extend(maker(subject))
    except TellegenError as error:
        blocks.append(Paragraph(str(error), strong=True, error=True))
    if blocks:
        yield PageSection(title, tuple(blocks))


def report(
    model: AnyModel,
    output: str | os.PathLike[str],
    *,
    limits: Sequence[Limits] = (),
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """One page that shows a model whole: figures, equations with their derivation, properties, its experiment, energy books.

    `output` ends in .html (everything in one file), .md (pictures beside it) or .pdf. A model with mistakes gets a report that
    shows them. Each of `limits` (as `reduce` takes them) leads on from the models before it; the page shows these smaller models
    and what they lose. `progress` hears the title of each section before it is made. Ctrl-C while the experiment runs ends the
    experiment; the page shows what is finished. A file that is there already is replaced only if `force` is on.

    Raises: DescriptionError when there is no such model, ExportError when the file cannot be written (X301, X302, X303) or is
    there already (X304), ReductionError for a limit that cannot be read.
    """
    target = Path(output)
    check_report_target(target, force=force)
    asked = replace(_subject(model), limits=tuple(read_limits(group) for group in limits))
    made = build_report(asked, progress)
    write_report(made, target)
    return made


def _subject(model: AnyModel) -> Subject:
    # Where a file lies on one machine says nothing on another.
    word = Path(str(model)).name if isinstance(model, str | os.PathLike) else "MODEL"
    try:
        read_one = as_model(model)
    except TellegenError as error:
        if not Path(str(model)).is_file():
            raise  # a mistyped name is no model with mistakes
        return Subject(word, error.findings, _source_text(model), word)
    found = check(read_one)
    return Subject(read_one.name, found.findings, _source_text(model, read_one), word, read_one, _summary(found))


def _source_text(model: AnyModel, read_one: Model | None = None) -> str:
    """The file of a model as it is, else the model written as one."""
    named = str(model) if isinstance(model, str | os.PathLike) else ""
    for file in (Path(named), SYSTEMS / f"{named}.yaml"):
        if file.is_file():
            return file.read_text(encoding="utf-8", errors="replace")
    return to_yaml(read_one) if read_one is not None else ""


def _summary(found: Check) -> tuple[tuple[str, str], ...]:
    return tuple((title, text) for title, text in found.rows().items() if text)
