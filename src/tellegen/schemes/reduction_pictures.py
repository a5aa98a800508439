"""A reduction drawn: the loop to be inverted, the inverted loop, the simplified scheme.

When the energy coefficient of a storage tends to zero (an inertia to zero, a stiffness to infinity), its integrator block grows
without bound. The loop through it is inverted, so that another element decides its variable; the storage is a derivative block
then, which vanishes.
"""

from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import other_side
from tellegen.core.names import did_you_mean
from tellegen.expressions import ZERO
from tellegen.graph import ResistiveLaw
from tellegen.schemes import rules
from tellegen.schemes.columns import ladder_with, with_ladder
from tellegen.schemes.finishing import one_port_kind
from tellegen.schemes.inversion import invert_path, refusal
from tellegen.schemes.pog_scheme import Block, Column, PogScheme, Section, Summation
from tellegen.schemes.signal_paths import lightest_path, read_path


@final
@dataclass(frozen=True)
class ReductionPictures:
    """The three schemes of a graphical reduction. `loop` names the variables of the loop, the first one again at its end."""

    element: str
    loop: tuple[str, ...]
    original: PogScheme
    inverted: PogScheme
    simplified: PogScheme
    accounts: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(f"{letter}) {line}" for letter, line in zip("abc", self.accounts, strict=True))


def reduction_pictures(scheme: PogScheme, element: str) -> ReductionPictures:
    """The scheme without a storage whose energy coefficient tends to zero, by the inversion of a loop.

    The loop is the one with the fewest other storages, which come into derivative causality.

    Raises: GraphError (G212) for what is no storage of a ladder or stands in no loop, G210 where no loop may be inverted.
    """
    block = _storage(scheme, element)
    if block.kind == "derivative":
        signals: tuple[str, ...] = ()
        inverted, accounts = scheme, ["no loop: it is in derivative causality already", "nothing to invert"]
    else:
        found = lightest_path(scheme, block.output, block.input)
        if found is None:
            what = f"no path leads from '{block.output}' back to '{block.input}'"
            fix = f"keep '{element}', or add an element that decides '{block.output}' without it"
            raise rules.NO_PICTURES.error(what, where=element, fix=fix)
        signals = (*found.signals, block.output)
        step = invert_path(scheme, signals, derivative=True)
        inverted, accounts = step.scheme, [f"the loop {' -> '.join(signals)}", step.account]
    simplified, free = _integral(_without(inverted, element))
    again = f"; {', '.join(free)} in integral causality again" if free else ""
    accounts.append(f"'{element}' vanishes: {inverted.blocks[element].output} = 0{again}")
    return ReductionPictures(element, signals, scheme, inverted, simplified, tuple(accounts))


def _integral(scheme: PogScheme) -> tuple[PogScheme, list[str]]:
    """The scheme with storages that need not follow others any more as integrators, and their names."""
    free: list[str] = []
    for name in [name for name, block in scheme.blocks.items() if block.kind == "derivative"]:
        block = scheme.blocks[name]
        path = lightest_path(scheme, block.output, block.input) if block.kind == "derivative" else None
        if path is None or any(other.kind == "storage" for other in path.blocks):
            continue
        loop = read_path(scheme, (*path.signals, block.output))
        if refusal(scheme, loop) is None:
            scheme = invert_path(scheme, loop.signals).scheme
            free += [other.name for other in loop.blocks if other.kind == "derivative"]
    return scheme, free


def _storage(scheme: PogScheme, element: str) -> Block:
    storages = [name for name, block in scheme.blocks.items() if block.kind in ("storage", "derivative")]
    if element not in storages:
        fix = did_you_mean(element, storages) or f"the storages are {', '.join(storages[:20]) or '(none)'}"
        raise rules.NO_PICTURES.error(f"'{element}' is no storage of the scheme", where=element, fix=fix)
    if not scheme.ladders:
        fix = "ask for its ladder: pog(..., derivative=True); a mesh is reduced by its equations"
        raise rules.NO_PICTURES.error(f"'{scheme.name}' is one vector block", where=element, fix=fix)
    if scheme.elements[element].field:
        what = f"'{element}' is part of the field '{scheme.elements[element].field}'"
        why = "its coefficient alone does not vanish: the rest of the matrix ties it to other storages"
        raise rules.NO_PICTURES.error(what, where=element, why=why, fix="reduce the equations instead")
    return scheme.blocks[element]


def _without(scheme: PogScheme, element: str) -> PogScheme:
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
