"""The letters of a ladder: which kinds of element they can stand for, by domain and by the unit of a parameter."""

from functools import cache

from tellegen.core.domains import DOMAINS, Domain, Side
from tellegen.core.units import Dimension, parse_unit
from tellegen.description.ladders.blocks import RESISTIVE, STORAGES, SWITCHING, Way, gives, takes
from tellegen.elements import ElementKind, Role, kinds_of

_MECHANICS = ("translational", "rotational")
_AT_HOME = {
    "L": ("electrical", "hydraulic"),
    "M": ("translational",),
    "m": ("translational",),
    "J": ("rotational",),
    "E": _MECHANICS,
    "K": (*_MECHANICS, "hydraulic", "magnetic"),
}
"""The domains of letters that do not mean something everywhere."""


def at_home(letter: str) -> str:
    """The domains of a letter, in words."""
    return " and ".join(_AT_HOME.get(letter, tuple(DOMAINS)))


@cache
def domains_of(letter: str, dimension: Dimension) -> tuple[str, ...]:
    """The domains in which a letter can stand for an element with a parameter of this dimension."""
    return tuple(d.name for d in DOMAINS.values() if any(has_dimension(k, dimension) for k in kinds(letter, d)))


def has_dimension(kind: ElementKind, dimension: Dimension | None) -> bool:
    """Whether the parameter of a kind has a dimension."""
    return kind.quantity is not None and parse_unit(kind.quantity.unit).dimension == dimension


@cache
def kinds(letter: str, domain: Domain) -> tuple[ElementKind, ...]:
    """The kinds that a letter can stand for in a domain, the one that a bare number means first."""
    if domain.name not in _AT_HOME.get(letter, DOMAINS):
        return ()
    role: Role = "storage" if letter in STORAGES else "switching" if letter == SWITCHING else "resistive"
    found = kinds_of(domain.name, role)
    if role == "switching":
        return tuple(found)
    if role == "storage":
        fitting = [k for k in found if k.side == _storage_side(letter, domain)]
        return tuple(sorted(fitting, key=lambda k: k.inverse != (letter == "K")))
    sides: dict[str, Side] = {"R": domain.effort, "d": "across", "D": "across"}
    return tuple(sorted(found, key=lambda k: k.side != sides.get(letter, "through")))


def _storage_side(letter: str, domain: Domain) -> Side:
    if letter == "I":
        return domain.flow
    if letter in ("C", "K"):  # a stiffness is the reciprocal of a compliance
        return domain.effort
    return "across" if letter in ("M", "m", "J") else "through"


def field_kind(word: str, domain: Domain, way: Way) -> ElementKind | None:
    """The kind of the members of a field in one lane; None where the word stands for nothing there."""
    if word in STORAGES or word in RESISTIVE:
        return next((k for k in kinds(word, domain) if k.inverse == (word == "K")), None)
    role: Role = "storage" if word == "energy" else "resistive"
    side = takes(way) if word == "power" else gives(way)
    return next((k for k in kinds_of(domain.name, role) if k.side == side and not k.inverse), None)
