"""Signals as they stand in a file: as their user wrote them where that still is the signal, else from their expressions."""

from collections.abc import Callable, Iterator, Mapping

from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME
from tellegen.core.units import Dimension
from tellegen.description.dimensions import without_marks
from tellegen.description.indexing import split_at_commas
from tellegen.description.model import Model
from tellegen.description.quantities import parse_marked
from tellegen.description.shapes import SECOND, shape_macros
from tellegen.description.signals.blocks import BLOCKS, FORMULA
from tellegen.description.signals.formulas import NOT_UNITS
from tellegen.description.signals.values import Points, SignalDefinition, SignalSetting
from tellegen.description.variables import known_variables
from tellegen.expressions import Expression

Text = str | list[str] | list[list[str]]
"""What stands behind a key: a text, a list of texts, the points of a table."""

Annotate = Callable[[Expression, Dimension | None], str]
"""Writes an expression with units where its dimension would otherwise be another."""


def signal_keys(definition: SignalDefinition, annotate: Annotate, names: frozenset[str]) -> Iterator[tuple[str, Text]]:
    """The keys of a signal with their texts, the word of its block first; `names` are those of all signals."""
    for key in BLOCKS[definition.block].keys:
        found = definition.settings.get(key.name)
        if found is not None and not callable(found):
            wanted = definition.dimension if key.name == FORMULA else SECOND if key.reads == "time" else None
            written = definition.texts.get(key.name, "")
            yield key.name, _text(found, written, names, lambda e, unit=wanted: annotate(e, unit))  # type: ignore[misc]


def _text(found: SignalSetting, written: str, names: frozenset[str], text: Callable[[Expression], str]) -> Text:
    if isinstance(found, Points):
        return [[repr(point), repr(value)] for point, value in zip(found.points, found.values, strict=True)]
    if isinstance(found, Expression):
        return formula_text(found, written, names, text)
    if isinstance(found, tuple):
        pieces = [piece.strip() for _, piece in split_at_commas(written.strip("[]"))]
        texts = pieces if len(pieces) == len(found) else [""] * len(found)
        return [
            formula_text(part, one, names, text) if isinstance(part, Expression) else str(part)
            for part, one in zip(found, texts, strict=True)
        ]
    assert isinstance(found, str), "functions have no text"
    return found


def formula_text(expression: Expression, written: str, names: frozenset[str], text: Callable[[Expression], str]) -> str:
    """What the user wrote, if that still is the expression; else the expression as `text` writes it."""
    if written:
        try:
            marked = parse_marked(written, None, macros=shape_macros(), names=NOT_UNITS | names)
            if without_marks(marked) is expression:
                return written
        except TellegenError:
            pass
    return text(expression)


def readable(model: Model) -> Mapping[str, Dimension]:
    """The dimensions of what formulas of signals read, besides parameters."""
    if not model.signals and not any(element.signal is not None for element in model.elements):
        return {}
    found = known_variables(model.elements) | {TIME: SECOND}
    return found | {name: s.dimension for name, s in model.signals.items() if s.dimension is not None}
