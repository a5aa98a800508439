"""The page of a report in Chromium: one element in all views, curves read off, figures zoomed, dark and narrow."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

import tellegen as tg
from support.browser import opened


@pytest.fixture(scope="module")
def motor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "motor.html"
    tg.report("dc_motor_pump", file)
    return file


@pytest.fixture
def chromium(system_tool: Callable[[str], str]) -> str:
    return system_tool("chromium")


def test_an_element_lights_up_in_all_views(motor: Path, chromium: str) -> None:
    with opened(motor, chromium) as page:
        page.wait_for_selector("#figure-run .u-legend")
        page.locator("#figure-network .label[data-element=L_a]").hover()
        for place in ("#figure-bond", "#figure-pog", "#figure-run .u-legend", ".formula math", "td"):
            assert page.locator(f"{place} .lit, {place}.lit").count() > 0, place
        assert page.locator(".lit:not([data-element=L_a]):not([data-link=L_a])").count() == 0
        page.locator("h1").hover()
        assert page.locator(".lit").count() == 0
        # An accumulator is an outline with nothing inside, and yet one points at it there.
        sides = [
            page.locator("#figure-network [data-element=C_0][data-part=symbol]").nth(k).bounding_box() for k in (0, 1)
        ]
        (one, two) = [side for side in sides if side is not None]
        page.mouse.move((one["x"] + two["x"]) / 2, one["y"] + one["height"] - 1)
        assert page.locator("#figure-bond [data-element=C_0].lit").count() > 0
        page.locator("h1").hover()


def test_a_formula_lights_up_its_element_and_a_click_keeps_it(motor: Path, chromium: str) -> None:
    with opened(motor, chromium) as page:
        page.locator("td[data-link=b_m]").first.click()
        page.locator("h1").hover()
        assert page.locator("#figure-pog [data-element=b_m].lit").count() > 0
        page.keyboard.press("Escape")
        assert page.locator(".lit").count() == 0


def test_curves_are_read_off_together_and_switched_off(motor: Path, chromium: str) -> None:
    with opened(motor, chromium) as page:
        plots = page.locator("#figure-run .uplot")
        assert plots.count() == 3
        plots.first.locator(".u-over").scroll_into_view_if_needed()
        box = plots.first.locator(".u-over").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        told = [float(text) for text in page.locator("#figure-run .u-legend .u-value").all_text_contents()]
        run = tg.simulate("dc_motor_pump", times=[0.0, told[0]])
        # Half a pixel of the screen is half a thousandth of the experiment.
        final = run.final()
        wanted = [told[0], final["I_a"], told[0], final["omega_m"], told[0], final["P_0"] / 1e6]
        assert told == pytest.approx(wanted, rel=5e-3)
        plots.first.locator(".u-series").nth(1).click()
        assert "u-off" in (plots.first.locator(".u-series").nth(1).get_attribute("class") or "")


def test_a_figure_is_zoomed_and_comes_back(motor: Path, chromium: str) -> None:
    with opened(motor, chromium) as page:
        figure = page.locator("#figure-bond svg")
        whole = figure.get_attribute("viewBox")
        figure.hover()
        page.locator("#figure-bond button").first.click()
        assert figure.get_attribute("viewBox") != whole
        figure.dblclick()
        back = [float(word) for word in (figure.get_attribute("viewBox") or "").split()]
        assert back == pytest.approx([float(word) for word in (whole or "").split()])


@pytest.mark.parametrize("dark", [False, True])
def test_a_narrow_screen_shows_all_of_it(motor: Path, chromium: str, dark: bool) -> None:
    with opened(motor, chromium, width=390, dark=dark) as page:
        page.wait_for_selector("#figure-run .u-legend")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") is not dark
        page.locator("nav button").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper


def test_contents_stay_in_view_and_say_where_one_is(motor: Path, chromium: str) -> None:
    with opened(motor, chromium) as page:
        page.locator("nav a", has_text="Energy").click()
        page.wait_for_selector("nav a.here")
        expect(page.locator("#energy")).to_be_in_viewport()
        assert page.locator("nav").bounding_box()["y"] == 0  # type: ignore[index]
