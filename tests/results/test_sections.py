"""The power through the sections of a POG: what a column takes is what goes in on its left and does not leave on its right."""

from dataclasses import replace

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError
from tellegen.expressions import symbol
from tellegen.results.element_variables import SectionPowers, sources_of

LADDERS = [
    "dc_motor_pump",
    "hydraulic_cylinder",
    "crank_rod_elastic",
    "pmsm",
    "quarter_car",
    "buck_converter",
    "bouncing_ball",
]


@pytest.mark.parametrize("name", LADDERS)
def test_each_column_takes_what_its_sections_say(name: str) -> None:
    run = tg.simulate(name, samples=40)
    sections, sources = run.sections, sources_of(run.graph)
    assert not sections.left_out
    compared = 0
    for column in (c for ladder in sections.scheme.ladders for c in ladder.all_columns()):
        if not column.left or (column.kind != "connection" and column.name not in sections.scheme.elements):
            continue
        entering = sections.power(column.left)
        taken = entering - sections.power(column.right) if column.right else entering
        expected = np.zeros(len(run.t))
        if column.kind != "connection":
            element = sections.scheme.elements[column.name].port.element
            expected = run.power_values(element) * (-1 if element in sources else 1)
        assert taken == pytest.approx(expected, abs=1e-9 * max(1.0, np.abs(entering).max()))
        compared += 1
    assert compared >= 1


def test_sections_have_the_numbers_of_the_scheme_and_count_to_the_right() -> None:
    run = tg.simulate("dc_motor_pump", samples=20)
    scheme = tg.pog("dc_motor_pump")
    assert run.sections.names == tuple(scheme.sections)
    first = run.section_power(1)
    assert first.name == "section.1"
    assert first.attrs["units"] == "W"
    assert first.values == pytest.approx(run.values("V_a") * run.values("I_a"))
    last = scheme.sections["9"]
    assert last.direction == "left", "the source at the right end supplies to the left"
    assert run.section_power("9").values == pytest.approx(-run.power_values("Q_0"))


def test_between_temperatures_it_is_the_heat_that_flows() -> None:
    run = tg.simulate("two_masses_heat", samples=10)
    assert run.section_power(1).values == pytest.approx(run.values("Q_C_2"))


def test_a_section_that_is_not_there_is_refused() -> None:
    with pytest.raises(SimulationError, match="there is no section '12'") as raised:
        tg.simulate("rlc", samples=3).section_power(12)
    assert raised.value.code == "S207"
    assert "'1'" in raised.value.finding.fix


def test_a_vector_block_has_no_sections_in_a_row() -> None:
    with pytest.raises(SimulationError, match="is one vector block") as raised:
        tg.simulate("cauer_low_pass", samples=3).section_power(1)
    assert raised.value.code == "S207"
    assert "run.power(element)" in raised.value.finding.fix


def test_sections_behind_an_unknown_gain_are_left_out() -> None:
    run = tg.simulate("dc_motor", samples=3)
    scheme = tg.pog("dc_motor")
    blocks = {n: replace(b, gain=symbol("K_x")) if b.kind == "connection" else b for n, b in scheme.blocks.items()}
    sections = SectionPowers(replace(scheme, blocks=blocks), run.channels)
    assert sections.left_out == {"2": "V_L_R", "3": "V_motor_1", "4": "tau_motor_2"}
    assert sections.names == ("1", "5", "6")
    with pytest.raises(SimulationError, match="'V_motor_1' of section 3 cannot be computed") as raised:
        sections.power(3)
    assert raised.value.code == "S208"
