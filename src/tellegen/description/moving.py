"""Values, laws and moduli that move: formulas of elements that pass on or lose power may read variables of others."""

from collections.abc import Iterator, Mapping

from tellegen.description.context import Context
from tellegen.description.dimensions import Measure, names_in
from tellegen.description.variables import known_variables

OF_ELEMENTS = ("power.", "energy.")
"""What elements take and keep is for signals to read: it follows from their variables."""


def let_read_states(context: Context, first: int) -> None:
    """Let the formulas met since `first` of them waited use variables of elements too, which are known when all elements are."""
    pending = context.pending
    for k in range(first, len(pending)):
        letters = pending[k].names
        if all(name in letters or context.is_known(name) for name in names_in(pending[k].marked)):
            continue  # most formulas read parameters only, and there may be many
        pending[k] = pending[k]._replace(names=_WithStates(context, pending[k].names))


class _WithStates(Mapping[str, Measure]):
    """Letters and indices of a formula, and the variables of elements."""

    def __init__(self, context: Context, letters: Mapping[str, Measure]) -> None:
        self._context = context
        self._letters = letters

    def __getitem__(self, name: str) -> Measure:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Measure]:
        variables = known_variables(self._context.elements.values())
        plain = {name: dimension for name, dimension in variables.items() if not name.startswith(OF_ELEMENTS)}
        return {**plain, **self._letters}
