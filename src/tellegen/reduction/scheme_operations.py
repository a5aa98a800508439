"""Operations on whole schemes: new coordinates by a T of the user, and inputs exchanged for their outputs.

A scheme is read as matrices, the operation is done on these, and the network of the result is raised again as one vector block. So
each result is a scheme like any other: it can be drawn, joined, exchanged back, and its causal graph compiles and runs.
Domains between which no power passes are two systems, as everywhere (G104).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tellegen.causality import assign_causality
from tellegen.core.domains import other_side
from tellegen.core.errors import GraphError
from tellegen.core.names import did_you_mean
from tellegen.equations.matrices import Matrix, congruent, zeros
from tellegen.equations.port_inversion import invert_ports
from tellegen.equations.system import EquationSystem, MatrixName, parameter_values
from tellegen.expressions import ZERO, Expression, is_zero
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import NamedEntries, substituted
from tellegen.expressions.rational import shortened
from tellegen.graph import SourceLaw, StorageLaw, lower
from tellegen.reduction.matrix_models import Carrier, MatrixForm, model_of, parameters_in
from tellegen.reduction.transforming import Given, Transformed, congruent_transformation
from tellegen.schemes import rules
from tellegen.schemes.inversion import invert_path
from tellegen.schemes.names import listed
from tellegen.schemes.pog_raising import pog
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.port_exchange import on_ports, port_path
from tellegen.schemes.rewriting import Rewriting
from tellegen.schemes.scheme_matrices import scheme_matrices

EXACT = 1e-9
"""How far T^T L T may be from L, as a share of its diagonal, where only numbers can tell."""


def transform_scheme(scheme: PogScheme, T: Given, *, states: Sequence[str] | None = None) -> Rewriting:
    """The scheme in the coordinates z of x = T z: T^T L T z' = -T^T A T z + T^T B u, as one vector block.

    T may be rectangular, which ties states to each other, or singular: of columns that depend on each other the first ones are
    taken. A regular T is noticed by no input. Entries and names are given as to `congruent_transformation`.

    A, B, C and D may move with displacements, whose rates the new states give; L and T are constant.

    Raises: GraphError (G232) for a scheme that is not linear or whose energy matrix moves; ReductionError (T130) for a T that does
    not fit.
    """
    system = _system(scheme, moving=True)
    found = congruent_transformation(system, T, states=states)
    kept = _independent(found.T)
    if len(kept) == len(found.equations.states):
        return Rewriting(_raised(scheme, found.equations, _coordinates(scheme, system, found)), found.account)
    names = [found.equations.states[k] for k in kept]
    smaller = congruent_transformation(system, [[row[k] for k in kept] for row in found.T], states=names)
    gone = [name for name in found.equations.states if name not in names]
    verb = "follows" if len(gone) == 1 else "follow"
    account = f"{smaller.account}; {', '.join(gone)} {verb} the others, since T is singular"
    return Rewriting(_raised(scheme, smaller.equations, _coordinates(scheme, system, smaller)), account)


def similarity(scheme: PogScheme, T: Given, *, states: Sequence[str] | None = None) -> Rewriting:
    """The scheme with x' = -L^-1 A x + ... in the coordinates z of x = T z by T^-1, where that keeps its structure.

    It does where T^T L T = L: the energy is the same sum of the new states, and T^-1 = L^-1 T^T L. A rotation of two equal
    inductances is such a T.

    Raises: GraphError (G233) for other T; G232, T130 as `transform_scheme`.
    """
    system = _system(scheme, moving=True)
    found = congruent_transformation(system, T, states=states)
    L = system.matrices["L"]
    n, columns = len(L), len(found.equations.states)
    if columns != n:
        what = f"T has {columns} columns for {n} states"
        raise _not_orthogonal(what, "a similarity needs the inverse of T")
    sparse = {(i, j): e for i, row in enumerate(L) for j, e in enumerate(row) if e is not ZERO}
    new = congruent(found.T, sparse, found.T, n, n)
    place = _first_difference(system, new, L)
    if place is not None:
        i, j = (system.states[k] for k in place)
        what = f"T^T L T differs from L at ({i}, {j}): {new[place[0]][place[1]]} for {L[place[0]][place[1]]}"
        why = "T^-1 would leave L, and give A and B that belong to another energy: outputs would not be those of the inputs"
        raise _not_orthogonal(what, why)
    kept = replace(found.equations, matrices={**found.equations.matrices, "L": L})
    account = (
        f"similarity x = T z with z = {', '.join(kept.states)}: T^T L T = L, so that T^-1 = L^-1 T^T L keeps power"
    )
    return Rewriting(_raised(scheme, kept, _coordinates(scheme, system, found)), account)


def exchange_ports(scheme: PogScheme, inputs: str | Iterable[str] | None = None) -> Rewriting:
    """The scheme with some inputs (all of them unless named) exchanged for their own outputs, as one vector block.

    Where laws are not linear, or matrices move, the path of each input is inverted instead, and the laws stay as they are.

    Raises: EquationError (E130) for a name that is no input, and where an output does not answer its input at once; GraphError
    (G235) where no path may be inverted.
    """
    try:
        system = _system(scheme)
    except GraphError as reason:
        if reason.code != rules.NO_MATRICES.code:
            raise
        return _with_paths_inverted(scheme, scheme.inputs if inputs is None else listed(inputs))
    wanted = list(system.inputs) if inputs is None else listed(inputs)
    found = invert_ports(system, wanted)
    states, before = _carriers(scheme)
    after = tuple(
        replace(c, variable=c.conjugate, side=other_side(c.side), conjugate=c.variable) if c.variable in wanted else c
        for c in before
    )
    pairs = ", ".join(f"{c.variable} for {c.conjugate}" for c in before if c.variable in wanted)
    return Rewriting(_raised(scheme, found, (states, after)), f"exchanged {pairs or 'nothing'}")


def _with_paths_inverted(scheme: PogScheme, wanted: Sequence[str]) -> Rewriting:
    """The scheme, port by port, with the path from each input wanted to its own output inverted."""
    result, pairs = on_ports(scheme), []
    for name in wanted:
        if name not in result.inputs:
            fix = did_you_mean(name, result.inputs) or f"the inputs are {', '.join(result.inputs) or '(none)'}"
            raise rules.NO_SUCH_SIGNAL.error(f"'{name}' is no input of the scheme", where=name, fix=fix)
        output = result.outputs[result.inputs.index(name)].signal
        path = port_path(result, name)
        if path is None:
            what = f"no loss that could be asked the other way answers '{name}' at once by '{output}'"
            fix = "exchange other inputs, or put a resistive element beside the source"
            raise rules.NO_PORT_PATH.error(what, where=name, fix=fix)
        result = on_ports(invert_path(result, path.signals).scheme)
        pairs.append(f"{name} for {output}")
    return Rewriting(result, f"exchanged {', '.join(pairs) or 'nothing'}, each path inverted")


# -- between schemes and systems ---------------------------------------------------------------------------------------------------

Carriers = tuple[tuple[Carrier, ...], tuple[Carrier, ...]]


def _system(scheme: PogScheme, *, moving: bool = False) -> EquationSystem:
    """The scheme as equations, over the parameters of its model."""
    graph = scheme.causal.graph
    found = scheme_matrices(scheme, moving=moving)
    block = found.block
    states, inputs = _carriers(scheme)
    n, m = len(states), len(inputs)
    matrices: dict[MatrixName, Matrix] = {"L": block.L, "A": block.A, "B": block.B, "C": found.C, "D": found.D}
    matrices |= {"N": zeros(n, n), "B_1": zeros(n, m), "D_1": zeros(m, m)}
    return EquationSystem(
        scheme.name,
        tuple(c.variable for c in states),
        tuple(c.variable for c in inputs),
        tuple(c.conjugate for c in inputs),
        graph.parameters,
        matrices,
        {"f": (ZERO,) * n, "f_y": (ZERO,) * m},
        None,
        ZERO,
        where=graph.moving,
        displacements=graph.displacements,
    )


def _carriers(scheme: PogScheme) -> Carriers:
    states = []
    for name in scheme.states:
        port = scheme.elements[name].port
        assert isinstance(port.law, StorageLaw), "states belong to storages"
        states.append(Carrier(port.state, port.domain, port.law.side, initial=port.initial))
    inputs = []
    for item in scheme.sources():
        port = item.port
        assert isinstance(port.law, SourceLaw), "inputs belong to sources"
        conjugate = port.variable(other_side(port.law.side))
        inputs.append(Carrier(port.law.input, port.domain, port.law.side, port.element, conjugate))
    return tuple(states), tuple(inputs)


def _coordinates(scheme: PogScheme, system: EquationSystem, found: Transformed) -> Carriers:
    """Old states keep their place; new ones are of the domain that all have, where they have one."""
    states, inputs = _carriers(scheme)
    places = {(c.domain, c.side) for c in states}
    domain, side = places.pop() if len(places) == 1 else ("electrical", "across")
    known = dict(zip(system.states, states, strict=True))
    made = tuple(
        replace(known[name], initial=None) if name in known else Carrier(name, domain, side)
        for name in found.equations.states
    )
    return made, inputs


def _raised(scheme: PogScheme, system: EquationSystem, carriers: Carriers) -> PogScheme:
    """The vector block of a system, with the network behind it."""
    for carrier in (*carriers[0], *carriers[1]):
        if carrier.domain == "thermal":
            what = f"'{carrier.variable}' is thermal"
            raise rules.NO_RESISTIVE_PORT.error(what, where=carrier.variable, fix="work on the equations")
    written: dict[str, Matrix] = {
        name: tuple(tuple(shortened(substituted(e, system.where)) for e in row) for row in system.matrices[name])
        for name in ("L", "A", "B", "C", "D")
    }
    used = (e for M in written.values() for row in M for e in row)
    states, inputs = _free_names(carriers)
    rates = {name: substituted(e, system.where) for name, e in system.displacements.items()}
    parameters = parameters_in(system.parameters, (*used, *rates.values()))
    form = MatrixForm(scheme.name, states, inputs, written, parameters)
    model = replace(model_of(form), displacements=rates)
    return pog(assign_causality(lower(model)), vectorial=True)


def _free_names(carriers: Carriers) -> Carriers:
    """An output that is a state has no name of its own."""
    states, inputs = carriers
    names = {c.variable for c in (*states, *inputs)}
    return states, tuple(replace(c, conjugate="") if c.conjugate in names else c for c in inputs)


# -- matrices ----------------------------------------------------------------------------------------------------------------------


def _independent(T: Matrix) -> list[int]:
    """The columns that no earlier ones make up."""
    field = NamedEntries({})
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in T]
    elimination = Elimination(rows, field)
    return [j for j in range(len(T[0]) if T else 0) if elimination.eliminate(j)]


def _first_difference(system: EquationSystem, one: Matrix, two: Matrix) -> tuple[int, int] | None:
    """Where two energy matrices differ, as formulas and, where roots and sines hide it, in numbers."""
    values = parameter_values(system.parameters)
    for i, row in enumerate(one):
        for j, e in enumerate(row):
            if is_zero(e - two[i][j]):
                continue
            size = _number(two[i][i], values), _number(two[j][j], values), _number(e - two[i][j], values)
            if any(x is None for x in size) or abs(size[2]) > EXACT * abs(size[0] * size[1]) ** 0.5:  # type: ignore[arg-type,operator]
                return i, j
    return None


def _number(e: Expression, values: Mapping[str, float]) -> float | None:
    return e.evaluate(values) if e.free_symbols <= values.keys() else None


def _not_orthogonal(what: str, why: str) -> Exception:
    fix = "take the congruent transformation instead (transform_scheme): T^T needs no inverse, and keeps power whatever T is"
    return rules.NOT_ORTHOGONAL.error(what, why=why, fix=fix)
