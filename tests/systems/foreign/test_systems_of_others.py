"""Whole systems of books and papers, each against its equations written by hand from first principles and integrated by SciPy."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import tellegen as tg
from systems.foreign import drives, electrical, heat, hydraulics, mechanics, mechanisms, several
from systems.foreign.equations import ByHand

RTOL = 1e-8
MOST = 10.0
"""Errors may be so many times the tolerance asked for, beside the largest value of a variable: they add up along a run."""

DOMAINS = (electrical, drives, mechanics, mechanisms, hydraulics, heat, several)
SYSTEMS: list[ByHand] = [system for domain in DOMAINS for system in domain.SYSTEMS]
each = pytest.mark.parametrize("system", SYSTEMS, ids=str)


@each
def test_it_follows_the_equations_written_by_hand(system: ByHand) -> None:
    model = tg.read(system.path)
    assert all(finding.severity == "notice" for finding in tg.check(model).findings)
    run = tg.simulate(model, rtol=RTOL, samples=20, outputs=list(system.also), progress=False)
    assert run.status == "finished"
    assert abs(run.energy.residual) < 1e-6, str(run.energy)
    for name, wanted in system.course(run.t).items():
        error = np.abs(run.values(name) - wanted).max() / np.abs(wanted).max()
        assert error <= MOST * RTOL, f"{name} is off by {error / RTOL:.1f} tolerances"


RESTING = [system for system in SYSTEMS if system.rest is not None]


@pytest.mark.parametrize("system", RESTING, ids=str)
def test_about_rest_its_poles_are_those_of_the_equations_by_hand(system: ByHand) -> None:
    model = tg.read(system.path)
    end = float(tg.simulate(model, samples=2, progress=False).t[-1])
    rest = system.at_rest(end)
    assert np.allclose(
        system.rates(end, rest), 0, atol=1e-6 * np.abs(system.slopes(end, rest) @ (np.abs(rest) + 1)).max()
    )
    moves = {*tg.derive(model).states, *tg.derive(model).displacements}
    told = {name: float(of(np.array(end), rest)) for name, of in system.also.items() if name in moves}
    point = dict(zip(system.names, rest, strict=True)) | told
    found = tg.analyse(model, at=point)
    poles = (found.closed_loop or found).poles
    assert poles is not None
    upper = [pole.value for pole in poles]  # of a pair the one above the axis stands there
    ours = [*upper, *(value.conjugate() for value in upper if value.imag)]
    assert_same(ours, np.linalg.eigvals(system.slopes(end, rest)))
    if system.settles:
        still = tg.equilibrium(model)
        for name, value in point.items():
            assert still[name] == pytest.approx(value, rel=1e-6, abs=1e-6 * system.scale), name


def assert_same(ours: list[complex], wanted: np.ndarray) -> None:
    """Each has its own partner; what is left of differences is some 1e-8 of the largest.

    Where two springs know one position, each by a state of its own, their difference never changes: that is a pole at zero.
    """
    assert len(ours) >= len(wanted), (ours, wanted)
    wanted = np.append(wanted, [0.0] * (len(ours) - len(wanted)))
    apart = np.abs(np.subtract.outer(np.array(ours), wanted))
    rows, columns = linear_sum_assignment(apart)
    assert apart[rows, columns].max() <= 1e-6 * np.abs(wanted).max(), (ours, wanted)
