"""Run benchmarks and print their tables: `python -m benchmarks [NAME ...] [--full] [--json]`.

Exits with 1 when a result is wrong, never because something is slow.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib import import_module

from benchmarks.harness import Row, as_json, table

NAMES = ("start", "symbolic", "mesh_check", "growth", "units_yaml")


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Time Tellegen and check its results.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}; without one, all")
    parser.add_argument("--full", action="store_true", help="all sizes; takes minutes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    record: dict[str, object] = {"machine": machine}
    if not arguments.json:
        print(f"{machine}. Best of several runs, each in a process of its own.")
    right = True
    for name in arguments.names or NAMES:
        print(f"{name} ...", file=sys.stderr)
        module = import_module(f"benchmarks.{name}")
        run: Callable[[bool], Iterator[Row]] = module.run
        rows = list(run(arguments.full))
        right = right and all(row.ok for row in rows)
        record[name] = [as_json(row) for row in rows]
        if not arguments.json:
            print(f"\n## {name}\n\n{(module.__doc__ or '').strip()}\n\n{table(rows)}", flush=True)
    if arguments.json:
        print(json.dumps(record, indent=2))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
