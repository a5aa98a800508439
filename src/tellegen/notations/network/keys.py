"""Which keys the line of an element may have, from the registry of kinds; the reader and the JSON Schema share it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, final

from tellegen.core.domains import DOMAINS, THERMAL_DOMAINS, Domain, Side
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.elements import KINDS, START, ElementKind, schedule_key

KeyMeaning = Literal[
    "value",
    "variable",
    "ambiguous",
    "initial",
    "law",
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
HEAT = "heat"
"""The key that says where the heat of a dissipator goes."""
VALUE: tuple[KeyMeaning, str] = ("value", "")

_ALIASES = {"angular velocity": ("speed",), "velocity": ("speed",)}
"""Other words for a variable."""


@final
@dataclass(frozen=True, slots=True)
class LineForm:
    """How a line of one kind is written: its keys with what they mean, and the dimension of its value."""

    kind: ElementKind
    keys: dict[str, tuple[KeyMeaning, str]]
    dimension: Dimension
    initial: Dimension

    @property
    def known(self) -> list[str]:
        """The keys to offer when one is not understood."""
        return [key for key, (meaning, _) in self.keys.items() if meaning not in ("no value", "no law", "ambiguous")]


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


def make_form(kind: ElementKind) -> LineForm:
    """The form of a kind."""
    keys: dict[str, tuple[KeyMeaning, str]] = {}
    if kind.quantity is not None:
        keys |= dict.fromkeys((kind.quantity.key, kind.quantity.word, "value"), VALUE)
    else:
        keys["value"] = ("no value", "")
    keys |= _variables(kind)
    storage, lawful = kind.role == "storage", kind.role in ("storage", "resistive")
    keys["initial"] = ("initial" if storage else "no value", "")
    keys["law"] = ("law" if lawful else "no law", "law")
    keys["energy"] = ("law" if storage else "no law", "energy")
    keys["coenergy"] = ("law" if storage else "no law", "coenergy")
    keys["causality"] = ("causality", "")
    keys["notes"] = ("notes", "")
    if kind.role == "source":
        keys["signal"] = ("signal", "")
    if kind.role in ("resistive", "switching") and kind.domains[0] not in THERMAL_DOMAINS:
        keys[HEAT] = ("heat", "")
    if kind.role == "switching":
        keys |= _modes(kind)
    if kind.name == CONNECTION:
        keys |= {"domains": ("domains", ""), "relation": ("relation", "")}
    unit = kind.quantity.unit if kind.quantity else ""
    dimension = parse_unit(unit).dimension if unit else modulus_dimension(kind)
    return LineForm(kind, keys, dimension, parse_unit(kind.domain.power(kind.side).unit).dimension)


def _modes(kind: ElementKind) -> dict[str, tuple[KeyMeaning, str]]:
    """The keys of a kind with modes."""
    keys: dict[str, tuple[KeyMeaning, str]] = {START: ("start", "")}
    for setting in kind.settings:
        keys |= dict.fromkeys((setting.key, setting.word), ("setting", setting.key))
    if key := schedule_key(kind):
        keys[key] = ("schedule", "")
    return keys


def _variables(kind: ElementKind) -> dict[str, tuple[KeyMeaning, str]]:
    sides: tuple[Side, Side] = ("across", "through")
    keys: dict[str, tuple[KeyMeaning, str]] = {}
    if kind.role != "coupling":
        for side in sides:
            keys |= dict.fromkeys((*variable_words(kind.domain, side), side), ("variable", side))
        if kind.role == "storage":
            keys[kind.domain.energy(kind.side).word] = ("variable", "energy")
        return keys
    for port, domain in enumerate(kind.domains, start=1):
        for side in sides:
            for word in variable_words(DOMAINS[domain], side):
                keys[word] = ("ambiguous", word) if word in keys else ("variable", f"{side}_{port}")
    return keys | {f"{side}_{port}": ("variable", f"{side}_{port}") for port in (1, 2) for side in sides}


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
