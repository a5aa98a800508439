"""Every signal block in every place that may hold it: files, calls, equations, figures, and programs that others run."""

from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from exporting.firmware.boards import written
from exporting.fmu.units import exported, worst
from exporting.modelica.judged import compared
from notations.signals.every_block import LINES, model_text, named
from tellegen.core.errors import ExportError
from tellegen.notations.reading import read_model
from tellegen.notations.signals.blocks import BLOCKS

ELSEWHERE = {"python", "fmu", "output"}
"""A function of this process, and units of others, which have tests of their own."""
REMEMBERING = {"relay", "count", "timer", "hold", "states"}
SAMPLED = {"sample", "noise", "pwm"}
REFUSED: dict[str, dict[str, set[str]]] = {
    "c": {"X408": {"delay"}},
    "modelica": {"X402": REMEMBERING},
    "simulink": {"X402": REMEMBERING},
    "python": {"X402": REMEMBERING | SAMPLED, "X408": {"delay"}},
    "fmu": {},
}
"""What a tool has no place for, and the rule that says so."""
STEPPED = {"integral": 1e-3, "hold": 2e-3, "derivative": 1e-3, "pid": 1e-3, "rate limit": 1e-2, "quantise": 0.06}
"""How far a step in C may be off, where a bend or a stair between two steps is met by the second: of about a volt."""


def held(tool: str) -> list[str]:
    refused = set().union(*REFUSED[tool].values())
    return [block for block in LINES if block not in refused]


def test_there_is_a_line_of_every_block() -> None:
    assert LINES.keys() == BLOCKS.keys() - ELSEWHERE


@pytest.mark.parametrize("block", [block for block in LINES if block != "formula"])
def test_a_block_is_the_same_from_a_file_and_from_calls(block: str) -> None:
    model = read_model(model_text(block))
    again = read_model(tg.to_yaml(model))
    assert again.signals == model.signals
    signal = model.signals[named(block)]
    assert signal.block == block


def test_equations_and_figures_hold_every_block() -> None:
    model = read_model(model_text(*LINES))
    equations = tg.derive(model)
    for block in LINES:
        assert named(block) in str(equations)
    assert r"\begin" in equations.to_latex()
    for kind in ("network", "bond", "pog"):
        assert "<svg" in tg.draw(model, kind).svg()


@pytest.mark.parametrize("tool", [tool for tool, codes in REFUSED.items() if codes])
def test_a_tool_says_which_blocks_it_has_no_place_for(tool: str, tmp_path: Path) -> None:
    for code, blocks in REFUSED[tool].items():
        for block in sorted(blocks):
            with pytest.raises(ExportError) as refused:
                tg.export_model(read_model(model_text(block)), tool, tmp_path / block.replace(" ", "_"))
            assert [finding.code for finding in refused.value.findings] == [code]


@pytest.mark.parametrize("tool", ["modelica", "python", "simulink"])
def test_a_tool_takes_all_the_blocks_that_it_has_a_place_for(tool: str, tmp_path: Path) -> None:
    assert tg.export_model(read_model(model_text(*held(tool))), tool, tmp_path)


@pytest.mark.slow
def test_a_unit_runs_every_block_as_we_do(tmp_path: Path) -> None:
    model = read_model(model_text(*LINES))
    unit = exported(model, tmp_path, sources="experiment")
    names = [named(block) for block in LINES]
    result = unit.run(1.0)
    run = tg.simulate(model, times=result["time"], rtol=1e-9)
    off, where = worst(run, result, names)
    assert off < 1e-5, where


def test_a_step_in_c_runs_every_block_as_we_do(tmp_path: Path) -> None:
    blocks = held("c")
    model = read_model(model_text(*blocks))
    step = written(model, tmp_path, name="blocks", sources="experiment", step=1e-4)
    shown = step.on_host(9001, 100)
    run = tg.simulate(model, times=np.arange(91) * 1e-2, rtol=1e-9)
    for block in blocks:
        ours, theirs = run.values(named(block)), shown[named(block)]
        bound = STEPPED.get(block, 1e-4)
        # What happens at an instant happens at the next step in C: rows on either side of it may differ.
        assert np.mean(np.abs(ours - theirs) > bound) < 0.05, block


@pytest.mark.slow
@pytest.mark.parametrize("block", held("modelica"))
def test_modelica_runs_a_block_as_we_do(block: str, tmp_path: Path) -> None:
    off = compared(read_model(model_text(block)), tmp_path, 1.0, rtol=1e-8)
    # Delays are read between steps by lines in the program that judges.
    assert max(off.values()) < (1e-3 if block == "delay" else 1e-4)
