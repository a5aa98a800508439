"""Each rule of a description: its example breaks it and what it proposes instead keeps it, so a page cannot lie."""

import pytest

from tellegen.core.errors import DescriptionError, Finding, Rule
from tellegen.notations.reading import read_model
from tellegen.notations.rules import RULES


def findings(text: str) -> tuple[Finding, ...]:
    try:
        return read_model(text).findings
    except DescriptionError as error:
        return error.findings


@pytest.mark.parametrize("rule", RULES.rules.values(), ids=lambda rule: rule.code)
def test_the_example_breaks_the_rule_and_says_why_and_what_to_do(rule: Rule) -> None:
    found = [f for f in findings(rule.example) if f.code == rule.code]
    assert found, f"the example of {rule.code} does not break it"
    assert all(f.severity == rule.severity for f in found)
    assert all(f.place and f.why and f.fix for f in found)


@pytest.mark.parametrize("rule", RULES.rules.values(), ids=lambda rule: rule.code)
def test_what_stands_instead_breaks_no_rule(rule: Rule) -> None:
    assert findings(rule.instead) == ()


@pytest.mark.parametrize("rule", RULES.rules.values(), ids=lambda rule: rule.code)
def test_the_example_breaks_no_other_rule(rule: Rule) -> None:
    assert {f.code for f in findings(rule.example)} == {rule.code}


def test_the_codes_of_descriptions_are_their_own() -> None:
    own = [code for code in RULES.rules if not "D490" <= code <= "D499"]  # curves and temperatures came later
    assert all("D100" <= code <= "D199" for code in own)


@pytest.mark.parametrize(
    "beside",
    [
        "",
        "signals: {s: t}\n",
        "parts: {}\n",
        "mechanism: {bodies: {bar: {mass: 1 kg, inertia: 1 kg*m^2}}}\n",
        "experiment: {until: 1 s}\n",
    ],
)
def test_elements_that_no_notation_holds_are_refused(beside: str) -> None:
    (found,) = findings(f"system: Alone\n{beside}elements:\n  m: {{value: 2 kg}}\n")
    line = 4 if beside else 3
    assert (found.code, found.severity, found.place and found.place.line) == ("D101", "error", line)
    assert found.what == "'elements' describes elements, and the file has no bond graph and no ladder in which they are"
    assert found.fix == "add 'bond graph:' or 'pog:', whose elements it describes, or write them as lines of 'network:'"


def test_a_slip_in_the_name_of_the_notation_is_told_once() -> None:
    (found,) = findings("system: Alone\nbond grph: [Se:F -> 1:v (v), v -> I:m]\nelements:\n  m: {value: 2 kg}\n")
    assert (found.code, found.place and found.place.line) == ("D100", 2)
