"""The program that builds a Simulink model block by block: `new_system`, `add_block`, `add_line`, `set_param`."""

from collections.abc import Iterable, Iterator

from tellegen.exporting.diagram import Diagram
from tellegen.exporting.matlab_program import comment_text, number_text, row_text
from tellegen.exporting.matlab_steps import ATOL, RTOL
from tellegen.exporting.mode_diagrams import HybridDiagram
from tellegen.exporting.simulink_blocks import LIBRARY, SimulinkBlock, SimulinkLine, SimulinkWiring, simulink_blocks
from tellegen.exporting.simulink_modes import hybrid_wiring

MODEL = "tg_model"


def build_file(diagram: Diagram, name: str) -> str:
    """A function that builds the diagram in Simulink."""
    return _program(diagram, name, simulink_blocks(diagram))


def hybrid_build_file(hybrid: HybridDiagram, name: str) -> str:
    """A function that builds a model with modes in Simulink."""
    return _program(hybrid.first, name, hybrid_wiring(hybrid, name))


def _program(diagram: Diagram, name: str, wiring: SimulinkWiring) -> str:
    lines = [
        *_head(diagram, name),
        *(_added(block) for block in wiring.blocks),
        *(_drawn(line) for line in wiring.lines),
        *_settings(diagram),
        f"open_system({MODEL});",
        "end",
    ]
    if any(block.kind == "function" for block in wiring.blocks):
        lines += ["", FUNCTION.rstrip()]
    return "\n".join([*lines, ""])


def quoted(text: str) -> str:
    """A text of MATLAB that holds just these characters; what cannot be printed becomes a space."""
    return "'" + comment_text(text).replace("'", "''") + "'"


def _head(diagram: Diagram, name: str) -> Iterator[str]:
    yield f"function {name}_build({MODEL})"
    yield f"% Build '{comment_text(diagram.name)}' as a Simulink model, block by block."
    yield f"%   {name}_build()          a model named {name}_model, which no function of MATLAB is called"
    yield f"%   {name}_build('other')   a model of another name"
    yield "% Parameters lie in the workspace of the model; see its Model Explorer."
    yield f"if nargin < 1, {MODEL} = {quoted(f'{name}_model')}; end"
    yield "load_system('simulink');"
    yield f"new_system({MODEL});"
    yield f"tg_p = {name}_parameters();"
    yield f"tg_workspace = get_param({MODEL}, 'ModelWorkspace');"
    yield "tg_names = fieldnames(tg_p);"
    yield "for tg_k = 1:numel(tg_names)"
    yield "  assignin(tg_workspace, tg_names{tg_k}, tg_p.(tg_names{tg_k}));"
    yield "end"


def _added(block: SimulinkBlock) -> str:
    path = f"[{MODEL}, {quoted('/' + block.path)}]"
    position = "[" + ", ".join(map(str, block.position)) + "]"
    if block.kind == "function":
        return f"tg_function({path}, {position}, {_cell(block.script)}, {_cell(block.parameters)});"
    settings = "".join(f", {quoted(key)}, {quoted(value)}" for key, value in block.settings)
    return f"add_block({quoted(LIBRARY[block.kind])}, {path}, 'Position', {position}{settings});"


def _cell(texts: Iterable[str]) -> str:
    return "{" + ", ".join(map(quoted, texts)) + "}"


def _drawn(line: SimulinkLine) -> str:
    system = f"[{MODEL}, {quoted('/' + line.system)}]" if line.system else MODEL
    ends = f"{quoted(f'{line.source}/{line.source_port}')}, {quoted(f'{line.target}/{line.target_port}')}"
    return f"add_line({system}, {ends}, 'autorouting', 'on');"


def _settings(diagram: Diagram) -> Iterator[str]:
    """The experiment: how long, how exactly, and where steps must end because an input jumps."""
    solver = "ode15s" if diagram.stiff else "ode45"
    chosen = {
        "StopTime": number_text(diagram.until),
        "SolverType": "Variable-step",
        "Solver": solver,
        "RelTol": repr(RTOL),
        "AbsTol": repr(ATOL),
    }
    if diagram.stops:
        chosen |= {"OutputOption": "AdditionalOutputTimes", "OutputTimes": row_text(diagram.stops)}
    for key, value in chosen.items():
        yield f"set_param({MODEL}, {quoted(key)}, {quoted(value)});"


FUNCTION = f"""function tg_function(tg_path, tg_position, tg_lines, tg_parameters)
% A MATLAB Function block; its arguments are its inputs, but for the parameters of the model.
add_block('{LIBRARY["function"]}', tg_path, 'Position', tg_position);
tg_root = sfroot();
tg_chart = tg_root.find('-isa', 'Stateflow.EMChart', 'Path', tg_path);
tg_chart.Script = strjoin(tg_lines, char(10));
for tg_k = 1:numel(tg_parameters)
  tg_data = tg_chart.find('-isa', 'Stateflow.Data', 'Name', tg_parameters{{tg_k}});
  tg_data.Scope = 'Parameter';
end
end
"""
