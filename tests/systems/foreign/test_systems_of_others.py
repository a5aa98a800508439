"""Whole systems of books and papers, each against its equations written by hand from first principles and integrated by SciPy."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import tellegen as tg
from systems.foreign import drives, electrical, heat, hydraulics, mechanics, mechanisms, several
from systems.foreign.equations import ByHand
from tellegen.drawing import check_scene
from tellegen.notations.reading import read_model
from tellegen.schemes.translation import NOTATIONS, Notation

RTOL = 1e-8
MOST = 10.0
"""Errors may be so many times the tolerance asked for, beside the largest value of a variable: they add up along a run."""

DOMAINS = (electrical, drives, mechanics, mechanisms, hydraulics, heat, several)
SYSTEMS: list[ByHand] = [system for domain in DOMAINS for system in domain.SYSTEMS]
each = pytest.mark.parametrize("system", SYSTEMS, ids=str)


def shared(systems: list[ByHand], among: int) -> pytest.MarkDecorator:
    """One of so many systems in the quick tests, all of them in the slow ones."""
    marks = (pytest.param(s, marks=[] if k % among == 0 else pytest.mark.slow) for k, s in enumerate(systems))
    return pytest.mark.parametrize("system", list(marks), ids=str)


@shared(SYSTEMS, 3)
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


@shared(RESTING, 3)
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


# -- the same in other notations, figures and functions ----------------------------------------------------------------------------

NOT_YET = {
    ("elastic_pendulum", "network"): "G104",  # a body that nothing turns falls apart without its mechanism
    ("elastic_pendulum", "bond"): "G104",
}
"""What a translation says that cannot be read again, by the code of the error; the test fails when it can."""


@pytest.mark.slow
@pytest.mark.parametrize("notation", NOTATIONS)
@each
def test_it_moves_alike_in_every_notation(system: ByHand, notation: Notation) -> None:
    model = tg.read(system.path)
    text = tg.translate(model, notation)
    if (code := NOT_YET.get((system.name, notation))) is not None:
        with pytest.raises(tg.TellegenError) as caught:
            tg.simulate(read_model(text), progress=False)
        assert caught.value.findings[0].code == code
        return
    one, two = (tg.simulate(m, rtol=RTOL, samples=20, progress=False) for m in (model, read_model(text)))
    compared = list(_variables_of_both(one, two, system))
    assert compared or any("[" in name for name in system.names)
    for name, ours, theirs in compared:
        assert np.abs(ours - theirs).max() <= 2 * MOST * RTOL * np.abs(ours).max(), name


def _variables_of_both(one: tg.Run, two: tg.Run, system: ByHand) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The variables of a system that its translation has too: names with a number are other names in a ladder."""
    for name in system.names:
        here = next((n for n in (name, name.replace(".", "_")) if n in two.final()), None)
        if here is not None:
            yield name, one.values(name), two.values(here)


@pytest.mark.slow
@each
def test_it_is_drawn_in_every_notation(system: ByHand, tmp_path: Path) -> None:
    model = tg.read(system.path)
    for notation in ("network", "bond", "pog", *(["mechanism"] if model.mechanism is not None else [])):
        figure = tg.draw(model, notation)
        assert not check_scene(figure.scene), notation
        figure.save(tmp_path / f"{notation}.svg")
    assert tg.draw(model, "equations").scene.shapes


@pytest.mark.slow
@each
def test_functions_for_other_programs_have_the_rates_written_by_hand(system: ByHand) -> None:
    model = tg.read(system.path)
    run = tg.simulate(model, rtol=RTOL, samples=20, progress=False)
    if run.graph.switching or system.event is not None:
        with pytest.raises(tg.ExportError):
            tg.functions(model)
        return
    made = tg.functions(model, sources="experiment")
    t, place = float(run.t[7]), 7
    y = np.array([run.values(name)[place] for name in made.names.states])
    found = dict(zip(made.names.states, made.rates(t, y, made.inputs, made.parameters), strict=True))
    by_hand = system.rates(t, np.array([run.values(name)[place] for name in system.names]))
    for name, rate in zip(system.names, by_hand, strict=True):
        if name in found:
            assert found[name] == pytest.approx(rate, rel=1e-6, abs=1e-9 * max(np.abs(by_hand))), name
