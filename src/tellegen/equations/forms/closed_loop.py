"""The closed loop: power equations and signals as one model, with references as inputs.

States of controllers and filters stand behind the displacements, with their own rates. What drives a source is written into the
equations in its place. Signals that depend on time alone are references: they become inputs.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from tellegen.core.errors import EquationError, TellegenError
from tellegen.core.names import TIME, listing
from tellegen.equations import rules
from tellegen.equations.derivation import rates_read
from tellegen.equations.matrices import Matrix, Vector, dot, zeros
from tellegen.equations.signal_equations import NO_SIGNALS, SignalEquations, SignalRates
from tellegen.equations.system import (
    NOTHING_MEASURED,
    Algebraic,
    EquationSystem,
    MatrixName,
)
from tellegen.expressions import ZERO, Expression, number, symbol
from tellegen.graph.signals import Delayed, External, Sampled, Table, Value
from tellegen.model.model import Model
from tellegen.model.signals import Signal, SignalDefinition, order_signals

# References


def references(signals: SignalEquations, constants: Iterable[str]) -> tuple[str, ...]:
    """The signals that depend on time alone."""
    # In the order of evaluation, a signal that reads references alone is one itself.
    known = {*constants, TIME}
    found: list[str] = []
    for law in signals.laws:
        if isinstance(law, Value | Table):
            read = law.expression.free_symbols if isinstance(law, Value) else law.argument.free_symbols
            # A signal of constants does not change, and is no input of anything.
            if read <= known and not read <= set(constants):
                known.add(law.name)
                found.append(law.name)
    return tuple(found)


def following_inputs(model: Model, given: Container[str] = ()) -> dict[str, Signal]:
    """The inputs that follow signals or variables through the experiment, unless a constant is given for them."""
    known = {*model.parameters, TIME}
    return {
        name: signal
        for name, signal in model.experiment.inputs.items()
        if name not in given and signal.expression is not None and signal.expression.free_symbols - known
    }


def algebraic_unknowns(signals: SignalEquations) -> tuple[str, ...]:
    """The signals and driven inputs that decide themselves at the same time, one for each loop that has to be cut."""
    formulas = {**signals.values, **signals.drivers}
    # The order of evaluation tears where signals read each other at the same time: each tear is an unknown.
    return order_signals(SignalDefinition(name, "formula", {"formula": e}) for name, e in formulas.items()).torn


def hold_signals(system: EquationSystem, at: Mapping[str, float]) -> EquationSystem:
    """The power equations with formulas of signals written into moduli and coefficients, at a time; sources stay inputs.

    States of signals keep the value at the point, else the one they start from.

    Raises: EquationError (E121) where a modulus or coefficient reads a sampled or delayed signal, a table or a function.
    """
    signals = system.signals
    power = replace(system, signals=NO_SIGNALS)
    entries = [*power.entries(), *system.displacements.values(), *system.where.values()]
    # Signals that only drive sources leave the power equations as they are.
    if not any(signals.names & e.free_symbols for e in entries):
        return system
    held: dict[str, Expression] = {TIME: number(at.get(TIME, 0.0))}
    # A state of a controller is where the point says, else where it starts.
    held |= {name: number(at[name]) if name in at else e for name, e in signals.initial.items()}
    for name, expression in signals.values.items():
        held[name] = expression.substitute(held)
    left = [law for law in signals.others if any(law.name in e.substitute(held).free_symbols for e in entries)]
    if left:
        raise _not_continuous("the model reads", left)
    return power.everywhere(lambda e: e.substitute(held))


def _not_continuous(reads: str, laws: Sequence[Sampled | Delayed | Table | External]) -> TellegenError:
    names = [law.name for law in laws]
    return rules.NOT_CONTINUOUS.error(
        f"{reads} {listing(names)}, which {'is' if len(names) == 1 else 'are'} no continuous function of states",
        where=names[0],
        fix="describe the continuous controller that it stands for, or simulate the loop",
        place=laws[0].place,
        members=names,
    )


# The loop as it is

_RATE = "@rate of "
"""Before the name of an input stands for its rate; no user can write it."""


def close_loop(system: EquationSystem, time: float = 0.0) -> EquationSystem:
    """The nonlinear closed loop at a time: inputs that no signal drives, then references; outputs, then signals.

    Raises: EquationError when a signal in the loop is sampled, delayed or a function, or needs the rate of a state.
    """
    return _Closing(system).system(number(time))


class _Closing:
    """Writes signals into the equations."""

    def __init__(self, system: EquationSystem) -> None:
        self.open = system
        self.signals = system.signals
        self.given = references(self.signals, system.parameters)
        # References are inputs of the loop, so their formulas are not written in.
        self.values = {n: e for n, e in self.signals.values.items() if n not in self.given}
        self.drivers = self.signals.drivers
        self.taken = self._taken()
        self.used = self._used()
        self._refuse_others()
        self.written: dict[str, Expression] = {}
        self.unknowns: dict[str, Expression] = {}
        self._write()

    def _taken(self) -> dict[str, Expression]:
        """What dependent storages take, where signals read it, by states and inputs; rates of free inputs stand by a name."""
        rows = rates_read(self.open)
        found: dict[str, Expression] = {}
        for name, C, D, D_1, rest in zip(rows.names, rows.C, rows.D, rows.D_1, rows.rest, strict=True):
            moving = [(e, self._rate_or_name(u)) for u, e in zip(self.open.inputs, D_1, strict=True) if e is not ZERO]
            by_rates = dot([e for e, _ in moving], [rate for _, rate in moving])
            by_states = dot(C, [symbol(x) for x in self.open.states])
            found[name] = by_states + dot(D, [symbol(u) for u in self.open.inputs]) + by_rates + rest
        return found

    def _rate_or_name(self, name: str) -> Expression:
        return self._rate(name) if name in self.drivers else symbol(_RATE + name)

    def _used(self) -> set[str]:
        """The signals that reach the power equations."""
        found: set[str] = set()
        power = replace(self.open, signals=NO_SIGNALS)
        # Backwards from the power equations: a signal that only a plot reads has no part in the loop.
        waiting = [*power.entries(), *power.displacements.values(), *power.where.values(), *self.drivers.values()]
        laws = {law.name: law for law in self.signals.laws}
        while waiting:
            for name in waiting.pop().free_symbols & (laws.keys() | self.taken.keys()):
                if name not in found:
                    found.add(name)
                    waiting += [self.taken[name]] if name in self.taken else SignalEquations((laws[name],)).entries()
        return found

    def _refuse_others(self) -> None:
        wrong = [law for law in self.signals.others if law.name in self.used and law.name not in self.given]
        if wrong:
            raise _not_continuous("the loop passes", wrong)

    def _write(self) -> None:
        """What values and driven inputs are by states, free inputs and references; loops leave unknowns."""
        formulas = {**self.values, **self.drivers, **self.taken}
        order = order_signals(SignalDefinition(name, "formula", {"formula": e}) for name, e in formulas.items())
        for definition in order.signals:
            expression = formulas[definition.name].substitute(self.written)
            if definition.name in order.torn:
                self.unknowns[definition.name] = expression
            else:
                self.written[definition.name] = expression

    def system(self, time: Expression) -> EquationSystem:
        """The finished loop."""
        m, v = self.open.matrices, self.open.vectors
        kept = [j for j, name in enumerate(self.open.inputs) if name not in self.drivers]
        # Columns of driven inputs leave B and D; what drives them goes into f and f_y.
        driven = [j for j in range(len(self.open.inputs)) if j not in kept]
        given = [name for name in self.given if name in self.used]
        shown = [name for name in self.values if self._is_shown(name)]
        inputs = (*(self.open.inputs[j] for j in kept), *given)
        rates = [_RATE + name for name in inputs]
        at_rest = dict.fromkeys(rates, ZERO)
        seen = [self.written.get(name, symbol(name)) for name in shown]
        # A signal that reads what a storage takes from a source reads the rate of that input: a row of D_1.
        by_rates = tuple(tuple(e.derivative(rate).substitute(at_rest) for rate in rates) for e in seen)
        moved: dict[MatrixName, Matrix] = {
            "B": self._with_columns(m["B"], kept, len(given)),
            "B_1": self._with_columns(m["B_1"], kept, len(given)),
            "D": self._with_columns(m["D"], kept, len(given)) + zeros(len(shown), len(inputs)),
            "D_1": self._with_columns(m["D_1"], kept, len(given)) + by_rates,
            "C": m["C"] + zeros(len(shown), len(self.open.states)),
        }
        f = tuple(a - b for a, b in zip(v["f"], self._shares(m["B"], m["B_1"], driven), strict=True))
        f_y = tuple(a + b for a, b in zip(v["f_y"], self._shares(m["D"], m["D_1"], driven), strict=True))
        states = {name: rate for name, rate in self.signals.states.items() if name in self.used}
        residuals = [symbol(name) - expression for name, expression in self.unknowns.items()]
        whole = replace(
            self.open,
            inputs=inputs,
            outputs=(*self.open.outputs, *shown),
            matrices={**m, **moved},
            vectors={"f": f, "f_y": (*f_y, *(e.substitute(at_rest) for e in seen))},
            displacements={**self.open.displacements, **states},
            algebraic=Algebraic(
                (*self.open.algebraic.unknowns, *self.unknowns), (*self.open.algebraic.residuals, *residuals)
            ),
            # The loop has states that store nothing, and its inputs are no sources: the books of energy do not apply.
            stored_energy=None,
            dissipated_power=ZERO,
            dependent={},
            initial={**self.open.initial, **{n: e for n, e in self.signals.initial.items() if n in states}},
            signals=NO_SIGNALS,
            measured=NOTHING_MEASURED,
        )
        closed = whole.everywhere(lambda e: e.substitute(self.written).substitute({TIME: time}))
        self._refuse_rates(closed, rates)
        return closed

    def _refuse_rates(self, closed: EquationSystem, rates: Sequence[str]) -> None:
        entries = [*closed.entries(), *closed.displacements.values()]
        for rate in rates:
            if any(rate in e.free_symbols for e in entries):
                name = rate.removeprefix(_RATE)
                raise rules.NO_CLOSED_LOOP.error(
                    f"a signal in the loop reads what a storage takes that the input '{name}' fixes: the rate of '{name}'",
                    where=name,
                    fix="put a small resistance or compliance between the source and the storage",
                )

    def _is_shown(self, name: str) -> bool:
        """Signals whose value follows from the closed loop."""
        expression = self.written.get(name, symbol(name))
        others = {law.name for law in self.signals.others} | self.signals.states.keys() | set(self.given)
        return not (expression.free_symbols & others) - self.used

    def _with_columns(self, matrix: Matrix, kept: list[int], more: int) -> Matrix:
        return tuple((*(row[j] for j in kept), *(ZERO,) * more) for row in matrix)

    def _shares(self, matrix: Matrix, of_rates: Matrix, driven: list[int]) -> Vector:
        """What driven inputs bring to each row."""
        names = [self.open.inputs[j] for j in driven]
        values = [symbol(name) for name in names]
        # Rates are asked for only where they count: most drivers have none that is known.
        needed = [any(row[j] is not ZERO for row in of_rates) for j in driven]
        rates = [self._rate(name) if needs else ZERO for name, needs in zip(names, needed, strict=True)]
        return tuple(
            dot([row[j] for j in driven], values) + dot([more[j] for j in driven], rates)
            for row, more in zip(matrix, of_rates, strict=True)
        )

    def _rate(self, name: str) -> Expression:
        whole = Value(name, self.drivers[name])
        signals = SignalEquations((*self.signals.laws, whole))
        known = SignalRates(signals, self.open.displacements, {}, self.open.parameters)
        try:
            return known.of(name)
        except EquationError as error:
            raise rules.NO_CLOSED_LOOP.error(
                f"the input '{name}' fixes a storage, and the rate of what drives it is not known",
                where=name,
                fix="put a small resistance or compliance between the source and the storage",
            ) from error
