"""Models that come along with something changed in their tree: every function answers, or refuses with a finding."""

import copy
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from support.all_models import ModelFile, all_models
from support.every_function import answered, questions
from tellegen.core.errors import TellegenError
from tellegen.elements import KINDS

MOST = 2500
"""Letters of a file: what is mutated is small, so that many mutants are asked many things."""


def _is_tree(file: ModelFile) -> bool:
    return file.right and file.texts[0][0].endswith(".yaml") and len(file.texts[0][1]) < MOST


FILES = tuple(filter(_is_tree, all_models()))
VALUES: tuple[Any, ...] = (
    *(0, -1, 1e-30, 1e30, 1e308, "1e400", "0 V", "3 kg", "1/0", "sqrt(-1)", "t", "x", "R", "i^3", "if(t > 0.1, 1, 0)"),
    *("step(1, 0 s)", "pulse(1, 0 s, 0 s, 0 s)", "chirp(1, 1, 2, 0 s)", "sine(1, 0 Hz)", "", None, True, [], {}, "gnd"),
    *(
        "frame",
        [0, 0],
        [["1", "2"], ["3", "4"]],
        "a[1]",
        "1 rad",
        "-R",
        "2*R",
        "abs(x)",
        "floor(t)",
        "min(1, t)",
        "10^-300",
    ),
)


@given(st.sampled_from(FILES), st.integers(0, 2**32))
def test_every_function_answers_for_mutants(file: ModelFile, number: int) -> None:
    chance = random.Random(number)
    with tempfile.TemporaryDirectory() as folder:
        path = file.put(Path(folder))
        text = mutant(file.texts[0][1], chance)
        path.write_text(text, encoding="utf-8")
        try:
            model = tg.read(path)
        except TellegenError:
            return
        asked = list(questions(model, Path(folder), runs=chance.random() < 0.2))
        for question in chance.sample(asked, min(6, len(asked))):
            try:
                answered(question)
            except Exception as mistake:
                mistake.add_note(f"{question.words} of\n{text}")
                raise


@given(st.sampled_from(FILES), st.integers(0, 2**32))
def test_mutants_that_are_written_are_read_again(file: ModelFile, number: int) -> None:
    chance = random.Random(number)
    with tempfile.TemporaryDirectory() as folder:
        path = file.put(Path(folder))
        path.write_text(mutant(file.texts[0][1], chance), encoding="utf-8")
        try:
            model = tg.read(path)
        except TellegenError:
            return
        again = path.with_name("written again.yaml")
        again.write_text(tg.to_yaml(model), encoding="utf-8")
        before, after = tg.check(model), tg.check(tg.read(again))
        assert before.ok == after.ok, again.read_text(encoding="utf-8")
        assert before.states == after.states, again.read_text(encoding="utf-8")


@given(st.sampled_from(("rlc", "dc_motor_pump", "buck_converter", "bouncing_ball", "crank_rod")), st.integers(0, 2**32))
def test_settings_of_a_run_are_taken_or_refused(name: str, number: int) -> None:
    chance = random.Random(number)
    model = tg.load(name)
    known = [*model.parameters, *model.inputs, "nothing"]
    given_ = {chance.choice(known): chance.choice(VALUES) for _ in range(chance.randint(1, 3))}
    which = chance.choice(("parameters", "inputs", "initial"))
    simulate: Any = tg.simulate
    until, samples = chance.choice((1e-4, 0.0, "1 us", -1, "x")), chance.choice((1, 3, 10**12))
    try:
        simulate(model, until, samples=samples, **{which: given_})
    except TellegenError:
        return
    except Exception as mistake:
        mistake.add_note(f"{which}={given_}")
        raise


def mutant(text: str, chance: random.Random) -> str:
    """The text of a tree with one to three changes."""
    tree = yaml.safe_load(text)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(tree))
        holder, key = chance.choice(places)
        other, name = chance.choice(places)
        way = chance.randrange(6)
        if way == 0:
            del holder[key]
        elif way == 1:
            holder[key] = chance.choice(VALUES)
        elif way == 2:
            holder[key] = copy.deepcopy(other[name])
        elif way == 3 and isinstance(holder, dict):
            holder[
                chance.choice((name, f"{key}_2", *list(KINDS)[:40], "gnd", "x" * 300)) if isinstance(name, str) else "x"
            ] = holder.pop(key)
        elif way == 4 and isinstance(holder, dict):
            holder[f"{key}_2"] = copy.deepcopy(holder[key])
        else:
            holder[key], other[name] = other[name], holder[key]
        if not isinstance(tree, dict) or not list(_places(tree)):
            return text
        try:
            return_text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, default_flow_style=None)
        except (ValueError, RecursionError):  # a branch was hung into itself
            return text
    return str(return_text)


def _places(tree: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    if depth > 12:
        return
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(pairs):
        yield tree, key
        yield from _places(value, depth + 1)
