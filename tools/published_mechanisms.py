"""What Tellegen finds of the crank, the Rapson slide and the mobile manipulator where a number is told."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import simpson

import tellegen as tg
from tellegen.notations.reading import read_model

Array = NDArray[np.float64]

RIGID_SLIDE = """
system: Rapson slide with rigid joints
mechanism:
  bodies:
    tiller: {mass: 1 kg, inertia: 1 kg*m^2, centre: [1.5 m, 0 m], angle: theta, angular velocity: omega}
    block: {mass: 1 kg, inertia: 1 kg*m^2}
  joints:
    hinge: {revolute: [ground, tiller]}
    slide: {prismatic: [tiller, block], distance: l, speed: v_l}
network:
  F: {force source: [block.origin.x, frame]}
experiment:
  until: 6 s
  inputs: {F: 1 N}
  initial: {theta: "atan2(3, 4)", l: 5 m}
"""
RIGHT_ANGLE, NEAREST, STRAIGHT = 3.0877725, 3.32923721, 5.7706988
"""When the tiller passes a right angle, the block is nearest to the hinge, and the tiller passes pi [s]."""

COORDINATES = ("x_0", "y_0", "phi_0", "phi_1", "phi_2")
STRONG = {"tau_W1": "sine(1.2 N*m, 0.2 Hz)", "tau_W2": "0.3 N*m", "tau_W3": "-0.6 N*m"}
"""Three times the torques of the wheels in the example."""


# -- The crank and connecting rod -------------------------------------------------------------------------------------------------


@cache
def crank_at_one_second(name: str) -> float:
    """Angle or speed of the crank with the rigid rod after one second."""
    return tg.simulate("crank_rod", times=[0.0, 1.0], rtol=1e-10).final()[name]


def order_of_the_rod() -> float:
    """How fast the angle of the crank comes near to that with a rigid rod."""
    return tg.reduction_study("crank_rod_elastic", ["K=inf"]).orders["theta"]


# -- The Rapson slide -------------------------------------------------------------------------------------------------------------


@cache
def rigid_slide() -> tg.Run:
    """The slide with rigid joints, at the instants of which something is told."""
    times = sorted({*np.linspace(0, 5, 5001), RIGHT_ANGLE, NEAREST, STRAIGHT, 6.0})
    return tg.simulate(read_model(RIGID_SLIDE), times=times, rtol=1e-10)


@cache
def elastic_slide(r_b: float = 1e3) -> tg.Run:
    """The slide of the paper."""
    return tg.simulate("rapson_slide", times=np.linspace(0, 5, 5001), parameters={"r_b": r_b}, rtol=1e-9)


def rigid_at(name: str, time: float) -> float:
    """A variable of the rigid slide at an instant."""
    return float(rigid_slide().resampled(np.array([time])).values(name)[0])


@cache
def normal_forces() -> tuple[Array, Array]:
    """N_1 and N_2 of the rigid slide over the first 5 s: from its force across the tiller and its moment."""
    run = rigid_slide().resampled(np.linspace(0, 5, 5001))
    theta = run.values("theta")
    both = np.cos(theta) * run.values("slide.F_y") - np.sin(theta) * run.values("slide.F_x")
    difference = run.values("slide.M") / 0.2
    return (both - difference) / 2, (both + difference) / 2


def force_at_one_second(k: int) -> float:
    """N_1 or N_2 of the rigid slide."""
    return float(normal_forces()[k][1000])


def contact_error(r_b: float, *, later: bool) -> float:
    """How far the first normal force is from the rigid one at 1 s, or at most from then on."""
    apart = np.abs(elastic_slide(r_b).values("N_1") - normal_forces()[0])[1000:]
    return float(apart.max() if later else apart[0])


def turned_away(r_b: float) -> float:
    """How far the block of the elastic slide turns away from the rigid one in 5 s."""
    angle = rigid_slide().resampled(np.linspace(0, 5, 5001)).values("theta")
    return float(np.max(np.abs(elastic_slide(r_b).values("theta_P") - angle)))


def turned_back() -> float:
    """The angle after 5 s under a force the other way."""
    run = tg.simulate(read_model(RIGID_SLIDE), times=[0.0, 5.0], inputs={"F": "-1 N"}, rtol=1e-10)
    return float(run.values("theta")[-1])


def order_of_the_contacts() -> float:
    """How fast the slide comes near to the rigid one as contacts and pads grow stiffer and more damped."""
    times = np.linspace(0, 2, 201)
    rigid = tg.simulate(read_model(RIGID_SLIDE), times=times, rtol=1e-11).values("theta")

    def error(factor: float) -> float:
        stiffer = {"k_b": 1e5 * factor, "k_p": 1e5 * factor, "r_b": 1e3 * factor, "r_p": 1e3 * factor}
        run = tg.simulate("rapson_slide", times=times, parameters=stiffer, rtol=1e-11)
        return float(np.abs(run.values("theta_c") - rigid).max())

    return math.log2(error(4) / error(8))


# -- The mobile manipulator -------------------------------------------------------------------------------------------------------


@cache
def wheel_matrix() -> Array:
    """A of (8), for a base that is turned."""
    arm = tg.derive("mobile_manipulator", form="lagrange")
    values = arm.values() | {"phi_0": 0.7}
    W = np.array(arm.W.subs(arm.where).subs(values).tolist(), dtype=float)
    return np.asarray(values["r"] * W[:3, :3].T)


def wheel_determinant() -> float:
    """The size of the determinant of A, over L."""
    return float(abs(np.linalg.det(wheel_matrix())) / tg.derive("mobile_manipulator").values()["L"])


def wheel_product(row: int, column: int) -> float:
    """An entry of A^T A."""
    return float((wheel_matrix().T @ wheel_matrix())[row, column])


def wheel_mass() -> float:
    """What three wheels add to the mass of the machine, as one of them does along its way [kg]."""
    arm = tg.derive("mobile_manipulator", form="lagrange")
    v = arm.values()
    mass = float(arm.M[0, 0].subs(arm.where).subs(v | {"phi_0": 0.7}))
    return (mass - v["m_b"] - v["m_1"] - v["m_2"]) / 1.5


def circle_error() -> float:
    """The integral of the distance between the end of the arm and its circle, in scenario 1 [m s]."""
    turn = "2*pi*t/(10 s)"
    circle = {"x_0": 4.35, "y_0": 0, "phi_0": 0, "phi_1": turn, "phi_2": turn}
    tracked = tg.feedback_linearise("mobile_manipulator", circle, K_p=400, K_d=40)
    times = np.linspace(0, 2, 2001)  # the rest is too small to count
    start = {"x_0": 4.35, "phi_1": 0, "phi_2": 0}
    run = tg.simulate(tg.condition(tracked, "lagrange"), 2, initial=start, times=times, rtol=1e-10)
    q = {name: run.values(name) for name in COORDINATES}
    arm = 0.15 * np.exp(1j * q["phi_0"]) + np.exp(1j * q["phi_1"]) + 0.5 * np.exp(1j * q["phi_2"])
    end = q["x_0"] + 1j * q["y_0"] + arm
    return float(simpson(np.abs(end - 4.5 - 1.5 * np.exp(2j * np.pi * times / 10)), x=times))


@cache
def manipulator(form: str, *, strong: bool = False, canonical: bool = False, stiffness: float | None = None) -> tg.Run:
    """The machine in one of its forms, under the torques of the example or stronger ones."""
    model = tg.condition("mobile_manipulator", form, canonical=canonical, stiffness=stiffness)
    inputs = STRONG if strong else None
    return tg.simulate(model, times=np.linspace(0, 5, 201), inputs=inputs, rtol=1e-10, progress=False)


def apart(one: tg.Run, other: tg.Run, names: tuple[str, ...]) -> float:
    """The largest difference of coordinates."""
    return max(float(np.abs(one.values(name) - other.values(name)).max()) for name in names)


def forms_apart(form: str, stiffness: float | None = None) -> float:
    """The largest difference of a coordinate between a form and Lagrange's equations [m, rad]."""
    return apart(manipulator(form, stiffness=stiffness), manipulator("lagrange"), COORDINATES)


def canonical_error() -> float:
    """How far the canonical form leads the base away under strong torques [m]."""
    runs = manipulator("hamilton", strong=True, canonical=True), manipulator("lagrange", strong=True)
    return apart(*runs, ("x_0", "y_0"))
