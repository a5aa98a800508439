"""Names: of variables that the limit leaves alone, and of the long parts of formulas from two derivations."""

from collections.abc import Iterable, Mapping
from typing import final

from tellegen.core.names import identifier
from tellegen.expressions import Expression, symbol
from tellegen.expressions.elimination import LONGEST, leaf_count, used_names, with_definitions
from tellegen.expressions.simplification import shortened


def without_index(name: str) -> str:
    """The name of an element or variable that is alone now: `coils[2]` of a field that was broken up becomes `coils_2`."""
    return name.replace("[", "_").replace(",", "_").replace("]", "")


@final
class Glossary:
    """Names for the long parts of formulas; short ones are written out. `where` lists the names in order of definition.

    Names of `shared` mean the same everywhere and stay."""

    def __init__(self, taken: Iterable[str], shared: Mapping[str, Expression]) -> None:
        self.where: dict[str, Expression] = {}
        self._shared = shared
        self._taken = {identifier(name) for name in (*taken, *shared)}

    def written(self, expression: Expression, where: Mapping[str, Expression]) -> Expression:
        """The expression over parameters and the names of the glossary; `where` says what its own names stand for."""
        where = {name: e for name, e in where.items() if self._shared.get(name) is not e}
        whole = with_definitions(expression, where) if leaf_count(expression) <= 2 * LONGEST else expression
        if leaf_count(whole) <= 2 * LONGEST:
            return shortened(whole)
        renamed: dict[str, Expression] = {}
        needed = used_names([expression], where)
        for name in [name for name in where if name in needed]:  # in order of definition
            renamed[name] = symbol(self._name(where[name].substitute(renamed)))
        return expression.substitute(renamed)

    def _name(self, expression: Expression) -> str:
        known = next((name for name, e in self.where.items() if e is expression), None)
        if known is not None:
            return known
        k = len(self.where) + 1
        while f"r_{k}" in self._taken:
            k += 1
        name = f"r_{k}"
        self._taken.add(name)
        self.where[name] = expression
        return name
