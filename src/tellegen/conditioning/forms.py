"""`condition_model`: one model with dependent storages, six ways, each with its equations in words, relations and matrices."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, final, get_args

from tellegen.causality import assign_causality
from tellegen.conditioning import fields, initial_states, residual, rules
from tellegen.conditioning.constraint_forces import ForceBalance, ForceFormulas, ForceSystem
from tellegen.conditioning.constraints import ConstrainedModel, Constraint, constrained_model
from tellegen.conditioning.equations_of_motion import coordinates_of, hamilton_of, lagrange_of, lagrange_sections
from tellegen.conditioning.opened_constraints import OpenedModel, has_sinks, open_constraints, regular_in_every_position
from tellegen.conditioning.parasitic import SUGGESTED, Accuracy, Stiffness, parasitic_model, sized_by_duration
from tellegen.core.errors import ConditioningError
from tellegen.core.names import did_you_mean, identifier
from tellegen.equations.derivation import derive_equations
from tellegen.equations.matrices import Matrix, Vector, dot
from tellegen.equations.printing.explanation import ExplanationSection, Item, NamedFormula, Sentence, ShownMatrix
from tellegen.equations.steps import Explanation
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.graph import lower
from tellegen.model.model import Model, laid_out_as

Names = Mapping[str, Expression]
Explained = tuple[tuple[ExplanationSection, ...], Names]
"""The sections on a form, and the names that they use."""


def explained_form(
    form: str, found: ConstrainedModel, opened: OpenedModel, model: Model, said: Sequence[str] = ()
) -> Explanation:
    """The equations of a form: the constraints, and what became of them; `said` is what else there is to say about it."""
    sections, where = _EXPLANATIONS[form](found, opened, model)
    system = found.system
    kept = {n: e for n, e in system.where.items() if n in found.model.parameters}
    # Parameters are explained once, before the names that the form has made.
    where = {n: e for n, e in where.items() if n not in kept}
    if said:
        *first, last = sections
        sections = (*first, replace(last, items=(*map(Sentence, said), *last.items)))
    return Explanation(
        f"{system.name}, {form} form",
        "-",
        system.states,
        system.inputs,
        (),
        found.causal.graph.parameters,
        sections=(_constraints(found.whole), *sections),
        where={**kept, **where},
        symbols=found.causal.graph.symbols,
    )


def _constraints(found: ConstrainedModel) -> ExplanationSection:
    """Which storages follow which, by which zero-order causal paths."""
    items: list[Item] = []
    for constraint in found.constraints:
        # Resistive elements on the way say nothing about what moves with what.
        moving = [name for name in constraint.follows if found.elements[name].kind.role != "resistive"]
        others = ", ".join(f"`{name}`" for name in moving or constraint.follows)
        kinds = ", ".join(constraint.kinds) or "storage-storage"
        items.append(Sentence(f"`{constraint.storage}` follows {others} (zero-order path: {kinds}):", listed=True))
        items.append(NamedFormula(constraint.output, found.written(found.system.dependent[constraint.output])))
    return ExplanationSection("Constraints between storages", tuple(items))


def _raw_set(opened: OpenedModel) -> tuple[ExplanationSection, EquationSystem]:
    """Every storage with its own equation and the forces of the constraints: of index two, and never given to a solver."""
    system = opened.system
    items: list[Item] = [Sentence("Each storage by itself, with the force of each constraint:")]
    items += _rates(system)
    items.append(Sentence("Where the constraints hold, these differences vanish:"))
    for opening in opened.openings:
        i = system.inputs.index(opening.name)
        # The output of the source of the force: the difference that the constraint holds at zero.
        by_states = dot(system.matrices["C"][i], [symbol(name) for name in system.states])
        difference = by_states + dot(system.matrices["D"][i], [symbol(name) for name in system.inputs])
        items.append(NamedFormula(f"c_{opening.constraint.output}", difference))
    return ExplanationSection("The constrained set", tuple(items)), system


def _rates(system: EquationSystem) -> Iterator[NamedFormula]:
    """The rate of each state of a system whose energy matrix is diagonal, and of each displacement.

    What acts on a speed without inertia vanishes.
    """
    m, x = system.matrices, [symbol(name) for name in system.states]
    u = [symbol(name) for name in system.inputs]
    for i, name in enumerate(system.states):
        pull = dot(m["B"][i], u) - dot(m["A"][i], x) - dot(m["N"][i], x) - system.vectors["f"][i]
        inertia = m["L"][i][i]
        # A speed without inertia has no rate of its own: what acts on it adds to zero.
        yield NamedFormula("0", pull) if inertia is ZERO else NamedFormula(f"{name}'", pull / inertia)
    for name, rate in system.displacements.items():
        yield NamedFormula(f"{name}'", rate)


def _explain_derivative(found: ConstrainedModel, opened: OpenedModel, _: Model) -> Explained:
    # The raw set is of index two: it is shown, and never handed to a solver.
    raw, _system = _raw_set(opened)
    system, m = found.system, found.system.matrices
    items: list[Item] = [
        Sentence("With what dependent storages take, $L_d (T z)'$, the independent ones obey, with index one at most:")
    ]
    items.append(Sentence("$0 = L z' + N z + f + A z - B u$"))
    items += [ShownMatrix(name, _written(found, m[name])) for name in ("L", "N", "A", "B") if not _empty(m[name])]
    return (raw, ExplanationSection("The residual that is solved", tuple(items))), dict(system.where)


def _explain_residual(found: ConstrainedModel, opened: OpenedModel, _: Model) -> Explained:
    raw, _system = _raw_set(opened)
    known = _forces(found, opened)
    if known is None:
        text = "The forces make the rates of all differences vanish; the compiled code solves for them at each step."
        return (raw, ExplanationSection("Forces of the constraints", (Sentence(text),))), {}
    forces, solution = known
    items: list[Item] = [Sentence(_system_words(forces))]
    items.append(ShownMatrix("E", forces.matrix))
    items.append(ShownMatrix("b", tuple((e,) for e in forces.right)))
    items.append(Sentence("which gives, solved with symbols:"))
    items += [NamedFormula(name, formula) for name, formula in solution.formulas.items()]
    return (raw, ExplanationSection("Forces of the constraints", tuple(items))), solution.where


def _system_words(forces: ForceSystem) -> str:
    """What the linear system for the forces says."""
    if not forces.rates:
        return "The rates of the differences vanish: $E lambda = b$, with"
    speeds = ", ".join(f"`{name}`" for name in forces.rates)
    return (
        "The rates of the differences vanish, and so does what acts on speeds without inertia: $E lambda = b$, "
        f"where {speeds} stand behind the forces in $lambda$, with"
    )


def _explain_parasitic(found: ConstrainedModel, opened: OpenedModel, model: Model) -> Explained:
    system = derive_equations(assign_causality(lower(model)))
    items: list[Item] = list(_rates(system))
    for name in (opening.name for opening in opened.openings):
        if name in model.signals:
            formula = model.signals[name].settings["formula"]
            assert isinstance(formula, Expression), "forces are formulas"
            items.append(NamedFormula(name, formula))
    new = {n: p.expression for n, p in model.parameters.items() if n not in found.model.parameters}
    values = {n: e for n, e in new.items() if e is not None}
    return (ExplanationSection("Equations with parasitic elements", tuple(items)),), {**system.where, **values}


def _explain_field(found: ConstrainedModel, opened: OpenedModel, _: Model) -> Explained:
    merged = fields.merge_dependent(found.whole)
    if not merged.linear:
        return _joined(found, merged), {}
    M, names = fields.named_matrix(merged)
    p = [f"p_{speed}" for speed in merged.speeds]
    items: list[Item] = [Sentence("The dependent storages and those that they follow are one field: $p = M z$")]
    items.append(Sentence("$z$ = " + ", ".join(f"`{name}`" for name in merged.speeds)))
    items += [ShownMatrix("M", M), Sentence("$p' = K z - A z - f + B u$, with the C-part $K = T'^T L T$:")]
    items += [ShownMatrix("K", merged.K)] if not _empty(merged.K) else []
    rows = [found.system.states.index(name) for name in merged.speeds]
    pulls = _pulls(found, rows)
    items += [NamedFormula(f"{name}'", c + e) for name, c, e in zip(p, merged.c_part(), pulls, strict=True)]
    return (ExplanationSection("IC-field", tuple(items)),), names


def _joined(found: ConstrainedModel, merged: fields.MergedStorages) -> tuple[ExplanationSection, ...]:
    """Storages with nonlinear laws, joined: what they keep together, and its rate."""
    items: list[Item] = [
        Sentence("The dependent storages and those that they follow keep together, by what they decide:")
    ]
    items += [NamedFormula(f"p_{name}", e) for name, e in fields.contents(merged).items()]
    items.append(Sentence("and what they keep changes at the rates"))
    rows = [found.system.states.index(name) for name in merged.speeds]
    items += [NamedFormula(f"p_{name}'", e) for name, e in zip(merged.speeds, _pulls(found, rows), strict=True)]
    return (ExplanationSection("Joined storages", tuple(items)),)


def _explain_lagrange(found: ConstrainedModel, opened: OpenedModel, _: Model) -> Explained:
    form = lagrange_of(found)
    return lagrange_sections(form), form.where


def _explain_hamilton(found: ConstrainedModel, opened: OpenedModel, _: Model) -> Explained:
    form = hamilton_of(found)
    bent = any(e is not ZERO for e in form.f)
    equation = "$x' = (J - R) grad H + g u - (0, f)$" if bent else "$x' = (J - R) grad H + g u$"
    items: list[Item] = [Sentence(f"{equation} with $x = (q, p)$, $p = M z$, and the energy")]
    items.append(NamedFormula(form.energy, form.H))
    items += [NamedFormula(name, e) for name, e in form.speeds.items()]
    # Only the slopes by coordinates are said: those by momenta are the speeds above.
    gradient = [NamedFormula(f"d{form.energy}/d{q}", e) for q, e in zip(form.q, form.grad_H, strict=False)]
    matrices: list[Item] = [ShownMatrix("J", form.J)]
    matrices += [ShownMatrix("R", form.R)] if not _empty(form.R) else []
    matrices.append(ShownMatrix("g", form.g))
    matrices += [ShownMatrix("f", tuple((e,) for e in form.f))] if bent else []
    if form.g_1:
        matrices += [Sentence("Storages follow sources: $g_1 u'$ is added, with"), ShownMatrix("g_1", form.g_1)]
    text = "The constraints are holonomic: the gyroscopic block is zero, and J is canonical."
    if not form.holonomic:
        text = "The constraints are not holonomic: J has the gyroscopic block S beside the canonical ones."
    sections = (
        ExplanationSection("Hamilton form", (*items, *gradient)),
        ExplanationSection("Matrices", (Sentence(text), *matrices)),
    )
    return sections, form.where


def _forces(found: ConstrainedModel, opened: OpenedModel) -> tuple[ForceSystem, ForceFormulas] | None:
    try:
        return residual.constraint_forces(found, opened)
    # An input in a constraint, for example: the form runs all the same.
    except ConditioningError:
        return None  # the raw set says what there is to say


def _pulls(found: ConstrainedModel, rows: list[int]) -> Vector:
    """What the rest of the model gives to the momenta."""
    system, m = found.system, found.system.matrices
    x, u = [symbol(name) for name in system.states], [symbol(name) for name in system.inputs]
    pulls = [dot(m["B"][i], u) - dot(m["A"][i], x) - system.vectors["f"][i] for i in rows]
    if not system.is_zero("B_1"):
        rates = [symbol(f"{name}'") for name in system.inputs]
        pulls = [e + dot(m["B_1"][i], rates) for i, e in zip(rows, pulls, strict=True)]
    return tuple(found.written(e) for e in pulls)


def _written(found: ConstrainedModel, matrix: Matrix) -> Matrix:
    # Slopes of moving parameters stay by name: written out they would fill the page.
    return tuple(tuple(found.readable(e) for e in row) for row in matrix)


def _empty(matrix: Matrix) -> bool:
    return all(e is ZERO for row in matrix for e in row)


_EXPLANATIONS: Mapping[str, Callable[[ConstrainedModel, OpenedModel, Model], Explained]] = {
    "derivative": _explain_derivative,
    "residual": _explain_residual,
    "parasitic": _explain_parasitic,
    "field": _explain_field,
    "lagrange": _explain_lagrange,
    "hamilton": _explain_hamilton,
}


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
    found: ConstrainedModel = field(repr=False, compare=False)
    opened: OpenedModel = field(repr=False, compare=False)
    starts: initial_states.InitialStates = field(default_factory=initial_states.InitialStates, repr=False)
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

    def explained(self) -> Explanation:
        """The equations of the form, with its constraints: a value with text, LaTeX and JSON."""
        said = (self.note,) if self.note else ()
        return explained_form(self.form, self.found, self.opened, self.model, said)

    def to_text(self) -> str:
        """The equations as text for a terminal."""
        return self.explained().form_text()

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
        inputs: Mapping[str, float] = initial_states.NOTHING,
        carried: initial_states.CarriedForces = initial_states.no_forces_known,
    ) -> Model:
        """The model with other initial values, by the names of the model as it was, for other parameters and inputs.

        `carried` is asked for the forces of the rigid model where no formula gives those with which springs begin.
        """
        return initial_states.with_initial_states(
            self.model, self.found, self.starts, initial, parameters, inputs, carried=carried
        )

    def rigid(self) -> "Conditioned":
        """The derivative form of the same model, with the same constraints."""
        # From the same opened model: forces then have the same names, and runs can be compared.
        made = _derivative(self.found, self.opened, DEFAULT_OPTIONS)
        return replace(
            self,
            form="derivative",
            model=initial_states.with_initial_states(made.model, self.found, made.starts),
            picture=made.model,
            solver=SOLVERS["derivative"],
            starts=made.starts,
            stiffnesses={},
            accuracy=None,
            by_duration=(),
        )


@final
@dataclass(frozen=True)
class ConditioningOptions:
    """What may be chosen: coordinates, stiffnesses of parasitic elements, the decay of drift, and whether S is left out."""

    coordinates: Sequence[str] = ()
    stiffness: Stiffness = SUGGESTED
    drift: float = DRIFT
    canonical: bool = False


DEFAULT_OPTIONS: Final = ConditioningOptions()
"""Nothing chosen."""


@final
@dataclass(frozen=True)
class _Made:
    model: Model
    starts: initial_states.InitialStates
    picture: Model | None = None
    stiffnesses: Mapping[str, float] = field(default_factory=dict)
    by_duration: tuple[str, ...] = ()


def condition_model(model: Model, form: str, options: ConditioningOptions = DEFAULT_OPTIONS) -> Conditioned:
    """The model in a form that a solver, an engineer or a control theorist can use.

    derivative: implicit equations, solved as a DAE. residual: forces of constraints solved for, all storages with states.
    parasitic: stiff springs and dampers. field: an IC-field with momenta. lagrange: speeds, a mass matrix. hamilton: momenta, the
    slopes of the energy and, for constraints that are not holonomic, a gyroscopic block.

    Raises: ConditioningError for a form that does not exist (C101) or that the model does not have.
    """
    if form not in FORMS:
        raise rules.NO_SUCH_FORM.error(f"'{form}' is no form of a model", fix=did_you_mean(form, FORMS) or "")
    # Before the form is chosen: all forms divide by the same things.
    found = regular_in_every_position(constrained_model(model, options.coordinates))
    whole = found.whole
    # The text is one of the forms, as was checked above; this says so to the type checker.
    word: FormName = next(known for known in FORMS if known == form)
    if word in WITH_SOURCES:
        found = whole
    found.refuse_none(form)
    # Storages behind sources are opened with the rest and then held, so that their forces can be read in every form.
    opened = open_constraints(whole).holding(
        {c.storage for c in whole.constraints} - {c.storage for c in found.constraints}
    )
    made = _MAKERS[word](found, opened, options)
    return Conditioned(
        form=word,
        base=model,
        model=laid_out_as(initial_states.with_initial_states(made.model, found, made.starts), model),
        picture=laid_out_as(made.picture or made.model, model),
        solver=SOLVERS.get(word, "auto"),
        constraints=whole.constraints,
        found=found,
        opened=opened,
        starts=made.starts,
        stiffnesses=made.stiffnesses,
        by_duration=made.by_duration,
    )


def _derivative(found: ConstrainedModel, opened: OpenedModel, options: ConditioningOptions) -> _Made:
    """Sensors of the forces where the constraints are; what the storages take where a domain has none."""
    return _Made(
        residual.model_with_force_sensors(opened) if has_sinks(opened) else residual.model_with_storage_forces(found),
        initial_states.InitialStates(),
    )


def _residual(found: ConstrainedModel, opened: OpenedModel, options: ConditioningOptions) -> _Made:
    model, starts = residual.residual_model(found, opened, options.drift)
    return _Made(model, starts, residual.sink_picture(opened) if has_sinks(opened) else None)


def _parasitic(found: ConstrainedModel, opened: OpenedModel, options: ConditioningOptions) -> _Made:
    balance = ForceBalance(found, opened)
    made = parasitic_model(found, balance, options.stiffness)
    starts = replace(
        initial_states.initial_states_of_dependents(found, balance),
        forces=initial_states.InitialForces(balance, made.states),
    )
    return _Made(made.model, starts, None, made.stiffnesses, made.by_duration)


def _field(found: ConstrainedModel, opened: OpenedModel, options: ConditioningOptions) -> _Made:
    merged = fields.merge_dependent(found)
    made = fields.momentum_field(merged, merged.c_part()) if merged.linear else fields.joined_field(merged)
    return _with_forces(made, merged, opened)


def _lagrange(found: ConstrainedModel, opened: OpenedModel, options: ConditioningOptions) -> _Made:
    # The field below would exist without them, but it would be no Lagrange form.
    coordinates_of(found)  # refuses models without the form
    merged = fields.merge_dependent(found)
    return _with_forces(fields.speed_field(merged, merged.c_part()), merged, opened)


def _hamilton(found: ConstrainedModel, opened: OpenedModel, options: ConditioningOptions) -> _Made:
    merged = fields.merge_dependent(found)
    made = fields.momentum_field(merged, merged.energy_slopes())
    S = merged.gyroscopic()
    # `canonical` leaves S out on purpose, to show what canonical equations of a non-holonomic machine get wrong.
    if any(e is not ZERO for row in S for e in row) and not options.canonical:
        made = fields.FieldModel(fields.with_gyrators(made.model, merged, S), made.starts)
    return _with_forces(made, merged, opened)


def _with_forces(made: fields.FieldModel, merged: fields.MergedStorages, opened: OpenedModel) -> _Made:
    return _Made(residual.with_force_signals(made.model, merged.found, opened, merged), made.starts)


_MAKERS: Final[Mapping[FormName, Callable[[ConstrainedModel, OpenedModel, ConditioningOptions], _Made]]] = {
    "derivative": _derivative,
    "residual": _residual,
    "parasitic": _parasitic,
    "field": _field,
    "lagrange": _lagrange,
    "hamilton": _hamilton,
}
