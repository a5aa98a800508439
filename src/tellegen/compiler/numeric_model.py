"""A model as fast functions: what solvers call by address, and what people call with arrays; its channels and pattern."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, final

import numpy as np

from tellegen.compiler import rules
from tellegen.compiler.context import FUNCTIONS, Array, Integers, ModelContext, ModelData, address_of, raise_kept_error
from tellegen.compiler.enclosures import awakenings, zeros_of
from tellegen.compiler.toolchain import build
from tellegen.core.errors import Finding
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.expressions import Expression

ObservableKind = Literal["across", "through", "power", "energy", "signal", "output"]
EventKind = Literal["transition", "restart", "bend"]


@final
@dataclass(frozen=True, slots=True)
class Observable:
    """One number that `observe` gives: a power variable, a power, an energy, a signal or the output of a source.

    Powers are positive into storages and resistive elements and out of sources; the conjugate of a source counts the same way.
    """

    name: str
    kind: ObservableKind
    element: str = ""
    domain: str = ""
    unit: str = ""


@final
@dataclass(frozen=True, slots=True)
class EventFunction:
    """A number whose change of sign is an event: a transition of mode (rising, to the mode `to`), or a place to restart at, where
    formulas jump or only bend."""

    name: str
    element: str
    direction: int
    kind: EventKind
    to: str = ""


@final
@dataclass(frozen=True, slots=True)
class SampleGroup:
    """Signals sampled together at offset, offset + period, ...; `members` are their places in the memory.

    Latches have no period: what they hold changes as soon as it would.
    """

    period: float
    offset: float
    members: tuple[int, ...]

    @property
    def is_latch(self) -> bool:
        """Whether events decide, and no clock."""
        return not self.period

    def instants(self, until: float) -> Array:
        """The sampling instants up to a time."""
        if self.is_latch:
            return np.zeros(0)
        count = int((until - self.offset) / self.period) + 1
        return np.asarray(self.offset + self.period * np.arange(count), dtype=float)


@final
@dataclass(frozen=True, slots=True)
class SignalDelay:
    """A delayed signal: the observable that it repeats, how much later, and its value before.

    One that `returns` goes round a loop of delays without a state between them, as a wave in a line does: its jumps stay jumps.
    """

    name: str
    observable: int
    by: float
    initial: float
    returns: bool = False


@final
@dataclass(frozen=True, slots=True)
class BreakTimes:
    """A known time at which a signal jumps or bends, and, with a period, every such time before and after it."""

    at: float
    period: float | None = None


@final
@dataclass(frozen=True, eq=False)
class SparsityPattern:
    """Nonzero places of a square matrix by columns (CSC): rows of column j are indices[indptr[j]:indptr[j + 1]], in order."""

    indptr: Integers
    indices: Integers

    @property
    def size(self) -> int:
        """How many columns."""
        return len(self.indptr) - 1


def dense_pattern(size: int) -> SparsityPattern:
    """The pattern without zeros."""
    return SparsityPattern(
        np.arange(0, size * size + 1, max(size, 1), dtype=np.int32)[: size + 1],
        np.tile(np.arange(size, dtype=np.int32), size),
    )


def pattern_of_rows(rows: Sequence[Sequence[int]], size: int) -> SparsityPattern:
    """The pattern whose row i has the columns rows[i]."""
    counts = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    columns = np.fromiter((j for row in rows for j in row), dtype=np.int64, count=int(counts.sum()))
    row_of = np.repeat(np.arange(len(rows)), counts)
    # By column, and by row inside of each: solvers rely on the rows of a column being in order.
    order = np.lexsort((row_of, columns))
    indptr = np.zeros(size + 1, dtype=np.int32)
    np.cumsum(np.bincount(columns, minlength=size), out=indptr[1:])
    return SparsityPattern(indptr, row_of[order].astype(np.int32))


def colouring(pattern: SparsityPattern) -> Integers:
    """A colour for each column so that no two columns of one colour share a row: greedy, widest columns first (Curtis, Powell
    and Reid 1974; the order by degree keeps the count near the widest row).
    """
    size = pattern.size
    indptr, indices = pattern.indptr.tolist(), pattern.indices.tolist()
    colours = [-1] * size
    # Two columns of one colour are probed by one tangent, so no row may feel both.
    taken_in_row: list[set[int]] = [set() for _ in range(size)]
    widths = np.diff(pattern.indptr)
    # Columns are taken in their own order where they are about equally wide: a band then needs no more colours than its width.
    order = np.argsort(-np.minimum(widths // 64, 1), kind="stable").tolist()
    for j in order:
        rows = indices[indptr[j] : indptr[j + 1]]
        colour = 0
        # The smallest colour that is free in all rows of the column.
        while any(colour in taken_in_row[i] for i in rows):
            colour += 1
        colours[j] = colour
        for i in rows:
            taken_in_row[i].add(colour)
    return np.array(colours, dtype=np.int32)


PROTOTYPES: Mapping[str, Any] = {
    name: ctypes.CFUNCTYPE(
        *(ctypes.c_int, ctypes.c_void_p, ctypes.c_double, *(ctypes.c_void_p for _ in arrays)),
        *((ctypes.c_int,) if name == "sample" else ()),  # the group that is sampled
        ctypes.c_void_p,
    )
    for name, arrays in FUNCTIONS.items()
}
"""The C types of the functions of model.h, by name."""

SYMBOL = "tg_{}"
"""The name of a function in the library."""


DIFFERENCE = 1e-7
"""How far, relative to y, differences of f reach."""


@final
@dataclass(frozen=True)
class NumericModel:
    """0 = F(t, y, yp), and yp = f(t, y) where `explicit`; y = [states, displacements, signal_states, unknowns].

    `addresses` are those of the native functions of model.h. `linear` says that F is affine in y and yp with coefficients that are
    constant for given parameters. `pattern` holds the places of dF/dy and dF/dyp, and of df/dy where `explicit`. `variables` names
    what `failed` of a context points at.
    """

    name: str
    states: tuple[str, ...]
    displacements: tuple[str, ...]
    signal_states: tuple[str, ...]
    unknowns: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    parameter_values: Array
    memory: tuple[str, ...]
    initial_memory: Array
    observables: tuple[Observable, ...]
    events: tuple[EventFunction, ...]
    sample_groups: tuple[SampleGroup, ...]
    delays: tuple[SignalDelay, ...]
    breaks: tuple[BreakTimes, ...]
    crossings: tuple[Expression, ...]
    """Formulas of time that vanish where signals jump or bend."""
    courses: tuple[Expression, ...]
    """Formulas of time that may rest for long and then move."""
    unfelt: tuple[Expression, ...]
    """Formulas of time that drive powers and that no rate reads: no error of a state tells how fast they are."""
    explicit: bool
    linear: bool
    pattern: SparsityPattern
    colours: Integers
    addresses: Mapping[str, int]
    contents: tuple[int, ...] = ()
    """The places in y of storages whose laws bend: of them `contents` tells what they keep."""
    initial: Mapping[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    backend: Literal["c", "python"] = "c"
    cached: bool = False
    source: str = field(default="", repr=False)
    variables: tuple[str, ...] = field(default=(), repr=False)
    data: ModelData | None = field(default=None, repr=False, compare=False)
    owner: object = field(default=None, repr=False, compare=False)
    made_by: tuple[Callable[..., "NumericModel"], tuple[object, ...]] | None = field(
        default=None, repr=False, compare=False
    )
    """The function and the values that made it: what it is pickled as, for addresses mean nothing in another process."""
    plans: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What solvers have worked out for this model and need again in its next run."""

    def __reduce__(self) -> tuple[Callable[..., "NumericModel"], tuple[object, ...]]:
        if self.made_by is None:
            raise TypeError(f"'{self.name}' was made by hand, of functions that no other process knows")
        return self.made_by

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of y."""
        return (*self.states, *self.displacements, *self.signal_states, *self.unknowns)

    @cached_property
    def size(self) -> int:
        """The length of y."""
        return len(self.names)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Where each name stands in y."""
        return {name: k for k, name in enumerate(self.names)}

    def start(self) -> Array:
        """y with the initial values that the model gives, zero elsewhere."""
        y = np.zeros(self.size)
        for name, value in self.initial.items():
            if name in self.index:
                y[self.index[name]] = value
        return y

    def break_times(self, until: float, start: float = 0.0) -> Array:
        """The known times after `start` and before `until` at which signals jump or bend, in order."""
        times: list[Array] = [np.zeros(0)]
        for known in self.breaks:
            if known.period is None or known.period <= 0.0:
                times.append(np.array([known.at]))
                continue
            # Only those inside the stretch: a run over many periods would list millions each time.
            first = int(np.ceil((start - known.at) / known.period))
            count = int(np.floor((until - known.at) / known.period)) - first + 1
            times.append(np.asarray(known.at + known.period * (first + np.arange(max(count, 0))), dtype=float))
        # What is found at the very start would be a stretch of no length, in which solvers divide by it.
        apart = start + 1e-14 * (until - start)
        zeros = [zeros_of(e, TIME, start, until).places for e in self.crossings]
        times += [places[places > apart] for places in zeros]
        found = np.concatenate(times)
        return np.unique(found[(found > start) & (found < until)])

    def stop_times(self, until: float, start: float = 0.0) -> Array:
        """The same, and where courses begin to move after a rest: a long step would leap over a short pulse."""
        wakes = [awakenings(e, TIME, start, until) for e in self.courses]
        found = np.unique(np.concatenate([self.break_times(until, start), *wakes]))
        return found[(found > start) & (found < until)]

    def breaks_known_until(self, until: float, start: float = 0.0) -> float:
        """Up to where all break times are known; formulas that switch too often are followed only so far."""
        return min((zeros_of(e, TIME, start, until).reached for e in self.crossings), default=until)

    # -- contexts --------------------------------------------------------------------------------------------------------------

    def new_context(
        self, parameters: Mapping[str, float] | Array | None = None, inputs: Mapping[str, float] | Array | None = None
    ) -> ModelContext:
        """What the functions are given: parameters and inputs as named or as arrays; those not named keep their values (inputs: 0).

        Raises: CompilerError naming a parameter or input that the model does not have.
        """
        data = self.data or ModelData(scratch=self.size)
        values, given = self.parameters_with(parameters), self.inputs_with(inputs)
        return ModelContext(data, values, given, self.initial_memory.copy())

    def parameters_with(self, given: Mapping[str, float] | Array | None) -> Array:
        """The values of all parameters.

        Raises: CompilerError naming one that the model does not have.
        """
        return self._filled(self.parameters, self.parameter_values, given, "parameter")

    def inputs_with(self, given: Mapping[str, float] | Array | None) -> Array:
        """The values of all inputs, zero for those that are not named.

        Raises: CompilerError naming one that the model does not have.
        """
        return self._filled(self.inputs, np.zeros(len(self.inputs)), given, "input")

    def _filled(
        self, names: Sequence[str], default: Array, given: Mapping[str, float] | Array | None, word: str
    ) -> Array:
        # A whole array is taken as it is: it has been made from these names before.
        if given is None or not isinstance(given, Mapping):
            return np.array(default if given is None else given, dtype=float)
        values = default.astype(float)
        place = {name: k for k, name in enumerate(names)}
        for name, value in given.items():
            if name not in place:
                fix = did_you_mean(name, names) or f"the {word}s are {listing(names)}"
                raise rules.NO_SUCH_PARAMETER.error(f"there is no {word} '{name}'", where=self.name, fix=fix)
            values[place[name]] = value
        return values

    # -- functions with arrays -------------------------------------------------------------------------------------------------

    def residual(self, t: float, y: Array, yp: Array, context: ModelContext | None = None) -> Array:
        """F(t, y, yp)."""
        return self._call("residual", self.size, t, (y, yp), context)

    def rhs(self, t: float, y: Array, context: ModelContext | None = None) -> Array:
        """f(t, y) of an explicit model."""
        return self._call("rhs", self.size, t, (y,), context)

    def tangent(
        self,
        t: float,
        y: Array,
        yp: Array,
        dy: Array | None = None,
        dyp: Array | None = None,
        dp: Array | None = None,
        context: ModelContext | None = None,
    ) -> Array:
        """dF/dy dy + dF/dyp dyp + dF/dp dp."""
        return self._call("tangent", self.size, t, (y, yp, dy, dyp, dp), context)

    def rhs_tangent(
        self, t: float, y: Array, dy: Array | None = None, dp: Array | None = None, context: ModelContext | None = None
    ) -> Array:
        """df/dy dy + df/dp dp of an explicit model."""
        return self._call("rhs_tangent", self.size, t, (y, dy, dp), context)

    def prepared_tangent(self, t: float, y: Array, dy: Array, into: Array, context: ModelContext) -> Callable[[], int]:
        """df/dy dy again and again, for what stands in `dy` by then, at the cost of a bare call; gives 0 when it is finite.

        The arrays must live as long, and be contiguous.
        """
        # Addresses are taken once: thirty steps of a power iteration would else spend their time on that.
        function, pointers = self._function("rhs_tangent"), (_address(y), _address(dy), None, _address(into))
        return partial(function, context.address, t, *pointers)

    def prepared_call(self, name: str, *arrays: Array, context: ModelContext) -> Callable[[float], int]:
        """A function of model.h as one of time, for what stands in the arrays by then; gives 0 when all is finite.

        The arrays must live as long, and be contiguous; the last one is written.
        """
        function, address = self._function(name), context.address
        places = tuple(map(address_of, arrays))
        return lambda t: int(function(address, t, *places))

    @property
    def slopes_wait(self) -> bool:
        """Whether slopes are still to be compiled: the first call of a tangent takes long."""
        return self.data is not None and self.data.slopes is not None and not self.data.slopes.made

    @property
    def later_findings(self) -> tuple[Finding, ...]:
        """What was found when slopes were compiled, after the model."""
        return self.data.slopes.findings if self.data is not None and self.data.slopes is not None else ()

    def prepared_difference(
        self, t: float, y: Array, dy: Array, into: Array, context: ModelContext
    ) -> Callable[[], int]:
        """As `prepared_tangent`, to some six digits, from differences of f: compiles nothing."""
        function = self._function("rhs")
        here, there, moved = np.empty(self.size), np.empty(self.size), np.empty(self.size)
        bad = function(context.address, t, _address(y), _address(here))
        # At y = 0 there is no size to go by: SI units make one of it.
        reach = DIFFERENCE * (float(np.linalg.norm(y)) or 1.0)

        def differ() -> int:
            # The step is a length in y, whatever the length of the direction: an iteration may scale it as it likes.
            h = reach / (float(np.linalg.norm(dy)) or 1.0)
            np.add(y, h * dy, out=moved)
            failed = bad or function(context.address, t, _address(moved), _address(there))
            np.divide(there - here, h, out=into)
            return int(failed)

        return differ

    def observe(self, t: float, y: Array, yp: Array, context: ModelContext | None = None) -> Array:
        """Every observable, in order."""
        return self._call("observe", len(self.observables), t, (y, yp), context)

    def observe_unchecked(self, t: float, y: Array, yp: Array, context: ModelContext) -> Array:
        """Every observable, those that are not finite too: shows where a value is lost."""
        return self._out("observe", len(self.observables), t, (y, yp), context)[0]

    def balance(self, t: float, y: Array, yp: Array, context: ModelContext | None = None) -> Array:
        """Power supplied, dissipated, generated by negative resistances, work of modulation; then the stored energy."""
        return self._call("balance", 5, t, (y, yp), context)

    def powers(self, t: float, y: Array, yp: Array, context: ModelContext | None = None) -> Array:
        """The powers of the balance without the stored energy: what books are kept from, at less cost."""
        return self._call("powers", 4, t, (y, yp), context)

    def event_values(self, t: float, y: Array, yp: Array, context: ModelContext | None = None) -> Array:
        """The event functions."""
        return self._call("events", len(self.events), t, (y, yp), context)

    def sample(self, t: float, y: Array, yp: Array, group: int, context: ModelContext | None = None) -> Array:
        """The memory after the sampling instant of a group."""
        context = context or self.new_context()
        memory = context.memory.copy()
        function = self._function("sample")
        self._check(
            function(context.address, t, *map(_address, map(_floats, (y, yp))), group, memory.ctypes.data), context
        )
        return memory[: len(self.memory)]

    def jacobian(self, t: float, y: Array, yp: Array, cj: float, context: ModelContext | None = None) -> Array:
        """The values of dF/dy + cj dF/dyp on the pattern, one tangent for each colour."""
        context = context or self.new_context()
        indptr, indices = self.pattern.indptr, self.pattern.indices
        columns = np.repeat(np.arange(self.size), np.diff(indptr))
        found = np.zeros(len(indices))
        # All columns of a colour at once: their rows are apart, so each entry of the tangent belongs to one of them.
        for colour in range(int(self.colours.max(initial=-1)) + 1):
            dy = np.where(self.colours == colour, 1.0, 0.0)
            dr = self.tangent(t, y, yp, dy, cj * dy, context=context)
            mine = self.colours[columns] == colour
            found[mine] = dr[indices[mine]]
        return found

    def _call(
        self, name: str, size: int, t: float, arrays: Sequence[Array | None], context: ModelContext | None
    ) -> Array:
        context = context or self.new_context()
        out, status = self._out(name, size, t, arrays, context)
        self._check(status, context)
        return out

    def _out(
        self, name: str, size: int, t: float, arrays: Sequence[Array | None], context: ModelContext
    ) -> tuple[Array, int]:
        # Where a function ends early, what it has not told is no number.
        out = np.full(size or 1, np.nan)
        given = [None if a is None else _floats(a) for a in arrays]
        status = self._function(name)(context.address, t, *map(_address, given), address_of(out))
        return out[:size], status

    def _function(self, name: str) -> Any:
        return _function(name, self.addresses[name])

    def _check(self, status: int, context: ModelContext) -> None:
        if status:
            # What a function of the host raised goes first: that a value is not finite only follows from it.
            raise_kept_error()
            index = context.failed
            what = self.variables[index] if index is not None and index < len(self.variables) else "a variable"
            inside = index is not None and index >= self.size + len(self.observables)
            raise rules.OutsideError(f"'{what}' {'was not found' if inside else 'is not a finite number'}", self.name)

    # -- models written by hand ------------------------------------------------------------------------------------------------

    @classmethod
    def from_c(
        cls,
        source: str,
        *,
        states: Sequence[str],
        unknowns: Sequence[str] = (),
        name: str = "hand-written",
        parameters: Mapping[str, float] | None = None,
        inputs: Sequence[str] = (),
        observables: Sequence[Observable] = (),
        events: Sequence[EventFunction] = (),
        pattern: SparsityPattern | None = None,
        linear: bool = False,
        small: bool = True,
        **more: Any,
    ) -> "NumericModel":
        """A model from C source with functions `tg_residual`, `tg_rhs`, ... of the types in model.h, as many as it has.

        The source sees model.h without including it. Further keywords set fields of the model.

        Raises: CompilerError (N104) with what the compiler said.
        """
        made = build(source, small=small)
        if made.library is None:
            raise rules.COMPILER_FAILED.error(made.findings[0].what, where=name, fix="correct the source")
        size = len(states) + len(unknowns)
        pattern = pattern or dense_pattern(size)
        values = dict(parameters or {})
        addresses = native_addresses(made.library)
        # Fields that a model written by hand seldom has; `more` wins over them.
        base: dict[str, Any] = {
            "displacements": (),
            "signal_states": (),
            "memory": (),
            "initial_memory": np.zeros(0),
            "sample_groups": (),
            "delays": (),
            "breaks": (),
            "crossings": (),
            "courses": (),
            "unfelt": (),
            "variables": (*states, *unknowns),
            "data": ModelData(scratch=size),
        }
        return cls(
            name=name,
            states=tuple(states),
            unknowns=tuple(unknowns),
            inputs=tuple(inputs),
            parameters=tuple(values),
            parameter_values=np.array(list(values.values()), dtype=float),
            observables=tuple(observables),
            events=tuple(events),
            explicit="rhs" in addresses,
            linear=linear,
            pattern=pattern,
            colours=colouring(pattern),
            addresses=addresses,
            findings=made.findings,
            cached=made.cached,
            source=source,
            owner=made.library,
            **(base | more),
        )


def native_addresses(library: ctypes.CDLL, symbol: str = SYMBOL) -> dict[str, int]:
    """The addresses of the functions of model.h that a library has, under names like `symbol`."""
    found = {}
    for name in PROTOTYPES:
        function = getattr(library, symbol.format(name), None)
        if function is not None:
            address = ctypes.cast(function, ctypes.c_void_p).value
            assert address is not None, "a function that was found has an address"
            found[name] = address
    return found


def _floats(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=float)


def _address(values: Array | None) -> int | None:
    return None if values is None else address_of(values)


@lru_cache(maxsize=4096)
def _function(name: str, address: int) -> Any:
    return PROTOTYPES[name](address)
