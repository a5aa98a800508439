"""Moduli as texts: with units where a reader would otherwise find another dimension, as in `0.4*(1 m)*cos(phi)`."""

from typing import final

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.names import listing
from tellegen.description.dimensions import Open
from tellegen.description.ladders.matrices import modulus_dimension
from tellegen.description.model import Model
from tellegen.description.signals.writing import readable
from tellegen.description.variables import state_variables
from tellegen.description.writing import UnitTexts
from tellegen.expressions import Expression, Number, to_text
from tellegen.expressions.parser import LONGEST
from tellegen.schemes import rules

End = tuple[str, Side]
"""A domain and one of its variables."""


@final
class ModulusTexts:
    """Writes K of `x_2 = K x_1`. Without a model, parameters are plain numbers, which fit any unit."""

    def __init__(self, model: Model | None) -> None:
        variables = {} if model is None else {**state_variables(model.elements), **readable(model)}
        self._units = UnitTexts({} if model is None else model.parameters, variables)

    def text(self, K: Expression, one: End, two: End) -> str:
        """The text of a modulus between two variables.

        Raises: GraphError (G241) where no file could hold it.
        """
        wanted = modulus_dimension((DOMAINS[one[0]], one[1]), (DOMAINS[two[0]], two[1]))
        found = self._units.measure(K)
        agrees = isinstance(K, Number) or isinstance(found, Open) or found == wanted
        text = to_text(K) if agrees else self._units.text(K, wanted)
        if len(text) > LONGEST:
            what = f"a modulus over {listing(sorted(K.free_symbols), 4)} has {len(text)} characters, at most {LONGEST} are read"
            fix = "write the model as a bond graph or a network, or give parts of the modulus names as parameters"
            raise rules.LONG_FORMULA.error(what, fix=fix)
        return text

    def of_bonds(self, K: Expression, kind: str, domains: tuple[str, str]) -> str:
        """The text of a modulus from bond to bond: TF relates flows, GY the flow of one to the effort of the other."""
        one, two = (DOMAINS[name] for name in domains)
        return self.text(K, (one.name, one.flow), (two.name, two.flow if kind == "TF" else two.effort))
