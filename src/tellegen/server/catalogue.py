"""What can be opened and what can be put into a model: the lists that a page gets first. Nothing heavy is loaded for them."""

from collections.abc import Iterator
from pathlib import Path

from tellegen.core.errors import TellegenError
from tellegen.elements import KINDS
from tellegen.model.bond_graph import ITEMS
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, read_document
from tellegen.server.folder import EXAMPLE, Folder, example_file
from tellegen.server.protocol import ModelCard, PaletteEntry
from tellegen.workflow.files import examples

MOST_TITLES = 60
"""The heads of so many files are read; of more only the names are listed."""


def files_of(folder: Folder) -> Iterator[ModelCard]:
    """The model files of a folder, with what they say they are."""
    for k, name in enumerate(folder.names()):
        title, about = title_of(folder.path / name) if k < MOST_TITLES else (name, "")
        yield ModelCard(name, title, about)


def examples_of() -> Iterator[ModelCard]:
    """The built-in examples."""
    for example in examples():
        title, _ = title_of(example_file(example.name))
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
        )
        for kind in map(KINDS.__getitem__, kinds)
    ]
    bonds = [
        PaletteEntry(word, "bond graph", row.meaning, key="", unit="", terminals=1, domains=(), symbol=word)
        for word, row in ITEMS.items()
        if word in {"0", "1", "Se", "Sf", "R", "C", "I"}
    ]
    return (*entries, *bonds)


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
