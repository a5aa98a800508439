"""`tellegen explain`: what a code means, and that messages lead to it."""

import subprocess
import sys
from pathlib import Path

import pytest

import tellegen as tg
from command_line import record_of, tellegen
from tellegen.workflow.explaining import rules


def test_a_code_is_explained_with_a_wrong_and_a_right_file() -> None:
    done = tellegen("explain", "k101")
    assert done.returncode == 0
    assert done.stdout.startswith("K101: two sources decide the same variable\nerror (the model cannot be used")
    why, wrong, right = (done.stdout.index(f"\n{word}\n  ") for word in ("Why", "Wrong", "Right"))
    assert why < wrong < right
    assert "  V_2: {voltage source: [b, gnd]}\n" in done.stdout[right:]


def test_several_codes_are_explained_one_below_the_other() -> None:
    done = tellegen("explain", "S127", "D110")
    assert done.stdout.index("S127: ") < done.stdout.index("\n\n\nD110: ")
    assert [rule["code"] for rule in record_of("explain", "S127", "D110")["rules"]] == ["S127", "D110"]


def test_the_record_has_all_that_the_rule_says() -> None:
    rule = tg.explain("K101")
    (record,) = record_of("explain", "K101")["rules"]
    assert {key: getattr(rule, key) for key in record} == record
    assert set(record) == {"code", "severity", "layer", "title", "meaning", "why", "example", "instead"}


def test_every_rule_of_the_package_can_be_explained() -> None:
    known = [placed.rule for placed in rules()]
    assert len(known) > 400
    assert all(tg.explain(rule.code) is rule for rule in known)


@pytest.mark.parametrize(
    ("asked", "proposed"),
    [("K1O1", "K101 (two sources"), ("two sources", "K101 (two sources"), ("unknwon kind of element", "D110 (unknown")],
)
def test_what_is_no_code_leads_to_those_that_may_be_meant(asked: str, proposed: str) -> None:
    done = tellegen("explain", *asked.split())
    assert done.returncode == 1
    assert done.stderr.startswith(f"error D306: there is no code '{asked}'")
    assert f"try: perhaps: {proposed}" in done.stderr


def test_a_text_like_no_code_says_what_codes_look_like() -> None:
    assert "a letter and three digits" in tellegen("explain", "zzz").stderr


def test_messages_name_the_command_once_for_each_code(tmp_path: Path) -> None:
    model = tmp_path / "m.yaml"
    model.write_text(
        "system: wrong\nnetwork:\n  a: {resistro: [x, gnd]}\n  b: {resistro: [x, gnd]}\n", encoding="utf-8"
    )
    for words in (("check", str(model)), ("derive", str(model))):
        done = tellegen(*words)
        assert (done.stdout + done.stderr).count("error D110: ") == 2
        assert (done.stdout + done.stderr).count("\n  more: tellegen explain D110\n") == 1


def test_notices_lead_nowhere() -> None:
    done = tellegen("check", "crank_rod")
    assert "notice " in done.stdout
    assert "explain" not in done.stdout


def test_a_code_of_causality_is_explained_without_loading_figures() -> None:
    look = "import sys, tellegen; tellegen.explain('K101'); print('tellegen.drawing' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
