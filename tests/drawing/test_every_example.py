"""Every built-in example in every notation, in every format: valid SVG, TikZ that compiles, PNG and PDF that look like the SVG.

Small pictures of all of them are kept in `golden/examples`; tools/update_figures.py writes them again.
"""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from drawing.latex import judge_tikz
from support.examples import causal_example
from tellegen import examples
from tellegen.drawing import Figure, draw
from tellegen.scenes.ink import check_scene
from tellegen.scenes.scene import Label
from tellegen.schemes import bond_graph

Picture = NDArray[np.float64]
Place = tuple[int, int]

NAMES = [example.name for example in examples()]
DRAWN = [(name, notation) for notation in ("bond", "pog", "network") for name in NAMES]
GOLDEN = Path(__file__).parent / "golden" / "examples"
SHEET = 4000
"""A browser shows many figures at once, on square sheets of so many pixels, or as large as the largest figure."""
CELL = 4
APART = 0.2
"""How far the mean grey of a cell may differ: edges are smoothed in other ways."""
PAGE_APART = 0.4
"""The same for a PDF, whose page is not a whole number of pixels."""


@cache
def figure(name: str, notation: str) -> Figure:
    """A figure of an example; for mechanisms the drawing of the mechanism takes the place of the network."""
    return draw(name, notation)


@cache
def pixels(name: str, notation: str) -> NDArray[np.uint8]:
    """A figure as a PNG shows it, a pixel for a unit."""
    return np.asarray(Image.open(BytesIO(figure(name, notation).png(dpi=96))).convert("L"))


FOREIGN_JUDGES = pytest.mark.parametrize(
    "drawn", [pytest.param(DRAWN[::12], id="every-twelfth"), pytest.param(DRAWN, id="all", marks=pytest.mark.slow)]
)
"""LaTeX and a browser take a third of a second for each figure; a twelfth shows what all would in most cases."""


@FOREIGN_JUDGES
def test_tikz_is_one_page_without_overlaps(
    drawn: Sequence[tuple[str, str]], tmp_path: Path, system_tool: Callable[[str], str]
) -> None:
    for which in drawn:
        judge_tikz(figure(*which), tmp_path, system_tool("pdflatex"))


def test_svg_is_valid_and_tells_what_it_shows() -> None:
    for which in DRAWN:
        root = ElementTree.fromstring(figure(*which).svg())
        assert root.findtext("{http://www.w3.org/2000/svg}title") == figure(*which).scene.title


@pytest.mark.parametrize("notation", ["bond", "pog", "network"])
def test_nothing_overlaps_and_every_wire_ends_at_something(notation: str) -> None:
    """What stands for every element is told beside the layouts; here bond graphs are asked for all, however large."""
    for name in NAMES:
        wanted: list[str] = []
        if notation == "bond":
            causal = causal_example(name)
            scheme = bond_graph(causal, vectors=True, lanes="joined")
            wanted = [*scheme.junctions, *scheme.two_ports, *scheme.one_ports]
            if not figure(name, notation).scene.notation:
                # In pieces multiports are opened, and junctions of two bonds are gone.
                scheme = bond_graph(causal)
                wanted = [*scheme.two_ports, *scheme.one_ports]
        assert check_scene(figure(name, notation).scene, wanted) == (), name


@FOREIGN_JUDGES
def test_png_and_pdf_look_like_the_svg(
    drawn: Sequence[tuple[str, str]], tmp_path: Path, system_tool: Callable[[str], str]
) -> None:
    chromium, pdftoppm = system_tool("chromium"), system_tool("pdftoppm")
    browser = in_browser([figure(*which).svg() for which in drawn], chromium, tmp_path)
    for k, which in enumerate(drawn):
        png = pixels(*which) / 255
        assert alike(png, browser[k]), f"PNG and SVG of {which}"
        (tmp_path / "page.pdf").write_bytes(figure(*which).pdf())
        command = [pdftoppm, "-r", "96", "-gray", "-singlefile", "page.pdf", "page"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        assert alike(png, grey(tmp_path / "page.pgm"), PAGE_APART), f"PDF and PNG of {which}"


def test_figures_look_as_they_did_when_they_were_looked_at_last() -> None:
    for name, notation in DRAWN:
        kept = grey(GOLDEN / f"{name}.{notation}.png")
        now = in_cells(pixels(name, notation) / 255)
        assert now.shape == kept.shape, f"the {notation} figure of {name} has another size"
        assert np.abs(now - kept).max() < APART, f"the {notation} figure of {name} looks different"


def test_pictures_that_lack_a_label_are_not_alike() -> None:
    whole = figure("dc_motor_pump", "bond")
    shapes = whole.scene.shapes
    png = grey(BytesIO(whole.png(dpi=96)))
    for label in (shape for shape in shapes if isinstance(shape, Label)):
        lacking = replace(whole, scene=replace(whole.scene, shapes=tuple(s for s in shapes if s is not label)))
        assert not alike(png, grey(BytesIO(lacking.png(dpi=96)))), label.text


def keep_small_pictures() -> None:
    """Write the pictures that figures are compared with."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, notation in DRAWN:
        small = np.rint(in_cells(pixels(name, notation) / 255) * 255).astype(np.uint8)
        Image.fromarray(small).save(GOLDEN / f"{name}.{notation}.png", optimize=True)


def in_browser(texts: list[str], chromium: str, folder: Path) -> dict[int, Picture]:
    """What a browser shows of each text, by its number."""
    sizes = []
    for k, text in enumerate(texts):
        root = ElementTree.fromstring(text)
        width, height = (round(float(root.get(side, "0").removesuffix("px"))) for side in ("width", "height"))
        sizes.append((width, height))
        (folder / f"{k}.svg").write_text(text, encoding="utf-8")
    side = max(SHEET, *(max(size) for size in sizes))
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--window-size={side},{side}", "--screenshot=shot.png", f"--user-data-dir={folder / 'profile'}"]
    page = folder / "page.html"
    seen: dict[int, Picture] = {}
    for sheet in on_sheets(sizes, side):
        shown = (f'<img src="{k}.svg" style="position:absolute;left:{x}px;top:{y}px">' for k, (x, y) in sheet.items())
        page.write_text(f'<body style="margin:0">{"".join(shown)}</body>', encoding="utf-8")
        subprocess.run([*command, page.as_uri()], cwd=folder, check=True, capture_output=True, timeout=300)
        picture = grey(folder / "shot.png")
        seen |= {k: picture[y : y + sizes[k][1], x : x + sizes[k][0]] for k, (x, y) in sheet.items()}
    return seen


def on_sheets(sizes: list[Place], side: int) -> list[dict[int, Place]]:
    """Where pictures of these sizes stand, sheet by sheet: rows from the highest picture to the lowest."""
    sheets: list[dict[int, Place]] = [{}]
    x = y = below = 0
    for k in sorted(range(len(sizes)), key=lambda k: -sizes[k][1]):
        width, height = sizes[k]
        if x + width > side:
            x, y = 0, below
        if y + height > side:
            sheets.append({})
            x = y = 0
        sheets[-1][k] = x, y
        below = y + height if x == 0 else below
        x += width
    return sheets


def grey(file: Path | BytesIO) -> Picture:
    return np.asarray(Image.open(file).convert("L"), dtype=float) / 255


def alike(one: Picture, two: Picture, within: float = APART) -> bool:
    """Whether two pictures are of one size, and equally dark everywhere; a row of pixels may be more at the top."""
    same_size = np.abs(np.subtract(one.shape, two.shape)).max() <= 1
    return bool(same_size and min(apart(one[k:], two[j:]) for k, j in ((0, 0), (0, 1), (1, 0))) < within)


def apart(one: Picture, two: Picture) -> float:
    """The largest difference of the mean grey of a cell."""
    height, width = (min(sides) for sides in zip(one.shape, two.shape, strict=True))
    return float(np.abs(in_cells(one[:height, :width]) - in_cells(two[:height, :width])).max())


def in_cells(picture: Picture) -> Picture:
    """The mean grey of each cell."""
    height, width = (side // CELL for side in picture.shape)
    whole = picture[: height * CELL, : width * CELL]
    return np.asarray(whole.reshape(height, CELL, width, CELL).mean(axis=(1, 3)))
