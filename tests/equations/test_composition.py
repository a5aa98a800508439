"""Input-output inversion and composition of systems, against transfer matrices and the power balance."""

import numpy as np
import pytest
from hypothesis import assume, given

import tellegen as tg
from support.evaluated import legal
from support.networks import Network, agree, equations, network
from support.strategies import networks
from support.transfers import transfer_at
from tellegen.core.errors import EquationError
from tellegen.equations.forms.composition import in_chain, invert_ports, side_by_side
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.notations.reading import read_model

POINTS = (0.3, 2.0 + 1.0j, 40.0j)


def numbers(system: EquationSystem) -> dict[str, float]:
    return {name: 0.6 + 0.31 * k for k, name in enumerate(system.parameters)}


def assert_power_balances(system: EquationSystem, values: dict[str, float]) -> None:
    """Supplied power is what is stored and lost, at a random state and input."""
    random = np.random.default_rng(3)
    x, u = random.normal(size=len(system.states)), random.normal(size=len(system.inputs))
    known = {**values, **dict(zip(system.states, x, strict=True)), **dict(zip(system.inputs, u, strict=True))}
    for name, e in system.where.items():
        known[name] = e.evaluate(known)

    def times(name: MatrixName, vector: np.ndarray) -> np.ndarray:
        return np.array(
            [sum(e.evaluate(known) * v for e, v in zip(row, vector, strict=True)) for row in system.matrices[name]]
        )

    taken = x @ (times("B", u) - times("A", x)) if len(x) else 0.0
    supplied = u @ (times("C", x) + times("D", u))
    lost = system.dissipated_power.evaluate(known)
    assert supplied == pytest.approx(taken + lost, rel=1e-9, abs=1e-9)


def test_the_spring_and_damper_asked_by_its_force() -> None:
    system = tg.derive("spring_damper")
    found = invert_ports(system)
    assert (found.inputs, found.outputs) == (system.outputs, system.inputs)
    assert agree(found.matrices["A"], [["1/b"]])
    assert agree(found.matrices["B"], [["1/b"]])
    assert agree(found.matrices["C"], [["-1/b"]])
    assert agree(found.matrices["D"], [["1/b"]])
    assert invert_ports(found).matrices == system.matrices


@given(networks(many_sources=True))
def test_inverted_systems_have_the_inverse_transfer_matrix(drawn: Network) -> None:
    system = legal(drawn).system
    assume(system.inputs and system.is_zero("B_1") and system.is_zero("D_1"))
    values = {name: float(value) for name, value in drawn.values.items()}
    k = 0
    try:
        found = invert_ports(system, [system.inputs[k]])
    except EquationError:
        assume(False)
        raise
    assert_power_balances(found, values)
    for s in POINTS:
        before, after = transfer_at(system, s, values), transfer_at(found, s, values)
        assert after[k, k] * before[k, k] == pytest.approx(1, rel=1e-6)
        assert after[0, 1:] == pytest.approx(-before[0, 1:] / before[0, 0], rel=1e-6, abs=1e-9)
        assert after[1:, 0] == pytest.approx(before[1:, 0] / before[0, 0], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("inputs", "text"),
    [(["V_b"], "did you mean 'V_a'"), (["V_a"], "D is singular for 'I_a' of 'V_a'"), (None, "do not determine")],
)
def test_inputs_that_do_not_follow(inputs: list[str] | None, text: str) -> None:
    with pytest.raises(EquationError, match=text) as error:
        invert_ports(tg.derive("dc_motor_pump"), inputs)
    assert error.value.code == "E130"


def test_rates_of_inputs_are_not_inverted() -> None:
    system = equations(network(("V", "voltage source", "a", "gnd"), ("C", "capacitor", "a", "gnd")))
    with pytest.raises(EquationError, match="contains rates of its inputs"):
        invert_ports(system)


# -- two systems as one ----------------------------------------------------------------------------------------------------------


def first() -> EquationSystem:
    return equations(
        network(
            ("V_1", "voltage source", "a", "gnd"),
            ("L_1", "inductor", "a", "b"),
            ("C_1", "capacitor", "b", "gnd"),
            ("R_1", "resistor", "b", "c"),
            ("I_1", "current source", "gnd", "c"),
        )
    )


def second() -> EquationSystem:
    return equations(
        network(
            ("V_2", "voltage source", "d", "gnd"),
            ("R_2", "resistor", "d", "e"),
            ("C_2", "capacitor", "e", "gnd"),
            ("R_3", "resistor", "d", "gnd"),
        )
    )


def whole() -> EquationSystem:
    return equations(
        network(
            ("V_1", "voltage source", "a", "gnd"),
            ("L_1", "inductor", "a", "b"),
            ("C_1", "capacitor", "b", "gnd"),
            ("R_1", "resistor", "b", "c"),
            ("R_2", "resistor", "c", "e"),
            ("C_2", "capacitor", "e", "gnd"),
            ("R_3", "resistor", "c", "gnd"),
        )
    )


def test_a_chain_is_the_model_of_the_whole() -> None:
    one, two, expected = first(), second(), whole()
    output = one.outputs[one.inputs.index("I_1")]
    found = in_chain(one, two, {output: "V_2"})
    assert found.inputs == ("V_1",)
    assert found.states == (*one.states, *two.states)
    values = numbers(expected)
    assert_power_balances(found, values)
    for s in POINTS:
        assert transfer_at(found, s, values) == pytest.approx(transfer_at(expected, s, values), rel=1e-9)


def test_admittances_side_by_side_add_up() -> None:
    one = equations(
        network(("V_1", "voltage source", "a", "gnd"), ("R_1", "resistor", "a", "b"), ("L_1", "inductor", "b", "gnd"))
    )
    two = second()
    found = side_by_side(one, two, {"V_1": "V_2"})
    assert (found.inputs, found.outputs) == (("V_1",), one.outputs)
    values = {**numbers(one), **numbers(two)}
    assert_power_balances(found, values)
    for s in POINTS:
        expected = transfer_at(one, s, values) + transfer_at(two, s, values)
        assert transfer_at(found, s, values) == pytest.approx(expected, rel=1e-9)


def test_joining_what_is_not_there() -> None:
    with pytest.raises(EquationError, match="'V_9' is no input") as error:
        side_by_side(first(), second(), {"V_1": "V_9"})
    assert error.value.code == "E131"
    with pytest.raises(EquationError, match="'x' is no output"):
        in_chain(first(), second(), {"x": "V_2"})


def test_one_name_for_two_things_is_refused() -> None:
    with pytest.raises(EquationError, match="mean different things"):
        side_by_side(first(), first(), {"V_1": "V_1"})


def test_gains_that_cancel_are_refused() -> None:
    """V = -r*I on one side and V = r*I on the other: any current will do."""
    texts = [
        f"system: {k}\nparameters: {{r: 2 ohm}}\nnetwork:\n  {source}\n  R_{k}: {{resistor: [a, gnd], R: {r}}}\n"
        for k, source, r in (
            (1, "V_1: {voltage source: [a, gnd]}", "r"),
            (2, "I_2: {current source: [gnd, a]}", "-r"),
        )
    ]
    one, two = (tg.derive(read_model(text)) for text in texts)
    with pytest.raises(EquationError, match="nothing determines them"):
        in_chain(one, two, {one.outputs[0]: "I_2"})


def test_a_system_that_is_not_linear_is_refused() -> None:
    with pytest.raises(EquationError, match="is not linear") as error:
        in_chain(tg.derive("crank_rod"), second(), {"omega": "V_2"})
    assert error.value.code == "E104"
