"""What stands at the elements of a schematic: the parameter, its value, or both."""

from typing import final

from tellegen.description.model import Element, Model
from tellegen.drawing.naming import Values, formula_latex, name_latex
from tellegen.drawing.options import Options
from tellegen.drawing.typesetting import set_math
from tellegen.expressions import Number
from tellegen.graph import lower

SIZE = 15.0
"""Of the labels of a schematic."""
WIDEST = 80.0
"""A formula that is wider than this is replaced by the name of its element."""


@final
class NetworkTexts:
    """Texts of one schematic."""

    def __init__(self, model: Model, options: Options) -> None:
        self.options = options
        self._values = None if options.labels == "symbols" else Values(lower(model))

    def of(self, element: Element) -> str:
        """The label of an element, as LaTeX."""
        symbol = self._symbol(element)
        value = self._value(element)
        if value is None:
            return symbol
        return value if self.options.labels == "values" else f"{symbol} = {value}"

    def _symbol(self, element: Element) -> str:
        if element.value is None or isinstance(element.value, Number):
            return name_latex(element.name)
        formula = formula_latex(element.value)
        return name_latex(element.name) if set_math(formula, SIZE).box.width > WIDEST else formula

    def _value(self, element: Element) -> str | None:
        if self._values is None or element.value is None:
            return None
        unit = element.kind.quantity.unit if element.kind.quantity else ""
        return self._values.latex(element.value, "" if unit == "1" else unit)


def extent(text: str) -> tuple[float, float]:
    """Width and height of the ink of a label."""
    box = set_math(text, SIZE).box
    return box.width, box.height
