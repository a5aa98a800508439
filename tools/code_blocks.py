"""The code blocks of the documentation: the tests run them, and `make docs` refreshes the outputs they show.

A block is a fence with a language. ```` ```yaml motor.yaml ```` also names a file that later blocks of the page may use.
In a `console` block a line that starts with `$ ` is a command and the lines below are its output; a line `...` stands for any
lines.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from command_line import PLAIN, tellegen

ROOT = Path(__file__).resolve().parent.parent

WIDE = {"COLUMNS": "120", "TERMINAL_WIDTH": "120"}
"""Pages are as wide as this."""


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the file it names, its text and the line where it starts."""

    language: str
    file: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """One command of a console block and the output shown below it, None where none is shown."""

    words: str
    output: str | None
    line: int


def pages() -> list[Path]:
    """The pages written by hand."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md")]
    made = {ROOT / "docs/errors"}
    return top + sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent not in made)


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```([a-z]+)(?: +(\S+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(found[1], found[2] or "", found[3], text.count("\n", 0, found.start()) + 1)


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block; a command may go on after a backslash."""
    shown = re.split(r"^\$ ", block.text.replace("\\\n", " "), flags=re.MULTILINE)
    assert not shown[0].strip(), f"a console block starts with '$ ': line {block.line}"
    for part in shown[1:]:
        words, _, output = part.partition("\n")
        yield Command(words, output if output.strip() else None, block.line)


def shell_commands(block: Block) -> Iterator[Command]:
    """The commands of a block for a shell, one a line, without the comments behind them."""
    for k, line in enumerate(block.text.splitlines(), start=block.line + 1):
        if words := shlex.split(line, comments=True):
            yield Command(shlex.join(words), None, k)


def commands_in_text(page: Path) -> Iterator[Command]:
    """The commands that a page names in its sentences, as `tellegen check MODEL`."""
    text = re.sub(
        r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    for found in re.finditer(r"`(tellegen [^`\n]+)`", text):
        yield Command(found[1], None, text.count("\n", 0, found.start()) + 1)


def matches(expected: str, output: str) -> bool:
    """Whether an output is the one shown, blanks at line ends aside.

    A line `...` stands for any lines, and `...` within a line for anything there, such as a time.
    """
    lines = [line.rstrip() for line in expected.strip("\n").splitlines()]
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else _line_pattern(line) for line in lines)
    stripped = "".join(line.rstrip() + "\n" for line in output.strip("\n").splitlines())
    return re.fullmatch(pattern, stripped) is not None


def _line_pattern(line: str) -> str:
    return ".*".join(map(re.escape, line.split("..."))) + r"\n"


def is_ours(command: Command) -> bool:
    """Whether a command is one of Tellegen's; others (make, git, pip) are for the reader."""
    return re.match(r"(\.venv/bin/)?tellegen\b", command.words) is not None


def ends_by_itself(command: Command) -> bool:
    """Whether a command ends; the studio runs until somebody ends it, and tests of its own do."""
    return command.words.split()[1:2] != ["studio"]


def shows_error(command: Command) -> bool:
    """Whether the output shown is that of a command that finds an error, and so ends with 1."""
    return re.search(r"^error ", command.output or "", re.MULTILINE) is not None


def pictures(page: Path) -> list[Path]:
    """The pictures that a page shows: code on the page that writes a file of the same name draws it."""
    shown = re.findall(r"\]\(\S*images/([\w.-]+\.svg)\)", page.read_text(encoding="utf-8"))
    return [ROOT / "docs/images" / name for name in dict.fromkeys(shown)]


def is_plot(picture: str) -> bool:
    """Whether a picture is a plot: solvers on other machines, and other versions of matplotlib, differ in the last digits."""
    return 'class="trace"' in picture or "matplotlib" in picture


def python_source(text: str) -> str:
    """The code of a block, without prompts and outputs."""
    if ">>>" not in text:
        return text
    return "".join(example.source for example in doctest.DocTestParser().get_examples(text))


def run(command: Command, folder: Path) -> tuple[int, str]:
    """The exit status and the output of one of our commands, run in a folder."""
    words = command.words.removeprefix(".venv/bin/")
    unquoted = re.sub(r"'[^']*'", "", words)
    if not re.search(r"[|<>&;*?$`]", unquoted):
        done = tellegen(*shlex.split(words)[1:], folder=folder, surroundings=PLAIN | WIDE)
        return done.returncode, done.stdout + done.stderr
    return run_in_shell(words, folder)


def run_in_shell(words: str, folder: Path) -> tuple[int, str]:
    """What a command does as a process of its own, where it asks more of a shell than words: pipes, several commands on a line."""
    commands = Path(sys.executable).parent
    surroundings = os.environ | PLAIN | WIDE | {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(words, shell=True, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
