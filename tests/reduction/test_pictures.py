"""Reductions on the scheme end where the reductions of the model end, for every built-in system whose scheme is a ladder."""

from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.description.model import Element
from tellegen.equations.assembly import derive_equations
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions.entries import substituted
from tellegen.reduction import Reduction, scheme_pictures

Array = NDArray[np.complex128]
EXAMPLES = [example.name for example in tg.examples() if not tg.load(example.name).displacements]
"""Those whose couplings do not move: where they do, transfer matrices say nothing."""


def vanishing_limits(model: tg.Model) -> list[dict[str, float]]:
    """The limit at which each storage with a value loses its state, and the first two of them together."""
    storages = [e for e in model.elements if e.kind.role == "storage" and e.value is not None and e.law is None]
    single = [{name: inf if e.kind.inverse else 0.0} for e in storages if (name := limit_name(model, e))]
    return [*single, *([single[0] | single[1]] if len(single) > 1 else [])]


def limit_name(model: tg.Model, element: Element) -> str:
    inside = {m for f in model.fields for m in f.members}
    shared = [e for e in model.elements if e.value is not None and element.name in e.value.free_symbols]
    return "" if element.name in inside or len(shared) > 1 else element.name


def answers(system: EquationSystem, s: complex) -> Array:
    """C (s L + A + N)^-1 (B + s B_1) + D + s D_1."""
    n, m = len(system.states), len(system.inputs)
    values = system.values()

    def matrix(name: MatrixName, rows: int, columns: int) -> Array:
        entries = [[substituted(e, system.where).evaluate(values) for e in row] for row in system.matrices[name]]
        return np.array(entries, dtype=complex).reshape(rows, columns)

    driven = matrix("B", n, m) + s * matrix("B_1", n, m)
    found: Array = matrix("C", m, n) @ np.linalg.solve(s * matrix("L", n, n) + matrix("A", n, n), driven)
    return found + matrix("D", m, m) + s * matrix("D_1", m, m)


def reductions(name: str) -> list[Reduction]:
    model = tg.load(name)
    found = []
    for limits in vanishing_limits(model):
        try:
            found.append(tg.reduce(model, limits))
        except TellegenError:
            continue  # physics forbids it
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_scheme_and_model_give_the_same_equations(name: str) -> None:
    for reduction in reductions(name):
        pictures = scheme_pictures(reduction)
        if pictures.why_not:
            continue
        assert pictures.simplified is not None
        drawn, small = derive_equations(pictures.simplified.causal), reduction.equations
        if not (drawn.linear and small.linear):
            continue
        order = [drawn.inputs.index(name) for name in small.inputs]
        for s in (0.7, 30.0, 20j):
            expected = answers(small, s)
            got = answers(drawn, s)[np.ix_(order, order)]
            np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10 * np.abs(expected).max())


def test_ladders_can_be_drawn() -> None:
    for name in ("dc_motor_pump", "two_mass_drive", "cauer_low_pass"):
        assert not [said for r in reductions(name) if (said := scheme_pictures(r).why_not)]


def test_pictures_of_two_limits_follow_each_other() -> None:
    pictures = scheme_pictures(tg.reduce("two_mass_drive", {"K_s": inf, "J_l": 0}))
    assert [stage.element for stage in pictures.stages] == ["K_s", "J_l"]
    assert pictures.stages[1].original is pictures.stages[0].simplified
    assert pictures.simplified is pictures.stages[1].simplified
    assert "a) the loop tau_s" in str(pictures)


@pytest.mark.parametrize(
    ("name", "limits", "said"),
    [
        ("dc_motor_pump", {"b_m": 0}, "b_m is no storage that vanishes"),
        ("dc_motor_pump", {"J_m": inf}, "J_m=inf is no storage that vanishes"),
        ("corking_shaft", {"K_se": inf}, "one vector block"),
    ],
)
def test_what_a_scheme_cannot_show(name: str, limits: dict[str, float], said: str) -> None:
    pictures = scheme_pictures(tg.reduce(name, limits))
    assert said in pictures.why_not
    assert pictures.simplified is None
