"""The report of a study: how it was made, what came out, how values are spread and hang together, and what failed."""

from collections.abc import Iterator

import numpy as np

from tellegen.notations.writing import to_yaml
from tellegen.reporting.pages import Folded, Listing, PageBlock, PagePicture, PageSection, PageTable, Paragraph, Report
from tellegen.results.units import behind_number
from tellegen.studies.runs.study import Study

MOST_TOLD = 40
"""Runs that failed are listed up to so many."""


def study_report(study: Study) -> Report:
    """The page of a study."""
    sections = {
        "What was done": _made(study),
        "Results": _results(study),
        "Spread": _spread(study),
        "What hangs together": _together(study),
        "Runs that failed": _failed(study),
        "Model": _model(study),
    }
    told = {title: tuple(blocks) for title, blocks in sections.items()}
    about = f"{study.finished} of {len(study.cases)} runs"
    return Report(study.name, about, tuple(PageSection(title, blocks) for title, blocks in told.items() if blocks))


def _made(study: Study) -> Iterator[PageBlock]:
    for finding in study.findings:
        yield Paragraph(str(finding), strong=True)
    yield PageTable((), tuple(study.facts()))
    rows = []
    for name, values in study.varied.items():
        low, high = f"{np.min(values):.5g}", f"{np.max(values):.5g}"
        rows.append((name, behind_number(study.unit(name)), low, high, str(len(np.unique(values)))))
    yield PageTable(("varied", "", "least", "largest", "different values"), tuple(rows))


def _results(study: Study) -> Iterator[PageBlock]:
    found = study.summary().of
    if not found:
        return
    head = ("kept", "", "mean", "deviation", "least", "5 %", "median", "95 %", "largest", "runs of the extremes")
    rows = []
    for name, s in found.items():
        numbers = (s.mean, s.sd, s.min, s.quantiles[0.05], s.quantiles[0.5], s.quantiles[0.95], s.max)
        told = tuple(f"{value:.5g}" for value in numbers)
        rows.append((name, behind_number(s.unit), *told, f"{s.lowest}, {s.highest}"))
    yield PageTable(head, tuple(rows))


def _spread(study: Study) -> Iterator[PageBlock]:
    if study.finished:
        numbers = [kept.text for kept in study.runs.numbers]
        rows = [kept.text for kept in study.runs.rows]
        if numbers:
            yield PagePicture("spread", study.plot(*numbers).svg(symbols=True), "How many runs have which values")
        if rows:
            caption = "Median and bands over time: half and nine tenths of the runs"
            yield PagePicture("fan", study.plot(*rows).svg(symbols=True), caption)


def _together(study: Study) -> Iterator[PageBlock]:
    if study.finished > 1 and study.runs.numbers:
        yield PagePicture("scatter", study.scatter().svg(symbols=True), "Names over each other, a dot for a run")


def _failed(study: Study) -> Iterator[PageBlock]:
    if not study.failed:
        return
    rows = []
    for one in study.failed[:MOST_TOLD]:
        values = ", ".join(f"{name} = {value:.5g}" for name, value in one.values.items())
        found = "" if one.finding is None else f"{one.finding.code}: {one.finding.what}"
        rows.append((str(one.run), values, one.status, f"{one.t:.4g}", found))
    if len(study.failed) > MOST_TOLD:
        yield Paragraph(f"The first {MOST_TOLD} of {len(study.failed)}:")
    yield PageTable(("run", "values", "ended", "t [s]", "found"), tuple(rows))


def _model(study: Study) -> Iterator[PageBlock]:
    yield Folded("The model as a file", (Listing(to_yaml(study.runs.model), "yaml"),))
