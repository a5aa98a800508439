"""Invert a path of a POG: reverse its lines, invert its blocks, flip the signs of its variables in each summation; and what
then stands behind the scheme.

A loop of static blocks keeps what goes in and comes out. The path from an input to its own output exchanges the two: what the
source decided is now what it is told. A storage on the path comes into derivative causality, which is refused unless asked for.
A row of a field, which other inputs add to, is solved for the input on the path.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from tellegen.causality import CausalGraph
from tellegen.causality.causal_graph import Dependence
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import GraphError, TellegenError
from tellegen.expressions import ONE, ZERO, is_zero
from tellegen.graph import Port, ResistiveLaw, SourceLaw
from tellegen.schemes import rules
from tellegen.schemes.algebra.signal_paths import Loop, SignalPath, read_path
from tellegen.schemes.bond_graph_construction import bond_graph
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort
from tellegen.schemes.gains import UndeterminedError, dependent_gains, vector_block
from tellegen.schemes.pog_scheme import Block, Column, Ladder, Output, PogScheme, Rewriting, Section, Summation
from tellegen.schemes.strokes import with_strokes


def with_causes(scheme: PogScheme, turned: Collection[str]) -> PogScheme:
    """The scheme with the decisions of some elements turned; its blocks, summations and sections are turned already."""
    opposite = _told_the_other_way(scheme)
    elements = {
        name: _turned(item, opposite=name in opposite) if name in turned else item
        for name, item in scheme.elements.items()
    }
    states = tuple(name for name, item in elements.items() if item.causality == "integral")
    result = replace(scheme, elements=elements, states=states)
    causal = _causal(scheme.causal, scheme.elements, elements)
    result = replace(result, causal=causal)
    result = replace(result, causal=replace(causal, dependent=_dependences(result)))
    if result.bond_graph is None:
        return result
    if not result.ladders:  # in a mesh the sections between junctions do not tell which strokes change
        return replace(result, bond_graph=_raised(result.causal))
    return replace(result, bond_graph=_restroked(result.bond_graph, elements, result.causal))


def _restroked(graph: BondGraphScheme, elements: Mapping[str, OnePort], causal: CausalGraph) -> BondGraphScheme | None:
    """The same items and bonds with the strokes that follow from what elements decide now: in a tree these are unique."""
    found = graph.rebonded(elements, graph.bonds)
    decides = {name: item.decides for name, item in elements.items()}
    matrices = {name: item.matrix for name, item in graph.two_ports.items() if item.matrix}
    stroked = with_strokes(found.graph, decides, matrices)
    return None if stroked is None else replace(found, graph=stroked, causal=causal)


def _raised(causal: CausalGraph) -> BondGraphScheme | None:
    try:
        return bond_graph(causal)
    except GraphError:
        return None


def _told_the_other_way(scheme: PogScheme) -> set[str]:
    """The sources to which the scheme brings a variable that counts against the direction of their ports."""

    def way(variable: str) -> int:
        return -1 if variable in scheme.turned else 1

    pairs = zip(scheme.sources(), scheme.inputs, scheme.outputs, strict=True)
    return {source.name for source, name, output in pairs if output.sign * way(name) * way(output.signal) > 0}


def _turned(item: OnePort, *, opposite: bool) -> OnePort:
    """The element with the other variable decided; a source takes over the direction of the variable that it was told."""
    decides = other_side(item.decides)
    if not isinstance(item.port.law, SourceLaw):
        return replace(item, decides=decides)
    port = replace(item.port, law=SourceLaw(decides, item.port.variable(decides)))
    if opposite:
        port = replace(port, plus=port.minus, minus=port.plus)
    return replace(item, port=port, decides=decides).lettered()


def _causal(causal: CausalGraph, before: Mapping[str, OnePort], after: Mapping[str, OnePort]) -> CausalGraph:
    now: dict[int, OnePort] = {id(item.port): after[name] for name, item in before.items()}
    ports: list[Port] = []
    decides: list[Side] = []
    for k, port in enumerate(causal.graph.ports):
        item = now.get(id(port))
        ports.append(port if item is None else item.port)
        decides.append(causal.decides[k] if item is None else item.decides)
    return replace(causal, graph=replace(causal.graph, ports=tuple(ports)), decides=tuple(decides), paths=())


def _dependences(scheme: PogScheme) -> tuple[Dependence, ...]:
    """The storages in derivative causality, each with the ports that decide its output."""
    at = {id(port): k for k, port in enumerate(scheme.causal.graph.ports)}

    def place(name: str) -> int:
        return at[id(scheme.elements[name].port)]

    blocks, T, T_u = dependent_gains(scheme)
    sources = [item.name for item in scheme.sources()]
    found = []
    for block, row, row_u in zip(blocks, T, T_u, strict=True):
        on = [place(name) for name, e in zip(scheme.states, row, strict=True) if e is not ZERO]
        on += [place(name) for name, e in zip(sources, row_u, strict=True) if e is not ZERO]
        found.append(Dependence(place(block.name), tuple(on)))
    return tuple(sorted(found, key=lambda dependence: dependence.port))


def invert_path(scheme: PogScheme, path: Loop | Sequence[str], *, derivative: bool = False) -> Rewriting:
    """The scheme with a path inverted by the three rules.

    A path is a `Loop`, or its variables one after the other, the first one again at the end of a loop. An open path leads from an
    input to its own output, which change places. With `derivative`, storages may come into derivative causality.

    Raises: GraphError (G206, G209) where there is no such path, G210 where it may not be inverted.
    """
    found = read_path(scheme, path)
    problem = refusal(scheme, found, derivative=derivative)
    if problem is not None:
        raise problem
    try:
        return Rewriting(_inverted(scheme, found), _account(scheme, found))
    except UndeterminedError:
        what = f"the path {found} cannot be inverted: some variables would follow from nothing"
        why = "elsewhere in the mesh the same variables go on in the old direction"
        raise rules.NO_INVERSION.error(what, where=found.signals[0], why=why) from None


def refusal(scheme: PogScheme, path: SignalPath, *, derivative: bool = False) -> TellegenError | None:
    """Why a path may not be inverted; None where it may."""
    if not scheme.ladders and not _cuts_both_ways(scheme, path):
        what = f"the path {path} leads through more than two elements of a mesh, or not the same way back"
        why = "it cuts some sections in one direction only, whose two variables would then go the same way"
        fix = (
            "invert a loop of two elements between which power passes, or ask for the ladder: pog(..., derivative=True)"
        )
        return rules.NO_INVERSION.error(what, where=path.signals[0], why=why, fix=fix)
    hidden = [block.name for block in scheme.blocks.values() if block.kind == "transfer"]
    if hidden:
        what, why = f"'{hidden[0]}' is a transfer function", "it hides storages, whose causes would change unseen"
        fix = "invert the path first, and reduce loops afterwards"
        return rules.NO_INVERSION.error(what, where=hidden[0], why=why, fix=fix)
    if not path.closed and not _joins_port(scheme, path):
        what = f"the path from '{path.signals[0]}' to '{path.signals[-1]}' leads from no input to its own output"
        why = f"'{path.signals[-1]}' would be decided by nothing, and '{path.signals[0]}' twice"
        fix = f"invert a loop, or one of the paths {_ports(scheme)}"
        return rules.NO_INVERSION.error(what, where=path.signals[0], why=why, fix=fix)
    return next((p for block in path.blocks if (p := block_refusal(block, derivative=derivative)) is not None), None)


def _cuts_both_ways(scheme: PogScheme, path: SignalPath) -> bool:
    """Whether a path of a scheme without ladders leads from an element to another and the same way back."""
    elements = [block for block in path.blocks if block.kind != "connection"]
    if len(elements) != (2 if path.closed else 1):
        return False
    passed = Counter(block.element for block in path.blocks if block.kind == "connection")
    # Port by port each gain of the interconnection is a block of its own.
    return scheme.bond_graph is None or all(count == 2 for count in passed.values())


def _joins_port(scheme: PogScheme, path: SignalPath) -> bool:
    ends = [(name, output.signal) for name, output in zip(scheme.inputs, scheme.outputs, strict=True)]
    return (path.signals[0], path.signals[-1]) in ends


def _ports(scheme: PogScheme) -> str:
    ends = zip(scheme.inputs, scheme.outputs, strict=True)
    return ", ".join(f"{name} -> {output.signal}" for name, output in ends) or "(it has no inputs)"


def block_refusal(block: Block, *, derivative: bool = False) -> TellegenError | None:
    """Why a block may not be asked the other way; None where it may."""
    name = block.name
    if block.kind == "storage" and not derivative:
        what = f"'{name}' is a storage: inverted, it would differentiate '{block.output}'"
        fix = f"choose a path without '{name}', or ask for derivative causality (derivative=True)"
        return rules.NO_INVERSION.error(what, where=name, fix=fix)
    if isinstance(block.law, ResistiveLaw) and block.gain is None and not block.law.invertible:
        why = "several values of what it is told may give the one that it decides, or none"
        return rules.NO_INVERSION.error(f"the law of '{name}' has no inverse", where=name, why=why)
    if block.gain is not None and is_zero(block.gain):
        why = "nothing follows from zero"
        return rules.NO_INVERSION.error(f"the gain of '{name}' is zero", where=name, why=why)
    return None


def _account(scheme: PogScheme, path: SignalPath) -> str:
    names = list(dict.fromkeys(block.element for block in path.blocks))
    through = f" through {', '.join(names)}" if names else ""
    dependent = [block.name for block in path.blocks if block.kind == "storage"]
    warning = f"; {', '.join(dependent)} in derivative causality" if dependent else ""
    if path.closed:
        return f"inverted the loop{through}{warning}"
    return f"inverted the path {path.signals[0]} to {path.signals[-1]}{through}: {path.signals[-1]} is the input now{warning}"


def _inverted(scheme: PogScheme, path: SignalPath) -> PogScheme:
    blocks, summations = dict(scheme.blocks), dict(scheme.summations)
    renamed: dict[str, str] = {}
    for step in path.steps:
        if isinstance(step, Summation):
            del summations[step.output]
    for start, step in zip(path.signals, path.steps, strict=False):
        if isinstance(step, Block):
            blocks[step.name] = inverted_block(step)
        else:
            summations[start] = solved_for(step, start)
            renamed[step.output] = start
    on_path = set(path.signals)
    inputs, outputs = list(scheme.inputs), list(scheme.outputs)
    turned = {block.name for block in path.blocks if block.kind != "connection"}
    if not path.closed:
        k = next(k for k, o in enumerate(outputs) if (inputs[k], o.signal) == (path.signals[0], path.signals[-1]))
        inputs[k], outputs[k] = outputs[k].signal, Output(inputs[k], outputs[k].sign)
        turned.add([item.name for item in scheme.sources()][k])
    result = replace(
        scheme,
        blocks=blocks,
        summations=summations,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        sections={name: _section(section, on_path) for name, section in scheme.sections.items()},
        ladders=tuple(_ladder(ladder, renamed) for ladder in scheme.ladders),
    )
    result = with_causes(result, turned)
    return result if result.vector is None else replace(result, vector=vector_block(result), parts=())


def inverted_block(block: Block) -> Block:
    """A block asked the other way: its gain inverted, an integrator turned into a derivative and back."""
    kind = block.kind
    if kind in ("storage", "derivative"):
        kind = "derivative" if kind == "storage" else "storage"
    return replace(
        block,
        kind=kind,
        input=block.output,
        output=block.input,
        gain=None if block.gain is None else ONE / block.gain,
        terms=tuple((name, -gain / block.gain) for name, gain in block.terms if block.gain is not None),
        integrator=kind == "storage",
        input_unit=block.output_unit,
        output_unit=block.input_unit,
    )


def solved_for(summation: Summation, name: str) -> Summation:
    """The summation with one of its inputs as output."""
    sign = next(s for n, s in summation.inputs if n == name)
    # The old output stands where the input stood, so that the picture keeps its places.
    inputs = tuple((summation.output, sign) if n == name else (n, -s * sign) for n, s in summation.inputs)
    return Summation(name, inputs)


def _section(section: Section, on_path: set[str]) -> Section:
    if not {section.across, section.through} <= on_path:
        return section
    return replace(section, rightward=other_side(section.rightward))


def _ladder(ladder: Ladder, renamed: Mapping[str, str]) -> Ladder:
    return replace(ladder, columns=tuple(_column(column, renamed) for column in ladder.columns))


def _column(column: Column, renamed: Mapping[str, str]) -> Column:
    sums = tuple(renamed.get(name, name) for name in column.summations)
    branch = None if column.branch is None else _ladder(column.branch, renamed)
    return replace(column, summations=sums, branch=branch)
