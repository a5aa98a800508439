"""What TeX makes of a figure: one page of its size, on which nothing that is set in TeX's own letters lies on anything else."""

import re
import subprocess
from itertools import combinations
from pathlib import Path

from tellegen.drawing import Figure
from tellegen.scenes.geometry import Box
from tellegen.scenes.scene import Label
from tellegen.scenes.strokes import POINT, layered

CLOSE = 1.5
"""Points by which boxes may reach into each other: they have sidebearings beside the ink of letters, and struts in matrices."""

# As in the styles of the figure, but telling how large everything became.
TELLING = r"""\newcommand\tellegenfit[2]{\setbox0=\hbox{#2}%
\ifdim\wd0>#1\relax\setbox0=\hbox{\resizebox{#1}{!}{\box0}}\fi
\immediate\write16{}\immediate\write16{label \the\wd0 | \the\ht0 | \the\dp0}\box0}
\AddToHook{shipout/before}{\immediate\write16{page \the\pdfpagewidth|\the\pdfpageheight}}
"""


def compiled(figure: Figure, folder: Path, pdflatex: str) -> str:
    """The log of a figure compiled as a document of its own."""
    text = figure.tikz(standalone=True).replace(r"\begin{document}", TELLING + r"\begin{document}")
    (folder / "figure.tex").write_text(text, encoding="utf-8")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "figure.tex"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout[-2000:]
    return (folder / "figure.log").read_text(encoding="latin-1")


def boxes(figure: Figure, log: str) -> list[tuple[str, Box]]:
    """Where TeX put the labels, in units of the scene."""
    sizes = re.findall(r"^label ([\d.]+)pt\| ([\d.]+)pt\| ([\d.]+)pt", log, re.MULTILINE)
    labels = [shape for shape in layered(figure.scene.shapes) if isinstance(shape, Label)]
    assert len(sizes) == len(labels)
    found = []
    for label, size in zip(labels, sizes, strict=True):
        width, up, down = (float(length) / POINT for length in size)
        x, y = label.at
        left = {"left": x, "right": x - width, "centre": x - width / 2}[label.align]
        top = y - up if label.level == "baseline" else y - (up + down) / 2
        found.append((label.text, Box(left, top, left + width, top + up + down)))
    return found


def overlaps(placed: list[tuple[str, Box]]) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other."""
    close = CLOSE / POINT
    return [
        (one, two)
        for (one, a), (two, b) in combinations(placed, 2)
        if min(a.right, b.right) - max(a.left, b.left) > close and min(a.bottom, b.bottom) - max(a.top, b.top) > close
    ]


def judge_tikz(figure: Figure, folder: Path, pdflatex: str) -> None:
    """Refuse a figure of several pages, with texts on each other, or with texts beyond its edge."""
    log = compiled(figure, folder, pdflatex)
    assert "(1 page," in log.replace("\n", "")
    size = re.search(r"^page ([\d.]+)pt\|([\d.]+)pt", log, re.MULTILINE)
    assert size is not None
    page = figure.scene.box
    # A space before the picture would make the page wider, and cut off what stands at its right edge.
    assert abs(float(size[1]) - page.width * POINT * figure.zoom) < 0.1
    assert abs(float(size[2]) - page.height * POINT * figure.zoom) < 0.1
    placed = boxes(figure, log)
    assert overlaps(placed) == []
    for text, box in placed:
        assert box.left > page.left - CLOSE, text
        assert box.right < page.right + CLOSE, text
