"""Files of before: each migration with the old and the new document, as they are read and as `migrate` rewrites them."""

from pathlib import Path

import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError
from tellegen.notations.reading import migration, read_model

PENDULUM = """\
system: Pendulum  # of before
parameters: {m: 1 kg, l: 1 m}
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    bob: {mass: m, centre: [l, 0 m]}
  joints: {pivot: {revolute: [ground, bob]}}
network:
  tau: {torque source: [frame, bob]}
"""
WEIGHTS = (
    PENDULUM
    + """\
signals:
  push: 2*bob.weight_y + 1 N  # reads it
experiment:
  until: 1 s  # long enough
  inputs:
    tau: 1 N*m
    bob.weight_y: -5 N  # was an input
  units: {bob.weight_y: kN, bob.phi: deg}
  outputs: [bob.phi, bob.weight_y]
""",
    PENDULUM
    + """\
signals:
  push: 2*(-bob.F_weight_y) + 1 N  # reads it
experiment:
  until: 1 s  # long enough
  inputs:
    tau: 1 N*m
  units: {bob.phi: deg}
  outputs: [bob.phi, bob.F_weight_y]
""",
)
BENT = """\
version: %s
system: Bent
parameters: {v_0: 0.5 V}
network:
  R: {resistor: [a, gnd], R: 1 kohm}
  C: {capacitor: [a, gnd], law: "v = q/(1 uF) + 1e18 V/C^3*q^3", initial: %s}  # a charge
  D: {capacitor: [b, gnd], law: "v = q/(1 uF) + 1e18 V/C^3*q^3", initial: %s}
  L: {inductor: [b, c], L: 1 H, initial: 2 A}  # of a linear storage it was the output, and is
  S: {resistor: [c, a], R: 1 kohm}
"""
CONTENTS = BENT % ("1", "2 uV", "v_0"), BENT % ("2", "2e-6 C", "(v_0)*(1 C/V)")


@pytest.mark.parametrize(("old", "new"), [WEIGHTS, CONTENTS], ids=["weights", "contents"])
def test_a_file_of_before_is_rewritten_and_read_as_what_it_becomes(old: str, new: str) -> None:
    found = migration(old)
    assert found.text == new
    one, two = read_model(old), read_model(new)
    assert one.elements == two.elements
    assert one.signals.keys() == two.signals.keys()
    assert (one.experiment.inputs, one.experiment.outputs) == (two.experiment.inputs, two.experiment.outputs)
    (notice,) = [finding for finding in one.findings if finding.code == "D145"]
    assert notice.severity == "notice"
    assert all(said in notice.what for said in found.told)
    assert not [finding for finding in two.findings if finding.code == "D145"]
    assert migration(new) == (new, ())


def test_places_are_those_of_the_file_as_it_is() -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(WEIGHTS[0].replace("bob.phi: deg", "bob.phi: furlong"))
    assert caught.value.finding.place is not None
    assert caught.value.finding.place.line == 17


def test_an_experiment_that_had_nothing_but_weights_has_no_inputs() -> None:
    old = PENDULUM + "experiment: {inputs: {bob.weight_y: -5 N}, until: 1 s}\n"
    assert migration(old).text == PENDULUM + "experiment: {until: 1 s}\n"
    assert not read_model(old).experiment.inputs


def test_the_newest_version_knows_no_such_input() -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model("version: 2\n" + WEIGHTS[0])
    assert "bob.weight_y" in str(caught.value)


def test_energies_and_powers_of_weights_are_of_now() -> None:
    model = read_model(PENDULUM + "experiment: {until: 1 s, outputs: [energy.bob.weight_y, power.bob.weight_y]}\n")
    assert model.experiment.outputs == ("energy.bob.weight_y", "power.bob.weight_y")
    assert not [finding for finding in model.findings if finding.code == "D145"]


def test_a_part_of_before_is_read_as_it_was_meant(tmp_path: Path) -> None:
    part = "version: 1\nsystem: part\nports: {a: a}\n" + CONTENTS[0].partition("system: Bent\n")[2]
    (tmp_path / "part.yaml").write_text(part, encoding="utf-8")
    whole = tmp_path / "whole.yaml"
    whole.write_text(
        "system: whole\nparts: {p: {use: part.yaml, ports: {a: n}}}\nnetwork: {R: {resistor: [n], R: 1 ohm}}\n",
        encoding="utf-8",
    )
    element = next(e for e in tg.read(whole).elements if e.name == "p.C")
    assert element.initial_content


def test_migrate_rewrites_a_file_or_writes_another(tmp_path: Path) -> None:
    file, other = tmp_path / "old.yaml", tmp_path / "new.yaml"
    file.write_text(CONTENTS[0], encoding="utf-8")
    tg.migrate(file, other)
    assert (file.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == CONTENTS
    with pytest.raises(DescriptionError):
        tg.migrate(file, other)
    assert tg.migrate(file).told
    assert file.read_text(encoding="utf-8") == CONTENTS[1]
    assert not tg.migrate(file).told
