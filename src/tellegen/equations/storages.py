"""The energy that storages hold, and dependent storages by the congruent transformation x = T z + T_u u, also where T moves with
displacements and states.

x are the outputs of all storages, z those of the independent ones. With L the energy matrix of all storages and T' the
derivative along the motion (T and L may depend on displacements, and T on states: see `state_motion`),

    T^T L T z' + T^T (L T' + L' T) z + T^T L T_u u' + T^T (L T_u' + L' T_u) u

is what the storages together take from the rest of the model, and the sources see T_u^T (L x)' beside their own share.

What a dependent storage takes is L x', and x' = T z' + T' z + T_u u' + T_u' u, where T' now contains the rates of the states
it reads. Collected, the matrix that multiplies z' is M = T^T L (T + G), column k of G being dT/dz_k z + dT_u/dz_k u. M is not
symmetric, and z^T M z / 2 is not the energy. So L stays T^T L T, symmetric, with E = z^T L z / 2 and N + N^T = L' as it is for
displacements: the rates of the states that T reads become names, omega_rate = (M^-1 (...))_omega, which stand in N and are given
under "where". The equations keep their form and their meaning, and can still be evaluated line by line.

Rates of inputs enter x' through T_u, and through T where a modulus reads an input: what they add is linear in u' and belongs to
B_1 and D_1.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.equations.matrices import Matrix, Sparse, Vector, congruent, dot, plus, product, zeros
from tellegen.expressions import HALF, ONE, ZERO, Expression, symbol, total
from tellegen.expressions.antiderivatives import integral_from_zero, integrated_terms
from tellegen.expressions.elimination import with_definitions
from tellegen.expressions.integrals import integral
from tellegen.expressions.polynomials import powers_of
from tellegen.graph import Port, PowerGraph, StorageLaw
from tellegen.graph.power_graph import ARGUMENT, argument


@final
@dataclass(frozen=True)
class RateRows:
    """`P z' + C z + D u + D_1 u'`."""

    P: Matrix
    C: Matrix
    D: Matrix
    D_1: Matrix


@final
@dataclass(frozen=True)
class Congruence:
    """T and T_u with their derivatives along the motion, and the energy matrix of all storages."""

    T: Matrix
    T_u: Matrix
    T_rate: Matrix
    T_u_rate: Matrix
    energy: Sparse
    energy_rate: Sparse
    states: int
    inputs: int
    carried: Matrix = ()  # how outputs move with rates of inputs because T and T_u read states or inputs

    def shortened(self, short: Callable[[Expression], Expression]) -> "Congruence":
        """The same with entries of T, T_u and their rates made short: products of long ones would be read by nobody."""

        def all_of(matrix: Matrix) -> Matrix:
            return tuple(tuple(map(short, row)) for row in matrix)

        return replace(
            self,
            T=all_of(self.T),
            T_u=all_of(self.T_u),
            T_rate=all_of(self.T_rate),
            T_u_rate=all_of(self.T_u_rate),
        )

    def L(self) -> Matrix:
        """The energy matrix T^T L T of the independent storages."""
        return congruent(self.T, self.energy, self.T, self.states, self.states)

    def N(self) -> Matrix:
        """T^T (L T' + L' T), what the motion of the transformation and of the storages adds."""
        return self._moved(self.T, self.T, self.T_rate, self.states, self.states)

    def B_1(self) -> Matrix:
        """T^T L T_u, what rates of the inputs take."""
        return congruent(self.T, self.energy, self._by_input_rates(), self.states, self.inputs)

    def B_rate(self) -> Matrix:
        """T^T (L T_u' + L' T_u), what inputs take when their share in the storages changes."""
        return self._moved(self.T, self.T_u, self.T_u_rate, self.states, self.inputs)

    def P(self) -> Matrix:
        """T_u^T L T, what sources see of the rates of the states."""
        return congruent(self.T_u, self.energy, self.T, self.inputs, self.states)

    def C_rate(self) -> Matrix:
        """T_u^T (L T' + L' T), what sources see of the states through the motion."""
        return self._moved(self.T_u, self.T, self.T_rate, self.inputs, self.states)

    def D_1(self) -> Matrix:
        """T_u^T L T_u, what sources see of their own rates."""
        return congruent(self.T_u, self.energy, self._by_input_rates(), self.inputs, self.inputs)

    def D_rate(self) -> Matrix:
        """T_u^T (L T_u' + L' T_u), what sources see of themselves through the motion."""
        return self._moved(self.T_u, self.T_u, self.T_u_rate, self.inputs, self.inputs)

    def read_by(self, gains: Matrix, rows: int) -> "RateRows":
        """What `gains^T (L x)'` is: a sum of the rates of contents, over the rates of states, states, inputs and their rates."""
        return RateRows(
            P=congruent(gains, self.energy, self.T, rows, self.states),
            C=self._moved(gains, self.T, self.T_rate, rows, self.states),
            D=self._moved(gains, self.T_u, self.T_u_rate, rows, self.inputs),
            D_1=congruent(gains, self.energy, self._by_input_rates(), rows, self.inputs),
        )

    def _by_input_rates(self) -> Matrix:
        # What rates of inputs do through a modulus that reads an input counts like what they do directly.
        return plus(self.T_u, self.carried) if self.carried else self.T_u

    def _moved(self, left: Matrix, right: Matrix, right_rate: Matrix, rows: int, columns: int) -> Matrix:
        # The energy matrix is symmetric and constant for most models, so that its own rate costs nothing.
        carried = congruent(left, self.energy, right_rate, rows, columns)
        return plus(carried, congruent(left, self.energy_rate, right, rows, columns)) if self.energy_rate else carried


def congruence(
    T: Sequence[Sequence[Expression]],
    T_u: Sequence[Sequence[Expression]],
    energy: Sparse,
    motion: "ParameterRates",
    *,
    states: int,
    inputs: int,
    curved: Collection[tuple[int, int]] = (),
) -> Congruence:
    """The transformation from the rows of the dependent storages; `curved` entries of the energy are slopes of nonlinear laws."""
    # Independent storages come first and decide themselves: the top of T is the identity, the top of T_u zero.
    identity = tuple(tuple(ONE if i == j else ZERO for j in range(states)) for i in range(states))
    whole = (*identity, *map(tuple, T))
    whole_u = (*zeros(states, inputs), *map(tuple, T_u))
    # The slope of a nonlinear content moves with the output, which L x' counts already; only what displacements change
    # is left for L'.
    rates = {place: motion.rate_of(entry) for place, entry in energy.items() if place not in curved}
    energy_rate = {place: rate for place, rate in rates.items() if rate is not ZERO}
    return Congruence(
        T=whole,
        T_u=whole_u,
        T_rate=motion.rate(whole),
        T_u_rate=motion.rate(whole_u),
        energy=energy,
        energy_rate=energy_rate,
        states=states,
        inputs=inputs,
    )


class ParameterRates:
    """How expressions change along the motion: by displacements, whose rates are known, and by parameters that depend on them."""

    def __init__(self, moving: Mapping[str, Expression], rates: Mapping[str, Expression]) -> None:
        self.moving = moving
        self.rates = dict(rates)
        self.slopes: dict[str, Expression] = {}
        for name in moving:
            # Written out first: a moving parameter may read another one, and its slope must see through that.
            written = with_definitions(symbol(name), moving)
            slopes = {d: written.derivative(d) for d in rates if d in written.free_symbols}
            self.slopes |= {f"{name}_{d}": slope for d, slope in slopes.items()}
            self.rates[name] = total(symbol(f"{name}_{d}") * rates[d] for d in slopes)

    def definitions(self) -> dict[str, Expression]:
        """What the names of moving parameters and of their slopes by displacements (`H_theta`) stand for."""
        return {**self.moving, **self.slopes}

    def rate(self, matrix: Matrix) -> Matrix:
        """The derivative along the motion."""
        if not self.rates:
            return tuple((ZERO,) * len(row) for row in matrix)
        return tuple(tuple(self.rate_of(e) for e in row) for row in matrix)

    def rate_of(self, expression: Expression) -> Expression:
        """The derivative of one expression along the motion."""
        if not self.rates or expression is ZERO:  # nearly all entries of large models
            return ZERO
        # Sorted, because sets of names have another order in every process.
        names = sorted(expression.free_symbols & self.rates.keys())
        return total(expression.derivative(name) * self.rates[name] for name in names)


@final
@dataclass(frozen=True)
class StateMotion:
    """Slopes of the outputs of all storages through what T and T_u read: `G` by states, `G_u` by inputs."""

    shared: Congruence
    G: Matrix
    G_u: Matrix

    def inertia(self) -> Matrix:
        """M = T^T L (T + G), what multiplies the rates of the states once they are collected."""
        shared = self.shared
        return congruent(shared.T, shared.energy, plus(shared.T, self.G), shared.states, shared.states)

    def input_inertia(self) -> Matrix:
        """T^T L (T_u + G_u), what multiplies the rates of the inputs before those of the states are replaced."""
        shared = self.shared
        return congruent(shared.T, shared.energy, plus(shared.T_u, self.G_u), shared.states, shared.inputs)


def state_motion(shared: Congruence, states: Sequence[str], inputs: Sequence[str]) -> StateMotion | None:
    """The slopes of x = T z + T_u u through T and T_u; None where these read neither states nor inputs."""
    variables = {*states, *inputs}
    entries = [e for matrix in (shared.T, shared.T_u) for row in matrix for e in row]
    # With constant moduli M is L, and nothing has to be solved for.
    if all(variables.isdisjoint(e.free_symbols) for e in entries):
        return None
    return StateMotion(shared, _slopes(shared, states, inputs, states), _slopes(shared, states, inputs, inputs))


def _slopes(shared: Congruence, states: Sequence[str], inputs: Sequence[str], by: Sequence[str]) -> Matrix:
    z, u = [symbol(n) for n in states], [symbol(n) for n in inputs]
    return tuple(
        tuple(_slope(row, z, name) + _slope(row_u, u, name) for name in by)
        for row, row_u in zip(shared.T, shared.T_u, strict=True)
    )


def _slope(row: Vector, at: Sequence[Expression], name: str) -> Expression:
    return total(e.derivative(name) * x for e, x in zip(row, at, strict=True) if name in e.free_symbols)


@final
@dataclass(frozen=True)
class StateRates:
    """The rates of the states that T and T_u read: their `symbols` by state, and what these stand for.

    `definitions` leave out what rates of inputs add; `carried` is how the outputs of all storages move with these.
    """

    symbols: Mapping[str, Expression]
    definitions: Mapping[str, Expression]
    carried: Matrix


def solve_state_rates(
    motion: StateMotion, forces: Vector, names: Mapping[str, str], times_inverse: Callable[[Matrix, Matrix], Matrix]
) -> StateRates:
    """Solve M z' = forces - T^T L (T_u + G_u) u' for the states that T and T_u read.

    `names` gives the name of the rate of each state, in their order, and `times_inverse(P, M)` is P M^-1.
    """
    shared, n = motion.shared, len(names)
    # Only these rates occur in T', so only their rows of M^-1 are needed: for most models one or two.
    read = {name for matrix in (shared.T, shared.T_u) for row in matrix for e in row for name in e.free_symbols}
    wanted = {k: state for k, state in enumerate(names) if state in read}
    unit = tuple(tuple(ONE if k == j else ZERO for j in range(n)) for k in wanted)
    rows = dict(zip(wanted, times_inverse(unit, motion.inertia()), strict=True))
    taken = motion.input_inertia()
    answers = tuple(
        tuple(-dot(rows[k], [line[j] for line in taken]) if k in rows else ZERO for j in range(shared.inputs))
        for k in range(n)
    )
    return StateRates(
        {state: symbol(names[state]) for state in wanted.values()},
        {names[state]: dot(rows[k], forces) for k, state in wanted.items()},
        plus(product(motion.G, answers, shared.inputs), motion.G_u),
    )


# Energy


def energy_of_port(port: Port, at: Expression) -> Expression | None:
    """The energy that a storage holds at a value of its state; where heat is counted, that is what it keeps."""
    return port.storage.content_at(at) if DOMAINS[port.domain].heat_books else energy_of_law(port.storage, at)


def energy_told(port: Port, at: Expression) -> Expression | None:
    """The energy of a port, whatever its law: where no formula is known, as an integral that is found by quadrature.

    For what is printed or evaluated; programs and files take formulas alone. None for a law with a pole at rest.
    """
    known = energy_of_port(port, at)
    if known is not None or DOMAINS[port.domain].heat_books:
        return known
    law = port.storage
    domain = DOMAINS[port.domain]
    letter = (domain.power(law.side) if law.output is None else domain.energy(law.side)).letters[0]
    by_content = law.output is None and law.content is not None
    found = law.output or law.content or argument() * law.inertia_at(argument())
    try:
        found.substitute({ARGUMENT: ZERO})
    except ZeroDivisionError:
        return None
    # Of a content the integral by parts, x q less that of q dx: shorter than one with its slope.
    done, left = integrated_terms(found, ARGUMENT)
    inner = done.substitute({ARGUMENT: at}) + integral(left, at, letter)
    return at * found.substitute({ARGUMENT: at}) - inner if by_content else inner


def energy_of_law(law: StorageLaw, at: Expression) -> Expression | None:
    """The stored energy at a value of the state, zero at rest; None where it has no closed form that we find.

    Linear: inertia x^2 / 2. The user's energy function as given. Otherwise the integral of output d(energy variable).
    """
    if law.inertia is not None:
        return HALF * law.inertia * at * at
    # What the user wrote wins over an integral: it may hold a constant that no integration would find.
    if law.energy is not None:
        return law.energy.substitute({ARGUMENT: at})
    if law.output is not None:
        found = integral_from_zero(law.output, ARGUMENT)
    else:
        assert law.content is not None, "a nonlinear law gives content, output or energy"
        # The integral of x dq is x q less that of q dx, which has no corners where q has some, and tells jumps of q.
        plain = powers_of(law.content, ARGUMENT) is not None
        beside = None if plain else integral_from_zero(law.content, ARGUMENT)
        slope = argument() * law.content.derivative(ARGUMENT)
        found = integral_from_zero(slope, ARGUMENT) if beside is None else argument() * law.content - beside
    return None if found is None else found.substitute({ARGUMENT: at})


@final
class StoredEnergy:
    """The storages in the order of `outputs`, which gives by port what each decides, written over states and inputs."""

    def __init__(self, graph: PowerGraph, outputs: Mapping[int, Expression]) -> None:
        self.graph = graph
        self.outputs = outputs

    def matrix(self) -> Sparse:
        """The energy matrix of all storages: diagonal but for fields."""
        # Rows follow the order of `outputs`: independent storages first, as in T.
        at = {k: i for i, k in enumerate(self.outputs)}
        energy = {(i, i): self._inertia(k) for k, i in at.items()}
        for field in self.graph.fields:
            for a, row in zip(field.ports, field.matrix, strict=True):
                for b, entry in zip(field.ports, row, strict=True):
                    # A field of resistors has a matrix too, and stores nothing.
                    if a in at and entry is not ZERO:
                        energy[at[a], at[b]] = entry
        return energy

    def _inertia(self, k: int) -> Expression:
        law = self.graph.ports[k].storage
        # Where the state is the energy variable its rate is what the port is told, so its inertia is one.
        return ONE if law.keeps_energy_variable else law.inertia_at(self.outputs[k])

    def curved(self) -> set[tuple[int, int]]:
        """The entries of the energy matrix that are slopes of nonlinear contents."""
        laws = [self.graph.ports[k].storage for k in self.outputs]
        return {(i, i) for i, law in enumerate(laws) if law.inertia is None}

    def moved(self, motion: ParameterRates) -> dict[int, Expression]:
        """What storages with nonlinear contents take because displacements move their law, the output being held."""
        found = {}
        for i, (k, output) in enumerate(self.outputs.items()):
            content = self.graph.ports[k].storage.content
            if content is not None and (rate := motion.rate_of(content)) is not ZERO:
                found[i] = rate.substitute({ARGUMENT: output})
        return found

    def total(self) -> Expression | None:
        """The energy of all storages together; None where that of one is not known."""
        shares = [energy_told(self.graph.ports[k], at) for k, at in self.outputs.items()]
        known = [share for share in shares if share is not None]
        # One share without a closed form leaves the sum unknown: a part of the energy would be taken for all of it.
        return total([*known, *self._mutual()]) if len(known) == len(shares) else None

    def _mutual(self) -> Iterable[Expression]:
        """What the entries of fields beside the diagonal store."""
        for coupled in self.graph.fields:
            for i, a in enumerate(coupled.ports):
                # Each pair once: x_a M x_b counts twice in x^T M x / 2.
                for j, b in enumerate(coupled.ports[:i]):
                    if a in self.outputs:
                        yield coupled.matrix[i][j] * self.outputs[a] * self.outputs[b]
