"""A rigid connection made elastic has more states, and at the limit of its fictitious parameter it is rigid again."""

import pytest

import tellegen as tg
from tellegen.equations.system import EquationSystem
from tellegen.expressions import is_zero
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

TWO_MASSES = """
system: two masses on one rod
parameters: {m_1: 1 kg, m_2: 2 kg, b: 3 N*s/m}
network:
  F: {force source: [frame, rod]}
  m_1: {mass: [rod], velocity: v_1}
  m_2: {mass: [rod], velocity: v_2}
  b: {damper: [rod, frame]}
experiment: {until: 2 s, inputs: {F: 1 N}, initial: {v_1: 0.5 m/s}}
"""

TWO_SPRINGS = """
system: springs in series
parameters: {m: 1 kg, k_1: 100 N/m, k_2: 300 N/m}
network:
  F: {force source: [frame, body]}
  m: {mass: [body], velocity: v}
  k_1: {spring: [body, joint], force: F_1}
  k_2: {spring: [joint, frame], force: F_2}
experiment: {until: 2 s, inputs: {F: 1 N}}
"""

TWO_COILS = """
system: coils in series
parameters: {L_1: 1 mH, L_2: 2 mH, R: 1 ohm}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  L_1: {inductor: [b, c], current: I_1}
  L_2: {inductor: [c, gnd], current: I_2}
experiment: {until: 10 ms, inputs: {V: 1 V}}
"""


def assert_same_equations(one: EquationSystem, two: EquationSystem) -> None:
    assert one.states == two.states
    assert one.inputs == two.inputs
    for name, matrix in one.matrices.items():
        for row, other in zip(matrix, two.matrices[name], strict=True):
            for a, b in zip(row, other, strict=True):
                assert is_zero(a - b), f"{name}: {a} and {b}"


CASES = [
    ("planetary_gear", "J_s"),
    ("cauer_low_pass", "C2"),
    ("cauer_low_pass", "C4"),
    (TWO_MASSES, "m_2"),
    (TWO_SPRINGS, "k_2"),
    (TWO_COILS, "L_2"),
]


def model_of(text: str) -> Model:
    return read_model(text) if "\n" in text else tg.load(text)


@pytest.mark.parametrize("damped", [True, False])
@pytest.mark.parametrize(("text", "element"), CASES)
def test_storage_gets_a_state_and_the_limit_gives_the_equations_back(text: str, element: str, damped: bool) -> None:
    rigid = model_of(text)
    before = tg.derive(rigid)
    elastic = tg.stiffen(rigid, element, damped=damped)
    after = tg.derive(elastic)
    assert len(after.states) == len(before.states) + 2
    assert not {n for n in after.dependent if n.endswith(element)}
    assert_same_equations(tg.reduce(elastic, [elastic.limit], keep=before.states).equations, before)


@pytest.mark.parametrize(("text", "element"), CASES)
def test_suggested_value_hardly_changes_the_motion(text: str, element: str) -> None:
    rigid = model_of(text)
    elastic = tg.stiffen(rigid, element)
    states = tg.derive(rigid).states
    loss = tg.simulate(rigid, rtol=1e-8).compare(tg.simulate(elastic, rtol=1e-8), *states)
    assert loss.relative < 0.02


def test_suggested_value_is_near_the_limit_in_the_measure_of_the_study() -> None:
    elastic = tg.stiffen("planetary_gear", "J_s")
    assert tg.trajectory_loss(elastic, [elastic.limit]).relative_rms < 5e-3


def test_parted_storage_starts_as_the_others_made_it() -> None:
    elastic = tg.stiffen(read_model(TWO_MASSES), "m_2")
    run = tg.simulate(elastic)
    assert run.values("v_2")[0] == pytest.approx(0.5)


def test_node_is_parted_between_elements() -> None:
    elastic = tg.stiffen("two_mass_drive", "load", apart=["J_l", "b_l"], value=1e5)
    nodes = {e.name: e.nodes for e in elastic.model.elements}
    assert nodes["J_l"][0] == nodes["b_l"][0] != "load"
    assert nodes["K_s"][1] == "load"
    assert elastic.value == 1e5
    assert_same_equations(tg.reduce(elastic, [elastic.limit]).equations, tg.derive("two_mass_drive"))


def test_written_model_reads_back() -> None:
    elastic = tg.stiffen("planetary_gear", "J_s")
    again = read_model(tg.to_yaml(elastic.model))
    assert_same_equations(tg.derive(again), tg.derive(elastic))


@pytest.mark.parametrize(
    ("connection", "apart", "value", "code", "said"),
    [
        ("J_x", (), None, "T111", "neither a storage nor a node"),
        ("frame", (), None, "T111", "neither a storage nor a node"),
        ("b_l", (), None, "T111", "is no storage"),
        ("load", (), None, "T111", "not parted"),
        ("load", ("J_m",), None, "T111", "'J_m' is not at the node"),
        ("load", ("K_s", "d_s", "J_l", "b_l", "tau_l"), None, "T111", "not parted"),
        ("J_l", (), 0.0, "T112", "would be 0"),
        ("J_l", (), float("inf"), "T112", "would be inf"),
    ],
)
def test_connections_that_are_none(
    connection: str, apart: tuple[str, ...], value: float | None, code: str, said: str
) -> None:
    with pytest.raises(tg.ReductionError) as error:
        tg.stiffen("two_mass_drive", connection, apart=apart, value=value)
    assert error.value.code == code
    assert said in str(error.value)


def test_symbols_without_numbers_need_a_value() -> None:
    model = read_model(TWO_MASSES.replace("m_2: 2 kg", "m_2: "))
    with pytest.raises(tg.ReductionError) as error:
        tg.stiffen(model, "m_2")
    assert error.value.code == "T112"
    assert "stiffness" in str(error.value)
    assert tg.derive(tg.stiffen(model, "m_2", value=1e4)).states == ("v_1", "v_2", "F_K_m_2")


def test_heat_has_no_inertia() -> None:
    model = read_model("""
system: two blocks
parameters: {C_1: 1 J/K, C_2: 1 J/K}
network:
  P: {heat flow source: [ambient, a]}
  C_1: {heat capacity: [a]}
  C_2: {heat capacity: [a]}
""")
    with pytest.raises(tg.ReductionError) as error:
        tg.stiffen(model, "C_2")
    assert error.value.code == "T113"
