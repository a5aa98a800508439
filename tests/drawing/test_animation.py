"""Animations: the frames asked for in every format, the same each time, and pages that need nothing but a browser."""

import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

import tellegen as tg
from tellegen.core.errors import FigureError
from tellegen.core.shipped import example_names
from tellegen.drawing import Animation, animate, check_scene
from tellegen.notations.loading import as_model
from tellegen.notations.reading import read_model
from tellegen.scenes.geometry import outline_points
from tellegen.scenes.scene import Curve, Label, Shape

FRAMES = 6
BROWSER = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
]


@cache
def motor() -> Animation:
    return animate("dc_motor_pump", "bond", frames=FRAMES, seconds=3)


@cache
def crank() -> Animation:
    return animate("crank_rod_mechanism", "mechanism", frames=FRAMES)


def of_part(shapes: tuple[Shape, ...], part: str) -> list[Curve]:
    return [shape for shape in shapes if isinstance(shape, Curve) and shape.origin.part == part]


def test_frames_are_those_of_the_overlay() -> None:
    run = tg.simulate("dc_motor_pump", progress=False)
    moving = animate("dc_motor_pump", "pog", run=run, frames=FRAMES)
    assert len(moving.frames) == len(moving.times) == FRAMES
    assert (moving.times[0], moving.times[-1]) == (run.t[0], run.t[-1])
    still = tg.draw("dc_motor_pump", "pog", run=run, at=moving.times[2]).scene
    arrows = [
        {s.origin.port: s.origin.sign for s in of_part(shapes, "flow")} for shapes in (moving.frames[2], still.shapes)
    ]
    arrows[1].pop("scale")
    assert arrows[0] == arrows[1]


def test_gif_has_the_frames_asked_for() -> None:
    picture = Image.open(BytesIO(motor().gif(dpi=48)))
    assert getattr(picture, "n_frames", 1) == FRAMES
    assert picture.info["duration"] == 500
    assert picture.info["loop"] == 0
    assert picture.convert("RGB").getpixel((1, 1)) == (255, 255, 255)


def test_svg_shows_one_frame_at_a_time() -> None:
    root = ElementTree.fromstring(motor().svg())
    groups = [group for group in root if any(child.tag.endswith("animate") for child in group)]
    assert len(groups) == FRAMES
    assert [group.get("visibility", "visible") for group in groups] == ["visible", *["hidden"] * (FRAMES - 1)]
    timed = [next(child for child in group if child.tag.endswith("animate")) for group in groups]
    ends = [[float(key) for key in item.attrib["keyTimes"].split(";")] for item in timed]
    assert all(keys == sorted(keys) and keys[0] == 0 and keys[-1] <= 1 for keys in ends)
    assert {item.get("dur") for item in timed} == {"3s"}


def test_page_loads_nothing() -> None:
    page = motor().html()
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert page.count('class="frame') == FRAMES


def test_browser_opens_the_page_without_errors(system_tool: Callable[[str], str], tmp_path: Path) -> None:
    target = motor().save(tmp_path / "motor.html")
    browser = [system_tool("chromium"), *BROWSER, f"--user-data-dir={tmp_path}/browser"]
    done = subprocess.run(
        [*browser, "--virtual-time-budget=2000", "--dump-dom", target.as_uri()],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "CONSOLE" not in done.stderr
    shown = re.findall(r'class="frame( shown)?"', done.stdout)
    assert len(shown) == FRAMES
    assert shown.count(" shown") == 1
    assert ">Pause<" in done.stdout


def test_output_is_the_same_every_time() -> None:
    again = animate("dc_motor_pump", "bond", frames=FRAMES, seconds=3)
    assert again.svg() == motor().svg()
    assert again.html() == motor().html()
    assert again.gif(dpi=48) == motor().gif(dpi=48)


@pytest.mark.parametrize("suffix", [".gif", ".svg", ".html"])
def test_suffix_chooses_the_format(suffix: str, tmp_path: Path) -> None:
    target = motor().save(tmp_path / f"film{suffix}")
    beginning = {".gif": b"GIF89a", ".svg": b"<svg", ".html": b"<!DOCTYPE html>"}[suffix]
    assert target.read_bytes().startswith(beginning)


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FigureError, match=r"F202.*\n.*\n.*\.gif, \.svg, \.html, \.mp4"):
        motor().save(tmp_path / "film.pdf")
    with pytest.raises(FigureError, match="has no suffix"):
        motor().save(tmp_path / "film")
    with pytest.raises(FigureError, match="F105"):
        motor().save(tmp_path / "nowhere" / "film.svg")


def test_video_without_ffmpeg_offers_other_formats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(FigureError, match=r"F203") as caught:
        motor().save(tmp_path / "film.mp4")
    assert ".gif" in str(caught.value)
    assert ".html" in str(caught.value)
    assert "pip install 'tellegen[video]'" in str(caught.value)


def test_video_is_written_by_ffmpeg(tmp_path: Path) -> None:
    if shutil.which("ffmpeg") is None:
        pytest.importorskip("imageio_ffmpeg")
    film = motor().save(tmp_path / "film.mp4").read_bytes()
    assert b"ftyp" in film[:16]
    assert film.index(b"moov") < film.index(b"mdat")  # it plays while it is loaded


def test_ffmpeg_that_fails_is_told_in_its_own_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho 'no such codec' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(program))
    with pytest.raises(FigureError, match=r"F203.*ffmpeg wrote no video: no such codec"):
        motor().save(tmp_path / "film.mp4")


@pytest.mark.parametrize("frames", [1, 0, 1001, 2.5, True])
def test_frames_that_make_no_film_are_refused(frames: int) -> None:
    with pytest.raises(FigureError, match="F204"):
        animate("rlc", "bond", frames=frames)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_films_that_last_no_time_are_refused(seconds: float) -> None:
    with pytest.raises(FigureError, match="F204"):
        animate("rlc", "bond", seconds=seconds)


def test_notation_without_an_animation_is_refused() -> None:
    with pytest.raises(FigureError, match="F200"):
        animate("rlc", "equations")


# -- mechanisms ------------------------------------------------------------------------------------------------------------------


def test_bodies_move_and_rails_stay() -> None:
    moving = crank()
    bodies = [of_part(shapes, "body") for shapes in moving.frames]
    assert len({len(found) for found in bodies}) == 1
    assert bodies[0] != bodies[1]
    rails = {s.origin.element for s in of_part(moving.still.shapes, "joint")}
    assert rails
    assert all(not rails & {s.origin.element for s in of_part(shapes, "joint")} for shapes in moving.frames)


def test_trails_lead_to_where_points_are() -> None:
    assert of_part(crank().frames[0], "trail") == []
    ways = {s.origin.port: [p for _, ends in s.outline for p in ends] for s in of_part(crank().still.shapes, "way")}
    assert ways
    last = len(crank().frames) - 1
    for number, shapes in enumerate(crank().frames[1:], start=1):
        for trail in of_part(shapes, "trail"):
            way = ways[trail.origin.port]
            assert trail.outline[-1][1][0] == way[number * (len(way) - 1) // last]


def test_trails_of_what_turns_fast_have_no_corners() -> None:
    for way in of_part(animate("crank_rod_mechanism", "mechanism", frames=3).still.shapes, "way"):
        points = [p for _, ends in way.outline for p in ends]
        assert max(math.dist(*piece) for piece in pairwise(points)) < 16


def test_everything_is_inside_the_figure() -> None:
    moving = crank()
    box = moving.still.box
    for shapes in (moving.still.shapes, *moving.frames):
        for shape in shapes:
            if isinstance(shape, Curve):
                assert all(box.contains(point) for _, ends in shape.outline for point in ends)


def test_time_is_told_in_every_frame() -> None:
    told = [[s.text for s in shapes if isinstance(s, Label) and s.origin.part == "time"] for shapes in crank().frames]
    assert all(len(texts) == 1 for texts in told)
    assert len({texts[0] for texts in told}) == FRAMES


def test_a_moving_mechanism_shows_powers_and_energies_beside_it() -> None:
    animation = animate("crank_rod_mechanism", "mechanism", frames=3)
    named = {s.origin.element for s in animation.still.shapes if isinstance(s, Label) and s.origin.part == "name"}
    assert {"crank", "rod", "piston", "tau"} <= named
    assert any(shape.origin.part == "scale" for shape in animation.still.shapes)
    shown = [of_part(frame, "stored energy") for frame in animation.frames]
    assert any(shown)
    assert shown[1] != shown[2], "energies change from frame to frame"
    assert [sum(s.origin.part == "time" for s in frame) for frame in animation.frames] == [1, 1, 1]
    assert check_scene(animation.figure(1).scene) == ()


def test_mechanism_needs_its_model() -> None:
    with pytest.raises(FigureError, match="F181"):
        animate("rlc", "mechanism")
    run = tg.simulate("five_bar", progress=False)
    with pytest.raises(FigureError, match=r"F200(.|\n)*animate\(model, 'mechanism', run=run\)"):
        animate(run, "mechanism")


# Networks in motion

SWINGING = """
system: Two masses
network:
  F:   {force source: [frame, a]}
  m_1: {mass: [a], m: 1 kg}
  K_0: {spring: [a, frame], K: 200 N/m}
  K:   {spring: [a, b], K: 100 N/m}
  d:   {damper: [a, b], b: 1 N*s/m}
  m_2: {mass: [b], m: 2 kg}
  d_2: {damper: [b, frame], b: 1 N*s/m}
experiment: {until: 2 s, inputs: {F: "step(10 N, 0.1 s)"}}
"""


def extent(shapes: tuple[Shape, ...], element: str, axis: int) -> tuple[float, float]:
    """The least and the largest coordinate of a symbol."""
    curves = [s for s in shapes if isinstance(s, Curve) and s.origin.element == element and s.origin.part == "symbol"]
    values = [point[axis] for curve in curves for point in outline_points(curve.outline)]
    return min(values), max(values)


def units_per_metre(moving: Animation) -> float:
    """What the figure says of its motion."""
    bar, *_ = of_part(moving.still.shapes, "motion scale")
    (told,) = [s.text for s in moving.still.shapes if isinstance(s, Label) and s.origin.part == "motion scale"]
    length = re.match(r"([0-9.]+)\\,\\mathrm\{(\w*)m\}", told)
    assert length is not None
    (start, end) = outline_points(bar.outline)
    return (end[0] - start[0]) / (float(length[1]) * {"": 1.0, "m": 1e-3, r"\mu ": 1e-6}[length[2]])


@pytest.mark.parametrize(("model", "axis", "bodies", "between"), [
    (SWINGING, 0, {"m_1": "v_m_1", "m_2": "v_m_2"}, {"K": ("m_1", "m_2"), "d": ("m_1", "m_2"), "K_0": ("m_1", "")}),
    ("quarter_car", 1, {"m_u": "v_u", "m_s": "v_s"}, {"K_s": ("m_s", "m_u"), "b_s": ("m_s", "m_u")}),
])  # fmt: skip
def test_masses_move_as_far_as_the_figure_says(
    model: str, axis: int, bodies: dict[str, str], between: dict[str, tuple[str, str]]
) -> None:
    read = read_model(model) if "\n" in model else as_model(model)
    run = tg.simulate(read, progress=False)
    moving = animate(read, "network", run=run, frames=9)
    scale = units_per_metre(moving) * (1 if axis == 0 else -1)
    start = {name: extent(moving.frames[0], name, axis) for name in (*bodies, *between)}
    moved: dict[str, list[float]] = {"": [0.0] * 9}
    for name, velocity in bodies.items():
        speed = run.values(velocity)
        way = [0.0, *((speed[1:] + speed[:-1]) / 2 * (run.t[1:] - run.t[:-1])).cumsum()]
        at = [int(abs(run.t - time).argmin()) for time in moving.times]
        moved[name] = [extent(shapes, name, axis)[0] - start[name][0] for shapes in moving.frames]
        assert max(map(abs, moved[name])) > 8  # it can be seen
        assert moved[name] == pytest.approx([scale * way[k] for k in at], abs=0.7)
    # What is between two bodies reaches from one to the other all the time.
    for name, (first, second) in between.items():
        for k, shapes in enumerate(moving.frames):
            low, high = extent(shapes, name, axis)
            assert low - start[name][0] == pytest.approx(moved[first][k], abs=0.01)
            assert high - start[name][1] == pytest.approx(moved[second][k], abs=0.01)
            assert check_scene(moving.figure(k).scene) == ()


BODIES = [
    name for name in example_names()
    if as_model(name).mechanism is None and as_model(name).experiment is not None
    and any(e.kind.name in ("mass", "spring") for e in as_model(name).elements)
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BODIES)
def test_networks_in_motion_keep_their_wires(name: str) -> None:
    moving = animate(name, "network", frames=5)
    for k in range(5):
        assert check_scene(moving.figure(k).scene) == ()
        assert moving.still.box.contains((moving.still.box.left + 1, moving.still.box.top + 1))


GEARED = """
system: geared
network:
  tau: {torque source: [a]}
  J_1: {inertia: [a], J: 0.1}
  k: {torsion spring: [a, b], K: 50}
  J_2: {inertia: [b], J: 0.2}
  g: {gear: [b, frame, c, frame], n: 3}
  J_3: {inertia: [c], J: 0.2}
experiment: {until: 2, inputs: {tau: 3}}
"""


def test_discs_and_wheels_turn_with_their_shafts() -> None:
    read = read_model(GEARED)
    run = tg.simulate(read, progress=False)
    moving = animate(read, "network", run=run, frames=21)
    (words,) = [s.text for s in moving.still.shapes if isinstance(s, Label) and s.origin.part == "turning scale"]
    slower = float(re.search(r"[0-9.]+", words)[0])  # type: ignore[index]
    speeds = {name: run.values(name) for name in ("omega_J_1", "omega_J_2", "omega_J_3")}
    ways = {n: [0.0, *((w[1:] + w[:-1]) / 2 * (run.t[1:] - run.t[:-1])).cumsum()] for n, w in speeds.items()}
    at = [int(abs(run.t - time).argmin()) for time in moving.times]
    for name in ("J_1", "J_2", "J_3"):
        top, bottom = extent(moving.still.shapes, name, 1)
        for k, shapes in enumerate(moving.frames):
            (mark,) = [s for s in of_part(shapes, "turning") if s.origin.element == name]
            level = ((top + bottom) / 2 - outline_points(mark.outline)[0][1]) / ((bottom - top) / 2)
            assert level == pytest.approx(-math.sin(ways[f"omega_{name}"][at[k]] / slower), abs=0.05)
    # The two wheels of a gear turn with their own shafts.
    wheels = [[s for s in of_part(shapes, "turning") if s.origin.element == "g"] for shapes in moving.frames]
    assert all([s.origin.port for s in pair] == ["b", "c"] for pair in wheels)
    assert check_scene(moving.figure(20).scene) == ()


def test_what_does_not_move_has_no_scale_of_motion() -> None:
    assert not of_part(animate("rlc", "network", frames=2).still.shapes, "motion scale")
