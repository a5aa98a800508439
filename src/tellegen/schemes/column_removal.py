"""Take a block whose output is zero out of a ladder: its column becomes a wire, or holds what its junction shares at zero."""

from dataclasses import replace

from tellegen.core.domains import other_side
from tellegen.expressions import ZERO
from tellegen.graph import ResistiveLaw
from tellegen.schemes.columns import ladder_with, with_ladder
from tellegen.schemes.finishing import one_port_kind
from tellegen.schemes.pog_scheme import Column, PogScheme, Section, Summation


def without_block(scheme: PogScheme, element: str) -> PogScheme:
    """The scheme without a derivative block whose output is zero."""
    own = scheme.blocks[element].output
    blocks = {name: block for name, block in scheme.blocks.items() if name != element}
    if own in scheme.shared:
        zero = replace(scheme, blocks=blocks, summations={**scheme.summations, own: Summation(own, ())})
        return _behind(_held(zero, element, own), element)
    result = _zero(replace(scheme, blocks=blocks), own)
    result = replace(result, summations={n: s for n, s in result.summations.items() if n != own})
    return _behind(_contracted(result, element), element)


def _held(scheme: PogScheme, element: str, own: str) -> PogScheme:
    """The scheme with a sum of nothing in the column of an element that holds what its junction shares at zero."""
    found = ladder_with(scheme, lambda column: column.name == element)
    assert found is not None, "each element has one column"
    ladder, (place,) = found
    columns = list(ladder.columns)
    columns[place] = replace(columns[place], name="", blocks=(), summations=(own, *columns[place].summations))
    return with_ladder(scheme, ladder, columns)


def _zero(scheme: PogScheme, name: str) -> PogScheme:
    """The scheme with a variable taken out of all sums."""
    sums = {
        output: Summation(output, tuple((n, s) for n, s in summation.inputs if n != name))
        for output, summation in scheme.summations.items()
    }
    return replace(scheme, summations=sums)


def _contracted(scheme: PogScheme, element: str) -> PogScheme:
    """The scheme without the column of an element that is left with nothing but a wire."""
    found = ladder_with(scheme, lambda column: column.name == element)
    assert found is not None, "each element has one column"
    ladder, (place,) = found
    column, columns = ladder.columns[place], list(ladder.columns)
    behind = columns[place + 1] if place + 1 < len(columns) else None
    before = columns[place - 1] if place else None
    if behind is not None and behind.junction == column.junction:
        gone, kept = column.right, column.left
        columns[place + 1] = replace(behind, left=kept)
    elif before is not None and before.junction == column.junction:
        gone, kept = column.left, column.right
        columns[place - 1] = replace(before, right=kept)
    else:  # a junction of its own stays, as a wire
        columns[place] = replace(column, name="", blocks=())
        return with_ladder(scheme, ladder, columns)
    del columns[place]
    result = with_ladder(scheme, ladder, columns)
    sections = {name: s for name, s in result.sections.items() if name != gone}
    result = replace(result, sections=sections)
    side = other_side("through" if column.kind == "series" else "across")
    return _joined(result, column, scheme.sections[gone].variable(side), scheme.sections.get(kept))


def _joined(scheme: PogScheme, column: Column, gone: str, kept: Section | None) -> PogScheme:
    """The scheme with the running variable on one side of a removed column replaced by that on the other side."""
    side = other_side("through" if column.kind == "series" else "across")
    summation = next(scheme.summations[name] for name in column.summations)
    others = {name: s for name, s in scheme.summations.items() if name != summation.output}
    if kept is None:
        return _zero(replace(scheme, summations=others), gone)
    name = kept.variable(side)
    ((_, sign),) = summation.inputs

    def said(summation: Summation) -> Summation:
        inputs = tuple((name, s * sign) if n == gone else (n, s) for n, s in summation.inputs)
        if summation.output != gone:
            return Summation(summation.output, inputs)
        return Summation(name, tuple((n, s * sign) for n, s in inputs))

    sums = [said(summation) for summation in others.values()]
    return _renamed_sums(replace(scheme, summations={s.output: s for s in sums}), gone, name)


def _renamed_sums(scheme: PogScheme, gone: str, name: str) -> PogScheme:
    found = ladder_with(scheme, lambda column: gone in column.summations)
    if found is None:
        return scheme
    ladder, places = found
    columns = list(ladder.columns)
    for k in places:
        sums = tuple(name if n == gone else n for n in columns[k].summations)
        columns[k] = replace(columns[k], summations=sums)
    return with_ladder(scheme, ladder, columns)


def _behind(scheme: PogScheme, element: str) -> PogScheme:
    """The scheme with a model behind it in which the element decides zero; a bond graph of it would be another one."""
    item = scheme.elements[element]
    causal = scheme.causal
    port = replace(item.port, law=ResistiveLaw(item.decides, coefficient=ZERO), state="", initial=None)
    place = next(k for k, other in enumerate(causal.graph.ports) if other is item.port)
    ports = tuple(port if k == place else other for k, other in enumerate(causal.graph.ports))
    dependent = tuple(d for d in causal.dependent if d.port != place)
    elements = {**scheme.elements, element: replace(item, kind=one_port_kind(port), port=port)}
    return replace(
        scheme,
        elements=elements,
        causal=replace(causal, graph=replace(causal.graph, ports=ports), dependent=dependent),
        bond_graph=None,
    )
