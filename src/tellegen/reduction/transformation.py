"""The limit on the graph: what vanishes or freezes becomes a source, some states remain, and x = T z + T_u u gives the others.

A rigid spring imposes the velocity zero, a massless body the force zero, a frozen storage the output that it started with. So
causality and equations follow as for any model, and the sources show the variables that the limit removes: the force in the rigid
spring, the velocity of the massless body.

A variable that the limit removes is told by the rest of the model: the velocity of a massless body by the dampers around it. What
only the rate of a dependent storage tells (the force in a rigid connection) drops out of the congruent transformation, so its row
may be chosen: zero, as far as the other rows allow.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.causality.exact import Demand, ExactCausality, demands, exact_causality, generic_residue
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import EquationError, Finding, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.elements import ElementKind, kinds_of
from tellegen.equations.matrices import Matrix, dot
from tellegen.equations.structure import CausalStructure, ResistiveSolution, causal_structure, solve_resistive
from tellegen.expressions import ONE, ZERO, Expression, Mul, Number, Pow, symbol
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries, with_definitions
from tellegen.graph import Port, PowerGraph, SourceLaw, StorageLaw, lower
from tellegen.model.model import Element, Model
from tellegen.reduction import rules
from tellegen.reduction.limited import ModelAtLimits
from tellegen.reduction.limits import without_index


@final
@dataclass(frozen=True)
class LimitSources:
    """The model and the graph in which elements at their limit are sources.

    `zero` are the ports of elements of which a variable vanishes, `frozen` those of frozen storages. `indeterminate` names the
    elements whose constraint held already: they are left out, and nothing determines their other variable.
    """

    model: Model
    graph: PowerGraph
    zero: tuple[int, ...]
    frozen: tuple[int, ...]
    indeterminate: tuple[str, ...]
    findings: tuple[Finding, ...]


def with_limit_sources(limited: ModelAtLimits, base: PowerGraph, following: Iterable[str]) -> LimitSources:
    """Replace what vanishes or freezes by sources.

    `base` is the graph of the full model and `following` names its dependent storages. Constraints that hold already are left out.

    Raises: ReductionError when a constraint has no solution, or depends on a ratio of limits.
    """
    # A source imposes what the limit imposes; then causality and equations need no special case.
    replaced = {*limited.vanishing, *limited.frozen}
    names = {without_index(port.element): port for port in base.ports}
    elements = [_source(e, limited, names) if e.name in replaced else e for e in limited.model.elements]
    model = replace(limited.model, elements=tuple(elements))
    return _Conflicts(model, limited, frozenset(following)).settled()


def source_kind(domain: str, side: Side) -> ElementKind:
    """The kind of source that imposes a variable."""
    return next(k for k in kinds_of(domain, "source") if k.side == side)


def _source(element: Element, limited: ModelAtLimits, ports: Mapping[str, Port]) -> Element:
    side = limited.vanishing.get(element.name) or element.kind.side
    port = ports[without_index(element.name)]
    variables: dict[str, str] = {s: without_index(port.variable(s)) for s in ("across", "through")}
    if element.name in limited.vanishing:
        # The variable that vanishes keeps no name of the model: nobody should take it for a state.
        variables[side] = f"zero_{without_index(element.name)}".replace(".", "_")
    return Element(
        element.name,
        source_kind(element.kind.domains[0], side),
        element.nodes,
        variables=variables,
        place=element.place,
    )


class _Conflicts:
    """Finds the constraints that cannot be imposed because others decide the variable already."""

    def __init__(self, model: Model, limited: ModelAtLimits, following: frozenset[str]) -> None:
        self.model = model
        self.limited = limited
        self.following = following
        self.findings: list[Finding] = []
        self.indeterminate: list[str] = []

    def settled(self) -> LimitSources:
        """The graph without redundant constraints."""
        graph = lower(self.model)
        # Taking out one redundant constraint may free another one, so the causality is looked at again.
        while True:
            ports = {port.element: k for k, port in enumerate(graph.ports)}
            zero = tuple(ports[n] for n in self.limited.vanishing if n in ports)
            frozen = tuple(ports[n] for n in self.limited.frozen if n in ports)
            denied = self._denied(graph, zero, frozen)
            if denied is None:
                return LimitSources(self.model, graph, zero, frozen, tuple(self.indeterminate), tuple(self.findings))
            graph = _without(graph, ports[denied])

    def _denied(self, graph: PowerGraph, zero: Sequence[int], frozen: Sequence[int]) -> str | None:
        """The first constraint that is not free, and redundant; None where all are free."""
        # True sources first: a limit that contradicts them has no solution, and is not merely redundant.
        limits = {*zero, *frozen}
        order = demands(graph)
        given = [d for d in order if d.port not in limits and d.must]
        true = [d for d in given if d.port in set(graph.sources())]
        wanted = [Demand(k, _side(graph.ports[k]), True) for k in (*frozen, *zero)]
        # By ranks and not by strokes: a constraint may be redundant in a mesh without any stroke telling so.
        found = exact_causality(
            graph, [*true, *wanted, *(d for d in order if d not in true and d.port not in limits)], generic_residue
        )
        for demand in wanted:
            if found.decides[demand.port] != demand.wants:
                return self._judged(graph, demand.port, found, limits)
        return None

    def _judged(self, graph: PowerGraph, port: int, found: ExactCausality, limits: set[int]) -> str:
        """The name of a redundant constraint; raises for one that contradicts others."""
        name = graph.ports[port].element
        partners = found.partners(port)
        names = [graph.ports[k].element for k in partners]
        is_frozen = name in self.limited.frozen
        # What decides the variable is no limit: the physics forbids it.
        if any(k not in limits for k in partners):
            raise self._unsolvable(graph, port, [n for k, n in zip(partners, names, strict=True) if k not in limits])
        frozen = [n for n in names if n in self.limited.frozen]
        # A frozen storage that followed frozen ones before stays with them, and contradicts nothing.
        if is_frozen and name in self.following and len(frozen) == len(names):
            return name
        # Two storages frozen at different values cannot hold one variable.
        if frozen or is_frozen:
            raise self._contradiction(name, names)
        # Several limits impose the same: how they share the force depends on their ratio.
        if names:
            raise self._ratio(graph, [name, *names])
        self.indeterminate.append(name)
        variable = graph.ports[port].variable(other_side(_side(graph.ports[port])))
        self.findings.append(
            rules.INDETERMINATE.finding(
                f"{variable} of '{name}' is indeterminate: its constraint holds already",
                where=name,
                fix=f"keep {listing(self.limited.causes[name])} if {variable} is wanted",
                members=[name],
            )
        )
        return name

    def _limits_of(self, names: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(n for name in names for n in self.limited.causes.get(name, ())))

    def _unsolvable(self, graph: PowerGraph, port: int, others: list[str]) -> TellegenError:
        me = graph.ports[port]
        word = graph.domain_of(port).power(_side(me)).word
        held = "be zero" if me.element in self.limited.vanishing else "stay as it is"
        decide = "decides" if len(others) == 1 else "decide"
        return rules.UNSOLVABLE.error(
            f"the {word} of '{me.element}' would have to {held}, but {listing(others)} {decide} it",
            where=me.element,
            fix=f"keep {listing(self._limits_of([me.element]))}, or put an element between '{me.element}' and {listing(others)}",
            place=me.place,
            members=[me.element, *others],
        )

    def _contradiction(self, name: str, others: Sequence[str]) -> TellegenError:
        limits = self._limits_of([name, *others])
        return rules.CONTRADICTING_LIMITS.error(
            f"the limits of {listing(limits)} hold {listing([name, *others])} at values that need not agree",
            where=name,
            fix=f"keep one of {listing(limits)}",
            members=[name, *others],
        )

    def _ratio(self, graph: PowerGraph, names: Sequence[str]) -> TellegenError:
        limits = self._limits_of(names)
        variables = [p.variable(other_side(_side(p))) for p in graph.ports if p.element in names]
        ratio = "/".join(limits[:2]) if len(limits) > 1 else f"between {listing(names)}"
        return rules.RATIO_OF_LIMITS.error(
            f"{listing(variables)} depend on the ratio {ratio} of the limits",
            where=names[0],
            fix=f"take only one of {listing(limits)} to its limit: the others are idle then",
            members=names,
        )


def _without(graph: PowerGraph, port: int) -> PowerGraph:
    moved = {k: k - (k > port) for k in range(len(graph.ports)) if k != port}
    fields = tuple(replace(f, ports=tuple(moved[k] for k in f.ports)) for f in graph.fields)
    switching = {moved[k]: law for k, law in graph.switching.items()}
    ports = tuple(p for k, p in enumerate(graph.ports) if k != port)
    now = {moved[k]: mode for k, mode in graph.now.items()}
    return replace(graph, ports=ports, fields=fields, switching=switching, now=now)


def _side(port: Port) -> Side:
    assert not isinstance(port.law, StorageLaw), "asked for sources only"
    return port.law.side


@final
@dataclass(frozen=True)
class ChosenStates:
    """The causality of the limit with the states chosen, and the causal interconnection with symbols."""

    causal: CausalGraph
    structure: CausalStructure
    field: NamedEntries

    @property
    def states(self) -> list[str]:
        """The elements that keep a state."""
        return [self.causal.graph.ports[k].element for k in self.causal.integral]


def choose_states(sources: LimitSources, order: Sequence[str], keep: Sequence[str]) -> ChosenStates:
    """Choose among the storages of the limit; `order` and `keep` name elements.

    Raises: ReductionError (T108) when what is to be kept cannot be.
    """
    graph = sources.graph
    # What the user keeps comes first, then the order of the states.
    waiting = [*keep, *(name for name in order if name not in keep)]
    tried: set[frozenset[str]] = set()
    best: ChosenStates | None = None
    while True:
        states = _independent(sources, waiting)
        _refuse_lost(graph, keep, states)
        # Choices repeat when no order avoids moving denominators: then the first one found is as good.
        if best is not None and frozenset(states) in tried:
            return best
        tried.add(frozenset(states))
        found = _with_states(graph, states)
        # A T that divides by what moves may divide by zero along the way: such states are asked last.
        late = [name for name in _behind_varying_denominators(found) if name not in keep]
        if best is None or not late:
            best = found
        if not late:
            return best
        waiting = [*(n for n in waiting if n not in late), *late]


def _independent(sources: LimitSources, waiting: Sequence[str]) -> list[str]:
    graph = sources.graph
    asked = demands(graph)
    rank = {name: k for k, name in enumerate(waiting)}
    storages = [d for d in asked if isinstance(graph.ports[d.port].law, StorageLaw) and not d.must]
    # A stable sort: storages that nobody named keep the order of the graph.
    storages.sort(key=lambda d: rank.get(graph.ports[d.port].element, len(rank)))
    first = [d for d in asked if d.must]
    last = [d for d in asked if not d.must and not isinstance(graph.ports[d.port].law, StorageLaw)]
    order: list[Demand] = [*first, *storages, *last]
    decides = exact_causality(graph, order, generic_residue).decides
    return [
        port.element
        for port, side in zip(graph.ports, decides, strict=True)
        if isinstance(port.law, StorageLaw) and side == port.law.side
    ]


def _with_states(graph: PowerGraph, states: Iterable[str]) -> ChosenStates:
    chosen = set(states)
    ports = tuple(
        replace(p, prefer=p.law.side if p.element in chosen else None)
        if isinstance(p.law, StorageLaw) and not p.forced
        else p
        for p in graph.ports
    )
    causal = assign_causality(replace(graph, ports=ports))
    variables = (name for p in graph.ports for name in (p.across, p.through, p.state))
    # Long parts are called r_1, r_2, ... as in the glossary that a reduction prints.
    field = NamedEntries(graph.parameters, (*variables, *graph.position_dependent, *graph.displacements), prefix="r")
    return ChosenStates(causal, causal_structure(causal, field), field)


def _refuse_lost(graph: PowerGraph, keep: Sequence[str], states: Sequence[str]) -> None:
    lost = [name for name in keep if name not in states]
    if lost:
        raise rules.CANNOT_KEEP.error(
            f"{listing(lost)} cannot be kept: the limit leaves the states of {listing(states)}",
            where=lost[0],
            fix="keep fewer, or others",
            members=lost,
        )


def kept_elements(graph: PowerGraph, keep: Sequence[str], gone: Iterable[str]) -> list[str]:
    """The elements of the states that are to be kept, given by the names of the states or of the elements.

    Raises: ReductionError (T108) for a name that is no state, or that the limit removes.
    """
    # Users think of states or of elements, and both are accepted.
    states = {p.state: p.element for p in graph.ports if isinstance(p.law, StorageLaw)}
    elements = set(states.values())
    removed = set(gone)
    found = []
    for name in keep:
        element = states.get(name) or (name if name in elements else None)
        if element is None:
            fix = did_you_mean(name, states) or f"the states are {listing(states)}"
            raise rules.CANNOT_KEEP.error(f"'{name}' is not a state", where=name, fix=fix)
        if element in removed:
            what = f"'{name}' cannot be kept: its own storage is at the limit"
            raise rules.CANNOT_KEEP.error(what, where=name, fix="keep another state")
        found.append(element)
    return found


def _behind_varying_denominators(choice: ChosenStates) -> list[str]:
    """States through which a dependent variable has a denominator that moves: it may vanish along the way."""
    causal, ports = choice.causal, choice.causal.graph.ports
    moving = _varying_names(causal.graph)
    if not moving:
        return []
    asked = (*causal.derivative, *causal.sources)
    late = {
        j
        for k in asked
        for j, gain in choice.structure.gains[k].items()
        if j in set(causal.integral) and divides_by(with_definitions(gain.expression, choice.field.where), moving)
    }
    return [ports[j].element for j in sorted(late)]


def _varying_names(graph: PowerGraph) -> set[str]:
    states = {p.state for p in graph.ports if p.state}
    inputs = {p.law.input for p in graph.ports if isinstance(p.law, SourceLaw)}
    # Without displacements all ratios are constant, and no denominator can vanish on the way.
    return {*graph.displacements, *graph.position_dependent, *states, *inputs} if graph.displacements else set()


def divides_by(expression: Expression, names: Mapping[str, object] | set[str]) -> bool:
    """Whether a denominator of the expression contains one of the names."""
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Mul) and any(q < 0 and not base.free_symbols.isdisjoint(names) for base, q in node.factors):
            return True
        below = isinstance(node, Pow) and isinstance(node.exponent, Number) and node.exponent.rational < 0
        if below and not node.args[0].free_symbols.isdisjoint(names):
            return True
        stack.extend(node.args)
    return False


Row = dict[int, Entry]


@final
@dataclass(frozen=True)
class LimitTransformation:
    """Rows of T and T_u for the variables in `rows`. Entries are over parameters and the names of `where`.

    `static` are the variables that follow from states and inputs alone; those of `rates` need rates too.
    """

    rows: tuple[str, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    T: Matrix
    T_u: Matrix
    static: Mapping[str, Expression]
    rates: tuple[str, ...]
    where: Mapping[str, Expression]


def limit_transformation(
    sources: LimitSources,
    choice: ChosenStates,
    rows: Sequence[str],
    states: Sequence[str],
    idle: Mapping[str, Expression],
) -> LimitTransformation:
    """The rows for variables of the full model (`rows`), by `states` of the reduced one; idle states stand at a constant."""
    return _Rows(sources, choice).transformation(rows, states, idle)


class _Rows:
    def __init__(self, sources: LimitSources, choice: ChosenStates) -> None:
        self.causal = choice.causal
        self.ports = choice.causal.graph.ports
        self.structure = choice.structure
        self.field: NamedEntries = choice.field
        self.zero = set(sources.zero)
        self.choice = choice
        # Sources that stand for vanishing variables are zero, so their columns are left out of T_u.
        self.known = {*self.causal.integral, *(k for k in self.causal.sources if k not in self.zero)}
        self.following = set(self.causal.derivative)

    def transformation(
        self, rows: Sequence[str], states: Sequence[str], idle: Mapping[str, Expression]
    ) -> LimitTransformation:
        static, free = self._static()
        known = {self._name(k): k for k in self.known}
        inputs = tuple(self._name(k) for k in self.causal.sources if k in self.known)
        written: dict[str, dict[str, Expression]] = {}
        for name in rows:
            # A state of both models: its row of T is a unit row.
            if name in known:
                written[name] = {name: ONE}
            else:
                written[name] = {self._name(k): e.expression for k, e in static.get(name, {}).items()}
        T = tuple(tuple(written[name].get(z, ZERO) for z in states) for name in rows)
        T_u = tuple(tuple(written[name].get(u, ZERO) for u in inputs) for name in rows)
        expressions = {
            name: dot(written[name].values(), [idle.get(n, symbol(n)) for n in written[name]]) + self._curved(name)
            for name in rows
            if name not in free and (name in known or name in static)
        }
        # Laws read what vanishes by the name of its source, which nobody else knows, and idle states by theirs.
        constants = {**{self._name(k): ZERO for k in self.zero}, **idle}
        return LimitTransformation(
            tuple(rows),
            tuple(states),
            inputs,
            T,
            T_u,
            {name: e.substitute(constants) for name, e in expressions.items()},
            rates=tuple(n for n in rows if n in free),
            where={name: e.substitute(constants) for name, e in self.field.where.items()},
        )

    @cached_property
    def told(self) -> ResistiveSolution:
        """What ports are told once resistive laws are solved: asked only where rates do not settle a row."""
        try:
            return solve_resistive(self.structure, self.field)
        except EquationError as reason:
            # Such as a resistance at infinity whose field has lost another one: what they carry has no limit.
            fix = "leave one of the limits out"
            raise rules.UNSOLVABLE.error(f"in the limit {reason.what}", where=reason.finding.where, fix=fix) from reason

    def _name(self, port: int) -> str:
        found = self.ports[port]
        return found.law.input if isinstance(found.law, SourceLaw) else found.state

    def _static(self) -> tuple[dict[str, Row], set[str]]:
        """The rows of all variables that follow, with zero for what dependent storages alone tell; and the names of these."""
        rows: dict[str, Row] = {}
        for k in self.following:
            law = self.ports[k].law
            rows[without_index(self.ports[k].variable(law.side))] = self._of_known(self.structure.gains[k])
        by_rates: dict[int, Row] = {}
        for k in sorted(self.zero):
            shares = {j: e for j, e in self.structure.gains[k].items() if j in self.following}
            # What a rigid connection carries follows from accelerations: its row of T is not determined by states.
            if shares:
                by_rates[k] = shares
            else:
                rows[self._input_name(k)] = self._of_known(self.told.linear[k])
        rows |= {self._input_name(k): row for k, row in self._gauged(by_rates).items()}
        return rows, {self._input_name(k) for k in by_rates}

    def _input_name(self, port: int) -> str:
        return without_index(self.ports[port].variable(self.causal.follows(port)))

    def _curved(self, name: str) -> Expression:
        """What nonlinear laws add to a variable of an element at its limit."""
        found = [k for k in self.zero if self._input_name(k) == name]
        return self.told.rest(found[0], 1) if found else ZERO

    def _of_known(self, row: Mapping[int, Entry]) -> Row:
        return {j: e for j, e in row.items() if j in self.known}

    def _gauged(self, by_rates: Mapping[int, Row]) -> dict[int, Row]:
        """Rows with the rates chosen so that as many as possible vanish; rate j has the column -1 - j."""
        # As many rows as there are rates can be chosen freely: they are taken as zero.
        pivots = self._settled({k: _shifted(row) for k, row in by_rates.items()})[1]
        if len(pivots) == len(by_rates):
            return {k: {} for k in by_rates}
        whole = {k: {**self._of_known(self.told.linear[k]), **_shifted(row)} for k, row in by_rates.items()}
        rows, pivots = self._settled(whole)
        return {k: {} if k in pivots else {c: e for c, e in rows[k].items() if c >= 0} for k in by_rates}

    def _settled(self, rows: Mapping[int, Row]) -> tuple[dict[int, Row], set[int]]:
        """Rows with the rates eliminated, and those that were used up for it."""
        elimination = Elimination(list(rows.values()), self.field)
        for c in sorted({c for row in rows.values() for c in row if c < 0}, reverse=True):
            elimination.eliminate(c)
        used = set(elimination.pivots.values())
        return dict(zip(rows, elimination.rows, strict=True)), {k for r, k in enumerate(rows) if r in used}


def _shifted(row: Mapping[int, Entry]) -> Row:
    return {-1 - j: e for j, e in row.items()}
