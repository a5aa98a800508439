"""What a search found: values, goal, constraints with their multipliers, and the model with these values."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from tellegen.core.errors import Finding
from tellegen.core.tables import table_lines
from tellegen.model.model import Model
from tellegen.notations.writing import to_yaml
from tellegen.results.files import write_atomically
from tellegen.results.run import Run
from tellegen.results.units import behind_number
from tellegen.studies.runs.fit_problem import model_with
from tellegen.studies.runs.model_runs import ModelRuns


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
