"""Two schemes joined answer as their equations do when these are joined."""

from collections.abc import Mapping

import numpy as np
import pytest

import tellegen as tg
from schemes.answers import Array, answer_at
from tellegen.core.errors import GraphError
from tellegen.equations.forms.composition import in_chain, side_by_side
from tellegen.equations.system import EquationSystem
from tellegen.expressions.elimination import with_definitions
from tellegen.notations.reading import read_model
from tellegen.schemes import PogScheme, check_signs, join_in_chain, join_side_by_side

CELLS = {"CR": ("parallel: [C:C_{}]", "series: [R:R_{}]"), "RC": ("series: [R:R_{}]", "parallel: [C:C_{}]")}
CELLS |= {"LG": ("series: [L:L_{}]", "parallel: [G:G_{}]"), "LC": ("series: [L:L_{}]", "parallel: [C:C_{}]")}


def ladder(cell: str, number: int) -> tg.Model:
    """Two elements between two sections, with the source that each end takes: an across variable before a series element."""
    first, last = CELLS[cell]
    given = ["V" if line.startswith("series") else "I" for line in (first, last)]
    return read_model(
        f"""
system: {cell}{number}
pog:
  - domain: electrical
  - section: {{across: V_{number}1, through: I_{number}1, given: [{given[0]}_{number}1]}}
  - {first.format(number)}
  - {last.format(number)}
  - section: {{across: V_{number}2, through: I_{number}2, given: [{given[1]}_{number}2]}}
"""
    )


def numbers(scheme: PogScheme) -> dict[str, float]:
    return {name: 0.4 + 0.31 * k for k, name in enumerate(sorted(scheme.causal.graph.parameters))}


def answer_of(system: EquationSystem, s: float, values: Mapping[str, float], inputs: tuple[str, ...]) -> Array:
    n, m = len(system.states), len(system.inputs)
    M = {
        name: np.array([[with_definitions(e, system.where).evaluate(values) for e in row] for row in rows]).reshape(
            len(rows), n if name in ("L", "A", "N", "C") else m
        )
        for name, rows in system.matrices.items()
    }
    G: Array = M["C"] @ np.linalg.solve(s * M["L"] + M["A"], M["B"]) + M["D"]
    order = [system.inputs.index(name) for name in inputs]
    return G[np.ix_(order, order)]


# Of two sources of a kind neither answers what the other imposes: the equations alone cannot be joined there.
PAIRS = [(a, b) for a in CELLS for b in CELLS if CELLS[a][1].startswith("series") != CELLS[b][0].startswith("series")]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_a_chain_answers_as_its_equations_do(left: str, right: str) -> None:
    one, two = tg.pog(ladder(left, 1)), tg.pog(ladder(right, 2))
    a, b = one.inputs[-1], two.inputs[0]
    found = join_in_chain(one, two, {a: b}).scheme
    assert found.chained
    assert found.inputs == (one.inputs[0], two.inputs[-1])
    assert [c.name for c in found.ladders[0].columns] == [c.name for s in (one, two) for c in s.ladders[0].columns]
    assert check_signs(found).consistent
    # Equations are joined where an across variable answers a through variable: that is the same section.
    first, second = (one, two) if a.startswith("I") else (two, one)
    mine, theirs = (a, b) if a.startswith("I") else (b, a)
    output = tg.derive(ladder_of(first)).outputs[first.inputs.index(mine)]
    joined = in_chain(tg.derive(ladder_of(first)), tg.derive(ladder_of(second)), {output: theirs})
    for s in (0.3, 4.0):
        got = answer_at(found, s, numbers(found))
        np.testing.assert_allclose(got, answer_of(joined, s, numbers(found), found.inputs), rtol=1e-9, atol=1e-12)


def ladder_of(scheme: PogScheme) -> tg.Model:
    return ladder(scheme.name[:2], int(scheme.name[2:]))


def test_sections_of_two_storages_become_one_storage_that_another_follows() -> None:
    one, two = tg.pog(ladder("RC", 1)), tg.pog(ladder("CR", 2))
    found = join_in_chain(one, two, {"I_12": "I_21"})
    assert found.account == "joined 'RC1' and 'CR2' in a chain at I_12 and I_21; a ladder of 1 states"
    assert found.scheme.blocks["C_2"].kind == "derivative"


@pytest.mark.parametrize(
    ("left", "right", "port"), [("RC", "LC", 0), ("RC", "RC", 0), ("RC", "LC", 1), ("CR", "CR", 0)]
)
def test_side_by_side_answers_add_up(left: str, right: str, port: int) -> None:
    models = ladder(left, 1), ladder(right, 2)
    one, two = map(tg.pog, models)
    a, b = one.inputs[port], two.inputs[port]
    found = join_side_by_side(one, two, {a: b}).scheme
    assert b not in found.inputs
    assert found.ladders
    joined = side_by_side(tg.derive(models[0]), tg.derive(models[1]), {a: b})
    for s in (0.3, 4.0):
        got = answer_at(found, s, numbers(found))
        np.testing.assert_allclose(got, answer_of(joined, s, numbers(found), found.inputs), rtol=1e-9, atol=1e-12)


def test_domains_of_a_chain_go_through_connections() -> None:
    motor = tg.pog("dc_motor_pump")
    brake = tg.pog(read_model("system: valve\nnetwork:\n  P_v: {pressure source: [v, tank]}\n  r: {leak: [v, tank]}\n"))
    found = join_in_chain(motor, brake, {"Q_0": "P_v"})
    assert found.scheme.inputs == ("V_a",)
    assert found.scheme.states == motor.states
    assert [c.name for c in found.scheme.ladders[0].columns][-1] == "r"


@pytest.mark.parametrize(
    ("ports", "code", "said"),
    [
        ({"I_13": "V_21"}, "G206", "did you mean 'I_12'"),
        ({"I_12": "V_22"}, "G206", "is no input of 'LC2'"),
    ],
)
def test_what_cannot_be_joined(ports: dict[str, str], code: str, said: str) -> None:
    with pytest.raises(GraphError) as error:
        join_in_chain(tg.pog(ladder("RC", 1)), tg.pog(ladder("LC", 2)), ports)
    assert error.value.code == code
    assert said in str(error.value)


def test_names_and_domains_have_to_fit() -> None:
    scheme = tg.pog(ladder("RC", 1))
    with pytest.raises(GraphError, match="both have C_1"):
        join_in_chain(scheme, scheme, {"I_12": "V_11"})
    text = "system: body\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a], m: 1 kg}\n"
    body = tg.pog(read_model(text))
    with pytest.raises(GraphError, match=r"is electrical, and 'F' is translational") as error:
        join_in_chain(scheme, body, {"I_12": "F"})
    assert error.value.code == "G231"
    with pytest.raises(GraphError, match="join them in a chain"):
        join_side_by_side(scheme, tg.pog(ladder("LC", 2)), {"V_11": "I_22"})
