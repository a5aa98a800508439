"""Curves of runs as pages get them: thinned without loss, refined where somebody looks closely; files that are dropped in."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.shipped import SYSTEMS
from tellegen.core.units import convert
from tellegen.notations.reading import read_model
from tellegen.server.protocol import PoleLine
from tellegen.server.results import FAR, MOST_POINTS, refine, suitable_end, taken, thinned
from tellegen.server.views import structure


@given(st.integers(1, 5 * MOST_POINTS), st.integers(0, 2**32 - 1))
def test_thinned_curves_have_the_extremes_of_every_stretch_up_to_the_end(count: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    t = np.sort(chance.random(count))
    table = np.column_stack([t, chance.standard_normal(count)])
    times, rows = thinned(t, table)
    assert rows.shape == (2, len(times))
    assert len(times) <= MOST_POINTS + 1
    assert np.all(np.diff(times) >= 0)
    # What is shown at a time is from nearby; nothing is left out at the end, whatever the count is divided by.
    size = -(-count // (MOST_POINTS // 2)) if count > MOST_POINTS else 1
    for at, shown in zip(times, rows[0], strict=True):
        assert abs(np.searchsorted(t, at) - np.searchsorted(t, shown)) <= size
    for first, last in pairwise([*range(0, count, 997), count]):
        part = table[first:last, 1]
        there = rows[1][np.isin(rows[1], part)]
        if last - first > 2 * size and last - first == 997:
            inner = table[first + size : last - size, 1]
            assert there.max() >= inner.max()
            assert there.min() <= inner.min()
    assert rows[1].max() == table[:, 1].max()
    assert rows[1].min() == table[:, 1].min()


def test_long_runs_are_told_by_their_extremes() -> None:
    t = np.linspace(0, 1, 100_001)
    table = np.stack([np.sin(3000 * t), t, np.where(np.arange(t.size) == 70_013, 9.0, 0.0)], axis=1)
    times, rows = thinned(t, table)
    assert rows.shape == (3, len(times))
    assert len(times) <= MOST_POINTS + 1
    assert np.all(np.diff(times) > 0)
    assert rows.max(axis=1) == pytest.approx(table.max(axis=0))
    assert rows.min(axis=1) == pytest.approx(table.min(axis=0))
    # A line that rises is drawn as one, and ends where it ends.
    assert np.all(np.diff(rows[1]) >= 0)
    assert rows[1, -1] == 1
    # What was one row wide is seen, and where it was.
    assert times[rows[2].argmax()] == pytest.approx(0.70013, abs=1e-3)
    short = thinned(t[:50], table[:50])
    assert np.array_equal(short[1], table[:50].T)


@given(st.floats(-6, 6), st.floats(-6, 6), st.booleans())
def test_an_end_far_from_the_motion_is_told_and_a_better_one_beside_it(speed: float, end: float, decays: bool) -> None:
    slow = 10.0**speed
    poles = [
        PoleLine(-slow, 0.0, slow, 1.0) if decays else PoleLine(0.0, slow, slow, 0.0),
        PoleLine(-30 * slow, 0.0, 30 * slow, 1.0) if decays else PoleLine(0.0, 70 * slow, 70 * slow, 0.0),
    ]
    lasts = 5 / slow if decays else 10 * 2 * np.pi / slow
    told = suitable_end(poles, 10.0**end)
    assert (told == "") == (lasts / FAR <= 10.0**end <= lasts * FAR)
    if told:
        number, unit = told.split()
        seconds = convert(float(number), unit, "s")
        assert lasts * (1 - 1e-6) <= seconds <= 2.5 * lasts * (1 + 1e-6)
        assert suitable_end(poles, seconds) == ""


@pytest.mark.parametrize("name", ["dc_motor_pump", "bouncing_ball"])
def test_a_stretch_that_is_looked_at_is_what_a_run_gives_there(name: str) -> None:
    text = (SYSTEMS / f"{name}.yaml").read_text()
    whole = tg.simulate(name)
    begin, end = 0.31 * whole.t[-1], 0.313 * whole.t[-1]
    source, variables = (text, f"{name}.yaml", str(SYSTEMS)), [*whole.state_names, "nobody"]
    done, numbers = refine((1, 7, (begin, end)), source, {}, variables, lambda _a, _b: None, threading.Event())
    assert done.variables == whole.state_names
    t, *rows = (np.frombuffer(data) for data in numbers)
    assert t[0] == begin
    assert t[-1] == pytest.approx(end)
    assert 1500 < len(t) == done.points <= MOST_POINTS + 1
    wanted = tg.simulate(name, times=t[::200])
    for variable, row in zip(done.variables, rows, strict=True):
        scale = np.abs(whole.values(variable)).max()
        assert np.abs(row[::200] - wanted.values(variable)).max() < 1e-5 * scale


@pytest.mark.parametrize("ends", [(1.0, 0.0), (float("nan"), 1.0), (7.0, 9.0), (-2.0, -1.0), (0.0, float("inf"))])
def test_a_stretch_that_is_none_has_no_points(ends: tuple[float, float]) -> None:
    text = (SYSTEMS / "dc_motor_pump.yaml").read_text()
    done, numbers = refine((1, 7, ends), (text, "m.yaml", "."), {}, ["I_a"], lambda _a, _b: None, threading.Event())
    assert (done.points, numbers) == (0, [])


DECK = "low pass\nV1 a 0 DC 1\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 5m\n.end\n"


def test_a_deck_that_is_dropped_in_is_a_model() -> None:
    model = read_model(taken("low pass.cir", DECK))
    assert {one.name for one in model.elements} == {"V1", "R1", "C1"}


@pytest.mark.parametrize("name", ["x.cir", "x.fmu", "x.emx", "x.bg", "x.txt", "x.mo", "\0.cir", "x.\ud800", ".."])
@pytest.mark.parametrize("text", ["", "\0", "\ud800", "x\n.include /etc/passwd\nR1 a 0 1\n.tran 1u 1m\n"])
def test_what_is_dropped_in_and_is_no_model_is_refused_by_its_own_name(name: str, text: str) -> None:
    with pytest.raises(tg.TellegenError) as error:
        taken(name, text)
    assert "dropped" not in str(error.value)
    assert "/tmp" not in str(error.value).replace("/etc", "")


def test_a_value_in_the_line_of_its_element_can_be_set_there() -> None:
    text = taken("low pass.cir", DECK)
    found = {one.name: one for one in structure(0, text, "m.yaml", ".").parameters}
    assert found["R1"].path == ("network", "R1", "R")
    assert (found["R1"].text, found["R1"].plain, found["R1"].own) == ("1 kohm", True, True)
    own = structure(0, (SYSTEMS / "dc_motor_pump.yaml").read_text(), "m.yaml", ".").parameters
    assert all(one.path == ("parameters", one.name) for one in own)
