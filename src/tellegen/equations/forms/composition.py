"""Linear systems joined port to port or side by side at one input, and inputs that change places with their outputs.

All of them: L x' = -(A + B D^-1 C) x + B D^-1 y, u = -D^-1 C x + D^-1 y. Some of them: the same for the rows and columns of D
chosen, whose block has to be regular. Power does not see it: y^T u is what is supplied before and after.

`y` of an input is the conjugate that makes y u the power supplied. Joined in a chain, what one gives is what the other takes, and
what comes back has the opposite sign, so that no power is lost between them. Side by side they share an input, and their answers
add up: resistors in parallel share a voltage, resistors in series a current.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tellegen.core.names import did_you_mean
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product, solved_linear_system, zeros
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import ONE, ZERO, symbol
from tellegen.expressions.elimination import with_definitions


def invert_ports(system: EquationSystem, inputs: Iterable[str] | None = None) -> EquationSystem:
    """The system with some inputs (all of them unless named) exchanged for their own outputs.

    Raises: EquationError (E104) for a system that is not linear, E130 for a name that is no input, for rates of inputs, and where
    an output does not answer its input at once.
    """
    _check_ports(system)
    wanted = list(system.inputs) if inputs is None else list(inputs)
    for name in wanted:
        if name not in system.inputs:
            fix = did_you_mean(name, system.inputs) or f"the inputs are {', '.join(system.inputs) or '(none)'}"
            raise rules.NO_PORT_INVERSION.error(f"'{name}' is no input", where=name, fix=fix)
    # In the order of the system, not of the question, so that both give one result.
    chosen = [k for k, name in enumerate(system.inputs) if name in wanted]
    others = [k for k in range(len(system.inputs)) if k not in chosen]
    return _exchanged(system, chosen, others)


def _check_ports(system: EquationSystem) -> None:
    """Raises: EquationError (E104, E130) for a system that is not linear or contains rates of inputs."""
    if not system.linear:
        fix = "linearise it at an operating point first"
        raise rules.NOT_LINEAR.error(f"'{system.name}' is not linear", where=system.name, fix=fix)
    if not (system.is_zero("B_1") and system.is_zero("D_1")):
        what = f"'{system.name}' contains rates of its inputs"
        why = "inverted, its outputs would be states of their own"
        fix = "put a resistive element between the source and the storage that follows it"
        raise rules.NO_PORT_INVERSION.error(what, where=system.name, why=why, fix=fix)


def _exchanged(system: EquationSystem, chosen: Sequence[int], others: Sequence[int]) -> EquationSystem:
    n, m = len(system.states), len(system.inputs)
    C, D = system.matrices["C"], system.matrices["D"]
    # u of the ports chosen, over x, then over the new inputs: y where a port was chosen, u elsewhere.
    right = tuple(
        (*(-e for e in C[i]), *((ONE if i == j else ZERO) if j in chosen else -D[i][j] for j in range(m)))
        for i in chosen
    )
    # Written out, so that a singular block is seen as one.
    block = tuple(tuple(with_definitions(D[i][j], system.where) for j in chosen) for i in chosen)
    found = _solved(system, block, right)
    if found is None:
        ports = ", ".join(f"'{system.outputs[i]}' of '{system.inputs[i]}'" for i in chosen)
        what = f"the outputs do not determine the inputs: D is singular for {ports}"
        fix = "exchange other inputs, or invert the path on the scheme with derivative causality"
        raise rules.NO_PORT_INVERSION.error(what, where=system.inputs[chosen[0]], fix=fix)
    inputs, outputs = list(system.inputs), list(system.outputs)
    for i in chosen:
        inputs[i], outputs[i] = outputs[i], inputs[i]
    rows = dict(zip(chosen, found, strict=True))
    fed = _fed(system, rows, {i: i for i in others}, inputs)
    # What was imposed is told now: the rows of the inputs themselves.
    told: dict[MatrixName, Matrix] = {
        "C": tuple(rows[i][:n] if i in rows else row for i, row in enumerate(fed.matrices["C"])),
        "D": tuple(rows[i][n:] if i in rows else row for i, row in enumerate(fed.matrices["D"])),
    }
    return replace(fed, outputs=tuple(outputs), matrices={**fed.matrices, **told}, origin=None)


def _solved(system: EquationSystem, left: Matrix, right: Matrix) -> Matrix | None:
    taken = (*system.where, *system.states, *system.inputs)
    return solved_linear_system(left, right, len(right[0]) if right else 0, system.parameters, taken)


def _fed(
    system: EquationSystem, rows: Mapping[int, Vector], kept: Mapping[int, int], inputs: Sequence[str]
) -> EquationSystem:
    """The system with other `inputs` v: u = X x + U v, by its `rows` [X U]; the inputs `kept` are v of that number.

    Its outputs are still those of u, and rates of inputs do not count.
    """
    M, n, w = system.matrices, len(system.states), len(inputs)
    whole = [
        rows[i] if i in rows else tuple(ONE if j == n + kept[i] else ZERO for j in range(n + w))
        for i in range(len(system.inputs))
    ]
    X, U = tuple(row[:n] for row in whole), tuple(row[n:] for row in whole)
    matrices: dict[MatrixName, Matrix] = {
        **M,
        "A": plus(M["A"], negative(product(M["B"], X, n))),
        "B": product(M["B"], U, w),
        "C": plus(M["C"], product(M["D"], X, n)),
        "D": product(M["D"], U, w),
        "B_1": zeros(n, w),
        "D_1": zeros(len(system.inputs), w),
    }
    z = [*map(symbol, system.states), *map(symbol, inputs)]
    told = {u: dot(row, z) for u, row in zip(system.inputs, whole, strict=True)}
    energy = system.stored_energy
    return replace(
        system,
        inputs=tuple(inputs),
        matrices=matrices,
        stored_energy=None if energy is None else energy.substitute(told),
        dissipated_power=system.dissipated_power.substitute(told),
        dependent={name: e.substitute(told) for name, e in system.dependent.items()},
    )


SQUARE: tuple[MatrixName, ...] = ("L", "A", "N")


def in_chain(one: EquationSystem, two: EquationSystem, ports: Mapping[str, str]) -> EquationSystem:
    """The two systems joined at `ports`: outputs of the first that are inputs of the second.

    The input of the first that belongs to such an output is minus the output of the second that belongs to the input.

    Raises: EquationError (E104) for systems that are not linear, E130 for rates of inputs, E131 for names that are not there or
    clash, and where the ports answer each other at once without solution.
    """
    both = _beside(one, two)
    first = [_place(one.outputs, name, "output") for name in ports]
    second = [len(one.inputs) + _place(two.inputs, name, "input") for name in ports.values()]
    # Two outputs cannot both decide one input.
    if len(set(second)) < len(second):
        raise rules.NO_COMPOSITION.error("an input is joined to two outputs", fix="join each input once")
    return _closed(both, first, second)


def side_by_side(one: EquationSystem, two: EquationSystem, ports: Mapping[str, str]) -> EquationSystem:
    """The two systems with inputs of the first (keys) and of the second (values) as one; the answers to them add up.

    The input keeps the name it has in the first system, and the sum of the outputs the name of the first one.

    Raises: EquationError (E104, E130, E131) as `in_chain`.
    """
    both = _beside(one, two)
    first = [_place(one.inputs, name, "input") for name in ports]
    second = [len(one.inputs) + _place(two.inputs, name, "input") for name in ports.values()]
    # The input of the second system gives way to that of the first.
    joined = dict(zip(second, first, strict=True))
    kept = [k for k in range(len(both.inputs)) if k not in joined]
    # u = P v and y of v = P^T y of u: the same matrix on both sides, so that power is the same.
    fed = _fed(
        both, {}, {i: kept.index(joined.get(i, i)) for i in range(len(both.inputs))}, [both.inputs[k] for k in kept]
    )
    M, n, w = fed.matrices, len(fed.states), len(kept)
    P_t = tuple(tuple(ONE if joined.get(i, i) == k else ZERO for i in range(len(both.inputs))) for k in kept)
    return _with_outputs(fed, kept, product(P_t, M["C"], n), product(P_t, M["D"], w))


def _beside(one: EquationSystem, two: EquationSystem) -> EquationSystem:
    """Both systems as one that nothing joins."""
    _check_ports(one)
    _check_ports(two)
    _check_names(one, two)
    matrices: dict[MatrixName, Matrix] = {
        name: _diagonal(one.matrices[name], two.matrices[name], *_widths(one, two, name)) for name in one.matrices
    }
    energies = (one.stored_energy, two.stored_energy)
    return replace(
        one,
        name=f"{one.name} and {two.name}",
        states=(*one.states, *two.states),
        inputs=(*one.inputs, *two.inputs),
        outputs=(*one.outputs, *two.outputs),
        parameters={**one.parameters, **two.parameters},
        matrices=matrices,
        vectors={
            "f": (ZERO,) * (len(one.states) + len(two.states)),
            "f_y": (ZERO,) * (len(one.inputs) + len(two.inputs)),
        },
        where={**one.where, **two.where},
        stored_energy=None if None in energies else energies[0] + energies[1],  # type: ignore[operator]
        dissipated_power=one.dissipated_power + two.dissipated_power,
        potential_energy=one.potential_energy + two.potential_energy,
        dependent={**one.dependent, **two.dependent},
        initial={**one.initial, **two.initial},
        displacements={**one.displacements, **two.displacements},
        origin=None,
    )


def _widths(one: EquationSystem, two: EquationSystem, name: MatrixName) -> tuple[int, int]:
    over_states = name in (*SQUARE, "C")
    return (len(one.states), len(two.states)) if over_states else (len(one.inputs), len(two.inputs))


def _diagonal(one: Matrix, two: Matrix, first: int, second: int) -> Matrix:
    return (*((*row, *(ZERO,) * second) for row in one), *((*(ZERO,) * first, *row) for row in two))


def _check_names(one: EquationSystem, two: EquationSystem) -> None:
    """Variables are apart; a parameter or a name under "where" of both has one meaning."""
    # Equal names of variables would merge two states into one without a word.
    variables = [{*s.states, *s.inputs, *s.displacements, *s.signals.names} for s in (one, two)]
    twice = sorted(variables[0] & variables[1])
    others = [set(s.parameters) | set(s.where) for s in (one, two)]
    twice += sorted((variables[0] & others[1]) | (variables[1] & others[0]))
    twice += [n for n in one.parameters if n in two.parameters and one.parameters[n] != two.parameters[n]]
    twice += [n for n in one.where if n in two.where and one.where[n] != two.where[n]]
    if twice:
        what = f"'{one.name}' and '{two.name}' both have {', '.join(dict.fromkeys(twice))}, and mean different things"
        fix = "give the variables and parameters of one of them other names, or make both parts of one model"
        raise rules.NO_COMPOSITION.error(what, where=twice[0], fix=fix, members=twice)


def _place(names: Sequence[str], name: str, word: str) -> int:
    if name not in names:
        fix = did_you_mean(name, names) or f"the {word}s are {', '.join(names) or '(none)'}"
        raise rules.NO_COMPOSITION.error(f"'{name}' is no {word}", where=name, fix=fix)
    return names.index(name)


def _closed(both: EquationSystem, first: Sequence[int], second: Sequence[int]) -> EquationSystem:
    """Ports joined two by two: u_second = y_first, u_first = -y_second."""
    M, m = both.matrices, len(both.inputs)
    # Joined ports disappear from the system: what one gives is what the other takes.
    inner = [*first, *second]
    kept = [k for k in range(m) if k not in inner]
    signed = [(j, -ONE) for j in second] + [(i, ONE) for i in first]  # what decides each inner input
    # (1 - S D) u = S (C x + D v), with S the exchange of outputs.
    left = tuple(
        tuple((ONE if k == inner[r] else ZERO) - sign * with_definitions(M["D"][j][k], both.where) for k in inner)
        for r, (j, sign) in enumerate(signed)
    )
    right = tuple((*(sign * e for e in M["C"][j]), *(sign * M["D"][j][k] for k in kept)) for j, sign in signed)
    found = _solved(both, left, right)
    if found is None:
        names = ", ".join(both.inputs[k] for k in inner)
        what = f"{names} answer each other at once, and nothing determines them"
        why = "two ideal sources meet, or gains of the loop cancel exactly"
        raise rules.NO_COMPOSITION.error(what, where=both.inputs[inner[0]], why=why, fix="put an element between them")
    fed = _fed(
        both, dict(zip(inner, found, strict=True)), {k: j for j, k in enumerate(kept)}, [both.inputs[k] for k in kept]
    )
    return _with_outputs(fed, kept, *(tuple(fed.matrices[name][k] for k in kept) for name in ("C", "D")))


def _with_outputs(fed: EquationSystem, kept: Sequence[int], C: Matrix, D: Matrix) -> EquationSystem:
    """The system with the outputs of the inputs that were kept."""
    return replace(
        fed,
        outputs=tuple(fed.outputs[k] for k in kept),
        matrices={**fed.matrices, "C": C, "D": D, "D_1": zeros(len(kept), len(kept))},
        vectors={"f": fed.vectors["f"], "f_y": (ZERO,) * len(kept)},
    )
