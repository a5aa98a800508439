"""Names stand behind what they read, whatever their order; rings and what hangs on them are left out."""

from hypothesis import given
from hypothesis import strategies as st

from tellegen.core.ordering import in_order

NAMES = st.sampled_from([f"p_{k}" for k in range(8)])


@given(st.dictionaries(NAMES, st.frozensets(NAMES, max_size=3), max_size=8))
def test_each_name_follows_all_that_it_reads(reads: dict[str, frozenset[str]]) -> None:
    order = in_order(reads)
    assert len(set(order)) == len(order)
    for k, name in enumerate(order):
        assert reads[name] <= set(order[:k])
    # What is left out reads something that is left out, or is not there.
    assert all(not reads[name] <= set(order) for name in reads.keys() - set(order))


def test_a_chain_of_any_length() -> None:
    count = 50_000
    reads = {f"p_{k}": frozenset({f"p_{k - 1}"} if k else ()) for k in reversed(range(count))}
    assert in_order(reads) == [f"p_{k}" for k in range(count)]
