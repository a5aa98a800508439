"""What Tellegen finds of the POG lecture and of the corking machine where a number is told."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import tellegen as tg
from tellegen.schemes import elementary_loops

Array = NDArray[np.float64]
Sources = tuple[float, float, float, float]
"""How strong the torques on the pulleys of screw and spline, the force along the shaft and the torque round it are."""

NUTS = {"K_se": math.inf, "K_sr": math.inf}
BELTS = NUTS | {"K_ce": math.inf, "K_cr": math.inf}
SPLINE: Sources = (0, 1, 0, 1)
"""Torques on both sides of the spline nut: on its pulley and on the shaft."""

LETTERS: tuple[Literal["L", "A", "B"], ...] = ("L", "A", "B")


def matrix(eq: tg.EquationSystem, letter: Literal["L", "A", "B"], values: Mapping[str, float]) -> Array:
    """A matrix of equations in numbers."""
    return np.array([[e.evaluate(values) for e in row] for row in eq.matrices[letter]])


# -- The POG lecture --------------------------------------------------------------------------------------------------------------


def odd_loops() -> float:
    """The loops of the motor with pump that have an odd number of minus signs; one with an even number would count against it."""
    return sum(1 if loop.odd else -1 for loop in elementary_loops(tg.pog("dc_motor_pump")))


def determinant_over_closed_form() -> float:
    """The determinant of A without the inertia of the motor, over its closed form."""
    small = tg.reduce("dc_motor_pump", {"J_m": 0}).equations
    v = small.values()
    (a, b), (c, d) = matrix(small, "A", v)
    wanted = (v["K_m"] ** 2 * v["alpha_p"] + v["K_p"] ** 2 * v["R_a"] + v["R_a"] * v["alpha_p"] * v["b_m"]) / v["b_m"]
    return float((a * d - b * c) / wanted)


def order_in_the_inertia() -> float:
    """How fast the motor with pump comes near to the one without inertia."""
    return tg.reduction_study("dc_motor_pump", ["J_m=0"]).order


# -- The corking machine ----------------------------------------------------------------------------------------------------------


def groove_determinant_over_closed_form() -> float:
    """The determinant of T_s H_2^T, over -r_a sin(alpha)."""
    shaft = tg.derive("corking_shaft")
    v = shaft.values()
    (a, b), (c, d) = matrix(shaft, "A", v)[2:4, 4:6]
    return float((a * d - b * c) / (-v["r_a"] * math.sin(v["alpha"])))


def screw_angle() -> float:
    """The angle of the groove of the screw."""
    return tg.derive("corking_shaft").values()["alpha"]


def lead() -> float:
    """How far the screw moves the shaft in a turn, by its angle and its radius [m]."""
    values = tg.derive("corking_shaft").values()
    return 2 * math.pi * values["r_a"] / math.tan(values["alpha"])


def inductance(k: int, *, printed: bool = False) -> float:
    """An eigenvalue of the inductance of a motor, smallest first [mH]; `printed`: with L_e - M_e0 on the diagonal."""
    motor = tg.derive("pmsm")
    L = matrix(motor, "L", motor.values())[:3, :3]
    return float(1000 * np.linalg.eigvalsh(L - printed * motor.values()["M_0"] * np.eye(3))[k])


def phase_torques(power: int) -> float:
    """The sum of the torques of the phases per ampere, over p phi_c, or of their squares."""
    motor = tg.derive("pmsm")
    values = motor.values() | {"theta": 0.4}
    return sum((e.evaluate(values) / (values["p"] * values["phi_c"])) ** power for e in motor.where.values())


def nut_force_error(sources: Sources, stiffness: float = 5e7) -> float:
    """How far the force of the spline nut, recovered with rigid balls, is from that of elastic ones at 10 Hz."""
    s = 2j * math.pi * 10
    full, small = tg.derive("corking_shaft"), tg.reduce("corking_shaft", NUTS)
    values = full.values() | {"K_se": stiffness, "K_sr": stiffness}

    def response(eq: tg.EquationSystem) -> NDArray[np.complex128]:
        L, A, B = (matrix(eq, letter, values) for letter in LETTERS)
        return np.asarray(np.linalg.solve(s * L + A, B @ np.array(sources)))

    def recovered(name: str) -> float:
        """What one unit of a state or of an input adds to the force, which is linear in them."""
        point = values | dict.fromkeys((*small.equations.states, *small.equations.inputs), 0.0) | {name: 1.0}
        for definition, e in small.where.items():
            point[definition] = e.evaluate(point)
        return small.recovered["F_sr"].evaluate(point)

    elastic = response(full)[full.states.index("F_sr")]
    rigid = np.array([recovered(name) for name in small.equations.states]) @ response(small.equations)
    rigid += np.array([recovered(name) for name in small.equations.inputs]) @ np.array(sources)
    return float(abs(rigid - elastic) / abs(elastic))


def ringing(k: int) -> float:
    """The slower or the faster angular frequency of the balls between nuts and shaft [rad/s]."""
    return sorted(abs(pole.value.imag) for pole in tg.analyse("corking_shaft").poles if pole.value.imag)[k]


def order_in_the_stiffness(*, smooth: bool) -> float:
    """How fast velocities come near to those of rigid balls, after a step of both torques or after a smooth start."""
    start = "quintic(0, 1 N*m, from=0 s, to=0.05 s)"
    return tg.reduction_study(
        "corking_shaft", NUTS, inputs={"tau_te": start, "tau_tr": start} if smooth else None
    ).order


@cache
def cycle(limits: tuple[str, ...] = ()) -> tg.Run:
    """The 18 s of the machine, with everything of `limits` rigid."""
    model = tg.reduce("corking_machine_extended", dict.fromkeys(limits, math.inf)) if limits else None
    times = np.linspace(0.0, 18.0, 1801)
    return tg.simulate(model or "corking_machine_extended", times=times, rtol=1e-8, progress=False)


def cycle_error(name: str, limits: Mapping[str, float]) -> float:
    """The largest difference between the extended machine and a reduced one."""
    return float(np.abs(cycle().values(name) - cycle(tuple(limits)).values(name)).max())


def tracking_error(name: str, scale: float) -> float:
    """The largest distance of the shaft from its reference, in the unit of which there are `scale` in that of the model."""
    return scale * float(np.abs(cycle().values(name) - cycle().values(f"{name}_ref")).max())
