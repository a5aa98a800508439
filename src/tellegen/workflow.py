"""Several arrows in one call: what each command does, as a Python function.

A model may be given as a `Model`, as a `Network` built in Python, as a file (YAML, or a POG_Modeler netlist that ends in
`.txt`), or as the name of a built-in example.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final, overload

from tellegen import schemes
from tellegen.causality import assign_causality
from tellegen.conditioning import Conditioned, LagrangeSystem, Options, Stiffness, condition_model, lagrange_form
from tellegen.conditioning.forms import DRIFT
from tellegen.conditioning.karnopp import lagrange_steps
from tellegen.conditioning.parasitic import DAMPING
from tellegen.core.errors import Rulebook
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.description import read_netlist, to_yaml
from tellegen.description.document import write_text
from tellegen.description.opening import AnyModel, as_model, load, open_model, read
from tellegen.description.parts.shelf import SYSTEMS
from tellegen.equations.assembly import derive_equations
from tellegen.equations.checking import Check, check
from tellegen.equations.closed_loop import close_loop, following_inputs, hold_signals
from tellegen.equations.descriptor import DescriptorSystem, descriptor_form
from tellegen.equations.hamiltonian import port_hamiltonian
from tellegen.equations.hamiltonian_system import HamiltonianSystem
from tellegen.equations.linear_loop import linearise_loop
from tellegen.equations.linearisation import linearise_equations
from tellegen.equations.measured import with_measured_outputs
from tellegen.equations.measuring import linear_outputs, measured_equations
from tellegen.equations.numeric import with_values
from tellegen.equations.steps import Derivation, derivation_steps
from tellegen.equations.system import EquationSystem
from tellegen.equations.transfer import TransferMatrix, transfer_matrix
from tellegen.graph import PowerGraph, lower, put_into_mode
from tellegen.graph.signal_lowering import drive_some
from tellegen.reduction import Limits, Reduction, Stiffened, reduce_model, stiffen_model
from tellegen.schemes import BondGraphScheme, PogScheme
from tellegen.schemes.translation import NOTATIONS, Notation, translation

__all__ = [
    "AnyModel",
    "Check",
    "Example",
    "as_model",
    "check",
    "condition",
    "derive",
    "examples",
    "import_model",
    "linearise",
    "load",
    "open_model",
    "read",
    "reduce",
    "stiffen",
    "translate",
]

RULES = Rulebook("D")

WOULD_OVERWRITE = RULES.rule(
    "D302",
    "file that exists already",
    meaning="The file to be written is there already.",
    why="what is in it would be lost",
)
NO_SUCH_FORM = RULES.rule(
    "D303",
    "no such form",
    meaning="Equations were asked for in a form that does not exist.",
    why="the forms are pog (L x' = -A x + B u), ph (port-Hamiltonian), lagrange, dae (descriptor form) and tf (transfer matrix)",
)
NO_SUCH_NOTATION = RULES.rule(
    "D486",
    "no such notation",
    meaning="A model was to be translated into a notation that does not exist.",
    why="a model file has one of three: network (elements between nodes), bond (a bond graph) and pog (a Power-Oriented Graph)",
)
NOTHING_TO_IMPORT = RULES.rule(
    "D304",
    "nothing to import",
    meaning="The file to be imported is a model file already.",
    why="import turns files of other tools into model files: POG_Modeler netlists, which end in .txt",
)
NO_SUCH_VARIABLE = RULES.rule(
    "D305",
    "no such variable",
    meaning="An operating point gives a value to something that is neither a state nor an input.",
    why="an operating point is made of states and inputs",
)

Form = Literal["pog", "ph", "lagrange", "dae", "tf"]
FORMS: tuple[Form, ...] = ("pog", "ph", "lagrange", "dae", "tf")
Derived = EquationSystem | DescriptorSystem | TransferMatrix | HamiltonianSystem | LagrangeSystem
Modes = Mapping[str, str]
"""Modes of elements by name: `{"S": "closed"}`."""
NO_MODES: Modes = {}


@final
@dataclass(frozen=True, slots=True)
class Example:
    """A built-in system: its name, and what it is in one line."""

    name: str
    about: str


def examples() -> tuple[Example, ...]:
    """The built-in systems, by name. No model is built: only the line that describes each is read.

    >>> [example.name for example in examples()][:2]
    ['cauer_low_pass', 'dc_motor']
    """
    return tuple(Example(path.stem, _about(path)) for path in sorted(SYSTEMS.glob("*.yaml")))


@overload
def derive(
    model: AnyModel,
    *,
    form: Literal["pog"] = "pog",
    numeric: Literal[False] = False,
    eliminate: bool = False,
    mode: Modes = ...,
    outputs: Iterable[str] | None = None,
) -> EquationSystem: ...


@overload
def derive(
    model: AnyModel,
    *,
    form: Literal["tf"],
    numeric: bool = False,
    eliminate: bool = False,
    mode: Modes = ...,
    outputs: Iterable[str] | None = None,
) -> TransferMatrix: ...


@overload
def derive(
    model: AnyModel, *, form: Literal["dae"], numeric: bool = False, eliminate: bool = False, mode: Modes = ...
) -> DescriptorSystem: ...


@overload
def derive(
    model: AnyModel, *, form: Literal["ph"], numeric: bool = False, eliminate: bool = False, mode: Modes = ...
) -> HamiltonianSystem: ...


@overload
def derive(
    model: AnyModel, *, form: Literal["lagrange"], numeric: bool = False, eliminate: bool = False, mode: Modes = ...
) -> LagrangeSystem: ...


@overload
def derive(
    model: AnyModel, *, steps: Literal[True], form: Literal["pog", "lagrange"] = "pog", mode: Modes = ...
) -> Derivation: ...


@overload
def derive(
    model: AnyModel,
    *,
    closed: Literal[True],
    form: Literal["pog"] = "pog",
    numeric: bool = False,
    mode: Modes = ...,
    at: Mapping[str, float] | None = None,
    inputs: Mapping[str, float] | None = None,
    outputs: Iterable[str] | None = None,
) -> EquationSystem: ...


@overload
def derive(
    model: AnyModel,
    *,
    form: Form = "pog",
    numeric: bool = False,
    eliminate: bool = False,
    mode: Modes = ...,
    outputs: Iterable[str] | None = None,
) -> Derived: ...


def derive(
    model: AnyModel,
    *,
    form: Form = "pog",
    numeric: bool = False,
    eliminate: bool = False,
    steps: bool = False,
    mode: Modes = NO_MODES,
    closed: bool = False,
    at: Mapping[str, float] | None = None,
    inputs: Mapping[str, float] | None = None,
    outputs: Iterable[str] | None = None,
) -> Derived | Derivation:
    """The equations of a model, with symbols.

    `form` is "pog" (`L x' = -A x + B u`), "ph" (port-Hamiltonian, `x' = (J - R) grad_H + (g - P) u`), "lagrange"
    (`M q'' + C q' + R q' + G = W tau`), "dae" (the sparse descriptor form, nothing eliminated) or "tf" (the transfer matrix).
    With `numeric`, parameters are replaced by their values: the POG form is then given as the descriptor form, which stays
    sparse for models of any size, unless `eliminate` asks for L, A, B, C, D.
    With `steps`, the POG form is derived step by step: each entry by the paths that make it; the Lagrange form by artificial flow
    sources.
    `mode` puts elements with modes into others than those they start in: `{"S": "closed"}`.
    `outputs` names what is measured: states, displacements, power variables of elements and signals that are formulas. In the form
    tf they are the rows; in the form pog they stand in `measured`, beside the outputs y, which stay conjugate to the inputs.
    Without it the rows of tf are y and what detectors (De, Df, sensors) read.
    With `closed`, signals are part of the model: the linear closed loop at an operating point (`at` and `inputs` as in `linearise`,
    and the time `t`), whose states are those of the power equations, the displacements and the states of controllers, and whose
    inputs are the sources that no signal drives and the references. Its outputs are those named, by default y and the signals.
    Forms: pog and tf.

    Raises: TellegenError of the layer that cannot go on.

    >>> derive("dc_motor_pump").states
    ('I_a', 'omega_m', 'P_0')
    """
    if form not in FORMS:
        raise NO_SUCH_FORM.error(f"'{form}' is not a form of equations", fix=did_you_mean(form, FORMS))
    if closed:
        point = {**(at or {}), **(inputs or {})}
        return derive_closed(model, form=form, numeric=numeric, mode=mode, at=point, outputs=outputs)
    if outputs is not None and (form not in ("pog", "tf") or steps or (form == "pog" and numeric and not eliminate)):
        raise NO_SUCH_FORM.error(
            f"the form '{form}'{' step by step' if steps else ''} has no outputs of its own choice",
            why="measured variables are rows beside C and D, which the forms pog and tf have",
            fix="ask for pog or tf" + (", with eliminate" if numeric and form == "pog" else ""),
        )
    if steps:
        return _steps(model, form, numeric, mode)
    if form == "lagrange":
        lagrange = lagrange_form(as_model(model))
        return lagrange.numeric() if numeric else lagrange
    if form == "dae" or (form == "pog" and numeric and not eliminate):
        found = descriptor_form(put_into_mode(lower(as_model(model)), mode))
        return found.numeric() if numeric else found
    if form == "ph":
        hamiltonian = port_hamiltonian(_equations(model, mode))
        return hamiltonian.numeric() if numeric else hamiltonian
    chosen = None if outputs is None else tuple(outputs)
    system = measured_equations(as_model(model), chosen, lambda graph: put_into_mode(graph, mode))
    settled = with_values(system) if numeric else system
    return transfer_matrix(linear_outputs(settled, chosen)) if form == "tf" else settled


def _equations(model: AnyModel, mode: Modes) -> EquationSystem:
    return derive_equations(assign_causality(put_into_mode(lower(as_model(model)), mode)))


def derive_closed(
    model: AnyModel,
    *,
    form: Form = "pog",
    numeric: bool = False,
    mode: Modes = NO_MODES,
    at: Mapping[str, float],
    outputs: Iterable[str] | None = None,
) -> EquationSystem | TransferMatrix:
    """The linear closed loop at values of states and inputs: what `derive` does with `closed`."""
    if form not in ("pog", "tf"):
        raise NO_SUCH_FORM.error(
            f"the closed loop has no form '{form}'",
            why="signals carry no power, so that only the forms pog and tf hold them",
            fix="ask for pog or tf",
        )
    chosen = None if outputs is None else tuple(outputs)
    loop = _loop(model, mode, float(at.get(TIME, 0.0)), chosen)
    names = (*loop.states, *loop.displacements, *loop.inputs, TIME)
    for name in at:
        if name not in names:
            fix = did_you_mean(name, names) or f"some that are: {listing(names, 20)}"
            raise NO_SUCH_VARIABLE.error(f"'{name}' is no state or input of the closed loop of '{loop.name}'", fix=fix)
    found = linearise_loop(loop, at) or linearise_equations(loop, at)
    measured = found if chosen is None else with_measured_outputs(found, chosen)
    settled = with_values(measured) if numeric else measured
    return transfer_matrix(settled) if form == "tf" else settled


def _loop(model: AnyModel, mode: Modes, time: float, outputs: tuple[str, ...] | None) -> EquationSystem:
    """The closed loop, with what is named among its outputs; inputs that follow signals through the experiment belong to it."""
    described = as_model(model)
    follows = following_inputs(described)

    def driven(graph: PowerGraph) -> PowerGraph:
        return drive_some(put_into_mode(graph, mode), follows)

    loop = close_loop(derive_equations(assign_causality(driven(lower(described)))), time)
    further = [name for name in outputs or () if name not in (*loop.outputs, *loop.states, *loop.displacements)]
    if not further:
        return loop
    system = measured_equations(described, further, driven)
    return close_loop(with_measured_outputs(system, (*system.outputs, *further)), time)


def _steps(model: AnyModel, form: Form, numeric: bool, mode: Modes) -> Derivation:
    if form == "lagrange" and not numeric:
        return lagrange_steps(as_model(model))
    if form != "pog" or numeric:
        raise NO_SUCH_FORM.error(
            f"the form '{form}'{' with numbers' if numeric else ''} is not derived step by step",
            why="paths explain the entries of the POG form, artificial sources the Lagrange form, with symbols",
            fix="ask for the steps of the form pog or lagrange, with symbols",
        )
    return derivation_steps(_equations(model, mode))


def linearise(
    model: AnyModel | EquationSystem,
    *,
    at: Mapping[str, float] | None = None,
    inputs: Mapping[str, float] | None = None,
) -> EquationSystem:
    """The linear model that touches a model at an operating point, as numbers, in deviations from the point.

    `at` gives values of states and displacements, and `inputs` of inputs; what is not given is zero. Displacements are states of
    the linear model, after the others.

    Raises: EquationError when a parameter has no value or the point does not exist; DescriptionError (D305) for an unknown name.
    """
    system = model if isinstance(model, EquationSystem) else derive(model)
    point = {**(at or {}), **(inputs or {})}
    moving = (*system.states, *system.displacements)
    for names, given, word in ((moving, at, "state"), (system.inputs, inputs, "input")):
        for name in given or {}:
            if name not in names:
                fix = did_you_mean(name, names) or f"the {word}s are {listing(names, 40)}"
                raise NO_SUCH_VARIABLE.error(f"'{name}' is not a {word} of '{system.name}'", fix=fix)
    return linearise_equations(hold_signals(system, point), point)


def reduce(model: AnyModel, limits: Limits, *, keep: Iterable[str] = ()) -> Reduction:
    """The model with parameters at zero, at infinity, or at a value that makes the energy matrix singular, all at once.

    `limits` is a mapping, `{"J_m": 0, "K": inf, "M_0": "L_e"}`, or texts, `["J_m=0"]`. `keep` names states that should remain.
    What comes back stands for the reduced model in every other call.

    Raises: ReductionError when a limit names nothing, does not exist, contradicts another or leaves no solution.

    >>> reduce("dc_motor_pump", {"J_m": 0}).equations.states
    ('I_a', 'P_0')
    """
    return reduce_model(as_model(model), limits, keep=keep)


def stiffen(
    model: AnyModel, connection: str, *, apart: Iterable[str] = (), value: float | None = None, damped: bool = True
) -> Stiffened:
    """The model with a fictitious storage in a rigid connection: the reverse of a limit.

    `connection` is a storage that follows others, which then gets a state of its own, or a node, at which the elements of `apart`
    are parted from the others. A spring (an inductance, ...) goes between what shares a velocity (a voltage); a mass (a
    capacitance, ...) goes beside what shares a force (a current). Without `value`, in SI, the fictitious resonance is made much
    faster than the poles of the model and the experiment. `damped` adds a dissipator so that it settles. What comes back stands
    for the model in every other call; its `limit` gives the rigid equations back.

    Raises: ReductionError for no such connection (T111), a value that does not follow (T112), a domain with one storage (T113).

    >>> stiffen("planetary_gear", "J_s").limit
    'K_J_s=inf'
    """
    return stiffen_model(as_model(model), connection, apart=apart, value=value, damped=damped)


def condition(
    model: AnyModel,
    form: str,
    *,
    coordinates: Iterable[str] = (),
    stiffness: float | Mapping[str, float] | None = None,
    damping: float = DAMPING,
    drift: float = DRIFT,
    canonical: bool = False,
) -> Conditioned:
    """The model with its dependent storages treated in one of six ways; what comes back stands for a model in every other call.

    `form` is "derivative" (implicit equations, for a DAE solver), "residual" (forces of constraints solved for, every storage with
    a state; `drift` is the rate in 1/s at which errors of constraints decay), "parasitic" (springs and dampers, or their duals; one
    `stiffness`, or one for each force, in SI), "field" (an IC-field with momenta), "lagrange" (speeds and a mass matrix) or
    "hamilton" (momenta, slopes of the energy, and the gyroscopic block of constraints that are not holonomic, which `canonical`
    leaves out).
    `coordinates` are displacements or outputs of storages that should be independent.

    Raises: ConditioningError for a form that does not exist (C101) or that the model does not have.

    >>> condition("crank_rod", "residual").forces
    ('lambda_m_p',)
    """
    options = Options(tuple(coordinates), Stiffness(stiffness, damping), drift, canonical)
    return condition_model(as_model(model), form, options)


def bond_graph(model: AnyModel, *, vectors: bool = True, merge_two_ports: bool = False) -> BondGraphScheme:
    """The bond graph of a model, simplified as an engineer would draw it, with half arrows, strokes and variables.

    With `vectors`, fields and connections with a matrix are one item each, joined by vector bonds; without, all bonds are scalar.
    `merge_two_ports` joins neighbouring TF and GY.

    Raises: TellegenError of the layer that cannot go on.

    >>> print(str(bond_graph("spring_damper")).splitlines()[0].strip())
    1  Sf:v |-> 1:end   (F_t, v)
    """
    shown = model.picture if isinstance(model, Conditioned) else as_model(model)
    causal = assign_causality(lower(shown))
    return schemes.bond_graph(causal, vectors=vectors, merge_two_ports=merge_two_ports)


def pog(model: AnyModel, *, derivative: bool = False, vectorial: bool = False) -> PogScheme:
    """The Power-Oriented Graph of a model: a ladder of sections, elaboration and connection blocks, or one vector block.

    Meshed models and those with dependent storages are one vector block; with `derivative`, these are derivative blocks of a
    ladder. `vectorial` asks for the vector block in any case.

    Raises: TellegenError of the layer that cannot go on.

    >>> print(str(pog("spring_damper")).splitlines()[0])
    | v, F_t | ->
    """
    return schemes.pog(assign_causality(lower(as_model(model))), derivative=derivative, vectorial=vectorial)


def translate(
    model: AnyModel, notation: Notation, output: str | os.PathLike[str] | None = None, *, force: bool = False
) -> str:
    """The text of a model file that says the same in another notation; written to `output` where that is given.

    `notation` is "network" (elements between nodes), "bond" (a bond graph) or "pog" (a Power-Oriented Graph). Parameters with their
    units, signals and the experiment stay as they are, and so do the equations. A mechanism is written as what it is made of.

    Raises: GraphError for a network where the junction structure is no graph; DescriptionError when `output` is there already and
    `force` is off (D302).

    >>> print(translate("rlc", "pog").split("pog:")[1].splitlines()[1].strip())
    - domain: electrical
    """
    if notation not in NOTATIONS:
        raise NO_SUCH_NOTATION.error(f"'{notation}' is not a notation", fix=did_you_mean(notation, NOTATIONS))
    text = translation(as_model(model), notation)
    return text if output is None else _written(text, output, force=force)


def _written(text: str, output: str | os.PathLike[str], *, force: bool) -> str:
    refuse_overwriting(output, force=force)
    write_text(Path(output), text)
    return text


def refuse_overwriting(output: str | os.PathLike[str] | None, *, force: bool) -> None:
    """Check that a file to be written takes the place of none; without a file there is nothing to check.

    Raises: DescriptionError (D302) when `output` is there already and `force` is off.
    """
    if output is not None and not force and Path(output).exists():
        raise WOULD_OVERWRITE.error(f"'{output}' is there already", fix="choose another name, or force it (--force)")


def import_model(
    path: str | os.PathLike[str], output: str | os.PathLike[str] | None = None, *, force: bool = False
) -> str:
    """A file of another tool as the text of a model file; written to `output` where that is given.

    POG_Modeler netlists (`.txt`) are read. The file is written whole or not at all.

    Raises: DescriptionError when the file cannot be read, or when `output` is there already and `force` is off (D302).
    """
    file = Path(path)
    if file.suffix.lower() in {".yaml", ".yml"}:
        raise NOTHING_TO_IMPORT.error(f"'{file}' is a model file already", fix="use it as it is")
    text = to_yaml(read_netlist(file))
    return text if output is None else _written(text, output, force=force)


def _about(path: Path) -> str:
    """The text of `about`, else of `system`, read up to the first line that is neither."""
    found: dict[str, str] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            key, colon, text = line.partition(":")
            if colon and key in {"system", "about"}:
                found[key] = text.strip().strip("\"'")
            elif colon and not key.startswith("#"):
                break
    return found.get("about") or found.get("system", "")
