"""What a derivation step by step is about, and who tells it."""

from dataclasses import dataclass
from typing import final

from tellegen.causality import CausalGraph
from tellegen.equations.display import Sign
from tellegen.equations.hamiltonian import energy_names
from tellegen.equations.paths import PathFinder
from tellegen.equations.system import EquationSystem


@final
@dataclass(frozen=True)
class Lesson:
    """What is explained: a system with its causal graph, the sign it is told in, and the finder of paths."""

    system: EquationSystem
    causal: CausalGraph
    sign: Sign
    energy_names: tuple[str, ...]
    taken: frozenset[str]
    finder: PathFinder


def lesson_of(system: EquationSystem, causal: CausalGraph, sign: Sign) -> Lesson:
    """The lesson about a system."""
    names = energy_names(system)
    variables = [name for p in causal.graph.ports for name in (p.across, p.through, p.state)]
    taken = {*system.parameters, *system.where, *variables, *names}
    finder = PathFinder(causal, taken)
    return Lesson(system, causal, sign, tuple(names), frozenset(taken), finder)


class AbstractTeller:
    """Writes sections of a lesson."""

    def __init__(self, lesson: Lesson) -> None:
        self.system, self.causal, self.sign = lesson.system, lesson.causal, lesson.sign
        self.ports = lesson.causal.graph.ports
        self.energy_names, self.taken, self.finder = lesson.energy_names, lesson.taken, lesson.finder
