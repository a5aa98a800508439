"""The functions behind the commands, and the list of public names."""

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError, EquationError, TellegenError
from tellegen.notations.loading import open_model
from tellegen.notations.reading import read_model

NETLIST = """\
**, Gr, Si, As, Si
eV, 1, 2, En, V_a=10, Fn, I_a
eR, 1, 3, Kn, R_a=2
eL, 3, 2, Kn, L_a=0.1, Fn, I_L
"""
TWO_SOURCES = (
    "system: fight\nnetwork: {V_1: {voltage source: [a]}, V_2: {voltage source: [a]}, R: {resistor: [a], R: 1 ohm}}\n"
)
APART = "system: apart\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a]}, m: {mass: [x]}, b: {damper: [x]}}\n"


@pytest.fixture
def netlist(tmp_path: Path) -> Path:
    path = tmp_path / "circuit.txt"
    path.write_text(NETLIST, encoding="utf-8")
    return path


# Names


def test_every_public_name_exists_and_dir_shows_it() -> None:
    for name in tg.__all__:
        assert getattr(tg, name) is not None
    assert set(tg.__all__) <= set(dir(tg))


def test_the_list_of_names_is_sorted_without_doubles() -> None:
    plain = [name for name in tg.__all__ if not name.startswith("_")]
    assert len(set(tg.__all__)) == len(tg.__all__)
    assert plain == sorted(plain)


def test_the_list_of_names_and_the_table_of_modules_agree() -> None:
    assert set(tg._MODULE_OF_NAME) | {"__version__"} == set(tg.__all__)


def test_the_names_that_type_checkers_see_are_the_public_ones() -> None:
    import ast

    file = tg.__file__
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen | {"__version__"} == set(tg.__all__)
    for node in guarded.body:
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None
            for alias in node.names:
                assert getattr(importlib.import_module(node.module), alias.name) is getattr(tg, alias.name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'derrive'"):
        _ = tg.derrive  # type: ignore[attr-defined]


def test_no_module_has_the_name_of_a_public_function() -> None:
    modules = {module.name for module in pkgutil.iter_modules(tg.__path__)}
    assert not modules & set(tg.__all__)


def test_every_error_class_is_public() -> None:
    assert {error.__name__ for error in TellegenError.__subclasses__()} <= set(tg.__all__)


def test_importing_the_package_loads_no_layer() -> None:
    program = (
        "import sys, tellegen; print([m for m in sys.modules if m.startswith('tellegen.') or m in ('sympy', 'yaml')])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_deriving_equations_of_an_example_needs_no_sympy() -> None:
    program = "import sys, tellegen; tellegen.derive('dc_motor_pump').to_json(); print('sympy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


# Examples and files


def test_examples_are_described_in_one_line_each() -> None:
    found = {example.name: example.about for example in tg.examples()}
    assert found["rlc"] == "A voltage source, a resistor, an inductor and a capacitor in one loop."
    assert {name: tg.load(name).about for name in found} == found


def test_a_mistyped_example_gets_the_nearest_name() -> None:
    with pytest.raises(DescriptionError) as caught:
        tg.load("quarter_cat")
    assert caught.value.code == "D301"
    assert caught.value.finding.fix == "did you mean 'quarter_car'?"


def test_an_example_name_cannot_lead_out_of_the_folder() -> None:
    with pytest.raises(DescriptionError) as caught:
        tg.load("../systems/rlc")
    assert caught.value.code == "D301"


def test_a_text_file_is_read_as_a_netlist_and_others_as_yaml(netlist: Path, tmp_path: Path) -> None:
    assert tg.read(netlist).inputs == ("V_a",)
    model = tmp_path / "lamp.yaml"
    model.write_text(
        "system: lamp\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a], R: 6 ohm}}\n", encoding="utf-8"
    )
    assert tg.read(str(model)).name == "lamp"


def test_a_missing_file_is_an_error_with_a_code() -> None:
    with pytest.raises(DescriptionError):
        tg.read("nowhere/at_all.yaml")


def test_a_text_that_is_neither_file_nor_example_says_so() -> None:
    with pytest.raises(DescriptionError) as caught:
        open_model("dc_moter")
    assert caught.value.code == "D300"
    assert caught.value.finding.fix == "did you mean 'dc_motor'?"


def test_a_file_comes_before_an_example_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rlc").write_text(
        "system: mine\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a], R: 6 ohm}}\n", encoding="utf-8"
    )
    assert open_model("rlc").name == "mine"


# Check


def test_check_tells_states_inputs_outputs_and_how_causality_was_found() -> None:
    found = tg.check("dc_motor_pump")
    assert found.ok
    assert (found.elements, found.states, found.inputs, found.outputs) == (
        10,
        ("I_a", "omega_m", "P_0"),
        ("V_a", "Q_0"),
        ("I_a", "P_0"),
    )
    assert found.method == "elimination"
    assert not found.findings


def test_check_tells_dependent_storages_and_zero_order_paths_by_kind() -> None:
    found = tg.check("cauer_low_pass")
    assert found.ok
    assert found.dependent == {"C2": ("C1", "C3"), "C4": ("C3", "C5")}
    assert set(found.paths["storage-storage"]) == {("C1", "C2"), ("C3", "C2"), ("C3", "C4"), ("C5", "C4")}
    assert [finding.code for finding in found.findings] == ["K201", "K201"]


@pytest.mark.parametrize(
    ("text", "code"), [(TWO_SOURCES, "K101"), (APART, "G104"), ("system: x\nnetwork: {R: {resistr: [a]}}\n", "D1")]
)
def test_check_reports_a_bad_model_instead_of_raising(text: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    found = tg.check(path)
    assert not found.ok
    assert any(finding.code.startswith(code) for finding in found.findings)
    assert found.findings[0].place is not None


def test_check_finds_what_only_the_equations_show() -> None:
    text = (
        "system: cancelled\nparameters: {R: 1 ohm}\n"
        "network: {V: {voltage source: [a]}, R_1: {resistor: [a, b], R: R}, R_2: {resistor: [b], R: -R}}"
    )
    found = tg.check(read_model(text))
    assert "E103" in {finding.code for finding in found.findings}
    assert not found.ok


def test_check_of_something_that_does_not_exist_is_a_finding() -> None:
    found = tg.check("no_such_model")
    assert (found.name, found.ok, found.findings[0].code) == ("no_such_model", False, "D300")


def test_the_record_of_a_check_is_json() -> None:
    record = json.loads(json.dumps(tg.check("cauer_low_pass").to_json()))
    assert record["ok"] is True
    assert record["dependent"] == {"C2": ["C1", "C3"], "C4": ["C3", "C5"]}
    assert record["states"] == ["V_C1", "I_L1", "V_C3", "I_L2", "V_C5"]


def test_the_text_of_a_check_begins_with_the_verdict() -> None:
    assert str(tg.check("rlc")).splitlines()[0] == "Series RLC circuit: no errors"
    assert str(tg.check("no_such_model")).splitlines()[0] == "no_such_model: 1 error"


# Derive


def test_a_model_may_be_a_value_a_builder_a_path_or_a_name(tmp_path: Path) -> None:
    net = tg.Network("loop")
    net.voltage_source("V", "a", "gnd")
    net.resistor("R", "a", "b", R="10 ohm")
    net.inductor("L", "b", "gnd", L="2 mH", current="I_L")
    path = tmp_path / "loop.yaml"
    path.write_text(tg.to_yaml(net.model()), encoding="utf-8")
    for model in (net, net.model(), path, str(path)):
        system = tg.derive(model)
        assert (system.states, system.inputs) == (("I_L",), ("V",))


def test_a_builder_can_be_checked() -> None:
    net = tg.Network("empty")
    found = tg.check(net)
    assert (found.name, found.ok) == ("empty", False)


def test_each_form_has_its_own_type() -> None:
    assert isinstance(tg.derive("rlc"), tg.EquationSystem)
    assert isinstance(tg.derive("rlc", form="dae"), tg.DescriptorSystem)
    assert isinstance(tg.derive("rlc", form="tf"), tg.TransferMatrix)
    assert isinstance(tg.derive("rlc", numeric=True), tg.DescriptorSystem)
    assert isinstance(tg.derive("rlc", numeric=True, eliminate=True), tg.EquationSystem)


def test_an_unknown_form_gets_the_nearest_one() -> None:
    with pytest.raises(DescriptionError) as caught:
        tg.derive("rlc", form="pogg")
    assert (caught.value.code, caught.value.finding.fix) == ("D303", "did you mean 'pog'?")


def test_numbers_need_values() -> None:
    model = read_model("system: open\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a]}}")
    for eliminate in (False, True):
        with pytest.raises(EquationError) as caught:
            tg.derive(model, numeric=True, eliminate=eliminate)
        assert caught.value.code == "E105"


def test_a_numeric_transfer_matrix_keeps_only_its_variable() -> None:
    found = tg.derive("rlc", form="tf", numeric=True)
    assert found.entries[0][0].free_symbols == {"s"}
    assert found.entries[0][0].evaluate({"s": 3.0}) == pytest.approx(1e-5 * 3 / (1e-7 * 9 + 20e-5 * 3 + 1), rel=1e-12)


def test_numbers_replace_parameters_in_nonlinear_terms_too() -> None:
    text = (
        "system: curved\nparameters: {k: 2 V/A^3}\nnetwork: {V: {voltage source: [a]}, L: {inductor: [a, b], L: 3 H},"
        " R: {resistor: [b], law: v = k*i^3}}"
    )
    found = tg.derive(read_model(text), numeric=True, eliminate=True)
    assert isinstance(found, tg.EquationSystem)
    assert [str(e) for e in found.vectors["f"]] == ["2*I_L^3"]
    assert [str(e) for e in found.matrices["L"][0]] == ["3"]


# Linearise


def test_linearising_a_cubic_resistor_gives_its_slope() -> None:
    text = (
        "system: curved\nparameters: {k: 2 V/A^3}\nnetwork: {V: {voltage source: [a]}, L: {inductor: [a, b], L: 3 H},"
        " R: {resistor: [b], law: v = k*i^3}}"
    )
    found = tg.linearise(read_model(text), at={"I_L": 0.5}, inputs={"V": 0.25})
    assert found.matrices["A"][0][0].evaluate({}) == pytest.approx(3 * 2 * 0.25, rel=1e-12)
    assert found.matrices["L"][0][0].evaluate({}) == 3


def test_an_operating_point_with_an_unknown_name_is_refused() -> None:
    with pytest.raises(DescriptionError) as caught:
        tg.linearise("rlc", at={"V_c": 1.0})
    assert (caught.value.code, caught.value.finding.fix) == ("D305", "did you mean 'V_C'?")


# Translation


@pytest.mark.parametrize("notation", ["network", "bond", "pog"])
@pytest.mark.parametrize(
    "name", ["dc_motor_pump", "corking_shaft", "pmsm", "loudspeaker", "buck_converter", "crank_rod"]
)
def test_a_translated_model_has_the_same_record(name: str, notation: Literal["network", "bond", "pog"]) -> None:
    again = read_model(tg.translate(name, notation))
    here, there = tg.derive(again).to_json(), tg.derive(name).to_json()
    assert here == there
    assert again.experiment == tg.load(name).experiment


def test_a_translation_is_written_once_and_replaced_only_by_force(tmp_path: Path) -> None:
    target = tmp_path / "rlc.yaml"
    text = tg.translate("rlc", "bond", target)
    assert target.read_text(encoding="utf-8") == text
    with pytest.raises(DescriptionError, match="D302"):
        tg.translate("rlc", "pog", target)
    assert tg.translate("rlc", "pog", target, force=True) == target.read_text(encoding="utf-8")


def test_an_unknown_notation_is_told_the_nearest() -> None:
    with pytest.raises(DescriptionError) as caught:
        tg.translate("rlc", "bind")  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.finding.fix) == ("D486", "did you mean 'bond'?")


# Import


def test_importing_a_netlist_gives_a_model_file_with_the_same_equations(netlist: Path) -> None:
    text = tg.import_model(netlist)
    here, there = tg.derive(read_model(text)).to_json(), tg.derive(netlist).to_json()
    assert here == there


def test_an_import_is_written_once_and_replaced_only_by_force(netlist: Path, tmp_path: Path) -> None:
    target = tmp_path / "circuit.yaml"
    text = tg.import_model(netlist, target)
    assert target.read_text(encoding="utf-8") == text
    target.write_text("kept", encoding="utf-8")
    with pytest.raises(DescriptionError) as caught:
        tg.import_model(netlist, target)
    assert caught.value.code == "D302"
    assert target.read_text(encoding="utf-8") == "kept"
    tg.import_model(netlist, target, force=True)
    assert target.read_text(encoding="utf-8") == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["circuit.txt", "circuit.yaml"]


def test_a_model_file_needs_no_import(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError) as caught:
        tg.import_model(tmp_path / "model.yaml")
    assert caught.value.code == "D304"
