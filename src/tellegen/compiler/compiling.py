"""From a causal graph to fast functions, in one call."""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

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
from tellegen.expressions import Expression, number, symbol
from tellegen.graph import SourceLaw
from tellegen.graph.signals import SignalLaw

Drive = Expression | SignalLaw | Sequence[SignalLaw]
"""What drives an input: a formula, a signal, or several signals the last of which drives it."""

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


_RECENT: deque[tuple[CausalGraph, tuple[object, ...], numeric_model.NumericModel]] = deque(maxlen=8)
"""Small models compiled last in this process: running one again, or one that is equal, generates nothing."""


def _recent_or_compiled(causal: CausalGraph, backend: Backend, form: CodeForm) -> numeric_model.NumericModel:
    # The environment says which compiler and which cache are found: when it changes, an old model is no answer.
    around = (backend, form, *(os.environ.get(name) for name in ("CC", "PATH", "TELLEGEN_CACHE", "XDG_CACHE_HOME")))
    for known, its, model in _RECENT:
        # The name first: two graphs that differ mostly differ there, and comparing them as a whole is dear.
        if its == around and known.graph.name == causal.graph.name and known == causal:
            return model
    made = _compiled(causal, backend, form)
    # Large models would hold much memory, and one that runs in Python shall look for a compiler the next time.
    if len(causal.graph.ports) <= LARGEST_UNROLLED and made.backend == "c":
        _RECENT.append((causal, around, made))
    return made


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


def _compiled(causal: CausalGraph, backend: Backend, form: CodeForm) -> numeric_model.NumericModel:
    made, built = _built(causal, backend, form)
    program = made.program
    # Who asks for C by name wants its speed: going on in Python would hide why the run is slow.
    if built.library is None and backend == "c":
        raise rules.COMPILER_FAILED.error(
            built.findings[0].what, where=program.name, fix="compile with another backend, or set CC"
        )
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
        parameter_values=base_values(program, made.base),
        memory=tuple(law.name for law, _ in program.signals.samples),
        initial_memory=formula_values(program, [law.initial for law, _ in program.signals.samples]),
        observables=tuple(o for o, _ in program.observables),
        events=tuple(e for e, _ in program.events),
        sample_groups=_sample_groups(program),
        delays=_delays(program),
        breaks=_breaks(program),
        crossings=_crossings(program),
        explicit=made.explicit,
        linear=made.linear,
        pattern=made.pattern,
        colours=numeric_model.colouring(made.pattern),
        addresses=owner.addresses if isinstance(owner, Interpreter) else numeric_model.native_addresses(owner),
        initial=dict(
            zip(program.initial, formula_values(program, list(program.initial.values())).tolist(), strict=True)
        ),
        findings=built.findings,
        backend="python" if isinstance(owner, Interpreter) else "c",
        cached=built.cached,
        source=made.source,
        # The order is that of `failed` in a context: y, observables, unknowns solved inside.
        variables=(*names, *(o.name for o, _ in program.observables), *(program.names[k] for k in program.unknowns)),
        data=made.data,
        owner=owner,
    )


def _built(causal: CausalGraph, backend: Backend, form: CodeForm) -> tuple[Code, Build]:
    """The code and its library; without a compiler, the code that the interpreter runs, which is written out."""
    large = form == "looped" or (form == "auto" and len(causal.graph.ports) > LARGEST_UNROLLED)
    if backend == "python":
        # The interpreter runs statements, and only code that is written out has them.
        return unrolled_code(causal), Build(None)
    # Looped code computes its coefficients from the parameters when a run begins: a file of values alone cannot hold
    # that.
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


def base_values(program: Program, base: Sequence[str]) -> Array:
    """The values of the parameters that are not given by others.

    Raises: CompilerError naming those without a value.
    """
    values = parameter_values(program.parameters)
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


def formula_values(program: Program, expressions: Sequence[Expression]) -> Array:
    """The values of formulas of parameters."""
    values = parameter_values(program.parameters) if expressions else {}
    return np.array([e.evaluate(values) for e in expressions])


def _sample_groups(program: Program) -> tuple[numeric_model.SampleGroup, ...]:
    found = []
    for members in sample_groups(program.signals.samples):
        law = program.signals.samples[members[0]][0]
        period, offset = formula_values(program, [law.period, law.offset]).tolist()
        found.append(numeric_model.SampleGroup(period, offset, tuple(members)))
    return tuple(found)


def _delays(program: Program) -> tuple[numeric_model.SignalDelay, ...]:
    # The past is written from observables: a delay is known by the place of what goes into it.
    place = {k: i for i, (o, k) in enumerate(program.observables) if o.kind == "signal"}
    found = []
    for law, k in program.signals.delays:
        by, initial = formula_values(program, [law.by, law.initial]).tolist()
        found.append(numeric_model.SignalDelay(law.name, place[k], by, initial))
    return tuple(found)


def _crossings(program: Program) -> tuple[Expression, ...]:
    values = parameter_values(program.parameters) if program.signals.crossings else {}
    return tuple(
        e.substitute({n: number(values[n]) for n in e.free_symbols - {TIME}}) for e in program.signals.crossings
    )


def _breaks(program: Program) -> tuple[numeric_model.BreakTimes, ...]:
    found = []
    for known in program.signals.breaks:
        (at,) = formula_values(program, [known.at]).tolist()
        period = None if known.period is None else formula_values(program, [known.period]).tolist()[0]
        found.append(numeric_model.BreakTimes(at, period))
    return tuple(found)
