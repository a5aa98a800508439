"""What a scheme answers its inputs, by solving its blocks and summations with numbers at one real point of s."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tellegen.schemes import PogScheme

Array = npt.NDArray[np.float64]


def signals_at(scheme: PogScheme, s: float, values: Mapping[str, float]) -> dict[str, Array]:
    """Every signal as a row over the inputs."""
    names = scheme.signals()
    at = {name: k for k, name in enumerate(names)}
    n, m = len(names), len(scheme.inputs)
    rows, right = np.zeros((n, n)), np.zeros((n, m))
    k = 0
    for j, name in enumerate(scheme.inputs):
        rows[k, at[name]], right[k, j] = 1, 1
        k += 1
    for summation in scheme.summations.values():
        rows[k, at[summation.output]] += 1
        for name, sign in summation.inputs:
            rows[k, at[name]] -= sign
        k += 1
    for block in scheme.blocks.values():
        assert block.gain is not None
        factor = {"storage": 1 / s, "derivative": s}.get(block.kind, 1)
        known: dict[str, float] = {**values, **({block.variable: s} if block.variable else {})}
        rows[k, at[block.output]] += 1
        rows[k, at[block.input]] -= factor * block.gain.evaluate(known)
        for name, gain in block.terms:
            rows[k, at[name]] -= gain.evaluate(values)
        k += 1
    assert k == n, f"{k} equations for {n} signals"
    found = np.linalg.solve(rows, right)
    return {name: found[at[name]] for name in names}


def answer_at(scheme: PogScheme, s: float, values: Mapping[str, float]) -> Array:
    """The outputs over the inputs."""
    found = signals_at(scheme, s, values)
    rows = [output.sign * found[output.signal] for output in scheme.outputs]
    return np.array(rows).reshape(len(scheme.outputs), len(scheme.inputs))
