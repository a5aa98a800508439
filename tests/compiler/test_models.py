"""Compiled models give what the equations give, at any point, whichever way they are computed."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import tellegen as tg
from compiler.comparing import at_random_point, close
from support.amount import small_now
from support.bond_graphs import Graph, graphs
from support.evaluated import CONFLICTS
from support.examples import causal_example
from support.networks import Network, Part
from support.strategies import networks
from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler import NumericModel, compile_model
from tellegen.compiler.context import Array, ModelContext
from tellegen.core.errors import CausalityError, EquationError, TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.workflow.files import examples

EXAMPLES = [example.name for example in examples()]


def legal(network: Network) -> CausalGraph:
    """The causal graph of a random network, with numbers; contradictions and coincidences are passed over."""
    try:
        causal = assign_causality(lower(Network(network.parts, valued=True).model()))
    except CausalityError as error:
        assume(error.code not in CONFLICTS)
        raise
    assume(all(finding.code != "K106" for finding in causal.findings))
    return causal


@pytest.mark.parametrize("name", small_now(EXAMPLES, also=["rapson_slide"]))
def test_examples_have_the_residual_of_their_equations(name: str) -> None:
    causal = causal_example(name)
    point = at_random_point(compile_model(causal), causal)
    assert point.model.states == point.equations.states
    expected = point.residual()
    assert close(point.model.residual(0.0, point.y, point.yp, point.context)[: len(expected)], expected)


@pytest.mark.parametrize("name", small_now(EXAMPLES, also=["rapson_slide"]))
def test_explicit_rates_make_the_residual_vanish_and_outputs_are_those_of_the_equations(name: str) -> None:
    causal = causal_example(name)
    point = at_random_point(compile_model(causal), causal)
    assert point.model.explicit
    rates = point.model.rhs(0.0, point.y, point.context)
    size = np.abs(point.model.residual(0.0, point.y, 0 * rates, point.context)).max(initial=1.0)
    assert close(point.model.residual(0.0, point.y, rates, point.context) / size, np.zeros(len(rates)))
    shown = point.model.observe(0.0, point.y, rates, point.context)
    outputs = [k for k, o in enumerate(point.model.observables) if o.kind == "output"]
    assert tuple(point.model.observables[k].name for k in outputs) == point.equations.outputs
    assert close(shown[outputs], point.output())


def balance_closes(model: NumericModel, y: Array, u: Array) -> bool:
    """dE/dt = supplied + modulation + generated - dissipated, E differenced along the motion."""
    context = model.new_context(inputs=u)
    rates = model.rhs(0.0, y, context)
    supplied, dissipated, generated, modulation, _ = model.balance(0.0, y, rates, context)
    h = 1e-5 / max(1.0, float(np.abs(rates).max(initial=0.0)))
    energies = [model.balance(0.0, y + step * rates, rates, context)[4] for step in (h, -h)]
    gained = (energies[0] - energies[1]) / (2 * h)
    shown = model.observe(0.0, y, rates, context)
    powers = [abs(v) for o, v in zip(model.observables, shown, strict=True) if o.kind == "power"]
    scale = max(*powers, abs(gained), abs(modulation), 1e-300)
    rounding = 1e-15 * max(map(abs, energies)) / h
    assert abs(gained - (supplied + modulation + generated - dissipated)) <= 1e-6 * scale + 10 * rounding
    return True


@pytest.mark.parametrize("name", small_now(EXAMPLES, also=["rapson_slide"]))
def test_energy_is_gained_by_what_is_supplied_and_not_dissipated(name: str) -> None:
    causal = causal_example(name)
    point = at_random_point(compile_model(causal), causal)
    assert balance_closes(point.model, point.y, point.u)


ANSWERED_BY_A_STATE = Network(
    tuple(
        Part(name, kind, nodes, Fraction(value), name)
        for name, kind, nodes, value in (
            ("R", "voice coil", ("n11", "n1x", "n0x", "n00"), "11/23"),
            ("k2", "inductor", ("n1x", "n11"), "1"),
            ("c2", "capacitor", ("n11", "n10"), "1"),
            ("h10", "voice coil", ("n1x", "n10", "n0x", "n00"), "7/13"),
            ("a1", "current source", ("n10", "n11"), "1"),
            ("a2", "inductor", ("n10", "n1x"), "1"),
            ("z9", "mass", ("n00", "n0x"), "1"),
        )
    )
)
"""The voltage of the source is that of a capacitor, by a sum of fractions that is one."""


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(), st.integers(0, 1000))
@example(ANSWERED_BY_A_STATE, 0)
def test_random_networks_have_the_residual_of_their_equations(network: Network, seed: int) -> None:
    assert_agreement(legal(network), seed)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(), st.integers(0, 1000))
def test_random_bond_graphs_have_the_residual_of_their_equations(graph: Graph, seed: int) -> None:
    try:
        causal = assign_causality(lower(read_model(graph.text)))
    except TellegenError:
        assume(False)
    assume(all(finding.code != "K106" for finding in causal.findings))
    assert_agreement(causal, seed)


def test_a_field_that_cannot_be_turned_round_leaves_what_a_law_draws_to_be_solved_for() -> None:
    """A field that only passes power on joins a capacitor and a resistor whose law gives its voltage."""
    text = """
system: Clamp
parameters: {C: 1 mF}
pog:
  - domain: electrical
  - section: {across: [none, none], through: [none, i1], given: [i1]}
  - mixed: [[R:z1, C:C1], {power: S, matrix: [[0, -1], [1, 0]]}]
    ways: [series, parallel]
elements:
  C1: {C: C}
  z1: {law: v = 10*i + 100*i^3}
"""
    model = compile_model(assign_causality(lower(read_model(text))), backend="python")
    for current in (-0.3, 0.0, 0.2):
        voltage, supplied = 10 * current + 100 * current**3, 0.1
        rate = model.rhs(0.0, np.array([voltage]), model.new_context(inputs={"i1": supplied}))
        assert rate == pytest.approx((supplied - current) / 1e-3)


WITH_A_RATIO = """
system: Motor
parameters: {L: 2 mH, R: 1 ohm, %s: %s, J: 1e-3 kg*m^2, b: 1e-3 N*m*s}
pog:
- section: [V, I]
- series: ["L:L", "R:R"]
- {connect: %s}
- parallel: ["J:J", "b:b"]
- section: [omega, tau]
"""


def test_a_parameter_may_have_the_letter_of_time_where_nothing_depends_on_time() -> None:
    def named(name: str, value: str = "0.1 N*m/A") -> Model:
        return read_model(WITH_A_RATIO % (name, value, name))

    speeds = [tg.simulate(named(name), 0.1, inputs={"V": "1 V"}).values("omega")[-1] for name in ("K", "t")]
    assert speeds[0] == pytest.approx(speeds[1])
    for course in ("sine(1 V, 5 Hz)", "step(1 V, 20 ms)", "t*1 V/(1 s)"):
        with pytest.raises(TellegenError, match="S304: the input V depends on time, and a parameter is named 't'"):
            tg.simulate(named("t"), 0.1, inputs={"V": course})
    with pytest.raises(EquationError, match="E105: 't' has no value"):
        tg.analyse(named("t", ""))


def assert_agreement(causal: CausalGraph, seed: int) -> None:
    try:
        derive_equations(causal)
    except EquationError as error:
        assume(error.code != "E103")
        raise
    model = compile_model(causal, backend="python")
    point = at_random_point(model, causal, seed)
    assert model.states == point.equations.states
    assert model.explicit
    assert close(model.residual(0.0, point.y, point.yp, point.context), point.residual())
    rates = model.rhs(0.0, point.y, point.context)
    outputs = [k for k, o in enumerate(model.observables) if o.kind == "output"]
    assert tuple(model.observables[k].name for k in outputs) == point.equations.outputs
    assert close(model.observe(0.0, point.y, rates, point.context)[outputs], point.output())
    assert balance_closes(model, point.y, point.u)
    assert pattern_holds(model, point.y, point.context)


def pattern_holds(model: NumericModel, y: Array, context: ModelContext) -> bool:
    """Whether df/dy and dF/dyp have no entry outside the pattern."""
    n = model.size
    inside = np.zeros((n, n), dtype=bool)
    inside[model.pattern.indices, np.repeat(np.arange(n), np.diff(model.pattern.indptr))] = True
    slopes = np.array([model.rhs_tangent(0.0, y, e, context=context) for e in np.eye(n)]).reshape(n, n).T
    masses = np.array([model.tangent(0.0, y, y, None, e, context=context) for e in np.eye(n)]).reshape(n, n).T
    assert not np.any(slopes[~inside])
    assert not np.any(masses[~inside])
    return True
