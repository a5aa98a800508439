"""The C of a unit as one file: the code of the model, its tables, the solvers, and the functions of FMI."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from tellegen.compiler.numeric_model import colouring, pattern_of_rows
from tellegen.compiler.routines import sample_groups
from tellegen.compiler.toolchain import HEADER
from tellegen.experiments.setup import longest_input_step
from tellegen.exporting.exchanged import TOLERANCE, Exchanged, start_point
from tellegen.exporting.fmu.description import References, Version
from tellegen.simulation.solvers.choice import choose
from tellegen.simulation.solvers.sources import NATIVE
from tellegen.simulation.solvers.stretch import sparse_elimination_order

STIFF_SOLVERS = ("cvode", "ida")


@cache
def _file(folder: Path, name: str) -> str:
    """A file of C without its own includes: all of them stand in one text, after what they need."""
    lines = (folder / name).read_text(encoding="ascii").splitlines()
    return "\n".join(line for line in lines if not line.startswith('#include "')) + "\n"


def _own(name: str) -> str:
    return _file(Path(__file__).parent / "native", name)


def source_text(made: Exchanged, version: Version, token: str, *, model_exchange: bool = True) -> str:
    """All of it."""
    parts = [
        f"/* {_comment(made.name)} as a functional mock-up unit, written by Tellegen. */",
        "".join(f"#include <{name}.h>\n" for name in ("float", "math", "stdint", "stdio", "stdlib", "string")),
        _file(HEADER.parent, HEADER.name),
        made.code.source,
        # The model has a small solver of that name.
        "#define tg_solve tg_solve_factors\n",
        *(_file(NATIVE, name) for name in ("job.h", "dormand_prince.h", "runge_kutta.c", "linear.h")),
        _own("rosenbrock.c"),
        "\n".join(_sizes(made, token, model_exchange=model_exchange)),
        "\n".join(_tables(made)),
        *(_own(name) for name in (f"fmi{version}.h", "instance.h", f"fmi{version}.c")),
    ]
    return "\n".join(parts)


def _comment(text: str) -> str:
    """A text that cannot end its comment, in plain letters."""
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text).replace("*/", "* /").replace("\\", "/")


def _quoted(text: str) -> str:
    return '"' + _comment(text).replace('"', "'") + '"'


def _sizes(made: Exchanged, token: str, *, model_exchange: bool) -> Iterator[str]:
    code, program = made.code, made.code.program
    longest = longest_input_step(made.causal.graph, made.setup.parameters, made.setup.until)
    values: dict[str, object] = {
        "TG_NAME": _quoted(made.name),
        "TG_TOKEN": f'"{token}"',
        "TG_MODEL_EXCHANGE": int(model_exchange),
        "TG_Y": len(code.y),
        "TG_STATES": len(program.states),
        "TG_U": len(program.inputs),
        "TG_P": len(code.base),
        "TG_GIVEN": len(program.formulas),
        "TG_MEMORY": len(program.signals.samples),
        "TG_SCRATCH": code.data.scratch,
        "TG_OBSERVABLES": len(program.observables),
        "TG_GUARDS": len(program.events),
        "TG_CROSSINGS": len(program.signals.crossings),
        "TG_GROUPS": len(sample_groups(program.signals.samples)),
        "TG_BREAKS": len(program.signals.breaks),
        "TG_DELAYS": len(program.signals.delays),
        "TG_OUTPUTS": len(_output_references(made)),
        "TG_RTOL": repr(TOLERANCE),
        "TG_STIFF_START": int(_is_stiff(made)),
        "TG_LONGEST_STEP": "INFINITY" if np.isinf(longest) else repr(longest),
    }
    yield from (f"#define {name} {value}" for name, value in values.items())


def _is_stiff(made: Exchanged) -> bool:
    """Whether a run of the experiment would take an implicit method from the beginning."""
    setup, model = made.setup, made.setup.numeric
    try:
        choice = choose(model, "auto", model.new_context(inputs=dict(setup.inputs)), start_point(setup), setup.until)
    except FloatingPointError:
        return False
    return choice.solver in STIFF_SOLVERS or choice.stiff


def _output_references(made: Exchanged) -> list[int]:
    """The references of the outputs that are observables, in the order of their slopes."""
    first = References(made).first("observable")
    # The order is that of the observables; a name that stands there twice has two slopes.
    return [first + k for k, (o, _) in enumerate(made.code.program.observables) if o.name in made.outputs]


def _tables(made: Exchanged) -> Iterator[str]:
    code, program = made.code, made.code.program
    n = len(code.y)
    pattern = code.pattern
    # An implicit step adds to the diagonal, which must be there.
    rows: list[set[int]] = [{i} for i in range(n)]
    for j in range(n):
        for i in pattern.indices[pattern.indptr[j] : pattern.indptr[j + 1]]:
            rows[int(i)].add(j)
    pattern = pattern_of_rows([sorted(row) for row in rows], n)
    colours, order = colouring(pattern), sparse_elimination_order(pattern)
    yield f"#define TG_COLOURS {int(colours.max(initial=-1)) + 1}"
    yield f"#define TG_ORDERED {int(order is not None)}"
    yield _array("int", "columns", pattern.indptr.tolist())
    yield _array("int", "rows", pattern.indices.tolist())
    yield _array("int", "colours", colours.tolist())
    yield _array("int", "order", [] if order is None else order.tolist())
    kinds = [e.kind for e, _ in program.events]
    crossings = [0] * len(program.signals.crossings)
    yield _array("int", "directions", [*(e.direction for e, _ in program.events), *crossings])
    yield _array("int", "terminal", [*(int(kind == "transition") for kind in kinds), *crossings])
    yield _array("int", "bends", [*(int(kind == "bend") for kind in kinds), *crossings])
    begin = {v.place: v.start for v in made.by_role.get("input", ())}
    nominal = {v.place: v.nominal for v in made.by_role.get("state", ())}
    parameters = made.setup.parameters
    fixed = {v.place for v in made.by_role.get("parameter", ()) if v.is_fixed}
    shown = {v.place for v in made.by_role.get("parameter", ())}
    yield _array("double", "inputs", [begin.get(k) or 0.0 for k in range(len(program.inputs))])
    yield _array("double", "parameters", [parameters[name] for name in code.base])
    # What is not described cannot be set, either.
    yield _array("int", "fixed", [int(k in fixed or k not in shown) for k in range(len(code.base))])
    yield _array("double", "nominal", [nominal.get(k, 0.0) for k in range(n)])
    yield _array("double", "tables", code.data.tables.tolist())
    yield _array("int", "outputs", _output_references(made))
    names = [*(program.names[k] for k in code.y), *(o.name for o, _ in program.observables)]
    names += [program.names[k] for k in program.unknowns]
    yield f"static const char *const tg_names_of[] = {{{', '.join(map(_quoted, names)) or '0'}}};"


def _array(kind: str, name: str, values: Iterable[float] | Sequence[int]) -> str:
    texts = [_number(value) for value in values]
    return f"static const {kind} tg_{name}_of[] = {{{', '.join(texts) or '0'}}};"


def _number(value: float) -> str:
    if isinstance(value, float) and not np.isfinite(value):
        return "NAN" if np.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)
