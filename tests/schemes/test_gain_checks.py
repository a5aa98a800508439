"""Path gains of schemes are those of the models behind them, and every wrong sign or gain is found."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from support.examples import causal_example
from tellegen.core.errors import TellegenError
from tellegen.drawing import draw
from tellegen.drawing.pog.scene import check_gains
from tellegen.equations.derivation import derive_equations
from tellegen.schemes import PogScheme, change_sign, elementary_loops, invert_path, orientations, pog
from tellegen.schemes.algebra.checks import wrong_gains
from tellegen.schemes.gains import path_gains
from tellegen.workflow.files import examples

NAMES = [example.name for example in examples()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("derivative", [False, True])
def test_the_paths_of_every_example_bring_what_its_model_does(name: str, derivative: bool) -> None:
    assert wrong_gains(pog(causal_example(name), derivative=derivative)) == ()


@pytest.fixture(scope="module")
def motor_pump() -> PogScheme:
    return pog(causal_example("dc_motor_pump"))


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


def test_a_source_that_a_scheme_lost_is_told(motor_pump: PogScheme) -> None:
    assert wrong_gains(replace(motor_pump, inputs=motor_pump.inputs[:1], outputs=motor_pump.outputs[:1])) == ("Q_0",)
    assert wrong_gains(replace(motor_pump, outputs=motor_pump.outputs[:1])) == ("Q_0",)
    # An output that is read elsewhere has another gain, and one that is counted the other way has another sign.
    one, two = motor_pump.outputs
    assert wrong_gains(replace(motor_pump, outputs=(two, two))) == ("V_a",)
    assert wrong_gains(replace(motor_pump, outputs=(one, replace(two, sign=-two.sign)))) == ("Q_0",)


def test_a_scheme_that_is_right_passes(motor_pump: PogScheme) -> None:
    check_gains(motor_pump)


def test_a_scheme_with_a_wrong_gain_is_not_drawn(motor_pump: PogScheme) -> None:
    block = motor_pump.blocks["R_a"]
    assert block.gain is not None
    wrong = replace(motor_pump, blocks={**motor_pump.blocks, "R_a": replace(block, gain=block.gain + block.gain)})
    with pytest.raises(TellegenError, match="F152"):
        draw(wrong)
    assert draw(motor_pump).scene.title == "POG: DC motor driving a hydraulic pump"


@pytest.mark.parametrize("name", ["spring_damper", "dc_motor_pump", "two_mass_drive", "hydraulic_cylinder"])
def test_variables_counted_the_other_way_leave_paths_right(name: str) -> None:
    scheme = pog(causal_example(name))
    for variable in scheme.signals():
        other = change_sign(scheme, variable).scheme
        assert wrong_gains(other) == (), variable
        assert all(map(wrong_gains, _with_a_gain_doubled(other)))
        assert change_sign(other, variable).scheme.turned == frozenset()


@pytest.mark.parametrize("name", ["spring_damper", "dc_motor_pump", "two_mass_drive", "hydraulic_cylinder"])
def test_paths_that_were_inverted_still_bring_what_the_model_does(name: str) -> None:
    scheme = pog(causal_example(name))
    turned = [found.scheme for found in orientations(scheme) if found.scheme is not None]
    turned += [invert_path(scheme, loop, derivative=True).scheme for loop in elementary_loops(scheme)]
    assert len(turned) > 1
    for other in turned:
        assert wrong_gains(other) == ()
        assert any(map(wrong_gains, _with_a_gain_doubled(other)))


def test_a_source_whose_path_was_inverted_keeps_its_sign_in_the_equations() -> None:
    _, turned = (found.scheme for found in orientations(pog(causal_example("spring_damper"))))
    assert turned is not None
    assert turned.inputs == ("F_t",)
    matrices = derive_equations(turned.causal).matrices
    assert (matrices["A"], matrices["B"]) == path_gains(turned)


def _with_a_gain_doubled(scheme: PogScheme) -> Iterator[PogScheme]:
    for name, block in scheme.blocks.items():
        if block.gain is not None and block.kind in ("static", "connection"):
            yield replace(scheme, blocks={**scheme.blocks, name: replace(block, gain=block.gain + block.gain)})
