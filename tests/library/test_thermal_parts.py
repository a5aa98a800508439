"""Walls and surfaces of the library against Fourier, Newton, Stefan and Boltzmann."""

import numpy as np
import pytest

import tellegen as tg
from support.library_use import use, values
from support.transfers import POINTS, numeric, transfer_at


@pytest.mark.parametrize("n", [1, 4])
def test_a_thermal_wall_is_a_chain_of_layers(n: int) -> None:
    network = "T_i: {temperature source: [i]}, T_o: {temperature source: [o]}"
    model = use("thermal_wall", "inside: i, outside: o", network, f", n: {n}")
    p, system = values(model), numeric(model)
    for s in POINTS:
        half, capacity = 1 / (2 * n * p.G), s * p.C / n
        layer = np.array([[1, half], [0, 1]]) @ np.array([[1, 0], [capacity, 1]]) @ np.array([[1, half], [0, 1]])
        (a, b), (_, d) = np.linalg.matrix_power(layer, n)  # of temperature and heat inside by those outside
        wanted = np.array([[d / b, -1 / b], [-1 / b, a / b]])
        assert transfer_at(system, s) == pytest.approx(wanted, rel=1e-9)


def test_a_wall_at_rest_passes_lambda_a_over_d() -> None:
    network = "T_i: {temperature source: [i]}, T_o: {temperature source: [o]}"
    model = use("thermal_wall", "inside: i, outside: o", network)
    still = transfer_at(numeric(model), 1e-9)
    assert float(still[0, 0].real) == pytest.approx(0.8 * 10 / 0.2, rel=1e-4)


@pytest.mark.parametrize("rise", [5.0, 300.0])
def test_a_radiating_surface_gives_the_heat_of_the_book(rise: float) -> None:
    model = use("radiating_surface", "surface: s", "T: {temperature source: [s]}")
    run = tg.simulate(model, until=1.0, inputs={"T": rise})
    absolute = 293.15 + rise
    wanted = 8 * 0.5 * rise + 0.9 * 5.670374419e-8 * 0.5 * (absolute**4 - 293.15**4)
    assert run.final()["Q_T"] == pytest.approx(wanted, rel=1e-9)
