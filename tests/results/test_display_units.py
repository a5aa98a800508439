"""Units to show a run in: text, plots and CSV follow them, values never do."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.errors import DescriptionError, SimulationError
from tellegen.core.units import Unit, convert, is_unit, parse_unit, unit_words
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.results.units import in_unit, to_si
from tellegen.scenes.scene import Label

MOTOR = """\
system: Motor on oil
parameters: {L_a: 2 mH, R_a: 500 mohm, K_m: 0.15 N*m/A, J_m: 10 kg*cm^2}
network:
  V_a:  {voltage source: [a]}
  R_a:  {resistor: [a, b]}
  L_a:  {inductor: [b, c], current: I_a}
  m:    {dc machine: [c, gnd, s, frame], K: K_m}
  J_m:  {inertia: [s], angular velocity: omega, initial: 100 rpm}
  pump: {pump: [s, frame, o, tank], K: 10 cm^3/rev}
  C:    {accumulator: [o], C: 1 l/bar, pressure: P, initial: 2 bar}
  G:    {leak: [o], G: 2 l/min/bar}
displacements: {theta: omega}
experiment: {until: 500 ms, inputs: {V_a: 24 V}, units: {omega: rpm, P: bar, theta: rev}, outputs: [omega, P]}
"""


@pytest.fixture(scope="module")
def run() -> tg.Run:
    return tg.simulate(read_model(MOTOR))


def test_values_stay_in_si(run: tg.Run) -> None:
    plain = tg.simulate(read_model(MOTOR.replace("units: {omega: rpm, P: bar, theta: rev}, ", "")))
    assert run.final() == plain.final()
    assert np.array_equal(run.values("omega"), plain.values("omega"))
    assert run.unit("omega") == "rad/s"
    assert run["omega"].attrs == plain["omega"].attrs
    assert run.energy.to_json() == plain.energy.to_json()
    assert run.values("P")[0] == pytest.approx(2e5)


def test_the_text_shows_the_units_that_were_chosen(run: tg.Run) -> None:
    lines = {line.split()[0]: line.split()[1:] for line in str(run).splitlines() if len(line.split()) == 3}
    assert lines["omega"] == [f"{run.final()['omega'] * 30 / math.pi:.6g}", "rpm"]
    assert lines["P"] == [f"{run.final()['P'] / 1e5:.6g}", "bar"]
    assert lines["theta"][1] == "rev"
    assert "rpm" in run._repr_html_()


def test_plots_show_the_units_that_were_chosen(run: tg.Run) -> None:
    over, under = run.in_units(P="kPa").plot().panels
    assert (over.names, over.unit, under.names, under.unit) == (("omega",), "rpm", ("P",), "kPa")
    assert under.lines[0].y == pytest.approx(run.values("P") / 1e3)
    (phase,) = run.plot_phase("omega", "P").panels
    assert (phase.x_unit, phase.unit) == ("rpm", "bar")
    texts = {shape.text for shape in run.in_units(P="kPa").plot().scene.shapes if isinstance(shape, Label)}
    assert r"(\mathrm{kPa})" in texts, "a unit that somebody chose has no other prefix"


def test_a_csv_file_names_the_units_that_were_chosen_and_reads_back_in_si(run: tg.Run, tmp_path: Path) -> None:
    heads = run.save(tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert heads[:5] == ["t", "I_a", "omega [rpm]", "P [bar]", "theta [rev]"]
    again = tg.read_run(tmp_path / "run.csv")
    assert again.values("omega") == pytest.approx(run.values("omega"), rel=1e-14)
    assert again.unit("P") == "Pa"


def test_other_files_stay_in_si(run: tg.Run, tmp_path: Path) -> None:
    for name in ("run.nc", "run.mat"):
        again = tg.read_run(run.save(tmp_path / name))
        assert np.array_equal(again.values("omega"), run.values("omega"))
        assert again.unit("omega") == "rad/s"


def test_values_are_given_in_any_unit_that_fits(run: tg.Run) -> None:
    assert run.values("omega", "rpm") == pytest.approx(run.values("omega") * 30 / math.pi)
    assert run.values("omega", "deg/s") == pytest.approx(np.degrees(run.values("omega")))
    assert run.values("theta", "deg") == pytest.approx(np.degrees(run.values("theta")))


WRONG = [
    ("omega", "bar", "D493", "'omega' is in rad/s and cannot be shown in bar", "choose a unit of 1/s (rad/s)"),
    ("P", "baar", "D050", "'baar' is not a unit", "did you mean 'bar'?"),
    ("I_a", "Amps", "D050", "'Amps' is not a unit", "did you mean 'A'?"),
]


@pytest.mark.parametrize(("name", "unit", "code", "what", "fix"), WRONG)
def test_a_unit_that_does_not_fit_is_refused(run: tg.Run, name: str, unit: str, code: str, what: str, fix: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        run.in_units({name: unit})
    assert (caught.value.code, what in caught.value.what, fix in caught.value.finding.fix) == (code, True, True)
    with pytest.raises(DescriptionError):
        run.values(name, unit)


def test_an_unknown_variable_has_no_unit_to_show(run: tg.Run) -> None:
    with pytest.raises(SimulationError, match="did you mean 'omega'"):
        run.in_units(omga="rpm")


WRONG_FILES = [
    ("omega: rpm", "omgea: rpm", "D163", "did you mean 'omega'?"),
    ("omega: rpm", "omega: bar", "D493", "choose a unit of 1/s (rad/s)"),
    ("omega: rpm", "omega: rpmm", "D050", "did you mean 'rpm'?"),
]


@pytest.mark.parametrize(("old", "new", "code", "fix"), WRONG_FILES)
def test_a_wrong_unit_in_a_file_has_its_place(old: str, new: str, code: str, fix: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(MOTOR.replace(old, new))
    (found,) = caught.value.findings
    assert (found.code, found.fix) == (code, fix)
    assert found.place is not None
    assert found.place.line == 13


def test_units_are_written_and_read_again() -> None:
    model = read_model(MOTOR)
    assert read_model(to_yaml(model)).experiment.units == model.experiment.units


# Temperatures

BODY = """\
system: Body that cools
network:
  Q: {heat flow source: [b]}
  C: {heat capacity: [b], C: 100 J/K, initial: 40 K, temperature: T}
  G: {thermal conductor: [b], G: 2 W/K}
experiment: {until: 10 s, inputs: {Q: 0 W}, units: {T: mK}}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("initial: 40 K", "initial: 60 degC"),
        ("T: mK", "T: degC"),
        ("Q: 0 W}", "Q: 0 W}, initial: {T: 60 degC}"),
        (
            "  G: {thermal",
            "  air: {temperature source: [a], signal: 60 degC}\n  G_a: {thermal conductor: [b, a]}\n  G: {thermal",
        ),
    ],
)
def test_temperatures_that_count_from_the_ambient_have_no_scale(old: str, new: str) -> None:
    with pytest.raises(DescriptionError, match="ambient") as caught:
        read_model(BODY.replace(old, new))
    assert caught.value.code == "D492"
    with pytest.raises(DescriptionError):
        tg.simulate(read_model(BODY)).in_units(T="degC")


@pytest.mark.parametrize(
    ("old", "new"), [("initial: 40 K", "initial: 293.15 K"), ("Q: 0 W}", "Q: 0 W}, initial: {T: 300 K}")]
)
def test_a_difference_to_the_ambient_that_looks_like_a_room_is_noticed(old: str, new: str) -> None:
    assert [finding.code for finding in read_model(BODY.replace(old, new)).findings] == ["D497"]
    assert read_model(BODY).findings == ()


def test_absolute_temperatures_are_given_and_shown_in_celsius() -> None:
    text = """\
system: Body
network:
  S: {entropy flow source: [b]}
  C: {entropy capacity: [b], C: 100 J/K, initial: 20 degC, temperature: T}
experiment: {until: 1 s, inputs: {S: 0 W/K}, units: {T: degC}}
"""
    run = tg.simulate(read_model(text))
    assert run.values("T")[0] == pytest.approx(293.15)
    assert run.values("T", "degC")[0] == pytest.approx(20)
    assert run.values("T", "degF")[0] == pytest.approx(68)
    assert any(line.split() == ["T", "20", "degC"] for line in str(run).splitlines())


# Both ways

UNITS = [word for word in unit_words() if is_unit(word)]


@given(st.sampled_from(UNITS), st.floats(-1e6, 1e6))
def test_conversions_go_both_ways(word: str, number: float) -> None:
    unit: Unit = parse_unit(word)
    scale = max(abs(number), float(unit.offset / unit.factor), 1e-3)
    assert unit.from_si(unit.to_si(number)) == pytest.approx(number, rel=1e-12, abs=1e-13 * scale)
    array = np.array([number])
    assert in_unit(to_si(array, word), word) == pytest.approx(array, rel=1e-12, abs=1e-13 * scale)


@pytest.mark.parametrize(
    ("value", "source", "target", "wanted"),
    [
        (3000, "rpm", "rad/s", 100 * math.pi),
        (1, "bar", "psi", 14.503773773),
        (180, "deg", "rad", math.pi),
        (-40, "degC", "degF", -40),
        (0, "degC", "K", 273.15),
        (60, "L/min", "cm^3/s", 1000),
        (1, "hp", "W", 745.69987158),
        (36, "km/h", "m/s", 10),
    ],
)
def test_known_conversions(value: float, source: str, target: str, wanted: float) -> None:
    assert convert(value, source, target) == pytest.approx(wanted, rel=1e-10)
    assert convert(wanted, target, source) == pytest.approx(value, rel=1e-10, abs=1e-10)
