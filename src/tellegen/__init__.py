"""Tellegen: energy-based modelling for engineers.

Describe a physical system once, as a network of physical elements, and get its causality and its equations.

>>> import tellegen as tg
>>> tg.derive(tg.load("dc_motor_pump")).states
('I_a', 'omega_m', 'P_0')

Importing this module loads nothing else: each name below brings its layer when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tellegen.causality import CausalGraph, assign_causality
    from tellegen.conditioning import Conditioned, LagrangeSystem
    from tellegen.core.errors import (
        CausalityError,
        CompilerError,
        ConditioningError,
        DescriptionError,
        EquationError,
        ExportError,
        FigureError,
        Finding,
        GraphError,
        LessonError,
        MechanismError,
        ReductionError,
        Rule,
        SimulationError,
        TellegenError,
    )
    from tellegen.drawing import Animation, Figure, Stages, animate, draw, keep_layout, stages
    from tellegen.equations.checking import Check, check
    from tellegen.equations.derivation import derive_equations
    from tellegen.equations.forms.descriptor import DescriptorSystem
    from tellegen.equations.forms.state_space import StateSpaceForm
    from tellegen.equations.forms.transfer import TransferMatrix
    from tellegen.equations.system import EquationSystem
    from tellegen.experiments.analysing import analyse
    from tellegen.experiments.input_signals import chirp, course, pulse, quintic, ramp, sine, step, table, trapezoid
    from tellegen.experiments.sensitivities import sensitivities
    from tellegen.experiments.simulating import simulate
    from tellegen.experiments.steady_state import SteadyState, equilibrium
    from tellegen.exporting.exports import export_model
    from tellegen.exporting.python.functions import functions
    from tellegen.expressions import Expression, parse
    from tellegen.graph import PowerGraph, lower
    from tellegen.model.model import Model
    from tellegen.notations.loading import load, read
    from tellegen.notations.network.builder import Network
    from tellegen.notations.schema import schema
    from tellegen.notations.writing import to_yaml
    from tellegen.plots import Plot
    from tellegen.reduction import Reduction, Stiffened
    from tellegen.reporting.reports import page, report
    from tellegen.reporting.widget import widget
    from tellegen.results import Run, compare_runs, read_run
    from tellegen.server.studio import Studio, studio
    from tellegen.studies.conditioning import compare_conditioning, condition, size_parasitic
    from tellegen.studies.control_design import Design, design
    from tellegen.studies.inversion import Inverse, invert
    from tellegen.studies.losses import reduction_study, trajectory_loss
    from tellegen.studies.motion_control import feedback_linearise, inverse_dynamics
    from tellegen.studies.projection import project
    from tellegen.studies.runs.fit import Fit, fit
    from tellegen.studies.runs.influence import Influence, influence
    from tellegen.studies.runs.measurements import record
    from tellegen.studies.runs.optimise import optimise
    from tellegen.studies.runs.optimum import Optimum
    from tellegen.studies.runs.response import Response, response
    from tellegen.studies.runs.study import Study
    from tellegen.studies.runs.sweep import read_study, sweep
    from tellegen.studies.runs.variation import between, lognormal, normal, triangular, uniform
    from tellegen.studies.suggestion import activity, suggest_limits
    from tellegen.teaching.grading import Grade, grade
    from tellegen.teaching.sheets import ExerciseSheet, exercise
    from tellegen.workflow.deriving import derive, linearise
    from tellegen.workflow.explaining import explain
    from tellegen.workflow.files import Example, examples, migrate
    from tellegen.workflow.importing import import_model
    from tellegen.workflow.kept_code import KeptCode, cache
    from tellegen.workflow.transforming import bond_graph, pog, reduce, stiffen, translate

    __version__: str

__all__ = [
    "Animation",
    "CausalGraph",
    "CausalityError",
    "Check",
    "CompilerError",
    "Conditioned",
    "ConditioningError",
    "DescriptionError",
    "DescriptorSystem",
    "Design",
    "EquationError",
    "EquationSystem",
    "Example",
    "ExerciseSheet",
    "ExportError",
    "Expression",
    "Figure",
    "FigureError",
    "Finding",
    "Fit",
    "Grade",
    "GraphError",
    "Influence",
    "Inverse",
    "KeptCode",
    "LagrangeSystem",
    "LessonError",
    "MechanismError",
    "Model",
    "Network",
    "Optimum",
    "Plot",
    "PowerGraph",
    "Reduction",
    "ReductionError",
    "Response",
    "Rule",
    "Run",
    "SimulationError",
    "Stages",
    "StateSpaceForm",
    "SteadyState",
    "Stiffened",
    "Studio",
    "Study",
    "TellegenError",
    "TransferMatrix",
    "__version__",
    "activity",
    "analyse",
    "animate",
    "assign_causality",
    "between",
    "bond_graph",
    "cache",
    "check",
    "chirp",
    "compare_conditioning",
    "compare_runs",
    "condition",
    "course",
    "derive",
    "derive_equations",
    "design",
    "draw",
    "equilibrium",
    "examples",
    "exercise",
    "explain",
    "export_model",
    "feedback_linearise",
    "fit",
    "functions",
    "grade",
    "import_model",
    "influence",
    "inverse_dynamics",
    "invert",
    "keep_layout",
    "linearise",
    "load",
    "lognormal",
    "lower",
    "migrate",
    "normal",
    "optimise",
    "page",
    "parse",
    "pog",
    "project",
    "pulse",
    "quintic",
    "ramp",
    "read",
    "read_run",
    "read_study",
    "record",
    "reduce",
    "reduction_study",
    "report",
    "response",
    "schema",
    "sensitivities",
    "simulate",
    "sine",
    "size_parasitic",
    "stages",
    "step",
    "stiffen",
    "studio",
    "suggest_limits",
    "sweep",
    "table",
    "to_yaml",
    "trajectory_loss",
    "translate",
    "trapezoid",
    "triangular",
    "uniform",
    "widget",
]

_NAMES_OF_MODULE = {
    "causality": "CausalGraph assign_causality",
    "conditioning": "Conditioned LagrangeSystem",
    "core.errors": (
        "CausalityError CompilerError ConditioningError DescriptionError EquationError ExportError "
        "FigureError Finding GraphError LessonError MechanismError ReductionError Rule SimulationError TellegenError"
    ),
    "drawing": "Animation Figure Stages animate draw keep_layout stages",
    "equations.checking": "Check check",
    "equations.derivation": "derive_equations",
    "equations.forms.descriptor": "DescriptorSystem",
    "equations.forms.state_space": "StateSpaceForm",
    "equations.forms.transfer": "TransferMatrix",
    "equations.system": "EquationSystem",
    "experiments.analysing": "analyse",
    "experiments.steady_state": "SteadyState equilibrium",
    "experiments.input_signals": "chirp course pulse quintic ramp sine step table trapezoid",
    "experiments.sensitivities": "sensitivities",
    "experiments.simulating": "simulate",
    "exporting.exports": "export_model",
    "exporting.python.functions": "functions",
    "expressions": "Expression parse",
    "graph": "PowerGraph lower",
    "model.model": "Model",
    "notations.loading": "load read",
    "notations.network.builder": "Network",
    "notations.schema": "schema",
    "notations.writing": "to_yaml",
    "plots": "Plot",
    "reduction": "Reduction Stiffened",
    "reporting.reports": "page report",
    "reporting.widget": "widget",
    "results": "Run compare_runs read_run",
    "server.studio": "Studio studio",
    "studies.conditioning": "compare_conditioning condition size_parasitic",
    "studies.losses": "reduction_study trajectory_loss",
    "studies.control_design": "Design design",
    "studies.inversion": "Inverse invert",
    "studies.motion_control": "feedback_linearise inverse_dynamics",
    "studies.projection": "project",
    "studies.runs.fit": "Fit fit",
    "studies.runs.influence": "Influence influence",
    "studies.runs.measurements": "record",
    "studies.runs.optimise": "optimise",
    "studies.runs.optimum": "Optimum",
    "studies.runs.response": "Response response",
    "studies.runs.study": "Study",
    "studies.runs.sweep": "read_study sweep",
    "studies.runs.variation": "between lognormal normal triangular uniform",
    "studies.suggestion": "activity suggest_limits",
    "teaching.grading": "Grade grade",
    "teaching.sheets": "ExerciseSheet exercise",
    "workflow.deriving": "derive linearise",
    "workflow.explaining": "explain",
    "workflow.files": "Example examples migrate",
    "workflow.importing": "import_model",
    "workflow.kept_code": "KeptCode cache",
    "workflow.transforming": "bond_graph pog reduce stiffen translate",
}
_MODULE_OF_NAME = {name: module for module, names in _NAMES_OF_MODULE.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker sees the imports above, and nothing else

    def __getattr__(name: str) -> object:
        value: object
        if name == "__version__":
            value = import_module("importlib.metadata").version("tellegen")
        elif name in _MODULE_OF_NAME:
            value = getattr(import_module(f"tellegen.{_MODULE_OF_NAME[name]}"), name)
        else:
            raise AttributeError(f"module 'tellegen' has no attribute '{name}'")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
