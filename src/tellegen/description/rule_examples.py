"""The files in the examples of rules: each with one part exchanged."""


def charging(
    parameters: str = "{R: 2 kohm, C: 1 mF}",
    source: str = "{voltage source: [a, gnd]}",
    resistor: str = "{resistor: [a, b]}",
    capacitor: str = "{capacitor: [b, gnd]}",
    experiment: str = "{until: 5 s, inputs: {V: step(10 V)}}",
) -> str:
    """A source that charges a capacitor through a resistor."""
    return f"""\
system: Charging a capacitor
parameters: {parameters}
network:
  V: {source}
  R: {resistor}
  C: {capacitor}
experiment: {experiment}
"""


def oscillator(
    spring: str = "{spring: [m]}", mass: str = "{mass: [m]}", parameters: str = "{m: 2 kg, K: 800 N/m}"
) -> str:
    """A force on a mass that hangs on a spring."""
    return f"""\
system: Mass on a spring
parameters: {parameters}
network:
  F: {{force source: [m]}}
  m: {mass}
  K: {spring}
"""


def ladder(
    repeat: str = "{k: 1..10}",
    name: str = "R[k]",
    nodes: str = '["n[k-1]", "n[k]"]',
    parameters: str = "{C_0: 1 uF}",
) -> str:
    """A ladder of resistors and capacitors, written once and repeated."""
    return f"""\
system: RC ladder
parameters: {parameters}
network:
  V: {{voltage source: ["n[0]", gnd]}}
  ladder:
    repeat: {repeat}
    network:
      {name}: {{resistor: {nodes}, R: 1 kohm}}
      C[k]: {{capacitor: ["n[k]", gnd], C: C_0}}
"""


def motor(machine: str = "{dc machine: [a, gnd, shaft, frame], K: 0.15 N*m/A}") -> str:
    """A motor that turns a flywheel."""
    return f"""\
system: Motor with a flywheel
parameters: {{R: 1 ohm, J: 0.01 kg*m^2}}
network:
  V: {{voltage source: [s, gnd]}}
  R: {{resistor: [s, a]}}
  motor: {machine}
  J: {{inertia: [shaft]}}
"""
