"""A figure is never wider than asked: it goes on in rows, is cut into pieces, then becomes smaller, and says how small."""

import re
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemes.comparing import legal_causality
from support.networks import Network, network
from support.strategies import networks
from tellegen.core.errors import TellegenError
from tellegen.drawing import Figure, animate, draw
from tellegen.drawing.bond.pen import OTHER_END
from tellegen.drawing.schematic.plan import schematic_elements
from tellegen.model.model import Model
from tellegen.notations.loading import as_model
from tellegen.scenes.ink import check_scene
from tellegen.scenes.scene import Bond, Label
from tellegen.scenes.writers.tikz import to_tikz
from tellegen.schemes import bond_graph

COLUMN, PAGE = "85 mm", "170 mm"
PIXELS = {COLUMN: 85 / 25.4 * 96, PAGE: 170 / 25.4 * 96}
WIDE = "rapson_slide", "mobile_manipulator"


@cache
def narrow(name: str, notation: str, width: str) -> Figure:
    """A figure that several tests look at."""
    return draw(name, notation, max_width=width)


def drawn_width(figure: Figure) -> float:
    """The width that its SVG asks for."""
    return float(ElementTree.fromstring(figure.svg()).get("width") or "nan")


@pytest.mark.parametrize(("name", "notation"), [*product(("dc_motor_pump", *WIDE), ("bond", "network"))])
@pytest.mark.parametrize("width", [COLUMN, PAGE])
def test_no_figure_is_wider_than_asked(name: str, notation: str, width: str) -> None:
    figure = narrow(name, notation, width)
    assert drawn_width(figure) <= PIXELS[width] + 0.01
    assert check_scene(figure.scene) == ()


@pytest.mark.parametrize(
    "name", ["dc_motor_pump", "corking_shaft", "motor_heating", "sampled_position_control", "pmsm"]
)
def test_schemes_are_no_wider_than_a_column(name: str) -> None:
    figure = draw(name, "pog", max_width=COLUMN)
    assert drawn_width(figure) <= PIXELS[COLUMN] + 0.01
    assert check_scene(figure.scene) == ()
    assert figure.text_points >= 5


@pytest.mark.parametrize("name", WIDE)
def test_a_bond_graph_of_meshes_can_be_read_on_a_page(name: str) -> None:
    figure = narrow(name, "bond", PAGE)
    names = [shape for shape in figure.scene.shapes if isinstance(shape, Label) and shape.origin.part == "name"]
    assert min(shape.size for shape in names) * figure.zoom * 0.75 >= 7
    assert check_scene(figure.scene) == ()


def test_a_bond_that_is_cut_is_drawn_at_both_ends_with_the_name_of_the_other() -> None:
    scene = draw("rapson_slide", "bond", max_width=PAGE, whole=True).scene
    far = [shape.origin.port for shape in scene.shapes if isinstance(shape, Label) and shape.origin.part == OTHER_END]
    cut = {port.partition(" at ")[0] for port in far}
    assert len(far) == 2 * len(cut) > 0
    for port in cut:
        one, two = (s for s in scene.shapes if isinstance(s, Bond) and s.origin.port == port)
        assert (one.stroke, one.size) == (two.stroke, two.size)
    assert f"{len(cut)} bonds that lead far are drawn at both ends only" in scene.about


def test_on_a_screen_meshes_stay_whole() -> None:
    scene = draw("rapson_slide", "bond", whole=True).scene
    assert not any(shape.origin.part == OTHER_END for shape in scene.shapes)


def test_how_small_texts_become_is_said() -> None:
    small = draw("dc_motor_pump", "pog", max_width=100)
    wide, points = small.scene.box.width, small.text_points
    assert points == pytest.approx(9 * 100 / wide)
    told = (
        f"drawn at {1e4 / wide:.0f} % to be 100 wide: its smallest text has {points:.1f} points, and would have 5 at "
    )
    assert told in str(small)
    assert str(small).endswith(f" and 9.0 at {wide:.0f}")
    assert str(draw("dc_motor_pump", "pog")).endswith("shapes)")
    readable = str(draw("dc_motor_pump", "pog", max_width=400))
    assert "would have 9.0 at" in readable
    again = draw("dc_motor_pump", "pog", max_width=5 / points * 100)
    assert again.text_points >= 5


def test_a_scale_counts_after_the_width() -> None:
    assert drawn_width(draw("dc_motor_pump", "bond", max_width=300, scale=2)) == pytest.approx(600, abs=0.01)


@pytest.mark.parametrize(
    ("width", "pixels"), [("85 mm", 321.26), ("8.5cm", 321.26), ("3.4 in", 326.4), ("400", 400), (400, 400)]
)
def test_a_width_is_a_length_or_pixels(width: object, pixels: float) -> None:
    assert draw("rlc", "bond", max_width=width).options.max_width == pytest.approx(pixels, abs=0.01)


@pytest.mark.parametrize("width", ["85 kg", "85 mmm", "wide", "-85 mm", "0 mm", ""])
def test_what_is_no_width_is_refused(width: str) -> None:
    with pytest.raises(TellegenError) as caught:
        draw("rlc", "bond", max_width=width)
    assert caught.value.code == "F102"
    assert "max_width" in caught.value.finding.what


def test_animations_are_no_wider_either() -> None:
    moving = animate("dc_motor_pump", "bond", frames=2, max_width=300)
    assert float(ElementTree.fromstring(moving.svg()).get("width") or "nan") == pytest.approx(300, abs=0.01)
    assert 'width="300"' in moving.html()


@pytest.mark.parametrize("macros", ["own", "bondgraphs"])
def test_latex_is_no_wider_either(macros: str, tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    figure = draw("rlc", "bond", max_width=250, macros=macros)
    (tmp_path / "figure.tex").write_text(figure.tikz(standalone=True))
    subprocess.run(
        [system_tool("pdflatex"), "-interaction=batchmode", "figure.tex"], cwd=tmp_path, capture_output=True, check=True
    )
    assert b"Overfull" not in (tmp_path / "figure.log").read_bytes()
    told = subprocess.run([system_tool("pdfinfo"), "figure.pdf"], cwd=tmp_path, capture_output=True, check=True).stdout
    size = re.search(rb"Page size: +([\d.]+) x", told)
    assert size is not None
    # TeX has 72.27 points in an inch, PDF 72.
    assert float(size[1]) == pytest.approx(250 * 0.75 * 72 / 72.27, abs=0.1)


def test_what_is_scaled_in_latex_has_thinner_lines_too() -> None:
    scene = draw("rlc", "bond").scene
    assert r"\scalebox{0.250000}{%" in to_tikz(scene, scale=0.25)
    assert "scalebox" not in to_tikz(scene)


def test_a_schematic_for_a_column_is_cut_where_lines_go_on_and_letters_tie_its_pieces() -> None:
    figure = draw("corking_machine", "network", max_width=COLUMN)
    assert figure.scene.box.width < draw("corking_machine", "network", max_width=PAGE).scene.box.width
    ports = [shape for shape in figure.scene.shapes if isinstance(shape, Label) and shape.origin.part == "port"]
    letters: dict[str, set[str]] = {}
    for label in ports:
        letters.setdefault(label.text, set()).add(label.origin.element)
    assert all(len(nodes) == 1 for nodes in letters.values())
    assert all(sum(label.text == text for label in ports) > 1 for text in letters)
    shown = {shape.origin.element for shape in figure.scene.shapes}
    assert not [e.name for e in schematic_elements(as_model("corking_machine")) if e.name not in shown]


def grid(rows: int, columns: int) -> Model:
    """Resistors between the nodes of a grid."""
    right = [(f"R_{i}{j}", "resistor", f"n{i}{j}", f"n{i}{j + 1}") for i in range(rows) for j in range(columns - 1)]
    down = [(f"Q_{i}{j}", "resistor", f"n{i}{j}", f"n{i + 1}{j}") for i in range(rows - 1) for j in range(columns)]
    ends = ("V", "voltage source", "n00", "gnd"), ("C", "capacitor", f"n{rows - 1}{columns - 1}", "gnd")
    return network(*ends, *right, *down).model()


def test_a_grid_that_is_too_wide_is_turned() -> None:
    wide, upright = (draw(grid(3, 8), "network", max_width=width) for width in (1100, PAGE))
    assert upright.scene.box.width < 0.5 * wide.scene.box.width
    assert upright.zoom == 1
    assert check_scene(upright.scene) == ()


@settings(max_examples=8)
@given(networks(), st.sampled_from([120.0, 200.0, 321.0]))
def test_random_networks_are_cut_into_pieces_without_overlaps(described: Network, width: float) -> None:
    causal = legal_causality(described)
    for figure in (
        draw(bond_graph(causal), max_width=width),
        draw(described.model(), "network", max_width=width),
    ):
        assert check_scene(figure.scene, [part.name for part in described.parts]) == ()
        assert drawn_width(figure) <= width + 0.01


def test_without_a_width_large_figures_stay_large_enough_to_read() -> None:
    """A limit that nobody asked for does not make texts small."""
    figure = draw("trolley_folder", "bond", whole=True)
    assert figure.zoom == pytest.approx(0.7)
    assert figure.text_points > 5
    assert drawn_width(draw("trolley_folder", "bond", max_width=1100, whole=True)) == pytest.approx(1100, abs=0.01)
