"""What happened in a simulation: variables with units, powers and energies, computed when asked for; and its text in a few
lines.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack, final

import numpy as np

from tellegen.causality import assign_causality
from tellegen.compiler.context import Array
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import Finding
from tellegen.core.names import listing
from tellegen.core.tables import TitledTable, tables_html, tables_text
from tellegen.graph import PowerGraph
from tellegen.model.model import Element
from tellegen.plots import Look, Plot
from tellegen.results import plotting, rules
from tellegen.results.channels import Channels, ObservableCatalogue, Observer, trajectory_at
from tellegen.results.element_variables import ElementVariables, SectionPowers, lifted
from tellegen.results.energy import UNSHOWN, EnergyBooks
from tellegen.results.records import Comparison, Recorded, compare_runs, data_array, data_set, save
from tellegen.results.units import DisplayUnits, behind_number, check_unit, in_unit
from tellegen.schemes.pog_construction import pog
from tellegen.simulation.trajectory import RunEvent, Status, Trajectory

if TYPE_CHECKING:
    import xarray


class VariableRecovery(Protocol):
    """What a reduction knows of the variables that it removed. Nothing is computed before one of them is asked for."""

    @property
    def units(self) -> Mapping[str, str]:
        """The variables, with their SI units."""

    def values(self, run: "Run", names: Sequence[str]) -> Mapping[str, Array]:
        """Their numbers along a run, row by row; those that the run cannot tell are left out."""


def check_outputs(run: "Run") -> None:
    """Refuse what was asked for and no run of the model can tell.

    Raises: SimulationError (S201) with the nearest name.
    """
    for name in run.shown:
        if name not in run:
            raise run.channels.unknown(name)


MOST_SHOWN = 24
"""Final values beyond so many are counted, not shown."""


def run_tables(run: "Run") -> list[TitledTable]:
    """Solver and why, times, final values and the energy books."""
    ends = [TitledTable(_end(run), _finals(run))] if len(run.t) else []
    return [TitledTable("", _facts(run)), *ends, TitledTable("energy [J]", _books(run))]


def run_to_text(run: "Run") -> str:
    """A run in a few lines, with what was wrong below them."""
    return "\n\n".join([tables_text(run.name, run_tables(run)), *map(str, run_findings(run))])


def run_findings(run: "Run") -> list[Finding]:
    """Why it ended early, what its energy books tell, and that nothing moved; books that are open are told once."""
    of_books = run.energy.finding()
    # Open books of a run that finished are its finding already.
    early = run.finding if of_books is None or run.status != "finished" else None
    return [finding for finding in (early, of_books, _nothing_moves(run)) if finding is not None]


def _nothing_moves(run: "Run") -> Finding | None:
    """A notice where all states and inputs were zero: most likely an input was forgotten."""
    inputs = run.input_names
    if not inputs or run.trajectory.y.any() or any(run.values(name).any() for name in inputs):
        return None
    return rules.NOTHING_MOVES.finding(
        f"nothing moves: the run starts at rest, and {listing(inputs, 4)} {'are' if len(inputs) > 1 else 'is'} zero throughout",
        where=run.name,
        fix=f"give an input, as {inputs[0]}: step(1) under 'inputs' of the experiment or --set {inputs[0]}=1, or an initial value",
    )


def _facts(run: "Run") -> list[tuple[str, ...]]:
    made = run.trajectory
    ended = "" if run.status == "finished" else f", {run.status}"
    return [
        ("solver", f"{made.solver} ({made.reason})" if made.reason else made.solver),
        ("set-up", f"{made.setup_s:.3g} s"),
        ("solving", f"{made.solve_s:.3g} s, {made.steps} steps, {made.rhs_calls} evaluations{ended}"),
        *([("events", str(len(run.events)))] if run.events else []),
    ]


def _end(run: "Run") -> str:
    return f"at t = {run.display.shown_value('t', run.t[-1]):g} {run.display.unit('t', 's')}"


def _finals(run: "Run") -> list[tuple[str, ...]]:
    final = run.final()
    told = dict.fromkeys((*list(final)[:MOST_SHOWN], *(name for name in run.shown if name in final)))
    rows: list[tuple[str, ...]] = []
    for name in told:
        unit = behind_number(run.display.unit(name, run.unit(name)))
        rows.append((name, f"{run.display.shown_value(name, final[name]):.6g}", unit))
    return rows if len(final) == len(rows) else [*rows, (f"and {len(final) - len(rows)} more", "", "")]


def _books(run: "Run") -> list[tuple[str, ...]]:
    books = run.energy
    shown = [("supplied", books.supplied), ("stored", books.stored), ("dissipated", books.dissipated)]
    if lifted(run.graph):
        shown.insert(2, ("potential", books.potential))
    rare = [("generated", books.generated), ("modulation", books.modulation), ("impulsive", books.impulsive)]
    rare.append(("transferred", books.transferred))
    least = UNSHOWN * books.books.handled
    rows = [(name, f"{value:.6g}") for name, value in [*shown, *((n, v) for n, v in rare if abs(v) > least)]]
    missing, explained = abs(books.books.difference), books.books.explained
    within = f", within the {explained:.1e} J that the tolerance leaves open" if 0.0 < missing <= explained else ""
    return [*rows, ("residual", f"{books.residual:.1e} of the energy handled{within}")]


Again = Callable[[Array], Trajectory]
"""Simulates the same problem again, with rows at the times given."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A finished simulation. Only the variables of the solver are kept; all others are computed when asked for.

    `run["I_a"]` is a labelled array with its unit; `run.values("I_a")` the numbers alone. Units are SI; `in_units` chooses others
    for what is printed, plotted and written to CSV. Powers are positive into storages and resistive elements and out of sources.
    """

    name: str
    trajectory: Trajectory
    graph: PowerGraph
    parameters: Mapping[str, float] = field(default_factory=dict)
    given_inputs: Mapping[str, float] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    again: Again | None = None
    notices: tuple[Finding, ...] = ()
    described_signals: tuple[str, ...] = ()
    display: DisplayUnits = field(default_factory=DisplayUnits)
    described: PowerGraph | None = None
    elements: tuple[Element, ...] = ()
    removed: VariableRecovery | None = None

    # `given_inputs` are those that no signal drives. `shown` is what was asked for as outputs: it is saved. `notices` are those
    # of the model and of its compilation. `described` is the graph of the model as it was, where the run is that of one of its
    # forms. `elements` tell the names of what follows from the variables of ports. `removed` are variables of the model that was
    # reduced to this one: they have values too, but are saved only where somebody asks for them.

    # -- What it is ------------------------------------------------------------------------------------------------------------

    @property
    def symbols(self) -> Mapping[str, str]:
        """How its names are written, where that is not the usual way."""
        return self.graph.symbols

    @property
    def t(self) -> Array:
        """The times of the rows, in s."""
        return self.trajectory.t

    @property
    def status(self) -> Status:
        """Whether it finished, was cancelled or failed."""
        return self.trajectory.status

    @property
    def finding(self) -> Finding | None:
        """What ended it early, or what is doubtful about it."""
        return self.trajectory.finding

    @property
    def solver(self) -> str:
        """The solver that was used."""
        return self.trajectory.solver

    @property
    def events(self) -> tuple[RunEvent, ...]:
        """What happened on the way: when, at which element, what."""
        return self.trajectory.events

    # -- Variables by name -----------------------------------------------------------------------------------------------------

    @cached_property
    def channels(self) -> Channels:
        """Where variables stand, by name."""
        return Channels(self)

    @property
    def catalogue(self) -> ObservableCatalogue:
        """The observables by name and element."""
        return self.channels.catalogue

    @property
    def state_names(self) -> tuple[str, ...]:
        """The states of storages."""
        return self.channels.states

    @property
    def displacement_names(self) -> tuple[str, ...]:
        """The displacements."""
        return self.trajectory.model.displacements

    @property
    def signal_names(self) -> tuple[str, ...]:
        """The signals that the model describes, and those with a state of their own."""
        return self.channels.signals

    @property
    def input_names(self) -> tuple[str, ...]:
        """The inputs: one a source."""
        return self.channels.inputs_of_sources

    @property
    def output_names(self) -> tuple[str, ...]:
        """The conjugates of the inputs, by the name of a state where they are one."""
        return self.channels.outputs

    @property
    def names(self) -> tuple[str, ...]:
        """What is saved: states, displacements, signals, inputs, outputs, what was asked for, powers and energies by element."""
        return self.channels.names

    def values(self, name: str, unit: str | None = None) -> Array:
        """The numbers of one variable, row by row: in SI, or in the unit asked for.

        Raises: SimulationError (S201) with the nearest name; DescriptionError (D493) for a unit of another quantity.
        """
        found = self.table([name])[:, 0]
        if unit is None:
            return found
        check_unit(name, unit, self.unit(name), from_ambient=self._from_ambient(name))
        return in_unit(found, unit)

    def in_units(self, units: Mapping[str, str] | None = None, /, **more: str) -> "Run":
        """The same run, shown in other units: `run.in_units(omega="rpm", P_0="bar")`, or by a mapping for dotted names.

        They count for the text of the run, its plots and the columns of a CSV file, whose heads then name the unit. Values stay
        in SI: `values`, `final`, JSON and other files are not touched.

        Raises: SimulationError (S201) for an unknown variable; DescriptionError for no unit (D050) or an unfit one (D492, D493).
        """
        chosen = {**(units or {}), **more}
        for name, unit in chosen.items():
            if name not in self:
                raise self.channels.unknown(name)
            check_unit(name, unit, self.unit(name), from_ambient=self._from_ambient(name))
        return replace(self, display=DisplayUnits({**self.display.units, **chosen}))

    def with_units(self) -> "Run":
        """The same run, whose CSV files name the unit of every column whose unit is known."""
        known = {name: unit for name in ("t", *self.names) if (unit := self.unit(name)) not in ("", "1")}
        return replace(self, display=DisplayUnits({**known, **self.display.units}))

    def table(self, names: Sequence[str]) -> Array:
        """The numbers of several variables, an array over row and name: quicker than one after the other.

        Raises: SimulationError (S201) with the nearest name.
        """
        return self.channels.table(names)

    def unit(self, name: str) -> str:
        """The SI unit of a variable; empty where it is not known."""
        return self.channels.unit(name)

    def __getitem__(self, name: str) -> "xarray.DataArray":
        return data_array(self, name)

    def __contains__(self, name: object) -> bool:
        return self.channels.knows(name)

    def final(self) -> dict[str, float]:
        """The last value of every state, displacement, signal, input and output, and of what was asked for."""
        names = self.channels.variables
        return dict(zip(names, self.channels.last(names).tolist(), strict=True)) if len(self.t) else {}

    # -- Groups ----------------------------------------------------------------------------------------------------------------

    @property
    def states(self) -> "xarray.Dataset":
        """The states of storages."""
        return data_set(self, self.state_names)

    @property
    def displacements(self) -> "xarray.Dataset":
        """The displacements."""
        return data_set(self, self.displacement_names)

    @property
    def signals(self) -> "xarray.Dataset":
        """The signals."""
        return data_set(self, self.signal_names)

    @property
    def inputs(self) -> "xarray.Dataset":
        """The inputs."""
        return data_set(self, self.input_names)

    @property
    def outputs(self) -> "xarray.Dataset":
        """The outputs."""
        return data_set(self, self.output_names)

    def dataset(self, *names: str) -> "xarray.Dataset":
        """The variables named, else everything that is saved, as one dataset with units."""
        return data_set(self, names or self.names)

    # -- By element ------------------------------------------------------------------------------------------------------------

    def across(self, element: str) -> "xarray.DataArray":
        """The across variable of an element; `motor.1` is the first side of a coupling, with power positive from side to side."""
        return self.by_element.power_variable(element, "across")

    def through(self, element: str) -> "xarray.DataArray":
        """The through variable of an element, or at a side of a coupling: `motor.2`."""
        return self.by_element.power_variable(element, "through")

    def effort(self, element: str) -> "xarray.DataArray":
        """The power variable that a bond graph calls effort: voltage, force, torque, pressure."""
        return self.by_element.power_variable(element, DOMAINS[self.by_element.domain(element)].effort)

    def flow(self, element: str) -> "xarray.DataArray":
        """The power variable that a bond graph calls flow: current, velocity, angular velocity, flow rate."""
        return self.by_element.power_variable(element, DOMAINS[self.by_element.domain(element)].flow)

    def power(self, element: str) -> "xarray.DataArray":
        """The power into an element, out of a source; of a coupling, what passes from its first side to its second.

        Raises: SimulationError when there is no such element (S201), or nothing tells what passes a coupling (S203).
        """
        return data_array(self, f"power.{element}", self.power_values(element), "W")

    def power_values(self, element: str) -> Array:
        """The numbers of `power`."""
        return self.by_element.power(element)

    @cached_property
    def sections(self) -> SectionPowers:
        """The powers through the sections of the POG scheme, by their numbers, and which of them are not known."""
        return SectionPowers(pog(assign_causality(self.graph)), self.channels)

    def section_power(self, section: int | str) -> "xarray.DataArray":
        """The power through a section of the POG scheme, numbered as in `tellegen.pog(model)`; positive to the right.

        Raises: SimulationError when there is no such section (S207), or its power cannot be computed (S208).
        """
        return data_array(self, f"section.{section}", self.sections.power(section), "W")

    @property
    def stored_energy(self) -> "xarray.DataArray":
        """The energy that all storages hold together."""
        weights = set(lifted(self.graph))
        return self._energy_of("stored_energy", (e for e in self.catalogue.elements("energy") if e not in weights))

    @property
    def potential_energy(self) -> "xarray.DataArray":
        """The energy that all weights have together by their heights."""
        return self._energy_of("potential_energy", lifted(self.graph))

    def _energy_of(self, name: str, elements: Iterable[str]) -> "xarray.DataArray":
        places = [k for element in elements for k in self.catalogue.of("energy", element)]
        return data_array(self, name, self.channels.sums([places])[:, 0], "J")

    @cached_property
    def energy(self) -> EnergyBooks:
        """The energy books: what was supplied, stored, lost, and whether it adds up."""
        return EnergyBooks(self)

    # -- Other shapes ----------------------------------------------------------------------------------------------------------

    def resampled(self, times: Array | int) -> "Run":
        """The run at other times, or at so many even ones, interpolated by cubic polynomials in each interval of its rows.

        Simulate with `times=` instead where the rows are too far apart to see what happens between them.

        Raises: SimulationError (S205) for times outside the run.
        """
        old = self.trajectory
        at = np.linspace(old.t[0], old.t[-1], times) if isinstance(times, int) else np.asarray(times, dtype=float)
        # The comparison is written so that times that are no numbers fail it too.
        if not len(at) or not np.all(np.diff(at) >= 0) or at[0] < old.t[0] or at[-1] > old.t[-1]:
            raise rules.BAD_RESAMPLING.error(
                "the times asked for are not numbers in order inside the run",
                where=self.name,
                fix=f"choose times from {old.t[0]:g} s to {old.t[-1]:g} s",
            )
        return replace(self, trajectory=trajectory_at(old, at))

    def refined(self, times: Array) -> "Run":
        """The same simulation again, with rows at other times.

        Raises: SimulationError (S202) for a run without its model.
        """
        if self.again is None:
            raise rules.NOT_IN_FILE.error(
                "this run cannot be simulated again", where=self.name, fix="simulate the model"
            )
        return replace(self, trajectory=self.again(times))

    def save(self, path: str | Path) -> Path:
        """Write the run to a file: `.csv`, `.nc` (netCDF), `.parquet` or `.mat`. The file is written whole or not at all.

        Raises: ExportError for another suffix (X201), a missing package (X001), or when the file cannot be written (X202).
        """
        return save(self, path)

    def to_csv(self, path: str | Path, *, units: bool = False) -> Path:
        """Write a text table, whatever the name of the file. With `units` every head tells the unit, too: `I_a [A]`."""
        return save(self.with_units() if units else self, path, ".csv")

    def to_netcdf(self, path: str | Path) -> Path:
        """Write a netCDF file, whatever its name."""
        return save(self, path, ".nc")

    def to_parquet(self, path: str | Path) -> Path:
        """Write a Parquet file, whatever its name."""
        return save(self, path, ".parquet")

    def to_mat(self, path: str | Path) -> Path:
        """Write a MATLAB file, whatever its name."""
        return save(self, path, ".mat")

    def compare(self, other: Recorded | Any, *names: str) -> Comparison:
        """How far another run, or columns such as those of a DataFrame with one `t`, is from this one, variable by variable."""
        return compare_runs(self, other, *names)

    def plot(
        self,
        *names: str,
        against: str = plotting.TIME,
        panels: Sequence[Sequence[str]] = (),
        beside: Mapping[str, Recorded] | None = None,
        **look: Unpack[Look],
    ) -> Plot:
        """Variables over time, a panel for each unit. Without names, the outputs of the experiment, else the states.

        `against` another variable they are a phase plot, with a dot where it starts. `panels` say which of them stand together:
        `panels=[["I_a"], ["omega_m", "omega_l"]]`. `beside` are other runs to compare with, in broken lines:
        `run.plot("I_a", beside={"R_a = 1 ohm": other})`. The look is `max_width="88 mm"` (a column of a journal, or 181 mm, two of
        them) and `theme="mono"` for print. The plot shows itself in a notebook; `save("run.pdf")` writes it.
        """
        shown = names or self.shown or (*self.state_names, *self.displacement_names) or self.output_names
        return plotting.plot(self, shown, against=against, panels=panels, beside=beside, display=self.display, **look)

    def plot_phase(self, x: str, y: str, **look: Unpack[Look]) -> Plot:
        """One variable over another."""
        return self.plot(y, against=x, **look)

    def __str__(self) -> str:
        return run_to_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return tables_html(self.name, run_tables(self), [str(finding) for finding in run_findings(self)])

    # -- How it is done --------------------------------------------------------------------------------------------------------

    @property
    def observer(self) -> Observer:
        """Computes observables at rows and between them."""
        return self.channels.observer

    @cached_property
    def by_element(self) -> ElementVariables:
        """The variables of elements, and at the sides of couplings."""
        return ElementVariables(self)

    def _from_ambient(self, name: str) -> bool:
        """Whether a variable is a temperature that counts from the ambient."""
        return any(port.across == name and DOMAINS[port.domain].heat_books for port in self.graph.ports)
