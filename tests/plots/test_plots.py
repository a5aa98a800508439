"""Plots are read without help: no text on another, none too small, ticks few and round, every curve named, no peak lost."""

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.errors import FigureError
from tellegen.core.shipped import example_names
from tellegen.plots import Line, Panel, Plot, bars_plot, panels_plot
from tellegen.plots.axes import MOST_TICKS, Array, engineering, fitted_axis
from tellegen.plots.curves import TOLERANCE, drawn_curve, thinned
from tellegen.plots.values import DOUBLE, SINGLE
from tellegen.scenes.geometry import Box
from tellegen.scenes.ink import check_scene
from tellegen.scenes.scene import Curve, Label, Trace, label_box

WIDTHS = st.sampled_from([SINGLE, DOUBLE])


def objections(plot: Plot) -> list[str]:
    """What an editor would object to."""
    shapes = plot.scene.shapes
    labels = [shape for shape in shapes if isinstance(shape, Label)]
    found = [problem.what for problem in check_scene(plot.scene)]
    found += [f"{label.text} is too small" for label in labels if label.size * 0.75 * plot.zoom < 7]
    found += (
        [f"{len({label.size for label in labels})} sizes of text"] if len({label.size for label in labels}) > 1 else []
    )
    for number, panel in enumerate(plot.panels, 1):
        own = [shape for shape in shapes if shape.origin.port == str(number)]
        named = {s.origin.element for s in own if isinstance(s, Label)}
        found += [f"{line.name} has no name" for line in panel.lines if line.name not in named]
        (frame,) = (box_of(s) for s in own if s.origin.part == "frame" and isinstance(s, Trace))
        for side in ("x", "y"):
            texts = [
                s
                for s in own
                if isinstance(s, Label) and s.origin.part.startswith(f"{side} ") and s.origin.part != "x title"
            ]
            found += [f"{len(texts)} ticks along {side}"] if len(texts) > MOST_TICKS + 1 else []
            found += ["no tick at the left"] if side == "y" and not texts else []
        for shape in own:
            if isinstance(shape, Trace | Curve) and shape.origin.part.startswith(("curve", "tick", "grid")):
                found += [f"{shape.origin} leaves its frame"] if not within(box_of(shape), frame.grown(3.5)) else []
    return found


def box_of(shape: Trace | Curve) -> Box:
    points = shape.points if isinstance(shape, Trace) else [p for _, ends in shape.outline for p in ends]
    return Box(
        min(x for x, _ in points), min(y for _, y in points), max(x for x, _ in points), max(y for _, y in points)
    )


def within(box: Box, outer: Box) -> bool:
    return outer.contains((box.left, box.top)) and outer.contains((box.right, box.bottom))


@cache
def run_of(name: str) -> tg.Run:
    return tg.simulate(name, progress=False, samples=300)


SHOWN = [
    "rlc",
    "dc_motor_pump",
    "corking_machine",
    pytest.param("buck_converter", marks=pytest.mark.slow),
    "bouncing_ball",
    "stick_slip",
    "pmsm",
    "quarter_car",
]


@pytest.mark.parametrize("width", [SINGLE, DOUBLE])
@pytest.mark.parametrize("name", SHOWN)
def test_plots_of_examples_leave_nothing_to_object_to(name: str, width: str) -> None:
    run = run_of(name)
    assert not objections(run.plot(max_width=width))
    assert not objections(run.plot(*run.names[:12], max_width=width))
    assert not objections(run.plot(*run.names[1:2], against=run.names[0], max_width=width))
    if len(run.t) < 2000:  # of many jumps the books of elements take a second run with denser rows
        assert not objections(run.energy.plot(max_width=width))


@pytest.mark.slow
@pytest.mark.parametrize("name", example_names())
def test_plots_of_all_examples_leave_nothing_to_object_to(name: str) -> None:
    if tg.load(name).experiment.until is not None:
        for width in (SINGLE, DOUBLE):
            assert not objections(run_of(name).plot(max_width=width))


@pytest.mark.parametrize("width", [SINGLE, DOUBLE])
@pytest.mark.parametrize("name", ["rlc", "dc_motor_pump", "pmsm", "quarter_car"])
def test_plots_of_analyses_leave_nothing_to_object_to(name: str, width: str) -> None:
    found = tg.analyse(name)
    for plot in (found.plot(max_width=width), found.plot_step(max_width=width), found.plot_poles(max_width=width)):
        assert not objections(plot)


def test_each_map_of_poles_has_numbers_of_its_own() -> None:
    """Slow poles beside fast ones: two maps, each with ticks along both axes and room for its own poles alone."""
    plot = tg.analyse("two_mass_drive").plot_poles(max_width="181 mm")
    numbers: dict[int, list[float]] = {}
    for shape in plot.scene.shapes:
        if isinstance(shape, Label) and shape.origin.part.startswith("x ") and shape.origin.part != "x title":
            numbers.setdefault(round(shape.at[1]), []).append(float(shape.text.replace("{-}", "-")))
    fast, slow = (max(map(abs, found)) for _, found in sorted(numbers.items()))
    assert fast > 100
    assert slow < 10


SIZES = st.sampled_from([1e-300, 1e-15, 1e-12, 1e-6, 1.0, 37.0, 1e4, 1e9, 1e300])
UNITS = st.sampled_from(["A", "Pa", "s", "rad/s", "m^3/s", "N*m", "", "1", "ohm", "K", "kg", "J/mol", "%"])


@st.composite
def channels(draw: st.DrawFn) -> Array:
    """Numbers as runs have them at their worst."""
    count = draw(st.sampled_from([1, 2, 7, 300]))
    size, start = draw(SIZES), draw(st.sampled_from([0.0, 0.0, 1.0, -5.0, 101325.0, 1e-12]))
    shape = draw(st.sampled_from(["constant", "ramp", "noise", "sine", "jump", "broken", "nothing", "inf"]))
    grid = np.linspace(0.0, 1.0, count)
    values = {
        "constant": np.zeros(count),
        "ramp": -grid,
        "noise": np.random.default_rng(draw(st.integers(0, 99))).standard_normal(count),
        "sine": np.sin(200 * grid),
        "jump": np.where(grid > 0.5, 1.0, 0.0),
        "broken": np.where(grid > 0.7, np.nan, grid),
        "nothing": np.full(count, np.nan),
        "inf": np.where(grid > 0.9, np.inf, grid),
    }[shape]
    return start + size * values


@given(found=st.lists(st.tuples(channels(), UNITS), min_size=1, max_size=5), width=WIDTHS, long=SIZES)
def test_any_channels_leave_nothing_to_object_to(found: list[tuple[Array, str]], width: str, long: float) -> None:
    stacks = [
        [Panel((Line(f"q_{k}", np.linspace(0.0, long, len(values)), values),), unit)]
        for k, (values, unit) in enumerate(found)
    ]
    assert not objections(panels_plot("random", stacks, max_width=width))


@given(values=st.lists(channels(), min_size=2, max_size=7), width=WIDTHS)
def test_any_curves_of_one_panel_are_all_named(values: list[Array], width: str) -> None:
    lines = tuple(Line(f"motor.q_{k}", np.linspace(0.0, 1.0, len(one)), one) for k, one in enumerate(values))
    plot = panels_plot("random", [[Panel(lines, "A")]], max_width=width)
    assert not objections(plot)
    assert sorted(name for panel in plot.panels for name in panel.names) == sorted(line.name for line in lines)
    for panel in plot.panels:
        looks = {
            (s.tone, s.dash) for s in plot.scene.shapes if isinstance(s, Trace) and s.origin.part.startswith("sample")
        }
        assert len(looks) >= len(panel.lines) or len(panel.lines) == 1


@given(values=channels().filter(lambda y: len(y) > 2 and bool(np.isfinite(y).all())), length=st.floats(5.0, 600.0))
def test_no_peak_of_a_curve_is_lost(values: Array, length: float) -> None:
    y = 100 * fitted_axis([values], "").share(values)
    drawn = drawn_curve(np.linspace(0.0, length, len(y)), y)
    points = [point for line in (*drawn.lines, *drawn.bands) for point in line] + [*drawn.dots]
    # Bands are thinned by a third of a line's width.
    assert min(v for _, v in points) == pytest.approx(y.min(), abs=0.25)
    assert max(v for _, v in points) == pytest.approx(y.max(), abs=0.25)


@given(values=channels().filter(lambda y: bool(np.isfinite(y).all())))
def test_a_thinned_curve_passes_its_points(values: Array) -> None:
    x, y = np.linspace(0.0, 300.0, len(values)), 100 * fitted_axis([values], "").share(values)
    line = np.array(thinned(x, y))
    # Between points in order of x a polyline is what `interp` says; it may be off by more than the distance where it is steep.
    steep = max((abs((d - b) / (c - a)) for (a, b), (c, d) in pairwise(line) if c > a), default=0.0)
    assert np.abs(np.interp(x, line[:, 0], line[:, 1]) - y).max() <= TOLERANCE * np.hypot(1.0, steep) + 1e-9


def test_what_swings_faster_than_can_be_seen_is_a_band_and_its_last_periods() -> None:
    t = np.linspace(0.0, 1.0, 80_001)
    line = Line("i", t, 2.0 + np.sin(2 * np.pi * 8000 * t) * (1 - 0.5 * t))
    for width in (SINGLE, DOUBLE):
        plot = panels_plot("fast", [[Panel((line,), "A")]], max_width=width)
        assert not objections(plot)
        assert [panel.window is None for panel in plot.panels] == [True, False]
        window = plot.panels[1].window
        assert window is not None
        assert window == pytest.approx((1 - 4 / 8000, 1.0), abs=0.1 / 8000)
        assert len(plot.svg(symbols=True)) < 60_000
        bands = [s for s in plot.scene.shapes if isinstance(s, Curve) and s.origin.part == "curve"]
        assert bands


@pytest.mark.parametrize(
    ("unit", "largest", "factor", "latex"),
    [
        ("Pa", 3.2e6, 1e6, r"\mathrm{MPa}"),
        ("s", 0.01, 1e-3, r"\mathrm{ms}"),
        ("s", 3600.0, 1.0, r"\mathrm{s}"),
        ("W", 2500.0, 1e3, r"\mathrm{kW}"),
        ("m^3/s", 2e-5, 1e-6, r"10^{-6}\,\mathrm{m^{3}/s}"),
        ("rad/s", 5e3, 1.0, r"\mathrm{rad/s}"),
        ("A", 0.3, 1.0, r"\mathrm{A}"),
        ("ohm", 4.7e3, 1e3, r"\mathrm{k}\Omega"),
        ("1", 0.5, 1.0, ""),
    ],
)
def test_units_are_those_that_engineers_read(unit: str, largest: float, factor: float, latex: str) -> None:
    found = engineering(unit, largest)
    assert found[0] == pytest.approx(factor)
    assert found[1] == latex
    assert engineering(unit, largest, given=True)[0] in (1.0, 10.0 ** round(np.log10(factor)))


def test_phases_have_ticks_at_parts_of_a_turn() -> None:
    axis = fitted_axis([np.array([-3.0, -262.0])], "deg", "phase")
    assert [tick.value for tick in axis.ticks()] == [-270, -180, -90, 0]
    few = fitted_axis([np.array([-3.0, -80.0])], "deg", "phase")
    assert [tick.value for tick in few.ticks()] == [-90, -45, 0]


def test_what_lies_far_from_zero_counts_from_a_round_number() -> None:
    axis = fitted_axis([np.array([101325.0, 101325.4])], "Pa")
    assert axis.start == pytest.approx(101325.0)
    assert "from" in axis.title
    assert all(len(tick.label) <= 4 for tick in axis.ticks())


def test_a_plot_is_written_in_every_format(tmp_path: Path) -> None:
    plot = run_of("rlc").plot(max_width=SINGLE, theme="mono")
    for suffix in (".svg", ".pdf", ".png", ".tex", ".json"):
        assert plot.save(tmp_path / f"run{suffix}").stat().st_size > 1000
    assert plot._repr_svg_().startswith("<svg")
    assert str(plot) == "Series RLC circuit: I; V_C"
    with pytest.raises(FigureError):
        plot.save(tmp_path / "run.bmp")


@pytest.mark.parametrize("look", [{"max_width": "wide"}, {"max_width": "3 kg"}, {"theme": "pink"}, {"max_width": 0}])
def test_a_look_that_is_none_is_refused(look: dict[str, object]) -> None:
    with pytest.raises(FigureError) as error:
        run_of("rlc").plot(**cast("Any", look))
    assert error.value.finding.code == "F102"


@given(
    groups=st.lists(st.lists(st.floats(-1e12, 1e12), max_size=6), min_size=1, max_size=2),
    width=WIDTHS,
    unit=st.sampled_from(["J", ""]),
)
def test_bars_leave_nothing_to_object_to(groups: list[list[float]], width: str, unit: str) -> None:
    named = {f"group {k}": {f"part_{k}{j}": value for j, value in enumerate(bars)} for k, bars in enumerate(groups)}
    plot = bars_plot("random", named, "energy", unit, max_width=width)
    assert not objections(plot)
    shown = {s.origin.element for s in plot.scene.shapes if isinstance(s, Label) and s.origin.part == "name"}
    assert shown == {name for bars in named.values() for name in bars}
    assert all(within(label_box(s), plot.scene.box) for s in plot.scene.shapes if isinstance(s, Label))
