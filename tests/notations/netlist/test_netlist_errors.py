"""Netlists that cannot be read: what the messages say, where they point, and that nothing is run, guessed or lost."""

import contextlib
import os
import random
from pathlib import Path

import pytest

from tellegen.core.errors import DescriptionError, Finding
from tellegen.notations.context import MOST_ERRORS
from tellegen.notations.netlist import loading
from tellegen.notations.netlist.loading import read_netlist
from tellegen.notations.netlist.reading import MAX_LINE
from tellegen.notations.netlist.rules import RULES

LOOP = "eV, 1, 0, En, V_a\neR, 1, 2, Kn, R_a\neC, 2, 0, Kn, C_1, En, V_1\n"
MOTOR = "eV, 1, 0, En, V_a\nCB, [1; 2], [0; b], Kn, F2=K_m*F1\nrJ, 2, b, Kn, J_m\n"


def refused(text: str | Path) -> tuple[Finding, ...]:
    with pytest.raises(DescriptionError) as caught:
        read_netlist(text, file="bad.txt")
    return caught.value.findings


def the_finding(text: str | Path) -> Finding:
    (finding,) = refused(text)
    return finding


def spot(finding: Finding) -> tuple[int, int, str]:
    assert finding.place is not None
    return finding.place.line, finding.place.column, finding.place.text


# The pages of the rules


@pytest.mark.parametrize("code", [code for code, rule in RULES.rules.items() if rule.example])
def test_the_example_of_a_rule_breaks_it_and_the_other_one_keeps_it(code: str) -> None:
    rule = RULES.rules[code]
    if rule.severity == "error":
        assert [finding.code for finding in refused(rule.example)] == [code]
    else:
        assert [finding.code for finding in read_netlist(rule.example).findings] == [code]
    assert code not in [finding.code for finding in read_netlist(rule.instead).findings]


def test_codes_of_netlists_lie_between_200_and_249() -> None:
    assert all("D200" <= code <= "D249" for code in RULES.rules)


# Lines


@pytest.mark.parametrize(
    ("line", "code", "what", "fix", "place"),
    [
        ("eS, 1, 2", "D205", "'eS' is not the code of an element", "the codes are eC eL eR eG eV eI;", (2, 1, "eS")),
        ("er, 1, 2", "D205", "'er' is not the code of an element", "did you mean 'eR'?", (2, 1, "er")),
        (
            "  qqqq, 1, 2",
            "D205",
            "'qqqq' is not the code of an element",
            "iC iK iL iR iG iP iQ CB -- *P **; a comment starts with %",
            (2, 3, "qqqq"),
        ),
        (", 1, 2", "D205", "the line starts without a code", "", (2, 1, "")),
        (
            "eU, 1, 2",
            "D206",
            "'eU' draws a generator without saying what it imposes",
            "write eV (voltage source) or eI (current source)",
            (2, 1, "eU"),
        ),
        (
            "eR, 1",
            "D207",
            "'eR' needs two points, and 1 is given",
            "write 'eR, 1, 2' and then the options",
            (2, 1, "eR, 1"),
        ),
        ("eR", "D207", "'eR' needs two points, and 0 are given", "write 'eR, 1, 2' and then the options", (2, 1, "eR")),
        (
            "--, 1",
            "D207",
            "'--' needs two points, and 1 is given",
            "write '--, 1, 2' and then the options",
            (2, 1, "--, 1"),
        ),
        (
            "eR, 1, 2, Kn, R_a, Ln",
            "D208",
            "the options after the points do not come in pairs",
            "write each option with its value: 'Kn, R_a, Ln, 0.8'",
            (2, 20, "Ln"),
        ),
        ("**, Gr", "D208", "the options after the points do not come in pairs", "", (2, 5, "Gr")),
        (
            "eR, 1, 2, Sh, [0.2;-0.2",
            "D209",
            "brackets do not match: there are 1 '['",
            "close each bracket in its own line, as in [3; 4]",
            (2, 1, "eR, 1, 2, Sh, [0.2;-0.2"),
        ),
        (
            "eR, 1, 2, Ln, (2]",
            "D209",
            "brackets do not match: there are 1 ']' and 1 '('",
            "",
            (2, 1, "eR, 1, 2, Ln, (2]"),
        ),
        (
            "eR, 1, b-c, Kn, R_a",
            "D210",
            "'b-c' is not the label of a point",
            "use letters, digits and underscores, such as 3 or a",
            (2, 8, "b-c"),
        ),
        ("eR, , 2, Kn, R_a", "D210", "a point is missing between two commas", "", (2, 5, "")),
        (
            "eR, 1, 1, Kn, R_a",
            "D211",
            "the element is shorted: both ends are the point '1'",
            "remove it, or change a point",
            (2, 1, "eR, 1, 1, Kn, R_a"),
        ),
        (
            "eR, 1, 2, Kn, 20",
            "D212",
            "the number 20 stands where a name is expected",
            "write a name before it: 'K_1=20'",
            (2, 15, "20"),
        ),
        (
            "eR, 1, 2, Kn, R+a",
            "D212",
            "'R+a' cannot be a name",
            "use a letter, then letters, digits and underscores, such as R_a",
            (2, 15, "R+a"),
        ),
        ("eR, 1, 2, Kn, -", "D212", "a name is missing", "", (2, 15, "-")),
        ("eR, 1, 2, Kn, R_a=", "D213", "no value stands after '='", "write 'R_a=3' or 'R_a'", (2, 15, "R_a=")),
        (
            "eR, 1, 2, Kn, R_a=abc",
            "D213",
            "'abc' is not a number: 'abc' has no value",
            "write a number, such as 0.003 or 3*1e-3",
            (2, 15, "R_a=abc"),
        ),
        ("eR, 1, 2, Kn, R_a=1/0", "D213", "'1/0' is not a number", "", (2, 15, "R_a=1/0")),
        (
            "eR, 1, 2, Kn, R_a=1e999",
            "D213",
            "'1e999' is not a number: it has no finite value",
            "",
            (2, 15, "R_a=1e999"),
        ),
        (
            "eR, 1, 2, Kn, R_a=1e-999",
            "D213",
            "'1e-999' is not a number: it has no finite value",
            "",
            (2, 15, "R_a=1e-999"),
        ),
        ("eR, 1, 2, Kn, R_a=nan", "D213", "'nan' is not a number", "", (2, 15, "R_a=nan")),
        ("eR, 1, 2, Kn, R_a=inf", "D213", "'inf' is not a number", "", (2, 15, "R_a=inf")),
        ("eR, 1, 2, Kn, R_a=2 ohm", "D213", "'2 ohm' is not a number", "", (2, 15, "R_a=2 ohm")),
        ("eR, 1, 2, Kn, R_a=1+2*1i", "D213", "'1+2*1i' is not a number", "", (2, 15, "R_a=1+2*1i")),
        ("eR, 1, 2, Kn, R_a=9^9^9^9", "D213", "'9^9^9^9' is not a number", "", (2, 15, "R_a=9^9^9^9")),
        (
            "eR, 1, 2, Kn, R_a, Kn, R_b",
            "D214",
            "this option stands twice in the line",
            "remove one of the two",
            (2, 20, "Kn"),
        ),
        ("eV, 1, 2, Pin, 1, Pow_In, 1", "D214", "this option stands twice in the line", "", (2, 19, "Pow_In")),
        (
            "eR, 1, 2, Pin, 0",
            "D215",
            "the value of Pin is '0'",
            "write 1 (power enters the element) or -1 (power leaves it)",
            (2, 16, "0"),
        ),
        (
            "eR, 1, 2, Out, effort",
            "D216",
            "'effort' is not an output variable",
            "did you mean 'Effort'?",
            (2, 16, "effort"),
        ),
        ("*P, a=", "D221", "'a=' does not place a point", "write 'a=(2+1*1i)': label, x and y", (2, 5, "a=")),
        ("**, sTfin, soon", "D213", "'soon' is not a number", "", (2, 12, "soon")),
        ("eC, 1, 2, Kn, C_a=-3", "D130", "the value of this capacitor, 'C_a', is -3", "give a positive value", None),
        ("eC, 1, 2, Kn, C_a=0", "D131", "the value of this capacitor, 'C_a', is 0", "give a positive value", None),
    ],
)
def test_a_bad_line_is_told_with_its_place_and_what_to_do(
    line: str, code: str, what: str, fix: str, place: tuple[int, int, str] | None
) -> None:
    finding = the_finding(f"eV, 1, 2\n{line}\neR, 1, 2, Kn, R_z\n")
    assert finding.code == code
    assert finding.what.startswith(what)
    assert fix in finding.fix
    assert finding.why
    assert place is None or spot(finding) == place


@pytest.mark.parametrize(
    ("block", "code", "what", "fix"),
    [
        ("CB, [1; 2]", "D207", "'CB' needs its top points and its bottom points", "write 'CB, [3; 4], [A; B]"),
        ("CB, 1, 0, Kn, F2=K*F1", "D218", "'1' is not a pair", "write one for each side in brackets: [3; 4]"),
        ("CB, [1;2;3], [0;b;c], Kn, F2=K*F1", "D218", "'[1;2;3]' is not a pair", "[3; 4]"),
        ("CB, [1;2], [0;b], Kn, F2=K*F1, En, E_1", "D218", "'E_1' is not a pair", "[3; 4]"),
        ("CB, [1;2], [0;b]", "D219", "the connection block has no relation", "F2=K_m*F1"),
        ("CB, [1;2], [0;b], Kn, K_m", "D219", "'K_m' is not the relation of a connection block", "F2=K_m*F1"),
        ("CB, [1;2], [0;b], Kn, F2=F1/K", "D219", "'F2=F1/K' is not the relation of a connection block", "F2=K_m*F1"),
        ("CB, [1;2], [0;b], Kn, F2=K*E2", "D219", "'F2=K*E2' relates two variables of side 2", "F2=K_m*F1"),
        (
            "CB, [1;2], [0;b], Kn, F2=-K*F1",
            "D219",
            "the modulus of 'F2=-K*F1' has a minus",
            "write the modulus without its minus and exchange the two points of one side",
        ),
        ("CB, [1;2], [0;b], Kn, F2=*F1", "D219", "the relation has no modulus", "F2=K_m*F1"),
        ("CB, [1;2], [0;b], Kn, F2=K+1*F1", "D212", "'K+1' cannot be a name", ""),
        ("CB, [1;2], [0;2], Kn, F2=K*F1", "D211", "the element is shorted: both ends are the point '2'", ""),
        ("CB, [1;2], [0;b], Kn, F2=K*F1, Kn, F2=K*F1", "D214", "this option stands twice in the line", ""),
        (
            "CB, [1;7], [0;8], Kn, F2=K*F1",
            "D220",
            "no element stands at the points '7' and '8' of side 2: its domain is unknown",
            "join an element to the point '7', such as 'rJ, 7, 8'",
        ),
    ],
)
def test_a_bad_connection_block_is_told(block: str, code: str, what: str, fix: str) -> None:
    finding = the_finding(f"eV, 1, 0\n{block}\nrJ, 2, b, Kn, J\n")
    assert (finding.code, finding.what) == (code, what)
    assert fix in finding.fix
    assert spot(finding)[0] == 2


def test_points_joined_by_wires_short_an_element() -> None:
    finding = the_finding(LOOP + "--, 1, x\n--, x, 2\n")
    assert finding.code == "D211"
    assert finding.what == "the element is shorted: its ends '1' and '2' are joined by '--' lines"
    assert spot(finding)[0] == 2


def test_one_parameter_with_two_values_is_told_with_both() -> None:
    finding = the_finding("eV, 1, 0\neR, 1, 2, Kn, R=3\neR, 2, 0, Kn, R=4\n")
    assert finding.what == "'R' is 3 at line 2 and 4 here"
    assert spot(finding) == (3, 15, "R=4")


def test_a_parameter_given_twice_with_the_same_value_is_no_error() -> None:
    assert len(read_netlist("eV, 1, 0\neR, 1, 2, Kn, R=3\neR, 2, 0, Kn, R=3.0\n").elements) == 3


def test_a_negative_resistance_is_a_warning() -> None:
    (finding,) = read_netlist(LOOP.replace("R_a", "R_a=-3")).findings
    assert (finding.code, finding.severity) == ("D132", "warning")


def test_a_modulus_of_zero_is_a_warning() -> None:
    (finding,) = read_netlist("eV, 1, 0\neR, 1, 2, Kn, R=1\nCB, [2;3], [0;b], Kn, F2=0*F1\nrJ, 3, b, Kn, J\n").findings
    assert (finding.code, finding.severity) == ("D133", "warning")


# Nothing is run


@pytest.mark.parametrize(
    "attack",
    [
        "system('touch owned')",
        "__import__('os').system('touch owned')",
        "eval('1')",
        "(lambda: 1)()",
        "open('owned', 'w')",
        "1; touch owned",
        "R_a.__class__",
        "[x for x in (1, 2)]",
        "@import",
        "exp(1e9)",
        "((((((((((" * 50 + "1" + "))))))))))" * 50,
    ],
)
def test_code_in_a_value_is_refused_and_not_run(attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    findings = refused(LOOP.replace("R_a", f"R_a={attack}"))
    assert {finding.code for finding in findings} <= {"D203", "D208", "D212", "D213"}
    assert not list(tmp_path.iterdir())


# Files


def test_a_text_of_control_characters_is_refused_at_its_first() -> None:
    finding = the_finding("eV, 1, 0\neR, 1, \x00, Kn, R\n")
    assert finding.code == "D201"
    assert finding.what == "the character U+0000 cannot stand in a netlist"
    assert spot(finding)[:2] == (2, 8)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_control_character_is_found_whatever_ends_the_lines(end: str) -> None:
    assert spot(the_finding(f"eV, 1, 0{end}{end}eR, \x07{end}"))[:2] == (3, 5)


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.txt"
    path.write_bytes(random.Random(7).randbytes(10_000))
    assert the_finding(path).code == "D201"


def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    assert the_finding(tmp_path / "none.txt").what.endswith("cannot be read: there is no such file")
    assert the_finding(tmp_path).what.endswith("cannot be read: it is a folder")
    os.mkfifo(tmp_path / "pipe")
    assert the_finding(tmp_path / "pipe").what.endswith("cannot be read: it is not an ordinary file")


def test_a_name_of_a_file_given_as_a_text_is_told_apart() -> None:
    finding = the_finding("example_1.txt")
    assert finding.code == "D205"
    assert finding.fix == "to read a file, give a Path: Path('example_1.txt')"


def test_a_line_too_long_is_refused_and_the_others_are_read() -> None:
    findings = refused(LOOP + "eR, 1, 2, Kn, " + "R" * MAX_LINE + "\nxx\n")
    assert [finding.code for finding in findings] == ["D203", "D205"]
    assert findings[0].what == f"the line has {MAX_LINE + 14} characters"
    assert len(spot(findings[0])[2]) <= 60


def test_a_file_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_BYTES", 1 << 20)
    path = tmp_path / "large.txt"
    path.write_bytes(b"%" * (1 << 20) + b"\n")
    assert the_finding(path).what == "the file is larger than 1 MiB"
    assert the_finding("%" * ((1 << 20) + 1)).code == "D202"


def test_too_many_lines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_LINES", 1000)
    assert the_finding("\n" * 1001).what == "there are more than 1000 lines"


@pytest.mark.parametrize("text", ["", "\n\n", "% nothing\n", "**, Gr, Si\n", "--, 1, 2\n", ",\n"])
def test_a_netlist_without_elements_is_refused(text: str) -> None:
    assert the_finding(text).code in ("D204", "D205")


# All at once


def test_all_errors_of_a_file_are_told_together_in_the_order_of_lines() -> None:
    findings = refused("eV, 1\neR, 1, 2, Kn, 3\nxx, 1\neC, 2, 0, Kn, C=a\neR, 2, 2, Kn, R\n")
    assert [(finding.code, spot(finding)[0]) for finding in findings] == [
        ("D207", 1),
        ("D212", 2),
        ("D205", 3),
        ("D213", 4),
        ("D211", 5),
    ]


def test_a_refused_line_does_not_make_the_domain_of_a_block_unknown() -> None:
    findings = refused(MOTOR.replace("rJ, 2, b, Kn, J_m", "rJ, 2, b-, Kn, J_m"))
    assert [finding.code for finding in findings] == ["D210"]


def test_errors_stop_at_fifty() -> None:
    assert len(refused("xx\n" * 1000)) == MOST_ERRORS


def test_notices_of_one_kind_stop_at_twenty_and_the_rest_is_counted() -> None:
    text = "eV, 0, 100\n" + "".join(f"eR, {k}, {k + 1}, Kn, R_{k}, Foo, 3\n" for k in range(100))
    findings = read_netlist(text).findings
    assert len(findings) == 21
    assert findings[-1].what == "80 more like this were found"


def test_the_message_reads_as_an_engineer_reads_it() -> None:
    assert str(the_finding(LOOP + "eR, 2, 0, Kn, R_b=abc")) == (
        "error D213: 'abc' is not a number: 'abc' has no value\n"
        "  at bad.txt:4:15   R_b=abc\n"
        "  because reading a netlist computes numbers and never runs code; other names have no value here\n"
        "  try: write a number, such as 0.003 or 3*1e-3"
    )


# Hostile texts


@pytest.mark.parametrize(
    "line",
    [
        "CB, [1;2], [0;b], Kn, F2=" + " " * 9_900 + "x",
        "CB, [1;2], [0;b], Kn, F2=" + "*F1" * 3_000 + "x",
        "eR, 1, 2, Kn, R=" + "1" * 9_900 + "x",
        "eR, 1, 2, Kn, " + "a_" * 4_900 + "-",
        "eR, 1, 2, Kn, " + "_" * 9_900,
        "eR, 1, 2, Kn, R=" + "(" * 4_900 + ")" * 4_900,
        "eR, 1, 2, Kn, R=" + "-" * 9_900,
        "eR, 1, 2, Kn, R=" + "2^" * 4_900 + "2",
        "," * 9_999,
        "[" * 9_999,
        "e" * 9_999,
    ],
)
def test_lines_on_which_a_search_could_try_everything_are_refused(line: str) -> None:
    # No clock: a pattern that goes back and forth over 10 000 characters would make this test run for hours.
    assert refused(f"eV, 1, 2\n{line}\neR, 1, 2, Kn, R_z\n")


def test_random_lines_never_end_in_anything_but_a_model_or_a_description_error() -> None:
    rng = random.Random(11)
    words = ["eR", "eV", "CB", "--", "**", "*P", "1", "2", "a", "[1;2]", "[", "]", "Kn", "En", "Fn", "Qn", "Pin", "Out"]
    words += [
        "F2=K*F1",
        "K=3",
        "-K",
        "=3",
        "=",
        "%",
        "",
        " ",
        "T_{1}",
        "_",
        "Kn0",
        "In0",
        "3*",
        "é",
        "gnd",
        "rJ",
        "Effort",
        "1",
        "-1",
    ]
    for _ in range(3_000):
        lines = [", ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 4))]
        text = "\n".join(lines)
        with contextlib.suppress(DescriptionError):
            read_netlist(text)


def test_every_error_says_why_and_what_to_do() -> None:
    texts = [rule.example for rule in RULES.rules.values() if rule.severity == "error" and rule.example]
    for finding in (finding for text in texts for finding in refused(text)):
        assert finding.what
        assert finding.why
        assert finding.fix
        assert finding.place is not None


def test_an_option_longer_than_any_name_is_refused() -> None:
    (finding,) = refused(LOOP + "eR, 1, 2, Kn, " + "R" * 1001 + "\n")
    assert (finding.code, finding.what) == ("D203", "one option of the line has 1001 characters")
