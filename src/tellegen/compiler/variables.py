"""The numbered variables of a program, and what the names in formulas stand for."""

from collections.abc import Iterable
from typing import final


@final
class Variables:
    """Hands out numbers. Leaves are given from outside; all others are computed by steps."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.rate_of: dict[int, int] = {}
        self._number: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def new(self, name: str) -> int:
        """A variable that formulas do not read by its name."""
        self.names.append(name)
        return len(self.names) - 1

    def named(self, name: str) -> int:
        """A variable that formulas read by its name."""
        k = self.new(name)
        self._number[name] = k
        return k

    def also(self, name: str, k: int) -> None:
        """A further name of a variable."""
        self._number[name] = k

    def moving(self, name: str) -> int:
        """A variable with a rate of its own: a state."""
        k = self.named(name)
        self.rate_of[k] = self.new(f"{name}'")
        return k

    def number(self, name: str) -> int | None:
        """The variable that a name in a formula stands for; None for a parameter. `%k` is variable k."""
        return int(name[1:]) if name.startswith("%") else self._number.get(name)

    def numbers(self, names: Iterable[str]) -> list[int]:
        """The variables among some names."""
        return [k for k in map(self.number, names) if k is not None]
