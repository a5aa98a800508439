"""What all pages of a studio share: the folder, the open documents, the workers, the pictures of the gallery."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.elements import KINDS, ElementKind
from tellegen.model.bond_graph import ITEMS
from tellegen.notations.network.keys import make_form
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, read_document
from tellegen.server import rules
from tellegen.server.document import OpenDocument
from tellegen.server.folder import EMPTY_PAGE, EXAMPLE, MOST_FILES, Folder, built_in
from tellegen.server.protocol import Hello, ModelCard, PaletteEntry, Theme
from tellegen.server.text import read_file
from tellegen.server.workers import Workers
from tellegen.workflow.files import examples

LOOK_S = 0.4
"""Files are looked at so often, for what other programs write."""
FULL = f"the folder has {MOST_FILES} models, and more are not made"
MOST_PICTURES = 400
PICTURE_S = 20.0
MOST_TITLES = 60
"""The heads of so many files are read; of more only the names are listed."""


@final
class Hub:
    """The state of one studio."""

    def __init__(self, folder: Path, first: str = "") -> None:
        self.folder = Folder(folder.resolve())
        self.first = first
        self.workers = Workers()
        self.documents: dict[str, OpenDocument] = {}
        self.drawing = asyncio.Lock()
        self.pictures: OrderedDict[tuple[str, str], str] = OrderedDict()
        self.looking: asyncio.Task[None] | None = None

    # -- Documents -------------------------------------------------------------------------------------------------------------

    def open(self, name: str) -> OpenDocument:
        """The document of a file or of an example, the same for all who have it open.

        Raises: DescriptionError (D720, D721, D722).
        """
        if name.startswith(EXAMPLE):
            return self._example(name)
        path = self.folder.existing(name)
        known = next((d for d in self.documents.values() if d.path == path and d.listeners), None)
        if known is not None:
            known.look()
            return known
        return self._keep(name, OpenDocument.opened(name, path))

    def _example(self, name: str) -> OpenDocument:
        known = self.documents.get(name)
        if known is not None and known.listeners and known.on_disk is None:
            return known
        file, _ = read_file(built_in(name.removeprefix(EXAMPLE)))
        own = self.folder.free_name(name.removeprefix(EXAMPLE))
        # In a full folder an example can be looked at, and no copy of it is written.
        refusal = FULL if self.folder.is_full() else ""
        return self._keep(name, OpenDocument.new(own, self.folder.path / own, file.text, refusal))

    def new(self, wanted: str, notation: str) -> OpenDocument:
        """An empty page under a free name; it becomes a file with its first change.

        Raises: DescriptionError (D720, D721).
        """
        name = self.folder.free_name(wanted or "model")
        title = Path(name).stem.replace("_", " ").capitalize()
        return self.take(name, EMPTY_PAGE.format(name=title, notation=notation))

    def take(self, wanted: str, text: str) -> OpenDocument:
        """A text as a new file of the folder, under a free name.

        Raises: DescriptionError (D720, D721; D722 for a text that is too long; D728 for a folder that is full).
        """
        if self.folder.is_full():
            raise rules.FULL_FOLDER.error(FULL, fix="remove some of them, or start the studio in another folder")
        stem = re.sub(r"\.\w+$", "", wanted)
        name = self.folder.free_name(stem)
        document = OpenDocument.new(name, self.folder.file(name), text)
        # Written at once: who makes a new model wants a file.
        document.write()
        return self._keep(name, document)

    def _keep(self, name: str, document: OpenDocument) -> OpenDocument:
        self.documents = {key: known for key, known in self.documents.items() if known.listeners}
        self.documents[name] = document
        return document

    # -- What pages get first --------------------------------------------------------------------------------------------------

    def hello(self, version: str, schema: dict[str, object]) -> Hello:
        """The lists of the start page."""
        return Hello(
            version=version,
            folder=self.folder.path.name or str(self.folder.path),
            file=self.first,
            files=tuple(files_of(self.folder)),
            examples=tuple(examples_of()),
            palette=palette(),
            schema=schema,
        )

    async def picture(self, name: str, theme: Theme) -> str:
        """The small picture of a model for the gallery.

        Raises: TellegenError where it cannot be drawn.
        """
        if name.startswith(EXAMPLE):
            path, folder = built_in(name.removeprefix(EXAMPLE)), self.folder.path
        else:
            path = self.folder.existing(name)
            folder = path.parent
        text = read_file(path)[0].text
        key = text, theme
        async with self.drawing:
            # One at a time: who opens a model meanwhile finds workers free.
            if key not in self.pictures:
                asked = text, path.name, str(folder), theme
                self.pictures[key] = await self.workers.call("thumbnail", *asked, seconds=PICTURE_S)
            while len(self.pictures) > MOST_PICTURES:
                self.pictures.popitem(last=False)
        self.pictures.move_to_end(key)
        return self.pictures[key]

    # -- Life ------------------------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Begin to look at files, and warm the first worker."""
        self.looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        await self.workers.warm()
        while True:
            await asyncio.sleep(LOOK_S)
            for document in list(self.documents.values()):
                if document.listeners:
                    # One file that cannot be read must not keep the others from being looked at.
                    with suppress(TellegenError, OSError):
                        document.look()

    async def end(self) -> None:
        """End the workers."""
        if self.looking is not None:
            self.looking.cancel()
            with suppress(asyncio.CancelledError):
                await self.looking
        self.workers.close()


# -- What can be opened and put into a model; nothing heavy is loaded for it -------------------------------------------------------


def files_of(folder: Folder) -> Iterator[ModelCard]:
    """The model files of a folder, with what they say they are."""
    for k, name in enumerate(folder.names()):
        title, about = title_of(folder.path / name) if k < MOST_TITLES else (name, "")
        yield ModelCard(name, title, about)


def examples_of() -> Iterator[ModelCard]:
    """The built-in examples."""
    for example in examples():
        title, _ = title_of(built_in(example.name))
        yield ModelCard(f"{EXAMPLE}{example.name}", title, example.about)


def palette() -> tuple[PaletteEntry, ...]:
    """What can be put into a network, and into a bond graph."""
    kinds = dict.fromkeys(kind.name for kind in KINDS.values())
    entries = [
        PaletteEntry(
            word=kind.name,
            group=" to ".join(dict.fromkeys(kind.domains)),
            summary=kind.summary,
            key=kind.quantity.key if kind.quantity is not None else "",
            unit=kind.quantity.unit if kind.quantity is not None else kind.domain.power(kind.side).unit,
            terminals=1 if kind.grounded else kind.terminals,
            domains=kind.domains,
            symbol=kind.quantity.key if kind.quantity is not None else kind.law.partition(" ")[0],
            settings=_settings(kind),
        )
        for kind in map(KINDS.__getitem__, kinds)
    ]
    bonds = [
        PaletteEntry(word, "bond graph", row.meaning, key="", unit="", terminals=1, domains=(), symbol=word)
        for word, row in ITEMS.items()
        if word in {"0", "1", "Se", "Sf", "R", "C", "I"}
    ]
    return (*entries, *bonds)


ASIDE = {"value", "notes", "domains", "relation", "schedule", "ambiguous", "no value", "no law"}
"""Keys of lines that are no settings of a field of their own."""


def _settings(kind: ElementKind) -> dict[str, str]:
    """What the line of an element may say beside its kind and value: the first of several words for each."""
    found: dict[str, str] = {}
    for name, key in make_form(kind).keys.items():
        if key.meaning not in ASIDE and key.summary not in found.values():
            found[name] = key.summary
    return found


def title_of(path: Path) -> tuple[str, str]:
    """The name of a system and what it is, from the head of its file; no model is built."""
    try:
        root = read_document(path).root
    except TellegenError:
        return path.stem, "This file cannot be read as a model yet."
    return _line(root, "system") or path.stem, _line(root, "about")


def _line(root: Node, key: str) -> str:
    found = root.get(key) if isinstance(root, MappingNode) else None
    return found.text if isinstance(found, Scalar) else ""
