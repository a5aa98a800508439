"""Machines in open loop against the equations of their papers, written by hand and integrated by SciPy far below the tolerance."""

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import tellegen as tg

Array = NDArray[np.float64]
FINER = 1e-12
MOST = 20.0
"""Errors may be so many times the tolerance asked for, beside the largest value of a variable."""


def corking_machine(t: float, y: Array) -> Array:
    """Equations (5) to (11) with rigid nuts: per motor three currents and a speed, then belt forces, pulleys and rotor angles.

    The shaft follows the pulleys: [x'; theta'] = T_a omega_t. Gravity acts as the constant force F_x.
    """
    del t
    p, flux, resistance, inertia, friction = 3, 0.121, 2.6, 4.1e-5, 2e-4
    coils = np.full((3, 3), -0.004) + 0.014 * np.eye(3)
    small, large, stiffness, radius = 0.02, 0.03, 3e5, 0.01
    alpha = math.atan(2 * math.pi * radius / 0.02)
    cotangent = 1 / math.tan(alpha)
    to_shaft = np.array([[-radius * cotangent, radius * cotangent], [0.0, 1.0]])
    mass = np.diag([5e-4, 5e-4]) + to_shaft.T @ np.diag([1.8, 2e-4]) @ to_shaft
    rubbing = 20.0 / math.sin(alpha) ** 2 + (20.0 + 5.0) * cotangent**2
    loss = np.diag([1e-3, 2e-3]) + radius**2 * rubbing * np.array([[1.0, -1.0], [-1.0, 1.0]])
    voltages = np.array([0.0, 5.0, -5.0])

    speeds, forces, pulleys, angles = y[[3, 7]], y[8:10], y[10:12], y[12:14]
    rates = np.empty(14)
    for k in range(2):
        currents = y[4 * k : 4 * k + 3]
        torque = -p * flux * np.sin(p * angles[k] - np.arange(3) * 2 * math.pi / 3)
        rates[4 * k : 4 * k + 3] = np.linalg.solve(coils, voltages - resistance * currents - torque * speeds[k])
        rates[4 * k + 3] = (torque @ currents - friction * speeds[k] - small * forces[k]) / inertia
    rates[8:10] = stiffness * (small * speeds - large * pulleys)
    rates[10:12] = np.linalg.solve(mass, large * forces - loss @ pulleys + to_shaft.T @ np.array([-17.658, 0.0]))
    rates[12:14] = speeds
    return rates


def crank_rod_elastic(t: float, y: Array) -> Array:
    """The crank with an elastic rod: J w' = tau - b w - H F, F' = K (H w - v), m v' = F - b v, theta' = w."""
    del t
    omega, force, speed, theta = y
    across = 0.05 * math.sin(theta) - 0.01
    ratio = -0.05 * math.sin(theta) - 0.05 * math.cos(theta) * across / math.sqrt(0.15**2 - across**2)
    return np.array(
        [
            (2.0 - 0.02 * omega - ratio * force) / 0.01,
            1e7 * (ratio * omega - speed),
            (force - 2.0 * speed) / 0.5,
            omega,
        ]
    )


CORKING = ("I_e1", "I_e2", "I_e3", "omega_e", "I_r1", "I_r2", "I_r3", "omega_r", "F_e", "F_r", "omega_te", "omega_tr")
CASES: Mapping[str, tuple[Callable[[float, Array], Array], tuple[str, ...], Array, float]] = {
    "corking_machine": (corking_machine, (*CORKING, "theta_e", "theta_r"), np.zeros(14), 0.1),
    "crank_rod_elastic": (
        crank_rod_elastic,
        ("omega", "F_k", "v_p", "theta"),
        np.array([0.0, -0.5 * 0.05 * 2 / (0.01 + 0.5 * 0.05**2), 0.0, math.pi / 2]),
        0.5,
    ),
}


PHASES = dict(zip(("V_e1", "V_e2", "V_e3", "V_r1", "V_r2", "V_r3"), 2 * (0.0, 5.0, -5.0), strict=True))
# The machine without its controllers and from rest, under its weight: constant voltages on the phases.
INPUTS = {"corking_machine": PHASES | {"F_x": -17.658, "F_theta": 0.0}}
INITIAL = {"corking_machine": dict.fromkeys(CORKING, 0.0)}


@pytest.mark.parametrize("solver", ["auto", "cvode"])
@pytest.mark.parametrize("rtol", [1e-5, 1e-7])
@pytest.mark.parametrize("name", CASES)
def test_machines_follow_the_equations_of_their_papers(name: str, rtol: float, solver: str) -> None:
    rates, states, start, until = CASES[name]
    run = tg.simulate(
        name,
        until,
        inputs=INPUTS.get(name),
        initial=INITIAL.get(name),
        samples=40,
        rtol=rtol,
        atol=rtol * 1e-3,
        solver=solver,
        progress=False,
    )
    exact = solve_ivp(rates, (0.0, until), start, "DOP853", run.t, rtol=FINER, atol=1e-13)
    for name_of, wanted in zip(states, exact.y, strict=True):
        error = np.abs(run.values(name_of) - wanted).max() / (rtol * np.abs(wanted).max() + rtol * 1e-3)
        assert error <= MOST, f"{name_of} is off by {error:.1f} tolerances"
