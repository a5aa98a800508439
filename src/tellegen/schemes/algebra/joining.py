"""Two schemes as one: joined in a chain, section to section, or side by side at one input.

In a chain the sources of both sections go, and what was imposed from outside is imposed by the other scheme: the section has
one pair of variables then, and all power that leaves one enters the other. Side by side the two share what a source imposes,
and their answers add up: an across variable in parallel, a through variable in series. The graphs behind the schemes are joined,
so that the result is raised like any other model: a ladder where the two were ladders.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tellegen.causality import assign_causality
from tellegen.core.names import did_you_mean
from tellegen.core.union_find import UnionFind
from tellegen.graph import Node, Port, PowerGraph, SourceLaw
from tellegen.schemes import rules
from tellegen.schemes.pog_construction import pog
from tellegen.schemes.pog_scheme import PogScheme, Rewriting


def join_in_chain(one: PogScheme, two: PogScheme, ports: Mapping[str, str]) -> Rewriting:
    """The two schemes joined at `ports`: an input of the first with an input of the second, whose sections become one.

    Raises: GraphError (G206) for a name that is no input, G231 where names clash or the domains differ; CausalityError where what
    they impose on each other conflicts.
    """
    first, second = one.causal.graph, two.causal.graph
    # References of one domain are one point in both schemes, unless a series connection lifts one of them.
    joined = _Joined(first, second, floating=())
    for name, other in ports.items():
        a, b = _source(one, name), _source(two, other)
        _check_domains(first.ports[a], second.ports[b])
        joined.remove(a, b)
        # Live end to live end: the two sources impose conjugate variables, and each is replaced by the other scheme.
        live_a, return_a = _terminals(first.ports[a])
        live_b, return_b = _terminals(second.ports[b])
        joined.merge(live_a, live_b)
        joined.merge(return_a, return_b)
    where = ", ".join(f"{name} and {other}" for name, other in ports.items())
    return _rewritten(joined, one, two, f"joined '{one.name}' and '{two.name}' in a chain at {where}")


def join_side_by_side(one: PogScheme, two: PogScheme, ports: Mapping[str, str]) -> Rewriting:
    """The two schemes with an input of the first (keys) and one of the second (values) as one input, which keeps the first name.

    An across variable is shared in parallel. A through variable is shared in series, so that the reference of the first
    scheme is no reference any more: it rests on the second one.

    Raises: GraphError (G206, G231) as `join_in_chain`, G231 for an across and a through variable.
    """
    first, second = one.causal.graph, two.causal.graph
    pairs = [(_source(one, name), _source(two, other)) for name, other in ports.items()]
    series = [first.ports[a].domain for a, _ in pairs if first.ports[a].source.side == "through"]
    # In series one reference has to rest on the output of the other scheme.
    joined = _Joined(first, second, floating=series)
    for a, b in pairs:
        mine, theirs = first.ports[a], second.ports[b]
        _check_domains(mine, theirs)
        # A source of voltage and one of current cannot be one source.
        side, other_side = mine.source.side, theirs.source.side
        if side != other_side:
            what = f"'{mine.element}' imposes the {side} variable, and '{theirs.element}' the {other_side} variable"
            fix = "join them in a chain (join_in_chain)"
            raise rules.NO_JOINING.error(what, where=mine.element, fix=fix)
        joined.remove(None, b)
        if side == "across":
            joined.merge(mine.plus, theirs.plus)
            joined.merge(mine.minus, theirs.minus)
        else:
            # In series: what leaves the first scheme enters the second, and the source spans both.
            joined.merge(mine.plus, theirs.minus)
            joined.ends[a] = len(first.nodes) + theirs.plus
    where = ", ".join(f"{name} and {other} as one" for name, other in ports.items())
    return _rewritten(joined, one, two, f"put '{one.name}' and '{two.name}' side by side: {where}")


def _rewritten(joined: "_Joined", one: PogScheme, two: PogScheme, account: str) -> Rewriting:
    causal = assign_causality(joined.graph(f"{one.name} and {two.name}"))
    # A ladder may show dependent storages as derivative blocks, so joined ladders stay ladders.
    drawn = bool(one.ladders and two.ladders)
    scheme = pog(causal, derivative=drawn)
    shape = "a ladder" if scheme.ladders else "one vector block"
    return Rewriting(scheme, f"{account}; {shape} of {len(scheme.states)} states")


# -- ports -----------------------------------------------------------------------------------------------------------------------


def _terminals(port: Port) -> tuple[int, int]:
    """Where a source lifts the across variable, or pushes its through variable into the rest; and the other end."""
    # A source of a through variable pushes out at its second node.
    return (port.plus, port.minus) if port.source.side == "across" else (port.minus, port.plus)


def _source(scheme: PogScheme, name: str) -> int:
    ports = scheme.causal.graph.ports
    inputs = {p.law.input: k for k, p in enumerate(ports) if isinstance(p.law, SourceLaw)}
    if name not in inputs:
        fix = did_you_mean(name, inputs) or f"the inputs are {', '.join(inputs) or '(none)'}"
        raise rules.NO_SUCH_SIGNAL.error(f"'{name}' is no input of '{scheme.name}'", where=name, fix=fix)
    return inputs[name]


def _check_domains(one: Port, two: Port) -> None:
    if one.domain != two.domain:
        what = f"'{one.element}' is {one.domain}, and '{two.element}' is {two.domain}"
        fix = "put a transducer at the end of one of them"
        raise rules.NO_JOINING.error(what, where=one.element, fix=fix, members=[one.element, two.element])


# -- graphs ----------------------------------------------------------------------------------------------------------------------


class _Joined:
    """Two graphs on the way to one. Nodes of the second have numbers after those of the first."""

    def __init__(self, one: PowerGraph, two: PowerGraph, floating: Iterable[str]) -> None:
        # Before anything is built: with one name for two things every later message would be about the wrong one.
        _check_names(one, two)
        self.one, self.two = one, two
        self.floating = set(floating)
        self.nodes = [*one.nodes, *two.nodes]
        self.groups = UnionFind(len(self.nodes))
        self.gone: tuple[set[int], set[int]] = (set(), set())
        self.ends: dict[int, int] = {}
        for k, node in enumerate(one.nodes):
            for j, other in enumerate(two.nodes):
                same = node.reference and other.reference and node.domain == other.domain
                if same and node.domain not in self.floating:
                    self.merge(k, j)

    def merge(self, mine: int, theirs: int) -> None:
        """A node of the first graph is one of the second."""
        self.groups.join(mine, len(self.one.nodes) + theirs)

    def remove(self, mine: int | None, theirs: int) -> None:
        """Sources that go: a port of the first graph, and one of the second."""
        self.gone[0].update(() if mine is None else {mine})
        self.gone[1].add(theirs)

    def graph(self, name: str) -> PowerGraph:
        numbers, nodes = self._merged_nodes()
        ports: list[Port] = []
        places: list[dict[int, int]] = []
        for graph, offset, gone in ((self.one, 0, self.gone[0]), (self.two, len(self.one.nodes), self.gone[1])):
            places.append({})
            for k, port in enumerate(graph.ports):
                if k in gone:
                    continue
                # Only sources of the first graph move their beginning, to nodes that are numbered with the offset already.
                plus = self.ends.get(k, port.plus) if not offset else offset + port.plus
                places[-1][k] = len(ports)
                ports.append(replace(port, plus=numbers[plus], minus=numbers[offset + port.minus]))
        couplings = [c.with_nodes(numbers) for c in self.one.couplings]
        couplings += [c.with_nodes(numbers[len(self.one.nodes) :]) for c in self.two.couplings]
        one, two = self.one, self.two
        both = ((one, places[0]), (two, places[1]))
        return replace(
            one,
            name=name,
            nodes=nodes,
            ports=tuple(ports),
            couplings=tuple(couplings),
            parameters={**one.parameters, **two.parameters},
            findings=(*one.findings, *two.findings),
            fields=tuple(replace(f, ports=tuple(at[k] for k in f.ports)) for g, at in both for f in g.fields),
            displacements={**one.displacements, **two.displacements},
            position_dependent={**one.position_dependent, **two.position_dependent},
            signals=(*one.signals, *two.signals),
            switching={at[k]: law for g, at in both for k, law in g.switching.items()},
            now={at[k]: mode for g, at in both for k, mode in g.now.items()},
            vectors={**one.vectors, **two.vectors},
        )

    def _merged_nodes(self) -> tuple[list[int], tuple[Node, ...]]:
        roots: dict[int, int] = {}
        found: list[Node] = []
        for k, node in enumerate(self.nodes):
            root = self.groups.find(k)
            # A floating reference is an ordinary node of the joined graph.
            reference = node.reference and not (k < len(self.one.nodes) and node.domain in self.floating)
            if root in roots:
                first = found[roots[root]]
                if reference and not first.reference:
                    found[roots[root]] = node
                continue
            roots[root] = len(found)
            found.append(replace(node, reference=reference))
        return [roots[self.groups.find(k)] for k in range(len(self.nodes))], _named_apart(found)


def _named_apart(nodes: list[Node]) -> tuple[Node, ...]:
    taken: set[tuple[str, str]] = set()
    found = []
    for node in nodes:
        name = node.name
        # Both schemes may have a node `a`: names of nodes are for messages only, so a suffix will do.
        while (name, node.domain) in taken:
            name += "_2"
        taken.add((name, node.domain))
        found.append(replace(node, name=name))
    return tuple(found)


def _check_names(one: PowerGraph, two: PowerGraph) -> None:
    """Elements and variables are apart; a parameter of both has one meaning."""
    names = []
    for graph in (one, two):
        found = {c.element for c in graph.couplings} | {s.name for s in graph.signals} | {*graph.displacements}
        found |= {name for p in graph.ports for name in (p.element, p.across, p.through, p.state) if name}
        names.append(found)
    twice = sorted(names[0] & names[1])
    # Equal parameters with equal values may be shared: two copies of one machine then have one set of data.
    twice += [n for n in one.parameters if n in two.parameters and one.parameters[n] != two.parameters[n]]
    if twice:
        what = f"'{one.name}' and '{two.name}' both have {', '.join(twice[:5])}"
        fix = "give the elements, variables and parameters of one of them other names"
        raise rules.NO_JOINING.error(what, where=twice[0], fix=fix, members=twice)
