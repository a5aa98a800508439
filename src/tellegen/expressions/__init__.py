"""Formulas: one immutable expression type, its parser, its calculus, its zero test and its printers."""

from tellegen.expressions.c import C_PRELUDE, to_c
from tellegen.expressions.calculus import derivative
from tellegen.expressions.calls import Macro
from tellegen.expressions.canonical import (
    HALF,
    MINUS_ONE,
    ONE,
    PI,
    ZERO,
    add,
    as_expression,
    mul,
    number,
    power,
    product,
    split_coefficient,
    sqrt,
    symbol,
    total,
)
from tellegen.expressions.conditions import FALSE, TRUE, logic, relation
from tellegen.expressions.evaluation import evaluate_exact
from tellegen.expressions.functions import FUNCTIONS, PYTHON_NAMESPACE, Function, call
from tellegen.expressions.latex import to_latex
from tellegen.expressions.latex_names import latex_name
from tellegen.expressions.nodes import (
    PRIME,
    Add,
    Call,
    Condition,
    Constant,
    Expression,
    Logic,
    Mul,
    Number,
    Pow,
    Rational,
    Relation,
    Scalar,
    Symbol,
    postorder,
)
from tellegen.expressions.operands import RESERVED_WORDS
from tellegen.expressions.parser import parse
from tellegen.expressions.residues import is_zero, point
from tellegen.expressions.rules import RULES
from tellegen.expressions.structure import rebuild, substitute_all
from tellegen.expressions.sympy_view import to_sympy
from tellegen.expressions.text import to_python, to_text, to_yaml

__all__ = [
    "C_PRELUDE",
    "FALSE",
    "FUNCTIONS",
    "HALF",
    "MINUS_ONE",
    "ONE",
    "PI",
    "PRIME",
    "PYTHON_NAMESPACE",
    "RESERVED_WORDS",
    "RULES",
    "TRUE",
    "ZERO",
    "Add",
    "Call",
    "Condition",
    "Constant",
    "Expression",
    "Function",
    "Logic",
    "Macro",
    "Mul",
    "Number",
    "Pow",
    "Rational",
    "Relation",
    "Scalar",
    "Symbol",
    "add",
    "as_expression",
    "call",
    "derivative",
    "evaluate_exact",
    "is_zero",
    "latex_name",
    "logic",
    "mul",
    "number",
    "parse",
    "point",
    "postorder",
    "power",
    "product",
    "rebuild",
    "relation",
    "split_coefficient",
    "sqrt",
    "substitute_all",
    "symbol",
    "to_c",
    "to_latex",
    "to_python",
    "to_sympy",
    "to_text",
    "to_yaml",
    "total",
]
