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
        MechanismError,
        ReductionError,
        SimulationError,
        TellegenError,
    )
    from tellegen.description import Model, Network, schema, to_yaml
    from tellegen.description.opening import load, read
    from tellegen.drawing import Animation, Figure, animate, draw, keep_layout
    from tellegen.equations.assembly import derive_equations
    from tellegen.equations.checking import Check, check
    from tellegen.equations.descriptor import DescriptorSystem
    from tellegen.equations.system import EquationSystem
    from tellegen.equations.transfer import TransferMatrix
    from tellegen.experiments.analysing import analyse
    from tellegen.experiments.courses import chirp, pulse, quintic, ramp, sine, step, table, trapezoid
    from tellegen.experiments.equilibria import SteadyState, equilibrium
    from tellegen.experiments.parameter_effects import sensitivities
    from tellegen.experiments.simulating import simulate
    from tellegen.exporting.exports import export_model
    from tellegen.expressions import Expression, parse
    from tellegen.graph import PowerGraph, lower
    from tellegen.reduction import Reduction, Stiffened
    from tellegen.reporting.reports import report
    from tellegen.results import Run, compare_runs, read_run
    from tellegen.studies.activities import activity
    from tellegen.studies.comparing import trajectory_loss
    from tellegen.studies.conditioning import compare_conditioning
    from tellegen.studies.convergence import reduction_study
    from tellegen.studies.motions import feedback_linearise, inverse_dynamics
    from tellegen.studies.parasitic_sizing import size_parasitic
    from tellegen.studies.projecting import project
    from tellegen.studies.suggesting import suggest_limits
    from tellegen.workflow.catalogue import Example, examples
    from tellegen.workflow.conditioning import condition
    from tellegen.workflow.deriving import derive, linearise
    from tellegen.workflow.files import import_model
    from tellegen.workflow.raising import bond_graph, pog, translate
    from tellegen.workflow.transforming import reduce, stiffen

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
    "EquationError",
    "EquationSystem",
    "Example",
    "ExportError",
    "Expression",
    "Figure",
    "FigureError",
    "Finding",
    "GraphError",
    "LagrangeSystem",
    "MechanismError",
    "Model",
    "Network",
    "PowerGraph",
    "Reduction",
    "ReductionError",
    "Run",
    "SimulationError",
    "SteadyState",
    "Stiffened",
    "TellegenError",
    "TransferMatrix",
    "__version__",
    "activity",
    "analyse",
    "animate",
    "assign_causality",
    "bond_graph",
    "check",
    "chirp",
    "compare_conditioning",
    "compare_runs",
    "condition",
    "derive",
    "derive_equations",
    "draw",
    "equilibrium",
    "examples",
    "export_model",
    "feedback_linearise",
    "import_model",
    "inverse_dynamics",
    "keep_layout",
    "linearise",
    "load",
    "lower",
    "parse",
    "pog",
    "project",
    "pulse",
    "quintic",
    "ramp",
    "read",
    "read_run",
    "reduce",
    "reduction_study",
    "report",
    "schema",
    "sensitivities",
    "simulate",
    "sine",
    "size_parasitic",
    "step",
    "stiffen",
    "suggest_limits",
    "table",
    "to_yaml",
    "trajectory_loss",
    "translate",
    "trapezoid",
]

_NAMES_OF_MODULE = {
    "causality": "CausalGraph assign_causality",
    "core.errors": (
        "CausalityError CompilerError ConditioningError DescriptionError EquationError ExportError FigureError Finding GraphError "
        "MechanismError ReductionError SimulationError TellegenError"
    ),
    "conditioning": "Conditioned LagrangeSystem",
    "description": "Model Network schema to_yaml",
    "description.opening": "load read",
    "drawing": "Animation Figure animate draw keep_layout",
    "equations.assembly": "derive_equations",
    "equations.checking": "Check check",
    "equations.descriptor": "DescriptorSystem",
    "equations.system": "EquationSystem",
    "equations.transfer": "TransferMatrix",
    "experiments.analysing": "analyse",
    "experiments.courses": "chirp pulse quintic ramp sine step table trapezoid",
    "experiments.equilibria": "SteadyState equilibrium",
    "experiments.parameter_effects": "sensitivities",
    "experiments.simulating": "simulate",
    "exporting.exports": "export_model",
    "expressions": "Expression parse",
    "graph": "PowerGraph lower",
    "reduction": "Reduction Stiffened",
    "reporting.reports": "report",
    "results": "Run compare_runs read_run",
    "studies.activities": "activity",
    "studies.comparing": "trajectory_loss",
    "studies.conditioning": "compare_conditioning",
    "studies.convergence": "reduction_study",
    "studies.motions": "feedback_linearise inverse_dynamics",
    "studies.parasitic_sizing": "size_parasitic",
    "studies.projecting": "project",
    "studies.suggesting": "suggest_limits",
    "workflow.catalogue": "Example examples",
    "workflow.conditioning": "condition",
    "workflow.deriving": "derive linearise",
    "workflow.files": "import_model",
    "workflow.raising": "bond_graph pog translate",
    "workflow.transforming": "reduce stiffen",
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
