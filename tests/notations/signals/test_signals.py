"""Signals in files and in Python: formulas, blocks, sources that follow them, tables, and what a wrong one is told."""

from pathlib import Path
from typing import Any

import pytest

from tellegen.core.errors import DescriptionError, Finding
from tellegen.core.units import is_unit, parse_unit
from tellegen.expressions import parse
from tellegen.model.model import Model
from tellegen.model.signals import Points
from tellegen.notations.network.builder import Network
from tellegen.notations.reading import read_model
from tellegen.notations.signals import formulas
from tellegen.notations.writing import to_yaml


def text(signals: str, *, source: str = "signal: V_c", more: str = "", experiment: str = "") -> str:
    """A coil on a controlled source, with the lines of its signals."""
    body = "".join(f"  {line.strip()}\n" for line in signals.strip().splitlines())
    return f"""\
system: Coil
parameters: {{L: 10 mH, R: 1 ohm, K: 3 ohm, T: 2 ms}}
network:
  V: {{voltage source: [a, gnd]{", " if source else ""}{source}}}
  L: {{inductor: [a, b], current: I}}
  R: {{resistor: [b, gnd]}}
{more}signals:
{body}experiment: {{{experiment}}}
"""


def model(signals: str, **parts: str) -> Model:
    return read_model(text(signals, **parts))


def errors(signals: str, **parts: str) -> tuple[Finding, ...]:
    with pytest.raises(DescriptionError) as caught:
        model(signals, **parts)
    return caught.value.findings


def error(signals: str, **parts: str) -> Finding:
    found = errors(signals, **parts)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


# Size


def names_asked(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many words are asked whether they are units while so many signals are read."""
    asked = 0

    def counting(word: str) -> bool:
        nonlocal asked
        asked += 1
        return is_unit(word)

    monkeypatch.setattr(formulas, "is_unit", counting)
    model("  V_c: 2 V\n" + "".join(f"  x_{k}_{count}: 2*t\n" for k in range(count)))
    return asked


def test_reading_many_signals_asks_about_each_name_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    assert names_asked(200, monkeypatch) <= 2.2 * names_asked(100, monkeypatch)


# Reading


def test_a_formula_reads_variables_parameters_signals_and_time() -> None:
    found = model("e: 2 A - I + 1 A/s*t\nV_c: K*e").signals
    assert found["e"].settings["formula"] is parse("2 - I + t")
    assert found["e"].dimension == parse_unit("A").dimension
    assert found["V_c"].dimension == parse_unit("V").dimension


def test_signals_may_be_described_in_any_order() -> None:
    assert model("V_c: K*e\ne: 2 A - I").signals["V_c"].dimension == parse_unit("V").dimension


def test_a_source_follows_a_name_or_a_formula() -> None:
    assert model("V_c: 5 V").elements[0].signal is parse("V_c")
    assert model("e: 2 A - I", source="signal: K*e + 1 V").elements[0].signal is parse("K*e + 1")


def test_a_bare_gain_may_carry_any_unit() -> None:
    assert model("V_c: 3*(2 A - I)").signals["V_c"].dimension is None


@pytest.mark.parametrize(
    ("text", "quantity"),
    [("h: 2 A - I\nV_c: 3 ohm*h", "(3 ohm)*h"), ("s: 2 A\nV_c: 2 V/s*t", "(2 V)/s"), ("s: 2 V/s*t\nV_c: s", "(2 V)/s")],
)
def test_a_word_that_may_be_a_unit_or_a_signal_is_refused(text: str, quantity: str) -> None:
    with pytest.raises(DescriptionError, match="may be the unit or the signal of that name") as caught:
        model(text)
    assert caught.value.code == "D521"
    assert quantity in str(caught.value)


@pytest.mark.parametrize("formula", ["(3 ohm)*h", "h*3 ohm", "3 ohm * h"])
def test_a_letter_that_is_a_unit_is_a_signal_where_it_is_joined_to_no_unit(formula: str) -> None:
    assert model(f"h: 2 A - I\nV_c: {formula}").signals["V_c"].settings["formula"] is parse("3*h")


def test_a_unit_directly_behind_a_number_is_a_unit() -> None:
    assert model("A: 2 V/ohm - I\nV_c: 3 ohm*(1 A - A)").signals["V_c"].settings["formula"] is parse("3*(1 - A)")


def test_time_behind_a_unit_is_time() -> None:
    assert model("V_c: 3 V/s*t").signals["V_c"].settings["formula"] is parse("3*t")


def test_a_block_keeps_what_was_given() -> None:
    found = model("V_c: {pid: 2 A - I, K_p: K, limits: [-24 V, 24 V]}").signals["V_c"]
    assert found.block == "pid"
    assert list(found.settings) == ["pid", "K_p", "limits"]
    assert found.dimension == parse_unit("V").dimension


def test_resistances_moduli_and_laws_read_signals() -> None:
    more = "  R_h: {resistor: [b, gnd], R: R_hot}\n  R_n: {resistor: [b, gnd], law: v = c*i*abs(i)}\n"
    signals = "R_hot: 1 ohm + 0.1 ohm/s*t\nc: 2 + sin(3 Hz*t)\nV_c: 1 V"
    found = {e.name: e for e in model(signals, more=more).elements}
    assert found["R_h"].value is parse("R_hot")
    assert found["R_n"].law is not None
    assert "c" in found["R_n"].law.expression.free_symbols


def test_inputs_of_the_experiment_read_signals() -> None:
    found = model("r: step(2 V)", source="", experiment="inputs: {V: 3 V + r}").experiment.inputs["V"]
    assert (found.shape, found.expression) == ("formula", parse("r + 3"))


def test_outputs_of_the_experiment_may_be_signals() -> None:
    assert model("V_c: 5 V", experiment="outputs: [I, V_c]").experiment.outputs == ("I", "V_c")


def test_an_ideal_sensor_has_the_unit_of_its_nodes() -> None:
    assert model("v: {across: [a, b]}\nV_c: v").signals["v"].dimension == parse_unit("V").dimension


def test_bond_graphs_and_ladders_have_signals_too() -> None:
    signals = "elements: {V: {signal: V_c}}\nsignals: {V_c: 3 ohm*(2 A - I)}\n"
    head = "system: Coil\nparameters: {L: 10 mH, R: 1 ohm}\n"
    bonds = "bond graph:\n  - Se:V -> 1:i (I, electrical)\n  - i -> I:L\n  - i -> R:R\n"
    found = read_model(head + bonds + signals)
    assert [e.signal for e in found.elements if e.name == "V"] == [parse("V_c")]
    assert found.signals["V_c"].dimension == parse_unit("V").dimension


# Tables


def test_points_of_a_table_may_carry_units() -> None:
    found = model("V_c: {table: [[0 ms, 1 V], [10 ms, 3 kV]]}").signals["V_c"]
    assert found.settings["table"] == Points((0.0, 0.01), (1.0, 3000.0))
    assert found.dimension == parse_unit("V").dimension


def beside(folder: Path, signals: str) -> Model:
    path = folder / "model.yaml"
    path.write_text(text(signals), encoding="utf-8")
    return read_model(path)


def beside_error(folder: Path, signals: str) -> Finding:
    with pytest.raises(DescriptionError) as caught:
        beside(folder, signals)
    assert len(caught.value.findings) == 1, str(caught.value)
    return caught.value.findings[0]


RUN = "V_c: {table: {file: run.csv, time: t, column: v, time unit: ms, unit: V}}"


def test_a_table_is_read_from_columns_of_a_csv_file(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("t,i,v\n0,9,1\n\n10,9,2.5\n", encoding="utf-8")
    assert beside(tmp_path, RUN).signals["V_c"].settings["table"] == Points((0.0, 0.01), (1.0, 2.5))


def test_a_table_is_read_from_columns_of_a_parquet_file(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"t": [0.0, 10.0], "v": [1.0, 2.5]}), tmp_path / "run.parquet")
    found = beside(tmp_path, RUN.replace("run.csv", "run.parquet")).signals["V_c"]
    assert found.settings["table"] == Points((0.0, 0.01), (1.0, 2.5))


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("t,v\n0,1\n1,\n2,3\n", "D516", "line 3 of 'run.csv' has nothing where a number belongs"),
        ("t,v\n0,1\n1,nan\n2,3\n", "D516", "point 2 of the table of V_c is not finite"),
        ("t,v\n0,1\n1,x\n", "D516", "line 3 of 'run.csv' has 'x' where a number belongs"),
        ("t,v\n0,1\n2,2\n1,3\n", "D515", "point 3 is at 0.001, after 0.002"),
        ("t,w\n0,1\n2,2\n", "D517", "'run.csv' has no column 'v'"),
        ("t,v\n0,1\n", "D514", "the table of V_c has 1 point"),
    ],
)
def test_a_bad_file_is_told_where(tmp_path: Path, content: str, code: str, words: str) -> None:
    (tmp_path / "run.csv").write_text(content, encoding="utf-8")
    found = beside_error(tmp_path, RUN)
    assert (found.code, words in found.what) == (code, True), str(found)


def test_a_missing_file_names_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("t,v\n0,1\n2,2\n", encoding="utf-8")
    found = beside_error(tmp_path, RUN)
    assert (found.code, found.fix) == ("D517", "did you mean 'runs.csv'?")


def test_no_file_outside_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("t,v\n0,1\n2,2\n", encoding="utf-8")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.csv").symlink_to(tmp_path / "run.csv")
    for name in ("../run.csv", str(tmp_path / "run.csv"), "link.csv"):
        assert beside_error(inner, RUN.replace("run.csv", name)).code == "D518"


def test_a_file_that_is_no_table_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_bytes(b"\xff\xfe\x00")
    assert "neither a CSV file in UTF-8 nor a .parquet file" in beside_error(tmp_path, RUN).what
    (tmp_path / "run.parquet").write_bytes(b"none")
    assert "not a Parquet file" in beside_error(tmp_path, RUN.replace("run.csv", "run.parquet")).what


def test_a_text_without_a_file_has_nothing_beside_it() -> None:
    assert "nothing lies beside it" in error(RUN).what


# What is wrong


@pytest.mark.parametrize(
    ("signals", "code", "words"),
    [
        ("V_c: K*J", "D500", "the signal V_c uses 'J', which is no signal, variable or parameter"),
        ("V_c: 3 ohm*(2 V - I)", "D122", "the signal V_c adds"),
        ("V_c: 2 A - I", "D504", "the signal of V is in A, not in V"),
        ("R: 2 A\nV_c: 1 V", "D501", "the signal 'R' has the name of a parameter"),
        ("V: 2 A\nV_c: 1 V", "D501", "the signal 'V' has the name of a variable of an element"),
        ("t: 2 A\nV_c: 1 V", "D502", "a signal is named 't', like the time"),
        ("sin: 2 A\nV_c: 1 V", "D501", "it has a meaning of its own in formulas"),
        ("V_c: {pdi: I, K_p: K}", "D503", "'pdi' is not a signal block"),
        ("V_c: {pid: I, K_q: K}", "D100", "'K_q' is not a key of the pid V_c"),
        ("V_c: {pid: I}", "D510", "the pid V_c has no gain"),
        ("V_c: {pid: I, K_d: 1}", "D509", "the pid V_c has a K_d and no filter"),
        ("V_c: {pid: I, K_p: 1, filter: 1 ms}", "D510", "has 'filter' and no 'K_d'"),
        ("V_c: {pid: I, K_i: 1, anti-windup: clamp}", "D510", "has 'anti-windup' and no 'limits'"),
        ("V_c: {quantise: 3 ohm*I, step: 0}", "D009", "the quantise V_c divides by zero"),
        (
            "V_c: {pid: I, K_p: 1, K_i: 0, limits: [0, 1], anti-windup: back-calculation}",
            "D009",
            "the pid V_c divides by zero",
        ),
        ("V_c: {pid: I, K_i: 1, limits: [-1, 1], anti-windup: back-calculation}", "D510", "no 'tracking'"),
        (
            "V_c: {pid: I, K_i: 1, limits: [-1, 1], anti-windup: none}",
            "D511",
            "'none' is no anti-windup of the pid V_c",
        ),
        ("V_c: {pid: I, K_p: K, limits: [1 V]}", "D511", "the pid V_c has 1 limits, not 2"),
        ("V_c: {pid: I, K_p: K, limits: [1 A, 2 A]}", "D122", "the signal V_c joins"),
        ("V_c: {saturate: K*I, limits: [K*2 A, K*1 A]}", "D507", "the limits of the saturate V_c are 6 and 3"),
        ("V_c: {saturate: K*I, limits: [1 V, 1 V]}", "D507", "the limits of the saturate V_c are 1 and 1"),
        ("V_c: {delay: K*I, by: -T}", "D506", "'by' of the delay V_c is -0.002 s"),
        ("V_c: {delay: K*I, by: 0 s}", "D506", "'by' of the delay V_c is 0 s"),
        ("V_c: {sample: K*I, every: 1 ms, offset: -1 ms}", "D506", "'offset' of the sample V_c is -0.001 s"),
        ("V_c: {delay: K*I, by: 3 V}", "D504", "'by' of the signal V_c is in V, not in s"),
        ("V_c: {delay: K*I, by: T + t}", "D505", "depends on 't', which changes over time"),
        ("V_c: {delay: K*I, by: T, initial: I}", "D505", "depends on 'I', which changes over time"),
        ("V_c: {delay: K*I}", "D510", "the delay V_c has no 'by'"),
        (
            "V_c: {transfer function: I, numerator: [1, 0], denominator: [0, 1]}",
            "D508",
            "degree 1 and a denominator of degree 0",
        ),
        ("V_c: {transfer function: I, numerator: [1], denominator: [0]}", "D508", "the denominator 0"),
        ("V_c: {state feedback: [I, I], gains: [1]}", "D511", "has 2 states and 1 gains"),
        ("V_c: {across: [a, c]}", "D520", "the sensor V_c is at 'c', which is no node"),
        ("V_c: {python: [I]}", "D519", "a Python function, which no file can hold"),
        ("V_c: {table: [[0, 1], [0, 2]]}", "D515", "do not rise: point 2 is at 0, after 0"),
        ("V_c: {table: [[0, 1], [1]]}", "D514", "a point of V_c has 1 number, not 2"),
        ("V_c: {table: [[0, 1], [1, x]]}", "D516", "'x' in the table of V_c is not a number"),
        ("V_c: {table: [[0 V, 1 V], [1 V, 2 V]]}", "D504", "the points of the table V_c are in V, and it is read at s"),
        ("V_c: {table: {file: run.csv, time: t}}", "D514", "the table of V_c has no 'column'"),
        ("V_c: {table: {fiel: run.csv}}", "D100", "'fiel' is not a key of the table of V_c"),
        ("a: b + 1\nb: a\nV_c: 1 V*a", "D512", "the signals a -> b -> a define each other, and no value can be right"),
        ("V_c: V_c", "D512", "the signal V_c defines itself, and any value would do"),
    ],
)
def test_a_slip_is_named(signals: str, code: str, words: str) -> None:
    found = errors(signals)[0]
    assert (found.code, words in found.what) == (code, True), str(found)


def test_a_loop_that_has_a_solution_is_allowed() -> None:
    assert set(model("a: b/2 + 1\nb: a\nV_c: 1 V*a").signals) == {"a", "b", "V_c"}


def test_a_source_has_one_driver() -> None:
    found = error("V_c: 1 V", experiment="inputs: {V: 3 V}")
    assert (found.code, found.where) == ("D513", "V")


def test_time_is_named_t_where_something_depends_on_it() -> None:
    lines = "system: x\nparameters: {t: 2 mm}\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a], R: 1 ohm}}\n"
    assert read_model(lines + "experiment: {inputs: {V: 3 V}}\n").parameters["t"].unit == "mm"
    with pytest.raises(DescriptionError) as caught:
        read_model(lines + "experiment: {inputs: {V: step(3 V)}}\n")
    assert caught.value.findings[0].code == "D502"


def test_parameters_and_storages_do_not_read_signals() -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(text("x: 1 + t/(1 s)\nV_c: 1 V").replace("K: 3 ohm", "K: 3 ohm*x"))
    assert caught.value.findings[0].what == "the parameter K depends on the signal 'x'"
    with pytest.raises(DescriptionError) as caught:
        read_model(text("x: 1 + t/(1 s)\nV_c: 1 V").replace("current: I", "current: I, L: 1 mH*x"))
    assert caught.value.findings[0].what == "the value of the inductor L depends on the signal 'x'"


def test_all_slips_of_a_file_are_told_at_once() -> None:
    assert {f.code for f in errors("a: J\nb: {pdi: I}\nV_c: 2 A - I")} == {"D500", "D503", "D504"}


# Writing

EVERYTHING = """\
r: 2 A + sine(1 A, 50 Hz) - step(1 A, start=1 s)
e: r - I
V_c: {pid: e, K_p: K, K_i: 8, K_d: 1e-4, filter: T, limits: [-24 V, 24 V], anti-windup: back-calculation, tracking: 2*T}
u: {pid: e, K_p: K, K_i: 3, every: T, offset: 1 ms, initial: 2 V}
x: {integral: e, initial: 1 A*s, limits: [-3 A*s, 3 A*s]}
y: {transfer function: e, numerator: [1, K], denominator: [T, 1]}
l: {low pass: e, time constant: T}
a: {derivative: e, filter: T}
f: {state feedback: [I, x], gains: [K, 2], reference: 1 V, reference gain: 3}
d: {delay: e, by: 5 ms}
h: {sample: e, every: T}
q: {quantise: e, step: 10 mA}
w: {saturate: e, limits: [0 A, 1 A]}
z: {dead zone: e, limits: [-0.1 A, 0.1 A]}
m: {table: [[0, 0], [1, 2.5]], at: 2*t, interpolation: previous}
v: {across: [a, b]}
p: power.R
b: {filter: e, corner: 50 Hz, order: 3, pass: high}
c: {filter: e, corner: [20 Hz, 50 Hz], pass: band}
g: {rate limit: e, limits: [-2 A/s, 3 A/s], time constant: T}
j: {pwm: 0.3, every: T, offset: 1 ms, height: 2 V, as: averaged}
k: {noise: 2 mA, every: T, seed: 7}
n: {clarke: [e, e, e], axis: beta}
o: {park: [e, e, e], angle: 2*t/(1 s), axis: q}
sh: {inverse park: [e, e], angle: 2*t/(1 s), phase: c}
"""


def test_every_block_is_written_as_it_is_read() -> None:
    first = model(EVERYTHING)
    again = read_model(to_yaml(first))
    assert again.signals == first.signals
    assert [e.signal for e in again.elements] == [e.signal for e in first.elements]
    assert to_yaml(again) == to_yaml(first)


def test_a_signal_without_its_text_is_written_from_its_expression() -> None:
    from dataclasses import replace

    first = model("e: 2 A - I", source="signal: 1 ohm*e")
    bare = replace(
        first,
        signals={n: replace(s, texts={}) for n, s in first.signals.items()},
        elements=tuple(replace(e, signal_text="") for e in first.elements),
    )
    again = read_model(to_yaml(bare))
    assert again.signals == first.signals
    assert again.elements[0].signal is first.elements[0].signal


# In Python


def built() -> Network:
    net = Network("coil")
    net.voltage_source("V", "a", signal="V_c")
    net.inductor("L", "a", "b", L="10 mH", current="I")
    net.resistor("R", "b", R="1 ohm")
    return net


def test_signals_are_built_by_calls() -> None:
    net = built()
    net.signal("e", "2 A - I")
    net.signal("V_c", pid="e", K_p=3, K_i="2 ohm/s", limits=["-9 V", "9 V"], anti_windup="clamp")
    net.signal("m", table={"points": [[0, 1], [2, 3]]}, interpolation="linear")
    found = net.model().signals
    assert found["V_c"].settings["anti-windup"] == "clamp"
    assert found["m"].settings["table"] == Points((0.0, 2.0), (1.0, 3.0))


def test_a_python_function_is_a_signal() -> None:
    def law(current: float, t: float) -> float:
        return 3 * current + t

    net = built()
    net.signal("V_c", python=["I", "t"], function=law)
    found = net.model().signals["V_c"]
    assert found.settings["function"] is law
    assert found.settings["python"] == (parse("I"), parse("t"))


@pytest.mark.parametrize(
    ("formula", "settings", "code"),
    [
        (None, {}, "D511"),
        ("I", {"pid": "I"}, "D511"),
        (None, {"python": ["I"]}, "D510"),
    ],
)
def test_a_call_that_says_too_little_or_too_much_is_refused(
    formula: str | None, settings: dict[str, Any], code: str
) -> None:
    with pytest.raises(DescriptionError) as caught:
        built().signal("V_c", formula, **settings)
    assert caught.value.findings[0].code == code


def test_a_signal_is_described_once() -> None:
    net = built()
    net.signal("V_c", "1 V")
    with pytest.raises(DescriptionError):
        net.signal("V_c", "2 V")
