"""Takes the pictures of the studio for README and docs again, in Chromium: `python tools/studio_pictures.py`.

Each is looked at before it is kept.
"""

import base64
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import tellegen as tg

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 1280, "height": 720}
WAIT_MS = 4000
"""What follows when idle has come by then."""
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def at(page: Page, name: str) -> None:
    """Click what has a test id."""
    page.get_by_test_id(name).click()


def power(page: Page) -> None:
    """The flow of power in the middle of a run, and what is stored then."""
    at(page, "tab-power")
    at(page, "power")
    page.locator("g.flow path").first.wait_for()
    page.wait_for_timeout(WAIT_MS)
    page.get_by_test_id("scrubber").fill("60")


def limit(page: Page) -> None:
    """A smaller model, with what it costs."""
    at(page, "zero-J_m")
    page.get_by_test_id("states").filter(has_text="2 states").wait_for(timeout=60_000)
    page.locator("[data-testid=pane-equations] math").first.wait_for()


def forms(page: Page) -> None:
    """The forms of dependent storages, side by side."""
    at(page, "tab-forms")
    at(page, "forms-compare")
    page.get_by_test_id("forms").wait_for(timeout=120_000)


def text(page: Page) -> None:
    """A mistake in the text, with its remedy."""
    at(page, "layout-3")
    page.locator(".cm-line", has_text="resistor").locator("span", has_text="resistor").first.dblclick()
    page.keyboard.type("resistr")
    at(page, "tab-findings")
    page.get_by_test_id("remedy").first.wait_for()


PICTURES: Mapping[str, tuple[str, bool, Callable[[Page], None]]] = {
    "studio": ("dc_motor_pump", False, lambda page: at(page, "element-J_m")),
    "studio_limit": ("dc_motor_pump", False, limit),
    "studio_power": ("dc_motor_pump", True, power),
    "studio_forms": ("crank_rod", False, forms),
    "studio_text": ("dc_motor_pump", False, text),
}
"""By the name of the file: the model, whether it is dark, and what is done before it is taken."""


def main() -> None:
    """Take all of them."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        for name, (model, dark, prepare) in PICTURES.items():
            with tempfile.TemporaryDirectory() as folder, tg.studio(folder, browser=False) as running:
                page = browser.new_context(
                    viewport=SIZE,  # type: ignore[arg-type]  # a size
                    device_scale_factor=1.5,
                    color_scheme="dark" if dark else "light",
                    reduced_motion="reduce",
                ).new_page()
                page.goto(f"{running.url}&file=example:{model}")
                page.get_by_test_id("plots").locator("canvas").first.wait_for(timeout=60_000)
                page.locator("[data-testid=pane-bond] svg").wait_for(timeout=60_000)
                page.wait_for_timeout(WAIT_MS)
                prepare(page)
                page.wait_for_timeout(WAIT_MS)
                session = page.context.new_cdp_session(page)
                taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": 82})
                (IMAGES / f"{name}.webp").write_bytes(base64.b64decode(taken["data"]))
                page.context.close()


if __name__ == "__main__":
    main()
