"""The power variables and powers of a run by element, by the sides of couplings, and by the sections of a Power-Oriented Graph.

A coupling has no variables of its own in a run. Its across variables are sums along elements between its nodes, its through
variables what these nodes still lack; where elements do not tell them, its own law does, from the other side.

Variables of sections are those of elements, sums of them, or such behind a connection block: sums and blocks are evaluated as the
scheme says. Both follow from the way in which elements are joined, so that they hold in all modes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from tellegen.compiler.context import Array
from tellegen.compiler.observation import storage_content
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing, named_after
from tellegen.core.union_find import UnionFind
from tellegen.expressions import ZERO, Expression, number, symbol, total
from tellegen.expressions.python_code import row_function
from tellegen.graph import Coupling, Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT, Branch, heat_taken
from tellegen.model.model import SIDES, Element, side_names
from tellegen.results import rules
from tellegen.results.channels import Channels, Follower
from tellegen.results.records import data_array
from tellegen.schemes.pog_scheme import PogScheme, PowerSection

if TYPE_CHECKING:
    import xarray

    from tellegen.results.run import Run


def elements_behind(graph: PowerGraph, coupling: Coupling) -> set[str] | None:
    """The elements on the far side of a coupling, which all its power goes to; None where another way joins both sides too."""
    sides = UnionFind(len(graph.nodes))

    def join(nodes: Sequence[int]) -> None:
        # No power passes a reference: its across variable is zero.
        free = [n for n in nodes if not graph.nodes[n].reference]
        for a, b in pairwise(free):
            sides.join(a, b)

    for port in graph.ports:
        join([port.plus, port.minus])
    for other in graph.couplings:
        if other is not coupling:
            join([n for branch in (*other.side_1, *other.side_2) for n in branch[:2]])
    # Without the coupling itself: if its sides are still joined, its power is not that of either side alone.
    near = {sides.find(n) for b in coupling.side_1 for n in b[:2] if not graph.nodes[n].reference}
    far = {sides.find(n) for b in coupling.side_2 for n in b[:2] if not graph.nodes[n].reference}
    if near & far:
        return None
    return {p.element for p in graph.ports if {sides.find(p.plus), sides.find(p.minus)} & far}


def sources_of(graph: PowerGraph) -> set[str]:
    """The elements whose power counts positive where it leaves them."""
    return {port.element for port in graph.ports if isinstance(port.law, SourceLaw)}


def supplying(graph: PowerGraph) -> set[str]:
    """The sources that supply energy: not those that bring the heat of dissipators, nor those that move the matrix of a field."""
    sources = (port for port in graph.ports if isinstance(port.law, SourceLaw))
    return {port.element for port in sources if not (port.transferred or port.part_of)}


def transferring(graph: PowerGraph) -> list[str]:
    """The dissipators whose heat goes into a thermal port."""
    return [port.element for port in graph.ports if port.transferred and not isinstance(port.law, SourceLaw)]


def lifted(graph: PowerGraph) -> list[str]:
    """The elements that keep potential energy."""
    return [graph.ports[k].element for k in graph.weights()]


def exchanges_heat(graph: PowerGraph) -> bool:
    """Whether heat passes between the system and the ambient."""
    leads = (port for port in graph.ports if isinstance(port.law, ResistiveLaw))
    return any(DOMAINS[port.domain].heat_books and heat_taken(port, graph.nodes) for port in leads)


Known = dict[tuple[int, Side], Array]
"""Variables of branches, by the number of the branch."""
Edges = dict[int, list[tuple[int, Callable[[], Array], float]]]
"""From every node: where one can go, the across variable on the way, and its sign."""
Variable = tuple[int, Side]
Terms = list[tuple[Expression, Variable]]
Finder = Callable[[Variable, Terms, Known], None]
GROUND = -1
LEAST_FACTOR = 1e-6
"""A factor that falls below this share of itself leaves nothing but rounding to divide."""


def branch_named(graph: PowerGraph, name: str) -> int | None:
    """The number of the branch that a name means: `motor.1` is the first of the coupling 'motor', its second side comes last."""
    element, _, number = name.rpartition(".")
    own = branches_of(graph, element)
    return own[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(own) else None


def branches_of(graph: PowerGraph, element: str) -> list[int]:
    """The numbers of the branches of a coupling; none for another element."""
    names = [c.element for c in graph.couplings for _ in (*c.side_1, *c.side_2)]
    return [j for j, name in enumerate(names) if name == element]


@final
class CouplingSides:
    """Power variables of branches, over the rows of a run; power is positive from the first side to the second."""

    def __init__(
        self, graph: PowerGraph, of_port: Callable[[Port, Side], Array], value: Callable[[Expression], Array]
    ) -> None:
        self.graph = graph
        self.branches = [b for c in graph.couplings for b in (*c.side_1, *c.side_2)]
        self._of_port = of_port
        self._value = value

    @cached_property
    def known(self) -> Known:
        """All that follows: from what is known more is found, until nothing is."""
        known: Known = {}
        while True:
            # What one way finds another may need, so all are tried until nothing new comes.
            count = len(known)
            self._find_across(known)
            self._find_through(known)
            self._find_by_laws(known, self._find_sum)
            if len(known) == count:  # divisions only where sums lead no further
                self._find_by_laws(known, self._find_term)
            if len(known) == count:
                return known

    # -- By the elements around ------------------------------------------------------------------------------------------------

    def _find_across(self, known: Known) -> None:
        edges = self._edges(known)
        for j, branch in enumerate(self.branches):
            if (j, "across") not in known and (value := self._along(edges, branch)) is not None:
                known[j, "across"] = value

    def _along(self, edges: Edges, branch: Branch) -> Array | None:
        """The sum on the shortest way from minus to plus."""
        start, goal = self._point(branch.minus), self._point(branch.plus)
        before: dict[int, tuple[int, Callable[[], Array], float]] = {}
        # Breadth first: the shortest way has the fewest terms, and so the least rounding.
        queue, seen = deque([start]), {start}
        while queue and goal not in seen:
            here = queue.popleft()
            for there, value, sign in edges.get(here, ()):
                if there not in seen:
                    seen.add(there)
                    before[there] = here, value, sign
                    queue.append(there)
        if goal not in seen:
            return None
        total: Array = np.zeros(())
        while goal != start:
            goal, value, sign = before[goal]
            total = total + sign * value()
        return total

    def _edges(self, known: Known) -> Edges:
        edges: Edges = {}

        def join(plus: int, minus: int, value: Callable[[], Array]) -> None:
            edges.setdefault(self._point(minus), []).append((self._point(plus), value, 1.0))
            edges.setdefault(self._point(plus), []).append((self._point(minus), value, -1.0))

        for port in self.graph.ports:
            # As functions: only elements on the way that is taken are looked up.
            join(port.plus, port.minus, lambda port=port: self._signed(port, "across"))  # type: ignore[misc]
        for (j, side), found in known.items():
            if side == "across":
                join(self.branches[j].plus, self.branches[j].minus, lambda found=found: found)  # type: ignore[misc]
        return edges

    def _find_through(self, known: Known) -> None:
        """At a node with one branch that is not known, it takes what the others leave."""
        for node in range(len(self.graph.nodes)):
            at = [(j, sign) for j, sign in self._ends(node) if (j, "through") not in known]
            # At the reference nothing balances: it takes what there is.
            if self._point(node) != GROUND and len(at) == 1:
                ((j, sign),) = at
                known[j, "through"] = -self._leaving(node, known) / sign

    def _ends(self, node: int) -> list[tuple[int, float]]:
        """The branches at a node, and whether their through variable leaves it."""
        found, j = [], 0
        for c in self.graph.couplings:
            for k, b in enumerate((*c.side_1, *c.side_2)):
                enters = 1.0 if k < len(c.side_1) else -1.0
                # A branch with both ends at one node carries nothing through it.
                if node in (b.plus, b.minus) and b.plus != b.minus:
                    found.append((j, enters if node == b.plus else -enters))
                j += 1
        return found

    def _leaving(self, node: int, known: Known) -> Array:
        total: Array = np.zeros(())
        for port in self.graph.ports:
            if node in (port.plus, port.minus) and port.plus != port.minus:
                total = total + (1.0 if node == port.plus else -1.0) * self._signed(port, "through")
        for j, sign in self._ends(node):
            if (j, "through") in known:
                total = total + sign * known[j, "through"]
        return total

    # -- By its own law --------------------------------------------------------------------------------------------------------

    def _find_by_laws(self, known: Known, find: Finder) -> None:
        first = 0
        for coupling in self.graph.couplings:
            for target, terms in self._law(coupling, first):
                find(target, terms, known)
            first += len(coupling.side_1) + len(coupling.side_2)

    def _law(self, coupling: Coupling, first: int) -> Iterator[tuple[Variable, Terms]]:
        """z_2 = K z_1 and w_1 = K^T w_2: what is on the left, and the terms on the right."""
        ones = [(first + i, b.side) for i, b in enumerate(coupling.side_1)]
        twos = [(first + len(ones) + i, b.side) for i, b in enumerate(coupling.side_2)]
        for i, target in enumerate(twos):
            yield target, _present(zip(coupling.K[i], ones, strict=True))
        # The coupling loses no power, which makes K transposed the law of the conjugates.
        conjugates = [(j, other_side(side)) for j, side in twos]
        for i, (j, side) in enumerate(ones):
            yield (j, other_side(side)), _present((row[i], w) for row, w in zip(coupling.K, conjugates, strict=True))

    def _find_sum(self, target: Variable, terms: Terms, known: Known) -> None:
        """What is on the left, where all on the right are known."""
        if target not in known and all(read in known for _, read in terms):
            known[target] = self._sum(terms, known)

    def _find_term(self, target: Variable, terms: Terms, known: Known) -> None:
        """The one on the right that is not known, where its factor is never near zero."""
        missing = [(factor, read) for factor, read in terms if read not in known]
        if target not in known or len(missing) != 1:
            return
        ((factor, read),) = missing
        value = self._value(factor)
        # A lever at its dead centre: dividing by the factor would show rounding as a force.
        if np.min(np.abs(value)) > LEAST_FACTOR * np.max(np.abs(value)):
            known[read] = (known[target] - self._sum([term for term in terms if term[1] in known], known)) / value

    def _sum(self, terms: Terms, known: Known) -> Array:
        total: Array = np.zeros(())
        for factor, read in terms:
            total = total + self._value(factor) * known[read]
        return total

    # -- The graph -------------------------------------------------------------------------------------------------------------

    def _point(self, node: int) -> int:
        """The node; references are one, of zero."""
        return GROUND if self.graph.nodes[node].reference else node

    def _signed(self, port: Port, side: Side) -> Array:
        """A variable of a port, from plus to minus; what a source answers counts the other way."""
        answer = isinstance(port.law, SourceLaw) and port.law.side != side
        return self._of_port(port, side) * (-1.0 if answer else 1.0)


def _present(terms: Iterable[tuple[Expression, Variable]]) -> Terms:
    return [(factor, read) for factor, read in terms if factor is not ZERO]


@final
class ElementVariables:
    """What a run knows of its elements: `motor` is an element, `motor.1` the first side of a coupling."""

    def __init__(self, run: "Run") -> None:
        self.run = run
        # In a form some forces and flows stand at the field that merged their elements: nodes balance in the model itself.
        self.graph = run.described or run.graph

    def power(self, element: str) -> Array:
        """The power into an element, out of a source; of a coupling, what passes from its first side to its second.

        Raises: SimulationError when there is no such element (S201), or other ways lead round the coupling, and the elements beside
            it do not tell what flows through it (S203).
        """
        places = self.run.catalogue.of("power", element)
        if places:
            return self.run.channels.sums([places])[:, 0]
        for coupling in self.graph.couplings:
            if coupling.element == element:
                behind = elements_behind(self.graph, coupling)
                return self._entering(element) if behind is None else self._passing(behind)
        raise self.run.channels.unknown(element)

    def _entering(self, coupling: str) -> Array:
        """The products of the variables of the first side."""
        count = sum(len(c.side_1) for c in self.graph.couplings if c.element == coupling)
        first = branches_of(self.graph, coupling)[:count]
        known = self._sides.known
        if not first or any((j, side) not in known for j in first for side in SIDES):
            raise rules.NO_SEPARATE_SIDES.error(
                f"the two sides of '{coupling}' are joined elsewhere too",
                where=coupling,
                fix="ask for the powers of the elements on one side",
            )
        return np.asarray(
            np.broadcast_to(sum(known[j, "across"] * known[j, "through"] for j in first), self.run.t.shape)
        )

    def _passing(self, elements: set[str]) -> Array:
        sources, named = sources_of(self.run.graph), sorted(elements)
        if not named:
            return np.zeros(len(self.run.t))
        # Power goes into elements and out of sources: what passes the coupling is what all behind it take.
        signs = np.array([-1.0 if element in sources else 1.0 for element in named])
        return np.asarray(
            self.run.channels.sums([self.run.catalogue.of("power", element) for element in named]) @ signs
        )

    def domain(self, element: str) -> str:
        """The domain of an element, or of a side of a coupling.

        Raises: SimulationError for an unknown name (S201), or an element of several ports.
        """
        branch = branch_named(self.graph, element)
        if branch is not None:
            return self._sides.branches[branch].domain
        for port in (*self.run.graph.ports, *(self.run.described.ports if self.run.described is not None else ())):
            if port.element == element:
                return port.domain
        raise self._without_one_value(element)

    def _without_one_value(self, element: str) -> TellegenError:
        """The error for an element of several ports, whose variables are those of the elements around it."""
        ports = [port for port in self.run.graph.ports if port.element == element]
        if not ports and all(coupling.element != element for coupling in self.graph.couplings):
            return self.run.channels.unknown(element)
        sides = [f"{element}.{k + 1}" for k in range(len(branches_of(self.graph, element)))]
        named = f"ask for one of {listing([port.across for port in ports] or sides)}"
        return rules.SEVERAL_PORTS.error(
            f"'{element}' has several ports, so it has no single effort or flow", where=self.run.name, fix=named
        )

    def _at_side(self, name: str, branch: int, side: Side) -> Array:
        found = self._sides.known.get((branch, side))
        if found is None:
            what = f"the elements beside '{name}' do not tell its {side} variable"
            raise rules.SEVERAL_PORTS.error(what, where=self.run.name, fix="ask for the power of the coupling")
        return np.broadcast_to(found, self.run.t.shape)

    def followers(self) -> dict[str, Follower]:
        """What follows from the variables of ports and has a name: the contents of storages, the sides and powers of couplings."""
        found: dict[str, Follower] = {}
        graph = self.run.graph
        stored = {e.name: e.variables["energy"] for e in self.run.elements if "energy" in e.variables}
        for k, port in enumerate(graph.ports):
            if isinstance(port.law, StorageLaw) and not port.law.keeps_energy_variable and not port.part_of:
                kept = DOMAINS[port.domain].energy(port.law.side)
                name = stored.get(port.element) or named_after(kept.symbol, port.element)
                found.setdefault(name, Follower(kept.unit, partial(self._content, k)))
        for element in self.run.elements:
            if element.kind.role == "coupling" and (branches := branches_of(self.graph, element.name)):
                for name, follower in self._of_coupling(element, branches):
                    found.setdefault(name, follower)
        return found

    def _of_coupling(self, element: Element, branches: list[int]) -> Iterator[tuple[str, Follower]]:
        relation = element.multiport
        order = range(len(branches)) if relation is None else (*relation.given, *relation.gives)
        for position, j in sorted(zip(order, branches, strict=True)):
            for side in SIDES:
                variable = DOMAINS[self._sides.branches[j].domain].power(side)
                follower = Follower(variable.unit, partial(self._at_side, f"{element.name}.{position + 1}", j, side))
                for name in side_names(element, position, side):
                    yield name, follower
        yield f"power.{element.name}", Follower("W", partial(self.power, element.name))

    def _content(self, k: int) -> Array:
        """What a storage keeps; in a field the outputs of all its ports count."""
        port = self.run.graph.ports[k]
        for coupled in self.run.graph.fields:
            if k in coupled.ports and coupled.energy is None:
                others = (self.run.graph.ports[j] for j in coupled.ports)
                row = zip(coupled.matrix[coupled.ports.index(k)], others, strict=True)
                return self._along(total(entry * symbol(other.variable(other.law.side)) for entry, other in row))
        output = symbol(port.variable(port.law.side))
        return self._along(storage_content(port.storage).substitute({ARGUMENT: output}))

    def power_variable(self, element: str, side: Side) -> "xarray.DataArray":
        """The across or through variable of an element, or at a side of a coupling.

        Raises: SimulationError for an unknown name (S201), or an element of several ports.
        """
        branch = branch_named(self.graph, element)
        if branch is not None:
            unit = DOMAINS[self._sides.branches[branch].domain].power(side).unit
            return data_array(self.run, f"{side}.{element}", self._at_side(element, branch, side), unit)
        places = self.run.catalogue.of(side, element)
        if len(places) != 1:
            raise self._without_one_value(element)
        observable = self.run.catalogue.observables[places[0]]
        return data_array(self.run, observable.name, self.run.channels.sums([places])[:, 0], observable.unit)

    @cached_property
    def _sides(self) -> CouplingSides:
        return CouplingSides(self.graph, self._of_port, self._along)

    def _of_port(self, port: Port, side: Side) -> Array:
        return self.run.values(port.across if side == "across" else port.through)

    def _along(self, formula: Expression) -> Array:
        """A formula of parameters and variables, row by row."""
        # Parameters that others give may be given by others again.
        while inner := {
            n: e for n in formula.free_symbols - self.run.parameters.keys() if (e := self._defined(n)) is not None
        }:
            formula = formula.substitute(inner)
        names = sorted(formula.free_symbols - self.run.parameters.keys())
        rows = self.run.table(names) if names else np.zeros((len(self.run.t), 0))
        return _by_rows(formula, names, rows, self.run.parameters)

    def _defined(self, name: str) -> Expression | None:
        """What a parameter stands for that others give."""
        given = (
            which for graph in (self.graph, self.run.graph) for which in (graph.position_dependent, graph.parameters)
        )
        return next((found for which in given if (found := which.get(name)) is not None), None)


@final
@dataclass(frozen=True, eq=False)
class SectionPowers:
    """Powers by the number of the section, positive to the right, which in a side ladder is away from its branch.

    Between temperature and heat flow it is the heat flow, a power by itself.
    `left_out` says of the other sections which of their variables cannot be computed.
    """

    scheme: PogScheme = field(repr=False)
    channels: Channels = field(repr=False)

    @cached_property
    def left_out(self) -> Mapping[str, str]:
        """The sections without a power, each with the variable that is not known."""
        found: dict[str, str] = {}
        for name, section in self._sections.items():
            missing = [v for v in (section.across, section.through) if not self._signals.known(v)]
            if missing:
                found[name] = missing[0]
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The sections whose power is known, in the order of the scheme."""
        return tuple(name for name in self._sections if name not in self.left_out)

    def power(self, section: int | str) -> Array:
        """The power through a section.

        Raises: SimulationError when there is no such section (S207), or one of its variables cannot be computed (S208).
        """
        name = str(section)
        if name not in self._sections:
            raise self._no_section(name)
        if name in self.left_out:
            raise rules.NO_SECTION_POWER.error(
                f"'{self.left_out[name]}' of section {name} cannot be computed from this run",
                where=self.channels.name,
                fix=f"ask for one of the sections {listing(self.names, 20)}",
            )
        found = self._sections[name]
        # Positive to the right in the figure, whatever direction the element was described in.
        sign = 1.0 if found.direction == "right" else -1.0
        through = sign * self._signals.values(found.through)
        return through if DOMAINS[found.domain].heat_books else through * self._signals.values(found.across)

    def _no_section(self, name: str) -> TellegenError:
        if self.scheme.vectorial:
            return rules.NO_SUCH_SECTION.error(
                f"the scheme of '{self.channels.name}' is one vector block, without sections in a row",
                where=self.channels.name,
                fix="ask for the powers of elements: run.power(element)",
            )
        return rules.NO_SUCH_SECTION.error(
            f"there is no section '{name}'",
            where=self.channels.name,
            fix=f"the sections are {listing(list(self._sections), 20)}",
        )

    @property
    def _sections(self) -> Mapping[str, PowerSection]:
        """Those of ladders: in a vector block no order says what is to the right."""
        return {} if self.scheme.vectorial else self.scheme.sections

    @cached_property
    def _signals(self) -> "_Signals":
        return _Signals(self.scheme, self.channels)


@final
@dataclass(frozen=True, slots=True)
class _Connection:
    """output = gain * input."""

    input: str
    gain: Expression


@final
class _Signals:
    """The signals of a scheme as rows: read from the run where it has them, else summed or passed through connections."""

    def __init__(self, scheme: PogScheme, channels: Channels) -> None:
        self.channels = channels
        self.sums = {s.output: s.inputs for s in scheme.summations.values()}
        self.connections = _connections(scheme)
        ports = scheme.causal.graph.ports
        # Of elements that the run knows: a scheme may have been drawn of another form of the model.
        self.observed = {name for p in ports for name in (p.across, p.through) if channels.knows(name)}
        self._order: dict[str, tuple[str, ...]] = {}
        self._rows: dict[str, Array] = {}

    def known(self, name: str) -> tuple[str, ...]:
        """All that is needed for a signal, itself last; nothing where something is not known."""
        if name not in self._order:
            self._order[name] = self._walk(name)
        return self._order[name]

    def values(self, name: str) -> Array:
        """The rows of a signal that is known."""
        for needed in self.known(name):
            if needed not in self._rows:
                self._rows[needed] = self._evaluated(needed)
        return self._rows[name]

    def _walk(self, name: str) -> tuple[str, ...]:
        done: dict[str, None] = {}
        stack, open_ = [name], set[str]()
        while stack:
            here = stack[-1]
            needs = self._needs(here)
            # A signal that waits for itself is a loop of the scheme, and cannot be evaluated in order.
            if needs is None or (here in open_ and any(n not in done for n in needs)):
                return ()
            waiting = [n for n in needs if n not in done]
            if waiting:
                open_.add(here)
                stack += waiting
            else:
                done[stack.pop()] = None
        return tuple(done)

    def _needs(self, name: str) -> list[str] | None:
        """The signals behind one; None where it leads nowhere."""
        if name in self.observed:
            return []
        if name in self.sums:
            return [inner for inner, _ in self.sums[name]]
        connection = self.connections.get(name)
        if connection is None or not all(map(self.channels.knows, self._variables(connection.gain))):
            return None
        return [connection.input]

    def _evaluated(self, name: str) -> Array:
        if name in self.observed:
            return self.channels.table([name])[:, 0]
        if name in self.sums:
            terms = (sign * self._rows[inner] for inner, sign in self.sums[name])
            return sum(terms, start=np.zeros(len(self.channels.trajectory.t)))
        connection = self.connections[name]
        return self._gain(connection.gain) * self._rows[connection.input]

    def _gain(self, gain: Expression) -> Array:
        variables, constants = self._variables(gain), self.channels.parameters
        if not variables:
            return np.asarray(gain.evaluate(constants))
        return _by_rows(gain, variables, self.channels.table(variables), constants)

    def _variables(self, gain: Expression) -> list[str]:
        return sorted(gain.free_symbols - self.channels.parameters.keys())


def _connections(scheme: PogScheme) -> dict[str, _Connection]:
    """The connection blocks with a gain by their output, with formulas for the moduli that move."""
    moving, found = scheme.causal.graph.position_dependent, {}
    for block in scheme.blocks.values():
        if block.kind == "connection" and block.gain is not None:
            gain = block.gain
            # Moduli may move with other moduli: written out until only variables of the run are left.
            while gain.free_symbols & moving.keys():
                gain = gain.substitute(moving)
            found[block.output] = _Connection(block.input, gain)
    return found


def _by_rows(formula: Expression, names: Sequence[str], rows: Array, known: Mapping[str, float]) -> Array:
    value = row_function(
        formula.substitute({name: number(known[name]) for name in formula.free_symbols & known.keys()}), names
    )
    # Numbers of Python: those of NumPy are slow one by one.
    return np.array([value(row) for row in rows.tolist()], dtype=float)
