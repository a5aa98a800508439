"""Compilers spend their time on what every step calls: a long model is to take its first step soon."""

import pytest

from tellegen.causality import assign_causality
from tellegen.compiler import c_source
from tellegen.compiler.code import unrolled_code
from tellegen.graph import lower
from tellegen.notations.reading import read_model

TEXT = """system: swing
parameters: {r: 0.2 ohm, k: 3 V/A^3}
network:
  C: {capacitor: [a, gnd], C: 2}
  L: {inductor: [a, b], L: 0.5}
  R: {resistor: [b, gnd], law: "V = r*I + k*I^3"}
"""


def heads() -> dict[str, str]:
    """What stands before each function."""
    source = unrolled_code(assign_causality(lower(read_model(TEXT)))).source
    lines = [line for line in source.splitlines() if "(tg_context *c, double t" in line]
    found = {}
    for line in lines:
        before, name = line.split("(")[0].rsplit(" ", 1)
        found[name] = before
    return found


def test_a_short_model_is_worth_all_effort() -> None:
    assert not any(head.startswith("TG_") for head in heads().values())


def test_what_a_step_does_not_call_is_worth_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_source, "LONG_AND_SELDOM", 0)
    monkeypatch.setattr(c_source, "LONG_AND_RARE", 0)
    found = heads()
    assert found["tg_observe"] == found["tg_residual"] == "TG_LONG int"
    assert found["tangent_p"] == found["tangent_y"] == found["rhs_tangent_p"] == "TG_RARE static int"
    assert found["tg_rhs"] == "int"
    assert found["rhs_tangent_y"] == "static int"
