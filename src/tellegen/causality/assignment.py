"""Causality of a PowerGraph, in one combination of modes or in all: the largest possible number of storages in integral causality.

An open switch in series with open switches imposes nothing new: closed, it would leave everything as it is. So would a closed one
in parallel with closed ones, if it were open. Such a port gets the other ideal law; it then takes no share of the load.

Loops that close through couplings alone are listed where they can be solved, and refused where they leave something open. Where
their ratios do not agree they stand still: that is determined, and told as a warning.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Literal

from tellegen.causality import exact, rules
from tellegen.causality.causal_graph import CausalGraph, Dependence, ZeroOrderPath
from tellegen.causality.normal_tree import NormalTree
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import CausalityError, Finding, Rule
from tellegen.core.memory import remembered, without_collector
from tellegen.core.names import listing
from tellegen.core.union_find import UnionFind
from tellegen.expressions import ONE, ZERO, Add, symbol
from tellegen.expressions.elimination import Elimination, NamedEntries, with_definitions
from tellegen.graph import Coupling, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import Interconnection, column


def _without_idle_shares(graph: PowerGraph, idle: Sequence[int]) -> PowerGraph:
    """The graph in which ideal ports that repeat others take no share."""
    if not idle:
        return graph
    ports = list(graph.ports)
    for k in idle:
        ports[k] = replace(ports[k], law=ResistiveLaw(other_side(ports[k].law.side), ZERO, invertible=False))
    return replace(graph, ports=tuple(ports))


def _idle_notices(graph: PowerGraph, idle: Iterable[int]) -> Iterable[Finding]:
    for k in idle:
        port = graph.ports[k]
        word = graph.domain_of(k).power(port.law.side).word
        yield rules.IDLE_ELEMENT.finding(
            f"'{port.element}' repeats what others impose: it takes no {word}",
            where=port.element,
            fix="give one of them a resistance if the share matters",
            place=port.place,
            members=[port.element],
        )


def _mode_conflict(graph: PowerGraph, port: int, others: Sequence[str], variable: str) -> Finding:
    """The error for a mode in which an element would impose what others decide."""
    me = graph.ports[port]
    mode = graph.mode_of(port)
    decide = "decides" if len(others) == 1 else "decide"
    return rules.LOCKED_MODE.finding(
        f"'{me.element}' cannot be '{mode}': {listing(others)} {decide} its {variable}",
        where=me.element,
        fix=f"put a resistive element or a storage between '{me.element}' and {listing(others)}",
        place=me.place,
        members=[me.element, *others],
    )


Partners = Callable[[Sequence[int]], dict[int, list[int]]]


def assign_causality(graph: PowerGraph) -> CausalGraph:
    """Give every port its causality.

    A network without couplings gets a normal tree; with couplings the question is settled by exact elimination. Storages left in
    derivative causality are listed with what they depend on, zero-order causal paths by kind.

    Raises: CausalityError when sources, demands or laws contradict each other, or couplings lock or leave a variable open.
    """
    causal = assign_with_conflicts(graph)
    if causal.contradictions:
        raise CausalityError(causal.contradictions)
    return causal


@remembered
def assign_with_conflicts(graph: PowerGraph) -> CausalGraph:
    """The causality of a figure that shows conflicts: ports that cannot decide what they must are listed, not refused.

    So are the elements of a loop of couplings that leaves a variable open.
    """
    with without_collector():
        # Kirchhoff's laws alone have a normal tree, in near-linear time; with couplings the variables form no graph any
        # more, only a Dirac structure, and that takes elimination.
        order = exact.demands(graph)
        return _by_elimination(graph, order) if graph.couplings else _by_tree(graph, order)


def _by_tree(graph: PowerGraph, order: Sequence[exact.Demand]) -> CausalGraph:
    # Without couplings every choice of deciding variables is a tree of one graph: the greedy tree is the best one.
    tree = NormalTree(graph, order)
    blocks = tree.resistive_blocks(_following(graph))
    return _finish(
        graph, order, tree.decides, lambda ports: {k: tree.partners(k) for k in ports}, blocks, "normal tree"
    )


def _by_elimination(graph: PowerGraph, order: Sequence[exact.Demand]) -> CausalGraph:
    # Twice: once with moduli in general position, which tells what the structure allows, once with the given values,
    # which may allow more or less by a coincidence such as n_1 = n_2.
    generic = exact.exact_causality(graph, order, exact.generic_residue)
    given = exact.exact_causality(graph, order, exact.given_residue(graph))
    # An open loop comes first: where a variable is left open, partners and conflicts have no meaning.
    loop = _rigid_loop(graph, generic, given)
    if loop is not None:
        # The figure of a refused model shows the assignment in which the loop was found.
        decides = given.decides if given.circulates else generic.decides
        return CausalGraph(graph, decides, (), (), "elimination", (loop,), rigid=loop.members)
    special = _special_values(graph, generic, given)
    severed = _without_zero_moduli(graph)
    # A modulus of zero holds variables, and is no coincidence. Where others decide then, or a loop leads through it, it would be
    # divided by it; elsewhere it stays a symbol, which other values may have.
    if severed is not graph and (special or junction_loops(graph, given.decides)):
        return _by_elimination(severed, order)
    # An assignment that holds at the given values holds in general as well, but not the reverse: where only the choice among
    # resistive elements differs, the given values decide, so that nothing is divided by what they make zero.
    causality = generic if special else given
    blocks = _coupled_blocks(graph, causality)
    result = _finish(graph, order, causality.decides, causality.partners_of, blocks, "elimination")
    # Loops inside the junction structure have no port on them, so the partners of ports do not show them.
    loops = [ZeroOrderPath("junction loop", names) for names in junction_loops(graph, causality.decides)]
    # A conflict is told alone: what it says is locked may move once it is gone.
    locks = [] if result.contradictions else _locked_loops(graph, generic)
    return replace(result, paths=(*result.paths, *loops), findings=(*result.findings, *special, *locks))


def _finish(
    graph: PowerGraph,
    order: Sequence[exact.Demand],
    decides: tuple[Side, ...],
    partners: Partners,
    blocks: list[list[int]],
    method: Literal["normal tree", "elimination"],
) -> CausalGraph:
    denied = [demand.port for demand in order if demand.must and decides[demand.port] != demand.wants]
    idle: list[int] = []
    refused: dict[int, Finding] = {}
    if denied:
        found = partners(denied)
        # An ideal port that is denied only by other ideal ports contradicts nobody: two closed switches side by side
        # both hold zero. It gives way, where a source that is denied is an error.
        idle = [k for k in denied if _is_ideal(graph, k) and all(_is_ideal(graph, j) for j in found[k])]
        refused = {k: _conflict(graph, k, found[k], decides) for k in denied if k not in idle}
        # From here on the idle port has the other ideal law, so that what it is told is determined and equations follow.
        graph = _without_idle_shares(graph, idle)
    dependent = _dependent(graph, decides, partners)
    if not refused:
        # Only where nothing else is wrong: a law that cannot follow is then the first cause, else it would be a
        # consequence of another conflict.
        refused = {d.port: _overruled(graph, d) for d in dependent if _deciding_laws(graph, d)}
    if refused:
        # A storage whose output a law decides is shown as a conflict, not as one that follows: nobody asked it to.
        dependent = [d for d in dependent if d.port not in refused]
        errors = tuple(refused.values())
        return CausalGraph(graph, decides, tuple(dependent), (), method, errors, conflicts=tuple(refused))
    paths = [*_storage_paths(graph, dependent)]
    paths += [ZeroOrderPath("resistor-resistor", tuple(_names(graph, block))) for block in blocks]
    findings = [*_dependence_notices(graph, dependent), *_loop_notices(graph, blocks), *_idle_notices(graph, idle)]
    return CausalGraph(graph, decides, tuple(dependent), tuple(paths), method, (*graph.findings, *findings))


def _dependent(graph: PowerGraph, decides: Sequence[Side], partners: Partners) -> list[Dependence]:
    return [Dependence(k, tuple(on)) for k, on in partners(_followers(graph, decides)).items()]


def _followers(graph: PowerGraph, decides: Sequence[Side]) -> list[int]:
    """The storages that do not decide their output."""
    return [k for k in graph.storages() if decides[k] != graph.ports[k].storage.side]


def _coupled_blocks(graph: PowerGraph, causality: exact.ExactCausality) -> list[list[int]]:
    """Resistive ports that decide each other: connected groups, since the relation is mutual."""
    resistive = _following(graph)
    # To decide each other is mutual because the interconnection is skew (gains[i][j] = -gains[j][i]), so groups are
    # enough and no direction has to be followed.
    groups = UnionFind(len(graph.ports))
    for k, partners in causality.partners_of(resistive).items():
        for other in partners:
            # An ideal law imposes zero whatever it is told: it passes nothing on, so it closes no algebraic loop.
            if isinstance(graph.ports[other].law, ResistiveLaw) and not _is_ideal(graph, other):
                groups.join(k, other)
    blocks: dict[int, list[int]] = {}
    for k in resistive:
        blocks.setdefault(groups.find(k), []).append(k)
    return [block for block in blocks.values() if len(block) > 1]


def _names(graph: PowerGraph, ports: Iterable[int]) -> list[str]:
    return [graph.ports[k].element for k in ports]


def _storage_paths(graph: PowerGraph, dependent: Iterable[Dependence]) -> Iterable[ZeroOrderPath]:
    for d in dependent:
        me = graph.ports[d.port].element
        for k in d.on:
            if _is_ideal(graph, k):
                continue
            # With a source at its beginning the path brings the derivative of an input, which a step makes infinite;
            # between storages it only removes a state.
            kind = "source-storage" if isinstance(graph.ports[k].law, SourceLaw) else "storage-storage"
            yield ZeroOrderPath(kind, (graph.ports[k].element, me))  # type: ignore[arg-type]


def _dependence_notices(graph: PowerGraph, dependent: Iterable[Dependence]) -> Iterable[Finding]:
    for d in dependent:
        port = graph.ports[d.port]
        me, variable = port.element, port.variable(port.storage.side)
        sources = [k for k in d.on if isinstance(graph.ports[k].law, SourceLaw)]
        others = [k for k in d.on if k not in sources]
        if sources:
            names = listing(_names(graph, sources))
            yield rules.SOURCE_MEETS_STORAGE.finding(
                f"'{me}' follows the source {names}: the equations contain the derivative of the input",
                where=me,
                fix=f"put a resistive element between {names} and '{me}' if the input jumps",
                place=port.place,
                members=[me, *_names(graph, d.on)],
            )
        else:
            free = [k for k in others if not _is_ideal(graph, k)]
            # Ideal elements hold something at zero, so a storage that depends on them alone never changes.
            on = f"depends on {listing(_names(graph, free))}" if free else "is always zero"
            on += f", held by {listing(_names(graph, others))}" if others and not free else ""
            yield rules.DEPENDENT_STORAGE.finding(
                f"'{me}' is in derivative causality: {variable} {on}",
                where=me,
                place=port.place,
                members=[me, *_names(graph, d.on)],
            )


def _loop_notices(graph: PowerGraph, blocks: Iterable[Sequence[int]]) -> Iterable[Finding]:
    for block in blocks:
        names = _names(graph, block)
        yield rules.ALGEBRAIC_LOOP.finding(
            f"{len(names)} resistive elements are solved together: {listing(names)}", where=names[0], members=names[:50]
        )


def _conflict(graph: PowerGraph, port: int, partners: Sequence[int], decides: Sequence[Side]) -> Finding:
    me = graph.ports[port]
    domain = graph.domain_of(port)
    variable = domain.power("through" if decides[port] == "across" else "across").word
    others = _names(graph, partners)
    rule = _conflict_rule(me.law, me.forced)
    members = [me.element, *others]
    decide = "decides" if len(others) == 1 else "decide"
    # With modes the contradiction belongs to the mode, not to the model: a run may never enter it.
    if port in graph.switching and others:
        return _mode_conflict(graph, port, others, variable)
    if not others:
        what = f"'{me.element}' cannot decide its {variable}: the network leaves it at zero"
        fix = f"check how '{me.element}' is joined"
    else:
        # What separates two deciders of an across variable stands in series with them, of a through variable in parallel.
        how = "in series with" if variable == domain.across.word else "in parallel with"
        fix = f"put a resistive element or a storage {how} '{me.element}', or remove one of {listing(members)}"
        what = f"'{me.element}' cannot impose its {variable}: {listing(others)} {decide} it already"
        if rule is not rules.SOURCES_FIGHT:
            what = f"'{me.element}' would have to follow: its {variable} is decided by {listing(others)}"
    return rule.finding(what, where=me.element, fix=fix, place=me.place, members=members)


def _deciding_laws(graph: PowerGraph, dependence: Dependence) -> list[int]:
    """Resistive ports that decide the output of a storage which nobody asked to follow."""
    if graph.ports[dependence.port].forced:
        return []
    # A storage that resistive elements decide would be a state in any better assignment; that it is none means that the
    # law could not be inverted.
    return [k for k in dependence.on if isinstance(graph.ports[k].law, ResistiveLaw) and not _stays(graph, k)]


def _stays(graph: PowerGraph, port: int) -> bool:
    """Whether a law gives the same value at all times, as the threshold of a diode does: what follows it stands still."""
    law = graph.ports[port].law
    fixed = graph.parameters.keys() - graph.position_dependent.keys()
    return _is_ideal(graph, port) or (
        isinstance(law, ResistiveLaw)
        and law.expression is not None
        and law.potential is None
        and law.free_symbols <= fixed
    )


def _following(graph: PowerGraph) -> list[int]:
    """Resistive ports whose decision depends on what they are told: all but ideal ones."""
    return [k for k in graph.resistive() if not _is_ideal(graph, k)]


def _is_ideal(graph: PowerGraph, port: int) -> bool:
    law = graph.ports[port].law
    return isinstance(law, ResistiveLaw) and law.ideal


def _is_zero(graph: PowerGraph, port: int) -> bool:
    """Whether a law cannot be inverted because its coefficient is zero."""
    law = graph.ports[port].law
    return isinstance(law, ResistiveLaw) and exact.vanishes_by_value(law.coefficient, graph)


def _overruled(graph: PowerGraph, dependence: Dependence) -> Finding:
    port = graph.ports[dependence.port]
    laws = _names(graph, _deciding_laws(graph, dependence))
    domain = graph.domain_of(dependence.port)
    side = graph.ports[dependence.port].storage.side
    fix = f"put another element between '{port.element}' and {listing(laws)}, or give a law that can be inverted"
    if zeros := _names(graph, [k for k in _deciding_laws(graph, dependence) if _is_zero(graph, k)]):
        fix = f"{listing(zeros)} has the value zero: leave it out of the network, or take the limit by reduction"
    return rules.ONE_SIDED_LAW.finding(
        f"'{port.element}' and {listing(laws)} both decide the {domain.power(side).word}, and {listing(laws)} cannot follow",
        where=port.element,
        fix=fix,
        place=port.place,
        members=[port.element, *laws],
    )


def _conflict_rule(law: object, forced: bool) -> Rule:
    if isinstance(law, SourceLaw):
        return rules.SOURCES_FIGHT
    if forced:
        return rules.FORCED_CONFLICT
    return rules.STORAGE_LAW_BACKWARDS if isinstance(law, StorageLaw) else rules.ONE_SIDED_LAW


def _without_zero_moduli(graph: PowerGraph) -> PowerGraph:
    """The graph with zeros in place of moduli that the given values make zero; the same graph where there are none."""
    residue = exact.given_residue(graph)
    couplings = []
    for coupling in graph.couplings:
        K = tuple(tuple(ZERO if residue(e) == 0 else e for e in row) for row in coupling.K)
        couplings.append(coupling if K == coupling.K else replace(coupling, K=K))
    changed = any(new is not old for new, old in zip(couplings, graph.couplings, strict=True))
    return replace(graph, couplings=tuple(couplings)) if changed else graph


def _special_values(graph: PowerGraph, generic: exact.ExactCausality, given: exact.ExactCausality) -> list[Finding]:
    """A finding when storages have another causality with the given values than with values in general position."""
    # Only storages are compared: which of several resistive elements decides is a matter of taste, and changes no equation.
    storages = list(graph.storages())
    changed = [k for k in storages if generic.decides[k] != given.decides[k]]
    if not changed:
        dependent = _followers(graph, generic.decides)
        # The same storages may be dependent and yet depend on others: a ratio of one can cut a path as well as open one.
        here, there = generic.partners_of(dependent), given.partners_of(dependent)
        changed = [k for k in dependent if here[k] != there[k]]
    if not changed:
        return []
    names = _names(graph, changed)
    couplings = [c.element for c in graph.couplings]
    special = rules.SPECIAL_VALUES.finding(
        f"with the given moduli {listing(names)} would get another causality than with values in general position",
        where=names[0],
        fix=f"check the moduli of {listing(couplings)}: a coincidence such as n_1 = n_2 is rarely meant",
        members=names[:50],
    )
    return [special]


MOST_COMBINATIONS = 64
"""So many combinations of modes are tried beforehand; a run meets only a few of them anyway."""


def mode_combinations(graph: PowerGraph) -> Iterator[dict[str, str]]:
    """All combinations of modes, that of the start first."""
    names = [graph.ports[k].element for k in graph.switching]
    # The mode of the start is the first of each law, so that the product begins with the mode in which a run begins.
    for words in product(*(law.modes for law in graph.switching.values())):
        yield dict(zip(names, words, strict=True))


def impossible_modes(graph: PowerGraph) -> list[Finding]:
    """A notice for each reason why modes exclude each other, where there are few enough combinations to try them all."""
    if not graph.switching or prod(len(law.modes) for law in graph.switching.values()) > MOST_COMBINATIONS:
        return []
    found: dict[str, Finding] = {}
    for mode in mode_combinations(graph):
        try:
            assign_causality(graph.in_mode(mode))
        except CausalityError as error:
            for finding in error.findings:
                notice = _notice(finding, mode)
                # One reason may forbid many combinations; it is told once.
                found.setdefault(notice.what, notice)
    return list(found.values())


def _notice(finding: Finding, mode: dict[str, str]) -> Finding:
    """The error as a notice that says in which modes the other elements are."""
    named = [name for name in finding.members if name in mode and name != finding.where]
    # Where no element of the contradiction has modes, all the others together decide.
    if not named and finding.where not in mode:
        named = list(mode)
    state = " and ".join(f"'{name}' is '{mode[name]}'" for name in named)
    what = f"{finding.what}, while {state}" if named else finding.what
    return rules.IMPOSSIBLE_MODE.finding(what, where=finding.where, place=finding.place, members=finding.members)


# Loops through couplings alone


MOST_COUPLINGS = 500
"""Loops inside the junction structure are looked for with symbols, which is not worth its time beyond this."""


def junction_loops(graph: PowerGraph, decides: Sequence[Side]) -> list[tuple[str, ...]]:
    """The couplings of each solvable loop inside the junction structure: those whose gain 1 - m_1 m_2 ... becomes a divisor.

    Every modulus gets a name of its own, so that couplings which share a parameter are told apart.
    """
    if len(graph.couplings) > MOST_COUPLINGS:
        return []
    # Elimination takes the first of several equal pivots, so which loop it meets depends on the order of lines unless
    # that is fixed.
    graph, decides = _in_order_of_names(graph, decides)
    marked = [_marked(c, k) for k, c in enumerate(graph.couplings)]
    field = NamedEntries({})
    interconnection = Interconnection(replace(graph, couplings=tuple(marked)))
    elimination = Elimination(interconnection.rows(field.entry), field)
    elimination.eliminate_all(interconnection.internal)
    # With causality assigned, every told variable has a pivot. A pivot that is a sum, 1 - m_1 m_2, is what is divided
    # by to go round a loop once more: the loop gain of Mason's rule.
    elimination.eliminate_all(column(k, other_side(side)) for k, side in enumerate(decides))
    loops = UnionFind(len(marked))
    closed = set()
    for c, row in elimination.pivots.items():
        pivot = with_definitions(elimination.rows[row][c].expression, field.where)
        # A pivot that is one product divides by a modulus, which every coupling passed backwards does; only a sum closes a loop.
        if any(isinstance(part, Add) for part in (pivot, *pivot.args)):
            members = [k for k, coupling in enumerate(marked) if coupling.free_symbols & pivot.free_symbols]
            closed.update(members)
            for k in members[1:]:
                loops.join(members[0], k)
    groups: dict[int, list[str]] = {}
    for k in sorted(closed):
        groups.setdefault(loops.find(k), []).append(marked[k].element)
    return [tuple(names) for names in groups.values()]


def _marked(coupling: Coupling, k: int) -> Coupling:
    K = tuple(
        tuple(e if e is ZERO else symbol(f"@{k}[{i},{j}]") for j, e in enumerate(row))
        for i, row in enumerate(coupling.K)
    )
    return replace(coupling, K=K)


def _in_order_of_names(graph: PowerGraph, decides: Sequence[Side]) -> tuple[PowerGraph, list[Side]]:
    """The graph with everything sorted by name, so that the order of lines cannot change what is found in it."""
    order = sorted(range(len(graph.nodes)), key=lambda k: (graph.nodes[k].name, graph.nodes[k].domain))
    at = {k: i for i, k in enumerate(order)}
    ports = sorted(range(len(graph.ports)), key=lambda k: graph.ports[k].element)
    moved = [replace(p, plus=at[p.plus], minus=at[p.minus]) for p in (graph.ports[k] for k in ports)]
    couplings = sorted(graph.couplings, key=lambda c: c.element)
    nodes = tuple(graph.nodes[k] for k in order)
    return replace(graph, nodes=nodes, ports=tuple(moved), couplings=tuple(c.with_nodes(at) for c in couplings)), [
        decides[k] for k in ports
    ]


def _rigid_loop(graph: PowerGraph, generic: exact.ExactCausality, given: exact.ExactCausality) -> Finding | None:
    """The couplings that leave open what circulates between them; None where there are none."""
    # What circulates with the given values may be determined in general position: two gears of equal ratio side by side.
    for causality, residue in ((generic, exact.generic_residue), (given, exact.given_residue(graph))):
        if causality.circulates:
            culprits = _needed(graph, lambda g, r=residue: exact.exact_causality(g, exact.demands(g), r).circulates)  # type: ignore[misc]
            return _open_loop(culprits)
    return None


def _locked_loops(graph: PowerGraph, generic: exact.ExactCausality) -> list[Finding]:
    """A warning about storages that unequal ratios hold at zero: all equations have a solution, but hardly a meant one."""
    locked = _locked_by_ratios(graph, generic)
    if not locked:
        return []
    culprits = _needed(
        graph, lambda g: bool(_locked_by_ratios(g, exact.exact_causality(g, exact.demands(g), exact.generic_residue)))
    )
    return [_locked_loop(graph, locked, culprits)]


def _locked_by_ratios(graph: PowerGraph, causality: exact.ExactCausality) -> list[int]:
    """Storages that stand still, but would not if all ratios agreed; others are idle for want of a way back."""
    # An inertia behind an open end stands still too; only one that would move if all ratios agreed is locked by them.
    locked = _always_zero(graph, causality)
    if not locked:
        return []
    agreeing = [
        replace(c, K=tuple(tuple(e if e is ZERO else ONE for e in row) for row in c.K)) for c in graph.couplings
    ]
    with_one_ratio = replace(graph, couplings=tuple(agreeing))
    idle = _always_zero(
        with_one_ratio, exact.exact_causality(with_one_ratio, exact.demands(graph), exact.generic_residue)
    )
    return [k for k in locked if k not in idle]


def _always_zero(graph: PowerGraph, causality: exact.ExactCausality) -> list[int]:
    """Storages whose output is zero whatever everything else does."""
    dependent = _followers(graph, causality.decides)
    return [k for k, on in causality.partners_of(dependent).items() if not on]


def _needed(graph: PowerGraph, goes_wrong: Callable[[PowerGraph], bool]) -> list[Coupling]:
    """The couplings without which nothing would go wrong: others are taken out one by one."""
    kept = list(graph.couplings)
    for coupling in graph.couplings[:MOST_COUPLINGS]:
        # What is left when each one has been tried is a smallest set that goes wrong: every coupling named in the
        # message takes part.
        fewer = [c for c in kept if c is not coupling]
        if fewer and goes_wrong(replace(graph, couplings=tuple(fewer))):
            kept = fewer
    return kept


def _open_loop(culprits: Sequence[Coupling]) -> Finding:
    names = [c.element for c in culprits]
    return rules.UNIT_LOOP.finding(
        f"what circulates between {listing(names)} is not determined: their ratios agree",
        where=names[0],
        fix=f"remove one of {listing(names)}, or put an element into the loop that shares the load",
        place=culprits[0].place,
        members=names,
    )


def _locked_loop(graph: PowerGraph, locked: Sequence[int], culprits: Sequence[Coupling]) -> Finding:
    names = [c.element for c in culprits]
    stuck = [graph.ports[k].element for k in locked]
    return rules.LOCKED_STORAGE.finding(
        f"{listing(stuck)} {'is' if len(stuck) == 1 else 'are'} locked: the ratios of {listing(names)} do not agree",
        where=stuck[0],
        fix=f"remove one of {listing(names)}, or put an elastic element into the loop",
        place=culprits[0].place,
        members=[*stuck, *names],
    )
