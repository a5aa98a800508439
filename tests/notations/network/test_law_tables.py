"""Laws given by points: what they give, how they are written back, and what is refused."""

from pathlib import Path

import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError, Finding
from tellegen.expressions import to_c
from tellegen.model.laws import Law
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml


def text_of(line: str) -> str:
    return f"system: T\nnetwork:\n  F: {{force source: [a]}}\n  m: {{mass: [a], m: 1 kg}}\n  X: {{{line}}}\n"


def law(line: str) -> Law:
    found = read_model(text_of(line)).elements[-1].law
    assert found is not None
    return found


def error(line: str) -> Finding:
    with pytest.raises(DescriptionError) as caught:
        read_model(text_of(line))
    (only,) = caught.value.findings
    return only


@pytest.mark.parametrize(
    ("line", "form", "variable", "gives"),
    [
        ("spring: [a], law: {table: [[-1, -3], [0, 0], [1, 2]]}", "output", "x", "through"),
        ("spring: [a], law: {table: [[-3, -1], [0, 0], [2, 1]], gives: x}", "content", "F", "through"),
        ("damper: [a], law: {table: [[-1, -3], [0, 0], [1, 2]]}", "resistive", "v", "through"),
        ("damper: [a], law: {table: [[-3, -1], [0, 0], [2, 1]], gives: v}", "resistive", "F", "across"),
    ],
)
def test_a_table_gives_the_left_side_of_the_own_law_unless_told(
    line: str, form: str, variable: str, gives: str
) -> None:
    found = law(line)
    assert (found.form, found.variable, found.gives) == (form, variable, gives)
    first, last = (-1.0, 1.0) if variable in ("x", "v") else (-3.0, 2.0)
    assert found.expression.evaluate({variable: first}) == (-3 if first == -1 else -1)
    assert found.expression.evaluate({variable: last}) == (2 if last == 1 else 1)
    assert "fmin" in to_c(found.expression)


def test_points_may_have_units_and_come_from_a_file(tmp_path: Path) -> None:
    written = law("spring: [a], law: {table: [[0 mm, 0], [10 mm, 2 kN]]}")
    assert written.expression.evaluate({"x": 0.005}) == pytest.approx(1000)
    (tmp_path / "spring.csv").write_text("x,F\n-1,-3\n0,0\n1,2\n")
    file = tmp_path / "model.yaml"
    file.write_text(text_of("spring: [a], law: {table: {file: spring.csv, time: x, column: F}}"))
    assert read_model(file).elements[-1].law == law("spring: [a], law: {table: [[-1, -3], [0, 0], [1, 2]]}")


@pytest.mark.parametrize("more", ["", ", interpolation: cubic", ", gives: x"])
def test_a_table_is_written_as_it_was_read(more: str) -> None:
    model = read_model(text_of("spring: [a], law: {table: [[-1.0, -3.0], [0.0, 0.0], [1.0, 2.5]]" + more + "}"))
    again = read_model(to_yaml(model))
    assert again.elements[-1].law == model.elements[-1].law


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
@pytest.mark.parametrize("gives", ["F", "x"])
def test_the_energy_of_a_storage_by_points_balances(interpolation: str, gives: str) -> None:
    points = "[[-1, -3], [-0.4, -1], [0, 0], [0.3, 0.6], [1, 5]]"
    if gives == "x":
        points = "[[-3, -1], [-1, -0.4], [0, 0], [0.6, 0.3], [5, 1]]"
    text = (
        "system: T\nnetwork:\n  m: {mass: [a], m: 1 kg, initial: 1.2 m/s}\n"
        f"  s: {{spring: [a, frame], law: {{table: {points}, gives: {gives}, interpolation: {interpolation}}}}}\n"
        "  b: {damper: [a, frame], b: 0.1 N*s/m}\nexperiment: {until: 10 s}\n"
    )
    run = tg.simulate(read_model(text), rtol=1e-8)
    assert run.energy.stored < -0.4
    assert abs(run.energy.residual) < 1e-6


def test_wrong_tables_are_refused_with_what_to_do() -> None:
    spring = "spring: [a], law: "
    found = error(spring + "{table: [[-1, -3], [0, 0], [1, -2]]}")
    assert found.code == "D711"
    assert found.what == "the law of X does not rise: point 3 is -2, after 0"
    found = error(spring + "{table: [[0, 0], [2, 1], [1, 2]]}")
    assert found.code == "D515"
    assert "do not rise: point 3 is at 1, after 2" in found.what
    assert error(spring + "{table: [[0, 0], [1, nan]]}").code == "D516"
    assert error(spring + "{table: [[0, 0]]}").code == "D514"
    found = error(spring + "{gives: F}")
    assert (found.code, found.what) == ("D710", "the law of X has no 'table'")
    found = error(spring + "{table: [[0, 0], [1, 1]], gives: v}")
    assert (found.what, found.fix) == ("the law of X cannot give 'v'", "write one of 'x', 'F'")
    found = error(spring + "{table: [[0, 0], [1, 1]], interpolation: cubik}")
    assert found.fix == "did you mean 'cubic'?"
    found = error(spring + "{table: [[0 V, 0], [1 V, 1]]}")
    assert found.what == "the displacement in the table of X is in V, not in m"
    many = ", ".join(f"[{k}, {k}]" for k in range(201))
    assert error(spring + "{table: [" + many + "]}").what == "the law of X has 201 points, more than 200"


def test_a_resistive_table_may_fall() -> None:
    falling = law("damper: [a], law: {table: [[-1, -3], [0, 0], [1, 2], [2, 1]]}")
    assert falling.expression.evaluate({"v": 1.5}) == 1.5
