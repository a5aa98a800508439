"""The exercises about equations: those of a model, of its reduction, the signs of its scheme, and the values in its matrices."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.core.language import Phrases
from tellegen.core.units import describe
from tellegen.drawing import Figure, draw
from tellegen.drawing.pog.texts import PogNames
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.experiments.quantities import value_of
from tellegen.expressions import latex_name
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.reduction import Reduction
from tellegen.scenes.scene import Sum
from tellegen.schemes import PogScheme, pog
from tellegen.teaching import rules
from tellegen.teaching.formulas import KnownDynamics, equation_marks, equation_texts, sum_marks
from tellegen.teaching.tasks import Answers, Mark, missing, refuse_unknown
from tellegen.workflow.transforming import reduce

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
SHOWN_DIGITS = 4
"""Of numbers in the matrices of an exercise; a value is right where it gives them again."""
NEAR = 5e-3


def _equations(model: Model) -> EquationSystem:
    return derive_equations(assign_causality(lower(model)))


def _schematic(model: Model) -> Figure:
    """The figure from which equations are written: the schematic, else the bond graph."""
    try:
        return draw(model, "network")
    except TellegenError:
        return draw(model, "bond")


@final
@dataclass(frozen=True)
class EquationsTask:
    """The state equations of a model, or of what a limit leaves of it."""

    model: Model
    system: EquationSystem
    say: Phrases
    reduction: Reduction | None = None
    limit: str = ""
    word: str = field(default="equations", init=False)
    shown: tuple[str, ...] = field(default=(), init=False)

    @property
    def figure(self) -> Figure:
        """The schematic from which equations are written, or the scheme in which a limit is taken."""
        return _schematic(self.model) if self.reduction is None else draw(self.model, "pog")

    @property
    def solved(self) -> Figure:
        """The scheme from which the equations can be read, or the steps of the reduction."""
        return draw(self.model, "pog") if self.reduction is None else _reduced_figure(self.reduction)

    @property
    def items(self) -> tuple[str, ...]:
        """The numbers of the equations."""
        return tuple(str(k + 1) for k in range(len(self.system.states)))

    @property
    def given(self) -> tuple[str, ...]:
        """The variables in which equations are to be written."""
        s, say = self.system, self.say
        told = [say("exercise.states", names=say.names(s.states)), say("exercise.inputs", names=say.names(s.inputs))]
        return (
            *([say("exercise.limit", limit=f"`{self.limit}`")] if self.limit else ()),
            *(told if s.inputs else told[:1]),
        )

    def solution(self) -> Answers:
        """The equations themselves."""
        return _numbered(self.system)

    def answers(self, model: Model) -> Answers:
        """The state equations of a model."""
        return _numbered(_equations(model))

    def reasons(self) -> tuple[str, ...]:
        """The equations themselves."""
        return tuple(f"`{text}`" for text in equation_texts(self.system))

    def marks(self, answers: Answers) -> tuple[Mark, ...]:
        """A mark for each state."""
        return equation_marks(KnownDynamics(self.system), answers, self.say)


def _numbered(system: EquationSystem) -> Answers:
    return {str(k): text for k, text in enumerate(equation_texts(system), 1)}


def equations_task(model: Model, say: Phrases) -> EquationsTask:
    """The exercise of the state equations of a model.

    Raises: LessonError (L102) where they cannot be compared by value.
    """
    system = _equations(model)
    if not system.states:
        raise rules.NOT_ASKABLE.error(f"'{model.name}' has no state equations", fix="take a model with a storage")
    KnownDynamics(system)
    return EquationsTask(model, system, say)


def reduction_task(model: Model, say: Phrases, limit: str = "") -> EquationsTask:
    """The exercise of the equations that are left when a parameter goes to zero: the one given, else the first that can.

    Raises: LessonError (L102) where no storage can go.
    """
    found = reduce(model, [limit]) if limit else _first_reduction(model)
    asked = limit or f"{found.limits[0].name}=0"
    KnownDynamics(found.equations)
    return EquationsTask(model, found.equations, say, found, asked)


def _first_reduction(model: Model) -> Reduction:
    before = len(_equations(model).states)
    for element in model.elements:
        if element.kind.role == "storage" and element.value is not None and len(element.value.free_symbols) == 1:
            try:
                found = reduce(model, {next(iter(element.value.free_symbols)): 0})
                if 0 < len(found.equations.states) < before:
                    return found
            except TellegenError:
                continue  # what goes to infinity, or a limit that does not exist
    told = f"no storage of '{model.name}' can go to zero and leave states"
    raise rules.NOT_ASKABLE.error(told, fix="name a limit: --limit J_m=0")


def _reduced_figure(found: Reduction) -> Figure:
    try:
        return draw(found, "steps")
    except TellegenError:
        return draw(found.model, "pog")


@final
@dataclass(frozen=True)
class SignsTask:
    """For each summation of a POG its output as a sum of its inputs."""

    scheme: PogScheme
    say: Phrases
    word: str = field(default="signs", init=False)
    shown: tuple[str, ...] = field(default=(), init=False)

    @cached_property
    def solved(self) -> Figure:
        """The scheme."""
        return draw(self.scheme)

    @property
    def figure(self) -> Figure:
        """The scheme without signs; what is said of it in words would tell them too."""
        shapes = tuple(
            replace(shape, spots=(), origin=replace(shape.origin, sign=1)) if isinstance(shape, Sum) else shape
            for shape in self.solved.scene.shapes
        )
        return replace(self.solved, scene=replace(self.solved.scene, shapes=shapes, about=""))

    @property
    def sums(self) -> dict[str, dict[str, int]]:
        """The inputs of each summation with their signs."""
        return _sums(self.scheme)

    @property
    def items(self) -> tuple[str, ...]:
        """The outputs of the summations."""
        return tuple(self.sums)

    @property
    def given(self) -> tuple[str, ...]:
        """What enters each summation, and beside which element it stands."""
        say = self.say
        at = {name: c.name for ladder in self.scheme.ladders for c in ladder.all_columns() for name in c.summations}
        return tuple(
            say("exercise.sum", sum=f"`{shown}`", element=f"`{at.get(output) or shown}`", names=say.names(inputs))
            for output, (shown, inputs) in zip(_summed(self.scheme), self.sums.items(), strict=True)
        )

    def solution(self) -> Answers:
        """The sums of its own scheme."""
        return {output: _sum_text(inputs) for output, inputs in self.sums.items()}

    def answers(self, model: Model) -> Answers:
        """The summations of the scheme of a model."""
        return {output: _sum_text(inputs) for output, inputs in _sums(_scheme(model)).items()}

    def reasons(self) -> tuple[str, ...]:
        """The sums."""
        return tuple(f"`{output} = {_sum_text(inputs)}`" for output, inputs in self.sums.items())

    def marks(self, answers: Answers) -> tuple[Mark, ...]:
        """A mark for each summation."""
        refuse_unknown(answers, self.items, "sum")
        return sum_marks(self.sums, answers, self.say)


def _scheme(model: Model) -> PogScheme:
    return pog(assign_causality(lower(model)))


def _sums(scheme: PogScheme) -> dict[str, dict[str, int]]:
    """The inputs of each summation with their signs, by the names in the figure: students read no others."""
    shown = PogNames(scheme).shown
    return {shown(output): {shown(n): sign for n, sign in inputs.items()} for output, inputs in _summed(scheme).items()}


def _summed(scheme: PogScheme) -> dict[str, dict[str, int]]:
    return {s.output: dict(s.inputs) for s in scheme.summations.values() if len(s.inputs) > 1}


def _sum_text(inputs: Mapping[str, int]) -> str:
    text = " ".join(f"{'-' if sign < 0 else '+'} {name}" for name, sign in inputs.items())
    return text.removeprefix("+ ")


def signs_task(model: Model, say: Phrases) -> SignsTask:
    """The exercise of the signs of a scalar POG.

    Raises: LessonError (L102) for a model that is one vector block, or has nothing to add up.
    """
    scheme = _scheme(model)
    if scheme.vectorial or not _sums(scheme):
        told = f"the scheme of '{model.name}' has no summations of its own"
        raise rules.NOT_ASKABLE.error(told, fix="take a model whose POG is a ladder")
    return SignsTask(scheme, say)


@final
@dataclass(frozen=True)
class ValuesTask:
    """The values of parameters, found from x' = A x + B u and y = C x + D u with numbers."""

    model: Model
    system: EquationSystem
    say: Phrases
    items: tuple[str, ...]
    known: Mapping[str, float]
    word: str = field(default="parameters", init=False)

    @property
    def figure(self) -> Figure:
        """The schematic with symbols."""
        return _schematic(self.model)

    @property
    def solved(self) -> Figure:
        """The scheme with the values."""
        return draw(self.model, "pog", labels="both")

    @property
    def shown(self) -> tuple[str, ...]:
        """The equations with numbers."""
        s, (A, B) = self.system, _matrices(self.system, self.known)
        x, u, rates = (_column(names) for names in (s.states, s.inputs, s.states))
        driven = f" + {_latex(B)} {u}" if s.inputs else ""
        return (rf"\frac{{d}}{{dt}} {rates} = {_latex(A)} {x}{driven}",)

    @property
    def given(self) -> tuple[str, ...]:
        """What is to be found, and values that could not be found."""
        say = self.say
        rest = [f"`{name} = {value:.4g}`" for name, value in self.known.items() if name not in self.items]
        told = [say("exercise.find", names=say.names(self.items))]
        return (*told, *([say("exercise.known", values=", ".join(rest))] if rest else ()))

    def solution(self) -> Answers:
        """Its own values."""
        return self.answers(self.model)

    def answers(self, model: Model) -> Answers:
        """The values of a model, with units."""
        found = _equations(model)
        values = _values(found)
        return {name: _with_unit(model, name, values[name]) for name in self.items if name in values}

    def reasons(self) -> tuple[str, ...]:
        """The values."""
        return tuple(f"`{name} = {text}`" for name, text in self.solution().items())

    def marks(self, answers: Answers) -> tuple[Mark, ...]:
        """A mark for each parameter; other values that give the same numbers are right as well."""
        refuse_unknown(answers, self.items, "parameter")
        left_out = missing(self.items, answers, self.say)
        said = {name: _read_value(self.model, name, answers[name]) for name in self.items if name not in left_out}
        if not left_out and self._same({**self.known, **said}):
            return tuple(Mark(name, True) for name in self.items)
        return tuple(left_out.get(name) or self._mark(name, said[name]) for name in self.items)

    def _mark(self, name: str, said: float) -> Mark:
        true = self.known[name]
        if abs(said - true) <= 2 * NEAR * abs(true):
            return Mark(name, True)
        power = np.log10(abs(said / true)) if said and true else np.nan
        # A power of a thousand is a prefix, or a unit, that was read wrongly.
        key = (
            "prefix"
            if np.isfinite(power) and abs(power - 3 * round(power / 3)) < 0.01 and round(power / 3)
            else "value"
        )
        return Mark(name, False, self.say(f"grade.{key}", name=name))

    def _same(self, values: Mapping[str, float]) -> bool:
        try:
            pairs = zip(_matrices(self.system, values), _matrices(self.system, self.known), strict=True)
            return all(np.allclose(one, two, rtol=NEAR, atol=0) for one, two in pairs)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            return False


def _values(system: EquationSystem) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, e in system.parameters.items():
        if e is not None and not e.free_symbols:
            found[name] = e.evaluate({})
    return found


def _matrices(system: EquationSystem, values: Mapping[str, float]) -> tuple[Matrix, Matrix]:
    """A and B of x' = A x + B u."""
    at = dict(values)
    waiting = {name: e for name, e in system.parameters.items() if e is not None and name not in at}
    for name, e in (*waiting.items(), *system.where.items()):
        at[name] = e.evaluate(at)
    L, A, B = ([[e.evaluate(at) for e in row] for row in system.matrices[name]] for name in ("L", "A", "B"))
    n = len(system.states)
    return np.linalg.solve(np.array(L), -np.array(A)), np.linalg.solve(
        np.array(L), np.array(B).reshape(n, len(system.inputs))
    )


def _identifiable(system: EquationSystem, values: Mapping[str, float]) -> tuple[str, ...]:
    """Parameters that the numbers of A and B decide, as many as there can be, in order."""
    base = np.concatenate([m.ravel() for m in _matrices(system, values)])
    size = np.where(base == 0, 1.0, np.abs(base))
    chosen: list[str] = []
    columns: list[Any] = []
    for name, value in values.items():
        # By the logarithm: parameters differ by many powers of ten.
        moved = np.concatenate([m.ravel() for m in _matrices(system, {**values, name: value * (1 + 1e-6)})])
        column = (moved - base) / size / 1e-6
        if np.linalg.matrix_rank(np.array([*columns, column]), tol=1e-4) > len(columns):
            columns.append(column)
            chosen.append(name)
    return tuple(chosen)


def values_task(model: Model, say: Phrases) -> ValuesTask:
    """The exercise of the values of a linear model.

    Raises: LessonError (L102) for a model that is not linear, or without values.
    """
    system = _equations(model)
    values = {name: value for name, value in _values(system).items() if value}
    if not system.linear or not system.states or not values:
        told = f"'{model.name}' is no linear model with values"
        raise rules.NOT_ASKABLE.error(told, fix="take a linear model whose parameters have values")
    try:
        items = _identifiable(system, values)
    except (KeyError, ArithmeticError, np.linalg.LinAlgError) as problem:
        raise rules.NOT_ASKABLE.error(
            f"'{model.name}' has no numbers: {problem}", fix="give its parameters values"
        ) from None
    return ValuesTask(model, system, say, items, values)


def _read_value(model: Model, name: str, text: str) -> float:
    try:
        return value_of(text, model.parameters[name].dimension if name in model.parameters else None, name)
    except TellegenError as wrong:
        told = f"the value of {name} cannot be read: {wrong.what}"
        raise rules.UNREADABLE_ANSWER.error(told, where=name, fix=wrong.finding.fix) from None


def _with_unit(model: Model, name: str, value: float) -> str:
    parameter = model.parameters.get(name)
    unit = "" if parameter is None or parameter.dimension is None else describe(parameter.dimension).split(" ", 1)[0]
    return f"{value:.6g} {unit}".strip() if unit != "1" else f"{value:.6g}"


def _column(names: tuple[str, ...]) -> str:
    return r"\begin{bmatrix} " + r" \\ ".join(map(latex_name, names)) + r" \end{bmatrix}"


def _latex(matrix: Matrix) -> str:
    rows = (" & ".join(map(_number, row)) for row in matrix)
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def _number(value: float) -> str:
    mantissa, _, power = f"{value + 0.0:.{SHOWN_DIGITS}g}".partition("e")  # minus zero is zero
    return rf"{mantissa} \cdot 10^{{{int(power)}}}" if power else mantissa
