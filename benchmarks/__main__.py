"""Run benchmarks and print their tables: `python -m benchmarks [--full] [--json] [NAME ...]`, or `make bench`."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from benchmarks.harness import Row, as_json, table

NAMES = (
    "start",
    "first_step",
    "runs",
    "circuits",
    "rc_ladder",
    "symbolic",
    "mesh_check",
    "growth",
    "hierarchy",
    "limits",
    "linkages",
    "units_yaml",
    "studies",
    "cluster",
    "studio",
    "gpu",
    "searches",
)
"""One module a question, in the order in which they run."""


def bench(*names: str, full: bool = False, as_json_text: bool = False) -> bool:
    """Time Tellegen, and the peers that are installed, on the benchmarks named, or on all; whether every result was right.

    Slow is not wrong: only a wrong result makes this False. `full` runs all sizes, which takes minutes.
    """
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    record: dict[str, object] = {"machine": machine}
    if not as_json_text:
        print(f"{machine}. Best of several runs, each in a process of its own.")
    right = True
    for name in names or NAMES:
        print(f"{name} ...", file=sys.stderr)
        rows, about = _rows_of(name, full)
        right = right and all(row.ok for row in rows)
        record[name] = [as_json(row) for row in rows]
        if not as_json_text:
            print(f"\n## {name}\n\n{about}\n\n{table(rows)}", flush=True)
    if as_json_text:
        print(json.dumps(record, indent=2))
    return right


def _rows_of(name: str, full: bool) -> tuple[Sequence[Row], str]:
    module = import_module(f"benchmarks.{name}")
    run: Callable[[bool], Iterator[Row]] = module.run
    return list(run(full)), (module.__doc__ or "").strip()


def main() -> int:
    """Read the command line; exits with 1 when a result is wrong, never because something is slow."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benchmarks, of {', '.join(NAMES)}; without one, all")
    parser.add_argument("--full", action="store_true", help="all sizes; takes minutes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in NAMES]:
        parser.error(f"there is no benchmark {unknown[0]!r}: there are {', '.join(NAMES)}")
    return 0 if bench(*given.names, full=given.full, as_json_text=given.json) else 1


if __name__ == "__main__":
    sys.exit(main())
