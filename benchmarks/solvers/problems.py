"""The problems: as a model file for Tellegen, as functions for the peers, and a reference to measure errors against."""

# ruff: noqa: PLC0415  what computes the reference is loaded after the clock has stopped

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SAMPLES = 101
"""Errors are measured at so many equidistant times, ends included."""


@final
@dataclass(frozen=True)
class Problem:
    """One problem. `states` are the names in Tellegen's model, in the order of the peers' vectors; peers start from rest.

    `constants` reach hand-written code as an array. `size` is the number of masses or sections.
    """

    name: str
    text: str
    states: tuple[str, ...]
    until: float
    constants: dict[str, float] = field(default_factory=dict)
    size: int = 1
    stiff: bool = False


def error_of(found: "Array", reference: "Array") -> float:
    """The largest error at the sample times, each state relative to its own largest value."""
    import numpy as np

    scale = np.maximum(np.abs(reference).max(axis=0), 1e-300)
    return float((np.abs(found - reference) / scale).max())


# P1: crank and piston, no offset of the torque, from rest


def crank() -> Problem:
    """P1: a crank drives a piston; the inertia depends on the angle. States: theta, omega."""
    constants = {"R": 0.05, "L": 0.2, "d": 0.01, "J_m": 1e-3, "m_p": 0.3, "b_m": 1e-2, "b_p": 0.5, "tau": 2.0}
    given = "\n".join(f"  {name}: {value:g}" for name, value in constants.items() if name != "tau")
    text = f"""system: Crank and piston
parameters:
{given}
  H: -R*sin(theta) - R*cos(theta)*(R*sin(theta) - d)/sqrt(L^2 - (R*sin(theta) - d)^2)
displacements: {{theta: omega}}
network:
  tau: {{torque source: [frame, crank]}}
  J_m: {{inertia: [crank], angular velocity: omega}}
  b_m: {{friction: [crank, frame]}}
  rod: {{connection: [crank, frame, piston, frame], domains: [rotational, translational], relation: across_2 = H*across_1}}
  m_p: {{mass: [piston]}}
  b_p: {{damper: [piston, frame]}}
experiment: {{until: 10 s, inputs: {{tau: {constants["tau"]:g} N*m}}}}
"""
    return Problem("P1 crank", text, ("theta", "omega"), 10.0, constants)


# P2: a stiff chain of masses with smooth dry friction, pushed at its end


def chain(masses: int = 20) -> Problem:
    """P2: masses between springs and dampers, each with friction. States: velocities, then spring forces from the wall on."""
    constants = {"m": 1.0, "k": 1e6, "d": 1e4, "F_c": 50.0, "v_c": 1e-3, "F": 500.0, "f": 3.0}
    text = f"""system: Chain of masses
parameters: {{N: {masses}, m: 1 kg, k: 1e6 N/m, d: 1e4 N*s/m, F_c: 50 N, v_c: 1e-3 m/s}}
network:
  K_1: {{spring: [frame, "x[1]"], K: k}}
  D_1: {{damper: [frame, "x[1]"], b: d}}
  chain:
    repeat: {{i: 2..N}}
    network:
      "K[i]": {{spring: ["x[i-1]", "x[i]"], K: k}}
      "D[i]": {{damper: ["x[i-1]", "x[i]"], b: d}}
  masses:
    repeat: {{i: 1..N}}
    network:
      "M[i]": {{mass: ["x[i]"], m: m}}
      "T[i]": {{damper: ["x[i]", frame], law: F = F_c*tanh(v/v_c)}}
  F: {{force source: [frame, "x[{masses}]"]}}
experiment: {{until: 1 s, inputs: {{F: "sine(500 N, 3 Hz)"}}}}
"""
    velocities = tuple(f"v_M[{i}]" for i in range(1, masses + 1))
    forces = ("F_K_1", *(f"F_K[{i}]" for i in range(2, masses + 1)))
    return Problem("P2 stiff chain", text, (*velocities, *forces), 1.0, constants, masses, stiff=True)


# P3: a lossless ladder of coils and capacitors, a step at its beginning, two travel times


def ladder(sections: int) -> Problem:
    """P3: L = C = 1, open at the end, so that a wave needs one second a section. States: currents, then voltages."""
    text = f"""system: LC ladder
parameters: {{N: {sections}}}
network:
  V: {{voltage source: ["n[0]", gnd]}}
  ladder:
    repeat: {{k: 1..N}}
    network:
      "L[k]": {{inductor: ["n[k-1]", "n[k]"], L: 1 H}}
      "C[k]": {{capacitor: ["n[k]", gnd], C: 1 F}}
experiment: {{until: {2 * sections} s, inputs: {{V: step(1 V)}}}}
"""
    currents = tuple(f"I_L[{k}]" for k in range(1, sections + 1))
    voltages = tuple(f"V_C[{k}]" for k in range(1, sections + 1))
    return Problem("P3 LC ladder", text, (*currents, *voltages), 2.0 * sections, size=sections)


# Right-hand sides in NumPy, for the peers that take one


def rhs_of(problem: Problem) -> "Callable[[float, Array], Array]":
    """The right-hand side as a function of time and states."""
    import numpy as np

    c = problem.constants
    if problem.name.startswith("P1"):

        def crank_rhs(t: float, y: "Array") -> "Array":
            from math import cos, sin, sqrt

            theta, omega = y
            s, k = sin(theta), cos(theta)
            u = c["R"] * s - c["d"]
            root = sqrt(c["L"] ** 2 - u * u)
            H = -c["R"] * s - c["R"] * k * u / root
            dH = -c["R"] * k + c["R"] * s * u / root - (c["R"] * k) ** 2 * (1 / root + u * u / root**3)
            J = c["J_m"] + c["m_p"] * H * H
            torque = c["tau"] - (c["b_m"] + c["b_p"] * H * H) * omega - c["m_p"] * H * dH * omega * omega
            return np.array([omega, torque / J])

        return crank_rhs
    n = problem.size
    if problem.name.startswith("P2"):

        def chain_rhs(t: float, y: "Array") -> "Array":
            v, f = y[:n], y[n:]
            rate = -np.diff(
                v, prepend=0.0
            )  # of the length of each spring, from the wall on, counted as Tellegen counts
            link = f + c["d"] * rate
            push = link.copy()
            push[:-1] -= link[1:]
            push -= c["F_c"] * np.tanh(v / c["v_c"])
            push[-1] += c["F"] * np.sin(2 * np.pi * c["f"] * t)
            return np.concatenate([push / c["m"], c["k"] * rate])

        return chain_rhs

    def ladder_rhs(t: float, y: "Array") -> "Array":
        i, v = y[:n], y[n:]
        return np.concatenate([-np.diff(v, prepend=1.0), i - np.append(i[1:], 0.0)])

    return ladder_rhs


@cache
def _reference(name: str, size: int) -> "Array":
    import numpy as np
    from scipy.integrate import solve_ivp

    problem = crank() if name.startswith("P1") else chain(size) if name.startswith("P2") else ladder(size)
    times = np.linspace(0.0, problem.until, SAMPLES)
    if name.startswith("P3"):
        return _ladder_solution(size, times)
    method: Any = "Radau" if problem.stiff else "DOP853"
    rtol, atol = (1e-11, 1e-11) if problem.stiff else (1e-13, 1e-13)
    start = np.zeros(2 * size if problem.stiff else 2)
    found = solve_ivp(rhs_of(problem), (0, problem.until), start, method, times, rtol=rtol, atol=atol)
    return np.asarray(found.y.T)


def reference(problem: Problem) -> "Array":
    """The states at the sample times: the closed form of P3, else SciPy far below the tolerances asked for."""
    return _reference(problem.name, problem.size)


def _ladder_solution(n: int, times: "Array") -> "Array":
    """By the eigenvalues of the second difference: v'' = -K v + e_1 with K tridiagonal, v(0) = v'(0) = 0; i from v'."""
    import numpy as np

    k = np.arange(1, n + 1)
    omega = 2 * np.sin((2 * k - 1) * np.pi / (2 * (2 * n + 1)))
    shape = np.sqrt(4 / (2 * n + 1)) * np.sin(np.outer(k, 2 * k - 1) * np.pi / (2 * n + 1))
    at = np.outer(times, omega)
    v = (shape[0] / omega**2 * (1 - np.cos(at))) @ shape.T
    rate = (shape[0] / omega * np.sin(at)) @ shape.T
    currents = np.cumsum(rate[:, ::-1], axis=1)[:, ::-1]  # i_k carries what all capacitors from k on take
    return np.hstack([currents, v])
