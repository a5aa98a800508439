"""The port-Hamiltonian form in energy variables where dependent storages couple states or displacements move the energy matrix.

With z the outputs of the independent storages, p = L(q) z what they hold together with those that follow them, and q' = Q(q) z:

    [q; p]' = (J - R) grad_H + (g - P) u,   H(q, p) = p^T L^-1 p / 2 + V(q),   grad_H = [dH/dq; z]

    J = [[0, Q], [-Q^T, S - A_w]],   R = [[0, 0], [0, A_s]]

which is x' = (J(x, u) - R(x, u)) grad_H + g(x) u with nothing on the left (Donaire and Junco 2009; van der Schaft and Jeltsema
2014).
From L' = N + N^T follows p' = N^T z - A z + B u, and dH/dq at fixed p is minus the slope of z^T L z / 2 at fixed z. What is left,

    S z = N^T z - Q^T d(z^T L z / 2)/dq,

does no work: S is skew, linear in z, and zero where the constraints are holonomic. It is found from the vector v = S z alone, which
is quadratic in z with z^T v = 0, as S_ij = (dv_i/dz_j - dv_j/dz_i) / 3 by Euler's theorem.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from tellegen.core.names import identifier
from tellegen.equations.matrices import Matrix, Vector, dot, transposed, zeros
from tellegen.equations.storages import ParameterRates, energy_of_law
from tellegen.equations.system import EquationSystem
from tellegen.expressions import HALF, ONE, ZERO, Expression, is_zero, number, symbol, total
from tellegen.expressions.elimination import NamedEntries, solve_definite, used_names, with_definitions
from tellegen.expressions.waves import joined_sines
from tellegen.graph import StorageLaw

THIRD = ONE / number(3)


@final
@dataclass(frozen=True)
class CanonicalForm:
    """What dependent storages make of H: coordinates q with Q, contents p = L z, the outputs z by p, and S.

    `system` has the outputs of all storages as its states; `kept` tells which of them are given by an energy variable of their own.
    """

    system: EquationSystem
    names: tuple[str, ...]
    kept: tuple[StorageLaw | None, ...]
    potential: Expression

    @cached_property
    def rates(self) -> ParameterRates:
        """How names that move with the displacements change with these."""
        system = self.system
        moving: dict[str, Expression] = {}
        for name, e in self._definitions.items():
            if with_definitions(e, moving).free_symbols & system.displacements.keys():
                moving[name] = e
        return ParameterRates({n: moving[n] for n in used_names(self._entries, moving)}, system.displacements)

    @property
    def _entries(self) -> list[Expression]:
        return [*(e for row in self.system.matrices["L"] for e in row), self.potential]

    @cached_property
    def _definitions(self) -> dict[str, Expression]:
        origin = self.system.origin
        moving = {} if origin is None else dict(origin.graph.position_dependent)
        return {**moving, **self.system.where}

    @cached_property
    def q(self) -> tuple[str, ...]:
        """The coordinates: displacements, where what is stored moves with them."""
        read = frozenset().union(*(with_definitions(e, self._definitions).free_symbols for e in self._entries))
        displacements = self.system.displacements
        return tuple(displacements) if read & displacements.keys() else ()

    @cached_property
    def z(self) -> tuple[Expression, ...]:
        """The outputs of the storages."""
        return tuple(symbol(state) for state in self.system.states)

    @cached_property
    def Q(self) -> Matrix:
        """The rates of the coordinates by the outputs."""
        rates = (with_definitions(self.system.displacements[name], self.system.where) for name in self.q)
        return tuple(tuple(rate.derivative(state) for state in self.system.states) for rate in rates)

    @cached_property
    def slopes(self) -> Vector:
        """The slopes of z^T L z / 2 by the coordinates, the outputs being held."""
        L, z = self.system.matrices["L"], self.z
        # Entry by entry, each pair once: so the sum stays as short as L is.
        pairs = [(L[i][j], (HALF if i == j else ONE) * z[i] * z[j]) for i in range(len(z)) for j in range(i + 1)]
        return tuple(total(self._slope(entry, name) * product for entry, product in pairs) for name in self.q)

    def _slope(self, expression: Expression, coordinate: str) -> Expression:
        # By the names that move, so that what is long stays a name: H_theta.
        named = {n: f"{n}_{coordinate}" for n in self.rates.moving if f"{n}_{coordinate}" in self.rates.slopes}
        return expression.derivative(coordinate) + total(
            expression.derivative(n) * symbol(slope) for n, slope in named.items()
        )

    @cached_property
    def S(self) -> Matrix:
        """The skew block of constraints that are not holonomic."""
        left = self._not_holonomic
        if all(e is ZERO for e in left):
            return zeros(len(self.z), len(self.z))
        found = self._by_constraints()
        if found is not None and all(self._vanishes(dot(r, self.z) - e) for r, e in zip(found, left, strict=True)):
            return found
        states = self.system.states
        slopes = [[e.derivative(state) for state in states] for e in left]
        n = range(len(states))
        return tuple(tuple(self._or_zero(THIRD * (slopes[i][j] - slopes[j][i])) for j in n) for i in n)

    @cached_property
    def _not_holonomic(self) -> Vector:
        """N^T z - Q^T d(z^T L z / 2)/dq."""
        n = len(self.z)
        turned = transposed(self.system.matrices["N"], n)
        back = [dot([row[i] for row in self.Q], self.slopes) for i in range(n)]
        return tuple(self._or_zero(dot(row, self.z) - e) for row, e in zip(turned, back, strict=True))

    def _by_constraints(self) -> Matrix | None:
        """S_ij = sum of p_d (dT_di/dq_k Q_kj - dT_dj/dq_k Q_ki) over dependent storages d; None where laws are not linear.

        It is the S that one reads off the constraints: of several skew matrices with the same S z the one that stays short.
        """
        origin = self.system.origin
        if origin is None:
            return None
        ports, n = origin.graph.ports, range(len(self.z))
        places = (*origin.integral, *origin.derivative)
        if any(ports[k].storage.inertia is None for k in places):
            return None
        rows = [self.system.dependent[ports[k].variable(ports[k].storage.side)] for k in origin.derivative]
        T: list[list[Expression]] = [[ONE if i == j else ZERO for j in n] for i in n]
        T += [
            [with_definitions(row, self.system.where).derivative(state) for state in self.system.states] for row in rows
        ]
        x = dict(zip(places, (dot(row, self.z) for row in T), strict=True))
        contents = {k: (ports[k].storage.inertia or ZERO) * x[k] for k in places}
        for field in origin.graph.fields:
            if set(field.ports) & x.keys():
                contents |= {
                    k: dot(row, [x[j] for j in field.ports]) for k, row in zip(field.ports, field.matrix, strict=True)
                }
        moved = [[[self._slope(e, q) for q in self.q] for e in row] for row in T]
        along = [[[dot(slopes, [row[j] for row in self.Q]) for j in n] for slopes in of] for of in moved]
        shares = list(zip((contents[k] for k in places), along, strict=True))
        return tuple(
            tuple(self._or_zero(self._joined([(p, of[i][j] - of[j][i]) for p, of in shares])) for j in n) for i in n
        )

    def _joined(self, shares: Sequence[tuple[Expression, Expression]]) -> Expression:
        """The sum of contents times turns, by the outputs that contents are linear in.

        Sines and cosines are joined, as they are in N: the zero test sees no identity between phases.
        """
        return total(
            output * joined_sines(total(p.derivative(state) * turn for p, turn in shares))
            for state, output in zip(self.system.states, self.z, strict=True)
        )

    def _or_zero(self, expression: Expression) -> Expression:
        return ZERO if self._vanishes(expression) else expression

    def _vanishes(self, expression: Expression) -> bool:
        return is_zero(with_definitions(expression, {**self._definitions, **self.rates.slopes}))

    @property
    def exists(self) -> bool:
        """Whether L moves with coordinates alone, these with the outputs alone, and S is what is left of N."""
        system = self.system
        if any(e is not ZERO for name in ("B_1", "D_1") for row in system.matrices[name] for e in row):
            return False
        others = {*system.states, *system.inputs, *system.algebraic.unknowns, *system.signals.names}
        known = self._definitions
        if any(others & with_definitions(e, known).free_symbols for e in self._entries):
            return False
        outputs = [with_definitions(system.displacements[name], system.where) for name in self.q]
        for rate, row in zip(outputs, self.Q, strict=True):
            if not is_zero(rate - dot(row, self.z)) or any(others & e.free_symbols for e in row):
                return False
        taken = {identifier(n) for n in (*system.parameters, *system.states, *system.inputs, *system.outputs, *self.q)}
        if any(name in taken or (name in known and known[name] is not e) for name, e in self.rates.slopes.items()):
            return False
        return all(self._vanishes(dot(row, self.z) - e) for row, e in zip(self.S, self._not_holonomic, strict=True))

    @cached_property
    def outputs(self) -> tuple[Vector, dict[str, Expression]]:
        """z by p, and names for long entries of L^-1."""
        system, n = self.system, len(self.names)
        L = system.matrices["L"]
        taken = [*system.parameters, *system.states, *system.inputs, *system.outputs, *self.names, *self.q]
        arithmetic = NamedEntries(system.parameters, [*taken, *self._definitions, *self.rates.slopes], prefix="w")
        rows = [{j: arithmetic.entry(e) for j, e in enumerate(row) if e is not ZERO} for row in L]
        # Pivots on the diagonal: an entry beside it may vanish as the model moves.
        contents = [{n + i: arithmetic.entry(ONE)} for i in range(n)]
        solution = solve_definite(rows, contents, range(n), arithmetic)
        inverse = [
            [entry.expression if (entry := solution[i].get(n + j)) else ZERO for j in range(n)] for i in range(n)
        ]
        p = [symbol(name) for name in self.names]
        found = []
        for row, name, law in zip(inverse, self.names, self.kept, strict=True):
            own = None if law is None else law.output
            found.append(dot(row, p) if own is None else own.substitute({"@": symbol(name)}))
        return tuple(found), arithmetic.where

    def energy(self) -> Expression | None:
        """H without V: p^T z / 2, and the energies of laws that are not linear."""
        shares: list[Expression] = []
        for k, (name, z, law) in enumerate(zip(self.names, self.z, self.kept, strict=True)):
            row = self.system.matrices["L"][k]
            alone = all(e is ZERO for j, e in enumerate(row) if j != k)
            output = symbol(name) / row[k] if alone else z
            share = HALF * symbol(name) * output if law is None else energy_of_law(law, symbol(name))
            if share is None:
                return None
            shares.append(share)
        return total(shares)

    def where(self, shown: Iterable[Expression]) -> Mapping[str, Expression]:
        """What the names in some expressions stand for, in order of definition."""
        outputs, named = self.outputs
        by_content = {state: e for state, e in zip(self.system.states, outputs, strict=True) if e is not symbol(state)}
        known = {**self._definitions, **self.rates.slopes, **named, **by_content}
        used = used_names(shown, known)
        return {name: e for name, e in known.items() if name in used}

    def padded(self, matrix: Matrix) -> Matrix:
        """A matrix of the contents with rows and columns of zeros for the coordinates before them."""
        k = len(self.q)
        width = k + len(matrix)
        return (*zeros(k, width), *((*(ZERO,) * k, *row) for row in matrix))

    def below(self, matrix: Matrix, columns: int) -> Matrix:
        """A matrix of the contents and the inputs with rows of zeros for the coordinates above it."""
        return (*zeros(len(self.q), columns), *matrix)

    def interconnection(self, inner: Matrix) -> Matrix:
        """J with Q above, its transpose on the left, and S beside what the contents exchange."""
        k = len(self.q)
        rows = [[a + b for a, b in zip(row, more, strict=True)] for row, more in zip(inner, self.S, strict=True)]
        top = ((*(ZERO,) * k, *row) for row in self.Q)
        return (*top, *((*(-self.Q[c][i] for c in range(k)), *row) for i, row in enumerate(rows)))

    def gradient(self) -> Vector:
        """dH/dq at fixed p, and the outputs z by their names."""
        by_place = (self._slope(self.potential, name) - slope for name, slope in zip(self.q, self.slopes, strict=True))
        return (*by_place, *self.z)
