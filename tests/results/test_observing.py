"""Observables of many rows are computed in C, a block at a time: the same numbers as row by row."""

import pytest

import tellegen as tg
from tellegen.results import channels


@pytest.mark.parametrize("name", ["sampled_position_control", "buck_converter", "crank_rod_elastic"])
def test_rows_in_blocks_are_those_of_single_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With samples that are held, with modes that lack variables, and with neither; the last block is shorter."""
    one_by_one = tg.simulate(name, samples=150, progress=False)
    in_blocks = tg.simulate(name, samples=150, progress=False)
    wanted = [one_by_one.values(n) for n in one_by_one.names]
    monkeypatch.setattr(channels, "FEW_ROWS", 0)
    monkeypatch.setattr(channels, "ROWS_AT_ONCE", 40)
    for n, values in zip(one_by_one.names, wanted, strict=True):
        assert in_blocks.values(n) == pytest.approx(values, nan_ok=True, rel=1e-14)
