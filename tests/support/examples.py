"""The built-in examples, each read and given its causality once in a process: laws that hold for all of them ask for them often."""

from functools import cache

import tellegen as tg
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.shipped import example_names
from tellegen.graph import lower
from tellegen.model.model import Model


@cache
def all_examples() -> dict[str, Model]:
    """All of them by name."""
    return {name: tg.load(name) for name in example_names()}


@cache
def causal_example(name: str) -> CausalGraph:
    """The causal graph of an example, with integral causality preferred."""
    return assign_causality(lower(all_examples()[name]))
