"""A model as functions of Python, for NumPy, JAX and CasADi."""
