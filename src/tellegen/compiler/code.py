"""From a causal graph to code that is written out; and code kept between runs.

What is kept belongs to one causal graph and to one state of the generator. It lies in the folder of the libraries, and holds
values alone: whatever else a file asks for when it is opened is refused, and the code is generated again.
"""

import contextlib
import ctypes
import hashlib
import io
import pickle
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, final

from tellegen.causality import CausalGraph
from tellegen.compiler.builder import build_program
from tellegen.compiler.c_source import c_source
from tellegen.compiler.context import EXTERNAL, ModelData, SignalHost, packed_tables
from tellegen.compiler.kept_files import CODE_SUFFIX, DistrustError, cache_folder, kept_files
from tellegen.compiler.mockup_units import UnitHost
from tellegen.compiler.numeric_model import SparsityPattern, pattern_of_rows
from tellegen.compiler.program import Program, is_linear_program
from tellegen.compiler.routines import LONG_RATES, Routines, explicit_form, flatten, implicit_form, sample_groups
from tellegen.compiler.statements import Routine, operation_count, targets_of, variables_in, variables_read
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.graph.signals import Break, External, Table
from tellegen.model.mockup_units import UnitSignal


@final
@dataclass(frozen=True)
class Code:
    """A program as C source, and what its functions need beside it.

    `routines` are there where the code is written out; `base` names the parameters that are not given by others, `places` says
    where each table begins.
    """

    program: Program
    source: str
    routines: list[Routine]
    base: list[str]
    places: list[int]
    y: list[int]
    explicit: bool
    linear: bool
    pattern: SparsityPattern
    data: ModelData
    slopes_later: bool = False
    """Whether tangents are left out: `slopes_code` has them."""


def unrolled_code(causal: CausalGraph) -> Code:
    """Every statement written out."""
    return _Unrolled(causal).code(slopes_later=False)


def first_code(causal: CausalGraph) -> Code:
    """Every statement written out that a run begins with: slopes of long explicit models are left for later."""
    made = _Unrolled(causal)
    return made.code(slopes_later=made.is_long)


def slopes_code(causal: CausalGraph) -> Code:
    """The same with the source of the slopes that `first_code` has left out."""
    made = _Unrolled(causal)
    return replace(made.code(slopes_later=True), source=c_source(made.routines.slopes(), made.places, 0))


Sloped = tuple[Sequence[int], Sequence[int]]
"""The places of observables that slopes are told of, and of those that tell storages which follow others."""


def sloped_outputs(further: Iterable[str] = ()) -> Callable[[Program], Sloped]:
    """What has slopes where nothing follows: what a model gives to others."""

    def found(program: Program) -> Sloped:
        names = outputs_of(program, further)
        return [k for k, (o, _) in enumerate(program.observables) if o.name in names], ()

    return found


UNUSED_BY_OTHERS = ("residual", "tangent_y", "tangent_p", "powers", "stored", "rhs_powers", "contents")
"""Routines of our own solvers and books."""


def exchanged_code(
    causal: CausalGraph,
    start: Sequence[Expression],
    sloped: Callable[[Program], Sloped],
    *,
    breaks: Sequence[Break] | None = None,
    more: Mapping[str, Sequence[Expression]] | None = None,
) -> Code:
    """The same for programs of others: with slopes along inputs, and with start, times and given parameters as formulas.

    `start` are those of y as formulas of parameters; `sloped` says what has slopes beside the rates. `breaks` are known times
    instead of the model's own, `more` further formulas of parameters by the name of their function.
    """
    made = _Unrolled(causal)
    signals, constants = made.program.signals, made.routines.constants
    grids = [signals.samples[members[0]][0] for members in sample_groups(signals.samples)]
    times = [e for law in grids for e in (law.period, law.offset)]
    times += [e for known in (signals.breaks if breaks is None else breaks) for e in (known.at, known.period or ZERO)]
    times += [law.by for law, _ in signals.delays]
    first = [*start, *(law.initial for law, _ in signals.samples), *(law.initial for law, _ in signals.delays)]
    given = [symbol(name) for name in made.program.formulas]
    code = made.code(slopes_later=False)
    routines = [
        *(routine for routine in code.routines if routine.name not in UNUSED_BY_OTHERS),
        *(made.routines.along(*sloped(made.program)) if made.explicit is not None else ()),
        constants("initial", first),
        constants("times", times),
        constants("derived", given),
        constants("crossings", list(signals.crossings)),
        *(constants(name, formulas) for name, formulas in (more or {}).items()),
    ]
    return replace(code, routines=routines, source=c_source(routines, made.places, len(grids)))


def explicit_routines(causal: CausalGraph, told: Sequence[int]) -> tuple[Routine, Routine, list[Table]] | None:
    """The rates of an explicit model, what is told of it (`Routines.from_states`), and its tables; None without rates."""
    made = _Unrolled(causal)
    return None if made.explicit is None else (*made.routines.from_states(told), made.program.signals.tables)


def outputs_of(program: Program, further: Iterable[str] = ()) -> frozenset[str]:
    """The names of what a model gives to others: the conjugates of its sources, and further observables."""
    return frozenset((*further, *(o.name for o, _ in program.observables if o.kind == "output")))


@final
class _Unrolled:
    """A program on its way to code that is written out."""

    def __init__(self, causal: CausalGraph) -> None:
        self.program = build_program(causal)
        self.base = base_parameters(self.program)
        self.tables, self.places = packed_tables(self.program.signals.tables)
        flat = flatten(self.program)
        self.form = implicit_form(flat)
        # After the implicit form: whether yp can be solved for depends on which unknowns are hidden in it.
        self.explicit = explicit_form(flat, self.form)
        self.routines = Routines(flat, self.form, self.explicit, self.base)

    @property
    def is_long(self) -> bool:
        """Whether the model is explicit, and its rates take many operations."""
        return self.explicit is not None and operation_count(self.explicit.statements, self.explicit.rates) > LONG_RATES

    def code(self, *, slopes_later: bool) -> Code:
        """The code, with or without slopes."""
        program, form = self.program, self.form
        # Slopes keep the compiler of a long model busiest, and a run with an explicit method may never ask for them.
        routines = self.routines.values() if slopes_later else self.routines.all()
        samples = len(sample_groups(program.signals.samples))
        return Code(
            program,
            source=c_source(routines, self.places, samples, slopes_later=slopes_later),
            routines=routines,
            base=self.base,
            places=self.places,
            y=form.y,
            explicit=self.explicit is not None,
            linear=is_linear_program(program),
            pattern=_pattern(routines, len(form.y)),
            data=ModelData(
                # Hidden unknowns wait there from one call to the next: Newton starts where it last ended.
                scratch=max(len(form.hidden), 1),
                tables=self.tables,
                external=external_signals(program.signals.externals),
                rates=next((routine for routine in routines if routine.name == "rhs"), None),
                # Where powers do not read yp, solvers need not work it out at points where they only keep books.
                powers_read_rates=any("yp" in r.words_read() for r in routines if r.name == "powers"),
            ),
            slopes_later=slopes_later,
        )


def base_parameters(program: Program) -> list[str]:
    """The parameters that are not given by others."""
    return [name for name in program.parameters if name not in program.formulas]


def _pattern(routines: Sequence[Routine], size: int) -> SparsityPattern:
    """Where F, and f where there is one, depends on y: a coupled mass matrix makes f depend on more than F."""
    rows: list[set[int]] = [set() for _ in range(size)]
    for routine in routines:
        # Solvers factor F or f, whichever they advance, on one pattern: it has the entries of both.
        if routine.name in ("residual", "rhs"):
            found = _moving(routine)
            for row, result in zip(rows, routine.results, strict=True):
                row.update(place for k in variables_in((result,)) for _, place in found.get(k, ()))
    return pattern_of_rows([sorted(row) for row in rows], size)


Place = tuple[str, int]
"""What something depends on: the letter of a list of leaves, and a place there."""


def _moving(routine: Routine, words: Container[str] = ("y", "yp")) -> dict[int, frozenset[Place]]:
    """The variables of a routine that depend on the leaves of some words, and on which of them."""
    found: dict[int, frozenset[Place]] = {
        k: frozenset((leaf,)) for k, leaf in routine.leaves.items() if leaf[0] in words
    }
    nothing: frozenset[Place] = frozenset()
    for statement in routine.statements:
        here = nothing.union(*(found.get(k, nothing) for k in variables_read(statement)))
        if here:
            found.update((k, here) for k in targets_of(statement))
    return found


def dependences(code: Code) -> tuple[list[list[Place]], list[list[Place]]]:
    """The places of y ("y") and of the inputs ("u") that each rate and each observable of an explicit model depends on."""
    routines = {routine.name: routine for routine in code.routines}
    rates, observe = routines["rhs"], routines["observe"]

    def of(routine: Routine) -> list[set[Place]]:
        found = _moving(routine, ("y", "yp", "u"))
        return [set().union(*(found.get(k, ()) for k in variables_in((e,)))) for e in routine.results]

    by_rates = of(rates)
    shown = [
        set().union(*(by_rates[place] if word == "yp" else {(word, place)} for word, place in on)) for on in of(observe)
    ]
    return [sorted(on) for on in by_rates], [sorted(on) for on in shown]


def external_signals(externals: Sequence[External]) -> SignalHost | None:
    """What answers for the signals of the host; None where there are none."""
    if not externals:
        return None
    plain = PlainFunctions([(law.function, len(law.arguments)) for law in externals])
    if any(isinstance(law.function, UnitSignal) for law in externals):
        return UnitHost([law.function for law in externals], plain.value)
    return plain


@final
class PlainFunctions:
    """Python functions as one that C can call; numbers of arguments are fixed here, for C hands over a bare pointer."""

    def __init__(self, functions: Sequence[tuple[Callable[..., float], int]]) -> None:
        self.said = ""
        self._functions = functions
        self._made = EXTERNAL(lambda _, k, arguments: self.value(k, arguments))
        self.function = ctypes.cast(self._made, ctypes.c_void_p).value
        self.address: int | None = None

    def value(self, k: int, arguments: Any) -> float:
        """The value of a signal."""
        function, count = self._functions[k]
        try:
            return float(function(*[arguments[i] for i in range(count)]))
        # C cannot raise it: a value that is not a number ends the run, whose finding tells it.
        except Exception as error:
            self.said = f"{type(error).__name__}: {error}"
            return float("nan")


SMALL = 1_500
"""Bytes of a graph whose code is generated in no time."""

GENERATOR = ("core", "expressions", "elements", "model", "graph", "causality", "equations", "compiler")
"""The folders whose modules decide what the code of a graph is."""


OUTSIDE: Final = {
    ("fractions", "Fraction"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
}
VALUES: Final = {
    *(f"tellegen.compiler.{name}" for name in ("code", "context", "numeric_model", "program", "statements")),
    *(f"tellegen.expressions.{name}" for name in ("calculus", "canonical", "nodes")),
    "tellegen.core.errors",
    "tellegen.graph.signals",
}
"""The modules whose own classes and makers of expressions stand for values."""


@final
# A cache folder may be written by others: opening a file there must never run code that the file names.
class _Values(pickle.Unpickler):
    """Restores values, and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """The class or maker of a value. Raises: UnpicklingError for anything else."""
        if (module, name) in OUTSIDE or (module in VALUES and "." not in name):
            found = super().find_class(module, name)
            # A module of ours also holds what it imports, and functions that do things: only its own classes pass, and
            # of the makers of expressions the functions too, for expressions are made anew and shared.
            own = found.__module__ == module and (isinstance(found, type) or module.startswith("tellegen.expressions."))
            if module not in VALUES or own:
                return found
        raise pickle.UnpicklingError(f"'{module}.{name}' is no value")


@final
class _Alike(pickle.Pickler):
    """Writes equal values alike: which of their equal texts are one object depends on where each was read."""

    def persistent_id(self, value: object) -> str | None:
        """The one text that stands for all equal ones; None for anything else."""
        # Two files with the same model would else have two keys: pickle writes a text twice or refers to the first,
        # depending on which objects are one.
        return sys.intern(value) if type(value) is str else None


def kept_code(causal: CausalGraph, generate: Callable[[CausalGraph], Code], part: str = "") -> Code:
    """The code of a graph, or a part of it, from the cache where it is there. What only the interpreter reads is left out then."""
    key = _key(causal)
    if key is None:
        return generate(causal)
    name = f"{key}{part}{CODE_SUFFIX}"
    found = _read(name)
    if found is None:
        found = generate(causal)
        # A cache that cannot be written or believed is told of by the library.
        with contextlib.suppress(OSError, DistrustError):
            _write(name, found)
    return found


def _key(causal: CausalGraph) -> str | None:
    """The name of the code of a graph; None where it is small, or holds functions of Python."""
    if any(isinstance(law, External) for law in causal.graph.signals):
        return None
    written = io.BytesIO()
    try:
        _Alike(written).dump(causal)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    content = written.getvalue()
    # Reading a file would take as long as generating the code.
    if len(content) < SMALL:
        return None
    return hashlib.sha256(_generator() + content).hexdigest()[:40]


@cache
def _generator() -> bytes:
    """What tells one state of the generator from another."""
    top = Path(__file__).parents[1]
    # The states of our own files are part of the key: who edits the generator gets new code without clearing anything.
    files = sorted(
        path for folder in GENERATOR for path in (top / folder).rglob("*.[ph]*") if path.suffix in (".py", ".h")
    )
    states = [(str(path.relative_to(top)), s.st_size, s.st_mtime_ns) for path in files for s in [path.stat()]]
    return repr((sys.version, states)).encode()


def _read(name: str) -> Code | None:
    """What is kept in a whole, unchanged file that nobody else can have written."""
    with contextlib.suppress(Exception):  # whatever is wrong with the file, the code is generated again
        with kept_files(cache_folder()) as files:
            content = files.read(name)
        # A file that was cut short must not be unpickled at all, so its digest stands before it.
        digest, body = content[:32], content[32:]
        if hashlib.sha256(body).digest() == digest:
            found = _Values(io.BytesIO(body)).load()
            return found if isinstance(found, Code) else None
    return None


def _write(name: str, code: Code) -> None:
    """Keep what a model is made from: not the steps that the source was written from."""
    # A model that is loaded needs neither steps nor statements: its source was written from them.
    body = pickle.dumps(replace(code, routines=[], program=replace(code.program, core=[], observing=[])))
    with kept_files(cache_folder(), make=True) as files:
        files.write(name, hashlib.sha256(body).digest() + body)
        files.prune(keep=name)
