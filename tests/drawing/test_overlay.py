"""Results laid over figures: the powers are those of the run, arrows say how much and which way, and nothing hides a label."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import tellegen as tg
from tellegen.causality import assign_causality
from tellegen.core.errors import FigureError, SimulationError
from tellegen.drawing import check_scene, draw
from tellegen.drawing.options import read_options
from tellegen.drawing.overlay.marks import (
    NARROWEST,
    WIDEST,
    OverlayMark,
    arrow_width,
    bond_powers,
    domain_tone,
    mark_shapes,
)
from tellegen.drawing.overlay.results import OverlaidNotation, Overlay, overlay_of
from tellegen.results.element_variables import supplying
from tellegen.scenes.scene import Block, Curve, Label, Scene, Section, Shape
from tellegen.schemes import bond_graph

DRAWN = ("dc_motor_pump", "quarter_car", "buck_converter", "planetary_gear", "motor_heating", "hydraulic_cylinder")


@cache
def run_of(name: str) -> tg.Run:
    return tg.simulate(name, progress=False)


def overlay(name: str, notation: OverlaidNotation) -> Overlay:
    return overlay_of(run_of(name), notation, read_options({}))


def middle(run: tg.Run) -> float:
    return float(run.t[0] + 0.4 * (run.t[-1] - run.t[0]))


def arrows(scene: Scene, part: str = "flow") -> dict[str, Curve]:
    return {
        s.origin.port or s.origin.element: s for s in scene.shapes if isinstance(s, Curve) and s.origin.part == part
    }


def points(curve: Shape) -> list[tuple[float, float]]:
    assert isinstance(curve, Curve)
    return [point for _, ends in curve.outline for point in ends]


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("notation", ["pog", "bond"])
def test_marks_overlap_nothing(name: str, notation: OverlaidNotation) -> None:
    run = run_of(name)
    shown = overlay(name, notation)
    for time in (float(run.t[0]), middle(run), float(run.t[-1])):
        assert check_scene(shown.at(time), []) == ()


@pytest.mark.parametrize("name", DRAWN)
def test_bonds_carry_the_power_that_elements_take(name: str) -> None:
    run = run_of(name)
    scheme = bond_graph(assign_causality(run.graph), vectors=True, lanes="joined")
    powers = bond_powers(scheme, run)
    assert powers.keys() == {bond.number for bond in scheme.bonds}
    most = max(float(np.max(np.abs(rows))) for rows in powers.values())
    for item in (*scheme.junctions, *scheme.two_ports):
        bonds = scheme.bonds_of(item)
        left = sum(powers[b.number] * (1 if b.head == item else -1) for b in bonds)
        assert np.max(np.abs(left)) < 1e-6 * most


def test_bond_and_section_agree() -> None:
    run = run_of("dc_motor_pump")
    scheme = bond_graph(assign_causality(run.graph), vectors=True, lanes="joined")
    motor = next(bond for bond in scheme.bonds if bond.head == "motor")
    np.testing.assert_allclose(bond_powers(scheme, run)[motor.number], run.sections.power(3), rtol=1e-9, atol=1e-9)


def test_width_grows_with_the_power() -> None:
    widths = [arrow_width(power, 100.0) for power in (0.0, 1.0, -10.0, 50.0, -100.0)]
    assert all(one < two for one, two in pairwise(widths))
    assert widths[0] == NARROWEST
    assert widths[-1] == WIDEST
    assert arrow_width(300.0, 100.0) == WIDEST


def test_arrow_is_as_wide_as_it_says_and_turns_with_the_sign() -> None:
    mark = OverlayMark("power", ("1",), (0.0, 0.0), domain="electrical")
    (forth,), (back,) = (list(mark_shapes(mark, power, 100.0)) for power in (25.0, -25.0))
    assert max(x for x, _ in points(forth)) == max(x for x, y in points(forth) if y == 0)
    assert min(x for x, _ in points(back)) == min(x for x, y in points(back) if y == 0)
    tail = [y for x, y in points(forth) if x == min(x for x, _ in points(forth))]
    assert max(tail) - min(tail) == pytest.approx(arrow_width(25.0, 100.0))
    assert (forth.origin.sign, back.origin.sign) == (1, -1)
    assert list(mark_shapes(mark, 0.0, 100.0)) == []


def test_reversed_power_is_drawn_reversed() -> None:
    shown = overlay("quarter_car", "pog")
    rows = shown.measure(shown.run).powers
    name = next(n for n, row in rows.items() if row.min() < -1 and row.max() > 1)
    times = [float(shown.run.t[k]) for k in (int(np.argmin(rows[name])), int(np.argmax(rows[name])))]
    back, forth = (arrows(shown.at(t))[name] for t in times)
    assert (back.origin.sign, forth.origin.sign) == (-1, 1)


def test_bar_is_full_where_the_energy_is_largest() -> None:
    shown = overlay("dc_motor_pump", "pog")
    stored = shown.measure(shown.run).stored["L_a"]
    fullest = float(shown.run.t[int(np.argmax(stored))])
    heights = []
    for time in (fullest, float(shown.run.t[-1])):
        scene = shown.at(time)
        bar, filled = (arrows(scene, part)["L_a"] for part in ("energy bar", "stored energy"))
        heights.append(np.ptp([y for _, y in points(filled)]) / np.ptp([y for _, y in points(bar)]))
    assert heights[0] == pytest.approx(1.0, abs=1e-3)
    assert heights[1] == pytest.approx(stored[-1] / stored.max(), abs=2e-3)


def test_losses_leave_every_resistive_element() -> None:
    for notation in ("pog", "bond"):
        scene = draw("dc_motor_pump", notation, run=run_of("dc_motor_pump"), at=0.1).scene
        assert arrows(scene, "loss").keys() == {"R_a", "b_m", "alpha_p"}


def test_values_stand_under_sections() -> None:
    run = run_of("dc_motor_pump")
    scene = draw("dc_motor_pump", "pog", run=run, at="100 ms").scene
    told = {s.origin.port: s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == "flow value"}
    assert told.keys() == set(run.sections.names)
    power = float(run.resampled(np.array([0.1])).sections.power(1)[0])
    assert told["1"].startswith(f"{power:.3g}")
    assert any(isinstance(s, Label) and s.origin.part == "time" and "0.1" in s.text for s in scene.shapes)


def test_model_is_drawn_as_it_was_described() -> None:
    overlaid = draw("dc_motor_pump", "bond", run=run_of("dc_motor_pump"), at=0.1).scene
    plain = draw("dc_motor_pump", "bond").scene
    texts = [{s.text for s in scene.shapes if isinstance(s, Label) and s.origin.element} for scene in (overlaid, plain)]
    assert texts[0] == texts[1]


def test_a_model_alone_is_simulated() -> None:
    assert (
        draw("rlc", "bond", at=0.01).scene == draw("rlc", "bond", run=tg.simulate("rlc", progress=False), at=0.01).scene
    )


def test_colours_are_those_of_domains() -> None:
    assert domain_tone("heat") == "thermal"
    assert domain_tone("electrical") == "electrical"
    assert domain_tone("signal") == "power"
    scene = overlay("dc_motor_pump", "pog").at(0.1)
    assert {curve.tone for curve in arrows(scene).values()} >= {"electrical", "rotational", "hydraulic"}


def test_run_of_another_model_is_refused() -> None:
    with pytest.raises(FigureError, match="F201") as caught:
        draw("rlc", "pog", run=run_of("dc_motor_pump"))
    assert "is not one of 'Series RLC circuit'" in str(caught.value)
    assert "tellegen.draw(run, 'pog')" in str(caught.value)


def test_figure_without_a_place_for_powers_is_refused() -> None:
    with pytest.raises(FigureError, match=r"F200.*\n.*\n.*draw it as 'pog', 'bond'"):
        draw(run_of("dc_motor_pump"), "equations")
    with pytest.raises(FigureError, match="F200"):
        draw(run_of("dc_motor_pump"), "sankey", at=0.1)


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(FigureError, match="F205"):
        draw("rlc", run=3)  # type: ignore[arg-type]
    with pytest.raises(FigureError, match="a PogScheme has no result"):
        draw(tg.pog("rlc"), at=0.1)


def test_time_outside_the_run_is_refused() -> None:
    with pytest.raises(SimulationError, match=r"S205.*\n.*\n.*\n.*from 0 s to 0.5 s"):
        draw(run_of("dc_motor_pump"), "pog", at=99)
    with pytest.raises(SimulationError, match="S303"):
        draw(run_of("dc_motor_pump"), "pog", at="2 V")


def test_vector_block_shows_what_comes_in_and_what_is_lost() -> None:
    shown = overlay_of(run_of("planetary_gear"), "pog", read_options({"vectorial": True}))
    run = shown.run
    powers = shown.measure(run).powers
    sources, losses = ("tau_s", "tau_c"), ("b_c", "b_r")
    np.testing.assert_allclose(powers["all supplied"], sum(run.power_values(name) for name in sources))
    np.testing.assert_allclose(powers["all lost"], sum(run.power_values(name) for name in losses))
    scene = shown.at(middle(run))
    assert arrows(scene).keys() == {"all supplied", "all lost", "scale"}
    assert list(arrows(scene, "energy bar")) == ["J_c J_r J_s"]


@pytest.mark.parametrize(
    ("name", "marked"),
    [
        ("dc_motor_pump", {"1": "all supplied", "3": "all supplied", "4": "all lost"}),
        ("crank_rod", {"1": "all supplied", "3": "all supplied", "5": "all lost"}),  # N gives back before A takes
    ],
)
def test_sections_of_a_vector_block_whose_power_is_known_have_arrows(name: str, marked: dict[str, str]) -> None:
    shown = overlay_of(run_of(name), "pog", read_options({"vectorial": True}))
    sections = {s.start[0]: s.origin.port for s in shown.still.shapes if isinstance(s, Section)}
    found = {sections[mark.centre[0]]: mark.keys[0] for mark in shown.marks if mark.kind == "power"}
    assert found == marked


def test_storages_that_share_a_block_keep_the_sections_of_their_ladder() -> None:
    shown = overlay("planetary_gear", "pog")
    run = shown.run
    powers = shown.measure(run).powers
    lost = run.power_values("b_c") + run.power_values("b_r")
    stored = sum(run.power_values(name) for name in ("J_s", "J_c", "J_r"))
    np.testing.assert_allclose(powers["1"], run.power_values("tau_s"), atol=1e-6)
    np.testing.assert_allclose(powers["2"], powers["1"], atol=1e-6)  # a connection takes nothing
    np.testing.assert_allclose(powers["2"] - powers["3"], stored, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(powers["3"] - powers["4"], lost, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(powers["5"], -run.power_values("tau_c"), atol=1e-6)
    scene = shown.at(middle(run))
    assert list(arrows(scene, "energy bar")) == ["J_s J_r J_c"]
    assert [set(name.split()) for name in arrows(scene, "loss")] == [{"b_c", "b_r"}]


@pytest.mark.parametrize("name", ["corking_machine", "corking_shaft", "pmsm"])
def test_sections_of_vector_lanes_carry_the_power_of_all_lanes(name: str) -> None:
    run = run_of(name)
    shown = overlay(name, "pog")
    powers = shown.measure(run).powers
    given = {element: run.power_values(element) for element in supplying(run.graph)}
    most = max(float(np.max(np.abs(row))) for row in powers.values())
    # Nothing was said about the sources at the left: what the right side takes must be what they give.
    (first, *_, last) = [s for s in draw(name, "pog").scene.shapes if isinstance(s, Section)]
    ends = [element for element in given if element.startswith(("V_", "tau_t"))]
    assert first.origin.port == "1"
    np.testing.assert_allclose(powers["1"], sum(given[e] for e in ends), atol=1e-6 * most)
    others = [given[e] for e in given if e not in ends]
    np.testing.assert_allclose(powers[last.origin.port], -sum(others), atol=1e-6 * most)
    scene = shown.at(middle(run))
    assert powers.keys() >= {s.origin.port for s in scene.shapes if isinstance(s, Section)}
    assert check_scene(scene, []) == ()


def test_a_block_of_springs_and_dampers_shows_what_it_holds_and_what_it_takes() -> None:
    scene = overlay("corking_shaft", "pog").at(0.02)
    block = "K_se d_se K_sr d_sr"
    assert [set(name.split()) for name in arrows(scene, "energy bar") if "K_se" in name] == [{"K_se", "K_sr"}]
    assert [set(name.split()) for name in arrows(scene, "loss") if "d_se" in name] == [{"d_se", "d_sr"}]
    assert any(isinstance(s, Block) and set(s.origin.element.split()) == set(block.split()) for s in scene.shapes)


# -- schematics and mechanisms -------------------------------------------------------------------------------------------------


def test_schematic_has_a_mark_beside_every_storage_resistance_and_source() -> None:
    scene = draw("dc_motor_pump", "network", run=run_of("dc_motor_pump"), at="20 ms").scene
    assert check_scene(scene) == ()
    assert arrows(scene, "energy bar").keys() == {"L_a", "J_m", "C_0"}
    assert arrows(scene, "loss").keys() == {"R_a", "b_m", "alpha_p"}
    assert {s.origin.port: s.origin.sign for s in scene.shapes if s.origin.part == "flow"} == {
        "V_a": 1,
        "Q_0": -1,
        "scale": 1,
    }


def test_mechanism_is_where_it_is_at_that_time_with_the_energy_of_its_bodies() -> None:
    model = tg.load("crank_rod_mechanism")
    run = tg.simulate(model, 0.2, progress=False)
    scenes = [draw(model, "mechanism", run=run, at=time).scene for time in (0.0, 0.2)]
    bodies = [[s.outline for s in scene.shapes if s.origin.part == "body" and isinstance(s, Curve)] for scene in scenes]
    assert bodies[0] != bodies[1]
    assert arrows(scenes[1], "energy bar").keys() == {"crank", "rod", "piston"}
    assert all(check_scene(scene) == () for scene in scenes)
    assert draw(model, "network", run=run, at=0.2).scene == scenes[1]


def test_narrow_figures_have_room_for_time_and_scale() -> None:
    assert check_scene(draw("quarter_car", "network", at=0.5).scene) == ()


def test_schematic_of_a_run_alone_needs_its_model() -> None:
    with pytest.raises(FigureError, match=r"F200(.|\n)*draw\(model, 'network', run=run\)"):
        draw(run_of("dc_motor_pump"), "network")
    with pytest.raises(FigureError, match="F181"):
        draw("rlc", "mechanism", at=0.1)


def test_schematic_is_animated() -> None:
    film = tg.animate("dc_motor_pump", "network", run=run_of("dc_motor_pump"), frames=3)
    assert len(film.frames) == 3
    assert film.frames[0] != film.frames[1]
