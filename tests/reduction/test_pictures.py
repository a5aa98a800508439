"""Reductions on the scheme end where the reductions of the model end: on every built-in system, and on random networks."""

from collections.abc import Iterator
from fractions import Fraction
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tellegen as tg
from reduction.test_limits_of_random_networks import Case, at, cases, reduced
from schemes.answers import answer_at
from support.strategies import RESISTIVE, networks
from tellegen.core.errors import TellegenError
from tellegen.drawing.pog.steps import reduction_scene
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions.elimination import with_definitions
from tellegen.model.model import Element
from tellegen.notations.reading import read_model
from tellegen.reduction import Reduction, SchemePictures, scheme_pictures
from tellegen.scenes.ink import check_scene
from tellegen.schemes.gains import vector_block

Array = NDArray[np.float64]
EXAMPLES = [example.name for example in tg.examples()]
MOST = 4
"""Limits tried on each example: some of the first, some of the last elements."""
LONG = ("andrews_squeezer", "five_bar", "piston_cylinder", "mobile_manipulator", "trolley_folder", "rapson_slide")
"""Mechanisms whose equations are long: one limit each."""
LOSSES = {kind for kinds in RESISTIVE.values() for kind in kinds}
MATRICES: tuple[MatrixName, ...] = ("L", "A", "N", "B", "C", "D", "B_1", "D_1")


def limits_of(model: tg.Model, name: str) -> Iterator[dict[str, float]]:
    """The limit at which some storages lose their state, the first two together, and a loss that shorts or opens."""
    storages = [e for e in model.elements if e.kind.role == "storage" and e.value is not None and e.law is None]
    single = [{e.name: inf if e.kind.inverse else 0.0} for e in storages if has_own_limit(model, e)]
    if name in LONG:
        yield single[-1]
        return
    yield from single[:: max(1, len(single) // MOST)]
    if len(single) > 1:
        yield single[0] | single[1]
        yield {next(iter(single[-1])): 0.0 if inf in single[-1].values() else inf}
    losses = [
        e for e in model.elements if e.kind.role == "resistive" and e.law is None and str(e.value) not in ("None", "0")
    ]
    for e in losses[:1]:
        yield {e.name: inf}


def has_own_limit(model: tg.Model, element: Element) -> bool:
    inside = {m for f in model.fields for m in f.members}
    shared = [e for e in model.elements if e.value is not None and element.name in e.value.free_symbols]
    return element.name not in inside and len(shared) < 2


def attempted(model: tg.Model, limits: dict[str, float]) -> Reduction | None:
    try:
        return tg.reduce(model, limits)
    except TellegenError:
        return None  # physics forbids it


def idle_states(system: EquationSystem, others: tuple[str, ...]) -> list[str]:
    """States that nothing drives and that drive nothing, which a reduced model leaves out."""
    extra = [k for k, name in enumerate(system.states) if name not in others]
    A, B = system.matrices["A"], system.matrices["B"]
    rows = [e for k in extra for e in (*A[k], *B[k], *(row[k] for row in A))]
    assert all(str(e) == "0" for e in rows), f"{[system.states[k] for k in extra]} are states of the scheme only"
    return [system.states[k] for k in extra]


def numbers(
    system: EquationSystem, values: dict[str, float], states: tuple[str, ...], inputs: tuple[str, ...]
) -> dict[str, Array]:
    """All matrices and vectors at a point, rows and columns in the order of some states and inputs."""
    x, u = [system.states.index(n) for n in states], [system.inputs.index(n) for n in inputs]
    places = {"L": (x, x), "A": (x, x), "N": (x, x), "B": (x, u), "C": (u, x), "D": (u, u), "B_1": (x, u)} | {
        "D_1": (u, u)
    }

    def value(e: tg.Expression) -> float:
        return with_definitions(e, system.where).evaluate(values)

    found: dict[str, Array] = {
        name: np.array([[value(system.matrices[name][i][j]) for j in places[name][1]] for i in places[name][0]])
        for name in MATRICES
    }
    found["f"] = np.array([value(system.vectors["f"][i]) for i in x])
    found["f_y"] = np.array([value(system.vectors["f_y"][i]) for i in u])
    found["residuals"] = np.array([value(e) for e in system.algebraic.residuals])
    return found


def point(system: EquationSystem) -> dict[str, float]:
    chance = Random(3)
    variables = (*system.states, *system.inputs, *system.displacements, *system.algebraic.unknowns)
    read = {name for e in system.entries() for name in with_definitions(e, system.where).free_symbols}
    # Laws may read power variables that are neither states nor unknowns, such as the normal force of a friction.
    names = dict.fromkeys((*variables, *system.signals.names, *sorted(read)))
    return {**{name: chance.uniform(0.2, 1.2) for name in names}, **system.values()}


def assert_same_equations(pictures: SchemePictures, reduction: Reduction) -> None:
    """The equations behind the last scheme are those of the reduced model, with all their terms, where it has these states."""
    assert pictures.simplified is not None
    drawn, small = derive_equations(pictures.simplified.causal), reduction.equations
    idle = idle_states(drawn, small.states) if len(drawn.states) > len(small.states) else []
    kept = tuple(name for name in drawn.states if name not in idle)
    if set(kept) != set(small.states):
        small = tg.reduce(reduction.original, list(map(str, reduction.limits)), keep=kept).equations
    assert set(kept) == set(small.states)
    assert set(drawn.inputs) == set(small.inputs)
    assert drawn.algebraic.unknowns == small.algebraic.unknowns
    values = point(small)
    one = numbers(small, values, small.states, small.inputs)
    two = numbers(drawn, {**drawn.values(), **dict.fromkeys(idle, 0.3), **values}, small.states, small.inputs)
    for name, expected in one.items():
        size = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(two[name], expected, rtol=1e-7, atol=1e-9 * size, err_msg=name)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LONG or k % 2 else ()) for k, name in enumerate(EXAMPLES)],
)
def test_scheme_and_model_give_the_same_equations(name: str) -> None:
    model = tg.load(name)
    for limits in limits_of(model, name):
        reduction = attempted(model, limits)
        if reduction is None:
            continue
        pictures = scheme_pictures(reduction)
        assert not pictures.why_not
        assert_same_equations(pictures, reduction)


@given(cases())
def test_random_meshes_end_with_the_equations_of_the_reduction(case: Case) -> None:
    reduction = reduced(case)
    pictures = scheme_pictures(reduction)
    assert not pictures.why_not
    assert pictures.simplified is not None
    small = reduction.equations
    drawn = derive_equations(pictures.simplified.causal)
    order = [drawn.inputs.index(name) for name in small.inputs]
    s = Fraction(3)
    G, H = at(small, case).transfer_matrix(s), at(drawn, case).transfer_matrix(s)
    if G is None or H is None:
        return
    assert [[H[i][j] for j in order] for i in order] == G
    values = {name: float(x) for name, x in case.network.values.items()}
    # The blocks themselves, solved with numbers: the last scheme, and the inverted one before the element went.
    answer = answer_at(pictures.simplified, float(s), values)
    places = [pictures.simplified.inputs.index(name) for name in small.inputs]
    expected = np.array([[float(e) for e in row] for row in G]).reshape(len(order), len(order))
    np.testing.assert_allclose(answer[np.ix_(places, places)], expected, rtol=1e-7, atol=1e-9)
    first = pictures.stages[0]
    if first.loop:
        before, after = (answer_at(scheme, float(s), values) for scheme in (first.original, first.inverted))
        np.testing.assert_allclose(after, before, rtol=1e-7, atol=1e-9)


@st.composite
def lossy_cases(draw: st.DrawFn) -> Case:
    """A network with a loss that shorts or opens."""
    network = draw(networks(grounded=draw(st.booleans())))
    losses = [p for p in network.parts if p.kind in LOSSES and p.parameter]
    users = [p.parameter for p in network.parts]
    losses = [p for p in losses if users.count(p.parameter) == 1]
    assume(losses)
    return Case(network, {draw(st.sampled_from(losses)).parameter: draw(st.sampled_from([0.0, inf]))}, network)


@given(lossy_cases())
@settings(suppress_health_check=[HealthCheck.filter_too_much])
def test_random_losses_that_short_or_open_have_pictures(case: Case) -> None:
    try:
        reduction = reduced(case)
    except TellegenError as error:
        assume(error.code not in ("T103", "T106", "T107"))
        raise
    pictures = scheme_pictures(reduction)
    assert not pictures.why_not
    assert pictures.simplified is not None
    small, drawn = reduction.equations, derive_equations(pictures.simplified.causal)
    order = [drawn.inputs.index(name) for name in small.inputs]
    G, H = (at(system, case).transfer_matrix(Fraction(3)) for system in (small, drawn))
    assume(G is not None)
    assume(H is not None)
    assert H is not None
    assert [[H[i][j] for j in order] for i in order] == G


@pytest.mark.parametrize("name", ["corking_shaft", "corking_transmission", "planetary_gear"])
def test_pictures_of_a_mesh_are_read_off_its_blocks(name: str) -> None:
    """The vector block of the last scheme, made of its blocks and summations, is that of the equations behind it."""
    model = tg.load(name)
    for limits in limits_of(model, name):
        reduction = attempted(model, limits)
        if reduction is None:
            continue
        pictures = scheme_pictures(reduction)
        assert pictures.simplified is not None
        drawn, block = derive_equations(pictures.simplified.causal), vector_block(pictures.simplified)
        values = point(drawn)
        assert block.states == drawn.states
        for letter in ("L", "A", "B"):
            one = [[with_definitions(e, drawn.where).evaluate(values) for e in row] for row in getattr(block, letter)]
            two = [[with_definitions(e, drawn.where).evaluate(values) for e in row] for row in drawn.matrices[letter]]
            np.testing.assert_allclose(np.array(one), np.array(two), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "limits", "elements"),
    [
        pytest.param("corking_shaft", {"K_se": inf, "J_a": 0}, ["K_se", "J_a"], marks=pytest.mark.slow),
        ("pmsm", {"J": 0}, ["J"]),  # whose figure has vector lanes before
        ("dc_motor_pump", {"J_m": inf}, ["J_m"]),
        ("dc_motor_pump", {"R_a": inf}, ["R_a"]),
        ("dc_motor_pump", {"K_m": 0, "J_m": 0}, ["motor", "J_m"]),
    ],
)
def test_pictures_can_be_drawn(name: str, limits: dict[str, float], elements: list[str]) -> None:
    pictures = scheme_pictures(tg.reduce(name, limits))
    assert [stage.element for stage in pictures.stages] == elements
    for stage in pictures.stages:
        assert not check_scene(reduction_scene(stage))


def test_pictures_of_two_limits_follow_each_other() -> None:
    pictures = scheme_pictures(tg.reduce("two_mass_drive", {"K_s": inf, "J_l": 0}))
    assert [stage.element for stage in pictures.stages] == ["K_s", "J_l"]
    assert pictures.stages[1].original is pictures.stages[0].simplified
    assert pictures.simplified is pictures.stages[1].simplified
    assert "a) the loop tau_s" in str(pictures)


CURVED = """
system: curved
parameters: {b: 1 N*s/m, c: 2, m: 1 kg, M: 3 kg, K: 5 N/m}
network:
  F: {force source: [frame, a]}
  M: {mass: [a], velocity: v_M}
  K: {spring: [a, b], force: F_K}
  m: {mass: [b], velocity: v_m}
  d: {damper: [b, frame], law: F = b*v + c*v^3}
"""


def test_a_curved_law_is_asked_backwards() -> None:
    """Nothing but the damper decides the speed of a massless body, so its law has to be solved for it."""
    reduction = tg.reduce(read_model(CURVED), {"m": 0})
    pictures = scheme_pictures(reduction)
    assert not pictures.why_not
    assert_same_equations(pictures, reduction)
    assert reduction.equations.algebraic.unknowns


def test_a_field_that_loses_rank_is_split_first() -> None:
    reduction = tg.reduce("pmsm", ["M_0=L_e"])
    pictures = scheme_pictures(reduction)
    assert not pictures.why_not
    assert "stand beside what is left of their field" in str(pictures)
    assert "passes" not in str(pictures)  # nothing was cut
    assert_same_equations(pictures, reduction)


GEAR = """
system: gear
parameters: {n: 2, J: 1 kg*m^2, b: 1 N*m*s, K: 3 N*m, J_2: 2 kg*m^2}
network:
  tau: {torque source: [frame, a]}
  J: {inertia: [a]}
  b: {friction: [a, frame]}
  g: {gear: [a, frame, c, frame], gear ratio: n}
  K: {torsion spring: [c, d]}
  J_2: {inertia: [d]}
"""


@pytest.mark.parametrize(
    ("model", "limits", "said"),
    [
        ("dc_motor_pump", {"K_p": 0}, "c) 'pump' passes no power: Q_p = 0, C_p = 0"),
        ("dc_motor_pump", {"K_m": 0, "J_m": 0}, "a) the loop omega_m -> tau_b_m"),
        (GEAR, {"n": 0}, "b) J, K decide the other variable"),
    ],
)
def test_a_coupling_at_zero_is_cut(model: str, limits: dict[str, float], said: str) -> None:
    reduction = tg.reduce(model if "\n" not in model else read_model(model), limits)
    pictures = scheme_pictures(reduction)
    assert not pictures.why_not
    assert said in str(pictures)
    assert_same_equations(pictures, reduction)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"b_m": 0}, "a) no loop: the gain from omega_m to tau_b_m tends to zero"),
        ({"R_a": inf}, "a) the loop"),
        ({"J_m": inf}, "c) 'J_m' is a source: omega_m keeps the value that it starts with"),
    ],
)
def test_losses_and_frozen_storages_have_pictures_too(limits: dict[str, float], said: str) -> None:
    reduction = tg.reduce("dc_motor_pump", limits)
    pictures = scheme_pictures(reduction)
    assert not pictures.why_not
    assert said in str(pictures)
    assert_same_equations(pictures, reduction)
