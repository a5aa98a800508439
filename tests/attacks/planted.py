"""Properties that do not hold, for the tests of what tries properties."""

from hypothesis import given, settings
from hypothesis import strategies as st


@settings(database=None, max_examples=100)
@given(st.lists(st.integers(0, 1000)))
def sums_stay_below_a_hundred(numbers: list[int]) -> None:
    """Fails; the smallest counterexample is one number of a hundred."""
    assert sum(numbers) < 100


@settings(database=None, max_examples=100)
@given(st.integers(0, 9))
def nothing_ends(number: int) -> None:
    """Turns round for ever."""
    while number >= 0:
        pass


@settings(database=None, max_examples=30)
@given(st.integers(0, 9))
def digits_are_small(number: int) -> None:
    """Holds."""
    assert number < 10
