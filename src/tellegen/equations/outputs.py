"""Power variables of ports that are neither states nor inputs, as formulas of these, and the rows of what is measured.

What a dependent storage takes is the rate of its content, so that a force between two rigid masses reads accelerations. These are
replaced from the equations, as they are in the outputs of sources that such storages follow.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import final

from tellegen.causality import CausalGraph
from tellegen.core.names import TIME, listing, unused
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product
from tellegen.equations.signal_equations import SignalEquations, jumps
from tellegen.equations.storages import Congruence
from tellegen.equations.structure import CausalStructure, ResistiveSolution, causal_structure, solve_resistive
from tellegen.equations.system import EquationSystem, Measured, linear_part
from tellegen.expressions import ZERO, Expression, symbol, total
from tellegen.expressions.elimination import Entry, NamedEntries, with_definitions
from tellegen.graph import SourceLaw, StorageLaw
from tellegen.graph.signal_lowering import taken_names
from tellegen.graph.signals import Value
from tellegen.model.model import Element, Model, known_variables
from tellegen.model.signals import SignalDefinition
from tellegen.notations.signals.blocks import FORMULA

SENSOR = "across"
"""The block of signals that is an ideal sensor between two nodes."""


def measurable_names(model: Model) -> tuple[str, ...]:
    """Variables of elements, inputs, displacements, signals and powers."""
    # An energy is no function of states and inputs alone that a row could hold: it is a square.
    energies = {f"energy.{element.name}" for element in model.elements}
    variables = (name for name in known_variables(model.elements) if name not in energies)
    return tuple(dict.fromkeys((*variables, *model.displacements, *model.signals)))


def detected_names(model: Model) -> tuple[str, ...]:
    """What the detectors of a model read: De and Df of a bond graph, and sensors between nodes.

    The ideal sensors that joints of a mechanism bring along have dotted names of no part, and are not counted.
    """
    parts = {part.name for part in model.parts}
    detectors = [e.name for e in model.elements if _is_detector(e) and _is_described(e.name, parts)]
    sensors = [name for name, signal in model.signals.items() if signal.block == SENSOR and _is_described(name, parts)]
    return (*detectors, *sensors)


def _is_detector(element: Element) -> bool:
    """An element without power whose free variable has its name."""
    return element.kind.role == "resistive" and element.value is ZERO and element.name in element.variables.values()


def _is_described(name: str, parts: set[str]) -> bool:
    head, dot, _ = name.partition(".")
    return not dot or head in parts


def with_measured_signals(model: Model, names: Sequence[str]) -> tuple[Model, dict[str, str]]:
    """The model with a signal for every variable that is to be measured, and the signal of each name."""
    signals = dict(model.signals)
    found: dict[str, str] = {}
    for name in names:
        # As a signal, a variable of a coupling or a difference of nodes is lowered like any other, and needs no case
        # here.
        found[name] = name if name in model.signals else _measured_name(name, model, signals)
        if found[name] not in signals:
            signals[found[name]] = SignalDefinition(found[name], FORMULA, {FORMULA: symbol(name)})
    return replace(model, signals=signals), found


def _measured_name(name: str, model: Model, signals: dict[str, SignalDefinition]) -> str:
    taken = {*signals, *model.parameters, *model.displacements, *known_variables(model.elements)}
    return unused(f"{name.replace('.', '_')}_measured", taken)


class PortVariables:
    """Finds what a variable of a port is once the resistive laws are solved.

    With `rates`, what rates of states decide, in dependent storages, stands by its name in what depends on it.
    """

    def __init__(self, structure: CausalStructure, told: ResistiveSolution, *, rates: bool = False) -> None:
        self.structure = structure
        self.causal = structure.causal
        self.told = told
        self.following = set(self.causal.derivative)
        self.rates = rates
        self.port_of_variable = {}
        for k, port in enumerate(self.causal.graph.ports):
            # Every variable of a port is decided or told: those decided are known by the law, those told by the
            # interconnection.
            self.port_of_variable[port.variable(self.causal.decides[k])] = (k, True)
            self.port_of_variable[port.variable(self.causal.follows(k))] = (k, False)

    def replacements(self, names: Iterable[str]) -> dict[str, Expression]:
        """Expressions of states, inputs and unknowns for the names that stand for something else.

        What the rate of a state decides, in a dependent storage, keeps its name.
        """
        found = {}
        for name in names:
            if name in self.port_of_variable:
                known = self._variable(*self.port_of_variable[name])
                # A variable that stands for itself would be replaced by itself for ever.
                if known is not None and known is not symbol(name):
                    found[name] = known
        return found

    def _variable(self, port: int, decided: bool) -> Expression | None:
        if decided:
            # It is the rate of a content: only the finished equations can say what it is.
            return None if port in self.following else self._decided(port)
        by_rates = any(j in self.following for j in self.structure.gains[port])
        return None if by_rates and not self.rates else self._told(port)

    def _told(self, k: int) -> Expression:
        found = self._sum(self.structure.gains[k])
        # Power counts into elements and out of sources: the conjugate of an input has the sign of the output y.
        return -found if isinstance(self.causal.graph.ports[k].law, SourceLaw) else found

    def _decided(self, k: int) -> Expression:
        port = self.causal.graph.ports[k]
        # Nonlinear laws first: they are written out already, over whatever they read.
        if k in self.told.decided:
            return self.told.decided[k]
        if k in self.following:
            return symbol(port.variable(self.causal.decides[k]))
        if isinstance(port.law, SourceLaw):
            return symbol(port.law.input)
        if isinstance(port.law, StorageLaw):
            return symbol(port.state)
        return self._sum(self.told.resistive[k])

    def _sum(self, row: Mapping[int, Entry]) -> Expression:
        return total(gain.expression * self._decided(j) for j, gain in row.items())


@final
class VariableSubstitution:
    """Expressions of moduli written over states, inputs, displacements and time.

    Outputs of dependent storages, variables of resistive elements and signals that are formulas are replaced by what they are.
    """

    def __init__(
        self,
        structure: CausalStructure,
        told: ResistiveSolution,
        where: Mapping[str, Expression],
        signals: SignalEquations,
    ) -> None:
        ports = structure.causal.graph.ports
        self.known = PortVariables(structure, told)
        self.where = where
        self.unknowns = frozenset(told.unknowns)
        # A dependent storage has a state by name and none in the equations.
        following = {ports[k].state for k in structure.causal.derivative}
        self.given = {p.law.input if isinstance(p.law, SourceLaw) else p.state for p in ports} - following - {""}
        variables = {name for p in ports for name in (p.across, p.through, p.state)} - {""}
        self.formulas = _reading(signals, variables)
        self.names = variables | self.formulas.keys()

    def written(self, expression: Expression) -> Expression:
        """The expression with everything replaced that follows from states and inputs; a circle of names is left as it is."""
        found = with_definitions(expression, self.where)
        # A formula cannot be longer than there are names, unless they form a circle; that is left as it stands.
        for _ in range(len(self.names)):
            wanted = self.unsettled(found)
            formulas = {name: self.formulas[name] for name in wanted & self.formulas.keys()}
            replaced = formulas | self.known.replacements(wanted)
            if not replaced:
                break
            found = with_definitions(found.substitute(replaced), self.where)
        return found

    def following(self, expression: Expression) -> set[str]:
        """Names of variables and formulas that are neither states, inputs nor unknowns."""
        return {n for n in expression.free_symbols & self.names if n not in self.given and n not in self.unknowns}

    def followed(self, names: Iterable[str]) -> dict[str, Expression]:
        """What names stand for, one step away; those that only rates of states decide are left out."""
        wanted = list(names)
        found = {name: self.formulas[name] for name in wanted if name in self.formulas}
        found |= self.known.replacements(name for name in wanted if name not in found)
        return {name: with_definitions(e, self.where) for name, e in found.items()}

    def unsettled(self, expression: Expression) -> set[str]:
        """Names of variables that are neither states nor inputs."""
        return {n for n in expression.free_symbols if n in self.names and n not in self.given} | (
            expression.free_symbols & self.unknowns
        )


def _reading(signals: SignalEquations, variables: Set[str]) -> dict[str, Expression]:
    """Signals that are smooth formulas of power variables, themselves or through each other."""
    found: dict[str, Expression] = {}
    for name, expression in signals.values.items():
        # A formula that jumps has no rate where it does, so it keeps its name, and a modulus that reads it is refused.
        if expression.free_symbols & (variables | found.keys()) and not jumps(expression):
            found[name] = expression
    return found


def port_readings(causal: CausalGraph, names: Iterable[str]) -> dict[str, Expression]:
    """What variables of ports are by states, inputs and algebraic unknowns; those that stand for themselves are left out.

    What a dependent storage takes follows from rates and keeps its name; one without inertia takes nothing.
    """
    graph = causal.graph
    field = NamedEntries(graph.parameters, (*taken_names(graph), TIME))
    structure = causal_structure(causal, field)
    found = PortVariables(structure, solve_resistive(structure, field), rates=True).replacements(names)
    nothing: dict[str, Expression] = {}
    for k in causal.derivative:
        law = graph.ports[k].law
        # What has no content takes nothing, however it is moved.
        if isinstance(law, StorageLaw) and law.inertia is ZERO:
            nothing[graph.ports[k].variable(causal.decides[k])] = ZERO
    return {name: with_definitions(e, field.where).substitute(nothing) for name, e in found.items()}


@final
class Readings:
    """Writes what is measured as rows; `times_inverse` gives the rows of P L^-1."""

    def __init__(
        self,
        structure: CausalStructure,
        told: ResistiveSolution,
        shared: Congruence,
        moved: Mapping[int, Expression],
        times_inverse: Callable[[Matrix], Matrix],
    ) -> None:
        self.causal = structure.causal
        self.variables = PortVariables(structure, told, rates=True)
        self.shared = shared
        self.moved = moved
        self.times_inverse = times_inverse
        ports = self.causal.graph.ports
        # The order of the rows of T.
        order = [*self.causal.integral, *self.causal.derivative]
        self.rates = {ports[k].variable(self.causal.decides[k]): order.index(k) for k in self.causal.derivative}
        self.formulas = {law.name: law.expression for law in self.causal.graph.signals if isinstance(law, Value)}

    def measured(self, system: EquationSystem, names: Mapping[str, str]) -> Measured:
        """The rows of what is named, by the formula of its signal.

        Raises: EquationError (E133) for what is no function of states, displacements and inputs.
        """
        known = {*system.states, *system.inputs, *system.displacements, *system.algebraic.unknowns}
        constant = {*system.parameters, *system.where}
        values = {name: self._written(name, signal, known | constant) for name, signal in names.items()}
        parts = {name: self._without_rates(name, e) for name, e in values.items()}
        linear = [linear_part(e, system.states, system.inputs, known, system.where) for e, _ in parts.values()]
        C, D = tuple(part.row for part in linear), tuple(part.row_u for part in linear)
        rest: Vector = tuple(part.rest for part in linear)
        D_1: Matrix = tuple((ZERO,) * len(system.inputs) for _ in linear)
        gains = [gains for _, gains in parts.values()]
        if any(gains):
            return self._with_rates(system, gains, Measured(tuple(names), C, D, D_1, rest))
        return Measured(tuple(names), C, D, D_1, rest)

    def _written(self, name: str, signal: str, known: set[str]) -> Expression:
        """The formula over states, inputs, displacements, unknowns and the rates that dependent storages decide."""
        found = self.formulas.get(signal)
        if found is None:
            raise _not_measured(name, f"the signal '{signal}' has a memory, a table or a function of its own")
        # Formulas read formulas, so this goes on while something still changes; what never does is refused by name.
        left: frozenset[str] = frozenset()
        while (open_names := found.free_symbols - known - self.rates.keys()) and open_names != left:
            left = open_names
            formulas = {n: self.formulas[n] for n in open_names if n in self.formulas}
            found = found.substitute(formulas | self.variables.replacements(open_names - formulas.keys()))
        if open_names:
            raise _not_measured(name, f"it reads {listing(sorted(open_names))}")
        return found

    def _without_rates(self, name: str, expression: Expression) -> tuple[Expression, dict[int, Expression]]:
        """The part without rates, and the factor of each rate by the place of its storage."""
        rates = [rate for rate in self.rates if rate in expression.free_symbols]
        # A row is linear in rates of states, which the equations then replace; a product of two rates is none.
        gains = {self.rates[rate]: expression.derivative(rate) for rate in rates}
        if any(e.free_symbols & self.rates.keys() for e in gains.values()):
            raise _not_measured(name, f"it is not linear in {listing(rates)}, which rates of states decide")
        return expression.substitute(dict.fromkeys(rates, ZERO)), gains

    def _with_rates(
        self, system: EquationSystem, gains: Sequence[Mapping[int, Expression]], rows: Measured
    ) -> Measured:
        """Rows to which the rates of dependent contents are added: the transformation T_u with the gains in its place."""
        m, f, shared = system.matrices, system.vectors["f"], self.shared
        # A sum of rates of contents has the form of what a source sees, gains^T (L x)', so the same formulas serve.
        taken = tuple(tuple(row.get(i, ZERO) for row in gains) for i in range(len(shared.T)))
        view = shared.read_by(taken, len(gains))
        Z = self.times_inverse(view.P)  # the rates of the states are replaced from L x' = -(A + N) x + B u + B_1 u' - f
        moved = [total(row[i] * e for i, e in self.moved.items() if i in row) for row in gains]
        return Measured(
            rows.names,
            plus(rows.C, plus(view.C, negative(product(Z, plus(m["A"], m["N"]), shared.states)))),
            plus(rows.D, plus(view.D, product(Z, m["B"], shared.inputs))),
            plus(rows.D_1, plus(view.D_1, product(Z, m["B_1"], shared.inputs))),
            tuple(r + more - dot(z, f) for r, more, z in zip(rows.rest, moved, Z, strict=True)),
        )


def _not_measured(name: str, why: str) -> Exception:
    return rules.NOT_MEASURED.error(
        f"'{name}' is no output of the equations: {why}",
        where=name,
        fix="measure a state or a power variable, or derive the closed loop with closed=True",
    )


def without_measured_signals(signals: SignalEquations, names: frozenset[str]) -> SignalEquations:
    """The signals without those that were only there to be measured."""
    return SignalEquations(tuple(law for law in signals.laws if law.name not in names), signals.drivers)
