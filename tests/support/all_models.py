"""Every model that comes with the project: built-in systems, parts of the library, netlists, and files on pages and of rules."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from code_blocks import ROOT, blocks, pages
from tellegen.core.shipped import LIBRARY, SYSTEMS
from tellegen.workflow.explaining import rules

USED = re.compile(r"use: ([\w./-]+\.yaml)")


@dataclass(frozen=True)
class ModelFile:
    """A file with the files beside it that it may use; `right` where it is known to be one that can be read."""

    name: str
    texts: tuple[tuple[str, str], ...]
    right: bool = True

    def put(self, folder: Path) -> Path:
        """Write the files into a folder; the path of the first, which is the model."""
        for name, text in self.texts:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder / self.texts[0][0]

    def __str__(self) -> str:
        return self.name


@cache
def all_models() -> tuple[ModelFile, ...]:
    """All of them, in an order that stays."""
    return (*_packaged(), *_of_pages(), *_of_rules())


def _packaged() -> Iterator[ModelFile]:
    for kind, folder in (("system", SYSTEMS), ("part", LIBRARY)):
        for path in (*sorted(folder.glob("*.yaml")), *sorted(folder.rglob("*.txt"))):
            # Netlists are from another tool and another time.
            yield ModelFile(f"{kind} {path.stem}", ((path.name, path.read_text(encoding="latin-1")),))


def _of_pages() -> Iterator[ModelFile]:
    for page in pages():
        found = [block for block in blocks(page) if block.language == "yaml" and "system:" in block.text]
        files = tuple((block.file, block.text) for block in found if block.file)
        for k, block in enumerate(found, start=1):
            own = (block.file or f"model_{k}.yaml", block.text)
            name = f"{page.relative_to(ROOT).with_suffix('')} {block.file or k}"
            # A part that a command of the page writes is not there yet.
            there = {(Path(own[0]).parent / used).as_posix() for used in USED.findall(block.text)} <= dict(files).keys()
            yield ModelFile(name, (own, *(file for file in files if file[0] != own[0])), right=there)


def _of_rules() -> Iterator[ModelFile]:
    for placed in rules():
        rule = placed.rule
        for word, text in (("example", rule.example), ("instead", rule.instead)):
            if text and placed.ending in (".yaml", ".txt"):  # others are imported first
                file = f"model{placed.ending}"
                yield ModelFile(f"{rule.code} {word}", ((file, text),), right=word == "instead")
