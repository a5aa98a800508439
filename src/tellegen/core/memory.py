"""What a computation keeps: results that stay with the value they follow from, and the cycle collector at rest."""

import contextlib
import gc
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Protocol, TypeVar, final


@final
class Known:
    """What was worked out from a frozen value, by the function that did it."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: dict[Callable[..., object], Any] = {}

    def __reduce__(self) -> tuple[type["Known"], tuple[()]]:
        """Copies begin with nothing: equal values must be written alike, whatever was asked of them before."""
        return Known, ()


class Remembering(Protocol):
    """A frozen value that keeps what follows from it."""

    @property
    def known(self) -> Known:
        """What was worked out from it."""


V = TypeVar("V", bound=Remembering)
R = TypeVar("R")


def remembered(function: Callable[[V], R]) -> Callable[[V], R]:
    """Work the function of a frozen value out once for each value.

    It is what a cached property does, for functions in layers that the class of the value must not know. The result lives as long
    as the value: no table of all models there ever were, nothing to forget.
    """

    @wraps(function)
    def once(value: V) -> R:
        found = value.known.found
        if once not in found:
            # Keyed by the wrapper, so that `carry_over` and the function itself mean one entry.
            found[once] = function(value)
        result: R = found[once]
        return result

    return once


def carry_over(function: Callable[[V], object], one: V, other: V) -> V:
    """The other value, with what a remembered function found for the first: the two differ in what it does not ask."""
    # Asked for here if it was not known: the value that follows must not work it out a second time.
    other.known.found[function] = function(one)
    return other


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """The cycle collector off: it would walk a million new objects again and again and find no cycle.

    What was made is old at once afterwards, so that the next young collection need not walk it.
    """
    was_enabled = gc.isenabled()
    # Reading and lowering make a million objects that all stay, and reference counts free the rest.
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            # Freezing and thawing moves all objects to the oldest generation; somebody else's frozen ones must not thaw
            # with them.
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
