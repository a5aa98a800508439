"""The web application of a studio: its pages, the pictures of the gallery, and the socket."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from tellegen.core.errors import TellegenError
from tellegen.notations.schema import schema
from tellegen.server import rules
from tellegen.server.access import AccessGuard, App, Secrets, content_policy
from tellegen.server.hub import Hub
from tellegen.server.protocol import Theme
from tellegen.server.session import Session
from tellegen.server.workers import WorkerBugError

CLIENT = Path(__file__).with_name("client")
"""The built pages."""
BLANK = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
"""The picture of what cannot be drawn: a gallery is no place for errors."""
NONCE = "NONCE_OF_THIS_PAGE"
MOST_WAITING = 1000
"""Messages of a page that are not answered yet; who sends more is cut off."""


def client_page() -> str:
    """The page as it was built.

    Raises: DescriptionError (D725) in a checkout that has not built it.
    """
    page = CLIENT / "index.html"
    if not page.is_file():
        what = "the pages of the studio are not built"
        raise rules.NO_CLIENT.error(what, fix="run 'make studio' in the checkout, with Node 20 or newer")
    return page.read_text(encoding="utf-8")


def application(hub: Hub, secret: Secrets, port: int) -> App:
    """The whole application behind its guard."""
    page = client_page()
    described: dict[str, object] = dict(schema())

    async def index(_request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        headers = {"content-security-policy": content_policy(nonce)}
        return HTMLResponse(page.replace(NONCE, nonce), headers=headers)

    async def picture(request: Request) -> Response:
        theme: Theme = "dark" if request.query_params.get("theme") == "dark" else "colour"
        try:
            svg = await hub.picture(unquote(request.path_params["name"]), theme)
        except (TellegenError, WorkerBugError):
            svg = BLANK
        headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
        return Response(svg, media_type="image/svg+xml", headers=headers)

    async def socket(connection: WebSocket) -> None:
        await connection.accept()
        await _serve(connection, hub, described)

    @asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        await hub.begin()
        yield
        await hub.end()

    routes = [
        Route("/", index),
        Route("/picture/{name:path}", picture),
        WebSocketRoute("/socket", socket),
        Mount("/assets", StaticFiles(directory=CLIENT / "assets")),
    ]
    return AccessGuard(Starlette(routes=routes, lifespan=life), secret, port)


async def _serve(connection: WebSocket, hub: Hub, described: dict[str, object]) -> None:
    """A page, until it goes."""
    messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(MOST_WAITING)

    async def send(data: str | bytes) -> None:
        if isinstance(data, str):
            await connection.send_text(data)
        else:
            await connection.send_bytes(data)

    async def listen() -> None:
        try:
            while True:
                text = await connection.receive_text()
                try:
                    record = json.loads(text)
                except (ValueError, RecursionError):
                    record = {}
                messages.put_nowait(record if isinstance(record, dict) else {})
        except (WebSocketDisconnect, KeyError, RuntimeError, asyncio.QueueFull):
            pass
        finally:
            # Room is made for the end, so that a page that floods us is left at once.
            while messages.full():
                messages.get_nowait()
            messages.put_nowait(None)

    listening = asyncio.create_task(listen())
    try:
        hello = await asyncio.to_thread(hub.hello, version("tellegen"), described)
        await Session(hub, send).serve(messages, hello)
    finally:
        listening.cancel()
