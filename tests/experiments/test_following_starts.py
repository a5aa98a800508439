"""Initial values of storages that follow others: they decide the states behind them, agree with them or leave them open."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.mechanisms import Chain, Link
from tellegen.core.errors import SimulationError
from tellegen.notations.reading import read_model

SERIES = """
system: Series
parameters: {C_1: 1 F, C_2: 1 F, C_3: 2 F, R: 1 ohm}
network:
  C_1: {capacitor: [a, b], voltage: v_1}
  C_2: {capacitor: [b, gnd], voltage: v_2}
  C_3: {capacitor: [a, gnd], voltage: v_3}
  R:   {resistor: [a, gnd]}
  R_b: {resistor: [b, gnd], R: R}
experiment: {until: 1 s}
"""


def first(run: tg.Run, *names: str) -> list[float]:
    return [float(run.values(name)[0]) for name in names]


@pytest.mark.parametrize(
    "given",
    [{"v_1": 2.0, "v_2": 1.0}, {"v_1": 2.0, "v_3": 3.0}, {"v_2": 1.0, "v_3": 3.0}, {"v_1": 2, "v_2": 1, "v_3": 3}],
)
def test_any_values_that_decide_the_states_will_do(given: dict[str, float]) -> None:
    run = tg.simulate(read_model(SERIES), initial=given, progress=False)
    assert first(run, "v_1", "v_2", "v_3") == pytest.approx([2.0, 1.0, 3.0])


def test_values_that_contradict_each_other_are_named() -> None:
    with pytest.raises(SimulationError, match="the initial value of v_1 is 2, but 'C_3', 'C_2' make it 1") as raised:
        tg.simulate(read_model(SERIES), initial={"v_1": 2.0, "v_2": 1.0, "v_3": 2.0}, progress=False)
    assert raised.value.code == "S305"


def test_states_that_stay_open_are_named() -> None:
    with pytest.raises(SimulationError, match="leaves open how 'v_3', 'v_2' share in it") as raised:
        tg.simulate(read_model(SERIES), initial={"v_1": 2.0}, progress=False)
    assert raised.value.code == "S177"
    assert raised.value.finding.fix == "give an initial value to 'v_3', too"


def test_a_source_leaves_nothing_to_choose() -> None:
    model = read_model(
        "system: Tied\nparameters: {C: 1 F}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
        "  C: {capacitor: [a, gnd], voltage: v}\nexperiment: {until: 1 s, inputs: {V: 5 V}}\n"
    )
    with pytest.raises(SimulationError, match="the initial value of v is 1, but 'V' makes it 5"):
        tg.simulate(model, initial={"v": 1.0}, progress=False)


def test_sensitivities_start_from_the_same_values() -> None:
    """v = v_0 exp(-t/(R (C_1 + C_2))), given by the follower."""
    model = read_model(
        "system: Pair\nparameters: {C_1: 1 F, C_2: 1 F, R: 1 ohm, v_0: 2 V}\nnetwork:\n"
        "  C_1: {capacitor: [a, gnd], voltage: v_1}\n  C_2: {capacitor: [a, gnd], voltage: v_2}\n"
        "  R: {resistor: [a, gnd]}\nexperiment: {until: 1 s}\n"
    )
    follower = "v_2" if tg.check(model).states == ("v_1",) else "v_1"
    slopes = tg.sensitivities(model, ["v_0"], initial={follower: "v_0"}, rtol=1e-9, times=[0.0, 1.0])
    assert slopes["v_1" if follower == "v_2" else "v_2"].values[:, 0] == pytest.approx([1.0, 0.6065307], abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(-9, 9), st.integers(-9, 9), st.sampled_from((1e-12, 0.1, 1e6)))
def test_a_zero_agrees_with_shares_that_cancel(a: int, b: int, size: float) -> None:
    """0.3 - 0.1 - 0.2 is not zero in binary numbers; a value that is off by more than rounding is refused."""
    assume(a != 0 or b != 0)
    model = read_model("""\
system: Loop of capacitors
network:
  A: {capacitor: [a, gnd], C: 1 mF, voltage: V_A}
  B: {capacitor: [b, a], C: 2 mF, voltage: V_B}
  R: {resistor: [b, gnd], R: 1 ohm}
  C: {capacitor: [c, b], C: 3 mF, voltage: V_C}
  D: {capacitor: [c, gnd], C: 3 mF, voltage: V_D}
  S: {resistor: [c, gnd], R: 1 ohm}
""")
    start = {"V_A": a * size, "V_B": b * size, "V_D": (a + b) * size}
    assert tg.simulate(model, until=1e-3, times=[0.0, 1e-3], initial={**start, "V_C": 0.0})["V_A"][0] == a * size
    with pytest.raises(SimulationError) as caught:
        tg.simulate(model, until=1e-3, initial={**start, "V_C": 1e-6 * size * max(abs(a), abs(b))})
    assert caught.value.code == "S305"


@settings(max_examples=8)
@given(st.integers(-9, 9), st.integers(-9, 9), st.booleans())
def test_speeds_that_follow_from_that_of_another_body_are_told(first: int, second: int, along_x: bool) -> None:
    """Two links of known turns: one of them is given by the velocity of a centre, and the warning tells what that makes."""
    assume(second != 0)
    links = (
        Link(-1, 1.0, 0.5, (0.5, 0.0), (1.0, 0.0), 0.4, first / 4),
        Link(0, 2.0, 0.3, (0.25, 0.0), (1.0, 0.0), 0.9, second / 4),
    )
    across, trig = ("vx", lambda a: -math.sin(a)) if along_x else ("vy", math.cos)
    given_speed = trig(0.4) * first / 4 + 0.25 * trig(0.9) * second / 4
    text = Chain(links).text().replace(f"b1.omega: {second / 4} rad/s", f"b1.{across}: {given_speed!r} m/s")
    run = tg.simulate(read_model(text), samples=1, until=1e-6, progress=False)
    (told,) = [finding.what for finding in run.notices if finding.code == "S342"]
    expected = {"b1.omega": second / 4, "b0.vx": -math.sin(0.4) * first / 8, "b0.vy": math.cos(0.4) * first / 8}
    assert run.values("b1.omega")[0] == pytest.approx(second / 4)
    assert told.startswith(f"'b1.{across}' follows others, so that b1.omega = {second / 4:.4g} is taken as independent")
    for name, value in expected.items():
        assert f"{name} = {value + 0.0:.4g}" in told


PISTON = """\
system: Crank and piston
mechanism:
  bodies:
    crank: {inertia: 0.01 kg*m^2, points: {pin: [50 mm, 0 m]}}
    rod: {inertia: 6e-4 kg*m^2, points: {end: [150 mm, 0 m]}}
    piston: {mass: 0.5 kg}
  joints:
    bearing: {revolute: [ground, crank]}
    pin: {revolute: [crank.pin, rod]}
    cylinder: {prismatic: [ground, piston], distance: x}
    wrist: {revolute: [rod.end, piston]}
"""


def test_a_speed_of_a_joint_that_has_no_mass_of_its_own_is_named_where_it_decides_another() -> None:
    text = PISTON + "experiment: {until: 1 us, initial: {x: 0.19, cylinder.v: 1 m/s}}\n"
    run = tg.simulate(read_model(text), samples=1, progress=False)
    (told,) = [finding.what for finding in run.notices if finding.code == "S342"]
    assert told.startswith("'cylinder.v' follows others, so that crank.omega = ")
    assert run.values("cylinder.v")[0] == pytest.approx(1.0)


@pytest.mark.parametrize("initial", ["crank.phi: 0.5", "x: 0.19", "rod.phi: -0.1"])
def test_a_loop_whose_position_nobody_gave_says_where_it_starts(initial: str) -> None:
    (told,) = [finding.what for finding in read_model(PISTON).findings if finding.code == "M114"]
    start = {n: float(v) for n, v in (item.split(" = ") for item in told.split("starts at ")[1].split(", ")[:3])}
    run = tg.simulate(read_model(PISTON), until=1e-6, samples=1, progress=False)
    assert {name: run.values(name)[0] for name in start} == pytest.approx(start, rel=1e-3)
    given = read_model(f"{PISTON}experiment: {{initial: {{{initial}}}}}\n")
    assert not [finding for finding in given.findings if finding.code == "M114"]


def test_an_initial_voltage_is_no_charge() -> None:
    """v = q/C + k q^3 keeps the charge: the voltage that its line gives is met, whatever charge that takes."""
    text = (
        "system: Bent\nnetwork:\n  R: {resistor: [a, gnd], R: 1 kohm}\n"
        '  C: {capacitor: [a, gnd], law: "v = q/(1 uF) + 1e18 V/C^3*q^3", initial: 1 V}\nexperiment: {until: 1 us}\n'
    )
    run = tg.simulate(read_model(text), samples=2, progress=False)
    q = float(run.values("q_C")[0])
    assert run.values("V_C")[0] == pytest.approx(1.0, rel=1e-12)
    assert q / 1e-6 + 1e18 * q**3 == pytest.approx(1.0, rel=1e-12)
