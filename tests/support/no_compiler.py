"""A machine without a C compiler, for as long as a test lasts."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tellegen.simulation.solvers.library import can_compile


@contextmanager
def no_compiler() -> Iterator[None]:
    """Models and solvers run in Python inside; models that were compiled before keep their code."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CC", "/nowhere/cc")
        can_compile.cache_clear()
        try:
            assert not can_compile()
            yield
        finally:
            can_compile.cache_clear()
