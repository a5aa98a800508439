"""Systems used as parts of others: names, ports, parameters, signals, repeated parts, all notations, and back to a file."""

from dataclasses import replace
from pathlib import Path

import pytest

import tellegen as tg
from support.model_schema import is_valid
from support.transfers import same_transfer
from tellegen.core.errors import Place
from tellegen.core.names import identifier
from tellegen.core.units import parse_unit
from tellegen.expressions import parse, symbol
from tellegen.graph import lower
from tellegen.model.model import Model, all_parts
from tellegen.notations.network.builder import Network
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.notations.yaml.document import read_document

COIL = """\
system: Coil
ports: {ends: [a, b]}
parameters: {L: 2 mH, R: 3 ohm, n: 10, R_hot: R*n/10}
network:
  L: {inductor: [a, m], current: i}
  R: {resistor: [m, b], R: R_hot}
"""
WHOLE = """\
system: Two coils
parameters: {R_1: 7 ohm}
parts:
  left:  {use: coil.yaml, R: R_1, ports: {ends: [p, q]}}
  right: {use: coil.yaml, ports: {ends: q}}
network:
  V: {voltage source: [p, gnd]}
"""
FLAT = """\
system: Two coils
network:
  L_l: {inductor: [p, x], L: 2 mH}
  R_l: {resistor: [x, q], R: 7 ohm}
  L_r: {inductor: [q, y], L: 2 mH}
  R_r: {resistor: [y, gnd], R: 3 ohm}
  V: {voltage source: [p, gnd]}
"""


def write(folder: Path, **files: str) -> Path:
    """Files by name; gives the one called `whole`."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / "whole.yaml"


def read(folder: Path, whole: str = WHOLE, **files: str) -> Model:
    return read_model(write(folder, whole=whole, **{"coil": COIL, **files}))


def placeless(model: Model) -> Model:
    elements = tuple(replace(e, place=None) for e in model.elements)
    parameters = {name: replace(p, place=None) for name, p in model.parameters.items()}
    fields = tuple(replace(f, place=None) for f in model.fields)
    return replace(model, elements=elements, parameters=parameters, fields=fields, source="", findings=())


# Names and values


def test_what_is_in_a_part_has_the_name_of_the_part_before_it(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert [e.name for e in found.elements] == ["left.L", "left.R", "right.L", "right.R", "V"]
    assert found.elements[0].nodes == ("p", "left.m")
    assert found.elements[2].nodes == ("q", "right.m")
    assert found.elements[3].nodes == ("right.m", "gnd")
    assert found.elements[0].variables == {"through": "left.i"}
    assert tg.derive(found).states == ("left.i",)  # the coils are in series


def test_parameters_are_local_unless_the_line_binds_them(tmp_path: Path) -> None:
    parameters = read(tmp_path).parameters
    assert parameters["left.R"].expression is parse("R_1")
    assert parameters["left.R"].dimension == parse_unit("ohm").dimension
    assert parameters["right.R"].expression is parse("3")
    assert parameters["left.R_hot"].expression is parse("left.R*left.n/10")


def test_a_model_of_parts_equals_the_flat_model(tmp_path: Path) -> None:
    same_transfer(read(tmp_path), read_model(FLAT))


def test_names_are_identifiers_outside_the_program(tmp_path: Path) -> None:
    record = tg.check(read(tmp_path)).to_json()
    assert record["states"] == ["left__i"]
    assert record["parts"] == {"left": "coil.yaml", "right": "coil.yaml"}
    assert identifier("m[3].coil.x") == "m_3__coil__x"


def test_the_place_of_an_element_is_in_the_file_of_its_part(tmp_path: Path) -> None:
    assert read(tmp_path).elements[0].place == Place(str(tmp_path / "coil.yaml"), 5, 3, "L")


def test_default_names_of_variables_stand_inside_the_part() -> None:
    found = read_model(
        "system: A\nparts: {m: {use: dc_motor, ports: {electrical: a}}}\nnetwork: {V: {voltage source: [a]}}"
    )
    run = tg.derive(found)
    assert run.states == ("m.i", "m.omega")
    assert "m.V_R" in {port.across for port in lower(found).ports}


def test_parts_before_the_network_come_first_and_parts_behind_it_last(tmp_path: Path) -> None:
    head, parts, network = (
        WHOLE.partition("parts:")[0],
        WHOLE[WHOLE.index("parts:") : WHOLE.index("network:")],
        WHOLE[WHOLE.index("network:") :],
    )
    assert read(tmp_path, head + network + parts).elements[0].name == "V"


def test_initial_values_inputs_and_outputs_address_what_is_inside(tmp_path: Path) -> None:
    coil = COIL.replace("[a, b]}\n", "[a, b]}\nexperiment: {until: 9 s}\n") + "  E: {voltage source: [a, b]}\n"
    whole = (
        WHOLE + "experiment: {until: 1 s, inputs: {left.E: step(2 V)}, initial: {right.i: 1 A}, outputs: [left.V_R]}\n"
    )
    whole = whole.replace("  V: {voltage source: [p, gnd]}", "  G: {conductance: [p, gnd], G: 1 S}")
    found = read(tmp_path, whole, coil=coil)
    assert found.inputs == ("left.E", "right.E")
    assert found.experiment.until is parse("1"), "the experiment of a part does not count"
    assert found.experiment.initial == {"right.i": parse("1")}
    assert found.experiment.outputs == ("left.V_R",)


def test_a_name_finds_the_library_and_examples_that_offer_ports() -> None:
    library = read_model(
        "system: A\nparts: {m: {use: dc_motor, ports: {electrical: a}}}\nnetwork: {V: {voltage source: [a]}}"
    )
    assert library.parts[0].model.name == "DC motor"
    example = read_model(
        "system: A\nparts: {m: {use: loudspeaker, ports: {terminals: a}}}\nnetwork: {V: {voltage source: [a]}}"
    )
    assert example.inputs == ("V",)


def test_a_formula_of_the_whole_reads_what_is_inside(tmp_path: Path) -> None:
    found = read(tmp_path, WHOLE + "signals: {p: left.i^2*left.R}\n")
    assert found.signals["p"].dimension == parse_unit("W").dimension


# Parts in parts


def test_parts_have_parts(tmp_path: Path) -> None:
    pair = (
        "system: Pair\nports: {ends: [p, gnd]}\nparameters: {R_p: 5 ohm}\n"
        + WHOLE.partition("parameters: {R_1: 7 ohm}\n")[2]
    )
    pair = pair.replace("R: R_1", "R: R_p").replace("network:\n  V: {voltage source: [p, gnd]}\n", "")
    whole = "system: W\nparts: {drive: {use: pair.yaml, right.R: 4 ohm, ports: {ends: a}}}\nnetwork: {V: {voltage source: [a]}}"
    found = read(tmp_path, whole, pair=pair)
    assert [name for name, _ in all_parts(found)] == ["drive", "drive.left", "drive.right"]
    assert found.elements[0].name == "drive.left.L"
    assert found.elements[0].nodes == ("a", "drive.left.m")
    assert found.parameters["drive.left.R"].expression is parse("drive.R_p")
    assert found.parameters["drive.right.R"].expression is parse("4")


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    reads = "tellegen.notations.parts.reading.read_document"
    monkeypatch.setattr(reads, lambda path: opened.append(path.name) or read_document(path))  # type: ignore[func-returns-value]
    read(tmp_path)
    assert opened == ["coil.yaml"]


# Repeated parts


CHAIN = """\
system: Chain
parameters: {R_0: 2 ohm}
parts:
  chain:
    repeat: {k: 1..3}
    parts:
      "m[k]": {use: coil.yaml, R: R_0*k, ports: {ends: ["n[k-1]", "n[k]"]}}
network:
  V: {voltage source: ["n[0]", "n[3]"]}
"""


def test_a_part_is_repeated_like_an_element(tmp_path: Path) -> None:
    found = read(tmp_path, CHAIN)
    assert [part.name for part in found.parts] == ["m[1]", "m[2]", "m[3]"]
    assert found.elements[2].name == "m[2].L"
    assert found.elements[2].nodes == ("n[1]", "m[2].m")
    assert found.parameters["m[3].R"].expression is parse("3*R_0")


def test_a_parameter_that_counts_makes_a_larger_part(tmp_path: Path) -> None:
    line = """\
system: Line
ports: {in: "n[0]"}
parameters: {n: 2, R: 1 ohm}
network:
  cells: {repeat: {k: 1..n}, network: {"R[k]": {resistor: ["n[k-1]", "n[k]"], R: R}, "C[k]": {capacitor: ["n[k]"], C: 1 mF}}}
"""
    whole = """\
system: W
parameters: {N: 3}
parts: {short: {use: line.yaml, ports: {in: a}}, long: {use: line.yaml, n: 2*N, R: 5 ohm, ports: {in: a}}}
network: {V: {voltage source: [a]}}
"""
    found = read(tmp_path, whole, line=line)
    assert sum(e.name.startswith("short.") for e in found.elements) == 4
    assert sum(e.name.startswith("long.") for e in found.elements) == 12
    assert found.parameters["long.n"].expression is parse("2*N")
    assert placeless(read_model(write(tmp_path, whole=to_yaml(found)))) == placeless(found)


# Signals


CONTROLLED = """\
system: Controlled coil
ports: {ends: [a, gnd]}
signal ports: {inputs: [i_ref, E], outputs: [e]}
signals: {i_ref: 1 A, e: i_ref - i, u: 3 ohm*e}
network:
  E: {voltage source: [x, y]}
  U: {voltage source: [a, x], signal: u}
  L: {inductor: [y, gnd], L: 1 mH, current: i}
"""


def test_a_signal_input_is_given_a_formula_of_the_whole(tmp_path: Path) -> None:
    whole = """\
system: W
parameters: {I_0: 2 A}
signals: {i_s: I_0*sin(t*1 rad/s)}
parts:
  one: {use: controlled.yaml, signals: {i_ref: i_s + 1 A, E: 2 V}, ports: {ends: a}}
  two: {use: controlled.yaml, signals: {i_ref: one.e}, ports: {ends: a}}
network: {R: {resistor: [a], R: 1 ohm}}
"""
    found = read(tmp_path, whole, controlled=CONTROLLED)
    assert found.signals["one.i_ref"].settings["formula"] is parse("i_s + 1")
    assert found.signals["two.i_ref"].settings["formula"] is parse("one.e")
    assert found.signals["one.e"].settings["formula"] is parse("one.i_ref - one.i")
    by_name = {e.name: e for e in found.elements}
    assert by_name["one.E"].signal is parse("2")
    assert by_name["two.E"].signal is None
    assert by_name["one.U"].signal is parse("one.u")
    assert tg.check(found).ok


def test_a_loop_of_signals_through_two_parts_is_found(tmp_path: Path) -> None:
    gain = """\
system: G
signal ports: {inputs: [u], outputs: [y]}
signals: {u: 1, y: u + 1}
network: {R: {resistor: [a, b], R: 1 ohm}}
"""
    whole = "system: W\nparts: {a: {use: gain.yaml, signals: {u: b.y}}, b: {use: gain.yaml, signals: {u: a.y}}}\n"
    with pytest.raises(tg.DescriptionError, match=r"a\.y"):
        read(tmp_path, whole, gain=gain)


# Sources that parts replace


def test_a_port_may_take_the_place_of_a_source_in_the_part(tmp_path: Path) -> None:
    coil = COIL.replace("{ends: [a, b]}", "{ends: {source: E}}") + "  E: {voltage source: [a, b]}\n"
    same_transfer(read(tmp_path, coil=coil), read(tmp_path))


def test_a_source_that_pulls_is_replaced_as_well() -> None:
    part = Network("Slide")
    part.mass("m", "x", m="1 kg")
    part.force_source("F", "x", "frame")
    part.port("end", source="F")
    assert part.model().ports["end"].nodes == ("x", "frame")
    whole = Network("W")
    whole.part("slide", part, ports={"end": "y"})
    whole.damper("b", "y", "frame", b="1 N*s/m")
    assert [e.nodes for e in whole.model().elements] == [("y", "frame"), ("y", "frame")]


def test_a_source_stays_where_its_port_is_not_joined(tmp_path: Path) -> None:
    coil = COIL.replace("{ends: [a, b]}", "{ends: {source: E}}") + "  E: {voltage source: [a, b]}\n"
    whole = "system: W\nparts: {only: {use: coil.yaml}}\n"
    assert read(tmp_path, whole, coil=coil).inputs == ("only.E",)


BOND = """\
system: Motor as a bond graph
ports: {electrical: {source: V}, shaft: {source: tau}}
parameters: {L: 2 mH, R: 0.8 ohm, K: 0.06 N*m/A, J: 1e-4 kg*m^2, b: 2e-4 N*m*s}
bond graph:
  - Se:V -> 1:i (i)
  - i -> I:L
  - i -> R:R
  - i -> GY:K -> 1:w (omega)
  - w -> I:J
  - w -> R:b
  - Se:tau -> w
"""
LADDER = """\
system: Motor as a ladder
ports: {electrical: {source: V}, shaft: {source: tau}}
parameters: {L: 2 mH, R: 0.8 ohm, K: 0.06 N*m/A, J: 1e-4 kg*m^2, b: 2e-4 N*m*s}
pog:
  - section: [V, i]
  - series: [I:L, R:R]
  - connect: K
  - parallel: [J:J, b:b]
  - section: [omega, tau]
"""


@pytest.mark.parametrize("motor", [BOND, LADDER], ids=["bond graph", "ladder"])
def test_a_part_may_be_a_bond_graph_or_a_ladder(tmp_path: Path, motor: str) -> None:
    whole = """\
system: W
parts: {m: {use: motor.yaml, R: 2 ohm, ports: {electrical: a, shaft: s}}}
network: {V: {voltage source: [a]}, load: {friction: [s], b: 1e-3 N*m*s}}
"""
    same_transfer(read(tmp_path, whole, motor=motor), read(tmp_path, whole.replace("motor.yaml", "dc_motor")))


@pytest.mark.parametrize(
    "notation",
    [
        "bond graph:\n  - Se:V -> 1:i (electrical)\n  - i -> R:R_s\n  - i -> Se:E\n",
        "pog:\n  - domain: electrical\n  - section: [V, i]\n  - series: [R:R_s]\n  - section: [E, i_2]\n",
    ],
    ids=["bond graph", "ladder"],
)
def test_a_part_takes_the_place_of_a_source_in_any_notation(tmp_path: Path, notation: str) -> None:
    whole = f"""\
system: W
parameters: {{R_s: 1 ohm}}
{notation}parts: {{m: {{use: dc_motor, ports: {{electrical: {{source: E}}}}}}}}
"""
    network = """\
system: W
network: {V: {voltage source: [x]}, R_s: {resistor: [x, a], R: 1 ohm}}
parts: {m: {use: dc_motor, ports: {electrical: a}}}
"""
    found = read_model(whole)
    assert found.inputs == ("V",)
    same_transfer(found, read_model(network))


# And back


def test_a_model_with_parts_is_written_with_its_parts(tmp_path: Path) -> None:
    found = read(tmp_path)
    text = to_yaml(found)
    assert "  left: {use: coil.yaml, ports: {ends: [p, q]}, R: R_1}\n" in text
    assert "  right: {use: coil.yaml, ports: {ends: q}}\n" in text
    assert "left.L" not in text
    assert placeless(read_model(write(tmp_path, whole=text))) == placeless(found)


@pytest.mark.parametrize("whole", [WHOLE, CHAIN], ids=["two", "repeated"])
def test_a_flattened_model_is_a_file_of_its_own(tmp_path: Path, whole: str) -> None:
    found = read(tmp_path, whole)
    text = to_yaml(replace(found, parts=()))
    assert "use" not in text
    assert placeless(read_model(text)) == placeless(found)


def test_a_part_that_was_changed_is_written_element_by_element(tmp_path: Path) -> None:
    found = read(tmp_path)
    changed = replace(found, elements=(replace(found.elements[0], initial=parse("1")), *found.elements[1:]))
    text = to_yaml(changed)
    assert "  right: {use: coil.yaml, ports: {ends: q}}\n" in text
    assert "left.L:" in text
    assert "left: {use" not in text


def test_signals_fields_modes_and_multiports_survive(tmp_path: Path) -> None:
    rich = """\
system: Rich
ports: {shaft: s, supply: [a, b]}
signal ports: {inputs: [u], outputs: [v]}
parameters: {M: 1 mH, L: 4 mH, p: 2, K_1: p*sin(theta), gap: 1 mm}
displacements: {theta: omega, x: v_m}
signals: {u: 2 V, v: {pid: u - w, K_p: 2, K_i: p}, w: {across: [a, b]}}
network:
  coils: {inductor field: [a, x, b, y], matrix: [[L, M], [M, L]], current: [i_1, i_2]}
  rotor:
    multiport: [x, gnd, y, gnd, s, frame]
    domains: [electrical, electrical, rotational]
    relation: through_3 = K_1*through_1 + p*through_2
  J: {inertia: [s], J: 1 g*m^2, angular velocity: omega}
  D: {diode: [a, b], R_on: p*1 mohm}
  F: {damper: [z], law: F = 2 N*s/m*v + p*1 N*s^2/m^2*v*abs(v)}
  m: {mass: [z], m: 1 kg}
  stop: {hard stop: [z, frame], gap: gap - x, K: 1e5 N/m}
  U: {voltage source: [c, gnd], signal: v}
  R: {resistor: [c, a], R: 1 ohm}
"""
    whole = """\
system: W
parts: {r: {use: rich.yaml, p: 3, signals: {u: 1 V}, ports: {supply: c}}}
network: {R: {resistor: [c], R: 1 ohm}}
"""
    found = read(tmp_path, whole, rich=rich)
    assert found.displacements["r.theta"] is parse("r.omega")
    assert found.parameters["r.K_1"].expression is parse("r.p*sin(r.theta)")
    assert found.fields[0].members == tuple(e.name for e in found.elements[:2])
    assert found.signals["r.w"].settings["across"] == ("c", "gnd")
    flat = read_model(to_yaml(replace(found, parts=())))
    assert placeless(flat).elements == placeless(found).elements
    assert {n: s.settings for n, s in flat.signals.items()} == {n: s.settings for n, s in found.signals.items()}
    again = read_model(write(tmp_path, whole=to_yaml(found)))
    assert placeless(again) == placeless(found)


# Python


def test_a_network_takes_parts_from_the_library_from_files_and_from_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, coil=COIL)
    monkeypatch.chdir(tmp_path)
    cell = Network("Cell")
    cell.resistor("R", "a", "b", R="1 ohm")
    cell.port("ends", "a", "b")
    net = Network("W")
    net.parameter("K_m", "0.1 N*m/A")
    net.voltage_source("V", "p", "gnd")
    net.part("motor", "dc_motor", ports={"electrical": ["p", "q"]}, K="K_m")
    net.part("coil", "coil.yaml", ports={"ends": ["q", "r"]}, n=20)
    net.part("cell", cell, ports={"ends": "r"}, R="2 ohm")
    found = net.model()
    assert [part.name for part in found.parts] == ["motor", "coil", "cell"]
    assert found.elements[0].name == "V"
    assert found.parameters["motor.K"].expression is parse("K_m")
    assert found.parameters["coil.n"].expression is parse("20")
    assert found.parameters["cell.R"].expression is parse("2")
    assert "cell.R: {resistor" in to_yaml(found), "what was built in Python has no file"
    assert tg.check(net).ok


def test_a_network_offers_ports_and_takes_signals() -> None:
    part = Network("P")
    part.signal("u", "1 V")
    part.voltage_source("E", "a", "gnd", signal="u")
    part.inductor("L", "a", "b", L="1 mH", current="i")
    part.port("out", "b")
    part.signal_ports(inputs=["u"], outputs=["i"])
    whole = Network("W")
    whole.part("p", part.model(), ports={"out": "x"}, signals={"u": "3 V*sin(t*1 rad/s)"})
    whole.resistor("R", "x", "gnd", R="1 ohm")
    assert whole.model().signals["p.u"].settings["formula"] is parse("3*sin(t)")
    assert part.model().ports["out"].nodes == ("b", "gnd")


# The schema


@pytest.mark.parametrize("text", [COIL, WHOLE, CHAIN, CONTROLLED, BOND, "system: A\nparts: {m: {use: dc_motor}}\n"])
def test_the_schema_knows_parts_and_ports(text: str) -> None:
    assert is_valid(text)


@pytest.mark.parametrize(
    "text",
    [
        "system: A\nparts: {m: {ports: {shaft: s}}}\n",
        "system: A\nparts: {m: {use: x.yaml, ports: {shaft: [a, b, c]}}}\n",
        "system: A\nports: {shaft: {sauce: V}}\nnetwork: {}\n",
        "system: A\nsignal ports: {in: [u]}\nnetwork: {}\n",
    ],
)
def test_the_schema_refuses_what_is_no_part(text: str) -> None:
    assert not is_valid(text)


# -- names that the line of a part chooses ----------------------------------------------------------------------------------------

NAMED = """\
system: Named
ports: {ends: [a, b]}
parameters: {R: 3 ohm, k: 2}
displacements: {q: i}
signals: {loss: power.R, drop: k*V_R}
network:
  L: {inductor: [a, m], L: 2 mH, current: i}
  R: {resistor: [m, b]}
"""
WHOLE_OF_NAMED = """\
system: Whole
parts:
  coil: {use: named.yaml, ports: {ends: p}, names: NAMES}
network:
  V: {voltage source: [p, gnd]}
"""


def named(folder: Path, names: str) -> Model:
    (folder / "named.yaml").write_text(NAMED, encoding="utf-8")
    (folder / "whole.yaml").write_text(WHOLE_OF_NAMED.replace("NAMES", names), encoding="utf-8")
    return read_model(folder / "whole.yaml")


def test_the_line_of_a_part_names_what_is_inside(tmp_path: Path) -> None:
    model = named(tmp_path, "{i: I_a, q: q_a, R: R_a, loss: P}")
    assert [e.name for e in model.elements] == ["coil.L", "R_a", "V"]
    assert set(model.parameters) == {"R_a", "coil.L", "coil.k"}
    assert dict(model.displacements) == {"q_a": symbol("I_a")}
    assert model.signals["P"].settings["formula"] == symbol("power.R_a")
    assert model.signals["coil.drop"].settings["formula"] == symbol("coil.k") * symbol("V_R_a")
    system = tg.derive(model)
    assert system.states == ("I_a",)
    assert str(system.A[0]) == "R_a"


def test_a_part_can_keep_its_own_names(tmp_path: Path) -> None:
    model = named(tmp_path, "own")
    assert [e.name for e in model.elements] == ["L", "R", "V"]
    assert set(model.parameters) == {"R", "L", "k"}
    assert model.signals["loss"].settings["formula"] == symbol("power.R")
    assert model.signals["drop"].settings["formula"] == parse("k*V_R")
    assert "names: own" in to_yaml(model)


def test_variables_called_after_an_element_can_be_named(tmp_path: Path) -> None:
    model = named(tmp_path, "{V_R: u, i: i}")
    assert model.elements[1].name == "coil.R"
    assert model.elements[1].variables == {"across": "u"}
    assert model.signals["coil.loss"].settings["formula"] == symbol("power.coil.R")
    assert model.signals["coil.drop"].settings["formula"] == symbol("coil.k") * symbol("u")


@pytest.mark.parametrize("names", ["own", "[i, R]", "{i: I_a, q: q_a, R: R_a, loss: P}"])
def test_chosen_names_are_written_and_read_again(tmp_path: Path, names: str) -> None:
    model = named(tmp_path, names)
    (tmp_path / "again.yaml").write_text(to_yaml(model), encoding="utf-8")
    again = read_model(tmp_path / "again.yaml")
    assert again.parts[0].names == model.parts[0].names
    assert [(e.name, dict(e.variables)) for e in again.elements] == [
        (e.name, dict(e.variables)) for e in model.elements
    ]
