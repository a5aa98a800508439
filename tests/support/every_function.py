"""All that can be asked about a model, as calls of public functions: what cannot be done is a `TellegenError`, never another."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import tellegen as tg
from tellegen.conditioning.forms import FORMS as CONDITIONS
from tellegen.core.errors import TellegenError
from tellegen.drawing.figures import NOTATIONS as FIGURES
from tellegen.exporting.exports import TARGETS
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.schemes.translation import NOTATIONS
from tellegen.workflow.deriving import FORMS

FEW = 40
"""Rows of a run: what is asked is whether there is an answer."""

COMPILED = ("fmu", "ssp")
"""Exports that take a compiler's time."""


class Question(NamedTuple):
    """A call and how it reads."""

    words: str
    ask: Callable[[], object]


def questions(model: Model, folder: Path, *, runs: bool = True, most: int = 3) -> Iterator[Question]:
    """The calls, those that name an element or a parameter for the first `most` of them; files go to the folder."""
    yield Question("check", lambda: tg.check(model).to_json())
    yield from _equations(model)
    yield from _texts(model, folder)
    yield from _figures(model)
    parameters = [name for name, p in model.parameters.items() if p.expression is not None]
    yield from _other_models(model, parameters[:most], [e.name for e in model.elements][:most])
    yield from _points(model)
    if runs:
        yield from _runs(model, folder, parameters[:2])


def _equations(model: Model) -> Iterator[Question]:
    for form in FORMS:
        for numeric in (False, True):
            yield Question(f"derive {form} {numeric=}", partial(_derived, model, form=form, numeric=numeric))
    yield Question("derive eliminated", partial(_derived, model, numeric=True, eliminate=True))
    yield Question("derive steps", partial(_derived, model, steps=True))
    yield Question("derive closed", partial(_derived, model, closed=True))
    modes = {e.name: e.kind.modes[0] for e in model.elements if e.kind.modes}
    if modes:
        yield Question("derive in a mode", partial(_derived, model, mode=modes))


def _derived(model: Model, **options: Any) -> None:
    found = tg.derive(model, **options)
    for word in ("to_text", "to_latex", "to_json"):
        getattr(found, word)()


def _texts(model: Model, folder: Path) -> Iterator[Question]:
    yield Question("to_yaml", lambda: tg.to_yaml(model))
    for notation in NOTATIONS:
        yield Question(f"translate {notation}", partial(tg.translate, model, notation))
    yield from _exports(model, folder, [target for target in TARGETS if target not in COMPILED])
    for library in ("numpy", "jax", "casadi"):
        yield Question(f"functions {library}", partial(tg.functions, model, library))


def _exports(model: Model, folder: Path, targets: Iterable[str]) -> Iterator[Question]:
    for target in targets:
        yield Question(f"export {target}", partial(tg.export_model, model, target, folder / target, overwrite=True))


def _figures(model: Model) -> Iterator[Question]:
    for figure in FIGURES:
        yield Question(f"draw {figure}", partial(_drawn, model, figure))
    yield Question("draw vectorial", lambda: tg.draw(model, "pog", vectorial=True).svg())


def _other_models(model: Model, parameters: list[str], elements: list[str]) -> Iterator[Question]:
    for name in parameters:
        for value in (0.0, math.inf):
            yield Question(f"reduce {name}={value}", partial(_reduced, model, {name: value}))
    for name in elements:
        yield Question(f"stiffen {name}", partial(_stiffened, model, name))
    for form in CONDITIONS:
        yield Question(f"condition {form}", partial(_conditioned, model, form))
    yield Question("project", lambda: tg.project(model, 1))
    yield Question("project by moments", lambda: tg.project(model, 1, method="moments"))
    known = [*model.displacements, *(v for e in model.elements for v in e.variables.values())][:2]
    for name in known:
        yield Question(f"invert {name}", partial(_inverted, model, name))


def _inverted(model: Model, name: str) -> str:
    return str(tg.invert(model, prescribe=[name]))


def _points(model: Model) -> Iterator[Question]:
    yield Question("analyse", lambda: str(tg.analyse(model)))
    yield Question("poles", lambda: _poles(model))
    yield Question("linearise", lambda: tg.linearise(model))
    yield Question("equilibrium", lambda: str(tg.equilibrium(model)))


def _poles(model: Model) -> object:
    from tellegen.analysis.poles import poles_near

    return poles_near(tg.derive(model, form="dae", numeric=True), near=0.0, count=3)


def _runs(model: Model, folder: Path, parameters: list[str]) -> Iterator[Question]:
    until = 0.01 if model.experiment.until is None else None

    @cache
    def run() -> tg.Run:
        return tg.simulate(model, until, samples=FEW, progress=False)

    yield Question("simulate", run)
    yield Question("its text, plot and energy", lambda: (str(run()), run().plot().svg(), run().energy.plot().svg()))
    yield Question("its files", lambda: [run().save(folder / f"run{end}") for end in (".csv", ".nc", ".mat")])
    yield Question("its power in a figure", lambda: tg.draw(run(), "bond", at=run().trajectory.t[-1]).svg())
    yield Question("activity", lambda: str(tg.activity(run())))
    yield Question("simulate from rest", lambda: tg.simulate(model, until, samples=FEW, start="steady", progress=False))
    yield Question("sensitivities", lambda: tg.sensitivities(model, parameters, until, times=[0.0, until or 1e-3]))
    yield Question("report", lambda: tg.report(model, folder / "report.html", force=True))
    yield from _exports(model, folder, COMPILED)
    yield Question("page", lambda: tg.page(model, folder / "page.html", force=True))
    yield Question("widget", lambda: tg.widget(model))
    yield Question("suggest limits", lambda: str(tg.suggest_limits(model, until=until)))
    yield Question("compare conditioning", lambda: tg.compare_conditioning(model, until=until, samples=FEW).to_json())
    yield Question("animate", lambda: tg.animate(run(), frames=2).svg())
    for name in parameters:
        yield Question(f"loss of {name}", partial(_lost, model, {name: 0.0}, until))
    if parameters:
        yield from _studies(model, folder, parameters[0], until, run)


def _studies(
    model: Model, folder: Path, name: str, until: float | None, run: Callable[[], tg.Run]
) -> Iterator[Question]:
    """Few runs of each kind, about the value that the parameter has."""

    def value() -> float:
        return float(run().parameters.get(name, 1.0))  # one that is a curve has none

    def seen() -> list[str]:
        return [*run().state_names, *run().output_names, *run().names][:1]

    def bounds() -> tuple[float, float]:
        low, high = sorted((0.5 * value(), 1.5 * value()))
        return low, high

    def swept(**options: Any) -> object:
        study = tg.sweep(model, {name: [value(), 1.1 * value()]}, until, progress=False, **options)
        return str(study), study.table

    yield Question(f"study of {name}", lambda: str(tg.reduction_study(model, {name: 0.0}, until=until)))
    yield Question("sweep", swept)
    yield Question("sweep with rows", lambda: swept(samples=5, check="all"))
    yield Question("sweep into a store", lambda: swept(into=folder / "store", force=True))
    yield Question("response", lambda: str(tg.response(model, [name], seen(), until)))
    yield Question("influence", lambda: str(tg.influence(model, {name: tg.uniform(*bounds())}, seen(), until, draws=4)))
    yield Question(
        "local influence",
        lambda: str(tg.influence(model, {name: tg.uniform(*bounds())}, seen(), until, method="local")),
    )
    yield Question("fit", lambda: str(tg.fit(model, run().save(folder / "data.csv"), [name])))
    yield Question("optimise", lambda: str(tg.optimise(model, {name: bounds()}, seen()[0], starts=1, until=until)))


def _drawn(model: Model, figure: str) -> str:
    return tg.draw(model, figure).svg()


def _reduced(model: Model, limits: dict[str, float]) -> object:
    """What is written is read again, too."""
    found = tg.reduce(model, limits)
    read_model(tg.to_yaml(found.model))
    return found.to_json("-")


def _stiffened(model: Model, name: str) -> object:
    return read_model(tg.to_yaml(tg.stiffen(model, name).model))


def _conditioned(model: Model, form: str) -> object:
    found = tg.condition(model, form)
    return found.to_text(), found.to_json()


def _lost(model: Model, limits: dict[str, float], until: float | None) -> str:
    return str(tg.trajectory_loss(model, limits, until=until))


def answered(question: Question) -> str:
    """The code of the refusal, empty for an answer; any other exception goes on."""
    try:
        question.ask()
    except TellegenError as refused:
        return refused.code
    return ""
