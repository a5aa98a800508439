"""What commands print: texts, JSON and findings, each to its stream."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from tellegen.core.errors import Finding
from tellegen.core.hidden_characters import visible
from tellegen.core.names import listing

MODEL_ERRORS, WRONG_USAGE, INTERNAL_ERROR = 1, 2, 3
"""Exit codes beside 0."""

INTERRUPTED = 130
"""The exit code of a run that Ctrl-C ended."""

_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "notice": "\x1b[1;36m"}
_PLAIN = "\x1b[0m"
_OURS = f"({'|'.join(map(re.escape, (*_COLOURS.values(), _PLAIN)))})"


def write(text: str) -> None:
    """Print a text on stdout, with one newline at its end; what the stream cannot show is escaped.

    A reader that has left (`| head`) is no error: the rest goes nowhere, also when the interpreter flushes at its end.
    """
    stream = sys.stdout
    encoding = stream.encoding or "ascii"
    try:
        # Not print: what the terminal cannot show must not end a command that has done its work.
        stream.write(f"{_shown(text.rstrip())}\n".encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        # Closing the stream is not enough: the interpreter flushes it once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def show(
    options: object,
    record: Callable[[], Mapping[str, object]],
    text: Callable[[], str],
    latex: Callable[[], str] | None = None,
) -> None:
    """Print what a command has found as its options say: as JSON, as LaTeX where it has some, else as text. Only that is made."""
    if getattr(options, "as_json", False):
        write_json(record())
    else:
        write(latex() if latex is not None and getattr(options, "as_latex", False) else text())


def write_json(record: Mapping[str, object]) -> None:
    """Print a record on stdout: one line a key, one line a row of a matrix."""
    write(json_text(record))


def say_written(*files: str | Path, below: bool = False) -> None:
    """Say which files were written, one line each; `below` leaves a line free under a longer text."""
    if files:
        write("\n" * below + "\n".join(f"written to {file}" for file in files))


def show_model(text: str, target: Path | None, *, as_json: bool, about: str = "", **further: object) -> None:
    """Print the text of a model, or say in which file it is; JSON says both, and what else there is to say."""
    if as_json:
        write_json({**further, "model": text, "written": None if target is None else str(target)})
    elif target is None:
        write(text)
    else:
        if about:
            write(about)
        say_written(target)


def json_text(record: Mapping[str, object]) -> str:
    """The record as JSON, laid out so that matrices read as matrices."""
    lines = [f"  {json.dumps(key)}: {_value(value)}" for key, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"


def _value(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        # One row a line, so that a matrix in a file can be read and compared line by line.
        rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value)
        return f"[\n{rows}\n  ]"
    return json.dumps(value, ensure_ascii=False)


def write_findings(findings: Iterable[Finding], *, as_json: bool) -> None:
    """Print findings: on stderr for people, as JSON on stdout for programs."""
    if as_json:
        write_json({"findings": [finding.to_json() for finding in findings]})
    else:
        complain(findings_text(map(str, findings), sys.stderr.isatty()))


def complain(text: str) -> None:
    """Print a text on stderr."""
    # Both streams may be one terminal: results so far come before the complaint.
    sys.stdout.flush()
    encoding = sys.stderr.encoding or "ascii"
    sys.stderr.write(f"{_shown(text)}\n".encode(encoding, "backslashreplace").decode(encoding))


def _shown(text: str) -> str:
    """The text with all that a terminal would obey made visible, but for the colours that are ours."""
    parts = re.split(_OURS, text)
    return "".join(part if k % 2 else visible(part) for k, part in enumerate(parts))


def findings_text(parts: Iterable[str], colours: bool) -> str:
    """Findings one below the other; the first error or warning of each code ends with the command that explains it."""
    explained: set[str] = set()
    shown = []
    for part in _counted(list(parts)):
        found = re.match(r"(?:error|warning) ([A-Z]\d+):", part)
        more = "" if found is None or found[1] in explained else f"\n  more: tellegen explain {found[1]}"
        explained.update(found.groups() if found else ())
        shown.append(_coloured(part, colours) + more)
    return "\n\n".join(shown)


MOST_OF_A_KIND = 3
"""So many findings of one kind are told in full; of more, one is, with the number and the places of the others."""


def _counted(parts: list[str]) -> Iterator[str]:
    """Findings, those of one kind after the first as one line where they are many."""
    kinds = [found[1] if (found := re.match(r"(\w+ [A-Z]\d+):", part)) else "" for part in parts]
    told: set[str] = set()
    for part, kind in zip(parts, kinds, strict=True):
        count = kinds.count(kind)
        if not kind or count <= MOST_OF_A_KIND:
            yield part
        elif kind not in told:
            told.add(kind)
            others = [other for other, its in zip(parts, kinds, strict=True) if its == kind and other is not part]
            lines = [found[1] for other in others if (found := re.search(r"\n  at [^\n]*?:(\d+):\d+", other))]
            shown = ", ".join(dict.fromkeys(lines[:12])) + (", ..." if len(lines) > 12 else "")
            # Findings without a place have names.
            wheres = [found[1] for other in others if (found := re.search(r"\n  in ([^\n]*)", other))]
            at = (
                f"in line{'s' * (len(lines) > 1)} {shown}"
                if lines
                else f"in {listing(wheres)}"
                if wheres
                else "elsewhere"
            )
            yield f"{part}\n  and {count - 1} more of this kind, {at}"


def _coloured(text: str, colours: bool) -> str:
    """The text with the severity at its beginning in colour, where the stream is a terminal and NO_COLOR is not set."""
    word = text.split(" ", 1)[0]
    # NO_COLOR is a convention of many programs (no-color.org).
    if not colours or os.environ.get("NO_COLOR") or word not in _COLOURS:
        return text
    return f"{_COLOURS[word]}{word}{_PLAIN}{text[len(word) :]}"


def width() -> int:
    """How wide a printout may be: the terminal, at least 60; 100 columns into a file."""
    # Narrower than 60 no matrix fits; a file is made for a page, not for the window it was called from.
    return max(60, shutil.get_terminal_size((100, 24)).columns)


def shows_unicode() -> bool:
    """Whether stdout can show the brackets of matrices."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
