"""How much `make test` tries of what `make test-slow` tries whole."""

import os
from collections.abc import Collection, Iterable, Sequence

import pytest
from hypothesis import settings

SLOW = os.environ.get("TELLEGEN_SLOW") == "1"


def every(step: int, names: Sequence[str]) -> list[object]:
    """Parameters of a test: each `step`-th name now, and the others with the slow tests."""
    return [pytest.param(name, marks=pytest.mark.slow if k % step else ()) for k, name in enumerate(names)]


LARGE = ("andrews_squeezer", "corking_machine_extended", "five_bar", "mobile_manipulator", "trolley_folder")
"""The examples that take a third of the time of what is tried on all of them."""


def small_now(names: Iterable[str], also: Collection[str] = ()) -> list[object]:
    """Parameters of a test of all examples: the large ones, and those named, with the slow tests, the others now."""
    late = {*LARGE, *also}
    return [pytest.param(name, marks=pytest.mark.slow if name in late else ()) for name in names]


FEWER = settings(max_examples=settings().max_examples // 2)
"""For laws whose random examples take long, such as whole figures."""
