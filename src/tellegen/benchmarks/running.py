"""Run benchmarks and print their tables."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from tellegen.benchmarks.harness import Row, as_json, table
from tellegen.core.errors import Rulebook
from tellegen.core.names import did_you_mean

NAMES = (
    "start",
    "first_step",
    "runs",
    "rc_ladder",
    "symbolic",
    "mesh_check",
    "growth",
    "hierarchy",
    "limits",
    "linkages",
    "units_yaml",
)
"""One module a question, in the order in which they run."""

RULES = Rulebook("S")

NO_SUCH_BENCHMARK = RULES.rule(
    "S900",
    "No such benchmark",
    meaning="A benchmark was asked for that is not there.",
    why="each benchmark answers one question, under one name",
)


def bench(*names: str, full: bool = False, as_json_text: bool = False) -> bool:
    """Time Tellegen, and the peers that are installed, on the benchmarks named, or on all; whether every result was right.

    Slow is not wrong: only a wrong result makes this False. `full` runs all sizes, which takes minutes.

    Raises: SimulationError (S900) for an unknown name.
    """
    for name in names:
        if name not in NAMES:
            fix = did_you_mean(name, NAMES) or f"there are {', '.join(NAMES)}"
            raise NO_SUCH_BENCHMARK.error(f"there is no benchmark '{name}'", fix=fix)
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
    module = import_module(f"tellegen.benchmarks.{name}")
    run: Callable[[bool], Iterator[Row]] = module.run
    return list(run(full)), (module.__doc__ or "").strip()
