"""Options are fields of a dataclass: what the command line makes of them, and that a new one is one line."""

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields, make_dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from tellegen.cli.main import COMMANDS, find_command, load_command, run
from tellegen.cli.options import Command, OfModel, typer_function
from tellegen.core.options import keywords, option, words_of
from tellegen.drawing.options import Options as FigureOptions
from tellegen.workflow.deriving import DeriveOptions, derive


@dataclass(frozen=True, kw_only=True)
class Toy(OfModel):
    """One option of every kind."""

    loud: bool = option(False, "A flag.")
    bands: bool = option(True, "A flag that is on.")
    shape: Literal["round", "flat"] = option("round", "A choice.")
    until: float | None = option(None, "A number.", needs="loud")
    names: tuple[str, ...] = option((), "Names.", metavar="a,b")
    limit: tuple[str, ...] = option((), "A limit.", metavar="K=0", once_for_each=True)
    mode: Mapping[str, str] = option({}, "A mode.", metavar="S=on", excludes=("target",))
    target: Path | None = option(None, "A file.", flag="--output", short="-o", metavar="FILE")
    for_python: int = 3


def read(*words: str, kind: type = Toy) -> Any:
    """The options that a command line gives, or what is told of a wrong one."""
    seen: list[object] = []

    def toy(options: object) -> None:
        """A command."""
        seen.append(options)

    toy.__annotations__ = {"options": kind, "return": None}
    app = typer.Typer(add_completion=False)
    app.command()(typer_function(Command(toy, ())))
    done = CliRunner().invoke(app, list(words))
    return seen[0] if done.exit_code == 0 else done.output


def test_what_is_not_given_is_the_default() -> None:
    assert read("m") == Toy(model="m")


def test_each_type_reads_its_text() -> None:
    words = "m --loud --no-bands --shape flat --until 2.5 --names a,b --limit K=0 --limit J=inf --mode S=on"
    made = Toy(
        model="m",
        loud=True,
        bands=False,
        shape="flat",
        until=2.5,
        names=("a", "b"),
        limit=("K=0", "J=inf"),
        mode={"S": "on"},
    )
    assert read(*words.split()) == made
    assert read("m", "-o", "f.svg").target == Path("f.svg")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("m --until 1", "--until goes with --loud"),
        ("m --mode S=on -o f", "--mode and --output exclude each other"),
        ("m --mode S", "'S' is not of the form S=on"),
        ("m --mode S=on --mode S=off", "'S' is given twice"),
        ("m --for-python 4", "No such option"),
    ],
)
def test_what_cannot_be_is_told(words: str, told: str) -> None:
    assert told in " ".join(read(*words.split()).split())


def test_a_new_option_is_one_field() -> None:
    wider = make_dataclass("Wider", [("depth", int, option(2, "How deep."))], bases=(Toy,), frozen=True, kw_only=True)
    assert read("m", "--depth", "4", kind=wider).depth == 4


def test_a_choice_may_be_the_words_of_a_table() -> None:
    colour = option("red", "A colour.", choices=("red", "blue"))
    wider = make_dataclass("Wider", [("colour", str, colour)], bases=(Toy,), frozen=True, kw_only=True)
    assert read("m", "--colour", "blue", kind=wider).colour == "blue"
    assert "is not one of 'red'," in " ".join(read("m", "--colour", "green", kind=wider).split())


def test_a_function_is_given_the_options_that_it_takes_as_keywords() -> None:
    def sing(model: str, *, loud: bool, names: tuple[str, ...], key: str = "C") -> None: ...

    assert keywords(Toy(model="m", loud=True, until=2.0), sing) == {"loud": True, "names": ()}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_command_does(name: str) -> None:
    command = find_command(name)
    assert inspect.getdoc(command.function) is not None
    assert str(inspect.getdoc(command.function)).splitlines()[0] == COMMANDS[name].line


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_options_of_its_dataclass(name: str) -> None:
    hints = typing.get_type_hints(find_command(name).function)
    known = {one.name for one in fields(hints["options"]) if words_of(one)}
    assert {one.name for one in load_command(name).params} - {"help"} == known


def test_python_and_the_command_line_read_the_same_options() -> None:
    for name, kind in {"derive": DeriveOptions, "draw": FigureOptions}.items():
        assert issubclass(typing.get_type_hints(find_command(name).function)["options"], kind)
    with pytest.raises(TypeError, match="numerik"):
        derive("rlc", numerik=True)


WRITING = (
    ["simulate", "rlc", "--until", "1e-6", "-o", "@.csv"],
    ["simulate", "rlc", "--until", "1e-6", "--plot", "@.svg"],
    ["draw", "rlc", "-o", "@.svg"],
    ["draw", "rlc", "-o", "figure.svg", "--like", "@.svg"],
    ["report", "rlc", "-o", "@.html"],
    ["reduce", "rlc", "--limit", "L=0", "-o", "@.yaml"],
    ["translate", "rlc", "bond", "-o", "@.yaml"],
    ["import", "@.txt"],
    ["export", "rlc", "--to", "simulink", "-o", "@"],
    ["draw", "@.yaml", "-o", "figure.svg", "--keep-layout"],
)


@pytest.mark.parametrize("name", ["a" * 300, "a\0b"], ids=["too long", "with a NUL"])
@pytest.mark.parametrize("command", WRITING, ids=lambda words: f"{words[0]} {words[-2]}")
def test_files_that_cannot_be_are_refused(
    command: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([word.replace("@", name) for word in command]) in (1, 2)
