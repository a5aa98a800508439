"""The equations of each form in words, relations and matrices: one derivation, printed as text, as LaTeX or as JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tellegen.causality import assign_causality
from tellegen.conditioning.balance import Forces, Solution
from tellegen.conditioning.constrained import Constrained
from tellegen.conditioning.fields import named_matrix
from tellegen.conditioning.hamilton import hamilton_of
from tellegen.conditioning.joined_laws import contents
from tellegen.conditioning.lagrange import lagrange_of, lagrange_sections
from tellegen.conditioning.merging import Merged, merge_dependent
from tellegen.conditioning.opening import Opened
from tellegen.conditioning.residual import constraint_forces
from tellegen.core.errors import ConditioningError
from tellegen.description.model import Model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.explanation import Item, Relation, Section, Sentence, ShownMatrix
from tellegen.equations.matrices import Matrix, Vector, dot
from tellegen.equations.steps import Derivation
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.graph import lower

Names = Mapping[str, Expression]


def explained_form(form: str, found: Constrained, opened: Opened, model: Model, said: Sequence[str] = ()) -> Derivation:
    """The equations of a form: the constraints, and what became of them; `said` is what else there is to say about it."""
    sections, where = _WRITERS[form](found, opened, model)
    system = found.system
    kept = {n: e for n, e in system.where.items() if n in found.model.parameters}
    where = {n: e for n, e in where.items() if n not in kept}
    if said:
        *first, last = sections
        sections = (*first, replace(last, items=(*map(Sentence, said), *last.items)))
    return Derivation(
        f"{system.name}, {form} form",
        "-",
        system.states,
        system.inputs,
        (),
        found.causal.graph.parameters,
        (_constraints(replace(found, sources=True)), *sections),
        {**kept, **where},
    )


def _constraints(found: Constrained) -> Section:
    """Which storages follow which, by which zero-order causal paths."""
    items: list[Item] = []
    for constraint in found.constraints:
        moving = [name for name in constraint.follows if found.elements[name].kind.role != "resistive"]
        others = ", ".join(f"`{name}`" for name in moving or constraint.follows)
        kinds = ", ".join(constraint.kinds) or "storage-storage"
        items.append(Sentence(f"`{constraint.storage}` follows {others} (zero-order path: {kinds}):", listed=True))
        items.append(Relation(constraint.output, found.written(found.system.dependent[constraint.output])))
    return Section("Constraints between storages", tuple(items))


def _raw_set(opened: Opened) -> tuple[Section, EquationSystem]:
    """Every storage with its own equation and the forces of the constraints: of index two, and never given to a solver."""
    system = opened.system
    items: list[Item] = [Sentence("Each storage by itself, with the force of each constraint:")]
    items += _rates(system)
    items.append(Sentence("Where the constraints hold, these differences vanish:"))
    for opening in opened.openings:
        i = system.inputs.index(opening.name)
        by_states = dot(system.matrices["C"][i], [symbol(name) for name in system.states])
        difference = by_states + dot(system.matrices["D"][i], [symbol(name) for name in system.inputs])
        items.append(Relation(f"c_{opening.constraint.output}", difference))
    return Section("The constrained set", tuple(items)), system


def _rates(system: EquationSystem) -> Iterator[Relation]:
    """The rate of each state of a system whose energy matrix is diagonal, and of each displacement.

    What acts on a speed without inertia vanishes.
    """
    m, x = system.matrices, [symbol(name) for name in system.states]
    u = [symbol(name) for name in system.inputs]
    for i, name in enumerate(system.states):
        pull = dot(m["B"][i], u) - dot(m["A"][i], x) - dot(m["N"][i], x) - system.vectors["f"][i]
        inertia = m["L"][i][i]
        yield Relation("0", pull) if inertia is ZERO else Relation(f"{name}'", pull / inertia)
    for name, rate in system.displacements.items():
        yield Relation(f"{name}'", rate)


def _derivative(found: Constrained, opened: Opened, _: Model) -> tuple[tuple[Section, ...], Names]:
    raw, _system = _raw_set(opened)
    system, m = found.system, found.system.matrices
    items: list[Item] = [
        Sentence("With what dependent storages take, $L_d (T z)'$, the independent ones obey, with index one at most:")
    ]
    items.append(Sentence("$0 = L z' + N z + f + A z - B u$"))
    items += [ShownMatrix(name, _written(found, m[name])) for name in ("L", "N", "A", "B") if not _empty(m[name])]
    return (raw, Section("The residual that is solved", tuple(items))), _slopes(system)


def _residual(found: Constrained, opened: Opened, _: Model) -> tuple[tuple[Section, ...], Names]:
    raw, _system = _raw_set(opened)
    known = _forces(found, opened)
    if known is None:
        text = "The forces make the rates of all differences vanish; the compiled code solves for them at each step."
        return (raw, Section("Forces of the constraints", (Sentence(text),))), {}
    forces, solution = known
    items: list[Item] = [Sentence(_system_words(forces))]
    items.append(ShownMatrix("E", forces.matrix))
    items.append(ShownMatrix("b", tuple((e,) for e in forces.right)))
    items.append(Sentence("which gives, solved with symbols:"))
    items += [Relation(name, formula) for name, formula in solution.formulas.items()]
    return (raw, Section("Forces of the constraints", tuple(items))), solution.where


def _system_words(forces: Forces) -> str:
    """What the linear system for the forces says."""
    if not forces.rates:
        return "The rates of the differences vanish: $E lambda = b$, with"
    speeds = ", ".join(f"`{name}`" for name in forces.rates)
    return (
        "The rates of the differences vanish, and so does what acts on speeds without inertia: $E lambda = b$, "
        f"where {speeds} stand behind the forces in $lambda$, with"
    )


def _parasitic(found: Constrained, opened: Opened, model: Model) -> tuple[tuple[Section, ...], Names]:
    system = derive_equations(assign_causality(lower(model)))
    items: list[Item] = list(_rates(system))
    for name in (opening.name for opening in opened.openings):
        if name in model.signals:
            formula = model.signals[name].settings["formula"]
            assert isinstance(formula, Expression), "forces are formulas"
            items.append(Relation(name, formula))
    new = {n: p.expression for n, p in model.parameters.items() if n not in found.model.parameters}
    values = {n: e for n, e in new.items() if e is not None}
    return (Section("Equations with parasitic elements", tuple(items)),), {**_slopes(system), **values}


def _field(found: Constrained, opened: Opened, _: Model) -> tuple[tuple[Section, ...], Names]:
    merged = merge_dependent(replace(found, sources=True))
    if not merged.linear:
        return _joined(found, merged), {}
    M, names = named_matrix(merged)
    p = [f"p_{speed}" for speed in merged.speeds]
    items: list[Item] = [Sentence("The dependent storages and those that they follow are one field: $p = M z$")]
    items.append(Sentence("$z$ = " + ", ".join(f"`{name}`" for name in merged.speeds)))
    items += [ShownMatrix("M", M), Sentence("$p' = K z - A z - f + B u$, with the C-part $K = T'^T L T$:")]
    items += [ShownMatrix("K", merged.K)] if not _empty(merged.K) else []
    rows = [found.system.states.index(name) for name in merged.speeds]
    pulls = _pulls(found, rows)
    items += [Relation(f"{name}'", c + e) for name, c, e in zip(p, merged.c_part(), pulls, strict=True)]
    return (Section("IC-field", tuple(items)),), names


def _joined(found: Constrained, merged: Merged) -> tuple[Section, ...]:
    """Storages with nonlinear laws, joined: what they keep together, and its rate."""
    items: list[Item] = [
        Sentence("The dependent storages and those that they follow keep together, by what they decide:")
    ]
    items += [Relation(f"p_{name}", e) for name, e in contents(merged).items()]
    items.append(Sentence("and what they keep changes at the rates"))
    rows = [found.system.states.index(name) for name in merged.speeds]
    items += [Relation(f"p_{name}'", e) for name, e in zip(merged.speeds, _pulls(found, rows), strict=True)]
    return (Section("Joined storages", tuple(items)),)


def _lagrange(found: Constrained, opened: Opened, _: Model) -> tuple[tuple[Section, ...], Names]:
    form = lagrange_of(found)
    return lagrange_sections(form), form.where


def _hamilton(found: Constrained, opened: Opened, _: Model) -> tuple[tuple[Section, ...], Names]:
    form = hamilton_of(found)
    items: list[Item] = [Sentence("$x' = (J - R) grad H + g u$ with $x = (q, p)$, $p = M z$, and the energy")]
    items.append(Relation(form.energy, form.H))
    items += [Relation(name, e) for name, e in form.speeds.items()]
    gradient = [Relation(f"d{form.energy}/d{q}", e) for q, e in zip(form.q, form.grad_H, strict=False)]
    matrices: list[Item] = [ShownMatrix("J", form.J)]
    matrices += [ShownMatrix("R", form.R)] if not _empty(form.R) else []
    matrices.append(ShownMatrix("g", form.g))
    if form.g_1:
        matrices += [Sentence("Storages follow sources: $g_1 u'$ is added, with"), ShownMatrix("g_1", form.g_1)]
    text = "The constraints are holonomic: the gyroscopic block is zero, and J is canonical."
    if not form.holonomic:
        text = "The constraints are not holonomic: J has the gyroscopic block S beside the canonical ones."
    sections = (Section("Hamilton form", (*items, *gradient)), Section("Matrices", (Sentence(text), *matrices)))
    return sections, form.where


def _forces(found: Constrained, opened: Opened) -> tuple[Forces, Solution] | None:
    try:
        return constraint_forces(found, opened)
    except ConditioningError:
        return None  # the raw set says what there is to say


def _pulls(found: Constrained, rows: list[int]) -> Vector:
    """What the rest of the model gives to the momenta."""
    system, m = found.system, found.system.matrices
    x, u = [symbol(name) for name in system.states], [symbol(name) for name in system.inputs]
    pulls = [dot(m["B"][i], u) - dot(m["A"][i], x) - system.vectors["f"][i] for i in rows]
    if not system.is_zero("B_1"):
        rates = [symbol(f"{name}'") for name in system.inputs]
        pulls = [e + dot(m["B_1"][i], rates) for i, e in zip(rows, pulls, strict=True)]
    return tuple(found.written(e) for e in pulls)


def _written(found: Constrained, matrix: Matrix) -> Matrix:
    return tuple(tuple(found.readable(e) for e in row) for row in matrix)


def _slopes(system: EquationSystem) -> Names:
    return dict(system.where)


def _empty(matrix: Matrix) -> bool:
    return all(e is ZERO for row in matrix for e in row)


_WRITERS: Mapping[str, Callable[[Constrained, Opened, Model], tuple[tuple[Section, ...], Names]]] = {
    "derivative": _derivative,
    "residual": _residual,
    "parasitic": _parasitic,
    "field": _field,
    "lagrange": _lagrange,
    "hamilton": _hamilton,
}
