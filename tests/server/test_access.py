"""Who is let in: our own pages with the cookie; and which files a page can name."""

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import closing
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

import tellegen as tg
from support.studio import RunningStudio, needs_pages, running_studio
from tellegen.server.folder import Folder
from tellegen.server.protocol import View
from tellegen.server.views import picture

OUTSIDE = [
    "../secret.yaml", "/etc/passwd.yaml", "a/../../secret.yaml", "..\\secret.yaml", "C:\\secret.yaml", "", "link.yaml",
    "folder/secret.yaml", "x\0.yaml", "~/../secret.yaml", "sub/../../secret.yaml",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.yaml").write_text("system: Secret\n")
    (inside / "model.yaml").write_text("system: Model\n")
    os.symlink(tmp_path / "secret.yaml", inside / "link.yaml")
    os.symlink(tmp_path, inside / "folder")
    return Folder(inside.resolve())


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_and_no_link_leads_out_of_the_folder(folder: Folder, name: str) -> None:
    with pytest.raises(tg.DescriptionError) as error:
        folder.file(name)
    assert error.value.code in {"D720", "D721"}


def test_only_model_files_are_opened_and_made(folder: Folder) -> None:
    assert folder.existing("model.yaml").name == "model.yaml"
    for name in ("notes.txt", ".hidden.yaml", "model", "run.py"):
        with pytest.raises(tg.DescriptionError, match="D721"):
            folder.file(name)
    with pytest.raises(tg.DescriptionError, match=r"did you mean 'model\.yaml'"):
        folder.existing("modle.yaml")
    assert folder.free_name("model") == "model_2.yaml"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "model.yaml").write_text("system: M\nparameters: {m: 1 kg}\nnetwork:\n  m: {mass: [a]}\n")
    with running_studio(folder) as running:
        yield running


class Answer(NamedTuple):
    status: int
    headers: Message
    body: str


def ask(studio: RunningStudio, method: str, path: str, body: str = "", **headers: str) -> Answer:
    with closing(http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read().decode())


def cookie_of(studio: RunningStudio) -> str:
    answer = ask(studio, "POST", "/session", json.dumps({"token": studio.token}))
    assert answer.status == 204
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    return cookie.partition(";")[0]


def socket(studio: RunningStudio, cookie: str, origin: str = "") -> ClientConnection:
    own = f"http://127.0.0.1:{studio.port}"
    return connect(
        f"ws://127.0.0.1:{studio.port}/socket",
        origin=Origin(origin or own),
        additional_headers={"Cookie": cookie},
        max_size=None,
        proxy=None,
    )


@needs_pages
def test_only_our_own_pages_with_the_cookie_are_let_in(studio: RunningStudio) -> None:
    page = ask(studio, "GET", "/")
    assert page.status == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    nonce = policy.partition("nonce-")[2].partition("'")[0]
    assert nonce in page.body
    # A name of a stranger that leads to this machine, a page of a stranger, a wrong token, no cookie.
    assert ask(studio, "GET", "/", Host=f"evil.example:{studio.port}").status == 403
    assert (
        ask(studio, "POST", "/session", json.dumps({"token": studio.token}), Origin="http://evil.example").status == 403
    )
    assert ask(studio, "POST", "/session", json.dumps({"token": "guess"})).status == 403
    assert ask(studio, "POST", "/session", "x" * 10_000).status == 403
    assert ask(studio, "GET", "/picture/example%3Arlc").status == 403
    assert ask(studio, "DELETE", "/").status == 403
    for path in ("/assets/../index.html", "/assets/%2e%2e/%2e%2e/studio.py", "/..%2f..%2fstudio.py", "/" + "x" * 3000):
        assert ask(studio, "GET", path).status in {403, 404}
    cookie = cookie_of(studio)
    for wrong, origin in (("", ""), (cookie[:-3] + "abc", ""), (cookie, "http://evil.example"), (cookie, "null")):
        with pytest.raises(InvalidStatus), socket(studio, wrong, origin):
            pass
    with socket(studio, cookie) as open_one:
        hello = json.loads(open_one.recv())
        assert hello["kind"] == "hello"
        assert [card["file"] for card in hello["files"]] == ["model.yaml"]


@needs_pages
def test_a_page_can_name_no_file_outside_and_no_nonsense_ends_it(studio: RunningStudio) -> None:
    with socket(studio, cookie_of(studio)) as page:
        page.recv()
        for name in [*OUTSIDE, "example:../../../etc/passwd", "example:nobody"]:
            page.send(json.dumps({"kind": "open", "file": name}))
            assert json.loads(page.recv())["kind"] == "failed", name
        for nonsense in ("", "null", "[]", "{", '{"kind": "open"}', '{"kind": "push", "version": "x"}', "[" * 50_000):
            page.send(nonsense)
            assert json.loads(page.recv())["kind"] == "failed"
        page.send(json.dumps({"kind": "gesture", "id": 7, "name": "delete", "arguments": {}}))
        assert json.loads(page.recv())["id"] == 7
        page.send(json.dumps({"kind": "open", "file": "model.yaml"}))
        assert json.loads(page.recv())["text"].startswith("system: M")


def test_a_hostile_text_brings_no_script_into_a_view() -> None:
    evil = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    text = f"system: {json.dumps(evil)}\nabout: {json.dumps(evil)}\nnetwork:\n  m: {{mass: [a], m: 1 kg}}\n"
    views: tuple[View, ...] = ("network", "bond", "pog", "equations", "steps")
    pictures = [picture(text, "evil.yaml", ".", view, "colour") for view in views]
    shown = "".join(one.svg + "".join(one.lines) for one in pictures)
    assert "alert(1)" in shown
    assert "<script" not in shown
    assert "<img" not in shown
