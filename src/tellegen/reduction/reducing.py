"""From a model and limits to the reduced model, step by step."""

from collections.abc import Iterable
from dataclasses import replace

from tellegen.causality import assign_causality
from tellegen.core.domains import other_side
from tellegen.core.errors import Finding
from tellegen.core.names import listing
from tellegen.description.model import Model
from tellegen.equations.matrices import Matrix
from tellegen.equations.system import EquationSystem
from tellegen.expressions import Expression
from tellegen.graph import lower
from tellegen.reduction import rules
from tellegen.reduction.account import excited, inputs_at_start, start_of
from tellegen.reduction.choice import choose_states, kept_elements
from tellegen.reduction.limited import at_limits
from tellegen.reduction.limits import Limits, read_limits
from tellegen.reduction.naming import Glossary
from tellegen.reduction.recovery import Constraints
from tellegen.reduction.reduction import Reduction
from tellegen.reduction.small_models import small_model
from tellegen.reduction.sources import with_sources
from tellegen.reduction.stages import Stage, solvable
from tellegen.reduction.transformation import Transformation, transformation


def reduce_model(model: Model, limits: Limits, *, keep: Iterable[str] = ()) -> Reduction:
    """The model with parameters at their limits, all at once.

    `limits` maps parameters (or elements, or entries of fields) to 0, to infinity, or to a value or relation at which the energy
    matrix loses rank. `keep` names states that should remain.

    Raises: ReductionError when a limit names nothing, does not exist, contradicts another or leaves no solution.
    """
    stage = _stage(model, limits, (keep,) if isinstance(keep, str) else tuple(keep))
    rows = list(dict.fromkeys([*map(stage.row_name, stage.full_states), *stage.removed]))
    found = transformation(stage.sources, stage.choice, rows, stage.states, stage.idle)
    small, system = small_model(stage, found)
    return _told(stage, found, small, system)


def _stage(model: Model, limits: Limits, keep: tuple[str, ...]) -> Stage:
    """What the limits do to the graph, and the states that are left."""
    asked = read_limits(limits)
    causal = assign_causality(lower(model))
    limited = at_limits(model, causal.graph, asked)
    ports = causal.graph.ports
    sources = with_sources(limited, causal.graph, (ports[k].element for k in causal.derivative))
    kept = kept_elements(causal.graph, keep, {*limited.vanishing, *limited.frozen})
    order = [ports[k].element for k in (*causal.integral, *causal.derivative)]
    choice = solvable(asked, lambda: choose_states(sources, order, kept))
    return Stage(model, asked, causal, limited, sources, choice)


# -- what to tell ------------------------------------------------------------------------------------------------------------------


def _told(stage: Stage, found: Transformation, small: Model, system: EquationSystem) -> Reduction:
    ports = stage.causal.graph.ports
    variables = [n for p in (*ports, *stage.choice.causal.graph.ports) for n in (p.across, p.through, p.state)]
    glossary = Glossary([*variables, *stage.model.parameters, *system.displacements], system.where)
    at = {name: k for k, name in enumerate(found.rows)}
    order = [at[stage.row_name(s)] for s in stage.full_states]

    def written(matrix: Matrix, columns: list[int]) -> Matrix:
        return tuple(tuple(glossary.written(matrix[r][c], found.where) for c in columns) for r in order)

    T = written(found.T, [found.states.index(s) for s in system.states])
    T_u = written(found.T_u, [found.inputs.index(u) for u in system.inputs])
    kept = {*system.states, *system.inputs}
    static = {n: glossary.written(e, found.where) for n, e in found.static.items() if n not in kept} | stage.idle
    vanishing = stage.limited.vanishing
    indeterminate = tuple(
        p.variable(other_side(vanishing[p.element])) for p in ports if p.element in stage.sources.indeterminate
    )
    return Reduction(
        stage.limits,
        stage.model,
        small,
        stage.causal,
        system,
        T,
        T_u,
        static,
        _constraints(stage, found, system),
        glossary,
        indeterminate,
        tuple(_findings(stage, small, system, static)),
    )


def _findings(stage: Stage, small: Model, system: EquationSystem, static: dict[str, Expression]) -> list[Finding]:
    values = {**system.values(), **start_of(small, system), **inputs_at_start(small)}
    values = {**dict.fromkeys((*system.states, *system.inputs, *system.displacements), 0.0), **values}
    starts = {p.state: p.initial for p in stage.causal.graph.ports if p.state and p.initial is not None}
    shown = {s: static[s] for s in stage.full_states if s in static}
    off = excited(stage.model, system, shown, values, starts)
    return [*stage.limited.findings, *stage.sources.findings, *_idle_notices(list(stage.rewired.idle)), *off]


def _idle_notices(names: list[str]) -> list[Finding]:
    if not names:
        return []
    what = f"{listing(names)} {'is' if len(names) == 1 else 'are'} idle after the limit, and left out"
    return [rules.IDLE.finding(what, where=names[0], members=names)]


def _constraints(stage: Stage, found: Transformation, system: EquationSystem) -> Constraints:
    causal = stage.choice.causal
    if system.displacements:  # rates of displacements may have read what is gone
        causal = replace(causal, graph=replace(causal.graph, displacements=system.displacements))
    return Constraints(causal, frozenset(stage.sources.zero), found.rates, stage.idle)
