"""`studio`: a model and all its views in a browser, served on this machine alone: pages, pictures of the gallery, the socket.

A browser runs pages of strangers beside ours. They can send requests to any address of this machine, so that being local proves
nothing. Three things do: the name by which the server was asked (a stranger's name may lead to this machine), the page that a
socket was opened from, and a cookie that only the bearer of the token got.
"""

import asyncio
import hmac
import json
import os
import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from http.cookies import CookieError, SimpleCookie
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

from tellegen.compiler.kept_files import DistrustError, cache_folder, kept_files
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
from tellegen.server.folder import EXAMPLE, Folder
from tellegen.server.hub import Hub
from tellegen.server.protocol import Theme
from tellegen.server.session import Session
from tellegen.server.workers import WorkerBugError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 4096
"""No request has a longer body: all that matters goes through the socket."""
MOST_PATH = 2000

HEADERS = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


def content_policy(nonce: str) -> str:
    """What a page may load: our own files, styles that carry the nonce, and nothing from elsewhere. No inline script runs."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


@final
class Secrets:
    """The token of the address, and the session that it is exchanged for."""

    def __init__(self, token: str = "", session: str = "") -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.session = session or secrets.token_urlsafe(32)

    @classmethod
    def of_port(cls, port: int) -> "Secrets":
        """Those of a port that was asked for: the same each time, so that pages which are still open find their studio again.

        They are kept where only the user can read and write; where that cannot be had they are new.
        """
        with (
            suppress(OSError, DistrustError, ValueError, KeyError),
            kept_files(cache_folder() / "studio", make=True) as kept,
        ):
            name = f"port-{port}.json"
            with suppress(OSError, ValueError, KeyError, TypeError):
                known = json.loads(kept.read(name))
                return cls(str(known["token"]), str(known["session"]))
            made = cls()
            kept.write(name, json.dumps({"token": made.token, "session": made.session}).encode())
            return made
        return cls()

    def opens(self, token: str) -> bool:
        """Whether a token is the one."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def knows(self, session: str) -> bool:
        """Whether a session is the one."""
        return hmac.compare_digest(session.encode(), self.session.encode())


@final
class AccessGuard:
    """Stands before the application, and lets through what may pass."""

    def __init__(self, app: App, secret: Secrets, port: int) -> None:
        self.app, self.secret, self.port = app, secret, port
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.origins = {f"http://{host}" for host in self.hosts}

    @property
    def cookie(self) -> str:
        """Its name; browsers do not tell ports apart in cookies."""
        return f"tellegen-studio-{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self.refusal(scope, headers)
        if refusal:
            await _refuse(scope, receive, send, refusal)
            return
        if scope["type"] == "http" and scope["path"] == "/session":
            await self._exchange(scope, receive, send)
            return
        await self.app(scope, receive, _with_headers(send))

    def refusal(self, scope: Scope, headers: MutableMapping[str, str]) -> str:
        """Why a request is refused; empty where it is not."""
        if headers.get("host", "") not in self.hosts:
            return "unknown host"
        if len(scope["path"]) > MOST_PATH:
            return "long path"
        origin = headers.get("origin")
        socket = scope["type"] == "websocket"
        # A page always says where a socket was opened from; other programs need not, and get none.
        if (origin is not None or socket) and origin not in self.origins:
            return "unknown origin"
        if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"} and scope["path"] != "/":
            return "from another page"
        if socket or scope["path"].startswith("/picture/"):
            return "" if self.secret.knows(_cookie(headers, self.cookie)) else "no session"
        if scope["path"] != "/session" and scope["method"] not in {"GET", "HEAD"}:
            return "unknown method"
        return ""

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The token for a cookie that scripts cannot read."""
        body = b""
        if scope["method"] == "POST":
            more = True
            while more and len(body) <= MOST_BODY:
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
        try:
            token = str(json.loads(body)["token"]) if len(body) <= MOST_BODY else ""
        except (ValueError, KeyError, TypeError):
            token = ""
        if not self.secret.opens(token):
            await _answer(send, 403, b"no")
            return
        cookie = f"{self.cookie}={self.secret.session}; Path=/; HttpOnly; SameSite=Strict"
        await _answer(send, 204, b"", (("set-cookie", cookie),))


def _cookie(headers: MutableMapping[str, str], name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


async def _refuse(scope: Scope, receive: Receive, send: Send, reason: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4403, "reason": reason})
        return
    await _answer(send, 403, f"refused: {reason}\n".encode())


async def _answer(send: Send, status: int, body: bytes, more: tuple[tuple[str, str], ...] = ()) -> None:
    pairs = [*HEADERS.items(), *more, ("content-length", str(len(body))), ("content-type", "text/plain")]
    headers = [(name.encode(), value.encode()) for name, value in pairs]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            known = {name.lower() for name, _ in message.get("headers", [])}
            extra = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in known]
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return sending


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
