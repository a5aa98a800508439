"""How long does it take to start? `import tellegen`, `tellegen --help`, and a whole `tellegen derive` of a small model.

Wall and CPU seconds of the whole process, best of ten. Ratio: CPU time over that of `python -c pass`. Check: the exit status,
and for the commands that the output begins as it should.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from benchmarks.harness import Row, Target

RUNS = 10
TARGET = Target(0.3)


def run(full: bool) -> Iterator[Row]:
    """The same with and without `full`."""
    python = [sys.executable, "-c"]
    tellegen = [*python, "from tellegen.cli.main import main; main()"]
    empty = _best("python -c pass", [*python, "pass"], "", None)
    yield empty
    for name, command, start, target in (
        ("import tellegen", [*python, "import tellegen"], "", TARGET),
        ("tellegen --help", [*tellegen, "--help"], "\n Usage: tellegen", TARGET),
        ("tellegen check dc_motor_pump", [*tellegen, "check", "dc_motor_pump"], "DC motor", None),
        ("tellegen derive dc_motor_pump", [*tellegen, "derive", "dc_motor_pump"], "DC motor", None),
        ("import sympy", [*python, "import sympy"], "", None),
    ):
        yield _best(name, command, start, target, empty.cpu)


def _best(name: str, command: Sequence[str], start: str, target: Target | None, empty: float | None = None) -> Row:
    walls, cpus, ok = [], [], True
    for _ in range(RUNS):
        before, wall = _children_cpu(), time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        walls.append(time.perf_counter() - wall)
        cpus.append(_children_cpu() - before)
        # A terminal program pads its lines: leading blanks and line ends are no part of the comparison.
        ok = ok and done.returncode == 0 and done.stdout.split()[: len(start.split())] == start.split()
    cpu = min(cpus)
    return Row(
        name,
        seconds=min(walls),
        cpu=cpu,
        spread=max(cpus) / cpu - 1,
        ratio=f"{cpu / empty:.1f}" if empty else "",
        check="ran" if ok else "did not run",
        target=target.judge(min(walls)) if target else "",
        ok=ok,
    )


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
