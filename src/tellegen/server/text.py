"""Texts and their changes: what an editor in a browser sends, what is sent back, and files whose line ends and marks are kept.

A change of a text is a list of sections, as CodeMirror writes them: a number keeps so many characters, a list replaces so many by
the lines that follow. An editor counts in units of UTF-16, as browsers do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tellegen.core.files import LINE_BREAK, failure_reason, read_bytes, write_bytes
from tellegen.server import rules

Section = int | list[int | str]
ChangeSet = Sequence[Section]

MOST_BYTES = 4 * 1024 * 1024
"""A larger text is no pleasure in an editor, and every change of it crosses the socket."""

MARK = "\ufeff"


class BadChangeError(ValueError):
    """A change that does not fit the text that it is for."""


def apply_change(text: str, change: ChangeSet) -> str:
    """The text after a change.

    Raises: BadChangeError.
    """
    units = text.encode("utf-16-le", "surrogatepass")
    made: list[bytes] = []
    at = 0
    for section in change:
        if isinstance(section, bool) or not isinstance(section, int | list):
            raise BadChangeError("a section is a number or a list")
        kept = section if isinstance(section, int) else section[0] if section else None
        if not isinstance(kept, int) or isinstance(kept, bool) or kept < 0:
            raise BadChangeError("a section does not say how many characters it is about")
        end = at + 2 * kept
        if end > len(units):
            raise BadChangeError("the change is longer than the text")
        if isinstance(section, int):
            made.append(units[at:end])
        else:
            lines = section[1:]
            if not all(isinstance(line, str) for line in lines):
                raise BadChangeError("what is put in is no text")
            # Nothing behind the number removes; one text puts it in, several are lines.
            made.append("\n".join(map(str, lines)).encode("utf-16-le", "surrogatepass"))
        at = end
    if at != len(units):
        raise BadChangeError("the change is shorter than the text")
    try:
        return b"".join(made).decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise BadChangeError("the change tears a character apart") from error


def change_between(old: str, new: str) -> list[Section]:
    """The change that makes one text of another: everything between their common start and end."""
    if old == new:
        return [_units(old)] if old else []
    most = min(len(old), len(new))
    start = next((k for k in range(most) if old[k] != new[k]), most)
    end = next((k for k in range(most - start) if old[-1 - k] != new[-1 - k]), most - start)
    put: list[int | str] = [_units(old[start : len(old) - end])]
    inserted = new[start : len(new) - end]
    put += inserted.split("\n") if inserted else []
    sections: list[Section] = [put]
    if start:
        sections.insert(0, _units(old[:start]))
    if end:
        sections.append(_units(old[len(old) - end :]))
    return sections


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@final
@dataclass(frozen=True, slots=True)
class FileText:
    """A text as editors see it, its lines ended by `\\n`, and how the file writes it. `refusal` says why it cannot be written."""

    text: str
    newline: str = "\n"
    mark: bool = False
    refusal: str = ""

    def to_bytes(self, text: str) -> bytes:
        """Another text, written as this file writes."""
        return ((MARK if self.mark else "") + text.replace("\n", self.newline)).encode()


NEW = FileText("")


def read_file(path: Path) -> tuple[FileText, bytes]:
    """The text of a file with its bytes.

    Raises: DescriptionError (D721, D722) where it cannot be read, or is no text at all.
    """
    try:
        data = read_bytes(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        what = f"'{path.name}' cannot be read: {failure_reason(error)}"
        raise rules.NO_MODEL_FILE.error(what, fix="choose another file") from error
    if len(data) > MOST_BYTES:
        what = f"'{path.name}' is larger than {MOST_BYTES // 1024 // 1024} MB"
        raise rules.NOT_TO_BE_EDITED.error(what, fix="use 'tellegen check' and 'tellegen simulate' for it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"'{path.name}' is no text in UTF-8"
        raise rules.NOT_TO_BE_EDITED.error(what, fix="save it as UTF-8") from error
    mark = text.startswith(MARK)
    text = text.removeprefix(MARK)
    kinds = {found.group() for found in LINE_BREAK.finditer(text)}
    newline = kinds.pop() if len(kinds) == 1 else "\n"
    refusal = "its lines end in several ways" if kinds else ""
    return FileText(re.sub(LINE_BREAK, "\n", text), newline, mark, refusal), data


def write_file(path: Path, data: bytes) -> None:
    """Write a file so that it is whole at every moment.

    Raises: DescriptionError (D722).
    """
    try:
        write_bytes(path, data)
    except (OSError, ValueError) as error:
        what = f"'{path.name}' cannot be written: {failure_reason(error)}"
        raise rules.NOT_TO_BE_EDITED.error(what, fix="free some room, or choose another folder") from error
