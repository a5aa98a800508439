"""Functions of a library beside the compiled model: values and slopes at a point off the start.

Run with names of models it prints what is wrong with JAX, in a process of its own: JAX has threads, and warns whoever forks.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tellegen as tg
from tellegen.experiments.setup import set_up
from tellegen.exporting.exchanged import TOLERANCE
from tellegen.notations.loading import as_model

DIGITS = 1e-13
"""Of the largest rate: sums come in another order. CasADi solves by orthogonal factors, which costs some digits where a matrix is
badly scaled."""
SOLVED = 1e-11


def differences(name: str, of: str) -> dict[str, float]:
    """How far rates, outputs and the slopes of rates are off, of the largest."""
    model = as_model(Path(name) if name.endswith(".yaml") else name)
    made = tg.functions(model, of=of, sources="experiment")  # type: ignore[arg-type]
    setup = set_up(model, rtol=TOLERANCE)
    numeric, n = setup.numeric, len(made.start)
    t, random = 0.37 * setup.until, np.random.default_rng(1)
    y = made.start + 0.1 * random.random(n) * np.maximum(np.abs(made.start), 1.0)
    context = numeric.new_context(inputs=dict(setup.inputs))
    wanted = numeric.rhs(t, y, context)
    observed = numeric.observe(t, y, wanted, context)
    by_name = dict(zip([o.name for o in numeric.observables][::-1], observed[::-1], strict=True))
    outputs = np.array([by_name[name] for name in made.names.outputs])
    slopes = np.array([numeric.rhs_tangent(t, y, unit, context=context) for unit in np.eye(n)]).T
    given = (t, y, made.inputs, made.parameters)
    rates, shown = made.rates, made.outputs
    if of == "jax":
        import jax

        rates, shown = jax.jit(rates), jax.jit(shown)
    found: dict[str, Any] = {"rates": (rates(*given), wanted), "outputs": (shown(*given), outputs)}
    if of == "jax":
        found["slopes"] = jax.jit(jax.jacfwd(made.rates, 1))(*given), slopes
    elif of == "casadi":
        found["slopes"] = made.rates.jacobian()(*given, 0)[1], slopes  # type: ignore[attr-defined]
    return {
        word: float(np.max(np.abs(np.array(a).reshape(b.shape) - b)) / (np.max(np.abs(b)) or 1.0))
        for word, (a, b) in found.items()
    }


if __name__ == "__main__":
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    for word in sys.argv[1:]:
        print([(word, *item) for item in differences(word, "jax").items() if not item[1] <= SOLVED])
