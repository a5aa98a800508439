"""POG_Modeler netlists as models: the published examples, signs, names, values and connection blocks."""

import gc
from importlib.resources import files
from pathlib import Path

import pytest

import tellegen as tg
from notations.netlist.netlist_expectations import EXPECTED
from tellegen.expressions import number, parse, symbol
from tellegen.model.model import Element, Model
from tellegen.notations.netlist.lines import DEFAULTS, NAMES, OPTIONS, PHYSICS, SPELLINGS
from tellegen.notations.netlist.loading import load_netlist, read_netlist
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

EXAMPLES = Path(str(files("tellegen"))) / "systems" / "pog_netlists"
LOOP = "eV, 1, 0, En, V_a\neR, 1, 2, Kn, R_a\neC, 2, 0, Kn, C_1, En, V_1\n"


def example(name: str) -> Model:
    return read_netlist(EXAMPLES / f"{name}.txt")


def element(model: Model, name: str) -> Element:
    return next(e for e in model.elements if e.name == name)


def only(text: str) -> Element:
    """The element of the first line, in a loop that closes it."""
    return read_netlist(f"{text}\neR, 1, 2, Kn, R_z\neV, 1, 2, En, V_z\n").elements[0]


def states(model: Model) -> tuple[str, ...]:
    return tuple(e.variables[e.kind.side] for e in model.elements if e.kind.role == "storage")


def codes(model: Model) -> list[str]:
    return [finding.code for finding in model.findings]


# The published examples


@pytest.mark.parametrize("name", EXPECTED)
def test_states_inputs_and_storages_of_an_example_come_in_the_order_of_its_lines(name: str) -> None:
    model, expected = example(name), EXPECTED[name]
    assert states(model) == expected.states
    assert model.inputs == expected.inputs
    assert tuple(str(e.value) for e in model.elements if e.kind.role == "storage") == expected.L


@pytest.mark.parametrize("name", EXPECTED)
def test_expected_matrices_have_fitting_shapes(name: str) -> None:
    expected = EXPECTED[name]
    n, m = len(expected.states), len(expected.inputs)
    shapes = [
        (len(matrix), {len(row) for row in matrix}) for matrix in (expected.A, expected.B, expected.C, expected.D)
    ]
    assert shapes == [(n, {n}), (n, {m}), (m, {n}), (m, {m})]


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_of_sources_with_pin_1_are_those_that_a_notice_tells_of(name: str) -> None:
    model = example(name)
    sources = [e for e in model.elements if e.kind.role == "source"]
    assert tuple(k for k, e in enumerate(sources) if e.notes.get("Pin") == "1") == EXPECTED[name].turned
    assert codes(model).count("D234") == len(EXPECTED[name].turned)


def test_every_published_example_is_expected() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.txt")} == set(EXPECTED)


def test_example_1_in_full() -> None:
    model = example("example_1")
    assert [(e.name, e.kind.name, e.nodes) for e in model.elements] == [
        ("I_a", "current source", ("a", "1")),
        ("C_1", "capacitor", ("1", "a")),
        ("R_a", "resistor", ("1", "2")),
        ("C_2", "capacitor", ("2", "3")),
        ("L_3", "inductor", ("3", "4")),
        ("C_3", "capacitor", ("4", "a")),
        ("I_b", "current source", ("4", "a")),
    ]
    assert {name: str(p.expression) for name, p in model.parameters.items()} == {
        "C_1": "0.003",
        "R_a": "20",
        "C_2": "30",
        "L_3": "None",
        "C_3": "50",
    }
    assert [e.initial for e in model.elements] == [None, number(3), None, number(4), None, number(6), None]
    assert {name: signal.arguments for name, signal in model.experiment.inputs.items()} == {
        "I_a": (number(10),),
        "I_b": (number(0),),
    }
    assert model.name == "example_1"
    assert model.source.endswith("example_1.txt")


def test_example_12_joins_three_domains_by_its_connection_blocks() -> None:
    model = example("example_12")
    motor, pump = element(model, "K_m"), element(model, "K_p")
    assert motor.kind.domains == ("electrical", "rotational")
    assert (motor.kind.coupling, motor.kind.reciprocal, motor.nodes) == ("transformer", False, ("3", "0", "4", "frame"))
    assert motor.variables == {"across_1": "E_m", "across_2": "w_2", "through_1": "I_1", "through_2": "T_m"}
    assert pump.kind.domains == ("rotational", "hydraulic")
    assert (pump.kind.coupling, pump.kind.reciprocal, pump.nodes) == ("gyrator", False, ("4", "frame", "6", "D"))
    assert (motor.value, pump.value) == (symbol("K_m"), symbol("K_p"))


def test_example_12_gives_the_label_of_a_storage_to_the_storage_and_numbers_the_others() -> None:
    model = example("example_12")
    assert element(model, "L_a").variables == {"through": "I_a"}
    assert element(model, "V_a").variables == {"across": "V_a", "through": "I_a_2"}
    assert element(model, "J_m").variables == {"across": "w_1"}
    assert element(model, "K_p").variables["across_1"] == "w_1_2"
    told = [finding.what for finding in model.findings if finding.code == "D232"]
    assert told == [
        "'I_a' names something else already: here it is called 'I_a_2'",
        "'w_1' names something else already: here it is called 'w_1_2'",
    ]


def test_example_4_gives_a_label_to_the_input_before_a_resistor_met_earlier() -> None:
    model = example("example_4")
    assert element(model, "V_b").variables["across"] == "V_b"
    assert element(model, "R_b").variables["across"] == "V_b_2"


def test_an_option_that_the_help_does_not_list_is_kept_with_a_notice() -> None:
    model = example("example_12")
    assert element(model, "K_0").notes["Dir"] == "No"
    (finding,) = (f for f in model.findings if f.code == "D230")
    assert finding.what == "'Dir' is not an option of POG_Modeler; it is kept without effect"
    assert finding.place is not None
    assert (finding.place.line, finding.place.column, finding.place.text) == (12, 38, "Dir")


@pytest.mark.parametrize("line", ["eR, 1, 0, , V_a=10", "eR, 1, 0\n--, 1, 2, , x", "eR, 1, 0\n**, , x"])
def test_an_option_without_a_name_is_left_out_of_what_is_written(line: str) -> None:
    model = read_netlist(f"eV, 1, 0, En, V_a\n{line}\n")
    assert [f.what for f in model.findings if f.code == "D230"] == ["an option has no name; its value is left out"]
    assert [e.name for e in read_model(to_yaml(model)).elements] == [e.name for e in model.elements]


# Signs


@pytest.mark.parametrize("code", ["eV", "mV", "rW", "iP"])
@pytest.mark.parametrize("pin", ["", ", Pin, 1", ", Pin, -1"])
def test_an_across_source_goes_from_its_first_point_to_its_second_whatever_pin_says(code: str, pin: str) -> None:
    resistor = {"e": "eR", "m": "mB", "r": "rB", "i": "iR"}[code[0]]
    model = read_netlist(f"{code}, p, q, En, u{pin}\n{resistor}, p, q, Kn, K_1\n")
    assert model.elements[0].nodes == ("p", "q")
    assert codes(model) == (["D234"] if pin == ", Pin, 1" else [])


@pytest.mark.parametrize("code", ["eI", "mF", "rT", "iQ"])
@pytest.mark.parametrize(("pin", "nodes"), [("", ("q", "p")), (", Pin, -1", ("q", "p")), (", Pin, 1", ("p", "q"))])
def test_a_through_source_drives_out_of_its_first_point_unless_pin_is_1(
    code: str, pin: str, nodes: tuple[str, str]
) -> None:
    resistor = {"e": "eR", "m": "mB", "r": "rB", "i": "iR"}[code[0]]
    model = read_netlist(f"{code}, p, q, Fn, u{pin}\n{resistor}, p, q, Kn, K_1\n")
    assert model.elements[0].nodes == nodes
    assert model.inputs == ("u",)


def test_the_notice_on_pin_1_says_which_output_has_the_other_sign() -> None:
    model = read_netlist("eV, 1, 0, En, V_a, Pin, 1\neR, 1, 0, Kn, R_a\n")
    (finding,) = model.findings
    assert finding.what == "Pin, 1 on a source: its output, the current, has the other sign than in POG_Modeler"
    assert finding.severity == "notice"


def test_pin_minus_1_on_an_inductor_turns_it_so_that_its_current_keeps_its_direction() -> None:
    turned = only("eL, 1, 2, Kn, L_a, Fn, I_a=3, Pin, -1")
    assert turned.nodes == ("2", "1")
    assert turned.initial == number(3)


def test_pin_minus_1_on_a_capacitor_leaves_its_voltage_as_it_is() -> None:
    assert only("eC, 1, 2, Kn, C_a, En, V_a, Pin, -1").nodes == ("1", "2")


# Points and lines


def test_points_joined_by_wires_are_one_node_with_the_label_met_first() -> None:
    model = read_netlist("--, c, b\neV, 1, a\neR, 1, d, Kn, R_a\n--, a, b\n--, d, c\n")
    assert [e.nodes for e in model.elements] == [("1", "c"), ("1", "c")]
    assert model.elements[1].notes["points"] == "1, d"


def test_points_that_differ_by_a_zero_or_by_case_are_different() -> None:
    model = read_netlist("eV, 1, a\neR, 1, 01, Kn, R_a\neR, 01, A, Kn, R_b\neR, A, a, Kn, R_c\n")
    assert [e.nodes for e in model.elements] == [("1", "a"), ("1", "01"), ("01", "A"), ("A", "a")]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_blank_lines_comments_and_a_byte_order_mark_change_nothing(ending: str) -> None:
    plain = read_netlist(LOOP)
    text = "\ufeff% a loop, drawn by hand\n\n   \n" + LOOP.replace("R_a", "R_a % the coil") + "  % the end"
    assert [e.nodes for e in read_netlist(text.replace("\n", ending)).elements] == [e.nodes for e in plain.elements]
    assert read_netlist(text.replace("\n", ending)).parameters.keys() == plain.parameters.keys()


def test_a_file_without_a_final_newline_and_without_blanks_after_commas_is_read(tmp_path: Path) -> None:
    path = tmp_path / "loop.txt"
    path.write_bytes(LOOP.replace(", ", ",").rstrip().replace("\n", "\r\n").encode())
    model = read_netlist(path)
    assert [e.name for e in model.elements] == ["V_a", "R_a", "C_1"]
    assert model.name == "loop"


def test_a_comma_at_the_end_of_a_line_is_no_field() -> None:
    assert read_netlist(LOOP.replace("R_a", "R_a,")).parameters.keys() == read_netlist(LOOP).parameters.keys()


def test_an_old_encoding_in_a_comment_is_read_with_a_notice(tmp_path: Path) -> None:
    path = tmp_path / "loop.txt"
    path.write_bytes("% velocità\n".encode("cp1252") + LOOP.encode())
    assert codes(read_netlist(path)) == ["D240"]


def test_what_is_about_the_drawing_is_kept_as_text() -> None:
    text = "**, Gr, Si, pog_IntM, No\n**, Gr, No\n*P, 0=(1+2*1i)\neV, 1=(0+1*1i), 0, Angle, -90, Sh, [0.2;-0.2]\n"
    netlist = load_netlist(text + "eR, 1, 2, Kn, -R_a=3, Ln, sqrt(2)\n--, 2, 0, Lt, m\n")
    assert netlist.options == {"Gr": "No", "pIntM": "No"}
    assert netlist.positions == {"0": "(1+2*1i)", "1": "(0+1*1i)"}
    assert netlist.model.elements[0].notes == {"An": "-90", "Sh": "[0.2;-0.2]"}
    assert netlist.model.elements[1].notes == {"Kn": "-R_a", "Ln": "sqrt(2)", "points": "1, 2"}
    assert [(wire.points, dict(wire.notes)) for wire in netlist.wires] == [(("2", "0"), {"Lt": "m"})]


def test_a_point_called_like_the_reference_of_another_domain_gets_a_number() -> None:
    model = read_netlist(LOOP.replace(" 0,", " tank,"))
    assert [e.nodes for e in model.elements] == [("1", "tank_2"), ("1", "2"), ("2", "tank_2")]
    assert [f.what for f in model.findings] == [
        "the electrical point 'tank' is called 'tank_2': 'tank' is the reference of another domain"
    ]


def test_a_point_called_like_the_reference_of_its_own_domain_is_that_reference() -> None:
    model = read_netlist(LOOP.replace(" 0,", " gnd,"))
    assert model.elements[0].nodes == ("1", "gnd")
    assert model.findings == ()


# Names


def test_a_minus_before_a_name_only_moves_the_label() -> None:
    capacitor = only("eC, 1, 2, Kn, -C_2=30, En, -V_4=4")
    assert (capacitor.name, capacitor.variables, capacitor.initial) == ("C_2", {"across": "V_4"}, number(4))


@pytest.mark.parametrize(
    ("label", "name"),
    [("V_r_a", "V_r_a"), ("_F_x", "F_x"), ("T_{1}", "T_1"), (r"\omega_{m}", "omega_m"), ("a__b", "a_b"), ("- x", "x")],
)
def test_labels_in_the_manner_of_latex_become_names(label: str, name: str) -> None:
    model = read_netlist(f"eV, 1, 0\neC, 1, 0, Kn, C_1, En, {label}=3\n")
    assert model.elements[1].variables == {"across": name}
    assert model.elements[1].initial == number(3)
    assert codes(model) == ([] if label.strip("- ") == name else ["D231"])


def test_elements_without_names_are_numbered_in_the_order_of_lines() -> None:
    model = read_netlist("**, Gr, Si\neV, 1, 0\n--, 0, b\neR, 1, 2\neC, 2, b\neI, 2, b\n")
    assert [e.name for e in model.elements] == ["V1", "R2", "C3", "I4"]
    assert list(model.parameters) == ["R2", "C3"]
    assert model.inputs == ("V1", "I4")


def test_an_automatic_name_avoids_names_that_the_file_uses_later() -> None:
    model = read_netlist("eV, 1, 0\neR, 1, 2\neR, 2, 0, Kn, R2\n")
    assert [e.name for e in model.elements] == ["V1", "R2_2", "R2"]


def test_elements_with_one_parameter_share_it_and_have_names_of_their_own() -> None:
    model = read_netlist("eV, 1, 0, En, V_a\neR, 1, 2, Kn, R\neR, 2, 3, Kn, R=5\neR, 3, 0, Kn, R_2\n")
    assert [(e.name, str(e.value)) for e in model.elements] == [
        ("V_a", "None"),
        ("R", "R"),
        ("R_3", "R"),
        ("R_2", "R_2"),
    ]
    assert model.parameters["R"].expression == number(5)
    (finding,) = model.findings
    assert finding.what == "the parameter 'R' stands for another element too: this one is called 'R_3'"


def test_a_variable_does_not_take_the_name_of_a_parameter() -> None:
    model = read_netlist("eV, 1, 0, En, K\neC, 1, 0, Kn, K, En, K\n")
    assert list(model.parameters) == ["K"]
    assert [e.variables for e in model.elements] == [{"across": "K_2"}, {"across": "K_3"}]
    assert [e.name for e in model.elements] == ["K_2", "K"]
    assert [f.what for f in model.findings] == [
        "'K' is a parameter: here it is called 'K_2'",
        "'K' is a parameter: here it is called 'K_3'",
    ]


@pytest.mark.parametrize("word", ["pi", "sqrt", "if"])
def test_a_word_of_formulas_gets_a_number(word: str) -> None:
    model = read_netlist(f"eV, 1, 0\neR, 1, 0, Kn, {word}=3\n")
    assert list(model.parameters) == [f"{word}_2"]
    assert codes(model) == ["D232"]


def test_no_variable_has_the_name_of_another_or_of_a_parameter() -> None:
    text = "eV, 1, 0, En, a, Fn, a\neL, 1, 2, Kn, b, En, a, Fn, a\neR, 2, 0, Kn, a_2, En, a, Fn, b\n"
    model = read_netlist(text)
    names = [name for e in model.elements for name in e.variables.values()]
    assert len(set(names)) == len(names) == 6
    assert not set(names) & set(model.parameters)
    assert model.elements[0].variables["across"] == "a"


# Values


@pytest.mark.parametrize("text", ["3", "+3", "0.003", ".5", "5.", "1e-3", "2.5E+6"])
def test_numbers_are_kept_exactly(text: str) -> None:
    model = read_netlist(LOOP.replace("R_a", f"R_a={text}"))
    assert model.parameters["R_a"].expression == parse(text)


@pytest.mark.parametrize("text", ["3*1e-3", "sqrt(2)", "2*pi*50", "2^10", "(1+2)/4", "max(1, 2)"])
def test_arithmetic_is_read_and_not_run(text: str) -> None:
    model = read_netlist(LOOP.replace("R_a", f"R_a = {text}"))
    assert model.parameters["R_a"].expression == parse(text)


def test_a_value_goes_to_the_variable_that_a_storage_keeps() -> None:
    assert only("eL, 1, 2, Kn, L_a, Fn, I_a=3").initial == number(3)
    model = read_netlist("eV, 1, 2, En, V_a=5, Fn, I_a=7\neL, 1, 2, Kn, L_a, En, V_L=3\n")
    assert [e.initial for e in model.elements] == [None, None]
    assert model.experiment.inputs["V_a"].arguments == (number(5),)
    assert [f.what for f in model.findings] == [
        "the value 7 after Fn has no effect on this voltage source",
        "the value 3 after En has no effect on this inductor",
    ]
    assert model.findings[1].fix == "give the value to the current, after Fn"


def test_names_without_a_value_stay_symbols_and_inputs_without_one_stay_open() -> None:
    model = read_netlist(LOOP)
    assert [p.expression for p in model.parameters.values()] == [None, None]
    assert model.experiment.inputs == {}
    assert model.experiment.until is None


def test_defaults_that_the_file_gives_hold_for_what_has_no_value() -> None:
    text = "**, Kn0, 2, In0, 5, En0, 7, sTfin, 0.5\neV, 1, 0\neR, 1, 2, Kn, R_a\neC, 2, 3, Kn, C_1=4, En, V_1\n"
    model = read_netlist(text + "eC, 3, 0, Kn, C_2, Kn0, 6, En, V_2=8\n")
    assert {name: p.expression for name, p in model.parameters.items()} == {
        "R_a": number(2),
        "C_1": number(4),
        "C_2": number(6),
    }
    assert model.experiment.inputs["V1"].arguments == (number(5),)
    assert [e.initial for e in model.elements] == [None, None, number(7), number(8)]
    assert model.experiment.until == parse("0.5")


def test_out_demands_the_variable_that_an_element_decides() -> None:
    resistor = only("eR, 1, 2, Kn, R_a, Out, Flow")
    assert (resistor.prefer, resistor.forced) == ("through", True)
    capacitor = only("eC, 1, 2, Kn, C_a, Out, Effort")
    assert (capacitor.prefer, capacitor.forced) == ("across", True)
    assert only("eR, 1, 2, Kn, R_a, Out, Vuoto").forced is False


# Connection blocks


@pytest.mark.parametrize(
    ("relation", "coupling", "reciprocal"),
    [
        ("F2=K*F1", "transformer", False),
        ("E1=K*E2", "transformer", False),
        ("F1=K*F2", "transformer", True),
        ("E2=K*E1", "transformer", True),
        ("F1=K*E2", "gyrator", False),
        ("F2=K*E1", "gyrator", False),
        ("E2=K*F1", "gyrator", True),
        ("E1=K*F2", "gyrator", True),
    ],
)
def test_the_relation_of_a_block_says_what_it_is(relation: str, coupling: str, reciprocal: bool) -> None:
    model = read_netlist(f"eV, 1, A\nCB, [1; 2], [A; B], Kn, {relation}\nrT, 2, B\n")
    block = element(model, "K")
    assert (block.kind.name, block.kind.coupling, block.kind.reciprocal) == ("connection", coupling, reciprocal)
    assert block.kind.domains == ("electrical", "rotational")
    assert block.nodes == ("1", "A", "2", "B")


@pytest.mark.parametrize(
    ("modulus", "name", "value", "given"),
    [
        ("K_m", "K_m", "K_m", "None"),
        ("K_m=0.3", "K_m", "K_m", "0.3"),
        ("0.3", "K2", "0.3", ""),
        ("(2*3)", "K2", "6", ""),
        (" K_{m} ", "K_m", "K_m", "None"),
    ],
)
def test_a_modulus_is_a_name_a_name_with_its_value_or_a_number(modulus: str, name: str, value: str, given: str) -> None:
    model = read_netlist(f"eV, 1, A\nCB, [1;2], [A;B], Kn, F2 = {modulus}*F1\nrJ, 2, B, Kn, J\n")
    block = model.elements[1]
    assert (block.name, str(block.value)) == (name, value)
    assert str(model.parameters[name].expression) == given if given else name not in model.parameters


def test_a_block_whose_modulus_is_taken_gets_a_number_and_shares_the_parameter() -> None:
    model = read_netlist(
        "eV, 1, A\nCB, [1;2], [A;B], Kn, F2=K*F1\nrB, 2, B, Kn, b\nCB, [2;3], [B;C], Kn, F2=K*F1\nrJ, 3, C, Kn, J\n"
    )
    assert [(e.name, str(e.value)) for e in model.elements if e.kind.role == "coupling"] == [("K", "K"), ("K_2", "K")]


def test_the_domain_of_a_side_is_found_at_either_end_and_through_other_blocks() -> None:
    text = "eV, 1, A\nCB, [1;2], [A;B], Kn, F2=K*F1\nCB, [2;3], [x;C], Kn, F2=N*F1\nrJ, B, x, Kn, J\nmM, 3, C, Kn, m\n"
    model = read_netlist(text)
    assert element(model, "K").kind.domains == ("electrical", "rotational")
    assert element(model, "N").kind.domains == ("rotational", "translational")


# The table of options, size and the collector


def test_the_table_of_options_has_no_spelling_twice() -> None:
    assert len(OPTIONS) == 126
    assert len(SPELLINGS) == len({*OPTIONS, *OPTIONS.values()}) + len(NAMES)
    assert all(SPELLINGS[long] == SPELLINGS[key] == key for key, long in OPTIONS.items())
    assert set(DEFAULTS) < set(OPTIONS)
    assert set(SPELLINGS) >= PHYSICS


def test_every_option_of_the_examples_but_one_is_in_the_table() -> None:
    unknown = [f.what.split("'")[1] for name in EXPECTED for f in example(name).findings if f.code == "D230"]
    assert unknown == ["Dir"]


def test_a_long_chain_of_wires_is_one_node() -> None:
    count = 20_000
    wires = "".join(f"--, {k + 1}, {k}\n" for k in reversed(range(count)))
    model = read_netlist(f"eV, x, {count}\n{wires}eR, x, 0, Kn, R\n")
    assert [e.nodes for e in model.elements] == [("x", f"{count}"), ("x", f"{count}")]


def test_the_collector_is_as_it_was_after_reading() -> None:
    read_netlist(LOOP)
    assert gc.isenabled()


def test_the_value_of_a_source_drives_its_run() -> None:
    model = read_netlist(LOOP.replace("V_a", "V_a=10").replace("R_a", "R_a=20").replace("C_1", "C_1=0.003"))
    run = tg.simulate(model, 2.0)
    assert run.values("V_1")[-1] == pytest.approx(10.0, rel=1e-6)
    assert tg.equilibrium(model).values["V_1"] == pytest.approx(10.0)
