"""Vector ladders, branches and transfer functions as model files: what they mean, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

import tellegen
from support.model_schema import is_valid
from support.networks import agree
from tellegen.core.errors import TellegenError
from tellegen.equations.system import EquationSystem
from tellegen.model.model import Element, Model
from tellegen.notations.reading import read_model

MOTOR = """\
system: motor
parameters: {R_1: 1 ohm, R_2: 1 ohm, L_1: 2 mH, L_2: 2 mH, M: 1 mH, k_1: 0.1 N*m/A, k_2: 0.2 N*m/A, J: 1 kg*m^2, b: 1 N*m*s}
pog:
  - section: [[V_1, V_2], [I_1, I_2]]
  - series: [[R:R_1, R:R_2], {L: coils, matrix: [[L_1, M], [M, L_2]]}]
  - connect: {name: rotor, K: [[k_1, k_2]]}
  - parallel: [J:J, b:b]
  - section: [omega, tau]
"""
WHOLE = """\
system: motor as one vector block
parameters: {L_a: 2 mH, J_m: 1e-3 kg*m^2, R: 0.5 ohm, K: 0.15 N*m/A, b: 2e-3 N*m*s}
pog:
  - domain: [electrical, rotational]
  - section: [[V, omega], [I, tau]]
  - mixed: [[L:L_a, J:J_m], {power: losses, matrix: [[R, K], [-K, b]]}]
    ways: [series, parallel]
"""
DRIVE = """\
system: drive
parameters: {J_m: 1 kg*m^2, K_s: 2 N*m/rad, d_s: 1 N*m*s, J_l: 3 kg*m^2, b: 1 N*m*s}
pog:
  - section: [omega_m, tau_m]
  - parallel: [J:J_m]
  - series branch:
      - parallel: [K:K_s, b:d_s]
  - parallel: [J:J_l]
  - branch:
      - series: [E:E_2]
      - parallel: [J:J_2, b:b]
"""
MOUNT = """\
system: mount
parameters: {m: 2 kg}
pog:
  - section: [v, F]
  - parallel: [m:m, {b: mount, numerator: [3, 5], denominator: [1, 2]}]
"""


def derived(text: str) -> EquationSystem:
    found = tellegen.derive(read_model(text))
    assert isinstance(found, EquationSystem)
    return found


def element(model: Model, name: str) -> Element:
    return next(e for e in model.elements if e.name == name)


def transfer(text: str, s: complex) -> np.ndarray:
    """The transfer matrix at a point, from the numbers of the equations."""
    system = derived(text)
    values = system.values()
    for name, e in system.where.items():
        values[name] = e.evaluate(values)
    m = {
        name: np.array([[e.evaluate(values) for e in row] for row in rows], dtype=complex).reshape(len(rows), -1)
        for name, rows in system.matrices.items()
    }
    n = len(system.states)
    x = np.linalg.solve(s * m["L"] + m["A"], m["B"] + s * m["B_1"]) if n else np.zeros((0, len(system.inputs)))
    return np.asarray(m["C"].reshape(-1, n) @ x + m["D"] + s * m["D_1"])


# -- vector ladders ------------------------------------------------------------------------------------------------------------


def test_a_vector_section_carries_one_pair_of_variables_a_lane() -> None:
    system = derived(MOTOR)
    assert (system.states, system.inputs) == (("I_1", "I_2", "omega"), ("V_1", "V_2", "tau"))
    assert agree(system.matrices["L"], [["L_1", "M", "0"], ["M", "L_2", "0"], ["0", "0", "J"]])
    assert agree(system.matrices["A"], [["R_1", "0", "k_1"], ["0", "R_2", "k_2"], ["-k_1", "-k_2", "b"]])


def test_matrices_become_the_same_values_as_in_a_network() -> None:
    model = read_model(MOTOR)
    (field,) = model.fields
    assert (field.name, field.members) == ("coils", ("coils[1]", "coils[2]"))
    rotor = element(model, "rotor")
    assert rotor.kind.name == "multiport"
    assert rotor.multiport is not None
    assert (rotor.multiport.given_sides, rotor.multiport.gives_sides) == (("through", "through"), ("through",))


def test_one_vector_block_mixes_across_and_through_variables() -> None:
    system = derived(WHOLE)
    assert (system.states, system.inputs, system.outputs) == (("I", "omega"), ("V", "tau"), ("I", "omega"))
    assert agree(system.matrices["A"], [["R", "K"], ["-K", "b"]])


def test_an_energy_matrix_stores_what_its_lanes_give() -> None:
    text = WHOLE.replace("[L:L_a, J:J_m]", "{energy: stored, matrix: [[L_a, 0], [0, J_m]]}")
    assert agree(derived(text).matrices["L"], [["L_a", "0"], ["0", "J_m"]])


def test_a_row_of_zeros_leaves_a_lane_at_rest_or_open() -> None:
    """A series block behind it starts from the reference, a parallel one takes nothing."""
    text = (
        "system: x\npog:\n  - domain: translational\n  - section: [v, F]\n  - parallel: [M:m]\n"
        "  - connect: {name: H, K: [[1], [0]]}\n  - domain: translational\n  - series: [[E:E_1, b:d]]\n"
        "  - connect: {name: G, K: [[1, 1]]}\n  - domain: translational\n  - parallel: [M:M_2]\n"
    )
    model = read_model(text)
    assert element(model, "d").nodes[0] == "frame"
    assert element(model, "H").nodes[2:] == (element(model, "E_1").nodes[0], "frame")
    assert agree(derived(text).matrices["A"], [["0", "1", "0"], ["-1", "0", "1"], ["0", "-1", "d"]])


def test_a_field_may_hold_some_of_the_lanes() -> None:
    text = MOTOR.replace(
        "{L: coils, matrix: [[L_1, M], [M, L_2]]}", "{L: coil, lanes: [2], matrix: [[L_2]], current: [I_2]}"
    )
    assert derived(text).states == ("I_2", "omega")


def test_names_and_initial_values_of_a_field() -> None:
    text = MOTOR.replace("[M, L_2]]}", "[M, L_2]], current: [i_1, i_2], initial: [1 A, 2 A]}")
    model = read_model(text)
    assert derived(text).states == ("i_1", "i_2", "omega")
    assert element(model, "coils[2]").initial is not None


def test_a_connection_may_say_which_variables_it_relates() -> None:
    text = (
        "system: x\npog:\n  - domain: rotational\n  - section: [omega, tau]\n  - parallel: [J:J_1]\n"
        "  - connect: {name: gear, K: n, takes: across, gives: across}\n  - domain: rotational\n  - parallel: [J:J_2]\n"
        "elements: {J_1: {causality: integral}}\nparameters: {n: 2}\n"
    )
    assert agree(derived(text).matrices["L"], [["J_1 + J_2*n^2"]])


def test_a_matrix_may_move_with_a_displacement_or_a_signal() -> None:
    moving = MOTOR.replace("k_1: 0.1 N*m/A", "k_1: 0.1 N*m/A, p: 2").replace(
        "[[k_1, k_2]]", "[[k_1*sin(p*theta), k_2]]"
    )
    system = derived(moving.replace("pog:", "displacements: {theta: omega}\npog:"))
    assert agree([[system.matrices["A"][0][2]]], [["k_1*sin(p*theta)"]])
    driven = MOTOR.replace("[[k_1, k_2]]", "[[k_1*ratio, k_2]]").replace("pog:", "signals: {ratio: 1 + sin(3*t)}\npog:")
    assert agree([[derived(driven).matrices["A"][0][2]]], [["k_1*ratio"]])


# -- sections and branches -----------------------------------------------------------------------------------------------------


def test_branches_leave_in_series_or_in_parallel() -> None:
    system = derived(DRIVE)
    assert set(system.states) == {"omega_m", "tau_K_s", "omega_J_l", "tau_E_2", "omega_J_2"}
    model = read_model(DRIVE)
    assert element(model, "E_2").nodes[0] == element(model, "J_l").nodes[0]
    assert element(model, "branch_1").nodes[2] == element(model, "K_s").nodes[0] == element(model, "d_s").nodes[0]


def test_a_section_says_which_variable_is_given_and_how_it_counts() -> None:
    text = "system: x\npog:\n  - domain: translational\n  - section: {across: v, through: F, given: v}\n  - parallel: [K:K, b:b]\n"
    system = derived(text)
    assert (system.inputs, system.states) == (("v",), ("F_K",))
    assert agree(system.matrices["D"], [["b"]])
    turned = derived(text.replace("given: v", "given: -v"))
    assert agree(turned.matrices["B"], [["-1"]])
    assert agree(turned.matrices["D"], [["b"]])


def test_an_element_counted_against_the_ladder_changes_the_sign_of_its_variables() -> None:
    text = "system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n  - series: [R:R]\n  - parallel: [-C:C]\n"
    system = derived(text)
    assert agree(system.matrices["B"], [["-1/R"]])
    assert agree(system.matrices["A"], [["1/R"]])


def test_a_source_in_the_middle_is_a_branch_with_a_section() -> None:
    text = (
        "system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n  - series: [R:R]\n  - parallel: [C:C]\n"
        "  - branch: [{section: {across: V_2, through: I_2, given: I_2}}]\n  - series: [L:L]\n"
    )
    system = derived(text)
    assert system.inputs == ("V", "I_2")
    assert agree(system.matrices["B"], [["1/R", "1"], ["0", "0"]])


# -- transfer functions --------------------------------------------------------------------------------------------------------

POINTS = (0.3 + 0.9j, 0.1 + 4.0j, 2.0 + 0.1j)


@pytest.mark.parametrize("s", POINTS)
@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [
        ([3, 5], [1, 2]),
        ([1], [1, Fraction(1, 2)]),
        ([1, 0], [1, 0, 4]),  # lossless
        ([1, 0, 4], [1, 0]),  # a storage at low and at high frequencies
        ([2, 1, 1], [1, 1, 2]),
        ([1, 0, 1], [1, 2, 5, 2]),  # its real part touches zero
        ([1, 2, Fraction(3, 2), Fraction(1, 2)], [1, 3, 3, 1]),  # a pole of order three
        ([7], [2]),
    ],
)
def test_a_positive_real_function_is_realised(
    numerator: list[Fraction], denominator: list[Fraction], s: complex
) -> None:
    texts = (", ".join(map(str, numbers)) for numbers in (numerator, denominator))
    text = MOUNT.replace("[3, 5]", f"[{next(texts)}]").replace("[1, 2]", f"[{next(texts)}]")
    G = np.polyval([float(c) for c in numerator], s) / np.polyval([float(c) for c in denominator], s)
    assert transfer(text, s)[0, 0] == pytest.approx(1 / (2 * s + G), rel=1e-9)


@pytest.mark.parametrize("s", POINTS)
def test_an_impedance_stands_in_series(s: complex) -> None:
    text = (
        "system: x\nparameters: {C: 2 F}\npog:\n  - section: [V, I]\n"
        "  - series: [{R: load, numerator: [2, 3, 5, 1], denominator: [1, 1, 2]}]\n  - parallel: [C:C]\n"
    )
    Z = np.polyval([2, 3, 5, 1], s) / np.polyval([1, 1, 2], s)
    assert transfer(text, s)[0, 0] == pytest.approx(1 / (Z + 1 / (2 * s)), rel=1e-9)


@pytest.mark.parametrize("s", POINTS)
def test_a_matrix_of_functions_is_realised_by_its_residues(s: complex) -> None:
    """G_0 has a skew part, and the residues at -1 and -2 are of rank one and two."""
    numerators = "[[[2, 9, 8], [1, 3, 3]], [[-1, -3, -1], [2, 10, 9]]]"
    text = (
        "system: x\nparameters: {C_1: 2 F, C_2: 1 F}\npog:\n  - section: [[V_1, V_2], [I_1, I_2]]\n"
        f"  - parallel: [[C:C_1, C:C_2], {{G: load, numerator: {numerators}, denominator: [1, 3, 2]}}]\n"
    )
    Y = np.array([[2, 1], [-1, 2]]) + np.ones((2, 2)) / (s + 1) + np.array([[2, -1], [-1, 3]]) / (s + 2)
    assert transfer(text, s) == pytest.approx(np.linalg.inv(np.diag([2 * s, s]) + Y), rel=1e-9)


def test_the_parts_of_a_transfer_function_are_ordinary_passive_elements() -> None:
    model = read_model(MOUNT)
    assert [e.kind.name for e in model.elements] == ["force source", "mass", "mass", "damper", "multiport"]
    system = derived(MOUNT)
    assert system.states == ("v", "v_mount_x1")
    assert system.is_zero("D")


@pytest.mark.parametrize(
    ("numerator", "denominator", "reason"),
    [
        ("[1, 1]", "[1, -1]", "a pole to the right of the imaginary axis, at s = 1"),
        ("[1, -1]", "[1, 1]", "its real part is -0.3333 at omega = 0.707107 rad/s"),
        ("[1, 1, 10]", "[1, 1, 1]", "its real part is -0.7143 at omega = 2.23607 rad/s"),
        ("[1]", "[1, 0, 0]", "it has a pole of order 2 at s = 0"),
        ("[1, 0, 2]", "[1, 0, 2, 0, 1]", "it has a pole of order 2 at omega = 1 rad/s"),
        ("[1, 0, 0, 0]", "[1, 1]", "its numerator has 2 degrees more than its denominator"),
        ("[-1, 0, 1]", "[1, 1]", "at high frequencies it is -1*s"),
        ("[-1, 0]", "[1, 0, 4]", "its residue at omega = 2 rad/s is -0.5"),
        ("[-1]", "[1, 0]", "its residue at s = 0 is -1, not positive"),
        ("[1]", "[0]", "its denominator is zero"),
    ],
)
def test_a_function_that_is_not_positive_real_is_refused_with_the_reason(
    numerator: str, denominator: str, reason: str
) -> None:
    with pytest.raises(TellegenError) as caught:
        read_model(MOUNT.replace("[3, 5]", numerator).replace("[1, 2]", denominator))
    assert caught.value.code == "D462"
    assert reason in caught.value.what
    assert caught.value.finding.where == "mount"


# -- what is refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "old", "new", "code", "what", "fix"),
    [
        (MOTOR, "[[V_1, V_2], [I_1, I_2]]", "[[V_1, V_2], [I_1]]", "D461", "2 across and 1 through", "one of each"),
        (
            MOTOR,
            "[[V_1, V_2], [I_1, I_2]]",
            "[[V_1], [I_1], [x]]",
            "D451",
            "two rows of power variables",
            "'section: [[",
        ),
        (MOTOR, "[R:R_1, R:R_2]", "[R:R_1]", "D461", "'R_1' fits 1 lane, but a section of 2", "as many lanes"),
        (MOTOR, "[R:R_1, R:R_2]", "R:R_1", "D461", "'R_1' fits 1 lane, but a section of 2", "as many lanes"),
        (MOTOR, "[R:R_1, R:R_2]", "[none, none]", "D451", "an element has no lane", "at least one"),
        (
            MOTOR,
            "[[k_1, k_2]]",
            "[[k_1], [k_2]]",
            "D461",
            "'rotor' with 2 x 1 entries fits 1 lane, but",
            "columns of K",
        ),
        (
            MOTOR,
            "[[k_1, k_2]]",
            "[[k_1, k_2], [0]]",
            "D461",
            "the rows of the matrix of 'rotor' have 2, 1",
            "same number",
        ),
        (MOTOR, "[[k_1, k_2]]", "[k_1, k_2]", "D451", "the matrix of 'rotor' is not a list of rows", "row by row"),
        (MOTOR, "[[k_1, k_2]]", "[[0, 0]]", "D455", "the matrix of 'rotor' is zero", "remove the connection"),
        (MOTOR, "{name: rotor, K: [[k_1, k_2]]}", "rotor", "D461", "'rotor' fits 1 lane", "as many lanes"),
        (MOTOR, "{name: rotor, ", "{", "D451", "a connection has no name", "name: gear"),
        (MOTOR, "name: rotor, K", "nam: rotor, K", "D100", "'nam' is not a key of a connection", "did you mean 'name'"),
        (MOTOR, "[[k_1, k_2]]}", "[[k_1, k_2]], gives: thru}", "D451", "'thru' is no power variable", "'through'"),
        (
            MOTOR,
            "[[k_1, k_2]]}",
            "[[k_1, k_2]], takes: [across, across, through]}",
            "D461",
            "3 words for 2 lanes",
            "one word",
        ),
        (MOTOR, "[[L_1, M], [M, L_2]]", "[[L_1, M], [0, L_2]]", "D166", "not conservative", "symmetric"),
        (MOTOR, "[[L_1, M], [M, L_2]]", "[[L_1, M]]", "D461", "1 rows and 2 columns", "square"),
        (
            MOTOR,
            "{L: coils,",
            "{K: coils,",
            "D452",
            "'K' stands for no field of electrical",
            "'K' belongs to translational",
        ),
        (MOTOR, "{L: coils,", "{X: coils,", "D452", "'X' is no element of a ladder", "'energy', 'power' or 'static'"),
        (MOTOR, "matrix: [[L_1", "current: [a], matrix: [[L_1", "D461", "1 names of the current, not 2", "each lane"),
        (
            MOTOR,
            "matrix: [[L_1",
            "speed: [a, b], matrix: [[L_1",
            "D100",
            "'speed' is not a key of the field",
            "the keys",
        ),
        (
            MOTOR,
            "matrix: [[L_1",
            "lanes: [1], matrix: [[L_1",
            "D461",
            "names 1 lanes for a matrix of 2 rows",
            "each row",
        ),
        (MOTOR, "matrix: [[L_1", "lanes: [1, 5], matrix: [[L_1", "D461", "stands in lane 5 of 2", "from 1"),
        (MOTOR, "matrix: [[L_1", "lanes: [1, x], matrix: [[L_1", "D461", "'x' is no lane", "from 1"),
        (MOTOR, "matrix: [[L_1", "causality: [integral, x], matrix: [[L_1", "D451", "'x' is no causality", "the words"),
        (WHOLE, "\n    ways: [series, parallel]", "", "D451", "does not say how its lanes are joined", "'ways: ["),
        (WHOLE, "[series, parallel]", "[series, paralel]", "D451", "'paralel' is no way", "did you mean 'parallel'"),
        (WHOLE, "[series, parallel]", "[series]", "D461", "but 2 domains fits 2", "as many lanes"),
        (WHOLE, "[electrical, rotational]", "[electrical]", "D454", "electrical and rotational", "'connect'"),
        (WHOLE, "\n  - domain: [electrical, rotational]", "", "D453", "", ""),
        (
            DRIVE,
            "series branch",
            "serial branch",
            "D451",
            "'serial branch' is no block",
            "did you mean 'series branch'",
        ),
        (DRIVE, "      - parallel: [K:K_s, b:d_s]\n", "      []\n", "D451", "the series branch is empty", "its blocks"),
        (DRIVE, "parallel: [K:K_s, b:d_s]", "section: [a, c]", "D455", "no block and no given variable", "given"),
        (
            DRIVE,
            "parallel: [K:K_s, b:d_s]",
            "paralel: [K:K_s]",
            "D451",
            "'paralel' is no block",
            "did you mean 'parallel'",
        ),
        (
            DRIVE,
            "- section: [omega_m, tau_m]",
            "- section: {across: w, through: t, given: x}",
            "D451",
            "'x' is no var",
            "",
        ),
        (
            DRIVE,
            "- section: [omega_m, tau_m]",
            "- section: {across: w, through: t, given: [w, t]}",
            "D451",
            "are given",
            "one",
        ),
        (DRIVE, "- section: [omega_m, tau_m]", "- section: {across: w}", "D451", "two power variables", "given: V_a"),
        (MOUNT, "b: mount", "m: mount", "D452", "does not say which variable", "across over through"),
        (MOUNT, ", denominator: [1, 2]", "", "D451", "has no denominator", "falling powers"),
        (MOUNT, "[3, 5]", "[3, x]", "D463", "uses 'x', which has no constant value", "parameters with values"),
        (MOUNT, "[3, 5]", "[]", "D463", "has 0 coefficients", "between 1 and 30"),
        (MOUNT, "[3, 5]", "[0]", "D463", "is zero", "remove it"),
        (MOUNT, "[3, 5]", "[[[3], [1]], [[1]]]", "D461", "2 rows of 2, 1 entries", "square"),
        (MOUNT, "b: mount", "b: m", "D105", "'m' is described twice", "rename"),
    ],
)
def test_a_slip_is_named_with_its_repair(text: str, old: str, new: str, code: str, what: str, fix: str) -> None:
    assert old in text
    changed = text.replace(old, new, 1)
    if code == "D453":  # units tell the domains as well
        assert derived(changed).states == ("I", "omega")
        return
    with pytest.raises(TellegenError) as caught:
        derived(changed)
    finding = caught.value.finding
    assert finding.code == code, finding
    assert what in finding.what
    assert fix in finding.fix
    assert finding.place is not None


def test_a_residue_that_is_not_positive_is_refused() -> None:
    text = (
        "system: x\npog:\n  - domain: electrical\n  - section: [[V_1, V_2], [I_1, I_2]]\n"
        "  - parallel: [{G: load, numerator: [[[1], [2]], [[2], [1]]], denominator: [1, 1]}]\n"
    )
    with pytest.raises(TellegenError) as caught:
        read_model(text)
    assert caught.value.code == "D462"
    assert "the Hermitian part has the eigenvalue -0.5 at omega = 1 rad/s" in caught.value.what


# -- schema --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [MOTOR, WHOLE, DRIVE, MOUNT])
def test_the_schema_takes_what_the_reader_takes(text: str) -> None:
    assert is_valid(text)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (WHOLE, "\n    ways: [series, parallel]", ""),
        (WHOLE, "[series, parallel]", "[series, diagonal]"),
        (MOTOR, "name: rotor", "nam: rotor"),
        (MOTOR, "R:R_1", "X:R_1"),
        (DRIVE, "series branch", "serial branch"),
        (MOUNT, ", denominator: [1, 2]", ""),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(text: str, old: str, new: str) -> None:
    changed = text.replace(old, new, 1)
    assert not is_valid(changed)
    with pytest.raises(TellegenError):
        read_model(changed)


# -- what only redistributes ---------------------------------------------------------------------------------------------------

SKEW = """
system: lanes that a skew matrix joins
parameters: {{L_1: 2, L_2: 3, C: 5, a: 0.3, b: 0.7, c: 0.11}}
pog:
  - domain: [electrical, electrical, {other}]
  - mixed: [[L:L_1, L:L_2, C:C], {{{word}: S, matrix: [[0, a, b], [-a, 0, {c}], [-b, -{c}, 0]]}}]
    ways: [series, series, parallel]
"""


@pytest.mark.parametrize("other", ["thermal", "electrical"])
def test_a_skew_matrix_stands_in_a_domain_that_loses_no_energy_as_in_any_other(other: str) -> None:
    system = derived(SKEW.format(other=other, word="power", c="c"))
    assert agree(system.matrices["A"], [["0", "a", "b"], ["-a", "0", "c"], ["-b", "-c", "0"]])


@pytest.mark.parametrize("word", ["power", "static"])
def test_a_matrix_that_is_not_skew_is_refused_there(word: str) -> None:
    with pytest.raises(TellegenError) as caught:
        read_model(SKEW.format(other="thermal", word=word, c="c").replace("-c, 0]", "c, 0]"))
    assert "gives or takes power, and no thermal element does" in str(caught.value)
    assert "make its entries (3,2) and (2,3) opposite" in str(caught.value)
