"""`make fuzz`: what does not hold is found, made small and repeated by its command; what hangs is told."""

import math
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from code_blocks import ROOT
from fuzz import properties
from fuzz.properties import Property, attack
from fuzz.subjects import SUBJECTS

PLANTED = "attacks.planted"


def test_a_property_that_does_not_hold_is_found_and_made_small() -> None:
    outcome = attack(Property(PLANTED, "sums_stay_below_a_hundred"), 3, math.inf)
    assert "numbers=[100]" in outcome.failure
    assert outcome.kind == "AssertionError in planted.py, sums_stay_below_a_hundred"


def test_a_seed_gives_its_examples_again() -> None:
    this = Property.read(str(Property(PLANTED, "sums_stay_below_a_hundred")))
    one, two = (attack(this, 7, math.inf) for _ in range(2))
    assert (one.held, one.left_out, one.kind) == (two.held, two.left_out, two.kind)


def test_a_property_that_holds_is_counted() -> None:
    outcome = attack(Property(PLANTED, "digits_are_small"), 1, math.inf)
    assert (outcome.failure, outcome.left_out) == ("", 0)
    assert 0 < outcome.held <= 30


def test_an_example_that_does_not_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "LONGEST", 0.1)
    outcome = attack(Property(PLANTED, "nothing_ends"), 1, math.inf)
    assert "more than 0.1 s of processor time" in outcome.failure
    assert "number = " in outcome.failure


def test_no_example_is_begun_when_the_time_is_over() -> None:
    outcome = attack(Property(PLANTED, "sums_stay_below_a_hundred"), 3, time.monotonic() - 1)
    assert (outcome.held, outcome.failure) == (0, "")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_modules_of_a_subject_are_there(subject: str) -> None:
    assert all(find_spec(module) is not None for module in SUBJECTS[subject])


@pytest.mark.slow
def test_a_minute_of_attacks_finds_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", "--seconds", "60", "--seed", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
