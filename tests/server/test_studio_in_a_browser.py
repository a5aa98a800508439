"""The studio in Chromium, and in Firefox, as a person uses it: the first two minutes, a model from an empty page, keys alone, two
tabs."""

import io
import json
import logging
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import tellegen as tg
from support.firefox import firefox
from support.studio import (
    RunningStudio,
    at,
    chromium,
    double_click,
    downloaded,
    fill,
    needs_pages,
    opened_example,
    running_studio,
    studio_page,
)
from support.wheel import bare_environment, installed_wheel, quietly

pytestmark = needs_pages
LOG = logging.getLogger("studio")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[RunningStudio]:
    with running_studio(folder) as running:
        yield running


@pytest.fixture(scope="module", params=["checkout", pytest.param("wheel", marks=pytest.mark.slow)])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """The studio of a new user: of this checkout, and of the wheel, installed where nothing of the checkout is known."""
    folder = tmp_path_factory.mktemp("new_user")
    if request.param == "checkout":
        with running_studio(folder) as running:
            yield running
        return
    place = tmp_path_factory.mktemp("wheel")
    python, package = installed_wheel(place)
    assert (package / "server" / "client" / "index.html").is_file(), "the wheel has no pages"
    bare = bare_environment(place, PATH=os.environ["PATH"])
    assert str(package) in quietly(str(python), "-c", "import tellegen; print(tellegen.__file__)", **bare)
    with running_studio(folder, python=str(python), environment=bare) as running:
        yield running


@pytest.fixture(params=["chromium", pytest.param("firefox", marks=pytest.mark.slow)])
def browser(request: pytest.FixtureRequest, system_tool: Callable[[str], str]) -> Iterator[Browser]:
    start = {"chromium": chromium, "firefox": firefox}[request.param]
    with start(system_tool(request.param)) as running:
        yield running


def _states(page: Page, text: str) -> None:
    expect(at(page, "states")).to_contain_text(text)


def _poles(page: Page) -> str:
    return at(page, "poles").inner_text()


def clock() -> Callable[[str], None]:
    """Says what was reached, and how long it took."""
    began = time.perf_counter()
    return lambda what: LOG.warning("%6.2f s  %s", time.perf_counter() - began, what)


@pytest.mark.slow
def test_the_first_two_minutes_of_a_new_user(browser: Browser, installed: RunningStudio) -> None:
    folder, said = installed.folder, clock()
    with studio_page(browser, installed.url) as page:
        expect(page.locator(".cards li")).to_have_count(len(tg.examples()))
        said("the gallery is there")
        opened_example(page, "dc_motor_pump")
        for view in ("network", "bond", "pog"):
            expect(at(page, f"pane-{view}").locator("svg [data-element=L_a]").first).to_be_attached()
        expect(at(page, "pane-equations").locator("math").first).to_be_visible()
        assert at(page, "plots").locator("canvas").count() == 3
        said("four views, and the first run is plotted")

        at(page, "pane-bond").locator("[data-element=J_m][data-part=name] > .area").click(force=True)
        for view in ("network", "pog", "equations"):
            expect(at(page, f"pane-{view}").locator(".lit").first).to_be_attached()
        said("one element lights up everywhere")

        at(page, "tab-poles").click()
        before = _poles(page)
        slider = at(page, "slider-J_m")
        box = slider.bounding_box()
        assert box is not None
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] / 2, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.8, middle, steps=6)
        expect(at(page, "poles")).not_to_have_text(before)
        assert not (folder / "dc_motor_pump.yaml").exists()
        said("poles move while the slider is held, and nothing is written")
        page.mouse.up()
        expect(at(page, "saved")).to_have_text("saved")
        written = tg.read(folder / "dc_motor_pump.yaml").parameters["J_m"].expression
        assert written is not None
        assert written.evaluate({}) > 2e-3
        assert "# rotor and pump" in (folder / "dc_motor_pump.yaml").read_text()
        at(page, "undo").click()
        expect(at(page, "value-J_m")).to_have_value("1e-3 kg*m^2")

        at(page, "zero-J_m").click()
        _states(page, "2 states: I_a, P_0")
        expect(at(page, "limit-states")).to_contain_text("3 states become 2")
        expect(at(page, "limit").locator("svg")).to_be_visible()
        expect(at(page, "loss")).to_contain_text("% of its size")
        said("the limit made the model smaller, with its cost")
        at(page, "undo").click()
        _states(page, "3 states: I_a, omega_m, P_0")

        at(page, "pane-network").locator("[data-element=R_a][data-part=name] > .area").click(force=True)
        formula = at(page, "pane-equations").inner_text()
        page.keyboard.press("Delete")
        expect(at(page, "element-R_a")).to_have_count(0)
        expect(at(page, "pane-equations")).not_to_have_text(formula)
        said("an element is gone, and the equations follow")
        at(page, "undo").click()
        expect(at(page, "element-R_a")).to_have_count(1)
        assert (folder / "dc_motor_pump.yaml").read_text() == _example("dc_motor_pump")

        at(page, "power").click()
        expect(at(page, "pane-network").locator("g.flow path").first).to_be_attached()
        early = at(page, "pane-network").locator("g.flow").inner_html()
        fill(at(page, "scrubber"), "500")
        assert at(page, "pane-network").locator("g.flow").inner_html() != early
        at(page, "tab-power").click()
        expect(at(page, "residual")).to_contain_text("of the energy handled")
        said("power flows, and the books are closed")

        expect(at(page, "pane-pog").locator("g.flow path").first).to_be_attached()
        with_powers = _exported(page, "pog-svg", folder)
        at(page, "power").click()
        for form in ("svg", "tex"):
            wanted = folder / f"wanted.{form}"
            tg.draw(folder / "dc_motor_pump.yaml", "pog").save(wanted)
            assert _exported(page, f"pog-{form}", folder) == wanted.read_bytes()
        assert with_powers != (folder / "wanted.svg").read_bytes(), "what is seen has powers"
        said("the POG is a file, the same as 'draw' writes")


def _tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Go to what has a test id by the Tab key alone: there are bars of the browser between the end of a page and its start."""
    for _ in range(250):
        if page.evaluate("document.activeElement.dataset.testid") == name:
            return
        page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"the Tab key never reaches {name}")


@pytest.mark.slow
def test_the_first_two_minutes_by_keys_alone(browser: Browser, studio: RunningStudio, folder: Path) -> None:
    said = clock()
    with studio_page(browser, studio.url) as page:
        _tab_to(page, "search")
        page.keyboard.type("dc_motor_pump")
        _tab_to(page, "open-example:dc_motor_pump")
        page.keyboard.press("Enter")
        expect(at(page, "plots").locator("canvas").first).to_be_visible()
        said("the example is open, and its first run is plotted")
        _tab_to(page, "tab-poles")
        page.keyboard.press("Enter")
        before = _poles(page)
        _tab_to(page, "slider-J_m", back=True)
        page.keyboard.down("PageUp")
        expect(at(page, "poles")).not_to_have_text(before)
        page.keyboard.up("PageUp")
        expect(at(page, "saved")).to_have_text("saved")
        page.keyboard.press("Escape")
        said("the slider moved the poles")
        _tab_to(page, "undo", back=True)
        page.keyboard.press("Enter")
        expect(at(page, "value-J_m")).to_have_value("1e-3 kg*m^2")
        _tab_to(page, "slider-J_m")
        page.keyboard.press("Home")
        _states(page, "2 states: I_a, P_0")
        said("the limit is taken")
        _tab_to(page, "undo", back=True)
        page.keyboard.press("Enter")
        _states(page, "3 states: I_a, omega_m, P_0")
        _tab_to(page, "element-R_a")
        page.keyboard.press("Enter")
        page.keyboard.press("Delete")
        expect(at(page, "element-R_a")).to_have_count(0)
        page.keyboard.press("Control+z")
        expect(at(page, "element-R_a")).to_have_count(1)
        said("an element went and came back")
        page.keyboard.press("p")
        expect(at(page, "pane-network").locator("g.flow path").first).to_be_attached()
        _tab_to(page, "scrubber")
        early = at(page, "pane-network").locator("g.flow").inner_html()
        for _ in range(20):
            page.keyboard.press("PageUp")
        expect(at(page, "scrub-time")).not_to_have_text("t = 0.00 s")
        assert at(page, "pane-network").locator("g.flow").inner_html() != early
        _tab_to(page, "export", back=True)
        page.keyboard.press("Enter")
        _tab_to(page, "export-pog-tex")
        name, _ = downloaded(page, lambda: page.keyboard.press("Enter"))
        assert name.endswith(".tex")
        said("the POG is a file")


def _exported(page: Page, what: str, folder: Path) -> bytes:
    """The file of an entry of the menu."""
    at(page, "export").click()
    name, data = downloaded(page, lambda: at(page, f"export-{what}").click())
    (folder / name).write_bytes(data)
    return data


def _example(name: str) -> str:
    from tellegen.core.shipped import SYSTEMS

    return (SYSTEMS / f"{name}.yaml").read_text()


def test_a_mass_spring_damper_from_an_empty_page_by_keys_alone(browser: Browser, installed: RunningStudio) -> None:
    folder, said = installed.folder, clock()
    with studio_page(browser, installed.url) as page:
        expect(at(page, "new-network")).to_be_visible()
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.dataset.testid") == "new-network":
                break
        page.keyboard.press("Enter")
        expect(page.get_by_text("An empty page.").first).to_be_visible()
        page.keyboard.press("/")
        for typed, name in (
            ("mass n1 2 kg", "m_1"),
            ("spring n1 frame 50 N/m", "K_1"),
            ("damper n1 frame 4 N*s/m", "b_1"),
            ("force source frame n1", "F_1"),
        ):
            page.keyboard.type(typed)
            page.keyboard.press("Enter")
            expect(at(page, f"element-{name}")).to_be_visible()
        page.keyboard.press("Escape")
        _states(page, "2 states")
        said("four elements are drawn")
        page.keyboard.press("Control+Enter")
        expect(at(page, "plots").locator("canvas").first).to_be_visible()
        said("its curves are there")
        run = tg.simulate(folder / "model.yaml")
        assert run.final()["v_m_1"] == pytest.approx(0.0, abs=1e-3)
        assert run.final()["F_K_1"] == pytest.approx(1.0, abs=1e-3)
        page.keyboard.press("Control+z")
        expect(at(page, "element-F_1")).to_have_count(0)
        page.keyboard.press("Control+Shift+z")
        expect(at(page, "element-F_1")).to_have_count(1)


@pytest.mark.slow
def test_an_rc_filter_as_a_bond_graph_from_an_empty_page(browser: Browser, installed: RunningStudio) -> None:
    folder, said = installed.folder, clock()
    with studio_page(browser, installed.url) as page:
        at(page, "new-bond").click()
        expect(page.get_by_text("An empty page.").first).to_be_visible()
        page.keyboard.press("/")
        # Typed in one go: each one is put at the junction of the one before, however long that takes.
        for kind in ("Se", "R", "C"):
            page.keyboard.type(kind)
            page.keyboard.press("Enter")
        expect(at(page, "element-C_1")).to_be_visible()
        page.keyboard.press("Escape")
        expect(at(page, "pane-bond").locator("svg [data-element=C_1]").first).to_be_attached()
        _states(page, "1 state")
        expect(at(page, "plots").locator("canvas").first).to_be_visible()
        said("its curves are there")
        found = tg.analyse(folder / "bond_graph.yaml").poles
        assert [pole.value for pole in found] == pytest.approx([-1.0])


BOOST = """voltage source a gnd 12 V
inductor a b 100 uH
switch b gnd
diode b c
capacitor c gnd 100 uF
resistor c gnd 10 ohm"""


@pytest.mark.slow
def test_a_boost_converter_from_an_empty_page_steps_its_voltage_up(browser: Browser, tmp_path: Path) -> None:
    with running_studio(tmp_path) as studio, studio_page(browser, studio.url) as page:
        # Who clicks twice wants one model.
        at(page, "new-network").dblclick()
        expect(page.get_by_text("An empty page.").first).to_be_visible()
        page.keyboard.press("/")
        for line in BOOST.splitlines():
            page.keyboard.type(line)
            page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        expect(at(page, "element-R_1")).to_be_visible()
        # Ten seconds are many for this: the studio says how long the motion lasts.
        # Five times RC with the diode blocking, five times 2 RC with it conducting.
        expect(at(page, "suits")).to_have_text(re.compile(r"^(5|10) ms\?$"))
        at(page, "suits").click()
        expect(at(page, "until")).to_have_value(re.compile("^(5|10) ms$"))
        at(page, "element-S_1").click()
        at(page, "more").select_option("control")
        page.keyboard.type("pulse(1, 0 s, 10 us, 20 us)")
        page.keyboard.press("Enter")
        expect(at(page, "setting-control")).to_have_value("pulse(1, 0 s, 10 us, 20 us)")
        at(page, "element-L_1").click()
        page.keyboard.press("Shift+R")
        expect(at(page, "undo")).to_have_attribute("title", re.compile("rotate L_1"))
        model = tg.read(tmp_path / "model.yaml")
        assert model.turned == {"L_1": 90}
        run = tg.simulate(model, until=20e-3)
        # Half of each period: twice the voltage, in the mean.
        late = run.t > 0.015
        assert run.values("V_C_1")[late].mean() == pytest.approx(24, rel=0.03)
    assert [one.name for one in tmp_path.glob("*.yaml")] == ["model.yaml"]


def _middle(page: Page, node: str) -> tuple[float, float]:
    """A place on the wire of a node."""
    wire = at(page, "pane-network").locator(f"[data-port={node}]").first.bounding_box()
    assert wire is not None
    return wire["x"] + wire["width"] / 2, wire["y"] + wire["height"] / 2


@pytest.mark.slow
def test_letters_insert_wires_are_dragged_and_values_are_typed_on_the_figure(
    browser: Browser, studio: RunningStudio, folder: Path
) -> None:
    file = folder / "apart.yaml"
    file.write_text(
        "system: Apart\nparameters: {m: 1 kg, b: 2 N*s/m}\nnetwork:\n  F: {force source: [frame, n1]}\n  m: {mass: [n1]}\n"
        "  b: {damper: [n9, frame]}\nexperiment: {until: 5 s, inputs: {F: step(1 N)}}\n"
    )
    with studio_page(browser, studio.url) as page:
        at(page, "open-apart.yaml").click()
        expect(at(page, "element-b")).to_be_visible()
        expect(at(page, "pane-network").locator("[data-port=n9]").first).to_be_attached()
        page.mouse.move(*_middle(page, "n9"))
        page.mouse.down()
        page.mouse.move(*_middle(page, "n1"), steps=8)
        expect(page.locator("line.wiring")).to_be_attached()
        page.mouse.up()
        expect(page.locator("line.wiring")).to_have_count(0)
        expect(at(page, "notices")).to_contain_text("n9 is n1 now")
        # On the figure: a double click at the name, then the value.
        double_click(at(page, "pane-network").locator("[data-element=b][data-part=name] > .area"))
        expect(at(page, "value-b")).to_be_focused()
        page.keyboard.type("4 N*s/m")
        page.keyboard.press("Enter")
        expect(at(page, "notices")).not_to_contain_text("cannot")
        page.locator("h1").click()
        # K is the letter of springs where the selected element is translational.
        at(page, "element-b").click()
        page.keyboard.press("k")
        expect(page.locator(".insert [aria-selected=true]")).to_contain_text("spring")
        page.keyboard.press("Enter")
        expect(at(page, "element-K_1")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press(".")
        expect(at(page, "element-K_2")).to_be_visible()
        at(page, "element-m").click()
        page.keyboard.press("Control+d")
        expect(at(page, "element-m_1")).to_be_visible()
        at(page, "element-K_2").click()
        fill(at(page, "terminal-0"), "far")
        at(page, "terminal-0").press("Enter")
        expect(at(page, "pane-network").locator("[data-port=far]").first).to_be_attached()
        model = tg.read(file)
        nodes = {one.name: one.nodes for one in model.elements}
        assert nodes["b"] == nodes["K_1"] == ("n1", "frame")
        assert nodes["m_1"] == nodes["m"]
        assert nodes["K_2"] == ("far", "frame")
        assert "b: 4 N*s/m" in file.read_text()


@pytest.mark.slow
def test_the_ends_of_a_slider_are_the_limits(browser: Browser, studio: RunningStudio, folder: Path) -> None:
    file = folder / "motor.yaml"
    file.write_text(_example("dc_motor_pump"))
    with studio_page(browser, studio.url) as page:
        at(page, "open-motor.yaml").click()
        _states(page, "3 states: I_a, omega_m, P_0")
        box = at(page, "slider-J_m").bounding_box()
        assert box is not None
        y, left, right = box["y"] + box["height"] / 2, box["x"] + 2, box["x"] + box["width"] - 2
        page.mouse.move(box["x"] + box["width"] / 2, y)
        page.mouse.down()
        # At the end it is seen what would go; away from there nothing has happened.
        page.mouse.move(left, y, steps=5)
        expect(at(page, "limit-states")).to_contain_text("3 states would become 2")
        expect(at(page, "loss")).to_contain_text("% of its size")
        page.mouse.move(left + 40, y, steps=3)
        expect(at(page, "limit")).to_have_count(0)
        expect(at(page, "plots")).to_be_visible()
        page.mouse.move(right, y, steps=5)
        expect(at(page, "limit").locator("h2")).to_have_text("J_m → ∞")
        page.mouse.move(left, y, steps=5)
        expect(at(page, "limit").locator("h2")).to_have_text("J_m → 0")
        assert file.read_text() == _example("dc_motor_pump")
        page.mouse.up()
        _states(page, "2 states: I_a, P_0")
        expect(at(page, "limit-states")).to_contain_text("3 states become 2")
        assert "J_m" not in {one.name for one in tg.read(file).elements}
        at(page, "undo").click()
        _states(page, "3 states: I_a, omega_m, P_0")
        assert file.read_text() == _example("dc_motor_pump"), "one step brings all of it back"
        # The same by keys: Home is the end, and letting go of it takes the limit; leaving the slider there does not.
        at(page, "slider-J_m").focus()
        page.keyboard.down("Home")
        expect(at(page, "limit-trial")).to_be_visible()
        page.keyboard.up("Home")
        _states(page, "2 states: I_a, P_0")
        at(page, "undo").click()
        _states(page, "3 states: I_a, omega_m, P_0")


@pytest.mark.slow
def test_a_value_of_zero_has_a_slider_and_a_formula_says_what_moves_it(
    browser: Browser, studio: RunningStudio, folder: Path
) -> None:
    file = folder / "offset.yaml"
    file.write_text(
        "system: Offset\nparameters:\n  m: 1 kg\n  F0: 0 N\n  Fs: 20 N\n  b: 0 N*s/m\n  D: 0.5\n  K: 4 N/m\n  h: K*s\n"
        "  s: 2*D\nnetwork:\n  F: {force source: [frame, n1]}\n  m: {mass: [n1]}\n  b: {damper: [n1, frame]}\n"
        "  K1: {spring: [n1, frame], K: h}\nexperiment: {until: 5 s, inputs: {F: F0 + Fs}}\n"
    )
    with studio_page(browser, studio.url) as page:
        at(page, "open-offset.yaml").click()
        expect(at(page, "element-b")).to_be_visible()
        # A force goes both ways, as far as the other force; the constant of a damper is never negative.
        for name, place, text in (("F0", "100", "-10 N"), ("b", "200", "0.5 N*s/m")):
            slider = at(page, f"slider-{name}")
            fill(slider, place)
            expect(slider).to_have_attribute("aria-valuetext", text)
            slider.blur()
            expect(at(page, f"value-{name}")).to_have_value(text)
        expect(at(page, "follows-h")).to_have_text("a formula; it moves with KD")
        at(page, "follows-h").get_by_role("button", name="D").click()
        expect(at(page, "slider-D")).to_be_focused()
        expect(at(page, "slider-h")).to_have_count(0)


@pytest.mark.slow
def test_an_element_that_a_finding_speaks_of_has_a_sign_with_its_words(
    browser: Browser, studio: RunningStudio, folder: Path
) -> None:
    (folder / "signs.yaml").write_text(_example("dc_motor_pump"))
    with studio_page(browser, studio.url) as page:
        at(page, "open-signs.yaml").click()
        expect(at(page, "element-L_a")).to_be_visible()
        for view in ("network", "pog", "bond"):
            expect(at(page, f"pane-{view}").locator("svg")).to_be_visible()
        expect(page.locator(".badge")).to_have_count(0)
        (folder / "signs.yaml").write_text(_example("dc_motor_pump").replace("{inductor:", "{inducto:"))
        sign = at(page, "pane-network").get_by_test_id("badge-L_a")
        expect(sign).to_have_class("badge error")
        expect(sign).to_have_attribute(
            "aria-label", re.compile("'inducto' is not a kind of element.*did you mean 'inductor'")
        )
        expect(page.locator(".badge")).to_have_count(3)
        sign.click()
        # What follows from it is told, and has no remedy of its own.
        expect(page.locator(".finding")).to_have_count(2)
        expect(page.locator(".finding").nth(1)).to_contain_text("mend L_a first")
        expect(at(page, "remedy")).to_have_text(["Write 'inductor'"])
        at(page, "remedy").click()
        expect(page.locator(".badge")).to_have_count(0)
        # Two sources that fight: a sign at each of them, and in dark colours too.
        at(page, "theme").click()
        fights = "\n  V_z: {voltage source: [a, gnd]}\n  L_a:"
        (folder / "signs.yaml").write_text(_example("dc_motor_pump").replace("\n  L_a:     {", f"{fights} {{"))
        for name in ("V_a", "V_z"):
            expect(at(page, "pane-network").get_by_test_id(f"badge-{name}")).to_have_class("badge error")


@pytest.mark.slow
def test_curves_over_each_other_and_on_logarithmic_axes(browser: Browser, studio: RunningStudio) -> None:
    with studio_page(browser, studio.url) as page:
        opened_example(page, "dc_motor_pump")
        at(page, "over").select_option("I_a")
        expect(at(page, "phase")).to_have_count(3)
        # A variable over itself is the diagonal.
        points = at(page, "phase").first.locator("polyline").get_attribute("points") or ""
        places = np.array([pair.split(",") for pair in points.split()], dtype=float)
        assert len(places) > 100
        assert np.ptp(places[:, 0]) > 100
        assert abs(np.corrcoef(places.T)[0, 1]) == pytest.approx(1.0, abs=1e-4)
        at(page, "over").select_option("")
        expect(at(page, "phase")).to_have_count(0)


@pytest.mark.slow
def test_forms_of_dependent_storages_are_compared_and_one_is_taken(browser: Browser, studio: RunningStudio) -> None:
    with studio_page(browser, studio.url) as page:
        opened_example(page, "crank_rod")
        _states(page, "1 state: omega")
        at(page, "tab-forms").click()
        at(page, "forms-compare").click()
        expect(at(page, "forms").locator("tbody tr")).to_have_count(6)
        at(page, "forms").get_by_role("button", name="Equations").first.click()
        expect(page.locator(".forms pre")).to_contain_text("m_p follows J_m")
        at(page, "form-parasitic").click()
        _states(page, "3 states: omega, v_p")
        at(page, "undo").click()
        _states(page, "1 state: omega")
        # The finding offers the same, and the limit that makes the storage go.
        at(page, "tab-findings").click()
        at(page, "remedy").filter(has_text="m_p \N{RIGHTWARDS ARROW} 0").click()
        expect(at(page, "element-m_p")).to_have_count(0)
        at(page, "undo").click()
        expect(at(page, "element-m_p")).to_have_count(1)
        # A mechanism moves over the experiment.
        at(page, "pane-select-1").select_option("mechanism")
        at(page, "move").click()
        expect(at(page, "pane-mechanism").locator("g.flow path").first).to_be_attached()
        early = at(page, "pane-mechanism").locator("g.flow").inner_html()
        fill(at(page, "scrubber"), "300")
        expect(at(page, "scrub-time")).not_to_have_text("t = 0.00 s")
        assert at(page, "pane-mechanism").locator("g.flow").inner_html() != early


@pytest.mark.slow
def test_a_stretch_of_time_is_looked_at_and_measured_and_the_address_leads_back(
    browser: Browser, studio: RunningStudio
) -> None:
    with studio_page(browser, studio.url) as page:
        opened_example(page, "dc_motor_pump")
        at(page, "element-L_a").click()
        expect(page.locator(".panel .name.lit")).to_have_count(1)
        box = at(page, "plots").locator(".u-over").first.bounding_box()
        assert box is not None
        for share in (0.2, 0.6):
            page.mouse.click(box["x"] + share * box["width"], box["y"] + 20)
        expect(at(page, "delta").first).to_contain_text("\N{GREEK CAPITAL LETTER DELTA}t")
        page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 30)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 30, steps=6)
        page.mouse.up()
        # All plots over time show this stretch, and go on to while a slider moves the curves.
        shown = "() => JSON.stringify([...document.querySelectorAll('.panel')].map((one) => one.dataset.until))"
        page.wait_for_function(f"() => JSON.parse(({shown})()).every((one) => Number(one) < 0.3)")
        at(page, "slider-R_a").focus()
        page.keyboard.press("ArrowRight")
        expect(at(page, "saved")).to_have_text("saved")
        assert all(float(one) < 0.3 for one in json.loads(page.evaluate(shown)))
        # A pinned run stays beside those that follow, with what differs.
        at(page, "tab-runs").click()
        at(page, "pin-1").check()
        expect(at(page, "compare").locator("tbody th").first).to_have_text("R_a")
        expect(at(page, "compare").locator("thead th")).to_have_count(3)
        at(page, "gallery").click()
        expect(page.locator(".cards li").first).to_be_visible()
        page.go_back()
        expect(at(page, "element-L_a")).to_be_visible()


def _inked(page: Page) -> tuple[np.ndarray, tuple[float, float]]:
    """Where the first curve is drawn: for each column of its plot the middle of its pixels, from 0 to 1 from the lower left."""
    found = page.evaluate(
        """() => { const canvas = document.querySelector('.panel canvas'), over = document.querySelector('.panel .u-over');
        const scale = devicePixelRatio, [x, y] = [over.offsetLeft * scale, over.offsetTop * scale];
        const [width, height] = [over.offsetWidth * scale, over.offsetHeight * scale];
        const { data } = canvas.getContext('2d').getImageData(x, y, width, height), places = [];
        for (let i = 0; i < width; i += 1) { const rows = []; for (let j = 0; j < height; j += 1) { const k = 4 * (j * width + i);
          if (data[k + 3] > 128 && data[k + 2] > 100 && data[k] < 60) rows.push(j); }
          if (rows.length) places.push([i / width, 1 - rows.reduce((a, b) => a + b) / rows.length / height]); }
        return [places, width, height]; }"""
    )
    return np.array(found[0]), (found[1], found[2])


@pytest.mark.slow
def test_on_logarithmic_axes_a_decay_and_a_power_are_straight_lines(
    browser: Browser, studio: RunningStudio, folder: Path
) -> None:
    # exp(-t) is straight over linear time and a logarithmic height, t^2/2 where both are logarithmic; neither is on other axes.
    (folder / "decay.yaml").write_text(
        "system: Decay\nparameters: {C: 1 F, R: 1 ohm}\nnetwork:\n  C: {capacitor: [a, gnd]}\n  R: {resistor: [a, gnd]}\n"
        "experiment: {until: 8 s, initial: {V_C: 5 V}}\n"
    )
    (folder / "power.yaml").write_text(
        "system: Power\nparameters: {m: 1 kg}\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a]}\n"
        "experiment: {until: 8 s, inputs: {F: ramp(1 N/s)}}\n"
    )
    for file, straight, curved in (("decay", "y", ("", "x", "xy")), ("power", "xy", ("", "x", "y"))):
        with studio_page(browser, f"{studio.url}&file={file}.yaml") as page:
            expect(at(page, "plots").locator("canvas").first).to_be_visible()
            for scales in (straight, *curved):
                at(page, "log").select_option(scales)
                expect(at(page, "plots")).to_have_attribute("data-scales", scales)
                page.wait_for_timeout(100)  # the next frame of the screen draws it
                places, (width, height) = _inked(page)
                assert len(places) > 0.3 * width, (file, scales)
                slope, offset = np.polyfit(places[:, 0], places[:, 1], 1)
                off = np.abs(places[:, 1] - slope * places[:, 0] - offset)[3:-3].max() * height
                assert (off < 3) == (scales == straight), (file, scales, off)


@pytest.mark.slow
def test_who_looks_closely_sees_the_run_computed_anew_there(
    browser: Browser, studio: RunningStudio, folder: Path
) -> None:
    with studio_page(browser, studio.url) as page:
        opened_example(page, "dc_motor_pump")
        expect(at(page, "plots")).to_have_attribute("data-fine", "")
        for share in (0.1, 0.1, 0.2):
            box = at(page, "plots").locator(".u-over").first.bounding_box()
            assert box is not None
            before = at(page, "plots").get_attribute("data-fine") or ""
            page.mouse.move(box["x"] + 2, box["y"] + 30)
            page.mouse.down()
            page.mouse.move(box["x"] + share * box["width"] + 30, box["y"] + 30, steps=6)
            page.mouse.up()
            expect(at(page, "plots")).not_to_have_attribute("data-fine", before)
        begin, end = map(float, (at(page, "plots").get_attribute("data-fine") or "").split())
        # Less than a step of the run itself: its rows are 0.5 ms apart.
        assert 0 <= begin < end < 0.03
        # The value at the cursor is that of the run there.
        box = at(page, "plots").locator(".u-over").first.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        output = page.locator("output[data-curve=I_a]")
        expect(output).not_to_be_empty()
        seen = float(output.inner_text().replace("\N{MINUS SIGN}", "-"))
        wanted = tg.simulate("dc_motor_pump", times=np.linspace(begin, end, 4001)).values("I_a")
        middle = wanted[1800:2200]
        assert middle.min() - 0.05 <= seen <= middle.max() + 0.05
        double_click(page.locator(".u-over").first)
        page.wait_for_function("() => Number(document.querySelector('.panel').dataset.until) === 0.5")


DROP = """([name, text]) => { const held = new DataTransfer(); held.items.add(new File([text], name));
    for (const type of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type,
        { dataTransfer: held, bubbles: true, cancelable: true })); }"""


@pytest.mark.slow
def test_files_are_dragged_in_and_snapshots_lead_back(browser: Browser, tmp_path: Path) -> None:
    with running_studio(tmp_path) as studio, studio_page(browser, studio.url) as page:
        expect(page.locator(".cards li").first).to_be_visible()
        deck = "low pass\nV1 a 0 DC 1\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 5m\n.end\n"
        page.evaluate(DROP, ["low pass.cir", deck])
        expect(at(page, "element-R1")).to_be_visible()
        assert tg.simulate(tmp_path / "low pass.yaml").final()["V_C1"] == pytest.approx(1, abs=0.01)
        # A value in the line of its element has a slider, which writes it there.
        fill(at(page, "slider-R1"), "300")
        at(page, "slider-R1").blur()
        expect(at(page, "undo")).to_be_enabled()
        page.evaluate(DROP, ["notes.doc", "no model at all"])
        expect(at(page, "notices")).to_contain_text("notes.doc")
        page.evaluate(DROP, ["low pass.yaml", _example("rlc")])
        expect(at(page, "saved")).to_have_text("saved")
        expect(at(page, "element-R1")).to_have_count(0)
        path = tmp_path / "low pass_2.yaml"
        assert path.read_text() == _example("rlc")
        at(page, "tab-snapshots").click()
        fill(at(page, "snapshot-name"), "../../evil")
        at(page, "snapshot-name").press("Enter")
        expect(at(page, "notices")).to_contain_text("cannot be the name of a snapshot")
        fill(at(page, "snapshot-name"), "as it came")
        at(page, "snapshot-keep").click()
        expect(at(page, "restore-as it came")).to_be_disabled()
        parameter = next(iter(tg.read(path).parameters))
        fill(at(page, f"value-{parameter}"), "7")
        at(page, f"value-{parameter}").press("Enter")
        at(page, "differs-as it came").click()
        expect(at(page, "differences")).to_contain_text(f"+  {parameter}: 7")
        at(page, "restore-as it came").click()
        expect(at(page, "restore-as it came")).to_be_disabled()
        assert path.read_text() == _example("rlc")
        at(page, "undo").click()
        expect(at(page, f"value-{parameter}")).to_have_value("7")
        assert sorted(one.name for one in tmp_path.iterdir()) == [".tellegen", "low pass.yaml", "low pass_2.yaml"]


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_not_typed_into_and_a_copy_of_it_is(browser: Browser, tmp_path: Path) -> None:
    text = "system: Kept\nparameters: {m: 1 kg}\nnetwork:\n  m: {mass: [a]}\n  b: {damper: [a, frame], b: 1 N*s/m}\n"
    (tmp_path / "kept.yaml").write_text(text)
    (tmp_path / "kept.yaml").chmod(0o444)
    with running_studio(tmp_path, "kept.yaml") as studio, studio_page(browser, studio.url) as page:
        expect(at(page, "saved")).to_contain_text("it is read-only")
        at(page, "layout-3").click()
        page.locator(".cm-line").first.click()
        page.keyboard.type("nothing of this")
        expect(at(page, "value-m")).not_to_be_editable()
        expect(at(page, "slider-m")).to_have_count(0)
        assert "nothing" not in page.locator(".cm-content").inner_text()
        at(page, "copy").click()
        expect(at(page, "saved")).to_have_text("saved")
        fill(at(page, "value-m"), "2 kg")
        at(page, "value-m").press("Enter")
        expect(at(page, "undo")).to_be_enabled()
    assert (tmp_path / "kept.yaml").read_text() == text
    assert (tmp_path / "kept_2.yaml").read_text() == text.replace("m: 1 kg", "m: 2 kg")


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 820])
def test_a_narrow_screen_has_a_tab_for_each_view_and_nothing_beside_it(
    browser: Browser, studio: RunningStudio, width: int
) -> None:
    narrow = browser.new_context(viewport={"width": width, "height": 844}, reduced_motion="reduce")
    with studio_page(browser, studio.url, context=narrow) as page:
        opened_example(page, "dc_motor_pump")
        for view in ("bond", "pog", "equations", "steps", "text", "network"):
            at(page, f"face-{view}").click()
            expect(page.locator(".pane")).to_have_count(1)
            expect(at(page, f"pane-{view}").locator("svg, math, .steps, .cm-content").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        at(page, "face-inspector").click()
        expect(page.locator(".pane")).to_have_count(0)
        run = at(page, "plots").get_attribute("data-id")
        at(page, "slider-R_a").focus()
        page.keyboard.press("ArrowRight")
        expect(at(page, "plots")).not_to_have_attribute("data-id", run or "")
        # A wider window has columns again.
        page.set_viewport_size({"width": 1280, "height": 720})
        expect(page.locator(".pane")).to_have_count(4)
        expect(at(page, "slider-R_a")).to_be_visible()
    narrow.close()


EXPORTS = (
    "network-svg", "bond-pdf", "pog-png", "equations-tex", "equations-svg", "steps-txt", "steps-tex", "curves-svg", "curves-tex",
    "bode-pdf", "poles-svg", "energy-svg", "data-csv", "data-nc", "data-mat", "model-bond", "tool-python", "tool-modelica",
    "tool-c", "report-html",
)  # fmt: skip


@pytest.mark.slow
def test_everything_is_exported_as_it_is_seen(browser: Browser, studio: RunningStudio, tmp_path: Path) -> None:
    with studio_page(browser, studio.url, dark=True) as page:
        opened_example(page, "dc_motor_pump")
        for what in EXPORTS:
            assert len(_exported(page, what, tmp_path)) > 300, what
        # In the colours of the page, unless others are asked for.
        assert _exported(page, "bond-svg", tmp_path) == _drawn(tmp_path, "dark")
        at(page, "export").click()
        at(page, "export-colours").select_option("mono")
        page.keyboard.press("Escape")
        assert _exported(page, "bond-svg", tmp_path) == _drawn(tmp_path, "mono")
        data = io.StringIO(_exported(page, "data-csv", tmp_path).decode())
        run = np.genfromtxt(data, delimiter=",", names=True, comments="#")
        assert run["I_a"][-1] == pytest.approx(tg.simulate("dc_motor_pump").final()["I_a"])


def _drawn(place: Path, theme: str) -> bytes:
    target = place / f"wanted_{theme}.svg"
    tg.draw("dc_motor_pump", "bond", theme=theme).save(target)
    return target.read_bytes()


@pytest.mark.slow
def test_text_is_edited_live_and_what_was_valid_stays_in_grey(
    browser: Browser, studio: RunningStudio, folder: Path
) -> None:
    (folder / "filter.yaml").write_text(
        "system: Filter\nparameters:\n  R: 1 ohm   # kept\n  C: 1 F\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
        "  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd]}\nexperiment: {until: 5 s, inputs: {V: 1 V}}\n"
    )
    with studio_page(browser, studio.url) as page:
        at(page, "open-filter.yaml").click()
        expect(at(page, "pane-network").locator("svg")).to_be_visible()
        at(page, "layout-3").click()
        editor = page.locator(".cm-content")
        page.get_by_text("resistor").first.click()
        page.keyboard.press("Control+ArrowLeft")
        page.keyboard.press("Control+Shift+ArrowRight")
        page.keyboard.type("resistr")
        expect(at(page, "pane-network")).to_have_class(re.compile("stale"))
        expect(at(page, "pane-network").locator("svg")).to_be_visible()
        expect(page.locator(".reason").first).to_contain_text("resistr")
        at(page, "tab-findings").click()
        at(page, "remedy").first.click()
        expect(at(page, "pane-network")).not_to_have_class(re.compile("stale"))
        expect(editor).to_contain_text("{resistor: [a, b]}")
        assert "R: 1 ohm   # kept" in (folder / "filter.yaml").read_text()
        # Another program writes the file: the page follows, and says so.
        (folder / "filter.yaml").write_text((folder / "filter.yaml").read_text().replace("C: 1 F", "C: 2 F"))
        expect(editor).to_contain_text("C: 2 F")
        expect(at(page, "notices")).to_contain_text("another program")


@pytest.mark.slow
def test_two_tabs_on_one_file_stay_equal(browser: Browser, studio: RunningStudio, folder: Path) -> None:
    (folder / "shared.yaml").write_text(
        "system: Shared\nparameters: {m: 1 kg}\nnetwork:\n  m: {mass: [a]}\n  b: {damper: [a, frame], b: 1 N*s/m}\n"
    )
    with studio_page(browser, studio.url) as first:
        with studio_page(browser, f"{studio.url}&file=shared.yaml", context=first.context) as second:
            at(first, "open-shared.yaml").click()
            for page in (first, second):
                at(page, "layout-3").click()
                expect(page.locator(".cm-content")).to_contain_text("damper")
            first.locator(".cm-line").first.click()
            first.keyboard.press("End")
            first.keyboard.type(" by one")
            second.locator(".cm-line").nth(1).click()
            second.keyboard.press("End")
            second.keyboard.type("  # by two")
            for page in (first, second):
                expect(page.locator(".cm-content")).to_contain_text("system: Shared by one")
                expect(page.locator(".cm-content")).to_contain_text("# by two")
            second.close()
        text = (folder / "shared.yaml").read_text()
        assert text.startswith("system: Shared by one\n")
        assert "  # by two\n" in text


FREE_FILE = "system: Kept\nparameters: {m: 1 kg}\nnetwork:\n  m: {mass: [a]}\n"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.slow
def test_what_is_typed_while_the_studio_is_dead_is_sent_when_it_is_back(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "kept.yaml").write_text(FREE_FILE)
    port = _free_port()
    with running_studio(tmp_path, port=port) as first, studio_page(browser, first.url, dies=True) as page:
        at(page, "open-kept.yaml").click()
        at(page, "layout-3").click()
        expect(page.locator(".cm-content")).to_contain_text("system: Kept")
        # As hard as a process can end.
        first.process.kill()
        first.process.wait()
        expect(at(page, "lost")).to_be_visible()
        page.locator(".cm-line").first.click()
        page.keyboard.press("End")
        page.keyboard.type(" by hand")
        # Meanwhile another program writes the file: both changes count.
        (tmp_path / "kept.yaml").write_text(FREE_FILE.replace("1 kg", "2 kg"))
        with running_studio(tmp_path, port=port) as second:
            assert second.url == first.url
            expect(at(page, "lost")).to_have_count(0)
            expect(page.locator(".cm-content")).to_contain_text("2 kg")
            expect(page.locator(".cm-content")).to_contain_text("Kept by hand")
            expect(at(page, "element-m")).to_be_visible()
            expect(at(page, "undo")).to_be_enabled()
            wanted = FREE_FILE.replace("1 kg", "2 kg").replace("Kept", "Kept by hand")
            assert (tmp_path / "kept.yaml").read_text() == wanted


@pytest.mark.slow
def test_a_tab_that_was_killed_left_nothing_behind_but_what_was_typed(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "kept.yaml").write_text(FREE_FILE)
    port = _free_port()
    with running_studio(tmp_path, port=port) as first, studio_page(browser, first.url, dies=True) as page:
        at(page, "open-kept.yaml").click()
        at(page, "layout-3").click()
        expect(page.locator(".cm-content")).to_contain_text("system: Kept")
        first.process.kill()
        first.process.wait()
        expect(at(page, "lost")).to_be_visible()
        page.locator(".cm-line").first.click()
        page.keyboard.press("End")
        page.keyboard.type(" by hand")
        with studio_page(browser, "about:blank", context=page.context) as other:
            page.close()
            with running_studio(tmp_path, port=port) as second:
                other.goto(f"{second.url}&file=kept.yaml")
                expect(at(other, "notices")).to_contain_text("brought back")
                expect(at(other, "saved")).to_have_text("saved")
                expect(at(other, "undo")).to_be_enabled()
        assert (tmp_path / "kept.yaml").read_text() == FREE_FILE.replace("Kept", "Kept by hand")


AXE = Path(__file__).parents[2] / "studio" / "node_modules" / "axe-core" / "axe.min.js"


def _serious(page: Page) -> list[str]:
    """What axe finds that is serious; its script is run by the test, which the policy of the page does not bind."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:3]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(browser: Browser, studio: RunningStudio, dark: bool) -> None:
    if not AXE.is_file():
        pytest.skip("needs the system tool node: axe is one of its packages")
    with studio_page(browser, studio.url, dark=dark) as page:
        expect(page.locator(".cards li").first).to_be_visible()
        assert _serious(page) == []
        opened_example(page, "dc_motor_pump")
        at(page, "element-R_a").click()
        for tab in ("plots", "power", "poles", "runs", "findings"):
            at(page, f"tab-{tab}").click()
            assert _serious(page) == [], tab
        at(page, "layout-3").click()
        page.keyboard.press("/")
        expect(at(page, "insert-box")).to_be_visible()
        assert _serious(page) == []


@pytest.mark.slow
def test_every_example_opens_without_a_complaint(browser: Browser, studio: RunningStudio) -> None:
    for example in tg.examples():
        with studio_page(browser, f"{studio.url}&file=example:{example.name}") as page:
            page.set_default_timeout(120_000)
            expect(at(page, "states")).to_contain_text("state", timeout=120_000)
            expect(at(page, "plots").locator("canvas").first).to_be_visible(timeout=120_000)
            expect(at(page, "pane-network").locator("svg").first).to_be_visible(timeout=120_000)
            expect(at(page, "pane-bond").locator("svg, .none").first).to_be_visible(timeout=120_000)
