"""From a causal graph to fast functions, in one call."""

import math
import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, final

import numpy as np

from tellegen.causality import CausalGraph
from tellegen.compiler import numeric_model, rules
from tellegen.compiler.code import Code, first_code, kept_code, slopes_code, unrolled_code
from tellegen.compiler.context import Array, BuiltSlopes, DeferredSlopes
from tellegen.compiler.interpreter import Interpreter
from tellegen.compiler.looped import looped_code
from tellegen.compiler.program import Program
from tellegen.compiler.routines import sample_groups
from tellegen.compiler.toolchain import Build, broken_compiler, build
from tellegen.core.memory import without_collector
from tellegen.core.names import TIME, listing
from tellegen.equations.system import parameter_values
from tellegen.expressions import Expression, number, symbol, to_text
from tellegen.graph import SourceLaw
from tellegen.graph.signals import SignalLaw

Drive = Expression | SignalLaw | Sequence[SignalLaw]
"""What drives an input: a formula, a signal, or several signals the last of which drives it."""

Values = Mapping[str, float]
"""What parameters are, by name."""

Backend = Literal["auto", "c", "python"]
CodeForm = Literal["auto", "unrolled", "looped"]

LARGEST_UNROLLED = 100
"""Models with more ports run as loops over index tables: the time to compile them does not depend on their size."""


def compile_model(
    causal: CausalGraph, *, drive: Mapping[str, Drive] | None = None, backend: Backend = "auto", form: CodeForm = "auto"
) -> numeric_model.NumericModel:
    """The model of a causal graph as fast functions; `drive` gives signals to inputs that have none.

    Without a working C compiler the functions run in Python, and a finding says so; `backend` asks for one or the other. Small
    models are written out, large ones run as loops; `form` asks for one or the other.

    Raises: CompilerError naming parameters without a value, names without a meaning, or inputs that do not exist.
    """
    with without_collector():
        return _recent_or_compiled(with_drives(causal, drive or {}), backend, form)


@final
@dataclass
class _Recent:
    """A model compiled last: its graph without values, its code, and the model of the values that it had the last time."""

    unvalued: CausalGraph
    around: tuple[object, ...]
    code: Code
    built: Build
    causal: CausalGraph
    model: numeric_model.NumericModel


_RECENT: deque[_Recent] = deque(maxlen=32)
"""Small models compiled last in this process: running one again, or one of other values, generates nothing."""


def _recent_or_compiled(causal: CausalGraph, backend: Backend, form: CodeForm) -> numeric_model.NumericModel:
    # The environment says which compiler and which cache are found: when it changes, an old model is no answer.
    around = (backend, form, *(os.environ.get(name) for name in ("CC", "PATH", "TELLEGEN_CACHE", "XDG_CACHE_HOME")))
    unvalued = without_values(causal)
    for known in _RECENT:
        # The name first: two graphs that differ mostly differ there, and comparing them as a whole is dear.
        if known.around == around and known.unvalued.graph.name == causal.graph.name and known.unvalued == unvalued:
            if known.causal != causal:
                known.causal, known.model = (
                    causal,
                    _with_values(known.code, replace(known.built, cached=True), causal, (backend, form)),
                )
            return known.model
    large = form == "looped" or (form == "auto" and len(causal.graph.ports) > LARGEST_UNROLLED)
    # Looped code computes its coefficients from the values, and stands for these alone.
    code, built = _built(causal if large else unvalued, backend, large=large)
    # Who asks for C by name wants its speed: going on in Python would hide why the run is slow.
    if built.library is None and backend == "c":
        raise rules.COMPILER_FAILED.error(
            built.findings[0].what, where=causal.graph.name, fix="compile with another backend, or set CC"
        )
    model = _with_values(code, built, causal, (backend, form))
    # Large models would hold much memory, and one that runs in Python shall look for a compiler the next time.
    if not large and model.backend == "c":
        _RECENT.append(_Recent(unvalued, around, code, built, causal, model))
    return model


def without_values(causal: CausalGraph) -> CausalGraph:
    """The same graph without numbers for its parameters and initial values: they decide nothing of its code.

    A formula of other parameters stays, for it decides which of them are given.
    """
    graph = causal.graph
    parameters = {name: e if e is not None and e.free_symbols else None for name, e in graph.parameters.items()}
    ports = tuple(port if port.initial is None else replace(port, initial=None) for port in graph.ports)
    return replace(causal, graph=replace(graph, parameters=parameters, ports=ports))


def with_drives(causal: CausalGraph, drive: Mapping[str, Drive]) -> CausalGraph:
    """The same graph with signals behind the named inputs."""
    if not drive:
        return causal
    graph = causal.graph
    ports = list(graph.ports)
    places = {port.law.input: k for k, port in enumerate(ports) if isinstance(port.law, SourceLaw)}
    signals = list(graph.signals)
    for name, what in drive.items():
        if name not in places:
            raise rules.NO_SUCH_PARAMETER.error(
                f"there is no input '{name}'", where=graph.name, fix=f"the inputs are {listing(places)}"
            )
        k = places[name]
        law = ports[k].law
        assert isinstance(law, SourceLaw), "inputs belong to sources"
        if isinstance(what, Expression):
            expression = what
        else:
            laws = list(what) if isinstance(what, Sequence) else [what]
            # The last one drives the input; those before it are what it reads.
            signals += laws
            expression = symbol(laws[-1].name)
        ports[k] = replace(ports[k], law=replace(law, signal=expression))
    return replace(causal, graph=replace(graph, ports=tuple(ports), signals=tuple(signals)))


def _again(causal: CausalGraph, backend: Backend, form: CodeForm) -> numeric_model.NumericModel:
    """The model that was pickled; its code is kept on disk."""
    return compile_model(causal, backend=backend, form=form)


def _with_values(
    made: Code, built: Build, causal: CausalGraph, asked: tuple[Backend, CodeForm]
) -> numeric_model.NumericModel:
    """The model of code with the values that a graph has."""
    program = made.program
    values = parameter_values(causal.graph.parameters)
    owner = Interpreter(made.routines, made.data.tables, made.places) if built.library is None else built.library
    # Not of the program: unknowns that are solved inside are no part of y.
    names = [program.names[k] for k in made.y]
    count = len(program.states), len(program.displacements), len(program.signals.states)
    return numeric_model.NumericModel(
        name=program.name,
        states=tuple(names[: count[0]]),
        displacements=tuple(names[count[0] : count[0] + count[1]]),
        signal_states=tuple(names[count[0] + count[1] : sum(count)]),
        unknowns=tuple(names[sum(count) :]),
        inputs=tuple(program.names[k] for k in program.inputs),
        parameters=tuple(made.base),
        parameter_values=_base_values(program, made.base, values),
        memory=tuple(law.name for law, _ in program.signals.samples),
        initial_memory=np.array(
            [_number(law.initial, values, f"what '{law.name}' holds at first") for law, _ in program.signals.samples]
        ),
        observables=tuple(o for o, _ in program.observables),
        events=tuple(e for e, _ in program.events),
        contents=tuple(made.y.index(k) for k, _, _ in program.contents),
        sample_groups=_sample_groups(program, values),
        delays=_delays(program, values),
        breaks=_breaks(program, values),
        crossings=_of_time(program.signals.crossings, values),
        courses=_of_time(program.signals.courses, values),
        unfelt=_of_time(program.signals.unfelt, values),
        explicit=made.explicit,
        linear=made.linear,
        pattern=made.pattern,
        colours=numeric_model.colouring(made.pattern),
        addresses=owner.addresses if isinstance(owner, Interpreter) else numeric_model.native_addresses(owner),
        initial=_initial_values(causal, values),
        findings=built.findings,
        backend="python" if isinstance(owner, Interpreter) else "c",
        cached=built.cached,
        source=made.source,
        # The order is that of `failed` in a context: y, observables, unknowns solved inside.
        variables=(*names, *(o.name for o, _ in program.observables), *(program.names[k] for k in program.unknowns)),
        data=made.data,
        owner=owner,
        made_by=(_again, (causal, *asked)),
    )


def _built(causal: CausalGraph, backend: Backend, *, large: bool) -> tuple[Code, Build]:
    """The code and its library; without a compiler, the code that the interpreter runs, which is written out."""
    if backend == "python":
        # The interpreter runs statements, and only code that is written out has them.
        return unrolled_code(causal), Build(None)
    # Its coefficients are a function of the parameters: a file of values alone cannot hold that.
    made = looped_code(causal) if large else kept_code(causal, first_code)
    built = build(made.source, small=not large)
    if built.library is None:
        return unrolled_code(causal), built
    if made.slopes_later:
        made = replace(made, data=replace(made.data, slopes=DeferredSlopes(partial(_slopes, causal))))
    return made, built


def _slopes(causal: CausalGraph) -> BuiltSlopes:
    """The slopes of a long model: compiled, or in Python where the compiler has failed since the model was."""
    with without_collector():
        try:
            built = build(kept_code(causal, slopes_code, "-slopes").source)
        # A solver in C waits for these slopes and cannot go on without: whatever the machine refuses, Python gives
        # them.
        except OSError as reason:
            built = Build(None, (broken_compiler(str(reason)),))
        if built.library is not None:
            found = numeric_model.native_addresses(built.library)
            return BuiltSlopes(found, built.library)
        made = unrolled_code(causal)
        owner = Interpreter(made.routines, made.data.tables, made.places)
        return BuiltSlopes(owner.addresses, owner, built.findings)


def _base_values(program: Program, base: Sequence[str], values: Values) -> Array:
    """The values of the parameters that are not given by others.

    Raises: CompilerError naming those without a value.
    """
    # All that lack a value are named at once, so that they can be given in one go.
    missing = [name for name in base if name not in values]
    if missing:
        raise rules.NO_VALUE.error(
            f"{listing(missing)} {'has' if len(missing) == 1 else 'have'} no value",
            where=program.name,
            fix=f"give a value under 'parameters', such as '{missing[0]}: 1'",
            members=missing,
        )
    return np.array([values[name] for name in base])


def _number(formula: Expression, values: Values, subject: str) -> float:
    """The value of a formula of parameters. Raises: CompilerError (N113) where that is no finite number."""
    try:
        value = formula.evaluate(values)
        reason = "" if math.isfinite(value) else "it is beyond the range of a number"
    except ArithmeticError as problem:
        value, reason = math.nan, str(problem)
    if reason:
        what = f"{subject}, {to_text(formula)}, has no value: {reason}"
        fix = "give parameters with which it has one"
        raise rules.FORMULA_WITHOUT_VALUE.error(what, fix=fix, members=sorted(formula.free_symbols))
    return value


def _initial_values(causal: CausalGraph, values: Values) -> dict[str, float]:
    graph = causal.graph
    initial = {graph.ports[k].state: e for k in causal.integral if (e := graph.ports[k].initial_state) is not None}
    initial |= {law.name: law.initial for law in graph.signals if hasattr(law, "initial")}
    return {name: _number(e, values, f"the initial value of '{name}'") for name, e in initial.items()}


def _sample_groups(program: Program, values: Values) -> tuple[numeric_model.SampleGroup, ...]:
    found = []
    for members in sample_groups(program.signals.samples):
        law = program.signals.samples[members[0]][0]
        period, offset = (_number(e, values, f"a time of '{law.name}'") for e in (law.period, law.offset))
        found.append(numeric_model.SampleGroup(period, offset, tuple(members)))
    return tuple(found)


def _delays(program: Program, values: Values) -> tuple[numeric_model.SignalDelay, ...]:
    # The past is written from observables: a delay is known by the place of what goes into it.
    place = {k: i for i, (o, k) in enumerate(program.observables) if o.kind == "signal"}
    found = []
    for law, k in program.signals.delays:
        by = _number(law.by, values, f"the delay of '{law.name}'")
        initial = _number(law.initial, values, f"what '{law.name}' holds at first")
        found.append(numeric_model.SignalDelay(law.name, place[k], by, initial, law.name in program.signals.returning))
    return tuple(found)


def _of_time(formulas: Iterable[Expression], values: Values) -> tuple[Expression, ...]:
    """Formulas of time and parameters as formulas of time alone."""
    return tuple(e.substitute({n: number(values[n]) for n in e.free_symbols - {TIME}}) for e in formulas)


def _breaks(program: Program, values: Values) -> tuple[numeric_model.BreakTimes, ...]:
    found = []
    for known in program.signals.breaks:
        period = None if known.period is None else _number(known.period, values, "the period of a signal")
        found.append(numeric_model.BreakTimes(_number(known.at, values, "the time of a change"), period))
    return tuple(found)
