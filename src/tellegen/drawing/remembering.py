"""Files of figures, read for what they remember: text and numbers only, of which nothing is run, and never more than a bound."""

import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import unescape

from tellegen.core.errors import TellegenError
from tellegen.description.files import reason
from tellegen.drawing.memories import TEX_MARK, Remembered, from_text
from tellegen.drawing.raster import MEMORY
from tellegen.drawing.remembered import remembered
from tellegen.drawing.scene_json import from_json

MOST_BYTES = 100_000_000
"""Larger files are not looked at."""
LONGEST = 20_000_000
"""The longest memory, in characters."""
PNG_HEAD = b"\x89PNG\r\n\x1a\n"
CHUNK = 12
"""The bytes of a chunk of a PNG beside its data: length, kind and check sum."""


class NothingRememberedError(Exception):
    """The file is no figure of ours that remembers its places. The text says what it is instead."""


def recall(path: Path) -> Remembered:
    """What the file of a figure remembers.

    Raises: NothingRememberedError where it is no such file.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise NothingRememberedError(f"files '{path.suffix}' are no figures")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise NothingRememberedError("the file is too large")
        data = path.read_bytes()
    except OSError as error:
        raise NothingRememberedError(f"the file cannot be read: {reason(error)}") from error
    try:
        return reader(data)
    except (ValueError, TellegenError) as error:
        raise NothingRememberedError("the file says nothing of places, or is damaged") from error


def _line(text: str | None) -> Remembered:
    if text is None or len(text) > LONGEST:
        raise ValueError("no memory")
    return from_text(text)


def _from_svg(data: bytes) -> Remembered:
    # No parser of XML: nothing in a strange file is expanded or loaded.
    found = re.search(rb"<metadata>([^<]*)</metadata>", data)
    return _line(unescape(found[1].decode("ascii")) if found else None)


def _from_pdf(data: bytes) -> Remembered:
    found = re.search(rb"/Keywords \(((?:[^\\()]|\\.)*)\)", data, re.DOTALL)
    return _line(re.sub(r"\\(.)", r"\1", found[1].decode("ascii"), flags=re.DOTALL) if found else None)


def _from_png(data: bytes) -> Remembered:
    for kind, body in _chunks(data):
        name, _, text = body.partition(b"\0")
        if kind == b"tEXt" and name == MEMORY.encode():
            return _line(text.decode("ascii"))
    return _line(None)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG that are whole."""
    at = len(PNG_HEAD)
    while data.startswith(PNG_HEAD) and at + CHUNK <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += CHUNK + length
        if at > len(data) or zlib.crc32(kind + body) != int.from_bytes(data[at - 4 : at], "big"):
            return
        yield kind, body


def _from_tex(data: bytes) -> Remembered:
    lines = data.decode("utf-8").splitlines()
    found = [line.removeprefix(TEX_MARK) for line in lines if line.startswith(TEX_MARK)]
    return _line("".join(found) if found else None)


def _from_json(data: bytes) -> Remembered:
    found = remembered(from_json(data.decode("utf-8")))
    if found is None:
        raise ValueError("no memory")
    return found


READERS: dict[str, Callable[[bytes], Remembered]] = {
    ".svg": _from_svg,
    ".pdf": _from_pdf,
    ".png": _from_png,
    ".tex": _from_tex,
    ".json": _from_json,
}
"""How a memory is read, by suffix: those that figures are written with."""
