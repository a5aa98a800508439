"""Symbols of names: one small language, and one way of writing in formulas, figures, plots, files and reports."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.core.shipped import SYSTEMS
from tellegen.expressions import latex_name
from tellegen.expressions.symbols import GREEK, WORDS, NoSymbolError, read_symbol, written_with
from tellegen.model.model import Model, known_variables
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.scenes.scene import Label, Scene
from tellegen.schemes.translation import NOTATIONS, translation

MOTOR = """system: motor
parameters: {L_a: 2 mH, R_a: 0.5 ohm, K_m: 0.15 N*m/A, J_m: 1e-3 kg*m^2}
pog:
  - section: [V_a, I_a]
  - series: [L:L_a]
  - section: [V_r, I_a]
  - series: [R:R_a]
  - connect: K_m
  - section: [omega_m, C_m]
  - parallel: [J:J_m]
symbols:
  K_m: K_\\tau
  L_a: '\\hat{L}_{a,1}^{*}'
  omega_m: \\Omega
  C_m: "C'"
  V_r: \\tilde{V}_{\\text{rot}}
experiment: {until: 0.01 s, inputs: {V_a: 24 V}}
"""
SYMBOLS = {"K_m": r"K_{\tau}", "L_a": r"\hat{L}_{a,1}^{*}", "omega_m": r"\Omega", "C_m": r"C^{\prime}"}


def texts_of(scene: Scene) -> str:
    return "\n".join(shape.text.replace("{", "").replace("}", "") for shape in scene.shapes if isinstance(shape, Label))


@pytest.mark.parametrize(
    ("text", "latex", "plain"),
    [
        ("x", "x", "x"),
        (r"K_\tau", r"K_{\tau}", "K_τ"),
        (r"\dot{x}_{a,1}", r"\dot{x}_{a,1}", "ẋ_a,1"),
        ("R_{V_a}^*", "R_{V_{a}}^{*}", "R_V_a*"),
        ("x''", r"x^{\prime\prime}", "x′′"),
        (r"\mathbf{K}_{12}", r"\mathbf{K}_{12}", "K_12"),
        ("Re", r"\mathrm{Re}", "Re"),
        (r"\lambda^2", r"\lambda^{2}", "λ^2"),
    ],
)
def test_a_symbol_is_written_in_latex_and_plain(text: str, latex: str, plain: str) -> None:
    assert read_symbol(text) == (latex, plain)


@pytest.mark.parametrize(
    "text",
    [
        *(
            r"\input{x}",
            r"\href{a}{b}",
            "x$y",
            "<b>",
            "x_a_b",
            "x^2^3",
            r"\dot",
            r"\dot{x",
            "x y",
            "",
            "_a",
            r"x\\y",
            "x&y",
        ),
        *("%", "#1", "{x}", "x_{a;b}", r"\catcode`\@", "x_" * 40, "\\hat{" * 9 + "x" + "}" * 9),
    ],
)
def test_nothing_but_a_symbol_is_read(text: str) -> None:
    with pytest.raises(NoSymbolError):
        read_symbol(text)


@settings(max_examples=300)
@given(st.text(alphabet="\\{}_^',*xabK12 $%&#<>~dot\"", max_size=30))
def test_what_is_read_has_only_commands_of_the_language_and_closed_braces(text: str) -> None:
    try:
        latex = read_symbol(text).latex
    except NoSymbolError:
        return
    assert not set(latex) & set('$%&#<>~"')
    assert latex.count("{") == latex.count("}")
    commands = {word for word in latex.replace("{", " ").replace("}", " ").split("\\")[1:] if word}
    assert all(
        command.split()[0].split("_")[0].split("^")[0].split(",")[0] in {*GREEK, *WORDS, "prime"}
        for command in commands
    )
    assert (
        read_symbol(latex.replace(r"\prime", "'").replace("^{'}", "'").replace("^{''}", "''")).latex == latex
        or "'" in text
    )


def test_one_namer_serves_equations_figures_plots_and_reports(tmp_path: Path) -> None:
    model = read_model(MOTOR)
    equations = tg.derive(model)
    for form in ("pog", "ph", "lagrange", "tf", "dae"):
        made = tg.derive(model, form=form)
        assert r"K_{\tau}" in made.to_latex(), form
    assert r"K_{\tau}" in tg.derive(model, steps=True).to_latex()
    assert r"\dot{\Omega}" in equations.to_latex()
    assert r"\tilde{V}_{\text{rot}} &=" in equations.to_latex()
    assert r"K_{\tau}" in tg.reduce(model, {"R_a": 0}).equations.to_latex()
    for notation in ("pog", "bond", "network", "equations"):
        shown = texts_of(tg.draw(model, notation).scene)
        assert r"K_\tau" in shown, notation
        assert "K_m" not in shown, notation
    figure = tg.draw(model, "pog")
    assert r"\tilde" in texts_of(figure.scene)
    assert r"K_\tau" in figure.tikz().replace("{", "").replace("}", "")
    run = tg.simulate(model)
    assert r"\Omega" in texts_of(run.plot("omega_m").scene)
    tg.report(model, tmp_path / "report.md")
    assert "Ω" in (tmp_path / "report.md").read_text() or r"\Omega" in (tmp_path / "report.md").read_text()
    # What the symbols are for ends with it.
    assert latex_name("K_m") == "K_{m}"


def test_names_stay_what_commands_take() -> None:
    model = read_model(MOTOR)
    assert tg.derive(model).states == ("I_a", "omega_m")
    assert "K_m" in str(tg.derive(model))
    assert "C_m" in tg.simulate(model).final()


def test_symbols_come_back_from_files_in_every_notation() -> None:
    model = read_model(MOTOR)
    assert read_model(to_yaml(model)).symbols == model.symbols
    for notation in NOTATIONS:
        assert read_model(translation(model, notation)).symbols == model.symbols, notation
    small = tg.reduce(model, {"L_a": 0}).model
    assert set(read_model(to_yaml(small)).symbols) <= set(model.symbols)


def test_python_calls_say_symbols_too() -> None:
    net = tg.Network("lamp")
    net.voltage_source("V", "a", "gnd")
    net.resistor("R_1", "a", "gnd", R="6 ohm")
    net.symbols(R_1=r"R_\tau")
    assert net.model().symbols == {"R_1": r"R_\tau"}


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        (r"K_m: '\input{secret}'", "D494", r"'\\input' is none of its commands"),
        (r"K_x: K_\tau", "D495", "the symbol of 'K_x' is given, and nothing has this name"),
        ("K_m: R_a", "D496", "the symbol of 'K_m' is how 'R_a' is written"),
        (r"R_a: \Omega", "D496", "have one symbol"),
    ],
)
def test_wrong_symbols_are_told(line: str, code: str, what: str) -> None:
    name, _, _ = line.partition(":")
    kept = [old for old in MOTOR.splitlines() if not old.startswith(f"  {name}:")]
    text = "\n".join(kept).replace("symbols:\n", f"symbols:\n  {line}\n")
    with pytest.raises(TellegenError, match=what) as caught:
        read_model(text)
    assert caught.value.code == code


def renamed(model: Model) -> Model:
    """Every name of a model with a symbol of its own."""
    names = dict.fromkeys([*model.parameters, *known_variables(model.elements), *(e.name for e in model.elements)])
    plain = [name for name in names if "." not in name]
    return replace(model, symbols={name: f"Z_{{{k}}}" for k, name in enumerate(plain)})


@pytest.mark.parametrize("name", ["dc_motor_pump", "corking_shaft", "rlc", "crank_rod"])
def test_every_name_of_an_example_can_have_a_symbol(name: str) -> None:
    model = renamed(tg.load(name))
    latex = tg.derive(model).to_latex()
    with written_with(model.symbols):
        states = [latex_name(state) for state in tg.derive(model).states]
    assert states
    assert all(state in latex for state in states)


PAPER = {
    "corking_machine": {"K_2": "R_1", "K_3": "R_2", "K_4": "T_a", "L_4": "J_t", "R_3": "A_t"},
    "corking_machine_extended": {"K_2": "R_1", "K_4": "H_1", "K_5": "H_2", "L_4": "J_2", "R_4": "B_a"},
    "corking_transmission": {"K_1": "R_1", "K_3": "H_1", "R_1": "B_2", "omega_2": r"\omega_t"},
}
"""Names in the figures of the paper on the corking machine."""


def figure_formulas(what: tg.Model | str) -> str:
    """All formulas of the vector scheme."""
    return " ".join(shape.text for shape in tg.draw(what, "pog").scene.shapes if isinstance(shape, Label))


@pytest.mark.parametrize("name", PAPER)
def test_what_a_figure_counts_is_written_as_the_author_says(name: str) -> None:
    found = figure_formulas(name)
    for symbol in PAPER[name].values():
        letter, _, index = symbol.partition("_")
        written = {rf"\{bold}{{{letter}}}_{{{index}}}" for bold in ("mathbf", "boldsymbol")}
        assert any(text in found for text in written), symbol


def test_a_smaller_model_counts_for_itself() -> None:
    """K_3 of the whole transmission is no K_3 of the one with stiff nuts, in which there is no K_4 any more."""
    small = tg.reduce("corking_transmission", {"K_se": math.inf, "K_sr": math.inf}).model
    for model in (small, read_model(to_yaml(small))):
        found = figure_formulas(model)
        assert r"\mathbf{K}_{1}" in found
        assert r"\mathbf{H}_1" not in found


@pytest.mark.parametrize("name", ["corking_transmission", "dc_motor"])
def test_a_figure_tells_symbols_of_what_it_does_not_count(name: str) -> None:
    right = (SYSTEMS / f"{name}.yaml").read_text(encoding="utf-8")
    wrong = right.replace("symbols:", "symbols:\n  K_7: Z") if "symbols:" in right else f"{right}\nsymbols: {{K_7: Z}}"
    assert ["counted as 'K_7'" in tg.draw(read_model(text), "pog").svg() for text in (right, wrong)] == [False, True]
