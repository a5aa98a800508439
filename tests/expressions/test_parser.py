import contextlib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellegen.core.errors import DescriptionError, Place
from tellegen.expressions import RULES, ZERO, Expression, Macro, call, number, parse, relation, symbol

a, b, x = map(symbol, ("a", "b", "x"))
FACTORS: dict[str, int | Fraction] = {
    "V": 1,
    "mH": Fraction(1, 1000),
    "ohm": 1,
    "m": 1,
    "s": 1,
    "kg": 1,
    "Pa": 1,
    "%": Fraction(1, 100),
    "kV": 1000,
}
seen: list[tuple[str, int]] = []


def unit(text: str, offset: int) -> Expression:
    seen.append((text, offset))
    return number(FACTORS.get(text, 1))


def is_unit(word: str) -> bool:
    return word in FACTORS


def with_units(text: str, **options: object) -> Expression:
    seen.clear()
    return parse(text, unit=unit, is_unit=is_unit, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        (" 0.003 ", Fraction(3, 1000)),
        ("1e-3", Fraction(1, 1000)),
        ("2.5E+3", 2500),
        (".5", Fraction(1, 2)),
        ("1.", 1),
        ("2^3^2", 512),
        ("2**3", 8),
        ("-2^2", -4),
        ("2^-1", Fraction(1, 2)),
        ("8/4/2", 1),
        ("2 - 3 - 4", -5),
        ("--3", 3),
        ("2*-3", -6),
        ("007", 7),
        ("sqrt(16)", 4),
        ("max(1, 2, 3)", 3),
        ("if(1 < 2 and not 3 < 2, 5, 6)", 5),
        ("if((1 > 2) or 2 == 2, 5, 6)", 5),
    ],
)
def test_numbers_are_read_exactly(text: str, value: Fraction | int) -> None:
    assert parse(text) is number(value)


@pytest.mark.parametrize("name", ["R_17", "motor.R[3]", "x[1,2].v", "E", "I", "lambda", "cell[4].R_a"])
def test_names_and_paths_are_symbols(name: str) -> None:
    assert parse(name) is symbol(name)
    assert parse(f"2*{name} + 1") is 2 * symbol(name) + 1


def test_indices_are_integer_expressions() -> None:
    assert parse("x[i+1]", indices={"i": 3}) is symbol("x[4]")
    assert parse("cell[i].R[2*i, k]*i", indices={"i": 3, "k": 1}) is 3 * symbol("cell[3].R[6,1]")
    assert parse("i", indices={"i": 3}) is number(3)
    assert parse("x[03]") is symbol("x[3]")
    assert parse("x[ 2 ]") is symbol("x[2]")


@pytest.mark.parametrize(
    ("text", "expected", "units"),
    [
        ("24 V", "24", [("V", 3)]),
        ("4.7 mH", "0.0047", [("mH", 4)]),
        ("2e-5 m^3/s", "2e-5", [("m^3/s", 5)]),
        ("1e-3 kg*m^2", "1e-3", [("kg*m^2", 5)]),
        ("2 m^3/(Pa*s)", "2", [("m^3/(Pa*s)", 2)]),
        ("3*(2 s/(m^3))", "6", [("s/(m^3)", 5)]),
        ("2 m^-1*s + 1", "3", [("m^-1*s", 2)]),
        ("50 %", "0.5", [("%", 3)]),
        ("24 V * 2", "48", [("V", 3)]),
        ("24 V*R", "24*R", [("V", 3)]),
        ("-2 kV/R_1", "-2000/R_1", [("kV", 3)]),
        ("2*(3 ohm + R)", "6 + 2*R", [("ohm", 5)]),
        ("if(x > 3 V and x < 5 V, 1, 2)", "if(x > 3 and x < 5, 1, 2)", [("V", 9), ("V", 21)]),
        ("if(x > 3 and 2 < x, 1, 2)", "if(x > 3 and 2 < x, 1, 2)", []),
        ("3 m/(a + b)", "3/(a + b)", [("m", 2)]),
    ],
)
def test_a_number_may_carry_a_unit(text: str, expected: str, units: list[tuple[str, int]]) -> None:
    assert with_units(text) is parse(expected)
    assert seen == units


def test_a_unit_ends_before_a_counter() -> None:
    assert with_units("1 ohm/i", indices={"i": 4}) is number(0.25)
    assert with_units("1 m/s", indices={"s": 4}) is number(0.25)


def test_the_caller_may_add_functions() -> None:
    step = Macro(1, 2, lambda height, at=ZERO: call("if", relation(">=", symbol("t"), at), height, 0))
    assert with_units("2*step(24 V, 1 s)", macros={"step": step}) is 2 * parse("if(t >= 1, 24, 0)")
    with pytest.raises(DescriptionError, match="'step' has 0, expected 1 to 2 arguments") as caught:
        parse("step()", macros={"step": step})
    assert caught.value.code == "D005"


HOSTILE = [
    ("", "D001", "column 1 of '': found the end of the formula, expected a number, a name, a function or '('"),
    ("a +", "D001", "column 4 of 'a +': found the end of the formula, expected a number"),
    ("a + * b", "D001", "column 5 of 'a + * b': found '*', expected a number"),
    ("(a + b", "D001", "column 7 of '(a + b': found the end of the formula, expected ')' to close the parenthesis"),
    ("a + b)", "D001", "column 6 of 'a + b)': found ')', expected an operator or the end"),
    ("a b", "D001", "column 3 of 'a b': found 'b', expected an operator"),
    ("2 x", "D007", "column 3 of '2 x': found 'x' after a number, expected an operator"),
    ("2x", "D001", "column 2 of '2x': found 'x' directly after a number, expected a space or an operator"),
    ("4.7mH", "D001", "column 4 of '4.7mH': found 'mH' directly after a number"),
    ("1.2.3", "D001", "column 4 of '1.2.3': found '.3'"),
    ("sin x", "D001", "column 1 of 'sin x': 'sin' is a function, expected its arguments"),
    ("a = b", "D001", "column 3 of 'a = b': found '='"),
    ("'text'", "D001", "found ''', expected"),
    ('open("f")', "D002", "unknown function 'open'"),
    ("__import__('os')", "D001", "column 1 of '__import__('os')': found '_'"),
    ("a__b", "D001", "column 3 of 'a__b': found '_', expected a name without two underscores in a row"),
    ("x.__class__", "D001", "column 2 of 'x.__class__': found '.'"),
    ("os.system(1)", "D002", "unknown function 'os.system'"),
    ("(a).real", "D001", "column 4 of '(a).real': found '.'"),
    ("lambda q: q", "D001", "column 8 of 'lambda q: q': found 'q', expected an operator"),
    ("[1, 2]", "D001", "column 1 of '[1, 2]': found '['"),
    ("{1}", "D001", "found '{'"),
    ("a; b", "D001", "found ';'"),
    ("a, b", "D001", "found ',', expected an operator or the end"),
    ("sqr(4)", "D002", "column 1 of 'sqr(4)': unknown function 'sqr'"),
    ("eval(1)", "D002", "unknown function 'eval'"),
    ("(" * 101 + "a" + ")" * 101, "D003", "nested more than 100 deep"),
    ("sin(" * 101 + "a" + ")" * 101, "D003", "nested more than 100 deep"),
    ("^".join("a" * 102), "D003", "nested more than 100 deep"),
    ("x[" * 101, "D003", "nested more than 100 deep"),
    ("a+" * 5000 + "a", "D003", "the formula has 10001 characters, at most 10000 are read"),
    ("9^9^9^9", "D004", "column 4 of '9^9^9^9': a power with more than 4000 digits is out of range"),
    ("2^100000", "D004", "out of range"),
    ("*".join(["9^4000"] * 1400), "D004", "out of range"),
    ("+".join(f"1/{10**29 + n}" for n in range(1, 600, 2)), "D004", "out of range"),
    ("1e999", "D004", "the number '1e999' is out of range"),
    ("1e-99999999999999999999", "D004", "out of range"),
    ("9" * 5000, "D004", "out of range"),
    ("sqrt(1, 2)", "D005", "column 1 of 'sqrt(1, 2)': 'sqrt' has 2, expected 1 argument"),
    ("atan2(1)", "D005", "'atan2' has 1, expected 2 arguments"),
    ("min(1)", "D005", "'min' has 1, expected 2 or more arguments"),
    ("if(a, 1, 2)", "D006", "column 4 of 'if(a, 1, 2)': found the value 'a', expected a condition"),
    ("a < b", "D006", "found a condition, expected a value"),
    ("(a < b)*2", "D006", "column 1 of '(a < b)*2': found a condition, expected a value"),
    ("2 + (a < b)", "D006", "column 5 of '2 + (a < b)': found a condition"),
    ("-(a < b)", "D006", "found a condition"),
    ("sin(a < b)", "D006", "column 5"),
    ("if(a < b < c, 1, 2)", "D001", "found a second comparison '<'"),
    ("if(a and b, 1, 2)", "D006", "'and' joins conditions, found the value 'a'"),
    ("if(not a, 1, 2)", "D006", "'not' needs a condition"),
    ("x[k]", "D008", "column 3 of 'x[k]': 'k' is not the counter of a repetition"),
    ("x[1/2]", "D008", "column 3 of 'x[1/2]': the index is 1/2, expected a whole number"),
    ("x[-1]", "D008", "the index is -1"),
    ("x[1 m]", "D007", "no unit is read here"),
    ("x[]", "D001", "found ']'"),
    ("x[1", "D001", "expected ']' to close the index"),
    ("x[x[1]]", "D008", "'x[1]' is not the counter"),
    ("a/0", "D009", "column 2 of 'a/0': division by zero"),
    ("0^-1", "D009", "division by zero"),
    ("a/(b - b)", "D009", "division by zero"),
    ("a\x00b", "D001", "found '\x00'"),
    ("α + 1", "D001", "column 1 of 'α + 1': found 'α'"),
    ("٣", "D001", "found '٣'"),
]


@pytest.mark.parametrize(("text", "code", "words"), HOSTILE, ids=[t[:20] or "empty" for t, _, _ in HOSTILE])
def test_hostile_formulas_get_a_clear_error(text: str, code: str, words: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse(text)
    assert caught.value.code == code
    assert words in caught.value.what


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab1.9 +-*/^()[],<>=!_ifandsqrt\"'", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(DescriptionError):
        parse(text, unit=unit, is_unit=is_unit, indices={"i": 2})


def test_the_nearest_function_is_named() -> None:
    with pytest.raises(DescriptionError) as caught:
        parse("2*squrt(a)")
    assert caught.value.finding.fix == "did you mean 'sqrt'?"


def test_an_error_knows_its_place_in_the_file() -> None:
    with pytest.raises(DescriptionError) as caught:
        parse("R + )", place=Place("motor.yaml", 7, 12, "R: R + )"))
    assert caught.value.finding.place == Place("motor.yaml", 7, 16, "R: R + )")


def test_long_formulas_are_shown_around_the_error() -> None:
    with pytest.raises(DescriptionError, match=r"column 402 of '\.\.\.a\+a\+a") as caught:
        parse("a+" * 200 + "a)" + "+a" * 100)
    assert len(caught.value.what) < 200


def test_a_unit_is_refused_where_there_is_no_reader() -> None:
    with pytest.raises(DescriptionError, match="no unit is read here"):
        parse("24 V")


def test_a_unit_without_a_space_is_shown_with_one() -> None:
    with pytest.raises(DescriptionError) as caught:
        parse("100nF", unit=lambda text, _: symbol(text), is_unit=lambda word: word == "nF")
    assert caught.value.finding.fix == "write a space before a unit, 100 nF, and * before a name, 100*nF"


def test_deep_but_legal_formulas_are_read() -> None:
    assert parse("(" * 99 + "a" + ")" * 99) is a
    assert parse("-" * 5000 + "a") is a
    assert parse("if(" + "(" * 98 + "a < b" + ")" * 98 + ", 1, 2)") is call("if", relation("<", a, b), 1, 2)


def test_every_rule_explains_itself() -> None:
    for rule in RULES.rules.values():
        assert rule.code.startswith("D0")
        assert rule.meaning
        assert rule.why
