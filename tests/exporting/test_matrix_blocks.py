"""Vector schemes are built block by block as their figure shows them, and what is built moves as the model does."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from exporting.octave import run_octave
from exporting.recorded_models import RecordedModel, read_calls
from exporting.recorded_programs import rates_program
from support.amount import SLOW
from support.field_networks import random_field_network
from tellegen.core.errors import TellegenError
from tellegen.core.shipped import example_names
from tellegen.drawing.options import DEFAULTS
from tellegen.drawing.pog.plan import (
    LINES,
    ConnectionPlan,
    ElementPlan,
    FigurePlan,
    LadderPlan,
    Line,
)
from tellegen.drawing.pog.scene import plan_model_pog
from tellegen.experiments.setup import set_up
from tellegen.experiments.simulating import simulate
from tellegen.exporting.diagram import Diagram
from tellegen.exporting.diagram_building import block_diagram
from tellegen.exporting.matlab_program import parameters_file
from tellegen.exporting.matrix_blocks import WHOLE
from tellegen.exporting.simulink import build_file
from tellegen.expressions.matlab import matlab_name
from tellegen.model.model import Model
from tellegen.notations.loading import load
from tellegen.notations.reading import read_model

MODES = ["bouncing_ball", "buck_converter", "clutch_drive", "stick_slip"]
FIGURES = (
    "pmsm",
    "corking_shaft",
    "corking_transmission",
    "planetary_gear",
    "crank_rod",
    "cauer_low_pass",
    "rotational_first",
)
"""Examples whose figures are lanes, or storages that move together."""
RTOL = 1e-4
"""Of the largest value on the way; Octave integrates with 1e-9."""
SHARE = 1e-3
"""How much of its experiment an example runs in an interpreter."""


def vector_examples() -> dict[str, Model]:
    names = [name for name in example_names() if name not in MODES]
    found = {name: load(name) for name in (names if SLOW else [*FIGURES, "rapson_slide", "solenoid"])}
    return {name: model for name, model in found.items() if block_diagram(model).vectorial}


def random_model(seed: int) -> Model | None:
    """Fields, couplings and dependent storages at random, with sources that swing; None where it is no vector scheme."""
    chance = Random(seed)
    network = random_field_network(chance)
    sources = [block.name for block in network.blocks if block.is_source]
    inputs = ", ".join(f"{name}: {chance.randint(1, 4)}*sin({chance.randint(1, 3)}*t/(1 s))" for name in sources)
    text = f"{network.text}experiment: {{until: 0.5 s, inputs: {{{inputs}}}}}\n"
    try:
        model = read_model(text)
        diagram = block_diagram(model)
        return model if diagram.vectorial and diagram.integrators else None
    except TellegenError:
        return None  # contradictions, or rates of what jumps


def random_models() -> dict[str, Model]:
    wanted = 40 if SLOW else 8
    found: dict[str, Model] = {}
    for seed in range(1000):
        if len(found) < wanted and (model := random_model(seed)) is not None:
            found[f"random_{seed}"] = model
    return found


class Built:
    """Models as Octave has built them with recording stubs, and the ends of their runs there."""

    def __init__(self, folder: Path, octave: str) -> None:
        self.models = {**vector_examples(), **random_models()}
        self.diagrams = {name: block_diagram(model) for name, model in self.models.items()}
        shutil.copytree(Path(__file__).parent / "simulink_stubs", folder, dirs_exist_ok=True)
        for name, diagram in self.diagrams.items():
            (folder / f"{name}_parameters.m").write_text(parameters_file(diagram, name), encoding="utf-8")
            (folder / f"{name}_build.m").write_text(build_file(diagram, name), encoding="utf-8")
        said = run_octave(octave, folder, "\n".join(f"{name}_build();" for name in self.diagrams))
        assert (folder / "calls.txt").exists(), said
        calls = read_calls((folder / "calls.txt").read_text(encoding="utf-8"))
        self.recorded = {name.removesuffix("_model"): model for name, model in calls.items()}
        self.ends = {}
        lines = []
        for name, recorded in self.recorded.items():
            (folder / f"{name}_rates.m").write_text(rates_program(recorded, f"{name}_rates"), encoding="utf-8")
            until = self.until(name)
            lines += [
                f"try, [~, x0] = {name}_rates();",
                "lsode_options('relative tolerance', 1e-9); lsode_options('absolute tolerance', 1e-20);",
                f"x = lsode(@(x, t) {name}_rates(t, x), x0, [0, {until!r}]);",
                f"printf('{name}:'); printf(' %.12g', x(end, :)); printf('\\n');",
                f"catch problem, printf('{name} failed: %s\\n', problem.message); end",
            ]
        self.output = run_octave(octave, folder, "\n".join(lines))
        for line in self.output.splitlines():
            if match := re.fullmatch(r"(\w+):((?: [-+.\d]\S*)+)", line):
                self.ends[match[1]] = [float(word) for word in match[2].split()]

    def until(self, name: str) -> float:
        return self.diagrams[name].until * (1.0 if name.startswith("random") else SHARE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vectors")


MADE: dict[Path, Built] = {}


@pytest.fixture
def built(folder: Path, system_tool: Callable[[str], str]) -> Built:
    octave = system_tool("octave-cli")
    if folder not in MADE:
        MADE[folder] = Built(folder, octave)
    return MADE[folder]


@pytest.mark.slow
def test_what_is_built_moves_as_the_model_does(built: Built) -> None:
    """Integrators of contents are told through the gains behind them; outputs of states are what a run knows."""
    assert len(built.ends) == len(built.models), built.output
    for name, model in built.models.items():
        run = simulate(model, built.until(name), rtol=1e-9, atol=1e-13, samples=1)
        for state, value in contents(built.diagrams[name], built.ends[name]).items():
            scale = float(np.abs(run.values(state)).max()) + 1e-6
            assert run.values(state)[-1] == pytest.approx(value, abs=RTOL * scale), (name, state)


def contents(diagram: Diagram, end: list[float]) -> dict[str, float]:
    """The displacements at the end, and the states whose integrators keep outputs; others are checked through these.

    Constant energy matrices give the outputs of contents at once.
    """
    found: dict[str, float] = {}
    at = 0
    by_name = {block.name: block for block in diagram.scheme}
    for block in (b for b in diagram.scheme if b.kind == "integrator"):
        values, at = np.array(end[at : at + block.size]), at + block.size
        gain = next((b for b in by_name.values() if b.kind == "gain" and b.reads == (block.name,)), None)
        apart = next(
            b for b in by_name.values() if b.kind == "apart" and b.reads in (((gain or block).name,), (block.name,))
        )
        if gain is not None:
            if not all(e.free_symbols <= diagram.parameters.keys() for row in gain.matrix for e in row):
                continue
            matrix = np.array([[e.evaluate(diagram.parameters) for e in row] for row in gain.matrix])
            values = np.linalg.solve(matrix, values) if gain.inverted else matrix @ values
        found |= {
            state: sign * value for (state, sign), value in zip(apart.names, values.tolist(), strict=True) if state
        }
    others = [i.name for i in diagram.integrators if not i.column]
    return found | dict(zip(others, end[at:], strict=True))


# -- Block by block and line by line ----------------------------------------------------------------------------------------------


Cells = dict[str, tuple[str, tuple[str, ...]]]
"""What stands in a cell of a figure, a column and a line of it: the signs of a sum, and the cells from which wires come."""


def test_blocks_and_lines_are_those_of_the_figure(built: Built) -> None:
    """That of `draw --as pog`: in lanes, or one vector block.

    A ladder with a circle without a state (the winding and the eddy currents of a solenoid) is solved first, and built as the
    figure of the same model as one vector block; so are random models with laws of two kinds.
    """
    for name, model in built.models.items():
        causal = set_up(model).causal
        made = recorded_cells(built.recorded[name], built.diagrams[name])
        shown = [figure_cells(plan_model_pog(causal, options)[0]) for options in (DEFAULTS, WHOLE)]
        solved_first = name == "solenoid" or name.startswith("random")
        assert made in (shown if solved_first else shown[:1]), name


def figure_cells(figure: FigurePlan) -> Cells:
    found: Cells = {}
    first = 0
    for ladder in figure.ladders:
        found |= Wires(ladder, first).cells()
        first += 3 * len(ladder.sections())
    return found


class Wires:
    """Follows the wires of a ladder back to what gives them."""

    def __init__(self, ladder: LadderPlan, first: int) -> None:
        self.columns, self.sections, self.first = ladder.columns, ladder.sections(), first

    def cells(self) -> Cells:
        found: Cells = {}
        for k, column in enumerate(self.columns):
            place = self.first + 3 * k + 1
            if isinstance(column.content, ConnectionPlan):
                assert column.left is not None
                for line in LINES:
                    side = k if column.left.goes_right(line) else k + 1
                    found[f"{place} {line}"] = "", (self.giver(side, line),)
                continue
            for line in LINES:
                comes, _ = column.ends(line)
                if column.node_kind(line) == "sum":
                    signs = "".join("-" if (line, end) in column.minus else "+" for end in comes)
                    found[f"{place} {line}"] = signs, tuple(self.end(k, line, end) for end in comes)
                elif column.node_kind(line) == "zero":
                    found[f"{place} {line}"] = "", ()
            if isinstance(column.content, ElementPlan):
                above: Line = "upper" if column.content.way == "down" else "lower"
                found[f"{place} between"] = "", (self.node(k, above),)
        return found

    def giver(self, k: int, line: Line) -> str:
        """What gives the wire on a line of a section."""
        section = self.sections[k]
        assert section is not None
        column = k - 1 if section.goes_right(line) else k
        if not 0 <= column < len(self.columns):
            return f"{self.first + 3 * k} {line}"
        if isinstance(self.columns[column].content, ConnectionPlan):
            return f"{self.first + 3 * column + 1} {line}"
        return self.node(column, line)

    def node(self, k: int, line: Line) -> str:
        column = self.columns[k]
        if column.node_kind(line) in ("sum", "zero"):
            return f"{self.first + 3 * k + 1} {line}"
        (end,) = column.ends(line)[0]
        return self.end(k, line, end)

    def end(self, k: int, line: Line, end: str) -> str:
        return f"{self.first + 3 * k + 1} between" if end == "vertical" else self.giver(k + (end == "right"), line)


def recorded_cells(model: RecordedModel, diagram: Diagram) -> Cells:
    """The cells of a recorded model, by the places of its blocks; what is read beside wires belongs to no figure."""
    parts = {matlab_name(block.name): block for block in diagram.scheme}
    blocks = {b.name: b for b in model.blocks.values() if b.name in parts}
    cell = {name: f"{parts[name].place} {parts[name].line}" for name in blocks}
    whole = {cell[name] for name in blocks if parts[name].kind in ("gain", "function")}
    found: Cells = {}
    for name, block in blocks.items():
        if parts[name].kind in ("collect", "apart", "shown"):
            continue
        # A function reads signals too: only wires that are not taken apart are lines of the figure.
        wires = [s for s in model.sources(block) if s in blocks and cell[s] != cell[name]]
        signs = block.settings["Inputs"] if block.kind == "sum" and cell[name] not in whole else ""
        old = found.get(cell[name], ("", ()))
        found[cell[name]] = old[0] or signs, tuple(dict.fromkeys((*old[1], *wires_cells(wires, cell))))
    return found


def wires_cells(wires: list[str], cell: dict[str, str]) -> list[str]:
    return [cell[wire] for wire in wires]
