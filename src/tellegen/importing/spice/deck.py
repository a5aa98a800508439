"""The cards of a deck by what they say: circuits inside circuits with their elements, models and parameters, and the experiment."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Final, NamedTuple, final

from tellegen.core.errors import Rule
from tellegen.core.files import clip
from tellegen.importing.spice import rules
from tellegen.importing.spice.lines import MOST_LEVELS, Card, Deck, Findings

GROUND = "0"
_GROUNDS = {"0", "gnd"}
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


class _Understanding:
    """The reading of cards: `circuit` is the one that the next card belongs to."""

    def __init__(self, deck: Deck, findings: Findings) -> None:
        self.deck, self.findings = deck, findings
        self.circuit = Circuit("")
        self.read_deck = ReadDeck(deck.title, self.circuit, findings)
        self.depth = 0

    def read(self) -> ReadDeck:
        for card in self.deck.cards:
            if card.head.startswith("."):
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
        if self.depth:
            what = f"the subcircuit '{self.circuit.name}' has no end"
            self.findings.error(
                rules.BAD_CARD, what, self.circuit.card.place if self.circuit.card else None, "end it with .ends"
            )
        return self.read_deck

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
        if re.match(r"\s*[a-zA-Z_]\w*\s*\([^)]*\)\s*=", text):
            self._error(
                rules.NOT_READ,
                f"'{clip(card.text, 40)}' defines a function",
                card,
                "write the formula where it is used",
            )
            return
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
