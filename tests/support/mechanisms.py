"""Random planar chains, open and closed, as files; and a plain multibody solver that knows nothing of bond graphs.

The solver has the coordinates x, y, phi of every centre of mass, constraints for revolute joints, and solves for accelerations and
constraint forces together. Its joint forces count as those of the first body on the second.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tellegen.equations.system import EquationSystem

Array = NDArray[np.float64]
GROUND = -1
GRAVITY = 9.81


@dataclass(frozen=True)
class Link:
    """A body: it hangs at the tip of its parent by its origin; centre and tip are in its own coordinates."""

    parent: int
    mass: float
    inertia: float
    centre: tuple[float, float]
    tip: tuple[float, float]
    angle: float
    speed: float
    slides: bool = False


@dataclass(frozen=True)
class Chain:
    """Links, each after its parent. A closed chain has its last tip held where it is, and no slides."""

    links: tuple[Link, ...]
    closed: bool = False

    def position(self, k: int, at: tuple[float, float]) -> Array:
        """Where a point of a link is."""
        if k == GROUND:
            return np.array(at)
        link = self.links[k]
        c, s = math.cos(link.angle), math.sin(link.angle)
        base = self.position(link.parent, self._tip(link.parent))
        turned: Array = np.array([c * at[0] - s * at[1], s * at[0] + c * at[1]])
        return np.add(base, turned)

    def _tip(self, k: int) -> tuple[float, float]:
        return (0.0, 0.0) if k == GROUND else self.links[k].tip

    def text(self) -> str:
        """The file of the chain."""
        end = self.position(len(self.links) - 1, self.links[-1].tip)
        lines = ["system: chain", "mechanism:", f"  gravity: {GRAVITY} m/s^2", "  bodies:"]
        lines.append(f"    ground: {{points: {{end: [{float(end[0])!r} m, {float(end[1])!r} m]}}}}")
        for k, link in enumerate(self.links):
            points = (
                f"centre: [{link.centre[0]} m, {link.centre[1]} m], points: {{tip: [{link.tip[0]} m, {link.tip[1]} m]}}"
            )
            lines.append(f"    b{k}: {{mass: {link.mass} kg, inertia: {link.inertia} kg*m^2, {points}}}")
        lines.append("  joints:")
        for k, link in enumerate(self.links):
            held = "ground" if link.parent == GROUND else f"b{link.parent}.tip"
            kind = "prismatic" if link.slides else "revolute"
            more = f", direction: {link.angle} rad" if link.slides else ""
            lines.append(f"    j{k}: {{{kind}: [{held}, b{k}]{more}}}")
        if self.closed:
            lines.append(f"    last: {{revolute: [b{len(self.links) - 1}.tip, ground.end]}}")
        return "\n".join([*lines, f"experiment: {{until: 0.2 s, rtol: 1e-9, initial: {{{self._initial()}}}}}"]) + "\n"

    def _initial(self) -> str:
        parts = [f"b{k}.phi: {link.angle}" for k, link in enumerate(self.links) if not link.slides]
        if not self.closed:
            parts += [f"b{k}.omega: {link.speed} rad/s" for k, link in enumerate(self.links) if not link.slides]
        return ", ".join(parts)


def links(parent: st.SearchStrategy[int], slides: st.SearchStrategy[bool]) -> st.SearchStrategy[Link]:
    """One link with sizes of about one."""
    size = st.integers(3, 20).map(lambda n: n / 10)
    offset = st.integers(-5, 5).map(lambda n: n / 10)
    angle = st.integers(-30, 30).map(lambda n: n / 10)
    pairs = st.tuples(size, offset)
    return st.builds(Link, parent, size, size, st.tuples(offset, offset), pairs, angle, offset, slides)


@st.composite
def open_chains(draw: st.DrawFn, most: int = 4) -> Chain:
    """Trees of revolute and prismatic joints."""
    count = draw(st.integers(1, most))
    found = [draw(links(st.integers(GROUND, k - 1), st.booleans() if k else st.just(False))) for k in range(count)]
    return Chain(tuple(found))


@st.composite
def closed_chains(draw: st.DrawFn, most: int = 4) -> Chain:
    """One loop of revolute joints, away from singular positions."""
    count = draw(st.integers(3, most))
    found = [draw(links(st.just(k - 1), st.just(False))) for k in range(count)]
    angles = [0.3 + 1.1 * k + link.angle / 20 for k, link in enumerate(found)]
    straight = [
        Link(k - 1, link.mass, link.inertia, link.centre, (link.tip[0], 0.0), angle, 0.0)
        for k, (link, angle) in enumerate(zip(found, angles, strict=True))
    ]
    return Chain(tuple(straight), closed=True)


# Values of equations


def evaluated(system: EquationSystem, name: str, values: Mapping[str, float]) -> Array:
    """A matrix at a point."""
    known = {**{n: float(v) for n, v in system.values().items()}, **values}
    for temporary, expression in system.where.items():
        known[temporary] = expression.evaluate(known)
    rows = system.matrices[name]  # type: ignore[index]
    return np.array([[entry.evaluate(known) for entry in row] for row in rows], dtype=float)


# The plain solver


@dataclass(frozen=True)
class Pin:
    """A revolute joint between points given in coordinates that start at the centres of mass."""

    first: int
    second: int
    at_first: tuple[float, float]
    at_second: tuple[float, float]


@dataclass(frozen=True)
class Multibody:
    """Bodies by mass and inertia, and pins."""

    masses: Sequence[float]
    inertias: Sequence[float]
    pins: Sequence[Pin]

    def solve(self, angles: Sequence[float], speeds: Sequence[float], loads: Array) -> tuple[Array, Array]:
        """Accelerations (x, y, phi of each body) and the forces of the pins, under loads of the same shape."""
        n, m = len(self.masses), len(self.pins)
        mass = np.diag([x for k in range(n) for x in (self.masses[k], self.masses[k], self.inertias[k])])
        G, gamma = np.zeros((2 * m, 3 * n)), np.zeros(2 * m)
        for p, pin in enumerate(self.pins):
            for body, at, sign in ((pin.first, pin.at_first, 1.0), (pin.second, pin.at_second, -1.0)):
                if body == GROUND:
                    continue
                c, s = math.cos(angles[body]), math.sin(angles[body])
                lever = np.array([c * at[0] - s * at[1], s * at[0] + c * at[1]])
                G[2 * p : 2 * p + 2, 3 * body : 3 * body + 2] = sign * np.eye(2)
                G[2 * p : 2 * p + 2, 3 * body + 2] = sign * np.array([-lever[1], lever[0]])
                gamma[2 * p : 2 * p + 2] += sign * lever * speeds[body] ** 2
        whole = np.block([[mass, G.T], [G, np.zeros((2 * m, 2 * m))]])
        found = np.linalg.solve(whole, np.concatenate([loads, gamma]))
        return found[: 3 * n], found[3 * n :].reshape(m, 2)


def multibody(chain: Chain) -> Multibody:
    """The bodies and pins of a chain of revolute joints."""
    pins = []
    for k, link in enumerate(chain.links):
        tip = (0.0, 0.0) if link.parent == GROUND else chain.links[link.parent].tip
        centre = (0.0, 0.0) if link.parent == GROUND else chain.links[link.parent].centre
        at_parent = (tip[0] - centre[0], tip[1] - centre[1])
        pins.append(Pin(link.parent, k, at_parent, (-link.centre[0], -link.centre[1])))
    if chain.closed:
        last = chain.links[-1]
        pins.append(
            Pin(len(chain.links) - 1, GROUND, (last.tip[0] - last.centre[0], last.tip[1] - last.centre[1]), (0, 0))
        )
    return Multibody([link.mass for link in chain.links], [link.inertia for link in chain.links], pins)


def weights(chain: Chain) -> Array:
    """The loads of gravity on a chain."""
    return np.array([x for link in chain.links for x in (0.0, -GRAVITY * link.mass, 0.0)])
