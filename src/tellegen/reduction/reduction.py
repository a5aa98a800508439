"""From a model and limits to the reduced model, as a value with everything that an engineer asks about it."""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import other_side
from tellegen.core.errors import Finding
from tellegen.core.names import identifier, listing, numbered
from tellegen.equations.derivation import derive_equations
from tellegen.equations.matrices import Matrix, dot
from tellegen.equations.printing.explanation import MatrixSum, Sign, matrix_sum
from tellegen.equations.printing.latex import equations_to_latex, relation_to_latex
from tellegen.equations.printing.record import equations_to_record
from tellegen.equations.printing.text import NO_UNITS, WIDTH, equations_to_text, relation_to_text
from tellegen.equations.start import handed_over, starting_at
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, symbol, to_python, to_text
from tellegen.expressions.elimination import LONGEST, leaf_count, used_names, with_definitions
from tellegen.expressions.simplification import shortened
from tellegen.expressions.sympy_view import matrix_view
from tellegen.graph import lower
from tellegen.model.model import Model, laid_out_as
from tellegen.reduction import rules
from tellegen.reduction.account import PoleAccount, StartAtLimit, pole_account
from tellegen.reduction.limited import model_at_limits
from tellegen.reduction.limits import Limit, Limits, read_limits, without_index
from tellegen.reduction.reduced_model import LimitStage, reduced_model, solvable
from tellegen.reduction.transformation import (
    LimitTransformation,
    choose_states,
    kept_elements,
    limit_transformation,
    with_limit_sources,
)


@final
class Glossary:
    """Names for the long parts of formulas; short ones are written out. `where` lists the names in order of definition.

    Names of `shared` mean the same everywhere and stay."""

    def __init__(self, taken: Iterable[str], shared: Mapping[str, Expression]) -> None:
        self.where: dict[str, Expression] = {}
        self._shared = shared
        self._names = numbered("r", {identifier(name) for name in (*taken, *shared)})

    def written(self, expression: Expression, where: Mapping[str, Expression]) -> Expression:
        """The expression over parameters and the names of the glossary; `where` says what its own names stand for."""
        where = {name: e for name, e in where.items() if self._shared.get(name) is not e}
        whole = with_definitions(expression, where) if leaf_count(expression) <= 2 * LONGEST else expression
        # Short formulas are written out, because a reader then sees what they depend on.
        if leaf_count(whole) <= 2 * LONGEST:
            return shortened(whole)
        renamed: dict[str, Expression] = {}
        needed = used_names([expression], where)
        for name in [name for name in where if name in needed]:  # in order of definition
            renamed[name] = symbol(self._name(where[name].substitute(renamed)))
        return expression.substitute(renamed)

    def _name(self, expression: Expression) -> str:
        # By identity: the same part of two derivations gets one name.
        known = next((name for name, e in self.where.items() if e is expression), None)
        if known is not None:
            return known
        name = next(self._names)
        self.where[name] = expression
        return name


@final
@dataclass(frozen=True)
class RecoveredVariables:
    """Variables by states, inputs and rates of inputs (`u_dot`, listed in `input_rates`), over the names of `where`."""

    variables: Mapping[str, Expression] = field(default_factory=dict)
    where: Mapping[str, Expression] = field(default_factory=dict)
    input_rates: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class ConstraintForces:
    """The graph in which elements at their limit are sources (`zero`, by port); states of `idle` stand at a constant."""

    causal: CausalGraph
    zero: frozenset[int]
    wanted: tuple[str, ...]
    idle: Mapping[str, Expression]

    def recovered(self, glossary: Glossary) -> RecoveredVariables:
        """The wanted variables; rates of states are replaced from the equations."""
        if not self.wanted:
            return RecoveredVariables({}, glossary.where)
        # The graph with sources in the place of what vanished: their outputs are the variables asked for, with the sign
        # of a source.
        sources = self.causal.sources
        zeros = {self.causal.graph.ports[k].source.input: ZERO for k in self.zero}
        # Laws read what vanishes by the name of its source, which nobody else knows, and idle states by theirs.
        constants = {**zeros, **self.idle}
        system = derive_equations(self.causal).everywhere(lambda e: e.substitute(constants))
        # Sources of zero are no inputs of the reduced model, and their columns would only multiply zeros.
        columns = [j for j, k in enumerate(sources) if k not in self.zero]
        inputs = [system.inputs[j] for j in columns]
        x = [self.idle.get(n, symbol(n)) for n in system.states]
        u, u_dot = ([symbol(n) for n in inputs], [symbol(f"{n}_dot") for n in inputs])
        m, f_y = system.matrices, system.vectors["f_y"]
        found: dict[str, Expression] = {}
        for i, k in enumerate(sources):
            name = without_index(self.causal.graph.ports[k].variable(self.causal.follows(k)))
            if k in self.zero and name in self.wanted:
                y = dot(m["C"][i], x) + f_y[i]
                # D_1 counts here: the force in a rigid connection contains the rate of an input that drives it.
                y += dot([m["D"][i][j] for j in columns], u) + dot([m["D_1"][i][j] for j in columns], u_dot)
                found[name] = glossary.written(-y, system.where)  # a source answers with the sign of what it supplies
        used = {n for e in (*found.values(), *glossary.where.values()) for n in e.free_symbols}
        return RecoveredVariables(found, glossary.where, {f"{n}_dot": n for n in inputs if f"{n}_dot" in used})


def reduction_to_latex(reduction: "Reduction", *, sign: Sign = "-", environment: str = "align*") -> tuple[str, ...]:
    """The reduced equations and x = T z + T_u u, each in an amsmath environment."""
    equations = equations_to_latex(reduction.equations, sign=sign, environment=environment)
    if not _terms(reduction):
        return (equations,)
    names = used_names(_entries(reduction), reduction.glossary.where)
    where = {name: e for name, e in reduction.glossary.where.items() if name in names}
    return equations, relation_to_latex(reduction.full_states, _terms(reduction), where, environment=environment)


def _entries(reduction: "Reduction") -> list[Expression]:
    return [e for M in (reduction.transformation, reduction.input_transformation) for row in M for e in row]


def _terms(reduction: "Reduction") -> tuple[MatrixSum, ...]:
    """T z + T_u u, without what is zero."""
    small = reduction.equations
    terms = (
        matrix_sum("z", small.states, ("T", reduction.transformation)),
        matrix_sum("u", small.inputs, ("T_u", reduction.input_transformation)),
    )
    return tuple(term for term in terms if term.factors and term.shares)


def _transformation(reduction: "Reduction", width: int, unicode: bool) -> str:
    terms = _terms(reduction)
    if not terms:
        return ""
    sum_of_terms = " + ".join(f"{term.shares[0].letter} {term.vector}" for term in terms)
    title = f"x = {sum_of_terms}   (x the full states{', z those kept' if terms[0].vector == 'z' else ''})"
    relation = relation_to_text(reduction.full_states, terms, width=width, unicode=unicode)
    return "\n\n".join([title, relation, *_by_rates(reduction)])


def _by_rates(reduction: "Reduction") -> list[str]:
    """What the rows of constraint forces are: these are no sums of states."""
    names = [name for name in reduction.full_states if name in reduction.constraints.wanted]
    if not names:
        return []
    follow = "follows from rates: its row is free" if len(names) == 1 else "follow from rates: their rows are free"
    return [f"{', '.join(names)} {follow}, and zero where it may be"]


def _limits(reduction: "Reduction") -> str:
    kept, frozen = reduction.equations.states, set(reduction.equations.inputs)
    gone = [name for name in reduction.full_states if name not in kept]
    lines = [
        f"limits         {', '.join(map(str, reduction.limits))}",
        f"full states    {', '.join(reduction.full_states) or '(none)'}",
        f"states kept    {', '.join(kept) or '(none)'}",
    ]
    still = [name for name in gone if name in frozen]
    lines += [f"frozen         {', '.join(still)}"] if still else []
    gone = [name for name in gone if name not in frozen]
    lines += [f"removed        {', '.join(gone)}"] if gone else []
    lines += [f"indeterminate  {', '.join(reduction.indeterminate)}"] if reduction.indeterminate else []
    return "\n".join(lines)


def _block(title: str, names: Mapping[str, Expression], width: int) -> str:
    if not names:
        return ""
    lines = [
        "\n".join(textwrap.wrap(f"{name} = {to_text(e)}", width, initial_indent="  ", subsequent_indent=" " * 6))
        for name, e in names.items()
    ]
    return "\n".join([title, *lines])


def _poles(reduction: "Reduction") -> str:
    account = reduction.account
    rows = {"removed": account.removed_poles, "kept": account.kept_poles, "reduced": account.reduced_poles}
    lines = [f"  {word:<8} {_written(poles)}" for word, poles in rows.items() if poles]
    return "\n".join(["poles (rad/s)", *lines]) if lines else ""


def _written(poles: tuple[complex, ...]) -> str:
    texts = []
    for pole in poles:
        if pole.imag > 0:
            texts.append(f"{pole.real + 0.0:.5g} ± {pole.imag:.5g}j")
        elif pole.imag == 0:
            texts.append(f"{pole.real + 0.0:.5g}")  # a zero without a sign
    return ", ".join(texts)


@final
@dataclass(frozen=True, repr=False)
class Reduction:
    """A reduced model with its equations, and how the states of the full model follow: x = T z + T_u u.

    `full` and `equations` are the equations before and after. Rows of `transformation` and `input_transformation` are the states
    of `full`; the row of a variable that only rates determine (a constraint force) is zero as far as the others allow. `recovered`
    gives every variable that the limit removes by states, inputs and their rates (`u_dot`), over `where`; `static` those that need
    no rates. Variables of `indeterminate` are nowhere determined. `findings` are notices and warnings.
    """

    limits: tuple[Limit, ...]
    original: Model
    model: Model
    causal: CausalGraph
    equations: EquationSystem
    transformation: Matrix
    input_transformation: Matrix
    static: Mapping[str, Expression]
    constraints: ConstraintForces
    glossary: Glossary = field(compare=False)
    indeterminate: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @cached_property
    def full(self) -> EquationSystem:
        """The equations of the full model."""
        return derive_equations(self.causal)

    @cached_property
    def account(self) -> PoleAccount:
        """The poles that were lost and kept, at the values of the model."""
        return pole_account(self.full, self.equations, self.original, self.model)

    @cached_property
    def _by_rates(self) -> RecoveredVariables:
        return self.constraints.recovered(self.glossary)

    @property
    def recovered(self) -> Mapping[str, Expression]:
        """The variables that the limit removes: velocities without inertia, forces of constraints."""
        return {**self.static, **self._by_rates.variables}

    def follows_from_rates(self, name: str) -> bool:
        """Whether only rates determine a state of the full model, as they do the force of a constraint: its row of T is free."""
        row = self.full_states.index(name)
        entries = (*self.transformation[row], *self.input_transformation[row])
        # A row of zeros with a formula, or without any, is one whose entries were free, and chosen as zero.
        if any(e is not ZERO for e in entries) or name in self.equations.states or name in self.equations.inputs:
            return False
        return name in self.indeterminate or self.recovered.get(name, ZERO) is not ZERO

    @property
    def where(self) -> Mapping[str, Expression]:
        """What the names in `transformation` and `recovered` stand for, beside those of the equations."""
        return self._by_rates.where

    @property
    def input_rates(self) -> Mapping[str, str]:
        """The names of rates of inputs in `recovered`, with their inputs."""
        return self._by_rates.input_rates

    @property
    def full_states(self) -> tuple[str, ...]:
        """The states of the full model: the rows of T."""
        ports = self.causal.graph.ports
        return tuple(ports[k].state for k in self.causal.integral)

    @property
    def N_1(self) -> Matrix:
        """T'^T L T of `d(J z)/dt - N_1 z = -b z + B u`, where T moves; the transpose of N."""
        N = self.equations.matrices["N"]
        return tuple(tuple(row[i] for row in N) for i in range(len(N)))

    @property
    def J(self) -> Matrix:
        """T^T L T of the same form: the energy matrix, which may depend on displacements."""
        return self.equations.matrices["L"]

    @property
    def b(self) -> Matrix:
        """T^T A T of the same form."""
        return self.equations.matrices["A"]

    T = matrix_view("T", lambda reduction: reduction.transformation)
    T_u = matrix_view("T_u", lambda reduction: reduction.input_transformation)

    def to_text(
        self, sign: Sign = "-", *, width: int = WIDTH, unicode: bool = True, units: Mapping[str, str] = NO_UNITS
    ) -> str:
        """The reduced equations, then x = T z + T_u u, the variables that were removed, the poles and the findings."""
        equations = equations_to_text(self.equations, sign=sign, width=width, unicode=unicode, units=units)
        needed = used_names([*self.recovered.values(), *_entries(self)], self.where)
        new = {name: e for name, e in self.where.items() if name in needed}
        parts = [equations.rstrip(), _limits(self), _transformation(self, width, unicode)]
        parts += [_block("removed", {**self.recovered, **new}, width), _poles(self)]
        parts += [str(finding) for finding in self.findings]
        return "\n\n".join(part for part in parts if part) + "\n"

    def to_latex(self, sign: Sign = "-") -> str:
        """The reduced equations and `x = T z + T_u u` as amsmath `align*` environments."""
        return "\n".join(reduction_to_latex(self, sign=sign))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        limits = ", ".join(map(str, self.limits))
        return (
            f"<Reduction of {self.original.name!r} by {limits}: states {', '.join(self.equations.states) or '(none)'}>"
        )

    def _repr_latex_(self) -> str:
        return "\n\n".join(f"$$\n{part}\n$$" for part in reduction_to_latex(self, environment="aligned"))

    def to_json(self, sign: Sign = "-") -> dict[str, object]:
        """The record of the equations, with `T`, `T_u`, `recovered`, `removed_poles`, `origin` and what else there is to say."""
        record = equations_to_record(self.equations, sign)
        shown = [e for m in (self.transformation, self.input_transformation) for row in m for e in row]
        names = {**self.equations.where, **self.where}
        needed = used_names([*shown, *self.recovered.values()], names)
        if needed:
            earlier = record.get("where", {})
            assert isinstance(earlier, dict), "definitions are a mapping"
            new = {identifier(n): to_python(e) for n, e in names.items() if n in needed}
            record["where"] = {**earlier, **new}
        record["T"] = _texts(self.transformation)
        record["T_u"] = _texts(self.input_transformation)
        record["recovered"] = {identifier(n): to_python(e) for n, e in self.recovered.items()}
        if self.input_rates:
            record["input_rates"] = dict(self.input_rates)
        if self.indeterminate:
            record["indeterminate"] = [identifier(n) for n in self.indeterminate]
        record["removed_poles"] = [[p.real, p.imag] for p in self.account.removed_poles]
        record["kept_poles"] = [[p.real, p.imag] for p in self.account.kept_poles]
        record["origin"] = {
            "model": self.original.name,
            "states": [identifier(n) for n in self.full_states],
            "limits": {limit.name: limit.value for limit in self.limits},
        }
        if self.findings:
            record["findings"] = [finding.to_json() for finding in self.findings]
        return record


def _texts(matrix: Matrix) -> list[list[str]]:
    return [[to_python(e) for e in row] for row in matrix]


def reduce_model(model: Model, limits: Limits, *, keep: Iterable[str] = ()) -> Reduction:
    """The model with parameters at their limits, all at once.

    `limits` maps parameters (or elements, or entries of fields) to 0, to infinity, or to a value or relation at which the energy
    matrix loses rank. `keep` names states that should remain.

    Raises: ReductionError when a limit names nothing, does not exist, contradicts another or leaves no solution.
    """
    # A string would be read letter by letter.
    stage = _stage(model, limits, (keep,) if isinstance(keep, str) else tuple(keep))
    # T has a row for each full state; what the limit removed is asked for along with it.
    rows = list(dict.fromkeys([*map(stage.row_name, stage.full_states), *stage.removed]))
    found = limit_transformation(stage.sources, stage.choice, rows, stage.states, stage.idle)
    small, system = reduced_model(stage, found)
    # What the limit joins may start apart in the full model: momentum, charge and flux are handed over.
    small = laid_out_as(starting_at(small, handed_over(small, stage.start)), model)
    return _told(stage, found, small, system)


def _stage(model: Model, limits: Limits, keep: tuple[str, ...]) -> LimitStage:
    """What the limits do to the graph, and the states that are left."""
    asked = read_limits(limits)
    causal = assign_causality(lower(model))
    # The laws first, then sources for what vanishes, then states: each step needs what the one before has left.
    limited = model_at_limits(model, causal.graph, asked)
    ports = causal.graph.ports
    sources = with_limit_sources(limited, causal.graph, (ports[k].element for k in causal.derivative))
    kept = kept_elements(causal.graph, keep, {*limited.vanishing, *limited.frozen})
    order = [ports[k].element for k in (*causal.integral, *causal.derivative)]
    # Physics may forbid the limit only here, as when two sources meet: the error should speak of limits.
    choice = solvable(asked, lambda: choose_states(sources, order, kept))
    return LimitStage(model, asked, causal, limited, sources, choice)


# -- what to tell ------------------------------------------------------------------------------------------------------------------


def _told(stage: LimitStage, found: LimitTransformation, small: Model, system: EquationSystem) -> Reduction:
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
    # The variable beside the one that vanishes: a rigid spring has no elongation, and its force is what nobody can
    # tell.
    indeterminate = tuple(
        p.variable(other_side(vanishing[p.element])) for p in ports if p.element in stage.sources.indeterminate
    )
    forces = _constraints(stage, found, system)
    told = {name: static[name] for name in stage.full_states if name in static}
    # What only rates tell takes another elimination: it is asked for where the model does not start at rest.
    if forces.wanted and any(stage.start.get(p.state) for p in ports):
        told |= forces.recovered(glossary).variables
    where = {**system.where, **glossary.where}
    return Reduction(
        limits=stage.limits,
        original=stage.model,
        model=small,
        causal=stage.causal,
        equations=system,
        transformation=T,
        input_transformation=T_u,
        static=static,
        constraints=forces,
        glossary=glossary,
        indeterminate=indeterminate,
        findings=tuple(_findings(stage, StartAtLimit(stage.model, small, system, told, where, stage.apart))),
    )


def _findings(stage: LimitStage, begun: StartAtLimit) -> list[Finding]:
    return [
        *stage.limited.findings,
        *stage.sources.findings,
        *_idle_notices(list(stage.rewired.idle)),
        *begun.warnings(),
    ]


def _idle_notices(names: list[str]) -> list[Finding]:
    if not names:
        return []
    what = f"{listing(names)} {'is' if len(names) == 1 else 'are'} idle after the limit, and left out"
    return [rules.IDLE.finding(what, where=names[0], members=names)]


def _constraints(stage: LimitStage, found: LimitTransformation, system: EquationSystem) -> ConstraintForces:
    causal = stage.choice.causal
    # Otherwise the recovered variables would read variables that the limit took away.
    if system.displacements:  # rates of displacements may have read what is gone
        causal = replace(causal, graph=replace(causal.graph, displacements=system.displacements))
    return ConstraintForces(causal, frozenset(stage.sources.zero), found.rates, stage.idle)
