"""Write the headers of the solvers in C that hold numbers: `dormand_prince.h` and `poles.h` of the folder `native`.

The poles lie on a parabola around the negative axis (Weideman and Trefethen, Parabolic and hyperbolic contours for computing the
Bromwich integral, Mathematics of Computation 76, 2007). Instead of the weights of their quadrature the best ones are taken: fitted
to the exponential on the negative axis and on a line beside it, with its first two slopes at zero, where constants and ramps of
an input live. That halves the number of poles for the same error.

The fit is done here and not when a run begins: a process that forks while another thread is in the linear algebra of NumPy waits
for ever, and every machine gets the same numbers.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tellegen.simulation.solvers.coefficients import DORMAND_PRINCE_8, Row, Tableau

NATIVE: Final = Path(__file__).parents[1] / "src" / "tellegen" / "simulation" / "native"

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

LANES: Final = 12
DEGREE: Final = 24
WIDE: Final = 3.0
OFF_AXIS: Final = 1.0
PLACE: Final = 7.5
SPACING: Final = 0.1833
"""Of the parabola for so many poles, found by search."""

ERROR: Final = 1e-10
"""A bound of what the sum misses of the exponential, rounding included."""


def exponential_poles() -> Complexes:
    """The poles of the upper half plane; their mirror images belong to them."""
    return np.asarray(PLACE * (1.0 + 1j * SPACING * (np.arange(LANES) + 0.5)) ** 2)


def exponential_weights(times: Array) -> Array:
    """For each time the weights of Re 1/(x - z), then those of -Im 1/(x - z): real and imaginary parts of complex weights."""
    z = exponential_poles()
    axis = -np.concatenate([[0.0], np.logspace(-3, 6, 500)])
    beside = -np.concatenate([[0.0], np.logspace(-2, 2, 60)]) + 1j * OFF_AXIS
    here, above, below = 1 / (axis[:, None] - z), 1 / (beside[:, None] - z), 1 / (beside[:, None] - z.conj())
    off = np.hstack([(above + below) / 2, 1j * (above - below) / 2])
    slopes = np.vstack([-1 / z**2, -2 / z**3])
    fitted = np.vstack([np.hstack([here.real, -here.imag]), np.hstack([slopes.real, -slopes.imag]), off.real, off.imag])
    turned = np.exp(np.outer(beside, times))
    wanted = np.vstack([np.exp(np.outer(axis, times)), times, times**2, turned.real, turned.imag])
    size = np.linalg.norm(fitted, axis=0)
    found = np.linalg.lstsq(fitted / size, wanted, rcond=1e-15)[0]
    return np.asarray((found / size[:, None]).T)


def chebyshev_weights() -> Array:
    """The weights as Chebyshev series over the window."""
    nodes = np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE)
    values = exponential_weights(1 / WIDE + (1 - 1 / WIDE) * (nodes + 1) / 2)
    return np.asarray(np.polynomial.chebyshev.chebfit(nodes, values, DEGREE - 1), dtype=float)


def main() -> None:
    """Write both headers."""
    (NATIVE / "dormand_prince.h").write_text(tableau_header(DORMAND_PRINCE_8), encoding="ascii")
    (NATIVE / "poles.h").write_text(poles_header(), encoding="ascii")


def poles_header() -> str:
    """The struct `tg_poles` of rational.c, filled."""
    z = exponential_poles()
    # the sum in C takes real parts times real parts and imaginary times imaginary ones: Re(w / (x - z))
    rows = [np.concatenate([values[:LANES], -values[LANES:]]) for values in chebyshev_weights()]
    weights = ",\n".join(f"        {_numbers(row)}" for row in rows)
    return f"""/* Written by tools/solver_headers.py: poles of the exponential; their weights are Chebyshev series over a window. */
static const tg_poles POLES = {{
    {ERROR!r},
    {_numbers(z.real)},
    {_numbers(z.imag)},
    {{
{weights},
    }},
}};
"""


def _numbers(row: Array) -> str:
    return "{" + ", ".join(map(repr, row.tolist())) + "}"


def tableau_header(tableau: Tableau) -> str:
    """The macros that runge_kutta.c is written with."""
    head = f"/* Written by tools/solver_headers.py. {tableau.name}: {tableau.source}. */"
    return f"{head}\n{_macros(tableau)}\n"


def _macros(tableau: Tableau) -> str:
    stages = len(tableau.a)
    macros = {
        "STAGES": str(stages),
        "ALL_STAGES": str(stages + 1 + len(tableau.dense_a)),
        "DENSE_ROWS": str(3 + len(tableau.dense_b)),
        "ORDER": str(tableau.order),
        "PI_SHARE": "0.04",
        "STABILITY": repr(tableau.stability),
        "STAGE_CODE": _block(_stage_code(tableau)),
        "BOOK_CODE(visit)": _block(_book_code(tableau)),
        "ERROR_0": _sum(tableau.error),
        "ERROR_1": _sum(tableau.second_error),
        "DENSE_CODE": _block(_dense_code(tableau)),
        "DENSE_VALUE": _dense_value(3 + len(tableau.dense_b)),
    }
    return "\n".join(f"#define {name} {text}" for name, text in macros.items())


def _stage_code(tableau: Tableau) -> Iterable[str]:
    for i, row in enumerate(tableau.a):
        if i == 0:
            continue
        yield f"s = w->arguments[{i}];"
        yield f"for (int i = 0; i < n; i++) s[i] = y[i] + h * ({_sum(row)});"
        call = "rates(w," if i in tableau.b else "RHS(j,"  # powers count where a stage has a weight
        yield f"if ({call} t + {tableau.c[i]!r} * h, s, k[{i}])) return 1;"
    yield f"for (int i = 0; i < n; i++) w->y1[i] = y[i] + h * ({_sum(tableau.b)});"


def _book_code(tableau: Tableau) -> Iterable[str]:
    for i, weight in tableau.b.items():
        at = "j->y" if i == 0 else f"w->arguments[{i}]"
        yield f"if (visit(w, {weight!r}, w->t + {tableau.c[i]!r} * w->h, {at}, w->k[{i}])) return 1;"


def _dense_code(tableau: Tableau) -> Iterable[str]:
    end = len(tableau.a)
    for i, (c, row) in enumerate(zip(tableau.dense_c, tableau.dense_a, strict=True), start=end + 1):
        yield f"for (int i = 0; i < n; i++) s[i] = y[i] + h * ({_sum(row)});"
        yield "j->rhs_calls++;"
        yield f"if (RHS(j, t + {c!r} * h, s, k[{i}])) return 1;"
    yield "for (int i = 0; i < n; i++) {"
    yield "double d = w->y1[i] - y[i];"
    yield "w->dense[0][i] = d;"
    yield "w->dense[1][i] = h * k[0][i] - d;"
    yield f"w->dense[2][i] = 2 * d - h * (k[{end}][i] + k[0][i]);"
    for i, row in enumerate(tableau.dense_b, start=3):
        yield f"w->dense[{i}][i] = h * ({_sum(row)});"
    yield "}"


def _dense_value(rows: int) -> str:
    """The interpolant as nested products, alternately by x and 1 - x."""
    text = f"w->dense[{rows - 1}][i]"
    for i in range(rows - 2, -1, -1):
        text = f"(w->dense[{i}][i] + {'z' if i % 2 == 0 else 'x'} * {text})"
    return f"x * {text}"


def _sum(row: Row) -> str:
    return " + ".join(f"{value!r} * k[{j}][i]" for j, value in row.items())


def _block(lines: Iterable[str]) -> str:
    return " \\\n  ".join(lines)


if __name__ == "__main__":
    main()
