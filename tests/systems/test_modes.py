"""The built-in systems with modes, each mode against equations written by hand."""

import pytest

import tellegen as tg
from tellegen.causality import assign_causality
from tellegen.causality.assignment import mode_combinations
from tellegen.core.errors import CausalityError
from tellegen.equations.system import EquationSystem
from tellegen.expressions import to_text
from tellegen.graph import lower
from tellegen.schemes import bond_graph, check_signs, network_of, pog

SYSTEMS = ("buck_converter", "stick_slip", "bouncing_ball", "clutch_drive")
EMPTY: list[list[str]] = []


def matrices(system: EquationSystem) -> dict[str, object]:
    record = system.to_json()
    return {name: record[name] for name in ("states", "L", "A", "B", "C", "D")}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (
            {},
            {"states": ["I_L", "V_C"], "A": [["0", "1"], ["-1", "1/R"]], "B": [["1"], ["0"]], "C": [["1", "0"]]},
        ),
        (
            {"S": "open", "D": "conducting"},
            {"states": ["I_L", "V_C"], "A": [["0", "1"], ["-1", "1/R"]], "B": [["0"], ["0"]], "C": [["0", "0"]]},
        ),
        ({"S": "open"}, {"states": ["V_C"], "A": [["1/R"]], "B": [["0"]], "C": [["0"]]}),
    ],
)
def test_the_three_modes_of_a_buck_converter(mode: dict[str, str], expected: dict[str, object]) -> None:
    found = matrices(tg.derive("buck_converter", mode=mode))
    energy = {"I_L": "L", "V_C": "C"}
    states = expected["states"]
    assert isinstance(states, list)
    L = [[energy[a] if a == b else "0" for b in states] for a in states]
    assert found == {**expected, "L": L, "D": [["0"]]}


def test_the_converter_cannot_close_its_switch_while_the_diode_conducts() -> None:
    with pytest.raises(CausalityError, match="'S' cannot be 'closed': 'V', 'D' decide its voltage"):
        tg.derive("buck_converter", mode={"S": "closed", "D": "conducting"})
    notices = [f.what for f in tg.check("buck_converter").findings if f.code == "K205"]
    assert notices == ["'S' cannot be 'closed': 'V', 'D' decide its voltage, while 'D' is 'conducting'"]


def test_a_sticking_mass_follows_the_belt_and_only_the_spring_is_left() -> None:
    system = tg.derive("stick_slip")
    assert matrices(system) == {
        "states": ["F_K"],
        "L": [["1/K"]],
        "A": [["0"]],
        "B": [["1"]],
        "C": [["1"]],
        "D": [["0"]],
    }
    assert {name: to_text(e) for name, e in system.dependent.items()} == {"v": "belt"}


@pytest.mark.parametrize(("mode", "force"), [("forward", "-F_c"), ("backward", "F_c")])
def test_a_slipping_mass_swings_under_a_constant_force(mode: str, force: str) -> None:
    system = tg.derive("stick_slip", mode={"friction": mode})
    assert system.to_json()["A"] == [["0", "1"], ["-1", "0"]]
    assert [to_text(e) for e in system.vectors["f"]] == [force, "0"]


def test_a_ball_in_contact_has_no_state_left() -> None:
    free = tg.derive("bouncing_ball")
    assert matrices(free) == {
        "states": ["v"],
        "L": [["m"]],
        "A": [["0"]],
        "B": [["-1"]],
        "C": [["-1"]],
        "D": [["0"]],
    }
    resting = tg.derive("bouncing_ball", mode={"ground": "contact"})
    assert resting.states == ()
    assert {name: to_text(e) for name, e in resting.displacements.items()} == {"h": "0"}


def test_an_engaged_clutch_makes_two_inertias_one() -> None:
    engaged = tg.derive("clutch_drive", mode={"clutch": "engaged"})
    assert matrices(engaged) == {
        "states": ["omega_l"],
        "L": [["J_l + J_m"]],
        "A": [["b_l"]],
        "B": [["1"]],
        "C": [["1"]],
        "D": [["0"]],
    }
    slipping = tg.derive("clutch_drive", mode={"clutch": "forward"})
    assert [to_text(e) for e in slipping.vectors["f"]] == ["tau_c_clutch", "-tau_c_clutch"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_possible_mode_has_equations_and_schemes(name: str) -> None:
    graph = lower(tg.load(name))
    possible = 0
    for mode in mode_combinations(graph):
        try:
            causal = assign_causality(graph.in_mode(mode))
        except CausalityError:
            continue
        possible += 1
        system = tg.derive(name, mode=mode)
        assert {k: v.now for k, v in system.modes.items()} == mode
        assert system.to_json()["modes"] == {
            k: {"modes": list(v.words), "now": mode[k]} for k, v in system.modes.items()
        }
        assert check_signs(pog(causal)).consistent
        assert bond_graph(causal)
        assert network_of(causal).elements
    assert possible > 1
