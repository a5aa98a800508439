"""Block diagrams of random networks: their rates are those of the compiled model, and Simulink gets every block and line once."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from support.evaluated import CONFLICTS
from support.networks import Network
from support.strategies import networks
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import CausalityError, CompilerError, EquationError, SimulationError
from tellegen.experiments.setup import set_up
from tellegen.exporting.diagram import Diagram, Formula, formula
from tellegen.exporting.diagram_building import block_diagram
from tellegen.exporting.simulink import TOP, DiagramBuilder, SimulinkWiring
from tellegen.expressions import parse
from tellegen.expressions.matlab import matlab_name

EXAMPLES = 25
"""Each one is compiled."""


def exported(network: Network) -> tuple[Diagram, NumericModel]:
    """The diagram of a random network with numbers; contradictions are passed over."""
    model = Network(network.parts, valued=True).model()
    try:
        ready = set_up(model, until=1.0)
        diagram = block_diagram(model, until=1.0)
    except (CausalityError, CompilerError, EquationError, SimulationError) as error:
        assume(error.code not in {*CONFLICTS, "N107", "N109"})
        raise
    assume(ready.numeric.explicit)
    return diagram, ready.numeric


@settings(max_examples=EXAMPLES)
@given(networks())
def test_the_blocks_give_the_rates_of_the_compiled_model(network: Network) -> None:
    diagram, model = exported(network)
    assume(model.size > 0)
    random = np.random.default_rng(model.size)
    y = random.uniform(0.5, 1.5, model.size)
    inputs = dict(zip(model.inputs, random.uniform(0.5, 1.5, len(model.inputs)), strict=True))
    expected = model.rhs(0.0, y, model.new_context(None, inputs))
    found = rates(diagram, dict(zip(model.names, map(float, y), strict=True)), inputs)
    for name, rate in zip(model.names, expected, strict=True):
        assert abs(found[name] - rate) <= 1e-9 * (1.0 + float(np.abs(expected).max())), name


def rates(diagram: Diagram, states: dict[str, float], inputs: dict[str, float]) -> dict[str, float]:
    """The rates of the states, block by block."""
    gains = {item.terms[0][0]: item for item in diagram.formulas if isinstance(item, Formula) and item.kind == "gain"}
    values = {**diagram.parameters, **inputs, "t": 0.0}
    scales = {}
    for integrator in diagram.integrators:
        # the integrator of a ladder holds the energy variable; the gain behind it gives the state
        gain = gains.get(integrator.name) if integrator.name not in states else None
        state = integrator.name if gain is None else gain.name
        scale = 1.0 if gain is None or gain.factor is None else gain.factor.evaluate(diagram.parameters)
        values[integrator.name] = states[state] / scale
        scales[state] = integrator.rate, scale
    for item in diagram.formulas:
        assert isinstance(item, Formula), "networks have no tables"
        if item.name not in inputs:
            values[item.name] = item.expression.evaluate(values)
    if diagram.inertia is not None:
        matrix = [[entry.evaluate(values) for entry in row] for row in diagram.inertia.matrix]
        solved = np.linalg.solve(np.array(matrix), [values[name] for name in diagram.inertia.right])
        values |= dict(zip(diagram.inertia.rates, map(float, solved), strict=True))
    return {state: scale * values[rate] for state, (rate, scale) in scales.items()}


@settings(max_examples=EXAMPLES)
@given(networks())
def test_simulink_gets_every_block_once_and_every_signal_has_one_name(network: Network) -> None:
    diagram, _ = exported(network)
    wiring = DiagramBuilder(diagram).built()
    paths = [block.path for block in wiring.blocks]
    assert len(paths) == len(set(paths))
    ends = [(line.system, line.target, line.target_port) for line in wiring.lines]
    assert len(ends) == len(set(ends))
    assert all(known(wiring, line.system, name) for line in wiring.lines for name in (line.source, line.target))
    names = [*diagram.parameters, *diagram.names_given()]
    assert len({matlab_name(name) for name in names}) == len(names)


def known(wiring: SimulinkWiring, system: str, name: str) -> bool:
    return (name if system == TOP else f"{system}/{name}") in {block.path for block in wiring.blocks}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("V", "gain"),
        ("-R*I", "gain"),
        ("2*t", "gain"),
        ("a - b", "sum"),
        ("sin(t)", "source"),
        ("R", "source"),
        ("floor(V)", "function"),
        ("2*a + b", "function"),
        ("a + b + 1", "function"),
        ("a*b", "function"),
    ],
)
def test_a_formula_is_the_plainest_block_that_says_it(text: str, kind: str) -> None:
    made = formula("y", parse(text), {"R": 2.0})
    assert made.kind == kind
    if kind == "gain":
        assert made.factor is not None
        assert made.factor * parse(made.terms[0][0]) == made.expression
