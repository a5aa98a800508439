"""The commands of Tellegen run inside this process: the same code as in a shell, without the start of an interpreter."""

import contextlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tellegen.cli.main import run

PLAIN = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
"""What makes outputs the same on every terminal."""


class Finished(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def tellegen(
    *arguments: str, encoding: str = "utf-8", folder: Path | None = None, surroundings: Mapping[str, str] = PLAIN
) -> Finished:
    """Run a command in a folder, by default this one, with streams of an encoding."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="") for _ in range(2)]
    with (
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
        contextlib.chdir(folder or Path.cwd()),
        _environment(surroundings),
    ):
        code = run(list(arguments))
    for stream in streams:
        stream.flush()
        stream.seek(0)
    return Finished(code, streams[0].read(), streams[1].read())


def record_of(*arguments: str) -> Any:
    """What a command prints as JSON."""
    found = tellegen(*arguments, "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@contextlib.contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
