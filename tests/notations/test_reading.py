"""Whole files: what a model holds after reading, and what a wrong file is told."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellegen.core.errors import DescriptionError, Finding
from tellegen.expressions import number, parse, symbol
from tellegen.model.model import Element, Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

SYSTEMS = Path(__file__).parents[2] / "src" / "tellegen" / "systems"


def network(lines: str, parameters: str = "", experiment: str = "") -> str:
    body = "".join(f"  {line.strip()}\n" for line in lines.strip().splitlines())
    head = f"parameters: {{{parameters}}}\n" if parameters else ""
    tail = f"experiment: {{{experiment}}}\n" if experiment else ""
    return f"system: Test\n{head}network:\n{body}{tail}"


def element(line: str, parameters: str = "") -> Element:
    return read_model(network(line, parameters)).elements[0]


def errors(text: str) -> tuple[Finding, ...]:
    with pytest.raises(DescriptionError) as caught:
        read_model(text)
    return caught.value.findings


def findings(text: str) -> tuple[Finding, ...]:
    try:
        return read_model(text).findings
    except DescriptionError as found:
        return found.findings


def error(text: str) -> Finding:
    (only,) = errors(text)
    return only


# What is read


def test_the_dc_motor_with_pump_reads_as_it_is_written() -> None:
    model = read_model(SYSTEMS / "dc_motor_pump.yaml")
    assert model.name == "DC motor driving a hydraulic pump"
    assert [e.name for e in model.elements] == [
        "V_a",
        "L_a",
        "R_a",
        "motor",
        "J_m",
        "b_m",
        "pump",
        "C_0",
        "alpha_p",
        "Q_0",
    ]
    assert model.inputs == ("V_a", "Q_0")
    assert model.parameters["L_a"].expression is number(0.002)
    assert model.parameters["L_a"].unit == "mH"
    assert model.elements[3].value is symbol("K_m")
    assert model.elements[4].nodes == ("shaft", "frame")
    assert model.elements[1].variables == {"through": "I_a"}
    assert model.experiment.until is number(0.5)
    assert model.experiment.inputs["V_a"].shape == "step"
    assert model.experiment.inputs["Q_0"].arguments == (number(-2e-5),)
    assert model.findings == ()


def test_a_text_and_a_file_read_the_same(tmp_path: Path) -> None:
    text = network("R: {resistor: [a, gnd], R: 1 ohm}")
    (tmp_path / "model.yaml").write_text(text)
    assert read_model(tmp_path / "model.yaml").elements[0].nodes == read_model(text).elements[0].nodes


def test_every_text_stays_a_text_so_that_yaml_changes_no_name() -> None:
    model = read_model(network("on: {resistor: [no, 010], R: 1 ohm}"))
    assert model.elements[0].name == "on"
    assert model.elements[0].nodes == ("no", "010")


def test_one_node_means_against_the_reference_of_the_domain() -> None:
    assert element("R: {resistor: [a], R: 1}").nodes == ("a", "gnd")
    assert element("K: {spring: [a], K: 1}").nodes == ("a", "frame")
    assert element("V: {voltage source: a}").nodes == ("a", "gnd")
    assert element("C: {accumulator: [p], C: 1}").nodes == ("p", "tank")


def test_a_through_source_with_one_node_pushes_into_it() -> None:
    assert element("I: {current source: [a]}").nodes == ("gnd", "a")
    assert element("F: {force source: [x]}").nodes == ("frame", "x")
    assert element("Q: {flow source: [out]}").nodes == ("tank", "out")


def test_a_coupling_with_two_nodes_has_each_side_against_its_reference() -> None:
    assert element("M: {dc machine: [a, shaft], K: 1}").nodes == ("a", "gnd", "shaft", "frame")


def test_nodes_may_be_one_text_whole_numbers_or_indexed() -> None:
    assert element('R: {resistor: "a, b", R: 1}').nodes == ("a", "b")
    assert element("R: {resistor: [12, 0], R: 1}").nodes == ("12", "0")
    assert element('R: {resistor: ["n[ 2+1 ]", "n[3,4]"], R: 1}').nodes == ("n[3]", "n[3,4]")
    assert element('R: {resistor: "n[3,4], b", R: 1}').nodes == ("n[3,4]", "b")


def test_a_number_on_an_element_becomes_a_parameter_of_its_name() -> None:
    model = read_model(network("R_1: {resistor: [a, gnd], R: 2 kohm}"))
    assert model.elements[0].value is symbol("R_1")
    assert model.parameters["R_1"].expression is number(2000)
    assert model.parameters["R_1"].unit == "kohm"


@pytest.mark.parametrize("key", ["R", "resistance", "value"])
def test_a_value_is_set_by_letter_by_word_or_by_value(key: str) -> None:
    assert read_model(network(f"R_1: {{resistor: [a], {key}: 3 ohm}}")).parameters["R_1"].expression is number(3)


def test_an_expression_of_parameters_stays_an_expression() -> None:
    assert element("R_1: {resistor: [a], R: 2*R_a + 1 ohm}", "R_a: 3 ohm").value is parse("2*R_a + 1")
    assert element("R_a: {resistor: [a], R: R_b}", "R_a: 3 ohm, R_b: 4 ohm").value is symbol("R_b")


def test_a_number_beside_a_parameter_of_the_same_name_stays_a_number() -> None:
    model = read_model(network("R: {resistor: [a], R: 10 ohm}", "R: 5 ohm"))
    assert model.elements[0].value is number(10)
    assert model.parameters["R"].expression is number(5)


def test_values_may_use_the_values_of_other_elements_in_any_order() -> None:
    model = read_model(network("R_2: {resistor: [a], R: 2*R_1}\nR_1: {resistor: [a], R: 3 ohm}"))
    assert model.elements[0].value is parse("2*R_1")


def test_an_element_without_value_stays_a_symbol_and_says_so() -> None:
    model = read_model(network("R_3: {resistor: [a]}"))
    assert model.elements[0].value is symbol("R_3")
    assert model.parameters["R_3"].expression is None
    assert model.parameters["R_3"].unit == "ohm"
    assert [(f.code, f.severity, f.what) for f in model.findings] == [
        ("D134", "notice", "R_3 has no value: it stays a symbol")
    ]


def test_many_elements_without_value_are_summed_up() -> None:
    model = read_model(network("\n".join(f"R_{i}: {{resistor: [a]}}" for i in range(30))))
    assert len(model.findings) == 21
    assert model.findings[-1].what == "10 more elements have no value: they stay symbols"


def test_a_parameter_may_be_declared_without_value_and_takes_the_unit_of_its_use() -> None:
    model = read_model(network("M: {dc machine: [a, s], K: K_m}", "K_m: "))
    assert model.parameters["K_m"].expression is None
    assert model.parameters["K_m"].unit == "N*m/A"
    assert model.findings == ()


@pytest.mark.parametrize(
    ("line", "variables"),
    [
        ("L: {inductor: [a], L: 1, current: I_a, voltage: V_x}", {"through": "I_a", "across": "V_x"}),
        ("J: {inertia: [a], J: 1, angular velocity: omega_m}", {"across": "omega_m"}),
        ("J: {inertia: [a], J: 1, speed: w}", {"across": "w"}),
        ("m: {mass: [a], m: 1, velocity: v_1, force: F_1}", {"across": "v_1", "through": "F_1"}),
        ("R: {leak: [a], G: 1, pressure: P_0, flow rate: Q_1}", {"across": "P_0", "through": "Q_1"}),
        ("R: {resistor: [a], R: 1, across: u, through: j}", {"across": "u", "through": "j"}),
        ("K: {spring: [a], K: 1, displacement: x_1}", {"energy": "x_1"}),
        ("M: {dc machine: [a, s], K: 1, current: I_a, torque: T_m}", {"through_1": "I_a", "through_2": "T_m"}),
        ("T: {transformer: [a, b], n: 2, across_2: V_2}", {"across_2": "V_2"}),
    ],
)
def test_variables_are_named_by_the_words_of_the_domain(line: str, variables: dict[str, str]) -> None:
    assert element(line).variables == variables


@pytest.mark.parametrize(
    ("line", "prefer", "forced"),
    [
        ("C: {capacitor: [a], C: 1, causality: integral}", "across", False),
        ("C: {capacitor: [a], C: 1, causality: derivative}", "through", False),
        ("m: {mass: [a], m: 1, causality: effort}", "through", False),
        ("m: {mass: [a], m: 1, causality: flow}", "across", False),
        ("K: {spring: [a], K: 1, causality: force}", "through", False),
        ("K: {spring: [a], K: 1, causality: force velocity}", "across", True),
        ("R: {resistor: [a], R: 1, causality: force through}", "through", True),
        ("R: {resistor: [a], R: 1, causality: voltage}", "across", False),
    ],
)
def test_causality_is_the_power_variable_that_the_element_decides(line: str, prefer: str, forced: bool) -> None:
    found = element(line)
    assert (found.prefer, found.forced) == (prefer, forced)


def test_initial_values_and_notes_are_kept() -> None:
    found = element("C: {capacitor: [a], C: 1 uF, initial: 3 mV, notes: {An: -90, label: 'a, b'}}")
    assert found.initial is number(0.003)
    assert found.notes == {"An": "-90", "label": "a, b"}


@pytest.mark.parametrize(
    ("relation", "coupling", "reciprocal", "law"),
    [
        ("through_2 = K*through_1", "transformer", False, "across_1 = K*across_2"),
        ("across_1 = K*across_2", "transformer", False, "across_1 = K*across_2"),
        ("F1 = K*F2", "transformer", True, "across_2 = K*across_1"),
        ("E2 = K*E1", "transformer", True, "across_2 = K*across_1"),
        ("E2 = K*F1", "gyrator", True, "across_1 = K*through_2"),
        ("E1 = K*F2", "gyrator", True, "across_1 = K*through_2"),
        ("F1 = K*E2", "gyrator", False, "through_2 = K*across_1"),
        ("F2 = K*E1", "gyrator", False, "through_2 = K*across_1"),
    ],
)
def test_the_eight_relations_of_a_connection_are_four_couplings(
    relation: str, coupling: str, reciprocal: bool, law: str
) -> None:
    found = element(f"X: {{connection: [a, b, s, f], domains: [electrical, rotational], relation: {relation}}}", "K: 3")
    assert (found.kind.coupling, found.kind.reciprocal, found.kind.law) == (coupling, reciprocal, law)
    assert found.value is symbol("K")


def test_the_modulus_of_a_connection_may_be_a_number_with_a_unit() -> None:
    text = network("X: {connection: [a, s], domains: [electrical, rotational], relation: F2 = 0.15 N*m/A*F1}")
    model = read_model(text)
    assert model.parameters["X"].expression is number(0.15)
    given = network("X: {connection: [a, s], domains: [electrical, rotational], relation: F2 = K*F1, K: 0.15 N*m/A}")
    assert read_model(given).parameters["X"].expression is number(0.15)


def test_the_modulus_of_a_connection_has_the_unit_of_its_relation() -> None:
    text = network("X: {connection: [a, s], domains: [electrical, rotational], relation: F2 = K_m*F1}", "K_m: 2 ohm")
    assert error(text).what == "the modulus of X is in ohm (V/A), not in Wb (V*s, N*m/A)"


# The experiment


def test_an_experiment_reads_signals_with_their_arguments_in_si() -> None:
    lines = "V: {voltage source: [a]}\nL: {inductor: [a], L: 1 H, current: I_L}"
    model = read_model(
        network(
            lines,
            "U: 3 V",
            "until: 20 ms, inputs: {V: 'sine(2*U, 50 Hz, 90 deg)'}, initial: {I_L: 2 mA}, outputs: [I_L, V_L], rtol: 1e-8",
        )
    )
    experiment = model.experiment
    signal = experiment.inputs["V"]
    assert (signal.shape, signal.arguments[:2]) == ("sine", (parse("2*U"), number(50)))
    assert signal.text == "sine(2*U, 50 Hz, 90 deg)"
    assert experiment.until is number(0.02)
    assert experiment.initial == {"I_L": number(0.002)}
    assert (experiment.outputs, experiment.rtol, experiment.atol) == (("I_L", "V_L"), 1e-8, None)


def test_an_input_has_the_name_that_its_source_gives_it() -> None:
    model = read_model(network("S: {voltage source: [a], voltage: V_in}", experiment="inputs: {V_in: step(3 V)}"))
    assert model.inputs == ("V_in",)


@pytest.mark.parametrize(
    ("part", "what", "fix"),
    [
        ("until: 3 m", "the duration of the experiment is in m, not in s", "give it in s"),
        ("until: 0 s", "the duration of the experiment is 0 s", "give a positive time, such as 0.5 s"),
        ("inputs: {W: 3}", "'W' is not an input", "the inputs are 'V'"),
        ("inputs: {V: 3 A}", "the input V is in A, not in V", "give it in V"),
        ("inputs: {V: 'step(3 V, 2 m)'}", "the start of the input V is in m, not in s", "give it in s"),
        ("inputs: {V: ramp(3 V)}", "the slope of the input V is in V, not in V/s", "give it in V/s"),
        ("inputs: {V: stepp(3 V)}", "'stepp' is not a shape of a signal", "did you mean 'step'?"),
        ("inputs: {V: step()}", "'step' has 0 arguments, not 1 to 2", "write step(height, [start])"),
        ("inputs: {V: 2*U}", "the input V uses 'U', which is not a parameter", "add 'U' to the parameters"),
        ("initial: {V_X: 3}", "'V_X' is not the output of a storage", "did you mean 'V_C'?"),
        ("outputs: [V_X]", "'V_X' is not a variable", "did you mean"),
        ("rtol: -1", "rtol is '-1', not a positive number", "write a number such as 'rtol: 1e-6'"),
        ("untill: 3", "'untill' is not a key of the experiment", "did you mean 'until'?"),
        (
            "inputs: {V: 'sine(1 V, 50 rad/s)'}",
            "the frequency of V is given as an angular velocity: '50 rad/s'",
            "give it in Hz; divide rad/s by 2*pi",
        ),
    ],
)
def test_a_wrong_experiment_is_told_what_fits(part: str, what: str, fix: str) -> None:
    found = error(network("V: {voltage source: [a]}\nC: {capacitor: [a], C: 1 uF}", experiment=part))
    assert found.what.startswith(what)
    assert found.fix.startswith(fix)


# Wrong files


def test_an_error_says_what_where_why_and_what_to_do() -> None:
    text = "system: Test\nnetwork:\n  R: {resistro: [a, gnd], R: 1 ohm}\n"
    with pytest.raises(DescriptionError) as caught:
        read_model(text, file="motor.yaml")
    assert str(caught.value) == (
        "error D110: 'resistro' is not a kind of element\n"
        "  at motor.yaml:3:7   resistro\n"
        "  in R\n"
        "  because the kind decides the law of the element\n"
        "  try: did you mean 'resistor'?"
    )


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("2R", "start with a letter; then letters, digits and single underscores"),
        ("5 ohm", "start with a letter; a decimal number has a point and no comma, which starts a new entry"),
        ("Ω", "use the letters a to z and A to Z, digits and single underscores"),
    ],
)
def test_a_name_that_is_none_is_told_what_one_is_made_of(name: str, fix: str) -> None:
    found = error(f"system: Test\nparameters: {{R: 1, {name}: 2}}\nnetwork: {{R: {{resistor: [a]}}}}\n")
    assert (found.what, found.fix) == (f"'{name}' cannot name a parameter", fix)


def test_all_errors_of_a_file_come_at_once() -> None:
    found = errors(
        """
system: Test
parametres: {R: 1 ohm}
parameters: {a: 1 ohm + 2 V, b: 3*c}
network:
  R: {resistor: [a, a], R: 1}
  C: {capacitr: [a]}
  m: {mass: [x], m: 3 ohm}
experiment: {until: 3 V}
"""
    )
    assert [f.code for f in found] == ["D100", "D113", "D110", "D121", "D122", "D120", "D121"]
    assert all(f.place for f in found)
    assert all(f.why for f in found)
    assert all(f.fix for f in found)


def test_not_more_than_fifty_errors_are_told() -> None:
    assert len(errors(network("\n".join(f"R_{i}: {{resistor: [a, a]}}" for i in range(80))))) == 50


@pytest.mark.parametrize("word", ["bonds", "part", "signal", "Network", "network "])
def test_unknown_keys_are_refused(word: str) -> None:
    text = f"system: Test\n'{word}': {{}}\nnetwork: {{R: {{resistor: [a], R: 1}}}}\n"
    assert error(text).what == f"'{word}' is not a key of a system"


@pytest.mark.parametrize(
    ("line", "what", "fix"),
    [
        ("R: {resistor: [a], Rr: 3}", "'Rr' is not a key of the resistor R", "did you mean 'R'?"),
        (
            "R: {resistor: [a], inductance: 3}",
            "'inductance' is not a key of the resistor R",
            "did you mean 'resistance'?",
        ),
        (
            "R: {R: 3, resistor: [a]}",
            "'R' is not a kind of element",
            "write 'resistor' first: the kind is the first key",
        ),
        ("R: resistor", "the element 'R' is not a mapping", "write 'R: {kind: [nodes], key: value}'"),
        (
            "R: {resistor: []}",
            "the resistor R has 0 nodes, not 2",
            "give 2 nodes, or 1 to put the other at the reference",
        ),
        (
            "M: {pump: [a, b, c]}",
            "the pump M has 3 nodes, not 4",
            "give 4 nodes, or 2 to put the others at the reference",
        ),
        (
            "R: {resistor: [a, b..c]}",
            "'b..c' cannot name a node",
            "nodes are names such as 'a', whole numbers, or 'n[3]'",
        ),
        ("2R: {resistor: [a]}", "'2R' cannot name an element", "start with a letter"),
        ("a__b: {resistor: [a]}", "'a__b' cannot name an element", "start with a letter"),
        ("sin: {resistor: [a]}", "'sin' cannot name an element: it has a meaning", "choose another name"),
        ("m: {mass: [a, b], m: 1}", "the mass m has 'b' as its second node", "write 'mass: [a]'"),
        ("J: {inertia: [frame, a], J: 1}", "the inertia J has 'a' as its second node", "write 'inertia: [a]'"),
        ("R: {resistor: [gnd], R: 1}", "both ends of the resistor R are at 'gnd'", "connect it between two nodes"),
        ("T: {gear: [a, frame], n: 2}", "both ends of the gear T are at 'frame'", "connect it between two nodes"),
        ("R: {resistor: [a], R: }", "the value of R is empty", "write a number with its unit, or leave the key out"),
        ("R: {resistor: [a], R: [1, 2]}", "the value of R is not a single text", "write one value"),
        (
            "R: {resistor: [a], R: 1, initial: 3 V}",
            "the resistor R has no initial value: it stores nothing",
            "leave it out",
        ),
        ("C: {capacitor: [a], C: 1, initial: 3 A}", "the initial value of C is in A, not in V", "give it in V"),
        ("V: {voltage source: [a], voltage: 3 V}", "'3 V' cannot name a variable", "start with a letter"),
        ("R: {resistor: [a], R: 'min(1, 2'}", "column 9 of 'min(1, 2': found the end", ""),
        (
            "R: {resistor: [a], R: min(1, 2)}",
            "the value of R is cut at a comma: 'min(1'",
            "put the whole value in quotes",
        ),
        ("X: {connection: [a, b]}", "the connection X has no domains", "add 'domains: [electrical, rotational]'"),
        (
            "X: {connection: [a, b], domains: [electric, rotational], relation: F1 = F2}",
            "'electric' is not a domain",
            "did you mean 'electrical'?",
        ),
        (
            "X: {connection: [a, b], domains: [electrical, rotational], relation: F1 = 3*F2^2}",
            "the relation of X must be proportional to F2",
            "write a relation such as 'through_2 = K*through_1'",
        ),
        (
            "V: {voltage source: [a], causality: across}",
            "'across' is not a causality of the voltage source V",
            "leave it out",
        ),
    ],
)
def test_a_wrong_line_is_told_what_fits(line: str, what: str, fix: str) -> None:
    found = error(network(line))
    assert found.what.startswith(what)
    assert found.fix.startswith(fix)


def test_places_point_at_the_offending_text() -> None:
    found = error(network("R: {resistor: [a], R: 2*R_x + 1}"))
    assert found.place is not None
    assert (found.place.line, found.place.column, found.place.text) == (3, 27, "R_x")


def test_nothing_but_the_words_of_the_file_reaches_an_error_of_a_broken_element() -> None:
    """A name whose own line is wrong is known, so that one slip gives one error."""
    text = network("R_1: {resistr: [a], R: 3 ohm}\nR_2: {resistor: [a], R: 2*R_1}")
    assert error(text).code == "D110"


def test_two_elements_may_not_name_one_variable() -> None:
    text = network("R: {resistor: [a, b], R: 1, current: I_a}\nL: {inductor: [b], L: 1, current: I_a}")
    assert error(text).what == "R and L both name a variable 'I_a'"


def test_element_parameter_variable_and_node_may_share_a_name() -> None:
    model: Model = read_model(network("a: {resistor: [a, b], current: a}", "a: 3 ohm"))
    assert model.elements[0].value is symbol("a")


def test_the_physics_of_values_is_checked_at_the_element() -> None:
    text = network(
        """
        C: {capacitor: [a], C: C_0 - 2 uF}
        L: {inductor: [a], L: 0 H}
        R: {resistor: [a], R: -3 ohm}
        G: {conductance: [a], G: 0 S}
        T: {transformer: [a, b], n: 0}
        """,
        "C_0: 1 uF",
    )
    found = errors(text)
    assert [(f.code, f.where) for f in found] == [("D130", "C"), ("D131", "L")]
    assert "energy would not be bounded below" in found[0].why
    assert "a storage without content is no storage" in found[1].why
    assert found[1].fix == "remove it, or take the limit with reduce"


def test_a_modulus_of_zero_is_a_warning_that_says_what_is_held() -> None:
    (found,) = read_model(
        network("T: {transformer: [a, b], n: 0}\nR: {resistor: [a], R: 1}\nC: {capacitor: [b], C: 1}")
    ).findings
    held = "the voltage of its first side and the current of its second at zero"
    assert (found.severity, found.what) == (
        "warning",
        f"the turns ratio of T is 0: it passes no power, and holds {held}",
    )


def test_a_negative_resistance_is_a_warning_about_an_active_element() -> None:
    (found,) = read_model(network("R: {resistor: [a], R: -3 ohm}")).findings
    assert (found.severity, found.what) == ("warning", "R is an active element: its resistance is -3")


def test_reading_runs_no_code() -> None:
    found = error(network("R: {resistor: [a], R: \"__import__('os').system('true')\"}"))
    assert found.code.startswith("D0")


def test_a_symbol_is_turned_by_a_quarter_and_written_so() -> None:
    text = network("R: {resistor: [a], R: 1}")
    model = read_model(text + "layout: {turned: {R: 270}}\n")
    assert model.turned == {"R": 270}
    assert "layout:\n  turned:\n    R: 270\n" in to_yaml(model)
    with pytest.raises(
        DescriptionError, match=r"D102: the symbol of 'R' is not turned by a quarter(.|\n)*write 'R: 90'"
    ):
        read_model(text + "layout: {turned: {R: 45}}\n")


def test_layout_is_kept_out_of_the_model() -> None:
    text = network("R: {resistor: [a], R: 1}") + "layout: {R: [1, 2], anything: {deep: [x]}}\n"
    assert read_model(text).elements[0].name == "R"


# Damaged files

WHOLE = (
    network(
        """
        V: {voltage source: ["n[0]", gnd]}
        ladder: {repeat: {k: 1..3}, network: {"R[k]": {resistor: ["n[k-1]", "n[k]"], R: 1 ohm/k}}}
        C: {capacitor: ["n[3]"], law: "q = C_0*v + 3*v^3", initial: 2 V, voltage: V_C, causality: force integral}
        X: {connection: [a, s], domains: [electrical, rotational], relation: F2 = K*F1, K: 3 N*m/A}
        J: {inertia: s, J: "if(C_0 > 1 uF, 1 kg*m^2, 2 kg*m^2)", notes: {a: b}}
        """,
        "C_0: 2 uF, d: 3 mm, A: pi*d^2/4",
    )
    + "experiment: {until: 3 s, inputs: {V: 'sine(3 V, 50 Hz)'}, initial: {V_C: 3 V}, outputs: [V_C], rtol: 1e-6}\n"
)
PIECES = st.sampled_from(
    [*"[]{}()=:,'\"*/^+-.#?@! \n0", "..", "k", "nan", "1e999", "e5", " mH", "law: ", "repeat: ", "x[", "if(", "Ω"]
)


def test_the_whole_file_is_good() -> None:
    assert len(read_model(WHOLE).elements) == 7


@given(st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 6), PIECES), min_size=1, max_size=3))
def test_a_damaged_file_is_read_or_refused_with_findings_and_nothing_else(damages: list[tuple[int, int, str]]) -> None:
    text = WHOLE
    for at, length, piece in damages:
        text = text[:at] + piece + text[at + length :]
    assert all(f.place is not None for f in findings(text))


@pytest.mark.parametrize("rate", ["1 +", "v_m" + " + v_m" * 2000])
def test_a_rate_that_cannot_be_read_is_an_error_and_nothing_else(rate: str) -> None:
    text = f"{{system: a, displacements: {{q: '{rate}'}}, network: {{m: {{mass: [a]}}, b: {{damper: [a, frame]}}}}}}"
    with pytest.raises(DescriptionError) as error:
        read_model(text)
    assert error.value.code in ("D001", "D003")
