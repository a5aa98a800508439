"""How y and yp enter F, asked of the templates of a program."""

from collections.abc import Iterable

from tellegen.compiler.program import Program
from tellegen.compiler.rates import derived_template
from tellegen.compiler.steps import Group, Reading, Rows
from tellegen.compiler.supports import supports


def is_linear(program: Program) -> bool:
    """Whether F is affine in y and yp, with factors that only parameters change."""
    varying = (program.time, *program.inputs, *program.memory)
    return _is_affine_in((*program.y, *program.rates), varying, program)


def rates_divide(program: Program) -> bool:
    """Whether each residual is affine in its own rate and free of all others, so that a division gives the rate."""
    if program.unknowns or not _is_affine_in(program.rates, (), program):
        return False
    return all(row == [i] for i, row in enumerate(supports(program, (program.rates,))))


def _is_affine_in(leaves: Iterable[int], others: Iterable[int], program: Program) -> bool:
    """Whether every formula is affine in what depends on the leaves, with factors that depend neither on them nor on others."""
    moving, varying = set(leaves), set(others)
    for step in program.core:
        if isinstance(step, Rows):
            for r, target in enumerate(step.targets):
                sources = step.sources[step.starts[r] : step.starts[r + 1]]
                _spread(target, sources, moving)
                _spread(target, sources, varying)
        elif isinstance(step, Reading):
            if not moving.isdisjoint(step.arguments):
                return False
            varying.add(step.target)
        elif not _is_affine(step, moving, varying):
            return False
    return True


def _spread(target: int, sources: list[int], into: set[int]) -> None:
    if any(k in into for k in sources):
        into.add(target)


def _is_affine(group: Group, moving: set[int], varying: set[int]) -> bool:
    count = len(group.arguments)
    slopes = [set(derived_template(group.template, count, (s,)).arguments) - {count} for s in range(count)]
    for r, target in enumerate(group.targets):
        arguments = [column[r] for column in group.arguments]
        for s, k in enumerate(arguments):
            if k in moving and any(arguments[a] in moving or arguments[a] in varying for a in slopes[s]):
                return False
        _spread(target, arguments, moving)
        _spread(target, arguments, varying)
    return True
