"""Whole circuits, imported and run, against ngspice running the same text."""

from collections.abc import Callable
from pathlib import Path

import pytest

import judge_decks
from tellegen.importing.spice.elements import CARDS

DECKS = Path(__file__).parent / "decks"
QUICK = {
    "divider_and_filter": 40_000,
    "coils": 40_000,
    "controlled": 40_000,
    "operating_point": 40_000,
    "subcircuits": 40_000,
}
"""The decks of the default tests, with the steps of ngspice that suffice for them."""
OFTEN_SWITCHED = {"buck": ("out",)}
"""Where currents jump a hundred times, nodes that jump are compared at rows of their own; these are compared."""
CLOSE = 1e-4
"""Of the largest value of a node: what the step of ngspice leaves."""


@pytest.mark.parametrize("name", QUICK)
def test_a_circuit_runs_as_in_ngspice(name: str, system_tool: Callable[[str], str]) -> None:
    system_tool("ngspice")
    found = judge_decks.compare(DECKS / f"{name}.cir", fine=QUICK[name])
    assert found.worst < CLOSE, found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in DECKS.glob("*.cir")))
def test_every_circuit_runs_as_in_ngspice(name: str, system_tool: Callable[[str], str]) -> None:
    system_tool("ngspice")
    found = judge_decks.compare(DECKS / f"{name}.cir")
    compared = {node: found.by_node[node] for node in OFTEN_SWITCHED.get(name, found.by_node)}
    assert max(compared.values()) < CLOSE, compared


def test_there_is_a_deck_for_every_card_and_ten_whole_circuits() -> None:
    texts = [path.read_text(encoding="utf-8").lower().splitlines()[1:] for path in DECKS.glob("*")]
    assert len(list(DECKS.glob("*.cir"))) >= 10
    assert CARDS.keys() <= {line[:1] for lines in texts for line in lines}
    commands = {line.split()[0] for lines in texts for line in lines if line.startswith(".")}
    assert {".param", ".subckt", ".model", ".ic", ".tran", ".include", ".lib", ".global", ".print"} <= commands
