"""Units: the table, the grammar, exactness, and what is said about a unit that is not one."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import DescriptionError, Finding, Place
from tellegen.core.units import (
    DIMENSIONLESS,
    RULES,
    Dimension,
    convert,
    describe,
    dimension_of,
    is_unit,
    parse_unit,
    unit_words,
)

NO_SUGGESTION = "units are SI units with prefixes, such as mH, kohm, N*m/A, rad/s"
HOW_TO_JOIN = "join unit words by *, / and ^, as in N*m/A"


@pytest.mark.parametrize(
    ("text", "factor", "base"),
    [
        ("kg*m^2", 1, Dimension(kg=1, m=2)),
        ("m^3/(Pa*s)", 1, Dimension(kg=-1, m=4, s=1)),
        ("N*m/A", 1, Dimension(kg=1, m=2, s=-2, A=-1)),
        ("1/s", 1, Dimension(s=-1)),
        ("rad/s", 1, Dimension(s=-1)),
        ("m**2", 1, Dimension(m=2)),
        ("s^-1", 1, Dimension(s=-1)),
        ("s^(-1)", 1, Dimension(s=-1)),
        ("m²/s³", 1, Dimension(m=2, s=-3)),
        ("s⁻¹", 1, Dimension(s=-1)),
        ("N·m", 1, Dimension(kg=1, m=2, s=-2)),
        ("J/kg/K", 1, Dimension(m=2, s=-2, K=-1)),
        (" mH ", Fraction(1, 1000), Dimension(kg=1, m=2, s=-2, A=-2)),
        ("kohm", 1000, dimension_of("V/A")),
        ("kΩ", 1000, dimension_of("V/A")),
        ("µF", Fraction(1, 10**6), dimension_of("C/V")),
        ("μF", Fraction(1, 10**6), dimension_of("C/V")),
        ("uF", Fraction(1, 10**6), dimension_of("C/V")),
        ("dam", 10, Dimension(m=1)),
        ("dm", Fraction(1, 10), Dimension(m=1)),
        ("L/min", Fraction(1, 60_000), Dimension(m=3, s=-1)),
        ("bar", 10**5, dimension_of("Pa")),
        ("kWh", 3_600_000, dimension_of("J")),
        ("mAh", Fraction(36, 10), dimension_of("C")),
        ("%", Fraction(1, 100), DIMENSIONLESS),
        ("in", Fraction(254, 10_000), Dimension(m=1)),
        ("t", 1000, Dimension(kg=1)),
        ("cSt", Fraction(1, 10**6), Dimension(m=2, s=-1)),
        ("km/h", Fraction(1000, 3600), Dimension(m=1, s=-1)),
    ],
)
def test_a_unit_text_has_an_exact_factor_and_a_dimension(text: str, factor: Fraction | int, base: Dimension) -> None:
    unit = parse_unit(text)
    assert unit.factor == factor
    assert unit.dimension == base
    assert unit.offset == 0


def test_a_whole_word_wins_over_a_prefix_and_a_word() -> None:
    assert parse_unit("min").factor == 60
    assert dimension_of("cd") == dimension_of("lm")
    assert dimension_of("ft") == dimension_of("m")
    assert dimension_of("Pa") == dimension_of("N/m^2")
    assert parse_unit("mm").factor == Fraction(1, 1000)
    assert parse_unit("T").dimension == dimension_of("Wb/m^2")


@pytest.mark.parametrize("word", ["mmin", "kkg", "mkg", "krpm", "kdeg", "kh", "mdegC", "kt", "mpsi", "", "N*m", "1"])
def test_words_without_prefix_take_none(word: str) -> None:
    assert not is_unit(word)


def test_every_listed_word_is_a_unit() -> None:
    assert all(is_unit(word) for word in unit_words())


def test_the_units_of_the_domain_table_are_known_and_their_products_are_powers() -> None:
    for domain in DOMAINS.values():
        across, through = dimension_of(domain.across.unit), dimension_of(domain.through.unit)
        second = dimension_of("s")
        power = through if domain.heat_books else across.times(through)
        assert power == dimension_of("W"), domain.name
        assert dimension_of(domain.across_energy.unit) == through.times(second), domain.name
        assert dimension_of(domain.through_energy.unit) == across.times(second), domain.name


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (1, "bar", "Pa", 1e5),
        (90, "deg", "rad", math.pi / 2),
        (3000, "rpm", "rad/s", 100 * math.pi),
        (20, "degC", "K", 293.15),
        (68, "degF", "degC", 20),
        (1, "hp", "W", 745.6998715822702),
        (1, "psi", "Pa", 6894.757293168361),
        (math.inf, "mm", "m", math.inf),
    ],
)
def test_values_convert_between_units_of_one_dimension(value: float, source: str, target: str, expected: float) -> None:
    assert convert(value, source, target) == pytest.approx(expected, rel=1e-15)


def test_a_decimal_value_with_a_prefix_keeps_its_last_digit() -> None:
    assert parse_unit("mH").to_si(4.7) == 0.0047
    assert parse_unit("uF").to_si(2.2) == 2.2e-6
    assert parse_unit("degC").to_si(20) == 293.15
    assert parse_unit("degC").from_si(293.15) == 20


def test_converting_between_quantities_names_both() -> None:
    with pytest.raises(DescriptionError) as caught:
        convert(1, "V", "N")
    assert caught.value.code == "D053"
    assert caught.value.what == "'V' does not convert to 'N'"
    assert caught.value.finding.why == "'V' is a unit of V, 'N' of N"


@pytest.mark.parametrize(
    ("text", "code", "what", "fix", "column"),
    [
        ("ohn", "D050", "'ohn' is not a unit", "did you mean 'ohm'?", 1),
        ("V/kohn", "D050", "'kohn' is not a unit", "did you mean 'kohm'?", 3),
        ("Nm", "D050", "'Nm' is not a unit", "did you mean 'N*m'?", 1),
        ("Nms", "D050", "'Nms' is not a unit", "did you mean 'N*m*s'?", 1),
        ("Km", "D050", "'Km' is not a unit", "did you mean 'km'?", 1),
        ("sec", "D050", "'sec' is not a unit", "did you mean 's'?", 1),
        (
            "m/frob",
            "D050",
            "'frob' is not a unit",
            "units are SI units with prefixes, such as mH, kohm, N*m/A, rad/s",
            3,
        ),
        ("", "D051", "the unit is empty", HOW_TO_JOIN, 1),
        ("m/", "D051", "the unit ends where a unit word is expected", HOW_TO_JOIN, 3),
        ("V//A", "D051", "'/' stands where it makes no unit", HOW_TO_JOIN, 3),
        ("kg m", "D051", "'m' stands where it makes no unit", HOW_TO_JOIN, 4),
        ("m_s", "D051", "'_' cannot stand in a unit", HOW_TO_JOIN, 2),
        ("2*s", "D051", "the number 2 stands inside a unit", "only 1 may stand in a unit, as in 1/s", 1),
        ("m^x", "D051", "the exponent of a unit must be a number", "write m^2, s^-1 or Pa^0.5", 3),
        ("m^(1/0)", "D051", "the exponent of a unit is divided by 0", "write Pa^(1/2)", 6),
        ("(m", "D051", "a ')' is missing in the unit", "close the parenthesis", 3),
        ("m^(2", "D051", "a ')' is missing after the exponent", "close the parenthesis", 5),
        ("m^999999999", "D051", "the exponent 999999999 is too large", "use exponents up to 30", 3),
        ("ohm/degC", "D052", "'degC' stands inside a product of units", "use K for temperature differences", 5),
    ],
)
def test_a_bad_unit_says_what_is_wrong_and_where(text: str, code: str, what: str, fix: str, column: int) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_unit(text, Place("model.yaml", 7, 20, text))
    finding = caught.value.finding
    assert (finding.code, finding.what, finding.fix) == (code, what, fix)
    assert finding.place is not None
    assert finding.place[:3] == ("model.yaml", 7, 19 + column)


@pytest.mark.parametrize("text", ["m*" * 500 + "m", "(" * 150 + "m", "((m^30)^30)^30", "Ym^30", "Gm^30*Gm^30"])
def test_no_unit_text_can_exhaust_the_machine(text: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_unit(text)
    assert caught.value.code == "D051"
    assert caught.value.finding.place is None


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("V/A", "ohm (V/A)"),
        ("m^3/(Pa*s)", "m^3/(Pa*s)"),
        ("rad/s", "1/s (rad/s)"),
        ("deg", "1"),
        ("N*m*s/rad", "N*m*s"),
        ("K^2*mol/(A*s)", "K^2*mol/(s*A)"),
        ("1/mol", "1/mol"),
    ],
)
def test_a_dimension_is_described_by_a_readable_unit(text: str, described: str) -> None:
    assert describe(dimension_of(text)) == described


def test_a_square_root_of_a_dimension_is_described() -> None:
    assert describe(Dimension(m=3).power(Fraction(1, 2))) == "m^1.5"
    assert describe(Dimension(m=2).power(Fraction(1, 2))) == "m"


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(unit_words())), st.integers(-2, 2)), max_size=3))
def test_a_dimension_survives_its_description(powers: list[tuple[str, int]]) -> None:
    scales = ("degC", "°C", "degF", "°F")  # and three squares at most, because exponents beyond 30 are refused
    text = "*".join(f"{word}^{power}" for word, power in powers if word not in scales) or "1"
    dimension = dimension_of(text)
    assert dimension_of(describe(dimension).split(" ")[0]) == dimension


def finding_in(text: str) -> Finding | None:
    try:
        parse_unit(text, Place("f", 1, 1))
    except DescriptionError as error:
        return error.finding
    return None


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_a_unit_or_a_clear_error(text: str) -> None:
    finding = finding_in(text)
    assert finding is None or (finding.code in RULES.rules and finding.fix and finding.place)


EXPONENTS = st.one_of(
    st.integers(-3, 3), st.sampled_from([Fraction(1, 2), Fraction(-3, 2), Fraction(1, 4), Fraction(-5, 2)])
)


@given(st.lists(EXPONENTS, min_size=7, max_size=7))
def test_roots_of_units_are_read_as_they_are_described(exponents: list[int | Fraction]) -> None:
    dimension = Dimension(*exponents)
    assert parse_unit(describe(dimension)).dimension == dimension


def test_a_root_of_a_unit_has_the_root_of_its_factor() -> None:
    assert parse_unit("Pa^0.5").dimension == parse_unit("Pa^(1/2)").dimension
    assert parse_unit("kPa^0.5").to_si(1.0) == pytest.approx(1000**0.5, rel=1e-15)
    assert parse_unit("m^3/(s*bar^0.5)").to_si(1.0) == pytest.approx(1e5**-0.5, rel=1e-15)
    assert parse_unit("(m^0.5)^2").dimension == Dimension(m=1)
