"""The same scene in all formats: valid files, equal pictures, equal bytes each time."""

import io
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from drawing.shapes import SCENE, SHAPES
from tellegen.core.errors import TellegenError
from tellegen.drawing import Figure, draw
from tellegen.drawing.options import read_options
from tellegen.scenes import pictures
from tellegen.scenes.geometry import Box
from tellegen.scenes.scene import Scene
from tellegen.scenes.strokes import LAYERS, THEMES
from tellegen.scenes.writers.scene_json import from_json
from tellegen.scenes.writers.tikz import TIKZ_PACKAGES

SVG = "{http://www.w3.org/2000/svg}"
FIGURE = Figure(SCENE)


def in_theme(theme: str) -> Figure:
    """The figure in other colours."""
    return Figure(SCENE, read_options({"theme": theme}))


def pixels(png: bytes) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    from matplotlib.image import imread

    return np.asarray(imread(io.BytesIO(png)), dtype=float)[:, :, :3]


@pytest.mark.parametrize("symbols", [False, True])
def test_an_svg_says_what_it_shows(symbols: bool) -> None:
    root = ElementTree.fromstring(FIGURE.svg(symbols=symbols))
    assert root.get("viewBox") == "0 0 500 300"
    assert root.findtext(f"{SVG}title") == "Everything"
    assert root.findtext(f"{SVG}desc") == "one of each & <more>"
    layers = [group.get("id") for group in root.findall(f"{SVG}g")]
    assert layers == list(LAYERS)
    groups = [group for layer in root.findall(f"{SVG}g") for group in layer]
    assert len(groups) == len(SHAPES)
    ids = [group.get("id") for group in groups]
    assert len(set(ids)) == len(ids)
    bond = next(group for group in groups if group.get("data-element") == "m & <x>")
    assert (bond.get("class"), bond.get("data-port"), bond.get("data-part")) == ("bond", "2", "bond")


def test_symbols_make_a_smaller_svg_and_refer_to_what_is_there() -> None:
    figure = draw("dc_motor_pump", "bond")
    small = figure.svg(symbols=True)
    assert len(small) < len(figure.svg())
    used, made = set(re.findall(r'href="#([^"]+)"', small)), set(re.findall(r'<symbol id="([^"]+)"', small))
    assert used == made


def test_letters_are_drawn_once_and_stand_where_they_stood() -> None:
    figure = draw("dc_motor_pump", "bond")
    small = figure.svg(symbols=True)
    used = re.findall(r'<use href="#t-[0-9a-f]+" x="([^"]+)" y="([^"]+)"/>', small)
    assert len(used) > 2 * small.count("<symbol ")
    begun = re.findall(r"M(-?[\d.]+) (-?[\d.]+)", figure.svg())
    places = {(round(float(x), 2), round(float(y), 2)) for x, y in begun}
    assert {(round(float(x), 2), round(float(y), 2)) for x, y in used} <= places


def test_files_of_figures_with_many_labels_store_letters_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = draw("dc_motor_pump", "bond")
    assert figure.save(tmp_path / "plain.svg").read_text(encoding="utf-8") == figure.svg()
    monkeypatch.setattr(pictures, "MANY_LABELS", 20)
    assert figure.save(tmp_path / "small.svg").read_text(encoding="utf-8") == figure.svg(symbols=True)


def test_a_notebook_shows_the_svg() -> None:
    assert FIGURE._repr_svg_() == FIGURE.svg(symbols=True)


@pytest.mark.parametrize("theme", THEMES)
def test_colours_are_those_of_the_theme(theme: str) -> None:
    paints = THEMES[theme].paints  # type: ignore[index]
    colours = set(re.findall(r'(?:fill|stroke)="(#[0-9A-Fa-f]{6})"', in_theme(theme).svg()))
    assert {paints["ink"], paints["paper"], paints["warning"]} <= colours
    if theme == "mono":
        assert colours == {"#000000", "#FFFFFF", "#555555"}


def test_a_scene_survives_json_exactly() -> None:
    assert from_json(FIGURE.json()) == SCENE
    assert from_json(FIGURE.json(outlines=True)) == SCENE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 2, "title": "", "about": "", "box": [0, 0, 1, 1], "shapes": []}',
        '{"version": 1, "title": "", "about": "", "box": [0, 0, 1], "shapes": []}',
        '{"version": 1, "title": "", "about": "", "box": [0, 0, 1, 1], "shapes": [{"shape": "star"}]}',
        '{"version": 1, "title": "", "about": "", "box": [0, 0, 1, 1], "shapes": [{"shape": "dot", "centre": [1, "2"]}]}',
        '{"version": 1, "title": "", "about": "", "box": [0, 0, 1, 1], "shapes": [{"shape": "sum", "centre": [1, 2], "tone": 1}]}',
        '{"version": 1, "title": "", "about": "", "box": [0, 0, 1, 1], "shapes": [{"shape": "dot"}]}',
        "[" * 100_000,
    ],
)
def test_json_that_is_no_scene_is_refused(text: str) -> None:
    with pytest.raises(TellegenError) as caught:
        from_json(text)
    assert caught.value.code == "F106"


def test_equal_figures_are_equal_bytes() -> None:
    other = Figure(Scene(SCENE.title, SCENE.about, SCENE.box, tuple(SHAPES)))
    assert FIGURE.pdf() == other.pdf()
    assert FIGURE.png() == other.png()
    assert b"CreationDate" not in FIGURE.pdf()


def test_a_png_has_the_pixels_asked_for() -> None:
    assert pixels(FIGURE.png(dpi=96)).shape[:2] == (300, 500)
    assert pixels(FIGURE.png(dpi=192)).shape[:2] == (600, 1000)
    dark = pixels(in_theme("dark").png(dpi=96))
    assert dark[2, 2] == pytest.approx(np.array([0x16, 0x18, 0x1D]) / 255, abs=0.01)


def test_a_png_that_would_not_fit_into_memory_is_refused() -> None:
    with pytest.raises(TellegenError) as caught:
        Figure(Scene("", "", Box(0, 0, 1e3, 1e6), ())).png()
    assert caught.value.code == "F107"
    assert "PDF" in caught.value.finding.fix


def test_a_users_style_of_plots_changes_nothing() -> None:
    import matplotlib as mpl

    before = FIGURE.png()
    with mpl.rc_context(
        {"lines.scale_dashes": False, "path.simplify": True, "savefig.bbox": "tight", "figure.dpi": 50}
    ):
        assert FIGURE.png() == before


@pytest.mark.parametrize("theme", ["colour", "dark"])
def test_the_png_is_what_a_browser_makes_of_the_svg(
    tmp_path: Path, theme: str, system_tool: Callable[[str], str]
) -> None:
    """Edges are smoothed in other ways: no more than one pixel in two hundred may differ visibly, as two renderers do.

    The form in which letters are stored once stands below the plain one, and differs from it nowhere.
    """
    figure = draw("dc_motor_pump", "bond", theme=theme)
    box = figure.scene.box
    width, height = round(box.width), round(box.height)
    page = tmp_path / "page.html"
    forms = "".join(
        f'<div style="height:{height}px;overflow:hidden">{figure.svg(symbols=once)}</div>' for once in (False, True)
    )
    page.write_text(f'<body style="margin:0">{forms}</body>', encoding="utf-8")
    shot = tmp_path / "shot.png"
    command = [system_tool("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [
        f"--window-size={width},{2 * height}",
        f"--screenshot={shot}",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True, timeout=120)
    both, two = pixels(shot.read_bytes()), pixels(figure.png(dpi=96))
    one, letters_once = both[:height], both[height : 2 * height]
    assert (np.abs(one - letters_once).max(axis=2) > 0.1).mean() < 0.0001
    rows, columns = min(one.shape[0], two.shape[0]), min(one.shape[1], two.shape[1])
    differs = np.abs(one[:rows, :columns] - two[:rows, :columns]).max(axis=2) > 0.5
    assert (np.abs(two - two[0, 0]).max(axis=2) > 0.3).mean() > 0.01  # something is drawn
    assert differs.mean() < 0.005


def test_tikz_compiles(tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    pdflatex = system_tool("pdflatex")
    figures = [FIGURE, in_theme("dark"), draw("rlc", "equations")]
    figures += [
        draw(name, "bond") for name in ("dc_motor_pump", "pmsm", "crank_rod", "motor_heating", "two_mass_drive")
    ]
    # Inside a document of somebody's own: one figure after the other, on pages of one size.
    page = r"\usepackage[paperwidth=1500pt,paperheight=1500pt,margin=0pt]{geometry}"
    head = "\n".join([r"\documentclass{article}", page, TIKZ_PACKAGES, r"\begin{document}"])
    pages = "\\newpage\n".join(figure.tikz() for figure in figures)
    (tmp_path / "all.tex").write_text(f"{head}\n{pages}\\end{{document}}\n", encoding="utf-8")
    (tmp_path / "one.tex").write_text(FIGURE.tikz(standalone=True), encoding="utf-8")
    for name in ("all", "one"):
        command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
        assert run.returncode == 0, run.stdout[-2000:]
    assert "(1 page," in (tmp_path / "one.log").read_text(encoding="latin-1").replace("\n", "")


def test_tikz_uses_the_coordinates_of_the_scene() -> None:
    text = FIGURE.tikz()
    assert "x=0.75pt,y=-0.75pt" in text
    assert r"\draw[bond] (290,60) -- (390,60);" in text
    assert r"\draw[bond flip,tellegen warning] (290,100) -- (390,100);" in text
    assert r"{$\dfrac{1}{s}$}" in text
    assert r"electrical \& 50 \%" in text


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png", ".tex", ".json"])
def test_a_figure_is_saved_in_the_format_of_its_suffix(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"figure{suffix}"
    target.write_text("old", encoding="utf-8")
    assert FIGURE.save(target) == target
    start = {".svg": b"<svg", ".pdf": b"%PDF", ".png": b"\x89PNG", ".tex": rb"\documentclass", ".json": b"{"}[suffix]
    assert target.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [target]


def test_an_unknown_suffix_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(TellegenError) as caught:
        FIGURE.save(tmp_path / "figure.sgv")
    assert (caught.value.code, caught.value.finding.fix) == ("F104", "did you mean '.svg'?")
    with pytest.raises(TellegenError, match="has no suffix"):
        FIGURE.save(tmp_path / "figure")


def test_a_folder_that_is_not_there_is_an_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(TellegenError) as caught:
        FIGURE.save(tmp_path / "nowhere" / "figure.svg")
    assert caught.value.code == "F105"
    assert "there is no such file or folder" in caught.value.what


@pytest.mark.parametrize(
    ("options", "code", "fix"),
    [
        ({"tehme": "dark"}, "F101", "did you mean 'theme'?"),
        ({"theme": "drak"}, "F102", "did you mean 'dark'?"),
        ({"labels": 3}, "F102", "choose one of 'symbols', 'values', 'both'"),
        ({"bands": "yes"}, "F102", "say True or False"),
        ({"scale": 0}, "F102", "give a positive number"),
        ({"scale": True}, "F102", "give a positive number"),
        ({"max_width": float("nan")}, "F102", "give a positive number"),
    ],
)
def test_options_that_do_not_exist_are_refused(options: dict[str, object], code: str, fix: str) -> None:
    with pytest.raises(TellegenError) as caught:
        read_options(options)
    assert (caught.value.code, caught.value.finding.fix) == (code, fix)


def test_a_notation_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TellegenError) as caught:
        draw("rlc", "bondgraph")
    assert (caught.value.code, caught.value.finding.fix) == ("F103", "did you mean 'bond'?")


def test_a_scale_changes_the_size_and_not_the_scene() -> None:
    plain, large = draw("rlc", "bond"), draw("rlc", "bond", scale=2)
    assert plain.scene == large.scene
    assert pixels(large.png(dpi=48)).shape == pixels(plain.png(dpi=96)).shape


@pytest.mark.parametrize(
    ("name", "notation", "width"), [("dc_motor_pump", "pog", 400), ("corking_machine", "network", 1100)]
)
def test_a_row_that_cannot_be_as_narrow_as_asked_is_drawn_smaller(name: str, notation: str, width: float) -> None:
    figure = draw(name, notation, max_width=width)
    assert figure.scene.box.width > width
    root = ElementTree.fromstring(figure.svg())
    assert float((root.get("width") or "").removesuffix("px")) == pytest.approx(width, abs=0.1)
    assert pixels(figure.png(dpi=96)).shape[1] == pytest.approx(width, abs=1)
