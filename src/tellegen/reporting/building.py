"""A report of a model, section by section. A section that cannot be made says why, and the others follow."""

from collections.abc import Callable, Iterable, Iterator

from tellegen.core.errors import TellegenError
from tellegen.reporting.equation_sections import equations, properties
from tellegen.reporting.model_sections import findings, how, listing, parameters, schematics
from tellegen.reporting.pages import Block, Report, Section, Words
from tellegen.reporting.reduction_sections import reductions
from tellegen.reporting.run_sections import energy, experiment, motion
from tellegen.reporting.subject import Subject

Progress = Callable[[str], None]
Maker = Callable[[Subject], Iterable[Block]]

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
"""The sections of a model, in order."""
ALWAYS = ("Figures", "Parameters")
"""What a model with errors has too: its bond graph shows where causality contradicts itself."""


def build_report(subject: Subject, progress: Progress = lambda _: None) -> Report:
    """All sections of a report; `progress` hears the title of each before it is made."""
    sections = list(_sections(subject, progress))
    about = subject.model.about if subject.model is not None else ""
    return Report(subject.name, about, tuple(sections))


def _sections(subject: Subject, progress: Progress) -> Iterator[Section]:
    yield from _section("Findings", findings, subject, progress)
    for title, maker in MAKERS.items():
        if subject.is_sound or (subject.model is not None and title in ALWAYS):
            yield from _section(title, maker, subject, progress)
    yield from _section("The model", listing, subject, progress)
    yield from _section("How to make this page again", how, subject, progress)


def _section(title: str, maker: Maker, subject: Subject, progress: Progress) -> Iterator[Section]:
    progress(title)
    blocks: list[Block] = []
    try:
        blocks.extend(maker(subject))
    except TellegenError as error:
        blocks.append(Words(str(error), strong=True, error=True))
    if blocks:
        yield Section(title, tuple(blocks))
