"""New coordinates, exchanged ports, split and merged vector blocks: each a scheme that answers its inputs as before."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tellegen as tg
from schemes.comparing import legal_causality
from support.networks import Network
from support.strategies import networks
from support.transfers import POINTS, transfer_at
from tellegen.core.errors import EquationError, GraphError, TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.expressions import is_zero
from tellegen.expressions.elimination import with_definitions
from tellegen.notations.reading import read_model
from tellegen.reduction import congruent_transformation, exchange_ports, similarity, transform_scheme
from tellegen.scenes.ink import check_scene
from tellegen.schemes import (
    PogScheme,
    Rewriting,
    change_sign,
    elementary_loops,
    merge_scheme,
    pog,
    reduce_loop,
    split_scheme,
)
from tellegen.schemes.algebra.vector_blocks import scheme_matrices

LINEAR = ["dc_motor_pump", "corking_shaft", "rlc", "quarter_car", "two_mass_drive"]

COILS = read_model(
    """
system: two coils
parameters: {L: 2 mH, R: 3 ohm, Q: 5 ohm, phi: 0.4}
network:
  V_1: {voltage source: [a, gnd]}
  V_2: {voltage source: [b, gnd]}
  R:   {resistor: [a, c], R: R}
  Q:   {resistor: [b, d], R: Q}
  S:   {resistor: [c, d], R: 7 ohm}
  G:   {resistor: [a, gnd], R: 9 ohm}
  H:   {resistor: [b, gnd], R: 11 ohm}
  L_1: {inductor: [c, gnd], L: L}
  L_2: {inductor: [d, gnd], L: L}
"""
)
ROTATION = [["cos(phi)", "-sin(phi)"], ["sin(phi)", "cos(phi)"]]


def mixed(n: int) -> list[list[int]]:
    """A regular T whose inverse is no transpose."""
    return [[1 if i == j else (2 * i + j) % 3 if j < i else 0 for j in range(n)] for i in range(n)]


def drawn(scheme: PogScheme) -> bool:
    return not check_scene(tg.draw(scheme).scene)


def answers(scheme: PogScheme, s: complex) -> np.ndarray:
    system = derive_equations(scheme.causal)
    return transfer_at(system, s, system.values())


def same(one: PogScheme, two: PogScheme, *, rel: float = 1e-6) -> None:
    for s in POINTS:
        before, after = answers(one, s), answers(two, s)
        size = np.abs(before).max(initial=0.0)
        assert after == pytest.approx(before, rel=rel, abs=rel * size)


@pytest.mark.parametrize("name", LINEAR)
def test_no_input_notices_new_coordinates(name: str) -> None:
    scheme = tg.pog(name)
    found = transform_scheme(scheme, mixed(len(scheme.states)))
    assert found.account.endswith("a change of coordinates")
    assert found.scheme.vectorial
    same(scheme, found.scheme)
    L = scheme_matrices(found.scheme).block.L
    assert all(is_zero(L[i][j] - L[j][i]) for i in range(len(L)) for j in range(i))
    assert drawn(found.scheme)


def test_the_blocks_of_the_scheme_are_those_of_the_transformed_equations() -> None:
    scheme = tg.pog("dc_motor_pump")
    found = transform_scheme(scheme, [["1", "0"], ["K_m/b_m", "-K_p/b_m"], ["0", "1"]])
    expected = congruent_transformation(tg.derive("dc_motor_pump"), [["1", "0"], ["K_m/b_m", "-K_p/b_m"], ["0", "1"]])
    block = scheme_matrices(found.scheme).block
    assert block.states == ("I_a", "P_0")
    assert found.account == "x = T z with z = I_a, P_0: 3 states tied to 2"
    for letter in ("L", "A", "B"):
        wanted = expected.equations.matrices[letter]
        assert all(
            is_zero(a - b)
            for row, line in zip(getattr(block, letter), wanted, strict=True)
            for a, b in zip(row, line, strict=True)
        )


def test_of_dependent_columns_the_first_ones_are_taken() -> None:
    scheme = tg.pog("dc_motor_pump")
    twice = transform_scheme(scheme, [[1, 1, 0], [0, 0, 1], [2, 2, 0]], states=["a", "b", "c"])
    once = transform_scheme(scheme, [[1, 0], [0, 1], [2, 0]], states=["a", "c"])
    assert twice.account == "x = T z with z = a, c: 3 states tied to 2; b follows the others, since T is singular"
    same(twice.scheme, once.scheme, rel=1e-12)


def test_a_rotation_of_equal_storages_is_a_similarity() -> None:
    scheme = tg.pog(COILS)
    found = similarity(scheme, ROTATION)
    assert "T^T L T = L" in found.account
    same(scheme, found.scheme, rel=1e-9)
    assert scheme_matrices(found.scheme).block.L == scheme_matrices(scheme).block.L
    assert drawn(found.scheme)


@pytest.mark.parametrize(
    ("model", "T", "said"),
    [
        (COILS, [[2, 0], [0, 1]], "T^T L T differs from L at (I_L_1, I_L_1): 4*L for L"),
        (COILS, [[1], [1]], "T has 1 columns for 2 states"),
        ("dc_motor_pump", mixed(3), "T^T L T differs from L"),
    ],
)
def test_a_similarity_that_breaks_the_structure_is_refused(model: str, T: list[list[int]], said: str) -> None:
    with pytest.raises(GraphError) as error:
        similarity(tg.pog(model), T)
    assert error.value.code == "G233"
    assert said in str(error.value)
    assert "transform_scheme" in str(error.value)


def test_ports_exchanged_answer_the_inverse_and_come_back() -> None:
    scheme = tg.pog(COILS)
    found = exchange_ports(scheme)
    assert str(found) == "exchanged V_1 for I_V_1, V_2 for I_V_2"
    assert found.scheme.inputs == ("I_V_1", "I_V_2")
    for s in POINTS:
        assert answers(found.scheme, s) @ answers(scheme, s) == pytest.approx(np.eye(2), abs=1e-9)
    back = exchange_ports(found.scheme).scheme
    assert back.inputs == scheme.inputs
    same(scheme, back, rel=1e-9)
    assert drawn(found.scheme)


def test_one_port_exchanged_is_a_hybrid_matrix() -> None:
    scheme = tg.pog(COILS)
    found = exchange_ports(scheme, ["V_2"])
    assert found.scheme.inputs == ("V_1", "I_V_2")
    G, H = answers(scheme, 5.0), answers(found.scheme, 5.0)
    assert H[1, 1] == pytest.approx(1 / G[1, 1])
    assert H[0, 0] == pytest.approx(G[0, 0] - G[0, 1] * G[1, 0] / G[1, 1])


def test_ports_that_do_not_answer_at_once_are_not_exchanged() -> None:
    with pytest.raises(EquationError, match="D is singular"):
        exchange_ports(tg.pog("dc_motor_pump"))
    with pytest.raises(EquationError, match="did you mean 'V_2'"):
        exchange_ports(tg.pog(COILS), ["V_3"])


def test_parts_are_told_each_other_s_states_and_merge_again() -> None:
    scheme = tg.pog("corking_shaft")
    one = split_scheme(scheme, ["omega_te", "F_se"])
    assert [part.states for part in one.scheme.parts] == [("omega_te", "F_se"), ("omega_tr", "F_sr", "v_a", "omega_a")]
    two = split_scheme(one.scheme, ["v_a"])
    assert len(two.scheme.parts) == 3
    assert two.account.endswith("which are told omega_a, v_a of each other")
    assert drawn(two.scheme)
    whole = merge_scheme(two.scheme)
    assert whole.account == "merged 3 vector blocks: x = [omega_te, omega_tr, F_se, F_sr, v_a, omega_a]"
    assert whole.scheme == merge_scheme(scheme).scheme
    assert drawn(whole.scheme)


@pytest.mark.parametrize(("states", "said"), [(["v_b"], "did you mean 'v_a'"), ([], "would be empty")])
def test_parts_of_nothing(states: list[str], said: str) -> None:
    with pytest.raises(GraphError, match=said):
        split_scheme(tg.pog("corking_shaft"), states)


def _coordinates(scheme: PogScheme) -> Rewriting:
    return transform_scheme(scheme, mixed(len(scheme.states)))


def _first_port(scheme: PogScheme) -> Rewriting:
    return exchange_ports(exchange_ports(scheme, scheme.inputs[:1]).scheme, _exchanged(scheme))


def _exchanged(scheme: PogScheme) -> tuple[str, ...]:
    return exchange_ports(scheme, scheme.inputs[:1]).scheme.inputs[:1]


@pytest.mark.parametrize("operation", [_coordinates, _first_port], ids=["coordinates", "ports and back"])
@given(described=networks())
@settings(suppress_health_check=[HealthCheck.filter_too_much])
def test_random_networks_answer_as_before(operation: Callable[[PogScheme], Rewriting], described: Network) -> None:
    scheme = pog(legal_causality(described))
    assume(scheme.states and scheme.inputs)
    try:
        found = operation(scheme)
    except TellegenError as error:
        # Rates of inputs, nothing that answers at once, or domains between which no power passes.
        assume(error.code not in ("G232", "E130", "G104", "G235"))
        raise
    values = {name: float(x) for name, x in described.values.items()}
    one, two = (derive_equations(s.causal) for s in (scheme, found.scheme))
    assert two.inputs == one.inputs
    assume(one.is_zero("B_1") and one.is_zero("D_1"))
    for s in (0.7, 3.0):
        before, after = (transfer_at(system, s, values) for system in (one, two))
        assert after == pytest.approx(before, rel=1e-6, abs=1e-6 * np.abs(before).max(initial=1e-9))


@given(described=networks(), chance=st.randoms(use_true_random=False))
def test_random_networks_split_and_merge(described: Network, chance: object) -> None:
    scheme = pog(legal_causality(described), vectorial=True)
    assert scheme.vector is not None
    assume(len(scheme.states) > 1)
    some = chance.sample(scheme.vector.states, chance.randint(1, len(scheme.states) - 1))  # type: ignore[attr-defined]
    try:
        split = split_scheme(scheme, some)
    except GraphError as error:
        assume("hold energy together" not in str(error))
        raise
    assert merge_scheme(split.scheme).scheme == scheme


def test_signs_that_were_changed_stay_changed() -> None:
    """Coordinates of a scheme that counts a speed the other way belong to that scheme, not to the model it came from."""
    turned = change_sign(tg.pog("dc_motor_pump"), ["omega_m"]).scheme
    block = scheme_matrices(transform_scheme(turned, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]).scheme).block
    assert is_zero(block.A[0][1] + tg.parse("K_m"))


@pytest.mark.parametrize("name", ["pmsm", "crank_rod_elastic"])
def test_couplings_that_move_take_new_coordinates_too(name: str) -> None:
    """The equations behind the new scheme are those of the congruent transformation, at a point of the motion."""
    full = tg.derive(name)
    T = mixed(len(full.states))
    found = derive_equations(transform_scheme(tg.pog(name), T).scheme.causal)
    expected = congruent_transformation(full, T).equations
    assert (found.states, found.inputs) == (expected.states, expected.inputs)
    names = (*expected.states, *expected.inputs, *expected.displacements)
    values = {**full.values(), **{name: 0.3 + 0.21 * k for k, name in enumerate(names)}}
    for letter in ("L", "A", "B", "C", "D"):
        one, two = (
            [[with_definitions(e, s.where).evaluate(values) for e in row] for row in s.matrices[letter]]
            for s in (found, expected)
        )
        assert np.array(one) == pytest.approx(np.array(two), rel=1e-9, abs=1e-12)
    for displacement, rate in expected.displacements.items():
        assert found.displacements[displacement].evaluate(values) == pytest.approx(rate.evaluate(values))


LAMP = """
system: lamp
parameters: {r: 1, c: 2}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, gnd], law: v = r*i + c*i^3}
  Q: {resistor: [a, b], R: 3 ohm}
  C: {capacitor: [b, gnd], C: 1 F}
"""


def test_ports_of_a_curved_law_are_exchanged_by_their_path() -> None:
    model = read_model(LAMP)
    found = exchange_ports(tg.pog(model))
    assert found.account == "exchanged V for I_V, each path inverted"
    assert found.scheme.inputs == ("I_V",)
    assert found.scheme.elements["Q"].decides == "across"
    before, after = tg.derive(model), derive_equations(found.scheme.causal)
    assert after.states == before.states
    # A current that the full model takes at some voltage brings that voltage back, and the same rate of the capacitor. The input
    # counts as the through variable of the source does, into its first node.
    values = {**before.values(), "V_C": 0.4, "V": 2.0}
    unknown = before.algebraic.unknowns
    current = next(x for x in np.roots([2.0, 0.0, 1.0, -2.0]) if abs(x.imag) < 1e-9).real
    values |= dict.fromkeys(unknown, current)
    supplied = -current - (2.0 - 0.4) / 3
    exchanged = {**values, "I_V": supplied, **dict.fromkeys(after.algebraic.unknowns, current)}
    assert all(abs(e.evaluate(exchanged)) < 1e-9 for e in after.algebraic.residuals)
    rate = (
        -after.matrices["A"][0][0].evaluate(exchanged) * 0.4 + after.matrices["B"][0][0].evaluate(exchanged) * supplied
    )
    rate -= after.vectors["f"][0].evaluate(exchanged)
    assert rate == pytest.approx((2.0 - 0.4) / 3)


def test_an_input_that_no_loss_answers_is_not_exchanged() -> None:
    with pytest.raises(GraphError, match="no loss that could be asked the other way answers 'tau'") as error:
        exchange_ports(tg.pog("crank_rod_elastic"), ["tau"])
    assert error.value.code == "G235"
    with pytest.raises(GraphError, match="did you mean 'tau'"):
        exchange_ports(tg.pog("crank_rod_elastic"), ["tua"])


def test_gains_that_move_and_a_storage_make_no_transfer_function() -> None:
    scheme = tg.pog(
        read_model(
            """
system: arm
parameters: {J: 1, r: 2}
displacements: {phi: omega}
network:
  tau: {torque source: [frame, a]}
  J: {inertia: [a], angular velocity: omega}
  b: {friction: [a, frame], b: r*(2 + sin(phi))}
"""
        )
    )
    with pytest.raises(GraphError, match="a gain of the loop moves with phi") as error:
        reduce_loop(scheme, elementary_loops(scheme)[0])
    assert error.value.code == "G211"


def test_schemes_without_constant_matrices() -> None:
    with pytest.raises(
        GraphError, match="is no system of constant matrices: its energy matrix moves with H, omega, theta"
    ) as error:
        transform_scheme(tg.pog("crank_rod"), [[1]])
    assert error.value.code == "G232"
    assert "constant storages behind a connection that moves make such a matrix" in str(error.value)
    scheme = tg.pog("dc_motor_pump")
    with pytest.raises(GraphError, match="is a transfer function"):
        exchange_ports(reduce_loop(scheme, elementary_loops(scheme)[-1]).scheme)
