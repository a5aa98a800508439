"""The file of a package: the record of parameters, elements or equations, and the system with its experiment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, final, get_args

from tellegen.core.names import TIME, did_you_mean, unused
from tellegen.core.units import describe
from tellegen.equations.derivation import derive_equations
from tellegen.experiments.setup import Setup
from tellegen.experiments.steady_state import set_up_at_start
from tellegen.exporting import rules
from tellegen.exporting.diagram_building import PortFormulas, rate_of_input, refuse_signals
from tellegen.exporting.diagram_start import DiagramStart, diagram_start, initial_run
from tellegen.exporting.exchanged import TOLERANCE
from tellegen.exporting.modelica.network import SystemNetwork
from tellegen.exporting.modelica.signals import SignalLines
from tellegen.exporting.modelica.words import (
    FormulaPrinter,
    modelica_name,
    modelica_number,
    modelica_text,
    with_unit,
)
from tellegen.expressions import ZERO, Expression, number, symbol, total
from tellegen.graph import PowerGraph
from tellegen.graph.signals import expressions_of
from tellegen.model.model import Model
from tellegen.results.units import variable_units


@final
class SystemEquations:
    """The lines of the system. Rates are symbols named `der NAME` until they are printed."""

    def __init__(self, printer: FormulaPrinter, names: dict[str, str], start: DiagramStart) -> None:
        refuse_signals(start.system)
        self.printer, self.start, self.system = printer, start, start.system
        self.units = variable_units(start.setup.graph)
        self.states = (*self.system.states, *self.system.displacements, *self.system.signals.states)
        self.rows = [self._row(k) for k in range(len(self.system.states))]
        self.formulas = self._formulas()
        # Rates that are solved for together, or read, are variables of their own: tools differ in what they make of `der` in
        # the middle of a formula.
        read = [e.free_symbols & {f"der {name}" for name in self.states} for e, _ in self.rows]
        read = [names for names in read if len(names) > 1]
        asked = {*(n for e in self.formulas.values() for n in e.free_symbols), *(n for found in read for n in found)}
        self.rates = {name: start.fresh(f"{name}_rate") for name in self.states if f"der {name}" in asked}
        rates = {name: f"der({modelica_name(name)})" for name in self.states}
        rates |= {name: modelica_name(rate) for name, rate in self.rates.items()}
        names.update({f"der {name}": rate for name, rate in rates.items()})
        self.signals = SignalLines(self.system.signals.others, start, printer, self.formulas, {})

    def declarations(self) -> list[str]:
        """The variables."""
        found = [self._state(name) for name in self.states]
        algebraic = self.system.algebraic
        for name in algebraic.unknowns:
            guess = modelica_number(self.start.guess(name))
            found.append(f"Real {modelica_name(name)}{with_unit(self.units.get(name, ''), start=guess)};")
        outputs = {*self.start.setup.model.experiment.outputs, *self.system.outputs} - {*self.states}
        for name in self.formulas:
            word = "output Real" if name in outputs else "Real"
            found.append(f"{word} {modelica_name(name)}{with_unit(self.units.get(name, ''))};")
        found += [f"Real {modelica_name(rate)};" for rate in self.rates.values()]
        found += self.signals.declarations()
        return found

    def equations(self) -> list[str]:
        """What holds."""
        system, text = self.system, self.printer.print
        found = [f"{text(left)} = {text(right)};" for left, right in self.rows]
        found += [f"der({modelica_name(name)}) = {modelica_name(rate)};" for name, rate in self.rates.items()]
        rates = {**system.displacements, **system.signals.states}
        found += [f"der({modelica_name(name)}) = {text(rate)};" for name, rate in rates.items()]
        found += [f"{modelica_name(name)} = {text(e)};" for name, e in self.formulas.items()]
        found += [f"0 = {text(residual)};" for residual in system.algebraic.residuals]
        return [*found, *self.signals.equations()]

    def _state(self, name: str) -> str:
        first = modelica_number(self.start.initial(name))
        return f"Real {modelica_name(name)}{with_unit(self.units.get(name, ''), start=first, fixed='true')};"

    def _row(self, k: int) -> tuple[Expression, Expression]:
        """Both sides of a row."""
        m, states = self.system.matrices, self.system.states
        left = total(m["L"][k][j] * symbol(f"der {name}") for j, name in enumerate(states))
        left += total(m["N"][k][j] * symbol(name) for j, name in enumerate(states)) + self.system.vectors["f"][k]
        right = -total(m["A"][k][j] * symbol(name) for j, name in enumerate(states))
        return left, right + self._of_inputs(m["B"][k], m["B_1"][k])

    def _of_inputs(self, given: Iterable[Expression], rates: Iterable[Expression]) -> Expression:
        inputs = self.system.inputs
        found = total(b * symbol(name) for b, name in zip(given, inputs, strict=True))
        slopes = [(b, name) for b, name in zip(rates, inputs, strict=True) if b is not ZERO]
        return found + total(b * rate_of_input(name, self.start) for b, name in slopes)

    def _formulas(self) -> dict[str, Expression]:
        """Inputs, outputs, signals, and the names that any of them or the rows read, in this order."""
        system = self.system
        drivers = system.signals.drivers
        found = {name: drivers.get(name, number(self.start.setup.inputs.get(name, 0.0))) for name in system.inputs}
        found |= system.signals.values
        found |= {name: e for name, e in self._outputs() if name not in found and name not in self.states}
        asked = [name for name in self.start.setup.model.experiment.outputs if self._is_free(name, found)]
        forces = _Forces(self.start, self.states)
        found |= {name: e for name in asked if (e := forces.of(name)) is not None}
        # What is written so far may read more, and that more again.
        waiting = [*self._read(), *found.values()]
        while waiting:
            for name in sorted(waiting.pop().free_symbols):
                if self._is_free(name, found) and (e := self._meaning(name, forces)) is not None:
                    found[name] = e
                    waiting.append(e)
        return found

    def _is_free(self, name: str, found: Mapping[str, Expression]) -> bool:
        known = {*self.states, *self.system.algebraic.unknowns, *self.start.setup.parameters, TIME}
        return name not in found and name not in known and name not in self.system.signals.names and "der " not in name

    def _meaning(self, name: str, forces: "_Forces") -> Expression | None:
        if (e := self.system.where.get(name)) is not None:
            return e
        if (e := forces.of(name)) is not None:
            return e
        raise rules.SIGNALS.error(f"signals read '{name}', which is not exported", where=self.system.name)

    def _read(self) -> Iterator[Expression]:
        """Every formula beside those with names."""
        for row in self.rows:
            yield from row
        yield from self.system.displacements.values()
        yield from self.system.signals.states.values()
        yield from self.system.algebraic.residuals
        for law in self.system.signals.others:
            yield from expressions_of(law)

    def _outputs(self) -> Iterator[tuple[str, Expression]]:
        system, m = self.system, self.system.matrices
        for k, name in enumerate(system.outputs):
            states = total(c * symbol(x) for c, x in zip(m["C"][k], system.states, strict=True))
            yield name, states + self._of_inputs(m["D"][k], m["D_1"][k]) + system.vectors["f_y"][k]


@final
class _Forces:
    """Power variables that the equations do not give: made where the first is asked for."""

    def __init__(self, start: DiagramStart, states: Iterable[str]) -> None:
        self.start, self.rates = start, {name: f"der {name}" for name in states}
        self.made: PortFormulas | None = None

    def of(self, name: str) -> Expression | None:
        if self.made is None:
            self.made = PortFormulas(self.start.setup.causal, self.start.system, self.rates, self.start.taken)
        if name in self.made.where:
            return self.made.where[name]
        return self.made.of(name) if name in self.made.port_of_variable else None


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
