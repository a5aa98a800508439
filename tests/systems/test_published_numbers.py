"""Every number of the page that compares with the papers: found again, within what the page says."""

import re

import numpy as np
import pytest

import tellegen as tg
from published_drives import cycle, nut_force_error
from published_mechanisms import canonical_error
from published_numbers import EXACT, LOADS, LOST, NUMBERS, PAGE, PublishedNumber

LONG = {
    "cycle-extended-and-stiff-nuts-x",
    "hamilton-s-form-with-s-beside-lagrange-s",
    "order-of-the-angle-for-k-to-infinity",
}
"""Runs of seconds each; others of the same machines stay."""
ALL = [number for numbers in NUMBERS.values() for number in numbers]


@pytest.mark.parametrize(
    "number",
    [pytest.param(each, marks=pytest.mark.slow if each.key in LONG else (), id=each.key) for each in ALL],
)
def test_published_number_is_found_again(number: PublishedNumber) -> None:
    ours = number.ours()
    assert abs(ours - number.told) <= number.allowed
    assert shown(number) == pytest.approx(ours, rel=max(number.rel, EXACT), abs=number.abs)


def shown(number: PublishedNumber) -> float:
    """What the page says was found."""
    (row,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {number.what} |")]
    told, ours, limit = (cell.strip() for cell in row.split("|")[2:5])
    assert [told, limit] == [cell.strip() for cell in number.row(1.0).split("|")[2:5:2]], "run 'make docs'"
    return float(re.sub("^below ", "", ours).split()[0])


def test_the_page_tells_no_number_that_is_not_tested() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    heads = {"what", "what acts on the shaft"}
    told = {line.split("|")[1].strip() for line in rows} - heads
    assert told == {*(number.what for number in ALL), *LOADS, *(number.what for number in LOST)}
    assert len({number.key for number in ALL}) == len(ALL)


def test_the_error_of_the_recovered_force_falls_with_the_stiffness() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for what, load in LOADS.items():
        assert f"| {what} | {nut_force_error(load):.2e} |" in page
        assert nut_force_error(load, 5e8) == pytest.approx(nut_force_error(load) / 10, rel=1e-2)


def test_the_canonical_form_leads_elsewhere() -> None:
    assert f"it is {canonical_error():.1f} m" in PAGE.read_text(encoding="utf-8")
    assert canonical_error() > 1


# -- More about the cycle of the corking machine ----------------------------------------------------------------------------------


def test_the_energy_books_of_the_cycle_close() -> None:
    assert abs(cycle().energy.residual) < 1e-8


def test_the_machine_starts_in_equilibrium() -> None:
    early = cycle().t < 0.5
    for name in ("x", "theta"):
        assert np.abs(cycle().values(name)[early]).max() < 1e-9


def test_the_built_in_machine_is_the_one_with_stiff_nuts() -> None:
    built_in = tg.simulate("corking_machine", times=cycle().t, rtol=1e-8, progress=False)
    assert np.abs(cycle().values("x") - built_in.values("x")).max() == pytest.approx(2.58e-7, rel=0.05)


def test_the_static_machine_is_the_furthest_from_the_extended_one() -> None:
    gone = {"K_se": "inf", "K_sr": "inf", "K_ce": "inf", "K_cr": "inf", "J_2e": 0, "J_2r": 0, "m_a": 0, "J_a": 0}
    static = tg.simulate(tg.reduce("corking_machine_extended", gone), times=cycle().t, rtol=1e-8, progress=False)
    for name, error in {"x": 1.33e-5, "theta": 1.65e-3}.items():
        assert np.abs(cycle().values(name) - static.values(name)).max() == pytest.approx(error, rel=0.05)
