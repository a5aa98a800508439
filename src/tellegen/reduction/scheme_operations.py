"""Operations on whole schemes: new coordinates by a T of the user, and inputs exchanged for their outputs; the matrices that
come out are a network again.

The symmetric part W of [[A, -B], [C, D]] is what the resistive elements take; its skew part passes power on, which a connection of
several ports does. Each state and each input has a lane: one node where its variable is an across variable, a ring where it is a
through variable, with everything that is told this variable on it. So any passive system is a network again, whatever coordinates
its states are.

A scheme is read as matrices, the operation is done on these, and the network of the result is raised again as one vector block. So
each result is a scheme like any other: it can be drawn, joined, exchanged back, and its causal graph compiles and runs.
Domains between which no power passes are two systems, as everywhere (G104).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import final

from tellegen.causality import assign_causality
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import GraphError
from tellegen.core.names import did_you_mean
from tellegen.elements import ElementKind, kinds_of, multiport_kind
from tellegen.equations.forms.composition import invert_ports
from tellegen.equations.matrices import Matrix, congruent, zeros
from tellegen.equations.system import EquationSystem, MatrixName, parameter_values
from tellegen.expressions import ZERO, Expression, is_zero, number
from tellegen.expressions.elimination import Elimination, NamedEntries, with_definitions
from tellegen.expressions.simplification import shortened
from tellegen.graph import lower
from tellegen.model.laws import MatrixField, Multiport
from tellegen.model.model import Element, Experiment, Model, Parameter
from tellegen.reduction.congruent import Given, Transformed, congruent_transformation
from tellegen.schemes import rules
from tellegen.schemes.algebra.equivalent_schemes import invert_path
from tellegen.schemes.algebra.reduction_pictures import port_by_port, port_path
from tellegen.schemes.algebra.vector_blocks import scheme_matrices
from tellegen.schemes.names import UniqueNames, without_duplicates
from tellegen.schemes.pog_construction import pog
from tellegen.schemes.pog_scheme import PogScheme, Rewriting

HALF = number(Fraction(1, 2))


@final
@dataclass(frozen=True, slots=True)
class PowerVariable:
    """A state or an input: the variable that it decides, its domain and its side.

    `conjugate` names the other power variable of an input: its output. `element` is the name of the source.
    """

    variable: str
    domain: str
    side: Side
    element: str = ""
    conjugate: str = ""
    initial: Expression | None = None


@final
@dataclass(frozen=True)
class MatrixForm:
    """What a model is made of: states and inputs with their places, and the five matrices over `parameters`."""

    name: str
    states: tuple[PowerVariable, ...]
    inputs: tuple[PowerVariable, ...]
    matrices: Mapping[str, Matrix]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    about: str = ""
    experiment: Experiment = field(default_factory=Experiment)


def model_of_matrices(form: MatrixForm) -> Model:
    """The network of a system of matrices; L has to be regular and symmetric, W positive semidefinite."""
    return _Network(form).model()


class _Lane:
    """Where everything meets that is told one variable: side by side at a node, or one behind the other in a ring."""

    def __init__(self, carrier: PowerVariable, name: str, nodes: UniqueNames) -> None:
        self.carrier, self.name, self.nodes = carrier, name, nodes
        self.reference = DOMAINS[carrier.domain].reference
        self.items = 0
        self.first = nodes.take(name)
        self.here = self.reference

    def own(self) -> tuple[str, str]:
        """The nodes of the storage or source that decides the variable."""
        return self.first, self.reference

    def next(self, *, gives: bool, last: bool) -> tuple[str, str]:
        """The nodes of what is told the variable; with `gives`, its power comes back into the lane."""
        if self.carrier.side == "across":
            return self.first, self.reference
        # The through variable leaves what decides it at its second node, and comes back at its first one.
        # A ring of through variables closes at its last item, so each item has to know whether it is the last.
        start = self.here
        self.here = self.first if last else self.nodes.take(f"{self.name}_{self.items + 1}")
        self.items += 1
        return (self.here, start) if gives else (start, self.here)


class _Network:
    def __init__(self, form: MatrixForm) -> None:
        self.form = form
        self.n, self.m = len(form.states), len(form.inputs)
        # An element without a value uses the parameter of its own name: names of parameters are taken too.
        # Names of the form are kept, those of the network are made around them.
        taken = (*form.parameters, *(u.element for u in form.inputs))
        self.names = UniqueNames(taken)
        nodes = UniqueNames(d.reference for d in DOMAINS.values())
        self.lanes = [_Lane(c, f"s{k}", nodes) for k, c in enumerate(form.states, 1)]
        self.lanes += [_Lane(c, f"p{k}", nodes) for k, c in enumerate(form.inputs, 1)]
        self.elements: list[Element] = []
        self.fields: list[MatrixField] = []

    def model(self) -> Model:
        form, M = self.form, self.form.matrices
        W, J = _parts(M, self.n, self.m)
        lossy = [k for k, row in enumerate(W) if any(not is_zero(e) for e in row)]
        gives = [k for k, row in enumerate(J) if any(not is_zero(e) for e in row)]
        given = [k for k in range(len(self.lanes)) if any(not is_zero(row[k]) for row in J)]
        # A lane that nothing else is on gets an element that takes nothing: its node has to join two of them.
        # Otherwise the network would fall apart, or a node would join one element only.
        idle = {*range(len(self.lanes))} - {*lossy, *gives, *given}
        lossy = sorted({*lossy, *idle})
        # Each lane knows what comes last, so that its ring closes there.
        self.left = {k: (k in lossy) + (k in gives) + (k in given) for k in range(len(self.lanes))}
        # Sources first: their order is that of the inputs, and runs and files rely on it.
        self._sources()
        self._field("x", list(range(self.n)), M["L"], "storage")
        self._field("r", lossy, W, "resistive")
        self._connection(given, gives, J)
        return Model(
            form.name,
            tuple(self.elements),
            dict(form.parameters),
            form.experiment,
            about=form.about,
            fields=tuple(self.fields),
        )

    def _sources(self) -> None:
        for carrier, lane in zip(self.form.inputs, self.lanes[self.n :], strict=True):
            kind = next(k for k in kinds_of(carrier.domain, "source") if k.side == carrier.side)
            variables: dict[str, str] = {carrier.side: carrier.variable}
            if carrier.conjugate:
                variables[other_side(carrier.side)] = carrier.conjugate
            self.elements.append(Element(carrier.element, kind, lane.own(), variables=variables))

    def _field(self, word: str, places: Sequence[int], matrix: Matrix, role: str) -> None:
        """Storages or resistive elements on some lanes: by themselves where the matrix is diagonal, else one field."""
        # A diagonal matrix is plain elements, which a reader knows; only what couples needs a field.
        alone = all(is_zero(matrix[i][j]) for i in places for j in places if i != j)
        name = self.names.take(word)
        members = []
        for count, k in enumerate(places, 1):
            carrier = self.lanes[k].carrier
            own = role == "storage"
            kind = _kind(carrier, role)
            nodes = self.lanes[k].own() if own else self._told(k, gives=False)
            called = self.names.take(f"{word}_{count}") if alone else f"{name}[{count}]"
            variables: dict[str, str] = {carrier.side: carrier.variable} if own else {}
            start = carrier.initial if own else None
            members.append(Element(called, kind, nodes, matrix[k][k], variables=variables, initial=start))
        self.elements += members
        if not alone:
            rows = tuple(tuple(matrix[i][j] for j in places) for i in places)
            self.fields.append(MatrixField(name, tuple(e.name for e in members), rows))

    def _told(self, k: int, *, gives: bool) -> tuple[str, str]:
        self.left[k] -= 1
        return self.lanes[k].next(gives=gives, last=not self.left[k])

    def _connection(self, given: Sequence[int], gives: Sequence[int], J: Matrix) -> None:
        if not gives:
            return
        ports = [(k, self._told(k, gives=False)) for k in given]
        ports += [(k, self._told(k, gives=True)) for k in gives]
        kind = multiport_kind(tuple(self.lanes[k].carrier.domain for k, _ in ports))
        count = len(given)
        relation = Multiport(
            tuple(range(count)),
            tuple(range(count, len(ports))),
            tuple(self.lanes[k].carrier.side for k in given),
            # What the connection gives to a lane is what the lane is told: the conjugate of its variable.
            tuple(other_side(self.lanes[k].carrier.side) for k in gives),
            tuple(tuple(J[i][j] for j in given) for i in gives),
        )
        nodes = tuple(node for _, ends in ports for node in ends)
        self.elements.append(Element(self.names.take("k"), kind, nodes, multiport=relation))


def _kind(carrier: PowerVariable, role: str) -> ElementKind:
    if role == "storage":
        return next(k for k in kinds_of(carrier.domain, "storage") if k.side == carrier.side and not k.inverse)
    # A lane is told the variable of its carrier, and its loss answers with the conjugate one.
    return next(k for k in kinds_of(carrier.domain, "resistive") if k.side == other_side(carrier.side))


def _parts(M: Mapping[str, Matrix], n: int, m: int) -> tuple[Matrix, Matrix]:
    """W, and the rows that the connection gives: what is skew in [[A, -B], [C, D]], each pair of entries once."""
    whole = [[*M["A"][i], *(-e for e in M["B"][i])] for i in range(n)]
    whole += [[*M["C"][i], *M["D"][i]] for i in range(m)]
    size = range(n + m)
    W = tuple(tuple(_half(whole[i][j], whole[j][i]) for j in size) for i in size)
    # A state takes what the inputs and earlier states send; a port answers earlier ports.
    # One triangle of the skew part: the other is its transpose, and a connection says both at once.
    sent = {(i, j) for i in range(n) for j in (*range(i), *range(n, n + m))}
    sent |= {(i, j) for i in range(n, n + m) for j in range(n, i)}
    J = tuple(tuple(_half(-whole[i][j], whole[j][i]) if (i, j) in sent else ZERO for j in size) for i in size)
    return W, J


def _half(a: Expression, b: Expression) -> Expression:
    # Where the entries agree the half of their sum is one of them, written as it was.
    if is_zero(a - b):
        return ZERO if is_zero(a) else a
    if is_zero(a + b):
        return ZERO
    return HALF * (a + b)


def parameters_in(parameters: Mapping[str, Expression | None], used: Iterable[Expression]) -> dict[str, Parameter]:
    """The parameters that formulas read, and those that their values read, without units: new coordinates have others."""
    waiting = [name for e in used for name in e.free_symbols]
    wanted: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in parameters and name not in wanted:
            wanted.add(name)
            value = parameters[name]
            waiting += [] if value is None else value.free_symbols
    return {name: Parameter(name, e) for name, e in parameters.items() if name in wanted}


EXACT = 1e-9
"""How far T^T L T may be from L, as a share of its diagonal, where only numbers can tell."""


def transform_scheme(scheme: PogScheme, T: Given, *, states: Sequence[str] | None = None) -> Rewriting:
    """The scheme in the coordinates z of x = T z: T^T L T z' = -T^T A T z + T^T B u, as one vector block.

    T may be rectangular, which ties states to each other, or singular: of columns that depend on each other the first ones are
    taken. A regular T is noticed by no input. Entries and names are given as to `congruent_transformation`.

    A, B, C and D may move with displacements, whose rates the new states give; L and T are constant.

    Raises: GraphError (G232) for a scheme that is not linear or whose energy matrix moves; ReductionError (T130) for a T that does
    not fit.
    """
    system = _system(scheme, moving=True)
    # Once as it is given, to know which columns depend on others; the account of a singular T names them.
    found = congruent_transformation(system, T, states=states)
    kept = _independent(found.T)
    if len(kept) == len(found.equations.states):
        return Rewriting(_raised(scheme, found.equations, _coordinates(scheme, system, found)), found.account)
    names = [found.equations.states[k] for k in kept]
    smaller = congruent_transformation(system, [[row[k] for k in kept] for row in found.T], states=names)
    gone = [name for name in found.equations.states if name not in names]
    verb = "follows" if len(gone) == 1 else "follow"
    account = f"{smaller.account}; {', '.join(gone)} {verb} the others, since T is singular"
    return Rewriting(_raised(scheme, smaller.equations, _coordinates(scheme, system, smaller)), account)


def similarity(scheme: PogScheme, T: Given, *, states: Sequence[str] | None = None) -> Rewriting:
    """The scheme with x' = -L^-1 A x + ... in the coordinates z of x = T z by T^-1, where that keeps its structure.

    It does where T^T L T = L: the energy is the same sum of the new states, and T^-1 = L^-1 T^T L. A rotation of two equal
    inductances is such a T.

    Raises: GraphError (G233) for other T; G232, T130 as `transform_scheme`.
    """
    system = _system(scheme, moving=True)
    found = congruent_transformation(system, T, states=states)
    L = system.matrices["L"]
    n, columns = len(L), len(found.equations.states)
    if columns != n:
        what = f"T has {columns} columns for {n} states"
        raise _not_orthogonal(what, "a similarity needs the inverse of T")
    sparse = {(i, j): e for i, row in enumerate(L) for j, e in enumerate(row) if e is not ZERO}
    new = congruent(found.T, sparse, found.T, n, n)
    # The whole structure survives where T leaves the energy as it is: then T^-1 = L^-1 T^T L, and A and B transform like powers.
    place = _first_difference(system, new, L)
    if place is not None:
        i, j = (system.states[k] for k in place)
        what = f"T^T L T differs from L at ({i}, {j}): {new[place[0]][place[1]]} for {L[place[0]][place[1]]}"
        why = "T^-1 would leave L, and give A and B that belong to another energy: outputs would not be those of the inputs"
        raise _not_orthogonal(what, why)
    kept = replace(found.equations, matrices={**found.equations.matrices, "L": L})
    account = (
        f"similarity x = T z with z = {', '.join(kept.states)}: T^T L T = L, so that T^-1 = L^-1 T^T L keeps power"
    )
    return Rewriting(_raised(scheme, kept, _coordinates(scheme, system, found)), account)


def exchange_ports(scheme: PogScheme, inputs: str | Iterable[str] | None = None) -> Rewriting:
    """The scheme with some inputs (all of them unless named) exchanged for their own outputs, as one vector block.

    Where laws are not linear, or matrices move, the path of each input is inverted instead, and the laws stay as they are.

    Raises: EquationError (E130) for a name that is no input, and where an output does not answer its input at once; GraphError
    (G235) where no path may be inverted.
    """
    try:
        system = _system(scheme)
    except GraphError as reason:
        # Only systems without constant matrices have the other way; any other error is the answer.
        if reason.code != rules.NO_MATRICES.code:
            raise
        return _with_paths_inverted(scheme, scheme.inputs if inputs is None else without_duplicates(inputs))
    wanted = list(system.inputs) if inputs is None else without_duplicates(inputs)
    found = invert_ports(system, wanted)
    states, before = _carriers(scheme)
    after = tuple(
        # The input and its output exchange names and sides; the domain and the place of the port stay.
        replace(c, variable=c.conjugate, side=other_side(c.side), conjugate=c.variable) if c.variable in wanted else c
        for c in before
    )
    pairs = ", ".join(f"{c.variable} for {c.conjugate}" for c in before if c.variable in wanted)
    return Rewriting(_raised(scheme, found, (states, after)), f"exchanged {pairs or 'nothing'}")


def _with_paths_inverted(scheme: PogScheme, wanted: Sequence[str]) -> Rewriting:
    """The scheme, port by port, with the path from each input wanted to its own output inverted."""
    result, pairs = port_by_port(scheme), []
    for name in wanted:
        if name not in result.inputs:
            fix = did_you_mean(name, result.inputs) or f"the inputs are {', '.join(result.inputs) or '(none)'}"
            raise rules.NO_SUCH_SIGNAL.error(f"'{name}' is no input of the scheme", where=name, fix=fix)
        output = result.outputs[result.inputs.index(name)].signal
        path = port_path(result, name)
        if path is None:
            what = f"no loss that could be asked the other way answers '{name}' at once by '{output}'"
            fix = "exchange other inputs, or put a resistive element beside the source"
            raise rules.NO_PORT_PATH.error(what, where=name, fix=fix)
        # One port after the other: the path of the next one may lead through what this one has turned.
        result = port_by_port(invert_path(result, path.signals).scheme)
        pairs.append(f"{name} for {output}")
    return Rewriting(result, f"exchanged {', '.join(pairs) or 'nothing'}, each path inverted")


# -- between schemes and systems ---------------------------------------------------------------------------------------------------

Carriers = tuple[tuple[PowerVariable, ...], tuple[PowerVariable, ...]]


def _system(scheme: PogScheme, *, moving: bool = False) -> EquationSystem:
    """The scheme as equations, over the parameters of its model."""
    graph = scheme.causal.graph
    found = scheme_matrices(scheme, moving=moving)
    block = found.block
    states, inputs = _carriers(scheme)
    n, m = len(states), len(inputs)
    matrices: dict[MatrixName, Matrix] = {"L": block.L, "A": block.A, "B": block.B, "C": found.C, "D": found.D}
    matrices |= {"N": zeros(n, n), "B_1": zeros(n, m), "D_1": zeros(m, m)}
    return EquationSystem(
        name=scheme.name,
        states=tuple(c.variable for c in states),
        inputs=tuple(c.variable for c in inputs),
        outputs=tuple(c.conjugate for c in inputs),
        parameters=graph.parameters,
        matrices=matrices,
        vectors={"f": (ZERO,) * n, "f_y": (ZERO,) * m},
        stored_energy=None,
        dissipated_power=ZERO,
        where=graph.position_dependent,
        displacements=graph.displacements,
    )


def _carriers(scheme: PogScheme) -> Carriers:
    states = [scheme.elements[name].port for name in scheme.states]
    inputs = [item.port for item in scheme.sources()]
    return (
        tuple(PowerVariable(p.state, p.domain, p.storage.side, initial=p.initial) for p in states),
        tuple(
            PowerVariable(p.source.input, p.domain, side := p.source.side, p.element, p.variable(other_side(side)))
            for p in inputs
        ),
    )


def _coordinates(scheme: PogScheme, system: EquationSystem, found: Transformed) -> Carriers:
    """Old states keep their place; new ones are of the domain that all have, where they have one."""
    states, inputs = _carriers(scheme)
    places = {(c.domain, c.side) for c in states}
    # New coordinates are no variables of a domain; as voltages they have storages and losses of both kinds.
    domain, side = places.pop() if len(places) == 1 else ("electrical", "across")
    known = dict(zip(system.states, states, strict=True))
    made = tuple(
        replace(known[name], initial=None) if name in known else PowerVariable(name, domain, side)
        for name in found.equations.states
    )
    return made, inputs


def _raised(scheme: PogScheme, system: EquationSystem, carriers: Carriers) -> PogScheme:
    """The vector block of a system, with the network behind it."""
    for carrier in (*carriers[0], *carriers[1]):
        # Entropy has no inertia and is never only lost, so that half of the elements would be missing.
        if carrier.domain == "thermal":
            what = f"'{carrier.variable}' is thermal"
            raise rules.NO_RESISTIVE_PORT.error(what, where=carrier.variable, fix="work on the equations")
    written: dict[str, Matrix] = {
        name: tuple(tuple(shortened(with_definitions(e, system.where)) for e in row) for row in system.matrices[name])
        for name in ("L", "A", "B", "C", "D")
    }
    # Parameters that nothing reads any more are left out of the new model.
    used = (e for M in written.values() for row in M for e in row)
    states, inputs = _free_names(carriers)
    rates = {name: with_definitions(e, system.where) for name, e in system.displacements.items()}
    parameters = parameters_in(system.parameters, (*used, *rates.values()))
    form = MatrixForm(scheme.name, states, inputs, written, parameters)
    model = replace(model_of_matrices(form), displacements=rates)
    return pog(assign_causality(lower(model)), vectorial=True)


def _free_names(carriers: Carriers) -> Carriers:
    """An output that is a state has no name of its own."""
    states, inputs = carriers
    names = {c.variable for c in (*states, *inputs)}
    return states, tuple(replace(c, conjugate="") if c.conjugate in names else c for c in inputs)


# -- matrices ----------------------------------------------------------------------------------------------------------------------


def _independent(T: Matrix) -> list[int]:
    """The columns that no earlier ones make up."""
    field = NamedEntries({})
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in T]
    elimination = Elimination(rows, field)
    return [j for j in range(len(T[0]) if T else 0) if elimination.eliminate(j)]


def _first_difference(system: EquationSystem, one: Matrix, two: Matrix) -> tuple[int, int] | None:
    """Where two energy matrices differ, as formulas and, where roots and sines hide it, in numbers."""
    values = parameter_values(system.parameters)
    for i, row in enumerate(one):
        for j, e in enumerate(row):
            # Formulas first; numbers only where roots or sines hide that two formulas are equal.
            if is_zero(e - two[i][j]):
                continue
            size = _number(two[i][i], values), _number(two[j][j], values), _number(e - two[i][j], values)
            if any(x is None for x in size) or abs(size[2]) > EXACT * abs(size[0] * size[1]) ** 0.5:  # type: ignore[arg-type,operator]
                return i, j
    return None


def _number(e: Expression, values: Mapping[str, float]) -> float | None:
    return e.evaluate(values) if e.free_symbols <= values.keys() else None


def _not_orthogonal(what: str, why: str) -> Exception:
    fix = "take the congruent transformation instead (transform_scheme): T^T needs no inverse, and keeps power whatever T is"
    return rules.NOT_ORTHOGONAL.error(what, why=why, fix=fix)
