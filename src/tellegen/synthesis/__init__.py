"""Network synthesis: positive-real transfer functions as storages, resistors and lossless connections. Pure mathematics on
exact numbers.
"""
