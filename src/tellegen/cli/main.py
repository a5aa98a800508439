"""The `tellegen` command: its list of commands, how their help reads, and what it does with errors."""

import gc
import os
import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from tellegen.cli import output
from tellegen.cli.options import Command, typer_function, with_plot_file
from tellegen.core.errors import TellegenError


class CommandPlace(NamedTuple):
    """The module in which a command stands, and its line in the list of commands: `--help` loads no command."""

    module: str
    line: str


COMMANDS = {
    "examples": CommandPlace("files", "List the built-in systems."),
    "check": CommandPlace("check", "Find errors, and say what the states are."),
    "explain": CommandPlace(
        "check", "Say what the code of an error means: why, a file that is wrong, and one that is right."
    ),
    "derive": CommandPlace("derive", "Derive the equations of a model."),
    "simulate": CommandPlace("experiments", "Simulate a model: its experiment, or what the options say."),
    "sweep": CommandPlace("studies", "Run a model many times, over ranges, draws or a table of values."),
    "fit": CommandPlace("studies", "Find parameters from measured data, and say what the data can tell."),
    "influence": CommandPlace("studies", "Say which parameters decide what a run gives."),
    "optimise": CommandPlace(
        "studies", "Choose parameters so that a number of a run is smallest, within bounds and constraints."
    ),
    "analyse": CommandPlace("experiments", "Poles, zeros, damping, gains, structure and the split of power."),
    "invert": CommandPlace("invert", "The inputs with which outputs follow a course: what an actuator has to give."),
    "design": CommandPlace("design", "Design a controller or an observer from a model, and write it into its file."),
    "reduce": CommandPlace("transforming", "Reduce a model: parameters at zero or infinity, fewer states."),
    "draw": CommandPlace(
        "draw",
        "Draw a model: bond graph, Power-Oriented Graph, schematic or equations, still or with the power of its experiment.",
    ),
    "export": CommandPlace("transforming", "Write a model with its experiment as files of another tool."),
    "stiffen": CommandPlace("transforming", "Make a rigid connection elastic: the reverse of a limit."),
    "condition": CommandPlace(
        "experiments", "Compare six ways to treat dependent storages: time, error and what each is good for."
    ),
    "report": CommandPlace(
        "report",
        "Show a model whole on one page: figures, equations, properties, its experiment and the energy books; or a study.",
    ),
    "studio": CommandPlace(
        "studio", "Open a model and all its views in the browser: figures, equations and curves that follow each edit."
    ),
    "page": CommandPlace(
        "report",
        "Write one HTML file in which the model runs: sliders, curves, figures and equations, without a server or a network.",
    ),
    "exercise": CommandPlace(
        "teaching", "Write an exercise sheet with something left out of a model, and its solution."
    ),
    "grade": CommandPlace("teaching", "Grade the answers to a sheet: what is right, and where the first mistake is."),
    "translate": CommandPlace(
        "transforming", "Say the same model in another notation: as a network, a bond graph or a Power-Oriented Graph."
    ),
    "import": CommandPlace("files", "Turn a file of another tool into a model file."),
    "migrate": CommandPlace("files", "Rewrite a file of an earlier version of the format."),
    "schema": CommandPlace("files", "Print the JSON Schema of model files."),
    "cache": CommandPlace("files", "Show what was compiled and is kept for later runs, or clear it."),
}
"""The commands in the order of `tellegen --help`."""

SETTINGS = {"help_option_names": ["-h", "--help"]}


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
    """The list of commands, shown in the same way; a command is loaded when it is called."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, flags without a type."""
        return without_types_of_flags(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What the list of commands shows of one: its line."""
        return PlainCommand(cmd_name, help=COMMANDS[cmd_name].line) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, whole."""
        # Only here, when the command is about to run, is its module loaded.
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name in COMMANDS else command, rest


def find_command(name: str) -> Command:
    """The command with its function and its examples."""
    module = import_module(f"tellegen.cli.commands.{COMMANDS[name].module}")
    # `import` is a word of Python, so its function has an underscore.
    found = getattr(module, f"{name}_" if name == "import" else name)
    assert isinstance(found, Command), f"'{name}' is a command"
    return found


def load_command(name: str) -> Any:
    """The command as typer runs it."""
    found = find_command(name)
    word = "Example" if len(found.examples) == 1 else "Examples"
    # An application for each command alone: the words of the others need not be known.
    one = typer.Typer(add_completion=False, rich_markup_mode="rich", context_settings=SETTINGS)
    one.command(name, cls=PlainCommand, epilog="\n\n".join((f"{word}:", *found.examples)))(typer_function(found))
    return typer.main.get_command(one)


def without_types_of_flags(options: list[Any]) -> list[Any]:
    """The options of a command; for flags an empty word takes the place of a type."""
    for option in options:
        if getattr(option, "is_flag", False) and option.metavar is None:
            # An empty word, since None makes typer print the type.
            option.metavar = ""
    return options


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
    context_settings=SETTINGS,
)


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
    # A command makes most of its objects once and ends: looking for cycles every 700 objects is a twentieth of its time.
    gc.set_threshold(100_000, 20, 20)
    status = run(sys.argv[1:])
    # The system takes all memory back at once; to look for cycles in it while Python ends is a quarter of a short command.
    gc.freeze()
    sys.exit(status)


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code. No input leads to a traceback."""
    try:
        app(with_plot_file(arguments), prog_name="tellegen")
    except SystemExit as end:
        # typer ends with a number, sys.exit also with a text or with nothing.
        return end.code if isinstance(end.code, int) else 0 if end.code is None else output.MODEL_ERRORS
    # Findings are what the user can act on; anything else that escapes is our mistake and says so.
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
