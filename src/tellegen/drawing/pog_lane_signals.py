"""Which way the signals of vector lanes go at a section."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from tellegen.core.domains import Side, other_side
from tellegen.drawing.pog_plan import Line
from tellegen.schemes.lane_walk import NoLanesError


@final
@dataclass(frozen=True, slots=True)
class Lanes:
    """The signals at a section: of each lane the variable that goes to the right, and the one on the upper line."""

    domains: tuple[str, ...]
    rightward: tuple[Side, ...]
    upper: tuple[Side, ...]

    @property
    def upper_goes_right(self) -> bool:
        """Whether the upper line goes to the right; all lanes must agree.

        Raises: NoLanesError.
        """
        ways = {right == upper for right, upper in zip(self.rightward, self.upper, strict=True)}
        if len(ways) != 1:
            raise NoLanesError
        return ways.pop()

    def line_of(self, sides: Sequence[Side]) -> Line:
        """The line on which all lanes have the variables asked for.

        Raises: NoLanesError where they are on different lines.
        """
        found: set[Line] = {
            "upper" if side == upper else "lower" for side, upper in zip(sides, self.upper, strict=True)
        }
        if len(found) != 1:
            raise NoLanesError
        return found.pop()

    def side(self, line: Line) -> tuple[Side, ...]:
        """The variables on a line."""
        return self.upper if line == "upper" else tuple(map(other_side, self.upper))
