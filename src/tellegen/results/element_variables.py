"""The power variables and powers of a run by element, and by the sides of couplings."""

from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.expressions import Expression
from tellegen.graph import Port
from tellegen.results import rules
from tellegen.results.coupling_sides import CouplingSides, branch_named, branches_of
from tellegen.results.labelling import data_array
from tellegen.results.ports import elements_behind, sources_of

if TYPE_CHECKING:
    import xarray

    from tellegen.results.run import Run

Array = NDArray[np.float64]


@final
class ElementVariables:
    """What a run knows of its elements: `motor` is an element, `motor.1` the first side of a coupling."""

    def __init__(self, run: "Run") -> None:
        self.run = run

    def power(self, element: str) -> Array:
        """The power into an element, out of a source; of a coupling, what passes from its first side to its second.

        Raises: SimulationError when there is no such element (S201), or other ways lead round the coupling (S203).
        """
        places = self.run.catalogue.of("power", element)
        if places:
            return self.run.channels.sums([places])[:, 0]
        graph = self.run.described or self.run.graph
        for coupling in graph.couplings:
            if coupling.element == element:
                return self._passing(elements_behind(graph, coupling))
        raise self.run.channels.unknown(element)

    def _passing(self, elements: set[str]) -> Array:
        sources, named = sources_of(self.run.graph), sorted(elements)
        if not named:
            return np.zeros(len(self.run.t))
        signs = np.array([-1.0 if element in sources else 1.0 for element in named])
        return np.asarray(
            self.run.channels.sums([self.run.catalogue.of("power", element) for element in named]) @ signs
        )

    def domain(self, element: str) -> str:
        """The domain of an element, or of a side of a coupling.

        Raises: SimulationError for an unknown name (S201), or an element of several ports.
        """
        branch = branch_named(self.run.graph, element)
        if branch is not None:
            return self._sides.branches[branch].domain
        for port in (*self.run.graph.ports, *(self.run.described.ports if self.run.described is not None else ())):
            if port.element == element:
                return port.domain
        raise self._without_one_value(element)

    def _without_one_value(self, element: str) -> TellegenError:
        """The error for an element of several ports, whose variables are those of the elements around it."""
        ports = [port for port in self.run.graph.ports if port.element == element]
        if not ports and all(coupling.element != element for coupling in self.run.graph.couplings):
            return self.run.channels.unknown(element)
        sides = [f"{element}.{k + 1}" for k in range(len(branches_of(self.run.graph, element)))]
        named = f"ask for one of {listing([port.across for port in ports] or sides)}"
        return rules.SEVERAL_PORTS.error(
            f"'{element}' has several ports, so it has no single effort or flow", where=self.run.name, fix=named
        )

    def _at_side(self, name: str, branch: int, side: Side) -> "xarray.DataArray":
        found = self._sides.known.get((branch, side))
        if found is None:
            what = f"the elements beside '{name}' do not tell its {side} variable"
            raise rules.SEVERAL_PORTS.error(what, where=self.run.name, fix="ask for the power of the coupling")
        unit = DOMAINS[self._sides.branches[branch].domain].power(side).unit
        return data_array(self.run, f"{side}.{name}", np.broadcast_to(found, self.run.t.shape), unit)

    def power_variable(self, element: str, side: Side) -> "xarray.DataArray":
        """The across or through variable of an element, or at a side of a coupling.

        Raises: SimulationError for an unknown name (S201), or an element of several ports.
        """
        branch = branch_named(self.run.graph, element)
        if branch is not None:
            return self._at_side(element, branch, side)
        places = self.run.catalogue.of(side, element)
        if len(places) != 1:
            raise self._without_one_value(element)
        observable = self.run.catalogue.observables[places[0]]
        return data_array(self.run, observable.name, self.run.channels.sums([places])[:, 0], observable.unit)

    @cached_property
    def _sides(self) -> CouplingSides:
        return CouplingSides(self.run.graph, self._of_port, self._along)

    def _of_port(self, port: Port, side: Side) -> Array:
        return self.run.values(port.across if side == "across" else port.through)

    def _along(self, formula: Expression) -> Array:
        """A formula of parameters and variables, row by row."""
        while inner := {
            n: e for n in formula.free_symbols - self.run.parameters.keys() if (e := self._defined(n)) is not None
        }:
            formula = formula.substitute(inner)
        names = sorted(formula.free_symbols - self.run.parameters.keys())
        rows = self.run.table(names) if names else np.zeros((len(self.run.t), 0))
        known = dict(self.run.parameters)
        return np.array([float(formula.evaluate(known | dict(zip(names, row, strict=True)))) for row in rows])

    def _defined(self, name: str) -> Expression | None:
        """What a parameter stands for that others give."""
        return self.run.graph.moving.get(name) or self.run.graph.parameters.get(name)
