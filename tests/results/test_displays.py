"""What a notebook shows: results as tables, and no address of an object, with what a model says escaped."""

import re
from collections.abc import Callable

import pytest

import tellegen as tg
from tellegen.core.tables import TitledTable, tables_html

RESULTS: dict[str, Callable[[], object]] = {
    "check": lambda: tg.check("dc_motor_pump"),
    "run": lambda: tg.simulate("dc_motor_pump"),
    "books": lambda: tg.simulate("dc_motor_pump").energy,
    "analysis": lambda: tg.analyse("dc_motor_pump"),
    "steady state": lambda: tg.equilibrium("dc_motor_pump"),
    "derivation": lambda: tg.derive("dc_motor_pump", steps=True),
}
SHOWN = {
    "check": ["no errors", "I_a, omega_m, P_0"],
    "run": ["dissipated", "omega_m"],
    "books": ["dissipated", "of the energy handled"],
    "analysis": ["<b>damping</b>", "35.588", "controllable"],
    "steady state": ["steady state", "alpha_p", "takes"],
    "derivation": ["L_a", "step by step"],
}


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_results_show_themselves_in_a_notebook(name: str) -> None:
    result = RESULTS[name]()
    shown = result._repr_html_()  # type: ignore[attr-defined]
    assert not re.search(r"object at 0x", shown + repr(result))
    for word in SHOWN[name]:
        assert word in shown


def test_words_of_a_model_are_no_html() -> None:
    nasty = "<script>alert(1)</script>"
    assert "<script>" not in tables_html(nasty, [TitledTable(nasty, [(nasty,)])], [nasty])
