"""Dry friction whose capacity moves with time or signals, and its breakaway factor."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

SLIDE = """system: slide
parameters: {{N_0: 5 N, c: 10 N/s}}
network:
  F: {{force source: [x]}}
  m: {{mass: [x], m: 2 kg, velocity: v}}
  D: {{dry friction: [x, frame], {settings}}}
experiment: {{until: 1 s, inputs: {{F: 8 N}}}}
"""


def test_a_mass_slides_from_when_a_falling_capacity_lets_it_go() -> None:
    # It sticks while 1.2*(N_0 + 4 N - c*t) > 8 N, then m v' = F - capacity, integrated by hand.
    model = read_model(SLIDE.format(settings="F_c: 'N_0 + 4 N - c*t', factor: 1.2"))
    run = tg.simulate(model, times=[0.1, 0.4, 0.9], rtol=1e-9)
    go = (9 - 8 / 1.2) / 10

    def speed(t: float) -> float:
        return ((8 - 9) * (t - go) + 10 * (t**2 - go**2) / 2) / 2 if t > go else 0.0

    assert run.values("v")[-3:] == pytest.approx(np.array([speed(t) for t in (0.1, 0.4, 0.9)]), rel=1e-6, abs=1e-9)
    assert abs(run.energy.residual) < 1e-6


def test_a_capacity_follows_a_signal_and_comes_back_from_its_file() -> None:
    text = SLIDE.format(settings="F_c: pressed, F_s: 1.5*pressed") + "signals: {pressed: 'N_0*if(t < 0.5 s, 2, 1)'}\n"
    model = read_model(text)
    again = read_model(to_yaml(model))
    one, two = (tg.simulate(m, times=[0.4, 0.8]).values("v") for m in (model, again))
    assert one[-2] == 0.0
    assert one[-1] == pytest.approx(0.3 * (8 - 5) / 2, rel=1e-6)
    assert two == pytest.approx(one, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ("F_c: -1 N", "the Coulomb force of D is -1"),
        ("F_c: 5 N, factor: 0.5", "breaks away at 0.5 times"),
        ("F_c: 5 N, F_s: 6 N, factor: 1.2", "a breakaway value and a factor"),
        ("F_c: 5 N, F_s: 4 N", "breaks away at 4 and slides at 5"),
    ],
)
def test_capacities_that_friction_cannot_have_are_told(settings: str, what: str) -> None:
    with pytest.raises(TellegenError, match=what):
        read_model(SLIDE.format(settings=settings))


def test_a_clutch_of_constant_capacity_cannot_begin_open() -> None:
    text = SLIDE.format(settings="").replace(
        "{dry friction: [x, frame], }", "{linear clutch: [x, frame], F_c: 5 N, start: open}"
    )
    with pytest.raises(TellegenError, match="begins open, and its constant capacity holds it"):
        read_model(text)
