"""Options of commands: one field of a dataclass each, with the words that a command line needs; Python takes it as a keyword."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import signature
from typing import Any, final

WORDS = "option"
"""The key under which a field keeps its words. A field without them is for Python only."""


@final
@dataclass(frozen=True, slots=True)
class OptionWords:
    """How a command line asks for a field, beside its name and its type.

    `flag` stands where the name with hyphens does not do. `read` is the type of the text where the field takes more than that,
    and `choices` are the words that it may be. `needs` and `excludes` name other fields. A text of several names has commas,
    unless the option is given `once_for_each`. `quiet` keeps the default out of the help. A `positional` word has no flag.
    """

    help: str
    flag: str = ""
    short: str = ""
    metavar: str = ""
    read: type | None = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    needs: str = ""
    excludes: tuple[str, ...] = ()
    once_for_each: bool = False
    quiet: bool = False
    positional: bool = False


def option(default: object, help: str, **words: Any) -> Any:
    """A field that is an option; `words` are those of `OptionWords`."""
    kept = {WORDS: OptionWords(help, **words)}
    # A dictionary would be shared by all instances.
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=kept)
    return field(default=default, metadata=kept)


def required(help: str, **words: Any) -> Any:
    """A field that must be given; without a flag of its own it is a word of the command line, not an option."""
    return field(metadata={WORDS: OptionWords(help, positional="flag" not in words, **words)})


def words_of(one: Field[Any]) -> OptionWords | None:
    """The words of a field, None where it is for Python only."""
    found = one.metadata.get(WORDS)
    assert found is None or isinstance(found, OptionWords), "kept by `option`"
    return found


def flag_of(one: Field[Any]) -> str:
    """How a field is asked for on a command line: `--max-step`."""
    words = words_of(one)
    return (words.flag if words else "") or f"--{one.name.replace('_', '-')}"


def values(options: object, kind: type) -> dict[str, Any]:
    """The fields of `kind` in options that have them too, by name: the keywords of the function that takes `kind`."""
    return {one.name: getattr(options, one.name) for one in fields(kind)}


def keywords(options: Any, function: Callable[..., Any]) -> dict[str, Any]:
    """The options that a function takes as keywords, by name."""
    taken = {one.name for one in signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY}
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name in taken}


def contradictions(options: Any) -> list[str]:
    """What is wrong between options: one without another that it needs, or two that exclude each other."""
    known: Mapping[str, Field[Any]] = {one.name: one for one in fields(options)}
    # A field that has its default was not asked for, as far as anybody can tell.
    given = {name for name, one in known.items() if getattr(options, name) != _default(one)}
    found = []
    for name in (name for name in known if name in given):
        words = words_of(known[name])
        if words is None:
            continue
        if words.needs and words.needs not in given:
            found.append(f"{flag_of(known[name])} goes with {flag_of(known[words.needs])}")
        found += [
            f"{flag_of(known[name])} and {flag_of(known[other])} exclude each other"
            for other in words.excludes
            if other in given
        ]
    return found


def _default(one: Field[Any]) -> object:
    return one.default if one.default_factory is MISSING else one.default_factory()
