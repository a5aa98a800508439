"""Sankey diagrams: the streams are the energy books, drawn to scale and apart from each other."""

from functools import cache

import pytest

import tellegen as tg
from tellegen.core.errors import FigureError
from tellegen.drawing import check_scene, draw
from tellegen.drawing.overlay.results import HEIGHT, energy_streams
from tellegen.scenes.scene import Curve, Label, Scene

NAMES = ("dc_motor_pump", "motor_heating", "quarter_car", "bouncing_ball", "loudspeaker", "crank_rod")


@cache
def run_of(name: str) -> tg.Run:
    return tg.simulate(name, progress=False)


def bars(scene: Scene) -> dict[tuple[str, str], Curve]:
    found = [s for s in scene.shapes if isinstance(s, Curve) and s.origin.part == "bar"]
    return {(s.origin.element, s.origin.port): s for s in found}


def height(curve: Curve) -> float:
    levels = [y for _, ends in curve.outline for _, y in ends]
    return max(levels) - min(levels)


@pytest.mark.parametrize("name", NAMES)
def test_what_goes_in_comes_out(name: str) -> None:
    streams = energy_streams(run_of(name))
    given, taken = (sum(s.energy for s in streams if s.gives == gives) for gives in (True, False))
    assert given == pytest.approx(taken, rel=2e-3)
    assert all(stream.energy > 0 for stream in streams)


@pytest.mark.parametrize("name", ["dc_motor_pump", "quarter_car", "loudspeaker"])
def test_streams_are_the_books(name: str) -> None:
    books, streams = run_of(name).energy, energy_streams(run_of(name))
    by_element = {s.name: s.energy if s.gives else -s.energy for s in streams if s.name}
    told = books.by_element()
    supplied = [by_element[s.name] for s in streams if s.manner == "supplied"]
    assert sum(supplied) == pytest.approx(books.supplied, rel=1e-3)
    for stream in streams:
        if stream.manner == "dissipated" and stream.name:
            assert -by_element[stream.name] == pytest.approx(told[stream.name])


def test_heat_that_stays_inside_is_no_stream() -> None:
    names = {stream.name for stream in energy_streams(run_of("motor_heating"))}
    assert "V_a" in names
    assert "G_h" in names
    assert not names & {"R_a", "R_a_heat", "b_m", "b_m_heat"}


def test_what_rounding_leaves_is_no_stream() -> None:
    streams = energy_streams(tg.simulate("buck_converter"))
    assert sorted(stream.name for stream in streams) == ["C", "R", "V"]


def test_impacts_take_energy() -> None:
    taken = [s for s in energy_streams(run_of("bouncing_ball")) if not s.gives]
    assert "impacts" in {stream.manner for stream in taken}


@pytest.mark.parametrize("name", NAMES)
def test_figure_is_well_drawn(name: str) -> None:
    assert check_scene(draw(run_of(name)).scene, []) == ()


def test_names_that_hang_low_push_their_energies_and_neighbours_away() -> None:
    """Parts of parts have long subscripts in their names, and many thin streams stand close."""
    model = tg.Network("Names that hang low")
    model.add("voltage source", "V_feed_line", "a", "gnd", signal="1 V")
    for k in range(12):
        model.add("resistor", f"rung_y{k}", "a", "gnd", value=f"{k + 1} ohm")
    assert check_scene(draw(tg.simulate(model, 1.0, progress=False)).scene, []) == ()


def test_bars_are_as_high_as_their_energy() -> None:
    run = run_of("dc_motor_pump")
    streams = energy_streams(run)
    total = max(sum(s.energy for s in streams if s.gives == gives) for gives in (True, False))
    drawn = bars(draw(run).scene)
    for stream in streams:
        if stream.name:
            side = "gives" if stream.gives else "takes"
            assert height(drawn[stream.name, side]) == pytest.approx(HEIGHT * stream.energy / total, abs=2e-3)


def test_givers_stand_left_of_takers_in_the_colour_of_their_domain() -> None:
    drawn = bars(draw(run_of("dc_motor_pump")).scene)
    left = {key[1]: curve.outline[0][1][0][0] for key, curve in drawn.items()}
    assert left["gives"] < left["takes"]
    assert drawn["V_a", "gives"].tone == "electrical"
    assert drawn["C_0", "takes"].tone == "hydraulic"


def test_energies_have_units() -> None:
    scene = draw(run_of("dc_motor_pump")).scene
    told = [s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == "energy"]
    assert told
    assert all(r"\mathrm{" in text and "J}" in text for text in told)


def test_a_model_is_simulated_for_its_diagram() -> None:
    assert draw("rlc", "sankey").scene == draw(tg.simulate("rlc", progress=False)).scene


def test_pale_streams_are_in_every_format() -> None:
    figure = draw(run_of("dc_motor_pump"))
    assert "#E8F0FA" in figure.svg()
    assert "fill=tellegen band" in figure.tikz()
    assert '"pale": true' in figure.json()
    assert figure.png(dpi=48).startswith(b"\x89PNG")


def test_run_without_energy_is_refused() -> None:
    model = tg.Network("Nothing moves")
    model.add("resistor", "R", "a", "gnd", value="1 ohm")
    model.add("capacitor", "C", "a", "gnd", value="1 F")
    with pytest.raises(FigureError, match="F206"):
        draw(tg.simulate(model, 1.0, progress=False))
