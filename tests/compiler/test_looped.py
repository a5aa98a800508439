"""Large models run as loops over tables: the same numbers as written out, code that does not know the size, sparse patterns."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tellegen as tg
from compiler.comparing import close
from compiler.test_models import EXAMPLES, legal
from support.amount import FEWER, every
from support.examples import causal_example
from support.networks import Network
from support.strategies import networks
from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler import NumericModel, compile_model, program
from tellegen.compiler.context import Array, ModelContext
from tellegen.graph import lower
from tellegen.notations.reading import read_model


def solved(model: NumericModel, y: Array, yp: Array, context: ModelContext) -> Array:
    """y with its unknowns where their residuals vanish; they enter linearly."""
    first = model.size - len(model.unknowns)
    full, rates = np.zeros(model.size), np.zeros(model.size)
    full[:first], rates[:first] = y, yp
    if model.unknowns:
        unit = np.eye(model.size)[first:]
        matrix = np.array([model.tangent(0.3, full, rates, e, context=context)[first:] for e in unit]).T
        full[first:] = np.linalg.solve(matrix, -model.residual(0.3, full, rates, context)[first:])
    return full


def assert_equal_models(causal: CausalGraph, seed: int = 0) -> None:
    written, looped = compile_model(causal, form="unrolled"), compile_model(causal, form="looped")
    assert (written.states, written.inputs, written.observables) == (looped.states, looped.inputs, looped.observables)
    assert written.linear == looped.linear
    assert written.explicit or not looped.explicit
    chance = np.random.default_rng(seed)
    y, yp, dy, dyp = chance.normal(size=(4, written.size))
    u, dp = chance.normal(size=len(written.inputs)), chance.normal(size=len(written.parameters))
    one, two = written.new_context(inputs=u), looped.new_context(inputs=u)
    full = solved(looped, y, yp, two)
    rates = np.concatenate([yp, np.zeros(len(looped.unknowns))])
    n = written.size
    assert close(looped.residual(0.3, full, rates, two)[:n], written.residual(0.3, y, yp, one))
    assert close(looped.observe(0.3, full, rates, two), written.observe(0.3, y, yp, one))
    assert close(looped.balance(0.3, full, rates, two), written.balance(0.3, y, yp, one))
    for model, at, along, context in ((written, y, yp, one), (looped, full, rates, two)):
        powers = model.powers(0.3, at, along, context)
        assert close(powers, model.balance(0.3, at, along, context)[:4])
        assert model.data is not None
        if not model.data.powers_read_rates:
            assert np.array_equal(model.powers(0.3, at, along + 1.0, context), powers)
    assert close(looped.event_values(0.3, full, rates, two), written.event_values(0.3, y, yp, one))
    if not looped.unknowns:
        expected = written.tangent(0.3, y, yp, dy, dyp, dp, one)
        assert close(looped.tangent(0.3, y, yp, dy, dyp, dp, two), expected)
        assert len(looped.pattern.indices) <= len(written.pattern.indices)
    if looped.explicit:
        assert close(looped.rhs(0.3, y, two), written.rhs(0.3, y, one))
        assert close(looped.rhs_tangent(0.3, y, dy, dp, two), written.rhs_tangent(0.3, y, dy, dp, one))


@pytest.mark.parametrize("name", every(4, EXAMPLES[1:] + EXAMPLES[:1]))
def test_looped_examples_equal_those_written_out(name: str) -> None:
    assert_equal_models(causal_example(name))


@settings(FEWER, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(), st.integers(0, 1000))
def test_looped_networks_equal_those_written_out(network: Network, seed: int) -> None:
    assert_equal_models(legal(network), seed)


def ladder(n: int, section: str) -> CausalGraph:
    text = f"""
system: ladder
parameters: {{N: {n}, R_0: 2 ohm}}
network:
  V: {{voltage source: ["n[0]", gnd]}}
  sections:
    repeat: {{i: 1..N}}
    network:
      {section}
"""
    return assign_causality(lower(read_model(text)))


RC = """R[i]: {resistor: ["n[i-1]", "n[i]"], R: R_0/i}
      C[i]: {capacitor: ["n[i]", gnd], C: 1 F/i}"""
SERIES = """C[i]: {capacitor: ["n[i-1]", "n[i]"], C: 1 F/i}
      R[i]: {resistor: ["n[i-1]", "n[i]"], R: R_0/i}
      G[i]: {inductor: ["n[i]", gnd], L: 1 H/i}"""
DIVIDED = """R[i]: {resistor: ["n[i-1]", "m[i]"], R: R_0/i}
      Q[i]: {resistor: ["m[i]", "n[i]"], R: R_0/i}
      C[i]: {capacitor: ["n[i]", gnd], C: 1 F/i}"""


def test_the_code_of_a_ladder_does_not_depend_on_its_length() -> None:
    short, long = (compile_model(ladder(n, RC), form="looped") for n in (3, 200))
    assert short.source == long.source
    assert long.cached


def test_a_ladder_has_a_pattern_of_three_diagonals_and_three_colours() -> None:
    n = 400
    model = compile_model(ladder(n, RC))
    assert model.explicit
    assert model.linear
    assert len(model.pattern.indices) == 3 * n - 2
    assert model.colours.max() == 2
    y = np.linspace(-1.0, 1.0, n)
    context = model.new_context(inputs={"V": 2.0})
    i = np.arange(1, n + 1)
    current = -np.diff(np.concatenate([[2.0], y])) * i / 2.0
    assert close(model.rhs(0.0, y, context), (current - np.append(current[1:], 0.0)) * i)
    dp = np.array([name == "R_0" for name in model.parameters], dtype=float)
    assert close(model.rhs_tangent(0.0, y, None, dp, context), -model.rhs(0.0, y, context) / 2.0)


def test_what_cancels_along_a_chain_is_not_in_the_pattern() -> None:
    n = 150
    model = compile_model(ladder(n, SERIES), form="looped")
    # Each capacitor sees its resistor and the inductors after it; the resistors before it cancel.
    rows = {name: k for k, name in enumerate(model.names)}
    columns = np.repeat(np.arange(model.size), np.diff(model.pattern.indptr))
    seen = {model.names[c] for c in columns[model.pattern.indices == rows["V_C[1]"]]}
    assert seen == {"V_C[1]", *(f"I_G[{i}]" for i in range(1, n + 1))}


GEARED = """K[i]: {resistor: ["n[i-1]", "m[i]"], R: R_0/i}
      I[i]: {capacitor: ["m[i]", gnd], C: 1 F}
      g[i]: {transformer: ["m[i]", gnd, "n[i]", gnd], n: 2}
      P[i]: {capacitor: ["n[i]", gnd], C: 2 F/i}"""


def test_storages_that_follow_others_leave_a_mass_matrix_to_divide_by() -> None:
    assert_equal_models(ladder(8, GEARED))
    model = compile_model(ladder(150, GEARED))
    assert model.explicit
    assert model.linear
    assert len(model.states) == 150


def test_a_mesh_of_resistors_keeps_its_sums_as_unknowns_and_its_pattern_sparse() -> None:
    n = 20
    text = f"""
system: mesh
network:
  V: {{voltage source: ["n[0,1]", gnd]}}
  R_s: {{resistor: ["n[0,1]", "n[1,1]"], R: 1 ohm}}
  C: {{capacitor: ["n[{n},{n}]", gnd], C: 1 F}}
  along:
    repeat: {{i: 1..{n}, j: 2..{n}}}
    network:
      R[i,j]: {{resistor: ["n[i,j-1]", "n[i,j]"], R: 1 ohm}}
  down:
    repeat: {{i: 2..{n}, j: 1..{n}}}
    network:
      Q[i,j]: {{resistor: ["n[i-1,j]", "n[i,j]"], R: 1 ohm}}
"""
    causal = assign_causality(lower(read_model(text)))
    model = compile_model(causal)
    assert len(model.pattern.indices) <= 6 * model.size
    assert model.colours.max() < 12
    context = model.new_context(inputs={"V": 3.0})
    full = solved(model, np.array([1.0]), np.zeros(1), context)
    shown = model.observe(0.0, full, np.zeros(model.size), context)
    current = {o.name: v for o, v in zip(model.observables, shown, strict=True)}["I_R_s"]
    assert current == pytest.approx(2.0 / mesh_resistance(n), rel=1e-9)


def mesh_resistance(n: int) -> float:
    """Between opposite corners of a square mesh of unit resistors, with one more in series: by the Laplacian of the mesh."""
    line = np.diag(np.r_[1.0, 2.0 * np.ones(n - 2), 1.0]) - np.eye(n, k=1) - np.eye(n, k=-1)
    laplacian = np.kron(line, np.eye(n)) + np.kron(np.eye(n), line)
    into = np.eye(n * n - 1)[0]  # a unit current into the first corner; the last one is the reference
    return float(np.linalg.solve(laplacian[:-1, :-1], into)[0]) + 1.0


def test_loops_of_resistors_leave_one_unknown_each() -> None:
    n = 500
    model = compile_model(ladder(n, DIVIDED))
    assert not model.explicit
    assert model.linear
    assert len(model.unknowns) == n
    y = np.linspace(0.0, 1.0, n)
    context = model.new_context(inputs={"V": 2.0})
    i = np.arange(1, n + 1)
    drop = -np.diff(np.concatenate([[2.0], y])) / 2  # equal resistors share the voltage
    unknowns = drop if model.unknowns[0].startswith("V") else drop * i / 2.0
    full = np.concatenate([y, unknowns])
    assert close(model.residual(0.0, full, np.zeros(2 * n), context)[n:], np.zeros(n))


CHAIN = """
system: chain of links
mechanism:
  gravity: 9.81 m/s^2
  bodies:
{bodies}
  joints:
{joints}
experiment: {{until: 0.1 s, rtol: 1e-8}}
"""


def test_a_model_in_which_everything_depends_on_everything_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Forces of a chain that are solved for all at once: neither the sums nor what is left of them is sparse."""
    bodies = "\n".join(
        f"    b{k}: {{mass: 1 kg, inertia: 0.02 kg*m^2, centre: [0.2 m, 0 m], points: {{tip: [0.5 m, 0 m]}}}}"
        for k in range(4)
    )
    joints = "\n".join(f"    j{k}: {{revolute: [{f'b{k - 1}.tip' if k else 'ground'}, b{k}]}}" for k in range(4))
    form = tg.condition(read_model(CHAIN.format(bodies=bodies, joints=joints)), "residual")
    causal = assign_causality(lower(form.model))
    sparse = compile_model(causal, form="looped")
    monkeypatch.setattr(program, "FEWEST_ENTRIES", 10)
    monkeypatch.setattr(program, "FEWEST_WITH_UNKNOWNS", 10)
    monkeypatch.setattr(program, "ENTRIES_EACH", 0)
    dense = compile_model(causal, form="looped")
    assert dense.variables == sparse.variables
    assert dense.explicit
    y = np.linspace(0.1, 1.0, dense.size)
    assert dense.rhs(0.0, y) == pytest.approx(sparse.rhs(0.0, y), rel=1e-12)
