"""A storage whose law a displacement moves takes the rate of its energy variable: L x' + L' x, or the moved content."""

import pytest

from support.networks import equations
from tellegen.expressions import is_zero, parse
from tellegen.notations.reading import read_model

FILE = """
system: Condenser microphone
parameters: {{C_0: 0.2, R: 2 ohm, K: 0.1 N*m/A, J: 1 kg*m^2}}
displacements: {{theta: omega}}
network:
  V: {{voltage source: [a, gnd]}}
  R: {{resistor: [a, b]}}
  L: {{inductor: [b, c], L: 1 H, current: I}}
  M: {{dc machine: [c, d, s, frame], K: K}}
  C: {{capacitor: [d, gnd], voltage: v, {law}}}
  J: {{inertia: [s], angular velocity: omega}}
"""


@pytest.mark.parametrize(
    ("law", "inertia", "moved"),
    [
        ("C: C_0*(2 + sin(theta))", "C_0*(2 + sin(theta))", "C_0*cos(theta)*omega*v"),
        ("law: q = C_0*(2 + sin(theta))*v^3", "3*C_0*(2 + sin(theta))*v^2", "C_0*cos(theta)*omega*v^3"),
    ],
    ids=["linear", "nonlinear"],
)
def test_the_current_of_a_moving_capacitor_is_the_rate_of_its_charge(law: str, inertia: str, moved: str) -> None:
    system = equations(read_model(FILE.format(law=law)))
    row = system.states.index("v")
    assert is_zero(system.matrices["L"][row][row] - parse(inertia))
    carried = system.matrices["N"][row][row] * parse("v") + system.vectors["f"][row]
    assert is_zero(carried - parse(moved))
