"""Sources that decide the output of a storage, in the port-Hamiltonian form.

What such a storage takes is the rate of the input, and the form has no rates of inputs. So the output v that the source holds is
kept as a state, tied to the input by a constraint, and what the source supplies is the multiplier of that constraint:

    E [z; v]' = (J - R) [z; v] + [0; 1] y + (g - P) u,   0 = u - v

(descriptor port-Hamiltonian systems: Beattie, Mehrmann, Xu and Zwart 2018). J with the constraint is skew again, the energy is that
of all storages, and H' = y^T u - what is dissipated holds for every differentiable input.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tellegen.core.domains import DOMAINS, other_side
from tellegen.core.names import listing, named_after
from tellegen.equations import rules
from tellegen.equations.assembly import derive_equations
from tellegen.equations.hamiltonian_system import HamiltonianName, HamiltonianSystem
from tellegen.equations.matrices import Matrix
from tellegen.equations.system import EquationSystem
from tellegen.expressions import MINUS_ONE, ONE, ZERO, Expression, symbol
from tellegen.expressions.entries import substituted
from tellegen.graph import Port, SourceLaw, StorageLaw

SUPPLY = "#supply"
"""Ends the name of what a source supplies while it is an input: no name of a model has it."""


def held_inputs(system: EquationSystem) -> tuple[str, ...]:
    """The inputs whose rates the equations contain: each decides the output of a storage."""
    rows = (*system.matrices["B_1"], *system.matrices["D_1"])
    return tuple(name for j, name in enumerate(system.inputs) if any(row[j] is not ZERO for row in rows))


def freed(system: EquationSystem, held: Sequence[str]) -> EquationSystem:
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
    ports = [_without_source(port) if _holds(port, held) else port for port in graph.ports]
    if not _moves(system):
        return derive_equations(replace(origin, graph=replace(graph, ports=tuple(ports))))
    # The rate of a modulus that reads a state contains what the source supplies: it is an input, until the constraint is back.
    supplies = [_supply(port, system) for port in graph.ports if _holds(port, held)]
    decides = (*origin.decides, *(law_of(port).side for port in supplies))
    return derive_equations(replace(origin, graph=replace(graph, ports=(*ports, *supplies)), decides=decides))


def _holds(port: Port, held: Sequence[str]) -> bool:
    return isinstance(port.law, SourceLaw) and port.law.input in held


def _without_source(port: Port) -> Port:
    assert isinstance(port.law, SourceLaw), "only sources are freed"
    return replace(port, law=StorageLaw(port.law.side, ZERO), state=port.law.input)


def _moves(system: EquationSystem) -> bool:
    """Whether a modulus before a dependent storage reads a state or an input."""
    variables = {*system.states, *system.inputs}
    written = [substituted(output, system.where) for output in system.dependent.values()]
    slopes = (e.derivative(name) for e in written for name in sorted(variables & e.free_symbols))
    return any(variables & slope.free_symbols for slope in slopes)


def _supply(port: Port, system: EquationSystem) -> Port:
    """What a source supplies, as a source of its own at the same place; it counts into the element, so against the supply."""
    law = law_of(port)
    return replace(
        port, element=f"{port.element}{SUPPLY}", law=SourceLaw(other_side(law.side), _supply_name(law.input))
    )


def law_of(port: Port) -> SourceLaw:
    """The law of a source."""
    assert isinstance(port.law, SourceLaw), f"'{port.element}' is no source"
    return port.law


def _supply_name(given: str) -> str:
    return f"{given}{SUPPLY}"


def rate_name(state: str) -> str:
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
    tied = tuple(tuple(MINUS_ONE if j == place else ZERO for j in range(n)) for place in places)
    ties = tuple(tuple(ONE if i == place else ZERO for place in places) for i in range(n))
    inputs = tuple(tuple(ONE if name == given else ZERO for given in system.inputs) for name in held)
    matrices: dict[HamiltonianName, Matrix] = {
        "J": _bordered(m["J"], ties, tied),
        "R": _bordered(m["R"], _zeros(n, k), _zeros(k, n)),
        "g": (*_picked(m["g"], columns), *inputs),
        "P": (*_picked(m["P"], columns), *_zeros(k, len(columns))),
        "S": _spread(m["S"], columns),
        "N": _spread(m["N"], columns),
        "E": _bordered(m["E"], _zeros(n, k), _zeros(k, n)),
        "E_1": _bordered(m["E_1"], _zeros(n, k), _zeros(k, n)),
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
    rates = {rate_name(name): rate_name(new) for name, new in names.items() if rate_name(name) in form.where}
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
    same = {e: name for name, e in system.dependent.items()}
    taken = {*system.parameters, *system.states, *system.inputs, *system.outputs, *system.where, *system.displacements}
    found: dict[str, str] = {}
    for port in system.origin.graph.ports:
        law = port.law
        if isinstance(law, SourceLaw) and law.input in held:
            letter = DOMAINS[port.domain].power(law.side).symbol
            name = same.get(symbol(law.input), named_after(letter, port.element))
            while name in taken:
                name += "_"
            taken.add(name)
            found[law.input] = name
    return found


def _zeros(rows: int, columns: int) -> Matrix:
    return ((ZERO,) * columns,) * rows


def _bordered(matrix: Matrix, right: Matrix, below: Matrix) -> Matrix:
    """[[matrix, right], [below, 0]]."""
    k = len(below)
    return (*((*a, *b) for a, b in zip(matrix, right, strict=True)), *((*row, *_zeros(1, k)[0]) for row in below))


def _picked(matrix: Matrix, columns: Iterable[int | None]) -> Matrix:
    columns = list(columns)
    return tuple(tuple(ZERO if j is None else row[j] for j in columns) for row in matrix)


def _spread(matrix: Matrix, columns: Sequence[int | None]) -> Matrix:
    return tuple(tuple(ZERO if i is None or j is None else matrix[i][j] for j in columns) for i in columns)
