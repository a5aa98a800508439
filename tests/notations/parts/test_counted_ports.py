"""Ports and fields whose number a parameter decides."""

from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from support.transfers import POINTS, numeric, transfer_at
from tellegen.core.errors import DescriptionError
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

BUS = """\
system: Bus bar
parameters: {n: 3, R: 2 ohm}
ports:
  common: c
  taps: {repeat: {k: 1..n}, ports: {"tap[k]": "a[k]"}}
network:
  all: {repeat: {k: 1..n}, network: {"R[k]": {resistor: ["a[k]", c], R: R*k}}}
"""
JOINED = 'taps: {repeat: {k: 1..N}, ports: {"tap[k]": "x[k]"}}'
SOURCES = '{all: {repeat: {k: 1..N}, network: {"V[k]": {voltage source: ["x[k]"]}}}, C: {capacitor: [m], C: 1 F}}'


def bus(folder: Path, line: str, network: str = SOURCES, bar: str = BUS) -> Model:
    (folder / "bus.yaml").write_text(bar, encoding="utf-8")
    whole = folder / "whole.yaml"
    whole.write_text(f"system: W\nparameters: {{N: 4}}\nparts:\n  b: {line}\nnetwork: {network}\n", encoding="utf-8")
    return read_model(whole)


def test_a_part_has_as_many_ports_as_its_parameter_says(tmp_path: Path) -> None:
    model = bus(tmp_path, f"{{use: bus.yaml, n: N, ports: {{common: m, {JOINED}}}}}")
    assert list(model.parts[0].ports) == ["common", *(f"tap[{k}]" for k in range(1, 5))]
    system = numeric(model)
    conductances = 1 / (2 * np.arange(1, 5))
    for s in POINTS:
        middle = conductances / (conductances.sum() + s)  # of the voltage at m by the sources
        wanted = np.diag(conductances) - np.outer(conductances, middle)
        assert transfer_at(system, s) == pytest.approx(wanted)


def test_ports_are_joined_one_by_one_as_well(tmp_path: Path) -> None:
    one = bus(tmp_path, f"{{use: bus.yaml, n: N, ports: {{common: m, {JOINED}}}}}")
    each = ", ".join(f'"tap[{k}]": "x[{k}]"' for k in range(1, 5))
    two = bus(tmp_path, f"{{use: bus.yaml, n: 4, ports: {{common: m, {each}}}}}")
    assert [e.nodes for e in one.elements] == [e.nodes for e in two.elements]


def test_counted_ports_are_written_and_read_again(tmp_path: Path) -> None:
    model = bus(tmp_path, f"{{use: bus.yaml, n: N, ports: {{common: m, {JOINED}}}}}")
    (tmp_path / "again.yaml").write_text(to_yaml(model), encoding="utf-8")
    again = read_model(tmp_path / "again.yaml")
    assert [(e.name, e.nodes, e.value) for e in again.elements] == [(e.name, e.nodes, e.value) for e in model.elements]
    assert again.parts[0].ports == model.parts[0].ports
    (tmp_path / "bar.yaml").write_text(to_yaml(read_model(BUS)), encoding="utf-8")
    assert read_model(tmp_path / "bar.yaml").ports.keys() == read_model(BUS).ports.keys()


WRONG_LINES = [
    (JOINED.replace("1..N", "1..5"), "D605", "has no port 'tap[5]'", "did you mean 'tap["),
    (JOINED.replace('"tap[k]"', "tap"), "D605", "has no port 'tap'", "did you mean 'tap["),
    (JOINED.replace("ports", "port"), "D100", "'port'", "did you mean 'ports'?"),
    (JOINED.replace(', ports: {"tap[k]": "x[k]"}', ""), "D101", "the repeated block taps has no ports", "add 'ports"),
    (JOINED.replace("1..N", "N"), "D140", "not 'first..last'", "write 'k: 1..10'"),
    (JOINED.replace('"x[k]"', '"x[k/2]"'), "D143", "x[k/2]", ""),
]


@pytest.mark.parametrize(("ports", "code", "what", "fix"), WRONG_LINES, ids=[w[0] for w in WRONG_LINES])
def test_wrong_repeated_ports_are_told_what_fits(tmp_path: Path, ports: str, code: str, what: str, fix: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        bus(tmp_path, f"{{use: bus.yaml, n: N, ports: {{common: m, {ports}}}}}")
    found = caught.value.findings[0]
    assert (found.code, what in found.what, fix in found.fix) == (code, True, True), str(found)


def test_a_repeated_port_needs_its_index(tmp_path: Path) -> None:
    bar = BUS.replace('"tap[k]"', "tap")
    with pytest.raises(DescriptionError) as caught:
        bus(tmp_path, "{use: bus.yaml, ports: {common: m}}", bar=bar)
    assert caught.value.findings[0].code == "D613"
    assert "the port 'tap' is described twice" in caught.value.findings[0].what
    assert "phase[k]" in caught.value.findings[0].fix


# Fields with one port for each value of an index

COILS = """\
system: Coils
parameters: {m: 4, L: 2 H, M: 0.5 H}
network:
  all: {repeat: {k: 1..m}, network: {"V[k]": {voltage source: ["a[k]"]}}}
  coils:
    inductor field: ["a[k]", gnd]
    each: {k: 1..m}
    current: "I[k]"
    matrix: "if(row == column, L, M/(1 + abs(row - column)))"
"""


def test_a_field_of_any_number_of_ports() -> None:
    model = read_model(COILS)
    k = np.arange(4)
    apart = np.abs(k[:, None] - k[None, :])
    L = np.where(apart == 0, 2.0, 0.5 / (1 + apart))
    system = numeric(model)
    assert system.states == ("I[1]", "I[2]", "I[3]", "I[4]")
    for s in POINTS:
        assert transfer_at(system, s) == pytest.approx(np.linalg.inv(s * L))
    again = read_model(to_yaml(model))
    assert [(e.name, e.nodes, e.variables) for e in again.elements] == [
        (e.name, e.nodes, e.variables) for e in model.elements
    ]
    assert again.fields[0].matrix == model.fields[0].matrix


def test_a_matrix_may_be_a_formula_where_ports_are_listed() -> None:
    listed = COILS.replace('["a[k]", gnd]', '["a[1]", gnd, "a[2]", gnd, "a[3]", gnd, "a[4]", gnd]')
    listed = listed.replace("    each: {k: 1..m}\n", "").replace('"I[k]"', "[I_1, I_2, I_3, I_4]")
    assert read_model(listed).fields[0].matrix == read_model(COILS).fields[0].matrix


WRONG_FIELDS = [
    ("each: {k: 1..m}", "each: {k: 1..m, j: 1..m}", "D140", "has 2 indices, not one"),
    ("each: {k: 1..m}", "each: {}", "D140", "the each of coils has no index"),
    ('["a[k]", gnd]', '["a[k]"]', "D111", "has 1 nodes, not the two of one port"),
    ("M/(1 + abs(row - column))", "M*colum", "D120", "uses 'colum'"),
    ("M/(1 + abs(row - column))", "M*row", "D166", "is not conservative"),
    ("M/(1 + abs(row - column))", "3 V", "D121", "an entry of coils is in V, not in H"),
    ('current: "I[k]"', "current: I", "D106", "name a variable 'I'"),
]


@pytest.mark.parametrize(("old", "new", "code", "what"), WRONG_FIELDS, ids=[f"{w[2]} {w[1]}" for w in WRONG_FIELDS])
def test_a_wrong_field_is_told_what_fits(old: str, new: str, code: str, what: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(COILS.replace(old, new))
    found = caught.value.findings[0]
    assert found.code == code, str(found)
    assert what in found.what


# Copies whose sources read signals of their own copy

CELLS = """\
system: Cells
parameters: {R_0: 1 ohm, V_0: 2 V}
network:
  all:
    repeat: {k: 1..3}
    network:
      "V[k]": {voltage source: ["a[k]"], signal: "V_0*k - 0.5 ohm*I[k]"}
      "R[k]": {resistor: ["a[k]", "b[k]"], R: R_0*k}
      "L[k]": {inductor: ["b[k]", gnd], L: 1 mH, current: "I[k]"}
"""


def test_a_source_in_a_repeat_follows_the_signal_of_its_own_copy() -> None:
    """At rest 2 k - 0.5 I = k I."""
    run = tg.simulate(read_model(CELLS), until=0.05)
    for k in (1, 2, 3):
        assert run.final()[f"I[{k}]"] == pytest.approx(2 * k / (k + 0.5), rel=1e-6)


def test_such_sources_are_written_one_by_one() -> None:
    model = read_model(CELLS)
    again = read_model(to_yaml(model))
    assert [e.signal for e in again.elements] == [e.signal for e in model.elements]


def test_a_wrong_signal_in_a_repeat_names_the_copy() -> None:
    """`J` alone is a unit, `J[1]` is a name."""
    with pytest.raises(DescriptionError) as caught:
        read_model(CELLS.replace('I[k]"}', 'J[k]"}', 1))
    assert {f.code for f in caught.value.findings} == {"D500"}
    assert "the signal of V[1] uses 'J[1]'" in caught.value.findings[0].what
    assert caught.value.findings[0].fix.startswith("did you mean '")


# Parts in all notations

WINDING = """\
system: Winding
ports: {in: {source: V}, shaft: {source: tau}}
parameters: {L: 2 mH, R: 0.5 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2}
bond graph:
  - Se:V -> 1:i (i)
  - i -> I:L
  - i -> R:R
  - i -> GY:K -> 1:w (omega)
  - w -> I:J
  - Se:tau -> w
"""
PUMP = """\
system: Pump side
ports: {shaft: {source: tau}}
parameters: {J_m: 1e-3 kg*m^2, b_m: 2e-3 N*m*s, K_p: 1e-6 m^3/rad, C_0: 2e-12 m^3/Pa, alpha_p: 2e-11 m^3/(Pa*s)}
pog:
  - section: [omega, tau]
  - parallel: [J:J_m, b:b_m]
  - connect: K_p
  - parallel: [C:C_0, G:alpha_p]
  - section: [P_0, Q_0]
"""
MIXED = """\
system: Motors on a pump
parameters: {R_0: 1 ohm}
parts:
  motors:
    repeat: {k: 1..2}
    parts:
      "motor[k]": {use: winding.yaml, R: R_0*k, ports: {in: "a[k]", shaft: w}}
  load: {use: pump.yaml, J_m: 2e-3 kg*m^2, ports: {shaft: w}}
network:
  all: {repeat: {k: 1..2}, network: {"V[k]": {voltage source: ["a[k]"]}}}
"""


def test_parts_of_three_notations_are_one_system(tmp_path: Path) -> None:
    """Two bond graphs and a ladder, joined in a network, against their impedances; inner names are read and set by their paths."""
    for name, text in (("winding", WINDING), ("pump", PUMP), ("whole", MIXED)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    model = read_model(tmp_path / "whole.yaml")
    system = numeric(model)
    at = [system.inputs.index(f"V[{k}]") for k in (1, 2)]
    for s in POINTS:
        coils = np.array([2e-3 * s + 1, 2e-3 * s + 2])
        shaft = (2 * 1e-3 + 2e-3) * s + 2e-3 + 1e-6**2 / (2e-12 * s + 2e-11)
        back = 0.1**2 / coils
        speed = 0.1 / coils / (shaft + back.sum())  # for each volt
        wanted = np.diag(1 / coils) - np.outer(0.1 / coils, speed)
        assert transfer_at(system, s)[np.ix_(at, at)] == pytest.approx(wanted, rel=1e-9)
    run = tg.simulate(model, until=0.01, inputs={"V[1]": 1.0, "V[2]": 0.0}, parameters={"motor[1].R": 3.0})
    assert run.parameters["motor[1].R"] == 3.0
    assert {"motor[1].i", "motor[2].i", "load.P_0"} <= run.final().keys()
