"""Write the figures of docs/howto/benchmarks.md again, from one run of all benchmarks or from the JSON of an earlier one."""

import json
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

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
    for name, rows in record.items():
        if name != "machine":
            question = (import_module(f"benchmarks.{name}").__doc__ or "").strip().splitlines()[0]
            parts.append(f"### `{name}`\n\n{question}\n\n{table([row_of(row) for row in rows])}")
    return "\n\n".join(parts)


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


def main(arguments: list[str]) -> None:
    """Take the file named, or measure."""
    record = json.loads(Path(arguments[0]).read_text(encoding="utf-8")) if arguments else measured()
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), figures(record)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
