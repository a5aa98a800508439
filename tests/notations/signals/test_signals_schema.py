"""The schema of signals allows what the reader reads, and refuses slips in keys and words."""

from pathlib import Path

import pytest

from notations.signals.test_signals import EVERYTHING, text
from support.model_schema import is_valid
from tellegen.notations.signals.blocks import BLOCKS

SYSTEMS = Path(__file__).parents[3] / "src" / "tellegen" / "systems"


def test_every_block_passes_the_schema() -> None:
    assert is_valid(text(EVERYTHING))


@pytest.mark.parametrize("name", ["dc_motor_speed_control", "sampled_position_control"])
def test_the_examples_pass_the_schema(name: str) -> None:
    assert is_valid((SYSTEMS / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "line",
    [
        "V_c: {pdi: I, K_p: 3}",
        "V_c: {pid: I, K_q: 3}",
        "V_c: {delay: I}",
        "V_c: {saturate: I, limits: [1, 2, 3]}",
        "V_c: {pid: I, K_i: 1, limits: [-1, 1], anti-windup: none}",
        "V_c: {table: {file: run.csv}}",
        "2V: 3 V",
    ],
)
def test_slips_break_the_schema(line: str) -> None:
    assert not is_valid(text(line))


def test_every_block_says_what_it_is_and_shows_how_it_is_written() -> None:
    for word, block in BLOCKS.items():
        assert block.keys[0].name == word
        assert block.keys[0].required
        assert block.summary
        assert word in block.example or word == "formula"
