"""The pages of the commands and of the public Python names, made from the code they describe."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import tellegen
from tellegen.cli.main import COMMANDS, find_command, load_command

SHELVES = {
    "model notations": "Describing",
    "graph": "The power graph",
    "causality": "Causality",
    "schemes": "Schemes",
    "equations": "Equations",
    "reduction": "Reduction",
    "conditioning": "Conditioning",
    "simulation": "Simulation",
    "experiments": "Experiments",
    "results": "Results",
    "analysis": "Analysis",
    "studies": "Studies",
    "drawing plots": "Figures",
    "exporting": "Files for other tools",
    "reporting": "Reports",
    "workflow": "All arrows in one call",
    "expressions": "Expressions",
    "core": "Errors",
}
"""The layers in the order in which a reader meets them, with a title; layers that a reader takes for one share it."""

EXAMPLE = """system: Mass on a spring
parameters: {m: 2 kg, K: 800 N/m, b: 4 N*s/m}
network:
  F: {force source: [frame, a]}
  m: {mass: [a]}
  K: {spring: [a, frame]}
  b: {damper: [a, frame]}
experiment: {until: 2 s, inputs: {F: step(10 N)}}
"""
NETLIST = "eV, 1, a, En, V_a\neL, 1, 2, Kn, L_1, Fn, I_1\neR, 2, a, Kn, R_1=10\n"
DECK = """Charging a capacitor
V1 in 0 PULSE(0 5 0 1u 1u 1m 2m)
D1 in a DX
R1 a out 1k
C1 out 0 100n
.model DX D(IS=1e-12)
.tran 1u 4m
"""
MEASURED = """t,v_m
0,0
0.1,0.178
0.2,-0.163
0.3,0.0113
0.4,0.117
0.5,-0.116
0.6,0.0155
0.7,0.0761
0.8,-0.082
0.9,0.0159
1,0.0492
1.1,-0.0576
"""
ANSWERS = "strokes: {1: I_a, 2: I_a}\n"
"""What the examples of the commands may name."""


def commands_page() -> str:
    """Every command with its arguments and options."""
    parts = [
        "# Commands",
        "`MODEL` is a file (YAML, or a POG_Modeler netlist ending in `.txt`) or the name of a built-in example.\n"
        "Every command tells the same with `--help`. No command replaces a file that is there already, unless `--force` is given.\n"
        "Exit codes: 0 done, 1 errors in the model or in a value, 2 wrong usage, 3 a mistake of Tellegen.",
        "The examples below use this model too:",
        f"```yaml m.yaml\n{EXAMPLE}```",
        f"this netlist of POG_Modeler:\n\n```text example_1.txt\n{NETLIST}```",
        f"this deck of SPICE:\n\n```text charging.cir\n{DECK}```",
        f"these measured data:\n\n```text measured.csv\n{MEASURED}```",
        f"and these answers of a student:\n\n```yaml answers.yaml\n{ANSWERS}```",
    ]
    for name in COMMANDS:
        parts += _command(name)
    return "\n\n".join(parts) + "\n"


def _command(name: str) -> Iterator[str]:
    command = load_command(name)
    yield f"## tellegen {name}"
    yield str(command.help).strip()
    rows = [(_spelling(p), _about(p)) for p in command.params if p.name != "help" and not getattr(p, "hidden", False)]
    if rows:
        yield "\n".join(["| word | meaning |", "|---|---|", *(f"| {word} | {about} |" for word, about in rows)])
    yield "```console\n" + "".join(f"$ {example}\n" for example in find_command(name).examples) + "```"


def _spelling(parameter: object) -> str:
    names = getattr(parameter, "opts", [])
    if getattr(parameter, "param_type_name", "") == "argument":
        return f"`{getattr(parameter, 'metavar', None) or str(getattr(parameter, 'name', '')).upper()}`"
    value = "" if getattr(parameter, "is_flag", False) else f" {getattr(parameter, 'metavar', None) or 'VALUE'}"
    return ", ".join(f"`{name}{value}`" for name in names)


def _about(parameter: object) -> str:
    return str(getattr(parameter, "help", "") or "").replace("|", "\\|").replace("\n", " ")


def python_page() -> str:
    """Every public name, with its signature and its docstring."""
    parts = [
        "# Python",
        "Everything below is a name of the package: `import tellegen as tg`, then `tg.derive(...)`. A model may be\n"
        "given as a `Model`, as a `Network` built by calls, as a file, or as the name of a built-in example.",
    ]
    for layers, title in SHELVES.items():
        names = [name for name in tellegen.__all__ if _layer(name) in layers.split()]
        if names:
            parts += [f"## {title}", *map(_entry, names)]
    return "\n\n".join(parts) + "\n"


def _layer(name: str) -> str:
    module = str(getattr(getattr(tellegen, name), "__module__", ""))
    return module.removeprefix("tellegen.").partition(".")[0] if module.startswith("tellegen.") else ""


def _entry(name: str) -> str:
    kind = "autoclass" if isinstance(getattr(tellegen, name), type) else "autofunction"
    return f"```{{eval-rst}}\n.. {kind}:: tellegen.{name}\n```"


def decisions_page(records: Iterable[Path]) -> str:
    """The decision records by title."""
    lines = [f"- [{_title(record)}]({record.name})" for record in sorted(records)]
    parts = [
        "# Decisions",
        "One page each: what had to be decided, what was chosen, what was measured, what was given up.",
        "\n".join(lines),
        "```{toctree}\n:hidden:\n:glob:\n\n[0-9]*\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _title(page: Path) -> str:
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ")
