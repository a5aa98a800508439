"""The equations of a model in one call: every form, with symbols or numbers, open or closed loop."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, final, overload

from tellegen.causality import assign_causality
from tellegen.conditioning import LagrangeSystem, lagrange_form
from tellegen.conditioning.equations_of_motion import lagrange_steps
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.options import option
from tellegen.equations.derivation import derive_equations, linear_outputs, measured_equations
from tellegen.equations.forms import closed_loop
from tellegen.equations.forms.descriptor import DescriptorSystem, descriptor_form
from tellegen.equations.forms.hamiltonian import HamiltonianSystem, port_hamiltonian
from tellegen.equations.forms.linearisation import has_constant_tangent, linearise_equations, linearise_loop
from tellegen.equations.forms.state_space import StateSpaceForm, state_space
from tellegen.equations.forms.transfer import TransferMatrix, transfer_matrix
from tellegen.equations.steps import Explanation, derivation_steps
from tellegen.equations.system import EquationSystem, OperatingPoint, with_measured_outputs, with_values
from tellegen.graph import PowerGraph, lower, put_into_mode
from tellegen.graph.signal_lowering import drive_given_inputs
from tellegen.graph.signals import Delayed, Integral, Sampled
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.workflow.rules import NO_SUCH_FORM, NO_SUCH_VARIABLE

Derived = EquationSystem | DescriptorSystem | TransferMatrix | StateSpaceForm | HamiltonianSystem | LagrangeSystem

Modes = Mapping[str, str]
"""Modes of elements by name: `{"S": "closed"}`."""


# The forms


@final
class EquationForm(NamedTuple):
    """A form of equations: its line in the help of the command, and what makes it of a model."""

    line: str
    make: Callable[[Model, "DeriveOptions"], Derived]


def _pog(model: Model, options: "DeriveOptions") -> Derived:
    # Elimination fills the matrices of a large model, and numbers are asked for of large ones: they stay sparse.
    if options.numeric and not options.eliminate:
        return _dae(model, options)
    system = _measured(model, options)
    return with_values(system) if options.numeric else system


def _ph(model: Model, options: "DeriveOptions") -> Derived:
    found = port_hamiltonian(_equations(model, options.mode))
    return found.numeric() if options.numeric else found


def _lagrange(model: Model, options: "DeriveOptions") -> Derived:
    found = lagrange_form(model)
    return found.numeric() if options.numeric else found


def _dae(model: Model, options: "DeriveOptions") -> Derived:
    found = descriptor_form(put_into_mode(lower(model), options.mode))
    return found.numeric() if options.numeric else found


def _tf(model: Model, options: "DeriveOptions") -> Derived:
    system = _measured(model, options)
    return transfer_matrix(linear_outputs(system, options.outputs), numeric=options.numeric)


def _ss(model: Model, options: "DeriveOptions") -> Derived:
    system = with_measured_outputs(_measured(model, options), options.outputs)
    return state_space(with_values(system) if options.numeric else system)


FORMS: Mapping[str, EquationForm] = {
    "pog": EquationForm("L x' = -A x + B u", _pog),
    "ph": EquationForm("port-Hamiltonian", _ph),
    "lagrange": EquationForm("M q'' + C q' + R q' + G = W tau, W tau = K^T tau + J^T F", _lagrange),
    "dae": EquationForm("descriptor form, nothing eliminated", _dae),
    "tf": EquationForm("transfer matrix", _tf),
    "ss": EquationForm("x' = A x + B u, y = C x + D u", _ss),
}
"""The forms by their words, in the order of the help. What is made prints itself: `to_text`, `to_latex` and `to_json`."""

_WITH_OUTPUTS = ("pog", "tf", "ss")
"""The forms whose rows may be chosen, and that hold signals as states."""


@dataclass(frozen=True, kw_only=True)
class DeriveOptions:
    """What `derive` is asked for, in Python and on the command line; the words stand at the function."""

    form: str = option(
        "pog",
        "; ".join(f"{word}: {form.line}" for word, form in FORMS.items()) + ".",
        choices=tuple(FORMS),
        quiet=True,
    )
    numeric: bool = option(False, "Numbers for parameters: the sparse descriptor form, or the form asked for.")
    eliminate: bool = option(False, "With --numeric: the matrices L, A, B, C, D instead.", needs="numeric")
    steps: bool = option(False, "The derivation step by step: each entry by the paths that make it.")
    mode: Modes = option({}, "The mode of an element that has modes; once for each element.", metavar="S=closed")
    closed: bool = option(False, "The linear closed loop: signals are part of the model, references are inputs.")
    at: Mapping[str, float] | None = option(
        None,
        "With --closed: the operating point, a value of a state or an input; once for each.",
        metavar="omega=80",
        needs="closed",
    )
    inputs: Mapping[str, float] | None = None
    parameters: Mapping[str, float | str] | None = option(
        None, "Another value of a parameter; once for each.", metavar="K=2e5", flag="--set"
    )
    as_inputs: tuple[str, ...] | None = option(
        None,
        "With --closed: sources, signals, parameters or moduli that are inputs too; a loop is cut open there.",
        metavar="d,K",
        needs="closed",
    )
    outputs: tuple[str, ...] | None = option(
        None, "Rows of the forms tf and ss: any variables; with --form pog, measured beside y.", metavar="v,F_K"
    )


@overload
def derive(model: AnyModel, *, steps: Literal[True], **options: Any) -> Explanation: ...


@overload
def derive(model: AnyModel, *, form: Literal["tf"], **options: Any) -> TransferMatrix: ...


@overload
def derive(model: AnyModel, *, form: Literal["ss"], **options: Any) -> StateSpaceForm: ...


@overload
def derive(model: AnyModel, *, form: Literal["dae"], **options: Any) -> DescriptorSystem: ...


@overload
def derive(model: AnyModel, *, form: Literal["ph"], **options: Any) -> HamiltonianSystem: ...


@overload
def derive(model: AnyModel, *, form: Literal["lagrange"], **options: Any) -> LagrangeSystem: ...


@overload
def derive(
    model: AnyModel, *, closed: Literal[True], form: Literal["pog"] = "pog", **options: Any
) -> EquationSystem: ...


@overload
def derive(
    model: AnyModel, *, form: Literal["pog"] = "pog", numeric: Literal[False] = False, **options: Any
) -> EquationSystem: ...


@overload
def derive(model: AnyModel, *, form: str = "pog", **options: Any) -> Derived: ...


def derive(model: AnyModel, **options: Any) -> Derived | Explanation:
    """The equations of a model, with symbols.

    `form` is "pog" (`L x' = -A x + B u`), "ph" (port-Hamiltonian, `x' = (J - R) grad_H + (g - P) u`), "lagrange"
    (`M q'' + C q' + R q' + G = W tau`), "dae" (the sparse descriptor form, nothing eliminated), "tf" (the transfer matrix) or "ss"
    (`x' = A x + B u`, `y = C x + D u`).
    With `numeric`, parameters are replaced by their values: the POG form is then given as the descriptor form, which stays
    sparse for models of any size, unless `eliminate` asks for L, A, B, C, D.
    With `steps`, the POG form is derived step by step: each entry by the paths that make it; the Lagrange form by artificial flow
    sources.
    `parameters` gives other values of parameters: numbers in SI units, or texts such as "4.7 mH".
    `mode` puts elements with modes into others than those they start in: `{"S": "closed"}`.
    `outputs` names what is measured: states, displacements, power variables of elements and signals that are formulas. In the forms
    tf and ss they are the rows; in the form pog they stand in `measured`, beside the outputs y, which stay conjugate to the inputs.
    Without it the rows of tf and ss are y and what detectors (De, Df, sensors) read.
    With `closed`, signals are part of the model: the linear closed loop at an operating point (`at` and `inputs` as in `linearise`,
    and the time `t`), whose states are those of the power equations, the displacements and the states of controllers, and whose
    inputs are the sources that no signal drives and the references. Where the matrices depend on the point, `point` of the result
    says it. `as_inputs` names sources, signals, parameters or moduli that are inputs too: a loop is cut open there. Its outputs are
    those named, by default y and the signals. Forms: pog, tf and ss.

    Raises: TellegenError of the layer that cannot go on.

    >>> derive("dc_motor_pump").states
    ('I_a', 'omega_m', 'P_0')
    """
    asked = DeriveOptions(**options)
    read = _with_given(as_model(model), asked.parameters)
    found = _derived(read, asked)
    # A form of somebody's own may do without.
    return replace(found, symbols=read.symbols) if read.symbols and hasattr(found, "symbols") else found


def _with_given(model: Model, parameters: Mapping[str, float | str] | None) -> Model:
    """The model with other values of parameters."""
    if not parameters:
        return model
    from tellegen.experiments.setup import model_with_parameters  # noqa: PLC0415

    return model_with_parameters(model, parameters)


def _derived(model: AnyModel, options: DeriveOptions) -> Derived | Explanation:
    form = options.form
    if form not in FORMS:
        raise NO_SUCH_FORM.error(f"'{form}' is not a form of equations", fix=did_you_mean(form, FORMS))
    # A loop has its own path: signals that are held as inputs elsewhere are states there.
    if options.closed:
        return _closed_form(model, options)
    sparse = options.numeric and not options.eliminate and form == "pog"
    if options.outputs is not None and (sparse or options.steps or form not in _WITH_OUTPUTS):
        raise NO_SUCH_FORM.error(
            f"the form '{form}'{' step by step' if options.steps else ''} has no outputs of its own choice",
            why="measured variables are rows beside C and D, which the forms pog, tf and ss have",
            fix="ask for pog, tf or ss" + (", with eliminate" if options.numeric and form == "pog" else ""),
        )
    return _steps(model, options) if options.steps else FORMS[form].make(as_model(model), options)


def _measured(model: Model, options: DeriveOptions) -> EquationSystem:
    """The equations, with what is named as outputs measured beside y."""
    # Without names what detectors read is measured: these rows the transfer matrix has too.
    return measured_equations(model, options.outputs, lambda graph: put_into_mode(graph, options.mode))


def _equations(model: AnyModel, mode: Modes) -> EquationSystem:
    return derive_equations(assign_causality(put_into_mode(lower(as_model(model)), mode)))


def _closed_form(model: AnyModel, options: DeriveOptions) -> EquationSystem | TransferMatrix | StateSpaceForm:
    """The linear closed loop at values of states and inputs."""
    form = options.form
    if form not in _WITH_OUTPUTS:
        raise NO_SUCH_FORM.error(
            f"the closed loop has no form '{form}'",
            why="signals carry no power, so that only the forms pog, tf and ss hold them",
            fix="ask for pog, tf or ss",
        )
    # States and inputs have different names, so that one mapping holds the whole point.
    at = {**(options.at or {}), **(options.inputs or {})}
    chosen = None if options.outputs is None else tuple(options.outputs)
    described = closed_loop.with_moduli_as_signals(as_model(model), options.as_inputs)
    loop = _loop(described, options, at, chosen)
    names = (*loop.states, *loop.displacements, *loop.inputs, TIME)
    for name in at:
        if name not in names:
            fix = did_you_mean(name, names) or f"some that are: {listing(names, 20)}"
            raise NO_SUCH_VARIABLE.error(f"'{name}' is no state or input of the closed loop of '{loop.name}'", fix=fix)
    point = _point_of_loop(described, loop, options.mode, at)
    # A loop that is linear already keeps its symbols; any other one becomes numbers at the point.
    found = linearise_loop(loop, point.values, point.origin) or linearise_equations(loop, point.values, point.origin)
    measured = found if chosen is None else with_measured_outputs(found, chosen)
    if form == "tf":
        return transfer_matrix(measured, numeric=options.numeric)
    settled = with_values(measured) if options.numeric else measured
    return settled if form == "pog" else state_space(settled)


def _point_of_loop(model: Model, loop: EquationSystem, mode: Modes, at: Mapping[str, float]) -> OperatingPoint:
    """Where the loop is linearised: at the values given, else in the steady state of the experiment."""
    # The same everywhere: no parameter needs a value then.
    if has_constant_tangent(loop):
        return OperatingPoint({})
    return _point(model, at, mode, loop.inputs)


def _point(model: Model, at: Mapping[str, float], mode: Modes, inputs: Sequence[str]) -> OperatingPoint:
    """The point with values of states and inputs, else the steady state of the experiment."""
    # Equations with symbols do without numbers, which take a while to load.
    from tellegen.experiments.linearising import operating_point  # noqa: PLC0415

    states = {name: v for name, v in at.items() if name not in inputs}
    given = {name: v for name, v in at.items() if name in model.inputs and name in inputs}
    point = operating_point(model, at=states if at else None, inputs=given, mode=mode)
    return OperatingPoint({**point.values, **at}, point.origin)


def _loop(
    model: Model, options: DeriveOptions, at: Mapping[str, float], outputs: tuple[str, ...] | None
) -> EquationSystem:
    """The loop, with what is named among its outputs; inputs that follow signals through the experiment belong to it."""
    follows = closed_loop.following_inputs(model)

    def driven(graph: PowerGraph) -> PowerGraph:
        return drive_given_inputs(put_into_mode(graph, options.mode), follows)

    system = derive_equations(assign_causality(driven(lower(model))))
    named, constants = closed_loop.inputs_chosen(system, options.as_inputs or ())
    # Asked for closed, it is only cut where that is said.
    cut = tuple(name for name in named if name in (options.as_inputs or ()))
    until = model.experiment.until
    time = float(at.get(TIME, 0.0 if until is None else until.evaluate(system.values())))

    known = at
    # What is sampled keeps the value that it has at the point, which has to be found first.
    if cut and closed_loop.held_signals(system, cut):
        known = _point(model, at, options.mode, (*system.inputs, *cut, *constants)).values

    def closed(found: EquationSystem) -> EquationSystem:
        # Cut where the user says, it is the loop but for that.
        if cut:
            return closed_loop.open_loop(found, (*cut, *constants), {TIME: time, **known})
        return closed_loop.close_loop(with_measured_outputs(found) if found.measured.names else found, time, constants)

    loop = closed(system)
    # Only what the loop does not know yet is measured, as each signal more makes the equations longer.
    further = [name for name in outputs or () if name not in (*loop.outputs, *loop.states, *loop.displacements)]
    return closed(measured_equations(model, further, driven)) if further else loop


def _steps(model: AnyModel, options: DeriveOptions) -> Explanation:
    form = options.form
    if form == "lagrange" and not options.numeric:
        return lagrange_steps(as_model(model))
    if form != "pog" or options.numeric:
        raise NO_SUCH_FORM.error(
            f"the form '{form}'{' with numbers' if options.numeric else ''} is not derived step by step",
            why="paths explain the entries of the POG form, artificial sources the Lagrange form, with symbols",
            fix="ask for the steps of the form pog or lagrange, with symbols",
        )
    return derivation_steps(_equations(model, options.mode))


def linearise(
    model: AnyModel | EquationSystem,
    *,
    at: Mapping[str, float] | None = None,
    inputs: Mapping[str, float] | None = None,
    as_inputs: Iterable[str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
) -> EquationSystem:
    """The linear model that touches a model at an operating point, as numbers, in deviations from the point.

    `at` gives values of states, displacements and states of controllers, what is not given being as the experiment starts; without
    it the point is the steady state under the inputs at the end of the experiment, and where there is none the start. `inputs`
    gives other values of inputs. `point` of the result holds the values and says which it was; a linear model has none.
    Displacements are states of the linear model, after the others.

    What are inputs, and where controllers are cut off, is as in `analyse`: sources without a signal and what controllers drive,
    unless `as_inputs` names the sources, signals, parameters or moduli. `parameters` gives other values of parameters of a model.
    Equations without their model are taken at zero, and a
    controller without a memory is a formula in them, which is not cut.

    Raises: EquationError when a parameter has no value or the point does not exist; DescriptionError (D305) for an unknown name.
    """
    if not isinstance(model, EquationSystem):
        model = _with_given(as_model(model), parameters)
    elif parameters:
        what = "equations alone have no parameters to set"
        raise NO_SUCH_VARIABLE.error(what, fix="give the model: tg.linearise(model, parameters=...)")
    system = model if isinstance(model, EquationSystem) else derive(model)
    _check_point(system, at or {}, inputs or {})
    if isinstance(model, EquationSystem):
        cut, constants = closed_loop.inputs_chosen(system, as_inputs)
        point = OperatingPoint(
            closed_loop.signal_values(system, {**(at or {}), **(inputs or {})}), "at the given point"
        )
        plant = closed_loop.open_loop(system, (*cut, *constants), point.values)
    else:
        from tellegen.experiments.linearising import Linearisation  # noqa: PLC0415

        described = as_model(model)
        # Without an experiment there is nothing to rest under but the start.
        states = {} if at is None and described.experiment.until is None else at
        found = Linearisation.of(described, at=states, inputs=inputs, as_inputs=as_inputs)
        point = found.point(strict=False)
        plant = found.plant(point)
    return linearise_equations(plant, point.values, point.origin)


def _check_point(system: EquationSystem, at: Mapping[str, float], inputs: Mapping[str, float]) -> None:
    memory = (law.name for law in system.signals.laws if isinstance(law, Integral | Sampled | Delayed))
    moving = (*system.states, *system.displacements, *memory, TIME)
    for names, given, word in ((moving, at, "state"), (system.inputs, inputs, "input")):
        for name in given:
            if name not in names:
                fix = did_you_mean(name, names) or f"the {word}s are {listing(names, 40)}"
                raise NO_SUCH_VARIABLE.error(f"'{name}' is not a {word} of '{system.name}'", fix=fix)
