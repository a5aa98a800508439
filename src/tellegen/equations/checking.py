"""Everything there is to say about a model before it is used: what `check` does."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.causality import CausalGraph, assign_causality, impossible_modes
from tellegen.causality.rules import DEPENDENT_STORAGE
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import identifier
from tellegen.core.tables import TitledTable, tables_html
from tellegen.equations import rules
from tellegen.equations.derivation import derive_equations
from tellegen.equations.forms.closed_loop import algebraic_unknowns
from tellegen.equations.system import EquationSystem, parameter_values
from tellegen.expressions import ZERO, Expression, derivative
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import PowerGraph, ResistiveLaw, algebraic_signals, lower
from tellegen.graph.signals import Integral
from tellegen.model.model import Model, all_parts
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.network.builder import Network
from tellegen.schemes.residual_sinks import with_free_sinks

MOST_DERIVED = 300
"""Up to so many elements `check` derives the equations too, to find what only they show."""
ROUNDING = 1e-9
"""A slope that is smaller than this share of another one is zero."""
MOST_PARTS_SHOWN = 12
MOST_LISTED = 12
"""So many dependent storages, or paths of one kind, are listed in the text; the JSON has all of them."""


@final
@dataclass(frozen=True, slots=True)
class Check:
    """What `check` found. `dependent` tells for each storage in derivative causality on which elements it depends.

    `paths` holds the zero-order causal paths by kind, each as the names of the elements along it. `modes` lists the modes of
    elements that have some, the one in which a run begins first: all that is said holds there. `held_by_sinks` are storages that
    residual sinks keep in integral causality. `algebraic_signals` are the
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
    held_by_sinks: tuple[str, ...] = ()
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
            **({"held_by_sinks": _identifiers(self.held_by_sinks)} if self.held_by_sinks else {}),
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

    def _repr_html_(self) -> str:
        rows = [(title, text) for title, text in self.rows().items() if text]
        return tables_html(self._summary()[0], [TitledTable("", rows)], [str(finding) for finding in self.findings])

    def rows(self) -> dict[str, str]:
        """What was found besides findings, by title; empty texts for what there is none of."""
        rows = {"parts": _listed_parts(self.parts), "elements": str(self.elements) if self.elements else ""}
        rows |= {word: ", ".join(getattr(self, word)) for word in ("states", "inputs", "outputs")}
        rows["dependent"] = _few([f"{name} on {', '.join(on) or 'nothing'}" for name, on in self.dependent.items()])
        rows["held by sinks"] = ", ".join(self.held_by_sinks)
        rows |= {kind: _few([" - ".join(members) for members in found]) for kind, found in self.paths.items()}
        rows["modes"] = "; ".join(f"{name}: {', '.join(words)}" for name, words in self.modes.items())
        rows |= {key.replace("_", " "): ", ".join(names) for key, names in self._signals().items()}
        rows["causality by"] = self.method
        return rows

    def _summary(self) -> list[str]:
        errors = sum(finding.severity == "error" for finding in self.findings)
        counted = f"{errors} error{'' if errors == 1 else 's'}" if errors else "no errors"
        return [f"{self.name}: {counted}"] + [f"  {title:<18} {text}" for title, text in self.rows().items() if text]


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
    found = _checked_causality(begun, causal)
    return _checked_equations(_with_sinks(found, read_one) if causal.dependent else found, causal)


def _listed_parts(parts: Mapping[str, str]) -> str:
    """How many parts there are, and the first of them."""
    shown = [f"{name} ({use})" for name, use in list(parts.items())[:MOST_PARTS_SHOWN]]
    more = len(parts) - len(shown)
    return f"{len(parts)}: {', '.join(shown)}{f' and {more} more' if more else ''}" if parts else ""


def _few(texts: Sequence[str]) -> str:
    """The first of many texts, and how many there are more."""
    more = len(texts) - MOST_LISTED
    return "; ".join(texts[:MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")


def _decisive(graph: PowerGraph, ports: Sequence[int]) -> tuple[str, ...]:
    """The elements that decide what a storage does; ideal sensors, which make something zero, where there are no others."""
    laws = [graph.ports[k].law for k in ports]
    # An ideal sensor holds zero and decides nothing that a reader would look for.
    moving = [k for k, law in zip(ports, laws, strict=True) if not (isinstance(law, ResistiveLaw) and law.ideal)]
    return tuple(graph.ports[k].element for k in moving or ports)


def _identifiers(names: tuple[str, ...]) -> list[str]:
    return [identifier(name) for name in names]


def _checked_causality(begun: Check, causal: CausalGraph) -> Check:
    ports = causal.graph.ports
    paths: dict[str, list[tuple[str, ...]]] = {}
    for path in causal.paths:
        # In the order in which causality found them.
        paths.setdefault(path.kind, []).append(path.members)
    return replace(
        begun,
        findings=(*causal.findings, *impossible_modes(causal.graph)),
        modes={ports[k].element: tuple(law.modes) for k, law in causal.graph.switching.items()},
        states=tuple(ports[k].state for k in causal.integral),
        outputs=tuple(_conjugates(causal.graph)),
        dependent={ports[d.port].element: _decisive(causal.graph, d.on) for d in causal.dependent},
        paths={kind: tuple(found) for kind, found in paths.items()},
        method=causal.method,
        signals=tuple(signal.name for signal in causal.graph.signals),
        signal_states=tuple(signal.name for signal in causal.graph.signals if isinstance(signal, Integral)),
        algebraic_signals=algebraic_signals(causal.graph.signals),
    )


def _with_sinks(found: Check, model: Model) -> Check:
    """Storages that a described residual sink holds have integral causality: the sink gives the force, and they follow none."""
    drawn = with_free_sinks(model)
    if drawn is model:
        return found
    causal = assign_causality(lower(drawn))
    left = {causal.graph.ports[d.port].element for d in causal.dependent}
    held = tuple(name for name in found.dependent if name not in left)
    findings = (f for f in found.findings if not (f.code == DEPENDENT_STORAGE.code and f.where in held))
    paths = {kind: tuple(m for m in members if not set(m) & set(held)) for kind, members in found.paths.items()}
    return replace(
        found,
        findings=tuple(findings),
        dependent={name: on for name, on in found.dependent.items() if name in left},
        paths={kind: members for kind, members in paths.items() if members},
        held_by_sinks=held,
    )


def _conjugates(graph: PowerGraph) -> list[str]:
    """The variable of each source that answers its input."""
    return [
        graph.ports[k].through if graph.ports[k].law.side == "across" else graph.ports[k].across
        for k in graph.sources()
    ]


def _checked_equations(found: Check, causal: CausalGraph) -> Check:
    # Causality of large models is quick, their equations are not; `check` is what an editor calls while one types.
    if len(causal.graph.ports) > MOST_DERIVED:
        return found
    try:
        system = derive_equations(causal)
    except TellegenError as error:
        return replace(found, findings=(*found.findings, *error.findings))
    findings = (*found.findings, *loops_of_several_values(system))
    return replace(
        found, findings=findings, outputs=system.outputs, algebraic_signals=algebraic_unknowns(system.signals)
    )


def loops_of_several_values(system: EquationSystem) -> Iterator[Finding]:
    """A notice for each equation of one unknown that turns and turns back, whatever the inputs and the states are."""
    values = parameter_values(system.parameters)
    for residual in (with_definitions(e, system.where) for e in system.algebraic.residuals):
        names = sorted(residual.free_symbols & set(system.algebraic.unknowns))
        slope = derivative(residual, names[0]) if len(names) == 1 else ZERO
        if slope.free_symbols - values.keys() != set(names):
            continue
        turns = _turns(slope, names[0], values)
        # One that only turns does so where it is used beyond its meaning: T^4 below zero kelvin, v^2 backwards.
        if len(turns) > 1:
            what = f"the equation for '{names[0]}' turns near {turns[0]:.2g} and back near {turns[1]:.2g}: three may solve it"
            fix = "a run says which one it takes; a small storage at the law says how it is reached"
            yield rules.SEVERAL_VALUES.finding(what, where=names[0], fix=fix, members=names)


def _turns(slope: Expression, name: str, values: Mapping[str, float]) -> list[float]:
    """Where a slope changes its sign, as near as steps of a quarter tell; rounding changes none."""
    found: list[float] = []
    before = 0.0
    decades = [10.0 ** (k / 10) for k in range(-90, 61)]
    for x in (*(-size for size in reversed(decades)), *decades):
        with suppress(ArithmeticError, ValueError):
            size = slope.evaluate({**values, name: x})
            if before * size < 0.0 and abs(size) > ROUNDING * abs(before):
                found.append(x)
            before = size or before
    return found
