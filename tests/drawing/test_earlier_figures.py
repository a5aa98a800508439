"""Figures remember their places: every file carries them, and a later figure of the model keeps them."""

import json
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from math import dist
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from drawing.test_small_edits import without
from support.networks import Network
from support.strategies import networks
from tellegen.core.errors import TellegenError
from tellegen.core.shipped import SYSTEMS
from tellegen.drawing import check_scene, draw
from tellegen.drawing.memory import MOST_BYTES, Memory, NoMemoryError
from tellegen.model.model import Element, Model
from tellegen.notations.loading import as_model
from tellegen.notations.reading import read_model
from tellegen.scenes.geometry import Point
from tellegen.scenes.scene import Label, Scene

NOTATIONS = ("bond", "pog", "network")
PUMP = {notation: draw("dc_motor_pump", notation) for notation in NOTATIONS}
TEXT = (SYSTEMS / "dc_motor_pump.yaml").read_text(encoding="utf-8")
LOSS = "  b_x:     {friction: [shaft, frame], b: 1 mN*m*s}\n"
LARGER = read_model(TEXT.replace("  pump:", LOSS + "  pump:"))


def places(scene: Scene) -> dict[str, Point]:
    found = Memory.of(scene)
    assert found
    return dict(found.places)


def moves(one: Scene, two: Scene) -> dict[str, Point]:
    """How far things have moved that both figures have."""
    before, after = places(one), places(two)
    return {k: (after[k][0] - x, after[k][1] - y) for k, (x, y) in before.items() if k in after}


# -- files -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png", "tex", "json"])
@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_file_remembers_where_things_stand(tmp_path: Path, notation: str, suffix: str) -> None:
    figure = PUMP[notation]
    path = figure.save(tmp_path / f"figure.{suffix}")
    found = Memory.read(path)
    assert found == Memory.of(figure.scene)
    assert found.notation == notation
    assert {"L_a", "J_m", "motor", "C_0"} <= found.places.keys()
    assert figure.save(tmp_path / f"again.{suffix}").read_bytes() == path.read_bytes()


def test_styles_of_another_package_and_names_in_other_alphabets_are_remembered(tmp_path: Path) -> None:
    figure = draw("rlc", "bond", macros="bondgraphs")
    assert Memory.read(figure.save(tmp_path / "rlc.tex")) == Memory.of(figure.scene)
    odd = Memory("pog", {"a<b>&c": (1.5, -2.0), "\u00e4(\\)": (0.0, 3.0)}, (("a<b>&c",), ()))
    assert Memory.from_text(odd.text()) == odd
    assert odd.text().isascii()


@pytest.mark.parametrize("notation", ["equations", "sankey", "mechanism"])
def test_figures_that_follow_from_the_model_alone_remember_nothing(notation: str, tmp_path: Path) -> None:
    figure = draw("crank_rod_mechanism" if notation == "mechanism" else "rlc", notation)
    assert not Memory.of(figure.scene)
    with pytest.raises(NoMemoryError, match="says nothing of places"):
        Memory.read(figure.save(tmp_path / "figure.svg"))


GOOD = {"tellegen": 1, "notation": "pog", "places": {"a": [1, 2]}, "lines": [["a"]]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"tellegen": 2},
        {"notation": "sankey"},
        {"places": [1]},
        {"places": {"a": [1]}},
        {"places": {"a": [1, "2"]}},
        {"places": {"a": [1, True]}},
        {"places": {"a": [1, 1e300]}},
        {"places": {"a": [1, 10**400]}},
        {"places": {"a" * 1000: [1, 2]}},
        {"lines": [3]},
        {"lines": [[3]]},
        {"lines": [["a"] * 200_000]},
    ],
)
def test_a_memory_that_is_not_ours_is_refused(wrong: dict[str, object]) -> None:
    assert Memory.from_text(json.dumps(GOOD)).places == {"a": (1.0, 2.0)}
    with pytest.raises(ValueError, match="it"):
        Memory.from_text(json.dumps(GOOD | wrong))


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "3", "{", '{"tellegen": 1, "notation": "pog", "places": {"a": [NaN, 1]}, "lines": []}']
)
def test_a_text_that_is_no_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Memory.from_text(text)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.svg", b"<svg><metadata>{}</metadata></svg>"),
        ("a.svg", b"<svg/>"),
        ("a.svg", b'<!DOCTYPE s [<!ENTITY a "b">]><svg><metadata>&a;</metadata></svg>'),
        ("a.pdf", b"%PDF-1.4 /Keywords (a, b)"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + _chunk(b"tEXt", b"tellegen\0{}")),
        ("a.png", b"\x89PNG\r\n\x1a\n\xff\xff\xff\xfftEXt"),
        ("a.png", b"GIF89a"),
        ("a.tex", b"% tellegen\n\xff"),
        ("a.json", b'{"version": 1}'),
        ("a.txt", b"text"),
    ],
)
def test_a_strange_file_is_read_without_harm_and_the_figure_is_laid_out_anew(
    tmp_path: Path, name: str, data: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    figure = draw("rlc", "bond", like=path)
    assert figure.scene == draw("rlc", "bond").scene
    (note,) = figure.notes
    assert note.startswith(f"laid out anew, not like {path}: ")


def test_a_damaged_file_and_a_huge_one_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for suffix in ("svg", "pdf", "png", "tex", "json"):
        path = PUMP["pog"].save(tmp_path / f"half.{suffix}")
        data = path.read_bytes()
        path.write_bytes(data[: data.find(b"places") + 5] if b"places" in data else data[:-100])
        with pytest.raises(NoMemoryError, match="damaged"):
            Memory.read(path)
    assert PUMP["pog"].save(tmp_path / "whole.svg").stat().st_size < MOST_BYTES
    monkeypatch.setattr("tellegen.drawing.memory.MOST_BYTES", 100)
    with pytest.raises(NoMemoryError, match="the file is too large"):
        Memory.read(tmp_path / "whole.svg")


# -- like an earlier figure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two_mass_drive", "pmsm", "hydraulic_cylinder", "corking_shaft", "cauer_low_pass"])
@pytest.mark.parametrize("notation", ["pog", "network"])
def test_a_figure_like_itself_is_the_same_figure(name: str, notation: str) -> None:
    figure = draw(name, notation)
    same = draw(name, notation, like=figure)
    assert same.scene == figure.scene
    assert same.notes == ("kept the places of the earlier figure",)


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("name", ["b_m", "R_a", "J_m", "alpha_p"])
def test_what_is_taken_away_moves_nothing(notation: str, name: str, tmp_path: Path) -> None:
    file = PUMP[notation].save(tmp_path / "motor.svg")
    model = without(as_model("dc_motor_pump"), name)
    if name == "R_a":
        model = replace(model, elements=tuple(_joined(e, "c", "b") for e in model.elements))
    figure = draw(model, notation, like=file)
    assert check_scene(figure.scene) == ()
    assert figure.notes == (f"kept the places of {file}",)
    assert all(abs(x) < 1 and abs(y) < 1 for x, y in moves(PUMP[notation].scene, figure.scene).values())


def _joined(element: Element, old: str, new: str) -> Element:
    return replace(element, nodes=tuple(new if node == old else node for node in element.nodes))


@pytest.mark.parametrize("notation", ["pog", "network"])
def test_what_is_new_moves_only_what_follows_and_by_its_own_room(notation: str) -> None:
    figure = draw(LARGER, notation, like=PUMP[notation])
    assert check_scene(figure.scene) == ()
    found = moves(PUMP[notation].scene, figure.scene)
    still = {name for name, move in found.items() if dist(move, (0, 0)) < 1}
    further = {round(move[0]) for name, move in found.items() if name not in still}
    at = places(figure.scene)
    assert still == {name for name in found if at[name][0] < at["b_x"][0]}
    assert len(further) == 1
    moved = len(found) - len(still)
    assert figure.notes == (f"kept the places of the earlier figure (1 item is new, {moved} had to move)",)
    assert min(further) > 0
    assert all(abs(y) < 1 for _, y in found.values())


def test_the_order_of_a_ladder_and_of_a_schematic_is_kept() -> None:
    """A longer branch would be the main ladder, were the figure drawn anew."""
    lines = ["V: {voltage source: [a]}", "L: {inductor: [a, b], L: 1 mH}", "C: {capacitor: [b], C: 1 uF}"]
    lines += ["R_1: {resistor: [b, c], R: 1 ohm}", "C_1: {capacitor: [c], C: 1 uF}"]
    lines += ["R_2: {resistor: [b, d], R: 1 ohm}", "C_2: {capacitor: [d], C: 1 uF}"]
    more = ["L_3: {inductor: [d, e], L: 1 mH}", "C_3: {capacitor: [e], C: 1 uF}", "R_3: {resistor: [e], R: 1 ohm}"]
    small, large = (read_model("system: s\nnetwork:\n  " + "\n  ".join(text)) for text in (lines, [*lines, *more]))
    for notation in NOTATIONS:
        before = draw(small, notation)
        like, anew = (draw(large, notation, like=before), draw(large, notation))
        assert check_scene(like.scene) == ()
        if notation == "pog":
            assert _main(like.scene)[:5] == _main(before.scene)[:5]
            assert _main(anew.scene)[:5] != _main(before.scene)[:5]


def _main(scene: Scene) -> tuple[str, ...]:
    return scene.lines[0]


@pytest.mark.parametrize(
    ("like", "told"),
    [
        (lambda: draw("rlc", "bond"), "it is drawn as 'bond'"),
        (lambda: draw("rlc", "equations"), "figures of its kind follow from the model alone"),
        (
            lambda: draw("two_masses_heat", "pog"),
            "it is of another model",
        ),
    ],
)
def test_a_figure_of_something_else_is_not_followed(like: Callable[[], tg.Figure], told: str) -> None:
    figure = draw("rlc", "pog", like=like())
    assert figure.scene == draw("rlc", "pog").scene
    assert figure.notes == (f"laid out anew, not like the earlier figure: {told}",)


def test_what_cannot_be_like_anything_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tg.FigureError, match=r"F162: nothing can be kept: there is no file '.*gone.svg'"):
        draw("rlc", "pog", like=tmp_path / "gone.svg")
    with pytest.raises(tg.FigureError, match="F162: nothing can be kept: 'int' is neither a figure nor the name"):
        draw("rlc", "pog", like=3)  # type: ignore[arg-type]
    with pytest.raises(tg.FigureError, match="F162: nothing can be kept: figures drawn as 'equations' follow"):
        draw("rlc", "equations", like=PUMP["pog"])
    with pytest.raises(tg.FigureError, match="F162: only the figure of a model"):
        draw(tg.pog("rlc"), like=PUMP["pog"])
    with pytest.raises(tg.FigureError, match="F101: there is no option 'earlier'"):
        draw("rlc", "pog", earlier=None)


def test_powers_are_laid_over_a_figure_like_an_earlier_one() -> None:
    """Arrows at its sections need room, but the columns stay in their order and nothing lies on anything."""
    before = draw("rlc", "network")
    figure = draw("rlc", "network", at="1 ms", like=before)
    assert figure.notes == ("kept the places of the earlier figure",)
    assert len({(round(x), round(y)) for x, y in moves(before.scene, figure.scene).values()}) == 1


WHOLE = "This is its vector form."
"""What a POG says that shows the model as one vector block."""


@settings(max_examples=20)
@given(networks(), st.integers(0, 30), st.sampled_from(NOTATIONS), st.booleans())
def test_random_models_after_an_edit_keep_their_places(
    described: Network, which: int, notation: str, more: bool
) -> None:
    model = described.model()
    element = model.elements[which % len(model.elements)]
    twin = replace(element, name="new", variables={})
    other = replace(model, elements=(*model.elements, twin)) if more else without(model, element.name)
    try:
        before, anew = draw(model, notation), draw(other, notation)
        figure = draw(other, notation, like=before)
    except TellegenError:
        return  # no causality, no figure
    if not Memory.of(figure.scene) or not figure.notes[0].startswith("kept"):
        return
    if check_scene(anew.scene) == ():
        assert check_scene(figure.scene) == ()
    # A mesh that is cut where the earlier figure cut it stays a ladder, also where a new layout would find no such cut.
    if WHOLE not in anew.scene.about or WHOLE in figure.scene.about:
        assert places(figure.scene).keys() == places(anew.scene).keys()
    if notation == "bond":
        ways = list(moves(before.scene, figure.scene).values())  # the edge may move, and all with it
        assert all(dist(way, ways[0]) < 0.01 for way in ways) or "had to move" in figure.notes[0]


# -- put somewhere by a person -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("notation", ["pog", "network"])
@pytest.mark.parametrize(("right", "down"), [(60, 0), (-45, 0), (0, 40), (70, -30)])
def test_an_element_is_put_elsewhere_and_the_others_make_room(notation: str, right: int, down: int) -> None:
    usual = places(PUMP[notation].scene)
    x, y = usual["J_m"]
    figure = draw("dc_motor_pump", notation, places={"J_m": (x + right, y + down)})
    assert check_scene(figure.scene) == ()
    assert figure.notes == ()
    assert places(figure.scene)["J_m"] == pytest.approx((x + right, y + down), abs=0.01)
    order = sorted(usual, key=lambda name: usual[name][0])
    found = [places(figure.scene)[name][0] for name in order]
    assert found == sorted(found)


def test_a_place_that_cannot_be_is_said() -> None:
    usual = places(PUMP["network"].scene)
    swapped = {"V_a": usual["Q_0"], "Q_0": usual["V_a"]}
    figure = draw("dc_motor_pump", "network", places=swapped)
    assert check_scene(figure.scene) == ()
    assert figure.notes
    assert all(note.endswith("could not be put where it shall stand") for note in figure.notes)


@pytest.mark.parametrize("notation", ["pog", "network"])
def test_a_layout_in_a_file_is_kept(notation: str, tmp_path: Path) -> None:
    file = tmp_path / "motor.yaml"
    file.write_text(TEXT, encoding="utf-8")
    kept = tg.keep_layout(file, notation=notation)
    assert kept == places(PUMP[notation].scene)
    text = file.read_text(encoding="utf-8")
    assert text.startswith(TEXT)
    assert f"\n  {notation}:\n" in text
    file.write_text(re.sub(r"\n +b_m:.*", "", text), encoding="utf-8")
    assert "b_m" not in places(draw(file, notation).scene)
    assert all(dist(move, (0, 0)) < 1 for move in moves(PUMP[notation].scene, draw(file, notation).scene).values())
    file.write_text(text.replace("J_m: [", "J_mm: ["), encoding="utf-8")
    with pytest.raises(tg.FigureError, match=r"F160: there is no 'J_mm' in this(.|\n)*did you mean 'J_m'"):
        draw(file, notation)


# -- parameters --------------------------------------------------------------------------------------------------------------------


def with_other_values(model: Model) -> Model:
    """The model with parameters that have more digits than before."""
    other = {
        name: replace(parameter, expression=parameter.expression * 1.2347)
        for name, parameter in model.parameters.items()
        if parameter.expression is not None and parameter.curve is None
    }
    return replace(model, parameters={**model.parameters, **other})


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_parameter_moves_nothing(notation: str) -> None:
    for name in ("rlc", "dc_motor_pump", "hydraulic_cylinder", "two_mass_drive", "corking_shaft", "crank_rod_elastic"):
        model = as_model(name)
        one, two = (draw(shown, notation).scene for shown in (model, with_other_values(model)))
        assert _without_texts(one) == _without_texts(two), name


def _without_texts(scene: Scene) -> Scene:
    """The scene with empty labels: a factor is written in some of them."""
    blank = (replace(shape, text="") if isinstance(shape, Label) else shape for shape in scene.shapes)
    return replace(scene, shapes=tuple(blank))


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("labels", ["values", "both"])
def test_wider_values_move_nothing_out_of_its_order(notation: str, labels: str) -> None:
    for name in ("dc_motor_pump", "hydraulic_cylinder"):
        model = as_model(name)
        before = draw(model, notation, labels=labels)
        figure = draw(with_other_values(model), notation, labels=labels, like=before)
        assert check_scene(figure.scene) == ()
        assert figure.notes[0].startswith("kept the places of the earlier figure")
        assert figure.scene.lines == before.scene.lines
        far = [dist(move, (0, 0)) for move in moves(before.scene, figure.scene).values()]
        assert max(far) < 150, (name, max(far))
