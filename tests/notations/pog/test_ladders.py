"""POG ladders as model files: blocks, sections, connections, names, details, and what is refused."""

import pytest

import tellegen
from support.networks import agree
from tellegen.core.errors import TellegenError
from tellegen.equations.system import EquationSystem
from tellegen.expressions import evaluate_exact
from tellegen.model.model import Element, Model
from tellegen.notations.reading import read_model

HEAD = "system: x\nparameters: {L: 2 mH, R: 1 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2, b: 1e-3 N*m*s}\npog:\n"
BLOCKS = (
    "  - section: [V, I]\n  - series: [L:L, R:R]\n  - connect: K\n  - parallel: [J:J, b:b]\n  - section: [omega, tau]\n"
)


def derived(text: str) -> EquationSystem:
    found = tellegen.derive(read_model(text))
    assert isinstance(found, EquationSystem)
    return found


def element(model: Model, name: str) -> Element:
    return next(e for e in model.elements if e.name == name)


def refused(text: str) -> TellegenError:
    with pytest.raises(TellegenError) as caught:
        tellegen.derive(read_model(text))
    for finding in caught.value.findings:
        assert finding.place is not None
        assert finding.fix
    return caught.value


# -- meaning -------------------------------------------------------------------------------------------------------------------


def test_the_ladder_of_a_motor_has_the_equations_of_the_corking_machine_paper() -> None:
    system = derived(HEAD + BLOCKS)
    assert (system.states, system.inputs, system.outputs) == (("I", "omega"), ("V", "tau"), ("I", "omega"))
    assert agree(system.matrices["L"], [["L", "0"], ["0", "J"]])
    assert agree(system.matrices["A"], [["R", "K"], ["-K", "b"]])
    assert agree(system.matrices["B"], [["1", "0"], ["0", "1"]])


@pytest.mark.parametrize("before", ["series", "parallel"])
@pytest.mark.parametrize("after", ["series", "parallel"])
def test_a_connection_takes_the_output_before_it_and_gives_the_input_behind_it(before: str, after: str) -> None:
    """x_2 = K x_1 drives the storage behind it, whatever power variables these are: K stands below the diagonal."""
    letter = {"series": "L", "parallel": "C"}
    text = (
        f"system: x\npog:\n  - domain: electrical\n  - section: [e, f]\n  - {before}: [{letter[before]}:a]\n"
        f"  - connect: K\n  - domain: electrical\n  - {after}: [{letter[after]}:c]\n"
    )
    assert agree(derived(text).matrices["A"], [["0", "K"], ["-K", "0"]])


@pytest.mark.parametrize("domain", ["electrical", "translational", "rotational", "hydraulic"])
def test_parallel_elements_share_the_across_and_series_elements_the_through_variable(domain: str) -> None:
    text = f"system: x\npog:\n  - domain: {domain}\n  - section: [e, f]\n  - series: [d:d_1, d:d_2]\n  - parallel: [G:G_1, G:G_2]\n"
    nodes = {e.name: e.nodes for e in read_model(text).elements}
    assert nodes["d_1"][1] == nodes["d_2"][0]
    assert nodes["G_1"] == nodes["G_2"]


def test_an_end_without_a_section_holds_what_its_block_takes_at_zero() -> None:
    """A series block ends at the reference at both ends; a parallel block takes no flow."""
    text = "system: x\npog:\n  - domain: electrical\n  - series: [L:L_1]\n  - parallel: [C:C]\n  - series: [L:L_2]\n"
    nodes = {e.name: e.nodes for e in read_model(text).elements}
    assert nodes["L_1"][0] == nodes["L_2"][1] == "gnd"
    assert nodes["L_1"][1] == nodes["L_2"][0] == nodes["C"][0]


@pytest.mark.parametrize(
    ("letter", "unit", "kind"),
    [
        ("C", "F", "capacitor"),
        ("L", "H", "inductor"),
        ("R", "ohm", "resistor"),
        ("G", "S", "conductance"),
        ("M", "kg", "mass"),
        ("m", "kg", "mass"),
        ("K", "N/m", "spring"),
        ("E", "m/N", "compliance"),
        ("C", "N/m", "spring"),
        ("b", "N*s/m", "damper"),
        ("J", "kg*m^2", "inertia"),
        ("I", "kg*m^2", "inertia"),
        ("K", "N*m/rad", "torsion spring"),
        ("C", "m^3/Pa", "accumulator"),
        ("K", "Pa/m^3", "stiff chamber"),
        ("L", "Pa*s^2/m^3", "fluid inertia"),
        ("R", "Pa*s/m^3", "hydraulic resistor"),
        ("G", "m^3/(Pa*s)", "leak"),
    ],
)
def test_letters_and_units_tell_the_kind_and_the_domain(letter: str, unit: str, kind: str) -> None:
    text = f"system: x\nparameters: {{p: 3 {unit}}}\npog:\n  - section: [e, f]\n  - parallel: [{letter}:p]\n"
    assert element(read_model(text), "p").kind.name == kind


# -- names and details ---------------------------------------------------------------------------------------------------------


def test_a_section_inside_names_the_variables_of_the_blocks_beside_it() -> None:
    blocks = BLOCKS.replace("  - connect: K\n", "  - connect: K\n  - section: [w, T]\n")
    assert derived(HEAD + blocks).states == ("I", "w")


def test_the_variable_of_a_block_without_such_a_storage_is_that_of_its_first_element() -> None:
    text = "system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n  - series: [R:R]\n  - parallel: [C:C]\n"
    assert element(read_model(text), "R").variables == {"through": "I"}


def test_equal_blocks_in_a_row_share_one_name() -> None:
    text = "system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n"
    text += "  - series: [R:R]\n  - section: [V_2, I]\n  - series: [L:L]\n"
    assert element(read_model(text), "R").variables == {}
    assert element(read_model(text), "L").variables == {"through": "I", "across": "V_2"}


def test_values_laws_and_initial_values_come_from_the_elements_part() -> None:
    details = "elements: {J: {initial: 10 rad/s}, b: {law: 'tau = 2*omega*abs(omega)'}, K: {K: 0.2 N*m/A}}\n"
    model = read_model(HEAD.replace(", b: 1e-3 N*m*s", "") + BLOCKS.replace("[omega, tau]", "[omega_J, tau]") + details)
    assert element(model, "J").initial is not None
    assert element(model, "b").law is not None
    value = element(model, "K").value
    assert value is not None
    assert float(evaluate_exact(value, {})) == 0.2


def test_inputs_and_initial_values_of_the_experiment_use_the_names_of_the_ladder() -> None:
    experiment = "experiment: {until: 1 s, inputs: {V: step(24 V), tau: 0}, initial: {I: 1 A, omega: 3 rad/s}, outputs: [omega]}\n"
    model = read_model(HEAD + BLOCKS + experiment)
    assert set(model.experiment.inputs) == {"V", "tau"}
    assert set(model.experiment.initial) == {"I", "omega"}


# -- what is refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "code", "what", "fix", "place"),
    [
        ("series: [L", "serie: [L", "D451", "'serie' is no block of a ladder", "did you mean 'series'?", (5, 5)),
        ("section: [V, I]", "section", "D102", "an entry of the ladder is not a mapping", "'key: value'", (4, 5)),
        ("section: [V, I]", "[a, b]", "D102", "an entry of the ladder is not a mapping", "'key: value'", (4, 5)),
        (
            "section: [V, I]",
            "{section: [V, I], connect: K}",
            "D451",
            "several keys: section, connect",
            "start a line with '-'",
            (4, 5),
        ),
        ("[V, I]", "[V]", "D451", "a section has two power variables", "the across variable, then the through", (4, 5)),
        ("[V, I]", "[3 V, I]", "D103", "'3 V' cannot name a variable", "start with a letter", (4, 15)),
        ("[V, I]", "[pi, I]", "D103", "'pi' cannot name a variable", "choose another name", (4, 15)),
        ("connect: K", "connect: []", "D451", "a connection has one modulus", "write 'connect: K'", (6, 5)),
        ("connect: K", "connect: [K, J]", "D451", "a connection has one modulus", "write 'connect: K'", (6, 5)),
        ("connect: K", "connect: 2*K", "D103", "'2*K' cannot name a connection", "start with a letter", (6, 14)),
        ("[L:L, R:R]", "[]", "D451", "the series block is empty", "or remove it", (5, 5)),
        (" [L:L, R:R]", "", "D451", "the series block is empty", "or remove it", (5, 5)),
        ("[L:L, R:R]", "[[[L:L]]]", "D102", "an element of 'series' is not a single text", "write one value", (5, 15)),
        (
            "[L:L, R:R]",
            "[L: L]",
            "D451",
            "an entry of 'series' is not a single text",
            "put no space behind the colon",
            (5, 14),
        ),
        ("R:R", "Q:R", "D452", "'Q:R' is no element of a ladder", "write a letter, a colon and a name", (5, 19)),
        ("R:R", "R", "D452", "'R' is no element of a ladder", "write a letter, a colon and a name", (5, 19)),
        ("R:R", "'R:'", "D103", "'' cannot name an element", "start with a letter", (5, 19)),
        ("R:R", "J:X", "D452", "'J' stands for no electrical element", "'J' belongs to rotational", (5, 19)),
        ("connect: K", "domain: electric", "D451", "'electric' is no domain", "did you mean 'electrical'?", (6, 5)),
        (
            "connect: K",
            "domain: electrical",
            "D454",
            "electrical and rotational: 'L' is given in mH, but 'J'",
            "'connect'",
            (7, 5),
        ),
        (
            "parallel: [J:J, b:b]",
            "parallel: [J:X]",
            "D453",
            "the domain of this block is not known",
            "'- domain: electrical'",
            (7, 5),
        ),
        (
            "  - parallel: [J:J, b:b]\n",
            "",
            "D455",
            "a connection has nothing on one side",
            "between a series or parallel",
            (6, 5),
        ),
        (
            "connect: K",
            "connect: K\n  - connect: N",
            "D455",
            "two connections follow each other",
            "their product",
            (7, 5),
        ),
        (
            "section: [V, I]",
            "section: [U, G]\n  - section: [V, I]",
            "D455",
            "two sections follow each other",
            "remove one",
            (5, 5),
        ),
        ("b:b", "b:J", "D105", "'J' is described twice", "rename one", (7, 21)),
        ("[omega, tau]", "[I, tau]", "D106", "L and J both name a variable 'I'", "choose another name", (7, 16)),
    ],
)
def test_a_slip_is_named_with_its_place_and_its_repair(
    old: str, new: str, code: str, what: str, fix: str, place: tuple[int, int]
) -> None:
    assert old in BLOCKS
    finding = refused(HEAD + BLOCKS.replace(old, new, 1)).finding
    assert finding.code == code
    assert what in finding.what
    assert fix in finding.fix
    assert finding.place is not None
    assert (finding.place.line, finding.place.column) == place


@pytest.mark.parametrize(
    ("value", "code"), [("{section: [V, I]}", "D451"), ("", "D451"), ("text", "D451"), ("[]", "D456")]
)
def test_what_is_no_ladder_is_refused(value: str, code: str) -> None:
    assert refused(f"system: x\npog: {value}\n").code == code


def test_every_block_with_a_slip_is_reported() -> None:
    blocks = BLOCKS.replace("R:R", "Q:R").replace("connect:", "link:").replace("[omega, tau]", "[omega]")
    assert [finding.code for finding in refused(HEAD + blocks).findings] == ["D452", "D451", "D451"]


def test_details_of_what_is_no_element_are_refused() -> None:
    error = refused(HEAD + BLOCKS + "elements: {I: {initial: 3 A}}\n")
    assert error.what == "'I' is not a key of 'elements': the ladder has no such element"


def test_a_modulus_in_the_unit_of_something_else_is_refused() -> None:
    assert "the modulus of K is in ohm" in refused(HEAD + BLOCKS + "elements: {K: {K: 2 ohm}}\n").what


def test_an_element_with_modes_says_its_kind() -> None:
    text = "system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n  - series: [Sw:S, R:R]\nelements: {S: {kind: %s}}\n"
    switch = next(e for e in read_model(text % "diode").elements if e.name == "S")
    assert (switch.kind.name, switch.switching is not None) == ("diode", True)
    error = refused(text % "diod")
    assert error.what == "'diod' is no kind of element with modes in the electrical domain"
    assert error.finding.fix == "did you mean 'diode'?"


def test_large_ladders_are_read_without_quadratic_work() -> None:
    """Nothing is timed here, but quadratic work would be felt by everybody who runs the tests."""
    blocks = "".join(f"  - series: [L:L{k}]\n  - parallel: [C:C{k}]\n" for k in range(5_000))
    assert read_model("system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n" + blocks).elements
