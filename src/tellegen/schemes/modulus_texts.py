"""Moduli as texts: with units where a reader would otherwise find another dimension, as in `0.4*(1 m)*cos(phi)`."""

from collections.abc import Iterable
from itertools import count
from typing import final

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.units import Dimension
from tellegen.description.dimensions import Open
from tellegen.description.ladders.matrices import modulus_dimension
from tellegen.description.model import Model
from tellegen.description.signals.writing import readable
from tellegen.description.unit_texts import UnitTexts
from tellegen.description.variables import state_variables
from tellegen.expressions import Expression, Number, to_text
from tellegen.expressions.naming import NamedParts

End = tuple[str, Side]
"""A domain and one of its variables."""

LONGEST = 1_000
LONGEST_PART = 100
"""A modulus of more than LONGEST characters is read by nobody, and beyond ten times that by no file: its parts get names."""


@final
class ModulusTexts:
    """Writes K of `x_2 = K x_1`. Without a model, parameters are plain numbers, which fit any unit.

    `parts` are parameters to be added to the file, each after those that it reads: parts of long moduli, under names that are none
    of those `taken`. Where these are not said, moduli stay whole.
    """

    def __init__(self, model: Model | None, taken: Iterable[str] | None = None) -> None:
        self._variables: dict[str, Dimension] = {}
        if model is not None:
            self._variables = {**state_variables(model.elements), **readable(model)}
        self._units = UnitTexts({} if model is None else model.parameters, self._variables)
        self._whole = taken is None
        used = frozenset(taken or ())
        names = (name for n in count(1) if (name := f"k_{n}") not in used)
        self._named = NamedParts(LONGEST_PART, lambda: next(names))
        self.parts: dict[str, str] = {}

    def text(self, K: Expression, one: End, two: End) -> str:
        """The text of a modulus between two variables."""
        wanted = modulus_dimension((DOMAINS[one[0]], one[1]), (DOMAINS[two[0]], two[1]))
        found = self._units.measure(K)
        agrees = isinstance(K, Number) or isinstance(found, Open) or found == wanted
        text = to_text(K) if agrees else self._units.text(K, wanted)
        if self._whole or len(text) <= LONGEST:
            return text
        return self._by_parts(K if agrees else self._units.annotated(K, wanted, False))

    def _by_parts(self, K: Expression) -> str:
        """The text over parameters for parts of the modulus; K has its units in it, so that each part has the right ones."""
        short = self._named.short(K)
        for name, part in list(self._named.definitions.items())[len(self.parts) :]:
            found = self._units.measure(part)
            if isinstance(found, tuple):
                self._variables[name] = found
            self.parts[name] = self._units.text(part, None)
        return self._units.text(short, None)

    def of_bonds(self, K: Expression, kind: str, domains: tuple[str, str]) -> str:
        """The text of a modulus from bond to bond: TF relates flows, GY the flow of one to the effort of the other."""
        one, two = (DOMAINS[name] for name in domains)
        return self.text(K, (one.name, one.flow), (two.name, two.flow if kind == "TF" else two.effort))
