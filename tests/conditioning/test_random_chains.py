"""On any planar chain, open or closed: all six forms are the same machine, and keep its energy."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings

import tellegen as tg
from support.amount import SLOW
from support.mechanisms import Chain, closed_chains, open_chains
from tellegen.conditioning import FORMS
from tellegen.notations.reading import read_model

EXACT = tuple(form for form in FORMS if form != "parasitic")
RTOL = 1e-9


def positions(run: tg.Run, names: tuple[str, ...]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array([run.values(name) for name in names])


def check_forms(chain: Chain) -> None:
    """Positions within a millionth, a thousand times the tolerance: errors grow in chains that swing over; energy as much."""
    model = read_model(chain.text())
    plain = tg.simulate(model, rtol=RTOL, samples=20)
    names = plain.displacement_names
    wanted = positions(plain, names)
    size = max(1.0, float(np.abs(wanted).max()))
    for form in EXACT:
        run = tg.simulate(tg.condition(model, form), rtol=RTOL, samples=20)
        assert np.abs(positions(run, names) - wanted).max() <= 1e-6 * size, form
        moved = max(1.0, abs(run.energy.supplied))
        assert abs(run.energy.residual) <= 1e-6 * moved, form
        assert run.energy.dissipated == pytest.approx(0.0, abs=1e-9 * moved), form
        for force in (f"j{k}.F_{axis}" for k in range(len(chain.links)) for axis in "xy"):
            carried = plain.values(force)
            assert run.values(force) == pytest.approx(carried, abs=1e-4 * max(1.0, float(np.abs(carried).max()))), force
    errors = []
    for stiffness in (1e5, 1e6):
        elastic = tg.condition(model, "parasitic", stiffness=stiffness)
        found = positions(tg.simulate(elastic, rtol=1e-7, samples=20), names)
        errors.append(float(np.abs(found - wanted).max()))
    assert errors[1] < 0.3 * errors[0] or errors[1] < 1e-6 * size  # of order one in the inverse stiffness


# Every chain of another structure is another program: few examples, always the same, and no shrinking.
@pytest.mark.slow
@settings(max_examples=12 if SLOW else 3, phases=[Phase.generate], derandomize=True)
@given(open_chains(most=2))
def test_all_forms_of_an_open_chain_move_alike(chain: Chain) -> None:
    check_forms(chain)


@pytest.mark.slow
@settings(max_examples=2, phases=[Phase.generate], derandomize=True)
@given(closed_chains(most=3))
def test_all_forms_of_a_closed_chain_move_alike(chain: Chain) -> None:
    check_forms(chain)
