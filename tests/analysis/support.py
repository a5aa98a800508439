"""Models for the tests of analysis."""

import tellegen as tg
from tellegen.analysis.linear_model import LinearModel, linear_model
from tellegen.analysis.summary import Analysis
from tellegen.notations.reading import read_model
from tellegen.results.units import variable_units


def analysed(name: str) -> Analysis:
    """The analysis of a built-in linear example."""
    system = tg.derive(name)
    assert system.origin is not None
    return Analysis(linear_model(system), variable_units(system.origin.graph))


def linear(text: str) -> LinearModel:
    """The linear model of a file's text."""
    return linear_model(tg.derive(read_model(text)))
