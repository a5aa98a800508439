"""Bond graphs that keep their places: items put somewhere, earlier figures, layouts in files; and conflicts that are shown."""

import re
from math import dist
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from drawing.test_bond_figures import scheme_of
from notations.bond_graph.test_bond_graphs_vectors_errors import NOBODY_NOTICES
from support.networks import Network, network
from support.strategies import networks
from tellegen.causality import rules as causality_rules
from tellegen.core.errors import TellegenError
from tellegen.core.shipped import SYSTEMS
from tellegen.drawing import check_scene, draw
from tellegen.drawing.bond import routes
from tellegen.drawing.bond.pen import OTHER_END
from tellegen.drawing.bond.scene import bond_scene
from tellegen.drawing.memory import bond_places
from tellegen.drawing.options import Options
from tellegen.model.model import Model
from tellegen.notations.layout import with_positions
from tellegen.notations.reading import read_model
from tellegen.notations.yaml.document import read_document
from tellegen.scenes.geometry import Point
from tellegen.scenes.scene import Bond, Ring

PUMP = draw("dc_motor_pump", "bond")
PLACES = bond_places(PUMP.scene.shapes)
TEXT = (SYSTEMS / "dc_motor_pump.yaml").read_text(encoding="utf-8")
LOSS = "  b_x:     {friction: [shaft, frame], b: 1 mN*m*s}\n"


def farthest(one: dict[str, Point], two: dict[str, Point]) -> float:
    """How far apart things are that both figures have."""
    return max(dist(one[name], two[name]) for name in one.keys() & two.keys())


def test_an_item_stays_where_it_is_put_and_its_elements_go_with_it() -> None:
    x, y = PLACES["shaft"]
    figure = draw("dc_motor_pump", "bond", places={"shaft": (x + 60, y + 120)})
    assert check_scene(figure.scene) == ()
    found = bond_places(figure.scene.shapes)
    assert found["shaft"] == (x + 60, y + 120)
    moved = {name for name, place in found.items() if dist(place, PLACES[name]) > 1}
    assert moved == {"shaft", "J_m", "b_m"}


def test_what_is_in_the_way_moves_no_farther_than_it_must() -> None:
    x, y = PLACES["pump"]
    figure = draw("dc_motor_pump", "bond", places={"R_a": (x, y)})
    assert check_scene(figure.scene) == ()
    found = bond_places(figure.scene.shapes)
    assert found["R_a"] == (x, y)
    assert 10 < dist(found["pump"], (x, y)) < 100


@pytest.mark.parametrize("name", ["two_mass_drive", "planetary_gear", "rolling_disk", "pmsm", "motor_heating"])
def test_a_figure_like_itself_is_the_same_figure(name: str) -> None:
    figure = draw(name, "bond")
    same = draw(name, "bond", like=figure)
    assert check_scene(same.scene) == ()
    assert farthest(bond_places(same.scene.shapes), bond_places(figure.scene.shapes)) < 0.01


def test_a_figure_like_an_earlier_one_moves_nothing_that_was_there() -> None:
    larger = read_model(TEXT.replace("  pump:", LOSS + "  pump:"))
    smaller = read_model(TEXT.replace("  b_m:     {friction: [shaft, frame]}\n", ""))
    for model, names in ((larger, PLACES.keys() | {"b_x"}), (smaller, PLACES.keys() - {"b_m"})):
        figure = draw(model, "bond", like=PUMP)
        assert check_scene(figure.scene) == ()
        found = bond_places(figure.scene.shapes)
        assert found.keys() == names
        assert farthest(found, PLACES) < 0.01


@settings(max_examples=15)
@given(networks(), st.integers(0, 30), st.floats(-200, 200), st.floats(-200, 200))
def test_any_item_can_be_put_anywhere(described: Network, which: int, right: float, down: float) -> None:
    try:
        scheme = scheme_of(described.model())
    except TellegenError:
        return  # no causality, no figure
    usual = bond_places(bond_scene(scheme).shapes)
    name = sorted(usual)[which % len(usual)]
    wanted = usual[name][0] + right, usual[name][1] + down
    found = bond_places(bond_scene(scheme, Options(places={name: wanted})).shapes)
    assert found.keys() == usual.keys()
    assert found[name] == pytest.approx(wanted, abs=1e-3)


# -- files ---------------------------------------------------------------------------------------------------------------------


def test_a_layout_in_a_file_is_kept_by_every_figure(tmp_path: Path) -> None:
    file = tmp_path / "motor.yaml"
    file.write_text(TEXT, encoding="utf-8")
    kept = tg.keep_layout(file)
    text = file.read_text(encoding="utf-8")
    assert text.startswith(TEXT)
    assert kept.keys() == PLACES.keys()
    file.write_text(text.replace("  pump:  ", LOSS + "  pump:  "), encoding="utf-8")
    found = bond_places(draw(file, "bond").scene.shapes)
    assert found.keys() == PLACES.keys() | {"b_x"}
    assert farthest(found, PLACES) < 0.1
    assert tg.keep_layout(file, {"shaft": (500, 260)}) == {"shaft": (500, 260)}
    assert bond_places(draw(file, "bond", at=0.1).scene.shapes)["shaft"] == pytest.approx((500, 260), abs=0.1)
    again = tg.read(file)
    assert again.layout["bond"]["shaft"] == (500, 260)
    assert read_model(tg.to_yaml(again)).layout == again.layout


def test_places_are_put_beside_what_a_layout_has() -> None:
    text = "system: s\nlayout:\n  mine: [x]  # not ours\n  bond:\n    V: [1, 2]\nnetwork: {V: {voltage source: [a]}}\n"
    edited = with_positions(read_document(text), "bond", {"V": (3.25, 4), "R": (5, 6)}).text
    assert edited == text.replace("V: [1, 2]", "V: [3.2, 4]\n    R: [5, 6]")
    bare = with_positions(read_document("system: s # one\r\nabout: x"), "bond", {"V": (1, 2)}).text
    assert bare == "system: s # one\r\nabout: x\r\nlayout:\r\n  bond:\r\n    V: [1, 2]\r\n"
    braces = '{"system": "s"}'
    assert with_positions(read_document(braces), "bond", {"V": (1, 2)}).text == (
        '{"system": "s", "layout": {"bond": {"V": ["1", "2"]}}}'
    )


@pytest.mark.parametrize("place", ["3", "[1]", "[1, 2, 3]", "[a, 2]", "[1, inf]"])
def test_a_place_that_is_no_pair_of_numbers_is_refused(place: str) -> None:
    with pytest.raises(TellegenError, match=r"D102: the place of 'V_a' is not two numbers(.|\n)*write 'V_a: \[x, y\]'"):
        read_model(f"{TEXT}layout: {{bond: {{V_a: {place}}}}}\n")


def test_what_cannot_be_kept_is_said() -> None:
    with pytest.raises(tg.FigureError, match=r"F160: there is no 'shafft'(.|\n)*did you mean 'shaft'"):
        draw("dc_motor_pump", "bond", places={"shafft": (0, 0)})
    with pytest.raises(tg.FigureError, match="F102: '3' is no place of 'shaft'"):
        draw("dc_motor_pump", "bond", places={"shaft": 3})
    with pytest.raises(tg.FigureError, match="F102: 'here' is no value of the option 'places'"):
        draw("dc_motor_pump", "bond", places="here")
    with pytest.raises(tg.FigureError, match="F161: no places are kept of figures drawn as 'equations'"):
        tg.keep_layout(SYSTEMS / "rlc.yaml", notation="equations")
    with pytest.raises(tg.FigureError, match="F161: no layout can be kept: there is no file 'dc_motor_pump'"):
        tg.keep_layout("dc_motor_pump")
    with pytest.raises(tg.FigureError, match="F161: no layout can be kept: a netlist"):
        tg.keep_layout(SYSTEMS / "pog_netlists" / "example_1.txt")


# -- conflicts -----------------------------------------------------------------------------------------------------------------

EQUAL = causality_rules.UNIT_LOOP.example


@pytest.mark.parametrize(
    ("text", "marked", "told"),
    [
        (EQUAL, {4, 5, 6, 7}, "what circulates between 'g_1', 'g_2' is not determined"),
        (NOBODY_NOTICES, {2, 9, 10}, "what circulates between 'a_to_b' is not determined"),
    ],
    ids=["gears", "junctions"],
)
def test_a_loop_that_leaves_something_open_is_drawn_with_its_bonds_marked(
    text: str, marked: set[int], told: str
) -> None:
    model = read_model(text)
    scene = draw(model, "bond").scene
    assert check_scene(scene) == ()
    warned = {s.origin.port for s in scene.shapes if isinstance(s, Bond) and s.warned}
    assert warned == {f"bond {k}" for k in marked}
    assert sum(isinstance(s, Ring) and s.dashed for s in scene.shapes) == len(marked)
    assert f"conflict: {told}" in scene.about
    with pytest.raises(tg.CausalityError, match="K105"):
        tg.derive(model)


def test_a_loop_that_locks_is_drawn_like_any_other() -> None:
    scene = draw(read_model(causality_rules.LOCKED_STORAGE.example), "bond").scene
    assert check_scene(scene) == ()
    assert "conflict" not in scene.about


def _random_mesh() -> Model:
    """Resistors and capacitors between nodes far from each other."""
    parts = [("V", "voltage source", "n0", "gnd")]
    for k in range(1, 12):
        parts += [(f"R_{k}", "resistor", f"n{k - 1}", f"n{k}"), (f"C_{k}", "capacitor", f"n{k}", "gnd")]
        parts.append((f"Rx_{k}", "resistor", f"n{k}", f"n{k * 7 % 12}"))
    return network(*(part for part in parts if part[2] != part[3])).model()


def test_bonds_of_a_vast_mesh_that_lead_far_are_drawn_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = draw(_random_mesh(), "bond").scene
    for name in ("SMALL", "MEDIUM", "LARGE"):
        monkeypatch.setattr(routes, name, 0)
    monkeypatch.setattr(routes, "FAR", 400.0)
    scene = draw(_random_mesh(), "bond").scene
    assert check_scene(scene) == ()
    (cut,) = (int(number) for number in re.findall(r"(\d+) bonds that lead far are drawn at both ends", scene.about))
    bonds = [shape.origin.port for shape in scene.shapes if isinstance(shape, Bond)]
    assert cut > 0
    assert set(bonds) == {shape.origin.port for shape in usual.shapes if isinstance(shape, Bond)}
    assert len(bonds) == sum(isinstance(shape, Bond) for shape in usual.shapes) + cut
    ends = [shape for shape in scene.shapes if shape.origin.part == OTHER_END]
    assert len(ends) == 2 * cut, "each end tells where the bond leads"
    assert "lead far" not in usual.about
