"""`condition_model`: one model with dependent storages, six ways."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, final, get_args

from tellegen.conditioning import rules
from tellegen.conditioning.balance import Balance
from tellegen.conditioning.constrained import Constrained, Constraint, constrained
from tellegen.conditioning.coordinates import coordinates_of
from tellegen.conditioning.explaining import explained_form
from tellegen.conditioning.fields import FieldModel, momentum_field, speed_field, with_gyrators
from tellegen.conditioning.force_starts import Carried, ForceStarts, nothing_known
from tellegen.conditioning.hamilton import hamilton_of
from tellegen.conditioning.joined_laws import joined_field
from tellegen.conditioning.lagrange import lagrange_of
from tellegen.conditioning.merging import Merged, merge_dependent
from tellegen.conditioning.opening import Opened, has_sinks
from tellegen.conditioning.parasitic import parasitic_model
from tellegen.conditioning.placing import in_every_position, open_constraints
from tellegen.conditioning.reactions import with_forces
from tellegen.conditioning.residual import residual_model, sensed_model, sink_picture, taken_model
from tellegen.conditioning.sizing import SUGGESTED, Accuracy, Stiffness, sized_by_duration
from tellegen.conditioning.starting import NOTHING, Starts, dependent_starts, started
from tellegen.core.names import did_you_mean, identifier
from tellegen.description.model import Model
from tellegen.equations.steps import Derivation
from tellegen.expressions import ZERO

FormName = Literal["derivative", "residual", "parasitic", "field", "lagrange", "hamilton"]
FORMS: Final[tuple[FormName, ...]] = get_args(FormName)

DRIFT: Final = 10.0
"""The rate at which errors of constraints decay in the residual form, in 1/s."""

WITH_SOURCES: Final[tuple[FormName, ...]] = ("derivative", "parasitic")
"""Forms that need no formula for the rate of an input: storages that follow a source stay as they are in the others."""

SOLVERS: Final[Mapping[str, str]] = {"derivative": "ida", "parasitic": "cvode"}
"""Implicit equations are for a DAE solver, stiff ones for a stiff solver; the choice is free for the others."""


@final
@dataclass(frozen=True)
class Conditioned:
    """A model in one of the forms: a model like any other, with where its states start and which solver suits it.

    `picture` is what is drawn: in the residual form it has residual sinks where `model` has driven sources. `constraints` tell what
    was opened or merged, `stiffnesses` those of parasitic elements by the name of the force, `accuracy` the error for which they
    were sized and what was measured; None where their sizes were given. `by_duration` are the forces of those that have a size
    without either.
    """

    form: FormName
    base: Model
    model: Model
    picture: Model
    solver: str
    constraints: tuple[Constraint, ...]
    found: Constrained = field(repr=False, compare=False)
    opened: Opened = field(repr=False, compare=False)
    starts: Starts = field(default_factory=Starts, repr=False)
    stiffnesses: Mapping[str, float] = field(default_factory=dict)
    accuracy: Accuracy | None = None
    by_duration: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.base.name

    @property
    def forces(self) -> tuple[str, ...]:
        """The names of the forces of the constraints, which a run of any form has as variables."""
        return tuple(constraint.force for constraint in self.constraints)

    @property
    def note(self) -> str:
        """How its parasitic elements were sized, where that was not told."""
        if self.accuracy is not None:
            return self.accuracy.sentence
        return sized_by_duration(self.by_duration) if self.by_duration else ""

    def explained(self) -> Derivation:
        """The equations of the form, with its constraints: a value with text, LaTeX and JSON."""
        said = (self.note,) if self.note else ()
        return explained_form(self.form, self.found, self.opened, self.model, said)

    def to_text(self) -> str:
        """The equations as text for a terminal."""
        title, _, rest = self.explained().to_text().partition("\n")
        return f"{title.removesuffix(', step by step')}\n{rest}"

    def to_latex(self) -> str:
        """The equations as LaTeX paragraphs. Needs amsmath."""
        return self.explained().to_latex()

    def to_json(self) -> dict[str, object]:
        """The form, its constraints and its equations: names, formulas in Python syntax, no prose but titles."""
        record: dict[str, object] = {"form": self.form, "solver": self.solver}
        record["constraints"] = [constraint.to_json() for constraint in self.constraints]
        if self.stiffnesses:
            record["stiffnesses"] = {identifier(name): value for name, value in self.stiffnesses.items()}
        if self.accuracy is not None:
            record["accuracy"] = self.accuracy.to_json()
        if self.by_duration:
            record["by_duration"] = [identifier(name) for name in self.by_duration]
        if self.form == "lagrange":
            record["lagrange"] = lagrange_of(self.found).to_json()
        elif self.form == "hamilton":
            record["hamilton"] = hamilton_of(self.found).to_json()
        return record | {"equations": self.explained().to_json()}

    def __str__(self) -> str:
        return self.to_text()

    def begun(
        self,
        initial: Mapping[str, float],
        parameters: Mapping[str, float],
        inputs: Mapping[str, float] = NOTHING,
        carried: Carried = nothing_known,
    ) -> Model:
        """The model with other initial values, by the names of the model as it was, for other parameters and inputs.

        `carried` is asked for the forces of the rigid model where no formula gives those with which springs begin.
        """
        return started(self.model, self.found, self.starts, initial, parameters, inputs, carried)

    def rigid(self) -> "Conditioned":
        """The derivative form of the same model, with the same constraints."""
        made = _derivative(self.found, self.opened, AS_USUAL)
        return replace(
            self,
            form="derivative",
            model=started(made.model, self.found, made.starts),
            picture=made.model,
            solver=SOLVERS["derivative"],
            starts=made.starts,
            stiffnesses={},
            accuracy=None,
            by_duration=(),
        )


@final
@dataclass(frozen=True)
class Options:
    """What may be chosen: coordinates, stiffnesses of parasitic elements, the decay of drift, and whether S is left out."""

    coordinates: Sequence[str] = ()
    stiffness: Stiffness = SUGGESTED
    drift: float = DRIFT
    canonical: bool = False


AS_USUAL: Final = Options()
"""Nothing chosen."""


@final
@dataclass(frozen=True)
class _Made:
    model: Model
    starts: Starts
    picture: Model | None = None
    stiffnesses: Mapping[str, float] = field(default_factory=dict)
    by_duration: tuple[str, ...] = ()


def condition_model(model: Model, form: str, options: Options = AS_USUAL) -> Conditioned:
    """The model in a form that a solver, an engineer or a control theorist can use.

    derivative: implicit equations, solved as a DAE. residual: forces of constraints solved for, all storages with states.
    parasitic: stiff springs and dampers. field: an IC-field with momenta. lagrange: speeds, a mass matrix. hamilton: momenta, the
    slopes of the energy and, for constraints that are not holonomic, a gyroscopic block.

    Raises: ConditioningError for a form that does not exist (C101) or that the model does not have.
    """
    if form not in FORMS:
        raise rules.NO_SUCH_FORM.error(f"'{form}' is no form of a model", fix=did_you_mean(form, FORMS) or "")
    found = in_every_position(constrained(model, options.coordinates))
    whole = replace(found, sources=True) if found.behind_sources else found
    word: FormName = next(known for known in FORMS if known == form)
    if word in WITH_SOURCES:
        found = whole
    found.refuse_none(form)
    opened = open_constraints(whole).holding(
        {c.storage for c in whole.constraints} - {c.storage for c in found.constraints}
    )
    made = _MAKERS[word](found, opened, options)
    return Conditioned(
        form=word,
        base=model,
        model=started(made.model, found, made.starts),
        picture=made.picture or made.model,
        solver=SOLVERS.get(word, "auto"),
        constraints=whole.constraints,
        found=found,
        opened=opened,
        starts=made.starts,
        stiffnesses=made.stiffnesses,
        by_duration=made.by_duration,
    )


def _derivative(found: Constrained, opened: Opened, options: Options) -> _Made:
    """Sensors of the forces where the constraints are; what the storages take where a domain has none."""
    return _Made(sensed_model(opened) if has_sinks(opened) else taken_model(found), Starts())


def _residual(found: Constrained, opened: Opened, options: Options) -> _Made:
    model, starts = residual_model(found, opened, options.drift)
    return _Made(model, starts, sink_picture(opened) if has_sinks(opened) else None)


def _parasitic(found: Constrained, opened: Opened, options: Options) -> _Made:
    balance = Balance(found, opened)
    made = parasitic_model(found, balance, options.stiffness)
    starts = replace(dependent_starts(found, balance), forces=ForceStarts(balance, made.states))
    return _Made(made.model, starts, None, made.stiffnesses, made.by_duration)


def _field(found: Constrained, opened: Opened, options: Options) -> _Made:
    merged = merge_dependent(found)
    made = momentum_field(merged, merged.c_part()) if merged.linear else joined_field(merged)
    return _with_forces(made, merged, opened)


def _lagrange(found: Constrained, opened: Opened, options: Options) -> _Made:
    coordinates_of(found)  # refuses models without the form
    merged = merge_dependent(found)
    return _with_forces(speed_field(merged, merged.c_part()), merged, opened)


def _hamilton(found: Constrained, opened: Opened, options: Options) -> _Made:
    merged = merge_dependent(found)
    made = momentum_field(merged, merged.energy_slopes())
    S = merged.gyroscopic()
    if any(e is not ZERO for row in S for e in row) and not options.canonical:
        made = FieldModel(with_gyrators(made.model, merged, S), made.starts)
    return _with_forces(made, merged, opened)


def _with_forces(made: FieldModel, merged: Merged, opened: Opened) -> _Made:
    return _Made(with_forces(made.model, merged.found, opened, merged), made.starts)


_MAKERS: Final[Mapping[FormName, Callable[[Constrained, Opened, Options], _Made]]] = {
    "derivative": _derivative,
    "residual": _residual,
    "parasitic": _parasitic,
    "field": _field,
    "lagrange": _lagrange,
    "hamilton": _hamilton,
}
