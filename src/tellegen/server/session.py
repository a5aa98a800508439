"""One page and its socket: what it asks, and what it is told.

Changes of the text are answered at once. Views follow: one pass at a time, always for the newest text; a pass that takes long is
ended when there is a newer one. A run that is asked for while another of the same slider is at work takes its place.
"""

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, final

from tellegen.core.errors import TellegenError
from tellegen.server import protocol, rules
from tellegen.server.document import OpenDocument, TextUpdate
from tellegen.server.folder import ENDINGS
from tellegen.server.hub import Hub
from tellegen.server.protocol import ToPage, to_record
from tellegen.server.text import BadChangeError
from tellegen.server.workers import WorkerBugError

PASS_S = 30.0
"""A view may take so long, in s."""
PATIENCE_S = 0.6
"""A pass for a text that is not the newest any more is ended after this."""
RUN_S = 600.0
GESTURE_S = 20.0
EXPORT_S = 120.0
MOST_TRIES = 3
MOST_RUNS = 40
"""Of so many runs it is known what was run: twice as many as a page keeps, since those that are pinned outlive others."""

Sender = Callable[[str | bytes], Awaitable[None]]


def frame(message: ToPage, numbers: Sequence[bytes]) -> bytes:
    """A message with what follows it, in one frame: the length of the text, the text, the bytes from a multiple of eight on."""
    text = json.dumps(to_record(message), allow_nan=False).encode()
    padding = -(len(text) + 4) % 8
    return struct.pack("<I", len(text)) + text + b" " * padding + b"".join(numbers)


@final
class Session:
    """A page. `send` gives it something; it may be slow, so that everything goes through one queue."""

    def __init__(self, hub: Hub, send: Sender) -> None:
        self.hub, self.send = hub, send
        self.queue: asyncio.Queue[ToPage | bytes] = asyncio.Queue()
        self.document: OpenDocument | None = None
        self.key = ""
        self.views: tuple[protocol.View, ...] = ()
        self.theme: protocol.Theme = "colour"
        self.dirty = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.runs: dict[int, asyncio.Event] = {}
        self.live: asyncio.Task[None] | None = None
        self.ran: dict[int, tuple[tuple[str, str, str], dict[str, str]]] = {}
        self.refining = asyncio.Event()

    async def serve(self, messages: "asyncio.Queue[dict[str, Any] | None]", hello: protocol.Hello) -> None:
        """Answer messages until there are no more."""
        self.tell(hello)
        background = [asyncio.create_task(self._write()), asyncio.create_task(self._passes())]
        try:
            while (record := await messages.get()) is not None:
                await self._answer(record)
        finally:
            self._leave()
            for stop in (*self.runs.values(), self.refining):
                stop.set()
            for task in (*background, *self.tasks):
                task.cancel()
            for task in (*background, *self.tasks):
                with suppress(asyncio.CancelledError, Exception):
                    await task

    def tell(self, message: ToPage, numbers: Sequence[bytes] | None = None) -> None:
        """Put a message into the queue."""
        self.queue.put_nowait(message if numbers is None else frame(message, numbers))

    async def _write(self) -> None:
        while True:
            message = await self.queue.get()
            if isinstance(message, bytes):
                await self.send(message)
            else:
                await self.send(json.dumps(to_record(message), allow_nan=False))

    # -- Messages --------------------------------------------------------------------------------------------------------------

    async def _answer(self, record: dict[str, Any]) -> None:
        number = record.get("id", 0)
        number = number if isinstance(number, int) and not isinstance(number, bool) else 0
        try:
            message = protocol.read_message(record)
        # Whatever a page sends that is no message is one answer: it must end nothing.
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self._fail(number, rules.NO_SUCH_GESTURE.error(f"this is no message of the studio: {error}"))
            return
        try:
            await self._do(message)
        except TellegenError as error:
            self._fail(number, error)
        except BadChangeError as error:
            self._fail(number, rules.NO_SUCH_GESTURE.error(str(error), fix="load the page again"))

    async def _do(self, message: protocol.FromPage) -> None:
        match message:
            case protocol.Open():
                self._open(message)
            case protocol.New():
                self._show(self.hub.new(message.name, message.notation), "", ())
            case protocol.Take():
                self._start(message.id, self._take(message))
            case protocol.Push():
                self._push(message)
            case protocol.Gesture():
                await self._gesture(message)
            case protocol.Undo():
                self._turn("undo")
            case protocol.Redo():
                self._turn("redo")
            case protocol.Show():
                self.views, self.theme = message.views, message.theme
                self.dirty.set()
            case protocol.Simulate():
                self._simulate(message)
            case protocol.Cancel():
                if message.id in self.runs:
                    self.runs[message.id].set()
            case protocol.Refine():
                self._start(message.id, self._refine(message))
            case protocol.Snapshot():
                self._snapshot(message)
            case protocol.Flow():
                self._start(message.id, self._flow(message))
            case protocol.PreviewLimit():
                self._start(message.id, self._limit(message))
            case protocol.CompareForms():
                self._start(message.id, self._forms(message))
            case protocol.Export():
                self._start(message.id, self._export(message))

    def _fail(self, number: int, error: TellegenError) -> None:
        found = error.finding
        self.tell(protocol.Failed(number, found.code, found.what, found.why, found.fix))

    def _complain(self, number: int, error: WorkerBugError) -> None:
        self.tell(protocol.Failed(number, "", f"an error of the studio itself: {error}", "", "report it, please"))

    def _start(self, number: int, work: Awaitable[None]) -> asyncio.Task[None]:
        async def watched() -> None:
            try:
                await work
            except TellegenError as error:
                self._fail(number, error)
            except WorkerBugError as error:
                self._complain(number, error)

        task = asyncio.create_task(watched())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    @property
    def _opened(self) -> OpenDocument:
        if self.document is None:
            raise rules.NO_SUCH_GESTURE.error("no file is open", fix="open one first")
        return self.document

    def _source(self) -> tuple[str, str, str]:
        """Text, name and folder of what is open, as workers want them."""
        document = self._opened
        return document.text, Path(document.name).name, str(document.path.parent)

    # -- The text --------------------------------------------------------------------------------------------------------------

    def _open(self, message: protocol.Open) -> None:
        document = self.hub.open(message.file)
        changes: Sequence[object] = ()
        if message.epoch:
            # The page was here before: what it lacks is told as one change of the text that it has.
            changes = document.moved_from(message.text)
        self._show(document, message.file, changes)

    def _show(self, document: OpenDocument, key: str, changes: Sequence[object]) -> None:
        self._leave()
        self.document, self.key = document, key or document.name
        document.listeners.append(self._changed)
        shown = document.name if document.on_disk is not None else self.key
        self.tell(
            protocol.Opened(
                file=shown,
                epoch=document.epoch,
                version=document.version,
                text=document.text,
                refusal=document.refusal,
                is_new=document.on_disk is None,
                changes=tuple(changes),
            )
        )
        self._tell_history()
        if self.views:
            self.dirty.set()

    def _leave(self) -> None:
        if self.document is not None and self._changed in self.document.listeners:
            self.document.listeners.remove(self._changed)
        self.document = None

    def _changed(self, version: int, updates: Sequence[TextUpdate], label: str, cause: str) -> None:
        told = tuple(protocol.Update(tuple(update.changes), update.client) for update in updates)
        self.tell(protocol.Updates(version, told, label, cause))
        self._tell_history()
        self.dirty.set()

    def _tell_history(self) -> None:
        document = self._opened
        undo = document.undoable[-1].label if document.undoable else ""
        redo = document.redoable[-1].label if document.redoable else ""
        saved = document.name if document.on_disk is not None else ""
        self.tell(protocol.UndoState(undo, redo, saved, document.refusal))

    def _push(self, message: protocol.Push) -> None:
        document = self._opened
        updates = [TextUpdate(_sections(one.changes), one.client) for one in message.updates]
        if not document.push(message.version, updates):
            self.tell(protocol.Rebase(document.version))

    async def _take(self, message: protocol.Take) -> None:
        """A file that was dragged into the page becomes one of the folder, and is open then."""
        name, text = message.file, message.text
        if not name.lower().endswith(ENDINGS):
            text = await self.hub.workers.call("taken", name, text, seconds=GESTURE_S)
        self._show(self.hub.take(name, text), "", ())

    def _snapshot(self, message: protocol.Snapshot) -> None:
        document = self._opened
        if message.act == "keep":
            document.keep(message.name)
        elif message.act == "restore":
            document.restore(message.name)
        elif message.act == "forget":
            document.forget(message.name)
        found = tuple(protocol.SnapshotLine(*one) for one in document.kept())
        self.tell(protocol.SnapshotsDone(message.id, found))

    def _turn(self, way: str) -> None:
        document = self._opened
        document.undo() if way == "undo" else document.redo()

    async def _gesture(self, message: protocol.Gesture) -> None:
        document = self._opened
        # Made by a worker; where the text changed meanwhile, made again of the new one.
        for _ in range(MOST_TRIES):
            document.look()
            before = document.text
            call = self.hub.workers.call(
                "gesture", *self._source(), message.name, dict(message.arguments), seconds=GESTURE_S
            )
            try:
                edit = await call
            except WorkerBugError as error:
                raise rules.NO_SUCH_GESTURE.error(f"an error of the studio itself: {error}", fix="report it") from error
            if document.text == before:
                document.edit(edit.label, edit.text)
                self.tell(protocol.Did(message.id, edit.note, edit.selected))
                return
        raise rules.GESTURE_DOES_NOT_FIT.error("the text changes all the time", fix="try again in a moment")

    # -- Views -----------------------------------------------------------------------------------------------------------------

    async def _passes(self) -> None:
        while True:
            await self.dirty.wait()
            self.dirty.clear()
            if self.document is None:
                continue
            work = asyncio.create_task(self._pass(self.document.version))
            newer = asyncio.create_task(self.dirty.wait())
            try:
                await asyncio.wait({work}, timeout=PATIENCE_S)
                await asyncio.wait({work, newer}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (work, newer):
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task

    async def _pass(self, version: int) -> None:
        """What a version of the text says, then its views, each as soon as it is ready."""
        source, call = self._source(), self.hub.workers.call
        try:
            found = await call("structure", version, *source, seconds=PASS_S)
            self.tell(found)
            if found.elements:
                views = [view for view in self.views if view != "text"]
                await asyncio.gather(*(self._draw(version, source, view) for view in views))
        except TellegenError as error:
            self._fail(0, error)
        except WorkerBugError as error:
            self._complain(0, error)

    async def _draw(self, version: int, source: tuple[str, str, str], view: protocol.View) -> None:
        try:
            found = await self.hub.workers.call("picture", *source, view, self.theme, seconds=PASS_S)
        except TellegenError as error:
            # One view that cannot be had is no reason to hold back the others.
            found = protocol.ViewPicture(view, reason=error.what)
        self.tell(protocol.ViewDrawn(version, found))

    def _simulate(self, message: protocol.Simulate) -> None:
        if message.live and self.live is not None and not self.live.done():
            self.live.cancel()
        task = self._start(message.id, self._run(message))
        if message.live:
            self.live = task

    async def _run(self, message: protocol.Simulate) -> None:
        stop = self.runs[message.id] = asyncio.Event()
        version = self._opened.version
        loop = asyncio.get_running_loop()

        def tell(reached: float, until: float) -> None:
            loop.call_soon_threadsafe(self.tell, protocol.Progress(message.id, reached, until))

        asked, source = (message.id, version, message.live), self._source()
        if not message.live:
            self.ran[message.id] = source, dict(message.parameters)
            while len(self.ran) > MOST_RUNS:
                del self.ran[next(iter(self.ran))]
        try:
            done, numbers = await self.hub.workers.call(
                "run", asked, source, dict(message.parameters), seconds=RUN_S, tell=tell, stop=stop
            )
        finally:
            del self.runs[message.id]
        self.tell(done, numbers)

    async def _refine(self, message: protocol.Refine) -> None:
        """The run again, with rows where somebody looks closely; who looks elsewhere meanwhile ends that."""
        self.refining.set()
        stop = self.refining = asyncio.Event()
        if message.run not in self.ran:
            what = f"run {message.run} is not known any more"
            raise rules.NO_SUCH_GESTURE.error(what, fix="run the model again")
        asked = message.id, message.run, (message.begin, message.end)
        source, parameters = self.ran[message.run]
        done, numbers = await self.hub.workers.call(
            "refine", asked, source, parameters, message.variables, seconds=RUN_S, stop=stop
        )
        if not stop.is_set():
            self.tell(done, numbers)

    async def _flow(self, message: protocol.Flow) -> None:
        found = await self.hub.workers.call(
            "flow", message.id, *self._source(), message.view, message.frames, self.theme, seconds=PASS_S
        )
        self.tell(found)

    async def _limit(self, message: protocol.PreviewLimit) -> None:
        limits = dict(message.limits)
        found = await self.hub.workers.call("limit", message.id, *self._source(), limits, self.theme, seconds=PASS_S)
        self.tell(found)

    async def _forms(self, message: protocol.CompareForms) -> None:
        found = await self.hub.workers.call("forms", message.id, *self._source(), seconds=EXPORT_S)
        self.tell(found)

    async def _export(self, message: protocol.Export) -> None:
        name, media, data = await self.hub.workers.call("export", self._source(), message, seconds=EXPORT_S)
        self.tell(protocol.ExportDone(message.id, name, media), [data])


def _sections(changes: Sequence[object]) -> list[int | list[int | str]]:
    made: list[int | list[int | str]] = []
    for section in changes:
        if isinstance(section, int) and not isinstance(section, bool):
            made.append(section)
        elif isinstance(section, list | tuple):
            made.append(list(section))
        else:
            raise BadChangeError("a section is a number or a list")
    return made
