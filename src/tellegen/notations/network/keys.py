"""Which keys the line of an element may have, from the registry of kinds; reader, writer and JSON Schema share it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, final

from tellegen.core.domains import DOMAINS, THERMAL_DOMAINS, Domain, Side
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.elements import KINDS, START, ElementKind, connection, schedule_key
from tellegen.notations.grammar import (
    INDEXED_NAME,
    LISTED,
    NAME,
    NODE,
    NODES,
    QUANTITY,
    RANGES,
    SIGNAL,
    TEXT,
    AnyOf,
    Content,
    Key,
    Leaf,
    Listed,
    Record,
    Words,
    defined,
    schema_of,
)

KeyMeaning = Literal[
    "value",
    "variable",
    "ambiguous",
    "initial",
    "law",
    "potential",
    "height",
    "causality",
    "notes",
    "domains",
    "relation",
    "setting",
    "schedule",
    "start",
    "signal",
    "heat",
    "no value",
    "no law",
]
"""What a key sets; the last two are keys that other kinds have, so that the message can say more than `unknown`."""

CONNECTION = "connection"
MULTIPORT = "multiport"
FIELD = " field"
MIXED_FIELD = "field"
KINDS_OF_PORTS = "kinds"
EACH = "each"
HEAT = "heat"
"""The key that says where the heat of a dissipator goes."""
SIDES: tuple[Side, Side] = ("across", "through")

_ALIASES = {"angular velocity": ("speed",), "velocity": ("speed",)}
"""Other words for a variable."""


@final
class LineKey(NamedTuple):
    """A key of a line: what it sets, the variable or setting that is meant, what it holds, and its sentence."""

    meaning: KeyMeaning
    detail: str = ""
    holds: Content = TEXT
    summary: str = ""


_NOTES = LineKey("notes", "", Leaf("notes", {"type": "object"}), "what other tools wrote about the element")
_HEAT = LineKey("heat", "", NODE, "the thermal node that takes the heat")
_DRIVER = LineKey("signal", "", SIGNAL, "what drives the source")
_INITIAL = LineKey(
    "initial", "", QUANTITY, "the output of the storage at the start, or what it holds: its unit tells which"
)
_ENERGY = LineKey("law", "energy", TEXT, "the stored energy, of what is stored or of the output")
_POTENTIAL = LineKey("potential", "", TEXT, "the potential energy, a formula of displacements and parameters")
_HEIGHT = LineKey(
    "height", "", QUANTITY, "how high it is, a formula of displacements: gravity pulls it; a new name is a displacement"
)
_COENERGY = LineKey("law", "coenergy", TEXT, "the co-energy, of the output")
_CAUSALITY = LineKey(
    "causality",
    "",
    TEXT,
    "integral, derivative, or the power variable that the element decides; with 'force' before it a demand",
)
_DOMAINS = LineKey("domains", "", AnyOf((Listed(Words(tuple(DOMAINS)), 2, 2), TEXT)), "the domains of the two sides")
_RELATION = LineKey("relation", "", TEXT, "how the two sides are related, such as through_2 = K*through_1")
_NO_VALUE, _NO_LAW = LineKey("no value"), LineKey("no law")


@final
@dataclass(frozen=True, slots=True)
class LineForm:
    """How a line of one kind is written: its keys with what they mean, and the dimension of its value."""

    kind: ElementKind
    keys: dict[str, LineKey]
    dimension: Dimension
    initial: Dimension

    @property
    def known(self) -> list[str]:
        """The keys to offer when one is not understood."""
        return [name for name, key in self.keys.items() if key.meaning not in ("no value", "no law", "ambiguous")]

    def record(self, word: str) -> Record:
        """The line as a mapping that begins with `word`."""
        domain = " and ".join(dict.fromkeys(self.kind.domains))
        first = Key(word, NODES, f"{self.kind.summary} ({domain}); {self.kind.law}", required=True)
        others = [Key(name, *self.keys[name][2:]) for name in self.known if name != word]
        return Record((first, *others), self.kind.summary)


def with_article(word: str) -> str:
    """`a spring`, `an inductor`."""
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def variable_words(domain: Domain, side: Side) -> tuple[str, ...]:
    """The words that name a power variable of a domain."""
    word = domain.power(side).word
    return (word, *_ALIASES.get(word, ()))


@lru_cache(maxsize=256)
def form_of(word: str) -> LineForm | None:
    """The form of the lines whose first key is `word`, or None where the word names no kind."""
    kind = KINDS.get(word)
    return None if kind is None else make_form(kind)


@lru_cache(maxsize=256)
def make_form(kind: ElementKind) -> LineForm:
    """The form of a kind."""
    keys: dict[str, LineKey] = {}
    if kind.quantity is not None:
        summary = kind.quantity.word + _in_unit(kind.quantity.unit)
        value = LineKey("value", "", QUANTITY, summary)
        # `R: 3 ohm`, `resistance: 3 ohm` and `value: 3 ohm` say the same: letters for books, words for those who forgot
        # them.
        keys |= dict.fromkeys((kind.quantity.key, kind.quantity.word, "value"), value)
    else:
        keys["value"] = _NO_VALUE
    keys |= _variables(kind)
    storage, lawful = kind.role == "storage", kind.role in ("storage", "resistive")
    keys["initial"] = _INITIAL if storage else _NO_VALUE
    told = {"type": "string", "description": f"a law of its variables instead of a value, such as {kind.law}"}
    law = LineKey("law", "law", AnyOf((Leaf("law", told), defined("law_table"))))
    keys["law"] = law if lawful else _NO_LAW
    keys["energy"] = _ENERGY if storage else _POTENTIAL if kind.role == "potential" else _NO_LAW
    keys["coenergy"] = _COENERGY if storage else _NO_LAW
    keys["causality"] = _CAUSALITY
    keys["notes"] = _NOTES
    if kind.role == "source":
        keys["signal"] = _DRIVER
    if kind.name == "mass":
        keys["height"] = _HEIGHT
    # What is lost in a thermal domain is heat already.
    if kind.role in ("resistive", "switching") and kind.domains[0] not in THERMAL_DOMAINS:
        keys[HEAT] = _HEAT
    if kind.role == "switching":
        keys |= _modes(kind)
    if kind.name == CONNECTION:
        keys |= {"domains": _DOMAINS, "relation": _RELATION}
    unit = kind.quantity.unit if kind.quantity else ""
    dimension = parse_unit(unit).dimension if unit else modulus_dimension(kind)
    return LineForm(kind, keys, dimension, parse_unit(kind.domain.power(kind.side).unit).dimension)


def initial_dimension(form: LineForm, content: bool) -> Dimension:
    """The dimension of an initial value: that of the output, or of what a storage holds."""
    return parse_unit(form.kind.domain.energy(form.kind.side).unit).dimension if content else form.initial


def _in_unit(unit: str) -> str:
    return f" in {unit}" if unit not in ("", "1") else ""


def _modes(kind: ElementKind) -> dict[str, LineKey]:
    keys = {START: LineKey("start", "", Words(tuple(kind.modes)), "the mode in which a run begins")}
    for setting in kind.settings:
        formula = ", a formula of signals, variables and time" if setting.formula else ""
        key = LineKey("setting", setting.key, QUANTITY, setting.word + _in_unit(setting.unit) + formula)
        keys |= dict.fromkeys((setting.key, setting.word), key)
    if word := schedule_key(kind):
        summary = f"the times at which it is {word}, and no longer, in turn"
        keys[word] = LineKey("schedule", "", Listed(QUANTITY, 1, text=True), summary)
    return keys


def _variable(word: str, side: str) -> LineKey:
    return LineKey("variable", side, NAME, f"names the {word}")


def _variables(kind: ElementKind) -> dict[str, LineKey]:
    keys: dict[str, LineKey] = {}
    if kind.role != "coupling":
        for side in SIDES:
            keys |= {word: _variable(word, side) for word in (*variable_words(kind.domain, side), side)}
        if kind.role == "storage":
            word = kind.domain.energy(kind.side).word
            keys[word] = _variable(word, "energy")
        return keys
    for port, domain in enumerate(kind.domains, start=1):
        for side in SIDES:
            for word in variable_words(DOMAINS[domain], side):
                # `current` of a transformer names neither side; the key is kept so that the message can offer both.
                keys[word] = LineKey("ambiguous", word) if word in keys else _variable(word, f"{side}_{port}")
    return keys | {word: _variable(word, word) for port in (1, 2) for side in SIDES for word in (f"{side}_{port}",)}


def has_dimension(kind: ElementKind, dimension: Dimension | None) -> bool:
    """Whether the parameter of a kind has a dimension."""
    return kind.quantity is not None and parse_unit(kind.quantity.unit).dimension == dimension


def kind_that_fits(kinds: Sequence[ElementKind], dimension: Dimension | None, keys: Iterable[str]) -> ElementKind:
    """Of several kinds the one whose parameter has the dimension given, or whose key is used; else the first."""
    used = set(keys)
    fitting = [kind for kind in kinds if has_dimension(kind, dimension)]
    keyed = [kind for kind in kinds if kind.quantity is not None and kind.quantity.key in used]
    return (*fitting, *keyed, *kinds)[0]


def modulus_dimension(kind: ElementKind) -> Dimension:
    """The dimension of a modulus that relates the two sides of a connection."""
    if kind.role != "coupling":
        return DIMENSIONLESS
    left, _, right = kind.law.partition(" = ")
    return port_dimension(kind.domains, left).over(port_dimension(kind.domains, right.split("*")[1]))


def port_dimension(domains: tuple[str, ...], variable: str) -> Dimension:
    """The dimension of a port variable such as `across_1`."""
    side, _, port = variable.partition("_")
    return parse_unit(DOMAINS[domains[int(port) - 1]].power("across" if side == "across" else "through").unit).dimension


# Lines that no single kind has


def connection_record() -> Record:
    """The line of a coupling that is given by its relation."""
    form = make_form(connection(("electrical", "rotational"), "transformer"))
    ports = [f"{side}_{port}" for port in (1, 2) for side in SIDES]
    words = [variable.word for domain in DOMAINS.values() for variable in (domain.across, domain.through)]
    return Record(
        (
            Key(CONNECTION, NODES, form.kind.summary, required=True),
            Key("domains", *_DOMAINS[2:], required=True),
            Key("relation", *_RELATION[2:], required=True),
            *(Key(name, QUANTITY, "modulus") for name, key in form.keys.items() if key.meaning == "value"),
            *(Key(word, NAME, f"names the {word}") for word in dict.fromkeys([*ports, *words, "speed"])),
            Key("notes", *_NOTES[2:]),
        ),
        form.kind.summary,
    )


def details_record() -> Record:
    """What can be said about an element whose kind a bond graph or a ladder decides: the keys of all kinds."""
    found: dict[str, Key] = {}
    for kind in [*dict.fromkeys(KINDS.values()), connection(("electrical", "rotational"), "transformer")]:
        form = make_form(kind)
        for name in form.known:
            key = form.keys[name]
            # The letter of a value in one kind may be the word of a variable in another: both are texts.
            text = key.meaning in ("value", "setting", "start", "variable")
            if key.meaning not in ("domains", "relation"):
                told = Leaf(key.meaning, schema_of(Key("", key.holds, key.summary)))
                found.setdefault(name, Key(name, AnyOf((QUANTITY if text else told, LISTED))))
    return Record(
        (
            *found.values(),
            Key("matrix", LISTED, "couples the ports of a field, row by row"),
            Key("ports", LISTED, "I or C for each port of an IC field"),
            Key("kind", TEXT, "the kind of an element with modes"),
            Key(KINDS_OF_PORTS, LISTED, "the kind of each port of a field, such as [resistor, conductor]"),
        ),
        empty=True,
    )


_SEVERAL_NODES = Listed(NODE, 4, text=True)


def field_record() -> Record:
    """Storages or resistive elements coupled by a matrix."""
    kinds = tuple(word for word, kind in KINDS.items() if kind.role in ("storage", "resistive") and not kind.inverse)
    words = sorted({word for d in DOMAINS.values() for side in SIDES for word in (*variable_words(d, side), side)})
    indexed = {"type": "string", "pattern": INDEXED_NAME, "description": "a name with the index of each"}
    formula = {"type": "string", "description": "every entry by its row and column, which count from 1"}
    rows = Leaf("rows", {**schema_of(Listed(Listed(QUANTITY, 2), 2)), "description": "one row a port"})
    names = AnyOf((Listed(NAME, 2, text=True), Leaf("indexed", indexed)))
    ports = AnyOf((_SEVERAL_NODES, Listed(NODE, 2, 2)))  # two nodes with `each`
    return Record(
        (
            *(Key(f"{word}{FIELD}", ports) for word in kinds),
            Key(MIXED_FIELD, _SEVERAL_NODES),
            Key(EACH, RANGES, "one port for each value of an index"),
            Key(KINDS_OF_PORTS, Listed(Words(kinds), 2, text=True)),
            Key("matrix", AnyOf((rows, Leaf("formula", formula)))),
            Key("energy", TEXT, "a formula of the energy variables, such as phi_1 and x_2"),
            Key("law", Listed(TEXT), "outputs by energy variables"),
            Key("initial", Listed(QUANTITY, 2, text=True)),
            *(Key(word, names) for word in words),
        ),
        any_of=(("matrix",), ("energy",), ("law",)),
        one_of=(*((f"{word}{FIELD}",) for word in kinds), (MIXED_FIELD, KINDS_OF_PORTS)),
    )


MULTIPORT_LINE = Record(
    (
        Key(MULTIPORT, _SEVERAL_NODES, required=True),
        Key("domains", Listed(Words(tuple(DOMAINS)), 2, text=True), required=True),
        Key("relation", AnyOf((TEXT, Listed(TEXT, 1))), required=True),
    )
)
