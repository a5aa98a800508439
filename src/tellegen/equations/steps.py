"""The derivation of the POG form step by step, as a teacher would write it.

The procedure is that of the POG lecture ("From POG scheme to state space model"): states are the output power variables of the
storages, L holds the coefficients of their constitutive relations, and every entry of A, B, C and D is the sum of the gains of the
paths that cross no integrator.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.equations.display import Sign
from tellegen.equations.explanation import ExplainedEntry, Item, Relation, Section, Sentence, ShownMatrix
from tellegen.equations.latex import steps_to_latex
from tellegen.equations.lessons import Lesson, lesson_of
from tellegen.equations.record import steps_to_record
from tellegen.equations.step_checks import check_section
from tellegen.equations.step_choice import choice_section
from tellegen.equations.step_energy import energy_section
from tellegen.equations.step_entries import entry_sections
from tellegen.equations.system import EquationSystem, parameter_values
from tellegen.equations.text_steps import steps_to_text
from tellegen.expressions import Expression
from tellegen.expressions.entries import used_names


@final
@dataclass(frozen=True)
class Derivation:
    """The steps from a causal graph to its equations. Formulas are over the parameters, variables, determinants and `where`."""

    name: str
    sign: Sign
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    sections: tuple[Section, ...]
    where: Mapping[str, Expression] = field(default_factory=dict)

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""
        return parameter_values(self.parameters)

    def entries(self) -> tuple[ExplainedEntry, ...]:
        """The explained entries of all matrices."""
        return tuple(i for section in self.sections for i in section.items if isinstance(i, ExplainedEntry))

    def to_text(self) -> str:
        """The steps as text for a terminal."""
        return steps_to_text(self)

    def to_latex(self) -> str:
        """The steps as LaTeX paragraphs. Needs amsmath."""
        return steps_to_latex(self)

    def to_json(self) -> dict[str, object]:
        """The record that `derive --steps --json` prints."""
        return steps_to_record(self)

    def __str__(self) -> str:
        return self.to_text()


def derivation_steps(system: EquationSystem, *, sign: Sign = "-") -> Derivation:
    """How the equations of a model follow, step by step.

    `system` is what `derive_equations` gives: with symbols, and with the causal graph that it came from. With sign "+" the
    equations are `L x' = A x + B u`, so that the entries of A are the gains themselves.

    Raises: ValueError for a system whose entries are not those of its network (numbers, or a linearisation).

    >>> from tellegen.workflow.deriving import derive
    >>> steps = derivation_steps(derive("dc_motor"))
    >>> [section.title for section in steps.sections][1]
    'Energy matrix'
    """
    if system.origin is None:
        raise ValueError("a system without its causal graph cannot be explained: derive it from a model")
    return _derivation(lesson_of(system, system.origin, sign))


def _derivation(lesson: Lesson) -> Derivation:
    """All sections."""
    system = lesson.system
    sections = [choice_section(lesson), energy_section(lesson), *entry_sections(lesson), check_section(lesson)]
    where = {**system.where, **lesson.finder.where}
    shown = [e for section in sections for item in section.items for e in _formulas(item)]
    needed = used_names(shown, where)
    return Derivation(
        system.name,
        lesson.sign,
        system.states,
        system.inputs,
        system.outputs,
        system.parameters,
        tuple(section for section in sections if section.items),
        {name: e for name, e in where.items() if name in needed},
    )


def _formulas(item: Item) -> list[Expression]:
    if isinstance(item, Relation):
        return [item.value]
    if isinstance(item, ShownMatrix):
        return [e for row in item.rows for e in row]
    if isinstance(item, ExplainedEntry):
        return [item.value, *(path.gain for path in item.paths)]
    return [] if isinstance(item, Sentence) else [path.forward for path in item.rounds]
