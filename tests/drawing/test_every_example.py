"""Every built-in example in every notation, in every format: valid SVG, TikZ that compiles, PNG and PDF that look like the SVG."""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tellegen import examples
from tellegen.drawing import Figure, draw
from tellegen.drawing.scene import Label

Picture = NDArray[np.float64]

DRAWN = [(example.name, notation) for notation in ("bond", "pog", "network") for example in examples()]
SHARES = 16
"""The figures are looked at in so many shares; the slow tests look at all of them."""
CELL = 4
APART = 0.2
"""How far the mean grey of a cell may differ: edges are smoothed in other ways."""
PAGE_APART = 0.4
"""The same for a PDF, whose page is not a whole number of pixels."""


@cache
def figure(name: str, notation: str) -> Figure:
    """A figure of an example; for mechanisms the drawing of the mechanism takes the place of the network."""
    return draw(name, notation)


def test_tikz_compiles(tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    figures = [figure(*which) for which in DRAWN]
    head, _, _ = figures[0].tikz(standalone=True).partition(r"\begin{document}")
    paper = [0.75 * max(size) for size in zip(*((f.scene.box.width, f.scene.box.height) for f in figures), strict=True)]
    pages = [
        rf"\pdfpagewidth={paper[0]}pt \pdfpageheight={paper[1]}pt \textwidth={paper[0]}pt \textheight={paper[1]}pt"
    ]
    pages += [rf"\typeout{{now {name} {notation}}}{figure(name, notation).tikz()}\newpage" for name, notation in DRAWN]
    (tmp_path / "all.tex").write_text(
        "\n".join([head, r"\begin{document}", *pages, r"\end{document}"]), encoding="utf-8"
    )
    command = [system_tool("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[done.stdout.rfind("now ") :]
    assert f"({len(DRAWN)} pages" in done.stdout


def test_svg_is_valid_and_tells_what_it_shows() -> None:
    for which in DRAWN:
        root = ElementTree.fromstring(figure(*which).svg())
        assert root.findtext("{http://www.w3.org/2000/svg}title") == figure(*which).scene.title


@pytest.mark.parametrize("share", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, SHARES))])
def test_png_and_pdf_look_like_the_svg(share: int, tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    shown = DRAWN[share::SHARES]
    browser = list(in_browser([figure(*which).svg() for which in shown], system_tool("chromium"), tmp_path))
    for which, seen in zip(shown, browser, strict=True):
        png = grey(BytesIO(figure(*which).png(dpi=96)))
        assert alike(png, seen), f"PNG and SVG of {which}"
        (tmp_path / "page.pdf").write_bytes(figure(*which).pdf())
        command = [system_tool("pdftoppm"), "-r", "96", "-gray", "-singlefile", "page.pdf", "page"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        assert alike(png, grey(tmp_path / "page.pgm"), PAGE_APART), f"PDF and PNG of {which}"


def test_pictures_that_lack_a_label_are_not_alike() -> None:
    whole = figure("dc_motor_pump", "bond")
    shapes = whole.scene.shapes
    png = grey(BytesIO(whole.png(dpi=96)))
    for label in (shape for shape in shapes if isinstance(shape, Label)):
        lacking = replace(whole, scene=replace(whole.scene, shapes=tuple(s for s in shapes if s is not label)))
        assert not alike(png, grey(BytesIO(lacking.png(dpi=96)))), label.text


def in_browser(texts: list[str], chromium: str, folder: Path) -> Iterator[Picture]:
    """What a browser shows of each text."""
    for text in texts:
        root = ElementTree.fromstring(text)
        width, height = (round(float(root.get(side, "0").removesuffix("px"))) for side in ("width", "height"))
        (folder / "page.html").write_text(f'<body style="margin:0">{text}</body>', encoding="utf-8")
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [
            f"--window-size={max(width, 600)},{max(height, 400)}",
            "--screenshot=shot.png",
            f"--user-data-dir={folder / 'profile'}",
        ]
        page = (folder / "page.html").as_uri()
        subprocess.run([*command, page], cwd=folder, check=True, capture_output=True, timeout=120)
        yield grey(folder / "shot.png")[:height, :width]


def grey(file: Path | BytesIO) -> Picture:
    return np.asarray(Image.open(file).convert("L"), dtype=float) / 255


def alike(one: Picture, two: Picture, within: float = APART) -> bool:
    """Whether two pictures are of one size, and equally dark everywhere; a row of pixels may be more at the top."""
    same_size = np.abs(np.subtract(one.shape, two.shape)).max() <= 1
    return bool(same_size and min(apart(one[k:], two[j:]) for k, j in ((0, 0), (0, 1), (1, 0))) < within)


def apart(one: Picture, two: Picture) -> float:
    """The largest difference of the mean grey of a cell."""
    height, width = (min(sides) // CELL * CELL for sides in zip(one.shape, two.shape, strict=True))
    cells = [
        p[:height, :width].reshape(height // CELL, CELL, width // CELL, CELL).mean(axis=(1, 3)) for p in (one, two)
    ]
    return float(np.abs(cells[0] - cells[1]).max())
