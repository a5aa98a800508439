"""A machine without a C compiler, for as long as a test lasts."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tellegen.simulation.solvers.library import library


@contextmanager
def no_compiler() -> Iterator[None]:
    """Models run in Python inside, under the solvers that an installation brings; models compiled before keep their code."""
    library()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CC", "/nowhere/cc")
        yield
