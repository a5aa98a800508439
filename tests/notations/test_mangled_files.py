"""Files that a slip, a bad copy or malice has mangled: each is read, or refused with findings; nothing else ever happens."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import tellegen as tg
from support.mangling import mangled
from tellegen.core.errors import TellegenError
from tellegen.core.shipped import SYSTEMS
from tellegen.expressions import parse, to_latex

BOND_GRAPH = """
system: motor
parameters: {L_a: 2 mH, R_a: 0.5 ohm, K: 0.15 N*m/A, J: 1e-3 kg*m^2, b: 2e-3 N*m*s}
bond graph:
  - Se:V_a -> 1:i (I_a)
  - i -> I:L_a
  - i -> R:R_a
  - i -> GY:K -> 1:w (omega)
  - w -> I:J
  - w -> R:b
"""
LADDER = """
system: mass on a mount
parameters: {m: 2 kg}
pog:
  - section: [v, F]
  - parallel: [m:m, {b: mount, numerator: [3, 5], denominator: [1, 2]}]
"""
FORMULAS = ("if(x > 1 and y < 2, x^2, -x)", "sin(x)*exp(-t/tau)", "max(a, b, c)/(a - b)^2", "atan2(y, x[2]) + a.b*3")


def read_and_check(text: str, folder: Path, ending: str) -> None:
    """What `tellegen check` does with a file."""
    file = folder / f"model.{ending}"
    file.write_bytes(text.encode("utf-8"))
    tg.check(tg.read(file))


def written(formula: str) -> tuple[str, str]:
    """A formula that is read, printed in text and in LaTeX."""
    found = parse(formula)
    return str(found), to_latex(found)


NETWORKS = tuple(
    (SYSTEMS / f"{name}.yaml").read_text() for name in ("dc_motor_speed_control", "motor_heating", "clutch_drive")
)
NETLISTS = tuple(file.read_text(encoding="latin-1") for file in sorted((SYSTEMS / "pog_netlists").rglob("*.txt")))


@pytest.mark.parametrize(
    ("texts", "ending"),
    [(NETWORKS, "yaml"), ((BOND_GRAPH,), "yaml"), ((LADDER,), "yaml"), (NETLISTS, "txt")],
    ids=["network", "bond graph", "ladder", "netlist"],
)
def test_a_mangled_file_is_read_or_refused(texts: tuple[str, ...], ending: str, tmp_path: Path) -> None:
    expect_answers(texts, 60, lambda text: read_and_check(text, tmp_path, ending))


def test_a_mangled_formula_is_read_or_refused() -> None:
    expect_answers(FORMULAS, 400, written)


def expect_answers(texts: tuple[str, ...], count: int, answer: Callable[[str], object]) -> None:
    """The texts are right as they are; mangled, they are answered too, most of them by findings."""
    for text in texts:
        answer(text)
    chance = random.Random(1)
    refused = 0
    for _ in range(count):
        text = mangled(chance.choice(texts), chance)
        try:
            answer(text)
        except TellegenError:
            refused += 1
    assert refused > count / 2
