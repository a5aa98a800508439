"""The flexible slider crank of the test set for IVP solvers (Bari), against its published reference solution at 0.1 s.

B. Simeon, Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs, Math. Modelling of Systems 2 (1996). The
crank turns at a constant speed; the rod bends in two sine shapes (q_1, q_2) and stretches in two quadratic ones (q_3, q_4). Written
with velocities only: the mass of the rod sits in Gauss points, which move with the crank pin, the angle of the rod and the shapes;
stretching is held by springs in the two Gauss points of its strain. The mass matrix of the test set for the stretching is fifteen
times that of such a rod, so that fourteen times its mass moves with the stretching alone, in polar coordinates.
"""

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
import pytest

import tellegen as tg
from tellegen.notations.reading import read_model
from tellegen.results.run import Run

HEAD = """\
system: Flexible slider crank
parameters: {l_1: 0.15 m, l_2: 0.30 m, m_2: 0.151104 kg, m_3: 0.075552 kg, J_1: 0.002727 kg*m^2, h: 8 mm, E: 2e11 Pa}
displacements: {phi_1: omega_1, phi_2: omega_2, x_3: v_x, q_1: v_1, q_2: v_2, q_3: v_3, q_4: v_4}
network:
  drive: {angular velocity source: [crank, frame]}
  J_1: {inertia: [crank], angular velocity: omega_1}
  J_2: {inertia: [rod], J: m_2*h^2/12, angular velocity: omega_2}
  q_1: {weightless point: [q_1], velocity: v_1, causality: integral}
  q_2: {weightless point: [q_2], velocity: v_2, causality: integral}
  q_3: {weightless point: [q_3], velocity: v_3, causality: integral}
  q_4: {weightless point: [q_4], velocity: v_4, causality: integral}
  m_3: {mass: [slider], velocity: v_x}
  pin:
    multiport: [crank, frame, q_4, frame, rod, frame]
    domains: [rotational, translational, rotational]
    relation: across_3 = -l_1*cos(phi_1)/((l_2 + q_4)*cos(phi_2))*across_1 - tan(phi_2)/(l_2 + q_4)*across_2
  guide:
    multiport: [crank, frame, q_4, frame, rod, frame, slider, frame]
    domains: [rotational, translational, rotational, translational]
    relation: across_4 = -l_1*sin(phi_1)*across_1 + cos(phi_2)*across_2 - (l_2 + q_4)*sin(phi_2)*across_3
  K_1: {spring: [q_1, frame], K: E*h^4*pi^4/(24*l_2^3)}
  K_2: {spring: [q_2, frame], K: E*h^4*pi^4*2/(3*l_2^3)}
"""

STRETCH = (1.03339863e-05, 1.69327969e-05)
"""q_3 and q_4 at the start."""

TAIL = """\
experiment:
  until: 0.1 s
  rtol: 1e-10
  inputs: {{drive: 150 rad/s}}
  initial:
    x_3: 0.450016933
    q_3: {q_3!r}
    q_4: {q_4!r}
    S_1: {strains[0]!r} m * E*h^2/(2*l_2)
    S_2: {strains[1]!r} m * E*h^2/(2*l_2)
    v_1: 0.444896112581599
    v_2: 4.63433931923867e-3
    v_3: -1.78591076000055e-6
    v_4: -2.68938671997904e-6
"""


def mass_point(k: int, x: float, share: float) -> str:
    """A part of the rod at x of its length: it moves with the pin, turns, bends and stretches."""
    a, b, c, d = (repr(float(e)) for e in (np.sin(np.pi * x), np.sin(2 * np.pi * x), 4 * x * (1 - x), x * (2 * x - 1)))
    along, beside = f"({x!r}*l_2 + {c}*q_3 + {d}*q_4)", f"({a}*q_1 + {b}*q_2)"
    return f"""\
  at_{k}:
    multiport: [crank, frame, rod, frame, q_1, frame, q_2, frame, q_3, frame, q_4, frame, x_{k}, frame, y_{k}, frame]
    domains: [rotational, rotational, {", ".join(["translational"] * 6)}]
    relation:
      - >-
        across_7 = -l_1*sin(phi_1)*across_1 - ({beside}*cos(phi_2) + {along}*sin(phi_2))*across_2
        - {a}*sin(phi_2)*across_3 - {b}*sin(phi_2)*across_4 + {c}*cos(phi_2)*across_5 + {d}*cos(phi_2)*across_6
      - >-
        across_8 = l_1*cos(phi_1)*across_1 + ({along}*cos(phi_2) - {beside}*sin(phi_2))*across_2
        + {a}*cos(phi_2)*across_3 + {b}*cos(phi_2)*across_4 + {c}*sin(phi_2)*across_5 + {d}*sin(phi_2)*across_6
  mx_{k}: {{mass: [x_{k}], m: {share!r}*m_2}}
  my_{k}: {{mass: [y_{k}], m: {share!r}*m_2}}
"""


def stretched_point(k: int, x: float, share: float) -> str:
    """What the test set has more: a mass at the stretching of the rod, as a radius, under the angle of the rod."""
    c, d = (repr(float(e)) for e in (4 * x * (1 - x), x * (2 * x - 1)))
    radius = f"({c}*q_3 + {d}*q_4)"
    return f"""\
  more_{k}:
    multiport: [rod, frame, q_3, frame, q_4, frame, a_{k}, frame, b_{k}, frame]
    domains: [rotational, {", ".join(["translational"] * 4)}]
    relation:
      - across_4 = -{radius}*sin(phi_2)*across_1 + {c}*cos(phi_2)*across_2 + {d}*cos(phi_2)*across_3
      - across_5 = {radius}*cos(phi_2)*across_1 + {c}*sin(phi_2)*across_2 + {d}*sin(phi_2)*across_3
  ma_{k}: {{mass: [a_{k}], m: {14 * share!r}*m_2}}
  mb_{k}: {{mass: [b_{k}], m: {14 * share!r}*m_2}}
"""


def strain(k: int, x: float) -> str:
    """The spring of the strain at x of the length."""
    return f"""\
  strain_{k}:
    multiport: [q_3, frame, q_4, frame, e_{k}, frame]
    domains: [translational, translational, translational]
    relation: across_3 = {4 - 8 * x!r}*across_1 + {4 * x - 1!r}*across_2
  E_{k}: {{spring: [e_{k}, frame], K: E*h^2/(2*l_2), force: S_{k}}}
"""


def at_gauss_points(count: int, line: Callable[[int, float, float], str]) -> Iterable[str]:
    """Lines for the points of a Gauss rule on the length of the rod, with their weights."""
    places, weights = np.polynomial.legendre.leggauss(count)
    pairs = zip(((places + 1) / 2).tolist(), (weights / 2).tolist(), strict=True)
    return (line(k, x, w) for k, (x, w) in enumerate(pairs, start=1))


@cache
def run() -> Run:
    ends = ((np.polynomial.legendre.leggauss(2)[0] + 1) / 2).tolist()
    strains = [(4 - 8 * x) * STRETCH[0] + (4 * x - 1) * STRETCH[1] for x in ends]
    lines = [HEAD, *at_gauss_points(8, mass_point), *at_gauss_points(4, stretched_point)]
    lines += [strain(k, x) for k, x in enumerate(ends, start=1)]
    text = "".join(lines) + TAIL.format(q_3=STRETCH[0], q_4=STRETCH[1], strains=strains)
    return tg.simulate(read_model(text), samples=10)


REFERENCE = {
    "phi_2": -0.3311734988256260,
    "x_3": 0.1697373328427860,
    "q_1": 0.1893192899613509e-03,
    "q_2": 0.2375751249879174e-04,
    "q_3": -0.5323896770569702e-05,
    "q_4": -0.8363313279112129e-05,
    "omega_2": 0.6025346755138369e02,
    "v_x": -0.8753116326670527e01,
    "v_1": -0.3005541400289738e-01,
    "v_2": -0.5500431812571696e-02,
    "v_3": 0.4974111734266989e-03,
    "v_4": 0.1105560003626645e-02,
}
"""The published solution at 0.1 s."""

FIRST_ACCELERATIONS = {"v_1": -6.829725665986310e-05, "v_3": -4.268463266810281, "v_4": 0.2098339029337557}
"""The published accelerations at the start: small against l_1 omega^2 = 3375 m/s^2, because the start has little vibration."""


@pytest.mark.parametrize("name", REFERENCE)
def test_the_flexible_slider_crank_ends_as_published(name: str) -> None:
    """The test set counts with 3.1415927 for pi, which moves the stiffness of bending by 6e-8, and its phase with it."""
    assert run().values(name)[-1] == pytest.approx(REFERENCE[name], rel=5e-6)


@pytest.mark.parametrize("name", FIRST_ACCELERATIONS)
def test_the_flexible_slider_crank_begins_with_the_published_accelerations(name: str) -> None:
    at = run().state_names.index(name)
    assert run().trajectory.yp[0, at] == pytest.approx(FIRST_ACCELERATIONS[name], abs=1e-6)


def test_the_slider_takes_the_published_force() -> None:
    """The multiplier of the constraint along the guide is what the slider exerts on the rod."""
    assert -run().values("F_m_3")[0] == pytest.approx(382.4589509350831, rel=1e-9)
    assert -run().values("F_m_3")[-1] == pytest.approx(-163.7920993367306, rel=1e-6)
