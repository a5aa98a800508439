"""Commands from dataclasses of options: what typer shows and reads is made from their fields.

Options that several commands have stand here once: the same words for the same thing everywhere.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from enum import Enum, StrEnum
from itertools import zip_longest
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import typer

from tellegen.core.options import OptionWords, contradictions, flag_of, option, required, words_of

PRINTED: Final = Path("-")
"""As the file to write: print the text instead, like a command without `-o`."""

Sign = Literal["-", "+"]
Options = TypeVar("Options")


class Command(NamedTuple):
    """A command: the function that takes its options, and command lines for the end of its help."""

    function: Callable[[Any], None]
    examples: tuple[str, ...]


def command(*examples: str) -> Callable[[Callable[[Options], None]], Command]:
    """Make a command of a function of one dataclass of options; the docstring is its help."""
    return lambda function: Command(function, examples)


# -- Options that several commands have ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OfModel:
    """The options of a command begin with the model."""

    model: str = required("A model file, or the name of a built-in example.", metavar="MODEL")


def as_json(**words: Any) -> Any:
    """The option `--json`."""
    return option(False, "Print JSON.", flag="--json", **words)


def as_latex(help: str = "Print LaTeX (amsmath).", **words: Any) -> Any:
    """The option `--latex`, which excludes `--json`."""
    return option(False, help, flag="--latex", **words)


def sign() -> Any:
    """The option `--sign`."""
    return option("-", "The sign of A: '-' for L x' = -A x + B u, '+' for L x' = A x + B u.")


def force() -> Any:
    """The option `--force`."""
    return option(False, "Replace a file that is there already.")


def settings(what: str = "A parameter, an input or an initial value") -> Any:
    """The option `--set`, once for each value."""
    return option({}, f"{what}, in SI or with a unit; once for each.", flag="--set", metavar="K=2e5")


def model_file(help: str = "Where to write the model; without it, or with '-', it is printed.") -> Any:
    """The option `-o` of a command that makes a model."""
    return option(None, help, flag="--output", short="-o", metavar="MODEL.yaml")


def printed_or_written(target: Path | None) -> Path | None:
    """The file to write, or None where the text is to be printed."""
    return None if target == PRINTED else target


# -- From a dataclass to a function that typer reads ------------------------------------------------------------------------------


def typer_function(made: Command) -> Callable[..., None]:
    """The function with a parameter for each option, as typer wants it."""
    # A command takes one argument, whose class lists all of its options.
    (kind,) = (hint for name, hint in get_type_hints(made.function).items() if name != "return")
    hints = get_type_hints(kind)
    known = {one.name: (one, words) for one in fields(kind) if (words := words_of(one))}

    def read(**given: Any) -> None:
        options = kind(**{name: _read(*known[name], hints[name], value) for name, value in given.items()})
        # Asked of the whole, as an option may exclude another one that stands behind it.
        for wrong in contradictions(options):
            raise typer.BadParameter(wrong)
        made.function(options)

    parts = [_parameter(one, words, hints[name]) for name, (one, words) in known.items()]
    # typer reads the annotations of some parameters and the signature for others.
    read.__signature__ = inspect.Signature(parts)  # type: ignore[attr-defined]
    read.__annotations__ = {part.name: part.annotation for part in parts}
    read.__doc__ = made.function.__doc__
    return read


def _parameter(one: Field[Any], words: OptionWords, hint: Any) -> inspect.Parameter:
    kind: Any = words.read or _plain(hint)
    about: dict[str, Any] = {"help": words.help}
    about |= {key: value for key, value in (("metavar", words.metavar), ("min", words.least)) if value}
    default = one.default
    # A default that a person would not type is no help in the help.
    if default is MISSING or words.quiet:
        about["show_default"] = False
    # Lists with None as default: an option that is absent then keeps the default of the dataclass.
    if words.once_for_each or _is_mapping(kind):
        kind, default = (list[str] if words.positional else list[str] | None), None
    elif get_origin(kind) is tuple:
        # Names with commas between them are one word of the shell.
        kind, default = str | None, None
    elif choices := get_args(kind) if get_origin(kind) is Literal else words.choices:
        # Versions of typer that know no Literal are meant to work too.
        kind = _words(one.name, choices)
    if default is None and not words.positional:
        kind = kind | None
    required_word = one.default is MISSING and one.default_factory is MISSING
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required_word else default,
        annotation=Annotated[kind, _spelt(one, words, about)],
    )


def _words(name: str, words: tuple[str, ...]) -> Any:
    """The type of a choice between words."""
    return StrEnum(name, {word: word for word in words})


def _spelt(one: Field[Any], words: OptionWords, about: dict[str, Any]) -> Any:
    if words.positional:
        return typer.Argument(**about)
    flag = flag_of(one)
    # What is on by default needs a word that turns it off.
    both = f"{flag}/--no-{flag[2:]}" if one.default is True else flag
    return typer.Option(*filter(None, (words.short, both)), **about)


def _read(one: Field[Any], words: OptionWords, hint: Any, value: Any) -> Any:
    """The value of a field, from what typer has read."""
    kind = words.read or _plain(hint)
    # The default of the field, not that of typer, so that Python and the command line mean the same.
    if value is None or value == [] or (get_origin(kind) is tuple and not value):
        return one.default if one.default_factory is MISSING else one.default_factory()
    if _is_mapping(kind):
        return pairs(value, flag_of(one), words.metavar)
    if words.once_for_each:
        return tuple(value)
    if get_origin(kind) is tuple:
        return name_list(value)
    return value.value if isinstance(value, Enum) else value


def _plain(hint: Any) -> Any:
    """A type without None."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    (kind,) = (part for part in get_args(hint) if part is not NoneType)
    return kind


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def pairs(texts: Iterable[str], option: str, example: str) -> dict[str, str]:
    """The names with their texts.

    Raises: typer.BadParameter for a text without `=`, or a name given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            raise typer.BadParameter(f"'{text}' is not of the form {example}", param_hint=option)
        # The last one would win silently otherwise.
        if name in found:
            raise typer.BadParameter(f"'{name}' is given twice", param_hint=option)
        found[name] = value
    return found


def name_list(text: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


# -- `--plot` without a file ---------------------------------------------------------------------------------------------------

SCREEN = "-"
"""Stands for a plot without a file name: a window where there is one, else a file named like the model."""

MODELS = (".yaml", ".yml", ".txt")


def with_plot_file(arguments: list[str]) -> list[str]:
    """The arguments with a target for each `--plot` that names no file: the parser wants a value for every such option."""
    return [
        # In one word: the parser would take the next word for the value otherwise.
        f"--plot={SCREEN}" if word == "--plot" and not _names_file(after) else word
        for word, after in zip_longest(arguments, arguments[1:], fillvalue="")
    ]


def _names_file(word: str) -> bool:
    return "." in word and not word.startswith("-") and not word.lower().endswith(MODELS)
