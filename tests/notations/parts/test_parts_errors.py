"""What a wrong part is told: where it should be, how its ports and parameters are called, what does not fit."""

from pathlib import Path

import pytest

from tellegen import simulate
from tellegen.core.errors import DescriptionError, Finding, SimulationError
from tellegen.notations.network.builder import Network
from tellegen.notations.parts.reading import MOST_LEVELS
from tellegen.notations.reading import read_model

COIL = """\
system: Coil
ports: {ends: [a, b], foot: f}
signal ports: {inputs: [u], outputs: [i]}
parameters: {L: 2 mH, R: 3 ohm, ports: 1}
signals: {u: 1 V}
network:
  L: {inductor: [a, m], current: i}
  R: {resistor: [m, b]}
  K: {spring: [f], K: 1 N/m}
  m: {mass: [f], m: 1 kg}
"""
WHOLE = """\
system: Whole
parameters: {R_1: 7 ohm, T: 1 s}
parts:
  left: {use: coil.yaml, ports: {ends: [p, q]}}
network:
  V: {voltage source: [p, gnd]}
  C: {capacitor: [q, gnd], C: 1 mF}
  M: {mass: [x], m: 1 kg}
"""


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / "whole.yaml"


def findings(folder: Path, whole: str, **files: str) -> tuple[Finding, ...]:
    with pytest.raises(DescriptionError) as caught:
        read_model(write(folder, whole=whole, **{"coil": COIL, **files}))
    return caught.value.findings


def line(text: str) -> str:
    return WHOLE.replace("{use: coil.yaml, ports: {ends: [p, q]}}", text)


ENDS = "ports: {ends: [p, q]}"
WRONG_LINES = [
    (
        "{use: coyl.yaml}",
        "D600",
        "the part 'coyl.yaml' cannot be read: there is no such file or folder",
        "did you mean 'coil.yaml'?",
    ),
    (
        "{use: dc_motor.yaml}",
        "D600",
        "there is no such file or folder",
        "write 'use: dc_motor' for the part of the library",
    ),
    ("{use: coil}", "D600", "the library has no part 'coil'", "write 'coil.yaml' for the file beside the model"),
    ("{use: dc_moter}", "D600", "the library has no part 'dc_moter'", "did you mean 'dc_motor'?"),
    ("{use: whole.yaml}", "D601", "'whole.yaml' is a part of itself", "use another file, or leave the part out"),
    (
        "{use: ../coil.yaml}",
        "D602",
        "the part '../coil.yaml' lies outside the folder of the model",
        "put the file beside",
    ),
    ("{use: sub/../../coil.yaml}", "D602", "lies outside the folder", "put the file beside"),
    ("{use: /etc/coil.yaml}", "D602", "lies outside the folder", "put the file beside"),
    ("{use: 'C:\\coil.yaml'}", "D602", "lies outside the folder", "put the file beside"),
    ("{use: 'sub\\coil.yaml'}", "D602", "lies outside the folder", "put the file beside"),
    ("{use: sub/coil.txt}", "D614", "'sub/coil.txt' is no model file, so it cannot be a part", "ends in .yaml"),
    ("{ports: {ends: p}}", "D614", "the part left does not say what it uses", "add 'use: motor.yaml'"),
    ("{use: coil.yaml, ports: {end: p}}", "D605", "the part left (Coil) has no port 'end'", "did you mean 'ends'?"),
    ("{use: coil.yaml, ports: {z: p}}", "D605", "has no port 'z'", "its ports are 'ends', 'foot'"),
    ("{use: coil.yaml, signals: {v: 1 V}, " + ENDS + "}", "D605", "no signal input 'v'", "its inputs are 'u'"),
    (
        "{use: coil.yaml, ports: {ends: [p, x]}}",
        "D606",
        "the port 'ends' of left is electrical, and the node 'x' is translational: the mass M is there",
        "join it to an electrical node",
    ),
    ("{use: coil.yaml, ports: {ends: [p, frame]}}", "D606", "'frame' is the reference of another domain", "'gnd'"),
    (
        "{use: coil.yaml, ports: {ends: {source: V}, foot: q}}",
        "D606",
        "'q' is electrical: the capacitor C is there",
        "",
    ),
    (
        "{use: coil.yaml, ports: {ends: [p, q, r]}}",
        "D607",
        "the port 'ends' of left is joined to 3 nodes",
        "give one node",
    ),
    ("{use: coil.yaml, ports: {ends: []}}", "D607", "is joined to 0 nodes", "give one node, or two"),
    (
        "{use: coil.yaml, ports: {foot: [x, y], ends: p}}",
        "D607",
        "the port 'foot' of left is joined to 'y' where it stands against 'frame'",
        "to let the part float, offer two nodes of its own, such as 'foot: [a, b]'",
    ),
    (
        "{use: coil.yaml, K_t: 2, " + ENDS + "}",
        "D609",
        "'K_t' is no parameter of the part left (Coil)",
        "its parameters are 'L', 'R'",
    ),
    ("{use: coil.yaml, port: {}}", "D609", "'port' is no parameter of the part left", "did you mean 'ports'?"),
    ("{use: coil.yaml, R: 1 ohm, parameters: {R: 2 ohm}}", "D610", "'R' of the part left is set twice", "keep one"),
    (
        "{use: coil.yaml, names: {V_RR: u_1}, " + ENDS + "}",
        "D473",
        "nothing in the part left (Coil) is called 'V_RR'",
        "did you mean 'V_R'?",
    ),
    ("{use: coil.yaml, names: {current: c}}", "D473", "nothing in the part left", "its names are "),
    ("{use: coil.yaml, names: {R: C}}", "D474", "calls something 'C', which names an element of the whole", "another"),
    ("{use: coil.yaml, names: {i: R_1}}", "D474", "which names a parameter of the whole", "on the line of left"),
    ("{use: coil.yaml, names: {i: j, R: j}}", "D474", "'j' would name two things of the part left", "its own name"),
    ("{use: coil.yaml, names: {i: 2i}}", "D103", "'2i'", ""),
    ("{use: coil.yaml, ports: {ends: {source: W}}}", "D613", "names 'W', which is no element", "the sources are 'V'"),
    ("{use: coil.yaml, ports: {ends: {source: C}}}", "D613", "names 'C', which is not a source", "the sources are 'V'"),
    ("{use: coil.yaml, R: 2 V, " + ENDS + "}", "D121", "'R' of the part left is in V, not in ohm", "give it in ohm"),
    ("{use: coil.yaml, R: T*R_1, " + ENDS + "}", "D121", "'R' of the part left is in", "give it in ohm"),
    (
        "{use: coil.yaml, R: R_2, " + ENDS + "}",
        "D120",
        "'R' of the part left uses 'R_2', which is not a parameter",
        "did you mean 'R_1'?",
    ),
    ("{use: coil.yaml, R: 3*, " + ENDS + "}", "D001", "found the end of the formula", ""),
    ("{use: coil.yaml, R: -3 ohm, L: 0 H, " + ENDS + "}", "D131", "the inductance of left.L is 0", ""),
    ("{use: coil.yaml, signals: {u: R_1}, " + ENDS + "}", "D504", "the signal 'u' of the part left", "give it in V"),
    ("{use: coil.yaml, signals: {u: nobody}, " + ENDS + "}", "D500", "'nobody'", ""),
]


@pytest.mark.parametrize(
    ("text", "code", "what", "fix"), WRONG_LINES, ids=[f"{row[1]} {row[0]}" for row in WRONG_LINES]
)
def test_a_wrong_line_is_told_what_fits(tmp_path: Path, text: str, code: str, what: str, fix: str) -> None:
    found = findings(tmp_path, line(text))
    assert len(found) == 1, "\n".join(map(str, found))
    assert found[0].code == code, str(found[0])
    assert what in found[0].what
    assert fix in found[0].fix
    assert found[0].place is not None
    assert found[0].place.file.endswith(("whole.yaml", "coil.yaml"))


# Files


def test_a_circle_of_files_is_named(tmp_path: Path) -> None:
    a, b = ("system: X\nparts: {p: {use: " + name + ".yaml}}\n" for name in ("b", "a"))
    (found,) = findings(tmp_path, "system: W\nparts: {p: {use: a.yaml}}\n", a=a, b=b)
    assert found.code == "D601"
    assert found.what == "'a.yaml' is a part of itself: a.yaml uses b.yaml uses a.yaml"


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "coil.yaml").write_text(COIL, encoding="utf-8")
    (inside / "link.yaml").symlink_to(tmp_path / "coil.yaml")
    (inside / "folder").symlink_to(tmp_path)
    for use in ("link.yaml", "folder/coil.yaml"):
        (found,) = findings(inside, line(f"{{use: {use}}}"))
        assert found.code == "D602"


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link.yaml").symlink_to(tmp_path / "coil.yaml")
    path = write(tmp_path, whole=line("{use: link.yaml, ports: {ends: [p, q]}}"), coil=COIL)
    assert read_model(path).parts[0].use == "link.yaml"


def test_a_part_below_finds_its_own_parts_beside_itself(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "box.yaml").write_text(
        "system: Box\nports: {ends: [a, b]}\nparts: {coil: {use: coil.yaml, ports: {ends: [a, b]}}}\n", encoding="utf-8"
    )
    (tmp_path / "sub" / "coil.yaml").write_text(COIL, encoding="utf-8")
    path = write(tmp_path, whole=line("{use: sub/box.yaml, ports: {ends: [p, q]}}"))
    assert read_model(path).elements[0].name == "left.coil.L"


def test_the_depth_is_bounded(tmp_path: Path) -> None:
    files = {f"p{k}": f"system: P\nparts: {{p: {{use: p{k + 1}.yaml}}}}\n" for k in range(MOST_LEVELS + 1)}
    (found,) = findings(tmp_path, "system: W\nparts: {p: {use: p0.yaml}}\n", **files)
    assert found.code == "D603"
    assert found.what == f"'p{MOST_LEVELS}.yaml' would be a part at level {MOST_LEVELS + 1}"
    assert found.fix == f"keep the hierarchy within {MOST_LEVELS} levels"


@pytest.mark.parametrize(
    "cell", ["system: C\nnetwork: {}\n", "system: C\nnetwork: {R: {resistor: [a, b], R: 1 ohm}}\n"]
)
def test_parts_of_parts_do_not_exhaust_the_memory(tmp_path: Path, cell: str) -> None:
    many = "system: X\nparts: {many: {repeat: {k: 1..90}, parts: {'p[k]': {use: %s.yaml}}}}\n"
    (found,) = findings(tmp_path, many % "a", a=many % "b", b=many % "cell", cell=cell)
    assert found.code == "D604"
    assert found.what == "there are more than 200000 parts, those inside parts counted"


def test_large_parts_do_not_exhaust_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tellegen.notations.parts import reading

    monkeypatch.setattr(reading, "MOST_ELEMENTS", 10)
    whole = WHOLE.replace("network:", "  right: {use: coil.yaml, ports: {ends: [p, q]}}\nnetwork:")
    (found,) = findings(tmp_path, whole)
    assert (found.code, found.what) == ("D604", "all parts together have more than 10 elements, parameters and signals")


@pytest.mark.parametrize(
    ("old", "new", "word", "fix"),
    [
        ("T: 1 s", "left.R: 1 ohm", "parameter 'left.R'", "write 'R: ...' on the line of left"),
        ("parts:", "signals: {left.u: 1 V}\nparts:", "signal 'left.u'", "choose a name without dots"),
    ],
)
def test_what_belongs_inside_is_not_described_beside(tmp_path: Path, old: str, new: str, word: str, fix: str) -> None:
    (found,) = findings(tmp_path, WHOLE.replace(old, new))
    assert (found.code, found.fix) == ("D611", fix)
    assert found.what == f"the {word} is described beside the part left, where it belongs"


def test_a_text_that_is_no_file_has_nothing_beside_it() -> None:
    with pytest.raises(DescriptionError, match="the model is no file, so nothing lies beside it"):
        read_model("system: W\nparts: {p: {use: coil.yaml}}\n")


def test_errors_in_the_file_of_a_part_are_told_once_at_their_place(tmp_path: Path) -> None:
    whole = WHOLE.replace("network:", "  right: {use: coil.yaml, ports: {ends: [p, q]}}\nnetwork:")
    (found,) = findings(tmp_path, whole, coil=COIL.replace("R: {resistor: [m, b]}", "R: {resistr: [m, b]}"))
    assert found.what == "'resistr' is not a kind of element"
    assert found.place is not None
    assert found.place.file == str(tmp_path / "coil.yaml")
    assert found.place.line == 8


def test_nothing_is_said_about_what_is_in_a_part_that_failed(tmp_path: Path) -> None:
    more = "signals: {s: left.i}\nexperiment: {inputs: {left.E: 1 V}, initial: {left.i: 1 A}, outputs: [left.i]}\n"
    (found,) = findings(tmp_path, line("{use: none.yaml}") + more)
    assert found.code == "D600"
    block = "{repeat: {k: 1..2}, parts: {'p[k]': {use: none.yaml}}}"
    more = "signals: {s: 'p[1].i'}\nexperiment: {initial: {'p[1].i': 1 A}, outputs: ['p[1].i']}\n"
    (found,) = findings(tmp_path, line(block) + more)
    assert found.code == "D600"


def test_a_folder_is_no_part(tmp_path: Path) -> None:
    (tmp_path / "box.yaml").mkdir()
    (found,) = findings(tmp_path, line("{use: box.yaml}"))
    assert found.what == "the part 'box.yaml' cannot be read: it is a folder"


# Names


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("  left: {", "  V: {", "'V' names an element already"),
        ("  left: {", "  power: {", "'power' cannot name a part: it has a meaning of its own in formulas"),
        ("  left: {", "  sin: {", "'sin' cannot name a part: it has a meaning of its own in formulas"),
        ("  left: {", "  a.b: {", "'a.b' cannot name a part: its dots would lead into another part"),
        ("  C: {", "  left.C: {", "the element 'left.C' has a name inside the part left"),
    ],
)
def test_names_are_used_once(tmp_path: Path, old: str, new: str, what: str) -> None:
    (found,) = findings(tmp_path, WHOLE.replace(old, new))
    assert (found.code, found.what) == ("D611", what)


def test_two_copies_of_a_part_need_two_names(tmp_path: Path) -> None:
    whole = "system: W\nparts: {all: {repeat: {k: 1..2}, parts: {p: {use: coil.yaml}}}}\n"
    (found,) = findings(tmp_path, whole)
    assert (found.code, found.what) == ("D611", "'p' names another part already")


def test_an_element_is_not_joined_to_a_node_inside_a_part(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, WHOLE.replace("capacitor: [q, gnd]", "capacitor: [left.m, gnd]"))
    assert found.code == "D612"
    assert found.what == "the capacitor C is joined to 'left.m', inside the part left"
    assert found.fix == "join a port of left to a node: its ports are 'ends', 'foot'"


def test_a_part_is_not_joined_to_a_node_inside_another(tmp_path: Path) -> None:
    whole = WHOLE.replace("network:", "  right: {use: coil.yaml, ports: {ends: left.m}}\nnetwork:")
    (found,) = findings(tmp_path, whole)
    assert (found.code, found.what) == ("D612", "the port 'ends' of right is joined to 'left.m', inside the part left")


# Ports


@pytest.mark.parametrize(
    ("ports", "what"),
    [
        ("{ends: [a, c]}", "the port 'ends' is at 'c', which is no node"),
        ("{ends: [a, f]}", "the port 'ends' lies between two domains"),
        ("{ends: [a, frame]}", "the port 'ends' is electrical, and 'frame' is the reference of another domain"),
        ("{ends: gnd}", "the port 'ends' has no node but references"),
        ("{ends: [a, a]}", "both ends of the port 'ends' are at 'a'"),
        ("{ends: [a, b, f]}", "the port 'ends' has 3 nodes"),
        ("{ends: {source: R}}", "the port 'ends' names 'R', which is not a source"),
        ("{ends: {}}", "the port 'ends' names no source"),
    ],
)
def test_a_port_stands_for_something_in_its_file(tmp_path: Path, ports: str, what: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(COIL.replace("{ends: [a, b], foot: f}", ports))
    assert (caught.value.code, caught.value.what) == ("D613", what)


@pytest.mark.parametrize(
    ("ports", "what"),
    [
        ("{inputs: [w]}", "the signal port 'w' is neither a signal nor an input"),
        ("{inputs: [i]}", "the signal port 'i' is neither a signal nor an input"),
        ("{outputs: [j]}", "the signal port 'j' is neither a signal nor a variable"),
    ],
)
def test_a_signal_port_stands_for_something_in_its_file(ports: str, what: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(COIL.replace("{inputs: [u], outputs: [i]}", ports))
    assert (caught.value.code, caught.value.what) == ("D613", what)


def test_two_ports_that_share_a_node_are_joined_to_one(tmp_path: Path) -> None:
    coil = COIL.replace("foot: f", "tap: [m, b]")
    whole = line("{use: coil.yaml, ports: {ends: [p, q], tap: [r, s]}}")
    (found,) = findings(tmp_path, whole, coil=coil)
    assert found.code == "D607"
    assert found.what == "the ports 'ends' and 'tap' of left share the node 'b', and are joined to 'q' and 's'"


def test_an_element_between_two_ports_at_one_node_is_shorted(tmp_path: Path) -> None:
    coil = COIL.replace("foot: f", "tap: m")
    (found,) = findings(tmp_path, line("{use: coil.yaml, ports: {ends: [p, q], tap: q}}"), coil=coil)
    assert found.code == "D113"
    assert found.what == "both ends of the resistor left.R are at 'q' through the ports of left"


def test_an_open_port_of_a_single_element_is_a_warning(tmp_path: Path) -> None:
    found = read_model(write(tmp_path, whole=line("{use: coil.yaml}"), coil=COIL)).findings
    told = [(f.code, f.severity, f.what) for f in found if f.code != "D139"]  # the bare file has unused parameters
    assert told == [("D608", "warning", "the port 'ends' of left is open")]


def test_a_source_that_formulas_read_keeps_its_place(tmp_path: Path) -> None:
    coil = COIL.replace("ends: [a, b]", "ends: {source: E}").replace("{u: 1 V}", "{u: 1 V, p: u*I_E}")
    coil += "  E: {voltage source: [a, b]}\n"
    (found,) = findings(tmp_path, WHOLE, coil=coil)
    assert found.code == "D615"
    assert found.what == "a formula in the part left reads 'I_E' of the source 'E', which a port replaces"


def test_a_source_is_replaced_once(tmp_path: Path) -> None:
    whole = line("{use: coil.yaml, ports: {ends: {source: V}}}")
    whole = whole.replace("network:", "  right: {use: coil.yaml, ports: {ends: {source: V}}}\nnetwork:")
    (found,) = findings(tmp_path, whole)
    assert (found.code, found.what) == ("D607", "'V' is replaced by left already")


# Counts


def test_a_part_counts_in_whole_numbers(tmp_path: Path) -> None:
    row = """\
system: R
ports: {in: "n[0]"}
parameters: {n: 2}
network: {all: {repeat: {k: 1..n}, network: {"C[k]": {capacitor: ["n[k-1]"], C: 1 F}}}}
"""
    (found,) = findings(tmp_path, line("{use: row.yaml, n: 3/2, ports: {in: p}}"), row=row)
    assert (found.code, found.what) == ("D140", "'n' of the part left is 3/2, and it counts elements")
    net = Network("W")
    net.part("left", read_model(tmp_path / "row.yaml"), n=3)
    with pytest.raises(DescriptionError, match="'n' of the part left decided how many elements the model has"):
        net.model()


def test_a_count_further_inside_is_set_where_it_is_used(tmp_path: Path) -> None:
    row = "system: R\nparts: {pipe: {use: pipe}}\n"
    (found,) = findings(tmp_path, line("{use: row.yaml, pipe.n: 3}"), row=row)
    assert found.code == "D609"
    assert found.what == "'pipe.n' of the part left decides how many elements there are further inside"


def test_a_run_does_not_change_a_count() -> None:
    network = "network: {P: {pressure source: [a]}, Q: {flow source: [b]}}"
    model = read_model(f"system: W\nparts: {{p: {{use: pipe, n: 3, ports: {{in: a, out: b}}}}}}\n{network}\n")
    assert model.counts == {"p.n"}
    with pytest.raises(SimulationError, match=r"'p\.n' decided how many elements 'W' has, so a run cannot change it"):
        simulate(model, until=1, parameters={"p.n": 4})


def test_one_error_is_enough_for_all_copies(tmp_path: Path) -> None:
    whole = "system: W\nparts: {all: {repeat: {k: 1..9}, parts: {'p[k]': {use: coil.yaml, Q: 1}}}}\n"
    (found,) = findings(tmp_path, whole)
    assert found.code == "D609"


def test_a_part_is_described_once_in_python() -> None:
    net = Network("W")
    net.part("m", "dc_motor")
    with pytest.raises(DescriptionError, match="the part 'm' is described twice"):
        net.part("m", "dc_motor")


TWO_MOTORS = """\
system: Two motors on one shaft
parts:
  left:  {use: dc_motor, ports: {electrical: a, shaft: s}}
  right: {use: dc_motor, ports: {electrical: b, shaft: s}}
network: {V_1: {voltage source: [a]}, V_2: {voltage source: [b]}}
"""


def test_a_parameter_that_several_parts_have_is_not_guessed() -> None:
    with pytest.raises(DescriptionError) as raised:
        read_model(TWO_MOTORS.replace("left:  {use: dc_motor,", "left:  {use: dc_motor, R: 2*K,"))
    (found,) = raised.value.findings
    assert (found.code, found.fix) == ("D120", "name the part: 'left.K', 'right.K'")
    with pytest.raises(SimulationError, match=r"name the part: 'left\.K', 'right\.K'"):
        simulate(read_model(TWO_MOTORS), until=1, parameters={"K": 0.2})
    with pytest.raises(SimulationError, match=r"did you mean 'left\.K'\?"):
        simulate(read_model(TWO_MOTORS), until=1, parameters={"left.k": 0.2})
