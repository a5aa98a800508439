"""Where parts come from: files beside the model, the library that comes with the package, examples that offer ports."""

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, is_name, listing
from tellegen.model.model import Model
from tellegen.notations.context import ReadingContext
from tellegen.notations.parts import rules
from tellegen.notations.yaml import rules as yaml_rules
from tellegen.notations.yaml.document import Document, Scalar, read_document

PACKAGE = Path(__file__).parent.parent.parent
LIBRARY = PACKAGE / "library"
"""The component library: one file a part, named like it."""
SYSTEMS = PACKAGE / "systems"
"""The built-in examples: one file a system, named like it; those that offer ports can be parts too."""

MOST_LEVELS = 16
MOST_FILES = 1000
MOST_PARTS = 200_000
SUFFIX = ".yaml"


PartReader = Callable[[Document, "PartLibrary", Mapping[str, int]], Model]
"""Reads a document as a part, with the parts that it uses itself; the numbers replace parameters that count."""


@final
class PartLibrary:
    """The parts of one reading. A file is read once, and once more for each other set of numbers that decides its size."""

    def __init__(self, read: PartReader, file: str, given: Mapping[str, Model], folder: Path | None) -> None:
        self.read = read
        self.top = file
        self.folder = folder
        self.given = given
        self.items = 0  # elements, parameters and signals made so far, in all parts
        self.parts = 0  # parts made so far, those inside others counted
        self._inside: dict[int, tuple[Model, int]] = {}
        self._kept: dict[tuple[Path, tuple[tuple[str, int], ...]], Model | None] = {}
        self._documents: dict[Path, Document] = {}
        self._reading = [Path(file).resolve()] if Path(file).is_file() else []

    def template(self, context: ReadingContext, use: Scalar, counts: Mapping[str, int]) -> Model | None:
        """The part that a text names; None where its errors were reported before.

        Raises: DescriptionError with what is wrong in its file, the first time that it is asked for.
        """
        if use.text in self.given and context.file == self.top:
            return self.given[use.text]
        shown = self._find(context, use)
        # Two ways to one file, by a link or by `a/../b`, are one part: else a file could use itself unseen.
        path = shown.resolve()
        if path in self._reading:
            raise self._recursion(context, use, path)
        key = (path, tuple(sorted(counts.items())))
        if key not in self._kept:
            # None until it is read: a second part from a file with errors does not tell them again.
            self._kept[key] = None
            self._check_size(context, use)
            document = self._document(context, use, shown)
            self._reading.append(path)
            try:
                self._kept[key] = self.read(document, self, counts)
            finally:
                self._reading.pop()
        return self._kept[key]

    def inside(self, model: Model) -> int:
        """How many parts a system has, those inside its parts counted."""
        found = self._inside.get(id(model))
        if found is None:
            found = (model, sum(1 + self.inside(part.model) for part in model.parts))
            self._inside[id(model)] = found  # the model is kept, so that nothing else gets its number
        return found[1]

    def _check_size(self, context: ReadingContext, use: Scalar) -> None:
        if len(self._reading) > MOST_LEVELS:
            what = f"'{use.text}' would be a part at level {len(self._reading)}"
            raise context.error(rules.TOO_DEEP, use, what, fix=f"keep the hierarchy within {MOST_LEVELS} levels")
        if len(self._kept) > MOST_FILES:
            what = f"the parts come from more than {MOST_FILES} files, or have more than {MOST_FILES} different sizes"
            raise context.error(rules.TOO_DEEP, use, what, fix="use one file several times, with other parameters")

    def _document(self, context: ReadingContext, use: Scalar, shown: Path) -> Document:
        path = shown.resolve()
        if path not in self._documents:
            try:
                self._documents[path] = read_document(shown)
            except TellegenError as error:
                if error.code != yaml_rules.CANNOT_READ.code:
                    raise
                raise self._missing(context, use, shown, error.what.rpartition(": ")[2]) from error
        return self._documents[path]

    # Where

    def _find(self, context: ReadingContext, use: Scalar) -> Path:
        text = use.text
        if text.endswith(SUFFIX) or "/" in text or "\\" in text:
            return self._beside(context, use)
        if is_name(text):
            for folder in (LIBRARY, SYSTEMS):
                if (folder / f"{text}{SUFFIX}").is_file():
                    return folder / f"{text}{SUFFIX}"
        near = self._folder(context)
        names, beside = part_names(), _files(near) if near else []
        if f"{text}{SUFFIX}" in beside:
            fix = f"write '{text}{SUFFIX}' for the file beside the model"
        else:
            fix = (
                did_you_mean(text, [*names, *beside])
                or f"name a file such as 'motor.yaml', or one of {listing(names, 40)}"
            )
        raise context.error(rules.NO_SUCH_PART, use, f"the library has no part '{text}'", fix=fix)

    def _beside(self, context: ReadingContext, use: Scalar) -> Path:
        """The file, which must lie in the folder of the model that uses it or below."""
        text = use.text
        folder = self._folder(context)
        if folder is None:
            what = f"the model is no file, so nothing lies beside it: '{text}'"
            fix = "use a part of the library, or Network.part in Python"
            raise context.error(rules.NO_SUCH_PART, use, what, fix=fix)
        if not text.endswith(SUFFIX):
            what = f"'{text}' is no model file, so it cannot be a part"
            raise context.error(rules.NO_PART_LINE, use, what, fix=f"name a file that ends in {SUFFIX}")
        shown = folder / text
        # Both by its text, which decides on every system alike, and by where links lead on this one.
        if _leads_out(text) or not _resolved(shown).is_relative_to(_resolved(folder)):
            what = f"the part '{text}' lies outside the folder of the model"
            raise context.error(rules.OUTSIDE_FOLDER, use, what, fix="put the file beside the model, or below")
        return shown

    def _folder(self, context: ReadingContext) -> Path | None:
        """The folder of the model that is being read; a text lies in none, a network built in Python where the program runs."""
        if context.file == self.top and self.folder is not None:
            return self.folder
        return Path(context.file).parent if Path(context.file).is_file() else None

    def _missing(self, context: ReadingContext, use: Scalar, shown: Path, reason: str) -> TellegenError:
        if shown.stem in part_names():
            fix = f"write 'use: {shown.stem}' for the part of the library"
        else:
            fix = did_you_mean(shown.name, _files(shown.parent)) or "put the file beside the model"
        return context.error(rules.NO_SUCH_PART, use, f"the part '{use.text}' cannot be read: {reason}", fix=fix)

    def _recursion(self, context: ReadingContext, use: Scalar, path: Path) -> TellegenError:
        chain = [p.name for p in (*self._reading[self._reading.index(path) :], path)]
        way = f": {' uses '.join(chain)}" if len(chain) > 2 else ""
        what = f"'{path.name}' is a part of itself{way}"
        return context.error(rules.RECURSION, use, what, fix="use another file, or leave the part out")


def part_names() -> list[str]:
    """The parts of the library, by name."""
    return [name.removesuffix(SUFFIX) for name in _files(LIBRARY)]


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob(f"*{SUFFIX}"))


def _leads_out(text: str) -> bool:
    """Whether a path is absolute or climbs, here or on another system."""
    return (
        PurePosixPath(text).is_absolute()
        or "\\" in text
        or bool(PureWindowsPath(text).drive)
        or ".." in text.split("/")
    )


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a circle of links leads nowhere
        return Path("/")
