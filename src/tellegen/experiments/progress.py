"""How far a simulation is: a line on the terminal or in the notebook, once it takes long enough to wonder."""

import html
import sys
import time
from collections.abc import Callable
from typing import Any, Final, final

PAUSE_S: Final = 0.2
"""A page is not written more often than this."""


@final
class NotebookLine:
    """Shows a name, the share done, some words and how long it will still take."""

    def __init__(self, name: str, until: float, began: float) -> None:
        self.name, self.until, self.began = name, until, began
        self._shown = -PAUSE_S
        self._place: Any = None

    def show(self, reached: float, words: str) -> None:
        """Show the time reached."""
        now = time.perf_counter()
        if now - self._shown < PAUSE_S:
            return
        self._shown = now
        self._write(f"{self.name} {self._share(reached):.0%}, {words}{self._left(reached, now)}")

    def close(self) -> None:
        """Take the line away."""
        if self._place is not None:
            self._write("")

    def _share(self, reached: float) -> float:
        return min(max(reached / self.until, 0.0), 1.0) if self.until > 0.0 else 0.0

    def _left(self, reached: float, now: float) -> str:
        share = self._share(reached)
        if not 0.0 < share < 1.0:
            return ""
        seconds = (now - self.began) * (1.0 - share) / share
        return f", {int(seconds // 60)}:{int(seconds % 60):02} left"

    def _write(self, text: str) -> None:
        from IPython.display import HTML, display  # noqa: PLC0415  there only in a notebook

        shown = HTML(f"<pre>{html.escape(text)}</pre>" if text else "")  # type: ignore[no-untyped-call]
        if self._place is None:
            self._place = display(shown, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._place.update(shown)


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
