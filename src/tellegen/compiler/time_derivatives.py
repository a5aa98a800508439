"""Rates along the motion: the derivative by time of variables of a program, as further steps.

Differentiating a template differentiates every member of its group; sparse rows with constant gains hold for rates as they are.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, final

from tellegen.compiler.steps import LawGroup, LinearRows, Lookup, Step, Variables, coefficient, slot
from tellegen.expressions import Expression, derivative, substitute_all, total


class Slots(NamedTuple):
    """A template and which slots of the original it still uses: argument k is `arguments[k]` there, and so for coefficients."""

    template: Expression
    arguments: tuple[int, ...]
    coefficients: tuple[int, ...]


@cache
def derived_template(template: Expression, count: int, moving: tuple[int, ...]) -> Slots:
    """The derivative along the motion of a template with `count` arguments, of which those in `moving` have rates.

    Arguments of the result beyond `count` are rates: count + j is the rate of moving[j].
    """
    slope = total(derivative(template, f"@{k}") * slot(count + j) for j, k in enumerate(moving))
    return compact_template(slope)


def compact_template(template: Expression) -> Slots:
    """The template with its slots counted again from zero."""
    names = sorted(template.free_symbols, key=lambda name: (name[0], int(name[1:])))
    arguments = tuple(int(name[1:]) for name in names if name[0] == "@")
    coefficients = tuple(int(name[1:]) for name in names if name[0] == "#")
    mapping: dict[str, Expression] = {f"@{old}": slot(new) for new, old in enumerate(arguments)}
    mapping |= {f"#{old}": coefficient(new) for new, old in enumerate(coefficients)}
    return Slots(substitute_all((template,), mapping)[0], arguments, coefficients)


@final
@dataclass(frozen=True)
class LeafRates:
    """The rates of variables given from outside: `of` a leaf gives its rate, None for a constant.

    `refuse` is called with a variable that has no rate where one is needed.
    """

    of: Callable[[int], int | None]
    refuse: Callable[[int], Exception]
    time: int
    one: int


@final
class TimeDerivatives:
    """Appends to `steps` what the rates of variables need; each is computed once."""

    def __init__(self, steps: list[Step], variables: Variables, leaves: LeafRates) -> None:
        self.steps = steps
        self.variables = variables
        self.leaves = leaves
        self.found: dict[int, int | None] = {leaves.time: leaves.one}
        self._defined: dict[int, tuple[int, int]] = {}
        self._seen = 0

    def of(self, targets: Iterable[int]) -> dict[int, int | None]:
        """The variables that hold the rates of `targets`; None where the rate is zero."""
        asked = list(targets)
        self._index()
        reached = self._reached(asked)
        last: tuple[int, tuple[int, ...]] | None = None
        group: LawGroup | None = None
        rows = LinearRows()
        for s, r, k in sorted((*self._defined[k], k) for k in reached if k in self._defined):
            step = self.steps[s]
            if isinstance(step, LinearRows):
                terms = [(rate, gain) for v, gain in step.entries(r) if (rate := self._rate(v)) is not None]
                if terms:
                    rows.add(self._new(k), terms)
                else:
                    self.found[k] = None
                continue
            if rows.targets:
                self.steps.append(rows)
                rows = LinearRows()
            if isinstance(step, Lookup):
                self._reading(step, k)
                continue
            moving = tuple(j for j, column in enumerate(step.arguments) if self._rate(column[r]) is not None)
            if not moving:
                self.found[k] = None
                continue
            slots = derived_template(step.template, len(step.arguments), moving)
            if group is None or last != (s, moving):
                group = LawGroup(slots.template, [], [[] for _ in slots.arguments], [[] for _ in slots.coefficients])
                self.steps.append(group)
                last = (s, moving)
            self._fill(group, step, r, slots, moving)
            group.targets.append(self._new(k))
        if rows.targets:
            self.steps.append(rows)
        return {k: self._rate(k) for k in asked}

    def _fill(self, group: LawGroup, step: LawGroup, r: int, slots: Slots, moving: tuple[int, ...]) -> None:
        count = len(step.arguments)
        for column, old in zip(group.arguments, slots.arguments, strict=True):
            if old < count:
                column.append(step.arguments[old][r])
            else:
                rate = self._rate(step.arguments[moving[old - count]][r])
                assert rate is not None, "only arguments with a rate have a slot for it"
                column.append(rate)
        for formulas, old in zip(group.coefficients, slots.coefficients, strict=True):
            formulas.append(step.coefficients[old][r])

    def _reading(self, step: Lookup, k: int) -> None:
        if step.kind != "table":
            raise self.leaves.refuse(k)
        rate = self._rate(step.arguments[0])
        if rate is None:
            self.found[k] = None
            return
        slope = self.variables.new(f"slope of {self.variables.names[k]}")
        self.steps.append(Lookup("slope", step.number, slope, step.arguments))
        self.steps.append(LawGroup(slot(0) * slot(1), [self._new(k)], [[slope], [rate]], []))

    def _new(self, k: int) -> int:
        rate = self.found[k] = self.variables.new(f"{self.variables.names[k]}'")
        return rate

    def _rate(self, k: int) -> int | None:
        if k not in self.found:
            self.found[k] = self.leaves.of(k)
        return self.found[k]

    def _index(self) -> None:
        """Where each variable is computed, for the steps not looked at yet."""
        for s in range(self._seen, len(self.steps)):
            self._defined.update((k, (s, r)) for r, k in enumerate(self.steps[s].targets))
        self._seen = len(self.steps)

    def _reached(self, targets: Iterable[int]) -> set[int]:
        reached: set[int] = set()
        stack = list(targets)
        while stack:
            k = stack.pop()
            if k in reached or k in self.found:
                continue
            reached.add(k)
            if k in self._defined:
                s, r = self._defined[k]
                stack.extend(self.steps[s].reads(r))
        return reached
