"""Random and hostile messages and requests end in no crash, touch no file outside, and let the memory of the server be."""

import http.client
import json
import os
import random
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from server.test_access import cookie_of, socket
from support.studio import RunningStudio, needs_pages, running_studio
from tellegen.server.folder import MOST_FILES

pytestmark = [needs_pages, pytest.mark.slow]

SECONDS = 300.0
"""Each of the two kinds of attack goes on for so long."""
PARTS = 6
"""Memory is looked at after each part; the first one fills what is kept for good."""
GROWTH_MB = 60.0
MESSAGES = 125
"""So many come from one page."""
TEXT = "system: M\nparameters: {m: 1 kg}\nnetwork:\n  m: {mass: [a]}\n  K: {spring: [a, frame], K: 1 N/m}\n"
WORDS = [
    "open",
    "new",
    "push",
    "gesture",
    "undo",
    "redo",
    "show",
    "cancel",
    "previewlimit",
    "flow",
    "export",
    "compareforms",
    "simulate",
    "take",
    "refine",
    "snapshot",
    "nothing",
]
STRANGE: list[object] = [
    None, True, -1, 2**70, 1e308, "", "x" * 3000, "\x00", "\ud800", [], [[]], {}, {"a": {}}, "../../etc/passwd", "model.yaml",
    "example:rlc", "keep", "restore", 0.5, ["a"], [1, [0, "x"]], ["network", "bond"], "insert", "delete", "limit",
    {"m": "0"}, {"kind": "mass"},
]  # fmt: skip
FIELDS = [
    "file",
    "version",
    "updates",
    "id",
    "name",
    "arguments",
    "views",
    "theme",
    "parameters",
    "limits",
    "view",
    "text",
    "epoch",
    "what",
    "format",
    "at",
    "variables",
    "act",
    "run",
    "begin",
    "end",
]


PATHS = [
    "/",
    "/session",
    "/socket",
    "/picture/x",
    "/assets/x",
    "/assets/../../studio.py",
    "/%00",
    "/" + "a" * 5000,
    "//x",
    "*",
]


def _memory_mb(studio: RunningStudio) -> float:
    """What the server holds, and its largest worker: how many there are depends on what was asked at once."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError, IndexError):
            words = path.read_text()
            parents[int(path.parent.name)] = int(words.partition("PPid:")[2].split()[0]), words
    family = {studio.process.pid}
    while more := {pid for pid, (parent, _) in parents.items() if parent in family} - family:
        family |= more
    sizes = {pid: parents[pid][1].partition("VmRSS:")[2].split() for pid in family if pid in parents}
    held = {pid: int(size[0]) / 1024 for pid, size in sizes.items() if size}
    return held.pop(studio.process.pid) + max(held.values(), default=0.0)


def _parts(seconds: float) -> Iterator[float]:
    """The end of each part, by the clock."""
    began = time.monotonic()
    for part in range(PARTS):
        yield began + (part + 1) * seconds / PARTS


def _message(chance: random.Random) -> str:
    if chance.random() < 0.1:
        return "".join(chance.choice('{}[]":,0ax\\') for _ in range(chance.randint(0, 60)))
    record: dict[str, object] = {"kind": chance.choice(WORDS)}
    for name in chance.sample(FIELDS, chance.randint(0, 5)):
        record[name] = chance.choice(STRANGE)
    return json.dumps(record)


def test_no_message_ends_the_studio_or_leaves_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "model.yaml").write_text(TEXT)
    (tmp_path / "outside.yaml").write_text("system: Outside\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    chance = random.Random(5)
    with running_studio(folder) as studio:
        cookie = cookie_of(studio)
        sizes: list[float] = []
        for end in _parts(SECONDS):
            while time.monotonic() < end:
                with suppress(ConnectionClosed), socket(studio, cookie) as page:
                    page.send(json.dumps({"kind": "open", "file": "model.yaml"}))
                    for _ in range(MESSAGES):
                        page.send(_message(chance))
                        with suppress(TimeoutError):
                            page.recv(timeout=0.02)
            sizes.append(_memory_mb(studio))
        assert studio.process.poll() is None
        assert max(sizes[2:]) - max(sizes[:2]) < GROWTH_MB, sizes
        with socket(studio, cookie) as page:
            assert json.loads(page.recv())["kind"] == "hello"
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert all(name.endswith(".yaml") or name == ".tellegen" for name in os.listdir(folder))
    assert len(list(folder.rglob("*"))) < 2 * MOST_FILES


def test_no_request_ends_the_studio(tmp_path: Path) -> None:
    chance = random.Random(6)
    with running_studio(tmp_path) as studio:
        sizes: list[float] = []
        for end in _parts(SECONDS):
            while time.monotonic() < end:
                _attack(studio, chance)
            sizes.append(_memory_mb(studio))
        assert max(sizes[2:]) - max(sizes[:2]) < GROWTH_MB, sizes
        with pytest.raises(InvalidStatus), socket(studio, "none"):
            pass
        assert studio.process.poll() is None
        assert cookie_of(studio)


def _attack(studio: RunningStudio, chance: random.Random) -> None:
    """One request that nobody in his senses makes."""
    with closing(http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)) as web, suppress(OSError):
        headers = {
            name: chance.choice(["", "x", "http://evil.example", "127.0.0.1", f"127.0.0.1:{studio.port}", "a" * 2000])
            for name in chance.sample(["Host", "Origin", "Cookie", "Sec-Fetch-Site", "Upgrade", "Connection"], 3)
        }
        body = chance.choice(["", "{}", '{"token": 1}', "x" * 20_000])
        web.request(
            chance.choice(["GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT"]),
            chance.choice(PATHS),
            body,
            headers,
        )
        with suppress(http.client.HTTPException):
            answer = web.getresponse()
            assert answer.status in {101, 200, 204, 400, 403, 404, 405, 426}, answer.status
