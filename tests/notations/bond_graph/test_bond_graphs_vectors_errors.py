"""Vector bonds, fields, detectors and signal bonds that cannot be read: code, wording and repair."""

import pytest

import tellegen
from tellegen.core.errors import Finding, TellegenError
from tellegen.notations.reading import read_model

HEAD = "system: x\nparameters: {R: 1 ohm, L_1: 1 H, L_2: 1 H, M: 0.5 H}\nbond graph:\n"
COILS = HEAD + "  - Se:V_1 -> i[1]\n  - Se:V_2 -> i[2]\n  - 1[2]:i (electrical) -> I:coils\n  - i -> R:R\n"
FIELD = COILS + "elements: {coils: {matrix: [[L_1, M], [M, L_2]]}}\n"
MOTOR = (
    "system: x\nparameters: {L: 2 mH, R: 1 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2}\nbond graph:\n"
    "  - Se:V -> 1:i -> GY:K -> 1:w -> I:J\n  - i -> I:L\n  - i -> R:R\n"
)


def refused(text: str) -> Finding:
    with pytest.raises(TellegenError) as caught:
        tellegen.derive(read_model(text))
    assert all(finding.fix for finding in caught.value.findings)
    return caught.value.findings[0]


@pytest.mark.parametrize("text", [FIELD, MOTOR])
def test_what_the_errors_start_from_is_right(text: str) -> None:
    assert tellegen.derive(read_model(text)).to_json()["states"]


@pytest.mark.parametrize(
    ("old", "new", "code", "what", "fix"),
    [
        ("1[2]:i", "1[0]:i", "D409", "'[0]' is no number of components", "a whole number from 1 to 1000"),
        ("1[2]:i", "1[n]:i", "D409", "'[n]' is no number of components", "the name of a parameter that is one"),
        ("1[2]:i", "1[4000]:i", "D409", "'[4000]' is no number of components", "from 1 to 1000"),
        ("-> R:R", "-> R[3]:R", "D409", "'R' would have 2 components and 3", "bond one component, such as 'R[1]'"),
        ("i[2]", "i[3]", "D409", "'i[3]' is bonded, and 'i' has 2 components", "write its size where it stands first"),
        ("i -> R:R", "i[2] -> R[2]:R", "D409", "'R' would have 2 components and 1", "bond one component"),
        ("  - i -> R:R", "  - i -> R:R\n  - 1[3]:i -> C:C", "D409", "'i' has 2 components and 3", "keep one"),
        ("I:coils", "TF[2]:n -> I:coils", "D409", "'TF[2]' says a size, and n has two sides", "leave it out"),
        (
            "(electrical)",
            "(I_1, I_2, I_3)",
            "D401",
            "'(I_1, I_2, I_3)' is not the name of a variable",
            "write the name",
        ),
        ("i[1]", "i[1] (I_1)", "D401", "'(I_1)' stands behind one component of i", "name all components behind 'i'"),
        ("I:coils", "IV:coils", "D403", "'IV' is no kind of a bond graph", "did you mean"),
        (
            "[[L_1, M], [M, L_2]]",
            "[[L_1, M]]",
            "D102",
            "the matrix of 'coils' is 1 by 2, not 2 by 2",
            "write 2 rows of 2",
        ),
        ("[[L_1, M], [M, L_2]]", "[[L_1, M], [M]]", "D102", "is no table of rows of one length", "write 2 rows of 2"),
        ("[[L_1, M], [M, L_2]]", "[[L_1, M], [0, L_2]]", "D166", "(2,1) and (1,2) differ", "give a symmetric matrix"),
        (
            "[[L_1, M], [M, L_2]]",
            "[[L_1, R], [R, L_2]]",
            "D121",
            "an entry of coils is in ohm (V/A), not in H",
            "give it in H",
        ),
        ("{matrix:", "{matirx:", "D100", "'matirx' is not a key of the field coils", "did you mean 'matrix'?"),
        ("coils: {matrix", "R: {initial: [1 A, 2 A], matrix", "D116", "has no initial value", "leave it out"),
        ("coils: {", "coils: {current: [I_1], ", "D102", "'current' of coils has 1 entries", "give 2, or one for all"),
        (
            "I:coils",
            "IC:coils",
            "D409",
            "'IC:coils' has 2 ports, and 0 of them are said to be I or C",
            "write 'ports: [I, C]'",
        ),
    ],
)
def test_a_slip_in_a_vector_bond_is_named_with_its_repair(old: str, new: str, code: str, what: str, fix: str) -> None:
    assert old in FIELD
    finding = refused(FIELD.replace(old, new, 1))
    assert finding.code == code
    assert what in finding.what
    assert fix in finding.fix


def test_a_port_of_an_ic_field_is_one_of_two_kinds_of_storage() -> None:
    text = FIELD.replace("I:coils", "IC:coils").replace("{matrix:", "{ports: [I, X], matrix:")
    finding = refused(text)
    assert (finding.code, finding.what, finding.fix) == ("D403", "'X' is no kind of storage", "write I or C")


@pytest.mark.parametrize(
    ("K", "what"),
    [
        ("[[1, 2], [3, 4]]", "the matrix of 'n' is 2 by 2, not 1 by 2"),
        ("[[1], [2]]", "the matrix of 'n' is 2 by 1, not 1 by 2"),
        ("3", "'TF:n' has 2 bonds in and 1 out, and no matrix"),
    ],
)
def test_a_modulus_has_a_row_for_each_bond_out_and_a_column_for_each_bond_in(K: str, what: str) -> None:
    text = (
        "system: x\nbond graph:\n  - Se[2]:e -> 1:a (rotational) -> TF:n -> 1:b (rotational)\n  - b -> I:J\n"
        f"elements: {{n: {{K: {K}}}}}\n"
    )
    assert what in refused(text).what


def test_all_ports_of_a_two_port_are_bonded() -> None:
    text = (
        "system: x\nbond graph:\n  - Se:a -> n[1]\n  - Se:b -> TF:n[3]\n  - n -> 1:w (rotational)\n  - w -> I:J\n"
        "elements: {n: {K: [[1, 2, 3]]}}\n"
    )
    finding = refused(text)
    assert (finding.code, finding.what) == ("D405", "'TF:n' has no bond in at its port 2")


def test_laws_of_a_field_that_follow_from_no_energy_are_not_conservative() -> None:
    text = (
        "system: x\nparameters: {L_0: 1 H*m}\nbond graph:\n  - Se:V -> 1:i (electrical) -> IC:m[1]\n"
        "  - 1:v (translational) -> m[2]\n  - v -> I:mass\n"
        "elements: {m: {ports: [I, C], law: [i_1 = phi_1*x_2/L_0, F_2 = phi_1^2/L_0]}}\n"
    )
    finding = refused(text)
    assert finding.code == "D166"
    assert finding.what == "the field 'm' is not conservative: F_2 depends on phi_1 otherwise than i_1 on x_2"
    half = refused(text.replace(", F_2 = phi_1^2/L_0", ""))
    assert (half.what, half.fix) == ("the field 'm' has no law for its port 2", "add 'F_2 = ...'")
    other = refused(text.replace("F_2 =", "F_3 ="))
    assert "is no law of a port of m" in other.what
    assert other.fix == "did you mean 'F_2'?"


# -- detectors and signals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code", "what", "fix"),
    [
        ("i -> De:v", "D410", "'De:v' is bonded to '1:i'", "bond it to a 0-junction, whose bonds share the effort"),
        ("w -> 0:t -> I:J_2\n  - t -> Df:x", "D410", "'Df:x' is bonded to '0:t'", "bond it to a 1-junction"),
        ("2*omega => V", "D411", "the signal ends at 'Se:V', which follows none", "write 'MSe:V'"),
        ("2*omega => R", "D411", "the signal ends at 'R:R', which follows none", "lead it to MSe or MSf"),
        ("R:R => V", "D411", "'R:R' gives no signal", "a signal starts at a detector, De or Df"),
        ("i -> Df:x => V", "D411", "a signal bond stands among bonds of power", "on a line of its own"),
        ("=> V", "D411", "an arrow has nothing on one side", "with a signal before the arrow"),
        ("MSe:T -> w", "D411", "nothing says which signal 'MSe:T' follows", "write '... => T' on a line of its own"),
        ("MSe:T -> w\n  - 1 => T\n  - 2 => T", "D411", "'MSe:T' follows two signals", "keep one of them"),
        (
            "MSe[2]:T -> TF:K_2 -> w\n  - 1 => T[1]",
            "D411",
            "'T[1]' is one component of a source",
            "a source of its own",
        ),
        ("MTf:n -> w", "D403", "'MTf' is no kind of a bond graph", "did you mean 'MTF'?"),
    ],
)
def test_a_slip_in_a_sensor_or_a_signal_is_named_with_its_repair(line: str, code: str, what: str, fix: str) -> None:
    finding = refused(MOTOR + f"  - {line}\n")
    assert finding.code == code
    assert what in finding.what
    assert fix in finding.fix


def test_an_element_with_modes_has_a_kind_of_its_domain() -> None:
    finding = refused(MOTOR + "  - w -> Sw:s\nelements: {s: {kind: clutsch}}\n")
    assert finding.what == "'clutsch' is no kind of element with modes in the rotational domain"
    assert finding.fix == "did you mean 'clutch'?"


def test_a_signal_must_be_known() -> None:
    finding = refused(MOTOR + "  - MSe:T -> w\n  - 2*omga_J => T\n")
    assert "'omga_J'" in finding.what
    assert finding.fix == "did you mean 'omega_J'?"


def test_a_dependent_storage_behind_a_modulus_that_reads_what_it_gives_is_refused() -> None:
    text = (
        "system: x\nparameters: {J_1: 1 kg*m^2, J_2: 1 kg*m^2, c: 1 s/rad}\nbond graph:\n  - Se:tau -> 1:a (omega, rotational)\n"
        "  - a -> I:J_1\n  - a -> MTF:n -> 1:b (w, rotational)\n  - b -> I:J_2\nelements: {n: {K: 1 + c*(omega + w)}}\n"
    )
    finding = refused(text)
    assert finding.code == "E108"
    assert finding.what == "'J_2' follows other storages through a modulus that reads 'w'"
    assert finding.fix.startswith("let the modulus of 'n' read states or displacements")


def test_the_kinds_of_a_field_are_kinds_of_its_ports() -> None:
    text = "system: x\nbond graph:\n  - Se[2]:V -> 1[2]:i (electrical)\n  - i -> R:r\n"
    text += "elements: {r: {kinds: %s, matrix: [[1, 2], [-2, 1]]}}\n"
    finding = refused(text % "[resistor, conductanse]")
    assert finding.what == "'conductanse' is no kind of element that 'r[2]' can be"
    assert finding.fix == "did you mean 'conductance'?"
    assert refused(text % "[resistor]").what == "'kinds' of r has 1 entries, and r has 2 components"


# -- causality -----------------------------------------------------------------------------------------------------------------


def test_two_sources_that_decide_one_effort_fight() -> None:
    finding = refused("system: x\nbond graph:\n  - Se:a -> 0:j (electrical)\n  - Se:b -> j\n  - j -> R:R\n")
    assert finding.code == "K101"
    assert "'b' cannot impose its voltage: 'a' decides it already" in finding.what


def test_two_demands_on_one_junction_contradict_each_other() -> None:
    text = (
        "system: x\nbond graph:\n  - Sf:u -> 0:j (electrical)\n  - j -> C:C_1\n  - j -> C:C_2\n"
        "elements: {C_1: {causality: force effort}, C_2: {causality: force effort}}\n"
    )
    finding = refused(text)
    assert finding.code == "K102"
    assert "C_1" in finding.what
    assert "C_2" in finding.what


RATIOS_AGREE = """
system: x
bond graph:
  - Se:tau -> 1:a (rotational) -> I:J
  - a -> TF:n -> 1:b (rotational) -> R:r
  - a -> TF:n_2 -> b
elements: {n: {K: k}, n_2: {K: k}}
parameters: {k: 2}
"""
NOBODY_NOTICES = """
system: x
bond graph:
  - 1:a (rotational) -> 0:b (rotational)
  - a -> b
  - b -> TF:n_1 -> 0:c (rotational)
  - b -> TF:n_2 -> c
  - b -> Se:tau
  - C:K (translational) -> TF:n_3 -> c
parameters: {n_1: 2, n_2: 3, n_3: 5, K: 1 N/m}
"""


@pytest.mark.parametrize("text", [RATIOS_AGREE, NOBODY_NOTICES], ids=["a force", "a velocity"])
def test_what_circulates_in_a_loop_of_unit_gain_is_not_determined(text: str) -> None:
    finding = refused(text)
    assert finding.code == "K105"
    assert "is not determined" in finding.what
