"""The line of a long run in a notebook: one output that is written again and again, and is empty at the end."""

import html
import time
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
