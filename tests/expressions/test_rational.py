import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellegen.expressions import Expression, is_zero, number, parse, symbol, to_text
from tellegen.expressions.elimination import leaf_count
from tellegen.expressions.simplification import collected, shortened


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("J + l^2*m_1/4 + l^2*m_2 + l^2*m_3", "J + l^2*(m_2 + m_3 + m_1/4)"),
        ("-a*b*cos(x) - a*c*cos(x)/2", "-a*cos(x)*(b + c/2)"),
        ("a*b + a*c + d*b + d*c", "(a + d)*(b + c)"),
        ("J_c + J_s*(k + 1)^2", "J_c + J_s*(k + 1)^2"),
        ("b_m + H^2*b_p", "b_m + H^2*b_p"),
        ("a/c + b/c", "(a + b)/c"),
        ("a + a*b", "a + a*b"),
        ("a*b", "a*b"),
    ],
)
def test_factors_that_terms_share_are_written_once(text: str, expected: str) -> None:
    assert collected(parse(text)) is parse(expected)


POWERS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-1, 3)), max_size=4)


@given(st.lists(st.tuples(st.integers(-3, 3), POWERS), max_size=8))
def test_shared_factors_change_no_value_and_make_nothing_longer(terms: list[tuple[int, list[tuple[str, int]]]]) -> None:
    formula = parse(
        " + ".join("*".join([f"({n})", *(f"{name}^({q})" for name, q in powers)]) for n, powers in terms) or "0"
    )
    found = collected(formula)
    assert is_zero(found - formula)
    assert leaf_count(found) <= leaf_count(formula)


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
