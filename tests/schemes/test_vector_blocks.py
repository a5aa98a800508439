"""Vector blocks merged and split."""

from dataclasses import replace

import pytest

import tellegen as tg
from support.networks import agree
from tellegen.core.errors import GraphError
from tellegen.expressions import ONE, ZERO
from tellegen.schemes import merge_blocks, split_block
from tellegen.schemes.pog_scheme import VectorBlock


@pytest.fixture
def whole() -> VectorBlock:
    block = tg.pog(tg.load("dc_motor_pump"), vectorial=True).vector
    assert block is not None
    return block


def test_a_block_is_split_where_states_speak_to_each_other(whole: VectorBlock) -> None:
    motor, pump = split_block(whole, ["I_a", "omega_m"])
    assert (motor.states, motor.inputs) == (("I_a", "omega_m"), ("V_a", "P_0"))
    assert agree(motor.A, [["R_a", "K_m"], ["-K_m", "b_m"]])
    assert agree(motor.B, [["1", "0"], ["0", "-K_p"]])
    assert (pump.states, pump.inputs) == (("P_0",), ("Q_0", "omega_m"))
    assert agree(pump.B, [["1", "K_p"]])


@pytest.mark.parametrize("states", [["I_a"], ["I_a", "omega_m"], ["I_a", "P_0"]])
def test_split_and_merged_it_is_the_same_block(whole: VectorBlock, states: list[str]) -> None:
    merged = merge_blocks(*split_block(whole, states))
    places = [merged.states.index(name) for name in whole.states]
    into = [merged.inputs.index(name) for name in whole.inputs]
    for name in ("L", "A", "N"):
        M = getattr(merged, name)
        assert tuple(tuple(M[i][j] for j in places) for i in places) == getattr(whole, name)
    assert tuple(tuple(merged.B[i][j] for j in into) for i in places) == whole.B


def test_states_that_hold_energy_together_stay_together(whole: VectorBlock) -> None:
    tied = replace(whole, L=((ONE, ONE, ZERO), (ONE, ONE, ZERO), (ZERO, ZERO, ONE)))
    with pytest.raises(GraphError, match="I_a and omega_m hold energy together") as error:
        split_block(tied, ["I_a"])
    assert error.value.code == "G213"


@pytest.mark.parametrize(
    ("states", "text"), [(["I_b"], "did you mean 'I_a'"), ([], "would be empty"), (["I_a", "omega_m", "P_0"], "empty")]
)
def test_parts_that_are_not_there(whole: VectorBlock, states: list[str], text: str) -> None:
    with pytest.raises(GraphError, match=text):
        split_block(whole, states)


def test_blocks_with_a_state_of_one_name_are_not_merged(whole: VectorBlock) -> None:
    with pytest.raises(GraphError, match="I_a, omega_m, P_0 is a state of both blocks"):
        merge_blocks(whole, whole)


def test_rates_between_blocks_are_refused(whole: VectorBlock) -> None:
    motor, pump = split_block(whole, ["I_a", "omega_m"])
    rated = replace(pump, B_1=((ZERO, ONE),))
    with pytest.raises(GraphError, match="the rate of 'omega_m'"):
        merge_blocks(motor, rated)
