"""Forms made from the equations of a model: descriptor, port-Hamiltonian, transfer matrix, linear model, closed loop,
compositions.
"""
