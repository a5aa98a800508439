"""From a causal graph to its equations.

What ports are told follows from what they decide by the causal interconnection. Resistive laws are solved first, with names for
what grows long; then the storages that depend on others are brought in by the congruent transformation x = T z + T_u u.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import final

from tellegen.causality import CausalGraph
from tellegen.causality.conjugates import names_of_answers
from tellegen.causality.tearing import moving_names
from tellegen.core.names import TIME
from tellegen.equations.congruence import Congruence, Motion, congruence
from tellegen.equations.dependent_storages import DependentStorages, input_of, refuse_denied_states
from tellegen.equations.followers import without_followers
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product
from tellegen.equations.port_variables import PortVariables, Settled
from tellegen.equations.readings import Balance, Readings
from tellegen.equations.resistive import Told, solve_resistive
from tellegen.equations.signal_equations import SignalEquations, SignalRates
from tellegen.equations.state_motion import StateRates, solve_state_rates, state_motion
from tellegen.equations.stored_energy import StoredEnergy, storage_law
from tellegen.equations.structure import CausalStructure, causal_structure
from tellegen.equations.system import Algebraic, EquationSystem, MatrixName, VectorName
from tellegen.equations.tidying import tidied
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.angles import joined_angles
from tellegen.expressions.elimination import solve_definite
from tellegen.expressions.entries import Entry, NamedEntries, leaves
from tellegen.graph import ResistiveLaw, SourceLaw

NO_NAMES: Mapping[str, str] = MappingProxyType({})
SHORT = 4
"""Rates of signals with more leaves than this get a name."""


def derive_equations(causal: CausalGraph, measured: Mapping[str, str] = NO_NAMES) -> EquationSystem:
    """The equations of a causal graph in the POG form, with symbols.

    `measured` are names of what is measured, each with the signal of the graph that is its formula.

    Raises: EquationError when a storage was forced to follow although it is independent, or resistive elements cancel; E133 for
    something measured that is no function of states and inputs.
    """
    graph = causal.graph
    variables = (name for p in graph.ports for name in (p.across, p.through, p.state))
    signals = (signal.name for signal in graph.signals)
    field = NamedEntries(graph.parameters, (*variables, *graph.moving, *graph.displacements, *signals, TIME))
    structure = causal_structure(causal, field)
    refuse_denied_states(structure)
    told = solve_resistive(structure, field)
    return tidied(_Assembly(structure, told, field, measured).system(), field.where)


@final
@dataclass(frozen=True)
class _Moving:
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
        self, structure: CausalStructure, told: Told, field: NamedEntries, measured: Mapping[str, str]
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
        settled = Settled(self.structure, self.told, self.field.where, signals)
        storages = DependentStorages(self.structure, self.field, settled)
        moving = self._moving(storages, signals)
        matrices, vectors = self._rows(moving)
        ports = self.ports
        made = EquationSystem(
            name=self.causal.graph.name,
            states=tuple(ports[k].state for k in self.states),
            inputs=tuple(input_of(ports[k]) for k in self.sources),
            outputs=self._output_names(matrices["C"], matrices["D"], matrices["D_1"], vectors["f_y"]),
            parameters=self.causal.graph.parameters,
            displacements=moving.rates,
            matrices=matrices,
            vectors=vectors,
            stored_energy=moving.stored.total(),
            dissipated_power=self.told.dissipated,
            algebraic=Algebraic(self.told.unknowns, self.told.residuals),
            where={**moving.before, **self.field.where, **moving.after},
            dependent=storages.followers(),
            initial={ports[k].state: e for k in self.states if (e := ports[k].initial) is not None},
            signals=signals,
            origin=self.causal,
        )
        return self._without_followers(self._with_measured(made, moving) if self.measured else made, settled)

    def _with_measured(self, system: EquationSystem, moving: _Moving) -> EquationSystem:
        m = system.matrices
        L, A_N = m["L"], plus(m["A"], m["N"])
        balance = Balance(L, A_N, m["B"], m["B_1"], system.vectors["f"], lambda rows: self._times_inverse(rows, L))
        reading = Readings(self.structure, self.told, moving.shared, moving.moved, balance)
        known = replace(system, where={**system.where, **self.field.where})
        made = replace(known, measured=reading.measured(known, self.measured))
        return replace(made, where={**made.where, **self.field.where})

    def _without_followers(self, system: EquationSystem, settled: Settled) -> EquationSystem:
        """The system without names of port variables that are neither states, inputs nor unknowns, which laws and moduli read."""
        graph = self.causal.graph
        laws = [port.law for port in graph.ports if isinstance(port.law, ResistiveLaw)]
        read = frozenset().union(*(c.free_symbols for c in graph.couplings), *(law.free_symbols for law in laws))
        read |= frozenset().union(*(e.free_symbols for e in system.displacements.values()))
        wanted = (read & settled.names) - settled.given - settled.unknowns - settled.formulas.keys()
        if wanted:
            shown = (*system.entries(), *system.where.values(), *system.displacements.values())
            wanted &= frozenset().union(*(e.free_symbols for e in shown))
        return without_followers(system, sorted(wanted), settled) if wanted else system

    # -- storages that move ----------------------------------------------------------------------------------------------------

    def _moving(self, storages: DependentStorages, signals: SignalEquations) -> _Moving:
        """The congruent transformation with its rates."""
        n, m, graph = len(self.states), len(self.sources), self.causal.graph
        rates = storages.rates_of_displacements()
        named, slopes = self._signal_rates(signals, rates, storages)
        motion = Motion(graph.moving, rates | slopes)
        stored = StoredEnergy(graph, storages.outputs)
        energy, curved = stored.matrix(), stored.curved()
        shared = congruence(storages.T, storages.T_u, energy, motion, n, m, curved)
        moved = stored.moved(motion)
        followed = self._state_rates(shared, moved)
        if followed is not None:  # moduli read states, so the rates of these are among the rates of the transformation
            motion = Motion(graph.moving, {**rates, **slopes, **followed.symbols})
            shared = congruence(storages.T, storages.T_u, energy, motion, n, m, curved)
            shared = replace(shared, carried=followed.carried)
        if moving_names(graph):
            shared = shared.shortened(lambda e: self.field.named(joined_angles(e)))
        after = followed.definitions if followed is not None else {}
        return _Moving(stored, shared, moved, rates, {**motion.definitions(), **named}, after)

    def _state_rates(self, shared: Congruence, moved: Mapping[int, Expression]) -> StateRates | None:
        """The rates of the states that moduli between storages read; None for most models."""
        states = tuple(self.ports[k].state for k in self.states)
        inputs = tuple(input_of(self.ports[k]) for k in self.sources)
        motion = state_motion(shared, states, inputs)
        if motion is None:
            return None
        z, u = [symbol(name) for name in states], [symbol(name) for name in inputs]
        A, B, f = self._balance(shared, moved)
        forces = tuple(dot(b, u) - dot(a, z) - rest for a, b, rest in zip(plus(A, shared.N()), B, f, strict=True))
        names = {name: self.field.fresh(f"{name}_rate") for name in states}
        return solve_state_rates(motion, forces, names, self._times_inverse)

    def _balance(self, shared: Congruence, moved: Mapping[int, Expression]) -> tuple[Matrix, Matrix, Vector]:
        """A, B and f of the states."""
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
        moving = {name for row in rows for e in row for name in e.free_symbols & names}
        graph = self.causal.graph
        known = SignalRates(signals, rates, graph.moving, graph.parameters)
        named: dict[str, Expression] = {}
        slopes: dict[str, Expression] = {}
        for name in sorted(moving):
            rate = known.of(name)
            if leaves(rate) > SHORT:
                named[self.field.fresh(f"{name}_rate")] = rate
                rate = symbol(next(reversed(named)))
            slopes[name] = rate
        return named, slopes

    # -- rows ------------------------------------------------------------------------------------------------------------------

    def _rows(self, moving: _Moving) -> tuple[dict[MatrixName, Matrix], dict[VectorName, Vector]]:
        """The matrices and vectors of the system."""
        n, m, shared = len(self.states), len(self.sources), moving.shared
        L, N = shared.L(), shared.N()
        A, B, f = self._balance(shared, moving.moved)
        B_1 = negative(shared.B_1())
        C = plus(self._matrix(self.sources, self.states, -1), shared.C_rate())
        D = plus(self._matrix(self.sources, self.sources, -1), shared.D_rate())
        D_1, P = shared.D_1(), shared.P()
        f_y = _sum_of(self._rest(self.sources, -1), _shares(shared.T_u, moving.moved, m))
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
            ones = [j for j, e in enumerate(C[i]) if e is ONE]
            alone = len(ones) == 1 and sum(e is not ZERO for e in (*C[i], *D[i], *D_1[i], f_y[i])) == 1
            state = self.ports[self.states[ones[0]]] if alone else None
            if state is not None and not storage_law(state).keeps_energy_variable:
                told[k] = state.state
        return tuple(names_of_answers(self.causal, lambda k: told.get(k, "")).values())


def _shares(transformation: Matrix, given: Mapping[int, Expression], columns: int) -> Vector:
    """The rows of transformation^T given."""
    return tuple(total(transformation[i][j] * value for i, value in given.items()) for j in range(columns))


def _sum_of(one: Vector, two: Vector) -> Vector:
    return tuple(a + b for a, b in zip(one, two, strict=True))


def _signed(found: Entry | None, sign: int) -> Expression:
    if found is None:
        return ZERO
    return found.expression if sign > 0 else -found.expression
