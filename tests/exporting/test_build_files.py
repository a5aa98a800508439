"""Build files make the diagram in Simulink: Octave runs them with stubs that record the calls, and the model is read back."""

import re
import shutil
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from exporting.octave import run_octave
from exporting.recorded_models import RecordedBlock, RecordedModel, read_calls
from exporting.test_run_files import PLAIN_TEXTS as TEXTS
from exporting.test_run_files import TEXTS_WITH_MODES
from support.amount import SLOW
from tellegen.core.shipped import example_names
from tellegen.exporting.diagram import Diagram, Formula
from tellegen.exporting.diagram_building import block_diagram
from tellegen.exporting.exports import simulink_files
from tellegen.exporting.matlab_program import parameters_file
from tellegen.exporting.mode_diagrams import HybridDiagram, mode_diagrams
from tellegen.exporting.simulink import LIBRARY, build_file
from tellegen.exporting.simulink_modes import mode_diagram, mode_name
from tellegen.expressions.matlab import MatlabLines, has_choice, matlab_name, to_matlab
from tellegen.graph.signals import Table
from tellegen.model.model import Model
from tellegen.notations.loading import load
from tellegen.notations.reading import read_model

KEEPING = ["sampled_switch", "delayed_switch"]
"""Models with modes that sample or delay."""
HYBRIDS = ["bouncing_ball", "buck_converter", "clutch_drive", "stick_slip", *KEEPING]
EXAMPLES = [name for name in example_names() if name not in HYBRIDS]
NAMES = [*TEXTS, *(EXAMPLES if SLOW else EXAMPLES[::3])]


class BuiltModels:
    """All models, built by one process of Octave when the first is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.diagrams: dict[str, Diagram] = {}
        self.hybrids: dict[str, HybridDiagram] = {}
        self.models: dict[str, RecordedModel] = {}
        self.output = ""

    def of(self, octave: str, name: str) -> tuple[Diagram, RecordedModel]:
        if not self.diagrams:
            self._build(octave)
        assert name in self.models, self.output
        return self.diagrams[name], self.models[name]

    def _build(self, octave: str) -> None:
        shutil.copytree(Path(__file__).parent / "simulink_stubs", self.folder, dirs_exist_ok=True)
        self.diagrams = {name: block_diagram(described(name)) for name in NAMES}
        for name, diagram in self.diagrams.items():
            (self.folder / f"{name}_parameters.m").write_text(parameters_file(diagram, name), encoding="utf-8")
            (self.folder / f"{name}_build.m").write_text(build_file(diagram, name), encoding="utf-8")
        self.hybrids = {name: mode_diagrams(described(name)) for name in HYBRIDS}
        for name, hybrid in self.hybrids.items():
            for file, text in simulink_files(described(name), name).items():
                (self.folder / file).write_text(text, encoding="utf-8")
            assert hybrid.first is not None
        ball = "[m, x] = bouncing_ball_modes(0.4, [-3; 1e-12], 1); printf('impact %d %.6f\\n', m, x(1));"
        ball += "\n" + "\n".join(f"printf('{name} %d\\n', {call});" for name, call in CHANGES.items())
        builds = "\n".join(f"{name}_build();" for name in (*NAMES, *HYBRIDS))
        self.output = run_octave(octave, self.folder, f"{builds}\n{ball}")
        assert (self.folder / "calls.txt").exists(), self.output
        built = read_calls((self.folder / "calls.txt").read_text(encoding="utf-8"))
        self.models = {name.removesuffix("_model"): model for name, model in built.items()}


CHANGES = {
    "sampled_switch": "sampled_switch_modes(0.01, 3.2, 1, 3.1, [])",
    "delayed_switch": "delayed_switch_modes(0.01, 3.2, 1, [], 3.1)",
}
"""A switch that opens because what is held or comes late is more than 3 V."""


def described(name: str) -> Model:
    texts = TEXTS | TEXTS_WITH_MODES
    return read_model(texts[name]) if name in texts else load(name)


@pytest.fixture(scope="module")
def built_models(tmp_path_factory: pytest.TempPathFactory) -> BuiltModels:
    return BuiltModels(tmp_path_factory.mktemp("simulink"))


Built = tuple[Diagram, RecordedModel]
BuiltHybrid = tuple[HybridDiagram, RecordedModel]


@pytest.fixture(params=HYBRIDS)
def hybrid(request: pytest.FixtureRequest, built_models: BuiltModels, system_tool: Callable[[str], str]) -> BuiltHybrid:
    built_models.of(system_tool("octave-cli"), NAMES[0])
    return built_models.hybrids[request.param], built_models.models[request.param]


@pytest.fixture(params=NAMES)
def built(request: pytest.FixtureRequest, built_models: BuiltModels, system_tool: Callable[[str], str]) -> Built:
    return built_models.of(system_tool("octave-cli"), request.param)


def test_every_input_is_driven_and_every_line_starts_at_an_output(built: Built) -> None:
    _, model = built
    driven = set()
    for block in model.blocks.values():
        driven |= {(block.system, block.name, port) for port in range(1, model.inputs(block) + 1)}
    assert set(model.lines) == driven
    for (system, _, _), (source, port) in model.lines.items():
        assert 1 <= port <= model.outputs(model.block(system, source))


def test_models_with_modes_have_a_subsystem_for_each_with_the_blocks_of_its_diagram(hybrid: BuiltHybrid) -> None:
    diagrams, model = hybrid
    for number, mode in enumerate(diagrams.modes, 1):
        if mode.diagram is None:
            assert mode_name(number) not in model.blocks
            continue
        assert model.blocks[mode_name(number)].kind == "subsystem"
        diagram = mode_diagram(mode, number)
        for item in (*diagram.formulas, *diagram.readings):
            if isinstance(item, Formula):
                block = model.block(mode_name(number), matlab_name(item.name))
                made = MatlabLines()
                made.assign("tg_y", item.expression)
                assert block.kind != "function" or block.script.splitlines()[1:-1] == made.lines
    driven = {
        (block.system, block.name, port)
        for block in model.blocks.values()
        for port in range(1, model.inputs(block) + 1)
    }
    assert set(model.lines) == driven


def test_states_of_models_with_modes_are_chosen_by_the_mode_and_reset_by_events(hybrid: BuiltHybrid) -> None:
    diagrams, model = hybrid
    for k, state in enumerate(diagrams.states):
        integrator = model.block("", matlab_name(state))
        assert integrator.settings["ExternalReset"] == "either"
        assert model.sources(integrator) == [matlab_name(f"rate_of_{state}"), "apart:2", f"apart:{k + 3}"]
        mode, *rates = model.sources(model.block("", matlab_name(f"rate_of_{state}")))
        assert mode == "apart:1"
        for number, (rate, choice) in enumerate(zip(rates, diagrams.modes, strict=True), 1):
            own = None if choice.diagram is None else mode_diagram(choice, number)
            known = {} if own is None else {item.name: item.rate for item in own.integrators}
            coupled = () if own is None or own.inertia is None else own.inertia.rates
            expected = known.get(state, "nothing")
            assert rate == (
                f"rates_apart:{coupled.index(expected) + 1}" if expected in coupled else matlab_name(expected)
            )
    first = model.block("", "before").settings["InitialCondition"].strip("[]").split("; ")
    assert [float(value) for value in first] == [diagrams.start + 1, 0, *diagrams.initial]
    assert model.sources(model.block("", "hit")) == ["guard"]
    assert "_modes(" in model.block("", "event").script


def test_what_modes_give_to_samples_and_delays_is_chosen_by_the_mode(hybrid: BuiltHybrid) -> None:
    diagrams, model = hybrid
    for hold in diagrams.first.holds:
        assert model.sources(model.block("", matlab_name(hold.name))) == [f"{hold.name}_taken"]
        mode, *taken = model.sources(model.block("", f"{hold.name}_taken"))
        assert (mode, taken) == ("apart:1", [f"m{k}_{hold.name}_taken" for k in range(1, len(diagrams.modes) + 1)])
        assert model.sources(model.block("", f"{hold.name}_before")) == [hold.name]
    for delay in diagrams.first.delays:
        block = model.block("", matlab_name(delay.name))
        assert (block.kind, model.sources(block)) == ("transport delay", [f"{delay.name}_source"])
        _, *sources = model.sources(model.block("", f"{delay.name}_source"))
        assert sources == [f"m{k}_{delay.source}" for k in range(1, len(diagrams.modes) + 1)]
    told = {name for name in model.block("", "event").arguments if name not in ("t", "hit", "before")}
    assert told >= {hold.name for hold in diagrams.first.holds} | {delay.name for delay in diagrams.first.delays}


@pytest.mark.parametrize("name", KEEPING)
def test_the_program_of_modes_reads_what_samples_hold_and_delays_repeat(
    name: str, built_models: BuiltModels, system_tool: Callable[[str], str]
) -> None:
    built_models.of(system_tool("octave-cli"), NAMES[0])
    (line,) = [line for line in built_models.output.splitlines() if line.startswith(name)]
    words = built_models.hybrids[name].modes[int(line.split()[1]) - 1].words
    assert words == ("open",)


def test_the_program_of_modes_turns_a_ball_back_that_hits_the_ground(
    built_models: BuiltModels, system_tool: Callable[[str], str]
) -> None:
    built_models.of(system_tool("octave-cli"), NAMES[0])
    (line,) = [line for line in built_models.output.splitlines() if line.startswith("impact")]
    _, mode, speed = line.split()
    assert int(mode) == 1
    assert float(speed) == pytest.approx(0.8 * 3)  # the example keeps 0.8 of the speed


def test_the_blocks_say_what_the_diagram_says(built: Built) -> None:
    diagram, model = built
    makers = {name: maker(name, diagram, model) for name in diagram.names_given() - rates(diagram) - rows(diagram)}
    for item in (*diagram.formulas, *diagram.readings):
        if isinstance(item, Formula) and item.name in makers:
            assert is_formula(makers[item.name], item, diagram, model), item.name
    for integrator in (i for i in diagram.integrators if i.name in makers):
        block = makers[integrator.name]
        assert block.kind == "integrator"
        assert float(block.settings["InitialCondition"]) == integrator.initial
        assert model.sources(block) == [signal(integrator.rate, diagram, makers)]
    for delay in diagram.delays:
        block = makers[delay.name]
        assert block.kind == "transport delay"
        assert (float(block.settings["DelayTime"]), float(block.settings["InitialOutput"])) == (delay.by, delay.initial)
        assert model.sources(block) == [signal(delay.source, diagram, makers)]
    for k, name in enumerate(diagram.recorded, 1):
        (outport,) = [b for b in model.inside("", "outport") if b.settings["Port"] == str(k)]
        assert model.sources(outport) == [signal(name, diagram, makers)]


def test_parameters_and_experiment_are_handed_over(built: Built) -> None:
    diagram, model = built
    assert model.parameters == {matlab_name(name): value for name, value in diagram.parameters.items()}
    assert float(model.settings["StopTime"]) == diagram.until
    assert model.settings["Solver"] == ("ode15s" if diagram.stiff else "ode45")


@pytest.mark.parametrize("name", [*NAMES, *HYBRIDS])
def test_blocks_and_settings_are_those_that_the_page_names_with_their_sources(
    name: str, built_models: BuiltModels, system_tool: Callable[[str], str]
) -> None:
    built_models.of(system_tool("octave-cli"), NAMES[0])
    model, known = built_models.models[name], documented_settings()
    for block in model.blocks.values():
        assert set(block.settings) <= known[LIBRARY[block.kind]] | {"Position"}, block.name
    assert set(model.settings) <= known["the model"]


def documented_settings() -> dict[str, set[str]]:
    """The settings of each kind of block in the table of the page on exporting, by where the library has it."""
    page = (Path(__file__).parents[2] / "docs" / "howto" / "export.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if "`slref/" in line]
    return {place.strip("`"): set(re.findall(r"`(\w+)`", settings)) for place, settings, _ in rows}


def test_columns_stand_from_left_to_right_and_nothing_overlaps(built: Built) -> None:
    diagram, model = built
    subsystems = {b.name: b.position for b in model.inside("", "subsystem")}
    for one, two in combinations(diagram.columns, 2):
        if one.row == two.row:
            left, right = subsystems[matlab_name(one.name)], subsystems[matlab_name(two.name)]
            assert (left[2] < right[0]) == (one.place < two.place)
    for one_block, other in combinations(model.blocks.values(), 2):
        assert one_block.system != other.system or apart(one_block.position, other.position)


def apart(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def rates(diagram: Diagram) -> set[str]:
    return set() if diagram.inertia is None else set(diagram.inertia.rates)


def rows(diagram: Diagram) -> set[str]:
    """The rows of the equations that are built as blocks of a vector scheme: `test_matrix_blocks` looks at these."""
    items = (i for i in (*diagram.formulas, *diagram.integrators) if not isinstance(i, Table))
    return {item.name for item in items if item.column} if diagram.scheme else set()


def taken_apart(diagram: Diagram) -> dict[str, str]:
    """The signals that come out of vectors, as `sources` tells them."""
    apart = [block for block in diagram.scheme if block.kind == "apart"]
    return {
        name: f"{matlab_name(block.name)}:{k}"
        for block in apart
        for k, (name, sign) in enumerate(block.names, 1)
        if sign > 0
    }


def maker(name: str, diagram: Diagram, model: RecordedModel) -> RecordedBlock:
    """The block that makes a signal: of its name, or with an underscore where a subsystem has that."""
    items = (*diagram.formulas, *diagram.readings, *diagram.integrators)
    column = next((getattr(item, "column", "") for item in items if item.name == name), "")
    system = matlab_name(column) if column else ""
    names = [matlab_name(name), matlab_name(name) + "_"]
    found = [model.block(system, n) for n in names if (f"{system}/{n}" if system else n) in model.blocks]
    return next(block for block in found if block.kind not in ("subsystem", "inport"))


def signal(name: str, diagram: Diagram, makers: dict[str, RecordedBlock]) -> str:
    """A signal as `sources` tells it."""
    if name in (parts := taken_apart(diagram)):
        return parts[name]
    if diagram.inertia is not None and name in diagram.inertia.rates:
        return f"rates_apart:{diagram.inertia.rates.index(name) + 1}"
    return makers[name].name if name in makers else matlab_name(name)


def is_formula(block: RecordedBlock, item: Formula, diagram: Diagram, model: RecordedModel) -> bool:
    """Whether a block computes a formula from the right signals."""
    makers = {name: maker(name, diagram, model) for name in diagram.names_given() - rates(diagram) - rows(diagram)}
    sources = model.sources(block)
    if block.kind == "gain":
        assert item.factor is not None
        read = [signal(item.terms[0][0], diagram, makers)]
        return block.settings["Gain"] == to_matlab(item.factor) and sources == read
    if block.kind == "sum":
        signs = "".join("+" if sign > 0 else "-" for _, sign in item.terms)
        return block.settings["Inputs"] == signs and sources == [signal(n, diagram, makers) for n, _ in item.terms]
    if block.kind == "constant":
        return has_choice(item.expression) or block.settings["Value"] == to_matlab(item.expression)
    made = MatlabLines()
    made.assign("tg_y", item.expression)
    read = sorted(name for name in item.expression.free_symbols if name not in diagram.parameters)
    return (
        block.kind == "function"
        and block.script.splitlines()[1:-1] == made.lines
        and block.arguments == [matlab_name(name) for name in read]
        and sources == [signal(name, diagram, makers) for name in read]
    )
