"""Invert a path of a POG: reverse its lines, invert its blocks, flip the signs of its variables in each summation.

A loop of static blocks keeps what goes in and comes out. The path from an input to its own output exchanges the two: what the
source decided is now what it is told. A storage on the path comes into derivative causality, which is refused unless asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tellegen.core.domains import other_side
from tellegen.core.errors import TellegenError
from tellegen.expressions import ONE, is_zero
from tellegen.graph import StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.loops import Loop
from tellegen.schemes.pog_scheme import Block, Column, Ladder, Output, PogScheme, Section, Summation
from tellegen.schemes.recausing import with_causes
from tellegen.schemes.rewriting import Rewriting
from tellegen.schemes.signal_paths import SignalPath, read_path


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
    return Rewriting(_inverted(scheme, found), _account(scheme, found))


def refusal(scheme: PogScheme, path: SignalPath, *, derivative: bool = False) -> TellegenError | None:
    """Why a path may not be inverted; None where it may."""
    if not scheme.ladders:
        what, why = f"'{scheme.name}' is one vector block", "in a mesh no path cuts each section in both directions"
        fix = "ask for its ladder, with derivative blocks where storages depend on others: pog(..., derivative=True)"
        return rules.NO_INVERSION.error(what, where=scheme.name, why=why, fix=fix)
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
    return next((p for block in path.blocks if (p := _block_refusal(scheme, block, derivative)) is not None), None)


def _joins_port(scheme: PogScheme, path: SignalPath) -> bool:
    ends = [(name, output.signal) for name, output in zip(scheme.inputs, scheme.outputs, strict=True)]
    return (path.signals[0], path.signals[-1]) in ends


def _ports(scheme: PogScheme) -> str:
    ends = zip(scheme.inputs, scheme.outputs, strict=True)
    return ", ".join(f"{name} -> {output.signal}" for name, output in ends) or "(it has no inputs)"


def _block_refusal(scheme: PogScheme, block: Block, derivative: bool) -> TellegenError | None:
    name = block.name
    item = scheme.elements.get(name)
    if item is not None and item.field:
        why = "a block of a field has several inputs, so one of them does not follow from its output alone"
        fix = f"leave '{name}' out of the path"
        return rules.NO_INVERSION.error(f"'{name}' is part of the field '{item.field}'", where=name, why=why, fix=fix)
    if block.kind == "storage" and not derivative:
        what = f"'{name}' is a storage: inverted, it would differentiate '{block.output}'"
        fix = f"choose a path without '{name}', or ask for derivative causality (derivative=True)"
        return rules.NO_INVERSION.error(what, where=name, fix=fix)
    if block.gain is None and not isinstance(block.law, StorageLaw):
        why = "a law that is not linear is a function in the direction in which it is given"
        return rules.NO_INVERSION.error(f"the law of '{name}' is not linear", where=name, why=why)
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
    return with_causes(result, turned)


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
