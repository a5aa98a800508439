"""From a causal graph to its equations: dependent storages brought in, rows collected, what laws read written out, what is
measured added.

A friction that reads a normal force may decide it in turn. Such a circle is torn: one variable of it becomes an algebraic unknown,
whose residual says what it follows from.

What ports are told follows from what they decide by the causal interconnection. Resistive laws are solved first, with names for
what grows long; then the storages that depend on others are brought in by the congruent transformation x = T z + T_u u.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.causality.causal_graph import names_of_outputs, position_dependent_names
from tellegen.core.memory import remembered
from tellegen.core.names import TIME, listing, unused
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product
from tellegen.equations.outputs import (
    PortVariables,
    Readings,
    VariableSubstitution,
    detected_names,
    measurable_names,
    with_measured_signals,
    without_measured_signals,
)
from tellegen.equations.signal_equations import SignalEquations, SignalRates
from tellegen.equations.storages import (
    Congruence,
    ParameterRates,
    StateRates,
    StoredEnergy,
    congruence,
    solve_state_rates,
    state_motion,
)
from tellegen.equations.structure import CausalStructure, ResistiveSolution, causal_structure, solve_resistive
from tellegen.equations.system import (
    NOTHING_MEASURED,
    Algebraic,
    EquationSystem,
    MatrixName,
    Measured,
    VectorName,
    no_such_output,
    with_measured_outputs,
    with_short_names_inlined,
)
from tellegen.expressions import ONE, ZERO, Expression, is_zero, symbol, total
from tellegen.expressions.elimination import Entry, NamedEntries, leaf_count, solve_definite, with_definitions
from tellegen.expressions.waves import joined_sines
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw, StorageLaw, lower
from tellegen.graph.signal_lowering import taken_names
from tellegen.graph.signals import Value
from tellegen.model.model import Model


def _refuse_denied_states(structure: CausalStructure) -> None:
    """Refuse dependent storages that would follow anything but storages and sources.

    Raises: EquationError (E101).
    """
    causal = structure.causal
    # Zero is constant, so a storage may follow it.
    ideal = {k for k in causal.resistive if causal.graph.ports[k].resistive.ideal}  # they decide that something is zero
    free = {*causal.resistive, *causal.derivative} - ideal
    for k in causal.derivative:
        # Following a resistor would need the derivative of its law along the motion, which needs this storage again.
        blockers = [j for j in structure.gains[k] if j in free]
        if blockers:
            port, decider = causal.graph.ports[k], causal.graph.ports[blockers[0]]
            raise rules.NOT_A_STATE.error(
                f"'{port.element}' is asked to follow, but only '{decider.element}' would decide its output",
                where=port.element,
                fix="leave its causality free",
                place=port.place,
            )


@final
class DependentStorages:
    """The rows of T and T_u for the dependent storages of a graph, and the outputs of all storages by their ports.

    Raises: EquationError where a law gives the output that others follow (E102), or a modulus reads what is not settled (E108).
    """

    def __init__(self, structure: CausalStructure, field: NamedEntries, settled: VariableSubstitution) -> None:
        self.structure = structure
        self.causal = structure.causal
        self.ports = self.causal.graph.ports
        self._refuse_output_laws()
        states, sources, dependent = self.causal.integral, self.causal.sources, self.causal.derivative
        T = tuple(tuple(self._gain(k, j, field) for j in states) for k in dependent)
        T_u = tuple(tuple(self._gain(k, j, field) for j in sources) for k in dependent)
        self.T, self.T_u = self._over_states(T, settled), self._over_states(T_u, settled)
        self.outputs = self._outputs()

    def _refuse_output_laws(self) -> None:
        for k in self.causal.derivative:
            for j in self.structure.gains[k]:
                law = self.ports[j].law
                if isinstance(law, StorageLaw) and law.keeps_energy_variable:
                    raise rules.DEPENDS_ON_OUTPUT_LAW.error(
                        f"'{self.ports[k].element}' follows '{self.ports[j].element}', whose law gives its output",
                        where=self.ports[k].element,
                        fix=f"write the law of '{self.ports[j].element}' for its energy variable",
                        place=self.ports[j].place,
                    )

    def _gain(self, told: int, decided: int, field: NamedEntries) -> Expression:
        """A gain with its names written out where displacements move it, so that its rate is seen."""
        found = self.structure.gain(told, decided)
        if found is None:
            return ZERO
        # Where nothing moves, names stay: written out, the gains of a mesh would be as long as the mesh has trees.
        moves = self.causal.graph.displacements or self.causal.graph.signals
        return with_definitions(found.expression, field.where) if moves else found.expression

    def _over_states(self, matrix: Matrix, settled: VariableSubstitution) -> Matrix:
        """Rows of the transformation with what moduli read written over states and inputs, so that its rate is seen.

        Raises: EquationError (E108) where a modulus reads what follows from itself, or an algebraic unknown.
        """
        # Only a modulus that reads a variable of a port makes T read one.
        moduli = [c.element for c in self.causal.graph.couplings if settled.names & c.free_symbols]
        if not moduli:
            return matrix
        rows = []
        for k, row in zip(self.causal.derivative, matrix, strict=True):
            entries = [settled.written(e) for e in row]
            left = sorted(set().union(*(settled.unsettled(e) for e in entries)))
            # Its rate would be the derivative of a solution that the equations have yet to give.
            if left:
                raise rules.CURVED_TRANSFORMATION.error(
                    f"'{self.ports[k].element}' follows other storages through a modulus that reads {listing(left)}",
                    where=self.ports[k].element,
                    fix=f"let the modulus of {listing(moduli)} read states or displacements, or put an elastic element between "
                    "the storages",
                    place=self.ports[k].place,
                )
            rows.append(tuple(entries))
        return tuple(rows)

    def _outputs(self) -> dict[int, Expression]:
        """The outputs of all storages by their ports, independent ones first."""
        outputs: dict[int, Expression] = {k: symbol(self.ports[k].state) for k in self.causal.integral}
        rows = zip(self.causal.derivative, self.T, self.T_u, strict=True)
        return outputs | {k: self._output(row, row_u) for k, row, row_u in rows}

    def _output(self, row: Vector, row_u: Vector) -> Expression:
        states = zip(self.causal.integral, row, strict=True)
        inputs = zip(self.causal.sources, row_u, strict=True)
        # x = T z + T_u u, the row of this storage.
        by_states = total(e * symbol(self.ports[k].state) for k, e in states if e is not ZERO)
        return by_states + total(e * symbol(self.ports[k].source.input) for k, e in inputs if e is not ZERO)

    def dependent_outputs(self) -> dict[str, Expression]:
        """The outputs of the dependent storages by their names."""
        ports = self.ports
        return {ports[k].variable(ports[k].storage.side): self.outputs[k] for k in self.causal.derivative}

    def rates_of_displacements(self) -> dict[str, Expression]:
        """The rates of the displacements, by states and inputs."""
        follow = self.dependent_outputs()
        return {name: rate.substitute(follow) for name, rate in self.causal.graph.displacements.items()}


def _with_read_variables_written_out(
    system: EquationSystem, read: Iterable[str], settled: VariableSubstitution
) -> EquationSystem:
    """The system without those of the names in `read` that follow from states, inputs and unknowns.

    What only rates of states decide keeps its name.
    """
    names = list(read)
    formulas = _formulas(names, settled)
    if not formulas:
        return system
    # Friction that reads a normal force which reads the friction is a circle: one variable of it becomes an unknown.
    written, torn = _ordered(formulas, settled.formulas.keys())
    known = {name: written[name] for name in names if name in written}

    def change(e: Expression) -> Expression:
        return e if known.keys().isdisjoint(e.free_symbols) else e.substitute(known)

    changed = system.everywhere(change)
    residuals = tuple(symbol(name) - formulas[name].substitute(written) for name in torn)
    loops = changed.algebraic
    return replace(changed, algebraic=Algebraic((*loops.unknowns, *torn), (*loops.residuals, *residuals)))


def _formulas(read: Sequence[str], settled: VariableSubstitution) -> dict[str, Expression]:
    """What each name stands for, one step away; and so the names that these formulas read."""
    found: dict[str, Expression] = {}
    seen: set[str] = set()
    waiting = list(read)
    while waiting:
        seen.update(waiting)
        # One step at a time: what a formula reads may follow from further ones, and each is needed once.
        new = settled.followed(waiting)
        found |= new
        names = dict.fromkeys(name for e in new.values() for name in sorted(settled.following(e)))
        waiting = [name for name in names if name not in seen]
    return found


def _ordered(formulas: Mapping[str, Expression], signals: Set[str]) -> tuple[dict[str, Expression], list[str]]:
    """The names written out in an order in which each needs earlier ones alone, and those that were torn for that."""
    needs = {name: e.free_symbols & formulas.keys() for name, e in formulas.items()}
    written: dict[str, Expression] = {}
    torn: list[str] = []
    while waiting := [name for name in formulas if name not in written and name not in torn]:
        # Like the order of evaluation of signals: whatever reads known names alone comes next.
        ready = [name for name in waiting if needs[name] <= {*written, *torn}]
        for name in ready:
            written[name] = formulas[name].substitute({n: written[n] for n in needs[name] if n in written})
        if not ready:
            torn.append(_most_needed(waiting, needs, signals))
    return written, torn


def _most_needed(waiting: Iterable[str], needs: Mapping[str, frozenset[str]], signals: Set[str]) -> str:
    """The variable that most others of a circle read, rather than a signal; what only follows from the circle is not asked."""
    circle = list(waiting)
    while True:
        uses = {name: sum(name in needs[other] for other in circle) for name in circle}
        used = [name for name in circle if uses[name]]
        # What is left only reads each other; names at its edge would be torn for nothing.
        if len(used) == len(circle):
            # A force or speed is a better unknown than a signal: it has a unit and a scale that a solver can judge.
            return max(circle, key=lambda name: (name not in signals, uses[name]))
        circle = used


NO_NAMES: Mapping[str, str] = MappingProxyType({})
SHORT = 4
"""Rates of signals with more leaves than this get a name."""


def derive_equations(causal: CausalGraph, measured: Mapping[str, str] = NO_NAMES) -> EquationSystem:
    """The equations of a causal graph in the POG form, with symbols.

    `measured` are names of what is measured, each with the signal of the graph that is its formula.

    Raises: EquationError when a storage was forced to follow although it is independent, or resistive elements cancel; E133 for
    something measured that is no function of states and inputs.
    """
    return _derived(causal, measured) if measured else _without_measured(causal)


@remembered
def _without_measured(causal: CausalGraph) -> EquationSystem:
    """The equations that everything else asks for: derived once for each causal graph."""
    return _derived(causal, NO_NAMES)


def _derived(causal: CausalGraph, measured: Mapping[str, str]) -> EquationSystem:
    # All names of the model are taken, so that no entry is called like a variable.
    field = NamedEntries(causal.graph.parameters, (*taken_names(causal.graph), TIME))
    structure = causal_structure(causal, field)
    # Before resistors are solved: their equations would be singular without saying why.
    _refuse_denied_states(structure)
    told = solve_resistive(structure, field)
    return with_short_names_inlined(_Assembly(structure, told, field, measured).system(), field.where)


@final
@dataclass(frozen=True)
class _StorageMotion:
    """How storages share their energy while the system moves.

    `shared` is the congruent transformation, `moved` what the motion of storages adds by port, and `rates` are those of the
    displacements. `before` and `after` define the names of rates, in front of and behind those of the elimination.
    """

    stored: StoredEnergy
    shared: Congruence
    moved: Mapping[int, Expression]
    rates: Mapping[str, Expression]
    before: Mapping[str, Expression]
    after: Mapping[str, Expression]


class _Assembly:
    """Collects the rows of the equations from what storages and sources are told."""

    def __init__(
        self, structure: CausalStructure, told: ResistiveSolution, field: NamedEntries, measured: Mapping[str, str]
    ) -> None:
        self.structure = structure
        self.causal = structure.causal
        self.ports = self.causal.graph.ports
        self.told = told
        self.field = field
        self.measured = measured
        self.states = self.causal.integral
        self.sources = self.causal.sources

    def system(self) -> EquationSystem:
        """The whole system."""
        signals = self._signals()
        # Signals first, storages then, rates last: each step reads what the one before has settled.
        settled = VariableSubstitution(self.structure, self.told, self.field.where, signals)
        storages = DependentStorages(self.structure, self.field, settled)
        storage_motion = self._storage_motion(storages, signals)
        matrices, vectors = self._rows(storage_motion)
        ports = self.ports
        made = EquationSystem(
            name=self.causal.graph.name,
            states=tuple(ports[k].state for k in self.states),
            inputs=tuple(ports[k].source.input for k in self.sources),
            # Outputs are named by what their row turns out to be.
            outputs=self._output_names(matrices["C"], matrices["D"], matrices["D_1"], vectors["f_y"]),
            parameters=self.causal.graph.parameters,
            displacements=storage_motion.rates,
            matrices=matrices,
            vectors=vectors,
            stored_energy=storage_motion.stored.total(),
            dissipated_power=self.told.dissipated,
            potential_energy=self.causal.graph.potential_energy(),
            algebraic=Algebraic(self.told.unknowns, self.told.residuals),
            # In order of definition: slopes of parameters, then names of the elimination that may read them, then rates
            # that read both.
            where={**storage_motion.before, **self.field.where, **storage_motion.after},
            dependent=storages.dependent_outputs(),
            initial={ports[k].state: e for k in self.states if (e := ports[k].initial_state) is not None},
            signals=signals,
            origin=self.causal,
            symbols=self.causal.graph.symbols,
        )
        return self._without_dependent_storages(
            self._with_measured(made, storage_motion) if self.measured else made, settled
        )

    def _with_measured(self, system: EquationSystem, storage_motion: _StorageMotion) -> EquationSystem:
        def times_inverse(rows: Matrix) -> Matrix:
            return self._times_inverse(rows, system.matrices["L"])

        reading = Readings(self.structure, self.told, storage_motion.shared, storage_motion.moved, times_inverse)
        # Rows of what is measured may have named further entries since.
        known = replace(system, where={**system.where, **self.field.where})
        made = replace(known, measured=reading.measured(known, self.measured))
        return replace(made, where={**made.where, **self.field.where})

    def _without_dependent_storages(self, system: EquationSystem, settled: VariableSubstitution) -> EquationSystem:
        """The system without names of port variables that are neither states, inputs nor unknowns, which laws and moduli read."""
        graph = self.causal.graph
        laws = [port.law for port in graph.ports if isinstance(port.law, ResistiveLaw)]
        read = frozenset().union(*(c.free_symbols for c in graph.couplings), *(law.free_symbols for law in laws))
        read |= frozenset().union(*(e.free_symbols for e in system.displacements.values()))
        wanted = (read & settled.names) - settled.given - settled.unknowns - settled.formulas.keys()
        if wanted:
            shown = (*system.entries(), *system.where.values(), *system.displacements.values())
            # Most of what laws read is gone by now: replaced when resistors were solved.
            wanted &= frozenset().union(*(e.free_symbols for e in shown))
        return _with_read_variables_written_out(system, sorted(wanted), settled) if wanted else system

    # -- storages that move ----------------------------------------------------------------------------------------------------

    def _storage_motion(self, storages: DependentStorages, signals: SignalEquations) -> _StorageMotion:
        """The congruent transformation with its rates."""
        n, m, graph = len(self.states), len(self.sources), self.causal.graph
        rates = storages.rates_of_displacements()
        named, slopes = self._signal_rates(signals, rates, storages)
        # First without the rates of states: these follow from the equations that are being made.
        motion = ParameterRates(graph.position_dependent, rates | slopes)
        stored = StoredEnergy(graph, storages.outputs)
        energy, curved = stored.matrix(), stored.curved()
        shared = congruence(storages.T, storages.T_u, energy, motion, states=n, inputs=m, curved=curved)
        moved = stored.moved(motion)
        followed = self._state_rates(shared, moved)
        if followed is not None:  # moduli read states, so the rates of these are among the rates of the transformation
            motion = ParameterRates(graph.position_dependent, {**rates, **slopes, **followed.symbols})
            shared = congruence(storages.T, storages.T_u, energy, motion, states=n, inputs=m, curved=curved)
            shared = replace(shared, carried=followed.carried)
        # Sines of joint angles multiply in T; joined and named they stay readable.
        if position_dependent_names(graph):
            shared = shared.shortened(lambda e: self.field.named(joined_sines(e)))
        after = followed.definitions if followed is not None else {}
        return _StorageMotion(stored, shared, moved, rates, {**motion.definitions(), **named}, after)

    def _state_rates(self, shared: Congruence, moved: Mapping[int, Expression]) -> StateRates | None:
        """The rates of the states that moduli between storages read; None for most models."""
        states = tuple(self.ports[k].state for k in self.states)
        inputs = tuple(self.ports[k].source.input for k in self.sources)
        motion = state_motion(shared, states, inputs)
        if motion is None:
            return None
        z, u = [symbol(name) for name in states], [symbol(name) for name in inputs]
        # Forces with the transformation as it is without rates of states; what they add is on the left side, in M.
        A, B, f = self._balance(shared, moved)
        forces = tuple(dot(b, u) - dot(a, z) - rest for a, b, rest in zip(plus(A, shared.N()), B, f, strict=True))
        names = {name: self.field.fresh(f"{name}_rate") for name in states}
        return solve_state_rates(motion, forces, names, self._times_inverse)

    def _balance(self, shared: Congruence, moved: Mapping[int, Expression]) -> tuple[Matrix, Matrix, Vector]:
        """A, B and f of the states."""
        # What storages are told is L x', so A, which stands on the other side, has the opposite sign.
        A = self._matrix(self.states, self.states, -1)
        B = plus(self._matrix(self.states, self.sources, 1), negative(shared.B_rate()))
        return A, B, _sum_of(self._rest(self.states, -1), _shares(shared.T, moved, len(self.states)))

    # -- signals ---------------------------------------------------------------------------------------------------------------

    def _signals(self) -> SignalEquations:
        """The signals over states, inputs and unknowns."""
        graph = self.causal.graph
        laws = [(p.law.input, p.law.signal) for p in graph.ports if isinstance(p.law, SourceLaw)]
        found = SignalEquations(graph.signals, {name: e for name, e in laws if e is not None})
        names = frozenset().union(*(e.free_symbols for e in found.entries()))
        known = PortVariables(self.structure, self.told).replacements(sorted(names)) if names else {}
        return found.changed(lambda e: e.substitute(known)) if known else found

    def _signal_rates(
        self, signals: SignalEquations, rates: Mapping[str, Expression], storages: DependentStorages
    ) -> tuple[dict[str, Expression], dict[str, Expression]]:
        """The rates of the signals that move dependent storages: long ones by name, and what the names stand for."""
        names = signals.names
        rows = (*storages.T, *storages.T_u)
        varying = {name for row in rows for e in row for name in e.free_symbols & names}
        graph = self.causal.graph
        known = SignalRates(signals, rates, graph.position_dependent, graph.parameters)
        named: dict[str, Expression] = {}
        slopes: dict[str, Expression] = {}
        for name in sorted(varying):
            rate = known.of(name)
            # A long rate would be written once for every entry that moves with it.
            if leaf_count(rate) > SHORT:
                named[self.field.fresh(f"{name}_rate")] = rate
                rate = symbol(next(reversed(named)))
            slopes[name] = rate
        return named, slopes

    # -- rows ------------------------------------------------------------------------------------------------------------------

    def _rows(self, storage_motion: _StorageMotion) -> tuple[dict[MatrixName, Matrix], dict[VectorName, Vector]]:
        n, m, shared = len(self.states), len(self.sources), storage_motion.shared
        L, N = shared.L(), shared.N()
        A, B, f = self._balance(shared, storage_motion.moved)
        B_1 = negative(shared.B_1())
        C = plus(self._matrix(self.sources, self.states, -1), shared.C_rate())
        D = plus(self._matrix(self.sources, self.sources, -1), shared.D_rate())
        D_1, P = shared.D_1(), shared.P()
        f_y = _sum_of(self._rest(self.sources, -1), _shares(shared.T_u, storage_motion.moved, m))
        # A source that decides the output of a storage sees the rates of the states that share in it.
        if any(e is not ZERO for row in P for e in row):  # outputs contain x': it is replaced from the equations
            Z = self._times_inverse(P, L)
            C = plus(C, negative(product(Z, plus(A, N), n)))
            D = plus(D, product(Z, B, m))
            D_1 = plus(D_1, product(Z, B_1, m))
            f_y = tuple(a - dot(row, f) for a, row in zip(f_y, Z, strict=True))
        return {"L": L, "A": A, "B": B, "C": C, "D": D, "N": N, "B_1": B_1, "D_1": D_1}, {"f": f, "f_y": f_y}

    def _times_inverse(self, P: Matrix, L: Matrix) -> Matrix:
        """The rows of P L^-1, L being definite: an energy matrix, or near one."""
        n = len(L)
        entry = self.field.entry
        # Z = P L^-1 is solved as L^T Z^T = P^T, so the matrix is entered by columns.
        rows = [{j: entry(L[j][i]) for j in range(n) if L[j][i] is not ZERO} for i in range(n)]
        right = [{n + i: entry(P[i][j]) for i in range(len(P)) if P[i][j] is not ZERO} for j in range(n)]
        found = solve_definite(rows, right, list(range(n)), self.field)
        return tuple(
            tuple(found[j][n + i].expression if n + i in found.get(j, {}) else ZERO for j in range(n))
            for i in range(len(P))
        )

    def _matrix(self, told: list[int], decided: list[int], sign: int) -> Matrix:
        return tuple(tuple(_signed(self.told.linear[k].get(j), sign) for j in decided) for k in told)

    def _rest(self, told: list[int], sign: int) -> Vector:
        return tuple(self.told.rest(k, sign) for k in told)

    # -- names -----------------------------------------------------------------------------------------------------------------

    def _output_names(self, C: Matrix, D: Matrix, D_1: Matrix, f_y: Vector) -> tuple[str, ...]:
        """The conjugate of each input, by the name of the state that it is wherever it is one."""
        told = {}
        for i, k in enumerate(self.sources):
            row = {j: e for j, e in enumerate((*C[i], *D[i], *D_1[i], f_y[i])) if e is not ZERO}
            j, gain = next(iter(row.items()), (0, ZERO))
            # A row with a single one in it is a state, and has its name; the one may be a sum of fractions.
            alone = len(row) == 1 and j < len(C[i]) and is_zero(with_definitions(gain, self.field.where) - ONE)
            state = self.ports[self.states[j]] if alone else None
            if state is not None and not state.storage.keeps_energy_variable:
                told[k] = state.state
        return tuple(names_of_outputs(self.causal, lambda k: told.get(k, "")).values())


def _shares(transformation: Matrix, given: Mapping[int, Expression], columns: int) -> Vector:
    """The rows of transformation^T given."""
    return tuple(total(transformation[i][j] * value for i, value in given.items()) for j in range(columns))


def _sum_of(one: Vector, two: Vector) -> Vector:
    return tuple(a + b for a, b in zip(one, two, strict=True))


def _signed(found: Entry | None, sign: int) -> Expression:
    if found is None:
        return ZERO
    return found.expression if sign > 0 else -found.expression


def measured_equations(
    model: Model, names: Iterable[str] | None, prepare: Callable[[PowerGraph], PowerGraph] = lambda graph: graph
) -> EquationSystem:
    """The equations of a model with the rows of what is named, by default of what its detectors read.

    `prepare` changes the graph before causality is assigned: modes, values of parameters.

    Raises: EquationError (E132) for a name that the model does not have, (E133) for one that no row of C and D can give.
    """
    wanted = detected_names(model) if names is None else tuple(dict.fromkeys(names))
    if not wanted:
        return derive_equations(assign_causality(prepare(lower(model))))
    # Refused here by name, before a graph is made for something that does not exist.
    known = measurable_names(model)
    for name in wanted:
        if name not in known:
            raise no_such_output(name, known, model.name)
    reading, signals = with_measured_signals(model, wanted)
    found = derive_equations(assign_causality(prepare(lower(reading))), signals)
    return _as_described(found, frozenset(signals.values()) - model.signals.keys())


def rates_read(system: EquationSystem) -> Measured:
    """Rows of what follows from rates of states, in models with dependent storages, where signals of the system read it.

    They are over the states, inputs and unknowns of the system; names of `where` are written out.
    """
    origin = system.origin
    if origin is None or not origin.derivative or not system.signals.names:
        return NOTHING_MEASURED
    read = frozenset[str]().union(*(e.free_symbols for e in system.signals.entries()))
    known = {*system.states, *system.inputs, *system.displacements, *system.algebraic.unknowns}
    # A storage that others follow shares with them what it takes, and so does a source that they follow.
    variables = (name for port in origin.graph.ports for name in (port.across, port.through))
    names = [name for name in dict.fromkeys(variables) if name in read and name not in known]
    if not names:
        return NOTHING_MEASURED
    taken = taken_names(origin.graph)
    signals = {name: unused(f"{name}_measured", taken) for name in names}
    values = (Value(signal, symbol(name)) for name, signal in signals.items())
    graph = replace(origin.graph, signals=(*origin.graph.signals, *values))
    found = derive_equations(replace(origin, graph=graph), signals)
    return found.measured.changed(lambda e: with_definitions(e, found.where))


def linear_outputs(system: EquationSystem, outputs: Iterable[str] | None) -> EquationSystem:
    """The system with the outputs named, by default its own and then all that is measured; see `with_measured_outputs`.

    Raises: EquationError (E133) where the system is linear and an output is not.
    """
    found = with_measured_outputs(system, None if outputs is None else tuple(outputs))
    # A power is a product of two variables: no linear model has it as an output.
    if system.linear and not found.linear:
        rests = zip(found.outputs, found.vectors["f_y"], strict=True)
        name = next(name for name, rest in rests if rest is not ZERO)
        what = f"'{name}' is not linear in states and inputs, so it has no transfer function"
        fix = "ask for the variables that it is made of, or linearise the model at an operating point"
        raise rules.NOT_MEASURED.error(what, where=name, fix=fix)
    return found


def _as_described(system: EquationSystem, added: frozenset[str]) -> EquationSystem:
    """The system without the signals that were only there to be measured."""
    origin = system.origin
    assert origin is not None, "equations that were just derived"
    graph = replace(origin.graph, signals=tuple(s for s in origin.graph.signals if s.name not in added))
    return replace(system, signals=without_measured_signals(system.signals, added), origin=replace(origin, graph=graph))
