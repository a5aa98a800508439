"""Firefox, driven over WebDriver BiDi by the driver that drives Chromium.

The driver always says which colours a page shall prefer, a command that the Firefox of Debian does not know yet. So it starts this
file instead, which starts Firefox, hands every message on, and answers that one command: nothing is preferred here.
"""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

DOWNLOADS = Path(tempfile.gettempdir()) / f"downloads-{os.getpid()}"
"""Where files land: that one comes is not told."""
UNKNOWN = "emulation.setMediaFeaturesOverride"
LISTENING = "WebDriver BiDi listening on"


@contextmanager
def firefox(path: str) -> Iterator[Browser]:
    """The browser; motion is reduced in it, as in the Chromium of the other tests."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        starter = Path(place) / "firefox"
        starter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{path}" "$@"\n')
        starter.chmod(0o755)
        running = driver.firefox.launch(
            channel="moz-firefox",
            executable_path=starter,
            downloads_path=DOWNLOADS,
            firefox_user_prefs={"ui.prefersReducedMotion": 1},
        )
        yield running
        running.close()
    shutil.rmtree(DOWNLOADS, ignore_errors=True)


async def _between(command: list[str]) -> int:
    """Start Firefox, and stand between it and the driver until it ends."""
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    address = None
    while address is None:
        line = (await process.stderr.readline()).decode()
        if not line:
            return await process.wait()
        address = re.search(rf"{LISTENING} (ws://\S+)", line)

    async def hand_on(driver: ServerConnection) -> None:
        async with connect(f"{address[1]}/session", max_size=None, proxy=None) as browser:
            back = asyncio.create_task(_pass(browser, driver))
            with suppress(ConnectionClosed):
                async for told in driver:
                    message: dict[str, Any] = json.loads(told)
                    if message.get("method") == UNKNOWN:
                        await driver.send(json.dumps({"type": "success", "id": message["id"], "result": {}}))
                    else:
                        await browser.send(told)
            back.cancel()

    async with serve(hand_on, "127.0.0.1", 0, max_size=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        print(f"{LISTENING} ws://127.0.0.1:{port}", file=sys.stderr, flush=True)
        while await process.stderr.readline():
            pass
        return await process.wait()


async def _pass(browser: Any, driver: ServerConnection) -> None:
    with suppress(ConnectionClosed):
        async for told in browser:
            await driver.send(told)


if __name__ == "__main__":
    sys.exit(asyncio.run(_between(sys.argv[1:])))
