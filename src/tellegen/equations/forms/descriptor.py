"""The descriptor form `E w' = F w + G u + h(w)`, `y = H w + D u`: sparse, for models of any size.

Nothing is eliminated: w holds the potentials of the nodes, the state of every storage (dependent ones too) and the
through variables that no law gives directly. Each element adds a handful of entries, so the form is written in linear time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.names import named_after, unused
from tellegen.equations.printing.latex import descriptor_to_latex
from tellegen.equations.printing.record import descriptor_to_record
from tellegen.equations.printing.text import descriptor_to_text
from tellegen.equations.system import number_of, parameter_values, refuse_missing
from tellegen.expressions import ONE, ZERO, Expression, number, symbol
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import Branch, Coupling, Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT

Sparse = Mapping[tuple[int, int], Expression]
"""Nonzero entries by row and column, from 0."""


@final
@dataclass(frozen=True)
class DescriptorSystem:
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

    def numeric(self) -> "DescriptorSystem":
        """The same with parameters replaced by their values.

        Raises: EquationError naming a parameter without a value.
        """
        values = parameter_values(self.parameters)
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

    def to_text(self) -> str:
        """The form as a terminal shows it."""
        return descriptor_to_text(self)

    def to_latex(self) -> str:
        """The form in LaTeX, an `align*` environment."""
        return descriptor_to_latex(self)

    def to_json(self) -> dict[str, object]:
        """The form as names and formulas in Python syntax."""
        return descriptor_to_record(self, parameter_values(self.parameters))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_latex_(self) -> str:
        return f"$$\n{descriptor_to_latex(self, environment='aligned')}\n$$"


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
        self.E: dict[tuple[int, int], Expression] = {}
        self.F: dict[tuple[int, int], Expression] = {}
        self.G: dict[tuple[int, int], Expression] = {}
        self.H: dict[tuple[int, int], Expression] = {}
        self.D: dict[tuple[int, int], Expression] = {}
        self.h: dict[int, Expression] = {}
        self.inputs: list[str] = []
        self.outputs: list[str] = []

    def system(self) -> DescriptorSystem:
        """The finished form."""
        for port in self.graph.ports:
            if isinstance(port.law, StorageLaw):
                self._storage(port, port.law)
            elif isinstance(port.law, ResistiveLaw):
                self._resistive(port, port.law)
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
        return with_definitions(expression, self.graph.position_dependent)

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

    def _leaves(
        self, matrix: dict[tuple[int, int], Expression], plus: int, minus: int, column: int, factor: Expression
    ) -> None:
        for node, entry in ((plus, -factor), (minus, factor)):
            if node in self.node:
                _add(matrix, (self.node[node], column), entry)

    def _leaves_with_rate(self, plus: int, minus: int, column: int, factor: Expression) -> None:
        """A through variable `factor * w'` leaves: it stands on the left side, with the opposite sign."""
        for node, entry in ((plus, factor), (minus, -factor)):
            if node in self.node:
                _add(self.E, (self.node[node], column), entry)

    def _leaves_curved(self, plus: int, minus: int, value: Expression) -> None:
        for node, term in ((plus, -value), (minus, value)):
            if node in self.node:
                self.h[self.node[node]] = self.h.get(self.node[node], ZERO) + term

    def _across(
        self, matrix: dict[tuple[int, int], Expression], row: int, plus: int, minus: int, factor: Expression
    ) -> None:
        for node, entry in ((plus, factor), (minus, -factor)):
            if node in self.node:
                _add(matrix, (row, self.node[node]), entry)

    def _difference(self, port: Port) -> Expression:
        ends = [symbol(self.names[self.node[n]]) if n in self.node else ZERO for n in (port.plus, port.minus)]
        return ends[0] - ends[1]

    def _storage(self, port: Port, law: StorageLaw) -> None:
        state, row = self._own(port.state), self._row()
        x = symbol(port.state)
        inertia = ONE if law.keeps_energy_variable else law.inertia_at(x)
        output = law.output.substitute({ARGUMENT: x}) if law.output is not None else None
        # A capacitor gives its current as the rate of its content, so it needs no row for its law but one that ties its
        # state to the nodes.
        if law.side == "across":
            self._leaves_with_rate(port.plus, port.minus, state, inertia)
            self._across(self.F, row, port.plus, port.minus, ONE)
            self._minus(row, state, output)
        else:
            self.E[row, state] = inertia
            self._across(self.F, row, port.plus, port.minus, ONE)
            if output is None:
                self._leaves(self.F, port.plus, port.minus, state, ONE)
            else:
                self._leaves_curved(port.plus, port.minus, output)

    def _minus(self, row: int, state: int, output: Expression | None) -> None:
        """Subtract the output of a storage: its state, or a function of it."""
        if output is None:
            self.F[row, state] = -ONE
        else:
            self.h[row] = -output

    def _resistive(self, port: Port, law: ResistiveLaw) -> None:
        if law.side == "through":
            if law.coefficient is not None:
                # A conductance goes into the balances of its two nodes, as in nodal analysis, and needs no unknown.
                for node, sign in ((port.plus, -ONE), (port.minus, ONE)):
                    if node in self.node:
                        self._across(self.F, self.node[node], port.plus, port.minus, sign * law.coefficient)
            else:
                self._leaves_curved(port.plus, port.minus, law.value_at(self._difference(port)))
            return
        # A resistance may be zero, so its current stays an unknown and its law a row: nothing is divided.
        through, row = self._own(port.through), self._row()
        self._leaves(self.F, port.plus, port.minus, through, ONE)
        self._across(self.F, row, port.plus, port.minus, -ONE)
        if law.coefficient is not None:
            self.F[row, through] = law.coefficient
        else:
            self.h[row] = law.value_at(symbol(port.through))

    def _source(self, port: Port, law: SourceLaw) -> None:
        u, y = len(self.inputs), len(self.outputs)
        self.inputs.append(law.input)
        if law.side == "through":
            self._leaves(self.G, port.plus, port.minus, u, ONE)
            self._across(self.H, y, port.plus, port.minus, -ONE)
            self.outputs.append(port.across)
            return
        # What a source of an across variable supplies follows from the network alone (modified nodal analysis).
        supplied, row = self._own(port.through), self._row()
        self._leaves(self.F, port.plus, port.minus, supplied, -ONE)
        self._across(self.F, row, port.plus, port.minus, ONE)
        self.G[row, u] = -ONE
        self.H[y, supplied] = ONE
        self.outputs.append(port.through)

    def _coupling(self, coupling: Coupling) -> None:
        """Through variables of all branches as unknowns, and the relations z_2 = K z_1, w_1 = K^T w_2."""
        ends_1 = [(branch, self._through(coupling.element, k, branch)) for k, branch in enumerate(coupling.side_1, 1)]
        after = len(ends_1) + 1
        ends_2 = [
            (branch, self._through(coupling.element, k, branch)) for k, branch in enumerate(coupling.side_2, after)
        ]
        for branch, column in ends_1:
            self._leaves(self.F, branch.plus, branch.minus, column, ONE)
        for branch, column in ends_2:
            self._leaves(self.F, branch.plus, branch.minus, column, -ONE)
        K = coupling.K
        for i, end in enumerate(ends_2):
            row = self._row()
            self._power(row, end, end[0].side, ONE)
            for j, other in enumerate(ends_1):
                self._power(row, other, other[0].side, -K[i][j])
        for j, end in enumerate(ends_1):
            row = self._row()
            self._power(row, end, other_side(end[0].side), ONE)
            for i, other in enumerate(ends_2):
                self._power(row, other, other_side(other[0].side), -K[i][j])

    def _through(self, element: str, k: int, branch: Branch) -> int:
        return self._unknown(f"{named_after(DOMAINS[branch.domain].through.symbol, element)}_{k}")

    def _power(self, row: int, end: tuple[Branch, int], side: Side, factor: Expression) -> None:
        branch, column = end
        if side == "across":
            self._across(self.F, row, branch.plus, branch.minus, factor)
        else:
            _add(self.F, (row, column), factor)


def _add(matrix: dict[tuple[int, int], Expression], place: tuple[int, int], entry: Expression) -> None:
    before = matrix.get(place)
    matrix[place] = entry if before is None else before + entry
