"""Repeated structure: copies, ranges, indices, and slips in them."""

import pytest

from tellegen.core.errors import DescriptionError, Finding
from tellegen.expressions import number, parse, symbol
from tellegen.model.model import Model
from tellegen.notations.parameters import parameter_values
from tellegen.notations.reading import read_model

LADDER = """
system: RC ladder
parameters: {N: 3}
network:
  V: {voltage source: ["n[0]", gnd]}
  ladder:
    repeat: {i: 1..N}
    network:
      R[i]: {resistor: ["n[i-1]", "n[i]"], R: 1 ohm/i, current: "I[i]"}
      C[i]: {capacitor: ["n[i]", gnd], C: 1 F/i^2, initial: i}
"""


def block(repeat: str, *lines: str, parameters: str = "a: 1") -> str:
    inner = "".join(f"      {line}\n" for line in lines)
    return f"system: T\nparameters: {{{parameters}}}\nnetwork:\n  b:\n    repeat: {{{repeat}}}\n    network:\n{inner}"


def names(model: Model) -> list[str]:
    return [e.name for e in model.elements]


def error(text: str) -> Finding:
    with pytest.raises(DescriptionError) as caught:
        read_model(text)
    (only,) = caught.value.findings
    return only


def test_a_ladder_is_written_once_and_copied() -> None:
    model = read_model(LADDER)
    assert names(model) == ["V", "R[1]", "C[1]", "R[2]", "C[2]", "R[3]", "C[3]"]
    assert model.elements[3].nodes == ("n[1]", "n[2]")
    assert model.elements[3].variables == {"through": "I[2]"}
    assert model.elements[3].value is symbol("R[2]")
    assert model.elements[4].initial is number(2)
    values = parameter_values(model)
    assert (values["R[3]"], values["C[3]"]) == (1 / 3, 1 / 9)
    assert model.parameters["R[2]"].unit == "ohm"


def test_copies_are_what_the_same_lines_written_out_would_be() -> None:
    lines = [
        f'  R[{i}]: {{resistor: ["n[{i - 1}]", "n[{i}]"], R: 1 ohm/{i}, current: "I[{i}]"}}\n'
        f'  C[{i}]: {{capacitor: ["n[{i}]", gnd], C: 1 F/{i}^2, initial: {i}}}\n'
        for i in (1, 2, 3)
    ]
    head = 'system: RC ladder\nparameters: {N: 3}\nnetwork:\n  V: {voltage source: ["n[0]", gnd]}\n'
    written_out, repeated = read_model(head + "".join(lines)), read_model(LADDER)
    for one, other in zip(written_out.elements, repeated.elements, strict=True):
        assert (one.name, one.nodes, one.value, one.initial, one.variables) == (
            other.name,
            other.nodes,
            other.value,
            other.initial,
            other.variables,
        )
    assert parameter_values(written_out) == parameter_values(repeated)


def test_several_indices_run_like_nested_loops() -> None:
    model = read_model(block("i: 1..2, j: i..i+1", 'R[i,j]: {resistor: ["n[i,j]", "n[i, j+1]"], R: i*j}'))
    assert names(model) == ["R[1,1]", "R[1,2]", "R[2,2]", "R[2,3]"]
    assert model.elements[3].nodes == ("n[2,3]", "n[2,4]")
    assert parameter_values(model)["R[2,3]"] == 6.0


def test_blocks_may_stand_inside_blocks() -> None:
    text = """
system: T
network:
  outer:
    repeat: {i: 1..2}
    network:
      m[i]: {mass: ["x[i]"], m: i}
      inner:
        repeat: {j: 1..i}
        network:
          K[i,j]: {spring: ["x[i]"], K: 10*i + j}
"""
    model = read_model(text)
    assert names(model) == ["m[1]", "K[1,1]", "m[2]", "K[2,1]", "K[2,2]"]
    assert parameter_values(model)["K[2,1]"] == 21.0


def test_values_may_use_parameters_and_values_of_other_copies() -> None:
    model = read_model(
        block(
            "k: 1..2",
            'R[k]: {resistor: ["n[k]"], R: "if(1 > 0, r[k], r_0)"}',
            parameters='"r[1]": 3, "r[2]": 4, r_0: 1',
        )
    )
    assert [e.value for e in model.elements] == [symbol("r[1]"), symbol("r[2]")]
    model = read_model(block("k: 1..2", 'R[k]: {resistor: ["n[k]"], R: r_0*k}', parameters="r_0: 3 ohm"))
    assert model.elements[1].value is parse("2*r_0")


def test_laws_may_use_the_index() -> None:
    model = read_model(block("k: 1..2", 'R[k]: {resistor: ["n[k]"], law: "v = k*tanh(i/a)"}', parameters="a: 1 A"))
    law = model.elements[1].law
    assert law is not None
    assert (law.expression, law.text) == (parse("2*tanh(i/a)"), "v = 2*tanh(i/a)")


def test_an_empty_range_gives_nothing() -> None:
    assert names(read_model(block("i: 1..0", 'R[i]: {resistor: ["n[i]"], R: 1}'))) == []


@pytest.mark.parametrize(
    ("repeat", "line", "code", "what"),
    [
        ("i: 3..1", 'R[i]: {resistor: ["n[i]"], R: 1}', "D141", "the range of 'i' runs backwards, from 3 to 1"),
        ("i: 3", 'R[i]: {resistor: ["n[i]"], R: 1}', "D140", "the range of 'i' is '3', not 'first..last'"),
        ("i: 1..N", 'R[i]: {resistor: ["n[i]"], R: 1}', "D120", "'1..N' uses 'N', which is not an index here"),
        ("i: 1..x", 'R[i]: {resistor: ["n[i]"], R: 1}', "D140", "'x' is not a whole number, so it cannot count"),
        ("i: 1..3/2", 'R[i]: {resistor: ["n[i]"], R: 1}', "D140", "a bound of 'i' is 3/2"),
        ("a: 1..3", 'R[a]: {resistor: ["n[a]"], R: 1}', "D142", "the index 'a' has the name of a parameter"),
        ("m: 1..3", 'R[m]: {resistor: ["n[m]"], R: 1}', "D142", "the index 'm' has the name of a unit"),
        ("i: 1..3", 'R[i]: {resistor: ["n[i/2]"], R: 1}', "D143", "an index of 'n[i/2]' is 1/2 for i = 1"),
        ("i: 1..3", 'R[i]: {resistor: ["n[i-2]"], R: 1}', "D143", "an index of 'n[i-2]' is -1 for i = 1"),
        ("i: 1..3", 'R[j]: {resistor: ["n[i]"], R: 1}', "D120", "'R[j]' uses 'j', which is not an index here"),
        ("i: 1..3", 'R: {resistor: ["n[i]"], R: 1}', "D105", "'R' is described twice"),
        ("i: 0..3", 'R[i]: {resistor: ["n[i]"], R: 1/i}', "D126", "a value of R[0] divides by zero"),
        ("i: 1..3", 'R[i]: {resistor: ["n[1]", "n[i]"], R: 1}', "D113", "both ends of the resistor R[1] are at 'n[1]'"),
        ("i: 1..3", 'R[i]: {resistor: ["n[i]"], R: 1 H/i}', "D121", "the resistance of R[i] is in H, not in ohm (V/A)"),
        (
            "i: 1..3",
            'R[i]: {resistor: ["n[i]"], R: b*i}',
            "D120",
            "the resistance of R[i] uses 'b', which is not a parameter",
        ),
        ("i: 1..3", 'R[i]: {resistor: ["n[i]"], R: "b[i]"}', "D120", "the resistance of R[1] uses 'b[1]'"),
        ("i: 1..3", 'R[i]: {resistor: ["n[i]"], R: 1, current: I}', "D106", "R[1] and R[2] both name a variable 'I'"),
        (
            "i: 1..10^7",
            'R[i]: {resistor: ["n[i]"], R: 1}',
            "D144",
            "the repeated block b leads to 10000000 elements or more",
        ),
        ("i: 1..10^5, j: 1..10^5", 'R[i,j]: {resistor: ["n[i]"], R: 1}', "D144", "the repeated block b leads to"),
    ],
)
def test_a_slip_in_a_repetition_is_told_once(repeat: str, line: str, code: str, what: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(block(repeat, line, parameters="a: 1, x: 1.5"))
    found = caught.value.finding
    assert (found.code, found.what[: len(what)]) == (code, what)
    assert found.place is not None


def test_a_block_needs_its_network_and_knows_its_keys() -> None:
    assert error("system: T\nnetwork: {b: {repeat: {i: 1..3}}}").what == "the repeated block b has no network"
    text = "system: T\nnetwork: {b: {repeat: {i: 1..3}, networks: {}, network: {}}}"
    assert error(text).fix == "did you mean 'network'?"


def test_an_index_in_a_law_that_is_also_a_letter_is_refused() -> None:
    text = block("i: 1..2", 'R[i]: {resistor: ["n[i]"], law: "v = 3*tanh(i/0.1)"}')
    assert error(text).what == "the law of R[i] uses 'i', which is also an index"
