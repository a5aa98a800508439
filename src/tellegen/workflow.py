"""Several arrows in one call: what each command does, as a Python function.

A model may be given as a `Model`, as a `Network` built in Python, as a file (YAML, or a POG_Modeler netlist that ends in
`.txt`), or as the name of a built-in example.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, final, overload

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import Finding, Rulebook, TellegenError
from tellegen.core.names import did_you_mean, identifier, listing
from tellegen.description import Model, Network, read_model, read_netlist, to_yaml
from tellegen.description.document import write_text
from tellegen.equations.assembly import derive_equations
from tellegen.equations.descriptor import DescriptorSystem, descriptor_form
from tellegen.equations.hamiltonian import HamiltonianSystem, port_hamiltonian
from tellegen.equations.linearisation import linearise_equations
from tellegen.equations.numeric import with_values
from tellegen.equations.steps import Derivation, derivation_steps
from tellegen.equations.system import EquationSystem
from tellegen.equations.transfer import TransferMatrix, transfer_matrix
from tellegen.graph import PowerGraph, lower

RULES = Rulebook("D")

NO_SUCH_MODEL = RULES.rule(
    "D300",
    "no such model",
    meaning="The text names neither a file nor a built-in example.",
    why="a model is a file, or a built-in example by its name",
)
NO_SUCH_EXAMPLE = RULES.rule(
    "D301",
    "no such example",
    meaning="No built-in example has this name.",
    why="built-in examples are loaded by the names that 'tellegen examples' lists",
)
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

SYSTEMS = Path(__file__).parent / "systems"
"""The built-in examples: one file a system, named like it."""

NETLIST = ".txt"

Form = Literal["pog", "ph", "dae", "tf"]
FORMS: tuple[Form, ...] = ("pog", "ph", "dae", "tf")
Derived = EquationSystem | DescriptorSystem | TransferMatrix | HamiltonianSystem
AnyModel = Model | Network | str | os.PathLike[str]

MOST_DERIVED = 300
"""Up to so many elements `check` derives the equations too, to find what only they show."""


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


def load(name: str) -> Model:
    """A built-in system by its name.

    Raises: DescriptionError (D301) with the nearest name.

    >>> load("dc_motor_pump").inputs
    ('V_a', 'Q_0')
    """
    names = _example_names()
    if name not in names:
        fix = did_you_mean(name, names) or f"the examples are {listing(names, 40)}"
        raise NO_SUCH_EXAMPLE.error(f"there is no built-in example '{name}'", fix=fix)
    return read_model(SYSTEMS / f"{name}.yaml")


def read(path: str | os.PathLike[str]) -> Model:
    """The model in a file: a POG_Modeler netlist where the name ends in `.txt`, else YAML.

    Raises: DescriptionError with everything found.
    """
    file = Path(path)
    return read_netlist(file) if file.suffix.lower() == NETLIST else read_model(file)


def open_model(text: str) -> Model:
    """The model that a text names: a file, or a built-in example.

    Raises: DescriptionError (D300) when it is neither, or with what is wrong in the file.
    """
    names = _example_names()
    if text in names and not Path(text).is_file():
        return load(text)
    if _looks_like_a_file(text):
        return read(text)
    near = did_you_mean(text, names)
    fix = near or "give a file, or one of the names that 'tellegen examples' lists"
    raise NO_SUCH_MODEL.error(f"'{text}' is neither a file nor a built-in example", fix=fix)


@final
@dataclass(frozen=True, slots=True)
class Check:
    """What `check` found. `dependent` tells for each storage in derivative causality on which elements it depends.

    `paths` holds the zero-order causal paths by kind, each as the names of the elements along it. Where an error ended the
    work early, what comes later is empty.
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
            "findings": [finding.to_json() for finding in self.findings],
        }

    def __str__(self) -> str:
        return "\n".join([*self._summary(), *(f"\n{finding}" for finding in self.findings)])

    def _summary(self) -> list[str]:
        errors = sum(finding.severity == "error" for finding in self.findings)
        counted = f"{errors} error{'' if errors == 1 else 's'}" if errors else "no errors"
        lines = [f"{self.name}: {counted}"]
        rows = {"elements": str(self.elements) if self.elements else ""}
        rows |= {word: ", ".join(getattr(self, word)) for word in ("states", "inputs", "outputs")}
        rows["dependent"] = "; ".join(f"{name} on {', '.join(on) or 'nothing'}" for name, on in self.dependent.items())
        rows |= {kind: "; ".join(" - ".join(members) for members in found) for kind, found in self.paths.items()}
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
    begun = Check(read_one.name, read_one.findings, len(read_one.elements), inputs=read_one.inputs)
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
    model: AnyModel, *, form: Literal["pog"] = "pog", numeric: Literal[False] = False, eliminate: bool = False
) -> EquationSystem: ...


@overload
def derive(
    model: AnyModel, *, form: Literal["tf"], numeric: bool = False, eliminate: bool = False
) -> TransferMatrix: ...


@overload
def derive(
    model: AnyModel, *, form: Literal["dae"], numeric: bool = False, eliminate: bool = False
) -> DescriptorSystem: ...


@overload
def derive(
    model: AnyModel, *, form: Literal["ph"], numeric: bool = False, eliminate: bool = False
) -> HamiltonianSystem: ...


@overload
def derive(model: AnyModel, *, steps: Literal[True]) -> Derivation: ...


@overload
def derive(model: AnyModel, *, form: Form = "pog", numeric: bool = False, eliminate: bool = False) -> Derived: ...


def derive(
    model: AnyModel, *, form: Form = "pog", numeric: bool = False, eliminate: bool = False, steps: bool = False
) -> Derived | Derivation:
    """The equations of a model, with symbols.

    `form` is "pog" (`L x' = -A x + B u`), "ph" (port-Hamiltonian, `x' = (J - R) grad_H + (g - P) u`), "dae" (the sparse descriptor
    form, nothing eliminated) or "tf" (the transfer matrix).
    With `numeric`, parameters are replaced by their values: the POG form is then given as the descriptor form, which stays
    sparse for models of any size, unless `eliminate` asks for L, A, B, C, D.
    With `steps`, the POG form is derived step by step: each entry by the paths that make it.

    Raises: TellegenError of the layer that cannot go on.

    >>> derive("dc_motor_pump").states
    ('I_a', 'omega_m', 'P_0')
    """
    if form not in FORMS:
        raise NO_SUCH_FORM.error(f"'{form}' is not a form of equations", fix=did_you_mean(form, FORMS))
    if steps:
        return _steps(model, form, numeric)
    graph = lower(as_model(model))
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


def _steps(model: AnyModel, form: Form, numeric: bool) -> Derivation:
    if form != "pog" or numeric:
        raise NO_SUCH_FORM.error(
            f"the form '{form}'{' with numbers' if numeric else ''} is not derived step by step",
            why="paths explain the entries of the POG form, with symbols",
            fix="ask for the steps of the form pog, with symbols",
        )
    return derivation_steps(derive_equations(assign_causality(lower(as_model(model)))))


def linearise(
    model: AnyModel | EquationSystem,
    *,
    at: Mapping[str, float] | None = None,
    inputs: Mapping[str, float] | None = None,
) -> EquationSystem:
    """The linear model that touches a model at an operating point, as numbers, in deviations from the point.

    `at` gives values of states and `inputs` of inputs; what is not given is zero.

    Raises: EquationError when a parameter has no value or the point does not exist; DescriptionError (D305) for an unknown name.
    """
    system = model if isinstance(model, EquationSystem) else derive(model)
    point = {**(at or {}), **(inputs or {})}
    for names, given, word in ((system.states, at, "state"), (system.inputs, inputs, "input")):
        for name in given or {}:
            if name not in names:
                fix = did_you_mean(name, names) or f"the {word}s are {listing(names, 40)}"
                raise NO_SUCH_VARIABLE.error(f"'{name}' is not a {word} of '{system.name}'", fix=fix)
    return linearise_equations(system, point)


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


def as_model(model: AnyModel) -> Model:
    """The model behind whatever stands for one: itself, what a network builds, a file, a built-in example."""
    if isinstance(model, Model):
        return model
    if isinstance(model, Network):
        return model.model()
    if isinstance(model, str):
        return open_model(model)
    return read(model)


def _example_names() -> list[str]:
    return [path.stem for path in sorted(SYSTEMS.glob("*.yaml"))]


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


def _looks_like_a_file(text: str) -> bool:
    path = Path(text)
    return path.suffix.lower() in {".yaml", ".yml", NETLIST} or path.name != text or path.exists()


def _identifiers(names: tuple[str, ...]) -> list[str]:
    return [identifier(name) for name in names]


def _checked_causality(begun: Check, causal: CausalGraph) -> Check:
    ports = causal.graph.ports
    paths: dict[str, list[tuple[str, ...]]] = {}
    for path in causal.paths:
        paths.setdefault(path.kind, []).append(path.members)
    return replace(
        begun,
        findings=causal.findings,
        states=tuple(ports[k].state for k in causal.integral),
        outputs=tuple(_conjugates(causal.graph)),
        dependent={ports[d.port].element: tuple(ports[k].element for k in d.on) for d in causal.dependent},
        paths={kind: tuple(found) for kind, found in paths.items()},
        method=causal.method,
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
    return replace(found, outputs=system.outputs)
