"""Bond graphs that cannot be read: code, wording, place and repair, and hostile texts."""

import pytest

import tellegen
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model

HEAD = "system: x\nparameters: {L: 2 mH, R: 1 ohm, J: 1 kg*m^2}\nbond graph:\n"
MOTOR = HEAD + "  - Se:V -> 1:i -> I:L\n  - i -> R:R\n"


def refused(text: str) -> TellegenError:
    with pytest.raises(TellegenError) as caught:
        tellegen.derive(read_model(text))
    for finding in caught.value.findings:
        assert finding.place is not None
        assert finding.fix
    return caught.value


def test_the_bond_graph_that_the_errors_start_from_is_right() -> None:
    assert tellegen.derive(read_model(MOTOR)).to_json()["states"] == ["I_L"]


@pytest.mark.parametrize(
    ("lines", "code", "what", "fix", "place"),
    [
        ("Se:V - 1:i", "D401", "'Se:V - 1:i' has no '->'", "write a bond such as 'Se:V -> 1:i'", (4, 5)),
        ("1:i <- Se:V", "D401", "'1:i <- Se:V' has no '->'", "write a bond", (4, 5)),
        ("''", "D401", "an empty line has no '->'", "write a bond", (4, 5)),
        ("Se:V ->", "D401", "an arrow has nothing on one side", "write 'kind:name'", (4, 12)),
        ("Se:V -> -> 1:i", "D401", "an arrow has nothing on one side", "write 'kind:name'", (4, 13)),
        ("Se:V -> 1:i (I -> I:L", "D401", "'1:i (I' is not an item", "write 'kind:name'", (4, 13)),
        ("'Se:V -> 1:2i'", "D401", "'1:2i' is not an item", "write 'kind:name'", (4, 14)),
        ("[Se:V, 1:i]", "D401", "a line of the bond graph is not a single text", "write it as one text", (4, 5)),
        (
            "Se: V -> 1:i",
            "D401",
            "a line of the bond graph is not a single text",
            "put no space behind the colon",
            (4, 5),
        ),
        ("Se:V -> 1:i (I a) -> I:L", "D401", "'(I a)' is not the name of a variable", "write the name", (4, 13)),
        ("Se:V -> 1:i (I, electric) -> I:L", "D401", "'(I, electric)' is not", "did you mean 'electrical'?", (4, 13)),
        (
            "Se:V -> 1:i -> TF:n (electrical) -> I:L",
            "D401",
            "stands behind TF:n, which has two sides",
            "behind a junction",
            (4, 20),
        ),
        ("SE:V -> 1:i", "D403", "'SE' is no kind of a bond graph", "did you mean 'Se'?", (4, 5)),
        (
            "XYZ:V -> 1:i",
            "D403",
            "'XYZ' is no kind of a bond graph",
            "the kinds are 0, 1, Se, Sf, C, I, R, TF, GY",
            (4, 5),
        ),
        (
            "Se:V -> 1:i -> I:L\n  - i -> R",
            "D402",
            "nothing says what 'R' is",
            "write its kind where it stands first",
            (5, 10),
        ),
        ("Se:V -> 1:cur -> I:L\n  - curr -> R:R", "D402", "nothing says what 'curr' is", "did you mean 'cur'?", (5, 5)),
        ("Se:V -> 1:i -> I:L\n  - 0:i -> R:R", "D404", "'i' is 1 and 0", "give one of them another name", (5, 5)),
        (
            "Se:V -> 1:i (electrical) -> I:L\n  - i (hydraulic) -> R:R",
            "D404",
            "'i' is called electrical and hydraulic",
            "keep one",
            (5, 5),
        ),
        ("Se:V -> 1:i", "D405", "'1:i' has only one bond", "remove the junction", (4, 13)),
        ("Se:V -> 1:i -> I:L\n  - V -> R:R", "D405", "'Se:V' has 2 bonds", "join it through a junction", (4, 5)),
        (
            "Se:V -> 1:i -> I:L\n  - i -> TF:n\n  - 0:p -> n\n  - p -> R:R",
            "D405",
            "'TF:n' has 2 bonds in and 0 out, not one and one",
            "write 'a -> TF:n -> b'",
            (5, 10),
        ),
        (
            "Se:V -> 1:i -> I:L\n  - i -> GY:r",
            "D405",
            "'GY:r' has 1 bond in and 0 out",
            "write 'a -> GY:r -> b'",
            (5, 10),
        ),
        ("Se:V -> 1:i -> I:L\n  - R:R -> R", "D405", "'R:R' is bonded to itself", "bond it to a junction", (5, 5)),
        ("Se:V -> 1:i -> I:L\n  - TF:n -> n", "D405", "'TF:n' is bonded to itself", "bond it to a junction", (5, 5)),
        ("Se:V -> 1:i -> I:X", "D406", "the domain of 'V' is not known", "such as 'Se:V (electrical)'", (4, 5)),
        (
            "Se:V -> 1:i -> I:L\n  - i -> TF:n -> GY:r -> R:R",
            "D406",
            "the domain of 'n' is not known",
            "put a junction",
            (5, 10),
        ),
        (
            "Se:V -> 1:i -> I:L\n  - i -> I:J",
            "D407",
            "'J' would be electrical and rotational: 'L' is given in mH, but 'J' is given in kg*m^2",
            "put TF or GY between the two domains",
            (5, 10),
        ),
        (
            "Se:V -> 1:i -> I:L\n  - i -> 1:k -> R:R\n  - k -> i",
            "D408",
            "'k -> i' closes a ring of junctions",
            "remove the bond",
            (6, 5),
        ),
        ("Se:V -> 1:i -> I:L\n  - i -> i", "D408", "'i -> i' closes a ring of junctions", "remove the bond", (5, 5)),
        (
            "Se:V -> 1:i -> I:L\n  - i -> 0:a -> R:R\n  - a -> 1:k -> 0:b -> C:C\n  - a -> 1:n -> b",
            "D408",
            "'n -> b' closes a ring of junctions with nothing in it",
            "remove the bond",
            (7, 10),
        ),
        ("Se:V -> 0:gnd -> I:L", "D103", "'gnd' cannot name a junction", "choose another name", (4, 13)),
        ("Se:V -> 1:i -> R:pi", "D103", "'pi' cannot name an element", "choose another name", (4, 20)),
        ("Se:V -> 1:i (sin) -> I:L", "D103", "'sin' cannot name a variable", "choose another name", (4, 13)),
        (
            "Se:V -> 1:i (I) -> I:L\n  - i -> R:R (I)",
            "D106",
            "L and R both name a variable 'I'",
            "choose another name",
            (5, 10),
        ),
        (
            "Se:V -> 0:k -> I:L\n  - Se:W -> k",
            "K101",
            "'W' cannot impose its voltage: 'V' decides it already",
            "remove one",
            (5, 5),
        ),
        (
            "Se:V -> 1:i -> I:L\n  - i -> I:M\nelements: {L: {causality: force integral}, M: {causality: force integral}}",
            "K102",
            "'L' would have to follow: its current is decided by 'M'",
            "remove one",
            (4, 20),
        ),
    ],
)
def test_a_slip_is_named_with_its_place_and_its_repair(
    lines: str, code: str, what: str, fix: str, place: tuple[int, int]
) -> None:
    finding = refused(f"{HEAD}  - {lines}\n").finding
    assert finding.code == code
    assert what in finding.what
    assert fix in finding.fix
    assert finding.place is not None
    assert (finding.place.line, finding.place.column) == place


@pytest.mark.parametrize("value", ["Se:V -> 1:i", "", "[]", "{a: b}", "3"])
def test_what_is_no_list_of_bonds_is_refused(value: str) -> None:
    error = refused(f"system: x\nbond graph: {value}\n")
    assert error.code == "D401"
    assert "write a list of lines such as '- Se:V -> 1:i'" in error.finding.fix


@pytest.mark.parametrize(
    ("details", "code", "what"),
    [
        ("{Lq: {initial: 2 A}}", "D100", "'Lq' is not a key of 'elements': the bond graph has no such element"),
        ("{i: {initial: 2 A}}", "D100", "'i' is not a key of 'elements'"),
        ("{L: {inital: 2 A}}", "D100", "'inital' is not a key of the inductor L"),
        ("{L: {initial: 2 V}}", "D121", "the initial value of L is in V, not in A"),
        ("[L]", "D102", "'elements' is not a mapping"),
        ("{L: 3 mH}", "D102", "the element 'L' is not a mapping"),
    ],
)
def test_details_that_fit_no_element_are_refused(details: str, code: str, what: str) -> None:
    error = refused(f"{MOTOR}elements: {details}\n")
    assert error.code == code
    assert what in error.what


def test_a_modulus_in_the_unit_of_something_else_is_refused() -> None:
    head = "system: x\nparameters: {L: 2 mH, J: 1 kg*m^2, K: 3 ohm}\n"
    text = head + "bond graph:\n  - Se:V -> 1:i -> I:L\n  - i -> GY:K -> 1:w -> I:J\n"
    assert "the modulus of K is in ohm (V/A), not in Wb" in refused(text).what
    details = text.replace(", K: 3 ohm", "") + "elements: {K: {K: 3 ohm}}\n"
    assert "the modulus of K is in ohm (V/A), not in Wb" in refused(details).what


def test_every_line_with_a_slip_is_reported() -> None:
    error = refused(HEAD + "  - Se:V - 1:i\n  - Q:V -> 1:i\n  - 1:i -> 0:i\n")
    assert [finding.code for finding in error.findings] == ["D401", "D403", "D404"]


def test_a_slip_does_not_make_inputs_unknown() -> None:
    error = refused(HEAD + "  - Se:V -> 1:i -> S:L\nexperiment: {inputs: {V: step(3 V)}}\n")
    assert [finding.code for finding in error.findings] == ["D403"]


def test_a_system_is_described_in_one_notation() -> None:
    assert "twice: network and bond graph" in refused("system: x\nnetwork: {R: {resistor: [a]}}\n" + MOTOR[10:]).what


@pytest.mark.parametrize(
    "line",
    [
        "x" * 1_000_000,
        "Se:V -> 1:" + "a" * 100_000,
        "Se:" + "_" * 100_000 + " -> 1:i",
        "Se:V -> 1:i (" + "a," * 50_000 + ")",
        "->" * 50_000,
        "(" * 100_000,
        "Se:V -> " + ":" * 100_000,
        "Q" * 100_000 + ":V -> 1:i",
    ],
    ids=lambda line: line[:12],
)
def test_a_line_out_of_all_bounds_gets_a_short_answer(line: str) -> None:
    error = refused(f"{HEAD}  - '{line}'\n")
    assert len(str(error)) < 1000


def test_lists_in_lists_without_end_are_refused() -> None:
    assert refused(HEAD + "  - " + "[" * 1000 + "]" * 1000 + "\n").code == "D068"


def ladder(sections: int) -> str:
    lines = ["Se:V -> 1:i0 (electrical)"]
    for k in range(sections):
        lines += [f"i{k} -> I:L{k}", f"i{k} -> 0:p{k} -> C:C{k}", f"p{k} -> 1:i{k + 1}"]
    return "system: x\nbond graph:\n" + "".join(f"  - {line}\n" for line in [*lines, f"i{sections} -> R:R"])


def equal_junctions(count: int) -> str:
    lines = [f"1:i{k + 1} -> 1:i{k}\n  - i{k} -> R:R{k}" for k in range(count)]
    return "system: x\nbond graph:\n" + "".join(
        f"  - {line}\n" for line in [*lines, "Se:V (electrical) -> i0", f"i{count} -> I:L"]
    )


def one_line(count: int) -> str:
    chain = " -> ".join(f"0:p{k} -> 1:i{k + 1}" for k in range(count))
    return f"system: x\nbond graph:\n  - Se:V -> 1:i (electrical) -> {chain} -> R:R\n"


def star(count: int) -> str:
    lines = [f"i -> 0:p{k} -> R:R{k}\n  - p{k} -> C:C{k}" for k in range(count)]
    return "system: x\nbond graph:\n  - Se:V -> 1:i (electrical)\n" + "".join(f"  - {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("write", "size"), [(ladder, 5_000), (equal_junctions, 10_000), (one_line, 10_000), (star, 2_500)]
)
def test_large_bond_graphs_are_read_without_quadratic_work(write: object, size: int) -> None:
    """Nothing is timed here, but quadratic work would be felt by everybody who runs the tests."""
    assert callable(write)
    assert read_model(write(size)).elements
