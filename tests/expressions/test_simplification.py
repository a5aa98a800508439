"""Shorter forms of formulas, however their parts are shared."""

from tellegen.expressions import parse
from tellegen.expressions.simplification import shortened


def test_formulas_that_share_their_parts_are_shortened_or_left() -> None:
    """Written out this one has 2^60 terms: nothing may walk it so."""
    shared = parse("a/(a + b)")
    for _ in range(60):
        shared = shared * shared / (shared + 1)
    assert shortened(shared) is shared
    twice = parse("1/(a + b) - a/((a + b)*b)")
    for _ in range(8):
        twice = (twice + twice**2 / twice) / 2
    assert shortened(twice) == shortened(parse("1/(a + b) - a/((a + b)*b)"))
