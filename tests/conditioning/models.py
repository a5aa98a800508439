"""Small models with dependent storages, one for each domain and for each kind of constraint."""

from tellegen.model.model import Model
from tellegen.notations.reading import read_model

CAPACITOR_LOOP = """
system: capacitor loop
parameters: {C_1: 1 uF, C_2: 2 uF, C_3: 4 uF, R: 1 kohm, R_2: 3 kohm}
network:
  V:   {voltage source: [a, gnd]}
  R:   {resistor: [a, b]}
  C_1: {capacitor: [b, gnd]}
  C_2: {capacitor: [b, c]}
  C_3: {capacitor: [c, gnd]}
  R_2: {resistor: [c, gnd]}
experiment: {until: 20 ms, inputs: {V: 10 V}, initial: {V_C_1: 2 V}}
"""

INDUCTOR_CUT_SET = """
system: inductor cut-set
parameters: {L_1: 1 mH, L_2: 2 mH, L_3: 4 mH, R: 1 ohm, R_2: 3 ohm, R_3: 2 ohm}
network:
  V:   {voltage source: [a, gnd]}
  R:   {resistor: [a, b]}
  L_1: {inductor: [b, c]}
  L_2: {inductor: [c, d]}
  R_2: {resistor: [d, gnd]}
  L_3: {inductor: [c, e]}
  R_3: {resistor: [e, gnd]}
experiment: {until: 5 ms, inputs: {V: 10 V}}
"""

JOINED_CHAMBERS = """
system: joined chambers
parameters: {C_1: 1e-12 m^3/Pa, C_2: 3e-12 m^3/Pa, G: 1e-11 m^3/(Pa*s)}
network:
  Q:   {flow source: [tank, p]}
  C_1: {accumulator: [p, tank]}
  C_2: {accumulator: [p, tank]}
  G:   {leak: [p, tank]}
experiment: {until: 1 s, inputs: {Q: 1e-5 m^3/s}}
"""

JOINED_BODIES = """
system: joined bodies
parameters: {C_1: 100 J/K, C_2: 300 J/K, G: 2 W/K}
network:
  Q:   {heat flow source: [ambient, p]}
  C_1: {heat capacity: [p]}
  C_2: {heat capacity: [p]}
  G:   {thermal conductor: [p, ambient]}
experiment: {until: 100 s, inputs: {Q: 50 W}}
"""

JOINED_ENTROPIES = """
system: joined entropies
parameters: {C_1: 100 J/K, C_2: 300 J/K}
network:
  S:   {entropy flow source: [absolute_zero, p]}
  C_1: {entropy capacity: [p], C: C_1, initial: 300 K}
  C_2: {entropy capacity: [p], C: C_2}
experiment: {until: 10 s, inputs: {S: 0.5 W/K}}
"""

GEARS = """
system: three inertias on gears
parameters: {J_1: 1 kg*m^2, J_2: 2 kg*m^2, J_3: 0.5 kg*m^2, n: 3, m: 2, K: 20 N*m, b: 0.1 N*m*s}
network:
  tau: {torque source: [frame, a]}
  J_1: {inertia: [a], angular velocity: omega_1}
  g:   {connection: [a, frame, b, frame], domains: [rotational, rotational], relation: across_2 = n*across_1}
  J_2: {inertia: [b], angular velocity: omega_2}
  h:   {connection: [b, frame, c, frame], domains: [rotational, rotational], relation: across_2 = m*across_1}
  J_3: {inertia: [c], angular velocity: omega_3}
  K:   {torsion spring: [b, frame]}
  b:   {friction: [c, frame]}
experiment: {until: 5 s, inputs: {tau: 1 N*m}}
"""

SPRINGS = """
system: springs in series
parameters: {m: 1 kg, K_1: 100 N/m, K_2: 300 N/m, b: 2 N*s/m}
network:
  F:   {force source: [frame, a]}
  m:   {mass: [a], velocity: v}
  b:   {damper: [a, frame]}
  K_1: {spring: [a, c]}
  K_2: {spring: [c, frame]}
experiment: {until: 5 s, inputs: {F: 1 N}}
"""

SLED = """
system: sled that steers
parameters: {m: 3 kg, J: 0.2 kg*m^2, m_d: 0.5 kg, a: 0.1 m}
displacements: {phi: omega, x: v*cos(phi), y: v*sin(phi)}
network:
  F:   {force source: [frame, f]}
  tau: {torque source: [frame, w]}
  m:   {mass: [f], velocity: v}
  J:   {inertia: [w], angular velocity: omega}
  arm:
    multiport: [f, frame, w, frame, d, frame]
    domains: [translational, rotational, translational]
    relation: across_3 = cos(phi)*across_1 - a*sin(phi)*across_2
  m_d: {mass: [d], velocity: v_d}
experiment: {until: 3 s, inputs: {F: 1 N, tau: 0.1 N*m}}
"""

BEHIND_A_SOURCE = """
system: capacitor at a source
parameters: {C_1: 1 uF, C_2: 2 uF, R: 1 kohm}
network:
  V:   {voltage source: [a, gnd]}
  C_1: {capacitor: [a, gnd]}
  R:   {resistor: [a, b]}
  C_2: {capacitor: [b, gnd]}
experiment: {until: 20 ms, inputs: {V: "sine(10 V, 50 Hz)"}}
"""

BESIDE_A_SOURCE = """
system: loop beside a source
parameters: {C_1: 1 uF, C_2: 2 uF, C_3: 1 uF, C_4: 3 uF, R: 1 kohm, R_2: 3 kohm}
network:
  V:   {voltage source: [a, gnd]}
  C_1: {capacitor: [a, gnd]}
  R:   {resistor: [a, b]}
  C_2: {capacitor: [b, gnd]}
  C_3: {capacitor: [b, gnd]}
  C_4: {capacitor: [a, b]}
  R_2: {resistor: [b, gnd]}
experiment: {until: 20 ms, inputs: {V: "sine(10 V, 50 Hz)"}}
"""

DRIVEN_ARM = """
system: arm at a given speed
mechanism:
  bodies:
    arm: {mass: 1 kg, inertia: 0.3 kg*m^2, centre: [0.2 m, 0 m], points: {tip: [0.5 m, 0.1 m]}}
    link: {mass: 0.7 kg, inertia: 0.2 kg*m^2, centre: [0.1 m, 0.05 m]}
  joints:
    hinge: {revolute: [ground, arm]}
    pin: {revolute: [arm.tip, link]}
network:
  speed: {angular velocity source: [frame, arm]}
experiment: {until: 0.5 s, inputs: {speed: "sine(2 rad/s, 1 Hz)"}, initial: {arm.phi: 0.3}}
"""

DOMAINS = {
    "capacitor loop": CAPACITOR_LOOP,
    "inductor cut-set": INDUCTOR_CUT_SET,
    "joined chambers": JOINED_CHAMBERS,
    "joined bodies": JOINED_BODIES,
    "gears": GEARS,
    "springs": SPRINGS,
    "sled": SLED,
}


def model_of(text: str) -> Model:
    """The model in a text."""
    return read_model(text)
