"""`studio`: a model and all its views in a browser, served on this machine alone: pages, pictures of the gallery, the socket."""

import asyncio
import json
import os
import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, final
from urllib.parse import unquote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from tellegen.core.errors import TellegenError
from tellegen.core.names import joined
from tellegen.core.shipped import example_names
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.network.builder import Network
from tellegen.notations.schema import schema
from tellegen.notations.writing import to_yaml
from tellegen.notations.yaml.document import write_text
from tellegen.server import rules
from tellegen.server.access import AccessGuard, App, Secrets, content_policy
from tellegen.server.folder import EXAMPLE, Folder
from tellegen.server.hub import Hub
from tellegen.server.protocol import Theme
from tellegen.server.session import Session
from tellegen.server.workers import WorkerBugError

HOST = "127.0.0.1"
MOST_MESSAGE = 8 * 1024 * 1024
"""Bytes of a message of a page."""
CLIENT = Path(__file__).with_name("client")
"""The built pages."""
BLANK = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
"""The picture of what cannot be drawn: a gallery is no place for errors."""
NONCE = "NONCE_OF_THIS_PAGE"
MOST_WAITING = 1000
"""Messages of a page that are not answered yet; who sends more is cut off."""


@final
class Studio:
    """A studio that runs: `url` opens it, `close` ends it, `wait` returns when it ends."""

    def __init__(self, hub: Hub, port: int) -> None:
        self.hub = hub
        try:
            self.listener = socket.create_server((HOST, port))
        except (OSError, OverflowError) as error:
            what = f"port {port} of this machine cannot be had: {error}"
            raise rules.PORT_TAKEN.error(what, fix="choose another one, or 0 for any that is free") from error
        self.port = int(self.listener.getsockname()[1])
        self.secret = Secrets.of_port(port) if port else Secrets()
        app = application(hub, self.secret, self.port)
        config = uvicorn.Config(
            app,
            log_level="warning",
            ws="websockets-sansio",
            ws_max_size=MOST_MESSAGE,
            lifespan="on",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=2,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.listener]}, name="studio", daemon=True
        )
        self.thread.start()

    @property
    def url(self) -> str:
        """The address with its token: who has it may edit the files of the folder."""
        return f"http://{HOST}:{self.port}/#token={self.secret.token}"

    def open(self) -> None:
        """Open it in the browser."""
        webbrowser.open(self.url)

    def wait(self) -> None:
        """Wait until it ends."""
        while self.thread.is_alive():
            self.thread.join(0.5)

    def close(self) -> None:
        """End it. What was edited is in its files."""
        self.server.should_exit = True
        self.thread.join(5.0)
        self.listener.close()

    def __enter__(self) -> "Studio":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Studio({self.url!r})"

    def _repr_html_(self) -> str:
        return f'<p>The studio: <a href="{self.url}" target="_blank">{self.url}</a></p>'


def studio(what: AnyModel | None = None, *, port: int = 0, browser: bool = True) -> Studio:
    """Open the studio in a browser: a model with its figures, equations and runs, side by side and live.

    `what` is a file, a folder, the name of a built-in example, or a model, which is written into a new file of the present folder.
    The file is the model: each gesture in the browser is an edit of it, and what another program writes into it is shown. The
    studio serves this machine alone; `port` 0 takes a free one. It runs until `close`, or until the program ends.

    Raises: DescriptionError for what is neither a file nor a folder nor a model (D300), and in a checkout whose pages are not
    built (D725).
    """
    folder, first = _place(what)
    made = Studio(Hub(folder, first), port)
    if browser:
        made.open()
    return made


def _place(what: AnyModel | None) -> tuple[Path, str]:
    """The folder that is served, and the file that is open first."""
    if what is None:
        return Path.cwd(), ""
    if isinstance(what, str) or (isinstance(what, os.PathLike) and not isinstance(what, Model | Network)):
        path = Path(what)
        if path.is_dir():
            return path, ""
        if path.is_file():
            folder = path.resolve().parent
            # A link is followed: the file behind it is edited, in its own folder.
            return folder, Folder(folder).file(path.resolve().name).name
        if str(what) in example_names():
            return Path.cwd(), f"{EXAMPLE}{what}"
    return _written(what)


def _written(what: AnyModel) -> tuple[Path, str]:
    """A model in a new file of the present folder."""
    model = as_model(what)
    folder = Folder(Path.cwd().resolve())
    stem = re.sub(r"\W+", "_", model.name).strip("_").lower() or "model"
    name = folder.free_name(joined(stem))
    write_text(folder.path / name, to_yaml(model))
    return folder.path, name


# -- The application ---------------------------------------------------------------------------------------------------------------


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

    async def talk(connection: WebSocket) -> None:
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
        WebSocketRoute("/socket", talk),
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
