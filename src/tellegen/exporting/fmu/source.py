"""The C of a unit as one file: the code of the model, its tables, the solvers, and the functions of FMI."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from tellegen.compiler.c_source import c_functions, c_source
from tellegen.compiler.code import Code
from tellegen.compiler.context import Integers, function_of
from tellegen.compiler.numeric_model import SparsityPattern, colouring, pattern_of_rows
from tellegen.compiler.routines import sample_groups
from tellegen.compiler.toolchain import HEADER
from tellegen.experiments.setup import longest_input_step
from tellegen.exporting.exchanged import TOLERANCE, Exchanged, start_point
from tellegen.exporting.fmu.description import References, Version, event_count
from tellegen.simulation.solvers.choice import choose
from tellegen.simulation.solvers.sources import NATIVE
from tellegen.simulation.solvers.stretch import sparse_elimination_order

STIFF_SOLVERS = ("cvode", "ida")

EVENT_STEPS = 200
"""Of the experiment, at least, where modes may change."""


@cache
def _file(folder: Path, name: str) -> str:
    """A file of C without its own includes: all of them stand in one text, after what they need."""
    lines = (folder / name).read_text(encoding="ascii").splitlines()
    return "\n".join(line for line in lines if not line.startswith('#include "')) + "\n"


def _own(name: str) -> str:
    return _file(Path(__file__).parent / "native", name)


def source_text(made: Exchanged, version: Version, token: str, *, model_exchange: bool = True) -> str:
    """All of it."""
    called, calls = _own(f"fmi{version}.h"), _own(f"fmi{version}.c")
    head = f"/* {comment_text(made.name)} as a functional mock-up unit, written by Tellegen. */"
    return head + "\n" + instance_source(made, called, calls, token=token, model_exchange=model_exchange)


def instance_source(
    made: Exchanged, called: str, calls: str, *, token: str = "", model_exchange: bool = False, rtol: float = TOLERANCE
) -> str:
    """A model that can be set, begun and stepped, in C: `called` declares what it is called by, `calls` is that in terms of
    `instance.h`.
    """
    instance = (Path(__file__).parent / "native" / "instance.h").read_text(encoding="ascii")
    parts = [
        "".join(f"#include <{name}.h>\n" for name in ("float", "math", "stdint", "stdio", "stdlib", "string")),
        _file(HEADER.parent, HEADER.name),
        *_model_parts(made),
        # The model has a small solver of that name.
        "static TG_UNUSED int tg_solve_small(int n, double *a, double *b) { return tg_solve(n, a, b); }",
        "#define tg_solve tg_solve_factors\n",
        *(_file(NATIVE, name) for name in ("job.h", "contents.h", "dormand_prince.h", "runge_kutta.c", "linear.h")),
        _file(NATIVE, "history.c").replace("void tg_forget(", "static TG_UNUSED void tg_forget("),
        _own("rosenbrock.c"),
        "\n".join(_sizes(made, token, rtol, model_exchange=model_exchange)),
        "\n".join(_tables(made)),
        called,
        instance.replace('#include "modes.h"\n', _own("modes.h")),
        "\n".join(_mode_tables(made)),
        calls,
    ]
    return "\n".join(parts)


COMMON = ("initial", "times", "derived", "crossings", "inertia")
"""Functions that all modes share."""


FUNCTIONS = ("rhs", "rhs_tangent", "observe", "events", "sample", "rates_along", "outputs_along")
"""Functions that each mode has of its own."""


def _model_parts(made: Exchanged) -> Iterator[str]:
    """The code of the model; where it has modes, what they share and then each of them under names of its own."""
    if len(made.modes) == 1:
        yield made.code.source
        return
    shared = [routine for routine in made.code.routines if routine.name in COMMON]
    yield c_source(shared, made.code.places, 0).replace("int tg_sample(", "static TG_UNUSED int tg_no_sample(")
    for k, mode in enumerate(made.modes):
        if mode.code is None:
            continue
        own = [routine for routine in mode.code.routines if routine.name not in COMMON]
        groups = len(sample_groups(mode.code.program.signals.samples))
        names = {f"tg_{function_of(r.name)}" if function_of(r.name) == r.name else r.name for r in own}
        names |= {"tg_sample", "tg_rhs_tangent"}
        yield "\n".join(f"#define {name} {name}_in_{k}" for name in sorted(names))
        yield c_functions(own, mode.code.places, groups)
        yield "\n".join(f"#undef {name}" for name in sorted(names))


def comment_text(text: str) -> str:
    """A text that cannot end its comment, in plain letters."""
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text).replace("*/", "* /").replace("\\", "/")


def _quoted(text: str) -> str:
    return '"' + comment_text(text).replace('"', "'") + '"'


def _sizes(made: Exchanged, token: str, rtol: float, *, model_exchange: bool) -> Iterator[str]:
    code, program = made.code, made.code.program
    codes = [mode.code for mode in made.modes if mode.code is not None]
    longest = longest_input_step(made.setup.graph, made.setup.parameters, made.setup.until)
    if len(made.modes) > 1:
        # Guards follow inputs that no state may feel.
        longest = min(longest, made.setup.until / EVENT_STEPS)
    values: dict[str, object] = {
        "TG_NAME": _quoted(made.name),
        "TG_TOKEN": f'"{token}"',
        "TG_MODEL_EXCHANGE": int(model_exchange),
        "TG_Y": len(made.states),
        "TG_STORAGES": made.storages,
        "TG_MODES": len(made.modes),
        "TG_START_MODE": made.first,
        "TG_ELEMENTS": len(made.elements),
        "TG_WORDS": max((n for words in _words(made) for n in words), default=1),
        "TG_MOST_OBSERVED": max(len(c.program.observables) for c in codes),
        "TG_MOST_CHANGES": max(len(mode.changes) for mode in made.modes),
        "TG_EVENTS": event_count(made),
        "TG_U": len(program.inputs),
        "TG_P": len(code.base),
        "TG_GIVEN": len(program.formulas),
        "TG_MEMORY": len(program.signals.samples),
        "TG_SCRATCH": max(c.data.scratch for c in codes),
        "TG_OBSERVABLES": len(program.observables),
        "TG_CROSSINGS": len(program.signals.crossings),
        "TG_GROUPS": len(sample_groups(program.signals.samples)),
        "TG_BREAKS": len(made.breaks),
        "TG_DELAYS": len(program.signals.delays),
        "TG_OUTPUTS": len(_output_references(made)),
        "TG_RTOL": repr(rtol),
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


def _words(made: Exchanged) -> list[tuple[int, ...]]:
    """The words of each mode as numbers from 1, in the order of the table of its element."""
    if not made.elements:
        return [()]
    known = [list(law.modes) for law in made.causal.graph.switching.values()]
    return [tuple(words.index(w) + 1 for words, w in zip(known, mode.words, strict=True)) for mode in made.modes]


def _mode_tables(made: Exchanged) -> Iterator[str]:
    """The functions of each mode, and where its variables stand."""
    words, rows = _words(made), []
    numbers = [list(law.modes) for law in made.causal.graph.switching.values()]
    for k, mode in enumerate(made.modes):
        code, fields = mode.code, dict[str, object]()
        yield _array("int", f"words_{k}", words[k])
        fields["words"] = f"tg_words_{k}_of"
        if code is not None:
            program, end = code.program, f"_in_{k}" if len(made.modes) > 1 else ""
            crossings = [0] * len(made.code.program.signals.crossings)
            kinds = [e.kind for e, _ in program.events]
            pattern, colours, order = _jacobian(code)
            arrays = {
                "places": mode.places,
                "observables": mode.observables,
                "following": mode.following,
                "told": mode.told,
                "columns": pattern.indptr.tolist(),
                "rows": pattern.indices.tolist(),
                "colours": colours.tolist(),
                "order": [] if order is None else order.tolist(),
                "directions": [*(e.direction for e, _ in program.events), *crossings],
                "terminal": [*(int(kind == "transition") for kind in kinds), *crossings],
                "bends": [*(int(kind == "bend") for kind in kinds), *crossings],
            }
            for name, values in arrays.items():
                yield _array("int", f"{name}_{k}", values)
                fields[name] = 0 if name == "order" and order is None else f"tg_{name}_{k}_of"
            changes = [
                f"{{{c.event}, {c.element}, {numbers[c.element].index(c.to) + 1}, {int(c.impact)}, {c.speed}}}"
                for c in mode.changes
            ]
            yield f"static const tg_change tg_changes_{k}_of[] = {{{', '.join(changes) or '{0}'}}};"
            fields |= {
                "n": len(code.y),
                "n_states": len(program.states),
                "n_events": len(kinds) + len(crossings),
                "n_following": len(mode.following),
                "n_changes": len(mode.changes),
                "n_colours": int(colours.max(initial=-1)) + 1,
                "changes": f"tg_changes_{k}_of",
                **{name: f"tg_{name}{end}" for name in FUNCTIONS},
            }
            if mode.following:
                fields["follow"] = f"tg_following{end}"
            if len(made.modes) > 1:
                fields["restitutions"] = f"tg_restitutions{end}"
        rows.append(f"{{{', '.join(f'.{name} = {value}' for name, value in fields.items())}}}")
    yield "static const tg_mode tg_modes_of[TG_MODES] = {\n  " + ",\n  ".join(rows) + "\n};"


def _jacobian(code: Code) -> tuple[SparsityPattern, Integers, Integers | None]:
    """Pattern, colours and order of elimination of an implicit step, which adds to the diagonal."""
    n, pattern = len(code.y), code.pattern
    rows: list[set[int]] = [{i} for i in range(n)]
    for j in range(n):
        for i in pattern.indices[pattern.indptr[j] : pattern.indptr[j + 1]]:
            rows[int(i)].add(j)
    pattern = pattern_of_rows([sorted(row) for row in rows], n)
    return pattern, colouring(pattern), sparse_elimination_order(pattern)


def _tables(made: Exchanged) -> Iterator[str]:
    code, program = made.code, made.code.program
    n = len(made.states)
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
    signals = {k: place for place, (o, k) in enumerate(program.observables) if o.kind == "signal"}
    yield _array("int", "delayed", [signals[k] for _, k in program.signals.delays])
    names = [*made.states, *(o.name for o, _ in program.observables)]
    names += [program.names[k] for k in program.unknowns]
    yield f"static const char *const tg_names_of[] = {{{', '.join(map(_quoted, names)) or '0'}}};"


def _array(kind: str, name: str, values: Iterable[float] | Sequence[int]) -> str:
    return array_text(kind, f"{name}_of", values)


def array_text(kind: str, name: str, values: Iterable[float] | Sequence[int]) -> str:
    """A table that does not change, as C; one without entries has a zero."""
    texts = [_number(value) for value in values]
    return f"static const {kind} tg_{name}[] = {{{', '.join(texts) or '0'}}};"


def _number(value: float) -> str:
    if isinstance(value, float) and not np.isfinite(value):
        return "NAN" if np.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)
