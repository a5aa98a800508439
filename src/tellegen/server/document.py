"""One open file: its text, the changes that it went through, one history for all who look at it, and the file on disk.

The file on disk is the only truth. Each change is on it before anybody is told that it was made, so that no end of a process loses
one; what another program writes there becomes a step of the history, too. Who sends a change says which version of the text it is
for. A change for an earlier version is not made: its sender gets what came between, moves its own change behind that, and asks
again.
"""

import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import unified_diff
from pathlib import Path
from time import monotonic
from typing import Literal, final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean
from tellegen.server import rules
from tellegen.server.text import (
    MOST_BYTES,
    ChangeSet,
    FileText,
    Section,
    apply_change,
    change_between,
    read_file,
    write_file,
)

MOST_STEPS = 500
"""So many steps can be taken back."""
MOST_UPDATES = 20_000
"""Who is further behind than this gets the whole text."""
TYPING_S = 1.0
"""Letters that follow each other faster than this are one step."""

ANY_WRITER = 0o222
MOST_SNAPSHOTS = 50
MOST_COMPARED = 200_000
"""Texts with more characters are not compared line by line."""
_SNAPSHOT_NAME = re.compile(r"\w(?:[\w .,+()-]{0,58}[\w)+])?")

Cause = Literal["typing", "gesture", "undo", "redo", "disk"]


@final
@dataclass(frozen=True, slots=True)
class TextUpdate:
    """One change of a text: the sections of it, and who made it (the name of a client, or nothing)."""

    changes: ChangeSet
    client: str = ""


@final
@dataclass(slots=True)
class Step:
    """What one undo takes back: the text before and after, and words for it. `until` is when letters still join it."""

    label: str
    before: str
    after: str
    until: float = 0.0
    client: str = ""


Listener = Callable[[int, Sequence[TextUpdate], str, Cause], None]
"""Told the version before, the changes since, what they were, and why."""


@final
@dataclass
class OpenDocument:
    """A file that is open in one tab or several. `path` need not exist: an example is written when it is first changed."""

    name: str
    path: Path
    file: FileText
    on_disk: bytes | None
    text: str = ""
    epoch: str = field(default_factory=lambda: secrets.token_hex(8))
    updates: list[TextUpdate] = field(default_factory=list)
    dropped: int = 0
    undoable: list[Step] = field(default_factory=list)
    redoable: list[Step] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)

    @classmethod
    def opened(cls, name: str, path: Path) -> "OpenDocument":
        """The document of a file.

        Raises: DescriptionError (D721, D722).
        """
        file, data = read_file(path)
        return cls(name, path, file, data, file.text)

    @classmethod
    def new(cls, name: str, path: Path, text: str, refusal: str = "") -> "OpenDocument":
        """A document that becomes a file with its first change; `refusal` says why it cannot."""
        return cls(name, path, FileText(text, refusal=refusal), None, text)

    @property
    def version(self) -> int:
        """How many changes the text went through."""
        return self.dropped + len(self.updates)

    @property
    def refusal(self) -> str:
        """Why the file cannot be edited; empty where it can."""
        if self.file.refusal:
            return self.file.refusal
        there = self.path if self.path.exists() else self.path.parent
        # Replaced by renaming, which asks for the rights of the folder; the file's own say what its owner wants, to those too who
        # may write everything.
        marked = there == self.path and not there.stat().st_mode & ANY_WRITER
        own = not marked and os.access(there, os.W_OK) and os.access(self.path.parent, os.W_OK)
        return "" if own else "it is read-only"

    # -- Changes ---------------------------------------------------------------------------------------------------------------

    def push(self, version: int, updates: Sequence[TextUpdate]) -> bool:
        """Make changes that somebody typed; False where they are for another version of the text.

        Raises: DescriptionError (D722); BadChangeError.
        """
        self.look()
        if version != self.version:
            return False
        text = self.text
        for update in updates:
            text = apply_change(text, update.changes)
        if updates:
            self._change(text, list(updates), "typing", "typing")
        return True

    def edit(self, label: str, text: str, cause: Cause = "gesture") -> None:
        """Make one step of what a gesture made of the text.

        Raises: DescriptionError (D722).
        """
        if text != self.text:
            self._change(text, [TextUpdate(change_between(self.text, text))], label, cause)

    def undo(self) -> str:
        """Take the last step back, and give its words; nothing where there is none."""
        return self._turn(self.undoable, self.redoable, "undo")

    def redo(self) -> str:
        """Do again what was taken back last."""
        return self._turn(self.redoable, self.undoable, "redo")

    def _turn(self, steps: list[Step], others: list[Step], cause: Literal["undo", "redo"]) -> str:
        self.look()
        if not steps:
            return ""
        step = steps[-1]
        text = step.before if cause == "undo" else step.after
        change = change_between(self.text, text)
        self._save(text)
        others.append(steps.pop())
        step.until = 0.0
        self._tell(text, [TextUpdate(change)], step.label, cause)
        return step.label

    def _change(self, text: str, updates: list[TextUpdate], label: str, cause: Cause) -> None:
        # Written before anything is remembered: where the system refuses, nothing has happened.
        self._save(text)
        now, client = monotonic(), updates[-1].client
        last = self.undoable[-1] if self.undoable else None
        if cause == "typing" and last is not None and last.client == client and now < last.until:
            last.after, last.until = text, now + TYPING_S
        else:
            until = now + TYPING_S if cause == "typing" else 0.0
            self.undoable.append(Step(label, self.text, text, until, client))
            del self.undoable[:-MOST_STEPS]
        self.redoable.clear()
        self._tell(text, updates, label, cause)

    def _tell(self, text: str, updates: list[TextUpdate], label: str, cause: Cause) -> None:
        version = self.version
        self.text = text
        self.updates += updates
        if len(self.updates) > MOST_UPDATES:
            self.dropped += len(self.updates) - MOST_UPDATES // 2
            del self.updates[: -MOST_UPDATES // 2]
        for listener in list(self.listeners):
            listener(version, updates, label, cause)

    def since(self, version: int) -> Sequence[TextUpdate] | None:
        """The changes since a version; None where they are not known any more."""
        if not self.dropped <= version <= self.version:
            return None
        return self.updates[version - self.dropped :]

    def moved_from(self, text: str) -> list[Section]:
        """The change that makes of a text which somebody still has the present one."""
        return change_between(text, self.text)

    # -- Snapshots -------------------------------------------------------------------------------------------------------------

    def keep(self, name: str) -> None:
        """Keep the text as it is under a name, in a file of its own.

        Raises: DescriptionError (D722, D729).
        """
        path = self._snapshot(name)
        if len(list(self._snapshots())) >= MOST_SNAPSHOTS and not path.is_file():
            what = f"'{self.name}' has {MOST_SNAPSHOTS} snapshots already"
            raise rules.SNAPSHOT.error(what, fix="forget one that is not needed any more")
        if self.on_disk is None:
            self.write()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, self.file.to_bytes(self.text))

    def restore(self, name: str) -> None:
        """Take the text of a snapshot, as one step that can be taken back.

        Raises: DescriptionError (D721, D722, D729).
        """
        self.look()
        self.edit(f"back to '{name}'", read_file(self._snapshot(name, known=True))[0].text)

    def forget(self, name: str) -> None:
        """Remove a snapshot.

        Raises: DescriptionError (D729).
        """
        self._snapshot(name, known=True).unlink()

    def kept(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """The snapshots, the latest first: the name, the time, and how the present text differs, in the lines of `diff`."""
        found = []
        for path in sorted(self._snapshots(), key=lambda path: path.stat().st_mtime_ns, reverse=True):
            at = datetime.fromtimestamp(path.stat().st_mtime).isoformat(" ", "minutes")
            found.append((path.stem, at, _differences(path, self.text)))
        return found

    @property
    def _place(self) -> Path:
        """The folder of the snapshots of this file. Hidden, so that it is no part of what the folder offers."""
        return self.path.parent / ".tellegen" / self.path.name

    def _snapshots(self) -> Iterator[Path]:
        place = self._place
        # A link that came with a folder must not lead the studio elsewhere.
        if place.is_dir() and Path(os.path.realpath(place)) == Path(
            os.path.realpath(self.path.parent), *place.parts[-2:]
        ):
            yield from (path for path in place.glob("*.yaml") if path.is_file() and not path.is_symlink())

    def _snapshot(self, name: str, *, known: bool = False) -> Path:
        if not _SNAPSHOT_NAME.fullmatch(name):
            what = f"'{name[:80]}' cannot be the name of a snapshot"
            raise rules.SNAPSHOT.error(
                what, fix="use up to 60 letters, digits, spaces, '.', ',', '-', '+', '(' and ')'"
            )
        path = self._place / f"{name}.yaml"
        there = list(self._snapshots())
        if known and path not in there:
            fix = did_you_mean(name, [one.stem for one in there]) or "keep one first"
            raise rules.SNAPSHOT.error(f"there is no snapshot '{name}' of '{self.name}'", fix=fix)
        if path not in there and os.path.lexists(self._place) and os.path.realpath(self._place) != str(self._place):
            what = f"the folder '.tellegen' beside '{self.name}' leads elsewhere"
            raise rules.SNAPSHOT.error(what, fix="remove the link")
        return path

    # -- The file --------------------------------------------------------------------------------------------------------------

    def look(self) -> bool:
        """Take over what another program wrote into the file; whether it did.

        A file that was removed or cannot be read is left alone: the next change writes it again.
        """
        if self.on_disk is None and not self.path.exists():
            return False
        try:
            file, data = read_file(self.path)
        except TellegenError:
            return False
        if data == self.on_disk:
            return False
        changed = file.text != self.text
        self.file, self.on_disk = file, data
        if changed:
            self.undoable.append(Step("a change of the file by another program", self.text, file.text))
            self.redoable.clear()
            update = TextUpdate(change_between(self.text, file.text))
            self._tell(file.text, [update], "a change of the file by another program", "disk")
        return changed

    def write(self) -> None:
        """Write the text as it is, where the file is not there yet.

        Raises: DescriptionError (D722).
        """
        self._save(self.text)

    def _save(self, text: str) -> None:
        if refusal := self.refusal:
            what = f"'{self.name}' cannot be edited: {refusal}"
            raise rules.NOT_TO_BE_EDITED.error(what, fix="save a copy under another name and edit that")
        data = self.file.to_bytes(text)
        if len(data) > MOST_BYTES:
            what = f"'{self.name}' would be larger than {MOST_BYTES // 1024 // 1024} MB"
            raise rules.NOT_TO_BE_EDITED.error(what, fix="use parts, or a repeated line")
        write_file(self.path, data)
        self.on_disk = data


def _differences(path: Path, text: str) -> tuple[str, ...]:
    try:
        before = read_file(path)[0].text
    except TellegenError as error:
        return (error.finding.what,)
    if len(before) + len(text) > MOST_COMPARED:
        return ("the texts are too long to be compared",) if before != text else ()
    return tuple(unified_diff(before.split("\n"), text.split("\n"), n=1, lineterm=""))[2:]
