"""The descriptor form `E w' = F w + G u + h(w)`, `y = H w + D u`: sparse, for models of any size.

Nothing is eliminated: w holds the potentials of the nodes, the state of every storage (dependent ones too) and the
through variables that no law gives directly. Each element adds a handful of entries, so the form is written in linear time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import final

from tellegen.core.domains import DOMAINS, other_side
from tellegen.core.names import named_after, unused
from tellegen.equations.matrices import Sparse, transposed
from tellegen.equations.printing.latex import descriptor_to_latex
from tellegen.equations.printing.record import descriptor_to_record
from tellegen.equations.printing.text import descriptor_to_text
from tellegen.equations.storages import ParameterRates
from tellegen.equations.system import PrintedForm, number_of, refuse_missing
from tellegen.expressions import ONE, ZERO, Expression, number, symbol, total
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import Branch, Coupling, Field, Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT

Entries = dict[tuple[int, int], Expression]


@final
@dataclass(frozen=True)
class DescriptorSystem(PrintedForm):
    """`E w' = F w + G u + h`, `y = H w + D u`; `h` is what is not linear in w, by row. Entries may read the signals named."""

    name: str
    unknowns: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    E: Sparse
    F: Sparse
    G: Sparse
    H: Sparse
    D: Sparse
    h: Mapping[int, Expression]
    signals: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    printers = descriptor_to_text, descriptor_to_latex, descriptor_to_record

    def numeric(self) -> "DescriptorSystem":
        """The same with parameters replaced by their values.

        Raises: EquationError naming a parameter without a value.
        """
        values = self.values()
        variables = {*self.unknowns, *self.signals}
        # Each expression once: a network of equal elements has few different ones.
        used = {e for matrix in (self.E, self.F, self.G, self.H, self.D) for e in matrix.values()} | set(
            self.h.values()
        )
        names = frozenset().union(*(e.free_symbols for e in used))
        refuse_missing((n for n in names if n not in values and n not in variables), self.name)
        given = {name: number(values[name]) for name in names if name in values}
        known = {
            e: e.substitute(given) if variables & e.free_symbols else number(number_of(e, values, self.name))
            for e in used
        }

        def value(expression: Expression) -> Expression:
            return known[expression]

        E, F, G, H, D = (
            {place: value(e) for place, e in matrix.items()} for matrix in (self.E, self.F, self.G, self.H, self.D)
        )
        return replace(self, E=E, F=F, G=G, H=H, D=D, h={row: value(e) for row, e in self.h.items()})


def descriptor_form(graph: PowerGraph) -> DescriptorSystem:
    """Write the equations of every element and node, none eliminated."""
    return _Writer(graph).system()


class _Writer:
    """Numbers unknowns and rows while walking over ports and couplings."""

    def __init__(self, graph: PowerGraph) -> None:
        self.graph = graph
        self.names: list[str] = []
        self.taken = {name for port in graph.ports for name in (port.across, port.through, port.state)} | set(
            graph.parameters
        )
        self.node: dict[int, int] = {}
        for k, node in enumerate(graph.nodes):
            if not node.reference:
                self.node[k] = self._unknown(f"{DOMAINS[node.domain].across.symbol}_at_{node.name}")
        self.rows = len(self.node)  # the balance of each node has the number of its potential
        self.E: Entries = {}
        self.F: Entries = {}
        self.G: Entries = {}
        self.H: Entries = {}
        self.D: Entries = {}
        self.h: dict[int, Expression] = {}
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.field_of: dict[int, Field] = {k: coupled for coupled in graph.fields for k in coupled.ports}
        # By port: rows of a field read the unknowns of other ports, whichever comes first.
        self.of_port: dict[int, int] = {}
        self.motion = ParameterRates(graph.position_dependent, graph.displacements)
        self.definitions = self.motion.definitions()

    def system(self) -> DescriptorSystem:
        """The finished form."""
        for k, port in enumerate(self.graph.ports):
            if isinstance(port.law, StorageLaw):
                self._storage(k, port, port.law)
            elif isinstance(port.law, ResistiveLaw):
                self._resistive(k, port, port.law)
            else:
                self._source(port, port.law)
        for coupling in self.graph.couplings:
            self._coupling(coupling)
        for name, rate in self.graph.displacements.items():
            place = self._own(name)
            row = self._row()
            self.E[row, place] = ONE
            self.h[row] = rate
        E, F, G, H, D = (
            {place: self._written(e) for place, e in matrix.items() if e is not ZERO}
            for matrix in (self.E, self.F, self.G, self.H, self.D)
        )
        h = {row: self._written(e) for row, e in self.h.items() if e is not ZERO}
        signals = tuple(signal.name for signal in self.graph.signals)
        return DescriptorSystem(
            name=self.graph.name,
            unknowns=tuple(self.names),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            parameters=self.graph.parameters,
            E=E,
            F=F,
            G=G,
            H=H,
            D=D,
            h=h,
            signals=signals,
        )

    def _written(self, expression: Expression) -> Expression:
        """An entry with the parameters that follow displacements written out."""
        return with_definitions(expression, self.definitions)

    def _unknown(self, name: str) -> int:
        """An unknown that the model has no name for."""
        name = unused(name, self.taken)
        self.taken.add(name)
        return self._own(name)

    def _own(self, name: str) -> int:
        """An unknown with the name of its variable in the model."""
        self.names.append(name)
        return len(self.names) - 1

    def _row(self) -> int:
        self.rows += 1
        return self.rows - 1

    # Every balance reads 0 = -(sum of through variables that leave the node); a through variable leaves at plus, enters at minus.

    def _ends(self, at: Port | Branch) -> Iterator[tuple[int, Expression]]:
        """The numbers of the nodes at both ends, with their signs in an across variable; references have none."""
        return ((self.node[n], sign) for n, sign in ((at.plus, ONE), (at.minus, -ONE)) if n in self.node)

    def _leaves(self, matrix: Entries, at: Port | Branch, column: int, factor: Expression) -> None:
        for row, sign in self._ends(at):
            _add(matrix, (row, column), -sign * factor)

    def _leaves_curved(self, at: Port, value: Expression) -> None:
        for row, sign in self._ends(at):
            self._add_curved(row, -sign * value)

    def _add_curved(self, row: int, term: Expression) -> None:
        self.h[row] = self.h.get(row, ZERO) + term

    def _across(self, matrix: Entries, row: int, at: Port | Branch, factor: Expression) -> None:
        for column, sign in self._ends(at):
            _add(matrix, (row, column), sign * factor)

    def _storage(self, k: int, port: Port, law: StorageLaw) -> None:
        state, row = self._unknown_of(k), self._row()
        output = law.output.substitute({ARGUMENT: symbol(port.state)}) if law.output is not None else None
        taken = list(self._stored(k, port, law))
        self._across(self.F, row, port, ONE)
        # A capacitor gives its current as the rate of its content, so it needs no row for its law but one that ties its
        # state to the nodes.
        if law.side == "across":
            for column, inertia in taken:
                # It leaves as a rate, on the left side, where its sign is the other one.
                self._leaves(self.E, port, column, -inertia)
            self._leaves_curved(port, self._moved(k, law))
            if output is None:
                self.F[row, state] = -ONE
            else:
                self._add_curved(row, -output)
            return
        for column, inertia in taken:
            self.E[row, column] = inertia
        self._add_curved(row, -self._moved(k, law))
        if output is None:
            self._leaves(self.F, port, state, ONE)
        else:
            self._leaves_curved(port, output)

    def _stored(self, k: int, port: Port, law: StorageLaw) -> Iterator[tuple[int, Expression]]:
        """The slopes of the energy variable of a storage by the states: its own, and those that a field couples to it."""
        own = ONE if law.keeps_energy_variable else law.inertia_at(symbol(port.state))
        yield self._unknown_of(k), own
        yield from ((self._unknown_of(j), entry) for j, entry in self._mutual(k))

    def _moved(self, k: int, law: StorageLaw) -> Expression:
        """What a storage takes because displacements move its law while its output is held."""
        x = symbol(self.graph.ports[k].state)
        if law.keeps_energy_variable:
            return ZERO
        if law.inertia is None:
            content = law.content
            return ZERO if content is None else self.motion.rate_of(content).substitute({ARGUMENT: x})
        others = (self.motion.rate_of(e) * symbol(self.graph.ports[j].state) for j, e in self._mutual(k))
        return total((self.motion.rate_of(law.inertia) * x, *others))

    # Fields

    def _mutual(self, k: int) -> Iterator[tuple[int, Expression]]:
        """The entries of a matrix beside the diagonal in the row of a port, each with its port."""
        coupled = self.field_of.get(k)
        if coupled is not None:
            row = coupled.matrix[coupled.ports.index(k)]
            yield from ((j, e) for j, e in zip(coupled.ports, row, strict=True) if j != k and e is not ZERO)

    def _unknown_of(self, k: int) -> int:
        """The unknown that a port has for itself: the state of a storage, the through variable of a resistance."""
        if k not in self.of_port:
            port = self.graph.ports[k]
            self.of_port[k] = self._own(port.state if isinstance(port.law, StorageLaw) else port.through)
        return self.of_port[k]

    def _add_told(self, row: int, k: int, factor: Expression) -> None:
        """Add what a resistive port is told to a row."""
        port = self.graph.ports[k]
        if port.law.side == "through":
            self._across(self.F, row, port, factor)
        else:
            _add(self.F, (row, self._unknown_of(k)), factor)

    def _told(self, k: int) -> Expression:
        """What a resistive port is told, by the unknowns."""
        port = self.graph.ports[k]
        if port.law.side == "through":
            return total(sign * symbol(self.names[j]) for j, sign in self._ends(port))
        return symbol(self.names[self._unknown_of(k)])

    def _value_at(self, k: int, law: ResistiveLaw) -> Expression:
        """What a nonlinear law gives; laws of a field read what the other ports are told by the names of these variables."""
        found = law.value_at(self._told(k))
        coupled = self.field_of.get(k)
        if coupled is None or not coupled.by_laws:
            return found
        ports = self.graph.ports
        told = {ports[j].variable(other_side(ports[j].law.side)): self._told(j) for j in coupled.ports if j != k}
        return found.substitute(told)

    def _resistive(self, k: int, port: Port, law: ResistiveLaw) -> None:
        if law.side == "through":
            if law.coefficient is None:
                self._leaves_curved(port, self._value_at(k, law))
                return
            # A conductance goes into the balances of its two nodes, as in nodal analysis, and needs no unknown.
            for node, sign in self._ends(port):
                for j, factor in ((k, law.coefficient), *self._mutual(k)):
                    self._add_told(node, j, -sign * factor)
            return
        # A resistance may be zero, so its current stays an unknown and its law a row: nothing is divided.
        through, row = self._unknown_of(k), self._row()
        self._leaves(self.F, port, through, ONE)
        self._across(self.F, row, port, -ONE)
        if law.coefficient is not None:
            self._add_told(row, k, law.coefficient)
            for j, factor in self._mutual(k):
                self._add_told(row, j, factor)
        else:
            self._add_curved(row, self._value_at(k, law))

    def _source(self, port: Port, law: SourceLaw) -> None:
        u, y = len(self.inputs), len(self.outputs)
        self.inputs.append(law.input)
        if law.side == "through":
            self._leaves(self.G, port, u, ONE)
            self._across(self.H, y, port, -ONE)
            self.outputs.append(port.across)
            return
        # What a source of an across variable supplies follows from the network alone (modified nodal analysis).
        supplied, row = self._own(port.through), self._row()
        self._leaves(self.F, port, supplied, -ONE)
        self._across(self.F, row, port, ONE)
        self.G[row, u] = -ONE
        self.H[y, supplied] = ONE
        self.outputs.append(port.through)

    def _coupling(self, coupling: Coupling) -> None:
        """Through variables of all branches as unknowns, and the relations z_2 = K z_1, w_1 = K^T w_2."""
        number = count(1)
        ends_1, ends_2 = (
            [(branch, self._through(coupling.element, next(number), branch)) for branch in side]
            for side in (coupling.side_1, coupling.side_2)
        )
        for ends, sign in ((ends_1, ONE), (ends_2, -ONE)):
            for branch, column in ends:
                self._leaves(self.F, branch, column, sign)
        K_t = transposed(coupling.K, len(ends_1))
        for given, told, K, conjugate in ((ends_2, ends_1, coupling.K, False), (ends_1, ends_2, K_t, True)):
            for end, factors in zip(given, K, strict=True):
                row = self._row()
                for (branch, column), factor in ((end, ONE), *zip(told, [-e for e in factors], strict=True)):
                    if (branch.side == "across") != conjugate:
                        self._across(self.F, row, branch, factor)
                    else:
                        _add(self.F, (row, column), factor)

    def _through(self, element: str, k: int, branch: Branch) -> int:
        return self._unknown(f"{named_after(DOMAINS[branch.domain].through.symbol, element)}_{k}")


def _add(matrix: Entries, place: tuple[int, int], entry: Expression) -> None:
    before = matrix.get(place)
    matrix[place] = entry if before is None else before + entry
