"""Pairs of constraints and joints."""

from hypothesis import given
from hypothesis import strategies as st

from tellegen.conditioning.opened_constraints import maximum_matching

NAMES = "abcdef"


def test_the_first_name_is_taken_where_it_is_free() -> None:
    assert maximum_matching([["a", "b"], ["b", "a"]]) == ["a", "b"]


def test_earlier_ones_give_way_where_they_have_another_name() -> None:
    assert maximum_matching([["a", "b"], ["a"], ["b", "c"]]) == ["b", "a", "c"]
    assert maximum_matching([["a"], ["a"]]) == ["a", None]


@given(st.lists(st.lists(st.sampled_from(NAMES), unique=True), max_size=7))
def test_as_many_as_possible_get_a_name_of_their_own(lists: list[list[str]]) -> None:
    found = maximum_matching(lists)
    given_names = [name for name in found if name is not None]
    assert len(set(given_names)) == len(given_names) == _most(lists)
    assert all(name is None or name in names for name, names in zip(found, lists, strict=True))


def _most(lists: list[list[str]], taken: frozenset[str] = frozenset()) -> int:
    """The largest number of pairs, by trying all."""
    if not lists:
        return 0
    first, *rest = lists
    tries = [1 + _most(rest, taken | {name}) for name in first if name not in taken]
    return max([_most(rest, taken), *tries])
