"""The text of a deck as cards: files that it includes, lines that go on, comments, words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, final

from tellegen.core.errors import DescriptionError, Finding, Place, Rule, TellegenError
from tellegen.core.files import MAX_BYTES, clip, failure_reason, find_forbidden, read_bytes
from tellegen.core.hidden_characters import HIDDEN
from tellegen.importing import rules as importing_rules
from tellegen.importing.spice import rules

MOST_LINES = 200_000
MOST_FILES = 100
MOST_LEVELS = 16
LONGEST_CARD = 100_000
MOST_FINDINGS = 50

_FORBIDDEN = re.compile(HIDDEN.pattern.replace("\n", "\n\r\f"))
# In braces or quotes a formula keeps its spaces; everything else ends at what separates words.
CARD_WORD = re.compile(r"\{[^{}]*\}|'[^']*'|\"[^\"]*\"|[=(),]|[^\s=(),{}'\"]+|[{}'\"]")
_COMMENT = re.compile(r";|\s\$(?=\s|$)|\s//")


@final
class Card(NamedTuple):
    """A card: its words, and where it begins. A word in braces or quotes is a formula."""

    text: str
    place: Place

    @property
    def words(self) -> list[str]:
        """The words, signs of their own among them: `=`, parentheses and commas."""
        return CARD_WORD.findall(self.text)

    @property
    def head(self) -> str:
        """The first word in small letters."""
        return self.text.split(None, 1)[0].lower()


@final
@dataclass(slots=True)
class Findings:
    """What was found in a deck: told together, so that one answer says everything."""

    errors: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    told: set[tuple[str, Place | None]] = field(default_factory=set)

    def error(self, rule: Rule, what: str, place: Place | None, fix: str) -> None:
        """Keep an error for the end of the reading; a subcircuit that is written in two ways tells it once."""
        if (what, place) not in self.told and len(self.errors) < MOST_FINDINGS:
            self.told.add((what, place))
            self.errors.append(rule.finding(what, fix=fix, place=place))

    def left_out(self, what: str, place: Place | None, fix: str) -> None:
        """Keep a warning; the same thing about many elements is told once."""
        if (what, None) not in self.told and len(self.warnings) < MOST_FINDINGS:
            self.told.add((what, None))
            self.warnings.append(rules.LEFT_OUT.finding(what, fix=fix, place=place))

    def raise_errors(self) -> None:
        """Raises: DescriptionError with the errors found until now."""
        if self.errors:
            raise DescriptionError(self.errors)


@final
class Deck(NamedTuple):
    """A deck before anything is understood: its title and its cards, those of included files among them.

    `runs` are the commands `tran` of the interactive shell, which many decks have in place of the card.
    """

    title: str
    cards: list[Card]
    runs: list[Card]


def read_deck(path: Path, findings: Findings) -> Deck:
    """The cards of a deck and of the files that it includes, which lie in its folder.

    Raises: DescriptionError for a file that cannot be read (D312), is too large (D317) or includes itself (D315).
    """
    return _Opening(path, findings).read()


class _Opening:
    """One deck being opened: how many lines and files there were so far, and which files are open."""

    def __init__(self, path: Path, findings: Findings) -> None:
        self.path, self.findings = path, findings
        self.folder = path.resolve().parent
        self.lines = self.files = 0
        self.open: list[tuple[Path, str]] = []
        self.title: str | None = None
        self.runs: list[Card] = []

    def read(self) -> Deck:
        cards = list(self._file(self.path, ""))
        title = (self.title or "").strip()
        return Deck((title[6:] if title.lower().startswith(".title") else title.lstrip("*;")).strip(), cards, self.runs)

    def _file(self, path: Path, section: str) -> Iterator[Card]:
        """The cards of a file, or of a section of it."""
        self.files += 1
        if self.files > MOST_FILES or len(self.open) >= MOST_LEVELS:
            raise _too_large(f"more than {MOST_FILES} files are included, or {MOST_LEVELS} inside each other", path)
        self.open.append((path.resolve(), section))
        lines = self._text(path)
        if self.title is None:
            self.title = lines[0] if lines else ""
            lines[:1] = [""]
        inside = not section
        for card in self._cards(path, lines):
            named = [word.lower().strip("'\"") for word in card.words[1:]]
            if section and (card.head == ".endl" or (card.head == ".lib" and len(named) == 1)):
                inside = named == [section] and card.head == ".lib"
            elif inside and card.head in (".include", ".inc", ".lib"):
                yield from self._included(card)
            elif inside and card.head != ".endl":
                yield card
                if card.head == ".end":
                    break
        self.open.pop()

    def _text(self, path: Path) -> list[str]:
        try:
            data = read_bytes(path, MAX_BYTES)
        except (OSError, ValueError) as error:
            what = f"'{path}' cannot be read: {failure_reason(error, absent='there is no such file')}"
            raise importing_rules.CANNOT_READ.error(what, fix="check the name and the folder") from error
        if len(data) > MAX_BYTES:
            raise _too_large(f"the file is larger than {MAX_BYTES // 2**20} MiB", path)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", errors="replace")  # as older editors on Windows saved it
        if (found := find_forbidden(_FORBIDDEN, text, str(path))) is not None:
            character, place = found
            what = f"{character} cannot stand in a deck"
            raise importing_rules.CANNOT_READ.error(what, fix="give a text, one card a line", place=place)
        self.lines += text.count("\n")
        if self.lines > MOST_LINES:
            raise _too_large(f"there are more than {MOST_LINES} lines", path)
        return text.replace("\f", " ").splitlines()

    def _cards(self, path: Path, lines: list[str]) -> Iterator[Card]:
        """Lines without comments, those that begin with a plus sign joined to the one before."""
        pieces: list[str] = []
        first = 0
        skipping = False
        for number, line in enumerate(lines, 1):
            text = line.strip()
            word = text.split(None, 1)[0].lower() if text else ""
            # Programs of the interactive shell are no part of the circuit, but what they run is told.
            if skipping or word == ".control":
                skipping = word != ".endc"
                if word == "tran":
                    self.runs.append(self._card(path, number, [f".{text}"]))
                continue
            # A bracket alone closes what nobody reads.
            if not text or text.startswith("*") or text == ")":
                continue
            if (found := _COMMENT.search(" " + text)) is not None:
                text = text[: max(0, found.start() - 1)].rstrip()
            if text.startswith("+"):
                pieces.append(text[1:])
                continue
            if pieces:
                yield self._card(path, first, pieces)
            pieces, first = ([text] if text else []), number
        if pieces:
            yield self._card(path, first, pieces)

    def _card(self, path: Path, line: int, pieces: list[str]) -> Card:
        text = " ".join(pieces).strip()
        if len(text) > LONGEST_CARD:
            raise _too_large(f"the card at line {line} has more than {LONGEST_CARD} characters", path)
        return Card(text or ".", Place(str(path), line, 1, clip(text)))

    def _included(self, card: Card) -> Iterator[Card]:
        found = card.text.split(None, 1)[1:]
        words = re.findall(r"\"[^\"]*\"|'[^']*'|\S+", found[0]) if found else []
        if not words:
            self.findings.error(rules.BAD_CARD, f"'{card.text}' names no file", card.place, "write the name of a file")
            return
        name = words[0].strip("\"'")
        section = words[1].lower() if card.head == ".lib" and len(words) > 1 else ""
        path = self.open[-1][0].parent / name.replace("\\", "/")
        try:
            whole = path.resolve()
            inside, there = whole.is_relative_to(self.folder), path.is_file()
        except (OSError, ValueError, RuntimeError):
            inside, there, whole = True, False, path
        if not inside or not there:
            why = "lies outside the folder of the deck" if not inside else "is not there"
            fix = "put it beside the deck, and include it by its name alone"
            self.findings.error(rules.OUTSIDE, f"the file '{clip(name)}' {why}", card.place, fix)
            return
        # A section of a library may include another one of the same file.
        if (whole, section) in self.open or (whole, "") in self.open[: 1 if section else None]:
            raise rules.GOES_ROUND.error(f"'{name}' includes itself", fix="remove the card", place=card.place)
        try:
            yield from self._file(path, section)
        except TellegenError as error:
            if error.code != importing_rules.CANNOT_READ.code:
                raise
            self.findings.error(rules.OUTSIDE, error.what, card.place, error.finding.fix)
            self.open.pop()


def _too_large(what: str, path: Path) -> TellegenError:
    fix = "import a part of it, or write repeated structure as a model file, by a count"
    return rules.TOO_LARGE.error(what, fix=fix, place=Place(str(path), 1, 1))
