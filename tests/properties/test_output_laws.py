"""Every variable that a run knows can be asked for by its name, and comes out of every format with its unit and its numbers."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.no_compiler import no_compiler
from tellegen.elements import KINDS
from tellegen.model.model import state_units
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.results.units import variable_units

PART = """\
system: Filter
ports: {in: [p, gnd]}
network: {R_i: {resistor: [p, q], R: 3 ohm}, C_i: {capacitor: [q, gnd], C: 2 mF}}
"""


@dataclass
class Described:
    """A file in the making, and the units that its variables have."""

    network: list[str] = field(
        default_factory=lambda: ["V: {voltage source: [a, gnd]}", "R: {resistor: [a, b], R: 2 ohm}"]
    )
    signals: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=lambda: port("R", "V", "A") | {"V": "V", "I_V": "A", "power.V": "W"})

    def text(self, outputs: list[str]) -> str:
        lines = [f"  {line}" for line in self.network] + self.more
        lines += ["signals:", *(f"  {line}" for line in self.signals)] if self.signals else []
        shown = f"outputs: [{', '.join(outputs)}]" if outputs else ""
        return "\n".join(
            ["system: T", "network:", *lines, f"experiment: {{until: 2 ms, inputs: {{V: 10 V}}, {shown}}}\n"]
        )


def port(name: str, across: str, through: str) -> dict[str, str]:
    letters = {"V": "V", "A": "I", "rad/s": "omega", "N*m": "tau"}
    return {f"{letters[across]}_{name}": across, f"{letters[through]}_{name}": through, f"power.{name}": "W"}


def coil(model: Described) -> None:
    model.network.append("L: {inductor: [b, c], L: 5 mH}")
    model.network.append("R_l: {resistor: [c, gnd], R: 1 ohm}")
    model.units |= port("L", "V", "A") | {"phi_L": "Wb", "energy.L": "J"}


def dependent_capacitors(model: Described) -> None:
    model.network += ["C_1: {capacitor: [b, gnd], C: 1 mF}", "C_2: {capacitor: [b, gnd], C: 3 mF, charge: q_own}"]
    model.units |= port("C_1", "V", "A") | port("C_2", "V", "A") | {"q_C_1": "C", "q_own": "C", "energy.C_2": "J"}


def saturating_coil(model: Described) -> None:
    model.network.append("L_s: {inductor: [b, gnd], law: phi = 2 Wb*tanh(i/(3 A))}")
    model.units |= port("L_s", "V", "A") | {"phi_L_s": "Wb", "energy.L_s": "J"}


def machine(model: Described) -> None:
    model.network.append("M: {dc machine: [b, gnd, s, frame], K: 0.2 N*m/A, voltage: emf, torque: tau_air}")
    model.network += ["J: {inertia: [s], J: 1 g*m^2}", "f: {friction: [s], b: 1 mN*m*s}"]
    model.more += ["displacements: {theta: omega_J}"]
    model.units |= port("J", "rad/s", "N*m") | port("f", "rad/s", "N*m") | {"theta": "rad", "energy.J": "J"}
    model.units |= {"emf": "V", "I_M": "A", "omega_M": "rad/s", "tau_air": "N*m", "power.M": "W"}


def diode(model: Described) -> None:
    model.network.append("D: {diode: [b, gnd], V_f: 1 V, R_on: 0.1 ohm}")
    model.units |= port("D", "V", "A")


def part(model: Described) -> None:
    model.more.append("parts: {p: {use: part.yaml, ports: {in: b}}}")
    model.units |= {"p.V_C_i": "V", "p.I_R_i": "A", "power.p.R_i": "W", "p.q_C_i": "C"}


SIGNALS = {
    "d: V - V_R": "V",
    "p_R: V_R*I_R": "W",
    "w: {integral: power.R}": "J",
    "h: {sample: I_R, every: 1 ms}": "A",
    "l: {low pass: V_R, time constant: 2 ms}": "V",
    "o: {delay: V_R, by: 1 ms}": "V",
    "n: V_R/V": "1",
    "e: r - I_R": "A",
    "m: max(abs(I_R), 0)": "A",
    "u: {pid: r - I_R, K_p: 2 ohm, K_i: 3 ohm/s, K_d: 1 mH, filter: 1 ms, limits: [-9 V, 9 V]}": "V",
}
INNER = {"u": {"u_filter": "A", "u_integral": "V", "u_unlimited": "V"}}


@st.composite
def described(draw: st.DrawFn) -> Described:
    model = Described()
    pieces = (coil, dependent_capacitors, saturating_coil, machine, diode, part)
    for piece in draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=3, unique=True)):
        piece(model)
    for line in draw(st.lists(st.sampled_from(list(SIGNALS)), max_size=4, unique=True)):
        name = line.partition(":")[0]
        model.signals.append(line)
        model.units |= {name: SIGNALS[line], **INNER.get(name, {})}
        if "r -" in line and "r" not in model.units:
            model.signals.append("r: 2*sin(3*t/(1 s))")
            model.units["r"] = "A"  # as what it is compared with
    return model


def read(text: str, folder: str) -> tg.Model:
    (Path(folder) / "part.yaml").write_text(PART, encoding="utf-8")
    (Path(folder) / "model.yaml").write_text(text, encoding="utf-8")
    return read_model(Path(folder) / "model.yaml")


@settings(max_examples=6)
@given(described(), st.data())
def test_what_is_asked_for_comes_out_of_every_format_with_its_unit(model: Described, data: st.DataObject) -> None:
    known = sorted(model.units)
    asked = data.draw(st.lists(st.sampled_from(known), min_size=1, unique=True))
    with tempfile.TemporaryDirectory() as folder, no_compiler():
        run = tg.simulate(
            read(model.text(asked), folder), samples=5, rtol=1e-2, outputs=known[::2] if len(asked) % 2 else ()
        )
        assert {name: run.unit(name) for name in known} == model.units
        assert set(run.shown) <= set(run.final()), "what was asked for is among what is told"
        lines = {words[0]: words[-1] for line in str(run).splitlines() if (words := line.split())}
        for name in run.shown:
            assert lines[name] == model.units[name] or model.units[name] == "1"
        for suffix in (".csv", ".nc", ".parquet", ".mat"):
            saved = tg.read_run(run.with_units().save(Path(folder) / f"run{suffix}"))
            for name in run.names:
                assert np.allclose(saved.values(name), run.values(name), rtol=1e-14, equal_nan=True)
                unit = "" if suffix == ".csv" and run.unit(name) == "1" else run.unit(name)
                assert saved.unit(name) == unit
    assert run.unit(run.shown[0]) in {panel.unit for panel in run.plot().panels}


@settings(max_examples=6)
@given(described())
def test_what_follows_from_variables_of_ports_follows_by_the_laws_of_physics(model: Described) -> None:
    with tempfile.TemporaryDirectory() as folder, no_compiler():
        run = tg.simulate(read(model.text(sorted(model.units)), folder), samples=9, rtol=1e-2)
    v = {name: run.values(name) for name in model.units}

    def same(one: np.ndarray, two: np.ndarray) -> None:
        assert np.allclose(one, two, rtol=1e-9, atol=1e-9)

    same(v["V_R"], 2 * v["I_R"])
    if "q_own" in v:
        same(v["q_own"], 3e-3 * v["V_C_2"])
        same(v["q_C_1"], 1e-3 * v["V_C_1"])
    if "phi_L_s" in v:
        same(v["phi_L_s"], 2 * np.tanh(v["I_L_s"] / 3))
    if "phi_L" in v:
        same(v["phi_L"], 5e-3 * v["I_L"])
    if "emf" in v:
        same(v["emf"], 0.2 * v["omega_J"])
        same(v["tau_air"], 0.2 * v["I_M"])
        same(v["power.M"], v["emf"] * v["I_M"])
        same(v["tau_air"], v["tau_J"] + v["tau_f"])
    if "p.q_C_i" in v:
        same(v["p.q_C_i"], 2e-3 * v["p.V_C_i"])


def test_the_time_is_shown_in_its_unit(tmp_path: Path) -> None:
    run = tg.simulate("dc_motor", samples=4).in_units(t="ms")
    assert "at t = 200 ms" in str(run)
    (panel,) = run.plot("omega").panels
    assert (panel.x_unit, panel.lines[0].x[-1]) == ("ms", 200.0)
    path = run.to_csv(tmp_path / "run.csv")
    assert path.read_text().splitlines()[0].startswith("t [ms],")
    assert path.read_text().splitlines()[-1].startswith("200.0,")
    assert np.allclose(tg.read_run(path).t, run.t)


def test_coordinates_of_closed_loops_keep_their_units() -> None:
    for name in ("crank_rod_mechanism", "five_bar", "trolley_folder"):
        run = tg.simulate(name, until=1e-6, samples=1)
        for coordinate in run.displacement_names:
            assert run.unit(coordinate) == ("m" if coordinate == "x" else "rad")
        assert all(unit for unit in variable_units(run.graph).values())


KINDS_OF_STORAGES = {
    "inertia": "rad/s",
    "mass": "m/s",
    "torsion spring": "N*m",
    "capacitor": "V",
    "accumulator": "Pa",
    "inductor": "A",
}


@given(st.sampled_from(sorted(KINDS_OF_STORAGES)), st.integers(-40, 40).filter(bool))
def test_starts_are_written_in_the_units_of_their_variables(kind: str, start: int) -> None:
    unit = KINDS_OF_STORAGES[kind]
    loss = KINDS[kind].domain.name
    other = {"rotational": "friction", "translational": "damper", "electrical": "resistor", "hydraulic": "leak"}[loss]
    reference = KINDS[kind].domain.reference
    text = (
        f"system: S\nnetwork:\n  X: {{{kind}: [a, {reference}], initial: {start} {unit}}}\n"
        f"  Y: {{{kind}: [a, {reference}]}}\n  Z: {{{other}: [a, {reference}]}}\n"
    )
    model = read_model(text)
    (state,) = [n for n, u in state_units(model.elements).items() if n.endswith("_Y") and u == unit]
    again = read_model(text + f"experiment: {{initial: {{{state}: {start} {unit}}}}}\n")
    written = to_yaml(again)
    assert f"initial: {start} {unit}" in written
    assert f"{state}: {start} {unit}" in written
    assert to_yaml(read_model(written)) == written
