"""Several arrows in one call: what each command does, as a Python function.

A model may be given as a `Model`, as a `Network` built in Python, as a file (YAML, or a POG_Modeler netlist that ends in
`.txt`), or as the name of a built-in example.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, final, overload

from tellegen import schemes
from tellegen.causality import CausalGraph, assign_causality, impossible_modes
from tellegen.core.errors import Finding, Rulebook, TellegenError
from tellegen.core.names import TIME, did_you_mean, identifier, listing
from tellegen.description import Model, Network, read_netlist, to_yaml
from tellegen.description.document import write_text
from tellegen.description.model import all_parts
from tellegen.description.opening import AnyModel, as_model, load, open_model, read
from tellegen.description.parts.shelf import SYSTEMS
from tellegen.equations.assembly import derive_equations
from tellegen.equations.closed_loop import algebraic_unknowns, close_loop, hold_signals
from tellegen.equations.descriptor import DescriptorSystem, descriptor_form
from tellegen.equations.hamiltonian import HamiltonianSystem, port_hamiltonian
from tellegen.equations.linear_loop import linearise_loop
from tellegen.equations.linearisation import linearise_equations
from tellegen.equations.numeric import with_values
from tellegen.equations.steps import Derivation, derivation_steps
from tellegen.equations.system import EquationSystem
from tellegen.equations.transfer import TransferMatrix, transfer_matrix
from tellegen.graph import PowerGraph, algebraic_signals, lower, put_into_mode
from tellegen.graph.signals import Integral
from tellegen.reduction import Limits, Reduction, Stiffened, reduce_model, stiffen_model
from tellegen.schemes import BondGraphScheme, PogScheme

__all__ = [
    "AnyModel",
    "Check",
    "Example",
    "as_model",
    "check",
    "derive",
    "examples",
    "import_model",
    "linearise",
    "load",
    "open_model",
    "read",
    "reduce",
    "stiffen",
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
    why="the forms are pog (L x' = -A x + B u), ph (port-Hamiltonian), dae (the descriptor form) and tf (the transfer matrix)",
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

Form = Literal["pog", "ph", "dae", "tf"]
FORMS: tuple[Form, ...] = ("pog", "ph", "dae", "tf")
Derived = EquationSystem | DescriptorSystem | TransferMatrix | HamiltonianSystem
Modes = Mapping[str, str]
"""Modes of elements by name: `{"S": "closed"}`."""
NO_MODES: Modes = {}

MOST_DERIVED = 300
"""Up to so many elements `check` derives the equations too, to find what only they show."""
MOST_PARTS_SHOWN = 12


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


@final
@dataclass(frozen=True, slots=True)
class Check:
    """What `check` found. `dependent` tells for each storage in derivative causality on which elements it depends.

    `paths` holds the zero-order causal paths by kind, each as the names of the elements along it. `modes` lists the modes of
    elements that have some, the one in which a run begins first: all that is said holds there. `algebraic_signals` are the
    unknowns of loops of signals, or of signals and power, without a state. `parts` tells what each part uses, parts inside parts by
    dotted names. Where an error ended the work early, what comes later is empty.
    """

    name: str
    findings: tuple[Finding, ...]
    elements: int = 0
    states: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dependent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    method: str = ""
    modes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    signals: tuple[str, ...] = ()
    signal_states: tuple[str, ...] = ()
    algebraic_signals: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.severity == "error" for finding in self.findings)

    def to_json(self) -> dict[str, object]:
        """Names, numbers and findings; names are identifiers."""
        return {
            "name": self.name,
            "ok": self.ok,
            "elements": self.elements,
            "states": _identifiers(self.states),
            "inputs": _identifiers(self.inputs),
            "outputs": _identifiers(self.outputs),
            "dependent": {identifier(name): _identifiers(on) for name, on in self.dependent.items()},
            "paths": {kind: [_identifiers(members) for members in found] for kind, found in self.paths.items()},
            "method": self.method,
            **({"modes": {identifier(name): list(words) for name, words in self.modes.items()}} if self.modes else {}),
            **{key: _identifiers(names) for key, names in self._signals().items() if names},
            **({"parts": {identifier(name): use for name, use in self.parts.items()}} if self.parts else {}),
            "findings": [finding.to_json() for finding in self.findings],
        }

    def _signals(self) -> dict[str, tuple[str, ...]]:
        algebraic = self.algebraic_signals
        return {"signals": self.signals, "signal_states": self.signal_states, "algebraic_signals": algebraic}

    def __str__(self) -> str:
        return "\n".join([*self._summary(), *(f"\n{finding}" for finding in self.findings)])

    def _summary(self) -> list[str]:
        errors = sum(finding.severity == "error" for finding in self.findings)
        counted = f"{errors} error{'' if errors == 1 else 's'}" if errors else "no errors"
        lines = [f"{self.name}: {counted}"]
        rows = {"parts": _listed_parts(self.parts), "elements": str(self.elements) if self.elements else ""}
        rows |= {word: ", ".join(getattr(self, word)) for word in ("states", "inputs", "outputs")}
        rows["dependent"] = "; ".join(f"{name} on {', '.join(on) or 'nothing'}" for name, on in self.dependent.items())
        rows |= {kind: "; ".join(" - ".join(members) for members in found) for kind, found in self.paths.items()}
        rows["modes"] = "; ".join(f"{name}: {', '.join(words)}" for name, words in self.modes.items())
        rows |= {key.replace("_", " "): ", ".join(names) for key, names in self._signals().items()}
        rows["causality by"] = self.method
        return lines + [f"  {title:<18} {text}" for title, text in rows.items() if text]


def check(model: AnyModel) -> Check:
    """Everything there is to say about a model: errors, warnings and notices, states, dependent storages, zero-order paths.

    Never raises for a bad model: what is wrong is in `findings`.
    """
    try:
        read_one = as_model(model)
    except TellegenError as error:
        return Check(model.name if isinstance(model, Model | Network) else str(model), error.findings)
    parts = {name: part.use for name, part in all_parts(read_one)}
    begun = Check(read_one.name, read_one.findings, len(read_one.elements), inputs=read_one.inputs, parts=parts)
    try:
        graph = lower(read_one)
    except TellegenError as error:
        return replace(begun, findings=(*begun.findings, *error.findings))
    try:
        causal = assign_causality(graph)
    except TellegenError as error:
        return replace(begun, findings=(*graph.findings, *error.findings))
    return _checked_equations(_checked_causality(begun, causal), causal)


@overload
def derive(
    model: AnyModel,
    *,
    form: Literal["pog"] = "pog",
    numeric: Literal[False] = False,
    eliminate: bool = False,
    mode: Modes = ...,
) -> EquationSystem: ...


@overload
def derive(
    model: AnyModel, *, form: Literal["tf"], numeric: bool = False, eliminate: bool = False, mode: Modes = ...
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
def derive(model: AnyModel, *, steps: Literal[True], mode: Modes = ...) -> Derivation: ...


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
) -> EquationSystem: ...


@overload
def derive(
    model: AnyModel, *, form: Form = "pog", numeric: bool = False, eliminate: bool = False, mode: Modes = ...
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
) -> Derived | Derivation:
    """The equations of a model, with symbols.

    `form` is "pog" (`L x' = -A x + B u`), "ph" (port-Hamiltonian, `x' = (J - R) grad_H + (g - P) u`), "dae" (the sparse descriptor
    form, nothing eliminated) or "tf" (the transfer matrix).
    With `numeric`, parameters are replaced by their values: the POG form is then given as the descriptor form, which stays
    sparse for models of any size, unless `eliminate` asks for L, A, B, C, D.
    With `steps`, the POG form is derived step by step: each entry by the paths that make it.
    `mode` puts elements with modes into others than those they start in: `{"S": "closed"}`.
    With `closed`, signals are part of the model: the linear closed loop at an operating point (`at` and `inputs` as in `linearise`,
    and the time `t`), whose states are those of the power equations, the displacements and the states of controllers, and whose
    inputs are the sources that no signal drives and the references. Forms: pog and tf.

    Raises: TellegenError of the layer that cannot go on.

    >>> derive("dc_motor_pump").states
    ('I_a', 'omega_m', 'P_0')
    """
    if form not in FORMS:
        raise NO_SUCH_FORM.error(f"'{form}' is not a form of equations", fix=did_you_mean(form, FORMS))
    if closed:
        return derive_closed(model, form=form, numeric=numeric, mode=mode, at={**(at or {}), **(inputs or {})})
    if steps:
        return _steps(model, form, numeric, mode)
    graph = put_into_mode(lower(as_model(model)), mode)
    if form == "dae" or (form == "pog" and numeric and not eliminate):
        found = descriptor_form(graph)
        return found.numeric() if numeric else found
    system = derive_equations(assign_causality(graph))
    if form == "ph":
        hamiltonian = port_hamiltonian(system)
        return hamiltonian.numeric() if numeric else hamiltonian
    if form == "tf":
        return transfer_matrix(with_values(system) if numeric else system)
    return with_values(system) if numeric else system


def derive_closed(
    model: AnyModel, *, form: Form = "pog", numeric: bool = False, mode: Modes = NO_MODES, at: Mapping[str, float]
) -> EquationSystem | TransferMatrix:
    """The linear closed loop at values of states and inputs: what `derive` does with `closed`."""
    if form not in ("pog", "tf"):
        raise NO_SUCH_FORM.error(
            f"the closed loop has no form '{form}'",
            why="signals carry no power, so that only the forms pog and tf hold them",
            fix="ask for pog or tf",
        )
    system = derive_equations(assign_causality(put_into_mode(lower(as_model(model)), mode)))
    loop = close_loop(system, float(at.get(TIME, 0.0)))
    names = (*loop.states, *loop.displacements, *loop.inputs, TIME)
    for name in at:
        if name not in names:
            fix = did_you_mean(name, names) or f"some that are: {listing(names, 20)}"
            raise NO_SUCH_VARIABLE.error(
                f"'{name}' is no state or input of the closed loop of '{system.name}'", fix=fix
            )
    found = linearise_loop(loop, at) or linearise_equations(loop, at)
    settled = with_values(found) if numeric else found
    return transfer_matrix(settled) if form == "tf" else settled


def _steps(model: AnyModel, form: Form, numeric: bool, mode: Modes) -> Derivation:
    if form != "pog" or numeric:
        raise NO_SUCH_FORM.error(
            f"the form '{form}'{' with numbers' if numeric else ''} is not derived step by step",
            why="paths explain the entries of the POG form, with symbols",
            fix="ask for the steps of the form pog, with symbols",
        )
    return derivation_steps(derive_equations(assign_causality(put_into_mode(lower(as_model(model)), mode))))


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


def bond_graph(model: AnyModel, *, vectors: bool = True, merge_two_ports: bool = False) -> BondGraphScheme:
    """The bond graph of a model, simplified as an engineer would draw it, with half arrows, strokes and variables.

    With `vectors`, fields and connections with a matrix are one item each, joined by vector bonds; without, all bonds are scalar.
    `merge_two_ports` joins neighbouring TF and GY.

    Raises: TellegenError of the layer that cannot go on.

    >>> print(str(bond_graph("spring_damper")).splitlines()[0].strip())
    1  Sf:v |-> 1:end   (F_t, v)
    """
    causal = assign_causality(lower(as_model(model)))
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
    if output is not None and not force and Path(output).exists():
        raise WOULD_OVERWRITE.error(f"'{output}' is there already", fix="choose another name, or force it (--force)")
    text = to_yaml(read_netlist(file))
    if output is not None:
        write_text(Path(output), text)
    return text


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


def _listed_parts(parts: Mapping[str, str]) -> str:
    """How many parts there are, and the first of them."""
    shown = [f"{name} ({use})" for name, use in list(parts.items())[:MOST_PARTS_SHOWN]]
    more = len(parts) - len(shown)
    return f"{len(parts)}: {', '.join(shown)}{f' and {more} more' if more else ''}" if parts else ""


def _identifiers(names: tuple[str, ...]) -> list[str]:
    return [identifier(name) for name in names]


def _checked_causality(begun: Check, causal: CausalGraph) -> Check:
    ports = causal.graph.ports
    paths: dict[str, list[tuple[str, ...]]] = {}
    for path in causal.paths:
        paths.setdefault(path.kind, []).append(path.members)
    return replace(
        begun,
        findings=(*causal.findings, *impossible_modes(causal.graph)),
        modes={ports[k].element: tuple(law.modes) for k, law in causal.graph.switching.items()},
        states=tuple(ports[k].state for k in causal.integral),
        outputs=tuple(_conjugates(causal.graph)),
        dependent={ports[d.port].element: tuple(ports[k].element for k in d.on) for d in causal.dependent},
        paths={kind: tuple(found) for kind, found in paths.items()},
        method=causal.method,
        signals=tuple(signal.name for signal in causal.graph.signals),
        signal_states=tuple(signal.name for signal in causal.graph.signals if isinstance(signal, Integral)),
        algebraic_signals=algebraic_signals(causal.graph.signals),
    )


def _conjugates(graph: PowerGraph) -> list[str]:
    """The variable of each source that answers its input."""
    return [
        graph.ports[k].through if graph.ports[k].law.side == "across" else graph.ports[k].across
        for k in graph.sources()
    ]


def _checked_equations(found: Check, causal: CausalGraph) -> Check:
    if len(causal.graph.ports) > MOST_DERIVED:
        return found
    try:
        system = derive_equations(causal)
    except TellegenError as error:
        return replace(found, findings=(*found.findings, *error.findings))
    return replace(found, outputs=system.outputs, algebraic_signals=algebraic_unknowns(system.signals))
