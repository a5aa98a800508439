"""The JSON Schema agrees with the reader about keys and shapes."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from support.model_schema import VALIDATOR, is_valid, plain
from tellegen.core.errors import DescriptionError
from tellegen.elements import KINDS
from tellegen.notations.reading import read_model
from tellegen.notations.schema import schema

SYSTEMS = sorted((Path(__file__).parents[2] / "src" / "tellegen" / "systems").glob("*.yaml"))


def test_the_schema_is_itself_valid_and_is_json() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert json.loads(json.dumps(schema())) == schema()


@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.stem)
def test_the_systems_that_come_along_keep_the_schema(path: Path) -> None:
    VALIDATOR.validate(plain(path))
    VALIDATOR.validate(yaml.safe_load(path.read_text()))  # as an editor reads it


@pytest.mark.parametrize("word", KINDS)
def test_every_kind_has_its_line(word: str) -> None:
    kind = KINDS[word]
    nodes = ["a", "b", "c", "d"][: kind.terminals]
    value = f", {kind.quantity.key}: 3" if kind.quantity else ""
    text = f"system: T\nnetwork:\n  X: {{{word}: [{', '.join(nodes)}]{value}}}\n"
    assert is_valid(text)
    assert not is_valid(text.replace("]", "], no such key: 3", 1))


GOOD = """
version: 1
system: T
about: words
parameters: {a: 1, b: 2 mH, c: }
network:
  V: {voltage source: a}
  C: {capacitor: [a, "n[3]"], C: 1 uF, initial: 2 V, voltage: V_C, causality: force integral, notes: {x: 1}}
  D: {damper: [x], law: "F = 3*v*abs(v)"}
  X: {connection: [a, b, s, frame], domains: [electrical, rotational], relation: F2 = a*F1, current: i_x}
  lines:
    repeat: {i: 1..3, j: 1..i}
    network:
      R[i,j]: {resistor: ["n[i]", "m[j]"], R: i}
experiment: {until: 3 s, inputs: {V: step(3 V)}, initial: {V_C: 3 V}, outputs: [V_C], rtol: 1e-6}
layout: {anything: [1, 2]}
"""


def test_a_file_with_everything_keeps_the_schema_and_reads() -> None:
    assert is_valid(GOOD)
    read_model(GOOD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("system: T", "systm: T"),
        ("version: 1", "version: 3"),
        ("capacitor:", "capacitr:"),
        ("initial: 2 V", "inital: 2 V"),
        ("experiment: {until", "experiment: {untill"),
        ("network:\n  V", "networks:\n  V"),
        ("V: {voltage source: a}", "V: voltage source"),
        ("repeat: {i: 1..3", "repeat: {i: 13"),
        ("voltage: V_C", "voltage: 3 V"),
        ("damper: [x]", 'damper: ["x y"]'),
        ("parameters: {a: 1", "parameters: {2a: 1"),
        ("relation: F2 = a*F1, ", ""),
        ("[electrical, rotational]", "[electric, rotational]"),
    ],
)
def test_a_slip_breaks_the_schema_and_the_reader_refuses_it_too(old: str, new: str) -> None:
    assert old in GOOD
    broken = GOOD.replace(old, new, 1)
    assert not is_valid(broken)
    with pytest.raises(DescriptionError):
        read_model(broken)


def test_descriptions_come_from_the_registry() -> None:
    entry = schema()["$defs"]["element capacitor"]
    assert entry["description"] == KINDS["capacitor"].summary
    assert entry["properties"]["C"]["description"] == "capacitance in F"
