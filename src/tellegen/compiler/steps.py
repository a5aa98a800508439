"""The steps of a program over its numbered variables, and the part of them that some variables need.

Every variable of a program has a number. A group holds one formula, its template, in terms of slots for variables `@0`, `@1`, ...
and for formulas of parameters `#0`, `#1`, ..., and the lists of what fills the slots. So a hundred thousand resistors are one
group, and what is done to a program (derivatives, C code) is done once for a group.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple, final

from tellegen.expressions import (
    Add,
    Call,
    Condition,
    Constant,
    Expression,
    Logic,
    Mul,
    Number,
    Pow,
    Rational,
    Relation,
    Symbol,
    derivative,
    postorder,
    rebuild,
    substitute_all,
    symbol,
    total,
)


@final
class Variables:
    """Hands out numbers. Leaves are given from outside; all others are computed by steps."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.rate_of: dict[int, int] = {}
        self._number: dict[str, int] = {}

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

    def state(self, name: str) -> int:
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


LookupKind = Literal["table", "slope", "past", "external"]


def slot(k: int) -> Expression:
    """The symbol of a variable in a template."""
    return symbol(f"@{k}")


def coefficient(k: int) -> Expression:
    """The symbol of a formula of parameters in a template."""
    return symbol(f"#{k}")


def variable(k: int) -> Expression:
    """The symbol of variable number k where formulas are written out; no user can write it."""
    return symbol(f"%{k}")


SCALED = coefficient(0) * slot(0)
DIVIDED = slot(0) / coefficient(0)
NEGATIVE = -slot(0)
BALANCE = coefficient(0) * slot(0) - slot(1)
RATE_BALANCE = slot(0) - slot(1)
"""Templates that most models have."""


@final
@dataclass
class LinearRows:
    """Targets as sums of gains times sources, in order; row r has the entries starts[r]:starts[r + 1]. Gains do not move."""

    targets: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    sources: list[int] = field(default_factory=list)
    gains: list[Expression] = field(default_factory=list)

    def add(self, target: int, terms: Sequence[tuple[int, Expression]]) -> None:
        """Append one row."""
        self.targets.append(target)
        for source, gain in terms:
            self.sources.append(source)
            self.gains.append(gain)
        self.starts.append(len(self.sources))

    def entries(self, r: int) -> Iterator[tuple[int, Expression]]:
        """Sources and gains of one row."""
        for e in range(self.starts[r], self.starts[r + 1]):
            yield self.sources[e], self.gains[e]

    def reads(self, r: int) -> list[int]:
        """The variables that row r reads, which may be targets of rows before it."""
        return self.sources[self.starts[r] : self.starts[r + 1]]

    def part(self, members: Iterable[int]) -> "LinearRows":
        """Some rows alone."""
        rows = LinearRows()
        for r in members:
            rows.add(self.targets[r], list(self.entries(r)))
        return rows

    def formula(self, r: int) -> Expression:
        """Row r written out."""
        return total(gain * variable(k) for k, gain in self.entries(r))


@final
@dataclass
class LawGroup:
    """Targets of one template; `arguments[k][i]` is the variable in slot @k of target i, `coefficients[k][i]` the formula in #k."""

    template: Expression
    targets: list[int]
    arguments: list[list[int]]
    coefficients: list[list[Expression]]

    def reads(self, r: int) -> list[int]:
        """The variables that target r reads, slot by slot."""
        return [column[r] for column in self.arguments]

    def part(self, members: Sequence[int]) -> "LawGroup":
        """Some targets alone."""
        return LawGroup(
            self.template,
            [self.targets[r] for r in members],
            [[column[r] for r in members] for column in self.arguments],
            [[column[r] for r in members] for column in self.coefficients],
        )

    def slots(self, r: int) -> dict[str, Expression]:
        """What fills the slots of target r."""
        own: dict[str, Expression] = {f"@{k}": variable(column[r]) for k, column in enumerate(self.arguments)}
        return own | {f"#{k}": column[r] for k, column in enumerate(self.coefficients)}

    def formula(self, r: int) -> Expression:
        """Target r written out."""
        return self.template.substitute(self.slots(r))


@final
@dataclass
class Lookup:
    """A variable read from a table (or its slope), from the past, or from a function of the host."""

    kind: LookupKind
    number: int
    target: int
    arguments: list[int]

    @property
    def targets(self) -> tuple[int, ...]:
        """The variable, as other steps have several."""
        return (self.target,)

    def reads(self, r: int) -> list[int]:
        """The variables that it reads."""
        return self.arguments

    def part(self, members: Iterable[int]) -> "Lookup":
        """It has one target: it is needed or not."""
        return self


Step = LinearRows | LawGroup | Lookup


@final
@dataclass(frozen=True)
class TemplateInstance:
    """One use of a template: what fills its slots."""

    template: Expression
    arguments: tuple[int, ...]
    coefficients: tuple[Expression, ...]


def template_instance_of(expression: Expression, number_of: Callable[[str], int | None]) -> TemplateInstance:
    """The template of an expression: `number_of` tells variables from parameters (None).

    The largest parts without variables become coefficients. Slots are counted in an order of shapes, so that laws that differ in
    names only have one template.
    """
    shapes = _Shapes(expression, number_of)
    arguments: dict[int, Expression] = {}
    coefficients: dict[Expression, Expression] = {}
    filled: dict[Expression, Expression] = {}
    # Names are forgotten in the order of shapes, so that R1*i1 and R2*i2 become one template: a thousand elements, one
    # function.
    for node in shapes.leaves():
        k = shapes.number(node)
        if k is None:
            filled[node] = coefficients.setdefault(node, coefficient(len(coefficients)))
        else:
            filled[node] = arguments.setdefault(k, slot(len(arguments)))
    return TemplateInstance(shapes.rebuilt(filled), tuple(arguments), tuple(coefficients))


@final
class _Shapes:
    """An expression with its names forgotten: what moves in it, and an order of its parts that no name has a say in."""

    def __init__(self, expression: Expression, number_of: Callable[[str], int | None]) -> None:
        self.root = expression
        self.nodes = postorder(expression)
        self.numbers = {name: number_of(name) for name in expression.free_symbols}
        self.moves: dict[Expression, bool] = {}
        self.shapes: dict[Expression, int] = {}
        for node in self.nodes:
            self.moves[node] = self.number(node) is not None or any(self.moves[arg] for arg in node.args)
            self.shapes[node] = self._shape(node)

    def number(self, node: Expression) -> int | None:
        """The number of the variable that the node is, if it is one."""
        return self.numbers[node.name] if isinstance(node, Symbol) else None

    def leaves(self) -> Iterator[Expression]:
        """Variables and the largest parts without any, numbers aside."""
        stack, seen = [self.root], set()
        while stack:
            node = stack.pop()
            # Numbers stay in the template: x**2 and x**3 are different laws.
            if node in seen or isinstance(node, Number | Constant):
                continue
            seen.add(node)
            # The largest part without variables becomes one coefficient: it is computed once for a run, not at every
            # step. A condition is no number, so that its parts do.
            if not node.args or not (self.moves[node] or isinstance(node, Condition)):
                yield node
            else:
                stack.extend(sorted(node.args, key=self.shapes.__getitem__, reverse=True))

    def rebuilt(self, filled: dict[Expression, Expression]) -> Expression:
        """The expression with its leaves replaced."""
        made: dict[Expression, Expression] = {}
        for node in self.nodes:
            if node in filled:
                made[node] = filled[node]
            elif not (self.moves[node] or isinstance(node, Condition)):
                made[node] = node  # a number, or inside a coefficient
            else:
                made[node] = rebuild(node, tuple([made[arg] for arg in node.args]))
        return made[self.root]

    def _shape(self, node: Expression) -> int:
        if not self.moves[node]:
            return node._digest if isinstance(node, Number | Constant) else 1
        inner = [self.shapes[arg] for arg in node.args]
        if isinstance(node, Symbol):
            return 2
        # Sums and products have no order of their own: sorting the shapes of their parts gives one.
        if isinstance(node, Add):
            return hash((3, *sorted(zip(inner, [_digits(c) for _, c in node.terms], strict=True))))
        if isinstance(node, Mul):
            return hash((4, *sorted(zip(inner, [_digits(q) for _, q in node.factors], strict=True))))
        if isinstance(node, Pow):
            return hash((5, *inner))
        word = node.name if isinstance(node, Call) else node.operator if isinstance(node, Relation | Logic) else ""
        return hash((6, int.from_bytes(word.encode(), "little"), *inner))


def _digits(q: Rational) -> tuple[int, int]:
    return (q.numerator, q.denominator)


def split_steps(steps: Sequence[Step], wanted: Iterable[int]) -> tuple[list[Step], list[Step], set[int]]:
    """The steps that some variables need, and the others, both in order and divided where need be; and all variables read."""
    needed = set(wanted)
    mine: list[Step] = []
    others: list[Step] = []
    for step in reversed(steps):  # what a step reads is needed of those before it
        inside = []
        for r in reversed(range(len(step.targets))):  # and a row may read one before it in the same step
            if step.targets[r] in needed:
                needed.update(step.reads(r))
                inside.append(r)
        chosen = set(inside)
        outside = [r for r in range(len(step.targets)) if r not in chosen]
        for kept, members in ((mine, inside[::-1]), (others, outside)):
            if members:
                kept.append(step if len(members) == len(step.targets) else step.part(members))
    return mine[::-1], others[::-1], needed


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
    # The chain rule along the motion, once for all members of a group.
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
