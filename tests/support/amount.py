"""How much `make test` tries of what `make test-slow` tries whole."""

import os
from collections.abc import Sequence

import pytest
from hypothesis import settings

SLOW = os.environ.get("TELLEGEN_SLOW") == "1"


def every(step: int, names: Sequence[str]) -> list[object]:
    """Parameters of a test: each `step`-th name now, and the others with the slow tests."""
    return [pytest.param(name, marks=pytest.mark.slow if k % step else ()) for k, name in enumerate(names)]


FEWER = settings(max_examples=settings().max_examples // 2)
"""For laws whose random examples take long, such as whole figures."""
