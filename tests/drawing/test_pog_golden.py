"""POG figures as they were when they were looked at last.

After a change that is meant, write them again: `python tests/drawing/test_pog_golden.py`, and look at the figures.
"""

from pathlib import Path

import pytest

from tellegen.drawing import draw
from tellegen.scenes.writers.scene_json import from_json

GOLDEN = Path(__file__).parent / "golden"
NAMES = ("dc_motor_pump", "quarter_car", "crank_rod", "corking_shaft", "buck_converter")


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_as_they_were(name: str) -> None:
    kept = from_json((GOLDEN / f"{name}.pog.json").read_text(encoding="utf-8"))
    assert draw(name, "pog").scene == kept


if __name__ == "__main__":
    for name in NAMES:
        (GOLDEN / f"{name}.pog.json").write_text(draw(name, "pog").json() + "\n", encoding="utf-8")
