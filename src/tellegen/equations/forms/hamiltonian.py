"""The port-Hamiltonian form of a model: its value, and the way to it from the POG form, also where sources decide the output of
a storage.

What such a storage takes is the rate of the input, and the form has no rates of inputs. So the output v that the source holds is
kept as a state, tied to the input by a constraint, and what the source supplies is the multiplier of that constraint:

    E [z; v]' = (J - R) [z; v] + [0; 1] y + (g - P) u,   0 = u - v

(descriptor port-Hamiltonian systems: Beattie, Mehrmann, Xu and Zwart 2018). J with the constraint is skew again, the energy is that
of all storages, and H' = y^T u - what is dissipated holds for every differentiable input.

    x' = (J - R) grad_H + (g - P) u
    y  = (g + P)^T grad_H + (S + N) u

With L x' = -A x + B u, y = C x + D u and energy variables p = L x: J = -A_w, R = A_s, g = (B + C^T)/2, P = (C^T - B)/2, and S and
N are the symmetric and the skew part of D (van der Schaft and Jeltsema 2014, chapter 4). Then [[R, P], [P^T, S]] is the part of
[[A, -B], [C, D]] that dissipates. Contents that dependent storages share, and such as displacements move, are those of
`canonical`. Where the energy variables cannot be had in closed form, the form is written in co-energy variables,
E x' = (J - R) grad_H + (g - P) u with E = L. Where a source decides the output of a storage, E is singular (see `_held_inputs`).

Temperature times heat flow is no power. What capacities of heat add to the form is therefore no energy but
H_heat = sum C T^2 / 2, in J*K, which falls as temperatures even out: the same structure, with temperatures for co-energy variables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, final

from tellegen.core.domains import DOMAINS, other_side
from tellegen.core.names import listing, named_after, unused
from tellegen.equations import rules
from tellegen.equations.derivation import derive_equations
from tellegen.equations.forms.canonical import CanonicalForm
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, solved, transposed, zeros
from tellegen.equations.printing.latex import hamiltonian_to_latex
from tellegen.equations.printing.record import hamiltonian_to_record
from tellegen.equations.printing.text import hamiltonian_to_text
from tellegen.equations.signal_equations import NO_SIGNALS, SignalEquations
from tellegen.equations.storages import energy_of_law, energy_of_port, energy_told
from tellegen.equations.system import Algebraic, EquationSystem, PrintedForm, number_of
from tellegen.expressions import HALF, MINUS_ONE, ONE, ZERO, Add, Expression, Mul, is_zero, number, symbol, total
from tellegen.expressions.elimination import LONGEST, NamedEntries, leaf_count, with_definitions
from tellegen.expressions.simplification import shortened
from tellegen.expressions.sympy_view import matrix_view
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT

HamiltonianName = Literal["J", "R", "g", "P", "S", "N", "E", "E_1"]


@final
@dataclass(frozen=True)
class HamiltonianSystem(PrintedForm):
    """`x' = (J - R) grad_H + (g - P) u`, `y = (g + P)^T grad_H + (S + N) u`, with J and N skew, R and S symmetric.

    Energy form: the states are energy variables, `H` is their energy and `grad_H` its gradient. `energy_variables` says what each
    state is in the power variables of the POG form; of contents that storages share, these are names under `where`, and the
    displacements that move them are states. Co-energy form (`co_energy` lists the states that are power variables):
    the left side is `E x'`, or `E x' + E_1 x` with E_1 half the rate of E where displacements move it; `grad_H` are still the
    co-energy variables, so that the power balance reads the same:

        d(H + H_heat)/dt = y^T u - [grad_H, u]^T [[R, P], [P^T, S]] [grad_H, u] - grad_H^T f - u^T f_y

    Where a source decides the output of a storage, `multipliers` are states without energy: what these sources supply. Their rows
    are constraints, `0 = u - v`. `H_heat` is what capacities of heat add, in J*K: temperature times heat flow is no power, so it is
    a function that falls as temperatures even out, and no energy. Storages of heat and the others keep a balance each.
    `signals` are what drives inputs and moduli.

    `f` and `f_y` hold nonlinear resistive laws that are no product with the own co-energy variable; most models have none. `H`
    has integrals where the energy of a law has no formula. `matrices` hold our own expressions; `form.J`, ... are SymPy's view.
    """

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    matrices: Mapping[HamiltonianName, Matrix]
    H: Expression | None
    grad_H: Vector
    f: Vector
    f_y: Vector
    energy_variables: Mapping[str, Expression] = field(default_factory=dict)
    co_energy: tuple[str, ...] = ()
    multipliers: tuple[str, ...] = ()
    H_heat: Expression | None = ZERO
    algebraic: Algebraic = field(default_factory=Algebraic)
    where: Mapping[str, Expression] = field(default_factory=dict)
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    signals: SignalEquations = NO_SIGNALS
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    printers = hamiltonian_to_text, hamiltonian_to_latex, hamiltonian_to_record

    def with_entries(self, change: Callable[[Expression], Expression]) -> "HamiltonianSystem":
        """The system with every expression in it changed."""

        def changed(names: Mapping[str, Expression]) -> dict[str, Expression]:
            return {name: change(e) for name, e in names.items()}

        return replace(
            self,
            matrices={name: tuple(tuple(map(change, row)) for row in m) for name, m in self.matrices.items()},
            H=None if self.H is None else change(self.H),
            H_heat=None if self.H_heat is None else change(self.H_heat),
            grad_H=tuple(map(change, self.grad_H)),
            f=tuple(map(change, self.f)),
            f_y=tuple(map(change, self.f_y)),
            energy_variables=changed(self.energy_variables),
            algebraic=Algebraic(self.algebraic.unknowns, tuple(map(change, self.algebraic.residuals))),
            where=changed(self.where),
            displacements=changed(self.displacements),
            signals=self.signals.changed(change),
        )

    def numeric(self) -> "HamiltonianSystem":
        """The system with numbers in place of its parameters.

        Raises: EquationError naming a parameter without a value.
        """
        values = self.values()
        numbers: dict[str, Expression] = {name: number(value) for name, value in values.items()}

        def value(expression: Expression) -> Expression:
            if expression.free_symbols <= self.parameters.keys():
                return number(number_of(expression, values, self.name))
            return expression.substitute(numbers)

        written = self.with_entries(lambda e: with_definitions(e, self.where))
        return replace(written, where={}).with_entries(value)

    J = matrix_view("The skew matrix that redistributes", lambda form: form.matrices["J"])
    R = matrix_view("The symmetric matrix that dissipates", lambda form: form.matrices["R"])
    g = matrix_view("The input matrix", lambda form: form.matrices["g"])
    P = matrix_view("The dissipation between states and inputs", lambda form: form.matrices["P"])
    S = matrix_view("The symmetric direct term", lambda form: form.matrices["S"])
    N = matrix_view("The skew direct term", lambda form: form.matrices["N"])


SUPPLY = "#supply"
"""Ends the name of what a source supplies while it is an input: no name of a model has it."""


def _held_inputs(system: EquationSystem) -> tuple[str, ...]:
    """The inputs whose rates the equations contain: each decides the output of a storage."""
    # A source whose rate counts holds the output of a storage: that is what rates of inputs mean.
    rows = (*system.matrices["B_1"], *system.matrices["D_1"])
    return tuple(name for j, name in enumerate(system.inputs) if any(row[j] is not ZERO for row in rows))


def _with_sources_freed(system: EquationSystem, held: Sequence[str]) -> EquationSystem:
    """The model with storages of no inertia in place of the sources that hold the output of a storage.

    Their outputs are then states under the names of the inputs, and the storages that follow them share in the energy matrix.

    Raises: EquationError (E107) where the model is not at hand.
    """
    origin = system.origin
    if origin is None:
        raise rules.NO_HAMILTONIAN_FORM.error(
            f"the equations of '{system.name}' contain the rate of {listing(held)}, and matrices alone do not tell which storage "
            "takes it",
            where=system.name,
            fix="derive the form from the model",
        )
    graph = origin.graph
    ports = [
        replace(p, law=StorageLaw(p.source.side, ZERO), state=p.source.input) if _holds(p, held) else p
        for p in graph.ports
    ]
    # With a constant transformation a storage of no inertia in place of the source says it all.
    if not _moves(system):
        return derive_equations(replace(origin, graph=replace(graph, ports=tuple(ports))))
    # The rate of a modulus that reads a state contains what the source supplies: it is an input, until the constraint is back.
    supplies = [_supply(port, system) for port in graph.ports if _holds(port, held)]
    # Causality is not assigned anew: every other port keeps what it decides.
    decides = (*origin.decides, *(port.source.side for port in supplies))
    return derive_equations(replace(origin, graph=replace(graph, ports=(*ports, *supplies)), decides=decides))


def _holds(port: Port, held: Sequence[str]) -> bool:
    return isinstance(port.law, SourceLaw) and port.law.input in held


def _moves(system: EquationSystem) -> bool:
    """Whether a modulus before a dependent storage reads a state or an input."""
    variables = {*system.states, *system.inputs}
    written = [with_definitions(output, system.where) for output in system.dependent.values()]
    slopes = (e.derivative(name) for e in written for name in sorted(variables & e.free_symbols))
    return any(variables & slope.free_symbols for slope in slopes)


def _supply(port: Port, system: EquationSystem) -> Port:
    """What a source supplies, as a source of its own at the same place; it counts into the element, so against the supply."""
    law = port.source
    return replace(
        port, element=f"{port.element}{SUPPLY}", law=SourceLaw(other_side(law.side), _supply_name(law.input))
    )


def _supply_name(given: str) -> str:
    return f"{given}{SUPPLY}"


def _rate_name(state: str) -> str:
    """What equations call the rate of a state that a modulus reads."""
    return f"{state}_rate"


def with_constraints(form: HamiltonianSystem, system: EquationSystem, held: Sequence[str]) -> HamiltonianSystem:
    """The form of a freed model with its sources back: one multiplier and one constraint for each of them."""
    names = _state_names(system, held)
    places = [form.states.index(name) for name in held]
    supplied = tuple(system.outputs[system.inputs.index(name)] for name in held)
    columns = [form.inputs.index(name) if name in form.inputs else None for name in system.inputs]
    n, k = len(form.states), len(held)
    m = form.matrices
    # 0 = u - v below, and its transpose with the other sign beside it: J stays skew.
    tied = tuple(tuple(MINUS_ONE if j == place else ZERO for j in range(n)) for place in places)
    ties = tuple(tuple(ONE if i == place else ZERO for place in places) for i in range(n))
    inputs = tuple(tuple(ONE if name == given else ZERO for given in system.inputs) for name in held)
    matrices: dict[HamiltonianName, Matrix] = {
        "J": _bordered(m["J"], ties, tied),
        "R": _bordered(m["R"], zeros(n, k), zeros(k, n)),
        "g": (*_picked(m["g"], columns), *inputs),
        "P": (*_picked(m["P"], columns), *zeros(k, len(columns))),
        "S": _spread(m["S"], columns),
        "N": _spread(m["N"], columns),
        "E": _bordered(m["E"], zeros(n, k), zeros(k, n)),
        "E_1": _bordered(m["E_1"], zeros(n, k), zeros(k, n)),
    }
    whole = replace(
        form,
        matrices=matrices,
        inputs=system.inputs,
        outputs=system.outputs,
        f=(*form.f, *(ZERO for _ in held)),
        f_y=tuple(ZERO if j is None else form.f_y[j] for j in columns),
        grad_H=(*form.grad_H, *map(symbol, supplied)),
    )
    own: dict[str, Expression] = {name: symbol(new) for name, new in names.items()}
    own |= {_supply_name(name): -symbol(y) for name, y in zip(held, supplied, strict=True)}
    rates = {_rate_name(name): _rate_name(new) for name, new in names.items() if _rate_name(name) in form.where}
    own |= {old: symbol(new) for old, new in rates.items()}
    return replace(
        whole.with_entries(lambda e: e.substitute(own)),
        states=(*(names.get(name, name) for name in form.states), *supplied),
        co_energy=(*(names.get(name, name) for name in form.co_energy), *supplied),
        multipliers=supplied,
        where={rates.get(name, name): e.substitute(own) for name, e in whole.where.items()},
    )


def _state_names(system: EquationSystem, held: Sequence[str]) -> dict[str, str]:
    """A name for the output that each source holds: that of a storage that has it too, else the letter and the source."""
    assert system.origin is not None, "freed models have a graph"
    # A storage that follows the source has the same output, and its name tells more than that of the source.
    same = {e: name for name, e in system.dependent.items()}
    taken = {*system.parameters, *system.states, *system.inputs, *system.outputs, *system.where, *system.displacements}
    found: dict[str, str] = {}
    for port in system.origin.graph.ports:
        law = port.law
        if isinstance(law, SourceLaw) and law.input in held:
            letter = DOMAINS[port.domain].power(law.side).symbol
            name = same.get(symbol(law.input), named_after(letter, port.element))
            found[law.input] = unused(name, taken)
            taken.add(found[law.input])
    return found


def _bordered(matrix: Matrix, right: Matrix, below: Matrix) -> Matrix:
    """[[matrix, right], [below, 0]]."""
    k = len(below)
    return (*((*a, *b) for a, b in zip(matrix, right, strict=True)), *((*row, *zeros(1, k)[0]) for row in below))


def _picked(matrix: Matrix, columns: Iterable[int | None]) -> Matrix:
    columns = list(columns)
    return tuple(tuple(ZERO if j is None else row[j] for j in columns) for row in matrix)


def _spread(matrix: Matrix, columns: Sequence[int | None]) -> Matrix:
    return tuple(tuple(ZERO if i is None or j is None else matrix[i][j] for j in columns) for i in columns)


LONGEST_INVERSE = 5
"""Entries of the inverse of a field with more leaves than this (three coupled coils) make the co-energy form the readable one."""


def port_hamiltonian(system: EquationSystem) -> HamiltonianSystem:
    """The port-Hamiltonian form of a model.

    Energy variables are named by the domain and the element, `phi_L_a`. Where dependent storages couple states, or displacements
    move what is stored, these are contents p = L z of several storages together, displacements are states beside them, and names
    under `where` give the outputs z by both. The co-energy form is given where the law of a storage cannot be solved for its
    output, where what is stored moves with states, inputs or signals, or where the inverse of a field is too long to be read.

    Where a source decides the output of a storage, that output is a state too, tied to the input by a constraint whose multiplier
    is what the source supplies; E is singular then. Capacities of heat add to `H_heat` and not to `H`. The displacements that
    weights read are states, and the potential energy is part of `H`.

    Raises: EquationError (E107) for matrices without a model that contain rates of inputs.

    >>> from tellegen.workflow.deriving import derive
    >>> form = port_hamiltonian(derive("dc_motor_pump"))
    >>> form.states
    ('phi_L_a', 'p_J_m', 'V_C_0')
    """
    floating = _without_weights(system)
    canonical = _canonical(
        system if floating is None else floating, ZERO if floating is None else system.potential_energy
    )
    if canonical is not None:
        return canonical
    if floating is not None:
        return _with_heights(port_hamiltonian(floating), system)
    # Without such sources the form is an ordinary one; with them E is singular.
    held = _held_inputs(system)
    if not held:
        return _Conversion(system).system()
    return with_constraints(_Conversion(_with_sources_freed(system, held), by_energy=False).system(), system, held)


def _canonical(system: EquationSystem, potential: Expression) -> HamiltonianSystem | None:
    """The form in contents that storages share, where dependent storages or displacements make them share; else None."""
    if _held_inputs(system):
        return None
    return _Conversion(system).canonical(potential)


def energy_names(system: EquationSystem) -> tuple[str, ...]:
    """A name for the energy variable of each state: its own where it is one, else `<symbol>_<element>`, each name once."""
    displaced = {*system.displacements, *system.where, *system.algebraic.unknowns}
    taken = {*system.parameters, *system.states, *system.inputs, *system.outputs, *system.dependent, *displaced}
    if system.origin is not None:
        taken |= {name for port in system.origin.graph.ports for name in (port.across, port.through)}
    names = []
    for state, port in zip(system.states, _state_ports(system), strict=True):
        names.append(unused(_energy_name(state, port), taken - {state}))
        taken.add(names[-1])
    return tuple(names)


def _energy_name(state: str, port: Port | None) -> str:
    if port is None:
        return named_after("p", state)
    law = port.storage
    letter = DOMAINS[port.domain].energy(law.side).symbol
    return state if law.keeps_energy_variable else named_after(letter, port.element)


def _state_ports(system: EquationSystem) -> list[Port | None]:
    if system.origin is None:
        return [None] * len(system.states)
    return [system.origin.graph.ports[k] for k in system.origin.integral]


def _by_co_energy(system: EquationSystem) -> EquationSystem:
    """The same model with the output of every storage as its state, whatever the law of the storage.

    A storage that keeps its energy variable is replaced by one of inertia 1, so that A, B, C and D act on its output.
    """
    origin = system.origin
    if origin is None or not any(_keeps(port) for port in origin.graph.ports):
        return system
    ports = tuple(_plain_storage(port) if _keeps(port) else port for port in origin.graph.ports)
    return derive_equations(replace(origin, graph=replace(origin.graph, ports=ports)))


def _keeps(port: Port | None) -> bool:
    return port is not None and isinstance(port.law, StorageLaw) and port.law.keeps_energy_variable


def _plain_storage(port: Port) -> Port:
    side = port.storage.side
    return replace(port, law=StorageLaw(side, ONE), state=port.variable(side))


class _Conversion:
    """Rewrites one system; `plain` is the same model over co-energy variables only."""

    def __init__(self, system: EquationSystem, *, by_energy: bool = True) -> None:
        self.given = system
        self.by_energy = by_energy
        self.plain = _by_co_energy(system)
        self.ports = _state_ports(system)
        self.variables = {*self.plain.states, *system.inputs, *system.algebraic.unknowns, *system.displacements}

    def system(self) -> HamiltonianSystem:
        """The form in energy variables where they exist, else in co-energy variables."""
        # Energy variables need x = L^-1 p; where that is long, or L moves, the co-energy form is the readable one.
        inverse = self._inverse() if self.by_energy and self._has_energy_form() else None
        names = self.given.states if inverse is None else energy_names(self.given)
        gradient = tuple(self._output(k, name, inverse, names) for k, name in enumerate(names))
        matrices, f = self._structure()
        if inverse is None:
            matrices |= {"E": self.given.matrices["L"], "E_1": self._half(self.given.matrices["N"], 1)}
        co_energy = tuple(s for s, port in zip(self.given.states, self.ports, strict=True) if not _keeps(port))
        made = HamiltonianSystem(
            name=self.given.name,
            states=names,
            inputs=self.given.inputs,
            outputs=self.given.outputs,
            parameters=self.given.parameters,
            matrices=matrices,
            H=self._given_energy() if inverse is None else self._energy(names, gradient, heat=False),
            H_heat=self._heat_function(None if inverse is None else (names, gradient)),
            grad_H=gradient,
            f=f,
            f_y=self.plain.vectors["f_y"],
            co_energy=() if inverse is not None else co_energy,
            algebraic=self.plain.algebraic,
            where=self.plain.where,
            displacements=self.plain.displacements,
            signals=self.plain.signals,
        )
        outputs = {
            e: g for e, g in zip(self.plain.states, gradient, strict=True) if g is not symbol(e)
        }  # the power variables that are no states any more
        written = made.with_entries(lambda e: e.substitute(outputs)) if outputs else made
        return replace(written, energy_variables={} if inverse is None else self._definitions(names))

    def canonical(self, potential: Expression) -> HamiltonianSystem | None:
        """The form in contents of several storages together; None where each has its own, or where there is no such form."""
        L, states = self.plain.matrices["L"], self.plain.states
        shared = not self._is_diagonal() and bool(self.plain.dependent)
        if not (shared or any(not self._is_constant(e) for row in L for e in row)):
            return None
        laws = tuple(port.storage if port is not None and _keeps(port) else None for port in self.ports)
        alone = [all(e is (ONE if i == j else ZERO) for j, e in enumerate(row)) for i, row in enumerate(L)]
        # What has a content of its own, or none that counts as energy, is no part of a quadratic H.
        if any(law is not None and not own for law, own in zip(laws, alone, strict=True)) or any(
            map(_is_heat, self.ports)
        ):
            return None
        if any(self._offset(k) is not ZERO for k in range(len(states)) if laws[k] is None):
            return None
        form = CanonicalForm(self.plain, energy_names(self.given), laws, potential)
        energy = form.energy() if form.exists else None
        if energy is None:
            return None
        m, f = self._structure()
        coordinates, inputs = len(form.q), len(self.given.inputs)
        exchanged = negative(self._half(self.plain.matrices["A"], -1))
        matrices: dict[HamiltonianName, Matrix] = {
            "J": form.interconnection(exchanged),
            "R": form.padded(m["R"]),
            "g": form.below(m["g"], inputs),
            "P": form.below(m["P"], inputs),
            "S": m["S"],
            "N": m["N"],
        }
        gradient = form.gradient()
        made = HamiltonianSystem(
            name=self.given.name,
            states=(*form.q, *form.names),
            inputs=self.given.inputs,
            outputs=self.given.outputs,
            parameters=self.given.parameters,
            matrices=matrices,
            H=energy + potential,
            grad_H=gradient,
            f=(*(ZERO,) * coordinates, *f),
            f_y=self.plain.vectors["f_y"],
            algebraic=self.plain.algebraic,
            displacements={q: e for q, e in self.plain.displacements.items() if q not in form.q},
            signals=self.plain.signals,
            energy_variables={
                n: dot(row, form.z) for n, row, law in zip(form.names, L, laws, strict=True) if law is None
            },
        )
        shown = [e for rows in matrices.values() for row in rows for e in row]
        others = [*made.algebraic.residuals, *made.displacements.values(), *made.energy_variables.values()]
        return replace(made, where=form.where([*shown, *gradient, energy + potential, *made.f, *made.f_y, *others]))

    # -- energy and co-energy variables ----------------------------------------------------------------------------------------

    def _has_energy_form(self) -> bool:
        """Whether p = L x can be solved for x: L constant, and no dependent storage couples two states."""
        L = self.plain.matrices["L"]
        # With an L that moves H would depend on displacements, and its gradient on more than x.
        constant = all(self._is_constant(e) for row in L for e in row)
        return constant and (not self.plain.dependent or self._is_diagonal())

    def _is_constant(self, expression: Expression) -> bool:
        return self.variables.isdisjoint(with_definitions(expression, self.plain.where).free_symbols)

    def _is_diagonal(self) -> bool:
        return all(e is ZERO for i, row in enumerate(self.plain.matrices["L"]) for j, e in enumerate(row) if i != j)

    def _inverse(self) -> Matrix | None:
        """L^-1; None where the inverse of a field is too long to be read."""
        L = self.plain.matrices["L"]
        # Storages without fields: their reciprocals, without an elimination.
        if self._is_diagonal():
            return tuple(tuple(ONE / e if i == j else ZERO for j, e in enumerate(row)) for i, row in enumerate(L))
        n = len(L)
        arithmetic = NamedEntries(self.plain.parameters, [*self.variables, *self.plain.where], prefix="h")
        identity = tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
        found = solved(L, identity, n, arithmetic)
        assert found is not None, "an energy matrix of independent storages is regular"
        inverse = tuple(tuple(shortened(with_definitions(e, arithmetic.where)) for e in row) for row in found)
        return inverse if all(leaf_count(e) <= LONGEST_INVERSE for row in inverse for e in row) else None

    def _offset(self, k: int) -> Expression:
        """The content of a storage whose output is zero: the flux of a magnet."""
        port = self.ports[k]
        law = None if port is None else port.storage
        # A permanent magnet has flux at zero current: p = p_0 + L x.
        return ZERO if law is None or law.content is None else law.content.substitute({ARGUMENT: ZERO})

    def _output(self, k: int, name: str, inverse: Matrix | None, names: tuple[str, ...]) -> Expression:
        """The co-energy variable of a storage, in terms of the states of the form."""
        port = self.ports[k]
        if port is not None and _keeps(port):
            law = port.storage
            assert law.output is not None, "a law that keeps its energy variable gives the output"
            return law.output.substitute({ARGUMENT: symbol(name)})
        if inverse is None:
            return symbol(name)
        return dot(inverse[k], [symbol(p) - self._offset(j) for j, p in enumerate(names)])

    def _energy(self, names: tuple[str, ...], gradient: Vector, *, heat: bool) -> Expression | None:
        """H of the energy variables, (p - p_0) x / 2 where the law is linear: of the storages of heat, or of the others."""
        shares: list[Expression | None] = []
        for k, (name, port) in enumerate(zip(names, self.ports, strict=True)):
            if _is_heat(port) != heat:
                continue
            if port is not None and _keeps(port):
                shares.append(energy_told(port, symbol(name)))
            else:
                shares.append(HALF * (symbol(name) - self._offset(k)) * gradient[k])
        return _total_of(shares)

    def _given_energy(self) -> Expression | None:
        """The energy of the POG form without the heat in it."""
        energy = self.given.stored_energy
        if energy is None:
            return None
        return energy - total(e for port, at in self._heats() if (e := energy_of_port(port, at)) is not None)

    def _heat_function(self, by_energy: tuple[tuple[str, ...], Vector] | None) -> Expression | None:
        """What capacities of heat add to the form, as if temperature times heat flow were a power; zero for most models."""
        if by_energy is not None:
            return self._energy(*by_energy, heat=True)
        return _total_of(energy_of_law(port.storage, at) for port, at in self._heats())

    def _heats(self) -> Iterable[tuple[Port, Expression]]:
        """The storages of heat, each with its state or, where it follows others, its output."""
        origin = self.given.origin
        if origin is None:
            return
        ports = origin.graph.ports
        yield from ((ports[k], symbol(ports[k].state)) for k in origin.integral if _is_heat(ports[k]))
        for k in origin.derivative:
            if _is_heat(ports[k]):
                yield ports[k], self.given.dependent[ports[k].variable(ports[k].storage.side)]

    def _definitions(self, names: tuple[str, ...]) -> dict[str, Expression]:
        """What the energy variables are in the power variables of the POG form."""
        x = [symbol(state) for state in self.plain.states]
        rows = self.plain.matrices["L"]
        kept = [_keeps(port) for port in self.ports]
        return {
            name: self._offset(k) + dot(rows[k], x)
            for k, (name, keeps) in enumerate(zip(names, kept, strict=True))
            if not keeps
        }

    # -- matrices --------------------------------------------------------------------------------------------------------------

    def _structure(self) -> tuple[dict[HamiltonianName, Matrix], Vector]:
        m = self.plain.matrices
        C_t = transposed(m["C"], len(self.plain.states))
        # What A dissipates is R, what it redistributes J. The skew part of N joins J; its symmetric part is half of L',
        # and stands left as E_1.
        R, f = self._with_laws(self._half(m["A"], 1))
        J = plus(negative(self._half(m["A"], -1)), negative(self._half(m["N"], -1)))
        found: dict[HamiltonianName, Matrix] = {
            "J": J,
            "R": R,
            "g": self._halves(m["B"], C_t, 1),
            "P": self._halves(C_t, m["B"], -1),
            "S": self._half(m["D"], 1),
            "N": self._half(m["D"], -1),
        }
        return found, f

    def _half(self, matrix: Matrix, sign: int) -> Matrix:
        """The symmetric or the skew part of a square matrix."""
        return self._halves(matrix, transposed(matrix, len(matrix)), sign)

    def _halves(self, a: Matrix, b: Matrix, sign: int) -> Matrix:
        """(a + sign b)/2."""
        return tuple(
            tuple(self._mean(x, sign * y) for x, y in zip(p, q, strict=True)) for p, q in zip(a, b, strict=True)
        )

    def _mean(self, a: Expression, b: Expression) -> Expression:
        """(a + b)/2, recognised where it is zero or simply a."""
        where = self.plain.where
        if is_zero(with_definitions(a + b, where)):
            return ZERO
        if is_zero(with_definitions(a - b, where)):
            return a
        # Halves of equal entries are told apart by residues, as B and C^T are written by different paths.
        mean = HALF * (a + b)
        return shortened(mean) if leaf_count(mean) <= LONGEST else mean

    def _with_laws(self, R: Matrix) -> tuple[Matrix, Vector]:
        """R with the laws f_i = r(x_i) x_i on its diagonal, and what is left of f."""
        rest = list(self.plain.vectors["f"])
        rows = [list(row) for row in R]
        for i, name in enumerate(self.plain.states):
            # A law of its own variable alone, f = r(x) x, dissipates on the diagonal, so it may join R.
            alone = self.variables & with_definitions(rest[i], self.plain.where).free_symbols == {name}
            rate = _divided(rest[i], name) if alone else None
            if rate is not None:
                rows[i][i], rest[i] = rows[i][i] + rate, ZERO
        return tuple(map(tuple, rows)), tuple(rest)


def _is_heat(port: Port | None) -> bool:
    return port is not None and DOMAINS[port.domain].heat_books


def _total_of(shares: Iterable[Expression | None]) -> Expression | None:
    known = list(shares)
    return None if None in known else total(e for e in known if e is not None)


def _divided(expression: Expression, name: str) -> Expression | None:
    """The expression over a name, where every term has the name as a factor."""
    if expression is symbol(name):
        return ONE
    if isinstance(expression, Add):
        shares = [_divided(term, name) for term, _ in expression.terms]
        if expression.constant or any(share is None for share in shares):
            return None
        return total(c * share for (_, c), share in zip(expression.terms, shares, strict=True) if share is not None)
    # At least one whole power: sqrt(x)/x is infinite at rest.
    if isinstance(expression, Mul) and dict(expression.factors).get(symbol(name), 0) >= 1:
        return expression * symbol(name) ** MINUS_ONE
    return None


# Weights
#
# With the rates q' = Q grad_H + Q_u u of the displacements that V reads, the forces of the weights are -Q^T dV/dq, so that
#
#     H + V,   grad_H = [.., dV/dq],   J with Q below and -Q^T beside it,   g with Q_u below
#
# is the same model: its weights are storages like the others, and H is constant where nothing is lost or supplied.


def _without_weights(system: EquationSystem) -> EquationSystem | None:
    """The equations without what weights pull; None where there are none, or where other than speeds moves their displacements."""
    origin = system.origin
    weights = set() if origin is None else set(origin.graph.weights())
    if origin is None or not weights or _moved_rows(system) is None:
        return None
    # Open ends in their places: causality and all other equations stay as they are.
    ports = tuple(
        replace(port, law=ResistiveLaw(port.law.side, ZERO, invertible=False)) if k in weights else port
        for k, port in enumerate(origin.graph.ports)
    )
    return derive_equations(replace(origin, graph=replace(origin.graph, ports=ports)))


def _moved_rows(system: EquationSystem) -> Mapping[str, tuple[Expression, ...]] | None:
    """The rates of the displacements that V reads, by states and inputs; None where they are no sums of these."""
    known = (*system.states, *system.inputs)
    rows: dict[str, tuple[Expression, ...]] = {}
    for name in _read_by_potential(system):
        rate = with_definitions(system.displacements[name], system.where)
        rows[name] = tuple(rate.derivative(other) for other in known)
        rest = rate - total(e * symbol(other) for e, other in zip(rows[name], known, strict=True))
        if any(not set(known).isdisjoint(e.free_symbols) for e in rows[name]) or not is_zero(rest):
            return None
    return rows


def _read_by_potential(system: EquationSystem) -> list[str]:
    return [name for name in system.displacements if name in system.potential_energy.free_symbols]


def _with_heights(form: HamiltonianSystem, system: EquationSystem) -> HamiltonianSystem:
    """The form of the equations without weights, with the displacements of the weights of `system` as states and V in H."""
    rows, V = _moved_rows(system), system.potential_energy
    assert rows is not None, "models without such rates keep their weights outside of H"
    # Freed models have further states, and energy variables other names: both keep the order of the states.
    places = [form.states.index(s) if s in form.states else k for k, s in enumerate(system.states)]
    n, k, m = len(form.states), len(rows), len(form.inputs)
    Q = tuple(_in_places(row[: len(places)], places, n) for row in rows.values())
    Q_u = tuple(row[len(places) :] for row in rows.values())
    below = {"J": Q, "R": zeros(k, n), "g": Q_u, "P": zeros(k, m), "E": zeros(k, n), "E_1": zeros(k, n)}
    corners = {"E": tuple(tuple(ONE if i == j else ZERO for j in range(k)) for i in range(k))}
    matrices = dict(form.matrices)
    for name, row in below.items():
        if name in ("g", "P"):
            matrices[name] = (*form.matrices[name], *row)  # type: ignore[index]
        elif name in form.matrices:
            beside = _beside_rates(Q, n) if name == "J" else zeros(n, k)
            matrices[name] = _with_borders(form.matrices[name], beside, row, corners.get(name, zeros(k, k)))  # type: ignore[index]
    return replace(
        form,
        states=(*form.states, *rows),
        matrices=matrices,
        H=None if form.H is None else form.H + V,
        grad_H=(*form.grad_H, *(V.derivative(name) for name in rows)),
        f=(*form.f, *(ZERO for _ in rows)),
        displacements={name: rate for name, rate in form.displacements.items() if name not in rows},
    )


def _in_places(row: Sequence[Expression], places: Sequence[int], count: int) -> tuple[Expression, ...]:
    found: list[Expression] = [ZERO] * count
    for place, e in zip(places, row, strict=True):
        found[place] = e
    return tuple(found)


def _beside_rates(Q: Matrix, count: int) -> Matrix:
    return tuple(tuple(-row[i] for row in Q) for i in range(count))


def _with_borders(matrix: Matrix, beside: Matrix, below: Matrix, corner: Matrix) -> Matrix:
    upper = tuple((*a, *b) for a, b in zip(matrix, beside, strict=True))
    return (*upper, *((*a, *b) for a, b in zip(below, corner, strict=True)))
