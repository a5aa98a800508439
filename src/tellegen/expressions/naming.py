"""Names for the parts of long formulas, so that each formula and each part can be read: `a*k_1 + b`, `k_1 = ...`."""

from collections.abc import Callable
from typing import final

from tellegen.expressions.canonical import symbol
from tellegen.expressions.nodes import Expression, postorder
from tellegen.expressions.structure import rebuild
from tellegen.expressions.text import to_text

BETWEEN = 3
"""Characters that a sum or a product puts between two of its members."""


@final
class NamedParts:
    """Shortens formulas by naming parts of more than `longest` characters; the same part has the same name everywhere.

    `definitions` are the names given, each after those that it reads.
    """

    def __init__(self, longest: int, fresh: Callable[[], str]) -> None:
        self.definitions: dict[str, Expression] = {}
        self._longest = longest
        self._fresh = fresh
        self._short: dict[Expression, Expression] = {}
        self._named: dict[Expression, Expression] = {}
        self._length: dict[Expression, int] = {}

    def short(self, expression: Expression) -> Expression:
        """The formula over names for its long parts; it is never just a name itself."""
        for node in postorder(expression):
            if node not in self._short:
                self._short[node] = self._shortened(node)
        return self._short[expression]

    def part(self, expression: Expression) -> Expression:
        """The formula itself where it is short, else a name for it."""
        self.short(expression)
        return self._part(expression)

    def _shortened(self, node: Expression) -> Expression:
        args = tuple([self._part(arg) for arg in node.args])
        made = node if args == node.args else rebuild(node, args)
        self._length[node] = sum(self._written(arg) + BETWEEN for arg in args) if args else len(to_text(node))
        return made

    def _part(self, node: Expression) -> Expression:
        """What stands for a member of a sum or product: itself, or a name."""
        if self._length[node] <= self._longest:
            return self._short[node]
        if node not in self._named:
            name = self._fresh()
            self.definitions[name] = self._short[node]
            self._named[node] = symbol(name)
            self._length[self._named[node]] = len(name)
        return self._named[node]

    def _written(self, part: Expression) -> int:
        found = self._length.get(part)
        return len(to_text(part)) if found is None else found
