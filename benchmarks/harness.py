"""What every benchmark shares: cases that are timed in a process of their own, rows, targets and tables."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from math import log
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, final

REPEATS = 3
LONG = 6.0
"""Runs of so many seconds are not repeated: disturbances are short beside them."""
HARD_LIMIT_FACTOR = 4
"""A child gets so much more time than its work, for imports and for the check of its result."""

Facts = dict[str, Any]
"""What a check found out, as JSON; `ok` and `check` are always there."""


class AbstractCase(ABC):
    """Something to time. A subclass is a dataclass of plain values: it travels to its process as JSON."""

    tells_times: ClassVar[bool] = False
    """Whether checks tell times, too: then every run is checked, not the first alone."""

    def prepare(self) -> Any:
        """What the work needs; not timed."""
        return None

    @abstractmethod
    def work(self, given: Any) -> Any:
        """The work that is timed, once a process, so that nothing is cached from the run before."""

    @abstractmethod
    def check(self, given: Any, found: Any) -> Facts:
        """Whether the result is right (`ok`) and how that shows (`check`); not timed."""


@final
@dataclass(frozen=True)
class Outcome:
    """The best of several runs of a case; `spread` is the worst CPU time over the best, less one. `peak_mb` ends with the work."""

    seconds: float
    cpu: float
    spread: float
    peak_mb: float
    facts: Facts


@final
@dataclass(frozen=True)
class Stopped:
    """A case that did not end in time."""

    limit: float


@final
@dataclass(frozen=True)
class Row:
    """A line of a table. What is None is not shown."""

    case: str
    size: int | None = None
    seconds: float | None = None
    cpu: float | None = None
    spread: float | None = None
    peak_mb: float | None = None
    ratio: str = ""
    check: str = ""
    target: str = ""
    ok: bool = True
    p95: float | None = None
    details: Facts = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Target:
    """An upper bound for a measured number."""

    bound: float
    unit: str = "s"

    def judge(self, value: float) -> str:
        """The bound, and whether the value keeps it."""
        return f"< {self.bound:g} {self.unit}".rstrip() + (": PASS" if value < self.bound else ": over")


@final
@dataclass(frozen=True)
class Bound:
    """What a ratio has to reach (`least`), or may not pass (`most`); `why` it does not, where that is known."""

    least: float | None = None
    most: float | None = None
    why: str = ""

    def judge(self, found: float) -> str:
        """The bound, and whether a ratio keeps it."""
        within = (self.least is None or found >= self.least) and (self.most is None or found <= self.most)
        asked = f">= {self.least:g}" if self.least is not None else f"<= {self.most:g}"
        return f"{asked}: within" if within else f"{asked}: not" + (f", for {self.why}" if self.why else "")


class Told(NamedTuple):
    """A ratio in words, and how it keeps its bound."""

    ratio: str = ""
    bound: str = ""


NOTHING = Told()


# Timing


def measure(case: AbstractCase, *, repeats: int = REPEATS, limit: float = 120.0) -> Outcome | Stopped:
    """Run a case in fresh processes and keep the best wall and CPU seconds. A run longer than `limit` seconds ends the matter."""
    runs: list[Facts] = []
    for _ in range(repeats):
        run = _run_apart(case, limit, check=case.tells_times or not runs)
        if run is None:
            return Stopped(limit)
        runs.append({"facts": runs[0]["facts"] if runs else {}} | run)
        if not runs[-1]["facts"]["ok"] or run["seconds"] > LONG:
            break
    best = min(runs, key=lambda run: float(run["cpu"]))
    cpu = [float(run["cpu"]) for run in runs]
    return Outcome(
        seconds=min(run["seconds"] for run in runs),
        cpu=min(cpu),
        spread=max(cpu) / max(min(cpu), 1e-9) - 1,
        peak_mb=min(run["peak_mb"] for run in runs),
        facts=runs[-1]["facts"] if not runs[-1]["facts"]["ok"] else best["facts"],
    )


def _run_apart(case: AbstractCase, limit: float, *, check: bool) -> Facts | None:
    kind = type(case)
    arguments = asdict(case)  # type: ignore[call-overload]
    order = {"case": f"{kind.__module__}:{kind.__qualname__}", "arguments": arguments, "limit": limit, "check": check}
    command = [sys.executable, "-m", "benchmarks.child", json.dumps(order)]
    with tempfile.TemporaryDirectory(
        prefix="tellegen-bench-"
    ) as folder:  # for the files of the child, even if it is stopped
        try:
            done = subprocess.run(
                command,
                env={**os.environ, "TMPDIR": folder},
                capture_output=True,
                text=True,
                timeout=HARD_LIMIT_FACTOR * limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
    if done.returncode:  # a case that breaks is a wrong result, and no reason to leave the others out
        print(done.stderr, file=sys.stderr)
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"seconds": 0.0, "cpu": 0.0, "peak_mb": 0.0, "facts": {"ok": False, "check": reason}}
    answer: Facts | None = json.loads(done.stdout.splitlines()[-1])
    return answer


def run_order(order: Mapping[str, Any]) -> Facts | None:
    """What a child does: prepare, time the work, check it where that is asked for. None when the work took too long."""
    module, _, name = order["case"].partition(":")
    case: AbstractCase = getattr(import_module(module), name)(**order["arguments"])
    given = case.prepare()
    try:
        with _at_most(order["limit"]):
            wall, cpu = time.perf_counter(), time.process_time()
            found = case.work(given)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    except TimeoutError:
        return None
    measured = {"seconds": wall, "cpu": cpu, "peak_mb": peak_mb()}
    return measured | {"facts": case.check(given, found)} if order["check"] else measured


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def written_file(text: str, suffix: str) -> Path:
    """A file in the folder of the child, which goes with it."""
    path = Path(tempfile.mkdtemp()) / f"model{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def peak_mb() -> float:
    """The largest memory that this process has held so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says on Linux includes the process that this one was started from
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


class Phases:
    """CPU seconds of the parts of a piece of work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def end(self, name: str) -> None:
        """Everything since the last end belongs to this phase."""
        now = time.process_time()
        self.seconds[name] = round(now - self._last, 4)
        self._last = now


# Rows


def row(
    case: str,
    size: int | None,
    outcome: Outcome | Stopped,
    *,
    target: Target | None = None,
    ratio: str = "",
    against: Told = NOTHING,
    memory: bool = False,
) -> Row:
    """The row of an outcome; targets are judged by wall seconds, what it is `against` is told already."""
    if isinstance(outcome, Stopped):
        text = f"stopped after {outcome.limit:g} s"
        return Row(case, size, check=text, ratio=ratio, target=target.judge(outcome.limit) if target else "")
    if not outcome.facts["ok"]:  # the time of a wrong result says nothing
        return Row(case, size, check=outcome.facts["check"], ok=False)
    return Row(
        case,
        size,
        outcome.seconds,
        outcome.cpu,
        outcome.spread,
        outcome.peak_mb if memory else None,
        ratio or against.ratio,
        outcome.facts["check"],
        target.judge(outcome.seconds) if target else against.bound,
        details={name: value for name, value in outcome.facts.items() if name not in {"ok", "check"}},
    )


def times(slow: Outcome | Stopped, quick: Outcome | Stopped) -> str:
    """How many times as long the first takes as the second, in CPU seconds."""
    if isinstance(quick, Stopped) or not quick.facts["ok"]:
        return ""
    if isinstance(slow, Stopped):
        return f"> {slow.limit / quick.cpu:,.0f}"
    share = slow.cpu / quick.cpu
    return f"{share:,.0f}" if share >= 10 else f"{share:.2g}"


def compared(
    words: str,
    slow: Outcome | Stopped,
    few: int,
    quick: Outcome | Stopped,
    many: int,
    bound: Bound | None = None,
) -> Told:
    """How many times as long a run of the first takes as one of the second, in CPU time, with what is compared; and its bound."""
    if isinstance(slow, Stopped) or isinstance(quick, Stopped) or not (slow.facts["ok"] and quick.facts["ok"]):
        return Told()
    found = slow.cpu / few / (quick.cpu / many)
    return Told(f"{words} = {found:.3g}", bound.judge(found) if bound else "")


def together(*parts: Told) -> Told:
    """Several ratios of a row, and their bounds."""
    ratios, bounds = zip(*parts, strict=True)
    return Told("; ".join(filter(None, ratios)), "; ".join(filter(None, bounds)))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The exponent p of the power law value = a * size^p that fits best, by least squares of the logarithms."""
    x, y = [log(s) for s in sizes], [log(max(v, 1e-9)) for v in values]
    middle, height = sum(x) / len(x), sum(y) / len(y)
    return sum((a - middle) * (b - height) for a, b in zip(x, y, strict=True)) / sum((a - middle) ** 2 for a in x)


# Tables


_HEADS = {
    "case": "case",
    "size": "size",
    "seconds": "wall s",
    "p95": "p95 s",
    "cpu": "CPU s",
    "spread": "spread",
    "peak_mb": "MB",
    "ratio": "ratio",
    "check": "check",
    "target": "target",
}


def table(rows: Sequence[Row]) -> str:
    """Rows as a table in Markdown; columns that nobody uses are left out."""
    used = [name for name in _HEADS if any(getattr(r, name) not in (None, "") for r in rows)]
    lines = [[_HEADS[name] for name in used], *([_shown(r, name) for name in used] for r in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(used))]
    numbers = {"size", "seconds", "p95", "cpu", "spread", "peak_mb", "ratio"}
    rule = ["-" * (w - 1) + ":" if name in numbers else "-" * w for name, w in zip(used, widths, strict=True)]

    def line_of(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if name in numbers else c.ljust(w) for c, w, name in zip(cells, widths, used, strict=True))
        return f"| {' | '.join(padded)} |"

    return "\n".join(map(line_of, [lines[0], rule, *lines[1:]]))


def _shown(r: Row, name: str) -> str:
    value = getattr(r, name)
    if value is None:
        return ""
    if name == "check":
        return str(value) if r.ok else f"WRONG: {value}"
    if name == "size":
        return f"{value:,}".replace(",", " ")
    if name == "spread":
        return f"{value:.0%}"
    if name == "peak_mb":
        return f"{value:.0f}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def as_json(r: Row) -> Facts:
    """A row as JSON, without what it does not have; details stand beside the rest."""
    found = {f.name: getattr(r, f.name) for f in fields(r) if f.name != "details"}
    return {name: value for name, value in found.items() if value not in (None, "")} | r.details
