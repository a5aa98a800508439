"""A model is lowered once, whatever is asked of it: graph, causality and equations stay with the values they follow from."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from pickle import dumps, loads

import pytest

import tellegen
from tellegen.causality import assign_causality
from tellegen.core.memory import Known, remembered
from tellegen.equations.derivation import derive_equations
from tellegen.graph import lower, lowering
from tellegen.model.model import Model


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each model was lowered, by its name."""
    counted: Counter[str] = Counter()
    real = lowering._lowered

    def counting(model: Model) -> object:
        counted[model.name] += 1
        return real(model)

    monkeypatch.setattr(lowering, "_lowered", counting)
    return counted


def all_forms(model: Model) -> None:
    for form in ("residual", "field", "lagrange", "hamilton"):
        tellegen.condition(model, form).to_text()


def all_figures(model: Model) -> None:
    for notation in ("bond", "pog", "network", "equations"):
        tellegen.draw(model, notation)


@pytest.mark.parametrize(
    ("example", "use"),
    [
        ("dc_motor_pump", all_figures),
        ("dc_motor_pump", tellegen.check),
        ("dc_motor_pump", tellegen.analyse),
        ("dc_motor_pump", tellegen.simulate),
        ("dc_motor_pump", tellegen.derive),
    ],
)
def test_one_model_is_lowered_once(lowered: Counter[str], example: str, use: Callable[[Model], object]) -> None:
    model = tellegen.load(example)
    tellegen.check(model)
    use(model)
    assert lowered == {model.name: 1}


def test_a_report_lowers_its_model_once(lowered: Counter[str], tmp_path: Path) -> None:
    tellegen.report("dc_motor_pump", tmp_path / "page.html")
    # The other one is a model of its own: limits are tried with a parameter of the share that each takes.
    assert lowered.total() <= 2


def test_a_reduction_lowers_three_models(lowered: Counter[str]) -> None:
    str(tellegen.reduce("dc_motor_pump", {"J_m": 0}))
    assert lowered.total() == 3  # the full one, the one with limits as sources, the small one


def test_forms_of_a_model_share_what_they_open(lowered: Counter[str]) -> None:
    model = tellegen.load("crank_rod")
    tellegen.condition(model, "residual").to_text()
    first = lowered.total()
    all_forms(model)
    # What is left are models of their own: each form, to know its start, and three to find variables that it hides.
    assert lowered.total() <= first + 4 + 3


def test_what_follows_is_the_same_object() -> None:
    model = tellegen.load("rlc")
    causal = assign_causality(lower(model))
    assert assign_causality(lower(model)) is causal
    assert derive_equations(causal) is derive_equations(assign_causality(lower(model)))


def test_a_changed_model_is_lowered_anew() -> None:
    model = tellegen.load("rlc")
    graph = lower(model)
    other = replace(model, parameters={})
    assert lower(other) is not graph
    assert not lower(other).parameters


def test_graphs_are_written_alike_whatever_was_asked_of_them() -> None:
    """The cache of compiled models goes by what is written."""
    graph = lower(tellegen.load("rlc"))
    before = dumps(graph)
    assign_causality(graph)
    assert dumps(graph) == before
    assert loads(before).known.found == {}


def test_what_fails_is_not_remembered() -> None:
    class Value:
        known = Known()

    calls = []

    @remembered
    def failing(value: Value) -> int:
        calls.append(value)
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            failing(Value())
    assert len(calls) == 2
