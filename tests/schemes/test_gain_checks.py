"""Path gains of schemes are those of the models behind them, and every wrong sign or gain is found."""

from dataclasses import replace

import pytest

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.description.opening import load
from tellegen.drawing.pog_planning import check_gains
from tellegen.graph import lower
from tellegen.schemes import PogScheme, pog
from tellegen.schemes.gain_checks import wrong_gains
from tellegen.workflow.catalogue import examples

NAMES = [example.name for example in examples()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("derivative", [False, True])
def test_the_paths_of_every_example_bring_what_its_model_does(name: str, derivative: bool) -> None:
    assert wrong_gains(pog(assign_causality(lower(load(name))), derivative=derivative)) == ()


@pytest.fixture(scope="module")
def motor_pump() -> PogScheme:
    return pog(assign_causality(lower(load("dc_motor_pump"))))


def test_every_sign_that_is_turned_is_found(motor_pump: PogScheme) -> None:
    for name, summation in motor_pump.summations.items():
        for k, (read, sign) in enumerate(summation.inputs):
            turned = (*summation.inputs[:k], (read, -sign), *summation.inputs[k + 1 :])
            wrong = replace(motor_pump, summations={**motor_pump.summations, name: replace(summation, inputs=turned)})
            assert wrong_gains(wrong), (name, read)


def test_every_gain_that_is_doubled_is_found(motor_pump: PogScheme) -> None:
    for name, block in motor_pump.blocks.items():
        if block.gain is not None and block.kind in ("static", "connection"):
            doubled = replace(block, gain=block.gain + block.gain)
            assert wrong_gains(replace(motor_pump, blocks={**motor_pump.blocks, name: doubled})), name


def test_a_wrong_gain_is_told_with_the_element_it_reaches(motor_pump: PogScheme) -> None:
    block = motor_pump.blocks["R_a"]
    assert block.gain is not None
    wrong = replace(motor_pump, blocks={**motor_pump.blocks, "R_a": replace(block, gain=block.gain + block.gain)})
    with pytest.raises(TellegenError, match="F152") as caught:
        check_gains(wrong)
    assert caught.value.finding.where == "L_a"
    assert "bring something else to 'L_a' than the model does" in caught.value.finding.what


def test_a_scheme_that_is_right_passes(motor_pump: PogScheme) -> None:
    check_gains(motor_pump)
