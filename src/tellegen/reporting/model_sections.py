"""The sections of a report that need no equations: what was found, the figures, the parameters, the text."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.units import describe
from tellegen.description.model import Parameter
from tellegen.drawing import draw
from tellegen.equations.system import parameter_values
from tellegen.expressions import Expression
from tellegen.reporting.pages import Block, Folded, Listing, Picture, Table, Words
from tellegen.reporting.subject import Subject

MOST_NOTICES = 6
"""More notices than this are folded away: they are worth knowing, but not worth a page each time."""
MOST_DRAWN = 150
"""Models with more elements are not drawn in a report: a page has an end."""
MOST_ROWS = 60
"""A longer table of parameters is folded away."""
LONGEST_TEXT = 200_000
"""The letters of a model's text on a page; what is longer is cut."""


def findings(subject: Subject) -> Iterator[Block]:
    """Errors, warnings and notices, and what causality says."""
    for finding in subject.findings:
        if finding.severity != "notice":
            yield Words(str(_by_name(finding)), strong=True, error=finding.severity == "error")
    yield from _notices([_by_name(finding) for finding in subject.findings if finding.severity == "notice"])
    if not subject.findings:
        yield Words("No errors, no warnings.")
    if subject.summary:
        yield Table(("", ""), subject.summary)


def _notices(notices: list[Finding]) -> Iterator[Block]:
    """Notices; many are folded away, those with one reason together."""
    if len(notices) <= MOST_NOTICES:
        yield from (Words(str(notice)) for notice in notices)
        return
    for code, why in dict.fromkeys((notice.code, notice.why) for notice in notices):
        alike = [notice for notice in notices if (notice.code, notice.why) == (code, why)]
        rows = tuple((notice.what, str(notice.place or notice.where)) for notice in alike)
        title = f"{len(alike)} notices {code}" if len(alike) > 1 else f"A notice {code}"
        yield Folded(title, (Words(f"Because {why}."), Table(("what", "where"), rows)))


def _by_name(finding: Finding) -> Finding:
    """The finding with the name of its file: where the file lies on one machine says nothing on another."""
    if finding.place is None:
        return finding
    return replace(finding, place=finding.place._replace(file=Path(finding.place.file).name))


def schematics(subject: Subject) -> Iterator[Block]:
    """The model as a network, a bond graph and a POG."""
    assert subject.model is not None
    if len(subject.model.elements) > MOST_DRAWN:
        yield Words(
            f"The model has {len(subject.model.elements)} elements: too many for a picture on this page; "
            f"'tellegen draw {subject.word} --as bond -o bond.svg' draws it."
        )
        return
    views = {"network": "physical schematic", "bond": "bond graph", "pog": "Power-Oriented Graph"}
    for view, words in views.items():
        try:
            figure = draw(subject.model, view)
        except TellegenError as error:
            yield Words(f"No {words}: {error.what}.")
        else:
            yield Picture(view, figure.svg(symbols=True), f"{subject.name}: {words}")


def parameters(subject: Subject) -> Iterator[Block]:
    """Parameters with their values and units."""
    assert subject.model is not None
    values = parameter_values({name: item.expression for name, item in subject.model.parameters.items()})
    rows = [
        (name, f"{values[name]:.6g}" if name in values else "", _unit(item), _formula(item.expression))
        for name, item in subject.model.parameters.items()
    ]
    shown = 4 if any(formula for *_, formula in rows) else 3
    head = ("parameter", "value", "unit", "formula")
    table = Table(head[:shown], tuple(row[:shown] for row in rows))
    if len(rows) > MOST_ROWS:
        yield Folded(f"{len(rows)} parameters", (table,))
    elif rows:
        yield table


def _unit(parameter: Parameter) -> str:
    return "" if parameter.dimension is None else describe(parameter.dimension)


def _formula(expression: Expression | None) -> str:
    return str(expression) if expression is not None and expression.free_symbols else ""


def listing(subject: Subject) -> Iterator[Block]:
    """The text of the model."""
    if len(subject.text) > LONGEST_TEXT:
        yield Words(f"The first {LONGEST_TEXT} of {len(subject.text)} letters:")
    if subject.text:
        yield Listing(subject.text[:LONGEST_TEXT], "yaml")


def how(subject: Subject) -> Iterator[Block]:
    """The commands that make the page, and its parts one by one, for someone who stands beside the file."""
    word = quote(subject.word)
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
