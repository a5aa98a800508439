"""Two linear systems as one: joined port to port, or side by side at one input.

`y` of an input is the conjugate that makes y u the power supplied. Joined in a chain, what one gives is what the other takes, and
what comes back has the opposite sign, so that no power is lost between them. Side by side they share an input, and their answers
add up: resistors in parallel share a voltage, resistors in series a current.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tellegen.core.names import did_you_mean
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, dot, negative, plus, product
from tellegen.equations.port_inversion import check_ports
from tellegen.equations.solving import solved
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.expressions.entries import substituted

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
    m = len(both.inputs)
    joined = dict(zip(second, first, strict=True))
    kept = [k for k in range(m) if k not in joined]
    # u = P v and y of v = P^T y of u: the same matrix on both sides, so that power is the same.
    P = tuple(tuple(ONE if joined.get(i, i) == k else ZERO for k in kept) for i in range(m))
    P_t = tuple(tuple(row[k] for row in P) for k in range(len(kept)))
    M, n, inputs = both.matrices, len(both.states), len(kept)
    matrices: dict[MatrixName, Matrix] = {
        **both.matrices,
        "B": product(M["B"], P, inputs),
        "C": product(P_t, M["C"], n),
        "D": product(P_t, product(M["D"], P, inputs), inputs),
        "B_1": product(M["B_1"], P, inputs),
        "D_1": product(P_t, product(M["D_1"], P, inputs), inputs),
    }
    told = {both.inputs[i]: symbol(both.inputs[k]) for i, k in joined.items()}
    return _with_ports(both, kept, matrices, told)


def _beside(one: EquationSystem, two: EquationSystem) -> EquationSystem:
    """Both systems as one that nothing joins."""
    check_ports(one)
    check_ports(two)
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
    M, n, m = both.matrices, len(both.states), len(both.inputs)
    inner = [*first, *second]
    kept = [k for k in range(m) if k not in inner]
    signed = [(j, -ONE) for j in second] + [(i, ONE) for i in first]  # what decides each inner input
    # (1 - S D) u = S (C x + D v), with S the exchange of outputs.
    left = tuple(
        tuple((ONE if k == inner[r] else ZERO) - sign * substituted(M["D"][j][k], both.where) for k in inner)
        for r, (j, sign) in enumerate(signed)
    )
    right = tuple((*(sign * e for e in M["C"][j]), *(sign * M["D"][j][k] for k in kept)) for j, sign in signed)
    found = solved(left, right, n + len(kept), both.parameters, (*both.where, *both.states, *both.inputs))
    if found is None:
        names = ", ".join(both.inputs[k] for k in inner)
        what = f"{names} answer each other at once, and nothing determines them"
        why = "two ideal sources meet, or gains of the loop cancel exactly"
        raise rules.NO_COMPOSITION.error(what, where=both.inputs[inner[0]], why=why, fix="put an element between them")
    X, U = tuple(row[:n] for row in found), tuple(row[n:] for row in found)
    B_in, D_in = (tuple(tuple(row[k] for k in inner) for row in M[name]) for name in ("B", "D"))
    C_out = tuple(M["C"][k] for k in kept)
    D_in = tuple(D_in[k] for k in kept)
    B_out = tuple(tuple(row[k] for k in kept) for row in M["B"])
    D_out = tuple(tuple(M["D"][i][k] for k in kept) for i in kept)
    w = len(kept)
    matrices: dict[MatrixName, Matrix] = {
        **M,
        "A": plus(M["A"], negative(product(B_in, X, n))),
        "B": plus(B_out, product(B_in, U, w)),
        "C": plus(C_out, product(D_in, X, n)),
        "D": plus(D_out, product(D_in, U, w)),
        "B_1": tuple((ZERO,) * w for _ in both.states),
        "D_1": tuple((ZERO,) * w for _ in kept),
    }
    z = [*map(symbol, both.states), *(symbol(both.inputs[k]) for k in kept)]
    told = {both.inputs[k]: dot(row, z) for k, row in zip(inner, found, strict=True)}
    return _with_ports(both, kept, matrices, told)


def _with_ports(
    both: EquationSystem, kept: Sequence[int], matrices: Mapping[MatrixName, Matrix], told: Mapping[str, Expression]
) -> EquationSystem:
    energy = both.stored_energy
    return replace(
        both,
        inputs=tuple(both.inputs[k] for k in kept),
        outputs=tuple(both.outputs[k] for k in kept),
        matrices=matrices,
        vectors={"f": both.vectors["f"], "f_y": (ZERO,) * len(kept)},
        stored_energy=None if energy is None else energy.substitute(told),
        dissipated_power=both.dissipated_power.substitute(told),
        dependent={name: e.substitute(told) for name, e in both.dependent.items()},
    )
