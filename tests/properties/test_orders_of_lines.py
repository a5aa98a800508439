"""The order of lines decides nothing: a mechanism starts in one position and moves in one way, however it is written down."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.no_compiler import no_compiler
from tellegen.notations.reading import read_model


class Described(NamedTuple):
    """Lines of a mechanism: bodies and joints by name, and what is told about the start."""

    bodies: Mapping[str, str]
    joints: Mapping[str, str]
    initial: str

    def text(self, bodies: Sequence[str], joints: Sequence[str]) -> str:
        """The file with its lines in an order."""
        lines = [
            "system: linkage",
            "parameters: {alpha: 90 deg}",
            "mechanism:",
            "  gravity: [1 m/s^2, -9 m/s^2]",
            "  bodies:",
        ]
        lines += [f"    {name}: {self.bodies[name]}" for name in bodies]
        lines += ["  joints:", *(f"    {name}: {self.joints[name]}" for name in joints)]
        return "\n".join([*lines, f"experiment: {{until: 0.04 s, rtol: 1e-9, initial: {{{self.initial}}}}}", ""])


def bar(length: float, mass: float) -> str:
    """A bar with its centre in the middle."""
    J = round(mass * length**2 / 12, 9)
    return (
        f"{{mass: {mass} kg, inertia: {J} kg*m^2, centre: [{length / 2} m, 0 m], points: {{end: [{length} m, 0 m]}}}}"
    )


lengths = st.floats(0.05, 0.3).map(lambda x: round(x, 3))
angles = st.floats(-math.pi, math.pi).map(lambda x: round(x, 3))
# Right angles as people write them, and directions close to one: what is rounding and what is small.
directions = st.sampled_from(
    ["0", "pi/2", "90 deg", "-pi/2", "pi", "3*pi/2", "0.7", "1.5707", "1.570796", "-2.2", "alpha"]
)


@st.composite
def slider_cranks(draw: st.DrawFn) -> Described:
    """A crank, a rod at least as long again and a slide, somewhere and in some direction."""
    crank = draw(lengths)
    rod = round(crank * draw(st.floats(1.7, 4.0)), 3)
    direction, offset = draw(directions), round(draw(st.floats(-0.3, 0.3)) * crank, 3)
    bodies = {
        "ground": f"{{points: {{line: [{offset} m, {offset} m]}}}}",
        "arm": bar(crank, 0.4),
        "rod": bar(rod, 0.6),
        "piston": "{mass: 0.5 kg}",
    }
    joints = {
        "bearing": "{revolute: [ground, arm], friction: 0.001 N*m*s}",
        "pin": draw(st.sampled_from(["{revolute: [arm.end, rod]}", "{revolute: [rod, arm.end]}"])),
        "guide": f"{{prismatic: [ground.line, piston], direction: {direction}, friction: 1 N*s/m}}",
        "wrist": "{revolute: [rod.end, piston]}",
    }
    return Described(bodies, joints, f"arm.phi: {draw(angles)}, arm.omega: 3 rad/s")


@st.composite
def four_bars(draw: st.DrawFn) -> Described:
    """Four bars of which the shortest and the longest are together shorter than the others: it can always move."""
    b, c = draw(lengths), draw(lengths)
    a = round(min(b, c) * draw(st.floats(0.3, 0.7)), 3)
    d = round(a * 0.5 + max(b, c) * 0.6 + abs(b - c) * 0.4, 3)
    bodies = {
        "ground": f"{{points: {{far: [{d} m, 0 m]}}}}",
        "left": bar(a, 0.3),
        "mid": bar(b, 0.5),
        "right": bar(c, 0.4),
    }
    joints = {
        "A": "{revolute: [ground, left]}",
        "B": "{revolute: [left.end, mid]}",
        "C": "{revolute: [mid.end, right.end]}",
        "D": "{revolute: [ground.far, right]}",
    }
    return Described(bodies, joints, f"left.phi: {draw(angles)}, left.omega: 2 rad/s")


@st.composite
def quick_returns(draw: st.DrawFn) -> Described:
    """A crank moves a block, which slides in an arm."""
    crank = draw(lengths)
    below = round(crank * draw(st.floats(1.3, 3.0)), 3)
    direction = draw(st.sampled_from(["0", "pi/2", "90 deg", "0.3"]))
    bodies = {
        "ground": f"{{points: {{pivot: [0 m, {-below} m]}}}}",
        "crank": bar(crank, 0.5),
        "block": "{mass: 0.1 kg, inertia: 1e-4 kg*m^2}",
        "arm": "{mass: 1 kg, inertia: 0.04 kg*m^2, centre: [0.3 m, 0 m]}",
    }
    joints = {
        "O": "{revolute: [ground, crank]}",
        "P": "{revolute: [crank.end, block]}",
        "B": "{revolute: [ground.pivot, arm]}",
        "slot": f"{{prismatic: [arm, block], direction: {direction}}}",
    }
    said = draw(st.sampled_from(["", ", block.phi: 1.3", ", slot.s: 0.2 m"]))
    return Described(bodies, joints, f"crank.phi: {draw(angles)}, crank.omega: 4 rad/s{said}")


linkages = st.one_of(slider_cranks(), four_bars(), quick_returns())


@settings(max_examples=settings().max_examples // 3)
@given(linkages, st.data())
def test_a_mechanism_starts_and_moves_alike_in_any_order_of_its_lines(
    described: Described, data: st.DataObject
) -> None:
    found = []
    for again in range(2):
        bodies, joints = list(described.bodies), list(described.joints)
        if again:
            bodies, joints = data.draw(st.permutations(bodies)), data.draw(st.permutations(joints))
        with no_compiler():
            found.append(tg.simulate(read_model(described.text(bodies, joints)), samples=4))
    one, two = found
    told = [n for n in one.names if n in two.names and n.endswith((".phi", ".s", ".omega"))]
    assert len([n for n in told if n.endswith(".phi")]) >= 2
    for name in told:
        assert two.values(name) == pytest.approx(one.values(name), rel=1e-6, abs=1e-6), name
