"""What a report is about: a model, what was found wrong with it, and what follows from it, each worked out once."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

from tellegen.analysis.summary import Analysis
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import Finding, TellegenError
from tellegen.description import Model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.experiments.analysing import analyse
from tellegen.experiments.simulating import simulate
from tellegen.graph import lower
from tellegen.reduction import Limit
from tellegen.results import Run


@final
@dataclass(frozen=True)
class Subject:
    """What a report is about: the model where there is one, what was found wrong with it, its text, and the word that opens it.

    `limits` are taken one group after another, each on top of those before.
    """

    name: str
    findings: tuple[Finding, ...]
    text: str
    word: str
    model: Model | None = None
    summary: tuple[tuple[str, str], ...] = ()
    limits: tuple[tuple[Limit, ...], ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether there is a model without errors, from which all else follows."""
        return self.model is not None and not any(finding.severity == "error" for finding in self.findings)

    @cached_property
    def causal(self) -> CausalGraph:
        """The model with its causality."""
        assert self.model is not None
        return assign_causality(lower(self.model))

    @cached_property
    def equations(self) -> EquationSystem:
        """The equations."""
        return derive_equations(self.causal)

    @cached_property
    def run(self) -> Run:
        """The experiment of the model."""
        assert self.model is not None
        return simulate(self.model, on_failure="return", progress=False)

    @cached_property
    def has_run(self) -> bool:
        """Whether the experiment runs, if only for a while."""
        if self.model is None or self.model.experiment.until is None:
            return False
        try:
            return len(self.run.t) > 0
        except TellegenError:
            return False

    @cached_property
    def analysis(self) -> Analysis:
        """The linear model in steady state."""
        assert self.model is not None
        return analyse(self.model)
