"""What formulas call, in the words of NumPy, of JAX and of CasADi.

It needs nothing of this package, and stands in written files, too.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

ROUNDS = 100
CLOSE = 1e-12
"""A search has ended when a step changes no unknown by more than this share of the largest one."""

WORDS = "sin cos tan asin acos atan sinh cosh tanh exp log sqrt floor atan2 hypot"


def table(x: Any, rows: Any, F: SimpleNamespace) -> Any:
    """A table at x: a cubic on each piece between its points."""
    d, a, b, c, e = F.piece(x, rows)
    return a + d * (b + d * (c + d * e))


def table_slope(x: Any, rows: Any, F: SimpleNamespace) -> Any:
    """The slope of a table at x."""
    d, _, b, c, e = F.piece(x, rows)
    return b + d * (2 * c + 3 * d * e)


def numpy_functions() -> SimpleNamespace:
    """Of numbers: a value that does not exist is not a number."""
    import numpy as np

    def newton(system: Callable[[Any], Any], count: int, linear: bool) -> Any:
        x = np.zeros(count)
        for _ in range(1 if linear else ROUNDS):
            residuals, slopes = system(x)
            try:
                step = np.linalg.solve(np.array(slopes, dtype=float), np.array(residuals, dtype=float))
            except np.linalg.LinAlgError:
                break
            x = x - step
            if linear or np.max(np.abs(step)) <= CLOSE * np.max(np.abs(x)):
                return x
        return np.full(count, np.nan)

    def piece(x: Any, table: Any) -> Any:
        k = np.searchsorted(table[0], x, side="right")
        return x - np.asarray(table[1])[k], *(np.asarray(c)[k] for c in table[2:])

    words: dict[str, Any] = {
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "atan2": np.arctan2,
    }
    words = {word: words.get(word) or getattr(np, word) for word in WORDS.split()}
    return SimpleNamespace(
        **words,
        abs=np.abs,
        sign=np.sign,
        min=np.minimum,
        max=np.maximum,
        where=np.where,
        both=np.logical_and,
        either=np.logical_or,
        no=np.logical_not,
        solve=lambda rows, right: np.linalg.solve(np.array(rows, dtype=float), np.array(right, dtype=float)),
        newton=newton,
        piece=piece,
    )


def jax_functions() -> SimpleNamespace:
    """Of arrays of JAX, which differentiates and compiles what calls them. Switch 64 bits on: `jax_enable_x64`."""
    import jax
    import jax.numpy as jnp

    def newton(system: Callable[[Any], Any], count: int, linear: bool) -> Any:
        def step_from(x: Any) -> Any:
            residuals, slopes = system(x)
            return jnp.linalg.solve(
                jnp.stack([jnp.stack([jnp.asarray(e) for e in row]) for row in slopes]),
                jnp.stack([jnp.asarray(e) for e in residuals]),
            )

        if linear:
            return -step_from(jnp.zeros(count))

        def goes_on(state: Any) -> Any:
            k, x, step = state
            return (k < ROUNDS) & ~(jnp.max(jnp.abs(step)) <= CLOSE * jnp.max(jnp.abs(x)))

        def next_of(state: Any) -> Any:
            k, x, _ = state
            step = step_from(x)
            return k + 1, x - step, step

        k, x, _ = jax.lax.while_loop(goes_on, next_of, (0, jnp.zeros(count), jnp.full(count, jnp.inf)))
        x = jax.lax.stop_gradient(jnp.where(k < ROUNDS, x, jnp.nan))
        # One step more from the solution changes nothing but brings its slopes, by the implicit function theorem.
        residuals, slopes = system(x)
        matrix = jax.lax.stop_gradient(jnp.stack([jnp.stack([jnp.asarray(e) for e in row]) for row in slopes]))
        return x - jnp.linalg.solve(matrix, jnp.stack([jnp.asarray(e) for e in residuals]))

    def piece(x: Any, table: Any) -> Any:
        k = jnp.searchsorted(jnp.array(table[0]), x, side="right")
        return x - jnp.array(table[1])[k], *(jnp.array(c)[k] for c in table[2:])

    words: dict[str, Any] = {
        "asin": jnp.arcsin,
        "acos": jnp.arccos,
        "atan": jnp.arctan,
        "atan2": jnp.arctan2,
    }
    words = {word: words.get(word) or getattr(jnp, word) for word in WORDS.split()}
    return SimpleNamespace(
        **words,
        abs=jnp.abs,
        sign=jnp.sign,
        min=jnp.minimum,
        max=jnp.maximum,
        where=jnp.where,
        both=jnp.logical_and,
        either=jnp.logical_or,
        no=jnp.logical_not,
        solve=lambda rows, right: jnp.linalg.solve(
            jnp.stack([jnp.stack([jnp.asarray(e, dtype=float) for e in row]) for row in rows]),
            jnp.stack([jnp.asarray(e, dtype=float) for e in right]),
        ),
        newton=newton,
        piece=piece,
    )


def casadi_functions() -> SimpleNamespace:
    """Of symbols of CasADi, which differentiates and compiles what is built from them. Searches need MX."""
    import casadi

    def elements(vector: Any) -> list[Any]:
        return [vector[k] for k in range(vector.shape[0])]

    def matrix(rows: Any) -> Any:
        return casadi.vertcat(*(casadi.horzcat(*row) for row in rows))

    def newton(system: Callable[[Any], Any], count: int, linear: bool) -> Any:
        x = casadi.MX.sym("x", count)
        residuals, _ = system(elements(x))
        residual = casadi.vertcat(*residuals)
        known = [v for v in casadi.symvar(residual) if not casadi.is_equal(v, x)]
        given = casadi.vertcat(*(casadi.vec(v) for v in known))
        inner = casadi.MX.sym("given", given.shape[0])
        parts = casadi.vertsplit(inner, [0, *_sums([v.numel() for v in known])])
        shaped = [casadi.reshape(part, *v.shape) for part, v in zip(parts, known, strict=True)]
        (residual,) = casadi.graph_substitute([residual], known, shaped)
        search = casadi.rootfinder("search", "newton", {"x": x, "p": inner, "g": residual})
        return elements(search(casadi.DM.zeros(count), given))

    def piece(x: Any, table: Any) -> Any:
        points, bases, *coefficients = table
        return x - casadi.pw_const(x, points, bases), *(casadi.pw_const(x, points, c) for c in coefficients)

    words: dict[str, Any] = {word: getattr(casadi, word) for word in WORDS.split() if word != "hypot"}
    return SimpleNamespace(
        **words,
        hypot=lambda a, b: casadi.sqrt(a * a + b * b),
        abs=casadi.fabs,
        sign=casadi.sign,
        min=casadi.fmin,
        max=casadi.fmax,
        where=casadi.if_else,
        both=casadi.logic_and,
        either=casadi.logic_or,
        no=casadi.logic_not,
        solve=lambda rows, right: elements(casadi.solve(matrix(rows), casadi.vertcat(*right))),
        newton=newton,
        piece=piece,
    )


def _sums(counts: list[int]) -> list[int]:
    found, total = [], 0
    for count in counts:
        total += count
        found.append(total)
    return found


LIBRARIES = {"numpy": numpy_functions, "jax": jax_functions, "casadi": casadi_functions}
