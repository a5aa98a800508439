"""The part of a program that a few of its variables need: the same steps with the members that lead to them."""

from collections.abc import Iterable, Sequence

from tellegen.compiler.steps import Group, Reading, Rows, Step


def needed_steps(steps: Sequence[Step], wanted: Iterable[int]) -> tuple[list[Step], set[int]]:
    """The steps that the wanted variables need, in order, each with those members only; and all variables that are read."""
    needed = set(wanted)
    found = [kept for step in reversed(steps) if (kept := _kept(step, needed)) is not None]
    found.reverse()
    return found, needed


def _kept(step: Step, needed: set[int]) -> Step | None:
    """What is needed of a step, or None; what that reads is needed from then on."""
    if isinstance(step, Reading):
        if step.target not in needed:
            return None
        needed.update(step.arguments)
        return step
    members = []
    for i in reversed(range(len(step.targets))):  # a row may read one before it
        if step.targets[i] in needed:
            members.append(i)
            needed.update(_read_by(step, i))
    members.reverse()
    return _with_members(step, members) if members else None


def _read_by(step: Rows | Group, i: int) -> Iterable[int]:
    if isinstance(step, Rows):
        return step.sources[step.starts[i] : step.starts[i + 1]]
    return [column[i] for column in step.arguments]


def _with_members(step: Rows | Group, members: Sequence[int]) -> Rows | Group:
    if len(members) == len(step.targets):
        return step
    if isinstance(step, Group):
        return Group(
            step.template,
            [step.targets[i] for i in members],
            [[column[i] for i in members] for column in step.arguments],
            [[column[i] for i in members] for column in step.coefficients],
        )
    rows = Rows()
    for i in members:
        rows.add(step.targets[i], list(step.entries(i)))
    return rows
