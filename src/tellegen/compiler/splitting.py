"""Steps that some variables need, apart from those that they do not."""

from collections.abc import Iterable, Sequence

from tellegen.compiler.steps import Group, Reading, Rows, Step


def split(steps: Sequence[Step], targets: Iterable[int]) -> tuple[list[Step], list[Step]]:
    """The steps that the targets need, and the others; both in order, groups and rows divided where need be."""
    needed = set(targets)
    mine: list[Step] = []
    others: list[Step] = []
    for step in reversed(steps):
        one, two = _divided(step, needed)
        mine += [one] if one is not None else []
        others += [two] if two is not None else []
    return mine[::-1], others[::-1]


def _divided(step: Step, needed: set[int]) -> tuple[Step | None, Step | None]:
    """One step in two; what the needed part reads becomes needed."""
    if isinstance(step, Reading):
        if step.target in needed:
            needed.update(step.arguments)
            return step, None
        return None, step
    if isinstance(step, Rows):
        return _divided_rows(step, needed)
    inside = [r for r, k in enumerate(step.targets) if k in needed]
    for column in step.arguments:
        needed.update(column[r] for r in inside)
    if len(inside) == len(step.targets):
        return step, None
    chosen = set(inside)
    outside = [r for r in range(len(step.targets)) if r not in chosen]
    return _part(step, inside), _part(step, outside)


def _part(group: Group, members: list[int]) -> Group | None:
    if not members:
        return None
    return Group(
        group.template,
        [group.targets[r] for r in members],
        [[column[r] for r in members] for column in group.arguments],
        [[column[r] for r in members] for column in group.coefficients],
    )


def _divided_rows(rows: Rows, needed: set[int]) -> tuple[Rows | None, Rows | None]:
    inside = []
    for r in range(len(rows.targets) - 1, -1, -1):  # a row may read those before it
        if rows.targets[r] in needed:
            needed.update(rows.sources[rows.starts[r] : rows.starts[r + 1]])
            inside.append(r)
    if len(inside) == len(rows.targets):
        return rows, None
    chosen = set(inside)
    mine, others = Rows(), Rows()
    for r, target in enumerate(rows.targets):
        (mine if r in chosen else others).add(target, list(rows.entries(r)))
    return (mine if mine.targets else None), (others if others.targets else None)
