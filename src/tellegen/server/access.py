"""Who may talk to a studio: pages of its own, on this machine, that know its secret.

A browser runs pages of strangers beside ours. They can send requests to any address of this machine, so that being local proves
nothing. Three things do: the name by which the server was asked (a stranger's name may lead to this machine), the page that a
socket was opened from, and a cookie that only the bearer of the token got.
"""

import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any, final

from tellegen.compiler.kept_files import DistrustError, cache_folder, kept_files

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
