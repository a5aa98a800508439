"""The vector block L x' = -A x - N x - f + B u + B_1 u' as a diagram, one row each.

Its columns are those of the figure: B, the integrators with L, then what takes power back.
"""

from dataclasses import dataclass, replace
from typing import final

from tellegen.equations.signal_equations import SignalRates
from tellegen.equations.system import EquationSystem
from tellegen.exporting.diagrams import NO_UNKNOWNS, Column, Formula, Inertia, Integrator, Unknowns, formula
from tellegen.exporting.starting import Start
from tellegen.expressions import ZERO, Expression, symbol, total

DRIVING, STATES, TAKING = "B", "L", ("N", "f", "A")
"""The columns: what brings power, the states, and what takes it, as the letters of the figure say."""
SECTIONS = {"N": "N x", "f": "f", "A": "A x"}


@final
@dataclass(frozen=True)
class VectorBlocks:
    """What arrives at each integrator, the integrators, and how the rates follow. `rates` names the rate of each state."""

    formulas: tuple[Formula, ...]
    integrators: tuple[Integrator, ...]
    inertia: Inertia
    unknowns: Unknowns
    rates: dict[str, str]
    columns: tuple[Column, ...]


def vector_blocks(start: Start) -> VectorBlocks:
    """The rows of the equations.

    Raises: EquationError where a dependent storage would need the rate of something that jumps.
    """
    system = start.system
    slopes = {name: start.fresh(f"{name}_slope") for name in _met_by_storages(system)}
    rates = {name: start.fresh(f"{name}_rate") for name in system.states}
    sums = {name: start.fresh(f"{name}_sum") for name in system.states}
    formulas = [formula(slope, _slope(name, start), start.setup.parameters) for name, slope in slopes.items()]
    met: list[str] = []
    for k, name in enumerate(system.states):
        parts = [
            _part(start.fresh(f"{name}_{letter}"), terms, letter, start)
            for letter, terms in _arriving(system, k, slopes).items()
        ]
        signed = tuple((part.name, -1 if part.column in TAKING else 1) for part in parts)
        arriving = total(symbol(part) if sign > 0 else -symbol(part) for part, sign in signed)
        formulas += [*parts, Formula(sums[name], "sum", arriving, signed, column=STATES)]
        met += [part.column for part in parts]
    return VectorBlocks(
        tuple(formulas),
        tuple(Integrator(name, rates[name], start.initial(name), STATES) for name in system.states),
        Inertia(tuple(rates.values()), system.matrices["L"], tuple(sums.values()), STATES),
        _unknowns(start),
        rates,
        _columns(met) if system.states else (),
    )


def _columns(met: list[str]) -> tuple[Column, ...]:
    """The columns that there are, with the sections between them: u and y, B u and x, then what is taken and x."""
    found = [Column(DRIVING, 0, 0, (("u", "y"), ("B u", "x")))] if DRIVING in met else []
    taking = [letter for letter in TAKING if letter in met]
    behind = [(" + ".join(SECTIONS[letter] for letter in taking[k:]), "x") for k in range(len(taking))]
    before = [("B u", "x")] if found else []
    found.append(Column(STATES, len(found), 0, (*before, *behind[:1])))
    for k, letter in enumerate(taking):
        found.append(Column(letter, len(found), 0, tuple(behind[k : k + 2])))
    return tuple(found)


def _part(name: str, terms: list[tuple[Expression, str]], letter: str, start: Start) -> Formula:
    """What a matrix brings to one state."""
    expression = total(factor * symbol(signal) if signal else factor for factor, signal in terms)
    return replace(formula(name, expression, start.setup.parameters), column=letter)


def _unknowns(start: Start) -> Unknowns:
    algebraic = start.system.algebraic
    if not algebraic.unknowns:
        return NO_UNKNOWNS
    return Unknowns(algebraic.unknowns, algebraic.residuals, tuple(map(start.guess, algebraic.unknowns)))


def _arriving(system: EquationSystem, k: int, slopes: dict[str, str]) -> dict[str, list[tuple[Expression, str]]]:
    """What arrives at one integrator by the letter of what brings it: factors with the signals that they multiply."""
    m = system.matrices
    rates = [(b, slopes[name]) for b, name in zip(m["B_1"][k], system.inputs, strict=True) if name in slopes]
    found = {
        DRIVING: [*zip(m["B"][k], system.inputs, strict=True), *rates],
        "N": [*zip(m["N"][k], system.states, strict=True)],
        "f": [(system.vectors["f"][k], "")],
        "A": [*zip(m["A"][k], system.states, strict=True)],
    }
    shown = {letter: [term for term in terms if term[0] is not ZERO] for letter, terms in found.items()}
    return {letter: terms for letter, terms in shown.items() if terms}


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
