import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellegen.expressions import Expression, is_zero, number, parse, symbol, to_text
from tellegen.expressions.simplification import shortened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/(1/a + 1/b)", "a*b/(a + b)"),
        ("(a^2 - b^2)/(a - b)", "a + b"),
        ("1 - R_L/(R_L + R_c)", "R_c/(R_L + R_c)"),
        ("R_a + K_m^2/b_m", "R_a + K_m^2/b_m"),
        ("1/R_a + 1/(R_L + R_c)", "1/R_a + 1/(R_L + R_c)"),
        ("1/R_a + 1 - R_c/(R_L + R_c)", "1/R_a + R_L/(R_L + R_c)"),
        ("(sin(x)^2 - 1)/(sin(x) - 1)", "sin(x) + 1"),
        ("a/(b + c/(d + e))", "a*(d + e)/(c + b*d + b*e)"),
        ("a*b", "a*b"),
    ],
)
def test_fractions_are_brought_together_where_that_is_shorter(text: str, expected: str) -> None:
    assert to_text(shortened(parse(text))) == to_text(parse(expected))


def test_long_expressions_are_left_alone() -> None:
    long = parse("*".join(f"(a_{k} + b_{k} + c_{k})" for k in range(8)) + "/(d + e)")
    assert shortened(long) is long


def _combined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: p[0] / (p[1] + symbol("z"))),
        pairs.map(lambda p: p[0] - p[1]),
    )


LEAVES = st.one_of(st.sampled_from("abc").map(symbol), st.integers(1, 3).map(number))


@given(st.recursive(LEAVES, _combined, max_leaves=8))
def test_the_value_never_changes(expression: Expression) -> None:
    short = shortened(expression)
    assert is_zero(short - expression)
