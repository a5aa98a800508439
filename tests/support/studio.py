"""A studio that runs as a process of its own, and its page in a browser, which must complain of nothing."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from support.browser import OPTIONS
from support.firefox import DOWNLOADS
from tellegen.server.studio import CLIENT

# Machines are shared: what takes a moment here may take seconds elsewhere, and no test says how long something may take.
expect.set_options(timeout=30_000)

BUILT = (CLIENT / "index.html").is_file()
needs_pages = pytest.mark.skipif(not BUILT, reason="needs the system tool node: the pages of the studio are not built")


@final
@dataclass
class RunningStudio:
    """The process of a studio, and its address."""

    process: "subprocess.Popen[str]"
    url: str
    folder: Path

    @property
    def port(self) -> int:
        """Its port."""
        found = re.search(r":(\d+)/", self.url)
        assert found is not None
        return int(found[1])

    @property
    def token(self) -> str:
        """Its token."""
        return self.url.partition("token=")[2]


@contextmanager
def running_studio(
    folder: Path,
    *words: str,
    port: int = 0,
    python: str = sys.executable,
    environment: Mapping[str, str] | None = None,
) -> Iterator[RunningStudio]:
    """A studio for a folder; ended by its own process at the end."""
    command = [python, "-m", "tellegen", "studio", *words, "--port", str(port), "--no-browser"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found is not None, line + process.stdout.read()
        yield RunningStudio(process, found[0], folder)
    finally:
        if process.poll() is None:
            process.terminate()
        # Its workers may still be starting on a busy machine, and hold its output open.
        process.wait(timeout=60)
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """The browser."""
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=[*OPTIONS.split(), "--disable-sync"])
        yield running
        running.close()


@contextmanager
def studio_page(
    browser: Browser, url: str, *, dark: bool = False, context: BrowserContext | None = None, dies: bool = False
) -> Iterator[Page]:
    """A page of a studio; whatever the console complains of fails the test, but for a studio that `dies` in it."""
    complaints: list[str] = []
    scheme = context or browser.new_context(
        viewport={"width": 1280, "height": 720},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        accept_downloads=True,
    )
    page = scheme.new_page()
    if browser.browser_type.name == "firefox":
        # Its driver cannot say which colours it prefers; a person can.
        theme = "dark" if dark else "light"
        page.add_init_script(
            f"if (location.protocol === 'http:') localStorage.setItem('tellegen.theme', '\"{theme}\"')"
        )
    page.set_default_timeout(30_000)
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: None if _is_own(asked.url, url) else complaints.append(asked.url))
    page.goto(url)
    yield page
    if context is None:
        scheme.close()
    # A browser itself complains of a server that the test took away.
    left = [one for one in complaints if not (dies and any(word in one for word in NO_SERVER))]
    assert not left, left


def _is_own(asked: str, url: str) -> bool:
    if url == "about:blank":
        return asked.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "about:", "blob:", "data:"))
    own = url.partition("/#")[0].removeprefix("http://")
    return asked.startswith((f"http://{own}/", f"ws://{own}/", "blob:", "data:"))


def at(page: Page, name: str) -> Locator:
    """What has a test id."""
    return page.get_by_test_id(name)


def opened_example(page: Page, name: str) -> None:
    """Open an example from the gallery, and wait for its views and its first curves."""
    at(page, f"open-example:{name}").click()
    expect(at(page, "pane-network").locator("svg")).to_be_visible()
    expect(at(page, "plots").locator("canvas").first).to_be_visible()


NO_SERVER = ("net::ERR_", "WebSocket connection", "establish a connection", "was interrupted", "NetworkError")
"""What browsers complain of where the server is away."""
PUT = """(field, text) => { field.focus();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text);
  field.dispatchEvent(new Event('input', { bubbles: true })); }"""


def fill(field: Locator, text: str) -> None:
    """Another text in a field, or another place of a slider.

    The driver of Firefox writes past the listeners of React, and tells two clicks on a busy machine from a double one.
    """
    if _is_firefox(field):
        field.evaluate(PUT, text)
    else:
        field.fill(text)


def downloaded(page: Page, ask: Callable[[], object]) -> tuple[str, bytes]:
    """The name and the bytes of the file that is asked for."""
    if not _is_firefox(page.locator("html")):
        with page.expect_download() as waited:
            ask()
        return waited.value.suggested_filename, waited.value.path().read_bytes()
    for old in DOWNLOADS.glob("*"):
        old.unlink()
    ask()
    while not (found := [one for one in DOWNLOADS.glob("*") if one.suffix != ".part" and one.stat().st_size]):
        page.wait_for_timeout(50)
    return found[0].name, found[0].read_bytes()


def double_click(place: Locator) -> None:
    """A double click in the middle of something, whatever lies over it."""
    if _is_firefox(place):
        place.click(force=True)
        place.dispatch_event("dblclick")
    else:
        place.dblclick(force=True)


def _is_firefox(place: Locator) -> bool:
    browser = place.page.context.browser
    return browser is not None and browser.browser_type.name == "firefox"
