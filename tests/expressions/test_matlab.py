"""Formulas in MATLAB."""

import pytest

from tellegen.expressions import parse
from tellegen.expressions.matlab import (
    LONGEST,
    MatlabLines,
    constant_parts,
    has_choice,
    matlab_name,
    pointwise,
    to_matlab,
)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("a*b^2/c", "a*b^2/c"),
        ("-(a + b)^2", "-(a + b)^2"),
        ("2.5e-3*sqrt(x)", "sqrt(x)/400"),
        ("x^(-1/2)", "1/sqrt(x)"),
        ("max(a, b, c)", "max(a, max(b, c))"),
        ("pi*sin(x)", "pi*sin(x)"),
        ("end + tg_x + max_", "end_ + max_ + tg_x_"),
        ("drive.motor.L_a", "drive__motor__L_a"),
    ],
)
def test_formulas_print_as_matlab_reads_them(formula: str, text: str) -> None:
    assert to_matlab(parse(formula)) == text


def test_an_if_becomes_a_statement_that_computes_one_branch() -> None:
    made = MatlabLines()
    made.assign("y", parse("2*if(x != 2 and not (z > 1), sqrt(x), if(x > 3, 1, -x))"))
    assert made.lines == [
        "if x ~= 2 && ~(z > 1)",
        "  tg_if1 = sqrt(x);",
        "else",
        "  if x > 3",
        "    tg_if2 = 1;",
        "  else",
        "    tg_if2 = -x;",
        "  end",
        "  tg_if1 = tg_if2;",
        "end",
        "y = 2*tg_if1;",
    ]


def test_choices_are_found_wherever_they_stand() -> None:
    assert has_choice(parse("1 + sin(if(x > 0, 1, 2))"))
    assert not has_choice(parse("1 + sin(x)"))


@pytest.mark.parametrize("word", ["end", "function", "max", "pi", "tg_now", "parfor"])
def test_words_of_matlab_get_an_underscore(word: str) -> None:
    assert matlab_name(word) == f"{word}_"


def test_long_names_stay_apart_within_what_matlab_keeps() -> None:
    one, two = matlab_name("a" * 80 + ".x"), matlab_name("a" * 80 + ".y")
    assert len(one) == len(two) == LONGEST
    assert one != two


@pytest.mark.parametrize("name", ["a b", "a;b", "x'", "\u00e4", "1x", ""])
def test_what_is_no_name_never_reaches_a_program(name: str) -> None:
    with pytest.raises(ValueError, match="not an identifier"):
        matlab_name(name)


def test_what_announced_formulas_share_is_computed_once() -> None:
    formulas = [parse("a*cos(x) + b*c"), parse("sin(cos(x)) - b*c")]
    made = MatlabLines(formulas)
    for name, formula in zip("pq", formulas, strict=True):
        made.assign(name, formula)
    text = "\n".join(made.lines)
    assert (text.count("cos(x)"), text.count("b*c")) == (1, 1)


def test_parts_that_read_constants_alone_are_computed_elsewhere() -> None:
    formulas = [
        parse("x*sin(a)^2 + a*b*y"),
        parse("cos(a + pi) - x*sin(a)"),
        parse("if(x > 0, sqrt(a), x)"),
        parse("a*b"),
    ]
    parts = constant_parts(formulas, {"a", "b"})
    assert parts == [parse("sin(a)"), parse("cos(a + pi)"), parse("a*b")]
    made = MatlabLines(formulas, {part: f"c({k})" for k, part in enumerate(parts, 1)})
    for name, formula in zip("pqrs", formulas, strict=True):
        made.assign(name, formula)
    text = "\n".join(made.lines)
    assert "sin" not in text
    assert "cos" not in text
    assert "sqrt(a)" in text  # of a branch, which may be wrong where it is not taken
    assert made.lines[-1] == "s = c(3);"


def test_formulas_of_rows_are_computed_number_by_number() -> None:
    assert pointwise("2*x^3/y - a") == "2.*x.^3./y - a"


def test_what_only_a_branch_reads_is_not_computed_before_it() -> None:
    formulas = [parse("if(x > 0, sqrt(x), 0)"), parse("if(x > 0, 2*sqrt(x), 1)")]
    made = MatlabLines(formulas)
    for name, formula in zip("pq", formulas, strict=True):
        made.assign(name, formula)
    assert all(line.startswith("  ") for line in made.lines if "sqrt" in line)
