"""What cannot be done is an error with a reason, whatever is asked: no exception of Python, and no memory filled first."""

import contextlib
import copy
import pickle
import random
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from support.all_models import ModelFile, all_models
from support.amount import SLOW
from support.every_function import answered, questions
from support.library_use import use
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model

LOADED = "V: {voltage source: [p]}, L: {inductor: [a, c], L: 0.2 mH, current: i}, R: {resistor: [c, END], R: 2 ohm}"
PULSE = '"pulse(1, 0 s, 3e-5 s, 1e-4 s)"'


@given(
    st.dictionaries(st.sampled_from(["R", "L", "C"]), st.sampled_from(["R", "2*L", "L + C", "1", "3*R*C"]), min_size=1)
)
def test_values_that_go_round_in_a_circle_are_refused(formulas: dict[str, str]) -> None:
    """The property, judged by following the names by hand: after as many steps as there are names nothing may be left."""
    given_ = {name: formula.replace("1", "1.5") for name, formula in formulas.items()}
    reads = {name: {other for other in "RLC" if other in formula} for name, formula in given_.items()}
    reached = set(reads)
    for _ in range(4):
        reached = {other for name in reached for other in reads.get(name, ())}
    model = read_model(
        "system: x\nparameters: {R: 1, L: 1, C: 1}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
        "  R_1: {resistor: [a, b], R: R*L*C}\n"
        "  C_1: {capacitor: [b, gnd], C: 1}\n"
    )
    answer = _tried(lambda: tg.simulate(model, until=1e-3, samples=2, inputs={"V": 1.0}, parameters=given_))
    assert ("by itself" in answer) == bool(reached)


@pytest.mark.parametrize("signals", ["u: 1", "u: -1", pytest.param(f"u: {PULSE}", marks=pytest.mark.slow)])
def test_the_steady_state_of_a_half_bridge(signals: str) -> None:
    model = use("half_bridge", "dc: [p, gnd], out: a", LOADED.replace("END", "gnd"), f", signals: {{{signals}}}")
    _tried(lambda: tg.simulate(model, until=1e-4, inputs={"V": 24.0}, start="steady"))


@pytest.mark.parametrize("formula", ["sqrt(-1)", "log(-1)", "1/0", "1e400", "asin(2)"])
def test_settings_of_elements_with_modes_need_a_value(formula: str) -> None:
    text = (
        "system: x\ndisplacements: {h: v}\nnetwork:\n  m: {mass: [ball], velocity: v, m: 1}\n"
        f"  stop: {{hard stop: [frame, ball], gap: h, restitution: {formula}}}\n"
    )
    with pytest.raises(TellegenError):
        read_model(text)


def test_more_rows_than_fit_are_refused_before_they_are_made() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TellegenError, match="at most"):
        tg.simulate("rlc", samples=20_000_000_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@pytest.mark.parametrize("name", ["rlc", "dc_motor_pump", "bouncing_ball"])
def test_copies_of_a_model_simulate_to_the_same_bits(name: str) -> None:
    model = tg.load(name)
    run = tg.simulate(model)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        again = tg.simulate(other)
        assert again.trajectory.t.tobytes() == run.trajectory.t.tobytes()
        assert again.trajectory.y.tobytes() == run.trajectory.y.tobytes()


def _tried(call: Callable[[], object]) -> str:
    """What an error of ours says, empty for a result; any other exception ends the test."""
    with contextlib.suppress(TellegenError):
        try:
            call()
        except TellegenError as error:
            said = error.what
            raise
        return ""
    return said


QUICK = 90
"""Of so many models one is asked in the default tests, and no runs are made."""
ASKED = 6
"""So many questions for each model, others each time: all of them for all models would take hours."""


@pytest.mark.parametrize(
    "file",
    [pytest.param(m, marks=() if k % QUICK == 1 else pytest.mark.slow, id=str(m)) for k, m in enumerate(all_models())],
)
def test_functions_answer_for_every_model(file: ModelFile, tmp_path: Path) -> None:
    """Models of pages, of the library, of systems and of rules, wrong ones included, once they can be read."""
    try:
        model = tg.read(file.put(tmp_path))
    except TellegenError:
        assert not file.right
        return
    asked = list(questions(model, tmp_path, runs=SLOW))
    for question in random.Random(None if SLOW else str(file)).sample(asked, ASKED):
        try:
            answered(question)
        except Exception as mistake:
            mistake.add_note(question.words)
            raise
