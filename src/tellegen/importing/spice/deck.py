"""A deck: its text as cards (files that it includes, lines that go on, comments), and what these say.

There are circuits inside circuits with their elements, models and parameters, and the experiment.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from string import ascii_lowercase
from typing import Final, NamedTuple, final

from tellegen.core.errors import DescriptionError, Finding, Place, Rule, TellegenError
from tellegen.core.files import MAX_BYTES, clip, failure_reason, find_forbidden, read_bytes
from tellegen.core.hidden_characters import HIDDEN
from tellegen.importing import rules as importing_rules
from tellegen.importing.spice import rules
from tellegen.importing.spice.values import DeckFunction, ValueProblemError, read_formula

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


GROUND = "0"
_GROUNDS = {"0", "gnd"}
_FUNCTION = re.compile(r"\s*([a-zA-Z_]\w*)\s*\(([^()]*)\)\s*=?\s*(.*)", re.DOTALL)
_ASSIGNMENT = re.compile(r"([a-zA-Z_][\w.]*)\s*=(?!=)\s*")

DROPPED: Final = (
    ".option", ".options", ".opt", ".plot", ".save", ".probe", ".width", ".end", ".title", ".nodeset", ".meas", ".measure",
    ".four", ".print", ".csparam", ".backanno",
)  # fmt: skip
"""Commands that say nothing about the circuit: how it is computed or shown. `.print`, `.plot` and `.save` name the outputs."""
ANALYSES: Final = (
    ".ac",
    ".dc",
    ".op",
    ".noise",
    ".tf",
    ".pz",
    ".sens",
    ".disto",
    ".step",
    ".temp",
    ".sp",
    ".pss",
    ".hb",
)
"""Commands that are told and left out: another analysis than `.tran`, another temperature."""


@final
class ElementCard(NamedTuple):
    """The card of an element: its words in order, and those that are given by name, in small letters."""

    name: str
    words: tuple[str, ...]
    options: dict[str, str]
    card: Card

    @property
    def letter(self) -> str:
        """The first letter of the name, which says what it is."""
        return self.name[0].lower()


@final
class DeviceModel(NamedTuple):
    """A `.model` card: its type and its parameters, both in small letters."""

    name: str
    type: str
    settings: dict[str, str]
    card: Card


@final
class DeckParameter(NamedTuple):
    """A parameter and the text of its value."""

    name: str
    text: str
    card: Card


@final
@dataclass(slots=True)
class Circuit:
    """The deck itself, or a subcircuit: what stands in it, names in small letters where they are looked up."""

    name: str
    card: Card | None = None
    parent: "Circuit | None" = None
    ports: list[str] = field(default_factory=list)
    defaults: dict[str, DeckParameter] = field(default_factory=dict)
    parameters: dict[str, DeckParameter] = field(default_factory=dict)
    models: dict[str, DeviceModel] = field(default_factory=dict)
    functions: dict[str, DeckFunction] = field(default_factory=dict)
    inside: dict[str, "Circuit"] = field(default_factory=dict)
    elements: dict[str, ElementCard] = field(default_factory=dict)

    def outwards(self) -> Iterator["Circuit"]:
        """This circuit and those around it."""
        circuit: Circuit | None = self
        while circuit is not None:
            yield circuit
            circuit = circuit.parent

    def subcircuit(self, name: str) -> "Circuit | None":
        """The subcircuit that a name means here."""
        return next((c.inside[name.lower()] for c in self.outwards() if name.lower() in c.inside), None)

    def model(self, name: str) -> DeviceModel | None:
        """The model that a name means here."""
        return next((c.models[name.lower()] for c in self.outwards() if name.lower() in c.models), None)

    def function(self, low: str) -> DeckFunction | None:
        """The function that a name in small letters means here."""
        return next((c.functions[low] for c in self.outwards() if low in c.functions), None)

    def parameter(self, low: str) -> DeckParameter | None:
        """The parameter of this circuit alone that a name in small letters means."""
        return self.parameters.get(low) or self.defaults.get(low)

    def own_parameters(self) -> dict[str, DeckParameter]:
        """The parameters that belong to this circuit alone."""
        return self.defaults | self.parameters


@final
@dataclass(slots=True)
class ReadDeck:
    """A deck by what its cards say."""

    title: str
    circuit: Circuit
    findings: Findings
    transient: Card | None = None
    initial: list[Card] = field(default_factory=list)
    shown: list[Card] = field(default_factory=list)
    global_nodes: set[str] = field(default_factory=set)
    temperature: Card | None = None


def node(word: str) -> str:
    """A node in small letters; the ground under one name.

    >>> node("GND"), node("Out")
    ('0', 'out')
    """
    low = word.lower()
    return GROUND if low in _GROUNDS else low


def understand(deck: Deck, findings: Findings) -> ReadDeck:
    """What the cards say; what is wrong with them is kept in the findings."""
    return _Understanding(deck, findings).read()


@final
class _Choice(Enum):
    """Of a choice: its cards count, a later branch may count, or one has."""

    TAKEN = "taken"
    WAITING = "waiting"
    DONE = "done"


class _Understanding:
    """The reading of cards: `circuit` is the one that the next card belongs to."""

    def __init__(self, deck: Deck, findings: Findings) -> None:
        self.deck, self.findings = deck, findings
        self.circuit = Circuit("")
        self.read_deck = ReadDeck(deck.title, self.circuit, findings)
        self.depth = 0
        self.choices: list[_Choice] = []
        self.sizes: dict[str, float | None] = {}

    def read(self) -> ReadDeck:
        for card in self.deck.cards:
            if card.head in (".if", ".elseif", ".else", ".endif"):
                self._choice(card)
            elif self.choices and self.choices[-1] is not _Choice.TAKEN:
                continue
            elif card.head.startswith("."):
                self._command(card)
            elif card.head[0].lower() in ascii_lowercase:
                self._element(card)
            else:
                self._error(
                    rules.NOT_READ,
                    f"a card begins with '{card.head[0]}'",
                    card,
                    "begin it with a letter from a to z, or '*' for a comment",
                )
        if self.read_deck.transient is None and self.deck.runs:
            self._run_of_the_shell(self.deck.runs)
        if self.choices:
            self.findings.error(rules.BAD_CARD, "an '.if' has no end", self.deck.cards[-1].place, "end it with .endif")
        if self.depth:
            what = f"the subcircuit '{self.circuit.name}' has no end"
            self.findings.error(
                rules.BAD_CARD, what, self.circuit.card.place if self.circuit.card else None, "end it with .ends"
            )
        return self.read_deck

    def _choice(self, card: Card) -> None:
        """Cards between `.if` and `.endif` count where the condition holds, which parameters with numbers decide."""
        around = self.choices[-1] if self.choices else None
        if card.head == ".if":
            if len(self.choices) >= MOST_LEVELS:
                what = f"choices stand more than {MOST_LEVELS} levels inside each other"
                raise rules.TOO_LARGE.error(what, fix="write out the choice", place=card.place)
            outside = around is not None and around is not _Choice.TAKEN
            self.choices.append(_Choice.DONE if outside else self._branch(card))
        elif around is None:
            self._error(
                rules.BAD_CARD, f"'{card.head}' belongs to no '.if'", card, "begin a choice with .if (CONDITION)"
            )
        elif card.head == ".endif":
            self.choices.pop()
        elif around is _Choice.TAKEN or around is _Choice.DONE:
            self.choices[-1] = _Choice.DONE
        else:
            self.choices[-1] = _Choice.TAKEN if card.head == ".else" else self._branch(card)

    def _branch(self, card: Card) -> "_Choice":
        text = card.text.split(None, 1)[1] if " " in card.text.strip() else card.text[len(card.head) :]
        try:
            value = read_formula(
                text, lambda low: low if self._size(low) is not None else "", None, self.circuit.function
            )
            sizes = {low: size for low in value.names if (size := self._size(low)) is not None}
            size = value.number(sizes)
        except ValueProblemError as problem:
            what = f"the condition '{clip(text, 40)}' cannot be decided: {problem}"
            self._error(rules.NOT_READ, what, card, "write the cards that are meant")
            return _Choice.TAKEN
        return _Choice.TAKEN if size else _Choice.WAITING

    def _size(self, low: str, depth: int = 0) -> float | None:
        """The size of a parameter that stands before, outside of subcircuits: inside, each use may set another one."""
        parameter = None if self.depth else self.circuit.parameters.get(low)
        if parameter is None or depth > MOST_LEVELS:
            return None
        # Each is found once: parameters that read others twice would be found a million times.
        if low not in self.sizes:
            try:
                names = self.circuit.parameters
                value = read_formula(
                    parameter.text, lambda name: name if name in names else "", None, self.circuit.function
                )
                known = {name: self._size(name, depth + 1) for name in value.names}
                self.sizes[low] = value.number({name: size for name, size in known.items() if size is not None})
            except ValueProblemError:
                self.sizes[low] = None
        return self.sizes[low]

    def _error(self, rule: Rule, what: str, card: Card, fix: str) -> None:
        self.findings.error(rule, what, card.place, fix)

    # Commands

    def _command(self, card: Card) -> None:
        head = card.head
        known = {
            ".subckt": self._begin,
            ".ends": self._end,
            ".param": self._parameters,
            ".parameters": self._parameters,
            ".model": self._model,
            ".global": self._globals,
            ".func": self._function,
        }
        if head in known:
            known[head](card)
        elif head == ".tran" and self.read_deck.transient is None:
            self.read_deck.transient = card
        elif head == ".tran":
            self.findings.left_out("a second '.tran' is left out: one run is read", card.place, "remove one of them")
        elif head == ".ic":
            self.read_deck.initial.append(card)
        elif head in ANALYSES:
            if head == ".temp":
                self.read_deck.temperature = card
            self.findings.left_out(
                f"'{head}' is left out: {_ANALYSIS_TOLD.get(head, 'a run over time is what is read')}",
                card.place,
                _ANALYSIS_FIX.get(head, "see 'tellegen analyse --help'"),
            )
        elif head in DROPPED or head == ".":
            if head in (".print", ".plot", ".save", ".probe"):
                self.read_deck.shown.append(card)
            if head == ".title":
                self.read_deck.title = card.text.partition(" ")[2].strip() or self.read_deck.title
        else:
            what = f"the command '{clip(card.words[0], 30)}' is not read"
            self._error(rules.NOT_READ, what, card, "remove the card, or write out what it stands for")

    def _run_of_the_shell(self, runs: list[Card]) -> None:
        """Without a card `.tran`, the first run of the deck's program is taken, unless it reads the program's own variables."""
        card = runs[0]
        if "$" in card.text or "{" in card.text:
            what = f"'{clip(card.text[1:], 40)}' in '.control' reads variables of the program: there is no run"
            self.findings.left_out(what, card.place, "write .tran STEP STOP")
            return
        self.read_deck.transient = card
        further = "" if len(runs) == 1 else f", the first of {len(runs)}"
        what = f"the run is '{clip(card.text[1:], 40)}' of '.control'{further}; what else the program does is left out"
        self.findings.left_out(what, card.place, "write .tran STEP STOP")

    def _begin(self, card: Card) -> None:
        words, options = split_words(card.words[1:])
        self.depth += 1
        if self.depth > MOST_LEVELS:
            what = f"subcircuits are defined inside each other {self.depth} levels deep"
            raise rules.TOO_LARGE.error(what, fix=f"keep them within {MOST_LEVELS} levels", place=card.place)
        if not words:
            self._error(rules.BAD_CARD, "a subcircuit has no name", card, "write .subckt NAME NODE ...")
            words = ["?"]
        name = words[0]
        made = Circuit(name, card, self.circuit, [node(word) for word in words[1:] if word.lower() != "params:"])
        made.defaults = {key: DeckParameter(key, text, card) for key, text in options.items()}
        if len(set(made.ports)) < len(made.ports):
            self._error(
                rules.BAD_CARD, f"the subcircuit '{name}' has a node twice", card, "give each port a node of its own"
            )
        known = self.circuit.inside.get(name.lower())
        if known is not None and known.card is not None and known.card.place == card.place:
            what = f"the subcircuit '{name}' is read once, although its file is included again"
            self.findings.left_out(what, card.place, "include the file once")
        elif known is not None:
            self._error(rules.BAD_CARD, f"there are two subcircuits '{name}'", card, "give one another name")
        self.circuit.inside[name.lower()] = made
        self.circuit = made

    def _end(self, card: Card) -> None:
        if self.circuit.parent is None:
            self._error(rules.BAD_CARD, "'.ends' ends nothing", card, "begin a subcircuit with .subckt")
            return
        self.depth -= 1
        self.circuit = self.circuit.parent

    def _parameters(self, card: Card) -> None:
        text = card.text.partition(" ")[2]
        if _FUNCTION.match(text):
            self._function(card)
            return
        self.sizes = {}
        found = list(_ASSIGNMENT.finditer(text))
        if not found or text[: found[0].start()].strip():
            self._error(
                rules.BAD_CARD, f"'{clip(card.text, 40)}' gives no parameter a value", card, "write .param NAME=VALUE"
            )
            return
        ends = [*(match.start() for match in found[1:]), len(text)]
        for match, end in zip(found, ends, strict=True):
            name, value = match[1], text[match.end() : end].strip().rstrip(",")
            self.circuit.parameters[name.lower()] = DeckParameter(name, value, card)

    def _function(self, card: Card) -> None:
        found = _FUNCTION.fullmatch(card.text.partition(" ")[2].strip())
        if found is None or not found[3].strip():
            what = f"'{clip(card.text, 40)}' defines no function"
            self._error(rules.BAD_CARD, what, card, "write .func NAME(x, y) {FORMULA}")
            return
        arguments = tuple(word.strip().lower() for word in found[2].split(",") if word.strip())
        text = found[3].strip()
        self.circuit.functions[found[1].lower()] = DeckFunction(
            arguments, text[1:-1] if text[0] in "{'" and text[-1] in "}'" else text
        )

    def _model(self, card: Card) -> None:
        words, options = split_words(card.words[1:])
        if len(words) < 2:
            self._error(rules.BAD_CARD, "a model needs a name and a type", card, "write .model NAME D(IS=1e-12)")
            return
        name, kind = words[0], words[1].lower()
        self.circuit.models[name.lower()] = DeviceModel(name, kind, options, card)

    def _globals(self, card: Card) -> None:
        self.read_deck.global_nodes |= {node(word) for word in card.words[1:]} - {GROUND}

    # Elements

    def _element(self, card: Card) -> None:
        if any(word in "{}'\"" for word in card.words):
            self._error(rules.BAD_CARD, f"'{clip(card.text, 40)}' has a brace or a quote alone", card, "close it")
            return
        words, options = split_words(card.words)
        if words and words[0] != card.words[0]:
            self._error(
                rules.BAD_CARD,
                f"'{clip(card.text, 40)}' gives its name a value",
                card,
                "write the nodes behind the name",
            )
            return
        # A card without a name is told where its circuit is used, as all that is not read: libraries are full of other things.
        found = ElementCard(words[0] if words else card.words[0], tuple(words[1:]), options, card)
        if found.name.lower() in self.circuit.elements:
            self._error(rules.BAD_CARD, f"there are two elements '{found.name}'", card, "give one another name")
        self.circuit.elements[found.name.lower()] = found


_ANALYSIS_TOLD = {".temp": "everything is at 27 degrees Celsius", ".step": "one run is read"}
_ANALYSIS_FIX = {
    ".temp": "set the parameters for that temperature",
    ".step": "see 'tellegen sweep --help'",
    ".op": "see 'tellegen simulate': a run begins at the operating point",
}


def split_words(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The words in order, and those given by name; parentheses and commas only separate."""
    plain: list[str] = []
    named: dict[str, str] = {}
    at = 0
    while at < len(words):
        word = words[at]
        if at + 2 < len(words) and words[at + 1] == "=" and word not in "(),=":
            named[word.lower()] = words[at + 2]
            at += 3
            continue
        if word not in "(),=":
            plain.append(word)
        at += 1
    return plain, named
