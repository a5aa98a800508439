"""A page in Chromium, driven as a person would."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

OPTIONS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update"


@contextmanager
def opened(file: Path, browser: str, *, width: int = 1280, dark: bool = False) -> Iterator[Page]:
    """The page, which must have complained of nothing when it is left, and asked nobody for anything."""
    complaints: list[str] = []
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=browser, args=[*OPTIONS.split(), "--disable-sync"])
        scheme = running.new_context(viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light")
        page = scheme.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: complaints.append(asked.url) if asked.url.startswith("http") else None)
        page.goto(file.as_uri())
        yield page
        running.close()
    assert not complaints, complaints
