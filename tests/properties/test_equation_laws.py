"""Laws that the equations of every linear network keep, against an analysis of the network from first principles."""

import random
from dataclasses import replace
from fractions import Fraction

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from support import exact, nodal
from support.evaluated import Evaluated, legal
from support.networks import Network, Part, deciding
from support.strategies import RESISTIVE, STORAGES, laplace_points, networks
from tellegen.core.errors import CausalityError, EquationError
from tellegen.elements import KINDS

seeds = st.integers(0, 2**16)


def vector(chance: random.Random, count: int) -> list[Fraction]:
    return [Fraction(chance.randint(-9, 9), chance.randint(1, 4)) for _ in range(count)]


def negative(matrix: exact.Rows) -> exact.Rows:
    return [[-e for e in row] for row in matrix]


def power_matrix(model: Evaluated) -> exact.Rows:
    """The symmetric part of [[A, -B], [C, D]]."""
    upper = [[*a, *b] for a, b in zip(model.A, negative(model.B), strict=True)]
    lower = [[*c, *d] for c, d in zip(model.C, model.D, strict=True)]
    whole = [*upper, *lower]
    return [[(e + whole[j][i]) / 2 for j, e in enumerate(row)] for i, row in enumerate(whole)]


def assert_same_transfer_matrix(one: Network, two: Network, s: Fraction) -> None:
    first, second = legal(one), legal(two)
    before, after = first.transfer_matrix(s), second.transfer_matrix(s)
    assume(before is not None and after is not None)
    assert before is not None
    assert after is not None
    old = [p.name for p in one.parts if p.is_source]
    place = [[p.name for p in two.parts if p.is_source].index(name) for name in old]
    assert before == [[after[i][j] for j in place] for i in place]


# -- behaviour -----------------------------------------------------------------------------------------------------------------


@given(networks(), laplace_points)
def test_the_transfer_matrix_is_that_of_nodal_analysis(network: Network, s: Fraction) -> None:
    model = legal(network)
    found, expected = model.transfer_matrix(s), nodal.transfer_matrix(network, s)
    assert (found is None) == (expected is None)
    assert found == expected


@given(networks(couplings=False), laplace_points)
def test_the_transfer_matrix_of_one_domain_is_that_of_nodal_analysis(network: Network, s: Fraction) -> None:
    assert legal(network).transfer_matrix(s) == nodal.transfer_matrix(network, s)


@given(networks(), laplace_points, st.data())
def test_what_hangs_at_one_terminal_changes_nothing(network: Network, s: Fraction, data: st.DataObject) -> None:
    at = data.draw(st.sampled_from([part for part in network.parts if len(part.nodes) == 2]))
    letter = next(key for key, kinds in STORAGES.items() if KINDS[kinds[0]].domains == KINDS[at.kind].domains)
    kind = data.draw(st.sampled_from((*STORAGES[letter][:1], *RESISTIVE[letter])))
    node = data.draw(st.sampled_from(at.nodes))
    hanging = Part("hanging", kind, (node, "nowhere"), parameter="hanging")
    assert_same_transfer_matrix(network, network.with_parts([*network.parts, hanging]), s)


@given(networks(), laplace_points, st.data())
def test_a_modulus_of_zero_holds_what_nodal_analysis_says(network: Network, s: Fraction, data: st.DataObject) -> None:
    shared = [p.parameter for p in network.parts]
    couplings = [p for p in network.parts if nodal.is_coupling(p) and shared.count(p.parameter) == 1]
    assume(couplings)
    chosen = data.draw(st.sampled_from(couplings)).name
    # As a number written out, and as a parameter that has the value zero.
    written = data.draw(st.booleans())
    parts = [
        replace(p, value=Fraction(0), parameter="" if written else p.parameter) if p.name == chosen else p
        for p in network.parts
    ]
    severed = replace(network.with_parts(parts), valued=True)
    model = legal(severed)
    found, expected = model.transfer_matrix(s), nodal.transfer_matrix(severed, s)
    assert (found is None) == (expected is None)
    assert found == expected


@given(networks(), laplace_points, st.data())
def test_coefficients_of_zero_divide_nothing(network: Network, s: Fraction, data: st.DataObject) -> None:
    shared = [p.parameter for p in network.parts]
    resistive = [p for p in network.parts if nodal.is_resistive(p) and p.parameter and shared.count(p.parameter) == 1]
    assume(resistive)
    chosen = data.draw(st.sampled_from(resistive))
    zeroed = Network(tuple(replace(p, value=Fraction(0)) if p is chosen else p for p in network.parts), valued=True)
    try:
        model = legal(zeroed)
    except (CausalityError, EquationError) as error:
        assume(error.code not in ("K103", "E101"))  # a source or a storage asks for the law backwards
        raise
    expected = nodal.transfer_matrix(zeroed, s)
    assume(expected is not None)
    assert model.transfer_matrix(s) == expected


@settings(max_examples=settings.default.max_examples // 5 if settings.default else 10)
@given(st.integers(0, 2**16), laplace_points)
def test_a_large_resistive_mesh_has_the_transfer_matrix_of_nodal_analysis(seed: int, s: Fraction) -> None:
    """Its entries would have more terms than can be written, so they are evaluated through their names."""
    network = mesh(random.Random(seed))
    model = legal(network)
    assert model.transfer_matrix(s) == nodal.transfer_matrix(network, s)


def mesh(chance: random.Random) -> Network:
    """20 to 40 resistors at random between a dozen nodes, two sources and three storages."""
    nodes = ["gnd", *(f"n{k}" for k in range(chance.randint(6, 12)))]
    pairs = [(chance.choice(nodes[:k]), nodes[k]) for k in range(1, len(nodes))]
    pairs += [_two(chance, nodes) for _ in range(chance.randint(20, 40) - len(pairs))]
    pairs += [(node, "gnd") for node in nodes[1:] if sum(node in pair for pair in pairs) == 1]
    kinds = [chance.choice(("resistor", "conductance")) for _ in pairs]
    extra = ("voltage source", "current source", "capacitor", "inductor", "capacitor")
    pairs += [("n0", "gnd"), *(_two(chance, nodes[2:]) for _ in extra[1:])]
    parts = [
        Part(f"p{k}", kind, ends, Fraction(chance.randint(1, 20), chance.randint(1, 5)), f"p{k}")
        for k, (kind, ends) in enumerate(zip([*kinds, *extra], pairs, strict=True))
    ]
    return Network(tuple(parts))


def _two(chance: random.Random, nodes: list[str]) -> tuple[str, str]:
    a, b = chance.sample(nodes, 2)
    return a, b


# -- structure -----------------------------------------------------------------------------------------------------------------


@given(networks())
def test_the_energy_matrix_is_symmetric_and_positive_definite(network: Network) -> None:
    model = legal(network)
    assert exact.transposed(model.L, model.n) == model.L
    assert exact.is_positive_semidefinite(model.L)
    assert exact.solve_dense(model.L, [[Fraction(0)] for _ in model.L]) is not None


@given(networks())
def test_there_are_as_many_states_as_initial_conditions_to_choose(network: Network) -> None:
    assert legal(network).n == nodal.order_of_complexity(network)


@given(networks())
def test_passive_networks_have_a_positive_semidefinite_power_matrix(network: Network) -> None:
    model = legal(network)
    assume(not model.has_input_rates)
    assert exact.is_positive_semidefinite(power_matrix(model))


@given(networks(resistive=False))
def test_without_resistive_elements_A_is_skew(network: Network) -> None:
    model = legal(network)
    assert exact.transposed(model.A, model.n) == negative(model.A)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(networks())
def test_without_direct_terms_C_is_the_transpose_of_B(network: Network) -> None:
    model = legal(network)
    assume(not model.has_input_rates and model.system.is_zero("D"))
    assert exact.transposed(model.B, model.m) == model.C


@given(networks(resistive=False))
def test_without_resistive_elements_C_is_the_transpose_of_B_and_D_is_skew(network: Network) -> None:
    model = legal(network)
    assume(not model.has_input_rates)
    assert exact.transposed(model.B, model.m) == model.C
    assert exact.transposed(model.D, model.m) == negative(model.D)


@given(networks())
def test_the_symmetric_and_the_skew_part_add_up_to_A(network: Network) -> None:
    model = legal(network)
    system = replace(
        model.system, matrices={**model.system.matrices, "L": model.system.symmetric_part, "A": model.system.skew_part}
    )
    parts = Evaluated(system, network.values)
    assert exact.plus(parts.L, parts.A) == model.A
    assert exact.transposed(parts.L, model.n) == parts.L
    assert exact.transposed(parts.A, model.n) == negative(parts.A)


@given(networks())
def test_names_under_where_are_defined_before_they_are_used(network: Network) -> None:
    system = legal(network).system
    known = {*network.values, *system.states, *system.inputs}
    for name, e in system.where.items():
        assert name not in known
        assert e.free_symbols <= known
        known.add(name)
    assert all(e.free_symbols <= known for e in system.entries())


# -- power and energy ----------------------------------------------------------------------------------------------------------


@given(networks(), seeds)
def test_supplied_power_is_stored_or_dissipated(network: Network, seed: int) -> None:
    model, chance = legal(network), random.Random(seed)
    x, u, u_rate = vector(chance, model.n), vector(chance, model.m), vector(chance, model.m)
    energy = model.system.stored_energy
    assert energy is not None
    moving = zip((*model.system.states, *model.system.inputs), (*model.rate(x, u, u_rate), *u_rate), strict=True)
    stored = sum((model.at(energy.derivative(name), x, u) * rate for name, rate in moving), Fraction(0))
    supplied = exact.dot(model.output(x, u, u_rate), u)
    assert supplied == stored + model.dissipated(x, u)


@given(networks(), seeds)
def test_dissipated_power_is_never_negative_and_is_that_of_the_power_matrix(network: Network, seed: int) -> None:
    model, chance = legal(network), random.Random(seed)
    x, u = vector(chance, model.n), vector(chance, model.m)
    dissipated = model.dissipated(x, u)
    assert dissipated >= 0
    if not model.has_input_rates:
        assert dissipated == exact.dot([*x, *u], exact.times(power_matrix(model), [*x, *u]))


@given(networks(), seeds)
def test_the_stored_energy_is_half_x_L_x_where_no_input_is_stored(network: Network, seed: int) -> None:
    model, chance = legal(network), random.Random(seed)
    assert model.system.stored_energy is not None
    assume(not set(model.system.inputs) & model.system.stored_energy.free_symbols)
    x, u = vector(chance, model.n), vector(chance, model.m)
    assert model.energy(x, u) == exact.dot(x, exact.times(model.L, x)) / 2


# -- the same network, described otherwise -------------------------------------------------------------------------------------


def renamed(network: Network, seed: int) -> Network:
    chance = random.Random(seed)
    fresh = [f"e{k}_{chance.randint(0, 99)}" for k in range(len(network.parts))]
    chance.shuffle(fresh)
    of_part = {p.name: name for p, name in zip(network.parts, fresh, strict=True)}
    parameters = sorted({p.parameter for p in network.parts if p.parameter and not p.is_source})
    of_parameter = {name: f"p{k}" for k, name in enumerate(chance.sample(parameters, len(parameters)))} | {"": ""}
    nodes = sorted({n for p in network.parts for n in p.nodes if n not in nodal.REFERENCES})
    of_node = {node: f"m{k}" for k, node in enumerate(chance.sample(nodes, len(nodes)))}
    return network.with_parts(
        replace(
            p,
            name=of_part[p.name],
            parameter=of_part[p.name] if p.is_source else of_parameter[p.parameter],
            nodes=tuple(of_node.get(n, n) for n in p.nodes),
        )
        for p in network.parts
    )


def assert_congruent(one: Evaluated, two: Evaluated, two_name: dict[str, str], seed: int) -> None:
    """Equal energy, dissipation and output at the same physical point, whichever storages are the states."""
    chance = random.Random(seed)
    inputs = [one.ports[k].element for k in one.system.origin.sources] if one.system.origin else []
    others = [two.ports[k].element for k in two.system.origin.sources] if two.system.origin else []
    place = [inputs.index(next(a for a, b in two_name.items() if b == name)) for name in others]
    x, u, u_rate = vector(chance, one.n), vector(chance, one.m), vector(chance, one.m)
    v, v_rate = [u[k] for k in place], [u_rate[k] for k in place]
    point = {two_name[name]: value for name, value in one.storage_outputs(x, u).items()}
    z = [point[name] for name in two.integral]
    assert one.n == two.n
    assert two.storage_outputs(z, v) == point
    assert two.energy(z, v) == one.energy(x, u)
    assert two.dissipated(z, v) == one.dissipated(x, u)
    y = one.output(x, u, u_rate)
    assert two.output(z, v, v_rate) == [y[k] for k in place]


@given(networks(), seeds, laplace_points)
def test_other_names_give_a_congruent_model(network: Network, seed: int, s: Fraction) -> None:
    other = renamed(network, seed)
    one, two = legal(network), legal(other)
    assert one.transfer_matrix(s) == two.transfer_matrix(s)
    assert_congruent(one, two, {a.name: b.name for a, b in zip(network.parts, other.parts, strict=True)}, seed)


@given(networks(), seeds)
def test_other_names_give_the_same_matrices_where_causality_leaves_no_choice(network: Network, seed: int) -> None:
    one, two = legal(network), legal(renamed(network, seed))
    assume(not one.system.dependent)
    for name in ("L", "A", "B", "C", "D", "B_1", "D_1"):
        assert one.matrix(name) == two.matrix(name)


@given(networks(), seeds, laplace_points)
def test_another_order_of_lines_gives_a_congruent_model(network: Network, seed: int, s: Fraction) -> None:
    other = network.with_parts(random.Random(seed).sample(network.parts, len(network.parts)))
    assert_same_transfer_matrix(network, other, s)
    assert_congruent(legal(network), legal(other), {p.name: p.name for p in network.parts}, seed)


@given(networks(grounded=True), seeds)
def test_another_order_of_lines_permutes_the_same_matrices(network: Network, seed: int) -> None:
    other = network.with_parts(random.Random(seed).sample(network.parts, len(network.parts)))
    one, two = legal(network), legal(other)
    assert one.system.origin is not None
    assert two.system.origin is not None
    assert deciding(one.system.origin) == deciding(two.system.origin)
    assert set(one.integral) == set(two.integral)
    place = [two.integral.index(name) for name in one.integral]
    column = [two.system.inputs.index(name) for name in one.system.inputs]
    assert [[two.L[i][j] for j in place] for i in place] == one.L
    assert [[two.A[i][j] for j in place] for i in place] == one.A
    assert [[two.B[i][j] for j in column] for i in place] == one.B
    assert [[two.C[i][j] for j in place] for i in column] == one.C
    assert [[two.D[i][j] for j in column] for i in column] == one.D
    assert [[two.B_1[i][j] for j in column] for i in place] == one.B_1
    assert [[two.D_1[i][j] for j in column] for i in column] == one.D_1


@given(networks(), st.data())
def test_turning_a_resistive_element_around_changes_nothing(network: Network, data: st.DataObject) -> None:
    resistive = [p for p in network.parts if nodal.is_resistive(p)]
    assume(resistive)
    chosen = data.draw(st.sampled_from(resistive))
    turned = network.with_parts(replace(p, nodes=p.nodes[::-1]) if p is chosen else p for p in network.parts)
    one, two = legal(network), legal(turned)
    assume(one.integral == two.integral)  # a part without reference may take another node, and then another tie
    for name in ("L", "A", "B", "C", "D", "B_1", "D_1"):
        assert one.matrix(name) == two.matrix(name)


@given(networks(), st.data(), laplace_points)
def test_turning_a_storage_around_keeps_the_transfer_matrix(network: Network, data: st.DataObject, s: Fraction) -> None:
    storages = [p for p in network.parts if nodal.is_storage(p)]
    assume(storages)
    chosen = data.draw(st.sampled_from(storages))
    turned = network.with_parts(replace(p, nodes=p.nodes[::-1]) if p is chosen else p for p in network.parts)
    assert_same_transfer_matrix(network, turned, s)


@given(networks())
def test_the_knowledge_of_values_changes_no_equation(network: Network) -> None:
    one, two = legal(replace(network, valued=False)), legal(replace(network, valued=True))
    for name in ("L", "A", "B", "C", "D", "B_1", "D_1"):
        assert one.matrix(name) == two.matrix(name)
