"""Formulas: one immutable expression type, its parser, its calculus, its zero test and its printers."""

from tellegen.expressions.c import C_PRELUDE, to_c
from tellegen.expressions.calculus import derivative, rebuild, replaced, substitute_all
from tellegen.expressions.canonical import (
    HALF,
    MINUS_ONE,
    ONE,
    PI,
    ZERO,
    as_expression,
    logic,
    number,
    power,
    product,
    relation,
    split_coefficient,
    sqrt,
    symbol,
    total,
)
from tellegen.expressions.evaluation import evaluate_exact, is_zero
from tellegen.expressions.functions import FUNCTIONS, PYTHON_NAMESPACE, call
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
    Symbol,
    postorder,
)
from tellegen.expressions.parser import RESERVED_WORDS, Macro, parse
from tellegen.expressions.printing import latex_name, to_latex, to_python, to_text, to_yaml
from tellegen.expressions.rules import RULES
from tellegen.expressions.sympy_view import to_sympy

__all__ = [
    "C_PRELUDE", "FUNCTIONS", "HALF", "MINUS_ONE", "ONE", "PI", "PRIME", "PYTHON_NAMESPACE", "RESERVED_WORDS",
    "RULES", "ZERO", "Add", "Call", "Condition", "Constant", "Expression", "Logic", "Macro", "Mul", "Number", "Pow",
    "Rational", "Relation", "Symbol", "as_expression", "call", "derivative", "evaluate_exact", "is_zero",
    "latex_name", "logic", "number", "parse", "postorder", "power", "product", "rebuild", "relation", "replaced",
    "split_coefficient", "sqrt", "substitute_all", "symbol", "to_c", "to_latex", "to_python", "to_sympy", "to_text", "to_yaml",
    "total",
]  # fmt: skip
