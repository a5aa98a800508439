"""The energy books of a run: what was supplied, stored and lost, in all and by element."""

from functools import cached_property
from typing import TYPE_CHECKING, Unpack, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array
from tellegen.core.errors import Finding
from tellegen.core.tables import TitledTable, tables_html
from tellegen.plots import Look, Plot, bars_plot
from tellegen.results.channels import hermite
from tellegen.results.element_variables import exchanges_heat, lifted, sources_of, supplying, transferring
from tellegen.simulation.rules import OPEN_BOOKS
from tellegen.simulation.trajectory import Books

if TYPE_CHECKING:
    from tellegen.results.run import Run


CLOSED = 1e-3
"""A run whose books miss more than this part of the energy handled says so, whatever its tolerance was."""

FINEST = 64
"""Rows are made at most so many times denser for the energies of elements."""

ROUNDED = 1e-9
"""Below this part of the energy handled, work of modulation is what rounding leaves of shares that cancel, as in moving fields."""

UNSHOWN = 1e-13
"""Nor is less than this part shown as generated, moved or lost."""

QUICK_S = 1.0
"""A run that took longer is not simulated again unasked, only to say which element is to blame."""

# Gauss-Legendre on [0, 1], exact to degree 5: points lie inside each interval, away from the jumps at its ends.
_POINTS = np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)])
_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


@final
class EnergyBooks:
    """Energies in J over a run, where supplied + generated + modulation = stored + potential + dissipated + impulsive up to the
    residual.

    `stored` is the change of what storages hold, `potential` that of what weights do; `generated` comes from negative resistances;
    `modulation` is the work that moves the parameters of storages; `impulsive` is lost in impacts and changes of mode. `residual`
    is relative to the energy handled.
    Where heat flows are counted, heat that leaves to the ambient is dissipated, heat that comes from there supplied. What
    dissipators bring into thermal ports is `transferred` and in no other entry.
    """

    def __init__(self, run: "Run") -> None:
        self._run = run
        self.books = books = run.trajectory.books or Books()
        self.supplied, self.dissipated, self.generated = books.supplied, books.dissipated, books.generated
        self.modulation, self.impulsive, self.residual = books.modulation, books.impulsive, books.residual
        self.stored_start, self.stored_end = books.stored_start, books.stored_end

    @cached_property
    def potential(self) -> float:
        """The change of the energy that weights have by their heights."""
        names = lifted(self._run.graph)
        held = [self._run.values(f"energy.{name}") for name in names]
        return sum(float(e[-1] - e[0]) for e in held if len(e))

    @cached_property
    def stored(self) -> float:
        """The change of the energy that storages hold."""
        return self.stored_end - self.stored_start - self.potential

    @cached_property
    def transferred(self) -> float:
        """What dissipators brought into thermal ports: neither lost nor supplied."""
        names = transferring(self._run.graph)
        return sum(self._by_element[name] for name in names) if names else 0.0

    def to_json(self) -> dict[str, float]:
        """The books by name, in J; `residual` is relative. `potential` is there only where something has a weight, `generated` and
        `transferred` only where not zero.
        """
        names = [
            "stored",
            *["potential"] * bool(lifted(self._run.graph)),
            "supplied",
            "dissipated",
            "modulation",
            "impulsive",
            "residual",
        ]
        found = {name: float(getattr(self, name)) for name in names}
        rare = {"generated": self.generated, "transferred": self.transferred}
        return found | {name: float(energy) for name, energy in rare.items() if energy}

    def table(self) -> TitledTable:
        """The books as rows."""
        told = {name: f"{value:.6g}" for name, value in self.to_json().items() if name != "residual" and value}
        return TitledTable("energy [J]", [*told.items(), ("residual", f"{self.residual:.1e} of the energy handled")])

    def __repr__(self) -> str:
        return "\n".join(self.table().lines())

    def _repr_html_(self) -> str:
        return tables_html(self._run.name, [self.table()])

    # -- By element ------------------------------------------------------------------------------------------------------------

    def by_element(self) -> dict[str, float]:
        """The energy that each element took, and each source gave, in the order of description.

        Integrated between the rows by Gauss's rule; where that does not reproduce the books, rows are made denser by simulating
        again.
        """
        return dict(self._by_element)

    def finding(self) -> Finding | None:
        """What is wrong with books that do not close, and the storage that fits its own power least.

        None when all is well, and for a run that failed, whose own finding matters more.
        """
        if self._run.status == "failed":
            return None
        # The run itself may have doubted its books: then they are not excused by being nearly closed.
        doubted = self._run.finding is not None and self._run.finding.code == OPEN_BOOKS.code
        if not doubted and (abs(self.residual) <= CLOSED or abs(self.books.difference) <= self.books.explained):
            return None
        quick = self._run.status == "finished" and self._run.trajectory.solve_s < QUICK_S
        gaps = self._gaps(self._by_element) if quick else {}
        worst = max(gaps, key=lambda name: abs(gaps[name]), default="")
        gap = gaps.get(worst, 0.0)
        about = f"; '{worst}' gained {gap:.3g} J beside its power" if worst else ""
        return OPEN_BOOKS.finding(
            f"{abs(self.books.difference):.3g} J of {self.books.handled:.3g} J are missing{about}",
            where=self._run.name,
            fix="ask for a finer tolerance, or check the law of the element",
            members=[worst] if worst else [],
        )

    def plot(self, **look: Unpack[Look]) -> Plot:
        """What each element took and each source gave, as bars."""
        found = {name: energy for name, energy in self.by_element().items() if energy}
        sources = sources_of(self._run.graph)
        given = {name: energy for name, energy in found.items() if name in sources}
        taken = {name: energy for name, energy in found.items() if name not in sources}
        return bars_plot(self._run.name, {"given by sources": given, "taken": taken}, "energy", "J", **look)

    @cached_property
    def _by_element(self) -> dict[str, float]:
        run, density = self._run, 1
        found = _integrals(run)
        whole = self._run.status == "finished"  # one that ended early would be followed beyond its end
        while whole and run.again is not None and (gap := self._misfit(found)) > 1 and density < FINEST:
            # The cubics between rows gain two digits for a factor of four; each round is a run, so that none is made for nothing.
            density *= 16 if gap > 100 else 4
            run = self._run.refined(_denser(self._run, density))
            found = _integrals(run)
        return found

    def _misfit(self, found: dict[str, float]) -> float:
        """How far the energies of sources and storages are from what the solver counted, beside what they may be."""
        sources = supplying(self._run.graph)
        tolerance = 1e-6 * self.books.handled or 1.0
        supplied = sum(e for name, e in found.items() if name in sources)
        # Heat from the ambient is supplied too, and by no source.
        missing = 0.0 if exchanges_heat(self._run.graph) else supplied - self.supplied
        return max(abs(gap) for gap in (missing, *self._gaps(found).values())) / tolerance

    def _gaps(self, found: dict[str, float]) -> dict[str, float]:
        """What each storage gained beyond the energy of its power; work of modulation is such a gain."""
        # Work of modulation and impacts change the stored energy without the port: a gap says nothing then.
        if abs(self.modulation) > ROUNDED * self.books.handled or self.impulsive:
            return {}
        run = self._run
        # A stop loses a part of what it takes.
        parted = {run.graph.ports[k].element for k in run.graph.switching}
        held = {n: run.values(f"energy.{n}") for n in run.catalogue.elements("energy") if n not in parted}
        return {name: float(e[-1] - e[0]) - found[name] for name, e in held.items() if len(e)}


def _integrals(run: "Run") -> dict[str, float]:
    elements = run.catalogue.elements("power")
    places = [run.catalogue.of("power", element) for element in elements]
    columns = [k for found in places for k in found]
    total = np.zeros(len(columns))
    for number, (model, rows) in enumerate(run.trajectory.parts):
        total += _segment_integral(run, columns, number, rows, model.size - len(model.unknowns), model.size)
    ends = np.cumsum([len(found) for found in places])
    sums = [float(part.sum()) for part in np.split(total, ends[:-1])] if columns else []
    return dict(zip(elements, sums, strict=True))


def _segment_integral(
    run: "Run", columns: list[int], number: int, rows: slice, smooth: int, width: int
) -> NDArray[np.float64]:
    old = run.trajectory
    t, y, yp = old.t[rows], old.y[rows, :width], old.yp[rows, :width]
    steps = np.diff(t)
    total = np.zeros(len(columns))
    for point, weight in zip(_POINTS, _WEIGHTS, strict=True):
        at = t[:-1] + point * steps
        # Between rows the solution is as smooth as its rates tell, up to order four.
        values, rates = hermite(t, y, yp, at, smooth=smooth)
        # One row less: what was held at the first end of an interval holds inside of it.
        memory = None if old.memory is None else old.memory.part(rows).part(slice(0, -1))
        powers = run.observer.at_points(columns, at, values, rates, number, memory)
        # What has no value at a point, as near the end of a run that failed, is left out.
        total += weight * np.nansum(powers * steps[:, None], axis=0)
    return total


def _denser(run: "Run", density: int) -> Array:
    """Times between the rows of a run, and on both sides of every jump."""
    start, end = float(run.t[0]), float(run.t[-1])
    even = np.linspace(start, end, density * max(len(run.t), 250) + 1)
    model = run.trajectory.model
    sampled = [group.instants(end) for group in model.sample_groups]
    jumps = np.concatenate([model.break_times(end, start), [e.t for e in run.events], *sampled])
    # Both sides of a jump: an interval across it would be integrated as if it were smooth.
    gap = 1e-9 * (end - start)
    beside = np.concatenate([jumps - gap, jumps + gap]) if len(jumps) else jumps
    return np.unique(np.clip(np.concatenate([even, beside]), start, end))
