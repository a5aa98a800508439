"""Whole circuits, imported and run, against ngspice running the same text."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import judge_decks
from tellegen.importing.spice.reading import CARDS

DECKS = Path(__file__).parent / "decks"
QUICK = {
    "divider_and_filter": 40_000,
    "coils": 40_000,
    "controlled": 40_000,
    "bias": 0,
    "operating_point": 40_000,
    "subcircuits": 40_000,
    "functions": 40_000,
    "stored_charge": 40_000,
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
    assert {
        ".param",
        ".subckt",
        ".model",
        ".ic",
        ".tran",
        ".include",
        ".lib",
        ".global",
        ".print",
        ".func",
        ".if",
    } <= commands


@st.composite
def random_decks(draw: st.DrawFn) -> str:
    """A tree of nodes with a resistor to an earlier node each, storages, controlled sources, diodes and a switch, part of it inside
    subcircuits that are used several times with other values."""
    count = draw(st.integers(2, 6))
    size = st.sampled_from(["1k", "2.2k", "470", "{r0}", "{2*r0}"])
    lines = [
        "V1 n0 0 "
        + draw(st.sampled_from(["SIN(0 2 1k)", "PULSE(0 3 50u 20u 20u 0.3m 1m)", "EXP(0 2 0.1m 0.2m 1m 0.3m)"]))
    ]
    for k in range(1, count):
        above = draw(st.integers(0, k - 1))
        kind = draw(st.sampled_from(["R", "R", "RL", "X", "X", "Y"]))
        if kind == "R":
            lines.append(f"R{k} n{above} n{k} {draw(size)}")
        elif kind == "RL":
            lines += [f"R{k} n{above} m{k} {draw(size)}", f"L{k} m{k} n{k} {draw(st.sampled_from(['10m', '47m']))}"]
        elif kind == "X":
            lines.append(f"X{k} n{above} n{k} stage r={draw(size)}")
        else:
            # Ports that meet, or lie on the ground.
            lines.append(
                f"X{k} n{above} n{k} n{draw(st.integers(0, k))} {draw(st.sampled_from(['0', f'n{above}']))} tee"
            )
        lines += draw(
            st.lists(
                st.sampled_from(
                    [
                        f"C{k} n{k} 0 {draw(st.sampled_from(['100n', '22n', '{c0}']))}",
                        f"Rg{k} n{k} 0 {draw(size)}",
                        f"G{k} n{k} 0 n{above} 0 0.2m",
                        f"E{k} e{k} 0 n{k} n{above} 0.5\nRe{k} e{k} n{k} 3k",
                        f"Vs{k} n{k} s{k} 0\nRs{k} s{k} 0 2k\nF{k} 0 n{above} Vs{k} 0.3",
                        f"D{k} n{k} 0 DX",
                        f"S{k} n{k} 0 n{above} 0 SX",
                    ]
                ),
                max_size=3,
                unique=True,
            )
        )
    lines.append(f"Rend n{count - 1} 0 1k\nCend n{count - 1} 0 47n")
    return "\n".join(
        [
            "Random deck",
            ".param r0=1.5k",
            ".param c0={1/(r0*20k)}",
            *lines,
            ".subckt stage a b r=1k",
            "R1 a q {r}\nR2 q b {r0}\nC1 q 0 {c0/2}\nX1 q 0 inner\n.ends",
            ".subckt inner p g\nR1 p g 10k\nC1 p g 1n\n.ends",
            ".subckt tee a b c d\nR1 a b 1k\nR2 b c 2k\nC2 c d 10n\nR3 b d 5k\nE1 f 0 a d 0.4\nR4 f b 4k\n.ends",
            ".model DX D(IS=1e-12 N=1.4 RS=2)",
            ".model SX SW(VT=0.7 RON=100 ROFF=1Meg)",
            ".tran 1u 2m",
            ".end",
        ]
    )


@pytest.mark.slow
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(random_decks())
def test_any_deck_runs_as_in_ngspice(
    tmp_path_factory: pytest.TempPathFactory, system_tool: Callable[[str], str], text: str
) -> None:
    system_tool("ngspice")
    path = tmp_path_factory.mktemp("deck") / "random.cir"
    path.write_text(text, encoding="utf-8")
    found = judge_decks.compare(path, fine=40_000)
    # A switch that closes at another row moves what follows by that row.
    close = 3e-3 if "\nS" in text else 3e-4
    assert found.worst < close, (found, text)
