"""How far a simulation is: a line on the terminal or in the notebook, once it takes long enough to wonder."""

import sys
import time
from collections.abc import Callable
from typing import Any, final

from tellegen.experiments.notebook_line import NotebookLine

PATIENCE_S = 0.5
"""Nothing is shown of shorter runs."""

Progress = Callable[[float], None]
"""Told the simulated time that was reached."""


@final
class ProgressLine:
    """Shows the simulated time, the steps made, the share done and how long it will still take; gone at the end.

    On stderr, or below the cell of a notebook.
    """

    def __init__(self, name: str, until: float) -> None:
        self.name, self.until = name, until
        self.began = time.perf_counter()
        self._notebook = NotebookLine(name, until, self.began) if in_notebook() else None
        self._bar: Any = None
        self._task: Any = None
        self._steps = 0

    def count(self, steps: int) -> None:
        """Show so many steps with the next time reached."""
        self._steps = steps

    def __call__(self, reached: float) -> None:
        """Show the time reached."""
        if self._bar is None and time.perf_counter() - self.began < PATIENCE_S:
            return
        if self._notebook is not None:
            self._notebook.show(reached, self._words(reached))
            return
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=reached, reached=self._words(reached))

    def _words(self, reached: float) -> str:
        steps = f", {self._steps} steps" if self._steps else ""
        return f"t = {reached:.4g} of {self.until:g} s{steps}"

    def close(self) -> None:
        """Take the line away."""
        if self._notebook is not None:
            self._notebook.close()
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> None:
        from rich.console import Console  # noqa: PLC0415  not needed by the many runs that are over at once
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[reached]}"),
        )
        self._bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self.name, total=self.until, reached="")
        self._bar.start()


def is_watched() -> bool:
    """Whether somebody looks at stderr: a terminal, or a notebook."""
    return sys.stderr.isatty() or in_notebook()


def in_notebook() -> bool:
    """Whether a notebook shows what is displayed."""
    return "ipykernel" in sys.modules
