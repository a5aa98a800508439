"""A model with dependent storages: its causality, its equations, and what can be said about each constraint."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.causality.causal_graph import PathKind
from tellegen.conditioning import rules
from tellegen.core.domains import other_side
from tellegen.core.memory import Known, remembered
from tellegen.core.names import did_you_mean, identifier, listing
from tellegen.equations.derivation import derive_equations
from tellegen.equations.storages import ParameterRates
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import Port, SourceLaw, StorageLaw, lower
from tellegen.model.model import Element, Model


@final
@dataclass(frozen=True)
class Constraint:
    """A storage that follows others: its element, its output, the elements it follows, and the kinds of its zero-order paths."""

    storage: str
    output: str
    follows: tuple[str, ...]
    kinds: tuple[PathKind, ...]

    @property
    def force(self) -> str:
        """The name of the force of the constraint, or of what takes its place in other domains."""
        return f"lambda_{self.storage.replace('.', '_').replace('[', '_').replace(']', '').replace(',', '_')}"

    def to_json(self) -> dict[str, object]:
        """Names only."""
        return {
            "storage": identifier(self.storage),
            "output": identifier(self.output),
            "follows": [identifier(name) for name in self.follows],
            "paths": list(self.kinds),
            "force": identifier(self.force),
        }


@final
@dataclass(frozen=True)
class ConstrainedModel:
    """A model, its causal graph, and the ports of the dependent storages: those that follow storages, and those behind sources.

    With `sources`, both are treated: the rate of an input then is left to the solver, or to a spring. With `massless`, so are
    storages without inertia that follow others: they store nothing, but what brings their speed may divide by what vanishes.
    """

    model: Model
    causal: CausalGraph
    sources: bool = False
    massless: bool = False
    known: Known = field(default_factory=Known, init=False, compare=False, repr=False)

    @property
    def system(self) -> EquationSystem:
        """The equations of the independent storages."""
        return derive_equations(self.causal)

    @cached_property
    def whole(self) -> "ConstrainedModel":
        """The same with the storages behind sources treated, too."""
        # Itself where it is whole already: what it has remembered stays.
        return replace(self, sources=True) if self.behind_sources and not self.sources else self

    @cached_property
    def behind_sources(self) -> tuple[int, ...]:
        """Ports of dependent storages that follow an input, too."""
        ports = self.causal.graph.ports
        behind = (d.port for d in self.causal.dependent if any(isinstance(ports[k].law, SourceLaw) for k in d.on))
        return tuple(k for k in behind if not self._is_massless(k))

    @cached_property
    def ports(self) -> tuple[int, ...]:
        """Ports of dependent storages that are treated; one without inertia stores nothing, and stays as it is if it may."""
        # Behind a source the rate of an input is needed, which only solvers with derivatives or springs can deal with.
        left = () if self.sources else self.behind_sources
        apart = (k for k in self.causal.derivative if k not in left)
        return tuple(k for k in apart if self.massless or not self._is_massless(k))

    @property
    def has_massless(self) -> bool:
        """Whether storages without inertia follow others."""
        return any(map(self._is_massless, self.causal.derivative))

    def _is_massless(self, port: int) -> bool:
        law = self.causal.graph.ports[port].law
        # By identity: a storage of zero inertia by its kind, not one whose parameter happens to be zero in a run.
        return isinstance(law, StorageLaw) and law.inertia is ZERO

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints of these ports, in the order of description."""
        ports = self.causal.graph.ports
        on = {d.port: d.on for d in self.causal.dependent}
        return tuple(
            Constraint(
                ports[k].element,
                output_of(ports[k]),
                tuple(ports[j].element for j in on[k]),
                tuple(sorted({path.kind for path in self.causal.paths if ports[k].element in path.members})),
            )
            for k in self.ports
        )

    def taken(self, storage: str) -> Expression:
        """What a storage takes: the force on a mass, the current into a capacitor."""
        port = next(p for p in self.causal.graph.ports if p.element == storage)
        return symbol(port.variable(other_side(port.law.side)))

    @cached_property
    def elements(self) -> dict[str, Element]:
        """The elements by name."""
        return {e.name: e for e in self.model.elements}

    def written(self, expression: Expression) -> Expression:
        """An expression of the equations with the names of "where" written out, but for parameters of the model."""
        names = {n: e for n, e in self.system.where.items() if n not in self.model.parameters}
        return with_definitions(expression, names)

    @cached_property
    def slopes(self) -> dict[str, Expression]:
        """Names of slopes of moving parameters by displacements, `H_theta`, and what they stand for."""
        return ParameterRates(self.causal.graph.position_dependent, self.system.displacements).slopes

    def readable(self, expression: Expression) -> Expression:
        """The same, with slopes of moving parameters by name."""
        kept = self.model.parameters.keys() | self.slopes.keys()
        return with_definitions(expression, {n: e for n, e in self.system.where.items() if n not in kept})

    def refuse_none(self, form: str) -> None:
        """Raises: ConditioningError where there is no constraint that the form could treat (C102, C103)."""
        if self.ports:
            return
        # The two reasons have different cures, so they have different errors.
        if self.behind_sources:
            ports = self.causal.graph.ports
            k = self.behind_sources[0]
            on = next(d.on for d in self.causal.dependent if d.port == k)
            source = next(ports[j].element for j in on if isinstance(ports[j].law, SourceLaw))
            raise rules.FOLLOWS_A_SOURCE.error(
                f"'{ports[k].element}' follows the source '{source}', so the form {form} has nothing to do",
                where=ports[k].element,
                fix=f"choose the form derivative or parasitic, or put a compliance between '{source}' and '{ports[k].element}'",
                place=ports[k].place,
                members=[ports[k].element, source],
            )
        raise rules.NOTHING_DEPENDS.error(
            f"no storage of '{self.model.name}' depends on others, so the form {form} has nothing to do",
            where=self.model.name,
            fix="run the model as it is",
        )


def constrained_model(model: Model, coordinates: Sequence[str] = ()) -> ConstrainedModel:
    """The model with its causality; `coordinates` are outputs of storages, or displacements, that should be independent.

    Raises: ConditioningError (C106) for coordinates that are none, or that depend on each other.
    """
    if not coordinates:
        return _as_described(model)
    # Causality is asked for the coordinates; whether it could give them is checked afterwards.
    found = _as_described(_preferring(model, coordinates))
    _check_chosen(found, coordinates)
    return found


@remembered
def _as_described(model: Model) -> ConstrainedModel:
    """The model with the coordinates of its description: all forms of it begin here, so it is made once."""
    return ConstrainedModel(model, assign_causality(lower(model)))


def output_of(port: Port) -> str:
    """The name of the output of a storage."""
    return port.variable(port.law.side)


def _speeds(model: Model, coordinates: Sequence[str]) -> dict[str, str]:
    """The speed behind each coordinate: itself, or the rate of a displacement."""
    found = {}
    for name in coordinates:
        rate = model.displacements.get(name)
        found[name] = name if rate is None else str(rate)
    return found


def _preferring(model: Model, coordinates: Sequence[str]) -> Model:
    graph = lower(model)
    owners = {output_of(graph.ports[k]): graph.ports[k].element for k in graph.storages()}
    speeds = _speeds(model, coordinates)
    for name, speed in speeds.items():
        if speed not in owners:
            known = [*model.displacements, *owners]
            fix = did_you_mean(name, known) or f"choose among {listing(known, 20)}"
            raise rules.NO_SUCH_COORDINATE.error(f"'{name}' is the output of no storage", where=model.name, fix=fix)
    chosen = {owners[speed] for speed in speeds.values()}
    elements = tuple(
        # All other storages lose their preference, also a forced one: the coordinates that are asked for now are the
        # later word.
        replace(e, prefer=e.kind.side if e.name in chosen else None, forced=False) if e.kind.role == "storage" else e
        for e in model.elements
    )
    return replace(model, elements=elements)


def _check_chosen(found: ConstrainedModel, coordinates: Sequence[str]) -> None:
    ports = found.causal.graph.ports
    for d in found.causal.dependent:
        for name, speed in _speeds(found.model, coordinates).items():
            if output_of(ports[d.port]) == speed:
                on = [output_of(ports[k]) for k in d.on]
                raise rules.NO_SUCH_COORDINATE.error(
                    f"'{name}' cannot be chosen beside the others: {listing(on)} decide it",
                    where=ports[d.port].element,
                    fix="leave one of them out",
                    members=on,
                )
