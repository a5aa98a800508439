"""A notebook for each tutorial, made from its page: the text becomes cells, files are written, commands and Python are run.

The page stays the one source. Outputs are left out: whoever opens the notebook runs it, and the tests do.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from code_blocks import Command, python_source, run

Cell = dict[str, object]

FENCE = re.compile(r"^```([a-z]+)(?: +(\S+))?\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook(page: Path) -> str:
    """The notebook of a page, as JSON."""
    cells = [cell | {"id": f"cell-{k}"} for k, cell in enumerate(_cells(page.read_text(encoding="utf-8")), 1)]
    return json.dumps({"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cells(text: str) -> Iterator[Cell]:
    end = 0
    for fence in FENCE.finditer(text):
        yield from _prose(text[end : fence.start()])
        yield from _code(fence[1], fence[2] or "", fence[3])
        end = fence.end()
    yield from _prose(text[end:])


def _prose(text: str) -> Iterator[Cell]:
    # Links and pictures point from the folder of the page; notebooks lie beside it.
    moved = re.sub(r"\]\((?![a-z]+:|\.\./|#)", "](../tutorials/", text.strip())
    if moved:
        yield {"cell_type": "markdown", "metadata": {}, "source": moved}


def _code(language: str, file: str, text: str) -> Iterator[Cell]:
    if file:
        yield _run(f"%%writefile {file}\n{text}")
    elif language == "console":
        for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
            yield _run(f"!{line}")
    elif language == "python":
        yield _run(python_source(text))
    else:
        yield {"cell_type": "markdown", "metadata": {}, "source": f"```{language}\n{text}```"}


def _run(source: str) -> Cell:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source.rstrip("\n"),
    }


def run_cell_command(words: str) -> None:
    """Run what stands behind `!` in a cell; one that fails ends the notebook."""
    status, output = run(Command(words, None, 0), Path.cwd())
    print(output)
    assert status == 0, f"{words} ends with {status}"
