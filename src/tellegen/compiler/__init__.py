"""How equations become fast functions: CausalGraph -> Program -> C -> NumericModel."""

from tellegen.compiler.compiling import compile_model
from tellegen.compiler.numeric_model import NumericModel

__all__ = ["NumericModel", "compile_model"]
