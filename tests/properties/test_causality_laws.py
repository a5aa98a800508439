"""Laws that the causality of every network keeps, against ranks computed from Kirchhoff's laws alone."""

import random
from collections.abc import Iterable

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support import exact, nodal
from support.networks import Network, causality, deciding, integral
from support.strategies import networks
from tellegen.causality import CausalGraph
from tellegen.causality.exact import demands, exact_causality, generic_residue
from tellegen.causality.normal_tree import biconnected_components
from tellegen.core.errors import CausalityError
from tellegen.graph import lower


def legal(network: Network) -> CausalGraph:
    try:
        return causality(network)
    except CausalityError as error:
        assume(error.code not in ("K101", "K105"))
        raise


def spaces(network: Network) -> list[nodal.PowerSpace]:
    """With values in general position, and with the given ones where the model knows them."""
    general = nodal.PowerSpace(network)
    return [general, nodal.PowerSpace(network, lambda part: part.value)] if network.valued else [general]


@given(networks())
def test_no_other_choice_has_more_storages_in_integral_causality(network: Network) -> None:
    assert len(legal(network).integral) == nodal.PowerSpace(network).most_integral()


@given(networks(storages=True, resistive=False))
def test_no_other_choice_has_more_storages_in_integral_causality_without_resistors(network: Network) -> None:
    assert len(legal(network).integral) == nodal.PowerSpace(network).most_integral()


@given(networks())
def test_what_is_decided_can_be_decided_together(network: Network) -> None:
    causal = legal(network)
    space = nodal.PowerSpace(network)
    sides = {"across": space.across, "through": space.through}
    rows = [sides[side][name] for name, side in deciding(causal).items()]
    assert exact.rank(rows) == len(rows) == space.dimension


@given(networks())
def test_sources_decide_what_they_impose(network: Network) -> None:
    causal = legal(network)
    for name, side in deciding(causal).items():
        kind = next(p.kind for p in network.parts if p.name == name)
        if nodal.LAWS[kind] in ("v = u", "i = u"):
            assert side == ("across" if nodal.LAWS[kind] == "v = u" else "through")


@given(networks())
def test_a_dependent_storage_depends_on_exactly_what_is_listed(network: Network) -> None:
    """Fixing what is listed fixes the output; leaving any one of it out leaves the output free."""
    causal = legal(network)
    space = nodal.PowerSpace(network)
    names = [port.element for port in causal.graph.ports]
    part = {p.name: p for p in network.parts}
    sides = {"across": space.across, "through": space.through}

    def fixes(ports: Iterable[int], row: list[int]) -> bool:
        rows = [sides[causal.decides[k]][names[k]] for k in ports]
        return exact.rank([*rows, row]) == exact.rank(rows)

    for dependence in causal.dependent:
        row = space.row(part[names[dependence.port]])
        assert fixes(dependence.on, row)
        assert not any(fixes([j for j in dependence.on if j != k], row) for k in dependence.on)


@settings(max_examples=3 * settings.default.max_examples if settings.default else 150)
@given(networks())
def test_a_conflict_is_reported_exactly_when_there_is_one(network: Network) -> None:
    fighting = not all(space.can_be_imposed(p for p in space.ports if p.is_source) for space in spaces(network)[:1])
    open_loop = any(space.leaves_something_open for space in spaces(network))
    try:
        causal = causality(network)
    except CausalityError as error:
        codes = {finding.code for finding in error.findings}
        assert codes in ({"K101"}, {"K105"})
        assert fighting if codes == {"K101"} else open_loop
    else:
        assert not fighting
        assert not open_loop
        assert len(integral(causal)) == len(causal.integral)


@given(networks(many_sources=True))
def test_the_members_of_a_conflict_of_sources_contradict_each_other_and_no_fewer_do(network: Network) -> None:
    try:
        causality(network)
    except CausalityError as error:
        space = nodal.PowerSpace(network)
        part = {p.name: p for p in network.parts}
        for finding in error.findings if error.code == "K101" else ():
            members = [part[name] for name in finding.members]
            assert all(p.is_source for p in members)
            assert not space.can_be_imposed(members)
            assert all(space.can_be_imposed(p for p in members if p is not left_out) for left_out in members)


@given(networks(couplings=False))
def test_the_normal_tree_grants_the_same_wishes_as_elimination(network: Network) -> None:
    graph = lower(network.model())
    order = demands(graph)
    causal = legal(network)
    assert causal.method == "normal tree"
    by_elimination = exact_causality(graph, order, generic_residue)
    assert not by_elimination.circulates
    assert by_elimination.decides == causal.decides
    for dependence in causal.dependent:
        assert by_elimination.partners(dependence.port) == sorted(dependence.on)


def paths(causal: CausalGraph) -> set[tuple[str, frozenset[str]]]:
    """Without the loops inside the junction structure, which are listed as elimination meets them."""
    return {(path.kind, frozenset(path.members)) for path in causal.paths if path.kind != "junction loop"}


@given(networks(grounded=True), st.integers(0, 2**16))
def test_the_order_of_lines_decides_nothing(network: Network, seed: int) -> None:
    other = network.with_parts(random.Random(seed).sample(network.parts, len(network.parts)))
    one, two = legal(network), legal(other)
    assert deciding(one) == deciding(two)
    assert paths(one) == paths(two)


@given(networks())
def test_every_notice_of_causality_has_its_path(network: Network) -> None:
    causal = legal(network)
    codes = [finding.code for finding in causal.findings]
    kinds = [path.kind for path in causal.paths]
    assert codes.count("K203") == kinds.count("resistor-resistor")
    assert codes.count("K201") + codes.count("K202") == len(causal.dependent)
    assert ("K202" in codes) == ("source-storage" in kinds)


# -- loops of resistive elements -----------------------------------------------------------------------------------------------


@given(networks())
def test_resistive_elements_solved_together_are_those_that_decide_each_other(network: Network) -> None:
    """Two resistive elements belong together when a chain of gains leads from one to the other."""
    causal = legal(network)
    space = nodal.PowerSpace(network)
    sides = {"across": (space.across, space.through), "through": (space.through, space.across)}
    decided = deciding(causal)
    names = list(decided)
    resistive = [p.name for p in network.parts if nodal.is_resistive(p)]
    group = {name: name for name in resistive}
    for told in resistive:
        row = sides[decided[told]][1][told]
        for other in resistive:
            rows = [sides[decided[name]][0][name] for name in names if name != other]
            if exact.rank([*rows, row]) > exact.rank(rows):
                old, new = group[told], group[other]
                group = {name: new if g == old else g for name, g in group.items()}
    expected = {frozenset(n for n in resistive if group[n] == g) for g in group.values()}
    found = {frozenset(path.members) for path in causal.paths if path.kind == "resistor-resistor"}
    assert found == {block for block in expected if len(block) > 1}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=9))
def test_two_edges_share_a_biconnected_component_exactly_when_they_share_a_cycle(pairs: list[tuple[int, int]]) -> None:
    ends = dict(enumerate(pairs))
    found = biconnected_components(ends)
    edges = [k for k, (a, b) in ends.items() if a != b]
    assert sorted(k for component in found for k in component) == edges
    together = {frozenset((j, k)) for component in found for j in component for k in component if j < k}
    cycles = [c for size in range(2, 7) for c in _cycles(ends, edges, size)]
    assert together == {frozenset((j, k)) for cycle in cycles for j in cycle for k in cycle if j < k}


def _cycles(ends: dict[int, tuple[int, int]], edges: list[int], size: int) -> list[tuple[int, ...]]:
    """Sets of edges that form one closed path: every vertex met twice, all hanging together."""
    from itertools import combinations

    found = []
    for chosen in combinations(edges, size):
        met = [v for k in chosen for v in ends[k]]
        if any(met.count(v) != 2 for v in met):
            continue
        reached, grown = {ends[chosen[0]][0]}, True
        while grown:
            more = {v for k in chosen if reached & set(ends[k]) for v in ends[k]}
            grown = not more <= reached
            reached |= more
        if reached == set(met):
            found.append(chosen)
    return found
