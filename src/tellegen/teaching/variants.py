"""Variants of an exercise: other values with few digits, elements that changed places, and never two alike.

What is made is tried: a variant has no errors, its exercise can be set, and its equations follow.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10
from random import Random
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.language import Phrases
from tellegen.equations.checking import check
from tellegen.expressions import Number, number
from tellegen.model.model import Element, Model, Parameter
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.teaching import rules
from tellegen.teaching.dynamics import equations_task, reduction_task, signs_task, values_task
from tellegen.teaching.tasks import Hidden, Task, strokes_task

TASKS: dict[Hidden, Callable[[Model, Phrases], Task]] = {
    "strokes": strokes_task,
    "equations": equations_task,
    "signs": signs_task,
    "values": values_task,
    "reduction": reduction_task,
}
"""What can be hidden, with the exercise that hides it."""
MOST_TRIES = 60
"""So many changes are tried for each variant."""
SENSIBLE = (1.0, 1.2, 1.5, 1.8, 2.0, 2.2, 2.5, 3.0, 3.3, 4.0, 4.7, 5.0, 6.0, 6.8, 7.5, 8.0)
"""Digits that one writes on a blackboard."""
RANGE = (-0.4, 0.4)
"""The power of ten by which a value may move."""


def task_of(model: Model, hide: Hidden, say: Phrases, limit: str = "") -> Task:
    """The exercise that hides something of a model.

    Raises: LessonError (L102) where there is no such thing; TellegenError where the model itself is wrong.
    """
    if hide == "reduction":
        return reduction_task(model, say, limit)
    return TASKS[hide](model, say)


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """Which exercises are wanted: what they hide, how many, from which seed, with which limit, in which language."""

    hide: Hidden
    count: int
    seed: int
    limit: str
    say: Phrases

    def task(self, model: Model) -> Task:
        """The exercise of one model."""
        return task_of(model, self.hide, self.say, self.limit)


def variants_of(model: Model, asked: Asked) -> Iterator[tuple[Model, Task]]:
    """The model, then variants of it, each with its exercise.

    Raises: LessonError (L102, L103).
    """
    first = read_model(to_yaml(model)) if asked.count > 1 else model
    yield first, asked.task(first)
    if asked.count == 1:
        return
    seen, shapes = {to_yaml(first)}, {_shape(first)}
    for n in range(2, asked.count + 1):
        made = _variant(first, asked, Random(f"{asked.seed} {n} {to_yaml(first)}"), seen, shapes)
        if made is None:
            told = f"only {n - 1} different exercise{'s' if n > 2 else ''} of '{model.name}' could be made"
            raise rules.TOO_FEW_VARIANTS.error(told, fix="ask for fewer, or take a larger model")
        seen.add(to_yaml(made[0]))
        shapes.add(_shape(made[0]))
        yield made


def _variant(model: Model, asked: Asked, chance: Random, seen: Set[str], shapes: Set[str]) -> tuple[Model, Task] | None:
    spare: tuple[Model, Task] | None = None
    known = {finding.code for finding in check(model).findings}
    for _ in range(MOST_TRIES):
        made = _with_other_values(_rearranged(model, chance), chance)
        try:
            # Written and read again: what cannot be said in a file is no model to be handed out.
            made = read_model(to_yaml(made))
            if to_yaml(made) in seen or not _sound(made, known):
                continue
            task = asked.task(made)
        except TellegenError:
            continue
        if _shape(made) not in shapes:
            return made, task
        # Another topology is better; other values alone will do where none is found.
        spare = spare or (made, task)
    return spare


def _sound(made: Model, known: Set[str]) -> bool:
    """Whether nothing is wrong with a variant that is not wrong with the model, whose codes are known."""
    found = check(made)
    worse = [f for f in found.findings if f.severity != "notice" and f.code not in known]
    return found.ok and not worse and bool(found.states)


def _shape(model: Model) -> str:
    """What is joined to what, whatever the values and the names of nodes."""
    at: dict[str, list[str]] = {}
    for element in model.elements:
        for k, node in enumerate(element.nodes):
            at.setdefault(node, []).append(f"{element.name}.{k}")
    return "|".join(sorted(",".join(sorted(ends)) for ends in at.values()))


# -- other values


def _with_other_values(model: Model, chance: Random) -> Model:
    return replace(model, parameters={name: _another(p, model, chance) for name, p in model.parameters.items()})


def _another(parameter: Parameter, model: Model, chance: Random) -> Parameter:
    value = parameter.expression
    if not isinstance(value, Number) or parameter.name in model.counts or parameter.curve is not None:
        return parameter
    old = value.value
    # Zeros, and numbers of poles or teeth, are not quantities that one may change.
    if old == 0 or (
        old.denominator == 1 and parameter.dimension is not None and parameter.unit in ("", "1") and abs(old) < 20
    ):
        return parameter
    return replace(parameter, expression=number(_sensible(old, chance)))


def _sensible(old: Fraction, chance: Random) -> Fraction:
    """A value of few digits near another one."""
    goal = log10(abs(old)) + chance.uniform(*RANGE)
    power = floor(goal)
    digits = min(SENSIBLE, key=lambda d: abs(d - 10 ** (goal - power)))
    return Fraction(round(digits * 10), 10) * Fraction(10) ** power * (1 if old > 0 else -1)


# -- other topologies


def _rearranged(model: Model, chance: Random) -> Model:
    """Elements swapped or moved, where they are simple ones between nodes; mechanisms and models of parts stay as they are."""
    if model.mechanism is not None or model.geometry is not None or model.parts or model.fields or model.closures:
        return model
    loose = [k for k, element in enumerate(model.elements) if _is_loose(element)]
    elements = list(model.elements)
    for _ in range(chance.choice((1, 1, 2)) if len(loose) > 1 else 0):
        one, two = chance.sample(loose, 2)
        if elements[one].kind.domain is not elements[two].kind.domain:
            continue
        if chance.random() < 0.6:
            nodes = elements[one].nodes, elements[two].nodes
            elements[one], elements[two] = (
                replace(elements[k], nodes=n) for k, n in ((one, nodes[1]), (two, nodes[0]))
            )
        else:
            elements[one] = replace(elements[one], nodes=elements[two].nodes)
    # Signals that only name a section between neighbours make no sense elsewhere, and places in a drawing neither.
    moved = [e.nodes for e in elements] != [e.nodes for e in model.elements]
    signals = {name: s for name, s in model.signals.items() if s.between is None} if moved else model.signals
    return replace(model, elements=tuple(elements), signals=signals, sketch=None, layout={}, turned={})


def _is_loose(element: Element) -> bool:
    return element.kind.role in ("storage", "resistive") and len(element.nodes) == 2 and not element.kind.grounded
