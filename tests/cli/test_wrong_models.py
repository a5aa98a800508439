"""Wrong files as a newcomer writes them: one clear answer each, and no error that only follows from another."""

import json
from pathlib import Path

import pytest

from command_line import tellegen

CIRCUIT = """\
system: x
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: 1 ohm}
  C: {capacitor: [b, gnd], C: 1 uF, voltage: V_1}
"""


def findings(folder: Path, text: str, name: str = "m.yaml") -> list[tuple[str, str, str]]:
    """Code, what and fix of each error that `check` finds in a file."""
    (folder / name).write_text(text, encoding="utf-8")
    found = tellegen("check", name, "--json", folder=folder)
    assert found.returncode == 1, found.stdout + found.stderr
    errors = [finding for finding in json.loads(found.stdout)["findings"] if finding["severity"] == "error"]
    return [(finding["code"], finding["what"], finding.get("fix", "")) for finding in errors]


@pytest.mark.parametrize(
    ("right", "wrong", "code", "fix"),
    [
        ("R: 1 ohm", "R: 1,5 ohm", "D100", "a decimal number has a point and no comma, which starts a new entry"),
        ("V: {", "V {", "D060", "write 'V: {...}'"),
        ("R: 1 ohm", "R: 0 ohm", "K103", "'R' has the value zero: leave it out of the network"),
    ],
)
def test_a_slip_gets_one_answer(right: str, wrong: str, code: str, fix: str, tmp_path: Path) -> None:
    ((found, _, told),) = findings(tmp_path, CIRCUIT.replace(right, wrong))
    assert found == code
    assert fix in told


@pytest.mark.parametrize("wrong", ["capacitr: [b, gnd]", "capacitor: [b, gnd, c]"])
@pytest.mark.parametrize(
    "more",
    [
        "experiment: {until: 1 s, initial: {V_1: 1 V}}",
        "experiment: {until: 1 s, initial: {q_C: 1 C}}",
        "experiment: {until: 1 s, outputs: [V_1, I_C]}",
        "experiment: {until: 1 s, units: {V_1: mV}}",
        "displacements: {x: V_1}",
        "signals: {u: 2*V_1}",
    ],
)
def test_what_reads_a_wrong_element_is_not_called_wrong(wrong: str, more: str, tmp_path: Path) -> None:
    found = findings(tmp_path, CIRCUIT.replace("capacitor: [b, gnd]", wrong) + more)
    assert len(found) == 1
    assert found[0][0] in ("D110", "D111")


def test_a_wrong_signal_hides_no_unknown_variable(tmp_path: Path) -> None:
    found = findings(tmp_path, CIRCUIT + "signals: {u: 2 V +, w: 2*V_2}\n")
    assert [code for code, _, _ in found] == ["D001", "D500"]


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("eV; 1; a; En; V\n", "separate fields by commas: eV, 1, a, ..."),
        ("eV 1 a En V\n", "separate fields by commas: eV, 1, a, ..."),
        ("system: x\n", "this looks like a model file: let its name end in .yaml"),
    ],
)
def test_a_netlist_that_is_none_is_told_how_it_looks(text: str, fix: str, tmp_path: Path) -> None:
    ((code, _, told),) = findings(tmp_path, text, "n.txt")
    assert (code, told) == ("D205", fix)


def test_a_file_without_its_ending_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(CIRCUIT, encoding="utf-8")
    found = tellegen("check", "mine", folder=tmp_path)
    assert found.returncode == 1
    assert "try: did you mean the file 'mine.yaml'?" in found.stdout


def test_an_empty_name_is_no_model() -> None:
    found = tellegen("derive", "")
    assert (found.returncode, found.stderr.splitlines()[0]) == (
        1,
        "error D300: '' is neither a file nor a built-in example",
    )


def test_a_misspelled_section_is_not_called_missing_too(tmp_path: Path) -> None:
    found = findings(tmp_path, CIRCUIT.replace("system:", "System:").replace("network:", "netwrok:"))
    assert [fix for _, _, fix in found] == ["did you mean 'system'?", "did you mean 'network'?"]


def test_a_name_with_an_index_in_brackets_needs_quotes(tmp_path: Path) -> None:
    ((code, what, fix),) = findings(tmp_path, CIRCUIT.replace("[a, b]", "[n[0], b]"))
    assert (code, fix) == ("D060", "put it in quotes: 'n[1]'")
    assert what == "a name with an index stands in brackets without quotes"
