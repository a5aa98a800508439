"""The closed loop and the plant: power equations and signals as one model.

States of controllers and filters stand behind the displacements, with their own rates. What drives a source is written into the
equations in its place. In the closed loop, signals that depend on time alone are references: they become inputs. The plant is the
same model cut open where controllers reach the power equations: what is cut becomes an input, and all else stays: a weight, a
battery, the drag of air.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from tellegen.core.errors import EquationError, TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.equations import rules
from tellegen.equations.derivation import rates_read
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, zeros
from tellegen.equations.signal_equations import NO_SIGNALS, SignalEquations, SignalRates
from tellegen.equations.system import (
    NOTHING_MEASURED,
    Algebraic,
    EquationSystem,
    MatrixName,
    linear_part,
    with_measured_outputs,
)
from tellegen.expressions import ZERO, Expression, call, number, relation, symbol
from tellegen.expressions.polynomials import interpolated
from tellegen.graph.signals import Delayed, External, Integral, Sampled, SignalLaw, Table, Value
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


def with_moduli_as_signals(model: Model, wanted: Iterable[str] | None) -> Model:
    """The model in which moduli that are to be inputs are signals of their own.

    A modulus is named by its element, or by its key where one element alone has it: `n` of the only transformer.
    """
    couplings = [e for e in model.elements if e.kind.role == "coupling" and e.value is not None]
    keys = [e.kind.quantity.key if e.kind.quantity else "" for e in couplings]
    taken = {*model.inputs, *model.parameters, *model.signals, *model.displacements}
    chosen: dict[str, str] = {}
    for name in (name for name in wanted or () if name not in taken):
        chosen |= {e.name: name for e, key in zip(couplings, keys, strict=True) if name == e.name}
        if name not in chosen and keys.count(name) == 1:
            chosen[couplings[keys.index(name)].name] = name
    if not chosen:
        return model
    signals = dict(model.signals)
    for element in couplings:
        if element.name in chosen and element.value is not None:
            name = chosen[element.name]
            signals[name] = SignalDefinition(name, "formula", {"formula": element.value}, place=element.place)
    elements = tuple(replace(e, value=symbol(chosen[e.name])) if e.name in chosen else e for e in model.elements)
    return replace(model, elements=elements, signals=signals)


def algebraic_unknowns(signals: SignalEquations) -> tuple[str, ...]:
    """The signals and driven inputs that decide themselves at the same time, one for each loop that has to be cut."""
    formulas = {**signals.values, **signals.drivers}
    # The order of evaluation tears where signals read each other at the same time: each tear is an unknown.
    return order_signals(SignalDefinition(name, "formula", {"formula": e}) for name, e in formulas.items()).torn


def _not_continuous(reads: str, laws: Sequence[Sampled | Delayed | Table | External]) -> TellegenError:
    names = [law.name for law in laws]
    return rules.NOT_CONTINUOUS.error(
        f"{reads} {listing(names)}, which {'is' if len(names) == 1 else 'are'} no continuous function of states",
        where=names[0],
        fix="describe the continuous controller that it stands for, or simulate the loop",
        place=laws[0].place,
        members=names,
    )


# Where a loop is cut

_RATE = "@rate of "
"""Before the name of an input stands for its rate; no user can write it."""


def controlled(system: EquationSystem, controllers: Container[str] = ()) -> tuple[str, ...]:
    """Where controllers reach the power equations: sources that they drive, then signals of them that moduli and laws read.

    A controller is what has a memory, or follows the time; `controllers` names signals that are ones besides.
    """
    signals = system.signals
    reads = {law.name: _read_by(law) for law in signals.laws}
    lead = {
        n.name for n in signals.laws if n.name in controllers or isinstance(n, Integral | Sampled | Delayed | External)
    }

    def follow(names: Iterable[str], ends: Container[str]) -> bool:
        return any(name in ends for name in _reached(names, reads))

    driven = [n for n, e in signals.drivers.items() if n in system.inputs and follow(e.free_symbols, {*lead, TIME})]
    # The rate of a modulus between storages would be an input too, so such a loop stays closed.
    read = _symbols(_power_entries(system)) - energy_names(system)
    # What time alone moves is as it is at that time: only feedback is cut.
    return (*driven, *(law.name for law in signals.laws if law.name in read and follow((law.name,), lead)))


def inputs_chosen(
    system: EquationSystem, wanted: Iterable[str] | None, controllers: Container[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where the plant is cut, and which constants are inputs of plant and loop; by default cut where controllers are.

    Raises: EquationError (E134) for a name that is none of these.
    """
    names = tuple(dict.fromkeys(wanted or ()))
    known = (*system.inputs, *(law.name for law in system.signals.laws), *system.parameters)
    for name in names:
        if name not in known:
            fix = did_you_mean(name, known) or f"some that are: {listing(known, 20)}"
            raise rules.NO_SUCH_INPUT.error(
                f"'{name}' is no source, signal, parameter or modulus of '{system.name}'", where=system.name, fix=fix
            )
    # A source that nothing drives is an input anyway.
    given = [name for name in names if name not in system.inputs or name in system.signals.drivers]
    moved = moved_names(system)
    cut = tuple(name for name in given if name in moved)
    constants = tuple(name for name in given if name not in moved)
    # A constant opens no loop: named alone, it leaves the cut where controllers are.
    if wanted is None or (constants and not cut):
        cut = tuple(name for name in controlled(system, controllers) if name not in constants)
    return cut, constants


def moved_names(system: EquationSystem) -> frozenset[str]:
    """The signals and driven sources that do not follow from constants and the time: cut there, a loop opens."""
    signals = system.signals
    formulas = {law.name: _read_by(law) for law in signals.laws} | {
        n: e.free_symbols for n, e in signals.drivers.items()
    }
    known = {*system.parameters, TIME}
    lasting = {law.name for law in signals.laws if isinstance(law, Integral | Sampled | Delayed)}
    # Round after round, as signals of a loop read each other in any order.
    while new := {n for n, read in formulas.items() if n not in known and n not in lasting and read <= known}:
        known |= new
    return frozenset(formulas.keys() - known)


def energy_names(system: EquationSystem) -> frozenset[str]:
    """What the energy of storages reads: the rate of such a signal or parameter counts beside its value."""
    rows = [*system.matrices["L"], tuple(system.dependent.values())]
    reads = {name: e.free_symbols for name, e in (*system.where.items(), *system.signals.values.items())}
    return frozenset(_reached(_symbols(e for row in rows for e in row), reads))


def _read_by(law: SignalLaw) -> frozenset[str]:
    return _symbols(SignalEquations((law,)).entries())


def _symbols(entries: Iterable[Expression]) -> frozenset[str]:
    return frozenset().union(*(e.free_symbols for e in entries))


def _reached(names: Iterable[str], reads: Mapping[str, frozenset[str]]) -> set[str]:
    """The names, what they read, and so on."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += reads.get(name, ())
    return found


def _power_entries(system: EquationSystem) -> list[Expression]:
    """The formulas of the power equations themselves: no books, no signals and nothing that is only read."""
    power = replace(
        system,
        signals=NO_SIGNALS,
        measured=NOTHING_MEASURED,
        dependent={},
        stored_energy=None,
        dissipated_power=ZERO,
        potential_energy=ZERO,
    )
    return [*power.entries(), *power.displacements.values(), *power.where.values()]


# The model with its signals in it


def close_loop(system: EquationSystem, time: float = 0.0, inputs: Sequence[str] = ()) -> EquationSystem:
    """The nonlinear closed loop at a time: inputs that no signal drives, then references; outputs, then signals.

    `inputs` names what is an input besides: parameters, and signals that follow from constants.

    Raises: EquationError when a signal in the loop is sampled, delayed or a function, or needs the rate of a state.
    """
    return _Closing(system, inputs).system(number(time))


def open_loop(system: EquationSystem, cut: Sequence[str], at: Mapping[str, float]) -> EquationSystem:
    """The plant at the time of a point: the model cut open at sources, signals and parameters, which become inputs.

    What is sampled or delayed keeps the value that it has at the point. The outputs are those conjugate to sources among the
    inputs, and what is measured; with other inputs, signals that are formulas besides.

    Raises: EquationError (E121) where a Python function computes what the equations read; (E122) where the rate of what is cut
    would count.
    """
    signals = system.signals
    # Signals that only drive the sources that are cut leave the power equations as they are.
    if set(cut) == signals.drivers.keys() and not _symbols(_power_entries(system)) & signals.names:
        return system
    wrong = [name for name in cut if name in energy_names(system)]
    if wrong:
        raise rules.NO_CLOSED_LOOP.error(
            f"{listing(wrong)} cannot be an input: storages share their energy by it, so that its rate would be one too",
            where=wrong[0],
            fix="take what it follows from as an input",
        )
    lasting = [law for law in signals.others if isinstance(law, Sampled | Delayed)]
    held = {law.name: number(at[law.name]) if law.name in at else law.initial for law in lasting}
    read = with_measured_outputs(system)
    made = _Closing(read, cut, held, whole=False).system(number(at.get(TIME, 0.0)))
    kept = [y for u, y in zip(system.inputs, system.outputs, strict=True) if u in made.inputs]
    # What was asked for stays, though the source that it belongs to is no input any more.
    measured = [name for name in system.measured.names if name not in kept]
    # What controllers read; a course over time answers no input.
    further = made.outputs[len(read.outputs) :] if any(name not in system.inputs for name in made.inputs) else ()
    moved = moved_names(system)
    shown = [name for name in further if name in moved and name not in (*kept, *measured)]
    return _straightened(with_measured_outputs(made, (*kept, *measured, *shown)))


def signals_written_in(system: EquationSystem, cut: Sequence[str], wanted: Iterable[str]) -> EquationSystem:
    """The model over time, with what drives its sources and moduli in the equations; what is cut is an input instead.

    Signals that are `wanted` are among the outputs, or the displacements, beside those that the equations read.

    Raises: EquationError (E121) where a signal that the equations read is sampled, delayed or a function.
    """
    return _Closing(system, cut, whole=False, wanted=wanted).system(symbol(TIME))


def held_signals(system: EquationSystem, cut: Collection[str]) -> tuple[str, ...]:
    """The sampled and delayed signals that a model cut open still reads: they keep their values in its linear model."""
    reads = {law.name: _read_by(law) for law in system.signals.laws if law.name not in cut}
    drivers = [e for name, e in system.signals.drivers.items() if name not in cut]
    found = _reached(_symbols([*_power_entries(system), *drivers]) - {*cut}, reads)
    lasting = (law.name for law in system.signals.others if isinstance(law, Sampled | Delayed))
    return tuple(name for name in lasting if name in found and name not in cut)


def signal_values(system: EquationSystem, at: Mapping[str, float]) -> dict[str, float]:
    """The values of a point with those of signals and driven sources that follow from them; memories are as they begin."""
    signals = _with_formulas(system.signals, NOTHING_HELD)
    variables = (*system.states, *system.displacements, *system.inputs, TIME)
    free = {name: 0.0 for name in variables if name not in signals.drivers}
    known = {**system.values(), **free, **at}
    begun = {law.name: law.initial for law in signals.laws if isinstance(law, Integral | Sampled | Delayed)}
    for name, formula in (*begun.items(), *signals.values.items(), *signals.drivers.items()):
        # What cannot be told from here, as a loop without a memory, is asked of the point.
        if name not in known and formula.free_symbols <= known.keys():
            known[name] = formula.evaluate(known)
    return known


def _straightened(system: EquationSystem) -> EquationSystem:
    """A model that is linear but for constants as the linear model of deviations; others as they are."""
    variables = (*system.states, *system.inputs, *system.displacements, *system.algebraic.unknowns)
    m, v = system.matrices, system.vectors
    f, f_y = (
        [linear_part(e, system.states, system.inputs, variables, system.where) for e in v[name]]
        for name in ("f", "f_y")
    )
    if any(part.rest.free_symbols & {*variables} for part in (*f, *f_y)):
        return system
    moved: dict[MatrixName, Matrix] = {
        "A": plus(m["A"], tuple(part.row for part in f)),
        "B": plus(m["B"], negative(tuple(part.row_u for part in f))),
        "C": plus(m["C"], tuple(part.row for part in f_y)),
        "D": plus(m["D"], tuple(part.row_u for part in f_y)),
    }
    constant = {"f": (ZERO,) * len(f), "f_y": (ZERO,) * len(f_y)}
    found = replace(system, matrices={**m, **moved}, vectors=constant)  # type: ignore[arg-type]
    return found if found.linear else system


def _with_formulas(signals: SignalEquations, held: Mapping[str, Expression]) -> SignalEquations:
    """The signals with tables as the formulas of their curves, and those that are held as numbers."""

    def of(law: SignalLaw) -> SignalLaw:
        if law.name in held:
            return Value(law.name, held[law.name], (), law.place)
        return Value(law.name, _curve(law), (), law.place) if isinstance(law, Table) else law

    return replace(signals, laws=tuple(map(of, signals.laws)))


def _curve(table: Table) -> Expression:
    """A table as a formula; beyond its points the last value holds."""
    points = [(Fraction(x), Fraction(y)) for x, y in zip(table.points, table.values, strict=True)]
    if len(points) == 1:
        return number(points[0][1])
    x = call("max", call("min", table.argument, number(points[-1][0])), number(points[0][0]))
    if table.interpolation != "previous":
        return interpolated(points, x, smooth=table.interpolation == "cubic")
    return _steps_between(points, x)


def _steps_between(points: Sequence[tuple[Fraction, Fraction]], x: Expression) -> Expression:
    """The value of the last point that was passed."""
    if len(points) == 1:
        return number(points[0][1])
    # Halved, as a chain of thousands of conditions would be as deep as it is long.
    middle = len(points) // 2
    before, after = _steps_between(points[:middle], x), _steps_between(points[middle:], x)
    return call("if", relation("<", x, number(points[middle][0])), before, after)


def _without_parameters(system: EquationSystem, names: Collection[str]) -> EquationSystem:
    """The system in which some parameters are variables, and those that follow from them are written out."""
    if not any(name in system.parameters for name in names):
        return system
    written: dict[str, Expression] = {}
    for name, meaning in system.parameters.items():
        formula = None if meaning is None or name in names else meaning.substitute(written)
        if formula is not None and formula.free_symbols & {*names}:
            written[name] = formula
    left = {n: e for n, e in system.parameters.items() if n not in names and n not in written}
    return replace(system.everywhere(lambda e: e.substitute(written)) if written else system, parameters=left)


NOTHING_HELD: Mapping[str, Expression] = MappingProxyType({})


class _Closing:
    """Writes signals into the equations.

    `inputs` are inputs beside the sources that no signal drives. Of the `whole` loop references are inputs too. `held` gives the
    values of sampled and delayed signals that stay as they are. Signals that are `wanted` are part of it, whoever reads them.
    """

    def __init__(
        self,
        system: EquationSystem,
        inputs: Sequence[str] = (),
        held: Mapping[str, Expression] = NOTHING_HELD,
        *,
        whole: bool = True,
        wanted: Iterable[str] = (),
    ) -> None:
        self.wanted = tuple(wanted)
        self.open = _without_parameters(system, inputs)
        self.signals = _with_formulas(self.open.signals, held)
        self.cut = frozenset(inputs)
        found = references(self.signals, self.open.parameters) if whole else ()
        further = [name for name in inputs if name not in (*found, *system.inputs)]
        self.given = (*found, *further)
        # References are inputs of the loop, so their formulas are not written in.
        self.values = {n: e for n, e in self.signals.values.items() if n not in self.given}
        self.drivers = {n: e for n, e in self.signals.drivers.items() if n not in self.cut}
        self.taken = self._taken()
        self.used = self._used() | (self.cut & system.parameters.keys())
        self._refuse_others()
        self.written: dict[str, Expression] = {}
        self.unknowns: dict[str, Expression] = {}
        self._write()

    def _taken(self) -> dict[str, Expression]:
        """What dependent storages take, where signals read it, by states and inputs; rates of free inputs stand by a name."""
        rows = rates_read(self.open)
        found: dict[str, Expression] = {}
        for name, C, D, D_1, rest in zip(rows.names, rows.C, rows.D, rows.D_1, rows.rest, strict=True):
            moving = [
                (e, self._rate(u) if u in self.drivers else symbol(_RATE + u))
                for u, e in zip(self.open.inputs, D_1, strict=True)
                if e is not ZERO
            ]
            by_rates = dot([e for e, _ in moving], [rate for _, rate in moving])
            by_states = dot(C, [symbol(x) for x in self.open.states])
            found[name] = by_states + dot(D, [symbol(u) for u in self.open.inputs]) + by_rates + rest
        return found

    def _used(self) -> set[str]:
        """The signals that reach the power equations."""
        found: set[str] = set()
        # Backwards from the power equations: a signal that only a plot reads has no part in the loop.
        waiting = [*_power_entries(self.open), *self.drivers.values(), *map(symbol, self.wanted)]
        laws = {law.name: law for law in self.signals.laws}
        while waiting:
            for name in waiting.pop().free_symbols & (laws.keys() | self.taken.keys()):
                if name not in found:
                    found.add(name)
                    # What is cut is given from outside, and what it was made of does not matter.
                    if name not in self.cut:
                        law = laws.get(name)
                        waiting += [self.taken[name]] if law is None else SignalEquations((law,)).entries()
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
        states = {n: rate for n, rate in self.signals.states.items() if n in self.used and n not in self.cut}
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
            potential_energy=ZERO,
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
        # What is cut changes as it likes: no rate of it is known.
        signals = SignalEquations((*(law for law in self.signals.laws if law.name not in self.cut), whole))
        known = SignalRates(signals, self.open.displacements, {}, self.open.parameters)
        try:
            return known.of(name)
        except EquationError as error:
            raise rules.NO_CLOSED_LOOP.error(
                f"the input '{name}' fixes a storage, and the rate of what drives it is not known",
                where=name,
                fix="put a small resistance or compliance between the source and the storage",
            ) from error
