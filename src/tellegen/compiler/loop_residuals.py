"""The equations of the unknowns that a model solves inside, as a function of these: to look for solutions beside the one found."""

from collections.abc import Sequence
from typing import final

import numpy as np

from tellegen.causality import CausalGraph
from tellegen.compiler.builder import build_program
from tellegen.compiler.code import base_parameters
from tellegen.compiler.context import Array, ModelContext, address_of, packed_tables
from tellegen.compiler.interpreter import Interpreter
from tellegen.compiler.newton_search import ROUNDING
from tellegen.compiler.numeric_model import PROTOTYPES, NumericModel
from tellegen.compiler.routines import Routines, flatten, implicit_form
from tellegen.compiler.statements import Newton, Routine, needed_statements


@final
class LoopResidual:
    """The residuals of the unknowns of one loop, the rest of the model standing still; they wait in a context from `scratch` on."""

    def __init__(
        self, routine: Routine, loop: Newton, names: Sequence[str], tables: Array, places: Sequence[int]
    ) -> None:
        self.names, self.count, self.scratch = tuple(names), len(names), loop.scratch
        # The interpreter lives as long as its addresses are called.
        self._owner = Interpreter([routine], tables, places)
        self._function = PROTOTYPES["tangent"](self._owner.addresses["tangent"])

    def at(self, unknowns: Array, t: float, y: Array, yp: Array, context: ModelContext) -> Array:
        """The residuals; zero where rounding decides them, and not a number where a law has no value."""
        found = np.full(2 * self.count, np.nan)
        arrays = [np.ascontiguousarray(a, dtype=float) for a in (y, yp, unknowns)]
        failed = context.struct.failed
        self._function(context.address, t, *map(address_of, arrays), None, None, address_of(found))
        context.struct.failed = failed
        residuals, terms = found[: self.count], found[self.count :]
        return np.where(np.abs(residuals) <= ROUNDING * terms, 0.0, residuals)


def bent_loops(model: NumericModel, most: int) -> list[LoopResidual]:
    """The loops of a compiled model that are not linear, of so many unknowns at most."""
    causal = None if model.made_by is None else model.made_by[1][0]
    # What a solver has among its own variables it solves for itself, of large models.
    if not isinstance(causal, CausalGraph) or model.unknowns:
        return []
    program = build_program(causal)
    if not program.unknowns:
        return []
    flat, base = flatten(program), base_parameters(program)
    form = implicit_form(flat)
    leaves = Routines(flat, form, None, base).leaves
    tables, places = packed_tables(program.signals.tables)
    found = []
    for k, statement in enumerate(form.statements):
        if isinstance(statement, Newton) and not statement.linear and len(statement.unknowns) <= most:
            results = (*statement.residuals, *statement.terms)
            needed = needed_statements([*form.statements[:k], *statement.body, *statement.measures], results)
            # As directions of a tangent, which a function of model.h is given beside y and yp.
            own = {unknown: ("dy", i) for i, unknown in enumerate(statement.unknowns)}
            routine = Routine("tangent_y", needed, results, leaves | own, checked=False)
            names = [program.names[unknown] for unknown in statement.unknowns]
            found.append(LoopResidual(routine, statement, names, tables, places))
    return found
