"""The `tellegen` command: its list of commands, how their help reads, and what it does with errors."""

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, Protocol

import typer
from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from tellegen.cli import output
from tellegen.cli.commands import (
    analyse,
    check,
    condition,
    derive,
    draw,
    examples,
    explain,
    export,
    import_,
    reduce,
    report,
    schema,
    simulate,
    stiffen,
    translate,
)
from tellegen.cli.options import with_plot_file
from tellegen.core.errors import TellegenError


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


class CommandModule(Protocol):
    """What the module of a command offers: the function that typer reads, and command lines to show."""

    @property
    def EXAMPLES(self) -> tuple[str, ...]:
        """Command lines for the end of its help."""

    @property
    def command(self) -> Callable[..., None]:
        """The function; its docstring and its parameters are the help of the command."""


COMMANDS: dict[str, CommandModule] = {
    "examples": examples,
    "check": check,
    "explain": explain,
    "derive": derive,
    "simulate": simulate,
    "analyse": analyse,
    "reduce": reduce,
    "draw": draw,
    "export": export,
    "stiffen": stiffen,
    "condition": condition,
    "report": report,
    "translate": translate,
    "import": import_,
    "schema": schema,
}
"""The commands in the order of `tellegen --help`."""

app = typer.Typer(
    name="tellegen",
    cls=PlainGroup,
    help="Energy-based modelling: from a network of physical elements to its causality and its equations.",
    epilog="MODEL is a file (YAML, or a POG_Modeler netlist ending in .txt) or the name of a built-in example.\n\n"
    "First steps: tellegen derive dc_motor_pump, tellegen simulate dc_motor_pump, tellegen check YOUR.yaml",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _module in COMMANDS.items():
    _word = "Example" if len(_module.EXAMPLES) == 1 else "Examples"
    app.command(_name, cls=PlainCommand, epilog="\n\n".join((f"{_word}:", *_module.EXAMPLES)))(_module.command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from tellegen import __version__

        output.write(f"tellegen {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Energy-based modelling: from a network of physical elements to its causality and its equations."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 errors in the model, 2 wrong usage, 3 a mistake of ours."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code. No input leads to a traceback."""
    try:
        app(with_plot_file(arguments), prog_name="tellegen")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else output.MODEL_ERRORS
    except TellegenError as error:
        output.write_findings(error.findings, as_json="--json" in arguments)
        return output.MODEL_ERRORS
    except KeyboardInterrupt:
        return output.INTERRUPTED
    except Exception as mistake:
        if os.environ.get("TELLEGEN_DEBUG"):
            raise
        output.complain(f"internal error, please report it: {type(mistake).__name__}: {mistake}")
        output.complain("(TELLEGEN_DEBUG=1 shows where)")
        return output.INTERNAL_ERROR
    return 0
