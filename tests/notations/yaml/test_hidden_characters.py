"""Characters that editors do not show come into no model, whichever way they are written, and out of no command."""

import json
import re
import subprocess
import sys
from itertools import product
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from support.amount import SLOW
from tellegen.core.errors import TellegenError
from tellegen.core.hidden_characters import visible
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

BAD = [
    "\0",
    "\x1b",
    "\x1b[31m",
    "\x07",
    "\r",
    "\x7f",
    "\x85",
    "\x9b",
    "\u2028",
    "\u2029",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\ufffe",
]
PLACES = """system: "@"
about: "@"
parameters: {"R@": "2 ohm@"}
displacements: {"h@": "v@"}
network:
  "V@": {"voltage source@": ["a@", gnd], "voltage@": "u@"}
  R: {resistor: [a, gnd], R: "R@", note: "@"}
signals: {"u@": "1@"}
experiment: {"until@": "1 s@", inputs: {"V@": "step(1 V)@"}, outputs: ["i@"]}
"""
GOOD = 'system: "@"\nabout: "@"\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 2}\n'
# What every reader of terminals and of XML would obey or refuse (XML 1.0, section 2.2; ECMA-48).
OBEYED = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")


@given(
    place=st.integers(0, PLACES.count("@") - 1),
    before=st.text(st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters='"\\'), max_size=4),
    bad=st.sampled_from(BAD),
)
def test_no_escape_brings_a_hidden_character_into_a_model(place: int, before: str, bad: str) -> None:
    """The property: in every place of a file that takes text, with and without other signs around."""
    parts = PLACES.split("@")
    inside = json.dumps(before, ensure_ascii=False)[1:-1] + json.dumps(bad)[1:-1]
    text = "".join(part + (inside if k == place else "") for k, part in enumerate(parts))
    with pytest.raises(TellegenError) as caught:
        read_model(text)
    assert not OBEYED.search(str(caught.value))


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=12))
def test_what_is_read_is_shown_without_hidden_characters(title: str) -> None:
    """Either refused, or whole in every output; figures can be read as XML."""
    text = GOOD.replace("@", json.dumps(title, ensure_ascii=False)[1:-1])
    if OBEYED.search(title) or not title.strip():
        with pytest.raises(TellegenError):
            read_model(text)
        return
    model = read_model(text)
    assert not OBEYED.search(model.name)
    written = to_yaml(model)
    assert not OBEYED.search(written)
    assert read_model(written).name == model.name
    assert not OBEYED.search(str(tg.derive(model)))
    figure = tg.draw(model, "equations").svg()
    assert not OBEYED.search(figure)
    ElementTree.fromstring(figure)


@given(st.text(max_size=20))
def test_a_text_made_visible_has_nothing_that_is_obeyed(text: str) -> None:
    assert not OBEYED.search(visible(text))
    assert visible(visible(text)) == visible(text)


COMMANDS = (["simulate", "rlc", "--set", "R=@"], ["draw", "@"], ["check", "@.yaml"], ["explain", "@"])
OBEYED_WORDS = ("\x1b[31mred", "a\u2028b", "\ufffe", "\x9b31m")
ALL_PAIRS = list(product(COMMANDS, OBEYED_WORDS))


@pytest.mark.parametrize(("command", "bad"), ALL_PAIRS if SLOW else ALL_PAIRS[::5])
def test_words_of_the_command_line_are_told_without_obeying_them(command: list[str], bad: str) -> None:
    words = [word.replace("@", bad) for word in command]
    run = subprocess.run([sys.executable, "-m", "tellegen", *words], capture_output=True, check=False)
    assert run.returncode in (1, 2)
    assert not OBEYED.search((run.stdout + run.stderr).decode())


@pytest.mark.parametrize("name", ["R" + "a" * 300, "a" * 5000])
@pytest.mark.parametrize("function", [tg.load, tg.derive, tg.simulate, tg.draw])
@pytest.mark.parametrize("end", ["", ".yaml", "\0b", "\0b.yaml", "/x\0.txt"])
def test_names_that_no_file_can_have_are_errors(name: str, function: object, end: str) -> None:
    with pytest.raises(TellegenError):
        function(name + end)  # type: ignore[operator]
