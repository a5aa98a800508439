"""Write the figures of docs/howto/benchmarks.md again, from one run of all benchmarks or from the JSON of an earlier one.

Where the JSON is of some benchmarks, as of a machine that has a graphics card, theirs alone are written, at the end of the page.
"""

import json
import re
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.__main__ import NAMES
from benchmarks.harness import Row, table

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "howto" / "benchmarks.md"
BEGIN, END = "## Figures\n", "## Add one\n"


def measured() -> dict[str, Any]:
    """All benchmarks with all sizes, run now."""
    command = [sys.executable, "-m", "benchmarks", "--full", "--json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figures(record: dict[str, Any]) -> str:
    """A section for each benchmark: its question, and the table that `make bench` prints."""
    parts = [f"{record['machine']}; `python -m benchmarks --full`."]
    return "\n\n".join([*parts, *(section(name, rows) for name, rows in record.items() if name != "machine")])


def section(name: str, rows: list[dict[str, Any]], where: str = "") -> str:
    """The question of a benchmark, where it was asked, and the table that `make bench` prints."""
    question = (import_module(f"benchmarks.{name}").__doc__ or "").strip().splitlines()[0]
    told = "\n\n".join([question, *([where] if where else []), table([row_of(row) for row in rows])])
    return f"### `{name}`\n\n{told}"


def row_of(saved: dict[str, Any]) -> Row:
    """A row as it was before it was saved; details are not shown."""
    known = {field.name for field in fields(Row)} - {"details"}
    return Row(**{name: value for name, value in saved.items() if name in known})


def page_with(page: str, text: str) -> str:
    """The page with other figures."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or not after:
        raise SystemExit(f"{PAGE} has no section '{BEGIN.strip()}' before '{END.strip()}'")
    return f"{before}{BEGIN}\n{text}\n\n{END}{after}"


def page_with_some(page: str, record: dict[str, Any]) -> str:
    """The page with sections of these benchmarks, in place of those of before."""
    for name, rows in record.items():
        if name == "machine":
            continue
        text = section(name, rows, f"{record['machine']}; `python -m benchmarks {name}`.")
        begin, end = page.find(f"### `{name}`\n"), len(page)
        if begin >= 0:
            following = re.compile(r"^##", re.MULTILINE).search(page, begin + 3)
            end = following.start() if following is not None else end
        page = f"{(page if begin < 0 else page[:begin]).rstrip()}\n\n{text}\n\n{page[end:]}".rstrip() + "\n"
    return page


def main(arguments: list[str]) -> None:
    """Take the file named, or measure."""
    record = json.loads(Path(arguments[0]).read_text(encoding="utf-8")) if arguments else measured()
    page, whole = PAGE.read_text(encoding="utf-8"), set(NAMES) <= set(record)
    PAGE.write_text(page_with(page, figures(record)) if whole else page_with_some(page, record), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
