"""The forms side by side: what the table says is what the runs show."""

import pytest

import tellegen as tg
from conditioning.models import CAPACITOR_LOOP, model_of
from tellegen.studies.conditioning import ConditioningTable

COLUMNS = {
    "solver",
    "setup_s",
    "solve_s",
    "steps",
    "rhs_calls",
    "states",
    "excess",
    "error",
    "relative_error",
    "force_error",
    "violation",
    "energy_residual",
    "proper",
}


@pytest.fixture(scope="module")
def table() -> ConditioningTable:
    return tg.compare_conditioning("crank_rod", until=0.5, rtol=1e-10)


def test_all_forms_are_there(table: ConditioningTable) -> None:
    assert list(table.records) == ["derivative", "residual", "parasitic", "field", "lagrange", "hamilton"]
    assert table.reference == "lagrange"
    assert not table.refused


def test_exact_forms_agree_and_the_parasitic_one_nearly(table: ConditioningTable) -> None:
    for form, record in table.records.items():
        close = 1e-3 if form == "parasitic" else 1e-8
        assert max(record.error, record.relative, record.forces) < close
        assert abs(record.energy) < 1e-7
    assert table["parasitic"].error > 1e-8


def test_excess_states_are_counted(table: ConditioningTable) -> None:
    assert {form: (r.states, r.excess) for form, r in table.records.items()} == {
        "derivative": (1, 0),
        "residual": (2, 1),
        "parasitic": (3, 2),
        "field": (1, 0),
        "lagrange": (1, 0),
        "hamilton": (1, 0),
    }
    assert {form for form, record in table.records.items() if record.proper} == {"field", "lagrange", "hamilton"}


def test_constraints_hold_but_for_springs(table: ConditioningTable) -> None:
    assert table["derivative"].violation < 1e-14
    assert 0 < table["residual"].violation < 1e-7
    assert table["parasitic"].violation > 1e-7


def test_the_record_has_numbers_for_each_form(table: ConditioningTable) -> None:
    record = table.to_json()
    forms = record["forms"]
    assert isinstance(forms, dict)
    assert set(forms) == set(table.records)
    assert all(set(found) == COLUMNS for found in forms.values())


def test_the_text_has_a_row_for_each_form(table: ConditioningTable) -> None:
    lines = str(table).splitlines()
    head = next(k for k, line in enumerate(lines) if line.startswith("form "))
    assert [line.split()[0] for line in lines[head + 1 : head + 7]] == list(table.records)
    assert "3 (2 excess)" in str(table)


def test_the_text_says_how_large_errors_are_beside_the_coordinates(table: ConditioningTable) -> None:
    """An error of 3 Pa is small and one of 3 rad is not."""
    lines = [line.split() for line in str(table).splitlines()]
    heads = next(line for line in lines if line and line[0] == "form")
    assert heads[-5:] == ["error", "relative", "forces", "violation", "energy"]
    for form, record in table.records.items():
        row = next(line for line in lines if line and line[0] == form)
        assert row[-5:-2] == [f"{record.error:.2g}", f"{record.relative:.2g}", f"{record.forces:.2g}"]


def test_runs_can_be_looked_at(table: ConditioningTable) -> None:
    assert table.runs["residual"].state_names == ("omega", "v_p")


def test_a_form_that_a_model_does_not_have_is_said_to_be_missing() -> None:
    found = tg.compare_conditioning(model_of(CAPACITOR_LOOP), rtol=1e-7)
    assert set(found.refused) == {"lagrange"}
    assert "no Lagrange form" in str(found)
    with pytest.raises(tg.ConditioningError, match="C105"):
        tg.compare_conditioning(model_of(CAPACITOR_LOOP), ["lagrange"])


def test_a_model_without_constraints_is_refused() -> None:
    with pytest.raises(tg.ConditioningError, match="C102"):
        tg.compare_conditioning("dc_motor")


def test_constraints_of_one_mode_are_not_asked_of_another() -> None:
    # The mass follows the belt while it sticks, and moves by itself while it slips.
    record = tg.compare_conditioning("stick_slip", forms=("derivative",)).records["derivative"]
    assert record.run.events
    assert record.violation < 1e-9


def test_a_model_without_states_is_compared_by_its_forces() -> None:
    parts = "C_1: {capacitor: [a], C: 1 uF}, C_2: {capacitor: [a], C: 2 uF}, V: {voltage source: [a]}"
    text = f"system: s\nnetwork: {{{parts}}}\n"
    found = tg.compare_conditioning(model_of(text), until=0.01, samples=10)
    assert found.to_json()["forms"]
