"""From a model with its experiment to a block diagram."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from tellegen.core.names import TIME
from tellegen.description import Model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.signal_equations import SignalRates
from tellegen.equations.system import EquationSystem
from tellegen.experiments.setting_up import Setup, set_up
from tellegen.experiments.simulating import simulate
from tellegen.exporting import rules
from tellegen.exporting.diagrams import (
    NO_UNKNOWNS,
    Diagram,
    Formula,
    Hold,
    Inertia,
    Integrator,
    Unknowns,
    in_order,
)
from tellegen.expressions import ZERO, Expression, number, symbol, total
from tellegen.graph.laws import ResistiveLaw, StorageLaw
from tellegen.graph.signals import Delayed, External, Sampled, Table
from tellegen.results import Run
from tellegen.schemes import Block, Summation, pog

STIFF = 2e4
"""So many times faster than the experiment is too fast for an explicit method in an interpreter."""
MOST_STOPS = 100_000


@final
@dataclass(frozen=True)
class _Start:
    """A model before its first step: its equations, its values, and where it begins."""

    setup: Setup
    system: EquationSystem
    run: Run

    def initial(self, name: str) -> float:
        """The value of a state or unknown at the start."""
        return float(self.run.values(name)[0])


def block_diagram(model: Model, *, until: float | None = None) -> Diagram:
    """The diagram of a model with the inputs, parameters and start of its experiment.

    Raises: ExportError for what a block diagram cannot hold: elements with modes, delays, Python functions.
    """
    setup = set_up(model, until=until)
    _refuse(setup, derive_equations(setup.causal))
    start = _Start(setup, derive_equations(setup.causal), simulate(model, until=until, samples=1))
    return _ladder(start) or _vector(start)


def _refuse(setup: Setup, system: EquationSystem) -> None:
    if setup.graph.switching:
        names = [setup.graph.ports[k].element for k in setup.graph.switching]
        raise rules.MODES.error(
            f"'{names[0]}' has modes, which a block diagram does not hold",
            where=names[0],
            fix="replace it by a law with a small and a large resistance",
        )
    for law in system.signals.others:
        if isinstance(law, Delayed | External):
            what = "is delayed" if isinstance(law, Delayed) else "is a Python function"
            raise rules.SIGNALS.error(f"the signal '{law.name}' {what}, which is not exported", where=law.name)


# -- What both kinds share -------------------------------------------------------------------------------------------------------


def _inputs(start: _Start) -> Iterator[Formula]:
    drivers = start.system.signals.drivers
    for name in start.system.inputs:
        expression = drivers.get(name, number(start.setup.inputs.get(name, 0.0)))
        known = {*start.setup.parameters, TIME}
        yield Formula(name, "source" if expression.free_symbols <= known else "function", expression)


def _signals(system: EquationSystem) -> Iterator[Formula]:
    for name, expression in system.signals.values.items():
        yield Formula(name, "function", expression)


def _moving(system: EquationSystem) -> Iterator[Formula]:
    for name, expression in system.where.items():
        yield Formula(name, "function", expression)


def _further_states(start: _Start) -> tuple[list[Formula], list[Integrator]]:
    """Displacements and the states of signals."""
    rates = {**start.system.displacements, **start.system.signals.states}
    formulas = [Formula(f"{name}_rate", "function", rate) for name, rate in rates.items()]
    integrators = [Integrator(name, f"{name}_rate", start.initial(name)) for name in rates]
    return formulas, integrators


def _finished(start: _Start, formulas: list[Formula], integrators: list[Integrator], **more: object) -> Diagram | None:
    system, setup = start.system, start.setup
    further, states = _further_states(start)
    tables = tuple(law for law in system.signals.others if isinstance(law, Table))
    everything: list[Formula | Table] = [
        *_inputs(start),
        *_signals(system),
        *_moving(system),
        *formulas,
        *further,
        *tables,
    ]
    ordered = in_order(everything)
    if ordered is None:
        return None
    stops = tuple(float(t) for t in setup.numeric.break_times(setup.until)[:MOST_STOPS] if 0 < t < setup.until)
    return Diagram(
        system.name,
        setup.parameters,
        ordered,
        (*integrators, *states),
        (*system.states, *system.displacements, *system.signals.states, *system.inputs),
        setup.until,
        holds=_holds(start),
        stops=stops,
        stiff=_is_stiff(setup, start.run),
        **more,  # type: ignore[arg-type]
    )


def _is_stiff(setup: Setup, run: Run) -> bool:
    """Whether an explicit method would need a great many steps."""
    model, y = setup.numeric, run.trajectory.y[0]
    if not model.explicit or not len(y):
        return not model.explicit
    columns = [model.rhs_tangent(0.0, y, direction) for direction in np.eye(len(y))]
    return bool(np.abs(np.linalg.eigvals(np.array(columns))).max() * setup.until > STIFF)


def _holds(start: _Start) -> tuple[Hold, ...]:
    values = start.setup.parameters
    return tuple(
        Hold(
            law.name,
            law.expression,
            law.period.evaluate(values),
            law.offset.evaluate(values),
            law.initial.evaluate(values),
        )
        for law in start.system.signals.others
        if isinstance(law, Sampled)
    )


# -- A ladder --------------------------------------------------------------------------------------------------------------------


def _ladder(start: _Start) -> Diagram | None:
    """The diagram of a scalar ladder, or None where it cannot be one."""
    scheme = pog(start.setup.causal)
    if scheme.vectorial or start.system.algebraic.unknowns or not start.system.is_zero("B_1"):
        return None
    columns = {
        name: column.name for ladder in scheme.ladders for column in ladder.all_columns() for name in column.blocks
    }
    columns |= {
        name: column.name for ladder in scheme.ladders for column in ladder.all_columns() for name in column.summations
    }
    formulas: list[Formula] = []
    integrators: list[Integrator] = []
    for block in scheme.blocks.values():
        made = _block(block, columns.get(block.name, ""), start)
        if made is None:
            return None
        formulas += made[0]
        integrators += made[1]
    formulas += [_sum(item, columns.get(item.output, "")) for item in scheme.summations.values()]
    order = tuple(dict.fromkeys(columns.values()))
    return _finished(start, formulas, integrators, columns=order)


def _block(block: Block, column: str, start: _Start) -> tuple[list[Formula], list[Integrator]] | None:
    """The blocks of one element, or None where it needs more than its own input."""
    if block.field or block.terms or block.kind in ("derivative", "transfer"):
        return None
    if block.kind == "storage":
        return _storage(block, column, start)
    input_ = symbol(block.input)
    if block.gain is not None:
        constant = block.gain.free_symbols <= start.setup.parameters.keys()
        kind, factor = ("gain", block.gain) if constant else ("function", None)
        return [Formula(block.output, kind, block.gain * input_, ((block.input, 1),), factor, column)], []  # type: ignore[arg-type]
    if isinstance(block.law, ResistiveLaw) and block.law.expression is not None:
        return [Formula(block.output, "function", block.law.value_at(input_), column=column)], []
    return None


def _storage(block: Block, column: str, start: _Start) -> tuple[list[Formula], list[Integrator]] | None:
    values = start.setup.parameters
    if block.gain is not None and block.gain.free_symbols <= values.keys():
        energy = block.energy or f"{block.output}_energy"
        first = start.initial(block.output) / block.gain.evaluate(values)
        gain = Formula(block.output, "gain", block.gain * symbol(energy), ((energy, 1),), block.gain, column)
        return [gain], [Integrator(energy, block.input, first, column)]
    if not isinstance(block.law, StorageLaw) or block.law.keeps_energy_variable:
        return None
    # A storage whose constant moves with its output: output' = input / inertia(output).
    rate = f"{block.output}_rate"
    slope = symbol(block.input) / block.law.inertia_at(symbol(block.output))
    return [Formula(rate, "function", slope, column=column)], [
        Integrator(block.output, rate, start.initial(block.output), column)
    ]


def _sum(item: Summation, column: str) -> Formula:
    expression = total(symbol(name) if sign > 0 else -symbol(name) for name, sign in item.inputs)
    return Formula(item.output, "sum", expression, item.inputs, column=column)


# -- The vector block ------------------------------------------------------------------------------------------------------------


def _vector(start: _Start) -> Diagram:
    """L x' = -A x - N x - f + B u + B_1 u', one row each."""
    system = start.system
    rates = _input_rates(start)
    formulas = [*rates, *(_row(system, k) for k in range(len(system.states)))]
    x_rates = tuple(f"{name}_rate" for name in system.states)
    integrators = [Integrator(name, f"{name}_rate", start.initial(name)) for name in system.states]
    inertia = Inertia(x_rates, system.matrices["L"], tuple(f"{name}_sum" for name in system.states))
    unknowns = NO_UNKNOWNS
    if system.algebraic.unknowns:
        names = system.algebraic.unknowns
        guesses = tuple(_guess(start, name) for name in names)
        unknowns = Unknowns(names, system.algebraic.residuals, guesses)
    made = _finished(start, formulas, integrators, inertia=inertia, unknowns=unknowns, vectorial=True)
    if made is None:
        raise rules.SIGNALS.error(f"the signals of '{system.name}' go in a circle without a state", where=system.name)
    return made


def _row(system: EquationSystem, k: int) -> Formula:
    x, u = [symbol(name) for name in system.states], [symbol(name) for name in system.inputs]
    m = system.matrices
    arriving = [-a * v for a, v in zip(m["A"][k], x, strict=True)]
    arriving += [-n * v for n, v in zip(m["N"][k], x, strict=True)] if not system.is_zero("N") else []
    arriving += [b * v for b, v in zip(m["B"][k], u, strict=True)]
    if not system.is_zero("B_1"):
        arriving += [b * symbol(f"{n}_slope") for b, n in zip(m["B_1"][k], system.inputs, strict=True) if b is not ZERO]
    arriving.append(-system.vectors["f"][k])
    return Formula(f"{system.states[k]}_sum", "function", total(arriving))


def _input_rates(start: _Start) -> list[Formula]:
    """How fast inputs change, where a dependent storage meets them."""
    system = start.system
    if system.is_zero("B_1"):
        return []
    met = [j for j in range(len(system.inputs)) if any(row[j] is not ZERO for row in system.matrices["B_1"])]
    known = SignalRates(system.signals, system.displacements, start.setup.graph.moving, set(start.setup.parameters))
    return [
        Formula(
            f"{system.inputs[j]}_slope", "function", _rate(system.signals.drivers.get(system.inputs[j]), known, start)
        )
        for j in met
    ]


def _rate(driver: Expression | None, known: SignalRates, start: _Start) -> Expression:
    if driver is None:
        return ZERO
    names: Mapping[str, float] = start.setup.parameters
    return total(driver.derivative(n) * known.of(n) for n in sorted(driver.free_symbols) if n not in names)


def _guess(start: _Start, name: str) -> float:
    places = start.setup.numeric.names
    row = start.run.trajectory.y[0]
    return float(row[places.index(name)]) if name in places else 0.0
