"""A model made of matrices: L x' = -A x + B u, y = C x + D u as storages, resistive elements and one connection without loss.

The symmetric part W of [[A, -B], [C, D]] is what the resistive elements take; its skew part passes power on, which a connection of
several ports does. Each state and each input has a lane: one node where its variable is an across variable, a ring where it is a
through variable, with everything that is told this variable on it. So any passive system is a network again, whatever coordinates
its states are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.description.model import Element, Experiment, Model, Parameter
from tellegen.description.multiports import MULTIPORT
from tellegen.description.relations import MatrixField, Multiport
from tellegen.elements import ElementKind, kinds_of
from tellegen.equations.matrices import Matrix
from tellegen.expressions import ZERO, Expression, is_zero, number
from tellegen.schemes.names import UniqueNames

HALF = number(Fraction(1, 2))


@final
@dataclass(frozen=True, slots=True)
class Carrier:
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
    states: tuple[Carrier, ...]
    inputs: tuple[Carrier, ...]
    matrices: Mapping[str, Matrix]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    about: str = ""
    experiment: Experiment = field(default_factory=Experiment)


def model_of(form: MatrixForm) -> Model:
    """The network of a system of matrices; L has to be regular and symmetric, W positive semidefinite."""
    return _Network(form).model()


class _Lane:
    """Where everything meets that is told one variable: side by side at a node, or one behind the other in a ring."""

    def __init__(self, carrier: Carrier, name: str, nodes: UniqueNames) -> None:
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
        start = self.here
        self.here = self.first if last else self.nodes.take(f"{self.name}_{self.items + 1}")
        self.items += 1
        return (self.here, start) if gives else (start, self.here)


class _Network:
    def __init__(self, form: MatrixForm) -> None:
        self.form = form
        self.n, self.m = len(form.states), len(form.inputs)
        # An element without a value uses the parameter of its own name: names of parameters are taken too.
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
        idle = {*range(len(self.lanes))} - {*lossy, *gives, *given}
        lossy = sorted({*lossy, *idle})
        # Each lane knows what comes last, so that its ring closes there.
        self.left = {k: (k in lossy) + (k in gives) + (k in given) for k in range(len(self.lanes))}
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
        kind = ElementKind(
            MULTIPORT,
            "coupling",
            tuple(self.lanes[k].carrier.domain for k, _ in ports),
            "passes power between several ports",
            "",
            coupling="transformer",
        )
        count = len(given)
        relation = Multiport(
            tuple(range(count)),
            tuple(range(count, len(ports))),
            tuple(self.lanes[k].carrier.side for k in given),
            tuple(other_side(self.lanes[k].carrier.side) for k in gives),
            tuple(tuple(J[i][j] for j in given) for i in gives),
        )
        nodes = tuple(node for _, ends in ports for node in ends)
        self.elements.append(Element(self.names.take("k"), kind, nodes, multiport=relation))


def _kind(carrier: Carrier, role: str) -> ElementKind:
    if role == "storage":
        return next(k for k in kinds_of(carrier.domain, "storage") if k.side == carrier.side and not k.inverse)
    return next(k for k in kinds_of(carrier.domain, "resistive") if k.side == other_side(carrier.side))


def _parts(M: Mapping[str, Matrix], n: int, m: int) -> tuple[Matrix, Matrix]:
    """W, and the rows that the connection gives: what is skew in [[A, -B], [C, D]], each pair of entries once."""
    whole = [[*M["A"][i], *(-e for e in M["B"][i])] for i in range(n)]
    whole += [[*M["C"][i], *M["D"][i]] for i in range(m)]
    size = range(n + m)
    W = tuple(tuple(_half(whole[i][j], whole[j][i]) for j in size) for i in size)
    # A state takes what the inputs and earlier states send; a port answers earlier ports.
    sent = {(i, j) for i in range(n) for j in (*range(i), *range(n, n + m))}
    sent |= {(i, j) for i in range(n, n + m) for j in range(n, i)}
    J = tuple(tuple(_half(-whole[i][j], whole[j][i]) if (i, j) in sent else ZERO for j in size) for i in size)
    return W, J


def _half(a: Expression, b: Expression) -> Expression:
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
