"""Large models: their program as arrays, and the code that runs over them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from tellegen.compiler.context import Integers
from tellegen.compiler.layout import PLACES, Constants, Layout
from tellegen.compiler.linearity import is_linear, rates_divide
from tellegen.compiler.looped_forms import looped_forms
from tellegen.compiler.looped_source import RateForm, looped_source
from tellegen.compiler.needed_steps import needed_steps
from tellegen.compiler.pattern import Pattern, pattern_of_rows
from tellegen.compiler.program import Program
from tellegen.compiler.routines import sample_groups
from tellegen.compiler.steps import Step
from tellegen.compiler.supports import supports


@final
@dataclass(frozen=True)
class Looped:
    """Source and tables of a large model; `constants.at(parameters)` gives the coefficients."""

    source: str
    structure: Integers
    constants: Constants
    scratch: int
    explicit: bool
    linear: bool
    pattern: Pattern
    powers_read_rates: bool


def looped(program: Program, base: list[str], places: list[int], *, dense: bool = False) -> Looped:
    """Lay a program out as arrays; `dense` allows residuals that depend on everything."""
    forms = looped_forms(program)
    layout = Layout(program)
    layout.set_steps("core", forms.before)
    layout.set_steps("residual_steps", forms.residuals)
    layout.set("residuals", layout.numbering.all(program.residuals))
    layout.set_steps("rate_steps", forms.rates or [])
    layout.set("rates", layout.numbering.all(forms.rate_variables))
    layout.set_steps("observing", program.observing)
    layout.set("observables", layout.numbering.all(k for _, k in program.observables))
    layout.set("events", layout.numbering.all(k for _, k in program.events))
    read = _set_books(layout, program, [*forms.before, *program.observing])
    _set_samples(layout, program)
    constants = Constants(layout.coefficients.formulas, base, program.formulas)
    rows, columns = constants.slopes_pattern()
    layout.header[PLACES["slopes"]] = layout.table([*rows, *columns])
    sizes = {
        "variables": layout.numbering.count,
        "y": len(program.y),
        "inputs": len(program.inputs),
        "memory": len(program.memory),
        "constants": len(layout.coefficients.formulas),
        "parameters": len(base),
        "slopes_values": len(rows),
    }
    for name, size in sizes.items():
        layout.header[PLACES[name]] = size
    how: RateForm = "solved" if forms.rates is not None else "divided" if rates_divide(program) else "none"
    return Looped(
        source=looped_source(layout.templates, places, how),
        structure=layout.structure(),
        constants=constants,
        scratch=layout.numbering.count + len(layout.coefficients.formulas),
        explicit=how != "none",
        linear=is_linear(program),
        pattern=pattern_of_rows(supports(program, (program.y, program.rates), dense=dense), len(program.y)),
        powers_read_rates=not read.isdisjoint(program.rates),
    )


def _set_books(layout: Layout, program: Program, steps: Sequence[Step]) -> set[int]:
    """The tables of the books; gives the variables that powers read."""
    books, new = program.books, layout.numbering.all
    powers = [*books.supplied, *books.modulation, *(k for ports in books.resistive for k in ports)]
    enough, read = needed_steps(steps, powers)
    layout.set_steps("power_steps", enough)
    layout.set("power_leaves", [i for i, k in enumerate((*program.y, *program.rates)) if k in read])
    layout.set("supplied", new(books.supplied))
    layout.set("modulation", new(books.modulation))
    layout.set("stored", new(books.stored))
    starts = [0]
    for ports in books.resistive:
        starts.append(starts[-1] + len(ports))
    members = new(k for ports in books.resistive for k in ports)
    layout.set("resistive", [*starts, *members], len(books.resistive))
    return read


def _set_samples(layout: Layout, program: Program) -> None:
    table: list[int] = []
    for g, members in enumerate(sample_groups(program.samples)):
        for i in members:
            table += [g, i, *layout.numbering.all((program.samples[i][1],))]
    layout.set("samples", table, len(table) // 3)
