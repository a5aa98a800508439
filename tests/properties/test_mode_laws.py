"""Laws that hold for every circuit of switches and diodes: energy is accounted for, nothing is gained, names do not matter."""

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tellegen.experiments.simulating import simulate
from tellegen.notations.reading import read_model
from tellegen.results.run import Run

SERIES = {
    "resistor": "{{resistor: [{a}, {b}], R: {x} ohm}}",
    "inductor": "{{inductor: [{a}, {b}], L: {x} H}}",
    "diode": "{{diode: [{a}, {b}]}}",
    "reversed diode": "{{diode: [{b}, {a}]}}",
    "real diode": "{{diode: [{a}, {b}], V_f: 0.3 V, R_on: {x} ohm}}",
    "switch": "{{switch: [{a}, {b}], closed: [0.3 s, 1.{x} s]}}",
    "open switch": "{{switch: [{a}, {b}], closed: [0 s, 0.{x}1 s, 1.4 s]}}",
}
SHUNT = {
    "capacitor": "{{capacitor: [{a}], C: {x} F}}",
    "resistor": "{{resistor: [{a}], R: {x} ohm}}",
    "freewheeling diode": "{{diode: [gnd, {a}]}}",
    "both": "{{capacitor: [{a}], C: {x} F}}",
}
COURSES = ("2 V", "sine(3 V, 0.8 Hz)", "pulse(2 V, 0.1 s, 0.4 s, 0.7 s)")

STAGE = st.tuples(st.sampled_from(list(SERIES)), st.sampled_from(list(SHUNT)), st.integers(1, 4), st.integers(1, 4))
MOST_EXAMPLES = max(4, settings().max_examples // 5)
"""Every mode that is new is compiled: a run takes about a second."""


def circuit(stages: list[tuple[str, str, int, int]], course: str, prefix: str = "") -> str:
    """A ladder from a source over series elements and shunts to a resistor at its end."""
    lines = [f"  {prefix}V: {{voltage source: [n0]}}", f"  {prefix}R_0: {{resistor: [n0, m0], R: 0.5 ohm}}"]
    for k, (series, shunt, x, y) in enumerate(stages):
        lines.append(f"  {prefix}A{k}: " + SERIES[series].format(a=f"m{k}", b=f"m{k + 1}", x=x))
        lines.append(f"  {prefix}B{k}: " + SHUNT[shunt].format(a=f"m{k + 1}", x=y))
        if shunt == "both":
            lines.append(f"  {prefix}D{k}: {{diode: [gnd, m{k + 1}]}}")
    lines.append(f"  {prefix}R_end: {{resistor: [m{len(stages)}], R: 2 ohm}}")
    network = "\n".join(lines)
    return f"system: random\nnetwork:\n{network}\nexperiment: {{until: 2 s, inputs: {{{prefix}V: '{course}'}}}}\n"


def finished(text: str) -> Run:
    run = simulate(read_model(text), rtol=1e-8, on_failure="return")
    assert run.status == "finished", run.finding
    return run


AT_REST = [("inductor", "capacitor", 2, 1), ("inductor", "capacitor", 1, 1), ("inductor", "both", 2, 3)]
"""What decides the mode of its diode is nothing but rounding for a while."""


@settings(max_examples=MOST_EXAMPLES)
@given(st.lists(STAGE, min_size=1, max_size=3), st.sampled_from(COURSES))
@example(AT_REST, "sine(3 V, 0.8 Hz)")
def test_energy_is_accounted_for_and_never_gained(stages: list[tuple[str, str, int, int]], course: str) -> None:
    books = finished(circuit(stages, course)).trajectory.books
    assert books is not None
    assert math.isfinite(books.residual)
    assert abs(books.residual) < 1e-5
    assert books.impulsive >= -1e-9 * books.handled
    assert books.dissipated >= -1e-9 * books.handled


@settings(max_examples=MOST_EXAMPLES)
@given(st.lists(STAGE, min_size=1, max_size=2), st.sampled_from(COURSES))
def test_names_change_neither_modes_nor_values(stages: list[tuple[str, str, int, int]], course: str) -> None:
    one, two = finished(circuit(stages, course)), finished(circuit(stages, course, prefix="z"))
    assert np.allclose(one["V_R_end"].values, two["V_zR_end"].values, atol=1e-6)


WIDE_MODE_APART = [("resistor", "both", 1, 1), ("diode", "both", 1, 1)]
"""A mode that C does not know has more variables than those that it knows."""


@settings(max_examples=max(4, MOST_EXAMPLES // 2))
@given(st.lists(STAGE, min_size=1, max_size=2), st.sampled_from(COURSES))
@example(WIDE_MODE_APART, "sine(3 V, 0.8 Hz)")
def test_rows_between_changes_lie_on_the_motion(stages: list[tuple[str, str, int, int]], course: str) -> None:
    run = finished(circuit(stages, course))
    for model, rows in run.trajectory.parts:
        y, yp, t = run.trajectory.y[rows], run.trajectory.yp[rows], run.trajectory.t[rows]
        for k in range(model.size):
            # Between two rows a variable moves as far as its rates say, up to their own change.
            moved, steps = np.diff(y[:, k]), np.diff(t)
            told = steps * 0.5 * (yp[1:, k] + yp[:-1, k])
            room = steps * np.abs(np.diff(yp[:, k])) + 1e-6 * (1.0 + np.abs(y[1:, k]))
            assert np.all(np.abs(moved - told) <= room), model.names[k]


THRESHOLDS = st.tuples(
    st.sampled_from(("resistor", "inductor", "threshold diode")),
    st.sampled_from(("capacitor", "resistor", "clamp", "clamped capacitor")),
    st.integers(1, 4),
    st.integers(1, 4),
)
HELD_BY_A_LAW = [("resistor", "clamped capacitor", 1, 2), ("threshold diode", "capacitor", 1, 3)]
"""A capacitor that a threshold holds, and one that follows another at a constant distance."""


def thresholds(stages: list[tuple[str, str, int, int]], course: str, *, apart: bool) -> str:
    """A ladder of diodes with a threshold and no resistance; `apart`, each is an ideal diode and a battery."""

    def diode(name: str, a: str, b: str, volts: str) -> list[str]:
        if not apart:
            return [f"  {name}: {{diode: [{a}, {b}], V_f: {volts}}}"]
        return [
            f"  {name}: {{diode: [{a}, k{name}]}}",
            f"  E{name}: {{voltage source: [k{name}, {b}], signal: {volts}}}",
        ]

    lines = ["  V: {voltage source: [n0]}", "  R_0: {resistor: [n0, m0], R: 0.5 ohm}"]
    for k, (series, shunt, x, y) in enumerate(stages):
        a, b = f"m{k}", f"m{k + 1}"
        lines += (
            diode(f"S{k}", a, b, "0.3 V")
            if series == "threshold diode"
            else [f"  A{k}: " + SERIES[series].format(a=a, b=b, x=x)]
        )
        if "clamp" in shunt:
            lines += diode(f"P{k}", b, "gnd", f"0.{x} V")
        if shunt != "clamp":
            lines.append(f"  B{k}: " + SHUNT["capacitor" if "capacitor" in shunt else "resistor"].format(a=b, x=y))
    lines.append(f"  R_end: {{resistor: [m{len(stages)}], R: 2 ohm}}")
    network = "\n".join(lines)
    return f"system: random\nnetwork:\n{network}\nexperiment: {{until: 2 s, inputs: {{V: '{course}'}}}}\n"


@settings(max_examples=MOST_EXAMPLES)
@given(st.lists(THRESHOLDS, min_size=1, max_size=2), st.sampled_from(COURSES))
@example(HELD_BY_A_LAW, "sine(3 V, 0.8 Hz)")
def test_a_threshold_is_a_battery_behind_a_diode(stages: list[tuple[str, str, int, int]], course: str) -> None:
    one, two = finished(thresholds(stages, course, apart=False)), finished(thresholds(stages, course, apart=True))
    t = np.linspace(0.0, 2.0, 41)
    assert np.allclose(
        np.interp(t, one.t, one.values("V_R_end")), np.interp(t, two.t, two.values("V_R_end")), atol=1e-3
    )
    assert np.isclose(one.energy.stored, two.energy.stored, atol=1e-6)
    assert abs(one.energy.residual) < 1e-5
