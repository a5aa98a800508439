"""One signal as it is written, between reading its line and checking it against the whole model."""

from dataclasses import dataclass, field
from typing import final

from tellegen.description.dimensions import Measure
from tellegen.description.document import Scalar
from tellegen.description.signals.blocks import FORMULA, Block
from tellegen.description.signals.values import SignalSetting
from tellegen.expressions import Expression

Marked = Expression | tuple[Expression, ...]


@final
@dataclass
class Line:
    """One signal as it is written: formulas with marks for units, what must wait for the whole file, and where it stands."""

    key: Scalar
    block: Block
    formulas: dict[str, Marked] = field(default_factory=dict)
    nodes: dict[str, Scalar] = field(default_factory=dict)
    others: dict[str, SignalSetting] = field(default_factory=dict)
    measures: dict[str, tuple[Measure, ...]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the signal."""
        return self.key.text

    def subject(self, key: str) -> str:
        """How messages name what stands in a key."""
        if key == FORMULA:
            return f"the signal {self.name}"
        return f"'{key}' of the signal {self.name}" if key != self.block.word else f"the {key} {self.name}"
