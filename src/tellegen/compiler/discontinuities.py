"""Where formulas jump or bend: the zeros of what `sign`, `abs` and comparisons ask, and where `max` and `min` change sides."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from tellegen.compiler.steps import Group, Step, variable
from tellegen.expressions import Call, Expression, Relation, postorder, substitute_all

MOST_MEMBERS = 64
"""Groups with more members than this are not watched one by one: events cost a function each."""


def crossings(steps: Sequence[Step], time: int) -> Iterator[tuple[int, Expression, bool]]:
    """Which variable jumps or bends, at the zeros of what, and whether it may jump; conditions on time alone have known times."""
    for step in steps:
        if isinstance(step, Group) and len(step.targets) <= MOST_MEMBERS:
            asked = [(e, _jumps(node)) for node in postorder(step.template) for e in _asked(node)]
            for r in range(len(step.targets)) if asked else ():
                filled = _filled(step, r, [e for e, _ in asked])
                yield from (
                    (step.targets[r], e, jumps) for e, (_, jumps) in zip(filled, asked, strict=True) if _moves(e, time)
                )


def _asked(node: Expression) -> Iterator[Expression]:
    if isinstance(node, Call) and node.name in ("sign", "abs"):
        yield node.arguments[0]
    elif isinstance(node, Call) and node.name in ("max", "min"):
        for one, other in combinations(node.arguments, 2):
            yield one - other
    elif isinstance(node, Relation) and node.operator not in ("==", "!="):
        yield node.left - node.right


def _jumps(node: Expression) -> bool:
    return not (isinstance(node, Call) and node.name in ("abs", "max", "min"))


def _filled(step: Group, r: int, asked: list[Expression]) -> tuple[Expression, ...]:
    own: dict[str, Expression] = {f"@{k}": variable(column[r]) for k, column in enumerate(step.arguments)}
    own |= {f"#{k}": column[r] for k, column in enumerate(step.coefficients)}
    return tuple(substitute_all(tuple(asked), own))


def _moves(e: Expression, time: int) -> bool:
    return any(name.startswith("%") and name != f"%{time}" for name in e.free_symbols)
