"""How findings are printed: many of one kind take one place."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from command_line import tellegen
from tellegen.core.errors import SimulationError
from tellegen.notations.reading import read_model

CIRCUIT = "system: x\nnetwork:\n  V: {voltage source: [a]}\n"


@pytest.mark.parametrize(("count", "told"), [(3, 3), (4, 1), (40, 1)])
def test_many_findings_of_one_kind_are_one_with_a_count(count: int, told: int, tmp_path: Path) -> None:
    lines = "".join(f"  R_{k}: {{resistor: [a, gnd], R: 1 foo}}\n" for k in range(count))
    (tmp_path / "m.yaml").write_text(CIRCUIT + lines, encoding="utf-8")
    said = tellegen("check", "m.yaml", folder=tmp_path).stdout
    assert said.count("error D050") == told
    assert f"{count} errors" in said
    if told < count:
        assert f"and {count - 1} more of this kind, in lines 5, 6, 7" in said
    assert ("..." in said) == (count > 13)


def test_a_parameter_that_nothing_reads_is_mentioned() -> None:
    text = (
        CIRCUIT
        + "  R: {resistor: [a, b], R: R_1}\n  C: {capacitor: [b], C: 1 uF}\nparameters: {R_1: 1 ohm, R_2: 2 ohm, a_3: 2*R_1}\n"
    )
    notices = [(f.where, f.severity) for f in read_model(text).findings if f.code == "D139"]
    assert notices == [("R_2", "notice"), ("a_3", "notice")]


def test_equations_and_slopes_take_other_values_of_parameters(tmp_path: Path) -> None:
    changed = tg.linearise("dc_motor", parameters={"R": 0.7})
    before = tg.linearise("dc_motor")
    assert np.array(changed.A.tolist(), dtype=float)[0, 0] == pytest.approx(0.7)
    assert np.array(before.A.tolist(), dtype=float)[1, 1] == np.array(changed.A.tolist(), dtype=float)[1, 1]
    derived = tg.derive("dc_motor", numeric=True, eliminate=True, parameters={"R": "700 mohm"}).to_json()
    assert Fraction(str(derived["A"][0][0])) == Fraction(7, 10)  # type: ignore[index]
    said = tellegen("derive", "dc_motor", "--set", "R=0.7", "--numeric", "--eliminate", folder=tmp_path).stdout
    assert "0.7" in said
    with pytest.raises(SimulationError) as told:
        tg.linearise("dc_motor", parameters={"R_x": 0.7})
    assert told.value.code == "S302"
