"""The folder that a studio serves: which model files it has, which path a name stands for, and none outside of it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tellegen.core.files import MAX_BYTES
from tellegen.core.names import did_you_mean
from tellegen.core.shipped import example_file, example_names
from tellegen.server import rules

ENDINGS = (".yaml", ".yml")
EXAMPLE = "example:"
"""What the name of a built-in example begins with, to tell it from a file."""
EMPTY_PAGE = "system: {name}\n\nparameters:\n\n{notation}:\n\nexperiment:\n  until: 10 s\n"
"""A new model. Its sections are there, so that what is put in finds its place."""
MOST_FILES = 500
"""More files of a folder are not listed, and the studio makes no more."""
DEEPEST = 4
"""Folders inside folders are looked into so far."""
LEFT_OUT = frozenset({"node_modules", "__pycache__", "build", "dist", "venv"})


@final
@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, by its real path."""

    path: Path

    def file(self, name: str) -> Path:
        """The path of a model file of the folder; it need not exist.

        Raises: DescriptionError (D720) for a name that leads out of the folder, (D721) for one of no model file.
        """
        # A name comes from a page: everything that is not a plain relative path is refused before the system sees it.
        parts = name.replace("\\", "/").split("/")
        if (
            not name
            or len(name) > 1000
            or not _is_path(name)
            or ".." in parts
            or Path(name).is_absolute()
            or ":" in parts[0]
        ):
            raise _outside(name)
        if not name.lower().endswith(ENDINGS) or parts[-1].startswith("."):
            what = f"'{name}' does not end in .yaml or .yml"
            raise rules.NO_MODEL_FILE.error(what, fix="give a name such as 'motor.yaml'")
        path = self.path.joinpath(*parts)
        # A link may stand anywhere on the way; where it leads counts.
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self.path):
            raise _outside(name)
        if os.path.lexists(path) and not os.path.isfile(real):
            raise rules.NO_MODEL_FILE.error(f"'{name}' is no file", fix="choose another name")
        return real

    def existing(self, name: str) -> Path:
        """The path of a model file that is there.

        Raises: DescriptionError (D720, D721).
        """
        path = self.file(name)
        if not path.is_file():
            fix = did_you_mean(name, list(self.names())) or "choose a file of the list"
            raise rules.NO_MODEL_FILE.error(f"there is no file '{name}' in the folder", fix=fix)
        return path

    def names(self) -> Iterator[str]:
        """The model files of the folder, by their names relative to it, in order."""
        found = 0
        for folder, folders, files in os.walk(self.path):
            depth = len(Path(folder).relative_to(self.path).parts)
            hidden = (name for name in folders if name.startswith(".") or name in LEFT_OUT)
            kept = sorted(set(folders) - set(hidden))
            folders[:] = kept if depth < DEEPEST else []
            for name in sorted(files):
                path = Path(folder, name)
                if name.lower().endswith(ENDINGS) and not name.startswith(".") and _is_small(path):
                    yield path.relative_to(self.path).as_posix()
                    found += 1
                    if found >= MOST_FILES:
                        return

    def is_full(self) -> bool:
        """Whether it has as many models as are listed: a page that makes one after the other must come to an end."""
        return sum(1 for _ in self.names()) >= MOST_FILES

    def free_name(self, wanted: str) -> str:
        """The name itself where no file has it, else with the first number that makes it new."""
        stem = wanted[: -len(".yaml")] if wanted.endswith(".yaml") else wanted
        name, k = f"{stem}.yaml", 2
        while os.path.lexists(self.path / name):
            name, k = f"{stem}_{k}.yaml", k + 1
        return name


def built_in(name: str) -> Path:
    """The file of a built-in example.

    Raises: DescriptionError (D721).
    """
    names = example_names()
    if name not in names:
        fix = did_you_mean(name, names) or "choose one of the list"
        raise rules.NO_MODEL_FILE.error(f"there is no built-in example '{name}'", fix=fix)
    return example_file(name)


def _is_path(name: str) -> bool:
    """Whether the system can have a file of this name at all."""
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _is_small(path: Path) -> bool:
    try:
        return path.stat().st_size <= MAX_BYTES
    except OSError:
        return False  # a link that leads nowhere


def _outside(name: str) -> Exception:
    what = f"'{name[:80]}' does not lie in the folder of the studio"
    return rules.OUTSIDE.error(what, fix="start the studio with the folder that it lies in")
