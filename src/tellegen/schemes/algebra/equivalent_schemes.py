"""The equivalent schemes of one model: variables counted the other way, a loop or an input path inverted, upside-down.

To invert a path: reverse its lines, invert its blocks, flip the signs of its variables in each summation. A loop of static blocks
keeps what goes in and comes out. The path from an input to its own output exchanges the two: what the source decided is now what it
is told. A storage on the path comes into derivative causality, which is refused unless asked for. A row of a field, which other
inputs add to, is solved for the input on the path.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.causality import CausalGraph
from tellegen.causality.causal_graph import Dependence
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import GraphError, TellegenError
from tellegen.core.names import did_you_mean
from tellegen.expressions import ONE, ZERO, Expression, is_zero
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT, PortLaw, argument
from tellegen.schemes import pog_scheme, rules
from tellegen.schemes.algebra.signal_paths import (
    Loop,
    SignalPath,
    check_variables,
    elementary_loops,
    port_paths,
    read_path,
)
from tellegen.schemes.bond_graph_construction import bond_graph
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort
from tellegen.schemes.gains import UndeterminedError, dependent_gains, vector_block
from tellegen.schemes.names import without_duplicates
from tellegen.schemes.strokes import with_strokes


def with_causes(scheme: pog_scheme.PogScheme, turned: Collection[str]) -> pog_scheme.PogScheme:
    """The scheme with the decisions of some elements turned; its blocks, summations and sections are turned already."""
    # Asked before anything changes: the scheme still has its old inputs and outputs.
    opposite = _opposite_inputs(scheme)
    elements = {
        name: _turned(item, opposite=name in opposite) if name in turned else item
        for name, item in scheme.elements.items()
    }
    states = tuple(name for name, item in elements.items() if item.causality == "integral")
    result = replace(scheme, elements=elements, states=states)
    # The graph first, its dependent storages afterwards: these are read off the gains of the scheme with its new causes.
    causal = _causal(scheme.causal, scheme.elements, elements)
    result = replace(result, causal=causal)
    result = replace(result, causal=replace(causal, dependent=_dependences(result)))
    if result.bond_graph is None:
        return result
    # A bond graph is made anew there, which costs more than new strokes.
    if not result.ladders:  # in a mesh the sections between junctions do not tell which strokes change
        return replace(result, bond_graph=_raised(result.causal))
    return replace(result, bond_graph=_restroked(result.bond_graph, elements, result.causal))


def _restroked(graph: BondGraphScheme, elements: Mapping[str, OnePort], causal: CausalGraph) -> BondGraphScheme | None:
    """The same items and bonds with the strokes that follow from what elements decide now: in a tree these are unique."""
    found = graph.rebonded(elements, graph.bonds)
    decides = {name: item.decides for name, item in elements.items()}
    matrices = {name: item.matrix for name, item in graph.two_ports.items() if item.matrix}
    # In a tree the strokes are unique, so that nothing else than the inverted path can have changed.
    stroked = with_strokes(found.graph, decides, matrices)
    return None if stroked is None else replace(found, graph=stroked, causal=causal)


def _raised(causal: CausalGraph) -> BondGraphScheme | None:
    try:
        return bond_graph(causal)
    except GraphError:
        return None


def _opposite_inputs(scheme: pog_scheme.PogScheme) -> set[str]:
    """The sources to which the scheme brings a variable that counts against the direction of their ports."""

    def way(variable: str) -> int:
        return -1 if variable in scheme.turned else 1

    pairs = zip(scheme.sources(), scheme.inputs, scheme.outputs, strict=True)
    return {source.name for source, name, output in pairs if output.sign * way(name) * way(output.signal) > 0}


def _turned(item: OnePort, *, opposite: bool) -> OnePort:
    """The element with the other variable decided; a source takes over the direction of the variable that it was told."""
    decides = other_side(item.decides)
    # Storages and resistors keep their law, which works both ways; a source is another source now.
    if not isinstance(item.port.law, SourceLaw):
        return replace(item, decides=decides)
    port = replace(item.port, law=SourceLaw(decides, item.port.variable(decides)))
    # The new source imposes what came in, counted as the scheme brought it: against the port its ends change places.
    if opposite:
        port = replace(port, plus=port.minus, minus=port.plus)
    return replace(item, port=port, decides=decides).lettered()


def _causal(causal: CausalGraph, before: Mapping[str, OnePort], after: Mapping[str, OnePort]) -> CausalGraph:
    # By identity: names in the scheme are plain, those in the graph may have paths and indices.
    now: dict[int, OnePort] = {id(item.port): after[name] for name, item in before.items()}
    ports: list[Port] = []
    decides: list[Side] = []
    for k, port in enumerate(causal.graph.ports):
        item = now.get(id(port))
        ports.append(port if item is None else item.port)
        decides.append(causal.decides[k] if item is None else item.decides)
    return replace(causal, graph=replace(causal.graph, ports=tuple(ports)), decides=tuple(decides), paths=())


def _dependences(scheme: pog_scheme.PogScheme) -> tuple[Dependence, ...]:
    """The storages in derivative causality, each with the ports that decide its output."""
    at = {id(port): k for k, port in enumerate(scheme.causal.graph.ports)}

    def place(name: str) -> int:
        return at[id(scheme.elements[name].port)]

    blocks, T, T_u = dependent_gains(scheme)
    sources = [item.name for item in scheme.sources()]
    found = []
    for block, row, row_u in zip(blocks, T, T_u, strict=True):
        on = [place(name) for name, e in zip(scheme.states, row, strict=True) if e is not ZERO]
        # A storage behind a source depends on it: its rate is an input of the equations then.
        on += [place(name) for name, e in zip(sources, row_u, strict=True) if e is not ZERO]
        found.append(Dependence(place(block.name), tuple(on)))
    return tuple(sorted(found, key=lambda dependence: dependence.port))


def invert_path(
    scheme: pog_scheme.PogScheme, path: Loop | Sequence[str], *, derivative: bool = False
) -> pog_scheme.Rewriting:
    """The scheme with a path inverted by the three rules.

    A path is a `Loop`, or its variables one after the other, the first one again at the end of a loop. An open path leads from an
    input to its own output, which change places. With `derivative`, storages may come into derivative causality.

    Raises: GraphError (G206, G209) where there is no such path, G210 where it may not be inverted.
    """
    found = read_path(scheme, path)
    # All refusals before the first change: a scheme is never half inverted.
    problem = refusal(scheme, found, derivative=derivative)
    if problem is not None:
        raise problem
    try:
        return pog_scheme.Rewriting(_inverted(scheme, found), _inversion_account(scheme, found))
    # In a mesh the variables of a cut section may be used elsewhere; only the gains tell.
    except UndeterminedError:
        what = f"the path {found} cannot be inverted: some variables would follow from nothing"
        why = "elsewhere in the mesh the same variables go on in the old direction"
        raise rules.NO_INVERSION.error(what, where=found.signals[0], why=why) from None


def refusal(scheme: pog_scheme.PogScheme, path: SignalPath, *, derivative: bool = False) -> TellegenError | None:
    """Why a path may not be inverted; None where it may."""
    # Both variables of a section have to turn, or the section would have two signals in one direction and no product.
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


def _cuts_both_ways(scheme: pog_scheme.PogScheme, path: SignalPath) -> bool:
    """Whether a path of a scheme without ladders leads from an element to another and the same way back."""
    elements = [block for block in path.blocks if block.kind != "connection"]
    # Port by port a loop of two elements passes one connection and its transpose; longer ones go round the mesh.
    if len(elements) != (2 if path.closed else 1):
        return False
    passed = Counter(block.element for block in path.blocks if block.kind == "connection")
    # Port by port each gain of the interconnection is a block of its own.
    return scheme.bond_graph is None or all(count == 2 for count in passed.values())


def _joins_port(scheme: pog_scheme.PogScheme, path: SignalPath) -> bool:
    ends = [(name, output.signal) for name, output in zip(scheme.inputs, scheme.outputs, strict=True)]
    return (path.signals[0], path.signals[-1]) in ends


def _ports(scheme: pog_scheme.PogScheme) -> str:
    ends = zip(scheme.inputs, scheme.outputs, strict=True)
    return ", ".join(f"{name} -> {output.signal}" for name, output in ends) or "(it has no inputs)"


def block_refusal(block: pog_scheme.SchemeBlock, *, derivative: bool = False) -> TellegenError | None:
    """Why a block may not be asked the other way; None where it may."""
    name = block.name
    # Asked backwards an integrator differentiates: not physically realizable, and no simulation wants it.
    if block.kind == "storage" and not derivative:
        what = f"'{name}' is a storage: inverted, it would differentiate '{block.output}'"
        fix = f"choose a path without '{name}', or ask for derivative causality (derivative=True)"
        return rules.NO_INVERSION.error(what, where=name, fix=fix)
    # A law with a dead zone or a maximum has no value, or several, in the other direction.
    if isinstance(block.law, ResistiveLaw) and block.gain is None and not block.law.invertible:
        why = "several values of what it is told may give the one that it decides, or none"
        return rules.NO_INVERSION.error(f"the law of '{name}' has no inverse", where=name, why=why)
    if block.gain is not None and is_zero(block.gain):
        why = "nothing follows from zero"
        return rules.NO_INVERSION.error(f"the gain of '{name}' is zero", where=name, why=why)
    return None


def _inversion_account(scheme: pog_scheme.PogScheme, path: SignalPath) -> str:
    names = list(dict.fromkeys(block.element for block in path.blocks))
    through = f" through {', '.join(names)}" if names else ""
    dependent = [block.name for block in path.blocks if block.kind == "storage"]
    warning = f"; {', '.join(dependent)} in derivative causality" if dependent else ""
    if path.closed:
        return f"inverted the loop{through}{warning}"
    return f"inverted the path {path.signals[0]} to {path.signals[-1]}{through}: {path.signals[-1]} is the input now{warning}"


def _inverted(scheme: pog_scheme.PogScheme, path: SignalPath) -> pog_scheme.PogScheme:
    blocks, summations = dict(scheme.blocks), dict(scheme.summations)
    renamed: dict[str, str] = {}
    # The summations on the path go first: each of them comes back with another output, whose name an old one may still have.
    for step in path.steps:
        if isinstance(step, pog_scheme.Summation):
            del summations[step.output]
    for start, step in zip(path.signals, path.steps, strict=False):
        if isinstance(step, pog_scheme.SchemeBlock):
            blocks[step.name] = inverted_block(step)
        else:
            summations[start] = solved_for(step, start)
            renamed[step.output] = start
    on_path = set(path.signals)
    inputs, outputs = list(scheme.inputs), list(scheme.outputs)
    turned = {block.name for block in path.blocks if block.kind != "connection"}
    if not path.closed:
        k = next(k for k, o in enumerate(outputs) if (inputs[k], o.signal) == (path.signals[0], path.signals[-1]))
        # The sign stays: the power supplied is the same product of the same two variables.
        inputs[k], outputs[k] = outputs[k].signal, pog_scheme.Output(inputs[k], outputs[k].sign)
        turned.add([item.name for item in scheme.sources()][k])

    def with_names(column: pog_scheme.Column) -> pog_scheme.Column:
        return replace(column, summations=tuple(renamed.get(name, name) for name in column.summations))

    result = replace(
        scheme,
        blocks=blocks,
        summations=summations,
        inputs=tuple(inputs),
        # The sign of an output says how power counts, so it turns with either of the two variables.
        outputs=tuple(outputs),
        sections={name: _inverted_section(section, on_path) for name, section in scheme.sections.items()},
        ladders=tuple(ladder.changed(with_names) for ladder in scheme.ladders),
    )
    # Last, since states and strokes follow from blocks and summations as they are now.
    result = with_causes(result, turned)
    return result if result.vector is None else replace(result, vector=vector_block(result), parts=())


def inverted_block(block: pog_scheme.SchemeBlock) -> pog_scheme.SchemeBlock:
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
        # b = g a + t c solved for a: (b - t c)/g.
        terms=tuple((name, -gain / block.gain) for name, gain in block.terms if block.gain is not None),
        input_unit=block.output_unit,
        output_unit=block.input_unit,
    )


def solved_for(summation: pog_scheme.Summation, name: str) -> pog_scheme.Summation:
    """The summation with one of its inputs as output."""
    sign = next(s for n, s in summation.inputs if n == name)
    # The old output stands where the input stood, so that the picture keeps its places.
    # s a = b - sum of the others: all other signs turn where s is positive.
    inputs = tuple((summation.output, sign) if n == name else (n, -s * sign) for n, s in summation.inputs)
    return pog_scheme.Summation(name, inputs)


def _inverted_section(section: pog_scheme.PowerSection, on_path: set[str]) -> pog_scheme.PowerSection:
    if not {section.across, section.through} <= on_path:
        return section
    return replace(section, rightward=other_side(section.rightward))


def change_sign(scheme: pog_scheme.PogScheme, variables: str | Iterable[str]) -> pog_scheme.Rewriting:
    """The scheme with a variable, or some, counted the other way.

    The own variable of an element follows the shared one, so that storages and resistive elements keep their sign; a connection
    with one variable changed gets a minus sign in its gain. A section flips when one of its two variables changes.

    Raises: GraphError (G206) for a name that is no variable of the scheme, G201 for part of a field.
    """
    wanted = without_duplicates(variables)
    # The own variables of elements follow, so that only connections get a minus sign: R stays positive.
    check_variables(scheme, wanted)
    changed = _with_elements(scheme, set(wanted))

    def sign(name: str) -> int:
        return -1 if name in changed else 1

    result = replace(
        scheme,
        blocks={name: _block(block, sign(block.input), sign(block.output)) for name, block in scheme.blocks.items()},
        summations={
            name: pog_scheme.Summation(name, tuple((i, s * sign(i) * sign(name)) for i, s in summation.inputs))
            for name, summation in scheme.summations.items()
        },
        sections={name: _section(s, sign(s.across) * sign(s.through)) for name, s in scheme.sections.items()},
        outputs=tuple(
            pog_scheme.Output(o.signal, o.sign * sign(o.signal) * sign(i))
            for o, i in zip(scheme.outputs, scheme.inputs, strict=True)
        ),
        turned=scheme.turned ^ changed,
    )
    if scheme.vector is not None:
        result = replace(result, vector=vector_block(result), parts=())
    return pog_scheme.Rewriting(result, _account(scheme, result, wanted))


def _account(before: pog_scheme.PogScheme, after: pog_scheme.PogScheme, wanted: list[str]) -> str:
    """What was turned, the sections whose power counts the other way now, and the connections that got a minus sign."""
    flipped = [n for n, s in after.sections.items() if s.direction != before.sections[n].direction]
    minus = [n for n, b in after.blocks.items() if b.sign != before.blocks[n].sign]
    more = [f"power counts the other way in section{'s' * (len(flipped) > 1)} {', '.join(flipped)}"] if flipped else []
    more += [f"the sign of {', '.join(minus)} changes"] if minus else []
    return "; ".join([f"counted {', '.join(wanted) or 'nothing'} the other way", *more])


def _with_elements(scheme: pog_scheme.PogScheme, changed: set[str]) -> set[str]:
    shared = scheme.shared
    found = set(changed)
    for block in scheme.blocks.values():
        if block.kind == "connection":
            continue
        ends = {block.input, block.output}
        # An element that hangs on the changed variable counts its own variable the other way too: its law does not change.
        if ends & shared & changed:
            found |= ends
        # The entries between this port and the others of its field would change their signs one by one.
        if block.gain is None and scheme.elements[block.name].field and ends & found:
            what = f"'{block.name}' is part of a field, whose matrix would change its signs"
            raise rules.NO_SCALAR_BOND.error(what, where=block.name, fix="change the signs in its matrix")
    return found


def _section(section: pog_scheme.PowerSection, sign: int) -> pog_scheme.PowerSection:
    if sign > 0:
        return section
    return replace(section, direction="left" if section.direction == "right" else "right")


def _block(block: pog_scheme.SchemeBlock, told: int, given: int) -> pog_scheme.SchemeBlock:
    if told == given == 1:
        return block
    gain = None if block.gain is None else block.gain if told == given else -block.gain
    law = block.law if block.gain is not None or block.law is None else _law(block.law, told, given)
    return replace(block, gain=gain, law=law, sign=block.sign * told * given)


def _law(law: PortLaw, told: int, given: int) -> PortLaw:
    """A nonlinear law of the variables as they count now. What a storage is told counts like its energy variable."""
    if isinstance(law, SourceLaw):
        return law
    if isinstance(law, ResistiveLaw):
        return replace(law, expression=_counted(law.expression, given, told))
    return _storage_law(law, told, given)


def _storage_law(law: StorageLaw, energy: int, output: int) -> StorageLaw:
    of_energy = law.keeps_energy_variable
    return replace(
        law,
        # q(v) with both counted the other way is -q(-v); an energy keeps its sign, as it is a square.
        content=_counted(law.content, energy, output),
        slope=_counted(law.slope, energy * output, output),
        output=_counted(law.output, output, energy),
        energy=_counted(law.energy, 1, energy if of_energy else output),
    )


def _counted(expression: Expression | None, value: int, at: int) -> Expression | None:
    if expression is None:
        return None
    found = expression.substitute({ARGUMENT: -argument()}) if at < 0 else expression
    return -found if value < 0 else found


MOST_LOOPS = 200


@final
@dataclass(frozen=True, slots=True)
class Orientation:
    """One way to draw a scheme. Where its path may not be inverted there is no scheme, and `why_not` tells the reason."""

    path: str
    signals: tuple[str, ...]
    scheme: pog_scheme.PogScheme | None
    why_not: str = ""

    @property
    def upside_down(self) -> pog_scheme.PogScheme | None:
        """The same with the upper and lower line exchanged."""
        return None if self.scheme is None else flip(self.scheme).scheme

    def __str__(self) -> str:
        return f"{self.path}: {self.why_not or 'may be drawn'}"


def orientations(scheme: pog_scheme.PogScheme, *, most: int = MOST_LOOPS) -> tuple[Orientation, ...]:
    """The scheme itself, then what the inversion of each loop and of each path from an input to its own output gives.

    Two connected elements have four: as they are, with the inner loop inverted, with the path of the left section, with that of the
    right one. A storage allows none that would put it into derivative causality.

    Raises: GraphError (G208) when there are more than `most` loops.
    """
    first = Orientation("as it is", (), scheme)
    return (first, *(_orientation(scheme, name, path) for name, path in _candidates(scheme, most)))


def _candidates(scheme: pog_scheme.PogScheme, most: int) -> Iterator[tuple[str, SignalPath]]:
    # Inner loops first, then paths to the outside: the order in which a person would try.
    for loop in elementary_loops(scheme, most=most):
        path = read_path(scheme, loop)
        names = dict.fromkeys(block.element for block in path.blocks)
        yield f"loop through {', '.join(names)}", path
    for name, path in port_paths(scheme):
        yield f"path from {name} to {path.signals[-1]}", path


def _orientation(scheme: pog_scheme.PogScheme, name: str, path: SignalPath) -> Orientation:
    try:
        return Orientation(name, path.signals, invert_path(scheme, path.signals).scheme)
    except GraphError as problem:
        return Orientation(name, path.signals, None, f"{problem.what}; {problem.finding.why}")


def flip(scheme: pog_scheme.PogScheme) -> pog_scheme.Rewriting:
    """The scheme upside-down: what was on the upper line is on the lower one."""
    # Only which line is drawn above changes; no signal and no sign does.
    sections = {name: replace(s, upper=other_side(s.upper)) for name, s in scheme.sections.items()}
    return pog_scheme.Rewriting(replace(scheme, sections=sections), "turned upside-down")


def switch_signs(scheme: pog_scheme.PogScheme, summation: str) -> pog_scheme.Rewriting:
    """The scheme with all signs of a summation switched, that of its output too, which counts the other way from there on.

    Raises: GraphError (G206) where no summation has this output.
    """
    if summation not in scheme.summations:
        known = list(scheme.summations)
        fix = did_you_mean(summation, known) or f"the summations give {', '.join(known[:20]) or 'nothing'}"
        raise rules.NO_SUCH_SIGNAL.error(f"no summation gives '{summation}'", where=summation, fix=fix)
    account = f"switched all signs of the summation of {summation}"
    return pog_scheme.Rewriting(change_sign(scheme, [summation]).scheme, account)
