"""A formula that has no value is refused where it stands, whatever it is for: by `check`, or with the values given to a run."""

import pytest

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model

PLACES = {
    "parameters": "R",
    "element": "L",
    "initial": "C",
    "schedule": "S",
    "delay": "w",
    "period": "V_c",
    "sample": "V_c",
    "formula": "u",
    "first": "w",
    "duration": "duration",
    "input": "I",
    "start": "V_C",
}
FORMULAS = {
    "sqrt(p - 2)": ("D124", "not a real number"),
    "log(p - 2)": ("D124", "not a real number"),
    "1/(p - 1)": ("D126", "divides by zero"),
    "exp(1000*p)": ("D124", "too large for a number"),
}


def text(place: str, formula: str) -> str:
    """A model with the formula in one place and harmless numbers in the others."""
    at = {name: f"({formula})" if name == place else "1" for name in PLACES}
    return f"""\
system: x
parameters: {{p: 1, R: '{at["parameters"]}*1 ohm'}}
network:
  V: {{voltage source: [a, gnd], signal: V_c}}
  R: {{resistor: [a, b]}}
  L: {{inductor: [b, c], L: '{at["element"]}*1 H'}}
  C: {{capacitor: [c, gnd], C: 1 F, initial: '{at["initial"]}*1 V'}}
  S: {{switch: [c, d], closed: '{at["schedule"]}*1 s'}}
  r: {{resistor: [d, gnd], R: 1 ohm}}
  I: {{current source: [gnd, c]}}
signals:
  u: '{at["formula"]}*1 V'
  V_c: {{sample: '{at["sample"]}*1 V', every: '{at["period"]}*1 ms'}}
  w: {{delay: V_C, by: '{at["delay"]}*1 s', initial: '{at["first"]}*1 V'}}
experiment: {{until: '{at["duration"]}*1 s', inputs: {{I: '{at["input"]}*1 A'}}, initial: {{V_C: '{at["start"]}*1 V'}}}}
"""


@pytest.mark.parametrize("place", PLACES)
def test_a_file_with_it_is_refused_once_and_named(place: str) -> None:
    for formula, (code, reason) in FORMULAS.items():
        with pytest.raises(TellegenError) as refused:
            read_model(text(place, formula))
        assert [f.code for f in refused.value.findings] == [code], (formula, refused.value)
        assert PLACES[place] in refused.value.what
        assert reason in refused.value.what


@pytest.mark.parametrize("place", sorted(PLACES.keys() - {"duration"}))
def test_values_given_to_a_run_that_leave_it_none_are_refused(place: str) -> None:
    for formula, value in (("sqrt(p)", -1.0), ("log(p) + 1", 0.0), ("1/p", 0.0), ("exp(1000*(1 - p))", -1.0)):
        model = read_model(text(place, formula))
        with pytest.raises(TellegenError):
            tg.simulate(model, 0.01, parameters={"p": value}, samples=3)
