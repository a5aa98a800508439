"""How the help of commands reads: a flag takes no value, and a word that must be given stands as it is written."""

from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup


class PlainCommand(TyperCommand):
    """A command whose help shows no type for flags and no braces round its words."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options and words, flags without the type that some versions of typer print."""
        return without_types_of_flags(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The words of the command line; a value that is refused is told without the words that some versions of typer add."""
        try:
            return super().parse_args(ctx, args)
        except BadParameter as refused:
            refused.message = refused.message.removeprefix("Value error, ")
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line: `MODEL`, not `{MODEL}`."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class PlainGroup(TyperGroup):
    """The list of commands, shown in the same way."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, flags without a type."""
        return without_types_of_flags(super().get_params(ctx))


def without_types_of_flags(options: list[Any]) -> list[Any]:
    """The options of a command; for flags an empty word takes the place of a type."""
    for option in options:
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""
    return options
