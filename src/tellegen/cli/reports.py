"""What a terminal shows while a report is made."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def reporting_progress() -> Iterator[Callable[[str], None]]:
    """Names the section that is being made, on a terminal; says nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("reading the model") as status:
        yield lambda title: status.update(f"{title} ...")
