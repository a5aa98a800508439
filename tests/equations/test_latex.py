"""Equations in LaTeX."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

import tellegen as tg
from support.amount import small_now
from tellegen.core.names import numbered
from tellegen.equations.printing.explanation import STATE_LETTERS, PlaceNames
from tellegen.equations.printing.latex import (
    LONGEST_PART,
    descriptor_to_latex,
    dotted,
    equations_to_latex,
    transfer_to_latex,
)
from tellegen.expressions import parse
from tellegen.expressions.elimination import with_definitions
from tellegen.expressions.simplification import NamedParts
from tellegen.notations.reading import read_model


def assert_balanced(text: str) -> None:
    """Braces, environments and \\left \\right pair up; nothing but ASCII."""
    assert text.isascii()
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text))
    open_environments: list[str] = []
    for word, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", text):
        if word == "begin":
            open_environments.append(name)
        else:
            assert open_environments.pop() == name
    assert not open_environments


def test_matrices_stand_over_braces_with_their_letters() -> None:
    text = tg.derive("dc_motor").to_latex()
    assert r"\underbrace{\begin{bmatrix} L & 0 \\ 0 & J \end{bmatrix}}_{\mathbf{L}}" in text
    assert r"= -\underbrace{\begin{bmatrix} R & K \\ -K & b \end{bmatrix}}_{\mathbf{A}}" in text
    assert r"\underbrace{\begin{bmatrix} \dot{I} \\ \dot{\omega} \end{bmatrix}}_{\dot{\mathbf{x}}}" in text
    assert text.startswith("\\begin{align*}\n")
    assert text.endswith("\n\\end{align*}")


def test_the_other_sign_negates_the_matrix() -> None:
    text = tg.derive("dc_motor").to_latex("+")
    assert r"= \underbrace{\begin{bmatrix} -R & -K \\ K & -b \end{bmatrix}}_{\mathbf{A}}" in text


@pytest.mark.parametrize("name", small_now(example.name for example in tg.examples()))
def test_every_example_gives_balanced_latex_in_every_form(name: str) -> None:
    assert_balanced(tg.derive(name).to_latex())
    if tg.derive(name).linear:
        assert_balanced(transfer_to_latex(tg.derive(name, form="tf")))
    assert_balanced(descriptor_to_latex(tg.derive(name, form="dae")))


@pytest.mark.slow
def test_latex_compiles_every_example(system_tool: Callable[[str], str], tmp_path: Path) -> None:
    """All examples in one document: what is balanced may still be no LaTeX."""
    pdflatex = system_tool("pdflatex")
    shown = []
    for example in tg.examples():
        shown.append(tg.derive(example.name).to_latex())
        shown.append(tg.derive(example.name, form="ph").to_latex())
        shown.append(descriptor_to_latex(tg.derive(example.name, form="dae")))
        if tg.derive(example.name).linear:
            shown.append(transfer_to_latex(tg.derive(example.name, form="tf")))
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\setcounter{MaxMatrixCols}{10}\n\\begin{document}\n"
    (tmp_path / "examples.tex").write_text(head + "\n\n".join(shown) + "\n\\end{document}\n", encoding="ascii")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "examples.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]


def test_a_notebook_gets_display_math() -> None:
    text = tg.derive("rlc")._repr_latex_()
    assert text.startswith("$$\n\\begin{aligned}")
    assert text.endswith("\\end{aligned}\n$$")
    assert_balanced(text)


def test_a_matrix_of_more_than_ten_columns_is_an_array() -> None:
    cells = "".join(
        f"  R{k}: {{resistor: [n{k - 1}, n{k}]}}\n  C{k}: {{capacitor: [n{k}, gnd]}}\n" for k in range(1, 12)
    )
    text = tg.derive(read_model(f"system: ladder\nnetwork:\n  V: {{voltage source: [n0, gnd]}}\n{cells}")).to_latex()
    assert rf"\left[\begin{{array}}{{{'c' * 11}}}" in text
    assert_balanced(text)


def test_the_dot_stands_over_the_letter() -> None:
    assert dotted("omega_m") == r"\dot{\omega}_{m}"
    assert dotted("I") == r"\dot{I}"


def test_dependent_storages_and_energy_are_part_of_the_display() -> None:
    text = equations_to_latex(tg.derive("cauer_low_pass"), environment="align")
    assert text.startswith("\\begin{align}\n")
    assert r"V_{C2} &= V_{C1} - V_{C3}" in text
    assert "E &= " in text
    assert "P_{d} &= " in text


@pytest.mark.parametrize("form", ["dae", "tf"])
def test_every_form_shows_itself(form: Literal["dae", "tf"]) -> None:
    value: Any = tg.derive("rlc", form=form)
    assert str(value).startswith(value.name)
    shown = value._repr_latex_()
    assert shown.startswith("$$\n\\begin{aligned}")
    assert_balanced(shown)
    assert value.to_json()["inputs"] == ["V"]


def test_a_long_sum_goes_on_in_a_further_line() -> None:
    lines = tg.derive("corking_machine_extended").to_latex().split(" \\\\\n")
    (energy,) = [k for k, line in enumerate(lines) if line.startswith("  E &= ")]
    assert lines[energy + 1].startswith(r"  &\qquad + ")
    assert max(map(len, lines[energy : energy + 2])) < 450


def test_wide_matrices_have_names_for_their_entries() -> None:
    """What the names stand for gives the matrices again."""
    system = tg.derive("five_bar")
    short = NamedParts(LONGEST_PART, numbered("k", ()))
    rows = [[short.part(e) for e in row] for row in system.matrices["L"]]
    assert all(len(str(e)) < 200 for row in rows for e in row)
    assert [[with_definitions(e, short.definitions) for e in row] for row in rows] == [
        list(row) for row in system.matrices["L"]
    ]
    text = system.to_latex()
    # Entries are called by their places, and what is long in them by further names.
    ((first, second),) = re.findall(r"\\underbrace\{\\begin\{bmatrix\} (L_\{\d+\}) & (L_\{\d+\})", text)[:1]
    assert (first, second) == ("L_{11}", "L_{12}")
    for name in (first, second):
        assert len(re.findall(re.escape(name) + r"\\left\(.*\\right\) &= ", text)) == 1
    assert re.search(r"k_\{\d+\} &= ", text)


def test_long_entries_of_moving_models_stand_on_lines_of_their_own() -> None:
    text = tg.derive("planar_robot").to_latex()
    first, *_ = text.splitlines()[1:]
    assert r"L_{11} & L_{12} & L_{13} \\ L_{12} & L_{22}" in first
    assert r"L_{12}\left(\phi_{1}, \phi_{2}\right) &= l_{1} l_{2} \left(m_{3} + \frac{m_{2}}{2}\right) \cos" in text
    # What is short, or fits on a page, has no names.
    assert "J_{m} + H^{2} m_{p}" in tg.derive("crank_rod").to_latex()
    assert "L_{11}" not in tg.derive("dc_motor_pump").to_latex()


def test_names_of_entries_give_the_matrices_again_and_repeat_no_name() -> None:
    system = tg.derive("planar_robot")
    taken = replace(system, parameters={**system.parameters, "L_12": None})
    names = PlaceNames(taken)
    brief = names.shortened(STATE_LETTERS)
    assert "L_12" not in names.definitions
    for letter in ("L", "N", "A", "B"):
        again = [[with_definitions(e, names.definitions) for e in row] for row in brief.matrices[letter]]
        assert again == [list(row) for row in system.matrices[letter]]
    assert [with_definitions(e, names.definitions) for e in brief.vectors["f"]] == list(system.vectors["f"])


def test_a_name_that_is_taken_names_no_part() -> None:
    short = NamedParts(LONGEST_PART, numbered("k", {"k_1"}))
    assert str(short.part(parse(" + ".join(f"a_{k}*b_{k}" for k in range(40))))) == "k_2"
