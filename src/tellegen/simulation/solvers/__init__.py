"""The solvers in C as Python sees them: their library, structs and coefficients, one stretch of a run, and which of them suits
a model.
"""
