"""What a search wants and what it found: goals and limits as formulas of what runs give and of what is free; values, constraints
with their multipliers, and the model with these values.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Final, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.tables import table_lines
from tellegen.core.units import Dimension, parse_unit
from tellegen.equations.system import parameter_values
from tellegen.experiments.quantities import value_of
from tellegen.expressions import Expression, parse
from tellegen.model.model import Model
from tellegen.notations.writing import to_yaml
from tellegen.results.files import write_atomically
from tellegen.results.run import Run
from tellegen.results.units import behind_number
from tellegen.studies.runs import rules
from tellegen.studies.runs.fit_problem import model_with
from tellegen.studies.runs.keep import WORDS
from tellegen.studies.runs.model_runs import ModelRuns

Array = NDArray[np.float64]
Relation = Literal["<=", ">=", "="]

MOST_NESTED: Final = 50
"""Parameters that follow from each other so deeply are taken to be a circle, which the reader refuses elsewhere."""

_RELATION = re.compile(r"<=|>=|==|=|<|>")
_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\s*\(")


@final
@dataclass(frozen=True)
class Goal:
    """A formula; `kept` are the things to keep of each run by their words in it, and all its other words are free names."""

    text: str
    formula: Expression
    kept: Mapping[str, str]

    def values(self, told: Mapping[str, Array]) -> Array:
        """The formula at many points; `told` has an array for each thing kept and each free name."""
        columns = {word: told[self.kept.get(word, word)] for word in sorted(self.formula.free_symbols)}
        if len(columns) == 1 and self.formula == parse(next(iter(columns))):
            return next(iter(columns.values()))
        count = len(next(iter(told.values())))
        return np.array([_number(self.formula, {w: c[k] for w, c in columns.items()}) for k in range(count)])

    def slopes(self, told: Mapping[str, Array], slopes: Mapping[str, Array]) -> Array:
        """Its derivatives along the free names at many points; `slopes` has those of each thing in `told`."""
        found = np.zeros_like(next(iter(slopes.values())))
        for word in sorted(self.formula.free_symbols):
            by = Goal(self.text, self.formula.derivative(word), self.kept)
            found += by.values(told)[:, None] * slopes[self.kept.get(word, word)]
        return found

    @property
    def alone(self) -> str:
        """What it is, where it is one thing kept and nothing else."""
        one = next(iter(self.kept), "")
        return self.kept[one] if len(self.kept) == 1 and self.formula == parse(one) else ""


@final
@dataclass(frozen=True)
class GoalLimit:
    """A goal that has to stay on one side of a number."""

    text: str
    goal: Goal
    relation: Relation
    limit: float

    @property
    def sign(self) -> float:
        """Times how far the value is above the limit: not negative where the limit is kept."""
        return -1.0 if self.relation == "<=" else 1.0


def read_goal(text: str, model: Model, free: Sequence[str]) -> Goal:
    """The formula of a goal: things to keep, free names, and parameters, which are followed down to what is free.

    Raises: SimulationError (S416) for what is no formula.
    """
    kept: dict[str, str] = {}
    parts, at = [], 0
    for start, end in _calls(text):
        word = f"kept_{len(kept)}"
        kept[word] = text[start:end].strip()
        parts += [text[at:start], word]
        at = end
    try:
        formula = parse("".join([*parts, text[at:]]))
    except TellegenError as reason:
        what = f"'{text}' is no formula: {reason.what}"
        raise rules.BAD_GOAL.error(what, where=text, fix="write it as max(I_a), or as energy.R_a + 2*R_a") from None
    for _ in range(MOST_NESTED):
        followed = {
            name: found.expression
            for name in formula.free_symbols - {*free}
            if (found := model.parameters.get(name)) is not None and found.expression is not None
        }
        if not followed:
            break
        formula = formula.substitute(followed)
    # Any other name is a variable of the run, of which the last value counts.
    kept |= {name: name for name in formula.free_symbols if name not in free and name not in kept}
    return Goal(text.strip(), formula, {word: kept[word] for word in sorted(formula.free_symbols & kept.keys())})


def read_limit(text: str, model: Model, free: Sequence[str], units: Mapping[str, str]) -> GoalLimit:
    """A constraint such as `energy.R_a <= 3 J`; `units` are those of what runs keep.

    Raises: SimulationError (S416) for what is none, (S303) for a limit that is no number of that unit.
    """
    left, relation, right = _split_limit(text)
    if not _is_number(right, model, free):
        left, right = right, left
        relation = {"<=": ">=", ">=": "<="}.get(relation, relation)
    goal = read_goal(left, model, free)
    unit = units.get(goal.alone, "") or units.get(str(goal.formula), "")
    wanted = _dimension(unit)
    known = parameter_values({name: p.expression for name, p in model.parameters.items()})
    limit = value_of(right, wanted, f"the limit of '{text}'", known)
    word: Relation = "<=" if relation == "<=" else ">=" if relation == ">=" else "="
    return GoalLimit(text.strip(), goal, word, limit)


def _split_limit(text: str) -> tuple[str, str, str]:
    """Both sides of a constraint, and the relation between them.

    Raises: SimulationError (S416) where there is none, or more than one.
    """
    found = list(_RELATION.finditer(text))
    sides = [side.strip() for side in _RELATION.split(text)]
    if len(found) != 1 or not all(sides):
        raise rules.BAD_GOAL.error(f"'{text}' is no constraint", where=text, fix="write it as max(I_a) <= 30 A")
    relation = found[0].group()
    return sides[0], {"<": "<=", ">": ">=", "==": "="}.get(relation, relation), sides[1]


def goal_side(text: str, model: Model, free: Sequence[str]) -> str:
    """The side of a constraint that is no number: what has to be known before limits are read in its unit.

    Raises: SimulationError (S416) where neither or both sides are numbers.
    """
    left, _, right = _split_limit(text)
    numbers = [_is_number(side, model, free) for side in (left, right)]
    if sum(numbers) != 1:
        what = f"'{text}' {'compares two numbers' if all(numbers) else 'has no limit that is a number'}"
        raise rules.BAD_GOAL.error(what, where=text, fix="write it as max(I_a) <= 30 A, all formulas on one side")
    return right if numbers[0] else left


def _is_number(text: str, model: Model, free: Sequence[str]) -> bool:
    """Whether a side is a number, perhaps with a unit, perhaps from parameters that are not free."""
    if _WORD.search(text):
        return False
    try:
        names = parse(text).free_symbols
    except TellegenError:
        return True  # a number with a unit, or something that is refused where it is read as one
    return names <= model.parameters.keys() - {*free}


def _calls(text: str) -> Iterator[tuple[int, int]]:
    """Where calls such as `max(I_a)` stand; those of formulas, as `max(a, b)`, are none."""
    at = 0
    while found := _WORD.search(text, at):
        depth, end = 1, found.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        inside = text[found.end() : end - 1]
        at = end
        if depth == 0 and (found.group().startswith("at") or "," not in inside):
            yield found.start(), end


def _number(formula: Expression, values: Mapping[str, float]) -> float:
    """The value of a formula at a point; not a number where it has none, as a root of what is negative."""
    try:
        return float(formula.evaluate(values))
    except (ArithmeticError, ValueError):
        return float("nan")


def _dimension(unit: str) -> Dimension | None:
    return parse_unit(unit).dimension if unit and unit != "1" else None


class OptimumConstraint(NamedTuple):
    """A constraint at the optimum; `multiplier` is how much the goal falls for each unit by which the limit is eased.

    That of an equation is how much it falls for each unit by which the limit rises. Over draws, `value` is that of the worst.
    """

    text: str
    value: float
    limit: float
    unit: str
    multiplier: float
    active: bool


@final
@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The best values of what is free. `at_bounds` says of which names the low or the high bound holds the optimum."""

    runs: ModelRuns
    values: Mapping[str, float]
    bounds: Mapping[str, tuple[float, float]]
    goal: str
    objective: float
    unit: str
    constraints: tuple[OptimumConstraint, ...]
    at_bounds: Mapping[str, str]
    method: str
    reason: str
    run_count: int
    slope_count: int
    ended: tuple[float, ...] = ()
    """The goals at which the searches from all starts ended, the best first."""
    findings: tuple[Finding, ...] = ()
    draws: int = 0

    @cached_property
    def run(self) -> Run:
        """The run with these values, whole, as `simulate` makes it."""
        row = [self.values.get(name, self.runs.base_value(name)) for name in self.runs.names]
        return self.runs.simulated(row, own_rows=True)

    @cached_property
    def model(self) -> Model:
        """The model with these values."""
        return model_with(self.runs.model, self.runs.kinds, self.runs.settings, self.values)

    def save(self, path: str | Path) -> Path:
        """Write the model with these values as a file.

        Raises: ExportError where it cannot be written.
        """
        text = to_yaml(self.model)
        return write_atomically(Path(path), lambda file: file.write_text(text, encoding="utf-8"))

    def to_json(self) -> dict[str, object]:
        """The optimum in numbers, as `tellegen optimise --json` prints it."""
        return {
            "values": dict(self.values),
            "goal": self.goal,
            "objective": self.objective,
            "unit": self.unit,
            "constraints": [
                {**one._asdict(), "multiplier": one.multiplier if np.isfinite(one.multiplier) else None}
                for one in self.constraints
            ],
            "at_bounds": dict(self.at_bounds),
            "method": self.method,
            "reason": self.reason,
            "runs": self.run_count,
            "slopes": self.slope_count,
            "ended": list(self.ended),
            "draws": self.draws,
            "findings": [finding.code for finding in self.findings],
        }

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("", "value", "", "bounds", "")]
        for name, value in self.values.items():
            low, high = self.bounds[name]
            told = f"at its {self.at_bounds[name]} bound" if name in self.at_bounds else ""
            rows.append((name, f"{value:.6g}", behind_number(self.runs.unit(name)), f"{low:.4g} to {high:.4g}", told))
        over = f", over {self.draws} draws" if self.draws else ""
        lines = [self.runs.model.name, "", *table_lines(rows), ""]
        lines.append(f"{self.goal} = {self.objective:.6g} {behind_number(self.unit)}".rstrip() + over)
        if self.constraints:
            told_rows: list[tuple[str, ...]] = [("constraint", "value", "", "multiplier")]
            told_rows += [
                (
                    one.text,
                    f"{one.value:.6g}",
                    behind_number(one.unit),
                    f"{one.multiplier:.4g}" if one.active else "free",
                )
                for one in self.constraints
            ]
            lines += ["", *table_lines(told_rows)]
        lines += [
            "",
            f"by {self.method} ({self.reason}): {self.run_count} runs, {self.slope_count} of them with slopes",
        ]
        lines += [part for finding in self.findings for part in ("", str(finding))]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return f"Optimum: {self.goal} = {self.objective:.5g} at {', '.join(f'{n} = {v:.5g}' for n, v in self.values.items())}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
