"""What a signal block is given: its settings with their defaults, and names for the signals inside it."""

from collections.abc import Callable, Iterator
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.expressions import ZERO, Expression, Number, call
from tellegen.model.signals import SignalDefinition, SignalSetting
from tellegen.notations.signals import rules

SignalParts = Iterator[SignalDefinition]
NameMaker = Callable[[str], str]
"""Makes a name that nothing else has."""


@final
class BlockSettings:
    """The settings of one block, with its defaults."""

    def __init__(self, definition: SignalDefinition, fresh: NameMaker) -> None:
        self.definition, self.fresh = definition, fresh
        self.name = definition.name
        self.settings = definition.settings
        self.alike = {definition.name}

    def __contains__(self, key: str) -> bool:
        return key in self.settings

    def expression(self, key: str, default: Expression = ZERO) -> Expression:
        """The formula of a key."""
        found = self.settings.get(key, default)
        assert isinstance(found, Expression), f"'{key}' holds a formula"
        return found

    def several(self, key: str) -> tuple[Expression, ...]:
        """The formulas of a key that holds a list."""
        found = self.settings.get(key, ())
        assert isinstance(found, tuple), f"'{key}' holds a list"
        return tuple(e for e in found if isinstance(e, Expression))

    def word(self, key: str, default: str) -> str:
        """The word of a key."""
        found = self.settings.get(key, default)
        assert isinstance(found, str), f"'{key}' holds a word"
        return found

    def inner(self, suffix: str, *, alike: bool = False) -> str:
        """A name for an inner signal; one that is `alike` has the unit of the output."""
        name = self.fresh(f"{self.name}_{suffix}")
        self.alike |= {name} if alike else set()
        return name

    def part(self, name: str, block: str, **settings: SignalSetting) -> SignalDefinition:
        """An inner signal, or the block's own output."""
        alike = name in self.alike
        dimension, unit = (self.definition.dimension, self.definition.unit) if alike else (None, "")
        return SignalDefinition(name, block, settings, dimension, self.definition.place, unit=unit)

    def formula(self, name: str, expression: Expression) -> SignalDefinition:
        """An inner signal that is a formula."""
        return self.part(name, "formula", formula=expression)

    def limited(self, x: Expression) -> Expression:
        """x between the limits of the block, x itself where it has none."""
        limits = self.several("limits")
        return call("min", call("max", x, limits[0]), limits[1]) if limits else x

    def whole_number(self, key: str, low: int, high: int, default: int) -> int:
        """The number of a key that decides how many signals there are.

        Raises: DescriptionError for what is no whole number between the two.
        """
        if key not in self.settings:
            return default
        found = self.expression(key)
        value = found.rational if isinstance(found, Number) else None
        if value is None or value.denominator != 1 or not low <= value <= high:
            raise self.refused(f"'{key}' is {found}", fix=f"give a whole number from {low} to {high}")
        return int(value)

    def refused(self, what: str, fix: str) -> TellegenError:
        """The error for a setting that the block cannot be made with."""
        whole = f"{what} of the {self.definition.block} {self.name}"
        return rules.BAD_SETTING.error(whole, where=self.name, fix=fix, place=self.definition.place)
