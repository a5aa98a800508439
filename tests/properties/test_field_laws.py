"""Networks with fields: every form of their equations has the transfer matrix of the whole tableau."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import tellegen as tg
from support.field_networks import FieldNetwork, field_networks
from support.transfers import form_at, lagrange_at, speeds_at
from tellegen.analysis.linear_model import energy_coordinates, linear_model
from tellegen.analysis.poles import poles, poles_near
from tellegen.core.errors import ConditioningError
from tellegen.equations.system import with_values
from tellegen.notations.reading import read_model

POINTS = (0.9, 1.7)


@settings(max_examples=40)
@given(field_networks())
def test_all_forms_of_a_network_with_fields_have_its_transfer_matrix(network: FieldNetwork) -> None:
    assume(network.is_regular())
    model = read_model(network.text)
    pog = with_values(tg.derive(model))
    forms = {
        "pog": pog,
        "dae": tg.derive(model, form="dae", numeric=True),
        "numeric": tg.derive(model, numeric=True),
        "eliminate": tg.derive(model, numeric=True, eliminate=True),
        "tf": tg.derive(model, form="tf", numeric=True),
        "ph": tg.derive(model, form="ph", numeric=True),
        "ss": energy_coordinates(linear_model(pog)),
    }
    for s in POINTS:
        known = network.transfer(s)
        size = np.abs(known).max()
        for name, form in forms.items():
            assert form_at(form, s) == pytest.approx(known, rel=1e-7, abs=1e-8 * size), name


ROUNDED = """
system: Fields
parameters: {K: 1.938, e0_00: 1.6757, e1_00: 1.8702, e2_00: 0.9651, e3_00: 2.1595, e4_00: 1.3914, e5_00: 0.8721, e6_00:
  1.3259, e7_00: 3.2281, e8_00: 1.4247, e8_01: -0.1196, e8_11: 2.3151, e9_00: 2.1608, e9_01: 0.0843, e9_02: -0.4934,
  e9_11: 1.7441, e9_12: 1.1648, e9_22: 3.4738}
network:
  e4: {mass: [x, frame], m: e4_00}
  e9: {field: [frame, x, y, frame, gnd, b], kinds: [compliance, compliance, inductor],
    matrix: [[e9_00, e9_01, e9_02], [e9_01, e9_11, e9_12], [e9_02, e9_12, e9_22]]}
  e3: {inductor: [a, b], L: e3_00}
  e7: {mobility: [y, frame], d: e7_00}
  e8: {inductor field: [a, b, b, a], matrix: [[e8_00, e8_01], [e8_01, e8_11]]}
  e0: {capacitor: [a, gnd], C: e0_00}
  e1: {resistor: [b, a], R: e1_00}
  e10: {current source: [a, b]}
  e2: {inductor: [gnd, b], L: e2_00}
  e6: {compliance: [x, frame], E: e6_00}
  e11: {current source: [b, gnd]}
  e5: {mobility: [y, frame], d: e5_00}
  coil: {voice coil: [b, gnd, x, y], K: K}
"""


def test_a_rounding_is_no_pivot_of_a_transfer_matrix() -> None:
    """Entries cancel here over symbols, and leave some 1e-17 over numbers."""
    model = read_model(ROUNDED)
    found, known = tg.derive(model, form="tf", numeric=True), tg.derive(model, numeric=True)
    for s in POINTS:
        wanted = form_at(known, s)
        assert form_at(found, s) == pytest.approx(wanted, rel=1e-9, abs=1e-9 * np.abs(wanted).max())


@settings(max_examples=80)
@given(field_networks())
def test_speeds_of_the_lagrange_form_are_those_of_the_others(network: FieldNetwork) -> None:
    assume(network.is_regular())
    model = read_model(network.text)
    try:
        form = tg.derive(model, form="lagrange", numeric=True)
    except ConditioningError as error:
        if error.code != "C105":
            raise
        return
    pog = with_values(tg.derive(model))
    for s in POINTS:
        assert lagrange_at(form, s) == pytest.approx(speeds_at(pog, form.nu, s), rel=1e-7, abs=1e-9)


COILS = """
system: Coils
parameters: {L_1: 1 H, L_2: 1 H, M: 0.5 H, R: 1 ohm}
network:
  V: {voltage source: [a, gnd]}
  R_1: {resistor: [a, b], R: R}
  R_2: {resistor: [c, gnd], R: R}
  coils: {inductor field: [b, gnd, c, gnd], matrix: [[L_1, M], [M, L_2]]}
"""


def test_the_poles_near_zero_of_two_coils_are_theirs() -> None:
    model = read_model(COILS)
    near = poles_near(tg.derive(model, form="dae", numeric=True), count=2)
    # (L_1 s + R)(L_2 s + R) = M^2 s^2
    assert [p.value for p in near] == pytest.approx([-1 / 1.5, -1 / 0.5])
    assert [p.value for p in poles(linear_model(tg.derive(model)))] == pytest.approx([-1 / 1.5, -1 / 0.5])


MOVING = """
system: Moving coils
parameters: {R: 2 ohm, J: 1 kg*m^2, K: 0.2, L_0: 1 H, M: 0.2 H}
displacements: {theta: omega}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  coils: {inductor field: [b, gnd, c, d], matrix: [[L_0, M*cos(theta)], [M*cos(theta), L_0]], current: [i_1, i_2]}
  R_2: {resistor: [c, gnd], R: R}
  motor: {dc machine: [d, gnd, s, frame], K: K}
  J: {inertia: [s], angular velocity: omega}
"""


@pytest.mark.parametrize(
    "line",
    [
        "inductor field: [b, gnd, c, d], matrix: [[L_0, M*cos(theta)], [M*cos(theta), L_0]]",
        "capacitor field: [b, gnd, c, d], matrix: [[L_0, M*cos(theta)], [M*cos(theta), L_0]]",
    ],
)
def test_a_field_that_a_displacement_moves_takes_the_rate_of_its_matrix(line: str) -> None:
    names = "current: [i_1, i_2]" if "inductor" in line else "voltage: [i_1, i_2]"
    text = MOVING.replace(MOVING.splitlines()[7], f"  coils: {{{line}, {names}}}")
    if "capacitor" in line:
        text = text.replace("M: 0.2 H", "M: 0.2 F").replace("L_0: 1 H", "L_0: 1 F")
    model = read_model(text)
    pog, form = tg.derive(model), tg.derive(model, form="dae", numeric=True)
    at = {"i_1": 0.7, "i_2": -0.4, "omega": 1.3, "theta": 0.6, "V": 2.0}
    known = {**at, **pog.values()}
    for name, e in pog.where.items():
        known[name] = e.evaluate(known)

    def matrix(name: str, columns: int) -> np.ndarray:
        found = [[e.evaluate(known) for e in row] for row in pog.matrices[name]]  # type: ignore[index]
        return np.array(found, dtype=float).reshape(-1, columns)

    n = len(pog.states)
    x, u = np.array([known[s] for s in pog.states]), np.array([known[i] for i in pog.inputs])
    force = matrix("B", 1) @ u - (matrix("A", n) + matrix("N", n)) @ x
    rates = dict(zip(pog.states, np.linalg.solve(matrix("L", n), force), strict=True)) | {"theta": at["omega"]}
    # The rows of the descriptor form hold with these rates for some potentials and through variables.
    free = [k for k, name in enumerate(form.unknowns) if name not in at]
    rows = len(form.unknowns)
    left, right = np.zeros(rows), np.zeros(rows)
    open_ = np.zeros((rows, len(free)))
    for (i, j), e in form.E.items():
        left[i] += e.evaluate(known) * rates[form.unknowns[j]]
    for (i, j), e in form.F.items():
        if j in free:
            open_[i, free.index(j)] += e.evaluate(known)
        else:
            right[i] += e.evaluate(known) * known[form.unknowns[j]]
    for (i, j), e in form.G.items():
        right[i] += e.evaluate(known) * known[form.inputs[j]]
    for i, e in form.h.items():
        right[i] += e.evaluate(known)
    solution = np.linalg.lstsq(open_, left - right, rcond=None)[0]
    assert open_ @ solution == pytest.approx(left - right, abs=1e-12)
