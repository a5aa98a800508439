"""Solvers agree with each other on random networks, and the energy books close."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings

from support.evaluated import CONFLICTS
from support.networks import Network
from support.strategies import networks
from tellegen.causality import assign_causality
from tellegen.compiler import compile_model
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import CausalityError, CompilerError
from tellegen.graph import lower
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem

EXAMPLES = 25
"""Each one is compiled."""


def compiled(network: Network) -> NumericModel:
    """A random network with numbers; contradictions, and steps that a derivative storage cannot follow, are passed over."""
    try:
        causal = assign_causality(lower(Network(network.parts, valued=True).model()))
        model = compile_model(causal)
    except CausalityError as error:
        assume(error.code not in CONFLICTS)
        raise
    except CompilerError as error:
        assume(error.code not in {"N107", "N109"})
        raise
    assume(all(finding.code != "K106" for finding in causal.findings))
    assume(model.size > 0)
    return model


@settings(max_examples=EXAMPLES)
@given(networks())
def test_solvers_agree_and_books_close(network: Network) -> None:
    model = compiled(network)
    random = np.random.default_rng(len(model.states))
    problem = Problem(
        model,
        2.0,
        y0=random.standard_normal(model.size),
        inputs={
            name: float(v) for name, v in zip(model.inputs, random.standard_normal(len(model.inputs)), strict=True)
        },
        rtol=1e-8,
        atol=1e-8,
        times=21,
        solver="cvode" if model.explicit else "ida",
    )
    runs = [integrate(problem)]
    if model.explicit:
        others = ["runge-kutta", *(["exponential"] if model.linear else [])]
        runs += [integrate(replace(problem, solver=solver)) for solver in others]
    runs = [run for run in runs if not (run.finding is not None and run.finding.code == "S114")]
    size = float(np.max(np.abs(runs[0].y)))
    # the formulas behind cvode and ida damp fast oscillations by a little in each step, which adds up over many periods
    room = {"cvode": 1000.0, "ida": 1000.0}
    for run in runs:
        assert run.status == "finished", run.finding
        most = room.get(run.solver, 20.0) * problem.rtol
        assert np.max(np.abs(run.y - runs[-1].y)) <= most * (1.0 + size), run.solver
        assert run.books is not None
        assert abs(run.books.residual) <= most, run.solver
