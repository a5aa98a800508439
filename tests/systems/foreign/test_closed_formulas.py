"""What books say of these systems in formulas: limits of stability, frequencies, time constants."""

from math import acos, asin, cos, pi, sin, sqrt

import numpy as np
import pytest

import tellegen as tg
from systems.foreign.equations import HERE


def test_equal_areas_give_the_longest_fault_of_a_generator() -> None:
    """cos d_c = (pi - 2 d_0) sin d_0 - cos d_0 without losses, and d_c = d_0 + tau_m t^2/(2 J) during the fault (Kundur, 1994)."""
    first = asin(1.4 / 3.2)
    cleared = acos((pi - 2 * first) * sin(first) - cos(first))
    longest = sqrt(2 * 26e3 * (cleared - first) / 1.4e6)
    for share, stays in ((0.99, True), (1.01, False)):
        values = {"D": 0.0, "t_c": share * longest}
        run = tg.simulate(HERE / "swing_equation.yaml", until=1.2, parameters=values, progress=False)
        assert bool(run.values("delta").max() < pi - first) == stays


def test_a_surge_tank_of_the_area_of_thoma_neither_calms_down_nor_swings_up() -> None:
    """The trace of the linear equations vanishes where C = N L/(2 k Q P^2)."""
    rest = tg.equilibrium(HERE / "surge_tank.yaml")
    flow, pressure = rest["Q_t"], rest["P_s"]
    area = 14e6 * 1000 * 4000 / 12 / (2 * 240 * flow * pressure**2) * 1000 * 9.81
    for share, sign in ((0.9, 1), (1.1, -1)):
        poles = tg.analyse(HERE / "surge_tank.yaml", parameters={"A_s": share * area}).poles
        assert poles is not None
        assert all(np.sign(pole.value.real) == sign for pole in poles)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_plate_is_held_up_to_the_voltage_that_pulls_it_in(share: float) -> None:
    """V^2 = 8 K g^3/(27 eps A) at a third of the gap; below it a rest solves 2 K x (g - x)^2 = eps A V^2 (Senturia, 2001)."""
    gap, eps = 2e-6, 3.5e-18
    voltage = share * sqrt(8 * gap**3 / (27 * eps))
    rest = tg.equilibrium(HERE / "mems_actuator.yaml", inputs={"V": voltage})
    roots = np.roots([1, -2 * gap, gap**2, -eps * voltage**2 / 2])
    wanted = min(root.real for root in roots if abs(root.imag) < 1e-12)
    assert rest["x_plate[2]"] == pytest.approx(wanted, rel=1e-6)
    assert wanted < gap / 3


def test_beyond_that_voltage_no_rest_is_told() -> None:
    with pytest.raises(tg.SimulationError):
        tg.equilibrium(HERE / "mems_actuator.yaml", inputs={"V": 1.05 * sqrt(8 * 2e-6**3 / (27 * 3.5e-18))})


def test_two_tuned_circuits_split_their_frequency_by_their_coupling() -> None:
    """omega_0/sqrt(1 - k) and omega_0/sqrt(1 + k) without losses (Terman, 1943)."""
    found = tg.analyse(HERE / "tesla_coil.yaml", parameters={"R_1": 0.0, "R_2": 0.0}).poles
    assert found is not None
    tuned = 1 / sqrt(50e-6 * 10e-9)
    ours = sorted(abs(pole.value.imag) for pole in found)
    assert ours == pytest.approx([tuned / sqrt(1.2), tuned / sqrt(0.8)], rel=1e-9)


def test_the_poles_of_four_tanks_are_their_time_constants() -> None:
    """T = A/a sqrt(2 h/g), of each tank at its own level (Johansson, 2000)."""
    model = tg.read(HERE / "quadruple_tank.yaml")
    rest = tg.equilibrium(model)
    sizes = {1: (28, 0.071), 2: (32, 0.057), 3: (28, 0.071), 4: (32, 0.057)}
    wanted = [A / a * sqrt(2 * rest[f"P_{k}"] / 1000 / 9.81**2) for k, (A, a) in sizes.items()]
    found = tg.analyse(model).poles
    assert found is not None
    assert sorted(-1 / pole.value.real for pole in found) == pytest.approx(sorted(wanted), rel=1e-6)
