"""A recorded Simulink model as a program of Octave that evaluates it block by block: the rates of all integrators."""

import re
from graphlib import TopologicalSorter

from exporting.recorded_models import RecordedBlock, RecordedModel

SKIPPED = {"outport"}


def rates_program(model: RecordedModel, name: str) -> str:
    """A function `[dx, x0, seen] = NAME(t, x)`; without arguments it gives the initial values. `seen` are all scalar signals."""
    blocks = [b for b in model.blocks.values() if b.system == "" and b.kind not in SKIPPED]
    integrators = [b for b in blocks if b.kind == "integrator"]
    order = {b.name: [s.split(":")[0] for s in model.sources(b)] for b in blocks if b.kind != "integrator"}
    lines = [f"function [dx, x0] = {name}(t, x)"]
    lines += [f"{parameter} = {value!r};" for parameter, value in model.parameters.items()]
    lines += [f"start_{k} = {b.settings['InitialCondition']};" for k, b in enumerate(integrators)]
    initial = "; ".join(f"start_{k}(:)" for k in range(len(integrators)))
    lines += [f"x0 = [{initial}];", "dx = []; if nargin == 0, return; end", "at = 0;"]
    for k, b in enumerate(integrators):
        lines += [f"w_{b.name} = x(at + (1:numel(start_{k})));", f"at = at + numel(start_{k});"]
    functions: list[str] = []
    known = {b.name for b in integrators}
    for block in TopologicalSorter(order).static_order():
        if block not in known:
            lines += _evaluated(model, model.block("", block), functions, name)
    rates = "; ".join(f"{_wire(model.sources(b)[0])}(:)" for b in integrators)
    return "\n".join([*lines, f"dx = [{rates}];", "end", *functions, ""])


def _wire(source: str) -> str:
    name, _, port = source.partition(":")
    return f"w_{name}({port})" if port else f"w_{name}"


def _evaluated(model: RecordedModel, block: RecordedBlock, functions: list[str], prefix: str) -> list[str]:
    sources, to, said = [_wire(s) for s in model.sources(block)], f"w_{block.name}", block.settings
    if block.kind == "gain":
        return [f"{to} = ({said['Gain']}) * {sources[0]};"]
    if block.kind == "sum":
        return [f"{to} = {' '.join(f'{s} {w}' for s, w in zip(said['Inputs'], sources, strict=True))};"]
    if block.kind == "constant":
        return [f"{to} = {said['Value']};"]
    if block.kind == "clock":
        return [f"{to} = t;"]
    if block.kind == "mux":
        return [f"{to} = [{'; '.join(sources)}];"]
    if block.kind == "demux":
        return [f"{to} = {sources[0]};"]
    assert block.kind == "function", block.kind
    own = f"{prefix}_{block.name}"
    functions.append(block.script.replace("tg_block(", f"{own}(", 1))
    arguments = re.match(r"function tg_y = tg_block\((.*)\)\n", block.script)
    assert arguments is not None
    told = iter(sources)
    given = [name if name in block.parameters else next(told) for name in arguments[1].split(", ") if name]
    return [f"{to} = {own}({', '.join(given)});"]
