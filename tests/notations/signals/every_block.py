"""Each signal block at work: a line of it, told in volts, beside a circuit that all can read."""

CIRCUIT = """
network:
  V: {voltage source: [a], signal: r}
  R: {resistor: [a, b], R: 1 ohm}
  C: {capacitor: [b], C: 0.1 F, voltage: v}
"""
COURSE = "r: 1 V*sin(9 s^-1*t) + 0.3 V"
LINES = {
    "formula": "2*v - r",
    "integral": "{integral: r*4 s^-1, initial: 0.2 V, limits: [-0.5 V, 0.6 V]}",
    "pid": "{pid: r - v, K_p: 2, K_i: 8 s^-1, K_d: 0.05 s, filter: 20 ms, limits: [-1 V, 1.5 V]}",
    "transfer function": "{transfer function: r, numerator: [1, 3], denominator: [0.02, 0.3, 1]}",
    "low pass": "{low pass: r, time constant: 50 ms, initial: 0.1 V}",
    "derivative": "{derivative: v, filter: 20 ms}",
    "filter": "{filter: r, corner: 3 Hz, order: 3}",
    "rate limit": "{rate limit: r, limits: [-5 V/s, 4 V/s], time constant: 1 ms}",
    "pwm": "{pwm: 0.5 + v/(4 V), every: 50 ms, height: 2 V}",
    "noise": "{noise: 0.1 V, every: 20 ms, seed: 3}",
    "clarke": "{clarke: [r, v, r - v], axis: beta}",
    "park": "{park: [r, v, r - v], angle: 4 s^-1*t, axis: q}",
    "inverse park": "{inverse park: [r, v], angle: 4 s^-1*t, phase: b}",
    "state feedback": "{state feedback: [v], gains: [0.7], reference: r}",
    "delay": "{delay: v, by: 70 ms}",
    "sample": "{sample: v, every: 30 ms}",
    "relay": "{relay: v - 0.4 V, hysteresis: 0.2 V, height: 1.5 V}",
    "count": "{count: r > 0.5 V}",
    "timer": "{timer: r > 0.5 V}",
    "hold": "{hold: v, when: r > 0.5 V}",
    "states": "{states: {low: {when: r < 0.1 V, value: 0 V}, high: {when: r > 0.7 V, from: low, after: 100 ms, value: 1 V}}}",
    "quantise": "{quantise: v, step: 0.05 V}",
    "saturate": "{saturate: r, limits: [-0.4 V, 0.8 V]}",
    "dead zone": "{dead zone: r, limits: [-0.2 V, 0.4 V]}",
    "table": "{table: [[0 s, 0 V], [0.3 s, 1 V], [0.8 s, -1 V]], interpolation: cubic}",
    "map": "{map: {rows: [-1 V, 0 V, 1 V], columns: [0 V, 1 V], values: [[0, 1], [2, 1], [1, 3]]}, at: [r, v]}",
    "across": "{across: [a, b]}",
}


def model_text(*blocks: str, until: float = 1.0) -> str:
    """The circuit with a signal of each of these blocks, named after it."""
    lines = "".join(f"  {named(block)}: {LINES[block]}\n" for block in blocks)
    outputs = ", ".join(("v", *map(named, blocks)))
    return f"system: Blocks\nsignals:\n  {COURSE}\n{lines}{CIRCUIT}experiment: {{until: {until} s, outputs: [{outputs}]}}\n"


def named(block: str) -> str:
    """The name of the signal of a block."""
    return f"y_{block.replace(' ', '_')}"
