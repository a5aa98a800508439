"""Generalised coordinates and speeds: which states are speeds of inertias, which are forces of springs, how coordinates move."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from tellegen.conditioning import rules
from tellegen.conditioning.constrained import Constrained
from tellegen.conditioning.opening import fresh
from tellegen.core.domains import DOMAINS, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing, named_after
from tellegen.equations.matrices import Matrix, Vector, dot
from tellegen.equations.solving import solved
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import ONE, ZERO, Expression, Symbol, symbol, total
from tellegen.graph import Port, StorageLaw


@final
@dataclass(frozen=True)
class Coordinates:
    """Coordinates q with their rates, the speeds nu, and what the springs give by the coordinates.

    Places are those of the states: `inertial` of the speeds, `elastic` of the springs. `own` are coordinates that nobody described:
    they count from the unloaded springs, or from anywhere where no spring is.
    """

    found: Constrained
    inertial: tuple[int, ...]
    elastic: tuple[int, ...]

    @property
    def system(self) -> EquationSystem:
        """The equations of the independent storages."""
        return self.found.system

    @cached_property
    def nu(self) -> tuple[str, ...]:
        """The speeds."""
        return tuple(self.system.states[i] for i in self.inertial)

    @cached_property
    def _by_speed(self) -> dict[str, str]:
        """The coordinate of each speed: the displacement with that rate, or a name made for it.

        A quasi-speed, which moves displacements otherwise, has none.
        """
        model = self.found.model
        rates = {q: self.found.written(e) for q, e in self.system.displacements.items()}
        known = {e.name: q for q, e in rates.items() if isinstance(e, Symbol)}
        moving = {name for e in rates.values() for name in e.free_symbols}
        taken = {*model.parameters, *model.displacements, *model.signals, *self.system.states}
        named = {}
        for i, speed in zip(self.inertial, self.nu, strict=True):
            port = self._port(i)
            letter = DOMAINS[port.domain].energy(other_side(port.law.side)).symbol
            if speed in known:
                named[speed] = known[speed]
            elif speed not in moving:
                named[speed] = fresh(named_after(letter, port.element), taken)
        return named

    @cached_property
    def own(self) -> frozenset[str]:
        """Coordinates that no displacement of the model names."""
        return frozenset(q for q in self._by_speed.values() if q not in self.system.displacements)

    @cached_property
    def rates(self) -> Mapping[str, Expression]:
        """The rates of all coordinates by the speeds, those of the speeds first."""
        found: dict[str, Expression] = {q: symbol(speed) for speed, q in self._by_speed.items()}
        found |= {q: self.found.written(e) for q, e in self.system.displacements.items()}
        return found | self._free_springs

    @property
    def q(self) -> tuple[str, ...]:
        """The coordinates."""
        return tuple(self.rates)

    # -- springs ---------------------------------------------------------------------------------------------------------------

    @cached_property
    def _stretching(self) -> Matrix:
        """The rates of the energy variables of the springs by the speeds."""
        A = self.system.matrices["A"]
        return tuple(tuple(-self.found.written(A[s][i]) for i in self.inertial) for s in self.elastic)

    @cached_property
    def _free_springs(self) -> dict[str, Expression]:
        """Springs whose elongation is a coordinate of its own, with its rate."""
        speeds = [symbol(name) for name in self.nu]
        names = self._spring_names
        return {names[k]: dot(row, speeds) for k, row in enumerate(self._stretching) if not self._follows(row)}

    @cached_property
    def _spring_names(self) -> tuple[str, ...]:
        taken = {
            *self._by_speed.values(),
            *self.found.model.parameters,
            *self.system.displacements,
            *self.system.states,
        }
        names = []
        for s in self.elastic:
            port = self._port(s)
            law = port.law
            own = isinstance(law, StorageLaw) and law.keeps_energy_variable
            letter = DOMAINS[port.domain].energy(law.side).symbol
            names.append(port.state if own else fresh(named_after(letter, port.element), taken))
        return tuple(names)

    def _follows(self, row: Vector) -> bool:
        """Whether an elongation is a constant combination of coordinates that count from the unloaded springs."""
        moving = {*self.system.displacements, *self.system.states, *self.found.causal.graph.moving}
        used = {self._by_speed.get(speed, "") for e, speed in zip(row, self.nu, strict=True) if e is not ZERO}
        return used <= self.own and all(moving.isdisjoint(e.free_symbols) for e in row)

    def elongations(self) -> Vector:
        """The energy variables of the springs by the coordinates."""
        coordinates = [symbol(self._by_speed[speed]) if speed in self._by_speed else ZERO for speed in self.nu]
        rows = zip(self._stretching, self._spring_names, strict=True)
        return tuple(dot(row, coordinates) if self._follows(row) else symbol(name) for row, name in rows)

    def free_elongations(self) -> dict[str, Expression]:
        """Elongations that are coordinates of their own, by the states of the springs."""
        L = self.system.matrices["L"]
        forces = [symbol(self.system.states[s]) for s in self.elastic]
        by_states = {
            name: symbol(name)
            if self._law(s).inertia is None
            else dot([self.found.written(L[s][j]) for j in self.elastic], forces)
            for s, name in zip(self.elastic, self._spring_names, strict=True)
        }
        return {name: by_states[name] for name in self._free_springs}

    def spring_forces(self) -> Vector:
        """The outputs of the springs by the coordinates."""
        contents = self.elongations()
        nonlinear = {k: self._force(s, contents[k]) for k, s in enumerate(self.elastic) if self._law(s).inertia is None}
        if nonlinear:
            return tuple(nonlinear.get(k) or contents[k] / self._inertia(s) for k, s in enumerate(self.elastic))
        L = self.block("L", self.elastic, self.elastic)
        inverse = solved(L, tuple((e,) for e in contents), 1, self.system.parameters) if L else ()
        assert inverse is not None, "the energy matrix of independent storages is regular"
        return tuple(row[0] for row in inverse)

    def _force(self, place: int, content: Expression) -> Expression:
        law = self._law(place)
        if law.output is None:
            port = self._port(place)
            raise rules.NO_LAGRANGE_FORM.error(
                f"the law of '{port.element}' cannot be solved for its force",
                where=port.element,
                fix="write the law as a force by an elongation",
                place=port.place,
            )
        return law.output.substitute({"@": content})

    def _inertia(self, place: int) -> Expression:
        inertia = self._law(place).inertia
        return ONE if inertia is None else inertia

    # -- places ----------------------------------------------------------------------------------------------------------------

    def block(self, name: MatrixName, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        """Part of a matrix of the equations, written out but for slopes of moving parameters."""
        matrix = self.system.matrices[name]
        return tuple(tuple(self.found.readable(matrix[i][j]) for j in columns) for i in rows)

    def _port(self, place: int) -> Port:
        return self.found.causal.graph.ports[self.found.causal.integral[place]]

    def _law(self, place: int) -> StorageLaw:
        law = self._port(place).law
        assert isinstance(law, StorageLaw), "states belong to storages"
        return law


def coordinates_of(found: Constrained) -> Coordinates:
    """The coordinates of a model.

    Raises: ConditioningError (C105) naming what has no inertia.
    """
    ports = found.causal.graph.ports
    places = enumerate(found.causal.integral)
    inertial = tuple(i for i, k in places if ports[k].law.side == DOMAINS[ports[k].domain].flow)
    elastic = tuple(i for i in range(len(found.causal.integral)) if i not in inertial)
    made = Coordinates(found, inertial, elastic)
    _refuse(made)
    return made


def _refuse(made: Coordinates) -> None:
    """What stands in the way of second-order equations: speeds that no inertia decides."""
    system, found = made.system, made.found
    if not made.inertial:
        raise _no_form(found, f"no state of '{system.name}' is the speed of an inertia", found.model.name)
    if system.algebraic.unknowns:
        what = f"{listing(system.algebraic.unknowns)} follow from laws of resistive elements, not from inertias"
        raise _no_form(found, what, found.model.name)
    for s in made.elastic:
        port = ports_of(found)[s]
        row = [*(system.matrices["A"][s][j] for j in made.elastic), system.vectors["f"][s]]
        if any(e is not ZERO for e in row):
            coordinate = DOMAINS[port.domain].energy(port.law.side).word
            what = f"the {coordinate} of '{port.element}' is a coordinate without inertia: resistive elements decide its rate"
            raise _no_form(found, what, port.element)
        sources = [u for u, e in zip(system.inputs, system.matrices["B"][s], strict=True) if e is not ZERO]
        if sources:
            what = f"'{port.element}' is moved by the source {listing(sources)}, which has no inertia"
            raise _no_form(found, what, port.element)
    if not system.is_zero("B_1"):
        pairs = [u for j, u in enumerate(system.inputs) if any(row[j] is not ZERO for row in system.matrices["B_1"])]
        raise _no_form(found, f"the source {listing(pairs)} decides the velocity of an inertia", pairs[0])


def ports_of(found: Constrained) -> list[Port]:
    """The ports of the states."""
    return [found.causal.graph.ports[k] for k in found.causal.integral]


def _no_form(found: Constrained, what: str, where: str) -> TellegenError:
    return rules.NO_LAGRANGE_FORM.error(
        f"'{found.model.name}' has no Lagrange form: {what}",
        where=where,
        fix=f"give it an inertia at '{where}', or choose the form field or hamilton",
        members=[where],
    )


def sums(rows: Matrix, factors: Sequence[Expression]) -> Vector:
    """The products of the rows of a matrix with a vector."""
    return tuple(total(e * x for e, x in zip(row, factors, strict=True)) for row in rows)
