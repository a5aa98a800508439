"""Several arrows in one call: what each command does, as a Python function.

A model may be given as a `Model`, as a `Network` built in Python, as a file (YAML, or a POG_Modeler netlist that ends in
`.txt`), or as the name of a built-in example. Each name below brings its module when it is first used, so that a command
loads what it needs and no more.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tellegen.description.opening import AnyModel, as_model, load, open_model, read
    from tellegen.equations.checking import Check, check
    from tellegen.workflow.catalogue import Example, examples
    from tellegen.workflow.conditioning import condition
    from tellegen.workflow.deriving import derive, linearise
    from tellegen.workflow.files import import_model
    from tellegen.workflow.raising import bond_graph, pog, translate
    from tellegen.workflow.transforming import reduce, stiffen

__all__ = [
    "AnyModel",
    "Check",
    "Example",
    "as_model",
    "bond_graph",
    "check",
    "condition",
    "derive",
    "examples",
    "import_model",
    "linearise",
    "load",
    "open_model",
    "pog",
    "read",
    "reduce",
    "stiffen",
    "translate",
]

_NAMES_OF_MODULE = {
    "description.opening": "AnyModel as_model load open_model read",
    "equations.checking": "Check check",
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
        if name not in _MODULE_OF_NAME:
            raise AttributeError(f"module 'tellegen.workflow' has no attribute '{name}'")
        return getattr(import_module(f"tellegen.{_MODULE_OF_NAME[name]}"), name)
