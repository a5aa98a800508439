"""The file of a package: the record of parameters, elements where there are some, and the system with its experiment."""

from collections.abc import Sequence
from typing import Literal, final, get_args

from tellegen.core.names import did_you_mean, unused
from tellegen.core.units import describe
from tellegen.equations.derivation import derive_equations
from tellegen.experiments.setup import Setup
from tellegen.experiments.steady_state import set_up_at_start
from tellegen.exporting import rules
from tellegen.exporting.diagram_start import diagram_start, initial_run
from tellegen.exporting.exchanged import TOLERANCE
from tellegen.exporting.modelica.equations import SystemEquations
from tellegen.exporting.modelica.network import SystemNetwork
from tellegen.exporting.modelica.words import (
    FormulaPrinter,
    modelica_name,
    modelica_number,
    modelica_text,
    with_unit,
)
from tellegen.graph import PowerGraph
from tellegen.model.model import Model

Shape = Literal["network", "equations"]

MOST_ROWS = 500
"""Intervals of output of an experiment, unless its samples are closer."""


@final
class SystemText:
    """What all shapes of a system have in common: its names, its parameters and where it begins."""

    def __init__(self, setup: Setup, name: str) -> None:
        self.setup, self.name = setup, name
        graph = setup.graph
        taken = {v for port in graph.ports for v in (port.across, port.through, port.state, port.element)}
        taken |= {*graph.displacements, *(law.name for law in graph.signals), *(node.name for node in graph.nodes)}
        # Parameters and elements often share a name: parameters live in a record.
        self.record = unused("p", taken)
        self.names = {name: f"{self.record}.{modelica_name(name)}" for name in graph.parameters}
        self.names["t"] = "time"
        inner = {name: modelica_name(name) for name in graph.parameters}
        self.inside = FormulaPrinter(inner)
        self.printer = FormulaPrinter(self.names)

    def parameters(self) -> list[str]:
        """The record."""
        graph, model, values = self.setup.graph, self.setup.model, self.setup.parameters
        lines = ["record Parameters"]
        for name, formula in graph.parameters.items():
            known = model.parameters.get(name)
            unit = ""
            if known is not None:
                unit = known.unit if known.dimension is None else describe(known.dimension).split(" ")[0]
            # By its formula where others give it, so that they may be changed.
            text = modelica_number(values[name])
            if formula is not None and formula.free_symbols:
                text = self.inside.print(formula)
            lines.append(f"  parameter Real {modelica_name(name)}{with_unit('' if unit == '1' else unit)} = {text};")
        return [*lines, "end Parameters;"]

    def experiment(self) -> str:
        """The annotation that a tool runs by."""
        setup = self.setup
        interval = modelica_number(setup.until / MOST_ROWS)
        return (
            f"annotation(experiment(StartTime=0, StopTime={modelica_number(setup.until)}, Tolerance={modelica_number(TOLERANCE)}, "
            f"Interval={interval}));"
        )


def modelica_files(model: Model, name: str, *, shape: Shape | None = None) -> dict[str, str]:
    """The package of a model, by the name of its file."""
    if shape is not None and shape not in get_args(Shape):
        fix = did_you_mean(shape, get_args(Shape)) or "give network or equations"
        raise rules.UNKNOWN_OPTION.error(f"'shape' is '{shape}'", fix=fix)
    setup = set_up_at_start(model, rtol=TOLERANCE)
    shape = shape or ("equations" if moves_states(setup) else "network")
    text = SystemText(setup, name)
    if shape == "equations":
        refuse_modes(setup.graph)
    start = diagram_start(setup, derive_equations(setup.causal), initial_run(setup))
    if shape == "equations":
        made = SystemEquations(text.printer, text.names, start)
        return {f"{name}.mo": package_text(text, [], made.declarations(), made.equations())}
    network = SystemNetwork(text.printer, text.names, start)
    declarations, equations = network.declarations(), network.equations()
    return {f"{name}.mo": package_text(text, list(network.classes.lines()), declarations, equations)}


def moves_states(setup: Setup) -> bool:
    """Whether storages follow others by moduli that move: which of them are states, equations say, and a network does not."""
    graph, constant = setup.graph, setup.graph.parameters.keys()
    return (
        bool(setup.causal.dependent)
        and any(not c.free_symbols <= constant for c in graph.couplings)
        and not graph.switching
    )


def refuse_modes(graph: PowerGraph) -> None:
    """Raises: ExportError (X401) where there are some: equations are those of one mode."""
    if graph.switching:
        raise rules.MODES.error(
            f"'{graph.name}' has modes, and equations are those of one",
            where=graph.name,
            fix="export it as a network (shape='network', --as network)",
        )


def package_text(
    text: SystemText, elements: Sequence[str], declarations: Sequence[str], equations: Sequence[str]
) -> str:
    """The whole file."""
    package = modelica_name(text.name)
    about = modelica_text(text.setup.model.name)
    parameters = text.parameters()
    record = [f"parameter Parameters {text.record};"] if len(parameters) > 2 else []
    lines = [
        f"package {package} {about}",
        *(f"  {line}" for line in (parameters if record else [])),
        "",
        *(f"  {line}" if line else "" for line in elements),
        f"  model System {about}",
        *(f"    {line}" for line in (*record, *declarations)),
        "  equation",
        *(f"    {line}" for line in equations),
        f"    {text.experiment()}",
        "  end System;",
        f"end {package};",
        "",
    ]
    return "\n".join(lines)
