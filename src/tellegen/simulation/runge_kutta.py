"""The explicit Runge-Kutta solver: C written from a tableau, either inside the model's own source or apart from it."""

from collections.abc import Iterable

from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.native_library import Run, can_compile, compiled, runner, source_text
from tellegen.simulation.plain.solvers import plain_solver
from tellegen.simulation.tableaus import DORMAND_PRINCE_8, Row, Tableau

_LOADED: dict[tuple[str, str, int], Run] = {}
"""By tableau, source of the model and its size; the last two where it is fused."""


def runge_kutta(model: NumericModel, tableau: Tableau = DORMAND_PRINCE_8, *, fused: bool = False) -> Run:
    """The solver for a model: one library for all of them, or fused with the model's own source.

    Fusing saves the calls, which is a few percent of small models and costs a compilation of each.

    Where nothing can be compiled it runs in Python.
    """
    if not can_compile():
        return plain_solver("tg_runge_kutta")
    fuse = fused and bool(model.source) and {"rhs", "powers"} <= model.addresses.keys()
    key = (tableau.name, model.source, model.size) if fuse else (tableau.name, "", 0)
    if key not in _LOADED:
        head = f"{model.source}\n#define TG_FUSED\n#define TG_N {model.size}\n" if fuse else ""
        _LOADED[key] = runner(compiled(head + solver_text(tableau), small=fuse), "tg_runge_kutta")
    return _LOADED[key]


def solver_text(tableau: Tableau) -> str:
    """The C source of the solver for a tableau."""
    return "\n".join((source_text("job.h"), _macros(tableau), source_text("runge_kutta.c")))


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
        "BOOK_CODE": _block(_book_code(tableau)),
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
        yield f"if (book_stage(w, {weight!r}, w->t + {tableau.c[i]!r} * w->h, {at}, w->k[{i}])) return 1;"


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
