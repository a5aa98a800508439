"""Write the figures that the tests compare with. Look at them before you keep them.

python tools/update_figures.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from drawing.test_bond_figures import GOLDEN, GOLDEN_NAMES, svg_outline  # noqa: E402
from drawing.test_every_example import keep_small_pictures  # noqa: E402
from drawing.test_golden_images import PICTURES  # noqa: E402
from tellegen.drawing import draw  # noqa: E402


def main() -> None:
    """Draw each kept figure anew."""
    GOLDEN.mkdir(exist_ok=True)
    for name in GOLDEN_NAMES:
        figure = draw(name, "bond")
        (GOLDEN / f"{name}.bond.json").write_text(figure.json(), encoding="utf-8")
        (GOLDEN / f"{name}.bond.svg.txt").write_text(svg_outline(figure.svg()), encoding="utf-8")
    for name, drawn in PICTURES.items():
        (GOLDEN / f"{name}.png").write_bytes(drawn().png(dpi=72))
    keep_small_pictures()


if __name__ == "__main__":
    main()
