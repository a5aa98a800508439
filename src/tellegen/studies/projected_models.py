"""A projection as a network between the sources of the full model: unit storages, resistive elements, one lossless connection."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tellegen.core.names import TIME
from tellegen.description.model import Experiment, Model, Parameter
from tellegen.equations.system import EquationSystem
from tellegen.expressions import Expression
from tellegen.graph import Port, SourceLaw
from tellegen.reduction.matrix_models import Carrier, MatrixForm, model_of
from tellegen.studies.bases import Small

Array = NDArray[np.float64]

ROUNDING = 1e-13
"""Entries of W smaller than this, as a share of the largest, are rounding."""


def projected_model(full: Model, system: EquationSystem, small: EquationSystem, about: str) -> Model:
    """The network of the equations of a projection; `system` are those of the full model."""
    assert system.origin is not None, "equations of a model know it"
    graph = system.origin.graph
    sources = [graph.ports[k] for k in system.origin.sources]
    inputs = tuple(_input(port, name) for port, name in zip(sources, system.outputs, strict=True))
    # New coordinates belong to no domain; where all ports are of one, they are said to be of that.
    domains = {c.domain for c in inputs}
    home = domains.pop() if len(domains) == 1 else "electrical"
    states = tuple(Carrier(name, home, "across", initial=small.initial.get(name)) for name in small.states)
    experiment, parameters = _experiment(full, small.inputs)
    text = f"{full.about} {about}".strip()
    return model_of(MatrixForm(full.name, states, inputs, small.matrices, parameters, text, experiment))  # type: ignore[arg-type]


def _input(port: Port, output: str) -> Carrier:
    law = port.law
    assert isinstance(law, SourceLaw), "inputs belong to sources"
    return Carrier(law.input, port.domain, law.side, port.element, output)


def _experiment(full: Model, inputs: Sequence[str]) -> tuple[Experiment, dict[str, Parameter]]:
    """What of the experiment still has a meaning: its length, and inputs that read neither signals nor variables."""
    told = full.experiment
    known = set(full.parameters)
    kept = {
        name: signal
        for name, signal in told.inputs.items()
        if name in inputs and signal.expression is not None and signal.expression.free_symbols <= {*known, TIME}
    }
    read: list[Expression] = [s.expression for s in kept.values() if s.expression is not None]
    read += [e for s in kept.values() for e in s.arguments]
    read += [] if told.until is None else [told.until]
    parameters: dict[str, Parameter] = {}
    while read:
        for name in read.pop().free_symbols & known - parameters.keys():
            parameters[name] = full.parameters[name]
            value = parameters[name].expression
            read += [] if value is None else [value]
    return Experiment(told.until, kept, rtol=told.rtol, atol=told.atol), parameters


def without_rounding(small: Small) -> Small:
    """The small model with W exactly symmetric and positive semidefinite, as it is but for rounding."""
    n = len(small.A)
    whole = np.block([[small.A, -small.B], [small.C, small.D]])
    W, J = (whole + whole.T) / 2, (whole - whole.T) / 2
    W[np.abs(W) <= ROUNDING * np.abs(whole).max(initial=0.0)] = 0.0
    found = W + J
    return replace(small, A=found[:n, :n], B=-found[:n, n:], C=found[n:, :n], D=found[n:, n:])
