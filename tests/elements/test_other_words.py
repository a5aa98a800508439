"""Advice for words that people use for elements."""

import pytest

from tellegen.elements import KINDS
from tellegen.elements.kinds import ADVICE, KINDS_BY_WORD, kind_advice


def test_advice_names_kinds_for_words_that_are_none() -> None:
    assert KINDS.keys().isdisjoint({*KINDS_BY_WORD, *ADVICE})
    assert {kind for kinds in KINDS_BY_WORD.values() for kind in kinds} <= KINDS.keys()


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("Motor", "one of 'dc machine', 'hydraulic motor', 'linear motor'"),
        ("dashpot", "the kind is 'damper'"),
        ("conductor", "did you mean 'thermal conductor', 'gas conductor', 'entropy conductor'?"),
        ("capcitor", "did you mean 'capacitor'?"),
        ("rack and pinion", "did you mean 'rack'?"),
        (
            "battery",
            "the kind is 'voltage source'; there is also a part of the library: under 'parts:' write 'NAME: {use: battery}', "
            "and join its ports",
        ),
        ("tyre", "it is a part of the library: under 'parts:' write 'NAME: {use: tyre}', and join its ports"),
        ("heat pump", "it is a part of the library: under 'parts:' write 'NAME: {use: heat_pump}', and join its ports"),
        ("ground", ADVICE["ground"]),
    ],
)
def test_words_of_people_lead_to_kinds(word: str, advice: str) -> None:
    assert kind_advice(word) == advice


def test_a_word_that_means_nothing_gets_the_list() -> None:
    assert kind_advice("xyzzy", ("connection",)).startswith("the kinds are 'capacitor', 'inductor', 'resistor'")
