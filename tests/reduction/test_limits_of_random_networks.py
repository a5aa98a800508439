"""Laws that hold for every limit of every network: the model, its equations and first principles agree, and stay passive."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

from hypothesis import assume, example, given
from hypothesis import strategies as st

from oracles.limits_in_equations import EquationReduction, reduce_equations
from support import exact, nodal
from support.evaluated import Evaluated, legal
from support.networks import Network, Part, equations
from support.strategies import laplace_points, networks
from tellegen.core.errors import ReductionError
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import evaluate_exact
from tellegen.reduction import Reduction, reduce_model

ZERO_KIND = {"spring": "compliance", "torsion spring": "torsion compliance", "stiff chamber": "accumulator"}
FROZEN_KIND = {
    "capacitor": "voltage source",
    "inductor": "current source",
    "mass": "velocity source",
    "spring": "force source",
    "compliance": "force source",
    "inertia": "speed source",
    "torsion spring": "torque source",
    "torsion compliance": "torque source",
    "accumulator": "pressure source",
    "stiff chamber": "pressure source",
    "fluid inertia": "flow source",
}


@dataclass(frozen=True)
class Case:
    """A network, limits of its storages, and the same network with the limits written into its elements."""

    network: Network
    limits: dict[str, float]
    limit: Network


@st.composite
def cases(draw: st.DrawFn, *, frozen: bool = True) -> Case:
    network = draw(networks(grounded=draw(st.booleans())))
    storages = [p for p in network.parts if nodal.is_storage(p) and p.parameter]
    shared = {p.parameter for p in network.parts if sum(q.parameter == p.parameter for q in network.parts) > 1}
    candidates = [p for p in storages if p.parameter not in shared]
    assume(candidates)
    chosen = draw(st.lists(st.sampled_from(candidates), min_size=1, max_size=3, unique=True))
    limits: dict[str, float] = {}
    parts = {p.name: p for p in network.parts}
    for part in chosen:
        vanishes = not frozen or draw(st.integers(0, 3)) > 0
        divides = part.kind in ZERO_KIND
        limits[part.parameter] = inf if vanishes == divides else 0
        kind = ZERO_KIND.get(part.kind, part.kind) if vanishes else FROZEN_KIND[part.kind]
        parts[part.name] = replace(part, kind=kind, value=Fraction(0))
    return Case(network, limits, network.with_parts(parts.values()))


def reduced(case: Case) -> Reduction:
    """The reduction; limits that physics forbids, or that depend on a ratio, are passed over."""
    legal(case.network)
    try:
        return reduce_model(case.network.model(), case.limits)
    except ReductionError as error:
        assume(error.code not in ("T103", "T106", "T107"))
        raise


def in_equations(case: Case) -> EquationReduction:
    """The same limit in the equations."""
    return reduce_equations(equations(case.network), case.limits)


def at(system: EquationSystem, case: Case) -> Evaluated:
    found = Evaluated.__new__(Evaluated)
    found.system, found.values = system, dict(case.network.values)
    for name, e in system.where.items():
        found.values[name] = evaluate_exact(e, found.values)
    found.n, found.m = len(system.states), len(system.inputs)
    return found


@given(cases(), laplace_points)
def test_reduced_model_is_that_of_first_principles(case: Case, s: Fraction) -> None:
    found = reduced(case)
    expected = nodal.transfer_matrix(case.limit, s)
    assume(expected is not None)
    assert expected is not None
    got = at(found.equations, case).transfer_matrix(s)
    assert got == expected


def rigid_train() -> Case:
    """A gear and a rack between springs and inertias, one value in three places; two springs become rigid.

    The output of its equations is 0/0 in nested fractions, nearly all of which cancel.
    """
    shared = Fraction(17, 2)
    parts = {
        "k2": Part("k2", "inertia", ("n10", "frame"), shared, "E"),
        "c10": Part("c10", "compliance", ("n00", "frame"), shared, "E"),
        "E": Part("E", "compliance", ("frame", "n00"), shared, "E"),
        "f10": Part("f10", "torsion spring", ("n21", "frame"), Fraction(1), "f10"),
        "C": Part("C", "friction", ("frame", "n22"), Fraction(1), "C"),
        "a1": Part("a1", "gear", ("n12", "frame", "frame", "n20"), Fraction(3, 13), "a1"),
        "k1": Part("k1", "torsion spring", ("frame", "n20"), Fraction(1), "k1"),
        "d1": Part("d1", "torque source", ("frame", "n12"), Fraction(1), "d1"),
        "k10": Part("k10", "inertia", ("frame", "n10"), Fraction(1), "k10"),
        "d2": Part("d2", "spring", ("frame", "n00"), Fraction(11, 3), ""),
        "h2": Part("h2", "rack", ("n12", "n11", "frame", "n00"), Fraction(7, 17), "h2"),
        "z9": Part("z9", "inertia", ("n11", "frame"), Fraction(8, 3), "z9"),
        "e2": Part("e2", "inertia", ("frame", "n22"), Fraction(1), "e2"),
        "a10": Part("a10", "friction", ("n21", "n20"), Fraction(1), "a10"),
    }
    rigid = {n: replace(parts[n], kind="torsion compliance", value=Fraction(0)) for n in ("f10", "k1")}
    network = Network(tuple(parts.values()))
    return Case(network, dict.fromkeys(rigid, inf), network.with_parts({**parts, **rigid}.values()))


@example(rigid_train(), Fraction(1))
@given(cases(), laplace_points)
def test_model_and_equations_have_the_same_limit(case: Case, s: Fraction) -> None:
    found = reduced(case)
    other = in_equations(case).equations
    one, two = at(found.equations, case), at(other, case)
    driven = [
        p.name for p in case.network.parts if p.is_source
    ]  # what is frozen does not change, so its rate may be left out
    here = [found.equations.inputs.index(name) for name in driven]
    there = [other.inputs.index(name) for name in driven]
    G, H = one.transfer_matrix(s), two.transfer_matrix(s)
    assume(G is not None)
    assume(H is not None)
    assert G is not None
    assert H is not None
    assert [[G[i][j] for j in here] for i in here] == [[H[i][j] for j in there] for i in there]


@given(cases())
def test_reduction_keeps_the_model_passive(case: Case) -> None:
    found = at(reduced(case).equations, case)
    assert exact.transposed(found.L, found.n) == found.L
    assert exact.is_positive_semidefinite(found.L)
    assume(not found.has_input_rates)  # else outputs hold rates, and the power supplied is not a form in x and u
    A, B, C, D = found.A, found.B, found.C, found.D
    rows = [[*a, *(-e for e in b)] for a, b in zip(A, B, strict=True)]
    rows += [[*c, *d] for c, d in zip(C, D, strict=True)]
    W = [[(rows[i][j] + rows[j][i]) / 2 for j in range(len(rows))] for i in range(len(rows))]
    assert exact.is_positive_semidefinite(W)


@given(cases())
def test_transformation_gives_the_reduced_matrices(case: Case) -> None:
    """T^T L T and T^T A T of the limit are L and A of the reduced model (states that were chosen among the old ones)."""
    found = reduced(case)
    limit = in_equations(case).limit
    small = found.equations
    values = at(small, case).values
    for name, e in found.where.items():
        values[name] = evaluate_exact(e, values)
    rows = [k for k, name in enumerate(found.full_states) if name in limit.states]
    T = [[evaluate_exact(e, values) for e in found.transformation[k]] for k in rows]
    T_t = [[row[j] for row in T] for j in range(len(small.states))]
    n = len(small.states)
    names: tuple[MatrixName, ...] = ("L", "A")
    for name in names:
        middle = [[evaluate_exact(e, at(limit, case).values) for e in row] for row in limit.matrices[name]]
        got = exact.product(T_t, exact.product(middle, T, n), n)
        assert got == at(small, case).matrix(name)


@given(cases(frozen=False))
def test_order_of_limits_does_not_matter(case: Case) -> None:
    together = reduced(case)
    model = case.network.model()
    for name, value in reversed(case.limits.items()):
        if name not in model.parameters:
            continue
        try:
            model = reduce_model(model, {name: value}).model
        except ReductionError as error:
            assume(error.code not in ("T101", "T103", "T106", "T107"))  # T101: idle since an earlier limit
            raise
    one_by_one = equations(model)
    s = Fraction(7, 3)
    G = at(together.equations, case).transfer_matrix(s)
    H = at(one_by_one, case).transfer_matrix(s)
    assume(G is not None)
    assume(H is not None)
    assert G == H
