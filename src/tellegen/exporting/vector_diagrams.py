"""The vector block L x' = -A x - N x - f + B u + B_1 u' as a diagram, one row each."""

from dataclasses import dataclass
from typing import final

from tellegen.equations.signal_equations import SignalRates
from tellegen.equations.system import EquationSystem
from tellegen.exporting.diagrams import NO_UNKNOWNS, Formula, Inertia, Integrator, Unknowns
from tellegen.exporting.starting import Start
from tellegen.expressions import ZERO, Expression, symbol, total


@final
@dataclass(frozen=True)
class VectorBlocks:
    """What arrives at each integrator, the integrators, and how the rates follow. `rates` names the rate of each state."""

    formulas: tuple[Formula, ...]
    integrators: tuple[Integrator, ...]
    inertia: Inertia
    unknowns: Unknowns
    rates: dict[str, str]


def vector_blocks(start: Start) -> VectorBlocks:
    """The rows of the equations.

    Raises: EquationError where a dependent storage would need the rate of something that jumps.
    """
    system = start.system
    slopes = {name: start.fresh(f"{name}_slope") for name in _met_by_storages(system)}
    rates = {name: start.fresh(f"{name}_rate") for name in system.states}
    sums = {name: start.fresh(f"{name}_sum") for name in system.states}
    formulas = [Formula(slope, "function", _slope(name, start)) for name, slope in slopes.items()]
    formulas += [Formula(sums[name], "function", _row(system, k, slopes)) for k, name in enumerate(system.states)]
    return VectorBlocks(
        tuple(formulas),
        tuple(Integrator(name, rates[name], start.initial(name)) for name in system.states),
        Inertia(tuple(rates.values()), system.matrices["L"], tuple(sums.values())),
        _unknowns(start),
        rates,
    )


def _unknowns(start: Start) -> Unknowns:
    algebraic = start.system.algebraic
    if not algebraic.unknowns:
        return NO_UNKNOWNS
    return Unknowns(algebraic.unknowns, algebraic.residuals, tuple(map(start.guess, algebraic.unknowns)))


def _row(system: EquationSystem, k: int, slopes: dict[str, str]) -> Expression:
    x, u = [symbol(name) for name in system.states], [symbol(name) for name in system.inputs]
    m = system.matrices
    arriving = [-a * v for a, v in zip(m["A"][k], x, strict=True)]
    arriving += [-n * v for n, v in zip(m["N"][k], x, strict=True)]
    arriving += [b * v for b, v in zip(m["B"][k], u, strict=True)]
    arriving += [b * symbol(slopes[name]) for b, name in zip(m["B_1"][k], system.inputs, strict=True) if name in slopes]
    return total([*arriving, -system.vectors["f"][k]])


def _met_by_storages(system: EquationSystem) -> list[str]:
    """The inputs whose rates matter: a dependent storage meets them."""
    rows = system.matrices["B_1"]
    return [name for j, name in enumerate(system.inputs) if any(row[j] is not ZERO for row in rows)]


def _slope(name: str, start: Start) -> Expression:
    """How fast an input changes."""
    system, parameters = start.system, start.setup.parameters
    driver = system.signals.drivers.get(name)
    if driver is None:
        return ZERO
    known = SignalRates(system.signals, system.displacements, start.setup.graph.moving, set(parameters))
    return total(driver.derivative(n) * known.of(n) for n in sorted(driver.free_symbols) if n not in parameters)
