"""What the user wrote: elements between nodes, parameters and an experiment, from a file or from Python calls."""

from tellegen.description.building import Network
from tellegen.description.model import Element, Experiment, Model, Parameter, Part, Port
from tellegen.description.netlists import read_netlist
from tellegen.description.reading import read_model
from tellegen.description.relations import Law, LawForm
from tellegen.description.rules import RULES
from tellegen.description.schema import schema
from tellegen.description.shapes import SHAPES
from tellegen.description.signals.blocks import BLOCKS
from tellegen.description.signals.values import Points, Signal, SignalDefinition
from tellegen.description.values import parameter_values
from tellegen.description.writing import to_yaml

__all__ = [
    "BLOCKS",
    "RULES",
    "SHAPES",
    "Element",
    "Experiment",
    "Law",
    "LawForm",
    "Model",
    "Network",
    "Parameter",
    "Part",
    "Points",
    "Port",
    "Signal",
    "SignalDefinition",
    "parameter_values",
    "read_model",
    "read_netlist",
    "schema",
    "to_yaml",
]
